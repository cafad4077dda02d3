"""The loop with the verifier in it: what comes back to the model, when it ends, and whose step is whose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loop_kitchen import COLD, RULES

from plansafe.grammar.source import Source
from plansafe.llm.loop.feedback import MOST_FINDINGS, Repairs, of_report, unread
from plansafe.llm.loop.model import PLAN, Decode, PlanOptions, PlanResult, Status, StepAuthor, Style
from plansafe.llm.loop.policies import policies
from plansafe.llm.loop.rounds import plan_with
from plansafe.llm.loop.transcript import lines
from plansafe.llm.models.mock import MockModel
from plansafe.llm.models.replay import ReplayModel
from plansafe.llm.models.request import Role, Situation, user_messages
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


def saying(*answers: str) -> MockModel:
    """A model that gives these answers, one a round; the last again and again."""
    left = list(answers)

    def policy(_: Situation) -> str:
        return left.pop(0) if len(left) > 1 else left[0]

    return MockModel("planner", {"planner": policy})


def run(model: MockModel | ReplayModel, checker: Checker, **changes: object) -> PlanResult:
    options = PlanOptions(repair=QUICK)._replace(**changes)  # type: ignore[arg-type] # the fields of a tuple, by name
    return plan_with(model, "tea", user_messages("Tea, please."), checker, options)


def told(checker: Checker, text: str, style: Style = Style.FINDING) -> str:
    plan = Source(PLAN, text)
    return of_report(style, checker, plan, checker.check(plan), text.splitlines(), Repairs(checker, QUICK))


def test_an_ill_formed_step_is_judged_and_told(kitchen: Checker) -> None:
    made = run(saying("Sure:\n\n```\n(juggle hob kitchen)\n```", SAFE), kitchen)
    assert made.status is Status.FOUND
    first = made.rounds[0]
    assert first.report is not None
    assert first.report.headline is Headline.INVALID
    assert first.plan == "(juggle hob kitchen)\n"
    assert "is no step of this home: unknown action juggle" in first.feedback


def test_what_comes_back_is_mended(kitchen: Checker) -> None:
    made = run(saying("Sorry?", UNSAFE, SAFE), kitchen)
    assert made.status is Status.FOUND
    assert made.plan == SAFE
    assert {part.by for part in made.parts} == {StepAuthor.MODEL}
    assert [one.report.headline if one.report else None for one in made.rounds] == [
        None,
        Headline.UNSAFE,
        Headline.SAFE,
    ]
    last = made.rounds[-1].exchanges[0].request.messages
    assert [message.role for message in last] == [Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT, Role.USER]
    assert last[2].text.startswith("No plan could be read in your answer:\n- line 1: ")
    assert last[3].text == UNSAFE
    assert "stove-off-before-leaving" in last[4].text
    assert made.rounds[-1].feedback == ""


def test_a_step_that_fails_and_what_follows_from_it(kitchen: Checker) -> None:
    assert told(kitchen, "(switch-off hob kitchen)\n(go kitchen hall)\n") == (
        "The plan is INVALID:\n"
        "- Step 1, (switch-off hob kitchen), cannot be taken: its precondition is not satisfied."
        " (on hob) is false. Help: actions that can make it true: switch-on.\n"
        "- At the end the goal is not reached: (robot-in hall) is false. (hot hob) is false."
        " It is also not reached if the failed steps are skipped or forced.\n"
        "Write the whole plan again, corrected: one step a line and nothing else."
    )


def test_a_broken_rule_with_its_reason(kitchen: Checker) -> None:
    said_of_it = told(kitchen, UNSAFE)
    assert said_of_it.splitlines()[1] == (
        "- Step 2, (go kitchen hall), the rule stove-off-before-leaving is broken: a stove is on in kitchen."
        " Why: An attended stove burns no home. Help: switch it off."
    )


def test_an_ill_formed_step_and_an_unmet_goal(kitchen: Checker) -> None:
    (line,) = told(kitchen, "(switch-on hob)\n").splitlines()[1:-1]
    assert line == (
        "- Step 1, (switch-on hob), is no step of this home: action switch-on takes 2 arguments, not 1."
        " Help: its parameters are (switch-on ?s ?r)."
    )
    assert told(kitchen, "(go kitchen hall)\n").splitlines()[1:-1] == [
        "- At the end the goal is not reached: (hot hob) is false."
    ]


def test_what_two_readings_find_in_the_same_words_is_said_once() -> None:
    off = '(define (safety off) (:termination heat-off :parameters (?s - stove) :forbid (on ?s) :message "it is on"))'
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM), [Source("r.safe", off)])
    plan = "(switch-on hob kitchen)\n(switch-on hob kitchen)\n"  # the second fails, and stops the plan or is skipped
    broken = [one for one in checker.check(Source(PLAN, plan)).findings if one.rule == "heat-off"]
    assert [one.readings for one in broken] == [("halt", "skip"), ("force",)]
    assert told(checker, plan).count("heat-off") == 1


def test_the_styles_say_more_and_more(kitchen: Checker) -> None:
    texts = {style: told(kitchen, UNSAFE, style) for style in Style}
    assert texts[Style.NONE] == ""
    assert texts[Style.VERDICT].startswith("The plan is UNSAFE. ")
    assert "stove" not in texts[Style.VERDICT]
    assert "Cause: " not in texts[Style.FINDING]
    assert "Cause: " in texts[Style.CAUSE]
    assert "- insert (switch-off hob kitchen) as new step 2: " in texts[Style.REPAIR]
    assert "insert" not in texts[Style.CAUSE]


def test_feedback_is_bounded(kitchen: Checker) -> None:
    text = "".join([f"({'x' * 5000}{number} hob)\n" for number in range(30)])
    assert len(told(kitchen, text)) < 2_000 * MOST_FINDINGS
    refused = kitchen.read(Source("a", "(((" * 10_000)).text.diagnostics
    assert refused
    assert len(unread(Style.FINDING, refused, "(((" * 10_000)) < 2_000 * MOST_FINDINGS


def test_the_same_plan_again_is_said(kitchen: Checker) -> None:
    made = run(saying(UNSAFE), kitchen, last_resort=False)
    assert [one.feedback[:25] for one in made.rounds] == ["The plan is UNSAFE:\n- Ste", "This is the same plan as ", ""]


def test_without_feedback_the_model_is_only_asked_again(kitchen: Checker) -> None:
    made = run(saying(UNSAFE, SAFE), kitchen, feedback=Style.NONE)
    assert made.status is Status.FOUND
    assert made.rounds[0].feedback == "Write the whole plan once more: one step a line and nothing else."


def test_the_last_resort_repairs_and_marks_its_steps(kitchen: Checker) -> None:
    made = run(saying(UNSAFE), kitchen, rounds=1)
    assert made.status is Status.FOUND
    assert made.plan == SAFE
    assert [part.by for part in made.parts] == [StepAuthor.MODEL, StepAuthor.REPAIR, StepAuthor.MODEL]
    assert made.report is not None
    assert made.report.headline is Headline.SAFE


def test_without_it_nothing_is_found(kitchen: Checker) -> None:
    made = run(saying(UNSAFE), kitchen, rounds=2, last_resort=False)
    assert made.status is Status.NOT_FOUND
    assert made.report is not None
    assert made.report.headline is Headline.UNSAFE
    assert len(made.rounds) == 2


def test_where_nothing_was_read_the_planner_plans(kitchen: Checker) -> None:
    made = run(MockModel("empty", {}), kitchen, rounds=2)
    assert made.status is Status.FOUND
    assert {part.by for part in made.parts} == {StepAuthor.PLANNER}
    assert kitchen.check(Source("x", made.plan)).headline is Headline.SAFE


@pytest.mark.parametrize("decode", list(Decode))
def test_that_there_is_no_plan_is_proved(decode: Decode) -> None:
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM), [Source("r.safe", COLD)])
    made = run(saying(UNSAFE), checker, decode=decode, rounds=1)
    assert made.status is Status.UNSOLVABLE
    free = run(saying(UNSAFE), checker, decode=Decode.FREE, rounds=1, last_resort=False)
    assert free.status is Status.NOT_FOUND, "one bad plan proves nothing"


@pytest.mark.parametrize("decode", list(Decode))
@pytest.mark.parametrize("mock", ["planner", "reference", "unsafe", "random"])
def test_whoever_chooses_what_is_handed_out_is_safe(decode: Decode, mock: str, kitchen: Checker) -> None:
    model = MockModel(mock, policies(kitchen.compiled, SAFE, 3, 6), 3)
    made = run(model, kitchen, decode=decode, slack=(2, 1))
    assert made.status is Status.FOUND
    assert kitchen.check(Source("x", made.plan)).headline is Headline.SAFE
    if mock in ("planner", "reference"):
        assert made.plan == SAFE
        assert StepAuthor.REPAIR not in {part.by for part in made.parts}
    if decode is Decode.GUIDED:
        assert {part.by for part in made.parts} <= {StepAuthor.MODEL, StepAuthor.GUIDE}
    if decode in (Decode.FREE, Decode.GRAMMAR) and mock == "unsafe":
        assert made.rounds[0].report is not None
        assert made.rounds[0].report.headline is Headline.UNSAFE


def test_a_bounded_length_is_no_proof(kitchen: Checker) -> None:
    """The guide may find nothing within so many steps; that is not said to be unsolvable."""
    model = MockModel("planner", policies(kitchen.compiled))
    made = run(model, kitchen, decode=Decode.GUIDED, slack=(1, 3), last_resort=False)
    assert made.status is Status.NOT_FOUND


@pytest.mark.parametrize(
    "answer",
    [
        "; domain: /etc/passwd\n(switch-on hob kitchen)\n; \x1b[31m\n(switch-off hob kitchen)\n(go kitchen hall)\n",
        "0: (switch-on hob kitchen)\n2: (go kitchen hall)\n1: (switch-off hob kitchen)\n",
    ],
)
def test_what_is_handed_out_is_what_was_judged(answer: str, kitchen: Checker) -> None:
    made = run(saying(answer), kitchen, rounds=1, last_resort=False)
    if made.status is Status.FOUND:
        assert kitchen.check(Source("x", made.plan)).headline is Headline.SAFE
        assert made.plan.isprintable() or made.plan.replace("\n", "").isprintable()
        assert ";" not in made.plan
    else:
        assert made.report is None or made.report.headline is not Headline.SAFE


def test_an_order_that_is_left_open_is_no_plan_to_hand_out(kitchen: Checker) -> None:
    text = (
        "(define (plan p) (:steps (a (switch-on hob kitchen)) (b (switch-off hob kitchen)) (c (go kitchen hall)))"
        " (:ordering (a b) (b c)))"
    )
    made = run(saying(text), kitchen, rounds=1, last_resort=False)
    assert made.status is Status.NOT_FOUND


@pytest.mark.parametrize("decode", list(Decode))
def test_a_transcript_replays_to_the_same_result(decode: Decode, kitchen: Checker, tmp_path: Path) -> None:
    def model() -> MockModel:
        if decode is Decode.FREE:
            return saying("\x1b]0;x\x07 no", UNSAFE, SAFE)
        return MockModel("random", policies(kitchen.compiled, None, 5, 6), 5)

    made = run(model(), kitchen, decode=decode, slack=(2, 1))
    text = "".join(lines(made))
    assert text.isascii()
    path = tmp_path / "run.jsonl"
    path.write_text(text)
    again = run(ReplayModel(str(path)), kitchen, decode=decode, slack=(2, 1))
    assert (again.status, again.parts) == (made.status, made.parts)
    assert [(one.plan, one.feedback, one.end) for one in again.rounds] == [
        (one.plan, one.feedback, one.end) for one in made.rounds
    ]
    records = [json.loads(line) for line in text.splitlines()]
    assert [record["round"] for record in records if "outcome" in record] == list(range(1, len(made.rounds) + 1))
