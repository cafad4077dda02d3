"""Derived predicates: the least fixpoint, stratum by stratum, semi-naively.

A stratum is first joined in full; then each new fact is pushed through the rules that read it, until nothing is new.
"""

from __future__ import annotations

from collections.abc import Callable

from plansafe.verifier.compile.emit import Emitter, Join
from plansafe.verifier.compile.normal import Disjunct, Literal, dnf, reads
from plansafe.verifier.compile.triggers import unify
from plansafe.verifier.engine.state import Change
from plansafe.verifier.model import Atom, Axiom, Number, Task

Facts = list[set[int]]
Fluents = list[dict[int, Number]]


class Axioms:
    """Keeps the derived facts of a state right."""

    def __init__(self, task: Task, emitter: Emitter) -> None:
        self.task = task
        self.emitter = emitter
        self.derived = frozenset([axiom.predicate for stratum in task.axioms for axiom in stratum])
        inputs: set[int] = set()
        for stratum in task.axioms:
            for axiom in stratum:
                for read in reads(axiom.body):
                    inputs.add(read.predicate if isinstance(read, Atom) else -1 - read.function)
        self.inputs = frozenset(inputs - self.derived)
        """What derived predicates depend on: predicates, and ``-1 - f`` for fluents."""
        self._reads = {axiom.predicate: set[int]() for stratum in task.axioms for axiom in stratum}
        empty = frozenset([number for number, members in enumerate(task.domains) if not members])
        for stratum in task.axioms:
            for axiom in stratum:
                self._reads[axiom.predicate] |= {
                    r.predicate if isinstance(r, Atom) else -1 - r.function for r in reads(axiom.body, empty)
                }
        self._strata = [self._compile(stratum) for stratum in task.axioms]

    def _compile(
        self, stratum: tuple[Axiom, ...]
    ) -> tuple[list[tuple[int, Callable[..., None]]], dict[int, list[tuple[int, Callable[..., None]]]]]:
        own = {axiom.predicate for axiom in stratum}
        full: list[tuple[int, Callable[..., None]]] = []
        triggers: dict[int, list[tuple[int, Callable[..., None]]]] = {}
        for axiom in stratum:
            disjuncts = dnf(axiom.body)
            if disjuncts is None:
                disjuncts = [Disjunct((), (Literal(True, axiom.body),))]
            for disjunct in disjuncts:
                full.append((axiom.predicate, self._join(axiom, disjunct, None)))
                for literal in disjunct.literals:
                    if isinstance(literal.formula, Atom) and literal.positive and literal.formula.predicate in own:
                        entry = (axiom.predicate, self._join(axiom, disjunct, literal.formula))
                        triggers.setdefault(literal.formula.predicate, []).append(entry)
                    elif not isinstance(literal.formula, Atom):
                        # A quantified literal that reads this stratum is joined again in full whenever the stratum
                        # grew.
                        for read in reads(literal.formula):
                            if isinstance(read, Atom) and read.predicate in own:
                                triggers.setdefault(read.predicate, []).append(
                                    (axiom.predicate, self._join(axiom, disjunct, None))
                                )
        return full, triggers

    def _join(self, axiom: Axiom, disjunct: Disjunct, seed: Atom | None) -> Callable[..., None]:
        """``f(S, F, out, code)``.

        Heads derived from one disjunct, from the fact ``code`` of ``seed`` if there is one.
        """
        emitter = self.emitter
        domains = {v.slot: v.domain for v in (*axiom.parameters, *disjunct.variables)}
        join = Join(emitter, domains, "S, F, out", indexed=False, guarded=True)
        lines: list[str] = []
        bound: frozenset[int] = frozenset()
        if seed is not None:
            lines, bound = unify(emitter, seed.predicate, seed.arguments, domains)
        slots = [v.slot for v in axiom.parameters]
        head = emitter.code([-1 - s for s in slots])
        lines += join.emit(disjunct.literals, bound, slots, [f"out.append({head})"])
        name = emitter.fresh()
        emitter.define(name, "S, F, out, code", lines)
        return emitter.link(name)

    def inputs_of(self, predicate: int) -> set[int]:
        """The basic predicates, and ``-1 - f`` for fluents, that a derived predicate depends on through all rules."""
        seen = {predicate}
        stack = [predicate]
        while stack:
            for read in self._reads.get(stack.pop(), ()):
                if read not in seen:
                    seen.add(read)
                    stack.append(read)
        return seen - self.derived

    def compute(self, facts: Facts, fluents: Fluents) -> None:
        """Set the derived predicates of a state to their fixpoint."""
        for predicate in self.derived:
            facts[predicate] = set()
        for full, triggers in self._strata:
            queue: list[tuple[int, int]] = []
            out: list[int] = []
            for predicate, join in full:
                join(facts, fluents, out, 0)
                for code in out:
                    if code not in facts[predicate]:
                        facts[predicate].add(code)
                        queue.append((predicate, code))
                out.clear()
            while queue:
                changed, seed = queue.pop()
                for predicate, join in triggers.get(changed, ()):
                    join(facts, fluents, out, seed)
                    for code in out:
                        if code not in facts[predicate]:
                            facts[predicate].add(code)
                            queue.append((predicate, code))
                    out.clear()

    def update(self, facts: Facts, fluents: Fluents, log: list[Change]) -> None:
        """After a step: recompute if something they depend on changed, and append what changed to ``log``."""
        base = len(facts)
        inputs = self.inputs
        if not any([(change[0] if change[0] < base else base - 1 - change[0]) in inputs for change in log]):
            return
        before = {predicate: facts[predicate] for predicate in self.derived}
        self.compute(facts, fluents)
        for predicate, old in before.items():
            new = facts[predicate]
            log += [(predicate, code, False) for code in old - new]
            log += [(predicate, code, True) for code in new - old]
