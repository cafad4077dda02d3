"""Test that names with markup, quotes and direction marks stay text, and that no text of a plan runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from page_browser import BrowserPage

from plansafe.app.interfaces.cli.audit_command import audit_plans
from plansafe.app.session.model import Settings

IMAGE = "a<img/src=x/onerror=alert`1`>"
SCRIPT = "a'></script><script>alert`2`</script>"
BIDI = "cup\u202egnp.exe\u2066"
LINK = "javascript:alert`3`"
TAGS = "a&lt<svg/onload=alert`4`>"
NAMES = (IMAGE, SCRIPT, BIDI, LINK, TAGS)
DOMAIN = """(define (domain d) (:types thing) (:predicates (held ?x - thing) (seen ?x - thing))
  (:action take :parameters (?x - thing) :precondition (not (held ?x)) :effect (held ?x))
  (:action drop :parameters (?x - thing) :precondition (held ?x) :effect (not (held ?x))))"""
RULES = """(define (safety s) (:domain d)
  (:trajectory no-holding :parameters (?x - thing) :formula (always (not (held ?x)))
    :message "{?x} </script><b>is</b> held" :rationale "<i>because</i>" :fix "drop <u>it</u>"))"""


@pytest.fixture(scope="module")
def page(open_page: Callable[..., BrowserPage], tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserPage]:
    folder = tmp_path_factory.mktemp("hostile")
    names = " ".join(NAMES)
    texts = {
        "domain.pddl": DOMAIN,
        "rules.safe": RULES,
        "problem.pddl": f"(define (problem p) (:domain d) (:objects {names} - thing) (:goal (not (held {IMAGE}))))",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    plan = folder / '<b onclick="alert(5)">&amp;\u202e.plan'
    plan.write_text("".join([f"(take {name})\n" for name in NAMES]) + f"(drop {IMAGE})\n", encoding="utf-8")
    path = folder / "page.html"
    audit_plans([str(plan)], Settings(specs=(str(folder / "rules.safe"),)), "html", str(path))
    page = open_page(path)
    page.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for finding in page.page.locator("details.finding").all():
        finding.evaluate("element => { element.open = true; }")
    yield page
    assert page.errors == []
    assert page.requests == [page.address]


def test_plan_is_audited(page: BrowserPage) -> None:
    assert page.text("h1").startswith("UNSAFE")
    assert page.count(".finding") == len(NAMES)
    assert page.count("details.rule") == 1


@pytest.mark.parametrize("name", [IMAGE, SCRIPT, LINK, TAGS])
def test_name_is_shown_literally(page: BrowserPage, name: str) -> None:
    assert page.page.locator(".item.step .what", has_text=f"(take {name.lower()})").count() == 1


def test_direction_marks_are_escaped(page: BrowserPage) -> None:
    assert page.page.locator(".item.step .what", has_text="(take cup\\u202egnp.exe\\u2066)").count() == 1
    assert not set("\u202e\u2066") & set(page.page.content())


def test_file_name_stays_text(page: BrowserPage) -> None:
    assert '<b onclick="alert(5)">&amp;\\u202e.plan' in page.text("h1")
    assert '<b onclick="alert(5)">' in page.page.title()


def test_messages_of_rules_stay_text(page: BrowserPage) -> None:
    assert "</script><b>is</b> held" in page.text(".finding .title")
    assert "<i>because</i>" in page.text(".finding") and "drop <u>it</u>" in page.text(".finding")


def test_names_create_no_elements(page: BrowserPage) -> None:
    for tag in (
        "img",
        "iframe",
        "object",
        "embed",
        "link[rel]",
        "main script",
        "main i",
        "main u",
        "main svg[onload]",
        "a",
    ):
        assert page.count(tag) == 0, tag
    assert page.count("script") == 3
    attributes = "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes]).map(attribute => attribute.name)"
    assert not [name for name in page.page.evaluate(attributes) if name.startswith("on")]


def test_panels_keep_names_as_text(page: BrowserPage) -> None:
    for number in range(len(NAMES)):
        page.page.locator(".finding .meta button.link").nth(2 * number).click()
        page.page.locator(".inspector button", has_text="all facts here").click()
        page.page.locator(".inspector button.fact").first.click()
        page.page.locator(".finding .meta button.link").nth(2 * number + 1).click()
    for node in page.page.locator("#graph rect.hit").all()[:6]:
        node.click()
    assert page.count("img") == 0
    assert page.errors == []


def test_browser_does_not_run_inserted_scripts(page: BrowserPage) -> None:
    page.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'ran = 1'; document.body.append(s); }"
    )
    assert page.page.evaluate("window.ran") is None
    assert any("Content Security Policy" in error for error in page.errors)
    page.errors.clear()


def test_browser_refuses_requests(page: BrowserPage) -> None:
    fetch = "fetch('https://example.org/').then(() => 'answered', () => 'refused')"
    assert page.page.evaluate(fetch) == "refused"
    page.errors.clear()
