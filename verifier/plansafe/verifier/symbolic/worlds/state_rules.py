"""Rules about single states, and about single steps, in all worlds at once.

As in the explicit engine, work is done where something changes: a fact whose literal changed is matched against the
rule, and only the bindings under which the rule may be broken are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plansafe.verifier.compile.triggers import compile_extension, compile_patterns
from plansafe.verifier.execution.monitors.index import FactIndexes, InstanceIndex
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import TRUE as HOLDS
from plansafe.verifier.model.nodes import And, Atom, Formula, Not, Quantified, Task, Variable, bind
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.symbolic.circuits.circuit import FALSE, Circuit, Literal
from plansafe.verifier.symbolic.worlds.encoding import InstanceLiteral
from plansafe.verifier.symbolic.worlds.formula_compiler import Binding, FormulaCompiler
from plansafe.verifier.symbolic.worlds.symbolic_state import SymbolicState
from plansafe.verifier.symbolic.worlds.trace import Letter

Objects = tuple[int, ...]
ChangedFact = tuple[int, int, Literal]
"""A fact (or, numbered after two times the predicates, a fluent), and the worlds in which it changes."""


class InstanceCollector:
    """Collects under which worlds instances are violated, and undecided.

    With ``introduced`` violations that are pre-existing do not count (docs/language.md, "Blame").
    """

    def __init__(self, circuit: Circuit, introduced: bool = False) -> None:
        self.circuit = circuit
        self.introduced = introduced
        self.violations: list[InstanceLiteral] = []
        self.undecided: list[InstanceLiteral] = []

    def note(self, part: int, binding: Objects, letter: int, there: Literal, true: Literal, false: Literal) -> None:
        """An instance's value at a letter that exists in the worlds ``there``."""
        violated = self.circuit.both(there, false)
        if violated != FALSE:
            self.violations.append(InstanceLiteral(part, binding, letter, violated))
        if true != false ^ 1:
            literal = self.circuit.conjunction([there, true ^ 1, false ^ 1])
            if literal != FALSE:
                self.undecided.append(InstanceLiteral(part, binding, letter, literal))


class StateRule:
    """A part that every state, or with ``final`` the last one, must satisfy."""

    def __init__(self, number: int, part: RulePart, evaluation: FormulaCompiler) -> None:
        self.number = number
        self.final = part.mode == "end"
        possible_certain = evaluation.possible_certain
        self.slots = [v.slot for v in part.parameters]
        self.search = compile_extension(
            possible_certain.emitter,
            possible_certain.possible_condition(part.body, False, compared=True),
            True,
            part.parameters,
        )
        self.false = evaluation.compile_false(part.body)
        self.true = evaluation.compile_true(part.body) if evaluation.reads_numbers(part.body) else None
        self.candidates: list[Objects] = []
        self._known: dict[Objects, tuple[Literal, Literal]] = {}
        self._ever: dict[Objects, None] = {}
        self._before: dict[Objects, Literal] = {}
        """Instances that S0 may violate: the worlds in which they still are, and nothing that they read has changed."""
        self.readers = InstanceIndex(compile_patterns(possible_certain.emitter, part.body, part.parameters))

    def blame(self, state: SymbolicState, circuit: Circuit, changed: Sequence[ChangedFact]) -> None:
        """Before a letter is judged: which violations are pre-existing so far. Those that are not are judged again."""
        touched: set[Objects] = set()
        for predicate, code, differs in changed:
            readers: set[Objects] = set()
            self.readers.add_readers(predicate, code, readers)
            for objects in readers:
                self._before[objects] = circuit.both(self._before[objects], differs ^ 1)
            touched |= readers
        for objects in touched:
            self._before[objects] = circuit.both(self._before[objects], self._values(state, objects)[1])
        self.candidates += sorted(touched)

    def begin(self, state: SymbolicState) -> None:
        """At letter 0: what is violated there."""
        for objects in dict.fromkeys(self.candidates):
            false = self._values(state, objects)[1]
            if false != FALSE:
                self._before[objects] = false
                self.readers.add(objects)

    def judge(self, state: SymbolicState, letter: int, there: Literal, end: Literal, found: InstanceCollector) -> None:
        """Judge what the last changes may have altered."""
        if self.final:
            self._ever.update(dict.fromkeys(self.candidates))
            self.candidates.clear()
            if end != FALSE:
                for objects in self._ever:
                    found.note(self.number, objects, letter, end, *self._caused(state, objects, found))
            return
        for objects in dict.fromkeys(self.candidates):
            values = self._caused(state, objects, found)
            # An earlier letter is there wherever this one is: the same literal says nothing new.
            if self._known.get(objects) != values:
                self._known[objects] = values
                found.note(self.number, objects, letter, there, *values)
        self.candidates.clear()

    def _caused(self, state: SymbolicState, objects: Objects, found: InstanceCollector) -> tuple[Literal, Literal]:
        """The value of an instance, true also where its violation is pre-existing and does not count."""
        true, false = self._values(state, objects)
        before = self._before.get(objects, FALSE)
        if not found.introduced or before == FALSE:
            return true, false
        return found.circuit.either(true, before), found.circuit.both(false, before ^ 1)

    def _values(self, state: SymbolicState, objects: Objects) -> tuple[Literal, Literal]:
        binding: Binding = dict(zip(self.slots, objects, strict=True))
        false = self.false(state, binding)
        return (false ^ 1 if self.true is None else self.true(state, binding)), false


class StepRule:
    """A part about one kind of step, with conditions on the state before it, or with ``after`` also the one after."""

    def __init__(self, number: int, part: RulePart, evaluation: FormulaCompiler, task: Task, action: str) -> None:
        self.number = number
        self.action = action
        self.after = part.after
        atom = part.step.body if isinstance(part.step, Quantified) else part.step
        assert isinstance(atom, Atom)
        self.match = compile_step_matcher(task, atom, part.parameters)
        guard: Formula = part.guard if part.guard is not None else HOLDS
        body = part.body
        bound = {-1 - a for a in atom.arguments if a < 0}
        self.slots = [v.slot for v in part.parameters]
        self.open = [v for v in part.parameters if v.slot not in bound]
        possible_certain = evaluation.possible_certain
        wanted = guard if part.after else And((guard, Not(body)))
        possible = possible_certain.possible_condition(wanted)
        self.given = sorted(possible_certain.emitter.free_slots(possible) & bound)
        self.search = possible_certain.compile_search(possible, self.open, self.given)
        self.guard_true, self.guard_false = evaluation.compile_true(guard), evaluation.compile_false(guard)
        self.body_true, self.body_false = evaluation.compile_true(body), evaluation.compile_false(body)
        self._due: list[tuple[Binding, Literal, Literal]] = []

    def depart(
        self, state: SymbolicState, taken: GroundAction, letter: int, there: Literal, found: InstanceCollector
    ) -> None:
        """The step is taken in a state."""
        binding = self.match(taken.objects)
        if binding is None:
            return
        candidates: list[Objects] = []
        self.search(state.facts, (), candidates, *[binding[slot] for slot in self.given])
        for objects in dict.fromkeys(candidates):
            inner = {**binding, **bind(self.open, objects)}
            guard = self.guard_true(state, inner), self.guard_false(state, inner)
            if self.after:
                self._due.append((inner, *guard))
            else:
                self._note(state, inner, *guard, letter, there, found)

    def arrive(self, state: SymbolicState, letter: int, there: Literal, found: InstanceCollector) -> None:
        """The state after the step is known."""
        for binding, guard_true, guard_false in self._due:
            self._note(state, binding, guard_true, guard_false, letter, there, found)
        self._due.clear()

    def _note(
        self,
        state: SymbolicState,
        binding: Binding,
        guard_true: Literal,
        guard_false: Literal,
        letter: int,
        there: Literal,
        found: InstanceCollector,
    ) -> None:
        circuit = found.circuit
        true = circuit.either(guard_false, self.body_true(state, binding))
        false = circuit.both(guard_true, self.body_false(state, binding))
        found.note(self.number, tuple([binding[slot] for slot in self.slots]), letter, there, true, false)


def compile_step_matcher(task: Task, atom: Atom, parameters: Sequence[Variable]) -> Callable[[Objects], Binding | None]:
    """The binding of a rule's parameters under which its step pattern is a step with some objects; ``None`` if none."""
    domains = {v.slot: task.domain_sets[v.domain] for v in parameters}

    def match(objects: Objects) -> Binding | None:
        binding: Binding = {}
        for argument, value in zip(atom.arguments, objects, strict=True):
            if argument >= 0:
                if argument != value:
                    return None
                continue
            slot = -1 - argument
            if slot not in domains:
                continue  # any object
            if value not in domains[slot] or binding.setdefault(slot, value) != value:
                return None
        return binding

    return match


class ChangeDispatch:
    """Sends the changes of a letter to the state rules that they may concern."""

    def __init__(self, rules: list[StateRule], evaluation: FormulaCompiler) -> None:
        emitter = evaluation.possible_certain.emitter
        self.size = evaluation.possible_certain.size
        self.rules = rules
        self.indexes = FactIndexes(emitter, emitter.requested_indexes)
        self._find: dict[int, list[tuple[list[Objects], Callable[..., None]]]] = {}
        for rule in rules:
            for trigger in rule.search.triggers:
                self._find.setdefault(trigger.predicate, []).append((rule.candidates, trigger.find))

    def start(self, state: SymbolicState) -> None:
        """Find what S0 may break."""
        self.indexes.build(state.facts)
        for rule in self.rules:
            rule.search.all(state.facts, (), self.indexes.tables, 0, rule.candidates)

    def prepare(self, state: SymbolicState, changes: Letter) -> list[tuple[int, int, bool]]:
        """Before a letter's changes are made: what they will change of the possible and the certain facts."""
        log = []
        for predicate, code, literal in changes.facts:
            for index, value in ((predicate, literal != FALSE), (predicate + self.size, literal == 1)):
                if (code in state.facts[index]) != value:
                    log.append((index, code, value))
        return log

    def arrive(self, state: SymbolicState, changes: Letter, log: list[tuple[int, int, bool]]) -> None:
        """After they were made: find the bindings that they may concern."""
        self.indexes.update(log)
        facts, tables, size = state.facts, self.indexes.tables, self.size
        for predicate, code, _ in changes.facts:
            for index in (predicate, predicate + size):
                for out, find in self._find.get(index, ()):
                    find(facts, (), tables, code, out)
        for function, code, _ in changes.quantities:
            for out, find in self._find.get(2 * size + function, ()):
                find(facts, (), tables, code, out)
