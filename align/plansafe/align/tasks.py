"""Tasks that pairs and examples are about, by their origins: short texts from which a task is made again.

An origin is untrusted: it names a family, a shipped scenario or a script by words and numbers of a fixed form, never by
a path, so that none leads out of the folders that are meant.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from functools import lru_cache
from typing import Any, NamedTuple

from plansafe.align.stated.drawing import draw as draw_stated
from plansafe.align.stated.families import FAMILIES as STATED_FAMILIES
from plansafe.align.stated.families import HELD_OUT_FAMILIES
from plansafe.domains.json_text import BadJson, read_json
from plansafe.domains.objects import add_kinds
from plansafe.domains.virtualhome import WORLD
from plansafe.domains.world import GOAL, SCENE, Request, Scene
from plansafe.grammar.diagnostics import suggest_name
from plansafe.grammar.source import Source
from plansafe.llm.instances.drawn import draw
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.instances.home import MOST_ROOMS
from plansafe.llm.scenarios.model import Scenario, resolve
from plansafe.llm.scenarios.reading import SHIPPED, read_scenarios
from plansafe.llm.scenarios.sets.reading import SHIPPED_SETS, load_set
from plansafe.specs import default_specs, spec_path
from plansafe.verifier.api import Checker, Options

SETTING = "PLANSAFE_DATA"
MOST_BYTES = 50_000_000
"""Of one file of the data, unpacked."""
FOLDER = "eai-virtualhome"
_HOUSEHOLD = re.compile(r"drawn:([a-z-]{1,40})/([0-9]{1,9})/([0-9]{1,9})(?:/([1-5])(/full)?)?", re.ASCII)
_STATED = re.compile(r"stated:([a-z-]{1,40})/([0-9]{1,9})/([0-9]{1,9})", re.ASCII)
_SCENARIO = re.compile(r"scenario:(?:([a-z-]{1,40})/)?([a-z0-9][a-z0-9-]{0,99})", re.ASCII)
_VIRTUALHOME = re.compile(r"virtualhome:([0-9]{1,6}_[0-9]{1,3})#([0-9]{1,6}_[0-9]{1,3})", re.ASCII)
_CASE = re.compile(r"[0-9]{1,6}_[0-9]{1,3}", re.ASCII)
_FORMS = (
    "stated:FAMILY/NUMBER/SEED, drawn:FAMILY/NUMBER/SEED, drawn:FAMILY/NUMBER/SEED/ROOMS, this with /full, "
    "scenario:NAME, scenario:SET/NAME or virtualhome:GRAPH#SCRIPT"
)


class AlignTask(NamedTuple):
    """A task with rules, compiled.

    ``name`` is short and unique among tasks; ``family`` groups tasks that are much the same; ``world``: the name of the
    shipped domain; ``words``: the request; ``origin``: the text from which :func:`task_of` makes it. ``reference``: a
    safe plan with one action per line, or a script of VirtualHome as its author wrote it; empty if no such plan is
    known.
    """

    name: str
    family: str
    world: str
    words: str
    checker: Checker
    origin: str
    reference: str = ""


class BadOrigin(ValueError):
    """An origin that names no task; the text says why, ``help`` what would do."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help


def data_folder() -> str | None:
    """The folder of public data sets that the setting ``PLANSAFE_DATA`` names; ``None`` where it names none."""
    return os.environ.get(SETTING) or None


def task_of(origin: str, data: str | None = None) -> AlignTask:
    """The task of an origin, compiled again at each call. ``data``: the folder of public data sets.

    ``drawn:FAMILY/NUMBER/SEED`` is a household task (:func:`plansafe.llm.instances.drawn.draw`), with ``/ROOMS``
    one with at most this number of rooms in addition to the kitchen; ``stated:FAMILY/NUMBER/SEED`` a task with a
    stated rule (:func:`plansafe.align.stated.drawing.draw`); ``scenario:NAME`` a shipped scenario,
    ``scenario:SET/NAME`` one of a shipped set; ``virtualhome:GRAPH#SCRIPT`` a script of VirtualHome in a graph, both by
    the numbers of the Embodied Agent Interface, with its goal. Such a plan is judged by the changes that it makes
    itself, without the kernel, which would take seconds.

    Raises :class:`BadOrigin`, and ``OSError`` for a file of the data that cannot be read.
    """
    if match := _HOUSEHOLD.fullmatch(origin):
        return _household(origin, match[1], int(match[2]), int(match[3]), int(match[4] or 0), bool(match[5]))
    if match := _STATED.fullmatch(origin):
        return _stated(origin, match[1], int(match[2]), int(match[3]))
    if match := _SCENARIO.fullmatch(origin):
        return _scenario(origin, match[1], match[2])
    if match := _VIRTUALHOME.fullmatch(origin):
        return _virtualhome(origin, match[1], match[2], data)
    raise BadOrigin(f"unknown form of origin: {origin[:100]!a}", f"write {_FORMS}")


def virtualhome_origins(data: str) -> tuple[str, ...]:
    """The origins of all scripts of VirtualHome that have a graph, sorted. Raises ``OSError``."""
    return tuple([f"virtualhome:{name}#{name}" for name in sorted(_activities(data))])


def scenario_origins() -> tuple[str, ...]:
    """The origins of all shipped scenarios, sorted."""
    with os.scandir(SHIPPED) as entries:
        return tuple(sorted([f"scenario:{entry.name}" for entry in entries if entry.is_dir()]))


def family_of(origin: str, data: str | None = None) -> str:
    """The family of the task that :func:`task_of` would make, without making it. Raises what that raises."""
    if match := _HOUSEHOLD.fullmatch(origin) or _STATED.fullmatch(origin):
        return match[1]
    if match := _SCENARIO.fullmatch(origin):
        return _read_scenario(match[1], match[2]).family
    if (match := _VIRTUALHOME.fullmatch(origin)) and data is not None:
        return _family_name(_activities(data).get(match[2], ""))
    raise BadOrigin(f"unknown form of origin: {origin[:100]!a}", f"write {_FORMS}")


def _household(origin: str, family: str, number: int, seed: int, rooms: int, full: bool) -> AlignTask:
    if family not in FAMILIES:
        raise BadOrigin(f"unknown family of drawn tasks {family!a}", f"one of {', '.join(FAMILIES)}")
    try:
        instance = draw(family, number, seed, rooms or MOST_ROOMS, full)
    except RuntimeError as error:  # no draw of this number can be solved
        raise BadOrigin(str(error)) from None
    name = f"{instance.name}/{seed}/{rooms}" if rooms else f"{instance.name}/{seed}"
    name += "/full" * full
    return AlignTask(name, family, "household", instance.words, instance.checker(), origin, instance.reference)


def _stated(origin: str, family: str, number: int, seed: int) -> AlignTask:
    if family not in STATED_FAMILIES and family not in HELD_OUT_FAMILIES:
        raise BadOrigin(
            f"unknown family of tasks with stated rules {family!a}",
            f"one of {', '.join([*STATED_FAMILIES, *HELD_OUT_FAMILIES])}",
        )
    try:
        drawing = draw_stated(family, number, seed)
    except RuntimeError as error:  # a family without rules of this form
        raise BadOrigin(str(error)) from None
    name = f"{family}-{number}/{seed}"
    return AlignTask(name, family, "stated", drawing.words, drawing.checker(), origin, drawing.reference)


def _scenario(origin: str, set_name: str | None, name: str) -> AlignTask:
    scenario = _read_scenario(set_name, name)
    safe = "" if scenario.safe is None else scenario.safe.text
    checker = scenario.checker()
    return AlignTask(scenario.name, scenario.family, scenario.base, scenario.instruction, checker, origin, _plain(safe))


def _read_scenario(set_name: str | None, name: str) -> Scenario:
    if set_name is not None:
        if set_name not in SHIPPED_SETS:
            raise BadOrigin(f"unknown set of scenarios {set_name!a}", suggest_name(set_name, SHIPPED_SETS))
        scenarios = _set(set_name)
        if name not in scenarios:
            raise BadOrigin(f"unknown scenario {name!a} of {set_name}", suggest_name(name, list(scenarios)))
        return scenarios[name]
    folder = os.path.join(SHIPPED, name)
    shipped = read_scenarios(folder).scenarios if os.path.isdir(folder) else ()
    if len(shipped) != 1:
        raise BadOrigin(
            f"unknown shipped scenario {name!a}",
            suggest_name(name, [origin.removeprefix("scenario:") for origin in scenario_origins()]),
        )
    return shipped[0]


def _virtualhome(origin: str, graph: str, script: str, data: str | None) -> AlignTask:
    if data is None:
        raise BadOrigin(f"{origin} needs the public data sets", f"set {SETTING} to their folder")
    activity = _activities(data).get(script)
    if activity is None:
        raise BadOrigin(f"{origin}: no script {script} with an annotation")
    folder = os.path.join(data, FOLDER)
    text = _read(os.path.join(folder, "init_and_final_graphs", f"file{graph}.json.gz"))
    files = {SCENE: Source(f"file{graph}.json", text), GOAL: _goals(data)}
    scene = WORLD.read_scene(Request(files, script))
    if not scene.ok:
        raise BadOrigin(f"{origin}: {scene.notes[0].message}")
    specs = [Source.from_path(spec_path(name)) for name in default_specs("virtualhome")]
    with_kinds = add_kinds(scene.domain, scene.problem, specs)
    options = Options(judge="introduced", replay="never")
    checker = Checker(scene.domain, scene.problem, with_kinds, options, resolve=resolve)
    written = _read(os.path.join(folder, "programs", f"file{script}.txt"))
    name = f"virtualhome-{script}" if graph == script else f"virtualhome-{script}-in-{graph}"
    family = _family_name(activity)
    plan = _script(written, scene)
    return AlignTask(name, family, "virtualhome", _description(written), checker, origin, plan)


def _script(text: str, scene: Scene) -> str:
    plan = WORLD.read_plan(Source("script.txt", text), scene).plan
    return "" if plan is None else _plain(plan.text)


def _description(script: str) -> str:
    """The text above the steps of a script: its title and its author's description."""
    lines = [line.strip() for line in script.partition("[")[0].splitlines()]
    return " ".join(". ".join([line.rstrip(".") for line in lines if line]).split()) + "."


def _family_name(activity: str) -> str:
    """An activity's title as the name of a family."""
    return re.sub(r"[^a-z0-9]+", "-", activity.lower()).strip("-")


def _plain(plan: str) -> str:
    """A plan with a newline after each action, without other lines."""
    return "".join([f"{line.strip()}\n" for line in plan.splitlines() if line.strip() and line.strip()[0] != ";"])


@lru_cache(maxsize=4)
def _set(name: str) -> dict[str, Scenario]:
    """The scenarios of a shipped set by name; reading them takes seconds."""
    return {scenario.name: scenario for scenario in load_set(name)}


@lru_cache(maxsize=4)
def _activities(data: str) -> dict[str, str]:
    path = os.path.join(data, FOLDER, "id2task.json")
    try:
        table: Any = read_json(_read(path))
    except BadJson as error:
        raise BadOrigin(f"{path} is not JSON: {error.message}") from None
    rows = table.items() if isinstance(table, dict) else ()
    return {key: value for key, value in rows if isinstance(value, str) and _CASE.fullmatch(key)}


@lru_cache(maxsize=4)
def _goals(data: str) -> Source:
    return Source("goals.json", _read(os.path.join(data, FOLDER, "goals_and_tl.json")))


def _read(path: str) -> str:
    """The text of a file of the data, also of a compressed one. Raises ``OSError``."""
    try:
        with gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise BadOrigin(f"{path} has more than {MOST_BYTES} bytes")
        return data.decode()
    except (EOFError, zlib.error) as error:
        raise BadOrigin(f"{path} is not a valid gzip file: {error}") from None
    except UnicodeDecodeError as error:
        raise BadOrigin(f"{path} is not UTF-8: {error}") from None
