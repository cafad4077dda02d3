"""The enclosures of linear systems contain the exact solutions."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plansafe.verifier.execution.continuous.enclosures import PRECISION, Enclosure, find_bounds
from plansafe.verifier.execution.continuous.linear_systems import (
    MAX_FLUENTS,
    Form,
    LinearSystem,
    LinearSystems,
    as_form,
    scale,
)
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import Number

X, Y = (0, 0), (1, 0)
SMALL = st.fractions(-2, 2, max_denominator=8)
TERMS = 80


def sum_series(
    rates: dict[tuple[int, int], Form], start: dict[tuple[int, int], Number], time: Fraction
) -> list[Fraction]:
    """Return the Taylor series of the fluents at a time, from the derivatives at 0."""
    degree = max([len(rate.polynomial) for rate in rates.values()])
    derivatives = {fluent: [Fraction(value)] for fluent, value in start.items()}
    for order in range(TERMS):
        for fluent, rate in rates.items():
            inhomogeneous = (
                rate.polynomial[order] * factorial(order) if order < degree and order < len(rate.polynomial) else 0
            )
            following = sum([weight * derivatives[read][order] for read, weight in rate.weights]) + inhomogeneous
            derivatives[fluent].append(Fraction(following))
    return [sum([d * time**k / factorial(k) for k, d in enumerate(of_fluent)]) for of_fluent in derivatives.values()]


@settings(max_examples=60, deadline=None)
@given(st.lists(SMALL, min_size=8, max_size=8), st.fractions(0, 3, max_denominator=16))
def test_enclosures_contain_the_taylor_series(numbers: list[Fraction], time: Fraction) -> None:
    """At these times the rest of the series is less than 1e-20."""
    a, b, c, d, e, f, x, y = numbers
    rates = {X: Form(((X, a), (Y, b)), (e,)), Y: Form(((X, c), (Y, d)), (f, e))}
    system = LinearSystem(rates, {X: x, Y: y})
    low, high = find_bounds(time)
    for value, exact in zip(
        system.find_values_at(low, high).values(), sum_series(rates, {X: x, Y: y}, time), strict=True
    ):
        assert value[1] - value[0] < 1 << (PRECISION - 100)
        assert Fraction(value[0], 1 << PRECISION) - Fraction(1, 10**20) <= exact
        assert exact <= Fraction(value[1], 1 << PRECISION) + Fraction(1, 10**20)


@settings(max_examples=60, deadline=None)
@given(st.lists(SMALL, min_size=6, max_size=6))
def test_roots_are_where_the_sign_changes(numbers: list[Fraction]) -> None:
    """Between two neighbouring roots, samples of a form have one sign."""
    a, b, c, d, x, y = numbers
    form = Form(((X, 1),), (Fraction(-1, 7),))
    systems = LinearSystems([LinearSystem({X: Form(((X, a), (Y, b))), Y: Form(((X, c), (Y, d)))}, {X: x, Y: y})])
    roots = sorted([Fraction(float(root)) for root in systems.find_roots(form, 0, 4)])
    tolerance = Fraction(1, 10**9)
    signs: dict[int, set[bool]] = {}
    for sample in range(1, 200):
        time = Fraction(sample, 50)
        if all([abs(time - root) > tolerance for root in roots]):
            interval = len([root for root in roots if root < time])
            signs.setdefault(interval, set()).add(systems.find_value_at(form, time) > 0)
    assert all([len(samples) == 1 for samples in signs.values()])
    assert all([signs[k] != signs[k + 1] for k in signs if k + 1 in signs])


def test_sums_of_the_same_number_are_exact() -> None:
    root = Enclosure(*find_bounds(Fraction(1, 3)))
    assert (root + 1) - root == 1
    assert 2 * root - root == root
    assert root + 1 > root
    assert hash(2 * root - root) == hash(root)


def test_different_courses_have_different_keys() -> None:
    """e^t and 1 + t + t^2 / 2 begin with the derivatives 1, 1, 1."""
    growth, decay = Form(((X, 1),)), Form(((Y, 1),))
    systems = LinearSystems([LinearSystem({X: growth}, {X: 1}), LinearSystem({Y: Form(((Y, -1),))}, {Y: 1})])
    assert systems.identify(growth) != systems.identify((1, 1, 1))
    assert systems.identify(growth) != systems.identify(decay)
    assert systems.find_polynomial(growth) is None


def test_roots_of_multiples_are_one_number() -> None:
    systems, start = (
        LinearSystems([LinearSystem({X: Form(((X, -1),))}, {X: 4})]),
        Enclosure(*find_bounds(Fraction(1, 3))),
    )
    for form in (Form(((X, 1),), (-2,)), Form(((X, 1),), (-start,)), Form((), (-start, 0, 1))):
        for factor in (1, -3):
            (root,) = systems.find_roots(as_form(scale(form, factor)), 0, 5)
            assert systems.find_roots(form, 0, 5) == [root] and systems.find_roots(form, 0, 5)[0] is root


def test_a_system_with_too_many_fluents_is_refused() -> None:
    rates = {(0, code): Form((((0, code + 1), 1),)) for code in range(MAX_FLUENTS + 1)}
    with pytest.raises(Undecided, match="more than 100 numbers depend on each other"):
        LinearSystem(rates, dict.fromkeys(rates, 1))


def test_texts_have_nine_digits_at_any_size() -> None:
    assert str(Enclosure(*find_bounds(Fraction(-1, 3)))) == "-0.333333333"
    assert str(Enclosure(*find_bounds(Fraction(10**400) + Fraction(2, 3)))) == f"1{'0' * 400}.666666667"
    assert str(Enclosure(-1, 1)) == "0.000000000"
