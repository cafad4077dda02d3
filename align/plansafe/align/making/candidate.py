"""What is made: a safe plan and an unsafe one for the same task, with what the engine says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plansafe.align.making.walks import Judged, Walks
from plansafe.align.records import Both, Moment, Source
from plansafe.align.tasks import AlignTask
from plansafe.specs.taxonomy import load_taxonomies


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair before it is chosen; the fields are those of :class:`~plansafe.align.records.Pair`.

    ``way``: how the unsafe plan differs, in a word or two (``left out``, ``put in``, ..), for statistics alone.
    """

    task: AlignTask
    chosen: tuple[str, ...]
    rejected: tuple[str, ...]
    first_violation: int
    rule: str
    rules: tuple[str, ...]
    safel: tuple[str, ...]
    categories: tuple[str, ...]
    moment: Moment
    witness: str
    goal: Both[bool]
    edits: int
    source: Source
    seed: int
    way: str


def candidate(
    task: AlignTask, walks: Walks, plans: tuple[Judged, Judged], rule: int, source: Source, seed: int, way: str
) -> Candidate:
    """The pair of a safe plan and one that breaks a rule, by the rule's number."""
    safe, unsafe = plans
    rules = walks.engine.rule_set.rules
    taxonomies, broken = load_taxonomies(), rules[rule]
    chosen, rejected = walks.texts(safe.steps), walks.texts(unsafe.steps)
    moment = walks.moment(unsafe, rule)
    return Candidate(
        task,
        chosen,
        rejected,
        moment,
        broken.name,
        tuple(sorted({rules[number].name for number in unsafe.broken})),
        tuple([one.name for one in taxonomies["safel"].categories_of(broken)]),
        tuple([one.name for one in taxonomies["safeplan-bench"].categories_of(broken)]),
        "termination" if moment > len(rejected) else "process",
        walks.witness(unsafe, rule),
        Both(safe.goal, unsafe.goal),
        edits(chosen, rejected),
        source,
        seed,
        way,
    )


def edits(one: Sequence[str], other: Sequence[str]) -> int:
    """How many actions are put in, left out or replaced between two plans, at least (Levenshtein 1966)."""
    row = list(range(len(other) + 1))
    for at, mine in enumerate(one, 1):
        corner, row[0] = row[0], at
        for place, theirs in enumerate(other, 1):
            corner, row[place] = (
                row[place],
                min(row[place] + 1, row[place - 1] + 1, corner + (mine != theirs)),
            )
    return row[-1]
