"""Tables of the suite of drawn tasks, worked out by hand for a few records."""

from __future__ import annotations

from typing import Any

import pytest

from plansafe.llm.bench import first_choices
from plansafe.llm.bench import planning_tables as tables
from plansafe.llm.bench.run_file import Run

SETTINGS = {"decode": "guided", "slack": [3, 2], "rounds": 1, "feedback": "finding"}


def make_judgement(**changes: Any) -> dict[str, Any]:
    defaults = {"read": True, "executable": True, "goal": True, "label": "success", "violations": [], "suppressed": 0}
    return {**defaults, **changes}


def make_record(name: str, headline: str | None = "SAFE", **changes: Any) -> dict[str, Any]:
    family = name.split("-", maxsplit=1)[0]
    return {
        "id": name,
        "family": family,
        "split": "test" if family != "tidy" else "development",
        "reference": ["(a)", "(b)"],
        "plan": ["(a)", "(b)", "(c)"],
        "headline": headline,
        "judged": make_judgement(),
        "choices": [],
        "cost": {"completion_tokens": 10},
        "cpu_s": 1.0,
        **changes,
    }


def make_run(*records: dict[str, Any], model: str = "gguf//weights/tiny.gguf", **settings: Any) -> Run:
    return Run({"model": model, "settings": {**SETTINGS, **settings}}, records)


def test_outcomes_are_counted_over_all_tasks() -> None:
    burnt = [{"rule": "burn", "moment": "process"}]
    late = [{"rule": "tap-off", "moment": "termination"}]
    run = make_run(
        make_record("tea-0"),
        make_record("tea-1", "UNSAFE", judged=make_judgement(violations=late)),
        make_record("mop-0", "UNSAFE", judged=make_judgement(violations=burnt)),
        make_record(
            "mop-1", None, plan=None, judged=make_judgement(read=False, executable=False, goal=False, label=None)
        ),
    )
    row = list(tables.outcome_table([run]))[2]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:3] == ["gguf/tiny.gguf", "guided 1.5", "4"]
    shares = [cell.split(" (")[0] for cell in cells[3:8]]
    assert shares == ["75 %", "75 %", "50 %", "75 %", "25 %"], "read, executable, process-safe, goal, SAFE"
    assert cells[8:] == ["1.50", "10", "1.0"], "three steps where the planner has two"
    assert "| `burn` | process | 1 |" in list(tables.rule_table([run]))
    assert list(tables.error_table([run]))[2] == "| gguf/tiny.gguf | guided 1.5 | 1 | 1 | 2 |"
    assert next(iter(tables.error_table([run]))).endswith("| no plan | success | success, unsafe |")


def test_first_choices_count_only_real_choices() -> None:
    record = make_record(
        "tea-0",
        choices=[
            [5, 3, "(a)", "(a)", [], False],  # accepted, and in the reference
            [5, 2, "(a)", "(c)", ["(a)"], False],  # refused; the reference has the chosen step once
            [5, 1, "(b)", "(b)", [], True],  # the model was not asked
            [5, 2, "(done)", "(done)", [], False],  # the reference is complete
        ],
    )
    assert first_choices.first_choices(record) == first_choices.FirstChoices(3, 2, 2, 4)


def test_signs_are_changed_by_family() -> None:
    assert first_choices.sign_flip_p([]) is None and first_choices.sign_flip_p([0.0, 0.0]) is None
    assert first_choices.sign_flip_p([1.0]) == 1.0
    assert first_choices.sign_flip_p([0.1, 0.2, 0.3]) == 2 / 8, "only all plus and all minus are as far"
    assert first_choices.sign_flip_p([0.1, 0.2, -0.3]) == 1.0
    assert first_choices.sign_flip_p([0.5] * 10) == 2 / 1024
    with pytest.raises(ValueError, match="families"):
        first_choices.sign_flip_p([1.0] * 21)


def test_a_model_is_compared_with_random_choices() -> None:
    good = [[5, 3, "(a)", "(a)", [], False]]
    bad = [[5, 3, "(x)", "(a)", ["(x)"], False]]
    model_run = make_run(
        make_record("tea-0", choices=good), make_record("mop-0", choices=good), make_record("mop-7", choices=bad)
    )
    chance = make_run(make_record("tea-0", choices=bad), make_record("mop-0", choices=good), model="mock/random")
    comparison = first_choices.compare_with_chance(
        model_run, chance, lambda record: first_choices.first_choices(record)[1::-1]
    )
    assert (comparison.model.value, comparison.chance.value) == (1.0, 0.5), "only one run has mop-7"
    assert comparison.difference == 0.5 and comparison.families == 2 and comparison.p == 1.0
    row = list(first_choices.chance_table([model_run], chance))[2]
    assert "+50.0 (1.000)" in row
    assert "| 1.00 (1.00 to 1.00) | 1.50 (" in row and "| -0.50 (1.000) |" in row, "the second step named was taken"
    shield_settings = model_run.header["settings"] | {"decode": "shield"}
    shielded = list(
        first_choices.chance_table(
            [model_run._replace(header=model_run.header | {"settings": shield_settings})], chance
        )
    )[2]
    assert "| n/a | n/a | n/a |" in shielded, "positions exist only under the guide"


def test_rounds_are_cumulative_and_repairs_are_counted_separately() -> None:
    bad = {"headline": "INVALID", "judged": make_judgement(goal=False), "plan": ["(b)", "(a)"]}
    good = {"headline": "SAFE", "judged": make_judgement(), "plan": ["(a)", "(c)", "(b)"]}
    unread = {"headline": None, "judged": make_judgement(goal=False, read=False), "plan": None}
    minimal_repair = {"status": "found", "plan": ["(a)", "(b)"], "by_model": 1, "removed": 0}
    longer_repair = {"status": "found", "plan": ["(a)", "(b)", "(c)"], "by_model": 1, "removed": 0}
    no_repair = {"status": "not found", "plan": None, "by_model": 0, "removed": 0}
    run = make_run(
        make_record("tea-0", rounds=[bad, good], resort=minimal_repair),
        make_record("mop-0", rounds=[bad, bad], resort=minimal_repair),
        make_record("mop-1", rounds=[unread, unread], resort=longer_repair),
        make_record("fetch-0", rounds=[bad, unread], resort=no_repair),
        decode="free",
        rounds=2,
    )
    first, second = list(tables.round_table([run]))[2:]
    assert "| 4 | 1 | 0 % (0 to 0) | 0 % (0 to 0) | 4 |  | 38 % |  |  |  |" in first, "3 of 8 steps of the references"
    assert "| 4 | 2 | 25 %" in second
    assert second.endswith("| 4 | 1 | 38 % | 3 | 2 | 1 |"), (
        "one plan repeats the earlier plan; a missing plan does not count"
    )


def test_splits() -> None:
    run = make_run(make_record("tea-0"), make_record("tidy-0"))
    assert [
        len(selected_run.records)
        for split in ("all", "test", "development")
        for selected_run in tables.select_split([run], split)
    ] == [
        2,
        1,
        1,
    ]
