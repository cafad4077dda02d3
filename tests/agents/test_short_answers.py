"""Test short answers: they respect their limit, and keep the verdict and the notes on unchecked parts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents_server import DOMAIN, PROBLEM, RULES, SAFE, TASK, UNSAFE
from hypothesis import given, settings
from hypothesis import strategies as st

from plansafe.app.interfaces.agents.mcp_server import AnswerStore
from plansafe.app.interfaces.agents.operation_fields import AUDIT, REPAIR
from plansafe.app.interfaces.agents.operations import SHORT, OperationContext, perform
from plansafe.app.interfaces.agents.request_fields import BadRequest
from plansafe.app.interfaces.agents.short_answers import MAX_BYTES, cut, finding_groups, short_audit, unchecked_notes
from plansafe.app.interfaces.agents.worker_messages import Limits
from plansafe.app.session.model import Result
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.verifier.reporting.report import (
    Coverage,
    Finding,
    FindingClass,
    Headline,
    NotApplicableGroup,
    PossibleViolation,
    ProposedKindOfObject,
    Report,
    RuleCount,
    UnclassifiedClass,
    VerdictBasis,
    Worlds,
)

CONTEXT = OperationContext(Limits(seconds=20))
texts = st.text(max_size=2000)


def ask(name: str, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The short and the full answer of an operation."""
    short, full = perform(f"{SHORT}{name}", json.dumps(fields).encode(), CONTEXT).splitlines()
    assert len(short) <= MAX_BYTES
    return json.loads(short), json.loads(full)


def shortened(report: Report) -> dict[str, Any]:
    text = short_audit(Result("plan", report, (), {}))
    assert len(text) <= MAX_BYTES
    answer: dict[str, Any] = json.loads(text)
    return answer


def violation(rule: str, step: int, severity: str = "high", message: str = "broken", **fields: Any) -> Finding:
    return Finding("SC201", FindingClass.PROCESS, message, step, rule, severity=severity, **fields)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    names = draw(st.lists(texts, min_size=1, max_size=30))
    findings = [
        violation(name, step, draw(st.sampled_from(["critical", "low"])), draw(texts), help=draw(texts))
        for step, name in enumerate(names)
    ]
    diagnostics = [
        Diagnostic("SC710", text, severity=Severity.WARNING, help=text) for text in draw(st.lists(texts, max_size=20))
    ]
    return Report(
        "plan",
        draw(st.sampled_from(Headline)),
        draw(st.sampled_from(Worlds)),
        draw(st.sampled_from(Worlds)),
        Worlds.UNKNOWN,
        9,
        tuple(findings),
        tuple([RuleCount(name, "process", "", 1, 1, 0, "undecided") for name in names]),
        diagnostics=tuple(diagnostics),
        limits=tuple(names),
        assumptions=tuple(names),
        suppressed=draw(st.integers(0, 10**9)),
        verdict_basis=VerdictBasis(before=3, minor=2),
        coverage=Coverage(
            1,
            (NotApplicableGroup(draw(texts), tuple(names)),),
            (UnclassifiedClass(draw(texts), (), True, (PossibleViolation((), draw(texts), "low", 1),)),),
        ),
    )


@settings(max_examples=60, deadline=None)
@given(reports())
def test_short_answer_lists_unchecked_parts_of_any_report(report: Report) -> None:
    answer = shortened(report)
    assert report.headline is not None
    assert answer["headline"] == report.headline.value
    assert (answer["executable"], answer["goal"], answer["safe"]) == (
        report.executable.value,
        report.goal.value,
        "UNKNOWN",
    )
    notes = answer["not_checked"]
    expected = unchecked_notes(report)
    assert len(notes) >= len(expected)
    for note, full_note in zip(notes, expected, strict=False):
        assert full_note.startswith(note.removesuffix("..")), (note, full_note)
    listed = sum([group["count"] for group in answer["findings"]])
    assert listed + answer.get("more_findings", {"count": 0})["count"] == len(report.findings)
    warnings = len(report.diagnostics) - len(answer.get("diagnostics", ()))
    assert not warnings or any(f"{warnings} more errors and warnings" in note for note in notes)


@given(texts, st.integers(10, 300))
def test_cut_limits_the_length_in_json(text: str, length: int) -> None:
    shorter = cut(text, length)
    assert len(json.dumps(shorter)) <= length + 2
    assert text.startswith(shorter.removesuffix("..")) or shorter == text


def test_findings_are_grouped_by_rule_and_sorted_by_severity() -> None:
    findings = (
        violation("dust", 1, "low"),
        violation("stove", 2, "critical"),
        violation("dust", 3, "low"),
        violation("stove", 7, "critical", "again"),
        Finding("SC310", FindingClass.UNMET_GOAL, "no goal", 7),
    )
    report = Report("plan", Headline.UNSAFE, Worlds.ALL, Worlds.NONE, Worlds.NONE, 7, findings)
    assert [[finding.step for finding in group] for group in finding_groups(report)] == [[7], [2, 7], [1, 3]]
    first, second, third = shortened(report)["findings"]
    assert (first["code"], "rule" in first) == ("SC310", False)
    assert (second["rule"], second["count"], second["steps"], second["reason"]) == ("stove", 2, [2, 7], "broken")
    assert third["severity"] == "low"


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"headline": None}, "the plan was not checked: see `diagnostics`"),
        ({}, "safe: not checked, no rules"),
        ({"goal": Worlds.UNKNOWN}, "not decided: goal"),
        ({"limits": ("time",)}, "limits reached: time"),
        ({"suppressed": 12}, "12 findings beyond the limit of `max_findings`"),
        ({"rules": (RuleCount("r", "process", "", 1, 1, 0, "undecided"),)}, "1 undecided rule: r"),
        ({"coverage": Coverage(0, (NotApplicableGroup("no stove", ("a", "b")),))}, "2 rules cannot apply: no stove"),
        (
            {"coverage": Coverage(0, (), (UnclassifiedClass("fluxer", ("f1",), True),))},
            "1 class of objects without a known kind, used by the plan: fluxer",
        ),
        (
            {"verdict_basis": VerdictBasis(before=2)},
            "2 findings not caused by the plan, without effect on the verdict (`judge`)",
        ),
        ({"verdict_basis": VerdictBasis(minor=1)}, "1 finding below `min_severity`, without effect on the verdict"),
        ({"findings": (violation("r", 1),)}, "1 finding not confirmed by the replay kernel"),
        (
            {
                "headline": Headline.UNSAFE,
                "findings": (violation("r", 1, proposals=(ProposedKindOfObject("cup", "metal", "name"),)),),
            },
            "the verdict rests on unconfirmed kinds: cup is metal",
        ),
        (
            {"diagnostics": (Diagnostic("SC700", "read as", severity=Severity.NOTE),)},
            "1 note on how the texts were read: part `diagnostics`",
        ),
        ({"preferences_violated": (("p", 2),)}, "2 preferences violated"),
    ],
)
def test_short_answer_has_a_note_for_each_gap(change: dict[str, Any], note: str) -> None:
    report = Report("plan", Headline.VALID, Worlds.ALL, Worlds.ALL, Worlds.ALL, 1)._replace(**change)
    assert note in shortened(report)["not_checked"]


def test_safe_plan_has_no_unchecked_parts() -> None:
    short, full = ask("audit", **TASK, plan=SAFE)
    assert (short["headline"], short["findings"], short["not_checked"]) == ("SAFE", [], [])
    assert full["headline"] == "SAFE"


def test_plan_with_unread_text_is_not_safe() -> None:
    remark = "(go kitchen hall)\n\nAfterwards the robot should also qwertz the asdf thoroughly before leaving."
    short, full = ask("audit", **TASK, plan=remark, form="text")
    assert short["headline"] == full["headline"] != "SAFE"
    codes = [diagnostic["code"] for diagnostic in short.get("diagnostics", ())]
    assert codes or short["findings"]


def test_plan_without_rules_is_not_safe() -> None:
    short, _ = ask("audit", domain=DOMAIN, problem=PROBLEM, plan=SAFE)
    assert (short["headline"], short["safe"], short["not_checked"]) == ("VALID", None, ["safe: not checked, no rules"])


def test_unreadable_input_has_its_place() -> None:
    short, _ = ask("audit", **{**TASK, "rules": ["(define (safety"]}, plan=SAFE)
    assert short["headline"] is None
    assert short["diagnostics"][0]["severity"] == "error"
    assert short["diagnostics"][0]["at"].startswith("rules-1:1:")


def test_short_repair_omits_a_long_plan_but_keeps_its_edits() -> None:
    back_and_forth = "(go kitchen hall)\n(go hall kitchen)\n" * 150
    short, full = ask("repair", **TASK, plan=f"{back_and_forth}{UNSAFE}")
    assert full["status"] == "found"
    assert "plan" not in short["repair"]
    assert short["repair"]["plan_part"] == "text"
    assert len(short["repair"]["edits"]) == len(full["repairs"][0]["edits"])
    assert "switch-o" in short["repair"]["edits"][0]


def test_short_diagnosis() -> None:
    short, full = ask("diagnose", **TASK, plan=UNSAFE, where=True, causes=True)
    assert short["where"]["violated"] == full["where"]["violated"] == 2
    assert len(short["causes"]) == 1
    assert short["faults"]


def test_missing_repair_has_a_reason() -> None:
    never = RULES.replace("(exists (?s - stove) (and (in ?s ?from) (on ?s)))", "(robot-in ?from)")
    short, full = ask("repair", **{**TASK, "rules": [never]}, plan=SAFE)
    assert short["status"] == full["status"] != "found"
    assert "repair" not in short
    assert short["outcome"]["message"]


def stored(count: int, **full: Any) -> AnswerStore:
    store = AnswerStore()
    for number in range(count):
        store.add({"plan": f"plan {number}", "domain": "d", "max_findings": 3}, json.dumps(full).encode())
    return store


def test_details_are_paged() -> None:
    entries = [{"rule": f"r{number % 2}", "text": "x" * 3000} for number in range(5)]
    store = stored(1, findings=entries, text="a\nb\n", headline="UNSAFE", report={"rules": [{"name": "r1"}]})
    page = json.loads(store.details({"answer": "1"}))
    assert (page["total"], len(page["content"]), page["next_start"]) == (5, 2, 2)
    last = json.loads(store.details({"answer": "1", "start": 4}))
    assert (len(last["content"]), "next_start" in last) == (1, False)
    assert json.loads(store.details({"answer": "1", "rule": "r1"}))["total"] == 2
    assert json.loads(store.details({"answer": "1", "part": "text"}))["content"] == ["a", "b"]
    assert json.loads(store.details({"answer": "1", "part": "headline"}))["content"] == "UNSAFE"
    assert json.loads(store.details({"answer": "1", "part": "rules"}))["content"] == [{"name": "r1"}]


def test_an_entry_that_is_too_long_names_the_resource() -> None:
    store = stored(1, findings=["x" * 30_000])
    assert json.loads(store.details({"answer": "1"}))["content"][0]["characters"] == 30_002


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"answer": "3"}, "no answer '3' is stored"),
        ({"answer": "40", "part": "colour"}, "answer 40 has no part 'colour'"),
        ({"part": "findings"}, "the field `answer` is missing"),
        ({"answer": "40", "start": -1}, "`start` must be between"),
    ],
)
def test_details_that_do_not_exist_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRequest, match=message) as refused:
        stored(40, findings=[]).details(arguments)
    assert refused.value.diagnostic.code in (SC.NOT_FOUND, SC.BAD_REQUEST)


def test_the_oldest_answers_are_dropped() -> None:
    store = stored(40)
    assert list(store) == [str(number) for number in range(9, 41)]
    large = AnswerStore()
    for _ in range(3):
        large.add({}, b" " * 30_000_000)
    assert list(large) == ["2", "3"]


def test_merged_fields_are_those_of_the_operation() -> None:
    store = stored(1)
    assert store.merged(REPAIR, {"same_as": "1", "domain": "e"}) == {"plan": "plan 0", "domain": "e"}
    assert store.merged(AUDIT, {"same_as": "1"}) == {"plan": "plan 0", "domain": "d", "max_findings": 3}
    assert store.merged(AUDIT, {"plan": "p"}) == {"plan": "p"}
