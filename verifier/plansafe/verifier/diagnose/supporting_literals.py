"""The literals that a condition's value rests on (docs/diagnose.md, "Causal links, open preconditions, threats").

Derived predicates are traced to basic facts: a true one through its earliest derivations, a false one through all
literals that prevent each derivation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.compiled_evaluator import CompiledEvaluator, CompiledQuantifier
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.evaluation import NO_LIMIT, Evaluator
from plansafe.verifier.model.footprints import StateVariable
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Axiom,
    Binding,
    Compare,
    Equal,
    Formula,
    Not,
    Number,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
    bind,
)
from plansafe.verifier.model.operations import expression_fluents, find_signed_subformulas
from plansafe.verifier.model.printing import format_formula

MAX_NEGATED_LITERALS = 100
"""Maximum number of literals that are negated; with more, the condition's shape alone decides which are needed."""


class SupportLiteral(NamedTuple):
    """A ground literal that holds: an atom or a comparison, or with ``value`` false its negation.

    ``variables`` are the facts or fluents that it reads. ``necessary``: by its shape, the condition has another value
    without this literal.
    """

    formula: Formula
    binding: Binding
    value: bool
    variables: tuple[StateVariable, ...]
    necessary: bool

    def text(self, task: Task) -> str:
        """Return the literal as PDDL."""
        if isinstance(self.formula, Atom):
            fact = task.fact_text(*self.variables[0])
            return fact if self.value else f"(not {fact})"
        return format_formula(task, self.formula if self.value else Not(self.formula), self.binding)


class _RequiredValue(NamedTuple):
    """A condition that must keep its value; ``necessary``: as in :class:`SupportLiteral`."""

    formula: Formula
    binding: Binding
    value: bool
    necessary: bool


class SupportFinder:
    """Finds supporting literals in one state. Call :meth:`forget_state` when the state has changed."""

    def __init__(self, engine: Engine, state: State, compiled: dict[int, CompiledQuantifier] | None = None) -> None:
        self.engine = engine
        self.task = engine.task
        self.state = state
        self._compiled: dict[int, CompiledQuantifier] = {} if compiled is None else compiled
        self.evaluator = CompiledEvaluator(engine, state, self._compiled)
        self._axioms: dict[int, list[Axiom]] = {}
        for stratum in engine.task.axioms:
            for axiom in stratum:
                self._axioms.setdefault(axiom.predicate, []).append(axiom)
        self._fact_stages: list[list[set[int]]] | None = None
        self._shape_cache: dict[int, tuple[Formula, bool]] = {}  # by identity; the formula is kept so that it stays

    def forget_state(self) -> None:
        """Forget everything computed from the state."""
        self._fact_stages = None

    def holds(self, formula: Formula, binding: Binding) -> bool | None:
        """Return the value of a condition."""
        return self.evaluator.holds(formula, binding)

    def is_derived(self, predicate: int) -> bool:
        """Whether a predicate is derived."""
        return predicate in self._axioms

    def ground_atom(self, atom: Atom, binding: Binding) -> StateVariable:
        """Return the fact of an atom."""
        return atom.predicate, self.task.code_of(atom.arguments, binding)

    def find_fluents(self, formula: Compare, binding: Binding) -> tuple[StateVariable, ...]:
        """Return the fluents that a comparison reads."""
        predicate_count = len(self.task.predicates)
        reads = [*expression_fluents(formula.left), *expression_fluents(formula.right)]
        return tuple(
            dict.fromkeys([(predicate_count + f.function, self.task.code_of(f.arguments, binding)) for f in reads])
        )

    # -- supporting literals ------------------------------------------------------------------------------------------

    def find_supporting_literals(
        self, formula: Formula, binding: Binding, value: bool, necessary: bool = True
    ) -> list[SupportLiteral]:
        """Return basic literals such that ``formula`` has ``value``, as it has now, as long as all of them hold.

        If several parts each suffice (a disjunction with two true parts), the literals of all of them are included.
        """
        basic: dict[tuple[object, ...], SupportLiteral] = {}
        traced_facts: set[tuple[int, int, bool]] = set()
        stack = [_RequiredValue(formula, binding, value, necessary)]
        while stack:
            for literal in self.find_direct_literals(*stack.pop()):
                fact = literal.variables[0] if isinstance(literal.formula, Atom) else None
                if fact is None or fact[0] not in self._axioms:
                    identity = (fact or id(literal.formula), *literal.variables, literal.value)
                    old = basic.get(identity)
                    if old is None or (literal.necessary and not old.necessary):
                        basic[identity] = literal if old is None else old._replace(necessary=True)
                elif (*fact, literal.value) not in traced_facts:
                    traced_facts.add((*fact, literal.value))
                    stack += self._iterate_derivation_conditions(fact, literal.value)
        return list(basic.values())

    def find_direct_literals(
        self, formula: Formula, binding: Binding, value: bool, necessary: bool
    ) -> list[SupportLiteral]:
        """Return the literals of the formula itself that its value rests on; derived predicates are not traced."""
        literals: list[SupportLiteral] = []
        self._collect_direct_literals(formula, binding, value, necessary, literals)
        return literals

    def _collect_direct_literals(
        self, formula: Formula, binding: Binding, value: bool, necessary: bool, literals: list[SupportLiteral]
    ) -> None:
        """Append the literals that a formula's value rests on to ``literals``."""
        match formula:
            case Atom():
                literals.append(
                    SupportLiteral(formula, binding, value, (self.ground_atom(formula, binding),), necessary)
                )
            case Compare():
                fluents = self.find_fluents(formula, binding)
                if fluents:
                    literals.append(SupportLiteral(formula, binding, value, fluents, necessary))
            case Not():
                self._collect_direct_literals(formula.body, binding, not value, necessary, literals)
            case And() | Or():
                parts = [(part, binding) for part in formula.parts]
                self._collect_literals_of_parts(parts, isinstance(formula, Or), value, necessary, literals)
            case Quantified():
                parts = [
                    (formula.body, full_binding) for full_binding in self.task.bindings(formula.variables, binding)
                ]
                self._collect_literals_of_parts(parts, not formula.universal, value, necessary, literals)
            case Truth() | Equal() | Temporal():
                pass  # no step can change these
            case _:
                assert_never(formula)

    def _collect_literals_of_parts(
        self,
        parts: list[tuple[Formula, Binding]],
        deciding: bool,
        value: bool,
        necessary: bool,
        literals: list[SupportLiteral],
    ) -> None:
        """Append the literals of the parts that give a conjunction or disjunction its value."""
        if value is deciding:  # each part with this value suffices
            parts = [(part, binding) for part, binding in parts if self.holds(part, binding) is value]
            necessary = necessary and len(parts) == 1
        for part, binding in parts:
            self._collect_direct_literals(part, binding, value, necessary, literals)

    # -- missing literals ---------------------------------------------------------------------------------------------

    def find_missing_literals(self, formula: Formula, binding: Binding) -> list[SupportLiteral]:
        """Return the literals that would have to hold for a condition to be true, and do not.

        ``necessary``: the condition cannot become true by the other literals alone. Derived predicates are not traced.
        """
        missing: dict[str, SupportLiteral] = {}
        for reason in self.evaluator.find_unmet_literals(formula, binding, True, NO_LIMIT):
            variables: tuple[StateVariable, ...] = ()
            if isinstance(reason.formula, Atom):
                variables = (self.ground_atom(reason.formula, reason.binding),)
            elif isinstance(reason.formula, Compare):
                variables = self.find_fluents(reason.formula, reason.binding)
            literal = SupportLiteral(reason.formula, reason.binding, reason.required_value, variables, True)
            missing.setdefault(format_formula(self.task, reason.formula, reason.binding), literal)
        if not 1 < len(missing) <= MAX_NEGATED_LITERALS:
            return [literal._replace(necessary=len(missing) == 1) for literal in missing.values()]
        literals = []
        for text, literal in missing.items():
            assumed = {key: rival.value for key, rival in missing.items() if key != text}
            evaluator = _HypotheticalEvaluator(self.task, self.state.facts, self.state.fluents, assumed)
            literals.append(literal._replace(necessary=evaluator.holds(formula, binding) is not True))
        return literals

    def find_opposing_literals(self, literal: SupportLiteral) -> list[SupportLiteral]:
        """Return the basic literals that prevent a literal from holding."""
        if isinstance(literal.formula, Atom) and self.is_derived(literal.formula.predicate):
            return self.find_supporting_literals(literal.formula, literal.binding, not literal.value)
        return [literal._replace(value=not literal.value)]

    # -- derived predicates -------------------------------------------------------------------------------------------

    def _iterate_axiom_instances(self, fact: StateVariable) -> Iterator[tuple[Axiom, Binding]]:
        """Yield the axioms that can derive a fact, with the bindings of their parameters."""
        predicate, code = fact
        for axiom in self._axioms[predicate]:
            objects = self.task.decode(code, len(axiom.parameters))
            domains = [self.task.domain_sets[v.domain] for v in axiom.parameters]
            if all([object_ in domain for object_, domain in zip(objects, domains, strict=True)]):
                yield axiom, bind(axiom.parameters, objects)

    def _iterate_derivation_conditions(self, fact: StateVariable, value: bool) -> Iterator[_RequiredValue]:
        """Yield the conditions that give a derived fact its value.

        They are the false bodies of all axioms of a false fact. For a true fact they are the literals of the bodies
        that hold by facts of earlier stages alone, so that no fact explains itself.
        """
        if not value:
            for axiom, binding in self._iterate_axiom_instances(fact):
                yield _RequiredValue(axiom.body, binding, False, False)
            return
        earlier_facts = self._find_facts_before(fact)
        finder = SupportFinder(self.engine, State(self.task, earlier_facts, self.state.fluents), self._compiled)
        for axiom, binding in self._iterate_axiom_instances(fact):
            if finder.evaluator.holds(axiom.body, binding) is True:
                for literal in finder.find_direct_literals(axiom.body, binding, True, False):
                    yield _RequiredValue(literal.formula, literal.binding, literal.value, False)

    def _find_facts_before(self, fact: StateVariable) -> list[set[int]]:
        """Return the facts of the last stage of the fixpoint that does not have a true derived fact."""
        if self._fact_stages is None:
            self._fact_stages = list(self._compute_stages())
        for before, after in zip(self._fact_stages, self._fact_stages[1:], strict=False):
            if fact[1] in after[fact[0]]:
                return before
        raise AssertionError("the fact is not true")

    def _compute_stages(self) -> Iterator[list[set[int]]]:
        """Yield the state without derived facts, and then repeatedly with all direct consequences, by stratum."""
        task, fluents = self.task, self.state.fluents
        facts = [set() if predicate in self._axioms else codes for predicate, codes in enumerate(self.state.facts)]
        yield facts
        for stratum in task.axioms:
            predicates = {axiom.predicate for axiom in stratum}
            while any([facts[predicate] != self.state.facts[predicate] for predicate in predicates]):
                evaluator = Evaluator(task, facts, fluents)
                extended_facts = list(facts)
                for predicate in predicates:
                    underived_codes = self.state.facts[predicate] - facts[predicate]
                    extended_facts[predicate] = facts[predicate] | {
                        code for code in underived_codes if self._is_derivable(evaluator, (predicate, code))
                    }
                facts = extended_facts
                yield facts

    def _is_derivable(self, evaluator: Evaluator, fact: StateVariable) -> bool:
        """Whether some axiom derives a fact in the evaluator's state."""
        return any(
            evaluator.holds(axiom.body, binding) is True for axiom, binding in self._iterate_axiom_instances(fact)
        )

    # -- needed literals ----------------------------------------------------------------------------------------------

    def decide_needed_literals(
        self,
        formula: Formula,
        binding: Binding,
        literals: list[SupportLiteral],
        find_producer: Callable[[StateVariable], int],
    ) -> list[bool]:
        """Return for each literal that a true condition rests on whether it is needed.

        A literal is needed if the condition becomes false when it is negated, alone or with all of these literals that
        have the same producer.
        """
        is_decided_by_shape = self._is_decided_by_shape(formula)
        groups: dict[int, list[SupportLiteral]] = {}
        for literal in literals:
            for step in {find_producer(variable) for variable in literal.variables}:
                groups.setdefault(step, []).append(literal)
        needed_by_step: dict[int, bool] = {}
        needed_flags = []
        for literal in literals:
            if (is_decided_by_shape and literal.necessary) or len(literals) > MAX_NEGATED_LITERALS:
                needed_flags.append(literal.necessary)
                continue
            needed = self._breaks_if_negated(formula, binding, [literal])
            for step in {find_producer(variable) for variable in literal.variables} - {0}:
                if not needed and len(groups[step]) > 1:
                    if step not in needed_by_step:
                        needed_by_step[step] = self._breaks_if_negated(formula, binding, groups[step])
                    needed = needed_by_step[step]
            needed_flags.append(needed)
        return needed_flags

    def _breaks_if_negated(self, formula: Formula, binding: Binding, literals: Iterable[SupportLiteral]) -> bool:
        """Whether the condition is not true when literals are negated."""
        facts = list(self.state.facts)
        assumed: dict[str, bool] = {}
        for literal in literals:
            if isinstance(literal.formula, Atom):
                predicate, code = literal.variables[0]
                facts[predicate] = facts[predicate] ^ {code}
            else:
                assumed[format_formula(self.task, literal.formula, literal.binding)] = not literal.value
        if self.engine.axioms is not None:
            self.engine.axioms.compute(facts, self.state.fluents)
        return _HypotheticalEvaluator(self.task, facts, self.state.fluents, assumed).holds(formula, binding) is not True

    def _is_decided_by_shape(self, formula: Formula) -> bool:
        """Whether the condition's shape decides which literals are needed.

        This is so without derived atoms, comparisons, and predicates in both polarities.
        """
        if id(formula) not in self._shape_cache:
            self._shape_cache[id(formula)] = formula, self._has_plain_shape(formula)
        _, is_plain = self._shape_cache[id(formula)]
        return is_plain

    def _has_plain_shape(self, formula: Formula) -> bool:
        """Whether a formula has no comparison, no derived atom, and each predicate in one polarity."""
        polarity: dict[int, bool] = {}
        for part, positive in find_signed_subformulas(formula):
            if isinstance(part, Compare):
                return False
            if isinstance(part, Atom) and (
                part.predicate in self._axioms or polarity.setdefault(part.predicate, positive) is not positive
            ):
                return False
        return True


class _HypotheticalEvaluator(Evaluator):
    """Evaluates as if some atoms and comparisons, identified by their text, had the assumed values."""

    def __init__(
        self, task: Task, facts: list[set[int]], fluents: list[dict[int, Number]], assumed: Mapping[str, bool]
    ) -> None:
        super().__init__(task, facts, fluents)
        self.assumed = assumed

    def holds(self, formula: Formula, binding: Binding) -> bool | None:
        if isinstance(formula, Atom | Compare):
            value = self.assumed.get(format_formula(self.task, formula, binding))
            if value is not None:
                return value
        return super().holds(formula, binding)
