"""The literals that a condition's value rests on (docs/diagnose.md, "Causal links, open preconditions, threats").

Derived predicates are traced to basic facts: a true one through its earliest derivations, a false one through all that
keeps every derivation from coming about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.evaluation import NO_LIMIT, Evaluator
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Axiom,
    Binding,
    Compare,
    Equal,
    Formula,
    Not,
    Number,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
    bind,
)
from plansafe.verifier.model.operations import expression_fluents, signed_subformulas
from plansafe.verifier.model.printing import formula_text

FactKey = tuple[int, int]
"""A basic fact (predicate, code), or a fluent (number of predicates + function, code)."""
MAX_FLIPS = 100
"""Of a condition that rests on more literals than this, whether each is needed is told by its shape alone."""


class SupportLiteral(NamedTuple):
    """A ground literal that holds: an atom or a comparison, or with ``value`` false its negation.

    ``keys`` are the facts or fluents that it reads. ``sure``: by the shape of the condition, it has another value
    without this literal.
    """

    formula: Formula
    binding: Binding
    value: bool
    keys: tuple[FactKey, ...]
    sure: bool

    def text(self, task: Task) -> str:
        """The literal as PDDL."""
        return formula_text(task, self.formula if self.value else Not(self.formula), self.binding)


class SupportFinder:
    """Answers for one state, which may change between questions (:meth:`moved` says so)."""

    def __init__(self, engine: Engine, state: State) -> None:
        self.engine = engine
        self.task = engine.task
        self.state = state
        self.evaluator = Evaluator(engine.task, state.facts, state.fluents)
        self._axioms: dict[int, list[Axiom]] = {}
        for stratum in engine.task.axioms:
            for axiom in stratum:
                self._axioms.setdefault(axiom.predicate, []).append(axiom)
        self._stages: list[list[set[int]]] | None = None
        self._compiled: dict[int, tuple[Formula, list[int], Callable[..., bool]]] = {}
        self._monotone: dict[int, tuple[Formula, bool]] = {}

    def moved(self) -> None:
        """The state has changed."""
        self._stages = None

    def holds(self, formula: Formula, binding: Binding) -> bool | None:
        """The value of a condition."""
        if isinstance(formula, Quantified):
            known = self._compiled.get(id(formula))
            if known is None:
                slots = sorted(self.engine.emitter.free(formula))
                known = formula, slots, self.engine.emitter.condition(formula, slots)
                self._compiled[id(formula)] = known
            try:
                return known[2](self.state.facts, self.state.fluents, *[binding[slot] for slot in known[1]])
            except (KeyError, ZeroDivisionError):
                pass
        return self.evaluator.holds(formula, binding)

    def derived(self, predicate: int) -> bool:
        """Whether a predicate is derived."""
        return predicate in self._axioms

    def code(self, arguments: tuple[int, ...], binding: Binding) -> int:
        """The code of ground arguments."""
        return self.task.code_of(arguments, binding)

    def key(self, atom: Atom, binding: Binding) -> FactKey:
        """The fact that an atom is about."""
        return atom.predicate, self.code(atom.arguments, binding)

    def fluents(self, formula: Compare, binding: Binding) -> tuple[FactKey, ...]:
        """The fluents that a comparison reads."""
        base = len(self.task.predicates)
        reads = [*expression_fluents(formula.left), *expression_fluents(formula.right)]
        return tuple(dict.fromkeys([(base + f.function, self.code(f.arguments, binding)) for f in reads]))

    # -- what a value rests on ----------------------------------------------------------------------------------------

    def rests(self, formula: Formula, binding: Binding, value: bool, sure: bool = True) -> list[SupportLiteral]:
        """Basic literals such that ``formula`` has ``value`` as long as all of them hold; it must have it now.

        Where several parts each suffice (a disjunction with two true parts), the literals of all of them.
        """
        out: dict[tuple[object, ...], SupportLiteral] = {}
        seen: set[tuple[int, int, bool]] = set()
        todo: list[tuple[Formula, Binding, bool, bool]] = [(formula, binding, value, sure)]
        while todo:
            part, bound, wanted, certain = todo.pop()
            for literal in self._literals(part, bound, wanted, certain):
                found = literal.keys[0] if isinstance(literal.formula, Atom) else None
                if found is None or found[0] not in self._axioms:
                    same = (found or id(literal.formula), *literal.keys, literal.value)
                    old = out.get(same)
                    out[same] = literal if old is None else old._replace(sure=old.sure or literal.sure)
                elif (*found, literal.value) not in seen:
                    seen.add((*found, literal.value))
                    todo += self._bodies(found, literal.value)
        return list(out.values())

    def _literals(self, formula: Formula, binding: Binding, value: bool, sure: bool) -> Iterator[SupportLiteral]:
        match formula:
            case Atom():
                yield SupportLiteral(formula, binding, value, (self.key(formula, binding),), sure)
            case Compare():
                keys = self.fluents(formula, binding)
                if keys:
                    yield SupportLiteral(formula, binding, value, keys, sure)
            case Not():
                yield from self._literals(formula.body, binding, not value, sure)
            case And() | Or():
                parts = [(part, binding) for part in formula.parts]
                yield from self._parts(parts, isinstance(formula, Or), value, sure)
            case Quantified():
                parts = [(formula.body, inner) for inner in self.task.bindings(formula.variables, binding)]
                yield from self._parts(parts, not formula.universal, value, sure)
            case Truth() | Equal() | Temporal():
                pass  # nothing that a step can bring about
            case _:
                assert_never(formula)

    def _parts(
        self, parts: list[tuple[Formula, Binding]], deciding: bool, value: bool, sure: bool
    ) -> Iterator[SupportLiteral]:
        if value is deciding:  # each part with this value suffices
            parts = [(part, binding) for part, binding in parts if self.holds(part, binding) is value]
            sure = sure and len(parts) == 1
        for part, binding in parts:
            yield from self._literals(part, binding, value, sure)

    # -- what is missing ----------------------------------------------------------------------------------------------

    def missing(self, formula: Formula, binding: Binding) -> list[SupportLiteral]:
        """Literals that do not hold and keep a condition from being true, as they should be.

        ``sure``: the condition cannot become true by the others alone. Derived predicates are not traced.
        """
        reasons = self.evaluator.reasons(formula, binding, True, NO_LIMIT)
        found: dict[str, SupportLiteral] = {}
        for reason in reasons:
            keys: tuple[FactKey, ...] = ()
            if isinstance(reason.formula, Atom):
                keys = (self.key(reason.formula, reason.binding),)
            elif isinstance(reason.formula, Compare):
                keys = self.fluents(reason.formula, reason.binding)
            literal = SupportLiteral(reason.formula, reason.binding, reason.wanted, keys, True)
            found.setdefault(formula_text(self.task, reason.formula, reason.binding), literal)
        if not 1 < len(found) <= MAX_FLIPS:
            return [literal._replace(sure=len(found) == 1) for literal in found.values()]
        out = []
        for text, literal in found.items():
            rest = {other: wanted.value for other, wanted in found.items() if other != text}
            others = _Forced(self.task, self.state.facts, self.state.fluents, rest)
            out.append(literal._replace(sure=others.holds(formula, binding) is not True))
        return out

    def against(self, literal: SupportLiteral) -> list[SupportLiteral]:
        """The basic literals that keep a literal from holding."""
        if isinstance(literal.formula, Atom) and self.derived(literal.formula.predicate):
            return self.rests(literal.formula, literal.binding, not literal.value)
        return [literal._replace(value=not literal.value)]

    # -- derived predicates -------------------------------------------------------------------------------------------

    def _bodies(self, fact: FactKey, value: bool) -> Iterator[tuple[Formula, Binding, bool, bool]]:
        """The bodies that a derived fact's value comes from, each with the value it has.

        A true fact: those that hold by facts of earlier stages alone, so that no fact explains itself.
        """
        predicate, code = fact
        earlier = self._stage(fact) if value else None
        for axiom in self._axioms[predicate]:
            objects = self.task.decode(code, len(axiom.parameters))
            if any([o not in self.task.domain_sets[v.domain] for v, o in zip(axiom.parameters, objects, strict=True)]):
                continue
            binding = bind(axiom.parameters, objects)
            if not value:
                yield axiom.body, binding, False, False
            elif Evaluator(self.task, earlier or [], self.state.fluents).holds(axiom.body, binding) is True:
                for literal in SupportFinder._in(self, earlier or [])._literals(axiom.body, binding, True, False):  # noqa: SLF001 - of its own class
                    yield literal.formula, literal.binding, literal.value, False

    @classmethod
    def _in(cls, other: SupportFinder, facts: list[set[int]]) -> SupportFinder:
        """The same questions in a state with fewer derived facts."""
        needs = cls(other.engine, State(other.task, facts, other.state.fluents))
        needs._compiled = other._compiled
        return needs

    def _stage(self, fact: FactKey) -> list[set[int]]:
        """The facts from which a true derived fact follows at once: those of the stages before its own."""
        if self._stages is None:
            self._stages = list(self._staged())
        for before, after in zip(self._stages, self._stages[1:], strict=False):
            if fact[1] in after[fact[0]]:
                return before
        raise AssertionError("the fact is not true")

    def _staged(self) -> Iterator[list[set[int]]]:
        """The state without derived facts, then with all that follow at once, stratum by stratum."""
        task, fluents = self.task, self.state.fluents
        facts = [set() if p in self._axioms else found for p, found in enumerate(self.state.facts)]
        yield facts
        for stratum in task.axioms:
            own = {axiom.predicate for axiom in stratum}
            while any([facts[p] != self.state.facts[p] for p in own]):
                evaluator = Evaluator(task, facts, fluents)
                new = list(facts)
                for predicate in own:
                    rest = self.state.facts[predicate] - facts[predicate]
                    new[predicate] = facts[predicate] | {c for c in rest if self._follows(evaluator, predicate, c)}
                facts = new
                yield facts

    def _follows(self, evaluator: Evaluator, predicate: int, code: int) -> bool:
        for axiom in self._axioms[predicate]:
            objects = self.task.decode(code, len(axiom.parameters))
            fits = [o in self.task.domain_sets[v.domain] for v, o in zip(axiom.parameters, objects, strict=True)]
            binding = bind(axiom.parameters, objects)
            if all(fits) and evaluator.holds(axiom.body, binding) is True:
                return True
        return False

    # -- what is needed -----------------------------------------------------------------------------------------------

    def needed(
        self, formula: Formula, binding: Binding, literals: list[SupportLiteral], producer: Callable[[FactKey], int]
    ) -> list[bool]:
        """For each literal a true condition rests on, whether it is needed.

        That is: the condition is not true if the literal is turned over alone, or with all of these literals that have
        the same producer.
        """
        shape = self._has_shape(formula)
        groups: dict[int, list[SupportLiteral]] = {}
        for literal in literals:
            for step in {producer(key) for key in literal.keys}:
                groups.setdefault(step, []).append(literal)
        verdicts: dict[int, bool] = {}
        out = []
        for literal in literals:
            if (shape and literal.sure) or len(literals) > MAX_FLIPS:
                out.append(literal.sure)
                continue
            value = self._turned(formula, binding, [literal])
            for step in {producer(key) for key in literal.keys} - {0}:
                if not value and len(groups[step]) > 1:
                    if step not in verdicts:
                        verdicts[step] = self._turned(formula, binding, groups[step])
                    value = verdicts[step]
            out.append(value)
        return out

    def _turned(self, formula: Formula, binding: Binding, literals: Iterable[SupportLiteral]) -> bool:
        """Whether the condition is no longer true when literals are turned over."""
        facts = list(self.state.facts)
        forced: dict[str, bool] = {}
        for literal in literals:
            if isinstance(literal.formula, Atom):
                predicate, code = literal.keys[0]
                facts[predicate] = facts[predicate] ^ {code}
            else:
                forced[formula_text(self.task, literal.formula, literal.binding)] = not literal.value
        if self.engine.axioms is not None:
            self.engine.axioms.compute(facts, self.state.fluents)
        return _Forced(self.task, facts, self.state.fluents, forced).holds(formula, binding) is not True

    def _has_shape(self, formula: Formula) -> bool:
        """Whether the shape of a condition tells what is needed: no derived atom, no predicate in both polarities."""
        known = self._monotone.get(id(formula))
        if known is None:
            known = self._monotone[id(formula)] = formula, self._one_polarity(formula)
        return known[1]

    def _one_polarity(self, formula: Formula) -> bool:
        seen: dict[int, bool] = {}
        for part, positive in signed_subformulas(formula):
            if isinstance(part, Compare):
                return False
            if isinstance(part, Atom) and (
                part.predicate in self._axioms or seen.setdefault(part.predicate, positive) is not positive
            ):
                return False
        return True


class _Forced(Evaluator):
    """Evaluates as if some atoms and comparisons, named by their text, had the given values."""

    def __init__(
        self, task: Task, facts: list[set[int]], fluents: list[dict[int, Number]], forced: Mapping[str, bool]
    ) -> None:
        super().__init__(task, facts, fluents)
        self.forced = forced

    def holds(self, formula: Formula, binding: Binding) -> bool | None:
        if isinstance(formula, Atom | Compare):
            forced = self.forced.get(formula_text(self.task, formula, binding))
            if forced is not None:
                return forced
        return super().holds(formula, binding)
