"""Infix LTL, as in ``G !(on(hob) & X left(kitchen))``, translated to the language of specifications.

Precedences and alternative spellings follow Spot. A word of capital letters before a formula is an operator:
``G F X WX`` of the future, ``H O Y Z`` of the past, and between two formulas ``U R W M`` and ``S``. The meaning is that
of docs/language.md, on traces that end: ``X f`` is false at the last letter, ``WX f`` is true there.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node, format_node, parse_source
from plansafe.grammar.source import Source

MAX_DEPTH = 500
"""How deep operators may nest; parentheses are not counted."""
MAX_SIZE = 50_000
"""How many names and operators a translation may have; ``<->``, ``W`` and ``M`` repeat an argument."""

_NAME = r"[A-Za-z_]\w*(?:[-.]\w+)*"
_TOKEN = re.compile(rf"\s*(?:({_NAME})|(<->|<=>|->|=>|&&?|\|\|?|/\\|\\/|!|~|\[\]|<>|[(),01]))", re.ASCII)
_ARGUMENT = re.compile(r"\s*([\w?][\w.?-]*)\s*([,)])", re.ASCII)
_SPELLINGS = {"<=>": "<->", "=>": "->", "&&": "&", "/\\": "&", "||": "|", "\\/": "|", "~": "!", "[]": "G", "<>": "F"}
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
"""Precedences: the larger number binds tighter. ``&`` and ``|`` are flat, the others group to the right."""
_FLAT = {"&": "and", "|": "or"}
_TIGHTEST = 5
_CONSTANTS: dict[str, str] = {"true": "and", "1": "and", "false": "or", "0": "or"}


class ParsedFormula(NamedTuple):
    """A formula as an s-expression, which may share parts; or the errors of the text."""

    formula: Node | None
    diagnostics: tuple[Diagnostic, ...] = ()


class _Malformed(Exception):
    def __init__(self, message: str, span: Span, help: str | None = None, code: str = SC.STRUCTURE) -> None:
        super().__init__(message)
        self.message, self.span, self.help, self.code = message, span, help, code


class _Token(NamedTuple):
    text: str
    span: Span


class _Operand(NamedTuple):
    """A formula that was read, with its size and depth as an s-expression."""

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
    """An operator-precedence parser: a stack of operators that lack their last operand; no recursion."""

    def __init__(self, text: str, actions: Container[str]) -> None:
        self._text = text
        self._actions = actions
        self._at = 0
        self._operands: list[_Operand] = []
        self._open_operators: list[_Token] = []  # and "("

    def read(self) -> Node:
        """Read the formula of the whole text. Raises :class:`_Malformed`."""
        expects_operand = True
        while (token := self._next_token()) is not None:
            expects_operand = self._read_operand(token) if expects_operand else self._read_operator(token)
        if expects_operand:
            end = len(self._text.rstrip())
            is_empty = not self._operands and not self._open_operators
            message = "there is no formula here" if is_empty else "the formula ends too early"
            raise _Malformed(message, Span(max(end - 1, 0), end), "for example: G !(on(hob) & X left(kitchen))")
        self._reduce(0)
        if self._open_operators:
            raise _Malformed("this is not closed", self._open_operators[-1].span, "add `)`", SC.UNBALANCED)
        return self._operands[-1].node

    def _next_token(self) -> _Token | None:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            start = len(self._text) - len(self._text[self._at :].lstrip())
            if start == len(self._text):
                return None
            help = "operators: G F X WX U R W M, past H O Y Z S, ! & | -> <->; propositions: on(hob)"
            raise _Malformed(f"{self._text[start]!a} is not a symbol of formulas", Span(start, start + 1), help)
        group = match.lastindex or 1
        self._at = match.end()
        text = match[group]
        if _LETTERS.fullmatch(text):
            self._at = match.start(group) + 1
            return _Token(text[0], Span(match.start(group), self._at))
        return _Token(_SPELLINGS.get(text, text), Span(*match.span(group)))

    def _read_operand(self, token: _Token) -> bool:
        """Read a token where a formula must come; return whether a formula must still follow."""
        if token.text in _PREFIX or token.text == "(":
            self._open_operators.append(token)
            return True
        if token.text in _INFIX or token.text in "),":
            raise _Malformed(f"a formula is expected here, not `{token.text}`", token.span)
        if token.text == "do" and (action := self._next_name()) is not None:
            self._operands.append(self._read_proposition(action, True))
        elif token.text in _CONSTANTS:
            self._operands.append(_Operand([_CONSTANTS[token.text]], 1, 1))
        else:
            self._operands.append(self._read_proposition(token))
        return False

    def _read_operator(self, token: _Token) -> bool:
        """Read a token after a formula; return whether a formula must follow."""
        if token.text == ")":
            self._reduce(0)
            if not self._open_operators:
                raise _Malformed("this closes nothing", token.span, "leave it out", SC.UNBALANCED)
            self._open_operators.pop()
            return False
        if token.text not in _INFIX:
            help = "write a name of two words with `_` or `-`" if token.text[0].isalpha() else None
            raise _Malformed(f"an operator or `)` is expected here, not `{token.text}`", token.span, help)
        self._reduce(_INFIX[token.text] + (token.text not in _FLAT))
        self._open_operators.append(token)
        return True

    def _next_name(self) -> _Token | None:
        match = _TOKEN.match(self._text, self._at)
        if match is None or match[1] is None:
            return None
        self._at = match.end()
        return _Token(match[1], Span(*match.span(1)))

    def _read_proposition(self, name: _Token, is_step: bool = False) -> _Operand:
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
        if is_step or node[0] in self._actions:
            node = ["action", node]
        return _Operand(node, len(node), 1)

    def _reduce(self, level: int) -> None:
        """Apply operators of at least precedence ``level``, up to the last parenthesis."""
        while self._open_operators and self._open_operators[-1].text != "(":
            operator = self._open_operators[-1]
            if _INFIX.get(operator.text, _TIGHTEST) < level:
                return
            self._open_operators.pop()
            count = 2 if operator.text in _INFIX else 1
            arguments = self._operands[-count:]
            del self._operands[-count:]
            copies = {"<->": 2, "W": 2, "M": 2}.get(operator.text, 1)
            size = copies * sum([argument.size for argument in arguments]) + 3
            flat_operator = _FLAT.get(operator.text, "")
            extends_first = bool(flat_operator) and arguments[0].node[0] == flat_operator
            depth = max(arguments[0].depth + (not extends_first) * copies, arguments[-1].depth + copies)
            if size > MAX_SIZE or depth > MAX_DEPTH:
                excess_text = (
                    f"nests deeper than {MAX_DEPTH}" if depth > MAX_DEPTH else f"has more than {MAX_SIZE:,} names"
                )
                help = "split it into several formulas: each becomes a rule"
                raise _Malformed(f"the formula {excess_text}", operator.span, help, SC.UNSUPPORTED)
            nodes = [argument.node for argument in arguments]
            if extends_first and isinstance(nodes[0], list):  # no other formula shares the list
                nodes[0].append(nodes[1])
                node: Node = nodes[0]
            else:
                node = _apply(operator.text, nodes)
            self._operands.append(_Operand(node, size, depth))


def _apply(operator: str, arguments: list[Node]) -> Node:
    """Apply an operator to its arguments, in the language of specifications."""
    if operator in _PREFIX:
        return [_PREFIX[operator], *arguments]
    first, second = arguments
    match operator:
        case "<->":
            return ["and", ["imply", first, second], ["imply", second, first]]
        case "W":
            return ["release", second, ["or", first, second]]
        case "M":
            return ["until", second, ["and", first, second]]
    words = {"&": "and", "|": "or", "->": "imply", "U": "until", "R": "release", "S": "since"}
    return [words[operator], first, second]


LTL_NAME = "<ltl>"
"""The name of the specification in diagnostics, in place of a path."""


def make_ltl_specification(formulas: Sequence[str], domain: Source) -> Source:
    """Return the formulas as a specification of trajectory rules.

    A name is an action if the domain has an action and no predicate of that name.

    Raises ``ValueError`` if a text is not a formula; the caller has checked them.
    """
    actions = list_action_names(domain)
    rules = []
    for number, text in enumerate(formulas, 1):
        formula = parse_ltl(Source(LTL_NAME, text), actions).formula
        if formula is None:
            raise ValueError(text)
        message = f"not so: {' '.join(text.split())}"
        rules.append(f'  (:trajectory ltl-{number}\n    :formula {format_node(formula)}\n    :message "{message}")')
    return Source(LTL_NAME, "\n".join(["(define (safety ltl)", *rules]) + ")\n")


def list_action_names(domain: Source) -> frozenset[str]:
    """Return the names of actions that are not also names of predicates."""
    actions, predicates = set(), set()
    for form in parse_source(domain).nodes or []:
        for section in form if isinstance(form, list) else []:
            match section:
                case [":action" | ":durative-action", str(name), *_]:
                    actions.add(name)
                case [":derived", [str(name), *_], *_]:
                    predicates.add(name)
                case [":predicates", *declared]:
                    predicates.update([p[0] for p in declared if isinstance(p, list) and p and isinstance(p[0], str)])
    return frozenset(actions - predicates)
