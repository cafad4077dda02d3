"""Compare the reader of loose text with the labels of the stored answers (``answers/README.md``).

    run.py [--only build|judge]

It also prints the number of plans that a remark caps at UNKNOWN, and how many of them would be SAFE or VALID without
it. The exit code is 1 if fewer than 95 % are as labelled, or if a plan or step is read that the author did not write.
"""

from __future__ import annotations

import argparse
from collections import Counter

from answers_read import MODELS, answers, checker, outcome, read

from plansafe.verifier.reporting.report import Headline

LEAST = 0.95


def main() -> int:
    """Print a row for each model and half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("build", "judge"))
    only = parser.parse_args().only
    failed = False
    plans = capped = good_plans = good_capped = 0
    for half in ("build", "judge"):
        if only not in (None, half):
            continue
        outcomes: dict[str, Counter[str]] = {model: Counter() for model in (*MODELS, "all")}
        for answer in answers():
            if answer.to_judge is (half == "judge"):
                reading_outcome = outcome(answer)
                outcomes[answer.model][reading_outcome] += 1
                outcomes["all"][reading_outcome] += 1
                as_read = read(answer)
                if as_read.plan is not None:
                    headline = checker(answer.family, answer.number).check(as_read.plan).headline
                    is_good, is_capped = headline in (Headline.SAFE, Headline.VALID), bool(as_read.remarks)
                    plans, capped = plans + 1, capped + is_capped
                    good_plans, good_capped = good_plans + is_good, good_capped + (is_good and is_capped)
                if reading_outcome != "as labelled":
                    print(f"{answer.label['id']}: {reading_outcome}")
        for model, counts in outcomes.items():
            print(f"{half} {model}: {counts['as labelled']} of {counts.total()} as labelled; {dict(counts)}")
        misread = outcomes["all"]["wrongly read"] + outcomes["all"]["other steps"]
        failed = failed or misread > 0 or outcomes["all"]["as labelled"] < LEAST * outcomes["all"].total()
    print(
        f"remarks: {capped} of {plans} plans have one;"
        f" {good_capped} of {good_plans} that would be SAFE or VALID are UNKNOWN"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
