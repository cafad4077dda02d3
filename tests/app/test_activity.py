"""Test progress lines of a waiting command on standard error: on a terminal, in a file, for mocks."""

from __future__ import annotations

import io

from command_line import Terminal

from plansafe.app.session.model_activity import Activity, is_slow


def test_progress_lines_in_a_file_become_less_frequent() -> None:
    stream = io.StringIO()
    with Activity(True, stream) as activity:
        activity.start("loading hf/\x1b[2J")
        activity.start("reading", brief=True)
        activity.start("asking")
        activity.start("asking")
        for seconds in range(200):
            activity.show(seconds)
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("loading hf/") and lines[0].isprintable()
    assert lines[1:] == ["asking ..", *[f"asking .. {n} s" for n in (10, 20, 40, 80, 140)]]


def test_brief_activity_is_shown_after_ten_seconds() -> None:
    stream = io.StringIO()
    with Activity(True, stream) as activity:
        activity.start("checking", brief=True)
        activity.show(9)
        activity.show(10)
    assert stream.getvalue() == "checking .. 10 s\n"


def test_terminal_has_one_line_that_is_erased() -> None:
    stream = Terminal()
    with Activity(True, stream) as activity:
        activity.start("asking")
        activity.show(1)
    assert stream.getvalue() == "\r\x1b[Kasking ..\r\x1b[Kasking .. 1 s\r\x1b[K"


def test_mocks_and_recorded_answers_are_silent() -> None:
    stream = Terminal()
    with Activity(is_slow("mock/planner"), stream) as activity:
        activity.start("asking")
    assert stream.getvalue() == ""
    assert [is_slow(name) for name in ("replay/x", "nobody/x", "openai/x", "gguf/x")] == [False, False, True, True]
