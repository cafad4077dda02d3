"""Random goals: the translation against the definition, and against ``bddl`` if it is installed.

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
    true = 0
    for number in range(options.count):
        case = random_case(rng)
        value = defined(case)
        true += value
        others = {"translation": translated(case)}
        if package:
            others["bddl"] = evaluated_by_bddl(case)
        for name, other in others.items():
            if other != value:
                print(f"case {number}: {name} says {other}, the definition {value}\n{case.text()}")
                return 1
    print(f"{options.count} goals ({true} hold): translation and definition agree; {package or 'no bddl installed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
