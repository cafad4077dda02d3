"""The commands ``worlds list``, ``worlds show`` and ``worlds scene``: the worlds whose plans can be read."""

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
    from plansafe.verifier.elaborate.symbols import Symbols


class ListOptions(Options):
    """``worlds list`` has no options."""


class ShowOptions(Options):
    """The options of ``worlds show``."""

    name: str = argument("NAME", "A world or domain, as `safecheck worlds list` names it.", required=True)


class SceneOptions(TaskFiles, WorldFiles, group="Output"):
    """The options of ``worlds scene``."""

    name: str = argument("NAME", "A world or domain, as `safecheck worlds list` names it.", required=True)
    plan: str | None = argument("[PLAN]", "Also write this plan as PDDL.")
    output: str | None = text(
        "--output",
        "-o",
        metavar="FOLDER",
        help="Write domain.pddl, problem.pddl, .. to this folder; default: the current folder, replacing no file.",
    )


@command(ListOptions)
def list_worlds(_: ListOptions) -> int:
    """List the worlds, each with its title, its --world format and its specifications."""
    return guarded(_list)


@command(ShowOptions)
def show(options: ShowOptions) -> int:
    """Show a world: its files and formats, an example, its actions, and the rules that apply to it."""
    return guarded(lambda: _show(options.name))


@command(SceneOptions)
def export(options: SceneOptions) -> int:
    """Convert a scene, and a plan for it, to PDDL files that other tools can read.

    Exit codes: 0 written, 2 a file cannot be read or written.
    """
    paths = {
        "scene": options.scene,
        "goal": options.goal,
        "domain": options.domain,
        "problem": options.problem,
        "plan": options.plan,
    }
    return guarded(lambda: _export(options.name, paths, options.task, options.output))


def _list() -> int:
    rows = [("world", "title", "--world", "specification")]
    for name, importer in known_worlds().items():
        title = importer.title if importer is not None else "a shipped domain; problems and plans in PDDL"
        rows.append((name, title, "yes" if importer is not None else "-", _specs(importer, name)))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print("  ".join([*cells, row[3]]).rstrip())
    print("\nDetails of a world: safecheck worlds show NAME")
    return 0


def _specs(importer: Benchmark | None, name: str) -> str:
    domain = importer.domain if importer is not None else name
    return ", ".join(default_specs(domain or "")) or "from the task"


def _show(name: str) -> int:
    worlds = known_worlds()
    importer = find_importer(name)
    if name.lower() not in (*worlds, *domain_names()) and importer is None:
        return complain(unknown_world(name, tuple(worlds), domain_names()))
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
    _print_coverage(checker, checker.compiled.symbols)
    return 0


def _print_coverage(checker: Checker, symbols: Symbols) -> None:
    """Print which rules apply to the domain, and which words and types no rule covers."""
    from plansafe.verifier.rules.domain_coverage import MAPPED, UNBOUND, describe_coverage  # noqa: PLC0415 - loads the engine

    result = describe_coverage(symbols, checker.compiled.expanded, checker.rules)
    print(f"\nrules         {len(result.applicable)} of {len(checker.rules)} apply")
    for rule in result.not_applicable:
        missing_words = ", ".join([f"{kind} `{name}`" for kind, name in rule.missing_names])
        print(f"  not {rule.rule}: {rule.exclusion_reason or f'the domain has no {missing_words}'}")
    if result.list_words(MAPPED):
        unbound_words = result.list_words(UNBOUND)
        print(f"words         {len(result.list_words(MAPPED))} mapped, {len(unbound_words)} without a mapping")
        for word in unbound_words:
            print(f"  {word.kind} {word.name}")
        covered = len(result.kinds) - len(result.unseen_types)
        print(f"types         {covered} of {len(result.kinds)} belong to a kind; rules about kinds skip the rest")
        print(f"  {', '.join(result.unseen_types)}")


def _export(name: str, paths: dict[str, str | None], task: str | None, output: str | None) -> int:
    from plansafe.app.session.home_world import find_world  # noqa: PLC0415 - for this command alone
    from plansafe.domains.assumed_states import scene_with_facts  # noqa: PLC0415
    from plansafe.domains.world import Request  # noqa: PLC0415

    world = find_world(name)
    if isinstance(world, Diagnostic):
        return complain(world)
    discovery = Discovery(Choice())
    files: dict[str, Source] = {}
    for role, path in paths.items():
        input_file = discovery.read(path, role, f"--{role}") if path is not None else None
        if isinstance(input_file, Diagnostic):
            return complain(input_file)
        if isinstance(input_file, Input):
            files[role] = input_file.source
    plan_text = files.pop("plan", None)
    sources = {source.name: source for source in (*files.values(), *([] if plan_text is None else [plan_text]))}
    scene = world.read_scene(Request(files, task))
    if not scene.ok:
        return _print_errors(scene.notes, sources)
    notes = scene.notes
    contents = {"domain.pddl": scene.domain.text, "problem.pddl": scene.problem.text}
    for number, spec in enumerate(scene.specs, 1):
        contents["task.safe" if len(scene.specs) == 1 else f"task-{number}.safe"] = spec.text
    if plan_text is not None:
        converted = world.read_plan(plan_text, scene)
        if converted.plan is None:
            return _print_errors(converted.diagnostics, sources)
        contents["problem.pddl"] = scene_with_facts(scene, converted.assumed).problem.text
        notes = (*notes, *converted.diagnostics)
        stem = os.path.splitext(os.path.basename(plan_text.name))[0]
        contents[f"{stem if stem.isprintable() else 'plan'}.plan"] = converted.plan.text
    existing = [file for file in contents if os.path.lexists(file)] if output is None else []
    if existing:
        advice = "name a folder with --output"
        return complain(
            Diagnostic(SC.BAD_OPTION, f"cannot write {visible(existing[0])}: the file exists already", help=advice)
        )
    print_diagnostics(notes, sources)
    return _save(output if output is not None else ".", contents, [path for path in paths.values() if path is not None])


def _save(folder: str, files: dict[str, str], inputs: Sequence[str]) -> int:
    """Write files (name: text) to a folder; write none of them if one must not be written."""
    protected = Guard(inputs)
    paths = {os.path.join(folder, name): text for name, text in files.items()}
    try:
        os.makedirs(folder, exist_ok=True)
        path_problem = next(
            (diagnostic for path in paths if (diagnostic := problem(path, protected)) is not None), None
        )
        if path_problem is not None:
            return complain(path_problem)
        for path, text in paths.items():
            remark(save(path, text, protected))
            print(visible(path))
    except NotWritten as refused:
        return complain(refused.diagnostic)
    except OSError as error:
        return complain(unwritable(visible(folder), error))
    return 0


def _print_errors(diagnostics: tuple[Diagnostic, ...], sources: dict[str, Source]) -> int:
    return print_diagnostics(
        [diagnostic for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR], sources
    )
