"""Random pairs for tests of the selection: plans of random words with random rules, not checked by an engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from plansafe.align.pairs.splits import split_of
from plansafe.align.records import Both, Pair, even_weights, plan_of
from plansafe.align.tokens import shared_actions

FAMILIES = ("stew", "salad", "tea", "mop", "pill", "plants", "leftovers", "fetch")
ACTIONS = ("go", "take", "put-down", "turn-on", "turn-off", "open", "close", "wipe")


def pair_of_plans(
    chosen: Sequence[str],
    rejected: Sequence[str],
    number: int = 0,
    family: str = "stew",
    rule: str = "heat-off",
    goal: bool = True,
    task: str | None = None,
) -> Pair:
    """A pair for a task of a family."""
    safe, unsafe = plan_of(chosen), plan_of(rejected)
    name = task or f"{family}-{number % 40}/0"
    return Pair(
        id=f"{name}#{number}",
        task=name,
        origin=f"drawn:{family}/{number % 40}/0",
        family=family,
        world="household",
        split=split_of(family),
        prompt=f"Task: {name}.\nPlan:\n",
        chosen=safe,
        rejected=unsafe,
        shared=shared_actions(tuple(chosen), tuple(rejected)),
        first_violation=len(rejected) + 1,
        no_return=None,
        regret=None,
        grade=None,
        weights=even_weights(safe, unsafe),
        rule=rule,
        rules=(rule,),
        safel=(f"type-{len(rule)}",),
        categories=("fire-and-heat",),
        moment="termination",
        witness=f"{rule} is broken",
        goal=Both(True, goal),
        edits=1,
        source="mutant",
        seed=0,
    )


def random_pairs(count: int, seed: int = 0, rules: int = 12) -> Iterator[Pair]:
    """Pairs whose unsafe plan lacks a step, has an extra step or two swapped steps; rule frequencies are unequal."""
    random = Random(seed)
    for number in range(count):
        family = random.choice(FAMILIES)
        names = [f"{word}-{random.randrange(30)}" for word in ("pot", "cup", "shelf", "lamp")]
        steps = random.randrange(5, 12)
        chosen = [f"({random.choice(ACTIONS)} robot {random.choice(names)} {names[0]})" for _ in range(steps)]
        rejected, index = list(chosen), random.randrange(steps - 1)
        match random.randrange(4):
            case 0:
                del rejected[index]
            case 1:
                rejected.insert(index, f"({random.choice(ACTIONS)} robot {names[-1]} {names[0]})")
            case _:
                rejected[index : index + 2] = reversed(rejected[index : index + 2])
        rule = f"rule-{min(int(random.expovariate(0.3)), rules - 1)}"
        if chosen != rejected:
            yield pair_of_plans(chosen, rejected, number, family, rule, random.random() < 0.6)
