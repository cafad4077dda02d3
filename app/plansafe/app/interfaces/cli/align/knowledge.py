"""The command ``align knowledge``: questions about our worlds with the engine's answers, as lines for SFT."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from plansafe.app.interfaces.cli.options import MemoryLimit
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import NotWritten, problem
from plansafe.app.system.process import MEMORY_MIB, complain, guarded, limit_memory, print_text
from plansafe.app.system.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plansafe.align.records import SftLine


def knowledge(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Lines for the phase of SFT; written over.")
    ],
    count: Annotated[int, typer.Option(min=1, max=1_000_000, metavar="N", help="So many questions at most.")] = 8000,
    seed: Annotated[int, typer.Option(min=0, max=999_999_999, metavar="N", help="Which tasks, and what of them.")] = 0,
    drawn: Annotated[int, typer.Option(min=0, max=1000, metavar="N", help="Drawn households of each family.")] = 12,
    memory_limit: MemoryLimit = MEMORY_MIB,
) -> None:
    """Questions on the embodied knowledge of our worlds: effects, what is missing, places, rules (docs/knowledge.md).

    About drawn households, shipped scenarios and, where PLANSAFE_DATA names the public data sets, scripts of
    VirtualHome. Exit codes: 0 written, 2 usage, or data that cannot be read.
    """
    limit_memory(memory_limit)

    def work() -> int:
        from plansafe.align.knowledge.making import made, origins  # noqa: PLC0415 - loads the engine
        from plansafe.align.records import BadRecords, write_sft  # noqa: PLC0415
        from plansafe.align.tasks import BadOrigin, data_folder  # noqa: PLC0415

        path_problem = problem(output)
        if path_problem is not None:
            return complain(path_problem)
        kinds: Counter[str] = Counter()
        sides: Counter[str] = Counter()
        progress = Progress(count)

        def lines(selected_origins: Sequence[str], data: str | None) -> Iterator[SftLine]:
            for question, line in made(selected_origins, count, seed, data):
                kinds[question.asks.value] += 1
                sides[line.split] += 1
                progress.step()
                yield line

        data = data_folder()
        try:
            selected_origins = origins(drawn, seed, data)
        except OSError as error:
            raise BadOption(f"cannot read {error.filename}: {(error.strerror or str(error)).lower()}") from None
        try:
            written = write_sft(output, lines(selected_origins, data))
        except BadRecords as bad:
            return complain(bad.diagnostic)
        except BadOrigin as bad:
            raise BadOption(str(bad), bad.help) from None
        finally:
            progress.clear()
        counts = ", ".join([f"{number:,} {name}" for name, number in sorted(kinds.items())])
        print_text(f"{output}: {written:,} questions ({counts}); {sides['train']:,} for training\n")
        return 0

    raise typer.Exit(guarded(lambda: _run_reporting_errors(work)))


def _run_reporting_errors(work: Callable[[], int]) -> int:
    try:
        return work()
    except (BadOption, NotWritten) as bad:
        return complain(bad.diagnostic)
