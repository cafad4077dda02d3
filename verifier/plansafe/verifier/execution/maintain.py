"""Derived facts follow a step: delete and rederive (Gupta, Mumick and Subrahmanian, 1993), one stratum after the other.

What a step may have taken the ground from is deleted, with all that was derived from it before the step. Of that, what
is still derived some other way comes back, and with what is new it is pushed through the rules, round by round.
"""

from __future__ import annotations

from collections.abc import Iterable

from plansafe.verifier.compile.emit import Emitter
from plansafe.verifier.execution.derivations import Derivations, Facts, Fluents, Tables, Work
from plansafe.verifier.execution.state import StateChange

Delta = dict[int, set[int]]
"""Facts by predicate."""
PATIENCE = 3
"""Where more than one in so many facts of a stratum would be deleted, it is cheaper to compute it anew."""


def fixpoint(rules: Derivations, facts: Facts, fluents: Fluents, tables: Tables) -> None:
    """Set the predicates of a stratum to their least fixpoint; those before it are right."""
    for predicate in rules.predicates:
        facts[predicate] = set()
    if rules.recursive:
        _grow(rules, facts, fluents, tables, rules.first, {}, {})
        return
    for (head, find), codes in rules.first:
        find(facts, fluents, tables, codes, facts[head])


def _grow(
    rules: Derivations, facts: Facts, fluents: Fluents, tables: Tables, work: Work, delta: Delta, old: Delta
) -> None:
    """Add what joins find, and all that follows from that and from ``delta``, what is new already.

    Sets of ``old`` are replaced when they grow.
    """
    while True:
        for (head, find), codes in work:
            new: set[int] = set()
            find(facts, fluents, tables, codes, new)
            new -= facts[head]
            if not new:
                continue
            known = facts[head]
            if known is old.get(head):
                facts[head] = known | new
            else:
                known |= new
            delta[head] = delta[head] | new if head in delta else new
        work = [(seeded, codes) for head, codes in delta.items() for seeded in rules.grown(head)]
        if not work:
            return
        delta = {}


class Maintenance:
    """One step: the facts before and after it, and by predicate what has become false (``gone``) and true (``came``).

    Sets of derived facts may be shared with copies of the state: a set is replaced, once, and only if it differs.
    """

    def __init__(self, emitter: Emitter, facts: Facts, fluents: Fluents, log: list[StateChange]) -> None:
        self.facts = facts
        self.fluents = fluents
        self.gone: Delta = {}
        self.came: Delta = {}
        self.changed: set[int] = set()
        """What differs: predicates, and ``-1 - f`` for fluents."""
        base = len(facts)
        for index, code, value in log:
            if index >= base:
                self.changed.add(base - 1 - index)
                continue
            self.changed.add(index)
            into, other = (self.came, self.gone) if value else (self.gone, self.came)
            if code in other.get(index, ()):
                other[index].discard(code)  # changed back
            else:
                into.setdefault(index, set()).add(code)
        self.tables = Tables(emitter, facts)
        self._emitter = emitter
        self._before: Tables | None = None
        self._old: Delta = {}
        """The sets of the derived predicates that were replaced, as they were."""

    def follow(self, rules: Derivations) -> None:
        """Put a stratum right; those before it are."""
        touched = rules.reads & self.changed
        if not touched:
            return
        facts = self.facts
        old = {predicate: facts[predicate] for predicate in rules.predicates}
        self._old.update(old)
        over = None
        if rules.predicates.isdisjoint(rules.opaque) and touched.isdisjoint(rules.opaque):
            over = self._overdeleted(rules, touched, old)
        if over is None:
            fixpoint(rules, facts, self.fluents, self.tables)
            for predicate, known in old.items():
                self._note(predicate, known, known - facts[predicate], facts[predicate] - known)
            return
        for predicate, codes in over.items():
            facts[predicate] = old[predicate] - codes
        self._insert(rules, touched, old, over)
        for predicate, known in old.items():
            now = facts[predicate]
            if now is not known:
                self._note(predicate, known, over.get(predicate, set()) - now, now - known)

    def _note(self, predicate: int, known: set[int], gone: set[int], came: set[int]) -> None:
        if not gone and not came:
            self.facts[predicate] = known
            return
        self.changed.add(predicate)
        self.gone[predicate], self.came[predicate] = gone, came

    @property
    def before(self) -> Tables:
        """The facts before the step, with their indexes. Derived predicates must not have been replaced unnoted."""
        if self._before is None:
            past = list(self.facts)
            for index in self.changed:
                if index >= 0 and index not in self._old:
                    past[index] = (past[index] - self.came.get(index, set())) | self.gone.get(index, set())
            self._before = Tables(self._emitter, past, self.tables)
        for predicate, known in self._old.items():
            self._before.facts[predicate] = known
        return self._before

    def _seeds(self, rules: Derivations, touched: Iterable[int], less: bool) -> Work:
        """The joins from what changed that find what may be true no more (``less``), or newly true."""
        work: Work = []
        for predicate in touched:
            for codes, positive in ((self.gone.get(predicate), less), (self.came.get(predicate), not less)):
                if codes:
                    work += [(seeded, codes) for seeded in rules.seeded(predicate, positive)]
        return work

    def _overdeleted(self, rules: Derivations, touched: Iterable[int], old: Delta) -> Delta | None:
        """All that was derived, before the step, from what holds no more; ``None`` if that is much."""
        over: Delta = {}
        left = sum([len(known) for known in old.values()]) // PATIENCE
        work = self._seeds(rules, touched, True)
        while work:
            tables = self.before
            delta: Delta = {}
            for (head, find), codes in work:
                out: set[int] = set()
                find(tables.facts, self.fluents, tables, codes, out)
                known = over.setdefault(head, set())
                new = out - known
                if new:
                    left -= len(new)
                    if left < 0:
                        return None
                    known |= new
                    delta[head] = delta[head] | new if head in delta else new
            work = [(seeded, codes) for head, codes in delta.items() for seeded in rules.seeded(head, True)]
        return {predicate: codes for predicate, codes in over.items() if codes}

    def _insert(self, rules: Derivations, touched: Iterable[int], old: Delta, over: Delta) -> None:
        """Add what is derived, still or newly."""
        facts, fluents, tables = self.facts, self.fluents, self.tables
        delta: Delta = {}
        for predicate, codes in over.items():
            back = rules.derivable(predicate, codes, facts, fluents, tables)
            if back:
                delta[predicate] = back
        for predicate, codes in delta.items():
            facts[predicate] |= codes
        _grow(rules, facts, fluents, tables, self._seeds(rules, touched, False), delta, old)
