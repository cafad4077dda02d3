"""Tracebacks of internal errors: print them for the operator and remove them from results."""

from __future__ import annotations

import sys

from plansafe.app.session.model import Result


def without_traceback(result: Result) -> Result:
    """Print the traceback of an internal error on standard error, and return the result without it."""
    if result.failure is not None:
        print(result.failure, file=sys.stderr, flush=True)
    return result._replace(failure=None)
