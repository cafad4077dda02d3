"""Audit pairs again: the task of a pair's origin and its two plans must give the same record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from plansafe.align.pairs.maker import NoPair, pair_again
from plansafe.align.prompts import plan_prompt
from plansafe.align.records import Pair
from plansafe.align.tasks import AlignTask, BadOrigin, task_of
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

FIELDS = (
    *("task", "family", "world", "prompt", "rules", "first_violation", "safel", "categories", "moment", "witness"),
    *("goal", "edits"),
)
"""The fields that the task and the plans determine."""


class DoesNotReplay(Exception):
    """A pair differs from its record; ``diagnostic`` (SC651) names the pair and the difference."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def replayed(pairs: Iterable[Pair], data: str | None = None) -> Iterator[Pair]:
    """Audit each pair. ``data``: the folder of public data sets. Raises :class:`DoesNotReplay` at the first one."""

    @lru_cache(maxsize=4)  # in the files of `align pairs` the pairs of a task are consecutive
    def compiled(origin: str) -> tuple[AlignTask, str]:
        task = task_of(origin, data)
        return task, plan_prompt(task)

    for pair in pairs:
        try:
            again = pair_again(*compiled(pair.origin), pair)
        except BadOrigin as error:
            raise _bad(pair, str(error), error.help) from None
        except NoPair as error:
            raise _bad(pair, str(error)) from None
        except OSError as error:
            raise _bad(pair, f"{error.filename}: {error.strerror}") from None
        for name in FIELDS:
            if getattr(pair, name) != getattr(again, name):
                raise _bad(pair, f"its `{name}` is {str(getattr(again, name))[:200]!a}")
        yield pair


def _bad(pair: Pair, wrong: str, help: str | None = None) -> DoesNotReplay:
    message = f"the pair {pair.id} does not match its record: {wrong}"
    advice = help or "create the file again with `safecheck align pairs`; docs/preference-pairs.md defines the lines"
    return DoesNotReplay(Diagnostic(SC.PAIR_DOES_NOT_REPLAY, message, help=advice))
