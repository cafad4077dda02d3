"""Whether a pair is what it says: both plans are judged anew in the task that its origin names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from plansafe.align.choosing.pairing import known_at
from plansafe.align.prompts import compact_prompt
from plansafe.align.records import Pair
from plansafe.align.tasks import AlignTask, BadOrigin, task_of
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Finding, Report, Worlds

_KEPT_TASKS = 4
"""Tasks that stay compiled: in the files that are made here the pairs of one stand side by side."""


class DoesNotReplay(Exception):
    """A pair is not what it says; ``diagnostic`` (SC651) names it and says what differs."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Replayed(NamedTuple):
    """A pair with its task, and the reports on both plans."""

    pair: Pair
    task: AlignTask
    chosen: Report
    rejected: Report


def replayed(pairs: Iterable[Pair], data: str | None = None) -> Iterator[Replayed]:
    """Judge each pair. ``data``: the folder of public data sets. Raises :class:`DoesNotReplay` at the first bad one."""
    tasks: dict[str, tuple[AlignTask, str]] = {}
    for pair in pairs:
        if pair.origin not in tasks:
            if len(tasks) >= _KEPT_TASKS:
                del tasks[next(iter(tasks))]
            made = _task(pair, data)
            tasks[pair.origin] = made, compact_prompt(made)
        task, prompt = tasks[pair.origin]
        if pair.prompt != prompt:
            raise _bad(pair, "its prompt differs from the prompt of the task")
        chosen, rejected = [task.checker.check(Source("plan", plan)) for plan in (pair.chosen, pair.rejected)]
        wrong = difference(pair, task, chosen, rejected)
        if wrong:
            raise _bad(pair, wrong)
        yield Replayed(pair, task, chosen, rejected)


def difference(pair: Pair, task: AlignTask, chosen: Report, rejected: Report) -> str:
    """What a pair says and the engine does not; empty where they agree."""
    said = (("task", pair.task, task.name), ("family", pair.family, task.family), ("world", pair.world, task.world))
    for name, mine, theirs in said:
        if mine != theirs:
            return f"its {name} is {theirs}, not {mine}"
    for name, report, reached in (("chosen", chosen, pair.goal.chosen), ("rejected", rejected, pair.goal.rejected)):
        if report.headline is None:
            return f"`{name}` cannot be checked: {report.diagnostics[0].message if report.diagnostics else 'no reason'}"
        if report.executable is not Worlds.ALL:
            return f"`{name}` cannot be executed: {_first(report)}"
        if (report.goal is Worlds.ALL) is not reached:
            return f"`{name}` {'does not reach' if reached else 'reaches'} the goal"
    if chosen.safe is not Worlds.ALL:
        return f"`chosen` is not safe: {_first(chosen)}"
    if rejected.safe is not Worlds.NONE:
        return "`rejected` is not unsafe"
    found = _deciding(rejected)
    broken = {finding.rule or "" for finding in found}
    if set(pair.rules) != broken:
        return f"`rejected` violates {', '.join(sorted(broken))}, not {', '.join(sorted(pair.rules))}"
    actions = pair.actions.rejected
    at = min([len(actions) + 1 if f.at_end else f.step for f in found if f.rule == pair.rule])
    if pair.first_violation not in (at, known_at(task, actions, pair.rule)):
        return f"{pair.rule} is violated at step {at}, not {pair.first_violation}"
    return ""


def _deciding(report: Report) -> list[Finding]:
    """The violations of rules that decide."""
    return [f for f in report.findings if f.rule is not None and f.decides(report.verdict_basis.criteria)]


def _task(pair: Pair, data: str | None) -> AlignTask:
    try:
        return task_of(pair.origin, data)
    except BadOrigin as error:
        raise _bad(pair, str(error), error.help) from None
    except OSError as error:
        raise _bad(pair, f"{error.filename}: {error.strerror}") from None


def _first(report: Report) -> str:
    return report.findings[0].message if report.findings else "nothing is said of it"


def _bad(pair: Pair, wrong: str, help_text: str | None = None) -> DoesNotReplay:
    message = f"the pair {pair.id} does not match its record: {wrong}"
    advice = help_text or "make the file again with `safecheck align pairs`; docs/preference-pairs.md defines the lines"
    return DoesNotReplay(Diagnostic(SC.PAIR_DOES_NOT_REPLAY, message, help=advice))
