"""Behind each step of a plan, the facts that it changed."""

from __future__ import annotations

from lsprotocol import types

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.lsp_diagnostics import clean
from plansafe.app.interfaces.editor.state_trace import Walk
from plansafe.grammar.diagnostics import Span

SHOWN = 3


def hints(text: Text, walk: Walk, span: Span) -> list[types.InlayHint]:
    """The hints of the steps in a part of the text."""
    out = []
    for place, changes in zip(walk.places, walk.changes, strict=False):
        if place.end < span.start or place.start > span.end or not changes:
            continue
        label = " ".join([change.short for change in changes[:SHOWN]])
        rest = len(changes) - SHOWN
        whole = "\n".join([f"{change.what}: {change.before} -> {change.after}" for change in changes])
        out.append(
            types.InlayHint(
                text.position(place.end),
                clean(label + (f" and {rest} more" if rest > 0 else "")),
                tooltip=clean(whole),
                padding_left=True,
            )
        )
    return out
