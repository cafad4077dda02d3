"""LaTeX lists and tables as values: ``enumerate``, ``itemize`` and ``tabular``. No library for it is light enough."""

from __future__ import annotations

import re

from plansafe.grammar.diagnostics import Span
from plansafe.llm.structured.tables import Cell, rows_as_maps
from plansafe.llm.structured.tree import Document, Format, Kind, Mark, Node, breaks_off, not_understood

OPENING = re.compile(r"\\begin\{(enumerate|itemize|tabular)\*?\}")
_LONGEST_ITEM = 2_000
_BOUNDARY = re.compile(r"\\(begin|end)\{([a-z*]{1,20})\}")
_OPTIONS = re.compile(r"(?:\[[^\]\n]{0,200}\]|\{[^{}\n]{0,200}\})*")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_ITEM = re.compile(r"\\item\b[ \t]*(?:\[([^\]\n]{0,40})\])?")
_RULES = re.compile(r"\\(?:hline|toprule|midrule|bottomrule|centering)\b")
_SPACING = re.compile(
    r"\\(?:itemsep|parskip|parsep|topsep)[ \t]*=?[ \t]*-?[\d.]{1,8}[ \t]*(?:pt|em|ex|cm|mm)"
    r"|\\setlength\{?\\\w{1,20}\}?\{[^{}\n]{1,40}\}|\\(?:tightlist|small|footnotesize|noitemsep|sffamily|ttfamily)\b"
)
_STRUCK = re.compile(r"\\(?:sout|st|cancel|xcancel)\{([^{}]{0,2000})\}")
_STYLED = re.compile(
    r"\\(?:texttt|textbf|textit|emph|textsc|textsf|text|mathrm|mathtt|mathit|mathsf|operatorname|mbox|underline)\{([^{}]{0,2000})\}"
)
_VERBATIM = re.compile(r"\\(?:verb|lstinline)([|!+@])([^\n]{0,400}?)\1")
_ESCAPED = re.compile(r"\\([_#%&$\{\}])")
_BOXES = {r"$\square$": Mark.UNTICKED, r"$\boxtimes$": Mark.FAILED, r"$\checkmark$": Mark.TICKED}


def read_latex(text: str, start: int, end: int) -> Document:
    """Return the list or table that begins at ``start``.

    Raises :class:`Unreadable` if it breaks off, nests, or has commands that are not understood.
    """
    match = OPENING.match(text, start, end)
    assert match is not None
    boundary = _BOUNDARY.search(text, match.end(), end)
    if boundary is None:
        raise breaks_off("a LaTeX environment", start)
    if boundary[1] == "begin":
        raise not_understood("an environment within another is not understood", *boundary.span())
    body_start = match.end()
    options = _OPTIONS.match(text, body_start, boundary.start())
    if options is not None:
        if "start" in options.group() or "resume" in options.group():
            raise not_understood("a list that does not begin with 1 is not understood", *options.span())
        body_start = options.end()
    body = text[body_start : boundary.start()]
    comments = [
        Span(body_start + comment.start() + 1, body_start + comment.end()) for comment in _COMMENT.finditer(body)
    ]
    body = _COMMENT.sub(lambda comment: " " * len(comment.group()), body)
    read = _table if match[1] == "tabular" else _list
    return Document(Format.LATEX, read(body, body_start, start), start, boundary.end(), tuple(comments))


def _list(body: str, offset: int, start: int) -> tuple[Node, ...]:
    items = list(_ITEM.finditer(body))
    if not items or _SPACING.sub("", body[: items[0].start()]).strip():
        raise not_understood("a list without items, or with text before them", start, start + 1)
    nodes = []
    for item, following in zip(items, [*items[1:], None], strict=True):
        end = len(body) if following is None else following.start()
        cell = _cell(body[item.end() : end], offset + item.end(), offset + end)
        mark = Mark.REMOVED if cell.struck else Mark.NONE
        if item[1] is not None:
            box = _BOXES.get(item[1].strip())
            if box is None or cell.struck:
                raise not_understood("the mark of this item is not understood", offset + item.start(), cell.end)
            mark = box
        nodes.append(Node(Kind.TEXT, cell.text, offset + item.start(), cell.end, mark=mark))
    return tuple(nodes)


def _table(body: str, offset: int, start: int) -> tuple[Node, ...]:
    body = _RULES.sub(lambda rule: " " * len(rule.group()), body)
    rows = []
    position = 0
    for line in body.split("\\\\"):
        if line.strip():
            cells = []
            at = position
            for part in re.split(r"(?<!\\)&", line):
                cells.append(_cell(part, offset + at, offset + at + len(part)))
                at += len(part) + 1
            rows.append(cells)
        position += len(line) + 2
    return rows_as_maps(rows, start, offset + len(body))


def _cell(written: str, start: int, end: int) -> Cell:
    """A text without its commands; one that is not known is refused."""
    if len(written) > _LONGEST_ITEM:
        raise not_understood(f"an item with more than {_LONGEST_ITEM:,} characters", start, start + 1)
    text = _VERBATIM.sub(lambda command: command[2], written)
    for _ in range(4):
        text = _STYLED.sub(lambda command: command[1], text)
    text = re.sub(r"(?<!\\)\$", "", text)
    bare = text.strip()
    struck = _STRUCK.fullmatch(bare)
    text = _ESCAPED.sub(lambda command: command[1], struck[1] if struck else bare).replace("~", " ")
    if "\\" in text:
        raise not_understood("a LaTeX command that is not understood", start, max(end, start + 1))
    lead = len(written) - len(written.lstrip())
    return Cell(
        " ".join(text.split()), start + lead, max(start + len(written.rstrip()), start + lead + 1), bool(struck)
    )
