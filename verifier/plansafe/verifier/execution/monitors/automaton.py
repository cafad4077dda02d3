"""Monitors of parts with temporal operators: an automaton for each binding whose letters differ from the default.

All bindings whose leaves have their default values behave alike, so they share one *default* instance. When a leaf of a
binding first differs, the binding gets its own instance, in the state of the default instance. An instance sleeps while
its letter and its state stay the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import prod

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import Trigger
from plansafe.verifier.execution.monitors.finding import MAX_INSTANCES, Binding, TooManyInstances, Violation
from plansafe.verifier.execution.monitors.index import FactIndexes, InstanceIndex
from plansafe.verifier.execution.monitors.leaves import AutomatonLeaves
from plansafe.verifier.execution.monitors.program import MonitorMode, Program
from plansafe.verifier.execution.monitors.trace_operators import (
    PERMANENTLY_SATISFIED,
    PERMANENTLY_VIOLATED,
    PRESENTLY_SATISFIED,
    LetterTime,
)
from plansafe.verifier.execution.monitors.violation_log import Instance, ViolationLog
from plansafe.verifier.execution.state import State, shallow_copy
from plansafe.verifier.model.nodes import Formula, Task, Variable


class Automaton:
    """Watches a part with temporal operators, whose instances all run one :class:`Program`.

    ``part``: the number of the part. ``mode``: the mode of the :class:`~plansafe.verifier.rules.model.RulePart`, or
    ``latch`` (:mod:`.latch`). ``reads_actions``: the formula reads actions of the present letter. ``mentions_actions``:
    it mentions any action, so that a violation cannot be pre-existing. ``limit``: the most instances. ``step_offset``:
    added to a letter to get the violating step.
    """

    def __init__(
        self,
        part: int,
        emitter: Emitter,
        parameters: tuple[Variable, ...],
        mode: MonitorMode,
        formula: Formula,
        *,
        reads_actions: bool,
        mentions_actions: bool = False,
        limit: int = MAX_INSTANCES,
        step_offset: int = 0,
    ) -> None:
        self.part = part
        self.task: Task = emitter.task
        self.parameters = parameters
        self.mode = mode
        self.reads_actions = reads_actions
        self.limit = limit
        self.step_offset = step_offset
        self.program = Program(emitter.task, mode, formula, parameters)
        self.leaves = AutomatonLeaves(emitter, self.program.leaves, parameters)
        self.default_bits = self.leaves.default_bits
        self.searches = self.leaves.searches
        self.readers = InstanceIndex(self.leaves.local_patterns)
        """Finds the instances that read a changed fact."""
        self.global_readers = InstanceIndex(self.leaves.global_patterns)
        """Finds whether a leaf without parameters reads a changed fact."""
        self.all_readers = InstanceIndex([*self.leaves.local_patterns, *self.leaves.global_patterns])
        """Finds whether any leaf reads a changed fact; it has no instances."""
        self.instances: dict[Binding, Instance] = {}
        self._unshared_instances: set[Binding] | None = None
        """The bindings whose instances no fork shares; ``None``: no fork shares any."""
        self.retired: set[Binding] = set()
        """The bindings whose instances are decided for good, or cannot be decided."""
        self.default_instance = Instance(self.program.start, 0)
        """The instance of all bindings that are neither in ``instances`` nor retired."""
        self.default_retired = False
        self._awake: set[Binding] = set()
        """The bindings whose instances must read the next letter even if nothing changes."""
        self._default_awake = True
        self.candidates: list[Binding] = []
        """The bindings that triggers have found since the last letter."""
        self._affected_bindings: set[Binding] = set()
        """The bindings with an instance that reads a change since the last letter."""
        self._has_global_change = True
        """Whether a fact that a leaf without parameters reads has changed since the last letter."""
        self._global_bits = 0
        self._time_bits = -1  # equals no letter's bits: the first letter makes all instances due
        self._timed = self.program.timed
        self.undecided: set[Binding] = set()
        """The bindings that could not be decided; ``()`` if no instance can be."""
        self.candidate_count = 0
        """The number of bindings that triggers have found until now."""
        self.violation_log = ViolationLog(part, emitter.task, mode, self.program, self.all_readers, mentions_actions)
        self.violations: list[Violation] = self.violation_log.violations

    @property
    def awake(self) -> bool:
        """Whether the next letter matters even if nothing changes."""
        return self._default_awake or bool(self._awake) or self._has_global_change or self._timed

    @property
    def has_pending_changes(self) -> bool:
        """Whether recorded changes wait for the next letter."""
        return bool(self.candidates or self._affected_bindings or self._has_global_change)

    def sleep(self, letter_time: LetterTime) -> None:
        """Let instances read the next letter only if changes affect them, whatever its time is."""
        self._awake.clear()
        self._default_awake = False
        self._time_bits = self.program.compare_time(letter_time)

    def list_triggers(self) -> list[Trigger]:
        """Return the triggers that find bindings."""
        return [trigger for search in self.searches for trigger in search.triggers]

    def start(self, state: State, indexes: FactIndexes) -> None:
        """Find the bindings whose leaves differ from the default in S0; :meth:`step` reads the first letter."""
        for search in self.searches:
            search.find_all(state.facts, state.fluents, indexes, 0, self.candidates)

    def select_new_bindings(self, state: State, bindings: Iterable[Binding]) -> list[Binding]:
        """Return the bindings, each once, whose leaves newly differ from the default and are not candidates yet."""
        if self.default_retired:
            return []
        candidates = set(self.candidates)
        return [
            binding
            for binding in dict.fromkeys(bindings)
            if binding not in candidates
            and binding not in self.instances
            and binding not in self.retired
            and self.leaves.evaluate_local(state, binding) != self.default_bits
        ]

    def create_instances(self, state: State) -> None:
        """Create the instances of the bindings found by :meth:`start` before the first letter is complete.

        Copies for many plans share them. Bindings with undefined leaves wait for the actions of the letter.
        """
        bindings = list(dict.fromkeys(self.candidates))
        if len(bindings) > self.limit:
            return
        undefined = [binding for binding in bindings if self.leaves.evaluate_local(state, binding) is None]
        self.candidate_count += len(self.candidates) - len(undefined)
        self.candidates[:] = undefined
        for binding in bindings:
            if binding not in undefined:
                self._create(state, binding)
        self._awake.update(self.instances)

    def is_affected(self, predicate: int, code: int) -> bool:
        """Whether a change must be recorded: some or all instances read it, or blame depends on it."""
        if self.violation_log.tracks_initial or (self.instances and self.readers.has_reader(predicate, code)):
            return True
        return self.global_readers.matches(predicate, code)

    @property
    def affects_end(self) -> bool:
        """Whether the end of the trace causes a violation, or settles the blame for one."""
        if self.violations:
            return True
        if self.mode in ("always", "each"):
            return False
        states = {instance.state for instance in self.instances.values()}
        if not self.default_retired:
            states.add(self.default_instance.state)
        return any(map(self._is_unsatisfied_in, states))

    def record_change(self, predicate: int, code: int) -> bool:
        """Record a changed fact for the instances that read it; return :meth:`is_affected`."""
        is_read = bool(self.instances) and self.readers.add_readers(predicate, code, self._affected_bindings)
        if self.global_readers.matches(predicate, code):
            self._has_global_change = is_read = True
        if self.violation_log.tracks_initial:
            self.violation_log.record_change(predicate, code)
            return True
        return is_read

    # -- letters ------------------------------------------------------------------------------------------------------

    def is_stable(self, letter_time: LetterTime) -> bool:
        """Whether :meth:`step` would change nothing: no fact that is read changed, and no bound was passed."""
        if self._awake or self._default_awake or self._has_global_change or self._affected_bindings or self.candidates:
            return False
        return not self.violation_log.has_pending_changes and self.program.compare_time(letter_time) == self._time_bits

    def step(self, state: State, letter_time: LetterTime) -> None:
        """Read the letter of ``state`` at ``letter_time``."""
        program = self.program
        time_bits = program.compare_time(letter_time) if self._timed else 0
        all_due = time_bits != self._time_bits
        self._time_bits = time_bits
        if self._has_global_change:
            self._has_global_change = False
            bits = self.leaves.evaluate_global(state)
            if bits is None:
                self._retire_all()
                return
            all_due = all_due or bits != self._global_bits
            self._global_bits = bits
        due_bindings = set(self._awake) if not all_due else set(self.instances)
        if self._affected_bindings:
            due_bindings.update([b for b in self._affected_bindings if self._update_bits(state, b)])
            self._affected_bindings.clear()
        if self.candidates:
            self.candidate_count += len(self.candidates)
            if not self.default_retired:
                for binding in dict.fromkeys(self.candidates):
                    if binding not in self.instances and binding not in self.retired:
                        self._create(state, binding)
                        due_bindings.add(binding)
            self.candidates.clear()
        for binding in due_bindings:
            if binding in self.instances:
                self._advance(binding, self._unshare_instance(binding), time_bits, letter_time)
        if not self.default_retired and (self._default_awake or all_due):
            self._advance_default(time_bits, letter_time)
        if self.violation_log.tracks_initial:
            self.violation_log.end_letter()

    def _is_violated_in(self, state: int) -> bool:
        """Whether the formula is violated in a state of the program: now (a past formula), or for good."""
        program = self.program
        return (
            not program.read_output(state) if program.past_mode else program.find_verdict(state) == PERMANENTLY_VIOLATED
        )

    def _create(self, state: State, binding: Binding) -> None:
        """Give a binding its own instance, unless it still behaves like the default instance."""
        bits = self.leaves.evaluate_local(state, binding)
        if bits is None or bits == self.default_bits:
            if bits is None:
                self.undecided.add(binding)
                self.retired.add(binding)
            return
        if len(self.instances) >= self.limit:
            raise TooManyInstances
        instance = self.instances[binding] = self.default_instance.copy()
        instance.bits = bits
        self.readers.add(binding)

    def _update_bits(self, state: State, binding: Binding) -> bool:
        """Evaluate the leaves of an instance again and return whether they differ; retire it if one is undefined."""
        instance = self.instances.get(binding)
        if instance is None:
            return False
        bits = self.leaves.evaluate_local(state, binding)
        if bits is None:
            self.undecided.add(binding)
            self._retire(binding)
            return False
        if bits == instance.bits:
            return False
        self._unshare_instance(binding).bits = bits
        return True

    def _unshare_instance(self, binding: Binding) -> Instance:
        """The instance of a binding, which may be changed: it is copied first if a fork shares it."""
        if self._unshared_instances is not None and binding not in self._unshared_instances:
            self._unshared_instances.add(binding)
            self.instances[binding] = self.instances[binding].copy()
        return self.instances[binding]

    def _retire_all(self) -> None:
        """Retire all instances as undecided, because a leaf without parameters is undefined."""
        if self._has_open_instances():
            self.undecided.add(())
        self.default_retired = True
        for binding in list(self.instances):
            self._retire(binding)

    def _has_open_instances(self) -> bool:
        """Whether the verdict on some instance is not yet permanent."""
        return bool(self.instances) or not self.default_retired

    def _retire(self, binding: Binding) -> None:
        """Remove an instance, whose binding reads no further letter."""
        del self.instances[binding]
        self.readers.remove(binding)
        self._awake.discard(binding)
        self.retired.add(binding)

    def _advance(self, binding: Binding, instance: Instance, time_bits: int, letter_time: LetterTime) -> None:
        """Let an instance read a letter; report a violation, and retire the instance if it is decided."""
        program = self.program
        letter = instance.bits | self._global_bits
        instance.state, sleeps = program.move(instance.state, letter, time_bits, letter_time)
        if letter_time.letter == 0:
            self.violation_log.record_start(instance, letter, letter_time)
        if program.past_mode:
            self._evaluate_letter(binding, instance, letter_time)
        else:
            verdict = program.find_verdict(instance.state)
            if verdict == PERMANENTLY_VIOLATED:
                self.violation_log.report(binding, instance, letter_time.letter, at_end=False)
                self._retire(binding)
                return
            if verdict == PERMANENTLY_SATISFIED:
                self._retire(binding)
                return
            if verdict == PRESENTLY_SATISFIED:
                instance.was_satisfied = True
        if sleeps and not self._is_violated_again(instance):
            self._awake.discard(binding)
        else:
            self._awake.add(binding)

    def _is_violated_again(self, instance: Instance) -> bool:
        """Whether the next letter has a violation even if nothing changes."""
        return self.mode == "each" and not self.program.read_output(instance.state)

    def _evaluate_letter(self, binding: Binding, instance: Instance, letter_time: LetterTime) -> None:
        """Report the violation of a past formula at the letter that its instance has just read, if there is one."""
        violated = not self.program.read_output(instance.state)
        if self.mode == "each":
            if violated:
                letter, step = letter_time.letter, letter_time.letter + self.step_offset
                self.violations.append(Violation(self.part, binding, step, letter, False, "introduced"))
        elif self.mode == "always" and violated and not instance.violated:
            self.violation_log.report(binding, instance, letter_time.letter, at_end=False)
        if not violated:
            if instance.violated:
                self.violation_log.settle_ended_violation(binding)
            instance.was_satisfied = True
            instance.violated_at_start = False
        instance.violated = violated

    def _advance_default(self, time_bits: int, letter_time: LetterTime) -> None:
        """Let the default instance read a letter, as :meth:`_advance`."""
        program = self.program
        default_instance = self.default_instance
        default_instance.bits = self.default_bits
        letter = self.default_bits | self._global_bits
        default_instance.state, sleeps = program.move(default_instance.state, letter, time_bits, letter_time)
        if letter_time.letter == 0:
            self.violation_log.record_start(default_instance, letter, letter_time)
        is_violated = self._is_violated_in(default_instance.state)
        if is_violated and (self.mode in ("always", "each") or not program.past_mode):
            self._violate_shared_bindings(letter_time)
            return
        if not program.past_mode:
            verdict = program.find_verdict(default_instance.state)
            if verdict == PERMANENTLY_SATISFIED:
                self.default_retired = True
            elif verdict == PRESENTLY_SATISFIED:
                default_instance.was_satisfied = True
        elif not is_violated:
            default_instance.was_satisfied = True
            default_instance.violated_at_start = False
        default_instance.violated = is_violated
        self._default_awake = not sleeps or self._is_violated_again(default_instance)

    def _violate_shared_bindings(self, letter_time: LetterTime) -> None:
        """Give every binding that shares the default instance, which is violated, a violated instance of its own."""
        for binding in self._list_shared_bindings():
            instance = self.default_instance.copy()
            self.instances[binding] = instance
            self.readers.add(binding)
            if len(self.instances) > self.limit:
                raise TooManyInstances
            if self.program.past_mode:
                self._evaluate_letter(binding, instance, letter_time)
                self._awake.add(binding)
            else:
                self.violation_log.report(binding, instance, letter_time.letter, at_end=False)
                self._retire(binding)
        self.default_retired = True

    def _list_shared_bindings(self) -> list[Binding]:
        """Return the bindings that share the default instance."""
        domains = [self.task.domains[v.domain] for v in self.parameters]
        if prod(map(len, domains)) > self.limit:
            raise TooManyInstances
        return [b for b in product(*domains) if b not in self.instances and b not in self.retired]

    def has_shared_bindings(self) -> bool:
        """Whether some binding shares the default instance."""
        total = prod([len(self.task.domains[v.domain]) for v in self.parameters])
        return total > len(self.instances) + len(self.retired)

    def finish(self, _state: State, letter: int) -> None:
        """Report the unsatisfied instances at the end of the trace, whose last letter has just been read."""
        if self.mode not in ("always", "each"):
            for binding, instance in self.instances.items():
                if self._is_unsatisfied_in(instance.state):
                    self.violation_log.report(binding, instance, letter, at_end=True)
            if not self.default_retired and self._is_unsatisfied_in(self.default_instance.state):
                for binding in self._list_shared_bindings():
                    self.violation_log.report(binding, self.default_instance.copy(), letter, at_end=True)
        self.violation_log.settle_all()

    def _is_unsatisfied_in(self, state: int) -> bool:
        """Whether an instance in a state of the program is violated if the trace ends now."""
        if self.program.past_mode:
            return not self.program.read_output(state)
        return self.program.find_verdict(state) < PRESENTLY_SATISFIED

    def fork(self) -> Automaton:
        """Return an independent copy, which shares the program and its tables."""
        copy = shallow_copy(self)
        copy.instances = dict(self.instances)
        copy._unshared_instances, self._unshared_instances = set(), set()  # noqa: SLF001 - of its own class
        copy.retired = set(self.retired)
        copy.default_instance = self.default_instance.copy()
        copy.readers = self.readers.fork()
        copy._awake = set(self._awake)  # noqa: SLF001 - of its own class
        copy.candidates = list(self.candidates)
        copy._affected_bindings = set(self._affected_bindings)  # noqa: SLF001 - of its own class
        copy.undecided = set(self.undecided)
        copy.violation_log = self.violation_log.fork()
        copy.violations = copy.violation_log.violations
        return copy
