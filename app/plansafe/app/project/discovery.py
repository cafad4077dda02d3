"""Finding what a plan is to be checked with; docs/getting-started.md says in which order.

The plan is the untrusted party. What it says about its domain and problem is followed only below its own folder, never
chooses a specification nor loses one, and is ignored when gating. What was chosen, and why, is part of the result; so
is where nothing was found.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from plansafe.app.project.file_kinds import Heading, Kind, heading
from plansafe.app.project.folder_contents import Folders, Sibling, above, place
from plansafe.app.project.inputs import Choice, Input, Inputs
from plansafe.app.project.project_file import STEM, plan_stem
from plansafe.app.project.shipped_files import (
    STDIN,
    as_read,
    is_path,
    named_in,
    nearest_shipped,
    shipped_domain,
    shipped_or_file,
    shipped_spec,
)
from plansafe.app.system.file_writing import strays
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.app.project.project_file import Project

_STDIN_NAME = "<stdin>"


_PACKED = "unpack it first"
_GZIP = b"\x1f\x8b"
_MOST_UNPACKED = 1 << 28
"""Bytes that a packed file may become: a scene of a house has some hundred thousand."""
_MOST_NEAR = 10_000
"""Files of a folder among which one with a near name is looked for."""
_NO_TEXT = (
    (b"\xff\xfe", ("UTF-16", "save it as UTF-8")),
    (b"\xfe\xff", ("UTF-16", "save it as UTF-8")),
    (b"PK\x03\x04", ("an archive (zip)", _PACKED)),
    (b"BZh91AY&SY", ("compressed (bzip2)", _PACKED)),
    (b"\xfd7zXZ\x00", ("compressed (xz)", _PACKED)),
    (b"\x28\xb5\x2f\xfd", ("compressed (zstd)", _PACKED)),
)
"""How files begin that are no text in UTF-8, what they are, and what to do about it."""


class _NotFound(Exception):
    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Discovery:
    """Finds and reads inputs; every file and folder is read once, however many plans use it.

    ``unsaved`` are texts that stand for what is in files, by their real paths: what an editor has open.
    """

    def __init__(self, choice: Choice, hashes: bool = False, unsaved: Mapping[str, str] | None = None) -> None:
        self._choice = choice
        self._hashes = hashes
        self._unsaved = unsaved or {}
        self._files: dict[str, Input] = {}
        self._folders = Folders(self._unsaved)
        self._found: dict[tuple[str | None, ...], Inputs] = {}
        self._stdin_taken = False

    def read(
        self, path: str, role: str, how: str, keep: bool = True, within: tuple[str, ...] | None = None
    ) -> Input | Diagnostic:
        """Read a file, or standard input for ``-``. Returns a diagnostic (SC001, SC601, SC607, SC641) where that fails.

        ``keep`` remembers the text for the next plan; plans themselves are not kept. ``within``: folders that no link
        may leave.
        """
        known = self._files.get(path)
        if known is not None:
            return known._replace(role=role, how=how)
        if self._unsaved and (text := self._unsaved.get(os.path.realpath(path))) is not None:
            opened = Input(role, path, how, Source(path, text))
            if keep:
                self._files[path] = opened
            return opened
        if path == STDIN:
            if self._stdin_taken:
                return Diagnostic(SC.BAD_OPTION, "standard input (`-`) can be read for one file only")
            self._stdin_taken = True
            name = _STDIN_NAME
            if sys.stdin is None:
                return Diagnostic(
                    SC.UNREADABLE_FILE, f"cannot read the {role}: standard input is closed", help="name a file"
                )
            try:
                data = sys.stdin.buffer.read()
            except OSError as error:
                return _unreadable("standard input", role, error)
        else:
            name = path
            try:
                with open(path, "rb") as file:
                    stray = None if within is None else strays(path, within, file.fileno())
                    if stray is not None:
                        return stray
                    data = file.read()
            except (OSError, ValueError) as error:
                return _unreadable(path, role, error)
        digest = None
        if self._hashes:
            import hashlib  # noqa: PLC0415 - needed by some formats alone

            digest = hashlib.sha256(data).hexdigest()
        if data.startswith(_GZIP):
            unpacked = _unpacked(data)
            if unpacked is None:
                advice = (
                    f"it is cut off or damaged, or becomes larger than {_MOST_UNPACKED >> 20} MiB: gunzip --test FILE"
                )
                text = f"cannot read the {role} {name}: it is packed by gzip, and cannot be unpacked"
                return Diagnostic(SC.UNREADABLE_FILE, text, help=advice)
            data = unpacked
        form = next((form for start, form in _NO_TEXT if data.startswith(start)), None)
        if form is not None:
            what, advice = form
            return Diagnostic(SC.UNREADABLE_FILE, f"cannot read the {role} {name}: it is {what}", help=advice)
        found = Input(role, path, how, Source.from_bytes(name, data), digest)
        if keep:
            self._files[path] = found
        return found

    def find(self, plan: Input, said: Heading) -> Inputs:
        """Find domain, problem and specifications for a plan whose beginning says ``said``."""
        folder = os.path.dirname(plan.path) if plan.path != STDIN else ""
        if self._choice.gate:
            said = Heading(said.kind)
        # the name decides, letter by letter in a pattern; elsewhere only its beginning
        one_for_all = self._choice.problem is not None and STEM not in self._choice.problem
        key = (folder, said.domain, said.problem, None if one_for_all else os.path.basename(plan.path))
        known = self._found.get(key)
        if known is None:
            known = self._search(plan, folder, said)
            if not known.diagnostics:
                self._found[key] = known
        return known

    def _search(self, plan: Input, folder: str, said: Heading) -> Inputs:
        diagnostics: list[Diagnostic] = []
        problem = domain = None
        try:
            problem = self._problem(plan, folder, said)
        except _NotFound as failure:
            diagnostics.append(failure.diagnostic)
        try:
            domain = self._domain(plan, folder, said, problem)
        except _NotFound as failure:
            diagnostics.append(failure.diagnostic)
        specs, failures = self.specifications(folder, domain, problem)
        if domain is not None and (said.domain is not None or said.problem is not None):
            failures += self._lost(plan, folder, said, domain, [spec.path for spec in specs])
        return Inputs(domain, problem, specs, (*diagnostics, *failures))

    # -- domain and problem

    def _searched(self, folder: str) -> list[str]:
        """The folder of a plan, and those above it; these not when gating: there, what decides is named."""
        return [folder] if self._choice.gate else [folder, *above(folder)]

    def _missing(self, code: str, kind: Kind, candidates: list[Sibling], looked: list[str], plan: Input) -> _NotFound:
        """Say that nothing was found, or too much, and where it was looked for."""
        role, names = kind.value, ", ".join(s.path for s in candidates[:8])
        if self._choice.gate and above(os.path.dirname(plan.path)):
            looked.append("not in the folders above: --gate")
        notes = ["looked at: " + "; ".join(looked)]
        if candidates:
            notes.append(f"cannot choose between {names}{', ..' if len(candidates) > 8 else ''}")
        text = f"no {role} found for {plan.source.name}"
        return _NotFound(
            Diagnostic(
                code, text, (), tuple(notes), f"name it with --{role} FILE, or in a project file: safecheck init"
            )
        )

    def _problem(self, plan: Input, folder: str, said: Heading) -> Input:
        if self._choice.problem is not None:
            return self._must_read(self._choice.problem.replace(STEM, plan_stem(plan.path)), "problem", "--problem")
        project = self._choice.project
        if project is not None and project.problem is not None:
            return self._of_project(project, "problem", project.problem, plan)
        looked = ["no --problem"]
        if said.problem is not None:
            named = self._named(plan, folder, said.problem, Kind.PROBLEM, looked)
            if named is not None:
                return named
        candidates: list[Sibling] = []
        for at in self._searched(folder):
            candidates = self._folders.siblings(at, Kind.PROBLEM)
            looked.append(f"{place(at)}: {_count(len(candidates), 'problem')}")
            if len(candidates) == 1:
                return self._must_read(candidates[0].path, "problem", _in(at, folder))
            stem = _stem(plan.path)
            same = [s for s in candidates if _stem(s.path) == stem]
            close = same or [s for s in candidates if stem.startswith((_stem(s.path) + "-", _stem(s.path) + "_"))]
            if len(close) == 1:
                return self._must_read(close[0].path, "problem", f"{_in(at, folder)}, by its name")
            if candidates:
                break  # a folder farther away is no better a guess
        raise self._missing(SC.NO_PROBLEM, Kind.PROBLEM, candidates, looked, plan)

    def _domain(self, plan: Input, folder: str, said: Heading, problem: Input | None) -> Input:
        if self._choice.domain is not None:
            return self._must_read(shipped_or_file(self._choice.domain), "domain", "--domain")
        project = self._choice.project
        if project is not None and project.domain is not None:
            return self._must_read(named_in(project, project.domain, shipped_domain), "domain", project.path)
        looked = ["no --domain"]
        if said.domain is not None:
            named = self._named(plan, folder, said.domain, Kind.DOMAIN, looked)
            if named is not None:
                return named
        wanted = heading(problem.source.text).domain if problem is not None else None
        if wanted is None and said.domain is not None and not is_path(said.domain):
            wanted = said.domain
        found = [(at, self._folders.siblings(at, Kind.DOMAIN)) for at in self._searched(folder)]
        looked += [f"{place(at)}: {_count(len(candidates), 'domain')}" for at, candidates in found]
        if wanted is not None:
            for at, candidates in found:
                fitting = [s for s in candidates if s.heading.name == wanted.lower()]
                if len(fitting) == 1:
                    return self._must_read(fitting[0].path, "domain", _in(at, folder))
                if fitting:
                    raise self._missing(SC.NO_DOMAIN, Kind.DOMAIN, fitting, looked, plan)
            shipped = shipped_domain(wanted)
            looked.append(f"shipped domains: {'one' if shipped else 'none'} is called `{wanted}`")
            if shipped is not None:
                return self._must_read(shipped, "domain", "shipped")
        at, candidates = next((pair for pair in found if pair[1]), (folder, []))
        if len(candidates) == 1:
            return self._must_read(candidates[0].path, "domain", _in(at, folder))
        raise self._missing(SC.NO_DOMAIN, Kind.DOMAIN, candidates, looked, plan)

    def _named(self, plan: Input, folder: str, name: str, kind: Kind, looked: list[str]) -> Input | None:
        """Follow what the plan says about its domain or problem, below its own folder only."""
        role = kind.value
        how = "chosen by the plan"
        base = os.path.realpath(folder or ".")
        try:
            path = os.path.realpath(os.path.join(base, name))
            inside = os.path.commonpath((base, path)) == base
            is_file = inside and os.path.isfile(path)
        except ValueError:  # a null byte, or another drive
            inside = is_file = False
        if not inside:
            label = _label(plan, name)
            raise _NotFound(
                Diagnostic(
                    SC.OUTSIDE_FOLDER,
                    f"the plan names a {role} outside its own folder",
                    (label,) if label else (),
                    ("what a plan says is followed below its own folder only: the plan is the untrusted party",),
                    f"choose the {role} yourself with --{role}",
                )
            )
        if is_file:
            return self._must_read(os.path.join(folder, name), role, how)
        if is_path(name):
            label = _label(plan, name)
            raise _NotFound(
                Diagnostic(
                    SC.NO_FILE,
                    f"the plan names a {role} file that is not there",
                    (label,) if label else (),
                    help=f"choose the {role} yourself with --{role}",
                )
            )
        looked.append(f"the plan says `{name}`")
        fitting = [s for s in self._folders.siblings(folder, kind) if s.heading.name == name.lower()]
        return self._must_read(fitting[0].path, role, how) if len(fitting) == 1 else None

    def _of_project(self, project: Project, role: str, pattern: str, plan: Input) -> Input:
        """The file that a pattern of the project file names for a plan."""
        found = self.of_project(project, role, pattern, plan.path)
        if isinstance(found, Diagnostic):
            raise _NotFound(found)
        return found

    def of_project(self, project: Project, role: str, pattern: str, plan: str) -> Input | Diagnostic:
        """Read what a pattern of the project file names for a plan; a diagnostic (SC001, SC601, SC603) if it cannot."""
        is_pattern = STEM in pattern
        if is_pattern and plan == STDIN:
            text = f"{project.path} names the {role} by the plan's file name, and standard input has none"
            return Diagnostic(SC.NO_PROBLEM, text, help=f"name it with --{role} FILE")
        how = f"{project.path}: {pattern}" if is_pattern else project.path
        found = self.read(project.for_plan(pattern, plan), role, how)
        if isinstance(found, Diagnostic):
            return found._replace(notes=(*found.notes, f'{project.path} says: {role} = "{pattern}"'))
        return found

    def _must_read(self, path: str, role: str, how: str) -> Input:
        found = self.read(path, role, how)
        if isinstance(found, Diagnostic):
            raise _NotFound(found)
        return found

    # -- specifications

    def specifications(
        self, folder: str, domain: Input | None, problem: Input | None = None
    ) -> tuple[tuple[Input, ...], list[Diagnostic]]:
        """Read the specifications for a task and plans in ``folder``, and say which could not be read."""
        found: list[Input] = []
        failures: list[Diagnostic] = []
        for path, how in self._chosen_specs(folder, domain, problem):
            spec = self.read(path, "specification", how)
            if isinstance(spec, Diagnostic):
                failures.append(spec)
            else:
                found.append(spec)
        if self._choice.ltl and domain is not None:
            from plansafe.grammar.ltl_rules import LTL_NAME, ltl_specification  # noqa: PLC0415 - for --ltl alone

            rules = ltl_specification(self._choice.ltl, domain.source)
            found.append(Input("specification", LTL_NAME, "--ltl", rules))
        return tuple(found), failures

    def _chosen_specs(self, folder: str, domain: Input | None, problem: Input | None) -> list[tuple[str, str]]:
        if self._choice.specs:
            return [(self._shipped_or_file(path), "--spec") for path in self._choice.specs]
        if not self._choice.default_spec:
            return []
        project = self._choice.project
        if project is not None and project.specifications is not None:
            return [(named_in(project, path, shipped_spec), project.path) for path in project.specifications]
        if domain is None:
            return []
        name = heading(domain.source.text).name
        path = domain.path.partition(" (with ")[0]  # where a world adds the types of a task, it says so there
        shipped = name is not None and _same_file(path, shipped_domain(name))
        places = [(folder, f"in {place(folder)}")]
        if problem is not None and problem.path != STDIN:
            places.append((os.path.dirname(problem.path), "beside the problem"))
        if os.path.isfile(path) and not shipped:
            places.append((os.path.dirname(path), "beside the domain"))
        chosen: dict[str, tuple[str, str]] = {}
        for at, how in places:
            for path in self._specs_in(at, name):
                chosen.setdefault(os.path.realpath(path), (path, how))
        if chosen:
            return list(chosen.values())
        if shipped and name is not None:
            from plansafe.specs import default_specs, spec_path  # noqa: PLC0415 - not needed when flags decide

            return [(as_read(spec_path(spec)), "shipped with the domain") for spec in default_specs(name)]
        for at in self._searched(folder):
            fitting = self._specs_in(at, name)
            if fitting:
                return [(path, _in(at, folder)) for path in fitting]
        return []

    def _specs_in(self, folder: str, domain: str | None) -> list[str]:
        """The specifications of a folder that are for a domain of that name, or for any."""
        beside = self._folders.siblings(folder, Kind.SAFETY)
        return [s.path for s in beside if s.heading.domain is None or s.heading.domain.lower() == domain]

    def _lost(self, plan: Input, folder: str, said: Heading, domain: Input, used: list[str]) -> list[Diagnostic]:
        """Refuse what a plan names (SC621) if other rules would apply without its word.

        Where nothing else chooses a domain, those are the rules of every domain that there is to choose from.
        """
        silent = Heading(said.kind)
        problem: Input | None = None
        with suppress(_NotFound):
            problem = self._problem(plan, folder, silent)
        try:
            rivals = [self._domain(plan, folder, silent, problem)]
        except _NotFound:
            places = dict.fromkeys([*self._searched(folder), os.path.dirname(domain.path)])
            found = [s.path for at in places for s in self._folders.siblings(at, Kind.DOMAIN)]
            read = [self.read(path, "domain", "beside") for path in found]
            rivals = [rival for rival in read if isinstance(rival, Input)]
        known = {os.path.realpath(path) for path in used}
        for rival in rivals:
            for path, _ in self._chosen_specs(folder, rival, problem):
                if os.path.realpath(path) not in known:
                    return [_drops(plan, said, path, rival)]
        return []

    def _shipped_or_file(self, path: str) -> str:
        """Read ``--spec household`` as the shipped specification of that name, unless there is such a file."""
        if path == STDIN or is_path(path) or os.path.exists(path):
            return path
        return shipped_spec(path) or path

    def extended(self, name: str, extending: Source) -> Input | None:
        """Find the specification that another one extends: beside it (a path, or by its own name), else shipped."""
        folder = "" if extending.name == _STDIN_NAME else os.path.dirname(extending.name)
        path: str | None = os.path.join(folder, name)
        if path is None or "\0" in path or not os.path.isfile(path):
            path = None if is_path(name) else self._sibling_spec(folder, name.lower()) or shipped_spec(name)
        if path is None:
            return None
        spec = self.read(path, "specification", f"extended by {os.path.basename(extending.name)}")
        return None if isinstance(spec, Diagnostic) else spec

    def _sibling_spec(self, folder: str, name: str) -> str | None:
        return next((s.path for s in self._folders.siblings(folder, Kind.SAFETY) if s.heading.name == name), None)


def _same_file(path: str, other: str | None) -> bool:
    return other is not None and os.path.realpath(path) == os.path.realpath(other)


def _stem(path: str) -> str:
    return os.path.basename(path).split(".")[0].lower()


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


def _in(at: str, folder: str) -> str:
    """Why a file was chosen: it lies beside the plan, or in a folder above."""
    return f"in {place(at)}" if at == folder else f"in {place(at)}, above the plan"


def _drops(plan: Input, said: Heading, spec: str, rival: Input) -> Diagnostic:
    labels = [_label(plan, name) for name in (said.domain, said.problem) if name is not None]
    return Diagnostic(
        SC.RULES_LEFT_OUT,
        f"what the plan names would leave out the specification {spec}",
        tuple([label for label in labels if label is not None]),
        (f"{spec} applies to {rival.path}, which the plan does not choose: the plan is the untrusted party",),
        "choose the domain yourself with --domain, or the rules with --spec",
    )


def _label(plan: Input, name: str) -> Label | None:
    at = plan.source.text.find(name)
    return Label(plan.source.name, Span(at, at + len(name))) if at >= 0 else None


def _unpacked(data: bytes) -> bytes | None:
    """What gzip packed; ``None`` where it is damaged, or too large."""
    import zlib  # noqa: PLC0415 - for packed files alone

    out = bytearray()
    try:
        while data:
            inflate = zlib.decompressobj(wbits=31)
            out += inflate.decompress(data, _MOST_UNPACKED + 1 - len(out))
            if not inflate.eof or len(out) > _MOST_UNPACKED:
                return None
            data = inflate.unused_data.lstrip(b"\0")
    except zlib.error:
        return None
    return bytes(out)


_CHECK_PATH = "check the path: relative paths start at the current folder"
_WHERE = {
    "domain": f"{_CHECK_PATH}; or name a shipped domain with --domain (safecheck domains list)",
    "specification": f"{_CHECK_PATH}; or name a shipped specification with --spec",
}
"""Help for a file that does not exist, by its role."""


def _unreadable(path: str, role: str, error: OSError | ValueError) -> Diagnostic:
    if isinstance(error, FileNotFoundError):
        near = nearest_shipped(path, role) or _nearest_file(path)
        help = f"did you mean `{near}`?" if near else _WHERE.get(role, _CHECK_PATH)
        return Diagnostic(SC.NO_FILE, f"{role} not found: {path}", help=help)
    reason = getattr(error, "strerror", None) or str(error)
    advice = "name a file in it" if isinstance(error, IsADirectoryError) else None
    return Diagnostic(SC.UNREADABLE_FILE, f"cannot read the {role} {path}: {reason.lower()}", help=advice)


def _nearest_file(path: str) -> str | None:
    """The file in the same folder whose name is nearest before its ending: all plans end alike."""
    import difflib  # noqa: PLC0415 - needed for mistakes alone

    folder, name = os.path.split(path)
    try:
        there: dict[str, list[str]] = {}
        for file in sorted(os.listdir(folder or "."))[:_MOST_NEAR]:
            there.setdefault(os.path.splitext(file)[0], []).append(file)
        stems = difflib.get_close_matches(os.path.splitext(name)[0], there, n=1)
    except (OSError, ValueError):
        return None
    near = difflib.get_close_matches(name, there[stems[0]], n=1, cutoff=0) if stems else []
    return os.path.join(folder, near[0]) if near else None
