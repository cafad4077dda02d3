"""The pattern for regular timed lines gives the same steps as the token reader."""

from __future__ import annotations

from random import Random

from plansafe.grammar.plan_lines import read_lines
from plansafe.grammar.plan_text import _read_timed_steps
from plansafe.grammar.source import Source

REGULAR = (
    "0.5: (a b) [1.0]\n",
    "1:(A)\n",
    "2.50 : (a  B) [ 3 ]",
    "; hi (x)\n",
    " 1.000: (c)[0.25]\r\n",
    "00.10: (a\n b)\n",
)
PIECES = ("0.5", ": ", ":", "(a b)", "[1.0]", "[1 +- 2]", "; c", "\n", "-1", "()", "é", "[", "]", "\x1c", "3:", "(a:b)")


def test_the_pattern_and_the_token_reader_agree() -> None:
    random, matched = Random(3), 0
    for _ in range(4000):
        parts = [random.choice(REGULAR if random.random() < 0.8 else PIECES) for _ in range(random.randint(1, 6))]
        text = "".join(parts)
        timed_steps = _read_timed_steps(text)
        if timed_steps is not None:
            matched += 1
            assert timed_steps == read_lines(Source("p", text)), text
    assert matched > 1000


def test_spans_are_correct_after_comments() -> None:
    text = "; times\n0.001: (Go a) [2.000] ; there\n"
    timed_steps = _read_timed_steps(text)
    assert timed_steps is not None
    assert timed_steps.decimals == 3
    assert text[slice(*timed_steps.steps[0].span)] == "(Go a)"
