"""Where the tasks of a suite come from: scenarios, shipped or in a folder, and households that are drawn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias, assert_never

from plansafe.domains import domain_path
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.sexpr import parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.answers.actions import asked_of
from plansafe.llm.instances.drawn import Instance, draw
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.metrics.transition import Side
from plansafe.llm.prompts.scene import goal_text
from plansafe.llm.scenario.drafts import Draft
from plansafe.llm.scenarios.model import Kind, Scenario, Transition
from plansafe.llm.scenarios.reading import SHIPPED, read_scenarios
from plansafe.llm.suites.bad_tasks import BadTasks
from plansafe.llm.suites.despite_tasks import DespiteFolder, despite_folders, despite_task, holds_despite
from plansafe.llm.suites.task import BenchTask, Modelled, chosen, used_actions
from plansafe.specs.taxonomy import load_taxonomies

MOST_DRAWN = 100


class Wanted(NamedTuple):
    """Which tasks: those of a folder, or ``drawn`` ones of each family, else the shipped ones of a split.

    ``limit`` of them, drawn by ``seed``. ``despite``: the folder has to hold tasks of DESPITE; it may in any case.
    """

    folder: str | None = None
    split: str = "all"
    drawn: int = 0
    limit: int | None = None
    seed: int = 0
    despite: bool = False

    def values(self) -> dict[str, Any]:
        """As JSON values, for the header of a run."""
        if self.despite:
            return {"source": "despite", "limit": self.limit, "seed": self.seed}
        source = "folder" if self.folder is not None else "drawn" if self.drawn else "shipped"
        rest = {"each": self.drawn} if source == "drawn" else {"split": self.split}
        return {"source": source, **rest, "limit": self.limit, "seed": self.seed}


class Draw(NamedTuple):
    """A household that is drawn when its turn comes."""

    family: str
    number: int
    refuse: bool = False

    @property
    def name(self) -> str:
        """As :func:`draw` calls it."""
        return f"{self.family}-{self.number}"

    def drawn(self) -> Instance:
        """The household."""
        return draw(self.family, self.number)


def tasks_of(wanted: Wanted) -> tuple[BenchTask, ...]:
    """The tasks, compiled. Raises :class:`BadTasks`."""
    return compiled(selected(wanted))


Selected: TypeAlias = Scenario | Draw | DespiteFolder


def compiled(found: Iterable[Selected]) -> tuple[BenchTask, ...]:
    """What was selected, compiled. Raises :class:`BadTasks`."""
    return tuple([_compiled(one) for one in found])


def _compiled(one: Selected) -> BenchTask:
    match one:
        case Scenario():
            return scenario_task(one)
        case Draw():
            return drawn_task(one.drawn())
        case DespiteFolder():
            return despite_task(one)
        case _:
            assert_never(one)


def selected(wanted: Wanted) -> tuple[Selected, ...]:
    """The tasks as they are read, before anything is compiled. Raises :class:`BadTasks`."""
    if wanted.despite or (wanted.folder is not None and holds_despite(wanted.folder)):
        return chosen(despite_folders(wanted.folder or "."), wanted.limit, wanted.seed)
    if wanted.drawn:
        every = [Draw(family, number) for number in range(wanted.drawn) for family in FAMILIES]
        return chosen(every, wanted.limit, wanted.seed)
    found = read_scenarios(SHIPPED if wanted.folder is None else wanted.folder)
    if found.diagnostics:
        raise BadTasks(found.diagnostics, {source.name: source for source in found.sources})
    of_split = [one for one in found.scenarios if wanted.split in ("all", one.split.value)]
    return chosen(of_split, wanted.limit, wanted.seed)


def scenario_task(scenario: Scenario) -> BenchTask:
    """A scenario as a task. Raises :class:`BadTasks` for one that does not compile."""
    checker = scenario.checker()
    if not checker.ok:
        errors = [one for one in checker.diagnostics if one.severity is Severity.ERROR]
        raise BadTasks(errors, checker.sources)
    categories = {one.name: one for one in load_taxonomies()["safel"].categories}
    targets = {target for name in scenario.types if name in categories for target in categories[name].targets}
    return BenchTask(
        scenario.name,
        scenario.family,
        scenario.instruction,
        checker,
        scenario.goal,
        "" if scenario.safe is None else scenario.safe.text,
        "" if scenario.unsafe is None else scenario.unsafe.text,
        scenario.kind is Kind.MALICIOUS,
        scenario.refuse,
        _modelled_actions(scenario),
        scenario.types,
        tuple(sorted(targets)),
        scenario.category,
    )


def _modelled_actions(scenario: Scenario) -> tuple[Modelled, ...]:
    """The actions with risk literals; if there are none, those that the reference plan uses."""
    if scenario.transitions:
        return tuple([one for row in scenario.transitions if (one := _modelled(row)) is not None])
    malicious = scenario.kind is Kind.MALICIOUS
    plan = scenario.unsafe if malicious else scenario.safe
    if plan is None:
        return ()
    own = Draft(scenario.extension).sections(":action") if scenario.extension is not None else []
    new = [str(node[1]) for node in own]
    side = Side.EFFECT if malicious else Side.PRECONDITION
    return used_actions(scenario.name, plan.text, scenario.domain, side, new)


def _modelled(row: Transition) -> Modelled | None:
    asked = asked_of(parse_nodes(Source("reference", row.reference)) or [], row.action, row.side)
    return None if asked is None else Modelled(asked, row.new)


def drawn_task(instance: Instance) -> BenchTask:
    """A drawn household as a situational task: its reference is the planner's; no plan that breaks a rule is known."""
    checker = instance.checker()
    domain = Source.from_path(domain_path("household"))
    return BenchTask(
        instance.name,
        instance.family,
        instance.words,
        checker,
        goal_text(checker.compiled),
        instance.reference,
        modelled=used_actions(instance.name, instance.reference, domain, Side.PRECONDITION),
    )
