"""What is proposed: things that come together, a step taken meanwhile or again, what is left, a number too large."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

from plansafe.specs.lint.gaps.model import LEFT
from plansafe.specs.lint.gaps.proposals import NAME, GroundFact, LiftedNames, Proposal, make_proposal
from plansafe.specs.lint.gaps.state_graph import StateGraph, SuspiciousItem, TaskGraph
from plansafe.specs.lint.gaps.suspicion import FORBIDDEN_WEIGHT, UNREAD_WEIGHT, Suspicion
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Atom, ground

MAX_CHAIN = 2
"""How many facts may lie between a step and what makes it suspicious."""


class ProposalPatterns:
    """Proposals from states and steps. Equal ground cases are made once."""

    def __init__(self, shared: TaskGraph) -> None:
        self.shared = shared
        self.words = shared.words
        self._made: dict[object, Proposal] = {}
        self._wanted = {
            GroundFact(part.predicate, part.arguments) for part in shared.task.goal if isinstance(part, Atom)
        }

    def _once(self, key: object, make: Callable[[], Proposal]) -> Proposal:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _about(self, facts: tuple[GroundFact, ...], objects: set[int]) -> list[Suspicion]:
        words = self.words
        return [words.facts[f.predicate] for f in facts] + [words.kinds[words.kind_of(o)] for o in objects]

    def _joined(
        self, first: SuspiciousItem, chain: tuple[GroundFact, ...] | None, second: SuspiciousItem | None = None
    ) -> tuple[GroundFact, ...]:
        items = (first.fact, second.fact if second is not None else None)
        found = {*(chain or ()), *[fact for fact in items if fact is not None]}
        return tuple(sorted(found, key=lambda f: (-self.words.facts[f.predicate].weight, f)))

    def together(self, scene: StateGraph) -> Iterator[Proposal]:
        """Two suspicious things that a chain of facts connects, some of it the plan's doing."""
        for first, second in combinations(scene.items, 2):
            chain = scene.chain(first.objects, second.objects)
            facts = self._joined(first, chain, second)
            if chain is not None and any([self.shared.new(fact) for fact in facts]):
                yield self._once(facts, partial(self._together, facts, scene, chain))

    def _together(self, facts: tuple[GroundFact, ...], scene: StateGraph, chain: tuple[GroundFact, ...]) -> Proposal:
        lifted = LiftedNames(self.words)
        body = lifted.facts(facts)
        text = f"(:process {NAME} :parameters ({lifted.parameters()}) :forbid {body})"
        return make_proposal(
            "together", text, self._about(facts, {o for f in facts for o in f.objects}), links=scene.links(chain)
        )

    def meanwhile(self, step: GroundAction, before: StateGraph) -> Iterator[Proposal]:
        """A step taken while something suspicious holds near its objects, or with suspicious things."""
        binding = step.binding
        needed = {
            GroundFact(part.predicate, ground(part.arguments, binding))
            for part in step.action.start.condition
            if isinstance(part, Atom)
        }
        yield self._once((step.action.name, step.objects), lambda: self._meanwhile(step, (), 0))
        for item in before.items:
            chain = before.chain(step.objects, item.objects)
            if item.fact is None or item.fact in needed or chain is None or len(chain) > MAX_CHAIN:
                continue
            facts = self._joined(item, chain)
            key = (step.action.name, step.objects, facts)
            yield self._once(key, lambda f=facts, c=chain: self._meanwhile(step, f, before.links(c)))  # type: ignore[misc] # mypy types no defaults of a lambda

    def _meanwhile(self, step: GroundAction, facts: tuple[GroundFact, ...], links: int) -> Proposal:
        kinds, words = self.words.kinds, self.words
        used = {o for f in facts for o in f.objects}
        used |= {o for o in step.objects if kinds[words.kind_of(o)].weight}
        lifted = LiftedNames(words)
        pattern = lifted.step(step, used)
        body = lifted.facts(facts)
        text = f"(:process {NAME} :parameters ({lifted.parameters()}) :on {pattern} :forbid {body})"
        return make_proposal("while", text, [words.actions[step.action.name], *self._about(facts, used)], links=links)

    def left(self, end: StateGraph) -> Iterator[Proposal]:
        """Facts that hold when the goal is reached, did not at the start, and are not asked for."""
        marks = [item for item in self.shared.items if item.fact is not None and len(item.objects) == 1]
        for fact in end.changing:
            if self.shared.new(fact) and fact not in self._wanted:
                for mark in (None, *[m.fact for m in marks if m.objects[0] in fact.objects]):
                    yield self._once(("left", fact, mark), partial(self._left, fact, mark))

    def _left(self, fact: GroundFact, mark: GroundFact | None) -> Proposal:
        lifted = LiftedNames(self.words)
        body = lifted.facts([fact])
        when = f" :when {lifted.facts([mark])}" if mark is not None else ""
        text = f"(:termination {NAME} :parameters ({lifted.parameters()}){when} :forbid {body})"
        facts = (fact,) if mark is None else (fact, mark)
        reason = f"`{self.shared.task.predicates[fact.predicate].name}` is left at the end"
        return make_proposal("left", text, [*self._about(facts, set(fact.objects)), Suspicion(0.5, reason)], LEFT)

    def again(self, step: GroundAction) -> Iterator[Proposal]:
        """A step that was taken before, and that changes nothing now."""
        yield self._once(("again", step.action.name, step.objects), lambda: self._again(step))

    def _again(self, step: GroundAction) -> Proposal:
        lifted, name = LiftedNames(self.words), step.action.name
        pattern = f"(action {lifted.step(step, set(step.objects))})"
        text = (
            f"(:trajectory {NAME} :parameters ({lifted.parameters()}) "
            f":formula (always (imply {pattern} (weak-next (always (not {pattern}))))))"
        )
        twice = Suspicion(FORBIDDEN_WEIGHT, f"`{name}` is done twice, without any effect in the domain")
        return make_proposal("again", text, [self.words.actions[name], twice, *self._about((), set(step.objects))])

    def beyond(self, state: State) -> Iterator[Proposal]:
        """A number that changes, above one of the same things that does not, and that nobody reads."""
        for changing, fixed in self.words.limits:
            for code, value in state.fluents[changing].items():
                if value > state.fluents[fixed].get(code, value):
                    make = lambda f=changing, g=fixed, c=code: self._beyond(f, g, c)  # noqa: E731
                    yield self._once(("beyond", changing, fixed), make)

    def _beyond(self, changing: int, fixed: int, code: int) -> Proposal:
        task, lifted = self.shared.task, LiftedNames(self.words)
        arguments = [lifted.variable(o) for o in task.decode(code, len(task.functions[changing].types))]
        small, large = [f"({' '.join([task.functions[f].name, *arguments])})" for f in (changing, fixed)]
        text = f"(:process {NAME} :parameters ({lifted.parameters()}) :require (<= {small} {large}))"
        return make_proposal(
            "beyond", text, [Suspicion(UNREAD_WEIGHT, f"no rule and no action reads the limit `{large}`")]
        )
