"""Test reports on a terminal: width, colours, and the order of findings and inputs."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from command_line import Terminal

from plansafe.app.render import renderer
from plansafe.app.render.excerpt import excerpt
from plansafe.app.render.table import table_lines
from plansafe.app.session.model import Result, Settings
from plansafe.app.system.process import terminal
from plansafe.app.system.terminal_text import WIDE, Style, folded, width
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Row, Table, ValueChange, make_unchecked_report

WIDTHS = (60, 80, 120)


def full(result: Result, columns: int = WIDE, color: bool = False) -> str:
    return renderer("full", Settings(), Style(color, columns)).plan(result)


# -- width


def table(columns: int, rows: int = 3) -> Table:
    """A table whose facts, of 20 to 40 letters, become true one after the other."""
    names = tuple(f"(on-top-of box{number:02} shelf{'x' * number * 4})" for number in range(columns))
    values = [["T" if number < row else "F" for number in range(columns)] for row in range(rows + 1)]
    cells = [tuple(map(ValueChange, before, after)) for before, after in pairwise(values)]
    return Table(names, tuple(Row(n + 7, f"put box{n} shelf", cells[n], "ok", n == 1) for n in range(rows)))


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("facts", [1, 2, 3, 5, 9])
def test_table_fits_the_terminal(columns: int, facts: int) -> None:
    lines = table_lines(table(facts), Style(False), columns)
    assert max(width(line) for line in lines) <= columns
    for name in table(facts).columns[:3]:
        assert name in " ".join(lines)


def test_table_that_does_not_fit_is_a_list() -> None:
    assert table_lines(table(2), Style(False), 80)[0].startswith("step  action")
    assert table_lines(table(2), Style(False), 50) == [
        "   7  put box0 shelf  ok",
        "        (on-top-of box00 shelf): F -> T",
        "        (on-top-of box01 shelfxxxx): F",
        ">  8  put box1 shelf  ok",
        "        (on-top-of box01 shelfxxxx): F -> T",
        "   9  put box2 shelf  ok",
    ]


def test_omitted_rows_are_marked_in_a_list() -> None:
    complete = table(2)
    lines = table_lines(complete._replace(rows=(complete.rows[0], complete.rows[2])), Style(False), 50)
    assert lines[3:5] == ["  ..", "   9  put box2 shelf  ok"]


def test_long_words_in_a_list_are_broken_at_blanks() -> None:
    row = Row(1, "carry robot " + "box " * 12, (ValueChange("F", "T"),), "FAILS", True)
    lines = table_lines(Table(("(" + "very " * 12 + "long)",), (row,)), Style(False), 50)
    assert max(width(line) for line in lines) <= 50
    assert " ".join(" ".join(lines).split()) == (
        "> 1 carry robot " + "box " * 12 + "FAILS (" + "very " * 12 + "long): F -> T"
    )


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_report_fits_the_terminal(columns: int, unsafe: Result) -> None:
    tables = [line for line in full(unsafe, columns).splitlines() if re.match(r" *\d* \|", line)]
    assert tables
    assert max(map(width, tables)) <= columns


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("start", [0, 30, 55, 100, 200])
def test_excerpt_and_label_fit_the_terminal(columns: int, start: int) -> None:
    source = Source("x", "a" * start + "bad" + "z" * 100)
    label = Label(
        "x", Span(start, start + 3), "a rather long label, such as one that lists all the tokens that were expected"
    )
    lines = excerpt([label], {"x": source}, 2, Style(False, columns))
    assert max(map(width, lines)) <= columns
    words = " ".join(line.lstrip("| ") for line in lines[3:])
    assert words.endswith(label.text)


def test_lines_are_broken_only_at_blanks() -> None:
    assert folded("a bc def", 4) == ["a bc", "def"]
    assert folded("a bcdefgh i", 4) == ["a", "bcdefgh", "i"]
    assert folded("杯 子 x", 4) == ["杯", "子 x"]


def test_file_has_the_default_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("CLICOLOR_FORCE", raising=False)
    assert terminal("auto", io.StringIO()).columns == WIDE
    assert terminal("auto", Terminal()).columns == 60
    assert terminal("always", io.StringIO()).columns == 60
    monkeypatch.setenv("COLUMNS", "many")
    assert terminal("auto", Terminal()).columns == WIDE


# -- colours

VARIABLES = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM")


@pytest.mark.parametrize(
    ("choice", "is_terminal", "environment", "colored"),
    [
        ("auto", True, "", True),
        ("auto", False, "", False),
        ("auto", True, "TERM=dumb", False),
        ("auto", True, "CLICOLOR=0", False),
        ("auto", True, "NO_COLOR=1", False),
        ("auto", True, "NO_COLOR=", True),
        ("auto", False, "FORCE_COLOR=1", True),
        ("auto", False, "FORCE_COLOR=", False),
        ("auto", False, "FORCE_COLOR=0", False),
        ("auto", False, "CLICOLOR_FORCE=1", True),
        ("auto", False, "CLICOLOR_FORCE=0", False),
        ("auto", False, "CLICOLOR=1", False),
        ("auto", False, "FORCE_COLOR=1 TERM=dumb", True),
        ("auto", True, "FORCE_COLOR=1 NO_COLOR=1", False),
        ("auto", False, "CLICOLOR_FORCE=1 NO_COLOR=1", False),
        ("always", False, "NO_COLOR=1", True),
        ("never", True, "FORCE_COLOR=1", False),
    ],
)
def test_option_and_environment_select_colours(
    monkeypatch: pytest.MonkeyPatch, choice: str, is_terminal: bool, environment: str, colored: bool
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for pair in environment.split():
        monkeypatch.setenv(*pair.split("="))
    style = terminal(choice, Terminal() if is_terminal else io.StringIO())
    assert (style.bold("x") != "x") == colored


def test_the_concise_format_is_coloured(unsafe: Result, invalid: Result, passing: Result) -> None:
    def concise(result: Result, color: bool) -> str:
        return renderer("concise", Settings(), Style(color)).plan(result)

    colored = concise(unsafe, True)
    assert "\x1b[1mplan.pddl:6:1\x1b[0m: \x1b[1;31merror[SC202]\x1b[0m rule" in colored
    assert "\x1b[1;31mUNSAFE\x1b[0m (" in colored
    assert "\x1b[1;33mwarning[SC702]\x1b[0m" in concise(invalid, True)
    assert "\x1b[1;32mSAFE\x1b[0m (" in concise(passing, True)
    for result in (unsafe, invalid, passing):
        assert re.sub(r"\x1b\[[\d;]*m", "", concise(result, True)) == concise(result, False)


@pytest.mark.parametrize(
    ("severity", "sgr"), [(Severity.ERROR, "1;31"), (Severity.WARNING, "1;33"), (Severity.NOTE, "1;36")]
)
def test_caret_has_the_colour_of_its_severity(severity: Severity, sgr: str) -> None:
    source = Source("x.plan", "(go)")
    diagnostic = Diagnostic("SC702", "something", (Label("x.plan", Span(0, 4), "here"),), severity=severity)
    text = full(Result("x.plan", make_unchecked_report("x.plan", diagnostic), (), {"x.plan": source}), color=True)
    assert f"\x1b[{sgr}m^^^^\x1b[0m \x1b[{sgr}mhere\x1b[0m" in text
    assert f"\x1b[{sgr}m{severity.value}[SC702]\x1b[0m" in text


# -- order


def order_in(text: str, *words: str) -> list[str]:
    return sorted(words, key=text.index)


def test_findings_come_before_a_long_list_of_inputs(
    unsafe: Result, invalid: Result, passing: Result, add_inputs: Callable[[Result, str], Result]
) -> None:
    text = full(add_inputs(unsafe, "domain"))
    words = ("plan ", "error[SC202]", "error[SC204]", "specification", "UNSAFE")
    assert order_in(text, *words) == list(words)
    text = full(invalid)
    words = ("plan ", "error[SC301]", "warning[SC702]", "INVALID")
    assert order_in(text, *words) == list(words)
    text = full(add_inputs(passing, "domain"))
    words = ("plan ", "domain", "specification", "SAFE")
    assert order_in(text, *words) == list(words)


def test_short_list_of_inputs_comes_first(unsafe: Result) -> None:
    text = full(unsafe)
    words = ("plan ", "specification", "error[SC202]", "UNSAFE")
    assert order_in(text, *words) == list(words)


@pytest.fixture
def add_inputs() -> Callable[[Result, str], Result]:
    """Add three inputs with a role, so that many lines are about inputs."""

    def add(result: Result, role: str) -> Result:
        extra = tuple([result.inputs[0]._replace(role=f"{role}", path=f"{n}.pddl", how=f"way {n}") for n in range(3)])
        return result._replace(inputs=(result.inputs[0], *extra, *result.inputs[1:]))

    return add
