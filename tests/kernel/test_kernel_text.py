"""The kernel is readable, and shares no code with the engine that it checks."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "verifier" / "plansafe" / "verifier" / "kernel"
MODULES = sorted(FOLDER.glob("**/*.py"))
COMPLEXITY = 12
PAGE = Path(__file__).parents[2] / "verifier" / "plansafe" / "verifier" / "kernel" / "README.md"


def test_no_function_is_complex() -> None:
    ruff = Path(sys.executable).with_name("ruff")
    config = f"lint.mccabe.max-complexity={COMPLEXITY}"
    command = [ruff, "check", "--no-cache", "--select", "C901", "--config", config, FOLDER]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", MODULES, ids=[path.name for path in MODULES])
def test_nothing_escapes_the_formatter(path: Path) -> None:
    assert "fmt: off" not in path.read_text("utf-8")


def test_the_page_names_every_module() -> None:
    page = PAGE.read_text("utf-8")
    assert [path.name for path in MODULES if path.stem != "__init__" and f"| `{path.name}` |" not in page] == []


@pytest.mark.parametrize("path", MODULES, ids=[path.name for path in MODULES])
def test_imports(path: Path) -> None:
    modules = {module.stem for module in MODULES}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            assert all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            assert node.level == 1 and node.module in modules
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None and node.module.split(".")[0] in sys.stdlib_module_names
