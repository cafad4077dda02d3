"""Arguments placed: a step from an action and its named objects, who acts being added where only one can be meant.

The range of the answer in a text: the announced final plan, else the last fenced block that holds a step.

The text before it is thoughts and drafts: it is not read. Where neither is found
the whole text is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.llm.loose.groups import unquoted
from plansafe.llm.loose.names import Match, Names, Refused, Tolerance, short, spelling
from plansafe.llm.loose.wrapping import LooseText
from plansafe.llm.structured.tree import Document, Format
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


_MARKS = " \t#*_`>-\"'"
_ANNOUNCED = re.compile(r"\bfinal[ _-]{1,2}(?:plan|answer|action sequence|sequence|solution)\b", re.IGNORECASE)
_ANNOUNCED_PLAINLY = re.compile(
    r"(?:(?:so|thus|therefore|hence),? )?(?:(?:the|my|our|your|here is (?:the|my)) )?final[ _-]"
    r"(?:plan|answer|action sequence|sequence|solution)(?: is(?: as follows| below)?| follows)?[.]?",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(?:the )?(?:final )?(?:plan|answer)", re.IGNORECASE)
_ITEM = re.compile(r"[ \t>#*]{0,8}(?:step[ _#-]{0,2})?(?:\d{1,4}[.):]|[-*+\u2022][ \t])", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:option|alternative(?:ly)?|approach|variant)\b|\b(?:plan|version) (?:[a-d]|\d{1,2})\b", re.I
)
LONGEST_ANNOUNCEMENT = 160


class Scope(NamedTuple):
    """Where in the cleaned text the line begins that introduces the answer, and where the answer ends.

    ``announced``: the text calls it the final plan.
    """

    lead: int
    end: int
    announced: bool = False


def answer_scope(
    loose: LooseText, holds_step: Callable[[int, int], bool], is_prose: Callable[[str], bool]
) -> Scope | None:
    """The answer's place; ``None`` where it is the whole text. ``holds_step`` says it of a range of the cleaned text.

    Linear in the text.
    """
    text = loose.cleaned.text
    announced = _announcement(loose)
    since = announced[1] if announced else 0
    fences = [block for block in loose.blocks if block.fenced and block.start >= since]
    holding = [block for block in fences if holds_step(block.start, block.end)]
    leads = [_line_before(text, block.start) for block in holding]
    if holding and not any([_ITEM.match(text[a:b]) or _SEVERAL.search(text[a:b]) for a, b in leads]):
        a, b = leads[-1]
        introduced = text[a:b].rstrip(_MARKS).endswith(":") and not holds_step(a, b)
        opening = text.rfind("\n", 0, max(holding[-1].start - 1, 0)) + 1
        return Scope(a if introduced else opening, holding[-1].end, announced is not None)
    if announced and _in_transcript(loose, announced[0]) and is_prose(text[announced[1] :].strip()):
        return None
    if announced:
        return Scope(announced[0], len(text), announced=True)
    return None


def _in_transcript(loose: LooseText, position: int) -> bool:
    """Whether a place is part of a transcript: its final answer describes the steps before it."""
    documents = [element for block in loose.blocks for element in block.elements if isinstance(element, Document)]
    return any(
        [element.format is Format.TRANSCRIPT and element.start <= position < element.end for element in documents]
    )


def _announcement(loose: LooseText) -> tuple[int, int] | None:
    """The last line that announces the final plan, if something follows it: where it begins and ends."""
    text = loose.cleaned.text
    answer_range: tuple[int, int] | None = None
    for block in loose.blocks:
        if block.fenced:
            continue
        position = block.start
        while position < block.end:
            end = text.find("\n", position, block.end)
            end = block.end if end < 0 else end
            if end - position <= LONGEST_ANNOUNCEMENT and _announces(text[position:end]):
                colon = text.find(":", position, end)
                answer_range = (position, colon + 1 if colon >= 0 else end)
            position = end + 1
    if answer_range is None or not any([char.isalnum() for char in text[answer_range[1] :]]):
        return None
    return answer_range


def _announces(line: str) -> bool:
    bare = line.strip(_MARKS)
    head, colon, _ = bare.partition(":")
    if "(" in head or ")" in head:
        return False
    if colon:
        return bool(_ANNOUNCED.search(head) or (bare.endswith(":") and _HEADING.fullmatch(head.strip(_MARKS))))
    if _ANNOUNCED_PLAINLY.fullmatch(bare):
        return True
    return bool(_HEADING.fullmatch(bare)) and line.lstrip(" \t>")[:1] in ("#", "*", "_")


def _line_before(text: str, start: int) -> tuple[int, int]:
    """The line before a fence that is not empty: where it begins and ends."""
    end = text.rfind("\n", 0, max(start - 1, 0))  # the end of the line before the opening fence
    while end > 0:
        begin = text.rfind("\n", 0, end) + 1
        if text[begin:end].strip():
            return begin, end
        end = begin - 1
    return 0, 0
