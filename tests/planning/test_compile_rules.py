"""Compiled rules agree with the monitors: a plan is safe iff it reaches the goal of the compiled task."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from case import plan_text
from generate import case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.planning.compile_rules import FINISH, compile_rules
from plansafe.verifier.planning.external_planner import with_existential_conditions
from plansafe.verifier.planning.trace_automata import CannotCompile
from plansafe.verifier.reporting.report import Headline

STREAMS = ("pddl3", "ltl", "past", "steps", "ends", "mixed")
SEED = 31
CASES = 30
RULES = 2


def compiled_verdict(checker: Checker, steps: Sequence[GroundAction]) -> bool:
    """Whether a plan's steps, with the bookkeeping between them, reach the goal of the compiled task."""
    compiled = compile_rules(checker.engine)
    task = with_existential_conditions(compiled.task)
    engine = Engine(task, [], {})
    simulation = Execution(engine)
    actions = task.actions
    observe = None if compiled.observe is None else GroundAction(actions[compiled.observe], ())
    for step in (None, *steps):
        if step is not None and not simulation.take(GroundAction(actions[step.action.name], step.objects)):
            return False
        due = compiled.watch is not None and simulation.state.facts[compiled.watch]
        if observe is not None and due and not simulation.take(observe):
            return False
    if FINISH in compiled.bookkeeping and not simulation.take(GroundAction(actions[FINISH], ())):
        return False
    return engine.evaluate_goal(simulation.state) is True


def disagreements(stream: str, number: int) -> tuple[list[str], int, int]:
    """The disagreements on one random task, and the numbers of compared and of safe plans."""
    task_case = case(stream, SEED, number, rules=RULES)
    texts = (task_case.domain_text(), task_case.problem_text(), task_case.safety_text())
    domain, problem, safety = [Source(name, text) for name, text in zip(("d", "p", "s"), texts, strict=True)]
    checker = Checker(domain, problem, [safety] if task_case.rules else [])
    out: list[str] = []
    compared = safe = 0
    for plan in task_case.plans:
        text = plan_text(plan)
        for length in sorted({0, len(plan) // 3, len(plan)}):
            lines = text.splitlines()[:length]
            steps = [checker.engine.resolver.resolve_step(tuple(line.strip("()").split())) for line in lines]
            report = checker.check(Source("plan", "\n".join(lines)))
            if report.headline is Headline.UNKNOWN or any([isinstance(step, IllFormed) for step in steps]):
                continue
            expected = report.headline in (Headline.SAFE, Headline.VALID)
            try:
                problems = compiled_verdict(checker, [step for step in steps if isinstance(step, GroundAction)])
            except CannotCompile:
                return out, compared, safe
            compared += 1
            safe += expected
            if problems != expected:
                failing_plan = "\n".join(lines)
                out.append(
                    f"{task_case.name}: {report.headline}, compiled {problems}\n{failing_plan}\n" + "\n".join(texts)
                )
    return out, compared, safe


@pytest.mark.slow
@pytest.mark.parametrize("stream", STREAMS)
def test_verdicts_of_random_tasks(stream: str) -> None:
    compared = safe = 0
    for number in range(CASES):
        problems, count, good = disagreements(stream, number)
        assert not problems, problems[0]
        compared, safe = compared + count, safe + good
    assert compared > CASES
    assert 0 < safe < compared
