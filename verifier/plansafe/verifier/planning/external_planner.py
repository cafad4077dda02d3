"""The common part of external planners: printing a query as PDDL, and replaying the planner's plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, plan_text
from plansafe.verifier.model.nodes import Action, Quantified, Task
from plansafe.verifier.planning.compile_rules import CompiledRules, compile_rules
from plansafe.verifier.planning.pddl_names import Unprintable
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.planning.printing import PrintedTask, is_exact_in_doubles, print_task
from plansafe.verifier.planning.trace_automata import CannotCompile
from plansafe.verifier.reporting.report import Headline, Worlds


class Disagreement(Exception):
    """A planner's plan that the engine rejects: one of them has an error."""


class PrintedQuery(NamedTuple):
    """A query as PDDL.

    ``bookkeeping_actions``: the actions that the original task does not have. ``is_exact``: the task has no numbers, or
    they can be computed exactly in doubles.
    """

    task: PrintedTask
    bookkeeping_actions: frozenset[str]
    is_exact: bool
    has_numbers: bool
    has_derived_predicates: bool


class _Compilation(NamedTuple):
    """A task with its rules compiled, and an engine that executes it."""

    compiled: CompiledRules
    engine: Engine


class CompilationCache:
    """Compiled tasks by checker, so that many queries compile a task once."""

    def __init__(self) -> None:
        self._compilations: WeakKeyDictionary[Checker, dict[bool, _Compilation | str]] = WeakKeyDictionary()
        """By checker, and by whether the rules count: the compiled task, or the reason why it cannot be compiled."""

    def print_query(self, query: PlanningQuery) -> PrintedQuery | PlanningResult:
        """Print a query, or answer it if no planner is needed.

        Raises ``ValueError`` for a checker that is not ``ok``. The prefix is replayed in the compiled task, so that the
        facts of the monitors are up to date.
        """
        compilation = _find_unsupported_criterion(query) or self._compile(query)
        if isinstance(compilation, str):
            return PlanningResult(PlanningStatus.UNSUPPORTED, detail=compilation)
        compiled, engine = compilation
        simulation = Execution(engine)
        try:
            is_executable = _execute_prefix(simulation, compiled, query.prefix)
        except NumberTooLarge:
            return PlanningResult(PlanningStatus.UNSUPPORTED, detail="numbers beyond the limit")
        if not is_executable:
            return PlanningResult(
                PlanningStatus.UNSOLVABLE, detail="the steps taken so far cannot be executed or break a rule"
            )
        state, task = simulation.state, compiled.task
        if compiled.cost is not None:
            state.fluents[compiled.cost][0] = 0
        try:
            printed_task = print_task(task, state.facts, state.fluents)
        except Unprintable as problem:
            return PlanningResult(PlanningStatus.UNSUPPORTED, detail=str(problem))
        has_numbers = any([function.node is not None for function in task.functions])
        return PrintedQuery(
            printed_task,
            compiled.bookkeeping,
            is_exact=not has_numbers or is_exact_in_doubles(task, state.fluents),
            has_numbers=has_numbers,
            has_derived_predicates=bool(task.axioms),
        )

    def _compile(self, query: PlanningQuery) -> _Compilation | str:
        """Compile the task of a query, once; return the reason if it cannot be compiled."""
        compilations = self._compilations.setdefault(query.checker, {})
        if query.rules not in compilations:
            try:
                compiled = compile_rules(query.checker.engine, query.rules, query.checker.options.criteria)
                engine = Engine(with_existential_conditions(compiled.task), [], {})
                compilations[query.rules] = _Compilation(compiled, engine)
            except CannotCompile as problem:
                compilations[query.rules] = str(problem)
        return compilations[query.rules]


def _find_unsupported_criterion(query: PlanningQuery) -> str:
    """Return why compiled rules cannot express what decides the verdict; empty if they can."""
    criteria = query.checker.options.criteria
    if query.rules and criteria.ignores_preexisting:
        return "the compiled rules count every violation, including pre-existing ones"
    if query.rules and criteria.has_partial_exemptions:
        return "the compiled rules do not support an exemption for only some objects"
    return ""


def with_existential_conditions(task: Task) -> Task:
    """Quantify the variables of effects that occur only in the condition existentially: the engine can join these."""
    actions: dict[str, Action] = {}
    for name, action in task.actions.items():
        effects = []
        for effect in action.start.effects:
            atoms = [*effect.adds, *effect.deletes]
            slots = {-1 - argument for atom in atoms for argument in atom.arguments if argument < 0}
            condition_variables = tuple([v for v in effect.variables if v.slot not in slots])
            if condition_variables and not effect.assignments:
                variables = tuple([v for v in effect.variables if v.slot in slots])
                condition = Quantified(False, condition_variables, effect.condition)
                effect = effect._replace(variables=variables, condition=condition)
            effects.append(effect)
        actions[name] = action._replace(start=action.start._replace(effects=tuple(effects)))
    return task._replace(actions=actions)


def _execute_prefix(simulation: Execution, compiled: CompiledRules, prefix: Sequence[GroundAction]) -> bool:
    """Execute a prefix in the compiled task; return false if a step is not applicable or makes the trace unsafe."""
    actions, state = simulation.task.actions, simulation.state
    observe = None if compiled.observe is None else GroundAction(actions[compiled.observe], ())

    def observe_state() -> bool:
        """Read the state if that is due; return whether no rule is violated."""
        if observe is not None and compiled.watch is not None and state.facts[compiled.watch]:
            simulation.take(observe)
        return compiled.safe is None or bool(state.facts[compiled.safe])

    if not observe_state():
        return False
    for step in prefix:
        if not simulation.take(GroundAction(actions[step.action.name], step.objects)) or not observe_state():
            return False
    return True


def confirm_plan(
    query: PlanningQuery, printed_query: PrintedQuery, plan: Sequence[Sequence[str]], *, optimal: bool, planner: str
) -> PlanningResult:
    """Replay a planner's plan (the printed tokens of its steps) and return it as a result.

    Raises :class:`Disagreement` if the replay fails; if the task has numbers, which planners compute in doubles, the
    result is ``NOT_FOUND`` instead.
    """
    checker = query.checker
    steps: list[GroundAction] = []
    for tokens in plan:
        action, *objects = printed_query.task.restore_names(tokens)
        if action in printed_query.bookkeeping_actions:
            continue
        step = checker.engine.resolver.resolve_step((action, *objects))
        if not isinstance(step, GroundAction):
            raise Disagreement(f"{planner} takes the step ({' '.join([action, *objects])}): {step.message}")
        steps.append(step)
    text = plan_text((*query.prefix, *steps), checker.engine.task.objects)
    report = checker.check(Source(f"<plan of {planner}>", text))
    reaches_goal = report.executable is Worlds.ALL and report.goal is Worlds.ALL
    is_accepted = report.headline in (Headline.SAFE, Headline.VALID) if query.rules else reaches_goal
    if not is_accepted:
        headline = "unreadable" if report.headline is None else report.headline.value
        if printed_query.has_numbers or report.headline is Headline.UNKNOWN:
            return PlanningResult(
                PlanningStatus.NOT_FOUND, detail=f"{planner} found a plan that is {headline}", planner=planner
            )
        raise Disagreement(f"{planner} found a plan that is {headline}:\n{text.rstrip()}")
    return PlanningResult(PlanningStatus.SOLVED, tuple(steps), optimal and printed_query.is_exact, "", planner)


def make_unsolvable_result(printed_query: PrintedQuery, planner: str) -> PlanningResult:
    """Make the result of a planner's proof that no plan exists. The proof counts only if the numbers are exact."""
    if printed_query.is_exact:
        return PlanningResult(PlanningStatus.UNSOLVABLE, detail="the search was complete", planner=planner)
    return PlanningResult(
        PlanningStatus.NOT_FOUND, detail="no plan, computed with numbers that are not exact", planner=planner
    )
