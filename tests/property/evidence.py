"""Compare the tables and labels of findings with the kernel's traces of the same plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.kernel import Kernel
from plansafe.verifier.kernel.formulas import STEP_PREDICATES
from plansafe.verifier.model.nodes import Action
from plansafe.verifier.reporting.report import Finding, Report

Fact = tuple[str, ...]


class Replayed(NamedTuple):
    """One reading of a plan: each change of each fact, and the steps that start or end at each letter.

    ``changes[fact]`` are (letter, value before, value after), as a table prints them; ``steps[letter]`` are the numbers
    of the steps that led to it.
    """

    changes: dict[Fact, list[tuple[int, str, str]]]
    steps: list[frozenset[int]]
    initial: dict[Fact, str]


def replayed(kernel: Kernel, plan: str, reading: str) -> Replayed:
    """Replay one reading of a plan with the kernel."""
    trace = kernel.trace(plan, reading)
    steps_by_letter: list[set[int]] = [set() for _ in range(trace.last + 2)]
    for (kind, *_), intervals in trace.step_intervals.items():
        for interval in intervals if kind != STEP_PREDICATES["action-during"] else ():
            steps_by_letter[interval.first + 1].add(interval.step)
    changes: dict[Fact, list[tuple[int, str, str]]] = {}
    initial: dict[Fact, str] = {}
    for key, history in trace.history.items():
        fact = key[1:] if key[0] == "#" else key  # a fluent
        before = "undefined" if any(isinstance(value, Fraction) for _, value in history) else "F"
        for letter, value in history:
            now = cell_text(value)
            if letter == 0:
                initial[fact] = now
            elif now != before:
                changes.setdefault(fact, []).append((letter, before, now))
            before = now
    return Replayed(changes, [frozenset(numbers) for numbers in steps_by_letter], initial)


def cell_text(value: Any) -> str:
    """A value of the kernel as a table prints it."""
    return str(value) if isinstance(value, Fraction) else {0: "F", 2: "T", None: "undefined"}[value]


def words(text: str) -> Fact:
    """The words of a printed fact or step."""
    return tuple(text.strip("()").split())


def find_false_evidence(checker: Checker, kernel: Kernel, plan: str, report: Report) -> list[str]:
    """Describe the rows and labels of findings that the kernel's replay of the same reading contradicts."""
    readings: dict[str, Replayed] = {}
    out = []
    spans = checker.read(Source(report.plan, plan)).spans
    for finding in report.findings:
        reading = "skip" if finding.code == "SC306" else finding.readings[0]
        if reading not in readings:
            readings[reading] = replayed(kernel, plan, reading)
        problems = [*_rows(checker, finding, readings[reading]), *_labels(finding, spans, readings[reading])]
        out += [f"{finding.message}: {problem}" for problem in problems]
    return out


def _labels(finding: Finding, spans: tuple[Span, ...], replay: Replayed) -> Iterator[str]:
    """Find labels of steps that do not have the stated effect, or that were not taken."""
    for label in finding.related:
        if label.source != finding.source or label.span not in spans:
            continue
        step = spans.index(label.span) + 1
        letters = [letter for letter, steps in enumerate(replay.steps) if step in steps]
        for text, value in re.findall(r"`(\([^`]*)` becomes (\S+)", label.text):
            expected = {"true": "T", "false": "F", "None": "undefined"}.get(value, value)
            if not any(at in letters and now == expected for at, _, now in replay.changes.get(words(text), [])):
                yield f"{text} does not become {value} at step {step}"
        if "is relevant to the rule" in label.text and not letters:
            yield f"step {step} was not taken but is called relevant"


def _rows(checker: Checker, finding: Finding, replay: Replayed) -> Iterator[str]:
    if finding.table is None:
        return
    actions = checker.engine.task.actions
    for row in finding.table.rows:
        for column, cell in zip(finding.table.columns, row.cells, strict=True):
            if cell.before == cell.after:
                continue
            fact = words(column)
            changed = [
                letter
                for letter, before, now in replay.changes.get(fact, [])
                if (before, now) == (cell.before, cell.after)
            ]
            if row.step and not any(row.step in replay.steps[letter] for letter in changed):
                yield f"step {row.step} did not change {column} from {cell.before} to {cell.after}"
            for text in row.action.split(" and "):
                if text != "timed literal" and not text:
                    yield f"a row for {column} names no step"
                elif text != "timed literal" and not touches(checker, actions[words(text)[0]], fact[0]):
                    yield f"{text} has no effect on {fact[0]}"


def touches(checker: Checker, action: Action, name: str) -> bool:
    """Whether an action's effects mention a predicate or function, or the predicate is derived."""
    task = checker.engine.task
    if any(task.predicates[axiom.predicate].name == name for stratum in task.axioms for axiom in stratum):
        return True
    effects = [*action.start.effects, *(action.end.effects if action.end else ())]
    facts = {task.predicates[atom.predicate].name for effect in effects for atom in (*effect.adds, *effect.deletes)}
    return name in facts | {
        task.functions[assignment.function].name for effect in effects for assignment in effect.assignments
    }
