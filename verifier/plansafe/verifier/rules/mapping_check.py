"""A mapping is checked as a whole when it is loaded, whether or not a rule uses an entry.

Each entry must give a meaning to a word of the specification with as many arguments, and the meaning must be right in
the domain: names, numbers of arguments, and types, where the arguments have the types that the vocabulary declares.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import (
    Context,
    Place,
    did_you_mean,
    is_name,
    is_object_name,
    is_variable,
    token_text,
)
from plansafe.verifier.elaborate.symbols import Scope, Symbols
from plansafe.verifier.elaborate.types import TypedName, parse_typed_list
from plansafe.verifier.rules.expanded_specs import AppliedMapping, ExpandedSpecs, Vocabulary, step_connective
from plansafe.verifier.rules.mapping import WordName


class Word(NamedTuple):
    """A word of a vocabulary: its typed parameters (of a type or constant: its own type), and where it stands."""

    parameters: list[TypedName]
    at: Place


def words_of(context: Context, vocabularies: list[Vocabulary]) -> dict[WordName, Word]:
    """The words of vocabularies in their order, the first declaration of each; what is malformed is left out."""
    silent = Context()
    silent.places = context.places
    out: dict[WordName, Word] = {}
    for vocabulary in vocabularies:
        for section in vocabulary.node[1:]:
            head = section[0] if isinstance(section, list) and section else None
            if not isinstance(section, list):
                continue
            if head in (":types", ":constants"):
                for entry in parse_typed_list(silent, section, 1, is_object_name, "a name"):
                    out.setdefault((token_text(head)[1:-1], entry.name), Word([entry], entry.at))
            elif head in (":predicates", ":functions", ":actions"):
                for child in range(1, len(section)):
                    declared = section[child]
                    if isinstance(declared, list) and declared and is_name(declared[0]):
                        parameters = parse_typed_list(silent, declared, 1, is_variable, "a variable")
                        out.setdefault(
                            (token_text(head)[1:-1], token_text(declared[0])), Word(parameters, Place(declared))
                        )
    return out


def check_mappings(symbols: Symbols, expanded: ExpandedSpecs) -> None:
    """Report what is wrong in the mappings: errors, or warnings (SC120) for entries that serve nothing."""
    for binding in expanded.bindings:
        served = [v for v in expanded.vocabularies if v.specification in binding.serves]
        _Check(symbols, binding, words_of(symbols.context, served)).run()


class _Check:
    """One mapping against the vocabulary that it serves and the domain."""

    def __init__(self, symbols: Symbols, binding: AppliedMapping, words: dict[WordName, Word]) -> None:
        self.symbols = symbols
        self.context = symbols.context
        self.binding = binding
        self.words = words
        self.types: dict[str, tuple[int, ...]] = {}

    def run(self) -> None:
        symbols = self.symbols
        entries = self.binding.mapping.entries
        errors = self.context.errors
        for at in self.binding.mapping.groups.values():
            self._alternatives(at)
        if self.context.errors > errors:
            return  # whatever uses the group would say it again
        for (kind, theirs), at in entries.items():
            if kind == "type" and len(at.node) == 2:
                self.types[theirs] = self._alternatives(at)
        for plain, at in self.binding.mapping.plain.items():
            if plain not in symbols.types.index:
                symbols.types.report_unknown(plain, at)
        action_predicates, predicates = dict(symbols.action_predicates), len(symbols.predicates)
        for name, at in entries.items():
            known = self.words.get(name)
            if known is None and self.words:
                self._needless(name, at)
            if name in self.binding.mapping.nothing:
                continue
            if name[0] == "type":
                self._kind(name[1], at, known)
            elif name[0] == "constant":
                self._constant(at)
            else:
                self._replacement(name[0], at, known)
        # Steps were looked at as atoms of action predicates; only those that a rule uses shall be kept up to date.
        del symbols.predicates[predicates:]
        symbols.action_predicates.clear()
        symbols.action_predicates.update(action_predicates)

    def _needless(self, name: WordName, at: Place) -> None:
        kind, theirs = name
        near = did_you_mean(theirs, [other for section, other in self.words if section == kind])
        for section, other in self.words:
            if other == theirs:
                near = f"it is {'an' if section == 'action' else 'a'} {section}: bind it in `:{section}s`"
        message = f"the vocabulary of `{self.binding.specification}` has no {kind} `{theirs}`"
        place = Place(at.node[0], 0) if isinstance(at.node[0], list) else Place(at.node, 0)
        self.context.warning(SC.VOCABULARY, message, place, "not used", help=near)

    # -- types and constants ------------------------------------------------------------------------------------------

    def _alternatives(self, at: Place) -> tuple[int, ...]:
        """The domain's types that an entry of ``:types`` or ``:groups`` names; unknown ones are reported."""
        ours = at.node[1]
        typed = self.context.record_origin(["?x", "-", ours], Place(at.node, 1))
        (entry,) = parse_typed_list(self.context, typed, 0, is_variable, "a variable")
        names = entry.types or ()
        for name in names:
            if name not in self.symbols.types.index:
                place = Place(ours, ours.index(name)) if isinstance(ours, list) else Place(at.node, 1)
                self.symbols.types.report_unknown(name, place)
        return self._known(names)

    def _known(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """The domain's types for types of the specification: bound by the mapping, or of the same name."""
        index = self.symbols.types.index
        return tuple([index[name] for name in names if name in index])

    def _meaning(self, theirs: tuple[str, ...] | None) -> tuple[int, ...]:
        """What types of the specification are in the domain; nothing is known of those that are not bound."""
        found: set[int] = set()
        for name in theirs or ():
            found.update(self.types.get(name) or self._known((name,)))
        return (0,) if 0 in found else tuple(sorted(found)) or (0,)

    def _kind(self, theirs: str, at: Place, known: Word | None) -> None:
        """A kind below another is bound to types below the other's."""
        table = self.symbols.types
        parents = (known.parameters[0].types if known is not None else None) or ()
        wanted = self._meaning(parents)
        outside = [table.names[t] for t in self.types[theirs] if not table.object_fits((t,), wanted)]
        if outside:
            names = " or ".join([f"`{name}`" for name in parents])
            message = f"every `{theirs}` is a {names}, but `{outside[0]}` is none"
            help = f"bind {names} to something that includes it"
            self.context.warning(
                SC.VOCABULARY, message, Place(at.node, 1), f"not all of these are a {names}", help=help
            )

    def _constant(self, at: Place) -> None:
        name = at.node[1]
        if not is_object_name(name):
            self.context.error(SC.STRUCTURE, "bind a constant to one object", Place(at.node, 1), "not an object")
        elif name not in self.symbols.object_index:
            help = did_you_mean(token_text(name), self.symbols.object_index)
            self.context.error(
                SC.UNKNOWN_OBJECT, f"unknown object `{token_text(name)}`", Place(at.node, 1), "not declared", help=help
            )

    # -- predicates, functions and actions ----------------------------------------------------------------------------

    def _replacement(self, kind: str, at: Place, known: Word | None) -> None:
        head = at.node[0]
        assert isinstance(head, list)
        if known is not None and len(known.parameters) != len(head) - 1:
            count = len(known.parameters)
            message = f"the vocabulary has `{token_text(head[0])}` with {count} argument{'' if count == 1 else 's'}"
            self.context.error(
                SC.VOCABULARY, message, Place(head), f"{len(head) - 1} here", other=(known.at, "declared here")
            )
            return
        scope = Scope()
        for child in range(1, len(head)):
            types = None if known is None else known.parameters[child - 1].types
            if not self._bind(scope, head, child, types):
                return
        conditions = ConditionReader(self.symbols, scope, "rules")
        if kind == "predicate":
            conditions.read_formula(Place(at.node, 1))
        elif kind == "function":
            conditions.read_expression(at.node, 1)
        else:
            self._steps(conditions, Place(at.node, 1), frozenset(scope.visible))

    def _steps(self, conditions: ConditionReader, at: Place, own: frozenset[str]) -> None:
        """A replacement of an action: a step, alternatives, or one of these below ``exists`` or ``when``."""
        step = at.node[at.child or 0]
        head = step[0] if isinstance(step, list) and step else None
        if isinstance(step, list) and head == "or" and step_connective(step):
            for child in range(1, len(step)):
                self._steps(conditions, Place(step, child), own)
        elif isinstance(step, list) and step_connective(step) and len(step) == 3:
            mark = conditions.scope.mark()
            if head == "exists":
                conditions.bind_variables(Place(step, 1))
            else:
                conditions.read_formula(Place(step, 1))
            self._steps(conditions, Place(step, 2), own)
            conditions.scope.restore(mark)
        else:
            # A step may take less than the vocabulary says: then it matches less.
            conditions.read_action_atom(at, "start", own)

    def _bind(self, scope: Scope, head: list[Node], child: int, types: tuple[str, ...] | None) -> bool:
        """Bind a parameter of an entry, with the type that the vocabulary gives it."""
        token = head[child]
        if not isinstance(token, str) or not is_variable(token):
            self.context.error(
                SC.STRUCTURE, f"`{token_text(token)}` is not a variable", Place(head, child), "expected a variable"
            )
            return False
        if token in scope.visible:
            other = (scope.visible[token].at, "first here")
            message = f"variable `{token}` is declared twice"
            self.context.error(SC.DECLARED_TWICE, message, Place(head, child), "again here", other=other)
            return False
        # Which objects it ranges over does not matter: nothing of this is run.
        scope.bind(TypedName(token, Place(head, child), None, None), self._meaning(types), 0)
        return True
