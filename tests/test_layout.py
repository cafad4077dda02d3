"""Rules of the repository layout: namespace packages, import directions, an independent kernel, a light start."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # for bench

from bench.import_graph import FOLDERS, find_import_cycles, read_modules  # noqa: E402

HEAVY = ("numpy", "z3", "networkx", "torch", "lark", "rich", "hypothesis", "pydantic", "unified_planning", "asyncio")
LOADED_ON_DEMAND = {"json", "hashlib", "importlib_metadata", "dataclasses"}
"""Standard libraries that a small audit does without."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_folder_shadows_the_namespace_package(root: Path, folder: str) -> None:
    assert not (root / folder / "plansafe" / "__init__.py").exists()
    assert [p.name for p in (root / folder / "plansafe").iterdir() if p.is_dir() and p.name[0] != "_"] == [folder]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_package_is_typed_and_every_module_has_a_docstring(root: Path, folder: str) -> None:
    package = root / folder / "plansafe" / folder
    assert (package / "py.typed").exists()
    for module in package.rglob("*.py"):
        assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))), f"{module} has no docstring"


@pytest.mark.parametrize("folder", (*FOLDERS, "tests", "bench", "docs", "examples"))
def test_every_folder_has_a_readme_of_one_screen(root: Path, folder: str) -> None:
    line_limit = 150 if folder == "docs" else 50  # the index of docs has a line for each page
    assert len((root / folder / "README.md").read_text(encoding="utf-8").splitlines()) <= line_limit


def test_an_import_inside_a_function_gives_a_reason(root: Path) -> None:
    """The first of several such imports in a row gives the reason for all."""
    for folder in FOLDERS:
        for module in (root / folder / "plansafe").rglob("*.py"):
            lines = ["", *module.read_text(encoding="utf-8").splitlines()]
            for number, (before, line) in enumerate(pairwise(lines), 1):
                if "noqa: PLC0415" in line and "noqa: PLC0415" not in before:
                    assert "noqa: PLC0415 - " in line, f"{module}:{number} gives no reason"


def test_every_type_ignore_comment_gives_a_code_and_a_reason(root: Path) -> None:
    for folder in FOLDERS:
        for module in (root / folder / "plansafe").rglob("*.py"):
            for number, line in enumerate(module.read_text(encoding="utf-8").splitlines(), 1):
                if "type: ignore" in line:
                    with_reason = re.search(r"# type: ignore\[[a-z, -]+\] # \w", line)
                    assert with_reason is not None, f"{module}:{number} gives no code or no reason"


def test_imports_follow_the_import_contracts(root: Path) -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    completed = subprocess.run([linter, "--no-cache"], cwd=root, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr


def kernel_files(root: Path) -> list[Path]:
    return sorted((root / "verifier/plansafe/verifier/kernel").rglob("*.py"))


def test_the_kernel_imports_only_itself_and_the_standard_library(root: Path) -> None:
    for file in kernel_files(root):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.level == 1, f"{file.name} imports from outside the kernel"
                continue
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                of_kernel = name.startswith("plansafe.verifier.kernel")
                assert of_kernel or name.split(".")[0] in sys.stdlib_module_names, f"{file.name} imports {name}"


def loaded_by(*arguments: str) -> tuple[int, str, set[str]]:
    """Run the command in a new interpreter; return its exit code, its output, and the top-level modules it loaded."""
    script = (
        "import os, sys\n"
        "import plansafe.app.interfaces.cli.commandline as m\n"
        "code = 0\n"
        "try: m.app(prog_name='safecheck')\n"
        "except SystemExit as stop: code = stop.code\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("COVERAGE", "PYTEST"))}
    completed = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    return completed.returncode, completed.stdout, {name.split(".")[0] for name in completed.stderr.split()}


def test_heavy_libraries_are_not_loaded_at_start() -> None:
    code, out, modules = loaded_by("--version")
    assert code == 0
    assert out.startswith("safecheck")
    assert "plansafe" in modules
    assert not modules & set(HEAVY)


def test_heavy_libraries_are_not_loaded_by_an_audit(root: Path) -> None:
    code, out, modules = loaded_by(str(root / "examples" / "breakfast" / "tea-and-apple.plan"))
    assert code == 0
    assert "\nSAFE " in out
    assert not modules & set(HEAVY)
    assert not modules & LOADED_ON_DEMAND


def test_an_audit_in_concise_form_loads_as_little(root: Path) -> None:
    plan = root / "examples" / "breakfast" / "tea-and-apple.plan"
    code, _, modules = loaded_by(str(plan), "--format", "concise")
    assert code == 0
    assert not modules & LOADED_ON_DEMAND


def test_no_files_import_each_other_in_a_cycle(root: Path) -> None:
    files = read_modules(root)
    assert find_import_cycles({name: module.imports for name, module in files.items()}) == []
