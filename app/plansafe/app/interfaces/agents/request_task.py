"""Tasks from request texts. The only files read are shipped ones, by names that cannot be paths.

Tracebacks of internal errors: print them for the operator and remove them from results.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.interfaces.agents.request_fields import BadRequest, Values
from plansafe.app.options.shared import field_of
from plansafe.app.project.file_kinds import Heading, heading
from plansafe.app.project.inputs import Input, Inputs
from plansafe.app.session.model import Result, Settings, usage_problem
from plansafe.domains import domain_names, domain_path
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, suggest_name
from plansafe.grammar.source import Source
from plansafe.specs import default_specs, spec_names, spec_path

if TYPE_CHECKING:
    from plansafe.app.project.project import Project


_PDDL_MARK = "("
"""A character that every PDDL text contains and no name does."""
_FILES = ("scene", "goal", "home")


class Task(NamedTuple):
    """The settings and texts for checking plans. Equal tasks are compiled once."""

    settings: Settings
    texts: tuple[tuple[str, str], ...] = ()
    domain: str | None = None
    rules: tuple[str, ...] = ()
    default_rules: bool = True

    @property
    def size(self) -> int:
        """The number of characters in the texts."""
        return sum([len(text) for _, text in self.texts]) + sum(map(len, self.rules)) + len(self.domain or "")


def read_task(values: Values, settings: Settings) -> Task:
    """Read the task of a request. Raises :class:`BadRequest`, also for a name that is not shipped."""
    texts = tuple([(role, values[role]) for role in ("problem", *_FILES) if values.get(role) is not None])
    text_of_role = dict(texts)
    task_settings = settings._replace(
        world=values["world"],
        scene="scene" if "scene" in text_of_role else None,
        goal="goal" if "goal" in text_of_role else None,
        home="home" if "home" in text_of_role else None,
        task=values["task"],
        judge=values["judge"],
        min_severity=values["min_severity"],
        lenient_types=values["lenient_types"],
    )
    problem = usage_problem(task_settings, field_of)
    if problem is not None:
        raise BadRequest(problem.message, problem.help)
    if _PDDL_MARK not in text_of_role.get("problem", _PDDL_MARK):
        raise BadRequest(
            "`problem` is not PDDL text, and the service reads no files",
            "give the text of the problem, not a file name",
        )
    for spec in values["rules"]:
        _require_shipped(spec, "specification", spec_names())
    if values["domain"] is not None:
        _require_shipped(values["domain"], "domain", domain_names())
    return Task(task_settings, texts, values["domain"], values["rules"], values["default_rules"])


def _require_shipped(text: str, role: str, names: tuple[str, ...]) -> None:
    if _PDDL_MARK not in text and text.lower() not in names:
        advice = suggest_name(text[:60].lower(), names) or f"give its text, or one of: {', '.join(names)}"
        raise BadRequest(f"safecheck ships no {role} named {text[:60]!a}", advice)


class RequestFinder:
    """Find inputs in the texts of a task and the shipped files; a :class:`plansafe.app.project.discovery.Finder`."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._texts: Mapping[str, str] = dict(task.texts)

    def read(
        self, path: str, role: str, how: str, keep: bool = True, within: tuple[str, ...] | None = None
    ) -> Input | Diagnostic:
        """Return the text of a role."""
        if path not in self._texts:
            return Diagnostic(SC.NO_FILE, f"the request has no {role}", help=f"give the text as `{role}`")
        return _input(role, path, self._texts[path])

    def find(self, plan: Input, plan_heading: Heading) -> Inputs:
        """Return the inputs of the request, independent of the plan."""
        errors: list[Diagnostic] = []
        problem = self.read("problem", "problem", "given")
        if isinstance(problem, Diagnostic):
            errors.append(Diagnostic(SC.NO_PROBLEM, "the request has no problem", help="give its text as `problem`"))
        domain_name = heading(problem.source.text).domain if isinstance(problem, Input) else None
        domain = self._domain(domain_name)
        if domain is None:
            advice = f"give its text as `domain`, or a name: {', '.join(domain_names())}"
            errors.append(
                Diagnostic(SC.NO_DOMAIN, "the request has no domain, and the problem names none", help=advice)
            )
        specs, failures = self.specifications("", domain)
        return Inputs(domain, problem if isinstance(problem, Input) else None, specs, (*errors, *failures))

    def _domain(self, problem_domain: str | None) -> Input | None:
        requested = self._task.domain
        if requested is not None and _PDDL_MARK in requested:
            return _input("domain", "domain", requested)
        name = (requested or problem_domain or "").lower()
        return shipped("domain", name) if name in domain_names() else None

    def of_project(self, project: Project, role: str, pattern: str, plan: str) -> Input | Diagnostic:
        """Return an error, because requests have no project file."""
        return Diagnostic(SC.NO_FILE, f"the request has no {role}", help=f"give the text as `{role}`")

    def specifications(
        self, folder: str, domain: Input | None, problem: Input | None = None
    ) -> tuple[tuple[Input, ...], list[Diagnostic]]:
        """Return the specifications of the request, or the default specifications of a shipped domain."""
        rules = self._task.rules
        if rules:
            specs = [
                _input("specification", f"rules-{number}", rule)
                if _PDDL_MARK in rule
                else shipped("specification", rule)
                for number, rule in enumerate(rules, 1)
            ]
            return tuple(specs), []
        if not self._task.default_rules or domain is None:
            return (), []
        name = heading(domain.source.text).name or ""
        is_shipped = name in domain_names() and _is_shipped(domain.path.partition(" (with ")[0], name)
        return tuple([shipped("specification", spec) for spec in (default_specs(name) if is_shipped else ())]), []

    def extended(self, name: str, extending: Source) -> Input | None:
        """Return a specification of the request, by the name it declares, or a shipped specification."""
        for number, rule in enumerate(self._task.rules, 1):
            if _PDDL_MARK in rule and heading(rule).name == name.lower():
                return _input("specification", f"rules-{number}", rule)
        return shipped("specification", name) if name.lower() in spec_names() else None


def shipped(role: str, name: str) -> Input:
    """Read a shipped file by its name, which must exist; the result does not contain its path."""
    path = domain_path(name) if role == "domain" else spec_path(name)
    with open(path, "rb") as file:
        text = Source.from_bytes(path, file.read()).text
    return _input(role, _shipped_path(name.lower()), text, "shipped")


def _is_shipped(path: str, name: str) -> bool:
    return path == _shipped_path(name) or os.path.realpath(path) == os.path.realpath(domain_path(name))


def _shipped_path(name: str) -> str:
    return f"shipped:{name}"


def _input(role: str, path: str, text: str, how: str = "given") -> Input:
    import hashlib  # noqa: PLC0415 - not needed for --help

    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Input(role, path, how, Source(path, text), digest)


def without_traceback(result: Result) -> Result:
    """Print the traceback of an internal error on standard error, and return the result without it."""
    if result.failure is not None:
        print(result.failure, file=sys.stderr, flush=True)
    return result._replace(failure=None)
