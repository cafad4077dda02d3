"""What is so in every state of every problem: of derived facts, actions, their effects, and the past.

A law is a literal that is true in every state, for the elements in sight. Laws about all objects are stated for these;
that leaves out some, never adds any. Exact laws (of a :class:`~.grounder.Grounder` that does not refute) are all there
are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations

from plansafe.specs.lint.domain_index import depends_on_numbers
from plansafe.specs.lint.grounder import Binding, Grounder, Key
from plansafe.verifier.model.nodes import And, Atom, Axiom, Effect, Formula, Temporal, Variable, bind, variable
from plansafe.verifier.model.operations import PAST_OPERATORS, atoms_in, past_operator
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal

DEPTH = 3
"""Facts that only the laws about other facts mention have laws of their own down to this depth."""


class StateConstraints:
    """The laws for what a grounder has written down; :meth:`all` is asked again when that has grown."""

    def __init__(self, grounder: Grounder) -> None:
        self.grounder = grounder
        self.words = grounder.words
        self.circuit = grounder.circuit
        self._depths: dict[object, int] = {}
        self._recursive = _recursive(self.words.axioms)

    def all(self) -> list[Literal]:
        """Every law. Raises :class:`LimitReached`."""
        grounder = self.grounder
        out: list[Literal] = []
        done: set[object] = set()
        while True:
            facts = [(key, partial(self._of_fact, key)) for key in grounder.atoms if key not in done]
            pasts = [(key, partial(self._of_past, *past)) for key, past in grounder.pasts.items() if key not in done]
            if not facts and not pasts:
                break
            for key, laws in (*facts, *pasts):
                done.add(key)
                depth = self._depths.setdefault(key, 0)
                if depth > DEPTH:
                    grounder.abstracted = True
                    continue
                out += laws()
                for new in (*grounder.atoms, *grounder.pasts):
                    self._depths.setdefault(new, depth + 1)
        out += self._one_action()
        before = -1
        while before != len(grounder.universe.equalities):
            before = len(grounder.universe.equalities)
            out += grounder.universe.laws()
            out += self._congruence()
        return out

    # -- facts --------------------------------------------------------------------------------------------------------

    def _of_fact(self, key: Key) -> Iterator[Literal]:
        letter, predicate, elements = key
        words, grounder = self.words, self.grounder
        fact = grounder.atoms[key]
        if predicate in words.action_predicates:
            yield from self._of_action(fact, letter, predicate, elements)
            return
        if words.typed[predicate]:
            for element, domain in zip(elements, words.task.predicates[predicate].domains, strict=True):
                yield self.circuit.either(fact ^ 1, grounder.universe.member(element, domain))
        if predicate in words.axioms:
            yield from self._derived(fact, letter, predicate, elements)
        elif letter and grounder.taken is not None and not words.temporal:
            yield from self._after(fact, predicate, elements)
        elif letter:
            grounder.abstracted = True

    def _derived(self, fact: Literal, letter: int, predicate: int, elements: tuple[int, ...]) -> Iterator[Literal]:
        """A derived fact is true if a body is (and if none is, then false)."""
        grounder, circuit = self.grounder, self.circuit
        if predicate in self._recursive:
            grounder.abstracted = True  # of a recursive definition, the least solution counts
        bodies = []
        for axiom in self.words.axioms[predicate]:
            binding = bind(axiom.parameters, elements)
            inside = self._inside(axiom.parameters, elements)
            false = grounder.truth(axiom.body, binding, letter, False)
            yield circuit.disjunction([fact, false, inside ^ 1])
            bodies.append(circuit.both(inside, grounder.truth(axiom.body, binding, letter, True)))
        yield circuit.disjunction([fact ^ 1, *bodies])

    def _inside(self, variables: tuple[Variable, ...], elements: tuple[int, ...]) -> Literal:
        member = self.grounder.universe.member
        return self.circuit.conjunction([member(e, v.domain) for e, v in zip(elements, variables, strict=True)])

    # -- actions ------------------------------------------------------------------------------------------------------

    def _of_action(self, fact: Literal, letter: int, predicate: int, elements: tuple[int, ...]) -> Iterator[Literal]:
        """Where an action is taken, its precondition is true."""
        kind, name = self.words.action_predicates[predicate]
        action = self.words.actions[name]
        if not self.words.lenient:
            yield self.circuit.either(fact ^ 1, self._inside(action.parameters, elements))
        snap, read = self.words.condition(kind, action)
        if snap is not None and read:
            binding = bind(action.parameters, elements)
            condition = self.grounder.truth(_whole(snap.condition), binding, letter, True)
            yield self.circuit.either(fact ^ 1, condition)

    def _one_action(self) -> Iterator[Literal]:
        """At most one action is taken at a letter, unless some last."""
        grounder = self.grounder
        if self.words.temporal:
            return
        taken = [(key, fact) for key, fact in grounder.atoms.items() if key[1] in self.words.action_predicates]
        for (a, first), (b, second) in combinations(taken, 2):
            if a[0] == b[0]:
                same = grounder.same(a[2], b[2]) if a[1] == b[1] else FALSE
                yield self.circuit.disjunction([first ^ 1, second ^ 1, same])

    def _after(self, fact: Literal, predicate: int, elements: tuple[int, ...]) -> Iterator[Literal]:
        """A fact after the step: as before, but for what the step adds and deletes; what it does both is true."""
        grounder, circuit = self.grounder, self.circuit
        assert grounder.taken is not None
        before = grounder.atom(0, predicate, elements)
        own = grounder.taken.binding()
        added: list[Literal] = []
        deleted: list[Literal] = []
        certain: list[tuple[bool, Effect, Atom]] = []
        for effect in grounder.taken.action.start.effects:
            for adds, atoms in ((True, effect.adds), (False, effect.deletes)):
                for atom in atoms:
                    if atom.predicate == predicate:
                        (added if adds else deleted).append(self._happens(effect, atom, elements, own))
                        certain.append((adds, effect, atom))
        may_add, may_delete = circuit.disjunction(added), circuit.disjunction(deleted)
        yield circuit.disjunction([fact ^ 1, before, may_add])
        yield circuit.disjunction([fact, before ^ 1, may_delete])
        for adds, effect, atom in certain:
            if effect.choices or (grounder.refuting and depends_on_numbers(effect)):
                grounder.abstracted = True  # it may happen or not
                continue
            missed = self._missed(effect, atom, elements, own)
            yield circuit.disjunction([missed, fact] if adds else [missed, fact ^ 1, may_add])

    def _happens(self, effect: Effect, atom: Atom, elements: tuple[int, ...], own: Binding) -> Literal:
        """That an effect reaches a fact, for some values of its variables."""
        grounder = self.grounder
        grounder.abstracted |= depends_on_numbers(effect)

        def reached(binding: Binding) -> Literal:
            equal = grounder.same(grounder.elements(atom.arguments, binding), elements)
            inside = self._inside(effect.variables, tuple([binding[v.slot] for v in effect.variables]))
            condition = TRUE if equal == FALSE else grounder.truth(effect.condition, binding, 0, True)
            return self.circuit.conjunction([equal, inside, condition])

        given, free = _matched(effect, atom, elements)
        return grounder.some(free, ("effect", id(effect), id(atom), elements), lambda b: reached({**own, **given, **b}))

    def _missed(self, effect: Effect, atom: Atom, elements: tuple[int, ...], own: Binding) -> Literal:
        """That an effect does not reach a fact, whatever the values of its variables."""
        grounder = self.grounder

        def missed(binding: Binding) -> Literal:
            equal = grounder.same(grounder.elements(atom.arguments, binding), elements)
            inside = self._inside(effect.variables, tuple([binding[v.slot] for v in effect.variables]))
            condition = FALSE if equal == FALSE else grounder.truth(effect.condition, binding, 0, False)
            return self.circuit.disjunction([equal ^ 1, inside ^ 1, condition])

        given, free = _matched(effect, atom, elements)
        return grounder.every(free, lambda binding: missed({**own, **given, **binding}))

    # -- the past -----------------------------------------------------------------------------------------------------

    def _of_past(self, letter: int, formula: Temporal, binding: Binding, value: Literal) -> Iterator[Literal]:
        """What a past operator says about this letter, and about the one before."""
        if formula.operator not in PAST_OPERATORS:
            return
        grounder, circuit, operator = self.grounder, self.circuit, past_operator(formula)

        def at(operand: int, when: int, positive: bool) -> Literal:
            return grounder.truth(formula.operands[operand], binding, when, positive)

        def implied(*parts: Literal) -> Literal:
            return circuit.disjunction(parts)

        if letter and grounder.taken is not None and not self.words.temporal:
            if operator in ("yesterday", "weak-yesterday"):
                yield implied(value ^ 1, at(0, 0, True))
                yield implied(value, at(0, 0, False))
                return
            before = grounder.truth(formula, binding, 0, True)
            if operator == "once":
                yield implied(value ^ 1, before, at(0, 1, True))
                yield implied(value, before ^ 1)
            elif operator == "historically":
                yield implied(value ^ 1, before)
                yield implied(value, before ^ 1, at(0, 1, False))
            elif operator == "since":
                yield implied(value ^ 1, at(1, 1, True), before)
                yield implied(value, before ^ 1, at(0, 1, False))
        if operator == "once":
            yield implied(value, at(0, letter, False))
        elif operator == "historically":
            yield implied(value ^ 1, at(0, letter, True))
        elif operator == "since":
            yield implied(value, at(1, letter, False))
            yield implied(value ^ 1, at(1, letter, True), at(0, letter, True))

    # -- equality -----------------------------------------------------------------------------------------------------

    def _congruence(self) -> Iterator[Literal]:
        """Facts about equal objects are the same fact, and so are their numbers."""
        grounder, circuit = self.grounder, self.circuit
        if not grounder.universe.equalities:
            return
        groups: dict[tuple[int, int], list[tuple[tuple[int, ...], Literal]]] = {}
        for (letter, predicate, elements), fact in grounder.atoms.items():
            groups.setdefault((letter, predicate), []).append((elements, fact))
        for facts in groups.values():
            for (a, first), (b, second) in combinations(facts, 2):
                same = grounder.same(a, b)
                if same != FALSE:
                    yield circuit.either(same ^ 1, circuit.equal(first, second))
        for ((m, f, a), x), ((n, g, b), y) in combinations(grounder.fluents.items(), 2):
            if (m, f) == (n, g):
                same = grounder.same(a, b)
                if same != FALSE:
                    yield circuit.either(same ^ 1, terms.compare(circuit, "=", x, y))


def _matched(effect: Effect, atom: Atom, elements: tuple[int, ...]) -> tuple[Binding, tuple[Variable, ...]]:
    """The variables of an effect that the fact gives values to, and the others."""
    given: Binding = {}
    own = {variable(v.slot) for v in effect.variables}
    for argument, element in zip(atom.arguments, elements, strict=True):
        if argument in own:
            given.setdefault(variable(argument), element)
    return given, tuple([v for v in effect.variables if v.slot not in given])


def _whole(parts: tuple[Formula, ...]) -> Formula:
    return parts[0] if len(parts) == 1 else And(parts)


def _recursive(axioms: dict[int, list[Axiom]]) -> frozenset[int]:
    """The derived predicates that depend on themselves."""
    above = {
        head: {atom.predicate for axiom in bodies for atom in atoms_in(axiom.body)} & axioms.keys()
        for head, bodies in axioms.items()
    }
    for _ in above:
        for head, found in above.items():
            above[head] = found | {p for other in found for p in above[other]}
    return frozenset([head for head, found in above.items() if head in found])
