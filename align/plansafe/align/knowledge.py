"""Questions about one moment of a plan, with the engine's answers.

The facts of a state by their objects: places, and the part of the state that a question shows.

Questions about many tasks, as lines for SFT: determined by the seed, each question once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from random import Random
from typing import NamedTuple

from plansafe.align.pairs.splits import split_of
from plansafe.align.prompts import bare, scene_lines
from plansafe.align.records import SftLine
from plansafe.align.tasks import AlignTask, scenario_origins, task_of, virtualhome_origins
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.prompts.crop import Crop
from plansafe.llm.prompts.prompt_options import tokens_of
from plansafe.verifier.execution.one_world import NeedsOneWorld
from plansafe.verifier.execution.online_monitor import Monitor
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Formula, Task
from plansafe.verifier.model.operations import conjuncts, find_atoms
from plansafe.verifier.model.printing import format_formula

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
        answer = [bare(format_formula(self._monitor.task, part, step.binding)) for part in unmet]
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
        return all([self._monitor.task.static[atom.predicate] for atom in find_atoms(part)])


_FORWARD, _BACKWARD = (0, 1), (1, 0)
PLACES: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "household": {
        **dict.fromkeys(("on", "inside", "present", "in-room"), _FORWARD),
        **dict.fromkeys(("contains", "holding", "has"), _BACKWARD),
    },
    "virtualhome": {
        **dict.fromkeys(("on_top", "inside", "worn", "in_room"), _FORWARD),
        **dict.fromkeys(("holds_rh", "holds_lh"), _BACKWARD),
    },
}
"""For each world, the predicates that say where something is, with the arguments of the thing and of its place."""
MAX_TOUCHED = 24
_MAX_DEPTH = 3
_Fact = tuple[int, tuple[int, ...]]
"""A predicate and its objects."""


class StateFacts:
    """The facts of one state, indexed by their objects."""

    def __init__(self, task: Task, state: State, world: str) -> None:
        self.task, self.state = task, state
        self._by_object: dict[tuple[int, int, int], list[tuple[int, ...]]] = {}
        self._indexed: set[int] = set()
        self._places = {
            index: roles
            for index, predicate in enumerate(task.predicates)
            if len(predicate.types) == 2 and (roles := PLACES.get(world, {}).get(predicate.name)) is not None
        }

    def facts_of(self, predicate: int, argument: int, object: int) -> Sequence[tuple[int, ...]]:
        """The facts of a predicate that have an object as this argument, in order."""
        if predicate not in self._indexed:
            self._indexed.add(predicate)
            size = len(self.task.predicates[predicate].types)
            for code in sorted(self.state.facts[predicate]):
                objects = tuple(self.task.decode(code, size))
                for place, number in enumerate(objects):
                    self._by_object.setdefault((predicate, place, number), []).append(objects)
        return self._by_object.get((predicate, argument, object), ())

    def places(self, entity: int) -> list[_Fact]:
        """The place of a thing, the place of that place, and so on, as facts; the nearest first."""
        facts: dict[_Fact, None] = {}
        level, reached = [entity], {entity}
        for _ in range(_MAX_DEPTH):
            next_level: list[int] = []
            for item in level:
                for index, (entity_at, place_at) in self._places.items():
                    for objects in self.facts_of(index, entity_at, item):
                        facts.setdefault((index, objects))
                        if objects[place_at] not in reached:
                            reached.add(objects[place_at])
                            next_level.append(objects[place_at])
            level = next_level
        return list(facts)

    def touched(self, step: GroundAction) -> list[int]:
        """The objects of a step, and objects connected with them by facts that its conditions read."""
        binding = step.binding
        numbers = dict.fromkeys(step.objects)
        conditions = [*step.action.start.condition, *[effect.condition for effect in step.action.start.effects]]
        for atom in [atom for condition in conditions for atom in find_atoms(condition)]:
            arguments = [(place, a if a >= 0 else binding.get(-1 - a)) for place, a in enumerate(atom.arguments)]
            bound = [(place, number) for place, number in arguments if number is not None]
            for objects in self.facts_of(atom.predicate, *bound[0]) if bound else ():
                if all([objects[place] == number for place, number in bound]) and len(numbers) < MAX_TOUCHED:
                    numbers.update(dict.fromkeys(objects))
        return list(numbers)

    def text(self, objects: Iterable[int]) -> str:
        """The part of the state about these objects and their places, in the words of a prompt for plans."""
        scene_objects: set[int] = set()
        for item in objects:
            scene_objects |= {item, *[number for _, fact in self.places(item) for number in fact]}
        facts: list[set[int]] = []
        for index, predicate in enumerate(self.task.predicates):
            of_shown = (
                {fact for item in scene_objects for fact in self.facts_of(index, 0, item)} if predicate.types else set()
            )
            facts.append({self.task.encode(fact) for fact in of_shown if scene_objects.issuperset(fact)})
        now = self.task._replace(initial_facts=facts, initial_fluents=self.state.fluents)
        return "\n".join(scene_lines(now, Crop(frozenset(scene_objects), frozenset(scene_objects), frozenset())))

    def words(self, facts: Collection[_Fact]) -> str:
        """Facts as in the goal of a prompt, separated by commas."""
        return ", ".join([self.fact(index, objects) for index, objects in facts])

    def fact(self, predicate: int, objects: Sequence[int]) -> str:
        """A fact without parentheses."""
        return " ".join([self.task.predicates[predicate].name, *[self.task.objects[number] for number in objects]])


MAX_TOKENS = 300
"""Tokens of a question with its answer, by :func:`~plansafe.llm.prompts.prompt_options.tokens_of`."""
MAX_OF_A_KIND = 10
"""Questions of a kind about a task."""
MAX_MOMENTS = 10
TRACES = 3
"""The plan of the task, and random deviations from it."""
_DEVIATION = 0.4
"""The share of random steps in a deviation."""
SCRIPTS = 80
"""Number of scripts of VirtualHome: each takes seconds."""


def origins(drawn: int, seed: int, data: str | None) -> list[str]:
    """The tasks: ``drawn`` draws of each family, shipped scenarios, and some scripts of VirtualHome, in random order.

    Raises ``OSError`` for data that cannot be read.
    """
    random = Random(f"knowledge/{seed}")
    selected = [f"drawn:{family}/{number}/{seed}" for family in FAMILIES for number in range(drawn)]
    selected += scenario_origins()
    if data is not None:
        scripts = virtualhome_origins(data)
        selected += random.sample(scripts, min(SCRIPTS, len(scripts)))
    random.shuffle(selected)
    return selected


def questions_of(
    origins: Iterable[str], count: int, seed: int, data: str | None = None
) -> Iterator[tuple[Question, SftLine]]:
    """At most ``count`` questions about tasks, each with its line."""
    prompts: set[str] = set()
    for origin in origins:
        task = task_of(origin, data)
        new = {question.prompt: question for question in about(task, seed) if question.prompt not in prompts}
        for question in _chosen(list(new.values()), Random(f"knowledge/{seed}/{origin}/chosen")):
            prompts.add(question.prompt)
            yield question, line_of(task, question)
            if len(prompts) >= count:
                return


def _chosen(questions: list[Question], random: Random) -> list[Question]:
    """Questions of a task, equally many of each kind, few with the answer ``nothing``."""
    random.shuffle(questions)
    chosen: list[Question] = []
    for asks in Asks:
        of_kind = [question for question in questions if question.asks is asks and _fits(question)]
        full = [question for question in of_kind if question.answer != NOTHING][:MAX_OF_A_KIND]
        empty = [question for question in of_kind if question.answer == NOTHING]
        chosen += full + empty[: -(-len(full) // 6)]
    return chosen


def _fits(question: Question) -> bool:
    return tokens_of(question.prompt + question.answer) <= MAX_TOKENS


def line_of(task: AlignTask, question: Question) -> SftLine:
    """The line of a question."""
    side = split_of(task.family)
    answer = f"{question.answer}\n"
    return SftLine(task.name, task.origin, task.family, task.world, side, question.prompt, answer, "knowledge")


def about(task: AlignTask, seed: int) -> Iterator[Question]:
    """Questions along the plan of a task and along deviations; none for a task with several possible worlds."""
    random = Random(f"knowledge/{seed}/{task.origin}")
    plan = tuple(task.reference.splitlines())
    for number in range(TRACES):
        try:
            monitor = Monitor(task.checker.compiled)
        except NeedsOneWorld:
            return
        steps: tuple[str, ...] = ()
        upcoming = plan
        for _ in range(MAX_MOMENTS):
            yield from Moment(monitor, steps, upcoming, task.world).questions(random)
            step = upcoming[0] if upcoming else None
            if number and (step is None or random.random() < _DEVIATION):
                legal = monitor.legal()
                step = random.choice(legal) if legal else None
            if step is None or not monitor.take(step).executable:
                break
            steps += (step,)
            upcoming = upcoming[1:] if upcoming and step == upcoming[0] else upcoming
