"""Encode a totally ordered plan as circuits: where it is executable, reaches the goal and violates rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.happening import Event
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.execution.timed import list_happenings, list_literals
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import And
from plansafe.verifier.model.operations import is_temporal, mentions
from plansafe.verifier.rules.model import find_action_predicate
from plansafe.verifier.symbolic.circuits.circuit import FALSE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.terms import compare
from plansafe.verifier.symbolic.worlds.encoding import Encoding, InstanceLiteral
from plansafe.verifier.symbolic.worlds.formula_compiler import DerivedFacts, FormulaCompiler, TooManyRounds
from plansafe.verifier.symbolic.worlds.initial_state import (
    FactGroup,
    encode_invariants,
    find_numbers_with_finite_values,
    make_initial_state,
)
from plansafe.verifier.symbolic.worlds.state_rules import (
    ChangeDispatch,
    FactChange,
    InstanceCollector,
    StateRule,
    StepRule,
    compile_step_matcher,
)
from plansafe.verifier.symbolic.worlds.step_encoder import StepEncoder
from plansafe.verifier.symbolic.worlds.symbolic_state import StateChanges, SymbolicState
from plansafe.verifier.symbolic.worlds.temporal_rules import ActionFact, TemporalRule
from plansafe.verifier.symbolic.worlds.trace import (
    SymbolicTrace,
    TraceEncoder,
    encode_trace_ends,
    list_untimed_happenings,
)
from plansafe.verifier.symbolic.worlds.world_replay import list_oneof_statements


def encode_plan(
    compiled: CompiledTask,
    resolved: ResolvedPlan,
    groups: Sequence[FactGroup] = (),
    deadline: float | None = None,
) -> Encoding:
    """Encode a totally ordered plan without open durations. Raises :class:`LimitReached`.

    ``groups`` restrict S0. The cost is that of a replay that processes all changes of all worlds.
    """
    engine, steps, timed = compiled.engine, resolved.steps, resolved.timed
    task = engine.task
    circuit = Circuit()
    compiler = FormulaCompiler(task, circuit)
    start = make_initial_state(task, circuit, compiled.openings)
    derived = DerivedFacts(compiler) if task.axioms else None
    encoder = StepEncoder(compiler)
    limits: list[str] = []
    instance_collector = InstanceCollector(circuit, compiled.options.criteria.ignores_preexisting)
    executable = goal = FALSE
    failing: dict[int, Literal] = {}
    invariants: list[Literal] = []
    alive: list[Literal] = []
    try:
        if derived is not None:
            derived.update(start.state)
        invariants = encode_invariants(compiler, start.state, compiled.invariants, groups)
        happenings = (
            list_untimed_happenings(steps) if timed is None else list_happenings(timed, list_literals(task, timed))
        )
        trace_encoder = TraceEncoder(engine, encoder, derived, compiled.find_tolerance(resolved), timed is not None)
        trace = trace_encoder.build_trace(start.state, happenings, deadline)
        if trace.limit is not None:
            limits.append(trace.limit)
        alive, failing = trace.alive, trace.failing
        executable = alive[-1] if trace.is_complete else FALSE
        goal = _TraceChecker(compiled, compiler, trace, instance_collector, timed=timed is not None).check()
    except TooManyRounds:
        limits.append("a recursive derived predicate depends on too many unknown facts")
    except NumberTooLarge:
        limits.append("a number grew beyond 65,536 bits")
    violations = _classify_violations(compiled, instance_collector)
    return Encoding(
        circuit=circuit,
        allowed=circuit.conjunction([*start.constraints, *invariants]),
        executable=executable,
        goal=goal,
        violated=violations.violated,
        undecided=violations.undecided,
        violations=violations.deciding,
        has_instances=_has_deciding_instance(compiled, steps),
        open_numbers=start.open_numbers,
        open_fact_count=start.open_fact_count,
        alternative_counts=encoder.alternative_counts,
        oneof_statements=list_oneof_statements(steps),
        limits=tuple(limits),
        skipped_messages=violations.skipped_messages,
        finite_numbers=find_numbers_with_finite_values(task),
        alive=tuple(alive),
        failing=failing,
        nondeciding_violations=violations.nondeciding,
        undecided_instances=tuple(instance_collector.undecided),
        skipped_rules=frozenset(instance_collector.skipped_rules),
    )


class _ClassifiedViolations(NamedTuple):
    """The violations and undecided instances of a trace, as in :class:`Encoding`."""

    deciding: tuple[InstanceLiteral, ...]
    nondeciding: tuple[InstanceLiteral, ...]
    violated: Literal
    undecided: Literal
    skipped_messages: tuple[str, ...]


def _classify_violations(compiled: CompiledTask, instance_collector: InstanceCollector) -> _ClassifiedViolations:
    """Divide the violations by whether they decide the verdict, and join those that do."""
    criteria, rules, circuit = compiled.options.criteria, compiled.rules, instance_collector.circuit
    deciding_parts = frozenset(
        [
            number
            for number, part in enumerate(compiled.engine.rule_set.parts)
            if criteria.includes_rule(rules[part.rule])
        ]
    )
    exempt_violations = _find_exempt_violations(compiled, instance_collector.violations)
    deciding = [v for v in instance_collector.violations if v.part in deciding_parts and v not in exempt_violations]
    violated = circuit.disjunction([v.literal for v in deciding])
    skipped_deciding_rules = [
        rule for rule in dict.fromkeys(instance_collector.skipped_rules) if criteria.includes_rule(rules[rule])
    ]
    undecided = circuit.disjunction([v.literal for v in instance_collector.undecided if v.part in deciding_parts])
    return _ClassifiedViolations(
        tuple(deciding),
        tuple([v for v in instance_collector.violations if v.part not in deciding_parts]),
        violated,
        violated ^ 1 if skipped_deciding_rules else circuit.both(undecided, violated ^ 1),
        tuple([f"rule `{rules[rule].name}` has too many instances" for rule in skipped_deciding_rules]),
    )


def _find_exempt_violations(compiled: CompiledTask, violations: Sequence[InstanceLiteral]) -> set[InstanceLiteral]:
    """The violations that an exemption of the verdict's criteria covers."""
    criteria = compiled.options.criteria
    if not criteria.exemptions:
        return set()
    names = [compiled.rules[part.rule].name for part in compiled.engine.rule_set.parts]
    objects = compiled.task.names
    return {v for v in violations if criteria.find_exemption(names[v.part], objects(v.binding)) is not None}


class _TraceChecker:
    """Replays a trace and checks all rules on it; the violations go to the collector."""

    def __init__(
        self,
        compiled: CompiledTask,
        compiler: FormulaCompiler,
        trace: SymbolicTrace,
        instance_collector: InstanceCollector,
        *,
        timed: bool,
    ) -> None:
        self.compiled, self.compiler, self.trace, self.instance_collector = (
            compiled,
            compiler,
            trace,
            instance_collector,
        )
        self.circuit = compiler.circuit
        self.state = trace.start.copy()
        self.state_rules: list[StateRule] = []
        self.step_rules: dict[int, list[StepRule]] = {}
        self.temporal_rules: list[TemporalRule] = []
        self._create_rules(timed=timed)
        self.action_facts = [self._list_action_facts(events) for events in trace.events]
        self._find_temporal_instances()
        self.dispatch = ChangeDispatch(self.state_rules, compiler)

    def _list_action_facts(self, events: list[Event]) -> list[ActionFact]:
        """The facts about the actions of a happening that rules read."""
        steps = [(event.kind, event.step.resolved) for event in events if event.step is not None]
        find_action_fact = self.compiled.engine.find_action_fact
        facts = [find_action_fact(kind, step) for kind, step in steps if isinstance(step, GroundAction)]
        return list(dict.fromkeys([fact for fact in facts if fact is not None]))

    def _create_rules(self, *, timed: bool) -> None:
        """Create a checker for each part of a rule: for single states, for single steps, or for the whole trace."""
        rule_set, task = self.compiled.engine.rule_set, self.compiled.task
        action_predicates = frozenset(rule_set.action_predicates.values())
        for number, part in enumerate(rule_set.parts):
            if not all([task.domains[v.domain] for v in part.parameters]):
                continue
            if part.step is not None and find_action_predicate(part.step) not in rule_set.momentary:
                if not timed:
                    continue  # about an action under way, which an untimed plan does not have
                part = part.make_invariant_part()
            formulas = [part.body] if part.guard is None else [part.body, part.guard]
            reads_single_state = not any([is_temporal(f) or mentions(f, rule_set.momentary) for f in formulas])
            reads_actions = any([mentions(f, action_predicates) for f in formulas])
            if part.mode == "each" and reads_single_state:
                assert part.step is not None
                predicate = find_action_predicate(part.step)
                self.step_rules.setdefault(predicate, []).append(StepRule(number, part, self.compiler))
            elif part.mode in ("always", "end") and reads_single_state:
                self.state_rules.append(StateRule(number, part, self.compiler, reads_actions=reads_actions))
            else:
                limit = self.compiled.options.max_instances
                try:
                    times = self.trace.times
                    rule = TemporalRule(number, part, self.compiler, limit, times, reads_actions=reads_actions)
                    self.temporal_rules.append(rule)
                except LimitReached:
                    self.instance_collector.skipped_rules.append(part.rule)

    def _find_temporal_instances(self) -> None:
        """Find the instances of the temporal rules; skip the rules that have too many."""
        for rule in list(self.temporal_rules):
            try:
                rule.find_instances(self.trace, self.action_facts)
            except LimitReached:
                self.temporal_rules.remove(rule)
                self.instance_collector.skipped_rules.append(rule.part.rule)

    def check(self) -> Literal:
        """Check all rules; return the worlds in which the goal is reached."""
        trace, state, circuit, instance_collector = self.trace, self.state, self.circuit, self.instance_collector
        goal = self.compiler.compile_truth(And(self.compiled.engine.task.goal))
        is_last = encode_trace_ends(circuit, trace.alive)
        self.dispatch.collect_initial_candidates(state)
        goals = []
        step_rules: list[StepRule] = []
        for letter, alive in enumerate(trace.alive):
            changes = self._advance(letter) if letter else []
            self._check_state_rules(letter, changes, is_last[letter])
            for step_rule in step_rules:
                step_rule.check_state_after(state, letter, alive, instance_collector)
            step_rules = []
            if is_last[letter] != FALSE:
                goals.append(circuit.both(is_last[letter], goal(state, {})))
            for predicate, code in self.action_facts[letter] if letter < len(self.action_facts) else ():
                for step_rule in self.step_rules.get(predicate, ()):
                    step_rule.check_state_before(state, code, letter + 1, trace.alive[letter + 1], instance_collector)
                    step_rules.append(step_rule)
            if self.temporal_rules:
                self._read_temporal_rules(letter, changes)
        end_letters = [i for i in range(1, len(trace.alive)) if trace.alive[i] != trace.alive[i - 1]]
        for temporal_rule in self.temporal_rules:
            temporal_rule.check(circuit, trace.alive, end_letters, instance_collector)
        return circuit.disjunction(goals)

    def _advance(self, letter: int) -> list[FactChange]:
        """Change the state to the state of a letter; return the changes if temporal rules or blame need them."""
        changes = self.trace.changes[letter]
        index_changes = self.dispatch.list_index_changes(self.state, changes)
        fact_changes: list[FactChange] = []
        if self.temporal_rules or self.instance_collector.ignores_preexisting:
            circuit = self.circuit if self.instance_collector.ignores_preexisting else None
            fact_changes = _list_fact_changes(self.state, changes, circuit)
        changes.apply_to(self.state)
        self.dispatch.collect_candidates(self.state, changes, index_changes)
        return fact_changes

    def _check_state_rules(self, letter: int, changes: list[FactChange], is_last: Literal) -> None:
        """Check the state rules at a letter, which is the last one in the worlds of ``is_last``."""
        if self.instance_collector.ignores_preexisting:
            for rule in self.state_rules:
                if letter:
                    rule.update_pre_existing_violations(self.state, self.circuit, changes)
                else:
                    rule.store_initial_violations(self.state)
        for rule in self.state_rules:
            if rule.candidates or rule.is_final:
                rule.check(self.state, letter, self.trace.alive[letter], is_last, self.instance_collector)

    def _read_temporal_rules(self, letter: int, changes: list[FactChange]) -> None:
        """Set the action facts of the happening after this letter, and let the temporal rules read the letter."""
        for fact in self.action_facts[letter - 1] if letter else ():
            changes.append((*fact, FALSE))
            self.state.put(*fact, FALSE)
        for fact in self.action_facts[letter] if letter < len(self.action_facts) else ():
            changes.append((*fact, FALSE))
            self.state.put(*fact, self.trace.alive[letter + 1])
        for rule in self.temporal_rules:
            if letter:
                rule.read_letter(self.state, letter, changes)
            else:
                rule.read_initial_letter(self.state)


def _list_fact_changes(state: SymbolicState, changes: StateChanges, circuit: Circuit | None) -> list[FactChange]:
    """List the changes of a letter; ``state`` is the state before it.

    Without a circuit, the worlds in which a fact changes are not computed: they are FALSE.
    """
    fact_changes: list[FactChange] = []
    for predicate, code, literal in changes.facts:
        differs = FALSE if circuit is None else circuit.equal(state.get(predicate, code), literal) ^ 1
        fact_changes.append((predicate, code, differs))
    for function, code, new in changes.quantities:
        differs = FALSE
        if circuit is not None:
            old = state.get_quantity(function, code)
            is_unchanged = circuit.both(
                circuit.both(old.defined, new.defined), compare(circuit, "=", old.value, new.value)
            )
            differs = circuit.both(circuit.either(old.defined, new.defined), is_unchanged ^ 1)
        fact_changes.append((2 * state.size + function, code, differs))
    return fact_changes


def _has_deciding_instance(compiled: CompiledTask, steps: Sequence[GroundAction | IllFormed]) -> bool:
    """Whether a deciding rule has an instance if all steps are executed (docs/language.md, "Instances")."""
    task = compiled.task
    names = {predicate: action for (_, action), predicate in compiled.engine.rule_set.action_predicates.items()}
    for rule in compiled.rules:
        if not compiled.options.criteria.can_be_decisive(rule) or not rule.applicable:
            continue
        if not rule.step_patterns and all([task.domains[v.domain] for v in rule.declared_parameters]):
            return True
        for pattern in rule.step_patterns:
            match = compile_step_matcher(task, pattern.atom, rule.declared_parameters)
            name = names.get(pattern.atom.predicate)
            same_action_steps = [step for step in steps if isinstance(step, GroundAction) and step.action.name == name]
            has_match = any([match(task.encode(step.objects)) is not None for step in same_action_steps])
            if pattern.bindings_per_match and has_match:
                return True
    return False
