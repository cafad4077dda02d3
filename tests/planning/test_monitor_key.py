"""Two executions with the same monitor key have equal futures, on random tasks and rules."""

from __future__ import annotations

from random import Random

import pytest
from generate import STREAMS, case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.rules.verdict_criteria import JUDGE_MODES, VerdictCriteria
from quick import quick_every

SEED = 407
UNTIMED = [stream for stream in STREAMS if stream != "timed"]
Future = tuple[object, ...]


def checkers(stream: str, number: int) -> tuple[Checker, list[GroundAction]]:
    """A random task with few rules, and some of its steps."""
    task_case = case(stream, SEED, number, rules=3, plans=0)
    texts = (task_case.domain_text(), task_case.problem_text(), task_case.safety_text())
    domain, problem, safety = [Source(name, text) for name, text in zip("dps", texts, strict=True)]
    checker = Checker(domain, problem, [safety] if safety.text else [])
    assert checker.ok, checker.diagnostics
    random = Random(f"{stream} {number}")
    steps: list[GroundAction] = []
    task = checker.engine.task
    for action in task.actions.values():
        domains = [task.domains[v.domain] for v in action.parameters]
        if all(domains):
            steps.append(GroundAction(action, tuple(random.choice(members) for members in domains)))
    return checker, random.sample(steps, min(len(steps), 6))


def violations(execution: Execution, since: int) -> set[tuple[object, ...]]:
    """The violations that count, with steps relative to a letter, without the parts of preferences."""
    runtime = execution.runtime
    if runtime is None:
        return set()
    end = runtime.fork()
    end.finish(execution.state, LetterTime(execution.letter, execution.letter, False))

    def hard(v: Violation) -> bool:
        return not execution.engine.rule_set.rules[execution.engine.rule_set.parts[v.part].rule].preference

    return {
        (v.part, v.binding, max(v.step - since, 0), v.at_end)
        for v in end.collect_violations()
        if hard(v) and (v.step > since or v.at_end)
    } | {("undecided", bool(end.collect_undecided()))}


def future(execution: Execution, steps: list[GroundAction], blame: bool) -> list[Future]:
    """The result of each prefix of a continuation."""
    since, out = execution.letter, []
    now: Execution | None = execution
    for step in steps:
        assert now is not None
        try:
            now = now.after(step) or now
        except NumberTooLarge:
            break
        if blame:  # once something is the plan's doing, nothing more is asked
            lasting = () if now.broken else (now.undecided, now.accepted, now.new_violations, now.violations_at_end)
            out.append((now.broken, lasting))
        else:
            out.append((now.broken, now.undecided, now.accepted, violations(now, since)))
    return out


@pytest.mark.parametrize("judge", JUDGE_MODES)
@pytest.mark.parametrize("stream", quick_every(7, UNTIMED))
def test_equal_keys_have_equal_futures(stream: str, judge: str) -> None:
    random, introduced = Random(f"{stream} {judge}"), judge == "introduced"
    merged = 0
    for number in range(8):
        checker, steps = checkers(stream, number)
        if not steps:
            continue
        executions: dict[object, Execution] = {}
        for _ in range(12):
            now = Execution.initial(checker.engine, criteria=VerdictCriteria(judge))
            for _ in range(random.randint(1, 14)):
                now = now.after(random.choice(steps)) or now
                earlier = executions.setdefault(now.key(), now)
                if earlier is not now:
                    merged += earlier.letter != now.letter
                    later_steps = [random.choice(steps) for _ in range(6)]
                    assert future(earlier, later_steps, introduced) == future(now, later_steps, introduced), (
                        number,
                        now.key(),
                    )
    assert merged > 10


DOMAIN = """(define (domain cups) (:predicates (on) (off))
  (:action put :effect (and (on) (not (off)))) (:action take :effect (and (off) (not (on)))))"""
PROBLEM = "(define (problem p) (:domain cups) (:init (off)) (:goal (and)))"
ONCE_ONLY = "(define (safety s) (:trajectory r :severity {severity} :formula (at-most-once (on))))"


@pytest.mark.parametrize(("severity", "is_equal"), [("critical", False), ("low", True)])
def test_the_memory_of_a_rule_that_does_not_decide_is_not_in_the_key(severity: str, is_equal: bool) -> None:
    texts = (DOMAIN, PROBLEM, ONCE_ONLY.format(severity=severity))
    domain, problem, safety = [Source(name, text) for name, text in zip("dps", texts, strict=True)]
    checker = Checker(domain, problem, [safety])
    assert checker.ok, checker.diagnostics
    now = start = Execution.initial(checker.engine, criteria=VerdictCriteria(min_severity="critical"))
    for name in ("put", "take"):
        after = now.after(GroundAction(checker.engine.task.actions[name], ()))
        assert after is not None
        now = after
    assert now.state_key() == start.state_key()
    assert (now.key() == start.key()) is is_equal
