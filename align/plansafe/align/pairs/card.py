"""The card of a data set, with its statistics, in Markdown with a YAML header as Hugging Face reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_TABLES = (
    ("source", "Sources", 10),
    ("difference", "Differences between the plans", 10),
    ("category", "Categories of SafePlan-Bench", 40),
    ("safel", "Types of SAFEL", 40),
    ("world", "Worlds", 10),
    ("moment", "When the rule is broken", 5),
    ("rule", "Rules", 20),
    ("family", "Families of tasks", 60),
    ("object", "Objects in the plans", 30),
)
_TEXT = """
# Pairs of safe and unsafe plans

Each line is a task with two executable plans: `chosen` breaks no safety rule, reaches the goal and has no needless
step; `rejected` breaks at least one rule. The formal verifier safecheck judged both plans and wrote this card; no
person or model labelled anything. A hazard without a rule is not seen. `docs/preference-pairs.md` of safecheck defines
the fields.

```python
from datasets import load_dataset

data = load_dataset("PATH OF THIS FOLDER")
```

trl's trainers read the lines unchanged (`prompt`, `chosen`, `rejected`).
"""


def card(report: Mapping[str, Any], kto: bool) -> str:
    """The card of a folder with this ``report.json``. ``kto``: the folder has also single plans with a label."""
    statistics = report["statistics"]
    return "\n".join([*_header(statistics, kto), _TEXT, *_statistics(report, statistics), ""])


def _header(statistics: Mapping[str, Any], kto: bool) -> Iterator[str]:
    size = next((name for most, name in _SIZES if statistics["pairs"] < most), "n>1M")
    yield from ("---", "pretty_name: Pairs of safe and unsafe plans", "language:", "- en", "task_categories:")
    yield from ("- text-generation", "tags:", "- preference", "- planning", "- robotics", "- safety")
    yield from ("size_categories:", f"- {size}", "configs:")
    for name, folder in (("default", ""), ("kto", "kto/"))[: 2 if kto else 1]:
        yield from (f"- config_name: {name}", "  data_files:")
        for split in ("train", "test"):
            if statistics["by"]["split"].get(split):
                yield from (f"  - split: {split}", f"    path: {folder}{split}.jsonl")
    yield "---"


def _statistics(report: Mapping[str, Any], statistics: Mapping[str, Any]) -> Iterator[str]:
    pairs, by = statistics["pairs"], statistics["by"]
    yield f"- {pairs:,} pairs of {report['offered']:,} candidates, of {statistics['tasks']:,} tasks."
    yield f"- {by['split'].get('train', 0):,} pairs for training, {by['split'].get('test', 0):,} for testing; a family"
    yield "  of tasks is in one split only."
    yield f"- {statistics['unsafe plans that reach the goal'] / pairs:.1%} of the unsafe plans reach the goal."
    yield f"- {report['balanced'] / pairs:.1%} of the pairs have plans with the same words, or a mirror image: a bag of"
    yield "  words does not distinguish these."
    for title, counts in (("left out", report["left out"]), ("skipped answers and tasks", report["skipped"])):
        if counts:
            yield from ("", f"| {title} | count |", "|---|---:|")
            yield from (f"| {_cell(reason)} | {count:,} |" for reason, count in counts.items())
    yield from ("", "| steps | least | median | most |", "|---|---:|---:|---:|")
    for name, title in (("chosen", "safe plan"), ("rejected", "unsafe plan"), ("shared", "common first steps")):
        length = statistics["lengths"][name]
        yield f"| {title} | {length['least']} | {length['median']:g} | {length['most']} |"
    for name, title, most in _TABLES:
        counts = by[name]
        if counts:
            more = f" ({most} of {len(counts)})" if len(counts) > most else ""
            yield from ("", f"## {title}{more}", "", "| | pairs | share |", "|---|---:|---:|")
            for value, count in list(counts.items())[:most]:
                yield f"| {_cell(value)} | {count:,} | {count / pairs:.1%} |"


def _cell(text: str) -> str:
    return text.replace("|", " ")
