"""Text to nested tuples of lower-case tokens, without recursion (docs/language.md, section 1)."""

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from re import Pattern
from typing import Any

Sexp = Any
"""A token (``str``), or a tuple of ``Sexp``."""

BITS = 65_536
DEPTH = 150  # deeper nesting is not judged: what follows recurses
DIGITS = 4000  # Python refuses to convert many more at once

NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?|\.[0-9]+")
NAME = re.compile(r"[a-z_\x80-\U0010ffff][^?]*")
OBJECT = re.compile(r"[a-z0-9_\x80-\U0010ffff][^?]*")
VARIABLE = re.compile(r"\?[a-z0-9_\x80-\U0010ffff][^?]*")
TOKEN = re.compile(r'\s+|;[^\r\n]*|([()]|"(?:[^"\\]|\\["\\])*"|[^\s();"]+)')
BYTE = re.compile("[\ud800-\udfff]")  # one that is not UTF-8, read with "surrogateescape"; allowed in comments alone


class KernelRejects(ValueError):
    """The text is not in the language, or uses what the kernel does not support."""


class KernelLimit(KernelRejects):
    """Nested too deeply, numbers too long, or more work than was allowed: no verdict."""


def need(condition: object, message: str, error: type[KernelRejects] = KernelRejects) -> None:
    """Raise unless the condition holds."""
    if not condition:
        raise error(message)


def read_expressions(text: str, strings: bool = False) -> tuple[Sexp, ...]:
    """Every expression of the text. Strings are kept with their quotes, where they are allowed.

    The last token may be a closing parenthesis too many.
    """
    stack: list[list[Sexp]] = [[]]
    deepest = 0
    surplus = False
    for token in _tokens(text):
        need(not surplus, "a closing parenthesis too many")
        if token == "(":
            stack.append([])
            deepest = max(deepest, len(stack) - 1)
        elif token == ")" and len(stack) == 1:
            surplus = True
        elif token == ")":
            inner = tuple(stack.pop())
            stack[-1].append(inner)
        else:
            need(strings or token[0] != '"', "a string")
            stack[-1].append(token if token[0] == '"' else token.lower())
    need(len(stack) == 1, "a closing parenthesis is missing")
    need(not surplus or deepest > 0, "a closing parenthesis too many")
    need(deepest < DEPTH, "nested too deeply", KernelLimit)
    return tuple(stack[0])


def _tokens(text: str) -> Iterable[str]:
    place = int(text.startswith("\ufeff"))
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None:
            raise KernelRejects("a string that does not end")
        place = found.end()
        token = found[1]
        if token:
            need(not BYTE.search(token), "an undecodable byte")
            yield token


def definition(items: tuple[Sexp, ...], kind: str, once: str, many: str) -> dict[str, list[tuple[Sexp, ...]]]:
    """The bodies of the sections of ``(define (kind name) (section ..) ..)``, by the section's name.

    ``once`` names the sections that may occur once, ``many`` those that may be repeated.
    """
    match items:
        case (("define", (str(found), str()), *sections),) if found == kind:
            result = dict[str, list[tuple[Sexp, ...]]]()
            for section in sections:
                key = section[0] if isinstance(section, tuple) and section else ""
                new = key in once.split() and key not in result
                need(key in many.split() or new, "a section unknown or repeated")
                result.setdefault(key, []).append(section[1:])
            return result
    raise KernelRejects(f"not one (define ({kind} ..) ..)")


def keywords(items: tuple[Sexp, ...], allowed: str) -> dict[str, Sexp]:
    """The ``:key value`` pairs, each key once."""
    keys = items[::2]
    need(len(items) % 2 == 0 and all(k in allowed.split() for k in keys), "an unknown keyword, or no value")
    need(len({*keys}) == len(keys), "a keyword repeated")
    return dict(zip(keys, items[1::2], strict=True))


def typed_list(items: Sexp, pattern: Pattern[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The names of a typed list, each with the alternatives of its type (``object`` where none is given)."""
    need(isinstance(items, tuple), "not a list")
    result = list[tuple[str, tuple[str, ...]]]()
    pending = list[str]()
    rest = unglued(items)
    for item in rest:
        if item == "-" and pending:
            types = _alternatives(next(rest, ()))
            result += [(name, types) for name in pending]
            pending = []
        else:
            need(isinstance(item, str) and pattern.fullmatch(item), "not a typed list")
            pending.append(item)
    return result + [(name, ("object",)) for name in pending]


def unglued(items: Sexp) -> Iterator[Sexp]:
    """A typed list in which ``-t`` behind a name or variable is ``- t``."""
    before = False
    for item in items:
        if before and isinstance(item, str) and item[0] == "-" and NAME.fullmatch(item[1:]):
            yield from ("-", item[1:])
            before = False
        else:
            yield item
            before = item != "-" and (
                isinstance(item, str) and bool(OBJECT.fullmatch(item) or VARIABLE.fullmatch(item))
            )


def _alternatives(kind: Sexp) -> tuple[str, ...]:
    types = kind[1:] if isinstance(kind, tuple) and kind[:1] == ("either",) else (kind,)
    need(types and all(isinstance(t, str) for t in types), "not a type")
    return types


def number(token: Sexp) -> Fraction:
    """The exact value of a number."""
    need(isinstance(token, str) and NUMBER.fullmatch(token), "not a number")
    whole, _, part = token.lstrip("+-").partition(".")
    digits, value = whole + part, 0
    need(len(digits) <= BITS, "a number too long", KernelLimit)
    for i in range(0, len(digits), DIGITS):
        chunk = digits[i : i + DIGITS]
        value = value * 10 ** len(chunk) + int(chunk)
    return bounded(Fraction(-value if token[0] == "-" else value, 10 ** len(part)))


def bounded(value: Fraction) -> Fraction:
    """The value, if it is not too long. Raises ``KernelLimit``."""
    need(max(value.numerator.bit_length(), value.denominator.bit_length()) <= BITS, "a number too long", KernelLimit)
    return value
