"""A plan as circuits: in which worlds it can be executed, reaches its goal, and keeps its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import And
from plansafe.verifier.model.operations import is_temporal, mentions
from plansafe.verifier.rules.model import step_predicate
from plansafe.verifier.symbolic.circuits.circuit import FALSE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.terms import compare
from plansafe.verifier.symbolic.worlds.encoding import Encoding
from plansafe.verifier.symbolic.worlds.formula_compiler import DerivedFacts, FormulaCompiler, TooManyRounds
from plansafe.verifier.symbolic.worlds.initial_state import (
    FactGroup,
    encode_invariants,
    find_finite_numbers,
    make_initial_state,
)
from plansafe.verifier.symbolic.worlds.state_rules import (
    ChangedFact,
    ChangeDispatch,
    InstanceCollector,
    StateRule,
    StepRule,
    compile_step_matcher,
)
from plansafe.verifier.symbolic.worlds.symbolic_state import PossibleCertain, SymbolicState
from plansafe.verifier.symbolic.worlds.temporal_rules import TemporalRule
from plansafe.verifier.symbolic.worlds.trace import (
    Letter,
    StepEncoder,
    SymbolicTrace,
    TraceReplay,
    build_trace,
    end_literals,
)
from plansafe.verifier.symbolic.worlds.world_replay import list_oneof_statements


class _Watch(NamedTuple):
    """The rules of a plan, by how they are judged."""

    states: list[StateRule]
    steps: list[StepRule]
    temporal: list[TemporalRule]


def encode_plan(
    compiled: CompiledTask,
    steps: Sequence[GroundAction | IllFormed],
    groups: Sequence[FactGroup] = (),
    deadline: float | None = None,
) -> Encoding:
    """Evaluate an untimed, totally ordered plan in all worlds at once.

    ``groups`` restrict S0. Raises :class:`LimitReached`. Cost: that of a replay, times what changes in some world
    rather than in one.
    """
    engine = compiled.engine
    task = engine.task
    circuit = Circuit()
    evaluation = FormulaCompiler(task, circuit, PossibleCertain(task))
    start = make_initial_state(task, circuit, compiled.openings)
    derived = DerivedFacts(task, evaluation) if task.axioms else None
    stepper = StepEncoder(evaluation)
    limits: list[str] = []
    skipped: list[int] = []
    found = InstanceCollector(circuit, compiled.options.criteria.only_introduced)
    executable = goal = FALSE
    restricted: list[Literal] = []
    alive: list[Literal] = []
    try:
        if derived is not None:
            derived.update(start.state)
        restricted = encode_invariants(task, evaluation, start.state, compiled.invariants, groups)
        trace = build_trace(start.state, derived, stepper, steps, deadline)
        if trace.limit is not None:
            limits.append(trace.limit)
        alive = trace.alive
        executable = alive[-1] if len(trace.taken) == len(steps) else FALSE
        goal = _judge(compiled, evaluation, trace, found, skipped)
    except TooManyRounds:
        limits.append("a derived predicate goes round in circles through too many open facts")
    except NumberTooLarge:
        limits.append("a number grew beyond 65,536 bits")
    criteria, rules = compiled.options.criteria, compiled.rules
    idle = frozenset([n for n, part in enumerate(engine.rule_set.parts) if not criteria.includes(rules[part.rule])])
    exempt = set()
    if criteria.exemptions:
        names = [rules[part.rule].name for part in engine.rule_set.parts]
        exempt = {
            v for v in found.violations if criteria.find_exemption(names[v.part], task.names(v.binding)) is not None
        }
    violations = [v for v in found.violations if v.part not in idle and v not in exempt]
    violated = circuit.disjunction([v.literal for v in violations])
    hard = [rule for rule in dict.fromkeys(skipped) if criteria.includes(rules[rule])]
    undecided = circuit.disjunction([v.literal for v in found.undecided if v.part not in idle])
    return Encoding(
        circuit,
        circuit.conjunction([*start.statements, *restricted]),
        executable,
        goal,
        violated,
        violated ^ 1 if hard else circuit.both(undecided, violated ^ 1),
        tuple(violations),
        _checked(compiled, steps),
        start.open_values,
        start.open_facts,
        len(start.open_values),
        stepper.alternative_counts,
        list_oneof_statements(steps),
        tuple(limits),
        tuple([f"rule `{rules[rule].name}` has too many instances" for rule in hard]),
        find_finite_numbers(task),
        tuple(alive),
        tuple([v for v in found.violations if v.part in idle]),
        tuple(found.undecided),
        frozenset(skipped),
    )


def _judge(
    compiled: CompiledTask,
    evaluation: FormulaCompiler,
    trace: SymbolicTrace,
    found: InstanceCollector,
    skipped: list[int],
) -> Literal:
    """Follow the trace with all rules; returns in which worlds the goal is reached."""
    engine = compiled.engine
    circuit = evaluation.circuit
    watch = _watch(compiled, evaluation, skipped)
    action_facts = [engine.action_fact("start", taken) for taken in trace.taken]
    _find_instances(watch, trace, action_facts, skipped)
    holds = evaluation.compile_true(And(engine.task.goal))
    last = end_literals(circuit, trace.alive)
    replay = TraceReplay(trace)
    state = replay.state
    dispatch = ChangeDispatch(watch.states, evaluation)
    dispatch.start(state)
    goals = []
    by_step: dict[str, list[StepRule]] = {}
    for rule in watch.steps:
        by_step.setdefault(rule.action, []).append(rule)
    due: list[StepRule] = []
    momentary: list[tuple[int, int]] = []
    for letter, there in enumerate(trace.alive):
        changed: list[ChangedFact] = []
        if letter:
            changes = trace.letters[letter]
            log = dispatch.prepare(state, changes)
            if watch.temporal or found.introduced:
                changed = _changed(state, changes, circuit if found.introduced else None)
            replay.advance()
            dispatch.arrive(state, changes, log)
        if found.introduced:
            for state_rule in watch.states:
                if letter:
                    state_rule.blame(state, circuit, changed)
                else:
                    state_rule.begin(state)
        for state_rule in watch.states:
            if state_rule.candidates or state_rule.final:
                state_rule.judge(state, letter, there, last[letter], found)
        for step_rule in due:
            step_rule.arrive(state, letter, there, found)
        due = []
        if last[letter] != FALSE:
            goals.append(circuit.both(last[letter], holds(state, {})))
        leaves = letter < len(trace.taken)
        if leaves:
            due = by_step.get(trace.taken[letter].action.name, [])
            for step_rule in due:
                step_rule.depart(state, trace.taken[letter], letter + 1, trace.alive[letter + 1], found)
        if watch.temporal:
            changed += [(*action_fact, FALSE) for action_fact in momentary]
            for action_fact in momentary:
                state.put(*action_fact, FALSE)
            now = action_facts[letter] if leaves else None
            momentary = [] if now is None else [now]
            for action_fact in momentary:
                state.put(*action_fact, trace.alive[letter + 1])
            changed += [(*action_fact, FALSE) for action_fact in momentary]
            for temporal in watch.temporal:
                if letter:
                    temporal.read(state, letter, changed)
                else:
                    temporal.start(state)
    turns = [i for i in range(1, len(trace.alive)) if trace.alive[i] != trace.alive[i - 1]]
    for temporal in watch.temporal:
        temporal.finish(circuit, trace.alive, turns, found)
    return circuit.disjunction(goals)


def _changed(state: SymbolicState, changes: Letter, circuit: Circuit | None) -> list[ChangedFact]:
    """What a letter changes, before it does; in which worlds, if there is a circuit to say so in."""
    out: list[ChangedFact] = []
    for predicate, code, literal in changes.facts:
        differs = FALSE if circuit is None else circuit.equal(state.get(predicate, code), literal) ^ 1
        out.append((predicate, code, differs))
    for function, code, new in changes.quantities:
        differs = FALSE
        if circuit is not None:
            old = state.quantity(function, code)
            same = circuit.both(circuit.both(old.defined, new.defined), compare(circuit, "=", old.value, new.value))
            differs = circuit.both(circuit.either(old.defined, new.defined), same ^ 1)
        out.append((2 * state.size + function, code, differs))
    return out


def _watch(compiled: CompiledTask, evaluation: FormulaCompiler, skipped: list[int]) -> _Watch:
    """Decide how each part of each rule is judged."""
    plan, task = compiled.engine.rule_set, compiled.task
    watch = _Watch([], [], [])
    names = {predicate: action for (kind, action), predicate in plan.action_predicates.items() if kind == "start"}
    for number, part in enumerate(plan.parts):
        if not all([task.domains[v.domain] for v in part.parameters]):
            continue
        formulas = [part.body] if part.guard is None else [part.body, part.guard]
        plain = not any([is_temporal(f) or mentions(f, plan.momentary) for f in formulas])
        if part.step is not None and step_predicate(part.step) not in plan.momentary:
            continue  # about something with a duration, which untimed plans do not have
        if part.mode == "each" and plain:
            assert part.step is not None
            watch.steps.append(StepRule(number, part, evaluation, task, names.get(step_predicate(part.step), "")))
        elif part.mode in ("always", "end") and plain:
            watch.states.append(StateRule(number, part, evaluation))
        else:
            try:
                of_actions = any([mentions(f, frozenset(plan.action_predicates.values())) for f in formulas])
                limit = compiled.options.max_instances
                watch.temporal.append(TemporalRule(number, part, evaluation, limit, of_actions=of_actions))
            except LimitReached:
                skipped.append(part.rule)
    return watch


def _find_instances(
    watch: _Watch, trace: SymbolicTrace, action_facts: list[tuple[int, int] | None], skipped: list[int]
) -> None:
    for temporal in list(watch.temporal):
        try:
            temporal.find_instances(trace, action_facts)
        except LimitReached:
            watch.temporal.remove(temporal)
            skipped.append(temporal.part.rule)


def _checked(compiled: CompiledTask, steps: Sequence[GroundAction | IllFormed]) -> bool:
    """Whether some hard rule has an instance where all steps are taken (docs/language.md, "Instances")."""
    task = compiled.task
    names = {predicate: action for (_, action), predicate in compiled.engine.rule_set.action_predicates.items()}
    for rule in compiled.rules:
        if not compiled.options.criteria.can_decide(rule) or not rule.applicable:
            continue
        if not rule.step_patterns:
            if all([task.domains[v.domain] for v in rule.declared]):
                return True
            continue
        for found in rule.step_patterns:
            match, name = compile_step_matcher(task, found.atom, rule.declared), names.get(found.atom.predicate)
            taken = [s for s in steps if isinstance(s, GroundAction) and s.action.name == name]
            if found.bindings_per_match and any([match(step.objects) is not None for step in taken]):
                return True
    return False
