"""Monitors of parts about single states: the set of bindings that violate them now, updated only by changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import Trigger, compile_extension, compile_read_patterns
from plansafe.verifier.execution.monitors.condition_evaluator import ConditionEvaluator
from plansafe.verifier.execution.monitors.finding import MAX_INSTANCES, Binding, TooManyInstances, Violation
from plansafe.verifier.execution.monitors.index import FactIndexes, InstanceIndex
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.state import State, shallow_copy
from plansafe.verifier.model.nodes import Formula, Variable


class Episode:
    """A block of letters in which an instance is violated. ``start`` is its first letter.

    ``was_affected``: a step has changed a fact that the instance reads, and has not ended the block.
    """

    __slots__ = ("start", "was_affected")

    def __init__(self, start: int, was_affected: bool = False) -> None:
        self.start = start
        self.was_affected = was_affected

    def decide_blame(self, *, mentions_actions: bool) -> str:
        """Return the blame so far; a rule that mentions actions cannot be violated before the first step."""
        if self.start or mentions_actions:
            return "introduced"
        return "worsened" if self.was_affected else "pre-existing"


class InvariantMonitor:
    """Watches a condition on single states: ``body`` must hold in every state, or only in the last (``final``).

    ``episodes`` has the instances that are violated now. ``candidates`` has the bindings that triggers have found since
    the last letter. Work per step: the triggers of the facts that changed, and the violated bindings that read them.
    """

    reads_actions = False
    awake = False
    """Whether the next letter matters even if nothing changes: never."""

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
        self.readers = InstanceIndex(compile_read_patterns(emitter, body, parameters))
        self.episodes: dict[Binding, Episode] = {}
        self.undecided: set[Binding] = set()
        """The bindings under which the condition has read an undefined number."""
        self.candidates: list[Binding] = []
        self.candidate_count = 0
        """The number of bindings that triggers have found until now."""
        self.violations: list[Violation] = []
        self._affected_bindings: set[Binding] = set()
        """The violated bindings that read a change since the last letter."""

    def list_triggers(self) -> Sequence[Trigger]:
        """Return the triggers that find bindings."""
        return self.search.triggers

    def is_stable(self, _letter_time: LetterTime) -> bool:
        """Whether :meth:`step` would change nothing."""
        return not (self._affected_bindings or self.candidates)

    def start(self, state: State, indexes: FactIndexes) -> None:
        """Find every violation of S0."""
        self.search.find_all(state.facts, state.fluents, indexes, 0, self.candidates)

    def select_new_bindings(self, state: State, bindings: Iterable[Binding]) -> list[Binding]:
        """Return the bindings, each once, that are newly violated or undecided and are not candidates yet."""
        candidates = set(self.candidates)
        new_bindings = [b for b in dict.fromkeys(bindings) if b not in candidates and b not in self.episodes]
        values = [self.holds(state, binding) for binding in new_bindings]
        return [
            binding
            for binding, value in zip(new_bindings, values, strict=True)
            if value is False or (value is None and binding not in self.undecided)
        ]

    def is_affected(self, predicate: int, code: int) -> bool:
        """Whether a change must be recorded: a violated instance reads it."""
        return bool(self.episodes) and self.readers.has_reader(predicate, code)

    def record_change(self, predicate: int, code: int) -> bool:
        """Record a changed fact for the violated instances that read it; return :meth:`is_affected`."""
        return bool(self.episodes) and self.readers.add_readers(predicate, code, self._affected_bindings)

    @property
    def affects_end(self) -> bool:
        """Whether the end of the trace causes a violation or an undecided instance."""
        return bool(self.episodes or (self.final and self.undecided))

    def step(self, state: State, letter_time: LetterTime) -> None:
        """Evaluate the instances that changes since the last letter may have affected."""
        letter = letter_time.letter
        if self._affected_bindings:
            for binding in self._affected_bindings:
                episode = self.episodes.get(binding)
                if episode is None:
                    continue
                value = self.holds(state, binding)
                if value is False:
                    episode.was_affected = episode.was_affected or letter > 0
                    continue
                if value is None:
                    self.undecided.add(binding)
                self._end_episode(binding, episode)
            self._affected_bindings.clear()
        if self.candidates:
            for binding in self.candidates:
                if binding not in self.episodes:
                    value = self.holds(state, binding)
                    if value is False:
                        self.episodes[binding] = Episode(letter)
                        self.readers.add(binding)
                        if len(self.episodes) > self.limit:
                            raise TooManyInstances
                    elif value is None:
                        self.undecided.add(binding)
            self.candidate_count += len(self.candidates)
            self.candidates.clear()

    def _end_episode(self, binding: Binding, episode: Episode) -> None:
        """Remove an episode that has ended, and report its violation unless only the last state counts."""
        del self.episodes[binding]
        self.readers.remove(binding)
        if not self.final:
            self._report(binding, episode, episode.start, at_end=False)

    def _report(self, binding: Binding, episode: Episode, letter: int, *, at_end: bool) -> None:
        blame = episode.decide_blame(mentions_actions=self.mentions_actions)
        self.violations.append(Violation(self.part, binding, letter, letter, at_end, blame))

    def finish(self, state: State, letter: int) -> None:
        """Report the violations that last until the end; a condition on the last state counts only there."""
        if self.final:
            self.undecided = {binding for binding in self.undecided if self.holds(state, binding) is None}
        for binding, episode in self.episodes.items():
            self._report(binding, episode, letter if self.final else episode.start, at_end=self.final)

    def fork(self) -> InvariantMonitor:
        """Return an independent copy, made after a letter, when no change is waiting."""
        copy = shallow_copy(self)
        copy.readers = self.readers.fork()
        copy.episodes = {b: Episode(e.start, e.was_affected) for b, e in self.episodes.items()}
        copy.undecided = set(self.undecided)
        copy.candidates = []
        copy.violations = list(self.violations)
        copy._affected_bindings = set()  # noqa: SLF001 - of its own class
        return copy
