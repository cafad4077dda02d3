"""Find the domain, problem and specifications of a plan, in the order of docs/getting-started.md.

Plans are untrusted. A plan may name its domain and problem, but only in its own folder or below. It can neither add nor
remove a specification, and `--gate` ignores these names. The result lists each chosen file with the reason, or the
searched places if there is none.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from plansafe.app.project.file_kinds import Heading, Kind, heading
from plansafe.app.project.folder_contents import Folders, Sibling, above, place
from plansafe.app.project.inputs import Choice, Input, Inputs
from plansafe.app.project.project import STEM, plan_stem
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
    from plansafe.app.project.project import Project

_STDIN_NAME = "<stdin>"
_ROLES_WITH_PARTS = (Kind.DOMAIN.value, Kind.PROBLEM.value)
"""The roles of files that may be the parts of several agents in a folder."""


_EXTENDS_LIBRARY = r"(?i)\(safety\s+home\s*\)|\(:extends\b[^()]*(?<![\w-])home(?![\w-])"
_MAPS_LIBRARY = r"(?i)\(:specification\s+home\s*\)"
_PACKED = "unpack it first"
_GZIP = b"\x1f\x8b"
_MAX_UNPACKED = 1 << 28
"""Largest size of an unpacked file, in bytes. A VirtualHome scene has some hundred thousand."""
_MIN_SIMILARITY = 0.65
"""Of a stem to a missing one, for a suggestion: `tee` is similar to `tea`."""
_MAX_SIMILAR = 10_000
"""Number of files of a folder that are searched for a similar name."""
_FOREIGN_FORMATS = (
    (b"\xff\xfe", ("UTF-16", "save it as UTF-8")),
    (b"\xfe\xff", ("UTF-16", "save it as UTF-8")),
    (b"PK\x03\x04", ("an archive (zip)", _PACKED)),
    (b"BZh91AY&SY", ("compressed (bzip2)", _PACKED)),
    (b"\xfd7zXZ\x00", ("compressed (xz)", _PACKED)),
    (b"\x28\xb5\x2f\xfd", ("compressed (zstd)", _PACKED)),
)
"""First bytes of files that are not UTF-8 text, with the format and the advice to the user."""


class _NotFound(Exception):
    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Discovery:
    """Finds and reads inputs. Each file and folder is read once for all plans.

    ``unsaved`` maps real paths to the unsaved texts of an editor, which replace the content of these files.
    """

    def __init__(self, choice: Choice, hashes: bool = False, unsaved: Mapping[str, str] | None = None) -> None:
        self._choice = choice
        self._hashes = hashes
        self._unsaved = unsaved or {}
        self._files: dict[str, Input] = {}
        self._folders = Folders(self._unsaved)
        self._results: dict[tuple[str | None, ...], Inputs] = {}
        self._stdin_taken = False

    def read(
        self, path: str, role: str, how: str, keep: bool = True, within: tuple[str, ...] | None = None
    ) -> Input | Diagnostic:
        """Read a file, or standard input for ``-``. Returns a diagnostic (SC001, SC601, SC607, SC641) on failure.

        ``keep`` caches the text for later plans; plans themselves are not cached. ``within`` are the folders that no
        link may lead out of.
        """
        cached = self._files.get(path)
        if cached is not None:
            return cached._replace(role=role, how=how)
        if role in _ROLES_WITH_PARTS and os.path.isdir(path) and self._folders.siblings(path, Kind(role)):
            return self._read_parts(path, Kind(role), how)
        if self._unsaved and (text := self._unsaved.get(os.path.realpath(path))) is not None:
            edited = Input(role, path, how, Source(path, text))
            if keep:
                self._files[path] = edited
            return edited
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
                with open(path, "rb", buffering=0) as file:
                    stray = None if within is None else strays(path, within, file.fileno())
                    if stray is not None:
                        return stray
                    data = file.read()
            except (OSError, ValueError) as error:
                return _unreadable(path, role, error)
        digest = None
        if self._hashes:
            import hashlib  # noqa: PLC0415 - only some formats need it

            digest = hashlib.sha256(data).hexdigest()
        if data.startswith(_GZIP):
            unpacked = _unpacked(data)
            if unpacked is None:
                advice = f"it is damaged, truncated or larger than {_MAX_UNPACKED >> 20} MiB: gunzip --test FILE"
                text = f"cannot read the {role} {name}: this gzip file cannot be unpacked"
                return Diagnostic(SC.UNREADABLE_FILE, text, help=advice)
            data = unpacked
        format_entry = next((format_entry for start, format_entry in _FOREIGN_FORMATS if data.startswith(start)), None)
        if format_entry is not None:
            format_name, advice = format_entry
            return Diagnostic(SC.UNREADABLE_FILE, f"cannot read the {role} {name}: it is {format_name}", help=advice)
        input_file = Input(role, path, how, Source.from_bytes(name, data), digest)
        if keep:
            self._files[path] = input_file
        return input_file

    def _read_parts(self, folder: str, kind: Kind, how: str) -> Input | Diagnostic:
        """Read the domains or the problems of a folder: the parts of a factored task."""
        parts: list[Input] = []
        for sibling in sorted(self._folders.siblings(folder, kind), key=lambda s: _agent(s.path)):
            part = self.read(sibling.path, kind.value, how)
            if isinstance(part, Diagnostic):
                return part
            parts.append(part)
        if len(parts) == 1:
            return parts[0]
        plain = next((part for part in parts if kind is Kind.DOMAIN and not _is_factored(part)), None)
        if plain is not None:
            text = f"{plain.path} is not part of a factored task: it does not require `:factored-privacy`"
            return Diagnostic(SC.CONTRADICTORY_PARTS, text, help="name one file with --domain")
        return parts[0]._replace(source=Source.joined([part.source for part in parts]), parts=tuple(parts))

    def _factored(self, folder: str, kind: Kind, how: str) -> Input | None:
        """Read the parts of the factored task in a folder; ``None`` if its files are not exactly such parts."""
        kinds = (Kind.DOMAIN, Kind.PROBLEM)
        domain_agents, problem_agents = [{_agent(s.path) for s in self._folders.siblings(folder, k)} for k in kinds]
        if len(domain_agents) < 2 or domain_agents != problem_agents:
            return None
        domains = [self.read(s.path, "domain", how) for s in self._folders.siblings(folder, Kind.DOMAIN)]
        if not all([isinstance(domain, Input) and _is_factored(domain) for domain in domains]):
            return None
        parts = self._read_parts(folder, kind, how)
        return parts if isinstance(parts, Input) else None

    def find(self, plan: Input, plan_heading: Heading) -> Inputs:
        """Find domain, problem and specifications of a plan with this heading."""
        folder = os.path.dirname(plan.path) if plan.path != STDIN else ""
        if self._choice.gate:
            plan_heading = Heading(plan_heading.kind)
        # the choice depends on the file name of the plan, unless one problem is given for all plans
        one_for_all = self._choice.problem is not None and STEM not in self._choice.problem
        key = (folder, plan_heading.domain, plan_heading.problem, None if one_for_all else os.path.basename(plan.path))
        cached = self._results.get(key)
        if cached is None:
            cached = self._search(plan, folder, plan_heading)
            if not cached.diagnostics:
                self._results[key] = cached
        return cached

    def _search(self, plan: Input, folder: str, plan_heading: Heading) -> Inputs:
        diagnostics: list[Diagnostic] = []
        problem = domain = None
        try:
            problem = self._problem(plan, folder, plan_heading)
        except _NotFound as failure:
            diagnostics.append(failure.diagnostic)
        try:
            domain = self._domain(plan, folder, plan_heading, problem)
        except _NotFound as failure:
            diagnostics.append(failure.diagnostic)
        if domain is not None and problem is not None:
            diagnostics += _mismatched_parts(domain, problem)
        specs, failures = self.specifications(folder, domain, problem)
        if domain is not None and (plan_heading.domain is not None or plan_heading.problem is not None):
            failures += self._left_out_specs(plan, folder, plan_heading, domain, [spec.path for spec in specs])
        return Inputs(domain, problem, specs, (*diagnostics, *failures))

    # -- domain and problem

    def _search_folders(self, folder: str) -> list[str]:
        """The folder of a plan and, without ``--gate``, the folders above it."""
        return [folder] if self._choice.gate else [folder, *above(folder)]

    def _missing(self, code: str, kind: Kind, candidates: list[Sibling], looked: list[str], plan: Input) -> _NotFound:
        """An error for zero or several candidates, with the searched places."""
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

    def _problem(self, plan: Input, folder: str, plan_heading: Heading) -> Input:
        if self._choice.problem is not None:
            return self._must_read(self._choice.problem.replace(STEM, plan_stem(plan.path)), "problem", "--problem")
        project = self._choice.project
        if project is not None and project.problem is not None:
            return self._of_project(project, "problem", project.problem, plan)
        looked = ["no --problem"]
        if plan_heading.problem is not None:
            named_by_plan = self._named_by_plan(plan, folder, plan_heading.problem, Kind.PROBLEM, looked)
            if named_by_plan is not None:
                return named_by_plan
        candidates: list[Sibling] = []
        for at in self._search_folders(folder):
            candidates = self._folders.siblings(at, Kind.PROBLEM)
            looked.append(f"{place(at)}: {_count(len(candidates), 'problem')}")
            if len(candidates) == 1:
                return self._must_read(candidates[0].path, "problem", _in(at, folder))
            stem = _stem(plan.path)
            same_stem = [s for s in candidates if _stem(s.path) == stem]
            similar_stem = same_stem or [
                s for s in candidates if stem.startswith((_stem(s.path) + "-", _stem(s.path) + "_"))
            ]
            if len(similar_stem) == 1:
                return self._must_read(similar_stem[0].path, "problem", f"{_in(at, folder)}, by its name")
            parts = self._factored(at, Kind.PROBLEM, _in(at, folder))
            if parts is not None:
                return parts
            if candidates:
                break  # do not search further up: these candidates are closer to the plan
        raise self._missing(SC.NO_PROBLEM, Kind.PROBLEM, candidates, looked, plan)

    def _domain(self, plan: Input, folder: str, plan_heading: Heading, problem: Input | None) -> Input:
        if self._choice.domain is not None:
            return self._must_read(shipped_or_file(self._choice.domain), "domain", "--domain")
        project = self._choice.project
        if project is not None and project.domain is not None:
            return self._must_read(named_in(project, project.domain, shipped_domain), "domain", project.path)
        if problem is not None and problem.parts:
            at = os.path.dirname(problem.path)
            parts = self._factored(at, Kind.DOMAIN, _in(at, folder))
            if parts is not None:
                return parts
        looked = ["no --domain"]
        if plan_heading.domain is not None:
            named_by_plan = self._named_by_plan(plan, folder, plan_heading.domain, Kind.DOMAIN, looked)
            if named_by_plan is not None:
                return named_by_plan
        domain_name = heading(problem.source.text).domain if problem is not None else None
        if domain_name is None and plan_heading.domain is not None and not is_path(plan_heading.domain):
            domain_name = plan_heading.domain
        domains_by_folder = [(at, self._folders.siblings(at, Kind.DOMAIN)) for at in self._search_folders(folder)]
        looked += [f"{place(at)}: {_count(len(candidates), 'domain')}" for at, candidates in domains_by_folder]
        if domain_name is not None:
            for at, candidates in domains_by_folder:
                matches = [s for s in candidates if s.heading.name == domain_name.lower()]
                if len(matches) == 1:
                    return self._must_read(matches[0].path, "domain", _in(at, folder))
                if matches:
                    raise self._missing(SC.NO_DOMAIN, Kind.DOMAIN, matches, looked, plan)
            shipped = shipped_domain(domain_name)
            looked.append(f"shipped domains: {'one' if shipped else 'none'} is called `{domain_name}`")
            if shipped is not None:
                return self._must_read(shipped, "domain", "shipped")
        at, candidates = next((pair for pair in domains_by_folder if pair[1]), (folder, []))
        if len(candidates) == 1:
            return self._must_read(candidates[0].path, "domain", _in(at, folder))
        raise self._missing(SC.NO_DOMAIN, Kind.DOMAIN, candidates, looked, plan)

    def _named_by_plan(self, plan: Input, folder: str, name: str, kind: Kind, looked: list[str]) -> Input | None:
        """Read the domain or problem that the plan names, if it is in the folder of the plan or below."""
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
                    ("a plan can only name files in its own folder or below, because plans are untrusted",),
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
                    f"the plan names a {role} file that does not exist",
                    (label,) if label else (),
                    help=f"choose the {role} yourself with --{role}",
                )
            )
        looked.append(f"the plan says `{name}`")
        matches = [s for s in self._folders.siblings(folder, kind) if s.heading.name == name.lower()]
        return self._must_read(matches[0].path, role, how) if len(matches) == 1 else None

    def _of_project(self, project: Project, role: str, pattern: str, plan: Input) -> Input:
        """Read the file that a pattern of the project file names for a plan."""
        input_file = self.of_project(project, role, pattern, plan.path)
        if isinstance(input_file, Diagnostic):
            raise _NotFound(input_file)
        return input_file

    def of_project(self, project: Project, role: str, pattern: str, plan: str) -> Input | Diagnostic:
        """Read the file that a pattern of the project file names for a plan.

        Returns a diagnostic (SC001, SC601, SC603) on failure.
        """
        is_pattern = STEM in pattern
        if is_pattern and plan == STDIN:
            text = f"{project.path} names the {role} by the plan's file name, and standard input has none"
            return Diagnostic(SC.NO_PROBLEM, text, help=f"name it with --{role} FILE")
        how = f"{project.path}: {pattern}" if is_pattern else project.path
        input_file = self.read(project.for_plan(pattern, plan), role, how)
        if isinstance(input_file, Diagnostic):
            return input_file._replace(notes=(*input_file.notes, f'{project.path} says: {role} = "{pattern}"'))
        return input_file

    def _must_read(self, path: str, role: str, how: str) -> Input:
        input_file = self.read(path, role, how)
        if isinstance(input_file, Diagnostic):
            raise _NotFound(input_file)
        return input_file

    # -- specifications

    def specifications(
        self, folder: str, domain: Input | None, problem: Input | None = None
    ) -> tuple[tuple[Input, ...], list[Diagnostic]]:
        """Read the specifications of a task and of plans in ``folder``; also returns the read errors."""
        specs: list[Input] = []
        failures: list[Diagnostic] = []
        for path, how in self._chosen_specs(folder, domain, problem):
            spec = self.read(path, "specification", how)
            if isinstance(spec, Diagnostic):
                failures.append(spec)
            else:
                specs.append(spec)
        mapping = self._library_mapping(domain, specs)
        if mapping is not None:
            specs.append(mapping)
        if self._choice.ltl and domain is not None:
            from plansafe.grammar.ltl import LTL_NAME, make_ltl_specification  # noqa: PLC0415 - only --ltl needs it

            rules = make_ltl_specification(self._choice.ltl, domain.source)
            specs.append(Input("specification", LTL_NAME, "--ltl", rules))
        return tuple(specs), failures

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
        shipped = name is not None and _is_shipped_domain(domain, name)
        places = [(folder, f"in {place(folder)}")]
        if problem is not None and problem.path != STDIN:
            places.append((os.path.dirname(problem.path), "beside the problem"))
        path = _written_path(domain)
        if os.path.isfile(path) and not shipped:
            places.append((os.path.dirname(path), "beside the domain"))
        chosen: dict[str, tuple[str, str]] = {}
        for at, how in places:
            for path in self._specs_in(at, name):
                chosen.setdefault(os.path.realpath(path), (path, how))
        if chosen:
            return list(chosen.values())
        if shipped and name is not None:
            from plansafe.specs import default_specs, spec_path  # noqa: PLC0415 - not needed if options name the files

            return [(as_read(spec_path(spec)), "shipped with the domain") for spec in default_specs(name)]
        for at in self._search_folders(folder):
            spec_paths = self._specs_in(at, name)
            if spec_paths:
                return [(path, _in(at, folder)) for path in spec_paths]
        return []

    def _library_mapping(self, domain: Input | None, specs: list[Input]) -> Input | None:
        """Read the mapping of the hazard library for a shipped domain, if a specification extends the library.

        ``None`` if no specification needs it, or one of them is a mapping of the library.
        """
        texts = [spec.source.text for spec in specs]
        if domain is None or not any([re.search(_EXTENDS_LIBRARY, text) for text in texts]):
            return None
        name = heading(domain.source.text).name
        if name is None or not _is_shipped_domain(domain, name) or any([re.search(_MAPS_LIBRARY, t) for t in texts]):
            return None
        path = shipped_spec(f"home-{name}")
        mapping = self.read(as_read(path), "specification", "for the rules of home") if path is not None else None
        return mapping if isinstance(mapping, Input) else None

    def _specs_in(self, folder: str, domain: str | None) -> list[str]:
        """Paths of the specifications in a folder that apply to the named domain or to every domain."""
        spec_files = self._folders.siblings(folder, Kind.SAFETY)
        return [s.path for s in spec_files if s.heading.domain is None or s.heading.domain.lower() == domain]

    def _left_out_specs(
        self, plan: Input, folder: str, plan_heading: Heading, domain: Input, used: list[str]
    ) -> list[Diagnostic]:
        """Reject the names in a plan (SC621) if they avoid a specification that would apply without them.

        If only the plan chooses the domain, the specifications of every candidate domain count.
        """
        unnamed = Heading(plan_heading.kind)
        problem: Input | None = None
        with suppress(_NotFound):
            problem = self._problem(plan, folder, unnamed)
        try:
            rivals = [self._domain(plan, folder, unnamed, problem)]
        except _NotFound:
            places = dict.fromkeys([*self._search_folders(folder), os.path.dirname(domain.path)])
            domain_paths = [s.path for at in places for s in self._folders.siblings(at, Kind.DOMAIN)]
            candidates = [self.read(path, "domain", "candidate") for path in domain_paths]
            rivals = [rival for rival in candidates if isinstance(rival, Input)]
        used_paths = {os.path.realpath(path) for path in used}
        for rival in rivals:
            for path, _ in self._chosen_specs(folder, rival, problem):
                if os.path.realpath(path) not in used_paths:
                    return [_leaves_out(plan, plan_heading, path, rival)]
        return []

    def _shipped_or_file(self, path: str) -> str:
        """Resolve ``--spec household`` to the shipped specification, unless a file has this name."""
        if path == STDIN or is_path(path) or os.path.exists(path):
            return path
        return shipped_spec(path) or path

    def extended(self, name: str, extending: Source) -> Input | None:
        """Find an extended specification: in the same folder (by path or declared name), otherwise shipped."""
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


def _is_shipped_domain(domain: Input, name: str) -> bool:
    return _same_file(_written_path(domain), shipped_domain(name))


def _written_path(domain: Input) -> str:
    """The path of a domain; a home world may add the types of a task, and notes that in the path."""
    return domain.path.partition(" (with ")[0]


def _same_file(path: str, other_path: str | None) -> bool:
    return other_path is not None and os.path.realpath(path) == os.path.realpath(other_path)


def _agent(path: str) -> str:
    """Return the agent that the name of a file such as ``domain-agent.pddl`` or ``agent_problem.pddl`` names."""
    return re.sub(r"[-_.]*(domain|problem)[-_.]*", "", _stem(path))


def _is_factored(domain: Input) -> bool:
    return ":factored-privacy" in domain.source.text.lower()


def _mismatched_parts(domain: Input, problem: Input) -> list[Diagnostic]:
    """Return an error unless there are parts of the same agents."""
    agents, of_problems = [[_agent(part.path) for part in file.parts or (file,)] for file in (domain, problem)]
    if not (domain.parts or problem.parts) or agents == of_problems:
        return []
    text = f"the domains are of the agents {', '.join(agents)}, the problems of {', '.join(of_problems)}"
    help = "each agent needs domain-AGENT.pddl and problem-AGENT.pddl"
    return [Diagnostic(SC.CONTRADICTORY_PARTS, text, help=help)]


def _stem(path: str) -> str:
    return os.path.basename(path).split(".")[0].lower()


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _in(at: str, folder: str) -> str:
    """Why a file was chosen: it is in the folder of the plan or in a folder above it."""
    return f"in {place(at)}" if at == folder else f"in {place(at)}, above the plan"


def _leaves_out(plan: Input, plan_heading: Heading, spec: str, rival: Input) -> Diagnostic:
    labels = [_label(plan, name) for name in (plan_heading.domain, plan_heading.problem) if name is not None]
    return Diagnostic(
        SC.RULES_LEFT_OUT,
        f"the names in the plan would leave out the specification {spec}",
        tuple([label for label in labels if label is not None]),
        (f"{spec} applies to {rival.path}, which the plan does not choose; plans are untrusted",),
        "choose the domain yourself with --domain, or the rules with --spec",
    )


def _label(plan: Input, name: str) -> Label | None:
    at = plan.source.text.find(name)
    return Label(plan.source.name, Span(at, at + len(name))) if at >= 0 else None


def _unpacked(data: bytes) -> bytes | None:
    """Unpack gzip data; ``None`` if it is damaged or too large."""
    import zlib  # noqa: PLC0415 - only packed files need it

    out = bytearray()
    try:
        while data:
            inflate = zlib.decompressobj(wbits=31)
            out += inflate.decompress(data, _MAX_UNPACKED + 1 - len(out))
            if not inflate.eof or len(out) > _MAX_UNPACKED:
                return None
            data = inflate.unused_data.lstrip(b"\0")
    except zlib.error:
        return None
    return bytes(out)


_CHECK_PATH = "check the path: relative paths start at the current folder"
_WHERE = {
    "domain": f"{_CHECK_PATH}; or name a shipped domain with --domain (safecheck worlds)",
    "specification": f"{_CHECK_PATH}; or name a shipped specification with --spec",
}
"""Help for a file that does not exist, by its role."""


def _unreadable(path: str, role: str, error: OSError | ValueError) -> Diagnostic:
    if isinstance(error, FileNotFoundError):
        near = nearest_shipped(path, role) or _nearest_file(path, folders=role == "plan")
        help = f"did you mean `{near}`?" if near else _WHERE.get(role, _CHECK_PATH)
        return Diagnostic(SC.NO_FILE, f"{role} not found: {path}", help=help)
    reason = getattr(error, "strerror", None) or str(error)
    advice = "name a file in it" if isinstance(error, IsADirectoryError) else None
    return Diagnostic(SC.UNREADABLE_FILE, f"cannot read the {role} {path}: {reason.lower()}", help=advice)


def _nearest_file(path: str, folders: bool) -> str | None:
    """The file in the same folder with the most similar name, or a folder.

    A file with another suffix must have the same stem, unless the name has no suffix.
    """
    import difflib  # noqa: PLC0415 - only errors need it

    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)
    try:
        there: dict[str, list[str]] = {}
        for file in sorted(os.listdir(folder or "."))[:_MAX_SIMILAR]:
            if not folders and os.path.isdir(os.path.join(folder, file)):
                continue
            file_stem, file_suffix = os.path.splitext(file)
            if suffix in ("", file_suffix) or file_stem == stem:
                there.setdefault(file_stem, []).append(file)
        stems = difflib.get_close_matches(stem, there, n=1, cutoff=_MIN_SIMILARITY)
    except (OSError, ValueError):
        return None
    near = difflib.get_close_matches(name, there[stems[0]], n=1, cutoff=0) if stems else []
    return os.path.join(folder, near[0]) if near else None
