"""The delete relaxation of a task: a lower bound and a guide for forward search.

Facts and negated facts are propositions of their own, and nothing is ever deleted (Hoffmann and Nebel 2001). Conditions
become conjunctions, with an auxiliary proposition for each disjunction; numbers and negated derived facts count as
true. What rules demand where a step is taken is part of its condition: of the state before it, of the state that it
leads to (by regression), and of the past, whose operators are propositions too (what a monitor remembers, or what some
step makes it remember). What the rules still demand of the future is part of the goal. So whatever is unreachable here
is unreachable by safe plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.latch import LatchedCheck
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import (
    TRUE,
    And,
    Atom,
    Binding,
    Quantified,
    bind,
)
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

MAX_OPERATORS = 60_000


class DeleteRelaxation:
    """The ground relaxation of a task, from one state on. Raises :class:`LimitReached`.

    The operators of its ``network`` are labelled with numbers of ``steps``. ``own`` maps those that stand for a whole
    step to it.
    """

    def __init__(
        self, lifted: LiftedRelaxation, state: State, runtime: Runtime | None, check: Callable[[], None]
    ) -> None:
        self.engine = lifted.engine
        self.task = lifted.engine.task
        self.network = PropositionNetwork()
        self.conditions = RelaxedConditions(lifted.engine, state.facts, lifted.monitors, self.network)
        self.steps: list[GroundAction] = []
        self.own: dict[int, int] = {}  # the operator of a step's unconditional part -> the step
        self._ground(lifted, state, runtime, check)
        self.goal = self.conditions.conjunction(And(self.task.goal), {}, True)

    def _ground(
        self, lifted: LiftedRelaxation, state: State, runtime: Runtime | None, check: Callable[[], None]
    ) -> None:
        numbers: dict[tuple[str, tuple[int, ...]], int] = {}
        changes: list[dict[Fact, None]] = []
        found: list[tuple[OperatorSchema, tuple[int, ...], int, list[Fact]]] = []
        for schema, objects in lifted.reachable_bindings(state):
            if len(found) > MAX_OPERATORS:
                raise LimitReached(LimitKind.GROUND_TASK)
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
                condition = conjoin([condition, demands[label]])
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

    def true_propositions(self, state: State, runtime: Runtime | None) -> list[int]:
        """The propositions that hold now."""
        facts = state.facts
        out = [n for (predicate, code, value), n in self.network.facts.items() if (code in facts[predicate]) == value]
        if runtime is not None:
            out += self.conditions.remembered(runtime)
        return out


MAX_OPEN = 256


class RuleDemands:
    """The rules of a task, from one state on. What was wrong then is not counted, and may stay wrong (``runtime``)."""

    def __init__(self, lifted: LiftedRelaxation, conditions: RelaxedConditions, runtime: Runtime | None) -> None:
        self.engine = lifted.engine
        self.task = lifted.engine.task
        self.lifted = lifted
        self.conditions = conditions
        self.network = conditions.network
        self._plain: dict[tuple[int, tuple[int, ...]], Conjunction | None] = {}
        self._excused = {
            (m.part, binding)
            for m in (runtime.monitors if runtime is not None else ())
            if isinstance(m, Invariant)
            for binding in m.episodes
        }

    def of(self, step: GroundAction, changes: Iterable[Fact]) -> Conjunction | None:
        """What the rules demand before a step that may make these changes."""
        by_step = conjoin([self._demand(demand, step) for demand in self.lifted.demands.get(step.action.name, ())])
        return None if by_step is None else conjoin([by_step, self._kept(step, changes)])

    def _demand(self, demand: StepRulePart, step: GroundAction) -> Conjunction | None:
        part = demand.part
        assert part.step is not None
        atom = part.step.body if isinstance(part.step, Quantified) else part.step
        assert isinstance(atom, Atom)
        declared = {v.slot: v for v in part.parameters}
        binding: Binding = {}
        for argument, given in zip(atom.arguments, step.objects, strict=True):
            slot = -1 - argument
            if argument >= 0:
                if argument != given:
                    return ()
            elif slot in declared:
                variable = declared[slot]
                if given not in self.task.domain_sets[variable.domain] or binding.setdefault(slot, given) != given:
                    return ()
        rest = [v for v in part.parameters if v.slot not in binding]
        total = 1
        for variable in rest:
            total *= len(self.task.domains[variable.domain])
        if total > MAX_OPEN:
            return ()
        guard = TRUE if part.guard is None else part.guard
        action_fact = self.engine.action_fact("start", step)
        out: list[Conjunction | None] = []
        for full in self.task.bindings(rest, binding):
            if demand.check is not None:
                where: LatchLetter | StateAfterStep | None = StateAfterStep(step) if part.after else None
                if isinstance(demand.check, LatchedCheck):
                    where = LatchLetter(demand.check, action_fact)
                unguarded = self.conditions.conjunction(guard, full, False)
                out.append(self.network.any([unguarded, self.conditions.conjunction(part.body, full, True, where)]))
            elif not part.after:
                monitor = self.lifted.monitors[demand.number]
                assert isinstance(monitor, Automaton)
                objects = tuple([full[v.slot] for v in part.parameters])
                own = MonitorLetter(demand.number, monitor.program, objects, action_fact)
                out.append(self.conditions.conjunction(monitor.program.formula, full, True, own))
        return conjoin(out)

    def _kept(
        self,
        step: GroundAction,
        changes: Iterable[Fact],
    ) -> Conjunction | None:
        """What the rules about single states demand, before a step, of the state after it."""
        out: list[Conjunction | None] = []
        seen: set[tuple[int, tuple[int, ...]]] = set()
        for predicate, code, value in changes:
            for monitor in self.lifted.invariants.get((predicate, value), ()):
                for objects in self._concerned(monitor, predicate, code):
                    key = (monitor.part, objects)
                    if key in seen or key in self._excused:
                        continue
                    seen.add(key)
                    binding = dict(zip(monitor.holds.slots, objects, strict=True))
                    if key not in self._plain:
                        self._plain[key] = self.conditions.conjunction(monitor.holds.formula, binding, True)
                    if self._plain[key] != ():
                        out.append(
                            self.conditions.conjunction(monitor.holds.formula, binding, True, StateAfterStep(step))
                        )
        return conjoin(out)

    def _concerned(self, monitor: Invariant, predicate: int, code: int) -> Iterator[tuple[int, ...]]:
        """The bindings of a rule that read a fact; none where there are too many to look at each."""
        domains = [self.task.domains[v.domain] for v in self.engine.rule_set.parts[monitor.part].parameters]
        for number in monitor.readers.by_predicate.get(predicate, ()):
            pattern = monitor.readers.patterns[number]
            found = pattern.key(code)
            if found is None:
                continue
            known = dict(zip(pattern.parameters, found, strict=True))
            choices = [(known[i],) if i in known else domain for i, domain in enumerate(domains)]
            total = 1
            for choice in choices:
                total *= len(choice)
            if total <= MAX_OPEN:
                yield from product(*choices)
