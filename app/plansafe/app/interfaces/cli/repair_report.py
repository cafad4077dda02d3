"""Shared parts of ``repair`` and ``diagnose``: their options, their setup, and the writing of results."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, TextIO

from plansafe.app.interfaces.cli.configuration import ProjectSelection, configure, with_flags
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
from plansafe.app.session.diagnosis import Examined
from plansafe.app.session.model import Settings
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import Guard, NotWritten, problem, save
from plansafe.app.system.process import REPORT, limit_memory, print_text, remark
from plansafe.app.system.progress import tell
from plansafe.app.system.terminal_text import Style

STDOUT = "-"
SEARCHING = "searching for the nearest safe plan .."
_DOT = b"digraph"


class DiagnosisFormat(StrEnum):
    """Formats of ``diagnose``."""

    FULL = "full"
    JSON = "json"


class Format(StrEnum):
    """Formats of ``repair``."""

    FULL = "full"
    JSON = "json"
    SARIF = "sarif"


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

    form: StrEnum = choice(
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


class SearchSetup(NamedTuple):
    """The format, the time limit of a search and the settings of an audit, from the options and the project file."""

    form: Format
    seconds: float
    settings: Settings


def begin(options: SearchOptions) -> SearchSetup:
    """Read the project file, and limit the memory of this process."""
    settings = with_flags(
        Settings(**options.settings()),
        options.ignore_rules,
        options.select_rules,
        options.kinds,
        options.assume_harmless,
    )
    selection = ProjectSelection(options.plans, options.no_project, options.show_config)
    forms = tuple(DiagnosisFormat)  # SARIF in a project file is for audits
    configured = configure(options, selection, settings, options.form.value, options.memory_limit, forms)
    settings = configured.settings._replace(hashes=configured.form == Format.JSON, time_limit=Settings().time_limit)
    settings = with_folders(settings, list(options.plans))
    limit_memory(configured.memory)
    return SearchSetup(Format(configured.form), configured.settings.time_limit, settings)


def seconds_of(limit: float) -> float | None:
    """Check a time limit; ``None``: no limit. Raises :class:`BadOption`."""
    if not math.isfinite(limit):
        raise BadOption("--time-limit takes a number of seconds")
    return limit or None


def one_output(flag: str, output: str | None, plans: Sequence[str], settings: Settings) -> tuple[list[str], Guard]:
    """The plans, and the files that must not be replaced; checked before a long search.

    Raises :class:`BadOption` for an output with more than one plan, and :class:`NotWritten` for an unusable path.
    """
    paths = expand(list(plans), settings)
    protected = guard(paths, settings)
    if output is not None and len(paths) > 1:
        raise BadOption(f"{flag} takes one plan, not {len(paths)}", "name one plan")
    path_problem = problem(output, protected)
    if path_problem is not None:
        raise NotWritten(path_problem)
    return paths, protected


class View(Protocol):
    """Renders the results for plans."""

    def plan(self, examined: Examined, written: str | None = None) -> str:
        """Render one plan."""

    def end(self) -> str:
        """Render the text that follows the last plan."""


def view_of(form: Format, settings: Settings, style: Style, changes: bool, list_all: bool = False) -> View:
    """The renderer of a format."""
    if form is Format.JSON:
        from plansafe.app.render.repair_json import RepairJsonRenderer  # noqa: PLC0415 - loaded only for output
        from plansafe.app.system.version import version  # noqa: PLC0415

        return RepairJsonRenderer(settings, version())
    if form is Format.SARIF:
        from plansafe.app.render.sarif import RepairSarifRenderer  # noqa: PLC0415 - loaded only for output
        from plansafe.app.system.version import version  # noqa: PLC0415

        return RepairSarifRenderer(settings, version())
    from plansafe.app.render.repair import RepairRenderer  # noqa: PLC0415 - loaded only for output

    return RepairRenderer(style, changes, list_all)


def write_results(
    results: Iterator[Examined], view: View, stream: TextIO, output: str | None, protected: Guard, graph: bool = False
) -> int:
    """Print the results; write the repaired plan (with ``graph``: the graph) to ``output``, unless it is protected."""
    codes = set()
    tell(SEARCHING)
    for examined in results:
        tell("")
        code, saved = examined.exit_code, None
        text = examined.graph if graph else examined.text
        if output is not None and text is not None:
            _save(
                output, text, protected._replace(inputs={*protected.inputs, *[i.path for i in examined.result.inputs]})
            )
            saved = output
        codes.add(code)
        stream.write(view.plan(examined, saved))
        stream.flush()
        if examined.result.failure is not None:
            print(examined.result.failure + REPORT, file=sys.stderr)
        tell(SEARCHING)
    tell("")
    stream.write(view.end())
    stream.flush()
    return combined_exit_code(codes)


def is_another_file(path: str) -> bool:
    """Whether a file exists and is not a graph in DOT."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(_DOT)) not in (_DOT, b"")
    except OSError:
        return False


def _save(output: str, text: str, protected: Guard) -> None:
    """Write a text to standard output or to a file. Raises :class:`NotWritten`."""
    if output == STDOUT:
        print_text(text)
    else:
        remark(save(output, text, protected))
