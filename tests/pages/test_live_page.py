"""``runs view --live``: the page follows a run until it ends, and keeps the reader's selection."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from page_browser import BrowserPage
from test_run_page import row

from plansafe.app.interfaces.pages import run_page
from plansafe.app.runs.run_folder import RunFolder

PATIENCE_S = 60
COUNT = 4


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    """A run in progress, without rows."""
    manifest = {"version": 1, "tool": "safecheck 0", "plans": COUNT, "started": "2026-01-01", "shard": COUNT}
    with RunFolder.new(str(tmp_path / "run"), {**manifest, "complete": False}) as folder:
        yield folder


def append_row(folder: RunFolder, number: int) -> None:
    folder.append(number, json.dumps(row(number)).encode() + b"\n")


def start_view(folder: RunFolder) -> tuple[subprocess.Popen[str], Path]:
    page = Path(folder.path).with_name("page.html")
    command = [str(Path(sys.executable).with_name("safecheck")), "runs", "view", folder.path, "--live", "-o", str(page)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True), page


def read_index(page: Path) -> dict[str, Any]:
    index: dict[str, Any] = json.loads(re.findall('id="index">(.*?)</script>', page.read_text(encoding="utf-8"))[0])
    return index


def wait_for_rows(page: Path, count: int) -> dict[str, Any]:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if page.exists() and len((index := read_index(page))["rows"]) == count:
            return index
        time.sleep(0.1)
    raise AssertionError(f"the page does not have {count} rows")


def test_page_shows_new_rows_until_the_run_ends(folder: RunFolder) -> None:
    append_row(folder, 1)
    process, page = start_view(folder)
    assert wait_for_rows(page, 1)["reload_s"] == run_page.RELOAD_S
    append_row(folder, 0)
    index = wait_for_rows(page, 2)
    assert "The run is not complete: 2 of 4 plans are audited." in index["notes"]
    append_row(folder, 2)
    append_row(folder, 3)
    folder.finish()
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0 and "page.html in a browser" in errors
    index = read_index(page)
    assert len(index["rows"]) == COUNT and index["reload_s"] is None and index["notes"] == []


def test_interrupted_view_leaves_a_page_that_does_not_reload(folder: RunFolder) -> None:
    append_row(folder, 0)
    process, page = start_view(folder)
    wait_for_rows(page, 1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130 and "Traceback" not in errors
    assert read_index(page)["reload_s"] is None
    assert [path.name for path in page.parent.iterdir() if path.suffix == ".tmp"] == []


def test_open_run_folder_has_a_writer(folder: RunFolder) -> None:
    script = f"from plansafe.app.runs.run_folder import is_being_written; print(is_being_written({folder.path!r}))"
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\n"


def test_view_ends_if_the_run_has_no_writer(tmp_path: Path) -> None:
    manifest = {"version": 1, "tool": "safecheck 0", "plans": COUNT, "started": "2026-01-01", "shard": COUNT}
    with RunFolder.new(str(tmp_path / "run"), {**manifest, "complete": False}) as folder:
        append_row(folder, 0)
    process, page = start_view(folder)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0 and "The run is not complete: 1 of 4" in errors
    assert read_index(page)["reload_s"] is None


def test_live_needs_a_file(folder: RunFolder) -> None:
    command = [str(Path(sys.executable).with_name("safecheck")), "runs", "view", folder.path, "--live"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 2 and "--output FILE.html" in process.stderr and process.stdout == ""


def test_reloaded_page_keeps_the_filter(open_page: Callable[..., BrowserPage], folder: RunFolder) -> None:
    path = Path(folder.path).with_name("page.html")

    def write(reload_s: float | None, *numbers: int) -> None:
        for number in numbers:
            append_row(folder, number)
        assert run_page._write_page(run_page.read_run(folder.path), str(path), reload_s) == 0

    write(run_page.RELOAD_S, 1)
    page = open_page(path)
    page.page.clock.install()  # time passes only when the test advances it
    page.reopen()
    assert "1 plan" in page.text(".filters [aria-live]")
    page.page.get_by_label("all verdicts").select_option("UNSAFE")
    page.page.get_by_label("all verdicts").blur()
    write(run_page.RELOAD_S, 0, 2)
    reload_page(page)
    assert page.text(".filters [aria-live]") == "1 of 3 plans"
    assert page.page.get_by_label("all verdicts").input_value() == "UNSAFE"
    page.page.locator(".item", has_text="plan-00001").click()
    page.page.wait_for_selector(".plan")
    write(None, 3)
    page.page.clock.run_for(3000 * run_page.RELOAD_S)
    assert page.count(".plan") == 1
    page.press("Escape")
    reload_page(page)
    assert page.text(".filters [aria-live]") == "1 of 4 plans"
    assert page.page.evaluate("index.reload_s") is None
    assert page.errors == []


def reload_page(page: BrowserPage) -> None:
    with page.page.expect_navigation():
        page.page.clock.fast_forward(1000 * run_page.RELOAD_S)
    page.page.wait_for_selector("html[data-ready=yes]", state="attached")
