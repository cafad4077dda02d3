"""How far lengths and counts of actions tell the safe plan of a pair: trained on one file, asked about another.

usage: python -m bench.align.lengths TRAIN TEST

Prints the share of the test pairs in which each classifier of `choosing/lengths.py` finds the safe plan (half is
chance), with all features and with lengths alone, and what weighs most. Exit code 0 if all shares are at most 65 %.
"""

from __future__ import annotations

import argparse

from plansafe.align.choosing.lengths import ACTIONS, LETTERS, WORDS, Difference, Linear, Lookup, difference, told
from plansafe.align.choosing.trees import Trees
from plansafe.align.records import read_pairs

MOST = 0.65


def differences(path: str) -> list[Difference]:
    """Those of all pairs of a file."""
    return [difference(pair.actions.chosen, pair.actions.rejected) for pair in read_pairs(path)]


def lengths_alone(found: Difference) -> Difference:
    """Without the counts of single actions."""
    return tuple([(name, count) for name, count in found if name in (ACTIONS, WORDS, LETTERS)])


def main(arguments: list[str] | None = None) -> int:
    """Train, ask, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("train")
    parser.add_argument("test")
    asked = parser.parse_args(arguments)
    train, test = differences(asked.train), differences(asked.test)
    short = [[lengths_alone(one) for one in side] for side in (train, test)]
    linear = Linear(train)
    shares = {
        "regression, all counts": told(linear, test).share,
        "regression, lengths alone": told(Linear(short[0]), short[1]).share,
        "table of differences": told(Lookup(train), test).share,
        "boosted trees, all counts": told(Trees(train), test).share,
        "boosted trees, lengths alone": told(Trees(short[0]), short[1]).share,
    }
    for name, share in shares.items():
        print(f"{share:6.1%}  {name}")
    even = sum([not one for one in test]) / max(len(test), 1)
    print(f"{even:6.1%}  of the test pairs differ in no count at all")
    for name, weight in sorted(linear.named_weights().items(), key=lambda item: -abs(item[1]))[:8]:
        print(f"{weight:+6.2f}  {name}")
    return 0 if max(shares.values()) <= MOST else 1


if __name__ == "__main__":
    raise SystemExit(main())
