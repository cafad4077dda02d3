"""The advice for a missing package is a command that works: it names packages, and the interpreter that is running."""

from __future__ import annotations

import shlex
import sys
from importlib import metadata
from pathlib import Path

import pytest

from plansafe.verifier import extras
from plansafe.verifier.extras import how_to_install


@pytest.mark.parametrize(
    ("extra", "packages"),
    [
        ("solve", {"z3-solver", "python-sat"}),
        ("plan", {"unified-planning", "kairos-planner", "up-fast-downward"}),
        ("graph", {"networkx"}),
    ],
)
def test_the_packages_of_an_extra_are_named(extra: str, packages: set[str]) -> None:
    words = shlex.split(how_to_install(extra))
    assert words[1:4] == ["-m", "pip", "install"]
    assert {word.partition(">=")[0] for word in words[4:]} == packages
    assert "plansafe" not in " ".join(words[4:])


def test_the_interpreter_is_the_one_that_is_running(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert shlex.split(how_to_install("solve"))[0] == sys.executable
    monkeypatch.setattr(sys, "executable", str(tmp_path / "my env" / "bin" / "python"))
    assert shlex.split(how_to_install("solve"))[0] == "my env/bin/python"


def test_a_bare_checkout_is_installed_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(extras, "requires", nothing)
    assert shlex.split(how_to_install("solve"))[1:] == ["-m", "pip", "install", ".[solve]"]
