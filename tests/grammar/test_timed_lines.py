"""Regular timed lines are read by one pattern, as the reader of tokens would read them."""

from __future__ import annotations

from random import Random

from plansafe.grammar.plan_text import _read_lines, _timed_steps
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


def test_the_same_is_read() -> None:
    random, plain = Random(3), 0
    for _ in range(4000):
        parts = [random.choice(REGULAR if random.random() < 0.8 else PIECES) for _ in range(random.randint(1, 6))]
        text = "".join(parts)
        found = _timed_steps(text)
        if found is not None:
            plain += 1
            assert found == _read_lines(Source("p", text)), text
    assert plain > 1000


def test_places_stay_behind_comments() -> None:
    text = "; times\n0.001: (Go a) [2.000] ; there\n"
    found = _timed_steps(text)
    assert found is not None
    assert found.decimals == 3
    assert text[slice(*found.steps[0].span)] == "(Go a)"
