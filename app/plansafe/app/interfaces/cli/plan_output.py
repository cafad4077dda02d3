"""What the commands around a model's plan do with it: print it, write it if it is safe, write the calls."""

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
    """How the result is written."""

    FULL = "full"
    JSON = "json"


class Out(NamedTuple):
    """Where things are written, and how; ``goal``: the goal alone is asked for. ``inputs`` are files that are read."""

    plan: str | None
    transcript: str | None
    form: Format
    color: str
    goal: bool = False
    inputs: tuple[str, ...] = ()


def planned(
    make: Callable[[Settings], Proposal | Diagnostic], settings: Settings, options: ModelOptions, out: Out
) -> int:
    """Plan, print, write: the plan only if it is safe, and everything only when it is whole."""
    from plansafe.llm.loop.transcript import lines  # noqa: PLC0415 - for these commands alone

    if out.transcript in STANDARD_OUTPUT or (out.transcript is not None and out.transcript == out.plan):
        raise BadOption("--transcript takes a file of its own")
    recorded = options.name.removeprefix("replay/") if options.name.startswith("replay/") else None
    read = [path for path in (options.reference, recorded, options.cache) if path is not None]
    kept = guard([*read, *out.inputs], settings)
    place = _STDOUT if out.plan in STANDARD_OUTPUT else out.plan
    for name in (place, out.transcript):
        wrong = unwritten(name, kept)
        if wrong is not None:
            raise NotWritten(wrong)
    made = make(settings)
    if isinstance(made, Diagnostic):
        return complain(made)
    kept = kept._replace(inputs={*kept.inputs, *[used.path for used in made.result.inputs]})
    if out.transcript is not None and (made.planned is not None or made.before):
        remark(save(out.transcript, "".join(lines(made.planned, made.before)), kept))
    if out.goal and made.goal is not None:
        print_text(f"{made.goal.text}\n")
        return 0
    saved = None
    if place is not None and made.exit_code == 0 and made.text is not None:
        saved = place
        if place == _STDOUT:
            print_text(made.text)
        else:
            remark(save(place, made.text, kept))
    stream = sys.stderr if place == _STDOUT else standard_output()
    if out.form is Format.JSON:
        stream.write(PlannedJsonRenderer(settings).plan(made, saved))
    else:
        stream.write(PlannedRenderer(terminal(out.color, stream)).plan(made, saved))
    stream.flush()
    if made.result.failure is not None:
        print(made.result.failure + REPORT, file=sys.stderr)
    return made.exit_code
