"""The extension for Visual Studio Code: what it says of itself is so; with npm's packages there, its own tests pass.

`make vscode` installs the packages and builds it. Nothing else needs npm.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from plansafe.app.interfaces.editor.workspace import effective_settings

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "editors" / "vscode"
PACKAGE = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
INSTALLED = FOLDER / "node_modules"


def test_it_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert PACKAGE["version"] == project["version"]
    assert (FOLDER / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_packages_are_pinned_with_their_hashes_and_no_address() -> None:
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in PACKAGE["devDependencies"].values())
    lock = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))
    others = {name: one for name, one in lock["packages"].items() if name}
    assert lock["packages"][""]["devDependencies"] == PACKAGE["devDependencies"]
    assert all("integrity" in one and "resolved" not in one for one in others.values())


def test_what_it_names_is_there() -> None:
    for grammar in PACKAGE["contributes"]["grammars"]:
        read = json.loads((FOLDER / grammar["path"]).read_text(encoding="utf-8"))
        assert read["scopeName"] == grammar["scopeName"]
    names = {language["id"] for language in PACKAGE["contributes"]["languages"]}
    text = (FOLDER / "src" / "extension.ts").read_text(encoding="utf-8")
    listed = re.search(r"LANGUAGES = (\[.*?\])", text)
    assert listed is not None
    assert set(json.loads(listed[1])) == names


def test_its_settings_are_those_that_the_server_reads(tmp_path: Path) -> None:
    properties = PACKAGE["contributes"]["configuration"]["properties"]
    said = {key.removeprefix("safecheck."): value["default"] for key, value in properties.items()}
    assert effective_settings(str(tmp_path), said).problems == ()
    wrong = {key: 3 for key in said if key not in ("path", "arguments")}
    assert len(effective_settings(str(tmp_path), wrong).problems) == len(wrong)


@pytest.mark.skipif(shutil.which("npx") is None, reason="npm is not installed")
@pytest.mark.skipif(not INSTALLED.is_dir(), reason="its packages are not installed: make vscode")
def test_its_grammars_pass_their_tests() -> None:
    command = ["npx", "--no-install", "vscode-tmgrammar-test", "tests/*.{pddl,plan,safe,vhscript}"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
