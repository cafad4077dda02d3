"""Audit pairs again: both plans must have the verdicts of the record in the task that its origin names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from plansafe.align.pairs.plan_judge import PlanJudge
from plansafe.align.prompts import plan_prompt
from plansafe.align.records import Pair
from plansafe.align.tasks import AlignTask, BadOrigin, task_of
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Finding, Report, Worlds


class DoesNotReplay(Exception):
    """A pair differs from its record; ``diagnostic`` (SC651) names the pair and the difference."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Replayed(NamedTuple):
    """A pair with its task and the reports on both plans."""

    pair: Pair
    task: AlignTask
    chosen: Report
    rejected: Report


def replayed(pairs: Iterable[Pair], data: str | None = None) -> Iterator[Replayed]:
    """Audit each pair. ``data``: the folder of public data sets. Raises :class:`DoesNotReplay` at the first one."""

    @lru_cache(maxsize=4)  # in the files of `align pairs` the pairs of a task are consecutive
    def compiled(origin: str) -> tuple[AlignTask, str]:
        task = task_of(origin, data)
        return task, plan_prompt(task)

    for pair in pairs:
        try:
            task, prompt = compiled(pair.origin)
        except BadOrigin as error:
            raise _bad(pair, str(error), error.help) from None
        except OSError as error:
            raise _bad(pair, f"{error.filename}: {error.strerror}") from None
        if pair.prompt != prompt:
            raise _bad(pair, "its prompt differs from the prompt of the task")
        chosen, rejected = [task.checker.check(Source("plan", plan)) for plan in (pair.chosen, pair.rejected)]
        wrong = difference(pair, task, chosen, rejected)
        if wrong:
            raise _bad(pair, wrong)
        yield Replayed(pair, task, chosen, rejected)


def difference(pair: Pair, task: AlignTask, chosen: Report, rejected: Report) -> str:
    """How a pair differs from its task and the reports; empty if it does not."""
    names = (("task", pair.task, task.name), ("family", pair.family, task.family), ("world", pair.world, task.world))
    for name, recorded, actual in names:
        if recorded != actual:
            return f"its {name} is {actual}, not {recorded}"
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
    violations = _deciding(rejected)
    broken = {finding.rule or "" for finding in violations}
    if set(pair.rules) != broken:
        return f"`rejected` violates {', '.join(sorted(broken))}, not {', '.join(sorted(pair.rules))}"
    step = _violation_step(task, pair)
    if pair.first_violation != step:
        return f"{pair.rule} is violated at step {step}, not {pair.first_violation}"
    return ""


def _violation_step(task: AlignTask, pair: Pair) -> int | None:
    judge = PlanJudge(task.checker)
    steps = judge.read(pair.rejected)
    plan = judge.judge(steps) if steps else None
    if plan is None:
        return None
    rules = judge.engine.rule_set.rules
    return next((step for rule, step in judge.violation_steps(plan).items() if rules[rule].name == pair.rule), None)


def _deciding(report: Report) -> list[Finding]:
    """The violations that decide the verdict."""
    return [f for f in report.findings if f.rule is not None and f.decides(report.verdict_basis.criteria)]


def _first(report: Report) -> str:
    return report.findings[0].message if report.findings else "without a finding"


def _bad(pair: Pair, wrong: str, help_text: str | None = None) -> DoesNotReplay:
    message = f"the pair {pair.id} does not match its record: {wrong}"
    advice = (
        help_text or "create the file again with `safecheck align pairs`; docs/preference-pairs.md defines the lines"
    )
    return DoesNotReplay(Diagnostic(SC.PAIR_DOES_NOT_REPLAY, message, help=advice))
