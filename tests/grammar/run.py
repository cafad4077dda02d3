"""Search for differences between grammars and readers: ``python tests/grammar/run.py [FIRST_SEED [LAST_SEED]]``.

Prints every difference that no exception explains, and how often each exception explained one. Exits with 1 if there
is an unexplained difference.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

from shape_compare import unexplained_difference
from shape_generate import generate_task
from shape_judge import Task
from shape_mutate import mutate

from plansafe.grammar.expected_syntax import GRAMMAR_FILES


def main(first: int = 0, last: int = 1000) -> int:
    used_exceptions: Counter[str] = Counter()
    tested = failed = 0
    for seed in range(first, last):
        task = generate_task(seed)
        random = Random(seed)
        for kind in GRAMMAR_FILES:
            for _ in range(5):
                tested += 1
                difference = unexplained_difference(
                    kind, mutate(getattr(task, kind), random), Task(task.domain, task.problem), used_exceptions
                )
                if difference is not None:
                    failed += 1
                    print(f"seed {seed}, {kind}: {difference}".encode("ascii", "backslashreplace").decode())
    print(f"{tested} mutants, {failed} unexplained differences")
    for name, count in used_exceptions.most_common():
        print(f"{count:6}  {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*[int(argument) for argument in sys.argv[1:3]]))
