"""What would break a rule: the ways in which its condition can fail, each as stages that follow one another.

A rule is read backwards: the formula that it requires is wanted false. Each disjunct of that is an *aim*, and what it
says of the past (``once``, ``since``, ``yesterday``) becomes an earlier stage. An aim is a wish, not a proof: what is
hoped for (that something never happened before) is not spelt out, and whether the rule is broken in the end the
monitors say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice, product
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.nodes import (
    Action,
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    Variable,
)
from plansafe.verifier.model.operations import bound_variables, is_temporal, mentions, substitute
from plansafe.verifier.rules.model import RulePart

MOST_AIMS = 12
"""Ways in which one part of a rule may be broken that are looked at."""
_SHIFT = 10_000
"""Added to the slots of an action, so that they are none of a rule's: both count theirs from 0."""


class Stage(NamedTuple):
    """A moment to be reached: all ``conditions`` hold, and then a step of ``atom`` (an action) is taken, if any."""

    conditions: tuple[Formula, ...] = ()
    atom: Atom | None = None


class Aim(NamedTuple):
    """A way to break a part of a rule: ``stages`` in order, the same objects for ``variables`` in all of them."""

    rule: int
    part: int
    variables: tuple[Variable, ...]
    stages: tuple[Stage, ...]


class _Way(NamedTuple):
    variables: tuple[Variable, ...] = ()
    before: tuple[Stage, ...] = ()
    now: Stage = Stage()
    after: tuple[Stage, ...] = ()


_HOPE = (_Way(),)
"""Nothing can be done for it: it may be so by itself."""


def aims_of(engine: Engine) -> dict[int, list[Aim]]:
    """The aims for each rule that is watched, by the rule's number. Preferences have none."""
    reader = _Reader(engine)
    out: dict[int, list[Aim]] = {}
    for number, part in enumerate(engine.rule_set.parts):
        rule = engine.rule_set.rules[part.rule]
        if rule.preference or not rule.applicable or not all([engine.task.domains[v.domain] for v in part.parameters]):
            continue
        found = [
            Aim(part.rule, number, (*part.parameters, *way.variables), (*way.before, way.now, *way.after))
            for way in reader.part(part)
        ]
        if found:
            out.setdefault(part.rule, []).extend(found)
    return out


class _Reader:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.actions = actions_of(engine)
        self.acting = frozenset(engine.action_predicates.values())

    def part(self, part: RulePart) -> list[_Way]:
        if part.mode != "each":
            return self.ways(part.body, False)
        assert part.step is not None
        step = part.step
        variables = step.variables if isinstance(step, Quantified) else ()
        atom = step.body if isinstance(step, Quantified) else step
        assert isinstance(atom, Atom)
        if atom.predicate not in self.actions:
            return []
        taken: list[_Way] = [_Way(variables, (), Stage((), atom))]
        guard = [taken, self.ways(part.guard, True)] if part.guard is not None else [taken]
        body = self.ways(part.body, False)
        if part.after and not is_temporal(part.body):
            body = list(_HOPE)  # said of the state that the step leads to
        return self._all([*guard, body])

    def ways(self, formula: Formula, wanted: bool) -> list[_Way]:
        """The ways in which a formula can have a value."""
        if not is_temporal(formula) and not mentions(formula, self.acting):
            return self._state(formula, wanted)
        match formula:
            case Not():
                return self.ways(formula.body, not wanted)
            case And() | Or() if isinstance(formula, And) is wanted:
                return self._all([self.ways(part, wanted) for part in formula.parts])
            case And() | Or():
                return [way for part in formula.parts for way in self.ways(part, wanted)][:MOST_AIMS]
            case Quantified() if formula.universal is not wanted:
                found = self.ways(formula.body, wanted)
                return [way._replace(variables=(*formula.variables, *way.variables)) for way in found]
            case Quantified():
                return list(_HOPE)
            case Atom():
                step = formula.predicate in self.actions
                return ([_Way(now=Stage((), formula))] if step else []) if wanted else list(_HOPE)
            case Temporal():
                return self._temporal(formula, wanted)
            case Truth() | Equal() | Compare():
                return self._state(formula, wanted)
            case other:
                assert_never(other)

    @staticmethod
    def _state(formula: Formula, wanted: bool) -> list[_Way]:
        if isinstance(formula, Truth):
            return list(_HOPE) if formula.value is wanted else []
        return [_Way(now=Stage((formula if wanted else Not(formula),)))]

    def _temporal(self, formula: Temporal, wanted: bool) -> list[_Way]:
        first, last = formula.operands[0], formula.operands[-1]
        match formula.operator:
            case "once":
                return _earlier(self.ways(first, True)) if wanted else list(_HOPE)
            case "since":
                if not wanted:
                    return list(_HOPE)
                return self._all([_earlier(self.ways(last, True)), self.ways(first, True) or list(_HOPE)])
            case "historically":
                return list(_HOPE) if wanted else _earlier(self.ways(first, False))
            case "yesterday" | "weak-yesterday":
                return _earlier(self.ways(first, wanted))
            case "always":
                return list(_HOPE) if wanted else self.ways(first, False)
            case "sometime":
                return self.ways(first, True) if wanted else list(_HOPE)
            case "at-end":
                return self.ways(first, wanted)
            case "sometime-after" | "always-within" | "sometime-before":
                return self.ways(first, True) if not wanted else list(_HOPE)
            case "at-most-once":
                if wanted:
                    return list(_HOPE)
                found = self._all([_earlier(self.ways(first, True)), _earlier(self.ways(first, False))])
                return self._all([found, self.ways(first, True)])
            case "within" | "hold-during" | "hold-after":
                return list(_HOPE)
            case "next" | "weak-next" | "until" | "release":
                return _later(self.ways(last, wanted))
            case other:
                assert_never(other)

    @staticmethod
    def _all(parts: list[list[_Way]]) -> list[_Way]:
        """The ways in which all parts hold: one for each combination, without those that need two steps at once."""
        joined = (_joined(ways) for ways in product(*parts))
        return list(islice((way for way in joined if way is not None), MOST_AIMS))


def _earlier(ways: Iterable[_Way]) -> list[_Way]:
    return [_Way(way.variables, (*way.before, way.now, *way.after)) for way in ways]


def _later(ways: Iterable[_Way]) -> list[_Way]:
    return [_Way(way.variables, (), Stage(), (*way.before, way.now, *way.after)) for way in ways]


def _joined(ways: tuple[_Way, ...]) -> _Way | None:
    atoms = [way.now.atom for way in ways if way.now.atom is not None]
    if len(atoms) > 1:
        return None
    return _Way(
        tuple([v for way in ways for v in way.variables]),
        tuple([stage for way in ways for stage in way.before]),
        Stage(tuple([c for way in ways for c in way.now.conditions]), atoms[0] if atoms else None),
        tuple([stage for way in ways for stage in way.after]),
    )


def actions_of(engine: Engine) -> dict[int, Action]:
    """The action that each predicate for the start of a step stands for."""
    return {p: engine.task.actions[name] for (kind, name), p in engine.action_predicates.items() if kind == "start"}


def needs(stage: Stage, actions: Mapping[int, Action]) -> tuple[Formula, ...]:
    """What has to hold for a stage: its conditions, and what its action needs."""
    if stage.atom is None:
        return stage.conditions
    return (*stage.conditions, *able(actions[stage.atom.predicate], stage.atom))


def able(action: Action, atom: Atom) -> tuple[Formula, ...]:
    """What an action needs, over the arguments of an atom that stands for a step of it."""
    values = {v.slot: argument for v, argument in zip(action.parameters, atom.arguments, strict=True)}
    for formula in action.start.condition:
        values.update({v.slot: -1 - (v.slot + _SHIFT) for v in bound_variables(formula)})
    return tuple([substitute(formula, values) for formula in action.start.condition])
