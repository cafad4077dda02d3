"""The task: a domain with a problem, names and types checked (docs/language.md, section 2)."""

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from .derived import Axiom, Axioms
from .dialects import Expressions, to_plain_pddl
from .factored import is_factored, merge_parts
from .formula_reader import DURATION, FormulaReader
from .formulas import (
    EMPTY_AND,
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
    collect_operators,
    find_supports,
    ground,
    iterate_bindings,
    iterate_ground_reads,
    negate,
    select_phase,
)
from .reader import (
    NAME,
    VARIABLE,
    Sections,
    Sexp,
    parse_number,
    read_definition,
    read_keywords,
    read_typed_list,
    require,
)
from .vocabulary import RESERVED, Params, Vocabulary

DOMAIN_SECTIONS = ":requirements :types :constants :predicates :functions :constraints"
REPEATED_DOMAIN_SECTIONS = ":action :durative-action :derived :process :event"
PROBLEM_SECTIONS = ":domain :requirements :objects :init :goal :constraints :metric :length"
MIRRORED_COMPARISONS = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Phase(NamedTuple):
    """A condition and effect at one time: of an instantaneous action, or of one end of a durative action."""

    condition: Node
    effect: Node


class Action(NamedTuple):
    """An action.

    ``end`` is ``None`` for an instantaneous action. ``over_all`` is ``None`` without a condition over all. ``chooses``:
    the effects have nondeterministic outcomes, which the world must choose. ``flow`` has the continuous effects.
    """

    name: str
    params: Params
    start: Phase
    end: Phase | None = None
    over_all: Node | None = None
    chooses: bool = False
    flow: Node = EMPTY_AND


class Process(NamedTuple):
    """A process, whose effect is continuous; or an event, whose effect happens at once."""

    name: str
    domains: Domains
    condition: Node
    effect: Node


class InitialEffect(NamedTuple):
    """A fact or value of ``:init`` as an effect; ``time`` is ``None`` if it is not a timed literal."""

    time: Fraction | None
    effect: Add | Delete | Assign


class Task:
    """A domain with a problem. Nothing changes after the constructor.

    ``lenient``: undeclared types are allowed. ``tolerance``: of times and durations. ``kinds``: additional types, each
    with the objects that also have it.
    """

    def __init__(
        self,
        domain: Expressions,
        problem: Expressions,
        lenient: bool,
        tolerance: Fraction,
        kinds: Mapping[str, Collection[str]],
    ) -> None:
        if is_factored(domain):
            domain, problem = merge_parts(domain, problem, lambda d, p: Task(d, p, lenient, tolerance, {}).vocabulary)
        plain_domain, plain_problem = to_plain_pddl(domain, problem)
        domain_sections = read_definition(plain_domain, "domain", DOMAIN_SECTIONS, REPEATED_DOMAIN_SECTIONS)
        problem_sections = read_definition(plain_problem, "problem", PROBLEM_SECTIONS, "")
        self.tolerance = tolerance
        types, constants = _get_first_body(domain_sections, ":types"), _get_first_body(domain_sections, ":constants")
        self.vocabulary = vocabulary = Vocabulary(
            types, constants, _get_first_body(problem_sections, ":objects"), lenient
        )
        vocabulary.add_kinds(kinds)
        vocabulary.predicates = vocabulary.read_signatures(_get_first_body(domain_sections, ":predicates"), RESERVED)
        functions = _remove_number_types(_get_first_body(domain_sections, ":functions"))
        vocabulary.functions = vocabulary.read_signatures(functions, set())
        self.formulas = FormulaReader(vocabulary, set())
        self.axioms = Axioms([self._read_axiom(body) for body in domain_sections.get(":derived", [])])
        self.formulas.derived |= self.axioms.derived
        self.actions = dict[str, Action]()
        for key in (":action", ":durative-action"):
            for body in domain_sections.get(key, []):
                self._read_action(body, is_durative=key == ":durative-action")
        self.processes = [self._read_process(body, True) for body in domain_sections.get(":process", [])]
        self.events = [self._read_process(body, False) for body in domain_sections.get(":event", [])]
        flows = [action.flow for action in self.actions.values()]
        self.is_continuous = bool(self.processes or self.events or any("flow" in collect_operators(f) for f in flows))
        self.formulas.is_continuous = self.is_continuous
        self.formulas.actions = {name: action.params for name, action in self.actions.items()}
        self.constraints = self._read_constraints(domain_sections)
        self.constraints += self._read_constraints(problem_sections)
        goals = _get_first_body(problem_sections, ":goal")
        require(len(goals) == 1, "expected one goal")
        self.goal = self.formulas.read_formula(goals[0], {}, "goal")
        self.open_statements = list[Node]()
        """The statements of ``:init`` about open facts and fluents."""
        self.initial = self._read_init(_get_first_body(problem_sections, ":init"))

    def _read_constraints(self, sections: Sections) -> list[Node]:
        bodies = sections.get(":constraints", [])
        require(all(len(body) == 1 for body in bodies), "expected one formula in :constraints")
        return [self.formulas.read_formula(expr, {}, "constraint") for body in bodies for expr in body]

    # Actions and derived predicates

    def _read_action(self, body: tuple[Sexp, ...], *, is_durative: bool) -> None:
        require(body and isinstance(body[0], str) and NAME.fullmatch(body[0]), "an action without name")
        require(body[0] not in self.actions, "an action declared twice")
        read_action = self._read_durative if is_durative else self._read_instantaneous
        self.actions[body[0]] = read_action(body[0], body[1:])

    def _read_instantaneous(self, name: str, body: tuple[Sexp, ...]) -> Action:
        keys = read_keywords(body, ":parameters :precondition :effect")
        params = self.vocabulary.read_parameters(keys.get(":parameters", ()))
        condition = self.formulas.read_formula(keys.get(":precondition", ()), params, "goal")
        effect = self.formulas.read_action_effect(keys.get(":effect", ()), params, durative=False)
        return Action(name, params, Phase(condition, effect), chooses="oneof" in collect_operators(effect))

    def _read_durative(self, name: str, body: tuple[Sexp, ...]) -> Action:
        """Read a durative action, and split its condition and effect by phases."""
        keys = read_keywords(body, ":parameters :condition :effect :duration")
        params = self.vocabulary.read_parameters(keys.get(":parameters", ()))
        scope = params | DURATION
        parts = [self.formulas.read_formula(keys.get(key, ()), scope, "timed") for key in (":condition", ":duration")]
        condition = Connective("and", tuple(parts))
        effect = self.formulas.read_action_effect(keys.get(":effect", ()), scope, durative=True)
        start, end = (Phase(select_phase(condition, phase), select_phase(effect, phase)) for phase in (START, END))
        return Action(
            name,
            params,
            start,
            end,
            over_all=select_phase(condition, OVER_ALL) if OVER_ALL in collect_operators(condition) else None,
            chooses="oneof" in collect_operators(effect),
            flow=select_phase(effect, OVER_ALL),
        )

    def _read_process(self, body: tuple[Sexp, ...], is_process: bool) -> Process:
        """Read a process or an event."""
        require(body and isinstance(body[0], str) and NAME.fullmatch(body[0]), "a process or event without name")
        keys = read_keywords(body[1:], ":parameters :precondition :effect")
        params = self.vocabulary.read_parameters(keys.get(":parameters", ()))
        condition = self.formulas.read_formula(keys.get(":precondition", ()), params)
        expr = keys.get(":effect", ())
        if is_process:
            effect = self.formulas.read_continuous_effect(expr, params)
        else:
            effect = self.formulas.read_effect(expr, params)
        return Process(body[0], self.vocabulary.find_domains(params), condition, effect)

    def _read_axiom(self, body: tuple[Sexp, ...]) -> Axiom:
        """Read the definition of a derived predicate."""
        require(len(body) == 2 and isinstance(body[0], tuple) and body[0], "not a derived predicate")
        (name, *typed), condition = body
        params = self.vocabulary.read_parameters(tuple(typed))
        head = self.vocabulary.read_atom((name, *params), self.vocabulary.predicates, params)
        formula = self.formulas.read_formula(condition, params)
        return Axiom(head, self.vocabulary.find_domains(params), formula, find_supports(formula, True))

    # Init

    def _read_init(self, expressions: Sexp) -> list[InitialEffect]:
        """Read ``:init``; statements about open facts and fluents become ``open_statements``."""
        parts = list[InitialEffect]()
        for expr in expressions:
            statement = self._read_open_statement(expr)
            if statement is not None:
                self.open_statements.append(statement)
                continue
            timed = isinstance(expr, tuple) and len(expr) == 3 and expr[0] == "at" and isinstance(expr[2], tuple)
            time = parse_number(expr[1]) if timed else None
            part = InitialEffect(time, self._read_literal(expr[2] if timed else expr))
            require(time is None or time >= 0, "a negative time")
            parts.append(part)
        return _remove_duplicates(parts)

    def _read_literal(self, expr: Sexp) -> Add | Delete | Assign:
        """Read a fact, its negation, or the value of a fluent."""
        if isinstance(expr, tuple) and len(expr) == 3 and expr[0] == "=":
            value = self.formulas.read_expression(expr[2], {})
            require(isinstance(value, Number), "not a number")
            return Assign("assign", self.formulas.read_fluent(expr[1], {}), value)
        return self.formulas.read_literal(expr, {})

    # Open facts and fluents in :init (docs/worlds.md, section 1)

    def _read_open_statement(self, expr: Sexp) -> Node | None:
        """Read a statement about open facts or fluents; ``None`` if the expression gives a fact or a value."""
        match expr:
            case ("unknown", (str(name), *_) as fact) if name in self.vocabulary.predicates:
                return Unary("unknown", self._read_literal_condition(fact))
            case ("unknown", tuple(fluent)):
                return Unary("unknown", self.formulas.read_fluent(fluent, {}))
            case (("or" | "oneof") as op, *parts) if parts and all(isinstance(part, tuple) for part in parts):
                return self._read_alternatives(op, parts)
            case (("<" | "<=" | ">" | ">=") as op, _, _, *more) if len(more) < 2:
                return self._read_interval(op, expr[1:])
        return None

    def _read_literal_condition(self, expr: Sexp) -> Node:
        """Read a literal as a condition."""
        match self._read_literal(expr):
            case Assign(_, fluent, value):
                return Compare("=", fluent, value)
            case Add(terms):
                return Atom(terms)
            case Delete(terms):
                return negate(Atom(terms))

    def _read_alternatives(self, op: str, expressions: list[Sexp]) -> Node:
        """Read ``(or ..)`` or ``(oneof ..)``.

        All alternatives of ``oneof`` must assign the same fluents; those of ``or`` must assign none.
        """
        alternatives = list[Node]()
        for expr in expressions:
            literals = expr[1:] if expr[:1] == ("and",) else (expr,)
            alternatives.append(
                Connective("and", tuple([self._read_literal_condition(literal) for literal in literals]))
            )
        assigned = [{fact for fact, _ in iterate_ground_reads(part, {}) if fact[0] == "#"} for part in alternatives]
        is_uniform = all(fluents == assigned[0] for fluents in assigned)
        require(is_uniform and (op == "oneof" or not assigned[0]), "alternatives with values of different fluents")
        return Connective(op, tuple(alternatives))

    def _read_interval(self, op: str, operands: tuple[Sexp, ...]) -> Node:
        """Read bounds of an open fluent, each as a comparison with the fluent on the left."""
        terms = [self.formulas.read_expression(operand, {}) for operand in operands]
        fluents = [term for term in terms if isinstance(term, Fluent)]
        number_count = sum(isinstance(term, Number) for term in terms)
        require(len(fluents) == 1 and number_count == len(terms) - 1, "not an interval of a fluent")
        sides = [
            Compare(op, left, right) if left is fluents[0] else Compare(MIRRORED_COMPARISONS[op], right, left)
            for left, right in pairwise(terms)
        ]
        return Connective("and", tuple(sides))

    def read_open_facts(self, expr: Sexp) -> Iterator[Fact]:
        """Read an open predicate ``(predicate ?x - type ..)`` of a specification; yield its ground facts."""
        require(isinstance(expr, tuple) and expr, "expected an open predicate")
        require(expr[0] not in self.axioms.derived, "a derived predicate cannot be open")
        typed = read_typed_list(expr[1:], VARIABLE)
        for v, types in typed:
            self.vocabulary.read_parameters((v, "-", ("either", *types)))
        domains, atom = self.vocabulary.read_open_atom((expr[0], *(v for v, _ in typed)), {}, typed)
        return (ground(atom, binding) for binding in iterate_bindings(domains, {}))


def _get_first_body(sections: Sections, key: str) -> tuple[Sexp, ...]:
    """Return the contents of a section that occurs at most once; empty if it is missing."""
    return sections.get(key, [()])[0]


def _remove_number_types(functions: tuple[Sexp, ...]) -> Iterator[Sexp]:
    """Yield the declarations of functions without ``- number``."""
    tokens = iter(functions)
    for head in tokens:
        if head != "-" or next(tokens, "") != "number":
            yield head


def _remove_duplicates(parts: list[InitialEffect]) -> list[InitialEffect]:
    """Remove repeated parts of ``:init``. Raises ``KernelRejects`` for contradictory parts at one time."""
    unique = dict[tuple[Fraction | None, Fact], tuple[Any, InitialEffect]]()
    for part in parts:
        match part.effect:
            case Assign(_, fluent, Number(number)):
                fact: Fact = fluent.terms
                value: Any = number
            case Add(terms) | Delete(terms):
                fact, value = terms, part.effect.operator
        before, _ = unique.setdefault((part.time, fact), (value, part))
        require(before == value, "a fact and its negation, or two values, at one time")
    return [part for _, part in unique.values()]
