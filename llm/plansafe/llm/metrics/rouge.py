"""Rouge-L: the longest common subsequence of words as an F-measure (Lin 2004, sections 3.1 and 3.2).

Figures use the package ``rouge-score`` (extra ``bench``), which has the published definition. Bulk comparisons of
commands, and figures without the package, use the same definition computed here. SafePlan-Bench (appendix D.4) uses
"the Python library Rouge, version 1.0.1", whose definition differs; it is computed here. Tests compare both functions
with their packages.

Whether a command is new: Rouge-L against all that are there, as Self-Instruct filters (Wang et al. 2023).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

MOST_CELLS = 25_000_000
_EPSILON = 1e-8
_OTHER = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class RougeL:
    """Precision (of the prediction's words), recall (of the reference's) and F."""

    precision: float
    recall: float
    f: float


class TooLong(ValueError):
    """The table of the two texts would have more than ``MOST_CELLS`` cells."""


def has_rouge_score() -> bool:
    """Whether the package ``rouge-score`` is installed."""
    return find_spec("rouge_score") is not None


def rouge_l(prediction: str, reference: str) -> RougeL:
    """``rougeL`` by the package ``rouge-score`` without a stemmer; without the package by :func:`rouge_score_l`.

    Raises :class:`TooLong`.
    """
    if not has_rouge_score():
        return rouge_score_l(prediction, reference)
    _bounded(alphanumeric(prediction), alphanumeric(reference))
    score = _package_scorer().score(reference, prediction)["rougeL"]
    return RougeL(score.precision, score.recall, score.fmeasure)


@cache
def _package_scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 - optional, and imports nltk and numpy

    return RougeScorer(["rougeL"], use_stemmer=False)


def rouge_score_l(prediction: str, reference: str, beta: float = 1.0) -> RougeL:
    """``rougeL`` as the package ``rouge-score`` 0.1.2 defines it without a stemmer, computed here.

    Words are maximal runs of a-z and 0-9 in the lower-case text. With L the length of their longest common
    subsequence, P = L / words of the prediction, R = L / words of the reference,
    F = (1 + beta^2) P R / (R + beta^2 P) (Lin 2004, equation 4; the package has beta = 1). 0 where either text has no
    words, as in the package. Raises :class:`TooLong`.
    """
    predicted_words, reference_words = alphanumeric(prediction), alphanumeric(reference)
    if not predicted_words or not reference_words:
        return RougeL(0.0, 0.0, 0.0)
    length = lcs_length(reference_words, predicted_words)
    precision, recall = length / len(predicted_words), length / len(reference_words)
    return RougeL(precision, recall, f_measure(precision, recall, beta))


def rouge_1_0_1_l(prediction: str, reference: str) -> RougeL | None:
    """``rouge-l`` of the package ``rouge`` 1.0.1 with its default settings (``exclusive``).

    Texts are cut into sentences at full stops, sentences into words at white space; case and punctuation stay. Of each
    pair of sentences one longest common subsequence is taken, all of them united as a *set* of words, and P and R are
    its size over the numbers of *distinct* words. F = 2 P R / (P + R + 1e-8). ``None`` where the package raises
    ``ValueError``: a text without sentences. Raises :class:`TooLong`.
    """
    predicted_sentences, reference_sentences = sentences(prediction), sentences(reference)
    if not predicted_sentences or not reference_sentences:
        return None
    union: set[str] = set()
    for reference_sentence in reference_sentences:
        for predicted_sentence in predicted_sentences:
            union.update(lcs_words(reference_sentence, predicted_sentence))
    precision = len(union) / len({word for sentence in predicted_sentences for word in sentence})
    recall = len(union) / len({word for sentence in reference_sentences for word in sentence})
    return RougeL(precision, recall, 2.0 * (precision * recall / (precision + recall + _EPSILON)))


def f_measure(precision: float, recall: float, beta: float = 1.0) -> float:
    """F of precision and recall; 0 where both are 0."""
    weight = beta * beta
    below = recall + weight * precision
    return (1 + weight) * precision * recall / below if below > 0 else 0.0


def alphanumeric(text: str) -> list[str]:
    """The words of ``rouge-score``."""
    return _OTHER.sub(" ", text.lower()).split()


def sentences(text: str) -> list[list[str]]:
    """The sentences of ``rouge`` 1.0.1 as words. White space between two full stops is a sentence of one empty word."""
    return [" ".join(sentence.split()).split(" ") for sentence in text.split(".") if sentence]


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of a longest common subsequence, in memory of one row. Raises :class:`TooLong`."""
    _bounded(first, second)
    row = [0] * (len(second) + 1)
    for word in first:
        diagonal = 0
        for at, second_item in enumerate(second, 1):
            above = row[at]
            row[at] = diagonal + 1 if word == second_item else max(above, row[at - 1])
            diagonal = above
    return row[-1]


def lcs_words(reference: Sequence[str], prediction: Sequence[str]) -> list[str]:
    """A longest common subsequence: of several the one that ``rouge`` 1.0.1 walks back to. Raises :class:`TooLong`."""
    _bounded(reference, prediction)
    table = [[0] * (len(prediction) + 1)]
    for word in reference:
        above, row = table[-1], [0]
        for at, predicted_word in enumerate(prediction, 1):
            row.append(above[at - 1] + 1 if word == predicted_word else max(above[at], row[at - 1]))
        table.append(row)
    common: list[str] = []
    i, j = len(reference), len(prediction)
    while i and j:
        if reference[i - 1] == prediction[j - 1]:
            common.append(reference[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return common[::-1]


def _bounded(first: Sequence[str], second: Sequence[str]) -> None:
    if len(first) * len(second) > MOST_CELLS:
        raise TooLong(f"{len(first)} words against {len(second)}")


THRESHOLD = 0.7
"""A command whose Rouge-L F with another is at least this is not new (Self-Instruct keeps commands below 0.7)."""


class Nearest(NamedTuple):
    """The command that is nearest, and how near: the F of Rouge-L, 0 to 1."""

    instruction: str
    f: float


def nearest(instruction: str, instructions: Iterable[str]) -> Nearest:
    """The nearest of the known commands; an empty one with 0 where there are none."""
    scored = [Nearest(candidate, rouge_score_l(instruction, candidate).f) for candidate in instructions]
    return max(scored, key=lambda scored_candidate: scored_candidate.f, default=Nearest("", 0.0))
