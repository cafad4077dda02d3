"""Measure a file of preference pairs: separation by words, dependence on order and rule, needless steps.

usage: python -m bench.align.pairs FILE .. [--data FOLDER] [--seed 0] [--needless 200] [--draw 100 --to pairs.txt]

1. Separation: classifiers of scikit-learn see the bag of verbs and kinds of objects of both plans, without order and
   prompt. They learn from all families but some and are asked about these (grouped cross-validation). Reported for all
   pairs, for the pairs that depend on order or on the stated rule, and for the pairs about a missing step.
2. A pair depends on the order if both plans have the same steps. It depends on the stated rule if the unsafe plan is
   SAFE in the twin of its task (`plansafe.align.stated`). Pairs about a missing step are counted apart,
   and together with pairs about an extra step: these are their mirror images if a twin forbids the step.
3. Needless steps: a greedy search, independent of the maker, deletes one or two steps of a preferred plan at a time.
4. `--draw` writes pairs drawn at random for reading.

Exit code 1 if a preferred plan has a needless step, or if a classifier is right about more than 60 % of the pairs that
depend on order or rule, or if these are less than half. Without scikit-learn (extra `pairs`) part 1 is left out.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from plansafe.align.pairs.differences import DifferenceKind, WordDifference, difference_kind, mirrored, word_difference
from plansafe.align.records import Pair, plan_of, read_pairs
from plansafe.align.tasks import BadOrigin, data_folder, task_of
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline, Worlds

MAX_SHARE = 0.6
CLASSIFIERS: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "logistic regression": ("linear_model", "LogisticRegression", {"max_iter": 2_000}),
    "boosted trees": ("ensemble", "HistGradientBoostingClassifier", {"random_state": 0}),
}
"""By name: module and class of scikit-learn, and arguments."""


def classified(pairs: Sequence[Pair], classifier: str, folds: int = 5) -> list[float]:
    """For each pair 1 if a classifier that learnt from other families finds the safe plan, 0.5 for a tie, else 0."""
    module, name, arguments = CLASSIFIERS[classifier]
    differences = [word_difference(pair.actions.chosen, pair.actions.rejected) for pair in pairs]
    words = sorted({word for difference in differences for word, _ in difference})
    families = [pair.family for pair in pairs]
    folds = min(folds, len(set(families)))
    splitter = importlib.import_module("sklearn.model_selection").GroupKFold(folds)
    right = [0.5] * len(pairs)
    for train, test in splitter.split(differences, groups=families):
        model = getattr(importlib.import_module(f"sklearn.{module}"), name)(**arguments)
        train_rows = [differences[at] for at in train]
        model.fit(
            _rows([*train_rows, *map(mirrored, train_rows)], words), [1] * len(train_rows) + [0] * len(train_rows)
        )
        test_rows = [differences[at] for at in test]
        safe, unsafe = [
            [float(row[1]) for row in model.predict_proba(_rows(side, words))]
            for side in (test_rows, map(mirrored, test_rows))
        ]
        for at, score, mirrored_score in zip(test, safe, unsafe, strict=True):
            right[at] = 1.0 if score > mirrored_score else 0.5 if score == mirrored_score else 0.0
    return right


def _rows(differences: Iterable[WordDifference], words: Sequence[str]) -> list[list[int]]:
    return [[dict(difference).get(word, 0) for word in words] for difference in differences]


def depends_on_rule(pair: Pair, data: str | None) -> bool:
    """True if the unsafe plan is SAFE in the twin of its task, whose words, goal and home are the same."""
    if not pair.origin.startswith("stated:"):
        return False
    family, number, seed = pair.origin.split("/")
    try:
        return is_safe(_checker(f"{family}/{int(number) ^ 1}/{seed}", data), pair.actions.rejected)
    except BadOrigin:
        return False


def needless_steps(checker: Checker, plan: Sequence[str]) -> list[str]:
    """Steps that a greedy search deletes, one or two at a time, while the plan stays SAFE and reaches the goal."""
    left = list(plan)
    while len(left) > 1:
        places = [(first, second) for first in range(len(left)) for second in range(first, len(left))]
        for places_of in sorted(places, key=lambda place: place[0] != place[1]):
            shorter = [step for at, step in enumerate(left) if at not in places_of]
            if shorter and is_safe(checker, shorter):
                left = shorter
                break
        else:
            break
    deleted = list(plan)
    for step in left:
        deleted.remove(step)
    return deleted


def is_safe(checker: Checker, plan: Sequence[str]) -> bool:
    """The verdict of a complete check: SAFE (VALID without rules), and the goal is reached."""
    report = checker.check(Source("plan", plan_of(plan)))
    return report.headline in (Headline.SAFE, Headline.VALID) and report.goal is Worlds.ALL


@cache
def _checker(origin: str, data: str | None) -> Checker:
    compiled = task_of(origin, data).checker.compiled
    return Checker.from_compiled(compiled._replace(options=compiled.options._replace(replay="never")))


def described(pair: Pair) -> str:
    """A pair as text for a reader."""
    return (
        f"## {pair.id} ({pair.source})\n{pair.prompt}\n--- preferred\n{pair.chosen}--- rejected\n{pair.rejected}"
        f"--- at step {pair.first_violation}: {pair.rule}: {pair.witness}\n\n"
    )


def _table(pairs: Sequence[Pair], groups: Mapping[str, Sequence[int]]) -> float:
    """Print the shares of the classifiers; return the largest of the pairs that depend on order or rule."""
    try:
        print(
            f"scikit-learn {importlib.import_module('sklearn').__version__}, share of pairs with the safe plan found:"
        )
    except ImportError:
        print("scikit-learn is not installed: the separation by words is not measured")
        return 0.0
    most = 0.0
    for classifier in CLASSIFIERS:
        right = classified(pairs, classifier)
        for name, places in groups.items():
            share = sum([right[at] for at in places]) / len(places) if places else 0.5
            print(f"  {share:6.1%}  {classifier}, {name} ({len(places):,} pairs)")
            most = max(most, share) if name == "order or rule" else most
    return most


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--data", default=data_folder())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--needless", type=int, default=200, help="Search this many preferred plans for needless steps."
    )
    parser.add_argument("--draw", type=int, default=0, help="Draw this many pairs for reading.")
    parser.add_argument("--to", default="pairs.txt", help="Write the drawn pairs to this file.")
    options = parser.parse_args(arguments)
    pairs = [pair for path in options.files for pair in read_pairs(path)]
    kinds = [difference_kind(pair.actions.chosen, pair.actions.rejected) for pair in pairs]
    by_rule = [depends_on_rule(pair, options.data) for pair in pairs]
    all_places = range(len(pairs))
    order = [at for at in all_places if kinds[at] is DifferenceKind.ORDER]
    missing_step = [at for at in all_places if kinds[at] is DifferenceKind.MISSING_STEP]
    depending = [
        at
        for at in all_places
        if kinds[at] is DifferenceKind.ORDER or (by_rule[at] and kinds[at] is not DifferenceKind.MISSING_STEP)
    ]
    groups = {
        "all pairs": all_places,
        "order or rule": depending,
        "order": order,
        "missing step": missing_step,
        "missing or extra step": [
            at for at in all_places if kinds[at] in (DifferenceKind.MISSING_STEP, DifferenceKind.EXTRA_STEP)
        ],
        "neither": sorted({*all_places} - {*depending} - {*missing_step}),
    }
    for name, places in groups.items():
        print(f"{len(places) / len(pairs):6.1%}  {name}")
    most = _table(pairs, groups)
    random = Random(options.seed)
    searched = random.sample(pairs, min(options.needless, len(pairs)))
    needless = [pair for pair in searched if needless_steps(_checker(pair.origin, options.data), pair.actions.chosen)]
    print(f"{len(needless)} of {len(searched)} preferred plans have a needless step")
    for pair in needless[:5]:
        print(f"  {pair.id}: {needless_steps(_checker(pair.origin, options.data), pair.actions.chosen)}")
    if options.draw:
        sample = random.sample(pairs, min(options.draw, len(pairs)))
        Path(options.to).write_text("".join([described(pair) for pair in sample]), encoding="utf-8")
        print(f"{options.to}: {len(sample)} pairs to read")
    return 1 if needless or most > MAX_SHARE or 2 * len(depending) < len(pairs) else 0


if __name__ == "__main__":
    raise SystemExit(main())
