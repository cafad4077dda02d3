"""The command ``repair``: find the nearest safe plan, by search or first with a language model."""

from __future__ import annotations

import sys

from plansafe.app.interfaces.cli.command_frame import usable
from plansafe.app.interfaces.cli.plan_output import Format as PlannedFormat
from plansafe.app.interfaces.cli.plan_output import OutputOptions, plan_and_report
from plansafe.app.interfaces.cli.repair_report import (
    SEARCHING,
    STDOUT,
    Format,
    SearchOptions,
    begin,
    one_output,
    seconds_of,
    view_of,
    write_results,
)
from plansafe.app.options.option import command, switch, text
from plansafe.app.options.shared import ModelRetries, ModelServer, OptionalModel, Transcript
from plansafe.app.session.model import Settings
from plansafe.app.session.option_values import BadOption, read_max_cost, read_steps, read_weights
from plansafe.app.session.repair import ExaminationOptions, examine
from plansafe.app.system.file_writing import STANDARD_OUTPUT
from plansafe.app.system.process import guarded, standard_output, terminal
from plansafe.app.system.progress import SearchProgress
from plansafe.llm.loop.model import PlanOptions, Style
from plansafe.verifier.repair.model import RepairOptions as Search


class RepairOptions(SearchOptions, OptionalModel, ModelRetries, ModelServer, Transcript, group="Search"):
    """The options of ``repair``."""

    protect: tuple[str, ...] = text(
        "--protect", metavar="STEPS", many=True, help="Keep these steps, such as `3,5-7`. May be repeated."
    )
    weights: str = text(
        "--weights",
        metavar="KIND=COST,..",
        default="",
        help="Use these costs for insert, delete, substitute, move and replace (an object); default: 1 each.",
    )
    list_all: bool = switch("--all", help="List all repairs with the lowest cost in full.", group="Output")
    output: str | None = text(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the repaired plan to a file (`-`: to standard output, and the report to standard error).",
        group="Output",
    )
    words: str = text(
        "--words", metavar="WORDS", default="", help="Describe the task to the model in these words.", group="Model"
    )


@command(RepairOptions)
def repair(options: RepairOptions) -> int:
    """Find the nearest safe plan: the fewest steps to insert, delete, replace or move until a plan is SAFE.

    Violations that `--judge` leaves out of the verdict may remain: in a world, pre-existing hazards. A repair has no
    unneeded new step, and is replayed before it is shown. With --model, a language model repairs the plan first, and
    the search is the last resort. Exit codes: 0 a safe plan (also without a repair), 1 PROVED that no repair exists, 2
    usage or unreadable file, 3 NOT FOUND within the limits, 4 a bug in safecheck. A batch returns the first present of
    4, 2, 1, 3, 0.
    """
    form, seconds, settings = begin(options)

    def work() -> int:
        search = Search(
            weights=read_weights(options.weights) if options.weights else Search().weights,
            protected=read_steps("--protect", options.protect),
            max_cost=read_max_cost(options.max_cost),
            time_limit_s=seconds_of(seconds),
        )
        output_path = STDOUT if options.output in STANDARD_OUTPUT else options.output
        paths, protected_files = one_output("--output", output_path, options.plans, settings)
        if options.model is not None:
            if form is Format.SARIF:
                raise BadOption("--model does not write SARIF", "leave --model out, or use --format json")
            return _repair_with_model(options, options.model, paths, settings, search, PlannedFormat(form.value))
        examined = examine(paths, settings, ExaminationOptions(search, progress=SearchProgress(SEARCHING)))
        stream = sys.stderr if output_path == STDOUT else standard_output()
        view = view_of(form, settings, terminal(options.color, stream), changes=True, list_all=options.list_all)
        return write_results(examined, view, stream, output_path, protected_files)

    return guarded(lambda: usable(settings, work))


def _repair_with_model(
    options: RepairOptions, model: str, paths: list[str], settings: Settings, search: Search, form: PlannedFormat
) -> int:
    """Let a model repair one plan; the search is the last resort."""
    from plansafe.app.session.model_plan import (  # noqa: PLC0415 - loads the loop
        ModelOptions,
        PlanRequest,
        repair_with_model,
    )

    wishes = PlanOptions(
        rounds=options.rounds,
        feedback=Style(options.feedback),
        last_resort=options.last_resort,
        repair=search,
        accept_remarks=settings.accept_remarks,
    )
    output_options = OutputOptions(options.output, options.transcript, form, options.color, inputs=tuple(paths))
    if len(paths) != 1:
        raise BadOption(f"--model takes one plan, not {len(paths)}", "name one plan")
    request = PlanRequest(options.words, wishes)
    model_options = ModelOptions(model, options.base_url, options.cache, not options.no_cache)
    return plan_and_report(
        lambda used_settings: repair_with_model(paths[0], used_settings, request, model_options),
        settings,
        model_options,
        output_options,
    )
