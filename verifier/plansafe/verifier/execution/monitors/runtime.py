"""All monitors of a check, fed by the changes of each step.

A letter is a state and the actions about to be taken there. A monitor that does not read actions reads a letter when
its state is reached (:meth:`Runtime.enter_state`). The others read it when the actions are known
(:meth:`Runtime.take_actions`), which are then facts of action predicates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.dispatch import ChangeDispatch
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.latch import (
    Latch,
    LatchedCheck,
    LatchTable,
    can_use_latches,
    make_latch_reader,
)
from plansafe.verifier.execution.monitors.monitor_summary import (
    MonitorSummary,
    StateMonitor,
    count_candidates,
    summarize_monitors,
)
from plansafe.verifier.execution.monitors.rule_set import ActionFact, MatchCounter, RuleSet
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import TRUE, And, Quantified
from plansafe.verifier.model.operations import find_atoms, is_temporal, mentions, subformulas
from plansafe.verifier.rules.model import RulePart, find_action_predicate

_FIRST_LETTER = LetterTime(0, 0, False)
"""The first letter of an untimed plan."""


class MonitorMemory(NamedTuple):
    """A monitor's part of the key of an execution, and whether it reports violations or undecided instances.

    ``blame_key``: what the blame for violations at letter 0 depends on, and ``is_caused``: whether there are violations
    that the plan introduced or worsened; both only if the criteria of the key need them.
    """

    key: tuple[object, ...]
    is_violated: bool
    is_undecided: bool
    blame_key: tuple[object, ...] | None = None
    is_caused: bool = False


class ChangedMonitors(NamedTuple):
    """The numbers of monitors, and the action predicates of checks, that may have changed."""

    monitors: frozenset[int]
    check_predicates: frozenset[int]


class Runtime:
    """The monitors of one run."""

    def __init__(self, rule_set: RuleSet, emitter: Emitter) -> None:
        self.rule_set = rule_set
        emitter.requested_indexes = set()
        self.monitors: list[StateMonitor] = []
        self.checks: dict[int, list[StepCheck]] = {}
        """By action predicate, the checks of the steps that match it."""
        self._unshared_checks: dict[int, set[int]] | None = None
        """By predicate whose list of checks no fork shares, the positions of checks that no fork shares; ``None``: no
        fork shares any."""
        self._unshared_monitors: set[int] | None = None
        """The numbers of the monitors that no fork shares; ``None``: no fork shares any."""
        self._summary: tuple[MonitorSummary, list[StateMonitor]] | None = None
        """The monitors, with a summary, when this runtime or the one that it is a fork of was first forked."""
        self._changed_before_fork = ChangedMonitors(frozenset(), frozenset())
        """The monitors and checks that changed between the summary and the last fork."""
        self._first_letters: dict[int, tuple[StateMonitor, StateMonitor]] = {}
        """By number, a monitor before the first letter of an untimed plan and after it; forks share this."""
        self.key_memories: dict[int, MonitorMemory] = {}
        """By number, the key memory of monitors that have not changed since (see ``make_monitor_key``)."""
        self.too_large: list[int] = []
        """The parts with too many instances to expand their temporal quantifiers."""
        self.match_counts = [0] * len(rule_set.rules)
        self._indexed_by_checks: set[int] = set()
        """The predicates that checks read inside quantifiers."""
        self._latches = LatchTable(emitter, rule_set.momentary, self.monitors)
        with emitter.set_for_monitors():
            for number, part in enumerate(rule_set.parts):
                if all([rule_set.task.domains[v.domain] for v in part.parameters]):  # otherwise it has no instance
                    try:
                        self._add_monitor(number, part, emitter)
                    except LimitReached:
                        self.too_large.append(number)
        self._match_counter = MatchCounter(rule_set, emitter)
        self.indexes = FactIndexes(emitter, emitter.requested_indexes)
        symbol_count = len(rule_set.task.predicates) + len(rule_set.task.functions) + len(emitter.views)
        self.dispatch = ChangeDispatch(self.monitors, self.checks, symbol_count)
        """The monitors and checks that a change concerns; forks share this."""
        self.indexes.report_views(
            {symbol_index for symbol_index, readers in enumerate(self.dispatch.readers) if readers}
        )
        self._awake: dict[int, None] = {}
        """The monitors (by number) that must read the next letter even if nothing changes."""
        self._monitors_due_at_actions: dict[int, None] = {}
        """The monitors (by number) that read the present letter when its actions are known."""
        self._due_checks: list[StepCheck] = []
        """The checks that wait for the state after the step."""

    def _add_monitor(self, number: int, part: RulePart, emitter: Emitter) -> None:
        """Add the monitor or check of a part."""
        momentary = self.rule_set.momentary
        formula = part.body
        if part.mode == "each":
            assert part.step is not None
            check = self._make_step_check(number, part, emitter)
            if check is not None:
                for subformula in subformulas(And((part.guard or TRUE, formula))):
                    if isinstance(subformula, Quantified):
                        self._indexed_by_checks.update([atom.predicate for atom in find_atoms(subformula)])
                self.checks.setdefault(find_action_predicate(part.step), []).append(check)
                return
            formula = part.make_invariant_part().body
        reads_actions = mentions(formula, momentary)
        mentions_actions = mentions(formula, frozenset(self.rule_set.action_predicates.values()))
        monitor: StateMonitor
        if not reads_actions and part.mode in ("always", "end") and not is_temporal(formula):
            final = part.mode == "end"
            monitor = InvariantMonitor(
                number,
                emitter,
                part.parameters,
                formula,
                final=final,
                mentions_actions=mentions_actions,
                limit=self.rule_set.limit,
            )
        else:
            monitor = Automaton(
                number,
                emitter,
                part.parameters,
                part.mode,
                formula,
                reads_actions=reads_actions,
                mentions_actions=mentions_actions,
                step_offset=1 if part.mode == "each" and not part.after else 0,
                limit=self.rule_set.limit,
            )
        self.monitors.append(monitor)

    def _make_step_check(self, number: int, part: RulePart, emitter: Emitter) -> StepCheck | None:
        """Return the check of a rule about steps; ``None`` if the rule needs an automaton."""
        momentary, step, guard, body, after = self.rule_set.momentary, part.step, part.guard, part.body, part.after
        assert step is not None
        is_momentary = find_action_predicate(step) in momentary
        formulas = [body] if guard is None else [body, guard]
        if is_momentary and not any([is_temporal(f) or mentions(f, momentary) for f in formulas]):
            return StepCheck(number, emitter, part.parameters, step, guard, body, after=after)
        if can_use_latches(self.rule_set.task, part, momentary):
            return LatchedCheck(number, emitter, part.parameters, step, guard, body, self._latches, after=after)
        return None

    @property
    def watched(self) -> frozenset[int]:
        """The predicates (and ``-1 - function``) whose changes the monitors read."""
        predicate_count = len(self.rule_set.task.predicates)
        watched = {predicate for predicate, _ in self.indexes.requested} | self._indexed_by_checks
        for symbol_index, readers in enumerate(self.dispatch.readers):
            if readers and self.indexes.emitter.find_view_of_index(symbol_index) is None:
                watched.add(symbol_index if symbol_index < predicate_count else predicate_count - 1 - symbol_index)
        return frozenset(watched)

    # -- letters ------------------------------------------------------------------------------------------------------

    def start(self, state: State, letter_time: LetterTime) -> None:
        """Read S0, the state before the first step."""
        self._summary = None
        self.indexes.build(state.facts)
        state.indexes = self.indexes
        for number in range(len(self.monitors)):
            monitor = self._unshare_monitor(number)
            monitor.start(state, self.indexes)
            if isinstance(monitor, Automaton) and monitor.reads_actions:
                monitor.create_instances(state)
                self._monitors_due_at_actions[number] = None
            else:
                monitor.step(state, letter_time)
                if monitor.awake:
                    self._awake[number] = None

    def _unshare_monitor(self, number: int) -> StateMonitor:
        """Return a monitor that may be changed: it is copied first if a fork shares it."""
        if self.key_memories:
            self.key_memories.pop(number, None)
        if self._unshared_monitors is not None and number not in self._unshared_monitors:
            self._unshared_monitors.add(number)
            self.monitors[number] = self.monitors[number].fork()
        return self.monitors[number]

    def enter_state(self, state: State, log: Sequence[StateChange], letter_time: LetterTime) -> None:
        """Read the state that is reached; ``log`` has the changes since the state before."""
        state.indexes = self.indexes
        due_monitors = dict(self._awake)
        self._record_changes(state, log, due_monitors)
        for number in due_monitors:
            if self.monitors[number].reads_actions:
                self._monitors_due_at_actions[number] = None
            elif number in self._awake and not letter_time.timed and self.monitors[number].is_stable(letter_time):
                continue
            elif self._step_monitor(self._unshare_monitor(number), state, letter_time):
                self._awake[number] = None
            else:
                self._awake.pop(number, None)
        if self._due_checks:
            for check in self._due_checks:
                self._check_after_step(check, state, letter_time)
            self._due_checks.clear()

    # Runs that record where a rule part decides override the next three methods.

    def _step_monitor(self, monitor: StateMonitor, state: State, letter_time: LetterTime) -> bool:
        """Let a monitor read the letter; return whether it must read the next letter even if nothing changes."""
        monitor.step(state, letter_time)
        return monitor.awake

    def _check_after_step(self, check: StepCheck, state: State, letter_time: LetterTime) -> None:
        """Let a check evaluate the bindings that wait for the state after the step."""
        check.check_after_step(state, letter_time)

    def _finish_monitor(self, monitor: StateMonitor, state: State, letter: int) -> None:
        """Let a monitor report that the trace has ended."""
        monitor.finish(state, letter)

    def _record_changes(self, state: State, log: Sequence[StateChange], due_monitors: dict[int, None]) -> None:
        """Record changes in the monitors that they affect; these join ``due_monitors``, which read the next letter."""
        monitors, unshared, dispatch = self.monitors, self._unshared_monitors, self.dispatch
        facts, fluents, indexes = state.facts, state.fluents, self.indexes
        indexes.facts = facts
        indexes.follow(log)
        view_changes = indexes.update_views(facts, fluents, log) if indexes.emitter.views else ()
        bindings: list[tuple[int, ...]] = []
        for symbol_index, code, value in log:
            readers, triggers = dispatch[symbol_index, code, bool(value)]
            for number in readers:
                monitor = monitors[number]
                if unshared is None or number in unshared:
                    if monitor.record_change(symbol_index, code):
                        due_monitors[number] = None
                elif monitor.is_affected(symbol_index, code):
                    self._unshare_monitor(number).record_change(symbol_index, code)
                    due_monitors[number] = None
            for number, find in triggers:
                find(facts, fluents, indexes, code, bindings)
                if bindings:
                    self._unshare_monitor(number).candidates.extend(bindings)
                    due_monitors[number] = None
                    bindings = []
        if not view_changes:
            return
        bindings_by_monitor: dict[int, list[tuple[int, ...]]] = {}
        for symbol_index, code, has_match in view_changes:
            if symbol_index < len(dispatch.readers):  # no trigger reads views that were made later
                for added in (True, False) if has_match is None else (bool(has_match),):
                    for number, find in dispatch[symbol_index, code, added].triggers:
                        find(facts, fluents, indexes, code, bindings_by_monitor.setdefault(number, []))
        for number, bindings in bindings_by_monitor.items():
            # The other bindings depend on which values the views had stored.
            new_bindings = monitors[number].select_new_bindings(state, bindings)
            if new_bindings:
                self._unshare_monitor(number).candidates.extend(new_bindings)
                due_monitors[number] = None

    def take_actions(self, state: State, action_facts: Sequence[ActionFact], letter_time: LetterTime) -> None:
        """Read the present letter with its actions; their action facts hold meanwhile."""
        log: list[StateChange] = []
        state.indexes = self.indexes
        for predicate, code in action_facts:
            if code not in state.facts[predicate]:
                state.facts[predicate].add(code)
                log.append((predicate, code, True))
        try:
            self._record_changes(state, log, self._monitors_due_at_actions)
            self.count_matches(action_facts)
            codes_by_latched_check: dict[tuple[int, int], list[int]] = {}
            for predicate, code in action_facts:
                for position in self.dispatch.find_checks(predicate, code):
                    shared_check = self.checks[predicate][position]
                    if isinstance(shared_check, LatchedCheck):
                        codes_by_latched_check.setdefault((predicate, position), []).append(code)
                    elif bindings := shared_check.find_matching_bindings(state, self.indexes, code):
                        check = self._unshare_check(predicate, position)
                        check.check_step(state, bindings, letter_time)
                        if check.after:
                            self._due_checks.append(check)
            self._read_actions(state, letter_time)
            for (predicate, position), codes in codes_by_latched_check.items():
                self._check_with_latches(state, predicate, position, codes, letter_time)
        finally:  # copies of the state may share the set, also after too many instances
            for predicate, code, _ in log:
                state.facts[predicate].discard(code)
        self._record_changes(
            state, [(predicate, code, False) for predicate, code, _ in log], self._monitors_due_at_actions
        )

    def _check_with_latches(
        self, state: State, predicate: int, position: int, codes: Iterable[int], letter_time: LetterTime
    ) -> None:
        """Evaluate a check that reads latches for the action facts of a predicate, after the latches' letter."""
        check = self.checks[predicate][position]
        assert isinstance(check, LatchedCheck)
        if not check.may_be_due(self.monitors):
            return
        is_matched = False
        for code in codes:
            bindings = check.find_matching_bindings(state, self.indexes, code)
            if bindings:
                is_matched = True
                self._unshare_check(predicate, position).check_step(state, bindings, letter_time)
        if is_matched:
            check = self._unshare_check(predicate, position)
            assert isinstance(check, LatchedCheck)
            check.check_with_latches(state, make_latch_reader(self.monitors), letter_time)
            if check.after:
                self._due_checks.append(check)

    def _unshare_check(self, predicate: int, position: int) -> StepCheck:
        """Return a check that may be changed: it is copied first if a fork shares it."""
        if self._unshared_checks is not None:
            positions = self._unshared_checks.get(predicate)
            if positions is None:
                positions = self._unshared_checks[predicate] = set()
                self.checks[predicate] = list(self.checks[predicate])
            if position not in positions:
                positions.add(position)
                self.checks[predicate][position] = self.checks[predicate][position].fork()
        return self.checks[predicate][position]

    def count_matches(self, action_facts: Sequence[ActionFact]) -> None:
        """Count the bindings under which rules about steps match in this letter, each once."""
        for rule, count in self._match_counter.count_matches(action_facts):
            self.match_counts[rule] += count

    def _read_actions(self, state: State, letter_time: LetterTime) -> None:
        """Let the monitors that wait for the actions of the present letter read it."""
        due_monitors, self._monitors_due_at_actions = self._monitors_due_at_actions, {}
        shares_first_letter = self._unshared_monitors is not None and letter_time == _FIRST_LETTER
        replaced_monitors: list[int] = []
        for number in due_monitors:
            if shares_first_letter and (monitor_after := self._find_after_first_letter(number, state)) is not None:
                monitor = self.monitors[number] = monitor_after
                self.key_memories.pop(number, None)
                replaced_monitors.append(number)
            else:
                monitor = self._unshare_monitor(number)
                monitor.step(state, letter_time)
            if monitor.awake:
                self._monitors_due_at_actions[number] = None
        if replaced_monitors:
            monitors, check_predicates = self._changed_before_fork
            self._changed_before_fork = ChangedMonitors(monitors.union(replaced_monitors), check_predicates)

    def _find_after_first_letter(self, number: int, state: State) -> StateMonitor | None:
        """Return a shared monitor after the first letter; ``None`` if the actions of the letter may affect it.

        A monitor that an action of the letter affects is no longer shared. Other actions do not change its result.
        """
        assert self._unshared_monitors is not None
        monitor = self.monitors[number]
        if number in self._unshared_monitors or monitor.candidates:
            return None
        monitor_before, monitor_after = self._first_letters.get(number, (None, None))
        if monitor_after is None or monitor_before is not monitor:
            monitor_after = monitor.fork()
            monitor_after.step(state, _FIRST_LETTER)
            self._first_letters[number] = monitor, monitor_after
        return monitor_after

    def finish(self, state: State, letter_time: LetterTime) -> None:
        """Read the last letter, which has no actions, and report the end of the trace."""
        state.indexes = self.indexes
        self._read_actions(state, letter_time)
        numbers: Iterable[int] = range(len(self.monitors))
        if self._summary is not None:
            summary, _ = self._summary
            numbers = sorted(self._find_changed_since_summary().monitors.union(summary.end_monitors))
        for number in numbers:
            if self.monitors[number].affects_end:
                self._finish_monitor(self._unshare_monitor(number), state, letter_time.letter)

    def list_due_at_actions(self) -> list[int]:
        """Return the monitors (by number) that read the present letter when its actions are known."""
        return list(self._monitors_due_at_actions)

    def find_violations_at_end(self, number: int, state: State, letter_time: LetterTime) -> list[Violation]:
        """Return the violations of a monitor if the trace ended at the present letter; nothing is changed."""
        state.indexes = self.indexes
        monitor = self.monitors[number]
        if isinstance(monitor, Latch):
            return []  # it reports nothing
        if number in self._monitors_due_at_actions:
            monitor = monitor.fork()
            monitor.step(state, letter_time)
        if monitor.affects_end:
            monitor = monitor.fork()
            monitor.finish(state, letter_time.letter)
        return monitor.violations

    def find_possible_violators(self) -> tuple[Iterable[int], Iterable[int]]:
        """Return the monitors, and the predicates of checks, that may have a violation, ended or not."""
        if self._summary is None:
            return range(len(self.monitors)), list(self.checks)
        summary, _ = self._summary
        monitors, check_predicates = self._find_changed_since_summary()
        return (
            monitors.union(summary.end_monitors, summary.reporting_monitors),
            check_predicates.union(summary.reporting_checks),
        )

    def _find_changed_since_summary(self) -> ChangedMonitors:
        """Return the monitors and checks that may differ from the summary."""
        monitors, check_predicates = self._changed_before_fork
        return ChangedMonitors(
            monitors.union(self._unshared_monitors or ()), check_predicates.union(self._unshared_checks or ())
        )

    def _list_reporters(self) -> list[StateMonitor | StepCheck]:
        """Return the monitors, by number, and the checks that may have something to report."""
        if self._summary is None:
            return [*self.monitors, *[check for checks in self.checks.values() for check in checks]]
        summary, _ = self._summary
        monitors, check_predicates = self._find_changed_since_summary()
        checks = [check for p in check_predicates.union(summary.reporting_checks) for check in self.checks[p]]
        return [*[self.monitors[number] for number in sorted(monitors.union(summary.reporting_monitors))], *checks]

    def collect_violations(self) -> list[Violation]:
        """Return all violations, sorted by step, part and binding; equal violations once."""
        violations = {violation for monitor in self._list_reporters() for violation in monitor.violations}
        return sorted(violations, key=lambda v: (v.step, v.at_end, v.part, v.binding))

    def collect_undecided(self) -> list[tuple[int, tuple[int, ...]]]:
        """Return the part and binding of every instance that could not be decided."""
        return sorted([(monitor.part, binding) for monitor in self._list_reporters() for binding in monitor.undecided])

    def count_triggers(self) -> list[int]:
        """Return, for each rule, how many bindings changes or matching steps could have affected."""
        parts, rule_count = self.rule_set.parts, len(self.rule_set.rules)
        if self._summary is None:
            candidate_counts = summarize_monitors(self.monitors, self.checks, parts, rule_count).candidate_counts
            return [c + m for c, m in zip(candidate_counts, self.match_counts, strict=True)]
        summary, summarized_monitors = self._summary
        counts = [c + m for c, m in zip(summary.candidate_counts, self.match_counts, strict=True)]
        for number in self._find_changed_since_summary().monitors:
            monitor = self.monitors[number]
            count_before = count_candidates(summarized_monitors[number])
            counts[parts[monitor.part].rule] += count_candidates(monitor) - count_before
        return counts

    def fork(self) -> Runtime:
        """Return an independent copy: monitors and indexes are shared until one of the two runtimes changes them."""
        if self._summary is None:
            summary = summarize_monitors(self.monitors, self.checks, self.rule_set.parts, len(self.rule_set.rules))
            self._summary = summary, list(self.monitors)
        elif self._unshared_monitors or self._unshared_checks:
            self._changed_before_fork = self._find_changed_since_summary()
        if self._due_checks:  # these checks will report without being found by a trigger again
            monitors, check_predicates = self._changed_before_fork
            due_predicates = [check.predicate for check in self._due_checks]
            self._changed_before_fork = ChangedMonitors(monitors, check_predicates.union(due_predicates))
        copy = object.__new__(type(self))
        for name, value in self.__dict__.items():  # CPython reads them more slowly if ``__dict__`` is assigned
            setattr(copy, name, value)
        copy.indexes, copy.monitors = self.indexes.fork(), list(self.monitors)
        copy._unshared_monitors, self._unshared_monitors = set(), set()
        # Most plans take few kinds of steps: checks are shared until a step matches them.
        copy.checks = dict(self.checks)
        copy._unshared_checks, self._unshared_checks = {}, {}
        copy.key_memories, copy.match_counts = dict(self.key_memories), list(self.match_counts)
        copy._awake, copy._monitors_due_at_actions = dict(self._awake), dict(self._monitors_due_at_actions)
        copy._due_checks = []
        if self._due_checks:
            copied_checks = {check: check.fork() for check in self._due_checks}
            for predicate in {check.predicate for check in copied_checks}:
                copy.checks[predicate] = [copied_checks.get(check) or check.fork() for check in self.checks[predicate]]
                copy._unshared_checks[predicate] = set(range(len(copy.checks[predicate])))
            copy._due_checks = list(copied_checks.values())
        return copy
