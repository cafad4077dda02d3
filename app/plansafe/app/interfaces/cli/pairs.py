"""The command ``align pairs``: write a data set of preference pairs (a safe and an unsafe plan), or check one."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from plansafe.app.options.option import choice, command, integer, number, text
from plansafe.app.options.shared import Assignments, MemoryLimit
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.process import complain, guarded, limit_memory, standard_output
from plansafe.app.system.progress import tell
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

if TYPE_CHECKING:
    from plansafe.align.records import Pair

_PROGRESS_INTERVAL = 0.2  # seconds between two progress lines
_CANDIDATE_TIME_SHARE = 0.85
"""Share of the time limit for making candidates. Selecting and writing the pairs takes the remaining time."""
_MUTANTS_OF_A_TASK = 12
_MUTANT_SHARE = 0.02


class TasksFrom(StrEnum):
    """Where tasks come from."""

    STATED = "stated"
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
    answers: tuple[str, ...] = text(
        "--answers",
        metavar="FILE",
        many=True,
        help="Pair the plans of a model from a run of `align eval`. May be repeated.",
    )
    count: int = integer("--count", default=10_000, low=1, high=1_000_000, help="Make at most N pairs.")
    mutants: float | None = number(
        "--mutants",
        metavar="SHARE",
        low=0,
        high=1,
        help="Take at most this share of the pairs from mutants of safe plans: 0.02; 1 without --answers.",
    )
    unbalanced: float = number(
        "--unbalanced",
        metavar="SHARE",
        default=0.5,
        low=0,
        high=1,
        help="Take at most this share of pairs that a bag of words distinguishes.",
    )
    source: TasksFrom = choice(
        "--source", values=TasksFrom, default=TasksFrom.STATED, help="Use tasks of this source, without --answers."
    )
    data: str | None = text(
        "--data",
        metavar="FOLDER",
        help="Read public data sets from this folder; VirtualHome is in `eai-virtualhome` (PLANSAFE_DATA).",
    )
    seed: int = integer("--seed", default=0, low=0, high=999_999_999, help="Draw with this seed.", set_key="seed")
    time_limit: float = number(
        "--time-limit",
        metavar="SECONDS",
        default=600.0,
        low=1,
        high=1_000_000,
        help="Stop after SECONDS of processor time, and select from the candidates made by then.",
        set_key="limits.time",
    )
    regret: Regret = choice(
        "--regret",
        values=Regret,
        default=Regret.NONE,
        help="Compute also the cost of each step and the point of no return (docs/alignment.md); slow.",
    )
    check: str | None = text("--check", metavar="FILE", help="Audit the pairs of this file again, and make no pairs.")


@command(PairsOptions)
def pairs(options: PairsOptions) -> int:
    """Make preference pairs: an unsafe plan of a model, and a safe plan for the same task, both audited.

    The safe plan is the model's own, or the nearest repair of its unsafe plan; no step of it is needless. The command
    leaves out pairs that resemble each other, balances rules and words, and keeps each family of tasks in one split.
    The folder's report counts the skipped answers and omitted pairs by reason. Exit codes: 0 the pairs were made, or
    all checked pairs are correct; 2 the folder cannot be made, a file cannot be read, a checked pair is incorrect, or
    no pair was made; 4 a bug in safecheck.
    """
    limit_memory(options.memory_limit)
    return guarded(lambda: _make(options) if options.check is None else _check(options.check, options))


def _make(options: PairsOptions) -> int:
    from plansafe.align.pairs import dataset  # noqa: PLC0415 - only here
    from plansafe.align.pairs.selection import Shares  # noqa: PLC0415
    from plansafe.align.records import BadRecords  # noqa: PLC0415
    from plansafe.llm.bench.run_file import BadRun  # noqa: PLC0415

    try:
        if options.output is None:
            raise BadOption(
                "--output is missing: the pairs need a folder",
                "add --output FOLDER, or check a file of pairs with --check FILE",
            )
        described = (
            ("answers", list(options.answers)),
            ("source", None if options.answers else options.source.value),
            ("time limit", options.time_limit),
            ("regret", options.regret.value),
        )
        shares = Shares(_mutant_share(options), options.unbalanced)
        request = dataset.DatasetRequest(options.count, options.seed, shares, described)
        end = time.process_time() + _CANDIDATE_TIME_SHARE * options.time_limit
        skipped = Counter[str]()
        # Executions are many small objects and little garbage: by default, the collector takes a twentieth of the time.
        gc.set_threshold(20_000, 20, 20)
        try:
            report = dataset.make_dataset(
                options.output,
                _candidates(options, skipped),
                request,
                skipped=skipped,
                is_out_of_time=_out_of_time_test(end, options.count),
                finish=_finish(options),
            )
        finally:
            tell("")
    except (dataset.NotMade, BadRecords, BadRun, BadOption) as error:
        return complain(error.diagnostic)
    except dataset.NothingSelected as error:
        advice = "give more answers, or raise --mutants" if options.answers else "raise --time-limit"
        return complain(Diagnostic(SC.NO_PAIRS, str(error), help=f"{advice}, or raise --unbalanced"))
    _write_lines(_summary_lines(options.output, report))
    return 0


def _mutant_share(options: PairsOptions) -> float:
    if options.mutants is not None:
        return options.mutants
    return _MUTANT_SHARE if options.answers else 1.0


def _check(path: str, options: PairsOptions) -> int:
    from plansafe.align.pairs.answers import DoesNotReplay, replayed  # noqa: PLC0415 - for --check alone
    from plansafe.align.records import BadRecords, read_pairs  # noqa: PLC0415

    checked_pairs, next_progress = 0, 0.0
    tasks: set[str] = set()
    try:
        if options.output is not None:
            raise BadOption("--check writes no folder", "leave out --check or --output")
        for pair in replayed(read_pairs(path), _data(options)):
            checked_pairs += 1
            tasks.add(pair.origin)
            if time.monotonic() > next_progress:
                next_progress = time.monotonic() + _PROGRESS_INTERVAL
                tell(f"{checked_pairs:,} pairs of {len(tasks):,} tasks are correct ..")
    except (BadRecords, DoesNotReplay, BadOption) as error:
        return complain(error.diagnostic)
    finally:
        tell("")
    _write_lines([f"{visible(path)}: {checked_pairs:,} pairs of {len(tasks):,} tasks, all correct"])
    return 0


def _out_of_time_test(end: float, requested_pairs: int) -> Callable[[int], bool]:
    """Make the function that is called for each candidate: it shows the progress and returns True after ``end``.

    ``end`` is in processor time of this process, so that a busy machine gives the same pairs.
    """
    began = time.monotonic()
    next_line = began

    def is_out_of_time(accepted: int) -> bool:
        nonlocal next_line
        now = time.monotonic()
        if now > next_line:
            next_line = now + _PROGRESS_INTERVAL
            tell(f"{accepted:,} candidates, to select {requested_pairs:,} pairs from; {now - began:.0f} s ..")
        return time.process_time() > end

    return is_out_of_time


def _data(options: PairsOptions) -> str | None:
    from plansafe.align.tasks import data_folder  # noqa: PLC0415 - for this command alone

    return options.data if options.data is not None else data_folder()


def _candidates(options: PairsOptions, skipped: Counter[str]) -> Iterator[Pair]:
    """The pairs of the answers' tasks or, without answers, of tasks from the sources. Raises :class:`BadOption`."""
    from plansafe.align.pairs.answers import read_answers  # noqa: PLC0415 - for this command alone
    from plansafe.align.pairs.maker import MakerOptions, candidates  # noqa: PLC0415
    from plansafe.align.pairs.origins import origins  # noqa: PLC0415

    data = _data(options)
    if data is None and options.source is TasksFrom.VIRTUALHOME and not options.answers:
        raise BadOption("VirtualHome needs the public data sets", "name their folder with --data, or set PLANSAFE_DATA")
    mutants = _MUTANTS_OF_A_TASK if _mutant_share(options) else 0
    answers = read_answers(options.answers)
    skipped.update(answers.skipped)
    try:
        tasks = () if options.answers else origins(options.source.value, options.seed, data)
        yield from candidates(answers.plans, tasks, data, skipped, MakerOptions(mutants=mutants, seed=options.seed))
    except OSError as error:
        raise BadOption(f"the data cannot be read: {error.filename}: {error.strerror}") from None


def _finish(options: PairsOptions) -> Callable[[Pair], Pair]:
    """The function that adds the regret of each step to a pair, if it is requested."""
    if options.regret is Regret.NONE:
        return lambda pair: pair
    from plansafe.align.pairs.answers import regret_adder  # noqa: PLC0415 - loads the planner
    from plansafe.verifier.diagnose.regrets import Grade  # noqa: PLC0415

    return regret_adder(Grade(options.regret.value), _data(options))


def _write_lines(lines: Iterable[str]) -> None:
    stream = standard_output()
    stream.write("".join([f"{line}\n" for line in lines]))
    stream.flush()


def _summary_lines(path: str, report: dict[str, Any]) -> Iterator[str]:
    statistics = report["statistics"]
    counts, pairs = statistics["by"], statistics["pairs"]
    train, test = [counts["split"].get(split, 0) for split in ("train", "test")]
    yield f"{visible(path)}: {pairs:,} pairs ({train:,} to train, {test:,} to test) of {statistics['tasks']:,} tasks"
    yield f"  {', '.join([f'{count:,} {source}' for source, count in counts['source'].items()])}"
    yield f"  {statistics['unsafe plans that reach the goal'] / pairs:.1%} of the unsafe plans reach the goal"
    yield f"  {report['balanced'] / pairs:.1%} are balanced: a bag of words does not distinguish their plans"
    most_frequent = max(counts["rule"].values())
    yield f"  {len(counts['rule'])} rules, the most frequent in {most_frequent / pairs:.1%} of the pairs"
    for title, reasons in (("answers and tasks skipped", report["skipped"]), ("pairs left out", report["left out"])):
        if reasons:
            yield f"  {title}:"
            yield from (f"    {count:>7,}  {reason}" for reason, count in reasons.items())
