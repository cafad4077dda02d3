"""Where the tasks of a suite come from: scenarios, shipped or in a folder, and households that are drawn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias, assert_never

from plansafe.domains import domain_path
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.sexpr import parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.answers.actions import action_question
from plansafe.llm.bench.despite_tasks import DespiteFolder, despite_folders, despite_task, holds_despite
from plansafe.llm.bench.task import BadTasks, BenchTask, Modelled, select_tasks, used_actions
from plansafe.llm.instances.drawn import Instance, draw
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.metrics.transition import Side
from plansafe.llm.prompts.crop import goal_text
from plansafe.llm.scenarios.model import Kind, Scenario, Transition
from plansafe.llm.scenarios.reading import SHIPPED, read_scenarios
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.specs.taxonomy import load_taxonomies

MOST_DRAWN = 100
VIRTUALHOME = "virtualhome"


class TaskSelection(NamedTuple):
    """The source of tasks: a folder, or ``drawn`` households of each family, else the shipped scenarios of a split.

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
        details = {"each": self.drawn} if source == "drawn" else {"split": self.split}
        return {"source": source, **details, "limit": self.limit, "seed": self.seed}


class Draw(NamedTuple):
    """A household that is drawn when its turn comes."""

    family: str
    number: int
    refuse: bool = False

    @property
    def name(self) -> str:
        """As :func:`draw` calls it."""
        return f"{self.family}-{self.number}"

    def instance(self) -> Instance:
        """The household."""
        return draw(self.family, self.number)


def tasks_of(selection: TaskSelection) -> tuple[BenchTask, ...]:
    """The tasks, compiled. Raises :class:`BadTasks`."""
    return compiled(selected(selection))


Selected: TypeAlias = Scenario | Draw | DespiteFolder


def compiled(chosen_tasks: Iterable[Selected]) -> tuple[BenchTask, ...]:
    """Compile the selected tasks. Raises :class:`BadTasks`."""
    return tuple([_compiled(selected_task) for selected_task in chosen_tasks])


def _compiled(selected_task: Selected) -> BenchTask:
    match selected_task:
        case Scenario():
            return scenario_task(selected_task)
        case Draw():
            return drawn_task(selected_task.instance())
        case DespiteFolder():
            return despite_task(selected_task)
        case _:
            assert_never(selected_task)


def selected(selection: TaskSelection) -> tuple[Selected, ...]:
    """The tasks as they are read, before anything is compiled. Raises :class:`BadTasks`."""
    if selection.despite or (selection.folder is not None and holds_despite(selection.folder)):
        return select_tasks(despite_folders(selection.folder or "."), selection.limit, selection.seed)
    if selection.drawn:
        draws = [Draw(family, number) for number in range(selection.drawn) for family in FAMILIES]
        return select_tasks(draws, selection.limit, selection.seed)
    stored = read_scenarios(SHIPPED if selection.folder is None else selection.folder)
    if stored.diagnostics:
        raise BadTasks(stored.diagnostics, {source.name: source for source in stored.sources})
    of_split = [scenario for scenario in stored.scenarios if selection.split in ("all", scenario.split.value)]
    return select_tasks(of_split, selection.limit, selection.seed)


def scenario_task(scenario: Scenario) -> BenchTask:
    """A scenario as a task. Raises :class:`BadTasks` for one that does not compile."""
    checker = scenario.checker()
    if not checker.ok:
        errors = [category for category in checker.diagnostics if category.severity is Severity.ERROR]
        raise BadTasks(errors, checker.sources)
    categories = {category.name: category for category in load_taxonomies()["safel"].categories}
    targets = {target for name in scenario.types if name in categories for target in categories[name].targets}
    return BenchTask(
        scenario.name,
        scenario.family,
        scenario.instruction,
        checker,
        scenario.goal,
        "" if scenario.safe is None else scenario.safe.text,
        unsafe="" if scenario.unsafe is None else scenario.unsafe.text,
        natural=_natural_script(scenario),
        harmful=scenario.kind is Kind.MALICIOUS,
        refuse=scenario.refuse,
        modelled=_modelled_actions(scenario),
        hazards=scenario.types,
        targets=tuple(sorted(targets)),
        category=scenario.category,
    )


def _natural_script(scenario: Scenario) -> str:
    """The hazard script of a risk file, whose homes are too large for a planner; empty for other scenarios."""
    return scenario.unsafe.text if scenario.base == VIRTUALHOME and scenario.unsafe is not None else ""


def _modelled_actions(scenario: Scenario) -> tuple[Modelled, ...]:
    """The actions with risk literals; if there are none, those that the reference plan uses."""
    if scenario.transitions:
        return tuple([action for row in scenario.transitions if (action := _modelled(row)) is not None])
    malicious = scenario.kind is Kind.MALICIOUS
    plan = scenario.unsafe if malicious else scenario.safe
    if plan is None:
        return ()
    own_actions = Draft(scenario.extension).sections(":action") if scenario.extension is not None else []
    new = [str(node[1]) for node in own_actions]
    side = Side.EFFECT if malicious else Side.PRECONDITION
    return used_actions(scenario.name, plan.text, scenario.domain, side, new)


def _modelled(row: Transition) -> Modelled | None:
    question = action_question(parse_nodes(Source("reference", row.reference)) or [], row.action, row.side)
    return None if question is None else Modelled(question, row.new)


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
