"""Check inferred groups of facts by their definition, with random states, steps and outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import TRUE, Action, And, Number, Task
from plansafe.verifier.symbolic.invariants.group_proofs import COUNTED, GroupAtom
from plansafe.verifier.symbolic.invariants.inference import InferredInvariant

Facts = list[set[int]]


def compile_task(domain: str, problem: str, *rules: str, lenient: bool = False) -> Checker:
    """Compile a task, and assert that it has no errors."""
    sources = [Source(f"rules{i}.safe", text) for i, text in enumerate(rules)]
    options = Options(lenient_types=lenient)
    compiled = Checker(Source("domain.pddl", domain), Source("problem.pddl", problem), sources, options)
    assert compiled.ok, [d.message for d in compiled.diagnostics]
    return compiled


def compile_domain(domain: str, objects: str, init: str = "", lenient: bool = False) -> Task:
    """The task of a domain with these objects."""
    problem = f"(define (problem p) (:domain d) (:objects {objects}) (:init {init}) (:goal (and)))"
    engine = compile_task(f"(define (domain d) {domain})", problem, lenient=lenient).engine
    return engine.task


# ---- groups ---------------------------------------------------------------------------------------------------------


def describe_invariant(task: Task, invariant: InferredInvariant) -> str:
    """``x: (on x *) (holding x) =1``."""
    names = "xyzuv"
    atoms = []
    for atom in invariant.atoms:
        words = ["*" if n == COUNTED else names[n] for n in atom.arguments]
        atoms.append(f"({' '.join([task.predicates[atom.predicate].name, *words])})")
    count = "=1" if invariant.exact else "<=1"
    return f"{names[: invariant.parameter_count]}: {' '.join(sorted(atoms))} {count}"


def parameter_binding(atom: GroupAtom, objects: tuple[int, ...]) -> tuple[int, ...]:
    """The binding of the parameters for which a fact is an instance."""
    parameter_values = {number: o for number, o in zip(atom.arguments, objects, strict=True) if number != COUNTED}
    return tuple([parameter_values[number] for number in range(len(parameter_values))])


def true_instances(
    task: Task, invariant: InferredInvariant, facts: Facts
) -> dict[tuple[int, ...], set[tuple[int, int]]]:
    """The true instances of an invariant by binding, for the bindings that have one."""
    instances_by_binding: dict[tuple[int, ...], set[tuple[int, int]]] = {}
    for atom in invariant.atoms:
        for code in facts[atom.predicate]:
            objects = task.decode(code, len(atom.arguments))
            instances_by_binding.setdefault(parameter_binding(atom, objects), set()).add((atom.predicate, code))
    return instances_by_binding


def remove_surplus_facts(task: Task, invariant: InferredInvariant, facts: Facts, random: Random) -> None:
    """Remove facts until no group has more than one true fact."""
    has_surplus = True
    while has_surplus:
        has_surplus = False
        for instances in true_instances(task, invariant, facts).values():
            for predicate, code in random.sample(sorted(instances), len(instances) - 1):
                facts[predicate].discard(code)
                has_surplus = True


def describe_break(task: Task, invariant: InferredInvariant, before: Facts, after: Facts) -> str | None:
    """Describe how a step broke a group that had at most one true fact; ``None`` if it did not."""
    groups_before, groups_after = true_instances(task, invariant, before), true_instances(task, invariant, after)
    for binding, instances in groups_after.items():
        if len(instances) > 1:
            return f"{[task.fact_text(*fact) for fact in sorted(instances)]} of {task.names(binding)}"
    if invariant.exact:
        for binding in groups_before:
            if len(groups_after.get(binding, ())) != 1:
                return f"no fact is left for {task.names(binding)}"
    return None


# ---- steps ----------------------------------------------------------------------------------------------------------


def random_state(task: Task, random: Random) -> tuple[Facts, list[dict[int, Number]]]:
    """Random well-typed facts and numbers, without derived facts."""
    derived = {axiom.predicate for stratum in task.axioms for axiom in stratum}
    facts: Facts = [set() for _ in task.predicates]
    for number, predicate in enumerate(task.predicates):
        density = random.choice((0.1, 0.3, 0.5, 0.8, 1.0))
        if number not in derived:
            for objects in product(*[task.domains[d] for d in predicate.domains]):
                if random.random() < density:
                    facts[number].add(task.encode(objects))
    fluents: list[dict[int, Number]] = [
        {task.encode(objects): random.randint(-1, 1) for objects in product(*[task.domains[d] for d in f.domains])}
        for f in task.functions
    ]
    return facts, fluents


def action_bindings(task: Task, action: Action) -> Iterator[tuple[int, ...]]:
    """All combinations of objects for the parameters of an action."""
    yield from product(*[task.domains[v.domain] for v in action.parameters])


def random_successor(
    task: Task, facts: Facts, fluents: list[dict[int, Number]], action: Action, objects: tuple[int, ...], random: Random
) -> Facts | None:
    """The facts after a step, outcomes drawn at random; ``None`` if its precondition does not hold.

    A durative action makes its start or its end, at random.
    """
    evaluator = Evaluator(task, facts, fluents)
    snap = action.start if action.end is None or random.random() < 0.5 else action.end
    binding = dict(zip([v.slot for v in action.parameters], objects, strict=True))
    if evaluator.holds(And(snap.condition), binding) is not True:
        return None
    outcomes: dict[tuple[int, tuple[int, ...]], int] = {}
    adds: set[tuple[int, int]] = set()
    deletes: set[tuple[int, int]] = set()
    for effect in snap.effects:
        for chosen in product(*[task.domains[v.domain] for v in effect.variables]):
            inner = {**binding, **dict(zip([v.slot for v in effect.variables], chosen, strict=True))}
            happens = evaluator.holds(effect.condition, inner) is True
            for choice in effect.choices:
                which = choice.number, tuple([inner[v.slot] for v in choice.variables])
                happens &= outcomes.setdefault(which, random.randrange(choice.alternative_count)) == choice.alternative
            if happens and (effect.at_start is TRUE or random.random() < 0.5):
                adds |= {(a.predicate, task.code_of(a.arguments, inner)) for a in effect.adds}
                deletes |= {(a.predicate, task.code_of(a.arguments, inner)) for a in effect.deletes}
    after = [set(codes) for codes in facts]
    for predicate, code in deletes:
        after[predicate].discard(code)
    for predicate, code in adds:
        after[predicate].add(code)
    return after


def find_counterexample(
    task: Task, invariant: InferredInvariant, random: Random, states: int, steps: int
) -> str | None:
    """Take random walks from states in which the group holds, and describe the first step that breaks it."""
    actions = list(task.actions.values())
    bindings_of_action = {action.name: list(action_bindings(task, action)) for action in actions}
    for _ in range(states):
        facts, fluents = random_state(task, random)
        remove_surplus_facts(task, invariant, facts, random)
        taken_steps = 0
        for _ in range(8 * steps):
            action = random.choice(actions)
            if taken_steps >= steps or not bindings_of_action[action.name]:
                continue
            objects = random.choice(bindings_of_action[action.name])
            after = random_successor(task, facts, fluents, action, objects, random)
            if after is None:
                continue
            taken_steps += 1
            break_description = describe_break(task, invariant, facts, after)
            if break_description is not None:
                return f"{action.name} {task.names(objects)}: {break_description}"
            facts = after
    return None
