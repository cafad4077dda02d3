"""Estimates of the time and memory of each unit, printed by ``--dry-run``.

Training costs 6 operations per parameter and token (4 with LoRA: no gradients of the base weights), reading a prompt
2, and each step of generation reads all weights once. Measured times of finished units replace the estimates.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from plansafe.align.reproducing.sizes import RANDOM, Size
from plansafe.align.reproducing.stages import TIMES, Unit, run_of, stages
from plansafe.grammar.shallow_json import loads

TINY_PARAMETERS = 7e5
PROMPT_TOKENS, PLAN_TOKENS = 250, 80
_OVERHEAD_S = 15.0
"""Start of a process and loading of the model."""
_JUDGE_S, _PAIRS_S, _DRAW_S = 0.03, 0.3, 0.1
"""CPU seconds of an audit, of the pairs of a task, and of drawing a task."""


class Speed(NamedTuple):
    """A device: operations and bytes per second that a process reaches, and the bytes of its memory."""

    operations: float
    bandwidth: float
    memory: float = 0.0


SPEEDS: Mapping[str, Speed] = {"cpu": Speed(2e10, 1e10), "gpu": Speed(2e14, 1.5e12, 80e9)}
"""One thread of a CPU, and one H100 at about 40 % of its peak in bfloat16."""


class Estimate(NamedTuple):
    """The estimated seconds and gigabytes of a unit; ``measured``: the seconds are measured on finished units."""

    unit: Unit
    seconds: float
    gigabytes: float
    measured: bool


def estimates(size: Size, device: str, folder: str | None = None) -> list[Estimate]:
    """An estimate for each unit, in order. ``folder``: a reproduction with measured times, if it exists."""
    measured = _measured(folder)
    rows = []
    for unit in [unit for stage in stages(size) for unit in stage]:
        seconds, memory = _estimate(size, unit, SPEEDS[device])
        times = measured.get(_kind(unit), measured.get(unit.kind, []))
        rows.append(Estimate(unit, sum(times) / len(times) if times else seconds, memory / 1e9, bool(times)))
    return rows


def _measured(folder: str | None) -> dict[str, list[float]]:
    """The seconds of finished units by kind, and by kind and run."""
    path = os.path.join(folder or "", TIMES)
    times: dict[str, list[float]] = {}
    if folder is not None and os.path.exists(path):
        with open(path, encoding="ascii") as file:
            for line in file:
                record = loads(line)
                for name in (_kind(Unit(*record["unit"])), record["unit"][0]):
                    times.setdefault(name, []).append(record["seconds"])
    return times


def _kind(unit: Unit) -> str:
    return f"{unit.kind} {unit.run}"


def _estimate(size: Size, unit: Unit, speed: Speed) -> tuple[float, float]:
    """Seconds and bytes of a unit."""
    train = len(size.data.families) * (size.data.sampled or size.data.train)
    test = len(size.data.families) * (size.data.test + size.data.test_rules)
    test += len(size.data.unseen) * size.data.test_families
    match unit.kind:
        case "tasks":
            return _DRAW_S * (train + test), 1e9
        case "train":
            return _training(size, unit, speed)
        case "sample":
            return _answers(size, train * size.sampling.samples, speed)
        case "pairs":
            return _PAIRS_S * train, 1e9
        case "eval":
            return _answers(size, test, speed)
    return _OVERHEAD_S, 1e9


def _training(size: Size, unit: Unit, speed: Speed) -> tuple[float, float]:
    run = run_of(size, unit.run)
    config = size.training(run, model="hf/x", data=["x"], output="x")
    parameters = size.parameters or TINY_PARAMETERS
    plans = {"sft": 1, "rft": 1, "grpo": config.num_generations}.get(config.method, 2)
    pass_tokens = config.bs * plans * (PROMPT_TOKENS + PLAN_TOKENS)
    cost = (6 if config.lora_r == 0 else 4) * (4 / 3 if config.gradient_checkpointing else 1)
    operations = pass_tokens * config.gradient_accumulation_steps * config.max_steps * parameters * cost
    seconds = operations / speed.operations + _OVERHEAD_S
    if config.method == "grpo":
        seconds += _answers(size, size.verifier_calls(run), speed)[0]
    trained = 14 * parameters if config.lora_r == 0 else 2 * parameters + 16 * 0.01 * parameters
    activations = pass_tokens * parameters**0.5 * (40 if config.gradient_checkpointing else 400)
    return seconds, trained + activations + 1e9


def _answers(size: Size, answers: int, speed: Speed) -> tuple[float, float]:
    """Answers in batches, and their audits."""
    parameters = size.parameters or TINY_PARAMETERS
    weight_bytes = (4 if size.base == RANDOM else 2) * parameters
    reading = 2 * parameters * PROMPT_TOKENS * answers / speed.operations
    steps = PLAN_TOKENS * answers / size.batch
    writing = steps * max(weight_bytes / speed.bandwidth, 2 * parameters * size.batch / speed.operations, 0.005)
    cache = size.batch * (PROMPT_TOKENS + size.max_tokens) * 3 * parameters**0.5
    return reading + writing + _JUDGE_S * answers + _OVERHEAD_S, weight_bytes + cache + 1e9


def table(rows: list[Estimate], jobs: int, device: str) -> str:
    """The estimates as lines, grouped by kind and run, with the total."""
    groups: dict[str, list[Estimate]] = {}
    for row in rows:
        groups.setdefault(_kind(row.unit), []).append(row)
    lines = [f"{'unit':40} {'units':>5} {'minutes':>9} {'GB':>7}"]
    for name, members in groups.items():
        minutes = sum([row.seconds for row in members]) / 60
        memory = max([row.gigabytes for row in members])
        mark = " measured" if members[0].measured else ""
        lines.append(f"{name:40} {len(members):5} {minutes:9.1f} {memory:7.1f}{mark}")
    hours = sum([row.seconds for row in rows]) / 3600
    limit = SPEEDS[device].memory / 1e9
    lines.append(
        f"total: {len(rows)} units, {hours:.1f} hours of one {device}, {hours / jobs:.1f} with {jobs} processes"
    )
    if limit and max([row.gigabytes for row in rows]) > limit:
        lines.append(f"some units need more than the {limit:.0f} GB of one GPU: shard them (FSDP) or use QLoRA")
    return "\n".join(lines)
