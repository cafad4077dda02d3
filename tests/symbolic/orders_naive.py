"""The naive encoding of a partially ordered plan, as a baseline: positions of steps, and all facts at all positions."""

from __future__ import annotations

import time

import z3
from orders_large import LargePlan

from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Atom


def audit_with_positions(large_plan: LargePlan, limit: float) -> tuple[str, float]:
    """The value of ``safe`` for the rule ``never-alone`` alone, and the seconds that Z3 took."""
    checker, steps = large_plan.compiled()
    task, size = checker.engine.task, len(steps)
    on, attended = [next(i for i, p in enumerate(task.predicates) if p.name == name) for name in ("on", "attended")]
    started = time.monotonic()
    solver = z3.Solver()
    solver.set("timeout", int(limit * 1000))
    positions = [z3.Int(f"place{i}") for i in range(size)]
    solver.add(z3.Distinct(positions), *[z3.And(p >= 0, p < size) for p in positions])
    solver.add(*[positions[a - 1] < positions[b - 1] for a, b in large_plan.pairs])
    writers_by_fact: dict[tuple[int, int], list[tuple[int, bool]]] = {}
    for number, step in enumerate(steps):
        assert isinstance(step, GroundAction)
        for effect in step.action.start.effects:
            for atoms, value in ((effect.deletes, False), (effect.adds, True)):
                for atom in atoms:
                    writers_by_fact.setdefault(_fact(task.encode, atom, step), []).append((number, value))
    values = {fact: [z3.Bool(f"f{fact[0]}_{fact[1]}_{i}") for i in range(size + 1)] for fact in writers_by_fact}
    for (predicate, code), row in values.items():
        solver.add(row[0] == (code in task.initial_facts[predicate]))
        for i in range(size):
            value = row[i]
            for number, makes in writers_by_fact[predicate, code]:
                value = z3.If(positions[number] == i, z3.BoolVal(makes), value)
            solver.add(row[i + 1] == value)
    left_alone = [z3.And(values[on, 0][i], z3.Not(values[attended, 0][i])) for i in range(size + 1)]
    solver.add(z3.Or(left_alone))
    answer = {"sat": "SOME", "unsat": "ALL"}.get(str(solver.check()), "UNKNOWN")
    return answer, time.monotonic() - started


def _fact(encode: object, atom: Atom, step: GroundAction) -> tuple[int, int]:
    binding = dict(zip([v.slot for v in step.action.parameters], step.objects, strict=True))
    arguments = tuple([a if a >= 0 else binding[-1 - a] for a in atom.arguments])
    return atom.predicate, encode(arguments)  # type: ignore[operator]
