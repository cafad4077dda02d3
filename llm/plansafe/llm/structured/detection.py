"""Where structured answers begin in a text, and in which format (docs/plan-text.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from plansafe.grammar.diagnostics import Span
from plansafe.llm.structured.html_text import HTML_TEXT, read_html
from plansafe.llm.structured.html_text import OPENING as HTML_OPENING
from plansafe.llm.structured.json_text import read_json
from plansafe.llm.structured.keys import ACTION_KEYS, NUMBER_KEYS, PLAN_KEYS, bare_key
from plansafe.llm.structured.latex_text import OPENING as LATEX_OPENING
from plansafe.llm.structured.latex_text import read_latex
from plansafe.llm.structured.python_text import read_literal, read_program
from plansafe.llm.structured.tables import is_csv_head, is_markdown_table, read_csv, read_markdown_table
from plansafe.llm.structured.transcripts import begins_with_failure, mentions_failure, opens_transcript, read_transcript
from plansafe.llm.structured.tree import (
    Document,
    Format,
    Kind,
    Mark,
    Node,
    NotThisFormat,
    breaks_off,
    malformed,
    not_understood,
)
from plansafe.llm.structured.xml_text import OPENING as XML_OPENING
from plansafe.llm.structured.xml_text import read_xml
from plansafe.llm.structured.yaml_text import read_yaml

_DATA = re.compile(r"[ \t]*(?:\[TOOL_CALLS\][ \t]*)?(?:\"?'?[A-Za-z_][\w -]{0,40}\"?'?[ \t]*[:=][ \t]*)?(?=[\[{])")
_LOOKS_LIKE_DATA = re.compile(r"\{\s*(?:[\"'}]|$)|\[\s*(?:[\"'{\[(\]]|$|[A-Za-z_][^\[\]\n]{0,200}[\](])")
_SQUARE_STEP = re.compile(r"\[[ \t]*[A-Za-z][\w -]{0,60}\]")
_SLASHES = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|(//[^\n]*)')
_TOOL_CALL = re.compile(r"[ \t]*<tool_call>\s*")
_END_OF_CALL = re.compile(r"\s*</tool_call>")
_TOOL_RESULT = re.compile(r"\s*<tool_response>\s*(\S.{0,4000}?)\s*</tool_response>", re.DOTALL)
_SUCCEEDED = re.compile(
    r"ok(?:ay)?\.?\Z|success\.?\Z|done\.?\Z|\{\s*\"(?:success|ok)\"\s*:\s*true\s*\}\Z", re.IGNORECASE
)
_NEXT_CALL = re.compile(r"^[ \t]*<tool_call>", re.MULTILINE)
_OTHER_HTML = frozenset(("dl", "form", "select", "details"))
_ANOTHER = re.compile(r"\b(?:or|alternative(?:ly)?|instead|option|undo|scratch|start(?:ing)? over)\b", re.IGNORECASE)
_BLANK = re.compile(r"\s*")
_YAML_COMMENTED = re.compile(r"[ \t]*#[ \t]*-[ \t]")
_YAML_PLAIN = re.compile(r"[ \t]*(?:-[ \t]+[^\s:#&*!|>'\"%@`][^:\n]*|#[^\n]*)?\Z")
_YAML_ITEM = re.compile(
    r"[ \t]*-[ ]+[\"']?([A-Za-z_][\w ]{0,30})[\"']?[ \t]*:[^\n]*\n[ \t]+[\"']?[A-Za-z_][\w ]{0,30}[\"']?[ \t]*:"
)
_YAML_KEY = re.compile(r"[\"']?([A-Za-z_][\w ]{0,30})[\"']?[ \t]*:[ \t]*\n")
_YAML_LINE = re.compile(r"[ \t]*$|[ \t]|-|#|[\"']?[A-Za-z_][\w ]{0,30}[\"']?[ \t]*:")
_DEF = re.compile(r"(?:async )?def \w{1,60}\([^\n]{0,200}\)[^\n]{0,60}:[ \t]*(?:#[^\n]*)?\n")
_PYTHON_LINE = re.compile(
    r"[ \t]*$|[ \t]|#|@|[\w.]{1,60}\(|[\w.]{1,60} = |(?:async )?def |if __name__|(?:from|import) "
)
_CODE = frozenset(("python", "py", "python3"))
_MOST_ATTEMPTS = 8


class Detector:
    """Finds the documents of one block of a text."""

    def __init__(self, text: str, start: int, end: int, fenced: bool, info: str) -> None:
        self.start, self.end, self.fenced = start, end, fenced
        self.info = info.split()[0] if info.split() else ""
        self._size = len(text)
        self._tried = start  # data that is none is not tried again before this offset
        self._attempts = 0

    def document_at(self, text: str, position: int) -> Document | None:
        """Return the document that begins with the line at ``position``, if one does.

        Raises :class:`Unreadable` for one that cannot be read.
        """
        line_end = text.find("\n", position, self.end)
        line_end = self.end if line_end < 0 else line_end
        line = text[position:line_end]
        if not line.strip():
            return None
        if self.fenced and position == self._first(text):
            document = self._by_info(text)
            if document is not None:
                return document
        if _DATA.match(line):
            return self._data(text, position, line_end)
        for opens, read in self._readers(text, position, line):
            if opens:
                try:
                    return read()
                except NotThisFormat:
                    continue
        return None

    def _first(self, text: str) -> int:
        """Where the first line of the block begins that is not empty."""
        position = self.start
        while position < self.end:
            stop = text.find("\n", position, self.end)
            stop = self.end if stop < 0 else stop
            if text[position:stop].strip():
                return position
            position = stop + 1
        return -1

    def _by_info(self, text: str) -> Document | None:
        """The whole of a fenced block that names its format."""
        start, end = self.start, self.end
        begin = start + len(text[start:end]) - len(text[start:end].lstrip())
        try:
            match self.info:
                case "yaml" | "yml":
                    return read_yaml(text, start, end)
                case "csv" | "tsv":
                    return read_csv(text, start, end, fenced=True)
                case info if info in _CODE:
                    return read_program(text, start, end)
                case _ if _DEF.match(text, begin, end):
                    return read_program(text, start, end)
                case "html" if not HTML_OPENING.match(text, begin, end):
                    raise not_understood("this block of HTML is not a list or a table", begin, begin + 1)
                case "xml" if not XML_OPENING.match(text, begin, end):
                    raise not_understood("this block is not XML", begin, begin + 1)
                case _:
                    return None
        except NotThisFormat:
            return None

    def _readers(self, text: str, position: int, line: str) -> list[tuple[bool, Callable[[], Document]]]:
        """The formats in which a document may begin here, in order."""
        start = position + len(line) - len(line.lstrip())
        opened = line.lstrip()[:1]
        tagged = opened == "<"
        return [
            (tagged and bool(_TOOL_CALL.match(text, position, self.end)), lambda: self._tool_calls(text, position)),
            (tagged and bool(HTML_OPENING.match(text, start, self.end)), lambda: read_html(text, start, self.end)),
            (tagged and self._may_be_xml(text, start), lambda: read_xml(text, start, self.end)),
            (
                "|" in line and is_markdown_table(text, position, self.end),
                lambda: read_markdown_table(text, position, self.end),
            ),
            (bool(LATEX_OPENING.match(text, start, self.end)), lambda: read_latex(text, start, self.end)),
            (self._may_be_transcript(line), lambda: read_transcript(text, position, self.end)),
            (self._may_be_yaml(text, position), lambda: self._yaml(text, position)),
            (self._may_be_csv(text, position, line), lambda: read_csv(text, position, self.end, fenced=self.fenced)),
            (self._may_be_program(text, position), lambda: self._program(text, position)),
        ]

    def _attempt(self) -> bool:
        """Whether one more format may be tried that reads to the end of the block."""
        self._attempts += 1
        return self._attempts <= _MOST_ATTEMPTS

    # -- JSON and Python values ---------------------------------------------------------------------------------------

    def _data(self, text: str, position: int, line_end: int) -> Document | None:
        """A JSON or Python value that begins this line (or after a name and ``=`` or ``:``) and ends one."""
        match = _DATA.match(text, position, line_end)
        assert match is not None
        start = match.end()
        if position < self._tried or _SQUARE_STEP.match(text, start, self.end):
            return None
        if not _LOOKS_LIKE_DATA.match(text, start, self.end):
            return None
        node, comments = self._value(text, start)
        after = self._line_end(text, node.end)
        nodes, end = [node], node.end
        if _may_be_followed(node):
            nodes, end, more = self._lines(text, node)
            comments = (*comments, *more)
            after = self._line_end(text, end)
        if text[end:after].strip(" \t,;."):
            self._tried = end
            return None
        lead = text[match.start() : start].strip(" \t:=\"'")
        return Document(Format.JSON, tuple(nodes), start, end, comments, lead)

    def _value(self, text: str, start: int) -> tuple[Node, tuple[Span, ...]]:
        """The value at a bracket, as JSON, as JSON with comments, or as Python."""
        try:
            return read_json(text, start, self.end), ()
        except NotThisFormat:
            pass
        body = text[start : self.end]
        if "//" in body:
            comments: list[Span] = []
            bare = _SLASHES.sub(lambda match: _blank(match, start, comments), body)
            try:
                node = read_json(text[:start] + bare, start, self.end)
                return node, tuple([span for span in comments if span.start < node.end])
            except NotThisFormat:
                pass
        try:
            return read_literal(text, start, self.end)
        except NotThisFormat:
            raise malformed(start) from None

    def _lines(self, text: str, first: Node) -> tuple[list[Node], int, tuple[Span, ...]]:
        """JSON lines: the values that follow a value, each after a line break or a comma."""
        nodes, end = [first], first.end
        comments: list[Span] = []
        while True:
            position = end
            while position < self.end and text[position] in " \t\n,":
                position += 1
            if position >= self.end or text[position] not in "{[" or position == end:
                return nodes, end, tuple(comments)
            if not _LOOKS_LIKE_DATA.match(text, position, self.end) or _SQUARE_STEP.match(text, position, self.end):
                return nodes, end, tuple(comments)
            node, more = self._value(text, position)
            if not _may_be_followed(node):
                return nodes, end, tuple(comments)
            nodes.append(node)
            comments += more
            end = node.end

    def _line_end(self, text: str, position: int) -> int:
        index = text.find("\n", position, self.end)
        return self.end if index < 0 else index

    # -- other formats ------------------------------------------------------------------------------------------------

    def _tool_calls(self, text: str, position: int) -> Document:
        """``<tool_call>{"name": .., "arguments": {..}}</tool_call>``, one after the other."""
        nodes: list[Node] = []
        asides: list[Span] = []
        turn = 0  # the first call that has no result yet
        start, end = position, position
        while match := _TOOL_CALL.match(text, end, self.end):
            try:
                nodes.append(read_json(text, match.end(), self.end))
            except NotThisFormat:
                if text.find("</tool_call>", match.end(), self.end) < 0:
                    raise breaks_off("a tool call", match.start()) from None
                raise not_understood("this tool call is not JSON", match.end(), match.end() + 1) from None
            closing = _END_OF_CALL.match(text, nodes[-1].end, self.end)
            if closing is None:
                raise not_understood("this tool call is not closed", match.start(), match.end())
            end = closing.end()
            results = list(self._tool_results(text, end))
            if results:
                self._take_results(nodes, turn, results, asides)
                turn, end = len(nodes), results[-1].end()
            blank = _BLANK.match(text, end, self.end)
            if blank is not None and _TOOL_CALL.match(text, blank.end(), self.end):
                end = blank.end()
            elif results and (following := _NEXT_CALL.search(text, end, self.end)):
                if word := _ANOTHER.search(text, end, following.start()):
                    raise not_understood("calls of another plan may follow", *word.span(), "give the final plan alone")
                asides.append(Span(end, following.start()))  # words between two turns
                end = following.start()
        return Document(Format.TOOL_CALLS, tuple(nodes), start, end, tuple(asides))

    def _tool_results(self, text: str, position: int) -> Iterator[re.Match[str]]:
        """The blocks of results that follow."""
        while match := _TOOL_RESULT.match(text, position, self.end):
            yield match
            position = match.end()

    def _take_results(self, nodes: list[Node], turn: int, results: list[re.Match[str]], asides: list[Span]) -> None:
        """Mark the calls of a turn that failed. One result can belong to all calls, if it is not a failure."""
        failed = [begins_with_failure(result[1]) for result in results]
        if any(failed) and len(results) != len(nodes) - turn:
            message = "which of these calls failed cannot be told"
            raise not_understood(message, results[0].start(), results[0].end())
        for result, has_failed, number in zip(results, failed, range(turn, turn + len(results)), strict=True):
            if has_failed:
                nodes[number] = nodes[number]._replace(mark=Mark.FAILED)
            if not has_failed and mentions_failure(result[1]):
                raise not_understood("whether this call failed is not understood", *result.span(1))
            if not _SUCCEEDED.match(result[1]):
                asides.append(Span(*result.span(1)))

    def _may_be_xml(self, text: str, start: int) -> bool:
        match = XML_OPENING.match(text, start, self.end)
        if match is None:
            return False
        tag = match[1]
        if tag is not None and tag.lower() in HTML_TEXT:
            return False
        if tag is not None and tag.lower() in _OTHER_HTML:
            raise not_understood(f"the element `{tag}` of HTML is not read", start, start + 1)
        closed = tag is None or text.find(f"</{tag}>", match.end(), self.end) >= 0
        empty = tag is not None and text.find("/>", match.end(), self._line_end(text, start)) >= 0
        return (closed or empty) and self._attempt()

    def _may_be_transcript(self, line: str) -> bool:
        return opens_transcript(line) and self._attempt()

    def _may_be_yaml(self, text: str, position: int) -> bool:
        """A list of maps that name actions, or a key such as ``plan:`` above one."""
        key = _YAML_KEY.match(text, position, self.end)
        if key is not None and bare_key(key[1]) in PLAN_KEYS and self._is_commented_list(text, key.end()):
            return self._attempt()
        start = key.end() if key is not None and bare_key(key[1]) in PLAN_KEYS else position
        item = _YAML_ITEM.match(text, start, self.end)
        return item is not None and bare_key(item[1]) in ACTION_KEYS | NUMBER_KEYS and self._attempt()

    def _is_commented_list(self, text: str, start: int) -> bool:
        """Whether a list of texts follows, some of them commented out."""
        lines = text[start : self._while(text, start, _YAML_LINE)].split("\n")
        return any([_YAML_COMMENTED.match(line) for line in lines]) and all([_YAML_PLAIN.match(line) for line in lines])

    def _yaml(self, text: str, position: int) -> Document:
        return read_yaml(text, position, self.end if self.fenced else self._while(text, position, _YAML_LINE))

    def _may_be_csv(self, text: str, position: int, line: str) -> bool:
        if not any([mark in line for mark in ",;\t"]) or len(line) > 400 or not is_csv_head(line):
            return False
        stop = self._line_end(text, position)
        below = text[stop + 1 : self._line_end(text, stop + 1)] if stop < self.end else ""
        same = any([0 < line.count(mark) == below.count(mark) for mark in ",;\t"]) or '"' in below
        return same and self._attempt()

    def _may_be_program(self, text: str, position: int) -> bool:
        return bool(_DEF.match(text, position, self.end)) and self._attempt()

    def _program(self, text: str, position: int) -> Document:
        return read_program(text, position, self.end if self.fenced else self._while(text, position, _PYTHON_LINE))

    def _while(self, text: str, position: int, line: re.Pattern[str]) -> int:
        """Where the lines end that match a pattern."""
        end = position
        while position < self.end:
            stop = self._line_end(text, position)
            if not line.match(text, position, stop):
                break
            end = stop if text[position:stop].strip() else end
            position = stop + 1
        return end


def _may_be_followed(node: Node) -> bool:
    """Whether a value may be one of several, each a step."""
    if node.kind is Kind.LIST:
        return node.is_flat and bool(node.items)
    names = {bare_key(name) for name in node.keys}
    return bool(names & ACTION_KEYS) or bool(names & NUMBER_KEYS)


def _blank(match: re.Match[str], start: int, comments: list[Span]) -> str:
    """A comment as spaces; a text as it is."""
    if match[1] is None:
        return match.group()
    comments.append(Span(start + match.start(1), start + match.end(1)))
    return " " * len(match.group())
