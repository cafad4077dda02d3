"""The rules of axe-core (WCAG 2 and best practices) on all kinds of pages: desktop and phone, dark and light."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_browser import BrowserPage

from plansafe.app.interfaces.cli.audit_command import audit_plans
from plansafe.app.session.model import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "a violation": ["examples/dinner/stove-left-alone.plan"],
    "a step that is not executable": ["examples/dinner/hands-full.plan"],
    "possible worlds": ["examples/oven/pie-in-the-glass-dish.plan"],
    "a timed plan": ["tests/pages/breakfast/interfering.plan"],
    "continuous time": ["examples/battery/both-rooms.plan"],
    "many plans": ["examples/dinner/hands-full.plan", "examples/dinner/stew-and-salad.plan"],
}


@pytest.fixture(scope="module")
def axe() -> Any:
    return pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing").Axe()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("plans", PAGES.values(), ids=PAGES)
def test_axe_finds_no_violation(
    open_page: Callable[..., BrowserPage], tmp_path: Path, axe: Any, plans: list[str], scheme: str
) -> None:
    path = tmp_path / "page.html"
    audit_plans([str(ROOT / plan) for plan in plans], Settings(), "html", str(path))
    page = open_page(path, color_scheme=scheme, bypass_csp=True).page
    for width in (1300, 390):
        page.set_viewport_size({"width": width, "height": 900})
        violations = axe.run(page).response["violations"]
        assert [(violation["id"], violation["nodes"][0]["html"]) for violation in violations] == [], f"{width} px"
