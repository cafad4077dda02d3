"""The rules of a plan over all orders: for each instance, the worlds in which it is violated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.verifier.compile.normal_forms import dnf, slots_bound_by_literals
from plansafe.verifier.execution.monitors.temporal_grounding import ground_temporal
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import TRUE as ALWAYS
from plansafe.verifier.model.nodes import And, Formula, Variable, bind
from plansafe.verifier.model.operations import children, is_temporal
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.orders.letters import Letters, ignores_repetition
from plansafe.verifier.symbolic.orders.moments import Moments
from plansafe.verifier.symbolic.orders.partial_order import END, bit_numbers
from plansafe.verifier.symbolic.orders.template import TimePoint, TooHard
from plansafe.verifier.symbolic.worlds.truth_vectors import expand_operators

MAX_INSTANCES = 200_000
"""Bindings of one part of a rule that are looked at, beyond which the rule is given up."""


SPELT_OUT = frozenset(("sometime-after",))
"""Operators that letters do not know."""


class InstanceViolation(NamedTuple):
    """Under which worlds an instance of a part is violated."""

    part: int
    binding: tuple[int, ...]
    literal: Literal


class _Ready(NamedTuple):
    """A part made ready: its formulas without quantifiers over temporal ones, and their state formulas."""

    part: RulePart
    body: Formula
    guard: Formula
    leaves: tuple[Formula, ...]
    ignores_repetition: bool


class RuleEncoding:
    """Encodes the hard rules. Raises :class:`TooHard`, ``LimitReached``."""

    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self.template = moments.template
        self.circuit = moments.circuit
        self.engine = moments.template.engine

    def encode_violations(self) -> list[InstanceViolation]:
        """Every instance that is violated in some world, as far as the circuit shows."""
        out: list[InstanceViolation] = []
        plan = self.engine.rule_set
        runtime = self.engine.prototype
        if self.engine.limit is not None or (runtime is not None and runtime.too_large):
            raise TooHard("a rule has more instances than the limit allows")
        for number, part in enumerate(plan.parts):
            preference = plan.rules[part.rule].preference
            if preference and not self.engine.task.functions:
                continue
            if not all([self.engine.task.domains[v.domain] for v in part.parameters]):
                continue
            ready = self._ready(part)
            known: dict[tuple[Literal, ...], Literal] = {}  # instances that read alike are violated alike
            for binding in self._bindings(part, everything=preference):
                slots = bind(part.parameters, binding)
                leaves = {id(leaf): self._leaf(leaf, slots) for leaf in ready.leaves}
                step = FALSE if part.step is None else self._leaf(part.step, slots)
                if preference:
                    continue  # preferences matter only where they cannot be decided
                key = (*leaves.values(), step)
                literal = known.get(key)
                if literal is None:
                    literal = known[key] = self._instance(ready, leaves, step)
                    self.moments.check()
                if literal != FALSE:
                    out.append(InstanceViolation(number, binding, literal))
        return out

    # -- instances ----------------------------------------------------------------------------------------------------

    def _ready(self, part: RulePart) -> _Ready:
        task = self.engine.task
        try:
            body = expand_operators(ground_temporal(task, part.body), SPELT_OUT)
            guard = ALWAYS if part.guard is None else expand_operators(ground_temporal(task, part.guard), SPELT_OUT)
        except LimitReached:
            raise TooHard("a quantifier over temporal formulas has too many instances") from None
        leaves = tuple({id(leaf): leaf for formula in (body, guard) for leaf in _leaves(formula)}.values())
        return _Ready(part, body, guard, leaves, ignores_repetition(body) and ignores_repetition(guard))

    def _leaf(self, formula: Formula, slots: dict[int, int]) -> Literal:
        evaluation, state = self.template.evaluation, self.template.state
        literal = evaluation.compile_true(formula)(state, dict(slots))
        if evaluation.reads_numbers(formula) and evaluation.compile_false(formula)(state, dict(slots)) != literal ^ 1:
            raise TooHard("a rule reads a number that may be undefined")
        return literal

    def _bindings(self, part: RulePart, everything: bool) -> Iterator[tuple[int, ...]]:
        """The bindings under which a part may be violated."""
        if not part.parameters:
            yield ()
            return
        possible_certain = self.template.evaluation.possible_certain
        body = ALWAYS if everything or part.mode == "whole" else possible_certain.possible_condition(part.body, False)
        premises = [possible_certain.possible_condition(f) for f in (part.step, part.guard) if f is not None]
        condition = And((*premises, body))
        self._bounded(condition, part.parameters)
        found: list[tuple[int, ...]] = []
        possible_certain.compile_search(condition, part.parameters, ())(self.template.state.facts, (), found)
        yield from dict.fromkeys(found)

    def _bounded(self, condition: Formula, parameters: tuple[Variable, ...]) -> None:
        task = self.engine.task
        disjuncts = dnf(condition)
        for disjunct in disjuncts or ():
            total = 1
            bound = slots_bound_by_literals(disjunct)
            for variable in parameters:
                total *= 1 if variable.slot in bound else len(task.domains[variable.domain])
            if total > MAX_INSTANCES:
                raise TooHard("a rule has too many instances")
        if disjuncts is None:
            total = 1
            for variable in parameters:
                total *= len(task.domains[variable.domain])
            if total > MAX_INSTANCES:
                raise TooHard("a rule has too many instances")

    def _instance(self, ready: _Ready, leaves: dict[int, Literal], step: Literal) -> Literal:
        moments, circuit, part = self.moments, self.circuit, ready.part
        mask = moments.reading(leaves.values()) if ready.ignores_repetition else None
        if mask is not None and part.mode == "always" and not is_temporal(ready.body):
            # A block of letters that violate it begins in S0, or after a step that makes it false.
            mask = moments.falsifying(leaves[id(ready.body)])
        letters = Letters(
            moments,
            lambda formula, moment: moments.at(leaves[id(formula)], moment),
            None if mask is None else list(bit_numbers(mask)),
        )
        match part.mode:
            case "whole":
                return letters.at_start(ready.body) ^ 1
            case "end":
                return letters.at_end(ready.body) ^ 1
            case "always":
                bad = [circuit.both(letters.there(k), letters.at(ready.body, k) ^ 1) for k in letters.letters]
                return circuit.disjunction(bad)
            case _:
                return circuit.disjunction([self._matched(ready, letters, step, k) for k in self._steps(step)])

    def _steps(self, literal: Literal) -> list[int]:
        """The steps that may match a step pattern."""
        slots = self.circuit.inputs([literal])
        facts = {self.circuit.keys[node] for node in slots}
        return [step for step, action_fact in self.template.action_facts.items() if action_fact in facts]

    def _matched(self, ready: _Ready, letters: Letters, pattern: Literal, step: int) -> Literal:
        """In which worlds a step is taken and breaks the part."""
        moments, circuit = self.moments, self.circuit
        if moments.at(pattern, step) == FALSE:
            return FALSE
        asked = circuit.both(moments.taken(step), letters.at(ready.guard, step))
        if asked == FALSE:
            return FALSE
        if not ready.part.after:
            return circuit.both(asked, letters.at(ready.body, step) ^ 1)
        after: TimePoint = moments.following(step)
        if letters.merged:
            return circuit.both(asked, letters.at(ready.body, after) ^ 1)
        bad = [
            circuit.both(next_one, letters.at(ready.body, k) ^ 1)
            for k in letters.letters
            if k != step and (next_one := letters.follows(step, k)) != FALSE
        ]
        return circuit.both(asked, circuit.disjunction(bad))


def encode_goal(moments: Moments) -> Literal:
    """In which worlds the goal holds where the plan stops."""
    template, circuit = moments.template, moments.circuit
    literal = template.evaluation.compile_true(And(template.task.goal))(template.state, {})
    if not moments.varies(literal):
        return literal
    reached = circuit.both(moments.executable(), moments.at(literal, END))
    parts = [reached]
    for step in range(1, moments.order.size + 1):
        able = moments.able(step)
        if able != TRUE:
            parts.append(circuit.conjunction([moments.reached(step), able ^ 1, moments.at(literal, step)]))
            moments.check()
    return circuit.disjunction(parts)


def _leaves(formula: Formula) -> Iterator[Formula]:
    """The maximal formulas without temporal operators."""
    stack = [formula]
    while stack:
        part = stack.pop()
        if is_temporal(part):
            stack.extend(children(part))
        else:
            yield part
