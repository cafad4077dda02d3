"""What a domain and a problem declare and use, with their mistakes.

The elaboration reports mistakes. Corrections also need the intention, and so every
declaration, and every use of a name with its place, its arguments, and the variables in sight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from plansafe.grammar.sexpr import Node, parse_number
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.verifier.elaborate.context import is_variable
from plansafe.verifier.elaborate.symbols import COMPARISONS, RESERVED

ROOT = "object"
CONNECTIVES = frozenset(("and", "or", "not", "imply", "when", "oneof"))
QUANTIFIERS = frozenset(("forall", "exists"))
ASSIGNMENTS = frozenset(("assign", "increase", "decrease", "scale-up", "scale-down"))
OPERATORS = RESERVED | {"oneof", "unknown", "preference"}
ACTION_FIELDS = (":parameters", ":precondition", ":effect", ":condition", ":duration")
Types = tuple[str, ...]
"""The alternatives of a type."""


class Entry(NamedTuple):
    """One name of a typed list: child numbers of the name and of its type (``None``: none is written)."""

    name: str
    types: Types | None
    child: int
    types_child: int | None


class Declared(NamedTuple):
    """A declaration: a type with its parents, an object with its types, a predicate or function with its parameters."""

    name: str
    draft: Draft
    node: list[Node]
    child: int | None
    types: Types
    parameters: tuple[Entry, ...] = ()


class ActionText(NamedTuple):
    """An action: its fields by keyword (child numbers of the values), and its typed parameters."""

    name: str
    draft: Draft
    node: list[Node]
    fields: Mapping[str, int]
    parameters: tuple[Entry, ...]


class Use(NamedTuple):
    """A predicate or function applied to arguments, or an equation of objects (``name`` is ``=``).

    ``place``: ``init``, ``goal``, ``precondition``, ``effect``, ``derived``, ``other``. ``scope``: the variables in
    sight with their types. ``positive``: not below a negation. ``function``: where a number is expected.
    """

    name: str
    draft: Draft
    node: list[Node]
    place: str
    scope: Mapping[str, Types]
    action: ActionText | None
    positive: bool = True
    function: bool = False

    @property
    def arguments(self) -> list[Node]:
        """The arguments; lists among them are mistakes."""
        return self.node[1:]


class Survey:
    """Declarations and uses of one scenario. Linear in the texts."""

    def __init__(self, domains: Iterable[Draft], problem: Draft) -> None:
        self.domains = tuple(domains)
        self.problem = problem
        self.types: dict[str, Declared] = {}
        self.objects: dict[str, Declared] = {}
        self.predicates: dict[str, Declared] = {}
        self.functions: dict[str, Declared] = {}
        self.actions: dict[str, ActionText] = {}
        self.repeated: list[tuple[str, Declared, Declared]] = []
        self.repeated_actions: list[tuple[ActionText, ActionText]] = []
        self.uses: list[Use] = []
        self.type_uses: list[tuple[str, Draft, list[Node], int]] = []
        """Where types are named: the list and the child (a type, or an ``either``)."""
        for draft in self.domains:
            self._declarations(draft)
        self._objects(problem, ":objects")
        for draft in self.domains:
            self._uses_of(draft)
        self._problem_uses()

    # -- declarations -------------------------------------------------------------------------------------------------

    def _declarations(self, draft: Draft) -> None:
        for section in draft.sections(":types"):
            self._typed(section, draft)
            for entry in entries(section, 1):
                declared = Declared(entry.name, draft, section, entry.child, entry.types or (ROOT,))
                self._declare("type", self.types, declared)
        self._objects(draft, ":constants")
        for head, table in ((":predicates", self.predicates), (":functions", self.functions)):
            for section in draft.sections(head):
                for node in section[1:]:
                    if isinstance(node, list) and node and isinstance(node[0], str):
                        self._typed(node, draft)
                        declared = Declared(node[0], draft, node, None, (), tuple(entries(node, 1)))
                        self._declare(head[1:-1], table, declared)
        for head in (":action", ":durative-action"):
            for node in draft.sections(head):
                self._action(draft, node)

    def _declare(self, subject: str, table: dict[str, Declared], declared: Declared) -> None:
        if declared.name in table:
            self.repeated.append((subject, declared, table[declared.name]))
        else:
            table[declared.name] = declared

    def _objects(self, draft: Draft, head: str) -> None:
        for section in draft.sections(head):
            self._typed(section, draft)
            for entry in entries(section, 1):
                declared = Declared(entry.name, draft, section, entry.child, entry.types or (ROOT,))
                self._declare("object", self.objects, declared)

    def _action(self, draft: Draft, node: list[Node]) -> None:
        name = node[1] if len(node) > 1 and isinstance(node[1], str) else ""
        fields: dict[str, int] = {}
        for child in range(1, len(node) - 1):
            key = node[child]
            if isinstance(key, str) and key in ACTION_FIELDS:
                fields.setdefault(key, child + 1)
        parameters: tuple[Entry, ...] = ()
        value = node[fields[":parameters"]] if ":parameters" in fields else []
        if isinstance(value, list):
            self._typed(value, draft)
            parameters = tuple(entries(value, 0))
        declared = ActionText(name, draft, node, fields, parameters)
        if name in self.actions:
            self.repeated_actions.append((declared, self.actions[name]))
        else:
            self.actions[name] = declared

    def _typed(self, node: list[Node], draft: Draft) -> None:
        for child, item in enumerate(node):
            if item == "-" and child + 1 < len(node):
                kind = node[child + 1]
                names = [kind] if isinstance(kind, str) else kind[1:]
                self.type_uses += [(n, draft, node, child + 1) for n in names if isinstance(n, str)]

    # -- uses ---------------------------------------------------------------------------------------------------------

    def _uses_of(self, draft: Draft) -> None:
        repeated = {id(declared.node) for declared, _ in self.repeated_actions}
        for head in (":action", ":durative-action"):
            for node in draft.sections(head):
                if id(node) not in repeated:
                    self._action_uses(self.actions[node[1] if len(node) > 1 and isinstance(node[1], str) else ""])
        for node in draft.sections(":derived"):
            if len(node) == 3 and isinstance(node[1], list):
                self._typed(node[1], draft)
                scope = _scope({}, entries(node[1], 1))
                self._walk(draft, node, 2, "derived", scope, None)
        for node in draft.sections(":constraints"):
            self._walk(draft, node, 1, "other", {}, None)

    def _action_uses(self, action: ActionText) -> None:
        scope = _scope({}, action.parameters)
        for field, child in action.fields.items():
            if field in (":precondition", ":condition"):
                self._walk(action.draft, action.node, child, "precondition", scope, action)
            elif field == ":effect":
                self._walk(action.draft, action.node, child, "effect", scope, action)

    def _problem_uses(self) -> None:
        draft = self.problem
        for section in draft.sections(":init"):
            for child in range(1, len(section)):
                self._walk(draft, section, child, "init", {}, None)
        for section in draft.sections(":goal"):
            for child in range(1, len(section)):
                self._walk(draft, section, child, "goal", {}, None)
        for section in draft.sections(":constraints"):
            self._walk(draft, section, 1, "other", {}, None)

    def _walk(
        self,
        draft: Draft,
        parent: list[Node],
        child: int,
        place: str,
        scope: Mapping[str, Types],
        action: ActionText | None,
    ) -> None:
        """Note every atom below a node; nothing recurses."""
        if child >= len(parent):
            return
        stack: list[tuple[Node, str, Mapping[str, Types], bool, bool]] = [(parent[child], place, scope, True, False)]
        matches: list[Use] = []
        while stack:
            node, where, around, positive, number = stack.pop()
            if not isinstance(node, list) or not node:
                continue
            head = node[0]
            if not isinstance(head, str):
                stack += [(part, where, around, positive, number) for part in reversed(node)]
            elif head in ("at", "over") and len(node) == 3 and _timed(node):
                stack.append((node[2], where, around, positive, number))
            elif head in QUANTIFIERS and len(node) > 1 and isinstance(node[1], list):
                self._typed(node[1], draft)
                inner = _scope(around, entries(node[1], 0))
                stack += [(part, where, inner, positive, number) for part in reversed(node[2:])]
            elif head == "not":
                stack += [(part, where, around, not positive, number) for part in reversed(node[1:])]
            elif head == "when":
                stack += [(part, where, around, positive, number) for part in reversed(node[2:])]
                read = "precondition" if where == "effect" else where
                stack += [(part, read, around, positive, number) for part in node[1:2]]
            elif head in COMPARISONS or head in ASSIGNMENTS:
                terms = [part for part in node[1:] if isinstance(part, str) and parse_number(part) is None]
                if head == "=" and len(terms) == len(node) - 1:
                    matches.append(Use("=", draft, node, where, around, action, positive))
                stack += [(part, where, around, positive, True) for part in reversed(node[1:])]
            elif head in ("+", "-", "*", "/"):
                stack += [(part, where, around, positive, True) for part in reversed(node[1:])]
            elif head in OPERATORS and not (head == "unknown" and all([isinstance(part, str) for part in node[1:]])):
                stack += [(part, where, around, positive, number) for part in reversed(node[1:])]
            else:
                matches.append(Use(head, draft, node, where, around, action, positive, number))
        self.uses += matches

    # -- types --------------------------------------------------------------------------------------------------------

    def ancestors(self, name: str) -> set[str]:
        """A type with all that are above it."""
        out: set[str] = {ROOT}
        stack = [name]
        while stack:
            declared = stack.pop()
            if declared not in out:
                out.add(declared)
                if declared in self.types:
                    stack.extend(self.types[declared].types)
        return out

    def fits(self, types: Types, required: Types, variable: bool) -> bool:
        """Whether a term of some type may stand where another is wanted (docs/language.md, section 2)."""
        if ROOT in required or (variable and ROOT in types):
            return True
        if variable:
            return all(any(w in self.ancestors(t) or t in self.ancestors(w) for w in required) for t in types)
        return any(w in self.ancestors(t) for t in types for w in required)

    def term(self, use: Use, argument: Node) -> Types | None:
        """The types of an argument; ``None`` if it is not declared."""
        if not isinstance(argument, str):
            return None
        if argument.startswith("?"):
            return use.scope.get(argument)
        declared = self.objects.get(argument)
        return None if declared is None else declared.types

    def join(self, kinds: Iterable[Types]) -> Types:
        """The nearest common supertype; where only ``object`` is above them all, of two the ``either``."""
        names = sorted({name for kind in kinds for name in kind})
        if not names or ROOT in names:
            return (ROOT,)
        tops = [n for n in names if not any(m != n and m in self.ancestors(n) for m in names)]
        if len(tops) == 1:
            return (tops[0],)
        shared = set.intersection(*[self.ancestors(name) for name in tops]) - {ROOT}
        nearest = [s for s in sorted(shared) if not any(s != o and s in self.ancestors(o) for o in shared)]
        return (nearest[0],) if nearest else tuple(tops) if len(tops) == 2 else (ROOT,)

    def meet(self, kinds: Iterable[Types]) -> Types | None:
        """The type that fits all of several uses: the most special of them; ``None`` if they have nothing in common."""
        matches: Types = (ROOT,)
        for kind in kinds:
            if self.fits(matches, kind, False):
                continue
            if self.fits(kind, matches, False) or all(self.fits((k,), matches, False) for k in kind):
                matches = kind
            else:
                return None
        return matches

    def wanted(self, use: Use, position: int) -> Types | None:
        """The types that the declaration of a use asks for at an argument; ``None`` if that is not known."""
        table = self.functions if use.function else self.predicates
        declared = table.get(use.name)
        if declared is None or position >= len(declared.parameters):
            return None
        return declared.parameters[position].types or (ROOT,)


def entries(node: list[Node], start: int) -> Iterator[Entry]:
    """The names of a typed list, as far as it makes sense."""
    pending: list[tuple[str, int]] = []
    child = start
    while child < len(node):
        item = node[child]
        if item == "-" and child + 1 < len(node):
            kind = node[child + 1]
            names = (kind,) if isinstance(kind, str) else tuple([n for n in kind[1:] if isinstance(n, str)])
            for name, declared in pending:
                yield Entry(name, names, declared, child + 1)
            pending = []
            child += 2
            continue
        if isinstance(item, str) and item != "-":
            pending.append((item, child))
        child += 1
    for name, declared in pending:
        yield Entry(name, None, declared, None)


def _scope(around: Mapping[str, Types], inner: Iterable[Entry]) -> dict[str, Types]:
    return {**around, **{e.name: e.types or (ROOT,) for e in inner if is_variable(e.name)}}


def _timed(node: list[Node]) -> bool:
    """Whether ``(at ..)`` or ``(over ..)`` is a time qualifier and not a fact."""
    when = node[1] in ("start", "end", "all") or parse_number(node[1]) is not None
    return when and isinstance(node[2], list)
