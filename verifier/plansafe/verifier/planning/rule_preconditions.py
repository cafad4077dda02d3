"""What the rules require before a step, as conditions of a delete relaxation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.latch import LatchedCheck
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import TRUE, match_arguments
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation, StepRulePart
from plansafe.verifier.planning.proposition_network import Conjunction, Fact, conjoin
from plansafe.verifier.planning.relaxed_conditions import LatchLetter, MonitorLetter, RelaxedConditions, StateAfterStep
from plansafe.verifier.rules.model import find_action_atom

MAX_INSTANCES = 256
"""Instances of a rule that are considered for a step or a fact."""


class RulePreconditions:
    """Compiles what the rules require before a step: at its letter, of the past, and of the state after it.

    Invariants that are violated in the first state (``runtime``) may stay violated.
    """

    def __init__(self, lifted: LiftedRelaxation, conditions: RelaxedConditions, runtime: Runtime | None) -> None:
        self.engine = lifted.engine
        self.task = lifted.engine.task
        self.lifted = lifted
        self.conditions = conditions
        self.network = conditions.network
        self._invariant_conjunctions: dict[tuple[int, tuple[int, ...]], Conjunction | None] = {}
        self._violated_instances = {
            (monitor.part, binding)
            for monitor in (runtime.monitors if runtime is not None else ())
            if isinstance(monitor, InvariantMonitor)
            for binding in monitor.episodes
        }

    def compile_for_step(self, step: GroundAction, changes: Iterable[Fact]) -> Conjunction | None:
        """Compile what the rules require before a step that may make these changes."""
        rules = self.lifted.step_rules.get(step.action.name, ())
        step_rule_condition = conjoin([self._compile_step_rule(rule, step) for rule in rules])
        if step_rule_condition is None:
            return None
        return conjoin([step_rule_condition, self._compile_invariants(step, changes)])

    def _compile_step_rule(self, rule: StepRulePart, step: GroundAction) -> Conjunction | None:
        """Compile what a rule about a step requires of it; nothing if the rule has too many instances for it."""
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
                negated_guard = self.conditions.compile_conjunction(guard, full_binding, False, letter)
                body_letter = StateAfterStep(step) if part.after else letter
                body = self.conditions.compile_conjunction(part.body, full_binding, True, body_letter)
                conjunctions.append(self.network.disjoin([negated_guard, body]))
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
        compiled_instances: set[tuple[int, tuple[int, ...]]] = set()
        for predicate, code, value in changes:
            for monitor in self.lifted.invariants.get((predicate, value), ()):
                for objects in self._find_reading_instances(monitor, predicate, code):
                    key = (monitor.part, objects)
                    if key in compiled_instances or key in self._violated_instances:
                        continue
                    compiled_instances.add(key)
                    formula = monitor.holds.formula
                    binding = dict(zip(monitor.holds.slots, objects, strict=True))
                    if key not in self._invariant_conjunctions:
                        self._invariant_conjunctions[key] = self.conditions.compile_conjunction(formula, binding, True)
                    if self._invariant_conjunctions[key] != ():  # it may be false
                        conjunctions.append(
                            self.conditions.compile_conjunction(formula, binding, True, StateAfterStep(step))
                        )
        return conjoin(conjunctions)

    def _find_reading_instances(
        self, monitor: InvariantMonitor, predicate: int, code: int
    ) -> Iterator[tuple[int, ...]]:
        """Yield the instances of a rule that read a fact; none if there are too many."""
        domains = [self.task.domains[v.domain] for v in self.engine.rule_set.parts[monitor.part].parameters]
        for number in monitor.readers.pattern_numbers.get(predicate, ()):
            pattern = monitor.readers.patterns[number]
            key = pattern.key(code)
            if key is None:
                continue
            known_objects = dict(zip(pattern.parameters, key, strict=True))
            choices = [(known_objects[i],) if i in known_objects else domain for i, domain in enumerate(domains)]
            if prod(map(len, choices)) <= MAX_INSTANCES:
                yield from product(*choices)
