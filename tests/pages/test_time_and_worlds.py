"""Test pages of timed plans, of plans with several possible worlds, and of plans that are not executable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from page_browser import BrowserPage

Write = Callable[..., Path]
Open = Callable[..., BrowserPage]


@pytest.fixture(scope="module")
def interference(write_page: Write, open_page: Open) -> BrowserPage:
    return open_page(write_page("tests/pages/breakfast/interfering.plan"))


def test_bars_have_the_length_of_their_steps(interference: BrowserPage) -> None:
    widths = interference.page.locator("#gantt rect.bar[height='16'], #gantt rect.wrong[height='16']").evaluate_all(
        "all => all.map(e => Number(e.getAttribute('width')))"
    )
    assert len(widths) == 3
    assert [round(width / widths[0], 3) for width in widths] == [1.0, 0.75, 0.625]


def test_interference_is_marked_between_both_steps(interference: BrowserPage) -> None:
    assert interference.count("#gantt line.clash") == 1
    assert interference.count("#gantt path.cross") == 2
    assert "At 4: step 3, (unplug kettle), interferes with step 1, (boil kettle)" in interference.text("#gantt")


def test_rules_have_bars_over_the_same_time(interference: BrowserPage) -> None:
    assert interference.page.locator("#gantt text.label title").all_text_contents() == [
        "nothing-left-hot",
        "kettle-off",
    ]
    assert interference.count("#gantt rect.risk") == 3


def test_a_bar_leads_to_its_step(interference: BrowserPage) -> None:
    interference.page.locator("#gantt rect.hit").nth(3).click()
    assert interference.text(".inspector h3") == "at 4.5: step 4 start"


def test_rows_of_a_timed_plan_are_its_happenings(interference: BrowserPage) -> None:
    rows = interference.page.locator(".item.step .no").all_inner_texts()
    assert rows == ["", "0", "1", "4", "4.5", "7", ""]
    assert interference.errors == []


def test_changed_numbers_are_shown(interference: BrowserPage) -> None:
    interference.page.locator(".item.step", has_text="end (boil kettle)").click()
    assert "(water)\t3 \u2192 2" in interference.text(".inspector table")


def test_bars_are_as_wide_as_their_steps_on_the_screen(interference: BrowserPage) -> None:
    widths = interference.page.locator("#gantt rect.bar").evaluate_all("all => all.map(e => e.getBBox().width)")
    assert 1 < max(widths) < 1000


def test_a_time_beyond_floating_point_is_shown(write_page: Write, open_page: Open, tmp_path: Path) -> None:
    plan = tmp_path / "late.plan"
    plan.write_text(f"0: (plug kettle)\n1{'0' * 400}: (boil kettle) [4]\n")
    folder = str(Path(__file__).parent / "breakfast")
    page = open_page(write_page(str(plan), domain=f"{folder}/domain.pddl", problem=f"{folder}/problem.pddl"))
    assert page.count("#gantt svg") == 1
    assert page.errors == []


@pytest.fixture(scope="module")
def continuous(write_page: Write, open_page: Open) -> BrowserPage:
    return open_page(write_page("examples/battery/both-rooms.plan"))


def test_rows_of_continuous_time_are_happenings(continuous: BrowserPage) -> None:
    rows = continuous.page.locator(".item.step .what").all_inner_texts()
    assert rows[:4] == ["initial state", "(leave-dock)", "time passes", "start (sweep kitchen)"]
    assert "event (stall)" in rows and "just after 31.5" in rows
    rule = continuous.page.locator("details.rule", has_text="keeps-a-reserve")
    rule.locator("summary").click()
    rule.locator("button.link").first.click()
    assert continuous.text(".inspector h3") == "just after 31.5"


def test_numbers_have_a_curve_through_their_exact_values(continuous: BrowserPage) -> None:
    assert continuous.count("#numbers figure svg") == 1
    titles = continuous.page.locator("#numbers circle.dot title").all_text_contents()
    assert titles[:2] == ["(charge) = 70 at 0", "(charge) = 139/2 at 1"] and len(titles) == 8
    points = continuous.page.locator("#numbers circle.dot").evaluate_all(
        "all => all.map(e => [Number(e.getAttribute('cx')), Number(e.getAttribute('cy'))])"
    )
    times = [(x - points[0][0]) / (points[-1][0] - points[0][0]) * 41 for x, _ in points]
    assert times == pytest.approx([0, 1, 21, 22, 31.5, 36.5, 40, 41])
    charges = [(points[-1][1] - y) / (points[-1][1] - points[0][1]) * 75.25 - 5.25 for _, y in points]
    assert charges == pytest.approx([70, 69.5, 29.5, 29, 10, 0, -5.25, -5.25])


def test_bounds_violations_and_events_are_marked(continuous: BrowserPage) -> None:
    assert "compared with 10: rule keeps-a-reserve; 0: condition of step 3" in continuous.text("#numbers figcaption")
    assert continuous.count("#numbers line.bound") == 2 + 1  # with the legend
    titles = continuous.page.locator("#numbers .broken title").all_text_contents()
    assert "keeps-a-reserve is violated just after 31.5" in titles
    assert continuous.page.locator("#numbers .hit title").all_text_contents()[0] == "at 36.5: event (stall)"
    continuous.page.locator("#numbers rect.broken").first.click()
    assert continuous.text(".inspector h3") == "just after 31.5"


def test_values_are_also_a_table(continuous: BrowserPage) -> None:
    label = continuous.page.locator("#numbers figure svg").get_attribute("aria-label")
    assert label is not None and label.startswith("(charge) over time: 70 at 0, 139/2 at 1, 59/2 at 21")
    continuous.page.locator("#numbers summary").click()
    cells = continuous.page.locator("#numbers td").all_inner_texts()
    assert cells[:4] == ["0", "70", "1", "139/2"]
    assert continuous.errors == [] and continuous.requests == [continuous.address]


@pytest.fixture(scope="module")
def worlds(write_page: Write, open_page: Open) -> BrowserPage:
    return open_page(write_page("examples/oven/pie-in-the-glass-dish.plan"))


def test_world_and_question_are_shown(worlds: BrowserPage) -> None:
    assert worlds.text("#worlds .ask").startswith("Worth asking: what is (temperature oven)?")
    assert "the plan is not safe in a world where:" in worlds.text("#worlds .card")
    assert "(temperature oven) is 191" in worlds.text("#worlds .card")


def test_plan_is_shown_in_that_world(worlds: BrowserPage) -> None:
    assert "the world with the finding" in worlds.text("#steps")
    assert "(temperature oven) = 211" in worlds.text(".item.chosen")
    assert worlds.text(".inspector h3") == "step 3"


def test_order_of_steps_is_shown(write_page: Write, open_page: Open) -> None:
    page = open_page(write_page("examples/two-robots/each-at-its-own-pace.plan"))
    assert "the steps are taken in this order:" in page.text("#worlds")
    assert page.page.locator(".item.step .what").all_inner_texts()[1] == "(switch-on kit stove kitchen)"
    assert page.errors == []


def test_no_world_is_shown_without_a_finding(write_page: Write, open_page: Open) -> None:
    page = open_page(write_page("examples/two-robots/towel-first.plan"))
    assert "no possible world with a finding is known" in page.text("#steps")


def test_steps_after_a_failed_step_are_marked(write_page: Write, open_page: Open) -> None:
    page = open_page(write_page("examples/dinner/hands-full.plan"))
    assert page.count(".item.failed") == 1
    assert "cannot be taken" in page.text(".item.failed")
    assert page.count(".item.behind") > 3
    states = page.page.locator(".minimap button.cell").evaluate_all("all => all.map(e => e.className)")
    assert states[8] == "cell stopped" and set(states[:8]) == {"cell fine"}
    assert "cell fine" not in states[8:]  # a step that is not executed is never shown as fine
    assert "cannot be taken (SC301)" in page.text(".inspector")


def test_an_ill_formed_step_has_its_row(write_page: Write, open_page: Open) -> None:
    page = open_page(write_page("examples/breakfast/unknown-action.plan"))
    assert page.text("h1").startswith("INVALID")
    assert "is not taken" in page.text(".item.failed")
    assert page.errors == []


def test_script_is_shown_in_its_syntax(write_page: Write, open_page: Open) -> None:
    home = str(Path(__file__).resolve().parents[2] / "examples/virtualhome/home.json")
    page = open_page(write_page("examples/virtualhome/warm-milk.txt", world="virtualhome", scene=home))
    page.page.locator(".list").focus()
    page.press("Home", "ArrowDown")
    assert "as written: [WALK]" in page.text(".inspector")
    assert page.errors == []
