"""Masks over tokens: rows of a table against the plain definition, and a plan in one answer under a shield."""

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
    """A vocabulary of letters, and of some pieces of two or three; the longest piece that fits comes first."""

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


def defined(rows: Sequence[Sequence[int]], prefix: Sequence[int]) -> list[int]:
    """With what some row goes on behind a beginning."""
    depth = len(prefix)
    return sorted({row[depth] for row in rows if len(row) > depth and list(row[:depth]) == list(prefix)})


TEXTS = st.lists(st.text("abc(", min_size=1, max_size=6), min_size=1, max_size=200, unique=True)


@given(TEXTS, st.randoms(use_true_random=False), st.sampled_from(["", "\n"]))
def test_rows_go_on_as_their_definition_says(texts: list[str], random: Random, end: str) -> None:
    table, words = TokenTable(Pieces(), texts, end), Pieces()
    for _ in range(3):
        chosen = random.sample(texts, random.randint(0, len(texts)))
        numbers = table.numbers(chosen)
        rows = [words.encode(text + end) + ([] if end else [words.end]) for text in chosen]
        assert [list(table.row(number)) for number in numbers] == sorted(rows)
        for row in rows[:20]:
            for depth in range(len(row) + 1):
                assert table.following(numbers, tuple(row[:depth])) == defined(rows, row[:depth])
        assert table.following(numbers, (1, 1, 1, 1, 1, 1, 1, 1)) == []


@given(TEXTS, st.lists(st.text("abcd", min_size=1, max_size=4), max_size=9))
def test_texts_that_are_new_make_room(texts: list[str], more: list[str]) -> None:
    table = TokenTable(Pieces(), texts)
    table.following(table.numbers(texts), ())
    rows = [table.row(number) for number in table.numbers([*texts, *more])]
    assert table.following(table.numbers([*texts, *more]), ()) == defined(rows, ())
    assert all(table.place(table.row(number)) == number for number in table.numbers(more))


@pytest.mark.parametrize("family", ["tea", "mop", "wipe"])
def test_a_plan_in_one_answer_keeps_to_the_shield(family: str) -> None:
    one, words = draw(family, 0, seed=21), Pieces()
    checker = one.checker()
    for seed in range(3):
        guide, random, tokens = Guide(checker.compiled), Random(seed), list[int]()
        mask = shield(guide, words, 12)
        while True:
            allowed = mask(tokens)
            if not allowed or allowed[-1] == words.end:
                break
            tokens.append(random.choice(allowed))
        plan = words.decode(tokens)
        assert plan.endswith("\n")
        assert len(plan.splitlines()) == len(guide.steps) <= 12
        report = checker.check(Source("x.plan", plan))
        assert report.executable is Worlds.ALL
        assert not [f for f in report.findings if f.step is not None and f.step < len(guide.steps)]
        assert guide.may_end or len(guide.steps) == 12 or not mask(tokens)


def test_a_plan_may_end_between_lines_alone() -> None:
    words = Pieces()
    table = TokenTable(words, ["(a)", "(ab)"], "\n")
    every = table.numbers(["(a)", "(ab)"])
    asked: list[int | None] = []

    def admitted(row: int | None) -> tuple[Sequence[int], bool]:
        asked.append(row)
        return every, row is not None

    mask = LinesMask(table, words.end, admitted)
    first = words.encode("(a)\n")
    assert all(words.end not in mask(first[:length]) for length in range(len(first)))
    assert words.end in mask(first)
    assert asked == [None, table.number("(a)")]
    with pytest.raises(ValueError, match="one answer"):
        mask([])
