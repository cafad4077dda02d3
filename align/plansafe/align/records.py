"""Training data as JSON lines: pairs of plans with what the verifier found out about them, and texts for SFT.

A line is an object with exactly the fields of :class:`Pair` or :class:`SftLine` and ``version``; trl reads it unchanged
(``prompt``, ``chosen``, ``rejected``). A line that does not agree with its own plans is refused with its file and line.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Generic, Literal, TypeVar

from plansafe.align.files import write_file
from plansafe.align.tables import Read, setting
from plansafe.align.tokens import shared_actions
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.metrics.fields import BadField, only, read_line, text, whole

VERSION = 1
MOST_LINE_BYTES = 1024 * 1024
MOST_LINES = 2_000_000
MOST_ACTIONS = 1000
MOST_PROMPT = 200_000
MOST_NAMES = 200
"""Largest number of rules, types and categories of one pair."""

Split = Literal["train", "test"]
Moment = Literal["process", "termination"]
Source = Literal["on-policy", "repair", "mutant"]
Grade = Literal["proved", "found", "estimate", "unknown"]
Kind = Literal["plan", "knowledge"]

SPLITS: tuple[Split, ...] = ("train", "test")
MOMENTS: tuple[Moment, ...] = ("process", "termination")
SOURCES: tuple[Source, ...] = ("on-policy", "repair", "mutant")
GRADES: tuple[Grade, ...] = ("proved", "found", "estimate", "unknown")
KINDS: tuple[Kind, ...] = ("plan", "knowledge")

_LARGEST = 1e9
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Do not wait for a pipe or device."""

T = TypeVar("T")
R = TypeVar("R", "Pair", "SftLine")


@dataclass(frozen=True, slots=True)
class Both(Generic[T]):
    """A value for the safe plan and one for the unsafe plan."""

    chosen: T
    rejected: T


def _text(most: int = 1000) -> Read:
    return lambda field, value: text({field: value}, field, most=most)


def _integer(field: str, value: Any) -> int:
    return whole({field: value}, field)


def _both(read: Read) -> Read:
    def both(field: str, value: Any) -> Both[Any]:
        if not isinstance(value, dict) or set(value) != {"chosen", "rejected"}:
            raise BadField(field, "is not an object with `chosen` and `rejected`")
        return Both(read(field, value["chosen"]), read(field, value["rejected"]))

    return both


def _optional(read: Read) -> Read:
    return lambda field, value: None if value is None else read(field, value)


def _list(read: Read, most: int = MOST_ACTIONS + 1) -> Read:
    def values(field: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > most:
            raise BadField(field, f"is not a list of at most {most} values")
        return tuple([read(field, item) for item in value])

    return values


def _number(least: float) -> Read:
    def number(field: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise BadField(field, "contains an entry that is not a number")
        if not least <= value <= _LARGEST:
            raise BadField(field, f"contains a number that is not from {least:g} to {_LARGEST:g}")
        return value

    return number


def _truth(field: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadField(field, "contains an entry that is neither true nor false")
    return value


def _names(field: str, value: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = _list(_text(), MOST_NAMES)(field, value)
    if len(set(names)) != len(names):
        raise BadField(field, "contains a name twice")
    return names


def _interval(field: str, value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise BadField(field, "is not a list of two steps")
    return _integer(field, value[0]), _integer(field, value[1])


def _one_of(choices: Sequence[str]) -> Read:
    def choice(field: str, value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise BadField(field, f"is not one of {', '.join(choices)}")
        return value

    return choice


@dataclass(frozen=True, slots=True)
class Pair:
    """A safe plan and an unsafe plan for the same task.

    A plan is a text with an action in parentheses and a newline for each step. Steps count from 1; 0 is the initial
    state. Both plans can be executed; ``chosen`` breaks no rule and ``rejected`` breaks ``rules``.
    """

    id: str = setting(_text())
    """Unique, such as ``stew-3/0#17``."""
    task: str = setting(_text())
    """The name of the task, the same for all its pairs."""
    origin: str = setting(_text())
    """Where the task comes from, such as ``drawn:stew/3/0`` (``tasks.py``)."""
    family: str = setting(_text())
    """The family of the task; a family is in one split only."""
    world: str = setting(_text())
    """The world whose rules apply, such as ``household``."""
    split: Split = setting(_one_of(SPLITS))
    prompt: str = setting(_text(MOST_PROMPT))
    """The prompt up to the newline after which the plan begins."""
    chosen: str = setting(_text(MOST_LINE_BYTES))
    rejected: str = setting(_text(MOST_LINE_BYTES))
    shared: int = setting(_integer)
    """Number of actions at the beginning that both plans have."""
    first_violation: int = setting(_integer)
    """The step of ``rejected`` that breaks ``rule`` whatever follows; its length + 1 if only the end breaks it."""
    no_return: tuple[int, int] | None = setting(_optional(_interval))
    """Closed interval of steps of ``rejected`` with the last step from which a safe plan is still known."""
    regret: Both[tuple[float | None, ...]] | None = setting(_optional(_both(_list(_optional(_number(-_LARGEST))))))
    """Cost of each action in further steps (``docs/alignment.md``); ``None`` for an action of unknown cost."""
    grade: Both[tuple[Grade, ...]] | None = setting(_optional(_both(_list(_one_of(GRADES)))))
    """How each regret was found; ``None`` exactly if ``regret`` is ``None``."""
    weights: Both[tuple[float, ...]] = setting(_both(_list(_number(0.0))))
    """Weight of each action in the loss, and of the end of the plan."""
    rule: str = setting(_text())
    """The rule that the pair is about, one of ``rules``."""
    rules: tuple[str, ...] = setting(_names)
    """All rules that the rejected plan breaks, each once."""
    safel: tuple[str, ...] = setting(_names)
    """The rule's types of SAFEL (``specs/taxonomy.py``)."""
    categories: tuple[str, ...] = setting(_names)
    """The rule's categories of SafePlan-Bench."""
    moment: Moment = setting(_one_of(MOMENTS))
    """``termination`` if only the end of the plan breaks the rule."""
    witness: str = setting(_text(10_000))
    """The message of the finding about ``rule``."""
    goal: Both[bool] = setting(_both(_truth))
    """Whether the plan reaches the goal of the task."""
    edits: int = setting(_integer)
    """Least number of actions that are inserted, removed or replaced between the plans."""
    source: Source = setting(_one_of(SOURCES))
    """``on-policy``: both plans are the model's. ``repair``: the safe plan is a repair of the model's unsafe plan.
    ``mutant``: the unsafe plan is a mutant of the safe plan."""
    seed: int = setting(_integer)

    @property
    def actions(self) -> Both[tuple[str, ...]]:
        """The actions of both plans as texts."""
        return Both(actions_of(self.chosen), actions_of(self.rejected))


@dataclass(frozen=True, slots=True)
class SftLine:
    """A text to imitate: a safe plan that reaches its goal, or an answer about the world (``knowledge.py``)."""

    task: str = setting(_text())
    origin: str = setting(_text())
    family: str = setting(_text())
    world: str = setting(_text())
    split: Split = setting(_one_of(SPLITS))
    prompt: str = setting(_text(MOST_PROMPT))
    completion: str = setting(_text(MOST_LINE_BYTES))
    """A plan as in :class:`Pair`, or an answer."""
    kind: Kind = setting(_one_of(KINDS))


class BadRecords(Exception):
    """The file cannot be used; ``diagnostic`` (SC650) says why, with file and line."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def actions_of(plan: str) -> tuple[str, ...]:
    """The actions of a plan's text."""
    return tuple(plan.split("\n")[:-1])


def plan_of(actions: Iterable[str]) -> str:
    """The text of a plan."""
    return "".join([f"{action}\n" for action in actions])


def even_weights(chosen: str, rejected: str) -> Both[tuple[float, ...]]:
    """The weight 1 for all actions and both ends."""
    return Both((1.0,) * (chosen.count("\n") + 1), (1.0,) * (rejected.count("\n") + 1))


def read_pairs(path: str) -> Iterator[Pair]:
    """Yield the pairs of a file. Raises :class:`BadRecords` at the first incorrect line."""
    ids: set[str] = set()
    for number, pair in enumerate(_read(path, Pair), 1):
        if pair.id in ids:
            raise bad_records(path, number, f"`id` {pair.id} is repeated")
        ids.add(pair.id)
        yield pair


def read_sft(path: str) -> Iterator[SftLine]:
    """Yield the lines of a file for SFT. Raises :class:`BadRecords` at the first incorrect line."""
    return _read(path, SftLine)


def write_pairs(path: str, pairs: Iterable[Pair]) -> int:
    """Write a file of pairs as :func:`write_lines` does, and return their number."""
    return write_lines(path, (json_of(pair) for pair in pairs))


def write_sft(path: str, lines: Iterable[SftLine]) -> int:
    """Write a file for SFT as :func:`write_lines` does, and return the number of lines."""
    return write_lines(path, (json_of(line) for line in lines))


def write_lines(path: str, lines: Iterable[str]) -> int:
    """Write a file completely or leave it unchanged, and return the number of lines.

    Raises :class:`BadRecords` if the file cannot be written, and ``ValueError`` for an incorrect record.
    """
    try:
        return write_file(path, (f"{line}\n" for line in lines))
    except OSError as error:
        raise bad_records(path, None, error.strerror or "cannot be written") from None


def json_of(record: Pair | SftLine) -> str:
    """The line of a record, without its newline. Raises ``ValueError`` for an incorrect record."""
    check(record)
    values = {"version": VERSION, **{field.name: _plain(getattr(record, field.name)) for field in fields(record)}}
    return json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def check(record: Pair | SftLine) -> None:
    """Raise :class:`BadField`, a ``ValueError``, if the fields of a record do not agree."""
    if not record.prompt.endswith("\n"):
        raise BadField("prompt", "does not end with a newline")
    if isinstance(record, Pair):
        _check_pair(record)
    elif record.kind == "plan":
        _plan(record.completion, "completion")


def _check_pair(pair: Pair) -> None:
    chosen, rejected = _plan(pair.chosen, "chosen"), _plan(pair.rejected, "rejected")
    if chosen == rejected:
        raise BadField("rejected", "is the chosen plan")
    shared = shared_actions(chosen, rejected)
    if pair.shared != shared:
        raise BadField("shared", f"is {pair.shared}, but the plans have {shared} common first actions")
    if not shared < pair.first_violation <= len(rejected) + 1:
        raise BadField("first_violation", f"is {pair.first_violation}, not from {shared + 1} to {len(rejected) + 1}")
    if pair.no_return is not None and not 0 <= pair.no_return[0] <= pair.no_return[1] <= len(rejected):
        raise BadField("no_return", f"is not an interval within 0 to {len(rejected)}")
    sizes = (len(chosen), len(rejected))
    _sizes("weights", pair.weights, (sizes[0] + 1, sizes[1] + 1))
    if (pair.regret is None) != (pair.grade is None):
        raise BadField("grade", "and `regret` must be given together")
    if pair.regret is not None and pair.grade is not None:
        _sizes("regret", pair.regret, sizes)
        _sizes("grade", pair.grade, sizes)
    if pair.rule not in pair.rules:
        raise BadField("rules", f"does not contain `rule`, {pair.rule}")
    if pair.edits < 1:
        raise BadField("edits", "is 0, but the plans differ")


def bad_records(path: str, line: int | None, reason: str) -> BadRecords:
    """Make the error SC650 about a file or one of its lines."""
    place = path if line is None else f"{path}:{line}"
    message = f"training data cannot be read or written: {place}: {reason}"
    return BadRecords(Diagnostic(SC.BAD_TRAINING_DATA, message, help="docs/preference-pairs.md defines the lines"))


def _read(path: str, kind: type[R]) -> Iterator[R]:
    number = 0
    for number, line in enumerate(lines_of(path), 1):
        try:
            yield record_of(read_line(line), kind)
        except BadField as error:
            raise bad_records(path, number, str(error)) from None
    if not number:
        raise bad_records(path, None, "it is empty")


def record_of(values: Mapping[str, Any], kind: type[R]) -> R:
    """The record of the object of a line. Raises :class:`BadField`."""
    readers: dict[str, Read] = {member.name: member.metadata["read"] for member in fields(kind)}
    only(values, ("version", *readers))
    for name in ("version", *readers):
        if name not in values:
            raise BadField(name, "is missing")
    if values["version"] != VERSION or isinstance(values["version"], bool):
        raise BadField("version", f"is not {VERSION}, the only version that this program reads")
    record = kind(**{name: read(name, values[name]) for name, read in readers.items()})
    check(record)
    return record


def lines_of(path: str) -> Iterator[bytes]:
    """The lines of a file without their newlines, within bounds. Raises :class:`BadRecords`."""
    try:
        handle = os.open(path, _OPEN)
    except (OSError, ValueError) as error:
        raise bad_records(path, None, getattr(error, "strerror", None) or "cannot be opened") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise bad_records(path, None, "it is not a regular file")
    with open(handle, "rb") as file:
        for number in range(1, MOST_LINES + 2):
            line = file.readline(MOST_LINE_BYTES + 1)
            if not line:
                return
            if len(line) > MOST_LINE_BYTES:
                raise bad_records(path, number, f"longer than {MOST_LINE_BYTES:,} bytes")
            if not line.endswith(b"\n"):
                raise bad_records(path, number, "the last line has no line end: the file is truncated")
            if number > MOST_LINES:
                raise bad_records(path, None, f"it has more than {MOST_LINES:,} lines")
            yield line[:-1]


def _plan(plan: str, field: str) -> tuple[str, ...]:
    if not plan.endswith("\n"):
        raise BadField(field, "does not end with a newline")
    actions = actions_of(plan)
    if len(actions) > MOST_ACTIONS:
        raise BadField(field, f"has more than {MOST_ACTIONS} actions")
    for number, action in enumerate(actions, 1):
        if not (action.startswith("(") and action.endswith(")") and action.isprintable() and len(action) > 2):
            raise BadField(field, f"lacks an action in parentheses in line {number}")
    return actions


def _sizes(field: str, both: Both[tuple[Any, ...]], lengths: tuple[int, int]) -> None:
    for name, values, size in (("chosen", both.chosen, lengths[0]), ("rejected", both.rejected, lengths[1])):
        if len(values) != size:
            raise BadField(field, f"has {len(values)} values of `{name}` instead of {size}")


def _plain(value: Any) -> Any:
    return {"chosen": value.chosen, "rejected": value.rejected} if isinstance(value, Both) else value
