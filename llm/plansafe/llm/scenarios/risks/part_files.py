"""Risk files: many tasks in one text, grouped into families that share rooms and objects.

A line ``family: NAME`` or ``risk: NAME`` starts a block, as in the part files of scenarios. Each task becomes an
environment graph, its PDDL problem, a script that meets a hazard and a script that is safe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from plansafe.domains.virtualhome import WORLD, problem_text
from plansafe.domains.virtualhome.names import domain_text
from plansafe.domains.virtualhome.script import action_name
from plansafe.domains.world import SCENE, Request, Scene
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.model import Kind
from plansafe.llm.scenarios.risks.environment import Environment, class_of, home_rules, read_environment
from plansafe.llm.scenarios.sets.part_files import Block, Entry, Line, Mistake, Part, VirtualFile, read_blocks
from plansafe.specs import default_specs
from plansafe.specs.taxonomy import load_taxonomies

SUFFIX = ".risks"
TAXONOMY = "safeplan-bench"
_SHARED = ("by", "role", "seed", "rooms", "objects")
FAMILY_KEYS = ("family", *_SHARED)
RISK_KEYS = ("risk", *_SHARED, "category", "task", "goal", "unsafe", "safe", "rule")
_REQUIRED = ("by", "role", "category", "task", "rooms", "objects", "unsafe", "safe")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}\Z")
_BY = re.compile(r"(person|template|model [^\s].*)\Z")
_SEED = re.compile(r"(virtualhome \d+_\d+|safeagentbench (safe-)?\d+|earbench \S.*|model-answer \S+|none)\Z")
_ACTION = re.compile(r"\(:action (\S+) :parameters \(([^()]*)\)")
_GRAPH, _UNSAFE, _SAFE, _PROBLEM = "graph.json", "unsafe.plan", "safe.plan", "problem.pddl"


@dataclass(frozen=True)
class RiskEntry(Entry):
    """A task of a risk file with its family. ``environment`` and ``scene`` are missing if it has mistakes."""

    environment: Environment | None = None
    scene: Scene | None = None

    @property
    def kind(self) -> Kind:
        """Situational: the command is harmless."""
        return Kind.SITUATIONAL

    @property
    def instruction(self) -> str:
        """The task in words."""
        return self.block.text("task")

    @property
    def category(self) -> str:
        """The category of the hazard."""
        return self.block.text("category")

    @property
    def hazards(self) -> tuple[str, ...]:
        """Types of SAFEL that the broken rule belongs to; none before `accept --write` has written the rule."""
        rule = home_rules().get(self.rule)
        return () if rule is None else tuple([kind.name for kind in load_taxonomies()["safel"].find_categories(rule)])

    @property
    def base(self) -> str:
        """The name of the domain."""
        return "virtualhome"

    @property
    def specs(self) -> tuple[str, ...]:
        """The rules for homes."""
        return default_specs("virtualhome")

    @property
    def rule(self) -> str:
        """The rule that the hazard script breaks, as the acceptance command writes it."""
        return self.block.text("rule")

    def value(self, key: str) -> str:
        """The value of a key, of the task or of its family."""
        return self.block.text(key) or self.family.text(key)

    def steps(self, key: str) -> tuple[Line, ...]:
        """The steps of a script (``unsafe`` or ``safe``)."""
        return written_items(self.block.lines(key))

    def script(self, key: str) -> str:
        """A script in the notation of VirtualHome, one step a line."""
        assert self.environment is not None
        return "\n".join([_script_line(line.text, self.environment) for line in self.steps(key)]) + "\n"


def read_entries(paths: Iterable[str]) -> tuple[RiskEntry, ...]:
    """The tasks of risk files, with their authors, roles, seeds and rules."""
    parts = [read_risks(Source.from_path(path)) for path in paths]
    return tuple([entry for part in parts for entry in part.entries if isinstance(entry, RiskEntry)])


def read_risks(source: Source) -> Part:
    """Read the tasks of a risk file. Errors are reported with the task that they are in."""
    mistakes: list[Mistake] = []
    entries: list[RiskEntry] = []
    names: set[str] = set()
    family: Block | None = None
    for head, block, wrong in read_blocks(source, ("family", "risk")):
        problems = [*wrong]
        if head == "":
            early = [line for values in block.values.values() for line in values]
            mistakes += [*problems, *[Mistake(line.number, "a line `family: NAME` must come first") for line in early]]
            continue
        if not _NAME.match(block.name):
            problems.append(Mistake(block.line, f"{block.name!a} is not a valid name: write a-z, 0-9 and `-`"))
        keys = FAMILY_KEYS if head == "family" else RISK_KEYS
        for key, lines in block.values.items():
            if key not in keys:
                problems.append(
                    Mistake(lines[0].number, f"`{key}` is not a key of a {head}: use {', '.join(keys[1:])}")
                )
        if head == "family":
            family = block
            mistakes += problems
            continue
        if block.name in names:
            problems.append(Mistake(block.line, f"the task `{block.name}` occurs twice in this file"))
        names.add(block.name)
        entries.append(_entry(source.name, block, family or Block(block.name, block.line, {}), problems))
    return Part(tuple(entries), tuple(mistakes))


def _entry(part: str, block: Block, family: Block, problems: list[Mistake]) -> RiskEntry:
    entry = RiskEntry(part, block, family)
    problems += _value_mistakes(entry)
    if problems:
        return RiskEntry(part, block, family, tuple(problems))
    rooms = (*family.lines("rooms"), *block.lines("rooms"))
    environment, wrong = read_environment(rooms, (*family.lines("objects"), *block.lines("objects")))
    problems += [mistake if mistake.line else mistake._replace(line=block.line) for mistake in wrong]
    goal: list[str] = []
    if not problems:
        for key in ("unsafe", "safe"):
            problems += _step_mistakes(entry.steps(key), environment)
        for line in written_items(block.lines("goal")):
            fact = _goal_fact(line, environment)
            if isinstance(fact, Mistake):
                problems.append(fact)
            else:
                goal.append(fact)
    if problems:
        return RiskEntry(part, block, family, tuple(problems))
    graph = Source(f"{part}:{block.name}/{_GRAPH}", environment.text())
    scene = WORLD.read_scene(Request({SCENE: graph}, None))
    if not scene.ok:
        message = f"the environment cannot be read: {scene.notes[-1].message}"
        return RiskEntry(part, block, family, (Mistake(block.line, message),))
    problem = problem_text(scene.data.home, f"(and {' '.join(goal)})")
    scene = scene._replace(problem=Source(f"{part}:{block.name}/{_PROBLEM}", problem))
    files = {_GRAPH: VirtualFile(graph, (block.line,)), _PROBLEM: VirtualFile(scene.problem, (block.line,))}
    for key, name in (("unsafe", _UNSAFE), ("safe", _SAFE)):
        steps = entry.steps(key)
        text = "".join([f"{_plan_step(line.text, environment)}\n" for line in steps])
        lines = tuple([line.number for line in steps])
        files[name] = VirtualFile(Source(f"{part}:{block.name}/{name}", text), lines)
    return RiskEntry(part, block, family, (), files, environment, scene)


def written_items(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The items of a value, one on a line or separated by ``;``."""
    items = [Line(line.number, item.strip()) for line in lines for item in line.text.split(";")]
    return tuple([item for item in items if item.text])


# -- values -----------------------------------------------------------------------------------------------------------


def categories() -> Mapping[str, str]:
    """The categories with their titles."""
    return {category.name: category.title for category in load_taxonomies()[TAXONOMY].categories}


def _value_mistakes(entry: RiskEntry) -> list[Mistake]:
    block = entry.block
    out = [Mistake(block.line, f"`{key}:` is missing") for key in _REQUIRED if not entry.value(key)]
    for key, pattern, expected in (
        ("by", _BY, "`person`, `template` or `model NAME`"),
        ("seed", _SEED, "`virtualhome 27_2`, `safeagentbench 123`, `earbench ID`, `model-answer ID` or `none`"),
    ):
        if entry.value(key) and not pattern.match(entry.value(key)):
            owner = block if block.lines(key) else entry.family
            out.append(Mistake(owner.lines(key)[0].number, f"`{key}` must be {expected}"))
    if entry.category and entry.category not in categories():
        message = f"{entry.category!a} is not a category; categories: {', '.join(categories())}"
        out.append(Mistake(block.lines("category")[0].number, message))
    return out


def _step_mistakes(steps: Sequence[Line], environment: Environment) -> list[Mistake]:
    out = []
    for line in steps:
        verb, *names = line.text.split()
        action = action_name(verb, len(names))
        if action not in verbs():
            message = f"`{verb}` is not a verb; verbs: {', '.join(verbs())}"
            out.append(Mistake(line.number, message))
        elif verbs()[action] != len(names):
            message = f"`{line.text}`: `{verb}` takes {verbs()[action]} objects, not {len(names)}"
            out.append(Mistake(line.number, message))
        out += [
            Mistake(line.number, f"`{line.text}`: there is no `{name}` in the environment")
            for name in names
            if name not in environment.objects
        ]
    return out


@cache
def verbs() -> Mapping[str, int]:
    """The actions of scripts, with the number of objects that each takes."""
    pairs = _ACTION.findall(domain_text())
    return {name: parameters.count("?") - 1 for name, parameters in sorted(pairs)}


def _plan_step(text: str, environment: Environment) -> str:
    verb, *names = text.split()
    words = [action_name(verb, len(names)), *[pddl_object(name, environment) for name in ("character", *names)]]
    return f"({' '.join(words)})"


def _script_line(text: str, environment: Environment) -> str:
    verb, *names = text.split()
    arguments = [f"<{class_of(name)}> (1.{environment.ids[name]})" for name in names]
    return " ".join([f"[{action_name(verb, len(names)).upper()}]", *arguments])


def pddl_object(name: str, environment: Environment) -> str:
    """The PDDL name of an object."""
    return f"{class_of(name)}_{environment.ids[name]}"


def _goal_fact(line: Line, environment: Environment) -> str | Mistake:
    words = line.text.strip("()").split()
    negated = words[:1] == ["not"]
    predicate, *names = words[1:] if negated else words
    missing = [name for name in names if name not in environment.objects]
    if missing or not names:
        return Mistake(line.number, f"`{line.text}`: there is no `{' '.join(missing)}` in the environment")
    fact = f"({' '.join([predicate, *[pddl_object(name, environment) for name in names]])})"
    return f"(not {fact})" if negated else fact
