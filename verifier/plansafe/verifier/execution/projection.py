"""Actions cut down to the effects that some rule can notice."""

from __future__ import annotations

from collections.abc import Callable

from plansafe.verifier.compile.emit import Emitter
from plansafe.verifier.execution.actions import ActionCode, combine, interpreted
from plansafe.verifier.execution.axioms import Axioms
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import Action, Effect, Number, Task, Variable
from plansafe.verifier.model.operations import symbols_read


class Projection:
    """The actions of an engine, cut down to the effects that some rule can notice. Compiled once, at first use."""

    def __init__(self, task: Task, emitter: Emitter, prototype: Runtime, axioms: Axioms | None) -> None:
        watched = set(prototype.watched)
        for checks in prototype.checks.values():
            for check in checks:
                if check.after:
                    watched |= symbols_read(check.body)
        if axioms is not None:
            watched |= axioms.inputs
        self._watched = frozenset(watched)
        self._code = ActionCode(task, emitter, None)
        self._runs: dict[int, tuple[Action, Callable[..., bool] | None]] = {}
        self._alike: dict[tuple[tuple[Variable, ...], tuple[Effect, ...]], Callable[..., bool]] = {}
        """One function for all actions of equal effects."""

    def run(self, action: Action) -> Callable[..., bool] | None:
        """What changes a state as far as rules can notice; ``None`` if they cannot. For steps that are legal."""
        known = self._runs.get(id(action))
        if known is None:
            watched = self._watched
            effects = [
                effect._replace(
                    adds=tuple([a for a in effect.adds if a.predicate in watched]),
                    deletes=tuple([a for a in effect.deletes if a.predicate in watched]),
                    assignments=tuple([a for a in effect.assignments if -1 - a.function in watched]),
                )
                for effect in action.start.effects
            ]
            alike = tuple([effect for effect in effects if effect.adds or effect.deletes or effect.assignments])
            run = self._alike.get((action.parameters, alike)) if alike else None
            if alike and run is None:
                run = self._checked(action._replace(start=action.start._replace(condition=(), effects=alike)))
                self._alike[action.parameters, alike] = run
            known = self._runs[id(action)] = action, run
        return known[1]

    def _checked(self, action: Action) -> Callable[..., bool]:
        """The effects of an action; by the slow definition where something in them is undefined but decides nothing."""
        fast, task = self._code.run(action, True), self._code.task

        def run(facts: list[set[int]], fluents: list[dict[int, Number]], log: list[StateChange], *objects: int) -> bool:
            try:
                return fast(facts, fluents, log, *objects)
            except (KeyError, ZeroDivisionError):
                happening = interpreted(
                    Evaluator(task, facts, fluents), action.start, GroundAction(action, objects).binding
                )
                State(task, facts, fluents).apply(combine(fluents, [happening]), log)
                return True

        return run
