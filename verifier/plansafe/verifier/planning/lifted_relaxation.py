"""The actions and axioms of a task as searches for what is reachable if nothing is deleted, and the rules by action."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.verifier.compile.triggers import Extension, compile_extension
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.monitor_summary import StateMonitor
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.nodes import (
    FALSE,
    TRUE,
    Action,
    And,
    Atom,
    Compare,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    Variable,
    bind,
)
from plansafe.verifier.model.operations import push_negation
from plansafe.verifier.rules.model import RulePart, step_predicate
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria


class StepRulePart(NamedTuple):
    """A part of a rule about a step, with what watches it: an automaton (its number among the monitors) or a check."""

    part: RulePart
    number: int
    check: StepCheck | None


class OperatorSchema(NamedTuple):
    """A part of an action (its unconditional effects, or one conditional effect), or an axiom, before grounding."""

    action: Action | None
    parameters: tuple[Variable, ...]
    condition: tuple[Formula, ...]
    adds: tuple[Atom, ...]
    deletes: tuple[Atom, ...]
    search: Extension


class LiftedRelaxation:
    """The schemas of an engine's task, compiled once for any number of searches. ``rules``: with the step rules.

    ``criteria``: which rules can decide; the others demand nothing.
    """

    def __init__(self, engine: Engine, rules: bool, criteria: VerdictCriteria = EVERY_VIOLATION) -> None:
        self.engine = engine
        self.criteria = criteria
        self._asked: set[tuple[int, tuple[int, ...]]] = set()
        self.schemas: list[OperatorSchema] = []
        for action in engine.task.actions.values():
            if action.end is None:
                self._action(action)
        for stratum in engine.task.axioms:
            for axiom in stratum:
                self._schema(None, axiom.parameters, (axiom.body,), (_head(axiom.predicate, axiom.parameters),), ())
        self.monitors: list[StateMonitor] = []
        self.demands: dict[str, list[StepRulePart]] = {}
        self.invariants: dict[tuple[int, bool], list[Invariant]] = {}
        if rules and engine.prototype is not None:
            self._rules(engine.prototype)

    def _rules(self, prototype: Runtime) -> None:
        """Sort the rules by the actions that they are about, and by the changes that may break them."""
        plan, action_predicates = self.engine.rule_set, self.engine.action_predicates
        hard = frozenset([n for n, part in enumerate(plan.parts) if self.criteria.can_decide(plan.rules[part.rule])])
        names = {predicate: name for (kind, name), predicate in action_predicates.items() if kind == "start"}
        self.monitors = prototype.monitors
        checks = {check.part: check for checks in prototype.checks.values() for check in checks}
        automata = {
            m.part: n for n, m in enumerate(prototype.monitors) if isinstance(m, Automaton) and m.mode == "each"
        }
        for number in sorted(hard):
            part = plan.parts[number]
            watched = number in checks or number in automata
            if part.mode == "each" and part.step is not None and step_predicate(part.step) in names and watched:
                demand = StepRulePart(part, automata.get(number, -1), checks.get(number))
                self.demands.setdefault(names[step_predicate(part.step)], []).append(demand)
        for monitor in prototype.monitors:
            if isinstance(monitor, Invariant) and not monitor.final and monitor.part in hard:
                for predicate, added, _ in monitor.triggers():
                    for value in (True, False) if added is None else (added,):
                        watching = self.invariants.setdefault((predicate, value), [])
                        if monitor not in watching:
                            watching.append(monitor)

    def _action(self, action: Action) -> None:
        plain = [e for e in action.start.effects if e.condition is TRUE and not e.variables]
        adds = tuple([atom for e in plain for atom in e.adds])
        deletes = tuple([atom for e in plain for atom in e.deletes])
        self._schema(action, action.parameters, action.start.condition, adds, deletes)
        for e in action.start.effects:
            if (e.condition is not TRUE or e.variables) and (e.adds or e.deletes):
                condition = (*action.start.condition, e.condition)
                self._schema(action, (*action.parameters, *e.variables), condition, e.adds, e.deletes)

    def _schema(
        self,
        action: Action | None,
        parameters: tuple[Variable, ...],
        condition: tuple[Formula, ...],
        adds: tuple[Atom, ...],
        deletes: tuple[Atom, ...],
    ) -> None:
        self.engine.emitter.requested_indexes = self._asked
        wanted = self._positive(And(condition), True)
        search = compile_extension(self.engine.emitter, wanted, True, parameters)
        self.schemas.append(OperatorSchema(action, parameters, condition, adds, deletes, search))

    def _positive(self, formula: Formula, positive: bool) -> Formula:
        """What a condition demands of facts that only ever become true."""
        match formula:
            case Atom():
                if positive:
                    return formula
                return Not(formula) if is_static(self.engine, formula.predicate) else TRUE
            case And() | Or():
                parts = [self._positive(part, positive) for part in formula.parts]
                both = isinstance(formula, And) == positive
                parts = [p for p in parts if not (isinstance(p, Truth) and p.value == both)]
                if any([isinstance(p, Truth) for p in parts]):
                    return FALSE if both else TRUE
                return And(tuple(parts)) if both else Or(tuple(parts))
            case Quantified():
                body = self._positive(formula.body, positive)
                if isinstance(body, Truth) and body.value:
                    return TRUE
                return Quantified(formula.universal == positive, formula.variables, body)
            case Compare() | Temporal():
                return TRUE
            case _:
                return push_negation(formula, positive, self._positive)

    def reachable_bindings(self, state: State) -> Iterator[tuple[OperatorSchema, tuple[int, ...]]]:
        """The bindings of each schema that are reachable from a state if nothing is deleted, each once."""
        facts = [set(f) for f in state.facts]
        task = self.engine.task
        self.engine.emitter.requested_indexes = self._asked
        indexes = FactIndexes(self.engine.emitter, self._asked)
        indexes.build(facts)
        seen: list[set[tuple[int, ...]]] = [set() for _ in self.schemas]
        grown = True
        while grown:
            grown = False
            for number, schema in enumerate(self.schemas):
                found: list[tuple[int, ...]] = []
                schema.search.find_all(facts, state.fluents, indexes.tables, 0, found)
                for objects in found:
                    if objects in seen[number]:
                        continue
                    seen[number].add(objects)
                    yield schema, objects
                    binding = bind(schema.parameters, objects)
                    for atom in schema.adds:
                        code = task.code_of(atom.arguments, binding)
                        if code not in facts[atom.predicate]:
                            facts[atom.predicate].add(code)
                            indexes.update([(atom.predicate, code, True)])
                            grown = True


def is_static(engine: Engine, predicate: int) -> bool:
    """Whether no action changes a predicate."""
    return predicate < len(engine.task.static) and engine.task.static[predicate]


def _head(predicate: int, parameters: tuple[Variable, ...]) -> Atom:
    return Atom(predicate, tuple([-1 - v.slot for v in parameters]))
