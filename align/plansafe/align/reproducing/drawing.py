"""The tasks of a reproduction, drawn and solved: a record for each, in a file that is resumed where it was cut.

For training a task has two plans. The plain one comes of a planner that minds no rule, as people's scripts do; where it
breaks one, the safe one is its nearest repair. So what a model learns from the pair is the danger, and not another way
to the goal. For testing there is the safe reference alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

from plansafe.align.evaluating.tasks import EvalTask, Opened, Shift, opened
from plansafe.align.making.walks import Walks
from plansafe.align.prompts import compact_prompt
from plansafe.align.records import Both, Pair, SftLine, actions_of, plan_of
from plansafe.align.reproducing.sizes import MOST_TRAIN, Data
from plansafe.align.reproducing.wandering import wandered
from plansafe.align.tasks import AlignTask
from plansafe.align.tokens import shared_actions
from plansafe.align.weights import Evidence, step_weights
from plansafe.grammar.source import Source
from plansafe.llm.instances.drawn import draw
from plansafe.llm.tasks import load as load_task
from plansafe.specs.taxonomy import load_taxonomies
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.regrets import Grade, RegretCalculator
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions
from plansafe.verifier.reporting.report import Finding, Headline, Report, Worlds

FIRST_TEST = MOST_TRAIN
"""The number of the first test task of a family: those of training lie below."""
MOST_NODES = 5_000
_REPAIR = RepairOptions(max_repairs=1, time_limit_s=None, max_cost=4)
"""Without a limit of time, so that every machine finds the same."""
_TIME_LIMIT_S = 600.0


class Item(NamedTuple):
    """A task to draw: its name and origin as in ``tasks.py``; ``shift`` as in ``evaluating/``, training has none."""

    task: str
    origin: str
    family: str
    number: int
    test: bool
    shift: str


def items(data: Data) -> list[Item]:
    """All tasks of a reproduction, those of all families by turns: a part from the beginning has some of each."""
    found = [_item(data, family, number, False, "") for number in range(data.train) for family in data.families]
    for number in range(max(data.test, data.test_unseen)):
        place = FIRST_TEST + number
        found += [_item(data, family, place, True, "in") for family in data.families if number < data.test]
        found += [_item(data, family, place, True, "family") for family in data.unseen if number < data.test_unseen]
    return found


def _item(data: Data, family: str, number: int, test: bool, shift: str) -> Item:
    name, origin = f"{family}-{number}/{data.seed}/{data.rooms}", f"drawn:{family}/{number}/{data.seed}/{data.rooms}"
    return Item(name, origin, family, number, test, shift)


def drawn(item: Item, data: Data) -> dict[str, Any]:
    """The record of a task."""
    made = draw(item.family, item.number, data.seed, data.rooms)
    checker = made.checker()
    said: dict[str, Any] = {
        "words": made.words,
        "problem": made.problem.text,
        "prompt": compact_prompt(_Asked(made.words, checker)),
        "reference": made.reference,
    }
    if item.test:
        return said
    plain = _plain(checker)
    report = checker.check(Source("plan", plain)) if plain else None
    said |= {"plain": plain, "headline": None if report is None or report.headline is None else report.headline.value}
    if report is not None and report.headline is Headline.UNSAFE and report.goal is Worlds.ALL:
        said["safe"] = _safe(checker, plain, made.reference)
        sides = Both(said["safe"], plain)
        if data.detours:
            sides = _apart(checker, sides, data.detours, item.task)
            report = checker.check(Source("plan", sides.rejected))
        said["pair"] = _pair(checker, sides, report, Grade(data.regret))
    return said


class _Asked(NamedTuple):
    words: str
    checker: Checker


def _plain(checker: Checker) -> str:
    """A plan that reaches the goal and minds no rule; empty where none is found."""
    found = ForwardSearch(MOST_NODES).solve(PlanningQuery(checker, rules=False, time_limit_s=_TIME_LIMIT_S))
    if found.status is not PlanningStatus.SOLVED:
        return ""
    return plan_of([step_text(step, checker.engine.task.objects) for step in found.steps])


def _safe(checker: Checker, plain: str, reference: str) -> str:
    """The nearest safe plan, or the reference where that is far."""
    found = repair(checker, Source("plan", plain), _REPAIR)
    return plan_of(found.repairs[0].steps) if found.repairs else reference


def _apart(checker: Checker, sides: Both[str], detours: int, task: str) -> Both[str]:
    """Both plans with needless steps that change nothing of their verdicts."""
    walks = Walks(checker)

    def longer(plan: str, side: str) -> str:
        steps = walks.read(plan)
        if steps is None:
            return plan
        return plan_of(walks.texts(wandered(walks, steps, detours, Random(f"{task}/{side}"))))

    return Both(longer(sides.chosen, "chosen"), longer(sides.rejected, "rejected"))


def _pair(checker: Checker, sides: Both[str], report: Report, grade: Grade) -> dict[str, Any] | None:
    """What a pair says of its unsafe plan, by the rule that is broken first; ``None`` where no rule can be named."""
    chosen, rejected = actions_of(sides.chosen), actions_of(sides.rejected)
    found = [(_place(one, len(rejected)), one) for one in report.findings if one.rule is not None]
    found = [pair for pair in found if pair[0] > shared_actions(chosen, rejected)]
    if not found:
        return None
    first, broken = min(found, key=lambda pair: pair[0])
    rule = next(one for one in checker.rules if one.name == broken.rule)
    taxonomies = load_taxonomies()
    return {
        "chosen": sides.chosen,
        "rejected": sides.rejected,
        "first_violation": first,
        "rule": rule.name,
        "rules": sorted({str(one.rule) for _, one in found}),
        "safel": [one.name for one in taxonomies["safel"].categories_of(rule)],
        "categories": [one.name for one in taxonomies["safeplan-bench"].categories_of(rule)],
        "witness": broken.message,
        **_regrets(checker, sides, grade),
    }


def _regrets(checker: Checker, sides: Both[str], grade: Grade) -> dict[str, Any]:
    """What the steps of both plans waste, and up to where a safe plan is still known."""
    plans = [Source("chosen", sides.chosen), Source("rejected", sides.rejected)]
    found = RegretCalculator(checker).compute(plans, grade, _TIME_LIMIT_S)
    low, high = found[1].point_of_no_return
    return {
        "no_return": [max(low, 0), max(high, 0)],
        "regret": [list(one.regret) for one in found],
        "grade": [[step.value for step in one.grade] for one in found],
    }


def _place(finding: Finding, steps: int) -> int:
    return steps + 1 if finding.at_end else finding.step


def texts_of(item: Item, record: dict[str, Any], data: Data) -> list[SftLine]:
    """What SFT sees of a task: the plain plan, and of some tasks a safe one beside an unsafe one."""
    plans = [record["plain"]] if record["plain"] else []
    share = data.safe_share
    if "safe" in record and -int(-(item.number + 1) * share // 1) > -int(-item.number * share // 1):
        plans.append(record["safe"])
    return [
        SftLine(item.task, item.origin, item.family, "household", "train", record["prompt"], plan, "plan")
        for plan in plans
    ]


def pair_of(item: Item, record: dict[str, Any], data: Data) -> Pair | None:
    """The pair of a task, where its plain plan is unsafe: both plans reach the goal."""
    said = record.get("pair")
    if said is None:
        return None
    chosen, rejected = actions_of(said["chosen"]), actions_of(said["rejected"])
    first = said["first_violation"]
    found = Evidence(
        first,
        (said["no_return"][0], said["no_return"][1]),
        Both(*[tuple(side) for side in said["regret"]]),
        Both(*[tuple(side) for side in said["grade"]]),
    )
    return Pair(
        id=f"{item.task}#0",
        task=item.task,
        origin=item.origin,
        family=item.family,
        world="household",
        split="train",
        prompt=record["prompt"],
        chosen=said["chosen"],
        rejected=said["rejected"],
        shared=shared_actions(chosen, rejected),
        first_violation=first,
        no_return=found.no_return,
        regret=found.regret,
        grade=found.grade,
        weights=step_weights(chosen, rejected, found),
        rule=said["rule"],
        rules=tuple(said["rules"]),
        safel=tuple(said["safel"]),
        categories=tuple(said["categories"]),
        moment="termination" if first > len(rejected) else "process",
        witness=said["witness"],
        goal=Both(True, True),
        edits=_edits(chosen, rejected),
        source="repair",
        seed=data.seed,
    )


def eval_task(item: Item, record: dict[str, Any]) -> EvalTask:
    """A test task as evaluation wants it."""
    shift: Shift = "family" if item.shift == "family" else "in"
    return EvalTask(
        item.task, item.origin, item.family, "household", "test", shift, record["prompt"], record["reference"]
    )


def opened_task(item: Item, record: dict[str, Any]) -> Opened:
    """A test task compiled from its record: no plan is looked for again."""
    checker = load_task(Source(f"{item.task}.pddl", record["problem"]))
    made = AlignTask(item.task, item.family, "household", record["words"], checker, item.origin, record["reference"])
    return opened(eval_task(item, record), made)


def _edits(one: Sequence[str], other: Sequence[str]) -> int:
    """How many actions are put in, left out or replaced, at least (Levenshtein 1966)."""
    row = list(range(len(other) + 1))
    for at, mine in enumerate(one, 1):
        corner, row[0] = row[0], at
        for place, theirs in enumerate(other, 1):
            least = min(row[place] + 1, row[place - 1] + 1, corner + (mine != theirs))
            corner, row[place] = row[place], least
    return row[-1]
