"""Infix LTL, as in ``G !(on(hob) & X left(kitchen))``, translated to the language of specifications.

Operators bind as in Spot, and its other spellings are known. A word of capital letters before a formula is an operator:
``G F X WX`` of the future, ``H O Y Z`` of the past, and between two formulas ``U R W M`` and ``S``. The meaning is that
of docs/language.md, on traces that end: ``X f`` is false at the last letter, ``WX f`` is true there.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.sexpr import Node, format_node, parse_source
from plansafe.grammar.source import Source

DEEPEST = 500
"""How deep operators may nest; parentheses alone are not counted."""
LARGEST = 50_000
"""How large a translation may be, in names and operators: ``<->``, ``W`` and ``M`` write an argument twice."""

_NAME = r"[A-Za-z_]\w*(?:[-.]\w+)*"
_TOKEN = re.compile(rf"\s*(?:({_NAME})|(<->|<=>|->|=>|&&?|\|\|?|/\\|\\/|!|~|\[\]|<>|[(),01]))", re.ASCII)
_ARGUMENT = re.compile(r"\s*([\w?][\w.?-]*)\s*([,)])", re.ASCII)
_SPELT = {"<=>": "<->", "=>": "->", "&&": "&", "/\\": "&", "||": "|", "\\/": "|", "~": "!", "[]": "G", "<>": "F"}
_PREFIX = {
    "!": "not",
    "G": "always",
    "F": "sometime",
    "X": "next",
    "WX": "weak-next",
    "H": "historically",
    "O": "once",
    "Y": "yesterday",
    "Z": "weak-yesterday",
}
_LETTERS = re.compile(r"[GFXHOYZ]{2,}")  # `GF p` is `G F p`
_INFIX = {"<->": 1, "->": 1, "|": 2, "&": 3, "U": 4, "R": 4, "W": 4, "M": 4, "S": 4}
"""What binds tighter has the larger number; ``&`` and ``|`` are flat, the others group to the right."""
_FLAT = {"&": "and", "|": "or"}
_TIGHTEST = 5
_CONSTANTS: dict[str, str] = {"true": "and", "1": "and", "false": "or", "0": "or"}


class ParsedFormula(NamedTuple):
    """A formula as an s-expression, parts of which may be shared; or what is wrong with the text."""

    formula: Node | None
    diagnostics: tuple[Diagnostic, ...] = ()


class _Malformed(Exception):
    def __init__(self, message: str, span: Span, help: str | None = None, code: str = SC.STRUCTURE) -> None:
        super().__init__(message)
        self.message, self.span, self.help, self.code = message, span, help, code


class _Token(NamedTuple):
    text: str
    span: Span


class _Part(NamedTuple):
    """A formula that was read, with its size and depth when written out."""

    node: Node
    size: int
    depth: int


def parse_ltl(source: Source, actions: Container[str] = ()) -> ParsedFormula:
    """Read one formula; ``do NAME(..)``, or a name of ``actions``, is a step about to be taken. Linear in the text."""
    try:
        return ParsedFormula(_Reader(source.text, actions).read())
    except _Malformed as wrong:
        label = Label(source.name, wrong.span)
        return ParsedFormula(None, (Diagnostic(wrong.code, wrong.message, (label,), help=wrong.help),))


class _Reader:
    """Reads operators with a stack of those that wait for their last argument; nothing recurses."""

    def __init__(self, text: str, actions: Container[str]) -> None:
        self._text = text
        self._actions = actions
        self._at = 0
        self._parts: list[_Part] = []
        self._waiting: list[_Token] = []  # operators, and "("

    def read(self) -> Node:
        """The formula of the whole text. Raises :class:`_Malformed`."""
        operand = True
        while (token := self._next()) is not None:
            operand = self._operand(token) if operand else self._behind(token)
        if operand:
            end = len(self._text.rstrip())
            what = "there is no formula here" if not self._parts and not self._waiting else "the formula ends too early"
            raise _Malformed(what, Span(max(end - 1, 0), end), "for example: G !(on(hob) & X left(kitchen))")
        self._reduce(0)
        if self._waiting:
            raise _Malformed("this is not closed", self._waiting[-1].span, "add `)`", SC.UNBALANCED)
        return self._parts[-1].node

    def _next(self) -> _Token | None:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            start = len(self._text) - len(self._text[self._at :].lstrip())
            if start == len(self._text):
                return None
            help = "operators: G F X WX U R W M, past H O Y Z S, ! & | -> <->; propositions: on(hob)"
            raise _Malformed(f"{self._text[start]!a} is not a symbol of formulas", Span(start, start + 1), help)
        group = match.lastindex or 1
        self._at = match.end()
        found = match[group]
        if _LETTERS.fullmatch(found):
            self._at = match.start(group) + 1
            return _Token(found[0], Span(match.start(group), self._at))
        return _Token(_SPELT.get(found, found), Span(*match.span(group)))

    def _operand(self, token: _Token) -> bool:
        """Take a token where a formula is to come; whether one is still to come."""
        if token.text in _PREFIX or token.text == "(":
            self._waiting.append(token)
            return True
        if token.text in _INFIX or token.text in "),":
            raise _Malformed(f"a formula is expected here, not `{token.text}`", token.span)
        if token.text == "do" and (action := self._next_name()) is not None:
            self._parts.append(self._proposition(action, True))
        elif token.text in _CONSTANTS:
            self._parts.append(_Part([_CONSTANTS[token.text]], 1, 1))
        else:
            self._parts.append(self._proposition(token))
        return False

    def _behind(self, token: _Token) -> bool:
        """Take a token behind a formula; whether a formula is to come now."""
        if token.text == ")":
            self._reduce(0)
            if not self._waiting:
                raise _Malformed("this closes nothing", token.span, "leave it out", SC.UNBALANCED)
            self._waiting.pop()
            return False
        if token.text not in _INFIX:
            help = "write a name of two words with `_` or `-`" if token.text[0].isalpha() else None
            raise _Malformed(f"an operator or `)` is expected here, not `{token.text}`", token.span, help)
        self._reduce(_INFIX[token.text] + (token.text not in _FLAT))
        self._waiting.append(token)
        return True

    def _next_name(self) -> _Token | None:
        match = _TOKEN.match(self._text, self._at)
        if match is None or match[1] is None:
            return None
        self._at = match.end()
        return _Token(match[1], Span(*match.span(1)))

    def _proposition(self, name: _Token, taken: bool = False) -> _Part:
        node: list[Node] = [name.text.lower()]
        if self._text.startswith("(", self._at):
            start, self._at = self._at, self._at + 1
            closed = re.compile(r"\s*\)").match(self._text, self._at)
            while closed is None:
                match = _ARGUMENT.match(self._text, self._at)
                if match is None:
                    help = f"write a proposition as a name with arguments: {name.text}(a, b)"
                    raise _Malformed(f"the arguments of `{name.text}` are names", Span(start, start + 1), help)
                if "?" in match[1]:
                    help = "write a rule about every object of a type in a .safe file (docs/safety-rules.md)"
                    raise _Malformed(
                        "variables are not allowed here: no quantifier binds them",
                        Span(*match.span(1)),
                        help,
                        SC.UNSUPPORTED,
                    )
                node.append(match[1].lower())
                self._at = match.end()
                closed = match if match[2] == ")" else None
            self._at = closed.end()
        if taken or node[0] in self._actions:
            node = ["action", node]
        return _Part(node, len(node), 1)

    def _reduce(self, level: int) -> None:
        """Close operators that bind at least as tightly as ``level``, up to the last parenthesis."""
        while self._waiting and self._waiting[-1].text != "(":
            operator = self._waiting[-1]
            if _INFIX.get(operator.text, _TIGHTEST) < level:
                return
            self._waiting.pop()
            count = 2 if operator.text in _INFIX else 1
            arguments = self._parts[-count:]
            del self._parts[-count:]
            copies = {"<->": 2, "W": 2, "M": 2}.get(operator.text, 1)
            size = copies * sum([part.size for part in arguments]) + 3
            flat = _FLAT.get(operator.text, "")
            grows = bool(flat) and arguments[0].node[0] == flat
            depth = max(arguments[0].depth + (not grows) * copies, arguments[-1].depth + copies)
            if size > LARGEST or depth > DEEPEST:
                what = f"nests deeper than {DEEPEST}" if depth > DEEPEST else f"has more than {LARGEST:,} names"
                help = "split it into several formulas: each becomes a rule"
                raise _Malformed(f"the formula {what}", operator.span, help, SC.UNSUPPORTED)
            nodes = [part.node for part in arguments]
            if grows and isinstance(nodes[0], list):  # nothing else holds it: a formula has one place
                nodes[0].append(nodes[1])
                node: Node = nodes[0]
            else:
                node = _written(operator.text, nodes)
            self._parts.append(_Part(node, size, depth))


def _written(operator: str, arguments: list[Node]) -> Node:
    """An operator in the language of specifications."""
    if operator in _PREFIX:
        return [_PREFIX[operator], *arguments]
    f, g = arguments
    match operator:
        case "<->":
            return ["and", ["imply", f, g], ["imply", g, f]]
        case "W":
            return ["release", g, ["or", f, g]]
        case "M":
            return ["until", g, ["and", f, g]]
    words = {"&": "and", "|": "or", "->": "imply", "U": "until", "R": "release", "S": "since"}
    return [words[operator], f, g]


LTL_NAME = "<ltl>"
"""What the specification is called where a file would have its path."""


def ltl_specification(formulas: Sequence[str], domain: Source) -> Source:
    """The formulas as trajectory rules. A name is an action where the domain has an action and no predicate of it.

    They have been read before: raises ``ValueError`` for what is no formula.
    """
    actions = action_names(domain)
    rules = []
    for number, text in enumerate(formulas, 1):
        formula = parse_ltl(Source(LTL_NAME, text), actions).formula
        if formula is None:
            raise ValueError(text)
        message = f"not so: {' '.join(text.split())}"
        rules.append(f'  (:trajectory ltl-{number}\n    :formula {format_node(formula)}\n    :message "{message}")')
    return Source(LTL_NAME, "\n".join(["(define (safety ltl)", *rules]) + ")\n")


def action_names(domain: Source) -> frozenset[str]:
    """The names that a domain has for actions alone."""
    actions, others = set(), set()
    for form in parse_source(domain).nodes or []:
        for section in form if isinstance(form, list) else []:
            match section:
                case [":action" | ":durative-action", str(name), *_]:
                    actions.add(name)
                case [":derived", [str(name), *_], *_]:
                    others.add(name)
                case [":predicates", *predicates]:
                    others.update([p[0] for p in predicates if isinstance(p, list) and p and isinstance(p[0], str)])
    return frozenset(actions - others)
