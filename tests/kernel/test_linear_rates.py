"""Rates that read the numbers that they change, in the replay kernel: known solutions, thresholds, undecided cases."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp, log, sqrt

import pytest

from plansafe.verifier.kernel import Kernel
from plansafe.verifier.kernel.kernel import KernelVerdict
from plansafe.verifier.kernel.reader import KernelLimit
from plansafe.verifier.kernel.trace import Trace, find_value

COOL = "(:process cool :effect (decrease (x) (* #t (* 1/10 (- (x) 20)))))".replace("1/10", "0.1")
HOT = "(= (x) 100) (= (y) 0)"


def kernel_of(body: str, init: str, goal: str = "()", rules: str = "") -> Kernel:
    """Return the kernel for a domain with the fluents x, y, z and the facts p, q."""
    domain = f"""(define (domain d) (:predicates (p) (q)) (:functions (x) (y) (z))
      (:action go :effect ()) (:action set-p :effect (p)) (:action reset :effect (assign (x) 100)) {body})"""
    problem = f"(define (problem one) (:domain d) (:init {init}) (:goal {goal}))"
    return Kernel(domain, problem, [f"(define (safety s) {rules})"] if rules else [])


def trace_of(body: str, plan: str, init: str) -> Trace:
    """Return the trace of a plan."""
    return kernel_of(body, init).trace(plan)


def run(body: str, plan: str, init: str, rules: str) -> KernelVerdict:
    """Audit a plan."""
    return kernel_of(body, init, rules=rules).audit(plan)


def reaches(body: str, time: str, goal: str, init: str) -> bool:
    """Whether a goal holds at a time."""
    return kernel_of(body, init, goal).audit(f"{time}: (go)").goal


def numbers(trace: Trace, fluent: str) -> list[tuple[float, float]]:
    """Return the times and values of a fluent at the moments."""
    signal = trace.read_number(("#", fluent))
    return [(float(time), float(find_value(signal, i))) for i, (time, after) in enumerate(trace.starts) if not after]


def samples(body: str, init: str, fluent: str, end: int) -> list[tuple[float, float]]:
    """Return the values of a fluent at the times 0, 1/2, 1, .. of a plan of actions without effect."""
    plan = "".join(f"{time / 2}: (go)\n" for time in range(1, 2 * end + 1))
    return numbers(trace_of(body, plan, init), fluent)


def integrate(rates: Callable[[list[float]], list[float]], values: list[float], time: float) -> list[float]:
    """Solve a differential equation by the method of Runge and Kutta."""
    n = max(1, round(200 * time))
    h = time / n
    for _ in range(n):
        slopes = [rates(values)]
        for part in (h / 2, h / 2, h):
            slopes.append(rates([x + part * slope for x, slope in zip(values, slopes[-1], strict=True)]))
        values = [x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip(values, *slopes, strict=True)]
    return values


def test_cooling() -> None:
    for time, value in samples(COOL, HOT, "x", 5):
        assert value == pytest.approx(20 + 80 * exp(-time / 10))


@pytest.mark.parametrize(
    ("time", "bound", "reached"),
    [("6.931", "60", False), ("6.932", "60", True), ("1000", "20", False), ("9", "100", True)],
)
def test_cooling_to_a_threshold(time: str, bound: str, reached: bool) -> None:
    event = f"(:event cold :precondition (<= (x) {bound}) :effect (p))"
    assert reaches(COOL + event, time, "(p)", HOT) == reached


def test_a_bound_that_is_approached_is_never_reached() -> None:
    rules = "(:trajectory warm :formula (always (> (x) 20)))"
    assert not run(COOL, "5000: (go)", HOT, rules=rules).findings
    assert run(COOL, "30: (go)", HOT, rules=rules.replace("20)", "24)")).findings


def test_the_value_at_a_threshold_is_the_threshold() -> None:
    event = "(:event cold :precondition (and (<= (x) 60) (not (p))) :effect (and (p) (assign (y) (x))))"
    assert reaches(COOL + event, "8", "(= (y) 60)", HOT)


def test_a_process_and_an_event_with_the_same_bound() -> None:
    body = """(:process warm :precondition (< (x) 80) :effect (increase (x) (* #t (* 0.2 (- 100 (x))))))
      (:event hot :precondition (and (>= (x) 80) (not (p))) :effect (p))"""
    assert reaches(body, "20", "(and (p) (= (x) 80))", "(= (x) 20)")
    assert reaches(body.replace("(>= (x) 80)", "(>= (* 2 (x)) 160)"), "20", "(and (p) (= (x) 80))", "(= (x) 20)")


THERMOSTAT = """(:process cool :effect (decrease (x) (* #t (* 0.1 (- (x) 10)))))
  (:process heat :precondition (p) :effect (increase (x) (* #t 3)))
  (:event on :precondition (and (<= (x) 19) (not (p))) :effect (and (p) (increase (y) 1)))
  (:event off :precondition (and (>= (x) 21) (p)) :effect (not (p)))"""


def test_a_thermostat() -> None:
    """The room cools towards 10 and heats towards 40."""
    first_on = 10 * log(15 / 9)
    heating, cooling = 10 * log(21 / 19), 10 * log(11 / 9)
    trace = trace_of(THERMOSTAT, "30: (go)", "(= (x) 25) (= (y) 0)")
    times = dict.fromkeys(time for time, value in numbers(trace, "x") if value == 19)
    assert [*times] == pytest.approx([first_on + i * (heating + cooling) for i in range(9)])
    assert {
        find_value(trace.read_number(("#", "x")), i)
        for i, (t, after) in enumerate(trace.starts)
        if 0 < t < 30 and not after
    } == {19, 21}
    rules = "(:trajectory range :formula (hold-after 4 (and (>= (x) 19) (<= (x) 21))))"
    assert not run(THERMOSTAT, "30: (go)", "(= (x) 25) (= (y) 0)", rules=rules).findings
    rules = "(:trajectory range :formula (hold-after 4 (and (>= (x) 19) (< (x) 21))))"
    assert run(THERMOSTAT, "30: (go)", "(= (x) 25) (= (y) 0)", rules=rules).findings


def test_two_thermostats_switch_at_one_moment() -> None:
    second_thermostat = (
        THERMOSTAT.replace("(x)", "(z)")
        .replace("(p)", "(q)")
        .replace("event o", "event z-o")
        .replace("process ", "process z-")
    )
    body = THERMOSTAT + second_thermostat.replace("19", "38").replace("21", "42").replace("10)", "20)").replace(
        "#t 3", "#t 6"
    )
    trace = trace_of(body, "12: (go)", "(= (x) 25) (= (z) 50) (= (y) 0)")
    assert [2 * value for _, value in numbers(trace, "x")] == [value for _, value in numbers(trace, "z")]
    assert [fact for facts in trace.states() for fact in (("p",), ("q",)) if fact in facts] != []
    assert all((("p",) in facts) == (("q",) in facts) for facts in trace.states())


SYSTEMS = {
    "triangular": ("(* -0.2 (x))", "(- (* 0.2 (x)) (* 0.5 (y)))", lambda v: [-0.2 * v[0], 0.2 * v[0] - 0.5 * v[1]]),
    "repeated eigenvalue": ("(* -0.2 (x))", "(* 0.2 (- (x) (y)))", lambda v: [-0.2 * v[0], 0.2 * (v[0] - v[1])]),
    "mixing tanks": (
        "(* 0.3 (- (y) (x)))",
        "(* 0.1 (- (x) (y)))",
        lambda v: [0.3 * (v[1] - v[0]), 0.1 * (v[0] - v[1])],
    ),
    "an inflow": (
        "(+ 1 (* 0.3 (- (y) (x))))",
        "(- (* 0.2 (x)) (* 0.4 (y)))",
        lambda v: [1 + 0.3 * (v[1] - v[0]), 0.2 * v[0] - 0.4 * v[1]],
    ),
    "growth": ("(* 0.5 (y))", "(* 0.5 (x))", lambda v: [v[1] / 2, v[0] / 2]),
    "a nilpotent matrix": ("(- (x) (y))", "(- (x) (y))", lambda v: [v[0] - v[1], v[0] - v[1]]),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems(name: str) -> None:
    x, y, rates = SYSTEMS[name]
    body = f"(:process mix :effect (and (increase (x) (* #t {x})) (increase (y) (* #t {y}))))"
    xs, ys = (samples(body, "(= (x) 10) (= (y) 2)", fluent, 3) for fluent in "xy")
    for (time, x), (_, y) in zip(xs, ys, strict=True):
        assert [x, y] == pytest.approx(integrate(rates, [10.0, 2.0], time), abs=1e-8)


def test_three_numbers_in_a_cycle() -> None:
    """The matrix has the eigenvalues 0, -3 and -3."""
    ring = """(:process a :effect (and (increase (x) (* #t (- (+ (y) (z)) (* 2 (x)))))
      (increase (y) (* #t (- (+ (x) (z)) (* 2 (y))))) (increase (z) (* #t (- (+ (x) (y)) (* 2 (z)))))))"""
    trace = trace_of(ring, "1: (go)", "(= (x) 6) (= (y) 3) (= (z) 0)")
    assert numbers(trace, "x")[-1][1] == pytest.approx(3 + 3 * exp(-3))
    assert find_value(trace.read_number(("#", "y")), trace.last) == 3


def test_a_happening_at_a_rational_time_between() -> None:
    event = "(:event cold :precondition (and (<= (x) 50) (not (q))) :effect (q))"
    trace = trace_of(COOL + event, "5: (reset)\n30: (go)", "(= (x) 60)")
    times = [time for time, value in numbers(trace, "x") if value == 50]
    assert times[0] == pytest.approx(10 * log(40 / 30)) and trace.states()[-1] == frozenset({("q",)})
    trace = trace_of(COOL + event, "5: (go)\n30: (go)", "(= (x) 80)")
    assert next(time for time, value in numbers(trace, "x") if value == 50) == pytest.approx(10 * log(2))


def test_a_phase_that_begins_at_a_moment_without_closed_form() -> None:
    """The level is at 3 when 2 e^(-t/2) + t is 3; from there it runs out."""
    body = """(:process fall :effect (decrease (y) (* #t (* 0.5 (y))))) (:process clock :effect (increase (z) (* #t 1)))
      (:event full :precondition (and (>= (+ (y) (z)) 3) (not (p))) :effect (and (p) (assign (x) (+ (y) (z)))))
      (:process empty :precondition (p) :effect (decrease (x) (* #t (x))))
      (:event half :precondition (and (<= (x) 1.5) (p) (not (q))) :effect (q))"""
    trace = trace_of(body, "9: (go)", "(= (x) 9) (= (y) 2) (= (z) 0)")
    times = [time for time, after in trace.starts if not after]
    start = next(float(time) for time, value in zip(trace.times, trace.states(), strict=True) if ("p",) in value)
    assert 2 * exp(-start / 2) + start == pytest.approx(3)
    assert any(float(time) == pytest.approx(start + log(2)) for time in times)
    assert find_value(trace.read_number(("#", "x")), trace.states().index(frozenset({("p",)}))) == 3
    assert find_value(trace.read_number(("#", "x")), trace.states().index(frozenset({("p",), ("q",)}))) == Fraction(
        3, 2
    )


def test_cooling_from_an_irrational_moment() -> None:
    body = """(:process fall :effect (increase (y) (* #t (z)))) (:process clock :effect (increase (z) (* #t 1)))
      (:event low :precondition (and (>= (y) 1) (not (p))) :effect (p))
      (:process cool :precondition (p) :effect (decrease (x) (* #t (x))))
      (:event half :precondition (and (<= (x) 50) (not (q))) :effect (q))"""
    trace = trace_of(body, "4: (go)", "(= (x) 100) (= (y) 0) (= (z) 0)")
    assert next(time for time, value in numbers(trace, "x") if value == 50) == pytest.approx(sqrt(2) + log(2))


# x = 4 e^(-2t) - 4 e^-t falls to -1 at the logarithm of 2, and rises again
DIP = """(:process dip :effect (and (decrease (y) (* #t (y))) (increase (x) (* #t (- (* 4 (y)) (* 8 (z)))))
  (decrease (z) (* #t (* 2 (z))))))"""


@pytest.mark.parametrize(("condition", "holds"), [("(<= (x) -1)", True), ("(< (x) -1)", False), ("(= (x) -1)", True)])
def test_a_touched_bound(condition: str, holds: bool) -> None:
    trace = trace_of(
        f"{DIP} (:event touch :precondition {condition} :effect (p))", "3: (go)", "(= (x) 0) (= (y) 1) (= (z) 1)"
    )
    assert (("p",) in trace.states()[-1]) == holds
    if holds:
        assert min(numbers(trace, "x"), key=lambda moment: moment[1]) == pytest.approx((log(2), -1))


def test_a_bound_next_to_the_minimum() -> None:
    event = "(:event touch :precondition (<= (x) -0.{}) :effect (p))"
    assert ("p",) in trace_of(DIP + event.format("9" * 20), "3: (go)", "(= (x) 0) (= (y) 1) (= (z) 1)").states()[-1]


def test_a_rational_moment_of_a_product() -> None:
    """(clock - 3) (heat - 60) is 0 at time 3, and when the heat is 60."""
    body = (
        COOL
        + """(:process clock :effect (increase (y) (* #t 1)))
      (:event zero :precondition (and (>= (* (- (y) 3) (- (x) 60)) 0) (not (p))) :effect (p))"""
    )
    assert reaches(body, "3", "(p)", HOT) and not reaches(body, "2.99", "(p)", HOT)


def test_numbers_that_only_one_rate_reads_stay_polynomials() -> None:
    body = COOL + "(:process clock :effect (increase (y) (* #t (z)))) (:process go-on :effect (increase (z) (* #t 1)))"
    trace = trace_of(body, "4: (go)", "(= (x) 100) (= (y) 0) (= (z) 0)")
    assert find_value(trace.read_number(("#", "y")), trace.last) == 8


@pytest.mark.parametrize(
    ("effects", "message"),
    [
        ("(increase (x) (* #t (y))) (decrease (y) (* #t (x)))", "not rational"),
        ("(increase (x) (* #t (y))) (increase (y) (* #t (* 2 (x))))", "not rational"),
        ("(increase (x) (* #t (* (x) (x))))", "not linearly"),
        ("(increase (x) (* #t (* (x) (y)))) (increase (y) (* #t 1))", "not rational constants"),
        ("(increase (x) (* #t (/ 1 (x))))", "not linearly"),
    ],
)
def test_undecided_rates(effects: str, message: str) -> None:
    with pytest.raises(KernelLimit, match=message):
        reaches(f"(:process p :effect (and {effects}))", "2", "()", "(= (x) 1) (= (y) 1)")


def test_equal_numbers_with_different_terms() -> None:
    """At the moment at which x + z is 3, and at every other moment, x^2 and y are equal."""
    body = """(:process fall :effect (and (decrease (x) (* #t (* 0.5 (x)))) (decrease (y) (* #t (y)))))
      (:process clock :effect (increase (z) (* #t 1)))
      (:event full :precondition (and (>= (+ (x) (z)) 3) (not (p))) :effect (and (p) (decrease (y) (* (x) (x)))))
      (:event equal :precondition (and (p) (= (y) 0)) :effect (q))"""
    assert ("q",) in trace_of(body, "5: (go)", "(= (x) 2) (= (y) 4) (= (z) 0)").states()[-1]


def test_a_chain_of_moments_without_closed_form() -> None:
    """Each interval between two events depends on the time before it."""
    body = """(:process rise :effect (and (increase (x) (* #t (- (y) (x)))) (increase (y) (* #t 1))))
      (:event full :precondition (>= (x) 4) :effect (and (assign (x) 1) (increase (z) 1)))"""
    trace = trace_of(body, "12: (go)", "(= (x) 1) (= (y) 0) (= (z) 0)")
    time, value, events = 0.0, 1.0, 0
    while time < 12:
        if value >= 4:
            value, events = 1.0, events + 1
        value, time = integrate(lambda v: [v[1] - v[0], 1.0], [value, time], 1e-3)
    assert find_value(trace.read_number(("#", "z")), trace.last) == events
    with pytest.raises(KernelLimit, match="too many earlier"):
        trace_of(body, "20: (go)", "(= (x) 1) (= (y) 0) (= (z) 0)")
