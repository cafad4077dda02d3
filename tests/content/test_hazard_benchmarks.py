"""What is committed for judging the hazard rules: labels of SafeAgentBench, careless plans for EARBench."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from bench.hazards import isbench, safeagentbench
from bench.hazards.unseen import Estimate, Seen, estimate, halves

LABELS = safeagentbench.Labels()
ROOT = Path(__file__).resolve().parents[2]
PLANS = Path(safeagentbench.HERE) / "earbench_plans.jsonl"


def test_every_category_of_a_label_is_one_of_the_taxonomy() -> None:
    tables = (LABELS.labels, *LABELS.phrases)
    named = {category for table in tables for categories in table.values() for category in categories}
    assert named == {category.name for category in safeagentbench.TAXONOMY.categories}


@pytest.mark.parametrize("label", LABELS.labels)
def test_the_words_of_a_label_say_what_its_entry_says(label: str) -> None:
    """So labels of tasks that nobody here has seen are read alike."""
    assert LABELS.by_words(label) == LABELS.categories(label)


@pytest.mark.parametrize(
    ("label", "meant"),
    [
        ("Risk: Electric shock", {"electrical-shock"}),
        ("Slip hazards / Fire", {"slip-hazard", "fire-hazard"}),
        ("Inaccessibility Hazard", set()),
    ],
)
def test_labels_that_are_not_listed(label: str, meant: set[str]) -> None:
    assert LABELS.categories(label) == meant


def test_every_label_of_the_data_set_is_listed(data: Path) -> None:
    file = data / "safeagentbench" / "unsafe_detailed.jsonl"
    if not file.exists():
        pytest.skip("no safeagentbench in the data sets (set PLANSAFE_DATA)")
    labels = {json.loads(line)["risk_category"] for line in file.read_text(encoding="utf-8").splitlines()}
    assert labels <= set(LABELS.labels)


def test_the_careless_plans_are_for_the_cases_that_were_drawn(data: Path) -> None:
    file = data / "earbench" / "dataset.jsonl.gz"
    if not file.exists():
        pytest.skip("no earbench in the data sets (set PLANSAFE_DATA)")
    cases = [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().splitlines()]
    home = sorted([case["ID"] for case in cases if case["Environment"] == "home"])
    plans = [json.loads(line) for line in PLANS.read_text(encoding="utf-8").splitlines()]
    assert [plan["id"] for plan in plans] == random.Random(13).sample(home, 120)
    assert all([len(plan["steps"]) > 1 and plan["steps"][-1] == "done" for plan in plans])


@pytest.mark.whole
def test_the_page_says_what_the_program_says(data: Path) -> None:
    if not (data / "safeagentbench").exists():
        pytest.skip("no safeagentbench in the data sets (set PLANSAFE_DATA)")
    judge = safeagentbench.Judge(data / "safeagentbench")
    unsafe, safe = [list(judge.tasks(name, None)) for name in ("unsafe_detailed", "safe_detailed")]
    page = (ROOT / "bench/results/safeagentbench.md").read_text(encoding="utf-8")
    said = page.partition(safeagentbench.BEGIN)[2].partition(safeagentbench.END)[0]
    assert said.strip() == safeagentbench.page(unsafe, safe, LABELS)
    assert "| - |\n" not in said.partition("## Plans that cannot")[0], "a miss or an alarm has no reason"
    assert LABELS.since <= judge.categories.keys()
    assert_reasons_are_needed(unsafe, safe)


def assert_reasons_are_needed(unsafe: list[safeagentbench.Judged], safe: list[safeagentbench.Judged]) -> None:
    """No reason is left of a task that is judged as it should be."""
    missed = {str(task.line) for task in unsafe if not task.flagged(LABELS.categories(task.label))}
    alarmed = {str(task.line) for task in safe if task.alarms or task.wrong}
    assert set(LABELS.reasons["unsafe"]) == missed
    assert set(LABELS.reasons["safe"]) == alarmed


@pytest.mark.slow
def test_tasks_are_missed_or_alarm_where_a_reason_says_so(data: Path) -> None:
    """A draw of what the page is made of; all of it is judged by ``pytest -m whole``."""
    if not (data / "safeagentbench").exists():
        pytest.skip("no safeagentbench in the data sets (set PLANSAFE_DATA)")
    judge = safeagentbench.Judge(data / "safeagentbench")
    for name, kind in (("unsafe_detailed", "unsafe"), ("safe_detailed", "safe")):
        for task in judge.tasks(name, None, random.Random(7).sample(range(150), 6)):
            right = task.flagged(LABELS.categories(task.label)) if kind == "unsafe" else not (task.alarms or task.wrong)
            assert right == (str(task.line) not in LABELS.reasons[kind]), (kind, task.line)


FIRE, SLIP = frozenset({"fire"}), frozenset({"slip"})
TASKS = [
    Seen(1, FIRE, frozenset({"old"})),
    Seen(2, FIRE, frozenset({"new"})),
    Seen(3, FIRE, frozenset({"new", "newer"})),
    Seen(4, SLIP, frozenset({"newer"})),
    Seen(5, SLIP, frozenset({"newest"})),
    Seen(6, SLIP, frozenset()),
]
SINCE = frozenset({"new", "newer", "newest"})


def test_rules_count_for_a_task_that_was_not_read_if_they_are_older_or_right_for_others() -> None:
    assert estimate(TASKS, SINCE, "fire") == Estimate(tasks=3, flagged=3, before=1, without_category=2, without_task=3)
    assert estimate(TASKS, SINCE, "slip") == Estimate(tasks=3, flagged=2, before=0, without_category=1, without_task=1)
    assert estimate(TASKS, SINCE) == Estimate(tasks=6, flagged=5, before=1, without_category=3, without_task=4)
    assert estimate(TASKS, ()) == Estimate(tasks=6, flagged=5, before=5, without_category=5, without_task=5)


def test_half_of_the_tasks_says_less_than_all() -> None:
    mean, least = halves(TASKS, SINCE)
    assert 0 <= least < mean < estimate(TASKS, SINCE).without_task / len(TASKS)
    assert halves(TASKS, ()) == halves(TASKS, {"none of them"})
    assert halves(TASKS[:1], ()) == (0.0, 0.0)


def test_the_goals_of_is_bench_are_twenty_and_twenty_of_ten_categories() -> None:
    kinds = [(goal.category, goal.when) for goal in isbench.goals()]
    assert len(set(kinds)) == 20
    assert {kinds.count(kind) for kind in kinds} == {2}


@pytest.mark.whole
def test_the_page_says_which_goals_of_is_bench_are_covered() -> None:
    judged = [isbench.judge(goal) for goal in isbench.goals()]
    page = (ROOT / "bench/results/isbench.md").read_text(encoding="utf-8")
    assert "\n".join(isbench.markdown(judged)) in page
    assert f"are covered, {len([one for one in judged if one.covered])} of 40" in page
    assert "\n".join(isbench.split(judged)) in page
    assert_said(judged)


@pytest.mark.slow
def test_goals_of_is_bench_are_covered_or_say_why() -> None:
    """A draw of them, and all that are not covered; each is judged by ``pytest -m whole``."""
    goals = isbench.goals()
    without = [goal for goal in goals if goal.why]
    assert_said([isbench.judge(goal) for goal in {*without, *random.Random(7).sample(goals, 7)}])


def test_the_split_of_is_bench_is_that_of_the_plans() -> None:
    """Of two goals: the rule of the first is about the end, that of the second about a step."""
    judged = [isbench.judge(goal) for goal in isbench.goals() if goal.name in ("fire-4", "burn-1")]
    before, after = [[one.cautions[plan] for one in judged] for plan in (0, 1)]
    assert [(found.pre.complement.hits, found.post.complement.hits) for found in before] == [(0, 1), (1, 0)]
    assert [(found.pre.complement.hits, found.post.complement.hits) for found in after] == [(0, 0), (0, 0)]
    assert isbench.split(judged)[0].endswith("before 1, after 0, end 0, any 0")
    assert isbench.split(judged)[3].endswith("before 0, after 0, end 1, any 0")


def assert_said(judged: list[isbench.Judged]) -> None:
    """A goal without a rule says why, and no other does."""
    assert [one.wrong for one in judged if one.wrong] == []
    assert {one.goal.name for one in judged if not one.covered} == {one.goal.name for one in judged if one.goal.why}
