"""A session: the monitor of one robot or agent, and what it is asked. Each lives in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from plansafe.app.interfaces.agents.bug_log import quiet
from plansafe.app.interfaces.agents.limits import Limits
from plansafe.app.interfaces.agents.operation_fields import OPEN, WITHIN
from plansafe.app.interfaces.agents.request_fields import BadRequest, Values, read_fields, read_object
from plansafe.app.interfaces.agents.request_task import Given, read_task
from plansafe.app.render.json import diagnostic_object, json_line
from plansafe.app.session.audit import Session, no_rules
from plansafe.app.session.model import Prepared, Settings
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.execution.one_world import LeavesOpen
from plansafe.verifier.execution.online import Advice, Broken, Monitor, ObservationError
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.planning.own_search import OwnSearch
from plansafe.verifier.planning.recoverable import recoverable

_ASKED_AHEAD = 20
"""Steps that are looked at for a safe way to the goal, in one request."""


class Refused(Exception):
    """A task that no session can watch; with what is wrong, and the texts that it is about."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...], prepared_sources: Mapping[str, Source]) -> None:
        super().__init__(diagnostics[0].message)
        self.diagnostics = diagnostics
        self.sources = prepared_sources


class Watch:
    """The monitor of one execution, and how many actions were taken and observations made: its position."""

    def __init__(self, body: bytes, limits: Limits) -> None:
        """Begin. Raises :class:`BadRequest`, :class:`Refused`."""
        values = read_fields(OPEN.fields, read_object(body))
        prepared = _prepared(values, limits)
        checker = prepared.checker
        self._limits = limits
        self._monitor = _monitor(prepared)
        self._planner = OwnSearch()
        self.position = 0
        self._rules = [rule.name for rule in checker.rules if rule.applicable]
        self._notes = [diagnostic_object(d, prepared.sources) for d in (*prepared.notes, *checker.diagnostics)]
        question = checker.options.question
        rules = zip(checker.rules, checker.compiled.bindings, strict=True)
        deciding = [r for r, bindings in rules if bindings and question.may_decide(r.name, r.severity)]
        if not deciding and not values["allow_no_rules"]:
            told = no_rules()._replace(
                message="no applicable rule can decide: the session would monitor nothing",
                help="give specifications as `rules`, or pass `allow_no_rules` if there are none",
            )
            raise Refused((told,), prepared.sources)
        self.watched = len(deciding)

    def opened(self) -> dict[str, Any]:
        """What is said of a session that has begun."""
        engine = self._monitor.engine
        return {
            "position": self.position,
            "rules": self._rules,
            "deciding": self.watched,
            "objects": len(engine.task.objects),
            "actions": sorted(engine.task.actions),
            "diagnostics": self._notes,
        }

    def perform(self, name: str, body: bytes) -> str:
        """Do what a request asks. Raises :class:`BadRequest`; then nothing has changed."""
        values = read_fields(_FIELDS[name], read_object(body))
        expected = values.get("position")
        if expected is not None and expected != self.position:
            message = f"the session stands at position {self.position}, not at {expected}"
            advice = "ask for its state: another request was first, or an answer was lost"
            raise BadRequest(message, advice, SC.WRONG_POSITION)
        return json_line(_WORK[name](self, values))

    def allowed(self, values: Values) -> dict[str, Any]:
        """May an action be taken now?"""
        return self._advice(self._monitor.allowed(values["action"]), taken=False)

    def take(self, values: Values) -> dict[str, Any]:
        """An action is taken, if it is allowed, or ``despite`` what it breaks."""
        advice = self._monitor.allowed(values["action"])
        taken = advice.executable and (advice.allowed or values["despite"])
        if taken:
            self._monitor.take(values["action"])
            self.position += 1
        return self._advice(advice, taken)

    def _advice(self, advice: Advice, taken: bool) -> dict[str, Any]:
        return {
            "position": self.position,
            "allowed": advice.allowed,
            "executable": advice.executable,
            "taken": taken,
            "reasons": list(advice.reasons),
            "breaks": _broken(advice.breaks),
            "deciding": self.watched,
        }

    def observe(self, values: Values) -> dict[str, Any]:
        """The state is corrected by what was seen."""
        try:
            found = self._monitor.observe(list(values["facts"]), complete=values["complete"])
        except ObservationError as error:
            wrong = error.diagnostic
            raise BadRequest(wrong.message, wrong.help, wrong.code) from error
        self.position += 1
        return {
            "position": self.position,
            "unexpected": list(found.unexpected),
            "missing": list(found.missing),
            "numbers": [{"fluent": name, "predicted": was, "seen": now} for name, was, now in found.numbers],
            "breaks": _broken(found.breaks),
        }

    def next(self, values: Values) -> dict[str, Any]:
        """The legal steps, and what each would break; safe ones first, in the order of the domain."""
        monitor = self._monitor
        options = monitor.now().options()
        safe = [option for option in options if not option.broken]
        unsafe = [option for option in options if option.broken] if values["unsafe"] else []
        deadline = monotonic() + self._limits.seconds / 2
        steps: list[dict[str, Any]] = []
        for number, option in enumerate((*safe, *unsafe)[: values["most"]]):
            text = step_text(option.step, monitor.task.objects)
            step: dict[str, Any] = {"step": text, "safe": not option.broken, "breaks": []}
            if option.broken:
                step["breaks"] = _broken(monitor.allowed(text).breaks)
            elif values["ahead"]:
                left = deadline - monotonic()
                step["ahead"] = self._ahead(text, left) if number < _ASKED_AHEAD and left > 0 else _NOT_ASKED
            steps.append(step)
        return {
            "position": self.position,
            "legal": len(options),
            "safe": len(safe),
            "may_end": monitor.now().accepted,
            "steps": steps,
        }

    def _ahead(self, action: str, seconds: float) -> dict[str, Any]:
        found = recoverable(self._monitor, action, self._planner, time_limit_s=min(seconds, 2.0))
        return {"answer": found.answer, "continuation": list(found.continuation), "detail": found.detail}

    def state(self, values: Values) -> dict[str, Any]:
        """Where the session stands."""
        return {
            "position": self.position,
            "verdicts": self._monitor.verdicts(),
            "may_end": self._monitor.now().accepted,
            "facts": self._monitor.facts() if values["facts"] else None,
        }


_NOT_ASKED: dict[str, Any] = {
    "answer": None,
    "continuation": [],
    "detail": "not asked: a limit was reached",
}
_FIELDS = {operation.name: tuple([f for f in operation.fields if f.name != "session"]) for operation in WITHIN}
_WORK: Mapping[str, Callable[[Watch, Values], dict[str, Any]]] = {
    "allowed": Watch.allowed,
    "take": Watch.take,
    "observe": Watch.observe,
    "next": Watch.next,
    "state": Watch.state,
}


def _broken(found: tuple[Broken, ...]) -> list[dict[str, Any]]:
    return [{**b._asdict(), "binding": dict(b.binding)} for b in found]


def _prepared(values: Values, limits: Limits) -> Prepared:
    """The compiled task, without a plan. Raises :class:`BadRequest`, :class:`Refused`."""
    settings = Settings(hashes=True, time_limit=limits.seconds, wanted="")  # its own goal, and no plan is read
    task = read_task(values, settings)
    found = Session(task.settings, Given(task)).prepare(Source("plan", ""))
    if isinstance(found, Prepared):
        return found
    quiet(found)
    errors = tuple([d for d in found.report.diagnostics if d.severity is Severity.ERROR])
    raise Refused(errors or found.report.diagnostics, found.sources)


def _monitor(prepared: Prepared) -> Monitor:
    """Raises :class:`Refused` where a monitor would leave out a rule, or follow a world that it does not know."""
    checker = prepared.checker
    engine = checker.engine
    why = None
    if engine.limit is not None or (engine.prototype is not None and engine.prototype.too_large):
        why = "a rule has more instances than the limit allows: it could not be watched"
    elif engine.refused is not None:
        why = engine.refused.message
    elif any([literal.time > 0 for literal in engine.task.timed_literals]):
        why = "facts change at given times, and a session has no clock"
    if why is None:
        try:
            return Monitor(checker.compiled)
        except LeavesOpen as error:
            why = str(error)
    raise Refused((Diagnostic(SC.NOT_WATCHED, why, help="judge whole plans with `audit`"),), prepared.sources)
