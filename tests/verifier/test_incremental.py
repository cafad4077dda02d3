"""Monitors work in proportion to what a step changes, not to how many instances a rule has."""

from __future__ import annotations

from collections import Counter

import pytest
from engine_texts import checker, domain, judge, problem, safety, verdict

from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.monitors import automaton, invariant, stepcheck
from plansafe.verifier.execution.replay import HALT, Replay

DOMAIN = domain(
    "(:action mark :parameters (?x - thing) :effect (p ?x))",
    "(:action clear :parameters (?x - thing) :effect (not (p ?x)))",
    "(:action join :parameters (?x ?y - thing) :effect (q ?x ?y))",
    "(:action idle :parameters (?x - thing) :effect (other ?x))",
    predicates="(p ?x - thing) (q ?x ?y - thing) (other ?x - thing)",
)
OBJECTS = [f"t{n}" for n in range(300)]


def compiled(*rules: str, init: str = "") -> Checker:
    task = problem(objects=" ".join(OBJECTS) + " - thing", init=init)
    checked = checker(DOMAIN, task, safety(*rules), options=Options(replay="never"))  # the kernel is not incremental
    assert checked.ok, checked.diagnostics
    return checked


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often an automaton advanced, a condition was evaluated, and a monitor was woken."""
    counts: Counter[str] = Counter()

    def counted(owner: type, name: str, label: str) -> None:
        original = getattr(owner, name)

        def wrapper(*arguments: object) -> object:
            counts[label] += 1
            return original(*arguments)

        monkeypatch.setattr(owner, name, wrapper)

    counted(automaton.Automaton, "_advance", "advanced")
    counted(automaton.Automaton, "_advance_default", "advanced")
    counted(automaton.Automaton, "step", "woken")
    counted(invariant.InvariantMonitor, "step", "woken")
    counted(invariant.ConditionEvaluator, "__call__", "evaluated")
    counted(stepcheck.StepCheck, "check_step", "matched")
    return counts


RULES = {
    "invariant": "(:process r :parameters (?x ?y - thing) :forbid (and (p ?x) (p ?y) (q ?x ?y)))",
    "response": "(:trajectory r :parameters (?x - thing) :formula (sometime-after (p ?x) (q ?x ?x)))",
    "past": "(:process r :parameters (?x - thing) :when (p ?x) :require (once (q ?x ?x)))",
    "step": "(:process r :on (mark ?x) :forbid (q ?x ?x))",
    "termination": "(:termination r :parameters (?x ?y - thing) :forbid (and (p ?x) (q ?x ?y)))",
    "until": "(:trajectory r :parameters (?x - thing) :formula (until (not (q ?x ?x)) (p ?x)))",
}


@pytest.mark.parametrize("kind", RULES)
def test_steps_that_touch_nothing_of_a_rule_cost_it_nothing(kind: str, work: Counter[str]) -> None:
    checked = compiled(RULES[kind])
    idle = [f"(idle {name})" for name in OBJECTS]
    run = Replay(checked.engine, HALT)
    run.run_steps([checked.engine.resolver.resolve_tokens(step.strip("()").split()) for step in idle[:2]])
    work.clear()
    run.run_steps([checked.engine.resolver.resolve_tokens(step.strip("()").split()) for step in idle])
    assert not work
    assert run.letter == 302


@pytest.mark.parametrize("kind", ["invariant", "response", "past", "until"])
def test_a_step_costs_a_rule_the_same_whatever_the_number_of_objects(kind: str, work: Counter[str]) -> None:
    checked = compiled(RULES[kind])
    judge(checked, "(idle t0)")
    work.clear()
    judge(checked, "".join(f"(mark t{n}) (clear t{n})" for n in range(20)))
    assert work["woken"] <= 40  # once for each change, and not at all where no instance can have changed
    assert work["advanced"] + work["evaluated"] <= 20 * 30  # a few for each change, of 300 or 90,000 instances


def instances(checked: Checker, plan: str) -> int:
    """The instances that the monitors hold at the end of a plan."""
    run = Replay(checked.engine, HALT)
    run.run_steps(
        [checked.engine.resolver.resolve_tokens(step.strip("() ").split()) for step in plan.split(")") if step.strip()]
    )
    assert run.runtime is not None
    return sum(
        len(monitor.episodes) if isinstance(monitor, invariant.InvariantMonitor) else len(monitor.instances)
        for monitor in run.runtime.monitors
    )


def test_a_rule_over_all_pairs_makes_no_instance_for_each_pair() -> None:
    forbid = compiled("(:process r :parameters (?x ?y - thing) :forbid (and (q ?x ?y) (p ?x) (p ?y)))")
    assert instances(forbid, "(join t1 t2) (join t2 t3) (mark t1)") == 0
    assert instances(forbid, "(join t1 t2) (join t2 t3) (mark t1) (mark t2)") == 1
    response = compiled("(:trajectory r :parameters (?x ?y - thing) :formula (sometime-after (q ?x ?y) (p ?y)))")
    assert instances(response, "(join t1 t2) (join t2 t3)") <= 4
    report = judge(response, "(join t1 t2) (join t2 t3) (mark t2)")
    assert verdict(report) == "UNSAFE r(?x=t2,?y=t3)@end"
    assert report.rules[0].instances == 90_000


def test_a_condition_that_is_false_everywhere_is_reported_for_every_binding() -> None:
    report = judge(compiled("(:process r :parameters (?x - thing) :require (p ?x))", init="(p t7)"), "")
    assert report.rules[0].violations == 299
    report = judge(compiled("(:trajectory r :parameters (?x - thing) :formula (sometime (p ?x)))"), "(mark t7)")
    assert report.rules[0].violations == 299
    assert {finding.binding[0][1] for finding in report.findings} <= set(OBJECTS) - {"t7"}
    report = judge(compiled("(:trajectory r :parameters (?x - thing) :formula (next (p ?x)))"), "(mark t7)")
    assert (report.rules[0].violations, report.findings[0].step) == (299, 1)
    report = judge(compiled("(:process r :parameters (?x - thing) :require (once (p ?x)))"), "(mark t7)")
    assert report.rules[0].violations == 300


def test_bindings_that_leave_the_default_late_start_where_it_is() -> None:
    rule = "(:trajectory r :parameters (?x - thing) :formula (sometime-before (p ?x) (q ?x ?x)))"
    plan = "(idle t0)" * 50 + "(join t1 t1) (mark t1) (mark t2)"
    assert verdict(judge(compiled(rule), plan)) == "UNSAFE r(?x=t2)@53"


def test_runs_share_the_tables_of_their_automata() -> None:
    checked = compiled(RULES["until"])
    first_run, second_run = Replay(checked.engine, HALT), Replay(checked.engine, HALT)
    assert first_run.runtime is not None
    assert second_run.runtime is not None
    (first,) = first_run.runtime.monitors
    assert isinstance(first, automaton.Automaton)
    assert second_run.runtime.monitors == [first], "shared until one of them changes it"
    second_run.run_steps([checked.engine.resolver.resolve_tokens(["join", "t1", "t1"])])
    (second,) = second_run.runtime.monitors
    assert isinstance(second, automaton.Automaton)
    assert first.program is second.program
    assert first_run.runtime.monitors == [first]
    assert (first.retired, second.retired) == (set(), {(1,)})


def test_runs_do_not_disturb_each_other() -> None:
    checked = compiled(*[rule.replace(" r ", f" {kind} ") for kind, rule in RULES.items()])
    plan = "(join t1 t1) (mark t1) (mark t2) (join t2 t2) (clear t1) (mark t1)"
    first = verdict(judge(checked, plan))
    assert verdict(judge(checked, "(mark t5) (join t5 t5) (mark t5)")) != first
    assert verdict(judge(checked, plan)) == first
