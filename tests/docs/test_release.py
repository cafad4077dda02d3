"""The checks of the distributions: every extra has a smoke test, and wrong contents are reported."""

from __future__ import annotations

import io
import shlex
import tarfile
import zipfile
from pathlib import Path

import pytest
from bench.release import LICENCES, ROOT, SMOKES, find_source_problems, find_wheel_problems, read_extras

GOOD = ("plansafe/app/__init__.py", "plansafe/app/py.typed", *[f"plansafe-0.1.0.dist-info/{name}" for name in LICENCES])


def test_every_extra_has_a_smoke_test() -> None:
    assert set(SMOKES) == read_extras() | {""}
    for smoke in SMOKES.values():
        assert smoke.modules and smoke.commands
        for command in smoke.commands:
            words = shlex.split(command.replace("{examples}", str(ROOT / "examples")))
            assert words[0] in ("safecheck", "python", "inspect")
            assert all(Path(word).exists() for word in words if word.startswith(str(ROOT)))


def write_wheel(folder: Path, names: tuple[str, ...]) -> Path:
    path = folder / "plansafe-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ((*GOOD, "tests/test_a.py"), "contains tests/test_a.py"),
        ((*GOOD, "plansafe/app/__pycache__/a.pyc"), "contains plansafe/app/__pycache__/a.pyc"),
        (GOOD[:-1], "lacks licenses/domains/plansafe/domains/objects/LICENSE.wordnet"),
        ((GOOD[0], *GOOD[2:]), "lacks plansafe/app/py.typed"),
    ],
)
def test_wrong_contents_of_a_wheel_are_reported(names: tuple[str, ...], problem: str, tmp_path: Path) -> None:
    assert [message for message in find_wheel_problems(write_wheel(tmp_path, names)) if message.endswith(problem)]


def test_a_wheel_with_the_right_contents_has_no_problem(tmp_path: Path) -> None:
    assert not list(find_wheel_problems(write_wheel(tmp_path, GOOD)))


def test_wrong_contents_of_a_source_distribution_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "plansafe-0.1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("README.md", "pyproject.toml", ".venv-docs/bin/python"):
            archive.addfile(tarfile.TarInfo(f"plansafe-0.1.0/{name}"), io.BytesIO())
    assert list(find_source_problems(path)) == [
        "plansafe-0.1.0.tar.gz contains .venv-docs/bin/python",
        "plansafe-0.1.0.tar.gz lacks LICENSE",
    ]
