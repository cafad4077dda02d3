"""All monitors of a check, fed by the changes of each step.

A letter is a state and the actions about to be taken there. A monitor that does not read actions reads a letter when
its state is reached (:meth:`Runtime.enter_state`). The others read it when the actions are known
(:meth:`Runtime.take_actions`), which are then facts of action predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Literal, NamedTuple

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import ReadPattern, compile_patterns
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.latch import LatchedCheck, can_use_latches, latch_truth
from plansafe.verifier.execution.monitors.monitor_summary import (
    MonitorSummary,
    StateMonitor,
    summarize_monitors,
    touch_count,
)
from plansafe.verifier.execution.monitors.program import LetterTime
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import And, Formula, Or, Task, Temporal
from plansafe.verifier.model.operations import is_temporal, mentions, negate
from plansafe.verifier.rules.model import Rule, RulePart, step_predicate
from plansafe.verifier.rules.verdict_criteria import Exemption, VerdictCriteria

ActionFact = tuple[int, int]
"""A fact of an action predicate: (predicate, code of the arguments)."""
MAX_ENUMERATED_BINDINGS = 10_000
MAX_CACHED_MATCHES = 100_000
"""Steps of which it is remembered what they match."""
TriggerFunction = Callable[..., None]


class MonitorMemory(NamedTuple):
    """What a monitor adds to the key of an execution: what it remembers, and whether something came of it.

    ``early``: what it remembers of what was wrong at letter 0, for the sake of blame; ``None`` if nobody has asked.
    ``caused``: whether there are violations that the plan introduced or worsened, if somebody has.
    """

    key: tuple[object, ...]
    violated: bool
    undecided: bool
    early: tuple[object, ...] | None = None
    caused: bool = False


class RuleSet:
    """The parts of all rules, numbered, and which predicates stand for actions. Shared by all runs of a check."""

    def __init__(
        self, task: Task, rules: Sequence[Rule], action_predicates: dict[tuple[str, str], int], limit: int
    ) -> None:
        self.task = task
        self.limit = limit
        self.rules = list(rules)
        self.parts: list[RulePart] = [part for rule in rules for part in rule.parts]
        self.action_predicates = action_predicates
        self.momentary = frozenset([p for (kind, _), p in action_predicates.items() if kind != "during"])
        self.preference_parts = frozenset([n for n, part in enumerate(self.parts) if self.rules[part.rule].preference])
        """The parts of preferences, which may be violated."""
        self._silent: dict[str, frozenset[int]] = {}
        self._forgiven: dict[tuple[Exemption, ...], frozenset[int]] = {}

    def nondecisive_parts(self, criteria: VerdictCriteria) -> frozenset[int]:
        """The parts of rules whose violations never decide: of preferences, and of rules not severe enough, or exempt.

        A rule that is exempt only for some objects is none of them.
        """
        idle = self.preference_parts | self.parts_below_severity(criteria)
        return idle | self._exempt(criteria) if criteria.exemptions else idle

    def _exempt(self, criteria: VerdictCriteria) -> frozenset[int]:
        known = self._forgiven.get(criteria.exemptions)
        if known is None:
            parts = [n for n, part in enumerate(self.parts) if criteria.exempts_rule(self.rules[part.rule].name)]
            known = self._forgiven[criteria.exemptions] = frozenset(parts)
        return known

    def parts_below_severity(self, criteria: VerdictCriteria) -> frozenset[int]:
        """The parts of rules that are not severe enough: even undecided they leave nothing open."""
        known = self._silent.get(criteria.min_severity)
        if known is None:
            parts = [
                n for n, part in enumerate(self.parts) if not criteria.is_severe_enough(self.rules[part.rule].severity)
            ]
            known = self._silent[criteria.min_severity] = frozenset(parts)
        return known


class Runtime:
    """The monitors of one run."""

    def __init__(self, plan: RuleSet, emitter: Emitter) -> None:
        self.rule_set = plan
        emitter.requested_indexes = set()
        self.monitors: list[StateMonitor] = []
        self.checks: dict[int, list[StepCheck]] = {}
        self._unshared_checks: dict[int, set[int]] | None = None
        """The predicates of checks whose list no fork shares, with the places in it of those that none shares, either;
        ``None``: all."""
        self._unshared_monitors: set[int] | None = None
        """The numbers of the monitors that no fork shares; ``None``: all."""
        self._summary: tuple[MonitorSummary, list[StateMonitor]] | None = None
        """What the monitors had found when this, or what it is a fork of, was first shared; ``None``: it never was."""
        self._changed_before_fork: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
        """The monitors, and the predicates of the checks, that have changed from then to the last fork."""
        self.key_memories: dict[int, MonitorMemory] = {}
        """By number, what a key says of monitors that have not read since: whoever makes keys keeps it here."""
        self.too_large: list[int] = []
        self.match_counts = [0] * len(plan.rules)
        self._match: dict[int, list[tuple[int, int, ReadPattern]]] = {}
        self._counts: dict[ActionFact, list[tuple[int, int]]] = {}
        self._latches: dict[tuple[object, ...], int] = {}
        for number, part in enumerate(plan.parts):
            self._monitor(number, part, emitter)
        for number, rule in enumerate(plan.rules):
            for match in rule.step_patterns:
                for pattern in compile_patterns(emitter, match.atom, rule.declared):
                    self._match.setdefault(match.atom.predicate, []).append((number, match.bindings_per_match, pattern))
        self.indexes = FactIndexes(emitter, emitter.requested_indexes)
        self._dispatch()
        self._due_after: list[StepCheck] = []

    def _monitor(self, number: int, part: RulePart, emitter: Emitter) -> None:
        if not all([self.rule_set.task.domains[v.domain] for v in part.parameters]):
            return  # some parameter has no object, so there are no instances
        momentary = self.rule_set.momentary
        formula = part.body
        if part.mode == "each":
            assert part.step is not None
            simple = (
                step_predicate(part.step) in momentary
                and _stateful(part.body, momentary)
                and (part.guard is None or _stateful(part.guard, momentary))
            )
            if simple:
                check = StepCheck(number, emitter, part.parameters, part.step, part.guard, part.body, after=part.after)
                self.checks.setdefault(step_predicate(part.step), []).append(check)
                return
            if can_use_latches(step_predicate(part.step) in momentary, part.guard, part.body, part.after, momentary):
                try:
                    late = LatchedCheck(
                        number,
                        emitter,
                        part.parameters,
                        part.step,
                        part.guard,
                        part.body,
                        momentary,
                        self.monitors,
                        self._latches,
                    )
                except LimitReached:
                    self.too_large.append(number)
                    return
                self.checks.setdefault(step_predicate(part.step), []).append(late)
                return
            premise: Formula = part.step if part.guard is None else And((part.step, part.guard))
            if part.after:
                premise = Temporal("yesterday", (premise,))
            formula = Or((negate(premise), part.body))
        reads_actions = mentions(formula, momentary)
        mentions_actions = mentions(formula, frozenset(self.rule_set.action_predicates.values()))
        try:
            if not reads_actions and part.mode in ("always", "end") and not is_temporal(formula):
                self.monitors.append(
                    Invariant(
                        number,
                        emitter,
                        part.parameters,
                        formula,
                        final=part.mode == "end",
                        mentions_actions=mentions_actions,
                    )
                )
            else:
                offset = 1 if part.mode == "each" and not part.after else 0
                self.monitors.append(
                    Automaton(
                        number,
                        emitter,
                        part.parameters,
                        part.mode,
                        formula,
                        reads_actions=reads_actions,
                        mentions_actions=mentions_actions,
                        step_offset=offset,
                    )
                )
        except LimitReached:
            self.too_large.append(number)

    def _dispatch(self) -> None:
        """Tables from a changed predicate (or fluent) to those who care, by number: copies of this share them."""
        size = len(self.rule_set.task.predicates) + len(self.rule_set.task.functions)
        self._added: list[list[tuple[int, TriggerFunction]]] = [[] for _ in range(size)]
        self._deleted: list[list[tuple[int, TriggerFunction]]] = [[] for _ in range(size)]
        self._readers: list[list[int]] = [[] for _ in range(size)]
        for number, monitor in enumerate(self.monitors):
            for predicate, added, find in monitor.triggers():
                if added is not False:
                    self._added[predicate].append((number, find))
                if added is not True:
                    self._deleted[predicate].append((number, find))
            for predicate in _read_by(monitor):
                self._readers[predicate].append(number)
        self._awake: dict[int, None] = {}
        self._acting_due: dict[int, None] = {}

    @property
    def watched(self) -> frozenset[int]:
        """The predicates (and ``-1 - function``) whose changes someone must see."""
        base = len(self.rule_set.task.predicates)
        return frozenset([i if i < base else base - 1 - i for i, readers in enumerate(self._readers) if readers]) | {
            p for p, _ in self.indexes.specs
        }

    def readers(self, index: int) -> list[int]:
        """The monitors (by number) that a change of a predicate or fluent may concern."""
        return self._readers[index]

    def triggers(self, index: int, added: bool) -> list[tuple[int, TriggerFunction]]:
        """What finds bindings when a fact is added (or removed, or a number changes), and for which monitors."""
        return self._added[index] if added else self._deleted[index]

    # -- letters ------------------------------------------------------------------------------------------------------

    def start(self, state: State, moment: LetterTime) -> None:
        """Judge S0, the state before the first step."""
        self.indexes.build(state.facts)
        for number in range(len(self.monitors)):
            monitor = self._unshared_monitor(number)
            monitor.start(state, self.indexes)
            if monitor.reads_actions:
                self._acting_due[number] = None
            else:
                monitor.step(state, moment)
                if monitor.awake:
                    self._awake[number] = None

    def _unshared_monitor(self, number: int) -> StateMonitor:
        """A monitor that may be changed: a copy of its own, where a fork shares it."""
        if self.key_memories:
            self.key_memories.pop(number, None)
        if self._unshared_monitors is not None and number not in self._unshared_monitors:
            self._unshared_monitors.add(number)
            self.monitors[number] = self.monitors[number].fork()
        return self.monitors[number]

    def enter_state(self, state: State, log: Iterable[StateChange], moment: LetterTime) -> None:
        """A state is reached; ``log`` are the changes since the last one."""
        due = dict(self._awake)
        self._changed(state, log, due)
        for number in due:
            if self.monitors[number].reads_actions:
                self._acting_due[number] = None
            elif number in self._awake and not moment.timed and self.monitors[number].is_stable(moment):
                continue
            elif self._step_monitor(self._unshared_monitor(number), state, moment):
                self._awake[number] = None
            else:
                self._awake.pop(number, None)
        if self._due_after:
            for check in self._due_after:
                self._check_after_step(check, state, moment)
            self._due_after.clear()

    # What follows are the places where a part of a rule decides: a run that keeps book of that has its own.

    def _step_monitor(self, monitor: StateMonitor, state: State, moment: LetterTime) -> bool:
        """Let a monitor that is due read the letter; whether the next letter matters to it in any case."""
        monitor.step(state, moment)
        return monitor.awake

    def _check_after_step(self, check: StepCheck, state: State, moment: LetterTime) -> None:
        """Ask what a check about the state behind a step has been waiting for."""
        check.check_after_step(state, moment)

    def _finish_monitor(self, monitor: StateMonitor, state: State, letter: int) -> None:
        """The trace ends for a monitor that has still to judge it."""
        monitor.finish(state, letter)

    def _changed(self, state: State, log: Iterable[StateChange], due: dict[int, None]) -> None:
        """Tell the monitors of changes; those that have to read the next letter for them become ``due``."""
        self.indexes.update(log)
        facts, fluents, tables = state.facts, state.fluents, self.indexes.tables
        monitors, owned = self.monitors, self._unshared_monitors
        found: list[tuple[int, ...]] = []
        for predicate, code, value in log:
            for number in self._readers[predicate]:
                monitor = monitors[number]
                if owned is None or number in owned:
                    if monitor.record_change(predicate, code):
                        due[number] = None
                elif monitor.is_affected(predicate, code):
                    self._unshared_monitor(number).record_change(predicate, code)
                    due[number] = None
            for number, find in self._added[predicate] if value else self._deleted[predicate]:
                find(facts, fluents, tables, code, found)
                if found:
                    self._unshared_monitor(number).candidates.extend(found)
                    due[number] = None
                    found = []

    def take_actions(self, state: State, action_facts: Sequence[ActionFact], moment: LetterTime) -> None:
        """The actions of the present letter are known. Their action facts hold while the letter is read."""
        log: list[StateChange] = []
        for predicate, code in action_facts:
            if code not in state.facts[predicate]:
                state.facts[predicate].add(code)
                log.append((predicate, code, True))
        try:
            self._changed(state, log, self._acting_due)
            self.count_matches(action_facts)
            late: list[LatchedCheck] = []
            for predicate, code in action_facts:
                for place, shared in enumerate(self.checks.get(predicate, ())):
                    bindings = shared.matching_bindings(state, self.indexes, code)
                    if not bindings:
                        continue
                    check = self._unshared_check(predicate, place)
                    check.check_step(state, bindings, moment)
                    if check.after:
                        self._due_after.append(check)
                    elif isinstance(check, LatchedCheck):
                        late.append(check)
            self._act(state, moment)
            for check in late:
                check.check_with_latches(state, latch_truth(self.monitors), moment)
        finally:  # copies of the state may share the set, also after too many instances
            for predicate, code, _ in log:
                state.facts[predicate].discard(code)
        self._changed(state, [(predicate, code, False) for predicate, code, _ in log], self._acting_due)

    def _unshared_check(self, predicate: int, place: int) -> StepCheck:
        """A check of a step that may be changed: a copy of its own, where a fork shares it."""
        if self._unshared_checks is not None:
            places = self._unshared_checks.get(predicate)
            if places is None:
                places = self._unshared_checks[predicate] = set()
                self.checks[predicate] = list(self.checks[predicate])
            if place not in places:
                places.add(place)
                self.checks[predicate][place] = self.checks[predicate][place].fork()
        return self.checks[predicate][place]

    def count_matches(self, action_facts: Sequence[ActionFact]) -> None:
        """Count the bindings under which rules about steps match in this letter, each once."""
        if len(action_facts) == 1:
            for rule, number in self._counted(action_facts[0]):
                self.match_counts[rule] += number
            return
        for rule, number in self._count(action_facts):
            self.match_counts[rule] += number

    def _counted(self, action_fact: ActionFact) -> list[tuple[int, int]]:
        """The rules that match one action alone, and how often: the same at every letter."""
        found = self._counts.get(action_fact)
        if found is None:
            if len(self._counts) >= MAX_CACHED_MATCHES:
                self._counts.clear()
            found = self._counts[action_fact] = self._count((action_fact,))
        return found

    def _count(self, action_facts: Sequence[ActionFact]) -> list[tuple[int, int]]:
        found: dict[int, list[tuple[int, tuple[int, ...], tuple[int, ...]]]] = {}
        for predicate, code in action_facts:
            for rule, factor, pattern in self._match.get(predicate, ()):
                objects = pattern.key(code)
                if objects is not None:
                    found.setdefault(rule, []).append((factor, pattern.parameters, objects))
        return [
            (rule, matches[0][0] if len(matches) == 1 else self._distinct(rule, matches))
            for rule, matches in found.items()
        ]

    def _distinct(self, rule: int, matches: list[tuple[int, tuple[int, ...], tuple[int, ...]]]) -> int:
        """How many bindings several matches of a rule have together: those that leave parameters open are spelt out."""
        declared = self.rule_set.rules[rule].declared
        total = sum([factor for factor, _, _ in matches])
        if total > MAX_ENUMERATED_BINDINGS:
            return total
        out: set[tuple[int, ...]] = set()
        for _, parameters, objects in matches:
            known = dict(zip(parameters, objects, strict=True))
            domains = [
                (known[i],) if i in known else self.rule_set.task.domains[v.domain] for i, v in enumerate(declared)
            ]
            out.update(product(*domains))
        return len(out)

    def _act(self, state: State, moment: LetterTime) -> None:
        due, self._acting_due = self._acting_due, {}
        for number in due:
            monitor = self._unshared_monitor(number)
            monitor.step(state, moment)
            if monitor.awake:
                self._acting_due[number] = None

    def finish(self, state: State, moment: LetterTime) -> None:
        """The trace ends with the present letter, which has no actions."""
        self._act(state, moment)
        for number in self._reporting_numbers("open"):
            if self.monitors[number].affects_end:
                self._finish_monitor(self._unshared_monitor(number), state, moment.letter)

    def possible_violators(self) -> tuple[Iterable[int], Iterable[int]]:
        """The monitors that may have found a violation, over or not, and the predicates of such checks."""
        if self._summary is None:
            return range(len(self.monitors)), list(self.checks)
        then, (monitors, checks) = self._summary[0], self._changed_since()
        return monitors.union(then.end_monitors, then.reporting), checks.union(then.reporting_checks)

    def _changed_since(self) -> tuple[frozenset[int], frozenset[int]]:
        """The monitors, and the predicates of the checks, that may differ from what is summed up."""
        monitors, checks = self._changed_before_fork
        return monitors.union(self._unshared_monitors or ()), checks.union(self._unshared_checks or ())

    def _reporting_numbers(self, what: Literal["open", "reporting"]) -> Iterable[int]:
        """The monitors that may have something to tell, in order of their numbers."""
        if self._summary is None:
            return range(len(self.monitors))
        then = self._summary[0]
        summed = then.end_monitors if what == "open" else then.reporting
        return sorted(self._changed_since()[0].union(summed))

    def _reporters(self) -> list[StateMonitor | StepCheck]:
        """The monitors and checks that may have found something."""
        if self._summary is None:
            telling: Iterable[int] = self.checks
        else:
            telling = self._changed_since()[1].union(self._summary[0].reporting_checks)
        checks = [check for predicate in telling for check in self.checks[predicate]]
        return [*[self.monitors[number] for number in self._reporting_numbers("reporting")], *checks]

    def violations(self) -> list[Violation]:
        """All violations, in order of steps, rules and bindings; one for each rule, binding and step."""
        found = [v for monitor in self._reporters() for v in monitor.violations]
        return sorted(set(found), key=lambda v: (v.step, v.at_end, v.part, v.binding))

    def undecided(self) -> list[tuple[int, tuple[int, ...]]]:
        """The part and binding of every instance that could not be decided."""
        return sorted([(monitor.part, binding) for monitor in self._reporters() for binding in monitor.undecided])

    def touches(self) -> list[int]:
        """How often changes brought each rule's condition into play."""
        plan = self.rule_set
        if self._summary is None:
            summed = summarize_monitors(self.monitors, self.checks, plan.parts, len(plan.rules))
            return [t + m for t, m in zip(summed.touches, self.match_counts, strict=True)]
        summed, before = self._summary
        out = [t + m for t, m in zip(summed.touches, self.match_counts, strict=True)]
        for number in self._changed_since()[0]:
            monitor = self.monitors[number]
            out[plan.parts[monitor.part].rule] += touch_count(monitor) - touch_count(before[number])
        return out

    def fork(self) -> Runtime:
        """An independent copy: each monitor and index is shared until one of the two changes it."""
        copy = type(self).__new__(type(self))
        copy.rule_set, copy.indexes, copy.too_large = self.rule_set, self.indexes.fork(), self.too_large
        copy.monitors = list(self.monitors)
        if self._summary is None:
            summed = summarize_monitors(self.monitors, self.checks, self.rule_set.parts, len(self.rule_set.rules))
            self._summary = summed, list(self.monitors)
        elif self._unshared_monitors or self._unshared_checks:
            self._changed_before_fork = self._changed_since()
        if self._due_after:  # those will judge without being asked for again
            self._changed_before_fork = (
                self._changed_before_fork[0],
                self._changed_before_fork[1].union([check.predicate for check in self._due_after]),
            )
        copy._summary, copy._changed_before_fork = self._summary, self._changed_before_fork  # noqa: SLF001 - of its own class
        copy._unshared_monitors, self._unshared_monitors = set(), set()  # noqa: SLF001 - of its own class
        # Most plans take few kinds of steps: checks are shared until a step concerns them.
        copy.checks = dict(self.checks)
        copy._unshared_checks, self._unshared_checks = {}, {}  # noqa: SLF001 - of its own class
        copy.key_memories = dict(self.key_memories)
        copy.match_counts = list(self.match_counts)
        copy._match, copy._counts = self._match, self._counts  # noqa: SLF001 - of its own class
        copy._added, copy._deleted, copy._readers = self._added, self._deleted, self._readers  # noqa: SLF001 - of its own class
        copy._awake, copy._acting_due = dict(self._awake), dict(self._acting_due)  # noqa: SLF001 - of its own class
        copy._due_after = []  # noqa: SLF001 - of its own class
        if self._due_after:
            due = {check: check.fork() for check in self._due_after}
            for predicate in {check.predicate for check in due}:
                copy.checks[predicate] = [due.get(check) or check.fork() for check in self.checks[predicate]]
                copy._unshared_checks[predicate] = set(range(len(copy.checks[predicate])))  # noqa: SLF001 - of its own class
            copy._due_after = list(due.values())  # noqa: SLF001 - of its own class
        return copy


def _read_by(monitor: StateMonitor) -> set[int]:
    out = {predicate for predicate, _, _ in monitor.triggers()}
    out |= set(monitor.readers.by_predicate)
    if isinstance(monitor, Automaton):
        out |= set(monitor.all_readers.by_predicate)
    return out


def _stateful(formula: Formula, momentary: frozenset[int]) -> bool:
    return not is_temporal(formula) and not mentions(formula, momentary)
