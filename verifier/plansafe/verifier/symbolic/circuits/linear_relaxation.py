"""The linear relaxation of literals: a proof by counting that they cannot all be true.

For example, n + 1 objects cannot each have one of n places. Resolution needs exponentially many steps to prove that
(Haken, "The intractability of resolution", 1985), simplex a few. The relaxation consists of the clauses that the
literals imply, mutually exclusive groups of literals, and linear comparisons, over numbers between 0 and 1 instead of
truth values. If it is infeasible, the literals cannot all be true. If it is feasible, nothing follows.
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
from plansafe.verifier.symbolic.circuits.pseudo_boolean import convert_to_pseudo_boolean
from plansafe.verifier.symbolic.circuits.terms import Atom, Comparison

MAX_SIZE = 4_000_000
"""Maximum number of literals in the examined clauses; each clause counts as ``CLAUSE_OVERHEAD`` more. One gate may use
a tenth of it. If it is exceeded, gates are not expanded, and clauses are left out."""
CLAUSE_OVERHEAD = 8
MAX_PRODUCT = 10_000
"""Maximum number of clauses that one disjunction of conjunctions may become; a larger one is not expanded."""
MAX_ROWS = 20_000
"""Maximum number of linear constraints."""
MAX_RESOURCES = 100_000_000
"""The limit of Z3's work (``rlimit``): about 10 s."""
_MIN_CONSTRAINTS = 3
"""With fewer clauses and comparisons, counting proves nothing that the solver does not find."""

Clause = tuple[Literal, ...]
Origins = frozenset[Literal]
"""The given literals that a clause or row follows from."""


def find_infeasible_core(
    circuit: Circuit, literals: Sequence[Literal], deadline: float | None = None
) -> set[Literal] | None:
    """Return some of the literals that cannot all be true, if the linear relaxation shows it; else ``None``.

    Returns ``None`` quickly if there is little to count. Needs Z3; ``None`` without it.
    """
    constraints = _ImpliedConstraints(circuit)
    constraints.add(literals)
    if constraints.contradiction is not None:
        return set(constraints.contradiction)
    pair_count = sum([len(clause) == 2 for clause in constraints.clauses])
    has_too_few = len(constraints.clauses) + len(constraints.comparisons) < _MIN_CONSTRAINTS
    if has_too_few or not (pair_count or constraints.comparisons):
        return None
    relaxation = _Relaxation(constraints)
    return relaxation.find_core(deadline) if len(relaxation.rows) <= MAX_ROWS else None


class _ImpliedConstraints:
    """Units, clauses and comparisons that literals imply, each with its origins."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.units: dict[Literal, Origins] = {}
        self.clauses: dict[Clause, Origins] = {}
        self.comparisons: list[tuple[Literal, Origins]] = []
        self.contradiction: Origins | None = None
        self._clauses_by_literal: dict[Literal, list[Clause]] = {}
        self._size = 0

    def add(self, literals: Iterable[Literal]) -> None:
        """Add literals: expand conjunctions and propagate units."""
        self._add_units([(literal, frozenset([literal])) for literal in literals])
        while self.contradiction is None:
            new_units = self._simplify_clauses()
            if not new_units:
                return
            self._add_units(new_units)

    def _simplify_clauses(self) -> list[tuple[Literal, Origins]]:
        """Remove satisfied clauses and false literals; return the clauses that became units."""
        units, new_units = self.units, []
        decided = {literal for unit in units for literal in (unit, unit ^ 1)}
        for clause in [clause for clause in self.clauses if not decided.isdisjoint(clause)]:
            origins = self.clauses[clause]
            remaining = tuple([literal for literal in clause if literal ^ 1 not in units])
            if any([literal in units for literal in remaining]):
                del self.clauses[clause]
            elif len(remaining) < len(clause):
                del self.clauses[clause]
                all_origins = origins.union(*[units[literal ^ 1] for literal in clause if literal ^ 1 in units])
                if len(remaining) > 1:
                    self.clauses.setdefault(remaining, all_origins)
                else:
                    new_units.append((remaining[0] if remaining else FALSE, all_origins))
        return new_units

    def _add_units(self, units: list[tuple[Literal, Origins]]) -> None:
        """Add true literals and the consequences of their gates alone, or set ``contradiction``."""
        gates, keys = self.circuit.gates, self.circuit.keys
        stack = units[::-1]
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
                for clause in self._convert_to_clauses(literal):
                    self.clauses.setdefault(clause, origins)
            else:
                stack.extend([(child, origins) for child in children])

    def _convert_to_clauses(self, literal: Literal) -> list[Clause]:
        """Return the clauses of a literal: at most two conjunctions below a disjunction are multiplied out.

        Beyond the limits a literal is a clause of its own, and no clause is returned at ``MAX_SIZE``.
        """
        gates, forms = self.circuit.gates, self._clauses_by_literal
        parts = gates[literal >> 1] or ()
        self._size += len(parts) + CLAUSE_OVERHEAD
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
            children = [child ^ (top & 1) for child in gates[top >> 1] or ()]
            pending = [child for child in children if child not in forms]
            self._size += len(children) + CLAUSE_OVERHEAD
            if self._size > end:  # from here on, gates are not expanded
                forms.update([(child, [(child,)]) for child in pending])
                pending = []
            if pending:
                stack += (top, *pending)
            else:
                forms[top] = self._combine_clauses(top, children)
        return forms[literal]

    def _combine_clauses(self, literal: Literal, children: list[Literal]) -> list[Clause]:
        """Return the clauses of a literal from the clauses of its children."""
        forms = self._clauses_by_literal
        if not children:
            return [(literal,)]
        if not literal & 1:
            return self._limit_size(literal, [clause for child in children for clause in forms[child]])
        if not all([forms[child] for child in children]):
            return []  # a child is always true, and so is the disjunction
        conjunctions = [forms[child] for child in children if len(forms[child]) > 1]
        if len(conjunctions) > 2 or prod([len(form) for form in conjunctions]) > MAX_PRODUCT:
            conjunctions = [[(child,)] for child in children if len(forms[child]) > 1]
        common = {part for child in children if len(form := forms[child]) == 1 for part in form[0]}
        unions = [common.union(*choice) for choice in product(*conjunctions)]
        clauses = [tuple(sorted(union)) for union in unions if not any([part ^ 1 in union for part in union])]
        return self._limit_size(literal, clauses)

    def _limit_size(self, literal: Literal, clauses: list[Clause]) -> list[Clause]:
        """Return the clauses of a literal, or the literal itself as a clause beyond ``MAX_SIZE``."""
        self._size += sum([len(clause) + CLAUSE_OVERHEAD for clause in clauses])
        return clauses if self._size <= MAX_SIZE else [(literal,)]


class _Relaxation:
    """The linear relaxation of constraints. ``rows`` are linear constraints in SMT-LIB, each with its origins."""

    def __init__(self, constraints: _ImpliedConstraints) -> None:
        self.rows: list[tuple[str, Origins]] = []
        self._circuit = constraints.circuit
        self._nodes: set[int] = set()
        self._atom_names: dict[Atom, str] = {}
        exclusive_literals: dict[Literal, dict[Literal, Origins]] = defaultdict(dict)
        for clause, origins in constraints.clauses.items():
            if len(clause) == 2:
                first, second = clause[0] ^ 1, clause[1] ^ 1
                exclusive_literals[first][second] = exclusive_literals[second][first] = origins
            else:
                self.rows.append((f"(>= {self._make_literal_sum_text(clause)} 1.0)", origins))
        for members, origins in cover_by_cliques(exclusive_literals):
            self.rows.append((f"(<= {self._make_literal_sum_text(members)} 1.0)", origins))
        for literal, origins in constraints.comparisons:
            row = self._make_comparison_row(literal)
            if row is not None:
                self.rows.append((row, origins))
        for node in sorted(self._nodes):
            for literal in (2 * node, 2 * node + 1):
                if literal in constraints.units:
                    self.rows.append((f"(= x{node} {1 - (literal & 1)}.0)", constraints.units[literal]))

    def find_core(self, deadline: float | None) -> set[Literal] | None:
        """Return the origins of infeasible rows; ``None`` if all rows together are feasible, or if it is undecided."""
        try:
            import z3  # noqa: PLC0415 - takes 0.2 s
        except ModuleNotFoundError:
            return None
        limit_ms = None if deadline is None else int(1000 * (deadline - time.monotonic()))
        if limit_ms is not None and limit_ms <= 0:
            return None
        context = z3.Context()
        solver: Any = z3.SolverFor("QF_LRA", ctx=context)
        solver.set("rlimit", MAX_RESOURCES)
        if limit_ms is not None:
            solver.set("timeout", min(limit_ms, 2**31 - 1))
        names = {literal: f"o{literal}" for _, origins in self.rows for literal in origins}
        lines = [f"(declare-const {name} Bool)" for name in names.values()]
        lines += [f"(declare-const {name} Real)" for name in self._atom_names.values()]
        lines += [f"(declare-const x{n} Real)(assert (>= x{n} 0.0))(assert (<= x{n} 1.0))" for n in sorted(self._nodes)]
        for row, origins in self.rows:
            premises = " ".join([f"(not {names[literal]})" for literal in origins])
            lines.append(f"(assert (or {premises} {row}))")
        solver.from_string("\n".join(lines))
        literals = {name: literal for literal, name in names.items()}
        if solver.check(*[z3.Bool(name, context) for name in literals]) != z3.unsat:
            return None
        return {literals[part.decl().name()] for part in solver.unsat_core()}

    def _make_literal_sum_text(self, literals: Iterable[Literal]) -> str:
        return _make_sum_text([self._make_literal_text(literal) for literal in literals])

    def _make_literal_text(self, literal: Literal) -> str:
        if literal in (FALSE, TRUE):
            return f"{literal}.0"
        self._nodes.add(literal >> 1)
        return f"(- 1.0 x{literal >> 1})" if literal & 1 else f"x{literal >> 1}"

    def _make_comparison_row(self, literal: Literal) -> str | None:
        """Return a comparison, or its negation, as a row; ``None`` for a negated equation."""
        comparison = self._circuit.keys[literal >> 1]
        assert isinstance(comparison, Comparison)
        constraint = convert_to_pseudo_boolean(comparison)
        if constraint is None:
            atoms = self._iterate_atom_texts(comparison.sum.weighted_atoms)
            total = _make_sum_text([_make_number_text(comparison.sum.constant), *atoms])
            if not literal & 1:
                return f"({comparison.operator} {total} 0.0)"
            negations = {"<=": ">", "<": ">="}
            return f"({negations[comparison.operator]} {total} 0.0)" if comparison.operator in negations else None
        total = _make_sum_text(
            [f"(* {weight}.0 {self._make_literal_text(part)})" for weight, part in constraint.weights]
        )
        if not literal & 1:
            return f"({'=' if constraint.exact else '<='} {total} {_make_number_text(constraint.bound)})"
        # Weights are whole numbers: a sum above the bound is at least the bound + 1.
        return None if constraint.exact else f"(>= {total} {_make_number_text(constraint.bound + 1)})"

    def _iterate_atom_texts(self, weighted_atoms: Iterable[tuple[Atom, Number]]) -> Iterator[str]:
        for atom, factor in weighted_atoms:
            literal = atom[1]
            if atom[0] == "indicator" and isinstance(literal, int):
                yield f"(* {_make_number_text(factor)} {self._make_literal_text(literal)})"
            else:
                name = self._atom_names.setdefault(atom, f"a{len(self._atom_names)}")
                yield f"(* {_make_number_text(factor)} {name})"


def cover_by_cliques(edges: dict[Literal, dict[Literal, Origins]]) -> Iterator[tuple[list[Literal], Origins]]:
    """Yield cliques that cover all edges, each with the origins of its edges. Greedy: not the fewest."""
    covered_pairs: set[tuple[Literal, Literal]] = set()
    for node in sorted(edges):
        for neighbour in sorted(edges[node]):
            if neighbour < node or (node, neighbour) in covered_pairs:
                continue
            members, origins = [node, neighbour], edges[node][neighbour]
            common = edges[node].keys() & edges[neighbour].keys()
            while common:
                new_member = min(common)
                origins = origins.union(*[edges[member][new_member] for member in members])
                members.append(new_member)
                common &= edges[new_member].keys()
            members.sort()
            covered_pairs.update(
                [(first, second) for position, second in enumerate(members) for first in members[:position]]
            )
            yield members, origins


def _make_sum_text(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"


def _make_number_text(value: Number) -> str:
    if isinstance(value, int):
        return f"{value}.0" if value >= 0 else f"(- {-value}.0)"
    return f"(/ {_make_number_text(value.numerator)} {value.denominator}.0)"
