"""The action facts of a timed plan: which actions start, end or are under way at each letter, and their steps."""

from __future__ import annotations

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.happening import END, START, Event
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.monitors.rule_set import ActionFact
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction, TimedStep
from plansafe.verifier.model.nodes import bind, match_arguments
from plansafe.verifier.rules.model import find_action_atom


class StepActionFact(NamedTuple):
    """An action fact, with the number of its step."""

    fact: ActionFact
    step: int


class TimedActionFacts:
    """The action facts of one replay of a timed plan, by letter."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._facts_by_letter: dict[int, list[StepActionFact]] = {}

    def announce(
        self, runtime: Runtime, state: State, running: list[TimedStep], events: list[Event], letter_time: LetterTime
    ) -> None:
        """Let the monitors read the actions of a happening, and record the action facts of its letter."""
        action_facts = self._count_matches_under_way(runtime, running)
        happening_facts: list[ActionFact] = []
        for event in events:
            if event.step is not None and isinstance(event.step.resolved, GroundAction):
                action_fact = self.engine.find_action_fact(event.kind, event.step.resolved)
                if action_fact is not None:
                    happening_facts.append(action_fact)
                    action_facts.append(StepActionFact(action_fact, event.step.number))
        self._facts_by_letter[letter_time.letter] = action_facts
        if self.engine.reads_actions:
            runtime.take_actions(state, list(dict.fromkeys(happening_facts)), letter_time)

    def record_last_letter(self, runtime: Runtime, running: list[TimedStep], letter: int) -> None:
        """Record the action facts of the last letter, at which no action starts or ends."""
        self._facts_by_letter[letter] = self._count_matches_under_way(runtime, running)

    def _count_matches_under_way(self, runtime: Runtime, running: list[TimedStep]) -> list[StepActionFact]:
        """Return the action facts of the actions under way, and count their matches with rules about steps."""
        action_facts: list[StepActionFact] = []
        for step in running:
            assert isinstance(step.resolved, GroundAction)
            action_fact = self.engine.find_action_fact("during", step.resolved)
            if action_fact is not None:
                action_facts.append(StepActionFact(action_fact, step.number))
        runtime.count_matches([fact for fact, _ in action_facts])
        return action_facts

    def find_matching_steps(self, violation: Violation) -> list[int]:
        """Return the steps whose action facts match the step pattern of a violated part; empty if it has none."""
        part = self.engine.rule_set.parts[violation.part]
        if part.step is None:
            return []
        atom = find_action_atom(part.step)
        values = bind(part.parameters, violation.binding)
        letter = violation.letter - 1 if part.after else violation.letter
        steps = []
        for (predicate, code), number in self._facts_by_letter.get(letter, ()):
            objects = self.engine.task.decode(code, len(atom.arguments)) if predicate == atom.predicate else None
            if objects is not None and match_arguments(atom.arguments, objects, {}, values) is not None:
                steps.append(number)
        return steps

    def update_state(self, state: State, log: list[StateChange], running: list[TimedStep], events: list[Event]) -> None:
        """Add the action facts of actions that start to the state, and delete those of actions that end.

        ``running``: the steps under way before the events. Changes are added to ``log``.
        """
        ending_numbers = {e.step_number for e in events if e.kind == END}
        for event in sorted(events, key=lambda e: e.kind):  # ends first
            ground_action = None if event.step is None else event.step.resolved
            if not isinstance(ground_action, GroundAction) or ground_action.action.end is None:
                continue
            action_fact = self.engine.find_action_fact("during", ground_action)
            if action_fact is None:
                continue
            predicate, code = action_fact
            codes, starts = state.facts[predicate], event.kind == START
            if not starts and any([s.resolved == ground_action and s.number not in ending_numbers for s in running]):
                continue  # an equal action stays under way
            if starts and code not in codes:
                codes.add(code)
                log.append((predicate, code, True))
            elif not starts and code in codes:
                codes.remove(code)
                log.append((predicate, code, False))
