"""Compare the translation of random goals with the definition, and with ``bddl`` if it is installed.

python tests/domains/behavior/run_quantifiers.py --count 2000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import sys

from quantifier_cases import random_case
from quantifier_compare import defined, evaluated_by_bddl, translated


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    try:
        import bddl

        package = f"bddl at {bddl.__path__[0]}"
    except ImportError:
        package = ""
    holding = 0
    for number in range(options.count):
        case = random_case(rng)
        expected = defined(case)
        holding += expected
        results = {"translation": translated(case)}
        if package:
            results["bddl"] = evaluated_by_bddl(case)
        for name, result in results.items():
            if result != expected:
                print(f"case {number}: {name} says {result}, the definition {expected}\n{case.text()}")
                return 1
    print(f"{options.count} goals ({holding} hold): translation and definition agree; {package or 'no bddl installed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
