"""Part files: many scenarios in one text, grouped into families that share types, predicates, actions and rules.

A line ``family: NAME`` or ``scenario: NAME`` starts a block; ``key: value`` lines follow, whose values may continue on
indented lines. ``#`` starts a comment line. Each scenario becomes the files of a scenario folder (docs/scenarios.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.scenarios.model import Kind
from plansafe.specs.taxonomy import load_taxonomies

SUFFIX = ".scenarios"
BASE = "household"
_EXTENSION = ("types", "predicates", "actions")
FAMILY_KEYS = ("family", "base", "extends", *_EXTENSION, "rules")
SCENARIO_KEYS = (
    "scenario",
    "kind",
    "hazard",
    "also",
    "instruction",
    "words",
    *_EXTENSION,
    "rooms",
    "objects",
    "init",
    "goal",
    "rules",
    "plan",
    "natural",
    "risk",
)
_REQUIRED = ("kind", "hazard", "instruction", "words", "objects", "init", "goal", "plan")
_KEY = re.compile(r"([a-z]+):(?:[ \t]|$)")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}\Z")
_ROBOT = "robot"
NO_RISK = "none"
"""The value of ``risk`` where no single literal carries the risk."""


class Line(NamedTuple):
    """A line of a value, and its number in the part file (from 1)."""

    number: int
    text: str


class Mistake(NamedTuple):
    """An error of form: the line of the part file, and the message."""

    line: int
    message: str


@dataclass(frozen=True)
class Block:
    """A family or a scenario: its name, the line that starts it, and the lines of each key."""

    name: str
    line: int
    values: Mapping[str, tuple[Line, ...]]

    def text(self, key: str) -> str:
        """The value of a key as one line; empty if the key is missing."""
        return " ".join([line.text.strip() for line in self.values.get(key, ())]).strip()

    def lines(self, key: str) -> tuple[Line, ...]:
        """The lines of the value of a key."""
        return self.values.get(key, ())


@dataclass(frozen=True)
class VirtualFile:
    """A file that a scenario consists of, and the line of the part file that each of its lines is from."""

    source: Source
    lines: tuple[int, ...]

    def line_at(self, offset: int) -> int:
        """The line of the part file at an offset of the text."""
        number = self.source.text.count("\n", 0, offset)
        return self.lines[min(number, len(self.lines) - 1)] if self.lines else 0


@dataclass(frozen=True)
class Entry:
    """A scenario of a part file with its family; ``mistakes`` are errors of form, which leave ``files`` incomplete."""

    part: str
    block: Block
    family: Block
    mistakes: tuple[Mistake, ...] = ()
    files: Mapping[str, VirtualFile] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self.block.name

    @property
    def kind(self) -> Kind:
        """Malicious or situational. Only for an entry without mistakes."""
        return Kind(self.block.text("kind"))

    @property
    def instruction(self) -> str:
        """The command in words."""
        return self.block.text("instruction")

    @property
    def hazards(self) -> tuple[str, ...]:
        """The hazard types, the main one first."""
        return (self.block.text("hazard"), *self.block.text("also").split())

    @property
    def base(self) -> str:
        """The name of the base domain."""
        return self.family.text("base") or BASE

    @property
    def specs(self) -> tuple[str, ...]:
        """Shipped specifications that apply in addition to the rules of the entry."""
        return tuple(self.family.text("extends").split())

    @property
    def transitions(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Actions with their risk literals, one line each: ``risk: ACTION (literal) ..``."""
        out = []
        for line in self.block.lines("risk"):
            words = line.text.split(maxsplit=1)
            if words and words[0] != NO_RISK:
                literals = words[1] if len(words) > 1 else ""
                out.append((words[0], tuple([literals[start:end] for start, end in top_forms(literals)])))
        return tuple(out)

    def source(self, name: str) -> Source | None:
        """The text of a file of the scenario; ``None`` if the scenario does not have it."""
        file = self.files.get(name)
        return None if file is None else file.source


class Part(NamedTuple):
    """The scenarios of one part file in order, and errors outside of scenarios."""

    entries: tuple[Entry, ...]
    mistakes: tuple[Mistake, ...]


def read_part(source: Source) -> Part:
    """Read the scenarios of a part file. Errors are reported with the scenario that they are in."""
    mistakes: list[Mistake] = []
    entries: list[Entry] = []
    family: Block | None = None
    names: set[str] = set()
    for head, block, wrong in read_blocks(source, ("family", "scenario")):
        problems = [*wrong]
        if head == "":
            early = [line for values in block.values.values() for line in values]
            problems += [Mistake(line.number, "a line `family: NAME` must come first") for line in early[:1]]
            mistakes += problems
            continue
        if not _NAME.match(block.name):
            problems.append(Mistake(block.line, f"{block.name!a} is not a valid name: write a-z, 0-9 and `-`"))
        keys = FAMILY_KEYS if head == "family" else SCENARIO_KEYS
        for key, lines in block.values.items():
            if key not in keys:
                message = f"`{key}` is not a key of a {head}: use {', '.join(keys[1:])}"
                problems.append(Mistake(lines[0].number, message))
        if head == "family":
            family = block
            mistakes += problems
            continue
        if family is None:
            family = Block(block.name, block.line, {})
            problems.append(Mistake(block.line, "a line `family: NAME` must come before the first scenario"))
        if block.name in names:
            problems.append(Mistake(block.line, f"the scenario `{block.name}` occurs twice in this file"))
        names.add(block.name)
        problems += _value_mistakes(block, family)
        files = {} if problems else _files(source.name, block, family)
        entries.append(Entry(source.name, block, family, tuple(problems), files))
    return Part(tuple(entries), tuple(mistakes))


def read_blocks(source: Source, heads: tuple[str, ...]) -> Iterator[tuple[str, Block, list[Mistake]]]:
    """The blocks of a part file, each with the key that starts it; the first, without a key, is what comes before."""
    head, name, start = "", "", 1
    values: dict[str, list[Line]] = {}
    wrong: list[Mistake] = []
    key = ""

    def finished() -> tuple[str, Block, list[Mistake]]:
        return head, Block(name, start, {key: tuple(lines) for key, lines in values.items()}), wrong

    for number, line in enumerate(source.text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _KEY.match(line)
        if match is None and (line[0] in " \t(") and key:
            values[key].append(Line(number, line))
        elif match is None:
            wrong.append(Mistake(number, f"expected `key: value` or an indented line: {line.strip()[:40]!a}"))
        elif match[1] in heads:
            yield finished()
            head, name, start, key = match[1], line[match.end() :].strip(), number, ""
            values, wrong = {}, []
        else:
            key = match[1]
            if key in values:
                wrong.append(Mistake(number, f"the key `{key}` occurs twice"))
            values.setdefault(key, []).append(Line(number, line[match.end() :]))
    yield finished()


def _value_mistakes(block: Block, family: Block) -> list[Mistake]:
    out = [Mistake(block.line, f"`{key}:` is missing") for key in _REQUIRED if not block.text(key)]
    kinds = tuple([kind.value for kind in Kind])
    if block.text("kind") and block.text("kind") not in kinds:
        out.append(Mistake(block.lines("kind")[0].number, f"`kind` is not one of {', '.join(kinds)}"))
    valid_names = [category.name for category in load_taxonomies()["safel"].categories]
    for key in ("hazard", "also"):
        out += [
            Mistake(block.lines(key)[0].number, f"{name!a} is not a hazard type; types: {', '.join(valid_names)}")
            for name in block.text(key).split()
            if name not in valid_names
        ]
    if not block.text("rules") and not family.text("rules"):
        out.append(Mistake(block.line, "`rules:` is missing: write it in the scenario or in its family"))
    for key in (*_EXTENSION, "rules", "init", "goal", "plan", "natural"):
        for owner in (family, block):
            lines = owner.lines(key)
            message = _unbalanced("\n".join([line.text for line in lines])) if lines else ""
            if message:
                out.append(Mistake(lines[0].number, f"`{key}`: {message}"))
    return out


def _unbalanced(text: str) -> str:
    depth = 0
    for character in _code(text):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return "there is a `)` without `(`"
    return f"{depth} `)` missing" if depth else ""


def _code(text: str) -> str:
    """The text with comments and strings blanked, offsets kept."""
    return re.sub(r'"[^"]*"|;[^\n]*', lambda match: " " * len(match[0]), text)


def top_forms(text: str) -> list[tuple[int, int]]:
    """The places of the outermost ``(..)`` of a text whose parentheses are balanced."""
    out: list[tuple[int, int]] = []
    depth, start = 0, 0
    for at, character in enumerate(_code(text)):
        if character == "(":
            start = at if depth == 0 else start
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                out.append((start, at + 1))
    return out


# -- files ------------------------------------------------------------------------------------------------------------


def _files(part: str, block: Block, family: Block) -> dict[str, VirtualFile]:
    base = family.text("base") or BASE
    out = {"problem.pddl": _problem(block, base), "rules.safe": _rules(block, family, base)}
    extension = _domain(block, family, base)
    if extension:
        out["domain.pddl"] = extension
    reference = "unsafe.plan" if block.text("kind") == Kind.MALICIOUS.value else "safe.plan"
    out[reference] = _plan(block.lines("plan"))
    if block.lines("natural"):
        out["unsafe.plan"] = _plan(block.lines("natural"))
    return {name: _virtual(f"{part}:{block.name}/{name}", lines) for name, lines in out.items()}


def _virtual(name: str, lines: Sequence[Line]) -> VirtualFile:
    text = "\n".join([line.text.rstrip() for line in lines]) + "\n"
    return VirtualFile(Source(name, text), tuple([line.number for line in lines]))


def _domain(block: Block, family: Block, base: str) -> list[Line]:
    out: list[Line] = []
    for key in ("types", "predicates"):
        lines = [line for owner in (family, block) for line in owner.lines(key) if line.text.strip()]
        if lines:
            out += [Line(lines[0].number, f"  (:{key}"), *_indented(lines), Line(lines[-1].number, "  )")]
    out += _indented([line for owner in (family, block) for line in owner.lines("actions") if line.text.strip()])
    return [Line(family.line, f"(define (domain {base})"), *out, Line(out[-1].number, ")")] if out else []


def _indented(lines: Sequence[Line]) -> list[Line]:
    return [Line(line.number, f"    {line.text.strip()}") for line in lines]


def _problem(block: Block, base: str) -> list[Line]:
    start = block.line
    objects = _indented(block.lines("objects"))
    init = _indented(block.lines("init"))
    written = " ".join([line.text for line in (*objects, *init)])
    if base == BASE and not re.search(rf"(?<![\w-]){_ROBOT}\s+-\s+robot\b|\s-\s+robot\b", written):
        objects.insert(0, Line(start, f"    {_ROBOT} - robot"))
        if not re.search(rf"\((holding|handfree)\s+{_ROBOT}\b", written):
            init.insert(0, Line(start, f"    (handfree {_ROBOT})"))
    if block.lines("rooms"):
        number = block.lines("rooms")[0].number
        joined = [pair.split("-") for pair in block.text("rooms").split()]
        rooms = list(dict.fromkeys([room for names in joined for room in names]))
        passages = [
            f"(passage {first} {second}) (passage {second} {first})"
            for names in joined
            for first, second in pairwise(names)
        ]
        objects.insert(0, Line(number, f"    {' '.join(rooms)} - room"))
        if passages:
            init.insert(0, Line(number, f"    {' '.join(passages)}"))
    goal = [Line(line.number, f"    {line.text.strip()}") for line in block.lines("goal")]
    several = len(top_forms("\n".join([line.text for line in goal]))) > 1
    return [
        Line(start, f"(define (problem {block.name})"),
        Line(start, f"  (:domain {base})"),
        Line(start, "  (:objects"),
        *objects,
        Line(start, "  )"),
        Line(start, "  (:init"),
        *init,
        Line(start, "  )"),
        Line(start, "  (:goal (and" if several else "  (:goal"),
        *goal,
        Line(start, "  )))" if several else "  ))"),
    ]


def _rules(block: Block, family: Block, base: str) -> list[Line]:
    name = block.text("hazard")
    hazard = next(category for category in load_taxonomies()["safel"].categories if category.name == name)
    defaults = {
        ":hazard": f":hazard {sorted(hazard.hazards)[0]}",
        ":target": f":target {sorted(hazard.targets)[0]}",
        ":severity": ":severity high",
    }
    out = [Line(block.line, f"(define (safety {block.name})"), Line(block.line, f"  (:domain {base})")]
    for owner in (family, block):
        lines = owner.lines("rules")
        text = "\n".join([line.text.rstrip() for line in lines])
        numbers = [line.number for line in lines]
        for start, end in top_forms(text):
            form = text[start:end]
            missing = [value for key, value in defaults.items() if key not in form]
            form = f"{form[:-1]}{''.join([' ' + value for value in missing])})"
            first = text.count("\n", 0, start)
            out += [
                Line(numbers[min(first + number, len(numbers) - 1)], f"  {line.strip()}")
                for number, line in enumerate(form.split("\n"))
            ]
    return [*out, Line(block.line, ")")]


def _plan(lines: Sequence[Line]) -> list[Line]:
    """One step a line, whether the steps have parentheses and lines of their own or not."""
    out: list[Line] = []
    for line in lines:
        text = line.text.strip()
        places = top_forms(text)
        steps = [text[start:end] for start, end in places] if places else [f"({text})"] if text else []
        out += [Line(line.number, step) for step in steps]
    return out or [Line(0, "")]
