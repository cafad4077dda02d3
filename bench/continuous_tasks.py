"""Tasks with continuous change, with plans and their mutants: homes, and the kinds of public PDDL+ domains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from typing import NamedTuple


class TimedStep(NamedTuple):
    """A step of a plan, with its time and duration."""

    time: Fraction
    step: str
    duration: Fraction | None = None


class HybridTask(NamedTuple):
    """A task with a plan that solves it."""

    family: str
    number: int
    domain: str
    problem: str
    plan: tuple[TimedStep, ...]


def write_plan(plan: tuple[TimedStep, ...]) -> str:
    """Return the text of a plan."""
    lines = []
    for time, step, duration in sorted(plan, key=lambda timed: timed.time):
        lines.append(f"{decimal(time)}: ({step})" + (f" [{decimal(duration)}]" if duration is not None else ""))
    return "".join(line + "\n" for line in lines)


def decimal(value: Fraction) -> str:
    """Return a fraction as text with at most six decimals; the value must have no more."""
    scaled = value * 10**6
    if scaled.denominator != 1:
        raise ValueError(f"{value} has more than six decimals")
    integer, millionths = divmod(int(scaled), 10**6)
    return f"{integer}.{millionths:06d}".rstrip("0").rstrip(".")


TUB = """(define (domain tub)
  (:requirements :typing :fluents :time :negative-preconditions)
  (:types tub)
  (:predicates (running ?t - tub) (open ?t - tub) (spilled ?t - tub))
  (:functions (level ?t - tub) (rim ?t - tub) (inflow ?t - tub) (outflow ?t - tub))
  (:process filling :parameters (?t - tub) :precondition (running ?t) :effect (increase (level ?t) (* #t (inflow ?t))))
  (:process draining :parameters (?t - tub) :precondition (and (open ?t) (> (level ?t) 0))
    :effect (decrease (level ?t) (* #t (outflow ?t))))
  (:event spilling :parameters (?t - tub) :precondition (and (not (spilled ?t)) (> (level ?t) (rim ?t)))
    :effect (spilled ?t))
  (:action turn-on :parameters (?t - tub) :precondition (not (running ?t)) :effect (running ?t))
  (:action turn-off :parameters (?t - tub) :precondition (running ?t) :effect (not (running ?t)))
  (:action pull-plug :parameters (?t - tub) :precondition (not (open ?t)) :effect (open ?t))
  (:action plug :parameters (?t - tub) :precondition (open ?t) :effect (not (open ?t))))
"""


def make_tub(random: Random, number: int) -> HybridTask:
    """Return a bathtub that is filled up to the rim or less; the drain is open for a while."""
    inflow, outflow = random.randint(2, 6), random.randint(1, 5)
    fill, drain = Fraction(random.randint(4, 20), 2), Fraction(random.randint(1, 6), 2)
    level = inflow * fill
    drain = min(drain, Fraction(int(level * 2 / outflow), 4) or Fraction(1, 8))
    lowest_level = level - drain * outflow
    rim = level + random.choice((0, 0, Fraction(1, 2), 3))
    problem = f"""(define (problem tub-{number}) (:domain tub) (:objects bath - tub)
  (:init (= (level bath) 0) (= (rim bath) {decimal(rim)}) (= (inflow bath) {inflow}) (= (outflow bath) {outflow}))
  (:goal (and (not (spilled bath)) (not (running bath)) (>= (level bath) {decimal(lowest_level)}))))
"""
    start = Fraction(random.randint(0, 4), 4)
    plan = (
        TimedStep(start, "turn-on bath"),
        TimedStep(start + fill, "turn-off bath"),
        TimedStep(start + fill + 1, "pull-plug bath"),
        TimedStep(start + fill + 1 + drain, "plug bath"),
    )
    return HybridTask("tub", number, TUB, problem, plan)


KETTLE = """(define (domain kettle)
  (:requirements :typing :fluents :time :negative-preconditions)
  (:types kettle)
  (:predicates (on ?k - kettle) (boiled ?k - kettle) (dry ?k - kettle))
  (:functions (temperature ?k - kettle) (heating ?k - kettle) (cooling ?k - kettle) (room) (water ?k - kettle))
  (:process heats :parameters (?k - kettle) :precondition (and (on ?k) (< (temperature ?k) 100))
    :effect (increase (temperature ?k) (* #t (heating ?k))))
  (:process evaporates :parameters (?k - kettle) :precondition (and (on ?k) (>= (temperature ?k) 100))
    :effect (decrease (water ?k) (* #t 0.5)))
  (:process cools :parameters (?k - kettle) :precondition (and (not (on ?k)) (> (temperature ?k) (room)))
    :effect (decrease (temperature ?k) (* #t (cooling ?k))))
  (:event boils :parameters (?k - kettle) :precondition (and (not (boiled ?k)) (>= (temperature ?k) 100))
    :effect (boiled ?k))
  (:event boils-dry :parameters (?k - kettle) :precondition (and (not (dry ?k)) (<= (water ?k) 0)) :effect (dry ?k))
  (:action switch-on :parameters (?k - kettle) :precondition (not (on ?k)) :effect (on ?k))
  (:action switch-off :parameters (?k - kettle) :precondition (on ?k) :effect (not (on ?k)))
  (:action pour :parameters (?k - kettle) :precondition (and (boiled ?k) (>= (temperature ?k) 90) (> (water ?k) 0))
    :effect (assign (water ?k) 0.25)))
"""


def make_kettle(random: Random, number: int) -> HybridTask:
    """Return a kettle that boils, is switched off, and is poured while the water is hot."""
    heating, cooling, room = random.choice((8, 10, 16, 20, 5)), random.choice((1, 2, 4)), random.choice((20, 18, 15))
    boil = Fraction(100 - room, heating)
    boil = Fraction(-(-boil * 1000 // 1), 1000)
    wait = Fraction(random.randint(0, 4), 4)
    late = Fraction(random.choice((10, 10, 5, 8)), cooling)
    problem = f"""(define (problem kettle-{number}) (:domain kettle) (:objects k - kettle)
  (:init (= (temperature k) {room}) (= (room) {room}) (= (heating k) {heating}) (= (cooling k) {cooling})
    (= (water k) 2))
  (:goal (and (boiled k) (not (on k)) (not (dry k)) (<= (water k) 0.25))))
"""
    start = Fraction(random.randint(0, 4), 2)
    off = start + boil + wait
    plan = (
        TimedStep(start, "switch-on k"),
        TimedStep(off, "switch-off k"),
        TimedStep(off + late, "pour k"),
    )
    return HybridTask("kettle", number, KETTLE, problem, plan)


BATTERY = """(define (domain battery)
  (:requirements :typing :fluents :durative-actions :continuous-effects :duration-inequalities :negative-preconditions)
  (:types robot spot)
  (:predicates (at-spot ?r - robot ?s - spot) (clean ?s - spot) (dock ?s - spot) (busy ?r - robot))
  (:functions (charge ?r - robot) (capacity ?r - robot) (use) (speed) (dirt ?s - spot))
  (:durative-action sweep :parameters (?r - robot ?s - spot) :duration (>= ?duration 1)
    :condition (and (at start (not (busy ?r))) (over all (at-spot ?r ?s)) (over all (>= (charge ?r) 0))
      (at end (<= (dirt ?s) 0)))
    :effect (and (at start (busy ?r)) (at end (not (busy ?r))) (decrease (charge ?r) (* #t (use)))
      (decrease (dirt ?s) (* #t 1)) (at end (clean ?s))))
  (:durative-action recharge :parameters (?r - robot ?s - spot) :duration (>= ?duration 0.5)
    :condition (and (at start (not (busy ?r))) (over all (at-spot ?r ?s)) (over all (dock ?s))
      (over all (<= (charge ?r) (capacity ?r))))
    :effect (and (at start (busy ?r)) (at end (not (busy ?r))) (increase (charge ?r) (* #t (speed)))))
  (:durative-action move :parameters (?r - robot ?a ?b - spot) :duration (= ?duration 1)
    :condition (and (at start (not (busy ?r))) (at start (at-spot ?r ?a)) (over all (> (charge ?r) 0)))
    :effect (and (at start (busy ?r)) (at end (not (busy ?r))) (at start (not (at-spot ?r ?a))) (at end (at-spot ?r ?b))
      (decrease (charge ?r) (* #t 1)))))
"""


def make_battery(random: Random, number: int) -> HybridTask:
    """Return a robot that charges at the dock, moves, and sweeps a spot until it is clean."""
    use, speed, dirt = random.randint(1, 3), random.randint(2, 5), random.randint(1, 5)
    margin = random.choice((0, 0, Fraction(1, 2), 2))
    need = dirt * use + 1 + margin
    first = Fraction(random.randint(1, 2))
    charging = Fraction(-(-(need - first) * 1000 // speed), 1000)
    charging = max(charging, Fraction(1, 2))
    capacity = first + charging * speed
    problem = f"""(define (problem battery-{number}) (:domain battery) (:objects r - robot base hall - spot)
  (:init (at-spot r base) (dock base) (= (charge r) {first}) (= (capacity r) {decimal(capacity)}) (= (use) {use})
    (= (speed) {speed}) (= (dirt hall) {dirt}) (= (dirt base) 0))
  (:goal (and (clean hall) (at-spot r hall))))
"""
    gap = Fraction(1, 2)
    moving = charging + gap
    plan = (
        TimedStep(Fraction(0), "recharge r base", charging),
        TimedStep(moving, "move r base hall", Fraction(1)),
        TimedStep(moving + 1 + gap, "sweep r hall", Fraction(dirt)),
    )
    return HybridTask("battery", number, BATTERY, problem, plan)


GENERATOR = """(define (domain generator)
  (:requirements :typing :fluents :durative-actions :continuous-effects :negative-preconditions)
  (:types generator tank)
  (:predicates (ran ?g - generator) (available ?t - tank) (using ?t - tank ?g - generator))
  (:functions (fuel ?g - generator) (capacity ?g - generator) (run-time) (pour-time) (flow))
  (:durative-action generate :parameters (?g - generator) :duration (= ?duration (run-time))
    :condition (and (over all (>= (fuel ?g) 0)))
    :effect (and (decrease (fuel ?g) (* #t 1)) (at end (ran ?g))))
  (:durative-action refuel :parameters (?g - generator ?t - tank) :duration (= ?duration (pour-time))
    :condition (and (at start (available ?t)) (over all (<= (fuel ?g) (capacity ?g))))
    :effect (and (at start (using ?t ?g)) (at start (not (available ?t))) (increase (fuel ?g) (* #t (flow)))
      (at end (not (using ?t ?g))))))
"""


def make_generator(random: Random, number: int) -> HybridTask:
    """Return a generator that runs longer than its tank lasts, and is refuelled in time, up to its capacity or less."""
    tanks, flow, pour = random.randint(1, 3), random.randint(2, 4), random.choice((5, 10, 8))
    capacity = random.choice((40, 60))
    gain = flow * pour
    run = capacity + tanks * gain - random.choice((0, 0, 3))
    steps = [TimedStep(Fraction(0), "generate g", Fraction(run))]
    fuel, clock = capacity, 0
    for i in range(tanks):
        # wait until the content of the can fits exactly, or a little longer
        wait = max(0, fuel + (flow - 1) * pour - capacity) + random.choice((0, 0, 1))
        clock += max(wait, 1)
        steps.append(TimedStep(Fraction(clock), f"refuel g t{i}", Fraction(pour)))
        clock += pour
        fuel = capacity + gain * (i + 1) - clock
    problem = f"""(define (problem generator-{number}) (:domain generator)
  (:objects g - generator {" ".join(f"t{i}" for i in range(tanks))} - tank)
  (:init (= (fuel g) {capacity}) (= (capacity g) {capacity}) (= (run-time) {run}) (= (pour-time) {pour})
    (= (flow) {flow}) {" ".join(f"(available t{i})" for i in range(tanks))})
  (:goal (ran g)))
"""
    return HybridTask("generator", number, GENERATOR, problem, tuple(steps))


CAR = """(define (domain car)
  (:requirements :typing :fluents :time :negative-preconditions)
  (:predicates (running) (stopped) (blown))
  (:functions (d) (v) (a) (up-limit) (down-limit) (top))
  (:process moving :parameters () :precondition (running)
    :effect (and (increase (v) (* #t (a))) (increase (d) (* #t (v)))))
  (:action accelerate :parameters () :precondition (and (running) (< (a) (up-limit))) :effect (increase (a) 1))
  (:action decelerate :parameters () :precondition (and (running) (> (a) (down-limit))) :effect (decrease (a) 1))
  (:event blow :parameters () :precondition (and (running) (> (v) (top)))
    :effect (and (not (running)) (blown) (assign (a) 0)))
  (:action stop :parameters () :precondition (and (running) (= (v) 0) (>= (d) 30))
    :effect (and (stopped) (not (running)))))
"""


def make_car(random: Random, number: int) -> HybridTask:
    """Return a car that accelerates, coasts and brakes to a stop; distances are quadratic in time."""
    up = random.randint(2, 8)
    coast = Fraction(random.randint(2, 20), 2)
    distance = up * up + up * coast  # up * up/2 twice
    while distance < 30:
        coast += 1
        distance = up * up + up * coast
    top = up + random.choice((0, 0, 1))
    problem = f"""(define (problem car-{number}) (:domain car)
  (:init (running) (= (d) 0) (= (v) 0) (= (a) 0) (= (up-limit) 1) (= (down-limit) -1) (= (top) {top}))
  (:goal (and (stopped) (not (blown)) (>= (d) {decimal(distance)}))))
"""
    plan = (
        TimedStep(Fraction(0), "accelerate"),
        TimedStep(Fraction(up), "decelerate"),
        TimedStep(up + coast, "decelerate"),
        TimedStep(2 * up + coast, "stop"),
    )
    return HybridTask("car", number, CAR, problem, plan)


LANDER = """(define (domain lander)
  (:requirements :typing :fluents :time :durative-actions :continuous-effects :negative-preconditions)
  (:predicates (day) (full) (dead) (prepared) (observed))
  (:functions (soc) (demand) (supply) (sun) (prepare-demand) (observe-demand))
  (:process sunlight :parameters () :precondition (day) :effect (increase (supply) (* #t (sun))))
  (:process charging :parameters () :precondition (and (day) (< (soc) 100))
    :effect (increase (soc) (* #t (supply))))
  (:process discharging :parameters () :precondition (> (demand) 0) :effect (decrease (soc) (* #t (demand))))
  (:event flat :parameters () :precondition (and (not (dead)) (<= (soc) 0)) :effect (dead))
  (:durative-action prepare :parameters () :duration (= ?duration 3) :condition (and (over all (not (dead))))
    :effect (and (at start (increase (demand) (prepare-demand))) (at end (decrease (demand) (prepare-demand)))
      (at end (prepared))))
  (:durative-action observe :parameters () :duration (= ?duration 4)
    :condition (and (at start (prepared)) (over all (> (soc) 0)))
    :effect (and (at start (increase (demand) (observe-demand))) (at end (decrease (demand) (observe-demand)))
      (at end (observed)))))
"""


def make_lander(random: Random, number: int) -> HybridTask:
    """Return a lander whose battery is charged by a growing supply while two actions drain it."""
    sun, first, second = random.choice(("0.5", "1", "0.25")), random.randint(1, 4), random.randint(2, 5)
    begin = Fraction(random.randint(0, 4))
    soc = Fraction(0)
    supply_rate = Fraction(sun)
    # the least charge over both actions, if the supply starts at 0, decides the charge that is needed
    lowest = Fraction(0)
    start, end = begin, begin + 3
    observe = end + random.choice((Fraction(1, 2), Fraction(1)))
    for time in [i * Fraction(1, 8) for i in range(200)]:
        used = first * min(max(time - start, 0), 3) + second * min(max(time - observe, 0), 4)
        soc = supply_rate * time * time / 2 - used
        lowest = min(lowest, soc)
    charge = -lowest + random.choice((Fraction(1, 4), Fraction(1), Fraction(5)))
    problem = f"""(define (problem lander-{number}) (:domain lander)
  (:init (day) (= (soc) {decimal(charge)}) (= (demand) 0) (= (supply) 0) (= (sun) {sun}) (= (prepare-demand) {first})
    (= (observe-demand) {second}))
  (:goal (and (observed) (not (dead)))))
"""
    plan = (TimedStep(start, "prepare", Fraction(3)), TimedStep(observe, "observe", Fraction(4)))
    return HybridTask("lander", number, LANDER, problem, plan)


DESCENT = """(define (domain descent)
  (:requirements :typing :fluents :time :durative-actions :continuous-effects :negative-preconditions)
  (:predicates (flying) (landed) (crashed))
  (:functions (height) (speed) (gravity) (thrust) (fuel))
  (:process falling :parameters () :precondition (flying)
    :effect (and (increase (speed) (* #t (gravity))) (decrease (height) (* #t (speed)))))
  (:event touch :parameters () :precondition (and (flying) (<= (height) 0) (<= (speed) 2))
    :effect (and (landed) (not (flying))))
  (:event crash :parameters () :precondition (and (flying) (<= (height) 0) (> (speed) 2))
    :effect (and (crashed) (not (flying))))
  (:durative-action burn :parameters () :duration (>= ?duration 0.5)
    :condition (and (over all (flying)) (over all (>= (fuel) 0)))
    :effect (and (decrease (speed) (* #t (thrust))) (decrease (fuel) (* #t 1))))
  (:action look :parameters () :precondition () :effect (assign (gravity) (gravity))))
"""


def make_descent(random: Random, number: int) -> HybridTask:
    """Return a body that falls, brakes, and touches the ground slowly, in general at an irrational moment."""
    gravity, thrust = random.choice((1, 2)), random.choice((3, 4, 5))
    fall = Fraction(random.randint(2, 8), 2)
    speed = gravity * fall
    final = random.choice((0, 1, 1))
    burn = Fraction(int((speed - final) / (thrust - gravity) * 4), 4)
    burn = max(burn, Fraction(1, 2))
    low = speed - (thrust - gravity) * burn
    height = gravity * fall**2 / 2 + speed * burn - (thrust - gravity) * burn**2 / 2
    # then falls again for a little, from the speed low
    last_fall = Fraction(random.choice((1, 2, 3)), 4)
    height += low * last_fall + gravity * last_fall**2 / 2
    fuel = burn + random.choice((0, 0, 1))
    problem = f"""(define (problem descent-{number}) (:domain descent)
  (:init (flying) (= (height) {decimal(height)}) (= (speed) 0) (= (gravity) {gravity}) (= (thrust) {thrust})
    (= (fuel) {decimal(fuel)}))
  (:goal (and (landed) (not (crashed)))))
"""
    plan = (TimedStep(fall, "burn", burn), TimedStep(fall + burn + 4, "look"))
    return HybridTask("descent", number, DESCENT, problem, plan)


TRAFFIC = """(define (domain traffic)
  (:requirements :typing :fluents :time :negative-preconditions)
  (:types road junction phase)
  (:predicates (active ?p - phase) (next ?p ?q - phase) (serves ?p - phase ?r - road) (asked) (jammed))
  (:functions (queue ?r - road) (arrivals ?r - road) (leaving ?r - road) (room ?r - road) (green) (least-green)
    (most-green))
  (:process greens :parameters () :precondition () :effect (increase (green) (* #t 1)))
  (:process arrive :parameters (?r - road) :precondition () :effect (increase (queue ?r) (* #t (arrivals ?r))))
  (:process leave :parameters (?p - phase ?r - road)
    :precondition (and (active ?p) (serves ?p ?r) (> (queue ?r) 0)) :effect (decrease (queue ?r) (* #t (leaving ?r))))
  (:event limit :parameters (?p ?q - phase)
    :precondition (and (active ?p) (next ?p ?q) (>= (green) (most-green)))
    :effect (and (not (active ?p)) (active ?q) (assign (green) 0)))
  (:event switch :parameters (?p ?q - phase)
    :precondition (and (asked) (active ?p) (next ?p ?q) (>= (green) (least-green)) (< (green) (most-green)))
    :effect (and (not (active ?p)) (active ?q) (not (asked)) (assign (green) 0)))
  (:event jam :parameters (?r - road) :precondition (and (not (jammed)) (> (queue ?r) (room ?r))) :effect (jammed))
  (:action ask :parameters () :precondition (not (asked)) :effect (asked))
  (:action count :parameters (?r - road) :precondition (<= (queue ?r) 3) :effect (asked)))
"""


def make_traffic(random: Random, number: int) -> HybridTask:
    """Return a junction of two roads whose lights change by events; queues grow and shrink."""
    arrivals = random.choice((1, 2)), random.choice((1, 2))
    leaving = random.choice((4, 5)), random.choice((4, 6))
    least, most = random.choice((2, 3)), random.choice((6, 8))
    ask = Fraction(random.randint(4, 2 * most - 2), 2)
    switch = max(ask, Fraction(least))
    # most queues do not become empty: a lane that leaves faster than cars arrive has no course at 0
    north = (leaving[0] - arrivals[0]) * switch + random.choice((0, 1, 1, 2, 3))
    second = random.randint(0, 3) + arrivals[1] * switch + 4
    rooms = north + 8 * arrivals[0], second + random.choice((0, 1))
    count = switch + Fraction(int((second - 3) / (leaving[1] - arrivals[1]) * 4) + 1, 4)
    problem = f"""(define (problem traffic-{number}) (:domain traffic)
  (:objects north east - road p q - phase)
  (:init (active p) (next p q) (next q p) (serves p north) (serves q east) (= (green) 0) (= (least-green) {least})
    (= (most-green) {most}) (= (queue north) {decimal(Fraction(north))})
    (= (queue east) {decimal(second - arrivals[1] * switch)})
    (= (arrivals north) {arrivals[0]}) (= (arrivals east) {arrivals[1]}) (= (leaving north) {leaving[0]})
    (= (leaving east) {leaving[1]}) (= (room north) {decimal(rooms[0])}) (= (room east) {decimal(rooms[1])}))
  (:goal (and (not (jammed)) (active q) (asked))))
"""
    steps = [TimedStep(ask, "ask")]
    if count - switch < least:
        steps.append(TimedStep(count, "count east"))
    else:
        steps.append(TimedStep(switch + 1, "ask"))
    return HybridTask("traffic", number, TRAFFIC, problem, tuple(steps))


CONVOY = """(define (domain convoy)
  (:requirements :typing :fluents :time :durative-actions :continuous-effects :negative-preconditions)
  (:types convoy)
  (:predicates (driving ?c - convoy) (arrived ?c - convoy) (met ?c ?d - convoy) (ordered ?c ?d - convoy))
  (:functions (place ?c - convoy) (pace ?c - convoy) (goal-place ?c - convoy))
  (:process drives :parameters (?c - convoy) :precondition (driving ?c) :effect (increase (place ?c) (* #t (pace ?c))))
  (:event meet :parameters (?c ?d - convoy)
    :precondition (and (ordered ?c ?d) (not (met ?c ?d)) (>= (place ?c) (place ?d))) :effect (met ?c ?d))
  (:event arrive :parameters (?c - convoy)
    :precondition (and (driving ?c) (>= (place ?c) (goal-place ?c))) :effect (and (arrived ?c) (not (driving ?c))))
  (:action depart :parameters (?c - convoy) :precondition (and (not (driving ?c)) (not (arrived ?c)))
    :effect (driving ?c))
  (:action report :parameters (?c ?d - convoy) :precondition (and (met ?c ?d) (not (arrived ?d))) :effect (arrived ?d)))
"""


def make_convoy(random: Random, number: int) -> HybridTask:
    """Return two convoys. The faster one overtakes the slower one and reports it."""
    fast, slow, lead = random.randint(3, 6), random.randint(1, 2), random.randint(1, 9)
    start = Fraction(random.randint(0, 4), 2)
    meeting = Fraction(lead, fast - slow)
    report = start + Fraction(int(meeting * 4) + random.choice((0, 1)), 4)
    if report < start + meeting:
        report += Fraction(1, 4)
    far = fast * 20
    problem = f"""(define (problem convoy-{number}) (:domain convoy) (:objects a b - convoy)
  (:init (ordered a b) (= (place a) 0) (= (place b) {lead}) (= (pace a) {fast}) (= (pace b) {slow})
    (= (goal-place a) {far}) (= (goal-place b) {far}))
  (:goal (and (met a b) (arrived b))))
"""
    plan = (
        TimedStep(start, "depart a"),
        TimedStep(start, "depart b"),
        TimedStep(report, "report a b"),
    )
    return HybridTask("convoy", number, CONVOY, problem, plan)


ARM = """(define (domain arm)
  (:requirements :typing :fluents :time :durative-actions :continuous-effects :negative-preconditions)
  (:types joint)
  (:predicates (turning-up ?j - joint) (turning-down ?j - joint) (broken ?j - joint) (grasped) (free ?j - joint))
  (:functions (angle ?j - joint) (turn-speed ?j - joint) (least ?j - joint) (most ?j - joint))
  (:process up :parameters (?j - joint) :precondition (turning-up ?j)
    :effect (increase (angle ?j) (* #t (turn-speed ?j))))
  (:process down :parameters (?j - joint) :precondition (turning-down ?j)
    :effect (decrease (angle ?j) (* #t (turn-speed ?j))))
  (:event breaks :parameters (?j - joint)
    :precondition (and (not (broken ?j)) (or (< (angle ?j) (least ?j)) (> (angle ?j) (most ?j)))) :effect (broken ?j))
  (:action raise :parameters (?j - joint) :precondition (free ?j) :effect (and (turning-up ?j) (not (free ?j))))
  (:action lower :parameters (?j - joint) :precondition (free ?j) :effect (and (turning-down ?j) (not (free ?j))))
  (:action halt :parameters (?j - joint) :precondition (not (free ?j))
    :effect (and (free ?j) (not (turning-up ?j)) (not (turning-down ?j))))
  (:durative-action grasp :parameters (?j ?i - joint) :duration (>= ?duration 1)
    :condition (and (over all (>= (angle ?j) (+ (angle ?i) 10))) (over all (not (broken ?j))))
    :effect (at end (grasped))))
"""


def make_arm(random: Random, number: int) -> HybridTask:
    """Return an arm of two joints; the hand grasps while one joint is at least ten degrees above the other."""
    speed, wrist_speed = random.choice((2, 4, 5)), random.choice((1, 2))
    target = random.choice((20, 30, 40))
    up = Fraction(target, speed)
    most = target + random.choice((0, 0, 5))
    slack = target - 10
    grasping = Fraction(random.randint(2, 4))
    start_wrist = up + 1
    duration = min(grasping, Fraction(slack, wrist_speed)) if random.random() < 0.5 else Fraction(slack, wrist_speed)
    problem = f"""(define (problem arm-{number}) (:domain arm) (:objects shoulder wrist - joint)
  (:init (free shoulder) (free wrist) (= (angle shoulder) 0) (= (angle wrist) 0) (= (turn-speed shoulder) {speed})
    (= (turn-speed wrist) {wrist_speed}) (= (least shoulder) 0) (= (least wrist) 0) (= (most shoulder) {most})
    (= (most wrist) 90))
  (:goal (and (grasped) (not (broken shoulder)))))
"""
    plan = (
        TimedStep(Fraction(0), "raise shoulder"),
        TimedStep(up, "halt shoulder"),
        TimedStep(start_wrist, "raise wrist"),
        TimedStep(start_wrist + Fraction(1, 8), "grasp shoulder wrist", duration - Fraction(1, 8)),
        TimedStep(start_wrist + duration + 1, "halt wrist"),
    )
    return HybridTask("arm", number, ARM, problem, plan)


OVEN = """(define (domain oven)
  (:requirements :typing :fluents :time :negative-preconditions)
  (:types dish)
  (:predicates (on) (ringing) (in ?d - dish) (warned) (burnt ?d - dish) (open))
  (:functions (timer) (heat) (done ?d - dish) (needs ?d - dish) (burns ?d - dish))
  (:process counts-down :parameters () :precondition (and (on) (> (timer) 0)) :effect (decrease (timer) (* #t 1)))
  (:process heats :parameters () :precondition (and (on) (not (open)) (< (heat) 200))
    :effect (increase (heat) (* #t 40)))
  (:process cools :parameters () :precondition (and (or (not (on)) (open)) (> (heat) 20))
    :effect (decrease (heat) (* #t 10)))
  (:process bakes :parameters (?d - dish) :precondition (and (in ?d) (>= (heat) 160))
    :effect (increase (done ?d) (* #t 1)))
  (:event rings :parameters () :precondition (and (on) (<= (timer) 0) (not (ringing))) :effect (ringing))
  (:event switches-off :parameters () :precondition (and (on) (ringing)) :effect (and (not (on)) (warned)))
  (:event burn :parameters (?d - dish) :precondition (and (not (burnt ?d)) (> (done ?d) (burns ?d))) :effect (burnt ?d))
  (:action set :parameters () :precondition (not (on)) :effect (on))
  (:action put-in :parameters (?d - dish) :precondition (not (in ?d)) :effect (in ?d))
  (:action take-out :parameters (?d - dish) :precondition (and (in ?d) (>= (done ?d) (needs ?d)))
    :effect (not (in ?d))))
"""


def make_oven(random: Random, number: int) -> HybridTask:
    """Return an oven with a timer: the end of the time rings, and the ring switches the oven off (a cascade)."""
    timer = Fraction(random.randint(16, 30), 2)
    # hot (160) after 3.5, at most 200 after 4.5, and after the end hot for (200 - 160) / 10 = 4
    start, put = Fraction(random.randint(0, 2)), Fraction(random.randint(0, 2))
    baked = timer - Fraction(7, 2) + 4
    needs = baked - random.choice((0, Fraction(1, 2), 2))
    burns = baked + random.choice((0, 0, 1))
    problem = f"""(define (problem oven-{number}) (:domain oven) (:objects pie - dish)
  (:init (= (timer) {decimal(timer)}) (= (heat) 20) (= (done pie) 0) (= (needs pie) {decimal(needs)})
    (= (burns pie) {decimal(burns)}))
  (:goal (and (not (in pie)) (not (burnt pie)) (warned))))
"""
    plan = (
        TimedStep(start, "set"),
        TimedStep(start + put, "put-in pie"),
        TimedStep(start + timer + 4 + random.choice((0, Fraction(1, 2))), "take-out pie"),
    )
    return HybridTask("oven", number, OVEN, problem, plan)


FAMILIES: dict[str, Callable[[Random, int], HybridTask]] = {
    "tub": make_tub,
    "kettle": make_kettle,
    "battery": make_battery,
    "generator": make_generator,
    "car": make_car,
    "lander": make_lander,
    "descent": make_descent,
    "traffic": make_traffic,
    "convoy": make_convoy,
    "arm": make_arm,
    "oven": make_oven,
}


ROOM = """(define (domain room)
  (:requirements :typing :fluents :time :negative-preconditions)
  (:types room)
  (:predicates (heating ?r - room) (warm ?r - room) (too-hot ?r - room))
  (:functions (temperature ?r - room) (outside) (leak ?r - room) (power ?r - room) (limit ?r - room))
  (:process heats :parameters (?r - room) :precondition (heating ?r)
    :effect (increase (temperature ?r) (* #t (power ?r))))
  (:process leaks :parameters (?r - room) :precondition ()
    :effect (decrease (temperature ?r) (* #t (* (leak ?r) (- (temperature ?r) (outside))))))
  (:event overheats :parameters (?r - room)
    :precondition (and (not (too-hot ?r)) (> (temperature ?r) (limit ?r))) :effect (too-hot ?r))
  (:action heat :parameters (?r - room) :precondition (not (heating ?r)) :effect (heating ?r))
  (:action stop :parameters (?r - room) :precondition (heating ?r) :effect (not (heating ?r)))
  (:action enter :parameters (?r - room) :precondition (>= (temperature ?r) 19) :effect (warm ?r)))
"""


def make_room(random: Random, number: int) -> HybridTask:
    """Return a room that loses heat in proportion to the difference, and is heated until it is warm."""
    outside, leak = random.choice((-5, 0, 5, 10)), random.choice(("0.05", "0.1", "0.2"))
    power, limit = random.choice((2, 3, 4)), random.choice((21, 22, 24))
    problem = f"""(define (problem room-{number}) (:domain room) (:objects hall - room)
  (:init (= (temperature hall) 12) (= (outside) {outside}) (= (leak hall) {leak}) (= (power hall) {power})
    (= (limit hall) {limit}))
  (:goal (and (warm hall) (not (too-hot hall)))))
"""
    heat, wait = Fraction(random.randint(8, 40), 4), Fraction(random.randint(0, 8), 4)
    plan = (TimedStep(Fraction(0), "heat hall"), TimedStep(heat, "stop hall"), TimedStep(heat + wait, "enter hall"))
    return HybridTask("room", number, ROOM, problem, plan)


TANKS = """(define (domain tanks)
  (:requirements :fluents :time :negative-preconditions)
  (:predicates (open) (overflown) (drawn))
  (:functions (upper) (lower) (rim) (k))
  (:process runs-down :precondition (open)
    :effect (and (decrease (upper) (* #t (* (k) (upper)))) (increase (lower) (* #t (* (k) (upper))))))
  (:process seeps :precondition () :effect (decrease (lower) (* #t (* 0.1 (lower)))))
  (:event overflows :precondition (and (not (overflown)) (> (lower) (rim))) :effect (overflown))
  (:action open-valve :precondition (not (open)) :effect (open))
  (:action close-valve :precondition (open) :effect (not (open)))
  (:action draw :precondition (>= (lower) 3) :effect (and (drawn) (decrease (lower) 2))))
"""


def make_tanks(random: Random, number: int) -> HybridTask:
    """Return two tanks: the upper one empties into the lower one, which seeps."""
    upper, rate = random.choice((6, 8, 10)), random.choice(("0.2", "0.5", "1"))
    problem = f"""(define (problem tanks-{number}) (:domain tanks)
  (:init (= (upper) {upper}) (= (lower) 0) (= (rim) {random.choice((4, 5, 6))}) (= (k) {rate}))
  (:goal (and (drawn) (not (overflown)) (<= (lower) 4))))
"""
    close, draw = Fraction(random.randint(2, 20), 4), Fraction(random.randint(1, 12), 4)
    plan = (TimedStep(Fraction(0), "open-valve"), TimedStep(close, "close-valve"), TimedStep(close + draw, "draw"))
    return HybridTask("tanks", number, TANKS, problem, plan)


SWING = """(define (domain swing)
  (:requirements :fluents :time :negative-preconditions :durative-actions)
  (:predicates (hit) (caught))
  (:functions (angle) (speed) (friction) (wall))
  (:process swings :precondition ()
    :effect (and (increase (angle) (* #t (speed)))
                 (decrease (speed) (* #t (+ (angle) (* (friction) (speed)))))))
  (:event hits-the-wall :precondition (and (not (hit)) (>= (angle) (wall))) :effect (hit))
  (:action push :effect (increase (speed) 1))
  (:action catch :precondition (and (<= (angle) 0.5) (>= (angle) -0.5)) :effect (caught)))
"""


def make_swing(random: Random, number: int) -> HybridTask:
    """Return a swing with friction that is pushed, and caught when it is near the middle."""
    problem = f"""(define (problem swing-{number}) (:domain swing)
  (:init (= (angle) 0) (= (speed) 0) (= (friction) {random.choice(("0", "0.1", "0.5", "1"))})
    (= (wall) {random.choice(("0.9", "1.2", "1.5"))}))
  (:goal (and (caught) (not (hit)))))
"""
    push, catch = Fraction(random.randint(0, 8), 4), Fraction(random.randint(4, 40), 4)
    plan = [TimedStep(Fraction(0), "push"), TimedStep(push + catch, "catch")]
    if push and random.random() < 0.5:
        plan.append(TimedStep(push, "push"))
    return HybridTask("swing", number, SWING, problem, tuple(plan))


LINEAR_FAMILIES: dict[str, Callable[[Random, int], HybridTask]] = {
    "room": make_room,
    "tanks": make_tanks,
    "swing": make_swing,
}
"""With rates that read the numbers that they change."""


def make_tasks(count: int, seed: int = 1, *, linear: bool = False) -> Iterator[HybridTask]:
    """Yield tasks, the families in turn."""
    families = LINEAR_FAMILIES if linear else FAMILIES
    names = list(families)
    for number in range(count):
        name = names[number % len(names)]
        yield families[name](Random(f"{seed}/{name}/{number}"), number)


def mutate_plan(task: HybridTask, random: Random) -> tuple[str, tuple[TimedStep, ...]]:
    """Return the description of a mutation, and the mutated plan."""
    plan = list(task.plan)
    number = random.randrange(len(plan))
    step = plan[number]
    shift = random.choice((Fraction(1, 1000), Fraction(1, 100), Fraction(1, 4), Fraction(1), Fraction(2)))
    kind = random.choice(("later", "earlier", "left out", "twice", "longer", "shorter"))
    if kind == "later":
        plan[number] = step._replace(time=step.time + shift)
    elif kind == "earlier":
        plan[number] = step._replace(time=max(step.time - shift, Fraction(0)))
    elif kind == "left out":
        del plan[number]
    elif kind == "twice":
        plan.append(step._replace(time=step.time + (step.duration or 0) + shift))
    else:
        longer = shift if kind == "longer" else -shift
        timed = [n for n, candidate in enumerate(plan) if candidate.duration is not None]
        if not timed:
            later_steps = [later._replace(time=max(later.time + longer, Fraction(0))) for later in plan[number + 1 :]]
            plan[number + 1 :] = later_steps
        else:
            chosen = random.choice(timed)
            duration = plan[chosen].duration or Fraction(0)
            plan[chosen] = plan[chosen]._replace(duration=max(duration + longer, Fraction(1, 1000)))
    return f"step {number + 1} ({step.step}) {kind} by {decimal(shift)}", tuple(plan)


LONG = """(define (domain tanks)
  (:requirements :typing :fluents :time :negative-preconditions)
  (:types tank)
  (:predicates (open ?t - tank) (full ?t - tank))
  (:functions (level ?t - tank) (flow ?t - tank) (rim ?t - tank))
  (:process fills :parameters (?t - tank) :precondition (open ?t) :effect (increase (level ?t) (* #t (flow ?t))))
  (:event fills-up :parameters (?t - tank) :precondition (and (not (full ?t)) (>= (level ?t) (rim ?t)))
    :effect (full ?t))
  (:action turn :parameters (?t - tank) :precondition (not (open ?t)) :effect (open ?t))
  (:action shut :parameters (?t - tank) :precondition (open ?t) :effect (not (open ?t))))
"""


def make_long_task(happenings: int, tanks: int) -> HybridTask:
    """Return tanks, each with a process and an event, whose taps are opened and closed in turn."""
    names = [f"t{i}" for i in range(tanks)]
    values = [f"(= (level {t}) 0) (= (flow {t}) {1 + i % 3}) (= (rim {t}) {30 + i})" for i, t in enumerate(names)]
    problem = f"""(define (problem long) (:domain tanks) (:objects {" ".join(names)} - tank)
  (:init {" ".join(values)})
  (:goal ()))
"""
    steps = list[TimedStep]()
    for i in range(happenings):
        action = "shut" if (i // tanks) % 2 else "turn"
        steps.append(TimedStep(Fraction(i, 8), f"{action} {names[i % tanks]}"))
    return HybridTask("long", 0, LONG, problem, tuple(steps))
