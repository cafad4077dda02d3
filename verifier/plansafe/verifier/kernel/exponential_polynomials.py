"""Exponential polynomials: sums of p(t) e^(q (t - start)) with polynomials p and rational exponents q; their zeros.

Divided by one of its exponentials and differentiated often enough, such a function becomes 0. Between two neighbouring
zeros of the derivative it is monotone (Rolle), so that its signs there show its zeros.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial, reduce
from itertools import count, pairwise

from .polynomials import Polynomial, Real
from .polynomials import add as add_polynomials
from .polynomials import derive as derive_polynomial
from .polynomials import evaluate_at as evaluate_polynomial
from .polynomials import integrate as integrate_polynomial
from .polynomials import multiply as multiply_polynomials
from .polynomials import scale as scale_polynomial
from .reader import KernelLimit, require
from .real_numbers import enclose, find_enclosure, sign
from .real_numbers import find_roots as find_roots_of_polynomial
from .transcendental import (
    Atom,
    Transcendental,
    collect_atoms,
    is_fraction_times_exponential,
    make_exponential,
    make_logarithm,
    simplify,
)

Course = Mapping[Fraction, Polynomial]
"""A number as a function of time: the polynomials other than 0, by their exponents. A polynomial has the exponent 0."""
ZERO = Fraction(0)
CONSTANT_ONE: Course = {ZERO: (Fraction(1),)}
MAX_POWER = 12
"""Maximum power of e^(q t) in a polynomial whose zeros are computed as algebraic numbers."""
MAX_DEPTH = 20
"""Maximum length of a chain of zeros, each in the function of the next: each needs more bits than the next."""
RATIONAL_BITS = 48
"""Precision at which a zero is compared with a simple fraction."""
SIMPLE_DENOMINATOR = 10**6
"""Maximum denominator of a simple fraction."""


def make_constant(value: Real) -> Course:
    """Return the function with this value everywhere."""
    return make_polynomial((value,) if value != 0 else ())


def make_polynomial(p: Polynomial) -> Course:
    """Return a polynomial as an exponential polynomial."""
    return {ZERO: p} if p else {}


def is_constant(f: Course) -> bool:
    """Whether the function has the same value everywhere."""
    return all(exponent == 0 and len(p) == 1 for exponent, p in f.items())


def add(f: Course, g: Course) -> Course:
    """Return the sum."""
    parts = {exponent: add_polynomials(f.get(exponent, ()), g.get(exponent, ())) for exponent in {**f, **g}}
    return {exponent: p for exponent, p in parts.items() if p}


def scale(f: Course, factor: Real) -> Course:
    """Return a multiple."""
    return {exponent: scale_polynomial(p, factor) for exponent, p in f.items()} if factor != 0 else {}


def multiply(f: Course, g: Course) -> Course:
    """Return the product."""
    if f is CONSTANT_ONE or g is CONSTANT_ONE:
        return g if f is CONSTANT_ONE else f
    product: Course = {}
    for a, p in f.items():
        for b, q in g.items():
            product = add(product, {a + b: multiply_polynomials(p, q)})
    return product


def normalize(f: Course) -> Course:
    """Return the multiple in which a coefficient is 1 (if it is a fraction): it is the same for all multiples."""
    first = next(iter(f.values()))[-1]
    return scale(f, 1 / first) if isinstance(first, Fraction) else f


def derive(f: Course) -> Course:
    """Return the derivative."""
    parts = {a: add_polynomials(derive_polynomial(p), scale_polynomial(p, a)) for a, p in f.items()}
    return {exponent: p for exponent, p in parts.items() if p}


def evaluate_at(f: Course, time: Real, start: Real) -> Real:
    """Return the value at a time."""
    value: Real = ZERO
    for exponent, p in f.items():
        factor = make_exponential(exponent, time, start) if exponent else Fraction(1)
        value = value + evaluate_polynomial(p, time) * factor
    return simplify(value)


def solve_linear_equation(factor: Fraction, forcing: Course, value: Real, start: Real) -> Course:
    """Return the function x with x' = factor x + forcing that has the value at the start."""
    particular_solution: Course = {}
    for exponent, p in forcing.items():
        difference = exponent - factor
        if difference == 0:
            particular_solution = add(particular_solution, {exponent: integrate_polynomial(p)})
            continue
        power = Fraction(1)
        while p:  # q' + difference q = p has the solution p / difference - p' / difference^2 + ..
            power /= difference
            particular_solution = add(particular_solution, {exponent: scale_polynomial(p, power)})
            p, power = derive_polynomial(p), -power
    difference_at_start = value - evaluate_at(particular_solution, start, start)
    return add(particular_solution, scale({factor: (Fraction(1),)}, difference_at_start))


# Zeros


def find_roots(f: Course, low: Real, high: Real, start: Real) -> list[Real]:
    """Return the zeros x of a function other than 0 with low <= x <= high, in order."""
    if len(f) == 1:
        (p,) = f.values()
        if len(p) == 1:
            return []
        if not any(isinstance(a, Transcendental) for a in (p if len(p) > 2 else p[1:])):
            return find_roots_of_polynomial(p, low, high)
    if all(len(p) == 1 for p in f.values()) and (roots := _solve_for_exponential(f, high, start)) is not None:
        return [root for root in roots if low <= root <= high]
    shift = min(f, key=lambda exponent: len(f[exponent]))
    derivative = derive({exponent - shift: p for exponent, p in f.items()})
    ends = [low, *[x for x in find_roots(derivative, low, high, start) if low < x < high], high]
    signs = [sign(evaluate_at(f, end, start)) for end in ends]
    roots = [low] if signs[0] == 0 else []
    for (before, end), (sign_before, sign_at_end) in zip(pairwise(ends), pairwise(signs), strict=True):
        if sign_before * sign_at_end < 0:
            roots.append(_find_root_between(partial(evaluate_at, f, start=start), before, end, sign_at_end))
        if sign_at_end == 0 and before < end:
            roots.append(end)
    return roots


def _solve_for_exponential(f: Course, high: Real, start: Real) -> list[Real] | None:
    """Return the zeros up to a time of a function with constant coefficients: a polynomial P in y = e^(q (t - start)).

    ``None`` if a coefficient is not rational, unless P is a y - b with fractions times exponentials.
    """
    least, *greater_exponents = sorted(f)
    q = reduce(_greatest_common_divisor, [exponent - least for exponent in greater_exponents])
    powers = {int((exponent - least) / q): c for exponent, (c,) in f.items()}
    degree = max(powers)
    if degree <= MAX_POWER and all(isinstance(c, Fraction) for c in powers.values()):
        bound = find_enclosure(make_exponential(q, high, start))[1]
        values = find_roots_of_polynomial(tuple(powers.get(i, ZERO) for i in range(degree + 1)), ZERO, bound)
    elif degree == 1 and all(map(is_fraction_times_exponential, powers.values())):
        quotient = -powers[0] / powers[1]
        values = [quotient] if quotient > 0 else []
    else:
        return None
    return [start + make_logarithm(value) / q for value in values]


def _greatest_common_divisor(a: Fraction, b: Fraction) -> Fraction:
    """Return the largest fraction that divides both into integers."""
    while b:
        a, b = b, a % b
    return a


def _find_root_between(function: Callable[[Real], Real], low: Real, high: Real, sign_at_high: int) -> Real:
    """Return the only zero between two numbers; the function has different signs there."""
    for bits in count(4, 16):
        width = Fraction(1, 2**bits)
        before, after = enclose(low, width)[1], enclose(high, width)[0]
        if before < after and sign(function(before)) == -sign_at_high and sign(function(after)) == sign_at_high:
            break
    atom = Atom(function, before, after)
    root = atom.number()
    value = function(root)
    if isinstance(value, Transcendental):
        atom.relation = value
        atom.depth = 1 + max(earlier.depth for earlier in collect_atoms(value))
        require(atom.depth <= MAX_DEPTH, "a moment that depends on too many earlier moments", KernelLimit)
    candidate = atom.enclose(RATIONAL_BITS)[0].limit_denominator(SIMPLE_DENOMINATOR)
    return candidate if atom.low <= candidate <= atom.high and function(candidate) == 0 else root
