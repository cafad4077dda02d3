"""Agreement with the plan validators of unified-planning, on its example problems and on random changes of their plans.

usage: python -m bench.field.up_validators [--mutants N] [--random N] [--constraints N] [--seed N] [--output FILE.md]

1. The valid and invalid plans of ``unified_planning.test.examples``: expected verdict, theirs, ours.
2. ``--mutants`` random changes of these plans (delete, swap, replace, insert, repeat, move in time, change a duration).
3. ``--random`` random problems with a random plan (``up_problems``).
4. ``--constraints`` random trajectory constraints on the sequential problems. unified-planning's validator does not
   read them, so that the reference is its compiler ``TrajectoryConstraintsRemover`` and the validator of the result.

A difference needs a reason, which the script computes. Exit codes: 0; 1 if a reason is missing.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import unified_planning
from bench.field.up_problems import ProblemMaker
from unified_planning.engines import SequentialPlanValidator, TimeTriggeredPlanValidator
from unified_planning.engines.compilers.trajectory_constraints_remover import TrajectoryConstraintsRemover
from unified_planning.exceptions import UPException
from unified_planning.model import DurativeAction
from unified_planning.model.fluent import get_all_fluent_exp
from unified_planning.plans import ActionInstance, PlanKind, SequentialPlan, TimeTriggeredPlan
from unified_planning.test.examples import get_example_problems

from plansafe.app.interfaces.unified_planning.engine import SafecheckValidationResult, SafecheckValidator

INTERFERENCE = "two actions interfere at one time (PDDL 2.1, definition 12); theirs lets both happen"
SAME_FACT = "two actions give one fluent the same value at one time; theirs forbids every double assignment"
SAME_VALUE = "two effects of one action assign the same value; ours forbids every double assignment of a number"
OVERLAP = "an action runs twice at one time, and the problem does not allow it; theirs does not check this"
BOUNDS = "the bounds of a type or a state invariant are violated at some time; theirs does not check all times"
WRONG_EXAMPLE = (
    "the example is wrong: the plan sets `value` to 2, and the goal is 1; theirs does not support the problem"
)
OPEN = "the state at the start violates a condition on an interval that is open there; theirs reads only later states"
FALSE = "a constraint simplifies to `false`; its compiler drops the constraint"
INITIAL = "the initial state violates an invariant; theirs raises an exception"


class Comparison(NamedTuple):
    """The verdicts on one plan. ``expected``: the verdict of the example; ``theirs``: empty if not supported."""

    name: str
    kind: str
    expected: str
    theirs: str
    ours: str
    reason: str

    @property
    def agrees(self) -> bool:
        """Whether the verdicts are equal, as far as there are others."""
        return self.ours in ("", self.expected or self.theirs or self.ours)


def judge(problem: Any, plan: Any, validator: SafecheckValidator, name: str = "", expected: str = "") -> Comparison:
    """Ask both validators."""
    theirs, messages = judge_theirs(problem, plan)
    if not (validator.supports(problem.kind) and validator.supports_plan(plan.kind)):
        missing = sorted(problem.kind.features - validator.supported_kind().features)
        return Comparison(name, plan.kind.name, expected, theirs, "", f"not supported: {', '.join(missing)}")
    result = validator.validate(problem, plan)
    ours = result.status.name
    reason = "" if ours == (expected or theirs or ours) else find_reason(plan, theirs, messages, result, name)
    return Comparison(name, plan.kind.name, expected, theirs, ours, reason)


def judge_theirs(problem: Any, plan: Any) -> tuple[str, str]:
    """The verdict of unified-planning's validator with its messages; empty if it does not support the problem."""
    for validator in (SequentialPlanValidator(), TimeTriggeredPlanValidator()):
        if validator.supports(problem.kind) and validator.supports_plan(plan.kind):
            try:
                result = validator.validate(problem, plan)
            except UPException as error:
                return "EXCEPTION", str(error)
            return result.status.name, " ".join([log.message for log in result.log_messages or ()])
    return "", ""


def find_reason(plan: Any, theirs: str, messages: str, result: SafecheckValidationResult, name: str) -> str:
    """Why the verdicts differ; empty if that is unknown."""
    findings = result.report.findings if result.report is not None else ()
    first = min((f.step for f in findings if f.finding_class.value in ("inexecutable", "ill-formed")), default=None)
    codes = {finding.code for finding in findings if finding.step == first}
    timed = plan.kind is PlanKind.TIME_TRIGGERED_PLAN
    ours = result.status.name
    if name == "basic_undef_numeric" and not theirs:
        return WRONG_EXAMPLE
    if ours == "INVALID" and theirs == "VALID":
        if timed and any(f.code == "SC304" and "halt" in f.readings for f in findings):
            return INTERFERENCE
        if timed and any("while the same action is running" in log.message for log in result.log_messages):
            return OVERLAP
        if timed and any(f.finding_class.value == "constraint" for f in findings):
            return BOUNDS
        if timed and "SC306" in codes and has_open_condition(plan):
            return OPEN
        if "SC303" in codes:
            return SAME_VALUE
    if ours == "VALID" and theirs == "INVALID" and timed and "Conflicting effects" in messages:
        return SAME_FACT
    if ours == "INVALID" and theirs == "EXCEPTION" and "already violates the state invariants" in messages:
        return INITIAL
    return ""


def has_open_condition(plan: Any) -> bool:
    """Whether an action of a timed plan has a condition on an interval that is open at its start."""
    durative = [action.action for _, action, duration in plan.timed_actions if duration is not None]
    return any(interval.is_left_open() for action in durative for interval in action.conditions)


def make_instances(problem: Any, random_source: random.Random) -> list[Any]:
    """Up to 500 random ground actions of a problem."""
    manager = problem.environment.expression_manager
    instances = []
    for action in problem.actions:
        choices = [list(problem.objects(p.type)) for p in action.parameters if p.type.is_user_type()]
        if len(choices) < len(action.parameters):
            continue
        grounded = [tuple(map(manager.ObjectExp, objects)) for objects in product(*choices)]
        instances += [(action, objects) for objects in grounded]
    random_source.shuffle(instances)
    return instances[:500]


def mutate(plan: Any, instances: list[Any], random_source: random.Random) -> Any:
    """Change a plan at one to three random places."""
    timed = plan.kind is PlanKind.TIME_TRIGGERED_PLAN
    steps = list(plan.timed_actions) if timed else [(None, action, None) for action in plan.actions]
    for _ in range(random_source.choice((1, 1, 2, 3))):
        kinds = ["insert"] + ["delete", "swap", "replace", "repeat", *(["shift", "stretch", "align"] * timed)] * bool(
            steps
        )
        kind, k = random_source.choice(kinds), random_source.randrange(max(1, len(steps)))
        fresh = random_source.choice(instances) if instances else None
        if kind == "delete":
            del steps[k]
        elif kind == "swap":
            second = random_source.randrange(len(steps))
            (time, a, d), (second_time, b, e) = steps[k], steps[second]
            steps[k], steps[second] = (time, b, e), (second_time, a, d)
        elif kind == "repeat":
            time, action, duration = steps[k]
            later = None if time is None else time + random_source.choice((0, Fraction(1, 2), duration or 1))
            steps.insert(k + 1, (later, ActionInstance(action.action, action.actual_parameters), duration))
        elif kind in ("replace", "insert") and fresh is not None:
            action = ActionInstance(*fresh)
            duration = Fraction(random_source.randrange(1, 8)) if isinstance(fresh[0], DurativeAction) else None
            time = steps[k][0] if steps else Fraction(0) if timed else None
            steps[k : k + (kind == "replace")] = [(time, action, duration)]
        elif kind == "shift":
            time, action, duration = steps[k]
            steps[k] = (max(Fraction(0), time + Fraction(random_source.randrange(-8, 9), 4)), action, duration)
        elif kind == "stretch":
            time, action, duration = steps[k]
            steps[k] = (time, action, duration and max(Fraction(0), duration + random_source.choice((-1, 1, 0.5))))
        elif kind == "align":
            start, _, duration = random_source.choice(steps)
            steps[k] = (start + random_source.choice((0, duration or 0)), *steps[k][1:])
    if timed:
        return TimeTriggeredPlan([(Fraction(t), a, d and Fraction(d)) for t, a, d in steps], plan.environment)
    return SequentialPlan([action for _, action, _ in steps], plan.environment)


def judge_examples() -> list[Comparison]:
    """All plans of the examples."""
    validator = SafecheckValidator()
    comparisons = []
    for name, case in get_example_problems().items():
        for expected, plans in (("VALID", case.valid_plans), ("INVALID", case.invalid_plans)):
            comparisons += [judge(case.problem, plan, validator, name, expected) for plan in plans]
    return comparisons


def judge_mutants(count: int, seed: int) -> list[Comparison]:
    """Random changes of the plans of the examples that both validators support."""
    random_source, validator = random.Random(seed), SafecheckValidator()
    cases = []
    for name, case in get_example_problems().items():
        plans = [*case.valid_plans, *case.invalid_plans]
        if plans and all(validator.supports_plan(plan.kind) for plan in plans):
            kind = case.problem.kind
            theirs = SequentialPlanValidator.supports(kind) or TimeTriggeredPlanValidator.supports(kind)
            if validator.supports(kind) and theirs:
                cases.append((name, case.problem, plans, make_instances(case.problem, random_source)))
    comparisons = []
    for number in range(count):
        name, problem, plans, instances = cases[number % len(cases)]
        plan = mutate(random_source.choice(plans), instances, random_source)
        comparisons.append(judge(problem, plan, validator, name))
    return comparisons


def judge_random(count: int, seed: int) -> list[Comparison]:
    """Random problems with a random plan."""
    maker, validator = ProblemMaker(seed), SafecheckValidator()
    return [judge(*maker.make(), validator) for _ in range(count)]


def judge_constraints(count: int, seed: int) -> list[Comparison]:
    """Random changes of sequential plans, on problems with random trajectory constraints."""
    random_source, validator = random.Random(seed), SafecheckValidator()
    cases = []
    for name, case in get_example_problems().items():
        problem = case.problem
        sequential = [plan for plan in case.valid_plans if plan.kind is PlanKind.SEQUENTIAL_PLAN]
        atoms = [
            atom
            for fluent in getattr(problem, "fluents", ())
            if fluent.type.is_bool_type() and fluent not in problem.get_static_fluents()
            for atom in get_all_fluent_exp(problem, fluent)
        ]
        supported = validator.supports(problem.kind) and TrajectoryConstraintsRemover.supports(problem.kind)
        if sequential and atoms and supported and not problem.kind.has_bounded_types():
            cases.append((name, problem, sequential, atoms, make_instances(problem, random_source)))
    comparisons = []
    for number in range(count):
        name, problem, plans, atoms, instances = cases[number % len(cases)]
        constrained = problem.clone()
        for _ in range(random_source.choice((1, 1, 2))):
            constrained.add_trajectory_constraint(make_constraint(problem, atoms, random_source))
        plan = random_source.choice(plans)
        if random_source.random() < 0.5:
            plan = mutate(plan, instances, random_source)
        theirs = judge_by_compilation(constrained, plan)
        ours = validator.validate(constrained, plan).status.name
        is_false = any(part.is_false() for part in constrained.trajectory_constraints)
        reason = FALSE if is_false and (theirs, ours) == ("VALID", "INVALID") else ""
        comparisons.append(Comparison(name, "constraints", "", theirs, ours, reason))
    return comparisons


def make_constraint(problem: Any, atoms: list[Any], random_source: random.Random) -> Any:
    """A random trajectory constraint over one or two literals or disjunctions of literals."""
    manager = problem.environment.expression_manager
    literals = [*atoms, *map(manager.Not, atoms)]

    def formula() -> Any:
        first, second = random_source.choice(literals), random_source.choice(literals)
        return random_source.choice((first, first, manager.Or(first, second), manager.And(first, second)))

    unary = (manager.Always, manager.Sometime, manager.AtMostOnce)
    binary = (manager.SometimeBefore, manager.SometimeAfter)
    operator = random_source.choice((*unary, *binary))
    return operator(formula()) if operator in unary else operator(formula(), formula())


def judge_by_compilation(problem: Any, plan: Any) -> str:
    """The verdict of unified-planning's validator on the problem without constraints that its compiler makes."""
    try:
        compiled = TrajectoryConstraintsRemover().compile(problem)
    except UPException:
        return "INVALID"  # the compiler refuses problems whose initial state violates a constraint
    forward = {}
    for action in compiled.problem.actions:
        original = compiled.map_back_action_instance(ActionInstance(action))
        forward[original.action.name, original.actual_parameters] = action
    steps = [forward.get((step.action.name, step.actual_parameters)) for step in plan.actions]
    if None in steps:
        return "INVALID"  # the compiler removes actions that can never be taken
    compiled_plan = SequentialPlan([ActionInstance(step) for step in steps], problem.environment)
    for fluent in compiled.problem.fluents:  # the compiler gives its own facts no value if they are false
        if fluent not in problem.fluents and fluent() not in compiled.problem.explicit_initial_values:
            compiled.problem.set_initial_value(fluent(), False)
    return SequentialPlanValidator().validate(compiled.problem, compiled_plan).status.name


def describe(parts: dict[str, list[Comparison]]) -> str:
    """The result as Markdown."""
    lines = [
        f"unified-planning {unified_planning.__version__ if hasattr(unified_planning, '__version__') else ''}".strip()
    ]
    for title, comparisons in parts.items():
        supported = [entry for entry in comparisons if entry.ours]
        verdicts = Counter(entry.ours for entry in supported)
        equal = sum(entry.agrees for entry in supported)
        lines.append(
            f"- {title}: {len(comparisons)} plans, {len(supported)} supported"
            f" ({', '.join(f'{count} {verdict}' for verdict, count in sorted(verdicts.items()))}), {equal} agree"
        )
        reasons = Counter(
            (e.expected or e.theirs, e.ours or "-", e.reason) for e in comparisons if not e.ours or not e.agrees
        )
        for (theirs, ours, reason), count in reasons.most_common():
            lines.append(f"  - {count}: theirs {theirs}, ours {ours}: {reason or 'NO REASON'}")
    return "\n".join([*lines, ""])


def main(arguments: list[str] | None = None) -> int:
    """Compare, and print the counts with the reasons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=2000)
    parser.add_argument("--random", type=int, default=2000)
    parser.add_argument("--constraints", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    parts = {
        "examples": judge_examples(),
        "changed plans": judge_mutants(options.mutants, options.seed),
        "random problems": judge_random(options.random, options.seed),
        "constraints": judge_constraints(options.constraints, options.seed),
    }
    text = describe(parts)
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    comparisons = [entry for comparisons in parts.values() for entry in comparisons]
    unexplained = [entry for entry in comparisons if entry.ours and not entry.agrees and not entry.reason]
    for entry in unexplained:
        print(f"no reason: {entry}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
