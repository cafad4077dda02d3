"""Many plans in the browser: ten thousand rows to sort and filter, by key and by mouse; each opens its plan."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from page_browser import Opened

from plansafe.app.interfaces.pages.plan_index import Book
from plansafe.app.interfaces.pages.run_figures import build_charts, select_fields
from plansafe.app.interfaces.pages.run_page import build_book
from plansafe.app.runs import read_run

ROOT = Path(__file__).resolve().parents[2]
RULES = (("stove-attended", "fire"), ("no-wet-hands", "shock"), ("<b>bold</b>\u202e", "cut"))
STEPS = ("go kitchen hall", "switch-on <b>hob</b>\u202e")


def row(number: int) -> dict[str, Any]:
    """A row of a run, of what a page reads."""
    broken = [RULES[number % 3]] if number % 4 == 1 else []
    findings = [
        {
            "code": "SC201", "class": "process", "message": f"rule `{rule}` is violated at step {1 + number % 7}",
            "step": 1 + number % 7, "at_end": False, "rule": rule, "binding": {"?x": f"thing-{number}"},
            "readings": ["halt"], "follows": [], "blame": "introduced", "span": None, "related": [], "notes": ["so"],
            "help": None, "hazard": hazard, "targets": [], "severity": "high", "rationale": None, "replayed": True,
            "table": None, "state": [],
        }
        for rule, hazard in broken
    ]  # fmt: skip
    return {
        "id": f"plan-{number:05}", "number": number, "plan": f"plans/{number}.plan", "seconds": number % 10 / 100,
        "columns": {"room": ("kitchen", "hall")[number % 2], "score": number}, "kept": [],
        "taxonomy": {rule: {"safel": ["Fire Hazard"]} for rule, _ in broken},
        "headline": "UNSAFE" if broken else "SAFE", "exit_code": bool(broken), "executable": "ALL", "goal": "ALL",
        "safe": "NONE" if broken else "ALL", "rules_checked": 3, "steps": 7 + number % 5, "findings": findings,
        "script": [STEPS[step % 2] for step in range(7 + number % 5)] if number % 4 < 3 else [],
        "suppressed": 0, "diagnostics": [], "readings": [], "rules": [], "inputs": [],
        "decided": {"judge": "all", "min_severity": "low", "before": 0, "minor": 0},
        "engine": {"name": "explicit", "version": "0"},
    }  # fmt: skip


def run_of(folder: Path, count: int) -> Path:
    """A run folder of drawn rows, and its page."""
    manifest = {"version": 1, "tool": "safecheck 0", "plans": count, "started": "2026-01-01", "complete": True}
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "results.jsonl").write_text("".join([json.dumps(row(n)) + "\n" for n in range(count)]), encoding="utf-8")
    page = folder.with_suffix(".html")
    assert _safecheck("view", str(folder), "-o", str(page)) == 0
    return page


def _safecheck(*arguments: str) -> int:
    return subprocess.run([str(Path(sys.executable).with_name("safecheck")), *arguments], check=False).returncode


@pytest.fixture(scope="module")
def shared(opened: Callable[..., Opened], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    page = opened(run_of(tmp_path_factory.mktemp("run") / "run", 10_000))
    yield page
    assert page.wrong == []
    assert {one.split("#")[0] for one in page.asked} <= {page.address, "about:blank"}


@pytest.fixture
def page(shared: Opened) -> Opened:
    shared.page.evaluate("location.hash = ''")
    shared.page.wait_for_selector(".filters")
    shared.page.get_by_role("button", name="clear", exact=True).click()
    return shared


def first(page: Opened) -> str:
    return str(page.page.locator(".list .item[aria-rowindex='1']").inner_text())


def test_all_plans_are_counted_and_few_are_drawn(page: Opened) -> None:
    assert "10,000 plans" in page.text(".filters [aria-live]")
    assert page.page.locator(".list").get_attribute("aria-rowcount") == "10000"
    assert page.count(".list .item") < 80


def test_the_end_is_drawn_when_one_gets_there(page: Opened) -> None:
    page.page.locator(".list").evaluate("list => { list.scrollTop = 1e9; }")
    page.page.wait_for_selector(".item[aria-rowindex='10000']")
    assert page.count(".list .item") < 80
    page.page.locator(".list").evaluate("list => { list.scrollTop = 0; }")
    page.page.wait_for_selector(".item[aria-rowindex='1']")


def test_a_click_on_a_head_sorts_up_then_down_then_as_given(page: Opened) -> None:
    steps = page.page.get_by_role("columnheader", name="steps")
    steps.click()
    assert steps.get_attribute("aria-sort") == "ascending" and "plan-00000" in first(page)
    steps.click()
    assert steps.get_attribute("aria-sort") == "descending" and "plan-00004" in first(page)
    steps.click()
    assert steps.get_attribute("aria-sort") == "none" and "plan-00000" in first(page)


def test_numbers_are_sorted_as_numbers(page: Opened) -> None:
    seconds = page.page.get_by_role("columnheader", name="seconds")
    seconds.click()
    seconds.click()
    assert "0.090" in first(page)
    seconds.click()


def test_kept_columns_are_columns(page: Opened) -> None:
    score = page.page.get_by_role("columnheader", name="score")
    score.click()
    score.click()
    assert "plan-09999" in first(page)
    score.click()


def test_the_filter_takes_several_words(page: Opened) -> None:
    page.page.locator("#search").fill("kitchen 0012")
    told = page.text(".filters [aria-live]")
    assert told.endswith("of 10,000 plans") and "plan-00012" in page.text(".list")
    assert "hall" not in page.text(".list .space")


def test_filters_go_together(page: Opened) -> None:
    page.page.get_by_label("all verdicts").select_option("UNSAFE")
    assert page.text(".filters [aria-live]") == "2,500 of 10,000 plans"
    page.page.get_by_label("all rules").select_option("stove-attended")
    assert page.text(".filters [aria-live]") == "833 of 10,000 plans"
    page.page.get_by_label("all hazards").select_option("shock")
    assert page.text(".filters [aria-live]") == "0 of 10,000 plans"


def test_sorting_keeps_the_filter(page: Opened) -> None:
    page.page.get_by_label("all verdicts").select_option("UNSAFE")
    head = page.page.get_by_role("columnheader", name="plan")
    head.click()
    head.click()
    assert "plan-09997" in first(page)
    head.click()
    assert page.text(".filters [aria-live]") == "2,500 of 10,000 plans"


def test_a_bar_is_a_filter(page: Opened) -> None:
    page.page.locator(".plots button.bar").first.click()
    assert "7,500 of 10,000 plans" in page.text(".filters [aria-live]")


def test_bars_have_the_colours_of_verdicts(page: Opened) -> None:
    assert page.count(".plot:has-text('plans by verdict') .fill.good") == 1
    assert page.count(".plot:has-text('rules that plans violate') .fill.bad") == 3
    legend = page.page.locator(".run .legend span:has(.swatch)").all_inner_texts()
    assert legend == ["SAFE", "UNSAFE", "95 % interval of the share"]


def test_the_first_finding_of_a_run_names_the_command_for_its_repair(page: Opened) -> None:
    page.page.evaluate("location.hash = 'plan=1'")
    assert "safecheck repair plans/1.plan" in page.text(".nearest")


def test_the_table_of_plans_fits_on_a_phone(opened: Callable[..., Opened], tmp_path: Path) -> None:
    page = opened(run_of(tmp_path / "run", 20))
    page.page.set_viewport_size({"width": 390, "height": 800})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.page.locator(".list").evaluate("list => list.scrollWidth <= list.clientWidth")
    assert page.page.locator(".list .item").nth(1).inner_text().split() == ["plan-00001", "UNSAFE", "1"]


def test_slash_leads_to_the_filter_and_escape_out_of_it(page: Opened) -> None:
    page.page.locator("h1").click()
    page.press("/")
    assert page.page.evaluate("document.activeElement.id") == "search"
    page.press("Escape")
    assert page.page.evaluate("document.activeElement.id") == ""


def test_keys_choose_and_open_and_come_back(page: Opened) -> None:
    page.page.locator(".list").focus()
    page.press("Home", "j", "ArrowDown", "Enter")
    page.page.wait_for_selector(".plan")
    assert "plan=2" in page.page.url
    page.press("Escape")
    page.page.wait_for_selector(".run")
    assert "plan-00002" in page.text(".item.chosen")


def test_a_click_opens_the_plan_with_its_findings(page: Opened) -> None:
    page.page.locator(".item", has_text="plan-00001").click()
    page.page.wait_for_selector(".plan")
    assert page.text("h1").startswith("UNSAFE")
    text = page.text(".finding")
    assert "no-wet-hands" in text and "safel: Fire Hazard" in text and "?x = thing-1" in text
    assert "room\nhall" in page.text("dl.values")


def test_a_plan_of_a_run_has_its_steps_with_findings_at_them(page: Opened) -> None:
    page.page.evaluate("location.hash = 'plan=1'")
    page.page.wait_for_selector("#steps .item.step")
    assert page.count("#steps .item.step") == 10  # before, eight steps, the end
    assert "go kitchen hall" in page.text("#steps .item.flagged") or "switch-on" in page.text("#steps .item.flagged")
    assert "rule no-wet-hands is violated" in page.text(".inspector")
    assert "change" not in page.text(".inspector")  # what it does not know it does not count
    assert page.count("#steps .legend") == 0
    assert "switch-on <b>hob</b>\\u202e" in page.text("#steps")
    page.page.evaluate("location.hash = 'plan=3'")
    page.page.get_by_text("has no step data for the plan").first.wait_for()


def test_brackets_go_on_in_the_order_of_the_table(page: Opened) -> None:
    page.page.get_by_label("all verdicts").select_option("UNSAFE")
    page.page.locator(".item", has_text="plan-00005").click()
    page.page.wait_for_selector(".plan")
    page.press("]")
    page.page.wait_for_url("**#plan=9")
    page.press("[")
    page.page.wait_for_url("**#plan=5")


def test_an_address_opens_its_plan(page: Opened) -> None:
    page.page.evaluate("location.hash = 'plan=9997'")
    page.page.wait_for_selector(".plan")
    assert "thing-9997" in page.text(".finding")
    page.page.evaluate("location.hash = 'plan=99999999'")
    page.page.wait_for_selector(".run")


def test_tables_are_those_of_stats(page: Opened) -> None:
    summary = page.page.locator("summary", has_text="by rule, of 10000").first
    summary.click()
    table = page.page.locator("details[open] table")
    assert "stove-attended" in table.inner_text() and "833 (8.3 %" in table.inner_text()
    summary.click()


def test_names_stay_text_in_a_table(page: Opened) -> None:
    assert page.count("main b") == 0
    assert "<b>bold</b>\\u202e" in page.page.locator("select[aria-label='all rules']").inner_text()


def test_a_run_has_bars_for_verdicts_rules_hazards_and_places() -> None:
    bars, tables = build_charts([select_fields(row(number)) for number in range(100)])
    assert [one["title"] for one in bars] == [
        "plans by verdict",
        "rules that plans violate",
        "hazards that plans cause",
        "where in the plan it goes wrong",
    ]
    assert bars[0]["bars"][0]["text"] == "75 (75.0 %)"
    assert bars[0]["bars"][0]["parts"] == [["SAFE", 0.75, 75]]
    assert bars[1]["bars"][0]["parts"] == [["UNSAFE", 0.09, 9]]
    assert "plans by room" in [table["title"] for table in tables]


def test_many_plans_of_one_audit_are_a_table(written: Callable[..., Path], opened: Callable[..., Opened]) -> None:
    page = opened(written("examples/metal-cup/milk-in-the-cup.plan", "examples/dinner/hands-full.plan"))
    assert page.count(".item") == 2
    page.page.locator(".item", has_text="milk-in-the-cup").click()
    page.page.wait_for_selector("#steps")
    assert page.count(".item.step") > 3
    assert page.wrong == []


def test_a_run_that_is_under_way_says_so(tmp_path: Path) -> None:
    run_of(tmp_path / "run", 3)
    manifest = tmp_path / "run" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("true", "false"), encoding="utf-8")
    (tmp_path / "run" / "shards").mkdir()
    (tmp_path / "run" / "results.jsonl").rename(tmp_path / "run" / "shards" / "000000.part")
    assert "The run is not complete: 3 of 3 plans" in build_book(read_run(tmp_path / "run")).notes[0]


def test_no_run_is_a_mistake(tmp_path: Path) -> None:
    assert _safecheck("view", str(tmp_path)) == 2


@pytest.mark.parametrize("words", [["view", "RUN"], ["examples/breakfast/tea-and-apple.plan", "--format", "html"]])
def test_no_page_goes_to_a_terminal(tmp_path: Path, words: list[str]) -> None:
    run_of(tmp_path / "run", 3)
    command = [str(Path(sys.executable).with_name("safecheck")), *words]
    ours, theirs = os.openpty()
    done = subprocess.run(
        [str(tmp_path / "run") if word == "RUN" else word for word in command],
        stdout=theirs, stderr=subprocess.PIPE, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2
    assert "a page is for a browser" in done.stderr and "--output FILE.html" in done.stderr


@pytest.mark.slow
def test_details_of_many_plans_are_packed() -> None:
    book = Book("many")
    for number in range(200):
        book.add({"report": {**row(1), "notes": "x" * 30_000 + str(number)}, "timelines": []})
    assert len("".join(book.pieces())) < 500_000
