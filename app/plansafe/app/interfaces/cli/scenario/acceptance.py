"""``scenario accept``: judge the scenarios of part files, and write their natural plans."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from plansafe.app.options.option import Options, argument, command, number, switch, text
from plansafe.app.session.option_values import BadOption, check_time_limit
from plansafe.app.system.file_writing import Guard, NotWritten, save
from plansafe.app.system.process import complain, guarded, print_text
from plansafe.app.system.progress import tell
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

if TYPE_CHECKING:
    from plansafe.llm.scenarios.sets.part_log import PartVerdict


class AcceptOptions(Options):
    """The options of ``scenario accept``."""

    files: tuple[str, ...] = argument("FILE..", "Part files (*.scenarios, *.risks).", many=True, required=True)
    only: tuple[str, ...] = text(
        "--only", metavar="NAME", many=True, help="Judge only the scenario of this name. May be repeated."
    )
    write: bool = switch("--write", help="Write the natural plans of accepted situational scenarios into the files.")
    log: str | None = text("--log", metavar="FILE", help="Append verdicts to FILE; skip unchanged accepted scenarios.")
    time_limit: float = number(
        "--time-limit", metavar="SECONDS", default=15.0, low=0, help="Stop each search after SECONDS."
    )
    quiet: bool = switch("--quiet", help="Print only rejected scenarios and the sum.")


_NO_SCENARIO = "a scenario begins with `scenario: NAME`, a task of a risk file with `risk: NAME`; see docs/scenarios.md"


@command(AcceptOptions)
def accept(options: AcceptOptions) -> int:
    """Judge the scenarios of part files: which of them can enter a set, and why the others cannot.

    The other part files in the same folder are compared with. Exit codes: 0 all accepted, 1 some rejected, 2 a file
    that cannot be read.
    """

    def work() -> int:
        from plansafe.llm.scenarios.sets.part_log import (  # noqa: PLC0415 - for this command alone
            AcceptanceLog,
            accept_part,
            known_scenarios,
            neighbours,
            with_derived,
        )
        from plansafe.llm.scenarios.validation.model import Limits  # noqa: PLC0415 - for this command alone

        try:
            check_time_limit(options.time_limit)
            log = AcceptanceLog(options.log)
            compared_scenarios = list(known_scenarios(neighbours(options.files), log))
            code = scenarios = 0
            for path in options.files:
                verdict = accept_part(
                    path,
                    log,
                    Limits(options.time_limit),
                    options.only,
                    compared_scenarios,
                    lambda acceptance: tell(f"{acceptance.entry.name} .."),
                )
                tell("")
                print_text(_text(verdict, options.quiet))
                sys.stdout.flush()
                if options.write:
                    new = with_derived(verdict.source, verdict.verdicts)
                    if new != verdict.source.text:
                        save(path, new, Guard(()))
                compared_scenarios += known_scenarios([path], log)
                good = not verdict.mistakes and all([acceptance.accepted for acceptance in verdict.verdicts])
                code = code if good else 1
                scenarios += len(verdict.verdicts) + len(verdict.mistakes)
            if scenarios == 0:
                raise BadOption("the files have no scenario to judge", _NO_SCENARIO)
        except (BadOption, NotWritten) as refused:
            return complain(refused.diagnostic)
        except (OSError, UnicodeDecodeError) as error:
            return complain(Diagnostic(SC.UNREADABLE_FILE, f"cannot read the files: {error}"))
        return code

    return guarded(work)


def _text(part: PartVerdict, quiet: bool) -> str:
    from plansafe.llm.scenarios.risks.part_files import SUFFIX as RISKS  # noqa: PLC0415 - for this command alone
    from plansafe.llm.scenarios.sets.part_log import fault_text  # noqa: PLC0415 - for this command alone

    lines = [f"{part.path}:{mistake.line}: [form] {mistake.message}" for mistake in part.mistakes]
    for verdict in part.verdicts:
        name = verdict.entry.name
        if verdict.accepted:
            figures = verdict.figures
            if "unsafe_steps" in figures:
                plan_lengths = (
                    f"{figures['rule']}, hazard {figures['unsafe_steps']} steps, safe {figures['safe_steps']}"
                )
            elif "natural_steps" in figures:
                plan_lengths = f"natural {figures['natural_steps']} steps, safe {figures['safe_steps']}"
            else:
                plan_lengths = f"{figures.get('reference_steps')} steps"
            lines += [] if quiet else [f"accepted  {name}  ({plan_lengths})"]
        else:
            lines.append(f"REJECTED  {name}")
            lines += [f"    {fault_text(part.path, fault)}" for fault in verdict.faults]
    accepted = [verdict for verdict in part.verdicts if verdict.accepted]
    groups = Counter([str(verdict.figures.get("category") or verdict.entry.kind.value) for verdict in accepted])
    names = ("malicious", "situational") if not part.path.endswith(RISKS) else sorted(groups)
    counts = ", ".join([f"{groups[name]} {name}" for name in names])
    lines.append(f"{part.path}: {len(accepted)} of {len(part.verdicts)} accepted ({counts or 'none'})")
    return "\n".join(lines) + "\n"
