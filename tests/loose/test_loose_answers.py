"""Real answers are read as labelled, and the checker reports their ill-formed steps."""

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
    outcomes = Counter([outcome(answer) for answer in answers() if answer.to_judge is judge])
    assert not outcomes["wrongly read"] and not outcomes["other steps"], outcomes
    assert outcomes["as labelled"] >= 0.95 * outcomes.total(), outcomes


def test_each_family_is_in_one_half_only() -> None:
    halves = {half: {a.family for a in answers() if a.to_judge is half} for half in (False, True)}
    assert not halves[False] & halves[True]
    assert (len(halves[False]), len(halves[True])) == (8, 7)
    assert min(Counter([a.to_judge for a in answers()]).values()) > 110


def test_labels_are_consistent() -> None:
    for answer in answers():
        label = answer.label
        assert set(label) == {"id", "plan", "steps", "broken_off", "two"}
        assert label["plan"] is bool(label["steps"])
        assert not (label["broken_off"] and not label["plan"])


@pytest.mark.slow
def test_ill_formed_steps_are_reported_by_the_checker() -> None:
    invalid_plans = 0
    for answer in answers():
        reading = read(answer)
        if reading.plan is None:
            continue
        report = checker(answer.family, answer.number).check(reading.plan)
        ill_formed_steps = {
            finding.step for finding in report.findings if finding.finding_class is FindingClass.ILL_FORMED
        }
        assert ill_formed_steps <= {number for number, step in enumerate(reading.steps, 1) if step.ill_formed}
        assert bool(ill_formed_steps) is any([step.ill_formed for step in reading.steps])
        assert not ill_formed_steps or report.headline is Headline.INVALID
        invalid_plans += bool(ill_formed_steps)
    assert invalid_plans > 50


ANSWER = answers()[0]


def read_steps(text: str) -> list[str] | None:
    reading = read_loose(Source("answer.txt", text), checker(ANSWER.family, ANSWER.number))
    return None if reading.plan is None else [step.text for step in reading.steps]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("(go robot kitchen)\n(fly robot)", ["(go robot kitchen)", "(fly robot)"]),
        ("(fly robot)\n(swim robot)", ["(fly robot)", "(swim robot)"]),  # unknown names, objects of the home
        ("Makes: (makes 2)", None),  # a name without an object
        ("(passage kitchen study)\n(in-room sink kitchen)", None),  # facts
        ("(in-room sink kitchen)\n(wash robot)", ["(wash robot)"]),  # the scene repeated, then a step
        ("1. (in-room sink kitchen)\n2. (wash robot)", ["(in-room sink kitchen)", "(wash robot)"]),  # it has a number
        ("(wash robot)\n(in-room sink kitchen)", ["(wash robot)", "(in-room sink kitchen)"]),
        ("(wash robot) (not (open fridge))", ["(wash robot)", "(not open-fridge)"]),
        ("(and (wash robot))", None),
        ("Task: (wash robot)", None),
        ("The robot should not (open fridge).", None),
        ("take(robot, sink)  (Take the sink)", ["(take robot sink)"]),  # a remark next to a call
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
def test_plans_are_recognised_by_the_rules(text: str, steps: list[str] | None) -> None:
    assert read_steps(text) == steps
