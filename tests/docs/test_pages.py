"""Every code block of the README and of the user pages does what the page says; links and paths exist."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from doc_blocks import ROOT, Page, read_blocks

from plansafe.domains import domain_names
from plansafe.domains.worlds import world_names
from plansafe.specs import spec_names

RUN = (
    "README.md",
    "docs/project-file.md",
    "docs/safety-rules.md",
    "docs/own-rules.md",
    "docs/python-api.md",
    "docs/language.md",
    "docs/continuous.md",
    "docs/metrics.md",
    "docs/getting-started.md",
    "verifier/plansafe/verifier/kernel/README.md",
    "docs/service.md",
    "docs/repair.md",
    "docs/diagnose.md",
    "docs/output-formats.md",
    "docs/worlds.md",
    "docs/batches.md",
    "docs/build-machines.md",
    "docs/scenarios.md",
    "docs/language-models.md",
    "docs/plan-text.md",
    "docs/home-worlds.md",
    "docs/alignment.md",
    "docs/preference-pairs.md",
    "docs/architecture.md",
    "docs/unified-planning.md",
    "docs/migration.md",
)
SLOW = (
    "docs/own-rules.md",
    "docs/service.md",
    "docs/alignment.md",
    "docs/architecture.md",
    "docs/home-worlds.md",
    "docs/language-models.md",
    "docs/preference-pairs.md",
    "docs/scenarios.md",
    "docs/worlds.md",
)
"""Pages of RUN whose blocks take more than two seconds; `make test-all` runs them."""
READ = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *[path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("docs/*.md"))],
    "verifier/plansafe/verifier/kernel/README.md",
    "verifier/plansafe/verifier/repair/README.md",
    "verifier/plansafe/verifier/symbolic/certificates/README.md",
    *[f"{path.parent.name}/README.md" for path in sorted(ROOT.glob("*/README.md")) if path.parent.name != "docs"],
)
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_CODE_PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*)`")
_PLACEHOLDER = re.compile(r"SCnnn|(?<![A-Z.])(?:AREA|WORLD|RULE|NAME)\b")  # placeholders that the reader replaces
_ROOTS = {path.name for path in ROOT.iterdir() if path.is_dir()}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in RUN])
def test_every_block_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable), prepend=os.pathsep)  # blocks that start `safecheck`
    page = Page(ROOT / name, tmp_path)
    blocks = list(read_blocks(page.page))
    assert blocks
    for block in blocks:
        page.run(block)


@pytest.mark.parametrize("name", READ)
def test_the_targets_of_links_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    missing = [link for link in _LINK.findall(text) if not ((ROOT / name).parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("name", READ)
def test_paths_in_the_text_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    paths = [path for path in _CODE_PATH.findall(text) if path.split("/")[0] in _ROOTS]
    generated = ("bench/results", "bench/out", "bench/.env-peers", ".venv")
    paths = [path for path in paths if not path.startswith(generated) and not _PLACEHOLDER.search(path)]
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_the_architecture_page_names_every_package_of_the_verifier() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    home = ROOT / "verifier/plansafe/verifier"
    packages = [path.parent.relative_to(home).as_posix() for path in home.rglob("__init__.py") if path.parent != home]
    assert not [package for package in packages if f"`{package}/`" not in text]


def test_shipped_worlds_specifications_and_mappings_are_in_their_tables() -> None:
    worlds, specs, mappings = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("domains/README.md", "specs/README.md", "docs/safety-rules.md")
    )
    shipped_worlds = {name.replace("-", "_") for name in (*domain_names(), *world_names())}
    assert not [name for name in shipped_worlds if f"`{name}`" not in worlds and f"`{name}/`" not in worlds]
    assert not [name for name in spec_names() if f"`{name}`" not in specs]
    shipped_mappings = [f"home-{name}" for name in domain_names() if f"home-{name}" in spec_names()]
    assert not [name for name in shipped_mappings if f"`{name}.safe`" not in mappings]


def test_every_page_with_code_blocks_is_in_the_list_of_pages_to_run() -> None:
    for path in sorted((ROOT / "docs").glob("*.md")):
        name = path.relative_to(ROOT).as_posix()
        has_code = any([block.kind not in ("output", "") for block in read_blocks(path)])
        assert not has_code or name in RUN, f"{name} has code: add it to RUN of {__file__}"


def test_a_wrong_page_is_rejected(tmp_path: Path) -> None:
    """Altered lines, a wrong exit code, an unknown target and an unknown kind of block are errors."""
    for text in (
        "```console\n$ safecheck --version\nsafecheck 0.0.0\n```\n",
        "```console\n$ safecheck --version  # exit 1\n```\n",
        "```console\n$ safecheck --help\nUsage: safecheck audit [OPTIONS] {PLAN..}\n```\n",
        "```sh\nmake nothing\n```\n",
        "```ruby\nputs 1\n```\n",
        "```python\nprint(1)\n```\n```text\n2\n```\n",
    ):
        path = tmp_path / "page.md"
        path.write_text(text, encoding="utf-8")
        page = Page(path, tmp_path)
        with pytest.raises(AssertionError):
            for block in read_blocks(path):
                page.run(block)
