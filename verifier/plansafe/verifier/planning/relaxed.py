"""The delete relaxation of a task: a lower bound and a guide for forward search.

Facts and negated facts are propositions of their own, and nothing is ever deleted (Hoffmann and Nebel 2001). Conditions
become conjunctions, with an auxiliary proposition for each disjunction; numbers and negated derived facts count as
true. What rules demand where a step is taken is part of its condition: of the state before it, of the state that it
leads to (by regression), and of the past, whose operators are propositions too (what a monitor remembers, or what some
step makes it remember). What the rules still demand of the future is part of the goal. So whatever is unreachable here
is unreachable by safe plans.
"""

from __future__ import annotations

from collections.abc import Callable

from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import Limited, LimitReached
from plansafe.verifier.model.nodes import (
    And,
    bind,
)
from plansafe.verifier.planning.lifted import Lifted, Schema
from plansafe.verifier.planning.network import Conjunction, Fact, Network, all_of
from plansafe.verifier.planning.relaxed_conditions import Conditions
from plansafe.verifier.planning.rule_demands import RuleDemands

MAX_OPERATORS = 60_000


class Relaxed:
    """The ground relaxation of a task, from one state on. Raises :class:`LimitReached`.

    The operators of its ``network`` are labelled with numbers of ``steps``. ``own`` maps those that stand for a whole
    step to it.
    """

    def __init__(self, lifted: Lifted, state: State, runtime: Runtime | None, check: Callable[[], None]) -> None:
        self.engine = lifted.engine
        self.task = lifted.engine.task
        self.network = Network()
        self.conditions = Conditions(lifted.engine, state.facts, lifted.monitors, self.network)
        self.steps: list[GroundAction] = []
        self.own: dict[int, int] = {}  # the operator of a step's unconditional part -> the step
        self._ground(lifted, state, runtime, check)
        self.goal = self.conditions.conjunction(And(self.task.goal), {}, True)

    def _ground(self, lifted: Lifted, state: State, runtime: Runtime | None, check: Callable[[], None]) -> None:
        numbers: dict[tuple[str, tuple[int, ...]], int] = {}
        changes: list[dict[Fact, None]] = []
        found: list[tuple[Schema, tuple[int, ...], int, list[Fact]]] = []
        for schema, objects in lifted.reachable(state):
            if len(found) > MAX_OPERATORS:
                raise LimitReached(Limited.GROUND_TASK)
            if len(found) % 256 == 0:
                check()
            binding = bind(schema.parameters, objects)
            code_of = self.task.code_of
            added = [(a.predicate, code_of(a.arguments, binding)) for a in schema.adds]
            deleted = [(a.predicate, code_of(a.arguments, binding)) for a in schema.deletes]
            facts = [(*fact, True) for fact in added]
            facts += [(*fact, False) for fact in deleted if fact not in added]  # what is added, too, stays true
            label = -1
            if schema.action is not None:
                own = objects[: len(schema.action.parameters)]
                label = numbers.setdefault((schema.action.name, own), len(self.steps))
                if label == len(self.steps):
                    self.steps.append(GroundAction(schema.action, own))
                    changes.append({})
                changes[label].update(dict.fromkeys(facts))
            found.append((schema, objects, label, facts))
        rules = RuleDemands(lifted, self.conditions, runtime)
        demands: list[Conjunction | None] = []
        for step, changed in zip(self.steps, changes, strict=True):
            if len(demands) % 64 == 0:
                check()
            demands.append(rules.of(step, changed))
        for count, (schema, objects, label, facts) in enumerate(found):
            if count % 256 == 0:
                check()
            condition = self.conditions.conjunction(And(schema.condition), bind(schema.parameters, objects), True)
            if label >= 0:
                condition = all_of([condition, demands[label]])
            if condition is None:
                continue
            number = self.network.operator(condition, label)
            for fact in facts:
                self.network.achieves(number, fact)
            if schema.action is not None and schema.condition is schema.action.start.condition:
                self.own[number] = label
                action_fact = self.engine.action_fact("start", self.steps[label])
                if action_fact is not None:
                    self.network.achieves(number, (*action_fact, True))

    def holding(self, state: State, runtime: Runtime | None) -> list[int]:
        """The propositions that hold now."""
        facts = state.facts
        out = [n for (predicate, code, value), n in self.network.facts.items() if (code in facts[predicate]) == value]
        if runtime is not None:
            out += self.conditions.remembered(runtime)
        return out
