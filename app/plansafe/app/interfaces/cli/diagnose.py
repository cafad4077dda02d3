"""The command ``diagnose``: locate where a plan went wrong, and name the cause."""

from __future__ import annotations

import sys
from enum import StrEnum

from plansafe.app.interfaces.cli.command_frame import usable
from plansafe.app.interfaces.cli.repair_report import (
    SEARCHING,
    STDOUT,
    DiagnosisFormat,
    SearchOptions,
    begin,
    is_another_file,
    one_output,
    seconds_of,
    view_of,
    write_results,
)
from plansafe.app.options.option import changed, choice, command, switch, text
from plansafe.app.options.shared import WorldFiles
from plansafe.app.session.option_values import BadOption, read_max_cost
from plansafe.app.session.repair import ExaminationOptions, examine
from plansafe.app.system.file_writing import STANDARD_OUTPUT
from plansafe.app.system.process import guarded, standard_output, terminal
from plansafe.app.system.progress import SearchProgress
from plansafe.verifier.repair.model import RepairOptions


class Scheme(StrEnum):
    """Published label schemes, which give each plan one label."""

    SAFEL = "safel"
    EAI_VIRTUALHOME = "eai-virtualhome"
    EAI_BEHAVIOR = "eai-behavior"


class DiagnoseOptions(SearchOptions, group="Search"):
    """The options of ``diagnose``."""

    form: StrEnum = changed(
        SearchOptions.form, choices=tuple(DiagnosisFormat), enum=DiagnosisFormat, default=DiagnosisFormat.FULL
    )
    scene: str | None = changed(WorldFiles.scene, flags=("--scene",))
    reference: str | None = text(
        "--reference", metavar="FILE", help="Compare with this correct plan, and locate where the plan leaves it."
    )
    regret: bool = switch("--regret", help="Compute for each step how much longer it made the shortest safe plan.")
    cause: bool = switch("--cause", help="Find the fewest steps and initial facts that suffice for each finding.")
    labels: Scheme | None = choice(
        "--labels",
        values=Scheme,
        help="Print one published label for each plan, and nothing else (docs/metrics.md).",
        group="Output",
    )
    graph: str | None = text(
        "--graph",
        metavar="FILE",
        help="Write the causal links between steps as a graph, in DOT (`-`: only the graph).",
        group="Output",
    )


@command(DiagnoseOptions)
def diagnose(options: DiagnoseOptions) -> int:
    """Locate where a plan went wrong, and name the cause.

    Without options, the report has the error classes, each with a witness; the first violated rule; the first step that
    cannot be executed; and the point of no return, after which no safe plan can reach the goal (from planners; if they
    reach a limit, a range of steps). The exit codes are the same as for `safecheck repair`.
    """
    form, seconds, settings = begin(options)
    if options.labels:  # published schemes have no profiles
        settings = settings._replace(home=None, ignore=(), select=(), classes=(), allow_in_plans=False)

    def work() -> int:
        profile = (options.home, *options.ignore_rules, *options.select_rules, *options.kinds, *options.assume_harmless)
        if options.labels and any([part is not None for part in profile]):
            advice = "leave --home, --ignore, --select, --kind and --assume-harmless out"
            raise BadOption("--labels takes no profile of a home", advice)
        search = RepairOptions(max_cost=read_max_cost(options.max_cost), time_limit_s=seconds_of(seconds))
        graph_path = STDOUT if options.graph in STANDARD_OUTPUT else options.graph
        if graph_path is not None and is_another_file(graph_path):
            # `audit --graph FILE` reads a scene, and `diagnose --graph FILE` would replace it.
            message = f"cannot write {graph_path}: the file exists and is not a graph in DOT"
            raise BadOption(message, "--graph names the file to write; name a scene with --scene")
        paths, protected = one_output("--graph", graph_path, options.plans, settings)
        stream = sys.stderr if graph_path == STDOUT else standard_output()
        view = view_of(form, settings, terminal(options.color, stream), changes=False)
        examination = ExaminationOptions(
            search,
            where=True,
            reference=options.reference,
            regret=options.regret,
            causes=options.cause,
            graph=graph_path is not None,
            labels=options.labels.value if options.labels else None,
            progress=SearchProgress(SEARCHING),
        )
        return write_results(examine(paths, settings, examination), view, stream, graph_path, protected, graph=True)

    return guarded(lambda: usable(settings, work))
