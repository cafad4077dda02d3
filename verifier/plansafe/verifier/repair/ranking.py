"""The order of repairs of the same cost: the repair that the author of the plan would most likely accept comes first.

docs/repair.md has the criteria; bench/results/repair-reading.md is a study of their results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.api import Checker
from plansafe.verifier.compile.triggers import ReadPattern, compile_read_patterns
from plansafe.verifier.execution.replay import FORCE, HALT, Replay
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.repair.model import EditKind
from plansafe.verifier.repair.plan_purpose import split_object_name

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


class _ExecutedPlan(NamedTuple):
    """The rule instances that the steps of a plan trigger, its final state, and the changes by each executed step."""

    triggered_instances: set[TriggeredInstances]
    final_state: State
    changes_by_step: list[list[StateChange]]


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
        self._patterns_by_subject = self._find_read_patterns()
        original = self._execute(steps, FORCE)
        self._original_final_state = original.final_state
        self._originally_triggered: dict[int, list[frozenset[tuple[int, int]]]] = {}
        for part, objects in original.triggered_instances:
            self._originally_triggered.setdefault(part, []).append(objects)

    def sort(self, alignments: list[Alignment]) -> list[Alignment]:
        """Return the repairs in the documented order.

        Replacements come first, unless the best other repair only adds steps, and undoes no step of the author.
        """
        with_replacement = sorted([a for a in alignments if a.replacement is not None], key=self._make_replacement_key)
        without_replacement = sorted([a for a in alignments if a.replacement is None], key=self._make_rank_key)
        if not with_replacement or not without_replacement:
            return with_replacement or without_replacement
        only_adds = set(without_replacement[0].kinds) == {EditKind.INSERT.value}
        if only_adds and not self._make_rank_key(without_replacement[0]).undone_steps:
            return without_replacement + with_replacement
        return with_replacement + without_replacement

    def _make_replacement_key(self, alignment: Alignment) -> tuple[int, bool, int, _RankKey]:
        """Fewer edits first; then an object of the same class; then more changed steps."""
        replacement = alignment.replacement
        assert replacement is not None
        names = self.engine.task.objects
        is_other_class = split_object_name(names[replacement.old]) != split_object_name(names[replacement.new])
        changed_count = sum([replacement.changes_step(number, step) for number, step in enumerate(self.steps, 1)])
        return len(alignment.kinds), is_other_class, -changed_count, self._make_rank_key(alignment)

    def _make_rank_key(self, alignment: Alignment) -> _RankKey:
        executed = self._execute(alignment.steps, HALT)
        reference_state = self._original_final_state
        if alignment.replacement is not None:
            reference_state = self._execute(alignment.replacement.apply_to(self.steps), FORCE).final_state
        undoing_places, distance = frozenset[int](), 0
        if self.has_purpose and alignment.steps:
            common_objects = set.intersection(*[set(step.objects) for step in alignment.steps])
            undoing_places = _find_undoing_places(alignment, executed.changes_by_step, common_objects)
            distance = _sum_distances_to_related_steps(alignment, undoing_places, common_objects)
        return _RankKey(
            triggers_new_instances=any(
                [self._is_newly_triggered(*instances) for instances in executed.triggered_instances]
            ),
            typing_distance=self._compute_typing_distance(alignment),
            undone_steps=len(undoing_places),
            changed_facts=_count_differences(executed.final_state, reference_state),
            kinds=tuple(sorted([_KINDS.index(kind) for kind in alignment.kinds], reverse=True)),
            distance=distance,
            # Negated, so that the repair whose insertions are later comes first.
            negated_insertion_places=tuple([-place for place, origin in enumerate(alignment.origin) if not origin]),
            text=" ".join([step_text(step, self.engine.task.objects) for step in alignment.steps]),
        )

    def _is_newly_triggered(self, part: int, objects: frozenset[tuple[int, int]]) -> bool:
        """Whether the original plan does not trigger these instances, nor a set of instances that contains them."""
        return not any([original <= objects for original in self._originally_triggered.get(part, ())])

    def _compute_typing_distance(self, alignment: Alignment) -> int:
        """Return how many tokens of ill-formed steps the repair changes; an action counts twice."""
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

    def _execute(self, steps: Sequence[GroundAction | IllFormed], reading: str) -> _ExecutedPlan:
        """Execute a plan, and find the rule instances that its steps trigger.

        A rule about steps is triggered by a step that matches it, any other rule by a change of a fact that it reads:
        each time all instances that agree with the objects of that step or fact.
        """
        triggered_instances: set[TriggeredInstances] = set()
        changes_by_step: list[list[StateChange]] = []

        def add_instances(subject: int, code: int) -> None:
            for part, pattern in self._patterns_by_subject.get(subject, ()):
                objects = pattern.key(code)
                if objects is not None:
                    triggered_instances.add((part, frozenset(zip(pattern.parameters, objects, strict=True))))

        def observe(_run: Replay, number: int, changes: list[StateChange]) -> None:
            step = steps[number - 1]
            action_fact = self.engine.find_action_fact("start", step) if isinstance(step, GroundAction) else None
            if action_fact is not None:
                add_instances(*action_fact)
            for subject, code, _ in changes:
                add_instances(subject, code)
            changes_by_step.append(list(changes))

        run = Replay(self.engine, reading, observer=observe)
        run.run_steps(steps)
        return _ExecutedPlan(triggered_instances, run.state, changes_by_step)

    def _find_read_patterns(self) -> dict[int, list[tuple[int, ReadPattern]]]:
        """Find the patterns of the facts that trigger a part of a rule, by predicate, each with its part."""
        patterns: dict[int, list[tuple[int, ReadPattern]]] = {}
        for number, part in enumerate(self.engine.rule_set.parts):
            condition = part.body if part.step is None else part.step
            for pattern in compile_read_patterns(self.engine.emitter, condition, part.parameters):
                patterns.setdefault(pattern.predicate, []).append((number, pattern))
        return patterns


def _count_differences(state: State, reference_state: State) -> int:
    """Count the facts and numbers that differ between two states."""
    count = 0
    for codes, reference_codes in zip(state.facts, reference_state.facts, strict=True):
        if codes != reference_codes:
            count += len(codes ^ reference_codes)
    for numbers, reference_numbers in zip(state.fluents, reference_state.fluents, strict=True):
        codes = numbers.keys() | reference_numbers.keys()
        count += sum([numbers.get(code) != reference_numbers.get(code) for code in codes])
    return count


def _sum_distances_to_related_steps(
    alignment: Alignment, undoing_places: frozenset[int], common_objects: set[int]
) -> int:
    """Return the distance of inserted steps to the nearest kept steps with the same objects, in steps.

    Steps at ``undoing_places`` are left out, because they should be late. ``common_objects``: the objects of all steps,
    which relate no two of them.
    """
    objects = [set(step.objects) - common_objects for step in alignment.steps]
    original_places = [place for place, origin in enumerate(alignment.origin) if origin]
    total = 0
    for place, origin in enumerate(alignment.origin):
        if not origin and place not in undoing_places:
            distances = [
                abs(place - related_place)
                for related_place in original_places
                if objects[place] & objects[related_place]
            ]
            total += min(distances, default=len(objects))
    return total


def _find_undoing_places(
    alignment: Alignment, changes_by_step: list[list[StateChange]], common_objects: set[int]
) -> frozenset[int]:
    """Find the places of new steps that undo everything that the last kept step with the same objects achieved.

    Then the kept step is useless: a tap that is closed at once gave no water. ``common_objects``: of all steps.
    """
    added_facts = [{(index, code) for index, code, value in changes if value is True} for changes in changes_by_step]
    deleted_facts = [{(index, code) for index, code, value in changes if value is False} for changes in changes_by_step]
    undoing_places: set[int] = set()
    for place, step in enumerate(alignment.steps[: len(changes_by_step)]):
        objects = set(step.objects) - common_objects
        if alignment.origin[place] or not objects:
            continue
        for earlier in reversed(range(place)):
            if objects & set(alignment.steps[earlier].objects):
                if alignment.origin[earlier] and added_facts[earlier] and added_facts[earlier] <= deleted_facts[place]:
                    undoing_places.add(place)
                break
    return frozenset(undoing_places)


def _count_token_edits(written: str, replacement: str) -> int:
    """Count the tokens in which two steps differ; the action counts twice."""
    old, new = written.strip("()").split(), replacement.strip("()").split()
    differing = sum([before != after for before, after in zip(old[1:], new[1:], strict=False)])
    return 2 * (old[:1] != new[:1]) + differing + abs(len(old) - len(new))
