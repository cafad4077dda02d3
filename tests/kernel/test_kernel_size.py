"""The kernel shares no code with what it checks."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "verifier" / "plansafe" / "verifier" / "kernel"
COLUMNS = 120


def test_width() -> None:
    lines = [line for path in sorted(FOLDER.glob("**/*.py")) for line in path.read_text("utf-8").splitlines()]
    assert max(map(len, lines)) <= COLUMNS


def test_imports() -> None:
    modules = {path.stem for path in FOLDER.glob("*.py")}
    for path in FOLDER.glob("**/*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                assert all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level:
                assert node.level == 1 and node.module in modules
            elif isinstance(node, ast.ImportFrom):
                assert node.module is not None and node.module.split(".")[0] in sys.stdlib_module_names
