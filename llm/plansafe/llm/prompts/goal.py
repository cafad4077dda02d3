"""The prompt for a goal: the predicates, the home, and the task in words; the answer has facts as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from plansafe.llm.models.port import Capabilities
from plansafe.llm.models.request import Constraint, Grammar, JsonSchema, Message, Role, Syntax
from plansafe.llm.prompts.crop import Crop, crop, facts_text, relevance, things_text, type_text
from plansafe.llm.prompts.planning import Prompt
from plansafe.llm.prompts.prompt_options import tokens_of
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.model.nodes import Task

VERSION = 1
MOST_FACTS = 12
"""Facts of a goal."""
_TASK = "You say what a task asks of a household robot: the facts that are to be so in the end. What can be so:"
_FORM = (
    "Use only these facts, with names of the home; (not (fact ..)) is what must not be so in the end. Say what the "
    "task asks for and no more. Write JSON and nothing else, such as "
    '{"goal": ["(fact name name)", "(not (fact name))"]}'
)


def goal_prompt(words: str, compiled: CompiledTask, *, most_tokens: int | None = None) -> Prompt:
    """Ask for the goal that words mean; a scene that is too long is cropped as for a plan."""
    full_prompt = _prompt(words, compiled, None)
    if most_tokens is None or full_prompt.tokens <= most_tokens:
        return full_prompt
    relevance_order = relevance(compiled, words)
    return _prompt(
        words,
        compiled,
        crop(compiled.task, relevance_order, lambda p: _prompt(words, compiled, p).tokens <= most_tokens),
    )


def _prompt(words: str, compiled: CompiledTask, part: Crop | None) -> Prompt:
    task = compiled.engine.task
    system = "\n".join([_TASK, *_facts(task), _FORM])
    user = f"Home:\n{things_text(task, part)}\nNow:\n{facts_text(task, part)}\nTask: {words}\nGoal:\n"
    style = f"goal{'+cropped' if part is not None else ''}"
    digest = hashlib.sha256("\0".join([str(VERSION), style, system, user]).encode()).hexdigest()
    messages = (Message(Role.SYSTEM, system), Message(Role.USER, user))
    return Prompt(messages, style, digest, tokens_of(system) + tokens_of(user), part)


def _changing(task: Task) -> list[int]:
    """What a goal can be about: the predicates that something changes."""
    return [index for index, static in enumerate(task.static) if not static and index < len(task.predicates)]


def _facts(task: Task) -> Iterator[str]:
    for index in _changing(task):
        declared = task.predicates[index]
        yield " ".join([f"({declared.name}", *[f"?{type_text(task, domain)}" for domain in declared.domains]]) + ")"


def goal_constraint(task: Task, capabilities: Capabilities) -> Constraint | None:
    """The form of the answer as far as a provider enforces one: typed facts by a grammar, else texts by a schema."""
    if capabilities.gbnf or capabilities.lark:
        return _grammar(task, Syntax.GBNF if capabilities.gbnf else Syntax.LARK)
    if capabilities.json_schema:
        texts = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_FACTS}
        schema = {"type": "object", "properties": {"goal": texts}, "required": ["goal"], "additionalProperties": False}
        return JsonSchema(json.dumps(schema))
    return None


def _grammar(task: Task, syntax: Syntax) -> Grammar:
    is_, start = ("::=", "root") if syntax is Syntax.GBNF else (":", "start")
    used: dict[int, str] = {}
    facts = []
    for index in _changing(task):
        declared = task.predicates[index]
        if not all([task.domains[domain] for domain in declared.domains]):
            continue
        names = [used.setdefault(domain, f"o{domain}") for domain in declared.domains]
        words = [json.dumps(f"({declared.name}")]
        for name in names:
            words += ['" "', name]
        facts.append(" ".join([*words, '")"']))
    begin, quote = json.dumps('{"goal": ['), json.dumps('"')
    lines = [
        f'{start} {is_} {begin} literal (", " literal){{0,{MOST_FACTS - 1}}} "]}}"',
        f'literal {is_} {quote} (fact | "(not " fact ")") {quote}',
        f"fact {is_} {' | '.join(facts)}",
    ]
    lines += [
        f"{n} {is_} {' | '.join([json.dumps(task.objects[o]) for o in task.domains[d]])}" for d, n in used.items()
    ]
    return Grammar("\n".join([*lines, ""]), syntax)
