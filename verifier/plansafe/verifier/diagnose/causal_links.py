"""Causal links, open preconditions and threats of a plan (docs/diagnose.md).

The plan is read by *force*: every well-formed step happens, whether or not it can be taken. One forward run records the
changes. Links are found backwards: the steps are undone one by one, and the literals that a step needs in the state
before it are linked to the step that last changed them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.step_effects import EffectFinder, EffectInstance
from plansafe.verifier.diagnose.supporting_literals import SupportFinder, SupportLiteral
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.outcome import Failure
from plansafe.verifier.execution.purpose import NotCovered, ResolvedSteps, binding_text, require_untimed
from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.footprints import StateVariable
from plansafe.verifier.model.nodes import (
    TRUE,
    Action,
    Atom,
    Binding,
    Formula,
    Not,
    bind,
)
from plansafe.verifier.model.operations import (
    find_atoms,
    has_comparison,
    has_division,
    is_temporal,
    mentions,
)
from plansafe.verifier.rules.model import RulePart

MAX_OPEN_LITERALS = 16
"""Maximum number of literals listed for one failed condition."""
MAX_VISITED_LINKS = 500_000
"""Maximum number of links that are visited if the number of returned links is limited."""


class Link(NamedTuple):
    """``literal`` holds when ``consumer`` reads it, and ``producer`` (0: the initial state) was the last to change it.

    ``kind``: the consumer's precondition (``step``), the condition or operand of one of its effects that mattered
    (``effect``), the ``goal`` (the consumer is one more than the number of steps), or a violated ``rule`` instance
    (the consumer is the step of the violation). ``needed``: the condition would be false with the literal negated,
    alone or with all of its literals from this producer.
    """

    producer: int
    literal: str
    consumer: int
    kind: str
    needed: bool = True
    rule: str | None = None


class OpenPrecondition(NamedTuple):
    """A literal that a step or the goal needs, and that is not true.

    Unless ``alone``, other literals can make the condition true instead.
    """

    consumer: int
    literal: str
    alone: bool


class Threat(NamedTuple):
    """``step`` made ``literal`` false, which the later step or goal ``consumer`` needs."""

    step: int
    literal: str
    consumer: int


class RecordedRun(NamedTuple):
    """A recorded run.

    ``changes_by_step[k]``: the changes by step ``k + 1`` (``None``: it did not happen). ``changers``: the steps that
    changed a fact or fluent, in order. ``state`` is the final state; the linker undoes its changes.
    """

    changes_by_step: list[list[StateChange] | None]
    changers: dict[StateVariable, list[int]]
    failures: dict[int, Failure]
    state: State

    def find_last_changer(self, variable: StateVariable, consumer: int) -> int:
        """Return the last step before ``consumer`` that changed a fact or fluent; 0 if none did."""
        steps = self.changers.get(variable, ())
        place = bisect_left(steps, consumer)
        return steps[place - 1] if place else 0


def record_run(checker: Checker, steps: ResolvedSteps) -> RecordedRun:
    """Run a plan by force and record every change. Raises :class:`NotCovered`."""
    require_untimed(checker.engine, steps)
    changes_by_step: list[list[StateChange] | None] = [None for _ in steps]
    changers: dict[StateVariable, list[int]] = {}

    def record(_run: Replay, number: int, log: list[StateChange]) -> None:
        changes_by_step[number - 1] = list(log)
        for index, code, _ in log:
            changers.setdefault((index, code), []).append(number)

    run = Replay(checker.engine, FORCE, observer=record)
    run.run_steps(steps)
    if run.limit is not None and run.limit.code == SC.NUMBER_TOO_LARGE:
        raise NotCovered(run.limit.message)
    return RecordedRun(changes_by_step, changers, {failure.step: failure for failure in run.failures}, run.state)


class _RuleCondition(NamedTuple):
    """A formula of a violated rule, and its value in a state."""

    formula: Formula
    binding: Binding
    value: bool
    consumer: int
    rule: str


class CausalLinker:
    """Finds ``links``, ``open_preconditions`` and ``threats`` in one backward pass (:meth:`find_links`).

    If there are more than ``max_links`` links, only the needed links and the links of violated rules remain, and
    ``has_all_links`` is False. With ``max_links``, :meth:`find_links` raises :class:`NotCovered` beyond
    :data:`MAX_VISITED_LINKS`.
    """

    def __init__(self, checker: Checker, steps: ResolvedSteps, run: RecordedRun, max_links: int | None = None) -> None:
        self.checker = checker
        self.task = checker.engine.task
        self.steps = steps
        self.run = run
        self.finder = SupportFinder(checker.engine, run.state)
        self.goal_step = len(steps) + 1
        self.links: dict[Link, None] = {}
        self.has_all_links = True
        self.producers: dict[int, set[int]] = {}
        """By step or goal, the producers of its links; the links of violated rules do not count."""
        self._max_links = max_links
        self._visited_link_count = 0
        self.open_preconditions: dict[OpenPrecondition, None] = {}
        self.threats: dict[Threat, None] = {}
        self._initial_fluents = checker.engine.make_initial_state().fluents
        self._variables_needed_later: set[StateVariable] = set()
        self._rule_conditions_by_step: dict[int, list[_RuleCondition]] = {}
        self._effect_finder = EffectFinder(self.task, run.state, self.finder)
        self._action_predicates = frozenset(checker.engine.action_predicates.values())

    def find_links(self, violations: Iterable[Violation] = (), step_of_letter: Sequence[int] = ()) -> None:
        """Find all links, also of violated rules."""
        for violation in violations:
            self._add_violation_conditions(violation, step_of_letter)
        state, changes_by_step = self.run.state, self.run.changes_by_step
        for part in self.task.goal:
            self._link_condition(part, {}, self.goal_step, "goal")
        self._link_rule_conditions(len(self.steps))
        for number in range(len(self.steps), 0, -1):
            log = changes_by_step[number - 1]
            if log:
                state.undo(list(log))
                self.finder.forget_state()
            step = self.steps[number - 1]
            if isinstance(step, GroundAction):
                binding = step.binding
                self._link_effects(step.action, binding, number)
                for part in step.action.start.condition:
                    self._link_condition(part, binding, number, "step")
                failure = self.run.failures.get(number)
                if failure is not None and failure.detail:
                    self.open_preconditions[OpenPrecondition(number, failure.detail, True)] = None
            self._link_rule_conditions(number - 1)

    # -- conditions ---------------------------------------------------------------------------------------------------

    def _link_condition(self, formula: Formula, binding: Binding, consumer: int, kind: str) -> None:
        """Link a conjunct of a step's precondition or the goal if it is true; else add its missing literals."""
        finder = self.finder
        atom = formula.body if isinstance(formula, Not) else formula
        if isinstance(atom, Atom) and not finder.is_derived(atom.predicate):
            fact = finder.ground_atom(atom, binding)
            value = not isinstance(formula, Not)
            literal = SupportLiteral(atom, binding, value, (fact,), True)
            if (fact[1] in self.run.state.facts[fact[0]]) is value:
                self._add_links(literal, consumer, kind, True)
            else:
                self._add_open_preconditions([literal], consumer)
            return
        if finder.holds(formula, binding) is True:
            literals = finder.find_supporting_literals(formula, binding, True)
            verdicts = finder.decide_needed_literals(
                formula, binding, literals, lambda fact: self.run.find_last_changer(fact, consumer)
            )
            for literal, needed in zip(literals, verdicts, strict=True):
                self._add_links(literal, consumer, kind, needed)
            return
        self._add_open_preconditions(finder.find_missing_literals(formula, binding)[:MAX_OPEN_LITERALS], consumer)

    def _add_open_preconditions(self, literals: list[SupportLiteral], consumer: int) -> None:
        """Add missing literals, and the threats by the steps that made them false."""
        for literal in literals:
            self.open_preconditions[OpenPrecondition(consumer, literal.text(self.task), literal.necessary)] = None
            for basic in self.finder.find_opposing_literals(literal):
                for variable in basic.variables:
                    step = self.run.find_last_changer(variable, consumer)
                    if step:
                        text = basic._replace(value=not basic.value).text(self.task)
                        self.threats[Threat(step, text, consumer)] = None

    def _add_links(self, literal: SupportLiteral, consumer: int, kind: str, needed: bool) -> None:
        """Link a literal that a step or the goal reads to the steps that last changed it."""
        producers = {self.run.find_last_changer(variable, consumer) for variable in literal.variables}
        self.producers.setdefault(consumer, set()).update(producers)
        self._variables_needed_later.update(literal.variables)
        self._visited_link_count += len(producers)
        if self._max_links is not None and self._visited_link_count > MAX_VISITED_LINKS:
            raise NotCovered(f"the plan has more than {MAX_VISITED_LINKS:,} causal links")
        if needed or self.has_all_links:
            text = literal.text(self.task)
            for producer in producers:
                self._add_link(Link(producer, text, consumer, kind, needed))

    def _add_link(self, link: Link) -> None:
        """Add a link; beyond the limit, only if it is needed or of a violated rule."""
        if link.needed:
            self.links.pop(link._replace(needed=False), None)
        elif link._replace(needed=True) in self.links:
            return
        if self.has_all_links or link.needed or link.rule is not None:
            self.links[link] = None
        if self.has_all_links and self._max_links is not None and len(self.links) > self._max_links:
            self.has_all_links = False
            self.links = {link: None for link in self.links if link.needed or link.rule is not None}

    # -- effects ------------------------------------------------------------------------------------------------------

    def _link_effects(self, action: Action, binding: Binding, number: int) -> None:
        """Link the literals that a step reads to change, or to leave unchanged, the facts that are needed after it."""
        log = self.run.changes_by_step[number - 1]
        if log is None:
            return
        changed_variables = {change[:2] for change in log}
        effects = self._effect_finder.index_effects(action)
        needed_variables = list(
            self._effect_finder.find_matching_variables(effects, binding, self._variables_needed_later)
        )
        self._variables_needed_later -= changed_variables
        for effect in effects.numeric_effects:
            for full_binding in self.task.bindings(effect.variables, binding):
                self._link_numeric_reads(self._effect_finder.instantiate(effect, full_binding), number)
        for variable in needed_variables:
            relevant = list(self._effect_finder.find_writers(effects.writers[variable[0]], binding, variable))
            if relevant:
                for literal in self._effect_finder.find_literals(variable, relevant, variable in changed_variables):
                    self._add_links(literal, number, "effect", literal.necessary)

    def _link_numeric_reads(self, effect: EffectInstance, number: int) -> None:
        """Link the literals without which numbers in an effect would be undefined, and the step impossible."""
        if effect.value is not None and (effect.updates or has_comparison(effect.condition)):
            for literal in self.finder.find_supporting_literals(effect.condition, effect.binding, effect.value):
                self._add_links(literal, number, "effect", literal.necessary)
        if not effect.value:
            return
        for fluent, assignment in effect.updates.items():
            literals = list(self._effect_finder.find_operand_literals(effect, fluent))
            if assignment.operator == "scale-down" or has_division(assignment.value):
                for literal in literals:
                    self._add_links(literal, number, "effect", True)
            for literal in literals:
                self._link_number_definition(literal.variables[0], number)

    def _link_number_definition(self, fluent: StateVariable, consumer: int) -> None:
        """Link a step that reads a number to the step that defined it first; numbers never become undefined."""
        index, code = fluent[0] - len(self.task.predicates), fluent[1]
        if code not in self._initial_fluents[index]:
            first = self.run.changers[fluent][0]
            function = self.task.functions[index]
            name = " ".join([function.name, *self.task.names(self.task.decode(code, len(function.types)))])
            self.producers.setdefault(consumer, set()).add(first)
            self._add_link(Link(first, f"({name}) has a value", consumer, "effect"))

    # -- violated rules -----------------------------------------------------------------------------------------------

    def _add_violation_conditions(self, violation: Violation, step_of_letter: Sequence[int]) -> None:
        """Register the conditions of a violation, to be linked when the backward pass reaches their states."""
        part = self.checker.engine.rule_set.parts[violation.part]
        consumer = self.goal_step if violation.at_end else violation.step
        binding = bind(part.parameters, violation.binding)
        rule = self.checker.rules[part.rule].name + binding_text(self.checker.engine, part, violation.binding)
        letter = min(violation.letter, len(step_of_letter) - 1)
        guard = TRUE if part.guard is None else part.guard
        body_step = step_of_letter[letter]
        if not self._is_state_formula(part.body) or not self._is_state_formula(guard):
            self._link_last_changes(part, binding, body_step, consumer, rule)
            return
        body = _RuleCondition(part.body, binding, False, consumer, rule)
        self._rule_conditions_by_step.setdefault(body_step, []).append(body)
        if part.guard is not None:
            guard_step = step_of_letter[letter - 1] if part.after else body_step
            condition = _RuleCondition(part.guard, binding, True, consumer, rule)
            self._rule_conditions_by_step.setdefault(guard_step, []).append(condition)

    def _link_rule_conditions(self, step: int) -> None:
        """Link the literals of the violated rules' conditions in the state after a step."""
        for condition in self._rule_conditions_by_step.get(step, ()):
            literals = self.finder.find_supporting_literals(condition.formula, condition.binding, condition.value)
            for literal in literals:
                text = literal.text(self.task)
                for producer in {self.run.find_last_changer(variable, step + 1) for variable in literal.variables}:
                    self._add_link(Link(producer, text, condition.consumer, "rule", literal.necessary, condition.rule))

    def _is_state_formula(self, formula: Formula) -> bool:
        return not is_temporal(formula) and not mentions(formula, self._action_predicates)

    def _link_last_changes(self, part: RulePart, binding: Binding, last: int, consumer: int, rule: str) -> None:
        """Link a rule over time to the last change, up to the violation, of each fact that the instance reads."""
        task = self.task
        patterns: dict[int, list[list[int | None]]] = {}
        for formula in (part.body, part.guard or TRUE):
            for atom in find_atoms(formula):
                pattern = [binding.get(-1 - argument) if argument < 0 else argument for argument in atom.arguments]
                patterns.setdefault(atom.predicate, []).append(pattern)
        for (index, code), steps in self.run.changers.items():
            changes = [step for step in steps if step <= last]
            if not changes or index >= len(task.predicates) or index not in patterns:
                continue
            objects = task.decode(code, len(patterns[index][0]))
            if any([_matches(pattern, objects) for pattern in patterns[index]]):
                step_changes = self.run.changes_by_step[changes[-1] - 1] or ()
                value = next(new_value for *variable, new_value in step_changes if variable == [index, code])
                text = task.fact_text(index, code)
                literal = text if value else f"(not {text})"
                self._add_link(Link(changes[-1], literal, consumer, "rule", False, rule))


def _matches(pattern: list[int | None], objects: Sequence[int]) -> bool:
    """Whether objects fit a pattern; ``None`` fits any object."""
    return all([expected in (None, object_) for expected, object_ in zip(pattern, objects, strict=True)])
