"""The command without its packages: what is missing is said, and how to install it."""

from __future__ import annotations

import io
import sys

import pytest

from plansafe.app.interfaces.cli.language_server import _serve
from plansafe.app.system.process import for_a_program


def test_a_missing_package_is_named_with_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    assert _serve() == 2
    said = capsys.readouterr().err
    assert "the language server needs the package pygls" in said
    assert "pip install" in said
    assert any([name in said.partition("help:")[2] for name in ("pygls", "[lsp]")])
    assert "plansafe[" not in said  # no package index has it


@pytest.mark.parametrize(("person", "said"), [(True, "note: this command is for an editor"), (False, "")])
def test_who_starts_it_in_a_terminal_is_told_what_it_waits_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], person: bool, said: str
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: person)
    monkeypatch.setattr("sys.stdin", terminal)
    for_a_program("an editor", "docs/service.md#editors")
    caught = capsys.readouterr()
    assert (caught.out, caught.err.startswith(said), bool(caught.err)) == ("", True, person)
