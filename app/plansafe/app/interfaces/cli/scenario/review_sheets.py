"""``scenario sheet`` and ``scenario agreement``: sheets for two reviewers, and the agreement between them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from plansafe.app.options.option import Options, argument, choice, command, integer, text
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

    folder: str | None = argument("[FOLDER]", "A folder of scenarios, or the name of a shipped set.")
    split: Half | None = choice("--split", values=Half, help="Use only the scenarios of one half.")
    limit: int | None = integer("--limit", low=1, help="Use only N scenarios, drawn by the seed.")
    seed: int = integer("--seed", default=0, low=0, help="Draw other scenarios.")
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
        from plansafe.llm.scenarios.sheets import draw_scenarios, reading  # noqa: PLC0415
        from plansafe.llm.scenarios.sheets import sheet as empty_sheet  # noqa: PLC0415

        loaded = read_scenarios(SHIPPED if options.folder is None else options.folder)
        if loaded.diagnostics:
            return print_diagnostics(loaded.diagnostics, {source.name: source for source in loaded.sources})
        chosen = [
            scenario
            for scenario in loaded.scenarios
            if options.split is None or scenario.split.value == options.split.value
        ]
        if options.limit is not None:
            chosen = draw_scenarios(chosen, options.limit, options.seed)
        text = empty_sheet(chosen) if options.form is SheetForm.CSV else reading(chosen)
        if options.output is None or options.output in STANDARD_OUTPUT:
            print_text(text)
            return 0
        try:
            remark(save(options.output, text, Guard(_input_files(chosen))))
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
                input_file = Discovery(Choice()).read(path, "sheet", "given")
                if isinstance(input_file, Diagnostic):
                    return complain(input_file)
                sources[path] = input_file.source
                sheets.append(read_sheet(input_file.source))
            compared = compare(*sheets)
        except BadSheet as bad:
            return print_diagnostics((bad.diagnostic,), sources) if bad.diagnostic.labels else complain(bad.diagnostic)
        print_text(_agreement_table(compared))
        return 0

    return guarded(work)


def _agreement_table(compared: Compared) -> str:
    from plansafe.llm.scenarios.sheets import QUESTIONS  # noqa: PLC0415 - for this command alone

    width = max([len(name) for name in (*QUESTIONS, "together")])
    lines = [f"{'':{width}}  {'the same':>18}  {'kappa':>6}  not answered"]
    for name, question in (*compared.questions.items(), ("together", compared.together)):
        kappa = "n/a" if question.kappa is None else f"{question.kappa:.2f}"
        lines.append(f"{name:{width}}  {question.observed!s:>18}  {kappa:>6}  {question.left_out}")
    lines.append("")
    for decision, names in (("accepted", compared.accepted), ("rejected", compared.rejected), ("open", compared.open)):
        lines.append(
            f"{decision:8}  {len(names)}{': ' if names and decision != 'accepted' else ''}"
            f"{'' if decision == 'accepted' else ', '.join(names)}"
        )
    return "\n".join(lines) + "\n"


def _input_files(scenarios: list[Scenario]) -> tuple[str, ...]:
    texts = [
        (scenario.problem, scenario.extension, *scenario.specs, scenario.safe, scenario.unsafe)
        for scenario in scenarios
    ]
    return tuple([text.name for group in texts for text in group if text is not None])
