"""SAFEL's tables: the two of section 4, the errors of appendix P, and the paper's labels with our classes."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.llm.bench.figures import SAFEL
from plansafe.llm.bench.report import (
    Bar,
    Estimates,
    ModelScores,
    Plot,
    Report,
    Section,
    Table,
    bars,
    costs,
    detail,
    estimates,
    share_of,
    statistics,
    warnings,
    with_error,
)
from plansafe.llm.bench.task import Statistics
from plansafe.llm.metrics.sequencing import beside_ours, summarise
from plansafe.llm.metrics.shares import percent

_ERRORS = (
    ("missing", "missing step"),
    ("affordance", "affordance"),
    ("order", "wrong temporal order"),
    ("goal", "unmet goal"),
    ("additional", "additional step"),
    ("grammar", "grammar"),
)


def safel_report(
    rows: Sequence[ModelScores], data: Statistics, about: Sequence[tuple[str, str]], seed: int = 0
) -> Report:
    """The report of one or more models."""
    estimates_by_model = {row.model: estimates(row.scores, SAFEL, seed) for row in rows}
    sections = [
        Section("SAFEL", (_malicious(estimates_by_model), _situational(estimates_by_model), *_errors(rows))),
        *[_model(row, estimates_by_model[row.model], alone=len(rows) == 1) for row in rows],
        Section("Cost", costs(rows)),
        *statistics(data),
    ]
    return Report("SAFEL", tuple(about), warnings(rows), tuple([row for row in sections if row.parts]))


def _malicious(estimates_by_model: dict[str, Estimates]) -> Table:
    names = (
        "refusal-harmful",
        "goal-unary-malicious",
        "goal-relational-malicious",
        "transition-primitive-risky-effect",
        "transition-new-risky-effect",
    )
    columns = ("model", "Refusal", "Goal, unary", "Goal, relational", "Effects, primitive", "Effects, new")
    note = "Refusal: the share of malicious commands that were refused. Goal and effects: recall of literals, pooled."
    return Table("Malicious commands", columns, _rows(estimates_by_model, names), note)


def _situational(estimates_by_model: dict[str, Estimates]) -> Table:
    names = (
        "refusal-situational",
        "refusal-impossible",
        "goal-unary-situational",
        "goal-relational-situational",
        "transition-primitive-safe-precondition",
        "transition-new-safe-precondition",
        "sequencing-success",
    )
    columns = (
        "model",
        "Acceptance",
        "Refusal, no safe way",
        "Goal, unary",
        "Goal, relational",
        "Preconditions, primitive",
        "Preconditions, new",
        "SR",
        "ER",
        "Goal reached safely",
    )
    rows = []
    for model, figures in estimates_by_model.items():
        errors = figures["sequencing-success"]
        missed = None if errors.interval.value is None else 1 - errors.interval.value
        cells = [with_error(figures[name]) for name in names]
        rows.append((model, *cells, percent(missed), share_of(figures["sequencing-safe"])))
    note = (
        "SR: plans without an error that reach the goal, as the paper labels them, without a look at rules; ER = "
        "1 - SR. The last column asks for the goal and for every rule. Refusal, no safe way: harmless commands "
        "that cannot be carried out safely, which the paper does not have."
    )
    return Table("Situational commands", columns, tuple(rows), note)


def _rows(estimates_by_model: dict[str, Estimates], names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        [(model, *[with_error(figures[name]) for name in names]) for model, figures in estimates_by_model.items()]
    )


def _errors(rows: Sequence[ModelScores]) -> tuple[Table | Plot, ...]:
    body = []
    for row in rows:
        plans = [plan.judged for plan in row.scores.sequences]
        if not plans:
            continue
        summary = summarise(plans)
        shares = [str(summary.errors[name]) for _, name in _ERRORS]
        body.append((row.model, *shares, str(summary.error)))
    if not body:
        return ()
    columns = ("model", *[short for short, _ in _ERRORS], "ER")
    note = "Each plan has one label, given by the first check that fails (docs/metrics.md); shares of all plans."
    return (Table("Action sequencing, errors", columns, tuple(body), note),)


def _model(row: ModelScores, figures: Estimates, *, alone: bool) -> Section:
    parts: list[Table | Plot] = [Plot("SAFEL's figures", bars(SAFEL, figures)), detail(SAFEL, figures)]
    plans = [plan.judged for plan in row.scores.sequences]
    if plans:
        summary = summarise(plans)
        shares = [Bar(name, summary.errors[name].value) for _, name in _ERRORS]
        parts.append(Plot("Errors in action sequencing", (Bar("success", summary.success.value), *shares)))
        body = [(label, ours, str(count)) for (label, ours), count in beside_ours(plans).items()]
        note = "How many plans have SAFEL's label and a finding of our class; a plan has one label and any classes."
        parts.append(Table("SAFEL's labels and our classes", ("label", "class", "plans"), tuple(body), note))
    parts.append(_unread(row))
    return Section("Details" if alone else f"Details of {row.model}", tuple(parts))


def _unread(row: ModelScores) -> Table:
    scores = row.scores
    rows = (
        ("refusal", len(scores.refusals), sum([row.refusal.refused is None for row in scores.refusals])),
        ("goal interpretation", len(scores.goals), sum([not scored.read for scored in scores.goals])),
        ("transition modeling", len(scores.actions), sum([not scored.read for scored in scores.actions])),
        ("action sequencing", len(scores.sequences), sum([not scored.judged.read for scored in scores.sequences])),
    )
    body = tuple([(name, str(questions), str(unread)) for name, questions, unread in rows if questions])
    note = "Unclear: the answer could not be read, and counts as wrong."
    return Table("Answers", ("test", "questions", "unclear"), body, note)
