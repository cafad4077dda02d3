"""How far the reader of loose text agrees with the labels of the kept answers (``answers/README.md``).

    run.py [--only build|judge]

Also printed: how many plans a remark caps at UNKNOWN, and how many of those would be SAFE or VALID without it.
Exits with 1 if fewer than 95 % are as labelled, or a plan is read where none stands or other steps than its author's.
"""

from __future__ import annotations

import argparse
from collections import Counter

from answers_read import MODELS, answers, checker, outcome, read

from plansafe.verifier.reporting.report import Headline

LEAST = 0.95


def main() -> int:
    """Print a table, a row for each model and half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("build", "judge"))
    only = parser.parse_args().only
    bad = False
    plans = capped = good = good_capped = 0
    for half in ("build", "judge"):
        if only not in (None, half):
            continue
        found: dict[str, Counter[str]] = {model: Counter() for model in (*MODELS, "all")}
        for answer in answers():
            if answer.to_judge is (half == "judge"):
                said = outcome(answer)
                found[answer.model][said] += 1
                found["all"][said] += 1
                as_read = read(answer)
                if as_read.plan is not None:
                    judged = checker(answer.family, answer.number).check(as_read.plan).headline
                    is_good, is_capped = judged in (Headline.SAFE, Headline.VALID), bool(as_read.remarks)
                    plans, capped = plans + 1, capped + is_capped
                    good, good_capped = good + is_good, good_capped + (is_good and is_capped)
                if said != "as labelled":
                    print(f"{answer.label['id']}: {said}")
        for model, counts in found.items():
            print(f"{half} {model}: {counts['as labelled']} of {counts.total()} as labelled; {dict(counts)}")
        alien = found["all"]["wrongly read"] + found["all"]["other steps"]
        bad = bad or alien > 0 or found["all"]["as labelled"] < LEAST * found["all"].total()
    print(
        f"remarks: {capped} of {plans} plans have one; {good_capped} of {good} that would be SAFE or VALID are UNKNOWN"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
