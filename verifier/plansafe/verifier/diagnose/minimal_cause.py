"""The minimal cause of a finding: the fewest steps and initial facts that give it, whatever else is left out.

The definition, and why this one, is in docs/diagnose.md. A set of steps and initial facts is *sufficient* iff what was
found is still wrong in every world that keeps the set. So it must contain something of what each world in which nothing
is wrong has left out: a smallest sufficient set is a smallest hitting set of these. They are met one by one (implicit
hitting sets: Moreno-Centeno and Karp, Operations Research 61(2), 2013): take a smallest set that hits those met so far;
if some world that keeps it is not wrong, it is met, and grown as large as it stays so; else the set is the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from random import Random
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.plan_variants import (
    ABSENT,
    STEP,
    ConditionsAfterSteps,
    Element,
    PlanVariants,
    Variant,
    VariantQuestion,
    violation_question,
)
from plansafe.verifier.execution.purpose import NotCovered, ResolvedSteps, require_untimed
from plansafe.verifier.execution.replay import HALT, SKIP, Replay
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.nodes import And
from plansafe.verifier.reporting.report import Finding, FindingClass
from plansafe.verifier.rules.model import RulePart, shown_names

MAX_FREE = 12
"""Of at most so many elements that may or may not be left out, all combinations are tried."""
SAMPLES = 400
"""So many combinations are tried where there are more."""
LEAST_S = 2.0
"""Seconds that there are at least for making a set small when the time for the smallest is up."""


class Cause(NamedTuple):
    """Why something is wrong.

    ``steps`` (from 1) and ``facts`` of the initial state; both empty if it is wrong whatever the plan does.
    ``minimum``: it is proved that they are sufficient and that no fewer are. Otherwise they are enough in every world
    that was tried, and none of them can be left out.
    """

    steps: tuple[int, ...]
    facts: tuple[str, ...]
    minimum: bool
    text: str


def find_minimal_cause(checker: Checker, plan: Source, finding: Finding, *, time_limit_s: float = 2.0) -> Cause:
    """The minimal cause of a finding of a plan: of a violated rule, a failed precondition or an unmet goal.

    An ill-formed step is its own cause. Raises :class:`NotCovered` for timed plans, undecided rules, effects that
    cannot be computed, numbers too large, and findings that are not of this plan.
    """
    read = checker.read(plan)
    require_untimed(checker.engine, read.steps)
    if finding.finding_class is FindingClass.ILL_FORMED:
        return Cause((finding.step,), (), True, f"step {finding.step} is not a step of this domain")
    if read.timed is not None:
        raise NotCovered("the plan's steps have times")
    if read.is_open:
        raise NotCovered("the plan leaves the order of its steps open")
    worlds = _worlds(checker, read.steps, finding)
    found, minimum = _Search(worlds, time_limit_s).run()
    steps = tuple(sorted([number for index, number in found if index == STEP]))
    facts = tuple(sorted([checker.engine.task.fact_text(*fact) for fact in found if fact[0] != STEP]))
    return Cause(steps, facts, minimum, _text(checker, read.steps, finding, steps, facts, minimum))


# -- from a finding to a question -------------------------------------------------------------------------------------


def _worlds(checker: Checker, steps: ResolvedSteps, finding: Finding) -> PlanVariants:
    """The worlds of the finding's first reading, with the question that the finding answers."""
    engine = checker.engine
    run = Replay(engine, finding.readings[0])
    run.run_steps(steps)
    failed = {failure.step for failure in run.failures}
    last, happening = len(steps), steps
    if run.reading == HALT and failed:
        last = min(failed) - 1
    elif run.reading == SKIP:
        happening = [ABSENT if number in failed else step for number, step in enumerate(steps, 1)]
    asked: list[VariantQuestion] = []
    if finding.finding_class is FindingClass.UNMET_GOAL:
        asked = [ConditionsAfterSteps(((last, And(engine.task.goal), {}, (False, None)),))]
    elif finding.code == SC.PRECONDITION:
        step = steps[finding.step - 1]
        assert isinstance(step, GroundAction)
        binding = step.binding
        asked = [ConditionsAfterSteps(((finding.step - 1, And(step.action.start.condition), binding, (False, None)),))]
    elif finding.rule is not None:
        asked = _violations(checker, run, finding, last)
    if asked:
        worlds = PlanVariants(engine, happening, asked)
        if worlds.wrong(worlds.elements):
            return worlds
    raise NotCovered(f"no cause is known for this finding ({finding.code})")


def _violations(checker: Checker, run: Replay, finding: Finding, last: int) -> list[VariantQuestion]:
    """Of a violated rule: a question for each part that has the finding's instance, violated in this world or not."""
    engine = checker.engine
    letters, action_predicates = run.step_of_letter, frozenset(engine.action_predicates.values())
    for violation in run.outcome(last).violations:
        rule = checker.rules[engine.rule_set.parts[violation.part].rule]
        objects = _instance(checker, engine.rule_set.parts[violation.part], finding)
        found = rule.name, violation.binding, violation.step, violation.at_end
        if found == (finding.rule, objects, finding.step, finding.at_end):
            at = violation.letter if letters is None else letters[min(violation.letter, len(letters) - 1)]
            at = last if violation.at_end else at
            same = [(part, _instance(checker, part, finding)) for part in rule.parts]
            return [
                violation_question(rule, part, violation, own, at, last, action_predicates)
                for part, own in same
                if own is not None
            ]
    return []


def _instance(checker: Checker, part: RulePart, finding: Finding) -> tuple[int, ...] | None:
    """The objects of a part's parameters in a finding, if the finding names just these."""
    names = shown_names([v.name for v in part.parameters])
    known = dict(finding.binding)
    if sorted(names) != sorted(known):
        return None
    return tuple([checker.engine.task.object_index[known[name]] for name in names])


# -- the search -------------------------------------------------------------------------------------------------------


class _Search:
    """Smallest hitting sets of the worlds in which nothing is wrong, until one is sufficient."""

    def __init__(self, worlds: PlanVariants, time_limit_s: float) -> None:
        self.worlds = worlds
        self.seconds = time_limit_s
        self.deadline = monotonic() + time_limit_s
        self.random = Random(0)
        self._parts: list[PlanVariants] | None = None
        ordered = sorted(worlds.elements, key=lambda e: (e[0] != STEP, -e[1] if e[0] == STEP else 0, e))
        # Fewer elements first, then fewer facts, then later steps.
        self.cost = {e: (1 << 40) + ((e[0] != STEP) << 20) + rank for rank, e in enumerate(ordered)}

    def run(self) -> tuple[Variant, bool]:
        """A cause, and whether it is proved to be a minimum."""
        left_out: list[Variant] = []
        while monotonic() < self.deadline:
            candidate = find_smallest_hitting_set(left_out, self.cost)
            world, complete = self._harmless(candidate)
            if world is None:
                return candidate, complete
            left_out.append(self.worlds.elements - self._grown(world))
        return self._shrunk(), False

    def _harmless(self, kept: Variant) -> tuple[Variant | None, bool]:
        """A world that keeps a set and in which nothing is wrong; else whether all that matter were tried."""
        matter = self.worlds.relevant(kept)
        base = kept | (self.worlds.elements - matter)
        free = sorted(matter - kept, key=self.cost.__getitem__)
        complete = len(free) <= MAX_FREE
        if not complete and any([self._sure(conjunct, kept) for conjunct in self._conjuncts()]):
            return None, True
        for chosen in self._choices(free) if complete else self._samples(free):
            world = base | chosen
            if not self.worlds.wrong(world):
                return world, True
            if monotonic() > self.deadline:
                return None, False
        return None, complete

    def _conjuncts(self) -> list[PlanVariants]:
        if self._parts is None:
            self._parts = self.worlds.conjuncts()
        return self._parts

    def _sure(self, conjunct: PlanVariants, kept: Variant) -> bool:
        """Whether a conjunct fails in every world that keeps a set: then so does the conjunction."""
        kept &= conjunct.elements
        free = conjunct.relevant(kept) - kept
        if len(free) > MAX_FREE:
            return False
        base = kept | (conjunct.elements - conjunct.relevant(kept))
        for chosen in self._choices(sorted(free)):
            if not conjunct.wrong(base | chosen) or monotonic() > self.deadline:
                return False
        return True

    def _choices(self, free: list[Element]) -> Iterator[Variant]:
        """All subsets: the smallest and the largest first."""
        sizes = sorted(range(len(free) + 1), key=lambda size: min(size, len(free) - size))
        for size in sizes:
            yield from [frozenset(chosen) for chosen in combinations(free, size)]

    def _samples(self, free: list[Element]) -> Iterator[Variant]:
        """Nothing; all but one; and some at random, sparse and dense."""
        yield frozenset()
        every = frozenset(free)
        for element in free:  # one at a time: of a long plan, all together would fill the memory
            yield every - {element}
        for _ in range(SAMPLES):
            share = self.random.random()
            yield frozenset([element for element in free if self.random.random() < share])

    def _grown(self, world: Variant) -> Variant:
        """A largest world around one in which nothing is wrong that is still so; when time is up, any that is."""

        def grown(now: Variant, some: Variant) -> Variant | None:
            return None if self.worlds.wrong(now | some) else now | some

        order = sorted(self.worlds.elements - world, key=self.cost.__getitem__, reverse=True)
        return _gallop(world, order, grown, self.deadline)[0]

    def _shrunk(self) -> Variant:
        """When time is up: elements that are enough by themselves, and none of which can be left out.

        Raises :class:`NotCovered` where as much time again is not enough for that.
        """

        def shrunk(now: Variant, some: Variant) -> Variant | None:
            return now - some if self.worlds.wrong(now - some) else None

        order = sorted(self.worlds.elements, key=self.cost.__getitem__, reverse=True)
        until = monotonic() + max(self.seconds, LEAST_S)
        kept, whole = _gallop(self.worlds.elements, order, shrunk, until)
        if not whole:
            raise NotCovered("the time limit passed before one was found")
        return kept


def _gallop(
    now: Variant,
    order: Sequence[Element],
    changed: Callable[[Variant, Variant], Variant | None],
    until: float,
) -> tuple[Variant, bool]:
    """Change a set by elements in their order, as far as they fit; and whether there was time to ask about all.

    As long as elements fit, twice as many are tried at once, else half as many: where k of n do not fit, some k log n
    questions are asked instead of n. Where what fits together fits one by one, the result is that of one by one.
    """
    at, size = 0, 1
    while at < len(order):
        if monotonic() > until:
            return now, False
        some = frozenset(order[at : at + size])
        found = changed(now, some)
        if found is not None:
            now = found
            at += len(some)
            size *= 2
        elif len(some) == 1:
            at += 1
        else:
            size = len(some) // 2
    return now, True


def find_smallest_hitting_set(sets: Sequence[Variant], cost: Mapping[Element, int]) -> Variant:
    """A set of least cost with an element of each of the sets. Branch and bound; exponential in the worst case."""
    best: list[tuple[int, Variant]] = []

    def search(chosen: Variant, price: int, rest: list[Variant]) -> None:
        bound = 0
        apart: set[Element] = set()
        for one in rest:  # sets without common elements need an element each
            if apart.isdisjoint(one):
                bound += min([cost[element] for element in one])
                apart |= one
        if best and price + bound >= best[0][0]:
            return
        if not rest:
            best[:] = [(price, chosen)]
            return
        branch = min(rest, key=len)
        for element in sorted(branch, key=cost.__getitem__):
            search(chosen | {element}, price + cost[element], [one for one in rest if element not in one])

    search(frozenset(), 0, sorted(set(sets), key=len))
    return best[0][1]


# -- words ------------------------------------------------------------------------------------------------------------


def _text(
    checker: Checker,
    steps: ResolvedSteps,
    finding: Finding,
    chosen: tuple[int, ...],
    facts: tuple[str, ...],
    minimum: bool,
) -> str:
    objects = checker.engine.task.objects
    if finding.rule is not None:
        values = [value for name, value in finding.binding if name != "_"]
        whom = f" for {', '.join(values)}" if values else ""
        what = f"rule `{finding.rule}` is violated{whom}"
    elif finding.finding_class is FindingClass.UNMET_GOAL:
        what = "the goal is not reached"
    else:
        what = f"step {finding.step} cannot be taken"
    names = []
    for number in chosen:
        step = steps[number - 1]
        assert isinstance(step, GroundAction)
        names.append(f"step {number} `{step_text(step, objects)}`")
    names += [f"`{fact}` from the start" for fact in facts]
    if not names:
        if finding.rule is not None:
            return f"{what}: no step and no initial fact prevents it"
        return f"{what}: no earlier step and no initial fact makes its condition true"
    enough = "is enough" if len(names) == 1 else "are enough"
    fewer = ", and no smaller set is" if minimum else ""
    return f"{what}: {_listed(names)} {enough}{fewer}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
