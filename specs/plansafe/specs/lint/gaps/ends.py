"""What a plan leaves behind, and what it lets last."""

from __future__ import annotations

from collections.abc import Iterator

from plansafe.specs.lint.gaps.model import LEFT
from plansafe.specs.lint.gaps.rules import NAME, GroundLiteral, Lifted, Proposal, Scoring
from plansafe.specs.lint.gaps.scene import Scene, Shared
from plansafe.specs.lint.gaps.states import LINK
from plansafe.verifier.model.nodes import Atom

LONG = 6
"""A fact that lasts for so many states, though it could be undone, is let last."""


class EndPatterns:
    """Proposals from the last state of a plan, and from facts that last."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.words = shared.words
        self.task = shared.task
        self._made: dict[object, Proposal | None] = {}
        self._wanted = {(part.predicate, part.arguments) for part in self.task.goal if isinstance(part, Atom)}

    def left(self, end: Scene) -> Iterator[Proposal]:
        """Facts that hold when the goal is reached, did not at the start, and are not asked for."""
        for fact in end.dynamic:
            if self.shared.new(fact) and (fact.predicate, fact.objects) not in self._wanted:
                marks = [
                    item.literal
                    for item in self.shared.items
                    if item.literal is not None and len(item.objects) == 1 and item.objects[0] in fact.objects
                ]
                for mark in (*marks, None):
                    key = ("left", fact, mark)
                    if key not in self._made:
                        self._made[key] = self._left(fact, mark)
                    found = self._made[key]
                    if found is not None:
                        yield found

    def _left(self, fact: GroundLiteral, mark: GroundLiteral | None) -> Proposal | None:
        scoring = Scoring(self.words).facts([fact]).objects(fact.objects)
        if mark is not None:
            scoring.facts([mark])
        if scoring.total <= 0:
            return None
        undos = self.words.undo.get(fact.predicate)
        name = self.task.predicates[fact.predicate].name
        if undos:
            scoring.bonus(
                0.8 if undos[0].only else 0.5, f"`{name}` is left at the end, which `{undos[0].action.name}` could undo"
            )
        else:
            scoring.bonus(0.3, f"`{name}` is left at the end")
        lifted = Lifted(self.words)
        body = lifted.literal(fact)
        when = f" :when {lifted.literal(mark)}" if mark is not None else ""
        text = f"(:termination {NAME} :parameters ({lifted.parameters()}){when} :forbid {body})"
        return scoring.proposal(LEFT, "left", text)

    def lasting(self, fact: GroundLiteral, scene: Scene) -> Iterator[Proposal]:
        """A fact that could be undone and is let last: alone, or beside something suspicious that changes nothing."""
        if self.words.facts[fact.predicate].weight <= 0 or fact.predicate not in self.words.undo:
            return
        for beside in [item for item in scene.items if item.literal is None] + [None]:
            chain = scene.chain(fact.objects, beside.objects) if beside is not None else ()
            if chain is None or len(chain) > 1 or (beside is not None and beside.objects[0] in fact.objects):
                continue
            key = ("lasting", fact, chain)
            if key not in self._made:
                self._made[key] = self._lasting(fact, chain)
            found = self._made[key]
            if found is not None:
                yield found

    def _lasting(self, fact: GroundLiteral, chain: tuple[GroundLiteral, ...]) -> Proposal:
        objects = [o for f in (fact, *chain) for o in f.objects]
        scoring = Scoring(self.words).facts([fact, *chain]).objects(objects)
        scoring.bonus(-LINK * len(chain))
        undo = self.words.undo[fact.predicate][0].action.name
        name = self.task.predicates[fact.predicate].name
        scoring.bonus(0.3, f"`{undo}` could end `{name}` long before")
        lifted = Lifted(self.words)
        body = lifted.literal(fact)
        when = lifted.conjunction([fact, *chain])
        text = (
            f"(:obligation {NAME} :parameters ({lifted.parameters()}) "
            f":when {when} :then (not {body}) :within {LONG - 1})"
        )
        return scoring.proposal(LEFT, "lasting", text)
