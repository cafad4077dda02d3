"""Test the page of many plans in the browser: sorting, filters, keyboard, and opening a plan."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from page_browser import BrowserPage

from plansafe.app.interfaces.pages.plan_index import Book
from plansafe.app.interfaces.pages.run_figures import build_charts, select_fields
from plansafe.app.interfaces.pages.run_page import build_book
from plansafe.app.runs import read_run

ROOT = Path(__file__).resolve().parents[2]
RULES = (("stove-attended", "fire"), ("no-wet-hands", "shock"), ("<b>bold</b>\u202e", "cut"))
STEPS = ("go kitchen hall", "switch-on <b>hob</b>\u202e")


def row(number: int) -> dict[str, Any]:
    """A row of a run, with the fields that a page reads."""
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


def write_run(folder: Path, count: int) -> Path:
    """Write a run folder with ``count`` rows and its page; return the page's path."""
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
def shared(open_page: Callable[..., BrowserPage], tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserPage]:
    page = open_page(write_run(tmp_path_factory.mktemp("run") / "run", 10_000))
    yield page
    assert page.errors == []
    assert {url.split("#")[0] for url in page.requests} <= {page.address, "about:blank"}


@pytest.fixture
def page(shared: BrowserPage) -> BrowserPage:
    shared.page.evaluate("location.hash = ''")
    shared.page.wait_for_selector(".filters")
    shared.page.get_by_role("button", name="clear", exact=True).click()
    return shared


def first_row(page: BrowserPage) -> str:
    return str(page.page.locator(".list .item[aria-rowindex='1']").inner_text())


def test_all_plans_are_counted_and_few_are_rendered(page: BrowserPage) -> None:
    assert "10,000 plans" in page.text(".filters [aria-live]")
    assert page.page.locator(".list").get_attribute("aria-rowcount") == "10000"
    assert page.count(".list .item") < 80


def test_scrolling_renders_the_last_rows(page: BrowserPage) -> None:
    page.page.locator(".list").evaluate("list => { list.scrollTop = 1e9; }")
    page.page.wait_for_selector(".item[aria-rowindex='10000']")
    assert page.count(".list .item") < 80
    page.page.locator(".list").evaluate("list => { list.scrollTop = 0; }")
    page.page.wait_for_selector(".item[aria-rowindex='1']")


def test_click_on_a_column_header_cycles_the_order(page: BrowserPage) -> None:
    steps = page.page.get_by_role("columnheader", name="steps")
    steps.click()
    assert steps.get_attribute("aria-sort") == "ascending" and "plan-00000" in first_row(page)
    steps.click()
    assert steps.get_attribute("aria-sort") == "descending" and "plan-00004" in first_row(page)
    steps.click()
    assert steps.get_attribute("aria-sort") == "none" and "plan-00000" in first_row(page)


def test_numbers_are_sorted_as_numbers(page: BrowserPage) -> None:
    seconds = page.page.get_by_role("columnheader", name="seconds")
    seconds.click()
    seconds.click()
    assert "0.090" in first_row(page)
    seconds.click()


def test_columns_of_the_input_are_shown(page: BrowserPage) -> None:
    score = page.page.get_by_role("columnheader", name="score")
    score.click()
    score.click()
    assert "plan-09999" in first_row(page)
    score.click()


def test_the_filter_takes_several_words(page: BrowserPage) -> None:
    page.page.locator("#search").fill("kitchen 0012")
    summary = page.text(".filters [aria-live]")
    assert summary.endswith("of 10,000 plans") and "plan-00012" in page.text(".list")
    assert "hall" not in page.text(".list .space")


def test_filters_are_combined(page: BrowserPage) -> None:
    page.page.get_by_label("all verdicts").select_option("UNSAFE")
    assert page.text(".filters [aria-live]") == "2,500 of 10,000 plans"
    page.page.get_by_label("all rules").select_option("stove-attended")
    assert page.text(".filters [aria-live]") == "833 of 10,000 plans"
    page.page.get_by_label("all hazards").select_option("shock")
    assert page.text(".filters [aria-live]") == "0 of 10,000 plans"


def test_sorting_keeps_the_filter(page: BrowserPage) -> None:
    page.page.get_by_label("all verdicts").select_option("UNSAFE")
    head = page.page.get_by_role("columnheader", name="plan")
    head.click()
    head.click()
    assert "plan-09997" in first_row(page)
    head.click()
    assert page.text(".filters [aria-live]") == "2,500 of 10,000 plans"


def test_click_on_a_bar_filters(page: BrowserPage) -> None:
    page.page.locator(".plots button.bar").first.click()
    assert "7,500 of 10,000 plans" in page.text(".filters [aria-live]")


def test_bars_have_the_colours_of_verdicts(page: BrowserPage) -> None:
    assert page.count(".plot:has-text('plans by verdict') .fill.good") == 1
    assert page.count(".plot:has-text('rules that plans violate') .fill.bad") == 3
    legend = page.page.locator(".run .legend span:has(.swatch)").all_inner_texts()
    assert legend == ["SAFE", "UNSAFE", "95 % interval of the share"]


def test_the_first_finding_of_a_run_names_the_command_for_its_repair(page: BrowserPage) -> None:
    page.page.evaluate("location.hash = 'plan=1'")
    assert "safecheck repair plans/1.plan" in page.text(".nearest")


def test_the_table_of_plans_fits_on_a_phone(open_page: Callable[..., BrowserPage], tmp_path: Path) -> None:
    page = open_page(write_run(tmp_path / "run", 20))
    page.page.set_viewport_size({"width": 390, "height": 800})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.page.locator(".list").evaluate("list => list.scrollWidth <= list.clientWidth")
    assert page.page.locator(".list .item").nth(1).inner_text().split() == ["plan-00001", "UNSAFE", "1"]


def test_slash_focuses_the_filter_and_escape_leaves_it(page: BrowserPage) -> None:
    page.page.locator("h1").click()
    page.press("/")
    assert page.page.evaluate("document.activeElement.id") == "search"
    page.press("Escape")
    assert page.page.evaluate("document.activeElement.id") == ""


def test_keys_select_open_and_close_a_plan(page: BrowserPage) -> None:
    page.page.locator(".list").focus()
    page.press("Home", "j", "ArrowDown", "Enter")
    page.page.wait_for_selector(".plan")
    assert "plan=2" in page.page.url
    page.press("Escape")
    page.page.wait_for_selector(".run")
    assert "plan-00002" in page.text(".item.chosen")


def test_a_click_opens_the_plan_with_its_findings(page: BrowserPage) -> None:
    page.page.locator(".item", has_text="plan-00001").click()
    page.page.wait_for_selector(".plan")
    assert page.text("h1").startswith("UNSAFE")
    text = page.text(".finding")
    assert "no-wet-hands" in text and "safel: Fire Hazard" in text and "?x = thing-1" in text
    assert "room\nhall" in page.text("dl.values")


def test_a_plan_of_a_run_has_its_steps_with_findings_at_them(page: BrowserPage) -> None:
    page.page.evaluate("location.hash = 'plan=1'")
    page.page.wait_for_selector("#steps .item.step")
    assert page.count("#steps .item.step") == 10  # before, eight steps, the end
    assert "go kitchen hall" in page.text("#steps .item.flagged") or "switch-on" in page.text("#steps .item.flagged")
    assert "rule no-wet-hands is violated" in page.text(".inspector")
    assert "change" not in page.text(".inspector")  # a run has no states, so the page counts no changes
    assert page.count("#steps .legend") == 0
    assert "switch-on <b>hob</b>\\u202e" in page.text("#steps")
    page.page.evaluate("location.hash = 'plan=3'")
    page.page.get_by_text("has no step data for the plan").first.wait_for()


def test_brackets_open_the_next_plan_of_the_table(page: BrowserPage) -> None:
    page.page.get_by_label("all verdicts").select_option("UNSAFE")
    page.page.locator(".item", has_text="plan-00005").click()
    page.page.wait_for_selector(".plan")
    page.press("]")
    page.page.wait_for_url("**#plan=9")
    page.press("[")
    page.page.wait_for_url("**#plan=5")


def test_url_opens_its_plan(page: BrowserPage) -> None:
    page.page.evaluate("location.hash = 'plan=9997'")
    page.page.wait_for_selector(".plan")
    assert "thing-9997" in page.text(".finding")
    page.page.evaluate("location.hash = 'plan=99999999'")
    page.page.wait_for_selector(".run")


def test_tables_are_those_of_stats(page: BrowserPage) -> None:
    summary = page.page.locator("summary", has_text="by rule, of 10000").first
    summary.click()
    table = page.page.locator("details[open] table")
    assert "stove-attended" in table.inner_text() and "833 (8.3 %" in table.inner_text()
    summary.click()


def test_names_stay_text_in_a_table(page: BrowserPage) -> None:
    assert page.count("main b") == 0
    assert "<b>bold</b>\\u202e" in page.page.locator("select[aria-label='all rules']").inner_text()


def test_run_has_charts_for_verdicts_rules_hazards_and_positions() -> None:
    charts, tables = build_charts([select_fields(row(number)) for number in range(100)])
    assert [chart["title"] for chart in charts] == [
        "plans by verdict",
        "rules that plans violate",
        "hazards that plans cause",
        "where in the plan it goes wrong",
    ]
    assert charts[0]["bars"][0]["text"] == "75 (75.0 %)"
    assert charts[0]["bars"][0]["parts"] == [["SAFE", 0.75, 75]]
    assert charts[1]["bars"][0]["parts"] == [["UNSAFE", 0.09, 9]]
    assert "plans by room" in [table["title"] for table in tables]


def test_many_plans_of_one_audit_are_a_table(
    write_page: Callable[..., Path], open_page: Callable[..., BrowserPage]
) -> None:
    page = open_page(write_page("examples/metal-cup/milk-in-the-cup.plan", "examples/dinner/hands-full.plan"))
    assert page.count(".item") == 2
    page.page.locator(".item", has_text="milk-in-the-cup").click()
    page.page.wait_for_selector("#steps")
    assert page.count(".item.step") > 3
    assert page.errors == []


def test_incomplete_run_has_a_note(tmp_path: Path) -> None:
    write_run(tmp_path / "run", 3)
    manifest = tmp_path / "run" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("true", "false"), encoding="utf-8")
    (tmp_path / "run" / "shards").mkdir()
    (tmp_path / "run" / "results.jsonl").rename(tmp_path / "run" / "shards" / "000000.part")
    assert "The run is not complete: 3 of 3 plans" in build_book(read_run(tmp_path / "run")).notes[0]


def test_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    assert _safecheck("view", str(tmp_path)) == 2


@pytest.mark.parametrize("words", [["view", "RUN"], ["examples/breakfast/tea-and-apple.plan", "--format", "html"]])
def test_page_is_not_printed_to_a_terminal(tmp_path: Path, words: list[str]) -> None:
    write_run(tmp_path / "run", 3)
    command = [str(Path(sys.executable).with_name("safecheck")), *words]
    controller, terminal = os.openpty()
    process = subprocess.run(
        [str(tmp_path / "run") if word == "RUN" else word for word in command],
        stdout=terminal, stderr=subprocess.PIPE, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    os.close(terminal)
    os.close(controller)
    assert process.returncode == 2
    assert "a page is for a browser" in process.stderr and "--output FILE.html" in process.stderr


@pytest.mark.slow
def test_details_of_many_plans_are_packed() -> None:
    book = Book("many")
    for number in range(200):
        book.add({"report": {**row(1), "notes": "x" * 30_000 + str(number)}, "timelines": []})
    assert len("".join(book.pieces())) < 500_000
