"""What all planners outside this project share: the question as PDDL, and the answer brought home and replayed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.nodes import Action, Quantified, Task
from plansafe.verifier.planning.compile_rules import CompiledRules, compile_rules
from plansafe.verifier.planning.pddl_names import Unprintable
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.planning.printing import PrintedTask, is_exact_in_doubles, print_task
from plansafe.verifier.planning.trace_automata import CannotCompile
from plansafe.verifier.reporting.report import Headline, Worlds


class Disagreement(Exception):
    """A planner's plan that the engine does not accept, or the other way round: an error of one of them."""


class PrintedQuery(NamedTuple):
    """A query as PDDL. ``exact``: computing its numbers in doubles loses nothing."""

    printed: PrintedTask
    bookkeeping: frozenset[str]
    exact: bool
    numeric: bool
    derived: bool


class CompilationCache:
    """Compiled tasks by checker, so that many queries about one task compile it once."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Checker, dict[bool, tuple[CompiledRules, Engine] | str]] = WeakKeyDictionary()

    def ask(self, query: PlanningQuery) -> PrintedQuery | PlanningResult:
        """The question to put to a planner, or the answer where none is needed.

        Raises ``ValueError`` for a checker that is not ``ok``. Replays the prefix in the compiled task, so that the
        facts of the monitors are those after it.
        """
        if not query.checker.ok:
            raise ValueError("the domain, problem or specification has errors")
        criteria = query.checker.options.criteria
        if query.rules and criteria.only_introduced:
            return PlanningResult(
                PlanningStatus.UNSUPPORTED,
                detail="the compiled rules count every violation, including pre-existing ones",
            )
        if query.rules and criteria.has_partial_exemptions:
            return PlanningResult(
                PlanningStatus.UNSUPPORTED,
                detail="the compiled rules do not support an exemption for only some objects",
            )
        known = self._known.setdefault(query.checker, {})
        if query.rules not in known:
            try:
                compiled = compile_rules(query.checker.engine, query.rules, criteria)
                known[query.rules] = (compiled, Engine(with_existential_conditions(compiled.task), [], {}))
            except CannotCompile as problem:
                known[query.rules] = str(problem)
        found = known[query.rules]
        if isinstance(found, str):
            return PlanningResult(PlanningStatus.UNSUPPORTED, detail=found)
        compiled, engine = found
        simulation = Execution(engine)
        try:
            possible = _replayed(simulation, compiled, query.prefix)
        except NumberTooLarge:
            return PlanningResult(PlanningStatus.UNSUPPORTED, detail="numbers beyond the limit")
        if not possible:
            return PlanningResult(
                PlanningStatus.UNSOLVABLE, detail="the steps taken so far cannot be executed or break a rule"
            )
        state, task = simulation.state, compiled.task
        if compiled.cost is not None:
            state.fluents[compiled.cost][0] = 0
        try:
            printed = print_task(task, state.facts, state.fluents)
        except Unprintable as problem:
            return PlanningResult(PlanningStatus.UNSUPPORTED, detail=str(problem))
        numeric = any([f.node is not None for f in task.functions])
        exact = not numeric or is_exact_in_doubles(task, state.fluents)
        return PrintedQuery(printed, compiled.bookkeeping, exact, numeric, bool(task.axioms))


def with_existential_conditions(task: Task) -> Task:
    """The task as the engine runs it best: a variable that no atom of an effect names is an ``exists``, and a join."""
    actions: dict[str, Action] = {}
    for name, action in task.actions.items():
        effects = []
        for effect in action.start.effects:
            written = [*effect.adds, *effect.deletes]
            named = {-1 - a for atom in written for a in atom.arguments if a < 0}
            rest = tuple([v for v in effect.variables if v.slot not in named])
            if rest and not effect.assignments:
                kept = tuple([v for v in effect.variables if v.slot in named])
                effect = effect._replace(variables=kept, condition=Quantified(False, rest, effect.condition))
            effects.append(effect)
        actions[name] = action._replace(start=action.start._replace(effects=tuple(effects)))
    return task._replace(actions=actions)


def _replayed(simulation: Execution, compiled: CompiledRules, prefix: Sequence[GroundAction]) -> bool:
    """Take the steps of a prefix in the compiled task; false if one cannot be taken or makes the trace unsafe."""
    actions, state = simulation.task.actions, simulation.state
    observe = None if compiled.observe is None else GroundAction(actions[compiled.observe], ())

    def observed() -> bool:
        if observe is not None and compiled.watch is not None and state.facts[compiled.watch]:
            simulation.take(observe)
        return compiled.safe is None or bool(state.facts[compiled.safe])

    if not observed():
        return False
    for step in prefix:
        if not simulation.take(GroundAction(actions[step.action.name], step.objects)) or not observed():
            return False
    return True


def confirm_plan(
    query: PlanningQuery, question: PrintedQuery, plan: Sequence[Sequence[str]], *, optimal: bool, planner: str
) -> PlanningResult:
    """A planner's plan (tokens of its steps, in printed names) as an answer, replayed.

    Raises :class:`Disagreement`; where numbers decide and planners compute in doubles, that is ``NOT_FOUND``.
    """
    checker = query.checker
    steps: list[GroundAction] = []
    for tokens in plan:
        original = question.printed.original(tokens)
        if original[0] in question.bookkeeping:
            continue
        step = checker.engine.resolver.step(original)
        if not isinstance(step, GroundAction):
            raise Disagreement(f"{planner} takes the step ({' '.join(original)}): {step.message}")
        steps.append(step)
    objects = checker.engine.task.objects
    text = "\n".join([step_text(step, objects) for step in (*query.prefix, *steps)])
    report = checker.check(Source(f"<plan of {planner}>", text))
    reached = report.executable is Worlds.ALL and report.goal is Worlds.ALL
    accepted = report.headline in (Headline.SAFE, Headline.VALID) if query.rules else reached
    if not accepted:
        headline = "unreadable" if report.headline is None else report.headline.value
        if question.numeric or report.headline is Headline.UNKNOWN:
            return PlanningResult(
                PlanningStatus.NOT_FOUND, detail=f"{planner} found a plan that is {headline}", planner=planner
            )
        raise Disagreement(f"{planner} found a plan that is {headline}:\n{text}")
    return PlanningResult(PlanningStatus.SOLVED, tuple(steps), optimal and question.exact, "", planner)


def unsolvable_result(question: PrintedQuery, planner: str) -> PlanningResult:
    """A planner's proof that there is no plan, which counts where its numbers are exact."""
    if question.exact:
        return PlanningResult(PlanningStatus.UNSOLVABLE, detail="the search was complete", planner=planner)
    return PlanningResult(
        PlanningStatus.NOT_FOUND, detail="no plan, computed with numbers that are not exact", planner=planner
    )
