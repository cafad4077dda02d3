"""The extension for Visual Studio Code: its manifest matches the project and the server.

`make vscode` installs its npm packages, which its own tests need. Only the extension needs npm.
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


def test_version_and_license_are_the_project_s() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert PACKAGE["version"] == project["version"]
    assert (FOLDER / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_npm_packages_are_pinned_with_hashes_and_without_urls() -> None:
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in PACKAGE["devDependencies"].values())
    lock = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))
    dependencies = {name: package for name, package in lock["packages"].items() if name}
    assert lock["packages"][""]["devDependencies"] == PACKAGE["devDependencies"]
    assert all("integrity" in package and "resolved" not in package for package in dependencies.values())


def test_grammars_and_languages_exist() -> None:
    for grammar in PACKAGE["contributes"]["grammars"]:
        contents = json.loads((FOLDER / grammar["path"]).read_text(encoding="utf-8"))
        assert contents["scopeName"] == grammar["scopeName"]
    names = {language["id"] for language in PACKAGE["contributes"]["languages"]}
    text = (FOLDER / "src" / "extension.ts").read_text(encoding="utf-8")
    declared = re.search(r"LANGUAGES = (\[.*?\])", text)
    assert declared is not None
    assert set(json.loads(declared[1])) == names


def test_settings_are_those_that_the_server_reads(tmp_path: Path) -> None:
    properties = PACKAGE["contributes"]["configuration"]["properties"]
    settings = {key.removeprefix("safecheck."): declaration["default"] for key, declaration in properties.items()}
    assert effective_settings(str(tmp_path), settings).problems == ()
    invalid = {key: 3 for key in settings if key not in ("path", "arguments")}
    assert len(effective_settings(str(tmp_path), invalid).problems) == len(invalid)


@pytest.mark.skipif(shutil.which("npx") is None, reason="npm is not installed")
@pytest.mark.skipif(not INSTALLED.is_dir(), reason="its packages are not installed: make vscode")
def test_grammars_pass_their_tests() -> None:
    command = ["npx", "--no-install", "vscode-tmgrammar-test", "tests/*.{pddl,plan,safe,vhscript}"]
    process = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
