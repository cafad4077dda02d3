"""Generate small tasks with open facts, specifications of all kinds, and plans that fit some of their worlds.

The vocabulary and the formulas come from ``tests/property``. ``worlds_case(mode, seed, number)`` is a function of
its arguments. Modes: ``facts`` (open facts, numbers with finitely many values, outcomes), ``intervals`` (numbers of
with intervals) and ``orders`` (also partially ordered plans).
"""

from __future__ import annotations

from math import prod
from random import Random

from case import PREDICATES, Case, Plan, Sexp, Step, plan_text, write
from formulas import SUBTYPES, Formulas, Scope, Style, heads, related
from generate import _Generator
from timed_worlds import generate_timed_case
from worlds_brute import enumerate_orders, sample_numbers
from worlds_case import WorldsCase

from plansafe.verifier.kernel import Kernel, KernelRejects, World

MODES = ("facts", "intervals", "orders", "one-order", "timed")
STREAMS = ("pddl3", "ltl", "past", "steps", "ends", "mixed")
MAX_WORLDS = 2_000
MAX_OPEN = 7
VALUES = ("0", "1", "2", "-1", "0.5")
LIMITS = ("0", "1", "2", "3")


def generate_worlds_case(mode: str, seed: int, number: int) -> WorldsCase:
    """The case of a mode with this number. It has at most about 2,000 worlds, mostly fewer than 100."""
    if mode == "timed":
        return generate_timed_case(seed, number)
    random = Random(f"worlds {mode} {seed} {number}")
    impossible = random.random() < 0.02
    while True:
        generator = _WorldsGenerator(mode, random)
        case = generator.generate(f"{mode}-{seed}-{number}", impossible)
        if case is not None:
            return case


def list_condition_atoms(expression: Sexp, inside: bool) -> list[Sexp]:
    """The atoms in the conditions of an action: below ``:precondition`` and in the first part of a ``when``."""
    if isinstance(expression, str):
        return []
    if inside and expression and expression[0] in ("p", "q", "r", "s", "n"):
        return [expression]
    condition_atoms: list[Sexp] = []
    for i, part in enumerate(expression):
        is_condition = expression[i - 1] == ":precondition" or (expression[0] == "when" and i == 1)
        condition_atoms += list_condition_atoms(part, inside or is_condition)
    return condition_atoms


class _WorldsGenerator(_Generator):
    def __init__(self, mode: str, random: Random) -> None:
        self.mode = mode
        self.stream = random.choice(STREAMS)
        self.random = random
        objects = [("c1", "cup"), ("p1", "pan"), ("c2", "cup"), ("a1", "agent")]
        objects = objects[: random.choice((2, 3, 3, 3, 4))]
        random.shuffle(objects)
        self.objects = dict(objects)
        self.constants = frozenset(o for o in self.objects if random.random() < 0.6)
        self.style = Style(
            numeric=mode == "intervals" or random.random() < 0.35,
            partial=random.random() < 0.15,
            derived=random.random() < 0.12,
            actions=random.random() < 0.5,
            timed=False,
        )
        self.formulas = Formulas(random, self.objects, self.style)
        self.in_domain = Formulas(random, {o: self.objects[o] for o in self.objects if o in self.constants}, self.style)
        self.outcome_probability = random.choice((0.0, 0.25, 0.25, 0.4))
        self.effects_by_action: dict[str, Sexp] = {}  # the effects of actions
        self.condition_atoms: list[Sexp] = []  # atoms in their conditions

    # -- whole cases ---------------------------------------------------------------------------------------------------

    def generate(self, name: str, impossible: bool) -> WorldsCase | None:
        """A case; ``None`` if its open facts and numbers have no completion, or too many."""
        structures = [*self.axioms(), *self.sample_free_actions(), *self.actions()]
        for structure in structures:
            if structure[0] == ":action":
                self.effects_by_action[str(structure[1])] = structure[structure.index(":effect") + 1]
                self.condition_atoms += list_condition_atoms(structure, False)
        initial_facts, statements = self.generate_initial_state()
        opening = self.open_sections()
        case = Case(
            name,
            tuple(self.objects.items()),
            self.constants,
            tuple(structures),
            (*initial_facts, *statements),
            ("and",),
            (),
            (),
            (),
            (),
        )
        domain = case.domain_text()
        specs = [f"(define (safety open)\n  {' '.join(map(write, opening))})\n"] if opening else []
        try:
            kernel = Kernel(domain, case.problem_text(), specs)
        except KernelRejects:  # nothing of this generator is wrong but by chance: two values, a fact and its negation
            return None
        if len(kernel.open_facts) > MAX_OPEN or len(kernel.open_fluents) > 2:
            return None
        starts = self.list_start_worlds(kernel)
        if not starts:
            return WorldsCase(domain, case.problem_text(), tuple(specs), "", name) if impossible else None
        if not kernel.is_open and self.random.random() < 0.9:
            return None
        plan = self.generate_plan(kernel, starts)
        goal, rules = self.choose_goal_and_rules(case, specs, plan, starts)
        constraints = (self.constraint(self.formulas),) if self.random.random() < 0.15 else ()
        case = case._replace(goal=goal, constraints=constraints)
        worlds = prod(self.count_outcomes(self.effects_by_action[step.words[0]]) for step in plan) * len(starts)
        text = {"orders": self.format_partial_order, "one-order": self.format_single_order}.get(
            self.mode, lambda plan, _: plan_text(plan)
        )(plan, worlds)
        return WorldsCase(domain, case.problem_text(), (*specs, *self.format_specifications(rules)), text, name)

    def list_start_worlds(self, kernel: Kernel) -> list[World]:
        """All completions, or a sample of them if numbers have intervals."""
        if self.mode != "intervals":
            return [World(facts, numbers) for facts, numbers in kernel.completions()]
        worlds = []
        for _ in range(40):
            facts = frozenset(fact for fact in kernel.open_facts if self.random.random() < 0.5)
            grids = {fluent: sample_numbers(limits) for fluent, limits in kernel.open_fluents.items()}
            if not all(grids.values()):
                return []
            numbers = {fluent: self.random.choice(grid) for fluent, grid in grids.items()}
            if kernel.allows(facts, numbers):
                worlds.append(World(facts, numbers))
        return worlds

    def world_with_random_outcomes(self) -> World:
        """A world with random outcomes, which do not depend on the order of queries."""
        salt = self.random.random()
        return World(choose=lambda *key: Random(f"{salt} {key[:3]}").randrange(key[3]))

    def sample_worlds(self, starts: list[World], count: int) -> list[World]:
        """A sample of worlds, whose order of steps is that of the plan's text."""
        return [
            self.random.choice(starts)._replace(choose=self.world_with_random_outcomes().choose) for _ in range(count)
        ]

    # -- open facts and numbers ---------------------------------------------------------------------------------------

    def generate_initial_state(self) -> tuple[list[Sexp], list[Sexp]]:
        """The facts and values of ``:init``, and its statements about open facts and numbers."""
        random, ground = self.random, self.formulas
        initial_facts: list[Sexp] = sorted({ground.atom({}, ground.basic) for _ in range(random.randint(0, 6))})
        fluents: list[Sexp] = [*[("f", o) for o in self.objects], ("g",)]
        numbers: list[Sexp] = []
        statements: list[Sexp] = []
        if self.style.numeric:
            random.shuffle(fluents)
            count = random.choice((1, 1, 2)) if self.mode == "intervals" else random.choice((0, 1, 1, 2))
            numbers, closed = fluents[:count], fluents[count:]
            initial_facts += [
                ("=", f, random.choice(VALUES)) for f in closed if not self.style.partial or random.random() < 0.8
            ]
        for fluent in numbers:
            statements += (
                self.interval_statements(fluent) if self.mode == "intervals" else [self.oneof_statement(fluent)]
            )
        for _ in range(random.choice((0, 1, 2, 3, 3, 4, 5))):
            statements.append(self.unknown_statement(initial_facts))
        random.shuffle(statements)
        return initial_facts, statements

    def fact(self) -> Sexp:
        """A fact, mostly of a predicate in a condition of an action."""
        names = self.formulas.basic
        if self.condition_atoms and self.random.random() < 0.7:
            names = [str(self.random.choice(self.condition_atoms)[0])]
        return self.formulas.atom({}, names)

    def literal(self) -> Sexp:
        """A fact, or the negation of one."""
        atom = self.fact()
        return ("not", atom) if self.random.random() < 0.25 else atom

    def unknown_statement(self, initial_facts: list[Sexp]) -> Sexp:
        """``unknown``, ``or`` or ``oneof`` about facts."""
        kind = self.random.choice(("unknown", "unknown", "or", "oneof", "oneof"))
        if kind == "unknown":
            atom = self.fact()
            return ("or", atom, ("not", atom)) if atom in initial_facts else ("unknown", atom)
        alternatives: list[Sexp] = []
        for _ in range(self.random.choice((1, 2, 2, 2, 3))):
            both = self.random.random() < 0.3
            alternatives.append(("and", *[self.literal() for _ in range(2)]) if both else self.literal())
        return (kind, *alternatives)

    def oneof_statement(self, fluent: Sexp) -> Sexp:
        """``oneof`` about a fluent, with facts in some of its alternatives."""
        alternatives: list[Sexp] = []
        for value in self.random.sample(VALUES, self.random.choice((2, 2, 3))):
            extra = [self.literal()] if self.random.random() < 0.2 else []
            alternatives.append(("and", ("=", fluent, value), *extra) if extra else ("=", fluent, value))
        return ("oneof", *alternatives)

    def interval_statements(self, fluent: Sexp) -> list[Sexp]:
        """One or two statements about the interval of a number."""
        low, high = sorted(self.random.sample(LIMITS, 2), key=float)
        roll = self.random.random()
        less, more = self.random.choice(("<", "<=", "<=")), self.random.choice((">", ">=", ">="))
        if roll < 0.55:
            return [(less, low, fluent, high) if roll < 0.4 else (more, high, fluent, low)]
        if roll < 0.7:
            return [(less, fluent, high), (less, low, fluent)]
        if roll < 0.85:
            return [self.random.choice([(less, fluent, high), (more, fluent, low), (less, low, fluent)])]
        return [("unknown", fluent)]

    def open_sections(self) -> list[Sexp]:
        """``:open`` and ``:invariant`` sections."""
        random = self.random
        sections: list[Sexp] = []
        if random.random() < 0.4:
            names = ["p", "q", "s", "n", *(["r"] if len(self.objects) < 3 else [])]
            sections.append(
                (":open", *[self.open_predicate(name) for name in random.sample(names, random.choice((1, 1, 2)))])
            )
        for i in range(random.choice((0, 1, 2)) if sections else random.choice((0, 0, 0, 1))):
            scope, declared = self.rule_parameters()
            head: tuple[Sexp, ...] = (":invariant", f"law-{i}", *((":parameters", declared) if scope else ()))
            if random.random() < 0.5:
                sections.append((*head, ":holds", self.formulas.formula(random.randint(1, 2), scope)))
            else:
                kind = random.choice((":exactly-one", ":at-most-one", ":at-most-one"))
                sections.append((*head, kind, tuple(self.counted_atom(scope) for _ in range(random.choice((1, 1, 2))))))
        return sections

    def open_predicate(self, name: str) -> Sexp:
        """A predicate with variables, some of which have types, or with one variable twice."""
        words: list[str] = [name]
        types = heads(PREDICATES[name])
        if len(types) == 2 and types[0] == types[1] and self.random.random() < 0.2:
            return (name, "?x", "?x")
        for i, kind in enumerate(types):
            words.append(f"?x{i}")
            if self.random.random() < 0.4 or i + 1 < len(types):  # a later type would also apply to this variable
                words += ["-", self.random.choice(SUBTYPES[kind])]
        return tuple(words)

    def counted_atom(self, scope: Scope) -> Sexp:
        """An atom with parameters, objects, and variables of its own."""
        name = self.random.choice(self.formulas.names)
        words = [name]
        for i, kind in enumerate(heads(PREDICATES[name])):
            fitting = [v for v, variable_kind in scope.items() if related(variable_kind, kind)]
            roll = self.random.random()
            object_name = self.formulas.term(kind, {}) if roll < 0.2 else None
            words.append(object_name or (self.random.choice(fitting) if fitting and roll < 0.6 else f"?u{i}"))
        return tuple(words)

    # -- actions ------------------------------------------------------------------------------------------------------

    def sample_free_actions(self) -> list[Sexp]:
        """A sample of the actions that only set and clear facts, which plans may also use."""
        free_actions = self.free_actions()
        sample = self.random.sample(free_actions, min(len(free_actions), self.random.randint(2, 5)))
        if self.outcome_probability and self.random.random() < 0.5:
            sample.append((":action", "each-chooses", ":parameters", (), ":effect", self.forall_oneof({})))
            self.declare("each-chooses", [])
        names = {str(structure[1]) for structure in sample}
        for formulas in (self.formulas, self.in_domain):
            formulas.actions = {name: types for name, types in formulas.actions.items() if name in names}
        return [self.add_precondition(structure) if self.random.random() < 0.3 else structure for structure in sample]

    def add_precondition(self, structure: Sexp) -> Sexp:
        """An action with a precondition about its parameters, or about an object."""
        words = [str(word) for word in structure[3]]
        scope = {words[0]: words[-1]} if len(words) == 3 else {}
        return (*structure, ":precondition", self.in_domain.formula(self.random.choice((0, 0, 1)), scope))

    def effect(self, scope: Scope, depth: int) -> Sexp:
        """An effect of the base class, or a choice of outcomes."""
        if depth and self.random.random() < self.outcome_probability / 2:
            return self.forall_oneof(scope)
        if depth and self.random.random() < self.outcome_probability:
            count = self.random.choice((2, 2, 2, 3))
            alternatives: list[Sexp] = [self.effect(scope, depth - 1) for _ in range(count)]
            if self.random.random() < 0.3:
                alternatives[self.random.randrange(count)] = ("and",)
            return ("oneof", *alternatives)
        return super().effect(scope, depth)

    def forall_oneof(self, scope: Scope) -> Sexp:
        """A ``oneof`` below ``forall``: each of several objects chooses among alternatives that overlap."""
        random = self.random
        variables = {
            v: random.choice(("object", "thing", "cup", "cup"))
            for v in ("?each", "?other")[: random.choice((1, 1, 1, 2))]
        }
        inner = {**scope, **variables}
        pool = [super(_WorldsGenerator, self).effect(variables, 0) for _ in range(random.choice((2, 3, 3)))]
        alternatives: list[Sexp] = []
        for _ in range(random.choice((2, 2, 2, 3))):
            alternative: Sexp = ("and", *random.sample(pool, random.randint(1, len(pool))))
            roll = random.random()
            if roll < 0.15:
                alternative = ("when", self.in_domain.formula(1, inner), alternative)
            elif roll < 0.25:
                alternative = ("oneof", alternative, random.choice(pool))
            alternatives.append(alternative if roll < 0.9 else ("and",))
        chosen: Sexp = ("oneof", *alternatives)
        if random.random() < 0.3:
            chosen = ("and", chosen, random.choice(pool))
        if random.random() < 0.4:
            chosen = ("when", self.in_domain.formula(random.choice((0, 1)), inner), chosen)
        return ("forall", tuple(word for v, kind in variables.items() for word in (v, "-", kind)), chosen)

    def count_outcomes(self, effect: Sexp) -> int:
        """The maximum number of outcomes of an effect."""
        match effect:
            case ("oneof", *alternatives):
                return sum(self.count_outcomes(alternative) for alternative in alternatives)
            case ("and", *parts):
                return prod(self.count_outcomes(part) for part in parts)
            case ("when", _, inside):
                return self.count_outcomes(inside)
            case ("forall", (*typed,), inside):
                kinds = [str(kind) for kind in typed[2::3]]
                bindings = prod(
                    sum(object_kind in SUBTYPES[kind] for object_kind in self.objects.values()) for kind in kinds
                )
                return self.count_outcomes(inside) ** bindings
        return 1

    # -- plans --------------------------------------------------------------------------------------------------------

    def generate_plan(self, kernel: Kernel, starts: list[World]) -> Plan:
        """Steps that are executable in a few sample worlds, except sometimes one step, and have few outcomes."""
        random = self.random
        budget = max(1, random.choice((32, 64, 100, 100, 200, MAX_WORLDS)) // min(len(starts), 60))
        sampled = self.sample_worlds(starts, 4)
        length = random.choice((0, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6))
        exception_index = random.randrange(length) if length and random.random() < 0.75 else -1
        exception_share = random.choice(("some", "some", "some", "none", "none"))
        steps: list[Step] = []
        for i in range(length):
            best_step: tuple[int, Step, int] | None = None
            for _ in range(12 if i == exception_index else 4):
                step = self.random_step()
                width = self.count_outcomes(self.effects_by_action[step.words[0]]) if step else 0
                if step is None or width > budget:
                    continue
                text = plan_text((*steps, step))
                executable_values = set[bool]()
                for guide in sampled:
                    executable_values.add(kernel.audit(text, guide, other_readings=()).executable)
                    if len(executable_values) == 2:
                        break
                share = "some" if len(executable_values) == 2 else "all" if executable_values == {True} else "none"
                distance = (
                    ("some", "all", "none").index(share)
                    if i == exception_index
                    else ("all", "some", "none").index(share)
                )
                distance = 0 if i == exception_index and share == exception_share else distance
                if best_step is None or distance < best_step[0]:
                    best_step = distance, step, width
                if distance == 0:
                    break
            if best_step is not None and (best_step[0] < 2 or i == exception_index):
                steps.append(best_step[1])
                budget //= best_step[2]
        if steps and random.random() < 0.01:
            steps[-1] = Step((*steps[-1].words, "c1"))
        return tuple(steps)

    def random_step(self) -> Step | None:
        """An action with objects, those with preconditions more often."""
        names = [*self.formulas.actions]
        several = [name for name in names if "?each" in write(self.effects_by_action[name])]
        name = self.random.choice(names + 2 * [name for name in names if "-" not in name] + 6 * several)
        objects = [self.formulas.term(kind, {}) for kind in self.formulas.actions[name]]
        return None if None in objects else Step((name, *[o for o in objects if o is not None]))

    def format_partial_order(self, plan: Plan, worlds: int) -> str:
        """The plan as a partial order of its first five steps, with few orders if each has many worlds."""
        random = self.random
        names = [f"s{i}" if random.random() < 0.7 else str(i) for i in range(1, len(plan[:5]) + 1)]
        steps = [
            write(step.words) if name.isdigit() else f"({name} {write(step.words)})"
            for name, step in zip(names, plan, strict=False)
        ]
        pairs = [(i, j) for j in range(len(names)) for i in range(j)]
        random.shuffle(pairs)
        pair_count = random.randint(0, len(pairs))
        while True:
            ordering = " ".join(f"(< {names[i]} {names[j]})" for i, j in sorted(pairs[:pair_count]))
            text = f"(define (plan random)\n  (:steps {' '.join(steps)})\n  (:ordering {ordering}))\n"
            if len([*enumerate_orders(text)]) * worlds <= MAX_WORLDS // 4 or pair_count == len(pairs):
                return text
            pair_count += 1

    def format_single_order(self, plan: Plan, _worlds: int) -> str:
        """The plan as a partial order that allows only one order, mostly another order than the list of steps."""
        labels = [f"s{i}" for i in range(len(plan))]
        listed = [f"({label} {write(step.words)})" for label, step in zip(labels, plan, strict=True)]
        self.random.shuffle(listed)
        ordering = f"(< {' '.join(labels)})" if len(labels) > 1 else ""
        return f"(define (plan random)\n  (:steps {' '.join(listed)})\n  (:ordering {ordering}))\n"

    # -- goals and rules ----------------------------------------------------------------------------------------------

    def choose_goal_and_rules(
        self, case: Case, specs: list[str], plan: Plan, starts: list[World]
    ) -> tuple[Sexp, list[Sexp]]:
        """A goal and rules, each drawn from eight by whether they hold in all, some or none of a few worlds."""
        random = self.random
        goals = {f"goal-{i}": self.formulas.formula(random.choice((0, 1, 1, 2)), {}) for i in range(8)}
        rules = {f"rule-{i}": self.random_rule(f"rule-{i}") for i in range(8)}
        goal_rules = [(":termination", name, ":require", goal) for name, goal in goals.items()]
        spec = f"(define (safety tried) {' '.join(map(write, [*goal_rules, *rules.values()]))})"
        kernel, text = Kernel(case.domain_text(), case.problem_text(), [*specs, spec]), plan_text(plan)
        verdicts = [kernel.audit(text, world, other_readings=()) for world in self.sample_worlds(starts, 4)]
        violated_rules = [
            {f.rule for f in verdict.findings} | {name for name, _ in verdict.undecided} for verdict in verdicts
        ]
        violation_counts = {name: sum(name in violated for violated in violated_rules) for name in (*goals, *rules)}
        shares = {
            name: "all" if n == 0 else "none" if n == len(violated_rules) else "some"
            for name, n in violation_counts.items()
        }
        target_share = random.choice(("all", "all", "all", "some", "some", "none"))
        goal = random.choice([name for name in goals if shares[name] == target_share] or [*goals])
        target_share = random.choice(("all", "all", "some", "some", "some", "none", "any"))
        candidates = [name for name in rules if shares[name] == "all" or target_share == "any"]
        chosen_rules = random.sample(candidates, min(len(candidates), random.choice((0, 1, 1, 2, 3))))
        if target_share in ("some", "none"):
            chosen_rules += [name for name in rules if shares[name] == target_share][:1]
        random.shuffle(chosen_rules)
        return goals[goal], [rules[name] for name in chosen_rules]

    def random_rule(self, name: str) -> Sexp:
        """A rule of any kind."""
        self.stream = self.random.choice(STREAMS)
        return self.rule(name)

    def format_specifications(self, rules: list[Sexp]) -> list[str]:
        """The rules in one specification, or in two."""
        cut = 1 if len(rules) > 1 and self.random.random() < 0.2 else 0
        return [
            f"(define (safety random-{i})\n  " + "\n  ".join(map(write, part)) + ")\n"
            for i, part in enumerate((rules[:cut], rules[cut:]))
            if part
        ]
