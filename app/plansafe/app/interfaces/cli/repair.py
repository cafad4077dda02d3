"""The command ``repair``: the nearest safe plan, by search or first by a language model."""

from __future__ import annotations

import sys

from plansafe.app.interfaces.cli.command_frame import usable
from plansafe.app.interfaces.cli.plan_output import Format as PlannedFormat
from plansafe.app.interfaces.cli.plan_output import Out, planned
from plansafe.app.interfaces.cli.repair_report import (
    SEARCHING,
    STDOUT,
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
from plansafe.llm.loop.model import Style, Wishes
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
        help="Weigh insert, delete, substitute and move by these costs; 1 each.",
    )
    every: bool = switch("--all", help="List all repairs of the least cost in full.", group="Output")
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

    What `--judge` leaves out of the verdict may stay as it is: in a world, hazards that were there before. Every new
    step must be needed; every repair is replayed before it is shown. With --model a language model repairs the plan
    first, and this search is the last resort. Exit codes: 0 a safe plan (also if it was safe before), 1 PROVED that
    there is none, 2 usage or unreadable file, 3 NOT FOUND within the limits, 4 a bug in safecheck. A batch returns the
    first present of 4, 2, 1, 3, 0.
    """
    form, seconds, settings = begin(options)

    def work() -> int:
        search = Search(
            weights=read_weights(options.weights) if options.weights else Search().weights,
            protected=read_steps("--protect", options.protect),
            max_cost=read_max_cost(options.max_cost),
            time_limit_s=seconds_of(seconds),
        )
        place = STDOUT if options.output in STANDARD_OUTPUT else options.output
        paths, kept = one_output("--output", place, options.plans, settings)
        if options.model is not None:
            return _repaired_by_model(options, options.model, paths, settings, search, PlannedFormat(form.value))
        examined = examine(paths, settings, ExaminationOptions(search, progress=SearchProgress(SEARCHING)))
        stream = sys.stderr if place == STDOUT else standard_output()
        view = view_of(form, settings, terminal(options.color, stream), changes=True, every=options.every)
        return write_results(examined, view, stream, place, kept)

    return guarded(lambda: usable(settings, work))


def _repaired_by_model(
    options: RepairOptions, model: str, paths: list[str], settings: Settings, search: Search, form: PlannedFormat
) -> int:
    """Let a model repair one plan; the engine has the last word."""
    from plansafe.app.session.model_plan import (  # noqa: PLC0415 - loads the loop
        ModelOptions,
        PlanRequest,
        repair_with_model,
    )

    wishes = Wishes(
        rounds=options.rounds,
        feedback=Style(options.feedback),
        last_resort=options.last_resort,
        repair=search,
        accept_remarks=settings.accept_remarks,
    )
    out = Out(options.output, options.transcript, form, options.color, inputs=tuple(paths))
    if len(paths) != 1:
        raise BadOption(f"--model takes one plan, not {len(paths)}", "name one plan")
    asked = PlanRequest(options.words, wishes)
    named = ModelOptions(model, options.base_url, options.cache, not options.no_cache)
    return planned(lambda using: repair_with_model(paths[0], using, asked, named), settings, named, out)
