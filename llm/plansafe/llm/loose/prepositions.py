"""Arguments in the order of a sentence: the parameters for the words after ``from`` and ``to``.

``from`` names the place that a step leaves and ``to`` the place that it reaches. A parameter is the one or the other by
its own name, or by the action's effects: where it deletes a fact and adds another that differs in one argument, the
argument of the first is left, and the argument of the second is reached. Types decide about the others. Where two
orders would do, nothing is decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from plansafe.verifier.model.nodes import Action, Atom

FROM = frozenset(("from",))
TO = frozenset(("to", "into", "onto"))
PREPOSITIONS = FROM | TO
MOST = 4
"""Arguments of a step that are ever placed in this way: all their orders are tried."""


def phrases(tokens: Sequence[str]) -> list[tuple[str, list[str]]] | None:
    """The words after the verb, cut at prepositions: each preposition (or none) with its words.

    ``None`` without a preposition, if one has no words, or if one comes twice.
    """
    out: list[tuple[str, list[str]]] = [("", [])]
    for token in tokens:
        if token.lower() in PREPOSITIONS:
            out.append((token.lower(), []))
        else:
            out[-1][1].append(token)
    out = out if out[0][1] else out[1:]
    marks = [mark in TO for mark, _ in out if mark]
    if not marks or not all([words for _, words in out]) or len(set(marks)) < len(marks):
        return None
    return out


def orders(action: Action, marks: Sequence[str], fits: Sequence[frozenset[int]]) -> list[tuple[int, ...]]:
    """The ways to give each phrase a parameter of its own.

    ``marks`` are the prepositions of the phrases, ``fits`` the parameters that the type of each allows. Empty where a
    preposition has no parameter of its sort: then it says nothing of this action that we know.
    """
    left, reached = ends(action)
    allowed = []
    for mark, typed in zip(marks, fits, strict=True):
        positions = left if mark in FROM else reached if mark in TO else frozenset(range(len(action.parameters)))
        allowed.append(typed & positions)
    if len(marks) > MOST or not all(allowed):
        return []
    places = range(len(action.parameters))
    return [way for way in permutations(places, len(marks)) if all(map(frozenset.__contains__, allowed, way))]


def ends(action: Action) -> tuple[frozenset[int], frozenset[int]]:
    """The parameters that are left, and those that are reached: by name if one has it, else by the effects."""
    names = [variable.name.lstrip("?").lower() for variable in action.parameters]
    left = {at for at, name in enumerate(names) if name in FROM}
    reached = {at for at, name in enumerate(names) if name in TO}
    gone, come = _moved(action)
    return frozenset(left or gone - reached), frozenset(reached or come - left)


def _moved(action: Action) -> tuple[set[int], set[int]]:
    """The positions of the parameters that effects take a fact from, and give it to."""
    snaps = (action.start,) if action.end is None else (action.start, action.end)
    effects = [effect for snap in snaps for effect in snap.effects]
    deletes = [atom for effect in effects for atom in effect.deletes]
    adds = [atom for effect in effects for atom in effect.adds]
    slots = {-1 - variable.slot: at for at, variable in enumerate(action.parameters)}
    pairs = {pair for old in deletes for new in adds if (pair := _changed(old, new)) is not None}
    inside = [(slots[old], slots[new]) for old, new in pairs if old in slots and new in slots]
    return {old for old, _ in inside}, {new for _, new in inside}


def _changed(old: Atom, new: Atom) -> tuple[int, int] | None:
    """The one argument in which two facts of a predicate differ."""
    if old.predicate != new.predicate or len(old.arguments) != len(new.arguments):
        return None
    differ = [(a, b) for a, b in zip(old.arguments, new.arguments, strict=True) if a != b]
    return differ[0] if len(differ) == 1 else None
