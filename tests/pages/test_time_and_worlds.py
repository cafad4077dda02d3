"""Timed plans as a Gantt chart, plans in worlds that are not fully known, and plans that cannot be carried out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from page_browser import Opened

Write = Callable[..., Path]
Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def clash(written: Write, opened: Open) -> Opened:
    return opened(written("tests/pages/breakfast/interfering.plan"))


def test_bars_have_the_length_of_their_steps(clash: Opened) -> None:
    widths = clash.page.locator("#gantt rect.bar[height='16'], #gantt rect.wrong[height='16']").evaluate_all(
        "all => all.map(one => Number(one.getAttribute('width')))"
    )
    assert len(widths) == 3
    assert [round(width / widths[0], 3) for width in widths] == [1.0, 0.75, 0.625]


def test_interference_is_marked_between_both_steps(clash: Opened) -> None:
    assert clash.count("#gantt line.clash") == 1
    assert clash.count("#gantt path.cross") == 2
    assert "At 4: step 3, (unplug kettle), interferes with step 1, (boil kettle)" in clash.text("#gantt")


def test_rules_have_bars_over_the_same_time(clash: Opened) -> None:
    assert clash.page.locator("#gantt text.label title").all_text_contents() == ["nothing-left-hot", "kettle-off"]
    assert clash.count("#gantt rect.risk") == 3


def test_a_bar_leads_to_its_step(clash: Opened) -> None:
    clash.page.locator("#gantt rect.hit").nth(3).click()
    assert clash.text(".inspector h3") == "at 4.5: step 4 start"


def test_rows_of_a_timed_plan_are_its_happenings(clash: Opened) -> None:
    rows = clash.page.locator(".item.step .no").all_inner_texts()
    assert rows == ["", "0", "1", "4", "4.5", "7", ""]
    assert clash.wrong == []


def test_numbers_change_too(clash: Opened) -> None:
    clash.page.locator(".item.step", has_text="end (boil kettle)").click()
    assert "(water)\t3 \u2192 2" in clash.text(".inspector table")


def test_bars_are_as_wide_as_their_steps_on_the_screen(clash: Opened) -> None:
    widths = clash.page.locator("#gantt rect.bar").evaluate_all("all => all.map(one => one.getBBox().width)")
    assert 1 < max(widths) < 1000


def test_a_time_beyond_floating_point_is_shown(written: Write, opened: Open, tmp_path: Path) -> None:
    plan = tmp_path / "late.plan"
    plan.write_text(f"0: (plug kettle)\n1{'0' * 400}: (boil kettle) [4]\n")
    folder = str(Path(__file__).parent / "breakfast")
    page = opened(written(str(plan), domain=f"{folder}/domain.pddl", problem=f"{folder}/problem.pddl"))
    assert page.count("#gantt svg") == 1
    assert page.wrong == []


@pytest.fixture(scope="module")
def battery(written: Write, opened: Open) -> Opened:
    return opened(written("examples/battery/both-rooms.plan"))


def test_the_steps_of_continuous_time_are_moments(battery: Opened) -> None:
    rows = battery.page.locator(".item.step .what").all_inner_texts()
    assert rows[:4] == ["initial state", "(leave-dock)", "time passes", "start (sweep kitchen)"]
    assert "event (stall)" in rows and "just after 31.5" in rows
    rule = battery.page.locator("details.rule", has_text="keeps-a-reserve")
    rule.locator("summary").click()
    rule.locator("button.link").first.click()
    assert battery.text(".inspector h3") == "just after 31.5"


def test_numbers_have_a_curve_through_their_exact_values(battery: Opened) -> None:
    assert battery.count("#numbers figure svg") == 1
    titles = battery.page.locator("#numbers circle.dot title").all_text_contents()
    assert titles[:2] == ["(charge) = 70 at 0", "(charge) = 139/2 at 1"] and len(titles) == 8
    places = battery.page.locator("#numbers circle.dot").evaluate_all(
        "all => all.map(one => [Number(one.getAttribute('cx')), Number(one.getAttribute('cy'))])"
    )
    across = [(x - places[0][0]) / (places[-1][0] - places[0][0]) * 41 for x, _ in places]
    assert across == pytest.approx([0, 1, 21, 22, 31.5, 36.5, 40, 41])
    up = [(places[-1][1] - y) / (places[-1][1] - places[0][1]) * 75.25 - 5.25 for _, y in places]
    assert up == pytest.approx([70, 69.5, 29.5, 29, 10, 0, -5.25, -5.25])


def test_bounds_violations_and_events_are_marked(battery: Opened) -> None:
    assert "compared with 10: rule keeps-a-reserve; 0: condition of step 3" in battery.text("#numbers figcaption")
    assert battery.count("#numbers line.bound") == 2 + 1  # with the legend
    titles = battery.page.locator("#numbers .broken title").all_text_contents()
    assert "keeps-a-reserve is violated just after 31.5" in titles
    assert battery.page.locator("#numbers .hit title").all_text_contents()[0] == "at 36.5: event (stall)"
    battery.page.locator("#numbers rect.broken").first.click()
    assert battery.text(".inspector h3") == "just after 31.5"


def test_the_values_are_a_table_too(battery: Opened) -> None:
    label = battery.page.locator("#numbers figure svg").get_attribute("aria-label")
    assert label is not None and label.startswith("(charge) over time: 70 at 0, 139/2 at 1, 59/2 at 21")
    battery.page.locator("#numbers summary").click()
    cells = battery.page.locator("#numbers td").all_inner_texts()
    assert cells[:4] == ["0", "70", "1", "139/2"]
    assert battery.wrong == [] and battery.asked == [battery.address]


@pytest.fixture(scope="module")
def oven(written: Write, opened: Open) -> Opened:
    return opened(written("examples/oven/pie-in-the-glass-dish.plan"))


def test_the_world_and_what_to_ask(oven: Opened) -> None:
    assert oven.text("#worlds .ask").startswith("Worth asking: what is (temperature oven)?")
    assert "the plan is not safe in a world where:" in oven.text("#worlds .card")
    assert "(temperature oven) is 191" in oven.text("#worlds .card")


def test_the_plan_is_told_in_that_world(oven: Opened) -> None:
    assert "the world with the finding" in oven.text("#steps")
    assert "(temperature oven) = 211" in oven.text(".item.chosen")
    assert oven.text(".inspector h3") == "step 3"


def test_an_order_of_steps_is_told(written: Write, opened: Open) -> None:
    page = opened(written("examples/two-robots/each-at-its-own-pace.plan"))
    assert "the steps are taken in this order:" in page.text("#worlds")
    assert page.page.locator(".item.step .what").all_inner_texts()[1] == "(switch-on kit stove kitchen)"
    assert page.wrong == []


def test_where_nothing_can_go_wrong_no_world_is_told(written: Write, opened: Open) -> None:
    page = opened(written("examples/two-robots/towel-first.plan"))
    assert "no possible world with a finding is known" in page.text("#steps")


def test_steps_behind_one_that_cannot_be_taken(written: Write, opened: Open) -> None:
    page = opened(written("examples/dinner/hands-full.plan"))
    assert page.count(".item.failed") == 1
    assert "cannot be taken" in page.text(".item.failed")
    assert page.count(".item.behind") > 3
    states = page.page.locator(".minimap button.cell").evaluate_all("all => all.map(one => one.className)")
    assert states[8] == "cell stopped" and set(states[:8]) == {"cell fine"}
    assert "cell fine" not in states[8:]  # a step that is not executed is never shown as fine
    assert "cannot be taken (SC301)" in page.text(".inspector")


def test_an_ill_formed_step_has_its_row(written: Write, opened: Open) -> None:
    page = opened(written("examples/breakfast/unknown-action.plan"))
    assert page.text("h1").startswith("INVALID")
    assert "is not taken" in page.text(".item.failed")
    assert page.wrong == []


def test_a_script_of_a_world_is_shown_as_it_was_written(written: Write, opened: Open) -> None:
    home = str(Path(__file__).resolve().parents[2] / "examples/virtualhome/home.json")
    page = opened(written("examples/virtualhome/warm-milk.txt", world="virtualhome", scene=home))
    page.page.locator(".list").focus()
    page.press("Home", "ArrowDown")
    assert "as written: [WALK]" in page.text(".inspector")
    assert page.wrong == []
