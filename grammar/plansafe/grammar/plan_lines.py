"""Plans as lines, each a step or ``time: (action object ..) [duration]``, read token by token with places."""

from __future__ import annotations

import re
from fractions import Fraction

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.plan_steps import PlanReader, PlanText, Step, shorten_token
from plansafe.grammar.sexpr import has_invalid_utf8, make_surplus_warning, parse_number
from plansafe.grammar.source import Source

_TOKEN = re.compile(r";[^\r\n]*|[()\[\]]|[^\s()\[\];]+")
_DURATION_PIECE = re.compile(r"\+-|±|(?:(?!\+-)[^±])+")
_PLUS_MINUS = ("+-", "±")


def read_lines(source: Source) -> PlanText:
    """Read a plan of lines. Mistakes become diagnostics."""
    return _LineReader(source).read()


class _LineReader(PlanReader):
    """Reads a plan of lines; its attributes are the open brackets and the time of the next step."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._time: int | Fraction | None = None
        self._time_span: Span | None = None
        """The place of a time whose step has not ended."""
        self._has_colon = True
        """Whether the last time was read with its colon."""
        self._step_start: int | None = None
        """The place of a ``(`` that is open."""
        self._step_tokens: list[str] = []
        self._bracket_start: int | None = None
        """The place of a ``[`` that is open."""
        self._expects_tolerance = False
        """Whether ``+-`` was read, after which a tolerance must follow."""
        self._is_bracket_reported = False
        """Whether a mistake in the open brackets was reported."""

    def read(self) -> PlanText:
        """Read the whole text."""
        text = self.source.text
        text_has_invalid_utf8 = has_invalid_utf8(text)
        for match in _TOKEN.finditer(text):
            token = match.group()
            if token[0] == ";":
                continue
            if text_has_invalid_utf8 and has_invalid_utf8(token):
                self.report(SC.NOT_UTF8, "bytes outside a comment are not UTF-8", Span(*match.span()), "not UTF-8")
            elif self._bracket_start is not None:
                self._read_bracket_token(token, match.start(), self._bracket_start)
            elif token == "(":
                self._open_step(match.start())
            elif token == ")":
                if self._is_surplus(match.end()):
                    warning = make_surplus_warning(self.source, Span(*match.span()))
                    return PlanText(tuple(self.steps), (), decimals=self.decimals, warnings=(warning,))
                self._close_step(Span(*match.span()))
            elif token == "[":
                self._open_bracket(match.start())
            elif token == "]":
                self.report(SC.UNBALANCED, "unmatched `]`", Span(*match.span()), "nothing is open here")
            elif self._step_start is not None:
                self._step_tokens.append(token.lower())
            else:
                self._read_time(token, Span(*match.span()))
        self._report_unfinished()
        return PlanText(tuple(self.steps), tuple(self.diagnostics), decimals=self.decimals)

    # -- steps and times ----------------------------------------------------------------------------------------------

    def _open_step(self, start: int) -> None:
        if self._step_start is not None:
            label = "is a `)` missing before this?"
            self.report(SC.UNBALANCED, "a step begins inside another", Span(start, start + 1), label)
        if self._time_span is not None and not self._has_colon:
            self.report(SC.STRUCTURE, "a time without its colon", self._time_span, "expected `time:`")
        self._step_start, self._step_tokens = start, []

    def _close_step(self, span: Span) -> None:
        """Add the step that the ``)`` at ``span`` closes."""
        if self._step_start is None:
            self.report(SC.UNBALANCED, "unmatched `)`", span, "nothing is open here")
            return
        step_span = Span(self._step_start, span.end)
        if self._step_tokens:
            self.steps.append(Step(tuple(self._step_tokens), self._time, None, step_span))
        else:
            self.report(SC.STRUCTURE, "a step without an action", step_span, "expected `(action object ..)`")
        self._step_start = self._time = self._time_span = None

    def _is_surplus(self, end: int) -> bool:
        """Whether a ``)`` that ends at ``end`` closes nothing, in a plan without mistakes that ends there."""
        is_between_steps = self._step_start is None and self._time_span is None
        if not is_between_steps or not self.steps or self.diagnostics:
            return False
        return all([match.group()[0] == ";" for match in _TOKEN.finditer(self.source.text, end)])

    def _read_time(self, token: str, span: Span) -> None:
        """Read a token between steps: ``time:``, or ``time`` followed by ``:``."""
        if token == ":" and self._time_span is not None and not self._has_colon:
            self._has_colon = True
            return
        time = self.read_number(token.removesuffix(":"))
        if time is not None and self._time_span is None:
            self._time, self._time_span = time, span
            self._has_colon = token.endswith(":")
            return
        help = "write each step as `(action object ..)`" if token[0].isalpha() or token[0] == "_" else None
        self.report(SC.STRUCTURE, f"expected a step, found `{shorten_token(token)}`", span, "not a step", help)
        self._time = self._time_span = None

    def _report_unfinished(self) -> None:
        """Report a step, duration or time that the plan ends in."""
        if self._step_start is not None:
            place, help = Span(self._step_start, self._step_start + 1), "add `)`, or remove the truncated step"
            self.report(SC.UNBALANCED, "the plan ends inside a step", place, "this one is not closed", help)
        elif self._bracket_start is not None:
            place = Span(self._bracket_start, self._bracket_start + 1)
            self.report(SC.UNBALANCED, "the plan ends inside a duration", place, "this one is not closed")
        elif self._time_span is not None:
            self.report(SC.STRUCTURE, "a time without a step", self._time_span, "expected a step after this")

    # -- durations ----------------------------------------------------------------------------------------------------

    def _open_bracket(self, start: int) -> None:
        is_between_steps = self._step_start is None and self._time_span is None
        if not is_between_steps or not self.steps or self.steps[-1].duration is not None:
            label = "expected `time: (action ..) [duration]`"
            self.report(SC.STRUCTURE, "a duration without a step", Span(start, start + 1), label)
        self._bracket_start = start

    def _read_bracket_token(self, token: str, start: int, bracket: int) -> None:
        """Read a token of ``[duration]`` or ``[duration +- tolerance]``; only the first mistake in it is reported."""
        if token == "]":
            self._check_bracket_end(Span(bracket, start + 1))
        else:
            for piece in _DURATION_PIECE.finditer(token):
                if not self._is_bracket_reported:
                    span = Span(start + piece.start(), start + piece.end())
                    self._is_bracket_reported = not self._read_duration(piece.group(), span, bracket)
        if token in ("]", "(", ")"):
            self._bracket_start = None
            self._expects_tolerance = self._is_bracket_reported = False

    def _check_bracket_end(self, span: Span) -> None:
        """Report a number that is missing in the brackets at ``span``."""
        step = self.steps[-1] if self.steps else None
        if self._expects_tolerance:
            self.report(SC.STRUCTURE, "a tolerance is missing after `+-`", span, "expected a number")
        elif not self._is_bracket_reported and step is not None and step.duration is None and step.time is not None:
            self.report(SC.STRUCTURE, "an empty duration", span, "expected a number in the brackets")

    def _read_duration(self, text: str, span: Span, bracket: int) -> bool:
        """Read one number or ``+-`` of a duration; return whether it is correct there."""
        step = self.steps[-1] if self.steps else None
        value = parse_number(text)
        if step is None:
            return True  # the missing step has been reported
        if self._expects_tolerance:
            self._expects_tolerance = False
            if value is None or value < 0:
                label = "expected a number" if value is None else "negative"
                self.report(SC.STRUCTURE, f"`{shorten_token(text)}` is not a tolerance", span, label)
                return False
            self.steps[-1] = step._replace(tolerance=value)
        elif text in _PLUS_MINUS and step.duration is not None and step.tolerance is None:
            self._expects_tolerance = True
        elif value is None or step.duration is not None:
            self.report(SC.STRUCTURE, f"`{shorten_token(text)}` is not a duration", span, "expected a number")
            return False
        elif step.time is None:
            label = "expected `time: (action ..) [duration]`"
            self.report(SC.STRUCTURE, "a duration without a time", Span(bracket, span.end), label)
            return False
        else:
            self.steps[-1] = step._replace(duration=self.read_number(text))
        return True
