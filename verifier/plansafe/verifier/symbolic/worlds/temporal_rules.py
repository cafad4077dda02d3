"""Rules with temporal operators, and rules that read what is done, in all worlds at once.

Each instance keeps the values of its formulas without temporal operators (its leaves) where they change; at the end of
the trace its truth vectors are computed (:mod:`.truth_vectors`). Instances whose leaves have the same values have the
same vector, so it is computed once. Where a rule has very many instances, those are kept that a change concerns, and
those that S0 alone may break: of all others every leaf keeps, for the whole trace, a value under which the rule holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import assert_never

from plansafe.verifier.compile.triggers import compile_patterns
from plansafe.verifier.execution.monitors.index import InstanceIndex
from plansafe.verifier.execution.monitors.program import ground_temporal
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Atom, Formula, Or, Quantified, Temporal, Truth
from plansafe.verifier.model.operations import children, is_temporal, map_children, negate
from plansafe.verifier.rules.model import RulePart, step_predicate
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.worlds.encoding import InstanceLiteral
from plansafe.verifier.symbolic.worlds.formula_compiler import Binding, FormulaCompiler, LiteralFunction
from plansafe.verifier.symbolic.worlds.state_rules import ChangedFact, InstanceCollector, Objects, compile_step_matcher
from plansafe.verifier.symbolic.worlds.symbolic_state import SymbolicState
from plansafe.verifier.symbolic.worlds.trace import SymbolicTrace
from plansafe.verifier.symbolic.worlds.truth_vectors import (
    LeafValues,
    TruthVectors,
    expand_operators,
    find_bound_letters,
    shift_depth,
)

RESPONSES = ("sometime-after", "always-within")
MAX_INSTANCES = 50_000
"""Up to here all instances of a rule are kept."""


LeafHistory = list[tuple[int, Literal, Literal]]


class TemporalRule:
    """A part whose instances are judged over the whole trace."""

    def __init__(
        self, number: int, part: RulePart, evaluation: FormulaCompiler, limit: int, *, of_actions: bool
    ) -> None:
        task = evaluation.task
        self.number, self.part, self.task, self.limit = number, part, task, limit
        self.of_actions = of_actions
        body = part.body
        if part.mode == "each":
            after: Formula = Temporal("next", (body,)) if part.after else body
            body = after if part.guard is None else Or((negate(part.guard), after))
        self.formula = expand_operators(ground_temporal(task, body))
        self.leaves = leaves_of(self.formula)
        self._response = (
            isinstance(body, Temporal) and body.operator in RESPONSES and not any(map(is_temporal, body.operands))
        )
        """Violated while nothing that it reads changes, it was triggered at letter 0."""
        self.slots = [v.slot for v in part.parameters]
        self._values = [
            (evaluation.compile_true(leaf), evaluation.compile_false(leaf) if evaluation.reads_numbers(leaf) else None)
            for leaf in self.leaves
        ]
        possible_certain = evaluation.possible_certain
        self._index = InstanceIndex(
            [p for leaf in self.leaves for p in compile_patterns(possible_certain.emitter, leaf, part.parameters)]
        )
        possible = possible_certain.possible_condition(_now(self.formula), False)
        self._broken_at_start = possible_certain.compile_search(possible, part.parameters, ())
        self._match = None
        if part.mode == "each":
            atom = part.step.body if isinstance(part.step, Quantified) else part.step
            assert isinstance(atom, Atom)
            self._match = compile_step_matcher(task, atom, part.parameters)
        self._step = step_predicate(part.step) if part.step is not None else -1
        self.instances: dict[Objects, list[LeafHistory]] = {}
        self._matched: dict[Objects, list[int]] = {}
        self._touches: dict[Objects, list[tuple[int, Literal]]] = {}
        """The letters at which something that an instance reads changes, with the worlds."""
        self._depth = shift_depth(self.formula)
        self._bounds = find_bound_letters(self.formula)
        self._size = len(task.predicates)

    # -- which instances ----------------------------------------------------------------------------------------------

    def find_instances(self, trace: SymbolicTrace, action_facts: Sequence[tuple[int, int] | None]) -> None:
        """Decide which instances to keep, from all that will change. Raises :class:`LimitReached`."""
        domains = [self.task.domains[v.domain] for v in self.part.parameters]
        total = 1
        for domain in domains:
            total *= len(domain)
        if self._match is not None:
            for letter, action_fact in enumerate(action_facts):
                if action_fact is not None and action_fact[0] == self._step:
                    self._match_step(trace.taken[letter], letter, domains)
        elif total > self.limit:
            raise LimitReached(LimitKind.INSTANCES)
        elif total <= MAX_INSTANCES:
            self.instances = {objects: [] for objects in product(*domains)}
        else:
            self.instances = {objects: [] for objects in self._in_question(trace, action_facts, domains)}
        for objects in self.instances:
            self._index.add(objects)

    def _match_step(self, taken: GroundAction, letter: int, domains: list[tuple[int, ...]]) -> None:
        assert self._match is not None
        binding = self._match(taken.objects)
        if binding is None:
            return
        fixed = [
            (binding[slot],) if slot in binding else domain for slot, domain in zip(self.slots, domains, strict=True)
        ]
        for objects in product(*fixed):
            if len(self.instances) > self.limit:
                raise LimitReached(LimitKind.INSTANCES)
            self.instances.setdefault(objects, [])
            self._matched.setdefault(objects, []).append(letter)

    def _in_question(
        self, trace: SymbolicTrace, action_facts: Sequence[tuple[int, int] | None], domains: list[tuple[int, ...]]
    ) -> Iterable[Objects]:
        found: list[Objects] = []
        self._broken_at_start(trace.start.facts, (), found)
        out = dict.fromkeys(found)
        changed = dict.fromkeys([(p, code) for letter in trace.letters for p, code, _ in letter.facts])
        changed.update(dict.fromkeys([m for m in action_facts if m is not None]))
        base = 2 * self._size
        changed.update(dict.fromkeys([(base + f, c) for letter in trace.letters for f, c, _ in letter.quantities]))
        partial: set[tuple[int, Objects]] = set()
        for predicate, code in changed:
            for number in self._index.by_predicate.get(predicate, ()):
                key = self._index.patterns[number].key(code)
                if key is not None:
                    partial.add((number, key))
        for number, key in partial:
            fixed = dict(zip(self._index.patterns[number].parameters, key, strict=True))
            choices = [(fixed[i],) if i in fixed else domain for i, domain in enumerate(domains)]
            for objects in product(*choices):
                out[objects] = None
                if len(out) > self.limit:
                    raise LimitReached(LimitKind.INSTANCES)
        return out

    # -- the trace ----------------------------------------------------------------------------------------------------

    def start(self, state: SymbolicState) -> None:
        """Read letter 0. Action facts of its step are set."""
        for objects in self.instances:
            binding: Binding = dict(zip(self.slots, objects, strict=True))
            self.instances[objects] = [[(0, *_pair(values, state, binding))] for values in self._values]

    def read(self, state: SymbolicState, letter: int, changed: Iterable[ChangedFact]) -> None:
        """Read a letter, and what changed on the way to it."""
        touched: set[Objects] = set()
        for predicate, code, differs in changed:
            if differs == FALSE:
                self._index.add_readers(predicate, code, touched)
                continue
            readers: set[Objects] = set()
            self._index.add_readers(predicate, code, readers)
            for objects in readers:
                self._touches.setdefault(objects, []).append((letter, differs))
            touched |= readers
        for objects in touched:
            binding: Binding = dict(zip(self.slots, objects, strict=True))
            for pairs, values in zip(self._values, self.instances[objects], strict=True):
                pair = _pair(pairs, state, binding)
                if values[-1][1:] != pair:
                    values.append((letter, *pair))

    # -- the end ------------------------------------------------------------------------------------------------------

    def finish(
        self, circuit: Circuit, alive: Sequence[Literal], changes: Sequence[int], found: InstanceCollector
    ) -> None:
        """Judge every instance. ``changes``: the letters at which ``alive`` changes."""
        known: dict[object, list[tuple[int, Literal, Literal]]] = {}
        for objects, leaf_values in self.instances.items():
            matched = self._matched.get(objects)
            touches = self._touches.get(objects, []) if found.introduced else None
            same = (tuple([tuple(values) for values in leaf_values]), None if matched is None else tuple(matched))
            key = (*same, None if touches is None else tuple(touches))
            if key not in known:
                known[key] = self._judge(circuit, alive, changes, leaf_values, matched, touches)
            for letter, violated, undecided in known[key]:
                if violated != FALSE:
                    found.violations.append(InstanceLiteral(self.number, objects, letter, violated))
                if undecided != FALSE:
                    found.undecided.append(InstanceLiteral(self.number, objects, letter, undecided))

    def _judge(
        self,
        circuit: Circuit,
        alive: Sequence[Literal],
        changes: Sequence[int],
        leaf_values: list[LeafHistory],
        matched: list[int] | None,
        touches: list[tuple[int, Literal]] | None,
    ) -> list[tuple[int, Literal, Literal]]:
        """(letter, violated, undecided) wherever an instance with these leaves may be either.

        Where what is pre-existing does not count, ``touches`` say when something that it reads changes.
        """
        last = len(alive) - 1
        changed = [letter for values in leaf_values for letter, _, _ in values]
        changed += [letter for letter, _ in touches or ()]
        starts = self._starts([*changes, *changed, *(matched or ())], last)
        leaves: LeafValues = {id(leaf): values for leaf, values in zip(self.leaves, leaf_values, strict=True)}
        table = TruthVectors(circuit, alive, starts, leaves)
        false = table.vector(self.formula, False)
        numeric = any([t != f ^ 1 for values in leaf_values for _, t, f in values])
        true = table.vector(self.formula, True) if numeric else [f ^ 1 for f in false]
        if touches is not None and matched is None and not self.of_actions:
            if self.part.mode == "whole":
                touched = circuit.disjunction([circuit.both(alive[letter], literal) for letter, literal in touches])
                if self._response:
                    true[0] = circuit.either(true[0], circuit.both(false[0], touched ^ 1))
                # When another formula was broken for good is not known here: what S0 broke may be what is found.
                false[0] = circuit.both(false[0], touched)
            else:
                before, changes_at = TRUE, dict[int, list[Literal]]()
                for letter, literal in touches:
                    changes_at.setdefault(letter, []).append(literal)
                for segment, literal in enumerate(false):
                    same_facts = circuit.disjunction(changes_at.get(starts[segment], [])) ^ 1
                    before = circuit.conjunction([before, literal, same_facts])
                    true[segment] = circuit.either(true[segment], before)
                    false[segment] = circuit.both(literal, before ^ 1)
        out = []
        for segment, there in self._places(circuit, table, alive, matched):
            letter = starts[segment] + (matched is not None and not self.part.after)
            violated = circuit.both(there, false[segment])
            undecided = circuit.conjunction([there, true[segment] ^ 1, false[segment] ^ 1])
            if violated != FALSE or undecided != FALSE:
                out.append((letter, violated, undecided))
        return out

    def _places(
        self, circuit: Circuit, table: TruthVectors, alive: Sequence[Literal], matched: list[int] | None
    ) -> list[tuple[int, Literal]]:
        """The segments at which the formula must hold, with the worlds in which it must."""
        if matched is not None:  # the step is taken where the next letter is there
            segment = {start: k for k, start in enumerate(table.starts)}
            return [(segment[letter], alive[letter + 1]) for letter in matched]
        if self.part.mode == "always":
            return list(enumerate(table.alive))
        if self.part.mode == "end":
            return [(k, circuit.both(table.alive[k], table.after[k] ^ 1)) for k in range(len(table.starts))]
        return [(0, table.alive[0])]

    def _starts(self, letters: Iterable[int], last: int) -> list[int]:
        if self._bounds is None:
            return list(range(last + 1))
        out = {0}
        for letter in {*letters, *self._bounds, 0, last + 1}:
            out |= set(range(letter - self._depth, letter + self._depth + 1))
            out.add(letter)
        if self._match is not None:  # a matched letter is a segment of its own
            out |= {letter + 1 for letter in letters}
        return sorted([letter for letter in out if 0 <= letter <= last])


def leaves_of(formula: Formula) -> list[Formula]:
    """The maximal subformulas without temporal operators."""
    out: list[Formula] = []
    stack = [formula]
    while stack:
        part = stack.pop()
        if not is_temporal(part):
            if not isinstance(part, Truth):
                out.append(part)
        else:
            stack.extend(children(part))
    return list({id(leaf): leaf for leaf in out}.values())


def _now(formula: Formula) -> Formula:
    """A condition on S0 that may be false wherever a rule whose leaves never change is false.

    Over values that never change every operator but those that shift has the value of its last operand.
    """
    match formula:
        case Temporal():
            return _now_operator(formula)
        case Quantified():
            return formula
        case _:
            return map_children(formula, _now)


def _now_operator(formula: Temporal) -> Formula:
    match formula.operator:
        case "always-within":
            return Or(tuple([_now(operand) for operand in formula.operands]))
        case "next" | "weak-next" | "yesterday" | "weak-yesterday":
            return formula
        case "once" | "historically" | "since" | "until" | "release" | "always" | "sometime":
            return _now(formula.operands[-1])
        case "at-end" | "within" | "hold-during" | "hold-after":
            return _now(formula.operands[-1])
        case "sometime-after" | "sometime-before" | "at-most-once":
            raise AssertionError("spelt out by `expand_operators`")
        case _:
            assert_never(formula.operator)


def _pair(
    values: tuple[LiteralFunction, LiteralFunction | None], state: SymbolicState, binding: Binding
) -> tuple[Literal, Literal]:
    true, false = values
    literal = true(state, binding)
    return (literal, literal ^ 1 if false is None else false(state, binding))
