"""Parts about single states: the set of bindings that violate them now, updated only by changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import compile_extension, compile_patterns
from plansafe.verifier.execution.monitors.finding import MAX_INSTANCES, Binding, TooManyInstances, Violation
from plansafe.verifier.execution.monitors.index import FactIndexes, InstanceIndex
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.state import State, StateChange, shallow_copy
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import Formula, Variable


class ConditionEvaluator:
    """The three-valued truth of ``formula`` under a binding: by generated code, or interpreted if it is undefined."""

    def __init__(self, emitter: Emitter, formula: Formula, parameters: tuple[Variable, ...]) -> None:
        self.formula = formula
        self.slots = [v.slot for v in parameters]
        self.task = emitter.task
        self._emitter = emitter
        self._fast: Callable[..., bool] | None = None  # compiled at first use: many are never used

    def __call__(self, state: State, binding: Binding) -> bool | None:
        """The value in a state; ``None`` for undefined."""
        fast = self._fast
        if fast is None:
            fast = self._fast = self._emitter.compile_condition(self.formula, self.slots)
        try:
            return fast(state.facts, state.fluents, *binding)
        except (KeyError, ZeroDivisionError):
            evaluator = Evaluator(self.task, state.facts, state.fluents)
            return evaluator.holds(self.formula, dict(zip(self.slots, binding, strict=True)))


class Episode:
    """A block of letters in which an instance is violated; blame depends on whether it began at letter 0."""

    __slots__ = ("start", "touched")

    def __init__(self, start: int, touched: bool) -> None:
        self.start = start
        self.touched = touched

    def blame(self, mentions_actions: bool) -> str:
        """The blame until now. ``mentions_actions``: the rule mentions actions."""
        return "introduced" if self.start or mentions_actions else "worsened" if self.touched else "pre-existing"


class InvariantMonitor:
    """``body`` must hold in every state (``always``), or in the last (``final``), for every binding.

    Work per step: the triggers of the facts that changed, and the violated bindings that read them.
    """

    reads_actions = False
    awake = False
    """Only changes make it due."""

    def __init__(
        self,
        part: int,
        emitter: Emitter,
        parameters: tuple[Variable, ...],
        body: Formula,
        *,
        final: bool,
        mentions_actions: bool = False,
        limit: int = MAX_INSTANCES,
    ) -> None:
        self.part = part
        self.final = final
        self.mentions_actions = mentions_actions
        self.limit = limit
        self.search = compile_extension(emitter, body, False, parameters)
        self.holds = ConditionEvaluator(emitter, body, parameters)
        self.readers = InstanceIndex(compile_patterns(emitter, body, parameters))
        self.episodes: dict[Binding, Episode] = {}
        self.undecided: set[Binding] = set()
        self.candidates: list[Binding] = []
        self.touches = 0
        self.violations: list[Violation] = []
        self._touched: set[Binding] = set()

    def triggers(self) -> list[tuple[int, bool | None, Callable[..., None]]]:
        """The functions that find bindings, each with its predicate and whether the fact is added."""
        return [(t.predicate, t.added, t.find) for t in self.search.triggers]

    def is_stable(self, _letter_time: LetterTime) -> bool:
        """Whether :meth:`step` would change nothing."""
        return not (self._touched or self.candidates)

    def start(self, state: State, indexes: FactIndexes) -> None:
        """Find every violation of S0."""
        self.search.find_all(state.facts, state.fluents, indexes.tables, 0, self.candidates)

    def is_affected(self, predicate: int, code: int) -> bool:
        """Whether a change must be recorded: a violated instance reads it."""
        return bool(self.episodes) and self.readers.has_reader(predicate, code)

    def record_change(self, predicate: int, code: int) -> bool:
        """Record a changed fact for the violated instances that read it; return :meth:`is_affected`."""
        return bool(self.episodes) and self.readers.add_readers(predicate, code, self._touched)

    @property
    def affects_end(self) -> bool:
        """Whether the end of the trace causes a violation or an undecided instance."""
        return bool(self.episodes or (self.final and self.undecided))

    def step(self, state: State, letter_time: LetterTime) -> None:
        """Evaluate the instances that changes since the last letter may have affected."""
        letter = letter_time.letter
        if self._touched:
            for binding in self._touched:
                episode = self.episodes.get(binding)
                if episode is None:
                    continue
                value = self.holds(state, binding)
                if value is False:
                    episode.touched = episode.touched or letter > 0
                    continue
                if value is None:
                    self.undecided.add(binding)
                self._close(binding, episode)
            self._touched.clear()
        if self.candidates:
            for binding in self.candidates:
                if binding not in self.episodes:
                    value = self.holds(state, binding)
                    if value is False:
                        self.episodes[binding] = Episode(letter, False)
                        self.readers.add(binding)
                        if len(self.episodes) > self.limit:
                            raise TooManyInstances
                    elif value is None:
                        self.undecided.add(binding)
            self.touches += len(self.candidates)
            self.candidates.clear()

    def predict(
        self, state: State, changes: Iterable[StateChange], candidates: list[Binding], _letter_time: LetterTime
    ) -> tuple[list[Binding], list[Binding]]:
        """The bindings that :meth:`step` would report newly violated, and newly undecided, after ``changes``."""
        distinct = dict.fromkeys(candidates)
        touched: set[Binding] = set()
        if self.episodes:
            for index, code, _ in changes:
                self.readers.add_readers(index, code, touched)
        values = {binding: self.holds(state, binding) for binding in (*distinct, *touched)}
        violated = [binding for binding in distinct if values[binding] is False and binding not in self.episodes]
        return violated, [b for b, value in values.items() if value is None and b not in self.undecided]

    def _close(self, binding: Binding, episode: Episode) -> None:
        del self.episodes[binding]
        self.readers.remove(binding)
        if not self.final:
            self._report(binding, episode, False)

    def _report(self, binding: Binding, episode: Episode, at_end: bool, letter: int | None = None) -> None:
        letter = episode.start if letter is None else letter
        self.violations.append(
            Violation(self.part, binding, letter, letter, at_end, episode.blame(self.mentions_actions))
        )

    def finish(self, state: State, letter: int) -> None:
        """Report the violations that last until the end; a condition on the last state counts only there."""
        if self.final:
            self.undecided = {binding for binding in self.undecided if self.holds(state, binding) is None}
        for binding, episode in self.episodes.items():
            self._report(binding, episode, self.final, letter if self.final else None)

    def fork(self) -> InvariantMonitor:
        """An independent copy."""
        copy = shallow_copy(self)
        copy.readers = self.readers.fork()
        copy.episodes = {b: Episode(e.start, e.touched) for b, e in self.episodes.items()}
        copy.undecided = set(self.undecided)
        copy.candidates = []
        copy.violations = list(self.violations)
        copy._touched = set()  # noqa: SLF001 - of its own class
        return copy
