"""The steps that a shield and a guide allow, for every policy; and the grammar of a task's plans."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from plansafe.grammar.source import Source
from plansafe.llm.decoding.stepwise import DONE, End, Mode, decode
from plansafe.llm.decoding.whole_plan import plan_constraint, plan_grammar, write_plan
from plansafe.llm.instances.drawn import Instance, draw
from plansafe.llm.loose.reader import read_loose
from plansafe.llm.models.mock import MockModel
from plansafe.llm.models.port import Capabilities
from plansafe.llm.models.request import Grammar, JsonSchema, Situation, Syntax, user_messages
from plansafe.llm.prompts.planning import Example, planning_prompt
from plansafe.llm.tasks import load
from plansafe.verifier.planning.guide import Guide
from plansafe.verifier.reporting.report import Headline, Worlds


@pytest.fixture(scope="module")
def tasks() -> list[Instance]:
    return [draw(family, 0, seed=21) for family in ("tea", "groceries", "wipe", "mop", "pill", "warm-room")]


@pytest.mark.slow
def test_random_choices_under_the_guide_reach_the_goal(tasks: list[Instance]) -> None:
    for instance in tasks:
        checker = instance.checker()
        longest = int(1.5 * len(instance.reference.splitlines()))
        decoded = decode(
            MockModel("random", {}, 1),
            instance.name,
            user_messages("go"),
            Guide(checker.compiled, max_states=30),
            Mode.GUIDED,
            longest,
        )
        assert decoded.end is End.DONE, instance.name
        assert checker.check(Source("made.plan", decoded.plan)).headline is Headline.SAFE


def test_each_step_under_the_shield_is_executable_and_violates_no_process_rule(tasks: list[Instance]) -> None:
    for instance in tasks:
        checker = instance.checker()
        decoded = decode(
            MockModel("random", {}, 2), instance.name, user_messages("go"), Guide(checker.compiled), Mode.SHIELD, 12
        )
        report = checker.check(Source("made.plan", decoded.plan))
        assert report.executable is Worlds.ALL, instance.name
        assert not [f for f in report.findings if f.step is not None and f.step < len(decoded.steps)], instance.name


def test_the_oracle_follows_its_plan_and_the_first_choice_is_kept(tasks: list[Instance]) -> None:
    for instance in tasks:
        steps = [*instance.reference.splitlines(), DONE]

        def policy(where: Situation, steps: list[str] = steps) -> str:
            return steps[len(where.taken)]

        guide = Guide(instance.checker().compiled)
        decoded = decode(
            MockModel("planner", {"planner": policy}),
            instance.name,
            user_messages("go"),
            guide,
            Mode.GUIDED,
            len(steps),
        )
        assert decoded.steps == tuple(steps[:-1])
        assert all(choosing.kept for choosing in decoded.choices)


def test_a_first_choice_that_is_masked_is_counted() -> None:
    instance = draw("wipe", 0, seed=21)

    def stubborn(where: Situation) -> str:
        hurried = [text for text in where.legal if text.startswith("(hurry")]
        return (hurried or list(where.legal))[0]

    decoded = decode(
        MockModel("planner", {"planner": stubborn}),
        instance.name,
        user_messages("go"),
        Guide(instance.checker().compiled),
        Mode.GUIDED,
        9,
    )
    assert decoded.end is End.DONE
    assert any(not choosing.kept for choosing in decoded.choices)
    assert all(choosing.taken not in choosing.blocked for choosing in decoded.choices)


def test_the_guide_refuses_an_unsolvable_task_at_once() -> None:
    instance = draw("pill", 0, seed=21)
    text = instance.problem.text.replace("(:goal (and", "(:goal (and (holding robot bread-knife)")
    text = text.replace("    robot - robot", "    robot - robot\n    bread-knife - knife")
    unsafe = Source("p.pddl", text.replace("  (:init", "  (:init (on bread-knife high-shelf)"))
    checker = load(unsafe)
    assert checker.ok, checker.diagnostics
    decoded = decode(
        MockModel("random", {}), "p", user_messages("go"), Guide(checker.compiled, time_limit_s=2), Mode.GUIDED, 9
    )
    assert decoded.end in (End.UNSOLVABLE, End.UNKNOWN)
    assert decoded.steps == ()


def test_a_plan_in_one_answer_is_read() -> None:
    instance = draw("tea", 0, seed=21)
    checker = instance.checker()
    model = MockModel("reference", {"reference": lambda _where: instance.reference})
    written = write_plan(model, instance.name, user_messages("go"), checker, grammar=True)
    assert written.plan is not None
    assert checker.check(Source("x.plan", written.plan)).headline is Headline.SAFE
    assert write_plan(MockModel("empty", {}), instance.name, user_messages("go"), checker).plan is None


def test_a_provider_with_only_json_schema_gets_a_schema_of_plans() -> None:
    instance = draw("tea", 0, seed=21)
    checker = instance.checker()
    task = checker.engine.task
    for capabilities in (Capabilities(json_schema=True, gbnf=True), Capabilities()):
        assert isinstance(plan_constraint(task, capabilities, 5, False), Grammar)
    constraint = plan_constraint(task, Capabilities(json_schema=True), 5, False)
    assert isinstance(constraint, JsonSchema)
    steps = []
    for line in instance.reference.splitlines():
        name, *arguments = line.strip("()").split()
        parameters = [v.name.lstrip("?") for v in task.actions[name].parameters]
        steps.append({"action": name, "args": dict(zip(parameters, arguments, strict=True))})
    jsonschema.validate({"plan": steps}, constraint.value)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"plan": [{**steps[0], "args": {}}]}, constraint.value)
    reading = read_loose(Source("answer.txt", json.dumps({"plan": steps})), checker)
    assert reading.plan is not None
    assert checker.check(reading.plan).headline is Headline.SAFE


def test_the_grammar_has_exactly_the_well_typed_steps() -> None:
    instance = draw("wipe", 0, seed=21)
    checker = instance.checker()
    for syntax in Syntax:
        text = plan_grammar(checker.engine.task, syntax, 5).text
        rules = dict(re.findall(r"^(\w+)(?: ::=|:) (.*)$", text, re.MULTILINE))
        steps = [re.findall(r'"\((\w[\w-]*)"|(?<= )(o\d+)', step) for step in rules["step"].split(" | ")]
        names = {name: re.findall(r'"([^"]+)"', body) for name, body in rules.items() if name.startswith("o")}
        sizes = {step[0][0]: [len(names[argument[1]]) for argument in step[1:]] for step in steps}
        task = checker.engine.task
        for action in task.actions.values():
            domain_sizes = [len(task.domains[parameter.domain]) for parameter in action.parameters]
            assert sizes.get(action.name) == (domain_sizes if all(domain_sizes) else None)


def test_prompts_share_a_prefix_and_have_an_address() -> None:
    tea_instance, wipe_instance = draw("tea", 0, seed=21), draw("wipe", 0, seed=21)
    example = Example(wipe_instance.words, wipe_instance.checker().compiled, wipe_instance.reference)
    first = planning_prompt(tea_instance.words, tea_instance.checker().compiled, (example,), safety=True)
    second = planning_prompt(wipe_instance.words, wipe_instance.checker().compiled, (example,), safety=True)
    assert first.messages[0] == second.messages[0]
    assert first.sha256 != second.sha256
    assert first.style == "few-shot+safety"
    assert planning_prompt(tea_instance.words, tea_instance.checker().compiled).style == "zero-shot"
    assert tea_instance.words in first.messages[1].text
