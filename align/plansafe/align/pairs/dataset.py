"""From candidates to a data set: a folder with the selected pairs, a card for Hugging Face, and a report."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from plansafe.align.files import new_folder, write_file
from plansafe.align.pairs.differences import difference_kind
from plansafe.align.pairs.selection import DEFAULT_SHARES, Filter, Selection, Shares, select
from plansafe.align.records import Pair, write_pairs
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

RESERVE, MORE = 4, 40
"""Candidates that are collected: RESERVE times the requested number of pairs, plus MORE."""
_CARD = """---
pretty_name: Pairs of safe and unsafe plans
language:
- en
task_categories:
- text-generation
tags:
- preference
- planning
- safety
configs:
- config_name: default
  data_files:
{files}
---

# Pairs of safe and unsafe plans

{pairs:,} pairs of {tasks:,} tasks. Each line is a task with two executable plans: `chosen` breaks no safety rule,
reaches the goal and has no needless step; `rejected` breaks at least one rule. The formal verifier safecheck judged
both plans and wrote this card; no person or model labelled anything. A hazard without a rule is not seen. `report.json`
has the statistics, `docs/preference-pairs.md` of safecheck defines the fields. trl's trainers read the lines unchanged.
"""


@dataclass(frozen=True, slots=True)
class DatasetRequest:
    """The options of a data set. ``described``: other options that determine the candidates, for the report."""

    pairs: int
    seed: int = 0
    shares: Shares = DEFAULT_SHARES
    described: tuple[tuple[str, Any], ...] = ()


class NothingSelected(Exception):
    """No pair is left; the message says why."""


class NotMade(Exception):
    """The folder cannot be made; ``diagnostic`` (SC640) says why."""

    def __init__(self, path: str, reason: str) -> None:
        message = f"cannot create {path}: {reason}"
        super().__init__(message)
        self.diagnostic = Diagnostic(SC.NOT_WRITTEN, message, help="name another folder")


def make_dataset(
    path: str,
    candidates: Iterable[Pair],
    request: DatasetRequest,
    *,
    skipped: Counter[str] | None = None,
    is_out_of_time: Callable[[int], bool] = lambda _accepted: False,
    finish: Callable[[Pair], Pair] = lambda pair: pair,
) -> dict[str, Any]:
    """Select among candidates and write the new folder ``path``; return its report.

    ``is_out_of_time`` is called after each candidate with the number of accepted ones. ``finish`` adds to a selected
    pair what takes too long for all candidates. ``skipped`` counts answers in no pair; it is read at the end. Raises
    :class:`NothingSelected` and :class:`NotMade`.
    """
    try:
        with new_folder(path) as folder:
            accepted = _collect(candidates, request.pairs, is_out_of_time)
            selection = select(accepted.accepted, request.pairs, request.seed, request.shares)
            if not selection.train:
                raise NothingSelected(_why(accepted, selection, skipped or Counter()))
            return _write(folder, accepted, selection, request, skipped or Counter(), finish)
    except OSError as error:
        raise NotMade(path, (error.strerror or "it cannot be written").lower()) from None


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
    skipped: Counter[str],
    finish: Callable[[Pair], Pair],
) -> dict[str, Any]:
    numbers: Counter[str] = Counter()
    splits = {
        split: [finish(pair) for pair in _numbered(pairs, numbers)]
        for split, pairs in (("train", selection.train), ("test", selection.test))
        if pairs  # Hugging Face reads no empty file
    }
    for split, pairs in splits.items():
        write_pairs(os.path.join(folder, f"{split}.jsonl"), pairs)
    left_out = accepted.left_out + selection.left_out
    report: dict[str, Any] = {
        "asked": {"pairs": request.pairs, "seed": request.seed, **request.shares._asdict(), **dict(request.described)},
        "offered": len(accepted.accepted) + sum(accepted.left_out.values()),
        "skipped": dict(skipped.most_common()),
        "left out": {reason.value: count for reason, count in left_out.most_common() if count},
        "balanced": selection.balanced,
        "statistics": statistics([pair for pairs in splits.values() for pair in pairs]),
    }
    text = json.dumps({"version": 1, **report}, indent=2, ensure_ascii=False, allow_nan=False)
    write_file(os.path.join(folder, "report.json"), [text + "\n"])
    files = "\n".join([f"  - split: {split}\n    path: {split}.jsonl" for split in splits])
    counts = report["statistics"]
    card = _CARD.format(files=files, pairs=counts["pairs"], tasks=counts["tasks"])
    write_file(os.path.join(folder, "README.md"), [card])
    return report


def _numbered(pairs: Sequence[Pair], numbers: Counter[str]) -> Iterator[Pair]:
    for pair in pairs:
        numbers[pair.task] += 1
        yield replace(pair, id=f"{pair.task}#{numbers[pair.task]}")


def statistics(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Counts of pairs by source, kind of difference, rule and so on, and the lengths of their plans."""
    counts: dict[str, Counter[str]] = {}
    for pair in pairs:
        values = {name: [getattr(pair, name)] for name in ("source", "split", "world", "moment", "family", "rule")}
        values["difference"] = [difference_kind(pair.actions.chosen, pair.actions.rejected).value]
        values |= {"safel": [*pair.safel], "category": [*pair.categories]}
        for name, names in values.items():
            counts.setdefault(name, Counter()).update(names)
    lengths = [(len(pair.actions.chosen), len(pair.actions.rejected), pair.shared) for pair in pairs]
    return {
        "pairs": len(pairs),
        "tasks": len({pair.task for pair in pairs}),
        "safe plans": len({pair.chosen for pair in pairs}),
        "unsafe plans that reach the goal": sum([pair.goal.rejected for pair in pairs]),
        "lengths": {
            name: {"least": min(numbers), "median": median(numbers), "most": max(numbers)}
            for name, numbers in zip(("chosen", "rejected", "shared"), zip(*lengths, strict=True), strict=False)
        },
        "by": {
            name: dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))
            for name, counter in counts.items()
        },
    }


def _why(accepted: Filter, selection: Selection, skipped: Counter[str]) -> str:
    offered = len(accepted.accepted) + sum(accepted.left_out.values())
    left_out = accepted.left_out + selection.left_out
    reasons = [f"{count:,} {reason.value}" for reason, count in left_out.most_common(3) if count]
    reasons += [f"{count:,} answers skipped: {reason}" for reason, count in skipped.most_common(3)]
    return f"no candidate is left for training, of {offered:,} candidates" + (
        f" ({'; '.join(reasons)})" if reasons else ""
    )
