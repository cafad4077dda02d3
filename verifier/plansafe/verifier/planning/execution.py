"""An untimed execution as a value: a state, what the rules remember of the past, and steps that make new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plansafe.verifier.engine.replay import Engine
from plansafe.verifier.engine.state import State
from plansafe.verifier.engine.steps import Taken
from plansafe.verifier.model import Number
from plansafe.verifier.monitor.finding import Violation
from plansafe.verifier.monitor.invariant import Invariant
from plansafe.verifier.monitor.key import Key, monitor_key
from plansafe.verifier.monitor.program import Moment
from plansafe.verifier.monitor.runtime import Runtime
from plansafe.verifier.simulate import Simulation

StateKey = tuple[frozenset[int] | frozenset[tuple[int, Number]], ...]


class Execution:
    """Where an execution stands; :meth:`after` leaves it as it is, :meth:`take` moves it on.

    ``runtime`` is ``None`` where no rule is to be kept. ``blame`` are the findings that count (all, if empty), as in
    :class:`plansafe.verifier.api.Options`.
    """

    __slots__ = ("_borrowed", "blame", "engine", "letter", "runtime", "state")

    def __init__(
        self, engine: Engine, state: State, runtime: Runtime | None, letter: int, blame: Sequence[str] = ()
    ) -> None:
        self.engine = engine
        self.state = state
        self.runtime = runtime
        self.letter = letter
        self.blame = tuple(blame) if "introduced" in blame else ()
        self._borrowed = False  # the runtime's indexes are those of the execution before

    @classmethod
    def initial(cls, engine: Engine, rules: bool = True, blame: Sequence[str] = ()) -> Execution:
        """At S0, with fresh monitors."""
        state = engine.initial()
        return cls(engine, state, engine.runtime(False, state) if rules else None, 0, blame)

    def after(self, step: Taken) -> Execution | None:
        """The execution one step later, or ``None`` if the step cannot be taken. Raises ``NumberTooLarge``.

        Costs a copy of the state and of the live instances. The rules may be broken then: see :attr:`broken`.
        """
        engine = self.engine
        state = self.state.fork()
        log = Simulation(engine, state).take(step)
        if log is None:
            return None
        new = Execution(engine, state, None, self.letter + 1, self.blame)
        if self.runtime is None:
            return new
        self._own()
        new.runtime = runtime = self.runtime.fork()
        if engine.acting:
            mirror = engine.mirror("start", step)
            runtime.depart(self.state, () if mirror is None else (mirror,), Moment(self.letter, self.letter, False))
        runtime.arrive(state, log, Moment(new.letter, new.letter, False))
        # The copy reads the indexes of this execution, which has to find them as they were.
        runtime.indexes.update([(index, code, not value) for index, code, value in reversed(log)])
        new._borrowed = True
        return new

    def take(self, step: Taken) -> bool:
        """Take a step in place; ``False`` (and nothing has changed) if it cannot be taken. Raises ``NumberTooLarge``.

        Costs what the step changes, and what that triggers.
        """
        engine, runtime = self.engine, self.runtime
        simulation = Simulation(engine, self.state)
        log = simulation.take(step)
        if log is None:
            return False
        now = Moment(self.letter, self.letter, False)
        self.letter += 1
        if runtime is None:
            return True
        self._own()
        if engine.acting:
            simulation.undo()
            mirror = engine.mirror("start", step)
            runtime.depart(self.state, () if mirror is None else (mirror,), now)
            log = simulation.take(step)
            assert log is not None
        runtime.arrive(self.state, log, Moment(self.letter, self.letter, False))
        return True

    def _own(self) -> None:
        if self._borrowed and self.runtime is not None:
            self.runtime.own_indexes(self.state.facts)
            self._borrowed = False

    # -- verdicts -----------------------------------------------------------------------------------------------------

    @property
    def broken(self) -> bool:
        """Whether some rule is violated, whatever comes."""
        return self.runtime is not None and _violated(self.runtime, self._counts)

    @property
    def undecided(self) -> bool:
        """Whether some rule met an undefined number, so that no verdict but UNKNOWN is left."""
        runtime = self.runtime
        if runtime is None:
            return False
        return any([bool(m.undecided) and not _last(m) for m in runtime.monitors]) or any(
            [bool(check.undecided) for checks in runtime.checks.values() for check in checks]
        )

    @property
    def accepted(self) -> bool:
        """Whether the execution may end here: the goal is reached and every rule kept."""
        if self.engine.goal(self.state) is not True:
            return False
        if self.runtime is None:
            return True
        end = self._ended(self.runtime)
        return not end.undecided() and not any([self._counts(v) for v in end.violations()])

    def violated(self, ends: bool = True) -> int | None:
        """The first step at which a rule would be violated if the execution ended here, if any.

        Unless it ``ends`` here, what is judged at the end does not count.
        """
        if self.runtime is None:
            return None
        found = [v for v in self._ended(self.runtime).violations() if self._counts(v) and (ends or not v.at_end)]
        return min([v.step for v in found], default=None)

    def _ended(self, runtime: Runtime) -> Runtime:
        end = runtime.fork()
        end.finish(self.state, Moment(self.letter, self.letter, False))
        return end

    def _counts(self, violation: Violation) -> bool:
        plan = self.engine.plan
        if plan.rules[plan.parts[violation.part].rule].preference:
            return False
        return not self.blame or violation.blame in self.blame

    # -- keys ---------------------------------------------------------------------------------------------------------

    def state_key(self) -> StateKey:
        """A hashable picture of what may change in the state (derived facts follow from it)."""
        return changing(self.engine, self.state)

    def key(self) -> tuple[StateKey, Key]:
        """Equal for executions with equal futures."""
        return self.state_key(), monitor_key(self.runtime, self.letter, bool(self.blame))


def changing(engine: Engine, state: State) -> StateKey:
    """The facts of a state that some action changes, and its numbers."""
    static = engine.task.static
    derived = engine.axioms.derived if engine.axioms is not None else frozenset()
    facts = [
        frozenset(f) for p, f in enumerate(state.facts) if (p >= len(static) or not static[p]) and p not in derived
    ]
    return (*facts, *[frozenset(values.items()) for values in state.fluents])


def _last(monitor: object) -> bool:
    return isinstance(monitor, Invariant) and monitor.final


def _violated(runtime: Runtime, counts: Callable[[Violation], bool]) -> bool:
    for monitor in runtime.monitors:
        if any([counts(v) for v in monitor.violations]):
            return True
        if isinstance(monitor, Invariant) and not monitor.final:
            for binding, episode in monitor.episodes.items():
                blame = (
                    "introduced"
                    if episode.start or monitor.of_actions
                    else "worsened"
                    if episode.touched
                    else "pre-existing"
                )
                if counts(Violation(monitor.part, binding, episode.start, episode.start, False, blame)):
                    return True
    return any([counts(v) for checks in runtime.checks.values() for check in checks for v in check.violations])
