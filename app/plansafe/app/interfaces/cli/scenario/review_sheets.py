"""``scenario sheet`` and ``scenario agreement``: scenarios judged by two people, and how far these agree."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from plansafe.app.options.option import Options, argument, choice, command, text
from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.render.diagnostics import print_diagnostics
from plansafe.app.system.file_writing import STANDARD_OUTPUT, Guard, NotWritten, save
from plansafe.app.system.process import complain, guarded, print_text, remark
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.llm.scenarios.model import Scenario
    from plansafe.llm.scenarios.sheets import Compared


class SheetForm(StrEnum):
    """How scenarios are laid out for people."""

    CSV = "csv"
    MARKDOWN = "markdown"


class Half(StrEnum):
    """Which scenarios: one half of them."""

    DEVELOPMENT = "dev"
    TEST = "test"


class SheetOptions(Options):
    """The options of ``scenario sheet``."""

    folder: str | None = argument("[FOLDER]", "A folder of scenarios. Default: the shipped ones.")
    split: Half | None = choice("--split", values=Half, help="Use only the scenarios of one half.")
    form: SheetForm = choice(
        "--format", values=SheetForm, default=SheetForm.CSV, help="Write a table to fill in, or a text to read."
    )
    output: str | None = text("--output", "-o", metavar="FILE", help="Write to a file, not to standard output.")


class AgreementOptions(Options):
    """The options of ``scenario agreement``."""

    first: str = argument("A.csv", "The sheet of one person.", required=True)
    second: str = argument("B.csv", "The same sheet, filled in by another person.", required=True)


@command(SheetOptions)
def sheet(options: SheetOptions) -> int:
    """Write a sheet on which a person judges scenarios: questions, and what each scenario says.

    Two people fill in a copy each; `safecheck bench scenario agreement` compares them. Exit codes: 0; 2 a folder that
    cannot be read.
    """

    def work() -> int:
        from plansafe.llm.scenarios.reading import SHIPPED, read_scenarios  # noqa: PLC0415 - for this command alone
        from plansafe.llm.scenarios.sheets import reading  # noqa: PLC0415
        from plansafe.llm.scenarios.sheets import sheet as empty_sheet  # noqa: PLC0415

        found = read_scenarios(SHIPPED if options.folder is None else options.folder)
        if found.diagnostics:
            return print_diagnostics(found.diagnostics, {source.name: source for source in found.sources})
        chosen = [one for one in found.scenarios if options.split is None or one.split.value == options.split.value]
        text = empty_sheet(chosen) if options.form is SheetForm.CSV else reading(chosen)
        if options.output is None or options.output in STANDARD_OUTPUT:
            print_text(text)
            return 0
        try:
            remark(save(options.output, text, Guard(_read(chosen))))
        except NotWritten as refused:
            return complain(refused.diagnostic)
        return 0

    return guarded(work)


@command(AgreementOptions)
def agreement(options: AgreementOptions) -> int:
    """Say how far two people agree about scenarios: by question, with Cohen's kappa, and which scenarios both accept.

    A scenario about which they disagree, or of which one says no, is rejected. Exit codes: 0; 2 a sheet that cannot be
    used.
    """

    def work() -> int:
        from plansafe.llm.scenarios.sheets import BadSheet, compare, read_sheet  # noqa: PLC0415 - for this command alone

        sources: dict[str, Source] = {}
        try:
            sheets = []
            for path in (options.first, options.second):
                read = Discovery(Choice()).read(path, "sheet", "given")
                if isinstance(read, Diagnostic):
                    return complain(read)
                sources[path] = read.source
                sheets.append(read_sheet(read.source))
            compared = compare(*sheets)
        except BadSheet as bad:
            return print_diagnostics((bad.diagnostic,), sources) if bad.diagnostic.labels else complain(bad.diagnostic)
        print_text(_shown(compared))
        return 0

    return guarded(work)


def _shown(compared: Compared) -> str:
    from plansafe.llm.scenarios.sheets import QUESTIONS  # noqa: PLC0415 - for this command alone

    width = max([len(name) for name in (*QUESTIONS, "together")])
    lines = [f"{'':{width}}  {'the same':>18}  {'kappa':>6}  not answered"]
    for name, found in (*compared.questions.items(), ("together", compared.together)):
        kappa = "n/a" if found.kappa is None else f"{found.kappa:.2f}"
        lines.append(f"{name:{width}}  {found.observed!s:>18}  {kappa:>6}  {found.left_out}")
    lines.append("")
    for what, names in (("accepted", compared.accepted), ("rejected", compared.rejected), ("open", compared.open)):
        lines.append(
            f"{what:8}  {len(names)}{': ' if names and what != 'accepted' else ''}"
            f"{'' if what == 'accepted' else ', '.join(names)}"
        )
    return "\n".join(lines) + "\n"


def _read(scenarios: list[Scenario]) -> tuple[str, ...]:
    texts = [(one.problem, one.extension, *one.specs, one.safe, one.unsafe) for one in scenarios]
    return tuple([text.name for group in texts for text in group if text is not None])
