"""Apply the macros and the mapping of one specification to its formulas, steps and rules."""

from __future__ import annotations

from itertools import pairwise

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node, format_node
from plansafe.verifier.elaborate.context import Place, collect_tokens, format_token, is_name, is_variable
from plansafe.verifier.elaborate.symbols import RESERVED
from plansafe.verifier.rules.expanded_specs import (
    ATOMS_FIELDS,
    FORMULA_FIELDS,
    STEP_FIELDS,
    find_step_connective,
    list_keyed_children,
)
from plansafe.verifier.rules.mapping import Mapping, Replacement, WordName, is_unbound, make_unbound_name
from plansafe.verifier.rules.tree_copies import TreeCopier, remove_types

_ACTION_OPERATORS = {":on": "action", ":at-end": "action-end", ":during": "action-during"}


class StepCase(NamedTuple):
    """An alternative of a mapped step.

    ``typed``: the typed list of the variables that its ``exists`` bind. ``conditions``: the conditions of its ``when``.
    """

    typed: list[Node]
    conditions: list[Node]
    step: Node


class Rewriter:
    """Rewrites trees of one specification.

    ``macros`` grows while the specification is read. Without ``mapping`` only macros are replaced.
    """

    def __init__(self, copier: TreeCopier, macros: dict[str, Replacement], mapping: Mapping | None) -> None:
        self.macros = macros
        self.mapping = mapping
        self._copier = copier
        self._context = copier.context
        self._record_origin = copier.record_origin

    def rewrite_rule(self, rule: list[Node]) -> list[Node]:
        """Rewrite a rule or an invariant."""
        if self.mapping is None and not (self.macros and collect_tokens(rule) & self.macros.keys()):
            return rule
        children: list[Node] = []
        new_parameters: list[Node] = []
        condition: Node = []
        for key, child in list_keyed_children(rule):
            if key in FORMULA_FIELDS:
                children.append(self.rewrite_formula(child))
            elif key in STEP_FIELDS:
                case = self._separate_cases(key, self._rewrite_step(child), child)
                children.append(case.step)
                new_parameters += [*case.typed, *_find_undeclared_variables(child, case, rule)]
                condition = case.conditions[0] if case.conditions else condition
            elif key in ATOMS_FIELDS and isinstance(child, list):
                atoms = [self.rewrite_atom(atom, Place(child, position)) for position, atom in enumerate(child)]
                children.append(self._record_origin(atoms, child))
            elif key == ":parameters":
                children.append(self.rewrite_types(child))
            else:
                children.append(child)
        if new_parameters:
            self._add_parameters(children, new_parameters, rule)
        if condition:
            self._add_condition(children, condition, rule)
        return self._record_origin(children, rule)

    def _add_parameters(self, children: list[Node], typed: list[Node], rule: list[Node]) -> None:
        """Add typed variables to ``:parameters`` among the children of a rewritten rule."""
        if ":parameters" not in children[:-1]:
            children += [":parameters", self._record_origin(typed, rule)]
            return
        position = children.index(":parameters") + 1
        declared = children[position]
        if isinstance(declared, list):
            children[position] = self._record_origin([*declared, *typed], declared)

    def _add_condition(self, children: list[Node], condition: Node, rule: list[Node]) -> None:
        """Add a condition to ``:when`` among the children of a rewritten rule."""
        if ":when" not in children[:-1]:
            children += [":when", condition]
            return
        position = children.index(":when") + 1
        children[position] = self._record_origin(["and", children[position], condition], rule)

    def rewrite_atom(self, atom: Node, at: Place) -> Node:
        """Rewrite an atom where no other formula is allowed, written at ``at``; ``()`` after a diagnostic.

        The result is ``(or)``, which is false, if the domain has nothing for the atom.
        """
        errors = self._context.errors
        formula = self.rewrite_formula(atom)
        head = atom[0] if isinstance(atom, list) and atom else None
        if not isinstance(head, str) or self._find_replacement(head) is None:
            return formula
        if self._context.errors == errors and not (isinstance(formula, list) and formula and is_name(formula[0])):
            formula = ["or"]
        if self._context.errors == errors and isinstance(formula, list) and formula[0] in RESERVED:
            message = f"`{head}` is bound to a formula, but only a single predicate can be open or counted"
            help = "bind it to a single predicate, or open its predicates one by one"
            self._context.error(SC.VOCABULARY, message, at, "mapped to a formula", help=help)
        return formula if self._context.errors == errors else []

    def rewrite_formula(self, node: Node) -> Node:
        """Rewrite a formula or an expression."""
        if not isinstance(node, list) or not node:
            return node
        head = node[0]
        if head in ("forall", "exists") and len(node) == 3:
            typed = self.rewrite_types(node[1])
            if _has_empty_range(typed):
                return self._record_origin(["and" if head == "forall" else "or"], node)
            return self._record_origin([head, typed, self.rewrite_formula(node[2])], node)
        if head in ("action", "action-end", "action-during") and len(node) == 2 and isinstance(node[1], list):
            return self._make_step_formula(format_token(head), self._rewrite_step(node[1]), node)
        arguments = [
            self.rewrite_formula(child) if isinstance(child, list) else self._rewrite_constant(child)
            for child in node[1:]
        ]
        if isinstance(head, str):
            replacement = self._find_replacement(head)
            if replacement is not None:
                values = self._copier.bind_parameters(node, arguments, replacement.parameters, replacement.body)
                if values is None:
                    return self._record_origin(["and"], node)
                return self._copy_body(node, replacement, values)
            if self.mapping is not None and self.mapping.has_nothing_for(("predicate", head), ("function", head)):
                head = make_unbound_name(head)
        return self._record_origin([head, *arguments], node)

    def _find_replacement(self, head: str) -> Replacement | None:
        """Return the replacement of an atom; macros have priority over the mapping."""
        return self.macros.get(head) or (self.mapping.atoms.get(head) if self.mapping else None)

    def _copy_body(self, node: list[Node], replacement: Replacement, values: dict[str, Node]) -> Node:
        """Copy the body of a replacement of ``node``, with ``values`` for its parameters."""
        places = {name: Place(node, child) for child, name in enumerate(replacement.parameters, 1)}
        return self._copier.copy(replacement.body, values, places)

    def _rewrite_constant(self, token: str) -> Node:
        return token if self.mapping is None else self.mapping.replace_constant(token)

    def rewrite_types(self, node: Node) -> Node:
        """Rewrite the types of a typed list."""
        mapping = self.mapping
        if mapping is None or not isinstance(node, list):
            return node
        children: list[Node] = []
        is_after_dash = False
        for child in node:
            if is_after_dash and isinstance(child, str):
                children.append(mapping.replace_type(child))
            elif is_after_dash and isinstance(child, list):
                children.append(self._rewrite_alternative_types(child, mapping))
            else:
                children.append(child)
            is_after_dash = child == "-"
        return self._record_origin(children, node)

    def _rewrite_alternative_types(self, either: list[Node], mapping: Mapping) -> list[Node]:
        """Rewrite ``(either type ..)``; drop types for which the domain has nothing, unless none is left."""
        bound = [type for type in either if isinstance(type, list) or not mapping.has_nothing_for(("type", type))]
        children: list[Node] = []
        for alternative in bound if len(bound) > 1 else either:
            types = mapping.replace_type(alternative) if isinstance(alternative, str) else alternative
            children.extend(types[1:] if isinstance(types, list) else [types])
        return self._record_origin(children, either)

    def _rewrite_step(self, node: Node) -> Node:
        """Rewrite a step into alternatives, each below the ``exists`` and ``when`` of its replacement."""
        mapping = self.mapping
        if mapping is None or not isinstance(node, list) or not node:
            return node
        if find_step_connective(node) == "or":
            alternatives: list[Node] = ["or"]
            bound = [child for child in node[1:] if not mapping.has_nothing_for(_make_action_word(child))]
            for child in bound or node[1:]:
                step = self._rewrite_step(child)
                has_alternatives = isinstance(step, list) and find_step_connective(step) == "or"
                alternatives.extend(step[1:] if has_alternatives else [step])
            return self._record_origin(alternatives, node)
        arguments = [self._rewrite_constant(child) if isinstance(child, str) else child for child in node[1:]]
        replacement = mapping.steps.get(format_token(node[0]))
        if replacement is None:
            action = (
                make_unbound_name(format_token(node[0]))
                if mapping.has_nothing_for(_make_action_word(node))
                else node[0]
            )
            return self._record_origin([action, *arguments], node)
        values = self._copier.bind_parameters(node, arguments, replacement.parameters, replacement.body)
        if values is None:
            return node
        quantified: list[Node] = []
        for name in replacement.parameters if "when" in collect_tokens(replacement.body) else ():
            if values[name] == "_":  # the condition must be about the same object as the step
                values[name] = self._copier.make_variable(name)
                quantified += [values[name], "-", "object"]
        step = self._copy_body(node, replacement, values)
        if not quantified:
            return step
        return self._record_origin(["exists", self._record_origin(quantified, node), step], node)

    def _separate_cases(self, field: str, step: Node, origin: Node) -> StepCase:
        """Move the ``exists`` and ``when`` of a rule's step out of it.

        The result has a step without them, typed variables for ``:parameters``, and at most one condition for
        ``:when``. If the alternatives have different variables or conditions, the condition is a formula that one of
        the alternatives is taken.
        """
        cases = _list_step_cases(step)
        if not isinstance(origin, list) or not any([case.typed or case.conditions for case in cases]):
            return StepCase([], [], step)

        def make_list(*children: Node) -> list[Node]:
            return self._record_origin(list(children), origin)

        context_texts = {format_node([case.typed, case.conditions]) for case in cases}
        if len(context_texts) == 1:
            typed, conditions, _ = cases[0]
            steps: list[Node] = [case.step for case in cases]
            condition: list[Node] = [make_list("and", *conditions)] if conditions else []
            return StepCase(typed, condition, steps[0] if len(steps) == 1 else make_list("or", *steps))
        formulas: list[Node] = []
        steps = []
        for typed, conditions, plain in cases:
            body = make_list("and", *conditions, make_list(_ACTION_OPERATORS[field], plain))
            formulas.append(make_list("exists", make_list(*typed), body) if typed else body)
            bound = remove_types(typed)
            steps.append(make_list(*["_" if t in bound else t for t in plain]) if isinstance(plain, list) else plain)
        return StepCase([], [make_list("or", *formulas)], make_list("or", *steps))

    def _make_step_formula(self, operator: str, step: Node, origin: list[Node]) -> Node:
        """Return the formula that a rewritten step is taken; ``operator`` is the operator of its action atoms."""
        connective = find_step_connective(step)
        if isinstance(step, list) and connective == "or":
            return self._record_origin(
                ["or", *[self._make_step_formula(operator, child, origin) for child in step[1:]]], origin
            )
        if isinstance(step, list) and len(step) == 3 and connective:
            head = "exists" if connective == "exists" else "and"
            return self._record_origin([head, step[1], self._make_step_formula(operator, step[2], origin)], origin)
        return self._record_origin([operator, step], origin)


def _has_empty_range(typed: Node) -> bool:
    """Whether a variable of a mapped typed list has a kind for which the domain has nothing."""
    if not isinstance(typed, list):
        return False
    kinds = [kind for dash, kind in pairwise(typed) if dash == "-"]
    return any([all(map(is_unbound, kind[1:] if isinstance(kind, list) else [kind])) for kind in kinds])


def _list_step_cases(step: Node) -> list[StepCase]:
    """Return the alternatives of a step, each without its ``exists`` and ``when``."""
    cases = []
    stack = [StepCase([], [], step)]
    while stack:
        case = stack.pop()
        typed, conditions, node = case
        connective = find_step_connective(node)
        if not isinstance(node, list) or not connective or (connective != "or" and len(node) != 3):
            cases.append(case)
        elif connective == "or":
            stack.extend([case._replace(step=child) for child in reversed(node[1:])])
        elif connective == "exists":
            stack.append(StepCase([*typed, *(node[1] if isinstance(node[1], list) else [])], conditions, node[2]))
        else:
            stack.append(StepCase(typed, [*conditions, node[1]], node[2]))
    return cases


def _find_undeclared_variables(step: Node, case: StepCase, rule: list[Node]) -> list[Node]:
    """Return a typed list of the variables of a step that occur only in its condition and are not declared."""
    declared = rule[rule.index(":parameters") + 1] if ":parameters" in rule[:-1] else []
    condition = case.conditions[0] if case.conditions else []
    names = (collect_tokens(condition) & collect_tokens(step)) - collect_tokens(case.step) - collect_tokens(declared)
    return [token for name in sorted(names) if is_variable(name) for token in (name, "-", "object")]


def _make_action_word(step: Node) -> WordName:
    """Return the name of a step's action as a word of the vocabulary."""
    return "action", format_token(step[0]) if isinstance(step, list) and step else ""
