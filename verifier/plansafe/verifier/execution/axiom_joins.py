"""The axioms of one stratum as joins: find all heads, find the heads that changed facts derive, check a head.

The joins are generated functions. Their parameters are ``S`` (the facts of each predicate), ``F`` (the values of each
function), ``I`` (the :class:`JoinIndexes`), ``code`` or ``codes`` (facts of one predicate), and ``out`` (the facts that
are found).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.joins import Join, emit_argument_match
from plansafe.verifier.compile.normal_forms import Disjunct, FormulaLiteral, convert_to_dnf_or_literal
from plansafe.verifier.model.nodes import Atom, Axiom, Number
from plansafe.verifier.model.operations import find_signed_symbols

Facts = list[set[int]]
"""By predicate, the codes of its facts."""
Fluents = list[dict[int, Number]]
"""By function, its values by code."""
FactIndex = dict[int, list[int]]
"""The facts of a predicate by the code of some of their arguments."""
MAX_UNINDEXED_OBJECTS = 16
"""With so few objects, a loop over all of them is cheaper than an index."""
_FIND_PARAMETERS = "S, F, I, codes, out"
"""The parameters of :attr:`SeededJoin.find`."""


class JoinIndexes(dict[int, FactIndex]):
    """The indexes ``I`` of the facts, made when a join first uses them; valid while the facts do not change.

    The index of a set that ``shared_indexes`` also has is taken from there.
    """

    def __init__(self, emitter: Emitter, facts: Facts, shared_indexes: JoinIndexes | None = None) -> None:
        self.emitter = emitter
        self.facts = facts
        self.shared_indexes = shared_indexes

    def __missing__(self, number: int) -> FactIndex:
        emitter = self.emitter
        index_key = emitter.get_index_key(number)
        assert index_key is not None
        predicate, positions = index_key
        codes = self.facts[predicate]
        if self.shared_indexes is not None and self.shared_indexes.facts[predicate] is codes:
            self[number] = self.shared_indexes[number]
            return self[number]
        size, arity = emitter.object_count, len(emitter.task.predicates[predicate].types)
        powers = [size ** (arity - 1 - position) for position in positions]
        index = self[number] = {}
        for code in codes:
            key = 0
            for power in powers:
                key = key * size + code // power % size
            index.setdefault(key, []).append(code)
        return index


class SeededJoin(NamedTuple):
    """``find(S, F, I, codes, out)`` adds to ``out`` the facts of ``head`` that one of ``codes`` helps to derive."""

    head: int
    find: Callable[[Facts, Fluents, JoinIndexes, Iterable[int], set[int]], None]


JoinQueue = list[tuple[SeededJoin, set[int]]]
"""Joins to run, each with its ``codes``."""


class _AxiomDisjunct(NamedTuple):
    """A rule for derived facts: the literals of one ``disjunct`` of an axiom's body derive the axiom's head."""

    axiom: Axiom
    disjunct: Disjunct


class _SeededRule(NamedTuple):
    """A rule with the literal whose facts a join starts from; without a ``seed``, it starts from all facts."""

    rule: _AxiomDisjunct
    seed: FormulaLiteral | None


class StratumJoins:
    """The joins of one stratum; each is compiled at first use.

    A *rule* here is an axiom with one disjunct of its body. ``opaque`` are the predicates (and ``-1 - f`` for fluents)
    that are read inside a quantifier or a comparison: the effects of their changes are not followed fact by fact.
    Indexes are used only for predicates outside the stratum.
    """

    def __init__(self, emitter: Emitter, stratum: tuple[Axiom, ...]) -> None:
        self.emitter = emitter
        self.predicates = frozenset([axiom.predicate for axiom in stratum])
        self._rules: list[_AxiomDisjunct] = []
        for axiom in stratum:
            self._rules += [_AxiomDisjunct(axiom, disjunct) for disjunct in convert_to_dnf_or_literal(axiom.body)]
        opaque: set[int] = set()
        self.reads = frozenset(find_signed_symbols(*[axiom.body for axiom in stratum]))
        self.recursive = not self.reads.isdisjoint(self.predicates)
        self._seeded_rules: dict[tuple[int, bool], list[_SeededRule]] = {}
        """By predicate and sign of a literal, the rules with such a literal as the seed."""
        self._opaque_readers: dict[int, list[_AxiomDisjunct]] = {}
        """By predicate of the stratum, the rules that read it opaquely."""
        for rule in self._rules:
            for literal in rule.disjunct.literals:
                if isinstance(literal.formula, Atom):
                    key = literal.formula.predicate, literal.positive
                    self._seeded_rules.setdefault(key, []).append(_SeededRule(rule, literal))
                    continue
                for symbol in find_signed_symbols(literal.formula):
                    opaque.add(symbol)
                    if symbol in self.predicates:
                        self._opaque_readers.setdefault(symbol, []).append(rule)
        self.opaque = frozenset(opaque)
        self._initial_joins: JoinQueue | None = None
        self._seeded_joins: dict[tuple[int, bool], list[SeededJoin]] = {}
        self._joins_after_growth: dict[int, list[SeededJoin]] = {}
        self._checks: dict[int, list[Callable[[Facts, Fluents, JoinIndexes, int], bool]]] = {}

    @property
    def initial_joins(self) -> JoinQueue:
        """The joins of the rules that may derive a fact while the stratum is empty; they ignore ``codes``."""
        if self._initial_joins is None:
            rules = [rule for rule in self._rules if not self._reads_stratum(rule)]
            joins = self._compile_joins([_SeededRule(rule, None) for rule in rules])
            self._initial_joins = [(join, set()) for join in joins]
        return self._initial_joins

    def _reads_stratum(self, rule: _AxiomDisjunct) -> bool:
        """Whether a rule needs a fact of this stratum."""
        formulas = [literal.formula for literal in rule.disjunct.literals if literal.positive]
        return any([isinstance(formula, Atom) and formula.predicate in self.predicates for formula in formulas])

    def get_joins_from(self, predicate: int, positive: bool) -> list[SeededJoin]:
        """Return the joins from facts of a predicate that rules read as a literal (negated unless ``positive``)."""
        key = predicate, positive
        joins = self._seeded_joins.get(key)
        if joins is None:
            joins = self._seeded_joins[key] = self._compile_joins(self._seeded_rules.get(key, []))
        return joins

    def get_joins_after_growth(self, predicate: int) -> list[SeededJoin]:
        """Return the joins to run when a predicate of this stratum grew: from its new facts, and the opaque readers."""
        joins = self._joins_after_growth.get(predicate)
        if joins is None:
            opaque_readers = [_SeededRule(rule, None) for rule in self._opaque_readers.get(predicate, ())]
            joins = self.get_joins_from(predicate, True) + self._compile_joins(opaque_readers)
            self._joins_after_growth[predicate] = joins
        return joins

    def find_derivable(
        self, predicate: int, codes: set[int], facts: Facts, fluents: Fluents, indexes: JoinIndexes
    ) -> set[int]:
        """Return the facts among ``codes`` that some rule derives in the present state."""
        checks = self._checks.get(predicate)
        if checks is None:
            rules = [rule for rule in self._rules if rule.axiom.predicate == predicate]
            with self.emitter.use_private_indexes():
                names = [self._define_check(rule) for rule in rules]
            checks = self._checks[predicate] = [self.emitter.compile_function(name) for name in names]
        derivable: set[int] = set()
        for check in checks:
            derivable.update([c for c in codes if c not in derivable and check(facts, fluents, indexes, c)])
        return derivable

    def _compile_joins(self, rules: Iterable[_SeededRule]) -> list[SeededJoin]:
        """Compile the joins of rules."""
        with self.emitter.use_private_indexes():
            function_names = [(rule.axiom.predicate, self._define_join(rule, seed)) for rule, seed in rules]
        return [SeededJoin(head, self.emitter.compile_function(name)) for head, name in function_names]

    def _find_domains(self, rule: _AxiomDisjunct) -> dict[int, int]:
        """Return the domain of each variable of a rule, by slot."""
        return {v.slot: v.domain for v in (*rule.axiom.parameters, *rule.disjunct.variables)}

    def _emit_join(
        self,
        rule: _AxiomDisjunct,
        parameters: str,
        bound: frozenset[int],
        statement: str,
        seed: FormulaLiteral | None = None,
    ) -> list[str]:
        """Return the lines of a join over all literals except ``seed``, which is known to hold.

        The innermost line is ``statement``. The slots ``bound`` have values before the join.
        """
        is_indexed = len(self.emitter.task.objects) > MAX_UNINDEXED_OBJECTS
        join = Join(
            self.emitter,
            self._find_domains(rule),
            parameters,
            indexed=is_indexed,
            guarded=True,
            unindexed_predicates=self.predicates,
        )
        literals = [literal for literal in rule.disjunct.literals if literal is not seed]
        return join.emit(literals, bound, [v.slot for v in rule.axiom.parameters], [statement])

    def _define_join(self, rule: _AxiomDisjunct, seed: FormulaLiteral | None) -> str:
        """Define ``find`` (:class:`SeededJoin`) for a rule and a seed, and return the function's name."""
        emitter = self.emitter
        statement = f"out.add({emitter.format_fact_code([-1 - v.slot for v in rule.axiom.parameters])})"
        if seed is None:
            lines = self._emit_join(rule, _FIND_PARAMETERS, frozenset(), statement)
        else:
            assert isinstance(seed.formula, Atom)
            match, bound = emit_argument_match(
                emitter, seed.formula.predicate, seed.formula.arguments, self._find_domains(rule)
            )
            match = [line.replace("return", "continue") for line in match]
            lines = ["for code in codes:"]
            lines += [" " + line for line in match + self._emit_join(rule, _FIND_PARAMETERS, bound, statement, seed)]
        name = emitter.make_fresh_name()
        emitter.define(name, _FIND_PARAMETERS, lines)
        return name

    def _define_check(self, rule: _AxiomDisjunct) -> str:
        """Define ``f(S, F, I, code) -> bool``, whether a rule derives a fact, and return the function's name."""
        emitter = self.emitter
        head = tuple([-1 - v.slot for v in rule.axiom.parameters])
        lines, bound = emit_argument_match(emitter, rule.axiom.predicate, head, self._find_domains(rule))
        lines = [line.replace("return", "return False") for line in lines]
        lines += [*self._emit_join(rule, "S, F, I", bound, "return True"), "return False"]
        name = emitter.make_fresh_name()
        emitter.define(name, "S, F, I, code", lines)
        return name
