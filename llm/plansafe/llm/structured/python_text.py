"""Python literals and straight-line Python as values, by ``ast``. Nothing is evaluated."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.names import Refused, short
from plansafe.llm.structured.tree import (
    DEPTH,
    Document,
    Format,
    Kind,
    LinePlaces,
    Node,
    NotThisFormat,
    Unreadable,
    breaks_off,
    malformed,
    not_understood,
    too_deep,
)

PLAN_VARIABLES = frozenset(("plan", "steps", "actions", "action_sequence", "sequence", "final_plan", "solution"))
_HYPHENATED = re.compile(r"[\w.-]+")
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_DEEPEST = 1_000
_LONGEST_EXPRESSION = 2_000
"""Characters of an expression within a value; the parser's stack grows with it."""
_COMPOUND = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match, ast.AsyncFor, ast.AsyncWith, ast.Assert)
_BRANCHES = (ast.IfExp, ast.BoolOp, ast.Compare, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Lambda)


def read_literal(text: str, start: int, end: int) -> tuple[Node, tuple[Span, ...]]:
    """Return the list, tuple or dictionary that begins at ``start``, and the places of its comments.

    Raises :class:`NotThisFormat` if it is none, :class:`Unreadable` if it breaks off or nests too deeply.
    """
    stop, comments = _literal_end(text, start, end)
    tree = _parsed(text[start:stop], "eval")
    assert isinstance(tree, ast.Expression)
    node = _Values(text, start, stop).value(tree.body)
    if node.kind not in (Kind.LIST, Kind.MAP):
        raise NotThisFormat
    return node, comments


def _parsed(code: str, mode: str) -> ast.AST:
    limit = sys.getrecursionlimit()
    try:
        # The parser counts its depth against this limit, which may stand beyond what its stack holds.
        sys.setrecursionlimit(min(_DEEPEST, limit))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code, mode=mode)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise NotThisFormat from None
    finally:
        sys.setrecursionlimit(limit)


def _tokens(text: str, start: int, end: int) -> list[tuple[tokenize.TokenInfo, int, int]]:
    """The tokens of a range that is Python, and their places."""
    places = LinePlaces(text, start, end)
    try:
        tokens = []
        for token in tokenize.generate_tokens(io.StringIO(text[start:end]).readline):
            _check_token(token, start)
            tokens.append(token)
    except (tokenize.TokenError, SyntaxError):
        raise NotThisFormat from None
    return [(token, places.offset(*token.start), places.offset(*token.end)) for token in tokens]


def _check_token(token: tokenize.TokenInfo, start: int) -> None:
    """Stop at an invalid token: the tokenizer would look for the end of a text again from each character."""
    if token.type == tokenize.ERRORTOKEN:
        if token.string[:1] in ("'", '"'):
            raise breaks_off("a text in quotes", start)
        raise NotThisFormat


def _literal_end(text: str, start: int, end: int) -> tuple[int, tuple[Span, ...]]:
    """Where the bracket that opens at ``start`` is closed, and the comments before that place."""
    places = LinePlaces(text, start, end)
    stack: list[str] = []
    comments: list[Span] = []
    before = 0
    length = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text[start:end]).readline):
            if token.type == tokenize.COMMENT:
                comments.append(Span(places.offset(*token.start), places.offset(*token.end)))
            if token.type in (tokenize.COMMENT, tokenize.NL):
                continue
            _check_token(token, start)
            if token.type == tokenize.STRING == before:
                raise malformed(places.offset(*token.start))  # two texts without a comma between them
            before = token.type
            length = 0 if token.string == "," else length + len(token.string)
            if length > _LONGEST_EXPRESSION and token.type != tokenize.STRING:
                raise NotThisFormat
            if token.string in _OPEN:
                length = 0
                stack.append(token.string)
                if len(stack) > DEPTH:
                    raise too_deep(places.offset(*token.start))
            elif token.string in _CLOSE:
                if not stack or stack.pop() + token.string not in ("()", "[]", "{}"):
                    raise NotThisFormat
                if not stack:
                    return places.offset(*token.end), tuple(comments)
    except SyntaxError:
        raise NotThisFormat from None
    except tokenize.TokenError:
        raise breaks_off("a list or an object", start) from None
    raise breaks_off("a list or an object", start)


class _Values:
    """Expressions of a range of a text as values."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.places = LinePlaces(text, start, end, in_bytes=True)
        self.variables: dict[str, Node] = {}

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """The place of an expression or a statement."""
        last, column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return Span(self.places.offset(node.lineno, node.col_offset), self.places.offset(last, column))

    def value(self, node: ast.expr, depth: int = 0) -> Node:
        """Return the value of an expression; a variable that was assigned is replaced."""
        start, end = self.span(node)
        if depth > DEPTH:
            raise too_deep(start)
        written = self.text[start:end]
        match node:
            case ast.Constant(value=str() as content):
                return Node(Kind.TEXT, content, start, end)
            case ast.Constant(value=bytes()):
                raise NotThisFormat
            case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
                return Node(Kind.WORD, written, start, end)
            case ast.Name(id="NaN" | "Infinity" | "inf" | "nan"):
                raise not_understood(f"`{written}` is not a number", start, end)
            case ast.Name(id=name):
                variable = self.variables.get(name)
                return (
                    Node(Kind.WORD, name, start, end) if variable is None else variable._replace(start=start, end=end)
                )
            case ast.Attribute() if _HYPHENATED.fullmatch(written):
                return Node(Kind.WORD, written, start, end)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                items = tuple([self.value(element, depth + 1) for element in elements])
                return Node(Kind.LIST, "", start, end, items)
            case ast.Dict(keys=keys, values=values):
                names = [self._key(key) for key in keys]
                items = tuple([self.value(element, depth + 1) for element in values])
                return Node(Kind.MAP, "", start, end, items, tuple(names))
            case ast.Call():
                return self.call(node, depth)
            case ast.BinOp(op=ast.Sub()):
                return self._hyphenated(node, depth)
            case ast.JoinedStr():
                raise not_understood("a formatted text is not understood", start, end, "write the text itself")
            case branch if isinstance(branch, _BRANCHES):
                message = f"`{short(written)}` is more than a plain value"
                raise Unreadable(
                    Refused(SC.MORE_THAN_A_SEQUENCE, message, "write a plain sequence of steps"), start, end
                )
            case _:
                raise NotThisFormat

    def _key(self, key: ast.expr | None) -> str:
        match key:
            case ast.Constant(value=str() as content):
                return content
            case ast.Constant(value=int() as number):
                return str(number)
            case ast.Name(id=name):
                return name
            case _:
                raise NotThisFormat

    def call(self, node: ast.Call, depth: int = 0, prefix: str = "") -> Node:
        """Return a call; ``prefix`` is the part before a hyphen in its name."""
        start, end = self.span(node)
        begin, stop = self.span(node.func)
        name = self.text[begin:stop]
        if not _HYPHENATED.fullmatch(name):
            raise NotThisFormat
        items, labels = [], []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise not_understood("`*` before arguments is not understood", start, end)
            items.append(self.value(argument, depth + 1))
            labels.append("")
        for keyword in node.keywords:
            if keyword.arg is None and isinstance(keyword.value, ast.Dict):
                for label, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                    if not isinstance(label, ast.Constant) or not isinstance(label.value, str) or not label.value:
                        raise not_understood("`**` before arguments is not understood", start, end)
                    items.append(self.value(value, depth + 1))
                    labels.append(label.value)
                continue
            if keyword.arg is None:
                raise not_understood("`**` before arguments is not understood", start, end)
            items.append(self.value(keyword.value, depth + 1))
            labels.append(keyword.arg)
        return Node(Kind.CALL, prefix + name, start - len(prefix), end, tuple(items), tuple(labels))

    def _hyphenated(self, node: ast.BinOp, depth: int) -> Node:
        """``put-on(a, b)`` or ``box-1``: a name with hyphens, which Python reads as a difference."""
        start, end = self.span(node)
        if _HYPHENATED.fullmatch(self.text[start:end]):
            return Node(Kind.WORD, self.text[start:end], start, end)
        prefix = self.text[start : self.span(node.right).start]
        if isinstance(node.right, ast.Call) and _HYPHENATED.fullmatch(prefix):
            return self.call(node.right, depth, prefix)
        raise NotThisFormat


# -- programs ---------------------------------------------------------------------------------------------------------


def read_program(text: str, start: int, end: int) -> Document:
    """Return the steps of a straight-line program.

    Raises :class:`NotThisFormat` if it is not Python, :class:`Unreadable` if it branches, loops, or does what a list of
    steps cannot say.
    """
    tokens = _tokens(text, start, end)
    _check_depth(tokens)
    tree = _parsed(text[start:end], "exec")
    assert isinstance(tree, ast.Module)
    program = _Program(text, start, end)
    program.block(tree.body)
    comments = [Span(a, b) for token, a, b in tokens if token.type == tokenize.COMMENT]
    return Document(Format.PYTHON, program.plan(), start, end, tuple(sorted([*comments, *program.asides])))


def _check_depth(tokens: list[tuple[tokenize.TokenInfo, int, int]]) -> None:
    """Refuse brackets that nest too deeply, and expressions that are too long."""
    depth = length = 0
    for token, start, _ in tokens:
        if token.string in _OPEN or token.type == tokenize.NEWLINE or token.string == ",":
            length = 0
        elif token.type not in (tokenize.STRING, tokenize.COMMENT):
            length += len(token.string)
        depth += (token.string in _OPEN) - (token.string in _CLOSE)
        if depth > DEPTH:
            raise too_deep(start)
        if length > _LONGEST_EXPRESSION:
            raise NotThisFormat


class _Program:
    """The steps of a program, in the order in which they are taken."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.values = _Values(text, start, end)
        self.asides: list[Span] = []
        self._steps: list[Node] = []
        self._lists: dict[str, list[Node]] = {}  # variables that hold a list of steps
        self._returned: Node | None = None
        self._opaque: set[str] = set()  # variables that hold the result of a step
        self._makers: set[str] = set()  # variables that hold what takes the steps: `robot = Robot()`
        self._function: ast.FunctionDef | None = None
        self._called = self._ended = False

    def plan(self) -> tuple[Node, ...]:
        """Return the steps. Raises :class:`NotThisFormat` where there are none."""
        if self._function is not None and not self._called:
            if self._steps or self._lists:
                raise self._refused(self._function, "a function that is not called stands next to steps")
            self._enter(self._function)
        lists = [steps for steps in self._lists.values() if steps]
        if self._returned is not None:
            lists.append([self._returned])
        if len(lists) + bool(self._steps) != 1:
            if not lists and not self._steps:
                raise NotThisFormat
            first = (self._steps or lists[0])[0]
            raise not_understood("steps stand in two places of this program", first.start, first.end)
        return tuple(self._steps or lists[0])

    def block(self, statements: list[ast.stmt]) -> None:
        """Take the statements of a block."""
        for statement in statements:
            if self._ended:
                raise self._refused(statement, "what follows `return` is never done")
            self._statement(statement)

    def _refused(self, node: ast.stmt | ast.expr, message: str, code: str = SC.NOT_UNDERSTOOD) -> Unreadable:
        start, end = self.values.span(node)
        end = min(end, self.values.places.line_end(node.lineno))
        return Unreadable(Refused(code, message, "write a plain sequence of steps"), start, end)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Expr(value=value):
                self._expression(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assign(statement, name, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._assign(statement, name, value)
            case ast.FunctionDef():
                self._define(statement)
            case ast.Return(value=value):
                self._return(value)
            case ast.If(test=test, body=body, orelse=[]) if ast.unparse(test) == "__name__ == '__main__'":
                self.block(body)
            case ast.Pass() | ast.Import() | ast.ImportFrom():
                pass
            case compound if isinstance(compound, _COMPOUND):
                written = self.text[slice(*self.values.span(statement))].partition("\n")[0]
                message = f"a plan has no conditions and loops: `{short(written)}`"
                raise self._refused(statement, message, SC.MORE_THAN_A_SEQUENCE)
            case _:
                raise self._refused(statement, "this statement is not understood")

    def _expression(self, value: ast.expr) -> None:
        match value:
            case ast.Constant(value=str()):
                self.asides.append(self.values.span(value))
            case ast.Constant(value=constant_or_branch) if constant_or_branch is ...:
                raise self._refused(value, "part of the plan was left out of the text", SC.TEXT_CUT_OFF)
            case ast.Call(func=ast.Name(id="print")):
                self.asides += [self.values.span(argument) for argument in value.args]
            case ast.Call(func=ast.Name(id=name)) if self._function is not None and name == self._function.name:
                if self._called or value.args or value.keywords:
                    raise self._refused(value, f"this call of `{name}` is not understood")
                self._called = True
                self._enter(self._function)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if name in self._lists:
                self._grow(value, name, method)
            case ast.Call() | ast.BinOp():
                self._step(value)
            case ast.List() | ast.Tuple() | ast.Dict():
                self._steps.append(self._value(value))
            case constant_or_branch if isinstance(constant_or_branch, _BRANCHES):
                self._value(constant_or_branch)
            case _:
                raise NotThisFormat

    def _value(self, node: ast.expr) -> Node:
        receivers = [
            inner.func.value
            for inner in ast.walk(node)
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute)
        ]
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and name.id in self._makers and name in receivers:
                continue
            if isinstance(name, ast.Name) and name.id in {*self._opaque, *self._makers, *self._lists}:
                raise self._refused(node, f"the variable `{short(name.id)}` is not understood here")
        return self.values.value(node)

    def _step(self, value: ast.expr) -> None:
        step = self._value(value)
        if step.kind is not Kind.CALL:
            raise NotThisFormat
        self._steps.append(step)

    def _grow(self, call: ast.Call, name: str, method: str) -> None:
        """``plan.append(step)`` and ``plan.extend([..])``."""
        if method not in ("append", "extend") or len(call.args) != 1 or call.keywords:
            raise self._refused(call, f"`{short(name)}.{short(method)}` is not understood")
        value = self._value(call.args[0])
        if method == "append":
            self._lists[name].append(value)
        elif value.kind is Kind.LIST:
            self._lists[name] += value.items
        else:
            raise self._refused(call, f"`{short(name)}.extend` without a list is not understood")

    def _assign(self, statement: ast.stmt, name: str, value: ast.expr) -> None:
        if name in {*self.values.variables, *self._lists, *self._opaque, *self._makers}:
            raise self._refused(statement, f"the variable `{short(name)}` is assigned twice")
        match value:
            case ast.List() | ast.Tuple() | ast.Dict() if name.lower() in PLAN_VARIABLES:
                node = self._value(value)
                self._lists[name] = list(node.items) if node.kind is Kind.LIST else [node]
            case ast.Constant(value=str() | int()):
                if name.lower() in PLAN_VARIABLES:
                    raise NotThisFormat
                self.values.variables[name] = self.values.value(value)
            case ast.Call(func=ast.Name(id=maker)) if maker[:1].isupper() and name.islower():
                self._value(value)
                self._makers.add(name)
            case ast.Call():
                self._step(value)
                self._opaque.add(name)
            case _:
                self._value(value)
                raise self._refused(statement, f"what is assigned to `{short(name)}` is not understood")

    def _define(self, function: ast.FunctionDef) -> None:
        if function.decorator_list:
            raise self._refused(function, "a function with decorators is not understood")
        if all([_is_empty(statement) for statement in function.body]):
            return
        if self._function is not None:
            raise self._refused(function, "two functions with steps are not understood")
        arguments = function.args
        if arguments.defaults or arguments.kw_defaults or arguments.vararg or arguments.kwarg:
            raise self._refused(function, "a function with default or further arguments is not understood")
        self._function = function

    def _enter(self, function: ast.FunctionDef) -> None:
        self.block(function.body)
        self._ended = False

    def _return(self, value: ast.expr | None) -> None:
        self._ended = True
        match value:
            case ast.Name(id=name) if name in self._lists:
                pass
            case ast.List() | ast.Tuple() | ast.Dict():
                self._returned = self._value(value)
            case None | ast.Constant(value=None | bool()):
                pass
            case returned:
                raise self._refused(returned, "the returned value is not understood")


def _is_empty(statement: ast.stmt) -> bool:
    """Whether a statement of a function takes no step: the function only declares an action."""
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
        case _:
            return False
