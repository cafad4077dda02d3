"""How far lengths and counts of actions tell the safe plan of a pair, by classifiers that nothing was chosen by.

usage: python -m bench.align.outsiders TRAIN TEST [--seed 0]

Those of `choosing/lengths.py` have a say in which pairs are chosen; these of scikit-learn have none. Each learns from
the differences of TRAIN as they are and turned round, with standard settings, and is asked about TEST: it is right
where it takes the difference for one seen from the safe plan, half right where it cannot tell. Exit code 0 if all
shares are at most 65 %, 1 if not. Without scikit-learn (`pip install scikit-learn`) it says so, and nothing is asked.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from typing import Any

from bench.align.lengths import MOST, differences

from plansafe.align.choosing.lengths import Difference, flipped

CLASSIFIERS = {
    "logistic regression": ("linear_model", "LogisticRegression", {"max_iter": 2_000}),
    "boosting": ("ensemble", "HistGradientBoostingClassifier", {}),
    "random forest": ("ensemble", "RandomForestClassifier", {}),
    "extra trees": ("ensemble", "ExtraTreesClassifier", {}),
    "5 neighbours": ("neighbors", "KNeighborsClassifier", {}),
}
"""By name: module and class of scikit-learn, and what is not standard; a seed where the class takes one."""


def rows(found: Sequence[Difference], names: Sequence[str]) -> list[list[int]]:
    """The differences as rows of numbers, one for each name."""
    return [[dict(one).get(name, 0) for name in names] for one in found]


def share(model: Any, train: Sequence[Difference], test: Sequence[Difference]) -> float:
    """Of the test differences, the share that a model takes for what it is: one seen from the safe plan."""
    names = sorted({name for one in train for name, _ in one})
    model.fit(rows([*train, *map(flipped, train)], names), [1] * len(train) + [0] * len(train))
    told = [float(row[1]) for row in model.predict_proba(rows(test, names))]
    turned = [float(row[1]) for row in model.predict_proba(rows([flipped(one) for one in test], names))]
    right = [1.0 if one > other else 0.5 if one == other else 0.0 for one, other in zip(told, turned, strict=True)]
    return sum(right) / max(len(right), 1)


def main(arguments: list[str] | None = None) -> int:
    """Train, ask, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    try:
        version = importlib.import_module("sklearn").__version__
    except ImportError:
        print("skipped: scikit-learn is not installed, and the project does without it")
        return 0
    train, test = differences(asked.train), differences(asked.test)
    print(f"scikit-learn {version}, {len(train):,} pairs to learn from, {len(test):,} to be asked about")
    most = 0.0
    for name, (module, kind, settings) in CLASSIFIERS.items():
        make = getattr(importlib.import_module(f"sklearn.{module}"), kind)
        seed = {"random_state": asked.seed} if "random_state" in make().get_params() else {}
        found = share(make(**settings, **seed), train, test)
        most = max(most, found)
        print(f"{found:6.1%}  {name}")
    return 0 if most <= MOST else 1


if __name__ == "__main__":
    raise SystemExit(main())
