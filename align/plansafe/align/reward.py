"""The verdict as a reward for trl's ``reward_funcs``: a score of a completion from 0 to 1 (docs/alignment.md).

    GRPOTrainer(model, reward_funcs=verdict_reward(), train_dataset=rows_with_prompt_and_origin)

A score depends on the task and the text only, not on the batch. Completions are untrusted: they are read within bounds,
and cannot name a task or a rule.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from plansafe.align.tasks import AlignTask, data_folder, task_of
from plansafe.grammar.source import Source
from plansafe.llm.loose.reader import read_loose
from plansafe.llm.loose.strict import quick_steps
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.replay import HALT, Replay
from plansafe.verifier.execution.state import NumberTooLarge, State
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import And, Formula
from plansafe.verifier.planning.forward_search import find_unsupported_task_reason
from plansafe.verifier.planning.visited_states import compute_state_hash_change

MOST_CHARACTERS = 20_000
MOST_STEPS = 200
"""A longer completion is not read and scores 0."""
MOST_TASKS = 256
"""Maximum number of cached tasks."""
USUAL_LENGTH = 10
"""The assumed length of a plan if no reference is known."""
_EVERY_STEP = frozenset(range(1, MOST_STEPS + 1))
_BEYOND = (NumberTooLarge, TooManyInstances, LimitReached)


@dataclass(frozen=True, slots=True)
class Worth:
    """The weights of the parts of a score. With them a safe plan that reaches the goal scores above all others.

    ``written``, ``executed``, ``goal``, ``safe``: see docs/alignment.md. ``loose``: factor of ``written`` if the text
    is not only a plan. ``unsafe``: factor of the score of a plan that breaks a rule.
    """

    written: float = 0.05
    executed: float = 0.15
    goal: float = 0.4
    safe: float = 0.4
    loose: float = 0.5
    unsafe: float = 0.5


WORTH = Worth()


class Score(NamedTuple):
    """A completion's score and its parts, from 0 to 1; ``steps`` is the number of steps read.

    ``written``: well-formed steps, less if the text was read loosely; ``executed``: executed steps that led to a new
    state; both as shares of the plan, or of the reference if that is longer. ``goal``: the share of the goal that the
    plan reached. ``follows_rules``: no rule is broken, also if the plan ends where it stopped. ``safe``: the checker's
    verdict is SAFE or VALID, and no remark in the text can change it.
    """

    total: float = 0.0
    steps: int = 0
    written: float = 0.0
    executed: float = 0.0
    goal: float = 0.0
    follows_rules: bool = False
    safe: bool = False


NOTHING = Score()


class Scorer:
    """Scores completions for one task. Raises ``ValueError`` for a task that is not executed step by step."""

    def __init__(self, task: AlignTask, worth: Worth = WORTH) -> None:
        why = find_unsupported_task_reason(task.checker.compiled, True) if task.checker.ok else "the task has errors"
        if why:
            raise ValueError(f"{task.origin}: {why}")
        self.checker = task.checker
        self.worth = worth
        self.length = task.reference.count("\n") or USUAL_LENGTH
        self._goal = [part for formula in self.checker.engine.task.goal for part in _parts(formula)]
        state = Execution.initial(self.checker.engine, False).state
        self._met = self._reached(state)

    def score(self, text: str) -> Score:
        """The score of a completion, in linear time. 0 if the goal holds at the start: the empty plan would do."""
        if len(text) > MOST_CHARACTERS or self._met == len(self._goal):
            return NOTHING
        read = self._read(text)
        if read is None or not 0 < len(read[0]) <= MOST_STEPS:
            return NOTHING
        steps, plain, certain = read
        size, worth = len(steps), self.worth
        run = _Counted(self.checker.engine, HALT)
        run.run_steps(steps)
        now = Execution(run.engine, run.state, run.runtime, run.letter, self.checker.options.criteria)
        complete = run.executed_count == size
        try:
            # If a step fails the robot stops there, and termination rules are checked; otherwise a failing last step
            # would avoid them.
            broken = run.limit is not None or now.broken or now.undecided or bool(now.violations_at_end)
            safe = complete and not broken and now.accepted and certain
        except _BEYOND:
            broken, safe = True, False
        reached = self._reached(now.state)
        met, parts = self._met, len(self._goal)
        goal = max(reached - met, 0) / (parts - met)
        # Shares of at least the reference's length: neither a short harmless plan nor an endless one scores.
        needed = size if safe else max(size, self.length)
        formed = sum([isinstance(step, GroundAction) for step in steps])
        written = formed / needed * (1.0 if plain else worth.loose)
        executed = min(size if safe else run.fresh, self.length) / needed
        total = worth.written * written + worth.executed * executed + worth.goal * goal + worth.safe * safe
        if broken:
            total *= worth.unsafe
        return Score(total, size, written, executed, goal, not broken, safe)

    def _read(self, text: str) -> tuple[Sequence[GroundAction | IllFormed], bool, bool] | None:
        """The steps, whether the text is a plain plan, and whether no remark can change the steps."""
        quick = quick_steps(text, self.checker)
        if quick is not None:
            return *quick, True
        answer = read_loose(Source("completion", text), self.checker)
        if answer.plan is None:
            return None
        read = self.checker.read(answer.plan)
        if read.text.diagnostics or read.timed is not None or read.is_open:
            return None
        return read.steps, False, not answer.remarks

    def _reached(self, state: State) -> int:
        """The number of parts of the goal that hold."""
        evaluator = Evaluator(self.checker.engine.task, state.facts, state.fluents)
        return sum([evaluator.holds(part, {}) is True for part in self._goal])


def _parts(goal: Formula) -> list[Formula]:
    if isinstance(goal, And):
        return [part for conjunct in goal.parts for part in _parts(conjunct)]
    return [goal]


class _Counted(Replay):
    """A replay that counts the steps that lead to a new state. Failures are not explained."""

    def __init__(self, engine: Engine, reading: str) -> None:
        super().__init__(engine, reading)
        self.fresh = 0
        self.explained_steps = _EVERY_STEP
        self._at = 0
        self._visited = {0}

    @property
    def _is_plain(self) -> bool:
        """Enter every state, also if no rule watches it."""
        return False

    def _enter_state(self, number: int) -> None:
        self._at ^= compute_state_hash_change(self.engine, self.state, self.log)
        self.fresh += self._at not in self._visited
        self._visited.add(self._at)
        super()._enter_state(number)


# ---- trl ------------------------------------------------------------------------------------------------------------


class RewardFunction(Protocol):
    """A reward function of trl: keyword arguments only, with each column of the data set as a list."""

    __name__: str

    def __call__(self, *, completions: Sequence[object], **columns: Any) -> list[float]:
        """A reward for each completion."""


def verdict_reward(
    data: str | None = None, worth: Worth = WORTH, load: Callable[[str], AlignTask] | None = None
) -> RewardFunction:
    """A reward function whose rows name their tasks in the column ``origin`` (``plansafe.align.tasks``).

    ``data``: the folder of public data sets (default: ``PLANSAFE_DATA``). ``load`` makes a task from an origin. The
    function raises ``ValueError`` if the column is missing or names no task, since that is a mistake of the data set.
    """
    make = load or (lambda origin: task_of(origin, data or data_folder()))
    scorers: OrderedDict[str, Scorer] = OrderedDict()

    def scorer(origin: str) -> Scorer:
        cached = scorers.get(origin)
        if cached is None:
            cached = scorers[origin] = Scorer(make(origin), worth)
            if len(scorers) > MOST_TASKS:
                scorers.popitem(last=False)
        scorers.move_to_end(origin)
        return cached

    def verdict(*, completions: Sequence[object], **columns: Any) -> list[float]:
        origins = columns.get("origin")
        if not isinstance(origins, Sequence) or isinstance(origins, str) or len(origins) != len(completions):
            raise ValueError("the reward needs a column `origin` that names the task of each prompt")
        rewards = []
        for origin, completion in zip(origins, completions, strict=True):
            text = text_of(completion)
            rewards.append(0.0 if text is None else scorer(origin).score(text).total)
        return rewards

    return verdict


def text_of(completion: object) -> str | None:
    """The text of a completion: a text, or the last of a list of messages; ``None`` for anything else.

    A message's content is a text, or a list of parts whose texts are joined.
    """
    if isinstance(completion, str):
        return completion
    if not isinstance(completion, Sequence) or not completion or not isinstance(completion[-1], Mapping):
        return None
    content = completion[-1].get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return None
    texts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    return "".join([text for text in texts if isinstance(text, str)])
