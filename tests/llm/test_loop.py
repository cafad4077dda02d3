"""The planning loop with the verifier: the feedback to the model, the end of the loop, and the author of each step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loop_kitchen import COLD, RULES, mock_with_answers

from plansafe.grammar.source import Source
from plansafe.llm.loop.feedback import MOST_FINDINGS, Repairs, of_report, unread
from plansafe.llm.loop.model import PLAN, Decode, PlanOptions, PlanResult, Status, StepAuthor, Style
from plansafe.llm.loop.policies import policies
from plansafe.llm.loop.rounds import plan_with
from plansafe.llm.loop.transcript import lines
from plansafe.llm.models.mock import MockModel
from plansafe.llm.models.replay import ReplayModel
from plansafe.llm.models.request import Role, user_messages
from plansafe.verifier.api import Checker
from plansafe.verifier.repair.model import RepairOptions
from plansafe.verifier.reporting.report import Headline
from shared_kitchen import DOMAIN, PROBLEM, SAFE, UNSAFE

QUICK = RepairOptions(time_limit_s=10.0)


@pytest.fixture(scope="module")
def kitchen() -> Checker:
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM), [Source("r.safe", RULES)])
    assert checker.ok, checker.diagnostics
    return checker


def run(model: MockModel | ReplayModel, checker: Checker, **changes: object) -> PlanResult:
    options = PlanOptions(repair=QUICK)._replace(**changes)  # type: ignore[arg-type] # the fields of a tuple, by name
    return plan_with(model, "tea", user_messages("Tea, please."), checker, options)


def make_feedback(checker: Checker, text: str, style: Style = Style.FINDING) -> str:
    plan = Source(PLAN, text)
    return of_report(style, checker, plan, checker.check(plan), text.splitlines(), Repairs(checker, QUICK))


def test_an_ill_formed_step_is_reported_to_the_model(kitchen: Checker) -> None:
    result = run(mock_with_answers("Sure:\n\n```\n(juggle hob kitchen)\n```", SAFE), kitchen)
    assert result.status is Status.FOUND
    first = result.rounds[0]
    assert first.report is not None
    assert first.report.headline is Headline.INVALID
    assert first.plan == "(juggle hob kitchen)\n"
    assert "is no step of this home: unknown action juggle" in first.feedback


def test_the_model_gets_the_findings_and_corrects_its_plan(kitchen: Checker) -> None:
    result = run(mock_with_answers("Sorry?", UNSAFE, SAFE), kitchen)
    assert result.status is Status.FOUND
    assert result.plan == SAFE
    assert {part.by for part in result.parts} == {StepAuthor.MODEL}
    assert [round_record.report.headline if round_record.report else None for round_record in result.rounds] == [
        None,
        Headline.UNSAFE,
        Headline.SAFE,
    ]
    messages = result.rounds[-1].exchanges[0].request.messages
    assert [message.role for message in messages] == [Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT, Role.USER]
    assert messages[2].text.startswith("No plan could be read in your answer:\n- line 1: ")
    assert messages[3].text == UNSAFE
    assert "stove-off-before-leaving" in messages[4].text
    assert result.rounds[-1].feedback == ""


def test_feedback_names_a_failed_step_and_its_consequences(kitchen: Checker) -> None:
    assert make_feedback(kitchen, "(switch-off hob kitchen)\n(go kitchen hall)\n") == (
        "The plan is INVALID:\n"
        "- Step 1, (switch-off hob kitchen), cannot be taken: its precondition is not satisfied."
        " (on hob) is false. Help: actions that can make it true: switch-on.\n"
        "- At the end the goal is not reached: (robot-in hall) is false. (hot hob) is false."
        " It is also not reached if the failed steps are skipped or forced.\n"
        "Write the whole plan again, corrected: one step a line and nothing else."
    )


def test_feedback_names_a_violated_rule_with_its_reason(kitchen: Checker) -> None:
    said_of_it = make_feedback(kitchen, UNSAFE)
    assert said_of_it.splitlines()[1] == (
        "- Step 2, (go kitchen hall), the rule stove-off-before-leaving is broken: a stove is on in kitchen."
        " Why: An attended stove burns no home. Help: switch it off."
    )


def test_feedback_names_an_ill_formed_step_and_an_unmet_goal(kitchen: Checker) -> None:
    (line,) = make_feedback(kitchen, "(switch-on hob)\n").splitlines()[1:-1]
    assert line == (
        "- Step 1, (switch-on hob), is no step of this home: action switch-on takes 2 arguments, not 1."
        " Help: its parameters are (switch-on ?s ?r)."
    )
    assert make_feedback(kitchen, "(go kitchen hall)\n").splitlines()[1:-1] == [
        "- At the end the goal is not reached: (hot hob) is false."
    ]


def test_equal_messages_of_two_readings_are_given_once() -> None:
    off = '(define (safety off) (:termination heat-off :parameters (?s - stove) :forbid (on ?s) :message "it is on"))'
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM), [Source("r.safe", off)])
    plan = "(switch-on hob kitchen)\n(switch-on hob kitchen)\n"  # the second step fails
    violations = [finding for finding in checker.check(Source(PLAN, plan)).findings if finding.rule == "heat-off"]
    assert [finding.readings for finding in violations] == [("halt", "skip"), ("force",)]
    assert make_feedback(checker, plan).count("heat-off") == 1


def test_later_styles_give_more_feedback(kitchen: Checker) -> None:
    texts = {style: make_feedback(kitchen, UNSAFE, style) for style in Style}
    assert texts[Style.NONE] == ""
    assert texts[Style.VERDICT].startswith("The plan is UNSAFE. ")
    assert "stove" not in texts[Style.VERDICT]
    assert "Cause: " not in texts[Style.FINDING]
    assert "Cause: " in texts[Style.CAUSE]
    assert "- insert (switch-off hob kitchen) as new step 2: " in texts[Style.REPAIR]
    assert "insert" not in texts[Style.CAUSE]


def test_feedback_is_bounded(kitchen: Checker) -> None:
    text = "".join([f"({'x' * 5000}{number} hob)\n" for number in range(30)])
    assert len(make_feedback(kitchen, text)) < 2_000 * MOST_FINDINGS
    refused = kitchen.read(Source("a", "(((" * 10_000)).text.diagnostics
    assert refused
    assert len(unread(Style.FINDING, refused, "(((" * 10_000)) < 2_000 * MOST_FINDINGS


def test_a_repeated_plan_is_reported(kitchen: Checker) -> None:
    result = run(mock_with_answers(UNSAFE), kitchen, last_resort=False)
    assert [round_record.feedback[:25] for round_record in result.rounds] == [
        "The plan is UNSAFE:\n- Ste",
        "This is the same plan as ",
        "",
    ]


def test_without_feedback_the_model_is_only_asked_again(kitchen: Checker) -> None:
    result = run(mock_with_answers(UNSAFE, SAFE), kitchen, feedback=Style.NONE)
    assert result.status is Status.FOUND
    assert result.rounds[0].feedback == "Write the whole plan once more: one step a line and nothing else."


def test_the_last_resort_repairs_and_marks_its_steps(kitchen: Checker) -> None:
    result = run(mock_with_answers(UNSAFE), kitchen, rounds=1)
    assert result.status is Status.FOUND
    assert result.plan == SAFE
    assert [part.by for part in result.parts] == [StepAuthor.MODEL, StepAuthor.REPAIR, StepAuthor.MODEL]
    assert result.report is not None
    assert result.report.headline is Headline.SAFE


def test_without_the_last_resort_nothing_is_found(kitchen: Checker) -> None:
    result = run(mock_with_answers(UNSAFE), kitchen, rounds=2, last_resort=False)
    assert result.status is Status.NOT_FOUND
    assert result.report is not None
    assert result.report.headline is Headline.UNSAFE
    assert len(result.rounds) == 2


def test_the_planner_plans_if_no_answer_was_read(kitchen: Checker) -> None:
    result = run(MockModel("empty", {}), kitchen, rounds=2)
    assert result.status is Status.FOUND
    assert {part.by for part in result.parts} == {StepAuthor.PLANNER}
    assert kitchen.check(Source("x", result.plan)).headline is Headline.SAFE


@pytest.mark.parametrize("decode", list(Decode))
def test_an_unsolvable_task_is_proved_unsolvable(decode: Decode) -> None:
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM), [Source("r.safe", COLD)])
    result = run(mock_with_answers(UNSAFE), checker, decode=decode, rounds=1)
    assert result.status is Status.UNSOLVABLE
    without_last_resort = run(mock_with_answers(UNSAFE), checker, decode=Decode.FREE, rounds=1, last_resort=False)
    assert without_last_resort.status is Status.NOT_FOUND, "one bad plan proves nothing"


@pytest.mark.parametrize("decode", list(Decode))
@pytest.mark.parametrize("mock", ["planner", "reference", "unsafe", "random"])
def test_the_resulting_plan_is_safe_for_every_policy(decode: Decode, mock: str, kitchen: Checker) -> None:
    model = MockModel(mock, policies(kitchen.compiled, SAFE, 3, 6), 3)
    result = run(model, kitchen, decode=decode, slack=(2, 1))
    assert result.status is Status.FOUND
    assert kitchen.check(Source("x", result.plan)).headline is Headline.SAFE
    if mock in ("planner", "reference"):
        assert result.plan == SAFE
        assert StepAuthor.REPAIR not in {part.by for part in result.parts}
    if decode is Decode.GUIDED:
        assert {part.by for part in result.parts} <= {StepAuthor.MODEL, StepAuthor.GUIDE}
    if decode in (Decode.FREE, Decode.GRAMMAR) and mock == "unsafe":
        assert result.rounds[0].report is not None
        assert result.rounds[0].report.headline is Headline.UNSAFE


def test_a_bounded_length_does_not_prove_that_there_is_no_plan(kitchen: Checker) -> None:
    """If the guide finds no plan within the bound, the task is not reported as unsolvable."""
    model = MockModel("planner", policies(kitchen.compiled))
    result = run(model, kitchen, decode=Decode.GUIDED, slack=(1, 3), last_resort=False)
    assert result.status is Status.NOT_FOUND


@pytest.mark.parametrize(
    "answer",
    [
        "; domain: /etc/passwd\n(switch-on hob kitchen)\n; \x1b[31m\n(switch-off hob kitchen)\n(go kitchen hall)\n",
        "0: (switch-on hob kitchen)\n2: (go kitchen hall)\n1: (switch-off hob kitchen)\n",
    ],
)
def test_the_resulting_plan_is_the_plan_that_was_checked(answer: str, kitchen: Checker) -> None:
    result = run(mock_with_answers(answer), kitchen, rounds=1, last_resort=False)
    if result.status is Status.FOUND:
        assert kitchen.check(Source("x", result.plan)).headline is Headline.SAFE
        assert result.plan.isprintable() or result.plan.replace("\n", "").isprintable()
        assert ";" not in result.plan
    else:
        assert result.report is None or result.report.headline is not Headline.SAFE


def test_a_partially_ordered_plan_is_not_a_result(kitchen: Checker) -> None:
    text = (
        "(define (plan p) (:steps (a (switch-on hob kitchen)) (b (switch-off hob kitchen)) (c (go kitchen hall)))"
        " (:ordering (a b) (b c)))"
    )
    result = run(mock_with_answers(text), kitchen, rounds=1, last_resort=False)
    assert result.status is Status.NOT_FOUND


@pytest.mark.parametrize("decode", list(Decode))
def test_a_transcript_replays_to_the_same_result(decode: Decode, kitchen: Checker, tmp_path: Path) -> None:
    def model() -> MockModel:
        if decode is Decode.FREE:
            return mock_with_answers("\x1b]0;x\x07 no", UNSAFE, SAFE)
        return MockModel("random", policies(kitchen.compiled, None, 5, 6), 5)

    result = run(model(), kitchen, decode=decode, slack=(2, 1))
    text = "".join(lines(result))
    assert text.isascii()
    path = tmp_path / "run.jsonl"
    path.write_text(text)
    replayed = run(ReplayModel(str(path)), kitchen, decode=decode, slack=(2, 1))
    assert (replayed.status, replayed.parts) == (result.status, result.parts)
    assert [(round_record.plan, round_record.feedback, round_record.end) for round_record in replayed.rounds] == [
        (round_record.plan, round_record.feedback, round_record.end) for round_record in result.rounds
    ]
    records = [json.loads(line) for line in text.splitlines()]
    assert [record["round"] for record in records if "outcome" in record] == list(range(1, len(result.rounds) + 1))
