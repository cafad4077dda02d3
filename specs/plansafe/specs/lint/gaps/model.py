"""The results and options of the search for gaps: data only; definitions in docs/safety-rules.md."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.diagnostics import Diagnostic


class Gap(NamedTuple):
    """A missing rule of a specification, and a plan that exploits the gap.

    ``plan`` reaches the goal of ``problem`` and is SAFE (or VALID) under the specification. ``rule`` is a proposed rule
    in ``.safe`` syntax that the plan violates at ``steps`` (from 1; 0 the initial state) under ``bindings``;
    ``instead`` is another plan to the goal that satisfies both. ``kind`` is the pattern (docs/safety-rules.md),
    ``reasons`` and ``score`` say why and how much the plan is suspicious. ``replayed``: the replay kernel agrees with
    all this (``None``: it does not support the task).
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
    """Options of the search. ``max_steps`` (to explore) and ``time_limit_s`` bound the work on each problem.

    ``use_planners``: use also the installed external planners to find safe plans. ``judge``: which violations decide
    whether a plan is safe (docs/language.md, section 6).
    """

    time_limit_s: float = 30.0
    max_steps: int = 1500
    max_gaps: int = 10
    min_score: float = 0.5
    use_planners: bool = True
    judge: str = "all"


class GapsResult(NamedTuple):
    """The gaps. ``diagnostics``: errors of the texts, and problems that were not searched, with the reason.

    ``explored`` counts the tried steps, ``candidates`` the proposed rules.
    """

    gaps: tuple[Gap, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    explored: int = 0
    candidates: int = 0
