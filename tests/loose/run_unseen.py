"""Count the reader's outcomes on answers by writers who had not seen it (``unseen/README.md``).

    run_unseen.py [--only retractions|chatty|formats]

The exit code is 1 if a retraction is SAFE, or if wrong steps are read without a remark.
"""

from __future__ import annotations

import argparse
from collections import Counter

from unseen_answers import KINDS, SETS, Outcome, answers, reading, verdict


def main() -> int:
    """Print a row for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=KINDS)
    only = parser.parse_args().only
    failed = False
    for kind in KINDS:
        for number in SETS if only in (None, kind) else ():
            counts: Counter[str] = Counter()
            for answer in answers(kind, number):
                if kind != "formats":
                    outcome = verdict(answer)
                    counts[outcome] += 1
                    failed = failed or (kind == "retractions" and outcome is Outcome.SAFE)
                    continue
                outcome, read = reading(answer)
                expected = "no plan" if answer["steps"] is None else "plan"
                counts[f"{expected}: {outcome}{', with a remark' if read.remarks else ''}"] += 1
                failed = failed or (outcome is Outcome.OTHER_STEPS and not read.remarks)
            print(f"{kind}-{number}: {', '.join(f'{count} {name}' for name, count in sorted(counts.items()))}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
