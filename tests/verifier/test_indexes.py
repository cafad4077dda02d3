"""Forks of indexes are independent: each has the entries of its own facts or instances."""

from __future__ import annotations

from random import Random

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.compile.code_builder import IndexKey
from plansafe.verifier.compile.triggers import compile_read_patterns
from plansafe.verifier.execution.monitors.index import FactIndexes, InstanceIndex

SIZE = 3
DOMAIN = Source("d", "(define (domain d) (:predicates (near ?x ?y) (on ?x ?y)) (:action wait))")
PROBLEM = Source("p", "(define (problem p) (:domain d) (:objects a b c) (:init) (:goal (and)))")
RULE = Source(
    "s",
    """(define (safety s) (:domain d) (:process r :parameters (?x ?y)
      :forbid (and (exists (?z) (near ?x ?z)) (near ?y ?x) (on a ?y))))""",
)
ENGINE = Checker(DOMAIN, PROBLEM, [RULE]).engine
PATTERNS = compile_read_patterns(ENGINE.emitter, ENGINE.rule_set.parts[0].body, ENGINE.rule_set.parts[0].parameters)


def find_readers(bindings: set[tuple[int, ...]], predicate: int, code: int) -> set[tuple[int, ...]]:
    """The bindings for which some pattern reads a fact, by the definition."""
    return {
        binding
        for binding in bindings
        for pattern in PATTERNS
        if pattern.predicate == predicate
        and pattern.key(code) == tuple([binding[position] for position in pattern.parameters])
    }


def test_forks_of_an_instance_index_find_the_readers_among_their_own_instances() -> None:
    assert {pattern.parameters for pattern in PATTERNS} == {(0,), (1,), (1, 0)}
    for seed in range(40):
        rng = Random(seed)
        forks: list[tuple[InstanceIndex, set[tuple[int, ...]]]] = [(InstanceIndex(PATTERNS), set())]
        for _ in range(60):
            index, bindings = rng.choice(forks)
            binding = (rng.randrange(SIZE), rng.randrange(SIZE))
            if rng.random() < 0.1:
                forks.append((index.fork(), set(bindings)))
            elif binding in bindings:
                index.remove(binding)
                bindings.remove(binding)
            else:
                index.add(binding)
                bindings.add(binding)
            for index, bindings in forks:
                predicate, code = rng.randrange(2), rng.randrange(SIZE * SIZE)
                readers: set[tuple[int, ...]] = set()
                expected = find_readers(bindings, predicate, code)
                assert index.add_readers(predicate, code, readers) is bool(expected)
                assert readers == expected
                assert index.has_reader(predicate, code) is bool(expected)


def test_forks_of_fact_indexes_have_the_tables_of_their_own_facts() -> None:
    emitter = ENGINE.emitter
    requested: set[IndexKey] = {(0, (0,)), (0, (1,))}
    for key in requested:
        emitter.get_index_number(*key)
    for seed in range(40):
        rng = Random(seed)
        first = FactIndexes(emitter, requested)
        first.build([set()])
        forks = [(first, set[int]())]
        for _ in range(60):
            indexes, codes = rng.choice(forks)
            code = rng.randrange(SIZE * SIZE)
            if rng.random() < 0.1:
                forks.append((indexes.fork(), set(codes)))
            else:
                codes ^= {code}
                indexes.follow([(0, code, code in codes)])
            for indexes, codes in forks:
                rebuilt = FactIndexes(emitter, requested)
                rebuilt.build([codes])
                for number in rebuilt:
                    assert {key: entries for key, entries in indexes[number].items() if entries} == rebuilt[number]
