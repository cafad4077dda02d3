"""A page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PATIENCE_MS = 20_000
"""Machines that test are busy."""


class Opened:
    """A page in the browser, with what went wrong there and what it asked for."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1300, "height": 900}, offline=True, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda told: self.wrong.append(told.text))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"dialog {dialog.message}"))
        self.address = path.as_uri()
        self.page.goto(self.address)
        self.page.wait_for_selector("html[data-ready=yes]", state="attached")

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.inner_text())

    def count(self, selector: str) -> int:
        return int(self.page.locator(selector).count())

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def fresh(self) -> None:
        """The page as it opens."""
        self.page.goto("about:blank")
        self.page.goto(self.address)
        self.page.wait_for_selector("html[data-ready=yes]", state="attached")
