"""The rules of the shipped library for homes by name, with their hazards and targets, read without compiling them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs import spec_names, spec_path

_LIBRARY = "home-"


class HomeRule(NamedTuple):
    """A rule: its name, its hazard, whom or what the hazard harms, and its message (``x is on in r``)."""

    name: str
    hazard: str | None
    targets: tuple[str, ...]
    message: str


@cache
def home_rules() -> Mapping[str, HomeRule]:
    """The rules by name."""
    return {rule.name: rule for name in spec_names() if name.startswith(_LIBRARY) for rule in _rules(name)}


def _rules(specification: str) -> Iterator[HomeRule]:
    for form in parse_nodes(Source.from_path(spec_path(specification))) or []:
        for node in form[2:] if isinstance(form, list) else ():
            if not isinstance(node, list) or ":hazard" not in node or not isinstance(node[1], str):
                continue
            values: dict[object, Node] = {key: value for key, value in pairwise(node) if isinstance(key, str)}
            targets = values.get(":target", [])
            names = targets if isinstance(targets, list) else [targets]
            message = re.sub(r"\{\?(\w+)\}", r"\1", str(values.get(":message", "")).strip('"'))
            yield HomeRule(node[1], str(values[":hazard"]), tuple([str(name) for name in names]), message)
