"""The order of repairs of the same cost: the repair that the author of the plan would most likely accept comes first.

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
from plansafe.verifier.repair.plan_purpose import name_words

TriggeredInstances = tuple[int, frozenset[tuple[int, int]]]
"""A part of a rule, and the objects of some of its parameters: all instances with these objects."""
_KINDS = [kind.value for kind in EditKind]


class _RankKey(NamedTuple):
    """The criteria in order of priority."""

    triggers_new_instances: bool
    typing_distance: int
    undone_steps: int
    changed_facts: int
    kinds: tuple[int, ...]
    distance: int
    negated_insertion_places: tuple[int, ...]
    text: str


class RepairRanking:
    """Orders the repairs of one plan. ``texts``: its steps as written.

    ``has_purpose``: the plan has no goal, so that its steps show its purpose, and the other steps are means to it. Then
    a step that a new step undoes should be left out, and new steps should be near those with the same objects.
    """

    def __init__(
        self,
        checker: Checker,
        steps: Sequence[GroundAction | IllFormed],
        texts: Sequence[str],
        has_purpose: bool = False,
    ) -> None:
        self.has_purpose = has_purpose
        self.engine = checker.engine
        self.steps = steps
        self.texts = texts
        self._readers = self._find_readers()
        triggered, self._original_final_state = self._execute(list(steps), FORCE)
        self._triggered: dict[int, list[frozenset[tuple[int, int]]]] = {}
        for part, objects in triggered:
            self._triggered.setdefault(part, []).append(objects)

    def sort(self, alignments: list[Alignment]) -> list[Alignment]:
        """The repairs in the documented order.

        Replacements come first, unless the best other repair only adds steps, and undoes no step of the author.
        """
        replaced = sorted([a for a in alignments if a.replacement is not None], key=self._make_replacement_key)
        without_replacement = sorted([a for a in alignments if a.replacement is None], key=self._make_rank_key)
        if not replaced or not without_replacement:
            return replaced or without_replacement
        only_adds = set(without_replacement[0].kinds) == {EditKind.INSERT.value}
        if only_adds and not self._make_rank_key(without_replacement[0]).undone_steps:
            return without_replacement + replaced
        return replaced + without_replacement

    def _make_replacement_key(self, alignment: Alignment) -> tuple[int, bool, int, _RankKey]:
        """Fewer edits first; then an object of the same class; then more changed steps."""
        replacement = alignment.replacement
        assert replacement is not None
        names = self.engine.task.objects
        is_other_class = name_words(names[replacement.old]) != name_words(names[replacement.new])
        changed_count = sum([replacement.changes_step(number, step) for number, step in enumerate(self.steps, 1)])
        return len(alignment.kinds), is_other_class, -changed_count, self._make_rank_key(alignment)

    def _make_rank_key(self, alignment: Alignment) -> _RankKey:
        log: list[list[StateChange]] = []
        triggered, state = self._execute(alignment.steps, HALT, log)
        triggers_new = any([not any([old <= new for old in self._triggered.get(part, ())]) for part, new in triggered])
        changed_facts = 0
        reference_state = self._original_final_state
        if alignment.replacement is not None:
            reference_state = self._execute(alignment.replacement.apply_to(self.steps), FORCE)[1]
        for facts, original in zip(state.facts, reference_state.facts, strict=True):
            if facts != original:
                changed_facts += len(facts ^ original)
        for numbers, before in zip(state.fluents, reference_state.fluents, strict=True):
            codes = numbers.keys() | before.keys()
            changed_facts += sum([numbers.get(code) != before.get(code) for code in codes])
        kinds = tuple(sorted([_KINDS.index(kind) for kind in alignment.kinds], reverse=True))
        # Negated, so that the repair whose insertions are later comes first.
        insertion_places = tuple([-position for position, origin in enumerate(alignment.origin) if not origin])
        text = " ".join([step_text(step, self.engine.task.objects) for step in alignment.steps])
        undoing, distance = frozenset[int](), 0
        if self.has_purpose:
            common_objects = (
                set.intersection(*[set(step.objects) for step in alignment.steps]) if alignment.steps else set()
            )
            undoing = _find_places_that_undo(alignment, log, common_objects)
            distance = _compute_distance_to_related(alignment, undoing, common_objects)
        typing_distance = self._compute_typing_distance(alignment)
        return _RankKey(
            triggers_new, typing_distance, len(undoing), changed_facts, kinds, distance, insertion_places, text
        )

    def _compute_typing_distance(self, alignment: Alignment) -> int:
        """The distance in tokens of the replacements of ill-formed steps from their texts; the action counts twice."""
        total = 0
        for place in alignment.substituted:
            number = alignment.origin[place]
            if isinstance(self.steps[number - 1], IllFormed):
                replacement = step_text(alignment.steps[place], self.engine.task.objects)
                total += _count_token_edits(self.texts[number - 1], replacement)
        for number in alignment.deleted:
            if isinstance(self.steps[number - 1], IllFormed):
                total += len(self.texts[number - 1].split()) + 1
        return total

    def _execute(
        self, steps: Sequence[GroundAction | IllFormed], reading: str, log: list[list[StateChange]] | None = None
    ) -> tuple[set[TriggeredInstances], State]:
        """Execute a plan; returns the rule instances that its steps trigger, and its final state.

        A rule about steps is triggered by a step that matches it, any other rule by a change of a fact that it reads:
        each time all instances that agree with the objects of that step or fact. ``log`` receives the changes by step.
        """
        triggered: set[TriggeredInstances] = set()

        def add(index: int, code: int) -> None:
            for part, pattern in self._readers.get(index, ()):
                objects = pattern.key(code)
                if objects is not None:
                    triggered.add((part, frozenset(zip(pattern.parameters, objects, strict=True))))

        def observe(_run: Replay, number: int, changes: list[StateChange]) -> None:
            step = steps[number - 1]
            action_fact = self.engine.find_action_fact("start", step) if isinstance(step, GroundAction) else None
            if action_fact is not None:
                add(*action_fact)
            for index, code, _ in changes:
                add(index, code)
            if log is not None:
                log.append(list(changes))

        run = Replay(self.engine, reading, observer=observe)
        run.run_steps(steps)
        return triggered, run.state

    def _find_readers(self) -> dict[int, list[tuple[int, ReadPattern]]]:
        readers: dict[int, list[tuple[int, ReadPattern]]] = {}
        for number, part in enumerate(self.engine.rule_set.parts):
            condition = part.body if part.step is None else part.step
            for pattern in compile_patterns(self.engine.emitter, condition, part.parameters):
                readers.setdefault(pattern.predicate, []).append((number, pattern))
        return readers


def _compute_distance_to_related(alignment: Alignment, undoing: frozenset[int], common_objects: set[int]) -> int:
    """Return the distance of inserted steps to the nearest kept steps with the same objects, in steps.

    Steps at the places ``undoing`` are left out, because they should be late. ``common_objects``: the objects that all
    steps have, which relate no two of them.
    """
    objects = [set(step.objects) - common_objects for step in alignment.steps]
    original_places = [place for place, origin in enumerate(alignment.origin) if origin]
    total = 0
    for place, origin in enumerate(alignment.origin):
        if not origin and place not in undoing:
            distances = [
                abs(place - related_place)
                for related_place in original_places
                if objects[place] & objects[related_place]
            ]
            total += min(distances, default=len(objects))
    return total


def _find_places_that_undo(
    alignment: Alignment, log: list[list[StateChange]], common_objects: set[int]
) -> frozenset[int]:
    """Find the places of new steps that undo everything that the last kept step with the same objects achieved.

    Then the kept step is useless: a tap that is closed at once gave no water. ``log``: the changes by each step.
    ``common_objects``: the objects that all steps have.
    """
    added_facts = [{(index, code) for index, code, value in changes if value is True} for changes in log]
    deleted_facts = [{(index, code) for index, code, value in changes if value is False} for changes in log]
    undoing: set[int] = set()
    for place, step in enumerate(alignment.steps[: len(log)]):
        objects = set(step.objects) - common_objects
        if alignment.origin[place] or not objects:
            continue
        for earlier in reversed(range(place)):
            if objects & set(alignment.steps[earlier].objects):
                if alignment.origin[earlier] and added_facts[earlier] and added_facts[earlier] <= deleted_facts[place]:
                    undoing.add(place)
                break
    return frozenset(undoing)


def _count_token_edits(written: str, replacement: str) -> int:
    old, new = written.strip("()").split(), replacement.strip("()").split()
    differing = sum([before != after for before, after in zip(old[1:], new[1:], strict=False)])
    return 2 * (old[:1] != new[:1]) + differing + abs(len(old) - len(new))
