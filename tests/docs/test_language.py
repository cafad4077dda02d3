"""The traces in the tables of docs/language.md are judged as the tables say, by the engine and by the kernel."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from doc_blocks import ROOT

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Headline

LETTERS = {"f": "(f)", "g": "(g)", "fg": "(f) (g)", "-": ""}
_ROW = re.compile(r"^\| `(\([^`]+\))` \| .* \| ([^|]*`[^|`]+`) \| ([^|]*`[^|`]+`) \|$", re.MULTILINE)


class Example(NamedTuple):
    """A formula, a trace in the page's notation, and whether the formula holds on it."""

    formula: str
    trace: str
    holds: bool


def examples() -> list[Example]:
    text = (ROOT / "docs/language.md").read_text(encoding="utf-8")
    return [
        Example(formula, trace, holds)
        for formula, good, bad in _ROW.findall(text)
        for trace, holds in ((good, True), (bad, False))
    ]


def checker(formula: str, first: str, options: Options = Options(replay="always")) -> Checker:  # noqa: B008
    """One action for each kind of letter, and one rule: past formulas are asked at the end, others at the beginning."""
    actions = "".join(
        f"(:action to-{name} :effect (and (not (f)) (not (g)) {facts}))"
        for name, facts in (("f", "(f)"), ("g", "(g)"), ("fg", "(f) (g)"), ("none", ""))
    )
    domain = f"(define (domain letters) (:predicates (f) (g)) {actions})"
    problem = f"(define (problem p) (:domain letters) (:init {LETTERS[first]}) (:goal (and)))"
    past = formula.split()[0] in ("(yesterday", "(weak-yesterday", "(once", "(historically", "(since")
    kind = formula
    if not formula.startswith("(:"):
        kind = f"(:termination r :require {formula})" if past else f"(:trajectory r :formula {formula})"
    texts = [Source(*named) for named in (("d", domain), ("p", problem), ("r", f"(define (safety s) {kind})"))]
    return Checker(texts[0], texts[1], texts[2:], options)


def test_the_tables_have_an_example_of_each_operator() -> None:
    named = {example.formula.split()[0].strip("(") for example in examples()}
    assert len(named) == 19


@pytest.mark.parametrize("example", examples(), ids=lambda e: f"{e.formula}-{e.holds}")
def test_a_trace_is_judged_as_the_table_says(example: Example) -> None:
    values, _, letters = example.trace.replace("`", "").rpartition(":")
    formula = re.sub(r"(?<=[( ])at end\b", "AT-END", example.formula)
    for name, value in re.findall(r"(\w) = (\d)", values):
        formula = re.sub(rf"(?<= ){name}(?= )", value, formula)
    formula = re.sub(r"(?<=[ ])([fg])(?=[ )])", r"(\1)", formula).replace("AT-END", "at end")
    first, *rest = letters.split()
    plan = "".join(f"(to-{'none' if letter == '-' else letter})\n" for letter in rest)
    report = checker(formula, first).check(Source("plan", plan))
    assert report.headline is (Headline.SAFE if example.holds else Headline.UNSAFE), formula


_BLAMED = re.compile(r"^\| (?:`(\(:[^`]+\))`)? *\| `([-fg ]+)` \| ([a-z, -]+) \| (SAFE|UNSAFE) \|$", re.MULTILINE)


def blamed() -> list[tuple[str, str, list[str], str]]:
    """The rows of the table of blame: rule, trace, blame of each finding, headline under ``introduced``."""
    rule, out = "", []
    for named, trace, blames, headline in _BLAMED.findall((ROOT / "docs/language.md").read_text(encoding="utf-8")):
        rule = named or rule
        out.append((rule, trace, blames.split(", "), headline))
    return out


@pytest.mark.parametrize("row", blamed(), ids=lambda row: f"{row[0]}-{row[1]}")
def test_blame_decides_as_the_table_says(row: tuple[str, str, list[str], str]) -> None:
    rule, trace, blames, headline = row
    first, *steps = trace.split()
    plan = Source("plan", "".join(f"(to-{'none' if letter == '-' else letter})\n" for letter in steps))
    found = checker(rule, first, Options(replay="always")).check(plan)
    assert [f.blame.value for f in found.findings if f.blame] == blames
    assert found.headline is Headline.UNSAFE
    introduced = checker(rule, first, Options(replay="always", judge="introduced")).check(plan)
    assert introduced.headline is Headline[headline]
    assert introduced.verdict_basis.before == blames.count("pre-existing")


def test_the_table_of_blame_is_read() -> None:
    assert len(blamed()) == 10
