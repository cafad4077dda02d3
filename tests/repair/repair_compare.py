"""Compare the verifier's repairs and classes of a task with the enumeration."""

from __future__ import annotations

import traceback
from fractions import Fraction

from repair_classes import find_error_classes
from repair_oracle import KernelTask, Optimum, TooMany, find_optimum
from repair_task import KINDS, Task, normal

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.diagnose.api import diagnose
from plansafe.verifier.kernel import KernelRejects
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import EditKind, Repair, RepairOptions, RepairResult, RepairStatus, Weights
from plansafe.verifier.rules.verdict_criteria import Exemption

LIMIT = 1500
"""Maximum number of plans that the kernel judges for one task; a task that needs more is left out."""
MAX_SHOWN = 6
PROOF_LIMITS = (6, 300)
"""Maximum length and number of the plans among which a safe plan, which refutes a proof, is searched."""


def find_optimum_within_limit(task: Task) -> Optimum | None:
    """The result of the enumeration; None if it would take too long."""
    try:
        return find_optimum(task, LIMIT)
    except TooMany:
        return None


LITTLE_WORK = (0, 40, 400, 4_000)
"""Limits of search operations at which the claims of a search are also compared."""


def make_checker(task: Task) -> Checker:
    """The verifier's view of a task."""
    rules = [Source("tiny.safe", text) for text in task.safety_texts()]
    exemptions = (Exemption(task.exempt, None, "rules", "tried", "here"),) if task.exempt else ()
    options = Options(judge=task.judge, min_severity=task.min_severity, exemptions=exemptions)
    texts = Source("domain.pddl", task.domain_text()), Source("problem.pddl", task.problem_text())
    return Checker(*texts, rules, options)


def make_options(task: Task) -> RepairOptions:
    """The search options for the verifier."""
    return RepairOptions(
        weights=Weights(*task.weights),
        protected=task.protected,
        max_cost=task.bound,
        max_repairs=100_000,
        time_limit_s=None,
    )


def find_differences(task: Task, best: Optimum) -> list[str]:
    """One line for each disagreement, including a crash. Classes depend on repairs, so they are compared last."""
    checker = make_checker(task)
    if not checker.ok:
        return [f"rejected: {[diagnostic.message for diagnostic in checker.diagnostics][:3]}"]
    plan = Source("tiny.plan", task.plan_text())
    try:
        disagreements = compare_repairs(task, best, repair(checker, plan, make_options(task)))
        for work in LITTLE_WORK:
            options = make_options(task)._replace(max_cost=None, max_work=work)
            disagreements += compare_limited_search(task, best, repair(checker, plan, options), work)
        if not disagreements:
            diagnosis = diagnose(checker, plan, make_options(task))
            reported_classes = {error.value for error in diagnosis.classes}
            disagreements = compare_classes(find_error_classes(task, best), reported_classes, diagnosis.repair.status)
    except Exception:
        return ["crash: " + traceback.format_exc()]
    return disagreements


def compare_repairs(task: Task, best: Optimum, result: RepairResult) -> list[str]:
    """The disagreements of a search for repairs with the enumeration."""
    if best.cost == 0:
        return [] if result.status is RepairStatus.ALREADY_SAFE else [f"status: {result.status} of a safe plan"]
    if best.cost is None:
        wrong = result.status not in (RepairStatus.NOT_FOUND, RepairStatus.PROVED_NONE) or result.repairs
        if wrong:
            return [f"status: {result.status} but no repair found\n{format_repairs(collect_repairs(result))}"]
        if result.status is RepairStatus.PROVED_NONE and not task.protected:
            world = KernelTask(task)
            try:
                plan = world.find_safe_plan(*PROOF_LIMITS)
            except TooMany:  # blame that the kernel does not tell
                return []
            if plan is not None:
                return [f"proof: {' '.join([world.actions[code] for code in plan]) or 'the empty plan'} is safe"]
        return []
    disagreements = []
    if result.status is not RepairStatus.FOUND:
        disagreements.append(
            f"status: {result.status} where cost {best.cost} is possible\n{format_repairs(best.repairs)}"
        )
        return disagreements
    costs = {repair.cost for repair in result.repairs}
    if costs != {best.cost} or result.bound > best.cost:
        disagreements.append(f"cost: {sorted(costs)}, bound {result.bound}; enumeration {best.cost}")
    if not (result.optimal and result.complete):
        disagreements.append(f"unproved: optimal {result.optimal}, complete {result.complete}")
    reported = collect_repairs(result)
    missing, excess = best.repairs - reported, reported - best.repairs
    if missing:
        disagreements.append(f"lacking: {len(missing)} of {len(best.repairs)} repairs\n{format_repairs(missing)}")
    if excess:
        disagreements.append(f"excess: {len(excess)} of {len(reported)} repairs\n{format_repairs(excess)}")
    if len(reported) != len(result.repairs):
        disagreements.append(f"equal: {len(result.repairs) - len(reported)} repairs are listed twice")
    for listed in result.repairs:
        disagreements += [f"script: {problem}\n{listed}" for problem in check_edits(task, listed)]
    return disagreements


def compare_limited_search(task: Task, best: Optimum, result: RepairResult, work: int) -> list[str]:
    """The claims of a search that may have ended early that the enumeration disproves."""
    disagreements = []
    cost = result.repairs[0].cost if result.repairs else None
    if result.optimal and "limit" in result.detail:
        disagreements.append(f"proved least, but: {result.detail}")
    if best.cost is not None:
        if result.bound > best.cost:
            disagreements.append(f"bound: {result.bound}, but {best.cost} is possible")
        if result.status is RepairStatus.PROVED_NONE:
            disagreements.append(f"proof: {result.detail}, but cost {best.cost} is possible")
        if cost is not None and (cost < best.cost or (result.optimal and cost != best.cost)):
            disagreements.append(f"cost: {cost}, optimal {result.optimal}; enumeration {best.cost}")
    elif cost is not None and cost <= task.bound:
        disagreements.append(f"cost: {cost}, the enumeration finds none up to {task.bound}")
    return [f"after {work} operations: {line}" for line in disagreements]


def collect_repairs(result: RepairResult) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The repairs in the form of the enumeration."""
    return {
        (tuple(map(normal, listed.steps)), tuple(sorted([kind.value for kind in listed.kinds])))
        for listed in result.repairs
    }


def format_repairs(repairs: object) -> str:
    """Some repairs, one per line."""
    assert isinstance(repairs, set | frozenset)
    lines = [f"  {' '.join(kinds)}: {' '.join(steps)}" for steps, kinds in sorted(repairs)]
    return "\n".join(lines[:MAX_SHOWN] + (["  .."] if len(lines) > MAX_SHOWN else []))


def check_edits(task: Task, listed: Repair) -> list[str]:
    """The reasons why the edits of a repair do not produce its plan."""
    problems = []
    steps = [normal(step) for step in task.plan]
    weight = dict(zip(KINDS, task.weights, strict=True))
    if listed.cost != sum([weight[kind.value] for kind in listed.kinds], Fraction(0)):
        problems.append("the cost is not the sum of the weights")
    if listed.report.headline is None or listed.report.headline.value not in ("SAFE", "VALID"):
        problems.append("the replay is neither SAFE nor VALID")
    by_kind: dict[EditKind, set[tuple[int, int]]] = {kind: set() for kind in EditKind}
    for edit in listed.edits:
        by_kind[edit.kind].add((edit.step, edit.position))
        before = steps[edit.step - 1] if edit.step else ""
        after = normal(listed.steps[edit.position - 1]) if edit.position else ""
        if (edit.before and normal(edit.before) != before) or bool(edit.before) != bool(edit.step):
            problems.append(f"before: {edit}")
        if (edit.after and normal(edit.after) != after) or bool(edit.after) != bool(edit.position):
            problems.append(f"after: {edit}")
    pairs = {(origin, position) for position, origin in enumerate(listed.origin, 1)}
    original_steps = [step for step in listed.origin if step]
    if len(listed.origin) != len(listed.steps) or len(set(original_steps)) != len(original_steps):
        problems.append("the origins are not one for each step")
        return problems
    if by_kind[EditKind.INSERT] != {pair for pair in pairs if not pair[0]}:
        problems.append("the insertions are not the steps without origin")
    if by_kind[EditKind.DELETE] != {(step, 0) for step in range(1, len(steps) + 1) if step not in listed.origin}:
        problems.append("the deletions are not the missing steps")
    replaced = {(step, place) for step, place in pairs if step and steps[step - 1] != normal(listed.steps[place - 1])}
    if by_kind[EditKind.SUBSTITUTE] != replaced:
        problems.append("the substitutions are not the changed steps")
    moved = by_kind[EditKind.MOVE]
    staying = [step for place, step in enumerate(listed.origin, 1) if step and (step, place) not in moved]
    if staying != sorted(staying) or not moved <= pairs - replaced:
        problems.append("unmoved steps change their order, or moved steps are changed")
    touched = {edit.step for edit in listed.edits}
    if touched & task.protected:
        problems.append("a protected step is changed")
    return problems


def compare_classes(enumerated: set[str], reported: set[str], status: RepairStatus) -> list[str]:
    """The classes that disagree; *irreparable* and *unsafe goal* need a proof, which an enumeration does not give."""
    if "irreparable" in enumerated and status is RepairStatus.NOT_FOUND:
        enumerated = enumerated - {"irreparable"} | {"unknown"}
    if reported - {"unsafe goal"} != enumerated:
        missing, excess = sorted(enumerated - reported), sorted(reported - enumerated - {"unsafe goal"})
        return [f"classes: lacking {missing}, excess {excess}"]
    if "unsafe goal" in reported and ("irreparable" not in enumerated or status is not RepairStatus.PROVED_NONE):
        return ["classes: an unsafe goal where there is a repair, or without proof"]
    return []


def find_task_differences(task: Task) -> list[str]:
    """The disagreements about a task; none where the kernel rejects it or it takes too long."""
    try:
        best = find_optimum_within_limit(task)
    except (KernelRejects, ValueError, KeyError, AssertionError):  # what shrinking broke
        return []
    return find_differences(task, best) if best is not None else []


def format_reproduction(task: Task) -> str:
    """The text that reproduces a disagreement."""
    best = find_optimum_within_limit(task)
    lines = [task.domain_text(), task.problem_text(), *task.safety_texts(), task.plan_text()]
    lines.append(f"weights {dict(zip(KINDS, map(str, task.weights), strict=True))}, bound {task.bound}, ")
    lines[-1] += f"protected {sorted(task.protected)}, judge {task.judge}, min severity {task.min_severity}"
    if best is not None:
        lines.append(
            f"enumeration: cost {best.cost}, classes {sorted(find_error_classes(task, best))}, "
            f"plan {best.judgement.headline}"
        )
        lines.append(format_repairs(best.repairs))
        lines += find_differences(task, best)
    return "\n".join(lines)
