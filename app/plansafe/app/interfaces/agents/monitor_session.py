"""A session: the monitor of one robot or agent and its requests. Each session has its own process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from plansafe.app.interfaces.agents.operation_fields import OPEN, SESSION_OPERATIONS
from plansafe.app.interfaces.agents.request_fields import BadRequest, Values, read_fields, read_object
from plansafe.app.interfaces.agents.request_task import RequestFinder, read_task, without_traceback
from plansafe.app.interfaces.agents.worker_messages import Limits
from plansafe.app.render.json import diagnostic_object, json_line
from plansafe.app.session.audit import Session, no_rules
from plansafe.app.session.model import Prepared, Settings
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.execution.one_world import NeedsOneWorld
from plansafe.verifier.execution.online_monitor import Advice, BrokenRule, Monitor, ObservationError
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.guide import check_recoverable

_MAX_LOOKAHEAD_STEPS = 20
"""Maximum number of steps per request for which a safe continuation to the goal is searched."""


class SessionRefused(Exception):
    """A session cannot monitor the task; ``diagnostics`` give the reason and refer to ``sources``."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...], prepared_sources: Mapping[str, Source]) -> None:
        super().__init__(diagnostics[0].message)
        self.diagnostics = diagnostics
        self.sources = prepared_sources


class MonitorSession:
    """The monitor of one execution. ``position`` counts the actions taken and the observations made."""

    def __init__(self, body: bytes, limits: Limits) -> None:
        """Start a session. Raises :class:`BadRequest`, :class:`SessionRefused`."""
        values = read_fields(OPEN.fields, read_object(body))
        prepared = _prepared(values, limits)
        checker = prepared.checker
        self._limits = limits
        self._monitor = _monitor(prepared)
        self._planner = ForwardSearch()
        self.position = 0
        self._rules = [rule.name for rule in checker.rules if rule.applicable]
        self._notes = [diagnostic_object(d, prepared.sources) for d in (*prepared.notes, *checker.diagnostics)]
        criteria = checker.options.criteria
        rules = zip(checker.rules, checker.compiled.binding_counts, strict=True)
        deciding = [r for r, bindings in rules if bindings and criteria.may_decide(r.name, r.severity)]
        if not deciding and not values["allow_no_rules"]:
            diagnostic = no_rules()._replace(
                message="no applicable rule can decide: the session would monitor nothing",
                help="give specifications as `rules`, or pass `allow_no_rules` if there are none",
            )
            raise SessionRefused((diagnostic,), prepared.sources)
        self.watched = len(deciding)

    def opened(self) -> dict[str, Any]:
        """Return the description of a new session."""
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
        """Handle a request. Raises :class:`BadRequest` without a change of state."""
        values = read_fields(_FIELDS[name], read_object(body))
        expected = values.get("position")
        if expected is not None and expected != self.position:
            message = f"the session is at position {self.position}, not at {expected}"
            advice = "call `state`: another request came first, or a reply was lost"
            raise BadRequest(message, advice, SC.WRONG_POSITION)
        return json_line(_HANDLERS[name](self, values))

    def allowed(self, values: Values) -> dict[str, Any]:
        """Check whether an action is allowed in the current state."""
        return self._advice(self._monitor.allowed(values["action"]), is_taken=False)

    def take(self, values: Values) -> dict[str, Any]:
        """Take an action if it is allowed, or, with ``despite``, although it violates a rule."""
        advice = self._monitor.allowed(values["action"])
        is_taken = advice.executable and (advice.allowed or values["despite"])
        if is_taken:
            self._monitor.take(values["action"])
            self.position += 1
        return self._advice(advice, is_taken)

    def _advice(self, advice: Advice, is_taken: bool) -> dict[str, Any]:
        return {
            "position": self.position,
            "allowed": advice.allowed,
            "executable": advice.executable,
            "taken": is_taken,
            "reasons": list(advice.reasons),
            "breaks": _violation_objects(advice.breaks),
            "deciding": self.watched,
        }

    def observe(self, values: Values) -> dict[str, Any]:
        """Correct the state with an observation."""
        try:
            difference = self._monitor.observe(list(values["facts"]), complete=values["complete"])
        except ObservationError as error:
            diagnostic = error.diagnostic
            raise BadRequest(diagnostic.message, diagnostic.help, diagnostic.code) from error
        self.position += 1
        return {
            "position": self.position,
            "unexpected": list(difference.unexpected),
            "missing": list(difference.missing),
            "numbers": [{"fluent": name, "predicted": was, "seen": now} for name, was, now in difference.numbers],
            "breaks": _violation_objects(difference.breaks),
        }

    def next(self, values: Values) -> dict[str, Any]:
        """Return the legal steps and the rules that each would violate; safe steps first, in domain order."""
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
                step["breaks"] = _violation_objects(monitor.allowed(text).breaks)
            elif values["ahead"]:
                remaining = deadline - monotonic()
                step["ahead"] = (
                    self._find_continuation(text, remaining)
                    if number < _MAX_LOOKAHEAD_STEPS and remaining > 0
                    else _NO_LOOKAHEAD
                )
            steps.append(step)
        return {
            "position": self.position,
            "legal": len(options),
            "safe": len(safe),
            "may_end": monitor.now().accepted,
            "steps": steps,
        }

    def _find_continuation(self, action: str, seconds: float) -> dict[str, Any]:
        result = check_recoverable(self._monitor, action, self._planner, time_limit_s=min(seconds, 2.0))
        return {"answer": result.recoverable, "continuation": list(result.continuation), "detail": result.detail}

    def state(self, values: Values) -> dict[str, Any]:
        """Return the position, the verdicts and the facts of the session."""
        return {
            "position": self.position,
            "verdicts": self._monitor.verdicts(),
            "may_end": self._monitor.now().accepted,
            "facts": self._monitor.facts() if values["facts"] else None,
        }


_NO_LOOKAHEAD: dict[str, Any] = {"answer": None, "continuation": [], "detail": "not searched: a limit was reached"}
_FIELDS = {
    operation.name: tuple([f for f in operation.fields if f.name != "session"]) for operation in SESSION_OPERATIONS
}
_HANDLERS: Mapping[str, Callable[[MonitorSession, Values], dict[str, Any]]] = {
    "allowed": MonitorSession.allowed,
    "take": MonitorSession.take,
    "observe": MonitorSession.observe,
    "next": MonitorSession.next,
    "state": MonitorSession.state,
}


def _violation_objects(violations: tuple[BrokenRule, ...]) -> list[dict[str, Any]]:
    return [{**b._asdict(), "binding": dict(b.binding)} for b in violations]


def _prepared(values: Values, limits: Limits) -> Prepared:
    """Compile the task without a plan. Raises :class:`BadRequest`, :class:`SessionRefused`."""
    settings = Settings(hashes=True, time_limit=limits.seconds, wanted="")  # the goal of the task
    task = read_task(values, settings)
    result = Session(task.settings, RequestFinder(task)).prepare(Source("plan", ""))
    if isinstance(result, Prepared):
        return result
    without_traceback(result)
    errors = tuple([d for d in result.report.diagnostics if d.severity is Severity.ERROR])
    raise SessionRefused(errors or result.report.diagnostics, result.sources)


def _monitor(prepared: Prepared) -> Monitor:
    """Create the monitor. Raises :class:`SessionRefused` if it cannot monitor every rule."""
    checker = prepared.checker
    engine = checker.engine
    reason = None
    if engine.limit is not None or (engine.prototype is not None and engine.prototype.too_large):
        reason = "a rule has more instances than the limit allows, so it cannot be monitored"
    elif engine.refusal is not None:
        reason = engine.refusal.message
    elif any([literal.time > 0 for literal in engine.task.timed_literals]):
        reason = "the problem has timed initial literals, and a session has no clock"
    if reason is None:
        try:
            return Monitor(checker.compiled)
        except NeedsOneWorld as error:
            reason = str(error)
    raise SessionRefused(
        (Diagnostic(SC.TASK_NOT_MONITORABLE, reason, help="audit whole plans with `audit`"),), prepared.sources
    )
