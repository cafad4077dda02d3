"""Whether two rules agree on every sequence of letters, over the facts of one problem: a product of monitors.

A rule is its instances: each an automaton (``execution/monitors/program.py``) over the ground facts that it reads,
where what no action changes has its value. Instances that share facts belong together; of each such group all
valuations of its facts are read, letter by letter, by the instances of both rules at once. If no sequence ends with one
rule violated and the other not, the rules are equal on all traces of the problem, since each of these is such a
sequence. A difference need not be a trace: that one letter leads to the next is not asked.

At most one action is about to be taken at a letter, and none at the last one: plans without times are meant.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import NamedTuple, TypeAlias, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.monitor_key import make_program_key
from plansafe.verifier.execution.monitors.program import Program
from plansafe.verifier.execution.monitors.temporal_grounding import make_structural_key
from plansafe.verifier.execution.monitors.trace_operators import (
    PERMANENTLY_SATISFIED,
    PERMANENTLY_VIOLATED,
    PRESENTLY_SATISFIED,
    LetterTime,
)
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import And, Atom, Compare, Equal, Formula, Not, Or, Quantified, Temporal, Truth
from plansafe.verifier.model.operations import substitute
from plansafe.verifier.rules.model import RulePart

MAX_FACTS = 10
"""The maximum number of facts of one group of instances, the bits of a letter."""
MAX_INSTANCES = 5_000
MAX_EXPANSION = 200_000
SECONDS = 3.0

Fact: TypeAlias = tuple[object, ...]
"""A ground fact (``"fact"``, predicate, code), or a comparison of numbers, which is taken as a fact of its own."""
Value: TypeAlias = "bool | Fact | tuple[str, tuple[Value, ...]]"


class Sameness(NamedTuple):
    """``equal`` is ``None`` if it was not decided; ``why`` gives the number of states examined, or the reason.

    ``letters``: a shortest sequence that one rule allows and the other does not; the facts that are true, as text.
    """

    equal: bool | None
    why: str
    letters: tuple[tuple[str, ...], ...] = ()


class _Instance(NamedTuple):
    """One instance of a part: whose rule it is of (0, 1), its automaton and its leaves over facts."""

    side: int
    program: Program
    leaves: tuple[Value, ...]
    facts: tuple[Fact, ...]


class Reader:
    """Reads letters of one problem. ``alone``: predicates with at most one true fact at a letter.

    ``changes``: only sequences in which each letter differs from the one before it. That is how benchmarks whose
    ``next`` means "at the next change" read a trace; formulas without ``next`` do not see the difference.
    """

    def __init__(self, engine: Engine, alone: frozenset[str] = frozenset(), *, changes: bool = False) -> None:
        self.engine, self.task = engine, engine.task
        self._alone = frozenset([n for n, p in enumerate(self.task.predicates) if p.name in alone])
        self._changes = changes
        self._actions = {predicate: name for (_, name), predicate in engine.action_predicates.items()}
        self._programs: dict[tuple[object, ...], Program] = {}
        self._budget = 0

    def compare(self, first: Sequence[RulePart], second: Sequence[RulePart], seconds: float = SECONDS) -> Sameness:
        """Compare two rules by their parts; both are of the task of ``engine``, which leaves nothing open."""
        if any([action.end is not None for action in self.task.actions.values()]):
            return Sameness(None, "the domain has durative actions")
        self._budget = MAX_EXPANSION
        try:
            instances = [*self._instances(0, first), *self._instances(1, second)]
            return self._compared(instances, monotonic() + seconds)
        except LimitReached:
            return Sameness(None, "too many facts or letters to read all of them")

    # -- instances ----------------------------------------------------------------------------------------------------

    def _instances(self, side: int, parts: Sequence[RulePart]) -> Iterator[_Instance]:
        count = 0
        for part in parts:
            program = self._program(part)
            for binding in self.task.bindings(part.parameters, {}):
                count += 1
                if count > MAX_INSTANCES:
                    raise LimitReached(LimitKind.INSTANCES)
                leaves = tuple([self._value(substitute(leaf, binding)) for leaf in program.leaves])
                facts = tuple(dict.fromkeys([fact for leaf in leaves for fact in _facts(leaf)]))
                yield _Instance(side, program, leaves, facts)

    def _program(self, part: RulePart) -> Program:
        formula = over_letters(part)
        key = make_structural_key(formula)
        if key not in self._programs:
            self._programs[key] = Program(self.task, "whole", formula, part.parameters)
        return self._programs[key]

    def _value(self, formula: Formula) -> Value:
        """A state formula over facts; what no action changes is replaced by its value."""
        self._budget -= 1
        if self._budget < 0:
            raise LimitReached(LimitKind.QUESTION)
        match formula:
            case Truth():
                return formula.value
            case Atom():
                return self._atom(formula)
            case Equal():
                return formula.left == formula.right
            case Compare():
                return ("number", make_structural_key(formula))
            case Not():
                return _negated(self._value(formula.body))
            case And() | Or():
                return _joined(isinstance(formula, And), [self._value(part) for part in formula.parts])
            case Quantified():
                bindings = self.task.bindings(formula.variables, {})
                inner = [self._value(substitute(formula.body, values)) for values in bindings]
                return _joined(formula.universal, inner)
            case Temporal():
                raise AssertionError("leaves are about states")
            case _:
                assert_never(formula)

    def _atom(self, atom: Atom) -> Value:
        code = self.task.encode(atom.arguments)
        name = self._actions.get(atom.predicate)
        if name is not None:
            kinds = [parameter.domain for parameter in self.task.actions[name].parameters]
            fits = all([o in self.task.domain_sets[d] for o, d in zip(atom.arguments, kinds, strict=True)])
            return ("fact", atom.predicate, code) if fits else False
        if self.task.static[atom.predicate]:
            return code in self.task.initial_facts[atom.predicate]
        return ("fact", atom.predicate, code)

    # -- letters ------------------------------------------------------------------------------------------------------

    def _compared(self, instances: list[_Instance], deadline: float) -> Sameness:
        """Group by group: rules that agree in each agree as a whole.

        A difference in one group may be hidden by the others, and is looked for again in all of them at once.
        """
        groups = list(_groups(instances))
        visited: set[object] = set()
        most = 0
        for group in groups:
            facts, tables, alone = self._letters(group)
            most = max(most, len(facts))
            key = (
                tuple(
                    [
                        (instance.side, id(instance.program), tuple(table))
                        for instance, table in zip(group, tables, strict=True)
                    ]
                ),
                tuple(alone),
            )
            if key in visited:
                continue
            if self._difference(group, tables, alone, len(facts), deadline) is not None:
                return self._compare_group(instances, deadline)
            visited.add(key)
        return Sameness(True, f"all sequences of letters, at most {most} facts that belong together")

    def _compare_group(self, instances: list[_Instance], deadline: float) -> Sameness:
        """The difference between two rules that differ in a part, if there is one."""
        facts, tables, alone = self._letters(instances)
        path = self._difference(instances, tables, alone, len(facts), deadline)
        if path is None:
            return Sameness(True, f"all sequences of letters, {len(facts)} facts")
        letters = tuple([tuple([self._text(f) for n, f in enumerate(facts) if x >> n & 1]) for x in path])
        return Sameness(False, f"they differ after {len(letters)} letters", letters)

    def _letters(self, group: list[_Instance]) -> tuple[list[Fact], list[list[int]], list[int]]:
        """A group's facts, its letters, and the sets of facts with at most one true fact, actions first."""
        facts = list(dict.fromkeys([fact for instance in group for fact in instance.facts]))
        if len(facts) > MAX_FACTS:
            raise LimitReached(LimitKind.QUESTION)
        actions = sum([1 << n for n, f in enumerate(facts) if f[0] == "fact" and f[1] in self._actions])
        return facts, [_table(instance, facts) for instance in group], [actions, *self._exclusive(facts)]

    def _exclusive(self, facts: list[Fact]) -> list[int]:
        of = {p: [n for n, f in enumerate(facts) if f[:2] == ("fact", p)] for p in self._alone}
        return [sum([1 << n for n in numbers]) for numbers in of.values()]

    def _difference(
        self, group: list[_Instance], tables: list[list[int]], alone: list[int], count: int, deadline: float
    ) -> list[int] | None:
        """A shortest sequence of letters after which one rule is violated and the other is not, if there is one.

        ``alone``: sets of bits with at most one set bit; the first set are the actions, and no action is set last.
        """
        letters = [x for x in range(1 << count) if all([(x & mask).bit_count() <= 1 for mask in alone])]
        start = tuple([instance.program.start for instance in group])
        queue: deque[tuple[tuple[int, ...], int, tuple[int, ...]]] = deque([(start, 0, ())])
        visited: set[object] = set()
        while queue:
            states, number, path = queue.popleft()
            letter_time = LetterTime(number, number, False)
            if monotonic() > deadline:
                raise LimitReached(LimitKind.QUESTION)
            for letter in letters:
                if self._changes and path and letter == path[-1]:
                    continue
                after = tuple(
                    [
                        instance.program.step(
                            state, table[letter], instance.program.compare_time(letter_time), letter_time
                        )
                        for instance, table, state in zip(group, tables, states, strict=True)
                    ]
                )
                if not letter & alone[0] and _violated(group, after, 0) != _violated(group, after, 1):
                    return [*path, letter]
                mark = (_mark(group, after, number), letter if self._changes else 0)
                if mark not in visited and mark[0] is not None:
                    visited.add(mark)
                    queue.append((after, number + 1, (*path, letter)))
        return None

    def _text(self, fact: Fact) -> str:
        if fact[0] != "fact":
            return "(a comparison of numbers)"
        predicate, code = fact[1], fact[2]
        assert isinstance(predicate, int)
        assert isinstance(code, int)
        return self.task.fact_text(predicate, code)


def over_letters(part: RulePart) -> Formula:
    """A part as one formula over the trace."""
    match part.mode:
        case "whole":
            return part.body
        case "always":
            return Temporal("always", (part.body,))
        case "end":
            return Temporal("at-end", (part.body,))
        case _:
            conditions = [condition for condition in (part.step, part.guard) if condition is not None]
            body = Temporal("weak-next", (part.body,)) if part.after else part.body
            return Temporal("always", (Or((*[Not(condition) for condition in conditions], body)),))


def _groups(instances: list[_Instance]) -> Iterator[list[_Instance]]:
    """Instances that share facts, directly or through others. Those without facts are one group."""
    parent = list(range(len(instances) + 1))

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    owner: dict[Fact, int] = {}
    for number, instance in enumerate(instances):
        for fact in instance.facts:
            parent[root(number)] = root(owner.setdefault(fact, number))
        if not instance.facts:
            parent[root(number)] = root(len(instances))
    groups_by_root: dict[int, list[_Instance]] = {}
    for number, instance in enumerate(instances):
        groups_by_root.setdefault(root(number), []).append(instance)
    yield from groups_by_root.values()


def _violated(group: list[_Instance], states: tuple[int, ...], side: int) -> bool:
    return any(
        [
            instance.side == side and instance.program.find_verdict(state) < PRESENTLY_SATISFIED
            for instance, state in zip(group, states, strict=True)
        ]
    )


def _mark(group: list[_Instance], states: tuple[int, ...], number: int) -> object:
    """What decides the future; ``None`` where both rules are violated for good, or kept for good."""
    out: list[object] = []
    sides: list[object] = []
    for side in (0, 1):
        side_states = [
            (instance.program, state) for instance, state in zip(group, states, strict=True) if instance.side == side
        ]
        verdicts = [program.find_verdict(state) for program, state in side_states]
        if PERMANENTLY_VIOLATED in verdicts:
            sides.append(False)
        elif all([verdict == PERMANENTLY_SATISFIED for verdict in verdicts]):
            sides.append(True)
        else:
            sides.append(None)
        out.append(
            [] if sides[-1] is not None else [make_program_key(p, state, number + 1) for p, state in side_states]
        )
    if sides[0] is not None and sides[0] == sides[1]:
        return None
    return (*sides, *[tuple(keys) for keys in out if isinstance(keys, list)])


def _table(instance: _Instance, facts: list[Fact]) -> list[int]:
    """For each letter of a group's facts the letter of an instance's own leaves."""
    bits = {fact: number for number, fact in enumerate(facts)}
    return [
        sum([1 << n for n, leaf in enumerate(instance.leaves) if _holds(leaf, bits, letter)])
        for letter in range(1 << len(facts))
    ]


def _holds(value: Value, bits: dict[Fact, int], letter: int) -> bool:
    if isinstance(value, bool):
        return value
    match value[0]:
        case "not":
            return not _holds(_inner(value)[0], bits, letter)
        case "and":
            return all([_holds(part, bits, letter) for part in _inner(value)])
        case "or":
            return any([_holds(part, bits, letter) for part in _inner(value)])
        case _:
            return bool(letter >> bits[value] & 1)


def _facts(value: Value) -> Iterator[Fact]:
    if isinstance(value, bool):
        return
    if value[0] in ("not", "and", "or"):
        for part in _inner(value):
            yield from _facts(part)
    else:
        yield value


def _inner(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, tuple)
    parts = value[1]
    assert isinstance(parts, tuple)
    return parts


def _negated(value: Value) -> Value:
    return not value if isinstance(value, bool) else ("not", (value,))


def _joined(is_conjunction: bool, values: list[Value]) -> Value:
    """A conjunction (``every``) or a disjunction."""
    left = [value for value in values if value is not is_conjunction]
    if any([value is (not is_conjunction) for value in left]):
        return not is_conjunction
    return (
        is_conjunction if not left else left[0] if len(left) == 1 else ("and" if is_conjunction else "or", tuple(left))
    )
