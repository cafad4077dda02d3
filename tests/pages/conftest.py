"""Pages in headless Chromium, one browser per module. Tests that need it are skipped without a browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plansafe.app.interfaces.cli.audit_command import audit_plans
from plansafe.app.session.model import Settings

sys.path.insert(0, str(Path(__file__).parent))

from page_browser import BrowserPage

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not os.access(CHROMIUM, os.X_OK):
        pytest.skip(f"no browser at {CHROMIUM}: set CHROMIUM")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def open_page(browser: Any) -> Callable[..., BrowserPage]:
    return lambda path, **options: BrowserPage(browser, path, **options)


@pytest.fixture(scope="module")
def write_page(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Audit plans and return the path of the HTML report."""

    def write(*plans: str, **settings: Any) -> Path:
        path = tmp_path_factory.mktemp("page") / "page.html"
        audit_plans([str(ROOT / plan) for plan in plans], Settings(**settings), "html", str(path))
        return path

    return write
