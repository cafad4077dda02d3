"""States that branch and roll back, and the legal actions of a state: what searches, repairs and action masks need.

A :class:`Simulation` changes one state in place and can take every step back at the cost of what the step changed.
Legal actions are found by joining each
precondition's atoms over the facts, never by enumerating bindings.
"""

from __future__ import annotations

from collections.abc import Iterator

from plansafe.verifier.compile.triggers import Extension, extension
from plansafe.verifier.engine.actions import Conflict, combine, interpreted
from plansafe.verifier.engine.replay import Engine
from plansafe.verifier.engine.state import Change, NumberTooLarge, State
from plansafe.verifier.engine.steps import Taken
from plansafe.verifier.evaluate import Evaluator, Undefined
from plansafe.verifier.model import TRUE, Action, And
from plansafe.verifier.monitor.index import FactIndexes
from plansafe.verifier.one_world import LeavesOpen


class Simulation:
    """A state of an engine's task, starting at S0.

    Durative actions are not simulated (their starts and ends need a clock). Raises
    :class:`~plansafe.verifier.one_world.LeavesOpen` where a description leaves something open.
    """

    def __init__(self, engine: Engine, state: State | None = None) -> None:
        if engine.refused is not None:
            raise LeavesOpen(engine.refused)
        self.engine = engine
        self.task = engine.task
        self.state = engine.initial() if state is None else state
        self.history: list[list[Change]] = []
        self._searches: dict[str, Extension] = {}
        self._indexes: FactIndexes | None = None
        self._asked: set[tuple[int, tuple[int, ...]]] = set()

    # -- steps --------------------------------------------------------------------------------------------------------

    def take(self, step: Taken) -> list[Change] | None:
        """Take a step and return what changed, or ``None`` (nothing changed) if it cannot be taken.

        Undo with :meth:`undo`.
        Raises :class:`NumberTooLarge`.
        """
        log: list[Change] = []
        state = self.state
        run = self.engine.full_code.run(step.action)
        try:
            if not run(state.facts, state.fluents, log, *step.objects):
                return None
        except (KeyError, ZeroDivisionError, Conflict):
            if not self._take_slowly(step, log):
                return None
        if self.engine.axioms is not None:
            self.engine.axioms.update(state.facts, state.fluents, log)
        if self._indexes is not None:
            self._indexes.update(log)
        self.history.append(log)
        return log

    def _take_slowly(self, step: Taken, log: list[Change]) -> bool:
        evaluator = Evaluator(self.task, self.state.facts, self.state.fluents)
        binding = step.binding
        if evaluator.holds(And(step.action.start.condition), binding) is not True:
            return False
        try:
            delta = combine(self.state.fluents, [interpreted(evaluator, step.action.start, binding)])
        except (Undefined, Conflict, KeyError, ZeroDivisionError):
            return False
        self.state.apply(delta, log)
        return True

    def undo(self) -> None:
        """Take the last step back. Raises ``IndexError`` at the start."""
        log = self.history.pop()
        if self._indexes is not None:
            self._indexes.update([(index, code, not value) for index, code, value in reversed(log)])
        self.state.undo(log)

    def mark(self) -> int:
        """A point to come back to with :meth:`rollback`."""
        return len(self.history)

    def rollback(self, mark: int) -> None:
        """Take back every step since ``mark``."""
        while len(self.history) > mark:
            self.undo()

    def fork(self) -> Simulation:
        """An independent simulation that starts in the present state."""
        return Simulation(self.engine, self.state.fork())

    # -- legal actions ------------------------------------------------------------------------------------------------

    def legal(self, *names: str) -> Iterator[Taken]:
        """All legal ground actions of the present state (of the named actions only, if any are named), each once.

        Joins over the facts: the cost is that of the partial matches, not of all bindings.
        """
        for action in self.task.actions.values():
            if action.end is None and (not names or action.name in names):
                yield from self._legal(action)

    def _legal(self, action: Action) -> Iterator[Taken]:
        search = self._searches.get(action.name)
        if search is None:
            self.engine.emitter.asked = self._asked
            search = self._searches[action.name] = extension(
                self.engine.emitter, And(action.start.condition), True, action.parameters
            )
            self._indexes = None  # the new search may need more of them
        if self._indexes is None:
            self.engine.emitter.asked = self._asked
            self._indexes = FactIndexes(self.engine.emitter)
            self._indexes.build(self.state.facts)
        found: list[tuple[int, ...]] = []
        state = self.state
        search.all(state.facts, state.fluents, self._indexes.tables, 0, found)
        slots = [v.slot for v in action.parameters]
        holds = self.engine.full_code.precondition(action, slots)
        numeric = bool(self.task.functions)
        for objects in dict.fromkeys(found):
            step = Taken(action, objects)
            if not numeric or self._confirmed(holds, step):
                yield step

    def _confirmed(self, holds: object, step: Taken) -> bool:
        """Where numbers are involved: the precondition holds, and the effects can be computed."""
        evaluator = Evaluator(self.task, self.state.facts, self.state.fluents)
        binding = step.binding
        try:
            if not holds(self.state.facts, self.state.fluents, *step.objects):  # type: ignore[operator]
                return False
        except (KeyError, ZeroDivisionError):
            if evaluator.holds(And(step.action.start.condition), binding) is not True:
                return False
        if not any([e.assignments or e.condition is not TRUE for e in step.action.start.effects]):
            return True
        try:
            combine(self.state.fluents, [interpreted(evaluator, step.action.start, binding)])
        except (Undefined, Conflict, KeyError, ZeroDivisionError, NumberTooLarge):
            return False
        return True


def step_text(step: Taken, task_objects: tuple[str, ...]) -> str:
    """A step as PDDL."""
    return "(" + " ".join([step.action.name, *[task_objects[o] for o in step.objects]]) + ")"
