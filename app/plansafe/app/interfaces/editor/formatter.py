"""Format a file. Words, their order and comments do not change; the result is parsed again and compared.

Definitions: a list that fits into 100 characters is on one line; a longer list is indented by two, with a field and its
value on one line. Plans: one step per line. At most one blank line remains between lists.
"""

from __future__ import annotations

import re

from plansafe.app.project.file_kinds import Kind
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.plan_text import is_definition, read_plan
from plansafe.grammar.sexpr import parse_nodes
from plansafe.grammar.source import Source

WIDTH = 100
MAX_DEPTH = 150
MAX_TEXT = 2_000_000
_NOWHERE = Span(0, 0)
_TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|;[^\r\n]*|[^\s();"]+|\s+', re.DOTALL)
_SPREAD = frozenset((":predicates", ":functions", ":init", ":actions", ":groups"))
"""Sections with one list per line, even if they are short."""
_TYPED = frozenset((":types", ":objects", ":constants"))
_OPENED = _SPREAD | _TYPED | {":steps", ":vocabulary", ":ordering"}
"""Sections whose first part begins a new line if the section does not fit on one line."""


class _List:
    """A list, or a comment or word (``text``) between lists; ``blank`` marks an empty line before it."""

    __slots__ = ("blank", "depth", "flat", "parts", "tail", "text")

    def __init__(self, text: str = "", blank: bool = False, tail: bool = False) -> None:
        self.text = text
        self.parts: list[_List] = []
        self.blank = blank
        self.tail = tail
        """True for a comment after other text on its line."""
        self.flat: str | None = text
        """The list on one line; ``None`` if a comment prevents it."""
        self.depth = 1

    @property
    def is_list(self) -> bool:
        return not self.text

    @property
    def comment(self) -> bool:
        return self.text[:1] == ";"

    @property
    def head(self) -> str:
        return self.parts[0].text.lower() if self.parts else ""


def format_file(source: Source, kind: Kind) -> str | None:
    """Return the formatted file, or ``None`` if it cannot be parsed or its kind is not formatted."""
    text = source.text
    if len(text) > MAX_TEXT:
        return None
    if kind in (Kind.STEPS, Kind.PLAN) and not is_definition(text):
        return _plan(source)
    if kind in (Kind.EMPTY, Kind.OTHER, Kind.STEPS):
        return None
    before = parse_nodes(source)
    if before is None:
        return None
    top = _read(text)
    if top.depth > MAX_DEPTH:
        return None
    lines: list[str] = []
    for part in top.parts:
        if part.blank and lines:
            lines.append("")
        if part.tail and lines:
            lines[-1] += f"  {part.text}"
        elif part.is_list:
            lines += _layout(part, 0)
        else:
            lines.append(part.text)
    newline = "\r\n" if "\r\n" in text else "\n"
    out = newline.join(lines) + newline
    after = parse_nodes(Source(source.name, out))
    same = after == before and _comments(out) == _comments(text)
    return out if same else None


def _comments(text: str) -> list[str]:
    return [token.rstrip() for token in _TOKEN.findall(text) if token[0] == ";"]


def _read(text: str) -> _List:
    top = _List()
    stack = [top]
    blank = line_begins = False
    for token in _TOKEN.findall(text):
        if token[0].isspace():
            ends = token.count("\n") or token.count("\r")
            blank, line_begins = ends > 1, line_begins or ends > 0
            continue
        if token == "(":
            new = _List(blank=blank)
            stack[-1].parts.append(new)
            stack.append(new)
        elif token == ")":
            closed = stack.pop()
            _measure(closed)
        else:
            tail = token[0] == ";" and not line_begins and bool(stack[-1].parts)
            stack[-1].parts.append(_List(token.rstrip() if token[0] == ";" else token, blank, tail))
        blank = line_begins = False
    _measure(top)
    return top


def _measure(form: _List) -> None:
    form.depth = 1 + max([part.depth for part in form.parts], default=0)
    flats = [None if part.comment or (part.flat and "\n" in part.flat) else part.flat for part in form.parts]
    flat_parts = [flat for flat in flats if flat is not None]
    one_line = "(" + " ".join(flat_parts) + ")" if len(flat_parts) == len(flats) else None
    form.flat = one_line if one_line is not None and len(one_line) <= 4 * WIDTH else None


def _fits(form: _List, indent: int, room: int = 0) -> bool:
    return form.flat is not None and indent + len(form.flat) + room <= WIDTH


def _layout(form: _List, indent: int) -> list[str]:
    """Lay out a list as lines with indentation."""
    pad = " " * indent
    sections = form.head == "define" or (form.head in _SPREAD and len(form.parts) > 2)
    if not form.is_list or (_fits(form, indent) and not sections):
        return [pad + (form.flat if form.is_list and form.flat is not None else form.text)]
    out = [pad + "("]
    inner = indent + 2
    comment = False
    first = True
    for number, part in enumerate(form.parts):
        before = form.parts[number - 1] if number else None
        if part.blank and not first and not _is_value(form, number):
            out.append("")
        if part.comment:
            if part.tail or first:
                out[-1] += ("" if out[-1].endswith("(") else "  ") + part.text
            else:
                out.append(" " * inner + part.text)
            comment, first = True, False
            continue
        joined = not comment and (first or _joins(form, number, part, before, out[-1]))
        if joined:
            lead = "" if first else " "
            lines = _layout(part, inner if first else _column(out[-1], part, inner))
            out[-1] += lead + lines[0].lstrip()
            out += lines[1:]
        else:
            out += _layout(part, inner)
        comment = first = False
    if comment:
        out.append(pad + ")")
    else:
        out[-1] += ")"
    return out


def _column(line: str, part: _List, inner: int) -> int:
    """Return the indentation of the continuation lines of a part that follows other text on its line."""
    return inner if part.is_list else len(line)


def _is_value(form: _List, number: int) -> bool:
    before = form.parts[number - 1] if number else None
    return before is not None and before.text[:1] == ":"


def _joins(form: _List, number: int, part: _List, before: _List | None, line: str) -> bool:
    """Whether a part continues the current line."""
    assert before is not None
    size = len(part.flat) if part.flat is not None else WIDTH
    if form.head == "define" and number > 1:
        return False
    if part.text[:1] == ":" or (number == 1 and form.head in _OPENED):
        return False
    if part.text == "-" or before.text == "-":
        return True
    if _is_value(form, number):
        return True
    if form.head in _TYPED:
        ends = len(form.parts) > number - 2 and number > 2 and form.parts[number - 2].text == "-"
        return not ends and len(line) + 1 + size <= WIDTH
    if number == 1:
        return not part.is_list or form.head in ("forall", "exists", "define") or form.head in ("not",)
    if part.text:
        return before.flat is not None and not before.is_list and len(line) + 1 + size <= WIDTH
    return False


def _plan(source: Source) -> str | None:
    """Format a plan with one step per line; a comment after a step stays on its line."""
    before = read_plan(source)
    if before.diagnostics or before.warnings:
        return None
    text = source.text
    newline = "\r\n" if "\r\n" in text else "\n"
    out: list[str] = []
    depth = 0
    line: list[str] = []

    def flush() -> None:
        if line:
            out.append(_join_tokens(line))
            line.clear()

    at_line_start = True
    for token in re.findall(r";[^\r\n]*|[()\[\]]|[^\s()\[\];]+|\s+", text):
        if token[0].isspace():
            ends = token.count("\n") or token.count("\r")
            if ends and depth == 0:
                flush()
                if ends > 1 and out and out[-1]:
                    out.append("")
            at_line_start = at_line_start or ends > 0
            continue
        if token[0] == ";":
            comment = token.rstrip()
            if line and depth == 0 and not at_line_start:
                out.append(f"{_join_tokens(line)}  {comment}")
                line.clear()
            else:
                if depth:
                    return None  # a comment inside a step: leave the plan unchanged
                flush()
                out.append(comment)
        else:
            if token == "(" and depth == 0 and ")" in line:
                flush()
            depth += {"(": 1, ")": -1}.get(token, 0)
            line.append(token)
        at_line_start = False
    flush()
    while out and not out[-1]:
        out.pop()
    result = newline.join(out) + newline if out else ""
    after = read_plan(Source(source.name, result))
    same = [s._replace(span=_NOWHERE) for s in after.steps] == [s._replace(span=_NOWHERE) for s in before.steps]
    return result if same and not after.diagnostics and _comments(result) == _comments(text) else None


def _join_tokens(tokens: list[str]) -> str:
    text = " ".join(tokens)
    return re.sub(r"(?<=[(\[]) | (?=[)\]:])", "", text)
