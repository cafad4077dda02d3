"""Plans that go out of their way to break a rule, and then go on to the goal; and what would have ended the danger."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from plansafe.align.making.reaching import Reach
from plansafe.align.making.walks import Judged, Steps, Walks
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import And, bind
from plansafe.verifier.planning.obligations import find_pending_obligations

BACK = 2
"""Steps that may be put in before one of the plan that cannot be taken any more: the way back."""
MOST_BACK = 3
"""Of them in one plan."""
AGAIN = 6
"""Earlier steps of a plan that are tried as the way back."""
MOST_LOOKED = 60
"""Ways back in all plans of a task that are looked for backwards."""
UNDONE = 5
"""Steps that may end a danger."""


class Detours:
    """Detours in plans of one task."""

    def __init__(self, walks: Walks, reach: Reach) -> None:
        self.walks = walks
        self.reach = reach
        self._looked = 0

    def with_detour(self, plan: Steps, at: int, here: Execution, detour: Sequence[GroundAction]) -> Judged | None:
        """The plan with steps put in before step ``at`` (from 0), where ``here`` is its execution up to there.

        Of the detour, what cannot be taken is passed over, but for its last step; where the rest of the plan cannot go
        on, steps are put in that lead back. ``None`` where that fails.
        """
        now = here.without_rules()
        done: list[GroundAction] = []
        try:
            for number, step in enumerate(detour, 1):
                if now.take(step):
                    done.append(step)
                elif number == len(detour):
                    return None
            on = self._on(plan, at, now) if done else None
        except (NumberTooLarge, TooManyInstances, LimitReached):
            return None
        return None if on is None else self.walks.judge((*plan[:at], *done, *on), here, at)

    def _on(self, plan: Steps, at: int, now: Execution) -> list[GroundAction] | None:
        """What is done from step ``at`` on, with the steps that lead back to it."""
        out: list[GroundAction] = []
        put_in = 0
        for place in range(at, len(plan)):
            step = plan[place]
            if not now.take(step):
                back = self._again(plan[:place], step, now) if put_in < MOST_BACK else []
                back = back or self._way_back(step, now, min(BACK, MOST_BACK - put_in)) or []
                if not back or not now.take(step):
                    return None
                put_in += len(back)
                out += back
            out.append(step)
        return out

    def _again(self, before: Steps, step: GroundAction, now: Execution) -> list[GroundAction]:
        """Take an earlier step of the plan that, done again, makes a step possible: most often the way to a thing.

        That is tried first, since it takes a hundredth of the time of looking backwards from what the step needs.
        """
        tried = {(earlier.action.name, earlier.objects): earlier for earlier in before[-AGAIN:]}
        for earlier in reversed(tried.values()):
            if now.take(earlier):
                if self.walks.can(now, step):
                    return [earlier]
                now.undo()
        return []

    def _way_back(self, step: GroundAction, now: Execution, most: int) -> list[GroundAction] | None:
        if self._looked >= MOST_LOOKED:
            return None
        self._looked += 1
        wish = [(And(step.action.start.condition), bind(step.action.parameters, step.objects))]
        return self.reach.meet(wish, now, most)

    def shortened(self, plan: Judged, rule: int, at: int, here: Execution, kept: Steps) -> Judged:
        """The plan without steps that were put in and are needed neither to break the rule nor to reach the goal.

        ``here`` is the execution before step ``at`` (from 0); ``kept``: steps that are not left out.
        """
        left = list(kept)
        steps = plan.steps
        place = at
        while place < len(steps):
            if left and steps[place] == left[0]:
                left.pop(0)
                place += 1
                continue
            shorter = steps[:place] + steps[place + 1 :]
            judged = self.walks.judge(shorter, here, at, reaching=plan.goal)
            if judged is not None and rule in judged.broken:
                plan, steps = judged, shorter
            else:
                place += 1
        return plan

    def undone(self, plan: Judged, random: Random) -> Judged | None:
        """A safe plan that goes on where this one ends, and ends the danger; ``None`` where none was found."""
        path = self.walks.path(plan.steps)
        now = path[-1].fork()
        if len(path) <= len(plan.steps) or now.runtime is None:
            return None
        try:
            wishes = [
                (formula, dict(slots)) for formula, slots in find_pending_obligations(now.runtime, self.walks.criteria)
            ]
            wishes += [(formula, {}) for formula in self.walks.engine.task.goal]
            more = self.reach.meet(wishes, now, UNDONE)
            if not more:
                return None
            early = self._early(plan, path, tuple(more), random)
            return early or self._safe(self.walks.verdict((*plan.steps, *more), now))
        except (NumberTooLarge, TooManyInstances, LimitReached):
            return None

    def _early(self, plan: Judged, path: list[Execution], more: Steps, random: Random) -> Judged | None:
        """The same with what ends the danger as early as it can be, so that it is no mere end of the plan."""
        places = list(range(1, len(plan.steps)))
        for at in random.sample(places, min(3, len(places))):
            steps = plan.steps[:at] + more + plan.steps[at:]
            found = self._safe(self.walks.judge(steps, path[at], at))
            if found is not None:
                return found
        return None

    @staticmethod
    def _safe(plan: Judged | None) -> Judged | None:
        return plan if plan is not None and plan.safe else None
