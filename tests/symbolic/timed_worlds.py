"""Generate timed plans of durative tasks in which facts, and sometimes outcomes, are open."""

from __future__ import annotations

from random import Random

from case import Case, Plan, Sexp, plan_text, write
from durations_random import generate_open_case
from worlds_case import WorldsCase


def generate_timed_case(seed: int, number: int) -> WorldsCase:
    """The case of this number: a task of :mod:`durations_random` with durations that are known and open facts."""
    random = Random(f"timed worlds {seed} {number}")
    open_timed_case = generate_open_case(seed, number, plans=1)
    case, plan = open_timed_case.case, open_timed_case.plans[0].steps
    if random.random() < 0.3:
        case = case._replace(structures=tuple(_make_optional(random, structure) for structure in case.structures))
    elif random.random() < 0.3:
        structures = list(case.structures)
        action_index = random.choice([n for n, s in enumerate(structures) if s[0] in (":action", ":durative-action")])
        structures[action_index] = _add_choice_per_cup(random, structures[action_index])
        case = case._replace(structures=tuple(structures))
    if random.random() < 0.2:
        case = case._replace(constraints=tuple(("preference", f"soft-{i}", c) for i, c in enumerate(case.constraints)))
    case = case._replace(init=_leave_facts_open(random, case))
    texts = (case.domain_text(), case.problem_text(), tuple(text for text in [case.safety_text()] if text))
    return WorldsCase(*texts, _format_plan(random, plan), f"timed {seed} {number}")


def _make_optional(random: Random, structure: Sexp) -> Sexp:
    """Let an action have no effect as another outcome."""
    if structure[0] != ":action" or random.random() < 0.5:
        return structure
    parts = list(structure)
    place = parts.index(":effect") + 1
    parts[place] = ("oneof", parts[place], ("and",))
    return tuple(parts)


def _add_choice_per_cup(random: Random, structure: Sexp) -> Sexp:
    """Add an effect that chooses for each cup among alternatives that overlap."""
    parts = list(structure)
    pool: list[Sexp] = [("p", "?z"), ("q", "?z"), ("not", ("p", "?z")), ("n",)]
    alternatives = [("and", *random.sample(pool[:3], random.choice((1, 2)))), ("and", *random.sample(pool, 2))]
    chosen: Sexp = ("forall", ("?z", "-", "cup"), ("oneof", *alternatives))
    if structure[0] == ":durative-action":
        chosen = ("at", random.choice(("start", "end")), chosen)
    place = parts.index(":effect") + 1
    parts[place] = ("and", parts[place], chosen)
    return tuple(parts)


def _leave_facts_open(random: Random, case: Case) -> tuple[Sexp, ...]:
    """The initial state with some facts left open: given facts, and facts that rules may read."""
    initial_facts = [fact for fact in case.init if fact[0] not in ("=", "at", "not")]
    objects = [name for name, _ in case.objects]
    rule_facts: list[Sexp] = [(name, o) for name in ("p", "q") for o in objects] + [("n",)]
    well_typed_facts = (
        {("p", o) for o in objects} | {("n",)} | {("q", o) for o, kind in case.objects if kind != "agent"}
    )
    candidates = [
        fact
        for fact in dict.fromkeys([*initial_facts, *rule_facts])
        if fact in well_typed_facts or fact in initial_facts
    ]
    remaining_facts = random.sample(candidates, min(len(candidates), random.choice((1, 2, 2, 3, 4))))
    statements: list[Sexp] = []
    while remaining_facts:
        size = random.choice((1, 1, 2))
        statement_facts, remaining_facts = remaining_facts[:size], remaining_facts[size:]
        kind = random.choice(("or", "oneof")) if len(statement_facts) == 2 else "unknown"
        statements.append((kind, *statement_facts))
    opened = {fact for statement in statements for fact in statement[1:]}
    return (*[fact for fact in case.init if fact not in opened], *statements)


def _format_plan(random: Random, plan: Plan) -> str:
    """The plan as lines, or as a definition."""
    if random.random() < 0.8:
        return plan_text(plan)
    steps = []
    for step in plan:
        duration = "" if step.duration is None else f" {float(step.duration)}"
        steps.append(f"(at {float(step.time or 0)} {write(step.words)}{duration})")
    return f"(define (plan random) (:steps {' '.join(steps)}))\n"
