"""Triggers: from one changed fact to the bindings of a condition that it may have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.joins import Join, emit_argument_match
from plansafe.verifier.compile.normal_forms import (
    Disjunct,
    convert_to_dnf,
    convert_to_dnf_or_literal,
    drop_impossible_equations,
    find_bound_slots,
    push_quantifiers_inwards,
)
from plansafe.verifier.model.nodes import Atom, Fluent, Formula, Quantified, Variable
from plansafe.verifier.model.operations import atoms_and_fluents, bound_slot_domains, free_slots, has_comparison

_CONTEXT = "S, F, I, code, out"
"""The parameters of the functions of a search."""


def _define_match(emitter: Emitter, predicate: int, arguments: tuple[int, ...], domains: dict[int, int]) -> str:
    """The name of ``f(code)``, which returns ``True`` if a code matches arguments, else ``None``."""
    return emitter.define_once("code", [*emit_argument_match(emitter, predicate, arguments, domains)[0], "return True"])


class Trigger(NamedTuple):
    """``find(S, F, I, code, out)`` appends the bindings that a change of ``predicate`` may have made true.

    ``predicate`` may also be the index of a fluent or of a view.

    ``added`` is ``None`` for fluents and for facts below a quantifier: any change may have made bindings true.
    ``matches(code)`` is ``None`` for codes for which ``find`` appends nothing in any state. Both functions are compiled
    at their first use, because most triggers follow changes that no step makes.
    """

    emitter: Emitter
    predicate: int
    added: bool | None
    find_name: str
    match_name: str

    @property
    def find(self) -> Callable[..., None]:
        """The search for bindings."""
        return self.emitter.compile_function(self.find_name)

    @property
    def matches(self) -> Callable[[int], bool | None]:
        """The test of codes."""
        return self.emitter.compile_function(self.match_name)


class Extension(NamedTuple):
    """The bindings of ``parameters`` for which a condition holds: all of them, or those due to a change.

    ``find_all(S, F, I, 0, out)`` appends every candidate binding. Candidates may be duplicates; if the condition reads
    numbers, the caller must confirm them.
    """

    parameters: tuple[Variable, ...]
    find_all: Callable[..., None]
    triggers: tuple[Trigger, ...]


def compile_extension(
    emitter: Emitter, condition: Formula, positive: bool, parameters: tuple[Variable, ...]
) -> Extension:
    """Compile the search for the bindings under which ``condition`` has the value ``positive``."""
    search = _Search(emitter, condition, positive, parameters)
    triggers = [search.define_trigger(*read, later=True) for read in search.list_reads()]
    find_all = emitter.compile_lines(_CONTEXT, search.emit_search() or ["pass"])
    return Extension(parameters, find_all, tuple(triggers))


def compile_matches(
    emitter: Emitter, condition: Formula, parameters: tuple[Variable, ...], predicate: int
) -> list[Trigger]:
    """Define the triggers by which an added fact of ``predicate`` may make ``condition`` true."""
    search = _Search(emitter, condition, True, parameters)
    reads = [(disjunct, read, added) for disjunct, read, added in search.list_reads() if added is not False]
    return [search.define_trigger(*read) for read in reads if emitter.task.find_subject(read[1]) == predicate]


class _Search:
    """The code of a search for the bindings of ``parameters`` under which a condition has a value."""

    def __init__(self, emitter: Emitter, condition: Formula, positive: bool, parameters: tuple[Variable, ...]) -> None:
        condition = drop_impossible_equations(condition, {v.slot: v.domain for v in parameters}, emitter.task.domains)
        self.emitter = emitter
        self.parameters = parameters
        disjuncts = convert_to_dnf(push_quantifiers_inwards(condition, emitter.task.domains), positive)
        self.disjuncts = convert_to_dnf_or_literal(condition, positive) if disjuncts is None else disjuncts
        self._slots = [v.slot for v in parameters]

    def _emit(self, disjunct: Disjunct, domains: dict[int, int], bound: frozenset[int]) -> list[str]:
        # The caller confirms each candidate, and evaluates comparisons of numbers only there.
        literals = [literal for literal in disjunct.literals if not has_comparison(literal.formula)]
        append_binding = [f"out.append(({_tuple_items(self._slots)}))"]
        return Join(self.emitter, domains, _CONTEXT, indexed=True).emit(literals, bound, self._slots, append_binding)

    def _find_domains(self, disjunct: Disjunct) -> dict[int, int]:
        return {v.slot: v.domain for v in (*self.parameters, *disjunct.variables)}

    def emit_search(self) -> list[str]:
        """Lines that append all bindings to ``out``."""
        lines = [self._emit(disjunct, self._find_domains(disjunct), frozenset()) for disjunct in self.disjuncts]
        return [line for disjunct_lines in lines for line in disjunct_lines]

    def list_reads(self) -> Iterator[tuple[Disjunct, Atom | Fluent, bool | None]]:
        """The atoms and fluents that each disjunct reads, each once, with the ``added`` of their :class:`Trigger`.

        A view is read like an atom with its index as predicate.
        """
        for disjunct in self.disjuncts:
            reads: set[tuple[int, tuple[int, ...], bool | None]] = set()
            for literal in disjunct.literals:
                formula = literal.formula
                added = literal.positive if isinstance(formula, Atom) else None
                view = self.emitter.find_view(formula)
                if view is not None:
                    assert isinstance(formula, Quantified)
                    has_match = literal.positive is not formula.universal
                    yield disjunct, Atom(view.change_index, tuple([-1 - slot for slot in view.slots])), has_match
                    continue
                for read in atoms_and_fluents(literal.formula):
                    key = (self.emitter.task.find_subject(read), read.arguments, added)
                    if key not in reads:
                        reads.add(key)
                        yield disjunct, read, added

    def define_trigger(
        self, disjunct: Disjunct, read: Atom | Fluent, added: bool | None, *, later: bool = False
    ) -> Trigger:
        """Define the functions of a trigger. ``later``: request the indexes of ``find`` only when it is compiled."""
        predicate, domains = self.emitter.task.find_subject(read), self._find_domains(disjunct)
        match_lines, bound = emit_argument_match(self.emitter, predicate, read.arguments, domains)
        name = self.emitter.fresh_name()
        if later:
            self.emitter.define_later(name, _CONTEXT, lambda: match_lines + self._emit(disjunct, domains, bound))
        else:
            self.emitter.define(name, _CONTEXT, match_lines + self._emit(disjunct, domains, bound))
        match_name = _define_match(self.emitter, predicate, read.arguments, domains)
        return Trigger(self.emitter, predicate, added, name, match_name)


class ReadPattern(NamedTuple):
    """An atom or fluent that a condition reads, as a pattern over the parameters of its rule.

    ``key(code)`` gives the objects of a changed fact that the binding must have at the positions ``parameters``;
    ``None`` if the fact does not match (constants, repeated variables, the types of inner variables). The function is
    compiled at its first use.
    """

    emitter: Emitter
    predicate: int
    parameters: tuple[int, ...]
    key_name: str

    @property
    def key(self) -> Callable[[int], tuple[int, ...] | None]:
        """The function that gives the objects of a fact."""
        return self.emitter.compile_function(self.key_name)


def compile_patterns(emitter: Emitter, condition: Formula, parameters: tuple[Variable, ...]) -> list[ReadPattern]:
    """Return all patterns of a condition."""
    positions = {v.slot: position for position, v in enumerate(parameters)}
    domains = {v.slot: v.domain for v in parameters} | bound_slot_domains(condition)
    patterns: dict[tuple[int, tuple[int, ...]], ReadPattern] = {}
    empty_domains = frozenset([domain for domain, members in enumerate(emitter.task.domains) if not members])
    for symbol in atoms_and_fluents(condition, empty_domains):
        predicate = emitter.task.find_subject(symbol)
        if (predicate, symbol.arguments) in patterns:
            continue
        lines, _ = emit_argument_match(emitter, predicate, symbol.arguments, domains)
        slots = list(dict.fromkeys([-1 - a for a in symbol.arguments if a < 0 and -1 - a in positions]))
        name = emitter.fresh_name()
        emitter.define(name, "code", [*lines, f"return ({_tuple_items(slots)})"])
        read_positions = tuple([positions[slot] for slot in slots])
        patterns[predicate, symbol.arguments] = ReadPattern(emitter, predicate, read_positions, name)
    return [*patterns.values()]


def list_changes(emitter: Emitter, triggers: Iterable[Trigger]) -> Iterator[tuple[int, bool | None]]:
    """The changes of facts and fluents that triggers follow: the index, and whether facts are added.

    ``None``: added and deleted facts. Views are replaced by the predicates that they read.
    """
    for trigger in triggers:
        view = emitter.find_view_of_index(trigger.predicate)
        if view is None:
            yield trigger.predicate, trigger.added
        else:
            yield from [(predicate, None) for predicate in sorted(view.read_predicates)]


def binds_all_parameters(condition: Formula, positive: bool, parameters: tuple[Variable, ...]) -> bool:
    """Whether positive atoms give values to all parameters wherever the condition has the value ``positive``."""
    slots = free_slots(condition) & {v.slot for v in parameters}
    disjuncts = convert_to_dnf(condition, positive)
    return disjuncts is not None and all([slots <= find_bound_slots(disjunct) for disjunct in disjuncts])


def _tuple_items(slots: Iterable[int]) -> str:
    return "".join([f"x{slot}," for slot in slots])
