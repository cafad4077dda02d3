"""The command without its packages: what is missing is said, and how to install it."""

from __future__ import annotations

import sys

import pytest

from plansafe.app.editor.command import _serve


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
