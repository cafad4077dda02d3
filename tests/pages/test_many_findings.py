"""Test a plan with hundreds of findings of one rule: one heading, a short page, each finding reachable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page_browser import BrowserPage

from plansafe.app.interfaces.cli.audit_command import audit_plans
from plansafe.app.session.model import Settings

DOMAIN = """(define (domain d) (:predicates (on ?x) (off ?x))
  (:action switch-on :parameters (?x) :precondition (not (on ?x)) :effect (on ?x))
  (:action switch-off :parameters (?x) :precondition (on ?x) :effect (not (on ?x))))"""
PROBLEM = "(define (problem p) (:domain d) (:objects lamp) (:goal (not (on lamp))))"
RULES = """(define (safety s) (:domain d)
  (:process not-on :parameters (?x) :on (switch-on ?x) :forbid (and) :hazard fire :severity low
    :message "{?x} is on" :rationale "It is hot."))"""
STEPS = 700


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("a-private-folder") / "lamps"
    folder.mkdir()
    for name, text in (("domain.pddl", DOMAIN), ("problem.pddl", PROBLEM), ("rules.safe", RULES)):
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "lamp.plan").write_text("(switch-on lamp)\n(switch-off lamp)\n" * (STEPS // 2), encoding="utf-8")
    settings = Settings(specs=(str(folder / "rules.safe"),), max_findings=STEPS)
    audit_plans([str(folder / "lamp.plan")], settings, "html", str(folder / "page.html"))
    return folder


@pytest.fixture(scope="module")
def page(open_page: Callable[..., BrowserPage], folder: Path) -> Iterator[BrowserPage]:
    page = open_page(folder / "page.html")
    yield page
    assert page.errors == []


def test_findings_of_a_rule_have_one_heading(page: BrowserPage) -> None:
    assert page.text("h2#findings-title") == "Findings (350)"
    assert page.count("details.rule") == 1
    head = page.text("details.rule > summary")
    assert "not-on" in head and "350 findings" in head and "first: step 1" in head


def test_the_page_is_short(page: BrowserPage) -> None:
    assert page.page.evaluate("document.documentElement.scrollHeight") < 4_500


def test_all_findings_are_reachable(page: BrowserPage) -> None:
    assert page.count(".finding") == 301
    page.page.locator("button", has_text="49 more of 49").click()
    assert page.count(".finding") == 350
    finding = page.page.locator("#finding-349")
    finding.locator("summary").click()
    assert "lamp is on" in finding.inner_text() and "SC201" in finding.inner_text()
    finding.locator("button", has_text="step 699").click()
    assert page.text(".inspector h3") == "step 699"


def test_the_table_of_a_finding_is_short(page: BrowserPage) -> None:
    page.page.evaluate("document.getElementById('finding-349').open = true")
    rows = page.page.locator("#finding-349 tbody tr")
    assert rows.count() <= 18


def test_map_joins_steps(page: BrowserPage) -> None:
    assert "a cell has the worst state of 3 steps" in page.text(".minimap .legend")
    assert page.count(".minimap button.cell") == page.count(".minimap button.bad") == 234


def test_page_does_not_contain_absolute_paths(folder: Path) -> None:
    text = (folder / "page.html").read_text(encoding="utf-8")
    assert "lamps/lamp.plan" in text and "lamps/domain.pddl" in text
    assert "a-private-folder" not in text and str(Path.home()) not in text
