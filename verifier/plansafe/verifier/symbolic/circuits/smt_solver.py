"""Z3 as a solver for circuits with numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from plansafe.verifier.extras import how_to_install
from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.model.nodes import Number, normal_number
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.solvers import Model, Solver, SolverMissing, check_memory
from plansafe.verifier.symbolic.circuits.substitution import list_inner_sums
from plansafe.verifier.symbolic.circuits.terms import Atom, Comparison, Sum

FIRST_RESOURCES = 200_000
"""Units of Z3's ``rlimit`` for the first search: about 0.3 s of a search without numbers, less of one with numbers."""
RATIONAL_RESOURCES = 3_000_000
"""The limit of Z3's search for a rational value near an irrational value."""
RESOURCE_WORK = 0.5
"""Units of a :class:`WorkBudget` for a unit of Z3's ``rlimit``."""
_FOREVER_MS = 2**31 - 1
_MAX_RLIMIT = 2**32 - 1


class SmtSolver(Solver):
    """Z3: gates and pseudo-Boolean constraints as clauses, other comparisons as linear or nonlinear arithmetic.

    Values are exact rationals. If all models that Z3 finds have irrational values, ``solve`` returns ``None``, as it
    does if Z3 does not decide nonlinear arithmetic. Raises :class:`SolverMissing`.
    """

    _first_search_limit = FIRST_RESOURCES

    def __init__(self, circuit: Circuit, deadline: float | None = None, work: WorkBudget | None = None) -> None:
        try:
            import z3  # noqa: PLC0415 - takes 0.2 s
        except ModuleNotFoundError as error:
            raise SolverMissing(f"z3-solver is not installed: {how_to_install('solve')}", name="z3") from error
        super().__init__(circuit, deadline, work)
        self.name = f"z3 {z3.get_version_string()}"
        self._z3: Any = z3
        self._context: Any = z3.Context()
        self._solver: Any = z3.SimpleSolver(ctx=self._context)  # tactics of z3.Solver took up to fifty times as long
        self._term_encoder: Any = SmtTermEncoder(circuit, z3, self._context, self._solver, self._make_expression)
        self._bools: list[Any] = [None]
        """Z3's constant of each variable. ``_constant_pointers`` has the same constants as C pointers, which are faster
        to pass to Z3, and ``_negated_pointers`` their negations."""
        self._constant_pointers: list[Any] = [None]
        self._negated_pointers: list[Any] = [None]
        self._defined_input_count = 0
        self._resources = 0
        self._assumed: dict[int, Literal] = {}
        self._expressions: list[Any] = []
        self._model: Any = None
        self._values: dict[tuple[int, int], Number] = {}

    def model(self) -> Model:  # noqa: D102 - see Solver
        bools, evaluate, is_true = self._bools, self._model.eval, self._z3.is_true
        variables = self._clauses.pair_with_variables(self._clauses.inputs)
        return Model(
            {node: is_true(evaluate(bools[v], model_completion=True)) for node, v in variables}, dict(self._values)
        )

    def close(self) -> None:
        """Release the solver's memory now: Z3's expressions hold its context, in cycles that are collected late."""
        self._bools, self._constant_pointers, self._negated_pointers, self._expressions = [None], [None], [None], []
        self._model = self._solver = self._term_encoder = self._context = None

    def _assert_literal(self, literal: Literal) -> None:
        self._solver.add(self._make_expression(literal))

    def _search(self, assumptions: Sequence[Literal], limit: int | None) -> bool | None:
        self._expressions = [self._make_expression(literal) for literal in assumptions]
        identifiers = [expression.get_id() for expression in self._expressions]
        self._assumed = dict(zip(identifiers, assumptions, strict=True))
        return self._check(self._expressions, limit)

    def _check(self, expressions: list[Any], resources: int | None) -> bool | None:
        """Search within resources, the time and the work budget; ``None`` if it is undecided."""
        limit_ms = _FOREVER_MS if self.deadline is None else int(1000 * (self.deadline - time.monotonic()))
        if self.work is not None:
            affordable = int(self.work.left / RESOURCE_WORK)
            resources = affordable if resources is None else min(resources, affordable)
        if limit_ms <= 0 or (resources is not None and resources <= 0):
            return None
        check_memory()
        self._solver.set("timeout", min(limit_ms, _FOREVER_MS))
        self._solver.set("rlimit", min(resources or 0, _MAX_RLIMIT))
        status = self._solver.check(*expressions)
        if self.work is not None:
            before, self._resources = self._resources, self._solver.statistics().get_key_value("rlimit count")
            self.work.left -= int(RESOURCE_WORK * (self._resources - before))
        return None if status == self._z3.unknown else status == self._z3.sat

    def _find_failed_assumptions(self) -> list[Literal]:
        return [self._assumed[expression.get_id()] for expression in self._solver.unsat_core()]

    def _accept_model(self) -> bool | None:
        self._model = self._solver.model()
        return True if self._find_rational_values() else None

    def _find_rational_values(self) -> bool:
        """Replace the model's irrational numbers by near rational ones, one by one; return whether all are rational."""
        equations: list[Any] = []
        for _ in range(len(self._term_encoder.values) + 1):
            irrational = self._read_values()
            if irrational is None:
                return True
            if not self._fix_near(irrational, equations):
                return False
        return False

    def _read_values(self) -> Any | None:
        """Read the model's numbers up to the first that is irrational; return its variable."""
        self._values.clear()
        for key, variable in self._term_encoder.values.items():
            value = self._model.eval(variable, model_completion=True)
            if not self._z3.is_rational_value(value):
                return variable
            self._values[key] = normal_number(Fraction(value.numerator_as_long(), value.denominator_as_long()))
        return None

    def _fix_near(self, variable: Any, equations: list[Any]) -> bool:
        """Find a model in which a variable has a rational value near its value; add the equation that says so."""
        value = self._model.eval(variable, model_completion=True)
        for digits in (2, 6, 20):
            equation = variable == value.approx(digits)
            if self._check([*self._expressions, *equations, equation], RATIONAL_RESOURCES):
                equations.append(equation)
                self._model = self._solver.model()
                return True
        return False

    @contextmanager
    def _translate_memory_errors(self) -> Iterator[None]:
        """Raise ``MemoryError`` where Z3 raises its own exception for it."""
        try:
            yield
        except self._z3.Z3Exception as error:
            if "memory" in str(error):
                raise MemoryError from error
            raise

    def _make_expression(self, literal: Literal) -> Any:
        """Return Z3's expression of a literal, which need not be encoded yet."""
        variable = self._clauses.get_signed_variable(literal)
        self._create_constants()
        constant = self._bools[abs(variable)]
        return constant if variable > 0 else self._z3.Not(constant)

    def _define_numeric_inputs(self) -> list[Literal]:
        numeric_inputs = self._clauses.numeric_inputs
        new_inputs, self._defined_input_count = numeric_inputs[self._defined_input_count :], len(numeric_inputs)
        if not new_inputs:
            return []
        literals: list[Literal] = self._term_encoder.define(new_inputs)
        return literals

    def _add_clauses(self, clauses: list[list[int]]) -> None:
        """Add clauses without the conversions of Z3's interface for Python, which take forty times as long."""
        z3, context, solver = self._z3, self._context.ref(), self._solver.solver
        self._create_constants()
        pointers, negated_pointers = self._constant_pointers, self._negated_pointers
        for clause in clauses:
            parts = [pointers[part] if part > 0 else negated_pointers[-part] for part in clause]
            z3.Z3_solver_assert(context, solver, z3.Z3_mk_or(context, len(parts), (z3.Ast * len(parts))(*parts)))

    def _create_constants(self) -> None:
        """Create Z3's constants of the variables that have none yet."""
        for variable in range(len(self._bools), len(self._clauses.nodes)):
            constant = self._z3.Bool(variable, self._context)
            self._bools.append(constant)
            self._constant_pointers.append(constant.as_ast())
            negation = self._z3.Z3_mk_not(self._context.ref(), constant.as_ast())
            self._z3.Z3_inc_ref(self._context.ref(), negation)
            self._negated_pointers.append(negation)


class SmtTermEncoder:
    """Defines comparisons in a Z3 solver; ``make_expression`` returns Z3's expression of a literal.

    ``values`` are Z3's variables of the fluents that occurred. Each sum inside a sum gets a variable of its own, so
    that nesting and sharing cost nothing.
    """

    def __init__(
        self, circuit: Circuit, z3: Any, context: Any, solver: Any, make_expression: Callable[[Literal], Any]
    ) -> None:
        self.values: dict[tuple[int, int], Any] = {}
        self._circuit = circuit
        self._z3 = z3
        self._context = context
        self._solver = solver
        self._make_expression = make_expression
        self._sum_variables: dict[int, Any] = {}
        self._literals: list[Literal] = []

    def define(self, nodes: list[int]) -> list[Literal]:
        """Define the comparisons of these input nodes; return the literals to encode for that."""
        self._literals = []
        for node in nodes:
            comparison = self._circuit.keys[node]
            assert isinstance(comparison, Comparison)
            total = self._encode_sum(comparison.sum)
            condition = {"<=": total <= 0, "<": total < 0, "=": total == 0}[comparison.operator]
            self._solver.add(self._make_expression(2 * node) == condition)
        return self._literals

    def _encode_sum(self, total: Sum) -> Any:
        """Translate a sum, after defining the variables of the sums inside it."""
        for part in list_inner_sums(total, self._sum_variables)[:-1]:
            variable = self._z3.Real(f"n{len(self._sum_variables)}", self._context)
            self._solver.add(variable == self._encode_flat_sum(part))
            self._sum_variables[id(part)] = variable  # the circuit's keys keep the part alive
        return self._encode_flat_sum(total)

    def _encode_flat_sum(self, total: Sum) -> Any:
        parts = [self._encode_number(total.constant)]
        parts += [
            self._encode_number(coefficient) * self._encode_atom(atom) for atom, coefficient in total.weighted_atoms
        ]
        return self._z3.Sum(*parts)

    def _encode_number(self, value: Number) -> Any:
        return self._z3.RealVal(f"{value.numerator}/{value.denominator}", self._context)

    def _encode_atom(self, atom: Atom) -> Any:
        """Translate an atom; the sums inside it have variables."""
        z3, variables = self._z3, self._sum_variables
        match atom:
            case ("value", int(function), int(code)):
                if (function, code) not in self.values:
                    self.values[function, code] = z3.Real(f"v{function}_{code}", self._context)
                return self.values[function, code]
            case ("indicator", int(literal)):
                return z3.If(self._encode_literal(literal), self._encode_number(1), self._encode_number(0))
            case ("choice", int(literal), then, otherwise):
                return z3.If(self._encode_literal(literal), variables[id(then)], variables[id(otherwise)])
            case ("product", a, b):
                return variables[id(a)] * variables[id(b)]
            case ("quotient", a, b):
                return variables[id(a)] / variables[id(b)]
        raise TypeError(atom[0])

    def _encode_literal(self, literal: Literal) -> Any:
        self._literals += (literal, literal ^ 1)
        return self._make_expression(literal)
