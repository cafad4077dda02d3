"""Derived facts updated after the changes of a step equal those computed from scratch."""

from __future__ import annotations

from random import Random

import pytest
from engine_texts import checker, domain, problem

from plansafe.verifier.execution import axiom_joins
from plansafe.verifier.execution import axioms as engine_axioms
from plansafe.verifier.execution.axiom_joins import Facts
from plansafe.verifier.execution.axioms import Axioms, StepUpdate
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State, StateChange
from quick import quick_every

BASIC = {"p": 1, "q": 2, "r": 2, "z": 0}
LOWER = {"a": 1, "b": 2}
UPPER = {"c": 1, "d": 2}
TOP = {"e": 1, "g": 0}
PREDICATES = "(p ?x) (q ?x ?y) (r ?x ?y - thing) (z) (a ?x - thing) (b ?x ?y) (c ?x) (d ?x ?y - thing) (e ?x) (g)"
REACH = "(:derived (b ?x ?y) (or (q ?x ?y) (exists (?u) (and (q ?x ?u) (b ?u ?y)))))"


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Update incrementally and index even if the state has few facts and objects."""
    monkeypatch.setattr(engine_axioms, "MAX_RECOMPUTED_FACTS", -1)
    monkeypatch.setattr(axiom_joins, "MAX_UNINDEXED_OBJECTS", 0)


def engine(*axioms: str, object_count: int = 5) -> Engine:
    names = " ".join([f"t{n}" for n in range(object_count)])
    text = domain(*axioms, predicates=PREDICATES, functions="(f ?x)", types="thing - object")
    checked = checker(text, problem(objects=f"{names} - thing o - object"))
    assert checked.ok, checked.diagnostics
    return checked.engine


def record_recomputations(monkeypatch: pytest.MonkeyPatch) -> list[frozenset[int]]:
    """A list to which each update appends the predicates that it recomputes."""
    computed: list[frozenset[int]] = []

    def recompute(update: StepUpdate, rules: axiom_joins.StratumJoins, old: dict[int, set[int]]) -> None:
        computed.append(rules.predicates)
        original(update, rules, old)

    original = StepUpdate.recompute
    monkeypatch.setattr(StepUpdate, "recompute", recompute)
    return computed


class Bodies:
    """Random axioms of three strata: positive recursion in each, negation of those before, quantifiers, numbers."""

    def __init__(self, random: Random, hard: bool) -> None:
        self.random = random
        self.hard = hard

    def axioms(self) -> list[str]:
        out: list[str] = []
        before: dict[str, int] = dict(BASIC)
        for stratum in (LOWER, UPPER, TOP):
            for name, arity in stratum.items():
                for _ in range(self.random.choice((1, 1, 2))):
                    typed = " ".join([f"{v} - {self.random.choice(('thing', 'object'))}" for v in ("?x", "?y")[:arity]])
                    body = self.body(("?x", "?y")[:arity], before, stratum)
                    out.append(f"(:derived ({name} {typed}) {body})")
            before |= stratum
        return [axiom.replace("( ", "(") for axiom in out]

    def body(self, free: tuple[str, ...], before: dict[str, int], stratum: dict[str, int]) -> str:
        parts = []
        for number in range(self.random.choice((1, 2, 2, 3))):
            inner = f"?u{number}"
            literals = [self.literal((*free, inner), before, stratum) for _ in range(self.random.choice((1, 2, 2, 3)))]
            parts.append(f"(exists ({inner}) (and {' '.join(literals)}))")
        return f"(or {' '.join(parts)})"

    def literal(self, scope: tuple[str, ...], before: dict[str, int], stratum: dict[str, int]) -> str:
        kind = self.random.random()
        if self.hard and kind < 0.08:
            body = f"(or (not {self.atom((*scope, '?w'), before)}) {self.atom((*scope, '?w'), before | stratum)})"
            return f"(forall (?w - thing) {body})"
        if self.hard and kind < 0.14:
            return f"(> (f {self.random.choice(scope)}) 1)"
        if kind < 0.2:
            return f"(= {self.random.choice(scope)} {self.random.choice((*scope, 't0'))})".replace("t0", scope[0])
        if kind < 0.4:
            return f"(not {self.atom(scope, before)})"
        return self.atom(scope, stratum if kind > 0.75 else before)

    def atom(self, scope: tuple[str, ...], arities: dict[str, int]) -> str:
        name = self.random.choice(sorted(arities))
        return f"({' '.join([name, *[self.random.choice(scope) for _ in range(arities[name])]])})"


def change(random: Random, state: State, names: dict[str, int]) -> list[StateChange]:
    """Some facts and numbers change, now and then back again."""
    log: list[StateChange] = []
    base, size = len(state.facts), len(state.task.objects)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        if random.random() < 0.15:
            code, value = random.randrange(size), random.choice((0, 1, 2, 3))
            log.append((base, code, state.fluents[0].get(code)))
            state.fluents[0][code] = value
            continue
        name = random.choice(sorted(BASIC))
        predicate, code = names[name], random.randrange(size ** BASIC[name])
        holds = code in state.facts[predicate]
        (state.facts[predicate].discard if holds else state.facts[predicate].add)(code)
        log.append((predicate, code, not holds))
    return log


def derived(axioms: Axioms, facts: Facts) -> dict[int, set[int]]:
    return {predicate: set(facts[predicate]) for predicate in axioms.derived}


@pytest.mark.parametrize(("patience", "few", "unindexed"), [(1, -1, 0), (1, -1, 99), (3, -1, 0), (3, 24, 16)])
@pytest.mark.parametrize("hard", quick_every(6, [False, True]))
def test_updating_equals_recomputing(
    hard: bool, patience: int, few: int, unindexed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_axioms, "MAX_RECOMPUTED_FACTS", few)
    monkeypatch.setattr(axiom_joins, "MAX_UNINDEXED_OBJECTS", unindexed)
    monkeypatch.setattr(
        engine_axioms, "DELETION_SHARE", patience
    )  # 1: no stratum is recomputed because of many deletions
    recomputed = record_recomputations(monkeypatch)
    changed = 0
    for seed in range(15):
        random = Random(f"{seed} {hard}")
        task_engine = engine(*Bodies(random, hard).axioms())
        axioms, state = task_engine.axioms, task_engine.make_initial_state()
        assert axioms is not None
        names = {predicate.name: number for number, predicate in enumerate(task_engine.task.predicates)}
        for _ in range(17):
            before = derived(axioms, state.facts)
            sets = {predicate: state.facts[predicate] for predicate in axioms.derived}
            log = change(random, state, names)
            logged_before = len(log)
            axioms.update(state.facts, state.fluents, log)
            after = derived(axioms, state.facts)
            recomputed_facts = list(state.facts)
            axioms.compute(recomputed_facts, state.fluents)
            assert after == derived(axioms, recomputed_facts), seed
            expected_changes = {
                (predicate, code, False) for predicate in before for code in before[predicate] - after[predicate]
            }
            expected_changes |= {
                (predicate, code, True) for predicate in before for code in after[predicate] - before[predicate]
            }
            assert set(log[logged_before:]) == expected_changes
            assert len(log) - logged_before == len(expected_changes)
            changed += len(expected_changes)
            for predicate, shared_set in sets.items():
                assert shared_set == before[predicate], "a set that a copy may share was changed in place"
                assert (state.facts[predicate] is shared_set) == (before[predicate] == after[predicate])
            if random.random() < 0.3:
                state.undo(log)
                assert derived(axioms, state.facts) == before
    assert changed > 500
    if patience == 1 and not hard:
        assert not recomputed


def test_a_ring_that_is_cut_and_closed() -> None:
    """Facts that only support each other in a cycle must be deleted."""
    task_engine = engine(REACH, object_count=6)
    axioms, state = task_engine.axioms, task_engine.make_initial_state()
    assert axioms is not None
    names = {predicate.name: number for number, predicate in enumerate(task_engine.task.predicates)}
    q, b, size = names["q"], names["b"], len(task_engine.task.objects)
    ring = [n * size + (n + 1) % 6 for n in range(6)]
    for code in ring:
        state.facts[q].add(code)
    axioms.update(state.facts, state.fluents, [(q, code, True) for code in ring])
    assert len(state.facts[b]) == 36
    state.facts[q].remove(ring[0])
    log: list[StateChange] = [(q, ring[0], False)]
    axioms.update(state.facts, state.fluents, log)
    assert len(state.facts[b]) == 15
    assert len(log) == 1 + 21


@pytest.mark.parametrize(
    ("body", "removed", "added"),
    [
        ("(and (p ?x) (z))", ("p", "z"), ()),
        ("(and (p ?x) (not (q ?x ?x)))", ("p",), ("q",)),
        ("(exists (?y) (and (q ?x ?y) (p ?y)))", ("p", "q"), ()),
    ],
)
def test_a_fact_is_deleted_if_all_its_supports_change_in_one_step(
    body: str, removed: tuple[str, ...], added: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deletions are derived in the state before the step: after the step, each support lacks its other condition."""
    monkeypatch.setattr(engine_axioms, "DELETION_SHARE", 1)
    computed = record_recomputations(monkeypatch)
    task_engine = engine(f"(:derived (c ?x) {body})")
    axioms, state = task_engine.axioms, task_engine.make_initial_state()
    assert axioms is not None
    names = {predicate.name: number for number, predicate in enumerate(task_engine.task.predicates)}
    for name in removed:
        state.facts[names[name]].add(0)
    axioms.update(state.facts, state.fluents, [(names[name], 0, True) for name in removed])
    assert state.facts[names["c"]] == {0}
    log: list[StateChange] = [(names[name], 0, name in added) for name in (*removed, *added)]
    for predicate, code, value in log:
        (state.facts[predicate].add if value else state.facts[predicate].discard)(code)
    axioms.update(state.facts, state.fluents, log)
    assert state.facts[names["c"]] == set()
    assert log[-1] == (names["c"], 0, False)
    assert not computed


def test_a_change_recomputes_only_the_strata_that_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A universally quantified axiom is recomputed if a fact that it reads has changed; others are not."""
    task_engine = engine(
        REACH, "(:derived (c ?x) (forall (?u) (or (not (b ?x ?u)) (p ?u))))", "(:derived (e ?x) (not (c ?x)))"
    )
    axioms, state = task_engine.axioms, task_engine.make_initial_state()
    assert axioms is not None
    names = {predicate.name: number for number, predicate in enumerate(task_engine.task.predicates)}
    computed = record_recomputations(monkeypatch)
    state.facts[names["p"]].add(0)
    axioms.update(state.facts, state.fluents, [(names["p"], 0, True)])
    assert computed == [frozenset([names["c"]])]


def test_a_change_of_a_number_alone_changes_a_derived_fact() -> None:
    task_engine = engine("(:derived (a ?x - thing) (> (f ?x) 1))")
    axioms, state = task_engine.axioms, task_engine.make_initial_state()
    assert axioms is not None
    code = task_engine.task.objects.index("t1")
    state.fluents[0][code] = 2
    log: list[StateChange] = [(len(state.facts), code, None)]
    axioms.update(state.facts, state.fluents, log)
    [predicate] = axioms.derived
    assert state.facts[predicate] == {code}
    assert log[1:] == [(predicate, code, True)]
