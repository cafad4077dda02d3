"""Steps as their author wrote them: one of the task, or words that the task has no step for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.llm.loose.calls import Call
from plansafe.llm.loose.lines import Found, Lines
from plansafe.llm.loose.names import ARTICLES, Refused, short
from plansafe.llm.loose.placing import Resolved
from plansafe.verifier.execution.steps import GroundAction, IllFormed, Resolver

_PARTICLES = ARTICLES | frozenset(("from", "to", "into", "onto", "in", "on", "at", "with", "of", "for"))


class Step(NamedTuple):
    """A step as written: its action of the task, or else its words, and its place in the text."""

    taken: Resolved | None
    words: tuple[str, ...]
    start: int
    end: int
    ill_formed: bool = True

    @property
    def text(self) -> str:
        """The step as a line of a plan."""
        return self.taken.text if self.taken is not None else f"({' '.join(self.words)})"


class AsWritten(NamedTuple):
    """The steps of a plan, and the notation of each; or why the text is not read so, and where."""

    steps: tuple[Step, ...]
    refused: Refused | None = None
    start: int = 0
    end: int = 0
    numbered: bool = False
    in_words: bool = False


def complete_plan(steps: list[Step | Refused], calls: list[Call], numbered: bool, in_words: bool = False) -> AsWritten:
    """The plan of some steps; refused where one of them is."""
    plan_steps: list[Step] = []
    for step, call in zip(steps, calls, strict=True):
        if isinstance(step, Refused):
            return AsWritten((), step, call.start, call.end)
        plan_steps.append(step)
    return AsWritten(tuple(plan_steps), numbered=numbered, in_words=in_words)


def differ(call: Call) -> AsWritten:
    """The error of a text with two plans; neither is part of the other."""
    message = "steps stand in two places, and they are not the same plan"
    return AsWritten((), Refused(SC.PLANS_DIFFER, message, "give the final plan alone"), call.start, call.end)


def part_of(steps: Sequence[Hashable], counts: Counter[Hashable]) -> bool:
    """Whether the steps are part of another list of steps."""
    return all([counts[step] >= count for step, count in Counter(steps).items()])


class StepsAsWritten:
    """Makes steps of one task, also from texts that are not steps of it."""

    def __init__(self, lines: Lines, resolver: Resolver) -> None:
        self.lines, self.names, self.resolver = lines, lines.names, resolver

    def of_call(self, call: Call, text: str) -> Step | Refused:
        """A call as a step. One that may be two steps of the task is refused."""
        outcome = None if call.within else self._careful(call, text)
        if isinstance(outcome, Found):
            return self.taken(outcome.step, call)
        if outcome is not None and outcome.code == SC.AMBIGUOUS_NAME and not self.lacks_arguments(call):
            return outcome
        return self.ill_formed(call.words, call.start, call.end)

    def lacks_arguments(self, call: Call) -> bool:
        """Whether a call names too few things to be a step, whichever they are."""
        actions = self.names.leading_actions(list(call.words))
        if isinstance(actions, Refused):
            return False
        argument_words = [[word for word in following if word not in _PARTICLES] for _, _, following in actions]
        return all(
            [
                len(words) + 1 < len(action_entry[1].parameters)
                for words, action_entry in zip(argument_words, actions, strict=True)
            ]
        )

    def _careful(self, call: Call, text: str) -> Found | Refused | None:
        """What the careful reading makes of a call alone."""
        if call.outcome is not None:
            return call.outcome if isinstance(call.outcome, Refused) else Found(call.outcome, call.start, call.end)
        reading = self.lines.read(text[call.start : call.end])
        is_single = reading.kind == "steps" and len(reading.found) == 1
        return reading.found[0] if is_single else reading.refused

    def taken(self, step: Resolved, call: Call) -> Step:
        """A step of an action; its arguments may have the wrong types."""
        wrong = isinstance(self.resolver.resolve_tokens((step.action.name, *step.objects)), IllFormed)
        return Step(step, (), call.start, call.end, wrong)

    def ill_formed(self, words: tuple[str, ...], start: int, end: int) -> Step | Refused:
        """A step that the task does not have. What would be one of the task in a plan file is not guessed at."""
        if isinstance(self.resolver.resolve_tokens(words), GroundAction):
            message = f"`{short(' '.join(words))}` may be a step that is not understood"
            return Refused(SC.NOT_UNDERSTOOD, message, "write it as `(action object ..)`")
        return Step(None, words, start, end)
