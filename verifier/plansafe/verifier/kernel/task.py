"""The task: a domain with a problem, names and types checked (docs/language.md, section 2)."""

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from .conditions import DURATION, Conditions
from .derived import Axiom, Axioms
from .dialects import plain
from .formulas import (
    END,
    OVER_ALL,
    START,
    Add,
    Assign,
    Atom,
    Compare,
    Connective,
    Delete,
    Domains,
    Fact,
    Fluent,
    Node,
    Number,
    Unary,
    bindings,
    during,
    ground,
    negated,
    operators,
    reads,
)
from .reader import NAME, VARIABLE, Sexp, definition, keywords, need, number, read_expressions, typed_list
from .vocabulary import RESERVED, Params, Vocabulary

DOMAIN = ":requirements :types :constants :predicates :functions :constraints"
DOMAIN_MANY = ":action :durative-action :derived"
PROBLEM = ":domain :requirements :objects :init :goal :constraints :metric :length"
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Phase(NamedTuple):
    """What an action asks and does at one time: an instantaneous one when it is taken, a durative one at either end."""

    condition: Node
    effect: Node


class Action(NamedTuple):
    """An action; a durative one has an end, and what is to hold over all."""

    name: str
    params: Params
    start: Phase
    end: Phase | None = None
    over_all: Node | None = None
    chooses: bool = False  # whether the world has to choose outcomes


class Initial(NamedTuple):
    """A part of ``:init`` as an effect; ``time`` is ``None`` if it is not timed."""

    time: Fraction | None
    effect: Add | Delete | Assign


class Task:
    """A domain with a problem. Nothing changes after the constructor."""

    def __init__(
        self, domain: str, problem: str, lenient: bool, tolerance: Fraction, kinds: Mapping[str, Collection[str]]
    ) -> None:
        texts = plain(read_expressions(domain), read_expressions(problem))
        d = definition(texts[0], "domain", DOMAIN, DOMAIN_MANY)
        p = definition(texts[1], "problem", PROBLEM, "")
        self.tolerance = tolerance
        self.vocabulary = v = Vocabulary(_body(d, ":types"), _body(d, ":constants"), _body(p, ":objects"), lenient)
        v.give(kinds)
        v.predicates = v.signatures(_body(d, ":predicates"), RESERVED)
        v.functions = v.signatures(_without_types(_body(d, ":functions")), set())
        self.conditions = Conditions(v, set())
        self.axioms = Axioms([self._axiom(body) for body in d.get(":derived", [])])
        self.conditions.derived |= self.axioms.derived
        self.actions = dict[str, Action]()
        for key in (":action", ":durative-action"):
            for body in d.get(key, []):
                self._declare(body, key == ":durative-action")
        self.conditions.actions = {name: action.params for name, action in self.actions.items()}
        self.constraints = self._constraints(d)
        self.constraints += self._constraints(p)
        need(len(p.get(":goal", [()])[0]) == 1, "not one goal")
        self.goal = self.conditions.formula(p[":goal"][0][0], {}, "goal")
        self.statements = list[Node]()
        self.initial = self._initial(_body(p, ":init"))

    def _constraints(self, sections: dict[str, list[tuple[Sexp, ...]]]) -> list[Node]:
        bodies = sections.get(":constraints", [])
        need(all(len(body) == 1 for body in bodies), "not one formula in :constraints")
        return [self.conditions.formula(e, {}, "constraint") for body in bodies for e in body]

    # Actions and derived predicates

    def _declare(self, body: tuple[Sexp, ...], durative: bool) -> None:
        need(body and isinstance(body[0], str) and NAME.fullmatch(body[0]), "an action without name")
        need(body[0] not in self.actions, "an action declared twice")
        read_action = self._durative if durative else self._instantaneous
        self.actions[body[0]] = read_action(body[0], body[1:])

    def _instantaneous(self, name: str, body: tuple[Sexp, ...]) -> Action:
        keys = keywords(body, ":parameters :precondition :effect")
        params = self.vocabulary.declared(keys.get(":parameters", ()))
        condition = self.conditions.formula(keys.get(":precondition", ()), params, "goal")
        effect = self.conditions.action_effect(keys.get(":effect", ()), params, False)
        return Action(name, params, Phase(condition, effect), chooses="oneof" in operators(effect))

    def _durative(self, name: str, body: tuple[Sexp, ...]) -> Action:
        keys = keywords(body, ":parameters :condition :effect :duration")
        params = self.vocabulary.declared(keys.get(":parameters", ()))
        env = params | DURATION
        asked = [self.conditions.formula(keys.get(k, ()), env, "timed") for k in (":condition", ":duration")]
        condition = Connective("and", tuple(asked))
        effect = self.conditions.action_effect(keys.get(":effect", ()), env, True)
        start, end = (Phase(during(condition, phase), during(effect, phase)) for phase in (START, END))
        over_all = during(condition, OVER_ALL) if OVER_ALL in operators(condition) else None
        return Action(name, params, start, end, over_all, "oneof" in operators(effect))

    def _axiom(self, body: tuple[Sexp, ...]) -> Axiom:
        need(len(body) == 2 and isinstance(body[0], tuple) and body[0], "not a derived predicate")
        (name, *typed), f = body
        params = self.vocabulary.declared(tuple(typed))
        head = self.vocabulary.terms((name, *params), self.vocabulary.predicates, params)
        return Axiom(head, self.vocabulary.domains(params), self.conditions.formula(f, params))

    # Init

    def _initial(self, items: Sexp) -> list[Initial]:
        result = list[Initial]()
        for e in items:
            said = self._statement(e)
            if said is not None:
                self.statements.append(said)
                continue
            timed = isinstance(e, tuple) and len(e) == 3 and e[0] == "at" and isinstance(e[2], tuple)
            one = Initial(number(e[1]), self._literal(e[2])) if timed else Initial(None, self._literal(e))
            need(one.time is None or one.time >= 0, "a negative time")
            result.append(one)
        return _united(result)

    def _literal(self, e: Sexp) -> Add | Delete | Assign:
        """A fact, its negation, or the value of a fluent."""
        if isinstance(e, tuple) and len(e) == 3 and e[0] == "=":
            value = self.conditions.expression(e[2], {})
            need(isinstance(value, Number), "not a number")
            return Assign("assign", self.conditions.fluent(e[1], {}), value)
        return self.conditions.literal(e, {})

    # What :init leaves open (docs/worlds.md, section 1)

    def _statement(self, e: Sexp) -> Node | None:
        """What ``:init`` leaves open; ``None`` if it gives a fact or a value."""
        match e:
            case ("unknown", (str(name), *_) as x) if name in self.vocabulary.predicates:
                return Unary("unknown", self._said(x))
            case ("unknown", tuple(x)):
                return Unary("unknown", self.conditions.fluent(x, {}))
            case (("or" | "oneof") as op, *xs) if xs and all(isinstance(x, tuple) for x in xs):
                return self._alternatives(op, xs)
            case (("<" | "<=" | ">" | ">=") as op, _, _, *more) if len(more) < 2:
                return self._interval(op, e[1:])
        return None

    def _said(self, e: Sexp) -> Node:
        match self._literal(e):
            case Assign(_, fluent, value):
                return Compare("=", fluent, value)
            case Add(terms):
                return Atom(terms)
            case Delete(terms):
                return negated(Atom(terms))

    def _alternatives(self, op: str, xs: list[Sexp]) -> Node:
        """``(or ..)`` and ``(oneof ..)``; each alternative gives values to the same fluents, and of ``or`` to none."""
        parts = list[Node]()
        for x in xs:
            literals = x[1:] if x[:1] == ("and",) else (x,)
            parts.append(Connective("and", tuple([self._said(literal) for literal in literals])))
        fluents = [{f for f, _ in reads(part, {}) if f[0] == "#"} for part in parts]
        need(all(found == fluents[0] for found in fluents) and (op == "oneof" or not fluents[0]), "values of others")
        return Connective(op, tuple(parts))

    def _interval(self, op: str, operands: tuple[Sexp, ...]) -> Node:
        terms = [self.conditions.expression(x, {}) for x in operands]
        fluents = [x for x in terms if isinstance(x, Fluent)]
        numbers = [x for x in terms if isinstance(x, Number)]
        need(len(fluents) == 1 and len(numbers) == len(terms) - 1, "not an interval of a fluent")
        sides = [Compare(op, x, y) if x is fluents[0] else Compare(TURNED[op], y, x) for x, y in pairwise(terms)]
        return Connective("and", tuple(sides))

    def opened(self, e: Sexp) -> Iterator[Fact]:
        """The facts of an open predicate ``(predicate ?x - type ..)`` of a specification."""
        need(isinstance(e, tuple) and e and e[0] not in self.axioms.derived, "not open")
        pairs = typed_list(e[1:], VARIABLE)
        for v, types in pairs:
            self.vocabulary.declared((v, "-", ("either", *types)))
        domains, atom = self.vocabulary.instances((e[0], *(v for v, _ in pairs)), {}, pairs)
        return (ground(atom, b) for b in bindings(domains, {}))

    def domains(self, params: Params) -> Domains:
        """Variables with the objects of their types."""
        return self.vocabulary.domains(params)


def _body(sections: dict[str, list[tuple[Sexp, ...]]], key: str) -> tuple[Sexp, ...]:
    return sections.get(key, [()])[0]


def _without_types(functions: tuple[Sexp, ...]) -> Iterator[Sexp]:
    """Declarations of functions without ``- number``."""
    rest = iter(functions)
    for head in rest:
        if head != "-" or next(rest, "") != "number":
            yield head


def _united(initial: list[Initial]) -> list[Initial]:
    """What is said twice counts once. A fact is not both given and denied at one time, and a fluent has one value."""
    said = dict[tuple[Fraction | None, Fact], tuple[Any, Initial]]()
    for one in initial:
        match one.effect:
            case Assign(_, fluent, Number(value)):
                fact: Fact = fluent.terms
                result: Any = value
            case Add(terms) | Delete(terms):
                fact, result = terms, one.effect.operator
        before, _ = said.setdefault((one.time, fact), (result, one))
        need(before == result, "a fact and its negation, or two values, at one time")
    return [one for _, one in said.values()]
