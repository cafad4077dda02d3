"""The monitors and checks that a changed fact concerns, found once for each fact and shared by all runs of a check.

Hundreds of triggers may read a predicate, and most of them only for facts with other constants or types of objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.monitor_summary import StateMonitor
from plansafe.verifier.execution.monitors.stepcheck import StepCheck

TriggerFunction = Callable[..., None]
MAX_CACHED_CHANGES = 100_000
"""The most changes whose monitors are cached."""


class ConcernedMonitors(NamedTuple):
    """The numbers of the monitors that read a changed fact, and the triggers that it matches, with their monitors."""

    readers: tuple[int, ...]
    triggers: tuple[tuple[int, TriggerFunction], ...]


class ChangeDispatch(dict[tuple[int, int, bool], ConcernedMonitors]):
    """The monitors that a change concerns, by predicate, code, and whether it was added; found when they are asked for.

    Copies of a monitor share its entries. A predicate is a number; the functions are numbered after the predicates, and
    the views after the functions. ``size`` counts all.
    """

    def __init__(self, monitors: Sequence[StateMonitor], checks: Mapping[int, Sequence[StepCheck]], size: int) -> None:
        super().__init__()
        self._monitors = tuple(monitors)
        self._checks = {predicate: tuple(entries) for predicate, entries in checks.items()}
        self.readers: list[list[int]] = [[] for _ in range(size)]
        """By predicate, the monitors (by number) that a change may affect."""
        self._triggers = [
            (number, trigger) for number, monitor in enumerate(monitors) for trigger in monitor.list_triggers()
        ]
        self._positions: dict[tuple[int, bool], list[int]] = {}
        """By predicate and whether a fact was added, the positions of the triggers that follow this."""
        for position, (_, trigger) in enumerate(self._triggers):
            for added in (True, False) if trigger.added is None else (trigger.added,):
                self._positions.setdefault((trigger.predicate, added), []).append(position)
        for number, monitor in enumerate(monitors):
            for predicate in _collect_read_predicates(monitor):
                self.readers[predicate].append(number)
        self._checks_by_action: dict[tuple[int, int], tuple[int, ...]] = {}

    def __missing__(self, change: tuple[int, int, bool]) -> ConcernedMonitors:
        predicate, code, added = change
        if len(self) >= MAX_CACHED_CHANGES:
            self.clear()
        readers = [n for n in self.readers[predicate] if _reads(self._monitors[n], predicate, code)]
        triggers = [self._triggers[position] for position in self._positions.get((predicate, added), ())]
        matching = [(number, trigger.find) for number, trigger in triggers if trigger.matches(code)]
        concerned = self[change] = ConcernedMonitors(tuple(readers), tuple(matching))
        return concerned

    def find_checks(self, predicate: int, code: int) -> tuple[int, ...]:
        """The positions of the checks of an action predicate that an action fact may match."""
        key = (predicate, code)
        positions = self._checks_by_action.get(key)
        if positions is None:
            if len(self._checks_by_action) >= MAX_CACHED_CHANGES:
                self._checks_by_action.clear()
            checks = self._checks.get(predicate, ())
            positions = tuple([position for position, check in enumerate(checks) if check.may_match(code)])
            self._checks_by_action[key] = positions
        return positions


def _collect_read_predicates(monitor: StateMonitor) -> set[int]:
    predicates = {trigger.predicate for trigger in monitor.list_triggers()}
    predicates |= set(monitor.readers.by_predicate)
    return predicates | set(monitor.all_readers.by_predicate) if isinstance(monitor, Automaton) else predicates


def _reads(monitor: StateMonitor, predicate: int, code: int) -> bool:
    """Whether some instance of a monitor can read a fact."""
    readers = monitor.all_readers if isinstance(monitor, Automaton) else monitor.readers
    return readers.matches(predicate, code)
