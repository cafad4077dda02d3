"""Inlay hints: the facts that each step of a plan changes, shown after the step."""

from __future__ import annotations

from lsprotocol import types

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.lsp_diagnostics import clean
from plansafe.app.interfaces.editor.state_trace import StateTrace
from plansafe.grammar.diagnostics import Span

MAX_SHOWN = 3


def hints(text: Text, trace: StateTrace, span: Span) -> list[types.InlayHint]:
    """Return the hints for the steps in a span."""
    out = []
    for place, changes in zip(trace.places, trace.changes, strict=False):
        if place.end < span.start or place.start > span.end or not changes:
            continue
        label = " ".join([change.short for change in changes[:MAX_SHOWN]])
        hidden = len(changes) - MAX_SHOWN
        tooltip = "\n".join([f"{change.fact}: {change.before} -> {change.after}" for change in changes])
        out.append(
            types.InlayHint(
                text.position(place.end),
                clean(label + (f" and {hidden} more" if hidden > 0 else "")),
                tooltip=clean(tooltip),
                padding_left=True,
            )
        )
    return out
