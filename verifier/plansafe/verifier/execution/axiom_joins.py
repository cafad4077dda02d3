"""The axioms of one stratum as joins: all heads, those that given facts derive, and whether a head is derived."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.joins import Join
from plansafe.verifier.compile.normal_forms import Disjunct, FormulaLiteral, dnf
from plansafe.verifier.compile.triggers import emit_argument_match
from plansafe.verifier.model.nodes import Atom, Axiom, Number
from plansafe.verifier.model.operations import symbols_read

Facts = list[set[int]]
Fluents = list[dict[int, Number]]
Table = dict[int, list[int]]
MAX_UNINDEXED_OBJECTS = 16
"""With so few objects, looking at each of them is cheaper than an index."""
_BATCH = "S, F, I, codes, out"


class JoinIndexes(dict[int, Table]):
    """The indexes ``I`` of the facts as they are when a join first asks; to be used while these do not change.

    Those of sets that ``base`` indexes as well are taken from there.
    """

    def __init__(self, emitter: Emitter, facts: Facts, base: JoinIndexes | None = None) -> None:
        self.emitter = emitter
        self.facts = facts
        self.base = base

    def __missing__(self, number: int) -> Table:
        emitter = self.emitter
        predicate, positions = emitter.spec(number)
        known = self.facts[predicate]
        if self.base is not None and self.base.facts[predicate] is known:
            self[number] = self.base[number]
            return self[number]
        size, arity = emitter.size, len(emitter.task.predicates[predicate].types)
        powers = [size ** (arity - 1 - place) for place in positions]
        table = self[number] = {}
        for code in known:
            key = 0
            for power in powers:
                key = key * size + code // power % size
            table.setdefault(key, []).append(code)
        return table


class SeededJoin(NamedTuple):
    """``find(S, F, I, codes, out)`` adds to ``out`` the facts of ``head`` that one of ``codes`` helps to derive."""

    head: int
    find: Callable[[Facts, Fluents, JoinIndexes, Iterable[int], set[int]], None]


JoinQueue = list[tuple[SeededJoin, set[int]]]
"""Joins to run, each with its ``codes``."""


class _Rule(NamedTuple):
    axiom: Axiom
    disjunct: Disjunct


class StratumJoins:
    """The joins of one stratum; each is compiled when it is first asked for.

    ``opaque`` are the predicates, and ``-1 - f`` for fluents, that are read inside something quantified or compared:
    what a change of them changes is not followed fact by fact. Indexes are used for what does not grow with the
    stratum.
    """

    def __init__(self, emitter: Emitter, stratum: tuple[Axiom, ...]) -> None:
        self.emitter = emitter
        self.predicates = frozenset([axiom.predicate for axiom in stratum])
        self._rules: list[_Rule] = []
        for axiom in stratum:
            disjuncts = dnf(axiom.body)
            if disjuncts is None:
                disjuncts = [Disjunct((), (FormulaLiteral(True, axiom.body),))]
            self._rules += [_Rule(axiom, disjunct) for disjunct in disjuncts]
        opaque: set[int] = set()
        self.reads = frozenset(symbols_read(*[axiom.body for axiom in stratum]))
        self.recursive = not self.reads.isdisjoint(self.predicates)
        self._readers: dict[tuple[int, bool], list[tuple[_Rule, FormulaLiteral]]] = {}
        self._opaque_readers: dict[int, list[_Rule]] = {}
        for rule in self._rules:
            for literal in rule.disjunct.literals:
                if isinstance(literal.formula, Atom):
                    key = literal.formula.predicate, literal.positive
                    self._readers.setdefault(key, []).append((rule, literal))
                    continue
                for index in symbols_read(literal.formula):
                    opaque.add(index)
                    if index in self.predicates:
                        self._opaque_readers.setdefault(index, []).append(rule)
        self.opaque = frozenset(opaque)
        self._first: JoinQueue | None = None
        self._seeded: dict[tuple[int, bool], list[SeededJoin]] = {}
        self._grown: dict[int, list[SeededJoin]] = {}
        self._checks: dict[int, list[Callable[[Facts, Fluents, JoinIndexes, int], bool]]] = {}

    @property
    def first(self) -> JoinQueue:
        """The joins of the rules that may derive something while the stratum is empty, whatever the ``codes``."""
        if self._first is None:
            rules = [
                rule
                for rule in self._rules
                if not any(
                    [
                        literal.positive
                        and isinstance(literal.formula, Atom)
                        and literal.formula.predicate in self.predicates
                        for literal in rule.disjunct.literals
                    ]
                )
            ]
            self._first = [(seeded, set()) for seeded in self._linked([(rule, None) for rule in rules])]
        return self._first

    def seeded(self, predicate: int, positive: bool) -> list[SeededJoin]:
        """The joins from facts of a predicate that rules read as a literal, negated unless ``positive``."""
        key = predicate, positive
        found = self._seeded.get(key)
        if found is None:
            found = self._seeded[key] = self._linked(self._readers.get(key, []))
        return found

    def grown(self, predicate: int) -> list[SeededJoin]:
        """The joins to run after a predicate of this stratum grew: those from its facts, and in full what is opaque."""
        found = self._grown.get(predicate)
        if found is None:
            again = [(rule, None) for rule in self._opaque_readers.get(predicate, ())]
            found = self._grown[predicate] = self.seeded(predicate, True) + self._linked(again)
        return found

    def derivable(
        self, predicate: int, codes: set[int], facts: Facts, fluents: Fluents, tables: JoinIndexes
    ) -> set[int]:
        """Those of the facts that some rule derives from what holds now."""
        checks = self._checks.get(predicate)
        if checks is None:
            rules = [rule for rule in self._rules if rule.axiom.predicate == predicate]
            with self.emitter.asking():
                names = [self._check(rule) for rule in rules]
            checks = self._checks[predicate] = [self.emitter.link(name) for name in names]
        found: set[int] = set()
        for check in checks:
            found.update([code for code in codes if code not in found and check(facts, fluents, tables, code)])
        return found

    def _linked(self, wanted: Iterable[tuple[_Rule, FormulaLiteral | None]]) -> list[SeededJoin]:
        with self.emitter.asking():
            named = [(rule.axiom.predicate, self._join(rule, seed)) for rule, seed in wanted]
        return [SeededJoin(head, self.emitter.link(name)) for head, name in named]

    def _domains(self, rule: _Rule) -> dict[int, int]:
        return {v.slot: v.domain for v in (*rule.axiom.parameters, *rule.disjunct.variables)}

    def _emitted(
        self, rule: _Rule, context: str, bound: frozenset[int], inner: str, seed: FormulaLiteral | None = None
    ) -> list[str]:
        indexed = len(self.emitter.task.objects) > MAX_UNINDEXED_OBJECTS
        join = Join(
            self.emitter, self._domains(rule), context, indexed=indexed, guarded=True, unindexed=self.predicates
        )
        # Of the seed it is known that it holds.
        literals = [literal for literal in rule.disjunct.literals if literal is not seed]
        return join.emit(literals, bound, [v.slot for v in rule.axiom.parameters], [inner])

    def _join(self, rule: _Rule, seed: FormulaLiteral | None) -> str:
        """Queue the function that finds the heads of a rule: from the facts ``codes`` of ``seed``, if there is one."""
        emitter = self.emitter
        inner = f"out.add({emitter.code([-1 - v.slot for v in rule.axiom.parameters])})"
        if seed is None:
            lines = self._emitted(rule, _BATCH, frozenset(), inner)
        else:
            assert isinstance(seed.formula, Atom)
            match, bound = emit_argument_match(
                emitter, seed.formula.predicate, seed.formula.arguments, self._domains(rule)
            )
            match = [line.replace("return", "continue") for line in match]
            lines = ["for code in codes:"]
            lines += [" " + line for line in match + self._emitted(rule, _BATCH, bound, inner, seed)]
        name = emitter.fresh()
        emitter.define(name, _BATCH, lines)
        return name

    def _check(self, rule: _Rule) -> str:
        """Queue ``f(S, F, I, code) -> bool``: whether a rule derives a fact."""
        emitter = self.emitter
        head = tuple([-1 - v.slot for v in rule.axiom.parameters])
        lines, bound = emit_argument_match(emitter, rule.axiom.predicate, head, self._domains(rule))
        lines = [line.replace("return", "return False") for line in lines]
        lines += [*self._emitted(rule, "S, F, I", bound, "return True"), "return False"]
        name = emitter.fresh()
        emitter.define(name, "S, F, I, code", lines)
        return name
