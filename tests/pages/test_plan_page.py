"""Test the page of one plan in the browser: content, mouse, keyboard, dark and light colours, print."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page_browser import BrowserPage

PLAN = "examples/dinner/stove-left-alone.plan"


@pytest.fixture(scope="module")
def path(write_page: Callable[..., Path]) -> Path:
    return write_page(PLAN)


@pytest.fixture(scope="module")
def shared(open_page: Callable[..., BrowserPage], path: Path) -> Iterator[BrowserPage]:
    page = open_page(path)
    yield page
    assert page.errors == []
    assert page.requests and set(page.requests) <= {page.address, "about:blank"}


@pytest.fixture
def page(shared: BrowserPage) -> BrowserPage:
    shared.reopen()
    return shared


def test_verdict_and_values_are_shown(page: BrowserPage) -> None:
    assert page.text("h1").startswith("UNSAFE")
    assert page.text("h1").endswith(PLAN)
    assert "safe\nNONE" in page.text("dl.values") and "steps\n25" in page.text("dl.values")
    assert page.page.title() == f"UNSAFE {page.text('h1').split(' ', 1)[1]}"


def test_finding_has_rule_reason_cause_and_help(page: BrowserPage) -> None:
    text = page.text(".finding")
    for phrase in (
        "stove-attended",
        "step 21",
        "severity critical",
        "confirmed by the kernel",
        "Cause:",
        "What helps:",
    ):
        assert phrase in text
    assert "(running stove) is true" in text


def test_the_table_of_a_finding_shows_the_change(page: BrowserPage) -> None:
    row = page.page.locator(".finding tr.important").inner_text()
    assert "go robot kitchen dining-room" in row and "T \u2192 F" in row and "FAILS" in row


def test_each_step_has_a_row(page: BrowserPage) -> None:
    page.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.count(".item.step") == 27  # with the state before, and the end
    page.page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_a_row_shows_changed_facts_only(page: BrowserPage) -> None:
    row = page.page.locator(".item.step", has_text="(switch-on robot stove kitchen)")
    assert row.locator(".changes").inner_text() == "+(running stove)"


def test_violating_step_is_selected_at_first(page: BrowserPage) -> None:
    assert page.text(".item.chosen .no") == "21"
    assert page.text(".inspector h3") == "step 21"
    assert page.count(".item.flagged") == 1


def test_rules_at_risk_or_broken_have_lanes(page: BrowserPage) -> None:
    assert page.page.locator(".lanehead button").all_text_contents()[0] == "stove-attended"
    assert page.count(".lanehead button") == 5


def test_rules_that_only_watched_are_shown_on_demand(page: BrowserPage) -> None:
    page.page.get_by_role("button", name="3 more rules that only watched").click()
    assert page.count(".lanehead button") == 8
    page.page.get_by_role("button", name="only rules at risk or broken").click()
    assert page.count(".lanehead button") == 5


def test_lane_shows_the_violation(page: BrowserPage) -> None:
    titles = page.page.locator(".item.chosen .lanes title").all_text_contents()
    assert "stove-attended: breaks, watches" in titles
    assert "heat-off-at-the-end: at risk" in titles


def test_arrow_keys_and_letters_select_steps(page: BrowserPage) -> None:
    page.press("j")
    assert page.text(".item.chosen .no") == "22"
    page.press("k", "k")
    assert page.text(".item.chosen .no") == "20"
    page.page.locator(".list").focus()
    page.press("ArrowUp")
    assert page.text(".item.chosen .no") == "19"
    page.press("End")
    assert "end of the plan" in page.text(".item.chosen")
    page.press("Home")
    assert "initial state" in page.text(".item.chosen")


def test_click_selects_a_step(page: BrowserPage) -> None:
    page.page.locator(".item.step", has_text="(switch-on robot stove kitchen)").click()
    assert page.text(".inspector h3") == "step 19"
    assert "(running stove)" in page.text(".inspector table")


def test_all_facts_are_shown_on_demand(page: BrowserPage) -> None:
    page.page.get_by_role("button", name="all facts here").click()
    facts = page.text(".inspector pre").splitlines()
    assert "(present robot dining-room)" in facts and "(present robot kitchen)" not in facts
    page.page.get_by_label("filter facts").fill("stove")
    assert set(page.text(".inspector pre").splitlines()) < set(facts)
    assert all("stove" in fact for fact in page.text(".inspector pre").splitlines())


def test_a_fact_has_its_history(page: BrowserPage) -> None:
    page.page.locator(".inspector button.fact", has_text="(present robot kitchen)").click()
    assert "step 21 T \u2192 F" in page.text(".inspector") and "step 23 F \u2192 T" in page.text(".inspector")
    assert page.count(".item.about") == 2


def test_rule_is_shown_with_its_text(page: BrowserPage) -> None:
    page.page.locator(".finding button", has_text="stove-attended").click()
    assert page.text(".inspector h3") == "stove-attended"
    assert "stove-attended" in page.text(".inspector pre") and ":formula" in page.text(".inspector pre")
    assert page.count(".chosen-lane") > 20


def test_a_lane_leads_to_its_rule_by_key(page: BrowserPage) -> None:
    page.page.locator(".lanehead button").nth(1).focus()
    page.press("Enter")
    assert page.text(".inspector h3") == "heat-off-at-the-end"


def test_a_finding_leads_to_its_step_and_back(page: BrowserPage) -> None:
    page.press("Home")
    page.page.locator(".finding button", has_text="step 21").click()
    assert page.text(".item.chosen .no") == "21"
    page.page.locator(".inspector button.link", has_text="is violated at step 21").click()
    assert page.count(".finding.chosen") == 1


def test_heading_of_a_rule_has_count_and_first_step(page: BrowserPage) -> None:
    head = page.text("details.rule > summary")
    assert "stove-attended" in head and "1 finding" in head and "step 21" in head


def test_the_nearest_safe_plan_is_next_to_the_finding(page: BrowserPage) -> None:
    text = page.text("article.finding .nearest")
    assert "SAFE" in text and "move step 19, (switch-on robot stove kitchen), before step 24" in text
    page.page.emulate_media(reduced_motion="reduce")  # so that the page scrolls at once
    page.page.locator(".nearest button", has_text="compare both plans").click()
    page.page.emulate_media(reduced_motion="no-preference")
    assert page.page.evaluate("document.getElementById('repair').getBoundingClientRect().top < innerHeight")


def test_the_map_has_a_cell_for_each_row(page: BrowserPage) -> None:
    assert page.count(".minimap button.cell") == 27
    assert page.count(".minimap button.cell.bad") == 1
    label = page.page.locator(".minimap button.bad").get_attribute("aria-label")
    assert label == "step 21: violation or unmet goal, (go robot kitchen dining-room)"
    legend = page.page.locator(".minimap .legend > span").all_text_contents()
    assert legend == ["!violation or unmet goal (1)", "fine (26)"]


def test_the_map_leads_to_a_step_by_mouse_and_by_key(page: BrowserPage) -> None:
    page.page.locator(".minimap button.cell").nth(19).click()
    assert page.text(".inspector h3") == "step 19"
    page.page.locator(".minimap button[aria-current]").focus()
    page.press("ArrowRight", "Enter")
    assert page.text(".inspector h3") == "step 20"
    page.press("End", "Enter")
    assert page.text(".inspector h3") == "end of the plan"
    assert page.count(".minimap button[tabindex='0']") == 1


def test_n_and_p_select_findings(page: BrowserPage) -> None:
    page.press("n")
    assert page.count("#finding-0.chosen") == 1
    page.press("p")
    assert page.count("#finding-0.chosen") == 1


def test_the_graph_marks_the_cause(page: BrowserPage) -> None:
    causes = page.page.locator("#graph rect.cause")
    assert causes.count() == 2
    labels = page.page.locator("#graph rect.hit").evaluate_all(
        "all => all.map(element => element.getAttribute('aria-label'))"
    )
    assert any(label.startswith("19 (switch-on robot stove kitchen)") for label in labels)
    assert any(label.startswith("violated: stove-attended") for label in labels)


def test_graph_shows_the_fact_of_a_link(page: BrowserPage) -> None:
    page.page.locator("#graph rect.hit[aria-label^='19 ']").click()
    assert "(running stove)" in page.text("#graph [aria-live]")
    assert page.count("#graph path.lit") > 0
    assert page.text(".inspector h3") == "step 19"


def test_complete_graph_is_shown_on_demand(page: BrowserPage) -> None:
    before = page.count("#graph rect.node")
    page.page.locator("#graph button").first.click()
    assert page.count("#graph rect.node") > before


def test_repair_is_shown_next_to_the_plan(page: BrowserPage) -> None:
    text = page.text("#repair")
    assert "move step 19, (switch-on robot stove kitchen), before step 24" in text
    assert page.count("#repair .diff .moved") == 2
    assert "steps unchanged" in text


def test_keys_select_a_repair(page: BrowserPage) -> None:
    first = page.text("#repair .diff")
    page.page.locator("#repair [role=tab]").first.focus()
    page.press("ArrowRight")
    assert page.text("#repair [aria-selected=true]") == "alternative 1"
    assert page.text("#repair .diff") != first
    page.press("ArrowLeft")
    assert page.text("#repair .diff") == first


def test_all_steps_of_a_repair_can_be_seen(page: BrowserPage) -> None:
    page.page.locator("#repair button", has_text="all steps").click()
    assert page.count("#repair .fold") == 0
    assert "(open robot fridge kitchen)" in page.text("#repair .diff")


def test_diagnosis_is_shown(page: BrowserPage) -> None:
    assert "After step 20 a safe plan could still be reached, after step 21 no more." in page.text("#graph")
    assert "process hazard" in page.text("#graph")


def test_question_mark_shows_the_keys(page: BrowserPage) -> None:
    page.press("?")
    assert page.page.locator("dialog").is_visible()
    page.press("Escape")
    assert not page.page.locator("dialog").is_visible()


def test_t_toggles_dark_colours(page: BrowserPage) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.page.evaluate(background) == "rgb(255, 255, 255)"
    page.press("t")
    assert page.page.evaluate(background) == "rgb(22, 23, 26)"
    page.press("t")
    assert page.page.evaluate(background) == "rgb(255, 255, 255)"


def test_system_setting_selects_dark_colours(open_page: Callable[..., BrowserPage], path: Path) -> None:
    dark = open_page(path, color_scheme="dark")
    assert dark.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 23, 26)"
    dark.page.emulate_media(media="print")
    assert dark.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not dark.page.locator("header.top").is_visible()


@pytest.mark.parametrize("font", ["15px sans-serif", "18px sans-serif", "18px monospace"])
def test_page_fits_on_a_narrow_screen(open_page: Callable[..., BrowserPage], path: Path, font: str) -> None:
    """The page fits with any font: some machines have only a wide one."""
    page = open_page(path, bypass_csp=True).page
    page.add_style_tag(content=f"body, body * {{ font: {font} !important; }}")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    wide = "all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.outerHTML)"
    assert page.locator(".scroll:has(table)").evaluate_all(wide) == []


def test_page_of_a_safe_plan(open_page: Callable[..., BrowserPage], write_page: Callable[..., Path]) -> None:
    safe = open_page(write_page("examples/dinner/stew-and-salad.plan"))
    assert safe.text("h1").startswith("SAFE")
    assert "Nothing was found." in safe.text("#findings")
    assert safe.text(".minimap .legend") == "fine (26)"
    assert safe.count("#repair") == 0
    assert safe.errors == []
