"""Which object a script means by ``<chair> (1)``: the first with which its steps can be taken.

The public simulator tries the objects of the class in the order of the graph, then those of equivalent classes, and
goes back to another where a later step fails. So does this, with a bound on the steps taken in search of a better
choice: a step that fails makes it reconsider first the objects that this step names, then any. The choice is the same
in every run.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from plansafe.domains.virtualhome.cast import Cast, Mention, candidates
from plansafe.domains.virtualhome.names import squeezed
from plansafe.domains.virtualhome.notation import Argument
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
_SHOWN = 5

Open = tuple[int, Argument]
"""A place in a step, and the argument that stands there."""


class _Choice(NamedTuple):
    """A step at which arguments got their objects: which are left to try, and the state before it."""

    step: int
    arguments: tuple[Argument, ...]
    rest: list[tuple[str, ...]]
    mark: int


def bind(
    lines: list[list[str]],
    waiting: list[tuple[int, int, Argument]],
    mentions: dict[Argument, Mention],
    scene: Scene,
    name: str,
) -> tuple[dict[Argument, str], list[Diagnostic]]:
    """The objects of the arguments that a script leaves open, and a note for each that was a choice.

    ``lines`` are the words of its steps, with ``""`` where an argument is open; ``waiting`` are those places, and
    ``mentions`` says where each argument first occurs.
    """
    data: Cast = scene.data
    if not data.engine:
        data.engine.append(Checker(scene.domain, scene.problem).engine)
    open_at: dict[int, list[Open]] = {}
    for number, position, argument in waiting:
        open_at.setdefault(number, []).append((position, argument))
    offered = {argument: candidates(argument.word, data) for argument in mentions}
    search = _Search(lines, open_at, offered, data.engine[0])
    chosen = search.run()
    for argument in mentions:
        chosen.setdefault(argument, search.free(argument, chosen)[0])
    notes = [_note(mention, chosen[key], offered[key], data, name) for key, mention in mentions.items()]
    return chosen, [note for note in notes if note is not None]


def _note(mention: Mention, chosen: str, offered: list[str], data: Cast, name: str) -> Diagnostic | None:
    argument, place = mention
    own = data.home.objects[data.numbers[chosen]].class_name
    if len(offered) == 1 and squeezed(own) == squeezed(argument.word):
        return None
    written = f"<{argument.word}>" + (f" ({argument.number})" if argument.number else "")
    others = [other for other in offered if other != chosen]
    said = ", ".join(others[:_SHOWN]) + (f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else "")
    notes = (f"it could also be {said}",) if others else ()
    advice = f"write `<{argument.word}> (1.NUMBER)` with the number of another object to choose it" if others else None
    return Diagnostic(
        SC.AMBIGUOUS_OBJECT, f"`{written}` is read as {chosen}", (Label(name, place),), notes, advice, Severity.NOTE
    )


class _Search:
    def __init__(
        self,
        lines: list[list[str]],
        open_at: dict[int, list[Open]],
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
        """Steps that no choice lets be taken: they are left out."""
        self.lowest: _Choice | None = None
        """The first choice that was taken back in search of one with which the furthest step can be taken."""

    def run(self) -> dict[Argument, str]:
        """Take the steps in turn, choosing on the way; where one fails, choose again, or leave it out."""
        step, furthest = 0, -1
        best: dict[Argument, str] | None = None  # what was chosen when the furthest step failed first
        choices: list[_Choice] = []
        while step < len(self.lines):
            if step in self.given_up or self._advance(step):
                step += 1
                if step > furthest:
                    best, self.lowest = None, None
                continue
            if best is None:
                furthest, best, choices = step, dict(self.chosen), self._copied()
            back = self._back(self._named(step) | self._named(furthest) if choices else None)
            if back is not None:
                step = back
                continue
            if self.lowest is not None:
                self._replay(self.lowest, furthest, best)
            if choices and self.tries > 0:  # what the step names is not to blame: any choice may be
                self.choices, choices, step = choices, [], furthest
            else:
                self.given_up.add(furthest)
                step, best = furthest, None
            self.lowest = None
        return self.chosen

    def _copied(self) -> list[_Choice]:
        self.tries -= len(self.choices)
        return [choice._replace(rest=list(choice.rest)) for choice in self.choices if self.tries > 0]

    def free(self, argument: Argument, chosen: dict[Argument, str]) -> list[str]:
        """What an argument may stand for: things that another of the same word does not stand for, if there are any."""
        taken = {name for other, name in chosen.items() if other.word == argument.word}
        return [name for name in self.offered[argument] if name not in taken] or self.offered[argument]

    def _advance(self, step: int) -> bool:
        opened = [entry for entry in self.open_at.get(step, ()) if entry[1] not in self.chosen]
        if not opened:
            return self._take(step)
        arguments = tuple(dict.fromkeys([argument for _, argument in opened]))
        ways = [self.free(argument, self.chosen) for argument in arguments]
        rest = [way for _, way in zip(range(_PRODUCT), product(*ways), strict=False)]
        return self._choose(_Choice(step, arguments, rest[::-1], self.simulation.mark()))

    def _choose(self, choice: _Choice) -> bool:
        """Take the step of a choice with the next objects that let it be taken."""
        while choice.rest:
            way = choice.rest.pop()
            self.chosen.update(zip(choice.arguments, way, strict=True))
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
        taken = self.resolver.resolve_step(tuple(words))
        return isinstance(taken, GroundAction) and self.simulation.take(taken)

    def _named(self, step: int) -> set[Argument]:
        return {argument for _, argument in self.open_at.get(step, ())}

    def _back(self, named: set[Argument] | None) -> int | None:
        """Choose again for one of these objects, or for any; the step after that choice, or ``None``."""
        while self.tries > 0 and any([named is None or named & set(choice.arguments) for choice in self.choices]):
            choice = self.choices.pop()
            if self.lowest is None or choice.step < self.lowest.step:
                self.lowest = choice
            self.simulation.rollback(choice.mark)
            for argument in choice.arguments:
                self.chosen.pop(argument, None)
            if (named is None or named & set(choice.arguments)) and self._choose(choice):
                return choice.step + 1
        return None

    def _replay(self, start: _Choice, end: int, best: dict[Argument, str]) -> None:
        """Go back to the choices that came furthest. They stand from now on."""
        while self.choices and self.choices[-1].step >= start.step:
            self.choices.pop()
        self.simulation.rollback(start.mark)
        self.chosen = dict(best)
        for step in range(start.step, end):
            if step not in self.given_up:
                self._take(step)
