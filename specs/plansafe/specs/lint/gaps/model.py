"""What a gap is: data only; definitions in docs/safety-rules.md."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

UNREAD = SC.GAP_UNREAD
SIBLING = SC.GAP_SIBLING
LEFT = SC.GAP_LEFT_BEHIND
UNCOVERED = SC.GAP_COMBINATION
LIBRARY = SC.GAP_LIBRARY


class Gap(NamedTuple):
    """A hole of a specification, and a plan through it.

    ``plan`` reaches the goal of ``problem`` and is SAFE (or VALID) under the specification. ``rule`` is a proposed rule
    in ``.safe`` syntax that the plan breaks at ``steps`` (from 1; 0 the initial state) under ``bindings``; ``instead``
    is another plan to the goal that keeps both. ``kind`` is the pattern (docs/safety-rules.md), ``reasons`` say why the
    plan is suspicious, ``score`` how much. ``replayed``: the independent kernel agrees with all this (``None``: it
    does not cover the task).
    """

    code: str
    kind: str
    score: float
    problem: str
    plan: tuple[str, ...]
    steps: tuple[int, ...]
    bindings: tuple[tuple[tuple[str, str], ...], ...]
    reasons: tuple[str, ...]
    rule: str
    instead: tuple[str, ...]
    replayed: bool | None = None


class GapOptions(NamedTuple):
    """How to look. ``steps`` (to explore) and ``time_limit_s`` bound the work on each problem.

    ``limit``: list at most so many gaps; ``least``: none with a lower score. ``planners``: also ask external planners
    that are installed for safe plans. ``judge``: what decides whether a plan is safe (docs/language.md, section 6).
    """

    time_limit_s: float = 30.0
    max_steps: int = 1500
    max_gaps: int = 10
    min_score: float = 0.5
    use_planners: bool = True
    judge: str = "all"


class GapsResult(NamedTuple):
    """What was found. ``diagnostics``: errors of the texts, and problems about which nothing can be said, with why.

    ``explored`` counts the steps that were tried, ``candidates`` the proposed rules that were considered.
    """

    gaps: tuple[Gap, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    explored: int = 0
    candidates: int = 0
