"""Corrupted witnesses: which of them the report accepts, and which are witnesses by the kernel.

usage: python tests/symbolic/witness_corruption.py --count 1000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "property")]

from worlds_brute import create_kernel  # noqa: E402
from worlds_case import WorldsCase  # noqa: E402
from worlds_compare import create_checker  # noqa: E402
from worlds_generate import generate_worlds_case  # noqa: E402

from plansafe.grammar.source import Source  # noqa: E402
from plansafe.verifier.kernel import KernelLimit, KernelRejects  # noqa: E402
from plansafe.verifier.reporting.confirmation import make_kernel_world  # noqa: E402
from plansafe.verifier.reporting.report import Worlds  # noqa: E402
from plansafe.verifier.reporting.worlds import Completion, OneofOutcomes  # noqa: E402
from plansafe.verifier.symbolic.circuits.solvers import Unsupported  # noqa: E402
from plansafe.verifier.symbolic.invariants.groups import find_restrictions  # noqa: E402
from plansafe.verifier.symbolic.worlds.circuit_report import CircuitReporter  # noqa: E402
from plansafe.verifier.symbolic.worlds.encoding import FactInput  # noqa: E402
from plansafe.verifier.symbolic.worlds.encoding_queries import NoPossibleWorld  # noqa: E402
from plansafe.verifier.symbolic.worlds.reporter import AuditCase, EngineContradiction  # noqa: E402

PROPERTIES = ("executable", "goal", "safe")


def check_corrupted_witnesses(case: WorldsCase, seed: int, count: int) -> Iterator[tuple[bool, bool]]:
    """For each corrupted witness: whether the report accepts it without the kernel, whether the kernel confirms it."""
    rng = random.Random(seed)
    checker = create_checker(case)
    if not checker.ok:
        return
    plan = Source("plan", case.plan)
    read = checker.read(plan)
    groups = find_restrictions(checker.engine.task, checker.compiled.openings, checker.compiled.invariants, False)
    audit = CircuitReporter(AuditCase(checker.compiled, plan, read, checker.confirmer), groups)
    try:
        verdict = audit.queries.decide_verdict()
    except (NoPossibleWorld, Unsupported):
        return
    finally:
        audit.queries.close()
    kernel = create_kernel(case)
    worlds = [verdict.inexecutable_world, verdict.unmet_goal_world, verdict.unsafe_world]
    for _ in range(count):
        property_index = rng.randrange(3)
        world = worlds[property_index] or next((w for w in worlds if w is not None), None)
        if world is None:
            return
        world = _corrupt_world(rng, audit, world)
        audit.failing_worlds.clear()
        try:
            audit.add_failing_world(PROPERTIES[property_index], world)
            # An explicit replay that cannot decide a temporal rule neither confirms nor contradicts the witness.
            if audit.failing_worlds[0].report.safe is Worlds.UNKNOWN:
                continue
            is_accepted = True
        except EngineContradiction:
            is_accepted = False
        kernel_completion = make_kernel_world(checker.compiled, world)
        is_confirmed = kernel.allows(kernel_completion.facts, kernel_completion.numbers)
        if is_confirmed:
            kernel_verdict = kernel.audit(case.plan, kernel_completion, other_readings=())
            is_confirmed = getattr(kernel_verdict, PROPERTIES[property_index]) is False
        yield is_accepted, is_confirmed


def _corrupt_world(rng: random.Random, audit: CircuitReporter, world: Completion) -> Completion:
    """A world with a few facts, numbers and outcomes changed."""
    facts, values, outcomes = set(world.facts), dict(world.values), dict(world.outcomes)
    keys = [key for key in audit.encoding.circuit.keys.values() if isinstance(key, FactInput)]
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        kind = rng.randrange(3)
        if kind == 0 and keys:
            key = rng.choice(keys)
            facts ^= {(key.predicate, key.code)}
        elif kind == 1 and audit.encoding.alternative_counts:
            (step, oneof_number, objects), alternatives = rng.choice(sorted(audit.encoding.alternative_counts.items()))
            default_alternative, exceptions = outcomes[step, oneof_number]
            outcomes[step, oneof_number] = OneofOutcomes(
                default_alternative, exceptions | {objects: rng.randrange(alternatives)}
            )
        elif kind == 2 and values:
            values[rng.choice(sorted(values))] += rng.choice((1, -1, Fraction(1, 2)))
    return world._replace(facts=frozenset(facts), values=values, outcomes=outcomes)


def main() -> int:
    """Corrupt many witnesses; exit code 1 if one is wrongly accepted or rejected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    counts: Counter[tuple[bool, bool]] = Counter()
    number = 0
    while sum(counts.values()) < arguments.count:
        number += 1
        try:
            counts.update(check_corrupted_witnesses(generate_worlds_case("facts", arguments.seed, number), number, 6))
        except (KernelRejects, KernelLimit):
            continue
    print(f"{sum(counts.values())} witnesses of {number} cases: accepted and right {counts[True, True]},")
    print(f"refused and wrong {counts[False, False]}, accepted but wrong {counts[True, False]},")
    print(f"refused but right {counts[False, True]}")
    return 1 if counts[True, False] or counts[False, True] else 0


if __name__ == "__main__":
    sys.exit(main())
