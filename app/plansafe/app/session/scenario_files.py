"""Finding the files of scenarios: a folder, or a problem file with its neighbours.

What language models write may not look like PDDL at its beginning, so a file is also known by its name, or by a
``(define (domain ..`` anywhere near its beginning.
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
from plansafe.llm.scenario.model import Scenario

if TYPE_CHECKING:
    from plansafe.llm.scenarios.reading import Foundations

_DEFINE = re.compile(r"\(\s*define\s*\(?\s*(domain|problem|safety|plan)\b", re.IGNORECASE)
_DOMAIN = re.compile(r"\(\s*:?domain\s+([^\s()]+)", re.IGNORECASE)
_NAMES = (
    (re.compile(r"domain[^/]*\.pddl\Z|[^/]*[-_.]domain\.pddl\Z", re.IGNORECASE), "domain"),
    (re.compile(r"[^/]*problem[^/]*\.pddl\Z", re.IGNORECASE), "problem"),
    (re.compile(r"[^/]*\.safe\Z", re.IGNORECASE), "safety"),
    (re.compile(r"[^/]*\.(?:plan|soln|solution)(?:\.\d+)?\Z", re.IGNORECASE), "plan"),
)


class Chosen(NamedTuple):
    """What the user chose by flags: the base, specifications, and whether those that nobody named are used, too."""

    base: str | None = None
    specs: tuple[str, ...] = ()
    default_spec: bool = True


class Found(NamedTuple):
    """A scenario with the files that it was read from, as (role, path, why); ``folder`` is where they are."""

    scenario: Scenario
    files: tuple[tuple[str, str, str], ...]
    folder: str


class Unusable(NamedTuple):
    """Something that is no scenario, and why."""

    path: str
    diagnostic: Diagnostic


class ScenarioFiles:
    """Finds and reads scenarios. Files that several of them use are read once.

    ``broken``: the texts of a folder that describes itself may have mistakes, which are to be corrected.
    """

    def __init__(self, chosen: Chosen, broken: bool = False) -> None:
        self._chosen = chosen
        self._broken = broken
        self._discovery = Discovery(Choice(chosen.base, None, chosen.specs, chosen.default_spec))
        self._base: tuple[Source, str] | None = None

    def resolve(self, name: str, extending: Source) -> Source | None:
        """A specification that another one extends."""
        found = self._discovery.extended(name, extending)
        return None if found is None else found.source

    def find(self, paths: Sequence[str]) -> Iterator[Found | Unusable]:
        """The scenarios that are named: of a folder those in it, or else those in the folders below it."""
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
                from plansafe.domains import domain_names  # noqa: PLC0415 - for a mistake alone
                from plansafe.verifier.elaborate.context import did_you_mean  # noqa: PLC0415

                near = did_you_mean(name, domain_names()) or f"shipped are: {', '.join(domain_names())}"
                return Diagnostic(SC.NO_DOMAIN, f"no domain is called {name!a}, and there is no such file", help=near)
            path = shipped or name
        read = self._discovery.read(path, "base", "--base")
        if isinstance(read, Diagnostic):
            return read
        if not _DEFINE.search(read.source.text[:HEAD]) or _kind(path, read.source.text) != "domain":
            return Diagnostic(
                SC.NO_DOMAIN, f"{path} is not a domain", help="--base takes a domain that is given, not judged"
            )
        return read.source, "--base" if path == name else "shipped, --base"

    def _below(self, folder: str) -> Iterator[Found | Unusable]:
        """Every problem of a folder; where there is none, those of the folders in it."""
        problems = [path for path, kind in self._listed(folder) if kind == "problem"]
        for path in problems:
            yield self._of_problem(path, folder, folder if len(problems) == 1 else None)
        if problems:
            return
        inner = sorted([entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)])
        inner = [path for path in inner if not os.path.basename(path).startswith(".")]
        found = False
        for path in inner:
            for scenario in self._below(path):
                if isinstance(scenario, Found) or scenario.diagnostic.code != SC.NO_PROBLEM:
                    found = True
                    yield scenario
        if not found:
            message = f"no scenario in the folder {folder}: there is no problem in it"
            help = "a scenario is a folder with problem.pddl, domain.pddl (or --base), and perhaps *.safe and *.plan"
            yield Unusable(folder, Diagnostic(SC.NO_PROBLEM, message, help=help))

    def _listed(self, folder: str) -> list[tuple[str, str]]:
        try:
            names = sorted(os.listdir(folder or "."))
        except OSError:
            return []
        paths = [os.path.join(folder, name) for name in names if not name.startswith(".")]
        return [(path, _kind_of_file(path)) for path in paths if os.path.isfile(path)]

    def _of_problem(self, path: str, folder: str, name: str | None) -> Found | Unusable:
        read = self._discovery.read(path, "problem", "given")
        if isinstance(read, Diagnostic):
            return Unusable(path, read)
        source = read.source
        wrong = _not_a_problem(path, source.text)
        if wrong is not None:
            return Unusable(path, wrong)
        listed = self._listed(folder)
        files = [("problem", path, "given")]
        given = self._base[0].name if self._base is not None else None
        domain = self._own_domain(source.text, [p for p, kind in listed if kind == "domain" and not _same(p, given)])
        if isinstance(domain, Diagnostic):
            return Unusable(path, domain)
        base = self._base
        described = self._described(folder) if base is None and name is not None else None
        if isinstance(described, Diagnostic):
            return Unusable(path, described)
        if described is not None:
            base = (described.base, "scenario.toml")
        if base is None and domain is None:
            wanted = _DOMAIN.search(source.text[:HEAD])
            shipped = shipped_domain(wanted[1]) if wanted is not None else None
            if shipped is None:
                said = f", and no shipped one is called `{wanted[1]}`" if wanted is not None else ""
                message = f"no domain for {path}: there is none beside it{said}"
                return Unusable(
                    path, Diagnostic(SC.NO_DOMAIN, message, help="name one with --base NAME or --base FILE")
                )
            got = self._discovery.read(shipped, "base", "shipped")
            if isinstance(got, Diagnostic):
                return Unusable(path, got)
            base = (got.source, "shipped")
        if base is not None:
            files.append(("base", base[0].name, base[1]))
        if domain is not None:
            files.append(("domain", domain.name, "beside the problem"))
        specs = self._specs(listed, base)
        if described is not None and self._chosen.default_spec and not self._chosen.specs:
            specs = [(spec, "scenario.toml") for spec in described.specs]
        plans = self._plans(path, listed)
        for role, found in (("specification", specs), ("reference plan", plans)):
            for text, how in found:
                if isinstance(text, Diagnostic):
                    return Unusable(path, text)
                files.append((role, text.name, how))
        texts = [[text for text, _ in found if isinstance(text, Source)] for found in (specs, plans)]
        scenario = Scenario(
            name or path, source, domain, base[0] if base is not None else None, tuple(texts[0]), tuple(texts[1])
        )
        return Found(scenario, tuple(files), folder)

    def _described(self, folder: str) -> Foundations | Diagnostic | None:
        """The base and rules of a folder that describes itself (``scenario.toml``); a diagnostic for mistakes in it."""
        from plansafe.llm.scenarios.reading import (  # noqa: PLC0415 - for such folders alone
            TABLE,
            read_foundations,
            read_scenarios,
        )

        if not os.path.isfile(os.path.join(folder, TABLE)):
            return None
        diagnostics = () if self._broken else read_scenarios(folder).diagnostics
        return diagnostics[0] if diagnostics else read_foundations(folder)

    def _own_domain(self, problem: str, candidates: list[str]) -> Source | Diagnostic | None:
        wanted = {name.lower() for name in _DOMAIN.findall(problem[:HEAD])}
        named = [path for path in candidates if {name.lower() for name in _DOMAIN.findall(_beginning(path))} & wanted]
        if len(candidates) > 1 and len(named) != 1:
            names = ", ".join([os.path.basename(path) for path in candidates])
            message = f"several domains are beside the problem: {names}"
            return Diagnostic(SC.NO_DOMAIN, message, help="put each scenario in a folder of its own, or name a --base")
        if named or (self._base is None and any([shipped_domain(name) for name in wanted])):
            candidates = named
        if not candidates:
            return None
        read = self._discovery.read(candidates[0], "domain", "beside the problem")
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
            paths = [(path, "beside the problem") for path, kind in listed if kind == "safety"]
            if not paths and base is not None:
                paths = self._shipped_specs(base[0])
        found = [(self._discovery.read(path, "specification", how), how) for path, how in paths]
        return [(text if isinstance(text, Diagnostic) else text.source, how) for text, how in found]

    def _shipped_specs(self, base: Source) -> list[tuple[str, str]]:
        name = heading(base.text).name
        shipped = shipped_domain(name) if name is not None else None
        if name is None or shipped is None or os.path.realpath(shipped) != os.path.realpath(base.name):
            return []
        from plansafe.specs import default_specs  # noqa: PLC0415 - where the base is shipped

        found = [shipped_spec(spec) for spec in default_specs(name)]
        return [(path, "shipped with the base") for path in found if path is not None]

    def _plans(self, problem: str, listed: list[tuple[str, str]]) -> list[tuple[Source | Diagnostic, str]]:
        paths = [path for path, kind in listed if kind == "plan"]
        if len([path for path, kind in listed if kind == "problem"]) > 1:
            stem = _stem(problem)
            paths = [p for p in paths if _stem(p) == stem or _stem(p).startswith((stem + "-", stem + "_"))]
        found = [self._discovery.read(path, "reference plan", "beside the problem", keep=False) for path in paths]
        return [(text if isinstance(text, Diagnostic) else text.source, "beside the problem") for text in found]


def _same(path: str, other: str | None) -> bool:
    return other is not None and os.path.realpath(path) == os.path.realpath(other)


def _stem(path: str) -> str:
    return os.path.basename(path).split(".")[0].lower()


def _beginning(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(HEAD).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _kind_of_file(path: str) -> str:
    """What a file of a folder is: of those that are neither PDDL nor named like it, nothing."""
    named = any([pattern.match(os.path.basename(path)) for pattern, _ in _NAMES]) or path.lower().endswith(".pddl")
    text = _beginning(path)
    return _kind(path, text) if named or heading(text).kind is not Kind.OTHER else ""


def _kind(path: str, text: str) -> str:
    """``domain``, ``problem``, ``safety``, ``plan``, or empty: by what the text says, else by its name."""
    said = heading(text).kind
    if said in (Kind.DOMAIN, Kind.PROBLEM, Kind.SAFETY, Kind.MAPPING, Kind.PLAN):
        return str(said.value)
    name = os.path.basename(path)
    by_name = next((kind for pattern, kind in _NAMES if pattern.match(name)), "")
    if said is Kind.STEPS:
        return "plan" if by_name in ("", "plan") else by_name
    found = _DEFINE.search(text[:HEAD])
    return found[1].lower() if found is not None else by_name


def _not_a_problem(path: str, text: str) -> Diagnostic | None:
    if not text.strip():
        return Diagnostic(
            SC.NOT_A_PLAN, f"{path} is empty", help="a scenario has a problem: objects, `:init` and `:goal`"
        )
    kind = _kind(path, text)
    if kind in ("domain", "safety", "mapping", "plan"):
        what = {"safety": "safety specification"}.get(kind, kind)
        folder = os.path.dirname(path) or "."
        return Diagnostic(SC.NOT_A_PLAN, f"{path} is a {what}, not a scenario", help=f"name its folder: {folder}")
    if kind != "problem":
        return Diagnostic(
            SC.NOT_A_PLAN, f"{path} is no problem", help="name a problem in PDDL, or a folder that holds one"
        )
    return None
