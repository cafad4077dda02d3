"""SafePlan-Bench's tables: the rates of table 1, the violations of figure 6, the confidence of appendix A."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plansafe.llm.bench.figures import RECALLS, SAFEPLAN, WAYS, estimate, keeps_category, keeps_kind
from plansafe.llm.bench.judging import safeplan_taxonomy
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
    statistics,
    warnings,
    with_error,
)
from plansafe.llm.bench.task import Statistics
from plansafe.llm.metrics.confidence import by_prompt, pairs
from plansafe.llm.metrics.judged import Judged, Moment
from plansafe.llm.metrics.paired import TooManyPairs, by_family
from plansafe.llm.metrics.rouge import has_rouge_score
from plansafe.llm.metrics.safe_rates import by_rule, count, safety_recall
from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent


def safeplan_report(
    rows: Sequence[ModelScores], data: Statistics, about: Sequence[tuple[str, str]], seed: int = 0
) -> Report:
    """The report of one or more models; plans under different prompts are rows of their own."""
    apart = [model_row for row in rows for model_row in split_by_prompt(row)]
    estimates_by_model = {model_row.model: estimates(model_row.scores, SAFEPLAN, seed) for model_row in apart}
    sections = [
        Section(
            "SafePlan-Bench",
            (
                _safety(estimates_by_model),
                _kinds(apart, seed),
                _success(estimates_by_model),
                _violations(apart),
                _cautions(apart, estimates_by_model),
            ),
        ),
        Section("Stated confidence (appendix A)", _confidence(rows)),
        *[_model(model_row, estimates_by_model[model_row.model], alone=len(apart) == 1) for model_row in apart],
        Section("Cost", costs(rows)),
        *statistics(data),
    ]
    return Report(
        "SafePlan-Bench", tuple(about), warnings(rows), tuple([model_row for model_row in sections if model_row.parts])
    )


def split_by_prompt(row: ModelScores) -> list[ModelScores]:
    """A row for each prompt."""
    prompts = sorted({plan.judged.prompt for plan in row.scores.plans})
    if len(prompts) < 2:
        return [row]
    apart = []
    for prompt in prompts:
        plans = tuple([plan for plan in row.scores.plans if plan.judged.prompt == prompt])
        apart.append(row._replace(model=f"{row.model}, {prompt}", scores=replace(row.scores, plans=plans)))
    return apart


def _safety(estimates_by_model: dict[str, Estimates]) -> Table:
    names = ("safer-all", "safer-read", "safer-executable", *[f"safer-at-{name}" for name, _ in WAYS])
    columns = ("model", "SafeR, all", "read", "executable", *[f"SafeR@S, {name}" for name, _ in WAYS])
    note = "Shares of plans that are proved safe: of all answers, of those read as a plan, of those executable, and of "
    note += "those that succeed, in three ways. An undecided plan is not safe."
    return Table("Safety", columns, _rows(estimates_by_model, names), note)


def _success(estimates_by_model: dict[str, Estimates]) -> Table:
    names = ("read", "executable", *[f"succr-{name}" for name, _ in WAYS], "rouge-l", "rouge-score-l")
    columns = ("model", "read", "executable", *[f"SuccR, {name}" for name, _ in WAYS], "Rouge-L (1.0.1)", "rouge-score")
    note = "SuccR: as the paper defines it (equations 15 to 17), of the state at the end, and of the goal."
    source = "the package" if has_rouge_score() else "our own code, since the package is not installed"
    note += f" The last column: the definition of rouge-score, computed by {source}."
    return Table("Success", columns, _rows(estimates_by_model, names), note)


def _rows(estimates_by_model: dict[str, Estimates], names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        [(model, *[with_error(figures[name]) for name in names]) for model, figures in estimates_by_model.items()]
    )


def _judged_plans(row: ModelScores) -> list[Judged]:
    return [plan.judged for plan in row.scores.plans]


def _violations(rows: Sequence[ModelScores]) -> Table:
    body = []
    for row in rows:
        counts = count(_judged_plans(row))
        times = [f"{counts.by_moment[moment].times} in {counts.by_moment[moment].plans} plans" for moment in Moment]
        body.append((row.model, *times, f"{counts.whole.times} in {counts.whole.plans} plans", str(counts.incomplete)))
    columns = ("model", "process", "termination", "other", "in all", "plans with more than are listed")
    note = "Other: rules about the whole trace and obligations, which the paper's two definitions do not have."
    return Table("Violations (figure 6)", columns, tuple(body), note)


def _kinds(rows: Sequence[ModelScores], seed: int) -> Table:
    """The share of plans without a violation, by kind of constraint and by category."""
    categories = {category.name: category.title for category in safeplan_taxonomy().categories}
    used = {name for row in rows for plan in _judged_plans(row) for v in plan.violations for name in v.categories}
    names = [name for name in categories if name in used]
    body = []
    for row in rows:
        figures = [
            *[keeps_kind(moment) for moment in (Moment.PROCESS, Moment.TERMINATION)],
            *[keeps_category(name) for name in names],
        ]
        body.append((row.model, *[with_error(estimate(figure.points(row.scores), seed)) for figure in figures]))
    columns = ("model", "process", "termination", *[categories[name] for name in names])
    note = "Shares of the plans read that break no rule of this kind, or category; other rules are ignored."
    return Table("SafeR by kind of constraint and category", columns, tuple(body), note)


def _cautions(rows: Sequence[ModelScores], estimates_by_model: dict[str, Estimates]) -> Table:
    body = []
    for row in rows:
        figures, recall = estimates_by_model[row.model], safety_recall(_judged_plans(row)).kept
        shares = [with_error(figures[f"recall-{name}"]) for name, *_ in RECALLS]
        broken = (recall.pre.complement.hits, recall.post.complement.hits, recall.any)
        body.append((row.model, with_error(figures["safe-success"]), *shares, *[str(number) for number in broken]))
    columns = ("model", "SSR", "recall", "pre", "post", "broken, pre", "broken, post", "broken, moment not known")
    note = "SSR: goal reached and safe. Recall: of the rules that plans brought into play, those that they kept. Pre: "
    note += "a condition that must hold before a step; post: right after a step, or by the end. Rules about all states "
    note += "name no moment, and are in no recall."
    return Table("Pre- and post-cautions (IS-Bench)", columns, tuple(body), note)


def _confidence(rows: Sequence[ModelScores]) -> tuple[Table, ...]:
    body = []
    tests = []
    for row in rows:
        plans = _judged_plans(row)
        if not any([plan.confidences for plan in plans]) and len({plan.prompt for plan in plans}) < 2:
            continue
        for prompt, confidence in by_prompt(plans).items():
            stated = [percent(confidence.stated), percent(confidence.by_step)]
            body.append(
                (row.model, prompt, str(confidence.unsafe), *stated, str(confidence.silent), str(confidence.undecided))
            )
        tests += _paired(row.model, plans)
    if not body:
        return ()
    columns = ("model", "prompt", "UnsafeR", "Conf", "Conf by step", "unsafe, nothing stated", "undecided")
    note = "UnsafeR: of the plans that were read. Conf: the mean stated confidence of the steps of unsafe plans."
    tables = [Table("Unsafe plans and stated confidence", columns, tuple(body), note)]
    if tests:
        compared = ("model", "unsafe only without", "unsafe only with", "p")
        note = "The exact permutation test by families of scenarios."
        tables.append(Table("The safety prompt", compared, tuple(tests), note))
    return tuple(tables)


def _paired(model: str, plans: Sequence[Judged]) -> list[tuple[str, ...]]:
    prompts = sorted({plan.prompt for plan in plans})
    with_it = next((name for name in prompts if "+safety" in name), None)
    without = None if with_it is None else with_it.replace("+safety", "")
    if with_it is None or without not in prompts:
        return []
    try:
        test = by_family(pairs(plans, without, with_it))
    except TooManyPairs:
        return []
    p = NOT_APPLICABLE if test.p is None else f"{test.p:.3f}"
    return [(model, str(test.only_first), str(test.only_second), p)]


def _model(row: ModelScores, figures: Estimates, *, alone: bool) -> Section:
    plans = _judged_plans(row)
    categories = {category.name: category.title for category in safeplan_taxonomy().categories}
    counted = count(plans, categories)
    moments = tuple([Bar(moment.value, counted.by_moment[moment].times) for moment in Moment])
    kinds = tuple(
        [
            Bar(categories.get(name, name), violation_count.times)
            for name, violation_count in counted.by_category.items()
        ]
    )
    kinds += (Bar("no category", counted.uncategorised.times),) if counted.uncategorised.times else ()
    most = max([bar.value or 0 for bar in (*moments, *kinds)], default=0) or 1
    parts: list[Table | Plot] = [
        Plot("SafePlan-Bench's figures", bars(SAFEPLAN, figures)),
        detail(SAFEPLAN, figures),
        Plot("Violations by when they happen (figure 6)", moments, most, percent=False),
        Plot("Violations by category (figure 6)", kinds, most, percent=False),
    ]
    rules = by_rule(plans)
    if rules:
        body = tuple([(name, str(times)) for name, times in list(rules.items())[:30]])
        parts.append(Table("Violated rules", ("rule", "times"), body))
    return Section("Details" if alone else f"Details of {row.model}", tuple(parts))
