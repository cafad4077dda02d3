"""The delete relaxation of a task: a lower bound and guidance for forward search.

Facts and negated facts are separate propositions, and nothing is ever deleted (Hoffmann and Nebel 2001). Conditions
become conjunctions, with an auxiliary proposition for each disjunction; numbers and negated derived facts count as
true. What the rules require of a step is part of its condition: on the state before it, on the state after it (by
regression), and on the past, whose operators are propositions as well (what a monitor remembers, or what a step makes
it remember). Pending obligations are part of the goal. So whatever is unreachable here is unreachable by safe plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import prod

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.latch import LatchedCheck
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import TRUE, And, bind, match_arguments
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation, OperatorSchema, StepRulePart
from plansafe.verifier.planning.relaxed_conditions import (
    Conjunction,
    Fact,
    LatchLetter,
    MonitorLetter,
    PropositionNetwork,
    RelaxedConditions,
    StateAfterStep,
    conjoin,
)
from plansafe.verifier.rules.model import find_action_atom

MAX_OPERATORS = 60_000
"""Maximum number of operators of a grounded relaxation."""
MAX_INSTANCES = 256
"""Instances of a rule that are considered for a step or a fact."""


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
        labels: dict[tuple[str, tuple[int, ...]], int] = {}
        changes: list[dict[Fact, None]] = []
        operators: list[tuple[OperatorSchema, tuple[int, ...], int, list[Fact]]] = []
        for schema, objects in lifted.find_reachable_bindings(state):
            if len(operators) > MAX_OPERATORS:
                raise LimitReached(LimitKind.GROUND_TASK)
            if len(operators) % 256 == 0:
                check_time()
            binding = bind(schema.parameters, objects)
            code_of = self.task.code_of
            added = [(atom.predicate, code_of(atom.arguments, binding)) for atom in schema.adds]
            deleted = [(atom.predicate, code_of(atom.arguments, binding)) for atom in schema.deletes]
            facts = [(*fact, True) for fact in added]
            facts += [(*fact, False) for fact in deleted if fact not in added]  # deleted and added facts are true
            label = -1
            if schema.action is not None:
                parameters = objects[: len(schema.action.parameters)]
                label = labels.setdefault((schema.action.name, parameters), len(self.steps))
                if label == len(self.steps):
                    self.steps.append(GroundAction(schema.action, parameters))
                    changes.append({})
                changes[label].update(dict.fromkeys(facts))
            operators.append((schema, objects, label, facts))
        rules = RulePreconditions(lifted, self.conditions, runtime)
        preconditions: list[Conjunction | None] = []
        for step, step_changes in zip(self.steps, changes, strict=True):
            if len(preconditions) % 64 == 0:
                check_time()
            preconditions.append(rules.compile_for_step(step, step_changes))
        for count, (schema, objects, label, facts) in enumerate(operators):
            if count % 256 == 0:
                check_time()
            condition = self.conditions.compile_conjunction(
                And(schema.condition), bind(schema.parameters, objects), True
            )
            if label >= 0:
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

    def list_true_propositions(self, state: State, runtime: Runtime | None) -> list[int]:
        """List the propositions that are true in a state and the memory of the rules."""
        facts = state.facts
        true = [n for (predicate, code, value), n in self.network.facts.items() if (code in facts[predicate]) == value]
        if runtime is not None:
            true += self.conditions.list_remembered(runtime)
        return true


class RulePreconditions:
    """What the rules require before a step: at its letter, of the past, and of the state after it.

    Invariants that are violated in the first state (``runtime``) may stay violated.
    """

    def __init__(self, lifted: LiftedRelaxation, conditions: RelaxedConditions, runtime: Runtime | None) -> None:
        self.engine = lifted.engine
        self.task = lifted.engine.task
        self.lifted = lifted
        self.conditions = conditions
        self.network = conditions.network
        self._invariants: dict[tuple[int, tuple[int, ...]], Conjunction | None] = {}
        self._violated = {
            (monitor.part, binding)
            for monitor in (runtime.monitors if runtime is not None else ())
            if isinstance(monitor, InvariantMonitor)
            for binding in monitor.episodes
        }

    def compile_for_step(self, step: GroundAction, changes: Iterable[Fact]) -> Conjunction | None:
        """Compile what the rules require before a step that may make these changes."""
        rules = self.lifted.step_rules.get(step.action.name, ())
        step_rule_conditions = conjoin([self._compile_step_rule(rule, step) for rule in rules])
        return (
            None
            if step_rule_conditions is None
            else conjoin([step_rule_conditions, self._compile_invariants(step, changes)])
        )

    def _compile_step_rule(self, rule: StepRulePart, step: GroundAction) -> Conjunction | None:
        part = rule.part
        assert part.step is not None
        domains = {v.slot: self.task.domain_sets[v.domain] for v in part.parameters}
        binding = match_arguments(find_action_atom(part.step).arguments, step.objects, domains)
        if binding is None:
            return ()
        free_variables = [v for v in part.parameters if v.slot not in binding]
        if prod([len(self.task.domains[v.domain]) for v in free_variables]) > MAX_INSTANCES:
            return ()
        guard = TRUE if part.guard is None else part.guard
        action_fact = self.engine.find_action_fact("start", step)
        conjunctions: list[Conjunction | None] = []
        for full_binding in self.task.bindings(free_variables, binding):
            if rule.check is not None:
                letter = LatchLetter(rule.check, action_fact) if isinstance(rule.check, LatchedCheck) else None
                guard_fails = self.conditions.compile_conjunction(guard, full_binding, False, letter)
                body_letter = StateAfterStep(step) if part.after else letter
                body = self.conditions.compile_conjunction(part.body, full_binding, True, body_letter)
                conjunctions.append(self.network.disjoin([guard_fails, body]))
            elif not part.after:
                assert rule.automaton_number is not None
                monitor = self.lifted.monitors[rule.automaton_number]
                assert isinstance(monitor, Automaton)
                objects = tuple([full_binding[v.slot] for v in part.parameters])
                monitor_letter = MonitorLetter(rule.automaton_number, monitor.program, objects, action_fact)
                conjunctions.append(
                    self.conditions.compile_conjunction(monitor.program.formula, full_binding, True, monitor_letter)
                )
        return conjoin(conjunctions)

    def _compile_invariants(self, step: GroundAction, changes: Iterable[Fact]) -> Conjunction | None:
        """Compile what the invariants require before a step so that they hold in the state after it."""
        conjunctions: list[Conjunction | None] = []
        required: set[tuple[int, tuple[int, ...]]] = set()
        for predicate, code, value in changes:
            for monitor in self.lifted.invariants.get((predicate, value), ()):
                for objects in self._find_reading_instances(monitor, predicate, code):
                    key = (monitor.part, objects)
                    if key in required or key in self._violated:
                        continue
                    required.add(key)
                    formula, binding = monitor.holds.formula, dict(zip(monitor.holds.slots, objects, strict=True))
                    if key not in self._invariants:
                        self._invariants[key] = self.conditions.compile_conjunction(formula, binding, True)
                    if self._invariants[key] != ():
                        conjunctions.append(
                            self.conditions.compile_conjunction(formula, binding, True, StateAfterStep(step))
                        )
        return conjoin(conjunctions)

    def _find_reading_instances(
        self, monitor: InvariantMonitor, predicate: int, code: int
    ) -> Iterator[tuple[int, ...]]:
        """The instances of a rule that read a fact; none if there are too many."""
        domains = [self.task.domains[v.domain] for v in self.engine.rule_set.parts[monitor.part].parameters]
        for number in monitor.readers.pattern_numbers.get(predicate, ()):
            pattern = monitor.readers.patterns[number]
            key = pattern.key(code)
            if key is None:
                continue
            objects = dict(zip(pattern.parameters, key, strict=True))
            choices = [(objects[i],) if i in objects else domain for i, domain in enumerate(domains)]
            if prod(map(len, choices)) <= MAX_INSTANCES:
                yield from product(*choices)
