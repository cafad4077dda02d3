"""Propose rules against patterns in safe plans.

Patterns: suspicious facts and objects together, a step next to them, a repeated step, facts left at the end, a number
above its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

from plansafe.grammar.codes import SC
from plansafe.specs.lint.gaps.proposals import NAME, GroundFact, LiftedNames, Proposal, make_proposal
from plansafe.specs.lint.gaps.state_graph import StateGraph, SuspiciousItem, TaskGraph
from plansafe.specs.lint.gaps.suspicion import FORBIDDEN_WEIGHT, UNREAD_WEIGHT, Suspicion
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Atom, ground

MAX_CHAIN = 2
"""How many facts may connect a step with a suspicious fact."""
LEFT_WEIGHT = 0.5
"""The weight of a fact that is left at the end."""


class ProposalPatterns:
    """Proposals from states and steps. A repeated case returns the same :class:`Proposal` object."""

    def __init__(self, task_graph: TaskGraph) -> None:
        self.task_graph = task_graph
        self.task = task_graph.task
        self.weights = task_graph.weights
        self._proposals: dict[object, Proposal] = {}
        self._goal_facts = {
            GroundFact(part.predicate, part.arguments) for part in self.task.goal if isinstance(part, Atom)
        }

    def _get_cached(self, key: object, propose: Callable[[], Proposal]) -> Proposal:
        if key not in self._proposals:
            self._proposals[key] = propose()
        return self._proposals[key]

    def _list_suspicions(self, facts: tuple[GroundFact, ...], objects: set[int]) -> list[Suspicion]:
        weights = self.weights
        types = [weights.types[weights.find_most_suspicious_type(object_)] for object_ in objects]
        return [weights.facts[fact.predicate] for fact in facts] + types

    def _join_facts(self, chain: tuple[GroundFact, ...] | None, *items: SuspiciousItem) -> tuple[GroundFact, ...]:
        """The facts of a chain and of items, the most suspicious first."""
        facts = {*(chain or ()), *[item.fact for item in items if item.fact is not None]}
        return tuple(sorted(facts, key=lambda fact: (-self.weights.facts[fact.predicate].weight, fact)))

    # -- together -----------------------------------------------------------------------------------------------------

    def propose_suspicious_items_together(self, graph: StateGraph) -> Iterator[Proposal]:
        """Two suspicious items that a chain of facts connects, if at least one of the facts was false in S0."""
        for first, second in combinations(graph.items, 2):
            chain = graph.find_chain(first.objects, second.objects)
            facts = self._join_facts(chain, first, second)
            if chain is not None and any([self.task_graph.is_new(fact) for fact in facts]):
                yield self._get_cached(facts, partial(self._propose_together, facts, graph, chain))

    def _propose_together(
        self, facts: tuple[GroundFact, ...], graph: StateGraph, chain: tuple[GroundFact, ...]
    ) -> Proposal:
        names = LiftedNames(self.weights)
        body = names.print_facts(facts)
        text = f"(:process {NAME} :parameters ({names.print_parameters()}) :forbid {body})"
        suspicions = self._list_suspicions(facts, {object_ for fact in facts for object_ in fact.objects})
        return make_proposal("together", text, suspicions, links=graph.count_links(chain))

    # -- steps --------------------------------------------------------------------------------------------------------

    def propose_step_near_suspicious(self, step: GroundAction, before: StateGraph) -> Iterator[Proposal]:
        """A step alone, and with each suspicious fact near its objects that it does not need."""
        binding = step.binding
        preconditions = {
            GroundFact(part.predicate, ground(part.arguments, binding))
            for part in step.action.start.condition
            if isinstance(part, Atom)
        }
        step_key = (step.action.name, step.objects)
        yield self._get_cached(step_key, partial(self._propose_step, step, (), 0))
        for item in before.items:
            chain = before.find_chain(step.objects, item.objects)
            if item.fact is None or item.fact in preconditions or chain is None or len(chain) > MAX_CHAIN:
                continue
            facts = self._join_facts(chain, item)
            propose = partial(self._propose_step, step, facts, before.count_links(chain))
            yield self._get_cached((*step_key, facts), propose)

    def _propose_step(self, step: GroundAction, facts: tuple[GroundFact, ...], links: int) -> Proposal:
        weights = self.weights
        objects = {object_ for fact in facts for object_ in fact.objects}
        most_suspicious_types = {object_: weights.find_most_suspicious_type(object_) for object_ in step.objects}
        objects |= {object_ for object_, type_ in most_suspicious_types.items() if weights.types[type_].weight}
        names = LiftedNames(weights)
        pattern = names.print_step(step, objects)
        body = names.print_facts(facts)
        text = f"(:process {NAME} :parameters ({names.print_parameters()}) :on {pattern} :forbid {body})"
        suspicions = [weights.actions[step.action.name], *self._list_suspicions(facts, objects)]
        return make_proposal("while", text, suspicions, links=links)

    def propose_repeated_steps(self, step: GroundAction) -> Iterator[Proposal]:
        """A step that was taken before, and now changes nothing."""
        yield self._get_cached(("again", step.action.name, step.objects), partial(self._propose_repeated, step))

    def _propose_repeated(self, step: GroundAction) -> Proposal:
        names, action = LiftedNames(self.weights), step.action.name
        pattern = f"(action {names.print_step(step, set(step.objects))})"
        text = (
            f"(:trajectory {NAME} :parameters ({names.print_parameters()}) "
            f":formula (always (imply {pattern} (weak-next (always (not {pattern}))))))"
        )
        twice = Suspicion(FORBIDDEN_WEIGHT, f"`{action}` is done twice, without any effect in the domain")
        suspicions = [self.weights.actions[action], twice, *self._list_suspicions((), set(step.objects))]
        return make_proposal("again", text, suspicions)

    # -- the final state ----------------------------------------------------------------------------------------------

    def propose_facts_left_at_goal(self, end: StateGraph) -> Iterator[Proposal]:
        """Facts that are true when the goal is reached, were false in S0, and are not in the goal."""
        object_facts = [item.fact for item in self.task_graph.items if item.fact is not None and len(item.objects) == 1]
        for fact in end.changing_facts:
            if self.task_graph.is_new(fact) and fact not in self._goal_facts:
                for unary_fact in (
                    None,
                    *[item_fact for item_fact in object_facts if item_fact.objects[0] in fact.objects],
                ):
                    yield self._get_cached(("left", fact, unary_fact), partial(self._propose_left, fact, unary_fact))

    def _propose_left(self, fact: GroundFact, unary_fact: GroundFact | None) -> Proposal:
        names = LiftedNames(self.weights)
        body = names.print_facts([fact])
        when = f" :when {names.print_facts([unary_fact])}" if unary_fact is not None else ""
        text = f"(:termination {NAME} :parameters ({names.print_parameters()}){when} :forbid {body})"
        facts = (fact,) if unary_fact is None else (fact, unary_fact)
        left = Suspicion(LEFT_WEIGHT, f"`{self.task.predicates[fact.predicate].name}` is left at the end")
        suspicions = [*self._list_suspicions(facts, set(fact.objects)), left]
        return make_proposal("left", text, suspicions, SC.GAP_LEFT_BEHIND)

    # -- numbers ------------------------------------------------------------------------------------------------------

    def propose_exceeded_limits(self, state: State) -> Iterator[Proposal]:
        """A fluent above a static fluent of the same objects, which no rule and no action reads."""
        for changing, limit in self.weights.limits:
            for code, number in state.fluents[changing].items():
                if number > state.fluents[limit].get(code, number):
                    yield self._get_cached(
                        ("beyond", changing, limit), partial(self._propose_limit, changing, limit, code)
                    )

    def _propose_limit(self, changing: int, limit: int, code: int) -> Proposal:
        task, names = self.task, LiftedNames(self.weights)
        arguments = [names.name_variable(object_) for object_ in task.decode(code, len(task.functions[changing].types))]
        small, large = [f"({' '.join([task.functions[function].name, *arguments])})" for function in (changing, limit)]
        text = f"(:process {NAME} :parameters ({names.print_parameters()}) :require (<= {small} {large}))"
        unread = Suspicion(UNREAD_WEIGHT, f"no rule and no action reads the limit `{large}`")
        return make_proposal("beyond", text, [unread])
