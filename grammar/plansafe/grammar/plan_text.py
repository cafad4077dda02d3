"""Plans: IPC lines, timed lines, and ``(define (plan ..) ..)``.

Plans of a million steps are read without places: :func:`split_plain_steps` cuts the text after each closing
parenthesis. Equal steps give equal chunks, so that the caller can cache resolved steps. All other plans, and
plans with a mistake, are read with places by :func:`read_plan`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.node_places import Places
from plansafe.grammar.plan_steps import Step, read_ordering
from plansafe.grammar.sexpr import Node, has_invalid_utf8, make_surplus_warning, parse_number, parse_source
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
"""Maximum number of diagnostics about one plan."""


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
    """Split a plan into blocks of chunks ``"(name a b"`` in lower case, one for each step; ``None`` if it is not plain.

    A chunk includes the white space before its step. The caller must check that a chunk is a step: white space, one
    ``(``, and tokens.
    """
    if ":" in text or "[" in text or '"' in text:
        return None
    if ";" in text:
        text = _COMMENT.sub(" ", text)
    if text.count("(") != text.count(")"):
        return None
    if has_invalid_utf8(text):
        return None
    return _split_blocks(text)


def _split_blocks(text: str) -> Iterator[list[str]]:
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


def split_chunk(chunk: str) -> list[str] | None:
    """Return the tokens of a chunk; ``None`` if it is not one step."""
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
    return _read_plain_steps(source.text) or _read_timed_steps(source.text) or _read_lines(source)


def _read_plain_steps(text: str) -> PlanText | None:
    """Read a plain ASCII plan without mistakes, from the places of its parentheses alone; ``None`` for another plan."""
    if not text.isascii() or ";" in text or ":" in text or "[" in text or "]" in text or '"' in text:
        return None
    steps = []
    position = 0
    *chunks, remainder = text.lower().split(")")
    if remainder.strip():
        return None
    for chunk in chunks:
        tokens = split_chunk(chunk)
        end = position + len(chunk) + 1
        if tokens is None:
            return None
        steps.append(Step(tuple(tokens), None, None, Span(position + chunk.index("("), end)))
        position = end
    return PlanText(tuple(steps), ())


def _read_timed_steps(text: str) -> PlanText | None:
    """Read an ASCII plan of regular timed lines without mistakes; ``None`` for another plan."""
    if ":" not in text:
        return None
    if ";" in text:
        text = _COMMENT.sub(_blank_out, text)
    text = text.rstrip()
    if not text or not text.isascii():
        return None
    numbers: dict[str, int | Fraction | None] = {}
    tokens_of: dict[str, tuple[str, ...]] = {}
    steps: list[Step] = []
    most_decimals = position = 0
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
        most_decimals = max(most_decimals, count_decimals(time))
        step_duration: int | Fraction | None = None
        if duration is not None:
            if duration not in numbers:
                numbers[duration] = parse_number(duration)
                most_decimals = max(most_decimals, count_decimals(duration))
            step_duration = numbers[duration]
        steps.append(Step(tokens, _parse_decimal(time), step_duration, Span(*match.span(2))))
    return PlanText(tuple(steps), (), decimals=most_decimals)


def _blank_out(comment: re.Match[str]) -> str:
    """White space of a comment's length, so that places do not change."""
    return " " * len(comment.group())


def _parse_decimal(token: str) -> int | Fraction:
    """Return the exact value of an unsigned decimal number that matches ``_TIMED``."""
    integer, _, fraction = token.partition(".")
    if not fraction.strip("0"):
        return int(integer)
    return Fraction(int(integer + fraction), 10 ** len(fraction))


def count_decimals(token: str) -> int:
    """Count the decimals of a number as written."""
    return len(token.partition(".")[2])


class _LineReader:
    """The state of reading plan lines."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.steps: list[Step] = []
        self.diagnostics: list[Diagnostic] = []
        self.has_colon = True  # the last time was read with its colon
        self.expects_tolerance = False  # the tolerance of a duration must come next, after `+-`
        self.is_bracket_reported = False  # a mistake in the current brackets was reported
        self.decimals: int | None = None

    def read_number(self, token: str) -> int | Fraction | None:
        """Return a time or duration as a number, and count its decimals; ``None`` if it is not a number."""
        value = parse_number(token)
        if value is not None:
            self.decimals = max(self.decimals or 0, count_decimals(token))
        return value

    def report(self, code: str, message: str, span: Span, text: str, help: str | None = None) -> None:
        if len(self.diagnostics) < MAX_PROBLEMS:
            self.diagnostics.append(Diagnostic(code, message, (Label(self.source.name, span, text),), help=help))


def _read_lines(source: Source) -> PlanText:
    state = _LineReader(source)
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
            state.report(SC.NOT_UTF8, "bytes outside a comment are not UTF-8", Span(start, end), "not UTF-8")
            continue
        if bracket is not None:
            bracket = _read_bracket_token(state, token, start, end, bracket)
        elif token == "(":
            if opened is not None:
                state.report(
                    SC.UNBALANCED, "a step begins inside another", Span(start, end), "is a `)` missing before this?"
                )
            if time_span is not None and not state.has_colon:
                state.report(SC.STRUCTURE, "a time without its colon", time_span, "expected `time:`")
            opened, tokens = start, []
        elif token == ")":
            if opened is None:
                if state.steps and time_span is None and not state.diagnostics and _has_no_more_steps(source.text, end):
                    surplus = make_surplus_warning(source, Span(start, end))
                    return PlanText(tuple(state.steps), (), decimals=state.decimals, warnings=(surplus,))
                state.report(SC.UNBALANCED, "unmatched `)`", Span(start, end), "nothing is open here")
                continue
            if tokens:
                state.steps.append(Step(tuple(tokens), time, None, Span(opened, end)))
            else:
                state.report(
                    SC.STRUCTURE, "a step without an action", Span(opened, end), "expected `(action object ..)`"
                )
            opened, time, time_span = None, None, None
        elif token == "[":
            if opened is not None or not state.steps or state.steps[-1].duration is not None or time_span is not None:
                state.report(
                    SC.STRUCTURE,
                    "a duration without a step",
                    Span(start, end),
                    "expected `time: (action ..) [duration]`",
                )
            bracket = start
        elif token == "]":
            state.report(SC.UNBALANCED, "unmatched `]`", Span(start, end), "nothing is open here")
        elif opened is not None:
            tokens.append(token.lower())
        else:
            time, time_span = _read_time(state, token, start, end, time, time_span)
    if opened is not None:
        state.report(
            SC.UNBALANCED,
            "the plan ends inside a step",
            Span(opened, opened + 1),
            "this one is not closed",
            "add `)`, or remove the truncated step",
        )
    elif bracket is not None:
        state.report(
            SC.UNBALANCED, "the plan ends inside a duration", Span(bracket, bracket + 1), "this one is not closed"
        )
    elif time_span is not None:
        state.report(SC.STRUCTURE, "a time without a step", time_span, "expected a step after this")
    return PlanText(tuple(state.steps), tuple(state.diagnostics), decimals=state.decimals)


def _has_no_more_steps(text: str, position: int) -> bool:
    """Whether nothing but white space and comments follows."""
    return all([match.group()[0] == ";" for match in _TOKEN.finditer(text, position)])


def _read_bracket_token(state: _LineReader, token: str, start: int, end: int, bracket: int) -> int | None:
    """Read a token of ``[duration]`` or ``[duration +- tolerance]``; only the first mistake in it is reported."""
    if token == "]":
        step = state.steps[-1] if state.steps else None
        if state.expects_tolerance:
            state.report(SC.STRUCTURE, "a tolerance is missing after `+-`", Span(bracket, end), "expected a number")
        elif not state.is_bracket_reported and step is not None and step.duration is None and step.time is not None:
            state.report(SC.STRUCTURE, "an empty duration", Span(bracket, end), "expected a number in the brackets")
        state.expects_tolerance = state.is_bracket_reported = False
        return None
    for piece in _PIECES.finditer(token):
        if not state.is_bracket_reported:
            state.is_bracket_reported = not _read_duration(
                state, piece.group(), Span(start + piece.start(), start + piece.end()), bracket
            )
    if token in ("(", ")"):
        state.expects_tolerance = state.is_bracket_reported = False
        return None
    return bracket


def _read_duration(state: _LineReader, text: str, span: Span, bracket: int) -> bool:
    """Read one number or ``+-`` of a duration; returns whether it is correct there."""
    step = state.steps[-1] if state.steps else None
    value = parse_number(text)
    if step is None:
        return True  # the missing step has been reported
    if state.expects_tolerance:
        state.expects_tolerance = False
        if value is None or value < 0:
            label = "expected a number" if value is None else "negative"
            state.report(SC.STRUCTURE, f"`{_shorten(text)}` is not a tolerance", span, label)
            return False
        state.steps[-1] = step._replace(tolerance=value)
    elif text in _PLUS_MINUS and step.duration is not None and step.tolerance is None:
        state.expects_tolerance = True
    elif value is None or step.duration is not None:
        state.report(SC.STRUCTURE, f"`{_shorten(text)}` is not a duration", span, "expected a number")
        return False
    elif step.time is None:
        message = "a duration without a time"
        state.report(SC.STRUCTURE, message, Span(bracket, span.end), "expected `time: (action ..) [duration]`")
        return False
    else:
        state.steps[-1] = step._replace(duration=state.read_number(text))
    return True


def _read_time(
    state: _LineReader, token: str, start: int, end: int, time: int | Fraction | None, span: Span | None
) -> tuple[int | Fraction | None, Span | None]:
    """Read a token between steps: ``time:``, or ``time`` followed by ``:``; return the time and its place."""
    if token == ":" and span is not None and not state.has_colon:
        state.has_colon = True
        return time, span
    value = state.read_number(token.removesuffix(":"))
    if value is not None and span is None:
        state.has_colon = token.endswith(":")
        return value, Span(start, end)
    help = "write each step as `(action object ..)`" if token[0].isalpha() or token[0] == "_" else None
    state.report(SC.STRUCTURE, f"expected a step, found `{_shorten(token)}`", Span(start, end), "not a step", help)
    return None, None


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _read_definition(source: Source) -> PlanText:
    """Read ``(define (plan name) (:domain d) (:problem p) (:steps step ..))``."""
    top, syntax_diagnostics = parse_source(source)
    if top is None:
        return PlanText((), syntax_diagnostics)
    places = Places(source, top)
    state = _LineReader(source)
    form = top[0]
    assert isinstance(form, list)
    if len(top) > 1:
        state.report(SC.STRUCTURE, "text after the end of the plan", places.span(top, 1), "a file contains one plan")
    header = form[1] if len(form) > 1 else None
    if not isinstance(header, list) or len(header) != 2 or header[0] != "plan" or not isinstance(header[1], str):
        state.report(SC.STRUCTURE, "expected `(define (plan name) ..)`", places.span(form), "not a plan")
        return PlanText((), tuple(state.diagnostics))
    references: dict[str, str] = {}
    ordering: list[Node] | None = None
    section_heads: set[str] = set()
    for child in range(2, len(form)):
        section = form[child]
        head = section[0] if isinstance(section, list) and section else None
        if head not in SECTIONS:
            state.report(
                SC.STRUCTURE,
                "expected `(:domain ..)`, `(:problem ..)`, `(:steps ..)` or `(:ordering ..)`",
                places.span(form, child),
                "not a section of a plan",
                suggest_name(head, SECTIONS) if isinstance(head, str) else None,
            )
            continue
        assert isinstance(section, list)
        if head in section_heads:
            state.report(SC.DECLARED_TWICE, f"section `{head}` occurs twice", places.span(section), "again here")
            continue
        section_heads.add(str(head))
        if head == ":steps":
            for position in range(1, len(section)):
                _read_definition_step(state, places, section, position)
        elif head == ":ordering":
            ordering = section
        elif len(section) == 2 and isinstance(section[1], str):
            written = source.slice(places.span(section, 1))
            references[str(head)] = written[1:-1] if written.startswith('"') else written
        else:
            state.report(
                SC.STRUCTURE, f"`{head}` takes one name or path", places.span(section), "expected one name or path"
            )
    if ":steps" not in section_heads:
        state.report(
            SC.STRUCTURE, "the plan has no `(:steps ..)`", places.span(form, 1), "expected a section `(:steps step ..)`"
        )
    pairs = None
    if ordering is not None or any([step.label is not None for step in state.steps]):
        pairs = read_ordering(source.name, places, state.steps, ordering, state.diagnostics)
    domain, problem = references.get(":domain"), references.get(":problem")
    problems = tuple(state.diagnostics[:MAX_PROBLEMS])
    return PlanText(tuple(state.steps), problems, domain, problem, pairs, state.decimals, syntax_diagnostics)


def _read_definition_step(state: _LineReader, places: Places, section: list[Node], position: int) -> None:
    node = section[position]
    span = places.span(section, position)
    time = duration = tolerance = label = None
    if isinstance(node, list) and node and node[0] == "at" and len(node) in (3, 4, 5) and isinstance(node[2], list):
        time = state.read_number(node[1]) if isinstance(node[1], str) else None
        if time is None:
            state.report(SC.STRUCTURE, "expected a time", places.span(node, 1), "expected a number")
        if len(node) >= 4:
            duration = state.read_number(node[3]) if isinstance(node[3], str) else None
            if duration is None:
                state.report(SC.STRUCTURE, "expected a duration", places.span(node, 3), "expected a number")
        if len(node) == 5:
            tolerance = parse_number(node[4]) if isinstance(node[4], str) else None
            if tolerance is None or tolerance < 0:
                text = "expected a number" if tolerance is None else "negative"
                state.report(SC.STRUCTURE, "expected a tolerance of the duration", places.span(node, 4), text)
        span = places.span(node, 2)
        node = node[2]
    elif isinstance(node, list) and len(node) == 2 and isinstance(node[0], str) and isinstance(node[1], list):
        label = node[0]
        if parse_number(label) is not None:
            problem = f"`{_shorten(label)}` cannot label a step"
            state.report(SC.STRUCTURE, problem, places.span(node, 0), "a number names a step without a label")
        span = places.span(node, 1)
        node = node[1]
    if not isinstance(node, list) or not node or any([not isinstance(token, str) for token in node]):
        state.report(SC.STRUCTURE, "expected a step", span, "expected `(action object ..)`")
        return
    state.steps.append(Step(tuple([str(token) for token in node]), time, duration, span, label, tolerance))
