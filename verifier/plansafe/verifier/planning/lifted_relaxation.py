"""The actions and axioms of a task, compiled into searches for their reachable bindings, and the rules by action."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.verifier.compile.triggers import Extension, compile_extension, list_changes
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
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
    variable,
)
from plansafe.verifier.model.operations import push_negation
from plansafe.verifier.rules.model import RulePart, find_action_predicate
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria


class StepRulePart(NamedTuple):
    """A part of a rule about a step, with what checks it.

    ``automaton_number``: the number of its automaton among the monitors; ``None`` if it has none. ``check``: its check;
    ``None`` if an automaton monitors it.
    """

    part: RulePart
    automaton_number: int | None
    check: StepCheck | None


class OperatorSchema(NamedTuple):
    """The unconditional effects of an action, one conditional effect, or an axiom, before grounding."""

    action: Action | None
    parameters: tuple[Variable, ...]
    condition: tuple[Formula, ...]
    adds: tuple[Atom, ...]
    deletes: tuple[Atom, ...]
    search: Extension


class LiftedRelaxation:
    """The operator schemas of a task, and with ``rules`` the rules that can decide by the ``criteria``."""

    def __init__(self, engine: Engine, rules: bool, criteria: VerdictCriteria = EVERY_VIOLATION) -> None:
        self.engine = engine
        self._requested_indexes: set[tuple[int, tuple[int, ...]]] = set()
        self.schemas: list[OperatorSchema] = []
        for action in engine.task.actions.values():
            if action.end is None:
                self._add_action(action)
        for stratum in engine.task.axioms:
            for axiom in stratum:
                head = Atom(axiom.predicate, tuple([variable(v.slot) for v in axiom.parameters]))
                self._add_schema(None, axiom.parameters, (axiom.body,), (head,), ())
        self.monitors: list[StateMonitor] = []
        self.step_rules: dict[str, list[StepRulePart]] = {}
        self.invariants: dict[tuple[int, bool], list[InvariantMonitor]] = {}
        if rules and engine.prototype is not None:
            rules_of_parts = [engine.rule_set.rules[part.rule] for part in engine.rule_set.parts]
            deciding_parts = {n for n, rule in enumerate(rules_of_parts) if criteria.can_be_decisive(rule)}
            self.monitors = engine.prototype.monitors
            self._index_step_rules(engine.prototype, deciding_parts)
            self._index_invariants(deciding_parts)

    def _index_step_rules(self, prototype: Runtime, deciding_parts: set[int]) -> None:
        """Index the rules about steps by the names of their actions."""
        rules = self.engine.rule_set
        predicates = self.engine.action_predicates
        names = {predicate: name for (kind, name), predicate in predicates.items() if kind == "start"}
        checks = {check.part: check for checks in prototype.checks.values() for check in checks}
        automaton_numbers = {
            monitor.part: number
            for number, monitor in enumerate(prototype.monitors)
            if isinstance(monitor, Automaton) and monitor.mode == "each"
        }
        for number in sorted(deciding_parts):
            part = rules.parts[number]
            if part.mode != "each" or part.step is None or not (number in checks or number in automaton_numbers):
                continue
            name = names.get(find_action_predicate(part.step))
            if name is not None:
                step_rule = StepRulePart(part, automaton_numbers.get(number), checks.get(number))
                self.step_rules.setdefault(name, []).append(step_rule)

    def _index_invariants(self, deciding_parts: set[int]) -> None:
        """Index the invariants by the changes of facts (predicate and value) that may break them."""
        for monitor in self.monitors:
            if isinstance(monitor, InvariantMonitor) and not monitor.final and monitor.part in deciding_parts:
                for predicate, added in list_changes(self.engine.emitter, monitor.list_triggers()):
                    for value in (True, False) if added is None else (added,):
                        invariants = self.invariants.setdefault((predicate, value), [])
                        if monitor not in invariants:
                            invariants.append(monitor)

    def _add_action(self, action: Action) -> None:
        """Add a schema for the unconditional effects of an action, and one for each conditional effect."""
        effects = action.start.effects
        unconditional_effects = [effect for effect in effects if effect.condition is TRUE and not effect.variables]
        adds = tuple([atom for effect in unconditional_effects for atom in effect.adds])
        deletes = tuple([atom for effect in unconditional_effects for atom in effect.deletes])
        self._add_schema(action, action.parameters, action.start.condition, adds, deletes)
        for effect in effects:
            if (effect.condition is not TRUE or effect.variables) and (effect.adds or effect.deletes):
                condition = (*action.start.condition, effect.condition)
                variables = (*action.parameters, *effect.variables)
                self._add_schema(action, variables, condition, effect.adds, effect.deletes)

    def _add_schema(
        self,
        action: Action | None,
        parameters: tuple[Variable, ...],
        condition: tuple[Formula, ...],
        adds: tuple[Atom, ...],
        deletes: tuple[Atom, ...],
    ) -> None:
        self.engine.emitter.requested_indexes = self._requested_indexes
        necessary = self._make_necessary_condition(And(condition), True)
        search = compile_extension(self.engine.emitter, necessary, True, parameters)
        self.schemas.append(OperatorSchema(action, parameters, condition, adds, deletes, search))

    def _make_necessary_condition(self, formula: Formula, positive: bool) -> Formula:
        """Return the necessary condition for a formula (or its negation) if facts only ever become true."""
        match formula:
            case Atom():
                if positive:
                    return formula
                return Not(formula) if is_static(self.engine, formula.predicate) else TRUE
            case And() | Or():
                parts = [self._make_necessary_condition(part, positive) for part in formula.parts]
                is_conjunction = isinstance(formula, And) == positive
                parts = [part for part in parts if not (isinstance(part, Truth) and part.value == is_conjunction)]
                if any([isinstance(part, Truth) for part in parts]):
                    return FALSE if is_conjunction else TRUE
                return And(tuple(parts)) if is_conjunction else Or(tuple(parts))
            case Quantified():
                body = self._make_necessary_condition(formula.body, positive)
                if isinstance(body, Truth) and body.value:
                    return TRUE
                return Quantified(formula.universal == positive, formula.variables, body)
            case Compare() | Temporal():
                return TRUE
            case _:
                return push_negation(formula, positive, self._make_necessary_condition)

    def find_reachable_bindings(self, state: State) -> Iterator[tuple[OperatorSchema, tuple[int, ...]]]:
        """Find the bindings of each schema that are reachable from a state if nothing is deleted, each once."""
        facts = [set(codes) for codes in state.facts]
        task = self.engine.task
        self.engine.emitter.requested_indexes = self._requested_indexes
        indexes = FactIndexes(self.engine.emitter, self._requested_indexes)
        indexes.build(facts)
        yielded_bindings: list[set[tuple[int, ...]]] = [set() for _ in self.schemas]
        has_changed = True
        while has_changed:
            has_changed = False
            for number, schema in enumerate(self.schemas):
                bindings: list[tuple[int, ...]] = []
                schema.search.find_all(facts, state.fluents, indexes, 0, bindings)
                for objects in bindings:
                    if objects in yielded_bindings[number]:
                        continue
                    yielded_bindings[number].add(objects)
                    yield schema, objects
                    binding = bind(schema.parameters, objects)
                    for atom in schema.adds:
                        code = task.code_of(atom.arguments, binding)
                        if code not in facts[atom.predicate]:
                            facts[atom.predicate].add(code)
                            indexes.follow([(atom.predicate, code, True)])
                            has_changed = True


def is_static(engine: Engine, predicate: int) -> bool:
    """Whether no action changes a predicate."""
    return predicate < len(engine.task.static) and engine.task.static[predicate]
