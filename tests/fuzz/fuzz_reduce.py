"""Reduce an input that has a problem: remove expressions, then lines, then tokens, while the problem remains."""

from __future__ import annotations

import time
from collections.abc import Callable

from fuzz_corpus import PARTS, Case
from fuzz_mutation import expression_spans, token_spans

Fails = Callable[[Case], bool]


def reduce(case: Case, fails: Fails, seconds: float = 20.0) -> Case:
    """Return the smallest case found within ``seconds`` for which ``fails`` holds, as it does for ``case``."""
    deadline = time.monotonic() + seconds
    if case.spec and fails(without := case.with_part("spec", b"")):
        case = without
    before = None
    while case != before and time.monotonic() < deadline:
        before = case
        for part in PARTS:
            for cut in (_halving_spans, expression_spans, _line_spans, token_spans):
                case = _shrink(case, part, cut, fails, deadline)
    return case


def _line_spans(text: bytes) -> list[tuple[int, int]]:
    spans, start = [], 0
    for line in text.splitlines(keepends=True):
        spans.append((start, start + len(line)))
        start += len(line)
    return spans


def _halving_spans(text: bytes) -> list[tuple[int, int]]:
    """Return the halves, quarters, .. of the text, which helps with long runs of one byte."""
    spans, size = [], len(text) // 2
    while size > 8:
        spans += [(start, start + size) for start in range(0, len(text), size)][:16]
        size //= 2
    return spans


def _shrink(
    case: Case, part: str, cut: Callable[[bytes], list[tuple[int, int]]], fails: Fails, deadline: float
) -> Case:
    text = case.part(part)
    spans = sorted(cut(text), key=lambda span: span[0] - span[1])
    if len(spans) > 4000:
        return case
    removed: list[tuple[int, int]] = []
    for start, end in spans:
        if time.monotonic() > deadline:
            return case
        if any(s < end and start < e for s, e in removed):
            continue  # it overlaps a removed span
        shift = sum(e - s for s, e in removed if e <= start)
        smaller = text[: start - shift] + text[end - shift :]
        if fails(candidate := case.with_part(part, smaller)):
            case, text = candidate, smaller
            removed.append((start, end))
    return case
