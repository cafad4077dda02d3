"""The steps of a plan as written, and the plan that consists of them."""

from __future__ import annotations

from fractions import Fraction

from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import parse_number
from plansafe.grammar.source import Source

MAX_PROBLEMS = 50
"""Maximum number of diagnostics about one plan."""
OrderedPair = tuple[int, int]
"""The numbers of two steps, counted from 1: the first must come before the second."""


class Step(NamedTuple):
    """One step as written: its tokens in lower case, its time and duration, and its place.

    ``tolerance``: how much shorter or longer than ``duration`` it may be. ``label``: its name in an ordering.
    """

    tokens: tuple[str, ...]
    time: int | Fraction | None
    duration: int | Fraction | None
    span: Span
    label: str | None = None
    tolerance: int | Fraction | None = None


class PlanText(NamedTuple):
    """A plan as written. ``domain`` and ``problem``: the names or paths in a ``define`` form, as they are spelt."""

    steps: tuple[Step, ...]
    diagnostics: tuple[Diagnostic, ...]
    domain: str | None = None
    problem: str | None = None
    ordering: tuple[OrderedPair, ...] | None = None
    """``None`` if the steps are executed in the listed order."""
    decimals: int | None = None
    """The largest number of decimals in a time or duration; ``None``: none is written."""
    warnings: tuple[Diagnostic, ...] = ()
    """Diagnostics with which the plan can still be read."""


class PlanReader:
    """Collects the steps of a plan and the diagnostics about it while its text is read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.steps: list[Step] = []
        self.diagnostics: list[Diagnostic] = []
        self.decimals: int | None = None

    def read_number(self, token: str) -> int | Fraction | None:
        """Return a time or duration as a number, and count its decimals; ``None`` if it is not a number."""
        value = parse_number(token)
        if value is not None:
            self.decimals = max(self.decimals or 0, count_decimals(token))
        return value

    def report(
        self, code: str, message: str, span: Span, text: str, help: str | None = None, second: Label | None = None
    ) -> None:
        """Report a mistake, up to ``MAX_PROBLEMS``. ``second``: the label of another place."""
        if len(self.diagnostics) < MAX_PROBLEMS:
            label = Label(self.source.name, span, text)
            labels = (label,) if second is None else (label, second)
            self.diagnostics.append(Diagnostic(code, message, labels, help=help))


def count_decimals(token: str) -> int:
    """Count the decimals of a number as written."""
    return len(token.partition(".")[2])


def shorten_token(token: str) -> str:
    """Shorten a token that is too long for a message."""
    return token if len(token) <= 40 else token[:37] + "..."
