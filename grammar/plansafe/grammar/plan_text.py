"""Plans: IPC lines, timed lines, and ``(define (plan ..) ..)``.

Plans of a million steps are read without places: :func:`split_plain_steps` cuts the text after each closing
parenthesis. Equal steps give equal chunks, so that the caller can cache resolved steps. All other plans, and
plans with a mistake, are read with places by :func:`read_plan`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
from plansafe.grammar.node_places import Places
from plansafe.grammar.plan_steps import Step, read_ordering
from plansafe.grammar.sexpr import Node, has_invalid_utf8, parse_number, parse_source, surplus_warning
from plansafe.grammar.source import Source

_COMMENT = re.compile(r";[^\r\n]*")
_TOKEN = re.compile(r";[^\r\n]*|[()\[\]]|[^\s()\[\];]+")
_PIECES = re.compile(r"\+-|±|(?:(?!\+-)[^±])+")
_PLUS_MINUS = ("+-", "±")
_DEFINE = re.compile(
    r"(?:\s|;[^\r\n]*(?:[\r\n]|\Z))*\(\s*(?:;[^\r\n]*[\r\n]\s*)*define(?![^\s();])(?:[^();]|;[^\r\n]*[\r\n])*\(",
    re.IGNORECASE,
)
"""A head: a list in ``(define ..)``. Without one it is a step of an action of that name."""
_TIMED = r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*:\s*(\([^()\[\]]*\))(?:\s*\[\s*(\d{1,18}(?:\.\d{1,18})?)\s*\])?"
"""A timed step on a regular line: its time, the step, its duration; compiled at first use."""
SECTIONS = (":domain", ":problem", ":steps", ":ordering")
_BLOCK = 1 << 20
MAX_PROBLEMS = 50


class PlanText(NamedTuple):
    """A plan as written. ``domain`` and ``problem`` are what a ``define`` form names, in its own spelling.

    ``ordering``: pairs of steps, numbered from 1; the first must come before the second. ``None`` if the steps are
    executed in the listed order.
    """

    steps: tuple[Step, ...]
    diagnostics: tuple[Diagnostic, ...]
    domain: str | None = None
    problem: str | None = None
    ordering: tuple[tuple[int, int], ...] | None = None
    decimals: int | None = None
    """The largest number of decimals in a time or duration; ``None``: none is written."""
    warnings: tuple[Diagnostic, ...] = ()
    """Diagnostics with which the plan can still be read."""


def split_plain_steps(text: str) -> Iterator[list[str]] | None:
    """Blocks of chunks ``"(name a b"``, lower case, one for each step, white space before it included.

    ``None`` if the plan is not plain.
    Whether a chunk is a step is for the caller to check: it must be white space, one ``(``, and tokens.
    """
    if ":" in text or "[" in text or '"' in text:
        return None
    if ";" in text:
        text = _COMMENT.sub(" ", text)
    if text.count("(") != text.count(")"):
        return None
    if has_invalid_utf8(text):
        return None
    return _blocks(text)


def _blocks(text: str) -> Iterator[list[str]]:
    start = 0
    size = len(text)
    while start < size:
        end = size if size - start <= _BLOCK else text.rfind(")", start, start + _BLOCK) + 1
        if end <= start:
            end = text.find(")", start) + 1 or size
        chunks = text[start:end].lower().split(")")
        remainder = chunks.pop()
        if remainder.strip():
            chunks.append(remainder + " (")  # not a step: text after the last parenthesis
        yield chunks
        start = end


def chunk_tokens(chunk: str) -> list[str] | None:
    """The tokens of a chunk, or ``None`` if it is not one step."""
    body = chunk.lstrip()
    if not body or body[0] != "(" or "(" in body[1:]:
        return None
    tokens = body[1:].split()
    return tokens or None


def is_definition(text: str) -> bool:
    """Whether a text begins with ``(define (``."""
    return _DEFINE.match(text) is not None


def read_plan(source: Source) -> PlanText:
    """Read a plan with places. Mistakes become diagnostics; the other steps are kept."""
    if is_definition(source.text):
        return _read_definition(source)
    return _plain_steps(source.text) or _timed_steps(source.text) or _read_lines(source)


def _plain_steps(text: str) -> PlanText | None:
    """The steps of a plain ASCII plan without mistakes, from the places of its parentheses alone.

    ``None`` for any other.
    """
    if not text.isascii() or ";" in text or ":" in text or "[" in text or "]" in text or '"' in text:
        return None
    steps = []
    position = 0
    *chunks, remainder = text.lower().split(")")
    if remainder.strip():
        return None
    for chunk in chunks:
        tokens = chunk_tokens(chunk)
        end = position + len(chunk) + 1
        if tokens is None:
            return None
        steps.append(Step(tuple(tokens), None, None, Span(position + chunk.index("("), end)))
        position = end
    return PlanText(tuple(steps), ())


def _timed_steps(text: str) -> PlanText | None:
    """The steps of an ASCII plan of regular timed lines without mistakes; ``None`` for any other."""
    if ":" not in text:
        return None
    if ";" in text:
        text = _COMMENT.sub(_blank, text)
    text = text.rstrip()
    if not text or not text.isascii():
        return None
    numbers: dict[str, int | Fraction | None] = {}
    tokens_of: dict[str, tuple[str, ...]] = {}
    steps: list[Step] = []
    most = position = 0
    match_at, size = re.compile(_TIMED, re.ASCII).match, len(text)
    while position < size:
        match = match_at(text, position)
        if match is None:
            return None
        position = match.end()
        time, step, duration = match.groups()
        tokens = tokens_of.get(step)
        if tokens is None:
            tokens = tokens_of[step] = tuple(step[1:-1].lower().split())
            if not tokens:
                return None
        most = max(most, decimals(time))
        step_duration: int | Fraction | None = None
        if duration is not None:
            if duration not in numbers:
                numbers[duration] = parse_number(duration)
                most = max(most, decimals(duration))
            step_duration = numbers[duration]
        steps.append(Step(tokens, _decimal(time), step_duration, Span(*match.span(2))))
    return PlanText(tuple(steps), (), decimals=most)


def _blank(comment: re.Match[str]) -> str:
    """White space of a comment's length, so that places do not change."""
    return " " * len(comment.group())


def _decimal(token: str) -> int | Fraction:
    """The exact value of an unsigned decimal number that matches ``_TIMED``."""
    integer, _, fraction = token.partition(".")
    if not fraction.strip("0"):
        return int(integer)
    return Fraction(int(integer + fraction), 10 ** len(fraction))


def decimals(token: str) -> int:
    """How many decimals a number is written with."""
    return len(token.partition(".")[2])


class _Lines:
    """The state of reading plan lines."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.steps: list[Step] = []
        self.diagnostics: list[Diagnostic] = []
        self.colon = True  # whether the time just read had its colon
        self.tolerance = False  # whether the tolerance of a duration comes next
        self.wrong = False  # whether a mistake in these brackets has been reported
        self.decimals: int | None = None

    def timed(self, token: str) -> int | Fraction | None:
        """A time or duration as a number, if it is one; its decimals count."""
        value = parse_number(token)
        if value is not None:
            self.decimals = max(self.decimals or 0, decimals(token))
        return value

    def problem(self, code: str, message: str, span: Span, text: str, help: str | None = None) -> None:
        if len(self.diagnostics) < MAX_PROBLEMS:
            self.diagnostics.append(Diagnostic(code, message, (Label(self.source.name, span, text),), help=help))


def _read_lines(source: Source) -> PlanText:
    state = _Lines(source)
    time: int | Fraction | None = None
    time_span: Span | None = None
    opened: int | None = None
    tokens: list[str] = []
    bracket: int | None = None
    foreign = has_invalid_utf8(source.text)
    for match in _TOKEN.finditer(source.text):
        token = match.group()
        start, end = match.span()
        if token[0] == ";":
            continue
        if foreign and has_invalid_utf8(token):
            state.problem(SC.NOT_UTF8, "bytes outside a comment are not UTF-8", Span(start, end), "not UTF-8")
            continue
        if bracket is not None:
            bracket = _in_bracket(state, token, start, end, bracket)
        elif token == "(":
            if opened is not None:
                state.problem(
                    SC.UNBALANCED, "a step begins inside another", Span(start, end), "is a `)` missing before this?"
                )
            if time_span is not None and not state.colon:
                state.problem(SC.STRUCTURE, "a time without its colon", time_span, "expected `time:`")
            opened, tokens = start, []
        elif token == ")":
            if opened is None:
                if state.steps and time_span is None and not state.diagnostics and _ends(source.text, end):
                    surplus = surplus_warning(source, Span(start, end))
                    return PlanText(tuple(state.steps), (), decimals=state.decimals, warnings=(surplus,))
                state.problem(SC.UNBALANCED, "unmatched `)`", Span(start, end), "nothing is open here")
                continue
            if tokens:
                state.steps.append(Step(tuple(tokens), time, None, Span(opened, end)))
            else:
                state.problem(
                    SC.STRUCTURE, "a step without an action", Span(opened, end), "expected `(action object ..)`"
                )
            opened, time, time_span = None, None, None
        elif token == "[":
            if opened is not None or not state.steps or state.steps[-1].duration is not None or time_span is not None:
                state.problem(
                    SC.STRUCTURE,
                    "a duration without a step",
                    Span(start, end),
                    "expected `time: (action ..) [duration]`",
                )
            bracket = start
        elif token == "]":
            state.problem(SC.UNBALANCED, "unmatched `]`", Span(start, end), "nothing is open here")
        elif opened is not None:
            tokens.append(token.lower())
        else:
            time, time_span = _time(state, token, start, end, time, time_span)
    if opened is not None:
        state.problem(
            SC.UNBALANCED,
            "the plan ends inside a step",
            Span(opened, opened + 1),
            "this one is not closed",
            "add `)`, or remove the truncated step",
        )
    elif bracket is not None:
        state.problem(
            SC.UNBALANCED, "the plan ends inside a duration", Span(bracket, bracket + 1), "this one is not closed"
        )
    elif time_span is not None:
        state.problem(SC.STRUCTURE, "a time without a step", time_span, "expected a step after this")
    return PlanText(tuple(state.steps), tuple(state.diagnostics), decimals=state.decimals)


def _ends(text: str, position: int) -> bool:
    """Whether nothing but white space and comments follows."""
    return all([match.group()[0] == ";" for match in _TOKEN.finditer(text, position)])


def _in_bracket(state: _Lines, token: str, start: int, end: int, bracket: int) -> int | None:
    """Read a token of ``[duration]`` or ``[duration +- tolerance]``; only the first mistake in it is reported."""
    if token == "]":
        step = state.steps[-1] if state.steps else None
        if state.tolerance:
            state.problem(SC.STRUCTURE, "a tolerance is missing after `+-`", Span(bracket, end), "expected a number")
        elif not state.wrong and step is not None and step.duration is None and step.time is not None:
            state.problem(SC.STRUCTURE, "an empty duration", Span(bracket, end), "expected a number in the brackets")
        state.tolerance = state.wrong = False
        return None
    for piece in _PIECES.finditer(token):
        if not state.wrong:
            state.wrong = not _duration(state, piece.group(), Span(start + piece.start(), start + piece.end()), bracket)
    if token in ("(", ")"):
        state.tolerance = state.wrong = False
        return None
    return bracket


def _duration(state: _Lines, text: str, span: Span, bracket: int) -> bool:
    """Read one number or ``+-`` of a duration; returns whether it is correct there."""
    step = state.steps[-1] if state.steps else None
    value = parse_number(text)
    if step is None:
        return True  # the missing step has been reported
    if state.tolerance:
        state.tolerance = False
        if value is None or value < 0:
            label = "expected a number" if value is None else "negative"
            state.problem(SC.STRUCTURE, f"`{_short(text)}` is not a tolerance", span, label)
            return False
        state.steps[-1] = step._replace(tolerance=value)
    elif text in _PLUS_MINUS and step.duration is not None and step.tolerance is None:
        state.tolerance = True
    elif value is None or step.duration is not None:
        state.problem(SC.STRUCTURE, f"`{_short(text)}` is not a duration", span, "expected a number")
        return False
    elif step.time is None:
        message = "a duration without a time"
        state.problem(SC.STRUCTURE, message, Span(bracket, span.end), "expected `time: (action ..) [duration]`")
        return False
    else:
        state.steps[-1] = step._replace(duration=state.timed(text))
    return True


def _time(
    state: _Lines, token: str, start: int, end: int, time: int | Fraction | None, span: Span | None
) -> tuple[int | Fraction | None, Span | None]:
    """A token between steps: ``time:``, or ``time`` followed by ``:``."""
    if token == ":" and span is not None and not state.colon:
        state.colon = True
        return time, span
    value = state.timed(token.removesuffix(":"))
    if value is not None and span is None:
        state.colon = token.endswith(":")
        return value, Span(start, end)
    help = "write each step as `(action object ..)`" if token[0].isalpha() or token[0] == "_" else None
    state.problem(SC.STRUCTURE, f"expected a step, found `{_short(token)}`", Span(start, end), "not a step", help)
    return None, None


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _read_definition(source: Source) -> PlanText:
    """``(define (plan name) (:domain d) (:problem p) (:steps step ..))``."""
    top, syntax_diagnostics = parse_source(source)
    if top is None:
        return PlanText((), syntax_diagnostics)
    places = Places(source, top)
    state = _Lines(source)
    form = top[0]
    assert isinstance(form, list)
    if len(top) > 1:
        state.problem(SC.STRUCTURE, "text after the end of the plan", places.span(top, 1), "a file contains one plan")
    header = form[1] if len(form) > 1 else None
    if not isinstance(header, list) or len(header) != 2 or header[0] != "plan" or not isinstance(header[1], str):
        state.problem(SC.STRUCTURE, "expected `(define (plan name) ..)`", places.span(form), "not a plan")
        return PlanText((), tuple(state.diagnostics))
    references: dict[str, str] = {}
    ordering: list[Node] | None = None
    section_heads: set[str] = set()
    for child in range(2, len(form)):
        section = form[child]
        head = section[0] if isinstance(section, list) and section else None
        if head not in SECTIONS:
            state.problem(
                SC.STRUCTURE,
                "expected `(:domain ..)`, `(:problem ..)`, `(:steps ..)` or `(:ordering ..)`",
                places.span(form, child),
                "not a section of a plan",
                suggest_name(head, SECTIONS) if isinstance(head, str) else None,
            )
            continue
        assert isinstance(section, list)
        if head in section_heads:
            state.problem(SC.DECLARED_TWICE, f"section `{head}` occurs twice", places.span(section), "again here")
            continue
        section_heads.add(str(head))
        if head == ":steps":
            for position in range(1, len(section)):
                _definition_step(state, places, section, position)
        elif head == ":ordering":
            ordering = section
        elif len(section) == 2 and isinstance(section[1], str):
            written = source.slice(places.span(section, 1))
            references[str(head)] = written[1:-1] if written.startswith('"') else written
        else:
            state.problem(
                SC.STRUCTURE, f"`{head}` takes one name or path", places.span(section), "expected one name or path"
            )
    if ":steps" not in section_heads:
        state.problem(
            SC.STRUCTURE, "the plan has no `(:steps ..)`", places.span(form, 1), "expected a section `(:steps step ..)`"
        )
    pairs = None
    if ordering is not None or any([step.label is not None for step in state.steps]):
        pairs = read_ordering(source.name, places, state.steps, ordering, state.diagnostics)
    domain, problem = references.get(":domain"), references.get(":problem")
    problems = tuple(state.diagnostics[:MAX_PROBLEMS])
    return PlanText(tuple(state.steps), problems, domain, problem, pairs, state.decimals, syntax_diagnostics)


def _definition_step(state: _Lines, places: Places, section: list[Node], position: int) -> None:
    node = section[position]
    span = places.span(section, position)
    time = duration = tolerance = label = None
    if isinstance(node, list) and node and node[0] == "at" and len(node) in (3, 4, 5) and isinstance(node[2], list):
        time = state.timed(node[1]) if isinstance(node[1], str) else None
        if time is None:
            state.problem(SC.STRUCTURE, "expected a time", places.span(node, 1), "expected a number")
        if len(node) >= 4:
            duration = state.timed(node[3]) if isinstance(node[3], str) else None
            if duration is None:
                state.problem(SC.STRUCTURE, "expected a duration", places.span(node, 3), "expected a number")
        if len(node) == 5:
            tolerance = parse_number(node[4]) if isinstance(node[4], str) else None
            if tolerance is None or tolerance < 0:
                text = "expected a number" if tolerance is None else "negative"
                state.problem(SC.STRUCTURE, "expected a tolerance of the duration", places.span(node, 4), text)
        span = places.span(node, 2)
        node = node[2]
    elif isinstance(node, list) and len(node) == 2 and isinstance(node[0], str) and isinstance(node[1], list):
        label = node[0]
        if parse_number(label) is not None:
            problem = f"`{_short(label)}` cannot label a step"
            state.problem(SC.STRUCTURE, problem, places.span(node, 0), "a number names a step without a label")
        span = places.span(node, 1)
        node = node[1]
    if not isinstance(node, list) or not node or any([not isinstance(token, str) for token in node]):
        state.problem(SC.STRUCTURE, "expected a step", span, "expected `(action object ..)`")
        return
    state.steps.append(Step(tuple([str(token) for token in node]), time, duration, span, label, tolerance))
