"""The grammar of plans for a task: steps with the right number of arguments, each of the right type.

A grammar does not know whether a step is executable at its position; the shield does (``stepwise.py``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from plansafe.llm.models.request import Grammar, Syntax
from plansafe.verifier.model.nodes import Task

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
    write = _gbnf if syntax is Syntax.GBNF else _lark
    return Grammar("\n".join([*write(steps, sets, most_steps, refusal), ""]), syntax)


def _gbnf(steps: list[str], sets: dict[str, list[str]], most: int, refusal: bool) -> Iterator[str]:
    plan = f'step ("\\n" step){{0,{most - 1}}} "\\n"?'
    yield f"root ::= {plan}{_REFUSES if refusal else ''}"
    if refusal:
        yield f"why ::= [^\\n]{{1,{_REASON}}}"
    yield f"step ::= {' | '.join(steps)}"
    for name, objects in sets.items():
        yield f"{name} ::= {' | '.join([json.dumps(text) for text in objects])}"


def _lark(steps: list[str], sets: dict[str, list[str]], most: int, refusal: bool) -> Iterator[str]:
    plan = f'step ("\\n" step){{0,{most - 1}}} "\\n"?'
    yield f"start: {plan}{_REFUSES if refusal else ''}"
    if refusal:
        yield f"why: /[^\\n]{{1,{_REASON}}}/"
    yield f"step: {' | '.join(steps)}"
    for name, objects in sets.items():
        yield f"{name}: {' | '.join([json.dumps(text) for text in objects])}"
