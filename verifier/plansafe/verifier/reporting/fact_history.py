"""Find the facts that matter to a finding, and the steps at which they changed.

After findings the plan runs again, at most twice: once to collect, in the state of each finding, the literals that keep
its condition from holding, and once to record when the facts in them changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.action_effects import Conflict, SnapEffects
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.compiled_evaluator import CompiledEvaluator, CompiledQuantifier
from plansafe.verifier.execution.outcome import Outcome
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.readings import make_timed_replay
from plansafe.verifier.execution.replay import HALT, MAX_CHANGES, Observer, Replay
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import UnmetLiteral
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import Binding, Formula
from plansafe.verifier.model.operations import find_atoms_and_fluents
from plansafe.verifier.reporting.report import Row, Table, ValueChange, format_value

if TYPE_CHECKING:
    from plansafe.verifier.execution.timed import TimedReplay

Fact = tuple[int, int]
"""A fact or fluent: its symbol index (:mod:`plansafe.verifier.execution.state`) and code."""
MAX_COLUMNS = 4
"""Maximum number of facts in the table of a finding."""
MAX_ROWS = 8
"""Maximum number of letters in the table of a finding."""
StepNumbers = tuple[int, ...]
"""The steps that changed something together: a step, or several of one happening; 0 is a timed literal."""


class StepGroupChanges(NamedTuple):
    """A letter, a group of steps that led to it, and the changes that these steps made together."""

    letter: int
    steps: StepNumbers
    changes: list[StateChange]


class ReasonQuery(NamedTuple):
    """A query for the reasons why ``formula`` does not hold under ``binding`` in the state of a letter.

    ``is_temporal``: the formula is about several letters. Then the answer has the facts of the formula, but no
    literals.
    """

    letter: int
    formula: Formula
    binding: Binding
    is_temporal: bool = False


class FailureReasons(NamedTuple):
    """The literals that keep a formula from holding, and the facts in them.

    ``state``: the texts of all facts of the state, with the option ``full_state``; otherwise empty.
    """

    literals: tuple[UnmetLiteral, ...]
    facts: tuple[Fact, ...]
    state: tuple[str, ...] = ()


class FactChange(NamedTuple):
    """A change of a fact: the letter, the steps that led to it, and the value afterwards."""

    letter: int
    steps: StepNumbers
    value: object


class FactChanges(NamedTuple):
    """A fact over time: its value in the initial state, and its changes."""

    initial: object
    changes: list[FactChange]

    def find_values_around(self, letter: int, steps: StepNumbers, last_step: int) -> tuple[object, object]:
        """Return the values before and after the steps ``steps`` at a letter.

        Several groups of steps may lead to one letter. The group with ``last_step``, the step of the finding, counts as
        the last group.
        """
        before = after = self.initial
        for change_letter, change_steps, value in self.changes:
            if (change_letter, last_step in change_steps, change_steps) > (letter, last_step in steps, steps):
                break
            before, after = after, value
            if (change_letter, change_steps) != (letter, steps):
                before = after
        return before, after


def _differ(before: object, after: object) -> bool:
    """Whether two values differ; irrational numbers that are not compared count as different."""
    try:
        return before != after
    except Undecided:
        return True


class FactHistory:
    """Answers queries about one reading of a plan.

    ``halt_history``: the history of the reading that stops at the first failed step, for a reading that continues.
    """

    def __init__(
        self, compiled: CompiledTask, resolved: ResolvedPlan, outcome: Outcome, halt_history: FactHistory | None = None
    ) -> None:
        self.compiled = compiled
        self.engine = compiled.engine
        self._compiled_quantifiers: dict[int, CompiledQuantifier] = {}
        self.task = compiled.task
        self.resolved = resolved
        self.outcome = outcome
        self._halt_history = halt_history if outcome.trace is not None else None
        self._is_complete = outcome.trace is not None and outcome.reading == HALT
        """Whether the changes of the outcome's trace begin with the first step."""
        self._trace: list[StepGroupChanges] | None = None
        self._action_predicates = frozenset(compiled.engine.action_predicates.values())

    # -- runs ---------------------------------------------------------------------------------------------------------

    def _run(self, observer: Observer | None = None, selected_facts: set[Fact] | None = None) -> list[StepGroupChanges]:
        """Run the plan again and return the changes.

        ``selected_facts``: the facts whose changes are returned; ``None`` for all facts. All changes are also kept for
        later queries if there are at most ``MAX_CHANGES``.
        """
        timed: TimedReplay | None = None
        trace: list[StepGroupChanges] = []
        interval_log: list[StateChange] = []
        change_count = 0

        def observe(run: Replay, step: int, log: list[StateChange]) -> None:
            """Add the changes of a letter to the trace, by the steps that made them."""
            nonlocal change_count, interval_log
            changes_by_steps: dict[StepNumbers, list[StateChange]] = {(step,): [*log]}
            if timed is not None:
                cause = self.outcome.causes.get(run.letter)
                if cause is not None and cause.is_interval:  # numbers have their values at some time in it
                    log, interval_log = [], [*log]
                elif cause is not None:
                    log, interval_log = [*interval_log, *log], []
                changes_by_steps = _group_by_steps(log, timed.effects, len(self.task.predicates))
            for steps in sorted(changes_by_steps):
                changes = [
                    change
                    for change in changes_by_steps[steps]
                    if selected_facts is None or change[:2] in selected_facts
                ]
                change_count += len(changes)
                if changes and (change_count <= MAX_CHANGES or selected_facts is not None):
                    trace.append(StepGroupChanges(run.letter, steps, changes))
            if observer is not None:
                observer(run, step, log)

        reading = self.outcome.reading
        if self.resolved.timed is not None:
            tolerance = self.compiled.find_tolerance(self.resolved)
            timed = make_timed_replay(self.engine, reading, self.resolved.timed, tolerance, observer=observe)
            observe(timed, 0, [])
            timed.run()
        else:
            run = Replay(self.engine, reading, observer=observe)
            observe(run, 0, [])
            run.run_steps(self.resolved.steps)
        if selected_facts is None and change_count <= MAX_CHANGES:
            self._trace = trace
        return trace

    def list_changes(self, facts: set[Fact]) -> list[StepGroupChanges]:
        """Return the changes of the plan; changes of facts that are not in ``facts`` may be missing."""
        if self.outcome.trace is not None and (self._is_complete or self._halt_history is not None):
            trace = [StepGroupChanges(letter, (step,), log) for letter, step, log in self.outcome.trace]
            return trace if self._halt_history is None else [*self._halt_history.list_changes(facts), *trace]
        if self._trace is None and self._has_plain_steps:
            self._trace = self._run_plain_steps()
        return self._run(selected_facts=facts) if self._trace is None else self._trace

    @property
    def _has_plain_steps(self) -> bool:
        """Whether each letter of the plan is the state after one step that only changes facts and fluents."""
        outcome, is_timed = self.outcome, self.resolved.timed is not None
        return outcome.step_of_letter is None and not is_timed and self.engine.axioms is None

    def _run_plain_steps(self) -> list[StepGroupChanges] | None:
        """Run the executed steps of a plain plan again; ``None`` if a step must be interpreted or changes are many."""
        state, compile_step = self.engine.make_initial_state(), self.engine.full_code.compile_step
        trace: list[StepGroupChanges] = []
        count = 0
        try:
            for number, step in enumerate(self.resolved.steps[: self.outcome.last_letter], 1):
                assert isinstance(step, GroundAction)
                log: list[StateChange] = []
                compile_step(step.action)(state.facts, state.fluents, log, *step.objects)
                trace.append(StepGroupChanges(number, (number,), log))
                count += len(log)
                if count > MAX_CHANGES:
                    return None
        except (KeyError, ZeroDivisionError, Conflict):
            return None
        return trace

    def find_fact_changes(self, facts: set[Fact]) -> dict[Fact, FactChanges]:
        """Return the changes of each of the facts, computed backwards from the last state."""
        predicate_count, state = len(self.task.predicates), self.outcome.state
        values: dict[Fact, object] = {fact: state.get_value(*fact) for fact in facts}
        changes: dict[Fact, list[FactChange]] = {fact: [] for fact in facts}
        for letter, steps, log in reversed(self.list_changes(facts)):
            old_values = {
                (symbol_index, code): (not value) if symbol_index < predicate_count else value
                for symbol_index, code, value in reversed(log)
            }
            for fact in old_values.keys() & facts if letter else ():
                if _differ(old_values[fact], values[fact]):
                    changes[fact].append(FactChange(letter, steps, values[fact]))
                values[fact] = old_values[fact]
        return {fact: FactChanges(values[fact], changes[fact][::-1]) for fact in facts}

    # -- reasons ------------------------------------------------------------------------------------------------------

    def answer_queries(self, queries: list[ReasonQuery]) -> list[FailureReasons]:
        """Answer all queries: backwards from the last letter if the changes are kept, the rest in one run."""
        queries_by_letter: dict[int, list[int]] = {}
        answers = [FailureReasons((), ())] * len(queries)
        for number, query in enumerate(queries):
            if query.letter == self.outcome.last_letter:
                answers[number] = self._answer(query, self.outcome.state)
            else:
                queries_by_letter.setdefault(query.letter, []).append(number)

        def observe(run: Replay, _step: int, _log: list[StateChange]) -> None:
            for number in queries_by_letter.get(run.letter, ()):
                answers[number] = self._answer(queries[number], run.state)

        if queries_by_letter and self.outcome.trace:
            state = self.outcome.state.shared_copy()
            state.unshare({symbol for _, _, log in self.outcome.trace for symbol, _, _ in log}, set())
            for letter, _, log in reversed(self.outcome.trace):
                for number in queries_by_letter.pop(letter, ()):
                    answers[number] = self._answer(queries[number], state)
                state.undo(list(log))
            for number in queries_by_letter.pop(0, ()) if self._is_complete else ():
                answers[number] = self._answer(queries[number], state)
        if queries_by_letter:
            self._run(observe)
        return answers

    def _answer(self, query: ReasonQuery, state: State) -> FailureReasons:
        """Answer a query in the state of its letter."""
        if query.is_temporal:
            facts = tuple(self._ground_facts(query.formula, query.binding))[:MAX_COLUMNS]
            return FailureReasons((), facts, self.format_state(state))
        evaluator = CompiledEvaluator(self.engine, state, self._compiled_quantifiers)
        reasons = self.add_facts(tuple(evaluator.find_unmet_literals(query.formula, query.binding, True)))
        return reasons._replace(state=self.format_state(state))

    def add_facts(self, literals: tuple[UnmetLiteral, ...]) -> FailureReasons:
        """Return literals with the facts that occur in them."""
        facts: dict[Fact, None] = {}
        for literal in literals:
            facts.update(dict.fromkeys(self._ground_facts(literal.formula, literal.binding)))
        return FailureReasons(literals, tuple(facts)[:MAX_COLUMNS])

    def _ground_facts(self, formula: Formula, binding: Binding) -> list[Fact]:
        """Return the facts and fluents of a formula whose arguments are bound, without action predicates."""
        facts: dict[Fact, None] = {}
        for term in find_atoms_and_fluents(formula):
            code = self.task.known_code(term.arguments, binding)
            symbol_index = self.task.find_symbol_index(term)
            if code is not None and symbol_index not in self._action_predicates:
                facts[symbol_index, code] = None
        return list(facts)

    # -- texts and tables ---------------------------------------------------------------------------------------------

    def format_state(self, state: State) -> tuple[str, ...]:
        """Return all facts and fluents of a state as PDDL if ``full_state`` is set."""
        if not self.compiled.options.full_state:
            return ()
        task = self.task
        facts = [
            task.fact_text(predicate, code)
            for predicate, codes in enumerate(state.facts)
            if predicate not in self._action_predicates
            for code in codes
        ]
        numbers = [
            f"(= {task.fluent_text(function, code)} {value})"
            for function, values in enumerate(state.fluents)
            for code, value in values.items()
        ]
        return (*sorted(facts), *sorted(numbers))

    def format_action(self, step: int) -> str:
        """Return a step as ``action object ..``."""
        return " ".join(self.get_tokens(step)) if 1 <= step <= len(self.resolved.text.steps) else ""

    def get_tokens(self, step: int) -> tuple[str, ...]:
        """Return the tokens of a step by its number."""
        index = step - 1 if self.resolved.timed is None else self.resolved.timed[step - 1].source_index
        return self.resolved.text.steps[index].tokens

    def find_steps(self, letter: int) -> tuple[tuple[int, str], ...]:
        """Return the steps that led to a letter, each with ``start`` or ``end``; no steps for an unreached letter."""
        outcome = self.outcome
        if not 1 <= letter <= outcome.last_letter:
            return ()
        if outcome.events is not None:
            return outcome.events.get(letter, ())
        return ((letter if outcome.step_of_letter is None else outcome.step_of_letter[letter], "start"),)

    def make_table(
        self,
        facts: tuple[Fact, ...],
        changes_by_fact: dict[Fact, FactChanges],
        step: int,
        letter: int,
        status: str,
        step_letter: int,
    ) -> Table | None:
        """Return a table of the changes of facts up to ``letter``; ``None`` without facts.

        The last row is the finding's step ``step``, with the text ``status``. ``step_letter``: the letter that the step
        led to, or would have led to.
        """
        if not facts:
            return None
        rows = self._select_rows(facts, changes_by_fact, step, letter, step_letter)
        table_rows = []
        for number, (row_letter, steps) in enumerate(rows, 1):
            values = [changes_by_fact[fact].find_values_around(row_letter, steps, step) for fact in facts]
            cells = tuple([ValueChange(format_value(before), format_value(after)) for before, after in values])
            is_last = number == len(rows)
            is_changed = any([cell.before != cell.after for cell in cells])
            text = " and ".join([self.format_action(n) if n else "timed literal" for n in steps])
            cause = self.outcome.causes.get(row_letter)
            if not text:
                text = "initial state" if cause is None else cause.event.replace("`", "") or cause.time
            row_status = status if is_last else ""
            table_rows.append(Row(max(steps, default=0), text, cells, row_status, is_changed or is_last))
        return Table(tuple([self.task.key_text(*fact) for fact in facts]), tuple(table_rows))

    def _select_rows(
        self,
        facts: tuple[Fact, ...],
        changes_by_fact: dict[Fact, FactChanges],
        step: int,
        letter: int,
        step_letter: int,
    ) -> list[tuple[int, StepNumbers]]:
        """Return the letters and steps of a table's rows, at most ``MAX_ROWS``."""
        events = self.outcome.events
        has_only_literals = (
            events is not None and 0 < step_letter <= self.outcome.last_letter and not events.get(step_letter)
        )
        has_no_step = not step_letter or step_letter in self.outcome.causes
        last_steps: StepNumbers = (0,) if has_only_literals else (step,)
        if has_no_step:
            last_steps = ()
        row_keys: set[tuple[int, StepNumbers]] = {(0, ())}
        for fact in facts:
            for change_letter, steps, _ in changes_by_fact[fact].changes:
                if change_letter <= letter or (change_letter == step_letter and step in steps):
                    row_keys.add((change_letter, steps))

        def rank(row: tuple[int, StepNumbers]) -> tuple[int, bool, StepNumbers]:
            row_letter, steps = row
            return row_letter, step in steps, steps

        rows = sorted(row_keys, key=rank)
        row_letter, steps = rows[-1]
        if row_letter != step_letter or (last_steps and last_steps[0] not in steps):
            rows.append((step_letter, last_steps))
        return [rows[0], *rows[1 - MAX_ROWS :]] if len(rows) > MAX_ROWS else rows


def _group_by_steps(
    log: list[StateChange], effects: list[tuple[int, SnapEffects]], predicate_count: int
) -> dict[StepNumbers, list[StateChange]]:
    """Group the changes of one happening by the steps that made them.

    Changes that follow from other changes, such as derived facts, belong to all steps that made a change.
    """
    steps_of_facts: dict[Fact, set[int]] = {}
    for step, effect in effects:
        for fact in (
            *effect.adds,
            *effect.deletes,
            *[(predicate_count + update.function, update.code) for update in effect.updates],
        ):
            steps_of_facts.setdefault(fact, set()).add(step)
    changing_steps = {step for change in log for step in steps_of_facts.get(change[:2], ())}
    changing_steps = changing_steps or {step for step, _ in effects}
    groups: dict[StepNumbers, list[StateChange]] = {}
    for change in log:
        groups.setdefault(tuple(sorted(steps_of_facts.get(change[:2], changing_steps))), []).append(change)
    return groups
