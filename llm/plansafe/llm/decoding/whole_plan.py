"""Plans in one answer: free, or held to a grammar or a schema of the task's steps; then read as loose text.

The grammar of plans for a task: steps with the right number of arguments, each of the right type.

A grammar does not know whether a step is executable at its position; the shield does (``stepwise.py``).

The JSON schema of plans for a task: steps with an action and its arguments by the names of their parameters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseResult
from plansafe.llm.loose.reader import read_loose
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.batch import ask
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Capabilities, Model
from plansafe.llm.models.request import Constraint, Grammar, JsonSchema, Message, Request, Situation, Syntax
from plansafe.verifier.api import Checker
from plansafe.verifier.model.nodes import Task


class Written(NamedTuple):
    """An answer and the result of reading it; ``read.plan`` is ``None`` if it has no plan."""

    answer: Answer
    read: LooseResult

    @property
    def plan(self) -> str | None:
        """The plan as text, if one was read."""
        return None if self.read.plan is None else self.read.plan.text


def write_plan(
    model: Model,
    name: str,
    messages: tuple[Message, ...],
    checker: Checker,
    *,
    grammar: bool = False,
    longest: int = 60,
    max_tokens: int = 1024,
    cache: Cache | None = None,
    seed: int | None = None,
    temperature: float = 0.0,
    refusal: bool = False,
) -> Written:
    """Ask for a whole plan, under the task's grammar (or schema) if asked to. Raises ``ModelError``.

    ``longest`` bounds the number of steps under a grammar, ``max_tokens`` all answers; ``seed`` is for
    providers that draw by it; ``refusal``: the grammar has room for one.
    """
    constraint = None
    if grammar:
        constraint = plan_constraint(checker.engine.task, model.capabilities, longest, refusal)
    request = Request(
        messages,
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
        constraint=constraint,
        situation=Situation(name),
    )
    answer = ask(model, request, cache)
    return Written(answer, read_loose(Source("answer.txt", answer.text), checker))


_REASON = 200
"""Characters of the reason of a refusal."""
_REFUSES = ' | "REFUSE: " why'


def plan_grammar(task: Task, syntax: Syntax = Syntax.GBNF, most_steps: int = 60, refusal: bool = False) -> Grammar:
    """Plans of one to ``most_steps`` steps, one a line, as GBNF (llama.cpp) or Lark (llguidance).

    Linear in the task: each set of objects that parameters range over is a rule of its own. Actions with a
    parameter that has no object are left out. With ``refusal``, a sentence may also be `REFUSE: ` and a reason. Raises
    ``ValueError`` where no action is left.
    """
    used: dict[int, str] = {}
    steps: list[str] = []
    for action in task.actions.values():
        if not all([task.domains[parameter.domain] for parameter in action.parameters]):
            continue
        names = [used.setdefault(parameter.domain, f"o{parameter.domain}") for parameter in action.parameters]
        words = [json.dumps(f"({action.name}")]
        for name in names:
            words += ['" "', name]
        steps.append(" ".join([*words, '")"']))
    if not steps:
        raise ValueError("no action of the task has an object for each of its parameters")
    sets = {name: [task.objects[o] for o in task.domains[domain]] for domain, name in used.items()}
    return Grammar("\n".join([*_write_rules(syntax, steps, sets, most_steps, refusal), ""]), syntax)


def _write_rules(
    syntax: Syntax, steps: list[str], sets: dict[str, list[str]], most: int, refusal: bool
) -> Iterator[str]:
    is_gbnf = syntax is Syntax.GBNF
    start, sign, reason = (
        ("root", " ::=", f"[^\\n]{{1,{_REASON}}}") if is_gbnf else ("start", ":", f"/[^\\n]{{1,{_REASON}}}/")
    )
    plan = f'step ("\\n" step){{0,{most - 1}}} "\\n"?'
    yield f"{start}{sign} {plan}{_REFUSES if refusal else ''}"
    if refusal:
        yield f"why{sign} {reason}"
    yield f"step{sign} {' | '.join(steps)}"
    for name, objects in sets.items():
        yield f"{name}{sign} {' | '.join([json.dumps(text) for text in objects])}"


_MOST_NAMES, _MOST_LETTERS = 1_000, 15_000
"""Limits of OpenAI on the values of enumerations; beyond them an argument is any text."""


def plan_constraint(task: Task, capabilities: Capabilities, longest: int, refusal: bool) -> Constraint:
    """Return the form of a plan that a provider enforces: a grammar, else a schema.

    A schema has no room for a refusal. Raises ``ValueError`` where no action has an object for each parameter.
    """
    if capabilities.json_schema and not (capabilities.gbnf or capabilities.lark or refusal):
        return plan_schema(task)
    return plan_grammar(
        task, Syntax.LARK if capabilities.lark and not capabilities.gbnf else Syntax.GBNF, longest, refusal
    )


def plan_schema(task: Task) -> JsonSchema:
    """Return the schema of ``{"plan": [{"action": .., "args": {..}}]}`` for the actions and objects of a task.

    Linear in the task. Raises ``ValueError`` where no action has an object for each parameter.
    """
    actions = [
        action
        for action in task.actions.values()
        if all([task.domains[parameter.domain] for parameter in action.parameters])
    ]
    if not actions:
        raise ValueError("no action of the task has an object for each of its parameters")
    used = {parameter.domain for action in actions for parameter in action.parameters}
    names = {domain: [task.objects[index] for index in task.domains[domain]] for domain in sorted(used)}
    words = [name for listed in names.values() for name in listed]
    fits = len(words) <= _MOST_NAMES and sum(map(len, words)) <= _MOST_LETTERS
    definitions = {
        f"o{domain}": {"type": "string", "enum": listed} if fits else {"type": "string"}
        for domain, listed in names.items()
    }
    steps = []
    for action in actions:
        arguments = {v.name.lstrip("?"): {"$ref": f"#/$defs/o{v.domain}"} for v in action.parameters}
        steps.append(_object({"action": {"type": "string", "enum": [action.name]}, "args": _object(arguments)}))
    plan = _object({"plan": {"type": "array", "items": {"anyOf": steps}}})
    return JsonSchema(json.dumps({**plan, "$defs": definitions}))


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
