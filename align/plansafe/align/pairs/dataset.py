"""From candidates to a data set: a folder with the selected pairs, a card, and a report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from json import dumps
from statistics import median
from typing import Any

from plansafe.align.pairs.card import card
from plansafe.align.pairs.differences import action_parts, difference_kind, object_kind
from plansafe.align.pairs.folder import check_place, make_folder, write_report, write_text
from plansafe.align.pairs.selection import DEFAULT_SHARES, Filter, Selection, Shares, select
from plansafe.align.records import Pair, write_lines, write_pairs

RESERVE, MORE = 4, 40
"""Candidates that are collected: RESERVE times the requested number of pairs, plus MORE."""


@dataclass(frozen=True, slots=True)
class DatasetRequest:
    """The options of a data set. ``described``: other options that determine the candidates, for the report."""

    pairs: int
    seed: int = 0
    shares: Shares = DEFAULT_SHARES
    kto: bool = False
    described: tuple[tuple[str, Any], ...] = ()


class NothingSelected(Exception):
    """No pair is left; the message says why."""


def make_dataset(
    path: str,
    candidates: Iterable[Pair],
    request: DatasetRequest,
    *,
    skipped: Counter[str] | None = None,
    is_out_of_time: Callable[[int], bool] = lambda _accepted: False,
    finish: Callable[[Pair], Pair] = lambda pair: pair,
) -> dict[str, Any]:
    """Select among candidates and write the folder; return its report.

    ``is_out_of_time`` is called after each candidate with the number of accepted ones. ``finish`` adds to a selected
    pair what takes too long for all candidates. ``skipped`` counts answers in no pair; it is read at the end. Raises
    :class:`NothingSelected` and :class:`~plansafe.align.pairs.folder.NotMade`.
    """
    check_place(path)
    accepted = _collect(candidates, request.pairs, is_out_of_time)
    selection = select(accepted.accepted, request.pairs, request.seed, request.shares)
    if not selection.train:
        raise NothingSelected(_why(accepted, selection, skipped or Counter()))
    report: dict[str, Any] = {}
    make_folder(path, lambda folder: report.update(_write(folder, accepted, selection, request, skipped, finish)))
    return report


def _collect(candidates: Iterable[Pair], count: int, is_out_of_time: Callable[[int], bool]) -> Filter:
    accepted, most = Filter(), RESERVE * count + MORE
    for pair in candidates:
        accepted.offer(pair)
        if is_out_of_time(len(accepted.accepted)) or len(accepted.accepted) >= most:
            break
    return accepted


def _write(
    folder: str,
    accepted: Filter,
    selection: Selection,
    request: DatasetRequest,
    skipped: Counter[str] | None,
    finish: Callable[[Pair], Pair],
) -> dict[str, Any]:
    numbers: Counter[str] = Counter()
    all_pairs: list[Pair] = []
    for split, pairs in (("train", selection.train), ("test", selection.test)):
        finished = [finish(pair) for pair in _numbered(pairs, numbers)]
        all_pairs += finished
        if not finished:  # Hugging Face reads no empty file
            continue
        write_pairs(os.path.join(folder, f"{split}.jsonl"), finished)
        if request.kto:
            os.makedirs(os.path.join(folder, "kto"), exist_ok=True)
            write_lines(os.path.join(folder, "kto", f"{split}.jsonl"), kto_lines(finished))
    left_out = accepted.left_out + selection.left_out
    report = {
        "asked": {
            "pairs": request.pairs,
            "seed": request.seed,
            "kto": request.kto,
            **request.shares._asdict(),
            **dict(request.described),
        },
        "offered": len(accepted.accepted) + sum(accepted.left_out.values()),
        "skipped": dict((skipped or Counter()).most_common()),
        "left out": {reason.value: count for reason, count in left_out.most_common() if count},
        "balanced": selection.balanced,
        "statistics": statistics(all_pairs),
    }
    write_report(folder, report)
    write_text(os.path.join(folder, "README.md"), card(report, request.kto))
    return report


def _numbered(pairs: Sequence[Pair], numbers: Counter[str]) -> Iterator[Pair]:
    for pair in pairs:
        numbers[pair.task] += 1
        yield replace(pair, id=f"{pair.task}#{numbers[pair.task]}")


def kto_lines(pairs: Iterable[Pair]) -> Iterator[str]:
    """Each plan separately, as trl's KTO reads it (``prompt``, ``completion``, ``label``); a repeated plan once."""
    written: set[tuple[str, str]] = set()
    for pair in pairs:
        for completion, label in ((pair.chosen, True), (pair.rejected, False)):
            if (pair.prompt, completion) not in written:
                written.add((pair.prompt, completion))
                line = {"prompt": pair.prompt, "completion": completion, "label": label}
                yield dumps(line, ensure_ascii=False, separators=(",", ":"))


def statistics(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Counts of pairs by source, kind of difference, rule and so on, and the lengths of their plans."""
    counts: dict[str, Counter[str]] = {}
    for pair in pairs:
        values = {name: [getattr(pair, name)] for name in ("source", "split", "world", "moment", "family", "rule")}
        values["difference"] = [difference_kind(pair.actions.chosen, pair.actions.rejected).value]
        values |= {"safel": [*pair.safel], "category": [*pair.categories], "object": _objects(pair)}
        for name, names in values.items():
            counts.setdefault(name, Counter()).update(names)
    lengths = {
        "chosen": [len(pair.actions.chosen) for pair in pairs],
        "rejected": [len(pair.actions.rejected) for pair in pairs],
        "shared": [pair.shared for pair in pairs],
    }
    return {
        "pairs": len(pairs),
        "tasks": len({pair.task for pair in pairs}),
        "safe plans": len({pair.chosen for pair in pairs}),
        "unsafe plans that reach the goal": sum([pair.goal.rejected for pair in pairs]),
        "lengths": {
            name: {"least": min(numbers), "median": median(numbers), "most": max(numbers)}
            for name, numbers in lengths.items()
            if numbers
        },
        "by": {
            name: dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))
            for name, counter in counts.items()
        },
    }


def _objects(pair: Pair) -> list[str]:
    """The kinds of the objects in the plans, except those that every action names (the robot)."""
    objects_of_actions = [
        frozenset(action_parts(action)[1:]) for action in (*pair.actions.chosen, *pair.actions.rejected)
    ]
    everywhere = frozenset.intersection(*objects_of_actions)
    return sorted({object_kind(name) for objects in objects_of_actions for name in objects - everywhere})


def _why(accepted: Filter, selection: Selection, skipped: Counter[str]) -> str:
    offered = len(accepted.accepted) + sum(accepted.left_out.values())
    left_out = accepted.left_out + selection.left_out
    reasons = [f"{count:,} {reason.value}" for reason, count in left_out.most_common(3) if count]
    reasons += [f"{count:,} answers skipped: {reason}" for reason, count in skipped.most_common(3)]
    return f"no candidate is left for training, of {offered:,} candidates" + (
        f" ({'; '.join(reasons)})" if reasons else ""
    )
