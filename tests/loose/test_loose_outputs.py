"""Outputs in the notations of models: each is read as its plan, or refused with the reason."""

from __future__ import annotations

import pytest
from loose_cases import Case, cases, checker, read_output

from plansafe.app.explain import page
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.llm.loose.reader import read_loose

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=[f"{case.task}: {case.name}" for case in CASES])
def test_an_output_is_read_as_its_plan_or_refused(case: Case) -> None:
    reading = read_output(case.text, case.task)
    messages = [(entry.code, entry.message) for entry in (*reading.diagnostics, *reading.notes, *reading.remarks)]
    if case.plan is None:
        assert reading.plan is None, reading.plan and reading.plan.text
        assert not reading.steps
        assert {diagnostic.code for diagnostic in reading.diagnostics} & set(case.codes), messages
    else:
        assert reading.plan is not None, messages
        assert reading.plan.text == case.plan
        assert not reading.diagnostics
        assert {note.code for note in (*reading.notes, *reading.remarks)} == set(case.codes), messages


@pytest.mark.parametrize("case", CASES, ids=[f"{case.task}: {case.name}" for case in CASES])
def test_diagnostics_have_a_place_a_severity_and_a_page(case: Case) -> None:
    reading = read_output(case.text, case.task)
    source = Source("output.txt", case.text)
    for diagnostic in (*reading.notes, *reading.diagnostics, *reading.remarks):
        assert page(diagnostic.code) is not None
        assert diagnostic.message and diagnostic.labels
        for label in diagnostic.labels:
            assert label.source == "output.txt"
            assert 0 <= label.span.start <= label.span.end <= len(case.text)
    assert {d.severity for d in reading.notes} <= {Severity.NOTE}
    assert {d.severity for d in reading.remarks} <= {Severity.WARNING}
    assert {d.severity for d in reading.diagnostics} <= {Severity.ERROR}
    for step in reading.steps:
        assert source.position(step.span.start)[0] == step.line
        assert source.slice(step.span).strip()


def test_there_are_enough_outputs_for_three_tasks() -> None:
    assert len(CASES) >= 60
    assert {case.task for case in CASES} == {"household", "home", "depot"}
    assert sum(case.plan is None for case in CASES) >= 30
    assert len({(case.task, case.name) for case in CASES}) == len(CASES)


def test_the_checker_takes_the_plan_that_was_read() -> None:
    for case in CASES:
        if case.plan is not None and "0.0" not in case.plan:
            reading = read_output(case.text, case.task)
            assert reading.plan is not None
            report = checker(case.task).check(reading.plan)
            assert report.headline is not None
            assert report.steps == len(reading.steps)


def test_places_refer_to_the_original_text() -> None:
    text = "Sure:\r\n\r\n1.\u00a0\u200bgrab(\u201cmilk\u201d)\r\n2. put\\_on(milk, sofa)\r\n"
    reading = read_output(text)
    assert [(step.text, step.line) for step in reading.steps] == [
        ("(grab character milk)", 3),
        ("(put_on character milk sofa)", 4),
    ]
    assert [text[step.span.start : step.span.end] for step in reading.steps] == [
        "grab(\u201cmilk\u201d)",
        "put\\_on(milk, sofa)",
    ]


def test_a_note_names_all_its_places() -> None:
    reading = read_output("grab(milk)\ngrab(sofa)\ngrab(fridge)\n")
    (added,) = [note for note in reading.notes if note.code == "SC734"]
    assert added.notes == ("and in 2 more places",)
    assert added.help


def test_ambiguity_names_the_candidates() -> None:
    (refused,) = read_output("```\n(grab character mug)\n```").diagnostics
    assert refused.code == "SC744"
    assert "mug_1" in refused.message and "mug_2" in refused.message


def test_a_misspelling_is_not_corrected_but_has_a_suggestion() -> None:
    plan = read_output("```\n(grab character mlik)\n```").plan
    assert plan is not None
    assert plan.text == "(grab character mlik)\n"
    fresh = checker.__wrapped__("home")  # hints are counted
    (finding,) = [finding for finding in fresh.check(plan).findings if finding.step == 1]
    assert (finding.code, finding.help) == ("SC403", "did you mean `milk`?")


def test_an_invalid_task_is_reported() -> None:
    from plansafe.verifier.api import Checker

    broken = Checker(Source("d", "(define (domain d))"), Source("p", "(define"))
    reading = read_loose(Source("output.txt", "(a)"), broken)
    assert reading.plan is None
    assert reading.diagnostics == broken.diagnostics
