"""The verdict on a plan over all worlds: which way of judging fits."""

from __future__ import annotations

import gc
from time import monotonic
from typing import TYPE_CHECKING

from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.model.limits import Limited, LimitReached
from plansafe.verifier.reporting.report import Headline, Report
from plansafe.verifier.symbolic.invariants.groups import restrictions
from plansafe.verifier.symbolic.worlds.model import Completion
from plansafe.verifier.symbolic.worlds.replaying import in_order
from plansafe.verifier.symbolic.worlds.showing import Show

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker
    from plansafe.verifier.execution.reading import ReadSteps

INFERENCE_S = 2.0
"""How long invariants are looked for."""


def audit(checker: Checker, plan: Source, read: ReadSteps, deadline: float | None = None) -> Report:
    """The verdict on one plan over all worlds. Raises :class:`LimitReached`, ``SolverMissing``."""
    assert checker.engine is not None
    options = checker.options
    if read.timed is not None and not (checker.open or read.open):
        why = f"the engine `{options.engine}` takes no plans with times where nothing is open"
        return Show(checker, plan, read).unsupported(why, "leave --engine out, or take --engine explicit")
    if read.ordering is not None and any([literal.time > 0 for literal in checker.engine.task.timed_literals]):
        why = "timed literals need times, and the steps of a partially ordered plan have none"
        return Show(checker, plan, read).unsupported(why, "give the steps times, or leave the timed literals out")
    if "introduced" in options.blame and set(options.blame) != {"introduced"} and read.ordering is None:
        why = f"violations that are {' or '.join(options.blame)} cannot be told apart over worlds"
        return Show(checker, plan, read).unsupported(why, "take --blame introduced alone, or leave it out")
    until = monotonic() + INFERENCE_S
    try:
        restricted = restrictions(
            checker.engine.task,
            checker.openings,
            checker.invariants,
            options.infer_invariants,
            until if deadline is None else min(until, deadline),
            options.lenient_types,
        )
        order = None if read.ordering is None else only_order(len(read.steps), read.ordering)
        if order is not None:
            read = in_order(read, Completion(frozenset(), {}, {}, order))
        if read.timed is not None or read.ordering is not None:
            from plansafe.verifier.symbolic.worlds.unencoded import Unencoded  # noqa: PLC0415 - for such plans alone

            return Unencoded(checker, plan, read, restricted, deadline).report()
        from plansafe.verifier.symbolic.worlds.encoded import Encoded  # noqa: PLC0415

        collecting = gc.isenabled()
        gc.disable()  # an encoding makes millions of objects and no garbage
        try:
            return Encoded(checker, plan, read, restricted, deadline, order or ()).report()
        finally:
            if collecting:
                gc.enable()
    except LimitReached as limit:
        if limit.what is not Limited.OPEN_FACTS:
            raise
        help = "name the types of what is open more narrowly"
        diagnostic = Diagnostic("SC503", str(limit), severity=Severity.WARNING, help=help)
        return Show(checker, plan, read).nothing(diagnostic, Headline.UNKNOWN)


def only_order(steps: int, pairs: tuple[tuple[int, int], ...]) -> tuple[int, ...] | None:
    """The order of a plan that allows one alone."""
    before: dict[int, set[int]] = {number: set() for number in range(1, steps + 1)}
    for first, second in pairs:
        before[second].add(first)
    out: list[int] = []
    while before:
        ready = [number for number, waiting in before.items() if waiting <= set(out)]
        if len(ready) != 1:
            return None
        out.append(ready[0])
        del before[ready[0]]
    return tuple(out)
