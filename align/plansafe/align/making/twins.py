"""Safe twins of an unsafe plan: as many of each action, with another thing or in another order.

What differs between twins is what matters: with a base plan as partner, "longer", or "more ``open``", would be learnt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from random import Random

from plansafe.align.making.walks import Judged, Steps, Walks, sensible
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction

THINGS = 3
"""Things in a plan that are exchanged for another."""
OTHERS = 30
"""Other things that are tried in place of one: most cannot be used so, which their first step shows."""
MOVES = 14
"""Steps that are tried at another place."""
ENOUGH = 3


class Twins:
    """Looks for safe twins of unsafe plans of one task."""

    def __init__(self, walks: Walks, random: Random) -> None:
        self.walks = walks
        self.random = random
        self._task = walks.engine.task

    def of(self, plan: Judged, base: Steps) -> list[Judged]:
        """Safe twins, at most ``ENOUGH``. What the plan has beside ``base`` is changed, or all if it has nothing."""
        path = self.walks.path(plan.steps)
        if len(path) <= len(plan.steps):
            return []
        own = [at for at, step in enumerate(plan.steps) if step not in base] or list(range(len(plan.steps)))
        out: list[Judged] = []
        for steps in (*self._with_others(plan.steps, own), *self._moved(plan.steps, own)):
            found = self._judged(plan.steps, steps, path)
            if found is not None and found.safe:
                out.append(found)
                if len(out) >= ENOUGH:
                    break
        return out

    def _judged(self, plan: Steps, steps: Steps, path: Sequence[Execution]) -> Judged | None:
        same = next((at for at, (one, other) in enumerate(zip(steps, plan, strict=True)) if one != other), len(plan))
        if same == len(plan) or not self.walks.possible(steps, reaching=True):
            return None
        return self.walks.judge(steps, path[same], same)

    def _with_others(self, plan: Steps, own: Sequence[int]) -> Iterator[Steps]:
        everywhere = frozenset.intersection(*[frozenset(step.objects) for step in plan])
        things = sorted({number for at in own for number in plan[at].objects} - everywhere)
        for gone in self.random.sample(things, min(THINGS, len(things))):
            kinds = [
                step.action.parameters[place].domain
                for at in own
                for step in (plan[at],)
                for place, number in enumerate(step.objects)
                if number == gone
            ]
            fit = frozenset.intersection(*[self._task.domain_sets[kind] for kind in kinds]) - everywhere - {gone}
            others = sorted(fit)
            for other in self.random.sample(others, min(OTHERS, len(others))):
                steps = _exchanged(plan, own, gone, other)
                if steps is not None:
                    yield steps

    def _moved(self, plan: Steps, own: Sequence[int]) -> Iterator[Steps]:
        for _ in range(MOVES):
            at, to = self.random.choice(own), self.random.randrange(len(plan))
            rest = plan[:at] + plan[at + 1 :]
            yield (*rest[:to], plan[at], *rest[to:])


def _exchanged(plan: Steps, places: Collection[int], gone: int, other: int) -> Steps | None:
    steps = [
        GroundAction(step.action, tuple([other if number == gone else number for number in step.objects]))
        if at in places
        else step
        for at, step in enumerate(plan)
    ]
    return tuple(steps) if all([sensible(steps[at]) for at in places]) else None
