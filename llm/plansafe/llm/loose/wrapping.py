"""Loose plan text: what language models write, cut into lines, lists, fences, tables and data. Knows no task.

A model wraps its plan: in Markdown, numbering, JSON, prose, reasoning. This module takes the wrapping apart and keeps
the place of everything; what is a step, and which, is decided with a task at hand (``plansafe.llm.loose.reader``).
Time and memory are linear in the text, and no pattern here can backtrack over more than a line's white space.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple, TypeAlias

from plansafe.grammar.data_text import BrokenOff, Malformed, TooDeep, Value, read_value
from plansafe.grammar.diagnostics import Span

LIMIT = 1_000_000
"""How many characters a text may have. A plan of 10,000 steps has about half as many."""

_DASHES = "\u2012\u2013\u2015"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_INVISIBLE = (
    "\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff\u00ad\ufe0e\ufe0f\u202a\u202b\u202c\u202d\u202e"
)
_INVISIBLE += "\u2066\u2067\u2068\u2069\u180e"
_SAME = {
    **dict.fromkeys(_SPACES, " "),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u2039\u203a", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2794\u279c\u21d2\u27f6\u27a1\u21a6\u2b62", "\u2192"),
    **dict.fromkeys("\u2023\u25e6\u25aa\u25cf\u00b7\u2043", "\u2022"),
    **dict(zip("\uff08\uff09\uff3b\uff3d\uff0c\uff1a\uff1b\uff1c\uff1e\u3002\u3001", "()[],:;<>.,", strict=True)),
    **dict.fromkeys("\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e", "\n"),
    "\u20e3": ".",  # the frame of a keycap: a digit and this are a numbering
    "\x00": " ",
    "\x1f": " ",
}
_SPECIAL = re.compile(f"\r\n?|\\\\(?=[_*-])|[{_INVISIBLE}]|[{_DASHES}]|[{''.join(map(re.escape, _SAME))}]")

_THINKING = re.compile(r"<(/?)(?:think|thinking|reasoning|scratchpad|reflection|analysis|thought)>", re.IGNORECASE)
_WRAPPER = re.compile(
    r"<(/?)(plan|answer|final|final_answer|output|solution|response|result|steps|actions|action_sequence)>",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"<\|[a-z_]{1,30}\|>|</s>|<br>", re.IGNORECASE)
_STRUCK = re.compile(r"~~(?!~)|<(?:del|strike)>", re.IGNORECASE)
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,4}[.)][ \t]+)?(`{3,}+|~{3,}+)[ \t]*+([^`\n]*)$")
_EMPHASIS = re.compile(r"\*\*\*?|`+|(?<=\S)\*|\*(?=\S)")
_ITALIC = re.compile(r"(?<!\w)_([^_\n]{1,200})_(?!\w)")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_RULE = re.compile(r"[ \t]*([-*_=])(?:[ \t]*\1){2,}[ \t]*$")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_TIME = re.compile(r"[ \t]*(\d{1,9}\.\d{1,9})[ \t]*:[ \t]*")
_MARKER = re.compile(
    r"""[ \t]*(?:
      (?P<bullet>[-*+\u2014](?=[ \t])|\u2022)
    | (?P<box>\[[ ]\])
    | (?:step|action|move)[ _\#-]{0,2}(?P<step>\d{1,4})
      (?:[ \t]*[.):,]|[ \t]+[-\u2014](?=[ \t])|(?=[ \t]*[(\[<])|(?=[ \t]*$))
    | \((?P<round>\d{1,4})\) | \[(?P<square>\d{1,4})\] | \#(?P<hash>\d{1,4})[.):]?(?=[ \t])
    | (?P<number>\d{1,4})(?:[.)](?!\d)|[ \t]+[-\u2014](?=[ \t])|(?=[ \t]+\()|(?=\t)|(?=[ \t]*$))
    | (?P<colon>\d{1,4})[ \t]*:(?!\d)
    | (?P<letter>[a-z])\)(?=[ \t])
    )[ \t]*""",
    re.VERBOSE | re.IGNORECASE,
)
_COMMENT = re.compile(r"[ \t]*(?:;|//|%)")
_CODE_COMMENT = re.compile(r"[ \t]*#")
_SQUARE_STEP = re.compile(r"\[[ \t]*[A-Za-z][\w -]{0,60}\]")
_DATA = re.compile(r"[ \t]*(?:\"?'?[A-Za-z_][\w -]{0,40}\"?'?[ \t]*[:=][ \t]*)?(?=[\[{])")
_LOOKS_LIKE_DATA = re.compile(r"\{\s*(?:[\"'}]|$)|\[\s*(?:[\"'{\[(\]]|$|[A-Za-z_][^\[\]\n]{0,200}[\](])")
_DEFINE = re.compile(r"\(\s*define\b", re.IGNORECASE)
_DEFINED = re.compile(r"\s*\(\s*(\w{0,20})")
MAX_WRAPPERS = 8
_WRAPPED = re.compile(r"[ \t]{0,40}(\([ \t\n]{0,40}:?(?:plan|steps|actions|sequence)?)(?=\s{0,40}\()", re.IGNORECASE)
_BRACKET = re.compile(r"[()]|;[^\n]*")
_LEAF = re.compile(r"\(([^()]*)\)")


class Cleaned:
    """A text with its odd characters replaced, and the way back to the places in the original."""

    def __init__(self, text: str) -> None:
        self.replaced: list[int] = []
        self.invisible: list[int] = []
        self._starts, self._shifts = [0], [0]
        self._size = len(text)
        parts: list[str] = []
        position = shift = length = 0
        for match in _SPECIAL.finditer(text):
            start, end = match.span()
            new = self._replacement(text, start, match.group())
            parts += (text[position:start], new)
            length += start - position + len(new)
            position = end
            if end - start != len(new):
                shift += end - start - len(new)
                self._starts.append(length)
                self._shifts.append(shift)
        parts.append(text[position:])
        self.text = "".join(parts)

    def _replacement(self, text: str, start: int, found: str) -> str:
        if found[0] == "\r":
            return "\n"
        if found == "\\":
            return ""
        if found in _INVISIBLE:
            self.invisible.append(start)
            return ""
        if found in _DASHES:  # a hyphen within a word, else a dash
            inside = text[start - 1 : start].isalnum() and text[start + 1 : start + 2].isalnum()
            return "-" if inside else "\u2014"
        if found not in "\u20e3\u2022":
            self.replaced.append(start)
        return _SAME[found]

    def origin(self, start: int, end: int) -> Span:
        """The place in the original of a range of the cleaned text."""
        first = min(self._original(start), self._size)
        return Span(first, min(max(first, self._original(end - 1) + 1), self._size))

    def _original(self, offset: int) -> int:
        return offset + self._shifts[bisect_right(self._starts, offset) - 1]


class Line(NamedTuple):
    """A line without its marker, or several where a parenthesis runs over the line's end.

    ``kind`` is ``line``, ``blank``, ``comment``, ``heading`` or ``rule``; ``number`` that of a numbered line, ``time``
    that of a timed one. ``start`` is where ``text`` begins in the cleaned text; ``indent`` is that of the marker.
    """

    kind: str
    text: str
    start: int
    indent: int
    marked: bool = False
    number: int | None = None
    time: str | None = None


class Datum(NamedTuple):
    """A JSON or Python value that stands on lines of its own; ``lead`` is a name before it (``plan =``)."""

    value: Value
    start: int
    end: int
    lead: str
    comments: tuple[Span, ...] = ()


class Form(NamedTuple):
    """A ``(define (plan ..) ..)``, or a domain or problem that the text repeats; ``what`` says which."""

    what: str
    start: int
    end: int


class Table(NamedTuple):
    """A Markdown table: for each row its cells, as text and where that begins. The first row is the head."""

    rows: tuple[tuple[tuple[str, int], ...], ...]
    start: int
    end: int


Element: TypeAlias = Line | Datum | Form | Table


class Block(NamedTuple):
    """A fenced block, or the text between two of them."""

    fenced: bool
    info: str
    start: int
    end: int
    elements: tuple[Element, ...]


class Flaw(NamedTuple):
    """Something that makes the text unreadable whatever the task: its kind, message and place in the cleaned text."""

    kind: str
    message: str
    start: int
    end: int


class LooseText(NamedTuple):
    """A text taken apart. ``reasoning`` and ``tokens`` are ranges of the cleaned text that were left out."""

    cleaned: Cleaned
    blocks: tuple[Block, ...]
    reasoning: tuple[Span, ...]
    flaws: tuple[Flaw, ...]


def read_text(text: str) -> LooseText:
    """Take a text apart. The caller has checked that it has at most ``LIMIT`` characters."""
    cleaned = Cleaned(text)
    flaws: list[Flaw] = []
    chars, reasoning = _without_reasoning(cleaned.text, flaws)
    chars = _without_tags(chars, flaws)
    blocks = []
    for fenced, info, start, end in _fences(chars, flaws):
        body = chars if fenced else _plain(chars, start, end)
        blocks.append(Block(fenced, info, start, end, tuple(_Elements(body, start, end, fenced, flaws).read())))
    return LooseText(cleaned, tuple(blocks), tuple(reasoning), tuple(flaws))


def _blank(text: str, spans: list[Span]) -> str:
    """The text with ranges overwritten: long ones by a rule, which parts what stands around them, others by lines."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        rule = "---" if end - start > 4 else ""
        parts += (text[position:start], "\n", rule.ljust(end - start - 2), "\n")
        position = end
    parts.append(text[position:])
    return "".join(parts)


def _without_reasoning(text: str, flaws: list[Flaw]) -> tuple[str, list[Span]]:
    """Leave out ``<think>..</think>``; a closing tag alone ends reasoning that began in the prompt."""
    spans: list[Span] = []
    opened: int | None = None
    for match in _THINKING.finditer(text):
        if not match[1]:
            opened = match.start() if opened is None else opened
        else:
            if opened is None:
                spans.clear()
            spans.append(Span(0 if opened is None else opened, match.end()))
            opened = None
    if opened is not None:
        flaws.append(Flaw("cut", "the text ends inside its reasoning", opened, min(opened + 7, len(text))))
        spans.append(Span(opened, len(text)))
    return (_blank(text, spans) if spans else text), spans


def _without_tags(text: str, flaws: list[Flaw]) -> str:
    spans = []
    opened: dict[str, int] = {}
    for match in _WRAPPER.finditer(text):
        name = match[2].lower()
        if match[1]:
            opened.pop(name, None)
        else:
            opened[name] = match.start()
        spans.append(Span(*match.span()))
    if opened:
        start = min(opened.values())
        flaws.append(Flaw("cut", "the text ends inside a tag that is not closed", start, start + 1))
    spans += [Span(*match.span()) for match in _TOKEN.finditer(text)]
    return _blank(text, sorted(spans)) if spans else text


def _fences(text: str, flaws: list[Flaw]) -> list[tuple[bool, str, int, int]]:
    """Fenced blocks and the texts between them, in order: fenced, info, start, end."""
    found: list[tuple[bool, str, int, int]] = []
    position = begin = 0
    opened: tuple[str, str, int] | None = None
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\n")
        match = _FENCE.match(bare) if "```" in bare or "~~~" in bare else None
        after = position + len(line)
        if match is not None and opened is None:
            found.append((False, "", begin, position))
            opened, begin = (match[1], match[2].strip().lower(), position), after
        elif match is not None and opened is not None and not match[2].strip() and match[1].startswith(opened[0]):
            found.append((True, opened[1], begin, position))
            opened, begin = None, after
        position = after
    if opened is None:
        found.append((False, "", begin, len(text)))
    elif text[begin:].strip():
        flaws.append(Flaw("cut", "the text ends inside a fenced block", opened[2], begin - 1))
    elif opened[1] or len(found) > 1:
        flaws.append(Flaw("cut", "the text ends where a fenced block begins", opened[2], max(begin - 1, opened[2] + 1)))
    # Else one closing fence alone: the block was opened by the prompt.
    return [block for block in found if block[0] or text[block[2] : block[3]].strip()]


def _plain(text: str, start: int, end: int) -> str:
    """The text with the emphasis of a block overwritten by spaces, places unchanged."""
    body = _EMPHASIS.sub(lambda match: " " * len(match.group()), text[start:end])
    body = _ITALIC.sub(lambda match: f" {match[1]} ", body)
    return f"{text[:start]}{body}{text[end:]}"


class _Elements:
    """The elements of one block."""

    def __init__(self, text: str, start: int, end: int, fenced: bool, flaws: list[Flaw]) -> None:
        self.text, self.position, self.end = text, start, end
        self.fenced = fenced
        self.flaws = flaws
        self.wrappers = 0
        self.tried = 0  # data that failed to parse is not tried again before this offset

    def read(self) -> list[Element]:
        elements: list[Element] = []
        while self.position < self.end:
            self._unwrap()
            elements.append(self._form() or self._datum() or self._table() or self._line())
        return elements

    def _unwrap(self) -> None:
        """Overwrite the parentheses of ``(plan (a b) (c d))`` that opens on this line and is closed on a later one."""
        match = _WRAPPED.match(self.text, self.position, self.end)
        if match is None or self.wrappers == MAX_WRAPPERS:
            return
        self.wrappers += 1
        depth = 0
        for bracket in _BRACKET.finditer(self.text, match.start(1), self.end):
            if bracket.group()[0] != ";":
                depth += 1 if bracket.group() == "(" else -1
                if depth == 0:
                    break
        else:
            return
        last = bracket.start()
        if last > self._line_end(self.position):
            hidden = " " * (match.end(1) - match.start(1))
            self.text = f"{self.text[: match.start(1)]}{hidden}{self.text[match.end(1) : last]} {self.text[last + 1 :]}"

    def _line_end(self, position: int) -> int:
        found = self.text.find("\n", position, self.end)
        return self.end if found < 0 else found

    def _form(self) -> Form | None:
        """A definition that begins this line."""
        text = self.text
        start = self.position
        while start < self.end and text[start] in " \t":
            start += 1
        match = _DEFINE.match(text, start, self.end)
        if match is None:
            return None
        depth = 0
        position = start
        for bracket in _BRACKET.finditer(text, start, self.end):
            if bracket.group()[0] == ";":
                continue
            depth += 1 if bracket.group() == "(" else -1
            position = bracket.end()
            if depth == 0:
                break
        if depth:
            self.flaws.append(Flaw("cut", "the text ends inside a definition", start, match.end()))
            position = self.end
        what = _DEFINED.match(text, match.end(), self.end)
        self.position = position
        return Form(what[1].lower() if what else "", start, position)

    def _datum(self) -> Datum | None:
        """A JSON or Python value that begins this line (or after a name and ``=`` or ``:``) and ends one."""
        text = self.text
        match = _DATA.match(text, self.position, self._line_end(self.position))
        if match is None or self.position < self.tried:
            return None
        start = match.end()
        if _SQUARE_STEP.match(text, start, self.end) or not _LOOKS_LIKE_DATA.match(text, start, self.end):
            return None
        try:
            comments: list[Span] = []
            value, end = read_value(text, start, self.end, comments)
        except BrokenOff as broken:
            match broken:
                case TooDeep():
                    kind, message = "deep", "lists and objects are nested too deeply"
                case Malformed():
                    kind, message = "data", "this is neither JSON nor a Python list: is a comma or a bracket missing?"
                case _:
                    kind, message = "cut", "the text ends inside a list or an object"
            self.flaws.append(Flaw(kind, message, broken.start, broken.start + 1))
            self.position = self.end
            return Datum(Value("list", "", (), start, self.end), start, self.end, "")
        after = self._line_end(end)
        if text[end:after].strip(" \t,;."):
            self.tried = end
            return None
        self.position = min(after + 1, self.end)
        return Datum(value, start, end, text[match.start() : start].strip(" \t:=\"'"), tuple(comments))

    def _table(self) -> Table | None:
        start = self.position
        position = start
        rows = []
        while position < self.end:
            end = self._line_end(position)
            line = self.text[position:end]
            if not line.lstrip().startswith("|") or line.count("|") < 2:
                break
            if line.strip(" \t|:-+"):
                rows.append(_cells(line, position))
            position = min(end + 1, self.end)
        if not rows:
            return None
        self.position = position
        return Table(tuple(rows), start, position)

    def _line(self) -> Line:
        start = self.position
        end = self._line_end(start)
        text = self.text
        raw = text[start:end]
        if not raw.strip():
            self.position = min(end + 1, self.end)
            return Line("blank", "", start, 0)
        position = start
        if not self.fenced and (quote := _QUOTE.match(raw)):
            position += quote.end()
            raw = text[position:end]
        indent = len(raw) - len(raw.lstrip(" \t"))
        kind = "line"
        if _RULE.match(raw):
            kind = "rule"
        elif _COMMENT.match(raw) or (self.fenced and _CODE_COMMENT.match(raw)):
            kind = "comment"
        elif not self.fenced and (heading := _HEADING.match(raw)):
            kind = "heading"
            position += heading.end()
        if kind != "line":
            self.position = min(end + 1, self.end)
            return Line(kind, text[position:end].rstrip(), position, indent)
        end = self._joined(position, end)
        if _STRUCK.search(text, start, end):
            self.flaws.append(Flaw("struck", "part of the text is struck out", start, end))
        position, marked, number, time = self._markers(position, end)
        self.position = min(end + 1, self.end)
        return Line("line", text[position:end].rstrip(), position, indent, marked, number, time)

    def _joined(self, start: int, end: int) -> int:
        """Where a line ends whose last parenthesis is closed on a later line, before an empty one."""
        while end < self.end:
            opened = self.text.rfind("(", start, end)
            if opened < 0 or self.text.find(")", opened, end) >= 0:
                return end
            closed = self.text.find(")", end, min(self.end, end + 2000))
            if closed < 0 or self.text.find("(", end, closed) >= 0 or re.search(r"\n[ \t]*\n", self.text[end:closed]):
                return end
            end = self._line_end(closed)
        return end

    def _markers(self, position: int, end: int) -> tuple[int, bool, int | None, str | None]:
        marked, number = False, None
        text = self.text
        for _ in range(3):
            if text[position:end].lstrip()[:1] == "[" and _SQUARE_STEP.match(text[position:end].lstrip()):
                break
            match = _MARKER.match(text, position, end)
            if match is None or _TIME.match(text, position, end):
                break
            kind = match.lastgroup
            if kind not in ("bullet", "box"):
                if number is not None:
                    break
                written = match[str(kind)]
                number = ord(written.lower()) - ord("a") + 1 if kind == "letter" else int(written)
            marked = True
            position = match.end()
        timed = _TIME.match(text, position, end)
        if timed:
            return timed.end(), marked, number, timed[1]
        while position < end and text[position] in " \t":
            position += 1
        return position, marked, number, None


def _cells(line: str, start: int) -> tuple[tuple[str, int], ...]:
    cells = []
    position = line.index("|") + 1
    parts = line.rstrip()[position:].removesuffix("|").split("|")
    for part in parts:
        cells.append((part.strip(), start + position + len(part) - len(part.lstrip())))
        position += len(part) + 1
    return tuple(cells)


# ---- structured steps within a line ---------------------------------------------------------------------------------


class Argument(NamedTuple):
    """An argument as written: its words, and where given its parameter's name, its type and its number."""

    text: str
    label: str | None = None
    type: str | None = None
    number: str | None = None


class Group(NamedTuple):
    """Something with brackets that may be a step: ``(a b)``, ``a(b)``, ``x.a(b)``, ``[A] <b> (1)``.

    ``head`` stands before the bracket, directly (in ``[A]`` inside it); ``lead`` is everything before it in the line or
    since the previous group. Places count from the beginning of the line.
    """

    square: bool
    head: str
    body: str
    receiver: str
    start: int
    end: int
    arguments: tuple[Argument, ...] = ()


_SQUARE = re.compile(
    r"(?:<(?P<who>[\w -]{1,60})>[ \t]{0,8}(?:\(\d{1,9}\)[ \t]{0,8})?)?\[[ \t]{0,8}(?P<act>[A-Za-z][\w -]{0,60})\]"
    r"(?P<rest>(?:[ \t]{0,8},?[ \t]{0,8}<[^<>\n]{1,80}>(?:[ \t]{0,8}\([ \t]{0,8}\d[\d.]{0,20}[ \t]{0,8}\))?){0,8})"
)
_SQUARE_ARGUMENT = re.compile(r"<([^<>\n]{1,80})>(?:[ \t]{0,8}\([ \t]{0,8}(\d[\d.]{0,20})[ \t]{0,8}\))?")
_QUOTES = "\"'`"


def groups(text: str) -> list[Group]:
    """The bracketed groups of a line, innermost only, in order."""
    found = []
    taken: list[tuple[int, int]] = []
    if "[" in text:
        for match in _SQUARE.finditer(text):
            arguments = tuple([Argument(a[1].strip(), number=a[2]) for a in _SQUARE_ARGUMENT.finditer(match["rest"])])
            found.append(Group(True, match["act"], "", match["who"] or "", *match.span(), arguments))
            taken.append(match.span())
    for match in _LEAF.finditer(text):
        start, end = match.span()
        if _within(taken, start):
            continue
        head_start = _identifier_before(text, start)
        head = text[head_start:start]
        receiver = ""
        begin = head_start
        if head and text[head_start - 1 : head_start] == ".":
            begin = _identifier_before(text, head_start - 1)
            receiver = text[begin : head_start - 1]
            begin = begin if receiver else head_start
        found.append(Group(False, head, match[1], receiver, begin, end))
    return sorted(found, key=lambda group: group.start)


def _within(taken: list[tuple[int, int]], position: int) -> bool:
    index = bisect_right(taken, (position, 1 << 60)) - 1
    return index >= 0 and taken[index][0] <= position < taken[index][1]


def _identifier_before(text: str, end: int) -> int:
    start = end
    while start > 0 and end - start < 80 and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    return start


def unquoted(text: str) -> str:
    """A name without the quotes and brackets around it."""
    text = text.strip()
    for _ in range(3):
        ends = text[:1] + text[-1:]
        if len(text) < 2 or not (ends in ("<>", "{}", "[]") or (ends[0] == ends[1] and ends[0] in _QUOTES)):
            break
        text = text[1:-1].strip()
    return text


_LABEL = re.compile(r"\??([A-Za-z_][\w-]{0,60})[ \t]*(?:=|:)[ \t]*(.+)", re.DOTALL)
_TYPE = re.compile(r"[A-Za-z_][\w-]{0,60}")


def argument(text: str) -> Argument:
    """One argument between commas: ``mug``, ``"mug"``, ``obj=mug``, ``mug - item``."""
    text = text.strip()
    label = kind = None
    if text[:1] not in _QUOTES and (match := _LABEL.fullmatch(text)):
        label, text = match[1], match[2]
    before, dash, after = " ".join(text.split()).rpartition(" - ")
    if dash and _TYPE.fullmatch(after):
        text, kind = before, after
    return Argument(unquoted(text), label, kind)


def split_commas(body: str) -> list[str]:
    """The parts of a body between commas that are not inside quotes."""
    if "," not in body:
        return [body]
    parts = []
    start = 0
    quote = ""
    for index, char in enumerate(body):
        if quote:
            quote = "" if char == quote else quote
        elif char in _QUOTES and not body[index - 1 : index].isalnum():
            quote = char
        elif char == ",":
            parts.append(body[start:index])
            start = index + 1
    parts.append(body[start:])
    return parts
