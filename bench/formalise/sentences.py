"""Sentences with reference rules: Safety Chip's sentences with their formulas, and sentences with traps.

Each sentence of Safety Chip is used once, in its first spelling. Samples are stratified by the shape of the formula, so
that they contain rare shapes. The domain is the shipped one, with the objects of the benchmark's homes.
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


class ChipSentence(NamedTuple):
    """A sentence of Safety Chip and its formula in prefix LTL; ``shape``: the formula without its names."""

    sentence: str
    formula: str
    home: str
    shape: str


class Trap(NamedTuple):
    """A sentence with a trap: the right rules, or the reason why it must be refused."""

    sentence: str
    trap: str
    rules: tuple[str, ...]
    refuse: str | None


def read_chip_sentences(data: Path) -> list[ChipSentence]:
    """Read the different sentences of the tasks, in the order of the file, with the benchmark's formulas."""
    tasks = json.loads((data / "task_constraints.json").read_text(encoding="utf-8"))
    translations = json.loads((data / "nl_to_ltl_translations.json").read_text(encoding="utf-8"))
    sentences: dict[str, ChipSentence] = {}
    for setting, homes in translations.items():
        for home, translations_by_task in homes.items():
            for task, levels in translations_by_task.items():
                constraints = tasks[setting][home][task]["constraints"]
                for level, translation in levels.items():
                    formulas = _read_formulas(translation["sub_trans"])
                    for sentence, formula in zip(constraints[level], formulas, strict=False):
                        text = " ".join(sentence.lower().split())
                        sentences.setdefault(text, ChipSentence(text, formula, home, _ATOM.sub("p", formula)))
    return list(sentences.values())


def _read_formulas(translation: dict[str, Any]) -> Iterator[str]:
    """Yield the formulas with their letters replaced by names."""
    for formula, placeholders in zip(translation["sym_ltl"], translation["placeholder"], strict=True):
        names = {letter: name for name, letter in placeholders.items()}
        yield re.sub(r"\b([A-Z])\b(?=[,)])", lambda match, names=names: names.get(match[1], match[1]), formula)


def draw_sample(sentences: list[ChipSentence], count: int, seed: int = 0) -> list[ChipSentence]:
    """Draw ``count`` sentences in their order: at least one of each shape, then in proportion to the shapes."""
    rng = random.Random(seed)
    shapes: dict[str, list[ChipSentence]] = {}
    for sentence in sentences:
        shapes.setdefault(sentence.shape, []).append(sentence)
    sample: list[ChipSentence] = []
    for group in shapes.values():
        sample += rng.sample(group, max(1, round(count * len(group) / len(sentences))))
    while len(sample) > count:
        largest = max(shapes, key=lambda shape: len([sentence for sentence in sample if sentence.shape == shape]))
        sample.remove(rng.choice([sentence for sentence in sample if sentence.shape == largest]))
    return [sentence for sentence in sentences if sentence in sample]


def compile_home(home: str) -> Checker:
    """Compile the task of one of the benchmark's homes, without rules."""
    scene = WORLD.read_scene(Request({"scene": Source("scene.txt", f"home {home}\n")}))
    assert scene.domain is not None
    assert scene.problem is not None
    return Checker(scene.domain, scene.problem, (), Options(replay="never"))


def read_traps() -> list[Trap]:
    """Read the sentences with traps."""
    table = json.loads((HERE / "traps.json").read_text(encoding="utf-8"))
    return [
        Trap(entry["sentence"], entry["trap"], tuple(entry.get("rules", ())), entry.get("refuse"))
        for entry in table["sentences"]
    ]
