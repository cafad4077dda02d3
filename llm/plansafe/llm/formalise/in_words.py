"""A rule in plain English, from its text: every operator by its meaning, so that a person can check it.

Facts stay as they are written, between backquotes: what a predicate is about is the domain's matter.
"""

from __future__ import annotations

from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source

_UNARY = {
    "always": "from then on, at every moment, {}",
    "sometime": "at that moment or later, {}",
    "next": "there is a next moment, and at it {}",
    "weak-next": "at the next moment, if there is one, {}",
    "once": "{} (then or at some moment before)",
    "historically": "{} (then and at every moment before)",
    "yesterday": "there was a moment right before, and at it {}",
    "weak-yesterday": "at the moment right before, if there was one, {}",
    "at-most-once": "there is at most one stretch of moments during which {}",
}
_BINARY = {
    "until": "at some moment {1}, and until then {0}",
    "release": "{1}, up to and including the moment when {0}, or for ever",
    "since": "at some moment before {1}, and ever since {0}",
    "sometime-after": "whenever {0}, at that moment or later {1}",
    "sometime-before": "before the first moment at which {0}, at some moment {1}",
    "imply": "if {0}, then {1}",
}
_STEPS = {":on": "is taken", ":at-end": "ends", ":during": "is under way"}


def in_words(rule: str) -> str:
    """One rule as sentences. The text must compile; raises ``ValueError`` for other texts than rules."""
    nodes = parse_nodes(Source("<rule>", rule))
    if not nodes or not isinstance(nodes[0], list) or len(nodes[0]) < 2:
        raise ValueError("no rule")
    kind, _, *fields_text = nodes[0]
    fields = {
        name: value for name, value in zip(fields_text[::2], fields_text[1::2], strict=False) if isinstance(name, str)
    }
    parts = _demands(str(kind), fields)
    when = f"{_formula(fields[':when'])}" if ":when" in fields else ""
    whose = f"for every {_typed(fields[':parameters'])}" if fields.get(":parameters") else ""
    match kind:
        case ":obligation":
            within = f", within {_text(fields[':within'])}" if ":within" in fields else ""
            clause = f"whenever {when}, at that moment or later{within}, {_formula(fields[':then'])}"
            return _sentence(whose, clause)
        case ":trajectory":
            return _sentence(whose, f"of the plan as a whole: {_formula(fields[':formula'])}")
        case ":termination":
            condition = f" if {when} then," if when else ""
            return _sentence(whose, f"when the plan ends,{condition} {' and '.join(parts)}")
        case ":process":
            step = next((f"whenever {_step(fields[n])} {clause}" for n, clause in _STEPS.items() if n in fields), "")
            condition = f" while {when}" if when else ""
            if step:
                return _sentence(whose, f"{step}{condition}, {' and '.join(parts)}")
            return _sentence(whose, f"at every moment{condition}, {' and '.join(parts)}")
        case _:
            raise ValueError(f"no kind of rule: {kind}")


def _demands(kind: str, fields: dict[str, Node]) -> list[str]:
    """What must be so and what must not, right before the step or after it."""
    about_step = kind == ":process" and any([name in fields for name in _STEPS])
    out = []
    for name, template in ((":require", "{}"), (":forbid", "it is not so that {}")):
        if name in fields:
            out.append(template.format(_grouped(fields[name])) + (" (right before it)" if about_step else ""))
        if f"{name}-after" in fields:
            out.append(template.format(_grouped(fields[f"{name}-after"])) + " (right after it)")
    return out


def _formula(node: Node) -> str:
    if isinstance(node, str) or not node:
        return _text(node)
    head, *arguments = node
    match head:
        case "and":
            return _joined(arguments, " and ", "nothing is asked")
        case "or":
            return _joined(arguments, " or ", "what can never be so")
        case "not" if len(arguments) == 1:
            return (
                f"not {_formula(arguments[0])}"
                if _simple(arguments[0])
                else f"it is not so that ({_formula(arguments[0])})"
            )
        case "exists" if len(arguments) == 2:
            return f"there is {_typed(arguments[0])} such that {_formula(arguments[1])}"
        case "forall" if len(arguments) == 2:
            return f"for every {_typed(arguments[0])}, {_formula(arguments[1])}"
        case "=" if len(arguments) == 2:
            return f"{_text(arguments[0])} is {_text(arguments[1])}"
        case "action" | "action-end" | "action-during" if len(arguments) == 1:
            return {
                "action": f"the step {_step(arguments[0])} is taken next",
                "action-end": f"the step {_step(arguments[0])} ends next",
                "action-during": f"the step {_step(arguments[0])} is under way",
            }[head]
        case "at" if len(arguments) == 2 and arguments[0] == "end":
            return f"when the plan ends, {_formula(arguments[1])}"
        case str() if head in _UNARY and len(arguments) == 1 and isinstance(arguments[0], list):
            return _UNARY[head].format(_grouped(arguments[0]))
        case str() if head in _BINARY and len(arguments) == 2 and all([isinstance(part, list) for part in arguments]):
            return _BINARY[head].format(*[_grouped(part) for part in arguments])
        case _:
            return _text(node)


def _joined(parts: list[Node], word: str, nothing: str) -> str:
    return word.join([_grouped(part) for part in parts]) or nothing


def _grouped(node: Node) -> str:
    """A part of a larger formula, in brackets unless it is a fact or the denial of one."""
    words = _formula(node)
    return words if _simple(node) else f"({words})"


def _simple(node: Node) -> bool:
    if isinstance(node, str):
        return True
    if node[:1] == ["not"] and len(node) == 2:
        return _simple(node[1])
    return all([isinstance(part, str) for part in node]) and node[:1] not in (["and"], ["or"])


def _typed(node: Node) -> str:
    """``?a - robot ?x ?y - item`` as ``robot ?a, item ?x, item ?y``."""
    parts: list[str] = []
    waiting: list[str] = []
    words = list(node) if isinstance(node, list) else [node]
    while words:
        word = words.pop(0)
        if word == "-" and words:
            kind = _either(words.pop(0))
            parts += [f"{kind} {name}" for name in waiting]
            waiting = []
        else:
            waiting.append(_text(word))
    return ", ".join([*parts, *[f"thing {name}" for name in waiting]])


def _either(node: Node) -> str:
    if isinstance(node, list):
        return " or ".join([_text(part) for part in node if part != "either"])
    return node


def _step(node: Node) -> str:
    """A step, or any of several."""
    if isinstance(node, list) and node[:1] == ["or"]:
        return " or ".join([_step(part) for part in node[1:]])
    return _text(node)


def _text(node: Node) -> str:
    """A fact, a step or a word, as it is written."""
    if isinstance(node, str):
        return node
    return "`" + " ".join([_text(part).strip("`") for part in node]) + "`"


def _sentence(whose: str, statement: str) -> str:
    sentence = f"{whose}: {statement}" if whose else statement
    return f"{sentence[:1].upper()}{sentence[1:]}."
