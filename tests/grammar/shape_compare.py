"""Compare the grammars with the readers on one text, and report differences that no exception explains."""

from __future__ import annotations

from collections import Counter

from shape_exceptions import GRAMMAR_ONLY, READER_ONLY, EnclosingLists, stopped_at_a_name
from shape_judge import SHAPE_CODES, Task, find_errors

from plansafe.grammar.expected_syntax import find_rejection


def unexplained_difference(kind: str, text: str, task: Task, used_exceptions: Counter[str] | None = None) -> str | None:
    """A difference of grammar and readers on a text that no row of the exceptions explains; ``None`` if there is none.

    ``used_exceptions`` counts the rows that explained a difference.
    """
    refusal = find_rejection(kind, text)
    diagnostics = find_errors(kind, text, task)
    shape_errors = [d for d in diagnostics if d.code in SHAPE_CODES]
    used_exceptions = Counter() if used_exceptions is None else used_exceptions
    if refusal is None:
        lists = EnclosingLists(text)
        for diagnostic in shape_errors:
            row = next((row.name for row in READER_ONLY if row.applies(kind, text, lists, diagnostic)), None)
            if row is None:
                span = diagnostic.labels[0].span
                excerpt = text[max(0, span.start - 40) : span.end + 20]
                return f"the grammar accepts {excerpt!r}, but {diagnostic.code} {diagnostic.message}"
            used_exceptions[row] += 1
    elif not shape_errors:
        lists = EnclosingLists(text)
        if any(stopped_at_a_name(text, lists, diagnostic, refusal) for diagnostic in diagnostics):
            used_exceptions["stopped at a name"] += 1
            return None
        row = next((row.name for row in GRAMMAR_ONLY if row.applies(kind, text, lists, refusal)), None)
        if row is None:
            codes = ", ".join(sorted({d.code for d in diagnostics})) or "nothing"
            excerpt = text[max(0, refusal.offset - 60) : refusal.offset + 30]
            return f"the grammar refuses {excerpt!r}, expected {refusal.expected}; the reader reports {codes}"
        used_exceptions["lax: " + row] += 1
    return None
