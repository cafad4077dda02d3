"""Rouge-L: values worked out by hand, laws, and comparison with the two packages if they are installed."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plansafe.llm.metrics import rouge
from plansafe.llm.metrics.rouge import (
    TooLong,
    f_measure,
    lcs_length,
    lcs_words,
    rouge_1_0_1_l,
    rouge_l,
    rouge_score_l,
    sentences,
)


def test_the_published_definition_by_hand() -> None:
    # Words: walk fridge open fridge grab milk, against walk fridge grab milk close fridge. A longest common
    # subsequence is walk fridge grab milk: 4 of 6 and 4 of 6 words.
    score = rouge_score_l("[Walk] <fridge> [open] <fridge> [grab] <milk>", "walk fridge, grab milk, close fridge")
    assert (score.precision, score.recall) == (4 / 6, 4 / 6)
    assert score.f == pytest.approx(2 / 3)
    # P = 2/4, R = 2/2: F1 = 2/3, and with beta 2: 5 * 0.5 / (1 + 4 * 0.5) = 5/6.
    assert rouge_score_l("a b c d", "a c").f == pytest.approx(2 / 3)
    assert rouge_score_l("a b c d", "a c", beta=2).f == pytest.approx(5 / 6)
    assert rouge_score_l("...", "a").f == 0.0
    assert f_measure(0, 0) == 0.0


def test_version_1_0_1_by_hand() -> None:
    # Distinct words: walk fridge open grab milk (5) against walk fridge grab milk close (5). The subsequence
    # walk fridge grab milk is a set of 4: P = R = 4/5 (and F a little less: 2 * 0.64 / (1.6 + 1e-8)).
    score = rouge_1_0_1_l("walk fridge open fridge grab milk", "walk fridge grab milk close fridge")
    assert score is not None
    assert (score.precision, score.recall) == (0.8, 0.8)
    assert score.f == 2 * (0.8 * 0.8 / (1.6 + 1e-8))
    # Order does not matter across sentences: each is compared with each, and the words are united.
    crossed = rouge_1_0_1_l("grab milk. walk fridge", "walk fridge. grab milk")
    assert crossed is not None
    assert crossed.recall == 1.0
    assert rouge_score_l("grab milk. walk fridge", "walk fridge. grab milk").recall == 0.5
    assert rouge_1_0_1_l("", "walk") is None
    assert rouge_1_0_1_l("..", "walk") is None
    assert sentences("a  b. .c") == [["a", "b"], [""], ["c"]]


def test_the_subsequence_is_found_backwards() -> None:
    assert lcs_words("ab", "ba") == ["b"]  # walks back from the end: `a` and `b` are both longest


def test_long_texts_are_refused() -> None:
    with pytest.raises(TooLong):
        rouge_score_l("a " * 6000, "a " * 6000)
    with pytest.raises(TooLong):
        rouge_l("a " * 6000, "a " * 6000)
    with pytest.raises(TooLong):
        rouge_1_0_1_l("a " * 6000, "a " * 6000)


WORDS = st.lists(st.sampled_from(["a", "b", "c", "A", "milk_1", "<x>", ".", " "]), max_size=12).map(" ".join)


def longest_common_subsequence(first: str, second: str) -> int:
    """Return the length of the longest common subsequence, over all subsequences of the first text."""
    best = 0
    for mask in range(1 << len(first)):
        subsequence = [char for position, char in enumerate(first) if mask >> position & 1]
        remaining = iter(second)
        if all(char in remaining for char in subsequence):
            best = max(best, len(subsequence))
    return best


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_the_table_agrees_with_the_definition(first: str, second: str) -> None:
    assert lcs_length(first, second) == longest_common_subsequence(first, second) == len(lcs_words(first, second))


@given(WORDS, WORDS)
def test_scores_are_bounded_and_symmetric(first: str, second: str) -> None:
    for score in (rouge_score_l(first, second), rouge_1_0_1_l(first, second)):
        if score is not None:
            assert all(0 <= value <= 1 for value in (score.precision, score.recall, score.f))
            assert score.f <= max(score.precision, score.recall) + 1e-12
    same_text = rouge_1_0_1_l(first, first)
    assert same_text is None or (same_text.precision == same_text.recall == 1.0)
    assert rouge_score_l(first, second).f == rouge_score_l(second, first).f


def random_texts(seed: int) -> tuple[str, str]:
    numbers = random.Random(seed)
    words = ["[WALK]", "<milk>", "(1)", "Grab", "grab", "a.b", ".", "..", "x", "y", "\n", " ", "fridge_2", "é"]
    first, second = (" ".join(numbers.choices(words, k=numbers.randint(0, 25))) for _ in range(2))
    return first, second


def test_scores_equal_the_package_rouge() -> None:
    package = pytest.importorskip("rouge", reason="the package rouge (1.0.1) is not installed")
    compared = 0
    for seed in range(600):
        answer, reference = random_texts(seed)
        ours = rouge_1_0_1_l(answer, reference)
        try:
            theirs = package.Rouge(metrics=["rouge-l"]).get_scores(answer, reference)[0]["rouge-l"]
        except ValueError:
            assert ours is None
            continue
        assert ours is not None
        assert (ours.precision, ours.recall, ours.f) == (theirs["p"], theirs["r"], theirs["f"]), (answer, reference)
        compared += 1
    assert compared > 400


def test_scores_equal_the_package_rouge_score() -> None:
    package = pytest.importorskip("rouge_score.rouge_scorer", reason="the package rouge-score is not installed")
    scorer = package.RougeScorer(["rougeL"], use_stemmer=False)
    for seed in range(600):
        answer, reference = random_texts(seed)
        ours, theirs = rouge_score_l(answer, reference), scorer.score(reference, answer)["rougeL"]
        assert (ours.precision, ours.recall) == (theirs.precision, theirs.recall), (answer, reference)
        assert ours.f == pytest.approx(theirs.fmeasure, abs=1e-15)
        by_package = rouge_l(answer, reference)
        assert (by_package.precision, by_package.recall, by_package.f) == theirs


def test_without_the_package_the_same_definition_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rouge, "has_rouge_score", lambda: False)
    monkeypatch.setattr(rouge, "_package_scorer", None)
    assert rouge_l("(open fridge) (grab milk)", "(grab milk) (open fridge)") == rouge_score_l(
        "(open fridge) (grab milk)", "(grab milk) (open fridge)"
    )
