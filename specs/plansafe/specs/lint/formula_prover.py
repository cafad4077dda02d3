"""Answer questions about any problem of a domain by formulas (docs/safety-rules.md, "Claims and proofs")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, product
from typing import NamedTuple

from plansafe.specs.lint.budget import Budget
from plansafe.specs.lint.domain_index import DomainIndex
from plansafe.specs.lint.grounder import Binding
from plansafe.specs.lint.letter_question import LetterQuestion, Possibility
from plansafe.specs.lint.letter_sequences import Letter, LetterSequences, RequiredValue, quantifies_over_time
from plansafe.specs.lint.part_statements import (
    find_read_symbols,
    forbids_step,
    make_satisfaction_statements,
    make_value_statement,
    require_violation,
    split_step_pattern,
)
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Action, Atom, Formula
from plansafe.verifier.model.operations import find_atoms_and_fluents, find_bound_variables, find_signed_symbols
from plansafe.verifier.rules.model import Rule, RulePart
from plansafe.verifier.symbolic.circuits.circuit import TRUE

MAX_MATCHINGS = 8
"""Maximum number of matchings of the objects of two rules over the trace that are tried."""
MAX_RANKED_MATCHINGS = 512
"""Maximum number of matchings from which they are chosen."""
Matching = tuple[int | None, ...]
"""For each parameter of the second part, the number of the first part's parameter with the same object, or ``None``."""


class ExcludedAction(NamedTuple):
    """An action that rules exclude, and these rules (their numbers)."""

    action: Action
    rules: tuple[int, ...]


class FormulaProver:
    """Answers questions about the rules of one specification; they are undecided once the budget is spent."""

    def __init__(self, index: DomainIndex, rules: Sequence[Rule], budget: Budget) -> None:
        self.index = index
        self.rules = rules
        self.budget = budget
        self.symbols = [find_read_symbols(rule) for rule in rules]
        """For each rule, the predicates and functions that it reads."""

    def make_question(self, is_refutation: bool = True, typed: bool = True) -> LetterQuestion:
        """Make a question without statements."""
        return LetterQuestion(self.index, is_refutation, self.budget.deadline, typed)

    # -- one rule -----------------------------------------------------------------------------------------------------

    def decide_violable(self, number: int) -> Possibility:
        """Decide whether a trace of some problem violates a rule."""
        answers = [self._decide_part_violable(part) for part in self.rules[number].parts]
        if Possibility.POSSIBLE in answers:
            return Possibility.POSSIBLE
        return Possibility.UNDECIDED if Possibility.UNDECIDED in answers else Possibility.IMPOSSIBLE

    def _decide_part_violable(self, part: RulePart) -> Possibility:
        if part.mode == "whole":
            if self._is_sequence_excluded([RequiredValue(part, positive=False)], []):
                return Possibility.IMPOSSIBLE
            return self._decide_by_example(part)
        question = self.make_question()
        require_violation(question, part)
        answer = question.solve()
        return self._decide_by_example(part) if answer is Possibility.UNDECIDED else answer

    def _decide_by_example(self, part: RulePart) -> Possibility:
        """Decide whether some trace of one or two letters violates a part, in a problem with one object per variable.

        The result is never ``IMPOSSIBLE``: other problems and traces are not tried.
        """
        if self.index.temporal:
            return Possibility.UNDECIDED
        question = self.make_question(is_refutation=False)
        if not require_violation(question, part):
            return Possibility.UNDECIDED
        for formula in (part.body, part.guard):
            question.add_elements([] if formula is None else find_bound_variables(formula))
        return Possibility.POSSIBLE if question.solve() is Possibility.POSSIBLE else Possibility.UNDECIDED

    def explain_unviolable(self, number: int) -> str:
        """Explain why no trace violates a rule: a minimal contradiction."""
        rule = self.rules[number]
        if not rule.parts:
            return "its condition is always true"
        return "; ".join(dict.fromkeys([self._explain_unviolable_part(part) for part in rule.parts]))

    def _explain_unviolable_part(self, part: RulePart) -> str:
        if part.mode == "whole":
            return "every trace satisfies the formula, whatever the plan"
        if self._is_impossible(part, part.body, int(part.after), positive=False):
            reason = "the forbidden condition contradicts itself, or the required condition is always true"
            if self._is_impossible(part, part.body, int(part.after), positive=False, typed=False):
                return reason
            return f"{reason} (according to the types: no object has all the required types)"
        if part.guard is not None and self._is_impossible(part, part.guard, 0, positive=True):
            return "its `:when` contradicts itself"
        if part.mode != "each":
            return "the forbidden condition contradicts the derived predicates or the state before"
        kind, name = self.index.action_predicates[split_step_pattern(part)[0].predicate]
        question = self.make_question()
        question.require_action(kind, name, question.add_argument_elements(self.index.actions[name]))
        if question.solve() is Possibility.IMPOSSIBLE:
            return f"`{name}` can never be taken: its precondition contradicts itself"
        if part.after:
            return f"`{name}` never leads to the forbidden condition: its precondition and its effects exclude it"
        return f"wherever `{name}` can be taken, its precondition excludes the forbidden condition"

    def _is_impossible(self, part: RulePart, formula: Formula, letter: int, positive: bool, typed: bool = True) -> bool:
        """Whether a formula of a part never has a value, for any objects."""
        question = self.make_question(typed=typed)
        wildcards = split_step_pattern(part)[1] if part.step is not None else ()
        binding = question.add_elements((*part.parameters, *wildcards))
        question.require(make_value_statement(formula, binding, letter, positive))
        return question.solve() is Possibility.IMPOSSIBLE

    # -- several rules ------------------------------------------------------------------------------------------------

    def can_never_be_satisfied(self, numbers: Sequence[int]) -> bool:
        """Whether it is proved that no trace satisfies these rules, in any problem in which each has an instance."""
        parts = [part for number in numbers for part in self.rules[number].parts if part.mode != "each"]
        question = self.make_question()
        question.grounder.is_last = True
        for number in numbers:
            question.add_elements(self.rules[number].declared_parameters)
        for part in parts:
            for statement in make_satisfaction_statements(part, (0,)):
                question.require(statement)
        if question.solve() is Possibility.IMPOSSIBLE:
            return True
        # An instance of a rule has objects for its declared parameters; a ``forall`` may range over an empty domain.
        invariants = [part for part in parts if part.mode == "always"]
        parts = [part for part in parts if part.parameters == self.rules[part.rule].declared_parameters]
        trace_parts = [part for part in parts if part.mode == "whole"]
        end_parts = [part for part in parts if part.mode == "end"]
        if any([self._is_sequence_excluded([RequiredValue(part, positive=True)], invariants) for part in trace_parts]):
            return True
        for position, part in enumerate(trace_parts):
            for second in [*trace_parts[position + 1 :], *end_parts]:
                if part.rule == second.rule and len(numbers) > 1:
                    continue
                values = [RequiredValue(part, positive=True), RequiredValue(second, positive=True)]
                if self._is_sequence_excluded(values, invariants):
                    return True
        return False

    def is_implied(self, number: int, implying_rule: int) -> bool:
        """Whether it is proved that every trace that violates rule ``number`` does not satisfy ``implying_rule``."""
        parts = self.rules[number].parts
        return bool(parts) and all([self._is_part_implied(part, self.rules[implying_rule].parts) for part in parts])

    def find_implying_candidates(self, number: int, rules: Iterable[int]) -> list[int]:
        """Find the rules that may imply a rule: they share a symbol with it. None if all together do not imply it."""
        parts = self.rules[number].parts
        related_rules = [
            rule for rule in rules if rule != number and not self.symbols[rule].isdisjoint(self.symbols[number])
        ]
        if any([part.mode == "whole" for part in parts]):
            return related_rules
        related_parts = [related_part for rule in related_rules for related_part in self.rules[rule].parts]
        for part in parts:  # most rules are not implied by any rule, nor by all others together
            if not self._is_violation_excluded(part, related_parts):
                return []
        return related_rules

    def _is_part_implied(self, part: RulePart, implying_parts: tuple[RulePart, ...]) -> bool:
        if part.mode != "whole":
            return self._is_violation_excluded(part, implying_parts)
        invariants = [invariant for invariant in implying_parts if invariant.mode == "always"]
        if self._is_sequence_excluded([RequiredValue(part, positive=False)], invariants):
            return True
        for second in implying_parts:
            values = [RequiredValue(part, positive=False), RequiredValue(second, positive=True)]
            if second.mode == "whole" and self._is_sequence_excluded(values, invariants, only_shared_objects=True):
                return True
        return False

    def _is_violation_excluded(self, part: RulePart, satisfied_parts: Iterable[RulePart]) -> bool:
        """Whether it is proved that a part cannot be violated where other parts are satisfied."""
        question = self.make_question()
        require_violation(question, part)
        letters = (0, 1) if part.mode == "each" else (0,)
        for satisfied_part in satisfied_parts:
            for statement in make_satisfaction_statements(satisfied_part, letters):
                question.require(statement)
        return question.solve() is Possibility.IMPOSSIBLE

    # -- actions ------------------------------------------------------------------------------------------------------

    def find_excluded_actions(self, ignored_rules: frozenset[int] = frozenset()) -> list[ExcludedAction]:
        """Find the actions that no trace takes without violating rules, each with a minimal set of such rules."""
        excluded = []
        for action in self.index.actions.values():
            if action.end is not None:
                continue
            core = self._find_excluding_rules(action, [n for n in range(len(self.rules)) if n not in ignored_rules])
            if not core:
                continue
            for n in core:
                fewer = [number for number in core if number != n]
                if self._find_excluding_rules(action, fewer) is not None:
                    core = fewer
            if core:
                excluded.append(ExcludedAction(action, tuple(core)))
        return excluded

    def _find_excluding_rules(self, action: Action, numbers: list[int]) -> list[int] | None:
        """Find rules that together make it impossible to take an action; ``None`` if it may be possible."""
        question = self.make_question()
        question.require_action("start", action.name, question.add_argument_elements(action))
        symbols = {atom.predicate for effect in action.start.effects for atom in (*effect.adds, *effect.deletes)}
        symbols |= find_signed_symbols(*action.start.condition)
        symbols |= {-1 - assignment.function for effect in action.start.effects for assignment in effect.assignments}
        symbols |= {p for p, key in self.index.action_predicates.items() if key == ("start", action.name)}
        symbols |= self.index.axioms.keys()
        for n in numbers:
            if self.symbols[n].isdisjoint(symbols):
                continue
            for part in self.rules[n].parts:
                if part.mode in ("always", "each") and not forbids_step(part):
                    for statement in make_satisfaction_statements(part, (0, 1)):
                        question.require(statement, n)
        return [n for n in numbers if n in question.core] if question.solve() is Possibility.IMPOSSIBLE else None

    # -- over the trace -----------------------------------------------------------------------------------------------

    def _is_sequence_excluded(
        self, required_values: list[RequiredValue], invariants: list[RulePart], only_shared_objects: bool = False
    ) -> bool:
        """Whether it is proved that no sequence of letters gives one or two parts their required values.

        ``invariants`` must be true at each letter. The first part has one instance, about new objects. All instances of
        the second part must have its value, so a proof for one of them is enough: several matchings of its objects with
        objects of the first part are tried. With ``only_shared_objects``, each object must be one of the first part,
        because the problem may have no other objects.
        """
        if self.index.temporal or any([quantifies_over_time(value.part) for value in required_values]):
            return False
        try:
            sequences = LetterSequences(self.index.task, required_values)
            for matching in self._list_matchings(required_values):
                if only_shared_objects and None in matching:
                    continue
                letters = _PossibleLetters(self, sequences, matching, invariants)
                bits = [1 << bit for bit, (_, leaf) in enumerate(sequences.leaves) if self._is_static(leaf)]
                static_leaf_mask = sum(bits)
                if not sequences.exists(
                    letters.may_continue,
                    letters.may_continue,
                    letters.may_be_last,
                    static_leaf_mask,
                    self.budget.deadline,
                ):
                    return True
        except LimitReached:
            return False
        return False

    def _is_static(self, leaf: Formula) -> bool:
        for read in find_atoms_and_fluents(leaf):
            if isinstance(read, Atom):
                is_static = self.index.static[read.predicate]
            else:
                is_static = not self.index.writers.get(read.function)
            if not is_static:
                return False
        return True

    def _list_matchings(self, required_values: list[RequiredValue]) -> list[Matching]:
        """List the matchings to try, those with the most different objects first."""
        if len(required_values) < 2 or not required_values[1].part.parameters:
            return [()]
        question = self.make_question()
        elements = list(question.add_elements(required_values[0].part.parameters).values())
        choices: list[Sequence[int | None]] = []
        for v in required_values[1].part.parameters:
            membership = [question.universe.encode_membership(element, v.domain) for element in elements]
            choices.append([number for number, literal in enumerate(membership) if literal == TRUE] or [None])
        matchings = islice(product(*choices), MAX_RANKED_MATCHINGS)
        return sorted(matchings, key=lambda matching: -len(set(matching)))[:MAX_MATCHINGS]


class _PossibleLetters:
    """The letters that are possible according to the formulas, for one instance of each part."""

    def __init__(
        self, prover: FormulaProver, sequences: LetterSequences, matching: Matching, invariants: list[RulePart]
    ) -> None:
        self.prover = prover
        self.sequences = sequences
        self.matching = matching
        self.invariants = invariants
        self._possible: dict[tuple[Letter, bool], bool] = {}

    def may_continue(self, letter: Letter) -> bool:
        """Whether a letter is possible before a step."""
        return self._is_possible(letter, False)

    def may_be_last(self, letter: Letter) -> bool:
        """Whether a letter is possible at the end of the trace."""
        return self._is_possible(letter, True)

    def _is_possible(self, letter: Letter, is_last: bool) -> bool:
        is_possible = self._possible.get((letter, is_last))
        if is_possible is None:
            question = self.prover.make_question()
            question.grounder.is_last = is_last
            parts = [value.part for value in self.sequences.required_values]
            bindings = [question.add_elements(parts[0].parameters)]
            if len(parts) > 1:
                bindings.append(self._make_second_binding(question, parts[1], list(bindings[0].values())))
            for bit, (number, leaf) in enumerate(self.sequences.leaves):
                question.require(make_value_statement(leaf, bindings[number], 0, bool(letter >> bit & 1)))
            for part in self.invariants:
                for statement in make_satisfaction_statements(part, (0,)):
                    question.require(statement)
            is_possible = self._possible[letter, is_last] = question.solve() is not Possibility.IMPOSSIBLE
        return is_possible

    def _make_second_binding(self, question: LetterQuestion, part: RulePart, elements: list[int]) -> Binding:
        binding: Binding = {}
        for variable, match in zip(part.parameters, self.matching, strict=True):
            if match is None:
                binding[variable.slot] = question.universe.add_element(variable.domain, variable.name)
            else:
                binding[variable.slot] = elements[match]
        return binding
