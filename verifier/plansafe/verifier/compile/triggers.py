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
from plansafe.verifier.model.operations import find_atoms_and_fluents, find_bound_domains, free_slots, has_comparison

_SEARCH_PARAMETERS = "S, F, I, code, out"
"""The parameters of the functions of a search."""


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
    search = _BindingSearch(emitter, condition, positive, parameters)
    triggers = [search.define_trigger(read, later=True) for read in search.list_reads()]
    find_all = emitter.compile_lines(_SEARCH_PARAMETERS, search.emit_search() or ["pass"])
    return Extension(parameters, find_all, tuple(triggers))


def compile_addition_triggers(
    emitter: Emitter, condition: Formula, parameters: tuple[Variable, ...], predicate: int
) -> list[Trigger]:
    """Define the triggers by which an added fact of ``predicate`` may make ``condition`` true."""
    search = _BindingSearch(emitter, condition, True, parameters)
    return [
        search.define_trigger(read)
        for read in search.list_reads()
        if read.added is not False and emitter.task.find_symbol_index(read.symbol) == predicate
    ]


class _SymbolRead(NamedTuple):
    """An atom or fluent that a disjunct reads, with the ``added`` of its :class:`Trigger`."""

    disjunct: Disjunct
    symbol: Atom | Fluent
    added: bool | None


class _BindingSearch:
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
        append_binding = [f"out.append(({_format_tuple_items(self._slots)}))"]
        return Join(self.emitter, domains, _SEARCH_PARAMETERS, indexed=True).emit(
            literals, bound, self._slots, append_binding
        )

    def _find_domains(self, disjunct: Disjunct) -> dict[int, int]:
        """Return the domains of the parameters and of the variables of a disjunct, by slot."""
        return {v.slot: v.domain for v in (*self.parameters, *disjunct.variables)}

    def emit_search(self) -> list[str]:
        """Return lines that append all bindings to ``out``."""
        lines = [self._emit(disjunct, self._find_domains(disjunct), frozenset()) for disjunct in self.disjuncts]
        return [line for disjunct_lines in lines for line in disjunct_lines]

    def list_reads(self) -> Iterator[_SymbolRead]:
        """Yield the atoms and fluents that each disjunct reads, each once.

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
                    view_atom = Atom(view.change_index, tuple([-1 - slot for slot in view.slots]))
                    yield _SymbolRead(disjunct, view_atom, has_match)
                    continue
                for symbol in find_atoms_and_fluents(literal.formula):
                    key = (self.emitter.task.find_symbol_index(symbol), symbol.arguments, added)
                    if key not in reads:
                        reads.add(key)
                        yield _SymbolRead(disjunct, symbol, added)

    def define_trigger(self, read: _SymbolRead, *, later: bool = False) -> Trigger:
        """Define the functions of a trigger. ``later``: request the indexes of ``find`` only when it is compiled."""
        predicate, domains = self.emitter.task.find_symbol_index(read.symbol), self._find_domains(read.disjunct)
        match_lines, bound = emit_argument_match(self.emitter, predicate, read.symbol.arguments, domains)
        name = self.emitter.make_fresh_name()

        def make_body() -> list[str]:
            return match_lines + self._emit(read.disjunct, domains, bound)

        if later:
            self.emitter.define_later(name, _SEARCH_PARAMETERS, make_body)
        else:
            self.emitter.define(name, _SEARCH_PARAMETERS, make_body())
        match_name = self.emitter.define_matcher(match_lines)
        return Trigger(self.emitter, predicate, read.added, name, match_name)


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


def compile_read_patterns(emitter: Emitter, condition: Formula, parameters: tuple[Variable, ...]) -> list[ReadPattern]:
    """Return the patterns of all atoms and fluents that a condition reads."""
    positions = {v.slot: position for position, v in enumerate(parameters)}
    domains = {v.slot: v.domain for v in parameters} | find_bound_domains(condition)
    patterns: dict[tuple[int, tuple[int, ...]], ReadPattern] = {}
    empty_domains = frozenset([domain for domain, members in enumerate(emitter.task.domains) if not members])
    for symbol in find_atoms_and_fluents(condition, empty_domains):
        predicate = emitter.task.find_symbol_index(symbol)
        if (predicate, symbol.arguments) in patterns:
            continue
        lines, _ = emit_argument_match(emitter, predicate, symbol.arguments, domains)
        slots = list(dict.fromkeys([-1 - a for a in symbol.arguments if a < 0 and -1 - a in positions]))
        name = emitter.make_fresh_name()
        emitter.define(name, "code", [*lines, f"return ({_format_tuple_items(slots)})"])
        read_positions = tuple([positions[slot] for slot in slots])
        patterns[predicate, symbol.arguments] = ReadPattern(emitter, predicate, read_positions, name)
    return [*patterns.values()]


def list_changes(emitter: Emitter, triggers: Iterable[Trigger]) -> Iterator[tuple[int, bool | None]]:
    """Yield the changes of facts and fluents that triggers follow: the index, and whether facts are added.

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


def _format_tuple_items(slots: Iterable[int]) -> str:
    """Return the variables in slots as the items of a Python tuple."""
    return "".join([f"x{slot}," for slot in slots])
