"""The tables of safety detectors, as data: reading TOML, and what can be wrong with it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label
from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs.toml_text import key_span, read_toml
from plansafe.verifier.elaborate.context import did_you_mean, is_name, is_object_name, is_variable

MAX_TYPES = 1_000_000
SEVERITIES = ("critical", "high", "medium", "low")
TARGETS = ("human", "animal", "robot", "property", "environment")
_TOP = ("name", "domain", "categories", "kinds", "actions", "properties", "process", "termination")
_WORDS = ("categories", "when", "severity", "targets", "message", "why", "fix")


class DetectorRow(NamedTuple):
    """One row: the categories of a step that ``pattern`` matches, or of a final state in which it holds.

    ``subject`` is the action or property, ``number`` counts its rows from 1. ``kinds`` gives for variables of the
    pattern the types that they are restricted to.
    """

    subject: str
    number: int
    pattern: list[Node]
    kinds: dict[str, tuple[str, ...]]
    categories: tuple[str, ...]
    when: Node | None
    severity: str
    targets: tuple[str, ...]
    texts: dict[str, str]


class Detector(NamedTuple):
    """A table: its name, the domain that its words are of, the categories, and the rows of its two parts."""

    name: str
    domain: str
    categories: tuple[str, ...]
    process: tuple[DetectorRow, ...]
    termination: tuple[DetectorRow, ...]


def hazard_name(category: str) -> str:
    """The category as a rule's ``:hazard``: ``slip-trip-and-fall`` for ``slip, trip, and fall``."""
    return re.sub(r"[^a-z0-9]+", "-", category.lower()).strip("-")


def rule_name(part: str, row: DetectorRow, category: str) -> str:
    """The rule that stands for one category of a row."""
    name = f"{'end-' if part == 'termination' else ''}{hazard_name(row.subject)}-{row.number}"
    return name if len(row.categories) == 1 else f"{name}-{hazard_name(category)}"


def read_detector(table: Source) -> Detector | tuple[Diagnostic, ...]:
    """Read a table; what is wrong with it is SC776, at its place as far as that can be told."""
    reader = _Reader(table)
    detector = reader.read()
    return tuple(reader.diagnostics) if detector is None or reader.diagnostics else detector


class _Reader:
    def __init__(self, table: Source) -> None:
        self.table = table
        self.diagnostics: list[Diagnostic] = []
        self.categories: tuple[str, ...] = ()
        self.kinds: dict[str, tuple[str, ...]] = {}
        self.size = 0
        """How many types all kinds together have become."""

    def bad(self, message: str, at: tuple[str, ...] = (), help: str | None = None) -> None:
        """Report a mistake in the value that the keys ``at`` lead to."""
        label = Label(self.table.name, key_span(self.table, at), "in this table" if not at else f"in `{'.'.join(at)}`")
        self.diagnostics.append(Diagnostic(SC.BAD_DETECTOR, message, (label,), help=help))

    def read(self) -> Detector | None:
        data = read_toml(self.table, SC.BAD_DETECTOR)
        if isinstance(data, Diagnostic):
            self.diagnostics.append(data)
            return None
        for key in data:
            if key not in _TOP:
                self.bad(f"unknown key `{key}`", (key,), did_you_mean(key, _TOP))
        name, domain = self._name(data, "name"), self._name(data, "domain")
        self.categories = self._texts(data.get("categories"), ("categories",))
        if not self.categories:
            self.bad(
                "a table must name its categories of harm",
                ("categories",),
                'write `categories = ["fire and heat", ..]`',
            )
        for kind, value in self._table(data, "kinds").items():
            self.kinds[kind] = self._types(value, ("kinds", kind))
        process = self._rows(data, "process", "actions")
        termination = self._rows(data, "termination", "properties")
        if self.size > MAX_TYPES:
            self.bad(f"the kinds expand to more than {MAX_TYPES} types")
            return None
        names: set[str] = set()
        for part, rows in (("process", process), ("termination", termination)):
            for row in rows:
                new = {rule_name(part, row, category) for category in row.categories}
                if new & names or len(new) < len(row.categories):
                    self.bad(
                        "two rows or categories produce rules with the same name", (part, row.subject, str(row.number))
                    )
                names |= new
        return Detector(name, domain, self.categories, process, termination)

    def _name(self, data: dict[str, Any], key: str) -> str:
        value = data.get(key)
        if not isinstance(value, str) or not is_object_name(value) or parse_nodes(Source("", value)) != [value.lower()]:
            self.bad(f"`{key}` must be one word", (key,), f'write `{key} = "word"`')
            return "detector"
        return value.lower()

    def _table(self, data: dict[str, Any], key: str) -> dict[str, Any]:
        value = data.get(key, {})
        if isinstance(value, dict):
            return value
        self.bad(f"`{key}` must be a table", (key,), f"write `[{key}]` and its entries below it")
        return {}

    def _texts(self, value: Any, at: tuple[str, ...]) -> tuple[str, ...]:
        values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        if value is not None and (not values or not all([isinstance(v, str) and hazard_name(v) for v in values])):
            self.bad("expected text, or a list of texts", at)
            return ()
        return tuple(values)

    def _types(self, value: Any, at: tuple[str, ...]) -> tuple[str, ...]:
        """Names of types, in one text or in a list; those of kinds stand for theirs."""
        words = [word.lower() for text in self._texts(value, at) for word in text.split()]
        out: dict[str, None] = {}
        self.size += sum([len(self.kinds.get(word, (word,))) for word in words])
        for word in words if self.size <= MAX_TYPES else ():
            if word not in self.kinds and (not is_name(word) or parse_nodes(Source("", word)) != [word]):
                self.bad(f"`{word[:60]}` does not name a type", at)
            out.update(dict.fromkeys(self.kinds.get(word, (word,))))
        if value is not None and not words:
            self.bad("expected names of types", at)
        return tuple(out)

    def _formula(self, value: Any, at: tuple[str, ...]) -> list[Node]:
        top = parse_nodes(Source("", value)) if isinstance(value, str) else None
        if top is None or len(top) != 1 or not isinstance(top[0], list) or not top[0]:
            self.bad("expected one formula", at, 'write it as in a specification, such as "(on ?of)"')
            return ["and"]
        return self._expanded(top[0])

    def _expanded(self, formula: list[Node]) -> list[Node]:
        """The formula with the names of kinds, where a quantifier has its types, replaced by their types."""
        out: list[Node] = []
        stack: list[tuple[list[Node], list[Node]]] = [(formula, out)]
        while stack:
            old, new = stack.pop()
            for child, node in enumerate(old):
                kind = self.kinds.get(node) if isinstance(node, str) else None
                if isinstance(node, list):
                    made: list[Node] = []
                    new.append(made)
                    stack.append((node, made))
                elif kind is not None and (old[0] == "either" or (child and old[child - 1] == "-")):
                    self.size += len(kind)
                    types = kind if self.size <= MAX_TYPES else ()
                    new.extend(types if old[0] == "either" else [["either", *types]])
                else:
                    new.append(node)
        return out

    def _rows(self, data: dict[str, Any], part: str, patterns: str) -> tuple[DetectorRow, ...]:
        known = self._table(data, patterns)
        out = []
        for subject, value in self._table(data, part).items():
            rows = value if isinstance(value, list) else [value]
            if subject not in known:
                help = did_you_mean(subject, known) or f"add an entry to `[{patterns}]`"
                self.bad(f"`{subject}` is not among the {patterns}", (part, subject), help)
                continue
            errors = len(self.diagnostics)
            pattern = self._pattern(subject, known[subject], patterns)
            if len(self.diagnostics) > errors:
                continue  # its rows would be wrong, too
            for number, row in enumerate(rows, 1):
                at = (part, subject, str(number))
                if isinstance(row, dict):
                    out.append(self._row(subject, number, pattern, row, at))
                else:
                    self.bad(f"a row of `{subject}` must be a table", at, "write `{ categories = [..], .. }`")
        return tuple(out)

    def _pattern(self, subject: str, value: Any, patterns: str) -> list[Node]:
        """How a step or a property is written: an action with its variables, several such steps, or a formula."""
        if patterns == "properties":
            return self._formula(value, (patterns, subject))
        texts = [f"{subject} {value}"] if isinstance(value, str) else value if isinstance(value, list) else []
        steps: list[Node] = []
        for text in texts:
            words = text.lower().split() if isinstance(text, str) else [""]
            right = is_name(words[0]) if words and words[0] else False
            right = right and all([word == "_" or is_variable(word) for word in words[1:]])
            if right and parse_nodes(Source("", " ".join(words))) == words:
                steps.append(list(words))
        if not steps or len(steps) != len(texts):
            help = 'such as "_ ?of ?into"; or several equivalent steps, such as ["put _ ?of", ..]'
            self.bad("expected the variables of the action", (patterns, subject), help)
            return ["or"]
        return ["or", *steps] if isinstance(value, list) else [*steps[0]]

    def _row(
        self, subject: str, number: int, pattern: list[Node], row: dict[str, Any], at: tuple[str, ...]
    ) -> DetectorRow:
        variables = variables_of(pattern)
        kinds: dict[str, tuple[str, ...]] = {}
        for key, value in row.items():
            if f"?{key}" in variables:
                kinds[f"?{key}"] = self._types(value, (*at, key))
            elif key not in _WORDS:
                near = did_you_mean(key, (*_WORDS, *[variable[1:] for variable in variables]))
                said = ", ".join([f"`{variable[1:]}`" for variable in variables])
                self.bad(f"`{subject}` has no `{key}`", (*at, key), near or f"things of a row are {said}")
        categories = self._texts(row.get("categories"), (*at, "categories"))
        if "categories" not in row:
            self.bad("a row needs `categories`", at, "add `categories = [..]`")
        for category in categories:
            if self.categories and category not in self.categories:
                near = did_you_mean(category, self.categories)
                self.bad(f"unknown category {category!a}", (*at, "categories"), near or "add it to `categories`")
        severity = row.get("severity", "high")
        if severity not in SEVERITIES:
            self.bad(f"unknown severity {severity!a}", (*at, "severity"), f"one of {', '.join(SEVERITIES)}")
            severity = "high"
        targets = self._texts(row.get("targets"), (*at, "targets"))
        for target in targets:
            if target not in TARGETS:
                self.bad(f"unknown target of harm {target!a}", (*at, "targets"), f"one of {', '.join(TARGETS)}")
        texts = {}
        for key in ("message", "why", "fix"):
            if key in row:
                texts[key] = row[key] if isinstance(row[key], str) else ""
                if not isinstance(row[key], str):
                    self.bad(f"`{key}` must be a text", (*at, key))
        when = self._formula(row["when"], (*at, "when")) if "when" in row else None
        return DetectorRow(subject, number, pattern, kinds, categories, when, severity, targets, texts)


def variables_of(*nodes: Node) -> list[str]:
    """The variables in formulas, in the order of their first occurrence; those that a quantifier binds are left out."""
    out: dict[str, None] = {}
    inner: set[str] = set()
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            if len(node) == 3 and node[0] in ("forall", "exists") and isinstance(node[1], list):
                inner.update([token for token in node[1] if isinstance(token, str)])
            stack.extend(reversed(node))
        elif is_variable(node):
            out.setdefault(node)
    return [variable for variable in out if variable not in inner]
