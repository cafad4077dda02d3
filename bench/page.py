"""Measure the HTML page of many plans in headless Chromium: write, open, sort, filter, scroll, open a plan.

    python -m bench.page --count 10000 [--output page.html]

Each plan gets one of a few real reports at random. Exit code 1 if the page takes longer than ``--within`` seconds to
open; 2 without a browser.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from plansafe.app.interfaces.pages.audit_page import audit_plans
from plansafe.app.interfaces.pages.plan_index import Book
from plansafe.app.interfaces.pages.run_figures import build_charts, select_fields
from plansafe.app.session.model import Settings

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PLANS = [f"examples/dinner/{name}.plan" for name in ("hands-full", "same-knife", "stew-and-salad", "stove-left-alone")]


def make_random_page(count: int, seed: int = 0) -> Book:
    """A page with the given number of plans."""
    rng = random.Random(seed)
    reports = [audited.detail["report"] for audited in audit_plans([str(ROOT / plan) for plan in PLANS], Settings())]
    book, rows = Book(f"{count:,} plans", ("room", "task")), []
    for number in range(count):
        report: dict[str, Any] = rng.choice(reports)
        columns = {"room": rng.choice(("kitchen", "bathroom", "hall")), "task": f"task {rng.randrange(50)}"}
        name = f"plans/{number:06}.plan"
        book.add({"report": report, "timelines": [], "columns": columns}, name, round(rng.expovariate(20), 4))
        rows.append({**select_fields(report), "id": name, "columns": columns})
    book.plots, book.tables = build_charts(rows)
    return book


def measure_script(page: Any, label: str, script: str) -> float:
    """Print and return the seconds until the browser has rendered the effect of a script."""
    start = time.monotonic()
    page.evaluate(f"() => new Promise(done => {{ {script}; requestAnimationFrame(() => setTimeout(done)); }})")
    seconds = time.monotonic() - start
    print(f"{label:28} {1000 * seconds:8.0f} ms")
    return seconds


def main() -> int:
    """Write the page and measure it in the browser."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--within", type=float, default=2.0)
    parser.add_argument("--output")
    options = parser.parse_args()
    start = time.process_time()
    text = "".join(make_random_page(options.count).pieces())
    print(f"{'written':28} {1000 * (time.process_time() - start):8.0f} ms, {len(text) / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(options.output or f"{folder}/page.html").resolve()
        path.write_text(text, encoding="utf-8")
        try:
            from playwright.sync_api import sync_playwright
        except ImportError:
            print("playwright is not installed")
            return 2
        if not os.access(CHROMIUM, os.X_OK):
            print(f"no browser at {CHROMIUM} (set CHROMIUM)")
            return 2
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page()
            start = time.monotonic()
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=60_000)
            open_seconds = time.monotonic() - start
            print(f"{'opened':28} {1000 * open_seconds:8.0f} ms")
            measure_script(page, "sorted by plan", "document.querySelectorAll('.heads button')[0].click()")
            measure_script(page, "sorted by findings", "document.querySelectorAll('.heads button')[3].click()")
            search = "const s = document.querySelector('#search'); s.value = 'kitchen stove'; "
            measure_script(page, "filtered", search + "s.dispatchEvent(new Event('input'))")
            measure_script(page, "scrolled to the end", "document.querySelector('.list').scrollTop = 1e9")
            measure_script(page, "a plan", f"location.hash = 'plan={options.count - 1}'")
            print(f"{'elements in the document':28} {page.evaluate('document.querySelectorAll(`*`).length'):8}")
            browser.close()
    return 0 if open_seconds <= options.within else 1


if __name__ == "__main__":
    sys.exit(main())
