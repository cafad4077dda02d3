"""Safe twins of an unsafe plan: as many of each action, with another thing or in another order.

What differs between twins is what matters: with a base plan as partner, "longer", or "more ``open``", would be learnt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from random import Random

from plansafe.align.making.usable import Usable
from plansafe.align.making.walks import Judged, Steps, Walks, sensible
from plansafe.verifier.execution.steps import GroundAction

THINGS = 3
"""Things in a plan that are exchanged for another."""
OUTSIDE = 30
"""Other things that are tried in place of one that the rule speaks of, and that it does not speak of."""
INSIDE = 8
"""Others that are tried: such as the rule speaks of, too, or in place of what it does not speak of."""
MOVES = 14
"""Steps that are tried at another place."""
ENOUGH = 3


class Twins:
    """Looks for safe twins of unsafe plans of one task."""

    def __init__(self, walks: Walks, random: Random, usable: Usable) -> None:
        self.walks = walks
        self._usable = usable
        self.random = random
        self._task = walks.engine.task

    def of(self, plan: Judged, base: Steps, rule: int) -> list[Judged]:
        """Safe twins, at most ``ENOUGH``, of a plan that breaks a rule.

        What the plan has beside ``base`` is changed, or all if it has nothing. Things that the rule forbids come first,
        and are exchanged for such as it does not speak of.
        """
        own = [at for at, step in enumerate(plan.steps) if step not in base] or list(range(len(plan.steps)))
        out: list[Judged] = []
        for steps in (*self._with_others(plan.steps, own, self._spoken(plan, rule)), *self._moved(plan.steps, own)):
            found = self.walks.judge(steps, safe_behind=own[-1] + 1) if steps != plan.steps else None
            if found is not None and found.safe:
                out.append(found)
                if len(out) >= ENOUGH:
                    break
        return out

    def _spoken(self, plan: Judged, rule: int) -> dict[int, frozenset[int]]:
        """The things for which the rule is broken, each with all that it could be broken for in their place."""
        violation, sets = plan.broken[rule], self._task.domain_sets
        out: dict[int, frozenset[int]] = {}
        parameters = self.walks.engine.rule_set.parts[violation.part].parameters
        for number, parameter in zip(violation.binding, parameters, strict=True):
            fitting = sets[parameter.domain]
            out[number] = out.get(number, fitting) & fitting
        return out

    def _with_others(self, plan: Steps, own: Sequence[int], spoken: Mapping[int, frozenset[int]]) -> Iterator[Steps]:
        everywhere = frozenset.intersection(*[frozenset(step.objects) for step in plan])
        things = sorted({number for at in own for number in plan[at].objects} - everywhere)
        things = sorted(self.random.sample(things, len(things)), key=lambda number: number not in spoken)
        for gone in things[:THINGS]:
            able = [
                self._usable.at(step.action, place)
                for at in own
                for step in (plan[at],)
                for place, number in enumerate(step.objects)
                if number == gone
            ]
            fit = frozenset.intersection(*able) - everywhere - {gone}
            same = spoken.get(gone, fit)
            outside, inside = sorted(fit - same), sorted(fit & same)
            others = self.random.sample(outside, min(OUTSIDE, len(outside)))
            others += self.random.sample(inside, min(INSIDE, len(inside)))
            for other in others:
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
