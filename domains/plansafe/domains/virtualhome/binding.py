"""Choose the objects of a scene for open arguments such as ``<chair> (1)``: the first with which the steps execute.

As the public simulator does, the search tries the objects of the class in the order of the graph, then objects of
equivalent classes, and backtracks if a later step fails: first over the objects of that step, then over any. The number
of steps taken is bounded, and the choice is deterministic.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from plansafe.domains.virtualhome.graph import Mention, SceneObjects, candidates
from plansafe.domains.virtualhome.names import letters_of
from plansafe.domains.virtualhome.script_lines import Argument
from plansafe.domains.world import Scene
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction

_TRIES = 2_000
_TRIES_PER_STEP = 3
_PRODUCT = 200
_MAX_LISTED = 5

OpenPlace = tuple[int, Argument]
"""A position in a step, and the argument at this position."""


class _Choice(NamedTuple):
    """A step at which open arguments are bound: the objects that remain to be tried, and the state before it."""

    step: int
    arguments: tuple[Argument, ...]
    remaining: list[tuple[str, ...]]
    mark: int


def bind(
    lines: list[list[str]],
    waiting: list[tuple[int, int, Argument]],
    mentions: dict[Argument, Mention],
    scene: Scene,
    name: str,
) -> tuple[dict[Argument, str], list[Diagnostic]]:
    """Choose the objects of a script's open arguments; returns them with a note for each choice.

    ``lines`` are the words of the steps, with ``""`` for open arguments; ``waiting`` are their places, and ``mentions``
    has the first mention of each argument.
    """
    data: SceneObjects = scene.data
    if not data.engine:
        data.engine.append(Checker(scene.domain, scene.problem).engine)
    open_at: dict[int, list[OpenPlace]] = {}
    for number, position, argument in waiting:
        open_at.setdefault(number, []).append((position, argument))
    offered = {argument: candidates(argument.word, data) for argument in mentions}
    search = _Search(lines, open_at, offered, data.engine[0])
    bound_objects = search.run()
    for argument in mentions:
        bound_objects.setdefault(argument, search.free(argument, bound_objects)[0])
    notes = [_note(mention, bound_objects[key], offered[key], data, name) for key, mention in mentions.items()]
    return bound_objects, [note for note in notes if note is not None]


def _note(mention: Mention, chosen: str, offered: list[str], data: SceneObjects, name: str) -> Diagnostic | None:
    argument, place = mention
    class_name = data.home.objects[data.numbers[chosen]].class_name
    if len(offered) == 1 and letters_of(class_name) == letters_of(argument.word):
        return None
    written = f"<{argument.word}>" + (f" ({argument.number})" if argument.number else "")
    alternatives = [alternative for alternative in offered if alternative != chosen]
    listed = ", ".join(alternatives[:_MAX_LISTED]) + (
        f" and {len(alternatives) - _MAX_LISTED} more" if len(alternatives) > _MAX_LISTED else ""
    )
    notes = (f"it could also be {listed}",) if alternatives else ()
    advice = (
        f"write `<{argument.word}> (1.NUMBER)` with the number of another object to choose it" if alternatives else None
    )
    return Diagnostic(
        SC.AMBIGUOUS_OBJECT, f"`{written}` is read as {chosen}", (Label(name, place),), notes, advice, Severity.NOTE
    )


class _Search:
    def __init__(
        self,
        lines: list[list[str]],
        open_at: dict[int, list[OpenPlace]],
        offered: dict[Argument, list[str]],
        engine: Engine,
    ) -> None:
        self.lines, self.open_at, self.offered = lines, open_at, offered
        self.resolver = engine.resolver
        self.simulation = Execution(engine)
        self.chosen: dict[Argument, str] = {}
        self.choices: list[_Choice] = []
        self.tries = _TRIES + _TRIES_PER_STEP * len(lines)
        self.given_up: set[int] = set()
        """Steps that fail with every choice; they are skipped."""
        self.lowest: _Choice | None = None
        """The earliest choice that was undone in search of one with which the furthest step executes."""

    def run(self) -> dict[Argument, str]:
        """Execute the steps and choose objects; if a step fails, choose again, or skip it."""
        step, furthest = 0, -1
        best: dict[Argument, str] | None = None  # the choice when the furthest step first failed
        choices: list[_Choice] = []
        while step < len(self.lines):
            if step in self.given_up or self._advance(step):
                step += 1
                if step > furthest:
                    best, self.lowest = None, None
                continue
            if best is None:
                furthest, best, choices = step, dict(self.chosen), self._copied()
            back = self._back(self._arguments(step) | self._arguments(furthest) if choices else None)
            if back is not None:
                step = back
                continue
            if self.lowest is not None:
                self._replay(self.lowest, furthest, best)
            if choices and self.tries > 0:  # the step's own objects are not the cause: try any choice
                self.choices, choices, step = choices, [], furthest
            else:
                self.given_up.add(furthest)
                step, best = furthest, None
            self.lowest = None
        return self.chosen

    def _copied(self) -> list[_Choice]:
        self.tries -= len(self.choices)
        return [choice._replace(remaining=list(choice.remaining)) for choice in self.choices if self.tries > 0]

    def free(self, argument: Argument, chosen: dict[Argument, str]) -> list[str]:
        """The objects for an argument: preferably ones that no other argument with the same word has."""
        used_names = {name for key, name in chosen.items() if key.word == argument.word}
        return [name for name in self.offered[argument] if name not in used_names] or self.offered[argument]

    def _advance(self, step: int) -> bool:
        opened = [entry for entry in self.open_at.get(step, ()) if entry[1] not in self.chosen]
        if not opened:
            return self._take(step)
        arguments = tuple(dict.fromkeys([argument for _, argument in opened]))
        options = [self.free(argument, self.chosen) for argument in arguments]
        bindings = [option for _, option in zip(range(_PRODUCT), product(*options), strict=False)]
        return self._choose(_Choice(step, arguments, bindings[::-1], self.simulation.mark()))

    def _choose(self, choice: _Choice) -> bool:
        """Execute the step of a choice with the next objects with which it succeeds."""
        while choice.remaining:
            objects = choice.remaining.pop()
            self.chosen.update(zip(choice.arguments, objects, strict=True))
            if self._take(choice.step):
                self.choices.append(choice)
                return True
        for argument in choice.arguments:
            self.chosen.pop(argument, None)
        return False

    def _take(self, step: int) -> bool:
        self.tries -= 1
        words = self.lines[step]
        if step in self.open_at:
            words = list(words)
            for position, argument in self.open_at[step]:
                words[position] = self.chosen[argument]
        ground_step = self.resolver.resolve_step(tuple(words))
        return isinstance(ground_step, GroundAction) and self.simulation.take(ground_step)

    def _arguments(self, step: int) -> set[Argument]:
        return {argument for _, argument in self.open_at.get(step, ())}

    def _back(self, arguments: set[Argument] | None) -> int | None:
        """Change the last choice for one of the arguments (``None``: any); returns the next step, or ``None``."""
        while self.tries > 0 and any(
            [arguments is None or arguments & set(choice.arguments) for choice in self.choices]
        ):
            choice = self.choices.pop()
            if self.lowest is None or choice.step < self.lowest.step:
                self.lowest = choice
            self.simulation.rollback(choice.mark)
            for argument in choice.arguments:
                self.chosen.pop(argument, None)
            if (arguments is None or arguments & set(choice.arguments)) and self._choose(choice):
                return choice.step + 1
        return None

    def _replay(self, start: _Choice, end: int, best: dict[Argument, str]) -> None:
        """Restore the choices that came furthest and make them final."""
        while self.choices and self.choices[-1].step >= start.step:
            self.choices.pop()
        self.simulation.rollback(start.mark)
        self.chosen = dict(best)
        for step in range(start.step, end):
            if step not in self.given_up:
                self._take(step)
