"""What keeps the layout working: one namespace, one direction, a kernel of its own, and a light start."""

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
    sys.path.insert(0, str(ROOT))  # for bench, which is no part of the package

from bench.import_graph import FOLDERS, import_cycles, read_modules  # noqa: E402

HEAVY = ("numpy", "z3", "networkx", "torch", "lark", "rich", "hypothesis", "pydantic", "unified_planning", "asyncio")


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_portion_hides_the_others(root: Path, folder: str) -> None:
    assert not (root / folder / "plansafe" / "__init__.py").exists()
    assert [p.name for p in (root / folder / "plansafe").iterdir() if p.is_dir() and p.name[0] != "_"] == [folder]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_sub_package_is_typed_and_says_what_it_is(root: Path, folder: str) -> None:
    package = root / folder / "plansafe" / folder
    assert (package / "py.typed").exists()
    for module in package.rglob("*.py"):
        assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))), f"{module} has no docstring"


@pytest.mark.parametrize("folder", (*FOLDERS, "tests", "bench", "docs", "examples"))
def test_every_folder_has_a_readme_of_one_screen(root: Path, folder: str) -> None:
    most = 150 if folder == "docs" else 50  # an index grows with its pages
    assert len((root / folder / "README.md").read_text(encoding="utf-8").splitlines()) <= most


def test_a_late_import_says_why(root: Path) -> None:
    """Of several in a row the first says it."""
    for folder in FOLDERS:
        for module in (root / folder / "plansafe").rglob("*.py"):
            lines = ["", *module.read_text(encoding="utf-8").splitlines()]
            for number, (before, line) in enumerate(pairwise(lines), 1):
                if "noqa: PLC0415" in line and "noqa: PLC0415" not in before:
                    assert "noqa: PLC0415 - " in line, f"{module}:{number} gives no reason"


def test_what_the_type_checker_shall_not_see_says_what_and_why(root: Path) -> None:
    for folder in FOLDERS:
        for module in (root / folder / "plansafe").rglob("*.py"):
            for number, line in enumerate(module.read_text(encoding="utf-8").splitlines(), 1):
                if "type: ignore" in line:
                    found = re.search(r"# type: ignore\[[a-z, -]+\] # \w", line)
                    assert found is not None, f"{module}:{number} gives no code or no reason"


def test_imports_point_one_way(root: Path) -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def kernel_files(root: Path) -> list[Path]:
    return sorted((root / "verifier/plansafe/verifier/kernel").rglob("*.py"))


def test_the_kernel_imports_nothing_of_ours_and_no_solver(root: Path) -> None:
    for file in kernel_files(root):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.level == 1, f"{file.name} imports from outside the kernel"
                continue
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                ours = name.startswith("plansafe") and not name.startswith("plansafe.verifier.kernel")
                known = name.split(".")[0] in sys.stdlib_module_names or name.startswith("plansafe")
                assert known and not ours, f"{file.name} imports {name}"


def loaded_by(*arguments: str) -> tuple[int, str, set[str]]:
    """Run the command in a fresh interpreter; return its exit code, its output, and the modules it loaded."""
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
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    return done.returncode, done.stdout, {name.split(".")[0] for name in done.stderr.split()}


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
    assert not modules & {"json", "hashlib", "importlib_metadata", "dataclasses"}


def test_no_circle_of_files(root: Path) -> None:
    files = read_modules(root)
    assert import_cycles({name: module.imports for name, module in files.items()}) == []
