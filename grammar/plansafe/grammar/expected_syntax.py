"""The tokens that the Lark grammars expect where they reject a text, as notes for syntax diagnostics.

The readers are hand-written for speed; they must agree with ``pddl.lark``, ``plan.lark`` and ``safe.lark``.
Lark is loaded on first use, and texts are parsed without building trees, so nesting depth is bounded by memory alone.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plansafe.grammar.plan_steps import shorten_token
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from lark import Lark

GRAMMAR_FILES = {"domain": "pddl.lark", "problem": "pddl.lark", "plan": "plan.lark", "specification": "safe.lark"}
"""The grammar of each kind of text; the kind is its start symbol."""

MAX_CHARACTERS = 200_000
"""Maximum length of a text that the Lark grammar reads."""
_MAX_LISTED = 24
"""Maximum number of expected tokens in one note."""
_TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"?|[^\s();"]+', re.DOTALL)
_KEYWORD_PATTERN = re.compile(r"(?:\(\?i:)?(?P<words>[^()\[\]{}^$.]+)\)?\(\?!")
_DESCRIPTIONS = {
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "COLON": "`:`",
    "ORDER": "`<`, `<=`, `>`, `>=`",
    "NAME": "a name",
    "PREDICATE": "a predicate",
    "VARIABLE": "a variable",
    "UNSIGNED": "a number",
    "SIGNED": "a number",
    "NUMBER": "a number",
    "TIME": "a number",
    "DIGIT_NAME": "a name",
    "STRING": "a string",
    "WORD": "a name",
    "TOKEN": "a name",
    "$END": "the end of the text",
}
_UNMENTIONED_TERMINALS = frozenset(
    ("PARAMETER", "GLUED", "GLUED_NUMBER", "VARS", "AGENT", "PRIVATE", "SURPLUS", "CONSTRAINT")
)
"""Terminals that are not mentioned: template parameters fit in too many places, and dialects are not recommended."""


class Rejection(NamedTuple):
    """The place where a grammar rejects a text, and the tokens that it expects there, as PDDL.

    ``token``: the token at ``offset``, empty at the end of the text.
    """

    offset: int
    token: str
    expected: tuple[str, ...]


class _EmptyTree:
    """Replaces the trees of Lark, which are not used."""

    __slots__ = ()

    def __init__(self, *_: object) -> None:
        pass

    @property
    def children(self) -> list[object]:
        return []


@cache
def build_parser(grammar: str) -> Lark:
    """Build the parser of a grammar file, which takes about a quarter of a second."""
    from lark import Lark  # noqa: PLC0415 - 30 ms that only mistakes should cost

    path = Path(__file__).parent / grammar
    return Lark(
        path.read_text("utf-8"),
        parser="lalr",
        lexer="contextual",
        start=[kind for kind, file in GRAMMAR_FILES.items() if file == grammar],
        source_path=str(path),
        import_paths=[str(path.parent)],
        maybe_placeholders=False,
        tree_class=_EmptyTree,
    )


def find_rejection(kind: str, text: str) -> Rejection | None:
    """Find where the grammar of ``kind`` rejects a text; ``None`` if it accepts it.

    Linear in the text, about a microsecond per character.
    """
    from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - for mistakes alone

    lark = build_parser(GRAMMAR_FILES[kind])
    state = lark.parse_interactive(text, kind)
    try:
        state.exhaust_lexer()
        state.feed_eof()  # type: ignore[no-untyped-call] # lark has no types here
    except UnexpectedInput as error:
        offset = error.pos_in_stream
        if offset is None or getattr(error, "token", None) == "":  # the token of the end of the text is empty
            offset = len(text)
        token = _TOKEN.match(text, offset)
        descriptions = _describe_terminals(GRAMMAR_FILES[kind])
        accepted: set[str] = state.accepts()  # type: ignore[no-untyped-call] # lark has no types here
        expected = [descriptions[terminal] for terminal in sorted(accepted) if terminal in descriptions]
        return Rejection(offset, token.group() if token else "", tuple(dict.fromkeys(sorted(expected, key=_rank))))
    return None


def explain_rejection(kind: str, source: Source) -> tuple[str, ...]:
    """Return notes for a syntax diagnostic: where the grammar rejects the text, and the tokens that it expects there.

    The result is empty if the grammar accepts the text (a mistake of names or types), or if the text is longer than
    ``MAX_CHARACTERS``.
    """
    if len(source.text) > MAX_CHARACTERS:
        return ()
    rejection = find_rejection(kind, source.text)
    if rejection is None or not rejection.expected:
        return ()
    line, column = source.position(rejection.offset)
    token = f"`{shorten_token(rejection.token)}`" if rejection.token else "the end of the text"
    expected = rejection.expected[:_MAX_LISTED]
    ellipsis = ", .." if len(rejection.expected) > _MAX_LISTED else ""
    options = expected[0] if len(rejection.expected) == 1 else f"one of: {', '.join(expected)}{ellipsis}"
    return (f"at {line}:{column}, before {token}, the grammar expected {options}",)


@cache
def _describe_terminals(grammar: str) -> dict[str, str]:
    """Return the description of each terminal of a grammar for notes; a keyword is described by itself."""
    descriptions = dict(_DESCRIPTIONS)
    for terminal in build_parser(grammar).terminals:
        keywords = _KEYWORD_PATTERN.match(terminal.pattern.value)
        if terminal.name not in descriptions and keywords is not None and terminal.name not in _UNMENTIONED_TERMINALS:
            words = keywords["words"].replace("\\", "").split("|")
            descriptions[terminal.name] = ", ".join(f"`{word}`" for word in words)
    return descriptions


def _rank(description: str) -> tuple[int, str]:
    """Return the sort key of an expected token: fields and sections first, then words, then parentheses."""
    return (0 if description.startswith("`:") else 2 if description in ("`(`", "`)`") else 1, description)
