"""The replay of a plan: states, monitors, and what fails.

Each plan is one run for each reading. The loop over the steps of an untimed plan does a dictionary lookup, one
generated function, and whatever the changes of that step trigger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.verifier.execution.actions import Conflict, combine_effects, interpret_effects
from plansafe.verifier.execution.engine import Engine, Limit
from plansafe.verifier.execution.monitors.finding import TooManyInstances, Violation
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.state import Delta, NumberTooLarge, State, StateChange, shallow_copy
from plansafe.verifier.execution.steps import GroundAction, IllFormed, Resolver
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber, UnmetLiteral
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Binding, Formula, Number, Task

MAX_REASONS = 1_000
HALT, SKIP, FORCE = "halt", "skip", "force"


class Failure(NamedTuple):
    """A step that could not be taken.

    ``code`` as in the explanations; ``detail`` names what was undefined or in conflict.
    """

    step: int
    code: str
    detail: str = ""
    ill_formed: IllFormed | None = None
    interfering_step: int = 0


class Outcome(NamedTuple):
    """What one reading of a plan came to."""

    reading: str
    executed: int
    steps: int
    letters: int
    end: Number
    failures: tuple[Failure, ...]
    goal: bool | None
    violations: tuple[Violation, ...]
    undecided: tuple[tuple[int, tuple[int, ...]], ...]
    matches: tuple[int, ...]
    touches: tuple[int, ...]
    limit: Limit | None
    preference_violations: dict[str, int]
    state: State
    reasons: dict[int, tuple[UnmetLiteral, ...]]
    """Step -> the literals that kept a failed step's condition from holding."""
    trace: list[LetterChanges] | None = None
    """All changes: of *halt* from the start, of a reading that went on after the failed step since then.

    ``None``: they were not kept.
    """
    step_of_letter: list[int] | None = None
    """Of an untimed plan, the step that led to each letter; ``None``: step i led to letter i."""
    events: HappeningEvents | None = None
    """Of a timed plan, what happened."""
    rounded: frozenset[int] = frozenset()
    """Of a timed plan, the steps that would fail if no last decimal were forgiven."""


HappeningEvents = dict[int, tuple[tuple[int, str], ...]]
"""Letter -> the steps whose start (or ``end``) led to it."""
LetterChanges = tuple[int, int, list[StateChange]]
"""A letter, the step that led to it, and what it changed."""
MAX_CHANGES = 1_000_000
"""Changes that are kept; of longer plans the run is repeated instead."""
Observer = Callable[["Replay", int, list[StateChange]], None]
"""Called after each step with the run, the step's number and every change; a run with an observer has no monitors."""


class Replay:
    """One reading of one plan."""

    def __init__(
        self,
        engine: Engine,
        reading: str,
        *,
        timed: bool = False,
        deadline: float | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.engine = engine
        self.observer = observer
        self.code = engine.code if observer is None else engine.full_code
        self.step_of_letter: list[int] | None = [0] if timed or reading != HALT else None
        self.task = engine.task
        self.reading = reading
        self.timed = timed
        self.deadline = deadline
        self.log: list[StateChange] = []
        shares = not timed and (engine.prototype is not None or observer is not None)
        self.state = engine.initial_shared() if shares else engine.initial()
        self._mine: set[int] | None = set() if shares else None
        """The predicates (and fluents) whose sets are not shared; ``None``: all, as for plain steps."""
        self._ready: set[int] = set()
        """The actions (by identity) all of whose changes are to sets that are not shared."""
        self.before_start()
        self.runtime = self.monitors() if observer is None else None
        self.failures: list[Failure] = []
        self.executed = 0
        self.letter = 0
        self.time: Number = 0
        self.preference_violations: dict[str, int] = {}
        self.reasons: dict[int, tuple[UnmetLiteral, ...]] = {}
        self.trace: list[LetterChanges] | None = None
        self.kept_changes = 0
        self.explained_steps: frozenset[int] = frozenset()
        """Steps whose failure another reading has explained."""
        self.limit = engine.limit
        self.events: HappeningEvents | None = None

    def before_start(self) -> None:
        """What a timed run prepares before its monitors start."""

    def monitors(self) -> Runtime | None:
        """Fresh monitors at S0."""
        return self.engine.runtime(self.timed, self.state)

    def keep_changes(self) -> None:
        """Keep what changes from the start, for explanations; for untimed plans with monitors."""
        if self.runtime is not None and not self.timed:
            self.code, self.trace = self.engine.full_code, []

    # -- untimed plans ------------------------------------------------------------------------------------------------

    def run_chunks(self, blocks: Iterable[list[str]]) -> int:
        """Run the chunks of a plain plan until a step fails.

        Returns how many steps were read, the failed one included.
        """
        engine, state = self.engine, self.state
        facts, fluents, log = state.facts, state.fluents, self.log
        resolve = engine.resolver.chunk
        entries = engine.chunk_cache if self.observer is None else {}
        code = engine.code if self.observer is None else self.code
        quick = self._is_plain
        number = 0
        try:
            for block in blocks:
                if self.deadline is not None and monotonic() > self.deadline:
                    raise LimitReached(LimitKind.TIME)
                if len(entries) > Resolver.MAX_REMEMBERED:
                    entries.clear()
                for chunk in block:
                    number += 1
                    entry = entries.get(chunk)
                    if entry is None:
                        taken = resolve(chunk)
                        if taken is None:
                            return -1
                        if isinstance(taken, IllFormed):
                            self.failures.append(Failure(number, taken.code, "", taken))
                            if quick:
                                self.executed = self.letter = self.time = number - 1
                            return number
                        if taken.action.end is not None:
                            return -1
                        entry = entries[chunk] = (code.step_function(taken.action), taken.objects, taken)
                    try:
                        if quick:
                            done = entry[0](facts, fluents, log, *entry[1])
                        else:
                            done = self._take(entry[0] if self.trace is None else None, entry[2], number)
                    except (KeyError, ZeroDivisionError, Conflict):
                        done = self.take_interpreted(entry[2], number)
                    if not done:
                        if not self.failures:
                            self._failed(entry[2], number, Failure(number, SC.PRECONDITION))
                        if quick:
                            self.executed = self.letter = self.time = number - 1
                        return number
        except NumberTooLarge:
            self._too_large(number)
            return number
        except TooManyInstances:
            self.limit = Limit(SC.TOO_MANY_INSTANCES, "a rule has more instances than the limit allows")
            return number
        if quick:
            self.executed = self.letter = self.time = number
        return number

    @property
    def _is_plain(self) -> bool:
        """Whether a step is its function and nothing else: no monitors, derived facts, preferences or observer."""
        watched = self.runtime is not None or self.observer is not None or self.engine.axioms is not None
        return not watched and not any([a.preferences for a in self.task.actions.values()])

    def resume(self, reading: str) -> Replay:
        """Another reading of a run that a failed step has halted: a copy that stands before that step.

        With monitors it keeps what changes: what they find behind a failed step will have to be explained.
        """
        run = shallow_copy(self)
        run.reading = reading
        run.log, run.trace, run.kept_changes = [], None, 0
        if self._mine is None:
            run.state = self.state.fork()
        else:
            run.state = self.state.shared_copy()
            run._mine, self._mine = set(), set()  # noqa: SLF001 - of its own class
            run._ready, self._ready = set(), set()  # noqa: SLF001 - of its own class
        if self.runtime is not None:
            run.runtime, run.code, run.trace = self.runtime.fork(), self.engine.full_code, []
        run.failures, run.reasons, run.preference_violations = [], {}, dict(self.preference_violations)
        run.step_of_letter = list(range(self.letter + 1))
        return run

    def run_steps(self, steps: Iterable[GroundAction | IllFormed], number: int = 0) -> None:
        """Run resolved steps of an untimed plan, by this run's reading; ``number`` steps have been read before."""
        quick, letters = self._is_plain, self.step_of_letter
        facts, fluents, log = self.state.facts, self.state.fluents, self.log
        try:
            for step in steps:
                number += 1
                if self.deadline is not None and number % 256 == 0 and monotonic() > self.deadline:
                    raise LimitReached(LimitKind.TIME)
                if isinstance(step, IllFormed):
                    self.failures.append(Failure(number, step.code, "", step))
                    if self.reading == HALT:
                        return
                    continue
                try:
                    run = self.code.step_function(step.action)
                    if quick and run(facts, fluents, log, *step.objects):
                        self.executed += 1
                        self.letter += 1
                        self.time = number
                        if letters is not None:
                            letters.append(number)
                        continue
                    done = self._take(run, step, number)
                except (KeyError, ZeroDivisionError, Conflict):
                    done = self.take_interpreted(step, number)
                if not done and self.reading == HALT:
                    return
        except NumberTooLarge:
            self._too_large(number)
        except TooManyInstances:
            self.limit = Limit(SC.TOO_MANY_INSTANCES, "a rule has more instances than the limit allows")

    def _too_large(self, number: int) -> None:
        self.limit = Limit(SC.NUMBER_TOO_LARGE, f"a number grew beyond 65,536 bits at step {number}")

    def _own(self, action: model.Action) -> None:
        """Have sets of one's own of what an action changes, and of its action facts."""
        if self._mine is None or id(action) in self._ready:
            return
        self._ready.add(id(action))
        self.state.unshare(self.engine.changed_indexes(action), self._mine)
        told = self.engine.action_predicates.get(("start", action.name))
        if told is not None:
            self.state.unshare((told,), self._mine)

    def _take(self, run: Callable[..., bool] | None, taken: GroundAction, number: int) -> bool:
        """Take one step; False (with a failure noted) if it cannot be taken. ``run``: its code, where that is known."""
        state, runtime, engine = self.state, self.runtime, self.engine
        self._own(taken.action)
        acting = runtime is not None and engine.reads_actions
        if acting or taken.action.preferences:
            slots = [v.slot for v in taken.action.parameters]
            if not engine.code.precondition(taken.action, slots)(state.facts, state.fluents, *taken.objects):
                return self._failed(taken, number, Failure(number, SC.PRECONDITION))
            engine.code.check_effects(taken.action, state, taken.objects)
            if taken.action.preferences:  # those of a step that is taken count: the probe may have sent it elsewhere
                self._preferences(taken)
        if acting:
            assert runtime is not None
            engine.announce_step(runtime, state, taken, self.moment())
            run = self.code.step_function(taken.action, True)
        elif run is None:
            run = self.code.step_function(taken.action)
        if not run(state.facts, state.fluents, self.log, *taken.objects):
            return self._failed(taken, number, Failure(number, SC.PRECONDITION))
        self._enter_state(number)
        return True

    def _failed(self, taken: GroundAction, number: int, failure: Failure) -> bool:
        self.failures.append(failure)
        if self.observer is None and failure.code == SC.PRECONDITION:
            self._note_unmet(taken, number)
        if self.reading == FORCE:
            self._force(taken, number)
        return False

    def _note_unmet(self, taken: GroundAction, number: int) -> None:
        """Remember why a precondition fails: the parts that hold are no reason, and code tells them apart sooner."""
        if len(self.reasons) < MAX_REASONS and number not in self.explained_steps:
            unmet = self.engine.code.unmet_parts(taken.action, self.state, taken.objects)
            self.note_reasons(number, unmet, taken.binding)

    def note_reasons(
        self, number: int, condition: tuple[Formula, ...], binding: Binding, duration: Number | None = None
    ) -> None:
        """Remember, in the state of the failure, why a step could not be taken; of very many failures, of the first."""
        if len(self.reasons) >= MAX_REASONS or number in self.explained_steps:
            return
        evaluator = Evaluator(self.task, self.state.facts, self.state.fluents, duration)
        self.reasons[number] = tuple(evaluator.unmet_literals(model.And(condition), binding, True))

    def moment(self) -> LetterTime:
        """The present letter."""
        return LetterTime(self.letter, self.time, self.timed)

    def _enter_state(self, number: int) -> None:
        """The state has changed by step ``number``: derived facts, then monitors."""
        self.executed += 1
        self.letter += 1
        if not self.timed:
            self.time = number  # step i happens at time i, also where other steps were left out
        if self.engine.axioms is not None:
            self.engine.axioms.update(self.state.facts, self.state.fluents, self.log)
        if self.step_of_letter is not None:
            self.step_of_letter.append(number or self.step_of_letter[-1])
        if self.runtime is not None:
            self.runtime.enter_state(self.state, self.log, self.moment())
        if self.observer is not None:
            self.observer(self, number, self.log)
        if self.trace is not None:
            self.trace.append((self.letter, number, list(self.log)))
            self.kept_changes += len(self.log)
            if self.kept_changes > MAX_CHANGES:
                self.trace = None
        self.log.clear()

    def take_interpreted(self, taken: GroundAction, number: int) -> bool:
        """Take a step by the slow definition, in three values.

        A number was undefined on the fast path, or effects conflict.
        """
        state, snap = self.state, taken.action.start
        evaluator = Evaluator(self.task, state.facts, state.fluents)
        binding = taken.binding
        holds = evaluator.holds(model.And(snap.condition), binding)
        if holds is not True:
            detail = evaluator.describe_undefined(model.And(snap.condition), binding) if holds is None else None
            return self._failed(
                taken, number, Failure(number, SC.UNDEFINED_NUMBER if detail else SC.PRECONDITION, detail or "")
            )
        try:
            delta = combine_effects(state.fluents, [interpret_effects(evaluator, snap, binding)])
        except UndefinedNumber as problem:
            return self._failed(taken, number, Failure(number, SC.UNDEFINED_NUMBER, problem.text))
        except Conflict as conflict:
            return self._failed(
                taken,
                number,
                Failure(number, SC.CONFLICTING_EFFECTS, self.task.fluent_text(conflict.function, conflict.code)),
            )
        if taken.action.preferences:
            self._preferences(taken)
        self._own(taken.action)
        if self.runtime is not None:
            self.engine.announce_step(self.runtime, state, taken, self.moment())
        state.apply(delta, self.log)
        self._enter_state(number)
        return True

    def _force(self, taken: GroundAction, number: int) -> None:
        """The effects of a failed step happen, if they can be computed."""
        state = self.state
        delta = self._delta(taken)
        if delta is None:
            return
        self._own(taken.action)
        if self.runtime is not None:
            self.engine.announce_step(self.runtime, state, taken, self.moment())
        state.apply(delta, self.log)
        self._enter_state(number)

    def _delta(self, taken: GroundAction) -> Delta | None:
        """What a failed step changes; ``None`` if that cannot be computed."""
        state = self.state
        try:
            return self.engine.code.delta(taken.action, state, taken.objects)
        except Conflict:
            return None
        except (KeyError, ZeroDivisionError):  # a number is undefined, but perhaps none that matters
            evaluator = Evaluator(self.task, state.facts, state.fluents)
            binding = taken.binding
            try:
                return combine_effects(state.fluents, [interpret_effects(evaluator, taken.action.start, binding)])
            except (UndefinedNumber, Conflict, KeyError, ZeroDivisionError):
                return None

    def _preferences(self, taken: GroundAction, moment: str = "start") -> None:
        """Count the violated preferences of a condition that is read now (PDDL3: once for each step)."""
        preferences = [p for p in taken.action.preferences if p.moment == moment]
        count_preferences(self.task, self.state, preferences, taken.binding, self.preference_violations)

    # -- the end ------------------------------------------------------------------------------------------------------

    def outcome(self, steps: int) -> Outcome:
        """Judge the trace that has come about."""
        runtime = self.runtime
        violations: tuple[Violation, ...] = ()
        undecided: tuple[tuple[int, tuple[int, ...]], ...] = ()
        matches: tuple[int, ...] = (0,) * len(self.engine.rules)
        touches: tuple[int, ...] = ()
        if runtime is not None:
            try:
                runtime.finish(self.state, self.moment())
                violations = tuple([placed for v in runtime.violations() for placed in self._placed(v)])
            except TooManyInstances:
                self.limit = Limit(SC.TOO_MANY_INSTANCES, "a rule has more violations than the limit allows")
            undecided = tuple(runtime.undecided() + [(part, ()) for part in runtime.too_large])
            matches = tuple(runtime.match_counts)
            touches = tuple(runtime.touches())
        if self.observer is None:
            count_preferences(self.task, self.state, self.task.goal_preferences, {}, self.preference_violations)
        return Outcome(
            self.reading,
            self.executed,
            steps,
            self.letter,
            self.time,
            tuple(self.failures),
            self.engine.goal(self.state),
            violations,
            undecided,
            matches,
            touches,
            self.limit,
            self.preference_violations,
            self.state,
            self.reasons,
            self.trace,
            self.step_of_letter,
            self.events,
        )

    def _placed(self, violation: Violation) -> list[Violation]:
        """Give a violation the plan's own step numbers: so far steps are counted in letters.

        The two differ where steps were left out, and where several steps share a letter.
        """
        steps = self.step_of_letter
        if steps is None:
            return [violation]
        matched = self._matched(violation)
        if matched:
            return [violation._replace(step=number) for number in matched]
        return [violation._replace(step=steps[min(violation.step, len(steps) - 1)])]

    def _matched(self, violation: Violation) -> list[int]:  # noqa: ARG002 - timed runs know
        """The steps that a rule about steps matched; none for other rules, and where a letter has one step alone."""
        return []


def count_preferences(
    task: Task, state: State, preferences: Iterable[model.Preference], binding: dict[int, int], soft: dict[str, int]
) -> None:
    """Add the violated instances of preferences in a state to ``soft``."""
    for preference in preferences:
        evaluator = Evaluator(task, state.facts, state.fluents)
        soft.setdefault(preference.name, 0)
        for inner in task.bindings(preference.variables, binding):
            if evaluator.holds(preference.body, inner) is not True:
                soft[preference.name] += 1
