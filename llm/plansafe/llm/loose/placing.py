"""Arguments placed: a step from an action and its named objects, who acts being added where only one can be meant."""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.llm.loose.groups import unquoted
from plansafe.llm.loose.names import Match, Names, Refused, Tolerance, short, spelling
from plansafe.verifier.model.nodes import Action

SPEAKERS = frozenset(
    ("robot", "self", "agent", "env", "api", "actions", "action", "bot", "planner", "plan", "skills", "controller")
)


class Resolved(NamedTuple):
    """A step of the task, and the liberties taken. ``supplied``: whether an argument was."""

    action: Action
    objects: tuple[str, ...]
    tolerances: tuple[Tolerance, ...] = ()
    supplied: bool = False

    @property
    def text(self) -> str:
        """The step in PDDL."""
        return f"({' '.join([self.action.name, *self.objects])})"


class Placing:
    """Makes steps of one task."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.task = names.task

    def complete(
        self,
        action: Action,
        slots: list[str | None],
        count: int,
        receiver: str,
        tolerances: list[Tolerance],
        labels: bool = False,
    ) -> Resolved | Refused:
        """The step once its arguments are placed: who acts may stand before it, or be the only one there is."""
        missing = [index for index, slot in enumerate(slots) if slot is None]
        receiver_match = self.names.find(receiver) if receiver else None
        speaker = receiver_match if isinstance(receiver_match, Match) else None
        if receiver and speaker is None:
            if receiver.lower() not in SPEAKERS and not _is_character(receiver):
                return Refused(
                    SC.NOT_UNDERSTOOD, f"`{short(receiver)}` before `{action.name}` is not an object of the task"
                )
            message = f"`{short(receiver)}` is not an object of the task and was left out"
            tolerances.append(Tolerance(SC.WORD_LEFT_OUT, message))
        if not missing:
            if speaker is not None and speaker.name not in slots:
                return self.arity(action, count + 1)
            if speaker is not None:
                tolerances.append(
                    Tolerance(
                        SC.WORD_LEFT_OUT, f"`{speaker.name}` before `{action.name}` was left out: it is an argument"
                    )
                )
            return _resolved(action, slots, tolerances)
        if len(missing) > 1 or count != len(slots) - 1:
            return self.arity(action, count + (speaker is not None))
        if speaker is not None:
            placed = [speaker.name, *[slot for slot in slots if slot is not None]]
            if (labels and missing != [0]) or not self._well_typed(action, placed):
                return self.arity(action, count + 1)
            tolerance = Tolerance(
                SC.WORD_LEFT_OUT, f"`{speaker.name}` before `{action.name}` was taken for its first argument"
            )
            return _resolved(action, placed, [*tolerances, *speaker.tolerances, tolerance])
        return self._supply(action, slots, missing[0], not labels, tolerances)

    def _supply(
        self, action: Action, slots: list[str | None], missing: int, positional: bool, tolerances: list[Tolerance]
    ) -> Resolved | Refused:
        """Add the acting object, if it is the only one that can be meant."""
        written = [slot for slot in slots if slot is not None]
        first = self.task.domains[action.parameters[0].domain]
        fits = [0] if missing == 0 else []
        if positional:
            fits = [at for at in range(len(slots)) if self._fits_around(action, written, at)]
        if fits != [0] or len(first) != 1:
            return self.arity(action, len(written))
        agent = self.task.objects[first[0]]
        parameter = action.parameters[0].name
        message = f"`{agent}` was added to `{action.name}`: it is the only object for `{parameter}`"
        tolerances = [*tolerances, Tolerance(SC.AGENT_ADDED, message, "name the acting object in each step")]
        return _resolved(action, [agent, *written], tolerances, True)

    def _fits_around(self, action: Action, written: list[str], at: int) -> bool:
        """Whether the arguments have the types of the parameters when the one at ``at`` is missing."""
        index = self.task.object_index
        remaining = [v for position, v in enumerate(action.parameters) if position != at]
        return all([index[name] in self.task.domain_sets[v.domain] for name, v in zip(written, remaining, strict=True)])

    def _well_typed(self, action: Action, names: list[str]) -> bool:
        return len(names) == len(action.parameters) and self._fits_around(action, names, -1)

    @staticmethod
    def arity(action: Action, count: int) -> Refused:
        """That an action has another number of arguments."""
        expected = len(action.parameters)
        message = f"action `{action.name}` takes {expected} argument{'' if expected == 1 else 's'}, not {count}"
        return Refused(SC.STEP_ARITY, message, f"its parameters are `({signature(action)})`")

    @staticmethod
    def respelt(name: str, action: Action) -> list[Tolerance]:
        """The liberty taken with the name of an action, if any."""
        return [] if name.strip().lower() == action.name else [spelling(unquoted(name), action.name)]


def _resolved(
    action: Action, slots: list[str | None] | list[str], tolerances: list[Tolerance], supplied: bool = False
) -> Resolved:
    return Resolved(action, tuple([str(slot) for slot in slots]), tuple(dict.fromkeys(tolerances)), supplied)


def signature(action: Action) -> str:
    """An action with its parameters, for a message."""
    return " ".join([action.name, *[v.name for v in action.parameters]])


def _is_character(text: str) -> bool:
    return re.fullmatch(r"char(?:acter)?[_ -]?0?", text.lower()) is not None
