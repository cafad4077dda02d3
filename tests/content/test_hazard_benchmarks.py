"""The committed data of the hazard benchmarks: SafeAgentBench labels, careless EARBench plans, IS-Bench goals."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from bench.hazards import isbench, safeagentbench
from bench.hazards.unread_tasks import Estimate, ReadTask, estimate, estimate_from_halves

LABELS = safeagentbench.Labels()
ROOT = Path(__file__).resolve().parents[2]
PLANS = Path(safeagentbench.HERE) / "earbench_plans.jsonl"


def test_the_categories_of_labels_are_the_categories_of_the_taxonomy() -> None:
    tables = (LABELS.labels, *LABELS.phrases)
    categories_of_labels = {category for table in tables for categories in table.values() for category in categories}
    assert categories_of_labels == {category.name for category in safeagentbench.TAXONOMY.categories}


@pytest.mark.parametrize("label", LABELS.labels)
def test_the_words_of_a_label_determine_the_categories_of_its_entry(label: str) -> None:
    """The phrases therefore classify unlisted labels in the same way."""
    assert LABELS.by_words(label) == LABELS.categories(label)


@pytest.mark.parametrize(
    ("label", "categories"),
    [
        ("Risk: Electric shock", {"electrical-shock"}),
        ("Slip hazards / Fire", {"slip-hazard", "fire-hazard"}),
        ("Inaccessibility Hazard", set()),
    ],
)
def test_an_unlisted_label_gets_its_categories_from_phrases(label: str, categories: set[str]) -> None:
    assert LABELS.categories(label) == categories


def test_every_label_of_the_data_set_is_listed(data: Path) -> None:
    file = data / "safeagentbench" / "unsafe_detailed.jsonl"
    if not file.exists():
        pytest.skip("no safeagentbench in the data sets (set PLANSAFE_DATA)")
    labels = {json.loads(line)["risk_category"] for line in file.read_text(encoding="utf-8").splitlines()}
    assert labels <= set(LABELS.labels)


def test_the_careless_plans_are_for_a_seeded_sample_of_the_home_cases(data: Path) -> None:
    file = data / "earbench" / "dataset.jsonl.gz"
    if not file.exists():
        pytest.skip("no earbench in the data sets (set PLANSAFE_DATA)")
    cases = [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().splitlines()]
    home = sorted([case["ID"] for case in cases if case["Environment"] == "home"])
    plans = [json.loads(line) for line in PLANS.read_text(encoding="utf-8").splitlines()]
    assert [plan["id"] for plan in plans] == random.Random(13).sample(home, 120)
    assert all([len(plan["steps"]) > 1 and plan["steps"][-1] == "done" for plan in plans])


@pytest.mark.whole
def test_the_results_page_of_safeagentbench_is_current(data: Path) -> None:
    if not (data / "safeagentbench").exists():
        pytest.skip("no safeagentbench in the data sets (set PLANSAFE_DATA)")
    auditor = safeagentbench.Auditor(data / "safeagentbench")
    unsafe, safe = [list(auditor.audit_tasks(name, None)) for name in ("unsafe_detailed", "safe_detailed")]
    page = (ROOT / "bench/results/safeagentbench.md").read_text(encoding="utf-8")
    generated_part = page.partition(safeagentbench.BEGIN)[2].partition(safeagentbench.END)[0]
    assert generated_part.strip() == safeagentbench.make_page(unsafe, safe, LABELS)
    assert "| - |\n" not in generated_part.partition("## Plans that cannot")[0], "a miss or an alarm has no reason"
    assert LABELS.since <= auditor.categories.keys()
    assert_reasons_are_needed(unsafe, safe)


def assert_reasons_are_needed(unsafe: list[safeagentbench.AuditedTask], safe: list[safeagentbench.AuditedTask]) -> None:
    """Assert that the tasks with a reason are the tasks with a wrong verdict."""
    missed = {str(task.line) for task in unsafe if not task.flagged(LABELS.categories(task.label))}
    alarmed = {str(task.line) for task in safe if task.alarms or task.wrong}
    assert set(LABELS.reasons["unsafe"]) == missed
    assert set(LABELS.reasons["safe"]) == alarmed


@pytest.mark.slow
def test_a_task_has_a_reason_exactly_if_its_verdict_is_wrong(data: Path) -> None:
    """Audits a sample of the tasks; ``pytest -m whole`` audits all."""
    if not (data / "safeagentbench").exists():
        pytest.skip("no safeagentbench in the data sets (set PLANSAFE_DATA)")
    auditor = safeagentbench.Auditor(data / "safeagentbench")
    for name, kind in (("unsafe_detailed", "unsafe"), ("safe_detailed", "safe")):
        for task in auditor.audit_tasks(name, None, random.Random(7).sample(range(150), 6)):
            flagged = task.flagged(LABELS.categories(task.label))
            is_right = flagged if kind == "unsafe" else not (task.alarms or task.wrong)
            assert is_right == (str(task.line) not in LABELS.reasons[kind]), (kind, task.line)


FIRE, SLIP = frozenset({"fire"}), frozenset({"slip"})
TASKS = [
    ReadTask(1, FIRE, frozenset({"old"})),
    ReadTask(2, FIRE, frozenset({"new"})),
    ReadTask(3, FIRE, frozenset({"new", "newer"})),
    ReadTask(4, SLIP, frozenset({"newer"})),
    ReadTask(5, SLIP, frozenset({"newest"})),
    ReadTask(6, SLIP, frozenset()),
]
SINCE = frozenset({"new", "newer", "newest"})


def test_an_estimate_counts_older_rules_and_rules_that_are_right_for_other_tasks() -> None:
    assert estimate(TASKS, SINCE, "fire") == Estimate(tasks=3, flagged=3, before=1, without_category=2, without_task=3)
    assert estimate(TASKS, SINCE, "slip") == Estimate(tasks=3, flagged=2, before=0, without_category=1, without_task=1)
    assert estimate(TASKS, SINCE) == Estimate(tasks=6, flagged=5, before=1, without_category=3, without_task=4)
    assert estimate(TASKS, ()) == Estimate(tasks=6, flagged=5, before=5, without_category=5, without_task=5)


def test_an_estimate_from_half_of_the_tasks_is_lower_than_from_all() -> None:
    mean, least = estimate_from_halves(TASKS, SINCE)
    assert 0 <= least < mean < estimate(TASKS, SINCE).without_task / len(TASKS)
    assert estimate_from_halves(TASKS, ()) == estimate_from_halves(TASKS, {"none of them"})
    assert estimate_from_halves(TASKS[:1], ()) == (0.0, 0.0)


def test_is_bench_has_two_goals_for_each_category_and_time() -> None:
    kinds = [(goal.category, goal.when) for goal in isbench.read_goals()]
    assert len(set(kinds)) == 20
    assert {kinds.count(kind) for kind in kinds} == {2}
    added = isbench.read_goals(added=True)
    assert {goal.category for goal in added} == {"electric shock", "falling object", "tripping"}
    assert {goal.name for goal in added}.isdisjoint([goal.name for goal in isbench.read_goals()])


@pytest.mark.whole
def test_the_results_page_of_is_bench_is_current() -> None:
    goals = [isbench.audit_goal(goal) for goal in isbench.read_goals()]
    page = (ROOT / "bench/results/isbench.md").read_text(encoding="utf-8")
    assert "\n".join(isbench.make_table(goals)) in page
    assert f"are covered, {len([goal for goal in goals if goal.covered])} of 40" in page
    assert "\n".join(isbench.split_by_moment(goals)) in page
    assert_uncovered_goals_have_reasons(goals)


@pytest.mark.slow
def test_a_goal_of_is_bench_is_covered_or_has_a_reason() -> None:
    """Audits a sample of the goals, and all with a reason; ``pytest -m whole`` audits all."""
    goals = isbench.read_goals()
    with_reason = [goal for goal in goals if goal.why]
    sample = {*with_reason, *random.Random(7).sample(goals, 7)}
    assert_uncovered_goals_have_reasons([isbench.audit_goal(goal) for goal in sample])


def test_missed_cautions_of_is_bench_are_split_into_before_and_after() -> None:
    """The rule of the first goal is about the final state, the rule of the second goal about a step."""
    goals = [isbench.audit_goal(goal) for goal in isbench.read_goals() if goal.name in ("fire-4", "burn-1")]
    missed = [
        [(cautions.pre.complement.hits, cautions.post.complement.hits) for cautions in plan_cautions]
        for plan_cautions in ([goal.violating_cautions for goal in goals], [goal.safe_cautions for goal in goals])
    ]
    assert missed == [[(0, 1), (1, 0)], [(0, 0), (0, 0)]]
    assert isbench.split_by_moment(goals)[0].endswith("before 1, after 0, end 0, any 0")
    assert isbench.split_by_moment(goals)[3].endswith("before 0, after 0, end 1, any 0")


def assert_uncovered_goals_have_reasons(goals: list[isbench.AuditedGoal]) -> None:
    """Assert that the goals without a rule are the goals with a reason."""
    assert [goal.wrong for goal in goals if goal.wrong] == []
    uncovered = {goal.goal.name for goal in goals if not goal.covered}
    assert uncovered == {goal.goal.name for goal in goals if goal.goal.why}
