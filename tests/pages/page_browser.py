"""A page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PATIENCE_MS = 20_000
"""The time limit for the browser; test machines can be busy."""


class BrowserPage:
    """A page in the browser, with its errors and requests."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1300, "height": 900}, offline=True, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("dialog", lambda dialog: self.errors.append(f"dialog {dialog.message}"))
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

    def reopen(self) -> None:
        """Load the page again, without its state."""
        self.page.goto("about:blank")
        self.page.goto(self.address)
        self.page.wait_for_selector("html[data-ready=yes]", state="attached")
