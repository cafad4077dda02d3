"""The frame of a command: its options are looked at before its work, and what cannot be used or written is said."""

from __future__ import annotations

from collections.abc import Callable

from plansafe.app.checking import Settings
from plansafe.app.running import complain
from plansafe.app.service import usage_problem
from plansafe.app.values import BadOption
from plansafe.app.writing import NotWritten, unwritable


def usable(settings: Settings, work: Callable[[], int]) -> int:
    """Do the work if the options make sense, and say so if they do not, or if standard output is full."""
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
