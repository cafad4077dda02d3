"""What the executions of a task can still do: facts, steps, landmarks of the goal, a shortest plan.

Each answer is a plan that shows it, or a proof that no such plan exists. In the order in which they are tried, proofs
rest on the delete relaxation (Hoffmann and Nebel 2001), on inferred groups of facts of which at most one is true, and
on a search that visits all reachable states. Rules are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, product
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, IllFormed, StepKey
from plansafe.verifier.model.nodes import And, Atom, Formula, Task, bind
from plansafe.verifier.model.operations import conjuncts, substitute
from plansafe.verifier.planning.delete_relaxation import MAX_OPERATORS
from plansafe.verifier.planning.forward_search import MAX_NODES, ForwardSearch, find_unsupported_task_reason
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.symbolic.invariants.group_proofs import COUNTED, GroupAtom
from plansafe.verifier.symbolic.invariants.inference import InferredInvariant, infer_invariants

INFERENCE_TIME_S = 2.0
"""Maximum time to infer groups of facts."""
Fact = tuple[int, int]
"""A predicate and the code of its arguments."""
_AVOIDANCE_RULE = "avoid-the-fact"


class Relaxation(NamedTuple):
    """The facts and steps that are reachable if no fact is ever deleted."""

    facts: frozenset[Fact]
    steps: frozenset[StepKey]


class _GoalPlan(NamedTuple):
    """A plan that reaches the goal, and the facts that are true in some state of it."""

    visited_facts: frozenset[Fact]
    steps: tuple[GroundAction, ...]


class Reachability:
    """Answers questions about all executions of a task from S0, without its rules.

    Each answer is a :class:`PlanningResult`. SOLVED has a plan as evidence, UNSOLVABLE is proved (``planner`` names the
    kind of proof), NOT_FOUND means that a limit was reached, and UNSUPPORTED that the task is not covered.
    ``time_limit_s`` and ``max_nodes`` limit one answer. Plans that were found also answer later questions.
    """

    def __init__(self, checker: Checker, *, time_limit_s: float = 10.0, max_nodes: int = MAX_NODES) -> None:
        self.compiled = checker.compiled
        self.task: Task = self.compiled.task
        self.engine = self.compiled.engine
        self.time_limit_s = time_limit_s
        self.search = ForwardSearch(max_nodes)
        self.unsupported_reason = find_unsupported_task_reason(self.compiled, rules=False)
        self._fact_plans: dict[Fact, tuple[GroundAction, ...]] = {}
        self._step_plans: dict[StepKey, tuple[GroundAction, ...]] = {}
        self._goal_plans: list[_GoalPlan] = []
        if not self.unsupported_reason:
            self._record_states(())

    # -- facts and steps ----------------------------------------------------------------------------------------------

    def list_facts(self, *predicates: str) -> list[str]:
        """List the well-typed facts of some predicates; without names, of all predicates that actions change."""
        return [self.task.fact_text(*fact) for fact in self._iterate_facts(predicates)]

    def _iterate_facts(self, predicates: Sequence[str]) -> Iterator[Fact]:
        task = self.task
        for number, predicate in enumerate(task.predicates[: len(task.static)]):
            is_changeable = number in self.engine.changeable_symbols
            if predicate.name in predicates or (not predicates and is_changeable):
                for objects in product(*[task.domains[domain] for domain in predicate.domains]):
                    yield number, task.encode(objects)

    def iterate_steps(self) -> Iterator[GroundAction]:
        """Yield all well-typed steps."""
        for action in self.task.actions.values():
            for objects in product(*[self.task.domains[v.domain] for v in action.parameters]):
                yield GroundAction(action, objects)

    def parse_fact(self, text: str) -> Fact:
        """Return the fact with this text. Raises ``ValueError`` if it is not a fact of the task."""
        name, *objects = text.strip().strip("()").split()
        names = [predicate.name for predicate in self.task.predicates[: len(self.task.static)]]
        if name not in names or not all([object_ in self.task.object_index for object_ in objects]):
            raise ValueError(f"`{text}` is not a fact of the task")
        number = names.index(name)
        if len(objects) != len(self.task.predicates[number].domains):
            raise ValueError(f"`{text}` has the wrong number of arguments")
        return number, self.task.encode(tuple([self.task.object_index[object_] for object_ in objects]))

    def parse_step(self, text: str) -> GroundAction:
        """Return the step with this text. Raises ``ValueError`` if it is not a step of the task."""
        step = self.engine.resolver.resolve_tokens(text.strip().strip("()").split())
        if isinstance(step, IllFormed):
            raise ValueError(f"`{text}`: {step.message}")
        return step

    # -- answers ------------------------------------------------------------------------------------------------------

    def reach_fact(self, text: str) -> PlanningResult:
        """Find a plan to a state in which a fact is true, or a proof that there is none."""
        fact = self.parse_fact(text)
        if self.unsupported_reason:
            return self._make_unsupported_result()
        if fact not in self._fact_plans:
            if self.relaxation is not None and fact not in self.relaxation.facts:
                return _make_relaxation_proof()
            predicate, code = fact
            return self._search_condition((Atom(predicate, self.task.decode(code, self._find_arity(predicate))),))
        return PlanningResult(PlanningStatus.SOLVED, self._fact_plans[fact], planner=self.search.name)

    def reach_step(self, step: GroundAction) -> PlanningResult:
        """Find a plan to a state in which a step can be taken, or a proof that there is none."""
        if self.unsupported_reason:
            return self._make_unsupported_result()
        key = step.key
        if key not in self._step_plans:
            if self.relaxation is not None and key not in self.relaxation.steps:
                return _make_relaxation_proof()
            return self._search_condition(self.find_condition(step))
        return PlanningResult(PlanningStatus.SOLVED, self._step_plans[key], planner=self.search.name)

    def avoid_fact(self, text: str) -> PlanningResult:
        """Find a plan to the goal in whose states a fact is never true; UNSOLVABLE: the fact is a landmark."""
        fact = self.parse_fact(text)
        if self.unsupported_reason:
            return self._make_unsupported_result()
        for visited_facts, steps in self._goal_plans:
            if fact not in visited_facts:
                return PlanningResult(PlanningStatus.SOLVED, steps, planner=self.search.name)
        result = self._solve(self._make_avoiding_checker(fact), rules=True)
        if result.status is PlanningStatus.SOLVED:
            self._goal_plans.append(_GoalPlan(self._record_states(result.steps), result.steps))
        return result

    def find_goal_plan(self, *, shortest: bool = False) -> PlanningResult:
        """Find a plan that reaches the goal; with ``shortest``, one that is proved to have the fewest steps."""
        if self.unsupported_reason:
            return self._make_unsupported_result()
        checker = Checker.from_compiled(self.compiled.make_variant(self.task, []))
        result = self._solve(checker, rules=False, shortest=shortest)
        if result.status is PlanningStatus.SOLVED:
            self._goal_plans.append(_GoalPlan(self._record_states(result.steps), result.steps))
        return result

    def find_condition(self, step: GroundAction) -> tuple[Formula, ...]:
        """Return the precondition of a step, for its objects."""
        return tuple([substitute(part, step.binding) for part in step.action.start.condition])

    def list_required_facts(self, step: GroundAction) -> list[Fact]:
        """List the facts that the precondition of a step requires to be true."""
        return self._list_facts_in(self.find_condition(step))

    def _list_facts_in(self, condition: Iterable[Formula]) -> list[Fact]:
        atoms = [part for part in conjuncts(And(tuple(condition))) if isinstance(part, Atom)]
        return [(atom.predicate, self.task.encode(atom.arguments)) for atom in atoms]

    def _find_arity(self, predicate: int) -> int:
        return len(self.task.predicates[predicate].domains)

    def _make_unsupported_result(self) -> PlanningResult:
        return PlanningResult(PlanningStatus.UNSUPPORTED, detail=self.unsupported_reason, planner=self.search.name)

    def _search_condition(self, condition: Sequence[Formula]) -> PlanningResult:
        """Answer by groups of facts, or else by a search for the condition as goal."""
        pair = self.find_exclusive_facts(condition)
        if pair is not None:
            names = " and ".join([self.task.fact_text(*fact) for fact in pair])
            detail = f"{names} exclude each other: at most one of their group is true, and no action changes that"
            return PlanningResult(PlanningStatus.UNSOLVABLE, detail=detail, planner="inferred groups")
        task = self.task._replace(goal=tuple(condition), goal_preferences=(), metric=None)
        result = self._solve(Checker.from_compiled(self.compiled.make_variant(task, [])), rules=False)
        if result.status is PlanningStatus.SOLVED:
            self._record_states(result.steps)
        return result

    def _solve(self, checker: Checker, *, rules: bool, shortest: bool = False) -> PlanningResult:
        query = PlanningQuery(checker, rules=rules, shortest=shortest, time_limit_s=self.time_limit_s)
        return self.search.solve(query)

    def _make_avoiding_checker(self, fact: Fact) -> Checker:
        """Make a checker of the task with one rule, which forbids a fact in every state."""
        rule = Source("avoided.safe", make_avoidance_rule(self.task.fact_text(*fact)))
        compiled = Checker(self.compiled.domain, self.compiled.problem, [rule], self.compiled.options).compiled
        (avoidance_rule,) = [rule for rule in compiled.rules if rule.name == _AVOIDANCE_RULE]
        parts = tuple([part._replace(rule=0) for part in avoidance_rule.parts])  # it becomes the only rule
        return Checker.from_compiled(compiled.make_variant(compiled.task, [avoidance_rule._replace(parts=parts)]))

    def _record_states(self, plan: Sequence[GroundAction]) -> frozenset[Fact]:
        """Record the facts and legal steps of each state of a plan; return all facts that are true in some state."""
        execution, visited_facts = Execution(self.engine), set[Fact]()
        predicates = [symbol for symbol in self.engine.changeable_symbols if symbol < len(execution.state.facts)]
        for length in range(len(plan) + 1):
            prefix = tuple(plan[:length])
            true_facts = [(predicate, code) for predicate in predicates for code in execution.state.facts[predicate]]
            for fact in true_facts:
                self._fact_plans.setdefault(fact, prefix)
            visited_facts.update(true_facts)
            for step in execution.legal():
                self._step_plans.setdefault(step.key, prefix)
            if length < len(plan) and not execution.take(plan[length]):
                raise AssertionError(f"step {length + 1} of a planner's plan cannot be executed")
        return frozenset(visited_facts)

    # -- proofs -------------------------------------------------------------------------------------------------------

    @cached_property
    def relaxation(self) -> Relaxation | None:
        """The facts and steps that are reachable if no fact is ever deleted; ``None`` if they are too many to list."""
        state = self.engine.make_initial_state()
        facts = {(predicate, code) for predicate, codes in enumerate(state.facts) for code in codes}
        steps: set[StepKey] = set()
        bindings = LiftedRelaxation(self.engine, rules=False).find_reachable_bindings(state)
        for count, (schema, objects) in enumerate(bindings):
            if count > MAX_OPERATORS:
                return None
            binding = bind(schema.parameters, objects)
            facts.update([(atom.predicate, self.task.code_of(atom.arguments, binding)) for atom in schema.adds])
            if schema.action is not None:
                steps.add((schema.action.name, objects[: len(schema.action.parameters)]))
        return Relaxation(frozenset(facts), frozenset(steps))

    @cached_property
    def _groups(self) -> list[tuple[InferredInvariant, dict[tuple[int, ...], int]]]:
        """The inferred invariants, with the number of true facts in S0 by binding of their parameters."""
        state = self.engine.make_initial_state()
        groups = []
        for invariant in infer_invariants(self.task, monotonic() + INFERENCE_TIME_S):
            counts: dict[tuple[int, ...], int] = {}
            for predicate in {atom.predicate for atom in invariant.atoms}:
                for code in state.facts[predicate]:
                    for key in self._bind_group(invariant, (predicate, code)):
                        counts[key] = counts.get(key, 0) + 1
            groups.append((invariant, counts))
        return groups

    def _bind_group(self, invariant: InferredInvariant, fact: Fact) -> set[tuple[int, ...]]:
        """Return the bindings of an invariant's parameters for which a fact is in its group."""
        predicate, code = fact
        arguments = self.task.decode(code, self._find_arity(predicate))
        atoms = [atom for atom in invariant.atoms if atom.predicate == predicate and _matches(atom, arguments)]
        return {tuple(atom.bind(arguments)) for atom in atoms}

    def find_exclusive_facts(self, condition: Iterable[Formula]) -> tuple[Fact, Fact] | None:
        """Find two facts of a ground condition that can never both be true; ``None`` if none are known."""
        for first, second in combinations(dict.fromkeys(self._list_facts_in(condition)), 2):
            for invariant, counts in self._groups:
                keys = self._bind_group(invariant, first) & self._bind_group(invariant, second)
                if any([counts.get(key, 0) <= 1 for key in keys]):
                    return first, second
        return None


def _matches(atom: GroupAtom, arguments: tuple[int, ...]) -> bool:
    """Whether equal parameters of a group's atom have equal objects."""
    objects: dict[int, int] = {}
    pairs = zip(atom.arguments, arguments, strict=True)
    return all([number == COUNTED or objects.setdefault(number, object_) == object_ for number, object_ in pairs])


def _make_relaxation_proof() -> PlanningResult:
    """Make the result for a query that is unreachable in the delete relaxation."""
    detail = "unreachable even if no fact is ever deleted"
    return PlanningResult(PlanningStatus.UNSOLVABLE, detail=detail, planner="delete relaxation")


def make_avoidance_rule(fact: str) -> str:
    """Return a specification that forbids a fact in every state."""
    return f"(define (safety avoided) (:process {_AVOIDANCE_RULE} :forbid {fact}))\n"
