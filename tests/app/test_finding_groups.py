"""Test groups of findings: the first finding of a rule is shown in full, the later ones by their count and steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plansafe.app.render import renderer
from plansafe.app.render.finding_groups import group_findings, group_json_findings, later_findings_text, steps_text
from plansafe.app.session.audit import audit
from plansafe.app.session.model import Result, Settings
from plansafe.verifier.reporting.report import Blame, Finding, FindingClass, Headline, Worlds

DOMAIN = """\
(define (domain kitchen)
  (:types room stove - object)
  (:predicates (robot-in ?r - room) (in ?s - stove ?r - room) (on ?s - stove))
  (:action switch-on :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r)) :effect (on ?s))
  (:action go :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (not (= ?from ?to)))
    :effect (and (not (robot-in ?from)) (robot-in ?to))))
"""
PROBLEM = """\
(define (problem tea) (:domain kitchen)
  (:objects hob grill - stove kitchen hall cellar - room)
  (:init (robot-in kitchen) (in hob kitchen) (in grill kitchen))
  (:goal (robot-in cellar)))
"""
RULES = """\
(define (safety kitchen) (:domain kitchen)
  (:process stove-attended :on (go ?from ?to) :forbid (exists (?s - stove) (and (in ?s ?from) (on ?s))))
  (:termination stove-off :parameters (?s - stove) :forbid (on ?s))
  (:process no-cellar :on (go ?from ?to) :forbid (= ?to cellar)))
"""
ROUNDS = 60
LATER = 2 * ROUNDS + 1
"""The number of findings of `stove-attended` after the first one: two stoves are on at each step out of the kitchen."""
PLAN = (
    "(switch-on hob kitchen)\n(switch-on grill kitchen)\n"
    + "(go kitchen hall)\n(go hall kitchen)\n" * ROUNDS
    + "(go kitchen cellar)\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kitchen")
    for name, text in (("domain.pddl", DOMAIN), ("problem.pddl", PROBLEM), ("kitchen.safe", RULES)):
        (folder / name).write_text(text)
    (folder / "rounds.plan").write_text(PLAN)
    (folder / "typo.plan").write_text("(go kitchen hal)\n" * 3 + "(swich-on hob kitchen)\n(go kitchen hal)\n")
    return folder


def results(folder: Path, plan: str, **changed: object) -> tuple[Settings, list[Result]]:
    settings = Settings(**changed)._replace(specs=(str(folder / "kitchen.safe"),))
    return settings, list(audit([str(folder / plan)], settings))


def render(folder: Path, plan: str, form: str, **changed: object) -> str:
    settings, audited = results(folder, plan, **changed)
    view = renderer(form, settings)
    return "".join([view.plan(result) for result in audited]) + view.end()


def test_rule_has_one_block_with_count_and_steps(folder: Path) -> None:
    text = render(folder, "rounds.plan", "full", max_findings=1000)
    assert text.count("error[") == 3
    assert text.count("rule `stove-attended` is violated at step 3") == 1
    assert (
        f"  = note: and {LATER} more, at steps 3, 5, 7, 9, 11, .. {LATER + 2} (also ?s = hob, ?to = cellar): --all\n"
        in text
    )
    assert "  = note: and 1 more, where the plan ends (also ?s = hob): --all\n" in text
    assert f"UNSAFE   {LATER + 4} findings, " in text
    assert render(folder, "rounds.plan", "full", max_findings=1000, every=True).count("error[") == LATER + 4


def test_each_rule_has_a_listed_finding(folder: Path) -> None:
    _, (result,) = results(folder, "rounds.plan", max_findings=10)
    assert {finding.rule for finding in result.report.findings} == {"stove-attended", "stove-off", "no-cellar"}
    assert len(result.report.findings) == 10
    assert result.report.suppressed == LATER - 6
    text = render(folder, "rounds.plan", "full", max_findings=10)
    assert "  = note: and at least " in text
    assert f"{LATER - 6} findings not listed (--max-findings)" in text


def test_each_rule_has_one_line_or_annotation(folder: Path) -> None:
    concise = render(folder, "rounds.plan", "concise", max_findings=1000).splitlines()
    assert len(concise) == 4
    assert (
        f"(introduced, {LATER} more, at steps 3, 5, 7, 9, 11, .. {LATER + 2} (also ?s = hob, ?to = cellar): --all)"
        in concise[0]
    )
    github = render(folder, "rounds.plan", "github", max_findings=1000).splitlines()
    assert len(github) == 4
    assert f"%0Aand {LATER} more, at steps 3, 5, 7," in github[0]
    for form in ("concise", "github"):
        assert len(render(folder, "rounds.plan", form, max_findings=1000, every=True).splitlines()) == LATER + 5
    assert len(json.loads(render(folder, "rounds.plan", "gitlab", max_findings=1000))) == LATER + 4
    assert len(json.loads(render(folder, "rounds.plan", "json", max_findings=1000))["findings"]) == LATER + 4


@pytest.mark.parametrize("plan", ["rounds.plan", "typo.plan"])
def test_findings_in_json_have_the_same_groups(folder: Path, plan: str) -> None:
    _, (result,) = results(folder, plan, max_findings=1000)
    from_json = json.loads(render(folder, plan, "json", max_findings=1000))["findings"]
    groups = [list(group.numbers) for group in group_findings(result.report.findings)]
    assert len(groups) < len(from_json)
    assert group_json_findings(from_json) == groups


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rule", "other"),
        ("code", "SC203"),
        ("class", "undecided"),
        ("blame", "pre-existing"),
        ("worlds", "SOME"),
        ("world", 1),
        ("follows", [1]),
        ("proposals", [{"object": "o", "kind": "k", "evidence": "e"}]),
    ],
)
def test_different_finding_in_json_is_in_another_group(folder: Path, field: str, value: object) -> None:
    first, second = json.loads(render(folder, "rounds.plan", "json", max_findings=1000))["findings"][:2]
    assert group_json_findings([first, second]) == [[0, 1]]
    assert group_json_findings([first, {**second, field: value}]) == [[0], [1]]


def test_findings_without_a_rule_are_grouped_by_message(folder: Path) -> None:
    text = render(folder, "typo.plan", "concise")
    lines = [line for line in text.splitlines() if "error[" in line]
    assert len(lines) == 2
    assert "unknown object `hal` (2 more, at steps 2, 5: --all)" not in lines[0]
    assert "unknown object `hal` (3 more, at steps 2-3, 5: --all)" in lines[0]
    assert "unknown action `swich-on`" in lines[1]


def finding(step: int = 1, **changed: object) -> Finding:
    return Finding("SC201", FindingClass.PROCESS, f"violated at step {step}", step, rule="r")._replace(**changed)


@pytest.mark.parametrize(
    "different",
    [
        {"rule": "s"},
        {"rule": None},
        {"code": "SC202"},
        {"finding_class": FindingClass.UNDECIDED},
        {"blame": Blame.PRE_EXISTING},
        {"worlds": Worlds.SOME},
        {"world": 1},
        {"follows": (1,)},
    ],
    ids=lambda different: next(iter(different)),
)
def test_finding_that_differs_is_in_another_group(different: dict[str, object]) -> None:
    groups = group_findings([finding(1), finding(2, **different), finding(3)])
    assert [group.numbers for group in groups] == [(0, 2), (1,)]
    assert [len(group.findings) for group in groups] == [2, 1]


def test_each_finding_is_in_one_group_and_known_findings_are_separate() -> None:
    findings = [finding(step, rule=rule) for step in range(5) for rule in "ab"]
    assert [group.numbers for group in group_findings(findings)] == [(0, 2, 4, 6, 8), (1, 3, 5, 7, 9)]
    assert [group.numbers for group in group_findings(findings, known={0, 2})][:3] == [
        (0, 2),
        (1, 3, 5, 7, 9),
        (4, 6, 8),
    ]
    assert [group.numbers for group in group_findings(findings, show_all=True)] == [(n,) for n in range(10)]
    assert group_findings([]) == ()


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([7], "at step 7"),
        ([7, 7], "at step 7"),
        ([2, 3, 4, 9], "at steps 2-4, 9"),
        ([0, 2], "in the initial state and at step 2"),
        ([1, 3, 5, 7, 9, 11], "at steps 1, 3, 5, 7, 9, 11"),
        ([1, 3, 5, 7, 9, 11, 1300], "at steps 1, 3, 5, 7, 9, .. 1,300"),
    ],
)
def test_steps_are_listed_by_ranges(steps: list[int], text: str) -> None:
    assert steps_text([finding(step) for step in steps]) == text


def test_objects_of_later_findings_are_named_if_they_differ() -> None:
    bindings = [(("?s", f"stove-{n}"), ("?r", "kitchen")) for n in (1, 1, 2, 3, 4, 5)]
    (group,) = group_findings([finding(9, at_end=True, binding=binding) for binding in bindings])
    expected = "5 more, where the plan ends (also ?s = stove-2, ?s = stove-3, ?s = stove-4, and 1 more)"
    assert later_findings_text(group) == expected
    assert later_findings_text(group, complete=False).startswith("at least 5 more, ")


def test_groups_do_not_change_the_verdict(folder: Path) -> None:
    for show_all in (False, True):
        _, (result,) = results(folder, "rounds.plan", every=show_all)
        assert (result.report.headline, result.exit_code) == (Headline.UNSAFE, 1)
