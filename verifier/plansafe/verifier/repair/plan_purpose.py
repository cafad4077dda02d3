"""The purpose of a plan without a goal: the steps that a repair keeps (docs/repair.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.state import StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed

Steps = Sequence[GroundAction | IllFormed]

TITLE = "the title of the plan"
ACTIONS = "actions that are done for their own sake"
DESCRIPTION = "the description of the plan"
LAST_EFFECT = "the last step with a lasting effect"

_MAIN_VERBS = (
    "switchon turnon start poweron activate toggleon toggleobjecton",
    "wash clean rinse scrub wipe mop dust sweep vacuum",
    "cook heat boil fry bake toast warm microwave grill roast",
    "cool chill freeze",
    "cut slice chop dice peel",
    "pour fill",
    "sleep rest nap lie relax",
    "sit",
    "read",
    "watch look",
    "drink",
    "eat",
    "type write",
    "greet talk call phone",
)
"""Groups of verbs of equal purpose: what people do for its own sake."""
_VERBS = (
    *_MAIN_VERBS,
    "switchoff turnoff stop shutdown toggleoff toggleobjectoff",
    "put place set store load add arrange",
    "throw discard",
    "open",
    "close shut",
    "give hand serve bring deliver",
    "plugin",
    "take grab get pick pickup fetch",
)
"""All groups, also of verbs for tidying and preparing."""
_PLACE_WORDS = re.compile(r"(?:in|on|into|onto|inside|ontop|back|object|obj|objback|to|with|from|off|down)$")
_SEPARATED = re.compile(r"\b(turn|switch|power|toggle|plug|shut|pick)\w*\b((?:\W+\w+){0,4}?)\W+(on|off|in|down|up)\b")


class PlanPurpose(NamedTuple):
    """The steps (from 1) that a plan without a goal is for, and what shows it (a phrase).

    ``is_kept`` is false if no repair that keeps them was found.
    """

    steps: frozenset[int] = frozenset()
    source: str = ""
    is_kept: bool = True


class PurposeHints(NamedTuple):
    """What shows the purpose of a plan, in addition to its steps.

    ``actions``: names of actions that are done for their own sake; without any, the verbs in the actions' names decide.
    ``title`` and ``description``: the words of the author.
    """

    actions: frozenset[str] = frozenset()
    title: str = ""
    description: str = ""


def find_plan_purpose(engine: Engine, steps: Steps, hints: PurposeHints) -> PlanPurpose:
    """Find the steps that a plan is for.

    These are the steps that the title names and the steps with a main action. If there are none, it
    is the last step that the description names, else the last step with a lasting effect, with all steps that do the
    same to objects of the same classes.
    """
    names = engine.task.objects
    titled = find_named_steps(steps, names, hints.title)
    actions = hints.actions
    main = [n for n, step in enumerate(steps, 1) if isinstance(step, GroundAction) and _is_main(step, actions)]
    if titled or main:
        sources = [source for numbers, source in ((titled, TITLE), (main, ACTIONS)) if numbers]
        return PlanPurpose(frozenset([*titled, *main]), " and ".join(sources))
    described = find_named_steps(steps, names, hints.description)
    if described:
        return PlanPurpose(_add_similar_steps(steps, names, described[-1]), DESCRIPTION)
    last = _find_last_lasting_step(engine, steps)
    return PlanPurpose(_add_similar_steps(steps, names, last), LAST_EFFECT) if last else PlanPurpose()


def _is_main(step: GroundAction, actions: frozenset[str]) -> bool:
    """Whether an action is done for its own sake: it is one of ``actions`` or, without any, its name says so."""
    if actions:
        return step.action.name in actions
    return any([group < len(_MAIN_VERBS) for group in _find_action_groups(step.action.name)])


# -- words ------------------------------------------------------------------------------------------------------------


def find_named_steps(steps: Steps, names: Sequence[str], text: str) -> list[int]:
    """Find the steps (from 1) that a text names: by a verb for their action, and by an object if it names any.

    If the text names no object of these steps, the last of them counts, with the steps that do the same.
    """
    groups = _find_verb_groups(text)
    if not groups:
        return []
    words = {_find_stem(word) for word in re.findall(r"[a-z]+", text.lower())}
    candidates = [
        (number, step)
        for number, step in enumerate(steps, 1)
        if isinstance(step, GroundAction) and groups & _find_action_groups(step.action.name)
    ]
    common_objects = _find_common_objects(steps)
    numbers_with_object = [
        number
        for number, step in candidates
        if any(
            [
                _find_stem(word) in words
                for o in step.objects
                if o not in common_objects
                for word in name_words(names[o])
            ]
        )
    ]
    if numbers_with_object or not candidates:
        return numbers_with_object
    return sorted(_add_similar_steps(steps, names, candidates[-1][0]))


def name_words(name: str) -> list[str]:
    """The words of an object's name, without its numbers: ``coffee_table_12`` has ``coffee`` and ``table``."""
    return [word for word in re.findall(r"[a-z]+", name.lower()) if len(word) > 1]


def _find_verb_groups(text: str) -> set[int]:
    """The groups of verbs of equal purpose (positions in ``_VERBS``) in a text."""
    lower = text.lower()
    joined_verbs = [verb + particle for verb, _, particle in _SEPARATED.findall(lower)]
    stems = {*map(_find_stem, re.findall(r"[a-z]+", lower)), *map(_find_stem, joined_verbs)}
    return {group for group, verbs in enumerate(_VERBS) if not stems.isdisjoint(map(_find_stem, verbs.split()))}


def _find_action_groups(action: str) -> set[int]:
    """The groups of verbs that an action's name belongs to: ``turn-on``, ``switchon`` and ``put_in`` are known."""
    tokens = re.findall(r"[a-z]+", action.lower())
    if not tokens:
        return set()
    words = {tokens[0], "".join(tokens[:2]), "".join(tokens)}
    words |= {_PLACE_WORDS.sub("", word) for word in words}
    return {group for group, verbs in enumerate(_VERBS) if not words.isdisjoint(verbs.split())}


def _find_stem(word: str) -> str:
    """A word without the common endings of English plurals and verbs."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


# -- effects ----------------------------------------------------------------------------------------------------------


def _find_common_objects(steps: Steps) -> frozenset[int]:
    """The objects that all steps have: the agent."""
    objects = [set(step.objects) for step in steps if isinstance(step, GroundAction)]
    return frozenset(set.intersection(*objects)) if len(objects) > 1 else frozenset()


def _add_similar_steps(steps: Steps, names: Sequence[str], number: int) -> frozenset[int]:
    """The step of this number (from 1), and the steps that do the same to objects of the same classes."""

    def kind(step: GroundAction | IllFormed) -> object:
        if isinstance(step, IllFormed):
            return None
        return step.action.name, *[tuple(name_words(names[object_])) for object_ in step.objects]

    step_kind = kind(steps[number - 1])
    return frozenset([n for n, step in enumerate(steps, 1) if n == number or (step_kind and kind(step) == step_kind)])


def _find_last_lasting_step(engine: Engine, steps: Steps) -> int:
    """The last step (from 1) that changes something for good; 0 if there is none.

    A change is lasting if it differs from the initial state and no later step undoes it. Steps that change something
    other than facts about the agent come first.
    """
    log: dict[int, list[StateChange]] = {}

    def record(_run: Replay, number: int, changes: list[StateChange]) -> None:
        log[number] = list(changes)

    run = Replay(engine, FORCE, observer=record)
    initial = engine.make_initial_state()
    run.run_steps(list(steps))
    final = run.state
    common_objects = _find_common_objects(steps)
    predicate_count = len(engine.task.predicates)

    def list_lasting_changes(changes: list[StateChange]) -> Iterator[tuple[int, int]]:
        for index, code, _ in changes:
            if final.get_value(index, code) != initial.get_value(index, code):
                yield index, code

    last_of_agent = 0
    task = engine.task
    for number in sorted(log, reverse=True):
        for index, code in list_lasting_changes(log[number]):
            if index >= predicate_count or common_objects.isdisjoint(
                task.decode(code, len(task.predicates[index].types))
            ):
                return number
            last_of_agent = last_of_agent or number
    return last_of_agent
