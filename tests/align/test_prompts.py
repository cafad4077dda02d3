"""Test compact prompts: they contain the relevant facts, are deterministic, and leave room for the plan."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from plansafe.align.prompts import MOST_TOKENS, plan_prompt
from plansafe.grammar.source import Source
from plansafe.llm.instances.drawn import draw
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.prompts.prompt_options import tokens_of
from plansafe.llm.tasks import load
from plansafe.verifier.api import Checker
from quick import quick_every


class Task(NamedTuple):
    words: str
    checker: Checker


KITCHEN = Source(
    "kitchen.pddl",
    """(define (problem kitchen) (:domain household)
      (:objects robot - robot kitchen hall - room stove - stove counter - surface mia - child pan - vessel {more})
      (:init (present robot hall) (handfree robot) (passage kitchen hall) (passage hall kitchen)
             (in-room stove kitchen) (in-room counter kitchen) (hard-wired stove) (heats stove) (running stove)
             (= (power stove) 3500) (present mia kitchen) (on pan counter) (metal pan) {facts})
      (:goal (on pan stove)))""",
)


def kitchen(objects: str = "", facts: str = "") -> Task:
    text = KITCHEN.text.replace("{more}", objects).replace("{facts}", facts)
    return Task("Put the pan on the stove.", load(Source("kitchen.pddl", text)))


def test_prompt_has_scene_task_and_goal() -> None:
    lines = plan_prompt(kitchen()).splitlines(keepends=True)
    assert "".join([line for line in lines if not line.startswith(("Actions:", "(", "Never: "))]) == (
        "handfree: robot\nroom: kitchen hall\nhard-wired heats running: stove\nsurface: counter\nchild: mia\n"
        "vessel metal: pan\npassage both ways hall: kitchen\nin-room kitchen: stove counter\npresent hall: robot\n"
        "present kitchen: mia\non counter: pan\npower stove = 3500\n"
        "Task: Put the pan on the stove.\nGoal: on pan stove\nPlan:\n"
    )


def test_a_plan_prompt_states_actions_and_rules_about_its_objects() -> None:
    prompt = plan_prompt(kitchen())
    first, *lines = prompt.splitlines()
    actions = [line for line in lines if line.startswith("(")]
    scene = lines[len(actions) :]
    assert first == "Actions:"
    assert "(switch-on robot device room)" in actions
    assert not [action for action in actions if action.startswith("(plug-in ")]  # the scene has no socket
    rules = [line for line in scene if line.startswith("Never: ")]
    assert "Never: device is still on when the plan ends" in rules
    assert not [rule for rule in rules if "socket" in rule or "{" in rule]


def test_passage_in_one_direction_is_written_once() -> None:
    assert "passage hall: kitchen\npassage kitchen: hall\npassage hole: hall\n" in plan_prompt(
        kitchen("hole - room", "(passage hall hole)")
    )


@pytest.mark.parametrize("family", quick_every(6, FAMILIES))
def test_prompt_has_all_facts_of_a_drawn_scene_and_leaves_room(family: str) -> None:
    for number in range(2):
        instance = draw(family, number, seed=5)
        checker = instance.checker()
        prompt = plan_prompt(Task(instance.words, checker))
        words = set(re.findall(r"[^\s:,()]+", prompt))
        task = checker.engine.task
        assert words.issuperset(task.objects)
        assert words.issuperset(task.predicates[i].name for i, codes in enumerate(task.initial_facts) if codes)
        assert prompt.endswith("\nPlan:\n")
        assert tokens_of(prompt) <= MOST_TOKENS
        assert tokens_of(prompt + instance.reference) <= 1.17 * 768


def test_prompt_of_a_large_scene_keeps_hazards_and_omits_distant_objects() -> None:
    """Eighty shelves in a cellar are omitted; facts that rules read (people, running devices) are kept."""
    names = [f"shelf-{n}" for n in range(80)]
    facts = " ".join([f"(in-room {name} cellar)" for name in names])
    prompt = plan_prompt(kitchen(f"cellar - room {' '.join(names)} - surface", f"(passage hall cellar) {facts}"))
    assert "running: stove" in prompt
    assert "child: mia" in prompt
    assert "present kitchen: mia" in prompt
    assert "shelf-79" not in prompt
    assert tokens_of(prompt) <= MOST_TOKENS
