"""Raw findings: the violations that monitors report, without explanation."""

from __future__ import annotations

from plansafe.grammar.named_tuple import NamedTuple

Binding = tuple[int, ...]
MAX_INSTANCES = 5_000_000
"""The most live instances of a rule part."""


class TooManyInstances(Exception):
    """A rule has more violated or live instances than the limit allows (SC503)."""


class Violation(NamedTuple):
    """A violation of one instance of a part.

    ``step`` counts steps from 1 (0: the initial state). ``letter``: where the formula failed. ``blame`` is
    ``introduced``, ``worsened`` or ``pre-existing``. ``at_end``: judged when the trace had ended.
    """

    part: int
    binding: Binding
    step: int
    letter: int
    at_end: bool
    blame: str
