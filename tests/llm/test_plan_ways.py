"""Options of the planning loop: goals from words, refusals, replanning, mapped steps, examples, repairs by a model."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from loop_kitchen import COLD, RULES, Run, mock_with_answers, record_answers, written_files

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.llm.decoding.whole_plan import plan_grammar
from plansafe.llm.instances.drawn import draw
from plansafe.llm.loop.goal_reading import BadGoal, read_facts, read_goal
from plansafe.llm.loop.mapping import mapped, raw_steps
from plansafe.llm.loop.model import PlanOptions, Status, StepAuthor
from plansafe.llm.loop.proposals import refused
from plansafe.llm.loop.rounds import plan_with
from plansafe.llm.models.answer import Answer, Finish
from plansafe.llm.models.port import Capabilities
from plansafe.llm.models.request import Grammar, JsonSchema, Syntax, user_messages
from plansafe.llm.prompts.examples import SEED, example, nearest, shipped
from plansafe.llm.prompts.goal import goal_constraint, goal_prompt
from plansafe.llm.prompts.planning import REFUSAL, SAFETY, planning_prompt
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline
from shared_kitchen import DOMAIN, PROBLEM, SAFE, UNSAFE

TASK_OPTIONS = ("--problem", "task/p.pddl")
SCHEMA = Path(__file__).resolve().parents[2] / "app/plansafe/app/schema/plan-1.json"
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))


@pytest.fixture(scope="module")
def kitchen() -> Checker:
    return Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM), [Source("r.safe", RULES)])


def record_named_answers(*pairs: tuple[str, str]) -> str:
    """Write a file of recorded answers, each with the name of its task; return the model that replays it."""
    Path("answers.jsonl").write_text("".join([json.dumps({"task": task, "text": text}) + "\n" for task, text in pairs]))
    return "replay/answers.jsonl"


# -- goals from words -------------------------------------------------------------------------------------------------

HOT = '{"goal": ["(hot hob)", "(robot-in hall)"]}'


def test_a_goal_in_words_is_shown_before_the_plan(run: Run) -> None:
    model = record_named_answers(("tea/goal", HOT), ("tea", SAFE))
    code, out, _ = run("-m", model, *TASK_OPTIONS, "--goal-from-words", "Heat the hob.", "--transcript", "run.jsonl")
    assert code == 0
    assert out.startswith(
        "goal           (and (hot hob) (robot-in hall))  (by the model; --goal takes another)\n\n1  ("
    )
    code, again, _ = run("-m", "replay/run.jsonl", *TASK_OPTIONS, "--goal-from-words", "Heat the hob.")
    assert (code, again.splitlines()[:6]) == (0, out.splitlines()[:6])
    assert json.loads(Path("run.jsonl").read_text().splitlines()[0])["round"] == 0


def test_a_problem_without_a_goal_needs_a_goal_in_words(run: Run) -> None:
    Path("task/p.pddl").write_text(PROBLEM[: PROBLEM.index("(:goal")] + ")")
    code, out, _ = run(
        "-m", record_named_answers(("tea/goal", HOT), ("tea", SAFE)), *TASK_OPTIONS, "Heat the hob.", "--format", "json"
    )
    report = json.loads(out)
    VALIDATOR.validate(report)
    assert (code, report["goal"]) == (0, {"text": "(and (hot hob) (robot-in hall))", "by": "model"})
    code, _, err = run("-m", record_named_answers(("tea/goal", HOT), ("tea", SAFE)), *TASK_OPTIONS)
    assert code == 2
    assert "the problem has no goal, and no text describes one" in err


def test_a_printed_goal_can_be_used_as_an_option(run: Run) -> None:
    code, goal, _ = run(
        "-m",
        record_named_answers(("tea/goal", HOT)),
        *TASK_OPTIONS,
        "--goal-from-words",
        "--goal-only",
        "Heat the hob.",
    )
    assert (code, goal) == (0, "(and (hot hob) (robot-in hall))\n")
    code, out, _ = run("-m", "mock/planner", *TASK_OPTIONS, "--goal", goal, "Heat the hob.")
    assert code == 0
    assert out.startswith("goal           (and (hot hob) (robot-in hall))  (by the user)\n")


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        ("(hott hob)", "did you mean `hot`?"),
        ("(hot kitchen)", "error[SC805]"),
        ("(in hob kitchen)", "the initial state already satisfies this goal"),
        ("nothing", "no facts could be read in the answer"),
        ("(forall (?s) (on ?s))", "a goal is made of facts"),
        ("(hot hob)) (:init (on hob)", "error[SC805]"),
        ("(" * 100_000, "the answer is too long for a goal"),
        ("\x1b]0;x\x07(hot hob\u202e)", "error[SC805]"),
    ],
)
def test_an_unusable_goal_is_refused(goal: str, why: str, run: Run) -> None:
    code, out, err = run(
        "-m", record_named_answers(("tea/goal", goal)), *TASK_OPTIONS, "--goal-from-words", "Heat it.", "-o", "x.plan"
    )
    assert code == 2
    assert why in out
    assert "\x1b" not in out + err
    assert "\u202e" not in out + err
    assert written_files() == set()


def test_a_wrong_goal_is_corrected_once(kitchen: Checker) -> None:
    def check(goal: str) -> tuple[Diagnostic, ...]:
        mistake = Diagnostic("SC102", "unknown predicate `hott`", help="did you mean `hot`?")
        return (mistake,) if "hott" in goal else ()

    task = kitchen.engine.task
    reading = read_goal(mock_with_answers("(hott hob)", "(hot hob)"), "tea", user_messages("Heat it."), task, check)
    assert reading.goal == "(and (hot hob))"
    assert reading.exchanges[-1].request.messages[-1].text == (
        "This goal cannot be used:\n- unknown predicate hott. Help: did you mean hot?\n"
        "Write the goal again, corrected, as JSON and nothing else."
    )
    uncorrected = read_goal(mock_with_answers("(hott hob)"), "tea", user_messages("Heat it."), task, check)
    assert (uncorrected.goal, len(uncorrected.exchanges), uncorrected.refused[0].code) == (None, 2, "SC102")


def test_facts_are_read_in_all_usual_forms() -> None:
    for text in (
        '{"goal": ["(hot hob)", "(not (on hob))"]}',
        '```json\n{"goal": ["(hot hob)", "(not (on hob))"]}\n```',
        "(and (hot hob) (not (on hob)))",
        "The goal: (and (HOT hob) (and (not (on hob))))",
        '["(hot hob)", "(not (on hob))"]',
        '{"goal": "(and (hot hob) (not (on hob)))"}',
    ):
        assert read_facts(text) == "(and (hot hob) (not (on hob)))"
    for text in (
        "",
        "hot hob",
        "(hot (hob))",
        "(not (not (on hob)))",
        "(or (on hob) (on hob))",
        "(hot ?x)",
        "(on hob)" * 900,
    ):
        with pytest.raises(BadGoal):
            read_facts(text)


def test_goal_constraints_depend_on_the_provider(kitchen: Checker) -> None:
    task = kitchen.engine.task
    assert goal_constraint(task, Capabilities()) is None
    schema = goal_constraint(task, Capabilities(json_schema=True))
    assert isinstance(schema, JsonSchema)
    assert schema.value["properties"]["goal"]["maxItems"] == 12
    for syntax, capabilities in ((Syntax.GBNF, Capabilities(gbnf=True)), (Syntax.LARK, Capabilities(lark=True))):
        grammar = goal_constraint(task, capabilities)
        assert isinstance(grammar, Grammar)
        assert grammar.syntax is syntax
        assert '"(hot" " " o' in grammar.text
        assert '"(in"' not in grammar.text  # no action changes it
    prompt = goal_prompt("Heat the hob.", kitchen.compiled)
    assert "(hot ?stove)" in prompt.messages[0].text
    assert "(in ?stove ?room)" not in prompt.messages[0].text


# -- refusals ---------------------------------------------------------------------------------------------------------


def test_a_refusal_is_reported_with_the_engines_verdict(run: Run) -> None:
    model = record_answers("REFUSE: this burns the home\x1b[31m down")
    code, out, _ = run("-m", model, *TASK_OPTIONS, "--allow-refusal", "-o", "x.plan", "Burn it.")
    assert code == 3
    assert "error[SC804]: the model refuses: this burns the home" in out
    assert "the engine found a plan of 3 steps that reaches the goal and keeps the rules" in out
    assert "\x1b" not in out
    assert written_files() == set()
    code, out, _ = run("-m", model, *TASK_OPTIONS, "--rounds", "1", "--no-last-resort", "Burn it.")
    assert code == 3
    assert "SC804" not in out
    Path("task/kitchen.safe").write_text(COLD)
    code, out, _ = run("-m", model, *TASK_OPTIONS, "--allow-refusal", "--format", "json", "Burn it.")
    report = json.loads(out)
    VALIDATOR.validate(report)
    assert (code, report["status"], report["refusal"]["right"], report["text"]) == (1, "refused", True, None)


def test_refusals_are_recognised() -> None:
    assert refused(Answer("  **REFUSE: it burns**")) == "it burns"
    assert refused(Answer("refuse:")) == "no reason is given"
    assert refused(Answer("x", Finish.REFUSAL)) == "the provider refused"
    assert refused(Answer("(go a b)\nREFUSE: later")) is None
    assert len(refused(Answer(f"REFUSE: {'x' * 10_000}")) or "") < 400


def test_the_grammar_allows_a_refusal_only_if_it_is_offered(kitchen: Checker) -> None:
    task = kitchen.engine.task
    for syntax in Syntax:
        assert "REFUSE" not in plan_grammar(task, syntax).text
        assert '| "REFUSE: " why' in plan_grammar(task, syntax, refusal=True).text


def test_options_that_need_whole_plans_are_refused_step_by_step(run: Run) -> None:
    for flag in ("--allow-refusal", "--post-process", "--replan"):
        code, _, err = run("-m", "mock/planner", *TASK_OPTIONS, "--decode", "guided", flag)
        assert code == 2
        assert f"{flag} is for whole plans" in err


# -- planning again, mapping ------------------------------------------------------------------------------------------


def test_replanning_continues_from_the_failed_step(kitchen: Checker) -> None:
    options = PlanOptions(replan=True, last_resort=False)
    result = plan_with(
        mock_with_answers(UNSAFE, "(switch-off hob kitchen)\n(go kitchen hall)\n"),
        "tea",
        user_messages("Tea."),
        kitchen,
        options,
    )
    assert result.status is Status.FOUND
    assert result.plan == SAFE
    feedback = result.rounds[0].feedback
    assert "Step 2, (go kitchen hall), the rule stove-off-before-leaving is broken" in feedback
    assert "Done so far:\n(switch-on hob kitchen)\nNow:\n" in feedback
    assert "(on hob)" in feedback
    assert feedback.endswith("write only the steps that are still to come, one a line and nothing else.")
    assert result.rounds[0].plan == "(switch-on hob kitchen)\n"
    unreadable = plan_with(mock_with_answers("(fly hob)\n"), "tea", user_messages("Tea."), kitchen, options)
    assert unreadable.status is Status.NOT_FOUND
    assert len(unreadable.rounds) == 3
    assert unreadable.plan == ""
    incomplete = plan_with(
        mock_with_answers("(switch-on hob kitchen)\n"), "tea", user_messages("Tea."), kitchen, options
    )
    assert "At the end the goal is not reached: (robot-in hall) is false." in incomplete.rounds[0].feedback


def test_steps_are_mapped_to_the_nearest_executable_step(kitchen: Checker) -> None:
    mapping = mapped(kitchen, raw_steps("1. (switch-on the hob)\n2. fly to the moon\n3. (go hall kitchen)\n"), 60)
    assert [(part.step, part.by) for part in mapping.parts] == [
        ("(switch-on hob kitchen)", StepAuthor.MAPPED),
        ("(go kitchen hall)", StepAuthor.MAPPED),
    ]
    assert mapping.parts[0].note == "the model wrote (switch-on the hob)"
    assert [part.step for part in mapping.dropped] == ["(fly to the moon)"]
    assert len(mapped(kitchen, ["(go kitchen hall)", "(go hall kitchen)"] * 20, 10).parts) == 10
    assert len(raw_steps("(go a b)\n" * 100_000)) == 200
    assert raw_steps("```\n; no\n\n") == []


def test_mapped_steps_are_marked_and_checked(run: Run) -> None:
    model = record_answers("(switch-on the hob)\n(fly)\n(go kitchen hall)\n")
    code, out, _ = run(
        "-m", model, *TASK_OPTIONS, "--post-process", "--rounds", "1", "--no-last-resort", "--format", "json"
    )
    report = json.loads(out)
    VALIDATOR.validate(report)
    assert code == 3
    assert [part["by"] for part in report["steps"]] == ["mapped", "model"]
    assert [part["step"] for part in report["removed"]] == ["(fly)"]
    assert report["report"]["headline"] == "UNSAFE"


# -- examples ---------------------------------------------------------------------------------------------------------


def test_shipped_examples_are_drawn_tasks_with_safe_plans() -> None:
    examples = shipped("household")
    assert len(examples) == 15
    assert shipped("virtualhome") == []
    first = draw("fetch", 0, SEED)
    assert (examples[0].words, examples[0].problem, examples[0].plan) == (
        first.words,
        first.problem.text,
        first.reference,
    )
    assert first.checker().check(Source("plan", examples[0].plan)).headline is Headline.SAFE


def test_the_nearest_examples_share_words() -> None:
    words = [task.words for task in shipped("household")]
    (first,) = nearest("Warm the study with the heater, please.", words, 1)
    assert words[first] == "Warm the dining room with the heater."
    assert nearest("", words, 3) == [0, 1, 2]
    assert nearest("x" * 1_000_000, words, 2) == [0, 1]


def test_prompts_name_their_style(kitchen: Checker) -> None:
    examples = (example(shipped("household")[0]),)
    prompt = planning_prompt("Tea.", kitchen.compiled, examples, safety=True, refusal=True, kind="nearest")
    assert prompt.style == "nearest+safety+refusal"
    system = prompt.messages[0].text
    assert SAFETY in system
    assert REFUSAL in system
    assert system.count("Example.\n") == 1
    assert prompt.sha256 != planning_prompt("Tea.", kitchen.compiled, examples, safety=True).sha256
    cropped = planning_prompt("Tea.", kitchen.compiled, examples, most_tokens=300)
    assert cropped.style == "few-shot+cropped"
    assert len(cropped.messages[0].text) < len(system)


def test_examples_are_read_from_files(run: Run) -> None:
    Path("task/heat.plan").write_text(f"; task: Heat it well.\n{SAFE}")
    code, out, _ = run(
        "-m", "mock/planner", *TASK_OPTIONS, "--example", "task/heat.plan", "--transcript", "run.jsonl", "Tea."
    )
    assert code == 0
    assert "prompt         few-shot, about" in out
    (first,) = Path("run.jsonl").read_text().splitlines()
    assert "Task: Heat it well.\\nGoal: " in first
    for words, why in (
        (("--example", "none.plan"), "--example none.plan: plan not found"),
        (("--style", "few-shot"), "no examples are shipped for the domain kitchen"),
    ):
        code, _, err = run("-m", "mock/planner", *TASK_OPTIONS, *words)
        assert code == 2
        assert why in err


# -- repairs ----------------------------------------------------------------------------------------------------------


def test_a_model_repairs_a_plan_and_the_author_of_each_step_is_shown(safecheck: Run) -> None:
    Path("task/tea.plan").write_text(UNSAFE)
    code, out, _ = safecheck(
        "repair", "task/tea.plan", "-m", "mock/planner", "-o", "new.plan", "--transcript", "t.jsonl"
    )
    assert code == 0
    assert [row.split("  ")[-1].strip() for row in out.splitlines()[:3]] == ["given", "model", "given"]
    assert "2 as given, 1 by the model" in out
    assert Path("new.plan").read_text() == SAFE
    (line,) = Path("t.jsonl").read_text().splitlines()
    messages = json.loads(line)["messages"]
    assert [role for role, _ in messages][-3:] == ["user", "assistant", "user"]
    assert messages[-2][1] == UNSAFE
    assert "stove-off-before-leaving is broken" in messages[-1][1]


def test_the_engine_is_the_last_resort_of_a_repair(safecheck: Run) -> None:
    Path("task/tea.plan").write_text(UNSAFE)
    code, out, _ = safecheck("repair", "task/tea.plan", "-m", "mock/empty")
    assert code == 0
    assert "2 as given, 1 by the repair" in out
    code, out, _ = safecheck("repair", "task/tea.plan", "-m", "mock/empty", "--no-last-resort", "--format", "json")
    report = json.loads(out)
    VALIDATOR.validate(report)
    assert (code, report["status"], report["calls"]) == (3, "not found", 3)
    Path("task/kitchen.safe").write_text(COLD)
    assert safecheck("repair", "task/tea.plan", "-m", "mock/empty", "--rounds", "1")[0] == 1


def test_the_model_is_not_asked_about_a_safe_plan(safecheck: Run) -> None:
    Path("task/tea.plan").write_text(f"; my tea\n{SAFE}")
    code, out, _ = safecheck("repair", "task/tea.plan", "-m", "mock/planner", "-o", "new.plan")
    assert code == 0
    assert "0 calls" in out
    assert Path("new.plan").read_text() == f"; my tea\n{SAFE}"


def test_a_model_repairs_only_one_plan(safecheck: Run) -> None:
    for name in ("a", "b"):
        Path(f"task/{name}.plan").write_text(UNSAFE)
    code, _, err = safecheck("repair", "task/a.plan", "task/b.plan", "-m", "mock/planner")
    assert code == 2
    assert "--model takes one plan, not 2" in err
