"""Semantic tokens: the kind of each word in a file, with positions relative to the previous word."""

from __future__ import annotations

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.name_mentions import Mention, NameKind

KINDS = {
    NameKind.PREDICATE: "property",
    NameKind.FUNCTION: "property",
    NameKind.ACTION: "function",
    NameKind.TYPE: "type",
    NameKind.OBJECT: "variable",
    NameKind.VARIABLE: "parameter",
    NameKind.RULE: "class",
    NameKind.DOMAIN: "namespace",
    NameKind.PROBLEM: "namespace",
    NameKind.KEYWORD: "keyword",
    NameKind.OPERATOR: "operator",
    NameKind.NUMBER: "number",
    NameKind.STRING: "string",
}
LEGEND = list(dict.fromkeys(KINDS.values()))
MODIFIERS = ["declaration"]


def encode_tokens(text: Text, mentions: tuple[Mention, ...]) -> list[int]:
    """Encode the tokens of a file as five numbers each; strings over several lines are skipped."""
    out: list[int] = []
    line = column = 0
    for mention in mentions:
        start, end = text.position(mention.span.start), text.position(mention.span.end)
        if start.line != end.line or (start.line, start.character) < (line, column):
            continue
        same_line = start.line == line
        out += [
            start.line - line,
            start.character - column if same_line else start.character,
            end.character - start.character,
            LEGEND.index(KINDS[mention.name_kind]),
            int(mention.declares),
        ]
        line, column = start.line, start.character
    return out
