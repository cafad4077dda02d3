"""Answers of models, also hostile ones: each is read as one rule, a refusal or a diagnostic."""

from __future__ import annotations

import pytest

from plansafe.llm.formalise.reading import MOST_TOKENS, Reading, compiled_with, read_answer
from plansafe.llm.prompts.formalising import Language
from plansafe.verifier.execution.compiled import CompiledTask

RULE = "(:termination r :parameters (?s - stove) :forbid (running ?s))"


def read(text: str, home: CompiledTask, language: Language = Language.RULES) -> Reading:
    return read_answer(text, home, language)


@pytest.mark.parametrize(
    "text",
    [
        RULE,
        f"  {RULE}\n",
        RULE.replace(" r ", " no-fire-please "),
        RULE.upper(),
        f"Here it is:\n```lisp\n{RULE}\n```\nIt says that the stove is off.",
        f"(define (safety x) (:domain household)\n {RULE})",
        RULE.replace(" r ", " "),
        RULE[:-1] + ' :severity low :hazard fire :message "off (:process" :rationale "\x1b[31m" :fix "x")',
        f"; a comment ( with ) parentheses (\n{RULE}",
    ],
)
def test_only_the_rule_of_an_answer_is_read(text: str, home: CompiledTask) -> None:
    assert read(text, home) == Reading(RULE)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CANNOT: there is no alarm", "there is no alarm"),
        ("cannot - the domain\nknows nothing\x1b[2J of it", "the domain knows nothing [2J of it"),
        ("```\nCANNOT\n```", "no reason given"),
    ],
)
def test_a_refusal_is_read_with_its_reason(text: str, reason: str, home: CompiledTask) -> None:
    assert read(text, home) == Reading(declined=reason)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "SC645"),
        ("I would rather not say", "SC645"),
        (f"{RULE}\n{RULE}", "SC645"),
        (RULE[:-1], "SC645"),
        ("(" * 100_000, "SC645"),
        ("(:process r :forbid " + "(not " * 1_000 + "(running stove)" + ")" * 1_001, "SC645"),
        ("(:process r :forbid (and " + "(running stove) " * MOST_TOKENS + "))", "SC645"),
        ("x" * 1_000_000, "SC645"),
        ("(:process r :forbid (running stove) :extends /etc/passwd)", "SC645"),
        ("(:process r :forbid (running stove) :open)", "SC645"),
        ('(:process r :forbid "../../etc/passwd")', "SC645"),
        ("(:process r :forbid (burning stove))", "SC102"),
        ("(:process r :forbid (running alarm))", "SC108"),
        ("(:process r :forbid (running ?s))", "SC107"),
        ("(:process r :forbid (always (running stove)))", "SC112"),
        ("(:process r :parameters (?x - room) :forbid (running ?x))", "SC104"),
        ("(:process r :on (explode ?x) :forbid (running stove))", "SC114"),
        ("(:process r)", "SC003"),
        ("(:process r :forbid (running stove\ud800))", "SC645"),
        ("(define (safety x) (:extends household) (:disable stove-attended))", "SC645"),
        ("(:open (running ?x))", "SC645"),
    ],
)
def test_a_text_that_is_not_a_rule_is_a_diagnostic(text: str, code: str, home: CompiledTask) -> None:
    reading = read(text, home)
    assert reading.rule is None
    assert reading.declined is None
    assert reading.wrong is not None
    assert reading.wrong.code == code, reading.wrong


def test_only_the_rule_of_a_hostile_specification_is_used(home: CompiledTask) -> None:
    text = f"(define (safety x) (:extends ../../../etc/passwd) (:disable stove-attended) (:open (running ?x)) {RULE})"
    reading = read(text, home)
    assert reading == Reading(RULE)
    assert reading.rule is not None
    checker = compiled_with([reading.rule], home)
    assert [rule.name for rule in checker.rules] == ["r1"]
    assert not checker.is_open


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("G !running(stove)", "(:trajectory r :formula (always (not (running stove))))"),
        ("```\nG(running(kettle) -> filled(kettle))\n```", "(always (imply (running kettle) (filled kettle)))"),
        (
            "The formula is:\nF !running(stove)\nThat is all.",
            "(:trajectory r :formula (sometime (not (running stove))))",
        ),
        ("!open(front-door) W present(anna, hall).", "(release (present anna hall) (or"),
    ],
)
def test_formulas_of_ltl_become_rules(text: str, rule: str, home: CompiledTask) -> None:
    rule_text = read(text, home, Language.LTL).rule
    assert rule_text is not None
    assert rule in rule_text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("G !burning(stove)", "SC102"),
        ("G G G", "SC003"),
        ("(" * 10_000, "SC003"),
        ("!" * 10_000 + "running(stove)", None),
        ("", "SC645"),
    ],
)
def test_a_text_that_is_not_a_formula_is_a_diagnostic(text: str, code: str | None, home: CompiledTask) -> None:
    reading = read(text, home, Language.LTL)
    assert reading.rule is None
    assert reading.wrong is not None
    assert code is None or reading.wrong.code == code, reading.wrong
