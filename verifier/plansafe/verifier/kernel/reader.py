"""Text to nested tuples of lower-case tokens, without recursion (docs/language.md, section 1)."""

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from re import Pattern
from typing import Any

Sexp = Any
"""A token (``str``), or a tuple of ``Sexp``."""
Sections = dict[str, list[tuple[Sexp, ...]]]
"""The bodies of the sections of a definition, by the section's name."""

MAX_BITS = 65_536
"""Maximum size of the numerator and of the denominator of a number, and maximum number of digits in a text."""
MAX_DEPTH = 150  # deeper nesting is not audited: the functions that read the tuples recurse
DIGITS_PER_CHUNK = 4000  # Python refuses to convert many more

NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?|\.[0-9]+")
NAME = re.compile(r"[a-z_\x80-\U0010ffff][^?]*")
OBJECT = re.compile(r"[a-z0-9_\x80-\U0010ffff][^?]*")
VARIABLE = re.compile(r"\?[a-z0-9_\x80-\U0010ffff][^?]*")
TOKEN = re.compile(r'(?:\s++|;[^\r\n]*+)*+([()]|"(?:[^"\\]|\\["\\])*"|[^\s();"]+|\Z)')
"""Blanks and comments, then a token, empty at the end of the text."""
NOT_UTF8 = re.compile("[\ud800-\udfff]")  # a byte read with "surrogateescape"; allowed in comments alone


class KernelRejects(ValueError):
    """The text is not in the language, or uses a feature that the kernel does not support."""


class KernelLimit(KernelRejects):
    """Nested too deeply, numbers too long, or more work than was allowed: no verdict."""


def require(condition: object, message: str, error: type[KernelRejects] = KernelRejects) -> None:
    """Raise unless the condition holds."""
    if not condition:
        raise error(message)


def read_expressions(text: str, strings: bool = False) -> tuple[Sexp, ...]:
    """Read every expression of the text. Strings, if allowed, are kept with their quotes.

    The last token may be one closing parenthesis too many.
    """
    stack: list[list[Sexp]] = [[]]
    deepest = 0
    surplus = False
    for token in _iterate_tokens(text):
        if surplus:
            raise KernelRejects("a closing parenthesis too many")
        if token == "(":
            deepest = max(deepest, len(stack))
            stack.append([])
        elif token == ")" and len(stack) == 1:
            surplus = True
        elif token == ")":
            expression = tuple(stack.pop())
            stack[-1].append(expression)
        elif token[0] != '"':
            stack[-1].append(token.lower())
        elif strings:
            stack[-1].append(token)
        else:
            raise KernelRejects("a string")
    require(len(stack) == 1, "a closing parenthesis is missing")
    require(not surplus or deepest > 0, "a closing parenthesis too many")
    require(deepest < MAX_DEPTH, "nested too deeply", KernelLimit)
    return tuple(stack[0])


def _iterate_tokens(text: str) -> Iterable[str]:
    """Yield the tokens of a text, without blanks and comments."""
    place = int(text.startswith("\ufeff"))
    while token_match := TOKEN.match(text, place):
        token = token_match[1]
        if not token:
            return
        if NOT_UTF8.search(token):
            raise KernelRejects("an undecodable byte")
        yield token
        place = token_match.end()
    raise KernelRejects("a string that does not end")


def read_definition(expressions: tuple[Sexp, ...], kind: str, single_keys: str, repeatable_keys: str) -> Sections:
    """Read the sections of ``(define (kind name) (section ..) ..)``.

    ``single_keys`` and ``repeatable_keys`` name the sections that may occur once, and several times.
    """
    match expressions:
        case (("define", (str(defined_kind), str()), *sections),) if defined_kind == kind:
            bodies: Sections = {}
            for section in sections:
                key = section[0] if isinstance(section, tuple) and section else ""
                may_occur = key in repeatable_keys.split() or (key in single_keys.split() and key not in bodies)
                require(may_occur, "a section unknown or repeated")
                bodies.setdefault(key, []).append(section[1:])
            return bodies
    raise KernelRejects(f"not one (define ({kind} ..) ..)")


def read_keywords(body: tuple[Sexp, ...], allowed: str) -> dict[str, Sexp]:
    """Read ``:key value`` pairs, each key once."""
    keys = body[::2]
    require(len(body) % 2 == 0 and all(key in allowed.split() for key in keys), "an unknown keyword, or no value")
    require(len({*keys}) == len(keys), "a keyword repeated")
    return dict(zip(keys, body[1::2], strict=True))


def read_typed_list(items: Sexp, pattern: Pattern[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Read the names of a typed list, each with the alternatives of its type (default: ``object``)."""
    require(isinstance(items, tuple), "not a list")
    typed = list[tuple[str, tuple[str, ...]]]()
    untyped = list[str]()
    tokens = split_glued_hyphens(items)
    for token in tokens:
        if token == "-" and untyped:
            types = list_type_alternatives(next(tokens, ()))
            require(types and all(isinstance(type_name, str) for type_name in types), "not a type")
            typed += [(name, types) for name in untyped]
            untyped = []
        else:
            require(isinstance(token, str) and pattern.fullmatch(token), "not a typed list")
            untyped.append(token)
    return typed + [(name, ("object",)) for name in untyped]


def split_glued_hyphens(items: Sexp) -> Iterator[Sexp]:
    """Yield a typed list in which ``-t`` after a name or variable is ``- t``."""
    follows_name = False
    for item in items:
        if follows_name and isinstance(item, str) and item[0] == "-" and NAME.fullmatch(item[1:]):
            yield from ("-", item[1:])
            follows_name = False
        else:
            yield item
            is_name = isinstance(item, str) and bool(OBJECT.fullmatch(item) or VARIABLE.fullmatch(item))
            follows_name = item != "-" and is_name


def list_type_alternatives(declared_type: Sexp) -> tuple[Sexp, ...]:
    """Return the members of ``(either ..)``, or the type itself."""
    if isinstance(declared_type, tuple) and declared_type[:1] == ("either",):
        return declared_type[1:]
    return (declared_type,)


def parse_number(token: Sexp) -> Fraction:
    """Return the exact value of a number. Raises ``KernelRejects``."""
    require(isinstance(token, str) and NUMBER.fullmatch(token), "not a number")
    integer, _, decimals = token.lstrip("+-").partition(".")
    digits, value = integer + decimals, 0
    require(len(digits) <= MAX_BITS, "a number too long", KernelLimit)
    for start in range(0, len(digits), DIGITS_PER_CHUNK):
        chunk = digits[start : start + DIGITS_PER_CHUNK]
        value = value * 10 ** len(chunk) + int(chunk)
    number = Fraction(-value if token[0] == "-" else value, 10 ** len(decimals))
    check_length(number)
    return number


def check_length(value: Any) -> Any:
    """Return the value, if it is not a fraction that is too long. Raises ``KernelLimit``."""
    if not isinstance(value, Fraction):
        return value
    is_short = max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_BITS
    require(is_short, "a number too long", KernelLimit)
    return value
