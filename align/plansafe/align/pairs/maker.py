"""The pairs of one task: unsafe plans of a model, each with a safe plan of the model or with its nearest repair.

Mutants of a plan: one or two steps deleted, one moved, inserted or done with other objects, two exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from random import Random
from typing import NamedTuple

from plansafe.align.pairs.differences import edit_distance
from plansafe.align.pairs.plan_judge import LIMITS, JudgedPlan, PlanJudge, Steps, shortened_steps, step_key
from plansafe.align.pairs.splits import split_of_task
from plansafe.align.prompts import plan_prompt
from plansafe.align.records import Both, Pair, Source, Split, even_weights, plan_of
from plansafe.align.tasks import AlignTask, BadOrigin, task_of
from plansafe.align.tokens import shared_actions
from plansafe.align.weights import weights_of
from plansafe.grammar.source import Source as PlanText
from plansafe.specs.taxonomy import load_taxonomies
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import BOUNDED_WORK, RepairOptions
from plansafe.verifier.reporting.report import Headline, Worlds


@dataclass(frozen=True, slots=True)
class MakerOptions:
    """Bounds for one task.

    ``pairs``, ``mutants``: largest number of pairs from answers, and of further pairs from mutants. ``repair_cost``:
    largest number of edits of a repair. ``mutant_tries``: mutations that are judged.
    """

    pairs: int = 4
    mutants: int = 0
    repair_cost: int = 4
    mutant_tries: int = 400
    seed: int = 0


DEFAULT_OPTIONS = MakerOptions()


@dataclass(slots=True)
class TaskPairs:
    """The pairs of a task. ``skipped`` counts the answers that are in no pair, by the reason."""

    pairs: list[Pair] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def pairs_of(
    task: AlignTask,
    answers: Iterable[str],
    options: MakerOptions = DEFAULT_OPTIONS,
    *,
    split: Split | None = None,
    prompt: str | None = None,
) -> TaskPairs:
    """Make the pairs of a task from a model's plans (texts with an action in each line) for its prompt.

    An unsafe plan that reaches the goal comes first. Its partner is the model's own SAFE plan that is nearest by edit
    distance (``on-policy``), else its nearest repair (``repair``), in both cases shortened until no step is needless.
    Mutants of a safe plan are paired with that plan (``mutant``). Plans that are INVALID or UNKNOWN are in no pair.
    Without ``split`` and ``prompt``, the task decides them.
    """
    result = TaskPairs()
    if not task.checker.ok or not task.checker.is_stepwise:
        result.skipped["the task has errors or several possible worlds"] += len(list(answers))
        return result
    maker = _Maker(task, split or split_of_task(task), options, plan_prompt(task) if prompt is None else prompt)
    maker.add_answers(answers, result)
    if options.mutants:
        maker.add_mutants(result)
    return result


class NoPair(Exception):
    """Two plans that are not a safe plan and an unsafe one; the text gives the reason."""


def pair_again(task: AlignTask, prompt: str, pair: Pair) -> Pair:
    """The record of a pair, made again from its task, plans and rule. Raises :class:`NoPair`."""
    if not task.checker.ok or not task.checker.is_stepwise:
        raise NoPair("its task has errors or several possible worlds")
    return _Maker(task, pair.split, MakerOptions(seed=pair.seed), prompt).again(pair)


class _Maker:
    def __init__(self, task: AlignTask, split: Split, options: MakerOptions, prompt: str) -> None:
        self._task = task
        self._split = split
        self._options = options
        self._prompt = prompt
        self._judge = PlanJudge(task.checker)
        self._safe: dict[tuple[str, ...], Steps] = {}
        """Shortened safe plans by their texts."""

    def add_answers(self, answers: Iterable[str], result: TaskPairs) -> None:
        """Add the pairs of a model's plans."""
        unsafe: list[JudgedPlan] = []
        previous: set[str] = set()
        for answer in answers:
            plan = None if answer in previous else self._judge_text(answer)
            if answer in previous:
                result.skipped["the same plan as another answer to the task"] += 1
            elif plan is None:
                result.skipped["INVALID or UNKNOWN"] += 1
            elif plan.violations:
                unsafe.append(plan)
            elif not plan.reaches_goal:
                result.skipped["SAFE, but the goal is not reached"] += 1
            else:
                self._add_safe(plan.steps)
            previous.add(answer)
        unsafe.sort(key=lambda plan: (not plan.reaches_goal, len(plan.steps)))
        for plan in unsafe:
            if len(result.pairs) >= self._options.pairs:
                result.skipped["UNSAFE, but the task has enough pairs"] += 1
            elif (pair := self._pair_of_answer(plan, len(result.pairs) + 1)) is None:
                result.skipped["UNSAFE, but no safe plan of the model and no near repair"] += 1
            else:
                result.pairs.append(pair)
        if not result.pairs and self._safe:
            result.skipped["SAFE, but the task has no unsafe plan"] += len(self._safe)

    def _pair_of_answer(self, unsafe: JudgedPlan, number: int) -> Pair | None:
        texts = self._judge.texts(unsafe.steps)
        if self._safe:
            nearest = min(self._safe, key=lambda safe: (edit_distance(safe, texts), safe))
            pair = self._pair(nearest, unsafe, "on-policy", number)
            if pair is not None:
                return pair
        repaired = self._repaired(texts)
        return None if repaired is None else self._pair(repaired, unsafe, "repair", number)

    def add_mutants(self, result: TaskPairs) -> None:
        """Add pairs of unsafe mutants and the safe plan that they are made from.

        Rules take turns; mutants that reach the goal come first, of these the same steps in another order.
        """
        reference = self._judge_text(self._task.reference) if self._task.reference else None
        if reference is not None and reference.is_safe:
            self._add_safe(reference.steps)
        elif reference is not None and reference.violations and not self._safe:
            repaired = self._repaired(self._judge.texts(reference.steps))
            if repaired is not None:
                self._safe[repaired] = self._judge.read(plan_of(repaired)) or ()
        if not self._safe:
            return
        base = min(self._safe, key=lambda plan: (len(plan), plan))
        random = Random(f"{self._options.seed}/{self._task.origin}")
        queues: dict[int, list[JudgedPlan]] = {}
        for mutant in mutants(self._judge, self._safe[base], random, self._options.mutant_tries):
            for rule in mutant.violations:
                queues.setdefault(rule, []).append(mutant)
        steps = sorted(step_key(self._safe[base]))
        for queue in queues.values():  # taken from the end
            queue.sort(key=lambda plan: (plan.reaches_goal, sorted(step_key(plan.steps)) == steps))
        missing, paired = self._options.mutants, {pair.rejected for pair in result.pairs}
        while queues and missing > 0:
            for rule in list(queues):
                mutant = queues[rule].pop()
                if not queues[rule]:
                    del queues[rule]
                if missing > 0 and (text := plan_of(self._judge.texts(mutant.steps))) not in paired:
                    paired.add(text)
                    pair = self._pair(base, mutant, "mutant", len(result.pairs) + 1, rule)
                    result.pairs += [] if pair is None else [pair]
                    missing -= pair is not None

    def _add_safe(self, steps: Steps) -> None:
        short = shortened_steps(self._judge, steps)
        self._safe[self._judge.texts(short)] = short

    def _judge_text(self, plan: str) -> JudgedPlan | None:
        steps = self._judge.read(plan)
        return self._judge.judge(steps) if steps else None

    def _repaired(self, unsafe: tuple[str, ...]) -> tuple[str, ...] | None:
        """The nearest repair of a plan, shortened."""
        options = RepairOptions(
            max_cost=self._options.repair_cost, max_repairs=1, time_limit_s=None, max_work=BOUNDED_WORK
        )
        compiled = self._task.checker.compiled
        without_replay = Checker.from_compiled(compiled._replace(options=compiled.options._replace(replay="never")))
        repairs = repair(without_replay, PlanText("plan", plan_of(unsafe)), options).repairs
        plan = self._judge_text(plan_of(repairs[0].steps)) if repairs else None
        if plan is None or not plan.is_safe:
            return None
        return self._judge.texts(shortened_steps(self._judge, plan.steps))

    def again(self, pair: Pair) -> Pair:
        """See :func:`pair_again`."""
        rejected = self._judge_text(pair.rejected)
        if rejected is None:
            raise NoPair("`rejected` cannot be executed or decided")
        rules = self._judge.engine.rule_set.rules
        rule = next((number for number in rejected.violations if rules[number].name == pair.rule), None)
        if rule is None:
            raise NoPair(f"`rejected` does not break {pair.rule}")
        return self._record(pair.actions.chosen, rejected, pair.source, 1, rule)

    def _pair(
        self, chosen: tuple[str, ...], rejected: JudgedPlan, source: Source, number: int, rule: int | None = None
    ) -> Pair | None:
        """The record of a pair; None if a complete check of one of the plans has another verdict."""
        try:
            return self._record(chosen, rejected, source, number, rule)
        except NoPair:
            return None

    def _record(
        self, chosen: tuple[str, ...], rejected: JudgedPlan, source: Source, number: int, rule: int | None
    ) -> Pair:
        """The record of a pair. Raises :class:`NoPair` if a complete check of one of the plans has another verdict.

        ``rule`` is the number of the rule that the pair is about; by default the one that is broken first.
        """
        judge, task = self._judge, self._task
        texts = judge.texts(rejected.steps)
        safe, unsafe = [task.checker.check(PlanText("plan", plan_of(plan))) for plan in (chosen, texts)]
        if safe.headline is not Headline.SAFE or safe.goal is not Worlds.ALL:
            reason = f": {safe.findings[0].message}" if safe.findings else " or does not reach the goal"
            raise NoPair(f"`chosen` is not safe{reason}")
        if unsafe.headline is not Headline.UNSAFE:
            raise NoPair("`rejected` is not unsafe")
        steps = judge.violation_steps(rejected)
        rules = judge.engine.rule_set.rules
        if rule is None:
            rule = min(steps, key=lambda number: (steps[number], rules[number].name))
        taxonomies = load_taxonomies()
        plans = plan_of(chosen), plan_of(texts)
        pair = Pair(
            id=f"{task.name}#{number}",
            task=task.name,
            origin=task.origin,
            family=task.family,
            world=task.world,
            split=self._split,
            prompt=self._prompt,
            chosen=plans[0],
            rejected=plans[1],
            shared=shared_actions(chosen, texts),
            first_violation=steps[rule],
            no_return=None,
            regret=None,
            grade=None,
            weights=even_weights(*plans),
            rule=rules[rule].name,
            rules=tuple(sorted({rules[number].name for number in steps})),
            safel=tuple([category.name for category in taxonomies["safel"].find_categories(rules[rule])]),
            categories=tuple([category.name for category in taxonomies["safeplan-bench"].find_categories(rules[rule])]),
            moment="termination" if steps[rule] > len(texts) else "process",
            witness=judge.message(rejected.violations[rule]),
            goal=Both(True, rejected.reaches_goal),
            edits=edit_distance(chosen, texts),
            source=source,
            seed=self._options.seed,
        )
        return replace(pair, weights=weights_of(pair))


def candidates(
    plans: Mapping[str, Sequence[str]],
    origins: Iterable[str],
    data: str | None,
    skipped: Counter[str],
    options: MakerOptions = DEFAULT_OPTIONS,
) -> Iterator[Pair]:
    """The pairs of all tasks. ``plans``: a model's plans by the origin of their task; ``origins``: further tasks.

    ``skipped`` counts answers in no pair, and tasks without a pair, by the reason. Raises ``OSError`` for data that
    cannot be read.
    """
    for origin in chain(plans, (origin for origin in origins if origin not in plans)):
        answers = plans.get(origin, ())
        try:
            task = task_of(origin, data)
        except BadOrigin as error:
            skipped[str(error)] += max(1, len(answers))
            continue
        task_pairs = pairs_of(task, answers, options)
        skipped.update(task_pairs.skipped)
        if not answers and not task_pairs.pairs:
            skipped["a task without a pair"] += 1
        yield from task_pairs.pairs


MAX_LEGAL_STEPS = 4
"""Legal steps that are inserted, and that replace a step, at each place."""
MAX_OBJECTS_FOR_INSERTIONS = 150
"""Objects of a task above which nothing is inserted or replaced: finding the legal steps would take seconds."""


class _Mutation(NamedTuple):
    steps: Steps
    shared: int
    """Number of steps at the beginning that are also in the plan."""


def mutants(judge: PlanJudge, plan: Steps, random: Random, tries: int) -> Iterator[JudgedPlan]:
    """The executable mutants among at most ``tries`` mutations of a plan, in random order."""
    executions = judge.executions(plan)
    if len(executions) <= len(plan):
        return
    mutations = [*_rearranged(plan)]
    if len(judge.engine.task.objects) <= MAX_OBJECTS_FOR_INSERTIONS:
        mutations += _with_legal_steps(plan, executions, random)
    random.shuffle(mutations)
    keys = {step_key(plan)}
    for mutation in mutations[:tries]:
        key = step_key(mutation.steps)
        if key not in keys:
            keys.add(key)
            mutant = judge.judge(mutation.steps, executions[mutation.shared], mutation.shared)
            if mutant is not None:
                yield mutant


def _rearranged(plan: Steps) -> Iterator[_Mutation]:
    length = len(plan)
    for first in range(length):
        remaining = plan[:first] + plan[first + 1 :]
        yield _Mutation(remaining, first)
        for place in range(length):
            if abs(place - first) > 1:
                yield _Mutation((*remaining[:place], plan[first], *remaining[place:]), min(first, place))
        for second in range(first + 1, length):
            between = plan[first + 1 : second]
            yield _Mutation((*plan[:first], plan[second], *between, plan[first], *plan[second + 1 :]), first)
            yield _Mutation((*plan[:first], *between, *plan[second + 1 :]), first)


def _with_legal_steps(plan: Steps, executions: list[Execution], random: Random) -> Iterator[_Mutation]:
    for place, execution in enumerate(executions):
        try:
            legal = [step for step in execution.legal() if names_objects_once(step)]
        except LIMITS:
            continue
        for step in _sample(legal, random):
            yield _Mutation((*plan[:place], step, *plan[place:]), place)
        if place < len(plan):
            same_action = [step for step in legal if step.action is plan[place].action and step != plan[place]]
            for step in _sample(same_action, random):
                yield _Mutation((*plan[:place], step, *plan[place + 1 :]), place)


def _sample(steps: list[GroundAction], random: Random) -> list[GroundAction]:
    return steps if len(steps) <= MAX_LEGAL_STEPS else random.sample(steps, MAX_LEGAL_STEPS)


def names_objects_once(step: GroundAction) -> bool:
    """False for steps such as putting a thing onto itself, which some worlds allow."""
    return len(set(step.objects)) == len(step.objects)
