"""Masks over tokens: the table agrees with its definition, and a plan in one answer keeps to the shield."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plansafe.grammar.source import Source
from plansafe.llm.decoding.mask import LinesMask, shield
from plansafe.llm.instances.drawn import draw
from plansafe.llm.models.token_table import TokenTable
from plansafe.verifier.planning.guide import Guide
from plansafe.verifier.reporting.report import Worlds


class Pieces:
    """A vocabulary of letters and of pieces of two or three letters; the longest piece that fits is used."""

    end = 0
    pieces = ("ab", "abc", "bc", ") ", "(t", "ro", "robot ", ")\n", *map(chr, range(1, 128)))

    def encode(self, text: str) -> list[int]:
        out = []
        while text:
            piece = max([p for p in self.pieces if text.startswith(p)], key=len)
            out.append(1 + self.pieces.index(piece))
            text = text[len(piece) :]
        return out

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join([self.pieces[token - 1] for token in tokens])


def following_tokens(rows: Sequence[Sequence[int]], prefix: Sequence[int]) -> list[int]:
    """Return the tokens that follow the prefix in a row."""
    length = len(prefix)
    return sorted({row[length] for row in rows if len(row) > length and list(row[:length]) == list(prefix)})


TEXTS = st.lists(st.text("abc(", min_size=1, max_size=6), min_size=1, max_size=200, unique=True)


@given(TEXTS, st.randoms(use_true_random=False), st.sampled_from(["", "\n"]))
def test_the_table_agrees_with_its_definition(texts: list[str], random: Random, end: str) -> None:
    table, words = TokenTable(Pieces(), texts, end), Pieces()
    for _ in range(3):
        chosen = random.sample(texts, random.randint(0, len(texts)))
        numbers = table.numbers(chosen)
        rows = [words.encode(text + end) + ([] if end else [words.end]) for text in chosen]
        assert [list(table.row(number)) for number in numbers] == sorted(rows)
        for row in rows[:20]:
            for depth in range(len(row) + 1):
                assert table.following(numbers, tuple(row[:depth])) == following_tokens(rows, row[:depth])
        assert table.following(numbers, (1, 1, 1, 1, 1, 1, 1, 1)) == []


@given(TEXTS, st.lists(st.text("abcd", min_size=1, max_size=4), max_size=9))
def test_new_texts_are_added_to_a_full_table(texts: list[str], more: list[str]) -> None:
    table = TokenTable(Pieces(), texts)
    table.following(table.numbers(texts), ())
    rows = [table.row(number) for number in table.numbers([*texts, *more])]
    assert table.following(table.numbers([*texts, *more]), ()) == following_tokens(rows, ())
    assert all(table.place(table.row(number)) == number for number in table.numbers(more))


@pytest.mark.parametrize("family", ["tea", "mop", "wipe"])
def test_a_plan_in_one_answer_keeps_to_the_shield(family: str) -> None:
    instance, vocabulary = draw(family, 0, seed=21), Pieces()
    checker = instance.checker()
    for seed in range(3):
        guide, random, tokens = Guide(checker.compiled), Random(seed), list[int]()
        mask = shield(guide, vocabulary, 12)
        while True:
            allowed = mask(tokens)
            if not allowed or allowed[-1] == vocabulary.end:
                break
            tokens.append(random.choice(allowed))
        plan = vocabulary.decode(tokens)
        assert plan.endswith("\n")
        assert len(plan.splitlines()) == len(guide.steps) <= 12
        report = checker.check(Source("x.plan", plan))
        assert report.executable is Worlds.ALL
        assert not [
            finding for finding in report.findings if finding.step is not None and finding.step < len(guide.steps)
        ]
        assert guide.may_end or len(guide.steps) == 12 or not mask(tokens)


def test_a_plan_can_end_only_between_lines() -> None:
    vocabulary = Pieces()
    table = TokenTable(vocabulary, ["(a)", "(ab)"], "\n")
    all_rows = table.numbers(["(a)", "(ab)"])
    asked_rows: list[int | None] = []

    def admitted(row: int | None) -> tuple[Sequence[int], bool]:
        asked_rows.append(row)
        return all_rows, row is not None

    mask = LinesMask(table, vocabulary.end, admitted)
    first_line = vocabulary.encode("(a)\n")
    assert all(vocabulary.end not in mask(first_line[:length]) for length in range(len(first_line)))
    assert vocabulary.end in mask(first_line)
    assert asked_rows == [None, table.number("(a)")]
    with pytest.raises(ValueError, match="one answer"):
        mask([])
