"""Transcripts of agents as values: ``Action: ..`` of ReAct, ``Robot: 1. ..`` of SayCan."""

from __future__ import annotations

import re

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.names import Refused
from plansafe.llm.structured.tree import Document, Format, Kind, Mark, Node, NotThisFormat, Unreadable, not_understood

_LABEL = re.compile(
    r"[ \t>*]{0,8}(?:(?P<input>action[ _]input)|(?P<action>action|act)|(?P<thought>thought|think|reflection)"
    r"|(?P<observation>observation|obs)|(?P<human>human|user|question)|(?P<robot>robot|assistant|agent)"
    r"|(?P<final>final answer))(?:[ _#]{0,2}(?P<number>\d{1,4}))?[ \t*]{0,4}:[ \t*]{0,8}",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:^|(?<=[\s,;.:]))(?<!\d\.)\(?(\d{1,3})[.):][ \t]+")
_SCORE = re.compile(
    r"[ \t]*(?:\((?:[a-z][a-z ]{0,20}[:=]?[ \t]*)?(?:0?\.\d{1,6}|1\.0{1,6})\)"
    r"|\[(?:[a-z][a-z ]{0,20}[:=]?[ \t]*)?(?:0?\.\d{1,6}|1\.0{1,6})\]|:[ \t]*(?:0?\.\d{1,6}|1\.0{1,6}))\Z",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"([A-Za-z][\w -]{0,60})\[([^\[\]]{0,400})\][ \t.]*\Z")
_BEGINS_FAILED = re.compile(
    r"[ \t]*[\[(*]{0,3}(?:fail(?:ed(?! to)|ure)|error|unsuccessful|not (?:executed|possible))\b"
    r"|[ \t\n]*\{[ \t\n]*\"(?:success|ok)\"[ \t\n]*:[ \t\n]*false\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:fail(?:s|ed|ure)?|error|cannot|can't|could not|couldn't|unable|invalid|denied|nothing happens|not possible|"
    r"impossible|unsuccessful(?:ly)?|did not|didn't|does not|doesn't|rejected|refused|aborted|no effect|"
    r"not (?:done|executed|carried out)|nothing (?:was done|happened))\b",
    re.IGNORECASE,
)


def begins_with_failure(result: str) -> bool:
    """Return whether the result of an action says first of all that it failed."""
    return _BEGINS_FAILED.match(result) is not None


def mentions_failure(result: str) -> bool:
    """Return whether the result of an action may say that it failed."""
    return _FAILED.search(result) is not None


def opens_transcript(line: str) -> bool:
    """Return whether a line may be the first of a transcript."""
    match = _LABEL.match(line)
    return match is not None and match.lastgroup not in ("final", "input")


def read_transcript(text: str, start: int, end: int) -> Document:
    """Return the actions of the transcript that begins at ``start`` and ends with the range.

    Raises :class:`NotThisFormat` without an action, :class:`Unreadable` if an action failed, if a line belongs to
    nothing, or if several turns give a plan.
    """
    return _Transcript(text, start, end).read()


class _Transcript:
    """One transcript."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end
        self.nodes: list[Node] = []
        self.asides: list[Span] = []
        self.turns = 0  # of the robot, each with steps
        self.number = 0  # of the last step with a number
        self.observed = 0  # the number of steps when the last observation was made

    def read(self) -> Document:
        labels, position = [], self.start
        while position < self.end:
            stop = self.text.find("\n", position, self.end)
            stop = self.end if stop < 0 else stop
            match = _LABEL.match(self.text, position, stop)
            if match is not None:
                labels.append(match)
            position = stop + 1
        kinds = {_kind(match) for match in labels}
        numbered = [match for match in labels if _kind(match) == "robot" and _NUMBERED.match(self._after(match))]
        if "action" not in kinds and not ({"robot", "human"} <= kinds) and not numbered:
            raise NotThisFormat
        if {"action", "robot"} <= kinds:
            raise NotThisFormat
        for match, following in zip(labels, [*labels[1:], None], strict=True):
            self._part(match, self.end if following is None else following.start())
        if not self.nodes:
            raise NotThisFormat
        if self.turns > 1:
            refused = Refused(
                SC.PLANS_DIFFER, "several turns of the transcript give steps", "give the final plan alone"
            )
            raise Unreadable(refused, self.nodes[0].start, self.nodes[0].end)
        return Document(Format.TRANSCRIPT, tuple(self.nodes), self.start, self.end, tuple(self.asides))

    def _after(self, match: re.Match[str]) -> str:
        """The first characters after a label."""
        return self.text[match.end() : min(match.end() + 20, self.end)]

    def _part(self, match: re.Match[str], end: int) -> None:
        start = match.end()
        text = self.text[start:end]
        stop = start + len(text.rstrip())
        match _kind(match):
            case "action":
                self._action(match, start, stop)
            case "input":
                self._input(start, stop)
            case "robot":
                self._robot(start, stop)
            case "observation":
                if self._has_failed(text):
                    pass
                elif failure := _FAILED.search(text):
                    message = f"an observation says that a step failed: `{failure.group()}`"
                    raise not_understood(message, start + failure.start(), start + failure.end(), "give the plan alone")
                self._aside(start, stop)
            case "human" if not self.nodes:
                pass  # the question
            case _:
                self._aside(start, stop)

    def _has_failed(self, observation: str) -> bool:
        """Mark the last action as failed, if the observation begins with that. It is done only if it is tried again."""
        if not self.nodes or self.observed == len(self.nodes) or not begins_with_failure(observation):
            self.observed = len(self.nodes)
            return False
        self.observed = len(self.nodes)
        self.nodes[-1] = self.nodes[-1]._replace(mark=Mark.FAILED)
        return True

    def _aside(self, start: int, end: int) -> None:
        if end > start:
            self.asides.append(Span(start, end))

    def _numbered(self, number: str | None, start: int) -> None:
        if number is None:
            return
        if self.number and int(number) != self.number + 1:
            message = f"step {number} stands where step {self.number + 1} should"
            raise Unreadable(Refused(SC.NUMBERS_OUT_OF_ORDER, message, "number the steps from 1"), start, start + 1)
        self.number = int(number)

    def _action(self, match: re.Match[str], start: int, end: int) -> None:
        written = self.text[start:end]
        self._numbered(match["number"], match.start())
        line, _, more = written.partition("\n")
        if more.strip():
            after = start + len(line) + 1
            lead = re.match(r"\s*\n", self.text[start + len(line) : end])
            if lead is None:
                raise NotThisFormat  # fields of another kind
            self._aside(after, end)
        self.nodes.append(_step(line.strip(), start, start + max(len(line.rstrip()), 1)))

    def _input(self, start: int, end: int) -> None:
        """``Action Input: ..``, the arguments of the action before it."""
        if not self.nodes or self.nodes[-1].kind is not Kind.TEXT:
            raise not_understood("an input without an action", start, start + 1)
        from plansafe.llm.structured.json_text import read_json  # noqa: PLC0415 - for this label alone

        name = self.nodes[-1]
        written = self.text[start:end]
        if written.startswith(("{", "[")):
            arguments = read_json(self.text, start, end)
            if self.text[arguments.end : end].strip():
                raise not_understood("what stands behind an input is not understood", arguments.end, end)
        else:
            arguments = Node(Kind.TEXT, written.strip().strip("\"'"), start, end)
        keys = ("action", "args") if written.strip() else ("action",)
        items = (name, arguments) if written.strip() else (name,)
        self.nodes[-1] = Node(Kind.MAP, "", name.start, end, items, keys, name.mark)

    def _robot(self, start: int, end: int) -> None:
        """``Robot: 1. find a cup, 2. pick it up, 3. done()``, on one line or several."""
        written = self.text[start:end]
        numbers = list(_NUMBERED.finditer(written))
        if not numbers:
            self._aside(start, end)
            return
        self.turns += 1
        self._aside(start, start + len(written[: numbers[0].start()].rstrip()))
        for match, following in zip(numbers, [*numbers[1:], None], strict=True):
            self._numbered(match[1], start + match.start())
            stop = len(written) if following is None else following.start()
            item = written[match.end() : stop]
            step, blank, remainder = item.partition("\n\n")
            if blank and remainder.strip():
                self._aside(start + match.end() + len(step) + 2, start + stop)
            bare = step.strip().rstrip(",;.")
            if "\n" in bare:
                raise not_understood("a line between the steps of a turn", start + match.start(), start + stop)
            if score := _SCORE.search(bare):
                self._aside(start + match.end() + score.start(), start + match.end() + score.end())
                bare = bare[: score.start()]
            self.nodes.append(_step(bare, start + match.end(), start + match.end() + max(len(bare), 1)))


def _kind(match: re.Match[str]) -> str:
    """The kind of a label."""
    return next(name for name, value in match.groupdict().items() if value is not None)


def _step(text: str, start: int, end: int) -> Node:
    """A step, with ``name[argument]`` as a call."""
    match = _BRACKETED.fullmatch(text)
    if match is None:
        return Node(Kind.TEXT, text, start, end)
    parts = [part.strip() for part in match[2].split(",") if part.strip()]
    items = tuple([Node(Kind.TEXT, part, start, end) for part in parts])
    return Node(Kind.CALL, match[1].strip(), start, end, items, ("",) * len(items))
