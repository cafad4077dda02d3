"""Causal links, open preconditions and threats of a plan (docs/diagnose.md).

The plan is read by *force*: every well-formed step happens, whether or not it can be taken. The trace is recorded
forwards once. Links are found backwards: the state is taken back step by step, and what a step needs in the state
before it is linked to the step that last changed it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.supporting_literals import FactKey, SupportFinder, SupportLiteral
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.purpose import NotCovered, ResolvedSteps, binding_phrase, require_untimed
from plansafe.verifier.execution.replay import FORCE, Failure, Replay
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import (
    TRUE,
    Action,
    Arithmetic,
    Assignment,
    Atom,
    Binding,
    Compare,
    Constant,
    Expression,
    Fluent,
    Formula,
    Not,
    bind,
)
from plansafe.verifier.model.operations import (
    atoms_and_fluents,
    expression_fluents,
    has_comparison,
    is_temporal,
    mentions,
)
from plansafe.verifier.rules.model import RulePart

MAX_OPEN = 16
"""So many literals of one failed condition are listed."""


class Link(NamedTuple):
    """``literal`` holds when ``consumer`` reads it, and ``producer`` (0: the initial state) was the last to change it.

    ``kind``: the consumer's precondition (``step``), the condition or operand of one of its effects that mattered
    (``effect``), the ``goal`` (the consumer is one more than the number of steps), or a violated ``rule`` instance,
    with the step of the violation. ``needed``: the condition would not be true with the literal turned over, alone or
    with all others that it takes from this producer.
    """

    producer: int
    literal: str
    consumer: int
    kind: str
    needed: bool = True
    rule: str | None = None


class OpenPrecondition(NamedTuple):
    """A literal that a step or the goal needs and does not find.

    Unless ``alone``, it is one of several ways to make the condition true.
    """

    consumer: int
    literal: str
    alone: bool


class Threat(NamedTuple):
    """``step`` made ``literal`` false, which the later step or goal ``consumer`` needs and does not find."""

    step: int
    literal: str
    consumer: int


class RecordedRun(NamedTuple):
    """A recorded run.

    ``logs[k]``: what step ``k + 1`` changed (``None``: it did not happen). ``changers``: the steps that changed a fact,
    in order. ``state`` is the last one; whoever walks back through the logs changes it.
    """

    logs: list[list[StateChange] | None]
    changers: dict[FactKey, list[int]]
    failures: dict[int, Failure]
    state: State

    def last(self, key: FactKey, consumer: int) -> int:
        """The last step before ``consumer`` that changed a fact; 0 if none did."""
        steps = self.changers.get(key, ())
        place = bisect_left(steps, consumer)
        return steps[place - 1] if place else 0


def record_run(checker: Checker, steps: ResolvedSteps) -> RecordedRun:
    """Run a plan by force and note every change. Raises :class:`NotCovered`."""
    require_untimed(checker.engine, steps)
    logs: list[list[StateChange] | None] = [None for _ in steps]
    changers: dict[FactKey, list[int]] = {}

    def note(_run: Replay, number: int, log: list[StateChange]) -> None:
        logs[number - 1] = list(log)
        for index, code, _ in log:
            changers.setdefault((index, code), []).append(number)

    run = Replay(checker.engine, FORCE, observer=note)
    run.run_steps(steps)
    if run.limit is not None and run.limit.code == SC.NUMBER_TOO_LARGE:
        raise NotCovered(run.limit.message)
    return RecordedRun(logs, changers, {failure.step: failure for failure in run.failures}, run.state)


class RuleQuestion(NamedTuple):
    """Why ``formula`` has ``value`` in a state; asked for a violated rule."""

    formula: Formula
    binding: Binding
    value: bool
    consumer: int
    rule: str


class CausalLinker:
    """Walks back through a trace once; then ``links``, ``open`` and ``threats`` are complete."""

    def __init__(self, checker: Checker, steps: ResolvedSteps, trace: RecordedRun) -> None:
        self.checker = checker
        self.task = checker.engine.task
        self.steps = steps
        self.trace = trace
        self.needs = SupportFinder(checker.engine, trace.state)
        self.goal_step = len(steps) + 1
        self.links: dict[Link, None] = {}
        self.open: dict[OpenPrecondition, None] = {}
        self.threats: dict[Threat, None] = {}
        self._initial = checker.engine.initial().fluents
        self._active: set[FactKey] = set()
        self._questions: dict[int, list[RuleQuestion]] = {}
        self._plain: dict[str, bool] = {}
        self._action_predicates = frozenset(checker.engine.action_predicates.values())

    def walk(self, violations: Iterable[Violation] = (), step_of_letter: Sequence[int] = ()) -> None:
        """Find all links, those of violated rules among them."""
        for violation in violations:
            self._ask(violation, step_of_letter)
        state, logs = self.trace.state, self.trace.logs
        for part in self.task.goal:
            self._condition(part, {}, self.goal_step, "goal")
        self._answer(len(self.steps))
        for number in range(len(self.steps), 0, -1):
            log = logs[number - 1]
            if log:
                state.undo(list(log))
                self.needs.moved()
            step = self.steps[number - 1]
            if isinstance(step, GroundAction):
                binding = step.binding
                self._effects(step.action, binding, number)
                for part in step.action.start.condition:
                    self._condition(part, binding, number, "step")
                failure = self.trace.failures.get(number)
                if failure is not None and failure.detail:
                    self.open[OpenPrecondition(number, failure.detail, True)] = None
            self._answer(number - 1)

    # -- conditions ---------------------------------------------------------------------------------------------------

    def _condition(self, formula: Formula, binding: Binding, consumer: int, kind: str) -> None:
        """One conjunct of what a step or the goal needs: links if it is true, else what is missing."""
        needs = self.needs
        atom = formula.body if isinstance(formula, Not) else formula
        if isinstance(atom, Atom) and not needs.derived(atom.predicate):
            key = needs.key(atom, binding)
            wanted = not isinstance(formula, Not)
            literal = SupportLiteral(atom, binding, wanted, (key,), True)
            if (key[1] in self.trace.state.facts[key[0]]) is wanted:
                self._link(literal, consumer, kind, True)
            else:
                self._missing([literal], consumer)
            return
        if needs.holds(formula, binding) is True:
            found = needs.rests(formula, binding, True)
            verdicts = needs.needed(formula, binding, found, lambda key: self.trace.last(key, consumer))
            for literal, needed in zip(found, verdicts, strict=True):
                self._link(literal, consumer, kind, needed)
            return
        self._missing(needs.missing(formula, binding)[:MAX_OPEN], consumer)

    def _missing(self, literals: list[SupportLiteral], consumer: int) -> None:
        """Literals that do not hold and should."""
        for literal in literals:
            self.open[OpenPrecondition(consumer, literal.text(self.task), literal.sure)] = None
            for basic in self.needs.against(literal):
                for key in basic.keys:
                    step = self.trace.last(key, consumer)
                    if step:
                        text = basic._replace(value=not basic.value).text(self.task)
                        self.threats[Threat(step, text, consumer)] = None

    def _link(self, literal: SupportLiteral, consumer: int, kind: str, needed: bool, rule: str | None = None) -> None:
        text = literal.text(self.task)
        for producer in {self.trace.last(key, consumer) for key in literal.keys}:
            self.links[Link(producer, text, consumer, kind, needed, rule)] = None
        if rule is None:
            self._active.update(literal.keys)

    # -- effects ------------------------------------------------------------------------------------------------------

    def _effects(self, action: Action, binding: Binding, number: int) -> None:
        """What a step reads to bring about, or to leave alone, the facts that are needed after it."""
        log = self.trace.logs[number - 1]
        if log is None:
            return
        changed = {change[:2] for change in log}
        used = set() if self._is_plain(action) else set(self._active)
        self._active -= changed
        if self._is_plain(action):
            return
        outcomes = list(self._outcomes(action, binding))
        for outcome in outcomes:
            self._numbers(outcome, number)
        for key in used:
            here = [outcome for outcome in outcomes if key in outcome.keys]
            for literal in self._comes_from(key, here, key in changed):
                self._link(literal, number, "effect", literal.sure)

    def _is_plain(self, action: Action) -> bool:
        """Whether an action's effects depend on nothing."""
        known = self._plain.get(action.name)
        if known is None:
            known = all([e.condition is TRUE and not e.assignments for e in action.start.effects])
            self._plain[action.name] = known
        return known

    def _outcomes(self, action: Action, binding: Binding) -> Iterator[_Outcome]:
        needs, base = self.needs, len(self.task.predicates)
        for effect in action.start.effects:
            for inner in self.task.bindings(effect.variables, binding):
                updates = {(base + a.function, needs.code(a.arguments, inner)): a for a in effect.assignments}
                adds = frozenset([needs.key(atom, inner) for atom in effect.adds])
                deletes = frozenset([needs.key(atom, inner) for atom in effect.deletes])
                value = needs.holds(effect.condition, inner)
                yield _Outcome(effect.condition, inner, value, adds, deletes, updates)

    def _comes_from(self, key: FactKey, outcomes: list[_Outcome], changed: bool) -> Iterator[SupportLiteral]:
        """The literals that the value of a fact after a step rests on, in the state before it, beside the value then.

        A fact is true if an effect makes it true, or if none of those that would make it false happens.
        """
        if key[0] >= len(self.task.predicates):
            for outcome in outcomes:
                if outcome.value:
                    yield from self._operands(outcome, key)
            return
        adding = [outcome for outcome in outcomes if key in outcome.adds]
        deleting = [outcome for outcome in outcomes if key in outcome.deletes]
        true = (key[1] in self.trace.state.facts[key[0]]) is not changed
        if true and any([outcome.value for outcome in adding]):
            yield from self._causes(adding)
            return
        for outcome in deleting if true else adding:
            yield from self.needs.rests(outcome.condition, outcome.binding, False)
        if changed and not true:
            yield from self._causes(deleting)

    def _causes(self, outcomes: list[_Outcome]) -> Iterator[SupportLiteral]:
        """What the effects that happen rest on; nothing, if one of them always happens."""
        happening = [outcome for outcome in outcomes if outcome.value]
        if not any([outcome.condition is TRUE for outcome in happening]):
            for outcome in happening:
                yield from self.needs.rests(outcome.condition, outcome.binding, True, len(happening) == 1)

    def _numbers(self, outcome: _Outcome, number: int) -> None:
        """What the numbers in an effect need whether or not its result is used: else the step could not be taken."""
        if outcome.value is not None and (outcome.updates or has_comparison(outcome.condition)):
            for literal in self.needs.rests(outcome.condition, outcome.binding, outcome.value):
                self._link(literal, number, "effect", literal.sure)
        if not outcome.value:
            return
        for key, assignment in outcome.updates.items():
            if assignment.operator == "scale-down" or _divides(assignment.value):
                for literal in self._operands(outcome, key):
                    self._link(literal, number, "effect", True)
            for literal in self._operands(outcome, key):
                self._defined(literal.keys[0], number)

    def _operands(self, outcome: _Outcome, key: FactKey) -> Iterator[SupportLiteral]:
        """The values that the new value of a fluent is computed from."""
        assignment = outcome.updates[key]
        base = len(self.task.predicates)
        read = [
            (base + f.function, self.needs.code(f.arguments, outcome.binding))
            for f in expression_fluents(assignment.value)
        ]
        if assignment.operator != "assign":
            read.append(key)
        for index, code in dict.fromkeys(read):
            value = self.trace.state.fluents[index - base][code]
            arguments = self.task.decode(code, len(self.task.functions[index - base].types))
            formula = Compare("=", Fluent(index - base, arguments), Constant(value))
            yield SupportLiteral(formula, {}, True, ((index, code),), True)

    def _defined(self, key: FactKey, consumer: int) -> None:
        """A step that reads a number needs it to have a value at all; numbers never lose theirs."""
        index, code = key[0] - len(self.task.predicates), key[1]
        if code not in self._initial[index]:
            first = self.trace.changers[key][0]
            declared = self.task.functions[index]
            name = " ".join([declared.name, *self.task.names(self.task.decode(code, len(declared.types)))])
            self.links[Link(first, f"({name}) has a value", consumer, "effect")] = None

    # -- violated rules -----------------------------------------------------------------------------------------------

    def _ask(self, violation: Violation, step_of_letter: Sequence[int]) -> None:
        """Note what to ask about a violation once its state is reached."""
        part = self.checker.engine.rule_set.parts[violation.part]
        consumer = self.goal_step if violation.at_end else violation.step
        binding = bind(part.parameters, violation.binding)
        rule = self.checker.rules[part.rule].name + binding_phrase(self.checker.engine, part, violation.binding)
        letter = min(violation.letter, len(step_of_letter) - 1)
        guard = TRUE if part.guard is None else part.guard
        if not self._of_states(part.body) or not self._of_states(guard):
            self._facts_read(part, binding, step_of_letter[letter], consumer, rule)
            return
        at = step_of_letter[letter]
        self._questions.setdefault(at, []).append(RuleQuestion(part.body, binding, False, consumer, rule))
        if part.guard is not None:
            before = step_of_letter[letter - 1] if part.after else at
            self._questions.setdefault(before, []).append(RuleQuestion(part.guard, binding, True, consumer, rule))

    def _answer(self, step: int) -> None:
        """Answer what was asked about the state after a step."""
        for question in self._questions.get(step, ()):
            for literal in self.needs.rests(question.formula, question.binding, question.value):
                text = literal.text(self.task)
                for producer in {self.trace.last(key, step + 1) for key in literal.keys}:
                    self.links[Link(producer, text, question.consumer, "rule", literal.sure, question.rule)] = None

    def _of_states(self, formula: Formula) -> bool:
        return not is_temporal(formula) and not mentions(formula, self._action_predicates)

    def _facts_read(self, part: RulePart, binding: Binding, last: int, consumer: int, rule: str) -> None:
        """Of a rule over time: the last change, up to the violation, of each fact that the instance reads."""
        task, base = self.task, len(self.task.predicates)
        patterns = [
            (r.predicate if isinstance(r, Atom) else base + r.function, r.arguments)
            for formula in (part.body, part.guard or TRUE)
            for r in atoms_and_fluents(formula)
        ]
        for (index, code), steps in self.trace.changers.items():
            before = [step for step in steps if step <= last]
            wanted = [
                [binding.get(-1 - a) if a < 0 else a for a in arguments] for i, arguments in patterns if i == index
            ]
            if not before or not wanted or index >= base:
                continue
            objects = task.decode(code, len(wanted[0]))
            if any([all([w is None or w == o for w, o in zip(one, objects, strict=True)]) for one in wanted]):
                value = next(v for i, c, v in self.trace.logs[before[-1] - 1] or () if (i, c) == (index, code))
                text = task.fact_text(index, code)
                literal = text if value else f"(not {text})"
                self.links[Link(before[-1], literal, consumer, "rule", False, rule)] = None


class _Outcome(NamedTuple):
    """One effect under one binding of its variables: whether it happens, and what it then changes."""

    condition: Formula
    binding: Binding
    value: bool | None
    adds: frozenset[FactKey]
    deletes: frozenset[FactKey]
    updates: dict[FactKey, Assignment]

    @property
    def keys(self) -> frozenset[FactKey]:
        """Everything it may change."""
        return self.adds | self.deletes | self.updates.keys()


def _divides(expression: Expression) -> bool:
    if isinstance(expression, Arithmetic):
        return expression.operator == "/" or any([_divides(operand) for operand in expression.operands])
    return False
