"""Rules with temporal operators, and rules that read actions, in all worlds at once.

A set of worlds is a literal of the circuit, which is true in these worlds. Each instance keeps the values of its
leaves, the formulas without temporal operators, at the letters where they change. Its truth vectors
(:mod:`.truth_vectors`) are computed at the end of the trace, once for all instances whose leaves have the same values.
A rule with very many instances keeps only those that read a change and those that S0 alone may violate: the leaves of
the other instances keep values under which the rule holds for the whole trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import prod
from typing import NamedTuple, assert_never

from plansafe.verifier.compile.triggers import compile_read_patterns
from plansafe.verifier.execution.monitors.index import InstanceIndex
from plansafe.verifier.execution.monitors.temporal_grounding import ground_temporal
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Formula, Number, Or, Quantified, Temporal, Truth
from plansafe.verifier.model.operations import find_leaves, is_temporal, map_children, negate
from plansafe.verifier.rules.model import RulePart, find_action_atom
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.worlds.encoding import InstanceLiteral
from plansafe.verifier.symbolic.worlds.formula_compiler import Binding, FormulaCompiler, LiteralFunction
from plansafe.verifier.symbolic.worlds.state_rules import (
    FactChange,
    InstanceCollector,
    Objects,
    compile_step_matcher,
)
from plansafe.verifier.symbolic.worlds.symbolic_state import SymbolicState
from plansafe.verifier.symbolic.worlds.trace import SymbolicTrace
from plansafe.verifier.symbolic.worlds.truth_vectors import (
    LeafHistory,
    TruthVector,
    TruthVectors,
    expand_operators,
    find_bound_letters,
    find_shift_depth,
)

RESPONSES = ("sometime-after", "always-within")
"""Operators that require a response to a trigger."""
MAX_INSTANCES = 50_000
"""Maximum number of instances of a rule that keeps all of them."""
ActionFact = tuple[int, int]


class _CheckedLetter(NamedTuple):
    """A letter, and the worlds in which an instance is violated or undecided there."""

    letter: int
    violated: Literal
    undecided: Literal


class TemporalRule:
    """A part (with its number) whose instances are checked over the whole trace.

    ``times``: of all letters. More than ``max_instances`` instances are refused with :class:`LimitReached`.
    ``reads_actions``: the part mentions actions, so that no violation of it is pre-existing.
    """

    def __init__(
        self,
        number: int,
        part: RulePart,
        compiler: FormulaCompiler,
        max_instances: int,
        times: Sequence[Number],
        *,
        reads_actions: bool,
    ) -> None:
        self.number, self.part, self.task = number, part, compiler.task
        self.max_instances, self.reads_actions = max_instances, reads_actions
        body = part.body
        if part.mode == "each":
            after: Formula = Temporal("next", (body,)) if part.after else body
            body = after if part.guard is None else Or((negate(part.guard), after))
        self.formula = expand_operators(ground_temporal(self.task, body))
        self.leaves = [leaf for leaf in find_leaves(self.formula) if not isinstance(leaf, Truth)]
        self._is_response = (
            isinstance(body, Temporal) and body.operator in RESPONSES and not any(map(is_temporal, body.operands))
        )
        """Whether the rule requires a response to a trigger.

        If it is violated and nothing that it reads changes, S0 has triggered it: the violation is pre-existing.
        """
        self.slots = [v.slot for v in part.parameters]
        self._domains = [self.task.domains[v.domain] for v in part.parameters]
        self._leaf_functions = [
            (compiler.compile_truth(leaf), compiler.compile_falsity(leaf) if compiler.reads_numbers(leaf) else None)
            for leaf in self.leaves
        ]
        possible_certain = compiler.possible_certain
        self._index = InstanceIndex(
            [p for leaf in self.leaves for p in compile_read_patterns(possible_certain.emitter, leaf, part.parameters)]
        )
        violation = possible_certain.make_possible_condition(_make_static_condition(self.formula), False)
        self._search_initial = possible_certain.compile_search(violation, part.parameters, ())
        self._step_predicate: int | None = None
        self._match: Callable[[int], Binding | None] | None = None
        if part.mode == "each":
            assert part.step is not None
            self._step_predicate = find_action_atom(part.step).predicate
            self._match = compile_step_matcher(self.task, part.step, part.parameters)
        self.instances: dict[Objects, list[LeafHistory]] = {}
        """The instances that are kept, each with the history of every leaf."""
        self._matched_letters: dict[Objects, list[int]] = {}
        """The letters before the steps that an instance matches."""
        self._relevant_changes: dict[Objects, list[tuple[int, Literal]]] = {}
        """The letters at which a fact or fluent that an instance reads changes, with the worlds."""
        self._shift_depth = find_shift_depth(self.formula)
        self._times = times
        self._bound_letters = find_bound_letters(self.formula, times)

    # -- instances ----------------------------------------------------------------------------------------------------

    def find_instances(self, trace: SymbolicTrace, action_facts: Sequence[Sequence[ActionFact]]) -> None:
        """Find the instances to keep, from all changes of the trace. Raises :class:`LimitReached`."""
        count = prod([len(domain) for domain in self._domains])
        if self._match is not None:
            for letter, letter_facts in enumerate(action_facts):
                for predicate, code in letter_facts:
                    if predicate == self._step_predicate:
                        self._add_matching_instances(code, letter)
        elif count > self.max_instances:
            raise LimitReached(LimitKind.INSTANCES)
        elif count <= MAX_INSTANCES:
            self.instances = {objects: [] for objects in product(*self._domains)}
        else:
            self.instances = {objects: [] for objects in self._find_affected_instances(trace, action_facts)}
        for objects in self.instances:
            self._index.add(objects)

    def _add_matching_instances(self, code: int, letter: int) -> None:
        """Add the instances that a step matches; ``code``: of its objects."""
        assert self._match is not None
        binding = self._match(code)
        if binding is None:
            return
        choices = [
            (binding[slot],) if slot in binding else domain
            for slot, domain in zip(self.slots, self._domains, strict=True)
        ]
        for objects in product(*choices):
            if len(self.instances) > self.max_instances:
                raise LimitReached(LimitKind.INSTANCES)
            self.instances.setdefault(objects, [])
            letters = self._matched_letters.setdefault(objects, [])
            if letter not in letters[-1:]:
                letters.append(letter)

    def _find_affected_instances(
        self, trace: SymbolicTrace, action_facts: Sequence[Sequence[ActionFact]]
    ) -> Iterable[Objects]:
        """The instances that S0 may violate, and those that read a change."""
        initial_candidates: list[Objects] = []
        self._search_initial(trace.start.facts, (), initial_candidates)
        affected_instances = dict.fromkeys(initial_candidates)
        # The task of `PossibleCertain` has each predicate twice; its fluents have the numbers after them.
        first_fluent = 2 * len(self.task.predicates)
        changed_facts = dict.fromkeys(
            [
                *[(predicate, code) for changes in trace.changes for predicate, code, _ in changes.facts],
                *[fact for facts in action_facts for fact in facts],
                *[(first_fluent + f, code) for changes in trace.changes for f, code, _ in changes.quantities],
            ]
        )
        pattern_keys: set[tuple[int, Objects]] = set()
        for predicate, code in changed_facts:
            for number in self._index.pattern_numbers.get(predicate, ()):
                key = self._index.patterns[number].key(code)
                if key is not None:
                    pattern_keys.add((number, key))
        for number, key in pattern_keys:
            fixed_binding = dict(zip(self._index.patterns[number].parameters, key, strict=True))
            choices = [(fixed_binding[i],) if i in fixed_binding else domain for i, domain in enumerate(self._domains)]
            for objects in product(*choices):
                affected_instances[objects] = None
                if len(affected_instances) > self.max_instances:
                    raise LimitReached(LimitKind.INSTANCES)
        return affected_instances

    # -- the trace ----------------------------------------------------------------------------------------------------

    def read_initial_letter(self, state: SymbolicState) -> None:
        """Read letter 0, whose state includes the action fact of the first step."""
        for objects in self.instances:
            binding: Binding = dict(zip(self.slots, objects, strict=True))
            self.instances[objects] = [[(0, *_evaluate(leaf, state, binding))] for leaf in self._leaf_functions]

    def read_letter(self, state: SymbolicState, letter: int, changes: Iterable[FactChange]) -> None:
        """Store the values of the leaves at a letter, for the instances that read one of the changes before it."""
        affected_instances: set[Objects] = set()
        for predicate, code, differs in changes:
            if differs == FALSE:
                self._index.add_readers(predicate, code, affected_instances)
                continue
            readers: set[Objects] = set()
            self._index.add_readers(predicate, code, readers)
            for objects in readers:
                self._relevant_changes.setdefault(objects, []).append((letter, differs))
            affected_instances |= readers
        for objects in affected_instances:
            binding: Binding = dict(zip(self.slots, objects, strict=True))
            for leaf, history in zip(self._leaf_functions, self.instances[objects], strict=True):
                values = _evaluate(leaf, state, binding)
                if history[-1][1:] != values:
                    history.append((letter, *values))

    # -- the end of the trace -----------------------------------------------------------------------------------------

    def check(
        self, circuit: Circuit, alive: Sequence[Literal], end_letters: Sequence[int], collector: InstanceCollector
    ) -> None:
        """Check every instance. ``end_letters``: the letters at which ``alive`` changes."""
        checked_letters_by_history: dict[object, list[_CheckedLetter]] = {}
        for objects, histories in self.instances.items():
            matched_letters = self._matched_letters.get(objects)
            relevant_changes = self._relevant_changes.get(objects, []) if collector.ignores_preexisting else None
            key = (
                tuple([tuple(history) for history in histories]),
                None if matched_letters is None else tuple(matched_letters),
                None if relevant_changes is None else tuple(relevant_changes),
            )
            if key not in checked_letters_by_history:
                checked_letters_by_history[key] = self._check_instance(
                    circuit, alive, end_letters, histories, matched_letters, relevant_changes
                )
            for letter, violated, undecided in checked_letters_by_history[key]:
                if violated != FALSE:
                    collector.violations.append(InstanceLiteral(self.number, objects, letter, violated))
                if undecided != FALSE:
                    collector.undecided.append(InstanceLiteral(self.number, objects, letter, undecided))

    def _check_instance(
        self,
        circuit: Circuit,
        alive: Sequence[Literal],
        end_letters: Sequence[int],
        histories: list[LeafHistory],
        matched_letters: list[int] | None,
        relevant_changes: list[tuple[int, Literal]] | None,
    ) -> list[_CheckedLetter]:
        """The letters at which an instance may be violated or undecided.

        ``histories`` are the values of its leaves. ``relevant_changes`` are given if pre-existing violations do not
        count.
        """
        letters = [letter for history in histories for letter, _, _ in history]
        letters += [letter for letter, _ in relevant_changes or ()]
        starts = self._find_segments([*end_letters, *letters, *(matched_letters or ())], len(alive) - 1)
        leaves = {id(leaf): history for leaf, history in zip(self.leaves, histories, strict=True)}
        vectors = TruthVectors(circuit, alive, starts, leaves, self._times)
        false = vectors.compute(self.formula, False)
        may_be_undefined = any([truth != falsity ^ 1 for history in histories for _, truth, falsity in history])
        true = vectors.compute(self.formula, True) if may_be_undefined else [falsity ^ 1 for falsity in false]
        if relevant_changes is not None and matched_letters is None and not self.reads_actions:
            self._exclude_pre_existing(vectors, relevant_changes, true, false)
        checked_letters = []
        for segment, exists in self._find_checked_segments(vectors, alive, matched_letters):
            letter = starts[segment]
            if matched_letters is not None and not self.part.after:
                letter += 1  # the step leads to the next letter
            violated = circuit.both(exists, false[segment])
            undecided = circuit.conjunction([exists, true[segment] ^ 1, false[segment] ^ 1])
            if violated != FALSE or undecided != FALSE:
                checked_letters.append(_CheckedLetter(letter, violated, undecided))
        return checked_letters

    def _exclude_pre_existing(
        self, vectors: TruthVectors, relevant_changes: list[tuple[int, Literal]], true: TruthVector, false: TruthVector
    ) -> None:
        """Make the vectors true instead of false where the violation is pre-existing."""
        circuit, alive, starts = vectors.circuit, vectors.alive_letters, vectors.starts
        if self.part.mode == "whole":
            has_changed = circuit.disjunction(
                [circuit.both(alive[letter], literal) for letter, literal in relevant_changes]
            )
            if self._is_response:
                true[0] = circuit.either(true[0], circuit.both(false[0], has_changed ^ 1))
            # For other formulas, the letter of the violation is not known here: S0 may have caused the violation.
            false[0] = circuit.both(false[0], has_changed)
            return
        changes_by_letter: dict[int, list[Literal]] = {}
        for letter, literal in relevant_changes:
            changes_by_letter.setdefault(letter, []).append(literal)
        pre_existing = TRUE
        for segment, literal in enumerate(false):
            unchanged = circuit.disjunction(changes_by_letter.get(starts[segment], [])) ^ 1
            pre_existing = circuit.conjunction([pre_existing, literal, unchanged])
            true[segment] = circuit.either(true[segment], pre_existing)
            false[segment] = circuit.both(literal, pre_existing ^ 1)

    def _find_checked_segments(
        self, vectors: TruthVectors, alive: Sequence[Literal], matched_letters: list[int] | None
    ) -> list[tuple[int, Literal]]:
        """The segments at which the formula must hold, with the worlds in which it must."""
        if matched_letters is not None:  # the step is executed where the next letter exists
            segment_by_start = {start: segment for segment, start in enumerate(vectors.starts)}
            return [(segment_by_start[letter], alive[letter + 1]) for letter in matched_letters]
        if self.part.mode == "always":
            return list(enumerate(vectors.alive))
        if self.part.mode == "end":
            both = vectors.circuit.both
            return [(k, both(vectors.alive[k], vectors.alive_after[k] ^ 1)) for k in range(len(vectors.starts))]
        return [(0, vectors.alive[0])]

    def _find_segments(self, letters: Iterable[int], last: int) -> list[int]:
        """The first letters of the segments, if values, bounds or the trace's end may change at ``letters``."""
        if self._bound_letters is None:
            return list(range(last + 1))
        starts = {0}
        for letter in {*letters, *self._bound_letters, 0, last + 1}:
            starts |= set(range(letter - self._shift_depth, letter + self._shift_depth + 1))
            starts.add(letter)
        if self._match is not None:  # a matched letter is a segment of its own
            starts |= {letter + 1 for letter in letters}
        return sorted([letter for letter in starts if 0 <= letter <= last])


def _make_static_condition(formula: Formula) -> Formula:
    """A condition on S0 that is false if the formula is false in a trace in which its leaves keep their values from S0.

    If its operands keep their values, an operator that does not shift has the value of its last operand (each of the
    present operators has). A formula with an operator that shifts is returned as it is: it may have any value.
    """
    match formula:
        case Temporal():
            return _make_static_operator_condition(formula)
        case Quantified():
            return formula
        case _:
            return map_children(formula, _make_static_condition)


def _make_static_operator_condition(formula: Temporal) -> Formula:
    """As :func:`_make_static_condition`, for a formula with a temporal operator."""
    match formula.operator:
        case "always-within":
            return Or(tuple([_make_static_condition(operand) for operand in formula.operands]))
        case "next" | "weak-next" | "yesterday" | "weak-yesterday":
            return formula
        case (
            "once"
            | "historically"
            | "since"
            | "until"
            | "release"
            | "always"
            | "sometime"
            | "at-end"
            | "within"
            | "hold-during"
            | "hold-after"
        ):
            return _make_static_condition(formula.operands[-1])
        case "sometime-after" | "sometime-before" | "at-most-once":
            raise AssertionError("replaced by `expand_operators`")
        case _:
            assert_never(formula.operator)


def _evaluate(
    functions: tuple[LiteralFunction, LiteralFunction | None], state: SymbolicState, binding: Binding
) -> tuple[Literal, Literal]:
    """The worlds in which a leaf is true, and those in which it is false."""
    true_function, false_function = functions
    true = true_function(state, binding)
    return (true, true ^ 1 if false_function is None else false_function(state, binding))
