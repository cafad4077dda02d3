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
MAX_TRIED = 40
"""Number of steps of a moment that are tried for questions about rules."""
LARGE = 100
"""With more objects than this, questions are only about the objects of the plan and objects near them."""


class Asks(StrEnum):
    """The kinds of questions."""

    EFFECTS = "effects"
    NEEDS = "needs"
    PLACE = "place"
    AFTER = "after"
    CONTENTS = "contents"
    RULES = "rules"


class Question(NamedTuple):
    """A question about the state after ``steps``.

    ``about``: the steps that the question names. ``entity``: the object that it names. ``scene``: the relevant part of
    the state.
    """

    asks: Asks
    steps: tuple[str, ...]
    about: tuple[str, ...]
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

    ``upcoming``: the next steps of the plan. ``focus``: the objects of the plan. ``world``: the shipped domain.
    """

    def __init__(
        self, monitor: Monitor, steps: tuple[str, ...], upcoming: tuple[str, ...], focus: Sequence[int], world: str
    ) -> None:
        self._monitor, self._steps, self._upcoming, self._world = monitor, steps, upcoming, world
        self._focus = focus
        self._now = monitor.now()
        self._facts = StateFacts(monitor.task, self._now.state, world)
        self._acting = set(monitor.engine.action_predicates.values())

    def questions(self, random: Random) -> Iterator[Question]:
        """Some questions of each kind, drawn by ``random``."""
        legal, entities = _spread(self._now.legal(), random), self._facts.movable()
        if len(self._monitor.task.objects) > LARGE:
            near = set(self._facts.near(self._focus))
            legal = [step for step in legal if near.issuperset(step.objects)]
            entities = [entity for entity in entities if entity in near]
        later = [step for text in self._upcoming if isinstance(step := self._monitor.step(text), GroundAction)]
        for step in [*later[:1], *legal[:2]]:
            yield from self.effects(step)
        for step in [*later[1:4], *legal[2:3]]:
            yield from self.needs(step)
        yield from self._rules(legal)
        moved = [entity for entity in entities if any([entity in step.objects for step in later])]
        chosen = [*random.sample(moved, min(2, len(moved))), *random.sample(entities, min(1, len(entities)))]
        for entity in dict.fromkeys(chosen):
            yield from self.place(entity)
        for entity in random.sample(moved, min(1, len(moved))):
            yield from self.after(entity, later[: random.randint(1, 4)])
        holders = sorted({objects[-1] for entity in entities for _, objects in self._facts.places(entity)[:1]})
        for place in random.sample(holders, min(2, len(holders))):
            yield from self.contents(place)

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
        scene_objects = self._facts.touched(step)
        yield from self._question(Asks.EFFECTS, (step,), "", scene_objects, "What does {} change?", answer or [NOTHING])

    def needs(self, step: GroundAction) -> Iterator[Question]:
        """Which conditions of a step do not hold."""
        state = self._now.state
        evaluator = Evaluator(self._monitor.task, state.facts, state.fluents)
        condition = And(step.action.start.condition)
        unmet = [part for part in conjuncts(condition) if evaluator.holds(part, step.binding) is not True]
        if any([self._fixed(part) for part in unmet]) or (not unmet and self._now.after(step) is None):
            return  # no step can make it true; or the effects of the step contradict each other
        answer = [bare(formula_text(self._monitor.task, part, step.binding)) for part in unmet]
        scene_objects = self._facts.touched(step)
        yield from self._question(
            Asks.NEEDS, (step,), "", scene_objects, "What is missing for {}?", answer or [NOTHING]
        )

    def rules(self, step: GroundAction) -> Iterator[Question]:
        """Which safety rules a step breaks."""
        broken = self._broken(step)
        if broken is not None:
            scene_objects = self._facts.near(
                self._facts.touched(step)
            )  # as much if no rule is broken: the length tells nothing
            yield from self._question(
                Asks.RULES, (step,), "", scene_objects, "Which rule does {} break?", broken or [NOTHING]
            )

    def place(self, entity: int) -> Iterator[Question]:
        """The place of a thing."""
        places = self._facts.places(entity)
        if places:
            name = self._monitor.task.objects[entity]
            yield from self._question(Asks.PLACE, (), name, [entity], f"Where is {name}?", [self._facts.words(places)])

    def after(self, entity: int, steps: list[GroundAction]) -> Iterator[Question]:
        """The place of a thing after some steps."""
        then = self._now
        for step in steps:
            upcoming = then.after(step)
            if upcoming is None:
                return
            then = upcoming
        facts = StateFacts(self._monitor.task, then.state, self._world)
        places = facts.places(entity)
        if places and steps:
            name = self._monitor.task.objects[entity]
            scene_objects = [entity, *[number for step in steps for number in self._facts.touched(step)]]
            text = f"Where is {name} after {' '.join(['{}'] * len(steps))}?"
            yield from self._question(Asks.AFTER, tuple(steps), name, scene_objects, text, [facts.words(places)])

    def contents(self, place: int) -> Iterator[Question]:
        """The things at a place."""
        names = self._monitor.task.objects
        entities = self._facts.contents(place)
        answer = [names[entity] for entity in entities] or [NOTHING]
        text = f"What is at {names[place]}?"
        yield from self._question(Asks.CONTENTS, (), names[place], [place, *entities], text, answer)

    def _rules(self, legal: list[GroundAction]) -> Iterator[Question]:
        """Equally many steps that break a rule and that break none, if possible."""
        tried = [(step, self._broken(step)) for step in legal[:MAX_TRIED]]
        breaking = [step for step, broken in tried if broken][:2]
        for step in [*breaking, *[step for step, broken in tried if broken == []][: max(1, len(breaking))]]:
            yield from self.rules(step)

    def _broken(self, step: GroundAction) -> list[str] | None:
        """The rules that a step breaks, with their messages; ``None`` if it cannot be executed."""
        advice = self._monitor.allowed(self._text(step))
        return [f"{broken.rule}: {broken.message}" for broken in advice.breaks] if advice.executable else None

    def _question(
        self,
        asks: Asks,
        steps: tuple[GroundAction, ...],
        entity: str,
        scene_objects: list[int],
        text: str,
        answer: list[str],
    ) -> Iterator[Question]:
        joined = ", ".join(answer)
        if len(answer) <= MAX_FACTS and len(joined) <= MAX_LETTERS:
            about = tuple([self._text(step) for step in steps])
            scene = self._facts.text(scene_objects)
            yield Question(asks, self._steps, about, entity, scene, text.format(*about), joined)

    def _text(self, step: GroundAction) -> str:
        return step_text(step, self._monitor.task.objects)

    def _fixed(self, part: Formula) -> bool:
        """Whether no step can change the facts that a condition reads."""
        return all([self._monitor.task.static[atom.predicate] for atom in atoms_in(part)])


def _spread(legal: Iterator[GroundAction], random: Random) -> list[GroundAction]:
    """Legal steps in a random order; rare actions come as early as frequent ones."""
    by_name: dict[str, list[GroundAction]] = {}
    for step in legal:
        by_name.setdefault(step.action.name, []).append(step)
    order = []
    for name in sorted(by_name):
        steps = by_name[name]
        random.shuffle(steps)
        order += [(number + random.random(), step) for number, step in enumerate(steps)]
    return [step for _, step in sorted(order, key=lambda pair: pair[0])]
