"""Fingerprints identify findings across runs, by content instead of line numbers.

SARIF, code quality reports and baselines (docs/build-machines.md) contain the same fingerprints.
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
"""The version of the fingerprints; change it with their definition."""
_LENGTH = 32


class Fingerprints:
    """Computes the fingerprints of a run; a counter distinguishes findings with the same content."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def of_finding(self, finding: Finding, result: Result) -> str:
        """Hash the rule, the file, the text at the place, and the objects of the finding."""
        name = finding.source or result.plan
        place = written_at(finding.span, name, result.sources) or ("end" if finding.at_end else "start")
        bound = [f"{key}={value}" for key, value in finding.binding]
        return self._of(clean(finding.rule or finding.code), name, finding.code, place, *bound)

    def of_diagnostic(self, diagnostic: Diagnostic, result: Result) -> str:
        """Hash the code, the file, and the text at the place, otherwise the message."""
        label = diagnostic.labels[0] if diagnostic.labels else None
        name, span = (label.source, label.span) if label else (result.plan, None)
        place = written_at(span, name, result.sources) or diagnostic.message
        return self._of(diagnostic.code, name, diagnostic.code, place)

    def _of(self, rule: str, name: str, *content: str) -> str:
        text = "\0".join([rule, uri(name)[0], *content])
        self._counts[text] += 1
        digest = hashlib.sha256(f"{text}\0{self._counts[text]}".encode("utf-8", "replace"))
        return digest.hexdigest()[:_LENGTH]


def uri(name: str) -> tuple[str, bool]:
    """The URI of a file; True if it is relative, because the file is below the current folder."""
    path, below = relative(name)
    return (quote(path.strip("<>")) if below else Path(path).as_uri()), below


def relative(name: str) -> tuple[str, bool]:
    """The path of a file from the current folder, with slashes; an absolute path if the file is not below it."""
    here, there = os.getcwd(), os.path.abspath(name)
    if there.startswith(os.path.join(here, "")):
        return clean(os.path.relpath(there, here).replace(os.sep, "/")), True
    return clean(there), False


def place_of(label: Label | None, plan: str) -> tuple[str, Span | None]:
    """The file and span of a diagnostic; an error in an option belongs to the plan."""
    return (plan, None) if label is None or label.source in FLAGS else (label.source, label.span)


def written_at(span: Span | None, name: str, sources: Mapping[str, Source]) -> str:
    """The text at a place, with normalised blanks and case. It does not depend on the lines before it."""
    source = sources.get(name)
    return "" if span is None or source is None else " ".join(source.slice(span).lower().split())


def clean(text: str) -> str:
    """Replace lone surrogates, which readers of these formats reject."""
    return text.encode("utf-8", "replace").decode("utf-8")


def path_of(name: str) -> str:
    """The path of a plan relative to the current folder, or the name of standard input."""
    return clean(name) if name.startswith("<") else relative(name)[0]
