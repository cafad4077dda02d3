"""Small random tasks whose goal is reached by a random walk, with rules that may forbid the walk."""

from __future__ import annotations

from random import Random

from tiny_tasks import tiny

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.execution import Execution


def checker_of(domain: str, problem: str, rules: str = "", **options: object) -> Checker:
    texts = [Source(name, text) for name, text in (("d", domain), ("p", problem), ("s", rules))]
    checker = Checker(texts[0], texts[1], [texts[2]] if rules else [], Options(**options))  # type: ignore[arg-type]
    assert checker.ok, checker.diagnostics
    return checker


def endless(number: int) -> Checker:
    """A random task whose goal is all facts after a random walk; rules may forbid the walk."""
    random = Random(f"endless {number}")
    task = tiny(random, endless=True)
    free = checker_of(*task[:2])
    simulation = Execution(free.engine)
    for _ in range(random.randint(2, 7)):
        steps = list(simulation.legal())
        if steps:
            simulation.take(random.choice(steps))
    words = free.engine.task
    goal = [words.fact_text(p, code) for p, codes in enumerate(simulation.state.facts) for code in codes]
    problem = task.problem.partition("(:goal")[0] + f"(:goal (and {' '.join(goal)})))"
    return checker_of(task.domain, problem, task.safety)
