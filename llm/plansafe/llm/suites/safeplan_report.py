"""SafePlan-Bench's tables: the rates of table 1, the violations of figure 6, the confidence of appendix A."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plansafe.llm.metrics.confidence import by_prompt, pairs
from plansafe.llm.metrics.judged import Judged, Moment
from plansafe.llm.metrics.paired import TooManyPairs, by_family
from plansafe.llm.metrics.safety_recall import safety_recall
from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent
from plansafe.llm.metrics.violations import by_rule, count
from plansafe.llm.suites.figures import RECALLS, SAFEPLAN, WAYS
from plansafe.llm.suites.judging import safeplan_taxonomy
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
    statistics,
    warnings,
    with_error,
)
from plansafe.llm.suites.task import Statistics


def safeplan_report(
    rows: Sequence[ModelScores], data: Statistics, about: Sequence[tuple[str, str]], seed: int = 0
) -> Report:
    """The report of one or more models; plans under different prompts are rows of their own."""
    apart = [one for row in rows for one in _by_prompt(row)]
    found = {one.model: estimates(one.scores, SAFEPLAN, seed) for one in apart}
    sections = [
        Section("SafePlan-Bench", (_safety(found), _success(found), _violations(apart), _cautions(apart, found))),
        Section("Stated confidence (appendix A)", _confidence(rows)),
        *[_model(one, found[one.model], alone=len(apart) == 1) for one in apart],
        Section("Cost", costs(rows)),
        *statistics(data),
    ]
    return Report("SafePlan-Bench", tuple(about), warnings(rows), tuple([one for one in sections if one.parts]))


def _by_prompt(row: ModelScores) -> list[ModelScores]:
    prompts = sorted({one.judged.prompt for one in row.scores.plans})
    if len(prompts) < 2:
        return [row]
    apart = []
    for prompt in prompts:
        plans = tuple([one for one in row.scores.plans if one.judged.prompt == prompt])
        apart.append(row._replace(model=f"{row.model}, {prompt}", scores=replace(row.scores, plans=plans)))
    return apart


def _safety(found: dict[str, Estimates]) -> Table:
    names = ("safer-all", "safer-read", "safer-executable", *[f"safer-at-{name}" for name, _ in WAYS])
    columns = ("model", "SafeR, all", "read", "executable", *[f"SafeR@S, {name}" for name, _ in WAYS])
    note = "Shares of plans that are proved safe: of all answers, of those read as a plan, of those executable, and of "
    note += "those that succeed, in three ways. What was not decided is not safe."
    return Table("Safety", columns, _rows(found, names), note)


def _success(found: dict[str, Estimates]) -> Table:
    names = ("read", "executable", *[f"succr-{name}" for name, _ in WAYS], "rouge-l", "rouge-score-l")
    columns = (
        "model",
        "read",
        "executable",
        *[f"SuccR, {name}" for name, _ in WAYS],
        "Rouge-L (1.0.1)",
        "rouge-score",
    )
    note = "SuccR: as the paper defines it (equations 15 to 17), of the state at the end, and of the goal."
    return Table("Success", columns, _rows(found, names), note)


def _rows(found: dict[str, Estimates], names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple([(model, *[with_error(figures[name]) for name in names]) for model, figures in found.items()])


def _judged(one: ModelScores) -> list[Judged]:
    return [plan.judged for plan in one.scores.plans]


def _violations(rows: Sequence[ModelScores]) -> Table:
    body = []
    for one in rows:
        found = count(_judged(one))
        times = [f"{found.by_moment[moment].times} in {found.by_moment[moment].plans} plans" for moment in Moment]
        body.append((one.model, *times, f"{found.whole.times} in {found.whole.plans} plans", str(found.incomplete)))
    columns = ("model", "process", "termination", "other", "in all", "plans with more than are listed")
    note = "Other: rules about the whole trace and obligations, which the paper's two definitions do not have."
    return Table("Violations (figure 6)", columns, tuple(body), note)


def _cautions(rows: Sequence[ModelScores], found: dict[str, Estimates]) -> Table:
    body = []
    for one in rows:
        figures, kept = found[one.model], safety_recall(_judged(one)).kept
        shares = [with_error(figures[f"recall-{name}"]) for name, *_ in RECALLS]
        broken = (kept.pre.complement.hits, kept.post.complement.hits, kept.any)
        body.append((one.model, with_error(figures["safe-success"]), *shares, *[str(number) for number in broken]))
    columns = ("model", "SSR", "recall", "pre", "post", "broken, pre", "broken, post", "broken, moment not known")
    note = "SSR: goal reached and safe. Recall: of the rules that plans brought into play, those that they kept. Pre: "
    note += "what had to be so before a step; post: right after a step, or by the end. Rules about all states name no "
    note += "moment, and are in no recall."
    return Table("Pre- and post-cautions (IS-Bench)", columns, tuple(body), note)


def _confidence(rows: Sequence[ModelScores]) -> tuple[Table, ...]:
    body = []
    tests = []
    for one in rows:
        plans = _judged(one)
        if not any([plan.confidences for plan in plans]) and len({plan.prompt for plan in plans}) < 2:
            continue
        for prompt, found in by_prompt(plans).items():
            stated = [percent(found.stated), percent(found.by_step)]
            body.append((one.model, prompt, str(found.unsafe), *stated, str(found.silent), str(found.undecided)))
        tests += _paired(one.model, plans)
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
        found = by_family(pairs(plans, without, with_it))
    except TooManyPairs:
        return []
    p = NOT_APPLICABLE if found.p is None else f"{found.p:.3f}"
    return [(model, str(found.only_first), str(found.only_second), p)]


def _model(one: ModelScores, found: Estimates, *, alone: bool) -> Section:
    plans = _judged(one)
    categories = {category.name: category.title for category in safeplan_taxonomy().categories}
    counted = count(plans, categories)
    moments = tuple([Bar(moment.value, counted.by_moment[moment].times) for moment in Moment])
    kinds = tuple([Bar(categories.get(name, name), known.times) for name, known in counted.by_category.items()])
    kinds += (Bar("no category", counted.uncategorised.times),) if counted.uncategorised.times else ()
    most = max([bar.value or 0 for bar in (*moments, *kinds)], default=0) or 1
    parts: list[Table | Plot] = [
        Plot("SafePlan-Bench's figures", bars(SAFEPLAN, found)),
        detail(SAFEPLAN, found),
        Plot("Violations by when they happen (figure 6)", moments, most, percent=False),
        Plot("Violations by category (figure 6)", kinds, most, percent=False),
    ]
    rules = by_rule(plans)
    if rules:
        body = tuple([(name, str(times)) for name, times in list(rules.items())[:30]])
        parts.append(Table("Violated rules", ("rule", "times"), body))
    return Section("Details" if alone else f"Details of {one.model}", tuple(parts))
