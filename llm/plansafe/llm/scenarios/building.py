"""A scenario from its texts, wherever they are stored: the union of the domains, the goal, the transitions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from plansafe.domains import domain_names, domain_path
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
from plansafe.grammar.sexpr import format_node
from plansafe.grammar.source import Source
from plansafe.llm.metrics.transition import Side
from plansafe.llm.scenarios.model import Kind, Scenario, Solvable, Transition
from plansafe.llm.scenarios.table import Table
from plansafe.llm.scenarios.transitions import Actions
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.llm.scenarios.validation.merge import unite
from plansafe.llm.scenarios.validation.model import Scenario as Texts
from plansafe.specs import spec_names, spec_path


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
