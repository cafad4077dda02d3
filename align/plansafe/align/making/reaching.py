"""Carrying out an aim from a moment of a plan: the few steps that reach its stages, found backwards from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from random import Random

from plansafe.align.making.aims import Aim, Stage, actions_of, needs
from plansafe.align.making.usable import Usable
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.binding_search import bindings_with_value, flatten_goals
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Atom, Binding, Formula, Quantified, Variable
from plansafe.verifier.model.operations import free_slots, subformulas, variable_slots
from plansafe.verifier.planning.backward_estimates import UNREACHABLE_COST, BackwardEstimator

FEW = 12
"""Ways to choose objects among which one is drawn."""
DRAWN = 0.85
"""The share of searches before which all objects are drawn; else all but one. In a part of a home of VirtualHome 90
searches took 1.1 s where all were drawn, and 11.3 s where none was; 13 and 27 of them broke their rule."""
TRIED = 400
"""Objects of a kind that are looked at when one is drawn."""


class Reach:
    """Finds steps for wishes about one task. ``usable``: what can be done with which of its objects."""

    def __init__(self, engine: Engine, usable: Usable) -> None:
        self.engine = engine
        self.task = engine.task
        self.usable = usable
        self.backward = BackwardEstimator(engine)
        self.actions = actions_of(engine)

    def carry_out(self, aim: Aim, start: Execution, most: int, random: Random) -> list[GroundAction] | None:
        """Steps from ``start``, at most so many, behind which all stages were reached; ``None`` if none were found.

        Whether the rule is broken then the monitors of an execution say.
        """
        now = start.without_rules()
        binding: Binding = {}
        taken: list[GroundAction] = []
        try:
            for stage in aim.stages:
                steps = self._stage(aim.variables, stage, now, binding, most - len(taken), random)
                if steps is None:
                    return None
                taken += steps
        except (NumberTooLarge, TooManyInstances):
            return None
        return taken

    def meet(self, wishes: Iterable[tuple[Formula, Binding]], now: Execution, most: int) -> list[GroundAction] | None:
        """Take steps in place until all wishes hold; those taken, or ``None`` where they do not within so many."""
        wanted = list(wishes)
        taken: list[GroundAction] = []
        while True:
            evaluator = Evaluator(self.task, now.state.facts, now.state.fluents)
            if all([evaluator.holds(formula, binding) is True for formula, binding in wanted]):
                return taken
            if len(taken) >= most:
                return None
            cost, first = self.backward.estimate(now.state, wanted, most - len(taken))
            if cost >= UNREACHABLE_COST or not first:
                return None
            step = next((one for one in first if now.take(one)), None)
            if step is None:
                return None
            taken.append(step)

    def _stage(
        self, variables: Sequence[Variable], stage: Stage, now: Execution, binding: Binding, most: int, random: Random
    ) -> list[GroundAction] | None:
        action = self.actions[stage.atom.predicate] if stage.atom is not None else None
        wanted = And(needs(stage, self.actions))
        read = variable_slots(wanted) | (variable_slots(stage.atom) if stage.atom is not None else frozenset())
        own = [v for v in variables if v.slot in read and v.slot not in binding]
        left = 0 if random.random() < DRAWN else min(1, len(own))
        for variable in random.sample(own, len(own) - left):
            self._draw(variable, wanted, now, binding, random)
        own = [v for v in own if v.slot not in binding]
        whole: Formula = Quantified(False, tuple(own), wanted) if own else wanted
        taken = self.meet([(whole, dict(binding))], now, most - (action is not None))
        if taken is None:
            return None
        if own:
            evaluator = Evaluator(self.task, now.state.facts, now.state.fluents)
            found = list(islice(bindings_with_value(evaluator, tuple(own), wanted, True, dict(binding)), FEW))
            if not found:
                return None
            binding.update(found[min(int(random.expovariate(0.5)), len(found) - 1)])
        if action is None or stage.atom is None:
            return taken
        objects = tuple([a if a >= 0 else binding[-1 - a] for a in stage.atom.arguments])
        sets = self.task.domain_sets
        if any([o not in sets[v.domain] for o, v in zip(objects, action.parameters, strict=True)]):
            return None
        step = GroundAction(action, objects)
        return [*taken, step] if now.take(step) else None

    def _draw(self, variable: Variable, wanted: Formula, now: Execution, binding: Binding, random: Random) -> None:
        """Choose an object for a variable that fits it, by what it is and what can be done with it."""
        evaluator = Evaluator(self.task, now.state.facts, now.state.fluents)
        flat = flatten_goals(self.task, (), [(wanted, True)], binding)
        if flat is None:
            return
        known = binding.keys() | {variable.slot}
        static = [(f, value) for f, value in flat[1] if self._static(f) and free_slots(f) <= known]
        every, able = self.task.domains[variable.domain], self.usable.fit(wanted, variable.slot)
        fitting = [
            one
            for one in (every if able is None else [one for one in every if one in able])[:TRIED]
            if all([evaluator.holds(f, {**binding, variable.slot: one}) is value for f, value in static])
        ]
        if not fitting:
            return
        random.shuffle(fitting)
        binding[variable.slot] = fitting[min(int(random.expovariate(3 / len(fitting))), len(fitting) - 1)]

    def _static(self, formula: Formula) -> bool:
        static = self.task.static  # action predicates are behind those that the domain declares
        atoms = [part.predicate for part in subformulas(formula) if isinstance(part, Atom)]
        return all([predicate < len(static) and static[predicate] for predicate in atoms])
