"""The loop: a proposal, its verdict, what is said of it, another proposal; then the engine's own repair.

Whole plans are asked for again with all that was said before, or go on from the step that failed. A plan that is to be
mended is the first proposal. Plans built step by step are proposed once: what a verdict could say of them the guide has
said already.
"""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.grammar.source import Source
from plansafe.llm.decoding.stepwise import Choosing, Decoded, Mode, decode, step_limit
from plansafe.llm.loop import feedback
from plansafe.llm.loop.authors import attributed
from plansafe.llm.loop.last_resort import last_resort
from plansafe.llm.loop.model import PLAN, By, Part, Planned, Round, Status, Style, Wishes
from plansafe.llm.loop.proposals import proposal
from plansafe.llm.loop.recorder import Recorder
from plansafe.llm.loop.refusal import weighed
from plansafe.llm.loop.repairs import Repairs
from plansafe.llm.loop.replanning import Walker, whole
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model
from plansafe.llm.models.request import Message, Role
from plansafe.llm.prompts.crop import Crop
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.guide import Guide

_SHOWN = 8_000
"""Characters of a proposal as it stands in what is asked next."""
_ONCE_MORE = "Write the whole plan once more: one step a line and nothing else."
_SAME = "This is the same plan as before. "


def plan_with(
    model: Model,
    name: str,
    messages: tuple[Message, ...],
    checker: Checker,
    wishes: Wishes = Wishes(),  # noqa: B008 - immutable
    cache: Cache | None = None,
    cropped: Crop | None = None,
) -> Planned:
    """Let a model plan for a task. ``name`` is that of the task; ``messages`` ask for a plan.

    ``cropped`` is what the model was told of the scene, if not all of it.
    Raises :class:`plansafe.llm.models.port.ModelError`; ``ValueError`` where the task is none for steps one by one.
    """
    recorder, repairs = Recorder(model, cache), Repairs(checker, wishes.repair)
    if wishes.decode.stepwise:
        planned = _stepwise(recorder, name, messages, checker, wishes)
    elif wishes.replan:
        planned = _replanned(recorder, name, messages, checker, wishes, cropped)
    else:
        planned = _in_rounds(recorder, name, messages, checker, wishes, repairs, [])
    return _ended(planned, checker, wishes, repairs)


def mend_with(
    model: Model,
    name: str,
    messages: tuple[Message, ...],
    steps: Sequence[str],
    checker: Checker,
    wishes: Wishes = Wishes(),  # noqa: B008 - immutable
    cache: Cache | None = None,
) -> Planned:
    """Let a model mend a plan, given as its steps: it is told what is wrong with it, as with a plan of its own.

    Nobody is asked about a plan that is safe. Raises as :func:`plan_with` does.
    """
    text = "".join([f"{step}\n" for step in steps])
    parts = tuple([Part(step, By.GIVEN) for step in steps])
    given = Round((), text, parts, checker.check(Source(PLAN, text)))
    if given.safe:
        return Planned(Status.FOUND, parts, given.report, (given,))
    recorder, repairs = Recorder(model, cache), Repairs(checker, wishes.repair)
    given = given._replace(feedback=_said(given, [], checker, wishes, repairs))
    messages = (*messages, Message(Role.ASSISTANT, _shown(given)), Message(Role.USER, given.feedback))
    planned = _in_rounds(recorder, name, messages, checker, wishes, repairs, [given])
    parts, removed = attributed(steps, planned.parts)
    planned = planned._replace(parts=parts, removed=(*planned.removed, *removed))
    return _ended(planned, checker, wishes, repairs)


def _ended(planned: Planned, checker: Checker, wishes: Wishes, repairs: Repairs) -> Planned:
    """The run with the engine's last word, where one is wanted: a plan, or what a refusal is worth."""
    declined = planned.rounds[-1].declined if planned.rounds else None
    if planned.status is Status.REFUSED and declined is not None:
        return planned._replace(refusal=weighed(declined, checker))
    if planned.status is not Status.NOT_FOUND or not wishes.last_resort:
        return planned
    return last_resort(checker, planned, repairs)


def _stepwise(
    recorder: Recorder, name: str, messages: tuple[Message, ...], checker: Checker, wishes: Wishes
) -> Planned:
    guide = Guide(checker.compiled)
    ahead = guide.continuation()
    if ahead.exists is False:  # without a bound on its length: there is no plan at all
        return Planned(Status.UNSOLVABLE, (), None, (), ahead.detail or "the search was complete")
    longest = step_limit(ahead, wishes.slack, wishes.max_steps)
    sampling = wishes.sampling()
    made = decode(
        recorder,
        name,
        messages,
        guide,
        Mode(wishes.decode.value),
        longest,
        seed=sampling.seed,
        temperature=sampling.temperature,
    )
    source = Source(PLAN, made.plan)
    one = Round(recorder.taken(), made.plan, _parts(made), checker.check(source), end=made.end.value)
    status = Status.FOUND if one.safe else Status.NOT_FOUND
    detail = "" if one.safe else f"the plan ended: {made.end.value}"
    return Planned(status, one.parts, one.report, (one,), detail, (), longest, made.searches)


def _parts(made: Decoded) -> tuple[Part, ...]:
    return tuple([_part(one) for one in made.choices[: len(made.steps)]])  # the last may be the choice to end


def _part(one: Choosing) -> Part:
    if one.forced:
        return Part(one.taken, By.GUIDE, "the only step left")
    if one.kept:
        return Part(one.taken, By.MODEL)
    if one.ignored is None:
        return Part(one.taken, By.GUIDE, f"the model wanted {one.first}")
    by = By.MAPPED if one.first == one.taken else By.GUIDE
    return Part(one.taken, by, f"the model ignored the choice and wrote {one.ignored or 'nothing'}")


def _in_rounds(
    recorder: Recorder,
    name: str,
    messages: tuple[Message, ...],
    checker: Checker,
    wishes: Wishes,
    repairs: Repairs,
    rounds: list[Round],
) -> Planned:
    for number in range(1, wishes.rounds + 1):
        one = proposal(recorder, name, messages, checker, wishes, retry=number - 1)
        if one.declined is not None:
            return Planned(Status.REFUSED, (), None, (*rounds, one), one.declined)
        if not one.safe and number < wishes.rounds:
            one = one._replace(feedback=_said(one, rounds, checker, wishes, repairs))
            messages = (*messages, Message(Role.ASSISTANT, _shown(one)), Message(Role.USER, one.feedback))
        rounds.append(one)
        if one.safe:
            return Planned(Status.FOUND, one.parts, one.report, tuple(rounds), removed=one.dropped)
    return _none_safe(rounds, wishes)


def _replanned(
    recorder: Recorder,
    name: str,
    messages: tuple[Message, ...],
    checker: Checker,
    wishes: Wishes,
    cropped: Crop | None,
) -> Planned:
    """What can be taken of each proposal is taken; the next one goes on from there."""
    walker = Walker(checker, cropped)
    rounds: list[Round] = []
    for retry in range(wishes.rounds):
        one = proposal(recorder, name, messages, checker, wishes, walker.taken, retry)
        if one.declined is not None:
            return Planned(Status.REFUSED, (), None, (*rounds, one), one.declined)
        shown = _shown(one)
        if one.plan is None:
            said = feedback.unread(wishes.feedback, one.refused, one.exchanges[-1].answer.text) or _ONCE_MORE
        else:
            walk = walker.walk(one.parts)
            one = whole(one, walker)
            if one.safe and walker.ended:
                rounds.append(one)
                return Planned(Status.FOUND, one.parts, one.report, tuple(rounds), removed=one.dropped)
            said = walker.said(walk, wishes)
        rounds.append(one._replace(feedback=said))
        messages = (*messages, Message(Role.ASSISTANT, shown), Message(Role.USER, said))
    rounds[-1] = rounds[-1]._replace(feedback="")
    return _none_safe(rounds, wishes)


def _none_safe(rounds: list[Round], wishes: Wishes) -> Planned:
    read = [one for one in rounds if one.report is not None]
    best = max(read, key=_rank) if read else None
    detail = f"none of {wishes.rounds} plans is safe" if wishes.rounds > 1 else "the plan is not safe"
    if best is None:
        return Planned(Status.NOT_FOUND, (), None, tuple(rounds), detail)
    return Planned(Status.NOT_FOUND, best.parts, best.report, tuple(rounds), detail, best.dropped)


def _rank(one: Round) -> tuple[int, int]:
    """Of proposals the one with the fewest findings that follow from nothing; of those the longest."""
    assert one.report is not None
    return -len([f for f in one.report.findings if not f.follows]) - one.report.suppressed, len(one.parts)


def _said(one: Round, before: list[Round], checker: Checker, wishes: Wishes, repairs: Repairs) -> str:
    """What the model is told of its proposal; without feedback it is only asked again."""
    if one.report is None or one.plan is None:
        said = feedback.unread(wishes.feedback, one.refused, one.exchanges[-1].answer.text)
    else:
        steps = [part.step for part in one.parts]
        said = feedback.of_report(wishes.feedback, checker, Source(PLAN, one.plan), one.report, steps, repairs)
    if wishes.feedback is Style.NONE:
        return _ONCE_MORE
    again = one.plan is not None and any([other.plan == one.plan for other in before])
    return f"{_SAME if again else ''}{said}"


def _shown(one: Round) -> str:
    """The proposal as it stands in what is asked next: its steps, or the beginning of what was not read."""
    if one.plan is not None and len(one.plan) <= _SHOWN:
        return one.plan
    if one.plan is not None:
        return f"{one.plan[: one.plan.rfind(chr(10), 0, _SHOWN) + 1]}.."
    return one.exchanges[-1].answer.text[:_SHOWN] or "(nothing)"
