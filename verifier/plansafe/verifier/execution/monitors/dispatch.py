"""The monitors and checks that a changed fact concerns, found once for each fact and shared by all runs of a check.

Hundreds of triggers may read a predicate, and most of them only for facts with other constants or types of objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.compile.emitter import MAX_CACHED_CHANGES
from plansafe.verifier.compile.triggers import Trigger
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.monitor_summary import StateMonitor
from plansafe.verifier.execution.monitors.stepcheck import StepCheck

TriggerFunction = Callable[..., None]


class ConcernedMonitors(NamedTuple):
    """The monitors that read a changed fact, and the triggers that it matches, each with its monitor; by number."""

    readers: tuple[int, ...]
    triggers: tuple[tuple[int, TriggerFunction], ...]


class ChangeDispatch(dict[tuple[int, int, bool], ConcernedMonitors]):
    """The monitors that a change concerns, by symbol, code, and whether the fact was added; found at the first use.

    Copies of a monitor share its entries. Subjects are the predicates, the functions numbered after them, and the views
    numbered after the functions. ``symbol_count`` counts all.
    """

    def __init__(
        self, monitors: Sequence[StateMonitor], checks: Mapping[int, Sequence[StepCheck]], symbol_count: int
    ) -> None:
        super().__init__()
        self._monitors = tuple(monitors)
        self._checks = {predicate: tuple(entries) for predicate, entries in checks.items()}
        self.readers: list[list[int]] = [[] for _ in range(symbol_count)]
        """By symbol, the monitors (by number) that a change may affect."""
        self._triggers: list[tuple[int, Trigger]] = [
            (number, trigger) for number, monitor in enumerate(monitors) for trigger in monitor.list_triggers()
        ]
        self._trigger_positions: dict[tuple[int, bool], list[int]] = {}
        """By symbol and whether a fact was added, the positions of the triggers for such a change."""
        for position, (_, trigger) in enumerate(self._triggers):
            for added in (True, False) if trigger.added is None else (trigger.added,):
                self._trigger_positions.setdefault((trigger.predicate, added), []).append(position)
        for number, monitor in enumerate(monitors):
            for symbol_index in _collect_read_symbols(monitor):
                self.readers[symbol_index].append(number)
        self._check_positions: dict[tuple[int, int], tuple[int, ...]] = {}
        """By action fact, the positions of the checks that it may match."""

    def __missing__(self, change: tuple[int, int, bool]) -> ConcernedMonitors:
        symbol_index, code, added = change
        if len(self) >= MAX_CACHED_CHANGES:
            self.clear()
        readers = [n for n in self.readers[symbol_index] if _reads(self._monitors[n], symbol_index, code)]
        triggers = [self._triggers[position] for position in self._trigger_positions.get((symbol_index, added), ())]
        matching_triggers = [(number, trigger.find) for number, trigger in triggers if trigger.matches(code)]
        concerned = self[change] = ConcernedMonitors(tuple(readers), tuple(matching_triggers))
        return concerned

    def find_checks(self, predicate: int, code: int) -> tuple[int, ...]:
        """Return the positions of the checks of an action predicate that an action fact may match."""
        key = (predicate, code)
        positions = self._check_positions.get(key)
        if positions is None:
            if len(self._check_positions) >= MAX_CACHED_CHANGES:
                self._check_positions.clear()
            checks = self._checks.get(predicate, ())
            positions = tuple([position for position, check in enumerate(checks) if check.may_match(code)])
            self._check_positions[key] = positions
        return positions


def _collect_read_symbols(monitor: StateMonitor) -> set[int]:
    """Return the symbols whose changes may affect a monitor."""
    symbol_indexes = {trigger.predicate for trigger in monitor.list_triggers()}
    symbol_indexes |= set(monitor.readers.pattern_numbers)
    return (
        symbol_indexes | set(monitor.all_readers.pattern_numbers) if isinstance(monitor, Automaton) else symbol_indexes
    )


def _reads(monitor: StateMonitor, symbol_index: int, code: int) -> bool:
    """Whether some instance of a monitor can read a fact or fluent."""
    readers = monitor.all_readers if isinstance(monitor, Automaton) else monitor.readers
    return readers.matches(symbol_index, code)
