"""The symbolic engines agree with the explicit engine on conformance cases and examples in which nothing is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from case_files import Case, conformance_cases
from plansafe.app.session.audit import Session, audit
from plansafe.app.session.model import Settings
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Report
from plansafe.verifier.symbolic.circuits.circuit import TRUE
from plansafe.verifier.symbolic.worlds.encode import encode_plan
from quick import quick_every

ROOT = Path(__file__).resolve().parents[2]
CASES = conformance_cases().values()
EXAMPLES = sorted((ROOT / "examples").rglob("*.plan"))
TIMED = {
    "s20_dur_overall_broken",
    "s23_dur_same_instant",
    "s25_dur_neg_time",
    "s26_mutex_same_time",
    "s27_unsorted_times",
    "s29_TIL_ok",
    "s47_event_pddlplus",
    "s48_event_pddlplus_ok",
}
"""Cases with timed plans, which the symbolic engines accept only if something is open."""


def summary(report: Report) -> tuple[object, ...]:
    """The fields of a report that do not depend on the engine."""
    findings = [(f.code, f.message, f.rule, f.binding, f.step, f.at_end, f.readings, f.blame) for f in report.findings]
    rules = [(r.name, r.instances, r.violations, r.status) for r in report.rules]
    values = (report.headline, report.executable, report.goal, report.safe, report.exit_code, report.metric)
    return values, findings, rules, report.readings


@pytest.mark.parametrize("engine", ["sat", "smt"])
@pytest.mark.parametrize("case", quick_every(5, CASES), ids=[case.name for case in CASES])
def test_engines_agree_on_conformance_cases(case: Case, engine: str) -> None:
    files = [case.source(name) for name in ("domain.pddl", "problem.pddl", "plan")]
    explicit = Checker(*files[:2]).check(files[2])
    symbolic = Checker(*files[:2], (), Options(engine=engine)).check(files[2])
    if case.name in TIMED:
        refusals = (["SC507"], ["SC508"])  # timed plans, continuous time
        assert explicit.headline is None or [d.code for d in symbolic.diagnostics] in refusals
        assert symbolic.headline is None or symbolic.exit_code == 3
        return
    assert summary(symbolic) == summary(explicit)
    assert symbolic.worlds is None


@pytest.mark.parametrize(
    "plan", quick_every(6, EXAMPLES), ids=[str(plan.relative_to(ROOT / "examples")) for plan in EXAMPLES]
)
def test_engines_agree_on_examples(plan: Path) -> None:
    (explicit,) = audit([str(plan)], Settings())
    (symbolic,) = audit([str(plan)], Settings(engine="sat"))
    if [d.code for d in symbolic.report.diagnostics if d.code == "SC507"]:
        assert plan.parent.name == "oven"  # a SAT solver does not support open numbers
        return
    if [d.code for d in symbolic.report.diagnostics if d.code == "SC508"]:
        assert plan.parent.name in ("bathtub", "battery", "kettle")  # continuous time
        return
    assert summary(symbolic.report) == summary(explicit.report)


@pytest.mark.parametrize("case", [case for case in CASES if case.name not in TIMED], ids=lambda case: case.name)
def test_the_encoding_of_a_conformance_case_has_the_violated_instances_of_the_report(case: Case) -> None:
    """The report shows a replay; the encoding itself has the same violated instances and goal."""
    checker = Checker(case.source("domain.pddl"), case.source("problem.pddl"))
    plan = case.source("plan")
    report = checker.check(plan)
    if not checker.ok or report.headline is None:
        return
    _assert_same_instances(checker, report, plan)


def test_the_encoding_of_an_example_has_the_violated_instances_of_the_report() -> None:
    session = Session(Settings())
    compared_examples = 0
    for path in EXAMPLES:
        prepared = session.prepare(str(path))
        checker = getattr(prepared, "checker", None)
        if checker is None or checker.is_open or checker.read(prepared.plan).is_open:  # type: ignore[union-attr]
            continue
        if checker.engine.task.is_continuous:
            continue
        plan = prepared.plan  # type: ignore[union-attr]
        _assert_same_instances(checker, checker.check(plan), plan)
        compared_examples += 1
    assert compared_examples >= 8


def _assert_same_instances(checker: Checker, report: Report, plan: Source) -> None:
    encoding = encode_plan(checker.compiled, checker.read(plan))
    assert all(v.literal == TRUE for v in encoding.violations)
    assert (encoding.executable == TRUE) == (report.executable.value == "ALL")
    assert (encoding.goal == TRUE) == (report.goal.value == "ALL")
    instances = set()
    for violation in encoding.violations:
        part = checker.engine.rule_set.parts[violation.part]
        binding = part.show_binding(checker.engine.task.names(violation.binding))
        instances.add((checker.rules[part.rule].name, binding))
    halted = [f for f in report.findings if f.rule and "halt" in f.readings and f.finding_class.value != "undecided"]
    assert instances == {(f.rule, f.binding) for f in halted}
