"""The goal that a model reads in words: proposed, checked by the types of the domain, and mended once.

A goal is a conjunction of facts and denied facts, nothing else, of bounded length; it is written anew from what was
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
from plansafe.llm.loop.model import Exchange, Wishes
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
"""What is wrong with a goal, as PDDL, for the task at hand."""


class Wanted(NamedTuple):
    """A goal as PDDL, or ``None`` and why there is none; and the calls that it took."""

    goal: str | None
    exchanges: tuple[Exchange, ...]
    refused: tuple[Diagnostic, ...] = ()


class BadGoal(Exception):
    """An answer is no goal."""


def wanted_goal(
    model: Model,
    name: str,
    messages: tuple[Message, ...],
    task: Task,
    check: Check,
    cache: Cache | None = None,
    wishes: Wishes = Wishes(),  # noqa: B008 - immutable
) -> Wanted:
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
            refused = tuple([one for one in check(goal) if one.severity is Severity.ERROR])
            if not refused:
                return Wanted(goal, tuple(exchanges))
        except BadGoal as bad:
            refused = (Diagnostic(SC.NO_GOAL, str(bad)),)
        told = "\n".join([f"- {said_of(one)}" for one in refused[:MOST_FINDINGS]])
        said = f"This goal cannot be used:\n{told}\n{_AGAIN}"
        shown = answer.text[:_LONGEST] or "(nothing)"
        messages = (*messages, Message(Role.ASSISTANT, shown), Message(Role.USER, said))
    return Wanted(None, tuple(exchanges), refused)


def read_facts(text: str) -> str:
    """The goal in an answer, as PDDL in one spelling: JSON with facts as texts, or the facts themselves.

    Raises :class:`BadGoal` for what is no conjunction of facts and denied facts.
    """
    if len(text) > _LONGEST:
        raise BadGoal("the answer is too long for a goal")
    inside = "\n".join(_texts(text))
    begin, end = inside.find("("), inside.rfind(")")
    nodes = parse_nodes(Source("", inside[begin : end + 1])) if 0 <= begin < end else None
    if not nodes:
        raise BadGoal("no facts could be read in the answer; write them as (fact name ..)")
    found: list[str] = []
    left: list[Node] = list(nodes)
    while left:
        node = left.pop(0)
        if isinstance(node, list) and node[:1] == ["and"]:
            left = [*node[1:], *left]
        else:
            found.append(_literal(node))
        if len(found) + len(left) > MOST_FACTS:
            raise BadGoal(_MANY)
    found = list(dict.fromkeys(found))
    if not found:
        raise BadGoal(_MANY)
    return f"(and {' '.join(found)})"


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
    if isinstance(value, list) and all([isinstance(one, str) for one in value]):
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
