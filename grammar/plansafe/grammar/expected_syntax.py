"""What the grammar expected: the Lark grammars as a judge of shape, and as notes for syntax diagnostics.

The readers are hand-written for speed; ``pddl.lark``, ``plan.lark`` and ``safe.lark`` are what they must agree with.
Lark is loaded on first use, and texts are parsed without building trees, so nesting depth is bounded by memory alone.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from lark import Lark

KINDS = {"domain": "pddl.lark", "problem": "pddl.lark", "plan": "plan.lark", "specification": "safe.lark"}
"""The kinds of text (start symbols) and their grammars."""

MAX_CHARACTERS = 200_000
_MAX_SHOWN = 24
_TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"?|[^\s();"]+', re.DOTALL)
_KEYWORDS = re.compile(r"(?:\(\?i:)?(?P<words>[^()\[\]{}^$.]+)\)?\(\?!")
_MEANINGS = {
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
_UNSAID = frozenset(("PARAMETER", "GLUED", "GLUED_NUMBER", "VARS", "AGENT", "PRIVATE", "SURPLUS", "CONSTRAINT"))
"""A parameter of a template may stand in too many places to be worth a mention; dialects are read, not advised."""


class Refusal(NamedTuple):
    """Where a grammar stopped: the offset, the token there (empty at the end), and what it expected, as PDDL."""

    offset: int
    found: str
    expected: tuple[str, ...]


class _Nothing:
    """Stands for every subtree: nothing reads them."""

    __slots__ = ()

    def __init__(self, *_: object) -> None:
        pass

    @property
    def children(self) -> list[object]:
        return []


@cache
def parser(grammar: str) -> Lark:
    """The parser of a grammar file; building it takes about a quarter of a second."""
    from lark import Lark  # noqa: PLC0415 - 30 ms that only mistakes should cost

    path = Path(__file__).parent / grammar
    return Lark(
        path.read_text("utf-8"),
        parser="lalr",
        lexer="contextual",
        start=[kind for kind, file in KINDS.items() if file == grammar],
        source_path=str(path),
        import_paths=[str(path.parent)],
        maybe_placeholders=False,
        tree_class=_Nothing,
    )


def find_refusal(kind: str, text: str) -> Refusal | None:
    """Why the grammar of ``kind`` refuses a text; ``None`` if it accepts it. Linear, a microsecond a character."""
    from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - for mistakes alone

    lark = parser(KINDS[kind])
    state = lark.parse_interactive(text, kind)
    try:
        state.exhaust_lexer()
        state.feed_eof()  # type: ignore[no-untyped-call] # lark has no types here
    except UnexpectedInput as error:
        offset = len(text) if getattr(error, "token", None) == "" else error.pos_in_stream
        offset = len(text) if offset is None else offset
        token = _TOKEN.match(text, offset)
        meanings = _meanings(KINDS[kind])
        accepted: set[str] = state.accepts()  # type: ignore[no-untyped-call] # lark has no types here
        shown = [meanings[terminal] for terminal in sorted(accepted) if terminal in meanings]
        return Refusal(offset, token.group() if token else "", tuple(dict.fromkeys(sorted(shown, key=_rank))))
    return None


def expectation_notes(kind: str, source: Source) -> tuple[str, ...]:
    """Notes for a syntax diagnostic: where the grammar stopped, and what it expected there.

    Empty if the shape is right (the mistake is one of names or types), or the text is too long to be read again.
    """
    if len(source.text) > MAX_CHARACTERS:
        return ()
    found = find_refusal(kind, source.text)
    if found is None or not found.expected:
        return ()
    line, column = source.position(found.offset)
    at = f"`{_short(found.found)}`" if found.found else "the end of the text"
    shown = found.expected[:_MAX_SHOWN]
    rest = ", .." if len(found.expected) > _MAX_SHOWN else ""
    wanted = shown[0] if len(found.expected) == 1 else f"one of: {', '.join(shown)}{rest}"
    return (f"at {line}:{column}, before {at}, the grammar expected {wanted}",)


@cache
def _meanings(grammar: str) -> dict[str, str]:
    """What each terminal of a grammar stands for; keywords stand for themselves."""
    out = dict(_MEANINGS)
    for terminal in parser(grammar).terminals:
        keywords = _KEYWORDS.match(terminal.pattern.value)
        if terminal.name not in out and keywords is not None and terminal.name not in _UNSAID:
            words = keywords["words"].replace("\\", "").split("|")
            out[terminal.name] = ", ".join(f"`{word}`" for word in words)
    return out


def _rank(meaning: str) -> tuple[int, str]:
    """Fields and sections first, then words, then parentheses."""
    return (0 if meaning.startswith("`:") else 2 if meaning in ("`(`", "`)`") else 1, meaning)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
