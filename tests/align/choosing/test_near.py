"""Near duplicates: exactly those that Rouge-L says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plansafe.align.choosing.near import Near, common
from plansafe.llm.metrics.rouge import alphanumeric, lcs_length, rouge_score_l

WORDS = st.lists(st.sampled_from(["go", "take", "pot", "cup", "stove", "on", "off"]), max_size=40)


@given(WORDS, WORDS)
def test_the_common_subsequence_is_the_longest(one: list[str], other: list[str]) -> None:
    places: dict[str, int] = {}
    for at, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << at
    assert common(places, len(one), other) == lcs_length(one, other)


@given(st.lists(WORDS, max_size=12), st.sampled_from([0.5, 0.7, 0.8, 0.9, 1.0]))
def test_what_is_kept_is_what_no_kept_text_is_near_to(texts: list[list[str]], threshold: float) -> None:
    near, kept = Near(threshold), list[str]()
    for words in texts:
        text = "-".join(words)
        new = all(rouge_score_l(text, one).f < threshold for one in kept)
        assert near.add("a", text) is new
        if new:
            kept.append(text)
    assert all(near.add(f"group {number}", one) for number, one in enumerate(kept))


def test_words_are_those_of_rouge() -> None:
    assert alphanumeric("(turn-on robot Stove)") == ["turn", "on", "robot", "stove"]


def test_the_same_part_of_another_whole_is_kept_so_many_times() -> None:
    near, part = Near(0.9), "open the oven and walk away from it"
    wholes = ["make tea for the guest", "wash a cup in the sink", "bring the red book upstairs", "feed a cat at noon"]
    assert near.add_whole("a", part, "tea", wholes[0], 3) is None
    assert near.add_whole("a", part, "tea", wholes[1], 3) == "near"  # of the same owner
    assert near.add_whole("a", part, "cup", wholes[0], 3) == "near"  # of the same whole
    assert near.add_whole("a", part, "cup", wholes[1], 3) is None
    assert near.add_whole("a", part, "book", wholes[2], 3) is None
    assert near.add_whole("a", part, "cat", wholes[3], 3) == "often"
    assert near.add_whole("b", part, "cat", wholes[3], 3) is None
