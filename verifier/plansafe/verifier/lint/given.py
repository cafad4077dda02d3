"""The questions about one given problem: what the delete relaxation proves, and what searches find (docs/lint.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.api import Checker
from plansafe.verifier.engine.replay import Engine
from plansafe.verifier.evaluate import Evaluator
from plansafe.verifier.lint import search
from plansafe.verifier.lint.letters import Sequences, TooMany, Wanted
from plansafe.verifier.lint.relaxation import Relaxation, TooLarge
from plansafe.verifier.lint.search import Explored, Outcome
from plansafe.verifier.model import And, Formula, Not
from plansafe.verifier.monitor.finding import TooManyInstances
from plansafe.verifier.monitor.invariant import Invariant
from plansafe.verifier.planning.execution import Execution
from plansafe.verifier.planning.port import Answer
from plansafe.verifier.rules.model import Part

MAX_BINDINGS = 2_000
TRIED = 4
"""Instances of a part of a rule that planners are asked about."""
EACH_S = 3.0
"""Seconds for one question to the planners, where there is a limit at all."""


class Decided(NamedTuple):
    """An answer with its proof; ``yes`` is ``None`` where there is no answer, and then ``proof`` says why."""

    yes: bool | None
    proof: str = ""


UNDECIDED = Decided(None, "neither a proof nor an example was found within the limits")


class Given:
    """One problem with its rules. ``checker`` must be ``ok``. Nothing is asked of rules without parts."""

    def __init__(self, checker: Checker, seconds: float | None, searching: bool = True) -> None:
        assert checker.engine is not None and checker.elaborated is not None
        self.checker = checker
        self.engine: Engine = checker.engine
        self.task = self.engine.task
        self.rules = checker.rules
        self.seconds = seconds
        self.deadline = None if seconds is None else monotonic() + seconds
        timed = any([literal.time > 0 for literal in self.task.timed_literals])
        self.temporal = timed or any([action.end is not None for action in self.task.actions.values()])
        self.searching = searching and not self.temporal and not checker.open and self.engine.limit is None
        self.relaxation: Relaxation | None = None
        if not checker.open:
            everything = None
            if checker.options.lenient_types:
                everything = checker.elaborated.symbols.types.subset(tuple(range(len(self.task.objects))))
            try:
                self.relaxation = Relaxation(self.engine, self.deadline, everything)
            except TooLarge:
                pass
        self._explored: Explored | None = None
        self._opposites: dict[int, tuple[Formula, Part]] = {}
        self._start: Execution | None = None
        if self.engine.limit is None and not checker.open:
            self._start = Execution.initial(self.engine)

    @property
    def closed(self) -> bool:
        """Whether the problem leaves nothing open, so that its traces were looked at."""
        return not self.checker.open

    def has_instance(self, number: int) -> bool:
        """Whether the types of a rule's parameters all have objects."""
        rule = self.rules[number]
        return rule.applicable and all([self.task.domains[v.domain] for v in rule.declared])

    # -- can a rule be broken? ----------------------------------------------------------------------------------------

    def breakable(self, number: int, thoroughly: bool) -> Decided:
        """Whether some trace breaks a rule. Planners are asked only if ``thoroughly``."""
        if not self.closed:
            return Decided(None, "the problem leaves something open")
        if self._start is not None and number in search.outcome_of(self._start).broken:
            return Decided(True)
        parts = self.rules[number].parts
        open_parts = []
        for part in parts:
            try:
                if self._may_break(part):
                    open_parts.append(part)
            except (TooLarge, TooMany):
                open_parts.append(part)
        if not open_parts:
            return Decided(False, "relaxation")
        if not self.searching or not thoroughly:
            return UNDECIDED
        explored = self.explored()
        if any([number in outcome.broken for outcome in explored.outcomes]):
            return Decided(True)
        if explored.complete:
            return Decided(False, f"all {explored.states} states visited")
        return self._by_planners(open_parts)

    def _may_break(self, part: Part) -> bool:
        relaxed = self.relaxation
        if relaxed is None:
            return True
        if part.mode == "whole":
            return bool(self._instances(part, False, first=True))
        formula, _ = self._opposite(part)
        return bool(relaxed.some(formula, part.parameters))

    def _opposite(self, part: Part) -> tuple[Formula, Part]:
        key = id(part)
        if key not in self._opposites:
            formulas = [Not(part.body)]
            if part.step is not None:
                formulas = [part.step, *([part.guard] if part.guard is not None else []), *formulas]  # type: ignore[list-item]
            self._opposites[key] = And(tuple(formulas)), part
        return self._opposites[key]

    def _by_planners(self, parts: Sequence[Part]) -> Decided:
        every = True
        for part in parts:
            try:
                bindings = self._candidates(part)
            except (TooLarge, TooMany):
                return UNDECIDED
            every &= len(bindings) <= TRIED
            for objects in bindings[:TRIED]:
                answer = search.breaking(self.checker, part, objects, self._slice()).answer
                if answer is Answer.SOLVED:
                    return Decided(True)
                every &= answer is Answer.UNSOLVABLE
        return Decided(False, "all states that planners can reach") if every else UNDECIDED

    def _candidates(self, part: Part) -> list[tuple[int, ...]]:
        """Instances that may be broken, one more than are tried."""
        if part.mode == "whole":
            return self._instances(part, False)[: TRIED + 1]
        if self.relaxation is None:
            raise TooLarge
        return self.relaxation.some(self._opposite(part)[0], part.parameters, count=TRIED + 1)

    def _slice(self) -> float:
        if self.deadline is None:
            return EACH_S
        return max(0.05, min(EACH_S, self.deadline - monotonic()))

    # -- can a rule be kept? ------------------------------------------------------------------------------------------

    def keepable(self, number: int) -> Decided:
        """Whether some trace keeps a rule."""
        if not self.closed or self._start is None:
            return Decided(None, "the problem leaves something open" if not self.closed else "a limit of the engine")
        if number not in search.outcome_of(self._start).unkept:
            return Decided(True)
        if number in self._broken_for_good():
            return Decided(False, "the initial state")
        for part in self.rules[number].parts:
            try:
                if self._cannot_keep(part):
                    return Decided(False, "relaxation")
            except (TooLarge, TooMany):
                continue
        if not self.searching:
            return UNDECIDED
        explored = self.explored()
        if any([number not in outcome.unkept for outcome in explored.outcomes]):
            return Decided(True)
        if explored.complete:
            return Decided(False, f"all {explored.states} states visited")
        return self._planned(frozenset((number,)), False)

    def _planned(self, numbers: frozenset[int], goal: bool) -> Decided:
        answer = search.keeping(self.checker, numbers, goal, self._slice()).answer
        if answer is Answer.SOLVED:
            return Decided(True)
        return Decided(False, "all states that a planner can reach") if answer is Answer.UNSOLVABLE else UNDECIDED

    def _broken_for_good(self) -> frozenset[int]:
        """The rules that the initial state breaks, whatever comes."""
        assert self._start is not None
        runtime = self._start.runtime
        if runtime is None:
            return frozenset()
        plan = self.engine.plan
        found = set()
        for monitor in runtime.monitors:
            if isinstance(monitor, Invariant):
                if monitor.episodes and not monitor.final:
                    found.add(plan.parts[monitor.part].rule)
            elif monitor.violations and not self.temporal:
                found.add(plan.parts[monitor.part].rule)
        return frozenset(found)

    def _cannot_keep(self, part: Part) -> bool:
        if self.relaxation is None or part.mode == "each":
            return False
        if part.mode == "whole":
            return len(self._instances(part, True, first=False)) < self._count(part)
        return bool(self.relaxation.never(part.body, part.parameters))

    # -- formulas over the trace --------------------------------------------------------------------------------------

    def _count(self, part: Part) -> int:
        count = 1
        for variable in part.parameters:
            count *= len(self.task.domains[variable.domain])
        return count

    def _instances(self, part: Part, positive: bool, first: bool = False) -> list[tuple[int, ...]]:
        """The instances of a formula over the trace that some sequence of letters satisfies (``positive``), or breaks.

        Each letter is one that the relaxation allows, the first one that of the initial state. Raises ``TooMany``.
        """
        if self.relaxation is None or self.temporal or self._count(part) > MAX_BINDINGS:
            raise TooMany
        sequences = Sequences(self.task, [Wanted(part, positive)])
        known: dict[tuple[object, ...], bool] = {}
        out = []
        state = self.engine.initial()
        evaluator = Evaluator(self.task, state.facts, state.fluents)
        mirrors = frozenset(self.engine.mirrors.values())
        slots = [v.slot for v in part.parameters]
        for objects in product(*[self.task.domains[v.domain] for v in part.parameters]):
            binding = dict(zip(slots, objects, strict=True))
            later = _allowed(self.relaxation, sequences, binding)
            begins = _begins(evaluator, sequences, binding, mirrors, later)
            key = (later, begins)
            if key not in known:
                known[key] = sequences.exists(
                    lambda letter, b=begins: _fits(letter, b),  # type: ignore[misc]
                    lambda letter, b=later: _fits(letter, b),  # type: ignore[misc]
                    lambda letter, b=later: _fits(letter, b),  # type: ignore[misc]
                    deadline=self.deadline,
                )
            if known[key]:
                out.append(objects)
                if first:
                    break
        return out

    # -- rules together -----------------------------------------------------------------------------------------------

    def explored(self) -> Explored:
        """What a bounded search met."""
        if self._explored is None:
            seconds = 5.0 if self.seconds is None else self.seconds / 4
            self._explored = search.explore(self.engine, _settled(len(self.rules)), monotonic() + seconds)
        return self._explored

    def contradiction(self, numbers: Sequence[int]) -> tuple[tuple[int, ...], str] | None:
        """Fewest of these rules that no trace keeps together, with the proof; only where every state was visited."""
        if not self.searching:
            return None
        explored = self.explored()
        if not explored.complete:
            return None
        return _fewest(numbers, explored.outcomes), f"all {explored.states} states visited"

    def unsafe_goal(self, numbers: Sequence[int]) -> tuple[Decided, tuple[int, ...]]:
        """Whether some trace reaches the goal and keeps these rules; if none does, fewest rules of which that is so.

        ``yes`` is also said where no trace reaches the goal at all: that is no matter of the rules.
        """
        if not self.searching:
            return Decided(None, "plans of this problem are not searched"), ()
        explored = self.explored()
        reached = [outcome for outcome in explored.outcomes if outcome.goal]
        if any([outcome.unkept.isdisjoint(numbers) for outcome in reached]):
            return Decided(True), ()
        if explored.complete:
            if not reached:
                return Decided(True), ()
            return Decided(False, f"all {explored.states} states visited"), _fewest(numbers, reached)
        try:
            found = self._planned(frozenset(numbers), True)
            if found.yes is not False:
                return found, ()
            reachable = self._planned(frozenset(), True)
            if not reachable.yes:
                return Decided(True) if reachable.yes is False else UNDECIDED, ()
            core = list(numbers)
            for number in numbers:
                fewer = [n for n in core if n != number]
                if fewer and self._planned(frozenset(fewer), True).yes is False:
                    core = fewer
            return found, tuple(core)
        except TooManyInstances:
            return UNDECIDED, ()


def _settled(rules: int) -> object:
    def enough(outcomes: Iterable[Outcome]) -> bool:
        """Every rule was broken by a trace, and some trace reached the goal with every rule kept."""
        broken: set[int] = set()
        safe = False
        for outcome in outcomes:
            broken |= outcome.broken
            safe |= outcome.goal and not outcome.unkept
        return safe and len(broken) == rules

    return enough


def _fewest(numbers: Sequence[int], outcomes: Iterable[Outcome]) -> tuple[int, ...]:
    """Rules without which an outcome would keep all; empty if one does. One of several choices, and none too many."""
    unkept = [outcome.unkept for outcome in outcomes]

    def kept(chosen: Sequence[int]) -> bool:
        return any([found.isdisjoint(chosen) for found in unkept])

    if kept(numbers):
        return ()
    core = list(numbers)
    for number in numbers:
        fewer = [n for n in core if n != number]
        if not kept(fewer):
            core = fewer
    return tuple(core)


Allowed = tuple[tuple[bool, bool], ...]
"""For each leaf of a program, whether it may be false, and whether it may be true."""


def _allowed(relaxed: Relaxation, sequences: Sequences, binding: dict[int, int]) -> Allowed:
    return tuple(
        [(relaxed.may(leaf, binding, False), relaxed.may(leaf, binding, True)) for _, leaf in sequences.leaves]
    )


def _begins(
    evaluator: Evaluator, sequences: Sequences, binding: dict[int, int], mirrors: frozenset[int], later: Allowed
) -> Allowed:
    """The letters of the initial state: its facts, and any action that may be taken at all."""
    from plansafe.verifier.compile.normal import mentions  # noqa: PLC0415 - for formulas over the trace alone

    out = []
    for (_, leaf), may in zip(sequences.leaves, later, strict=True):
        value = None if mentions(leaf, mirrors) else evaluator.holds(leaf, dict(binding))
        out.append(may if value is None else (not value, value))
    return tuple(out)


def _fits(letter: int, allowed: Allowed) -> bool:
    return all([pair[letter >> bit & 1] for bit, pair in enumerate(allowed)])
