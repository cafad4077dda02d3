"""The actions that Transition Modeling asks for, with the literals that carry the risk."""

from __future__ import annotations

from collections.abc import Iterable

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, suggest_name
from plansafe.grammar.sexpr import Node, format_node
from plansafe.grammar.source import Source
from plansafe.llm.metrics.literals import NotAFormula, literals_of, read
from plansafe.llm.metrics.transition import Side, read_action
from plansafe.llm.scenarios.model import Transition
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.specs.toml_text import key_span


class Actions:
    """The actions of a domain by name. ``new``: which of them the base does not have."""

    def __init__(self, domain: Source, new: Iterable[str]) -> None:
        self.nodes = {
            node[1]: node for node in Draft(domain).sections(":action") if len(node) > 1 and isinstance(node[1], str)
        }
        self.new = frozenset(new)

    def transition(
        self, table: Source, number: int, action: str, risk: tuple[str, ...], side: Side
    ) -> Transition | Diagnostic:
        """The action with its risk; a diagnostic at row ``number`` of the table if there is none, or literals are none.

        Of an effect the risky literals must be there already; to a precondition they are added.
        """
        at = ("transition", str(number))
        node = self.nodes.get(action)
        if node is None:
            return _wrong(
                table, (*at, "action"), f"the domain has no action `{action}`", suggest_name(action, tuple(self.nodes))
            )
        text = format_node(node)
        try:
            action_text = read_action(text)
            parts = [_read_literal(text) for text in risk]
        except NotAFormula as error:
            return _wrong(table, (*at, "risk"), f"the risk of `{action}` cannot be read: {error}")
        literals = frozenset().union(*[literals_of(part) for part in parts])
        variables = {argument for literal in literals for argument in literal.arguments if argument.startswith("?")}
        unbound = sorted(variables - set(action_text.variables.names))
        if unbound:
            return _wrong(table, (*at, "risk"), f"{unbound[0]} is not a parameter of `{action}`")
        if side is Side.EFFECT:
            if not literals <= action_text.effect:
                return _wrong(table, (*at, "risk"), f"the effect of `{action}` does not have these literals")
            return Transition(action, action in self.new, side, risk, text, text)
        reference = format_node(
            _with_condition(node, [p for p in parts if not literals_of(p) <= action_text.precondition])
        )
        return Transition(action, action in self.new, side, risk, text, reference)


def _read_literal(text: str) -> Node:
    nodes = read(text)
    if len(nodes) != 1:
        raise NotAFormula("expected one literal")
    return nodes[0]


def _with_condition(node: list[Node], more: list[Node]) -> list[Node]:
    """The action with more conjuncts in its precondition."""
    if not more:
        return node
    changed = list(node)
    if ":precondition" not in changed:
        return [*changed[:2], ":precondition", ["and", *more], *changed[2:]]
    at = changed.index(":precondition") + 1
    precondition = changed[at]
    conjuncts = (
        precondition[1:]
        if isinstance(precondition, list) and precondition and precondition[0] == "and"
        else [precondition]
        if precondition
        else []
    )
    changed[at] = ["and", *conjuncts, *more]
    return changed


def _wrong(table: Source, at: tuple[str, ...], message: str, help: str | None = None) -> Diagnostic:
    return Diagnostic(SC.BAD_SCENARIO, message, (Label(table.name, key_span(table, at), "here"),), help=help)
