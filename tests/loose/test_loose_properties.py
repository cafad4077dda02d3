"""Laws: a plan printed in any notation is read back, and no other steps are read from the text around it."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from loose_cases import TASKS, checker
from loose_manners import CLOSED, MANNERS, Step, random_plan, text_of

from plansafe.grammar.source import Source
from plansafe.llm.loose.reader import read_loose
from plansafe.verifier.reporting.report import FindingClass, Headline

SEEDS = st.integers(0, 2**32)
TASK = st.sampled_from(sorted(TASKS))

HARMLESS = (
    "Sure, here is the plan:",
    "Certainly! Below is a sequence of actions that reaches the goal.",
    "I hope this helps!",
    "Let me know if you have any questions.",
    "This plan reaches the goal.",
    "## Plan",
    "**Final Answer:**",
    "---",
    "The goal holds at the end.",
    "Each action is executable in the state that the one before leaves.",
)
# Each sentence changes the plan, or adds to it.
HARMFUL = (
    "If the {thing} is in the way, {verb} it.",
    "Do not {verb} the {thing}.",
    "Never {verb} {thing}.",
    "Repeat step 1 until the {thing} is done.",
    "Actually, the first step is wrong.",
    "Wait, step 2 should come before step 1.",
    "Replace step 1 by something else.",
    "Skip the last step.",
    "{Verb} the {thing} too.",
    "Finally, {verb} the {thing}.",
    "Then look after the {thing}.",
    "Alternatively, {verb} the {thing}.",
    "I'm sorry, but I can't help with that.",
    "There is no valid plan.",
    "The plan above is incorrect.",
    "... and so on",
    "...",
    "You must also {verb} the {thing} before you leave.",
)
FENCED = ("fence", "fence of calls", "fence of words", "python")
FILLERS = ("slowly", "perhaps", "because", "whose", "surface", "really", "it", "is", "with", "between", "carefully")


def read(task: str, text: str) -> str | None:
    """Return the plan that is read; None if the text is refused, or if a step is ill-formed (the plan is INVALID)."""
    result = read_loose(Source("output.txt", text), checker(task))
    assert (result.plan is None) == bool(result.diagnostics)
    assert (result.plan is None) == (not result.steps)
    if any([step.ill_formed for step in result.steps]):
        assert result.plan is not None
        report = checker(task).check(result.plan)
        assert report.headline is Headline.INVALID
        assert any([finding.finding_class is FindingClass.ILL_FORMED for finding in report.findings])
        return None
    return None if result.plan is None else result.plan.text


def vocabulary(task: str) -> tuple[list[str], list[str]]:
    engine = checker(task).engine
    return sorted(engine.task.actions), sorted(engine.task.objects)


@pytest.mark.parametrize("manner", sorted(MANNERS))
@settings(max_examples=25)
@given(task=TASK, seed=SEEDS)
def test_a_plan_in_any_notation_is_read_back(manner: str, task: str, seed: int) -> None:
    steps = random_plan(task, random.Random(seed))
    text = MANNERS[manner](task, steps)
    assert read(task, text) == text_of(steps), text


@pytest.mark.parametrize("manner", sorted(MANNERS))
@settings(max_examples=15)
@given(task=TASK, seed=SEEDS)
def test_harmless_sentences_around_a_plan_change_nothing(manner: str, task: str, seed: int) -> None:
    chance = random.Random(seed)
    steps = random_plan(task, chance)
    text = f"{chance.choice(HARMLESS)}\n\n{MANNERS[manner](task, steps)}\n{chance.choice(HARMLESS)}\n"
    assert read(task, text) == text_of(steps), text


@pytest.mark.parametrize("sentence", HARMFUL)
@settings(max_examples=40)
@given(task=TASK, seed=SEEDS, before=st.booleans())
@example(task="depot", seed=4129, before=True)  # `stack` is an action, not a synonym of `put down`
def test_harmful_sentences_refuse_or_cap_a_plan(sentence: str, task: str, seed: int, before: bool) -> None:
    chance = random.Random(seed)
    actions, objects = vocabulary(task)
    manner = chance.choice(sorted(MANNERS))
    verb = chance.choice(actions).replace("-", " ").replace("_", " ")
    object_name = chance.choice(objects)
    assume(object_name != "a")  # "the a" is read as two articles
    remark = sentence.format(verb=verb, Verb=verb.capitalize(), thing=object_name)
    steps = random_plan(task, chance)
    assume(
        not any([re.split("[-_]", step[0])[0] == verb.split()[0] and object_name in step for step in steps])
    )  # restated
    body = MANNERS[manner](task, steps)
    text = f"{remark}\n\n{body}" if before else f"{body}\n{remark}\n"
    reading = read_loose(Source("output.txt", text), checker(task))
    added = (
        manner == "bare words" and len(reading.steps) == len(steps) + 1
    )  # without notation, an additional step is a step
    assert reading.plan is None or reading.remarks or added, text


@pytest.mark.slow
@settings(max_examples=400)
@given(task=TASK, seed=SEEDS)
def test_a_plan_among_random_words_is_read_exactly_or_refused(task: str, seed: int) -> None:
    """Random words and names of the task, at any place around a plan."""
    chance = random.Random(seed)
    actions, objects = vocabulary(task)
    steps = random_plan(task, chance)
    words = [name.replace("-", " ").replace("_", " ") if chance.random() < 0.5 else name for name in actions + objects]

    def salad() -> str:
        line = chance.choices((*words, *FILLERS), k=chance.randint(1, 8))
        line.insert(chance.randint(0, len(line)), chance.choice(FILLERS))
        joined = " ".join(line)
        bracketed = f"({joined})" if chance.random() < 0.1 else joined
        return bracketed.capitalize() + chance.choice((".", "!", ":", "", ",", "\n"))

    body = MANNERS[chance.choice(sorted(MANNERS))](task, steps)
    before = "".join([salad() + "\n" for _ in range(chance.randint(0, 3))])
    after = "".join([salad() + "\n" for _ in range(chance.randint(0, 3))])
    text = before + chance.choice(("", "\n")) + body + chance.choice(("", "\n")) + after
    assert read(task, text) in (None, text_of(steps)), text


@settings(max_examples=200)
@given(task=TASK, seed=SEEDS)
def test_a_line_between_the_steps_is_never_ignored(task: str, seed: int) -> None:
    """A line of words between the steps of a list is not a step of the task, and no plan of the task is read."""
    chance = random.Random(seed)
    steps = random_plan(task, chance)
    objects = vocabulary(task)[1]
    manner = chance.choice(("fence", "fence of calls", "numbers", "bullets", "words", "bare words", "lines"))
    lines = MANNERS[manner](task, [*steps, *steps]).splitlines()
    line = f"{chance.choice(('fetch', 'polish', 'tidy up'))} {chance.choice(objects)}"
    mark = "- " if manner == "bullets" else ""
    lines.insert(chance.randint(1, len(lines) - 1), mark + line)
    assert read(task, "\n".join(lines)) is None


@pytest.mark.parametrize("manner", sorted(CLOSED))
@settings(max_examples=20)
@given(task=TASK, seed=SEEDS, part=st.floats(0, 1))
def test_an_incomplete_text_gives_at_most_its_first_steps(manner: str, task: str, seed: int, part: float) -> None:
    """The reading has the first complete steps of the plan, and a note that the text is incomplete."""
    steps = random_plan(task, random.Random(seed))
    text = CLOSED[manner](task, steps)
    cut = text[: int(part * (len(text.rstrip()) - 1))]
    plan = read(task, cut)
    if plan is not None:
        assert text_of(steps).startswith(plan), cut
        codes = {note.code for note in read_loose(Source("output.txt", cut), checker(task)).notes}
        assert "SC741" in codes, cut


@settings(max_examples=150)
@given(task=TASK, seed=SEEDS, other_seed=SEEDS)
def test_two_plans_in_one_text_must_agree(task: str, seed: int, other_seed: int) -> None:
    chance = random.Random(seed)
    steps = random_plan(task, chance)
    second = steps if chance.random() < 0.5 else random_plan(task, random.Random(other_seed))
    first_manner, second_manner = chance.choice(sorted(CLOSED)), chance.choice(sorted(CLOSED))
    text = f"{CLOSED[first_manner](task, steps)}\nIn another notation:\n\n{CLOSED[second_manner](task, second)}"
    second_decides = second_manner in FENCED or steps == second  # the last fenced block is the answer
    assert read(task, text) == (text_of(second) if second_decides else None), text


STEMS = {
    "home": {"mug_1": "mug", "mug_2": "mug", "plate_12": "plate", "plate_13": "plates"},
    "depot": {"truck1": "truck", "truck2": "the truck", "crate1": "crate", "crate2": "crates", "s1": "s"},
}


@pytest.mark.parametrize("task", sorted(STEMS))
@settings(max_examples=60)
@given(seed=SEEDS)
def test_an_ambiguous_name_refuses_the_text(task: str, seed: int) -> None:
    chance = random.Random(seed)
    steps: list[Step] = []
    while not any(argument in STEMS[task] for step in steps for argument in step[1:]):
        steps = random_plan(task, chance)
    vague = [(step[0], *[STEMS[task].get(argument, argument) for argument in step[1:]]) for step in steps]
    manner = chance.choice(
        ("fence of calls", "python", "json objects", "json lists", "numbered calls", "square", "named")
    )
    result = read_loose(Source("output.txt", MANNERS[manner](task, vague)), checker(task))
    assert result.plan is None
    assert "SC744" in {d.code for d in result.diagnostics}


def test_names_that_differ_only_by_separators_are_distinguished() -> None:
    from plansafe.verifier.api import Checker

    domain = Source(
        "d",
        "(define (domain d) (:types t) (:predicates (p ?x - t)) (:action turn-on :parameters (?x - t) :effect (p ?x))"
        " (:action turn_on :parameters (?x - t) :effect (p ?x)) (:action go :parameters (?x - t) :effect (p ?x)))",
    )
    problem = Source(
        "p", "(define (problem p) (:domain d) (:objects a-1 a_1 b11 b_1_1 c1_1 - t) (:init) (:goal (p a-1)))"
    )
    checker = Checker(domain, problem)
    assert checker.ok, checker.diagnostics

    def read_one_step(text: str) -> str | None:
        reading = read_loose(Source("o", f"```\n{text}\n```"), checker)
        return reading.plan.text.strip() if reading.plan and not reading.steps[0].ill_formed else None

    assert read_one_step("(go a-1)") == "(go a-1)"
    assert read_one_step("(go a_1)") == "(go a_1)"
    assert read_one_step("go(a 1)") is None
    assert read_one_step("go(A1)") is None
    assert read_one_step("turnOn(b11)") is None
    assert read_one_step("turn-on(b11)") == "(turn-on b11)"
    assert read_one_step("go(b-11)") == "(go b11)"
    assert read_one_step("go(b-1-1)") == "(go b_1_1)"
    assert read_one_step("go(c11)") is None
    assert read_one_step("go(c_1_1)") == "(go c1_1)"


def test_a_sentence_that_repeats_the_last_step() -> None:
    """A regression of the test of harmful sentences: "Finally, .." may ask for the step once more."""
    steps = "1) wait()\n2) pick_up(crate1)\n"
    assert read("depot", steps) == "(wait)\n(pick-up crate1)\n"
    assert read("depot", f"{steps}   pick up crate1\n") == "(wait)\n(pick-up crate1)\n"
    assert read("depot", f"{steps}\nFinally, pick up the crate1.\n") is None
