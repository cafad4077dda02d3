"""Rates that read the numbers that they change: linear systems x' = A x + b(t) with a constant matrix A.

A left eigenvector w with the eigenvalue q gives a number u = w x with u' = q u + w b. It replaces one of the numbers,
and the others have a system of their own, with u in their b.
"""

from collections.abc import Mapping, Sequence, Set
from fractions import Fraction

from .courses import Courses, Quotient, combine, compute_course
from .exponential_polynomials import CONSTANT_ONE, Course, add, is_constant, scale, solve_linear_equation
from .formulas import Arithmetic, Binding, Fact, Flow, Fluent, Node, ground
from .polynomials import Polynomial, Real
from .reader import KernelLimit
from .real_numbers import find_roots

LinearForm = dict[Fact | None, Quotient]
"""A sum of multiples of numbers whose courses are not known yet: their factors; ``None``: the remainder."""
Matrix = list[list[Fraction]]


def express_linearly(expression: Node, binding: Binding, courses: Courses, unknown: Set[Fact]) -> LinearForm:
    """Return a rate as a sum of multiples of the unknown numbers, and a remainder.

    Raises ``KernelLimit`` if it is not linear.
    """
    if isinstance(expression, Fluent) and (fluent := ground(expression.terms, binding)) in unknown:
        return {fluent: Quotient(CONSTANT_ONE), None: Quotient({})}
    if not isinstance(expression, Arithmetic):
        course = compute_course(expression, binding, courses)
        if course is None:
            raise KernelLimit("an undefined rate")
        return {None: course}
    total, *operands = [express_linearly(part, binding, courses, unknown) for part in expression.members]
    for operand in operands:
        total = _combine_forms(expression.operator, total, operand)
    return total


def _combine_forms(operator: str, left: LinearForm, right: LinearForm) -> LinearForm:
    """Return a sum, difference, product or quotient of linear forms. Raises ``KernelLimit``."""
    if operator in ("+", "-"):
        zero = Quotient({})
        return {x: combine(operator, left.get(x, zero), right.get(x, zero)) for x in {**left, **right}}
    if operator == "*" and len(left) == 1:
        left, right = right, left
    if len(right) > 1:
        raise KernelLimit("rates that depend on each other, but not linearly")
    return {x: combine(operator, factor, right[None]) for x, factor in left.items()}


def _convert_to_course(quotient: Quotient) -> Course:
    """Return a quotient with a constant denominator as a course. Raises ``KernelLimit`` for any other."""
    if not quotient.denominator:
        raise KernelLimit("an undefined rate")
    if not is_constant(quotient.denominator):
        raise KernelLimit("a rate that is divided by a changing number")
    return scale(quotient.numerator, 1 / quotient.denominator[Fraction(0)][0])


def solve_rates(
    flows: Mapping[Fact, Sequence[tuple[Flow, Binding]]], numbers: Mapping[Fact, Real], courses: Courses
) -> dict[Fact, Course]:
    """Return the courses of the numbers with these continuous effects, whose values at the start are given."""
    fluents = [*flows]
    matrix: Matrix = [[Fraction(0)] * len(fluents) for _ in fluents]
    forcing = list[Course]()
    for row, parts in zip(matrix, flows.values(), strict=True):
        remainder: Course = {}
        for flow, binding in parts:
            for fluent, quotient in express_linearly(flow.rate, binding, courses, flows.keys()).items():
                course = scale(_convert_to_course(quotient), Fraction(flow.sign))
                if fluent is None:
                    remainder = add(remainder, course)
                else:
                    row[fluents.index(fluent)] += _convert_to_fraction(course)
        forcing.append(remainder)
    values = [numbers[fluent] for fluent in fluents]
    return dict(zip(fluents, solve_system(matrix, forcing, values, courses.start), strict=True))


def _convert_to_fraction(course: Course) -> Fraction:
    """Return the value of a rational constant. Raises ``KernelLimit`` for any other function."""
    if not course:
        return Fraction(0)
    value = course.get(Fraction(0), (None,))[0]
    if not is_constant(course) or not isinstance(value, Fraction):
        raise KernelLimit("rates that depend on each other with factors that are not rational constants")
    return value


def solve_system(matrix: Matrix, forcing: list[Course], values: list[Real], start: Real) -> list[Course]:
    """Return the functions x with x' = matrix x + forcing that have the values at the start.

    Raises ``KernelLimit`` if an eigenvalue is not rational.
    """
    if not matrix:
        return []
    eigenvalue = _find_eigenvalue(matrix)
    w = _find_left_eigenvector(matrix, eigenvalue)
    value: Real = sum(factor * x for factor, x in zip(w, values, strict=True))
    u = solve_linear_equation(eigenvalue, _sum_multiples(w, forcing), value, start)
    j = next(i for i, factor in enumerate(w) if factor)
    remaining = [i for i in range(len(w)) if i != j]
    # x_j = (u - the sum of w_i x_i) / w_j
    reduced_matrix = [[matrix[i][k] - matrix[i][j] * w[k] / w[j] for k in remaining] for i in remaining]
    reduced_forcing = [add(forcing[i], scale(u, matrix[i][j] / w[j])) for i in remaining]
    solutions = solve_system(reduced_matrix, reduced_forcing, [values[i] for i in remaining], start)
    remainder = _sum_multiples([w[i] for i in remaining], solutions)
    solutions.insert(j, scale(add(u, scale(remainder, Fraction(-1))), 1 / w[j]))
    return solutions


def _sum_multiples(factors: Sequence[Fraction], functions: Sequence[Course]) -> Course:
    """Return the sum of the multiples of functions by the factors."""
    total: Course = {}
    for factor, f in zip(factors, functions, strict=True):
        total = add(total, scale(f, factor))
    return total


def _find_eigenvalue(matrix: Matrix) -> Fraction:
    """Return a rational eigenvalue."""
    if len(matrix) == 1:
        return matrix[0][0]
    bound = max(sum(map(abs, row)) for row in matrix)
    for root in find_roots(_compute_characteristic_polynomial(matrix), -bound, bound):
        if isinstance(root, Fraction):
            return root
    raise KernelLimit("rates that depend on each other with eigenvalues that are not rational")


def _compute_characteristic_polynomial(matrix: Matrix) -> Polynomial:
    """Return the characteristic polynomial, by the method of Faddeev and Leverrier."""
    n = len(matrix)
    coefficients = [Fraction(1)]
    power: Matrix = [[Fraction(0)] * n for _ in range(n)]
    for k in range(1, n + 1):
        for i in range(n):
            power[i][i] += coefficients[-1]
        power = [[sum((row[m] * power[m][j] for m in range(n)), Fraction(0)) for j in range(n)] for row in matrix]
        coefficients.append(-sum((power[i][i] for i in range(n)), Fraction(0)) / k)
    return tuple(reversed(coefficients))


def _find_left_eigenvector(matrix: Matrix, eigenvalue: Fraction) -> list[Fraction]:
    """Return w other than 0 with w matrix = eigenvalue w, by Gaussian elimination."""
    n = len(matrix)
    rows = [[matrix[j][i] - (eigenvalue if i == j else 0) for j in range(n)] for i in range(n)]
    pivot_rows = dict[int, list[Fraction]]()  # by their columns
    free = 0
    for column in range(n):
        row = next((row for row in rows if row[column] != 0), None)
        if row is None:
            free = column
            continue
        rows.remove(row)
        row = [x / row[column] for x in row]
        rows = [[x - other_row[column] * y for x, y in zip(other_row, row, strict=True)] for other_row in rows]
        pivot_rows = {c: [x - p[column] * y for x, y in zip(p, row, strict=True)] for c, p in pivot_rows.items()}
        pivot_rows[column] = row
    return [-pivot_rows[c][free] if c in pivot_rows else Fraction(int(c == free)) for c in range(n)]
