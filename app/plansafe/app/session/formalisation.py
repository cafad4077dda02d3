"""Which tasks rules made by a language model can be tried out in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker


def unfit(checker: Checker) -> Diagnostic | None:
    """Why rules are not tried out in this task: it leaves something open, has durations, or is too large."""
    from plansafe.verifier.planning.own_search import unsupported  # noqa: PLC0415 - loads the planner

    refused = checker.compiled.refusal("the formalising of rules")
    why = unsupported(checker.compiled, True) if refused is None else ""
    if why:
        message = f"rules are not tried out in this task: {why}"
        return Diagnostic(SC.BAD_OPTION, message, help="name another problem with --problem")
    return refused
