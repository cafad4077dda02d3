"""What could ever hold if nothing were lost: the delete relaxation, for steps that are impossible on their objects.

Every fact may be true, may be false, or may be both, and stays so (Bonet and Geffner 2001 with negation). A comparison
is decided only if no action changes what it reads. Rules are ignored: this is about what objects afford, not about
what is allowed. Polynomial; gives up beyond :data:`MAX_ACTIONS` ground actions.
"""

from __future__ import annotations

from typing import assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.limits import Limited, LimitReached
from plansafe.verifier.model.nodes import (
    TRUE,
    And,
    Atom,
    Axiom,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import expression_fluents
from plansafe.verifier.repair.effects import Effects

MAX_ACTIONS = 100_000
Binding = dict[int, int]


class Reachable:
    """The facts that may be true and those that may be false, in any state that steps can lead to."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.task = engine.task
        state = engine.initial()
        self._evaluator = Evaluator(self.task, state.facts, state.fluents)
        self._initial = [frozenset(facts) for facts in state.facts]
        self._true = [set(facts) for facts in state.facts]
        self._false: list[set[int]] = [set() for _ in state.facts]
        self._heads = frozenset([axiom.predicate for stratum in self.task.axioms for axiom in stratum])
        base = len(self.task.predicates)
        self._changing = {
            base + a.function
            for action in self.task.actions.values()
            for effect in action.start.effects
            for a in effect.assignments
        }
        self._never_false: list[set[int]] = [set() for _ in state.facts]
        self._fixpoint()

    def possible(self, step: GroundAction) -> bool:
        """Whether the precondition of a step could ever hold."""
        return self._may(And(step.action.start.condition), step.binding, True)

    def obstacle(self, step: GroundAction) -> tuple[Formula, Binding] | None:
        """The first part of a step's precondition that can never hold; ``None`` if each alone can."""
        binding = step.binding
        parts: list[Formula] = list(step.action.start.condition)
        while parts:
            part = parts.pop(0)
            if isinstance(part, And):
                parts[:0] = part.parts
            elif not self._may(part, binding, True):
                return part, binding
        return None

    def _fixpoint(self) -> None:
        found = Effects(self.engine)
        waiting: list[GroundAction] = []
        for action in self.task.actions.values():
            for step in found.groundings(action, {}):
                waiting.append(step)
                if len(waiting) > MAX_ACTIONS:
                    raise LimitReached(Limited.GROUND_TASK)
        if found.cut:
            raise LimitReached(Limited.GROUND_TASK)
        self._derive()
        conditional: list[tuple[GroundAction, list[tuple[int, int, bool, Formula, Binding]]]] = []
        changed = True
        while changed:
            changed = False
            later = []
            for step in waiting:
                if not self.possible(step):
                    later.append(step)
                    continue
                own = found.of(step)
                for (predicate, code), value in own.sets.items():
                    changed |= self._add(predicate, code, value)
                effects = [
                    (e.fact[0], e.fact[1], e.value, e.condition, e.binding) for e in own.may if e.value is not None
                ]
                # An unconditional effect of the other sign hides nothing here: the relaxation loses nothing.
                if effects:
                    conditional.append((step, effects))
            waiting = later
            for _, effects in conditional:
                for predicate, code, value, condition, binding in effects:
                    if condition is TRUE or self._may(condition, binding, True):
                        changed |= self._add(predicate, code, value)
            if changed:
                self._derive()

    def _add(self, predicate: int, code: int, value: bool) -> bool:
        known = self._true[predicate] if value else self._false[predicate]
        if code in known:
            return False
        known.add(code)
        return True

    def _derive(self) -> None:
        """Derived facts: true by the least fixpoint, never false by the greatest."""
        heads: list[tuple[Axiom, int, Binding]] = []
        for stratum in self.task.axioms:
            for axiom in stratum:
                head = tuple([-1 - v.slot for v in axiom.parameters])
                for binding in self.task.bindings(axiom.parameters, {}):
                    heads.append((axiom, self.task.code_of(head, binding), binding))
                    if len(heads) > MAX_ACTIONS:
                        raise LimitReached(Limited.GROUND_TASK)
        for facts in self._never_false:
            facts.clear()
        again = True
        while again:
            again = False
            for axiom, code, binding in heads:
                if code not in self._true[axiom.predicate] and self._may(axiom.body, binding, True):
                    self._true[axiom.predicate].add(code)
                    again = True
                if code not in self._never_false[axiom.predicate] and not self._may(axiom.body, binding, False):
                    self._never_false[axiom.predicate].add(code)
                    again = True

    def _may(self, formula: Formula, binding: Binding, wanted: bool) -> bool:
        match formula:
            case Truth():
                return formula.value is wanted
            case Not():
                return self._may(formula.body, binding, not wanted)
            case And() | Or():
                every = isinstance(formula, And) is wanted
                for part in formula.parts:
                    if self._may(part, binding, wanted) is not every:
                        return not every
                return every
            case Quantified():
                return self._quantified(formula, binding, wanted)
            case Equal():
                return self._evaluator.holds(formula, binding) is wanted
            case Compare():
                fluents = [f for side in (formula.left, formula.right) for f in expression_fluents(side)]
                if any([len(self.task.predicates) + f.function in self._changing for f in fluents]):
                    return True
                return self._evaluator.holds(formula, binding) is wanted
            case Atom():
                return self._atom(formula, binding, wanted)
            case Temporal():
                raise AssertionError("a temporal formula is no condition of a state")
            case _:
                assert_never(formula)

    def _quantified(self, formula: Quantified, binding: Binding, wanted: bool) -> bool:
        every = formula.universal is wanted
        for inner in self.task.bindings(formula.variables, binding):
            if self._may(formula.body, inner, wanted) is not every:
                return not every
        return every

    def _atom(self, atom: Atom, binding: Binding, wanted: bool) -> bool:
        predicate = atom.predicate
        code = self.task.code_of(atom.arguments, binding)
        if wanted:
            return code in self._true[predicate]
        if predicate in self._heads:
            return code not in self._never_false[predicate]
        return code not in self._initial[predicate] or code in self._false[predicate]
