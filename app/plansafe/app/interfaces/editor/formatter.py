"""Layout: one way to write a file. Words, their order and comments stay; the result is read again and must be the same.

Definitions: what fits on a line of a hundred characters stands on one, and what does not is indented by two, with a
field and its value on one line. Plans: a step on each line. Blank lines between lists stay, one at a time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.app.project.file_kinds import Kind
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.plan_text import is_definition, read_plan
from plansafe.grammar.sexpr import read_all
from plansafe.grammar.source import Source

WIDTH = 100
MAX_DEPTH = 150
MAX_TEXT = 2_000_000
_NOWHERE = Span(0, 0)
_TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|;[^\r\n]*|[^\s();"]+|\s+', re.DOTALL)
_SPREAD = frozenset((":predicates", ":functions", ":init", ":actions", ":groups"))
"""Sections with a list on each line, however short."""
_TYPED = frozenset((":types", ":objects", ":constants"))
_OPENED = _SPREAD | _TYPED | {":steps", ":vocabulary", ":ordering"}
"""Sections whose first part begins a line, where they do not fit on one."""


class _List:
    """A list, or a comment or word (``text``) between lists; ``blank``: an empty line stands before it."""

    __slots__ = ("blank", "depth", "flat", "parts", "tail", "text")

    def __init__(self, text: str = "", blank: bool = False, tail: bool = False) -> None:
        self.text = text
        self.parts: list[_List] = []
        self.blank = blank
        self.tail = tail
        """A comment behind something else on its line."""
        self.flat: str | None = text
        """On one line; ``None`` where a comment forbids that."""
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


class _Line(NamedTuple):
    text: str
    comment: bool = False


def formatted(source: Source, kind: Kind) -> str | None:
    """The file in its one layout; ``None`` where it cannot be read as it stands, or is not ours to lay out."""
    text = source.text
    if len(text) > MAX_TEXT:
        return None
    if kind in (Kind.STEPS, Kind.PLAN) and not is_definition(text):
        return _plan(source)
    if kind in (Kind.EMPTY, Kind.OTHER, Kind.STEPS):
        return None
    before = read_all(source)
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
            lines += _written(part, 0)
        else:
            lines.append(part.text)
    newline = "\r\n" if "\r\n" in text else "\n"
    out = newline.join(lines) + newline
    after = read_all(Source(source.name, out))
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
    known = [flat for flat in flats if flat is not None]
    whole = "(" + " ".join(known) + ")" if len(known) == len(flats) else None
    form.flat = whole if whole is not None and len(whole) <= 4 * WIDTH else None


def _fits(form: _List, indent: int, room: int = 0) -> bool:
    return form.flat is not None and indent + len(form.flat) + room <= WIDTH


def _written(form: _List, indent: int) -> list[str]:
    """A list as lines, the first of which has no indentation of its own yet."""
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
            lines = _written(part, inner if first else _column(out[-1], part, inner))
            out[-1] += lead + lines[0].lstrip()
            out += lines[1:]
        else:
            out += _written(part, inner)
        comment = first = False
    if comment:
        out.append(pad + ")")
    else:
        out[-1] += ")"
    return out


def _column(line: str, part: _List, inner: int) -> int:
    """Where the rest of a list is indented that begins behind something else on a line."""
    return inner if part.is_list else len(line)


def _is_value(form: _List, number: int) -> bool:
    before = form.parts[number - 1] if number else None
    return before is not None and before.text[:1] == ":"


def _joins(form: _List, number: int, part: _List, before: _List | None, line: str) -> bool:
    """Whether a part goes on behind what stands on the line."""
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
    """A plan with one step on each line; a comment behind a step goes with it."""
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
            out.append(_joined(line))
            line.clear()

    fresh = True
    for token in re.findall(r";[^\r\n]*|[()\[\]]|[^\s()\[\];]+|\s+", text):
        if token[0].isspace():
            ends = token.count("\n") or token.count("\r")
            if ends and depth == 0:
                flush()
                if ends > 1 and out and out[-1]:
                    out.append("")
            fresh = fresh or ends > 0
            continue
        if token[0] == ";":
            comment = token.rstrip()
            if line and depth == 0 and not fresh:
                out.append(f"{_joined(line)}  {comment}")
                line.clear()
            else:
                if depth:
                    return None  # inside a step: it stays as it is written
                flush()
                out.append(comment)
        else:
            if token == "(" and depth == 0 and ")" in line:
                flush()
            depth += {"(": 1, ")": -1}.get(token, 0)
            line.append(token)
        fresh = False
    flush()
    while out and not out[-1]:
        out.pop()
    done = newline.join(out) + newline if out else ""
    after = read_plan(Source(source.name, done))
    same = [s._replace(span=_NOWHERE) for s in after.steps] == [s._replace(span=_NOWHERE) for s in before.steps]
    return done if same and not after.diagnostics and _comments(done) == _comments(text) else None


def _joined(tokens: list[str]) -> str:
    text = " ".join(tokens)
    return re.sub(r"(?<=[(\[]) | (?=[)\]:])", "", text)
