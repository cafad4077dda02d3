"""Missing and superfluous parentheses, by the elements that each place allows.

A section begins directly inside the definition and a field directly inside its action; a fact holds no lists; ``not``
takes one operand, ``when``, ``imply`` and quantifiers two. Where the text says otherwise, a parenthesis was lost or is
too many shortly before. A right text is left as it is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.sexpr import Node, parse_number
from plansafe.llm.scenarios.validation.corrections.view import FOREIGN, View
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, TextEdit
from plansafe.llm.scenarios.validation.survey import ACTION_FIELDS, OPERATORS
from plansafe.verifier.elaborate.problem import PROBLEM_SECTIONS
from plansafe.verifier.elaborate.sections import DOMAIN_SECTIONS, REPEATABLE_SECTIONS, UNSUPPORTED_SECTIONS
from plansafe.verifier.elaborate.symbols import ARITHMETIC

_TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|;[^\r\n]*|[^\s();"]+|"', re.DOTALL)
SECTIONS = DOMAIN_SECTIONS | REPEATABLE_SECTIONS | PROBLEM_SECTIONS | frozenset(UNSUPPORTED_SECTIONS)
_WORDS = frozenset([section[1:] for section in SECTIONS])
_ACTIONS = frozenset((":action", ":durative-action"))
_MOST = {"not": 1, "when": 2, "imply": 2, "forall": 2, "exists": 2, "=": 2, "increase": 2, "decrease": 2, "assign": 2}
_LISTS_ONLY = frozenset((":init", ":goal", ":predicates", "and", "or", "not", "when", "imply"))
_HEADERS = frozenset(("domain", "problem"))
RULE = "parenthesis"


class _Token(NamedTuple):
    text: str
    start: int
    end: int


class _Frame:
    """An open list: its first word, the number of lists in it, and where it was opened."""

    def __init__(self, head: str, start: int) -> None:
        self.head = head
        self.start = start
        self.lists = 0
        self.words = 0
        self.closed_at: int | None = None


def balance(view: View) -> list[Edit]:
    """Add and remove parentheses, where their number is wrong or a section or field is not where it belongs.

    What does not lead to a text that is nested as it should be is done only if it leads to one that can be read.
    """
    out: list[Edit] = []
    for _, draft in view.editable:
        if _nested_wrongly(draft):
            edits = _Balancer(draft).edits()
            after = draft.edited([change for edit in edits for change in edit.changes])
            if not _nested_wrongly(after) or (draft.top is None and after.top is not None):
                out += edits
    return out


def _nested_wrongly(draft: Draft) -> bool:
    top = draft.top
    if top is None or (len(top) > 1 and draft.form):
        return True
    for number, node in enumerate(draft.form):
        section = isinstance(node, list) and node and isinstance(node[0], str)
        if number > 1 and not (section and (node[0][0] == ":" or node[0] in _WORDS)):
            return True
    stack: list[tuple[Node, int]] = [(draft.form, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, list) and node:
            if depth > 1 and isinstance(node[0], str) and node[0] in SECTIONS:
                return True
            if node[0] not in tuple(_ACTIONS) and any(
                [isinstance(part, str) and part in ACTION_FIELDS for part in node]
            ):
                return True
            stack += [(part, depth + 1) for part in node]
    return False


class _Balancer:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        matches = [_Token(m.group().lower(), *m.span()) for m in _TOKEN.finditer(draft.text)]
        self.tokens = [token for token in matches if token.text[0] != ";"]
        self.stack: list[_Frame] = []
        self.last: _Frame | None = None  # the section or action that was closed last
        self.end = 0  # of the token before
        self.out: list[Edit] = []

    def edits(self) -> list[Edit]:
        tokens = self.tokens
        if not tokens or tokens[0].text != "(" or len(tokens) < 2 or tokens[1].text != "define":
            return []
        for number, token in enumerate(tokens):
            after = tokens[number + 1].text if number + 1 < len(tokens) else ""
            if token.text == "(":
                self._open(token, after)
            elif token.text == ")":
                self._close(token)
            else:
                self._word(token, tokens[number - 1].text if number else "")
            self.end = token.end
        if self.stack:
            self._insert(self.end, ")" * len(self.stack), "the text ends with open parentheses")
        return self.out

    # -- tokens -------------------------------------------------------------------------------------------------------

    def _open(self, token: _Token, head: str) -> None:
        section = head in SECTIONS
        if section:
            if not self.stack and self.last is not None:
                self._reopen(f"`({head}` is a section of the definition, which this would end before it")
            while len(self.stack) > 1:
                self._shut(f"a new section begins: `({head}`")
        else:
            inside = len(self.stack) == 1 and self.stack[0].lists > 0
            plain = head not in _HEADERS and head.lstrip(":") not in _WORDS and not head.startswith(":")
            if inside and plain and self.last is not None and self.last.closed_at is not None:
                self._reopen(f"`({head} ..` belongs to the section before it, which this would end")
            while self.stack and self._full(token):
                self._shut(f"`({self.stack[-1].head} ..` is complete here")
        if self.stack:
            self.stack[-1].lists += 1
        self.stack.append(_Frame(head if head not in ("(", ")") else "", token.start))

    def _full(self, token: _Token) -> bool:
        """Whether the innermost open list cannot take one more list."""
        frame = self.stack[-1]
        head = frame.head
        head = FOREIGN.get(head, head)
        if head in _MOST:
            return frame.lists >= _MOST[head]
        declared = head in OPERATORS or head in ARITHMETIC or head in _WORDS or head in ("define", "either")
        if not head or head[0] == ":" or declared:
            return False
        if head in ("at", "over"):
            return frame.lists > 0
        before = self.draft.text[: token.start].rstrip()
        return not before.endswith("-") and parse_number(head) is None

    def _close(self, token: _Token) -> None:
        if not self.stack:
            self._delete(token.start, "nothing is open here")
            return
        frame = self.stack.pop()
        frame.closed_at = token.start
        if len(self.stack) == 1 and frame.head[:1] == ":":
            self.last = frame
        elif not self.stack:
            frame.closed_at = token.start
            self.ended = frame

    def _word(self, token: _Token, before: str) -> None:
        text = token.text
        if before == "(":
            return
        if text in ACTION_FIELDS:
            self._field(token)
        elif self.stack:
            if len(self.stack) == 1 and text in SECTIONS:
                self._missing_open(token, f"`{text}` begins a section")
                return
            frame = self.stack[-1]
            value = before in ACTION_FIELDS and frame.head in _ACTIONS and before != ":parameters"
            lonely = frame.head in _LISTS_ONLY or (value and text in OPERATORS)
            if lonely and not text.startswith((":", "?")) and text != "-":
                if self.stack[-1].lists >= _MOST.get(frame.head, 1_000_000):
                    return
                self._missing_open(token, f"`{text}` is not in parentheses")
            else:
                frame.words += 1

    def _field(self, token: _Token) -> None:
        around = [number for number, frame in enumerate(self.stack) if frame.head in _ACTIONS]
        if around:
            while len(self.stack) - 1 > around[-1]:
                self._shut(f"`{token.text}` is a field of the action")
        elif len(self.stack) == 1 and self.last is not None and self.last.head in _ACTIONS:
            self._reopen(f"`{token.text}` is a field of the action, which this would end before it")

    # -- changes ------------------------------------------------------------------------------------------------------

    def _insert(self, at: int, text: str, reason: str) -> None:
        if self.out and self.out[-1].changes[0].span == Span(at, at):  # of several at one place, make one
            joined = self.out[-1].changes[0].text + text
            self.out[-1] = Edit(RULE, self.out[-1].reason, (TextEdit(self.draft.name, Span(at, at), joined),))
            return
        self.out.append(Edit(RULE, f"`{text}` is missing: {reason}", (TextEdit(self.draft.name, Span(at, at), text),)))

    def _delete(self, at: int, reason: str) -> None:
        self.out.append(Edit(RULE, f"superfluous `)`: {reason}", (TextEdit(self.draft.name, Span(at, at + 1), ""),)))

    def _shut(self, reason: str) -> None:
        self._insert(self.end, ")", reason)
        frame = self.stack.pop()
        if len(self.stack) == 1 and frame.head[:1] == ":":
            frame.closed_at = None
            self.last = frame

    def _missing_open(self, token: _Token, reason: str) -> None:
        self._insert(token.start, "(", reason)
        self.stack[-1].lists += 1
        self.stack.append(_Frame(token.text, token.start))

    def _reopen(self, reason: str) -> None:
        """Take back the parenthesis that closed the definition, or the last section."""
        if not self.stack:
            self._delete(self.ended.closed_at or 0, reason)
            self.stack.append(self.ended)
            return
        assert self.last is not None
        if self.last.closed_at is None:
            return
        self._delete(self.last.closed_at, reason)
        self.last.closed_at = None
        self.stack.append(self.last)

    ended: _Frame
