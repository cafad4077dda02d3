"""The order of repairs that cost the same: first the one that the person who asked for the plan would rather accept.

docs/repair.md has the criteria; bench/results/repair-reading.md is a study of their results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.api import Checker
from plansafe.verifier.compile.triggers import ReadPattern, compile_patterns
from plansafe.verifier.execution.replay import FORCE, HALT, Replay
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.repair.model import EditKind

InPlay = tuple[int, frozenset[tuple[int, int]]]
"""A part of a rule, and the objects that some of its parameters have: all instances that agree with these."""
_KINDS = [kind.value for kind in EditKind]


class _Look(NamedTuple):
    """The criteria, the first that differs deciding."""

    woken: bool
    slips: int
    voids: int
    different: int
    kinds: tuple[int, ...]
    apart: int
    places: tuple[int, ...]
    text: str


class RepairRanking:
    """Orders the repairs of one plan. ``texts``: its steps as written.

    ``means``: steps may be means alone (those that the plan is written for are protected): one that a new step makes
    void is rather left out, and new steps stand beside those about the same things.
    """

    def __init__(
        self,
        checker: Checker,
        steps: Sequence[GroundAction | IllFormed],
        texts: Sequence[str],
        means: bool = False,
    ) -> None:
        self.means = means
        self.engine = checker.engine
        self.steps = steps
        self.texts = texts
        self._readers = self._find_readers()
        played, self.original = self._in_play(list(steps), FORCE)
        self._played: dict[int, list[frozenset[tuple[int, int]]]] = {}
        for part, objects in played:
            self._played.setdefault(part, []).append(objects)

    def sorted(self, found: list[Alignment]) -> list[Alignment]:
        """The repairs in the documented order."""
        return sorted(found, key=self._look)

    def _look(self, aligned: Alignment) -> _Look:
        log: list[list[StateChange]] = []
        play, state = self._in_play(aligned.steps, HALT, log)
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
        everywhere = set.intersection(*[set(step.objects) for step in aligned.steps]) if aligned.steps else set()
        voids = _voids(aligned, log, everywhere) if self.means else frozenset()
        apart = _apart(aligned, voids, everywhere) if self.means else 0
        return _Look(woken, self._slips(aligned), len(voids), different, kinds, apart, places, text)

    def _slips(self, aligned: Alignment) -> int:
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

    def _in_play(
        self,
        steps: Sequence[GroundAction | IllFormed],
        reading: str,
        log: list[list[StateChange]] | None = None,
    ) -> tuple[set[InPlay], State]:
        """The rule instances that the steps of a plan bring into play, and its final state.

        A rule about steps comes into play where a step matches, any other where a fact that it reads changes: each time
        for all instances that agree with the objects of that step or fact. ``log`` gets what each
        step changes.
        """
        found: set[InPlay] = set()

        def note(index: int, code: int) -> None:
            for part, pattern in self._readers.get(index, ()):
                objects = pattern.key(code)
                if objects is not None:
                    found.add((part, frozenset(zip(pattern.parameters, objects, strict=True))))

        def observe(_run: Replay, number: int, changes: list[StateChange]) -> None:
            step = steps[number - 1]
            action_fact = self.engine.action_fact("start", step) if isinstance(step, GroundAction) else None
            if action_fact is not None:
                note(*action_fact)
            for index, code, _ in changes:
                note(index, code)
            if log is not None:
                log.append(list(changes))

        run = Replay(self.engine, reading, observer=observe)
        run.run_steps(steps)
        return found, run.state

    def _find_readers(self) -> dict[int, list[tuple[int, ReadPattern]]]:
        out: dict[int, list[tuple[int, ReadPattern]]] = {}
        for number, part in enumerate(self.engine.rule_set.parts):
            condition = part.body if part.step is None else part.step
            for pattern in compile_patterns(self.engine.emitter, condition, part.parameters):
                out.setdefault(pattern.predicate, []).append((number, pattern))
        return out


def _apart(aligned: Alignment, voids: frozenset[int], everywhere: set[int]) -> int:
    """How far inserted steps are from the kept ones about the same things, in steps.

    Those that take back what was done (``voids``) are rather late: a tap that is shut at once gave no water.
    """
    things = [set(step.objects) - everywhere for step in aligned.steps]
    kept = [place for place, origin in enumerate(aligned.origin) if origin]
    far = 0
    for place, origin in enumerate(aligned.origin):
        if not origin and place not in voids:
            far += min([abs(place - other) for other in kept if things[place] & things[other]], default=len(things))
    return far


def _voids(aligned: Alignment, log: list[list[StateChange]], everywhere: set[int]) -> frozenset[int]:
    """The places of new steps that take away all that a kept step brought about, before a step about the same things.

    So the kept step is for nothing. ``everywhere``: what all steps are about.
    """
    made = [{(index, code) for index, code, what in changes if what is True} for changes in log]
    lost = [{(index, code) for index, code, what in changes if what is False} for changes in log]
    out: set[int] = set()
    for place, step in enumerate(aligned.steps[: len(log)]):
        things = set(step.objects) - everywhere
        if aligned.origin[place] or not things:
            continue
        for other in reversed(range(place)):
            if things & set(aligned.steps[other].objects):
                if aligned.origin[other] and made[other] and made[other] <= lost[place]:
                    out.add(place)
                break
    return frozenset(out)


def _distance(written: str, replaced: str) -> int:
    old, new = written.strip("()").split(), replaced.strip("()").split()
    differing = sum([x != y for x, y in zip(old[1:], new[1:], strict=False)])
    return 2 * (old[:1] != new[:1]) + differing + abs(len(old) - len(new))
