"""The goal that a model reads in words: proposed, checked by the types of the domain, and corrected once.

A goal is a conjunction of facts and denied facts, nothing else, of bounded length; it is written again from the facts
read, so that no other text of the model gets into a problem.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from plansafe.domains.json_text import BadJson, read_json
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.loop.feedback import MOST_FINDINGS, said_of
from plansafe.llm.loop.model import Exchange, PlanOptions
from plansafe.llm.loop.recorder import Recorder
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model
from plansafe.llm.models.request import Message, Request, Role, Situation
from plansafe.llm.prompts.goal import MOST_FACTS, goal_constraint
from plansafe.verifier.model.nodes import Task

ROUNDS = 2
_LONGEST = 8_000
_TOKENS = 512
_NAME = re.compile(r"[^\s()\";?:][^\s()\";]*\Z")
_MANY = f"a goal has from 1 to {MOST_FACTS} facts"
_AGAIN = "Write the goal again, corrected, as JSON and nothing else."

Check = Callable[[str], Sequence[Diagnostic]]
"""Finds the errors of a goal, as PDDL, for a task."""


class ReadGoal(NamedTuple):
    """A goal as PDDL, or ``None`` and why there is none; and the calls that it took."""

    goal: str | None
    exchanges: tuple[Exchange, ...]
    refused: tuple[Diagnostic, ...] = ()


class BadGoal(Exception):
    """An answer without a usable goal."""


def read_goal(
    model: Model,
    name: str,
    messages: tuple[Message, ...],
    task: Task,
    check: Check,
    cache: Cache | None = None,
    wishes: PlanOptions = PlanOptions(),  # noqa: B008 - immutable
) -> ReadGoal:
    """Ask for a goal, and once more where it cannot be used. Raises ``ModelError``."""
    recorder = Recorder(model, cache)
    exchanges: list[Exchange] = []
    refused: tuple[Diagnostic, ...] = ()
    for retry in range(ROUNDS):
        sampling = wishes.sampling(retry)
        request = Request(
            messages,
            max_tokens=_TOKENS,
            temperature=sampling.temperature,
            seed=sampling.seed,
            constraint=goal_constraint(task, model.capabilities),
            situation=Situation(f"{name}/goal"),
        )
        answer = recorder.answer(request)
        exchanges += recorder.taken()
        try:
            goal = read_facts(answer.text)
            refused = tuple([diagnostic for diagnostic in check(goal) if diagnostic.severity is Severity.ERROR])
            if not refused:
                return ReadGoal(goal, tuple(exchanges))
        except BadGoal as bad:
            refused = (Diagnostic(SC.NO_GOAL, str(bad)),)
        errors = "\n".join([f"- {said_of(diagnostic)}" for diagnostic in refused[:MOST_FINDINGS]])
        feedback = f"This goal cannot be used:\n{errors}\n{_AGAIN}"
        excerpt = answer.text[:_LONGEST] or "(nothing)"
        messages = (*messages, Message(Role.ASSISTANT, excerpt), Message(Role.USER, feedback))
    return ReadGoal(None, tuple(exchanges), refused)


def read_facts(text: str) -> str:
    """The goal in an answer, as PDDL in one spelling: JSON with facts as texts, or the facts themselves.

    Raises :class:`BadGoal` for other goals than conjunctions of facts and negated facts.
    """
    if len(text) > _LONGEST:
        raise BadGoal("the answer is too long for a goal")
    inside = "\n".join(_texts(text))
    begin, end = inside.find("("), inside.rfind(")")
    nodes = parse_nodes(Source("", inside[begin : end + 1])) if 0 <= begin < end else None
    if not nodes:
        raise BadGoal("no facts could be read in the answer; write them as (fact name ..)")
    facts: list[str] = []
    left: list[Node] = list(nodes)
    while left:
        node = left.pop(0)
        if isinstance(node, list) and node[:1] == ["and"]:
            left = [*node[1:], *left]
        else:
            facts.append(_literal(node))
        if len(facts) + len(left) > MOST_FACTS:
            raise BadGoal(_MANY)
    facts = list(dict.fromkeys(facts))
    if not facts:
        raise BadGoal(_MANY)
    return f"(and {' '.join(facts)})"


def _texts(text: str) -> list[str]:
    """The texts in an answer that is JSON, or the answer."""
    begin, end = text.find("{"), text.rfind("}")
    try:
        value = read_json(text[begin : end + 1] if 0 <= begin < end else text)
    except BadJson:
        return [text]
    if isinstance(value, dict):
        value = value.get("goal", next(iter(value.values()), None))
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all([isinstance(entry, str) for entry in value]):
        return value
    return [text]


def _literal(node: Node) -> str:
    """A fact or a denied fact in one spelling. Raises :class:`BadGoal`."""
    fact = node[1] if isinstance(node, list) and len(node) == 2 and node[0] == "not" else node
    if (
        not isinstance(fact, list)
        or not fact
        or not all([isinstance(word, str) and _NAME.match(word) for word in fact])
    ):
        raise BadGoal("a goal is made of facts such as (on cup table), and of (not (fact ..))")
    return format_node(node)
