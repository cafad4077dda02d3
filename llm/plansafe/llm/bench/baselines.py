"""The baselines of Safe-BeAl (appendices A, D.2 and E): the examples in a prompt, and plans completed by a planner.

- ``few-shot``: one example of the repository, drawn by seed and task.
- ``llm-planner`` (Song et al. 2023): the example whose command has the most words in common, by Rouge-L.
- ``llm-planner-replan``: also replans from the first step that cannot be executed, as appendix D.2 says.
- ``clmasp`` (Lin et al. 2024): the answer is a skeleton. A planner inserts the steps that make its steps executable, as
  the answer set program does there, and leaves out steps that it cannot make executable.
- ``world-model`` (Xiang et al. 2024): a model fine-tuned on embodied experience (``safecheck align knowledge`` and
  ``align train``), with the zero-shot prompt. The baseline is the weights, so this name only labels the run.

The repository is the examples shipped with the domain, or else the other tasks' reference plans. No baseline knows the
rules, and an example never comes from the family of the task.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache

from plansafe.grammar.source import Source
from plansafe.llm.bench.settings import Baseline
from plansafe.llm.bench.task import BenchTask
from plansafe.llm.loop.mapping import raw_steps
from plansafe.llm.loose.reader import check_answer
from plansafe.llm.prompts import examples as stored_examples
from plansafe.llm.prompts.planning import Example
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.operations import substitute
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus

REPLANNING_ROUNDS = 3
MAX_NODES = 3_000
"""The limit of one search of the planner. It limits states and not time, so that results do not depend on the load."""
TIME_LIMIT_S = 60.0
WITH_EXAMPLE = (Baseline.FEW_SHOT, Baseline.LLM_PLANNER, Baseline.LLM_PLANNER_REPLAN)


def choose_example(task: BenchTask, tasks: Sequence[BenchTask], baseline: Baseline, seed: int) -> tuple[Example, ...]:
    """The example in the prompt of a task: one, or none for baselines without an example."""
    if baseline not in WITH_EXAMPLE:
        return ()
    shipped = [stored for stored in _shipped(task.checker.engine.task.name) if stored.family != task.family]
    other_tasks = [other_task for other_task in tasks if other_task.family != task.family and other_task.reference]
    words = [stored.words for stored in shipped] or [other_task.words for other_task in other_tasks]
    if not words:
        return ()
    if baseline is Baseline.FEW_SHOT:
        draw = hashlib.sha256(f"{seed}\0{task.name}".encode("utf-8", "surrogatepass")).digest()
        number = int.from_bytes(draw[:8], "big") % len(words)
    else:
        (number,) = stored_examples.nearest(task.words, words, 1)
    if shipped:
        return (_compiled(shipped[number]),)
    other_task = other_tasks[number]
    return (Example(other_task.words, other_task.checker.compiled, other_task.reference),)


@cache
def _shipped(domain: str) -> tuple[stored_examples.StoredExample, ...]:
    return tuple(stored_examples.shipped(domain))


_compiled = cache(stored_examples.example)


def without_rules(checker: Checker) -> Checker:
    """A checker of the same task without rules."""
    return Checker.from_compiled(checker.compiled.make_variant(checker.engine.task, []))


def complete_skeleton(answer: str, checker: Checker, max_steps: int) -> str:
    """Make the steps of an answer executable: insert the planner's steps before them, or leave them out.

    The result is a plan, one step a line; empty if no step can be made executable.
    """
    execution = Execution.initial(checker.engine, False, checker.options.criteria)
    objects = checker.engine.task.objects
    plan: list[GroundAction] = []
    for tokens in _skeleton(answer, checker):
        step = checker.engine.resolver.resolve_step(tokens)
        if not isinstance(step, GroundAction):
            continue
        inserted = () if execution.fork().take(step) else _steps_before(step, plan, checker)
        if inserted is None or len(plan) + len(inserted) + 1 > max_steps:
            continue
        for taken_step in (*inserted, step):
            execution.take(taken_step)
            plan.append(taken_step)
    return "".join([f"{step_text(step, objects)}\n" for step in plan])


def _skeleton(answer: str, checker: Checker) -> list[tuple[str, ...]]:
    """The steps of an answer as tokens: by the reader of loose text, or else all possible steps."""
    reading, _ = check_answer(Source("answer.txt", answer), checker)
    texts = [step.text for step in reading.steps] if reading.plan is not None else raw_steps(answer)
    return [tuple(text.strip("()").split()) for text in texts]


def _steps_before(
    step: GroundAction, plan: Sequence[GroundAction], checker: Checker
) -> tuple[GroundAction, ...] | None:
    """A continuation of the plan after which the step can be executed; ``None`` if none was found."""
    precondition = tuple([substitute(part, step.binding) for part in step.action.start.condition])
    variant = checker.compiled.make_variant(checker.engine.task._replace(goal=precondition), [])
    query = PlanningQuery(Checker.from_compiled(variant), tuple(plan), rules=False, time_limit_s=TIME_LIMIT_S)
    result = ForwardSearch(MAX_NODES).solve(query)
    return result.steps if result.status is PlanningStatus.SOLVED else None
