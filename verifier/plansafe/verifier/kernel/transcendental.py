"""Real numbers with exponentials: e^(3/2), logarithms, and roots of exponential polynomials.

A number is a sum of terms c a^n .. e^(q b + ..): its *atoms* a, b are numbers, and only enclosures of them are known.
Equal terms are collected. A sum of c e^r with rational exponents is then 0 only if it has no term
(Lindemann-Weierstrass). Other sums are compared by enclosures. If ``MAX_BITS`` do not separate one from 0, its sign is
not decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, count
from math import ceil
from typing import Any, NamedTuple

from .reader import KernelLimit, require
from .real_numbers import Algebraic, Interval, SymbolicReal, enclose, find_enclosure, sign

Real = Any
"""A ``Fraction``, an ``Algebraic`` of ``real_numbers.py``, or a ``Transcendental``."""
BITS = 32
"""Precision at first, and what each refinement adds."""
MAX_BITS = 1024
"""Maximum precision at which a number is compared with 0."""
MAX_REFINEMENT_LEVEL = 7
"""Maximum level of refinement: one step then uses a grid of at most ``2 ** 2 ** MAX_REFINEMENT_LEVEL`` cells."""
MAX_EXPONENT = 20_000
"""Maximum exponent of an exponential that is enclosed."""
MAX_TERMS = 500
"""Maximum number of terms of a number."""
MAX_DIVISIONS = 50
"""Maximum number of multiples of relations that are subtracted to show that a number is 0."""
MAX_TRIAL_DIVISOR = 1000
"""Divisors below it are split off from the argument of a logarithm."""
_order = count()


class Atom:
    """The only zero of a function between two fractions, at which the function has different signs.

    ``relation``: the value of the function here, as a sum of terms that equals 0. ``base``: the value of e^atom if it
    is a fraction or algebraic. ``twin``: the same number, found before. ``depth``: the length of the chain of zeros
    from which the number follows.
    """

    def __init__(self, function: Callable[[Real], Real], low: Fraction, high: Fraction) -> None:
        self.order = next(_order)
        self.function = function
        self.low, self.high = self._initial_low, self._initial_high = low, high
        self._values = function(low), function(high)
        self._sign_at_high = sign(self._values[1])
        self._level = 0
        self.relation: Transcendental | None = None
        self.base: Real = None
        self.twin: Atom | None = None
        self.depth = 0

    def enclose(self, bits: int) -> Interval:
        """Return an interval of width 2^-bits or less."""
        while (width_ratio := (self.high - self.low) * 2**bits) > 1:
            self._refine(2 ** min(2**self._level, ceil(width_ratio).bit_length()))
        return self.low, self.high

    def _refine(self, cells: int) -> None:
        """Halve the interval, or take the cell of a grid that the secant hits; after a hit the next grid is finer.

        Source: Abbott, Quadratic interval refinement for real roots, 2014.
        """
        width = (self.high - self.low) / cells
        below, above = (sum(find_enclosure(value)) for value in self._values)
        hit_cell = cells * below // (below - above) if below != above else 0
        for cell in range(cells) if cells == 2 else [min(max(hit_cell, 0), cells - 1)]:
            low = self.low + cell * width
            values = self.function(low), self.function(low + width)
            for value in values:
                if isinstance(value, Transcendental):
                    value.bits = max(BITS, ceil(1 / width).bit_length() + BITS // 2)
            if sign(values[0]) != self._sign_at_high and sign(values[1]) != -self._sign_at_high:
                self.low, self.high, self._values = low, low + width, values
                self._level = min(self._level + 1, MAX_REFINEMENT_LEVEL)
                return
        self._level = max(self._level - 1, 0)

    def number(self) -> Real:
        """Return the number."""
        return make_sum({Monomial(frozenset({(self, 1)}), frozenset()): Fraction(1)})

    def is_same_as(self, other: Atom) -> bool:
        """Whether the terms show that another atom is the zero of the function."""
        if max(self.low, other.low) > min(self.high, other.high):
            return False
        if not self._initial_low <= other.low <= other.high <= self._initial_high:
            return False
        return is_multiple_of_relations(self.function(other.number()))


ONE_ATOM = Atom(lambda x: x - 1, Fraction(1), Fraction(1))
"""The number 1, in exponents."""


class Monomial(NamedTuple):
    """A product of powers of atoms, and of e^exponent; the exponent is a sum of multiples of atoms."""

    powers: frozenset[tuple[Atom, int]]
    exponent: frozenset[tuple[Atom, Fraction]]

    def atoms(self) -> set[Atom]:
        """Return the atoms."""
        return {atom for atom, _ in self.powers} | {atom for atom, _ in self.exponent}

    def find_equal_atom(self) -> Atom | None:
        """Return the atom that equals the product, if there is one."""
        match [*self.powers]:
            case [] if not self.exponent:
                return ONE_ATOM
            case [(atom, 1)] if not self.exponent:
                return atom
        return None


EMPTY_PRODUCT = Monomial(frozenset(), frozenset())


def _add_multiples(first: Iterable[tuple[Atom, Any]], second: Iterable[tuple[Atom, Any]]) -> frozenset[Any]:
    """Add sums of multiples of atoms. An atom's twin takes its place."""
    total = dict[Atom, Any]()
    for atom, factor in (*first, *second):
        while atom.twin is not None:
            atom = atom.twin
        total[atom] = total.get(atom, 0) + factor
    return frozenset((atom, factor) for atom, factor in total.items() if factor)


def _multiply_monomials(m: Monomial, n: Monomial) -> Monomial:
    return Monomial(_add_multiples(m.powers, n.powers), _add_multiples(m.exponent, n.exponent))


def make_sum(terms: dict[Monomial, Real]) -> Real:
    """Return the sum of terms."""
    total = dict[Monomial, Real]()
    for monomial, c in terms.items():
        key, factor = _extract_base_powers(monomial)
        total[key] = total.get(key, Fraction(0)) + c * factor
    total = {monomial: c for monomial, c in total.items() if c != 0}
    require(len(total) <= MAX_TERMS, "a number with too many terms", KernelLimit)
    return Transcendental(total) if total.keys() - {EMPTY_PRODUCT} else total.get(EMPTY_PRODUCT, Fraction(0))


def _extract_base_powers(monomial: Monomial) -> tuple[Monomial, Real]:
    """Move the whole powers of bases out of the exponent."""
    factor: Real = Fraction(1)
    if all(atom.base is None and atom.twin is None for atom in monomial.atoms()):
        return monomial, factor
    exponent = dict(_add_multiples(monomial.exponent, ()))
    for atom, multiple in exponent.items():
        if atom.base is not None:
            factor = factor * atom.base ** (multiple // 1)
            exponent[atom] = multiple % 1
    return Monomial(_add_multiples(monomial.powers, ()), _add_multiples(exponent.items(), ())), factor


def _list_terms(number: Real) -> dict[Monomial, Real]:
    return number.terms if isinstance(number, Transcendental) else {EMPTY_PRODUCT: number}


class Transcendental(SymbolicReal):
    """A sum of terms, not equal to a ``Fraction`` or ``Algebraic``. ``make_sum`` makes such numbers."""

    zero_test_delay = 4

    def __init__(self, terms: dict[Monomial, Real]) -> None:
        self.terms = terms
        self.bits = BITS

    def __add__(self, other: Any) -> Real:
        terms = dict(self.terms)
        for monomial, c in _list_terms(other).items():
            terms[monomial] = terms.get(monomial, Fraction(0)) + c
        return make_sum(terms)

    def __mul__(self, other: Any) -> Real:
        terms = dict[Monomial, Real]()
        for m, c in self.terms.items():
            for n, d in _list_terms(other).items():
                product = _multiply_monomials(m, n)
                terms[product] = terms.get(product, Fraction(0)) + c * d
        return make_sum(terms)

    def invert(self) -> Real:
        """Return 1 divided by the number. Raises ``KernelLimit`` if it has several terms."""
        ((monomial, c), *more) = self.terms.items()
        require(not more and not monomial.powers, "a division by a sum of exponentials", KernelLimit)
        return make_sum({Monomial(EMPTY_PRODUCT.powers, frozenset((a, -q) for a, q in monomial.exponent)): 1 / c})

    def find_enclosure(self) -> Interval:
        """Return the sum of the enclosures of the terms."""
        low = high = Fraction(0)
        for monomial, c in self.terms.items():
            least, greatest = self._enclose_term(monomial, c)
            low, high = low + least, high + greatest
        return low, high

    def _enclose_term(self, monomial: Monomial, c: Real) -> Interval:
        """Return an interval that contains a term, from enclosures of its atoms."""
        term = enclose(c, Fraction(1, 2**self.bits))
        for atom, power in monomial.powers:
            for _ in range(power):
                term = _multiply_intervals(term, atom.enclose(self.bits))
        least = greatest = Fraction(0)
        for atom, multiple in monomial.exponent:
            ends = [multiple * end for end in atom.enclose(self.bits)]
            least, greatest = least + min(ends), greatest + max(ends)
        exponential_bounds = enclose_exponential(least, self.bits)[0], enclose_exponential(greatest, self.bits)[1]
        return _multiply_intervals(term, exponential_bounds)

    def refine(self) -> None:
        """Take more bits. Raises ``KernelLimit`` at the limit."""
        require(self.bits < MAX_BITS, "numbers too close to be compared", KernelLimit)
        self.bits += BITS

    def is_zero(self) -> bool:
        """Whether the terms show that the number is 0, after equal atoms have been found."""
        for second, first in combinations(collect_atoms(self), 2):
            if second.twin is None and (second.is_same_as(first) or first.is_same_as(second)):
                second.twin = first
        return is_multiple_of_relations(make_sum(self.terms))


def collect_atoms(number: Transcendental) -> list[Atom]:
    """Return the atoms of a number, the latest first."""
    atoms = {atom for monomial in number.terms for atom in monomial.atoms()}
    return sorted(atoms, key=lambda atom: -atom.order)


def simplify(number: Real) -> Real:
    """Subtract multiples of relations if fewer terms are left: a number that reaches a bound becomes the bound."""
    for atom in collect_atoms(number) if isinstance(number, Transcendental) else ():
        if atom.relation is not None and isinstance(number, Transcendental):
            monomial, c = next(iter(atom.relation.terms.items()))
            shorter = number - atom.relation * (number.terms.get(monomial, Fraction(0)) / c)
            number = shorter if len(_list_terms(shorter)) < len(number.terms) else number
    return number


def is_multiple_of_relations(number: Real) -> bool:
    """Whether 0 is left when multiples of relations are subtracted, so that the highest terms cancel."""
    for _ in range(MAX_DIVISIONS):
        if not isinstance(number, Transcendental):
            break
        relations = [atom.relation for atom in collect_atoms(number) if atom.relation is not None]
        remainders = (_subtract_multiple(number, relation) for relation in relations)
        number = next((remainder for remainder in remainders if remainder is not None), None)
    return isinstance(number, Fraction) and number == 0


def _subtract_multiple(number: Transcendental, relation: Transcendental) -> Real:
    """Subtract the multiple of a relation with the same highest term; ``None`` if there is none."""
    atoms = sorted({*collect_atoms(number), *collect_atoms(relation)}, key=lambda atom: -atom.order)

    def rank(monomial: Monomial) -> list[tuple[Fraction, int]]:
        exponent, powers = dict(monomial.exponent), dict(monomial.powers)
        return [(exponent.get(atom, Fraction(0)), powers.get(atom, 0)) for atom in atoms]

    highest_term, divisor = max(number.terms, key=rank), max(relation.terms, key=rank)
    inverse = [frozenset((atom, -n) for atom, n in part) for part in divisor]
    quotient = Monomial(
        _add_multiples(highest_term.powers, inverse[0]), _add_multiples(highest_term.exponent, inverse[1])
    )
    if any(power < 0 for _, power in quotient.powers):
        return None
    return number - make_sum({quotient: number.terms[highest_term] / relation.terms[divisor]}) * relation


def _multiply_intervals(left: Interval, right: Interval) -> Interval:
    products = [x * y for x in left for y in right]
    return min(products), max(products)


@lru_cache(maxsize=10_000)
def enclose_exponential(x: Fraction, bits: int) -> Interval:
    """Return numbers below and above e^x, whose quotient differs from 1 by less than 2^-bits.

    The Taylor series at x / 2^halvings, in multiples of 2^-precision, squared as often. Each term has an error below 4
    units: it is rounded twice, and the error of the term before is halved. The rounding of x adds less than 2 units,
    and the remaining terms less than 8.
    """
    if x < 0:
        least, greatest = enclose_exponential(-x, bits + 4)
        scale = 2 ** (ceil(greatest).bit_length() + bits + 4)
        return Fraction(scale // greatest, scale), Fraction(ceil(scale / least), scale)
    require(x <= MAX_EXPONENT, "an exponential of a number too large", KernelLimit)
    halving_count = (2 * x.numerator // x.denominator).bit_length()
    precision = bits + 2 * halving_count + 24
    argument = (x.numerator << precision) // (x.denominator << halving_count)
    term = 1 << precision
    total = n = 0
    while term:
        total += term
        n += 1
        term = (term * argument >> precision) // n
    low, high = total, total + 4 * n + 10
    for _ in range(halving_count):
        low, high = low * low >> precision, (high * high >> precision) + 1
    return Fraction(low, 1 << precision), Fraction(high, 1 << precision)


# Exponentials and logarithms of numbers


def make_exponential(factor: Fraction, time: Real, start: Real) -> Real:
    """Return e^(factor (time - start))."""
    difference = [*_convert_to_exponent(time), *((atom, -multiple) for atom, multiple in _convert_to_exponent(start))]
    return make_sum(
        {Monomial(EMPTY_PRODUCT.powers, _add_multiples(((a, factor * q) for a, q in difference), ())): Fraction(1)}
    )


def _convert_to_exponent(x: Real) -> frozenset[tuple[Atom, Fraction]]:
    """Return a number as a sum of multiples of atoms; any other number becomes an atom."""
    multiples = list[tuple[Atom | None, Real]]()
    for monomial, c in _list_terms(x).items():
        if monomial == EMPTY_PRODUCT and isinstance(c, Algebraic):
            multiples += _express_in_powers(c)
        else:
            multiples.append((monomial.find_equal_atom(), c))
    exponent = [(atom, c) for atom, c in multiples if atom is not None and isinstance(c, Fraction)]
    if len(exponent) == len(multiples):
        return _add_multiples(exponent, ())
    if x.atom is None:
        x.atom = _make_atom(x)
    return frozenset({(x.atom, Fraction(1))})


def _express_in_powers(x: Algebraic) -> list[tuple[Atom, Real]]:
    """Return an algebraic number as a sum of multiples of atoms, the powers of its generator."""
    multiples = [(ONE_ATOM, x.coefficients[0])]
    for power, c in enumerate(x.coefficients[1:], 1):
        if power not in x.generator.atoms:
            power_of_generator = Algebraic(x.generator, (*[Fraction(0)] * power, Fraction(1)))
            x.generator.atoms[power] = _make_atom(power_of_generator)
        multiples.append((x.generator.atoms[power], c))
    return multiples


def _make_atom(x: Real) -> Atom:
    low, high = find_enclosure(x)
    return Atom(lambda y: y - x, low - 1, high + 1)


def _make_logarithm_atom(base: Real) -> Atom:
    """Return the logarithm of a positive number as an atom."""
    bound = Fraction(ceil(max(find_enclosure(base)[1], find_enclosure(1 / base)[1])).bit_length())
    atom = Atom(lambda x: make_exponential(Fraction(1), x, Fraction(0)) - base, -bound, bound)
    atom.base = base
    return atom


_make_logarithm_of_integer = cache(lambda base: _make_logarithm_atom(Fraction(base)))


def make_logarithm(number: Real) -> Real:
    """Return the logarithm of a positive number: a fraction times an exponential, or an algebraic number."""
    if isinstance(number, Algebraic):
        return _make_logarithm_atom(number).number()
    ((monomial, c),) = _list_terms(number).items()
    multiples = list[tuple[Atom, Fraction]](monomial.exponent)
    for value, factor in ((c.numerator, 1), (c.denominator, -1)):
        for divisor in range(2, MAX_TRIAL_DIVISOR):
            while value % divisor == 0 and value > 1:
                multiples.append((_make_logarithm_of_integer(divisor), Fraction(factor)))
                value //= divisor
        if value > 1:
            multiples.append((_make_logarithm_of_integer(value), Fraction(factor)))
    return make_sum(
        {
            EMPTY_PRODUCT if atom is ONE_ATOM else Monomial(frozenset({(atom, 1)}), EMPTY_PRODUCT.exponent): multiple
            for atom, multiple in _add_multiples(multiples, ())
        }
    )


def is_fraction_times_exponential(number: Real) -> bool:
    """Whether the number is a fraction times e^(a sum of multiples of atoms)."""
    ((monomial, c), *more) = _list_terms(number).items()
    return not more and not monomial.powers and isinstance(c, Fraction)
