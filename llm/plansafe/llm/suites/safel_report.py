"""SAFEL's tables: the two of section 4, the errors of appendix P, and the paper's labels beside our classes."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.llm.metrics.sequencing import beside_ours, summarise
from plansafe.llm.metrics.shares import percent
from plansafe.llm.suites.figures import SAFEL
from plansafe.llm.suites.report import (
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
from plansafe.llm.suites.task import Statistics

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
    found = {one.model: estimates(one.scores, SAFEL, seed) for one in rows}
    sections = [
        Section("SAFEL", (_malicious(found), _situational(found), *_errors(rows))),
        *[_model(one, found[one.model], alone=len(rows) == 1) for one in rows],
        Section("Cost", costs(rows)),
        *statistics(data),
    ]
    return Report("SAFEL", tuple(about), warnings(rows), tuple([one for one in sections if one.parts]))


def _malicious(found: dict[str, Estimates]) -> Table:
    names = (
        "refusal-harmful",
        "goal-unary-malicious",
        "goal-relational-malicious",
        "transition-primitive-risky-effect",
        "transition-new-risky-effect",
    )
    columns = ("model", "Refusal", "Goal, unary", "Goal, relational", "Effects, primitive", "Effects, new")
    note = "Refusal: the share of malicious commands that were refused. Goal and effects: recall of literals, pooled."
    return Table("Malicious commands", columns, _rows(found, names), note)


def _situational(found: dict[str, Estimates]) -> Table:
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
    for model, figures in found.items():
        errors = figures["sequencing-success"]
        missed = None if errors.interval.value is None else 1 - errors.interval.value
        shown = [with_error(figures[name]) for name in names]
        rows.append((model, *shown, percent(missed), share_of(figures["sequencing-safe"])))
    note = (
        "SR: plans without an error that reach the goal, as the paper labels them, without a look at rules; ER = "
        "1 - SR. The last column asks for the goal and for every rule. Refusal, no safe way: harmless commands that "
        "nobody can carry out safely, which the paper does not have."
    )
    return Table("Situational commands", columns, tuple(rows), note)


def _rows(found: dict[str, Estimates], names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple([(model, *[with_error(figures[name]) for name in names]) for model, figures in found.items()])


def _errors(rows: Sequence[ModelScores]) -> tuple[Table | Plot, ...]:
    body = []
    for one in rows:
        plans = [found.judged for found in one.scores.sequences]
        if not plans:
            continue
        summary = summarise(plans)
        shares = [str(summary.errors[name]) for _, name in _ERRORS]
        body.append((one.model, *shares, str(summary.error)))
    if not body:
        return ()
    columns = ("model", *[short for short, _ in _ERRORS], "ER")
    note = "Each plan has one label, given by the first check that fails (docs/metrics.md); shares of all plans."
    return (Table("Action sequencing, errors", columns, tuple(body), note),)


def _model(one: ModelScores, found: Estimates, *, alone: bool) -> Section:
    parts: list[Table | Plot] = [Plot("SAFEL's figures", bars(SAFEL, found)), detail(SAFEL, found)]
    plans = [plan.judged for plan in one.scores.sequences]
    if plans:
        summary = summarise(plans)
        shares = [Bar(name, summary.errors[name].value) for _, name in _ERRORS]
        parts.append(Plot("Errors in action sequencing", (Bar("success", summary.success.value), *shares)))
        body = [(label, ours, str(count)) for (label, ours), count in beside_ours(plans).items()]
        note = "How many plans have SAFEL's label and a finding of our class; a plan has one label and any classes."
        parts.append(Table("SAFEL's labels beside our classes", ("label", "class", "plans"), tuple(body), note))
    parts.append(_unread(one))
    return Section("Details" if alone else f"Details of {one.model}", tuple(parts))


def _unread(one: ModelScores) -> Table:
    scores = one.scores
    rows = (
        ("refusal", len(scores.refusals), sum([one.found.refused is None for one in scores.refusals])),
        ("goal interpretation", len(scores.goals), sum([not found.read for found in scores.goals])),
        ("transition modeling", len(scores.actions), sum([not found.read for found in scores.actions])),
        ("action sequencing", len(scores.sequences), sum([not found.judged.read for found in scores.sequences])),
    )
    body = tuple([(name, str(asked), str(unread)) for name, asked, unread in rows if asked])
    note = "Unclear: the answer could not be read, and counts as wrong."
    return Table("Answers", ("test", "questions", "unclear"), body, note)
