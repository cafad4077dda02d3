"""Run the comparisons with published benchmarks, and write the table of bench/results/field.md.

usage: python -m bench.field [NAME ..] [--eai PYTHON] [--write]

Needs the folder of public data sets (``PLANSAFE_DATA``). ``--eai`` is the Python of an environment with ``eai-eval``
1.0.5 (bench/results/eai.md), without which three rows are skipped. ``--write`` replaces the rows of the benchmarks that
were run. Exit codes: 0; 1 if a command fails, which it does for a difference without an explanation; 2 without data.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.data_sets import DATA_SETS
from bench.field.planbench import describe_commit

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "bench" / "results" / "field.md"
HEADER = "| benchmark | items | agree | differ, explained in | seconds | command |"


class Agreement(NamedTuple):
    """How many items were compared, and how many have the published result."""

    items: int
    agree: int


def _find(pattern: str, output: str) -> tuple[int, ...]:
    """The numbers in the first match of a pattern. Raises ``ValueError`` without a match."""
    match = re.search(pattern, output, re.MULTILINE)
    if match is None:
        raise ValueError(f"the output has no line like `{pattern}`")
    return tuple([int(group) for group in match.groups()])


def _read_planbench(output: str) -> Agreement:
    agree, items = _find(r"^(\d+) of (\d+) plans have VAL's verdict", output)
    return Agreement(items, agree)


def _read_acpbench(output: str) -> Agreement:
    return Agreement(*_find(r"^\| all \| (\d+) \| (\d+) \|", output))


def _read_virtualhome(output: str) -> Agreement:
    items, stops = _find(r"^both execute +(\d+)[^$]*?^both stop at the same step +(\d+)", output)
    return Agreement(items + stops, items + stops)


def _read_behavior_gold(output: str) -> Agreement:
    return Agreement(*_find(r"^(\d+) gold plans under the published domain: (\d+) VALID", output))


def _read_behavior_people(output: str) -> Agreement:
    items, _, valid = _find(r"^(\d+) sequences, (\d+) execute to the end: (\d+) VALID", output)
    return Agreement(items, valid)


def _read_safety_chip(output: str) -> Agreement:
    return Agreement(*_find(r"^\| all \| (\d+) \| (\d+) ", output))


def _read_eai(output: str) -> Agreement:
    return Agreement(*_find(r"^(\d+) .*?(\d+) .*the same", output))


class Benchmark(NamedTuple):
    """A comparison: what is compared, its data set, its command, and the page that explains every difference."""

    title: str
    data: str
    command: str
    page: str
    read: Callable[[str], Agreement]


BENCHMARKS = {
    "planbench": Benchmark(
        "PlanBench: plans, VAL's verdict",
        "planbench",
        "python -m bench.field.planbench",
        "planbench.md",
        _read_planbench,
    ),
    "acpbench": Benchmark(
        "ACPBench-Hard: answers, right by the definition",
        "acpbench",
        "python -m bench.field.acpbench",
        "#acpbench-hard",
        _read_acpbench,
    ),
}
