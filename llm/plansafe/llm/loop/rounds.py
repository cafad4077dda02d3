"""The loop: a proposal, its verdict, feedback, another proposal; then the engine's own repair.

Whole plans are requested again with the earlier conversation, or continue from the step that failed. A plan to be
corrected is the first proposal. Plans built step by step are proposed once, because the guide has already applied the
rules.

The author of each step of a corrected plan: the original plan or the model, and the steps that it removed.

Planning again from where a plan failed, as LLM-Planner does (Song et al. 2023, section 3.3).

The steps are taken one after the other. The first that cannot be taken, or breaks a rule, is not taken; the model gets
the reason, the steps done and the current facts, and writes the remaining steps. The executed steps stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.decoding.stepwise import Choosing, Decoded, Mode, decode, step_limit
from plansafe.llm.loop import feedback
from plansafe.llm.loop.feedback import Repairs
from plansafe.llm.loop.last_resort import last_resort
from plansafe.llm.loop.model import PLAN, AttributedStep, PlanOptions, PlanResult, Round, Status, StepAuthor, Style
from plansafe.llm.loop.proposals import checked_refusal, proposal
from plansafe.llm.loop.recorder import Recorder
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model
from plansafe.llm.models.request import Message, Role
from plansafe.llm.prompts.crop import Crop, facts_text
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.planning.forward_search import find_unsupported_task_reason
from plansafe.verifier.planning.guide import Guide

_MAX_EXCERPT = 8_000
"""The maximum number of characters of a proposal in the next request."""
_ONCE_MORE = "Write the whole plan once more: one step a line and nothing else."
_SAME = "This is the same plan as before. "


def plan_with(
    model: Model,
    name: str,
    messages: tuple[Message, ...],
    checker: Checker,
    wishes: PlanOptions = PlanOptions(),  # noqa: B008 - immutable
    cache: Cache | None = None,
    cropped: Crop | None = None,
) -> PlanResult:
    """Let a model plan for a task. ``name`` is the task's name; ``messages`` ask for a plan.

    ``cropped`` is the part of the scene in the prompt, if it was cropped.
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
    wishes: PlanOptions = PlanOptions(),  # noqa: B008 - immutable
    cache: Cache | None = None,
) -> PlanResult:
    """Let a model correct a plan, given as its steps: it gets feedback as on a plan of its own.

    Nobody is asked about a plan that is safe. Raises as :func:`plan_with` does.
    """
    text = "".join([f"{step}\n" for step in steps])
    parts = tuple([AttributedStep(step, StepAuthor.GIVEN) for step in steps])
    original = Round((), text, parts, checker.check(Source(PLAN, text)))
    if original.safe:
        return PlanResult(Status.FOUND, parts, original.report, (original,))
    recorder, repairs = Recorder(model, cache), Repairs(checker, wishes.repair)
    original = original._replace(feedback=_feedback(original, [], checker, wishes, repairs))
    messages = (*messages, Message(Role.ASSISTANT, _excerpt(original)), Message(Role.USER, original.feedback))
    planned = _in_rounds(recorder, name, messages, checker, wishes, repairs, [original])
    parts, removed = attributed(steps, planned.parts)
    planned = planned._replace(parts=parts, removed=(*planned.removed, *removed))
    return _ended(planned, checker, wishes, repairs)


def _ended(planned: PlanResult, checker: Checker, wishes: PlanOptions, repairs: Repairs) -> PlanResult:
    """The run with the engine's last word, where one is wanted: a plan, or what a refusal is worth."""
    declined = planned.rounds[-1].declined if planned.rounds else None
    if planned.status is Status.REFUSED and declined is not None:
        return planned._replace(refusal=checked_refusal(declined, checker))
    if planned.status is not Status.NOT_FOUND or not wishes.last_resort:
        return planned
    return last_resort(checker, planned, repairs)


def _stepwise(
    recorder: Recorder, name: str, messages: tuple[Message, ...], checker: Checker, wishes: PlanOptions
) -> PlanResult:
    guide = Guide(checker.compiled)
    continuation = guide.continuation()
    if continuation.exists is False:  # the search had no bound on the length, so no plan exists
        return PlanResult(Status.UNSOLVABLE, (), None, (), continuation.detail or "the search was complete")
    longest = step_limit(continuation, wishes.slack, wishes.max_steps)
    sampling = wishes.sampling()
    decoded = decode(
        recorder,
        name,
        messages,
        guide,
        Mode(wishes.decode.value),
        longest,
        seed=sampling.seed,
        temperature=sampling.temperature,
    )
    source = Source(PLAN, decoded.plan)
    only_round = Round(recorder.taken(), decoded.plan, _parts(decoded), checker.check(source), end=decoded.end.value)
    status = Status.FOUND if only_round.safe else Status.NOT_FOUND
    detail = "" if only_round.safe else f"the plan ended: {decoded.end.value}"
    return PlanResult(status, only_round.parts, only_round.report, (only_round,), detail, (), longest, decoded.searches)


def _parts(decoded: Decoded) -> tuple[AttributedStep, ...]:
    return tuple(
        [_part(choosing) for choosing in decoded.choices[: len(decoded.steps)]]
    )  # the last may be the choice to end


def _part(choosing: Choosing) -> AttributedStep:
    if choosing.forced:
        return AttributedStep(choosing.taken, StepAuthor.GUIDE, "the only step left")
    if choosing.kept:
        return AttributedStep(choosing.taken, StepAuthor.MODEL)
    if choosing.ignored is None:
        return AttributedStep(choosing.taken, StepAuthor.GUIDE, f"the model wanted {choosing.first}")
    by = StepAuthor.MAPPED if choosing.first == choosing.taken else StepAuthor.GUIDE
    return AttributedStep(choosing.taken, by, f"the model ignored the choice and wrote {choosing.ignored or 'nothing'}")


def _in_rounds(
    recorder: Recorder,
    name: str,
    messages: tuple[Message, ...],
    checker: Checker,
    wishes: PlanOptions,
    repairs: Repairs,
    rounds: list[Round],
) -> PlanResult:
    for number in range(1, wishes.rounds + 1):
        current = proposal(recorder, name, messages, checker, wishes, retry=number - 1)
        if current.declined is not None:
            return PlanResult(Status.REFUSED, (), None, (*rounds, current), current.declined)
        if not current.safe and number < wishes.rounds:
            current = current._replace(feedback=_feedback(current, rounds, checker, wishes, repairs))
            messages = (*messages, Message(Role.ASSISTANT, _excerpt(current)), Message(Role.USER, current.feedback))
        rounds.append(current)
        if current.safe:
            return PlanResult(Status.FOUND, current.parts, current.report, tuple(rounds), removed=current.dropped)
    return _none_safe(rounds, wishes)


def _replanned(
    recorder: Recorder,
    name: str,
    messages: tuple[Message, ...],
    checker: Checker,
    wishes: PlanOptions,
    cropped: Crop | None,
) -> PlanResult:
    """Execute each proposal up to its first failing step; the next proposal continues from there."""
    walker = Walker(checker, cropped)
    rounds: list[Round] = []
    for retry in range(wishes.rounds):
        current = proposal(recorder, name, messages, checker, wishes, walker.steps, retry)
        if current.declined is not None:
            return PlanResult(Status.REFUSED, (), None, (*rounds, current), current.declined)
        excerpt = _excerpt(current)
        if current.plan is None:
            feedback_text = (
                feedback.unread(wishes.feedback, current.refused, current.exchanges[-1].answer.text) or _ONCE_MORE
            )
        else:
            walk = walker.walk(current.parts)
            current = merged_round(current, walker)
            if current.safe and walker.ended:
                rounds.append(current)
                return PlanResult(Status.FOUND, current.parts, current.report, tuple(rounds), removed=current.dropped)
            feedback_text = walker.feedback_text(walk, wishes)
        rounds.append(current._replace(feedback=feedback_text))
        messages = (*messages, Message(Role.ASSISTANT, excerpt), Message(Role.USER, feedback_text))
    rounds[-1] = rounds[-1]._replace(feedback="")
    return _none_safe(rounds, wishes)


def _none_safe(rounds: list[Round], wishes: PlanOptions) -> PlanResult:
    read = [current for current in rounds if current.report is not None]
    best = max(read, key=_rank) if read else None
    detail = f"none of {wishes.rounds} plans is safe" if wishes.rounds > 1 else "the plan is not safe"
    if best is None:
        return PlanResult(Status.NOT_FOUND, (), None, tuple(rounds), detail)
    return PlanResult(Status.NOT_FOUND, best.parts, best.report, tuple(rounds), detail, best.dropped)


def _rank(proposal_round: Round) -> tuple[int, int]:
    """Of proposals the one with the fewest findings that follow from nothing; of those the longest."""
    assert proposal_round.report is not None
    return -len([f for f in proposal_round.report.findings if not f.follows]) - proposal_round.report.suppressed, len(
        proposal_round.parts
    )


def _feedback(current: Round, before: list[Round], checker: Checker, wishes: PlanOptions, repairs: Repairs) -> str:
    """The feedback on a proposal; without feedback the model is only asked again."""
    if current.report is None or current.plan is None:
        text_of_feedback = feedback.unread(wishes.feedback, current.refused, current.exchanges[-1].answer.text)
    else:
        steps = [part.step for part in current.parts]
        text_of_feedback = feedback.of_report(
            wishes.feedback, checker, Source(PLAN, current.plan), current.report, steps, repairs
        )
    if wishes.feedback is Style.NONE:
        return _ONCE_MORE
    again = current.plan is not None and any([earlier.plan == current.plan for earlier in before])
    return f"{_SAME if again else ''}{text_of_feedback}"


def _excerpt(current: Round) -> str:
    """The proposal in the next request: its steps, or the beginning of an answer that was not read."""
    if current.plan is not None and len(current.plan) <= _MAX_EXCERPT:
        return current.plan
    if current.plan is not None:
        return f"{current.plan[: current.plan.rfind(chr(10), 0, _MAX_EXCERPT) + 1]}.."
    return current.exchanges[-1].answer.text[:_MAX_EXCERPT] or "(nothing)"


_MOST = 1_000
"""Steps of a plan that are compared: the comparison may be quadratic."""


def attributed(
    original: Sequence[str], parts: Sequence[AttributedStep]
) -> tuple[tuple[AttributedStep, ...], tuple[AttributedStep, ...]]:
    """The parts with those marked that the given plan has in the same order; and what the model took out of it."""
    steps = [part.step for part in parts]
    if len(original) > _MOST or len(steps) > _MOST:
        return tuple(parts), ()
    out: list[AttributedStep] = []
    gone: list[AttributedStep] = []
    for kind, i, j, k, n in SequenceMatcher(None, list(original), steps, autojunk=False).get_opcodes():
        if kind == "equal":
            out += [part._replace(by=StepAuthor.GIVEN) for part in parts[k:n]]
        else:
            out += parts[k:n]
            gone += [AttributedStep(step, StepAuthor.MODEL, "not in the model's plan") for step in original[i:j]]
    return tuple(out), tuple(gone)


GO_ON = "Go on from here: write only the steps that are still to come, one a line and nothing else."


class Walk(NamedTuple):
    """The executed steps of a proposal; ``failed`` is the first step that was not executed, if any."""

    steps: tuple[AttributedStep, ...]
    failed: str | None


class Walker:
    """The current state of the plan. Raises ``ValueError`` for tasks whose steps cannot be executed one by one."""

    def __init__(self, checker: Checker, cropped: Crop | None) -> None:
        why = find_unsupported_task_reason(checker.compiled, True)
        if why:
            raise ValueError(why)
        self.checker = checker
        self.steps: list[AttributedStep] = []
        self._cropped = cropped
        self._now = Execution.initial(checker.engine, True, checker.options.criteria)

    def walk(self, parts: Sequence[AttributedStep]) -> Walk:
        """Take steps until one fails."""
        done: list[AttributedStep] = []
        objects = self.checker.engine.task.objects
        for part in parts:
            options = {step_text(option.step, objects): option for option in self._now.options()}
            option = options.get(part.step)
            if option is None or option.broken:
                return Walk(tuple(done), part.step)
            self._now.take(option.step)
            done.append(part)
            self.steps.append(part)
        return Walk(tuple(done), None)

    @property
    def ended(self) -> bool:
        """Whether the plan may end here."""
        return self._now.accepted

    def so_far(self) -> str:
        """The plan up to here, one step a line."""
        return "".join([f"{part.step}\n" for part in self.steps])

    def feedback_text(self, walk: Walk, wishes: PlanOptions) -> str:
        """The feedback: the failed step with its reason, the steps done, and the current facts."""
        if wishes.feedback is Style.NONE:
            return GO_ON
        text = f"{self.so_far()}{'' if walk.failed is None else walk.failed}\n"
        report = self.checker.check(Source(PLAN, text))
        steps = [part.step for part in self.steps] + ([] if walk.failed is None else [walk.failed])
        number = len(self.steps) + 1
        about = [f for f in report.findings if not f.follows]
        if walk.failed is not None:
            about = [f for f in about if f.step == number and not f.at_end]
        lines = [f"- {feedback.template(finding, steps)}" for finding in about[: feedback.MOST_FINDINGS]]
        if not lines and walk.failed is not None:
            lines = [f"- Step {number}, {walk.failed[: feedback.LONGEST_TEXT]}, is no step that can be taken here."]
        done = "".join([f"\n{part.step}" for part in self.steps]) or " nothing."
        facts = facts_text(self.checker.engine.task, self._cropped, self._now.state.facts)
        return "\n".join([*lines, f"Done so far:{done}", f"Now:\n{facts}", GO_ON])


def merged_round(proposal: Round, walker: Walker) -> Round:
    """The round with the plan of all rounds together, and its verdict."""
    text = walker.so_far()
    return proposal._replace(plan=text, parts=tuple(walker.steps), report=walker.checker.check(Source(PLAN, text)))
