"""The formulas, steps and rules of one specification with its macros and its mapping applied."""

from __future__ import annotations

from itertools import pairwise

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node, format_node
from plansafe.verifier.elaborate.context import Place, all_tokens, is_name, is_variable, token_text
from plansafe.verifier.elaborate.symbols import RESERVED
from plansafe.verifier.rules.expanded_specs import ATOMS_FIELDS, FORMULA_FIELDS, STEP_FIELDS, step_connective
from plansafe.verifier.rules.mapping import Mapping, WordName, is_unbound, unbound_name
from plansafe.verifier.rules.tree_copies import TreeCopier, without_types

_TAKEN = {":on": "action", ":at-end": "action-end", ":during": "action-during"}


class Rewriter:
    """Rewrites trees; ``macros`` may grow in between."""

    def __init__(self, copies: TreeCopier, macros: dict[str, tuple[list[str], Node]], mapping: Mapping | None) -> None:
        self.macros = macros
        self.mapping = mapping
        self._copies = copies
        self._context = copies.context
        self._made = copies.made

    def rule(self, rule: list[Node]) -> list[Node]:
        """A rule or an invariant."""
        if self.mapping is None and not (self.macros and all_tokens(rule) & self.macros.keys()):
            return rule
        made: list[Node] = []
        more: list[Node] = []
        when: Node = []
        key: Node = ""
        for child in rule:
            if key in FORMULA_FIELDS:
                made.append(self.formula(child))
            elif key in STEP_FIELDS:
                step, typed, guard = self._plain(token_text(key), self._step(child), child)
                made.append(step)
                more += [*typed, *_dropped(child, step, guard, rule)]
                when = guard or when
            elif key in ATOMS_FIELDS and isinstance(child, list):
                made.append(self._made([self.atom(atom, Place(child, at)) for at, atom in enumerate(child)], child))
            elif key == ":parameters":
                made.append(self.types(child))
            else:
                made.append(child)
            key = child if isinstance(child, str) else ""
        if more and ":parameters" in made[:-1]:
            at = made.index(":parameters") + 1
            declared = made[at]
            made[at] = self._made([*declared, *more], declared) if isinstance(declared, list) else declared
        elif more:
            made += [":parameters", self._made(more, rule)]
        if when and ":when" in made[:-1]:
            at = made.index(":when") + 1
            made[at] = self._made(["and", made[at], when], rule)
        elif when:
            made += [":when", when]
        return self._made(made, rule)

    def atom(self, atom: Node, at: Place) -> Node:
        """An atom where no other formula can stand, written at ``at``; ``()`` after a diagnostic."""
        errors = self._context.errors
        made = self.formula(atom)
        head = atom[0] if isinstance(atom, list) and atom else None
        if not isinstance(head, str) or self._replacement(head) is None:
            return made
        if self._context.errors == errors and not (isinstance(made, list) and made and is_name(made[0])):
            made = ["or"]
        if self._context.errors == errors and isinstance(made, list) and made[0] in RESERVED:
            message = f"`{head}` is bound to a formula, but only a single predicate can be open or counted"
            help = "bind it to a single predicate, or open its predicates one by one"
            self._context.error(SC.VOCABULARY, message, at, "mapped to a formula", help=help)
        return made if self._context.errors == errors else []

    def formula(self, node: Node) -> Node:
        """A formula or an expression."""
        if not isinstance(node, list) or not node:
            return node
        head = node[0]
        if head in ("forall", "exists") and len(node) == 3:
            typed = self.types(node[1])
            if _over_nothing(typed):
                return self._made(["and" if head == "forall" else "or"], node)
            return self._made([head, typed, self.formula(node[2])], node)
        if head in ("action", "action-end", "action-during") and len(node) == 2 and isinstance(node[1], list):
            return self._taken(token_text(head), self._step(node[1]), node)
        rest = [self.formula(child) if isinstance(child, list) else self._constant(child) for child in node[1:]]
        if isinstance(head, str):
            replacement = self._replacement(head)
            if replacement is not None:
                parameters, body = replacement
                values = self._copies.values(node, rest, parameters, body)
                return self._made(["and"], node) if values is None else self._used(node, parameters, body, values)
            if self.mapping is not None and self.mapping.has_nothing_for(("predicate", head), ("function", head)):
                head = unbound_name(head)
        return self._made([head, *rest], node)

    def _replacement(self, head: str) -> tuple[list[str], Node] | None:
        """What an atom stands for; a macro goes before a mapping."""
        return self.macros.get(head) or (self.mapping.atoms.get(head) if self.mapping else None)

    def _used(self, node: list[Node], parameters: list[str], body: Node, values: dict[str, Node]) -> Node:
        return self._copies.copy(body, values, {name: Place(node, child) for child, name in enumerate(parameters, 1)})

    def _constant(self, token: str) -> Node:
        return token if self.mapping is None else self.mapping.constant(token)

    def types(self, node: Node) -> Node:
        """Rewrite the types of a typed list."""
        mapping = self.mapping
        if mapping is None or not isinstance(node, list):
            return node
        made: list[Node] = []
        after_dash = False
        for child in node:
            if after_dash and isinstance(child, str):
                made.append(mapping.type(child))
            elif after_dash and isinstance(child, list):
                flat: list[Node] = []
                there = [
                    kind for kind in child if isinstance(kind, list) or not mapping.has_nothing_for(("type", kind))
                ]
                for alternative in there if len(there) > 1 else child:  # beside `either`, what the domain has at all
                    new = mapping.type(alternative) if isinstance(alternative, str) else alternative
                    flat.extend(new[1:] if isinstance(new, list) else [new])
                made.append(self._made(flat, child))
            else:
                made.append(child)
            after_dash = child == "-"
        return self._made(made, node)

    def _step(self, node: Node) -> Node:
        """A step as the domain has it: alternatives side by side, with ``exists`` and ``when`` around each."""
        mapping = self.mapping
        if mapping is None or not isinstance(node, list) or not node:
            return node
        if step_connective(node) == "or":
            flat: list[Node] = ["or"]
            taken = [child for child in node[1:] if not mapping.has_nothing_for(_action(child))]
            for child in taken or node[1:]:  # a step that never happens in this domain
                made = self._step(child)
                flat.extend(made[1:] if isinstance(made, list) and step_connective(made) == "or" else [made])
            return self._made(flat, node)
        rest = [self._constant(child) if isinstance(child, str) else child for child in node[1:]]
        found = mapping.steps.get(token_text(node[0]))
        if found is None:
            return self._made(
                [unbound_name(token_text(node[0])) if mapping.has_nothing_for(_action(node)) else node[0], *rest], node
            )
        parameters, body = found
        values = self._copies.values(node, rest, parameters, body)
        if values is None:
            return node
        anything: list[Node] = []
        for name in parameters if "when" in all_tokens(body) else ():
            if values[name] == "_":  # whatever it is, the condition speaks of the same
                values[name] = self._copies.fresh(name)
                anything += [values[name], "-", "object"]
        made = self._used(node, parameters, body, values)
        return self._made(["exists", self._made(anything, node), made], node) if anything else made

    def _plain(self, field: str, step: Node, origin: Node) -> tuple[Node, list[Node], Node]:
        """A step of a rule without ``exists`` and ``when``: the step, typed variables, and a condition for ``:when``.

        If alternatives differ in what stands around them, the condition says which one is taken how.
        """
        cases = _cases(step)
        if not isinstance(origin, list) or not any([typed or conditions for typed, conditions, _ in cases]):
            return step, [], []

        def made(*parts: Node) -> list[Node]:
            return self._made(list(parts), origin)

        around = [format_node([typed, conditions]) for typed, conditions, _ in cases]
        if around.count(around[0]) == len(around):
            typed, conditions, _ = cases[0]
            steps: list[Node] = [plain for _, _, plain in cases]
            guard: Node = made("and", *conditions) if conditions else []
            return steps[0] if len(steps) == 1 else made("or", *steps), typed, guard
        taken: list[Node] = []
        steps = []
        for typed, conditions, plain in cases:
            body = made("and", *conditions, made(_TAKEN[field], plain))
            taken.append(made("exists", made(*typed), body) if typed else body)
            bound = without_types(typed)
            steps.append(made(*["_" if t in bound else t for t in plain]) if isinstance(plain, list) else plain)
        return made("or", *steps), [], made("or", *taken)

    def _taken(self, head: str, step: Node, node: list[Node]) -> Node:
        """The formula that a step is taken."""
        if isinstance(step, list) and step_connective(step) == "or":
            return self._made(["or", *[self._taken(head, child, node) for child in step[1:]]], node)
        if isinstance(step, list) and len(step) == 3 and step_connective(step) == "exists":
            return self._made(["exists", step[1], self._taken(head, step[2], node)], node)
        if isinstance(step, list) and len(step) == 3 and step_connective(step) == "when":
            return self._made(["and", step[1], self._taken(head, step[2], node)], node)
        return self._made([head, step], node)


def _over_nothing(typed: Node) -> bool:
    """Whether a variable of a mapped typed list has a kind that the mapping says the domain has nothing for."""
    if not isinstance(typed, list):
        return False
    kinds = [kind for dash, kind in pairwise(typed) if dash == "-"]
    return any([all(map(is_unbound, kind[1:] if isinstance(kind, list) else [kind])) for kind in kinds])


def _cases(step: Node) -> list[tuple[list[Node], list[Node], Node]]:
    """The alternatives of a mapped step: the typed variables and the conditions around each, and the step itself."""
    out = []
    stack: list[tuple[list[Node], list[Node], Node]] = [([], [], step)]
    while stack:
        typed, conditions, node = stack.pop()
        head = step_connective(node)
        if not isinstance(node, list) or not head or (head != "or" and len(node) != 3):
            out.append((typed, conditions, node))
        elif head == "or":
            stack.extend([(typed, conditions, child) for child in reversed(node[1:])])
        elif head == "exists":
            stack.append(([*typed, *(node[1] if isinstance(node[1], list) else [])], conditions, node[2]))
        else:
            stack.append((typed, [*conditions, node[1]], node[2]))
    return out


def _dropped(step: Node, mapped: Node, guard: Node, rule: list[Node]) -> list[Node]:
    """Variables of a step that only the condition of its mapping speaks of: parameters, unless they are declared."""
    named = rule[rule.index(":parameters") + 1] if ":parameters" in rule[:-1] else []
    gone = (all_tokens(guard) & all_tokens(step)) - all_tokens(mapped) - all_tokens(named)
    return [token for name in sorted(gone) if is_variable(name) for token in (name, "-", "object")]


def _action(step: Node) -> WordName:
    return "action", token_text(step[0]) if isinstance(step, list) and step else ""
