"""Check whether a task can be used to test rules of a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker


def unfit(checker: Checker) -> Diagnostic | None:
    """The reason why rules cannot be tested in a task: several possible worlds, durations, or its size."""
    from plansafe.verifier.planning.forward_search import find_unsupported_task_reason  # noqa: PLC0415 - loads the planner

    refused = checker.compiled.explain_refusal("the formalising of rules")
    why = find_unsupported_task_reason(checker.compiled, True) if refused is None else ""
    if why:
        message = f"this task cannot be used to test rules: {why}"
        return Diagnostic(SC.BAD_OPTION, message, help="name another problem with --problem")
    return refused
