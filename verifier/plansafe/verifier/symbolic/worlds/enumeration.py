"""World by world: what no circuit covers is replayed in each completion, with each outcome, up to a bound.

So are judged plans with times in which facts or outcomes are open. Completions come from a SAT solver, one for each
combination of values of the open facts that the task can read at all; the other open facts take whatever value is
allowed. With durations that have a tolerance, each of these worlds is judged over all durations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from time import monotonic

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Formula, Interval, Number, normal_number
from plansafe.verifier.model.operations import atoms_in
from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.reporting.worlds import Completion, OneofOutcomes
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.solvers import Model, create_solver
from plansafe.verifier.symbolic.worlds.encoding import FactInput
from plansafe.verifier.symbolic.worlds.formula_compiler import DerivedFacts, FormulaCompiler
from plansafe.verifier.symbolic.worlds.initial_state import FactGroup, encode_invariants, make_initial_state
from plansafe.verifier.symbolic.worlds.symbolic_state import PossibleCertain
from plansafe.verifier.symbolic.worlds.verdict import RuleCounts, WorldsVerdict, mark_unknown, merge_rule_counts
from plansafe.verifier.symbolic.worlds.world_replay import OneofStatement, complete_outcomes, list_oneof_statements

MAX_WORLDS = 5_000
Values = tuple[Worlds, Worlds, Worlds]
ASPECTS = range(3)


class OpenWorlds:
    """What is open beside durations and order: completions, and the outcomes of the steps."""

    def __init__(self, compiled: CompiledTask, read: ResolvedPlan, groups: tuple[FactGroup, ...]) -> None:
        task = self.task = compiled.task
        self.circuit = Circuit()
        evaluation = self.evaluation = FormulaCompiler(task, self.circuit, PossibleCertain(task))
        start = make_initial_state(task, self.circuit, compiled.openings)
        self.start = start.state
        if task.axioms:
            DerivedFacts(task, evaluation).update(start.state)
        restricted = encode_invariants(task, evaluation, start.state, compiled.invariants, groups)
        self.allowed: Literal = self.circuit.conjunction([*start.statements, *restricted])
        self.open_facts, self.numbers = start.open_facts, start.open_values
        seen = _read(compiled)
        self.facts = [
            (node, key)
            for node, key in self.circuit.keys.items()
            if isinstance(key, FactInput) and (key.predicate in seen)
        ]
        self.choices = list(_choices(compiled, read))
        self.statements = list_oneof_statements(read.steps)

    @property
    def is_open(self) -> bool:
        """Whether anything is open that makes worlds differ."""
        return bool(self.open_facts or self.numbers or self.choices)

    def completions(self) -> Iterator[frozenset[tuple[int, int]] | None]:
        """The true open facts of each completion, those that nothing reads aside; ``None``: not decided."""
        solver = create_solver(self.circuit, [self.allowed])
        try:
            solver.require(self.allowed)
            while (found := solver.solve()) is not False:
                if found is None:
                    yield None
                    return
                model: Model = solver.model()
                values = {node: model.inputs.get(node, False) for node in self._nodes()}
                yield frozenset([self._fact(node) for node, value in values.items() if value])
                if not self.facts:
                    return
                differs = [2 * node + values[node] for node, _ in self.facts]
                solver.require(self.circuit.disjunction(differs))
        finally:
            solver.close()

    def some_values(self) -> dict[tuple[int, int], Number]:
        """A value for each open number, within its interval."""
        unknowns = self.task.unknowns
        if unknowns is None:
            assert not self.numbers
            return {}
        return {(function, code): _inside(unknowns.intervals[function][code]) for function, code in self.numbers}

    def _nodes(self) -> list[int]:
        return [node for node, key in self.circuit.keys.items() if isinstance(key, FactInput)]

    def _fact(self, node: int) -> tuple[int, int]:
        key = self.circuit.keys[node]
        assert isinstance(key, FactInput)
        return key.predicate, key.code

    def outcomes(self) -> Iterator[dict[OneofStatement, OneofOutcomes]]:
        """Every combination of outcomes."""
        keys = [key for key, _ in self.choices]
        for chosen in product(*[range(alternatives) for _, alternatives in self.choices]):
            yield complete_outcomes(self.statements, dict(zip(keys, chosen, strict=True)))


def judge_each_world(
    openness: OpenWorlds, judge: Callable[[Completion], tuple[Values, WorldsVerdict]], deadline: float | None
) -> WorldsVerdict:
    """The verdict from the verdicts in each world; ``judge`` gives the values there, and worlds in which they fail."""
    seen: list[set[Worlds]] = [set(), set(), set()]
    failing: list[Completion | None] = [None, None, None]
    limits: dict[str, None] = {}
    counts: RuleCounts = ()
    breaking: dict[str, Completion] = {}
    count = 0
    if openness.numbers:
        limits["numbers are open in a plan with times: only one value each could be tried"] = None
    for facts in () if openness.numbers else openness.completions():
        if facts is None:
            limits["the solver gave up"] = None
            break
        for outcomes in openness.outcomes():
            count += 1
            if count > MAX_WORLDS:
                limits[f"there are more than {MAX_WORLDS:,} worlds to replay one by one"] = None
                break
            if deadline is not None and monotonic() > deadline:
                raise LimitReached(LimitKind.TIME)
            values, verdict = judge(Completion(facts, {}, outcomes))
            limits.update(dict.fromkeys(verdict.limits))
            counts = merge_rule_counts([counts, verdict.rules])
            for rule, breaks in verdict.rule_witnesses:
                breaking.setdefault(rule, breaks)
            for aspect, world in enumerate(
                (verdict.inexecutable_world, verdict.unmet_goal_world, verdict.unsafe_world)
            ):
                seen[aspect].add(values[aspect])
                if failing[aspect] is None and world is not None:
                    failing[aspect] = world
        if limits:
            break
    executable, goal, safe = [_merged(found, bool(limits)) for found in seen]
    rules = mark_unknown(counts) if limits else counts
    return WorldsVerdict(
        executable, goal, safe, failing[0], failing[1], failing[2], tuple(limits), rules, tuple(breaking.items())
    )


def _inside(interval: Interval) -> Number:
    low, high = interval.low, interval.high
    if low is None or high is None:
        return high - 1 if high is not None else low + 1 if low is not None else 0
    return normal_number(Fraction(low + high) / 2)


def _merged(seen: set[Worlds], incomplete: bool) -> Worlds:
    if Worlds.SOME in seen or {Worlds.ALL, Worlds.NONE} <= seen:
        return Worlds.SOME
    if incomplete or Worlds.UNKNOWN in seen or not seen:
        return Worlds.UNKNOWN
    return next(iter(seen))


def _read(compiled: CompiledTask) -> set[int]:
    """Every predicate that an action, an axiom, the goal or a rule reads."""
    task, plan = compiled.task, compiled.engine.rule_set
    formulas: list[Formula] = [*task.goal, *[axiom.body for stratum in task.axioms for axiom in stratum]]
    for action in task.actions.values():
        formulas += action.over_all
        for snap in (action.start, action.end):
            if snap is not None:
                formulas += snap.condition
                formulas += [f for effect in snap.effects for f in (effect.condition, effect.at_start)]
    for part in plan.parts:
        formulas += [part.body] if part.guard is None else [part.body, part.guard]
    return {item.predicate for formula in formulas for item in atoms_in(formula)}


def _choices(compiled: CompiledTask, read: ResolvedPlan) -> Iterator[tuple[tuple[int, int, tuple[int, ...]], int]]:
    """Each choice of each step, with the number of its alternatives."""
    task = compiled.task
    for number, step in enumerate(read.steps, 1):
        if not isinstance(step, GroundAction):
            continue
        found: dict[tuple[int, tuple[int, ...]], int] = {}
        for snap in (step.action.start, step.action.end):
            for effect in snap.effects if snap is not None else ():
                for choice in effect.choices:
                    for objects in product(*[task.domains[v.domain] for v in choice.variables]):
                        found[choice.number, objects] = choice.alternatives
        yield from [((number, which, objects), count) for (which, objects), count in found.items()]
