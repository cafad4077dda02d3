"""Text to nested tuples of lower-case tokens, without recursion (docs/language.md, section 1)."""
# fmt: off
import re
from fractions import Fraction
from typing import Any

Sexp = Any  # a token (str), or a tuple of Sexp
Sections = dict[str, list[tuple[Sexp, ...]]]
BITS = 65_536
NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?|\.[0-9]+")
NAME = re.compile(r"[a-z_\x80-\U0010ffff][^?]*")
OBJECT = re.compile(r"[a-z0-9_\x80-\U0010ffff][^?]*")
VARIABLE = re.compile(r"\?[a-z0-9_\x80-\U0010ffff][^?]*")
_TOKEN = re.compile(r'[ \t\r\n\f\v]+|;[^\r\n]*|([()]|"(?:[^"\\]|\\["\\])*"|[^ \t\r\n\f\v();"]+)')

class KernelRejects(ValueError):
    """The text is not in the language, or uses what the kernel does not support."""

class KernelLimit(KernelRejects):
    """Nested too deeply, or numbers too long, to be judged here: no verdict."""

def need(condition: object, message: str, error: type[KernelRejects] = KernelRejects) -> None:
    """Raise the error unless the condition holds."""
    if not condition:
        raise error(message)

def read(text: str, strings: bool = False) -> tuple[Sexp, ...]:
    """Every expression of ``text``. Undecodable bytes (lone surrogates) are allowed in comments alone."""
    stack: list[list[Sexp]] = [[]]
    place = int(text.startswith("\ufeff"))
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise KernelRejects("a string that does not end")
        place, token = found.end(), found[1]
        if token == "(":
            stack.append([])
        elif token == ")":
            need(len(stack) > 1, "a closing parenthesis too many")
            inner = tuple(stack.pop())
            stack[-1].append(inner)
        elif token is not None:
            need(not any("\ud800" <= c <= "\udfff" for c in token), "an undecodable byte")
            need(strings or token[0] != '"', "a string")
            stack[-1].append(token if token[0] == '"' else token.lower())
    need(len(stack) == 1, "a closing parenthesis is missing")
    return tuple(stack[0])

def definition(items: tuple[Sexp, ...], kind: str, once: str, many: str) -> Sections:
    """The bodies of the sections of ``(define (kind name) (section ..) ..)``, by the section's name."""
    result: Sections = {}
    match items:
        case (("define", (str(found), str()), *sections),) if found == kind:
            for section in sections:
                key = section[0] if isinstance(section, tuple) and section else ""
                need(key in (once + " " + many).split(), "a section unknown or unsupported")
                need(key not in result or key in many.split(), f"a second section {key}")
                result.setdefault(key, []).append(section[1:])
            return result
    raise KernelRejects(f"not one (define ({kind} ..) ..)")

def keywords(items: tuple[Sexp, ...], allowed: str) -> dict[str, Sexp]:
    """``:key value`` pairs, each key once and one of ``allowed`` (separated by spaces)."""
    need(len(items) % 2 == 0 and all(k in allowed.split() for k in items[::2]), "an unknown keyword, or no value")
    need(len(set(items[::2])) == len(items) // 2, "a keyword repeated")
    return dict(zip(items[::2], items[1::2], strict=True))

def number(token: Sexp) -> Fraction:
    """An exact rational. Digits are taken in chunks, as Python refuses to convert many at once."""
    need(isinstance(token, str) and NUMBER.fullmatch(token), "not a number")
    digits, _, part = token.lstrip("+-").partition(".")
    digits, value = digits + part, 0
    need(len(digits) <= BITS, "a number too long", KernelLimit)
    for i in range(0, len(digits), 4000):
        value = value * 10 ** len(digits[i : i + 4000]) + int(digits[i : i + 4000])
    return bounded(Fraction(-value if token[0] == "-" else value, 10 ** len(part)))

def bounded(value: Fraction) -> Fraction:
    """``value``, if it has at most 65,536 bits in numerator and denominator."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    need(bits <= BITS, "a number of more than 65,536 bits", KernelLimit)
    return value
