"""Mutate each rule of the household hazard library, and check whether a case of the rule detects the mutant.

    python tests/content/mutate_rules.py [--rule NAME ..] [--every N] [--show]

Rules are mutated after their macros and templates are expanded, with one small change each; the definitions of the
physics (``home-physics.safe``) are mutated by themselves. A mutant of a rule is *caught* if its findings in a case of
the rule (``home/RULE.md``) differ from the expected ones, and a mutant of a definition if a case of the physics
(``physics/ontology.txt``) has other facts. ``EQUIVALENT`` lists the mutants that have the same findings as the rule in
every plan, with the reason; they do not count.
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
import physics_cases

from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.elaborate.context import Context
from plansafe.verifier.rules.expand import SpecExpander

FORMULAS = (":when", ":forbid", ":require", ":forbid-after", ":require-after", ":formula", ":then")
OPPOSITE = {":forbid": ":require", ":require": ":forbid"}
OPPOSITE |= {":forbid-after": ":require-after", ":require-after": ":forbid-after"}
MOMENT = {":forbid": ":forbid-after", ":require": ":require-after"}
MOMENT |= {after: before for before, after in MOMENT.items()}
CONNECTIVES = ("and", "or", "not", "imply", "forall", "exists", "once", "historically", "yesterday", "since")
SUPERTYPES = {"person": "object", "child": "object", "agent": "object"}  # every other kind is a thing

_HANDS = "the step does not wash hands, and the food is neither a cleaner nor raw"
_DISH = "the step neither moves nor cleans the dish"
_FOOD = "the step neither cleans nor cools the object that it puts down"
_FULFILLED = "a weaker trigger adds only obligations that are fulfilled at once"
_HAS_A_STEP = "in the ontology's domain no such fact ends without a step that the definition names as well"
_ONE_STEP = "in the ontology's domain no step both fills and pours"
_STAYS_HOT = "the step neither heats nor cools the object that it names"
_DROPS = "the step neither fills nor closes the vessel"
_HEATS = "only a heat source and a microwave oven heat anything"
_ONE_AGENT = "all agents are in the same room of the ontology's domain"
_POURS = "the step neither switches nor cools anything"
_SETS_THE_FACT = "in the ontology's domain the step makes the fact true that the definition reads as well"
EQUIVALENT = {
    (
        "heat-attended",
        (
            "drop a conjunct | :forbid: (not (exists (?who - agent) (in-room ?who ?r))) of (and (on ?x) (once "
            "(action (switch-on ?x))) (in-room ?x ?r) (exists (?who - agent ?there - room) (and (in-room ?who "
            "?there) (not (= ?there ?r)))) (not (exists (?who - agent) (in-room ?who ?r))) (not (exists (?who - "
            "person) (in-room ?who ?r))))"
        ),
    ): _ONE_AGENT,
    (
        "heat-attended",
        ("drop a conjunct | :forbid: (not (= ?there ?r)) of (and (in-room ?who ?there) (not (= ?there ?r)))"),
    ): _ONE_AGENT,
    ("nothing-that-bursts-in-or-on-the-heat", "widen a type | ?h - (either heat-source microwave) to object"): _HEATS,
    ("no-flammable-liquid-heated", "widen a type | ?h - (either heat-source microwave) to object"): _HEATS,
    (
        "no-drink-poured-over-things",
        "before <-> after | (or (= ?x ?d) (holds ?x ?d))",
    ): "a vessel is not poured over itself",
    ("no-hand-on-running-heat", "before <-> after | (is-hot ?h)"): _STAYS_HOT,
    ("no-opening-under-pressure", "before <-> after | (is-hot ?p)"): _STAYS_HOT,
    ("nothing-full-dropped", "before <-> after | (can-spill ?v)"): _DROPS,
    (
        "one-drawer-open-at-a-time",
        "before <-> after | (and (open ?e) (once (action (open ?e))) (not (= ?d ?e)))",
    ): "the step opens the other drawer",
    (
        "no-liquid-in-the-bin",
        (
            "drop a conjunct | :forbid: (not (action (pour _ ?b))) of (and (action (fill ?b))"
            " (not (action (pour _ ?b))))"
        ),
    ): _ONE_STEP,
    (
        "no-hot-dish-into-cold-water",
        (
            "drop a conjunct | :forbid: (not (action (pour _ ?x))) of (and (action (fill ?x))"
            " (exists (?f - fragile) (= ?f ?x)) (not (action (pour _ ?x))))"
        ),
    ): _ONE_STEP,
    (
        "no-aerosol-or-solvent-at-a-flame",
        (
            "before <-> after | (or (and (or (on ?y) (is-hot ?y)) (not (exists (?w - (either water-source cookware"
            " tableware)) (= ?w ?y)))) (exists (?f - (either flame open-heat)) (and (on ?f) (not (= ?f ?y))"
            " (or (beside ?y ?f) (upon ?y ?f) (at-hand ?f)))))"
        ),
    ): _POURS,
    (
        "is-cooled",
        (
            "drop an alternative | (and (yesterday (hot ?x)) (not (hot ?x))) of (or (exists (?cold - cold-store)"
            " (inside ?x ?cold)) (and (yesterday (hot ?x)) (not (hot ?x))) (yesterday (or (action (wash ?x))"
            " (action (cool ?x)) (action (sleep)) (action (wait)) (exists (?v - thing) (and (action (cool ?v))"
            " (is-content ?x ?v))))))"
        ),
    ): _HAS_A_STEP,
    ("is-cooled", "forget the past | (yesterday (hot ?x))"): _HAS_A_STEP,
    (
        "is-hot",
        (
            "drop an alternative | (yesterday (action (heat ?x))) of (or (hot ?x) (is-heated ?x)"
            " (yesterday (action (heat ?x))))"
        ),
    ): _SETS_THE_FACT,
    ("is-hot", "forget the past | (yesterday (action (heat ?x)))"): _SETS_THE_FACT,
    (
        "gets-wet",
        (
            "drop an alternative | (action (wash ?x)) of (or (action (wash ?x))"
            " (and (action (pour _ ?x)) (not (takes-liquid ?x))))"
        ),
    ): _SETS_THE_FACT,
    (
        "gets-dry",
        (
            "drop an alternative | (and (yesterday (wet ?x)) (not (wet ?x))) of (or (and (yesterday (wet ?x))"
            " (not (wet ?x))) (yesterday (or (action (clean ?x)) (action (dry ?x)) (action (sleep)) (action (wait)))))"
        ),
    ): _HAS_A_STEP,
    ("gets-dry", "forget the past | (yesterday (wet ?x))"): _HAS_A_STEP,
    (
        "carries-cleaner",
        "drop an alternative | (action (pour ?t ?x)) of (or (is-at ?t ?x) (holds ?x ?t) (action (pour ?t ?x)))",
    ): _SETS_THE_FACT,
    ("hands-washed-after-raw-food", "before <-> after | (hands-carry-raw-food)"): _HANDS,
    ("hands-washed-after-the-toilet", "before <-> after | (hands-carry-germs)"): _HANDS,
    ("hands-washed-after-cleaner", "before <-> after | (hands-carry-cleaner)"): _HANDS,
    ("hands-washed-before-serving", "before <-> after | (or (hands-carry-germs) (hands-carry-cleaner))"): _HANDS,
    ("no-food-from-floor-or-bin-eaten", "before <-> after | (carries-dirt ?x)"): _FOOD,
    (
        "no-food-on-what-is-dirty",
        (
            "before <-> after | (or (dirty ?y) (and (carries-dirt ?y) "
            "(exists (?dish - (either tableware cookware)) (= ?dish ?y))))"
        ),
    ): _DISH,
    ("no-drink-into-what-is-dirty", "before <-> after | (or (dirty ?v) (carries-dirt ?v))"): _DISH,
    ("no-ready-food-where-raw-food-lay", "before <-> after | (carries-raw-food ?y)"): _DISH,
    ("no-food-from-floor-or-bin-served", "before <-> after | (carries-dirt ?x)"): _FOOD,
    (
        "nothing-hot-wet-or-dirty-on-soft-furniture",
        "before <-> after | (or (is-hot ?x) (wet ?x) (dirty ?x))",
    ): _FOOD,
    (
        "nothing-hot-in-the-bin",
        "before <-> after | (or (is-hot ?x) (exists (?f - flame) (and (= ?f ?x) (on ?f))))",
    ): _FOOD,
    ("no-dirty-blade-in-food", "before <-> after | (and (held ?k) (or (dirty ?k) (carries-dirt ?k)))"): (
        "cutting does not clean the blade"
    ),
    ("blade-washed-after-raw-food", "before <-> after | (and (held ?k) (carries-raw-food ?k))"): (
        "cutting does not clean the blade, and the cut object is not raw"
    ),
    ("nothing-broken-with-food-in-it", "before <-> after | (is-at ?x ?y)"): "the step does not move the food",
    ("nothing-moved-under-what-falls", "before <-> after | (upon ?y ?x)"): "the step moves only the lower object",
    (
        "no-cleaners-mixed",
        (
            "drop an alternative | :forbid: (action (pour ?u ?v)) of (or (or (holds ?v ?u) (is-at ?u ?v)) "
            "(action (pour ?u ?v)))"
        ),
    ): "in the world of the ontology, the poured object is held afterwards",
    ("heat-off-at-the-end", "drop a conjunct | :forbid: (on ?x) of (and (on ?x) (yesterday (not (on ?x))))"): (
        "the forbidden condition already implies it"
    ),
    ("oven-closed-while-on", "and <-> or | :when: (and (on ?x) (open ?x))"): _FULFILLED,
    ("oven-closed-while-on", "drop a conjunct | :when: (on ?x) of (and (on ?x) (open ?x))"): _FULFILLED,
    ("oven-closed-while-on", "drop a conjunct | :when: (open ?x) of (and (on ?x) (open ?x))"): _FULFILLED,
}


class Mutant(NamedTuple):
    """A changed rule: the kind of change, a description of the change, and the rule as text."""

    rule: str
    kind: str
    change: str
    text: str


def mutants(rule: list[Node]) -> Iterator[Mutant]:
    """Yield all mutants of an expanded rule."""
    name = str(rule[1])
    for kind, change, mutant in _mutate_rule(rule):
        yield Mutant(name, kind, change, make_specification(mutant))


def make_specification(rule: list[Node]) -> str:
    """Return a specification with one expanded rule."""
    return f"(define (safety mutant) (:extends home-physics) {format_node(rule)})".replace("~", "-")


def definition_mutants(names: set[str] | None = None) -> Iterator[Mutant]:
    """Yield all mutants of the definitions of the physics, each as the text of all definitions."""
    physics = home_cases.load(physics_cases.PHYSICS)
    top = parse_nodes(physics)
    assert top is not None
    (form,) = top
    assert isinstance(form, list)
    for place, section in enumerate(form):
        if not (isinstance(section, list) and section[0] == ":define" and isinstance(section[1], list)):
            continue
        name = str(section[1][0])
        if names is None or name in names:
            for kind, change, mutant in _mutate_formula(section[2]):
                text = format_node(_with(form, place, _with(section, 2, mutant)))
                yield Mutant(name, kind, change, text)


def _mutate_rule(rule: list[Node]) -> Iterator[tuple[str, str, list[Node]]]:
    """Yield kind and description of each change, and the changed rule."""
    stepwise = ":on" in rule
    for place in range(2, len(rule), 2):
        key, value = str(rule[place]), rule[place + 1]
        if key in FORMULAS:
            for kind, change, mutant in _mutate_formula(value):
                yield kind, f"{key}: {change}", _with(rule, place + 1, mutant)
        if key == ":when" and rule[0] != ":obligation":
            yield "remove :when", format_node(value), rule[:place] + rule[place + 2 :]
        if key in OPPOSITE:
            yield "forbid <-> require", format_node(value), _with(rule, place, OPPOSITE[key])
        if key in MOMENT and stepwise:
            yield "before <-> after", format_node(value), _with(rule, place, MOMENT[key])
        if key == ":parameters" and isinstance(value, list):
            for kind, change, mutant in _mutate_typed_list(value):
                yield kind, change, _with(rule, place + 1, mutant)
        if key == ":on" and isinstance(value, list) and value[0] == "or":
            for child in range(1, len(value)):
                remaining = value[:child] + value[child + 1 :]
                yield "drop a step", format_node(value[child]), _with(rule, place + 1, remaining)
        if key == ":within":
            for shift in (-1, 1):
                yield "deadline", f"{shift:+d}", _with(rule, place + 1, str(int(str(value)) + shift))


def _with(node: list[Node], place: int, child: Node) -> list[Node]:
    return [*node[:place], child, *node[place + 1 :]]


def _mutate_formula(node: Node) -> Iterator[tuple[str, str, Node]]:
    """Yield each change of one part of a formula. The formulas of rules are shallow enough for recursion."""
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
        for kind, change, mutant in _mutate_typed_list(node[1]):
            yield kind, f"{change} in {text}", _with(node, 1, mutant)
    if head in ("once", "historically", "yesterday"):
        yield "forget the past", text, node[1]
    if head == "since":
        yield "forget the past", text, node[2]
        yield "drop a conjunct", f"{format_node(node[1])} of {text}", ["once", node[2]]
    if head in CONNECTIVES:
        for child in range(1, len(node)):
            if isinstance(node[child], list) and not (head in ("forall", "exists") and child == 1):
                for kind, change, mutant in _mutate_formula(node[child]):
                    yield kind, change, _with(node, child, mutant)


def _mutate_typed_list(variables: list[Node]) -> Iterator[tuple[str, str, list[Node]]]:
    """Yield a typed list with one type widened, or with one of several alternative types removed.

    Rooms are not widened: they are the second argument of ``in-room``, which is always a room.
    """
    for place, token in enumerate(variables):
        if place == 0 or variables[place - 1] != "-":
            continue
        declaration = f"{variables[place - 2]} - {format_node(token)}"
        if isinstance(token, list):
            yield "widen a type", f"{declaration} to object", _with(variables, place, "object")
            for child in range(1, len(token)):
                remaining = token[:child] + token[child + 1 :]
                change = f"{declaration}: {format_node(token[child])}"
                yield "leave out a type", change, _with(variables, place, remaining)
        elif token not in ("room", "thing", "object"):
            supertype = SUPERTYPES.get(token, "thing")
            yield "widen a type", f"{declaration} to {supertype}", _with(variables, place, supertype)


def expanded_rules(names: set[str] | None = None) -> dict[str, list[Node]]:
    """Return the rules of the library by name, with macros and templates expanded, but not the physics."""

    def resolve(name: str, extending: Source) -> Source | None:
        if name == "home-physics":
            return Source(name, "(define (safety home-physics))")
        return home_cases.resolve_shipped(name, extending)

    expanded = SpecExpander(Context(), "ontology", resolve).expand(home_cases.library_sources("ontology"))
    return {str(r.node[1]): r.node for r in expanded.rules if names is None or str(r.node[1]) in names}


@cache
def _physics_operators() -> dict[str, set[str]]:
    """Return the operators and predicates in each definition of the physics, and in those that it uses."""
    operators: dict[str, set[str]] = {}
    for section in physics_cases.read_definitions(home_cases.load(physics_cases.PHYSICS)):
        assert isinstance(section[1], list)
        heads = _operators(section[2])
        operators[str(section[1][0])] = heads.union(*[operators.get(head, set()) for head in heads])
    return operators


def _operators(formula: Node) -> set[str]:
    if not isinstance(formula, list) or not formula:
        return set()
    return {str(formula[0])}.union(*[_operators(part) for part in formula[1:]])


@cache
def _cases_by_rule() -> dict[str, list[home_cases.Case]]:
    by_rule: dict[str, list[home_cases.Case]] = {}
    for case in home_cases.cases_of_world("ontology"):
        by_rule.setdefault(case.rule, []).append(case)
    return by_rule


def equivalence_reason(mutant: Mutant, rule: list[Node]) -> str | None:
    """Return why a mutant has the findings of its rule in every plan, or None if no reason is known."""
    if mutant.kind == "before <-> after":
        operators = {str(node[0]) for _, node in _formula_lists(rule) if node and isinstance(node[0], str)}
        actions = _rule_actions(rule)
        operators = operators.union(*[_physics_operators().get(operator, set()) for operator in operators])
        affected = _affected_predicates(actions)
        if not operators & {"since", "once", "yesterday"} and not operators & affected:
            return "the step changes nothing that the condition reads"
        past_actions = {
            str(action[0])
            for _, node in _formula_lists(rule)
            if node[0] == "action"
            for action in node
            if isinstance(action, list)
        }
        if past_actions and "yesterday" not in operators and not past_actions & actions and not operators & affected:
            return "the condition on the past does not mention the step"
    return EQUIVALENT.get((mutant.rule, f"{mutant.kind} | {mutant.change}"))


def _formula_lists(rule: list[Node]) -> Iterator[tuple[str, list[Node]]]:
    """Yield all lists in the formulas of a rule, with the field that they are in."""
    for place in range(2, len(rule), 2):
        if rule[place] in FORMULAS:
            stack: list[Node] = [rule[place + 1]]
            while stack:
                node = stack.pop()
                if isinstance(node, list):
                    yield str(rule[place]), node
                    stack.extend(node)


def _rule_actions(rule: list[Node]) -> set[str]:
    """Return the names of the actions that trigger a rule."""
    trigger = rule[rule.index(":on") + 1]
    assert isinstance(trigger, list)
    actions = trigger[1:] if trigger[0] == "or" else [trigger]
    return {str(action[0]) for action in actions if isinstance(action, list)}


@cache
def _effects() -> dict[str, set[str]]:
    """Return the predicates in the effects of each action of the ontology's domain."""
    top = parse_nodes(home_cases.load(home_cases.HOME / "ontology.pddl"))
    assert top is not None
    effects: dict[str, set[str]] = {}
    for section in top[0]:
        if isinstance(section, list) and section[0] == ":action" and ":effect" in section:
            effects[str(section[1])] = set(_effect_predicates(section[section.index(":effect") + 1]))
    return effects


def _effect_predicates(effect: Node) -> Iterator[str]:
    """Yield the predicates that an effect makes true or false, but not the predicates of its conditions (`when`)."""
    assert isinstance(effect, list)
    if effect[0] in ("when", "forall"):
        yield from _effect_predicates(effect[2])
    elif effect[0] in ("and", "not"):
        for part in effect[1:]:
            yield from _effect_predicates(part)
    else:
        yield str(effect[0])


def _affected_predicates(actions: set[str]) -> set[str]:
    return set().union(*[_effects().get(action, set()) for action in actions])


def judge_mutant(mutant: Mutant) -> str:
    """Return ``caught``, ``missed``, or ``invalid`` if the mutant does not compile."""
    checkers: dict[str, Checker] = {}
    for case in _cases_by_rule()[mutant.rule]:
        problem = case.problem.text
        if problem not in checkers:
            checkers[problem] = home_cases.make_checker(case, [Source("mutant.safe", mutant.text)])
            if not checkers[problem].ok:
                return "invalid"
        report = checkers[problem].check(case.plan)
        if home_cases.findings_of_rule(report, mutant.rule) != case.finds:
            return "caught"
    return "missed"


def judge_definition(mutant: Mutant) -> str:
    """Return ``caught``, ``missed``, or ``invalid`` for a mutant of a definition of the physics."""
    physics = Source("home-physics.safe", mutant.text)
    for cells in physics_cases.cases_of_world("ontology"):
        try:
            report = physics_cases.check_case("ontology", cells, physics)
        except AssertionError:
            return "invalid"
        if physics_cases.final_facts(report) != physics_cases.expected_facts(cells):
            return "caught"
    return "missed"


class Result(NamedTuple):
    """The number of mutants by kind and verdict, and the missed mutants."""

    counts: Counter[tuple[str, str]]
    missed: list[Mutant]

    @property
    def score(self) -> float:
        """Return the share of caught mutants, without invalid and equivalent mutants."""
        caught = sum(n for (_, verdict), n in self.counts.items() if verdict == "caught")
        return caught / max(1, caught + len(self.missed))


def judge_mutants(names: set[str] | None = None, interval: int = 1) -> Result:
    """Judge every ``interval``-th mutant of the named rules, or of all rules."""
    counts: Counter[tuple[str, str]] = Counter()
    missed = []
    number = 0
    for node in expanded_rules(names).values():
        for mutant in mutants(node):
            number += 1
            if number % interval:
                continue
            outcome = "equivalent" if equivalence_reason(mutant, node) else judge_mutant(mutant)
            counts[mutant.kind, outcome] += 1
            if outcome == "missed":
                missed.append(mutant)
    for mutant in definition_mutants(names):
        number += 1
        if number % interval:
            continue
        is_equivalent = (mutant.rule, f"{mutant.kind} | {mutant.change}") in EQUIVALENT
        outcome = "equivalent" if is_equivalent else judge_definition(mutant)
        counts[mutant.kind, outcome] += 1
        if outcome == "missed":
            missed.append(mutant)
    return Result(counts, missed)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rule", nargs="+", help="mutate only these rules")
    parser.add_argument("--every", type=int, default=1, help="judge only every n-th mutant")
    parser.add_argument("--show", action="store_true", help="list the missed mutants")
    arguments = parser.parse_args()
    result = judge_mutants(set(arguments.rule) if arguments.rule else None, arguments.every)
    columns = ("caught", "missed", "equivalent", "invalid")
    print(f"{'':22}" + "".join(f"{column:>12}" for column in columns))
    for kind in sorted({kind for kind, _ in result.counts}):
        print(f"{kind:22}" + "".join(f"{result.counts[kind, column]:>12}" for column in columns))
    print(f"caught: {result.score:.1%}")
    for mutant in result.missed if arguments.show else ():
        print(f"missed  {mutant.rule}  |  {mutant.kind} | {mutant.change}")


if __name__ == "__main__":
    main()
