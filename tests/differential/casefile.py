"""Read ``.cases`` files: small tasks with the expected verdict of safecheck and, if it differs, of kairos.

    # a comment (before the first case only)
    === name
    ours: accept                 accept or reject
    kairos: reject               only if it differs
    divergence: too-close        the entry of bench/results/kairos-differences.md, if the verdicts differ
    why: one line (optional)
    --- domain
    --- problem
    --- plan

A missing section is copied from the previous case.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Verdict = Literal["accept", "reject"]
SECTIONS = ("domain", "problem", "plan")


class CaseError(Exception):
    """A case file that breaks the format."""


@dataclass(frozen=True)
class Case:
    """One task and one plan, with the expected verdicts."""

    name: str
    domain: str
    problem: str
    plan: str
    ours: Verdict
    kairos: Verdict
    divergence: str | None


def parse_verdict(text: str) -> Verdict:
    """Return the verdict that a word names. Raises CaseError for any other word."""
    if text == "accept":
        return "accept"
    if text == "reject":
        return "reject"
    raise CaseError(f"a verdict is accept or reject, not {text!r}")


def read_case(stem: str, block: str, before: dict[str, str]) -> tuple[Case, dict[str, str]]:
    """Read one case from the text after its ``===``; return it, and the sections that the next case inherits."""
    header, *parts = f"\n{block}".split("\n--- ")
    sections = dict(before)
    for part in parts:
        title, _, body = part.partition("\n")
        if title.strip() not in SECTIONS:
            raise CaseError(f"{stem}: no such section: {title!r}")
        sections[title.strip()] = body
    name, *lines = header.strip().splitlines()
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    if unknown := fields.keys() - {"ours", "kairos", "divergence", "why"}:
        raise CaseError(f"{stem}/{name}: no such field: {sorted(unknown)}")
    if missing := [section for section in SECTIONS if section not in sections]:
        raise CaseError(f"{stem}/{name}: missing sections: {missing}")
    ours = parse_verdict(fields.get("ours", ""))
    kairos = parse_verdict(fields.get("kairos", ours))
    if (ours != kairos) != ("divergence" in fields):
        raise CaseError(f"{stem}/{name}: a case has a divergence exactly if the verdicts differ")
    case = Case(f"{stem}/{name}", **sections, ours=ours, kairos=kairos, divergence=fields.get("divergence"))
    return case, sections


def read_cases(path: Path) -> list[Case]:
    """Return all cases of a file, in order. Raises CaseError if the file breaks the format."""
    cases: list[Case] = []
    sections: dict[str, str] = {}
    _, *blocks = f"\n{path.read_text(encoding='utf-8')}".split("\n=== ")
    for block in blocks:
        case, sections = read_case(path.stem, block, sections)
        cases.append(case)
    return cases
