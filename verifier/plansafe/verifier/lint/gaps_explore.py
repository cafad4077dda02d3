"""Detours from safe plans: what else could be done on the way and after the goal, without breaking a rule."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.engine.state import NumberTooLarge, State
from plansafe.verifier.engine.steps import Taken
from plansafe.verifier.lint.gaps_ends import EndPatterns
from plansafe.verifier.lint.gaps_rules import Proposal
from plansafe.verifier.lint.gaps_scene import Scene, Shared
from plansafe.verifier.lint.gaps_states import StatePatterns
from plansafe.verifier.lint.gaps_steps import StepPatterns
from plansafe.verifier.lint.gaps_trials import Path, Trial, Trials
from plansafe.verifier.planning.execution import StateKey, changing
from plansafe.verifier.simulate import Simulation

WITNESSES = 4
MAX_ENDS = 150


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
        self._simulation = Simulation(self.engine)
        self._seen: set[StateKey] = set()
        self._pairs: set[tuple[tuple[int, int], tuple[int, int]]] = set()

    def run(self, references: Sequence[Path]) -> None:
        """Explore until nothing is new, or the time is over."""
        layer = []
        for reference in references:
            layer += self._along(reference)
        while layer and not self._over():
            following: list[Node] = []
            for node in layer:
                following += self._expand(node)
                if self._over():
                    break
            layer = following

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
        simulation = self._simulation
        simulation.state, simulation._indexes = node.state, None
        made = []
        for step in list(simulation.legal()):
            if self._over():
                break
            child = self._step(node, step, node.rest, False)
            if child is not None:
                made.append(child)
        return made

    def _step(self, node: Node, step: Taken, rest: Path, keep: bool) -> Node | None:
        """Take a step from a node, look at it, and return where it leads if that is worth going on from."""
        simulation = self._simulation
        simulation.state = node.state
        try:
            log = simulation.take(step)
        except NumberTooLarge:
            return None
        if log is None:
            return None
        self.explored += 1
        log = list(log)  # taking a step back empties it
        after = node.state.fork() if log else node.state
        simulation.undo()
        path = (*node.path, step)
        key = changing(self.engine, after)
        new = key not in self._seen
        before = Scene(self.shared, node.state)
        scene = Scene(self.shared, after) if log else None
        proposals = list(self.steps.of(path, before, scene))
        if scene is not None and (new or keep):
            proposals += self.states.of(scene, after)
            gone = {p for p, _, value in log if value is False}
            proposals += self.states.unattended(before, scene, gone)
        wanted = [p for p in proposals if p.text not in self.found or not self.found[p.text].full]
        if not wanted and not new and not keep:
            return None
        trial = self.trials.run(path)
        if trial is None or trial.broken:
            return None
        self._note(wanted, path, rest, trial, scene or before)
        if not keep and (not new or not self._novel(scene)):
            return None
        self._seen.add(key)
        return Node(path, rest, after)

    def _note(self, proposals: list[Proposal], path: Path, rest: Path, trial: Trial, scene: Scene) -> None:
        if trial.accepted:
            proposals = [*proposals, *self.ends.left(scene)]
            if len(self.plans) < MAX_ENDS:
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
        fresh = False
        pairs = self._pairs
        for i, first in enumerate(facts):
            for second in facts[i:]:
                if (first, second) not in pairs:
                    pairs.add((first, second))
                    fresh = True
        return fresh
