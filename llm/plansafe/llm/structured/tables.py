"""Tables as values: each row is a map from the head's cells to the row's. CSV by ``csv``, Markdown by markdown-it."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, NamedTuple

from plansafe.llm.structured.keys import (
    ACTION_KEYS,
    AGENT_KEYS,
    ARGUMENT_KEYS,
    DONE_KEYS,
    KEPT_KEYS,
    NUMBER_KEYS,
    NUMBERED_ARGUMENT,
    REMARK_KEYS,
    REMOVED_KEYS,
    STATUS_KEYS,
    bare_key,
)
from plansafe.llm.structured.tree import Document, Format, Kind, LinePlaces, Mark, Node, NotThisFormat, not_understood

if TYPE_CHECKING:
    from markdown_it.token import Token

_STEP_COLUMNS = ACTION_KEYS | frozenset(("actions", "step", "planstep", "pddl", "pddlstep", "actionstep"))
_COLUMNS = (
    _STEP_COLUMNS | ARGUMENT_KEYS | AGENT_KEYS | NUMBER_KEYS | REMARK_KEYS | STATUS_KEYS
    | REMOVED_KEYS | KEPT_KEYS | DONE_KEYS
)  # fmt: skip
_ROW = re.compile(r"[ \t]*\|")
_PIPE = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[ \t|:+=-]*-[ \t|:+=-]*")
MOST_COLUMNS = 40
_LONGEST_ROW = 4_000


class Cell(NamedTuple):
    """A cell of a table; ``struck``: all of it is struck out."""

    text: str
    start: int
    end: int
    struck: bool = False


def rows_as_maps(rows: list[list[Cell]], start: int, end: int) -> tuple[Node, ...]:
    """Return the rows below the head, each as a map. Raises :class:`Unreadable` if a row does not match the head."""
    if len(rows) < 2 or any([len(row) != len(rows[0]) for row in rows]):
        raise not_understood("the rows of this table do not match its head", start, end)
    if len(rows[0]) > MOST_COLUMNS:
        raise not_understood(f"a table with more than {MOST_COLUMNS} columns", start, end)
    head = tuple([cell.text for cell in rows[0]])
    maps = []
    for row in rows[1:]:
        nodes = tuple([Node(Kind.TEXT, cell.text, cell.start, cell.end) for cell in row])
        filled = [cell for cell in row if cell.text]
        struck = [cell for cell in filled if cell.struck]
        steps = [cell for name, cell in zip(head, row, strict=True) if bare_key(name) in _STEP_COLUMNS and cell.text]
        first = min([cell.start for cell in row])
        last = max([cell.end for cell in row] + [first + 1])
        if struck and not all([cell.struck for cell in steps]):
            raise not_understood("part of this row is struck out", first, last)
        mark = Mark.REMOVED if struck else Mark.NONE
        maps.append(Node(Kind.MAP, "", first, last, nodes, head, mark))
    return tuple(maps)


# -- CSV --------------------------------------------------------------------------------------------------------------


def is_csv_head(line: str) -> bool:
    """Return whether a line is the head of a table of steps."""
    for separator in ",;\t":
        names = [bare_key(cell.strip().strip('"')) for cell in line.split(separator)]
        is_column = [name in _COLUMNS or bool(NUMBERED_ARGUMENT.match(name)) for name in names]
        if len(names) > 1 and all(is_column) and any([name in _STEP_COLUMNS for name in names]):
            return True
    return False


def read_csv(text: str, start: int, end: int, *, fenced: bool) -> Document:
    """Return the rows of a CSV table. Without a head, each row of a fenced block is a list.

    Raises :class:`NotThisFormat` without a head and a fence, :class:`Unreadable` if rows do not match the head.
    """
    if not fenced:
        end = _csv_end(text, start, end)
    places = LinePlaces(text, start, end)
    lines = text[start:end].splitlines()
    head = next((line for line in lines if line.strip()), "")
    separator = max(",;\t", key=head.count)
    names = [bare_key(cell.strip().strip('"')) for cell in head.split(separator)]
    headed = is_csv_head(head) or (fenced and any([name in _STEP_COLUMNS for name in names]))
    if not headed and not fenced:
        raise NotThisFormat
    reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)
    rows: list[list[Cell]] = []
    before = 0
    try:
        for row in reader:
            begin, stop = places.offset(before + 1, 0), places.line_end(reader.line_num)
            before = reader.line_num
            if any([cell.strip() for cell in row]):
                rows.append(_csv_cells(row, text, begin, stop))
    except csv.Error as error:
        raise not_understood(f"this is not CSV: {error}", start, start + 1) from None
    if headed:
        return Document(Format.CSV, rows_as_maps(rows, start, end), start, end)
    if not rows or min([len(row) for row in rows]) < 2:
        raise NotThisFormat
    lists = []
    for number, cells in enumerate(rows, 1):
        nodes = [Node(Kind.TEXT, cell.text, cell.start, cell.end) for cell in cells if cell.text]
        if nodes and nodes[0].text == str(number):
            nodes = nodes[1:]
        lists.append(Node(Kind.LIST, "", cells[0].start, max([cell.end for cell in cells]), tuple(nodes)))
    return Document(Format.CSV, tuple(lists), start, end)


def _csv_end(text: str, start: int, end: int) -> int:
    """Where a table without a fence ends: at an empty line, or before a sentence that has no separator."""
    blank = re.compile(r"\n[ \t]*\n|\n[A-Z][^\n,;\t]*[.!](?=\n|\Z)").search(text, start, end)
    return blank.start() if blank else end


def _csv_cells(row: list[str], text: str, start: int, end: int) -> list[Cell]:
    """The cells of a row, with their places where they stand in the text as they are read."""
    cells = []
    position = start
    for cell in row:
        bare = cell.strip()
        at = text.find(bare, position, end) if bare else -1
        position = position if at < 0 else at + len(bare)
        cells.append(Cell(bare, start if at < 0 else at, end if at < 0 else position))
    return cells


# -- Markdown ---------------------------------------------------------------------------------------------------------


def is_markdown_table(text: str, start: int, end: int) -> bool:
    """Return whether a table begins at ``start``: a line between bars, or one above a rule of hyphens and bars."""
    first = text.find("\n", start, end)
    line = text[start : end if first < 0 else first]
    if _ROW.match(line) and line.count("|") > 1:
        return True
    if first < 0 or "|" not in line:
        return False
    second = text.find("\n", first + 1, end)
    below = text[first + 1 : end if second < 0 else second]
    return "|" in below and _RULE.fullmatch(below) is not None


def read_markdown_table(text: str, start: int, end: int) -> Document:
    """Return the rows of the Markdown table that begins at ``start``."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - few texts have a table

    stop = start
    lines: list[tuple[int, int]] = []
    while stop < end:
        line_end = text.find("\n", stop, end)
        line_end = end if line_end < 0 else line_end
        if "|" not in text[stop:line_end]:
            break
        if line_end - stop > _LONGEST_ROW:
            raise not_understood(f"a row with more than {_LONGEST_ROW:,} characters", stop, stop + 1)
        lines.append((stop, line_end))
        stop = min(line_end + 1, end)
    written = [(a, b) for a, b in lines if not _RULE.fullmatch(text[a:b])]
    if not written:
        raise NotThisFormat
    rules = "|".join([" "] + ["---"] * _columns(text[slice(*written[0])]) + [" "]).strip()
    body = "\n".join([text[slice(*written[0])].strip(), rules, *[text[a:b].strip() for a, b in written[1:]]])
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").enable("strikethrough")
    rows: list[list[Cell]] = []
    for token in parser.parse(body):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows and len(rows) <= len(written):
            a, b = written[len(rows) - 1]
            cell, struck = _inline(token, a, b)
            at = text.find(token.content, a, b) if token.content else -1
            rows[-1].append(Cell(cell, a if at < 0 else at, b if at < 0 else at + len(token.content), struck))
    widths = [_columns(text[a:b]) for a, b in written]
    if len(rows) != len(written) or len(set(widths)) != 1:
        raise not_understood("the rows of this table do not match its head", start, stop)
    return Document(Format.MARKDOWN_TABLE, rows_as_maps(rows, start, stop), start, stop)


def _columns(line: str) -> int:
    bare = line.strip()
    return len(_PIPE.findall(bare.removeprefix("|").removesuffix("|"))) + 1


def _inline(token: Token, start: int, end: int) -> tuple[str, bool]:
    """The text of a cell, and whether it is struck out."""
    texts: list[str] = []
    open_strikes = struck = plain = 0
    for child in token.children or ():
        tag = child.content.lower().replace(" ", "") if child.type == "html_inline" else ""
        if child.type == "s_open" or tag in ("<del>", "<s>", "<strike>"):
            open_strikes += 1
        elif child.type == "s_close" or tag in ("</del>", "</s>", "</strike>"):
            open_strikes -= 1
        elif child.type == "html_inline":
            if not tag.startswith("<br"):
                texts.append(child.content)  # `<mug>` of VirtualHome
            else:
                texts.append(" ")
        elif child.type in ("softbreak", "hardbreak"):
            texts.append(" ")
        elif child.content:
            texts.append(child.content)
            struck += open_strikes > 0
            plain += open_strikes <= 0 and bool(child.content.strip())
    if struck and plain:
        raise not_understood("part of a cell is struck out", start, end)
    return "".join(texts).strip(), struck > 0
