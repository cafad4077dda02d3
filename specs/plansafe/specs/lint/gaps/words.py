"""What each word of a domain weighs in a search for gaps: who reads it, and what the rules already say with it.

A word that neither an action nor a rule reads was declared for rules that are not there; a fact that can be undone, and
that nobody reads, is something one would want undone; what rules forbid in one combination may be dangerous in another
(docs/gaps.md, "Words").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from plansafe.grammar.sexpr import Node, write
from plansafe.verifier.model.nodes import (
    Action,
    Atom,
    Fluent,
    Formula,
    Not,
    Task,
    Temporal,
    variable,
)
from plansafe.verifier.model.operations import children, expression_fluents, reads
from plansafe.verifier.rules.model import Part, Rule

NEARLY_ALL = 0.7
FEW_UNREAD = 4
"""From so many words of a kind that nobody reads, that says less about each: the domain is richer than its users."""
_TURNED = frozenset(("sometime-after", "sometime-before", "always-within"))


class Word(NamedTuple):
    """How suspicious a word makes what is said with it, and why (empty: it does not)."""

    weight: float = 0.0
    reason: str = ""


NOTHING = Word()


class Undo(NamedTuple):
    """An action that takes a fact back (``only``: and no more): ``slots[i]`` is the parameter at place ``i`` of it."""

    action: Action
    slots: tuple[int, ...]
    only: bool


class Words:
    """The weights of the predicates, functions, types and actions of one task under its rules."""

    def __init__(
        self,
        task: Task,
        rules: Sequence[Rule],
        nodes: Sequence[Node],
        action_predicates: dict[tuple[str, str], int],
        parents: dict[str, frozenset[str]],
    ) -> None:
        self.task = task
        self.parents = parents
        """The types right above each."""
        acted = {predicate: name for (_, name), predicate in action_predicates.items()}
        self.by_actions, self._functions_by_actions = _read_by_actions(task)
        self._by_goal = {read.predicate for part in task.goal for read in reads(part) if isinstance(read, Atom)}
        self._by_rules: set[int] = set()
        self._functions_by_rules: set[int] = set()
        self.acting: set[str] = set()
        """The actions that some rule mentions."""
        self.dangerous: set[int] = set()
        """The predicates that must be true for some rule to be broken."""
        kinds = [kind for action in task.actions.values() for kind in set(self.parameter_kinds(action))]
        self._telling = {kind for kind in kinds if kinds.count(kind) <= max(len(task.actions) / 4, 2)}
        """The types that not many actions take."""
        self._combined: list[frozenset[int]] = []
        self._at_steps: list[tuple[frozenset[str], frozenset[int]]] = []
        for rule in rules:
            dangers = frozenset([p for part in rule.parts for p in _dangers(part) if p not in acted])
            steps = frozenset([acted[m.atom.predicate] for m in rule.matches if m.atom.predicate in acted])
            if steps:
                self._at_steps.append((steps, dangers))
            else:
                self._combined.append(dangers)
            for part in rule.parts:
                for formula in _formulas(part):
                    for read in reads(formula):
                        if isinstance(read, Fluent):
                            self._functions_by_rules.add(read.function)
                        elif read.predicate in acted:
                            self.acting.add(acted[read.predicate])
                        else:
                            self._by_rules.add(read.predicate)
                self.dangerous |= {p for p in _dangers(part) if p not in acted}
            self.acting |= {acted[match.atom.predicate] for match in rule.matches if match.atom.predicate in acted}
        self._by_rules |= _below(task, self._by_rules)
        self.named_types = _types_in_rules(nodes)
        self.loops = any([write(node).count("(action ") > 1 for node in nodes])
        """Whether some rule is about several steps."""
        self.singled_out = _singled_out(task, nodes, self)
        """The types that some rule names where any other of a wider type could stand."""
        self.together = _either_types(nodes)
        """Sets of types that a rule treats alike."""
        self._types_of_domain = _types_of_domain(task)
        self.leaves = _leaves(task)
        self.everywhere = _everywhere(task)
        self._always_needed = _always_needed(task)
        self.undo = _undoing(task)
        self.assigned = _assigned(task)
        """The functions that some action changes."""
        self.remedied = {p for p, undos in self.undo.items() if any(u.only for u in undos)}
        """The predicates with an action that does nothing but end them."""
        self.facts = [self._fact(p) for p in range(len(task.static))]
        self.kinds = [self._kind(t) for t in range(len(task.type_names))]
        self.functions = [self._function(f) for f in range(len(task.functions))]
        self._thin_out()
        self.actions = {action.name: self._action(action) for action in task.actions.values()}

    # -- words --------------------------------------------------------------------------------------------------------

    def _fact(self, predicate: int) -> Word:
        task = self.task
        declared = task.predicates[predicate]
        by_rules = predicate in self._by_rules
        by_actions = predicate in self.by_actions
        unary = len(declared.types) <= 1
        if predicate in self._always_needed:
            return NOTHING
        if task.static[predicate]:
            if not by_rules and not by_actions:
                if predicate in self._by_goal:
                    return NOTHING
                return Word(3.0, f"no rule and no action reads `{declared.name}`: it says something to rules alone")
            if predicate in self.dangerous and unary:
                return Word(0.5, f"rules forbid `{declared.name}` elsewhere")
            return NOTHING
        if predicate in self.dangerous:
            return Word(1.0 if unary else 0.3, f"rules forbid `{declared.name}` in other combinations")
        if by_rules or predicate in self._by_goal or predicate in self.derived:
            return NOTHING
        if not by_actions and predicate in self.remedied:
            undo = self.undo[predicate][0].action.name
            return Word(2.5, f"`{undo}` is there to end `{declared.name}`, and nothing asks for it")
        if predicate in self.remedied:
            return Word(0.5, f"`{declared.name}` can be undone, and no rule reads it")
        if not by_actions:
            return Word(0.7, f"nothing reads `{declared.name}`")
        return NOTHING

    @property
    def derived(self) -> set[int]:
        """The derived predicates: what they follow from counts, not they."""
        return {axiom.predicate for stratum in self.task.axioms for axiom in stratum}

    def _kind(self, number: int) -> Word:
        name = self.task.type_names[number]
        if number not in self.leaves or number in self.everywhere:
            return NOTHING
        if name in self.singled_out:
            return Word(0.5, f"rules single out the type `{name}` elsewhere")
        if number not in self._types_of_domain:
            return Word(1.5, f"no rule and no action tells a `{name}` from other things")
        return NOTHING

    def _function(self, number: int) -> Word:
        changed = number in self.assigned
        if number in self._functions_by_rules or number in self._functions_by_actions or changed:
            return NOTHING
        return Word(3.0, f"no rule and no action reads the number `{self.task.functions[number].name}`")

    def _thin_out(self) -> None:
        """Many words that nobody reads say less each: weight is shared out beyond a few."""
        for words in (self.facts, self.kinds, self.functions):
            strong = [n for n, word in enumerate(words) if word.weight >= 1.5]
            if len(strong) > FEW_UNREAD:
                share = max(FEW_UNREAD / len(strong), 0.3)
                for n in strong:
                    words[n] = Word(words[n].weight * share, words[n].reason)

    def _action(self, action: Action) -> Word:
        twin = self._twin(action)
        if action.name in self.acting:
            if twin is not None and twin.name not in self.acting:
                return Word(0.6, f"rules restrict `{action.name}` elsewhere, and `{twin.name}` does with less")
            return Word(0.3, f"rules restrict `{action.name}` elsewhere")
        adds, _ = _changes(action)
        unread = [p for p in adds if p not in self._by_rules | self.by_actions | self._by_goal]
        if unread:
            name = self.task.predicates[unread[0]].name
            return Word(0.6, f"no rule mentions `{action.name}`, and nothing reads the `{name}` that it gives")
        if twin is not None:
            return Word(0.6, f"no rule mentions `{action.name}`, which is `{twin.name}` with more to it")
        if not self.acting:
            return NOTHING
        changes = adds | _changes(action)[1]
        if changes and not changes & self._by_rules:
            return Word(0.6, f"no rule mentions `{action.name}`, nor anything that it changes")
        return Word(0.2, f"no rule mentions `{action.name}`")

    def _twin(self, action: Action) -> Action | None:
        """An action that gives all that this one gives for certain, under no more conditions: a plainer way."""
        adds, needed = _changes(action)[0], needs(action)
        for other in self.task.actions.values():
            theirs, common = _changes(other)[0], zip(other.parameters, action.parameters, strict=False)
            plainer = bool(theirs) and theirs <= adds and needs(other) <= needed
            if other is not action and plainer and all(v.domain == w.domain for v, w in [*common][:2]):
                return other
        return None

    def kind_of(self, item: int) -> int:
        """The most suspicious of the types that an object was declared with."""
        types = self.task.object_types[item]
        return types[0] if len(types) == 1 else max(types, key=lambda t: self.kinds[t].weight)

    def combined_elsewhere(self, predicates: set[int]) -> bool:
        """Whether some rule forbids all these together, of other things."""
        return len(predicates) > 1 and any([predicates <= dangers for dangers in self._combined])

    def stepped_elsewhere(self, action: Action, predicates: set[int]) -> str:
        """Another action of the same things that some rule forbids while one of these holds; empty if there is none."""
        own = set(self.parameter_kinds(action)[1:]) & self._telling
        for steps, dangers in self._at_steps:
            if predicates & dangers:
                for name in sorted(steps - {action.name}):
                    if own & set(self.parameter_kinds(self.task.actions[name])[1:]):
                        return name
        return ""

    def limited(self, action: str, predicates: set[int]) -> bool:
        """Whether some rule forbids the action, but not because of any of these."""
        return any([action in steps and not predicates & dangers for steps, dangers in self._at_steps])

    def parameter_kinds(self, action: Action) -> list[str]:
        """The types of an action's parameters, as text."""
        node = action.node
        assert isinstance(node, list)
        typed = node[node.index(":parameters") + 1] if ":parameters" in node else []
        kinds: list[str] = []
        waiting = 0
        items = iter(typed if isinstance(typed, list) else [])
        for item in items:
            if item == "-":
                kinds += [write(next(items, "object"))] * waiting
                waiting = 0
            else:
                waiting += 1
        return [*kinds, *["object"] * waiting]

    def companions(self, name: str) -> set[str]:
        """The types that some rule treats like this one."""
        return {other for names in self.together if name in names for other in names} - {name}


# -- who reads what ---------------------------------------------------------------------------------------------------


def _read_by_actions(task: Task) -> tuple[set[int], set[int]]:
    formulas: list[Formula] = []
    numbers: set[int] = set()
    for action in task.actions.values():
        formulas += [*action.start.condition, *action.over_all, *(action.end.condition if action.end else ())]
        for effect in (*action.start.effects, *(action.end.effects if action.end else ())):
            formulas += [effect.condition, effect.at_start]
            for assignment in effect.assignments:
                numbers |= {fluent.function for fluent in expression_fluents(assignment.value)}
    formulas += [axiom.body for stratum in task.axioms for axiom in stratum]
    facts: set[int] = set()
    for formula in formulas:
        for read in reads(formula):
            if isinstance(read, Atom):
                facts.add(read.predicate)
            else:
                numbers.add(read.function)
    return facts, numbers


def _below(task: Task, predicates: set[int]) -> set[int]:
    """What derived predicates are derived from."""
    found = set(predicates)
    grown = True
    while grown:
        grown = False
        for stratum in task.axioms:
            for axiom in stratum:
                if axiom.predicate in found:
                    below = {read.predicate for read in reads(axiom.body) if isinstance(read, Atom)}
                    grown = grown or not below <= found
                    found |= below
    return found


def _formulas(part: Part) -> Iterator[Formula]:
    yield part.body
    if part.guard is not None:
        yield part.guard
    if part.step is not None:
        yield part.step


def _dangers(part: Part) -> Iterator[int]:
    """The predicates whose truth a violation of the part needs."""
    stack: list[tuple[Formula, bool]] = [(part.body, False)]
    if part.guard is not None:
        stack.append((part.guard, True))
    while stack:
        formula, positive = stack.pop()
        if isinstance(formula, Atom) and positive:
            yield formula.predicate
        turned = isinstance(formula, Not) or (isinstance(formula, Temporal) and formula.operator in _TURNED)
        for number, child in enumerate(children(formula)):
            stack.append((child, positive != (turned and number == 0)))


# -- actions ----------------------------------------------------------------------------------------------------------


def _changes(action: Action) -> tuple[set[int], set[int]]:
    """The predicates that an action adds for certain, and those it deletes for certain."""
    adds: set[int] = set()
    deletes: set[int] = set()
    for effect in action.start.effects:
        if not effect.variables and not list(reads(effect.condition)):
            adds |= {a.predicate for a in effect.adds}
            deletes |= {a.predicate for a in effect.deletes}
    return adds, deletes


def needs(action: Action) -> set[int]:
    """The predicates that its precondition reads."""
    return {read.predicate for part in action.start.condition for read in reads(part) if isinstance(read, Atom)}


def _only_deletes(action: Action) -> bool:
    adds, deletes = _changes(action)
    return bool(deletes) and not adds


def _undoing(task: Task) -> dict[int, list[Undo]]:
    """For each predicate, the actions that delete a fact of it that their arguments name."""
    found: dict[int, list[Undo]] = {}
    for action in task.actions.values():
        places = {variable(v.slot): i for i, v in enumerate(action.parameters)}
        only = _only_deletes(action)
        for effect in action.start.effects:
            if effect.variables or list(reads(effect.condition)):
                continue
            for atom in effect.deletes:
                if all(a in places for a in atom.arguments):
                    undo = Undo(action, tuple([places[a] for a in atom.arguments]), only)
                    found.setdefault(atom.predicate, []).append(undo)
    for undos in found.values():
        undos.sort(key=lambda u: (not u.only, len(u.action.parameters)))
    return found


def _assigned(task: Task) -> set[int]:
    return {
        assignment.function
        for action in task.actions.values()
        for snap in (action.start, action.end)
        if snap is not None
        for effect in snap.effects
        for assignment in effect.assignments
    }


# -- types ------------------------------------------------------------------------------------------------------------


def _leaves(task: Task) -> set[int]:
    """The types that objects were declared with, but ``object``."""
    return {t for types in task.object_types for t in types if t != 0}


def _everywhere(task: Task) -> set[int]:
    """The types that nearly every action takes: who acts, and where."""
    counts: dict[int, int] = {}
    for action in task.actions.values():
        kinds = [{t for o in task.domains[v.domain] for t in task.object_types[o]} for v in action.parameters]
        for t in {min(types) for types in kinds if len(types) == 1}:
            counts[t] = counts.get(t, 0) + 1
    return {t for t, count in counts.items() if count >= NEARLY_ALL * len(task.actions)}


def _always_needed(task: Task) -> set[int]:
    """The predicates that nearly every action reads: where the one who acts is."""
    needed = [needs(action) for action in task.actions.values()]
    return {p for p in range(len(task.static)) if sum([p in n for n in needed]) >= NEARLY_ALL * len(needed)}


def _types_of_domain(task: Task) -> set[int]:
    """The types that an action or a predicate asks for by name."""
    named = {
        t for declared in (*task.predicates, *task.functions) if declared.node for ts in declared.types for t in ts
    }
    written = _types_in_rules([action.node for action in task.actions.values()])  # type: ignore[misc]
    return named | {t for t, name in enumerate(task.type_names) if name in written}


def typed_tokens(node: Node) -> Iterator[tuple[Node, list[Node], int]]:
    """The types after `-` in the typed lists of a rule, each with the list and the place it stands at."""
    stack = [node]
    while stack:
        item = stack.pop()
        if not isinstance(item, list):
            continue
        for place in range(1, len(item) - 1):
            before = item[place - 1]
            if item[place] == "-" and isinstance(before, str) and before.startswith("?"):
                yield item[place + 1], item, place + 1
        stack.extend([child for child in item if isinstance(child, list)])


def _types_in_rules(nodes: Iterable[Node]) -> set[str]:
    named: set[str] = set()
    for node in nodes:
        for kind, _, _ in typed_tokens(node):
            named |= {str(n) for n in kind[1:]} if isinstance(kind, list) else {kind}
    return named


def _singled_out(task: Task, nodes: Sequence[Node], words: Words) -> set[str]:
    wider: dict[str, list[set[str]]] = {
        p.name: [{task.type_names[t] for t in types} for types in p.types] for p in task.predicates if p.node
    }
    wider |= {f.name: [{task.type_names[t] for t in types} for types in f.types] for f in task.functions}
    for action in task.actions.values():
        kinds = [set(kind.strip("()").split()) - {"either"} for kind in words.parameter_kinds(action)]
        wider[action.name] = kinds
    found: set[str] = set()
    for node in nodes:
        kinds_of: dict[str, set[str]] = {}
        for kind, item, place in typed_tokens(node):
            names = {str(n) for n in kind[1:]} if isinstance(kind, list) else {kind}
            before = place - 2
            while before >= 0 and isinstance(item[before], str) and str(item[before]).startswith("?"):
                kinds_of.setdefault(str(item[before]), set()).update(names)
                before -= 1
        stack: list[Node] = [node]
        while stack:
            part = stack.pop()
            if not isinstance(part, list):
                continue
            stack.extend(part)
            places = wider.get(str(part[0]), []) if part else []
            if part and part[0] == "=":
                places = [set(), set()]
            for argument, declared in zip(part[1:], places, strict=False):
                if isinstance(argument, str):
                    found |= kinds_of.get(argument, set()) - declared
    return found


def _either_types(nodes: Iterable[Node]) -> list[frozenset[str]]:
    return [
        frozenset([str(n) for n in kind[1:]])
        for node in nodes
        for kind, _, _ in typed_tokens(node)
        if isinstance(kind, list)
    ]
