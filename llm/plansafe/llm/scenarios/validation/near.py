"""Names that are close to each other: what a language model, or a person, writes for a name that is declared."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SEPARATORS = re.compile(r"[-_.]")
_NUMBER = re.compile(r"\d+")
_PREFIXES = ("is", "has", "be", "are")
_SUFFIXES = ("ed", "ing", "s", "of", "object", "obj")
MAX_LENGTH = 60


def nearest(name: str, names: Iterable[str], slips: int = 2) -> str | None:
    """The declared name that is near a name, if there is exactly one; ``None`` otherwise.

    Names that differ in the way words are joined or inflected are closest (``on_top`` and ``ontop``, ``is-open`` and
    ``open``); then names one or two slips of the pen apart, and not more than ``slips``. Numbers in names must agree:
    ``cup_1`` is never ``cup_2``.
    """
    if len(name) > MAX_LENGTH:
        return None
    candidates = [
        candidate
        for candidate in names
        if abs(len(candidate) - len(name)) <= 8 and _numbers(candidate) == _numbers(name)
    ]
    for alike in (_joined, _stem):
        same = [candidate for candidate in candidates if alike(candidate) == alike(name)]
        if same:
            return same[0] if len(same) == 1 else None
    most = min(slips, 0 if len(name) < 4 else 1 if len(name) < 8 else 2)
    ranked: dict[int, list[str]] = {}
    for candidate in candidates:
        apart = distance(name, candidate, most)
        if apart <= most and not (len(candidate) < 4 or len(candidate) - apart < 3):
            ranked.setdefault(apart, []).append(candidate)
    best = ranked[min(ranked)] if ranked else []
    return best[0] if len(best) == 1 else None


def distance(first: str, second: str, most: int) -> int:
    """Slips of the pen between two names (letters missed, added, changed, or swapped); beyond ``most`` it is more."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        new = [i]
        for j, b in enumerate(second, 1):
            cost = min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            new.append(cost)
        before, row = row, new
        if min(row) > most:
            return most + 1
    return row[-1]


def _numbers(name: str) -> list[str]:
    return _NUMBER.findall(name)


def _joined(name: str) -> str:
    return _SEPARATORS.sub("", name)


def _stem(name: str) -> str:
    words = [word for word in _SEPARATORS.split(name) if word]
    if len(words) > 1 and words[0] in _PREFIXES:
        words = words[1:]
    if len(words) > 1 and words[-1] in _SUFFIXES:
        words = words[:-1]
    text = "".join(words)
    for suffix in ("ing", "ed"):
        if text.endswith(suffix) and len(text) - len(suffix) >= 3:
            return text[: -len(suffix)].rstrip("e")
    return text.rstrip("e")
