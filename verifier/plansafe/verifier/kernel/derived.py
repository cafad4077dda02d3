"""Derived predicates: stratification, and the least fixpoints (docs/language.md, section 2, *State*)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .candidates import iterate_candidate_bindings, iterate_supported_bindings
from .evaluation import holds
from .formulas import Domains, Fact, Node, Supports, ground, iterate_symbols, unify
from .reader import require
from .trace import State

Candidate = tuple[Mapping[str, str], bool]
"""A binding, and whether the body is known to be true for it."""


class Axiom(NamedTuple):
    """``(:derived head body)``, with the domains of its variables and the supports of its body."""

    head: Fact
    domains: Domains
    body: Node
    supports: Supports


class Stratum(NamedTuple):
    """Predicates that depend on each other, with the predicates and functions in their bodies.

    ``negative_reads`` are the symbols whose new facts can make a body false; all functions are among them.
    """

    predicates: frozenset[Fact]
    axioms: tuple[Axiom, ...]
    reads: frozenset[Fact]
    negative_reads: frozenset[Fact]


class Axioms:
    """All axioms, in strata: the components of the graph of dependencies, each after those that it depends on."""

    def __init__(self, axioms: list[Axiom]) -> None:
        axioms_by_predicate = dict[Fact, list[Axiom]]()
        for axiom in axioms:
            axioms_by_predicate.setdefault(axiom.head[:1], []).append(axiom)
        self._reads: dict[Fact, dict[Fact, bool]] = {}
        """The symbols that each derived predicate reads, and whether below a negation."""
        for predicate, definitions in axioms_by_predicate.items():
            reads = self._reads[predicate] = {}
            for axiom in definitions:
                for read, negative in iterate_symbols(axiom.body):
                    reads[read] = reads.get(read, False) or negative
        self.derived = {name for (name,) in axioms_by_predicate}
        self.strata = [self._make_stratum(names, axioms_by_predicate) for names in _find_components(self._reads)]
        self._dependencies: dict[Fact, frozenset[Fact]] = {}

    def _make_stratum(self, predicates: list[Fact], axioms_by_predicate: dict[Fact, list[Axiom]]) -> Stratum:
        """Return the stratum of some predicates. Raises ``KernelRejects`` if one depends on its own negation."""
        reads = [pair for predicate in predicates for pair in self._reads[predicate].items()]
        negative_reads = frozenset([read for read, is_negative in reads if is_negative])
        require(not negative_reads & {*predicates}, "derived predicates that are not stratified")
        axioms = tuple([axiom for predicate in predicates for axiom in axioms_by_predicate[predicate]])
        return Stratum(frozenset(predicates), axioms, frozenset([read for read, _ in reads]), negative_reads)

    def find_dependencies(self, predicate: Fact) -> frozenset[Fact]:
        """Return the predicates and functions that a derived predicate depends on, itself included if recursive."""
        if predicate not in self._dependencies:
            reached = dict.fromkeys(self._reads.get(predicate, ()))
            queue = [*reached]
            while queue:
                new = [read for read in self._reads.get(queue.pop(), ()) if read not in reached]
                reached.update(dict.fromkeys(new))
                queue += new
            self._dependencies[predicate] = frozenset(reached)
        return self._dependencies[predicate]

    def derive_all(self, state: State) -> None:
        """Add the derived facts to a state that has none."""
        for stratum in self.strata:
            _add_least_fixpoint(stratum, state)

    def update(self, state: State, added: list[Fact], removed: list[Fact], numbers: Iterable[Fact]) -> None:
        """Update the derived facts after basic facts or numbers changed, and append the changes to the lists.

        A stratum stays if nothing that it reads changed. It is continued if the changes can only add to it, and
        otherwise computed again.
        """
        changed_functions = {fact[:2] for fact in numbers}
        grown_symbols, shrunk_symbols = {fact[:1] for fact in added}, {fact[:1] for fact in removed}
        for stratum in self.strata:
            if not stratum.reads & (grown_symbols | shrunk_symbols | changed_functions):
                continue
            facts_before = dict[Fact, None]()
            if stratum.reads & (shrunk_symbols | changed_functions) or stratum.negative_reads & grown_symbols:
                for predicate in stratum.predicates:
                    facts_before.update(dict.fromkeys(state.facts.find_with_predicate(predicate[0])))
                for fact in facts_before:
                    state.facts.discard(fact)
                derived_facts = _add_least_fixpoint(stratum, state)
            else:
                read_facts = [fact for fact in added if fact[:1] in stratum.reads]
                derived_facts = _continue_fixpoint(stratum, state, read_facts)
            new = [fact for fact in derived_facts if fact not in facts_before]
            lost = [fact for fact in facts_before if fact not in state.facts]
            grown_symbols |= {fact[:1] for fact in new}
            shrunk_symbols |= {fact[:1] for fact in lost}
            added += new
            removed += lost


def _add_least_fixpoint(stratum: Stratum, state: State) -> list[Fact]:
    """Add consequences until nothing new follows; return the added facts."""
    new = _add_heads(state, [(axiom, _iterate_all_candidates(axiom, state)) for axiom in stratum.axioms])
    if not state.literal:
        return new + _continue_fixpoint(stratum, state, new)
    derived = new
    while new:
        new = _add_heads(state, [(axiom, _iterate_all_candidates(axiom, state)) for axiom in stratum.axioms])
        derived = derived + new
    return derived


def _iterate_all_candidates(axiom: Axiom, state: State) -> Iterator[Candidate]:
    """Yield the bindings for which a body may be true."""
    return ((binding, False) for binding in iterate_candidate_bindings(axiom.supports, axiom.domains, {}, state))


def _continue_fixpoint(stratum: Stratum, state: State, new: list[Fact]) -> list[Fact]:
    """Add the consequences of new facts (semi-naive evaluation); all other consequences were added before."""
    derived = list[Fact]()
    while new:
        new_facts_by_predicate = dict[Fact, list[Fact]]()
        for fact in new:
            new_facts_by_predicate.setdefault(fact[:1], []).append(fact)
        new = _add_heads(
            state, [(axiom, _iterate_new_candidates(axiom, new_facts_by_predicate, state)) for axiom in stratum.axioms]
        )
        derived += new
    return derived


def _iterate_new_candidates(axiom: Axiom, new: Mapping[Fact, list[Fact]], state: State) -> Iterator[Candidate]:
    """Yield the bindings for which new facts may have made a body true."""
    for support in axiom.supports:
        if any(name in new for name in support.other_symbols):
            yield from (
                (binding, False) for binding in iterate_candidate_bindings((support,), axiom.domains, {}, state)
            )
            continue
        for position, atom in enumerate(support.atoms):
            remaining_atoms = support.atoms[:position] + support.atoms[position + 1 :]
            for fact in new.get(atom[:1], ()):
                atom_binding = unify(atom, fact, {})
                if atom_binding is not None:
                    bindings = iterate_supported_bindings(support, remaining_atoms, axiom.domains, atom_binding, state)
                    yield from ((binding, support.exact) for binding in bindings)


def _add_heads(state: State, axioms: list[tuple[Axiom, Iterable[Candidate]]]) -> list[Fact]:
    """Find the heads of true bodies that are not in the state; then add and return them."""
    new = dict[Fact, None]()
    for axiom, candidates in axioms:
        for binding, is_true in candidates:
            state.work.spend()
            fact = ground(axiom.head, binding)
            if fact not in state.facts and fact not in new and (is_true or holds(axiom.body, binding, state)):
                new[fact] = None
    for fact in new:
        state.facts.add(fact)
    return [*new]


def _find_components(graph: Mapping[Fact, Iterable[Fact]]) -> list[list[Fact]]:
    """Return the strongly connected components of derived predicates, each after those it depends on (Tarjan, 1972)."""
    index, low = dict[Fact, int](), dict[Fact, int]()
    stack, on_stack = list[Fact](), set[Fact]()
    components = list[list[Fact]]()
    for start in graph:
        path = [] if start in index else [(start, iter(graph[start]))]
        while path:
            node, successors = path[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            open_successors = (n for n in successors if n in graph and (n not in index or n in on_stack))
            successor = next(open_successors, None)
            if successor is None:
                path.pop()
                if path:
                    parent, _ = path[-1]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    components.append(_pop_component(stack, on_stack, node))
            elif successor in on_stack:
                low[node] = min(low[node], index[successor])
            else:
                path.append((successor, iter(graph[successor])))
    return components


def _pop_component(stack: list[Fact], on_stack: set[Fact], root: Fact) -> list[Fact]:
    """Remove and return the nodes of a component: those from its root on."""
    component = list[Fact]()
    while not component or component[-1] != root:
        component.append(stack.pop())
        on_stack.remove(component[-1])
    return component
