"""A footprint names everything that a ground action may write, and everything that its effects may depend on."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from compare import Both
from generate import case

from plansafe.verifier.execution.action_effects import interpret_effects
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.footprints import FootprintFinder, StateVariable, find_interference
from plansafe.verifier.model.nodes import Action, And, bind
from quick import quick_every


def execute(engine: Engine, state: State, action: Action, objects: tuple[int, ...]) -> object:
    """Whether an action can be taken in a state, and its changes, by definition."""
    evaluator = Evaluator(engine.task, state.facts, state.fluents)
    binding = bind(action.parameters, objects)
    try:
        changes = interpret_effects(evaluator, action.start, binding)
    except UndefinedNumber as undefined:
        changes = undefined.text
    return evaluator.holds(And(action.start.condition), binding), changes


def somewhere(engine: Engine, random: Random) -> State:
    """A state with random facts."""
    state = engine.make_initial_state()
    for predicate, declared in enumerate(engine.task.predicates):
        all_objects = product(*[engine.task.domains[domain] for domain in declared.domains])
        state.facts[predicate] = {engine.task.encode(objects) for objects in all_objects if random.random() < 0.5}
    return settled(engine, state)


def settled(engine: Engine, state: State) -> State:
    """The state with its derived facts."""
    if engine.axioms is not None:
        engine.axioms.compute(state.facts, state.fluents)
    return state


def other_than(engine: Engine, state: State, key: StateVariable) -> State:
    """The state with another value for one fact or fluent."""
    changed, base = state.fork(), len(engine.task.predicates)
    subject, code = key
    if subject < base:
        changed.facts[subject] = changed.facts[subject] ^ {code}
    else:
        values = changed.fluents[subject - base] = dict(changed.fluents[subject - base])
        values[code] = values.get(code, 0) + 1
    return settled(engine, changed)


def keys(engine: Engine) -> list[StateVariable]:
    """All facts and fluents."""
    declared = [*engine.task.predicates, *engine.task.functions]
    spaces = [product(*[engine.task.domains[domain] for domain in symbol.domains]) for symbol in declared]
    return [(subject, engine.task.encode(objects)) for subject, space in enumerate(spaces) for objects in space]


@pytest.mark.parametrize("most", [0, 5, float("inf")])
@pytest.mark.parametrize("stream", quick_every(6, ["mixed", "clashes"]))
def test_nothing_else_is_written_and_nothing_else_matters(stream: str, most: float) -> None:
    unread = written = 0
    for number in range(6):
        both = Both(case(stream, 5, number, rules=1, plans=1))
        if both.problem:
            continue
        engine, random = both.checker.engine, Random(f"{stream} {number} {most}")
        footprints, derived = (
            FootprintFinder(engine.task, most),
            engine.axioms.derived if engine.axioms else frozenset(),
        )
        mutable = [key for key in keys(engine) if key[0] not in derived]
        for action in engine.task.actions.values():
            if action.end is not None:
                continue
            space = list(product(*[engine.task.domains[v.domain] for v in action.parameters]))
            for objects in random.sample(space, min(3, len(space))):
                footprint = footprints.find_action_footprint(action, bind(action.parameters, objects))
                state = somewhere(engine, random)
                outcome = execute(engine, state, action, objects)
                if not isinstance(outcome[1], str):
                    written += len(outcome[1].adds)
                    assert footprint.adds.issuperset(outcome[1].adds)
                    assert footprint.deletes.issuperset(outcome[1].deletes)
                    base = len(engine.task.predicates)
                    assert {
                        (base + update.function, update.code) for update in outcome[1].updates
                    } <= footprint.writes.keys()
                for key in random.sample(mutable, min(25, len(mutable))):
                    needs = (
                        key in footprint.reads or key[0] in footprint.unbounded_reads or key in footprint.writes
                    )  # an increase reads the old value
                    if not needs:
                        unread += 1
                        assert execute(engine, other_than(engine, state, key), action, objects) == outcome
    assert unread > 100
    assert written > 10


def test_interference_is_symmetric() -> None:
    for number in range(4):
        both = Both(case("clashes", 6, number, rules=1, plans=1))
        engine = both.checker.engine
        action_footprints = [
            engine.footprints.find_action_footprint(action, bind(action.parameters, objects))
            for action in engine.task.actions.values()
            for objects in list(product(*[engine.task.domains[v.domain] for v in action.parameters]))[:4]
        ]
        for first, second in product(action_footprints, repeat=2):
            assert (find_interference(first, second) is None) is (find_interference(second, first) is None)
