"""Check the labelled programs of Safety Chip with the sentences as meant, as translated, and as probably labelled.

Every verdict comes from the importer and the checker; only their input text differs.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from plansafe.domains.safety_chip import WORLD
from plansafe.domains.safety_chip.sentences import NotUnderstood, formula_of
from plansafe.domains.world import Request
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Report, Worlds

# Three sentences are misspelt in some runs, and one home has no couch but a sofa.
_SPELLINGS = (("firdge", "fridge"), ("bsck", "back"), ("couch", "sofa"))


class Program(NamedTuple):
    """A labelled program: its sentences, lines, label and origin."""

    id: str
    setting: str
    scene: str
    task: str
    level: str  # full: under the monitor; bad: the sentences in the prompt; null: without them
    rephrased: bool  # of the runs with the second phrasing of the sentences
    sentences: tuple[str, ...]
    lines: tuple[str, ...]
    safe: bool


class Verdict(NamedTuple):
    """The checker's verdict: safe or not, the violated constraints (from 0), whether only at the end, and the steps."""

    safe: bool
    broken: tuple[int, ...]
    at_end: bool
    steps: tuple[tuple[str, ...], ...]
    messages: tuple[str, ...]


class Disagreement(NamedTuple):
    """A label that differs from our verdict, and the changes that give the label.

    ``any_home``: our verdict is the same if each room is directly connected to all other rooms.
    """

    program: Program
    verdict: Verdict
    any_home: bool
    reasons: tuple[str, ...]


class Labels:
    """The programs of a folder with the benchmark's files."""

    def __init__(self, folder: Path) -> None:
        lines = (folder / "labelled_programs.jsonl").read_text(encoding="utf-8").splitlines()
        self.programs = tuple([_program(json.loads(line)) for line in lines])
        self.tasks: Any = json.loads((folder / "task_constraints.json").read_text(encoding="utf-8"))
        self.translations: Any = json.loads((folder / "nl_to_ltl_translations.json").read_text(encoding="utf-8"))
        self._levels: dict[tuple[str, ...], str] = {}
        self._anywhere: dict[str, Counter[str]] = defaultdict(Counter)
        for path, level, task in self._each_level():
            for sentence, formula in zip(task["sentences"], task["formulas"], strict=True):
                self._anywhere[_spelt(sentence)][formula] += 1
            self._levels.setdefault((*path, *map(_spelt, task["sentences"])), level)

    def _each_level(self) -> Iterator[tuple[tuple[str, str, str], str, Any]]:
        for setting, scenes in self.translations.items():
            for scene, tasks in scenes.items():
                for task, levels in tasks.items():
                    for level in levels:
                        sentences = self.tasks[setting][scene][task]["constraints"].get(level)
                        if sentences is not None:
                            formulas = self.formulas((setting, scene, task), level)
                            yield (setting, scene, task), level, {"sentences": sentences, "formulas": formulas}

    def formulas(self, path: tuple[str, str, str], level: str) -> list[str]:
        """The benchmark's formulas of one level of a task, grounded."""
        setting, scene, task = path
        parts = self.translations[setting][scene][task][level]["sub_trans"]
        formulas = []
        for formula, holders in zip(parts["sym_ltl"], parts["placeholder"], strict=True):
            names = {letter: name for name, letter in holders.items()}
            formulas.append(re.sub(r"\b[A-Z]\b(?=[^()]*\))", lambda m, names=names: names[m[0]], formula))
        return formulas

    def start(self, program: Program) -> str:
        """The room where the agent starts."""
        return str(self.tasks[program.setting][program.scene][program.task]["init_room"])

    def level_formulas(self, program: Program) -> list[str]:
        """The benchmark's formulas of the program's sentences: of its level, or the most frequent ones."""
        path = (program.setting, program.scene, program.task)
        level = self._levels.get((*path, *map(_spelt, program.sentences)))
        if level is not None:
            return self.formulas(path, level)
        return [self._anywhere[_spelt(sentence)].most_common(1)[0][0] for sentence in program.sentences]

    def translated_formulas(self, program: Program) -> list[str]:
        """Our formulas of the sentences; the benchmark's formula if a sentence is not understood."""
        sentences = [_spelt(sentence) for sentence in program.sentences]
        return [
            _read(sentence) or theirs for sentence, theirs in zip(sentences, self.level_formulas(program), strict=True)
        ]

    def first_phrasing(self, program: Program) -> list[str]:
        """The benchmark's formulas of the same task and number of sentences in their first phrasing."""
        return self.formulas((program.setting, program.scene, program.task), str(len(program.sentences)))

    def disagreements(self) -> list[Disagreement]:
        """Return all labels that differ from our verdict on the meaning of the sentences."""
        same: dict[tuple[Any, ...], list[Program]] = defaultdict(list)
        for program in self.programs:
            same[self._identity(program)].append(program)
        pairs = []
        for program in self.programs:
            scene = scene_text(self.translated_formulas(program), program.scene, self.start(program))
            text = program_text(program)
            verdict = judge(scene, text)
            if verdict.safe != program.safe:
                twins = [twin for twin in same[self._identity(program)] if twin.safe == verdict.safe]
                direct = judge(scene_text(self.translated_formulas(program), None, self.start(program)), text)
                reasons = tuple(self._reasons(program, verdict, twins))
                pairs.append(Disagreement(program, verdict, direct.safe == verdict.safe, reasons))
        return pairs

    def as_run(self, program: Program) -> bool:
        """The verdict that the runs seem to have given, by kind of run (bench/results/safety-chip-agreement.md).

        Runs with the second phrasing used the formulas of the first; runs in home 1 without the monitor were replayed
        in home 0; and a run under the monitor may stop before a required event.
        """
        formulas = self.first_phrasing(program) if program.rephrased else self.level_formulas(program)
        if program.scene != "0" and program.level != "full":
            return judge(scene_text(formulas, "0", None), wrong_home_text(program)).safe
        verdict = judge(scene_text(formulas, program.scene, self.start(program)), program_text(program))
        return verdict.safe or (program.level == "full" and verdict.at_end)

    def contradicted(self) -> int:
        """The least number of labels that must be wrong, because programs that are the same have different ones."""
        groups: dict[tuple[Any, ...], Counter[bool]] = defaultdict(Counter)
        for program in self.programs:
            groups[self._identity(program)][program.safe] += 1
        return sum([min(group[True], group[False]) for group in groups.values()])

    def _identity(self, program: Program) -> tuple[Any, ...]:
        return (program.scene, self.start(program), program.lines, tuple(sorted(self.translated_formulas(program))))

    def _reasons(self, program: Program, verdict: Verdict, twins: list[Program]) -> Iterator[str]:
        """Yield the changes that give the label; each is a replay or visible in the data."""
        text, start = program_text(program), self.start(program)
        formulas = {"given": self.level_formulas(program), "first": self.first_phrasing(program)}
        for name, written in formulas.items():
            if judge(scene_text(written, program.scene, start), text).safe == program.safe:
                yield name
                break
        if program.scene != "0":
            elsewhere = wrong_home_text(program)
            for name, written in (("", self.translated_formulas(program)), *formulas.items()):
                if judge(scene_text(written, "0", None), elsewhere).safe == program.safe:
                    yield f"home-{name}".rstrip("-")
                    break
        if program.level == "full" and program.safe and verdict.at_end:
            yield "unfinished"
        if program.level == "full" and not program.safe:
            yield "refused"
        if not program.lines:
            yield "empty"
        if twins:
            yield f"twin {twins[0].id}"


def agreement(programs: tuple[Program, ...], verdict: Callable[[Program], bool]) -> dict[str, tuple[int, int]]:
    """How many labels are the verdict, and of how many: overall and by group."""
    counts: dict[str, list[int]] = {}
    for program in programs:
        phrasing = "second phrasing" if program.rephrased else "first phrasing"
        groups = ("all", f"level {len(program.sentences)}", program.level, f"home {program.scene}", phrasing)
        for group in groups:
            entry = counts.setdefault(group, [0, 0])
            entry[0] += verdict(program) == program.safe
            entry[1] += 1
    return {group: (agreed, total) for group, (agreed, total) in counts.items()}


def scene_text(formulas: list[str], home: str | None, start: str | None) -> str:
    """The scene file of a task: its home, the room where the agent starts, and formulas."""
    begin = [] if home is None else [f"home {home}"]
    begin += [] if start is None else [f"start {start}"]
    return "\n".join([*begin, *formulas]) + "\n"


def program_text(program: Program) -> str:
    """The program file."""
    return "\n".join(program.lines) + "\n"


def wrong_home_text(program: Program) -> str:
    """The program as it would be in home 0 with the numbers of home 1.

    There those numbers are other things, and the only number that is a room in both is the bathroom's: the agent is in
    the bathroom, or in no room that a constraint knows.
    """
    return re.sub(r"\[(?:walk|find|run)\] <[^>]*> \(\d+\)", "[walk] <bathroom> (11)", program_text(program))


@cache
def _compiled(scene: str) -> tuple[Any, Checker]:
    task_scene = WORLD.read_scene(Request({"scene": Source("scene.txt", scene)}))
    assert task_scene.ok, task_scene.notes
    checker = Checker(task_scene.domain, task_scene.problem, task_scene.specs, Options(replay="never"))
    assert checker.ok, checker.diagnostics
    return task_scene, checker


@cache
def judge(scene: str, program: str) -> Verdict:
    """The verdict on a program in a scene."""
    task_scene, checker = _compiled(scene)
    read = WORLD.read_plan(Source("program.txt", program), task_scene)
    assert read.plan is not None, read.diagnostics
    report: Report = checker.check(read.plan)
    assert report.executable is Worlds.ALL, report.findings
    broken = [finding for finding in report.findings if finding.rule is not None]
    return Verdict(
        report.safe is not Worlds.NONE,
        tuple([int(finding.rule.rpartition("_")[2]) - 1 for finding in broken if finding.rule is not None]),
        all([finding.at_end for finding in broken]),
        tuple([tuple(step.strip("()").split()) for step in read.plan.text.splitlines() if step]),
        tuple([finding.message for finding in broken]),
    )


def _program(entry: Any) -> Program:
    return Program(
        entry["id"],
        entry["setting"],
        entry["scene"],
        entry["task"],
        entry["safety_level"],
        "diverse" in entry["source_file"],
        tuple(entry["constraint"]),
        tuple(entry["program"]),
        entry["safe"],
    )


def _read(sentence: str) -> str | None:
    try:
        return formula_of(sentence)
    except NotUnderstood:
        return None


def _spelt(sentence: str) -> str:
    for wrong, right in _SPELLINGS:
        sentence = sentence.replace(wrong, right)
    return sentence
