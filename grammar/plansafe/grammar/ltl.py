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
"""Maximum nesting of operators; parentheses are not counted."""
MAX_SIZE = 50_000
"""Maximum number of names and operators in a translation."""

_NAME = r"[A-Za-z_]\w*(?:[-.]\w+)*"
_TOKEN = re.compile(rf"\s*(?:({_NAME})|(<->|<=>|->|=>|&&?|\|\|?|/\\|\\/|!|~|\[\]|<>|[(),01]))", re.ASCII)
_EMPTY_LIST_END = re.compile(r"\s*\)")
_ARGUMENT = re.compile(r"\s*([\w?][\w.?-]*)\s*([,)])", re.ASCII)
_STANDARD_SPELLINGS = {
    "<=>": "<->",
    "=>": "->",
    "&&": "&",
    "/\\": "&",
    "||": "|",
    "\\/": "|",
    "~": "!",
    "[]": "G",
    "<>": "F",
}
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
_OPERATOR_RUN = re.compile(r"[GFXHOYZ]{2,}")
"""Several operators in one word: ``GF p`` is ``G F p``."""
_INFIX = {"<->": 1, "->": 1, "|": 2, "&": 3, "U": 4, "R": 4, "W": 4, "M": 4, "S": 4}
"""Precedences: the larger number binds tighter. ``&`` and ``|`` are flat, the others group to the right."""
_FLAT = {"&": "and", "|": "or"}
_PREFIX_PRECEDENCE = 5
_TWO_LEVELS = frozenset(("<->", "W", "M"))
"""Operators whose translations have two levels and repeat an argument."""
_MAX_NEW_WORDS = 3
"""The largest number of operators in the translation of one operator."""
_OPERATOR_WORDS = {"and": "&", "or": "|", "not": "!", "imply": "->"}
"""The words of PDDL for operators; no predicate has such a name."""
_CONSTANTS: dict[str, str] = {"true": "and", "1": "and", "false": "or", "0": "or"}


class ParsedFormula(NamedTuple):
    """A formula as an s-expression, which may share parts; or the errors of the text."""

    formula: Node | None
    diagnostics: tuple[Diagnostic, ...] = ()


class _MalformedFormula(Exception):
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
    except _MalformedFormula as error:
        label = Label(source.name, error.span)
        return ParsedFormula(None, (Diagnostic(error.code, error.message, (label,), help=error.help),))


class _Reader:
    """An operator-precedence parser: a stack of operators that lack their last operand; no recursion."""

    def __init__(self, text: str, actions: Container[str]) -> None:
        self._text = text
        self._actions = actions
        self._position = 0
        self._operands: list[_Operand] = []
        self._open_operators: list[_Token] = []
        """The operators that lack their last operand, and the open parentheses."""

    def read(self) -> Node:
        """Read the formula of the whole text. Raises :class:`_MalformedFormula`."""
        expects_operand = True
        while (token := self._read_token()) is not None:
            expects_operand = self._read_operand(token) if expects_operand else self._read_operator(token)
        if expects_operand:
            end = len(self._text.rstrip())
            is_empty = not self._operands and not self._open_operators
            message = "there is no formula here" if is_empty else "the formula ends too early"
            raise _MalformedFormula(message, Span(max(end - 1, 0), end), "for example: G !(on(hob) & X left(kitchen))")
        self._apply_operators(0)
        if self._open_operators:
            raise _MalformedFormula("this is not closed", self._open_operators[-1].span, "add `)`", SC.UNBALANCED)
        return self._operands[-1].node

    def _read_token(self) -> _Token | None:
        """Read the next token; ``None`` at the end of the text."""
        match = _TOKEN.match(self._text, self._position)
        if match is None:
            start = len(self._text) - len(self._text[self._position :].lstrip())
            if start == len(self._text):
                return None
            help = "operators: G F X WX U R W M, past H O Y Z S, ! & | -> <->; propositions: on(hob)"
            raise _MalformedFormula(f"{self._text[start]!a} is not a symbol of formulas", Span(start, start + 1), help)
        group = match.lastindex or 1
        self._position = match.end()
        text = match[group]
        if _OPERATOR_RUN.fullmatch(text):
            self._position = match.start(group) + 1
            return _Token(text[0], Span(match.start(group), self._position))
        return _Token(_STANDARD_SPELLINGS.get(text, text), Span(*match.span(group)))

    def _read_operand(self, token: _Token) -> bool:
        """Read a token where a formula must come; return whether a formula must still follow."""
        if token.text in _PREFIX or token.text == "(":
            self._open_operators.append(token)
            return True
        if token.text in _INFIX or token.text in "),":
            raise _MalformedFormula(f"a formula is expected here, not `{token.text}`", token.span)
        if token.text == "do" and (action := self._read_name()) is not None:
            self._operands.append(self._read_proposition(action, True))
        elif token.text in _CONSTANTS:
            self._operands.append(_Operand([_CONSTANTS[token.text]], 1, 1))
        else:
            self._operands.append(self._read_proposition(token))
        return False

    def _read_operator(self, token: _Token) -> bool:
        """Read a token after a formula; return whether a formula must follow."""
        if token.text == ")":
            self._apply_operators(0)
            if not self._open_operators:
                raise _MalformedFormula("this closes nothing", token.span, "leave it out", SC.UNBALANCED)
            self._open_operators.pop()
            return False
        if token.text not in _INFIX:
            help = "write a name of two words with `_` or `-`" if token.text[0].isalpha() else None
            help = _suggest_operator(token.text) or help
            raise _MalformedFormula(f"an operator or `)` is expected here, not `{token.text}`", token.span, help)
        self._apply_operators(_INFIX[token.text] + (0 if token.text in _FLAT else 1))
        self._open_operators.append(token)
        return True

    def _read_name(self) -> _Token | None:
        """Read a name; ``None`` if the next token is not a name."""
        match = _TOKEN.match(self._text, self._position)
        if match is None or match[1] is None:
            return None
        self._position = match.end()
        return _Token(match[1], Span(*match.span(1)))

    def _read_proposition(self, name: _Token, is_step: bool = False) -> _Operand:
        if (help := _suggest_operator(name.text)) is not None:
            raise _MalformedFormula(f"a formula is expected here, not `{name.text}`", name.span, help)
        node: list[Node] = [name.text.lower(), *self._read_arguments(name)]
        if is_step or node[0] in self._actions:
            node = ["action", node]
        return _Operand(node, len(node), 1)

    def _read_arguments(self, name: _Token) -> list[str]:
        """Read ``(a, b)`` after the name of a proposition; no arguments without a parenthesis."""
        arguments: list[str] = []
        if not self._text.startswith("(", self._position):
            return arguments
        start, self._position = self._position, self._position + 1
        end = _EMPTY_LIST_END.match(self._text, self._position)
        while end is None:
            match = _ARGUMENT.match(self._text, self._position)
            if match is None:
                help = f"write a proposition as a name with arguments: {name.text}(a, b)"
                raise _MalformedFormula(f"the arguments of `{name.text}` are names", Span(start, start + 1), help)
            argument, delimiter = match.groups()
            if "?" in argument:
                message = "variables are not allowed here: no quantifier binds them"
                help = "write a rule about every object of a type in a .safe file (docs/safety-rules.md)"
                raise _MalformedFormula(message, Span(*match.span(1)), help, SC.UNSUPPORTED)
            arguments.append(argument.lower())
            self._position = match.end()
            end = match if delimiter == ")" else None
        self._position = end.end()
        return arguments

    def _apply_operators(self, min_precedence: int) -> None:
        """Apply the open operators of at least a precedence, back to the last open parenthesis."""
        while self._open_operators and self._open_operators[-1].text != "(":
            operator = self._open_operators[-1]
            if _INFIX.get(operator.text, _PREFIX_PRECEDENCE) < min_precedence:
                return
            self._open_operators.pop()
            count = 2 if operator.text in _INFIX else 1
            arguments = self._operands[-count:]
            del self._operands[-count:]
            self._operands.append(_apply(operator, arguments))


def _suggest_operator(word: str) -> str | None:
    """Suggest the operator for a word of PDDL; ``None`` for any other word."""
    operator = _OPERATOR_WORDS.get(word.lower())
    return None if operator is None else f"write `{operator}`"


def _apply(operator: _Token, arguments: list[_Operand]) -> _Operand:
    """Apply an operator to its arguments. Raises :class:`_MalformedFormula` if the result is too large or deep."""
    first, last = arguments[0], arguments[-1]
    is_flattened = operator.text in _FLAT and first.node[0] == _FLAT[operator.text]
    levels = 2 if operator.text in _TWO_LEVELS else 1
    size = levels * sum([argument.size for argument in arguments]) + _MAX_NEW_WORDS
    depth = max(first.depth + (0 if is_flattened else levels), last.depth + levels)
    if size > MAX_SIZE or depth > MAX_DEPTH:
        excess_text = f"nests deeper than {MAX_DEPTH}" if depth > MAX_DEPTH else f"has more than {MAX_SIZE:,} names"
        help = "split it into several formulas: each becomes a rule"
        raise _MalformedFormula(f"the formula {excess_text}", operator.span, help, SC.UNSUPPORTED)
    if is_flattened and isinstance(first.node, list):
        first.node.append(last.node)  # no other formula shares the list
        return _Operand(first.node, size, depth)
    return _Operand(_translate(operator.text, [argument.node for argument in arguments]), size, depth)


def _translate(operator: str, arguments: list[Node]) -> Node:
    """Return the formula of an operator with its arguments, in the language of specifications."""
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
