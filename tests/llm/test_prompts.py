"""Prompts: the default text, and the part of a scene that a token limit keeps."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from loop_kitchen import RULES

from plansafe.domains.objects import add_kinds
from plansafe.domains.world import Request
from plansafe.domains.worlds import world
from plansafe.grammar.source import Source
from plansafe.llm.instances.drawn import draw
from plansafe.llm.prompts.crop import crop, facts_text, relevance, things_text
from plansafe.llm.prompts.planning import planning_prompt
from plansafe.llm.prompts.prompt_options import tokens_of
from plansafe.specs import default_specs, spec_path
from plansafe.verifier.api import Checker, Options
from quick import quick_every
from shared_kitchen import DOMAIN, PROBLEM

GRAPHS = Path(os.environ.get("PLANSAFE_DATA", Path(__file__).parents[3] / "shared/data")) / "eai-virtualhome"
ROOMS = 40


def kitchen(more: str = "", goal: str = "(and (robot-in hall) (hot hob))") -> Checker:
    """A house of many rooms with a stove in each; the goal is about two rooms."""
    rooms = " ".join([f"r{number}" for number in range(ROOMS)])
    stoves = " ".join([f"s{number}" for number in range(ROOMS)])
    facts = " ".join([f"(in s{number} r{number})" for number in range(ROOMS)])
    text = PROBLEM.replace("hob - stove", f"hob {stoves} - stove {rooms}").replace(
        "(in hob kitchen)", f"(in hob kitchen) {facts}{more}"
    )
    text = text.replace("(and (robot-in hall) (hot hob))", goal)
    checker = Checker(Source("d", DOMAIN), Source("p", text), [Source("r", RULES)])
    assert checker.ok, checker.diagnostics
    return checker


def test_the_default_prompt_of_a_version_never_changes() -> None:
    instance = draw("tea", 0)
    prompt = planning_prompt(instance.words, instance.checker().compiled)
    assert (prompt.style, prompt.cropped) == ("zero-shot", None)
    assert prompt.sha256 == "929785bd8508bfdade5e3df3aa42e01900cc20860355006507bbae84558416b0"


def test_tokens_are_counted_without_a_tokenizer() -> None:
    assert tokens_of("") == 0
    assert tokens_of("(on_top mug_12 table)\n") == 11
    assert tokens_of("a" * 1_000_000) == 200_000


def name_objects(checker: Checker, numbers: frozenset[int]) -> set[str]:
    return {checker.engine.task.objects[number] for number in numbers}


def test_objects_of_the_goal_are_kept_and_omissions_are_counted() -> None:
    checker = kitchen()
    complete = planning_prompt("Heat the hob.", checker.compiled)
    prompt = planning_prompt("Heat the hob.", checker.compiled, most_tokens=150)
    assert complete.cropped is None
    assert prompt.cropped is not None
    assert prompt.tokens <= 150 < complete.tokens
    assert {"hob", "kitchen", "hall"} <= name_objects(checker, prompt.cropped.kept)
    objects = len(checker.engine.task.objects)
    assert prompt.cropped.left_objects == objects - len(prompt.cropped.kept) > 60
    facts = facts_text(checker.engine.task, prompt.cropped)
    assert prompt.cropped.left_facts == ROOMS + 2 - facts.count("(")
    assert "(in hob kitchen)" in facts
    assert prompt.style == "zero-shot+cropped"
    assert prompt.sha256 != complete.sha256


def test_objects_of_a_possible_violation_come_first() -> None:
    checker = kitchen(more="(robot-in r7) (on s7)", goal="(robot-in hall)")
    relevant = relevance(checker.compiled)
    core = name_objects(checker, frozenset(relevant.core))
    assert "hall" in core
    assert len(core) < 8
    without_hazard = relevance(kitchen(goal="(robot-in hall)").compiled)
    assert "s9" not in name_objects(checker, frozenset(without_hazard.core))


def test_words_name_objects_whatever_their_numbers() -> None:
    checker = kitchen(goal="(robot-in hall)")
    assert "hob" in name_objects(checker, frozenset(relevance(checker.compiled, "Switch the HOB on, please").core))
    assert "hob" not in name_objects(checker, frozenset(relevance(checker.compiled, "Go to the hall").core))


def test_nearer_objects_come_first() -> None:
    checker = kitchen(goal="(hot s5)")
    relevant = relevance(checker.compiled)
    object_names = [checker.engine.task.objects[number] for number in (*relevant.core, *relevant.others)]
    assert sorted(object_names) == sorted(checker.engine.task.objects)
    assert object_names.index("r5") < min([object_names.index(f"r{number}") for number in range(ROOMS) if number != 5])


def test_the_tightest_limit_keeps_one_object() -> None:
    checker = kitchen()
    task = checker.engine.task
    part = crop(task, relevance(checker.compiled), lambda _: False)
    assert len(part.kept) == 1
    assert things_text(task, part).count(":") == 1
    assert crop(task, relevance(checker.compiled), lambda _: True).left_objects == 0


def test_the_verdict_is_about_the_whole_home() -> None:
    checker = kitchen()
    before = checker.engine.task.initial_facts
    planning_prompt("Heat the hob.", checker.compiled, most_tokens=150)
    assert checker.engine.task.initial_facts is before
    assert checker.check(Source("x", "(go kitchen r39)\n(switch-on s39 r39)\n")).steps == 2


@pytest.mark.skipif(not GRAPHS.is_dir(), reason="the graphs of VirtualHome are not there (PLANSAFE_DATA)")
@pytest.mark.parametrize("number", quick_every(2, [0, 200]))
def test_a_house_of_virtualhome_fits_into_1500_tokens(number: int) -> None:
    file = sorted((GRAPHS / "init_and_final_graphs").glob("*.json.gz"))[number]
    scene = world("virtualhome").read_scene(
        Request({"scene": Source(file.name, gzip.decompress(file.read_bytes()).decode())})
    )
    specs = [Source.from_path(spec_path(name)) for name in default_specs("virtualhome")]
    tv = next(word for word in scene.problem.text.split() if word.startswith(("television_", "computer_", "light_")))
    problem = Source("p", scene.problem.text.replace("(:goal (and))", f"(:goal (on {tv}))"))
    resolve = lambda name, _: Source.from_path(spec_path(name))  # noqa: E731 - one line
    specs = list(add_kinds(scene.domain, problem, specs))
    checker = Checker(scene.domain, problem, specs, Options(judge="introduced"), resolve=resolve)
    assert checker.ok
    prompt = planning_prompt("Switch it on.", checker.compiled, most_tokens=1500)
    assert prompt.cropped is not None
    assert 1000 < prompt.tokens <= 1500
    assert len(checker.engine.task.objects) > 250
    assert tv in prompt.messages[1].text
    again = planning_prompt("Switch it on.", checker.compiled, most_tokens=1500)
    assert again.sha256 == prompt.sha256
