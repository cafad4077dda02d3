"""Equivalent rules, by hand and at random: the product of monitors agrees with an enumeration of short traces."""

from __future__ import annotations

from random import Random

import pytest
from two_facts import LETTERS, make_checker, random_rule, satisfies, traces

from plansafe.llm.formalise.asking import Limits
from plansafe.llm.formalise.equivalence import Reader, Sameness
from plansafe.llm.formalise.grouping import grouped
from plansafe.llm.formalise.reading import compiled_with
from plansafe.verifier.execution.compiled import CompiledTask
from quick import quick_every

EQUIVALENT = [
    ("termination :forbid (p)", "trajectory :formula (at end (not (p)))"),
    ("process :forbid (p)", "trajectory :formula (always (not (p)))"),
    ("process :forbid (p)", "process :require (not (p))"),
    ("process :when (p) :require (q)", "trajectory :formula (always (imply (p) (q)))"),
    ("obligation :when (p) :then (q)", "trajectory :formula (always (imply (p) (sometime (q))))"),
    ("obligation :when (p) :then (not (p))", "termination :forbid (p)"),
    ("trajectory :formula (release (q) (or (q) (not (p))))", "process :require (or (not (p)) (once (q)))"),
    ("trajectory :formula (sometime-before (p) (q))", "process :require (imply (p) (yesterday (once (q))))"),
    ("trajectory :formula (until (p) (q))", "trajectory :formula (not (release (not (p)) (not (q))))"),
    ("process :on (set11) :require (or (p) (not (p)))", "trajectory :formula (and)"),
    ("process :on (set10) :forbid (q)", "trajectory :formula (always (imply (action (set10)) (not (q))))"),
    ("trajectory :formula (next (p))", "trajectory :formula (and (next (p)) (weak-next (p)))"),
]
DIFFERENT = [
    ("termination :forbid (p)", "process :forbid (p)"),
    ("trajectory :formula (next (p))", "trajectory :formula (weak-next (p))"),
    ("obligation :when (p) :then (q)", "process :when (p) :require (q)"),
    ("process :require (imply (p) (once (q)))", "trajectory :formula (sometime-before (p) (q))"),
    ("trajectory :formula (sometime (p))", "termination :require (p)"),
    ("obligation :when (p) :then (q) :within 1", "obligation :when (p) :then (q) :within 2"),
    ("trajectory :formula (at-most-once (p))", "trajectory :formula (always (imply (p) (always (p))))"),
    ("process :on (set10) :forbid (q)", "process :on (set10) :forbid-after (q)"),
    ("process :on (set10) :forbid (q)", "process :on (set11) :forbid (q)"),
]


def compare(first_rule: str, second_rule: str) -> Sameness:
    checker = make_checker("00", [first_rule, second_rule])
    return Reader(checker.engine).compare(checker.rules[0].parts, checker.rules[1].parts)


@pytest.mark.parametrize(("first_rule", "second_rule"), EQUIVALENT)
def test_equivalent_rules(first_rule: str, second_rule: str) -> None:
    comparison = compare(first_rule, second_rule)
    assert comparison.equal is True, comparison
    assert compare(second_rule, first_rule).equal is True


@pytest.mark.parametrize(("first_rule", "second_rule"), DIFFERENT)
def test_different_rules(first_rule: str, second_rule: str) -> None:
    comparison = compare(first_rule, second_rule)
    assert comparison.equal is False
    assert comparison.letters, "the difference has a trace"
    assert compare(second_rule, first_rule).equal is False


@pytest.mark.parametrize("seed", quick_every(6, range(60)))
def test_random_rules_agree_with_all_short_traces(seed: int) -> None:
    """Equal rules agree on every trace of at most three steps; a reported difference is a trace on which they differ.

    A difference is checked only if neither rule is about a step: its letters may contain an action without the action's
    effects, and no trace of this task has such letters.
    """
    random = Random(seed)
    first_rule = random_rule(random)
    second_rule = random_rule(random) if seed % 3 else rewrite(first_rule)
    comparison = compare(first_rule, second_rule)
    assert comparison.equal is not None
    if seed % 3 == 0:
        assert comparison.equal is True
    checkers = {
        initial_letter: (make_checker(initial_letter, [first_rule]), make_checker(initial_letter, [second_rule]))
        for initial_letter in LETTERS
    }
    if comparison.equal:
        for initial_letter, later_letters in traces(3):
            assert satisfies(checkers[initial_letter][0], later_letters) == satisfies(
                checkers[initial_letter][1], later_letters
            ), (first_rule, second_rule, initial_letter, later_letters)
    elif ":on" not in first_rule + second_rule:
        letters = ["".join(["1" if f"({name})" in facts else "0" for name in "pq"]) for facts in comparison.letters]
        initial_letter, *later_letters = letters
        replayed = [
            make_checker(initial_letter, [text], "always") for text in (first_rule, second_rule)
        ]  # also by the kernel
        assert satisfies(replayed[0], later_letters) != satisfies(replayed[1], later_letters), (
            first_rule,
            second_rule,
            letters,
        )


def rewrite(rule_text: str) -> str:
    """Return an equivalent rule: replace (p) by a longer formula."""
    return rule_text.replace("(p)", "(not (or (not (p)) (and (q) (not (q)))))")


def test_the_option_changes_ignores_repeated_letters() -> None:
    """With ``changes``, ``next`` refers to the next change: p holds at once, or after a number of equal letters."""
    first_rule = "trajectory :formula (imply (not (p)) (weak-next (p)))"
    second_rule = "trajectory :formula (imply (not (p)) (weak-next (or (p) (next (p)))))"
    checker = make_checker("00", [first_rule.replace("(q)", "(p)"), second_rule])
    parts = [rule.parts for rule in checker.rules]
    assert Reader(checker.engine).compare(*parts).equal is False
    assert Reader(checker.engine, changes=True).compare(*parts).equal is True


def test_facts_that_exclude_each_other() -> None:
    checker = make_checker("00", ["process :forbid (and (p) (q))", "process :forbid (or)"])
    parts = [rule.parts for rule in checker.rules]
    assert Reader(checker.engine).compare(*parts).equal is False
    assert Reader(checker.engine, frozenset(["p"])).compare(*parts).equal is False, "a single fact excludes nothing"


EQUIVALENT_IN_THE_HOME = [
    (
        (
            "(:process r :parameters (?s - stove ?r - room) :forbid (and (running ?s) (in-room ?s ?r) "
            "(not (exists (?b - (either robot adult)) (present ?b ?r)))))"
        ),
        (
            "(:trajectory r :formula (always (forall (?s - stove ?r - room) (imply (and (running ?s) (in-room ?s ?r)) "
            "(or (exists (?a - robot) (present ?a ?r)) (exists (?a - adult) (present ?a ?r)))))))"
        ),
    ),
    (
        "(:process r :parameters (?d - device) :forbid (and (running ?d) (not (exists (?h - heater) (= ?h ?d)))))",
        "(:trajectory r :formula (always (and (not (running stove)) (not (running oven)) (not (running kettle)))))",
    ),
    (
        "(:process r :on (hurry ?a ?from ?to) :forbid (exists (?k - knife) (holding ?a ?k)))",
        "(:process r :parameters (?k - knife) :on (hurry ?a _ _) :require (not (holding ?a ?k)))",
    ),
]


@pytest.mark.parametrize(("first_rule", "second_rule"), EQUIVALENT_IN_THE_HOME)
def test_rules_with_quantifiers_are_proved_equivalent(first_rule: str, second_rule: str, home: CompiledTask) -> None:
    checker = compiled_with([first_rule, second_rule], home)
    assert Reader(checker.engine).compare(checker.rules[0].parts, checker.rules[1].parts).equal is True


def test_unsatisfiable_rules_are_equivalent_whatever_their_other_parts() -> None:
    never = "process :forbid (and (p) (not (p)))"
    contradiction_and_more = "trajectory :formula (and (sometime (p)) (always (not (p))) (sometime (q)))"
    contradiction = "trajectory :formula (and (sometime (p)) (always (not (p))))"
    assert compare(contradiction_and_more, contradiction).equal is True, "no trace satisfies either rule"
    assert compare(contradiction_and_more, never).equal is False


@pytest.mark.slow
def test_rules_without_monitors_are_compared_by_executions(home: CompiledTask) -> None:
    """In this domain a washed object stays clean, which follows only from its actions."""
    clean_now = "(:process r :on (cut ?a ?k ?x ?f ?r) :require (clean ?x))"
    washed_before = "(:process r :on (cut ?a ?k ?x ?f ?r) :require (once (clean ?x)))"
    knife = "(:process r :on (cut ?a ?k ?x ?f ?r) :require (clean ?k))"
    checker = compiled_with([clean_now, knife, washed_before], home)
    assert Reader(checker.engine).compare(checker.rules[0].parts, checker.rules[2].parts).equal is not True
    grouping = grouped(checker, Limits(walks=20, planner_s=1.0))
    assert [group.rules for group in grouping.groups] == [(0, 2), (1,)]
    assert "executions" in grouping.groups[0].how
