"""Group rules by meaning: distinguished by executions of the problem, or proved equal on all of its traces.

The verdicts of candidate rules on executions of one problem: random walks, and given plans.

The verdict of an execution is which of the rules it violates if it ends here, whoever is to blame (``--judge all``);
every beginning of a walk is also an execution.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from plansafe.llm.formalise.asking import Limits
from plansafe.llm.formalise.equivalence import Reader
from plansafe.specs.lint.lint_problem import LintProblem
from plansafe.specs.lint.trace_search import compute_outcome
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.operations import find_atoms
from plansafe.verifier.planning.planner import PlanningStatus


class Alike(NamedTuple):
    """Rules, by number, without a known difference; ``proved``: on all traces of the problem. ``how``: the method."""

    rules: tuple[int, ...]
    proved: bool
    how: str


class Grouped(NamedTuple):
    """The groups in the order of their first rules, and what executions were looked at, in words."""

    groups: tuple[Alike, ...]
    looked_at: str


def grouped(checker: Checker, limits: Limits) -> Grouped:
    """Group all rules of ``checker`` by their verdicts on the problem's executions.

    First all sequences of letters are read, which proves rules equal; then random executions, and plans that planners
    find where one rule is kept and the other broken, tell rules apart. A group is *proved* if each of its rules is
    equal to the first by such a proof, or since planners searched everything.
    """
    count = len(checker.rules)
    reader = Reader(checker.engine)
    same: dict[int, int] = {}
    for number in range(count):
        for earlier in [n for n in range(number) if n not in same]:
            if reader.compare(checker.rules[earlier].parts, checker.rules[number].parts).equal:
                same[number] = earlier
                break
    heads = [number for number in range(count) if number not in same]
    if len(heads) == 1:
        return Grouped((_alike(tuple(range(count)), True, ""),), "all sequences of states and actions of the problem")
    traces = Traces(checker.engine, count)
    traces.walk(limits.walks, limits.steps, limits.seed)
    proved = _split_by_plans(checker, traces, heads, limits)
    looked_at = f"{traces.count} executions of at most {limits.steps} random steps, or that planners found"
    groups = []
    for numbers in traces.alike(heads):
        members = sorted([*numbers, *[number for number, head in same.items() if head in numbers]])
        sure = all([(numbers[0], number) in proved for number in numbers[1:]])
        groups.append(_alike(tuple(members), sure, looked_at))
    return Grouped(tuple(sorted(groups, key=lambda group: group.rules[0])), looked_at)


def _alike(rules: tuple[int, ...], sure: bool, looked_at: str) -> Alike:
    if len(rules) == 1:
        return Alike(rules, True, "all of one text")
    how = "PROVED equal on all traces of the problem" if sure else f"no difference in {looked_at}"
    return Alike(rules, sure, how)


def _split_by_plans(checker: Checker, traces: Traces, heads: Sequence[int], limits: Limits) -> set[tuple[int, int]]:
    """Let planners look for plans that tell rules apart which are still alike; the pairs that they prove equal."""
    proved: set[tuple[int, int]] = set()
    tried: set[tuple[int, int]] = set()
    while True:
        pairs = [
            (numbers[0], n) for numbers in traces.alike(heads) for n in numbers[1:] if (numbers[0], n) not in tried
        ]
        if not pairs:
            return proved
        first, second = pairs[0]
        tried.add((first, second))
        sure = True
        for satisfied, broken in ((first, second), (second, first)):
            search = LintProblem(checker, limits.planner_s)
            plan = search.find_violating_plan(broken, frozenset([satisfied]))
            if plan.status is PlanningStatus.SOLVED:
                traces.replay(plan.steps)
            sure &= plan.status is PlanningStatus.UNSOLVABLE
        if sure:
            proved.add((first, second))


_CONCERNED = 0.7
"""How often a walk takes a step that changes what a rule reads, where there is one."""
_UNDECIDED = None


class Traces:
    """The executions that were looked at, and what each of the first ``rules`` rules of ``engine`` says of them."""

    def __init__(self, engine: Engine, rules: int) -> None:
        self.engine, self.rules = engine, rules
        self.verdicts: list[tuple[bool | None, ...]] = []
        self._seen: set[object] = set()
        self._start = Execution.initial(engine)
        self._look(self._start, ())

    @property
    def count(self) -> int:
        """How many different executions were looked at."""
        return len(self.verdicts)

    def walk(self, walks: int, steps: int, seed: int) -> None:
        """Random executions, each with all its beginnings; the same for the same seed."""
        random = Random(seed)
        concerned = _concerned(self.engine)
        for _ in range(walks):
            execution = self._start
            path: tuple[object, ...] = ()
            for _ in range(steps):
                legal = sorted(execution.legal(), key=lambda step: step.key)
                concerned_steps = [step for step in legal if step.action.name in concerned]
                if not legal:
                    break
                step = random.choice(concerned_steps if concerned_steps and random.random() < _CONCERNED else legal)
                after = _after(execution, step)
                if after is None:
                    break
                execution, path = after, (*path, step.key)
                self._look(execution, path)

    def replay(self, plan: Sequence[GroundAction]) -> None:
        """A plan with all its beginnings."""
        execution: Execution | None = self._start
        path: tuple[object, ...] = ()
        for step in plan:
            execution = _after(execution, step) if execution is not None else None
            if execution is None:
                return
            path = (*path, step.key)
            self._look(execution, path)

    def alike(self, numbers: Iterable[int]) -> list[list[int]]:
        """The rules with the same verdict on every execution, in groups, the largest first."""
        groups: dict[tuple[bool | None, ...], list[int]] = {}
        for number in numbers:
            groups.setdefault(tuple([rule_number[number] for rule_number in self.verdicts]), []).append(number)
        return list(groups.values())

    def _look(self, execution: Execution, path: tuple[object, ...]) -> None:
        if path in self._seen:
            return
        self._seen.add(path)
        try:
            outcome = compute_outcome(execution)
        except TooManyInstances:
            return
        self.verdicts.append(
            tuple(
                [
                    True if n in outcome.violated_rules else _UNDECIDED if n in outcome.unsatisfied_rules else False
                    for n in range(self.rules)
                ]
            )
        )


def _after(execution: Execution, step: GroundAction) -> Execution | None:
    try:
        return execution.after(step)
    except (NumberTooLarge, TooManyInstances):
        return None


def _concerned(engine: Engine) -> frozenset[str]:
    """The actions that rules name, or that change a predicate which they read."""
    formulas = [f for part in engine.rule_set.parts for f in (part.body, part.guard, part.step) if f is not None]
    read = {atom.predicate for formula in formulas for atom in find_atoms(formula)}
    action_names = {name for (_, name), predicate in engine.action_predicates.items() if predicate in read}
    return frozenset(
        [
            a.name
            for a in engine.task.actions.values()
            if a.name in action_names or read & set(engine.find_changed_symbols(a))
        ]
    )
