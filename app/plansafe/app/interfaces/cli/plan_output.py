"""The output of ``plan`` and ``repair --model``: print the plan, write it if it is safe, write the transcript."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.render.planned import PlannedJsonRenderer, PlannedRenderer
from plansafe.app.session.audit import guard
from plansafe.app.session.model import Settings
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import STANDARD_OUTPUT, NotWritten, save
from plansafe.app.system.file_writing import problem as unwritten
from plansafe.app.system.process import REPORT, complain, print_text, remark, standard_output, terminal
from plansafe.grammar.diagnostics import Diagnostic

if TYPE_CHECKING:
    from plansafe.app.session.model_plan import ModelOptions, Proposal

_STDOUT = "-"


class Format(StrEnum):
    """Formats of the result."""

    FULL = "full"
    JSON = "json"


class OutputOptions(NamedTuple):
    """The files to write and the format. ``goal``: print only the goal. ``inputs``: files that the command reads."""

    plan: str | None
    transcript: str | None
    form: Format
    color: str
    goal: bool = False
    inputs: tuple[str, ...] = ()


def plan_and_report(
    propose: Callable[[Settings], Proposal | Diagnostic],
    settings: Settings,
    options: ModelOptions,
    output: OutputOptions,
) -> int:
    """Make a plan and print the report. Write the plan only if it is safe."""
    from plansafe.llm.loop.transcript import lines  # noqa: PLC0415 - for these commands alone

    if output.transcript in STANDARD_OUTPUT or (output.transcript is not None and output.transcript == output.plan):
        raise BadOption("--transcript needs a separate file")
    recording = options.name.removeprefix("replay/") if options.name.startswith("replay/") else None
    input_paths = [path for path in (options.reference, recording, options.cache) if path is not None]
    protected = guard([*input_paths, *output.inputs], settings)
    plan_path = _STDOUT if output.plan in STANDARD_OUTPUT else output.plan
    for name in (plan_path, output.transcript):
        problem = unwritten(name, protected)
        if problem is not None:
            raise NotWritten(problem)
    proposed = propose(settings)
    if isinstance(proposed, Diagnostic):
        return complain(proposed)
    protected = protected._replace(inputs={*protected.inputs, *[used.path for used in proposed.result.inputs]})
    if output.transcript is not None and (proposed.planned is not None or proposed.before):
        remark(save(output.transcript, "".join(lines(proposed.planned, proposed.before)), protected))
    if output.goal and proposed.goal is not None:
        print_text(f"{proposed.goal.text}\n")
        return 0
    saved_to = None
    if plan_path is not None and proposed.exit_code == 0 and proposed.text is not None:
        saved_to = plan_path
        if plan_path == _STDOUT:
            print_text(proposed.text)
        else:
            remark(save(plan_path, proposed.text, protected))
    stream = sys.stderr if plan_path == _STDOUT else standard_output()
    if output.form is Format.JSON:
        stream.write(PlannedJsonRenderer(settings).plan(proposed, saved_to))
    else:
        stream.write(PlannedRenderer(terminal(output.color, stream)).plan(proposed, saved_to))
    stream.flush()
    if proposed.result.failure is not None:
        print(proposed.result.failure + REPORT, file=sys.stderr)
    return proposed.exit_code
