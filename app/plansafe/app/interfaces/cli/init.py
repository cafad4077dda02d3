"""The command ``init``: a project file for the folder that it finds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from plansafe.app.options.option import Options, argument, command
from plansafe.app.project.file_kinds import Heading, Kind, heading_of_file
from plansafe.app.project.project_file import FILE, SHARED, STEM, BadProject, project_in
from plansafe.app.project.shipped_files import shipped_domain
from plansafe.app.system.file_writing import NotWritten, create
from plansafe.app.system.process import complain, guarded
from plansafe.app.system.terminal_text import brief, visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

_DEPTH = 3
_MOST = 2_000
"""Folders below, and files that are looked at: a project is a small thing."""
_PLANS = (Kind.PLAN, Kind.STEPS)
_OPTIONAL = f"""
# Other keys (docs/project-file.md). Flags win over this file.
# format = "concise"         # full, concise, json, sarif, github, gitlab, junit, html
# judge = "introduced"        # what was there before the plan decides nothing
# min_severity = "medium"     # nor do rules that are less severe
# blame = ["introduced"]     # list only what the plan causes
# home = "home.toml"          # what this home lives with, and why
# world = "virtualhome"      # plans and scenes in the format of a simulator
# scene = "scenes/{STEM}.json"
#
# [limits]
# time = 60                  # seconds for a plan
# memory = 4096              # MiB
"""


class _Found(NamedTuple):
    path: str
    heading: Heading


class InitOptions(Options):
    """The options of ``init``."""

    folder: str = argument("[FOLDER]", "The folder. Default: this one.", default=".")


@command(InitOptions)
def init(options: InitOptions) -> int:
    """Write a project file (safecheck.toml) for the domain, problems, specifications and plans of a folder.

    It is never written over another one. Exit codes: 0 written, 2 there is one, or it cannot be written.
    """
    return guarded(lambda: _init("" if options.folder == os.curdir else options.folder))


def _init(folder: str) -> int:
    if folder and not os.path.isdir(folder):
        return complain(Diagnostic(SC.NO_FILE, f"folder not found: {folder}"))
    path = os.path.join(folder, FILE)
    if os.path.lexists(path):
        return complain(_there_is_one(path))
    try:
        if project_in(folder) is not None:
            return complain(_there_is_one(os.path.join(folder, SHARED)))
    except BadProject as bad:
        return complain(bad.diagnostics[0])
    files = _files(folder)
    text = project_text(files)
    try:
        create(path, text)
    except FileExistsError:
        return complain(_there_is_one(path))
    except NotWritten as refused:
        return complain(refused.diagnostic)
    plans = [found.path for found in files if found.heading.kind in _PLANS]
    print(f"written: {visible(path)}\n")
    print("\n".join([f"  {brief(line)}" for line in text.split("\n# Other keys")[0].rstrip().splitlines()]))
    where = os.path.dirname(plans[0]) or plans[0] if plans else "PLAN"
    there = f" in {visible(folder)}" if folder else ""
    print(f"\ncheck your plans{there}:    safecheck {visible(where)}")
    print(f"what is in force{there}:    safecheck --show-config")
    return 0


def _there_is_one(path: str) -> Diagnostic:
    return Diagnostic(
        SC.PROJECT_FILE_EXISTS,
        f"there is a project file already: {path}",
        help="change that one, or move it away first",
    )


def _files(folder: str) -> list[_Found]:
    """The files below a folder that have to do with plans, by their paths from it."""
    out: list[_Found] = []
    for at, folders, names in os.walk(folder or os.curdir):
        inside = os.path.relpath(at, folder or os.curdir)
        inside = "" if inside == os.curdir else inside
        folders[:] = sorted([name for name in folders if not name.startswith(".")])
        if inside.count(os.sep) >= _DEPTH - 1:
            folders.clear()
        for name in sorted(names):
            if name.startswith(".") or len(out) >= _MOST:
                continue
            said = heading_of_file(os.path.join(at, name))
            if said.kind not in (Kind.OTHER, Kind.EMPTY, Kind.MAPPING):
                out.append(_Found(os.path.join(inside, name), said))
    return [found for found in out if _can_be_written(found.path)]


def _can_be_written(path: str) -> bool:
    """Whether a path is a text that TOML can hold, without what a pattern means."""
    return path.isprintable() and not set(path) & set("{}")


def project_text(files: Sequence[_Found]) -> str:
    """A project file for the files of a folder; what cannot be told is left to the reader, in comments."""
    problems = [found for found in files if found.heading.kind is Kind.PROBLEM]
    domain, lines = _domain(files, problems)
    lines += _problem([found.path for found in problems], [f.path for f in files if f.heading.kind in _PLANS])
    fitting = [
        found.path
        for found in files
        if found.heading.kind is Kind.SAFETY and (found.heading.domain or domain or "").lower() == (domain or "")
    ]
    if fitting:
        lines.append(f"specifications = [{', '.join([_quoted(path) for path in fitting])}]")
    elif domain is not None and shipped_domain(domain) is not None and lines[0].startswith("domain"):
        from plansafe.specs import default_specs  # noqa: PLC0415 - for a shipped domain alone

        lines.append(f"specifications = [{', '.join([_quoted(name) for name in default_specs(domain)])}]")
    else:
        lines.append('# specifications = ["rules.safe"]  # none found: nothing is said about safety')
    return (
        "# What `safecheck` uses for plans checked from here, or from a folder below.\n"
        + "\n".join(lines)
        + ("\n" + _OPTIONAL)
    )


def _domain(files: Sequence[_Found], problems: Sequence[_Found]) -> tuple[str | None, list[str]]:
    """The name of the domain, and the lines for it."""
    domains = [found for found in files if found.heading.kind is Kind.DOMAIN]
    named = {found.heading.domain.lower() for found in problems if found.heading.domain is not None}
    fitting = [found for found in domains if not named or found.heading.name in named]
    if len(fitting) == 1 and len(named) <= 1:
        return fitting[0].heading.name, [f"domain = {_quoted(fitting[0].path)}"]
    if not domains and len(named) == 1:
        name = next(iter(named))
        if shipped_domain(name) is not None:
            return name, [f"domain = {_quoted(name)}  # shipped with safecheck"]
    several = f"several: {', '.join([found.path for found in domains[:4]])}" if domains else "none found"
    return None, [f'# domain = "domain.pddl"  # {several}']


def _problem(problems: Sequence[str], plans: Sequence[str]) -> list[str]:
    """The lines for the problem: the only one, or a pattern that gives every plan its own."""
    if len(problems) == 1:
        return [f"problem = {_quoted(problems[0])}"]
    stems = {os.path.splitext(os.path.basename(plan))[0] for plan in plans}
    shapes = {os.path.join(os.path.dirname(path), STEM) + os.path.splitext(path)[1] for path in problems}
    for shape in sorted(shapes):
        if stems and all([shape.replace(STEM, stem) in problems for stem in stems]):
            return [f"problem = {_quoted(shape)}"]
    several = f"several, and no pattern gives each plan one: {', '.join(problems[:4])}" if problems else "none found"
    return [f'# problem = "problems/{STEM}.pddl"  # {several}']


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
