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
    broken_count = held_count = exact_count = rejected_domains = 0
    inference_seconds = 0.0
    for number in range(options.count):
        random = Random(f"{options.seed} {number}")
        domain_text = random_domain(random)
        try:
            task = compile_domain(domain_text, OBJECTS)
        except AssertionError:
            rejected_domains += 1
            continue
        started = time.perf_counter()
        invariants = infer_invariants(task)
        inference_seconds += time.perf_counter() - started
        for invariant in invariants:
            counterexample = find_counterexample(task, invariant, random, options.states, options.steps)
            held_count += counterexample is None
            exact_count += invariant.exact
            if counterexample is not None:
                broken_count += 1
                print(f"{options.seed} {number}: {describe_invariant(task, invariant)}")
                print(f"  {counterexample}\n  {domain_text}")
    checked = options.count - rejected_domains
    print(f"{checked} domains ({rejected_domains} refused), {held_count} invariants held,", end=" ")
    print(f"{exact_count} of all exact, {broken_count} broken")
    print(f"inference: {1000 * inference_seconds / max(checked, 1):.1f} ms a domain")
    return 1 if broken_count else 0


if __name__ == "__main__":
    raise SystemExit(main())
