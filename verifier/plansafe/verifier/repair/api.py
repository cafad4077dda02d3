"""The nearest safe plans of a plan: search, intent, order among ties, reasons, replay (docs/repair.md)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, ReadSteps
from plansafe.verifier.compile.triggers import Pattern, patterns
from plansafe.verifier.engine.replay import FORCE, HALT, Outcome, Run
from plansafe.verifier.engine.state import Change, State
from plansafe.verifier.engine.steps import IllFormed, Taken
from plansafe.verifier.model import Number
from plansafe.verifier.repair.extract import Aligned, alignments
from plansafe.verifier.repair.footprint import identity
from plansafe.verifier.repair.graph import Limited, Search
from plansafe.verifier.repair.heuristic import GuidedSearch
from plansafe.verifier.repair.model import Edit, EditKind, Repair, RepairOptions, RepairResult, RepairStatus
from plansafe.verifier.report import Headline
from plansafe.verifier.simulate import step_text

SAFE = (Headline.SAFE, Headline.VALID)


def repair(checker: Checker, plan: Source, options: RepairOptions = RepairOptions()) -> RepairResult:  # noqa: B008
    """The repairs of least cost of ``plan``, the best first, each replayed. ``checker`` must be ``ok``.

    Exponential in the cost of the repair in the worst case, and linear in the plan's length between faults; ends at the
    limits of ``options`` with what was found, and a lower bound. Raises ``ValueError`` if there is no task.
    """
    if checker.engine is None:
        raise ValueError("the domain, problem or specification has errors")
    report = checker.check(plan)
    if report.headline in SAFE:
        return RepairResult(RepairStatus.ALREADY_SAFE, (), 0, True, True)
    read = checker.read(plan)
    problem = unsupported(checker, read)
    if problem:
        return RepairResult(RepairStatus.NOT_FOUND, detail=problem)
    return Repairer(checker, plan, read.steps, options).run()


def unsupported(checker: Checker, read: ReadSteps) -> str:
    """Why a plan is not repaired, if it is of a sort that is not."""
    if read.text.diagnostics:
        return "the plan cannot be read"
    task = checker.engine.task if checker.engine is not None else None
    assert task is not None
    if read.timed is not None or any([literal.time > 0 for literal in task.timed_literals]):
        return "plans with times, durative actions and timed facts are not repaired"
    return ""


class Repairer:
    """One call of :func:`repair`."""

    def __init__(
        self, checker: Checker, plan: Source, steps: Sequence[Taken | IllFormed], options: RepairOptions
    ) -> None:
        assert checker.engine is not None
        self.checker = checker
        self.engine = checker.engine
        self.plan = plan
        self.steps = steps
        self.options = options
        limit = options.time_limit_s
        self.deadline = None if limit is None else monotonic() + limit
        text = checker.read(plan).text
        self.texts = ["(" + " ".join(step.tokens) + ")" for step in text.steps]
        self._readers = self._find_readers()
        played, self.original = self._in_play(list(steps), FORCE)
        self._played: dict[int, list[frozenset[tuple[int, int]]]] = {}
        for part, objects in played:
            self._played.setdefault(part, []).append(objects)
        self.ties: list[Aligned] = []
        """The repairs of least cost that were found, in order; more than are listed."""
        self.all_listed = True
        self._safe: dict[tuple[object, ...], bool] = {}

    def run(self) -> RepairResult:
        """Search, and order what was found."""
        options = self.options
        search = GuidedSearch(self.engine, self.steps, options.weights, options.protected, self.deadline)
        search.tie_limit = options.tie_limit_s
        limited = ""
        try:
            found, complete = self._levels(search)
        except Limited:
            limited = f"the time limit of {options.time_limit_s:g} s has passed"
            found, complete = [], False
            if search.terminals:
                found = self._extract(search, min([node.cost for node in search.terminals]))[0]
        if not found:
            return self._nothing(search, limited)
        cost = _cost(found[0], options)
        ranked = self.ties = self._rank(found)
        repairs = self._present(ranked, cost)
        sure = not (search.incomplete or search.footprints.cut or search.ties_missing)
        optimal = search.bound >= cost and sure
        complete = complete and optimal and self.all_listed
        bound = cost if optimal else min(search.bound, cost)
        detail = search.incomplete if optimal else limited or search.incomplete
        return RepairResult(RepairStatus.FOUND, repairs, bound, optimal, complete, detail, search.expanded)

    def _levels(self, search: Search) -> tuple[list[Aligned], bool]:
        """Search at rising costs until repairs are found whose new steps are all needed."""
        search.run(self.options.max_cost)
        if not search.terminals:
            return [], True
        least = min([node.cost for node in search.terminals])
        for cost in self._costs(least):
            search.run(cost, everything=True)
            found, complete = self._extract(search, cost)
            if found:
                search.bound = cost
                return found, complete
            search.bound = cost
        return [], True

    def _costs(self, least: Number) -> list[Number]:
        """What repairs can cost, from the least cost that a search found."""
        most = self.options.max_cost
        sums: set[Number] = {0}
        fresh = sums
        while fresh:
            fresh = {s + w for s in fresh for w in self.options.weights if s + w <= most} - sums
            sums |= fresh
            if len(sums) > 10_000:
                break
        return sorted([s for s in sums if s >= least])

    def _extract(self, search: Search, cost: Number) -> tuple[list[Aligned], bool]:
        """The repairs of a cost, at most a multiple of what will be listed; whether these are all."""
        out: list[Aligned] = []
        most = max(20 * self.options.max_repairs, 200)
        late = None if self.deadline is None else monotonic() + self.options.tie_limit_s
        for aligned in alignments(search.root, search.terminals, cost, late):
            if self._needed(aligned):
                out.append(aligned)
                if len(out) >= most:
                    return out, False
        return out, late is None or monotonic() < late

    # -- intent -------------------------------------------------------------------------------------------------------

    def _needed(self, aligned: Aligned) -> bool:
        """Whether no set of new steps can be left out.

        A set without substitutions need not be tried: leaving it out would be a cheaper repair, and there is none. Nor
        one with insertions, where a deletion costs no more than a substitution.
        """
        weights = self.options.weights
        if not aligned.substituted:
            return True
        pool = aligned.new if weights.delete > weights.substitute else tuple(sorted(aligned.substituted))
        for size in range(1, len(pool) + 1):
            for chosen in combinations(pool, size):
                if aligned.substituted & set(chosen) and self.safe(aligned.without(frozenset(chosen))):
                    return False
        return True

    def safe(self, steps: tuple[Taken, ...]) -> bool:
        """Whether a plan is executable, reaches the goal and keeps every rule."""
        key = tuple(map(identity, steps))
        known = self._safe.get(key)
        if known is None:
            known = self._safe[key] = self._is_safe(self._outcome(steps))
        return known

    def _is_safe(self, outcome: Outcome) -> bool:
        parts, rules = self.engine.plan.parts, self.engine.rules
        return (
            not outcome.failures
            and outcome.goal is True
            and all([rules[parts[v.part].rule].preference for v in outcome.violations])
            and not outcome.undecided
            and outcome.limit is None
        )

    def _outcome(self, steps: Sequence[Taken]) -> Outcome:
        run = Run(self.engine, HALT)
        run.steps(steps)
        return run.outcome(len(steps))

    # -- order --------------------------------------------------------------------------------------------------------

    def _rank(self, found: list[Aligned]) -> list[Aligned]:
        """The documented order among ties."""
        return sorted(found, key=self._rank_of)

    def _rank_of(self, aligned: Aligned) -> _Rank:
        play, state = self._in_play(aligned.steps, HALT)
        woken = any([not any([old <= new for old in self._played.get(part, ())]) for part, new in play])
        different = 0
        for now, then in zip(state.facts, self.original.facts, strict=True):
            if now != then:
                different += len(now ^ then)
        for values, before in zip(state.fluents, self.original.fluents, strict=True):
            different += sum([values.get(code) != before.get(code) for code in values.keys() | before.keys()])
        order = [kind.value for kind in EditKind]
        kinds = tuple(sorted([order.index(kind) for kind in aligned.kinds]))
        places = tuple([-p for p, origin in enumerate(aligned.origin) if not origin])
        text = " ".join([step_text(step, self.engine.task.objects) for step in aligned.steps])
        return _Rank(woken, different, kinds, places, text)

    def _in_play(self, steps: Sequence[Taken | IllFormed], reading: str) -> tuple[set[InPlay], State]:
        """The rule instances that the steps of a plan bring into play, and its final state.

        A rule about steps comes into play where a step matches, any other where a fact that it reads changes: each time
        for all instances that agree with the objects of that step or fact.
        """
        found: set[InPlay] = set()

        def note(index: int, code: int) -> None:
            for part, pattern in self._readers.get(index, ()):
                objects = pattern.key(code)
                if objects is not None:
                    found.add((part, frozenset(zip(pattern.parameters, objects, strict=True))))

        def observe(_run: Run, number: int, changes: list[Change]) -> None:
            step = steps[number - 1]
            mirror = self.engine.mirror("start", step) if isinstance(step, Taken) else None
            if mirror is not None:
                note(*mirror)
            for index, code, _ in changes:
                note(index, code)

        run = Run(self.engine, reading, observer=observe)
        run.steps(steps)
        return found, run.state

    def _find_readers(self) -> dict[int, list[tuple[int, Pattern]]]:
        out: dict[int, list[tuple[int, Pattern]]] = {}
        for number, part in enumerate(self.engine.plan.parts):
            condition = part.body if part.step is None else part.step
            for pattern in patterns(self.engine.emitter, condition, part.parameters):
                out.setdefault(pattern.predicate, []).append((number, pattern))
        return out

    # -- presentation -------------------------------------------------------------------------------------------------

    def _present(self, ranked: list[Aligned], cost: Number) -> tuple[Repair, ...]:
        out: list[Repair] = []
        seen: set[tuple[object, ...]] = set()
        for aligned in ranked:
            key = (*map(identity, aligned.steps), *aligned.kinds)
            if key in seen:
                continue
            seen.add(key)
            if len(out) == self.options.max_repairs:
                self.all_listed = False
                break
            steps = tuple([step_text(step, self.engine.task.objects) for step in aligned.steps])
            text = "".join([step + "\n" for step in steps])
            report = self.checker.check(Source(self.plan.name, text))
            if report.headline not in SAFE:
                raise AssertionError("a repair was found that the checker does not call safe")
            out.append(Repair(steps, aligned.origin, self.edits(aligned), cost, report))
        return tuple(out)

    def edits(self, aligned: Aligned) -> tuple[Edit, ...]:
        """The edits of an alignment, in order of places, deletions last."""
        out = []
        for place, (origin, step) in enumerate(zip(aligned.origin, aligned.steps, strict=True)):
            text = step_text(step, self.engine.task.objects)
            if not origin:
                out.append(Edit(EditKind.INSERT, 0, place + 1, "", text))
            elif place in aligned.substituted:
                out.append(Edit(EditKind.SUBSTITUTE, origin, place + 1, self.texts[origin - 1], text))
            elif place in aligned.moved:
                out.append(Edit(EditKind.MOVE, origin, place + 1, self.texts[origin - 1], text))
        out += [Edit(EditKind.DELETE, step, 0, self.texts[step - 1], "") for step in aligned.deleted]
        return tuple(out)

    def _nothing(self, search: Search, limited: str) -> RepairResult:
        bound = search.bound
        detail = limited or search.incomplete
        sure = not (search.footprints.cut or search.ties_missing or search.terminals)
        if search.exhausted and not detail and sure:
            return RepairResult(
                RepairStatus.PROVED_NONE, (), bound, False, True, "the search was complete", search.expanded
            )
        detail = detail or f"no repair costs less than {bound}; the search went no further (--max-cost)"
        return RepairResult(RepairStatus.NOT_FOUND, (), bound, False, False, detail, search.expanded)


InPlay = tuple[int, frozenset[tuple[int, int]]]
"""A part of a rule, and the objects that some of its parameters have: all instances that agree with these."""


class _Rank(NamedTuple):
    woken: bool
    different: int
    kinds: tuple[int, ...]
    places: tuple[int, ...]
    text: str


def _cost(aligned: Aligned, options: RepairOptions) -> Number:
    return sum([options.weights.of(EditKind(kind)) for kind in aligned.kinds])
