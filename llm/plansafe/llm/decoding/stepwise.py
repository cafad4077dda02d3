"""Plans step by step: a model chooses each step among those that a guide offers.

``shield``: among the steps that can be taken and break no rule now; the plan ends only where it may. ``guided``: a step
is also left out if no continuation after it is known within the remaining length; only the step that the model
chose is tested. Under both, steps back to where the plan was come last. ``soft``: among all that can be
taken, and what would have been left out is counted.
The model is asked first among *all* steps that can be taken, so that its preference is known before any step is masked.

The prompt for one step of a plan that is built step by step: the steps done, their changes, and the request.

Version 1. Chosen on the development families (bench/results/models.md): a small model that only sees its steps writes
the plan from its beginning again, and goes in circles.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from plansafe.llm.models.answer import Answer
from plansafe.llm.models.batch import ask
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model
from plansafe.llm.models.request import Choice, Message, Request, Situation
from plansafe.llm.prompts.planning import PLAN
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning.guide import Continuation, Guide

DONE = "(done)"
"""What a model chooses to end its plan."""
_WIDEST = 200


class Mode(StrEnum):
    """The restriction of a model's choices."""

    SOFT = "soft"
    SHIELD = "shield"
    GUIDED = "guided"


class End(StrEnum):
    """Why a plan ends: the model ended it, or it is as long as it may be, or nothing is left to choose from.

    ``UNKNOWN``: under the guide, no continuation was found from the start, and none excluded.
    """

    DONE = "done"
    LENGTH = "length"
    STUCK = "stuck"
    UNSOLVABLE = "unsolvable"
    UNKNOWN = "unknown"


class Choosing(NamedTuple):
    """One step: how many steps could be taken, how many of them were admitted, the model's first choice, and the step.

    ``blocked`` are the choices that were turned down, in order. ``forced``: there was one admitted step, and the model
    was not asked. ``ignored``: the model's text if it is none of the choices; ``first`` is then the choice nearest to
    that.
    """

    executable: int
    admitted: int
    first: str
    taken: str
    blocked: tuple[str, ...] = ()
    forced: bool = False
    ignored: str | None = None

    @property
    def kept(self) -> bool:
        """Whether the model's first choice is the step that was taken."""
        return self.first == self.taken and self.ignored is None

    @property
    def row(self) -> list[Any]:
        """The step as a row of a benchmark's record, with what the model really wrote first."""
        first = self.first if self.ignored is None else self.ignored
        return [self.executable, self.admitted, first, self.taken, list(self.blocked), self.forced]


class Decoded(NamedTuple):
    """A plan, its choices, and its cost: calls of the model, its tokens, searches of the guide."""

    steps: tuple[str, ...]
    end: End
    choices: tuple[Choosing, ...]
    calls: int
    prompt_tokens: int
    completion_tokens: int
    searches: int

    @property
    def plan(self) -> str:
        """The plan as text."""
        return "".join([f"{step}\n" for step in self.steps])


def decode(
    model: Model,
    name: str,
    messages: tuple[Message, ...],
    guide: Guide,
    mode: Mode,
    longest: int,
    cache: Cache | None = None,
    seed: int | None = None,
    temperature: float = 0.0,
) -> Decoded:
    """Let a model build a plan of at most ``longest`` steps.

    ``messages`` ask for it; the guide is at the initial state. ``seed`` is for providers that draw by it,
    ``temperature`` for all calls. Raises :class:`plansafe.llm.models.port.ModelError`.
    """
    return _Decoding(model, name, messages, guide, mode, longest, cache, seed, temperature).run()


def step_limit(continuation: Continuation, slack: tuple[int, int], default: int) -> int:
    """The maximum length of a plan: ``slack`` (numerator, denominator) times the continuation, rounded up.

    ``default`` if no continuation is known.
    """
    numerator, denominator = slack
    return -(-numerator * len(continuation.steps) // denominator) if continuation.exists else default


class _Decoding:
    def __init__(
        self,
        model: Model,
        name: str,
        messages: tuple[Message, ...],
        guide: Guide,
        mode: Mode,
        longest: int,
        cache: Cache | None,
        seed: int | None,
        temperature: float,
    ) -> None:
        self.model = model
        self.name = name
        self.messages = messages
        self.guide = guide
        self.mode = mode
        self.longest = longest
        self.cache = cache
        self.seed = seed
        self.temperature = temperature
        self.ignored: str | None = None
        self.choices: list[Choosing] = []
        self.taken: list[str] = []
        self.answers: list[Answer] = []

    def run(self) -> Decoded:
        end = self._end_before() or self._steps()
        return Decoded(
            tuple(self.taken),
            end,
            tuple(self.choices),
            len(self.answers),
            sum([answer.prompt_tokens or 0 for answer in self.answers]),
            sum([answer.completion_tokens or 0 for answer in self.answers]),
            self.guide.searches,
        )

    def _end_before(self) -> End | None:
        """Under the guide nothing is begun that is not known to end well."""
        if self.mode is not Mode.GUIDED:
            return None
        continuation = self.guide.continuation(self.longest)
        if continuation.exists:
            return None
        return End.UNSOLVABLE if continuation.exists is False else End.UNKNOWN

    def _steps(self) -> End:
        while True:
            if len(self.taken) >= self.longest:
                return End.DONE if self.guide.may_end and self.mode is not Mode.SOFT else End.LENGTH
            end = self._step()
            if end is not None:
                return end

    def _step(self) -> End | None:
        objects = self.guide.objects
        options = {step_text(option.step, objects): option for option in self.guide.options()}
        candidates = [*sorted(options), DONE]
        admitted, later = self._admitted({text: option.step for text, option in options.items() if not option.broken})
        if self.mode is Mode.SOFT:
            admitted, later = candidates, []
        if not admitted:
            return End.STUCK
        blocked: list[str] = []
        if len(admitted) == 1 and self.mode is not Mode.SOFT:
            first, forced, ignored = admitted[0], True, None
        else:
            first, forced, ignored = self._ask(candidates), False, self.ignored
        choice, left = first, list(admitted)
        continuation: Continuation | None = None
        while True:
            if choice in left:
                if choice == DONE or self.mode is not Mode.GUIDED:
                    break
                continuation = self.guide.allows(options[choice].step, self.longest - len(self.taken) - 1)
                if continuation.exists:
                    break
                left.remove(choice)
            blocked.append(choice)
            if not left:
                left, later = later, []
                if not left:
                    return End.STUCK
                if forced and len(left) > 1:  # the model was not asked yet
                    choice = first = self._ask(candidates)
                    forced, ignored = False, self.ignored
                    continue
            choice = left[0] if len(left) == 1 else self._ask(left)
        self.choices.append(Choosing(len(options), len(admitted), first, choice, tuple(blocked), forced, ignored))
        if choice == DONE:
            return End.DONE
        self.guide.take(options[choice].step, continuation)
        self.taken.append(choice)
        return None

    def _admitted(self, steps: dict[str, GroundAction]) -> tuple[list[str], list[str]]:
        """The steps that the mode offers first, and the steps that it offers if all of those are rejected.

        No step leads back to where the plan was, if another is left: small models go in circles. Under the guide the
        only way may lead back out of a place without others.
        """
        done = [DONE] if self.guide.may_end else []
        new = [text for text, step in sorted(steps.items()) if not self.guide.returns_to_visited_state(step)]
        back = sorted(steps.keys() - set(new)) if self.mode is Mode.GUIDED else []
        return ([*new, *done], back) if new or done else (sorted(steps), [])

    def _ask(self, texts: list[str]) -> str:
        request = Request(
            step_messages(self.messages, self.taken, *self.guide.changed()),
            max_tokens=64,
            temperature=self.temperature,
            seed=self.seed,
            constraint=Choice(tuple(texts)),
            situation=Situation(self.name, tuple(self.taken), tuple(texts)),
        )
        answer = ask(self.model, request, self.cache)
        self.answers.append(answer)
        choice = _match(answer.text, texts)
        self.ignored = " ".join(answer.text[:_WIDEST].split()) if choice is None else None
        return choice or _nearest(answer.text, texts)


def _match(text: str, texts: list[str]) -> str | None:
    """The choice that an answer is, apart from case, white space and parentheses."""
    words = _words(text)
    return next((choice for choice in texts if choice == text.strip() or _words(choice) == words), None)


def _nearest(text: str, texts: list[str]) -> str:
    """The choice that shares most words with an answer: a provider may not hold models to choices."""
    words = _words(text)
    return max(texts, key=lambda choice: (_shared(_words(choice), words), -len(choice)))


def _words(text: str) -> list[str]:
    return text.strip().lower().strip("()").split()


def _shared(first: list[str], second: list[str]) -> int:
    """How many words two steps share from the start."""
    count = 0
    for mine, theirs in zip(first, second, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


VERSION = 1
_NOTHING = "Nothing is done yet."
_NEXT = "Write the next step of the plan, and nothing else."
TEXTS = (_NOTHING, _NEXT)
"""All that the prompt says by itself."""


def step_messages(
    asked: tuple[Message, ...], taken: Sequence[str], gained: Sequence[str], lost: Sequence[str]
) -> tuple[Message, ...]:
    """Ask for the next step; ``asked`` are the messages that ask for a plan.

    ``gained`` are the facts that hold now and did not at the start, ``lost`` those that no longer hold.
    """
    last = asked[-1]
    lines = [last.text.removesuffix(PLAN)]
    if taken:
        lines += ["Done so far:\n", *[f"{step}\n" for step in taken]]
        lines += [f"Now also so: {' '.join(gained)}\n"] if gained else []
        lines += [f"No longer so: {' '.join(lost)}\n"] if lost else []
    else:
        lines.append(f"{_NOTHING}\n")
    return (*asked[:-1], Message(last.role, "".join([*lines, _NEXT])))
