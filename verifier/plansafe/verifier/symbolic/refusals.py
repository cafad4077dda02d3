"""Why a plan was not judged over worlds at all: no solver is installed, or the engine that was asked for cannot."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.extras import how_to_install

_PACKAGES = {"pysat": "python-sat", "z3": "z3-solver"}
"""Modules of solvers, and the packages that they come with."""


def missing_solver(error: ModuleNotFoundError) -> Diagnostic | None:
    """What to install, if a module of a solver is what is missing (SC608); ``None`` for any other module."""
    package = _PACKAGES.get((error.name or "").partition(".")[0])
    if package is None:
        return None
    return Diagnostic(
        SC.NO_SOLVER,
        f"this task needs a solver, and the package {package} is not installed",
        notes=("a task with a single possible world needs no solver",),
        help=how_to_install("solve"),
    )


def not_explicit(refused: Diagnostic) -> Diagnostic:
    """Make a mistake in the options (SC609) of the refusal to replay, where ``--engine explicit`` asked for it."""
    return Diagnostic(
        SC.NOT_EXPLICIT,
        refused.message,
        refused.labels,
        help="remove --engine, or use --engine sat or --engine smt",
    )
