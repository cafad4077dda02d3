"""By what a finding is recognised in the next run: by what is said about what, and not by the number of a line.

SARIF, code quality reports and baselines (docs/build-machines.md) have the same fingerprints.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from plansafe.app.session.model import Result
from plansafe.app.session.rule_choices import FLAGS
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Finding

KEY = "safecheck/v1"
"""The name of these fingerprints: another way to make them gets another number."""
_LENGTH = 32


class Fingerprints:
    """The fingerprints of one run: what is said twice in the same words is told apart by its number."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of_finding(self, finding: Finding, result: Result) -> str:
        """Rest on rule, file, what is written at the place, and the objects that the finding names."""
        name = finding.source or result.plan
        place = written_at(finding.span, name, result.sources) or ("end" if finding.at_end else "start")
        bound = [f"{key}={value}" for key, value in finding.binding]
        return self._of(clean(finding.rule or finding.code), name, finding.code, place, *bound)

    def of_diagnostic(self, diagnostic: Diagnostic, result: Result) -> str:
        """Rest on code, file, and what is written at the place or else said."""
        label = diagnostic.labels[0] if diagnostic.labels else None
        name, span = (label.source, label.span) if label else (result.plan, None)
        place = written_at(span, name, result.sources) or diagnostic.message
        return self._of(diagnostic.code, name, diagnostic.code, place)

    def _of(self, rule: str, name: str, *said: str) -> str:
        text = "\0".join([rule, uri(name)[0], *said])
        self._seen[text] += 1
        digest = hashlib.sha256(f"{text}\0{self._seen[text]}".encode("utf-8", "replace"))
        return digest.hexdigest()[:_LENGTH]


def uri(name: str) -> tuple[str, bool]:
    """Where a file is, as a URI; and whether that is from the current folder, which it is then below."""
    path, below = relative(name)
    return (quote(path.strip("<>")) if below else Path(path).as_uri()), below


def relative(name: str) -> tuple[str, bool]:
    """The path of a file from the current folder, with slashes; of one that is not below it, the whole path."""
    here, there = os.getcwd(), os.path.abspath(name)
    if there.startswith(os.path.join(here, "")):
        return clean(os.path.relpath(there, here).replace(os.sep, "/")), True
    return clean(there), False


def place_of(label: Label | None, plan: str) -> tuple[str, Span | None]:
    """Where a diagnostic belongs: what is wrong with a flag stands in no file, and is about the plan."""
    return (plan, None) if label is None or label.source in FLAGS else (label.source, label.span)


def written_at(span: Span | None, name: str, sources: Mapping[str, Source]) -> str:
    """What is written at a place, its blanks and case aside: it stays the same when lines before it change."""
    source = sources.get(name)
    return "" if span is None or source is None else " ".join(source.slice(span).lower().split())


def clean(text: str) -> str:
    """A text without what is no Unicode: readers refuse lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")


def path_of(name: str) -> str:
    """The path of a plan relative to the current folder, or the name of standard input."""
    return clean(name) if name.startswith("<") else relative(name)[0]
