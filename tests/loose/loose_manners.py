"""Random plans of the tasks, and the notations in which models print them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from loose_cases import checker

Step = tuple[str, ...]


def random_plan(task: str, chance: random.Random, most: int = 6) -> list[Step]:
    """Return steps of the right types; they need not be executable."""
    engine = checker(task).engine
    actions = sorted(engine.task.actions.values(), key=lambda action: action.name)
    steps: list[Step] = []
    count = chance.randint(1, most)
    while len(steps) < count:
        action = chance.choice(actions)
        choices = [engine.task.domains[v.domain] for v in action.parameters]
        if all(choices):
            steps.append((action.name, *[engine.task.objects[chance.choice(c)] for c in choices]))
    return steps


def text_of(steps: list[Step]) -> str:
    return "".join([f"({' '.join(step)})\n" for step in steps])


def parameters(task: str, step: Step) -> list[str]:
    engine = checker(task).engine
    return [v.name[1:] for v in engine.task.actions[step[0]].parameters]


def _pddl(step: Step) -> str:
    return f"({' '.join(step)})"


def write_call(step: Step) -> str:
    return f"{step[0].replace('-', '_')}({', '.join(step[1:])})"


def _camel(step: Step) -> str:
    head, *words = step[0].replace("-", "_").split("_")
    return f"{head}{''.join([word.capitalize() for word in words])}({', '.join([name.upper() for name in step[1:]])})"


def _square(step: Step) -> str:
    return f"[{step[0].upper().replace('-', '_')}] {' '.join([f'<{a}>' for a in step[1:]])}".rstrip()


def _words(step: Step) -> str:
    return " ".join(step)


def _lines(write: Callable[[Step], str], mark: Callable[[int], str]) -> Callable[[str, list[Step]], str]:
    return lambda task, steps: "".join([f"{mark(i)}{write(step)}\n" for i, step in enumerate(steps, 1)])


def _fenced(info: str, write: Callable[[Step], str]) -> Callable[[str, list[Step]], str]:
    return lambda task, steps: f"```{info}\n" + "".join([f"{write(step)}\n" for step in steps]) + "```\n"


def _named_arguments(task: str, steps: list[Step]) -> str:
    lines = []
    for step in steps:
        pairs = [f"{name}={value}" for name, value in zip(parameters(task, step), step[1:], strict=True)]
        lines.append(f"{step[0]}({', '.join(reversed(pairs))})\n")
    return "".join(lines)


def _record(step: Step) -> dict[str, object]:
    return {"action": step[0], "args": list(step[1:])}


def _dictionary(task: str, steps: list[Step]) -> str:
    return "{" + ", ".join([f"{json.dumps(step[0].upper())}: {json.dumps(list(step[1:]))}" for step in steps]) + "}\n"


def _table(task: str, steps: list[Step]) -> str:
    rows = [f"| {i} | {_pddl(step)} | it helps |\n" for i, step in enumerate(steps, 1)]
    return "| Step | Action | Reason |\n|---|---|---|\n" + "".join(rows)


def _python(task: str, steps: list[Step]) -> str:
    calls = ["    " + f"{step[0].replace('-', '_')}({', '.join([repr(a) for a in step[1:]])}),\n" for step in steps]
    return "```python\nplan = [\n" + "".join(calls) + "]\n```\n"


# These notations are closed at their end, so an incomplete text is recognised.
CLOSED: dict[str, Callable[[str, list[Step]], str]] = {
    "fence": _fenced("pddl", _pddl),
    "fence of calls": _fenced("", write_call),
    "fence of words": _fenced("text", _words),
    "python": _python,
    "json strings": lambda task, steps: json.dumps([_pddl(step) for step in steps]) + "\n",
    "json objects": lambda task, steps: json.dumps({"plan": [_record(step) for step in steps]}, indent=1) + "\n",
    "json lists": lambda task, steps: json.dumps([list(step) for step in steps]) + "\n",
    "dictionary": _dictionary,
    "form": lambda task, steps: f"(define (plan p) (:steps {text_of(steps)}))\n",
    "tags": lambda task, steps: f"<answer>\n{text_of(steps)}</answer>\n",
}
OPEN: dict[str, Callable[[str, list[Step]], str]] = {
    "lines": _lines(_pddl, lambda i: ""),
    "numbers": _lines(_pddl, lambda i: f"{i}. "),
    "numbered calls": _lines(write_call, lambda i: f"{i}) "),
    "camel case": _lines(_camel, lambda i: f"Step {i}: "),
    "bullets": _lines(write_call, lambda i: "- "),
    "bold": _lines(lambda step: f"**{write_call(step)}**", lambda i: f"{i}. "),
    "code": _lines(lambda step: f"`{_pddl(step)}`", lambda i: "* "),
    "described": _lines(_pddl, lambda i: f"{i}. **Something sensible**: "),
    "explained": _lines(lambda step: f"{_pddl(step)} - to reach what is wanted", lambda i: f"{i}. "),
    "square": _lines(_square, lambda i: ""),
    "numbered squares": _lines(_square, lambda i: f"({i}) "),
    "words": _lines(_words, lambda i: f"{i}. "),
    "bare words": _lines(_words, lambda i: ""),
    "named": _named_arguments,
    "objects in lines": lambda task, steps: "".join([json.dumps(_record(step)) + "\n" for step in steps]),
    "arrows": lambda task, steps: " -> ".join([write_call(step) for step in steps]) + "\n",
    "table": _table,
    "quoted": _lines(_pddl, lambda i: "> "),
}
MANNERS = {**CLOSED, **OPEN}
