"""Whether literals are too many to be true together, by counting: where each of n + 1 things has one of n places.

Resolution needs exponentially many steps for that (Haken, "The intractability of resolution", 1985), simplex a few. It
gets the clauses that the literals come down to, groups of literals of which at most one is true, and linear
comparisons, over numbers between 0 and 1 instead of truth values. If even these do not exist, the literals cannot be
true together. Where they exist, nothing is said.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.cnf import to_pseudo_boolean
from plansafe.verifier.symbolic.circuits.terms import Atom, Comparison

MAX_SIZE = 4_000_000
"""Literals of clauses that are looked at, each clause counted as eight more; one gate may take a tenth. Then gates
are literals like others, and clauses are left out."""
MAX_PRODUCT = 10_000
"""Clauses that one disjunction of conjunctions may become; a larger one stays as it is."""
MAX_ROWS = 20_000
RESOURCES = 100_000_000
"""The limit of Z3's work (``rlimit``): about 10 s."""
_FEW = 3

Clause = tuple[Literal, ...]
Origins = frozenset[Literal]


def find_infeasible_core(
    circuit: Circuit, literals: Sequence[Literal], deadline: float | None = None
) -> set[Literal] | None:
    """Some of the literals that cannot be true together, if counting shows it; else ``None``.

    Soon ``None`` where there is little to count. Needs Z3; ``None`` without it.
    """
    facts = _Facts(circuit)
    facts.add(literals)
    if facts.contradiction is not None:
        return set(facts.contradiction)
    conflicts = sum([len(clause) == 2 for clause in facts.clauses])
    groups = len(facts.clauses) - conflicts
    if conflicts + groups + len(facts.comparisons) < _FEW or not (conflicts or facts.comparisons):
        return None
    rows = _Rows(facts)
    return rows.infeasible(deadline) if len(rows.rows) <= MAX_ROWS else None


class _Facts:
    """What literals come down to: units, clauses and comparisons, each with the literals that it follows from."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.units: dict[Literal, Origins] = {}
        self.clauses: dict[Clause, Origins] = {}
        self.comparisons: list[tuple[Literal, Origins]] = []
        self.contradiction: Origins | None = None
        self._forms: dict[Literal, list[Clause]] = {}
        self._size = 0

    def add(self, literals: Iterable[Literal]) -> None:
        """Take literals apart as far as conjunctions and known values go."""
        self._true([(literal, frozenset([literal])) for literal in literals])
        while self.contradiction is None:
            fresh = []
            known = {value for unit in self.units for value in (unit, unit ^ 1)}
            for clause, origins in [item for item in self.clauses.items() if not known.isdisjoint(item[0])]:
                left = tuple([literal for literal in clause if literal ^ 1 not in self.units])
                if any([literal in self.units for literal in left]):
                    del self.clauses[clause]
                elif len(left) < len(clause):
                    del self.clauses[clause]
                    why = origins.union(*[self.units[literal ^ 1] for literal in clause if literal ^ 1 in self.units])
                    if len(left) > 1:
                        self.clauses.setdefault(left, why)
                    else:
                        fresh.append((left[0] if left else FALSE, why))
            if not fresh:
                return
            self._true(fresh)

    def _true(self, found: list[tuple[Literal, Origins]]) -> None:
        gates, keys = self.circuit.gates, self.circuit.keys
        stack = found[::-1]
        while stack:
            literal, origins = stack.pop()
            if literal in self.units:
                continue
            if literal == FALSE or literal ^ 1 in self.units:
                self.contradiction = origins | self.units.get(literal ^ 1, frozenset())
                return
            self.units[literal] = origins
            children = gates[literal >> 1]
            if children is None:
                if isinstance(keys.get(literal >> 1), Comparison):
                    self.comparisons.append((literal, origins))
            elif literal & 1:
                for clause in self._normal(literal):
                    self.clauses.setdefault(clause, origins)
            else:
                stack.extend([(child, origins) for child in children])

    def _normal(self, literal: Literal) -> list[Clause]:
        """A literal as clauses: at most two conjunctions below a disjunction are multiplied out, as long as it pays."""
        gates, forms = self.circuit.gates, self._forms
        parts = gates[literal >> 1] or ()
        self._size += len(parts) + 8
        if self._size > MAX_SIZE:
            return []
        if all([gates[part >> 1] is None for part in parts]):
            return [tuple([part ^ 1 for part in parts])]
        end = min(self._size + MAX_SIZE // 10, MAX_SIZE)
        stack = [literal]
        while stack:
            top = stack.pop()
            if top in forms:
                continue
            below = [child ^ (top & 1) for child in gates[top >> 1] or ()]
            waiting = [child for child in below if child not in forms]
            self._size += 8 + len(below)
            if self._size > end:  # from here on gates are literals like others
                forms.update([(child, [(child,)]) for child in waiting])
                waiting = []
            if waiting:
                stack += (top, *waiting)
            else:
                forms[top] = self._combined(top, below)
        return forms[literal]

    def _combined(self, literal: Literal, below: list[Literal]) -> list[Clause]:
        forms = self._forms
        if not below:
            return [(literal,)]
        if not literal & 1:
            return self._bounded(literal, [clause for child in below for clause in forms[child]])
        if not all([forms[child] for child in below]):
            return []  # one of them is always true
        several = [forms[child] for child in below if len(forms[child]) > 1]
        if len(several) > 2 or prod([len(form) for form in several]) > MAX_PRODUCT:
            several = [[(child,)] for child in below if len(forms[child]) > 1]
        alone = {part for child in below if len(form := forms[child]) == 1 for part in form[0]}
        found = [alone.union(*choice) for choice in product(*several)]
        clauses = [tuple(sorted(clause)) for clause in found if not any([part ^ 1 in clause for part in clause])]
        return self._bounded(literal, clauses)

    def _bounded(self, literal: Literal, clauses: list[Clause]) -> list[Clause]:
        self._size += sum([len(clause) + 8 for clause in clauses])
        return clauses if self._size <= MAX_SIZE else [(literal,)]


class _Rows:
    """The linear relaxation of facts, as lines for a solver; each with the literals that it follows from."""

    def __init__(self, facts: _Facts) -> None:
        self.rows: list[tuple[str, Origins]] = []
        self._facts = facts
        self._bits: set[int] = set()
        self._others: dict[Atom, str] = {}
        edges: dict[Literal, dict[Literal, Origins]] = defaultdict(dict)
        for clause, origins in facts.clauses.items():
            if len(clause) == 2:
                a, b = clause[0] ^ 1, clause[1] ^ 1
                edges[a][b] = edges[b][a] = origins
            else:
                self._add(f"(>= {self._total(clause)} 1.0)", origins)
        for members, origins in cover_by_cliques(edges):
            self._add(f"(<= {self._total(members)} 1.0)", origins)
        for literal, origins in facts.comparisons:
            self._compare(literal, origins)
        for node in sorted(self._bits):
            for literal in (2 * node, 2 * node + 1):
                if literal in facts.units:
                    self._add(f"(= x{node} {1 - (literal & 1)}.0)", facts.units[literal])

    def infeasible(self, deadline: float | None) -> set[Literal] | None:
        """The literals whose rows have no solution, if they have none."""
        try:
            import z3  # noqa: PLC0415 - takes 0.2 s
        except ModuleNotFoundError:
            return None
        limit_ms = None if deadline is None else int(1000 * (deadline - time.monotonic()))
        if limit_ms is not None and limit_ms <= 0:
            return None
        context = z3.Context()
        solver: Any = z3.SolverFor("QF_LRA", ctx=context)
        solver.set("rlimit", RESOURCES)
        if limit_ms is not None:
            solver.set("timeout", min(limit_ms, 2**31 - 1))
        why = {literal: f"o{literal}" for _, origins in self.rows for literal in origins}
        text = [f"(declare-const {name} Bool)" for name in why.values()]
        text += [f"(declare-const {name} Real)" for name in self._others.values()]
        text += [f"(declare-const x{n} Real)(assert (>= x{n} 0.0))(assert (<= x{n} 1.0))" for n in sorted(self._bits)]
        for row, origins in self.rows:
            reasons = " ".join([f"(not {why[literal]})" for literal in origins])
            text.append(f"(assert (or {reasons} {row}))")
        solver.from_string("\n".join(text))
        assumed = {name: literal for literal, name in why.items()}
        if solver.check(*[z3.Bool(name, context) for name in assumed]) != z3.unsat:
            return None
        return {assumed[part.decl().name()] for part in solver.unsat_core()}

    def _add(self, row: str, origins: Origins) -> None:
        self.rows.append((row, origins))

    def _total(self, literals: Iterable[Literal]) -> str:
        return _sum([self._bit(literal) for literal in literals])

    def _bit(self, literal: Literal) -> str:
        if literal in (FALSE, TRUE):
            return f"{literal}.0"
        self._bits.add(literal >> 1)
        return f"(- 1.0 x{literal >> 1})" if literal & 1 else f"x{literal >> 1}"

    def _compare(self, literal: Literal, origins: Origins) -> None:
        comparison = self._facts.circuit.keys[literal >> 1]
        assert isinstance(comparison, Comparison)
        count = to_pseudo_boolean(comparison)
        if count is None:
            total = _sum([_number(comparison.sum.constant), *self._scaled(comparison.sum.weighted_atoms)])
            if not literal & 1:
                self._add(f"({comparison.operator} {total} 0.0)", origins)
            elif comparison.operator != "=":
                self._add(f"({'>' if comparison.operator == '<=' else '>='} {total} 0.0)", origins)
            return
        weighted = _sum([f"(* {weight}.0 {self._bit(part)})" for weight, part in count.weights])
        if not literal & 1:
            self._add(f"({'=' if count.exact else '<='} {weighted} {_number(count.bound)})", origins)
        elif not count.exact:  # weights are whole numbers
            self._add(f"(>= {weighted} {_number(count.bound + 1)})", origins)

    def _scaled(self, items: Iterable[tuple[Atom, Number]]) -> Iterator[str]:
        for atom, factor in items:
            literal = atom[1]
            if atom[0] == "indicator" and isinstance(literal, int):
                yield f"(* {_number(factor)} {self._bit(literal)})"
            else:
                yield f"(* {_number(factor)} {self._others.setdefault(atom, f'a{len(self._others)}')})"


def cover_by_cliques(edges: dict[Literal, dict[Literal, Origins]]) -> Iterator[tuple[list[Literal], Origins]]:
    """Groups that cover all edges, members of a group being neighbours of one another. Greedy: not the fewest."""
    covered: set[tuple[Literal, Literal]] = set()
    for a in sorted(edges):
        for b in sorted(edges[a]):
            if b < a or (a, b) in covered:
                continue
            members, origins = [a, b], edges[a][b]
            common = edges[a].keys() & edges[b].keys()
            while common:
                fresh = min(common)
                origins = origins.union(*[edges[member][fresh] for member in members])
                members.append(fresh)
                common &= edges[fresh].keys()
            members.sort()
            covered.update([(x, y) for k, y in enumerate(members) for x in members[:k]])
            yield members, origins


def _sum(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"


def _number(value: Number) -> str:
    if isinstance(value, int):
        return f"{value}.0" if value >= 0 else f"(- {-value}.0)"
    return f"(/ {_number(value.numerator)} {value.denominator}.0)"
