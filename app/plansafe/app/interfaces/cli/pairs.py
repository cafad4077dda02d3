"""The command ``pairs``: pairs of a safe plan and an unsafe one, chosen and written as a data set; or checked."""

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

_EVERY = 0.2  # seconds between two lines of progress
_SHARE = 0.85
"""Of the time limit, for making candidates: choosing and writing take the rest."""


class From(StrEnum):
    """Where tasks come from."""

    DRAWN = "drawn"
    SCENARIOS = "scenarios"
    VIRTUALHOME = "virtualhome"


class Regret(StrEnum):
    """How well the regret of steps is to be known."""

    NONE = "none"
    ESTIMATE = "estimate"
    FOUND = "found"
    PROVED = "proved"


class PairsOptions(MemoryLimit, Assignments):
    """The options of ``align pairs``."""

    output: str | None = text("--output", "-o", metavar="FOLDER", help="Make this folder: a data set with a card.")
    count: int = integer("--count", metavar="N", default=10_000, low=8, high=1_000_000, help="Make N pairs.")
    source: tuple[From, ...] = choice(
        "--source",
        values=From,
        many=True,
        help="Use only tasks from here: drawn households, shipped scenarios, VirtualHome. May be repeated.",
    )
    data: str | None = text(
        "--data",
        metavar="FOLDER",
        help="Read public data sets here; VirtualHome is in `eai-virtualhome` (PLANSAFE_DATA).",
    )
    run: tuple[str, ...] = text(
        "--run",
        metavar="FILE",
        many=True,
        help="Use also the plans of a model, in a run of `safecheck bench plan`. May be repeated.",
    )
    adversarial: tuple[str, ...] = text(
        "--adversarial",
        metavar="FILE",
        many=True,
        help="Use also plans that a model was asked to make go wrong. May be repeated.",
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
        help="Stop after SECONDS of processor time, and use the pairs that were made.",
        key="limits.time",
        only_set=True,
    )
    kto: bool = switch("--kto", help="Write also each plan by itself, with a label.")
    regret: Regret = choice(
        "--regret",
        values=Regret,
        default=Regret.NONE,
        help="Compute also the cost of each step and the point of no return (docs/alignment.md); slow.",
    )
    check: str | None = text("--check", metavar="FILE", help="Audit the pairs of this file again, and make none.")


@command(PairsOptions)
def pairs(options: PairsOptions) -> int:
    """Make pairs of a safe plan and an unsafe one for the same task, both judged; what trainers of preferences read.

    Pairs that resemble each other are left out, rules balanced, families of tasks kept on one side of the split; what
    was left out, and why, is in the folder's report. The same options give the same bytes unless time runs out. Exit
    codes: 0 made, or all pairs are what they say; 2 a folder that cannot be made, a file that cannot be read, a pair
    that is not what it says, or no pairs; 4 a bug in safecheck.
    """
    limit_memory(options.memory_limit)
    sources, runs = tuple(dict.fromkeys(options.source or From)), tuple(options.run or ())
    wrong = tuple(options.adversarial or ())
    asked = _Asked(
        options.output,
        options.count,
        sources,
        options.data,
        options.source is not None,
        runs,
        wrong,
        options.rooms,
        options.seed,
        options.time_limit,
        options.kto,
        options.regret,
    )
    return guarded(lambda: _checked(options.check, asked) if options.check is not None else _made(asked))


class _Asked(NamedTuple):
    output: str | None
    pairs: int
    sources: tuple[From, ...]
    data: str | None
    wished: bool
    runs: tuple[str, ...]
    adversarial: tuple[str, ...]
    rooms: int
    seed: int
    time_limit: float
    kto: bool
    regret: Regret


def _made(asked: _Asked) -> int:
    from plansafe.align.choosing.folder import NotMade, check_place  # noqa: PLC0415 - for this command alone
    from plansafe.align.choosing.needs import Needs  # noqa: PLC0415
    from plansafe.align.choosing.whole import NothingChosen, Wanted, make_folder  # noqa: PLC0415
    from plansafe.align.records import BadRecords  # noqa: PLC0415
    from plansafe.llm.bench.run_file import BadRun  # noqa: PLC0415

    try:
        if asked.output is None:
            raise BadOption("no folder is named for the pairs", "name it with --output FOLDER, or a file with --check")
        check_place(asked.output)
        sources = [one.value for one in asked.sources]
        limits = (("time limit", asked.time_limit), ("regret", asked.regret.value))
        described = (
            ("sources", sources),
            ("runs", list(asked.runs)),
            ("adversarial", list(asked.adversarial)),
            ("rooms", asked.rooms),
            *limits,
        )
        wanted = Wanted(asked.pairs, asked.seed, asked.kto, described)
        enough = _Line(asked.pairs).enough(time.process_time() + _SHARE * asked.time_limit)
        missed, needs = Counter[str](), Needs()
        # Executions are many small objects and little garbage: a twentieth of the time went into looking for some.
        gc.set_threshold(20_000, 20, 20)
        try:
            report = make_folder(
                asked.output,
                lambda scarcer: _candidates(asked, scarcer, missed, needs),
                wanted,
                enough=enough,
                missed=missed,
                needs=needs,
                finish=_finish(asked),
            )
        finally:
            tell("")
    except (NotMade, BadRecords, BadRun, BadOption) as error:
        return complain(error.diagnostic)
    except NothingChosen as error:
        return complain(Diagnostic(SC.NO_PAIRS, str(error), help="raise --time-limit, or take more sources"))
    stream = standard_output()
    stream.write("".join([f"{line}\n" for line in _said(asked.output, report)]))
    stream.flush()
    return 0


def _checked(path: str, asked: _Asked) -> int:
    from plansafe.align.choosing.replay import DoesNotReplay, replayed  # noqa: PLC0415 - for --check alone
    from plansafe.align.records import BadRecords, read_pairs  # noqa: PLC0415

    done, shown = 0, 0.0
    tasks: set[str] = set()
    try:
        if asked.output is not None:
            raise BadOption("--check makes no folder", "leave out --check or --output")
        for found in replayed(read_pairs(path), _data(asked)):
            done += 1
            tasks.add(found.task.origin)
            if time.monotonic() > shown:
                shown = time.monotonic() + _EVERY
                tell(f"{done:,} pairs of {len(tasks):,} tasks are what they say ..")
    except (BadRecords, DoesNotReplay, BadOption) as error:
        return complain(error.diagnostic)
    finally:
        tell("")
    stream = standard_output()
    stream.write(f"{visible(path)}: {done:,} pairs of {len(tasks):,} tasks, each is what it says\n")
    stream.flush()
    return 0


class _Line:
    """What is shown while pairs are made."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._offered = 0
        self._began = time.monotonic()
        self._shown = 0.0

    def enough(self, end: float) -> Callable[[int], bool]:
        """Whether the time is over, for each candidate: time of this process, which a busy machine does not shorten."""

        def out_of_time(kept: int) -> bool:
            self._offered += 1
            now = time.monotonic()
            if now > self._shown:
                self._shown = now + _EVERY
                tell(
                    f"{kept:,} of {self._offered:,} candidates kept to choose {self._wanted:,} pairs from, "
                    f"{now - self._began:.0f} s .."
                )
            return time.process_time() > end

        return out_of_time


def _data(asked: _Asked) -> str | None:
    from plansafe.align.tasks import data_folder  # noqa: PLC0415 - for this command alone

    return asked.data if asked.data is not None else data_folder()


def _candidates(asked: _Asked, scarcer: Callable[[], Split], missed: Counter[str], needs: Needs) -> Iterator[Pair]:
    """Candidates of tasks from all sources, as long as they are asked for. Raises :class:`BadOption`."""
    from plansafe.align.choosing.origins import origins  # noqa: PLC0415 - for this command alone
    from plansafe.align.choosing.pairing import candidates  # noqa: PLC0415

    data = _data(asked)
    sources: list[Literal["drawn", "scenarios", "virtualhome"]] = [one.value for one in asked.sources]
    if data is None and asked.wished and From.VIRTUALHOME in asked.sources:
        raise BadOption("VirtualHome needs the public data sets", "name their folder with --data, or set PLANSAFE_DATA")
    try:
        tasks = origins(sources, asked.seed, data, scarcer, rooms=asked.rooms)
        yield from candidates(tasks, data, asked.seed, missed, asked.runs, needs, asked.adversarial)
    except OSError as error:
        raise BadOption(f"the data cannot be read: {error.filename}: {error.strerror}") from None


def _finish(asked: _Asked) -> Callable[[Pair], Pair] | None:
    """What adds regrets, if they were asked for."""
    if asked.regret is Regret.NONE:
        return None
    from plansafe.align.choosing.regretting import Regretting  # noqa: PLC0415 - loads the planner
    from plansafe.verifier.diagnose.regrets import Grade  # noqa: PLC0415

    return Regretting(Grade(asked.regret.value), _data(asked))


def _said(path: str, report: dict[str, Any]) -> Iterator[str]:
    found = report["statistics"]
    by, told = found["by"], report["told"]
    most = max(by["rule"].values())
    tasks, pairs = sum(found["tasks"].values()), found["pairs"]
    yield f"{visible(path)}: {pairs:,} pairs ({by['split']['train']:,} to train, {by['split']['test']:,} to test)"
    yield f"  of {tasks:,} tasks, against {len(by['rule'])} rules (the most frequent {most / pairs:.1%})"
    yield f"  {found['unsafe plans that reach the goal'] / pairs:.1%} of the unsafe plans reach the goal"
    most_told = max(told["linear"], told["lookup"], told["trees"])
    yield f"  by lengths and counts of actions alone at most {most_told:.1%} of the test pairs are told"
    yield f"  {report['offered']:,} candidates; left out:"
    yield from (f"    {count:>7,}  {reason}" for reason, count in report["rejected"].items())
