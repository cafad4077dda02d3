"""What a specification needs of a domain: the vocabulary it declares, and the names that a rule mentions."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place, is_name, is_object_name, is_variable, token_text
from plansafe.verifier.elaborate.symbols import ACTION_ATOMS, ARITHMETIC, COMPARISONS, Symbols
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.model import nodes as model
from plansafe.verifier.rules.expanded_specs import (
    ATOMS_FIELDS,
    FORMULA_FIELDS,
    STEP_FIELDS,
    ExpandedSpecs,
    step_connective,
)
from plansafe.verifier.rules.mapping import Mapping, WordName, unbound_name


def missing_names(symbols: Symbols, expanded: ExpandedSpecs) -> dict[WordName, Place]:
    """Vocabulary that neither the domain nor a mapping has.

    What the domain has is compared with its declaration.
    """
    context = symbols.context
    missing: dict[WordName, Place] = {}
    for vocabulary in expanded.vocabularies:
        mapping = expanded.mapping(vocabulary.specification)
        for section in vocabulary.node[1:]:
            if not isinstance(section, list) or not section:
                context.error(
                    SC.STRUCTURE,
                    "expected a section such as `(:predicates ..)`",
                    Place(vocabulary.node),
                    "not vocabulary",
                )
                continue
            head = section[0]
            if head in (":types", ":constants"):
                known = symbols.types.index if head == ":types" else symbols.object_index
                kind = "type" if head == ":types" else "constant"
                for entry in parse_typed_list(context, section, 1, is_object_name, "a name"):
                    bound = _given(mapping, (kind, entry.name))
                    if bound is False:
                        missing[kind, unbound_name(entry.name)] = entry.at
                    elif bound is None and entry.name not in known:
                        missing[kind, entry.name] = entry.at
            elif head in (":predicates", ":functions", ":actions"):
                for child in range(1, len(section)):
                    _needed(symbols, token_text(head), section[child], Place(section, child), mapping, missing)
            else:
                context.error(
                    SC.STRUCTURE,
                    f"`{token_text(head)}` is not a section of a vocabulary",
                    Place(section, 0),
                    "expected `:types`, `:constants`, `:predicates`, `:functions` or `:actions`",
                )
    for (kind, name), at in missing.items():
        if name.startswith("~"):
            continue  # a mapping has said so
        message = f"the specification needs the {kind} `{name}`, which the domain does not have"
        context.warning(SC.VOCABULARY, message, at, "not bound", help="bind it with a mapping")
    return missing


def _needed(
    symbols: Symbols, section: str, entry: Node, at: Place, mapping: Mapping | None, missing: dict[WordName, Place]
) -> None:
    context = symbols.context
    if not isinstance(entry, list) or not entry or not is_name(entry[0]):
        context.error(SC.STRUCTURE, "expected `(name ?x - type ..)`", at, "not a declaration")
        return
    name = token_text(entry[0])
    kind = section[1:-1]
    bound = _given(mapping, (kind, name))
    if bound is not None:
        if not bound:
            missing[kind, unbound_name(name)] = Place(entry, 0)
        return
    declared: model.Predicate | None = None
    arity: int | None = None
    if section == ":actions":
        arity = len(symbols.parameter_types[name]) if name in symbols.parameter_types else None
    else:
        index = symbols.predicate_index if section == ":predicates" else symbols.function_index
        if name in index:
            declared = (symbols.predicates if section == ":predicates" else symbols.functions)[index[name]]
            arity = len(declared.types)
    if arity is None:
        missing[kind, name] = Place(entry, 0)
        return
    wanted = len(parse_typed_list(context, entry, 1, is_variable, "a variable"))
    if wanted != arity:
        other = (Place(declared.node), "declared here") if declared and isinstance(declared.node, list) else None
        message = f"the specification needs `{name}` with {wanted} arguments, the domain has {arity}"
        context.error(SC.VOCABULARY, message, at, "does not fit", other=other)


def _given(mapping: Mapping | None, name: WordName) -> bool | None:
    """Whether a mapping gives a name a meaning; ``None`` if it does not say, and the domain may have the name."""
    if mapping is None or name not in mapping.entries:
        return None
    return name not in mapping.nothing


def say_lacking(
    context: Context, mentioned: set[WordName], missing: dict[WordName, Place], what: str, at: Place
) -> bool:
    """Whether something needs vocabulary that is missing; then a warning says so."""
    lacks = sorted(mentioned & missing.keys())
    if lacks:
        needs = ", ".join([f"{kind} `{lack.removeprefix('~')}`" for kind, lack in lacks])
        message = f"{what}: this domain has no {needs}"
        context.warning(SC.RULE_NOT_APPLICABLE, message, at, "left out", help="bind it with a mapping")
    return bool(lacks)


def mentioned(rule: list[Node]) -> set[WordName]:
    """The names that a rule uses, by name space."""
    out: set[WordName] = set()
    for child in range(2, len(rule) - 1):
        key, value = rule[child], rule[child + 1]
        if not isinstance(value, list) or not isinstance(key, str):
            continue
        if key == ":parameters":
            names_of_types(value, out)
        elif key in STEP_FIELDS:
            for step in value[1:] if step_connective(value) == "or" else [value]:
                _step(step, out)
        elif key in FORMULA_FIELDS:
            names_of_formula(value, out)
        elif key in ATOMS_FIELDS:
            for atom in value:
                names_of_formula(atom, out)
    return out


def names_of_types(typed: Node, out: set[WordName]) -> None:
    """Add the types of a typed list."""
    after_dash = False
    for token in typed if isinstance(typed, list) else []:
        if after_dash:
            out.update([("type", token_text(t)) for t in (token if isinstance(token, list) else [token])])
        after_dash = token == "-"


def _step(step: Node, out: set[WordName]) -> None:
    if isinstance(step, list) and step:
        out.add(("action", token_text(step[0])))
        out.update([("constant", token_text(t)) for t in step[1:]])


def names_of_formula(formula: Node, out: set[WordName]) -> None:
    """Add all names of a formula."""
    stack: list[tuple[Node, bool]] = [(formula, False)]
    while stack:
        part, number = stack.pop()
        if not isinstance(part, list) or not part or not isinstance(part[0], str):
            continue
        head = part[0]
        if head in ("forall", "exists") and len(part) == 3:
            names_of_types(part[1], out)
            stack.append((part[2], False))
        elif head in ACTION_ATOMS and len(part) == 2:
            _step(part[1], out)
        else:
            out.add(("function" if number else "predicate", head))
            out.update([("constant", t) for t in part[1:] if isinstance(t, str)])
            numeric = head in COMPARISONS or head in ARITHMETIC
            stack += [(child, numeric) for child in part[1:]]
