"""Mutations of texts: of bytes, tokens and expressions. The same state of the generator gives the same mutant."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from random import Random

from fuzz_corpus import PARTS, Case

Mutation = Callable[[bytes, Random], bytes]

_TOKEN = re.compile(rb'[()\[\]]|"[^"]*"|;[^\n]*|[^\s()\[\];"]+')
DEEP = 100_000

WORDS = """
( ) [ ] [1] () (()) ((( ))) - -- = < > <= >= + * / ? ?x ?duration #t : :: 0: 1.5: ; " "a" _ $x $name
define domain problem plan safety mapping object either number and or not imply forall exists when at start end
over all always sometime within at-most-once sometime-after sometime-before always-within hold-during
hold-after preference increase decrease assign scale-up scale-down is-violated total-time total-cost
minimize maximize yesterday weak-yesterday once historically since next weak-next until release action
action-end action-during :action :durative-action :derived :constraints :metric :init :goal :objects
:constants :types :predicates :functions :parameters :precondition :condition :duration :effect :requirements
:domain :problem :steps :process :event :trajectory :termination :obligation :on :at-end :during :when
:forbid :require :forbid-after :require-after :formula :then :within :hazard :severity :message :extends
:vocabulary :disable :define :template :apply nosuch nosuch-file.safe unknown oneof
0 1 -1 007 1.0 .5 1. -0 +3 1e9 0x10 nan inf 0.001 1/2 99999999999999999999 1_000 NaN -.5 --1
é ñandú 烤箱 ①② \u0663 \u017f \u212a İ ß ẞ \u200b \u202e \ufeff
""".encode().split()
WORDS += [c.encode() for c in "\u00a0\u2028\u0085\x1c\x0b"]  # white space for some functions
WRAPPERS = [
    (b"(and ", b")"), (b"(or ", b")"), (b"(not ", b")"), (b"(", b")"), (b"(forall (?x) ", b")"),
    (b"(exists (?z - object) ", b")"), (b"(always ", b")"), (b"(sometime ", b")"), (b"(once ", b")"), (b"(next ", b")"),
    (b"(at end ", b")"), (b"(at start ", b")"), (b"(over all ", b")"), (b"(preference p ", b")"),
    (b"(when (and) ", b")"), (b"(at 3 ", b")"), (b"(imply (and) ", b")"), (b"(imply (or) ", b")"),
    (b"(yesterday ", b")"), (b"(+ 1 ", b")"),
    (b"(- ", b")"), (b"(at-most-once ", b")"), (b"(within 2 ", b")"), (b"(until (and) ", b")"),
    (b"(since ", b" (and))"),    (b"(historically ", b")"), (b"(weak-next ", b")"), (b'"', b'"'), (b"[", b"]"),
]  # fmt: skip


# -- bytes --


def flip_bits(text: bytes, random: Random) -> bytes:
    """Flip one bit in each of some bytes."""
    out = bytearray(text)
    for _ in range(random.choice((1, 1, 2, 8)) if out else 0):
        out[random.randrange(len(out))] ^= 1 << random.randrange(8)
    return bytes(out)


def insert_bytes(text: bytes, random: Random) -> bytes:
    """Insert a few bytes."""
    inserted = random.choice(
        (
            b"\0",
            b"\xff",
            b"\xc3",
            b"\xed\xa0\x80",
            b"(",
            b")",
            b'"',
            b"\\",
            b"\r",
            b"\n",
            b"\x0b",
            b"\x1b[31m",
            b"\x85",
            b";",
        )
    )
    at = random.randrange(len(text) + 1)
    return text[:at] + inserted + text[at:]


def delete_bytes(text: bytes, random: Random) -> bytes:
    """Delete a run of bytes."""
    at = random.randrange(len(text) + 1)
    return text[:at] + text[at + random.choice((1, 2, 10, 100)) :]


def truncate(text: bytes, random: Random) -> bytes:
    """Keep a prefix."""
    return text[: random.randrange(len(text) + 1)]


def insert_invalid_utf8(text: bytes, random: Random) -> bytes:
    """Add bytes that are not UTF-8, half of the time in a comment, where they are allowed."""
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice((b" \xff\xfe\x80 ", b"\n; \xe9t\xe9\n")) + text[at:]


def repeat_text(text: bytes, random: Random) -> bytes:
    """Insert many copies of a short text, or repeat the whole text."""
    at = random.randrange(len(text) + 1)
    if random.random() < 0.3:
        return text * random.choice((2, 3, 20))
    inserted = random.choice(
        (
            b"(",
            b")",
            b"()",
            b"a",
            b"9",
            b" ",
            b"\n",
            b";",
            b'"',
            b"?",
            b"-",
            b"[",
            b"\\",
            b"\0",
            b"\xff",
            b"(and ",
            b"1:",
            b"(a)",
            b"(not (a))",
        )
    )
    return text[:at] + inserted * random.choice((10, 1000, 30_000)) + text[at:]


def insert_byte_order_mark(text: bytes, random: Random) -> bytes:
    """Insert a byte order mark at the start, twice at the start, or in the middle; or use another encoding."""
    kind = random.randrange(5)
    if kind == 4:
        return text.decode("utf-8", "replace").encode(random.choice(("utf-16", "utf-32", "utf-8-sig")))
    at = random.randrange(len(text) + 1) if kind == 3 else 0
    return text[:at] + b"\xef\xbb\xbf" * (1 + (kind == 2)) + text[at:]


def replace_line_ends(text: bytes, random: Random) -> bytes:
    """Replace the line ends by other white space."""
    return text.replace(
        b"\n", random.choice((b"\r\n", b"\r", b"\n\r", b"\x0b", b"\x0c", "\u2028".encode(), b"\r\r\n", b"\t"))
    )


def change_case(text: bytes, random: Random) -> bytes:
    """Change the case of all letters."""
    return text.upper() if random.random() < 0.5 else text.swapcase()


# -- tokens and expressions --


def token_spans(text: bytes) -> list[tuple[int, int]]:
    return [match.span() for match in _TOKEN.finditer(text) if match[0][:1] != b";"]


def expression_spans(text: bytes) -> list[tuple[int, int]]:
    stack: list[int] = []
    expressions: list[tuple[int, int]] = []
    for start, end in token_spans(text):
        if text[start] == 40:
            stack.append(start)
        elif text[start] == 41 and stack:
            expressions.append((stack.pop(), end))
    return sorted(expressions)


def _replace(text: bytes, span: tuple[int, int], new: bytes) -> bytes:
    return text[: span[0]] + new + text[span[1] :]


def drop_token(text: bytes, random: Random) -> bytes:
    """Delete a token."""
    spans = token_spans(text)
    return _replace(text, random.choice(spans), b"") if spans else text


def duplicate_token(text: bytes, random: Random) -> bytes:
    """Write a token twice."""
    spans = token_spans(text)
    if not spans:
        return text
    start, end = random.choice(spans)
    return text[:end] + b" " + text[start:end] + text[end:]


def _swap(text: bytes, spans: list[tuple[int, int]], random: Random) -> bytes:
    if len(spans) < 2:
        return text
    first, second = sorted(random.sample(spans, 2))
    if second[0] < first[1]:  # the first contains the second: replace it by the second
        return _replace(text, first, text[slice(*second)])
    between = text[first[1] : second[0]]
    return text[: first[0]] + text[slice(*second)] + between + text[slice(*first)] + text[second[1] :]


def swap_tokens(text: bytes, random: Random) -> bytes:
    """Exchange two tokens that are not parentheses."""
    return _swap(text, [span for span in token_spans(text) if text[span[0]] not in b"()[]"], random)


def swap_neighbours(text: bytes, random: Random) -> bytes:
    """Exchange a token with the next one."""
    spans = token_spans(text)
    if len(spans) < 2:
        return text
    at = random.randrange(len(spans) - 1)
    return _swap(text, spans[at : at + 2], random)


def replace_token(text: bytes, random: Random) -> bytes:
    """Replace a token by a word of the language, a number, or another token of the text."""
    spans = [span for span in token_spans(text) if text[span[0]] not in b"()"] or [(0, 0)]
    new = random.choice(WORDS) if random.random() < 0.6 else text[slice(*random.choice(spans))]
    return _replace(text, random.choice(spans), new)


def insert_token(text: bytes, random: Random) -> bytes:
    """Insert a word of the language."""
    spans = token_spans(text) or [(0, 0)]
    at = random.choice(spans)[1]
    return text[:at] + b" " + random.choice(WORDS) + b" " + text[at:]


def misspell_name(text: bytes, random: Random) -> bytes:
    """Misspell a name."""
    spans = [span for span in token_spans(text) if span[1] - span[0] > 3]
    if not spans:
        return text
    start, end = random.choice(spans)
    at = random.randrange(start + 1, end - 1)
    return text[:at] + random.choice((b"", text[at + 1 : at + 2] + text[at : at + 1], b"x")) + text[at + 1 :]


def drop_expression(text: bytes, random: Random) -> bytes:
    """Delete an expression."""
    spans = expression_spans(text)
    return _replace(text, random.choice(spans), random.choice((b"", b"()", b"(and)"))) if spans else text


def duplicate_expression(text: bytes, random: Random) -> bytes:
    """Write an expression twice."""
    spans = expression_spans(text)
    if not spans:
        return text
    start, end = random.choice(spans)
    return text[:end] + b" " + text[start:end] + text[end:]


def swap_expressions(text: bytes, random: Random) -> bytes:
    """Exchange two expressions, or replace an expression by one that it contains."""
    return _swap(text, expression_spans(text), random)


def wrap_expression(text: bytes, random: Random) -> bytes:
    """Put an operator around an expression."""
    spans = expression_spans(text)
    if not spans:
        return text
    start, end = random.choice(spans)
    opening, closing = random.choice(WRAPPERS)
    return text[:start] + opening + text[start:end] + closing + text[end:]


def unwrap_expression(text: bytes, random: Random) -> bytes:
    """Replace an expression by one that it contains."""
    spans = expression_spans(text)
    outer = [span for i, span in enumerate(spans) if i + 1 < len(spans) and spans[i + 1][0] < span[1]]
    if not outer:
        return text
    replaced = random.choice(outer)
    inner = [span for span in spans[bisect_left(spans, replaced) + 1 :] if span[1] <= replaced[1]][:20]
    return _replace(text, replaced, text[slice(*random.choice(inner))])


def nest_expression(text: bytes, random: Random) -> bytes:
    """Put 100,000 operators around an expression."""
    spans = expression_spans(text) or [(0, len(text))]
    start, end = random.choice(spans)
    opening, closing = random.choice(WRAPPERS)
    depth = random.choice((100, 1500, DEEP))
    return text[:start] + opening * depth + text[start:end] + closing * depth + text[end:]


def lengthen_name(text: bytes, random: Random) -> bytes:
    """Make a name very long, everywhere or in one place."""
    spans = [span for span in token_spans(text) if text[span[0]] not in b"()[]"]
    if not spans:
        return text
    span = random.choice(spans)
    name = text[slice(*span)]
    longer = name + random.choice((b"x", "ü".encode(), b"-a", b"1")) * random.choice((100, 5000, 50_000))
    return text.replace(name, longer, 20) if random.random() < 0.5 else _replace(text, span, longer)


def insert_huge_number(text: bytes, random: Random) -> bytes:
    """Replace a number, or any token, by a huge or tiny number."""
    spans = [span for span in token_spans(text) if text[span[0]] in b"0123456789.+-"] or token_spans(text) or [(0, 0)]
    size = random.choice((20, 400, 5000, 70_000))
    new = random.choice(
        (
            b"9" * size,
            b"-" + b"9" * size,
            b"0." + b"0" * size + b"1",
            b"1" + b"0" * size,
            b"0" * size + b"7",
            b"." + b"3" * size,
        )
    )
    colon = b":" if text[slice(*(span := random.choice(spans)))].endswith(b":") else b""
    return _replace(text, span, new + colon)


def _kind(text: bytes, span: tuple[int, int]) -> bytes:
    """Return the kind of a token: variable, section name, number, head of an expression, argument, .."""
    first = text[span[0] : span[0] + 1]
    if first in (b"?", b":", b"$", b'"'):
        return first
    if first.isdigit() or first == b".":
        return b"0"
    return b"(" if text[: span[0]].rstrip()[-1:] == b"(" else b"a"


def replace_by_same_kind(text: bytes, random: Random) -> bytes:
    """Replace a token by another token of the same kind from the text."""
    spans = [span for span in token_spans(text) if text[span[0]] not in b"()[]"]
    if not spans:
        return text
    kinds: dict[bytes, list[tuple[int, int]]] = {}
    replaced = random.choice(spans)
    for span in random.sample(spans, min(len(spans), 60)):
        kinds.setdefault(_kind(text, span), []).append(span)
    same_kind = kinds.get(_kind(text, replaced), [replaced])
    return _replace(text, replaced, text[slice(*random.choice(same_kind))])


def _innermost_spans(text: bytes) -> list[tuple[int, int]]:
    return [span for span in expression_spans(text) if text.find(b"(", span[0] + 1, span[1]) < 0]


def drop_innermost(text: bytes, random: Random) -> bytes:
    """Delete an innermost expression."""
    spans = _innermost_spans(text)
    return _replace(text, random.choice(spans), b"") if spans else text


def swap_innermost(text: bytes, random: Random) -> bytes:
    """Exchange two innermost expressions, such as two steps."""
    return _swap(text, _innermost_spans(text), random)


def copy_innermost(text: bytes, random: Random) -> bytes:
    """Replace an innermost expression by another one."""
    spans = _innermost_spans(text)
    return _replace(text, random.choice(spans), text[slice(*random.choice(spans))]) if spans else text


NEGATIONS = (
    b"(not ",
    b"(and ",
    b"(or ",
    b"(not (not ",
    b"(imply () ",
    b"(forall (?zz) ",
    b"(exists (?zz) ",
    b"(or () ",
)


def wrap_innermost(text: bytes, random: Random) -> bytes:
    """Put a connective around an innermost expression."""
    spans = _innermost_spans(text)
    if not spans:
        return text
    start, end = random.choice(spans)
    opening = random.choice(NEGATIONS)
    return text[:start] + opening + text[start:end] + b")" * (opening.count(b"(") - opening.count(b")")) + text[end:]


BYTES: list[Mutation] = [
    flip_bits, insert_bytes, delete_bytes, truncate, insert_invalid_utf8, repeat_text, insert_byte_order_mark,
    replace_line_ends, change_case,
]  # fmt: skip
TOKENS: list[Mutation] = [
    drop_token, duplicate_token, swap_tokens, swap_neighbours, replace_token, replace_token, insert_token,
    misspell_name, drop_expression, duplicate_expression, swap_expressions, swap_expressions, wrap_expression,
    wrap_expression, unwrap_expression,
]  # fmt: skip
GENTLE: list[Mutation] = [
    replace_by_same_kind, replace_by_same_kind, replace_by_same_kind, drop_innermost, swap_innermost, copy_innermost,
    wrap_innermost,
]  # fmt: skip
RARE: list[Mutation] = [nest_expression, lengthen_name, insert_huge_number]


def mutate_case(cases: list[Case], random: Random) -> tuple[Case, str]:
    """Return a case with one to three mutations, usually one, and the names of the mutations."""
    case = random.choice(cases) if random.random() < 0.7 else random.choice(cases[:60])
    names = []
    for _ in range(random.choice((1, 1, 1, 1, 2, 3))):
        part = random.choice([part for part in PARTS if case.part(part)] or ["plan"])
        roll = random.random()
        mutation = random.choice(BYTES if roll < 0.2 else RARE if roll < 0.23 else TOKENS if roll < 0.5 else GENTLE)
        names.append(f"{mutation.__name__}({part})")
        case = case.with_part(part, mutation(case.part(part), random))
    return case, " ".join(names)
