"""Questions about one moment of a plan, with the engine's answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from random import Random
from typing import NamedTuple

from plansafe.align.knowledge.told import Told
from plansafe.align.prompts import bare
from plansafe.verifier.execution.online_monitor import Monitor
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Formula
from plansafe.verifier.model.operations import atoms_in, conjuncts
from plansafe.verifier.model.printing import formula_text

MOST_FACTS = 8
MOST_LETTERS = 200
"""Of an answer: what takes more is not asked."""
NOTHING = "nothing"
MOST_TRIED = 40
"""Steps of a moment of which it is asked whether they break a rule."""
LARGE = 100
"""With more objects than this, steps are about what the plan is about, or what is near that."""


class Asks(StrEnum):
    """What is asked for."""

    EFFECTS = "effects"
    NEEDS = "needs"
    PLACE = "place"
    AFTER = "after"
    CONTENTS = "contents"
    RULES = "rules"


class Question(NamedTuple):
    """A question in the state behind ``steps``.

    ``about``: the steps that it names (of ``after``: those that are taken then), or nothing. ``thing``: the object that
    it names. ``told``: the state as far as it bears on the answer.
    """

    asks: Asks
    steps: tuple[str, ...]
    about: tuple[str, ...]
    thing: str
    told: str
    text: str
    answer: str

    @property
    def prompt(self) -> str:
        """What a model is given."""
        return f"{self.told}\nQuestion: {self.text}\nAnswer:\n"


class Moment:
    """A moment of a plan, and what can be asked about it.

    ``ahead``: the steps that the plan goes on with. ``focus``: the objects that it is about. ``world``: the name of the
    shipped domain.
    """

    def __init__(
        self, monitor: Monitor, steps: tuple[str, ...], ahead: tuple[str, ...], focus: Sequence[int], world: str
    ) -> None:
        self._monitor, self._steps, self._ahead, self._world = monitor, steps, ahead, world
        self._focus = focus
        self._now = monitor.now()
        self._told = Told(monitor.task, self._now.state, world)
        self._acting = set(monitor.engine.action_predicates.values())

    def questions(self, random: Random) -> Iterator[Question]:
        """Some questions of each kind. Which ones, ``random`` decides."""
        legal, things = _spread(self._now.legal(), random), self._told.movable()
        if len(self._monitor.task.objects) > LARGE:
            near = set(self._told.near(self._focus))
            legal = [step for step in legal if near.issuperset(step.objects)]
            things = [thing for thing in things if thing in near]
        later = [step for text in self._ahead if isinstance(step := self._monitor.step(text), GroundAction)]
        for step in [*later[:1], *legal[:2]]:
            yield from self.effects(step)
        for step in [*later[1:4], *legal[2:3]]:
            yield from self.needs(step)
        yield from self._rules(legal)
        moved = [one for one in things if any([one in step.objects for step in later])]
        chosen = [*random.sample(moved, min(2, len(moved))), *random.sample(things, min(1, len(things)))]
        for thing in dict.fromkeys(chosen):
            yield from self.place(thing)
        for thing in random.sample(moved, min(1, len(moved))):
            yield from self.after(thing, later[: random.randint(1, 4)])
        holders = sorted({objects[-1] for thing in things for _, objects in self._told.places(thing)[:1]})
        for place in random.sample(holders, min(2, len(holders))):
            yield from self.contents(place)

    def effects(self, step: GroundAction) -> Iterator[Question]:
        """What a step changes: facts that become true, and facts that become false."""
        ahead = self._now.after(step)
        if ahead is None:
            return
        task, before, after = self._monitor.task, self._now.state, ahead.state
        true: list[str] = []
        false: list[str] = []
        numbers: list[str] = []
        for index, code in dict.fromkeys([(index, code) for index, code, _ in ahead.changed]):
            if index >= len(task.predicates):
                function = index - len(task.predicates)
                value = after.fluents[function].get(code)
                if value != before.fluents[function].get(code):
                    numbers.append(f"{bare(task.fluent_text(function, code))} = {value}")
                continue
            size = len(task.predicates[index].types)
            if size and index not in self._acting and (code in after.facts[index]) != (code in before.facts[index]):
                text = self._told.fact(index, task.decode(code, size))
                (true if code in after.facts[index] else false).append(text)
        answer = [*sorted(true), *[f"not {text}" for text in sorted(false)], *sorted(numbers)]
        shown = self._told.touched(step)
        yield from self._asked(Asks.EFFECTS, (step,), "", shown, "What does {} change?", answer or [NOTHING])

    def needs(self, step: GroundAction) -> Iterator[Question]:
        """What must be true before a step can be taken, and is not yet."""
        state = self._now.state
        evaluator = Evaluator(self._monitor.task, state.facts, state.fluents)
        condition = And(step.action.start.condition)
        unmet = [part for part in conjuncts(condition) if evaluator.holds(part, step.binding) is not True]
        if any([self._fixed(part) for part in unmet]) or (not unmet and self._now.after(step) is None):
            return  # nothing that is done makes it true; or its effects, not its condition, are what is wrong
        answer = [bare(formula_text(self._monitor.task, part, step.binding)) for part in unmet]
        shown = self._told.touched(step)
        yield from self._asked(Asks.NEEDS, (step,), "", shown, "What is missing for {}?", answer or [NOTHING])

    def rules(self, step: GroundAction) -> Iterator[Question]:
        """Which safety rules a step breaks."""
        broken = self._broken(step)
        if broken is not None:
            shown = self._told.near(self._told.touched(step))  # as much where none is broken: or that gave it away
            yield from self._asked(Asks.RULES, (step,), "", shown, "Which rule does {} break?", broken or [NOTHING])

    def place(self, thing: int) -> Iterator[Question]:
        """Where a thing is."""
        places = self._told.places(thing)
        if places:
            name = self._monitor.task.objects[thing]
            yield from self._asked(Asks.PLACE, (), name, [thing], f"Where is {name}?", [self._told.words(places)])

    def after(self, thing: int, steps: list[GroundAction]) -> Iterator[Question]:
        """Where a thing will be when some steps have been taken."""
        then = self._now
        for step in steps:
            ahead = then.after(step)
            if ahead is None:
                return
            then = ahead
        told = Told(self._monitor.task, then.state, self._world)
        places = told.places(thing)
        if places and steps:
            name = self._monitor.task.objects[thing]
            shown = [thing, *[one for step in steps for one in self._told.touched(step)]]
            text = f"Where is {name} after {' '.join(['{}'] * len(steps))}?"
            yield from self._asked(Asks.AFTER, tuple(steps), name, shown, text, [told.words(places)])

    def contents(self, place: int) -> Iterator[Question]:
        """What is at a place."""
        names = self._monitor.task.objects
        found = self._told.contents(place)
        answer = [names[one] for one in found] or [NOTHING]
        text = f"What is at {names[place]}?"
        yield from self._asked(Asks.CONTENTS, (), names[place], [place, *found], text, answer)

    def _rules(self, legal: list[GroundAction]) -> Iterator[Question]:
        """As many steps that break a rule as steps that break none, where there are any."""
        found = [(step, self._broken(step)) for step in legal[:MOST_TRIED]]
        breaking = [step for step, broken in found if broken][:2]
        for step in [*breaking, *[step for step, broken in found if broken == []][: max(1, len(breaking))]]:
            yield from self.rules(step)

    def _broken(self, step: GroundAction) -> list[str] | None:
        """The rules that a step breaks, with what they say; ``None`` if it cannot be taken."""
        advice = self._monitor.allowed(self._text(step))
        return [f"{broken.rule}: {broken.message}" for broken in advice.breaks] if advice.executable else None

    def _asked(
        self,
        asks: Asks,
        steps: tuple[GroundAction, ...],
        thing: str,
        shown: list[int],
        text: str,
        answer: list[str],
    ) -> Iterator[Question]:
        said = ", ".join(answer)
        if len(answer) <= MOST_FACTS and len(said) <= MOST_LETTERS:
            about = tuple([self._text(step) for step in steps])
            told = self._told.text(shown)
            yield Question(asks, self._steps, about, thing, told, text.format(*about), said)

    def _text(self, step: GroundAction) -> str:
        return step_text(step, self._monitor.task.objects)

    def _fixed(self, part: Formula) -> bool:
        """Whether no step changes anything that a condition reads."""
        return all([self._monitor.task.static[atom.predicate] for atom in atoms_in(part)])


def _spread(legal: Iterator[GroundAction], random: Random) -> list[GroundAction]:
    """Legal steps in a random order, those of rare actions as early as those of frequent ones."""
    by_name: dict[str, list[GroundAction]] = {}
    for step in legal:
        by_name.setdefault(step.action.name, []).append(step)
    order = []
    for name in sorted(by_name):
        steps = by_name[name]
        random.shuffle(steps)
        order += [(number + random.random(), step) for number, step in enumerate(steps)]
    return [step for _, step in sorted(order, key=lambda one: one[0])]
