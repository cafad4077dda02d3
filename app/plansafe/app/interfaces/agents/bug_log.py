"""The tracebacks of bugs: printed for whoever runs the service, and left out of answers."""

from __future__ import annotations

import sys

from plansafe.app.session.model import Result


def quiet(result: Result) -> Result:
    """Print the traceback of a bug on standard error, and return the result without it."""
    if result.failure is not None:
        print(result.failure, file=sys.stderr, flush=True)
    return result._replace(failure=None)
