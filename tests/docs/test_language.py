"""Engine and kernel give the traces in the tables of docs/language.md the verdicts that the tables state."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from doc_blocks import ROOT

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Headline

LETTERS = {"f": "(f)", "g": "(g)", "fg": "(f) (g)", "-": ""}
_EXAMPLE_ROW = re.compile(r"^\| `(\([^`]+\))` \| .* \| ([^|]*`[^|`]+`) \| ([^|]*`[^|`]+`) \|$", re.MULTILINE)


class Example(NamedTuple):
    """A formula, a trace in the page's notation, and whether the formula holds on it."""

    formula: str
    trace: str
    holds: bool


def read_examples() -> list[Example]:
    text = (ROOT / "docs/language.md").read_text(encoding="utf-8")
    return [
        Example(formula, trace, holds)
        for formula, good, bad in _EXAMPLE_ROW.findall(text)
        for trace, holds in ((good, True), (bad, False))
    ]


def make_checker(formula: str, first: str, options: Options = Options(replay="always")) -> Checker:  # noqa: B008
    """Return a checker with one action for each letter and one rule.

    A formula of the past is evaluated in the final state, any other formula in the initial state.
    """
    actions = "".join(
        f"(:action to-{name} :effect (and (not (f)) (not (g)) {facts}))"
        for name, facts in (("f", "(f)"), ("g", "(g)"), ("fg", "(f) (g)"), ("none", ""))
    )
    domain = f"(define (domain letters) (:predicates (f) (g)) {actions})"
    problem = f"(define (problem p) (:domain letters) (:init {LETTERS[first]}) (:goal (and)))"
    past = formula.split()[0] in ("(yesterday", "(weak-yesterday", "(once", "(historically", "(since")
    rule = formula
    if not formula.startswith("(:"):
        rule = f"(:termination r :require {formula})" if past else f"(:trajectory r :formula {formula})"
    specification = Source("r", f"(define (safety s) {rule})")
    return Checker(Source("d", domain), Source("p", problem), [specification], options)


def test_the_tables_have_an_example_of_each_operator() -> None:
    operators = {example.formula.split()[0].strip("(") for example in read_examples()}
    assert len(operators) == 19


@pytest.mark.parametrize("example", read_examples(), ids=lambda e: f"{e.formula}-{e.holds}")
def test_a_trace_gets_the_verdict_of_the_table(example: Example) -> None:
    values, _, letters = example.trace.replace("`", "").rpartition(":")
    formula = re.sub(r"(?<=[( ])at end\b", "AT-END", example.formula)
    for name, value in re.findall(r"(\w) = (\d)", values):
        formula = re.sub(rf"(?<= ){name}(?= )", value, formula)
    formula = re.sub(r"(?<=[ ])([fg])(?=[ )])", r"(\1)", formula).replace("AT-END", "at end")
    first, *letters_of_steps = letters.split()
    plan = "".join(f"(to-{'none' if letter == '-' else letter})\n" for letter in letters_of_steps)
    report = make_checker(formula, first).check(Source("plan", plan))
    assert report.headline is (Headline.SAFE if example.holds else Headline.UNSAFE), formula


_BLAME_ROW = re.compile(r"^\| (?:`(\(:[^`]+\))`)? *\| `([-fg ]+)` \| ([a-z, -]+) \| (SAFE|UNSAFE) \|$", re.MULTILINE)


def read_blame_table() -> list[tuple[str, str, list[str], str]]:
    """Return the rows of the table of blame: rule, trace, blame of each finding, headline under ``introduced``."""
    text = (ROOT / "docs/language.md").read_text(encoding="utf-8")
    rule, rows = "", []
    for written_rule, trace, blames, headline in _BLAME_ROW.findall(text):
        rule = written_rule or rule
        rows.append((rule, trace, blames.split(", "), headline))
    return rows


@pytest.mark.parametrize("row", read_blame_table(), ids=lambda row: f"{row[0]}-{row[1]}")
def test_findings_have_the_blame_of_the_table(row: tuple[str, str, list[str], str]) -> None:
    rule, trace, blames, headline = row
    first, *steps = trace.split()
    plan = Source("plan", "".join(f"(to-{'none' if letter == '-' else letter})\n" for letter in steps))
    report = make_checker(rule, first, Options(replay="always")).check(plan)
    assert [f.blame.value for f in report.findings if f.blame] == blames
    assert report.headline is Headline.UNSAFE
    introduced = make_checker(rule, first, Options(replay="always", judge="introduced")).check(plan)
    assert introduced.headline is Headline[headline]
    assert introduced.verdict_basis.before == blames.count("pre-existing")


def test_all_rows_of_the_table_of_blame_are_read() -> None:
    assert len(read_blame_table()) == 10
