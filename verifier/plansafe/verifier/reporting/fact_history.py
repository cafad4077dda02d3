"""Looking back: which facts matter to a finding, and the steps at which they changed.

Nothing of this is kept while a plan runs. After something was found the plan runs again, twice at most: once to ask,
in the state of each finding, which literals keep its condition from holding, and once to note when those facts changed.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.actions import SnapEffects
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.replay import HALT, MAX_CHANGES, Observer, Outcome, Replay
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.timed_fast import FastTimedReplay
from plansafe.verifier.model.evaluation import Evaluator, UnmetLiteral
from plansafe.verifier.model.nodes import Atom, Binding, Formula
from plansafe.verifier.model.operations import atoms_and_fluents
from plansafe.verifier.reporting.report import Row, Table, ValueChange

Fact = tuple[int, int]
"""(predicate, code), or (number of predicates + function, code)."""
MAX_COLUMNS = 4
MAX_ROWS = 8


class ReasonQuery(NamedTuple):
    """What to ask in the state of a letter: why ``formula`` does not hold under ``binding``."""

    letter: int
    formula: Formula
    binding: Binding
    temporal: bool = False


class FailureReasons(NamedTuple):
    """The literals that keep the formula from holding, and the facts in them."""

    reasons: tuple[UnmetLiteral, ...]
    facts: tuple[Fact, ...]
    state: tuple[str, ...] = ()


Steps = tuple[int, ...]
"""The steps that changed something together: one, or several of one happening; 0 is a timed literal."""


class FactChanges(NamedTuple):
    """One fact over time: its value in S0, and each change as (letter, steps, value)."""

    initial: object
    changes: list[tuple[int, Steps, object]]

    def around(self, letter: int, steps: Steps, own: int) -> tuple[object, object]:
        """The value before and after some steps did what they did; of one letter, those with step ``own`` come last."""
        before = now = self.initial
        for at, others, value in self.changes:
            if (at, own in others, others) > (letter, own in steps, steps):
                break
            before, now = now, value
            if (at, others) != (letter, steps):
                before = now
        return before, now


LetterChanges = tuple[int, Steps, list[StateChange]]
"""A letter, the steps that led to it, and what they changed."""


class FactHistory:
    """Answers questions about one reading of a plan.

    ``outcome``: what the reading came to; ``before``: of a reading that went on after a failed step, the one that
    halted there.
    """

    def __init__(
        self, compiled: CompiledTask, read: ResolvedPlan, outcome: Outcome, before: FactHistory | None = None
    ) -> None:
        self.compiled = compiled
        self.engine = compiled.engine
        self.task = compiled.task
        self.read = read
        self.outcome = outcome
        self._before = before if outcome.trace is not None else None
        self._whole = outcome.trace is not None and outcome.reading == HALT
        """Whether the changes were kept from the start."""
        self._trace: list[LetterChanges] | None = None

    def _run(self, observer: Observer | None = None, only: set[Fact] | None = None) -> list[LetterChanges]:
        """Run the plan again; what changes (of ``only`` these facts) is returned, and kept if it is not too much."""
        run: Replay
        trace: list[LetterChanges] = []
        kept = 0

        def observe(run: Replay, step: int, log: list[StateChange]) -> None:
            nonlocal kept
            made: dict[Steps, list[StateChange]] = {(step,): [*log]}
            if isinstance(run, FastTimedReplay):
                made = _by_steps(log, run.effects, len(self.task.predicates))
            for steps in sorted(made):
                changes = [change for change in made[steps] if only is None or change[:2] in only]
                kept += len(changes)
                if changes and (kept <= MAX_CHANGES or only is not None):
                    trace.append((run.letter, steps, changes))
            if observer is not None:
                observer(run, step, log)

        reading = self.outcome.reading
        if self.read.timed is not None:
            tolerance = self.compiled.tolerance(self.read)
            run = timed = FastTimedReplay(self.engine, reading, self.read.timed, tolerance, observer=observe)
            observe(run, 0, [])
            timed.run()
        else:
            run = Replay(self.engine, reading, observer=observe)
            observe(run, 0, [])
            run.run_steps(self.read.steps)
        if only is None and kept <= MAX_CHANGES:
            self._trace = trace
        return trace

    def changes(self, facts: set[Fact]) -> list[LetterChanges]:
        """What changes, and when; at least all changes of ``facts``."""
        if self.outcome.trace is not None and (self._whole or self._before is not None):
            since: list[LetterChanges] = [(letter, (step,), log) for letter, step, log in self.outcome.trace]
            return since if self._before is None else [*self._before.changes(facts), *since]
        return self._run(only=facts) if self._trace is None else self._trace

    def ask(self, questions: list[ReasonQuery]) -> list[FailureReasons]:
        """Answer all questions: backwards from the last letter where the changes are kept, the others in one run."""
        by_letter: dict[int, list[int]] = {}
        answers = [FailureReasons((), ())] * len(questions)
        for number, question in enumerate(questions):
            if question.letter == self.outcome.letters:
                answers[number] = self._answer(question, self.outcome.state)
            else:
                by_letter.setdefault(question.letter, []).append(number)

        def observe(run: Replay, _step: int, _log: list[StateChange]) -> None:
            for number in by_letter.get(run.letter, ()):
                answers[number] = self._answer(questions[number], run.state)

        if by_letter and self.outcome.trace:
            state = self.outcome.state.shared_copy()
            state.unshare({index for _, _, log in self.outcome.trace for index, _, _ in log}, set())
            for letter, _, log in reversed(self.outcome.trace):
                for number in by_letter.pop(letter, ()):
                    answers[number] = self._answer(questions[number], state)
                state.undo(list(log))
            for number in by_letter.pop(0, ()) if self._whole else ():
                answers[number] = self._answer(questions[number], state)
        if by_letter:
            self._run(observe)
        return answers

    def _answer(self, question: ReasonQuery, state: State) -> FailureReasons:
        if question.temporal:
            facts = tuple(self._ground(question.formula, question.binding))[:MAX_COLUMNS]
            return FailureReasons((), facts, self.state_text(state))
        evaluator = Evaluator(self.task, state.facts, state.fluents)
        answer = self.answer(tuple(evaluator.reasons(question.formula, question.binding, True)))
        return answer._replace(state=self.state_text(state))

    def state_text(self, state: State) -> tuple[str, ...]:
        """All facts and fluents of a state as PDDL, if they were asked for."""
        if not self.compiled.options.full_state:
            return ()
        action_predicates = set(self.engine.action_predicates.values())
        facts = [
            self.task.fact_text(p, c)
            for p, codes in enumerate(state.facts)
            if p not in action_predicates
            for c in codes
        ]
        numbers = [
            f"(= {self.task.fluent_text(f, c)} {v})" for f, vs in enumerate(state.fluents) for c, v in vs.items()
        ]
        return (*sorted(facts), *sorted(numbers))

    def answer(self, reasons: tuple[UnmetLiteral, ...]) -> FailureReasons:
        """Reasons with the facts that occur in them."""
        facts: dict[Fact, None] = {}
        for reason in reasons:
            facts.update(dict.fromkeys(self._ground(reason.formula, reason.binding)))
        return FailureReasons(reasons, tuple(facts)[:MAX_COLUMNS])

    def _ground(self, formula: Formula, binding: Binding) -> list[Fact]:
        """The facts and fluents a formula reads whose arguments the binding fixes, action predicates apart."""
        out: dict[Fact, None] = {}
        action_predicates = set(self.engine.action_predicates.values())
        for read in atoms_and_fluents(formula):
            code = self.task.known_code(read.arguments, binding)
            index = read.predicate if isinstance(read, Atom) else len(self.task.predicates) + read.function
            if code is not None and index not in action_predicates:
                out[index, code] = None
        return list(out)

    def past(self, facts: set[Fact]) -> dict[Fact, FactChanges]:
        """When each of the facts changed: told backwards, from the last state and what changed."""
        base, state = len(self.task.predicates), self.outcome.state
        now: dict[Fact, object] = {}
        for index, code in facts:
            now[index, code] = code in state.facts[index] if index < base else state.fluents[index - base].get(code)
        changes: dict[Fact, list[tuple[int, Steps, object]]] = {fact: [] for fact in facts}
        for letter, steps, log in reversed(self.changes(facts)):
            before = {(index, code): (not value) if index < base else value for index, code, value in reversed(log)}
            for fact in before.keys() & facts if letter else ():
                if before[fact] != now[fact]:
                    changes[fact].append((letter, steps, now[fact]))
                now[fact] = before[fact]
        return {fact: FactChanges(now[fact], changes[fact][::-1]) for fact in facts}

    def action_text(self, step: int) -> str:
        """A step as ``action object ..``."""
        if not 1 <= step <= len(self.read.text.steps):
            return ""
        return " ".join(self.tokens(step))

    def tokens(self, step: int) -> tuple[str, ...]:
        """The tokens of a step, by its number."""
        written = step - 1 if self.read.timed is None else self.read.timed[step - 1].source_index
        return self.read.text.steps[written].tokens

    def taken(self, letter: int) -> tuple[tuple[int, str], ...]:
        """The steps that led to a letter, and whether they started or ended; none if there is no such letter."""
        outcome = self.outcome
        if not 1 <= letter <= outcome.letters:
            return ()
        if outcome.events is not None:
            return outcome.events.get(letter, ())
        return ((letter if outcome.step_of_letter is None else outcome.step_of_letter[letter], "start"),)

    def table(
        self, facts: tuple[Fact, ...], past: dict[Fact, FactChanges], step: int, letter: int, status: str, judged: int
    ) -> Table | None:
        """The rows where a fact changed up to ``letter``, and behind them that of the finding's step.

        ``judged``: the letter that the step led to, or would have.
        """
        if not facts:
            return None
        events = self.outcome.events
        alone = events is not None and 0 < judged <= self.outcome.letters and not events.get(judged)  # literals alone
        own: Steps = () if not judged else (0,) if alone else (step,)
        found: set[tuple[int, Steps]] = {(0, ())}
        for fact in facts:
            found |= {
                (at, steps) for at, steps, _ in past[fact].changes if at <= letter or (at == judged and step in steps)
            }
        rows = sorted(found, key=lambda row: (row[0], step in row[1], row[1]))
        at, steps = rows[-1]
        if not (at == judged and (not own or own[0] in steps)):
            rows.append((judged, own))
        if len(rows) > MAX_ROWS:
            rows = [rows[0], *rows[1 - MAX_ROWS :]]
        out = []
        for number, (at, steps) in enumerate(rows, 1):
            values = [past[fact].around(at, steps, step) for fact in facts]
            cells = tuple([ValueChange(_show(before), _show(now)) for before, now in values])
            changed = any([cell.before != cell.after for cell in cells])
            last = number == len(rows)
            text = " and ".join([self.action_text(n) if n else "timed literal" for n in steps]) or "initial state"
            out.append(Row(max(steps, default=0), text, cells, status if last else "", changed or last))
        return Table(tuple([self.task.key_text(*fact) for fact in facts]), tuple(out))


def _by_steps(
    log: list[StateChange], effects: list[tuple[int, SnapEffects]], base: int
) -> dict[Steps, list[StateChange]]:
    """The changes of one happening, apart by the steps that made them.

    What follows from other changes, as derived facts do, was made by the steps that made those.
    """
    authors: dict[Fact, set[int]] = {}
    for step, done in effects:
        for fact in (*done.adds, *done.deletes, *[(base + u.function, u.code) for u in done.updates]):
            authors.setdefault(fact, set()).add(step)
    changing = {step for change in log for step in authors.get(change[:2], ())} or {step for step, _ in effects}
    out: dict[Steps, list[StateChange]] = {}
    for change in log:
        out.setdefault(tuple(sorted(authors.get(change[:2], changing))), []).append(change)
    return out


def _show(value: object) -> str:
    if value is True:
        return "T"
    if value is False:
        return "F"
    return "undefined" if value is None else str(value)
