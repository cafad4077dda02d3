"""A section with measured figures names the commit that was measured, as ``(at 77b6fe2)``."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_blocks import ROOT

MEASURED = re.compile(r"\d ?%|\d\.\d+ (?:CPU )?(?:s|seconds|ms)\b|\d (?:ms|MB)\b|\d CPU seconds|checked in a second")
AT = re.compile(r"\(at ([0-9a-f]{7})\)")
WITHOUT_COMMIT = {
    ("docs/safety-rules.md", "The object table"): "the script that proposes kinds prints it",
    ("bench/results/alignment.md", "Figures of the literature"): "the literature's",
    ("bench/results/labels.md", "How often published labels name the fault"): "a test computes it",
    ("docs/preference-pairs.md", "How pairs are selected"): "limits, not figures",
    ("bench/align/preregistration.md", "Hypotheses and tests"): "levels of tests, not figures",
    ("bench/align/preregistration.md", "Sample size"): "assumptions",
    ("docs/alignment.md", "Tasks with stated rules"): "how tasks are drawn, not figures",
    (
        "bench/results/safety-chip-agreement.md",
        "Agreement of verdicts and labels",
    ): "a test compares it with the data",
    (
        "bench/results/safeagentbench.md",
        "SafeAgentBench: flagged unsafe tasks and alarms on safe tasks",
    ): "a test computes it",
    ("bench/results/safeagentbench.md", "Estimates for unread tasks"): "a test computes it",
    ("docs/language-models.md", "Failures"): "limits, not figures",
    ("bench/planning/tables.md", "How plans end"): "a test computes it",
    ("bench/planning/tables.md", "First choices, beside chance"): "a test computes it",
    ("bench/planning/tables.md", "Round by round"): "a test computes it",
    ("bench/README.md", "bench"): "limits and targets, not figures",
}
"""Sections with numbers that are not measured, or cannot become outdated, with the reason."""
PAGES = sorted(
    [
        path
        for pattern in ("*.md", "docs/*.md", "bench/**/*.md", "tests/**/README.md")
        for path in ROOT.glob(pattern)
        if path.name != "CHANGELOG.md"
    ]
)


def sections(page: Path) -> Iterator[tuple[str, str]]:
    """Yield title and text of each section, without code blocks except ``output`` blocks, which no test runs."""
    text = re.sub(r"^```(?!output)\w.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    parts = re.split(r"^#+ (.*)$", text, flags=re.MULTILINE)
    yield from zip(parts[1::2], parts[2::2], strict=True)


def sections_with_figures() -> Iterator[tuple[str, str, str]]:
    """Yield page, title and text of the sections with figures."""
    for page in PAGES:
        for title, text in sections(page):
            if MEASURED.search(text):
                yield page.relative_to(ROOT).as_posix(), title, text


def test_measured_figures_name_their_commit() -> None:
    without_commit = {(page, title) for page, title, text in sections_with_figures() if not AT.search(text)}
    assert without_commit == set(WITHOUT_COMMIT), "write `(at COMMIT)`, or add the section to WITHOUT_COMMIT"


def test_every_named_commit_is_in_the_history() -> None:
    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)

    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("the history is missing: this is an archive or a shallow clone")
    commits = {commit for page in PAGES for commit in AT.findall(page.read_text(encoding="utf-8"))}
    assert commits
    assert not [commit for commit in commits if git("merge-base", "--is-ancestor", commit, "HEAD").returncode]
