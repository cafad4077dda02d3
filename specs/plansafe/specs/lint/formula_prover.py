"""The questions that formulas answer for any problem of a domain (docs/safety-rules.md, "Claims and proofs")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plansafe.specs.lint.budget import Budget
from plansafe.specs.lint.domain_index import DomainIndex
from plansafe.specs.lint.grounder import Binding
from plansafe.specs.lint.letter_question import LetterQuestion, Possibility
from plansafe.specs.lint.letter_sequences import (
    LetterSequences,
    RequiredValue,
    assignments,
    quantifies_over_time,
)
from plansafe.specs.lint.part_statements import (
    add_violation,
    forbids_step,
    read_symbols,
    satisfaction_statements,
    step_pattern,
    value_statement,
)
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Action, Atom, Formula, Variable
from plansafe.verifier.model.operations import atoms_and_fluents, symbols_read
from plansafe.verifier.rules.model import Rule, RulePart
from plansafe.verifier.symbolic.circuits.circuit import TRUE as SURE

MATCHES = 8
"""Ways in which the instances of two rules over the trace may share objects that are tried."""


class ExcludedAction(NamedTuple):
    """That an action is ruled out, and by which rules (their numbers)."""

    action: Action
    rules: tuple[int, ...]


class FormulaProver:
    """Answers for the rules of one specification, within a budget; what is late is open."""

    def __init__(self, words: DomainIndex, rules: Sequence[Rule], budget: Budget) -> None:
        self.words = words
        self.rules = rules
        self.budget = budget
        self.reads = [read_symbols(rule) for rule in rules]

    # -- one rule -----------------------------------------------------------------------------------------------------

    def can_be_violated(self, number: int) -> Possibility:
        """Whether a trace of some problem breaks a rule."""
        replies = [self._breakable(part) for part in self.rules[number].parts]
        if Possibility.POSSIBLE in replies:
            return Possibility.POSSIBLE
        return Possibility.OPEN if Possibility.OPEN in replies else Possibility.IMPOSSIBLE

    def _breakable(self, part: RulePart) -> Possibility:
        if part.mode == "whole":
            reply = self._sequence([RequiredValue(part, False)], [])
            return reply if reply is Possibility.IMPOSSIBLE else self._example(part)
        asked = LetterQuestion(self.words, True, self.budget.deadline)
        add_violation(asked, part)
        reply = asked.answer()
        return self._example(part) if reply is Possibility.OPEN else reply

    def _example(self, part: RulePart) -> Possibility:
        """Whether a trace of one or two letters, in a problem with one object for each variable, breaks a part."""
        if self.words.temporal:
            return Possibility.OPEN
        asked = LetterQuestion(self.words, False, self.budget.deadline)
        if not add_violation(asked, part):
            return Possibility.OPEN
        for formula in (part.body, part.guard):
            for variable in _bound(formula):
                asked.universe.fresh(variable.domain, variable.name)
        return Possibility.POSSIBLE if asked.answer() is Possibility.POSSIBLE else Possibility.OPEN

    def why_unbreakable(self, number: int) -> str:
        """The reason why no trace breaks a rule, in words: the least that is contradictory."""
        rule = self.rules[number]
        if not rule.parts:
            return "its condition is always true"
        return "; ".join(dict.fromkeys([self._why(part) for part in rule.parts]))

    def _why(self, part: RulePart) -> str:
        if part.mode == "whole":
            return "every trace satisfies the formula, whatever the plan"
        if self._never(part, part.body, int(part.after), False):
            return (
                "the forbidden condition contradicts itself, or the required condition is always true"
                + self._of_kinds(part)
            )
        if part.guard is not None and self._never(part, part.guard, 0, True):
            return "its `:when` contradicts itself"
        if part.mode != "each":
            return "the forbidden condition contradicts the derived predicates or the state before"
        kind, name = self.words.action_predicates[step_pattern(part)[0].predicate]
        alone = LetterQuestion(self.words, True, self.budget.deadline)
        alone.take(kind, name, alone.arguments(self.words.actions[name]))
        if alone.answer() is Possibility.IMPOSSIBLE:
            return f"`{name}` can never be taken: its precondition contradicts itself"
        if part.after:
            return f"`{name}` never leads to the forbidden condition: its precondition and its effects exclude it"
        return f"wherever `{name}` can be taken, its precondition excludes the forbidden condition"

    def _of_kinds(self, part: RulePart) -> str:
        """What to add if it is no contradiction but for the types of objects."""
        if self._never(part, part.body, int(part.after), False, typed=False):
            return ""
        return " (according to the types: no object has all the required types)"

    def _never(self, part: RulePart, formula: Formula, letter: int, positive: bool, typed: bool = True) -> bool:
        asked = LetterQuestion(self.words, True, self.budget.deadline, typed)
        asked.say(value_statement(formula, asked.choose((*part.parameters, *_wild(part))), letter, positive))
        return asked.answer() is Possibility.IMPOSSIBLE

    # -- rules together -----------------------------------------------------------------------------------------------

    def can_be_satisfied(self, numbers: Sequence[int]) -> Possibility:
        """Whether a trace of some problem, in which each of these rules has an instance, keeps them all.

        ``POSSIBLE`` is never answered: it is the rule.
        """
        parts = [(n, part) for n in numbers for part in self.rules[n].parts if part.mode != "each"]
        asked = LetterQuestion(self.words, True, self.budget.deadline)
        asked.grounder.last = True
        for n in numbers:
            asked.choose(self.rules[n].declared)
        for _, part in parts:
            for statement in satisfaction_statements(part, (0,)):
                asked.say(statement)
        if asked.answer() is Possibility.IMPOSSIBLE:
            return Possibility.IMPOSSIBLE
        # An instance of a rule has objects for what it declares; there may be none that a ``forall`` in it is about.
        parts = [(n, part) for n, part in parts if part.parameters == self.rules[n].declared or part.mode == "always"]
        whole = [(n, part) for n, part in parts if part.mode == "whole"]
        around = [part for _, part in parts if part.mode == "always"]
        for _, part in whole:
            if self._sequence([RequiredValue(part, True)], around) is Possibility.IMPOSSIBLE:
                return Possibility.IMPOSSIBLE
        for position, (n, part) in enumerate(whole):
            for m, other in [*whole[position + 1 :], *[(m, p) for m, p in parts if p.mode == "end"]]:
                if n == m and len(numbers) > 1:
                    continue
                if (
                    self._sequence([RequiredValue(part, True), RequiredValue(other, True)], around)
                    is Possibility.IMPOSSIBLE
                ):
                    return Possibility.IMPOSSIBLE
        return Possibility.OPEN

    def implied(self, number: int, by: int) -> bool:
        """Whether it is proved that every trace that breaks a rule fails to keep the other one."""
        parts = self.rules[number].parts
        return bool(parts) and all([self._implied(part, self.rules[by].parts) for part in parts])

    def suspects(self, number: int, others: Iterable[int]) -> list[int]:
        """Of these rules, those by which a rule may be implied: the rest have nothing to do with it."""
        parts = self.rules[number].parts
        near = [n for n in others if n != number and not self.reads[n].isdisjoint(self.reads[number])]
        if any([part.mode == "whole" for part in parts]):
            return near
        for part in parts:  # most rules are implied by none, nor by all others together
            asked = LetterQuestion(self.words, True, self.budget.deadline)
            add_violation(asked, part)
            letters = (0, 1) if part.mode == "each" else (0,)
            for n in near:
                for other in self.rules[n].parts:
                    for statement in satisfaction_statements(other, letters):
                        asked.say(statement, n)
            if asked.answer() is not Possibility.IMPOSSIBLE:
                return []
        return near

    def _implied(self, part: RulePart, others: tuple[RulePart, ...]) -> bool:
        if part.mode == "whole":
            around = [other for other in others if other.mode == "always"]
            if self._sequence([RequiredValue(part, False)], around) is Possibility.IMPOSSIBLE:
                return True
            temporal = [other for other in others if other.mode == "whole"]
            return any(
                [
                    self._sequence([RequiredValue(part, False), RequiredValue(other, True)], around, True)
                    is Possibility.IMPOSSIBLE
                    for other in temporal
                ]
            )
        asked = LetterQuestion(self.words, True, self.budget.deadline)
        add_violation(asked, part)
        letters = (0, 1) if part.mode == "each" else (0,)
        for other in others:
            for statement in satisfaction_statements(other, letters):
                asked.say(statement)
        return asked.answer() is Possibility.IMPOSSIBLE

    # -- actions ------------------------------------------------------------------------------------------------------

    def ruled_out(self, leave_out: frozenset[int] = frozenset()) -> list[ExcludedAction]:
        """The actions that no trace takes without breaking rules, and fewest rules for each."""
        out = []
        for action in self.words.actions.values():
            if action.end is not None:
                continue
            numbers = [n for n in range(len(self.rules)) if n not in leave_out]
            core = self._rules_against(action, numbers)
            if not core:
                continue
            for n in core:
                fewer = [m for m in core if m != n]
                if self._rules_against(action, fewer) is not None:
                    core = fewer
            if core:
                out.append(ExcludedAction(action, tuple(core)))
        return out

    def _rules_against(self, action: Action, numbers: list[int]) -> list[int] | None:
        """The rules without which it would not be impossible to take an action; ``None`` if it may be possible."""
        asked = LetterQuestion(self.words, True, self.budget.deadline)
        asked.take("start", action.name, asked.arguments(action))
        touched = {a.predicate for e in action.start.effects for a in (*e.adds, *e.deletes)}
        touched |= symbols_read(*action.start.condition)
        touched |= {-1 - a.function for e in action.start.effects for a in e.assignments}
        own = {p for p, key in self.words.action_predicates.items() if key == ("start", action.name)}
        derived = self.words.axioms.keys()
        for n in numbers:
            if self.reads[n].isdisjoint(touched | own | derived):
                continue
            for part in self.rules[n].parts:
                if part.mode in ("always", "each") and not forbids_step(part):
                    for statement in satisfaction_statements(part, (0, 1)):
                        asked.say(statement, n)
        return [n for n in numbers if n in asked.core] if asked.answer() is Possibility.IMPOSSIBLE else None

    # -- over the trace -----------------------------------------------------------------------------------------------

    def _sequence(self, wanted: list[RequiredValue], around: list[RulePart], shared: bool = False) -> Possibility:
        """Whether letters exist that give parts the values wanted, with other parts kept at each letter.

        The instance of the first part is of new objects; that of the second shares objects with it, in several ways.
        With ``shared`` it has no objects of its own: there need not be others.
        """
        if self.words.temporal or any([quantifies_over_time(w.part) for w in wanted]):
            return Possibility.OPEN
        try:
            sequences = LetterSequences(self.words.task, wanted)
            for matching in self._matchings(wanted):
                if shared and None in matching:
                    continue
                letters = _Possible(self, sequences, wanted, matching, around)
                fixed = sum([1 << bit for bit, (_, leaf) in enumerate(sequences.leaves) if self._static(leaf)])
                if not sequences.exists(
                    letters.on_the_way, letters.on_the_way, letters.at_the_end, fixed, self.budget.deadline
                ):
                    return Possibility.IMPOSSIBLE
        except LimitReached:
            return Possibility.OPEN
        return Possibility.OPEN

    def _static(self, leaf: Formula) -> bool:
        atoms = [r.predicate for r in atoms_and_fluents(leaf) if isinstance(r, Atom)]
        numbers = [r.function for r in atoms_and_fluents(leaf) if not isinstance(r, Atom)]
        return all([self.words.static[p] for p in atoms]) and not any([self.words.writers.get(f) for f in numbers])

    def _matchings(self, wanted: list[RequiredValue]) -> list[tuple[int | None, ...]]:
        """For the parameters of the second part, which parameters of the first they are (``None``: other objects)."""
        if len(wanted) < 2:
            return [()]
        mine, other = wanted[0].part.parameters, wanted[1].part.parameters
        asked = LetterQuestion(self.words, True, self.budget.deadline)
        elements = list(asked.choose(mine).values())
        choices = [
            [n for n, e in enumerate(elements) if asked.universe.member(e, v.domain) == SURE] or [-1] for v in other
        ]
        if not other:
            return [()]
        found = assignments(len(elements), choices, MATCHES) or [tuple([-1] * len(other))]
        return [tuple([None if n < 0 else n for n in chosen]) for chosen in found]


class _Possible:
    """Which letters are possible, as far as formulas say, for one instance of each part."""

    def __init__(
        self,
        formulas: FormulaProver,
        sequences: LetterSequences,
        wanted: list[RequiredValue],
        matching: tuple[int | None, ...],
        around: list[RulePart],
    ) -> None:
        self.formulas = formulas
        self.sequences = sequences
        self.wanted = wanted
        self.matching = matching
        self.around = around
        self._known: dict[tuple[int, bool], bool] = {}

    def on_the_way(self, letter: int) -> bool:
        """Whether a letter is possible where a step follows."""
        return self._possible(letter, False)

    def at_the_end(self, letter: int) -> bool:
        """Whether a letter is possible at the end, where none does."""
        return self._possible(letter, True)

    def _possible(self, letter: int, last: bool) -> bool:
        found = self._known.get((letter, last))
        if found is None:
            asked = LetterQuestion(self.formulas.words, True, self.formulas.budget.deadline)
            asked.grounder.last = last
            first = asked.choose(self.wanted[0].part.parameters)
            bindings: list[Binding] = [first]
            if len(self.wanted) > 1:
                own: Binding = {}
                elements = list(first.values())
                for variable, match in zip(self.wanted[1].part.parameters, self.matching, strict=True):
                    new = asked.universe.fresh(variable.domain, variable.name) if match is None else elements[match]
                    own[variable.slot] = new
                bindings.append(own)
            for bit, (number, leaf) in enumerate(self.sequences.leaves):
                asked.say(value_statement(leaf, bindings[number], 0, bool(letter >> bit & 1)))
            for part in self.around:
                for statement in satisfaction_statements(part, (0,)):
                    asked.say(statement)
            found = self._known[letter, last] = asked.answer() is not Possibility.IMPOSSIBLE
        return found


def _wild(part: RulePart) -> tuple[Variable, ...]:
    return step_pattern(part)[1] if part.step is not None else ()


def _bound(formula: Formula | None) -> list[Variable]:
    from plansafe.verifier.model.operations import bound_variables  # noqa: PLC0415 - for examples alone

    return [] if formula is None else bound_variables(formula)
