"""The command ``align pairs``: write a data set of preference pairs (a safe and an unsafe plan), or check one."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from plansafe.app.options.option import choice, command, integer, number, switch, text
from plansafe.app.options.shared import Assignments, MemoryLimit
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.process import complain, guarded, limit_memory, standard_output
from plansafe.app.system.progress import tell
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

if TYPE_CHECKING:
    from plansafe.align.choosing.needs import Needs
    from plansafe.align.records import Pair, Split

_PROGRESS_INTERVAL = 0.2  # seconds between two progress lines
_CANDIDATE_TIME_SHARE = 0.85
"""Share of the time limit for making candidates. Choosing and writing the pairs takes the remaining time."""


class From(StrEnum):
    """Where tasks come from."""

    DRAWN = "drawn"
    SCENARIOS = "scenarios"
    VIRTUALHOME = "virtualhome"


class Regret(StrEnum):
    """How exactly the regret of each step is computed."""

    NONE = "none"
    ESTIMATE = "estimate"
    FOUND = "found"
    PROVED = "proved"


class PairsOptions(MemoryLimit, Assignments):
    """The options of ``align pairs``."""

    output: str | None = text(
        "--output", "-o", metavar="FOLDER", help="Write the data set and its card to this new folder."
    )
    count: int = integer("--count", metavar="N", default=10_000, low=8, high=1_000_000, help="Make N pairs.")
    source: tuple[From, ...] = choice(
        "--source",
        values=From,
        many=True,
        help="Use only tasks of this source: drawn households, shipped scenarios, VirtualHome. May be repeated.",
    )
    data: str | None = text(
        "--data",
        metavar="FOLDER",
        help="Read public data sets from this folder; VirtualHome is in `eai-virtualhome` (PLANSAFE_DATA).",
    )
    run: tuple[str, ...] = text(
        "--run",
        metavar="FILE",
        many=True,
        help="Use also the plans of a model from a run of `safecheck bench plan`. May be repeated.",
    )
    adversarial: tuple[str, ...] = text(
        "--adversarial",
        metavar="FILE",
        many=True,
        help="Use also plans that a model was asked to make unsafe. May be repeated.",
        key="pairs.adversarial",
        only_set=True,
    )
    rooms: int = integer(
        "--rooms",
        metavar="N",
        default=0,
        low=0,
        high=20,
        help="Draw households of at most N rooms next to the kitchen; 0: any.",
    )
    seed: int = integer(
        "--seed",
        metavar="N",
        default=0,
        low=0,
        high=999_999_999,
        help="Draw with this seed.",
        key="seed",
        only_set=True,
    )
    time_limit: float = number(
        "--time-limit",
        metavar="SECONDS",
        default=600.0,
        low=1,
        high=1_000_000,
        help="Stop after SECONDS of processor time, and choose from the candidates made by then.",
        key="limits.time",
        only_set=True,
    )
    kto: bool = switch("--kto", help="Write also each plan separately, with a label (for KTO).")
    regret: Regret = choice(
        "--regret",
        values=Regret,
        default=Regret.NONE,
        help="Compute also the cost of each step and the point of no return (docs/alignment.md); slow.",
    )
    check: str | None = text("--check", metavar="FILE", help="Audit the pairs of this file again, and make no pairs.")


@command(PairsOptions)
def pairs(options: PairsOptions) -> int:
    """Make preference pairs: a safe and an unsafe plan for the same task, both audited.

    The command leaves out pairs that resemble each other, balances the rules, and keeps each family of tasks on one
    side of the split. The folder's report counts the omitted pairs by reason. The same options give the same bytes,
    unless the time limit is reached. Exit codes: 0 the pairs were made, or all checked pairs are correct; 2 the folder
    cannot be made, a file cannot be read, a checked pair is incorrect, or no pair was made; 4 a bug in safecheck.
    """
    limit_memory(options.memory_limit)
    sources, runs = tuple(dict.fromkeys(options.source or From)), tuple(options.run or ())
    request = _PairRequest(
        options.output,
        options.count,
        sources,
        options.data,
        bool(options.source),
        runs,
        tuple(options.adversarial or ()),
        options.rooms,
        options.seed,
        options.time_limit,
        options.kto,
        options.regret,
    )
    return guarded(lambda: _check(options.check, request) if options.check is not None else _make(request))


class _PairRequest(NamedTuple):
    """The options of the command. ``sources_named``: the user chose the sources."""

    output: str | None
    pairs: int
    sources: tuple[From, ...]
    data: str | None
    sources_named: bool
    runs: tuple[str, ...]
    adversarial: tuple[str, ...]
    rooms: int
    seed: int
    time_limit: float
    kto: bool
    regret: Regret


def _make(request: _PairRequest) -> int:
    from plansafe.align.choosing.folder import NotMade, check_place  # noqa: PLC0415 - for this command alone
    from plansafe.align.choosing.needs import Needs  # noqa: PLC0415
    from plansafe.align.choosing.whole import NothingChosen, Wanted, make_folder  # noqa: PLC0415
    from plansafe.align.records import BadRecords  # noqa: PLC0415
    from plansafe.llm.bench.run_file import BadRun  # noqa: PLC0415

    try:
        if request.output is None:
            raise BadOption(
                "--output is missing: the pairs need a folder",
                "add --output FOLDER, or check a file of pairs with --check FILE",
            )
        check_place(request.output)
        sources = [source.value for source in request.sources]
        limits = (("time limit", request.time_limit), ("regret", request.regret.value))
        described_options = (
            ("sources", sources),
            ("runs", list(request.runs)),
            ("adversarial", list(request.adversarial)),
            ("rooms", request.rooms),
            *limits,
        )
        wanted_pairs = Wanted(request.pairs, request.seed, request.kto, described_options)
        end = time.process_time() + _CANDIDATE_TIME_SHARE * request.time_limit
        missed_candidates, needs = Counter[str](), Needs()
        # Executions are many small objects and little garbage: by default, the collector takes a twentieth of the time.
        gc.set_threshold(20_000, 20, 20)
        try:
            report = make_folder(
                request.output,
                lambda scarcer: _candidates(request, scarcer, missed_candidates, needs),
                wanted_pairs,
                enough=_ProgressLine(request.pairs).out_of_time_test(end),
                missed=missed_candidates,
                needs=needs,
                finish=_finish(request),
            )
        finally:
            tell("")
    except (NotMade, BadRecords, BadRun, BadOption) as error:
        return complain(error.diagnostic)
    except NothingChosen as error:
        return complain(Diagnostic(SC.NO_PAIRS, str(error), help="raise --time-limit, or use more sources"))
    stream = standard_output()
    stream.write("".join([f"{line}\n" for line in _summary_lines(request.output, report)]))
    stream.flush()
    return 0


def _check(path: str, request: _PairRequest) -> int:
    from plansafe.align.choosing.replay import DoesNotReplay, replayed  # noqa: PLC0415 - for --check alone
    from plansafe.align.records import BadRecords, read_pairs  # noqa: PLC0415

    checked_pairs, next_progress = 0, 0.0
    tasks: set[str] = set()
    try:
        if request.output is not None:
            raise BadOption("--check writes no folder", "leave out --check or --output")
        for pair in replayed(read_pairs(path), _data(request)):
            checked_pairs += 1
            tasks.add(pair.task.origin)
            if time.monotonic() > next_progress:
                next_progress = time.monotonic() + _PROGRESS_INTERVAL
                tell(f"{checked_pairs:,} pairs of {len(tasks):,} tasks are correct ..")
    except (BadRecords, DoesNotReplay, BadOption) as error:
        return complain(error.diagnostic)
    finally:
        tell("")
    stream = standard_output()
    stream.write(f"{visible(path)}: {checked_pairs:,} pairs of {len(tasks):,} tasks, all correct\n")
    stream.flush()
    return 0


class _ProgressLine:
    """The progress line while pairs are made."""

    def __init__(self, wanted_pairs: int) -> None:
        self._wanted_pairs = wanted_pairs
        self._offered = 0
        self._began = time.monotonic()
        self._next_line = 0.0

    def out_of_time_test(self, end: float) -> Callable[[int], bool]:
        """Make the function that is called for each candidate and returns True after ``end``.

        ``end`` is in processor time of this process, so that a busy machine gives the same pairs.
        """

        def is_out_of_time(candidates: int) -> bool:
            self._offered += 1
            now = time.monotonic()
            if now > self._next_line:
                self._next_line = now + _PROGRESS_INTERVAL
                tell(
                    f"{candidates:,} of {self._offered:,} candidates accepted, "
                    f"to choose {self._wanted_pairs:,} pairs from; {now - self._began:.0f} s .."
                )
            return time.process_time() > end

        return is_out_of_time


def _data(request: _PairRequest) -> str | None:
    from plansafe.align.tasks import data_folder  # noqa: PLC0415 - for this command alone

    return request.data if request.data is not None else data_folder()


def _candidates(
    request: _PairRequest, scarcer: Callable[[], Split], missed_candidates: Counter[str], needs: Needs
) -> Iterator[Pair]:
    """Candidates of tasks from all sources, made when they are requested. Raises :class:`BadOption`."""
    from plansafe.align.choosing.origins import origins  # noqa: PLC0415 - for this command alone
    from plansafe.align.choosing.pairing import candidates  # noqa: PLC0415

    data = _data(request)
    sources: list[Literal["drawn", "scenarios", "virtualhome"]] = [source.value for source in request.sources]
    if data is None and request.sources_named and From.VIRTUALHOME in request.sources:
        raise BadOption("VirtualHome needs the public data sets", "name their folder with --data, or set PLANSAFE_DATA")
    try:
        tasks = origins(sources, request.seed, data, scarcer, rooms=request.rooms)
        yield from candidates(tasks, data, request.seed, missed_candidates, request.runs, needs, request.adversarial)
    except OSError as error:
        raise BadOption(f"the data cannot be read: {error.filename}: {error.strerror}") from None


def _finish(request: _PairRequest) -> Callable[[Pair], Pair] | None:
    """The function that adds the regret of each step to a pair; None without ``--regret``."""
    if request.regret is Regret.NONE:
        return None
    from plansafe.align.choosing.regretting import Regretting  # noqa: PLC0415 - loads the planner
    from plansafe.verifier.diagnose.regrets import Grade  # noqa: PLC0415

    return Regretting(Grade(request.regret.value), _data(request))


def _summary_lines(path: str, report: dict[str, Any]) -> Iterator[str]:
    statistics = report["statistics"]
    counts, separability = statistics["by"], report["told"]
    most_frequent = max(counts["rule"].values())
    tasks, pairs = sum(statistics["tasks"].values()), statistics["pairs"]
    train, test = counts["split"]["train"], counts["split"]["test"]
    yield f"{visible(path)}: {pairs:,} pairs ({train:,} to train, {test:,} to test)"
    yield f"  of {tasks:,} tasks, against {len(counts['rule'])} rules (the most frequent {most_frequent / pairs:.1%})"
    yield f"  {statistics['unsafe plans that reach the goal'] / pairs:.1%} of the unsafe plans reach the goal"
    best_separation = max(separability["linear"], separability["lookup"], separability["trees"])
    yield f"  lengths and counts of actions alone distinguish at most {best_separation:.1%} of the test pairs"
    yield f"  {report['offered']:,} candidates; left out:"
    yield from (f"    {count:>7,}  {reason}" for reason, count in report["rejected"].items())
