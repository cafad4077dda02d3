"""The operations that stand for themselves: texts in, one JSON text out, as docs/output-formats.md says.

Each is the service's own function over texts; nothing here judges, filters or repairs. A caller's mistake is a
:class:`plansafe.app.interfaces.agents.request_fields.BadRequest`, or part of the report.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from fractions import Fraction

from plansafe.app.interfaces.agents import reference
from plansafe.app.interfaces.agents.bug_log import quiet
from plansafe.app.interfaces.agents.limits import Limits
from plansafe.app.interfaces.agents.operation_fields import JUDGING
from plansafe.app.interfaces.agents.request_fields import Values, read_fields, read_object
from plansafe.app.interfaces.agents.request_task import Given, Task, read_task
from plansafe.app.interfaces.agents.rule_formalisation import formalise
from plansafe.app.render.json import JsonRenderer
from plansafe.app.session.audit import Session
from plansafe.app.session.model import Settings
from plansafe.app.session.repair import ExaminationOptions, Examined, examine
from plansafe.app.system.version import version
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import BOUNDED_WORK, RepairOptions

_KEPT = 4
_KEPT_CHARACTERS = 4_000_000
"""Tasks whose compiled form is kept for the next request, and how long their texts may be together."""


class Desk:
    """Where requests are worked on: what was compiled for one is kept for the next of the same task."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._sessions: OrderedDict[Task, Session] = OrderedDict()

    def session(self, task: Task) -> Session:
        """What compiles a task, kept while the texts of all that are kept are short."""
        found = self._sessions.pop(task, None) or Session(task.settings, Given(task))
        self._sessions[task] = found
        while len(self._sessions) > _KEPT or sum([t.size for t in self._sessions]) > _KEPT_CHARACTERS:
            self._sessions.popitem(last=False)
        return found

    def settings(self, values: Values) -> Settings:
        """The settings of an audit."""
        return Settings(
            hashes=True,
            time_limit=self.limits.seconds,
            gate=values.get("gate", False),
            max_findings=values.get("max_findings", 100),
            loose=values.get("form") == "text",
            accept_remarks=values.get("accept_remarks", False),
        )


def audit(values: Values, desk: Desk) -> str:
    """The verdict on a plan, ``report-1.json``."""
    task = read_task(values, desk.settings(values))
    session = desk.session(task)
    for result in session.each([_plan(values)], session.audit, task.settings.time_limit):
        return JsonRenderer(task.settings, version()).plan(quiet(result))
    raise AssertionError("one plan has one result")


def repair(values: Values, desk: Desk) -> str:
    """The nearest safe plan, ``repair-1.json``."""
    return _examined(values, desk, ExaminationOptions(_options(values, desk.limits), classes=False))


def diagnose(values: Values, desk: Desk) -> str:
    """What is wrong with a plan, where and why, ``repair-1.json``."""
    wishes = ExaminationOptions(
        _options(values, desk.limits),
        where=values["where"] or values["regret"],
        regret=values["regret"],
        causes=values["causes"],
    )
    return _examined(values, desk, wishes)


def _options(values: Values, limits: Limits) -> RepairOptions:
    return RepairOptions(
        protected=frozenset(values["protect"]),
        max_cost=None if values["max_cost"] is None else Fraction(str(values["max_cost"])),
        max_work=BOUNDED_WORK,
        time_limit_s=limits.seconds / 3,  # what follows the search needs time, too
    )


def _examined(values: Values, desk: Desk, wishes: ExaminationOptions) -> str:
    from plansafe.app.render.repair_json import RepairJsonRenderer  # noqa: PLC0415 - where repairs are asked for

    task = read_task(values, desk.settings(values))
    session, seconds = desk.session(task), desk.limits.seconds
    for done in examine([_plan(values)], task.settings, wishes, session=session, seconds=seconds):
        return RepairJsonRenderer(task.settings, version()).plan(_quiet_examined(done))
    raise AssertionError("one plan has one result")


def _quiet_examined(done: Examined) -> Examined:
    after = None if done.after is None else quiet(done.after)
    return done._replace(result=quiet(done.result), after=after)


def _plan(values: Values) -> Source:
    return Source(values["name"] or "plan", values["plan"])


OPERATIONS: Mapping[str, Callable[[Values, Desk], str]] = {
    "audit": audit,
    "repair": repair,
    "diagnose": diagnose,
    "formalise": lambda values, desk: formalise(values, desk.limits),
    "explain": lambda values, _: reference.explain(values),
    "hazards": lambda values, _: reference.hazards(values),
    "catalogue": lambda _values, _: reference.catalogue(),
    "show": lambda values, _: reference.show(values),
}
_FIELDS = {operation.name: operation.fields for operation in JUDGING}


def perform(name: str, body: bytes, desk: Desk) -> str:
    """Do what a request asks. Raises :class:`BadRequest`."""
    return OPERATIONS[name](read_fields(_FIELDS[name], read_object(body)), desk)
