"""Tables of the suite of drawn tasks, worked by hand on a few records."""

from __future__ import annotations

from typing import Any

import pytest

from plansafe.llm.bench import first_choices
from plansafe.llm.bench import planning_tables as tables
from plansafe.llm.bench.run_file import Run

SETTINGS = {"decode": "guided", "slack": [3, 2], "rounds": 1, "feedback": "finding"}


def _judged(**said: Any) -> dict[str, Any]:
    known = {"read": True, "executable": True, "goal": True, "label": "success", "violations": [], "suppressed": 0}
    return {**known, **said}


def _record(name: str, headline: str | None = "SAFE", **said: Any) -> dict[str, Any]:
    family = name.split("-", maxsplit=1)[0]
    return {
        "id": name,
        "family": family,
        "split": "test" if family != "tidy" else "development",
        "reference": ["(a)", "(b)"],
        "plan": ["(a)", "(b)", "(c)"],
        "headline": headline,
        "judged": _judged(),
        "choices": [],
        "cost": {"completion_tokens": 10},
        "cpu_s": 1.0,
        **said,
    }


def _run(*records: dict[str, Any], model: str = "gguf//weights/tiny.gguf", **settings: Any) -> Run:
    return Run({"model": model, "settings": {**SETTINGS, **settings}}, records)


def test_outcomes_count_what_holds_of_all_tasks() -> None:
    burnt = [{"rule": "burn", "moment": "process"}]
    late = [{"rule": "tap-off", "moment": "termination"}]
    run = _run(
        _record("tea-0"),
        _record("tea-1", "UNSAFE", judged=_judged(violations=late)),
        _record("mop-0", "UNSAFE", judged=_judged(violations=burnt)),
        _record("mop-1", None, plan=None, judged=_judged(read=False, executable=False, goal=False, label=None)),
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


def test_first_choices_count_where_there_was_a_choice() -> None:
    record = _record(
        "tea-0",
        choices=[
            [5, 3, "(a)", "(a)", [], False],  # kept, and in the reference
            [5, 2, "(a)", "(c)", ["(a)"], False],  # turned down; the reference has it once
            [5, 1, "(b)", "(b)", [], True],  # nobody was asked
            [5, 2, "(done)", "(done)", [], False],  # the reference is through
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


def test_a_model_is_credited_with_what_is_more_than_chance() -> None:
    good = [[5, 3, "(a)", "(a)", [], False]]
    bad = [[5, 3, "(x)", "(a)", ["(x)"], False]]
    mine = _run(_record("tea-0", choices=good), _record("mop-0", choices=good), _record("mop-7", choices=bad))
    chance = _run(_record("tea-0", choices=bad), _record("mop-0", choices=good), model="mock/random")
    comparison = first_choices.compare_with_chance(
        mine, chance, lambda record: first_choices.first_choices(record)[1::-1]
    )
    assert (comparison.model.value, comparison.chance.value) == (1.0, 0.5), "mop-7 was not asked of both"
    assert comparison.difference == 0.5 and comparison.families == 2 and comparison.p == 1.0
    row = list(first_choices.chance_table([mine], chance))[2]
    assert "+50.0 (1.000)" in row
    assert "| 1.00 (1.00 to 1.00) | 1.50 (" in row and "| -0.50 (1.000) |" in row, "the second step named was taken"
    held = mine.header["settings"] | {"decode": "shield"}
    shielded = list(first_choices.chance_table([mine._replace(header=mine.header | {"settings": held})], chance))[2]
    assert "| n/a | n/a | n/a |" in shielded, "places are those under the guide"


def test_rounds_share_the_first_and_what_is_repaired_is_counted_apart() -> None:
    bad = {"headline": "INVALID", "judged": _judged(goal=False), "plan": ["(b)", "(a)"]}
    good = {"headline": "SAFE", "judged": _judged(), "plan": ["(a)", "(c)", "(b)"]}
    unread = {"headline": None, "judged": _judged(goal=False, read=False), "plan": None}
    own = {"status": "found", "plan": ["(a)", "(b)"], "by_model": 1, "removed": 0}
    foreign = {"status": "found", "plan": ["(a)", "(b)", "(c)"], "by_model": 1, "removed": 0}
    nothing = {"status": "not found", "plan": None, "by_model": 0, "removed": 0}
    run = _run(
        _record("tea-0", rounds=[bad, good], resort=own),
        _record("mop-0", rounds=[bad, bad], resort=own),
        _record("mop-1", rounds=[unread, unread], resort=foreign),
        _record("fetch-0", rounds=[bad, unread], resort=nothing),
        decode="free",
        rounds=2,
    )
    first, second = list(tables.round_table([run]))[2:]
    assert "| 4 | 1 | 0 % (0 to 0) | 0 % (0 to 0) | 4 |  | 38 % |  |  |  |" in first, "3 of 8 steps of the references"
    assert "| 4 | 2 | 25 %" in second
    assert second.endswith("| 4 | 1 | 38 % | 3 | 2 | 1 |"), "one plan is the one before; no plan is none"


def test_splits() -> None:
    run = _run(_record("tea-0"), _record("tidy-0"))
    assert [
        len(selected_run.records)
        for split in ("all", "test", "development")
        for selected_run in tables.select_split([run], split)
    ] == [
        2,
        1,
        1,
    ]
