"""The edits of repairs, each with its reason: the purpose of a new step, or the problem of the original step."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.purpose import NotCovered, Support, find_supports
from plansafe.verifier.execution.replay import HALT, Replay
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.model.printing import format_unmet_literal
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.repair.model import Edit, EditKind
from plansafe.verifier.rules.model import shorten_variable_names
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria

_MAX_SUPPORTS = 2
"""Supports that a reason names."""
_ALWAYS_EXPLAINED = 2
"""Repairs whose edits are always explained."""
_MAX_EXPLAINED_STEPS = 400
"""Steps of all repairs whose edits are explained, about."""
_MAX_EXPLAINED_DELETIONS = 50
"""Deletions of a repair that are explained: each takes a replay of the plan with the step."""
_MAX_TIES = 500
"""Tied repairs that are compared to find the range of an edit's position."""


class EditDescriber:
    """Describes the edits of the repairs of one plan; ``texts``: its steps as written."""

    def __init__(
        self,
        engine: Engine,
        original: Sequence[GroundAction | IllFormed],
        texts: Sequence[str],
        criteria: VerdictCriteria,
    ) -> None:
        self.engine = engine
        self.criteria = criteria
        self.objects = engine.task.objects
        self.original = original
        self.texts = texts
        self._edits_by_id: dict[int, tuple[Alignment, tuple[Edit, ...]]] = {}
        """The alignments described since :meth:`compare_ties`, by identity, and their edits: a diagnosis asks again."""
        self._described_count = 0
        self._places_by_key: dict[tuple[object, ...], set[int]] = {}

    def compare_ties(self, ties: Sequence[Alignment]) -> None:
        """Find the places of each inserted or moved step among repairs that are otherwise the same."""
        self._edits_by_id = {}
        self._places_by_key = {}
        for alignment in ties[:_MAX_TIES]:
            for place, origin in enumerate(alignment.origin):
                if not origin or place in alignment.moved:
                    self._places_by_key.setdefault(_make_key_without_place(alignment, place), set()).add(place)

    def describe(self, alignment: Alignment) -> tuple[Edit, ...]:
        """Return the edits of an alignment in order of places, deletions last; with reasons for the first repairs."""
        if id(alignment) in self._edits_by_id:
            _, known_edits = self._edits_by_id[id(alignment)]
            return known_edits
        edits = []
        gives_reasons = self._described_count < _ALWAYS_EXPLAINED or (
            len(alignment.steps) * self._described_count < _MAX_EXPLAINED_STEPS
        )
        self._described_count += 1
        for place, (origin, step) in enumerate(zip(alignment.origin, alignment.steps, strict=True)):
            text = step_text(step, self.objects)
            if not origin:
                reason = self._describe_purpose(alignment, place) if gives_reasons else ""
                first, last = self._find_place_range(alignment, place)
                edits.append(Edit(EditKind.INSERT, 0, place + 1, "", text, reason, first, last))
            elif place in alignment.substituted:
                reason = self._explain_substitution(alignment, place) if gives_reasons else ""
                edits.append(Edit(EditKind.SUBSTITUTE, origin, place + 1, self.texts[origin - 1], text, reason))
            elif place in alignment.moved:
                reason = self._explain_move(alignment, place) if gives_reasons else ""
                first, last = self._find_place_range(alignment, place)
                edits.append(Edit(EditKind.MOVE, origin, place + 1, text, text, reason, first, last))
            elif _is_replaced(alignment, origin, self.original):
                is_first = all([edit.kind is not EditKind.REPLACE for edit in edits])
                reason = self._explain_replacement(alignment, place, is_first and gives_reasons)
                edits.append(Edit(EditKind.REPLACE, origin, place + 1, self.texts[origin - 1], text, reason))
        for count, number in enumerate(alignment.deleted):
            is_explained = gives_reasons and count < _MAX_EXPLAINED_DELETIONS
            reason = self._explain_deletion(alignment, number) if is_explained else ""
            edits.append(Edit(EditKind.DELETE, number, 0, self.texts[number - 1], "", reason))
        self._edits_by_id[id(alignment)] = alignment, tuple(edits)
        return tuple(edits)

    def _find_place_range(self, alignment: Alignment, place: int) -> tuple[int, int]:
        """The adjacent places (from 1) of a step in tied repairs; (0, 0) if there is only one."""
        places = self._places_by_key.get(_make_key_without_place(alignment, place), set())
        first = last = place
        while first - 1 in places:
            first -= 1
        while last + 1 in places:
            last += 1
        return (first + 1, last + 1) if first < last else (0, 0)

    def _describe_purpose(self, alignment: Alignment, place: int) -> str:
        """Return what the step at a place (from 0) of a repaired plan supports; empty if it supports nothing."""
        try:
            supports = find_supports(self.engine, alignment.steps, place + 1, self.criteria)
        except NotCovered:
            return ""

        def rank(support: Support) -> tuple[bool, bool, bool, int]:
            """Original steps first, then the goal, then rules, then new steps."""
            is_step = support.kind == "step"
            is_original = is_step and alignment.origin[support.step - 1] > 0
            return is_step and not is_original, not is_original, support.kind != "goal", support.step

        phrases: dict[str, None] = {}
        for support in sorted(supports, key=rank):
            text = support.text
            if support.kind == "step" and support.literal:
                text = f"gives {support.literal} to `{step_text(alignment.steps[support.step - 1], self.objects)}`"
            phrases[text] = None
        return " and ".join(list(phrases)[:_MAX_SUPPORTS])

    def _explain_deletion(self, alignment: Alignment, number: int) -> str:
        """Return the problem that an original step (from 1) causes in its place."""
        step = self.original[number - 1]
        if isinstance(step, IllFormed):
            return step.message
        place = _find_original_place(alignment.origin, alignment.moved, number)
        steps = [*alignment.steps[:place], step, *alignment.steps[place:]]
        return self._find_problem(steps, place) or "it is not needed"

    def _explain_move(self, alignment: Alignment, place: int) -> str:
        """Return the problem that a moved step causes at its original place, or else its purpose at the new place."""
        steps = [*alignment.steps[:place], *alignment.steps[place + 1 :]]
        origin = (*alignment.origin[:place], *alignment.origin[place + 1 :])
        moved_places = frozenset([position - (position > place) for position in alignment.moved if position != place])
        original_place = _find_original_place(origin, moved_places, alignment.origin[place])
        steps.insert(original_place, alignment.steps[place])
        problem = self._find_problem(steps, original_place)
        return f"at its old position {problem}" if problem else self._describe_purpose(alignment, place)

    def _explain_substitution(self, alignment: Alignment, place: int) -> str:
        """Return the problem of an ill-formed original step, and what the new step supports."""
        original = self.original[alignment.origin[place] - 1]
        purpose = self._describe_purpose(alignment, place)
        if isinstance(original, IllFormed):
            return f"{original.message}; the new step {purpose}" if purpose else original.message
        return purpose

    def _explain_replacement(self, alignment: Alignment, place: int, names_problem: bool) -> str:
        """Return the use that both objects have, and the problem with the original object."""
        replacement = alignment.replacement
        assert replacement is not None
        old, new = self.objects[replacement.old], self.objects[replacement.new]
        if not names_problem:
            return f"{new} instead of {old}"
        steps = list(alignment.steps)
        for position, origin in enumerate(alignment.origin):
            if position not in alignment.substituted and _is_replaced(alignment, origin, self.original):
                original = self.original[origin - 1]
                assert isinstance(original, GroundAction)
                steps[position] = original
        problem = self._find_problem(steps, place)
        reason = f"{new} instead of {old}, for the same use ({replacement.use})"
        return f"{reason}; with {old}, {problem}" if problem else reason

    def _find_problem(self, steps: Sequence[GroundAction], place: int) -> str:
        """Return the first problem of a plan, as a phrase about the step at ``place``; empty if the plan has none."""
        run = Replay(self.engine, HALT)
        run.run_steps(steps)
        outcome = run.finish(len(steps))
        task = self.engine.task
        if outcome.failures:
            failure = outcome.failures[0]
            reasons = outcome.unmet_literals.get(failure.step, ())
            texts = [format_unmet_literal(task, reason) for reason in reasons]
            cause = " and ".join(texts[:_MAX_SUPPORTS]) or "its effects cannot be computed"
            if failure.step - 1 == place:
                return f"it cannot be taken: {cause}"
            if failure.step - 1 < place:
                return f"it comes too late for `{step_text(steps[failure.step - 1], self.objects)}`: {cause}"
            return f"it makes `{step_text(steps[failure.step - 1], self.objects)}` impossible: {cause}"
        for violation in outcome.violations:
            if not self.engine.is_decisive(violation, self.criteria):
                continue
            part = self.engine.rule_set.parts[violation.part]
            rule = self.engine.rules[part.rule]
            names = shorten_variable_names([v.name for v in part.parameters])
            objects = [o for name, o in zip(names, task.names(violation.binding), strict=True) if name != "_"]
            if violation.step <= place and not violation.at_end:
                return f"it comes too late: before it, rule `{rule.name}` is violated"
            return f"it violates rule `{rule.name}`" + (f" for {', '.join(objects)}" if objects else "")
        if outcome.goal is not True:
            return "it makes the goal false"
        return ""


def _is_replaced(alignment: Alignment, origin: int, original: Sequence[GroundAction | IllFormed]) -> bool:
    """Whether an original step (from 1) has another object in a repaired plan."""
    replacement = alignment.replacement
    return replacement is not None and origin > 0 and replacement.changes_step(origin, original[origin - 1])


def _find_original_place(origin: tuple[int, ...], moved: frozenset[int], step: int) -> int:
    """Return the place of an original step among the steps that kept their order."""
    for place, number in enumerate(origin):
        if number > step and place not in moved:
            return place
    return len(origin)


def _make_key_without_place(alignment: Alignment, place: int) -> tuple[object, ...]:
    """Return a key of a repair that does not depend on the place of one of its steps."""
    other_steps = [*alignment.steps[:place], *alignment.steps[place + 1 :]]
    return (*[step.key for step in other_steps], alignment.steps[place].key, alignment.origin[place], *alignment.kinds)
