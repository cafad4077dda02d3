"""The data of a diagnosis; definitions in docs/diagnose.md."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from plansafe.verifier.repair.model import RepairResult
from plansafe.verifier.reporting.report import Report


class ErrorClass(Enum):
    """The classes of error, in the order in which they are listed."""

    GRAMMAR = "grammar"
    AFFORDANCE = "affordance"
    MISSING = "missing"
    ORDER = "order"
    ADDITIONAL = "additional"
    SUBSTITUTE = "substitute"
    COMPOUND = "compound"
    UNMET_GOAL = "unmet goal"
    PROCESS_HAZARD = "process hazard"
    TERMINATION_HAZARD = "termination hazard"
    UNSAFE_GOAL = "unsafe goal"
    IRREPARABLE = "irreparable"
    UNKNOWN = "unknown"


FLAGS = frozenset(
    (ErrorClass.UNMET_GOAL, ErrorClass.PROCESS_HAZARD, ErrorClass.TERMINATION_HAZARD, ErrorClass.UNSAFE_GOAL)
)
"""Classes in addition to the others, which do not describe the kind of fault."""


class Witness(NamedTuple):
    """Why a class holds: the affected steps of the original plan (from 1), and a sentence.

    ``vector`` counts the edits by kind, for *compound*: ``(("insert", 1), ("move", 1))``.
    """

    error: ErrorClass
    steps: tuple[int, ...]
    text: str
    rule: str | None = None
    vector: tuple[tuple[str, int], ...] = ()


class Diagnosis(NamedTuple):
    """The report, error classes and repairs of one plan."""

    plan: str
    report: Report
    witnesses: tuple[Witness, ...]
    repair: RepairResult

    @property
    def classes(self) -> tuple[ErrorClass, ...]:
        """The classes with a witness, in order."""
        errors = {witness.error for witness in self.witnesses}
        return tuple([error for error in ErrorClass if error in errors])
