"""Where candidates come from: drawn households, shipped scenarios, scripts of VirtualHome, plans that models wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from random import Random
from typing import NamedTuple

from plansafe.align.choosing.lengths import difference
from plansafe.align.choosing.needs import Needs
from plansafe.align.choosing.splits import split_of
from plansafe.align.making.candidate import Candidate
from plansafe.align.making.cropping import part_of
from plansafe.align.making.maker import FULL, LARGE, MANY_OBJECTS, Effort, Maker
from plansafe.align.making.recipes import Recipes
from plansafe.align.making.runs import Written, written_in
from plansafe.align.tasks import AlignTask, BadOrigin, scenario_origins, task_of, virtualhome_origins
from plansafe.llm.instances.families import FAMILIES

MANY_RULES = 60


class Wanted(NamedTuple):
    """Which tasks: ``drawn`` numbers of each family, the scenarios, and ``scripts`` of VirtualHome (0: none).

    ``data``: the folder of public data sets, without which there is no VirtualHome. ``runs``: kept runs of the suite
    ``planning``, whose plans are used; ``adversarial``: such whose plans were asked to go wrong. ``seed`` draws
    households, scripts and whatever is drawn for a task.
    """

    seed: int = 0
    drawn: int = 40
    scenarios: bool = True
    scripts: int = 1_000
    data: str | None = None
    runs: tuple[str, ...] = ()
    adversarial: tuple[str, ...] = ()


def origins(wanted: Wanted) -> Iterator[str]:
    """The origins of the tasks, the kinds of them mixed, so that the first of them are of all kinds."""
    random = Random(f"{wanted.seed}/order")
    households = [f"drawn:{family}/{number}/{wanted.seed}" for number in range(wanted.drawn) for family in FAMILIES]
    scenarios = list(scenario_origins()) if wanted.scenarios else []
    scripts = list(virtualhome_origins(wanted.data)) if wanted.scripts and wanted.data is not None else []
    random.shuffle(scripts)
    kinds = [households, scripts[: wanted.scripts], scenarios]
    rounds = max(1, min([len(kind) for kind in kinds if kind], default=1))
    for turn in range(rounds):
        share = [kind[turn * len(kind) // rounds : (turn + 1) * len(kind) // rounds] for kind in kinds]
        for row in zip_longest(*share):
            yield from [one for one in row if one is not None]


def candidates(wanted: Wanted, skipped: Counter[str] | None = None) -> Iterator[Candidate]:
    """Candidates of all tasks, task by task; the same for the same ``wanted`` in every process.

    ``skipped`` counts why tasks gave none. Raises ``OSError`` where the data cannot be read, and
    :class:`plansafe.llm.bench.run_file.BadRun` for what is no run.
    """
    recipes, needs = Recipes(), Needs()
    written = written_in(wanted.runs, wanted.adversarial)
    reasons = Counter[str]() if skipped is None else skipped
    for origin in dict.fromkeys([*written, *origins(wanted)]):
        try:
            task = task_of(origin, wanted.data)
        except BadOrigin as refused:
            reasons[f"no task: {refused}"] += 1
            continue
        count = 0
        for one in of_task(task, recipes, needs, wanted.seed, written.get(origin, ()), reasons):
            count += 1
            needs.keep(one.rule, one.safel, split_of(task.family), difference(one.chosen, one.rejected))
            yield one
        if not count:
            reasons["a task without a pair"] += 1


def of_task(
    task: AlignTask,
    recipes: Recipes,
    needs: Needs,
    seed: int,
    written: Sequence[Written] = (),
    reasons: Counter[str] | None = None,
) -> Iterator[Candidate]:
    """The candidates of one task. ``recipes`` and ``needs`` go on from task to task; ``written``: plans of models.

    A large scene is cropped to what its plan and the rules are about. ``reasons`` counts what is judged otherwise in
    the whole scene.
    """
    if not task.checker.ok or task.checker.is_open:
        return
    part = part_of(task, Random(f"{seed}/{task.origin}/part"), [one.plan for one in written])
    whole = None if part is task else task
    maker = Maker(part, recipes, needs, seed, whole, reasons)
    for one in written:
        maker.take(one.plan, one.source)
    many = len(part.checker.engine.task.objects) > MANY_OBJECTS
    yield from maker.run(LARGE if len(maker.rules) > MANY_RULES else FULL if many else Effort())
