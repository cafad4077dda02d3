"""Findings: every code a report may hold, the step it marks, and the places elsewhere that it points at.

``«..»`` marks the step (or the token of it) in the plan.
"""

from __future__ import annotations

import pytest
from engine_texts import check, checker, domain, judge, problem, safety, verdict

from plansafe.grammar.source import Source
from plansafe.verifier.api import Options
from plansafe.verifier.reporting.report import FindingClass, Worlds

DOMAIN = domain(
    "(:action put :parameters (?x - cup) :precondition (not (on ?x)) :effect (on ?x))",
    "(:action take :parameters (?x - cup) :precondition (on ?x) :effect (not (on ?x)))",
    "(:action fill :effect (increase (level) (speed)))",
    "(:action stop :effect (assign (speed) 0))",
    "(:action halve :effect (scale-down (level) (speed)))",
    "(:action both :effect (and (assign (level) 1) (increase (level) 1)))",
    "(:action square :effect (scale-up (level) (level)))",
    "(:durative-action boil :parameters (?x - cup) :duration (= ?duration 3)"
    " :condition (and (at start (on ?x)) (over all (on ?x)) (at end (lit))) :effect (at end (hot ?x)))",
    types="cup lid - object",
    predicates="(on ?x - cup) (hot ?x - cup) (lit)",
    functions="(level) (speed) - number",
)
OBJECTS = "a b - cup l - lid"


def marked(text: str) -> tuple[str, str]:
    """The plan, and the part of it between the marks."""
    before, _, after_mark = text.partition("«")
    inside, _, after = after_mark.partition("»")
    return before + inside + after, inside


FAILURES = [
    ("SC301", "(put a) «(put a)»", ""),
    ("SC301", "0: (put a) 2: «(put a)»", ""),
    ("SC302", "«(fill)»", "(= (level) 1)"),
    ("SC302", "«(halve)»", "(= (level) 1) (= (speed) 0)"),
    ("SC303", "«(both)»", "(= (level) 1)"),
    ("SC304", "0: «(take a)» 0: (take a)", "(on a)"),
    ("SC305", "0: «(boil a)» [4]", "(on a) (lit)"),
    ("SC306", "0: «(boil a)» [3] 1: (take a)", "(on a) (lit)"),
    ("SC301", "0: «(boil a)» [3]", "(on a)"),
    ("SC401", "(«pout» a)", ""),
    ("SC402", "(«put» a b)", ""),
    ("SC403", "(put a) (put «c»)", ""),
    ("SC403", "(put ; a\n «c»)", ""),
    ("SC404", "(put «l»)", ""),
    ("SC405", "(«boil» a)", "(on a)"),
    ("SC405", "0: («boil» a)", "(on a)"),
    ("SC406", "-1: («put» a)", ""),
    ("SC406", "0: («boil» a) [-3]", "(on a)"),
    ("SC406", "0: («put» a) [1 +- 1]", ""),
]


@pytest.mark.parametrize(("code", "plan", "init"), FAILURES)
def test_a_step_that_cannot_be_taken(code: str, plan: str, init: str) -> None:
    text, inside = marked(plan)
    report = check(DOMAIN, problem(objects=OBJECTS, init=init), text)
    finding = report.findings[0]
    assert finding.code == code
    assert finding.span is not None
    assert text[slice(*finding.span)] == inside
    assert report.executable is Worlds.NONE
    assert report.exit_code == (2 if code.startswith("SC4") else 1)


def test_an_unmet_goal_names_the_missing_fact_and_its_actions() -> None:
    report = check(DOMAIN, problem(objects=OBJECTS, goal="(and (on a) (hot b))"), "(put a) (take a)")
    (finding,) = report.findings
    assert (finding.code, finding.step, finding.at_end) == ("SC310", 2, True)
    assert finding.notes == ("`(on a)` is false", "`(hot b)` is false")
    assert [(label.source, label.text) for label in finding.related] == [
        ("plan", "`(on a)` becomes false here"),
        ("problem", "the goal"),
    ]


def test_a_failed_step_points_at_the_step_that_spoilt_it() -> None:
    plan = Source("plan", "(put a) (take a) (take a)")
    report = check(DOMAIN, problem(objects=OBJECTS), plan.text)
    (finding,) = report.findings
    assert finding.notes == ("`(on a)` is false",)
    assert [(label.source, label.text) for label in finding.related] == [
        ("plan", "`(on a)` becomes false here"),
        ("domain", "the precondition of `take`"),
    ]
    assert plan.slice(finding.related[0].span) == "(take a)"
    assert DOMAIN[slice(*finding.related[1].span)] == "(on ?x)"


def test_help_names_a_later_step_that_would_do() -> None:
    (finding,) = [
        finding for finding in check(DOMAIN, problem(objects=OBJECTS), "(take a) (put a)").findings if finding.step == 1
    ]
    assert finding.help == "step 2 `(put a)` makes `(on a)`: should it come before step 1?"


def test_help_names_actions_that_would_do() -> None:
    (finding,) = check(DOMAIN, problem(objects=OBJECTS), "(take a)").findings
    assert finding.help == "actions that can make it true: `put`"


@pytest.mark.parametrize(
    ("plan", "help"),
    [
        ("(takke a)", "did you mean `take`?"),
        ("(take)", "its parameters are `(take ?x)`"),
        ("(take ab)", "did you mean `b`?"),
        ("(take l)", "objects of that type: a, b"),
        ("(boil a)", "write `0.0: (boil ..) [duration]`"),
        ("0: (put a) [1 +- 1]", "leave it out"),
    ],
)
def test_help_for_an_ill_formed_step(plan: str, help: str) -> None:
    finding = check(DOMAIN, problem(objects=OBJECTS), plan).findings[0]
    assert finding.finding_class is FindingClass.ILL_FORMED
    assert finding.help in (help, "did you mean `a`?" if "ab" in plan else help)


def test_every_ill_formed_step_is_reported() -> None:
    report = check(DOMAIN, problem(objects=OBJECTS), "(zzz) (put c) (put a) (put l)")
    assert [(finding.code, finding.step) for finding in report.findings] == [("SC401", 1), ("SC403", 2), ("SC404", 4)]
    assert report.exit_code == 2


@pytest.mark.parametrize(
    ("code", "rule", "expected"),
    [
        ("SC201", "(:process r :parameters (?x - cup) :forbid (on ?x))", "r(?x=a)@1"),
        ("SC201", "(:process r :on (put ?x) :forbid (not (hot ?x)))", "r(?x=a)@1"),
        ("SC202", "(:trajectory r :formula (always (not (on a))))", "r@1"),
        ("SC202", "(:trajectory r :formula (sometime (hot a)))", "r@end"),
        ("SC203", "(:termination r :parameters (?x - cup) :forbid (on ?x))", "r(?x=a)@end"),
        ("SC204", "(:obligation r :parameters (?x - cup) :when (on ?x) :then (hot ?x))", "r(?x=a)@end"),
    ],
)
def test_a_broken_rule(code: str, rule: str, expected: str) -> None:
    report = check(DOMAIN, problem(objects=OBJECTS), "(put a)", safety(rule))
    assert verdict(report) == f"UNSAFE {expected}"
    (finding,) = report.findings
    assert finding.code == code
    assert [label.source for label in finding.related][-1] == "spec"


def test_a_broken_constraint() -> None:
    report = check(DOMAIN, problem("(:constraints (always (not (on a))))", objects=OBJECTS), "(put a)")
    assert verdict(report) == "UNSAFE constraint-1@1"
    assert report.findings[0].code == "SC205"


def test_messages_and_advice_are_filled_in() -> None:
    rule = '(:process r :parameters (?x - cup) :forbid (on ?x) :message "{?x} is on" :fix "take {?x}" :severity low)'
    (finding,) = check(DOMAIN, problem(objects=OBJECTS), "(put a)", safety(rule)).findings
    assert finding.message == "rule `r` is violated at step 1: a is on"
    assert (finding.help, finding.severity) == ("take a", "low")


def test_a_number_that_grows_too_large_is_unknown() -> None:
    plan = "(square)" * 20
    report = check(DOMAIN, problem(objects=OBJECTS, init="(= (level) 2)"), plan)
    assert verdict(report) == "UNKNOWN"
    assert [diagnostic.code for diagnostic in report.diagnostics] == ["SC501"]
    assert report.exit_code == 3


def test_a_time_limit_is_unknown() -> None:
    checked = checker(DOMAIN, problem(objects=OBJECTS), options=Options(time_limit_s=0.0))
    report = judge(checked, "(put a) (take a)" * 1000)
    assert verdict(report) == "UNKNOWN"
    assert [diagnostic.code for diagnostic in report.diagnostics] == ["SC502"]


def test_an_undefined_number_leaves_a_rule_undecided() -> None:
    report = check(DOMAIN, problem(objects=OBJECTS), "(put a)", safety("(:process r :forbid (> (level) 3))"))
    assert verdict(report) == "UNKNOWN r@end"
    assert report.findings[0].code == "SC504"
    assert [(rule.name, rule.status) for rule in report.rules] == [("r", "undecided")]


@pytest.mark.slow
def test_templates_that_explode_are_refused() -> None:
    doubling = [f"(:define (m{n + 1}) (and (m{n}) (m{n})))" for n in range(30)]
    spec = safety("(:define (m0) (on a))", *doubling, "(:process r :forbid (m30))")
    checked = checker(DOMAIN, problem(objects=OBJECTS), spec)
    assert [diagnostic.code for diagnostic in checked.diagnostics] == ["SC503"]
    assert not checked.ok


def test_require_rules() -> None:
    checked = checker(DOMAIN, problem(objects=OBJECTS), options=Options(require_rules=True))
    report = judge(checked, "(put a)")
    assert [diagnostic.code for diagnostic in report.diagnostics] == ["SC605"]


def test_a_file_that_cannot_be_read_gives_no_verdict() -> None:
    report = checker("(define (domain d)", problem()).check(Source("plan", "(put a)"))
    assert (report.headline, report.exit_code) == (None, 2)
    assert [diagnostic.code for diagnostic in report.diagnostics] == ["SC002"]


# -- tables of steps ------------------------------------------------------------------------------------


def rows(plan: str, rule: str, init: str = "", number: int = 0) -> list[str]:
    """The table of a rule's finding: step, action, and each cell that changes or is the last."""
    findings = [
        finding
        for finding in check(DOMAIN, problem(objects=OBJECTS, init=init), plan, safety(rule)).findings
        if finding.rule == "r"
    ]
    table = findings[number].table
    assert table is not None
    return [
        f"{row.step} {row.action}: "
        + " ".join(f"{cell.before}>{cell.after}" if cell.before != cell.after else cell.after for cell in row.cells)
        for row in table.rows
    ]


HOT = "(:process r :parameters (?x - cup) :forbid (and (on ?x) (hot ?x)))"
BUSY = "(:process r :parameters (?x - cup) :forbid (and (on ?x) (lit)))"


def test_a_step_that_was_skipped_changes_nothing() -> None:
    rule = "(:process r :forbid (and (on a) (on b)))"
    assert rows("(take a) (put a) (take b) (put b)", rule) == [
        "0 initial state: F F",
        "2 put a: F>T F",
        "4 put b: T F>T",
    ]


def test_the_change_of_a_happening_is_that_of_the_step_that_made_it() -> None:
    plan = "0: (boil a) [3] 3: (put b) 3: (fill)"
    assert rows(plan, HOT, "(on a) (lit) (= (level) 0) (= (speed) 1)") == [
        "0 initial state: T F",
        "1 boil a: T F>T",
        "3 fill: T T",
    ]


def test_timed_literals_are_no_steps() -> None:
    plan = "0: (put a) 2: (put b)"
    assert rows(plan, BUSY, "(at 1 (lit))") == ["0 initial state: F F", "1 put a: F>T F", "0 timed literal: T F>T"]


def test_a_row_names_all_simultaneous_steps() -> None:
    plan = "0: (fill) 0: (fill) 1: (put a)"
    rule = "(:process r :forbid (> (level) 3))"
    assert rows(plan, rule, "(= (level) 0) (= (speed) 2)") == ["0 initial state: 0", "2 fill and fill: 0>4"]


def test_a_condition_over_all_fails_behind_the_step_that_breaks_it() -> None:
    report = check(DOMAIN, problem(objects=OBJECTS, init="(on a) (lit)"), "0: (boil a) [3] 1: (take a)")
    finding = report.findings[0]
    assert finding.code == "SC306"
    assert finding.table is not None
    assert [(row.step, row.cells[0].before, row.cells[0].after) for row in finding.table.rows] == [
        (0, "T", "T"),
        (2, "T", "F"),
        (1, "F", "F"),
    ]
    assert finding.related[0].text == "`(on a)` becomes false here"


def test_a_step_that_was_not_taken_does_not_count_for_a_rule() -> None:
    rule = "(:process r :on (take ?x) :require (once (action (put ?x))))"
    report = check(DOMAIN, problem(objects=OBJECTS, init="(on a)"), "(put a) (take a)", safety(rule))
    (finding,) = [finding for finding in report.findings if finding.rule == "r" and finding.readings == ("skip",)]
    assert [label.text for label in finding.related] == ["the rule, ?x = a"]
