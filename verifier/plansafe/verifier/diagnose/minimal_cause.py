"""The minimal cause of a finding: the fewest steps and initial facts that suffice for it (docs/diagnose.md).

A set of steps and initial facts is *sufficient* iff the finding is wrong in every world that keeps the set. So it hits
the complement of each world in which the finding is not wrong (a *harmless* world), and a smallest sufficient set is a
smallest hitting set of these complements. Harmless worlds are found one by one (implicit hitting sets: Moreno-Centeno
and Karp, Operations Research 61(2), 2013): compute a smallest hitting set of the known complements; if a harmless
world keeps it, enlarge that world as far as it stays harmless, and add its complement; else the set is the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from math import inf
from random import Random
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.counterfactual_worlds import (
    ABSENT_STEP,
    STEP_INDEX,
    ConditionTest,
    CounterfactualWorlds,
    EffectTable,
    Element,
    FindingTest,
    StepCondition,
    World,
    make_violation_test,
)
from plansafe.verifier.execution.purpose import NotCovered, ResolvedSteps, require_untimed
from plansafe.verifier.execution.replay import HALT, SKIP, Replay
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.nodes import And
from plansafe.verifier.reporting.report import Finding, FindingClass
from plansafe.verifier.rules.model import RulePart, shorten_variable_names

MAX_FREE_ELEMENTS = 12
"""Maximum number of optional elements for which all combinations are tried."""
SAMPLE_COUNT = 400
"""Number of random combinations that are tried of more elements."""
ELEMENT_COST, FACT_COST = 1 << 40, 1 << 20
"""Costs by which a smallest hitting set has the fewest elements, and among them the fewest facts."""
MIN_REDUCTION_S = 2.0
"""Minimum time in seconds for reducing a set after the time limit of the search."""


class Cause(NamedTuple):
    """The cause of a finding: ``steps`` (from 1) and ``facts`` of the initial state.

    Both are empty if the finding is wrong whatever the plan does. ``minimum``: the cause is proved sufficient and
    smallest. Otherwise it is sufficient in every world that was tried, and each element is needed in one of them.
    """

    steps: tuple[int, ...]
    facts: tuple[str, ...]
    minimum: bool
    text: str


def find_minimal_cause(checker: Checker, plan: Source, finding: Finding, *, time_limit_s: float = 2.0) -> Cause:
    """Return the minimal cause of a violated rule, a failed precondition or an unmet goal.

    An ill-formed step is its own cause. Raises :class:`NotCovered` for timed plans, undecided rules, effects that
    cannot be computed, numbers too large, and findings that are not of this plan.
    """
    return CauseFinder(checker, plan).find(finding, time_limit_s)


class CauseFinder:
    """Finds the minimal causes of the findings of one plan (see :func:`find_minimal_cause`)."""

    def __init__(self, checker: Checker, plan: Source) -> None:
        self.checker = checker
        self._resolved = checker.read(plan)
        self._effects: EffectTable = {}

    def find(self, finding: Finding, time_limit_s: float = 2.0) -> Cause:
        """Return the minimal cause of a finding; raises :class:`NotCovered`."""
        steps = self._resolved.steps
        require_untimed(self.checker.engine, steps)
        if finding.finding_class is FindingClass.ILL_FORMED:
            return Cause((finding.step,), (), True, f"step {finding.step} is not a step of this domain")
        if self._resolved.timed is not None:
            raise NotCovered("the plan's steps have times")
        if self._resolved.is_open:
            raise NotCovered("the plan leaves the order of its steps open")
        worlds = _make_worlds(self.checker, steps, finding, self._effects)
        elements, minimum = _CauseSearch(worlds, time_limit_s).run()
        step_numbers = tuple(sorted([number for index, number in elements if index == STEP_INDEX]))
        task = self.checker.engine.task
        facts = tuple(sorted([task.fact_text(*element) for element in elements if element[0] != STEP_INDEX]))
        text = _describe_cause(self.checker, steps, finding, step_numbers, facts, minimum)
        return Cause(step_numbers, facts, minimum, text)


# -- from a finding to its test ---------------------------------------------------------------------------------------


def _make_worlds(
    checker: Checker, steps: ResolvedSteps, finding: Finding, effects: EffectTable
) -> CounterfactualWorlds:
    """Return the worlds of the finding's first reading, with the tests of the finding."""
    engine = checker.engine
    run = Replay(engine, finding.readings[0])
    run.run_steps(steps)
    failed_steps = {failure.step for failure in run.failures}
    last_step, executed_steps = len(steps), steps
    if run.reading == HALT and failed_steps:
        last_step = min(failed_steps) - 1
    elif run.reading == SKIP:
        executed_steps = [ABSENT_STEP if number in failed_steps else step for number, step in enumerate(steps, 1)]
    tests: list[FindingTest] = []
    if finding.finding_class is FindingClass.UNMET_GOAL:
        tests = [ConditionTest((StepCondition(last_step, And(engine.task.goal), {}, (False, None)),))]
    elif finding.code == SC.PRECONDITION:
        step = steps[finding.step - 1]
        assert isinstance(step, GroundAction)
        precondition = And(step.action.start.condition)
        tests = [ConditionTest((StepCondition(finding.step - 1, precondition, step.binding, (False, None)),))]
    elif finding.rule is not None:
        tests = _make_rule_tests(checker, run, finding, last_step)
    if tests:
        worlds = CounterfactualWorlds(engine, executed_steps, tests, effects)
        if worlds.is_wrong(worlds.elements):
            return worlds
    raise NotCovered(f"no cause is known for this finding ({finding.code})")


def _make_rule_tests(checker: Checker, run: Replay, finding: Finding, last_step: int) -> list[FindingTest]:
    """Return a test for each part of the rule that has the finding's instance, whether or not the part is violated."""
    engine = checker.engine
    letters, action_predicates = run.step_of_letter, frozenset(engine.action_predicates.values())
    for violation in run.finish(last_step).violations:
        rule = checker.rules[engine.rule_set.parts[violation.part].rule]
        objects = _find_instance_objects(checker, engine.rule_set.parts[violation.part], finding)
        instance_key = rule.name, violation.binding, violation.step, violation.at_end
        if instance_key == (finding.rule, objects, finding.step, finding.at_end):
            step = violation.letter if letters is None else letters[min(violation.letter, len(letters) - 1)]
            found_after_step = last_step if violation.at_end else step
            instances = [(part, _find_instance_objects(checker, part, finding)) for part in rule.parts]
            return [
                make_violation_test(rule, part, violation, part_objects, found_after_step, last_step, action_predicates)
                for part, part_objects in instances
                if part_objects is not None
            ]
    return []


def _find_instance_objects(checker: Checker, part: RulePart, finding: Finding) -> tuple[int, ...] | None:
    """Return a finding's objects for a part's parameters; ``None`` if the finding has other parameters."""
    names = shorten_variable_names([v.name for v in part.parameters])
    objects = dict(finding.binding)
    if sorted(names) != sorted(objects):
        return None
    return tuple([checker.engine.task.object_index[objects[name]] for name in names])


# -- the search -------------------------------------------------------------------------------------------------------


class _HarmlessWorldAnswer(NamedTuple):
    """A harmless world, if one was found, and whether all relevant worlds were tried if none was."""

    world: World | None
    is_complete: bool


class _BlockChanges(NamedTuple):
    """A set of elements after the accepted changes, and whether there was enough time to try all changes."""

    elements: World
    is_complete: bool


class _CauseSearch:
    """Computes smallest hitting sets of the complements of harmless worlds, until one is sufficient."""

    def __init__(self, worlds: CounterfactualWorlds, time_limit_s: float) -> None:
        self.worlds = worlds
        self.time_limit_s = time_limit_s
        self.deadline = monotonic() + time_limit_s
        self.random = Random(0)
        self._conjunct_worlds: list[CounterfactualWorlds] | None = None
        steps = sorted([element for element in worlds.elements if element[0] == STEP_INDEX], reverse=True)
        facts = sorted(worlds.elements.difference(steps))
        # Among sets with as many elements and facts, later steps cost less.
        self.cost = {element: ELEMENT_COST + rank for rank, element in enumerate(steps)}
        self.cost |= {element: ELEMENT_COST + FACT_COST + rank for rank, element in enumerate(facts, len(steps))}

    def run(self) -> tuple[World, bool]:
        """Return a cause, and whether it is proved to be a minimum (see :class:`Cause`)."""
        complements: list[World] = []
        while monotonic() < self.deadline:
            candidate = find_smallest_hitting_set(complements, self.cost)
            world, is_complete = self._find_harmless_world(candidate)
            if world is None:
                return candidate, is_complete
            complements.append(self.worlds.elements - self._enlarge_world(world))
        return self._reduce_all_elements(), False

    def _find_harmless_world(self, kept_elements: World) -> _HarmlessWorldAnswer:
        """Search for a harmless world that keeps a set."""
        relevant = self.worlds.find_relevant_elements(kept_elements)
        kept_world = kept_elements | (self.worlds.elements - relevant)
        free_elements = sorted(relevant - kept_elements, key=self.cost.__getitem__)
        is_complete = len(free_elements) <= MAX_FREE_ELEMENTS
        if not is_complete:
            if self._conjunct_worlds is None:
                self._conjunct_worlds = self.worlds.make_conjunct_worlds()
            if any([self._always_fails(conjunct, kept_elements) for conjunct in self._conjunct_worlds]):
                return _HarmlessWorldAnswer(None, is_complete=True)
        for chosen in _iterate_subsets(free_elements) if is_complete else self._sample_subsets(free_elements):
            world = kept_world | chosen
            if not self.worlds.is_wrong(world):
                return _HarmlessWorldAnswer(world, is_complete=True)
            if monotonic() > self.deadline:
                return _HarmlessWorldAnswer(None, is_complete=False)
        return _HarmlessWorldAnswer(None, is_complete)

    def _always_fails(self, conjunct: CounterfactualWorlds, kept_elements: World) -> bool:
        """Whether a conjunct fails in every world that keeps a set: then so does the conjunction."""
        kept_elements &= conjunct.elements
        relevant = conjunct.find_relevant_elements(kept_elements)
        free_elements = relevant - kept_elements
        if len(free_elements) > MAX_FREE_ELEMENTS:
            return False
        kept_world = kept_elements | (conjunct.elements - relevant)
        for chosen in _iterate_subsets(sorted(free_elements)):
            if not conjunct.is_wrong(kept_world | chosen) or monotonic() > self.deadline:
                return False
        return True

    def _sample_subsets(self, free_elements: list[Element]) -> Iterator[World]:
        """Yield the empty subset, all subsets without one element, and random subsets, sparse and dense."""
        yield frozenset()
        all_elements = frozenset(free_elements)
        for element in free_elements:  # lazily: for a long plan, all together would fill the memory
            yield all_elements - {element}
        for _ in range(SAMPLE_COUNT):
            share = self.random.random()
            yield frozenset([element for element in free_elements if self.random.random() < share])

    def _enlarge_world(self, world: World) -> World:
        """Add elements to a harmless world as long as it stays harmless and there is time."""

        def add(world_before: World, block: World) -> World | None:
            return None if self.worlds.is_wrong(world_before | block) else world_before | block

        removed_elements = sorted(self.worlds.elements - world, key=self.cost.__getitem__, reverse=True)
        return _change_by_blocks(world, removed_elements, add, self.deadline).elements

    def _reduce_all_elements(self) -> World:
        """Return elements that suffice alone, none of which can be omitted.

        Raises :class:`NotCovered` if this takes as much time again as the search.
        """

        def remove(world_before: World, block: World) -> World | None:
            return world_before - block if self.worlds.is_wrong(world_before - block) else None

        sorted_elements = sorted(self.worlds.elements, key=self.cost.__getitem__, reverse=True)
        deadline = monotonic() + max(self.time_limit_s, MIN_REDUCTION_S)
        reduced_elements, is_complete = _change_by_blocks(self.worlds.elements, sorted_elements, remove, deadline)
        if not is_complete:
            raise NotCovered("the time limit passed before one was found")
        return reduced_elements


def _iterate_subsets(elements: list[Element]) -> Iterator[World]:
    """Yield all subsets, the smallest and the largest first."""
    sizes = sorted(range(len(elements) + 1), key=lambda size: min(size, len(elements) - size))
    for size in sizes:
        yield from [frozenset(chosen) for chosen in combinations(elements, size)]


def _change_by_blocks(
    elements: World, sorted_elements: Sequence[Element], change: Callable[[World, World], World | None], deadline: float
) -> _BlockChanges:
    """Change a set by blocks of elements in their order, where ``change`` accepts the block (does not return ``None``).

    The block size doubles after an accepted block and is halved after a rejected one: if k of n elements are rejected,
    ``change`` is called about k log n times. If the parts of an accepted block are always accepted, the result is the
    same as for single elements.
    """
    place, size = 0, 1
    while place < len(sorted_elements):
        if monotonic() > deadline:
            return _BlockChanges(elements, is_complete=False)
        block = frozenset(sorted_elements[place : place + size])
        changed_elements = change(elements, block)
        if changed_elements is not None:
            elements = changed_elements
            place += len(block)
            size *= 2
        elif len(block) == 1:
            place += 1
        else:
            size = len(block) // 2
    return _BlockChanges(elements, is_complete=True)


def find_smallest_hitting_set(sets: Sequence[World], cost: Mapping[Element, int]) -> World:
    """Return a set of least cost with an element of each set. Branch and bound; exponential in the worst case."""
    best: World = frozenset()
    best_cost: float = inf

    def search(chosen: World, chosen_cost: int, remaining: list[World]) -> None:
        nonlocal best, best_cost
        bound = 0
        disjoint: set[Element] = set()
        for unhit_set in remaining:  # sets without common elements need an element each
            if disjoint.isdisjoint(unhit_set):
                bound += min([cost[element] for element in unhit_set])
                disjoint |= unhit_set
        if chosen_cost + bound >= best_cost:
            return
        if not remaining:
            best, best_cost = chosen, chosen_cost
            return
        smallest = min(remaining, key=len)
        for element in sorted(smallest, key=cost.__getitem__):
            unhit_sets = [unhit_set for unhit_set in remaining if element not in unhit_set]
            search(chosen | {element}, chosen_cost + cost[element], unhit_sets)

    search(frozenset(), 0, sorted(set(sets), key=len))
    return best


# -- text -------------------------------------------------------------------------------------------------------------


def _describe_cause(
    checker: Checker,
    steps: ResolvedSteps,
    finding: Finding,
    cause_steps: tuple[int, ...],
    facts: tuple[str, ...],
    minimum: bool,
) -> str:
    """Return the sentence that names the finding and its cause."""
    objects = checker.engine.task.objects
    if finding.rule is not None:
        values = [value for name, value in finding.binding if name != "_"]
        instance = f" for {', '.join(values)}" if values else ""
        problem = f"rule `{finding.rule}` is violated{instance}"
    elif finding.finding_class is FindingClass.UNMET_GOAL:
        problem = "the goal is not reached"
    else:
        problem = f"step {finding.step} cannot be taken"
    names = []
    for number in cause_steps:
        step = steps[number - 1]
        assert isinstance(step, GroundAction)
        names.append(f"step {number} `{step_text(step, objects)}`")
    names += [f"`{fact}` from the start" for fact in facts]
    if not names:
        if finding.rule is not None:
            return f"{problem}: no step and no initial fact prevents it"
        return f"{problem}: no earlier step and no initial fact makes its condition true"
    enough_phrase = "is enough" if len(names) == 1 else "are enough"
    minimum_phrase = ", and no smaller set is" if minimum else ""
    list_phrase = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{problem}: {list_phrase} {enough_phrase}{minimum_phrase}"
