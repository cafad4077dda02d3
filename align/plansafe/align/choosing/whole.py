"""From candidates to a data set: collect, choose, write."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from json import dumps
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from plansafe.align.choosing.balance import TEST_SHARE, Chosen, choose
from plansafe.align.choosing.card import card
from plansafe.align.choosing.filters import Reason
from plansafe.align.choosing.folder import check_place, made, write_report, write_text
from plansafe.align.choosing.needs import Needs
from plansafe.align.choosing.pool import MORE, RESERVE, Pool, Sketch
from plansafe.align.choosing.statistics import Statistics
from plansafe.align.records import Pair, Split, write_lines, write_pairs
from plansafe.align.weights import weights_of

Candidates = Callable[[Callable[[], Split]], Iterable[Pair]]
"""Makes candidates; it is given what says which side of the split has too few."""


class Wanted(NamedTuple):
    """What is asked for. ``described``: what else decided which candidates there are, for the report."""

    pairs: int
    seed: int
    kto: bool = False
    described: tuple[tuple[str, Any], ...] = ()


class NothingChosen(Exception):
    """No pair is left on one side of the split; the text says why."""


def make_folder(
    path: str,
    candidates: Candidates,
    wanted: Wanted,
    *,
    enough: Callable[[int], bool] = lambda _kept: False,
    finish: Callable[[Pair], Pair] | None = None,
    missed: Counter[str] | None = None,
    needs: Needs | None = None,
) -> dict[str, Any]:
    """Choose among candidates and make the folder; its report.

    ``enough`` is asked after each candidate, with how many were kept, whether to stop; it stops by itself when there
    are ``RESERVE`` times as many as wanted. ``finish`` adds to a chosen pair what is too dear for all candidates.
    ``needs`` is told what was kept, for who makes candidates.
    ``missed``: the tasks that gave none, by the reason, for the report; it is read at the end.
    Raises :class:`NothingChosen`, :class:`~plansafe.align.choosing.folder.NotMade`.
    """
    check_place(path)
    with TemporaryFile(dir=os.path.dirname(os.path.abspath(path))) as file:
        pool = Pool(file, wanted.pairs, needs)
        _collect(pool, candidates(pool.scarcer), wanted.pairs, enough)
        chosen = choose(pool.sketches, wanted.pairs, wanted.seed)
        if not chosen.train or not chosen.test:
            raise NothingChosen(_why(pool, chosen))
        report: dict[str, Any] = {}
        choice = _Choice(pool, chosen, wanted, finish or _as_it_is, missed or Counter())
        made(path, lambda folder: report.update(_write(folder, choice)))
    return report


def _collect(pool: Pool, candidates: Iterable[Pair], count: int, enough: Callable[[int], bool]) -> None:
    most = RESERVE * count + MORE
    test = round(most * TEST_SHARE)
    train = most - test
    for pair in candidates:
        pool.offer(pair)
        if enough(len(pool.sketches)) or (pool.count("train") >= train and pool.count("test") >= test):
            return


class _Choice(NamedTuple):
    pool: Pool
    chosen: Chosen
    wanted: Wanted
    finish: Callable[[Pair], Pair]
    missed: Counter[str]


def _write(folder: str, made_of: _Choice) -> dict[str, Any]:
    pool, chosen, wanted = made_of.pool, made_of.chosen, made_of.wanted
    statistics = Statistics()
    for split, side in (("train", chosen.train), ("test", chosen.test)):
        write_pairs(os.path.join(folder, f"{split}.jsonl"), _pairs(pool, side, statistics, made_of.finish))
    if wanted.kto:
        os.mkdir(os.path.join(folder, "kto"))
        for split, side in (("train", chosen.train), ("test", chosen.test)):
            write_lines(os.path.join(folder, "kto", f"{split}.jsonl"), kto_lines(map(pool.pair, _sorted(side))))
    rejected = Counter(pool.rejected)
    rejected[Reason.STRADDLES] = chosen.straddling
    taken = len(chosen.train) + len(chosen.test)
    rejected[Reason.TELLING] = chosen.telling
    rejected[Reason.NOT_NEEDED] = len(pool.sketches) - taken - chosen.straddling - chosen.telling
    report = {
        "asked": {"pairs": wanted.pairs, "seed": wanted.seed, "kto": wanted.kto, **dict(wanted.described)},
        "offered": pool.offered,
        "kept": len(pool.sketches),
        "rejected": {reason.value: count for reason, count in rejected.most_common() if count},
        "tasks without a pair": {reason: count for reason, count in made_of.missed.most_common(20) if count},
        "told": {
            "linear": round(chosen.linear.share, 4),
            "lookup": round(chosen.lookup.share, 4),
            "trees": round(chosen.trees.share, 4),
            "may have no mirror image": chosen.free,
        },
        "statistics": statistics.record(),
    }
    write_report(folder, report)
    write_text(os.path.join(folder, "README.md"), card(report, wanted.kto))
    return report


def _pairs(
    pool: Pool, side: Sequence[Sketch], statistics: Statistics, finish: Callable[[Pair], Pair]
) -> Iterator[Pair]:
    """The chosen pairs in the order in which they were made, numbered within their task, with their weights."""
    numbers: Counter[str] = Counter()
    for sketch in _sorted(side):
        numbers[sketch.task] += 1
        pair = finish(replace(pool.pair(sketch), id=f"{sketch.task}#{numbers[sketch.task]}"))
        pair = replace(pair, weights=weights_of(pair))
        statistics.add(pair)
        yield pair


def kto_lines(pairs: Iterable[Pair]) -> Iterator[str]:
    """Each plan by itself as KTO wants it (``prompt``, ``completion``, ``label``); one of several pairs once."""
    seen: set[int] = set()
    for pair in pairs:
        for completion, label in ((pair.chosen, True), (pair.rejected, False)):
            key = hash((pair.prompt, completion))
            if key not in seen:
                seen.add(key)
                line = {"prompt": pair.prompt, "completion": completion, "label": label}
                yield dumps(line, ensure_ascii=False, separators=(",", ":"))


def _sorted(side: Sequence[Sketch]) -> list[Sketch]:
    return sorted(side, key=lambda sketch: sketch.place)


def _as_it_is(pair: Pair) -> Pair:
    return pair


def _why(pool: Pool, chosen: Chosen) -> str:
    side = "training" if not chosen.train else "testing"
    reasons = [f"{count:,} {reason.value}" for reason, count in pool.rejected.most_common(3)]
    of = f"of {pool.offered:,} candidates {len(pool.sketches):,} were kept"
    return f"there is no pair for {side}: {of}" + (f"; left out: {'; '.join(reasons)}" if reasons else "")
