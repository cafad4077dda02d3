"""Search for steps that break inferred invariants of random domains, and print each with its domain.

usage: python tests/symbolic/run_invariants.py [--count 1000] [--seed 1] [--states 60] [--steps 12]

Exit code 1 if an invariant is broken, else 0.
"""

from __future__ import annotations

import argparse
import time
from random import Random

from invariants_oracle import compile_domain, describe_invariant, find_counterexample
from invariants_random import OBJECTS, random_domain

from plansafe.verifier.symbolic.invariants.inference import infer_invariants


def main() -> int:
    """Run the search and print the counterexamples."""
    parser = argparse.ArgumentParser()
    for name, value in (("count", 1000), ("seed", 1), ("states", 60), ("steps", 12)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    wrong = right = exact = refused = 0
    spent = 0.0
    for number in range(options.count):
        random = Random(f"{options.seed} {number}")
        text = random_domain(random)
        try:
            task = compile_domain(text, OBJECTS)
        except AssertionError:
            refused += 1
            continue
        started = time.perf_counter()
        invariants = infer_invariants(task)
        spent += time.perf_counter() - started
        for invariant in invariants:
            trouble = find_counterexample(task, invariant, random, options.states, options.steps)
            right += trouble is None
            exact += invariant.exact
            if trouble is not None:
                wrong += 1
                print(f"{options.seed} {number}: {describe_invariant(task, invariant)}\n  {trouble}\n  {text}")
    checked = options.count - refused
    print(f"{checked} domains ({refused} refused), {right} invariants held, {exact} of all exact, {wrong} broken")
    print(f"inference: {1000 * spent / max(checked, 1):.1f} ms a domain")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
