"""Real answers: read as they are labelled, and ill-formed steps are the checker's to judge."""

from __future__ import annotations

from collections import Counter

import pytest
from answers_read import answers, checker, outcome, read

from plansafe.grammar.source import Source
from plansafe.llm.loose.reader import read_loose
from plansafe.verifier.reporting.report import FindingClass, Headline
from quick import quick_every


@pytest.mark.parametrize("judge", quick_every(2, [False, True]), ids=["to build with", "to judge with"])
def test_answers_are_read_as_labelled_and_none_wrongly(judge: bool) -> None:
    found = Counter([outcome(answer) for answer in answers() if answer.to_judge is judge])
    assert not found["wrongly read"] and not found["other steps"], found
    assert found["as labelled"] >= 0.95 * found.total(), found


def test_no_family_stands_in_both_halves() -> None:
    halves = {half: {a.family for a in answers() if a.to_judge is half} for half in (False, True)}
    assert not halves[False] & halves[True]
    assert (len(halves[False]), len(halves[True])) == (8, 7)
    assert min(Counter([a.to_judge for a in answers()]).values()) > 110


def test_labels_say_what_they_should() -> None:
    for answer in answers():
        label = answer.label
        assert set(label) == {"id", "plan", "steps", "broken_off", "two"}
        assert label["plan"] is bool(label["steps"])
        assert not (label["broken_off"] and not label["plan"])


@pytest.mark.slow
def test_a_plan_with_an_ill_formed_step_is_invalid_and_any_other_is_one_of_the_task() -> None:
    seen = 0
    for answer in answers():
        found = read(answer)
        if found.plan is None:
            continue
        report = checker(answer.family, answer.number).check(found.plan)
        ill = {finding.step for finding in report.findings if finding.finding_class is FindingClass.ILL_FORMED}
        assert ill <= {number for number, step in enumerate(found.steps, 1) if step.ill_formed}
        assert bool(ill) is any([step.ill_formed for step in found.steps])
        assert not ill or report.headline is Headline.INVALID
        seen += bool(ill)
    assert seen > 50


ANSWER = answers()[0]


def understood(text: str) -> list[str] | None:
    found = read_loose(Source("answer.txt", text), checker(ANSWER.family, ANSWER.number))
    return None if found.plan is None else [step.text for step in found.steps]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("(go robot kitchen)\n(fly robot)", ["(go robot kitchen)", "(fly robot)"]),
        ("(fly robot)\n(swim robot)", ["(fly robot)", "(swim robot)"]),  # unknown names, things of the home
        ("Makes: (makes 2)", None),  # a name and no thing
        ("(passage kitchen study)\n(in-room sink kitchen)", None),  # facts
        ("(in-room sink kitchen)\n(wash robot)", ["(wash robot)"]),  # the scene told again, then a step
        ("1. (in-room sink kitchen)\n2. (wash robot)", ["(in-room sink kitchen)", "(wash robot)"]),  # it has a number
        ("(wash robot)\n(in-room sink kitchen)", ["(wash robot)", "(in-room sink kitchen)"]),
        ("(wash robot) (not (open fridge))", ["(wash robot)", "(not open-fridge)"]),
        ("(and (wash robot))", None),
        ("Task: (wash robot)", None),
        ("The robot should not (open fridge).", None),
        ("take(robot, sink)  (Take the sink)", ["(take robot sink)"]),  # a remark beside a call
        ("(wash robot) ; (fly robot)", ["(wash robot)"]),
        ('{"action": wash, "args": ["robot"]}', ["(wash robot)"]),
        ('[{"action": "cook", "args": ["fish"]}]', ["(cook fish)"]),
        ('[{"name": "fish", "type": "food"}]', None),
        ("1. Open the fridge.\n2. Sing a song.", ["(open the fridge)", "(sing a song)"]),
        ("1. Sing a song.\n2. Dance.\n3. Open the fridge.", None),
        ("1. The robot opens the fridge.\n2. The robot sings.", None),
        ("if is_open(fridge):\n    wash(robot)", None),
        ("```\n(wash robot)\n```\nthen\n```\n(fly robot)\n(wash kitchen)\n```", ["(fly robot)", "(wash kitchen)"]),
        ("(wash robot)\n\nFinal plan:\n(wash kitchen)", ["(wash kitchen)"]),
        ("(wash robot)\n\nFinal plan:\nnothing to do", None),
        ("(wash robot)\n(go kitchen)\n\n### Again\n(wash robot)", ["(wash robot)", "(go kitchen)"]),
        ("(wash robot)\n\n### Or\n(wash kitchen)", None),  # two plans
        ("Option 1:\n```\n(wash robot)\n```\nOption 2:\n```\n(wash kitchen)\n```", None),
        ("I cannot do that.\n```\n(wash robot)\n```", None),
        ("(wash robot) or (wash kitchen)", None),
        ("(wash robot)\n...", None),
        ("1. (wash robot)\n2. (wash kit", ["(wash robot)"]),
        ("1. (wash robot)\n2.", ["(wash robot)"]),
        ('[{"action": "wash", "args": ["robot"]}, {"action": "go", "args": ["kit', ["(wash robot)"]),
        ('{"action": "clean", "args": [{"name": "wash", "type": "robot"}, {"na', None),  # within its first step
        ("```\nwash(robot)\nwash(kitchen", ["(wash robot)"]),
    ],
)  # fmt: skip
def test_rules_of_what_is_a_plan(text: str, steps: list[str] | None) -> None:
    assert understood(text) == steps
