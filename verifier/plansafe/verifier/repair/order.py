"""The order of repairs that cost the same: first the one that the person who asked for the plan would rather accept.

docs/repair.md has the criteria; docs/repair-reading.md tells what is right and wrong with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.api import Checker
from plansafe.verifier.compile.triggers import Pattern, patterns
from plansafe.verifier.execution.replay import FORCE, HALT, Run
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.repair.extract import Aligned
from plansafe.verifier.repair.model import EditKind

InPlay = tuple[int, frozenset[tuple[int, int]]]
"""A part of a rule, and the objects that some of its parameters have: all instances that agree with these."""
_KINDS = [kind.value for kind in EditKind]


class _Look(NamedTuple):
    """The criteria, the first that differs deciding."""

    woken: bool
    slips: int
    different: int
    kinds: tuple[int, ...]
    places: tuple[int, ...]
    text: str


class Order:
    """Orders the repairs of one plan. ``texts``: its steps as written."""

    def __init__(
        self,
        checker: Checker,
        steps: Sequence[GroundAction | IllFormed],
        texts: Sequence[str],
    ) -> None:
        self.engine = checker.engine
        self.steps = steps
        self.texts = texts
        self._readers = self._find_readers()
        played, self.original = self._in_play(list(steps), FORCE)
        self._played: dict[int, list[frozenset[tuple[int, int]]]] = {}
        for part, objects in played:
            self._played.setdefault(part, []).append(objects)

    def sorted(self, found: list[Aligned]) -> list[Aligned]:
        """The repairs in the documented order."""
        return sorted(found, key=self._look)

    def _look(self, aligned: Aligned) -> _Look:
        play, state = self._in_play(aligned.steps, HALT)
        woken = any([not any([old <= new for old in self._played.get(part, ())]) for part, new in play])
        different = 0
        for now, then in zip(state.facts, self.original.facts, strict=True):
            if now != then:
                different += len(now ^ then)
        for values, before in zip(state.fluents, self.original.fluents, strict=True):
            different += sum([values.get(code) != before.get(code) for code in values.keys() | before.keys()])
        kinds = tuple(sorted([_KINDS.index(kind) for kind in aligned.kinds], reverse=True))
        places = tuple([-p for p, origin in enumerate(aligned.origin) if not origin])
        text = " ".join([step_text(step, self.engine.task.objects) for step in aligned.steps])
        return _Look(woken, self._slips(aligned), different, kinds, places, text)

    def _slips(self, aligned: Aligned) -> int:
        """How far replacements of ill-formed steps are from what was written, in tokens; the action counts twice."""
        total = 0
        for place in aligned.substituted:
            number = aligned.origin[place]
            if isinstance(self.steps[number - 1], IllFormed):
                total += _distance(self.texts[number - 1], step_text(aligned.steps[place], self.engine.task.objects))
        for number in aligned.deleted:
            if isinstance(self.steps[number - 1], IllFormed):
                total += len(self.texts[number - 1].split()) + 1
        return total

    def _in_play(self, steps: Sequence[GroundAction | IllFormed], reading: str) -> tuple[set[InPlay], State]:
        """The rule instances that the steps of a plan bring into play, and its final state.

        A rule about steps comes into play where a step matches, any other where a fact that it reads changes: each time
        for all instances that agree with the objects of that step or fact.
        """
        found: set[InPlay] = set()

        def note(index: int, code: int) -> None:
            for part, pattern in self._readers.get(index, ()):
                objects = pattern.key(code)
                if objects is not None:
                    found.add((part, frozenset(zip(pattern.parameters, objects, strict=True))))

        def observe(_run: Run, number: int, changes: list[StateChange]) -> None:
            step = steps[number - 1]
            action_fact = self.engine.action_fact("start", step) if isinstance(step, GroundAction) else None
            if action_fact is not None:
                note(*action_fact)
            for index, code, _ in changes:
                note(index, code)

        run = Run(self.engine, reading, observer=observe)
        run.steps(steps)
        return found, run.state

    def _find_readers(self) -> dict[int, list[tuple[int, Pattern]]]:
        out: dict[int, list[tuple[int, Pattern]]] = {}
        for number, part in enumerate(self.engine.plan.parts):
            condition = part.body if part.step is None else part.step
            for pattern in patterns(self.engine.emitter, condition, part.parameters):
                out.setdefault(pattern.predicate, []).append((number, pattern))
        return out


def _distance(written: str, replaced: str) -> int:
    old, new = written.strip("()").split(), replaced.strip("()").split()
    differing = sum([x != y for x, y in zip(old[1:], new[1:], strict=False)])
    return 2 * (old[:1] != new[:1]) + differing + abs(len(old) - len(new))
