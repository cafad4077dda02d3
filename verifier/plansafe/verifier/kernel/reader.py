"""Text to nested tuples of lower-case tokens, without recursion (docs/language.md, section 1)."""

# fmt: off
# ruff: noqa: D103, E701, E702, RUF021
import re
from fractions import Fraction
from typing import Any

Sexp = Any  # a token (str), or a tuple of Sexp
BITS, DEPTH = 65_536, 150  # deeper nesting is not judged: what follows recurses
NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?|\.[0-9]+")
NAME = re.compile(r"[a-z_\x80-\U0010ffff][^?]*")
OBJECT = re.compile(r"[a-z0-9_\x80-\U0010ffff][^?]*")
VARIABLE = re.compile(r"\?[a-z0-9_\x80-\U0010ffff][^?]*")
TOKEN = re.compile(r'\s+|;[^\r\n]*|([()]|"(?:[^"\\]|\\["\\])*"|[^\s();"]+)')
BYTE = re.compile("[\ud800-\udfff]")  # one that is not UTF-8, read with "surrogateescape"; allowed in comments alone

class KernelRejects(ValueError):
    """The text is not in the language, or uses what the kernel does not support."""
class KernelLimit(KernelRejects):
    """Nested too deeply, or numbers too long, to be judged here: no verdict."""

def need(condition: object, message: str, error: type[KernelRejects] = KernelRejects) -> None:
    if not condition: raise error(message)

def read(text: str, strings: bool = False) -> tuple[Sexp, ...]:  # every expression of the text
    stack, place, deepest = list[list[Sexp]]([[]]), int(text.startswith("\ufeff")), 0
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None: raise KernelRejects("a string that does not end")
        place, token, deepest = found.end(), found[1], max(deepest, len(stack))
        if token == "(": stack.append([])
        elif token == ")":
            need(len(stack) > 1, "a closing parenthesis too many")
            inner = tuple(stack.pop()); stack[-1].append(inner)
        elif token:
            need(not BYTE.search(token) and (strings or token[0] != '"'), "an undecodable byte, or a string")
            stack[-1].append(token if token[0] == '"' else token.lower())
    need(len(stack) == 1, "a closing parenthesis is missing"); need(deepest < DEPTH, "nested too deeply", KernelLimit)
    return tuple(stack[0])

def definition(items: tuple[Sexp, ...], kind: str, once: str, many: str) -> dict[str, list[tuple[Sexp, ...]]]:
    match items:  # the bodies of the sections of (define (kind name) (section ..) ..), by the section's name
        case (("define", (str(found), str()), *sections),) if found == kind:
            result = dict[str, list[tuple[Sexp, ...]]]()
            for section in sections:
                key = section[0] if isinstance(section, tuple) and section else ""
                need(key in many.split() or key in once.split() and key not in result, "a section unknown or repeated")
                result.setdefault(key, []).append(section[1:])
            return result
    raise KernelRejects(f"not one (define ({kind} ..) ..)")

def keywords(items: tuple[Sexp, ...], allowed: str) -> dict[str, Sexp]:  # ":key value" pairs, each key once
    need(len(items) % 2 == 0 and all(k in allowed.split() for k in items[::2]), "an unknown keyword, or no value")
    need(len({*items[::2]}) == len(items) // 2, "a keyword repeated")
    return dict(zip(items[::2], items[1::2], strict=True))

def number(token: Sexp) -> Fraction:  # exact; digits are taken in chunks, as Python refuses to convert many at once
    need(isinstance(token, str) and NUMBER.fullmatch(token), "not a number")
    whole, _, part = token.lstrip("+-").partition("."); digits, value = whole + part, 0
    need(len(digits) <= BITS, "a number too long", KernelLimit)
    for i in range(0, len(digits), 4000): value = value * 10 ** len(digits[i:i + 4000]) + int(digits[i:i + 4000])
    return bounded(Fraction(-value if token[0] == "-" else value, 10 ** len(part)))

def bounded(value: Fraction) -> Fraction:
    need(max(value.numerator.bit_length(), value.denominator.bit_length()) <= BITS, "a number too long", KernelLimit)
    return value
