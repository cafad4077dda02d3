"""The card of a data set: what it is, how it was chosen, and its statistics, in Markdown with a head in YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_TABLES = (
    ("category", "Categories of SafePlan-Bench", 40),
    ("safel", "Types of SAFEL", 40),
    ("target", "Who or what would be harmed", 10),
    ("world", "Worlds", 10),
    ("source", "How unsafe plans were found", 10),
    ("moment", "When the rule is broken", 5),
    ("edits", "Edits between the plans", 10),
    ("rule", "Rules", 20),
    ("family", "Families of tasks", 60),
)
_FIELDS = """\
| field | what it is |
|---|---|
| `prompt`, `chosen`, `rejected` | the task, the safe plan, the unsafe plan; an action a line |
| `shared` | how many actions both plans begin with |
| `first_violation` | the step of `rejected` at which `rule` is broken; its length + 1 where only the end tells |
| `no_return` | the interval of the last step from which a safe plan is still known, or null |
| `regret`, `grade` | for each action what it costs in further steps, and how that was found; null where nobody asked |
| `weights` | what each action and the end of the plan count in a weighted loss |
| `rule`, `rules` | the rule aimed at, and all that `rejected` breaks |
| `safel`, `categories` | types of SAFEL and categories of SafePlan-Bench of `rule` |
| `moment`, `witness` | whether it is broken on the way or by the end; the finding in words |
| `goal` | whether the plans reach the goal |
| `edits`, `source`, `seed` | how the unsafe plan was made |
| `id`, `task`, `origin`, `family`, `world`, `split` | which pair, which task, where from, which side |
"""


_INTRODUCTION = (
    "Each line is a task with two plans that can be executed: `chosen` breaks no safety rule and reaches the goal,",
    "`rejected` breaks at least one. Both were judged by the formal verifier safecheck, which wrote this card; no",
    "person or model labelled anything. The rules are the measure: a hazard that no rule is about is not seen here.",
)


def card(report: Mapping[str, Any], kto: bool) -> str:
    """The card. ``report``: as in ``report.json``."""
    return "\n".join([*_head(report["statistics"], kto), *_text(report), ""])


def _head(found: Mapping[str, Any], kto: bool) -> Iterator[str]:
    size = next((name for most, name in _SIZES if found["pairs"] < most), "n>1M")
    yield from ("---", "pretty_name: Pairs of safe and unsafe household plans", "language:", "- en")
    yield from (
        "task_categories:",
        "- text-generation",
        "tags:",
        "- preference",
        "- planning",
        "- robotics",
        "- safety",
    )
    yield from ("size_categories:", f"- {size}", "configs:")
    for name, folder in (("default", ""), ("kto", "kto/"))[: 2 if kto else 1]:
        yield from (f"- config_name: {name}", "  data_files:")
        for split in ("train", "test"):
            yield from (f"  - split: {split}", f"    path: {folder}{split}.jsonl")
    yield "---"


def _text(report: Mapping[str, Any]) -> Iterator[str]:
    found, told = report["statistics"], report["told"]
    by = found["by"]
    yield from ("", "# Pairs of safe and unsafe household plans", "")
    yield from _INTRODUCTION
    yield from ("", "```python", "from datasets import load_dataset", "", 'data = load_dataset("PATH OF THIS FOLDER")')
    yield from ("```", "", "trl's trainers take the lines as they are (`prompt`, `chosen`, `rejected`).")
    if report["asked"].get("kto"):
        yield "The configuration `kto` has each plan by itself, with `label`."
    yield from ("", "## Fields", "", _FIELDS, "## How they were chosen", "")
    rules = max(by["rule"].values(), default=0) / max(found["pairs"], 1)
    reached = found["unsafe plans that reach the goal"] / max(found["pairs"], 1)
    yield f"- {found['pairs']:,} pairs of {report['offered']:,} candidates; {sum(found['tasks'].values()):,} tasks,"
    yield f"  {found['safe plans']:,} safe plans, {len(by['rule'])} rules, the most frequent in {rules:.1%} of pairs."
    yield f"- Families of tasks are on one side of the split ({by['split'].get('train', 0):,} pairs to train,"
    yield f"  {by['split'].get('test', 0):,} to test), and so are plans that are equal up to the names of objects."
    yield f"- {reached:.1%} of the unsafe plans reach the goal."
    yield f"- A classifier that sees only lengths and counts of actions finds the safe plan in {told['linear']:.1%}"
    yield f"  of the test pairs (a regression), {told['lookup']:.1%} (a table of differences) and {told['trees']:.1%}"
    yield "  (boosted trees); half is chance."
    yield from ("", "| left out | candidates |", "|---|---:|")
    yield from (f"| {reason} | {count:,} |" for reason, count in report["rejected"].items())
    yield from ("", "## Statistics", "", "| actions | least | median | mean | most |", "|---|---:|---:|---:|---:|")
    for name, of in (("chosen", "safe plan"), ("rejected", "unsafe plan"), ("shared", "begin with the same")):
        spread = found["lengths"].get(name)
        if spread:
            yield f"| {of} | {spread['least']} | {spread['median']:g} | {spread['mean']} | {spread['most']} |"
    for name, title, most in _TABLES:
        yield from _table(title, by[name], found["pairs"], most)
    yield from _table("Objects that plans handle, the most frequent", found["objects"], found["pairs"], 30)


def _table(title: str, counts: Mapping[str, int], pairs: int, most: int) -> Iterator[str]:
    if not counts:
        return
    more = f" ({most} of {len(counts)})" if len(counts) > most else ""
    yield from ("", f"### {title}{more}", "", "| | pairs | share |", "|---|---:|---:|")
    for name, count in list(counts.items())[:most]:
        yield f"| {name.replace('|', ' ')} | {count:,} | {count / max(pairs, 1):.1%} |"
