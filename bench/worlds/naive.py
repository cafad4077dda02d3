"""The naive encoding of a plan over possible worlds: one Z3 variable for each fact and step.

It has frame axioms for each fact and step, grounds all quantifiers, and checks each binding of each rule in each state.
It decides the same question as safecheck: do preconditions, goal and rules hold in all possible worlds?

usage: python -m bench.worlds.naive FOLDER [--limit CPU_SECONDS]

Prints the headline. Exit code 0 for SAFE, 1 for UNSAFE and INVALID; the system ends the process at the limit.
Supports only facts: no numbers, no derived predicates, no temporal rules, no partially ordered plans.
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
from plansafe.verifier.rules.model import RulePart, find_action_predicate

MEMORY_LIMIT = 12 * 2**30
Binding = Mapping[int, int]
Fact = tuple[int, int]


class NaiveEncoding:
    """The formulas of one task and plan, in one solver."""

    def __init__(self, checker: Checker, steps: Sequence[GroundAction]) -> None:
        assert not checker.compiled.openings and not checker.compiled.invariants
        self.checker, self.task, self.steps = checker, checker.engine.task, steps
        self.action_predicates = {
            p: action for (kind, action), p in checker.engine.rule_set.action_predicates.items() if kind == "start"
        }
        assert not self.task.axioms and not any(self.task.initial_fluents)
        task = self.task
        self.facts: list[Fact] = [
            (predicate_number, task.encode(objects))
            for predicate_number, predicate in enumerate(task.predicates)
            if predicate_number not in self.action_predicates
            for objects in product(*[task.domains[domain] for domain in predicate.domains])
        ]
        self.solver = z3.Solver()
        self.states = [
            {fact: z3.Bool(f"fact_{fact[0]}_{fact[1]}_at_{i}") for fact in self.facts} for i in range(len(steps) + 1)
        ]
        self.executable = [z3.Bool(f"taken_{i}") for i in range(len(steps) + 1)]
        """``executable[i]``: the first i steps are executable."""

    def headline(self) -> str:
        """The verdict over all possible worlds."""
        self._encode_initial_state()
        self.solver.add(self.executable[0])
        for index, step in enumerate(self.steps):
            self._encode_step(index, step)
        goal = self.encode(And(self.task.goal), self.states[-1], {})
        if self.solver.check(z3.Not(z3.And(self.executable[-1], goal))) != z3.unsat:
            return "INVALID"
        return "SAFE" if self.solver.check(z3.Or(list(self._violations()))) == z3.unsat else "UNSAFE"

    def bindings(self, variables: Sequence[Variable]) -> Iterator[dict[int, int]]:
        """All bindings of the variables, by slot."""
        for objects in product(*[self.task.domains[variable.domain] for variable in variables]):
            yield dict(zip([variable.slot for variable in variables], objects, strict=True))

    def fact(self, atom: Atom, binding: Binding) -> Fact:
        """The fact of an atom under a binding."""
        return atom.predicate, self.task.encode(
            tuple([argument if argument >= 0 else binding[-1 - argument] for argument in atom.arguments])
        )

    def encode(self, formula: Formula, state: Mapping[Fact, Any], binding: Binding) -> Any:
        """The formula as a Z3 expression over a state, with quantifiers grounded."""
        match formula:
            case Truth(value):
                return z3.BoolVal(value)
            case Atom():
                return state.get(self.fact(formula, binding), z3.BoolVal(False))
            case Equal(left, right):
                pair = [a if a >= 0 else binding[-1 - a] for a in (left, right)]
                return z3.BoolVal(pair[0] == pair[1])
            case Not(body):
                return z3.Not(self.encode(body, state, binding))
            case And(parts):
                return z3.And([self.encode(part, state, binding) for part in parts])
            case Or(parts):
                return z3.Or([self.encode(part, state, binding) for part in parts])
            case Quantified(universal, variables, body):
                instances = [
                    self.encode(body, state, {**binding, **inner_binding}) for inner_binding in self.bindings(variables)
                ]
                return z3.And(instances) if universal else z3.Or(instances)
        raise TypeError(f"not a formula over facts: {type(formula).__name__}")

    def _encode_initial_state(self) -> None:
        task, state, unknowns = self.task, self.states[0], self.task.unknowns
        open_facts = (
            {(p, code) for p, fact_codes in enumerate(unknowns.facts) for code in fact_codes} if unknowns else set()
        )
        for fact in self.facts:
            if fact not in open_facts:
                self.solver.add(state[fact] == (fact[1] in task.initial_facts[fact[0]]))
        if unknowns is None:
            return

        def alternative(literals: tuple[InitialLiteral, ...]) -> Any:
            return z3.And([state[x.predicate, x.code] == bool(x.value) for x in literals])

        supports: dict[Fact, list[Any]] = {}
        for choice in unknowns.choices:
            chosen = [alternative(literals) for literals in choice.alternatives]
            self.solver.add(z3.PbEq([(variable, 1) for variable in chosen], 1) if choice.exactly_one else z3.Or(chosen))
            for literals, is_chosen in zip(choice.alternatives, chosen, strict=True):
                for literal in literals if choice.exactly_one else ():
                    if literal.value:
                        supports.setdefault((literal.predicate, literal.code), []).append(is_chosen)
        for predicate, fact_codes in enumerate(unknowns.oneof_only):
            for code in fact_codes:
                self.solver.add(z3.Implies(state[predicate, code], z3.Or(supports.get((predicate, code), []))))

    def _encode_step(self, index: int, step: GroundAction) -> None:
        before, after = self.states[index], self.states[index + 1]
        action = step.action
        binding = dict(zip([v.slot for v in action.parameters], step.objects, strict=True))
        condition = self.encode(And(action.start.condition), before, binding)
        self.solver.add(self.executable[index + 1] == z3.And(self.executable[index], condition))
        adds: dict[Fact, list[Any]] = {}
        deletes: dict[Fact, list[Any]] = {}
        choice_variables: dict[tuple[int, tuple[int, ...]], list[Any]] = {}
        for effect in action.start.effects:
            self._encode_effect(index, effect, binding, choice_variables, adds, deletes)
        for alternatives in choice_variables.values():
            self.solver.add(z3.PbEq([(variable, 1) for variable in alternatives], 1))
        for fact in self.facts:
            is_kept = z3.And(before[fact], z3.Not(z3.Or(deletes.get(fact, []))))
            self.solver.add(after[fact] == z3.Or([*adds.get(fact, []), is_kept]))

    def _encode_effect(
        self,
        index: int,
        effect: Effect,
        action_binding: Binding,
        choice_variables: dict[tuple[int, tuple[int, ...]], list[Any]],
        adds: dict[Fact, list[Any]],
        deletes: dict[Fact, list[Any]],
    ) -> None:
        for inner_binding in self.bindings(effect.variables):
            binding = {**action_binding, **inner_binding}
            chosen_alternatives = [
                self._choice_variables(index, choice, binding, choice_variables)[choice.alternative]
                for choice in effect.choices
            ]
            conditions = [self.encode(effect.condition, self.states[index], binding), *chosen_alternatives]
            for atom in effect.adds:
                adds.setdefault(self.fact(atom, binding), []).append(z3.And(conditions))
            for atom in effect.deletes:
                deletes.setdefault(self.fact(atom, binding), []).append(z3.And(conditions))

    def _choice_variables(
        self,
        index: int,
        choice: Choice,
        binding: Binding,
        choice_variables: dict[tuple[int, tuple[int, ...]], list[Any]],
    ) -> list[Any]:
        key = choice.number, tuple([binding[v.slot] for v in choice.variables])
        if key not in choice_variables:
            name = "_".join([str(part) for part in (index, key[0], *key[1])])
            choice_variables[key] = [z3.Bool(f"choice_{name}_is_{k}") for k in range(choice.alternative_count)]
        return choice_variables[key]

    # -- rules --------------------------------------------------------------------------------------------------------

    def _violations(self) -> Iterator[Any]:
        for part in self.checker.engine.rule_set.parts:
            for binding in self.bindings(part.parameters):
                if part.mode == "always":
                    for is_executable, state in zip(self.executable, self.states, strict=True):
                        yield z3.And(is_executable, z3.Not(self.encode(part.body, state, binding)))
                elif part.mode == "end":
                    for i, state in enumerate(self.states):
                        ends = z3.Not(self.executable[i + 1]) if i < len(self.steps) else z3.BoolVal(True)
                        yield z3.And(self.executable[i], ends, z3.Not(self.encode(part.body, state, binding)))
                elif part.mode == "each":
                    yield from self._step_violations(part, binding)
                else:
                    raise TypeError(f"a temporal rule: {part.mode}")

    def _step_violations(self, part: RulePart, binding: dict[int, int]) -> Iterator[Any]:
        assert isinstance(part.step, Atom), "steps with wildcard arguments are not supported"
        name = self.action_predicates[find_action_predicate(part.step)]
        objects = tuple([a if a >= 0 else binding[-1 - a] for a in part.step.arguments])
        for index, step in enumerate(self.steps):
            if step.action.name == name and step.objects == objects:
                guard = self.encode(part.guard or Truth(True), self.states[index], binding)
                body = self.encode(part.body, self.states[index + part.after], binding)
                yield z3.And(self.executable[index + 1], guard, z3.Not(body))


def naive_headline(folder: Path) -> str:
    """The headline of the task in a folder."""
    texts = {field: Source(name, (folder / name).read_text(encoding="utf-8")) for field, name in FILES.items()}
    checker = Checker(texts["domain"], texts["problem"], [texts["rules"]])
    steps = checker.read(texts["plan"]).steps
    return NaiveEncoding(checker, [step for step in steps if isinstance(step, GroundAction)]).headline()


def main() -> int:
    """Print the headline of one task."""
    parser = argparse.ArgumentParser(description="Compute a verdict with one Z3 variable for each fact and step.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=60, help="Limit of CPU seconds (default 60).")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    headline = naive_headline(options.folder)
    print(headline)
    return 0 if headline == "SAFE" else 1


if __name__ == "__main__":
    sys.exit(main())
