"""The operations without a session: texts in, one JSON text out (docs/output-formats.md).

Each operation calls the session functions on texts and renders the result. An error of the caller is a
:class:`plansafe.app.interfaces.agents.request_fields.BadRequest`, or part of the report.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from plansafe.app.interfaces.agents import reference
from plansafe.app.interfaces.agents.operation_fields import STATELESS_OPERATIONS
from plansafe.app.interfaces.agents.request_fields import Values, read_fields, read_object
from plansafe.app.interfaces.agents.request_task import RequestFinder, Task, read_task, without_traceback
from plansafe.app.interfaces.agents.rule_formalisation import formalise
from plansafe.app.interfaces.agents.short_answers import short_audit, short_examination
from plansafe.app.interfaces.agents.worker_messages import Limits
from plansafe.app.render.json import JsonRenderer
from plansafe.app.session.audit import Session
from plansafe.app.session.diagnosis import Examined
from plansafe.app.session.model import Settings
from plansafe.app.session.repair import ExaminationOptions, examine
from plansafe.app.system.version import version
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import BOUNDED_WORK, RepairOptions

_MAX_CACHED_TASKS = 4
_MAX_CACHED_CHARACTERS = 4_000_000
"""Maximum number of compiled tasks in the cache, and of characters in their texts."""


class OperationContext:
    """The limits of a worker and its cache of compiled tasks."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._sessions: OrderedDict[Task, Session] = OrderedDict()

    def session(self, task: Task) -> Session:
        """Return the session of a task, from the cache if possible."""
        session = self._sessions.pop(task, None) or Session(task.settings, RequestFinder(task))
        self._sessions[task] = session
        while len(self._sessions) > _MAX_CACHED_TASKS or sum([t.size for t in self._sessions]) > _MAX_CACHED_CHARACTERS:
            self._sessions.popitem(last=False)
        return session

    def settings(self, values: Values) -> Settings:
        """Return the settings of an audit."""
        return Settings(
            hashes=True,
            time_limit=self.limits.seconds,
            gate=values.get("gate", False),
            max_findings=values.get("max_findings", 100),
            loose=values.get("form") == "text",
            accept_remarks=values.get("accept_remarks", False),
        )


class Answer(NamedTuple):
    """The full answer of an operation, and the function that makes the short one. Both are one line of JSON."""

    full: str
    shorten: Callable[[], str]


def audit(values: Values, context: OperationContext) -> Answer:
    """Audit a plan; the answer is a ``report-1.json`` object."""
    task = read_task(values, context.settings(values))
    session = context.session(task)
    for audited in session.process([_plan(values)], session.audit, task.settings.time_limit):
        result = without_traceback(audited)
        return Answer(JsonRenderer(task.settings, version()).plan(result), partial(short_audit, result))
    raise AssertionError("one plan has one result")


def repair(values: Values, context: OperationContext) -> Answer:
    """Search for the nearest safe plan; the answer is a ``repair-1.json`` object."""
    return _examine(values, context, ExaminationOptions(_options(values, context.limits), classes=False))


def diagnose(values: Values, context: OperationContext) -> Answer:
    """Find the errors of a plan and their causes; the answer is a ``repair-1.json`` object."""
    options = ExaminationOptions(
        _options(values, context.limits),
        where=values["where"] or values["regret"],
        regret=values["regret"],
        causes=values["causes"],
    )
    return _examine(values, context, options)


def _options(values: Values, limits: Limits) -> RepairOptions:
    return RepairOptions(
        protected=frozenset(values["protect"]),
        max_cost=None if values["max_cost"] is None else Fraction(str(values["max_cost"])),
        max_work=BOUNDED_WORK,
        time_limit_s=limits.seconds / 3,  # the steps after the search also need time
    )


def _examine(values: Values, context: OperationContext, options: ExaminationOptions) -> Answer:
    from plansafe.app.render.repair_json import RepairJsonRenderer  # noqa: PLC0415 - only needed for repairs

    task = read_task(values, context.settings(values))
    session, seconds = context.session(task), context.limits.seconds
    for with_tracebacks in examine([_plan(values)], task.settings, options, session=session, seconds=seconds):
        examined = _examined_without_tracebacks(with_tracebacks)
        full = RepairJsonRenderer(task.settings, version()).plan(examined)
        return Answer(full, partial(short_examination, examined))
    raise AssertionError("one plan has one result")


def _examined_without_tracebacks(examined: Examined) -> Examined:
    after = None if examined.after is None else without_traceback(examined.after)
    return examined._replace(result=without_traceback(examined.result), after=after)


def _plan(values: Values) -> Source:
    return Source(values["name"] or "plan", values["plan"])


_PLAN_OPERATIONS: Mapping[str, Callable[[Values, OperationContext], Answer]] = {
    "audit": audit,
    "repair": repair,
    "diagnose": diagnose,
}
_OTHER_OPERATIONS: Mapping[str, Callable[[Values, OperationContext], str]] = {
    "formalise": lambda values, context: formalise(values, context.limits),
    "explain": lambda values, _: reference.explain(values),
    "hazards": lambda values, _: reference.hazards(values),
    "catalogue": lambda _values, _: reference.catalogue(),
    "show": lambda values, _: reference.show(values),
}
_FIELDS = {operation.name: operation.fields for operation in STATELESS_OPERATIONS}
SHORT = "short-"
"""Prefix of the name of an operation on a plan: answer with two lines, the short and the full answer."""


def perform(name: str, body: bytes, context: OperationContext) -> str:
    """Run an operation and return its JSON text. Raises :class:`BadRequest`."""
    operation = name.removeprefix(SHORT)
    values = read_fields(_FIELDS[operation], read_object(body))
    if operation not in _PLAN_OPERATIONS:
        return _OTHER_OPERATIONS[operation](values, context)
    answer = _PLAN_OPERATIONS[operation](values, context)
    return answer.shorten() + answer.full if name.startswith(SHORT) else answer.full
