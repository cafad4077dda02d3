"""Derived predicates: stratification, and the least fixpoints (docs/language.md, section 2, *State*)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .candidates import candidates, supported
from .evaluation import holds
from .formulas import Domains, Fact, Need, Node, ground, needs, symbols, unify
from .reader import need
from .trace import State

Tried = tuple[Mapping[str, str], bool]
"""A binding, and whether the body is known to be true under it."""


class Axiom(NamedTuple):
    """``(:derived head body)``, with the domains of its variables."""

    head: Fact
    domains: Domains
    body: Node


class Rule(NamedTuple):
    """An axiom with what its body needs."""

    axiom: Axiom
    needs: tuple[Need, ...]


class Stratum(NamedTuple):
    """Predicates that depend on each other, with the predicates and functions that their bodies name."""

    names: frozenset[Fact]
    rules: tuple[Rule, ...]
    reads: frozenset[Fact]
    negative: frozenset[Fact]  # those that, becoming true, may make a body false; functions among them


class Axioms:
    """All axioms, in strata: the components of the graph of dependencies, in an order in which none needs a later."""

    def __init__(self, axioms: list[Axiom]) -> None:
        grouped = dict[Fact, list[Axiom]]()
        for axiom in axioms:
            grouped.setdefault(axiom.head[:1], []).append(axiom)
        self._named: dict[Fact, dict[Fact, bool]] = {}  # with whether it is under a negation somewhere
        for name, own in grouped.items():
            found = self._named[name] = {}
            for axiom in own:
                for other, negative in symbols(axiom.body):
                    found[other] = found.get(other, False) or negative
        self.derived = {name for (name,) in grouped}
        self.strata = [self._stratum(names, grouped) for names in _components(self._named)]
        self._behind: dict[Fact, frozenset[Fact]] = {}

    def _stratum(self, names: list[Fact], grouped: dict[Fact, list[Axiom]]) -> Stratum:
        named = [pair for name in names for pair in self._named[name].items()]
        negative = frozenset([other for other, sign in named if sign])
        need(not negative & {*names}, "derived predicates that are not stratified")
        rules = [Rule(axiom, needs(axiom.body, True)) for name in names for axiom in grouped[name]]
        return Stratum(frozenset(names), tuple(rules), frozenset([other for other, _ in named]), negative)

    def behind(self, name: Fact) -> frozenset[Fact]:
        """The predicates and functions that a derived predicate depends on, itself included where it does."""
        if name not in self._behind:
            seen = dict.fromkeys(self._named.get(name, ()))
            waiting = [*seen]
            while waiting:
                new = [other for other in self._named.get(waiting.pop(), ()) if other not in seen]
                seen.update(dict.fromkeys(new))
                waiting += new
            self._behind[name] = frozenset(seen)
        return self._behind[name]

    def close(self, state: State) -> None:
        """Add the derived facts to a state that has none: the definition."""
        for stratum in self.strata:
            _least_fixpoint(stratum, state)

    def maintain(self, state: State, added: list[Fact], removed: list[Fact], numbers: Iterable[Fact]) -> None:
        """Bring the derived facts up to date after basic facts or numbers changed; the lists get what changes.

        A stratum is left as it is if nothing changed that it reads, continued if what changed can only add to it, and
        computed anew otherwise.
        """
        changed = {fact[:2] for fact in numbers}
        more, fewer = {fact[:1] for fact in added}, {fact[:1] for fact in removed}
        for stratum in self.strata:
            if not stratum.reads & (more | fewer | changed):
                continue
            before = dict[Fact, None]()
            if stratum.reads & (fewer | changed) or stratum.negative & more:
                for name in stratum.names:
                    before.update(dict.fromkeys(state.facts.of(name[0])))
                for fact in before:
                    state.facts.discard(fact)
                found = _least_fixpoint(stratum, state)
            else:
                found = _continued(stratum, state, [fact for fact in added if fact[:1] in stratum.reads])
            new = [fact for fact in found if fact not in before]
            gone = [fact for fact in before if fact not in state.facts]
            more, fewer = more | {fact[:1] for fact in new}, fewer | {fact[:1] for fact in gone}
            added += new
            removed += gone


def _least_fixpoint(stratum: Stratum, state: State) -> list[Fact]:
    """Add what follows until nothing new does; returns what was added."""
    new = _follow(state, [(rule, _all(rule, state)) for rule in stratum.rules])
    if not state.literal:
        return new + _continued(stratum, state, new)
    found = new
    while new:
        new = _follow(state, [(rule, _all(rule, state)) for rule in stratum.rules])
        found = found + new
    return found


def _all(rule: Rule, state: State) -> Iterator[Tried]:
    """All bindings under which a body may be true."""
    return ((b, False) for b in candidates(rule.needs, rule.axiom.domains, {}, state))


def _continued(stratum: Stratum, state: State, new: list[Fact]) -> list[Fact]:
    """Add what follows from the new facts (semi-naive): what does not need one of them followed before."""
    found = list[Fact]()
    while new:
        by_name = dict[Fact, list[Fact]]()
        for fact in new:
            by_name.setdefault(fact[:1], []).append(fact)
        new = _follow(state, [(rule, _triggered(rule, by_name, state)) for rule in stratum.rules])
        found += new
    return found


def _triggered(rule: Rule, new: Mapping[Fact, list[Fact]], state: State) -> Iterator[Tried]:
    """The bindings under which a body that was not true may be so now."""
    domains = rule.axiom.domains
    for one in rule.needs:
        if any(name in new for name in one.others):
            yield from ((b, False) for b in candidates((one,), domains, {}, state))
            continue
        for i, atom in enumerate(one.atoms):
            rest = one.atoms[:i] + one.atoms[i + 1 :]
            for fact in new.get(atom[:1], ()):
                b = unify(atom, fact, {})
                if b is not None:
                    yield from ((full, one.exact) for full in supported(one, rest, domains, b, state))


def _follow(state: State, tried: list[tuple[Rule, Iterable[Tried]]]) -> list[Fact]:
    """The heads of true bodies that are not in the state, which gets them once all are found."""
    new = dict[Fact, None]()
    for (axiom, _), found in tried:
        for b, known in found:
            state.work.spend()
            fact = ground(axiom.head, b)
            if fact not in state.facts and fact not in new and (known or holds(axiom.body, b, state)):
                new[fact] = None
    for fact in new:
        state.facts.add(fact)
    return [*new]


def _components(graph: Mapping[Fact, Iterable[Fact]]) -> list[list[Fact]]:
    """The strongly connected components of derived predicates, each after those it depends on (Tarjan, 1972)."""
    index, low = dict[Fact, int](), dict[Fact, int]()
    stack, on_stack = list[Fact](), set[Fact]()
    result = list[list[Fact]]()
    for start in graph:
        path = [] if start in index else [(start, iter(graph[start]))]
        while path:
            name, rest = path[-1]
            if name not in index:
                index[name] = low[name] = len(index)
                stack.append(name)
                on_stack.add(name)
            following = next((other for other in rest if other in graph and _concerns(other, index, on_stack)), None)
            if following is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[name])
                if low[name] == index[name]:
                    result.append(_popped(stack, on_stack, name))
            elif following in on_stack:
                low[name] = min(low[name], index[following])
            else:
                path.append((following, iter(graph[following])))
    return result


def _concerns(other: Fact, index: Mapping[Fact, int], on_stack: set[Fact]) -> bool:
    return other not in index or other in on_stack


def _popped(stack: list[Fact], on_stack: set[Fact], name: Fact) -> list[Fact]:
    component = list[Fact]()
    while not component or component[-1] != name:
        component.append(stack.pop())
        on_stack.remove(component[-1])
    return component
