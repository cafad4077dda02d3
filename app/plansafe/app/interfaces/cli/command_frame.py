"""Run a command: check its options before its work, and report unusable options and files."""

from __future__ import annotations

from collections.abc import Callable

from plansafe.app.session.model import Settings, usage_problem
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import NotWritten, unwritable
from plansafe.app.system.process import complain


def usable(settings: Settings, work: Callable[[], int]) -> int:
    """Do the work if the options are usable; report unusable options, files and a full standard output."""
    problem = usage_problem(settings)
    if problem is not None:
        return complain(problem)
    try:
        return work()
    except (BadOption, NotWritten) as bad:
        return complain(bad.diagnostic)
    except BrokenPipeError:
        raise
    except OSError as error:
        return complain(unwritable("standard output", error))
