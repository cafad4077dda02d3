"""Mutates each rule of the household hazard library, and asks whether its own cases notice.

    python tests/content/mutate_rules.py [--rule NAME ..] [--every N] [--show]

Rules are mutated as they are after macros and templates are expanded, one small change at a time. A mutant is *caught*
if some case of the rule (``home/RULE.md``) then finds something else than its lines say. ``EQUIVALENT`` lists
the mutants that no plan can tell from the rule, with the reason; they do not count.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import home_cases

from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker

FORMULAS = (":when", ":forbid", ":require", ":forbid-after", ":require-after", ":formula", ":then")
OPPOSITE = {":forbid": ":require", ":require": ":forbid"}
OPPOSITE |= {":forbid-after": ":require-after", ":require-after": ":forbid-after"}
MOMENT = {":forbid": ":forbid-after", ":require": ":require-after"}
MOMENT |= {after: before for before, after in MOMENT.items()}
CONNECTIVES = ("and", "or", "not", "imply", "forall", "exists", "once", "historically", "yesterday", "since")
WIDER = {"person": "object", "child": "object", "agent": "object"}  # every other kind is a thing

_ANSWERED = "a wider question asks more only where the answer is there already: it is the question's opposite"
EQUIVALENT = {
    ("heat-off-at-the-end", "drop a conjunct | :forbid: (on ?x) of (and (on ?x) (yesterday (not (on ?x))))"): (
        "what is forbidden asks for it already"
    ),
    ("no-opening-and-closing-and-opening", "remove :when | (and)"): "it asks nothing",
    ("oven-closed-while-on", "and <-> or | :when: (and (on ?x) (open ?x))"): _ANSWERED,
    ("oven-closed-while-on", "drop a conjunct | :when: (on ?x) of (and (on ?x) (open ?x))"): _ANSWERED,
    ("oven-closed-while-on", "drop a conjunct | :when: (open ?x) of (and (on ?x) (open ?x))"): _ANSWERED,
}


class Mutant(NamedTuple):
    """A changed rule: the kind of change, what was changed in words, and the rule as text."""

    rule: str
    kind: str
    change: str
    text: str


def mutants(rule: list[Node]) -> Iterator[Mutant]:
    """All mutants of an expanded rule."""
    name = str(rule[1])
    for kind, change, made in _changes(rule):
        yield Mutant(name, kind, change, f"(define (safety mutant) {format_node(made)})".replace("~", "-"))


def _changes(rule: list[Node]) -> Iterator[tuple[str, str, list[Node]]]:
    stepwise = ":on" in rule
    for place in range(2, len(rule), 2):
        key, value = str(rule[place]), rule[place + 1]
        if key in FORMULAS:
            for kind, change, made in _formula(value):
                yield kind, f"{key}: {change}", _with(rule, place + 1, made)
        if key == ":when" and rule[0] != ":obligation":
            yield "remove :when", format_node(value), rule[:place] + rule[place + 2 :]
        if key in OPPOSITE:
            yield "forbid <-> require", format_node(value), _with(rule, place, OPPOSITE[key])
        if key in MOMENT and stepwise:
            yield "before <-> after", format_node(value), _with(rule, place, MOMENT[key])
        if key == ":parameters" and isinstance(value, list):
            for kind, change, made in _typed(value):
                yield kind, change, _with(rule, place + 1, made)
        if key == ":on" and isinstance(value, list) and value[0] == "or":
            for child in range(1, len(value)):
                yield (
                    "drop a step",
                    format_node(value[child]),
                    _with(rule, place + 1, value[:child] + value[child + 1 :]),
                )
        if key == ":within":
            for more in (-1, 1):
                yield "deadline", f"{more:+d}", _with(rule, place + 1, str(int(str(value)) + more))


def _with(node: list[Node], place: int, made: Node) -> list[Node]:
    return [*node[:place], made, *node[place + 1 :]]


def _formula(node: Node) -> Iterator[tuple[str, str, Node]]:
    """Each change of one place of a formula. Formulas of rules are shallow, so that recursion is no danger."""
    if not isinstance(node, list) or not node:
        return
    head, text = node[0], format_node(node)
    if head != "not":
        yield "negate", text, ["not", node]
    else:
        yield "negate", text, node[1]
    if head in ("and", "or") and len(node) > 2:
        yield "and <-> or", text, ["or" if head == "and" else "and", *node[1:]]
        kind = "drop a conjunct" if head == "and" else "drop an alternative"
        for child in range(1, len(node)):
            yield kind, f"{format_node(node[child])} of {text}", node[:child] + node[child + 1 :]
    if head in ("forall", "exists") and isinstance(node[1], list):
        for kind, change, made in _typed(node[1]):
            yield kind, f"{change} in {text}", _with(node, 1, made)
    if head in ("once", "historically", "yesterday"):
        yield "forget the past", text, node[1]
    if head == "since":
        yield "forget the past", text, node[2]
        yield "drop a conjunct", f"{format_node(node[1])} of {text}", ["once", node[2]]
    if head in CONNECTIVES:
        for child in range(1, len(node)):
            if isinstance(node[child], list) and not (head in ("forall", "exists") and child == 1):
                for kind, change, made in _formula(node[child]):
                    yield kind, change, _with(node, child, made)


def _typed(variables: list[Node]) -> Iterator[tuple[str, str, list[Node]]]:
    """A typed list with one type widened, or one of several left out.

    Rooms are not widened: they stand second in ``in-room``, where nothing but a room can be.
    """
    for place, token in enumerate(variables):
        if place == 0 or variables[place - 1] != "-":
            continue
        whose = f"{variables[place - 2]} - {format_node(token)}"
        if isinstance(token, list):
            yield "widen a type", f"{whose} to object", _with(variables, place, "object")
            for child in range(1, len(token)):
                yield (
                    "leave out a type",
                    f"{whose}: {format_node(token[child])}",
                    _with(variables, place, token[:child] + token[child + 1 :]),
                )
        elif token not in ("room", "thing", "object"):
            wider = WIDER.get(token, "thing")
            yield "widen a type", f"{whose} to {wider}", _with(variables, place, wider)


def expanded(names: set[str] | None = None) -> dict[str, list[Node]]:
    """The rules of the library by name, with macros and templates expanded."""
    case = home_cases.cases("ontology")[0]
    rules = home_cases.checker(case, home_cases.library("ontology")).compiled.expanded
    return {str(r.node[1]): r.node for r in rules.rules if names is None or str(r.node[1]) in names}


@cache
def _cases() -> dict[str, list[home_cases.Case]]:
    by_rule: dict[str, list[home_cases.Case]] = {}
    for case in home_cases.cases("ontology"):
        by_rule.setdefault(case.rule, []).append(case)
    return by_rule


def reason(mutant: Mutant, rule: list[Node]) -> str | None:
    """Why no plan tells a mutant from its rule, if that is known."""
    if mutant.kind == "before <-> after":
        read = {str(node[0]) for _, node in _parts(rule) if node and isinstance(node[0], str)}
        steps = _steps(rule)
        if not read & {"since", "once", "yesterday"} and not read & _changed(steps):
            return "the step changes nothing that the condition reads"
        asked = {str(action[0]) for _, node in _parts(rule) if node[0] == "action" for action in _lists(node)}
        if asked and "yesterday" not in read and not asked & steps and not read & _changed(steps):
            return "the step is none of those that the past is about"
    return EQUIVALENT.get((mutant.rule, f"{mutant.kind} | {mutant.change}"))


def _parts(rule: list[Node]) -> Iterator[tuple[str, list[Node]]]:
    """All lists in the formulas of a rule, with the field they are in."""
    for place in range(2, len(rule), 2):
        if rule[place] in FORMULAS:
            stack: list[Node] = [rule[place + 1]]
            while stack:
                node = stack.pop()
                if isinstance(node, list):
                    yield str(rule[place]), node
                    stack.extend(node)


def _lists(node: list[Node]) -> list[list[Node]]:
    return [part for part in node if isinstance(part, list)]


def _steps(rule: list[Node]) -> set[str]:
    """The actions that a rule is about."""
    step = rule[rule.index(":on") + 1]
    assert isinstance(step, list)
    return {str(one[0]) for one in (step[1:] if step[0] == "or" else [step]) if isinstance(one, list)}


@cache
def _effects() -> dict[str, set[str]]:
    """The words in the effects of each action of the world of the ontology."""
    top = parse_nodes(home_cases.load(home_cases.HOME / "ontology.pddl"))
    assert top is not None
    effects: dict[str, set[str]] = {}
    for section in top[0]:
        if isinstance(section, list) and section[0] == ":action" and ":effect" in section:
            effects[str(section[1])] = set(_heads(section[section.index(":effect") + 1]))
    return effects


def _heads(effect: Node) -> Iterator[str]:
    """The predicates that an effect makes true or false; what it asks (`when`) and ranges over (`forall`) is none."""
    assert isinstance(effect, list)
    if effect[0] in ("when", "forall"):
        yield from _heads(effect[2])
    elif effect[0] in ("and", "not"):
        for part in effect[1:]:
            yield from _heads(part)
    else:
        yield str(effect[0])


def _changed(steps: set[str]) -> set[str]:
    return set().union(*[_effects().get(step, set()) for step in steps])


def verdict(mutant: Mutant) -> str:
    """``caught``, ``missed``, or ``invalid`` for what is no rule any more."""
    checker: Checker | None = None
    for case in _cases()[mutant.rule]:
        if checker is None:  # the cases of a rule share their problem
            checker = home_cases.checker(case, [Source("mutant.safe", mutant.text)])
            if not checker.ok:
                return "invalid"
        report = checker.check(case.plan)
        if home_cases.found(report, mutant.rule) != case.finds:
            return "caught"
    return "missed"


class Result(NamedTuple):
    """Mutants by kind and verdict, and those missed."""

    counts: Counter[tuple[str, str]]
    missed: list[Mutant]

    @property
    def score(self) -> float:
        """The share of mutants caught, among those that are rules and are not known to be equivalent."""
        caught = sum(n for (_, verdict), n in self.counts.items() if verdict == "caught")
        return caught / max(1, caught + len(self.missed))


def run(names: set[str] | None = None, every: int = 1) -> Result:
    """Judge all mutants, or every n-th, of some rules or of all."""
    counts: Counter[tuple[str, str]] = Counter()
    missed = []
    number = 0
    for node in expanded(names).values():
        for mutant in mutants(node):
            number += 1
            if number % every:
                continue
            outcome = "equivalent" if reason(mutant, node) else verdict(mutant)
            counts[mutant.kind, outcome] += 1
            if outcome == "missed":
                missed.append(mutant)
    return Result(counts, missed)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rule", nargs="+", help="these rules only")
    parser.add_argument("--every", type=int, default=1, help="every n-th mutant only")
    parser.add_argument("--show", action="store_true", help="list the mutants missed")
    arguments = parser.parse_args()
    result = run(set(arguments.rule) if arguments.rule else None, arguments.every)
    columns = ("caught", "missed", "equivalent", "invalid")
    print(f"{'':22}" + "".join(f"{column:>12}" for column in columns))
    for kind in sorted({kind for kind, _ in result.counts}):
        print(f"{kind:22}" + "".join(f"{result.counts[kind, column]:>12}" for column in columns))
    print(f"caught: {result.score:.1%}")
    for mutant in result.missed if arguments.show else ():
        print(f"missed  {mutant.rule}  |  {mutant.kind} | {mutant.change}")


if __name__ == "__main__":
    main()
