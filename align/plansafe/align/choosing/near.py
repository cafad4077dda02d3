"""Near duplicates by Rouge-L: a text is kept if none that was kept before resembles it.

Safe-BeAl (section 3.2) adds a task only if its Rouge-L to those already there is below a threshold, which the paper
does not say. What resembles is compared exactly, as ``rouge_score_l`` has it, but most comparisons are spared: two
texts with m and n words, c of them in common (each as often as in both), have an F of at most 2 c / (m + n).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.llm.metrics.rouge import alphanumeric


class Near:
    """Texts that were kept, in groups: texts are compared within their group alone.

    ``threshold``: the least F of Rouge-L at which two texts are near duplicates. A text against k of its group takes
    k operations on integers of some hundred bits, and a longest common subsequence for the few that are left, by bits
    (Hyyro 2004): a step for each word.
    """

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._groups: dict[str, _Group] = {}

    def add(self, group: str, text: str) -> bool:
        """Keep a text, unless a near one was kept in its group: false. Texts without words are never near."""
        return self.add_whole(group, text, "", "", 1) is None

    def add_whole(self, group: str, text: str, owner: str, whole: str, most: int) -> str | None:
        """Keep a text with an owner and the whole that it is a part of, or say why not.

        ``near``: a kept text is near, and is of the same owner or of a whole that is near this one, too. ``often``:
        ``most`` kept texts are near, all of other owners and wholes.
        """
        new = _Text(alphanumeric(text), owner, alphanumeric(whole))
        return self._groups.setdefault(group, _Group()).add(new, self._threshold, most)

    def repeats(self, group: str, text: str, owner: str) -> bool:
        """Whether a kept text of the same owner is near, so that this one would not be kept, whatever its whole is."""
        found = self._groups.get(group)
        return found is not None and found.repeats(alphanumeric(text), owner, self._threshold)


class _Text(NamedTuple):
    words: Sequence[str]
    owner: str
    whole: Sequence[str]


class _Group:
    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}
        """Words by how often they occurred before in their text: a text's bag is a set of these, a bit each."""
        self._kept: dict[int, list[tuple[int, _Text]]] = {}
        """By number of words: bag and words."""

    def add(self, new: _Text, threshold: float, most: int) -> str | None:
        bag, found, within = self._bag(new.words), 0, _places(new.whole)
        for theirs in self._near(new.words, bag, threshold):
            found += 1
            if theirs.owner == new.owner:
                return "near"
            sizes = len(new.whole), len(theirs.whole)
            if f_of(common(within, sizes[0], theirs.whole), *sizes) >= threshold:
                return "near"
        if found >= most:
            return "often"
        self._kept.setdefault(len(new.words), []).append((bag, new))
        return None

    def repeats(self, words: Sequence[str], owner: str, threshold: float) -> bool:
        return next(self._near(words, self._bag(words), threshold, owner), None) is not None

    def _near(self, words: Sequence[str], bag: int, threshold: float, owner: str | None = None) -> Iterator[_Text]:
        """The kept texts (of an owner, if one is named) that are near."""
        size, places = len(words), _places(words)
        for other, kept in self._kept.items():
            least = threshold * (size + other) / 2
            if least > min(size, other) or not other:
                continue
            for one, theirs in kept:
                if (owner is not None and theirs.owner != owner) or (bag & one).bit_count() < least:
                    continue
                if f_of(common(places, size, theirs.words), size, other) >= threshold:
                    yield theirs

    def _bag(self, words: Sequence[str]) -> int:
        bag, seen = 0, dict.fromkeys(words, 0)
        for word in words:
            number = self._numbers.setdefault((word, seen[word]), len(self._numbers))
            seen[word] += 1
            bag |= 1 << number
        return bag


def _places(words: Sequence[str]) -> dict[str, int]:
    """At which bits each word stands."""
    found: dict[str, int] = {}
    for at, word in enumerate(words):
        found[word] = found.get(word, 0) | 1 << at
    return found


def f_of(common: int, one: int, other: int) -> float:
    """F of Rouge-L for texts of so many words, computed as :func:`plansafe.llm.metrics.rouge.f_measure` does."""
    precision, recall = common / one, common / other
    below = recall + precision
    return 2 * precision * recall / below if below else 0.0


def common(places: dict[str, int], size: int, other: Sequence[str]) -> int:
    """The length of a longest common subsequence; ``places``: at which bits the ``size`` words of a text stand."""
    full = (1 << size) - 1
    row = full
    for word in other:
        hit = row & places.get(word, 0)
        row = ((row + hit) | (row - hit)) & full
    return size - row.bit_count()
