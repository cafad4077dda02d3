"""The delete relaxation of a task: a lower bound and guidance for forward search.

Facts and negated facts are separate propositions, and nothing is ever deleted (Hoffmann and Nebel 2001). Conditions
become conjunctions, with an auxiliary proposition for each disjunction; numbers and negated derived facts count as
true. What the rules require of a step is part of its condition: on the state before it, on the state after it (by
regression), and on the past, whose operators are propositions as well (what a monitor remembers, or what a step makes
it remember). Pending obligations are part of the goal. So whatever is unreachable here is unreachable by safe plans.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import And, bind
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation, OperatorSchema
from plansafe.verifier.planning.proposition_network import NO_STEP, Conjunction, Fact, PropositionNetwork, conjoin
from plansafe.verifier.planning.relaxed_conditions import RelaxedConditions
from plansafe.verifier.planning.rule_preconditions import RulePreconditions

MAX_OPERATORS = 60_000
"""Maximum number of operators of a grounded relaxation."""
_OPERATORS_PER_CHECK, _STEPS_PER_CHECK = 256, 64
"""The work between two checks of the time."""


class _GroundOperator(NamedTuple):
    """An operator schema with its objects, the index of its step (or :data:`NO_STEP`), and the facts that it gives."""

    schema: OperatorSchema
    objects: tuple[int, ...]
    label: int
    facts: list[Fact]


class DeleteRelaxation:
    """The ground relaxation of a task from one state on. Raises :class:`LimitReached`.

    The operators of its ``network`` are labelled with indexes into ``steps``. ``step_of_operator`` maps the operators
    of the steps' unconditional effects to these indexes.
    """

    def __init__(
        self, lifted: LiftedRelaxation, state: State, runtime: Runtime | None, check_time: Callable[[], None]
    ) -> None:
        self.engine = lifted.engine
        self.task = lifted.engine.task
        self.network = PropositionNetwork()
        self.conditions = RelaxedConditions(lifted.engine, state.facts, lifted.monitors, self.network)
        self.steps: list[GroundAction] = []
        self.step_of_operator: dict[int, int] = {}
        self._ground(lifted, state, runtime, check_time)
        self.goal = self.conditions.compile_conjunction(And(self.task.goal), {}, True)

    def _ground(
        self, lifted: LiftedRelaxation, state: State, runtime: Runtime | None, check_time: Callable[[], None]
    ) -> None:
        """Add the operators of the reachable actions, effects and axioms to the network."""
        operators, changes = self._list_operators(lifted, state, check_time)
        rules = RulePreconditions(lifted, self.conditions, runtime)
        preconditions: list[Conjunction | None] = []
        for step, step_changes in zip(self.steps, changes, strict=True):
            if len(preconditions) % _STEPS_PER_CHECK == 0:
                check_time()
            preconditions.append(rules.compile_for_step(step, step_changes))
        for count, (schema, objects, label, facts) in enumerate(operators):
            if count % _OPERATORS_PER_CHECK == 0:
                check_time()
            binding = bind(schema.parameters, objects)
            condition = self.conditions.compile_conjunction(And(schema.condition), binding, True)
            if label != NO_STEP:
                condition = conjoin([condition, preconditions[label]])
            if condition is None:
                continue
            operator = self.network.add_operator(condition, label)
            for fact in facts:
                self.network.add_effect(operator, fact)
            if schema.action is not None and schema.condition is schema.action.start.condition:
                self.step_of_operator[operator] = label
                action_fact = self.engine.find_action_fact("start", self.steps[label])
                if action_fact is not None:
                    self.network.add_effect(operator, (*action_fact, True))

    def _list_operators(
        self, lifted: LiftedRelaxation, state: State, check_time: Callable[[], None]
    ) -> tuple[list[_GroundOperator], list[dict[Fact, None]]]:
        """List the reachable operators, and the changes that each of their steps may make; adds these steps."""
        operators: list[_GroundOperator] = []
        changes: list[dict[Fact, None]] = []
        labels: dict[tuple[str, tuple[int, ...]], int] = {}
        code_of = self.task.code_of
        for schema, objects in lifted.find_reachable_bindings(state):
            if len(operators) > MAX_OPERATORS:
                raise LimitReached(LimitKind.GROUND_TASK)
            if len(operators) % _OPERATORS_PER_CHECK == 0:
                check_time()
            binding = bind(schema.parameters, objects)
            added_facts = [(atom.predicate, code_of(atom.arguments, binding)) for atom in schema.adds]
            deleted_facts = [(atom.predicate, code_of(atom.arguments, binding)) for atom in schema.deletes]
            facts = [(*fact, True) for fact in added_facts]
            # A fact that is deleted and added is true.
            facts += [(*fact, False) for fact in deleted_facts if fact not in added_facts]
            label = NO_STEP
            if schema.action is not None:
                parameters = objects[: len(schema.action.parameters)]
                label = labels.setdefault((schema.action.name, parameters), len(self.steps))
                if label == len(self.steps):
                    self.steps.append(GroundAction(schema.action, parameters))
                    changes.append({})
                changes[label].update(dict.fromkeys(facts))
            operators.append(_GroundOperator(schema, objects, label, facts))
        return operators, changes

    def list_true_propositions(self, state: State, runtime: Runtime | None) -> list[int]:
        """List the propositions that are true in a state and the memory of the rules."""
        facts = state.facts
        true_propositions = [
            proposition
            for (predicate, code, value), proposition in self.network.facts.items()
            if (code in facts[predicate]) == value
        ]
        if runtime is not None:
            true_propositions += self.conditions.list_memory_propositions(runtime)
        return true_propositions
