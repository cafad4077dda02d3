"""Suspicious states: dangerous things together, a state out of control, a number beyond its limit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from plansafe.specs.lint.gaps.model import UNCOVERED, UNREAD
from plansafe.specs.lint.gaps.rules import NAME, GroundLiteral, Lifted, Proposal, Scoring
from plansafe.specs.lint.gaps.scene import Scene, Shared
from plansafe.specs.lint.gaps.words import Undo, needs
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.nodes import Atom

LINK = 0.3
"""What each fact costs that only connects."""


def code_of(scoring: Scoring) -> str:
    """The code that fits the strongest reason."""
    strongest = max(scoring.reasons.values(), default=0.0)
    return UNREAD if strongest >= 1.5 else UNCOVERED


class StatePatterns:
    """Proposals from single states. Equal ground cases are made once."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.words = shared.words
        self.task = shared.task
        self._made: dict[object, Proposal | None] = {}
        self._limits = _limits(shared)

    def of(self, scene: Scene, state: State) -> Iterator[Proposal]:
        """What one state gives reason to forbid."""
        yield from self.together(scene)
        yield from self.beyond(state)

    # -- together -----------------------------------------------------------------------------------------------------

    def together(self, scene: Scene) -> Iterator[Proposal]:
        """Two suspicious things that a chain of facts connects, some of it the plan's doing."""
        for first, second in combinations(scene.items, 2):
            if first.literal is None and second.literal is None:
                continue
            chain = scene.chain(first.objects, second.objects)
            if chain is None:
                continue
            literals = [f for f in (first.literal, *chain, second.literal) if f is not None]
            if any([self.shared.new(f) for f in literals]):
                core = (*literals, *[i for item in (first, second) if item.literal is None for i in item.objects])
                found = self._memo(("together", frozenset(core)), literals, scene.links(chain))
                if found is not None:
                    yield found

    def _memo(self, key: object, literals: list[GroundLiteral], cost: float) -> Proposal | None:
        if key not in self._made:
            self._made[key] = self._together(literals, cost)
        return self._made[key]

    def _together(self, literals: list[GroundLiteral], cost: float) -> Proposal | None:
        literals = list(dict.fromkeys(literals))
        objects = sorted({o for f in literals for o in f.objects})
        scoring = Scoring(self.words).facts(literals).objects(objects)
        scoring.bonus(-cost)
        if self.words.combined_elsewhere({f.predicate for f in literals if not self.task.static[f.predicate]}):
            scoring.bonus(0.8, "rules forbid this combination of other things")
        contact = [f for f in literals if not self.task.static[f.predicate] and self._of_two_kinds(f)]
        if scoring.total <= 0 or not (contact or any([self.words.facts[f.predicate].weight >= 0.5 for f in literals])):
            return None
        lifted = Lifted(self.words)
        ordered = sorted(literals, key=lambda f: (-self.words.facts[f.predicate].weight, f.predicate, f.objects))
        body = lifted.conjunction(ordered)
        text = f"(:process {NAME} :parameters ({lifted.parameters()}) :forbid {body})"
        return scoring.proposal(code_of(scoring), "together", text)

    def _of_two_kinds(self, fact: GroundLiteral) -> bool:
        """Whether a fact is about several things of suspicious kinds."""
        return len([o for o in fact.objects if self.words.kinds[self.words.kind_of(o)].weight > 0]) > 1

    # -- out of control -----------------------------------------------------------------------------------------------

    def unattended(self, before: Scene, after: Scene, gone: set[int]) -> Iterator[Proposal]:
        """A fact that could be undone before a step, and can no longer be after it, which deleted facts of ``gone``."""
        for fact in after.dynamic:
            undos = self.words.undo.get(fact.predicate, ())
            if not undos or not undos[0].only or not before.holds(fact) or self.words.facts[fact.predicate].weight <= 0:
                continue
            undo = undos[0]
            if not gone & needs(undo.action):
                continue
            broken = _possible(self.shared, undo, fact, before) - _possible(self.shared, undo, fact, after)
            if broken and not _possible(self.shared, undo, fact, after):
                key = ("unattended", fact, undo.action.name)
                if key not in self._made:
                    self._made[key] = self._unattended(fact, undo, before, after)
                found = self._made[key]
                if found is not None:
                    yield found

    def _unattended(self, fact: GroundLiteral, undo: Undo, before: Scene, after: Scene) -> Proposal | None:
        """Whoever leaves, the fact must not be left with nobody who could undo it."""
        action = undo.action
        places = {v.slot: i for i, v in enumerate(action.parameters)}
        fixed = {undo.slots[i]: fact.objects[i] for i in range(len(fact.objects))}
        lost = _lost(self.shared, undo, fact, before, after)
        conditions = [
            part
            for part in action.start.condition
            if isinstance(part, Atom)
            and part.predicate != fact.predicate
            and (self.task.static[part.predicate] or part.predicate in lost)
        ]
        conditions = _connected(conditions, {-1 - action.parameters[place].slot for place in fixed})
        if not any([part.predicate in lost for part in conditions]):
            return None
        lifted = Lifted(self.words)
        head = lifted.literal(fact)
        named = lifted.parameters()
        others: dict[int, str] = {}

        def term(argument: int) -> str:
            if argument >= 0:
                return self.task.objects[argument]
            place = places[-1 - argument]
            if place in fixed:
                return lifted.variable(fixed[place])
            v = action.parameters[place]
            others[place] = f"?{v.name.lstrip('?')}-{place}"
            return others[place]

        texts = [
            "(" + " ".join([self.task.predicates[p.predicate].name, *[term(a) for a in p.arguments]]) + ")"
            for p in conditions
        ]
        kinds = self.words.parameter_kinds(action)
        typed = " ".join([f"{name} - {kinds[place]}" for place, name in others.items()])
        body = texts[0] if len(texts) == 1 else f"(and {' '.join(texts)})"
        if others:
            body = f"(exists ({typed}) {body})"
        scoring = Scoring(self.words).facts([fact]).objects(fact.objects)
        scoring.bonus(0.8, f"`{action.name}` could undo it, and the plan goes where it no longer can")
        text = f"(:process {NAME} :parameters ({named}) :forbid (and {head} (not {body})))"
        return scoring.proposal(code_of(scoring), "unattended", text)

    # -- numbers ------------------------------------------------------------------------------------------------------

    def beyond(self, state: State) -> Iterator[Proposal]:
        """A number that changes, above one of the same objects that does not and that nobody reads."""
        for changing, fixed in self._limits:
            for code, value in state.fluents[changing].items():
                limit = state.fluents[fixed].get(code)
                if limit is not None and value > limit:
                    key = ("beyond", changing, fixed)
                    if key not in self._made:
                        self._made[key] = self._beyond(changing, fixed, code)
                    found = self._made[key]
                    if found is not None:
                        yield found

    def _beyond(self, changing: int, fixed: int, code: int) -> Proposal:
        task = self.task
        objects = task.decode(code, len(task.functions[changing].types))
        lifted = Lifted(self.words)
        arguments = " ".join([lifted.variable(o) for o in objects])
        names = [task.functions[f].name for f in (changing, fixed)]
        scoring = Scoring(self.words).function(fixed)
        scoring.bonus(0.5, f"`{names[0]}` of the same things is above it")
        terms = [f"({name} {arguments})" if objects else f"({name})" for name in names]
        text = f"(:process {NAME} :parameters ({lifted.parameters()}) :require (<= {terms[0]} {terms[1]}))"
        return scoring.proposal(UNREAD, "beyond", text)


def _limits(shared: Shared) -> list[tuple[int, int]]:
    task, words = shared.task, shared.words
    changed = words.assigned
    return [
        (f, g)
        for f in changed
        for g in range(len(task.functions))
        if g not in changed and words.functions[g].weight > 0 and task.functions[f].types == task.functions[g].types
    ]


def _connected(conditions: list[Atom], known: set[int]) -> list[Atom]:
    """The conditions that variables connect with ``known`` ones."""
    kept: list[Atom] = []
    grown = True
    while grown:
        grown = False
        for part in conditions:
            if part not in kept and known & set(part.arguments):
                kept.append(part)
                known |= set(part.arguments)
                grown = True
    return [part for part in conditions if part in kept]


def _possible(shared: Shared, undo: Undo, fact: GroundLiteral, scene: Scene) -> set[tuple[int, ...]]:
    """The steps of an undoing action that would take the fact back now."""
    return {
        taken.objects
        for taken in Execution(shared.engine, scene.state).legal(undo.action.name)
        if all(taken.objects[slot] == o for slot, o in zip(undo.slots, fact.objects, strict=True))
    }


def _lost(shared: Shared, undo: Undo, fact: GroundLiteral, before: Scene, after: Scene) -> set[int]:
    """The predicates of facts that an undoing step needs, and that the step in between took away."""
    places = {v.slot: i for i, v in enumerate(undo.action.parameters)}
    lost = set()
    for objects in _possible(shared, undo, fact, before):
        for part in undo.action.start.condition:
            if isinstance(part, Atom):
                ground = tuple([a if a >= 0 else objects[places[-1 - a]] for a in part.arguments])
                if not after.holds(GroundLiteral(part.predicate, ground)) and not set(ground) & set(fact.objects):
                    lost.add(part.predicate)
    return lost
