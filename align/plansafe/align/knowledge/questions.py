"""Questions about one moment of a plan, with the engine's answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from random import Random
from typing import NamedTuple

from plansafe.align.knowledge.state_facts import StateFacts
from plansafe.align.prompts import bare
from plansafe.verifier.execution.online_monitor import Monitor
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Formula
from plansafe.verifier.model.operations import atoms_in, conjuncts
from plansafe.verifier.model.printing import formula_text

MAX_FACTS = 8
MAX_LETTERS = 200
"""Limits of an answer; questions with longer answers are left out."""
NOTHING = "nothing"


class Asks(StrEnum):
    """The kinds of questions."""

    EFFECTS = "effects"
    NEEDS = "needs"
    PLACE = "place"


class Question(NamedTuple):
    """A question about the state after ``steps``.

    ``about``: the step that the question names. ``entity``: the object that it names. ``scene``: the relevant part of
    the state.
    """

    asks: Asks
    steps: tuple[str, ...]
    about: str
    entity: str
    scene: str
    text: str
    answer: str

    @property
    def prompt(self) -> str:
        """The prompt of a model."""
        return f"{self.scene}\nQuestion: {self.text}\nAnswer:\n"


class Moment:
    """A moment of a plan, and its questions.

    ``upcoming``: the next steps of the plan. ``world``: the shipped domain.
    """

    def __init__(self, monitor: Monitor, steps: tuple[str, ...], upcoming: Sequence[str], world: str) -> None:
        self._monitor, self._steps = monitor, steps
        self._upcoming = [step for text in upcoming if isinstance(step := monitor.step(text), GroundAction)]
        self._now = monitor.now()
        self._facts = StateFacts(monitor.task, self._now.state, world)
        self._acting = set(monitor.engine.action_predicates.values())

    def questions(self, random: Random) -> Iterator[Question]:
        """Questions about the next steps of the plan, other steps with their objects, and some of these objects."""
        objects = {entity for step in self._upcoming for entity in step.objects}
        legal = [
            step
            for step in self._now.legal()
            if objects.issuperset(step.objects) and len(set(step.objects)) == len(step.objects)
        ]
        for step in [*self._upcoming[:1], *random.sample(legal, min(3, len(legal)))]:
            yield from self.effects(step)
        for step in self._upcoming[1:4]:
            yield from self.needs(step)
        entities = sorted([entity for entity in objects if self._facts.places(entity)])
        for entity in random.sample(entities, min(2, len(entities))):
            yield self.place(entity)

    def effects(self, step: GroundAction) -> Iterator[Question]:
        """Which facts become true, and which become false, by a step."""
        upcoming = self._now.after(step)
        if upcoming is None:
            return
        task, before, after = self._monitor.task, self._now.state, upcoming.state
        true: list[str] = []
        false: list[str] = []
        numbers: list[str] = []
        for index, code in dict.fromkeys([(index, code) for index, code, _ in upcoming.changed]):
            if index >= len(task.predicates):
                function = index - len(task.predicates)
                value = after.fluents[function].get(code)
                if value != before.fluents[function].get(code):
                    numbers.append(f"{bare(task.fluent_text(function, code))} = {value}")
                continue
            size = len(task.predicates[index].types)
            if size and index not in self._acting and (code in after.facts[index]) != (code in before.facts[index]):
                text = self._facts.fact(index, task.decode(code, size))
                (true if code in after.facts[index] else false).append(text)
        answer = [*sorted(true), *[f"not {text}" for text in sorted(false)], *sorted(numbers)]
        yield from self._about_step(Asks.EFFECTS, step, "What does {} change?", answer)

    def needs(self, step: GroundAction) -> Iterator[Question]:
        """Which conditions of a step do not hold."""
        state = self._now.state
        evaluator = Evaluator(self._monitor.task, state.facts, state.fluents)
        condition = And(step.action.start.condition)
        unmet = [part for part in conjuncts(condition) if evaluator.holds(part, step.binding) is not True]
        if any([self._fixed(part) for part in unmet]) or (not unmet and self._now.after(step) is None):
            return  # no step can make it true; or the effects of the step contradict each other
        answer = [bare(formula_text(self._monitor.task, part, step.binding)) for part in unmet]
        yield from self._about_step(Asks.NEEDS, step, "What is missing for {}?", answer)

    def place(self, entity: int) -> Question:
        """The place of a thing."""
        name = self._monitor.task.objects[entity]
        answer = self._facts.words(self._facts.places(entity))
        return Question(Asks.PLACE, self._steps, "", name, self._facts.text([entity]), f"Where is {name}?", answer)

    def _about_step(self, asks: Asks, step: GroundAction, text: str, answer: list[str]) -> Iterator[Question]:
        joined = ", ".join(answer) or NOTHING
        if len(answer) <= MAX_FACTS and len(joined) <= MAX_LETTERS:
            about = step_text(step, self._monitor.task.objects)
            scene = self._facts.text(self._facts.touched(step))
            yield Question(asks, self._steps, about, "", scene, text.format(about), joined)

    def _fixed(self, part: Formula) -> bool:
        """Whether no step can change the facts that a condition reads."""
        return all([self._monitor.task.static[atom.predicate] for atom in atoms_in(part)])
