"""The encoding that everybody writes first: one Z3 variable for each fact and step.

What a step leaves alone is said for each fact and step (frame axioms), quantifiers are grounded out, and each binding
of each rule is asked about in each state. The question is that of safecheck: are preconditions, goal and rules kept in
all worlds?

usage: python -m bench.worlds.naive FOLDER [--limit CPU_SECONDS]

Prints the headline. Exit code 0 for SAFE, 1 for UNSAFE and INVALID; beyond the limit the system ends the process.
Facts only: no numbers, no derived predicates, no temporal rules, plans in order.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import z3
from bench.worlds.task import FILES

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Choice,
    Effect,
    Equal,
    Formula,
    InitialLiteral,
    Not,
    Or,
    Quantified,
    Truth,
    Variable,
)
from plansafe.verifier.rules.model import RulePart, step_predicate

MEMORY = 12 * 2**30
Binding = Mapping[int, int]
Fact = tuple[int, int]


class Naive:
    """The formulas of one task and plan, all in one solver."""

    def __init__(self, checker: Checker, steps: Sequence[GroundAction]) -> None:
        assert not checker.compiled.openings and not checker.compiled.invariants
        self.checker, self.task, self.steps = checker, checker.engine.task, steps
        self.action_predicates = {
            p: action for (kind, action), p in checker.engine.rule_set.action_predicates.items() if kind == "start"
        }
        assert not self.task.axioms and not any(self.task.initial_fluents)
        task = self.task
        self.facts: list[Fact] = [
            (number, task.encode(objects))
            for number, predicate in enumerate(task.predicates)
            if number not in self.action_predicates
            for objects in product(*[task.domains[d] for d in predicate.domains])
        ]
        self.solver = z3.Solver()
        self.states = [
            {fact: z3.Bool(f"fact_{fact[0]}_{fact[1]}_at_{i}") for fact in self.facts} for i in range(len(steps) + 1)
        ]
        self.taken = [z3.Bool(f"taken_{i}") for i in range(len(steps) + 1)]
        """Whether the first i steps are taken."""

    def headline(self) -> str:
        """The verdict on the plan over all worlds."""
        self._initial()
        self.solver.add(self.taken[0])
        for number, step in enumerate(self.steps):
            self._step(number, step)
        goal = self.truth(And(self.task.goal), self.states[-1], {})
        if self.solver.check(z3.Not(z3.And(self.taken[-1], goal))) != z3.unsat:
            return "INVALID"
        return "SAFE" if self.solver.check(z3.Or(list(self._violations()))) == z3.unsat else "UNSAFE"

    def bindings(self, variables: Sequence[Variable]) -> Iterator[dict[int, int]]:
        """All bindings of variables, by slot."""
        for objects in product(*[self.task.domains[v.domain] for v in variables]):
            yield dict(zip([v.slot for v in variables], objects, strict=True))

    def fact(self, atom: Atom, binding: Binding) -> Fact:
        """An atom under a binding."""
        return atom.predicate, self.task.encode(tuple([a if a >= 0 else binding[-1 - a] for a in atom.arguments]))

    def truth(self, formula: Formula, state: Mapping[Fact, Any], binding: Binding) -> Any:
        """A formula in a state, without quantifiers."""
        match formula:
            case Truth(value):
                return z3.BoolVal(value)
            case Atom():
                return state.get(self.fact(formula, binding), z3.BoolVal(False))
            case Equal(left, right):
                pair = [a if a >= 0 else binding[-1 - a] for a in (left, right)]
                return z3.BoolVal(pair[0] == pair[1])
            case Not(body):
                return z3.Not(self.truth(body, state, binding))
            case And(parts):
                return z3.And([self.truth(part, state, binding) for part in parts])
            case Or(parts):
                return z3.Or([self.truth(part, state, binding) for part in parts])
            case Quantified(universal, variables, body):
                found = [self.truth(body, state, {**binding, **inner}) for inner in self.bindings(variables)]
                return z3.And(found) if universal else z3.Or(found)
        raise TypeError(f"no facts alone: {type(formula).__name__}")

    def _initial(self) -> None:
        task, state, unknowns = self.task, self.states[0], self.task.unknowns
        left_open = {(p, code) for p, codes in enumerate(unknowns.facts) for code in codes} if unknowns else set()
        for fact in self.facts:
            if fact not in left_open:
                self.solver.add(state[fact] == (fact[1] in task.initial_facts[fact[0]]))
        if unknowns is None:
            return

        def alternative(literals: tuple[InitialLiteral, ...]) -> Any:
            return z3.And([state[one.predicate, one.code] == bool(one.value) for one in literals])

        supports: dict[Fact, list[Any]] = {}
        for choice in unknowns.choices:
            said = [alternative(literals) for literals in choice.alternatives]
            self.solver.add(z3.PbEq([(one, 1) for one in said], 1) if choice.exactly_one else z3.Or(said))
            for literals, one in zip(choice.alternatives, said, strict=True):
                for literal in literals if choice.exactly_one else ():
                    if literal.value:
                        supports.setdefault((literal.predicate, literal.code), []).append(one)
        for predicate, codes in enumerate(unknowns.oneof_only):
            for code in codes:
                self.solver.add(z3.Implies(state[predicate, code], z3.Or(supports.get((predicate, code), []))))

    def _step(self, number: int, step: GroundAction) -> None:
        before, after = self.states[number], self.states[number + 1]
        action = step.action
        binding = dict(zip([v.slot for v in action.parameters], step.objects, strict=True))
        condition = self.truth(And(action.start.condition), before, binding)
        self.solver.add(self.taken[number + 1] == z3.And(self.taken[number], condition))
        adds: dict[Fact, list[Any]] = {}
        deletes: dict[Fact, list[Any]] = {}
        chosen: dict[tuple[int, tuple[int, ...]], list[Any]] = {}
        for effect in action.start.effects:
            self._effect(number, effect, binding, chosen, adds, deletes)
        for alternatives in chosen.values():
            self.solver.add(z3.PbEq([(one, 1) for one in alternatives], 1))
        for fact in self.facts:
            stays = z3.And(before[fact], z3.Not(z3.Or(deletes.get(fact, []))))
            self.solver.add(after[fact] == z3.Or([*adds.get(fact, []), stays]))

    def _effect(
        self,
        number: int,
        effect: Effect,
        outer: Binding,
        chosen: dict[tuple[int, tuple[int, ...]], list[Any]],
        adds: dict[Fact, list[Any]],
        deletes: dict[Fact, list[Any]],
    ) -> None:
        for inner in self.bindings(effect.variables):
            binding = {**outer, **inner}
            chosen_ones = [self._chosen(number, c, binding, chosen)[c.alternative] for c in effect.choices]
            happens = [self.truth(effect.condition, self.states[number], binding), *chosen_ones]
            for atom in effect.adds:
                adds.setdefault(self.fact(atom, binding), []).append(z3.And(happens))
            for atom in effect.deletes:
                deletes.setdefault(self.fact(atom, binding), []).append(z3.And(happens))

    def _chosen(
        self, number: int, choice: Choice, binding: Binding, chosen: dict[tuple[int, tuple[int, ...]], list[Any]]
    ) -> list[Any]:
        key = choice.number, tuple([binding[v.slot] for v in choice.variables])
        if key not in chosen:
            name = "_".join([str(part) for part in (number, key[0], *key[1])])
            chosen[key] = [z3.Bool(f"choice_{name}_is_{k}") for k in range(choice.alternatives)]
        return chosen[key]

    # -- rules --------------------------------------------------------------------------------------------------------

    def _violations(self) -> Iterator[Any]:
        for part in self.checker.engine.rule_set.parts:
            for binding in self.bindings(part.parameters):
                if part.mode == "always":
                    for taken, state in zip(self.taken, self.states, strict=True):
                        yield z3.And(taken, z3.Not(self.truth(part.body, state, binding)))
                elif part.mode == "end":
                    for i, state in enumerate(self.states):
                        ends = z3.Not(self.taken[i + 1]) if i < len(self.steps) else z3.BoolVal(True)
                        yield z3.And(self.taken[i], ends, z3.Not(self.truth(part.body, state, binding)))
                elif part.mode == "each":
                    yield from self._at_steps(part, binding)
                else:
                    raise TypeError(f"a temporal rule: {part.mode}")

    def _at_steps(self, part: RulePart, binding: dict[int, int]) -> Iterator[Any]:
        assert isinstance(part.step, Atom), "a step with arguments that may be anything"
        name = self.action_predicates[step_predicate(part.step)]
        objects = tuple([a if a >= 0 else binding[-1 - a] for a in part.step.arguments])
        for number, step in enumerate(self.steps):
            if step.action.name == name and step.objects == objects:
                guard = self.truth(part.guard or Truth(True), self.states[number], binding)
                body = self.truth(part.body, self.states[number + part.after], binding)
                yield z3.And(self.taken[number + 1], guard, z3.Not(body))


def judge(folder: Path) -> str:
    """The headline of a task."""
    texts = {field: Source(name, (folder / name).read_text(encoding="utf-8")) for field, name in FILES.items()}
    checker = Checker(texts["domain"], texts["problem"], [texts["rules"]])
    steps = checker.read(texts["plan"]).steps
    return Naive(checker, [step for step in steps if isinstance(step, GroundAction)]).headline()


def main() -> int:
    """Judge one task."""
    parser = argparse.ArgumentParser(description="The verdict by one Z3 variable for each fact and step.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds (default 60)")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    headline = judge(options.folder)
    print(headline)
    return 0 if headline == "SAFE" else 1


if __name__ == "__main__":
    sys.exit(main())
