"""Outputs in the manners that models have: each is read as its plan, or refused with the reason."""

from __future__ import annotations

import pytest
from loose_cases import Case, cases, checker

from plansafe.app.explain import page
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseResult
from plansafe.llm.loose.reader import read_loose

CASES = cases()


def read(task: str, text: str) -> LooseResult:
    return read_loose(Source("output.txt", text), checker(task))


@pytest.mark.parametrize("case", CASES, ids=[f"{case.task}: {case.name}" for case in CASES])
def test_an_output_is_read_as_its_plan_or_refused(case: Case) -> None:
    result = read(case.task, case.text)
    said = [(d.code, d.message) for d in (*result.diagnostics, *result.notes, *result.remarks)]
    if case.plan is None:
        assert result.plan is None, result.plan and result.plan.text
        assert not result.steps
        assert {d.code for d in result.diagnostics} & set(case.codes), said
    else:
        assert result.plan is not None, said
        assert result.plan.text == case.plan
        assert not result.diagnostics
        assert {d.code for d in (*result.notes, *result.remarks)} == set(case.codes), said


@pytest.mark.parametrize("case", CASES, ids=[f"{case.task}: {case.name}" for case in CASES])
def test_every_word_about_an_output_has_a_place_a_severity_and_a_page(case: Case) -> None:
    result = read(case.task, case.text)
    source = Source("output.txt", case.text)
    for diagnostic in (*result.notes, *result.diagnostics, *result.remarks):
        assert page(diagnostic.code) is not None
        assert diagnostic.message and diagnostic.labels
        for label in diagnostic.labels:
            assert label.source == "output.txt"
            assert 0 <= label.span.start <= label.span.end <= len(case.text)
    assert {d.severity for d in result.notes} <= {Severity.NOTE}
    assert {d.severity for d in result.remarks} <= {Severity.WARNING}
    assert {d.severity for d in result.diagnostics} <= {Severity.ERROR}
    for step in result.steps:
        assert source.position(step.span.start)[0] == step.line
        assert source.slice(step.span).strip()


def test_there_are_enough_outputs_over_three_tasks() -> None:
    assert len(CASES) >= 60
    assert {case.task for case in CASES} == {"household", "home", "depot"}
    assert sum(case.plan is None for case in CASES) >= 30
    assert len({(case.task, case.name) for case in CASES}) == len(CASES)


def test_what_was_read_is_a_plan_that_the_checker_judges() -> None:
    for case in CASES:
        if case.plan is not None and "0.0" not in case.plan:
            result = read(case.task, case.text)
            assert result.plan is not None
            report = checker(case.task).check(result.plan)
            assert report.headline is not None
            assert report.steps == len(result.steps)


def test_places_are_those_of_the_original() -> None:
    text = "Sure:\r\n\r\n1.\u00a0\u200bgrab(\u201cmilk\u201d)\r\n2. put\\_on(milk, sofa)\r\n"
    result = read("home", text)
    assert [(step.text, step.line) for step in result.steps] == [
        ("(grab character milk)", 3),
        ("(put_on character milk sofa)", 4),
    ]
    assert [text[step.span.start : step.span.end] for step in result.steps] == [
        "grab(\u201cmilk\u201d)",
        "put\\_on(milk, sofa)",
    ]


def test_a_note_says_where_else_it_holds() -> None:
    result = read("home", "grab(milk)\ngrab(sofa)\ngrab(fridge)\n")
    (added,) = [note for note in result.notes if note.code == "SC734"]
    assert added.notes == ("and in 2 more places",)
    assert added.help


def test_ambiguity_names_the_candidates() -> None:
    (refused,) = read("home", "```\n(grab character mug)\n```").diagnostics
    assert refused.code == "SC744"
    assert "mug_1" in refused.message and "mug_2" in refused.message


def test_a_misspelling_is_not_mended_but_hinted_at() -> None:
    plan = read("home", "```\n(grab character mlik)\n```").plan
    assert plan is not None
    assert plan.text == "(grab character mlik)\n"
    fresh = checker.__wrapped__("home")  # hints are counted
    (finding,) = [each for each in fresh.check(plan).findings if each.step == 1]
    assert (finding.code, finding.help) == ("SC403", "did you mean `milk`?")


def test_a_task_that_is_wrong_is_reported_instead() -> None:
    from plansafe.verifier.api import Checker

    broken = Checker(Source("d", "(define (domain d))"), Source("p", "(define"))
    result = read_loose(Source("output.txt", "(a)"), broken)
    assert result.plan is None
    assert result.diagnostics == broken.diagnostics
