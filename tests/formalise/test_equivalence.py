"""Rules that say the same, by hand and at random: the product of monitors against all short traces, one by one."""

from __future__ import annotations

from random import Random

import pytest
from two_facts import LETTERS, checker, kept, rule, traces

from plansafe.llm.formalise.asking import Limits
from plansafe.llm.formalise.equivalence import Reader, Sameness
from plansafe.llm.formalise.grouping import grouped
from plansafe.llm.formalise.reading import compiled_with
from plansafe.verifier.execution.compiled import CompiledTask
from quick import quick_every

SAME = [
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
OTHER = [
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


def compared(one: str, other: str) -> Sameness:
    made = checker("00", [one, other])
    return Reader(made.engine).compare(made.rules[0].parts, made.rules[1].parts)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same(one: str, other: str) -> None:
    found = compared(one, other)
    assert found.equal is True, found
    assert compared(other, one).equal is True


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_not_the_same(one: str, other: str) -> None:
    found = compared(one, other)
    assert found.equal is False
    assert found.letters, "there is a sequence that shows it"
    assert compared(other, one).equal is False


@pytest.mark.parametrize("seed", quick_every(6, range(60)))
def test_random_rules_agree_with_all_short_traces(seed: int) -> None:
    """Rules said to be equal are so on every trace of at most three steps; what tells two apart, tells them apart.

    Letters that set an action without what it does are no traces of this task, so a difference is looked at only where
    neither rule is about a step.
    """
    random = Random(seed)
    one = rule(random)
    other = rule(random) if seed % 3 else _rewritten(one)
    found = compared(one, other)
    assert found.equal is not None
    if seed % 3 == 0:
        assert found.equal is True
    judges = {first: (checker(first, [one]), checker(first, [other])) for first in LETTERS}
    if found.equal:
        for first, later in traces(3):
            assert kept(judges[first][0], later) == kept(judges[first][1], later), (one, other, first, later)
    elif ":on" not in one + other:
        letters = ["".join(["1" if f"({name})" in facts else "0" for name in "pq"]) for facts in found.letters]
        first, *later = letters
        replayed = [checker(first, [text], "always") for text in (one, other)]  # by the kernel, too
        assert kept(replayed[0], later) != kept(replayed[1], later), (one, other, letters)


def _rewritten(one: str) -> str:
    """The same rule, said otherwise."""
    return one.replace("(p)", "(not (or (not (p)) (and (q) (not (q)))))")


def test_only_changes_are_read_where_that_is_asked_for() -> None:
    """``next`` at the next change: p at once, or after letters that are all alike."""
    one = "trajectory :formula (imply (not (p)) (weak-next (p)))"
    other = "trajectory :formula (imply (not (p)) (weak-next (or (p) (next (p)))))"
    made = checker("00", [one.replace("(q)", "(p)"), other])
    parts = [r.parts for r in made.rules]
    assert Reader(made.engine).compare(*parts).equal is False
    assert Reader(made.engine, changes=True).compare(*parts).equal is True


def test_facts_that_exclude_each_other() -> None:
    made = checker("00", ["process :forbid (and (p) (q))", "process :forbid (or)"])
    parts = [r.parts for r in made.rules]
    assert Reader(made.engine).compare(*parts).equal is False
    assert Reader(made.engine, frozenset(["p"])).compare(*parts).equal is False, "each is alone with itself"


HOME_SAME = [
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


@pytest.mark.parametrize(("one", "other"), HOME_SAME)
def test_rules_of_a_home_with_quantifiers_are_proved_the_same(one: str, other: str, home: CompiledTask) -> None:
    made = compiled_with([one, other], home)
    assert Reader(made.engine).compare(made.rules[0].parts, made.rules[1].parts).equal is True


def test_a_difference_in_one_part_may_be_hidden_by_another() -> None:
    never = "process :forbid (and (p) (not (p)))"
    nothing = "trajectory :formula (and (sometime (p)) (always (not (p))) (sometime (q)))"
    other = "trajectory :formula (and (sometime (p)) (always (not (p))))"
    assert compared(nothing, other).equal is True, "neither is ever kept"
    assert compared(nothing, never).equal is False


@pytest.mark.slow
def test_what_cannot_be_read_letter_by_letter_is_compared_by_executions(home: CompiledTask) -> None:
    """Washed once is washed for good in this domain, which only its actions say."""
    washed = "(:process r :on (cut ?a ?k ?x ?f ?r) :require (clean ?x))"
    once = "(:process r :on (cut ?a ?k ?x ?f ?r) :require (once (clean ?x)))"
    knife = "(:process r :on (cut ?a ?k ?x ?f ?r) :require (clean ?k))"
    made = compiled_with([washed, knife, once], home)
    assert Reader(made.engine).compare(made.rules[0].parts, made.rules[2].parts).equal is not True
    found = grouped(made, Limits(walks=20, planner_s=1.0))
    assert [group.rules for group in found.groups] == [(0, 2), (1,)]
    assert "executions" in found.groups[0].how
