"""The figures of diagnosis and labels, and the cases of the benchmark of repairs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from bench.faults.corpus import Case, Fault, PlanEdit, apply_edits
from bench.faults.depot import depot_task
from bench.faults.evaluate import (
    KINDS_OF_LABEL,
    SCHEMES,
    Row,
    diagnosis_figures,
    figure_table,
    label_figures,
    missed_cases,
    named_kinds,
)
from bench.faults.long_plans import MAKERS, kernel_headline, long_cases
from bench.faults.sample import diff_lines
from bench.faults.task import GOOD, plan_source

from plansafe.verifier.diagnose.labels import SAFEL_LABELS
from plansafe.verifier.diagnose.labels_eai import EAI_LABELS
from plansafe.verifier.diagnose.model import Diagnosis, ErrorClass, Witness
from plansafe.verifier.repair.model import Edit, EditKind, Repair, RepairResult, RepairStatus
from plansafe.verifier.reporting.report import Report, Worlds

REPORT = Report("plan", None, Worlds.NONE, Worlds.NONE, Worlds.NONE, 0)


def make_case(*kinds: str) -> Case:
    faults = tuple([Fault(kind, n, "", PlanEdit(step=n)) for n, kind in enumerate(kinds, 1)])
    return Case("case", depot_task("count", 12), (), faults, False)


def make_row(kinds: tuple[str, ...], classes: tuple[str, ...], named_kinds: set[str], label: str) -> Row:
    return Row(make_case(*kinds), classes, frozenset(named_kinds), dict.fromkeys(SCHEMES, label), 0.5, "found", 1)


def test_a_compound_names_the_kinds_of_its_vector() -> None:
    witnesses = (
        Witness(ErrorClass.COMPOUND, (2, 3), "", vector=(("insert", 1), ("move", 2), ("delete", 0))),
        Witness(ErrorClass.GRAMMAR, (1,), ""),
        Witness(ErrorClass.UNMET_GOAL, (), ""),
        Witness(ErrorClass.IRREPARABLE, (), ""),
    )
    diagnosis = Diagnosis("plan", REPORT, witnesses, RepairResult(RepairStatus.NOT_FOUND))
    assert named_kinds(diagnosis) == {"missing", "order", "grammar"}


def test_shares_by_hand() -> None:
    rows = [
        make_row(("missing",), ("missing",), {"missing"}, "missing step"),
        make_row(("order",), ("missing", "order"), {"missing", "order"}, "unmet goal"),
        make_row(("substitute",), ("additional",), {"additional"}, "affordance"),
        make_row(("additional",), ("irreparable",), set(), "success"),
    ]
    line = diagnosis_figures(rows)
    assert (line["cases"], line["all kinds named"], line["mean size"]) == (4, 50.0, 1.25)
    assert (line["singletons"], line["right singletons"], line["irreparable"]) == (75.0, 25.0, 25.0)
    assert line["seconds"] == {"median": 0.5, "95 %": 0.5, "max": 0.5}
    safel = label_figures(rows, "SAFEL")
    assert (safel["right"], safel["or goal"], safel["success"]) == (50.0, 75.0, 25.0)
    assert [missed["kinds"] for missed in missed_cases(rows)] == [["substitute"], ["additional"]]


def test_a_label_is_right_if_it_names_either_fault() -> None:
    rows = [make_row(("missing", "grammar"), ("grammar", "missing"), {"missing", "grammar"}, "grammar")]
    line = label_figures(rows, "EAI, BEHAVIOR")
    assert (line["right"], line["all kinds named"]) == (100.0, 0.0)
    (only,) = figure_table(rows).values()
    assert set(only) == {"all", "source: depot"}


def test_each_label_has_a_scheme_entry() -> None:
    without_kind = {"unmet goal", "unsatisfied goal", "success"}
    assert set(SAFEL_LABELS) | set(EAI_LABELS) == set(KINDS_OF_LABEL) | without_kind


@pytest.mark.slow
def test_long_cases_have_their_length_and_number_of_faults() -> None:
    cases = list(long_cases(9, 30))
    assert [(case.task.source, len(case.faults)) for case in cases] == [
        (source, number) for number in (1, 2, 3) for source in MAKERS
    ]
    for case in cases:
        assert len(case.task.gold) == 30
        assert apply_edits(case.task.gold, [fault.edit for fault in case.faults]) == case.steps
        assert case.task.checker().check(case.plan).headline not in GOOD


def test_the_kernel_checks_repairs() -> None:
    task = depot_task("kernel", 12)
    assert kernel_headline(task, task.gold, 60) == "SAFE"
    assert kernel_headline(task, task.gold[:-1], 60) in ("INVALID", "UNSAFE")
    assert task.checker().check(plan_source(task.gold)).headline in GOOD


def test_the_difference_shows_every_edit() -> None:
    edits = (
        Edit(EditKind.INSERT, 0, 2, "", "(b)", "gives (x) to step 2"),
        Edit(EditKind.SUBSTITUTE, 2, 3, "(z)", "(c)"),
        Edit(EditKind.MOVE, 5, 4, "(e)", "(e)"),
        Edit(EditKind.DELETE, 3, 0, "(d)", ""),
    )
    steps, origin = ("(a)", "(b)", "(c)", "(e)", "(f)", "(g)", "(h)"), (1, 0, 2, 5, 4, 6, 7)
    repair = Repair(steps, origin, edits, Fraction(4), REPORT)
    assert list(diff_lines(repair)) == [
        "      1  (a)",
        "  +      (b)   ; gives (x) to step 2",
        "  ~   2  (c)   ; was (z)",
        "  >   5  (e)   ; was step 5",
        "  -   3  (d)",
        "      4  (f)",
        "      6  (g)",
        "    ..",
    ]
