"""Test the files for build machines: run the script of the action, and check the names in hooks and image."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from format_checks import sarif_log

ROOT = Path(__file__).resolve().parents[2]
PLANS = ROOT / "examples" / "dinner"


def step_script(name: str) -> str:
    """The script of a step of the action: the indented block after ``run: |``."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    part = text[text.index(f"- name: {name}") :]
    block = part[part.index("run: |\n") + len("run: |\n") :]
    return textwrap.dedent("\n".join([line for line in block.splitlines() if line.startswith("        ")]))


def run_action(folder: Path, **inputs: str) -> tuple[int, str, str]:
    """Run the script as the runner does; return the exit code, the output and the outputs for later steps."""
    output = folder / "output"
    output.write_text("")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {"PATH": path, "PLANS": ".", "FLAGS": "", "FORMAT": "github", "REPORT": "", "GITHUB_OUTPUT": str(output)}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step_script("Judge plans")]
    process = subprocess.run(
        command, cwd=folder, env={**env, **inputs}, capture_output=True, text=True, check=False, timeout=60
    )
    return process.returncode, process.stdout, output.read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    shutil.copytree(PLANS, tmp_path / "my plans")
    return tmp_path


def test_action_audits_a_folder(folder: Path) -> None:
    code, out, outputs = run_action(folder, PLANS="my plans\n", FLAGS="--baseline=known.json")
    assert (code, outputs) == (2, "exit-code=2\n")  # the baseline does not exist yet
    code, out, outputs = run_action(folder, PLANS="  my plans/same-knife.plan\n\nmy plans/stew-and-salad.plan  ")
    assert (code, outputs) == (1, "exit-code=1\n")
    assert out.startswith("::error file=my plans/same-knife.plan,line=13,")
    code, _, outputs = run_action(
        folder, PLANS="my plans", FLAGS="--write-baseline=known.json", FORMAT="sarif", REPORT="a b"
    )
    assert (code, outputs) == (0, "exit-code=0\n")
    results = sarif_log((folder / "a b").read_text())["runs"][0]["results"]
    assert sum([result.get("occurrenceCount", 1) for result in results]) == 8


def test_inputs_of_the_action_are_not_commands(folder: Path) -> None:
    hostile = "$(touch owned) `touch owned`; touch owned"
    assert run_action(folder, PLANS=hostile, FLAGS=f"--spec={hostile}", FORMAT="concise")[0] == 2
    assert run_action(folder, PLANS="--help")[0] == 2  # read as the name of a plan
    assert not (folder / "owned").exists()
    assert "${{" not in step_script("Judge plans")


@pytest.mark.slow
def test_hooks_name_existing_commands() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"(?m)^  entry: (.*)$", text)
    files = [re.compile(pattern) for pattern in re.findall(r"(?m)^  files: (.*)$", text)]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert len(entries) == len(files) == text.count("- id: ") == 2
    assert {entry.split()[0] for entry in entries} <= set(project["project"]["scripts"])
    assert files[0].search("plans/tea.plan")
    assert not files[0].search("plans/tea.plan.md")
    program = Path(sys.executable).with_name("safecheck")
    for entry, argument, code in zip(
        entries, (PLANS / "same-knife.plan", ROOT / "examples/adults-only.safe"), (1, 0), strict=True
    ):
        command = [str(program), *entry.split()[1:], str(argument)]
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
        assert process.returncode == code, process.stdout + process.stderr


def test_lint_hook_installs_the_solver() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (dependencies,) = re.findall(r"additional_dependencies: \[(.*)\]", text[text.index("id: safecheck-lint") :])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert dependencies.replace('"', "").split(", ") == project["optional-dependencies"]["solve"]


def test_image_installs_existing_extras() -> None:
    extras = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    )
    lists = re.findall(r"(?:\.|plansafe)\[([\w,]+)\]", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert len(lists) == 1
    assert {extra for names in lists for extra in names.split(",")} <= extras
