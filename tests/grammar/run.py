"""Look for differences of grammars and readers: ``python tests/grammar/run.py [FIRST [LAST]]``, a range of seeds.

Prints every difference that no exception explains, how often each exception was needed, and exits with 1 if there
is any difference.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

from shape_compare import unexplained
from shape_generate import texts
from shape_judge import Task
from shape_mutate import mutant

from plansafe.grammar.expected_syntax import KINDS


def main(first: int = 0, last: int = 1000) -> int:
    used: Counter[str] = Counter()
    tried = failed = 0
    for seed in range(first, last):
        made = texts(seed)
        random = Random(seed)
        for kind in KINDS:
            for _ in range(5):
                tried += 1
                why = unexplained(kind, mutant(getattr(made, kind), random), Task(made.domain, made.problem), used)
                if why is not None:
                    failed += 1
                    print(f"seed {seed}, {kind}: {why}".encode("ascii", "backslashreplace").decode())
    print(f"{tried} mutants, {failed} unexplained differences")
    for name, count in used.most_common():
        print(f"{count:6}  {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*[int(argument) for argument in sys.argv[1:3]]))
