"""The sentences that a model is judged on: Safety Chip's with their formulas, and those with traps.

Of Safety Chip's sentences each is taken once (in its first spelling), by shape of its formula, so that the rare shapes
are there; which of a shape is drawn by a seed. The domain is the shipped one, and the things are those of its homes.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from plansafe.domains.safety_chip import WORLD
from plansafe.domains.world import Request
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options

HERE = Path(__file__).resolve().parent
_ATOM = re.compile(r"[a-z_]+\([^()]*\)")


class Chip(NamedTuple):
    """A sentence of the benchmark and its formula, in prefix LTL; ``shape``: the formula without its names."""

    sentence: str
    formula: str
    home: str
    shape: str


class Trap(NamedTuple):
    """A sentence with a trap: the rules that are right, or why it has to be refused."""

    sentence: str
    trap: str
    rules: tuple[str, ...]
    refuse: str | None


def chip_sentences(data: Path) -> list[Chip]:
    """Every sentence of the tasks once, in the order of the file, with the formula that the benchmark gives it."""
    tasks = json.loads((data / "task_constraints.json").read_text(encoding="utf-8"))
    translations = json.loads((data / "nl_to_ltl_translations.json").read_text(encoding="utf-8"))
    found: dict[str, Chip] = {}
    for setting, homes in translations.items():
        for home, of in homes.items():
            for task, levels in of.items():
                said = tasks[setting][home][task]["constraints"]
                for level, made in levels.items():
                    for sentence, formula in zip(said[level], _formulas(made["sub_trans"]), strict=False):
                        words = " ".join(sentence.lower().split())
                        found.setdefault(words, Chip(words, formula, home, _ATOM.sub("p", formula)))
    return list(found.values())


def _formulas(made: dict[str, Any]) -> Iterator[str]:
    """The formulas with the names that their letters stand for."""
    for written, holder in zip(made["sym_ltl"], made["placeholder"], strict=True):
        names = {letter: thing for thing, letter in holder.items()}
        yield re.sub(r"\b([A-Z])\b(?=[,)])", lambda m, n=names: n.get(m[1], m[1]), written)


def sampled(sentences: list[Chip], count: int, seed: int = 0) -> list[Chip]:
    """``count`` sentences: of each shape at least one, then in proportion; in the order of ``sentences``."""
    drawn = random.Random(seed)
    shapes: dict[str, list[Chip]] = {}
    for one in sentences:
        shapes.setdefault(one.shape, []).append(one)
    taken: list[Chip] = []
    for group in shapes.values():
        taken += drawn.sample(group, max(1, round(count * len(group) / len(sentences))))
    while len(taken) > count:
        largest = max(shapes, key=lambda shape: len([one for one in taken if one.shape == shape]))
        taken.remove(drawn.choice([one for one in taken if one.shape == largest]))
    return [one for one in sentences if one in taken]


def chip_home(home: str) -> Checker:
    """The task of one of the benchmark's homes, without rules."""
    made = WORLD.read_scene(Request({"scene": Source("scene.txt", f"home {home}\n")}))
    assert made.domain is not None
    assert made.problem is not None
    return Checker(made.domain, made.problem, (), Options(replay="never"))


def traps() -> list[Trap]:
    """The sentences with traps, of the version that stands in the file."""
    table = json.loads((HERE / "traps.json").read_text(encoding="utf-8"))
    return [
        Trap(one["sentence"], one["trap"], tuple(one.get("rules", ())), one.get("refuse")) for one in table["sentences"]
    ]
