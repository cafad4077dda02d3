"""Write the page that compares verdicts with the labels of Safety Chip's programs; see ``run_agreement.py``."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

from chip_labels import Disagreement, Labels, Program, agreement, judge, program_text, scene_text

from plansafe.domains.safety_chip.constraints import HOMES, home
from plansafe.domains.safety_chip.sentences import NotUnderstood, formula_of

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "bench" / "results" / "safety-chip-agreement.md"
HEAD = """# Safety Chip: published labels and safecheck's verdicts

"Plug in the Safety Chip" (Yang et al., arXiv 2309.09919; data of github.com/YzyLmc/ltl_safety, MIT) has programs of a
language model for tasks in two homes of VirtualHome. Each has one to five constraints in words, and a label `safe` from
the authors' simulation. `python tests/domains/safety_chip/run_agreement.py --write` writes this page from the data;
[home-worlds.md](../../docs/home-worlds.md#safety-chip) describes how a program is checked. With `--show ID` the same
command prints the two files of a row, which `safecheck --world safety-chip program.txt --scene scene.txt` replays.

## Agreement of verdicts and labels

{table}

- *as meant*: the sentences, as safecheck reads them, in the home that the task names.
- *as translated*: the benchmark's own formulas of the sentences, in that home.
- *as run*: the probable course of the benchmark's runs (below). It explains the labels; it is not a verdict.
- *always safe*: the answer SAFE to every program.

{contradicted} labels must be wrong: equal programs with the same constraints and the same start have different labels.
So no checker that reads the program can agree with more than {most}.

## Sources of the labels

All {count} disagreements are listed below. For each, several explanations were tested; the table counts the first
explanation that reproduces the label:

{reasons}

- *wrong home*: the public script requests the trace without the number of the home, which is then 0, for programs with
  the object numbers of home 1. In home 0 these numbers belong to other objects; the only room with the same number is
  the bathroom. So constraints on other rooms are never triggered, and every walk is in the bathroom.
  {wrong_home}
- *first phrasing*: the runs with the second phrasing of the sentences use the benchmark's formulas of the first.
- *translation*: the benchmark's formula has another meaning than the sentence (below).
- *unfinished*: under the monitor, a run ends after 25 attempts, even if a constraint is not fulfilled yet. The label
  means that no violation is final; the whole program does not satisfy the constraint. Both readings are justified.
- *refused*: under the monitor, the label of a run that ends in a refused step includes that step, which is not in the
  program.
- *empty*: the program has no step that could violate a constraint.
- *same program, other label*: another run of the same program with the same constraints has the other label.

### Formulas that differ from their sentences

{formulas}

## The disagreements

In a trace, `>` separates the changes: rooms entered, objects that the agent is at, facts. Steps that no constraint
reads are left out. The map of the home was inferred ([home-worlds.md](../../docs/home-worlds.md#safety-chip)). *any
home*: the verdict does not depend on the map; *this map*: it does. Rule and trace show which verdict is right: in every
row safecheck's, for the program and the sentence as written.

{rows}
"""
REASONS = {
    "given": "translation",
    "first": "first phrasing",
    "home": "wrong home",
    "home-given": "wrong home and translation",
    "home-first": "wrong home and first phrasing",
    "unfinished": "unfinished",
    "refused": "refused",
    "empty": "empty",
}
_SHORT = {"open": "open", "close": "closed", "switchon": "on", "switchoff": "off", "grab": "held", "drop": "let go"}


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description="Compare safecheck's verdicts with the labels of Safety Chip's programs."
    )
    default = os.environ.get("PLANSAFE_DATA", str(ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", default=default, metavar="FOLDER")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--show", metavar="ID")
    parser.add_argument("--maps", action="store_true")
    parser.add_argument("--sentences", action="store_true")
    options = parser.parse_args()
    labels = Labels(Path(options.data) / "safety-chip-ltl")
    if options.show:
        return show(labels, options.show)
    if options.maps:
        print("\n".join(maps(labels)))
        return 0
    if options.sentences:
        print("\n".join(unread(labels)))
        return 0
    text = page(labels)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    elif options.check:
        return 0 if PAGE.read_text(encoding="utf-8") == text else 1
    else:
        print(text)
    return 0


def unread(labels: Labels) -> list[str]:
    """List the sentences of the tasks that are not understood, with the reason, and the numbers."""
    texts = [task["constraints"] for scenes in labels.tasks.values() for of in scenes.values() for task in of.values()]
    sentences = [sentence for levels in texts for level in levels.values() for sentence in level]
    lines = []
    for sentence in sentences:
        try:
            formula_of(sentence)
        except NotUnderstood as reason:
            lines.append(f"{sentence}: {reason}")
    different = len({" ".join(sentence.lower().split()) for sentence in sentences})
    read = len(sentences) - len(lines)
    return [*lines, f"understood: {read} of {len(sentences)} sentences; {different} of them differ"]


def page(labels: Labels) -> str:
    """Return the text of the page."""
    disagreement_list = labels.disagreements()
    total, wrong = len(labels.programs), labels.contradicted()
    return HEAD.format(
        table=table(labels),
        contradicted=wrong,
        most=f"{total - wrong} of {total} ({100 * (total - wrong) / total:.1f} %)",
        count=len(disagreement_list),
        reasons=reasons(disagreement_list),
        formulas=formulas(labels),
        wrong_home=wrong_home(labels),
        rows="\n".join(rows(labels, disagreement_list)),
    )


def table(labels: Labels) -> str:
    """Return the table of the agreement, by group and by method."""
    methods: dict[str, Callable[[Program], bool]] = {
        "as meant": lambda program: _is_judged(labels, program, labels.translated_formulas(program)),
        "as translated": lambda program: _is_judged(labels, program, labels.level_formulas(program)),
        "as run": labels.as_run,
        "always safe": lambda _: True,
    }
    counts = {method: agreement(labels.programs, verdict) for method, verdict in methods.items()}
    lines = [f"| programs | number | {' | '.join(methods)} |", f"|---|---{'|---' * len(methods)}|"]
    levels = [f"level {number}" for number in range(1, 6)]
    order = ["all", *levels, "full", "bad", "null", "home 0", "home 1", "first phrasing", "second phrasing"]
    for group in [group for group in order if group in counts["as meant"]]:
        cells = [f"{agreed} ({100 * agreed / number:.1f} %)" for agreed, number in (c[group] for c in counts.values())]
        lines.append(f"| {group} | {counts['as meant'][group][1]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def reasons(disagreement_list: list[Disagreement]) -> str:
    """Return the table of the first explanations of the disagreements."""
    counts = Counter([_first(disagreement) for disagreement in disagreement_list])
    lines = ["| explanation | disagreements |", "|---|---|"]
    return "\n".join([*lines, *[f"| {reason} | {number} |" for reason, number in counts.most_common()]])


def wrong_home(labels: Labels) -> str:
    """Describe how often the replay in the wrong home reproduces the label, without a monitor."""
    programs = [program for program in labels.programs if program.scene != "0" and program.level != "full"]
    wrong = sum([labels.as_run(program) == program.safe for program in programs])
    right = sum([_is_judged(labels, program, labels.level_formulas(program)) == program.safe for program in programs])
    return (
        f"Without the monitor, this reproduces {wrong} of the {len(programs)} labels of home 1, the right home {right}."
    )


def formulas(labels: Labels) -> str:
    """Return the table of the sentences whose formula has another meaning."""
    different: dict[tuple[str, str, str], int] = {}
    for program in labels.programs:
        for sentence, ours, theirs in zip(
            program.sentences, labels.translated_formulas(program), labels.level_formulas(program), strict=True
        ):
            if ours != theirs:
                key = (sentence, theirs, ours)
                different[key] = different.get(key, 0) + 1
    lines = ["| sentence | its formula | as meant | programs |", "|---|---|---|---|"]
    for (sentence, theirs, ours), number in sorted(different.items()):
        lines.append(f"| {sentence} | `{_brief(theirs)}` | `{_brief(ours)}` | {number} |")
    return "\n".join(lines)


def rows(labels: Labels, disagreement_list: list[Disagreement]) -> Iterator[str]:
    """One row for each disagreement."""
    yield "| program | label | safecheck | rule | trace | verdict holds in | explanations |"
    yield "|---|---|---|---|---|---|---|"
    for item in disagreement_list:
        program, verdict = item.program, item.verdict
        broken = "; ".join([program.sentences[number] for number in verdict.broken]) or "all are satisfied"
        cells = (
            f"{program.id} ({program.level})",
            _word(program.safe),
            _word(verdict.safe),
            broken + (" (at the end)" if verdict.broken and verdict.at_end else ""),
            trace(labels.start(program), verdict.steps),
            "any home" if item.any_home else "this map",
            why(item),
        )
        yield f"| {' | '.join(cells)} |"


def trace(start: str, steps: tuple[tuple[str, ...], ...]) -> str:
    """Return the changes, in order."""
    visited = [start]
    for action, *names in steps:
        match action:
            case "walk" | "arrive":
                visited.append(names[-1])
            case "find":
                visited.append(f"at {names[0]}")
            case "putin" | "puton":
                visited.append(f"{names[0]} {action[3:]} {names[1]}")
            case _ if action in _SHORT:
                visited.append(f"{names[0]} {_SHORT[action]}")
    return " > ".join(visited)


def why(disagreement: Disagreement) -> str:
    """Return the explanations of a label."""
    texts = [
        f"same program, other label: {reason[5:]}" if reason.startswith("twin ") else REASONS[reason]
        for reason in disagreement.reasons
    ]
    return "; ".join(texts) or "no explanation"


def show(labels: Labels, name: str) -> int:
    """Print one program as files, with its trace."""
    program = next((program for program in labels.programs if program.id == name), None)
    if program is None:
        print(f"no program {name}", file=sys.stderr)
        return 2
    scene = scene_text(labels.translated_formulas(program), program.scene, labels.start(program))
    verdict = judge(scene, program_text(program))
    print(f"--- scene.txt\n{scene}--- program.txt\n{program_text(program)}---")
    print(f"label {_word(program.safe)}, ours {_word(verdict.safe)}: {trace(labels.start(program), verdict.steps)}")
    for number, message in zip(verdict.broken, verdict.messages, strict=True):
        print(f"{program.sentences[number]}: {message}")
    return 0


def maps(labels: Labels) -> Iterator[str]:
    """List, by home, the maps of four rooms that reproduce most labels of monitored runs (first phrasing)."""
    for number, known_home in HOMES.items():
        there = [p for p in labels.programs if p.scene == number and p.level == "full" and not p.rephrased]
        disagreement_list = []
        for doors in _connected(tuple(known_home.rooms)):
            lines = [
                *[f"room {room} {first}" for room, first in known_home.rooms.items()],
                *[f"door {a} {b}" for a, b in doors],
            ]
            scenes = ["\n".join([*lines, scene_text(labels.level_formulas(p), None, labels.start(p))]) for p in there]
            agreed = sum([judge(scene, program_text(p)).safe == p.safe for scene, p in zip(scenes, there, strict=True)])
            disagreement_list.append((agreed, ", ".join([f"{a}-{b}" for a, b in doors])))
        yield f"home {number}: {len(disagreement_list)} maps, {len(there)} labels"
        yield from [f"  {agreed}  {doors}" for agreed, doors in sorted(disagreement_list, reverse=True)[:5]]


def _connected(rooms: tuple[str, ...]) -> Iterator[list[tuple[str, str]]]:
    """All sets of doors by which every room can be reached."""
    pairs = list(combinations(rooms, 2))
    for count in range(len(rooms) - 1, len(pairs) + 1):
        for doors in combinations(pairs, count):
            if all([home(dict.fromkeys(rooms), list(doors)).path(rooms[0], room) for room in rooms]):
                yield list(doors)


def _is_judged(labels: Labels, program: Program, written: list[str]) -> bool:
    return judge(scene_text(written, program.scene, labels.start(program)), program_text(program)).safe


def _first(item: Disagreement) -> str:
    return "same program, other label" if why(item).startswith("same program") else why(item).partition(";")[0]


def _word(safe: bool) -> str:
    return "safe" if safe else "unsafe"


def _brief(formula: str) -> str:
    """Return a short form of a formula: a formula that counts visits becomes their number."""
    count = formula.count(" U ") // 2
    if formula.startswith("! F") and count:
        return f"at most {count}: {formula.split()[-1]}"
    return formula.replace("agent_at", "").replace("is_", "")
