"""The command ``align knowledge``: questions about our worlds with the engine's answers, as lines for SFT."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from plansafe.app.options.option import command, integer, text
from plansafe.app.options.shared import Assignments, MemoryLimit
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import NotWritten, problem
from plansafe.app.system.process import complain, guarded, limit_memory, print_text
from plansafe.app.system.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plansafe.align.records import SftLine


class KnowledgeOptions(MemoryLimit, Assignments):
    """The options of ``align knowledge``."""

    output: str = text(
        "--output", "-o", metavar="FILE", required=True, help="Write the lines to this file, over an older one."
    )
    count: int = integer("--count", default=8000, low=1, high=1_000_000, help="Write at most N questions.")
    drawn: int = integer("--drawn", default=12, low=0, high=1000, help="Draw N households of each family.")
    seed: int = integer(
        "--seed", default=0, low=0, high=999_999_999, help="Draw tasks and questions with this seed.", set_key="seed"
    )


@command(KnowledgeOptions)
def knowledge(options: KnowledgeOptions) -> int:
    """Write questions about our worlds for SFT: effects of steps, missing preconditions, places of objects.

    About drawn households, shipped scenarios and, where PLANSAFE_DATA names the public data sets, scripts of
    VirtualHome. Exit codes: 0 written, 2 usage, or data that cannot be read.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.align.knowledge import origins, questions_of  # noqa: PLC0415 - loads the engine
        from plansafe.align.records import BadRecords, write_sft  # noqa: PLC0415
        from plansafe.align.tasks import BadOrigin, data_folder  # noqa: PLC0415

        path_problem = problem(options.output)
        if path_problem is not None:
            return complain(path_problem)
        kinds: Counter[str] = Counter()
        sides: Counter[str] = Counter()
        progress = Progress(options.count)

        def lines(selected_origins: Sequence[str], data: str | None) -> Iterator[SftLine]:
            for question, line in questions_of(selected_origins, options.count, options.seed, data):
                kinds[question.asks.value] += 1
                sides[line.split] += 1
                progress.step()
                yield line

        data = data_folder()
        try:
            selected_origins = origins(options.drawn, options.seed, data)
        except OSError as error:
            raise BadOption(f"cannot read {error.filename}: {(error.strerror or str(error)).lower()}") from None
        try:
            written = write_sft(options.output, lines(selected_origins, data))
        except BadRecords as bad:
            return complain(bad.diagnostic)
        except BadOrigin as bad:
            raise BadOption(str(bad), bad.help) from None
        finally:
            progress.clear()
        counts = ", ".join([f"{number:,} {name}" for name, number in sorted(kinds.items())])
        print_text(f"{options.output}: {written:,} questions ({counts}); {sides['train']:,} for training\n")
        return 0

    return guarded(lambda: _run_reporting_errors(work))


def _run_reporting_errors(work: Callable[[], int]) -> int:
    try:
        return work()
    except (BadOption, NotWritten) as bad:
        return complain(bad.diagnostic)
