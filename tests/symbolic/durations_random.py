"""Generate timed plans with open durations, and compare their verdicts with the explicit engine in a grid of worlds."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random
from typing import NamedTuple

import generate
from case import Case, Plan, Sexp, Step, plan_text
from formulas import COMPARISONS, SUBTYPES

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.replay import HALT
from plansafe.verifier.execution.steps import TimedStep, widen_tolerance
from plansafe.verifier.execution.timed_fast import FastTimedReplay
from plansafe.verifier.kernel import Kernel
from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.symbolic.durations.duration_audit import ASPECTS, DurationAudit
from plansafe.verifier.symbolic.worlds.verdict import WorldVerdict

TOLERANCE = Fraction(1, 8)
UNKNOWN_VERDICT = WorldVerdict(None, None, None)


class OpenPlan(NamedTuple):
    """A plan, and the possible durations of its steps, by their number in order of time."""

    steps: Plan
    intervals: dict[int, tuple[Fraction, Fraction]]


class OpenCase(NamedTuple):
    """A task with plans. The text of a plan has the middle of each interval as duration."""

    case: Case
    plans: tuple[OpenPlan, ...]


def generate_open_case(seed: int, number: int, plans: int = 4) -> OpenCase:
    """The case of this number: a function of its arguments. One to three durations of each plan are open.

    Prefers rules and plans whose verdicts vary over a few random worlds.
    """
    random = Random(f"durations {seed} {number}")
    while True:
        candidate = (_random_open_case, _random_independent_task)[number % 2](random, f"{seed}-{number}")
        explicit = ExplicitEngine(candidate.case)
        if not explicit.checker.ok or not candidate.plans:
            continue
        verdicts = [
            [explicit.verdict_in(explicit.read_steps(p), world) for world in _random_worlds(p, random, 6)]
            for p in candidate.plans
        ]
        case = candidate.case
        violated_rules = [[{*verdict.violated} for verdict in plan_verdicts] for plan_verdicts in verdicts]
        varying_rules = set.union(*[set.union(*rules) - set.intersection(*rules) for rules in violated_rules])
        chosen_rules = sorted(
            range(len(explicit.checker.rules)), key=lambda r: (r not in varying_rules, random.random())
        )
        chosen_rules = chosen_rules[: random.choice((1, 2, 3, 4))]
        constraint_count = len(case.constraints)
        case = case._replace(
            constraints=tuple(c for i, c in enumerate(case.constraints) if i in chosen_rules),
            rules=tuple(r for i, r in enumerate(case.rules, constraint_count) if i in chosen_rules),
        )
        is_stable = [
            len({(v.executable, v.goal, *sorted(v.violated & {*chosen_rules})) for v in plan_verdicts}) == 1
            for plan_verdicts in verdicts
        ]
        is_never_executable = [not any(verdict.executable for verdict in plan_verdicts) for plan_verdicts in verdicts]
        ranked_plans = sorted(
            range(len(verdicts)),
            key=lambda p: (
                random.random() < 0.9 and is_never_executable[p],
                random.random() < 0.8 and is_stable[p],
                random.random(),
            ),
        )
        return OpenCase(case, tuple(candidate.plans[place] for place in ranked_plans[:plans]))


def _random_worlds(plan: OpenPlan, random: Random, count: int) -> list[dict[int, Fraction]]:
    return [
        {n: low + (high - low) * Fraction(random.randint(0, 8), 8) for n, (low, high) in plan.intervals.items()}
        for _ in range(count)
    ]


def _random_open_case(random: Random, name: str) -> OpenCase:
    generator = generate._Generator("timed", random)
    generator.in_domain.objects = {
        o: kind for o, kind in generator.objects.items() if o in generator.constants
    }  # in a fixed order
    case = generator.case(name, 2, 0)
    busy_objects = random.sample(
        list(generator.objects), min(2, len(generator.objects))
    )  # few objects, so that steps meet
    plans = tuple(plan for plan in [_random_plan(random, generator, busy_objects) for _ in range(8)] if plan.intervals)
    steps = [step for plan in plans for step in plan.steps]
    names = ["p", "p", "p", "r", "n", *(["g", "g"] if generator.style.numeric else [])]
    rule_generator = _RuleGenerator(random, busy_objects, names, steps, {*generator.formulas.durative})
    rules = [rule_generator.rule(f"own-{i}") for i in range(6 if plans else 0)]
    case = case._replace(
        structures=tuple(_add_duration_effects(random, s, rule_generator) for s in case.structures),
        init=tuple(dict.fromkeys(case.init)),
        goal=case.goal if random.random() < 0.4 else rule_generator.literal(),
        laws=(),
        constraints=tuple(rule_generator.constraint() for _ in range(6)),
        rules=(*case.rules, *rules),
    )
    return OpenCase(case, plans)


def _random_plan(random: Random, generator: generate._Generator, busy_objects: list[str]) -> OpenPlan:
    instantaneous_actions = [a for a in generator.formulas.actions if a not in generator.formulas.durative]
    open_count = random.choice((1, 1, 1, 1, 2, 2, 3))
    width = {1: (2, 4, 6), 2: (2, 4, 6), 3: (2, 4)}[open_count]
    kinds = ["open"] * open_count + ["closed"] * random.choice((0, 0, 1)) + ["other"] * random.choice((0, 1, 2, 3, 4))
    steps: list[tuple[Step, tuple[Fraction, Fraction] | None]] = []
    for kind in kinds:
        name = random.choice(instantaneous_actions if kind == "other" else generator.formulas.durative)
        objects = []
        for type_name in generator.formulas.actions[name]:
            fitting = [o for o in busy_objects if generator.objects[o] in SUBTYPES[type_name]]
            objects.append(random.choice(fitting) if fitting else generator.formulas.term(type_name, {}))
        if None in objects:
            continue
        time = Fraction(random.randint(0, 12), 4)
        low = Fraction(random.randint(0 if random.random() < 0.1 else 2, 8), 4)
        interval = (low, low + Fraction(random.choice(width), 4)) if kind == "open" else None
        duration = None if kind == "other" else sum(interval) / 2 if interval else low
        steps.append((Step((name, *[o for o in objects if o]), time, duration), interval))
    steps.sort(key=lambda entry: entry[0].time or 0)
    intervals = {number: interval for number, (_, interval) in enumerate(steps, 1) if interval is not None}
    return OpenPlan(tuple(step for step, _ in steps), intervals)


def _add_duration_effects(random: Random, structure: Sexp, rule_generator: _RuleGenerator) -> Sexp:
    """Loosen the durations of a durative action, and add conditions and effects that depend on its duration."""
    if structure[0] != ":durative-action":
        return structure
    parts = list(structure)
    has_numbers = "g" in rule_generator.names
    bounds: list[Sexp] = [
        (">=", "?duration", random.choice(("0", "0.5", "0.75"))),
        ("<=", "?duration", random.choice(("2", "4", "4"))),
    ]
    if has_numbers and random.random() < 0.25:
        bounds.append((random.choice(("<=", ">=")), "?duration", random.choice((("g",), ("+", ("g",), "1")))))
        if random.random() < 0.5:
            bounds[-1] = ("at", "end", bounds[-1])
    effects: list[Sexp] = [*parts[parts.index(":effect") + 1][1:]]
    conditions: list[Sexp] = [*parts[parts.index(":condition") + 1][1:]]
    variable = "?x" if "?x" in parts[parts.index(":parameters") + 1] else None
    for _ in range(random.choice((1, 1, 2, 3))):
        literal = rule_generator.literal_about(variable)
        if random.random() < 0.65 and literal[0] not in COMPARISONS:
            effects.append(("at", random.choice(("start", "end", "end")), literal))
        else:
            phase = random.choice((("at", "start"), ("over", "all"), ("over", "all"), ("at", "end")))
            conditions.append((*phase, literal))
    if has_numbers:
        for _ in range(random.choice((0, 1, 1, 2))):
            value = random.choice(
                ("?duration", ("*", "2", "?duration"), ("-", "?duration", "1"), ("/", "?duration", "2"))
            )
            verb = random.choice(("increase", "decrease", "assign"))
            effects.append(("at", random.choice(("start", "end")), (verb, ("g",), value)))
    parts[parts.index(":duration") + 1] = ("and", *bounds)
    parts[parts.index(":effect") + 1] = ("and", *effects)
    parts[parts.index(":condition") + 1] = ("and", *conditions)
    return tuple(parts)


def _random_independent_task(random: Random, name: str) -> OpenCase:
    """A task whose steps each change one object, so that only rules depend on the order of steps."""
    objects = dict.fromkeys(("c1", "c2", "c3", "c4"), "cup")
    has_numbers = random.random() < 0.5
    facts: list[Sexp] = [("p", "?x"), ("not", ("p", "?x")), ("q", "?x"), ("not", ("q", "?x")), ("r", "?x", "?x")]
    if has_numbers:
        facts += [("assign", ("f", "?x"), "?duration"), ("increase", ("g",), "?duration"), ("decrease", ("g",), "1")]
    structures: list[Sexp] = []
    effect_conditions: list[Sexp] = []
    if random.random() < 0.5:  # effects that depend on the effects of other steps
        effect_conditions = [
            ("n",),
            ("not", ("n",)),
            *([(">=", ("g",), "3"), ("<", ("g",), "2.5")] if has_numbers else []),
        ]
        facts += [("n",), ("n",), ("not", ("n",))]

    def effect() -> Sexp:
        fact, phase = random.choice(facts), random.choice(("start", "end", "end"))
        if effect_conditions and random.random() < 0.5:
            effect_condition = random.choice(effect_conditions)
            if phase == "end" and random.random() < 0.4:
                return ("when", ("at", "start", effect_condition), ("at", "end", fact))
            return ("at", phase, ("when", effect_condition, fact))
        return ("at", phase, fact)

    for verb in ("heat", "wait"):
        effects = [effect() for _ in range(random.choice((2, 3)))]
        condition: Sexp = ("over", "all", ("not", ("r", "?x", "?x"))) if random.random() < 0.1 else ("and",)
        head: tuple[Sexp, ...] = (":durative-action", verb, ":parameters", ("?x", "-", "cup"))
        bounds: Sexp = ("and", (">=", "?duration", "0"), ("<=", "?duration", "6"))
        structures.append((*head, ":duration", bounds, ":condition", condition, ":effect", ("and", *effects)))
    for verb in ("set", "clear", "both"):
        unconditional = random.choice([fact for fact in facts if "?duration" not in fact])
        fact = (
            ("when", random.choice(effect_conditions), unconditional)
            if effect_conditions and random.random() < 0.5
            else unconditional
        )
        structures.append((":action", verb, ":parameters", ("?x", "-", "cup"), ":effect", fact))
    if random.random() < 0.2:
        structures.append((":derived", ("d", "?x", "-", "object"), ("or", ("p", "?x"), ("q", "?x"))))
    names = [
        "p",
        "p",
        "q",
        "q",
        "r",
        *(["d"] if len(structures) > 5 else []),
        *(["f", "f", "g", "g", "g"] if has_numbers else []),
    ]
    plans = []
    for _ in range(6):
        open_count = random.choice((1, 2, 2, 3))
        width = {1: (4, 6, 8), 2: (2, 4, 6), 3: (2, 4)}[open_count]
        steps: list[tuple[Step, tuple[Fraction, Fraction] | None]] = []
        target_objects = random.sample(list(objects), 4)
        for position in range(open_count + random.choice((1, 2, 3))):
            target = (
                target_objects[position] if position < 4 and random.random() < 0.9 else random.choice(target_objects)
            )
            time = Fraction(random.randint(0, 14), 4)
            if position < open_count:
                low = Fraction(random.randint(2, 8), 4)
                high = low + Fraction(random.choice(width), 4)
                words = (random.choice(("heat", "wait")), target)
                steps.append((Step(words, time, (low + high) / 2), (low, high)))
            else:
                steps.append((Step((random.choice(("set", "clear", "both")), target), time), None))
        steps.sort(key=lambda entry: entry[0].time or 0)
        intervals = {n: interval for n, (_, interval) in enumerate(steps, 1) if interval is not None}
        plans.append(OpenPlan(tuple(step for step, _ in steps), intervals))
    rule_generator = _RuleGenerator(
        random, list(objects), names, [step for plan in plans for step in plan.steps], {"heat", "wait"}
    )
    initial: list[Sexp] = [("p", o) for o in objects if random.random() < 0.3]
    if has_numbers:
        initial += [("=", ("g",), "1"), *[("=", ("f", o), "2") for o in objects]]
    if random.random() < 0.3:
        initial.append(("at", random.choice(("2", "3.5", "5")), random.choice((("p", "c1"), ("not", ("q", "c2"))))))
    case = Case(
        name,
        tuple(objects.items()),
        frozenset(),
        tuple(structures),
        tuple(initial),
        rule_generator.literal() if random.random() < 0.3 else ("and",),
        (),
        tuple(rule_generator.constraint() for _ in range(8)),
        tuple(rule_generator.rule(f"own-{i}") for i in range(8)),
        (),
    )
    return OpenCase(case, tuple(plans))


class _RuleGenerator:
    """Generates rules about the facts that the steps of a plan change."""

    def __init__(
        self, random: Random, objects: list[str], names: list[str], steps: list[Step], durative: set[str]
    ) -> None:
        self.random = random
        self.objects = objects
        self.names = names
        self.steps = steps
        self.durative = durative

    def literal_about(self, variable: str | None) -> Sexp:
        """A literal about a variable; without a variable, a fact or number without arguments."""
        names = [name for name in self.names if variable is not None or name in ("n", "g")]
        return self._literal(names, [variable] if variable else [])

    def literal(self) -> Sexp:
        """A literal about objects that steps name."""
        return self._literal(self.names, self.objects)

    def _literal(self, names: list[str], objects: list[str]) -> Sexp:
        name = self.random.choice(names)
        first = self.random.choice(objects) if objects else ""
        if name in ("f", "g"):
            fluent = ("g",) if name == "g" else ("f", first)
            return (self.random.choice(COMPARISONS), fluent, self.random.choice(("0", "1", "2", "3", "4.5", "6")))
        atom = (name, *[first] * {"n": 0, "r": 2}.get(name, 1))
        return atom if self.random.random() < 0.6 else ("not", atom)

    def constraint(self) -> Sexp:
        """A PDDL3 operator over literals, often with a bound."""
        first, second = self.literal(), self.literal()
        early, late = sorted(self.random.sample(("0", "1", "1.5", "2", "2.75", "3", "4", "5", "6"), 2), key=float)
        return self.random.choice(
            (
                ("within", late, first),
                ("always-within", early, first, second),
                ("hold-during", early, late, first),
                ("hold-after", late, first),
                ("always", ("or", first, second)),
                ("at-most-once", first),
                ("sometime-before", first, second),
                ("sometime-after", first, second),
                ("not", ("within", early, first)),
            )
        )

    def rule(self, name: str) -> Sexp:
        """A rule about a step, or about the past."""
        first, second = self.literal(), self.literal()
        step = self.random.choice(self.steps).words
        durative = step[0] in self.durative
        return self.random.choice(
            (
                (":process", name, ":on", step, ":require", first),
                (":process", name, ":at-end" if durative else ":on", step, ":require", ("once", first)),
                (":process", name, ":during" if durative else ":on", step, ":forbid", first),
                (":process", name, ":at-end" if durative else ":on", step, ":forbid-after", first),
                (":process", name, ":forbid", ("since", first, second)),
                (":obligation", name, ":when", first, ":then", second, ":within", "2"),
                (":trajectory", name, ":formula", ("until", first, second)),
                (":trajectory", name, ":formula", ("always", ("imply", ("action", step), first))),
                (":trajectory", name, ":formula", ("sometime", ("next", ("and", first, second)))),
                (":termination", name, ":require", ("or", first, ("once", second))),
            )
        )


class ExplicitEngine:
    """The explicit engine for a task; it audits one world at a time."""

    def __init__(self, case: Case) -> None:
        texts = (case.domain_text(), case.problem_text(), case.safety_text())
        names = ("domain.pddl", "problem.pddl", "rules.safe")
        sources = [Source(name, text) for name, text in zip(names, texts, strict=True) if text]
        self.checker = Checker(sources[0], sources[1], sources[2:], Options(tolerance=TOLERANCE, replay="never"))
        self._prototype: Runtime | None = None
        engine = self.checker.engine
        if engine.prototype is not None:
            self._prototype = Runtime(engine.rule_set, engine.emitter)
            self._prototype.start(engine.make_initial_state(), LetterTime(0, 0, True))

    def read_steps(self, plan: OpenPlan) -> list[TimedStep]:
        """The steps of a plan as the checker reads them."""
        read = self.checker.read(Source("random.plan", plan_text(plan.steps)))
        assert read.timed is not None
        return read.timed

    def verdict_in(self, steps: list[TimedStep], durations: dict[int, Fraction]) -> WorldVerdict:
        """The verdict in one world, as in a report."""
        engine = self.checker.engine
        steps = [s._replace(duration=durations.get(s.number, s.duration)) for s in steps]
        run = _ReplayWithCopiedMonitors(engine, self._prototype, steps)
        run.run()
        outcome = run.finish(len(steps))
        rules = [engine.rule_set.parts[v.part].rule for v in outcome.violations]
        violated = frozenset(rule for rule in rules if not engine.rule_set.rules[rule].preference)
        safe = False if violated else None if outcome.undecided or outcome.limit else True
        if outcome.limit and not outcome.failures:
            return WorldVerdict(None, None, safe, violated)
        return WorldVerdict(not outcome.failures, outcome.goal is True, safe, violated)


class _ReplayWithCopiedMonitors(FastTimedReplay):
    """A timed replay that copies compiled monitors, because compiling them takes most of the time."""

    def __init__(self, engine: Engine, prototype: Runtime | None, steps: list[TimedStep]) -> None:
        self._prototype = prototype
        super().__init__(engine, HALT, steps, widen_tolerance(TOLERANCE, None))

    def make_monitors(self) -> Runtime | None:
        if self._prototype is None:
            return None
        return self._prototype.fork()


def duration_grid(plan: OpenPlan, random: Random, max_worlds: int) -> list[dict[int, Fraction]]:
    """Durations in steps of 1/16, all of them or a sample.

    All times and bounds are multiples of 1/8 (with the tolerance), so these durations include every coincidence and,
    for one open duration, every gap between two.
    """
    step = Fraction(1, 16)
    durations_by_step = []
    for low, high in plan.intervals.values():
        durations_by_step.append([low + step * i for i in range(int((high - low) / step) + 1)])
    points = [dict(zip(plan.intervals, point, strict=True)) for point in product(*durations_by_step)]
    return points if len(points) <= max_worlds else random.sample(points, max_worlds)


class PlanComparison(NamedTuple):
    """The differences for a plan, the numbers of runs and of worlds in the grid, and the values over all worlds."""

    differences: list[str]
    runs: int
    worlds: int
    values: tuple[Worlds, ...]


def compare_plans(case: OpenCase, max_worlds: int = 120, kernel_world_count: int = 0) -> list[PlanComparison]:
    """Compare the verdicts on the plans of a case with the explicit engine in the worlds of the grid.

    ``kernel_world_count``: the number of worlds of each plan that the replay kernel also checks.
    """
    explicit = ExplicitEngine(case.case)
    replay_kernel = None
    if kernel_world_count:
        safety = case.case.safety_text()
        texts = (case.case.domain_text(), case.case.problem_text(), [safety] if safety else [])
        replay_kernel = Kernel(*texts, tolerance=TOLERANCE)
    return [_compare_plan(explicit, plan, replay_kernel, max_worlds, kernel_world_count) for plan in case.plans]


def _compare_plan(
    explicit: ExplicitEngine, plan: OpenPlan, replay_kernel: Kernel | None, max_worlds: int, kernel_world_count: int
) -> PlanComparison:
    steps = explicit.read_steps(plan)
    audit = DurationAudit(explicit.checker.compiled, steps, plan.intervals)
    audit.run()
    differences = []
    settled = all((aspect, value) in audit.examples for aspect in ASPECTS for value in (True, False))
    complete = audit.complete_aspects >= {*ASPECTS}
    if not complete and not settled:
        differences.append("neither complete nor settled")
    numbers = [n for n, (low, high) in sorted(plan.intervals.items()) if low < high]
    for (aspect, value), world in audit.examples.items():
        engine_value = explicit.verdict_in(steps, dict(world))[ASPECTS.index(aspect)]
        if engine_value is not value and value is not None:
            differences.append(f"{aspect} {value} in {world}: {engine_value}")
    for rule, world in audit.violating_worlds.items():
        if rule not in explicit.verdict_in(steps, dict(world)).violated:
            differences.append(f"rule {rule} is not violated in {world}")
    violated = {rule for rule, count in enumerate(audit.counts) if count.status == "violated"}
    settled_rules = {rule for rule, count in enumerate(audit.counts) if count.status in ("kept", "never applied")}
    if violated != audit.violating_worlds.keys():
        differences.append(
            f"rules {violated} are reported as violated, but there are worlds for {audit.violating_worlds.keys()}"
        )
    points = duration_grid(plan, Random(str(plan)), max_worlds)
    for number, point in enumerate(points):
        values = explicit.verdict_in(steps, point)
        if replay_kernel is not None and number < kernel_world_count:
            differences += _compare_with_kernel(replay_kernel, plan, point, values)
        verdict = audit.explored_cells.find_verdict(tuple(point[n] for n in numbers))
        if verdict is None and complete:
            differences.append(f"the audit has no verdict for {point}")
        if verdict is not None and verdict not in (values, UNKNOWN_VERDICT):
            differences.append(f"{verdict} is the verdict for {point}, but the engine has {values}")
        if complete and verdict != UNKNOWN_VERDICT and not values.violated <= audit.violating_worlds.keys():
            differences.append(f"{values.violated} are violated at {point}")
        if values.violated & settled_rules:
            differences.append(f"{values.violated & settled_rules} are reported as kept, but violated at {point}")
        for aspect, value in zip(ASPECTS, values[:3], strict=True):
            worlds = audit.find_value_over_worlds(aspect)
            if (worlds is Worlds.ALL and value is not True) or (worlds is Worlds.NONE and value is not False):
                differences.append(f"{aspect} is {worlds.value} but {value} at {point}")
    return PlanComparison(
        differences, audit.run_count, len(points), tuple(audit.find_value_over_worlds(a) for a in ASPECTS)
    )


def _compare_with_kernel(
    replay_kernel: Kernel, plan: OpenPlan, point: dict[int, Fraction], values: WorldVerdict
) -> list[str]:
    """The difference from the replay kernel in a world; the kernel may know more where the engine gives up."""
    steps = tuple(s._replace(duration=point.get(n, s.duration)) for n, s in enumerate(plan.steps, 1))
    verdict = replay_kernel.audit(plan_text(steps))
    kernel_values = (verdict.executable, verdict.goal, verdict.safe)
    pairs = zip(values[:3], kernel_values, strict=True)
    differ = [engine for engine, kernel in pairs if engine is not None and engine != kernel]
    return [f"kernel {kernel_values} at {point}, engine {values}"] if differ else []
