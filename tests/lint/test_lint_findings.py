"""The linter's findings about many specifications of one kitchen."""

from __future__ import annotations

import pytest

from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.specs.lint.api import lint
from plansafe.specs.lint.model import LintOptions, LintResult

DOMAIN = Source(
    "kitchen",
    """(define (domain kitchen)
  (:requirements :adl :numeric-fluents)
  (:types room thing - object  stove pan cup - thing)
  (:predicates (robot-in ?r - room) (at ?x - thing ?r - room) (on ?s - stove) (held ?x - thing) (free)
               (burning ?x - thing) (metal ?x - thing) (clean ?x - thing) (hot ?x - thing) (lost ?x - thing))
  (:functions (level ?x - thing) - number)
  (:action go :parameters (?from ?to - room)
    :precondition (robot-in ?from) :effect (and (not (robot-in ?from)) (robot-in ?to)))
  (:action take :parameters (?x - thing ?r - room)
    :precondition (and (robot-in ?r) (at ?x ?r) (free)) :effect (and (held ?x) (not (at ?x ?r)) (not (free))))
  (:action put :parameters (?x - thing ?r - room)
    :precondition (and (robot-in ?r) (held ?x)) :effect (and (at ?x ?r) (not (held ?x)) (free)))
  (:action switch-on :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (at ?s ?r) (not (on ?s))) :effect (and (on ?s) (hot ?s)))
  (:action switch-off :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (at ?s ?r) (on ?s)) :effect (not (on ?s)))
  (:action wash :parameters (?x - cup) :precondition (held ?x) :effect (clean ?x))
  (:action stuck :parameters (?s - stove) :precondition (and (on ?s) (not (on ?s))) :effect (clean ?s)))""",
)
PROBLEM = Source(
    "home",
    """(define (problem home) (:domain kitchen)
  (:objects kitchen hall - room  hob - stove  mug - cup)
  (:init (robot-in kitchen) (at hob kitchen) (at mug kitchen) (free) (= (level mug) 1))
  (:goal (and (at mug hall) (robot-in hall))))""",
)
META = ":hazard fire :target human"


def linted(rules: str, *problems: Source, search: bool = True) -> LintResult:
    """The findings about rules of the kitchen."""
    spec = Source("rules", f"(define (safety rules) {rules})".replace("META", META))
    result = lint(DOMAIN, problems, [spec], LintOptions(time_limit_s=20.0, search=search))
    assert result.usable, result.diagnostics
    return result


def codes_of(result: LintResult) -> set[tuple[str, ...]]:
    """The codes of warnings and errors, each with its rules."""
    return {(finding.code, *finding.rules) for finding in result.findings if finding.severity is not Severity.NOTE}


OF_ANY_PROBLEM = {
    "contradicts itself": (
        "(:process r :parameters (?s - stove) :forbid (and (on ?s) (not (on ?s))) META)",
        {("SC750", "r")},
    ),
    "a tautology over the trace": (
        "(:trajectory r :parameters (?s - stove) :formula (or (always (on ?s)) (sometime (not (on ?s)))) META)",
        {("SC750", "r")},
    ),
    "the precondition rules it out": (
        "(:process r :on (switch-on ?s ?r) :forbid (on ?s) META)",
        {("SC750", "r")},
    ),
    "the effects rule it out": (
        "(:process r :on (go ?a ?b) :require-after (robot-in ?b) META)",
        {("SC750", "r")},
    ),
    "an action that can never be taken": (
        "(:process r :on (stuck ?s) :require (clean ?s) META)",
        {("SC750", "r")},
    ),
    "numbers": (
        "(:process r :parameters (?x - cup) :forbid (and (> (level ?x) 3) (< (level ?x) 2)) META)",
        {("SC750", "r")},
    ),
    "once, over the past": (
        "(:process r :on (wash ?x) :require (once (held ?x)) META)",
        {("SC750", "r")},
    ),
    "objects of other types": (
        "(:process r :parameters (?x - cup) :forbid (exists (?s - stove) (and (= ?s ?x) (on ?s))) META)",
        {("SC750", "r")},
    ),
    "never satisfied": (
        "(:process r :parameters (?s - stove) :forbid (or (on ?s) (not (on ?s))) META)",
        {("SC751", "r")},
    ),
    "never satisfied, over the trace": (
        "(:trajectory r :parameters (?s - stove) :formula (and (always (on ?s)) (sometime (not (on ?s)))) META)",
        {("SC751", "r")},
    ),
    "two rules about states": (
        (
            "(:process a :parameters (?x - thing) :require (clean ?x) META)"
            "(:process b :parameters (?x - cup) :forbid (clean ?x) META)"
        ),
        {("SC752", "a", "b"), ("SC753", "b")},
    ),
    "a state and the end": (
        (
            "(:process a :parameters (?s - stove) :forbid (on ?s) META)"
            "(:termination b :parameters (?s - stove) :require (on ?s) META)"
        ),
        {("SC752", "a", "b"), ("SC753", "a")},
    ),
    "a state and a trace": (
        (
            "(:process a :parameters (?s - stove) :forbid (hot ?s) META)"
            "(:trajectory b :parameters (?s - stove) :formula (sometime (hot ?s)) META)"
        ),
        {("SC752", "a", "b"), ("SC753", "a")},
    ),
    "numbers of two rules": (
        (
            "(:process a :parameters (?x - cup) :require (<= 5 (level ?x)) META)"
            "(:process b :parameters (?x - cup) :forbid (> (level ?x) 3) META)"
        ),
        {("SC752", "a", "b"), ("SC756", "a"), ("SC756", "b")},
    ),
    "an action ruled out by one rule": (
        "(:process r :on (switch-on ?s ?r) :require (on ?s) META)",
        {("SC753", "r")},
    ),
    "an action ruled out by two rules": (
        (
            "(:process a :on (wash ?x) :require-after (not (clean ?x)) :when (hot ?x) META)"
            "(:process b :on (wash ?x) :require (hot ?x) META)"
        ),
        {("SC753", "a", "b")},
    ),
    "the same rule twice": (
        (
            "(:process a :parameters (?s - stove) :forbid (and (on ?s) (held ?s)) META)"
            "(:process b :parameters (?s - stove) :require (or (not (held ?s)) (not (on ?s))) META)"
        ),
        {("SC755", "a", "b")},
    ),
    "weaker than another": (
        (
            "(:process a :parameters (?s - stove) :forbid (and (on ?s) (held ?s)) META)"
            "(:process b :parameters (?x - thing) :forbid (held ?x) :when (exists (?s - stove) (= ?s ?x)) META)"
        ),
        {("SC755", "a", "b")},
    ),
    "a step rule follows from a state rule": (
        (
            "(:process a :on (put ?x ?r) :forbid (hot ?x) META)"
            "(:process b :parameters (?x - thing) :forbid (and (held ?x) (hot ?x)) META)"
        ),
        {("SC755", "a", "b")},
    ),
    "an obligation with more time": (
        (
            "(:obligation a :parameters (?s - stove) :when (on ?s) :then (not (on ?s)) :within 9 META)"
            "(:obligation b :parameters (?s - stove) :when (on ?s) :then (not (on ?s)) :within 5 META)"
        ),
        {("SC755", "a", "b")},
    ),
    "an obligation answered in time is answered at the end": (
        (
            "(:termination a :parameters (?s - stove) :forbid (on ?s) META)"
            "(:obligation b :parameters (?s - stove) :when (on ?s) :then (not (on ?s)) :within 5 META)"
        ),
        {("SC755", "a", "b")},
    ),
    "a condition that the initial state decides": (
        "(:termination r :parameters (?x - thing) :forbid (burning ?x) META)",
        {("SC756", "r")},
    ),
    "an answer that no action gives": (
        "(:obligation r :parameters (?s - stove) :when (on ?s) :then (clean ?s) META)",
        set(),  # `stuck` would, as far as effects say
    ),
    "an answer that no effect gives": (
        "(:obligation r :parameters (?s - stove) :when (on ?s) :then (lost ?s) META)",
        {("SC756", "r")},
    ),
    "a step that does not change the condition after it": (
        "(:process r :on (wash ?x) :forbid-after (hot ?x) META)",
        {("SC756", "r")},
    ),
    "a parameter that nothing reads": (
        "(:process r :parameters (?s - stove ?c - cup) :forbid (on ?s) META)",
        {("SC758", "r")},  # without a cup, the rule has no instance
    ),
    "nothing wrong": (
        (
            "(:process a :parameters (?s - stove) :forbid (and (on ?s) (held ?s)) META)"
            "(:process b :on (go ?from ?to) :forbid (exists (?x - thing) (and (held ?x) (hot ?x))) META)"
            "(:termination c :parameters (?c - cup) :forbid (held ?c) META)"
            "(:obligation d :parameters (?s - stove) :when (on ?s) :then (not (on ?s)) :within 4 META)"
            "(:trajectory e :parameters (?x - cup) :formula (at-most-once (held ?x)) META)"
            "(:process f :on (put ?x ?r) :require (once (clean ?x)) META)"
        ),
        set(),
    ),
    "a step that always violates it": (
        "(:process r :on (switch-on ?s ?r) :forbid-after (hot ?s) META)",
        {("SC753", "r")},
    ),
    "a condition before the step was true once": (
        "(:process r :on (put ?x ?r) :forbid-after (once (held ?x)) META)",
        {("SC753", "r")},
    ),
    "a fact that a step deletes and adds is true after it": (
        "(:process r :on (go ?a ?b) :forbid-after (robot-in ?a) META)",
        set(),  # one may go from a room to the same room
    ),
    "a ban": ("(:process r :on (go ?a ?b) :forbid (and) META)", set()),
}


@pytest.mark.parametrize("name", OF_ANY_PROBLEM)
def test_of_any_problem(name: str) -> None:
    rules, expected = OF_ANY_PROBLEM[name]
    result = linted(rules)
    assert codes_of(result) == expected
    assert result.exit_code() == (1 if expected else 0), result.open_questions
    assert all([finding.proof for finding in result.findings if finding.code not in ("SC758", "SC759")])


OF_A_PROBLEM = {
    "a fact that no action adds and no problem has": (
        "(:process r :parameters (?x - thing) :forbid (and (metal ?x) (hot ?x)) META)",
        {("SC750", "r")},
        "`(metal ?x)` is never true",
    ),
    "a step with such objects": (
        "(:process r :parameters (?s - stove) :on (wash ?x) :forbid (and (hot ?x) (on ?s)) META)",
        {("SC750", "r")},
        "`(hot ?x)` is never true",
    ),
    "the initial state violates it": (
        "(:process r :forbid (exists (?r - room) (robot-in ?r)) META)",
        {("SC751", "r")},
        "the initial state violates it",
    ),
    "no plan gets there": (
        "(:termination r :parameters (?c - cup) :require (or (lost ?c) (and (held ?c) (at ?c hall))) META)",
        {("SC751", "r")},
        "",
    ),
    "each can be satisfied": (
        (
            "(:termination a :parameters (?c - cup) :require (held ?c) META)"
            "(:termination b :parameters (?c - cup) :require (exists (?r - room) (at ?c ?r)) META)"
        ),
        {("SC752", "a", "b"), ("SC754", "a")},
        "each of them can be satisfied",
    ),
    "the goal": (
        "(:process r :parameters (?x - cup) :on (go ?from ?to) :forbid (held ?x) META)",
        {("SC754", "r")},
        "the goal can be reached, and each rule",
    ),
    "nothing wrong": (
        "(:process r :parameters (?x - cup) :on (go ?from ?to) :require (clean ?x) META)",
        set(),
        "",
    ),
}


@pytest.mark.parametrize("name", OF_A_PROBLEM)
def test_of_a_problem(name: str) -> None:
    rules, expected, reason = OF_A_PROBLEM[name]
    result = linted(rules, PROBLEM)
    assert codes_of(result) == expected
    assert not reason or reason in " ".join([finding.reason for finding in result.findings])
    assert not result.open_questions


def test_rules_without_objects_are_notes() -> None:
    result = linted("(:process r :parameters (?p - pan) :forbid (hot ?p) META)", PROBLEM)
    (finding,) = result.findings
    assert (finding.code, finding.severity) == ("SC757", Severity.NOTE)
    assert "no object of type `pan`" in finding.reason
    assert result.exit_code() == 0


def test_a_finding_holds_in_all_given_problems() -> None:
    metal_problem = Source(
        "other", PROBLEM.text.replace("(free)", "(free) (metal hob)", 1).replace("problem home", "problem x")
    )
    rules = "(:process r :parameters (?x - thing) :forbid (and (metal ?x) (hot ?x)) META)"
    assert codes_of(linted(rules, PROBLEM)) == {("SC750", "r")}
    assert codes_of(linted(rules, PROBLEM, metal_problem)) == set()


def test_unsearched_problems_are_reported() -> None:
    rules = "(:process r :parameters (?x - cup) :on (go ?from ?to) :forbid (held ?x) META)"
    opened = Source("open", PROBLEM.text.replace("(free)", "(unknown (free))", 1))
    result = linted(rules, opened)
    assert [(finding.code, finding.problem) for finding in result.findings] == [("SC759", "open")]
    assert result.exit_code() == 3
    assert result.exit_code(frozenset(("SC759",))) == 0
    proved = linted("(:process r :parameters (?x - thing) :forbid (metal ?x) META)", opened)
    assert ("SC750", "r") in codes_of(proved)


def test_unknown_facts_may_be_true() -> None:
    opened = Source("open", PROBLEM.text.replace("(free)", "(unknown (metal hob)) (free)", 1))
    result = linted("(:process r :parameters (?x - thing) :forbid (and (metal ?x) (hot ?x)) META)", opened)
    assert codes_of(result) == set()


def test_lenient_steps_take_any_object() -> None:
    text = f"(define (safety r) (:process r :parameters (?x - thing) :on (wash ?x) :forbid-after (clean ?x) {META}))"
    spec = Source("rules", text)
    assert codes_of(lint(DOMAIN, [], [spec])) == {("SC753", "r")}
    assert codes_of(lint(DOMAIN, [], [spec], LintOptions(lenient_types=True))) == set()


def test_unreadable_rules_are_unusable() -> None:
    spec = Source("rules", "(define (safety rules) (:process r :forbid (no-such-thing)))")
    result = lint(DOMAIN, [], [spec])
    assert not result.usable
    assert result.exit_code() == 2


def test_a_forall_may_range_over_no_objects() -> None:
    of_states = "(:process r :parameters (?s - stove) :require (forall (?p - pan) (and (hot ?p) (not (hot ?p)))) META)"
    of_traces = """(:trajectory a :parameters (?s - stove) :formula (forall (?p - pan) (sometime (hot ?p))) META)
                   (:trajectory b :parameters (?s - stove) :formula (forall (?p - pan) (always (not (hot ?p)))) META)"""
    for result in (linted(of_states), linted(of_states, PROBLEM), linted(of_traces)):
        assert not {code for code, *_ in codes_of(result)} & {"SC751", "SC752"}


def test_the_other_rule_may_have_no_instance() -> None:
    rules = """(:obligation a :parameters (?s - stove) :when (on ?s) :then (not (on ?s)) META)
               (:obligation b :parameters (?s - stove ?c - cup)
                 :when (or (on ?s) (held ?c)) :then (and (not (on ?s)) (not (held ?c))) META)"""
    assert not [codes for codes in codes_of(linted(rules)) if codes[0] == "SC755"]
