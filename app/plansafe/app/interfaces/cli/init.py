"""The command ``init``: write a project file for the files of a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from plansafe.app.options.option import Options, argument, command
from plansafe.app.project.file_kinds import Heading, Kind, heading_of_file
from plansafe.app.project.project import STEM
from plansafe.app.project.project_file import FILE, SHARED, BadProject, project_in
from plansafe.app.project.shipped_files import shipped_domain
from plansafe.app.system.file_writing import NotWritten, create
from plansafe.app.system.process import complain, guarded
from plansafe.app.system.terminal_text import brief, visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

_MAX_DEPTH = 3
_MAX_FILES = 2_000
"""How deep the search for files goes, and how many files of a project it lists."""
_PLANS = (Kind.PLAN, Kind.STEPS)
_OPTIONAL = f"""
# Other keys (docs/project-file.md). Flags win over this file.
# format = "concise"         # full, concise, json, sarif, github, gitlab, junit, html
# judge = "introduced"        # pre-existing violations do not decide
# min_severity = "medium"     # less severe rules do not decide
# blame = ["introduced"]     # list only violations that the plan causes
# home = "home.toml"          # exemptions of this home, with reasons
# world = "virtualhome"      # plans and scenes in the format of a simulator
# scene = "scenes/{STEM}.json"
#
# [limits]
# time = 60                  # seconds for a plan
# memory = 4096              # MiB
"""


class _ProjectPart(NamedTuple):
    """A file that can belong to a project."""

    path: str
    heading: Heading


class InitOptions(Options):
    """The options of ``init``."""

    folder: str = argument("[FOLDER]", "The folder; default: the current folder.", default=".")


@command(InitOptions)
def init(options: InitOptions) -> int:
    """Write a project file (safecheck.toml) for the domain, problems, specifications and plans of a folder.

    An existing project file is never replaced. Exit codes: 0 written, 2 the folder has a project file, or the file
    cannot be written.
    """
    return guarded(lambda: _init("" if options.folder == os.curdir else options.folder))


def _init(folder: str) -> int:
    if folder and not os.path.isdir(folder):
        return complain(Diagnostic(SC.NO_FILE, f"folder not found: {folder}"))
    path = os.path.join(folder, FILE)
    if os.path.lexists(path):
        return complain(_already_exists(path))
    try:
        if project_in(folder) is not None:
            return complain(_already_exists(os.path.join(folder, SHARED)))
    except BadProject as bad:
        return complain(bad.diagnostics[0])
    files = _project_files(folder)
    text = project_text(files)
    try:
        create(path, text)
    except FileExistsError:
        return complain(_already_exists(path))
    except NotWritten as error:
        return complain(error.diagnostic)
    plans = [file.path for file in files if file.heading.kind in _PLANS]
    print(f"written: {visible(path)}\n")
    print("\n".join([f"  {brief(line)}" for line in text.split("\n# Other keys")[0].rstrip().splitlines()]))
    plan_folder = os.path.dirname(plans[0]) or plans[0] if plans else "PLAN"
    in_folder = f" in {visible(folder)}" if folder else ""
    print(f"\ncheck your plans{in_folder}:    safecheck {visible(plan_folder)}")
    print(f"show the settings{in_folder}:   safecheck --show-config")
    return 0


def _already_exists(path: str) -> Diagnostic:
    return Diagnostic(
        SC.PROJECT_FILE_EXISTS, f"the project file {path} exists already", help="edit it, or move it away first"
    )


def _project_files(folder: str) -> list[_ProjectPart]:
    """The files below a folder that are about plans, by their paths relative to it."""
    parts: list[_ProjectPart] = []
    for directory, folders, names in os.walk(folder or os.curdir):
        relative = os.path.relpath(directory, folder or os.curdir)
        relative = "" if relative == os.curdir else relative
        folders[:] = sorted([name for name in folders if not name.startswith(".")])
        if relative.count(os.sep) >= _MAX_DEPTH - 1:
            folders.clear()
        for name in sorted(names):
            if name.startswith(".") or len(parts) >= _MAX_FILES:
                continue
            heading = heading_of_file(os.path.join(directory, name))
            if heading.kind not in (Kind.OTHER, Kind.EMPTY, Kind.MAPPING):
                parts.append(_ProjectPart(os.path.join(relative, name), heading))
    return [part for part in parts if _can_be_written(part.path)]


def _can_be_written(path: str) -> bool:
    """Whether TOML can hold a path, and the path has no braces, which would make it a pattern."""
    return path.isprintable() and not set(path) & set("{}")


def project_text(files: Sequence[_ProjectPart]) -> str:
    """The text of a project file for the files of a folder, with a comment for each key whose value is not clear."""
    problems = [file for file in files if file.heading.kind is Kind.PROBLEM]
    domain, lines = _domain(files, problems)
    lines += _problem([file.path for file in problems], [f.path for f in files if f.heading.kind in _PLANS])
    fitting = [
        file.path
        for file in files
        if file.heading.kind is Kind.SAFETY and (file.heading.domain or domain or "").lower() == (domain or "")
    ]
    if fitting:
        lines.append(f"specifications = [{', '.join([_quoted(path) for path in fitting])}]")
    elif domain is not None and shipped_domain(domain) is not None and lines[0].startswith("domain"):
        from plansafe.specs import default_specs  # noqa: PLC0415 - for a shipped domain alone

        lines.append(f"specifications = [{', '.join([_quoted(name) for name in default_specs(domain)])}]")
    else:
        lines.append('# specifications = ["rules.safe"]  # none found: safety is not checked')
    return (
        "# Settings of `safecheck` for plans in this folder and the folders below it.\n"
        + "\n".join(lines)
        + ("\n" + _OPTIONAL)
    )


def _domain(files: Sequence[_ProjectPart], problems: Sequence[_ProjectPart]) -> tuple[str | None, list[str]]:
    """The name of the domain, and the lines for it."""
    domains = [file for file in files if file.heading.kind is Kind.DOMAIN]
    domain_names = {file.heading.domain.lower() for file in problems if file.heading.domain is not None}
    candidates = [file for file in domains if not domain_names or file.heading.name in domain_names]
    if len(candidates) == 1 and len(domain_names) <= 1:
        return candidates[0].heading.name, [f"domain = {_quoted(candidates[0].path)}"]
    if not domains and len(domain_names) == 1:
        name = next(iter(domain_names))
        if shipped_domain(name) is not None:
            return name, [f"domain = {_quoted(name)}  # shipped with safecheck"]
    comment = f"several: {', '.join([file.path for file in domains[:4]])}" if domains else "none found"
    return None, [f'# domain = "domain.pddl"  # {comment}']


def _problem(problems: Sequence[str], plans: Sequence[str]) -> list[str]:
    """The lines for the problem: the only problem, or a pattern that gives each plan its own problem."""
    if len(problems) == 1:
        return [f"problem = {_quoted(problems[0])}"]
    stems = {os.path.splitext(os.path.basename(plan))[0] for plan in plans}
    patterns = {os.path.join(os.path.dirname(path), STEM) + os.path.splitext(path)[1] for path in problems}
    for pattern in sorted(patterns):
        if stems and all([pattern.replace(STEM, stem) in problems for stem in stems]):
            return [f"problem = {_quoted(pattern)}"]
    comment = (
        f"several, and no pattern matches each plan with a problem: {', '.join(problems[:4])}"
        if problems
        else "none found"
    )
    return [f'# problem = "problems/{STEM}.pddl"  # {comment}']


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
