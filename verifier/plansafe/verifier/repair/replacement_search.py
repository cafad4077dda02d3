"""The search for repairs that replace an object by another one, alone or together with edits (docs/repair.md)."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.repair.limited_searches import LimitedSearches
from plansafe.verifier.repair.model import RepairOptions
from plansafe.verifier.repair.replacements import Replacement
from plansafe.verifier.repair.verification import RepairVerifier

_MIN_SEARCH_SHARE = 0.1
"""The least share of the remaining time and work for the search after one replacement."""


class ReplacementRepairs(NamedTuple):
    """Repairs of one cost with a replacement; ``is_complete``: all of this cost; and a lower bound of the cost."""

    alignments: list[Alignment]
    cost: Number
    is_complete: bool
    bound: Number


class ReplacementSearch:
    """Searches for repairs with one of the given replacements in a plan with these steps.

    ``sufficient_replacements``: those that repair the plan without further edits, after :meth:`try_replacements`.
    """

    def __init__(
        self,
        searches: LimitedSearches,
        verifier: RepairVerifier,
        steps: Sequence[GroundAction | IllFormed],
        replacements: Sequence[Replacement],
        options: RepairOptions,
        deadline: float | None,
    ) -> None:
        self._searches = searches
        self._verifier = verifier
        self._steps = steps
        self._options = options
        self._deadline = deadline
        self._cost = options.weights.replace
        is_too_expensive = options.max_cost is not None and self._cost > options.max_cost
        self.replacements = [] if is_too_expensive else replacements
        self.sufficient_replacements: list[Alignment] = []
        self._has_untried_replacements = False

    def try_replacements(self) -> None:
        """Find the replacements that repair the plan without further edits."""
        for replacement in self.replacements:
            if self._deadline is not None and monotonic() > self._deadline:
                self._has_untried_replacements = True
                break
            steps = [step for step in replacement.apply_to(self._steps) if isinstance(step, GroundAction)]
            if len(steps) == len(self._steps) and self._verifier.is_safe(tuple(steps)):
                origin = tuple(range(1, len(steps) + 1))
                alignment = Alignment(tuple(steps), origin, frozenset(), frozenset(), (), replacement)
                self.sufficient_replacements.append(alignment)

    def find_repairs(self, edit_repair_cost: Number | None) -> ReplacementRepairs:
        """Find the repairs with a replacement that cost no more than ``edit_repair_cost``, if it is given.

        ``edit_repair_cost``: the cost of the repairs by edits alone; ``None`` if there are none.
        """
        is_complete = not self._has_untried_replacements
        if self.sufficient_replacements:
            return ReplacementRepairs(self.sufficient_replacements, self._cost, is_complete, self._cost)
        cost_with_edit = self._cost + min(self._options.weights.step_edit_costs)
        if edit_repair_cost is None:
            return self._search_edits(self._choose_max_edit_cost())
        if edit_repair_cost >= cost_with_edit:
            return self._search_edits(edit_repair_cost - self._cost)
        return ReplacementRepairs([], self._cost, is_complete, cost_with_edit if is_complete else self._cost)

    def _choose_max_edit_cost(self) -> Number:
        """Return the rest of the maximum cost; without a maximum, the cost of any two edits."""
        if self._options.max_cost is not None:
            return self._options.max_cost - self._cost
        return 2 * max(self._options.weights.step_edit_costs)

    def _search_edits(self, max_edit_cost: Number) -> ReplacementRepairs:
        """Search for repairs with a replacement and further edits that cost at most ``max_edit_cost``."""
        alignments: list[Alignment] = []
        is_complete, bound = True, self._cost + max_edit_cost
        least_edit_cost = max_edit_cost
        count = len(self.replacements)
        for number, replacement in enumerate(self.replacements):
            if self._deadline is not None and monotonic() > self._deadline:
                is_complete, bound = False, self._cost
                break
            search = self._searches.create(replacement.apply_to(self._steps))
            try:
                self._searches.set_limits(search, max(_MIN_SEARCH_SHARE, 1 / (count - number)))
                candidates = self._searches.search_rising_costs(search, least_edit_cost)
            except LimitReached:
                candidates = self._searches.list_candidates_so_far(search)
                bound = min(bound, self._cost + search.proved_bound)
            is_complete &= candidates.is_complete
            for alignment in candidates.alignments:
                if not self._keeps_replacement(alignment, replacement):
                    continue
                edit_cost = self._options.weights.compute_cost(alignment.kinds)
                if edit_cost < least_edit_cost or not alignments:
                    alignments, least_edit_cost = [], edit_cost
                alignments.append(alignment._replace(replacement=replacement))
        cost = self._cost + least_edit_cost
        return ReplacementRepairs(alignments, cost, is_complete, min(bound, cost))

    def _keeps_replacement(self, alignment: Alignment, replacement: Replacement) -> bool:
        """Whether the new object is in a step of the repaired plan that comes from the original plan."""
        return any(
            [
                origin > 0
                and place not in alignment.substituted
                and replacement.changes_step(origin, self._steps[origin - 1])
                for place, origin in enumerate(alignment.origin)
            ]
        )
