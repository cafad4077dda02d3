"""The words that a specification needs of a domain: the vocabulary it declares, and the names that a rule mentions."""

from __future__ import annotations

from collections.abc import Collection

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place, format_token, is_name, is_object_name, is_variable
from plansafe.verifier.elaborate.symbols import ACTION_ATOMS, ARITHMETIC, COMPARISONS, Symbols
from plansafe.verifier.elaborate.types import TypedName, parse_typed_list
from plansafe.verifier.model.nodes import Predicate
from plansafe.verifier.rules.expanded_specs import (
    ATOMS_FIELDS,
    FORMULA_FIELDS,
    STEP_FIELDS,
    ExpandedSpecs,
    Vocabulary,
    find_step_connective,
)
from plansafe.verifier.rules.mapping import Mapping, WordName, make_unbound_name


class VocabularyWord(NamedTuple):
    """The declaration of a word: its typed parameters. For a type or a constant, this is the word with its own type."""

    parameters: list[TypedName]
    at: Place


def find_declared_words(context: Context, vocabularies: list[Vocabulary]) -> dict[WordName, VocabularyWord]:
    """Return the words of vocabularies with their first declarations; malformed declarations are skipped."""
    silent = Context()
    silent.places = context.places
    words: dict[WordName, VocabularyWord] = {}
    for vocabulary in vocabularies:
        for section in vocabulary.node[1:]:
            if not isinstance(section, list) or not section:
                continue
            head = section[0]
            if head in (":types", ":constants"):
                for entry in parse_typed_list(silent, section, 1, is_object_name, "a name"):
                    words.setdefault((format_token(head)[1:-1], entry.name), VocabularyWord([entry], entry.at))
            elif head in (":predicates", ":functions", ":actions"):
                for declaration in section[1:]:
                    if isinstance(declaration, list) and declaration and is_name(declaration[0]):
                        parameters = parse_typed_list(silent, declaration, 1, is_variable, "a variable")
                        word = (format_token(head)[1:-1], format_token(declaration[0]))
                        words.setdefault(word, VocabularyWord(parameters, Place(declaration)))
    return words


def list_domain_names(symbols: Symbols) -> dict[str, Collection[str]]:
    """Return the names of a domain by name space."""
    return {
        "type": symbols.types.index,
        "constant": symbols.object_index,
        "predicate": symbols.predicate_index,
        "function": symbols.function_index,
        "action": symbols.parameter_types,
    }


def find_missing_words(symbols: Symbols, expanded: ExpandedSpecs) -> dict[WordName, Place]:
    """Return the words that neither the domain nor a mapping has, with their places; check the other declarations.

    A word for which a mapping has an empty entry is missing under its :func:`make_unbound_name`, as in expanded rules.
    """
    context = symbols.context
    missing_words: dict[WordName, Place] = {}
    optional_names: set[str] = set()
    for vocabulary in expanded.vocabularies:
        mapping = expanded.find_mapping(vocabulary.specification)
        for section in vocabulary.node[1:]:
            if not isinstance(section, list) or not section:
                place = Place(vocabulary.node)
                message = "expected a section such as `(:predicates ..)`"
                context.error(SC.STRUCTURE, message, place, "not vocabulary")
                continue
            head = section[0]
            if head in (":types", ":constants"):
                kind = format_token(head)[1:-1]
                for entry in parse_typed_list(context, section, 1, is_object_name, "a name"):
                    missing_word = _find_missing_word(symbols, mapping, (kind, entry.name))
                    if missing_word is not None:
                        missing_words[missing_word] = entry.at
            elif head in (":predicates", ":functions", ":actions"):
                for child in range(1, len(section)):
                    _check_declaration(symbols, format_token(head)[1:-1], Place(section, child), mapping, missing_words)
            elif head == ":optional":
                optional_names.update([name for name in section[1:] if isinstance(name, str)])
            else:
                message = f"`{format_token(head)}` is not a section of a vocabulary"
                label = "expected `:types`, `:constants`, `:predicates`, `:functions`, `:actions` or `:optional`"
                context.error(SC.STRUCTURE, message, Place(section, 0), label)
    for (kind, name), at in missing_words.items():
        # Otherwise a mapping declares that the domain has nothing for the word, or the domain may lack it.
        if not (name.startswith("~") or (kind in ("predicate", "action") and name in optional_names)):
            message = f"the specification needs the {kind} `{name}`, which the domain does not have"
            context.warning(SC.VOCABULARY, message, at, "not bound", help="bind it with a mapping")
    return missing_words


def _check_declaration(
    symbols: Symbols, kind: str, at: Place, mapping: Mapping | None, missing_words: dict[WordName, Place]
) -> None:
    """Add a declared predicate, function or action to ``missing_words``, or compare its arity with the domain's."""
    context, entry = symbols.context, at.subtree
    if not isinstance(entry, list) or not entry or not is_name(entry[0]):
        context.error(SC.STRUCTURE, "expected `(name ?x - type ..)`", at, "not a declaration")
        return
    name = format_token(entry[0])
    missing_word = _find_missing_word(symbols, mapping, (kind, name))
    if missing_word is not None:
        missing_words[missing_word] = Place(entry, 0)
        return
    if mapping is not None and (kind, name) in mapping.entries:
        return
    declared: Predicate | None = None
    if kind == "action":
        arity = len(symbols.parameter_types[name])
    else:
        is_predicate = kind == "predicate"
        index = symbols.predicate_index if is_predicate else symbols.function_index
        declared = (symbols.predicates if is_predicate else symbols.functions)[index[name]]
        arity = len(declared.types)
    count = len(parse_typed_list(context, entry, 1, is_variable, "a variable"))
    if count != arity:
        declaration = (Place(declared.node), "declared here") if declared and isinstance(declared.node, list) else None
        message = f"the specification needs `{name}` with {count} arguments, the domain has {arity}"
        context.error(SC.VOCABULARY, message, at, "does not fit", related=declaration)


def _find_missing_word(symbols: Symbols, mapping: Mapping | None, word: WordName) -> WordName | None:
    """Return a word as :func:`find_missing_words` names it; ``None`` if the mapping binds it or the domain has it."""
    kind, name = word
    if mapping is not None and word in mapping.entries:
        return (kind, make_unbound_name(name)) if word in mapping.empty_words else None
    return None if name in list_domain_names(symbols)[kind] else word


def warn_if_missing(
    context: Context, names: set[WordName], missing_words: dict[WordName, Place], effect: str, at: Place
) -> bool:
    """Warn about missing names, and return whether there are any; ``effect``: the consequence, as text."""
    missing_names = sorted(names & missing_words.keys())
    if missing_names:
        needs = ", ".join([f"{kind} `{name.removeprefix('~')}`" for kind, name in missing_names])
        message = f"{effect}: this domain has no {needs}"
        context.warning(SC.RULE_NOT_APPLICABLE, message, at, "left out", help="bind it with a mapping")
    return bool(missing_names)


def find_names_in_rule(rule: list[Node]) -> set[WordName]:
    """Return the names that a rule uses."""
    names: set[WordName] = set()
    for child in range(2, len(rule) - 1):
        key, value = rule[child], rule[child + 1]
        if not isinstance(value, list) or not isinstance(key, str):
            continue
        if key == ":parameters":
            names |= find_names_in_types(value)
        elif key in STEP_FIELDS:
            for step in value[1:] if find_step_connective(value) == "or" else [value]:
                names |= _find_names_in_step(step)
        elif key in FORMULA_FIELDS:
            names |= find_names_in_formula(value)
        elif key in ATOMS_FIELDS:
            for atom in value:
                names |= find_names_in_formula(atom)
    return names


def find_names_in_types(typed: Node, visited_lists: set[int] | None = None) -> set[WordName]:
    """Return the types of a typed list, except of lists ``(either t u)`` in ``visited_lists``; add new lists to it.

    ``visited_lists`` has the identities of lists.
    """
    names: set[WordName] = set()
    is_after_dash = False
    for token in typed if isinstance(typed, list) else []:
        if is_after_dash:
            if visited_lists is not None and isinstance(token, list):
                if id(token) in visited_lists:
                    is_after_dash = False
                    continue
                visited_lists.add(id(token))
            names.update([("type", format_token(t)) for t in (token if isinstance(token, list) else [token])])
        is_after_dash = token == "-"
    return names


def _find_names_in_step(step: Node) -> set[WordName]:
    """Return the action of a step, and its arguments as constants."""
    if not isinstance(step, list) or not step:
        return set()
    return {("action", format_token(step[0])), *[("constant", format_token(token)) for token in step[1:]]}


def find_names_in_formula(formula: Node) -> set[WordName]:
    """Return all names of a formula."""
    names: set[WordName] = set()
    visited_lists: set[int] = set()
    stack: list[tuple[Node, bool]] = [(formula, False)]
    while stack:
        tree, is_number = stack.pop()
        if not isinstance(tree, list) or not tree or not isinstance(tree[0], str):
            continue
        head = tree[0]
        if head in ("forall", "exists") and len(tree) == 3:
            names |= find_names_in_types(tree[1], visited_lists)
            stack.append((tree[2], False))
        elif head in ACTION_ATOMS and len(tree) == 2:
            names |= _find_names_in_step(tree[1])
        else:
            names.add(("function" if is_number else "predicate", head))
            names.update([("constant", token) for token in tree[1:] if isinstance(token, str)])
            has_numbers = head in COMPARISONS or head in ARITHMETIC
            stack += [(child, has_numbers) for child in tree[1:]]
    return names
