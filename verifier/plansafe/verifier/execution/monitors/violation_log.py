"""The violations of an automaton's instances, and the blame for them.

A violation that is present at letter 0 is pre-existing, unless the plan changes a fact that its instance reads before
it ends. Until it ends, its blame is ``early``: not decided yet.
"""

from __future__ import annotations

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.monitors.finding import Binding, Violation
from plansafe.verifier.execution.monitors.index import InstanceIndex
from plansafe.verifier.execution.monitors.program import MonitorMode, Program
from plansafe.verifier.execution.monitors.trace_operators import PERMANENTLY_VIOLATED, LetterTime
from plansafe.verifier.execution.state import shallow_copy
from plansafe.verifier.model.nodes import Task, Temporal
from plansafe.verifier.rules.rule_conjuncts import is_past_only

EARLY = "early"
"""The blame for a violation that was present at letter 0, until it can be decided."""


class Instance:
    """The automaton of one binding: its state, the ``bits`` of its leaves, and what the blame depends on.

    ``violated_at_start``: it was violated at letter 0, or the premise of a response held there. ``was_satisfied``: it
    has been satisfied at some letter. ``violated``, only for a past formula: it was violated at the letter read last.
    """

    __slots__ = ("bits", "state", "violated", "violated_at_start", "was_satisfied")

    def __init__(self, state: int, bits: int) -> None:
        self.state = state
        self.bits = bits
        self.violated_at_start = False
        self.was_satisfied = False
        self.violated = False

    def copy(self) -> Instance:
        """Return an independent copy."""
        instance = Instance(self.state, self.bits)
        instance.violated_at_start, instance.was_satisfied, instance.violated = (
            self.violated_at_start,
            self.was_satisfied,
            self.violated,
        )
        return instance


class InitialViolation(NamedTuple):
    """A violation that was present at letter 0: its instance, and its number among the violations."""

    instance: Instance
    number: int


class ViolationLog:
    """The violations of one automaton.

    ``readers``: the facts that the instances read. ``mentions_actions``: the rule mentions actions, so that no
    violation is pre-existing.
    """

    def __init__(
        self, part: int, task: Task, mode: MonitorMode, program: Program, readers: InstanceIndex, mentions_actions: bool
    ) -> None:
        self.part = part
        self.mode = mode
        self.program = program
        self.readers = readers
        self.mentions_actions = mentions_actions
        self.violations: list[Violation] = []
        self.tracks_initial = False
        """Whether changes are recorded for the blame for violations at letter 0."""
        self.affected_keys: dict[int, set[Binding]] = {}
        """By read pattern: the keys of the facts that have changed since the start."""
        self._newly_affected_keys: dict[int, set[Binding]] = {}
        """By read pattern: the keys of the facts that have changed since the last letter."""
        self._initial_violations: dict[Binding, InitialViolation] = {}
        self._premise: Program | None = None
        """The premise of a response formula, by which letter 0 is judged; ``None`` for other formulas."""
        match program.formula:
            case Temporal("sometime-after" | "always-within", (premise, _)) if mode == "whole":
                self._premise = Program(task, "always", premise) if is_past_only(premise) else None
        self.is_response = self._premise is not None

    def record_change(self, predicate: int, code: int) -> None:
        """Record that a fact has changed, if some instance may read it."""
        for number in self.readers.pattern_numbers.get(predicate, ()):
            pattern = self.readers.patterns[number]
            key = pattern.key(code)
            if key is not None:
                self._newly_affected_keys.setdefault(number, set()).add(key)

    def was_affected(self, binding: Binding) -> bool:
        """Whether a fact that an instance reads has changed since the start; this decides blame."""
        for number, keys in self.affected_keys.items():
            if tuple([binding[p] for p in self.readers.patterns[number].parameters]) in keys:
                return True
        return False

    def end_letter(self) -> None:
        """Let the changes before a letter count only now: a change that ends a violation does not worsen it."""
        if self._newly_affected_keys:
            for number, keys in self._newly_affected_keys.items():
                self.affected_keys.setdefault(number, set()).update(keys)
            self._newly_affected_keys = {}

    @property
    def has_pending_changes(self) -> bool:
        """Whether changes since the last letter wait for the end of the next."""
        return bool(self._newly_affected_keys)

    def record_start(self, instance: Instance, bits: int, letter_time: LetterTime) -> None:
        """Record, at letter 0, whether a violation or the trigger of a response is present before any step.

        ``bits``: the values of the leaves at this letter.
        """
        if self.mentions_actions or self.mode in ("each", "latch"):
            return
        if self.is_response:
            assert self._premise is not None
            premise_bits = 0  # of the premise alone, whose leaves have other numbers
            for number, leaf in enumerate(self._premise.leaves):
                premise_bits |= (bits >> self.program.number_leaf(leaf) & 1) << number
            instance.violated_at_start = self._premise.read_output(
                self._premise.step(self._premise.start, premise_bits, 0, letter_time)
            )
        elif self.program.past_mode:
            instance.violated_at_start = not self.program.read_output(instance.state)
        else:
            instance.violated_at_start = self.program.find_verdict(instance.state) == PERMANENTLY_VIOLATED
        self.tracks_initial = self.tracks_initial or instance.violated_at_start

    def _settle_blame(self, number: int) -> None:
        """Decide the blame for a violation that was present at letter 0 and has ended."""
        if self.violations[number].blame == EARLY:
            self.violations[number] = self.violations[number]._replace(blame=self.decide_blame(number))

    def decide_blame(self, number: int) -> str:
        """Return the blame so far for the violation with a number. If it was present at letter 0, it may change."""
        violation = self.violations[number]
        if violation.blame != EARLY:
            return violation.blame
        instance = self._initial_violations[violation.binding].instance
        if instance.was_satisfied and (self.is_response or violation.at_end):
            return "introduced"
        return "worsened" if self.was_affected(violation.binding) else "pre-existing"

    def report(self, binding: Binding, instance: Instance, letter: int, *, at_end: bool) -> None:
        """Record a violation. Its blame is ``EARLY`` until that can be decided (:meth:`_settle_blame`)."""
        is_early = instance.violated_at_start and (self.is_response or letter == 0 or at_end)
        self.violations.append(
            Violation(self.part, binding, letter, letter, at_end, EARLY if is_early else "introduced")
        )
        if is_early:
            self._initial_violations[binding] = InitialViolation(instance, len(self.violations) - 1)

    def settle_ended_violation(self, binding: Binding) -> None:
        """Decide the blame for a binding's violation that was present at letter 0, if there is one, and has ended."""
        if binding in self._initial_violations:
            self._settle_blame(self._initial_violations[binding].number)

    def settle_all(self) -> None:
        """Decide the blame for all violations at the end of the trace."""
        for number in range(len(self.violations)):
            self._settle_blame(number)

    def fork(self) -> ViolationLog:
        """Return an independent copy."""
        copy = shallow_copy(self)
        copy.violations = list(self.violations)
        copy.affected_keys = {n: set(k) for n, k in self.affected_keys.items()}
        copy._newly_affected_keys = {n: set(k) for n, k in self._newly_affected_keys.items()}  # noqa: SLF001 - of its own class
        copy._initial_violations = dict(self._initial_violations)  # noqa: SLF001 - of its own class
        return copy
