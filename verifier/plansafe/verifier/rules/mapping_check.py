"""Check each mapping as a whole when it is loaded, whether or not a rule uses an entry.

Each entry must bind a word of the specification with the same number of arguments, and its replacement must be correct
in the domain: names, numbers of arguments, and types, where the arguments have the types that the vocabulary declares.
"""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import with_article
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Place, did_you_mean, format_token, is_object_name, is_variable
from plansafe.verifier.elaborate.symbols import Scope, Symbols
from plansafe.verifier.elaborate.types import TypedName, parse_typed_list
from plansafe.verifier.rules.expanded_specs import AppliedMapping, ExpandedSpecs, find_step_connective
from plansafe.verifier.rules.mapping import WordName
from plansafe.verifier.rules.vocabulary import VocabularyWord, find_declared_words


def check_mappings(symbols: Symbols, expanded: ExpandedSpecs) -> None:
    """Report errors in the mappings, and warnings (SC120) for entries that bind no word of a vocabulary."""
    for applied_mapping in expanded.mappings:
        vocabularies = [v for v in expanded.vocabularies if v.specification in applied_mapping.serves]
        _MappingChecker(symbols, applied_mapping, find_declared_words(symbols.context, vocabularies)).check_entries()


class _MappingChecker:
    """Compares one mapping with the vocabulary that it serves and with the domain."""

    def __init__(
        self, symbols: Symbols, applied_mapping: AppliedMapping, words: dict[WordName, VocabularyWord]
    ) -> None:
        self.symbols = symbols
        self.context = symbols.context
        self.specification = applied_mapping.specification
        self.mapping = applied_mapping.mapping
        self.words = words
        self.types: dict[str, tuple[int, ...]] = {}

    def check_entries(self) -> None:
        """Report the mistakes in all entries."""
        symbols = self.symbols
        errors = self.context.errors
        for at in self.mapping.groups.values():
            self._read_replacing_types(at)
        if self.context.errors > errors:
            return  # each use of the group would report the same error
        for (kind, name), at in self.mapping.entries.items():
            if kind == "type" and len(at.node) == 2:
                self.types[name] = self._read_replacing_types(at)
        for name, at in self.mapping.kindless_types.items():
            if name not in symbols.types.index:
                symbols.types.report_unknown_type(name, at)
        action_predicates, predicate_count = dict(symbols.action_predicates), len(symbols.predicates)
        for (kind, name), at in self.mapping.entries.items():
            declaration = self.words.get((kind, name))
            if declaration is None and self.words:
                self._warn_unused(kind, name, at)
            if (kind, name) in self.mapping.empty_words:
                continue
            if kind == "type":
                self._check_type(name, at, declaration)
            elif kind == "constant":
                self._check_constant(at)
            else:
                self._check_replacement(kind, at, declaration)
        # Checking a step declared its action predicate. Remove these predicates again: the engine maintains only action
        # predicates that a rule uses.
        del symbols.predicates[predicate_count:]
        symbols.action_predicates.clear()
        symbols.action_predicates.update(action_predicates)

    def _warn_unused(self, kind: str, name: str, at: Place) -> None:
        """Warn about an entry for a word that the vocabulary does not have."""
        help = did_you_mean(name, [declared_name for section, declared_name in self.words if section == kind])
        for section, declared_name in self.words:
            if declared_name == name:
                help = f"it is {with_article(section)}: bind it in `:{section}s`"
        message = f"the vocabulary of `{self.specification}` has no {kind} `{name}`"
        place = Place(at.node[0], 0) if isinstance(at.node[0], list) else Place(at.node, 0)
        self.context.warning(SC.VOCABULARY, message, place, "not used", help=help)

    # -- types and constants ------------------------------------------------------------------------------------------

    def _read_replacing_types(self, at: Place) -> tuple[int, ...]:
        """Return the domain's types in an entry of ``:types`` or ``:groups``; unknown types are reported."""
        replacement = at.node[1]
        typed = self.context.record_origin(["?x", "-", replacement], Place(at.node, 1))
        (entry,) = parse_typed_list(self.context, typed, 0, is_variable, "a variable")
        names = entry.types or ()
        for name in names:
            if name not in self.symbols.types.index:
                place = Place(at.node, 1)
                if isinstance(replacement, list):
                    place = Place(replacement, replacement.index(name))
                self.symbols.types.report_unknown_type(name, place)
        return self._find_type_numbers(names)

    def _find_type_numbers(self, names: tuple[str, ...]) -> tuple[int, ...]:
        index = self.symbols.types.index
        return tuple([index[name] for name in names if name in index])

    def _find_domain_types(self, names: tuple[str, ...] | None) -> tuple[int, ...]:
        """Return the domain's types for types of the specification; without a bound type, the type of every object."""
        numbers: set[int] = set()
        for name in names or ():
            numbers.update(self.types.get(name) or self._find_type_numbers((name,)))
        return (0,) if 0 in numbers else tuple(sorted(numbers)) or (0,)

    def _check_type(self, name: str, at: Place, declaration: VocabularyWord | None) -> None:
        """Check that a kind is bound to types below the types of its parent kinds."""
        types = self.symbols.types
        parents = (declaration.parameters[0].types if declaration is not None else None) or ()
        parent_types = self._find_domain_types(parents)
        outside_types = [types.names[t] for t in self.types[name] if not types.object_fits((t,), parent_types)]
        if outside_types:
            parents_text = " or ".join([f"`{parent}`" for parent in parents])
            message = f"every `{name}` is {with_article(parents_text)}, but `{outside_types[0]}` is not"
            help = f"bind {parents_text} to something that includes it"
            label = f"not all of these are {with_article(parents_text)}"
            self.context.warning(SC.VOCABULARY, message, Place(at.node, 1), label, help=help)

    def _check_constant(self, at: Place) -> None:
        name, place = at.node[1], Place(at.node, 1)
        if not is_object_name(name):
            self.context.error(SC.STRUCTURE, "bind a constant to one object", place, "not an object")
        elif name not in self.symbols.object_index:
            message = f"unknown object `{format_token(name)}`"
            help = did_you_mean(format_token(name), self.symbols.object_index)
            self.context.error(SC.UNKNOWN_OBJECT, message, place, "not declared", help=help)

    # -- predicates, functions and actions ----------------------------------------------------------------------------

    def _check_replacement(self, kind: str, at: Place, declaration: VocabularyWord | None) -> None:
        """Check the entry of a predicate, function or action against its declaration and the domain."""
        head = at.node[0]
        assert isinstance(head, list)
        if declaration is not None and len(declaration.parameters) != len(head) - 1:
            count = len(declaration.parameters)
            message = f"the vocabulary has `{format_token(head[0])}` with {count} argument{'' if count == 1 else 's'}"
            related = (declaration.at, "declared here")
            self.context.error(SC.VOCABULARY, message, Place(head), f"{len(head) - 1} here", related=related)
            return
        scope = Scope()
        for child in range(1, len(head)):
            types = None if declaration is None else declaration.parameters[child - 1].types
            if not self._bind_parameter(scope, head, child, types):
                return
        conditions = ConditionReader(self.symbols, scope, "rules")
        if kind == "predicate":
            conditions.read_formula(Place(at.node, 1))
        elif kind == "function":
            conditions.read_expression(at.node, 1)
        else:
            self._check_step(conditions, Place(at.node, 1), frozenset(scope.visible))

    def _check_step(self, conditions: ConditionReader, at: Place, parameters: frozenset[str]) -> None:
        """Check the replacement of an action: a step, alternatives, or one of these below ``exists`` or ``when``."""
        step = at.subtree
        connective = find_step_connective(step)
        if isinstance(step, list) and connective == "or":
            for child in range(1, len(step)):
                self._check_step(conditions, Place(step, child), parameters)
        elif isinstance(step, list) and connective and len(step) == 3:
            mark = conditions.scope.mark()
            if connective == "exists":
                conditions.bind_variables(Place(step, 1))
            else:
                conditions.read_formula(Place(step, 1))
            self._check_step(conditions, Place(step, 2), parameters)
            conditions.scope.restore(mark)
        else:
            # A step may accept fewer objects than the vocabulary declares: then it matches fewer steps.
            conditions.read_action_atom(at, "start", parameters)

    def _bind_parameter(self, scope: Scope, head: list[Node], child: int, types: tuple[str, ...] | None) -> bool:
        """Bind a parameter of an entry, with the type that the vocabulary declares; ``False`` after a diagnostic."""
        token = head[child]
        if not isinstance(token, str) or not is_variable(token):
            message = f"`{format_token(token)}` is not a variable"
            self.context.error(SC.STRUCTURE, message, Place(head, child), "expected a variable")
            return False
        if token in scope.visible:
            first = (scope.visible[token].at, "first here")
            message = f"variable `{token}` is declared twice"
            self.context.error(SC.DECLARED_TWICE, message, Place(head, child), "again here", related=first)
            return False
        # The domain of the variable does not matter, because the entry is only checked and never executed.
        scope.bind(TypedName(token, Place(head, child), None, None), self._find_domain_types(types), 0)
        return True
