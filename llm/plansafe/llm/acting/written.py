"""The writer's answer: from JSON, or from fenced blocks of the fields' names, to texts of a scenario.

The writer gives the forbidden state; the requested type gives the hazard and its target. Nothing of
the answer becomes a path or a name unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from plansafe.domains.json_text import BadJson, read_json
from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.acting.prompts import FIELDS
from plansafe.specs.taxonomy import Category

MOST = 20_000
_FENCE = re.compile(r"```[ \t]*([a-z_]*)[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]+")
_OPTIONAL = ("domain", "message")


class Refused(Exception):
    """A proposal goes no further; ``stage`` and the message say where and why."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(reason)
        self.stage = stage
        self.reason = reason


class Written(NamedTuple):
    """A proposal as texts: the fields, each on one line if it is in words."""

    instruction: str
    goal_words: str
    problem: str
    domain: str
    parameters: str
    forbidden: str
    message: str


def read_written(answer: str) -> Written:
    """The fields of an answer. Raises :class:`Refused` (stage ``form``)."""
    texts = read_fields(answer, FIELDS, _OPTIONAL)
    for name in ("instruction", "goal_words", "message"):
        texts[name] = one_line(texts[name])
    return Written(**texts)


def read_fields(answer: str, names: Collection[str], optional: Collection[str] = ()) -> dict[str, str]:
    """The texts of the named fields of an answer. Raises :class:`Refused` (stage ``form``)."""
    fields = _json(answer, names) or _blocks(answer, names)
    if not fields:
        raise Refused("form", "the answer is not a JSON object and has no blocks with the fields' names")
    missing = [name for name in names if not fields.get(name, "").strip() and name not in optional]
    if missing:
        raise Refused("form", f"the answer has no {', '.join(missing)}")
    if any([len(text) > MOST for text in fields.values()]):
        raise Refused("form", f"a field has more than {MOST:,} characters")
    return {name: fields.get(name, "").strip().encode("utf-8", "replace").decode() for name in names}


def one_line(text: str) -> str:
    """The text as one printable line of at most 500 characters."""
    return " ".join("".join([c if c.isprintable() else " " for c in text]).split())[:500]


def _json(answer: str, names: Collection[str]) -> dict[str, str]:
    start, end = answer.find("{"), answer.rfind("}")
    if start < 0 or end < start:
        return {}
    try:
        value = read_json(answer[start : end + 1])
    except BadJson:
        return {}
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if name in names and isinstance(text, str)}


def _blocks(answer: str, names: Collection[str]) -> dict[str, str]:
    blocks: dict[str, str] = {}
    for name, text in _FENCE.findall(answer):
        if name.lower() in names:
            blocks.setdefault(name.lower(), text)
    return blocks


def rules(written: Written, category: Category, world: str) -> str:
    """The specification: one rule that forbids the state, of the type's hazard. Raises :class:`Refused` (``rule``)."""
    parameters, forbidden = (
        _single_formula("parameters", written.parameters),
        _single_formula("forbidden", written.forbidden),
    )
    hazard, targets = sorted(category.hazards)[0], " ".join(sorted(category.targets))
    message = re.sub(r'["\\{}]', "", written.message) or "this is forbidden"
    return (
        f"(define (safety proposed)\n  (:domain {world})\n\n  (:process proposed-rule\n    :parameters {parameters}\n"
        f"    :forbid {forbidden}\n    :hazard {hazard} :target ({targets}) :severity high\n"
        f'    :message "{message}"))\n'
    )


def _single_formula(field: str, text: str) -> str:
    """One list, rewritten from its nodes: nothing can end the rule and begin something else."""
    nodes = parse_nodes(Source(field, text))
    if nodes is None or len(nodes) != 1 or not isinstance(nodes[0], list):
        raise Refused("rule", f"`{field}` must be one list in parentheses")
    if any([word.startswith(":") for word in _words(nodes[0])]):
        raise Refused("rule", f"`{field}` contains a keyword")
    return format_node(nodes[0])


def _words(node: list[Node]) -> list[str]:
    out: list[str] = []
    waiting: list[Node] = [node]
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, str):
            out.append(tree)
        else:
            waiting += tree
    return out


def name_of(instruction: str, used_names: frozenset[str]) -> str:
    """A folder's name of the first words of a command, with a number where it is taken."""
    words = [word for word in _WORD.findall(instruction.lower()) if len(word) > 2][:5]
    plain = "-".join(["proposed", *words])[:50].strip("-")
    return next(
        name for name in [plain, *[f"{plain}-{n}" for n in range(2, len(used_names) + 3)]] if name not in used_names
    )
