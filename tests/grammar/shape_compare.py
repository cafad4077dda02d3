"""Grammar and readers side by side: the verdict of both on one text, and what no exception explains."""

from __future__ import annotations

from collections import Counter

from shape_exceptions import LAX, READER_ALONE, Lists, named_first
from shape_judge import SHAPE_CODES, Task, errors

from plansafe.grammar.expected_syntax import find_refusal


def unexplained(kind: str, text: str, task: Task, used: Counter[str] | None = None) -> str | None:
    """Why grammar and readers differ on a text in a way that no row of the exceptions explains; ``None`` if they agree.

    ``used`` counts the rows that were needed.
    """
    refused = find_refusal(kind, text)
    found = errors(kind, text, task)
    shape = [d for d in found if d.code in SHAPE_CODES]
    used = Counter() if used is None else used
    if refused is None:
        lists = Lists(text)
        for diagnostic in shape:
            row = next((row.name for row in READER_ALONE if row.applies(kind, text, lists, diagnostic)), None)
            if row is None:
                span = diagnostic.labels[0].span
                shown = text[max(0, span.start - 40) : span.end + 20]
                return f"the grammar accepts {shown!r}, but {diagnostic.code} {diagnostic.message}"
            used[row] += 1
    elif not shape:
        lists = Lists(text)
        if any(named_first(text, lists, diagnostic, refused) for diagnostic in found):
            used["named first"] += 1
            return None
        row = next((row.name for row in LAX if row.applies(kind, text, lists, refused)), None)
        if row is None:
            codes = ", ".join(sorted({d.code for d in found})) or "nothing"
            shown = text[max(0, refused.offset - 60) : refused.offset + 30]
            return f"the grammar refuses {shown!r}, expected {refused.expected}; the reader reports {codes}"
        used["lax: " + row] += 1
    return None
