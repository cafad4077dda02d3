"""The commands ``domains list``, ``domains show`` and ``domains export``: the worlds that safecheck knows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from plansafe.app.options.option import Options, argument, command, text
from plansafe.app.options.shared import TaskFiles, WorldFiles
from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice, Input
from plansafe.app.project.shipped_files import shipped_domain
from plansafe.app.render.diagnostics import print_diagnostics
from plansafe.app.session.catalogue import bare, find_importer, known_worlds, unknown_world
from plansafe.app.system.file_writing import Guard, NotWritten, problem, save, unwritable
from plansafe.app.system.process import complain, guarded, remark
from plansafe.app.system.terminal_text import visible
from plansafe.domains import domain_names
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.specs import default_specs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plansafe.domains.world import Benchmark
    from plansafe.verifier.api import Checker
    from plansafe.verifier.elaborate.conditions import Symbols


class ListOptions(Options):
    """``worlds list`` has no options."""


class ShowOptions(Options):
    """The options of ``worlds show``."""

    name: str = argument("NAME", "A world or domain, as `safecheck worlds list` names it.", required=True)


class SceneOptions(TaskFiles, WorldFiles, group="Output"):
    """The options of ``worlds scene``."""

    name: str = argument("NAME", "A world or domain, as `safecheck worlds list` names it.", required=True)
    plan: str | None = argument("[PLAN]", "A plan to write as PDDL as well.")
    output: str | None = text(
        "--output",
        "-o",
        metavar="FOLDER",
        help="Write domain.pddl, problem.pddl, .. to this folder; default: here, and over no file.",
    )


@command(ListOptions)
def list_worlds(_: ListOptions) -> int:
    """List the worlds: what each reads, and which specification judges it."""
    return guarded(_list)


@command(ShowOptions)
def show(options: ShowOptions) -> int:
    """Show a world: its files and formats, an example, its actions, and the rules that apply to it."""
    return guarded(lambda: _show(options.name))


@command(SceneOptions)
def export(options: SceneOptions) -> int:
    """Write what safecheck makes of a scene, and of a plan for it, as PDDL that any other tool can read.

    Exit codes: 0 written, 2 a file cannot be read or written.
    """
    given = {
        "scene": options.scene,
        "goal": options.goal,
        "domain": options.domain,
        "problem": options.problem,
        "plan": options.plan,
    }
    return guarded(lambda: _export(options.name, given, options.task, options.output))


def _list() -> int:
    rows = [("world", "what it is", "--world", "specification")]
    for name, importer in known_worlds().items():
        title = importer.title if importer is not None else "a shipped domain; problems and plans in PDDL"
        rows.append((name, title, "yes" if importer is not None else "-", _specs(importer, name)))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print("  ".join([*cells, row[3]]).rstrip())
    print("\nsafecheck worlds show NAME says more about one.")
    return 0


def _specs(importer: Benchmark | None, name: str) -> str:
    domain = importer.domain if importer is not None else name
    return ", ".join(default_specs(domain or "")) or "that of the task"


def _show(name: str) -> int:
    known = known_worlds()
    importer = find_importer(name)
    if name.lower() not in (*known, *domain_names()) and importer is None:
        return complain(unknown_world(name, tuple(known), domain_names()))
    domain = name.lower() if importer is None or name.lower() in domain_names() else importer.domain
    if importer is not None:
        print(f"{importer.name}: {importer.title}\n")
        for file in importer.files:
            print(f"  --{file.role:<8} {file.meaning}{'' if file.required else '  (optional)'}")
        for form in importer.plans:
            print(f"  {'plan':<10} {form}")
        print(f"  {'example':<10} {importer.example}\n")
    if domain is None:
        print("The domain comes with each task.")
        return 0
    return _show_domain(domain)


def _show_domain(name: str) -> int:
    path = shipped_domain(name)
    assert path is not None
    print(f"domain        {path}")
    print(f"specification {', '.join(default_specs(name)) or 'none'}\n")
    checker = bare(name, default_specs(name))
    print("actions")
    for action in checker.compiled.task.actions.values():
        print("  (" + " ".join([action.name, *[p.name for p in action.parameters]]) + ")")
    _cover(checker, checker.compiled.symbols)
    return 0


def _cover(checker: Checker, symbols: Symbols) -> None:
    """What the specifications see of the domain, and what they do not."""
    from plansafe.verifier.rules.coverage import MAPPED, UNBOUND, coverage  # noqa: PLC0415 - loads the engine

    seen = coverage(symbols, checker.compiled.expanded, checker.rules)
    print(f"\nrules         {len(seen.applicable)} of {len(checker.rules)} apply")
    for rule in seen.not_applicable:
        reason = [text for kind, text in rule.lacks if kind == "rule"]
        lacks = ", ".join([f"{kind} `{name}`" for kind, name in rule.lacks])
        print(f"  not {rule.rule}: {reason[0] if reason else f'the domain has no {lacks}'}")
    if seen.of(MAPPED):
        print(f"words         {len(seen.of(MAPPED))} mapped, {len(seen.of(UNBOUND))} without a meaning here")
        for word in seen.of(UNBOUND):
            print(f"  {word.kind} {word.name}")
        known = len(seen.kinds) - len(seen.unseen_types)
        print(f"types         {known} of {len(seen.kinds)} belong to a kind; no rule about a kind sees the others")
        print(f"  {', '.join(seen.unseen_types)}")


def _export(name: str, given: dict[str, str | None], task: str | None, output: str | None) -> int:
    from plansafe.app.session.home_world import find_world  # noqa: PLC0415 - for this command alone
    from plansafe.domains.world import Request  # noqa: PLC0415

    chosen = find_world(name)
    if isinstance(chosen, Diagnostic):
        return complain(chosen)
    discovery = Discovery(Choice())
    files: dict[str, Source] = {}
    for role, path in given.items():
        found = discovery.read(path, role, f"--{role}") if path is not None else None
        if isinstance(found, Diagnostic):
            return complain(found)
        if isinstance(found, Input):
            files[role] = found.source
    text = files.pop("plan", None)
    sources = {source.name: source for source in (*files.values(), *([] if text is None else [text]))}
    made = chosen.read_scene(Request(files, task))
    if not made.ok:
        return _refuse(made.notes, sources)
    notes = made.notes
    written = {"domain.pddl": made.domain.text, "problem.pddl": made.problem.text}
    for number, spec in enumerate(made.specs, 1):
        written["task.safe" if len(made.specs) == 1 else f"task-{number}.safe"] = spec.text
    if text is not None:
        read = chosen.read_plan(text, made)
        if read.plan is None:
            return _refuse(read.diagnostics, sources)
        notes = (*notes, *read.diagnostics)
        stem = os.path.splitext(os.path.basename(text.name))[0]
        written[f"{stem if stem.isprintable() else 'plan'}.plan"] = read.plan.text
    there = [file for file in written if os.path.lexists(file)] if output is None else []
    if there:
        advice = "name a folder for the files with --output"
        return complain(
            Diagnostic(SC.BAD_OPTION, f"cannot write {visible(there[0])}: it is there already", help=advice)
        )
    print_diagnostics(notes, sources)
    return _save(output if output is not None else ".", written, [path for path in given.values() if path is not None])


def _save(folder: str, files: dict[str, str], inputs: Sequence[str]) -> int:
    """Write files (name: text) to a folder, none if one of them may not be written."""
    kept = Guard(inputs)
    paths = {os.path.join(folder, name): text for name, text in files.items()}
    try:
        os.makedirs(folder, exist_ok=True)
        wrong = next((found for path in paths if (found := problem(path, kept)) is not None), None)
        if wrong is not None:
            return complain(wrong)
        for path, text in paths.items():
            remark(save(path, text, kept))
            print(visible(path))
    except NotWritten as refused:
        return complain(refused.diagnostic)
    except OSError as error:
        return complain(unwritable(visible(folder), error))
    return 0


def _refuse(diagnostics: tuple[Diagnostic, ...], sources: dict[str, Source]) -> int:
    return print_diagnostics(
        [diagnostic for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR], sources
    )
