"""Hand-made reports for the renderers, and golden texts; makes this folder and `bench` importable by tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plansafe.app.project.inputs import Input
from plansafe.app.session.model import Result
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import (
    Blame,
    Finding,
    FindingClass,
    Headline,
    Reading,
    Report,
    Row,
    RuleCount,
    Table,
    ValueChange,
    Worlds,
    make_unchecked_report,
)

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[2])]  # the second for bench

GOLDEN = Path(__file__).parent / "golden"

PLAN = Source(
    "plan.pddl",
    """; boil some water
(go robot hallway kitchen)
(take robot pan)
(turn-on robot stove)
(place robot pan stove)
(go robot kitchen hallway)
""",
)
SPEC = Source(
    "kitchen.safe",
    """(define (safety kitchen)
  (:trajectory stove-attended
    :parameters (?s - stove)
    :formula (always (imply (on ?s) (occupied kitchen)))))
""",
)


def span_of(source: Source, text: str, nth: int = 0) -> Span:
    start = -1
    for _ in range(nth + 1):
        start = source.text.index(text, start + 1)
    return Span(start, start + len(text))


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with ``golden/NAME``; ``UPDATE_GOLDEN=1`` rewrites it."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check


def _row(step: int, action: str, on: tuple[str, str], occupied: tuple[str, str], status: str, important: bool) -> Row:
    return Row(step, action, (ValueChange(*on), ValueChange(*occupied)), status, important)


@pytest.fixture
def unsafe() -> Result:
    """A plan that leaves a stove on."""
    table = Table(
        ("(on stove)", "(occupied kitchen)"),
        (
            _row(3, "turn-on robot stove", ("F", "T"), ("T", "T"), "ok", True),
            _row(4, "place robot pan stove", ("T", "T"), ("T", "T"), "ok", False),
            _row(5, "go robot kitchen hallway", ("T", "T"), ("T", "F"), "FAILS", True),
        ),
    )
    related = (
        Label(
            PLAN.name,
            span_of(PLAN, "(go robot kitchen hallway)"),
            "leaves the stove on with nobody in the kitchen",
            True,
        ),
        Label(PLAN.name, span_of(PLAN, "(turn-on robot stove)"), "(on stove) becomes true here", False),
        Label(SPEC.name, span_of(SPEC, "(always (imply (on ?s) (occupied kitchen)))"), "the rule, ?s = stove", False),
    )
    finding = Finding(
        "SC202",
        FindingClass.TRAJECTORY,
        "rule `stove-attended` is violated at step 5",
        5,
        rule="stove-attended",
        binding=(("?s", "stove"),),
        blame=Blame.INTRODUCED,
        source=PLAN.name,
        span=span_of(PLAN, "(go robot kitchen hallway)"),
        related=related,
        help="insert `(turn-off robot stove)` before step 5",
        table=table,
        hazard="fire",
        targets=("human", "property"),
        severity="critical",
        rationale="An unattended stove starts fires.",
        rationale_source="NFPA, home cooking fires",
        replayed=True,
    )
    pending = Finding(
        "SC204",
        FindingClass.OBLIGATION,
        "rule `close-the-fridge` is pending at the end",
        0,
        rule="close-the-fridge",
        binding=(("?f", "fridge"),),
        at_end=True,
        blame=Blame.PRE_EXISTING,
        related=(Label(SPEC.name, span_of(SPEC, "stove-attended"), "the rule", False),),
        severity="low",
    )
    rules = (
        RuleCount("stove-attended", "trajectory", SPEC.name, 1, 1, 1, "violated"),
        RuleCount("close-the-fridge", "obligation", SPEC.name, 1, 1, 1, "violated"),
        RuleCount("dry-hands", "process", SPEC.name, 0, 0, 0, "never applied"),
    )
    report = Report(
        PLAN.name, Headline.UNSAFE, Worlds.ALL, Worlds.ALL, Worlds.NONE, 5, findings=(finding, pending), rules=rules
    )
    plan = Input("plan", PLAN.name, "given", PLAN, "0" * 64)
    spec = Input("specification", SPEC.name, "--spec", SPEC, "1" * 64)
    return Result(PLAN.name, report, (plan, spec), {PLAN.name: PLAN, SPEC.name: SPEC})


@pytest.fixture
def invalid() -> Result:
    """A failed step, with three readings and a warning."""
    step = span_of(PLAN, "(take robot pan)")
    finding = Finding(
        "SC301",
        FindingClass.INEXECUTABLE,
        "step 2 cannot be executed: `(reachable pan)` is false",
        2,
        source=PLAN.name,
        span=step,
        replayed=True,
    )
    warning = Diagnostic(
        "SC702",
        "rule `dry-hands` is not applicable",
        (Label(SPEC.name, span_of(SPEC, "kitchen"), "not checked"),),
        severity=Severity.WARNING,
    )
    readings = (
        Reading("halt", 1, Worlds.NONE, Worlds.ALL),
        Reading("skip", 4, Worlds.ALL, Worlds.ALL),
        Reading("force", 5, Worlds.ALL, Worlds.NONE),
    )
    report = Report(
        PLAN.name,
        Headline.INVALID,
        Worlds.NONE,
        Worlds.NONE,
        Worlds.ALL,
        5,
        findings=(finding,),
        readings=readings,
        diagnostics=(warning,),
        suppressed=3,
        limits=("findings",),
        assumptions=("closed world",),
        preferences_violated=(("tidy", 2),),
        metric="7/2",
    )
    return Result(PLAN.name, report, (Input("plan", PLAN.name, "given", PLAN),), {PLAN.name: PLAN, SPEC.name: SPEC})


@pytest.fixture
def unread() -> Result:
    """A plan that could not be read."""
    source = Source("broken.pddl", "(go robot\n")
    label = Label(source.name, Span(0, 1), "this one is not closed")
    diagnostic = Diagnostic("SC002", "1 parenthesis is not closed", (label,), help="add `)` at the end")
    return Result(source.name, make_unchecked_report(source.name, diagnostic), (), {source.name: source})


@pytest.fixture
def passing() -> Result:
    """A plan without findings."""
    rules = tuple(
        RuleCount(f"rule-{i}", "process", SPEC.name, 12, 3, 0, "kept" if i else "never applied") for i in range(14)
    )
    report = Report(PLAN.name, Headline.SAFE, Worlds.ALL, Worlds.ALL, Worlds.ALL, 5, rules=rules)
    plan = Input("plan", PLAN.name, "given", PLAN, "0" * 64)
    spec = Input("specification", SPEC.name, "--spec", SPEC, "1" * 64)
    return Result(PLAN.name, report, (plan, spec), {PLAN.name: PLAN, SPEC.name: SPEC})
