"""Answers to the eight questions of ACPBench-Hard, each with claims that the kernel can check.

A question that is not decided within the limits has the answer UNKNOWN (``value`` is ``None``), never a guess. The
answer that nothing fits ("None") needs an answer about every candidate.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from time import monotonic
from typing import Any, NamedTuple

from bench.field.acpbench.reasons import (
    ChangeClaim,
    Claim,
    LegalClaim,
    NeverClaim,
    NeverStepClaim,
    PlanClaim,
    ShortestClaim,
)
from bench.field.acpbench.records import Record

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.model.nodes import And, Atom
from plansafe.verifier.model.operations import conjuncts
from plansafe.verifier.planning.delete_relaxation import MAX_OPERATORS
from plansafe.verifier.planning.planner import PlanningResult, PlanningStatus
from plansafe.verifier.planning.reachability import Fact, Reachability, Relaxation

NONE = "None"
"""The benchmark's answer that nothing fits."""
FIRST_LIMIT_S = 2.0
"""The time for a candidate before all candidates have been tried."""
MAX_LISTED_STEPS = 2 * MAX_OPERATORS
"""Well-typed steps that are listed. The relaxation has fewer, so an impossible step is among them if there is one."""


class Answer(NamedTuple):
    """An answer in the benchmark's form, its reason in words, and claims that prove it.

    ``value``: a list of steps, a dict with ``pos`` and ``neg``, a fact, a step, a number, or :data:`NONE`. Python's
    ``None``: UNKNOWN, for which ``reason`` names the limit.
    """

    value: Any
    reason: str
    claims: tuple[Claim, ...] = ()


class Question:
    """A record with its compiled task. Raises ``ValueError`` for a task with errors."""

    def __init__(self, record: Record, time_limit_s: float) -> None:
        self.record = record
        self.time_limit_s = time_limit_s
        self._deadline = monotonic() + time_limit_s
        self.checker = Checker(record.domain, record.problem)
        self.engine = self.checker.engine
        self.task = self.engine.task
        self.reachability = Reachability(self.checker, time_limit_s=time_limit_s)

    @property
    def remaining_s(self) -> float:
        """The time that is left for searches, in seconds."""
        return max(self._deadline - monotonic(), 0.0)

    def list_facts(self) -> list[str]:
        """The facts that the question is about: of the listed predicates, or else of all predicates that change."""
        listed = self.record.propositions
        is_known = set(listed) <= {predicate.name for predicate in self.task.predicates}
        return self.reachability.list_facts(*(listed if is_known else ()))

    def text(self, step: GroundAction) -> str:
        """A step as PDDL."""
        return step_text(step, self.task.objects)

    def texts(self, steps: Iterable[GroundAction]) -> tuple[str, ...]:
        """Steps as PDDL."""
        return tuple([self.text(step) for step in steps])

    def resolve(self, text: str) -> GroundAction | None:
        """The step with a text; ``None`` if the task has no such step."""
        step = self.engine.resolver.resolve_tokens(text.lower().strip("()").split())
        return None if isinstance(step, IllFormed) else step


def answer_record(record: Record, time_limit_s: float = 30.0) -> Answer:
    """Answer a record; ``time_limit_s`` limits all searches together. Raises ``ValueError`` for a task with errors."""
    return _ANSWERS[record.task](Question(record, time_limit_s))


# ---- one step ---------------------------------------------------------------------------------------------------


def _answer_applicability(question: Question) -> Answer:
    steps = question.texts(Execution(question.engine).legal())
    return Answer(list(steps), f"{len(steps)} steps have a true precondition", (LegalClaim(steps),))


def _answer_progression(question: Question) -> Answer:
    step = find_described_step(question, question.record.quoted_text)
    if step is None:
        return Answer(None, f"no unique legal step is described by `{question.record.quoted_text}`")
    added, deleted = _find_changes(question, step)
    text = question.text(step)
    claim = ChangeClaim(text, added, deleted)
    return Answer({"pos": list(added), "neg": list(deleted)}, f"the description is read as {text}", (claim,))


def _find_changes(question: Question, step: GroundAction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    after = Execution(question.engine).after(step)
    assert after is not None
    changes = {True: list[str](), False: list[str]()}
    for predicate, code, value in after.changed:
        changes[bool(value)].append(question.task.fact_text(predicate, code))
    return tuple(changes[True]), tuple(changes[False])


def find_described_step(question: Question, description: str) -> GroundAction | None:
    """Find the legal step that words describe; ``None`` if several steps with different effects fit equally well.

    The step must have the objects that the words name, as far as a legal step has them. Among these steps, the words
    of the action's name decide.
    """
    words = re.findall(r"[\w-]+", description.lower())
    mentioned = Counter([word for word in words if word in question.task.object_index])
    other_words = {word for word in words if word not in question.task.object_index}

    def rank(step: GroundAction) -> tuple[int, int]:
        objects = Counter([question.task.objects[number] for number in step.objects])
        parts = re.split(r"[-_]", step.action.name)
        matching_parts = [part for part in parts if any([word.startswith(part) for word in other_words])]
        differing_objects = sum(((objects - mentioned) + (mentioned - objects)).values())
        return differing_objects, len(parts) - 2 * len(matching_parts)

    ranked = sorted([(rank(step), question.text(step), step) for step in Execution(question.engine).legal()])
    best = [step for step_rank, _, step in ranked if step_rank == ranked[0][0]]
    if not best or len({tuple(map(frozenset, _find_changes(question, step))) for step in best}) > 1:
        return None
    return best[0]


# ---- facts and steps that can never happen ---------------------------------------------------------------------


class Survey(NamedTuple):
    """Results about candidates: one for which it is proved that no plan exists (the search then ends), or plans.

    ``undecided``: a line for each candidate that was not decided.
    """

    proved: tuple[Any, PlanningResult] | None
    plans: list[tuple[Any, PlanningResult]]
    undecided: list[str]


def _survey(question: Question, candidates: Iterable[Any], ask: Callable[[Any], PlanningResult]) -> Survey:
    """Look for a candidate without a plan: with little time for each at first, then with the rest of the time."""
    plans: list[tuple[Any, PlanningResult]] = []
    remaining, undecided = list(candidates), list[str]()
    for limit_s in (FIRST_LIMIT_S, question.time_limit_s):
        retried, undecided = [], []
        for candidate in remaining:
            question.reachability.time_limit_s = min(limit_s, question.remaining_s)
            result = ask(candidate)
            if result.status is PlanningStatus.UNSOLVABLE:
                return Survey((candidate, result), plans, undecided)
            if result.status is PlanningStatus.SOLVED:
                plans.append((candidate, result))
            else:
                retried.append(candidate)
                undecided.append(f"{candidate}: {result.detail}")
        remaining = retried
    return Survey(None, plans, undecided)


def _answer_none(survey: Survey, reason: str, claims: Iterable[Claim]) -> Answer:
    if survey.undecided:
        return Answer(None, f"{len(survey.undecided)} candidates are undecided, the first is {survey.undecided[0]}")
    return Answer(NONE, reason, tuple(claims))


def _answer_fact_reachability(question: Question) -> Answer:
    """Find a fact that is true in no reachable state, or plans to all facts."""
    reachability = question.reachability
    facts = question.list_facts()
    relaxation = reachability.relaxation
    if relaxation is not None:  # what the relaxation excludes needs no search
        facts.sort(key=lambda fact: reachability.parse_fact(fact) in relaxation.facts)
    survey = _survey(question, facts, reachability.reach_fact)
    if survey.proved is not None:
        fact, result = survey.proved
        return Answer(fact, f"{result.planner}: {result.detail}", (NeverClaim((fact,)),))
    claims = [PlanClaim(question.texts(result.steps), reached=(fact,)) for fact, result in survey.plans]
    return _answer_none(survey, f"a plan reaches each of {len(facts)} facts", claims)


def _answer_step_reachability(question: Question) -> Answer:
    """Find a step that can be taken in no reachable state, or plans to all steps."""
    reachability = question.reachability
    if reachability.relaxation is None:
        return Answer(None, "the task has too many ground steps")
    survey = _survey(question, _order_steps(question, reachability.relaxation), reachability.reach_step)
    if survey.proved is not None:
        step, result = survey.proved
        text = question.text(step)
        return Answer(text, f"{result.planner}: {result.detail}", (NeverStepClaim(text),))
    claims = [PlanClaim(question.texts(result.steps), next_step=question.text(step)) for step, result in survey.plans]
    return _answer_none(survey, f"a plan leads to each of {len(claims)} steps", claims)


def _order_steps(question: Question, relaxation: Relaxation) -> Iterator[GroundAction]:
    """All well-typed steps; steps that are impossible, as far as that is known without a search, come first.

    Of these, the steps that the relaxation allows are first, since the published evaluator proves these itself; then
    steps with an unreachable fact that actions change. It accepts other steps only if they are stored.
    """
    reachability, task = question.reachability, question.task
    possible = [GroundAction(task.actions[name], objects) for name, objects in sorted(relaxation.steps)]
    exclusive = [step for step in possible if reachability.find_exclusive_facts(reachability.find_condition(step))]
    listed = islice(reachability.iterate_steps(), MAX_LISTED_STEPS)
    impossible = [step for step in listed if (step.action.name, step.objects) not in relaxation.steps]

    def rank(step: GroundAction) -> int:
        unreachable = [fact for fact in reachability.list_required_facts(step) if fact not in relaxation.facts]
        lacks_changing_fact = any([predicate in question.engine.changeable_symbols for predicate, _ in unreachable])
        return 0 if lacks_changing_fact else 1 if unreachable else 2

    return iter([*exclusive, *sorted(impossible, key=rank), *possible])


def _answer_landmark(question: Question) -> Answer:
    """Find a fact that every plan makes true, and that holds neither in S0 nor in the goal."""
    reachability = question.reachability
    reachability.time_limit_s = question.remaining_s
    result = reachability.find_goal_plan()
    if result.status is not PlanningStatus.SOLVED:
        return Answer(None, f"no plan reaches the goal: {result.detail}")
    goal_parts = [part for part in conjuncts(And(question.task.goal)) if isinstance(part, Atom)]
    goal = [(part.predicate, question.task.encode(part.arguments)) for part in goal_parts]
    start = Execution(question.engine).state.facts
    facts = [reachability.parse_fact(text) for text in question.list_facts()]
    facts = [fact for fact in facts if fact[1] not in start[fact[0]] and fact not in goal]
    nearest = {fact: place for place, fact in enumerate(_chain_backwards(question, goal))}
    facts.sort(key=lambda fact: nearest.get(fact, len(nearest)))
    candidates = [question.task.fact_text(*fact) for fact in facts]
    survey = _survey(question, candidates, reachability.avoid_fact)
    if survey.proved is not None:
        fact, result = survey.proved
        reason = f"no plan avoids it ({result.planner}: {result.detail})"
        return Answer(fact, reason, (NeverClaim(tuple([question.task.fact_text(*g) for g in goal]), without=fact),))
    avoided: dict[tuple[str, ...], list[str]] = {}
    for fact, plan in survey.plans:
        avoided.setdefault(question.texts(plan.steps), []).append(fact)
    claims = [PlanClaim(plan, avoided=tuple(facts), is_goal=True) for plan, facts in avoided.items()]
    return _answer_none(survey, f"a plan avoids each of {len(candidates)} facts", claims)


def _chain_backwards(question: Question, goal: Iterable[Fact]) -> list[Fact]:
    """List the goal, the facts that all steps require which make a fact of the list true, and so on."""
    reachability, task = question.reachability, question.task
    if reachability.relaxation is None:
        return []
    start = Execution(question.engine).state.facts
    required_by_achievers: dict[Fact, set[Fact]] = {}
    for name, objects in sorted(reachability.relaxation.steps):
        step = GroundAction(task.actions[name], objects)
        required = set(reachability.list_required_facts(step))
        for atom in [atom for effect in step.action.start.effects if not effect.variables for atom in effect.adds]:
            fact = atom.predicate, task.code_of(atom.arguments, step.binding)
            required_by_achievers[fact] = required_by_achievers.get(fact, required) & required
    chain = list(dict.fromkeys(goal))
    for fact in chain:  # the list grows
        if fact[1] not in start[fact[0]]:
            chain += [needed for needed in sorted(required_by_achievers.get(fact, ())) if needed not in chain]
    return chain


# ---- plans ------------------------------------------------------------------------------------------------------


def _answer_validation(question: Question) -> Answer:
    """Find the number, from 0, of the first step that cannot be taken."""
    texts = question.record.quoted_steps
    now = Execution(question.engine)
    for number, text in enumerate(texts):
        step = question.resolve(text)
        if step is None or not now.take(step):
            reason = "its precondition is not true" if step is not None else "the task has no such step"
            claim = PlanClaim(tuple(texts[:number]), failing_step=text)
            return Answer(number, f"step {number} (from 0), {text}: {reason}", (claim,))
    return Answer(NONE, "all steps can be taken", (PlanClaim(tuple(texts)),))


def _answer_justification(question: Question) -> Answer:
    """Remove a step, or else two consecutive steps, without which the plan still reaches the goal."""
    texts = question.record.quoted_steps
    steps = [question.resolve(text) for text in texts]
    if None in steps:
        return Answer(None, f"the task has no step {texts[steps.index(None)]}")
    for length in (1, 2):
        for start in range(len(steps) - length + 1):
            remaining = [step for step in (*steps[:start], *steps[start + length :]) if step is not None]
            now = Execution(question.engine)
            if all([now.take(step) for step in remaining]) and question.engine.evaluate_goal(now.state):
                shorter_plan, removed = (
                    (*texts[:start], *texts[start + length :]),
                    " ".join(texts[start : start + length]),
                )
                reason = f"the plan is valid without {removed} (step {start + 1})"
                return Answer(list(shorter_plan), reason, (PlanClaim(shorter_plan, is_goal=True),))
    return Answer(None, "no step and no pair of consecutive steps can be removed")


def _answer_next_step(question: Question) -> Answer:
    """Find the first step of a plan that is proved shortest."""
    question.reachability.time_limit_s = question.remaining_s
    result = question.reachability.find_goal_plan(shortest=True)
    if result.status is not PlanningStatus.SOLVED:
        return Answer(None, f"no shortest plan: {result.detail}")
    if not result.steps:
        return Answer(None, "the goal holds already")
    plan = question.texts(result.steps)
    reason = f"it begins a plan of {len(plan)} steps, and no plan is shorter"
    return Answer(plan[0], reason, (PlanClaim(plan, is_goal=True), ShortestClaim(len(plan))))


_ANSWERS: dict[str, Callable[[Question], Answer]] = {
    "app": _answer_applicability,
    "prog": _answer_progression,
    "reach": _answer_fact_reachability,
    "areach": _answer_step_reachability,
    "val": _answer_validation,
    "just": _answer_justification,
    "land": _answer_landmark,
    "nexta": _answer_next_step,
}
