"""What the rules demand where a step is taken: of its letter, of the past, and of the state that it leads to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.latch import LatchedCheck
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import (
    TRUE,
    Atom,
    Binding,
    Quantified,
)
from plansafe.verifier.planning.lifted import Demand, Lifted
from plansafe.verifier.planning.network import Conjunction, Fact, all_of
from plansafe.verifier.planning.relaxed_conditions import After, Asking, Conditions, Where

MAX_OPEN = 256


class RuleDemands:
    """The rules of a task, from one state on. What was wrong then is not counted, and may stay wrong (``runtime``)."""

    def __init__(self, lifted: Lifted, conditions: Conditions, runtime: Runtime | None) -> None:
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
        by_step = all_of([self._demand(demand, step) for demand in self.lifted.demands.get(step.action.name, ())])
        return None if by_step is None else all_of([by_step, self._kept(step, changes)])

    def _demand(self, demand: Demand, step: GroundAction) -> Conjunction | None:
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
                where: Asking | After | None = After(step) if part.after else None
                if isinstance(demand.check, LatchedCheck):
                    where = Asking(demand.check, action_fact)
                unguarded = self.conditions.conjunction(guard, full, False)
                out.append(self.network.any([unguarded, self.conditions.conjunction(part.body, full, True, where)]))
            elif not part.after:
                monitor = self.lifted.monitors[demand.number]
                assert isinstance(monitor, Automaton)
                objects = tuple([full[v.slot] for v in part.parameters])
                own = Where(demand.number, monitor.program, objects, action_fact)
                out.append(self.conditions.conjunction(monitor.program.formula, full, True, own))
        return all_of(out)

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
                        out.append(self.conditions.conjunction(monitor.holds.formula, binding, True, After(step)))
        return all_of(out)

    def _concerned(self, monitor: Invariant, predicate: int, code: int) -> Iterator[tuple[int, ...]]:
        """The bindings of a rule that read a fact; none where there are too many to look at each."""
        domains = [self.task.domains[v.domain] for v in self.engine.plan.parts[monitor.part].parameters]
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
