"""Worlds: what would have happened, had some steps and some initial facts been left out (docs/diagnose.md).

In a world a step that is left out is idle: its moment passes, and nothing happens. Every other step of the plan
happens, whether or not it can be taken. A :class:`VariantQuestion` is something that is wrong in the world where
nothing is left out; worlds are asked whether it still is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.actions import Conflict, combine_effects, interpret_effects
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.monitors.program import LetterTime
from plansafe.verifier.execution.monitors.runtime import RuleSet, Runtime
from plansafe.verifier.execution.purpose import NotCovered, ResolvedSteps
from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.state import NumberTooLarge, State, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.footprints import Footprint, FootprintFinder, StateVariable, empty_footprint
from plansafe.verifier.model.nodes import TRUE, Action, And, Binding, Effect, Formula, Quantified, Snap, bind
from plansafe.verifier.model.operations import atoms_in, has_comparison, is_temporal, mentions
from plansafe.verifier.rules.model import Rule, RulePart

Element = tuple[int, int]
"""What may be left out: step ``n`` as ``(-1, n)``, or the initial fact (predicate, code)."""
Variant = frozenset[Element]
IDLE = GroundAction(Action("(idle)", (), Snap((), ()), None, (), (), (), None), ())
ABSENT = IllFormed("", "", 0)
STEP = -1
MAX_CONJUNCTS = 10
Keys = set[StateVariable]
ANY = -1
"""In place of a code: all facts of the predicate."""


class ConditionsAfterSteps(NamedTuple):
    """Wrong iff each condition has one of the given values after the step it is asked for (0: at the start).

    ``step``: a step that must not be left out for anything to be wrong; 0 for none.
    """

    asked: tuple[tuple[int, Formula, Binding, tuple[bool | None, ...]], ...]
    step: int = 0


class WatchedPart(NamedTuple):
    """Wrong iff, in the plan cut after step ``last``, an instance of a part is violated; at ``step``, if given."""

    rule: Rule
    part: RulePart
    binding: tuple[int, ...]
    last: int
    step: int | None = None


VariantQuestion = ConditionsAfterSteps | WatchedPart


def violation_question(
    rule: Rule,
    part: RulePart,
    violation: Violation,
    binding: tuple[int, ...],
    at: int,
    last: int,
    action_predicates: frozenset[int],
) -> VariantQuestion:
    """What a violation of an instance says is wrong, as far as a part of the rule goes.

    ``at``: the step after which it was found; ``last``: the plan's last.

    Of a part about every state: that its body fails after that step, not since when it does.
    """
    guard = TRUE if part.guard is None else part.guard
    of_states = not any([is_temporal(f) or mentions(f, action_predicates) for f in (part.body, guard)])
    step = violation.step
    if of_states and part.mode in ("always", "end", "each"):
        slots = bind(part.parameters, binding)
        if part.mode != "each":
            return ConditionsAfterSteps(((at, part.body, slots, (False,)),))
        body = (step if part.after else step - 1, part.body, slots, (False,))
        return ConditionsAfterSteps(((step - 1, guard, slots, (True,)), body), step)
    if part.mode == "always" and not mentions(part.body, action_predicates):
        return WatchedPart(rule, part._replace(mode="end"), binding, at)
    return WatchedPart(rule, part, binding, last, None if part.mode in ("whole", "end") else step)


class PlanVariants:
    """Asks in many worlds of one plan whether anything in question is wrong there.

    ``steps``: an ill-formed one is in no world, and has no moment. ``elements``: all that matters to the questions.
    """

    def __init__(self, engine: Engine, steps: ResolvedSteps, questions: Sequence[VariantQuestion]) -> None:
        self.engine = engine
        self.task = engine.task
        self.plan = steps
        self.questions = questions
        last = max(
            [q.last if isinstance(q, WatchedPart) else max([q.step, *[a[0] for a in q.asked]]) for q in questions]
        )
        self.steps = [step if isinstance(step, GroundAction) else None for step in steps[:last]]
        self.initial = engine.initial()
        self._footprints = FootprintFinder(self.task, 0)
        self.verdicts: dict[Variant, bool] = {}
        self._effects: dict[int, list[_Instance]] = {}
        self._mentioned = self._action_predicates_mentioned()
        self._watches = {n: self._alone(q) for n, q in enumerate(questions) if isinstance(q, WatchedPart)}
        self.elements = self.relevant(frozenset())

    # -- which elements matter ----------------------------------------------------------------------------------------

    def relevant(self, there: Variant) -> Variant:
        """The elements that may matter in worlds where ``there`` is not left out; no other one does.

        Walks back from the end with the facts that may be read later. A step that is there and sets a fact whatever
        happens hides all that happened to it before.
        """
        out: set[Element] = set()
        live: Keys = set()
        for number in range(len(self.steps), -1, -1):
            live |= self._asked_at(number)
            step = self.steps[number - 1] if number else None
            if step is None:
                continue
            element = (STEP, number)
            if self._counts(number, step):
                out.add(element)
            effects = self._instances(number, step)
            touching = [e for e in effects if any([_is_live(key, live) for key in e.keys])]
            if not touching:
                continue
            out.add(element)
            numeric = any([e.effect.assignments or has_comparison(e.effect.condition) for e in effects])
            if element in there and not numeric:
                live -= _settled(touching)
            for effect in effects if numeric else touching:
                live |= effect.reads
        derived = self.engine.axioms.derived if self.engine.axioms is not None else frozenset()
        for index, codes in enumerate(self.initial.facts):
            if index not in derived:
                out |= {(index, code) for code in codes if _is_live((index, code), live)}
        return frozenset(out)

    def _action_predicates_mentioned(self) -> frozenset[int]:
        parts = [asked.part for asked in self.questions if isinstance(asked, WatchedPart)]
        formulas = [f for part in parts for f in (part.body, part.guard, part.step) if f is not None]
        return frozenset([r.predicate for f in formulas for r in atoms_in(f)])

    def _counts(self, number: int, step: GroundAction) -> bool:
        """Whether a step matters by being taken, and not only by what it changes."""
        if any([isinstance(asked, ConditionsAfterSteps) and asked.step == number for asked in self.questions]):
            return True
        return self.engine.action_predicates.get(("start", step.action.name)) in self._mentioned

    def _asked_at(self, number: int) -> Keys:
        """What the questions read after a step."""
        found = empty_footprint()
        for asked in self.questions:
            if isinstance(asked, ConditionsAfterSteps):
                for at, formula, binding, _ in asked.asked:
                    if at == number:
                        self._footprints.add_reads((formula,), binding, found)
            else:
                binding = bind(asked.part.parameters, asked.binding)
                self._footprints.add_reads((asked.part.body, asked.part.guard or TRUE), binding, found)
        return _keys(found)

    def _instances(self, number: int, step: GroundAction) -> list[_Instance]:
        known = self._effects.get(number)
        if known is None:
            known = self._effects[number] = list(self._grounded(step))
        return known

    def _grounded(self, step: GroundAction) -> Iterator[_Instance]:
        for effect in step.action.start.effects:
            for binding in self.task.bindings(effect.variables, step.binding):
                found = empty_footprint()
                self._footprints.add_effect_reads(effect, binding, found)
                self._footprints.add_writes(effect, binding, found)
                yield _Instance(effect, found, found.changes, _keys(found) | found.writes.keys())

    def conjuncts(self) -> list[PlanVariants]:
        """If the question is why a conjunction fails: the same about conjuncts that fail in the whole plan.

        What is wrong about one of them in every world is wrong about the conjunction; and less matters to it. At most
        :data:`MAX_CONJUNCTS`; instances of ``forall`` are conjuncts.
        """
        first = self.questions[0]
        if len(self.questions) > 1 or not isinstance(first, ConditionsAfterSteps) or len(first.asked) > 1:
            return []
        at, formula, binding, values = first.asked[0]
        if True in values:
            return []
        out = []
        for part, bound in self._conjuncts(formula, binding):
            one = PlanVariants(self.engine, self.plan, [ConditionsAfterSteps(((at, part, bound, values),), first.step)])
            if one.wrong(one.elements):
                out.append(one)
                if len(out) == MAX_CONJUNCTS:
                    break
        return out

    def _conjuncts(self, formula: Formula, binding: Binding) -> Iterator[tuple[Formula, Binding]]:
        if isinstance(formula, And):
            for part in formula.parts:
                yield from self._conjuncts(part, binding)
        elif isinstance(formula, Quantified) and formula.universal:
            for inner in self.task.bindings(formula.variables, binding):
                yield from self._conjuncts(formula.body, inner)
        else:
            yield formula, binding

    # -- worlds -------------------------------------------------------------------------------------------------------

    def wrong(self, world: Variant) -> bool:
        """Whether anything in question is wrong in the world where all elements but these are left out.

        Raises :class:`NotCovered` where a number grows too large.
        """
        known = self.verdicts.get(world)
        if known is None:
            try:
                known = any(
                    [
                        self._at_moments(asked, world)
                        if isinstance(asked, ConditionsAfterSteps)
                        else self._watched(n, asked, world)
                        for n, asked in enumerate(self.questions)
                    ]
                )
            except NumberTooLarge:
                raise NotCovered("a number grew beyond 65,536 bits") from None
            self.verdicts[world] = known
        return known

    def _state(self, world: Variant) -> State:
        """The initial state of a world."""
        state = self.initial.fork()
        for index, code in self.elements - world:
            if index != STEP:
                if state.facts[index] is self.initial.facts[index]:
                    state.facts[index] = set(state.facts[index])  # those of static predicates are shared
                state.facts[index].discard(code)
        if self.engine.axioms is not None:
            self.engine.axioms.compute(state.facts, state.fluents)
        return state

    def _at_moments(self, violation_question: ConditionsAfterSteps, world: Variant) -> bool:
        if violation_question.step and (STEP, violation_question.step) not in world:
            return False
        state = self._state(world)
        for number in range(len(self.steps) + 1):
            step = self.steps[number - 1] if number else None
            if step is not None and (STEP, number) in world:
                self._force(state, step)
            for at, formula, binding, values in violation_question.asked:
                if (
                    at == number
                    and Evaluator(self.task, state.facts, state.fluents).holds(formula, binding) not in values
                ):
                    return False
        return True

    def _force(self, state: State, step: GroundAction) -> None:
        """The effects of a step happen, if they can be computed."""
        evaluator = Evaluator(self.task, state.facts, state.fluents)
        binding = step.binding
        try:
            delta = combine_effects(state.fluents, [interpret_effects(evaluator, step.action.start, binding)])
        except (UndefinedNumber, Conflict, KeyError, ZeroDivisionError):
            return
        log: list[StateChange] = []
        state.apply(delta, log)
        if self.engine.axioms is not None:
            self.engine.axioms.update(state.facts, state.fluents, log)

    def _alone(self, asked: WatchedPart) -> tuple[Engine, Runtime]:
        """An engine for one part alone, and its monitors before they start."""
        rule = asked.rule._replace(parts=(asked.part._replace(rule=0),), step_patterns=())
        engine = Engine(self.task, [rule], self.engine.action_predicates, max_instances=self.engine.rule_set.limit)
        plan = RuleSet(self.task, [rule], self.engine.action_predicates, self.engine.rule_set.limit)
        return engine, Runtime(plan, engine.emitter)

    def _watched(self, number: int, asked: WatchedPart, world: Variant) -> bool:
        engine, unstarted = self._watches[number]
        run = Replay(engine, FORCE)
        run.state = self._state(world)
        run.runtime = unstarted.fork()
        run.runtime.start(run.state, LetterTime(0, 0, False))
        steps = self.steps[: asked.last]
        run.run_steps([ABSENT if s is None else s if (STEP, n) in world else IDLE for n, s in enumerate(steps, 1)])
        outcome = run.outcome(len(steps))
        if outcome.limit is not None:
            raise NotCovered(outcome.limit.message)
        found = [v for v in outcome.violations if v.binding == asked.binding]
        return any([asked.step is None or v.step == asked.step for v in found])


class _Instance(NamedTuple):
    """An effect under one binding of its variables: what it may change, and what it reads."""

    effect: Effect
    footprint: Footprint
    keys: Keys
    reads: Keys


def _keys(footprint: Footprint) -> Keys:
    """All that is read."""
    return footprint.reads | {(subject, ANY) for subject in footprint.unbounded_reads}


def _is_live(key: StateVariable, live: Keys) -> bool:
    return key in live or (key[0], ANY) in live


def _settled(effects: Iterable[_Instance]) -> Keys:
    """The facts that have the same value after a step, whatever was before."""
    always = [e.footprint for e in effects if e.effect.condition is TRUE]
    adds = {key for footprint in always for key in footprint.adds}
    maybe = {key for e in effects if e.effect.condition is not TRUE for key in e.footprint.adds}
    return adds | ({key for footprint in always for key in footprint.deletes} - maybe)
