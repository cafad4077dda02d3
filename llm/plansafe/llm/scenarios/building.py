"""A scenario from its texts, wherever they are stored: the union of the domains, the goal, the transitions.

The actions that Transition Modeling asks for, with the literals that carry the risk.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from plansafe.domains import domain_names, domain_path
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
from plansafe.grammar.sexpr import Node, format_node
from plansafe.grammar.source import Source
from plansafe.llm.metrics.literals import NotAFormula, literals_of, read
from plansafe.llm.metrics.transition import Side, read_action
from plansafe.llm.scenarios.model import Kind, Scenario, Solvable, Transition
from plansafe.llm.scenarios.table import Table
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.llm.scenarios.validation.merge import unite
from plansafe.llm.scenarios.validation.model import Scenario as Texts
from plansafe.specs import spec_names, spec_path
from plansafe.specs.toml_text import find_key_span


class Collection(NamedTuple):
    """The scenarios of a folder by name, and the mistakes of others, with the texts that labels refer to."""

    scenarios: tuple[Scenario, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[Source, ...] = ()


class Foundations(NamedTuple):
    """What a scenario is judged against: the base domain and the specifications that its description names."""

    base: Source
    specs: tuple[Source, ...]


class Refused(Exception):
    """A scenario that cannot be read, with the reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class ScenarioBuilder:
    """Makes a scenario from its files. ``place`` names it in messages; ``name`` is the scenario's name."""

    def __init__(self, place: str, name: str) -> None:
        self.place = place
        self.name = name

    @abstractmethod
    def text(self, name: str) -> Source:
        """The text of a file. Raises :class:`Refused`."""

    @abstractmethod
    def optional(self, name: str) -> Source | None:
        """The text of a file; ``None`` if the file is missing. Raises :class:`Refused`."""

    def build(self, source: Source, table: Table) -> Scenario | tuple[Diagnostic, ...]:
        """The scenario that a table describes (``source`` is its text), or its mistakes. Raises :class:`Refused`."""
        problem = self.text("problem.pddl")
        extension = self.optional("domain.pddl")
        safe, unsafe = self.optional("safe.plan"), self.optional("unsafe.plan")
        base, specs = self.foundations(table)
        self._plans_fit(table, safe, unsafe)
        drafts = [_base_draft(base.name, base.text), *([Draft(extension)] if extension is not None else [])]
        for draft in drafts:
            if not draft.form:
                raise Refused(at_start(draft.source, f"{draft.name} is not a definition of a domain"))
        united = unite(drafts[0], drafts[1] if len(drafts) > 1 else None)
        goals = Draft(problem).sections(":goal")
        if len(goals) != 1 or len(goals[0]) != 2:
            raise Refused(at_start(problem, f"{problem.name} has no goal, or several"))
        outcomes = _transitions(source, table, Actions(united.source, united.new_actions)) if table.transitions else []
        wrong = tuple([item for item in outcomes if isinstance(item, Diagnostic)])
        plans = tuple([plan for plan in (safe, unsafe) if plan is not None])
        return wrong or Scenario(
            name=self.name,
            version=1,
            kind=table.kind,
            types=table.types,
            category=table.category,
            family=table.family,
            split=table.split,
            instruction=table.instruction,
            goal_words=table.goal,
            goal=format_node(goals[0][1]),
            solvable=table.solvable,
            reason=table.reason,
            base=table.base,
            problem=problem,
            domain=united.source,
            extension=extension,
            specs=specs,
            safe=safe,
            unsafe=unsafe,
            transitions=tuple([item for item in outcomes if isinstance(item, Transition)]),
            texts=Texts(self.name, problem, extension, base, specs, plans),
        )

    def foundations(self, table: Table) -> Foundations:
        """The base and the specifications that a description names, and the folder's own. Raises :class:`Refused`."""
        base = self._shipped("base", table.base, domain_path, domain_names())
        specs = [self._shipped("specification", name, spec_path, spec_names()) for name in table.specs]
        rules = self.optional("rules.safe")
        specs += [rules] if rules is not None else []
        if not specs:
            help = "write rules.safe, or `specs`"
            raise Refused(Diagnostic(SC.BAD_SCENARIO, f"{self.place} has no rules", help=help))
        return Foundations(base, tuple(specs))

    def _plans_fit(self, table: Table, safe: Source | None, unsafe: Source | None) -> None:
        """The plans that are there are those that the description says there can be."""
        for plan, name, expected in (
            (safe, "safe.plan", table.solvable is Solvable.SAFELY),
            (unsafe, "unsafe.plan", table.solvable is not Solvable.NO),
        ):
            if (plan is not None) is not expected:
                message = f"{name} is {'missing' if expected else 'there'}, and solvable is {table.solvable}"
                raise Refused(Diagnostic(SC.BAD_SCENARIO, f"{self.place}: {message}"))

    def _shipped(self, kind: str, name: str, find: Callable[[str], str], names: tuple[str, ...]) -> Source:
        try:
            return shipped_source(find(name))
        except KeyError:
            message = f"{self.place}: no {kind} called {name!a} is shipped"
            raise Refused(Diagnostic(SC.BAD_SCENARIO, message, help=suggest_name(name, names))) from None


@cache
def shipped_source(path: str) -> Source:
    """A file that comes with safecheck, read once."""
    return Source.from_path(path)


@cache
def _base_draft(name: str, text: str) -> Draft:
    """The base, parsed once for all scenarios that extend it."""
    return Draft(Source(name, text))


def _transitions(source: Source, table: Table, actions: Actions) -> list[Transition | Diagnostic]:
    side = Side.EFFECT if table.kind is Kind.MALICIOUS else Side.PRECONDITION
    rows = enumerate(table.transitions, 1)
    return [actions.transition(source, number, action, risk, side) for number, (action, risk) in rows]


def at_start(source: Source, message: str) -> Diagnostic:
    """A mistake of a text as a whole."""
    label = Label(source.name, Span(0, min(1, len(source.text))), "in this file")
    return Diagnostic(SC.BAD_SCENARIO, message, (label,))


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
    return Diagnostic(SC.BAD_SCENARIO, message, (Label(table.name, find_key_span(table, at), "here"),), help=help)
