"""Counterfactual worlds of a plan: some steps and some initial facts are omitted (docs/diagnose.md).

An omitted step is idle: its time passes without effect. Every other step happens, whether or not it can be taken. A
:data:`FindingTest` tests whether a finding, which is wrong in the world with all elements, is wrong in a world.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.monitors.rule_set import RuleSet
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.purpose import NotCovered, ResolvedSteps
from plansafe.verifier.execution.replay import FORCE, Replay, compute_delta
from plansafe.verifier.execution.state import NumberTooLarge, State, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.footprints import Footprint, FootprintFinder, StateVariable, make_empty_footprint
from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.model.nodes import TRUE, Action, And, Binding, Effect, Formula, Quantified, Snap, Task, bind
from plansafe.verifier.model.operations import find_atoms, is_temporal, mentions
from plansafe.verifier.rules.model import Rule, RulePart

Element = tuple[int, int]
"""An element that can be omitted: step ``n`` as ``(-1, n)``, or the initial fact (predicate, code)."""
World = frozenset[Element]
"""The elements that a world keeps."""
IDLE_STEP = GroundAction(Action("(idle)", (), Snap((), ())), ())
"""Replaces an omitted step: its time passes without effect."""
ABSENT_STEP = IllFormed("", "", 0)
"""Replaces a step that is in no world."""
STEP_INDEX = -1
"""The first value of an element that is a step."""
MAX_CONJUNCTS = 10
"""Maximum number of conjuncts whose worlds are examined one by one."""
ANY_CODE = -1
"""Replaces the code of a fact: all facts of the predicate."""


class StepCondition(NamedTuple):
    """A condition after a step (0: in the initial state), and its values for which the finding is wrong."""

    step: int
    formula: Formula
    binding: Binding
    wrong_values: tuple[bool | None, ...]


class ConditionTest(NamedTuple):
    """Wrong iff each condition has one of its wrong values, and ``step`` (0: none) is not omitted."""

    conditions: tuple[StepCondition, ...]
    step: int = 0

    @property
    def last(self) -> int:
        """The last step that the test depends on."""
        return max([self.step, *[condition.step for condition in self.conditions]])


class InstanceTest(NamedTuple):
    """Wrong iff an instance of a part is violated (at ``step``, if given) in the plan cut after step ``last``."""

    rule: Rule
    part: RulePart
    binding: tuple[int, ...]
    last: int
    step: int | None = None


FindingTest = ConditionTest | InstanceTest


def make_violation_test(
    rule: Rule,
    part: RulePart,
    violation: Violation,
    binding: tuple[int, ...],
    found_after_step: int,
    last_step: int,
    action_predicates: frozenset[int],
) -> FindingTest:
    """Return the test of a violated instance for a part of the rule.

    ``found_after_step``: the step after which the violation was found; ``last_step``: the plan's last step. The test of
    a part about every state is that its body fails after ``found_after_step``, even if it failed before.
    """
    guard = TRUE if part.guard is None else part.guard
    is_about_states = not any([is_temporal(f) or mentions(f, action_predicates) for f in (part.body, guard)])
    step = violation.step
    if is_about_states and part.mode in ("always", "end", "each"):
        slots = bind(part.parameters, binding)
        if part.mode != "each":
            return ConditionTest((StepCondition(found_after_step, part.body, slots, (False,)),))
        guard_condition = StepCondition(step - 1, guard, slots, (True,))
        body_condition = StepCondition(step if part.after else step - 1, part.body, slots, (False,))
        return ConditionTest((guard_condition, body_condition), step)
    if part.mode == "always" and not mentions(part.body, action_predicates):
        return InstanceTest(rule, part._replace(mode="end"), binding, found_after_step)
    return InstanceTest(rule, part, binding, last_step, None if part.mode in ("whole", "end") else step)


class CounterfactualWorlds:
    """Decides in which worlds of one plan one of the tests is wrong.

    An ill-formed step is in no world, and takes no time. ``elements`` are all elements that matter to the tests.
    """

    def __init__(
        self,
        engine: Engine,
        steps: ResolvedSteps,
        tests: Sequence[FindingTest],
        effects: EffectTable,
    ) -> None:
        self.engine = engine
        self.task = engine.task
        self.plan = steps
        self.tests = tests
        last = max([test.last for test in tests])
        self.steps = [step if isinstance(step, GroundAction) else None for step in steps[:last]]
        self.initial = engine.make_initial_state()
        self._footprints = FootprintFinder(self.task, 0)
        self._effects = effects
        """Worlds of the same plan share it."""
        parts = [test.part for test in tests if isinstance(test, InstanceTest)]
        formulas = [formula for part in parts for formula in (part.body, part.guard, part.step) if formula is not None]
        self._predicates_in_rules = frozenset([atom.predicate for formula in formulas for atom in find_atoms(formula)])
        self._monitors = {
            number: self._make_monitor(test) for number, test in enumerate(tests) if isinstance(test, InstanceTest)
        }
        self.elements = self.find_relevant_elements(frozenset())

    # -- relevant elements --------------------------------------------------------------------------------------------

    def find_relevant_elements(self, kept_elements: World) -> World:
        """Return the elements that may matter in worlds that keep the ``kept_elements``; no other element matters.

        Goes backwards with the facts that may be read later. A kept step that sets a fact unconditionally hides all its
        earlier changes.
        """
        relevant: set[Element] = set()
        live_variables: set[StateVariable] = set()
        live_indexes: set[int] = set()
        """The predicates and functions whose facts and fluents may all be read."""

        def add_reads(reads: set[StateVariable]) -> None:
            live_variables.update(reads)
            live_indexes.update([index for index, code in reads if code == ANY_CODE])

        for number in range(len(self.steps), -1, -1):
            add_reads(self._find_test_reads(number))
            step = self.steps[number - 1] if number else None
            if step is None:
                continue
            element = (STEP_INDEX, number)
            if self._is_tested_step(number, step):
                relevant.add(element)
            effects = self._get_effects(step)
            relevant_effects = effects.find_writers(live_variables, live_indexes)
            if not relevant_effects:
                continue
            relevant.add(element)
            reads_numbers = self.engine.code.effects_use_numbers(step.action)
            if element in kept_elements and not reads_numbers:
                live_variables -= _find_overwritten_facts(relevant_effects)
            for effect in effects.instances if reads_numbers else relevant_effects:
                add_reads(effect.reads)
        derived = self.engine.axioms.derived if self.engine.axioms is not None else frozenset()
        for index, codes in enumerate(self.initial.facts):
            if index not in derived:
                relevant |= {
                    (index, code) for code in codes if index in live_indexes or (index, code) in live_variables
                }
        return frozenset(relevant)

    def _is_tested_step(self, number: int, step: GroundAction) -> bool:
        """Whether a test depends on the step itself, and not only on its changes."""
        if any([isinstance(test, ConditionTest) and test.step == number for test in self.tests]):
            return True
        return self.engine.action_predicates.get(("start", step.action.name)) in self._predicates_in_rules

    def _find_test_reads(self, number: int) -> set[StateVariable]:
        """Return the facts and fluents that the tests read after a step."""
        footprint = make_empty_footprint()
        for test in self.tests:
            if isinstance(test, ConditionTest):
                for condition in test.conditions:
                    if condition.step == number:
                        self._footprints.add_reads((condition.formula,), condition.binding, footprint)
            else:
                binding = bind(test.part.parameters, test.binding)
                self._footprints.add_reads((test.part.body, test.part.guard or TRUE), binding, footprint)
        return _collect_reads(footprint)

    def _get_effects(self, step: GroundAction) -> _GroundEffects:
        """Return the effects of a step, which all worlds of the plan share."""
        key = id(step.action), step.objects
        effects = self._effects.get(key)
        if effects is None:
            effects = self._effects[key] = _GroundEffects(self.task, self._footprints, step)
        return effects

    def make_conjunct_worlds(self) -> list[CounterfactualWorlds]:
        """Return the worlds of single conjuncts, if the test is that a conjunction fails.

        Only conjuncts that fail in the whole plan are included, at most :data:`MAX_CONJUNCTS`; instances of ``forall``
        are conjuncts. If a conjunct fails in every world, so does the conjunction, and fewer elements matter to it.
        """
        test = self.tests[0]
        if len(self.tests) > 1 or not isinstance(test, ConditionTest) or len(test.conditions) > 1:
            return []
        condition = test.conditions[0]
        if True in condition.wrong_values:
            return []
        failing_conjuncts: list[CounterfactualWorlds] = []
        for part, binding in self._iterate_conjuncts(condition.formula, condition.binding):
            conjunct_test = ConditionTest((condition._replace(formula=part, binding=binding),), test.step)
            worlds = CounterfactualWorlds(self.engine, self.plan, [conjunct_test], self._effects)
            if worlds.is_wrong(worlds.elements):
                failing_conjuncts.append(worlds)
                if len(failing_conjuncts) == MAX_CONJUNCTS:
                    break
        return failing_conjuncts

    def _iterate_conjuncts(self, formula: Formula, binding: Binding) -> Iterator[tuple[Formula, Binding]]:
        """Yield the conjuncts of a formula, instances of ``forall`` included, with their bindings."""
        if isinstance(formula, And):
            for part in formula.parts:
                yield from self._iterate_conjuncts(part, binding)
        elif isinstance(formula, Quantified) and formula.universal:
            for full_binding in self.task.bindings(formula.variables, binding):
                yield from self._iterate_conjuncts(formula.body, full_binding)
        else:
            yield formula, binding

    # -- worlds -------------------------------------------------------------------------------------------------------

    @memoized
    def is_wrong(self, world: World) -> bool:
        """Whether a test is wrong in the world that keeps exactly these elements.

        Raises :class:`NotCovered` if a number grows too large.
        """
        try:
            return any(
                [
                    self._has_wrong_values(test, world)
                    if isinstance(test, ConditionTest)
                    else self._is_instance_violated(number, test, world)
                    for number, test in enumerate(self.tests)
                ]
            )
        except NumberTooLarge:
            raise NotCovered("a number grew beyond 65,536 bits") from None

    def _make_initial_state(self, world: World) -> State:
        """Return the initial state without the facts that a world omits."""
        state = self.initial.fork()
        for index, code in self.elements - world:
            if index != STEP_INDEX:
                if state.facts[index] is self.initial.facts[index]:
                    state.facts[index] = set(state.facts[index])  # forks share the facts of static predicates
                state.facts[index].discard(code)
        if self.engine.axioms is not None:
            self.engine.axioms.compute(state.facts, state.fluents)
        return state

    def _has_wrong_values(self, test: ConditionTest, world: World) -> bool:
        """Whether a test of conditions is wrong in a world."""
        if test.step and (STEP_INDEX, test.step) not in world:
            return False
        state = self._make_initial_state(world)
        for number in range(len(self.steps) + 1):
            step = self.steps[number - 1] if number else None
            if step is not None and (STEP_INDEX, number) in world:
                self._apply_effects(state, step)
            for at, formula, binding, wrong_values in test.conditions:
                if at == number:
                    value = Evaluator(self.task, state.facts, state.fluents).holds(formula, binding)
                    if value not in wrong_values:
                        return False
        return True

    def _apply_effects(self, state: State, step: GroundAction) -> None:
        """Change a state by a step, whether or not it can be taken; undefined effects change nothing."""
        delta = compute_delta(self.engine, state, step)
        if delta is None:
            return
        log: list[StateChange] = []
        state.apply(delta, log)
        if self.engine.axioms is not None:
            self.engine.axioms.update(state.facts, state.fluents, log)

    def _make_monitor(self, test: InstanceTest) -> tuple[Engine, Runtime]:
        """Return an engine for the tested part alone, and its monitors before they start."""
        rule = test.rule._replace(parts=(test.part._replace(rule=0),), step_patterns=())
        limit = self.engine.rule_set.limit
        engine = Engine(self.task, [rule], self.engine.action_predicates, max_instances=limit)
        return engine, Runtime(RuleSet(self.task, [rule], self.engine.action_predicates, limit), engine.emitter)

    def _is_instance_violated(self, number: int, test: InstanceTest, world: World) -> bool:
        """Whether a test of a rule's instance, with its number among the tests, is wrong in a world."""
        engine, unstarted_runtime = self._monitors[number]
        run = Replay(engine, FORCE)
        run.state = self._make_initial_state(world)
        run.runtime = unstarted_runtime.fork()
        run.runtime.start(run.state, LetterTime(0, 0, False))
        world_steps: list[GroundAction | IllFormed] = []
        for step_number, step in enumerate(self.steps[: test.last], 1):
            is_kept = (STEP_INDEX, step_number) in world
            world_steps.append(ABSENT_STEP if step is None else step if is_kept else IDLE_STEP)
        run.run_steps(world_steps)
        outcome = run.finish(len(world_steps))
        if outcome.limit is not None:
            raise NotCovered(outcome.limit.message)
        violations = [v for v in outcome.violations if v.binding == test.binding]
        return any([test.step is None or v.step == test.step for v in violations])


class _EffectInstance:
    """An effect under one binding of its variables. ``footprint`` has only the writes until ``reads`` is called."""

    def __init__(self, footprints: FootprintFinder, effect: Effect, binding: Binding) -> None:
        self._footprints = footprints
        self._binding = binding
        self.effect = effect
        self.footprint = make_empty_footprint()
        footprints.add_writes(effect, binding, self.footprint)

    @cached_property
    def reads(self) -> set[StateVariable]:
        """The facts and fluents that the effect reads, and the fluents that it writes."""
        self._footprints.add_effect_reads(self.effect, self._binding, self.footprint)
        return _collect_reads(self.footprint) | self.footprint.writes.keys()


class _GroundEffects:
    """The effects of a ground action, which are found by the facts and fluents that they may change."""

    def __init__(self, task: Task, footprints: FootprintFinder, step: GroundAction) -> None:
        self.instances = [
            _EffectInstance(footprints, effect, binding)
            for effect in step.action.start.effects
            for binding in task.bindings(effect.variables, step.binding)
        ]
        self._effects_by_variable: dict[StateVariable, list[_EffectInstance]] = {}
        for instance in self.instances:
            for variable in instance.footprint.changes:
                self._effects_by_variable.setdefault(variable, []).append(instance)
        self._variables_by_index: dict[int, list[StateVariable]] = {}
        for variable in self._effects_by_variable:
            self._variables_by_index.setdefault(variable[0], []).append(variable)

    def find_writers(self, variables: set[StateVariable], indexes: Iterable[int]) -> list[_EffectInstance]:
        """Return the effects that may change one of the variables, or a fact or fluent with one of the indexes."""
        changed_variables = self._effects_by_variable.keys() & variables
        for index in indexes:
            changed_variables.update(self._variables_by_index.get(index, ()))
        effects = [effect for variable in changed_variables for effect in self._effects_by_variable[variable]]
        return list({id(effect): effect for effect in effects}.values())


EffectTable = dict[tuple[int, tuple[int, ...]], _GroundEffects]
"""The effects of each ground action, by the identity of the action and its objects."""


def _collect_reads(footprint: Footprint) -> set[StateVariable]:
    """Return the facts and fluents that a footprint reads; ``ANY_CODE`` for reads of a whole predicate."""
    return footprint.reads | {(subject, ANY_CODE) for subject in footprint.unbounded_reads}


def _find_overwritten_facts(effects: Iterable[_EffectInstance]) -> set[StateVariable]:
    """Return the facts whose value after a step does not depend on the state before it."""
    adds, deletes, conditional_adds = set[StateVariable](), set[StateVariable](), set[StateVariable]()
    for instance in effects:
        if instance.effect.condition is TRUE:
            adds |= instance.footprint.adds
            deletes |= instance.footprint.deletes
        else:
            conditional_adds |= instance.footprint.adds
    return adds | (deletes - conditional_adds)
