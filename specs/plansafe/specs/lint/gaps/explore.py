"""Detours from safe plans: what else could be done on the way and after the goal, without breaking a rule."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from time import monotonic
from typing import NamedTuple

from plansafe.specs.lint.gaps.ends import EndPatterns
from plansafe.specs.lint.gaps.rules import Proposal
from plansafe.specs.lint.gaps.scene import Scene, Shared
from plansafe.specs.lint.gaps.states import StatePatterns
from plansafe.specs.lint.gaps.steps import StepPatterns
from plansafe.specs.lint.gaps.trials import Path, Trial, Trials
from plansafe.verifier.execution.execution import Execution, StateKey, changing
from plansafe.verifier.execution.state import NumberTooLarge, State
from plansafe.verifier.execution.steps import GroundAction

WITNESSES = 4
MAX_ENDS = 150
SEVERAL = 4
"""So many steps of a kind with the same proposal are no coincidence."""


class Witness(NamedTuple):
    """A path that is safe so far and does what a proposal forbids. ``rest``: how its reference went on from there."""

    path: Path
    rest: Path
    accepted: bool


class Node(NamedTuple):
    """A state on the frontier: how it was reached, and the rest of the plan that it left."""

    path: Path
    rest: Path
    state: State
    before: StateKey | None = None
    """The state before the last step."""
    heat: float = 0.0
    """How suspicious what the last step changed is: below 1, so that short detours come first in the long run."""


class Found:
    """A proposal with the paths that break it."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        self.witnesses: list[Witness] = []

    def add(self, witness: Witness) -> None:
        """Keep a few witnesses, those that are plans already first."""
        if witness.accepted and not any([w.accepted for w in self.witnesses]):
            self.witnesses.insert(0, witness)
        elif len(self.witnesses) < WITNESSES and all(w.rest != witness.rest for w in self.witnesses):
            self.witnesses.append(witness)

    @property
    def full(self) -> bool:
        """Whether more witnesses are of no use."""
        return bool(self.witnesses) and (self.witnesses[0].accepted or len(self.witnesses) >= WITNESSES)


_Kind = tuple[str, tuple[int, ...]]


class _Counts:
    """How often steps of a kind were taken, and how often a proposal came with them."""

    def __init__(self) -> None:
        self.taken: dict[_Kind, int] = {}
        self.with_: dict[str, dict[_Kind, int]] = {}

    def add(self, kind: _Kind, texts: set[str]) -> None:
        """One step more."""
        self.taken[kind] = self.taken.get(kind, 0) + 1
        for text in texts:
            counts = self.with_.setdefault(text, {})
            counts[kind] = counts.get(kind, 0) + 1

    def always(self) -> set[str]:
        """The proposals that came with every one of several steps of a kind."""
        taken = self.taken
        return {
            text
            for text, counts in self.with_.items()
            if any([count == taken[kind] >= SEVERAL for kind, count in counts.items()])
        }


class Explorer:
    """Breadth-first detours from every state of the reference plans. ``watched[n]``: the proposal of rule ``n``."""

    def __init__(
        self, shared: Shared, trials: Trials, watched: dict[int, Proposal], limit: int, deadline: float
    ) -> None:
        self.shared = shared
        self.engine = shared.engine
        self.trials = trials
        self.limit = limit
        self.deadline = deadline
        self.states = StatePatterns(shared)
        self.steps = StepPatterns(shared)
        self.ends = EndPatterns(shared)
        self.found: dict[str, Found] = {}
        self.watched = {number: Found(proposal) for number, proposal in watched.items()}
        self.plans: list[Path] = []
        """Safe plans to the goal that were met on the way."""
        self.explored = 0
        self._seen: set[StateKey] = set()
        self._steps_taken, self._states_reached = _Counts(), _Counts()
        self._pairs: set[tuple[tuple[int, int], tuple[int, int]]] = set()

    def run(self, references: Sequence[Path]) -> None:
        """Explore until nothing is new, or the time is over."""
        queue: list[tuple[float, int, Node]] = []
        for reference in references:
            for node in self._along(reference):
                heappush(queue, (0.0, len(queue), node))
        ties = len(queue)
        while queue and not self._over():
            cost, _, node = heappop(queue)
            for child in self._expand(node):
                ties += 1
                heappush(queue, (cost + 1.0 - child.heat, ties, child))

    def _over(self) -> bool:
        return self.explored >= self.limit or monotonic() >= self.deadline

    def _along(self, reference: Path) -> list[Node]:
        """The states of a reference plan, each looked at."""
        state = self.engine.initial()
        nodes = [Node((), reference, state.fork())]
        self._seen.add(changing(self.engine, state))
        for number in range(len(reference)):
            before = nodes[-1]
            made = self._step(before, reference[number], reference[number + 1 :], True)
            if made is None:
                break
            nodes.append(made)
        return list(reversed(nodes))

    def _expand(self, node: Node) -> list[Node]:
        made = []
        touched = {o for step in node.path for o in step.objects}
        for step in list(Execution(self.engine, node.state).legal()):
            if self._over():
                break
            if self._symmetric(step, touched):
                continue
            child = self._step(node, step, node.rest, False)
            if child is not None:
                made.append(child)
        return made

    def _symmetric(self, step: GroundAction, touched: set[int]) -> bool:
        """Whether the step touches an object for the first time, and one just like it could have been taken instead."""
        for item in step.objects:
            first = self.shared.like[item]
            others = [o for o in first if o < item]
            if item not in touched and any([o not in touched and o not in step.objects for o in others]):
                return True
        return False

    def _step(self, node: Node, step: GroundAction, rest: Path, keep: bool) -> Node | None:
        """Take a step from a node, look at it, and return where it leads if that is worth going on from."""
        now = Execution(self.engine, node.state)
        try:
            taken = now.take(step)
        except NumberTooLarge:
            return None
        if not taken:
            return None
        log = now.changed
        self.explored += 1
        after = node.state.fork() if log else node.state
        now.undo()
        path = (*node.path, step)
        key = changing(self.engine, after)
        new = key not in self._seen
        before = Scene(self.shared, node.state)
        scene = Scene(self.shared, after) if log else None
        proposals = list(self.steps.of(path, before, scene))
        self._count(self._steps_taken, step, proposals)
        if scene is not None and (new or keep):
            states = [*self.states.of(scene, after)]
            gone = {p for p, _, value in log if value is False}
            states += self.states.unattended(before, scene, gone)
            self._count(self._states_reached, step, states)
            proposals += states
        wanted = [p for p in proposals if p.text not in self.found or not self.found[p.text].full]
        if not wanted and not new and not keep:
            return None
        trial = self.trials.run(path)
        if trial is None or trial.broken:
            return None
        self._note(wanted, path, rest, trial, scene or before)
        if node.path and not new and scene is not None:
            self._loop(node, step, key)
        if not keep and (not new or not self._novel(scene)):
            return None
        self._seen.add(key)
        weights = self.shared.words.facts
        heat = sum([weights[p].weight for p, _, value in log if value is True and p < len(weights)])
        heat += sum([self.shared.marks[o] for o in step.objects])
        return Node(path, rest, after, changing(self.engine, node.state), heat / (1.0 + heat))

    def _loop(self, node: Node, undoing: GroundAction, key: StateKey) -> None:
        """A step that leads back to where the plan was before its last step: what if that is taken again?"""
        if node.before != key:
            return
        path = (*node.path, undoing, node.path[-1])
        proposals = [p for p in self.steps.loop(path) if p.text not in self.found or not self.found[p.text].full]
        trial = self.trials.run(path) if proposals else None
        if trial is not None and not trial.broken:
            self._note(proposals, path, node.rest, trial, None)

    def _count(self, counts: _Counts, step: GroundAction, proposals: Sequence[Proposal]) -> None:
        kinds = tuple([self.shared.words.kind_of(o) for o in step.objects])
        counts.add((step.action.name, kinds), {proposal.text for proposal in proposals})

    def forbidding(self) -> set[str]:
        """Proposals that come with every step of some action: they would forbid the action, not a combination."""
        return self._steps_taken.always() | self._states_reached.always()

    def _note(self, proposals: list[Proposal], path: Path, rest: Path, trial: Trial, scene: Scene | None) -> None:
        if trial.accepted and scene is not None:
            proposals = [*proposals, *self.ends.left(scene)]
        if trial.accepted and len(self.plans) < MAX_ENDS:
            self.plans.append(path)
        witness = Witness(path, rest, trial.accepted)
        for proposal in proposals:
            self.found.setdefault(proposal.text, Found(proposal)).add(witness)
        for number in trial.watched | trial.ended:
            if number in self.watched:
                self.watched[number].add(witness)

    def _novel(self, scene: Scene | None) -> bool:
        """Whether some pair of facts holds together for the first time (Lipovetzky and Geffner 2012, width 2)."""
        if scene is None:
            return False
        facts = [(f.predicate, self.shared.task.encode(f.objects)) for f in scene.dynamic]
        facts += [(-1 - p, code) for p, code in self.shared.at_first if code not in scene.facts[p]]
        fresh = False
        pairs = self._pairs
        for i, first in enumerate(facts):
            for second in facts[i:]:
                if (first, second) not in pairs:
                    pairs.add((first, second))
                    fresh = True
        return fresh
