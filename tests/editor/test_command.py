"""Test the language server's command without its packages and in a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from plansafe.app.interfaces.cli.language_server import _serve
from plansafe.app.system.process import for_a_program


def test_missing_package_is_reported_with_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    assert _serve() == 2
    message = capsys.readouterr().err
    assert "the language server needs the package pygls" in message
    assert "pip install" in message
    assert any([name in message.partition("help:")[2] for name in ("pygls", "[lsp]")])
    assert "plansafe[" not in message  # the package is not in an index


@pytest.mark.parametrize(("interactive", "note"), [(True, "note: this command is for an editor"), (False, "")])
def test_a_terminal_user_sees_a_note_about_the_editor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], interactive: bool, note: str
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: interactive)
    monkeypatch.setattr("sys.stdin", terminal)
    for_a_program("an editor", "docs/service.md#editors")
    output = capsys.readouterr()
    assert (output.out, output.err.startswith(note), bool(output.err)) == ("", True, interactive)
