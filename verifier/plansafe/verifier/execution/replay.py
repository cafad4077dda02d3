"""The replay of a plan: its states, its monitors, and its failures.

Each reading of a plan is one replay. For each step of an untimed plan, the loop does a dictionary lookup, calls one
generated function, and evaluates the triggers of its changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from plansafe.grammar.codes import SC
from plansafe.verifier.execution.action_effects import Conflict, combine_effects, interpret_effects
from plansafe.verifier.execution.engine import TOO_MANY_INSTANCES, CompiledChunk, Engine, Limit
from plansafe.verifier.execution.monitors.finding import TooManyInstances, Violation
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.outcome import Failure, HappeningEvents, LetterChanges, Outcome
from plansafe.verifier.execution.state import Delta, NumberTooLarge, State, StateChange, shallow_copy
from plansafe.verifier.execution.steps import GroundAction, IllFormed, Resolver
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber, UnmetLiteral
from plansafe.verifier.model.limits import check_deadline
from plansafe.verifier.model.nodes import Binding, Formula, Number, Task

if TYPE_CHECKING:
    from plansafe.verifier.execution.monitors.runtime import Runtime

MAX_EXPLAINED_FAILURES = 1_000
"""The most failed steps whose unmet literals are recorded."""
HALT, SKIP, FORCE = "halt", "skip", "force"
"""The readings: at a failed step, the plan halts, leaves the step out, or makes its effects nevertheless."""

STEPS_PER_DEADLINE_CHECK = 256
"""The deadline of a plan is checked once in this many steps."""
MAX_CHANGES = 1_000_000
"""The most changes that are kept. If there are more, the plan is replayed again for explanations."""
Observer = Callable[["Replay", int, list[StateChange]], None]
"""Called after each step with the replay, the step's number and all changes; such a replay has no monitors."""


class LetterRecorder(Protocol):
    """Records the letters of an untimed replay, whose ``trace`` has the changes."""

    def begin(self, run: Replay) -> None:
        """Start with a replay, or continue with one that resumes the last."""

    def record_step(self, run: Replay, number: int) -> None:
        """Record the letter that a step led to."""


class Replay:
    """One reading of a plan: its present state, its monitors, and its failures.

    ``observer``: called after each step; the replay then has no monitors. ``deadline``: a ``time.monotonic`` value.
    ``runtime`` is ``None`` without monitors. ``step_of_letter`` is ``None`` if step i leads to letter i. ``events`` is
    ``None`` in an untimed plan. ``trace`` is ``None`` unless changes are kept (:meth:`keep_changes`). ``recorder``
    records the letters (:meth:`record_letters`).
    """

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
        self.recorder: LetterRecorder | None = None
        self.code = engine.code if observer is None else engine.full_code
        # If an untimed plan halts at its first failure, step i leads to letter i.
        self.step_of_letter: list[int] | None = [0] if timed or reading != HALT else None
        self.task = engine.task
        self.reading = reading
        self.timed = timed
        self.deadline = deadline
        self.log: list[StateChange] = []
        shares_sets = not timed and (engine.prototype is not None or observer is not None)
        self.state = engine.make_shared_initial_state() if shares_sets else engine.make_initial_state()
        self._unshared: set[int] | None = set() if shares_sets else None
        """The symbols whose sets are not shared; ``None``: no set is shared."""
        self._unshared_actions: set[int] = set()
        """The actions (by identity) that change no shared set."""
        self.runtime = self.make_monitors() if observer is None else None
        self.failures: list[Failure] = []
        self.executed_count = 0
        self.letter = 0
        self.time: Number = 0
        self.preference_violations: dict[str, int] = {}
        self.unmet_literals: dict[int, tuple[UnmetLiteral, ...]] = {}
        self.trace: list[LetterChanges] | None = None
        self._kept_change_count = 0
        self.explained_steps: frozenset[int] = frozenset()
        """The steps whose failure another reading has explained."""
        self.limit = engine.limit
        self.events: HappeningEvents | None = None

    def make_monitors(self) -> Runtime | None:
        """Return new monitors that have read S0; ``None`` if there are no rules to monitor."""
        return self.engine.start_monitors(self.timed, self.state)

    def keep_changes(self) -> None:
        """Keep all changes from the start for explanations, if the plan is untimed and has monitors."""
        if self.runtime is not None and not self.timed:
            self.code, self.trace = self.engine.full_code, []

    def record_letters(self, recorder: LetterRecorder) -> None:
        """Let a recorder read each letter of an untimed plan, from the present one on."""
        self.recorder, self.code, self.trace = recorder, self.engine.full_code, []
        recorder.begin(self)

    # -- untimed plans ------------------------------------------------------------------------------------------------

    def run_chunks(self, blocks: Iterable[list[str]]) -> int | None:
        """Run the chunks of a plain plan until a step fails; return the number of steps read, with the failed one.

        A chunk is the text of a step. Returns ``None`` if a chunk is not one instantaneous step: the caller must then
        resolve the plan with source positions.
        """
        facts, fluents, log = self.state.facts, self.state.fluents, self.log
        chunk_cache = self.engine.chunk_cache if self.observer is None else {}
        only_changes_state = self._only_changes_state
        number = 0
        try:
            for number, chunk in enumerate(chain.from_iterable(self._check_limits(blocks, chunk_cache)), 1):
                compiled = chunk_cache.get(chunk)
                if compiled is None:
                    resolved_chunk = self._compile_chunk(chunk)
                    if resolved_chunk is None:
                        return None
                    if isinstance(resolved_chunk, IllFormed):
                        self.failures.append(Failure(number, resolved_chunk.code, "", resolved_chunk))
                        break
                    compiled = chunk_cache[chunk] = resolved_chunk
                run, objects, step = compiled
                try:
                    if only_changes_state:
                        is_taken = run(facts, fluents, log, *objects)
                    else:
                        is_taken = self._take(run if self.trace is None else None, step, number)
                except (KeyError, ZeroDivisionError, Conflict):
                    is_taken = self.take_interpreted(step, number)
                if not is_taken:
                    if not self.failures:
                        self._fail_step(step, number, Failure(number, SC.PRECONDITION))
                    break
        except NumberTooLarge:
            self._stop_at_large_number(number)
            return number
        except TooManyInstances:
            self.limit = TOO_MANY_INSTANCES
            return number
        if only_changes_state:  # then the steps were not counted one by one
            self.executed_count = self.letter = self.time = number - len(self.failures)
        return number

    def _check_limits(self, blocks: Iterable[list[str]], chunk_cache: dict[str, CompiledChunk]) -> Iterator[list[str]]:
        """Yield the blocks; before each, check the deadline and the size of the cache."""
        for block in blocks:
            check_deadline(self.deadline)
            if len(chunk_cache) > Resolver.MAX_CACHED_STEPS:
                chunk_cache.clear()
            yield block

    def _compile_chunk(self, chunk: str) -> CompiledChunk | IllFormed | None:
        """Return a chunk's code, objects and step, or its error; ``None`` if it is not one instantaneous step."""
        step = self.engine.resolver.resolve_chunk(chunk)
        if step is None or isinstance(step, IllFormed):
            return step
        if step.action.end is not None:
            return None
        code = self.engine.code if self.observer is None else self.code
        return code.compile_step(step.action), step.objects, step

    @property
    def _only_changes_state(self) -> bool:
        """Whether a step only changes the state: no monitor, derived fact, preference or other function reads it."""
        readers = (self.runtime, self.observer, self.recorder, self.engine.axioms)
        is_watched = any([reader is not None for reader in readers])
        return not is_watched and not any([a.preferences for a in self.task.actions.values()])

    def resume(self, reading: str) -> Replay:
        """Return a replay with another reading, in the state before the step at which this replay halted.

        With monitors it keeps all changes, because the findings after the failed step must be explained.
        """
        resumed = shallow_copy(self)
        resumed.reading = reading
        resumed.log, resumed.trace, resumed._kept_change_count = [], None, 0  # noqa: SLF001 - of its own class
        if self._unshared is None:
            resumed.state = self.state.fork()
        else:
            resumed.state = self.state.shared_copy()
            resumed._unshared, self._unshared = set(), set()  # noqa: SLF001 - of its own class
            resumed._unshared_actions, self._unshared_actions = set(), set()  # noqa: SLF001 - of its own class
        if self.runtime is not None:
            resumed.runtime, resumed.code, resumed.trace = self.runtime.fork(), self.engine.full_code, []
        resumed.recorder = None
        resumed.failures, resumed.unmet_literals = [], {}
        resumed.preference_violations = dict(self.preference_violations)
        resumed.step_of_letter = list(range(self.letter + 1))  # the untimed letters until now: step i led to letter i
        return resumed

    def run_steps(self, steps: Iterable[GroundAction | IllFormed], steps_before: int = 0) -> None:
        """Run resolved steps of an untimed plan, after ``steps_before`` steps of it."""
        only_changes_state, step_of_letter = self._only_changes_state, self.step_of_letter
        facts, fluents, log = self.state.facts, self.state.fluents, self.log
        number = steps_before
        try:
            for number, step in enumerate(steps, steps_before + 1):
                if number % STEPS_PER_DEADLINE_CHECK == 0:
                    check_deadline(self.deadline)
                if isinstance(step, IllFormed):
                    self.failures.append(Failure(number, step.code, "", step))
                    if self.reading == HALT:
                        return
                    continue
                try:
                    run = self.code.compile_step(step.action)
                    if only_changes_state and run(facts, fluents, log, *step.objects):
                        self.executed_count += 1
                        self.letter += 1
                        self.time = number
                        if step_of_letter is not None:
                            step_of_letter.append(number)
                        continue
                    is_taken = self._take(run, step, number)
                except (KeyError, ZeroDivisionError, Conflict):
                    is_taken = self.take_interpreted(step, number)
                if not is_taken and self.reading == HALT:
                    return
        except NumberTooLarge:
            self._stop_at_large_number(number)
        except TooManyInstances:
            self.limit = TOO_MANY_INSTANCES

    def _stop_at_large_number(self, number: int) -> None:
        self.limit = Limit(SC.NUMBER_TOO_LARGE, f"a number grew beyond 65,536 bits at step {number}")

    def _unshare(self, action: model.Action) -> None:
        """Copy the shared sets that an action changes, and the sets of its action facts."""
        if self._unshared is None or id(action) in self._unshared_actions:
            return
        self._unshared_actions.add(id(action))
        self.state.unshare(self.engine.find_changed_symbols(action), self._unshared)
        action_predicate = self.engine.action_predicates.get(("start", action.name))
        if action_predicate is not None:
            self.state.unshare((action_predicate,), self._unshared)

    def _take(self, run: Callable[..., bool] | None, step: GroundAction, number: int) -> bool:
        """Take a step and return True; if it cannot be taken, return the result of :meth:`_fail_step`.

        ``run``: the compiled step, ``None`` if it is not compiled yet.
        """
        state, runtime, engine = self.state, self.runtime, self.engine
        self._unshare(step.action)
        reads_actions = runtime is not None and engine.reads_actions
        if reads_actions or step.action.preferences:
            if not engine.code.compile_precondition(step.action)(state.facts, state.fluents, *step.objects):
                return self._fail_step(step, number, Failure(number, SC.PRECONDITION))
            engine.code.check_effects(step.action, state, step.objects)
            if step.action.preferences:  # after the check, because preferences of a failed step do not count
                self._count_preferences(step)
        if reads_actions:
            assert runtime is not None
            engine.announce_step(runtime, state, step, self.letter_time())
            run = self.code.compile_step(step.action, precondition_holds=True)
        elif run is None:
            run = self.code.compile_step(step.action)
        if not run(state.facts, state.fluents, self.log, *step.objects):
            return self._fail_step(step, number, Failure(number, SC.PRECONDITION))
        self.executed_count += 1
        self._enter_state(number)
        return True

    def _fail_step(self, step: GroundAction, number: int, failure: Failure) -> bool:
        """Record a step's failure, and make its effects if the reading is *force*; return False: it is not taken."""
        self.failures.append(failure)
        if self.observer is None and failure.code == SC.PRECONDITION and self._needs_explanation(number):
            # Only the conjuncts that do not hold are interpreted.
            conjuncts = self.engine.code.find_unmet_conjuncts(step.action, self.state, step.objects)
            self.record_unmet_literals(number, conjuncts, step.binding)
        if self.reading == FORCE:
            self._force(step, number)
        return False

    def _needs_explanation(self, number: int) -> bool:
        """Whether the unmet literals of a failed step are recorded: only for the first failures."""
        return len(self.unmet_literals) < MAX_EXPLAINED_FAILURES and number not in self.explained_steps

    def record_unmet_literals(
        self, number: int, condition: tuple[Formula, ...], binding: Binding, duration: Number | None = None
    ) -> None:
        """Record the literals of a failed step's condition that are unmet in the present state, if they are needed."""
        if self._needs_explanation(number):
            evaluator = Evaluator(self.task, self.state.facts, self.state.fluents, duration)
            self.unmet_literals[number] = tuple(evaluator.find_unmet_literals(model.And(condition), binding, True))

    def letter_time(self) -> LetterTime:
        """Return the number and time of the present letter."""
        return LetterTime(self.letter, self.time, self.timed)

    def _enter_state(self, number: int) -> None:
        """Update the derived facts and the monitors after a change of the state.

        ``number``: the step that changed it; 0 for a timed initial literal.
        """
        self.letter += 1
        if not self.timed:
            self.time = number  # step i happens at time i, even if other steps were left out
        if self.engine.axioms is not None:
            self.engine.axioms.update(self.state.facts, self.state.fluents, self.log)
        if self.step_of_letter is not None:
            self.step_of_letter.append(number or self.step_of_letter[-1])
        if self.runtime is not None:
            self.runtime.enter_state(self.state, self.log, self.letter_time())
        if self.observer is not None:
            self.observer(self, number, self.log)
        if self.trace is not None:
            self.trace.append((self.letter, number, list(self.log)))
            self._kept_change_count += len(self.log)
            if self._kept_change_count > MAX_CHANGES:
                self.trace = None
        if self.recorder is not None:
            self.recorder.record_step(self, number)
        self.log.clear()

    def take_interpreted(self, step: GroundAction, number: int) -> bool:
        """Take a step by interpreting it in three-valued logic, after its code met an undefined number or a conflict.

        Returns False if it cannot be taken, as :meth:`_take`.
        """
        state, snap = self.state, step.action.start
        evaluator = Evaluator(self.task, state.facts, state.fluents)
        binding = step.binding
        holds = evaluator.holds(model.And(snap.condition), binding)
        if holds is not True:
            detail = evaluator.describe_undefined(model.And(snap.condition), binding) if holds is None else None
            code = SC.UNDEFINED_NUMBER if detail else SC.PRECONDITION
            return self._fail_step(step, number, Failure(number, code, detail or ""))
        try:
            delta = combine_effects(state.fluents, [interpret_effects(evaluator, snap, binding)])
        except UndefinedNumber as problem:
            return self._fail_step(step, number, Failure(number, SC.UNDEFINED_NUMBER, problem.text))
        except Conflict as conflict:
            fluent = self.task.fluent_text(conflict.function, conflict.code)
            return self._fail_step(step, number, Failure(number, SC.CONFLICTING_EFFECTS, fluent))
        if step.action.preferences:
            self._count_preferences(step)
        self._unshare(step.action)
        if self.runtime is not None:
            self.engine.announce_step(self.runtime, state, step, self.letter_time())
        state.apply(delta, self.log)
        self.executed_count += 1
        self._enter_state(number)
        return True

    def _force(self, step: GroundAction, number: int) -> None:
        """Make the effects of a failed step (reading *force*), if they can be computed."""
        state = self.state
        delta = compute_delta(self.engine, state, step)
        if delta is None:
            return
        self._unshare(step.action)
        if self.runtime is not None:
            self.engine.announce_step(self.runtime, state, step, self.letter_time())
        state.apply(delta, self.log)
        self.executed_count += 1
        self._enter_state(number)

    def _count_preferences(self, step: GroundAction, phase: str = "start") -> None:
        """Count the violated preferences of the step's conditions (PDDL3: once for each step)."""
        preferences = [p for p in step.action.preferences if p.moment == phase]
        count_violated_preferences(self.task, self.state, preferences, step.binding, self.preference_violations)

    # -- the end ------------------------------------------------------------------------------------------------------

    def _evaluate_goal(self) -> bool | None:
        """Evaluate the goal in the present state."""
        return self.engine.evaluate_goal(self.state)

    def finish(self, step_count: int) -> Outcome:
        """Finish the monitors and return the outcome of a plan with ``step_count`` steps."""
        runtime = self.runtime
        violations: tuple[Violation, ...] = ()
        undecided: tuple[tuple[int, tuple[int, ...]], ...] = ()
        match_counts: tuple[int, ...] = (0,) * len(self.engine.rules)
        trigger_counts: tuple[int, ...] = ()
        if runtime is not None:
            try:
                runtime.finish(self.state, self.letter_time())
                violations = tuple(
                    chain.from_iterable([self._copy_with_steps(v) for v in runtime.collect_violations()])
                )
            except TooManyInstances:
                self.limit = Limit(SC.TOO_MANY_INSTANCES, "a rule has more violations than the limit allows")
            # A part with too many instances is undecided as a whole.
            undecided = tuple(runtime.collect_undecided() + [(part, ()) for part in runtime.too_large])
            match_counts = tuple(runtime.match_counts)
            trigger_counts = tuple(runtime.count_triggers())
        if self.observer is None:
            count_violated_preferences(
                self.task, self.state, self.task.goal_preferences, {}, self.preference_violations
            )
        return Outcome(
            reading=self.reading,
            executed_count=self.executed_count,
            step_count=step_count,
            last_letter=self.letter,
            end_time=self.time,
            failures=tuple(self.failures),
            goal=self._evaluate_goal(),
            violations=violations,
            undecided=undecided,
            match_counts=match_counts,
            trigger_counts=trigger_counts,
            limit=self.limit,
            preference_violations=self.preference_violations,
            state=self.state,
            unmet_literals=self.unmet_literals,
            trace=self.trace,
            step_of_letter=self.step_of_letter,
            events=self.events,
        )

    def _copy_with_steps(self, violation: Violation) -> list[Violation]:
        """Return copies of a violation with the number of its step in the plan instead of the number of its letter.

        The two differ if steps were left out. If several steps share a letter, there is one violation for each step
        that the rule matched.
        """
        steps = self.step_of_letter
        if steps is None:
            return [violation]
        matching_steps = self._find_matching_steps(violation)
        if matching_steps:
            return [violation._replace(step=number) for number in matching_steps]
        return [violation._replace(step=steps[min(violation.step, len(steps) - 1)])]

    def _find_matching_steps(self, violation: Violation) -> list[int]:  # noqa: ARG002 - used by timed replays
        """Return the steps that a rule about steps matched; empty for other rules, and if each letter has one step."""
        return []


def compute_delta(engine: Engine, state: State, step: GroundAction) -> Delta | None:
    """Return the changes of a step, whether or not it can be taken; ``None`` if they cannot be computed."""
    try:
        return engine.code.compute_delta(step.action, state, step.objects)
    except Conflict:
        return None
    except (KeyError, ZeroDivisionError):  # the undefined number may not matter
        evaluator = Evaluator(engine.task, state.facts, state.fluents)
        try:
            return combine_effects(state.fluents, [interpret_effects(evaluator, step.action.start, step.binding)])
        except (UndefinedNumber, Conflict, KeyError, ZeroDivisionError):
            return None


def count_violated_preferences(
    task: Task, state: State, preferences: Iterable[model.Preference], binding: dict[int, int], counts: dict[str, int]
) -> None:
    """Add the number of violated instances of each preference in a state to ``counts``, by the preference's name."""
    for preference in preferences:
        evaluator = Evaluator(task, state.facts, state.fluents)
        counts.setdefault(preference.name, 0)
        for full_binding in task.bindings(preference.variables, binding):
            if evaluator.holds(preference.body, full_binding) is not True:
                counts[preference.name] += 1
