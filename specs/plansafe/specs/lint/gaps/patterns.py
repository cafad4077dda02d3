"""Propose rules against patterns in safe plans.

Patterns: suspicious facts and objects together, a step next to them, a repeated step, facts left at the end, a number
above its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

from plansafe.grammar.codes import SC
from plansafe.specs.lint.gaps.proposals import NAME_PLACEHOLDER, GroundFact, Proposal, VariableNames, make_proposal
from plansafe.specs.lint.gaps.state_graph import StateGraph, SuspiciousItem, TaskGraph
from plansafe.specs.lint.gaps.suspicion import FORBIDDEN_WEIGHT, UNREAD_WEIGHT, Suspicion
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Atom, ground

MAX_CHAIN_LENGTH = 2
"""How many facts may connect a step with a suspicious fact."""
LEFT_FACT_WEIGHT = 0.5
"""The weight of a fact that is left at the end."""


class ProposalPatterns:
    """Makes proposals from states and steps. A repeated case returns the same :class:`Proposal` object."""

    def __init__(self, task_graph: TaskGraph) -> None:
        self.task_graph = task_graph
        self.task = task_graph.task
        self.task_suspicions = task_graph.task_suspicions
        self._proposals: dict[object, Proposal] = {}
        self._goal_facts = {
            GroundFact(part.predicate, part.arguments) for part in self.task.goal if isinstance(part, Atom)
        }

    def _get_proposal(self, key: object, propose: Callable[[], Proposal]) -> Proposal:
        if key not in self._proposals:
            self._proposals[key] = propose()
        return self._proposals[key]

    def _list_suspicions(self, facts: tuple[GroundFact, ...], objects: set[int]) -> list[Suspicion]:
        task_suspicions = self.task_suspicions
        types = [task_suspicions.find_most_suspicious_type(object_) for object_ in objects]
        suspicions = [task_suspicions.predicate_suspicions[fact.predicate] for fact in facts]
        return suspicions + [task_suspicions.type_suspicions[type_number] for type_number in types]

    def _join_facts(self, chain: tuple[GroundFact, ...] | None, *items: SuspiciousItem) -> tuple[GroundFact, ...]:
        """Join the facts of a chain and of items, the most suspicious first."""
        facts = {*(chain or ()), *[item.fact for item in items if item.fact is not None]}
        suspicions = self.task_suspicions.predicate_suspicions
        return tuple(sorted(facts, key=lambda fact: (-suspicions[fact.predicate].weight, fact)))

    # -- together -----------------------------------------------------------------------------------------------------

    def propose_items_together(self, graph: StateGraph) -> Iterator[Proposal]:
        """Propose to forbid two suspicious items that a chain of facts connects, if not all facts are true in S0."""
        for first, second in combinations(graph.items, 2):
            chain = graph.find_chain(first.objects, second.objects)
            facts = self._join_facts(chain, first, second)
            if chain is not None and any([self.task_graph.is_initially_false(fact) for fact in facts]):
                yield self._get_proposal(facts, partial(self._propose_items_together, facts, graph, chain))

    def _propose_items_together(
        self, facts: tuple[GroundFact, ...], graph: StateGraph, chain: tuple[GroundFact, ...]
    ) -> Proposal:
        names = VariableNames(self.task_suspicions)
        body = names.format_facts(facts)
        text = f"(:process {NAME_PLACEHOLDER} :parameters ({names.format_parameters()}) :forbid {body})"
        suspicions = self._list_suspicions(facts, {object_ for fact in facts for object_ in fact.objects})
        return make_proposal("together", text, suspicions, links=graph.count_links(chain))

    # -- steps --------------------------------------------------------------------------------------------------------

    def propose_steps_near_facts(self, step: GroundAction, before: StateGraph) -> Iterator[Proposal]:
        """Propose to forbid a step, and the step with each suspicious fact near its objects that it does not need."""
        binding = step.binding
        preconditions = {
            GroundFact(part.predicate, ground(part.arguments, binding))
            for part in step.action.start.condition
            if isinstance(part, Atom)
        }
        step_key = (step.action.name, step.objects)
        yield self._get_proposal(step_key, partial(self._propose_step, step, (), 0))
        for item in before.items:
            chain = before.find_chain(step.objects, item.objects)
            if item.fact is None or item.fact in preconditions or chain is None or len(chain) > MAX_CHAIN_LENGTH:
                continue
            facts = self._join_facts(chain, item)
            propose = partial(self._propose_step, step, facts, before.count_links(chain))
            yield self._get_proposal((*step_key, facts), propose)

    def _propose_step(self, step: GroundAction, facts: tuple[GroundFact, ...], links: int) -> Proposal:
        task_suspicions = self.task_suspicions
        objects = {object_ for fact in facts for object_ in fact.objects}
        type_by_object = {object_: task_suspicions.find_most_suspicious_type(object_) for object_ in step.objects}
        objects |= {
            object_ for object_, type_ in type_by_object.items() if task_suspicions.type_suspicions[type_].weight
        }
        names = VariableNames(task_suspicions)
        pattern = names.format_step(step, objects)
        body = names.format_facts(facts)
        text = f"(:process {NAME_PLACEHOLDER} :parameters ({names.format_parameters()}) :on {pattern} :forbid {body})"
        suspicions = [task_suspicions.action_suspicions[step.action.name], *self._list_suspicions(facts, objects)]
        return make_proposal("while", text, suspicions, links=links)

    def propose_repeated_step(self, step: GroundAction) -> Iterator[Proposal]:
        """Propose to forbid that a step, which now changes nothing, is taken twice."""
        yield self._get_proposal(("again", step.action.name, step.objects), partial(self._propose_repeated_step, step))

    def _propose_repeated_step(self, step: GroundAction) -> Proposal:
        names, action = VariableNames(self.task_suspicions), step.action.name
        pattern = f"(action {names.format_step(step, set(step.objects))})"
        text = (
            f"(:trajectory {NAME_PLACEHOLDER} :parameters ({names.format_parameters()}) "
            f":formula (always (imply {pattern} (weak-next (always (not {pattern}))))))"
        )
        twice = Suspicion(FORBIDDEN_WEIGHT, f"`{action}` is done twice, without any effect in the domain")
        suspicions = [
            self.task_suspicions.action_suspicions[action],
            twice,
            *self._list_suspicions((), set(step.objects)),
        ]
        return make_proposal("again", text, suspicions)

    # -- the final state ----------------------------------------------------------------------------------------------

    def propose_left_facts(self, end: StateGraph) -> Iterator[Proposal]:
        """Propose to forbid final facts that were false in S0 and are not in the goal, also for a kind of object."""
        unary_facts = [item.fact for item in self.task_graph.items if item.fact is not None and len(item.objects) == 1]
        for fact in end.changing_facts:
            if self.task_graph.is_initially_false(fact) and fact not in self._goal_facts:
                related_facts = [unary_fact for unary_fact in unary_facts if unary_fact.objects[0] in fact.objects]
                for condition in (None, *related_facts):
                    propose = partial(self._propose_left_fact, fact, condition)
                    yield self._get_proposal(("left", fact, condition), propose)

    def _propose_left_fact(self, fact: GroundFact, condition: GroundFact | None) -> Proposal:
        names = VariableNames(self.task_suspicions)
        body = names.format_facts([fact])
        when = f" :when {names.format_facts([condition])}" if condition is not None else ""
        text = f"(:termination {NAME_PLACEHOLDER} :parameters ({names.format_parameters()}){when} :forbid {body})"
        facts = (fact,) if condition is None else (fact, condition)
        left = Suspicion(LEFT_FACT_WEIGHT, f"`{self.task.predicates[fact.predicate].name}` is left at the end")
        suspicions = [*self._list_suspicions(facts, set(fact.objects)), left]
        return make_proposal("left", text, suspicions, SC.GAP_LEFT_BEHIND)

    # -- numbers ------------------------------------------------------------------------------------------------------

    def propose_exceeded_limits(self, state: State) -> Iterator[Proposal]:
        """Propose to limit fluents by a static fluent of the same objects that no rule and no action reads."""
        for changing_function, limit_function in self.task_suspicions.limit_pairs:
            for code, number in state.fluents[changing_function].items():
                if number > state.fluents[limit_function].get(code, number):
                    yield self._get_proposal(
                        ("beyond", changing_function, limit_function),
                        partial(self._propose_number_limit, changing_function, limit_function, code),
                    )

    def _propose_number_limit(self, changing_function: int, limit_function: int, code: int) -> Proposal:
        task, names = self.task, VariableNames(self.task_suspicions)
        arguments = [
            names.get_variable(object_) for object_ in task.decode(code, len(task.functions[changing_function].types))
        ]
        small, large = [
            f"({' '.join([task.functions[function].name, *arguments])})"
            for function in (changing_function, limit_function)
        ]
        text = f"(:process {NAME_PLACEHOLDER} :parameters ({names.format_parameters()}) :require (<= {small} {large}))"
        unread = Suspicion(UNREAD_WEIGHT, f"no rule and no action reads the limit `{large}`")
        return make_proposal("beyond", text, [unread])
