"""Untrusted text: every text gives a result, whatever its characters, nesting and length."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loose_cases import TASKS, cases, checker, read_output

from plansafe.grammar.source import Source
from plansafe.llm.loose.reader import read_loose
from plansafe.llm.loose.report import MAX_NOTES, MAX_REFUSALS
from plansafe.llm.loose.wrapping import LIMIT, read_text
from quick import quick_every

PIECES = (
    "(", ")", "[", "]", "[[1],", '{"a":', '["', '"\\',
    "<think>", "</think>", "<plan>", "```\n", "~~~ ", "1. ", "1. x\n",
    "a", " ", "\t", "`", "*", "* ", "|", "|a|b|\n", "[GRAB] ", "<a>", "[a] ", '"', "\n", "grab(", "(grab\n", "(a\n) ",
    "(plan\n(a)\n", "a=[\n", "x: ", "- ", "_a_ ", "> ", "# ", "if the milk ", "\u200b", "\u00a0", "\r", "; ", "/*",
    "grab milk -> ", "grab milk, ", "(define (plan ", "...", "\x00", "\U0001f600", "\u20e3", "n't ", "\\_",
)  # fmt: skip


# Texts on which a careless pattern would backtrack exponentially.
HARD = (
    "~" * 50_000 + "`",
    "```\n(" + " " * 100_000 + "x\n```",
    "```\n(" + "a" * 50_000 + "!\n```",
    "(" + "a" * 400 + "!)",
    "grab(x" + " " * 100_000 + "y)",
    '["a",' + "/*," * 30_000,
    "milk grab " + "before " * 20_000,
    ("grab(milk)" + " " * 130) * 500 + "x",
    "\n".join(["- " * 200 + "x"] * 200),
    "box" + "-" * 100_000 + "1",
    "1. " + "the " * 30_000,
    "(grab " + "milk " * 30_000 + ")",
)


@pytest.mark.parametrize("text", HARD, ids=range(len(HARD)))
def test_texts_that_are_hard_to_match_end_in_a_refusal(text: str) -> None:
    assert read_output(text).plan is None


@pytest.mark.parametrize("piece", quick_every(6, PIECES))
def test_a_repeated_piece_is_not_a_plan(piece: str) -> None:
    result = read_output(piece * (100_000 // len(piece)))
    assert result.plan is None
    assert 0 < len(result.diagnostics) <= MAX_REFUSALS + 4


def test_a_text_beyond_the_limit_is_refused() -> None:
    text = "Here it is:\n" + "grab(milk)\n" * (LIMIT // 11 + 1)
    assert [d.code for d in read_output(text).diagnostics] == ["SC747"]
    assert (
        len(read_output("(grab character milk)\n" * (LIMIT // 20)).steps) == LIMIT // 20
    )  # a plain plan has no such limit


def test_deep_nesting_is_refused() -> None:
    for opened, closed in (("[", "]"), ('{"plan": ', "}"), ("(", ")")):
        assert read_output(opened * 5_000 + '"grab milk"' + closed * 5_000).plan is None


def test_notes_are_bounded() -> None:
    names = " ".join([f"thing-{i}" for i in range(1000)])
    from plansafe.verifier.api import Checker

    domain = Source("d", "(define (domain d) (:predicates (p ?x)) (:action go :parameters (?x) :effect (p ?x)))")
    many = Checker(
        domain, Source("p", f"(define (problem p) (:domain d) (:objects {names}) (:init) (:goal (p thing-1)))")
    )
    result = read_loose(Source("o", "".join([f"- go(thing {i})\n" for i in range(1000)])), many)
    assert len(result.steps) == 1000
    assert len(result.notes) == MAX_NOTES


def test_bytes_that_are_not_text_are_refused() -> None:
    source = Source.from_bytes("output.txt", b"1. grab(\xffmilk)\n")
    assert [d.code for d in read_loose(source, checker("home")).diagnostics] == ["SC005"]


def test_nothing_is_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("```python\nplan = [print('here')]\n```", "['grab', __import__('os').getcwd()]", "[1] * 10 ** 10"):
        assert read_output(text).plan is None
    assert capsys.readouterr().out == ""


@settings(max_examples=300)
@given(st.sampled_from(sorted(TASKS)), st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=40))
def test_any_text_ends_in_a_result(task: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    result = read_output(text, task)
    assert (result.plan is None) == bool(result.diagnostics)
    for diagnostic in (*result.diagnostics, *result.notes):
        for label in diagnostic.labels:
            assert 0 <= label.span.start <= label.span.end <= max(len(text), 1)


@pytest.mark.slow
@settings(max_examples=300)
@given(seed=st.integers(0, 2**32))
def test_damaged_outputs_end_in_a_result(seed: int) -> None:
    chance = random.Random(seed)
    case = chance.choice(cases())
    text = list(case.text)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(text))
        text[at : at + chance.randint(0, 3)] = chance.choice(PIECES)
    result = read_output("".join(text), case.task)
    assert (result.plan is None) == bool(result.diagnostics)


@given(st.text())
def test_elements_lie_within_the_text_and_in_order(text: str) -> None:
    loose = read_text(text)
    end = 0
    for block in loose.blocks:
        assert end <= block.start <= block.end
        end = block.end
        for element in block.elements:
            assert block.start <= element.start <= block.end
    assert end <= len(loose.cleaned.text)


@given(st.text())
def test_places_in_the_cleaned_text_have_an_origin(text: str) -> None:
    cleaned = read_text(text).cleaned
    for offset, char in enumerate(cleaned.text):
        span = cleaned.origin(offset, offset + 1)
        assert 0 <= span.start < span.end <= len(text)
        if char.isalnum():
            assert text[span.start] == char
