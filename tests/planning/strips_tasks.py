"""Small random tasks without rules, and all their states."""

from __future__ import annotations

from collections import deque
from random import Random

from endless_tasks import checker_of

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution

Key = object


def draw_task(number: int) -> Checker:
    """A random task with three or four objects of one type, of which some may be interchangeable."""
    random = Random(f"strips {number}")
    objects = ["a", "b", "c", "d"][: random.choice((3, 3, 4))]

    def atom(scope: list[str]) -> str:
        name = random.choice(["(n)", "(p {})", "(q {})", "(r {} {})"])
        return name.format(*[random.choice(scope) for _ in range(2)])

    actions = []
    moves = random.random() < 0.5  # whether each action replaces a fact by another of the same object
    for name in ("go", "do", "put")[: random.choice((2, 3))]:
        scope = ["?x", "?y"][: random.choice((1, 2, 2))]
        signs = ["{}", "{}", "(not {})"]
        condition = " ".join([random.choice(signs).format(atom(scope)) for _ in range(random.choice((1, 2)))])
        effect = " ".join([random.choice(signs[1:]).format(atom(scope)) for _ in range(random.choice((1, 2)))])
        if moves:
            before, after = random.sample(["p", "q", "s"], 2)
            condition, effect = f"({before} ?x) {condition}", f"(not ({before} ?x)) ({after} ?x)"
        parameters = f":parameters ({' '.join(scope)} - t)"
        actions.append(f"(:action {name} {parameters} :precondition (and {condition}) :effect (and {effect}))")
    everything = ["(n)", *[f"({p} {o})" for p in "pqs" for o in objects]]
    everything += [f"(r {x} {y})" for x in objects for y in objects]
    init = " ".join([fact for fact in everything if random.random() < 0.25])
    goal = " ".join(random.sample(everything, random.choice((1, 2))))
    predicates = "(n) (p ?x - t) (q ?x - t) (s ?x - t) (r ?x ?y - t)"
    domain = f"(define (domain d) (:types t) (:predicates {predicates}) {' '.join(actions)})"
    problem = f"(define (problem p) (:domain d) (:objects {' '.join(objects)} - t) (:init {init}) (:goal (and {goal})))"
    return checker_of(domain, problem)


def list_states(checker: Checker, limit: int, avoided: tuple[int, int] | None = None) -> list[Execution] | None:
    """All reachable states, the nearest first; ``None`` beyond the limit. ``avoided``: leave out states with a fact."""
    start = Execution(checker.engine)
    if avoided is not None and avoided[1] in start.state.facts[avoided[0]]:
        return []
    states, visited, queue = [start], {start.key()}, deque([start])
    while queue:
        now = queue.popleft()
        for step in list(now.legal()):
            after = now.after(step)
            assert after is not None
            is_avoided = avoided is not None and avoided[1] in after.state.facts[avoided[0]]
            if after.key() not in visited and not is_avoided:
                visited.add(after.key())
                states.append(after)
                queue.append(after)
        if len(states) > limit:
            return None
    return states
