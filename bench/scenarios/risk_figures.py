"""Figures about a set of risk files as Markdown, among them the paper's figure 4 and the objects of its appendix F."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bench.scenarios.set_figures import nearest_scores, size_table, step_count, table

from plansafe.domains.virtualhome.graph import Home
from plansafe.domains.virtualhome.names import CHARACTER, is_room
from plansafe.llm.scenarios.model import Scenario, Split
from plansafe.llm.scenarios.risks.part_files import RiskEntry, categories

_FREQUENT = 20
_BAR = 40


def risk_rules(entries: Iterable[RiskEntry]) -> dict[str, str]:
    """The broken rule of each task."""
    return {entry.name: entry.rule for entry in entries}


def risk_figures(scenarios: Sequence[Scenario], entries: Sequence[RiskEntry], rules: Mapping[str, Split]) -> str:
    """The tables. ``rules``: the split of each task by rules."""
    parts = [
        _categories(scenarios, rules),
        f"**Distribution of categories (figure 4)**\n\n{_bars(entries)}",
        f"**Most frequent objects (appendix F)**\n\n{_objects(entries)}",
        f"**Proposed by**\n\n{_counts('by', [entry.value('by') for entry in entries])}",
        f"**Roles**\n\n{_counts('role', [entry.value('role') for entry in entries])}",
        f"**Seeds**\n\n{_counts('source', [entry.value('seed').partition(' ')[0] or 'none' for entry in entries])}",
        f"**Broken rules**\n\n{_rules(entries)}",
        f"**Sizes**\n\n{_sizes(scenarios, entries)}",
    ]
    return "\n\n".join(parts) + "\n"


def _categories(scenarios: Sequence[Scenario], rules: Mapping[str, Split]) -> str:
    heads = ["category", "all", *[f"{split} by family" for split in Split], *[f"{split} by rule" for split in Split]]
    rows = []
    for name, title in (*categories().items(), ("", "all")):
        matching = [scenario for scenario in scenarios if name in ("", scenario.category)]
        by_family = [sum([scenario.split is split for scenario in matching]) for split in Split]
        by_rule = [sum([rules.get(scenario.name) is split for scenario in matching]) for split in Split]
        rows.append([title, len(matching), *by_family, *by_rule])
    families = len({scenario.family for scenario in scenarios})
    return table(heads, rows) + f"\n\n{families} families."


def _bars(entries: Sequence[RiskEntry]) -> str:
    counts = Counter([entry.category for entry in entries])
    most = max(counts.values(), default=1)
    lines = [
        f"{categories()[name]:25} {count:4} {count / len(entries):6.1%} {'#' * round(_BAR * count / most)}"
        for name, count in counts.most_common()
    ]
    return "\n".join(["```", *lines, "```"])


def _objects(entries: Sequence[RiskEntry]) -> str:
    """The classes in most environments: all of an environment, and those that its scripts name."""
    present = Counter([name for entry in entries for name in _classes(entry)])
    used = Counter([name for entry in entries for name in _used(entry)])
    rows = [
        [rank, f"{first} ({number})", f"{second} ({uses})"]
        for rank, ((first, number), (second, uses)) in enumerate(
            zip(present.most_common(_FREQUENT), used.most_common(_FREQUENT), strict=False), 1
        )
    ]
    return table(["", "in the environment (tasks)", "in a script (tasks)"], rows)


def _home(entry: RiskEntry) -> Home:
    assert entry.scene is not None
    home: Home = entry.scene.data.home
    return home


def _classes(entry: RiskEntry) -> set[str]:
    return {
        node.class_name for node in _home(entry).objects.values() if node.type != CHARACTER and not is_room(node.type)
    }


def _used(entry: RiskEntry) -> set[str]:
    steps = [*entry.steps("unsafe"), *entry.steps("safe")]
    return {name.partition(".")[0] for line in steps for name in line.text.split()[1:]} & _classes(entry)


def _counts(title: str, values: Iterable[str]) -> str:
    counts = Counter(values)
    total = max(1, counts.total())
    rows = [[name, number, f"{number / total:.1%}"] for name, number in counts.most_common(_FREQUENT)]
    omitted = len(counts) - len(rows)
    return table([title, "tasks", "share"], rows) + (f"\n\nand {omitted} more." if omitted else "")


def _rules(entries: Sequence[RiskEntry]) -> str:
    counts = Counter([entry.rule for entry in entries])
    rows = [[f"`{name}`", count] for name, count in counts.most_common(_FREQUENT)]
    return table(["rule", "tasks"], rows) + f"\n\n{len(counts)} rules are broken by a task."


def _sizes(scenarios: Sequence[Scenario], entries: Sequence[RiskEntry]) -> str:
    values: dict[str, list[float]] = {
        "words of the task": [len(scenario.instruction.split()) for scenario in scenarios],
        "objects of the environment": [len(_home(entry).objects) for entry in entries],
        "facts of the goal": [len(entry.block.text("goal").split(";")) for entry in entries],
        "steps of the hazard script": [step_count(scenario.unsafe) for scenario in scenarios],
        "steps of the safe script": [step_count(scenario.safe) for scenario in scenarios],
        "Rouge-L with the nearest other task": nearest_scores(scenarios),
        "tasks of one rule": list(Counter([entry.rule for entry in entries]).values()),
    }
    return size_table(values)
