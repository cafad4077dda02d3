"""Exponential polynomials: sums of p(t) e^(q t) with polynomials p and rational exponents q; their zeros.

Divided by one of its exponentials and differentiated often enough, such a function becomes 0. Between two neighbouring
zeros of the derivative it is monotone (Rolle), so that its signs there show its zeros.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from itertools import count, pairwise

from . import polynomials, real_numbers
from .polynomials import Polynomial, Real
from .real_numbers import enclose, sign
from .transcendental import Atom, Transcendental, exponential, logarithm

Course = Mapping[Fraction, Polynomial]
"""The polynomials other than 0, by their exponents. A polynomial has the exponent 0 alone."""
ZERO = Fraction(0)
ONE: Course = {ZERO: (Fraction(1),)}
RATIONAL_BITS = 48
SIMPLE_DENOMINATOR = 10**6
"""A zero whose first bits are those of a simple fraction is compared with it."""


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
    parts = {exponent: polynomials.add(f.get(exponent, ()), g.get(exponent, ())) for exponent in {**f, **g}}
    return {exponent: p for exponent, p in parts.items() if p}


def scale(f: Course, factor: Real) -> Course:
    """Return a multiple."""
    return {exponent: polynomials.scale(p, factor) for exponent, p in f.items()} if factor != 0 else {}


def multiply(f: Course, g: Course) -> Course:
    """Return the product."""
    product: Course = {}
    for a, p in f.items():
        for b, q in g.items():
            product = add(product, {a + b: polynomials.multiply(p, q)})
    return product


def normalize(f: Course) -> Course:
    """Return the multiple in which a coefficient is 1 (if it is a fraction): it is the same for all multiples."""
    first = next(iter(f.values()))[-1]
    return scale(f, 1 / first) if isinstance(first, Fraction) else f


def derive(f: Course) -> Course:
    """Return the derivative."""
    parts = {a: polynomials.add(polynomials.derive(p), polynomials.scale(p, a)) for a, p in f.items()}
    return {exponent: p for exponent, p in parts.items() if p}


def evaluate_at(f: Course, time: Real) -> Real:
    """Return the value at a time."""
    value: Real = ZERO
    for exponent, p in f.items():
        factor = exponential(exponent, time)
        value = value + polynomials.evaluate_at(p, time) * factor
    return value


def solve_linear_equation(factor: Fraction, forcing: Course, value: Real, now: Real) -> Course:
    """Return the function x with x' = factor x + forcing that has the value now."""
    particular: Course = {}
    for exponent, p in forcing.items():
        difference = exponent - factor
        if difference == 0:
            particular = add(particular, {exponent: polynomials.integrate(p)})
            continue
        power = Fraction(1)
        while p:  # q' + difference q = p has the solution p / difference - p' / difference^2 + ..
            power /= difference
            particular = add(particular, {exponent: polynomials.scale(p, power)})
            p, power = polynomials.derive(p), -power
    constant = value - evaluate_at(particular, now)
    return add(particular, scale({factor: (Fraction(1),)}, constant * exponential(-factor, now)))


# Zeros


def find_roots(f: Course, low: Real, high: Real) -> list[Real]:
    """Return the zeros x of a function other than 0 with low <= x <= high, in order."""
    if len(f) == 1:
        (p,) = f.values()
        if len(p) == 1:
            return []
        if not any(isinstance(a, Transcendental) for a in (p if len(p) > 2 else p[1:])):
            return real_numbers.find_roots(p, low, high)
    elif len(f) == 2 and all(len(p) == 1 for p in f.values()) and (roots := _solve_two_terms(f)) is not None:
        return [root for root in roots if low <= root <= high]
    shift = min(f, key=lambda exponent: len(f[exponent]))
    derivative = derive({exponent - shift: p for exponent, p in f.items()})
    ends = [low, *[x for x in find_roots(derivative, low, high) if low < x < high], high]
    signs = [sign(evaluate_at(f, end)) for end in ends]
    roots = [ends[0]] if signs[0] == 0 else []
    for (start, end), (before, after) in zip(pairwise(ends), pairwise(signs), strict=True):
        if before * after < 0:
            roots.append(_root_between(f, start, end, after))
        if after == 0 and start < end:
            roots.append(end)
    return roots


def _solve_two_terms(f: Course) -> list[Real] | None:
    """Return the zeros of a e^(p t) + b e^(q t); ``None`` if -a/b is not a fraction times an exponential."""
    (p, (a,)), (q, (b,)) = f.items()
    if isinstance(b, Transcendental) and logarithm(abs(b)) is None:
        return None
    quotient = -a / b
    if quotient < 0:
        return []
    root = logarithm(quotient)
    return None if root is None else [root / (q - p)]


def _root_between(f: Course, low: Real, high: Real, sign_at_high: int) -> Real:
    """Return the only zero between two numbers, between which it is the only one."""
    for bits in count(4, 16):
        width = Fraction(1, 2**bits)
        start, end = enclose(low, width)[1], enclose(high, width)[0]
        if start < end and sign(evaluate_at(f, start)) == -sign_at_high and sign(evaluate_at(f, end)) == sign_at_high:
            break
    atom = Atom(partial(evaluate_at, f), start, end)
    candidate = atom.enclose(RATIONAL_BITS)[0].limit_denominator(SIMPLE_DENOMINATOR)
    if atom.low <= candidate <= atom.high and evaluate_at(f, candidate) == 0:
        return candidate
    atom.relate()
    return atom.number()
