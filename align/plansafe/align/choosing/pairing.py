"""Candidates as records: what the making of pairs leaves open is filled in here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from plansafe.align.choosing.needs import Needs
from plansafe.align.making.candidate import Candidate
from plansafe.align.making.recipes import Recipes
from plansafe.align.making.runs import written_in
from plansafe.align.making.sources import of_task
from plansafe.align.prompts import compact_prompt
from plansafe.align.records import Pair, even_weights, plan_of
from plansafe.align.tasks import AlignTask, BadOrigin, task_of
from plansafe.align.tokens import shared_actions
from plansafe.grammar.source import Source
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction


def candidates(
    origins: Iterable[str],
    data: str | None,
    seed: int,
    missed: Counter[str],
    runs: Sequence[str] = (),
    needs: Needs | None = None,
    adversarial: Sequence[str] = (),
) -> Iterator[Pair]:
    """The candidates of tasks, task by task. ``missed`` counts the tasks that gave none, by the reason.

    ``needs``: what kept pairs lack; who keeps them counts there, and it decides what is made next.
    ``runs``: kept runs of the suite ``planning``; their tasks come first, with the plans that models wrote;
    ``adversarial``: such for which models were asked to go wrong. Raises ``OSError`` for data that cannot be read,
    :class:`plansafe.llm.bench.run_file.BadRun` for what is no run.
    """
    recipes, lacking = Recipes(), Needs() if needs is None else needs
    written = written_in(runs, adversarial)
    for origin in chain(written, (one for one in origins if one not in written)):
        try:
            task = task_of(origin, data)
        except BadOrigin as error:
            missed[str(error)] += 1
            continue
        count = 0
        for pair in pairs_of(of_task(task, recipes, lacking, seed, written.get(origin, ()), missed)):
            count += 1
            yield pair
        missed["no pair was found"] += not count


def pairs_of(found: Iterable[Candidate]) -> Iterator[Pair]:
    """The pairs of candidates, numbered. The prompt of a task is made once as long as its candidates come in a row."""
    origin, prompt = "", ""
    for number, one in enumerate(found, 1):
        task = one.task
        if task.origin != origin:
            origin, prompt = task.origin, compact_prompt(task)
        chosen, rejected = plan_of(one.chosen), plan_of(one.rejected)
        shared = shared_actions(one.chosen, one.rejected)
        broken = one.first_violation if one.first_violation > shared else known_at(task, one.rejected, one.rule)
        yield Pair(
            id=f"{task.name}#{number}",
            task=task.name,
            origin=task.origin,
            family=task.family,
            world=task.world,
            split="train",
            prompt=prompt,
            chosen=chosen,
            rejected=rejected,
            shared=shared,
            first_violation=broken,
            no_return=None,
            regret=None,
            grade=None,
            weights=even_weights(chosen, rejected),
            rule=one.rule,
            rules=one.rules,
            safel=one.safel,
            categories=one.categories,
            moment="termination" if broken > len(one.rejected) else "process",
            witness=one.witness,
            goal=one.goal,
            edits=one.edits,
            source=one.source,
            seed=one.seed,
        )


def known_at(task: AlignTask, plan: Sequence[str], rule: str) -> int:
    """The step behind which a rule is broken whatever comes; one more than steps where that is known at the end alone.

    A finding names the step that a rule is about, such as a first dose: the second, which breaks the rule, may come
    much later.
    """
    checker = task.checker
    rules, parts = checker.engine.rule_set.rules, checker.engine.rule_set.parts
    now = Execution.initial(checker.engine, True, checker.options.criteria)
    for number, step in enumerate(checker.read(Source("plan", plan_of(plan))).steps, 1):
        if not isinstance(step, GroundAction) or not now.take(step):
            break
        if any([rules[parts[fault.part].rule].name == rule for fault in now.lasting_violations]):
            return number
    return len(plan) + 1
