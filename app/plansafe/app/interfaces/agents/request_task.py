"""Tasks that were handed in as texts: no file is read but what is shipped, by names that are no paths."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.interfaces.agents.request_fields import BadRequest, Values
from plansafe.app.options.shared import field_of
from plansafe.app.project.file_kinds import Heading, heading
from plansafe.app.project.inputs import Input, Inputs
from plansafe.app.session.audit import usage_problem
from plansafe.app.session.model import Settings
from plansafe.domains import domain_names, domain_path
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, near
from plansafe.grammar.source import Source
from plansafe.specs import default_specs, spec_names, spec_path

if TYPE_CHECKING:
    from plansafe.app.project.project_file import Project

_TEXT = "("
"""What every text in PDDL has, and no name."""
_FILES = ("scene", "goal", "home")


class Task(NamedTuple):
    """What plans are checked with: settings, and the texts that they name. Equal tasks are compiled once."""

    settings: Settings
    texts: tuple[tuple[str, str], ...] = ()
    domain: str | None = None
    rules: tuple[str, ...] = ()
    default_rules: bool = True

    @property
    def size(self) -> int:
        """Characters that are kept with it."""
        return sum([len(text) for _, text in self.texts]) + sum(map(len, self.rules)) + len(self.domain or "")


def read_task(values: Values, settings: Settings) -> Task:
    """The task of a request. Raises :class:`BadRequest`: in a name that is not shipped lies no path."""
    texts = tuple([(role, values[role]) for role in ("problem", *_FILES) if values.get(role) is not None])
    there = dict(texts)
    asked = settings._replace(
        world=values["world"],
        scene="scene" if "scene" in there else None,
        goal="goal" if "goal" in there else None,
        home="home" if "home" in there else None,
        task=values["task"],
        judge=values["judge"],
        min_severity=values["min_severity"],
        lenient_types=values["lenient_types"],
    )
    wrong = usage_problem(asked, field_of)
    if wrong is not None:
        raise BadRequest(wrong.message, wrong.help)
    if _TEXT not in there.get("problem", _TEXT):
        raise BadRequest("`problem` is no PDDL, and no file is read here", "give the text of the problem, not its name")
    for spec in values["rules"]:
        _known(spec, "specification", spec_names())
    if values["domain"] is not None:
        _known(values["domain"], "domain", domain_names())
    return Task(asked, texts, values["domain"], values["rules"], values["default_rules"])


def _known(text: str, what: str, names: tuple[str, ...]) -> None:
    if _TEXT not in text and text.lower() not in names:
        advice = near(text[:60].lower(), names) or f"give its text, or one of: {', '.join(names)}"
        raise BadRequest(f"no {what} of the name {text[:60]!a} is shipped", advice)


class Given:
    """Finds inputs among the texts of a task, and what is shipped; a :class:`plansafe.app.project.discovery.Finder`."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._texts: Mapping[str, str] = dict(task.texts)

    def read(
        self, path: str, role: str, how: str, keep: bool = True, within: tuple[str, ...] | None = None
    ) -> Input | Diagnostic:
        """A text by the role that it was given for."""
        if path not in self._texts:
            return Diagnostic(SC.NO_FILE, f"no {role} was given", help=f"give the text as `{role}`")
        return _input(role, path, self._texts[path])

    def find(self, plan: Input, said: Heading) -> Inputs:
        """The task of the caller, whatever the plan says."""
        wrong: list[Diagnostic] = []
        problem = self.read("problem", "problem", "given")
        if isinstance(problem, Diagnostic):
            wrong.append(Diagnostic(SC.NO_PROBLEM, "no problem was given", help="give its text as `problem`"))
        wanted = heading(problem.source.text).domain if isinstance(problem, Input) else None
        domain = self._domain(wanted)
        if domain is None:
            advice = f"give its text as `domain`, or a name: {', '.join(domain_names())}"
            wrong.append(Diagnostic(SC.NO_DOMAIN, "no domain was given, and the problem names none", help=advice))
        specs, failures = self.specifications("", domain)
        return Inputs(domain, problem if isinstance(problem, Input) else None, specs, (*wrong, *failures))

    def _domain(self, wanted: str | None) -> Input | None:
        given = self._task.domain
        if given is not None and _TEXT in given:
            return _input("domain", "domain", given)
        name = (given or wanted or "").lower()
        return shipped("domain", name) if name in domain_names() else None

    def of_project(self, project: Project, role: str, pattern: str, plan: str) -> Input | Diagnostic:
        """There is no project file here."""
        return Diagnostic(SC.NO_FILE, f"no {role} was given", help=f"give the text as `{role}`")

    def specifications(
        self, folder: str, domain: Input | None, problem: Input | None = None
    ) -> tuple[tuple[Input, ...], list[Diagnostic]]:
        """The caller's, or else those that are shipped for a shipped domain."""
        rules = self._task.rules
        if rules:
            given = [
                _input("specification", f"rules-{number}", rule) if _TEXT in rule else shipped("specification", rule)
                for number, rule in enumerate(rules, 1)
            ]
            return tuple(given), []
        if not self._task.default_rules or domain is None:
            return (), []
        name = heading(domain.source.text).name or ""
        own = name in domain_names() and _is_shipped(domain.path.partition(" (with ")[0], name)
        return tuple([shipped("specification", spec) for spec in (default_specs(name) if own else ())]), []

    def extended(self, name: str, extending: Source) -> Input | None:
        """Another specification of the caller, by its own name, or a shipped one."""
        for number, rule in enumerate(self._task.rules, 1):
            if _TEXT in rule and heading(rule).name == name.lower():
                return _input("specification", f"rules-{number}", rule)
        return shipped("specification", name) if name.lower() in spec_names() else None


def shipped(role: str, name: str) -> Input:
    """What is shipped under a name, which must be one of the list; where it lies on this machine is not said."""
    path = domain_path(name) if role == "domain" else spec_path(name)
    with open(path, "rb") as file:
        text = Source.from_bytes(path, file.read()).text
    return _input(role, _shown(name.lower()), text, "shipped")


def _is_shipped(path: str, name: str) -> bool:
    return path == _shown(name) or os.path.realpath(path) == os.path.realpath(domain_path(name))


def _shown(name: str) -> str:
    return f"shipped:{name}"


def _input(role: str, path: str, text: str, how: str = "given") -> Input:
    import hashlib  # noqa: PLC0415 - not needed to answer --help

    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Input(role, path, how, Source(path, text), digest)
