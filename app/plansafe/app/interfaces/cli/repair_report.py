"""What ``repair`` and ``diagnose`` share: their options, how they begin, and how results are written."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, TextIO

from plansafe.app.interfaces.cli.configuration import Asked, configure, with_flags
from plansafe.app.options.option import changed, choice, text
from plansafe.app.options.shared import (
    Assignments,
    ColorOption,
    GateOption,
    HomeOption,
    LtlOption,
    MemoryLimit,
    NoProject,
    NoRulesOption,
    PlanArguments,
    ReadingOptions,
    RuleChoices,
    ShowConfig,
    SpecFiles,
    TaskFiles,
    TimeLimit,
    TypeOptions,
    VerdictOptions,
    WorldOptions,
)
from plansafe.app.session.audit import combined_exit_code, expand, guard, with_folders
from plansafe.app.session.model import Settings
from plansafe.app.session.option_values import BadOption
from plansafe.app.session.repair import Examined
from plansafe.app.system.file_writing import Guard, NotWritten, problem, save
from plansafe.app.system.process import REPORT, limit_memory, print_text, remark
from plansafe.app.system.progress import tell
from plansafe.app.system.terminal_text import Style

STDOUT = "-"
SEARCHING = "looking for the nearest safe plan .."
_DOT = b"digraph"


class Format(StrEnum):
    """How results are written."""

    FULL = "full"
    JSON = "json"


class SearchOptions(
    PlanArguments,
    TaskFiles,
    WorldOptions,
    ReadingOptions,
    TypeOptions,
    SpecFiles,
    LtlOption,
    HomeOption,
    RuleChoices,
    GateOption,
    NoRulesOption,
    VerdictOptions,
    TimeLimit,
    ColorOption,
    MemoryLimit,
    NoProject,
    ShowConfig,
    Assignments,
    group="Output",
):
    """The options that ``repair`` and ``diagnose`` share."""

    form: Format = choice(
        "--format",
        values=Format,
        default=Format.FULL,
        help="Write the result in this format.",
        key="format",
        in_project=True,
    )
    max_cost: str | None = text(
        "--max-cost",
        metavar="COST",
        help="Find only repairs of at most this cost; default: search until the time limit.",
        group="Search",
    )
    time_limit: float = changed(TimeLimit.time_limit)


class Begun(NamedTuple):
    """What is in force with the project file: the format, the seconds of a search, the settings of an audit."""

    form: Format
    seconds: float
    settings: Settings


def begin(options: SearchOptions) -> Begun:
    """Read the project file, and limit the memory from here on."""
    settings = with_flags(
        Settings(**options.settings()),
        options.ignore_rules,
        options.select_rules,
        options.kinds,
        options.assume_harmless,
    )
    asked = Asked(options.plans, options.no_project, options.show_config)
    now = configure(options, asked, settings, options.form.value, options.memory_limit, tuple(Format))
    settings = now.settings._replace(hashes=now.form == Format.JSON, time_limit=Settings().time_limit)
    settings = with_folders(settings, list(options.plans))
    limit_memory(now.memory)
    return Begun(Format(now.form), now.settings.time_limit, settings)


def seconds_of(limit: float) -> float | None:
    """Read a time limit; ``None``: no limit. Raises :class:`BadOption`."""
    if not math.isfinite(limit):
        raise BadOption("--time-limit takes a number of seconds")
    return limit or None


def one_output(flag: str, output: str | None, plans: Sequence[str], settings: Settings) -> tuple[list[str], Guard]:
    """The plans, of which there must be one where something is written for it; better known before a long search.

    With them, what may not be written over.
    """
    paths = expand(list(plans), settings)
    kept = guard(paths, settings)
    if output is not None and len(paths) > 1:
        raise BadOption(f"{flag} takes one plan, not {len(paths)}", "name one plan")
    wrong = problem(output, kept)
    if wrong is not None:
        raise NotWritten(wrong)
    return paths, kept


class View(Protocol):
    """Writes what was found out about plans."""

    def plan(self, examined: Examined, written: str | None = None) -> str:
        """Render one plan."""


def view_of(form: Format, settings: Settings, style: Style, changes: bool, every: bool = False) -> View:
    """The renderer of a format."""
    if form is Format.JSON:
        from plansafe.app.render.repair_json import RepairJsonRenderer  # noqa: PLC0415 - where something is shown
        from plansafe.app.system.version import version  # noqa: PLC0415

        return RepairJsonRenderer(settings, version())
    from plansafe.app.render.repair import RepairRenderer  # noqa: PLC0415 - where something is shown

    return RepairRenderer(style, changes, every)


def write_results(
    results: Iterator[Examined], view: View, stream: TextIO, output: str | None, kept: Guard, graph: bool = False
) -> int:
    """Print what was found out; write the repaired plan, or else the graph, to ``output``, over nothing ``kept``."""
    codes = set()
    tell(SEARCHING)
    for examined in results:
        tell("")
        code, saved = examined.exit_code, None
        text = examined.graph if graph else examined.text
        if output is not None and text is not None:
            _save(output, text, kept._replace(inputs={*kept.inputs, *[i.path for i in examined.result.inputs]}))
            saved = output
        codes.add(code)
        stream.write(view.plan(examined, saved))
        stream.flush()
        if examined.result.failure is not None:
            print(examined.result.failure + REPORT, file=sys.stderr)
        tell(SEARCHING)
    tell("")
    return combined_exit_code(codes)


def is_another_file(path: str) -> bool:
    """Whether a file is there that is no graph in DOT."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(_DOT)) not in (_DOT, b"")
    except OSError:
        return False


def _save(output: str, text: str, kept: Guard) -> None:
    """Raises :class:`NotWritten`."""
    if output == STDOUT:
        print_text(text)
    else:
        remark(save(output, text, kept))
