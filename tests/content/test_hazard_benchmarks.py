"""What is committed for judging the hazard rules: labels of SafeAgentBench, careless plans for EARBench."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from bench.hazards import safeagentbench

LABELS = safeagentbench.Labels()
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
