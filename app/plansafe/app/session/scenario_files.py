"""Find the files of scenarios: a folder, or a problem file and the files next to it.

Files of language models may start with other text than PDDL. Such a file is recognised by its name, or by
``(define (domain ..`` among its first characters.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.file_kinds import HEAD, Kind, heading
from plansafe.app.project.inputs import Choice
from plansafe.app.project.shipped_files import shipped_domain, shipped_spec
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.model import Scenario

if TYPE_CHECKING:
    from plansafe.llm.scenarios.building import Foundations

_DEFINE = re.compile(r"\(\s*define\s*\(?\s*(domain|problem|safety|plan)\b", re.IGNORECASE)
_DOMAIN = re.compile(r"\(\s*:?domain\s+([^\s()]+)", re.IGNORECASE)
_NAMES = (
    (re.compile(r"domain[^/]*\.pddl\Z|[^/]*[-_.]domain\.pddl\Z", re.IGNORECASE), "domain"),
    (re.compile(r"[^/]*problem[^/]*\.pddl\Z", re.IGNORECASE), "problem"),
    (re.compile(r"[^/]*\.safe\Z", re.IGNORECASE), "safety"),
    (re.compile(r"[^/]*\.(?:plan|soln|solution)(?:\.\d+)?\Z", re.IGNORECASE), "plan"),
)


_BESIDE_PROBLEM = "beside the problem"


class ScenarioChoice(NamedTuple):
    """Options of the user: the base, specifications, and whether specifications found by default are used."""

    base: str | None = None
    specs: tuple[str, ...] = ()
    default_spec: bool = True


class FoundScenario(NamedTuple):
    """A scenario and its files, as (role, path, reason); ``folder`` contains them."""

    scenario: Scenario
    files: tuple[tuple[str, str, str], ...]
    folder: str


class Unusable(NamedTuple):
    """A path without a usable scenario, with the reason."""

    path: str
    diagnostic: Diagnostic


class ScenarioFiles:
    """Finds and reads scenarios. A file that several scenarios use is read once.

    ``broken``: ignore errors in ``scenario.toml`` folders, because they are to be corrected.
    """

    def __init__(self, chosen: ScenarioChoice, broken: bool = False) -> None:
        self._chosen = chosen
        self._broken = broken
        self._discovery = Discovery(Choice(chosen.base, None, chosen.specs, chosen.default_spec))
        self._base: tuple[Source, str] | None = None

    def resolve(self, name: str, extending: Source) -> Source | None:
        """Find a specification that ``extending`` extends."""
        spec = self._discovery.extended(name, extending)
        return None if spec is None else spec.source

    def find(self, paths: Sequence[str]) -> Iterator[FoundScenario | Unusable]:
        """Find the scenarios at paths; in a folder without one, the scenarios of the folders below it."""
        if self._chosen.base is not None:
            base = self._read_base(self._chosen.base)
            if isinstance(base, Diagnostic):
                yield Unusable(self._chosen.base, base)
                return
            self._base = base
        for path in paths:
            if os.path.isdir(path):
                yield from self._below(path)
            else:
                yield self._of_problem(path, os.path.dirname(path), None)

    def _read_base(self, name: str) -> tuple[Source, str] | Diagnostic:
        path = name
        if not os.path.isfile(name):
            shipped = shipped_domain(name)
            if shipped is None and "/" not in name and not name.endswith(".pddl"):
                from plansafe.domains import domain_names  # noqa: PLC0415 - only errors need it
                from plansafe.verifier.elaborate.context import did_you_mean  # noqa: PLC0415

                near = did_you_mean(name, domain_names()) or f"shipped domains: {', '.join(domain_names())}"
                return Diagnostic(SC.NO_DOMAIN, f"{name!a} is neither a shipped domain nor a file", help=near)
            path = shipped or name
        read = self._discovery.read(path, "base", "--base")
        if isinstance(read, Diagnostic):
            return read
        if not _DEFINE.search(read.source.text[:HEAD]) or _kind(path, read.source.text) != "domain":
            return Diagnostic(
                SC.NO_DOMAIN, f"{path} is not a domain", help="--base takes a domain, which is not reviewed itself"
            )
        return read.source, "--base" if path == name else "shipped, --base"

    def _below(self, folder: str) -> Iterator[FoundScenario | Unusable]:
        """Find the scenarios of all problems in a folder; otherwise search the folders in it."""
        problems = [path for path, kind in self._listed(folder) if kind == "problem"]
        for path in problems:
            yield self._of_problem(path, folder, folder if len(problems) == 1 else None)
        if problems:
            return
        subfolders = sorted([entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)])
        subfolders = [path for path in subfolders if not os.path.basename(path).startswith(".")]
        has_scenario = False
        for path in subfolders:
            for scenario in self._below(path):
                if isinstance(scenario, FoundScenario) or scenario.diagnostic.code != SC.NO_PROBLEM:
                    has_scenario = True
                    yield scenario
        if not has_scenario:
            message = f"no scenario in the folder {folder}: it contains no problem"
            help = "a scenario is a folder with problem.pddl, domain.pddl (or --base), and perhaps *.safe and *.plan"
            yield Unusable(folder, Diagnostic(SC.NO_PROBLEM, message, help=help))

    def _listed(self, folder: str) -> list[tuple[str, str]]:
        try:
            names = sorted(os.listdir(folder or "."))
        except OSError:
            return []
        paths = [os.path.join(folder, name) for name in names if not name.startswith(".")]
        return [(path, _kind_of_file(path)) for path in paths if os.path.isfile(path)]

    def _of_problem(self, path: str, folder: str, name: str | None) -> FoundScenario | Unusable:
        read = self._discovery.read(path, "problem", "given")
        if isinstance(read, Diagnostic):
            return Unusable(path, read)
        source = read.source
        error = _not_a_problem(path, source.text)
        if error is not None:
            return Unusable(path, error)
        listed = self._listed(folder)
        files = [("problem", path, "given")]
        base_name = self._base[0].name if self._base is not None else None
        domain = self._own_domain(
            source.text, [p for p, kind in listed if kind == "domain" and not _same(p, base_name)]
        )
        if isinstance(domain, Diagnostic):
            return Unusable(path, domain)
        base = self._base
        described = self._described(folder) if base is None and name is not None else None
        if isinstance(described, Diagnostic):
            return Unusable(path, described)
        if described is not None:
            base = (described.base, "scenario.toml")
        if base is None and domain is None:
            domain_match = _DOMAIN.search(source.text[:HEAD])
            shipped = shipped_domain(domain_match[1]) if domain_match is not None else None
            if shipped is None:
                shipped_note = f", and `{domain_match[1]}` is not a shipped domain" if domain_match is not None else ""
                message = f"no domain for {path}: its folder has none{shipped_note}"
                return Unusable(
                    path, Diagnostic(SC.NO_DOMAIN, message, help="name one with --base NAME or --base FILE")
                )
            base_input = self._discovery.read(shipped, "base", "shipped")
            if isinstance(base_input, Diagnostic):
                return Unusable(path, base_input)
            base = (base_input.source, "shipped")
        if base is not None:
            files.append(("base", base[0].name, base[1]))
        if domain is not None:
            files.append(("domain", domain.name, _BESIDE_PROBLEM))
        specs = self._specs(listed, base)
        if described is not None and self._chosen.default_spec and not self._chosen.specs:
            specs = [(spec, "scenario.toml") for spec in described.specs]
        plans = self._plans(path, listed)
        for role, entries in (("specification", specs), ("reference plan", plans)):
            for text, how in entries:
                if isinstance(text, Diagnostic):
                    return Unusable(path, text)
                files.append((role, text.name, how))
        texts = [[text for text, _ in entries if isinstance(text, Source)] for entries in (specs, plans)]
        scenario = Scenario(
            name or path, source, domain, base[0] if base is not None else None, tuple(texts[0]), tuple(texts[1])
        )
        return FoundScenario(scenario, tuple(files), folder)

    def _described(self, folder: str) -> Foundations | Diagnostic | None:
        """Read the base and rules of a folder with ``scenario.toml``; a diagnostic for errors in it."""
        from plansafe.llm.scenarios.reading import (  # noqa: PLC0415 - only such folders need it
            TABLE,
            read_foundations,
            read_scenarios,
        )

        if not os.path.isfile(os.path.join(folder, TABLE)):
            return None
        diagnostics = () if self._broken else read_scenarios(folder).diagnostics
        return diagnostics[0] if diagnostics else read_foundations(folder)

    def _own_domain(self, problem: str, candidates: list[str]) -> Source | Diagnostic | None:
        domain_names = {name.lower() for name in _DOMAIN.findall(problem[:HEAD])}
        matches = [
            path for path in candidates if {name.lower() for name in _DOMAIN.findall(_beginning(path))} & domain_names
        ]
        if len(candidates) > 1 and len(matches) != 1:
            names = ", ".join([os.path.basename(path) for path in candidates])
            message = f"the folder of the problem has several domains: {names}"
            return Diagnostic(SC.NO_DOMAIN, message, help="put each scenario in a folder of its own, or name a --base")
        if matches or (self._base is None and any([shipped_domain(name) for name in domain_names])):
            candidates = matches
        if not candidates:
            return None
        read = self._discovery.read(candidates[0], "domain", _BESIDE_PROBLEM)
        if isinstance(read, Diagnostic):
            return read
        if not read.source.text.strip():
            return Diagnostic(
                SC.NOT_A_PLAN, f"the domain {candidates[0]} is empty", help="write it, or leave the file out"
            )
        return read.source

    def _specs(
        self, listed: list[tuple[str, str]], base: tuple[Source, str] | None
    ) -> list[tuple[Source | Diagnostic, str]]:
        if self._chosen.specs:
            paths = []
            for name in self._chosen.specs:
                shipped = None if os.path.exists(name) else shipped_spec(name)
                paths.append((shipped or name, "--spec" if shipped is None else "shipped, --spec"))
        elif not self._chosen.default_spec:
            return []
        else:
            paths = [(path, _BESIDE_PROBLEM) for path, kind in listed if kind == "safety"]
            if not paths and base is not None:
                paths = self._shipped_specs(base[0])
        inputs = [(self._discovery.read(path, "specification", how), how) for path, how in paths]
        return [(text if isinstance(text, Diagnostic) else text.source, how) for text, how in inputs]

    def _shipped_specs(self, base: Source) -> list[tuple[str, str]]:
        name = heading(base.text).name
        shipped = shipped_domain(name) if name is not None else None
        if name is None or shipped is None or os.path.realpath(shipped) != os.path.realpath(base.name):
            return []
        from plansafe.specs import default_specs  # noqa: PLC0415 - only shipped bases need it

        spec_paths = [shipped_spec(spec) for spec in default_specs(name)]
        return [(path, "shipped with the base") for path in spec_paths if path is not None]

    def _plans(self, problem: str, listed: list[tuple[str, str]]) -> list[tuple[Source | Diagnostic, str]]:
        paths = [path for path, kind in listed if kind == "plan"]
        if len([path for path, kind in listed if kind == "problem"]) > 1:
            stem = _stem(problem)
            paths = [p for p in paths if _stem(p) == stem or _stem(p).startswith((stem + "-", stem + "_"))]
        inputs = [self._discovery.read(path, "reference plan", _BESIDE_PROBLEM, keep=False) for path in paths]
        return [(text if isinstance(text, Diagnostic) else text.source, _BESIDE_PROBLEM) for text in inputs]


def _same(path: str, other_path: str | None) -> bool:
    return other_path is not None and os.path.realpath(path) == os.path.realpath(other_path)


def _stem(path: str) -> str:
    return os.path.basename(path).split(".")[0].lower()


def _beginning(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(HEAD).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _kind_of_file(path: str) -> str:
    """The kind of a file; empty for files that are not PDDL by content or name."""
    has_pddl_name = any([pattern.match(os.path.basename(path)) for pattern, _ in _NAMES]) or path.lower().endswith(
        ".pddl"
    )
    text = _beginning(path)
    return _kind(path, text) if has_pddl_name or heading(text).kind is not Kind.OTHER else ""


def _kind(path: str, text: str) -> str:
    """The kind by content, otherwise by name: ``domain``, ``problem``, ``safety``, ``plan`` or empty."""
    content_kind = heading(text).kind
    if content_kind in (Kind.DOMAIN, Kind.PROBLEM, Kind.SAFETY, Kind.MAPPING, Kind.PLAN):
        return str(content_kind.value)
    name = os.path.basename(path)
    kind_by_name = next((kind for pattern, kind in _NAMES if pattern.match(name)), "")
    if content_kind is Kind.STEPS:
        return "plan" if kind_by_name in ("", "plan") else kind_by_name
    definition = _DEFINE.search(text[:HEAD])
    return definition[1].lower() if definition is not None else kind_by_name


def _not_a_problem(path: str, text: str) -> Diagnostic | None:
    if not text.strip():
        return Diagnostic(
            SC.NOT_A_PLAN, f"{path} is empty", help="a scenario has a problem: objects, `:init` and `:goal`"
        )
    kind = _kind(path, text)
    if kind in ("domain", "safety", "mapping", "plan"):
        noun = {"safety": "safety specification"}.get(kind, kind)
        folder = os.path.dirname(path) or "."
        return Diagnostic(SC.NOT_A_PLAN, f"{path} is a {noun}, not a scenario", help=f"name its folder: {folder}")
    if kind != "problem":
        return Diagnostic(
            SC.NOT_A_PLAN, f"{path} is not a problem", help="name a problem in PDDL, or a folder that holds one"
        )
    return None
