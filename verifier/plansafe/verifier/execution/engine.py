"""A task and its rules, compiled once; all replays, executions and searches share it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.execution.actions import ActionCode, LiftedCode
from plansafe.verifier.execution.axioms import Axioms
from plansafe.verifier.execution.monitors.finding import MAX_INSTANCES, TooManyInstances, Violation
from plansafe.verifier.execution.monitors.rule_set import ActionFact, RuleSet
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction, Resolver
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.footprints import FootprintFinder
from plansafe.verifier.model.nodes import Atom, Formula, Number, Task
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria

if TYPE_CHECKING:
    from plansafe.verifier.execution.legal_actions import LegalActions
    from plansafe.verifier.execution.monitors.runtime import Runtime


class Limit(NamedTuple):
    """A limit that was reached, so that the verdict is UNKNOWN."""

    code: str
    message: str


TOO_MANY_INSTANCES = Limit(SC.TOO_MANY_INSTANCES, "a rule has more instances than the limit allows")
CompiledChunk = tuple[Callable[..., bool], tuple[int, ...], GroundAction]
"""The code, objects and step of a chunk of plan text; a plain tuple, because a replay unpacks one for each step."""


class Engine:
    """A task and its rules, compiled once for many plans.

    ``action_predicates`` has, by phase (``start``, ``end``, ``during``) and action, the predicate of its action facts.
    ``prototype``: monitors that have read the initial state, ``None`` without rules. ``limit``: the limit that they
    reached, ``None`` if they reached none.
    """

    def __init__(
        self,
        task: Task,
        rules: list[Rule],
        action_predicates: dict[tuple[str, str], int],
        *,
        lenient_types: bool = False,
        max_instances: int = MAX_INSTANCES,
        refusal: Diagnostic | None = None,
    ) -> None:
        self.task = task
        self.rules = rules
        self.action_predicates = action_predicates
        self.is_continuous = task.is_continuous
        self.has_late_literals = any([literal.time > 0 for literal in task.timed_literals])
        self.has_durative_actions = any([action.end is not None for action in task.actions.values()])
        self.resolver = Resolver(task, lenient_types)
        self.emitter = Emitter(task)
        self.footprints = FootprintFinder(task)
        self.axioms = Axioms(task, self.emitter) if task.axioms else None
        self.rule_set = RuleSet(task, rules, action_predicates, max_instances)
        self.refusal = refusal
        """Why one state cannot represent this task (it has several possible worlds); ``None`` if it can."""
        has_rules = self.rule_set.parts or any([rule.step_patterns for rule in rules])
        monitors = self._make_runtime() if has_rules else None
        self._start(monitors)
        watched: frozenset[int] = frozenset() if monitors is None else monitors.watched
        if self.axioms:
            watched |= self.axioms.inputs
        self.code = ActionCode(task, self.emitter, watched)
        self._full_code: ActionCode | None = None
        self.chunk_cache: dict[str, CompiledChunk] = {}
        """By chunk of plan text: equal steps of a batch are resolved once."""
        self.expects_failures = False
        """Whether the last plan of a batch had a failed step; then the next plan keeps changes for explanations."""
        self.timed_code: dict[tuple[int, Number], LiftedCode | None] = {}
        """Code for isolated events of timed plans, by action and tolerance."""
        self._changed_symbols: dict[int, tuple[model.Action, tuple[int, ...]]] = {}
        """By identity of an action, the action (which keeps the identity valid) and the symbols that it changes."""
        self.reads_actions = bool([p for p in action_predicates.values() if p in self.rule_set.momentary])
        """Whether some rule reads an action predicate."""
        self._goal_facts = [(p.predicate, task.encode(p.arguments)) for p in task.goal if isinstance(p, Atom)]
        self._goal_tests = [self._compile_condition(part) for part in task.goal if not isinstance(part, Atom)]

    def _start(self, monitors: Runtime | None) -> None:
        """Make the initial state, let new monitors read it, and keep them as the prototype."""
        self._initial = State.initial(self.task)
        for literal in self.task.timed_literals:
            if literal.time == 0:
                self._apply_literal(literal)
        if self.axioms:
            self.axioms.compute(self._initial.facts, self._initial.fluents)
        self.prototype = monitors
        self.limit: Limit | None = None
        if monitors is not None:
            try:
                monitors.start(self._initial.fork(), LetterTime(0, 0, False))
            except TooManyInstances:
                self.prototype = None
                self.limit = TOO_MANY_INSTANCES

    def with_initial_state(self, task: Task) -> Engine:
        """Return the engine of a task with one world that differs in the initial state alone. It shares all code."""
        monitors = self.new_monitors.fork() if self.prototype is not None or self.limit is not None else None
        engine = copy(self)
        engine.task, engine.refusal = task, None
        engine._start(monitors)  # noqa: SLF001 - of its own class
        return engine

    @cached_property
    def new_monitors(self) -> Runtime:
        """Monitors that have not read the initial state, to be forked."""
        return self._make_runtime()

    def _apply_literal(self, literal: model.TimedLiteral) -> None:
        """Change the initial state by a timed literal of time 0."""
        code = self.task.encode(literal.arguments)
        if literal.fluent:
            self._initial.fluents[literal.predicate][code] = literal.value
        elif literal.value:
            self._initial.facts[literal.predicate].add(code)
        else:
            self._initial.facts[literal.predicate].discard(code)

    @property
    def full_code(self) -> ActionCode:
        """The code of actions that logs every change."""
        if self._full_code is None:
            self._full_code = ActionCode(self.task, self.emitter, None)
        return self._full_code

    @cached_property
    def legal_actions(self) -> LegalActions:
        """The searches for legal actions."""
        from plansafe.verifier.execution.legal_actions import LegalActions  # noqa: PLC0415 - for searches alone

        return LegalActions(self.task, self.emitter, self.full_code)

    @cached_property
    def changeable_symbols(self) -> tuple[int, ...]:
        """The symbols that some action may change: predicates except derived ones, and all functions."""
        static, derived = self.task.static, frozenset() if self.axioms is None else self.axioms.derived
        predicate_count = len(self.task.predicates)
        facts = [p for p in range(predicate_count) if (p >= len(static) or not static[p]) and p not in derived]
        return (*facts, *range(predicate_count, predicate_count + len(self.task.functions)))

    @cached_property
    def changing_actions(self) -> dict[tuple[int, bool], list[str]]:
        """By predicate and value, the actions that can give a fact of the predicate this value."""
        names: dict[tuple[int, bool], dict[str, None]] = {}
        for action in self.task.actions.values():
            for effect in (*action.start.effects, *(action.end.effects if action.end else ())):
                for atoms, value in ((effect.adds, True), (effect.deletes, False)):
                    for atom in atoms:
                        names.setdefault((atom.predicate, value), {})[action.name] = None
        return {key: list(actions) for key, actions in names.items()}

    def find_changed_symbols(self, action: model.Action) -> tuple[int, ...]:
        """The symbols that an instantaneous action may change itself, without the derived facts that follow."""
        cached = self._changed_symbols.get(id(action))
        if cached is None:
            predicate_count = len(self.task.predicates)
            effects = action.start.effects
            symbol_indexes = {atom.predicate for effect in effects for atom in (*effect.adds, *effect.deletes)}
            symbol_indexes |= {predicate_count + a.function for effect in effects for a in effect.assignments}
            cached = self._changed_symbols[id(action)] = action, tuple(symbol_indexes)
        return cached[1]

    def _compile_condition(self, formula: Formula) -> Callable[[State], bool | None]:
        """Compile a test of a ground formula, which returns ``None`` if the value is undefined."""
        holds = self.emitter.compile_condition(formula, [])

        def evaluate(state: State) -> bool | None:
            try:
                return holds(state.facts, state.fluents)
            except (KeyError, ZeroDivisionError):
                return Evaluator(self.task, state.facts, state.fluents).holds(formula, {})

        return evaluate

    def _make_runtime(self) -> Runtime:
        from plansafe.verifier.execution.monitors.runtime import Runtime  # noqa: PLC0415 - for rules alone

        return Runtime(self.rule_set, self.emitter)

    def make_initial_state(self) -> State:
        """Return a new copy of the initial state (S0), with derived facts."""
        return self._initial.fork()

    def make_shared_initial_state(self) -> State:
        """Return the initial state with shared sets: call :meth:`State.unshare` before a change."""
        return self._initial.shared_copy()

    def start_monitors(self, timed: bool, state: State) -> Runtime | None:
        """Return new monitors that have read the initial state ``state``; ``None`` if there is no rule to monitor."""
        if self.prototype is None:
            return None
        if not timed:
            indexes = self.prototype.indexes
            indexes.cover(indexes.requested, self._initial.facts)  # other plans have compiled more code
            return self.prototype.fork()
        runtime = self.new_monitors.fork()
        runtime.start(state, LetterTime(0, 0, True))
        return runtime

    def evaluate_goal(self, state: State) -> bool | None:
        """Return whether the goal holds; ``None`` if no part is false and some part reads an undefined number."""
        facts = state.facts
        for predicate, code in self._goal_facts:
            if code not in facts[predicate]:
                return False
        truth: bool | None = True
        for evaluate_part in self._goal_tests:
            value = evaluate_part(state)
            if value is False:
                return False
            if value is None:
                truth = None
        return truth

    goal = evaluate_goal  # the name of the method in the release before, which programs still use

    def announce_step(self, runtime: Runtime, state: State, step: GroundAction | None, letter_time: LetterTime) -> None:
        """Let the monitors read the step that is taken in a state; ``None``: the letter has no step."""
        if self.reads_actions:
            action_fact = None if step is None else self.find_action_fact("start", step)
            runtime.take_actions(state, () if action_fact is None else (action_fact,), letter_time)

    def find_action_fact(self, phase: str, step: GroundAction) -> ActionFact | None:
        """The action fact of a step in a phase (``start``, ``end`` or ``during``); ``None`` if no rule reads it."""
        predicate = self.action_predicates.get((phase, step.action.name))
        return None if predicate is None else (predicate, self.task.encode(step.objects))

    def is_decisive(self, violation: Violation, criteria: VerdictCriteria) -> bool:
        """Whether a violation makes a plan unsafe."""
        objects = self.task.names(violation.binding) if criteria.exemptions else ()
        return criteria.is_decisive(self.rules[self.rule_set.parts[violation.part].rule], violation.blame, objects)

    def leaves_undecided(self, instances: Iterable[tuple[int, tuple[int, ...]]], criteria: VerdictCriteria) -> bool:
        """Whether some undecided instance (part and binding) leaves the verdict undecided.

        Exemptions do not apply: an exemption excludes findings, and does not decide an instance.
        """
        return any(
            [criteria.is_severe_enough(self.rules[self.rule_set.parts[part].rule].severity) for part, _ in instances]
        )
