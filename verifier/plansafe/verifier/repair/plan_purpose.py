"""The purpose of a plan without a goal: the steps that a repair keeps (docs/repair.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.state import StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed

Steps = Sequence[GroundAction | IllFormed]

TITLE_SOURCE = "the title of the plan"
ACTIONS_SOURCE = "actions that are done for their own sake"
DESCRIPTION_SOURCE = "the description of the plan"
LAST_EFFECT_SOURCE = "the last step with a lasting effect"

_MAIN_VERB_GROUPS = (
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
"""Groups of verbs of equal purpose, for what people do for its own sake."""
_VERB_GROUPS = (
    *_MAIN_VERB_GROUPS,
    "switchoff turnoff stop shutdown toggleoff toggleobjectoff",
    "put place set store load add arrange",
    "throw discard",
    "open",
    "close shut",
    "give hand serve bring deliver",
    "plugin",
    "take grab get pick pickup fetch",
)
"""All groups of verbs: the main groups first, then verbs for tidying and preparing."""
_PLACE_ENDING = re.compile(r"(?:in|on|into|onto|inside|ontop|back|object|obj|objback|to|with|from|off|down)$")
_SEPARATED_VERB = re.compile(
    r"\b(turn|switch|power|toggle|plug|shut|pick)\w*\b((?:\W+\w+){0,4}?)\W+(on|off|in|down|up)\b"
)


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

    These are the steps that the title names and the steps with a main action. If there are none, it is the last step
    that the description names, or else the last step with a lasting effect; and all steps that do the same to objects
    of the same classes.
    """
    names = engine.task.objects
    title_steps = find_named_steps(steps, names, hints.title)
    main_steps = [
        number
        for number, step in enumerate(steps, 1)
        if isinstance(step, GroundAction) and _is_main_action(step.action.name, hints.actions)
    ]
    if title_steps or main_steps:
        sources = [TITLE_SOURCE] if title_steps else []
        sources += [ACTIONS_SOURCE] if main_steps else []
        return PlanPurpose(frozenset([*title_steps, *main_steps]), " and ".join(sources))
    description_steps = find_named_steps(steps, names, hints.description)
    if description_steps:
        return PlanPurpose(_find_similar_steps(steps, names, description_steps[-1]), DESCRIPTION_SOURCE)
    last_step = _find_last_lasting_step(engine, steps)
    if last_step is None:
        return PlanPurpose()
    return PlanPurpose(_find_similar_steps(steps, names, last_step), LAST_EFFECT_SOURCE)


def _is_main_action(name: str, main_actions: frozenset[str]) -> bool:
    """Whether an action is done for its own sake: it is a main action or, if none are given, its name says so."""
    if main_actions:
        return name in main_actions
    return any([group < len(_MAIN_VERB_GROUPS) for group in _find_action_groups(name)])


# -- words ------------------------------------------------------------------------------------------------------------


def find_named_steps(steps: Steps, names: Sequence[str], text: str) -> list[int]:
    """Find the steps (from 1) that a text names: by a verb for their action, and by an object if it names any.

    If the text names no object of these steps, the last of them counts, with the steps that do the same.
    """
    groups = _find_verb_groups(text)
    if not groups:
        return []
    stems = {_find_stem(word) for word in re.findall(r"[a-z]+", text.lower())}
    candidates = [
        (number, step)
        for number, step in enumerate(steps, 1)
        if isinstance(step, GroundAction) and groups & _find_action_groups(step.action.name)
    ]
    common_objects = _find_common_objects(steps)

    def is_named(object_: int) -> bool:
        return any([_find_stem(word) in stems for word in split_object_name(names[object_])])

    numbers_with_object = [
        number
        for number, step in candidates
        if any([object_ not in common_objects and is_named(object_) for object_ in step.objects])
    ]
    if numbers_with_object or not candidates:
        return numbers_with_object
    return sorted(_find_similar_steps(steps, names, candidates[-1][0]))


def split_object_name(name: str) -> list[str]:
    """Return the words of an object's name, without its numbers: ``coffee`` and ``table`` for ``coffee_table_12``."""
    return [word for word in re.findall(r"[a-z]+", name.lower()) if len(word) > 1]


def _find_verb_groups(text: str) -> set[int]:
    """The groups of verbs of equal purpose (positions in ``_VERB_GROUPS``) in a text."""
    lower = text.lower()
    joined_verbs = [verb + particle for verb, _, particle in _SEPARATED_VERB.findall(lower)]
    stems = {*map(_find_stem, re.findall(r"[a-z]+", lower)), *map(_find_stem, joined_verbs)}
    return {group for group, verbs in enumerate(_VERB_GROUPS) if not stems.isdisjoint(map(_find_stem, verbs.split()))}


def _find_action_groups(action: str) -> set[int]:
    """The groups of verbs that an action's name belongs to: ``turn-on``, ``switchon`` and ``put_in`` are known."""
    tokens = re.findall(r"[a-z]+", action.lower())
    if not tokens:
        return set()
    words = {tokens[0], "".join(tokens[:2]), "".join(tokens)}
    words |= {_PLACE_ENDING.sub("", word) for word in words}
    return {group for group, verbs in enumerate(_VERB_GROUPS) if not words.isdisjoint(verbs.split())}


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


def _find_similar_steps(steps: Steps, names: Sequence[str], number: int) -> frozenset[int]:
    """The step of this number (from 1), and the steps that do the same to objects of the same classes."""

    def make_kind(step: GroundAction | IllFormed) -> object:
        if isinstance(step, IllFormed):
            return None
        return step.action.name, *[tuple(split_object_name(names[object_])) for object_ in step.objects]

    required_kind = make_kind(steps[number - 1])
    similar = [n for n, step in enumerate(steps, 1) if required_kind is not None and make_kind(step) == required_kind]
    return frozenset([number, *similar])


def _find_last_lasting_step(engine: Engine, steps: Steps) -> int | None:
    """Find the last step (from 1) with a lasting effect; ``None`` if there is none.

    A change is lasting if it differs from the initial state and no later step undoes it. Steps that change more than
    facts about the agent come first.
    """
    changes_by_step: dict[int, list[StateChange]] = {}

    def record(_run: Replay, number: int, changes: list[StateChange]) -> None:
        changes_by_step[number] = list(changes)

    run = Replay(engine, FORCE, observer=record)
    initial = engine.make_initial_state()
    run.run_steps(list(steps))
    final = run.state
    common_objects = _find_common_objects(steps)
    predicate_count = len(engine.task.predicates)

    last_agent_step: int | None = None
    task = engine.task
    for number in sorted(changes_by_step, reverse=True):
        for index, code, _ in changes_by_step[number]:
            if final.get_value(index, code) == initial.get_value(index, code):
                continue
            if index >= predicate_count:
                return number
            objects = task.decode(code, len(task.predicates[index].types))
            if common_objects.isdisjoint(objects):
                return number
            last_agent_step = last_agent_step or number
    return last_agent_step
