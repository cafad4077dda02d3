"""Semantic tokens: what each word of a file is, as numbers relative to the word before."""

from __future__ import annotations

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.name_mentions import Mention, Names

KINDS = {
    Names.PREDICATE: "property",
    Names.FUNCTION: "property",
    Names.ACTION: "function",
    Names.TYPE: "type",
    Names.OBJECT: "variable",
    Names.VARIABLE: "parameter",
    Names.RULE: "class",
    Names.DOMAIN: "namespace",
    Names.PROBLEM: "namespace",
    Names.KEYWORD: "keyword",
    Names.OPERATOR: "operator",
    Names.NUMBER: "number",
    Names.STRING: "string",
}
LEGEND = list(dict.fromkeys(KINDS.values()))
MODIFIERS = ["declaration"]


def colours(text: Text, found: tuple[Mention, ...]) -> list[int]:
    """The tokens of a file, five numbers for each; strings over several lines are left to the grammar."""
    out: list[int] = []
    line = column = 0
    for mention in found:
        start, end = text.position(mention.span.start), text.position(mention.span.end)
        if start.line != end.line or (start.line, start.character) < (line, column):
            continue
        same = start.line == line
        out += [
            start.line - line,
            start.character - column if same else start.character,
            end.character - start.character,
            LEGEND.index(KINDS[mention.names]),
            int(mention.declares),
        ]
        line, column = start.line, start.character
    return out
