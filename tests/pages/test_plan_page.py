"""One plan in the browser: what is shown is what the engine says, by mouse and by key, light, dark and on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page_browser import Opened

PLAN = "examples/dinner/stove-left-alone.plan"


@pytest.fixture(scope="module")
def path(written: Callable[..., Path]) -> Path:
    return written(PLAN)


@pytest.fixture(scope="module")
def shared(opened: Callable[..., Opened], path: Path) -> Iterator[Opened]:
    page = opened(path)
    yield page
    assert page.wrong == []
    assert page.asked and set(page.asked) <= {page.address, "about:blank"}


@pytest.fixture
def page(shared: Opened) -> Opened:
    shared.fresh()
    return shared


def test_the_verdict_and_its_values(page: Opened) -> None:
    assert page.text("h1").startswith("UNSAFE")
    assert page.text("h1").endswith(PLAN)
    assert "safe\nNONE" in page.text("dl.values") and "steps\n25" in page.text("dl.values")
    assert page.page.title() == f"UNSAFE {page.text('h1').split(' ', 1)[1]}"


def test_the_finding_has_rule_reason_cause_and_help(page: Opened) -> None:
    text = page.text(".finding")
    for said in ("stove-attended", "step 21", "severity critical", "confirmed by the kernel", "Cause:", "What helps:"):
        assert said in text
    assert "(running stove) is true" in text


def test_the_table_of_a_finding_shows_the_change(page: Opened) -> None:
    row = page.page.locator(".finding tr.important").inner_text()
    assert "go robot kitchen dining-room" in row and "T \u2192 F" in row and "FAILS" in row


def test_every_step_has_a_row(page: Opened) -> None:
    page.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.count(".item.step") == 27  # with the state before, and the end
    page.page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_a_row_shows_changed_facts_only(page: Opened) -> None:
    row = page.page.locator(".item.step", has_text="(switch-on robot stove kitchen)")
    assert row.locator(".changes").inner_text() == "+(running stove)"


def test_the_step_that_breaks_is_chosen_at_first(page: Opened) -> None:
    assert page.text(".item.chosen .no") == "21"
    assert page.text(".inspector h3") == "step 21"
    assert page.count(".item.flagged") == 1


def test_lanes_are_there_for_rules_at_risk_or_broken(page: Opened) -> None:
    assert page.page.locator(".lanehead button").all_text_contents()[0] == "stove-attended"
    assert page.count(".lanehead button") == 5


def test_rules_that_only_watched_are_there_on_demand(page: Opened) -> None:
    page.page.get_by_role("button", name="3 more rules that only watched").click()
    assert page.count(".lanehead button") == 8
    page.page.get_by_role("button", name="only rules at risk or broken").click()
    assert page.count(".lanehead button") == 5


def test_the_lane_breaks_where_the_rule_breaks(page: Opened) -> None:
    said = page.page.locator(".item.chosen .lanes title").all_text_contents()
    assert "stove-attended: breaks, watches" in said
    assert "heat-off-at-the-end: at risk" in said


def test_arrows_and_letters_walk_through_the_steps(page: Opened) -> None:
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


def test_a_click_chooses_a_step(page: Opened) -> None:
    page.page.locator(".item.step", has_text="(switch-on robot stove kitchen)").click()
    assert page.text(".inspector h3") == "step 19"
    assert "(running stove)" in page.text(".inspector table")


def test_all_facts_are_there_on_demand_and_right(page: Opened) -> None:
    page.page.get_by_role("button", name="all facts here").click()
    facts = page.text(".inspector pre").splitlines()
    assert "(present robot dining-room)" in facts and "(present robot kitchen)" not in facts
    page.page.get_by_label("filter facts").fill("stove")
    assert set(page.text(".inspector pre").splitlines()) < set(facts)
    assert all("stove" in fact for fact in page.text(".inspector pre").splitlines())


def test_a_fact_has_its_history(page: Opened) -> None:
    page.page.locator(".inspector button.fact", has_text="(present robot kitchen)").click()
    assert "step 21 T \u2192 F" in page.text(".inspector") and "step 23 F \u2192 T" in page.text(".inspector")
    assert page.count(".item.about") == 2


def test_a_rule_is_told_with_its_text(page: Opened) -> None:
    page.page.locator(".finding button", has_text="stove-attended").click()
    assert page.text(".inspector h3") == "stove-attended"
    assert "stove-attended" in page.text(".inspector pre") and ":formula" in page.text(".inspector pre")
    assert page.count(".chosen-lane") > 20


def test_a_lane_leads_to_its_rule_by_key(page: Opened) -> None:
    page.page.locator(".lanehead button").nth(1).focus()
    page.press("Enter")
    assert page.text(".inspector h3") == "heat-off-at-the-end"


def test_a_finding_leads_to_its_step_and_back(page: Opened) -> None:
    page.press("Home")
    page.page.locator(".finding button", has_text="step 21").click()
    assert page.text(".item.chosen .no") == "21"
    page.page.locator(".inspector button.link", has_text="is violated at step 21").click()
    assert page.count(".finding.chosen") == 1


def test_the_head_of_a_rule_has_its_number_and_its_first_step(page: Opened) -> None:
    head = page.text("details.rule > summary")
    assert "stove-attended" in head and "1 finding" in head and "step 21" in head


def test_the_nearest_safe_plan_is_next_to_the_finding(page: Opened) -> None:
    text = page.text("article.finding .nearest")
    assert "SAFE" in text and "move step 19, (switch-on robot stove kitchen), before step 24" in text
    page.page.emulate_media(reduced_motion="reduce")  # so that the page scrolls at once
    page.page.locator(".nearest button", has_text="compare both plans").click()
    page.page.emulate_media(reduced_motion="no-preference")
    assert page.page.evaluate("document.getElementById('repair').getBoundingClientRect().top < innerHeight")


def test_the_map_has_a_cell_for_each_row(page: Opened) -> None:
    assert page.count(".minimap button.cell") == 27
    assert page.count(".minimap button.cell.bad") == 1
    label = page.page.locator(".minimap button.bad").get_attribute("aria-label")
    assert label == "step 21: violation or unmet goal, (go robot kitchen dining-room)"
    legend = page.page.locator(".minimap .legend > span").all_text_contents()
    assert legend == ["!violation or unmet goal (1)", "fine (26)"]


def test_the_map_leads_to_a_step_by_mouse_and_by_key(page: Opened) -> None:
    page.page.locator(".minimap button.cell").nth(19).click()
    assert page.text(".inspector h3") == "step 19"
    page.page.locator(".minimap button[aria-current]").focus()
    page.press("ArrowRight", "Enter")
    assert page.text(".inspector h3") == "step 20"
    page.press("End", "Enter")
    assert page.text(".inspector h3") == "end of the plan"
    assert page.count(".minimap button[tabindex='0']") == 1


def test_n_and_p_walk_through_the_findings(page: Opened) -> None:
    page.press("n")
    assert page.count("#finding-0.chosen") == 1
    page.press("p")
    assert page.count("#finding-0.chosen") == 1


def test_the_graph_marks_the_cause(page: Opened) -> None:
    causes = page.page.locator("#graph rect.cause")
    assert causes.count() == 2
    labels = page.page.locator("#graph rect.hit").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    assert any(label.startswith("19 (switch-on robot stove kitchen)") for label in labels)
    assert any(label.startswith("violated: stove-attended") for label in labels)


def test_the_graph_says_who_gives_what(page: Opened) -> None:
    page.page.locator("#graph rect.hit[aria-label^='19 ']").click()
    assert "(running stove)" in page.text("#graph [aria-live]")
    assert page.count("#graph path.lit") > 0
    assert page.text(".inspector h3") == "step 19"


def test_the_whole_graph_is_there_on_demand(page: Opened) -> None:
    before = page.count("#graph rect.node")
    page.page.locator("#graph button").first.click()
    assert page.count("#graph rect.node") > before


def test_the_repair_stands_beside_the_plan(page: Opened) -> None:
    text = page.text("#repair")
    assert "move step 19, (switch-on robot stove kitchen), before step 24" in text
    assert page.count("#repair .diff .moved") == 2
    assert "steps unchanged" in text


def test_repairs_can_be_switched_by_key(page: Opened) -> None:
    first = page.text("#repair .diff")
    page.page.locator("#repair [role=tab]").first.focus()
    page.press("ArrowRight")
    assert page.text("#repair [aria-selected=true]") == "alternative 1"
    assert page.text("#repair .diff") != first
    page.press("ArrowLeft")
    assert page.text("#repair .diff") == first


def test_all_steps_of_a_repair_can_be_seen(page: Opened) -> None:
    page.page.locator("#repair button", has_text="all steps").click()
    assert page.count("#repair .fold") == 0
    assert "(open robot fridge kitchen)" in page.text("#repair .diff")


def test_where_and_why_are_those_of_the_diagnosis(page: Opened) -> None:
    assert "After step 20 a safe plan could still be reached, after step 21 no more." in page.text("#graph")
    assert "process hazard" in page.text("#graph")


def test_the_keys_are_told(page: Opened) -> None:
    page.press("?")
    assert page.page.locator("dialog").is_visible()
    page.press("Escape")
    assert not page.page.locator("dialog").is_visible()


def test_colours_can_be_turned(page: Opened) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    assert page.page.evaluate(back) == "rgb(255, 255, 255)"
    page.press("t")
    assert page.page.evaluate(back) == "rgb(22, 23, 26)"
    page.press("t")
    assert page.page.evaluate(back) == "rgb(255, 255, 255)"


def test_the_system_says_dark_or_light(opened: Callable[..., Opened], path: Path) -> None:
    dark = opened(path, color_scheme="dark")
    assert dark.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 23, 26)"
    dark.page.emulate_media(media="print")
    assert dark.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not dark.page.locator("header.top").is_visible()


@pytest.mark.parametrize("font", ["15px sans-serif", "18px sans-serif", "18px monospace"])
def test_it_fits_on_a_narrow_screen(opened: Callable[..., Opened], path: Path, font: str) -> None:
    """Whatever font the machine has: some have a wide one alone."""
    page = opened(path, bypass_csp=True).page
    page.add_style_tag(content=f"body, body * {{ font: {font} !important; }}")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    wide = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.outerHTML)"
    assert page.locator(".scroll:has(table)").evaluate_all(wide) == []


def test_a_safe_plan_says_so(opened: Callable[..., Opened], written: Callable[..., Path]) -> None:
    safe = opened(written("examples/dinner/stew-and-salad.plan"))
    assert safe.text("h1").startswith("SAFE")
    assert "Nothing was found." in safe.text("#findings")
    assert safe.text(".minimap .legend") == "fine (26)"
    assert safe.count("#repair") == 0
    assert safe.wrong == []
