"""Suspicious steps: taken while, too early, with a side effect, again, or after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from plansafe.specs.lint.gaps.model import UNCOVERED
from plansafe.specs.lint.gaps.rules import NAME, GroundLiteral, Lifted, Proposal, Scoring
from plansafe.specs.lint.gaps.scene import Scene, Shared
from plansafe.specs.lint.gaps.states import code_of
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Action, Atom, variable
from plansafe.verifier.model.operations import reads

STRONG = 1.5
"""What a word weighs that nobody reads."""
NEAR = 2
"""How many facts may lie between a step and what makes it suspicious."""


class StepPatterns:
    """Proposals from single steps and from pairs of steps. Equal ground cases are made once."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.words = shared.words
        self.task = shared.task
        self._made: dict[object, Proposal | None] = {}
        self._early = _wanted_first(shared)
        self._remedies = _remedies(shared)

    def of(self, path: Sequence[GroundAction], before: Scene, after: Scene | None) -> Iterator[Proposal]:
        """What the last step of ``path`` (``after`` is ``None`` if it changed nothing) gives reason to forbid."""
        step = path[-1]
        yield from self.meanwhile(step, before)
        yield from self.early(step, before)
        yield from self.again(path, after is None)
        yield from self.orders(path)
        if after is not None:
            yield from self.effects(step, before, after)

    def _memo(self, key: object, make: Callable[[], Proposal | None]) -> Iterator[Proposal]:
        if key not in self._made:
            self._made[key] = make()
        found = self._made[key]
        if found is not None:
            yield found

    # -- while --------------------------------------------------------------------------------------------------------

    def meanwhile(self, step: GroundAction, before: Scene) -> Iterator[Proposal]:
        """A step taken while something suspicious holds near its objects."""
        for item in before.items:
            if item.literal is None:
                continue
            chain = before.chain(step.objects, item.objects)
            if chain is None or len(chain) > NEAR:
                continue
            literals = tuple(dict.fromkeys([*chain, item.literal]))
            if item.literal in _needed(step):
                continue
            key = ("while", step.action.name, step.objects, frozenset(literals))
            cost = before.links(chain)
            yield from self._memo(key, lambda f=literals, c=cost: self._meanwhile(step, f, c))  # type: ignore[misc]
        alone = ("while", step.action.name, step.objects)
        yield from self._memo(alone, lambda: self._meanwhile(step, (), 0.0))

    def _used(self, step: GroundAction, literals: Sequence[GroundLiteral]) -> list[int]:
        """The objects that a rule about a step names: those of the facts, and those of suspicious kinds."""
        mentioned = {o for f in literals for o in f.objects}
        kinds = self.words.kinds
        used = [o for o in step.objects if o in mentioned or kinds[self.words.kind_of(o)].weight > 0]
        return list(dict.fromkeys([*used, *sorted(mentioned)]))

    def _meanwhile(self, step: GroundAction, literals: Sequence[GroundLiteral], cost: float) -> Proposal | None:
        used = self._used(step, literals)
        scoring = Scoring(self.words).action(step.action.name).facts(literals).objects(used)
        scoring.bonus(-cost)
        predicates = {f.predicate for f in literals}
        other = self.words.stepped_elsewhere(step.action, predicates)
        if other:
            scoring.bonus(0.8, f"rules forbid `{other}` then, which is done to the same things")
        elif self.words.limited(step.action.name, predicates):
            scoring.bonus(0.3, f"rules forbid `{step.action.name}` at other moments")
        if scoring.total <= 0 or not (literals or used):
            return None
        lifted = Lifted(self.words)
        pattern = lifted.step(step, set(used))
        body = lifted.conjunction(literals) if literals else "(and)"
        text = f"(:process {NAME} :parameters ({lifted.parameters()}) :on {pattern} :forbid {body})"
        return scoring.proposal(code_of(scoring), "while", text)

    # -- too early ----------------------------------------------------------------------------------------------------

    def early(self, step: GroundAction, before: Scene) -> Iterator[Proposal]:
        """A step without a fact that what it leads to needs together with its effect."""
        for predicate, place, consumer, needing in self._early.get(step.action.name, ()):
            item = step.objects[place]
            lacking = GroundLiteral(predicate, (item,), False)
            if item in needing and not before.holds(lacking):
                key = ("early", step.action.name, predicate, self.words.kind_of(item), place)
                yield from self._memo(key, lambda w=lacking, c=consumer: self._too_early(step, w, c))  # type: ignore[misc]

    def _too_early(self, step: GroundAction, lacking: GroundLiteral, consumer: str) -> Proposal:
        scoring = Scoring(self.words).action(step.action.name).objects(lacking.objects)
        name = self.task.predicates[lacking.predicate].name
        scoring.bonus(1.0, f"`{consumer}` needs what `{step.action.name}` gives and `{name}`, which is not there yet")
        lifted = Lifted(self.words)
        pattern = lifted.step(step, set(lacking.objects))
        wanted = lifted.literal(lacking._replace(positive=True))
        text = f"(:process {NAME} :parameters ({lifted.parameters()}) :on {pattern} :require {wanted})"
        return scoring.proposal(UNCOVERED, "early", text)

    # -- side effects -------------------------------------------------------------------------------------------------

    def effects(self, step: GroundAction, before: Scene, after: Scene) -> Iterator[Proposal]:
        """A suspicious fact that a step gives on some occasions only."""
        for item in after.items:
            fact = item.literal
            if fact is None or self.task.static[fact.predicate] or before.holds(fact):
                continue
            if not _conditional(step.action, fact.predicate) or not set(fact.objects) <= set(step.objects):
                continue
            key = ("effect", step.action.name, fact.predicate, tuple([step.objects.index(o) for o in fact.objects]))
            yield from self._memo(key, lambda fact=fact: self._effect(step, fact))  # type: ignore[misc]

    def _effect(self, step: GroundAction, fact: GroundLiteral) -> Proposal:
        name = self.task.predicates[fact.predicate].name
        scoring = Scoring(self.words).action(step.action.name).facts([fact])
        scoring.bonus(0.8, f"`{step.action.name}` gives `{name}` on some occasions only: a side effect")
        others = [a for a in self.words.acting if a != step.action.name]
        if any([_conditional(self.task.actions[a], fact.predicate) for a in others]):
            scoring.bonus(1.0, f"rules restrict other actions that give `{name}`")
        lifted = Lifted(self.words)
        pattern = lifted.step(step, set(fact.objects))
        body = lifted.literal(fact)
        text = (
            f"(:process {NAME} :parameters ({lifted.parameters()}) :on {pattern} "
            f":when (not {body}) :forbid-after {body})"
        )
        return scoring.proposal(UNCOVERED, "effect", text)

    # -- again --------------------------------------------------------------------------------------------------------

    def again(self, path: Sequence[GroundAction], unchanged: bool) -> Iterator[Proposal]:
        """The same step a second time, which changes nothing that the domain knows of."""
        step = path[-1]
        name = step.action.name
        if not unchanged or name in self.words.acting:
            return
        if any([earlier.action.name == name and earlier.objects == step.objects for earlier in path[:-1]]):
            yield from self._memo(("again", name, step.objects), lambda: self._again(step))

    def _again(self, step: GroundAction) -> Proposal:
        action = step.action
        scoring = Scoring(self.words).action(action.name)
        adds = {a.predicate for effect in action.start.effects for a in effect.adds}
        if not any([p in self.words.undo for p in adds]):
            scoring.bonus(1.0, f"what `{action.name}` does cannot be undone, and the plan does it twice")
        else:
            scoring.bonus(0.2, f"`{action.name}` is done twice")
        used = [o for o in step.objects if self.words.kinds[self.words.kind_of(o)].weight > 0] or list(step.objects)
        scoring.objects(used)
        lifted = Lifted(self.words)
        pattern = f"(action {lifted.step(step, set(step.objects))})"
        text = (
            f"(:trajectory {NAME} :parameters ({lifted.parameters()}) "
            f":formula (always (imply {pattern} (weak-next (always (not {pattern}))))))"
        )
        return scoring.proposal(UNCOVERED, "again", text)

    def loop(self, path: Sequence[GroundAction]) -> Iterator[Proposal]:
        """A step, another that takes it back, and the first one once more."""
        back, again = path[-2], path[-1]
        shared = [o for o in again.objects if o in back.objects]
        if shared:
            key = ("loop", again.action.name, again.objects, back.action.name)
            yield from self._memo(key, lambda: self._loop(again, back, shared))

    def _loop(self, again: GroundAction, back: GroundAction, shared: Sequence[int]) -> Proposal:
        names = again.action.name, back.action.name
        scoring = Scoring(self.words)
        weight = 1.2 if self.words.loops else 0.4
        if all([self.words.kind_of(o) in self.words.everywhere for o in shared]):
            weight /= 3  # moving about
        scoring.bonus(weight, f"`{names[0]}`, `{names[1]}` and `{names[0]}` again come to nothing: a loop")
        lifted = Lifted(self.words)
        first = lifted.step(again, set(shared))
        second = lifted.step(back, set(shared))
        text = (
            f"(:process {NAME} :parameters ({lifted.parameters()}) :on {first} "
            f":forbid (once (and (action {second}) (once (action {first})))))"
        )
        return scoring.proposal(UNCOVERED, "loop", text)

    # -- one after the other ------------------------------------------------------------------------------------------

    def orders(self, path: Sequence[GroundAction]) -> Iterator[Proposal]:
        """A step on a suspicious thing after a step on another with the same tool; or without having been prepared."""
        step = path[-1]
        marks = self._marks(step)
        for item, literal in marks:
            if literal is None or self.words.facts[literal.predicate].weight < STRONG:
                continue
            for remedy, place in self._remedies.get(item, ()):
                if remedy.name != step.action.name and not _done(path, remedy.name, place, item):
                    key = ("first", step.action.name, literal, remedy.name)
                    yield from self._memo(
                        key,
                        lambda i=item, w=literal, r=remedy, p=place: self._first(step, i, w, r, p),  # type: ignore[misc]
                    )
        for number, earlier in enumerate(path[:-1]):
            tools = [o for o in step.objects if o in earlier.objects]
            for past in self._marks(earlier):
                strong = past[1] is not None and self.words.facts[past[1].predicate].weight >= STRONG
                for tool in tools:
                    if tool == past[0] or tool not in self._tools(step):
                        continue
                    for now in (*marks, None):
                        if now is not None and now[0] in (tool, past[0]):
                            continue
                        yield from self._after(path, number, tool, past, now, strong)

    def _marks(self, step: GroundAction) -> list[tuple[int, GroundLiteral | None]]:
        """The objects of a step that are suspicious for good, with the fact that says so (``None``: the kind)."""
        single = [item for item in self.shared.items if len(item.objects) == 1]
        return [(item.objects[0], item.literal) for item in single if item.objects[0] in step.objects]

    def _tools(self, step: GroundAction) -> set[int]:
        """The objects of a step that some action prepares or cleans."""
        return {o for o in step.objects if o in self._remedies}

    def _first(self, step: GroundAction, item: int, literal: GroundLiteral, remedy: Action, place: int) -> Proposal:
        scoring = Scoring(self.words).action(step.action.name).facts([literal]).objects([item]).action(remedy.name)
        scoring.bonus(0.2, f"`{remedy.name}` is there to be done before, and was not")
        lifted = Lifted(self.words)
        pattern = lifted.step(step, {item})
        wanted = _pattern(remedy, place, lifted.variable(item))
        text = (
            f"(:process {NAME} :parameters ({lifted.parameters()}) :on {pattern} "
            f":when {lifted.literal(literal)} :require (once (action {wanted})))"
        )
        return scoring.proposal(code_of(scoring), "first", text)

    def _after(
        self,
        path: Sequence[GroundAction],
        number: int,
        tool: int,
        past: tuple[int, GroundLiteral | None],
        now: tuple[int, GroundLiteral | None] | None,
        strong: bool,
    ) -> Iterator[Proposal]:
        earlier, step = path[number], path[-1]
        between = path[number + 1 : -1]
        for remedy, place in self._remedies[tool]:
            if not strong and remedy.name in self.words.acting:
                continue
            if remedy.name in (earlier.action.name, step.action.name) or _done(between, remedy.name, place, tool):
                continue
            key = ("after", earlier.action.name, step.action.name, tool, past, now, remedy.name)
            yield from self._memo(
                key,
                lambda r=remedy, p=place: self._order(earlier, step, tool, past, now, r, p),  # type: ignore[misc]
            )

    def _order(
        self,
        earlier: GroundAction,
        step: GroundAction,
        tool: int,
        past: tuple[int, GroundLiteral | None],
        now: tuple[int, GroundLiteral | None] | None,
        remedy: Action,
        place: int,
    ) -> Proposal | None:
        facts = [literal for literal in (past[1], now[1] if now else None) if literal is not None]
        items = [past[0], *([now[0]] if now else [])]
        scoring = Scoring(self.words).facts(facts).objects([*items, tool])
        scoring.action(step.action.name).action(remedy.name)
        name = remedy.name
        scoring.bonus(0.1 if facts else -0.3, f"`{name}` could have come between the two, and did not")
        lifted = Lifted(self.words)
        used = {tool, *([now[0]] if now else [])}
        pattern = lifted.step(step, used)
        when = f" :when {lifted.literal(now[1])}" if now and now[1] else ""
        parameters = lifted.parameters()
        inner = Lifted(self.words)
        inner.names, inner.kinds = dict(lifted.names), dict(lifted.kinds)
        done = f"(action {inner.step(earlier, {tool, past[0]})})"
        if past[1] is not None:
            done = f"(and {inner.literal(past[1])} {done})"
        if past[0] not in lifted.names:
            done = f"(exists ({inner.parameters([past[0]])}) {done})"
        wanted = _pattern(remedy, place, lifted.variable(tool))
        text = (
            f"(:process {NAME} :parameters ({parameters}) :on {pattern}{when} "
            f":forbid (since (not (action {wanted})) {done}))"
        )
        return scoring.proposal(code_of(scoring), "after", text)


# -- actions ----------------------------------------------------------------------------------------------------------


def _pattern(action: Action, place: int, name: str) -> str:
    words = [name if i == place else "_" for i in range(len(action.parameters))]
    return f"({' '.join([action.name, *words])})"


def _needed(step: GroundAction) -> set[GroundLiteral]:
    """The facts that a step asks for: to forbid one is to forbid the step."""
    objects = dict(zip([variable(v.slot) for v in step.action.parameters], step.objects, strict=True))
    return {
        GroundLiteral(read.predicate, tuple([objects.get(a, a) for a in read.arguments]))
        for part in step.action.start.condition
        for read in reads(part)
        if isinstance(read, Atom)
    }


def _done(path: Sequence[GroundAction], name: str, place: int, item: int) -> bool:
    return any([taken.action.name == name and taken.objects[place] == item for taken in path])


def _conditional(action: Action, predicate: int) -> bool:
    """Whether an action may give facts of a predicate, but need not."""
    certain = sometimes = False
    for effect in action.start.effects:
        if any([atom.predicate == predicate for atom in effect.adds]):
            always = not any([isinstance(read, Atom) for read in reads(effect.condition)])
            certain, sometimes = certain or always, sometimes or not always
    return sometimes and not certain


def _wanted_first(shared: Shared) -> dict[str, list[tuple[int, int, str, frozenset[int]]]]:
    """For each action A: a unary predicate, the parameter it is about, what needs it and A's effect, of which."""
    task, found = shared.task, {}
    needs: list[tuple[str, frozenset[int], set[int]]] = []
    for action in task.actions.values():
        for v in action.parameters:
            facts = {
                part.predicate
                for part in action.start.condition
                if isinstance(part, Atom) and part.arguments == (-1 - v.slot,) and not task.static[part.predicate]
            }
            if len(facts) > 1:
                needs.append((action.name, task.domain_sets[v.domain], facts))
    for action in task.actions.values():
        places = {-1 - v.slot: i for i, v in enumerate(action.parameters)}
        asked = {(p.predicate, p.arguments) for p in action.start.condition if isinstance(p, Atom)}
        entries = []
        for effect in action.start.effects:
            for atom in effect.adds:
                if len(atom.arguments) != 1 or atom.arguments[0] not in places:
                    continue
                for name, of, facts in needs:
                    if atom.predicate in facts and name != action.name:
                        entries += [
                            (p, places[atom.arguments[0]], name, of)
                            for p in sorted(facts - {atom.predicate})
                            if (p, atom.arguments) not in asked
                        ]
        if entries:
            found[action.name] = list(dict.fromkeys(entries))
    return found


def _remedies(shared: Shared) -> dict[int, list[tuple[Action, int]]]:
    """For each object, actions that prepare it: no action reads what they give, and others spoil it."""
    task, words = shared.task, shared.words
    spoilt = {
        atom.predicate for action in task.actions.values() for effect in action.start.effects for atom in effect.deletes
    }
    found: dict[int, list[tuple[Action, int]]] = {}
    for action in task.actions.values():
        for place, v in enumerate(action.parameters):
            gives = [
                atom.predicate
                for effect in action.start.effects
                if not effect.variables
                for atom in effect.adds
                if atom.arguments == (-1 - v.slot,) and atom.predicate in spoilt - words.by_actions - words.remedied
            ]
            if gives:
                for item in task.domains[v.domain]:
                    found.setdefault(item, []).append((action, place))
    return found
