"""Read the tables of safety detectors, and report their mistakes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs.library_words import LibraryWords, Parameters, read_library_words
from plansafe.specs.taxonomy import TARGETS
from plansafe.specs.toml_text import Keys, TableReader
from plansafe.verifier.elaborate.context import did_you_mean, is_name, is_object_name, is_variable
from plansafe.verifier.elaborate.symbols import OPERATORS, RESERVED
from plansafe.verifier.rules.verdict_criteria import SEVERITIES
from plansafe.verifier.rules.vocabulary import find_names_in_formula

MAX_TYPES = 1_000_000
"""Maximum number of types to which the kinds of a table expand."""
_TABLE_KEYS = (
    "name", "domain", "extends", "categories", "kinds", "actions", "properties", "process", "state", "termination"
)  # fmt: skip
_FORMULA_WORDS = RESERVED | OPERATORS.keys()
_RULE_NAME_PREFIXES = {"process": "", "state": "state-", "termination": "end-"}
_ROW_KEYS = ("categories", "when", "severity", "targets", "message", "why", "source", "fix")


class DetectorRow(NamedTuple):
    """One row: the categories of a step that ``pattern`` matches, or of a state or final state in which it is true.

    ``subject`` is the action or property, ``number`` counts its rows from 1. ``restricted_types`` has the types to
    which the row restricts variables of the pattern, ``declared_types`` the known types of the variables.
    """

    subject: str
    number: int
    pattern: list[Node]
    restricted_types: dict[str, tuple[str, ...]]
    declared_types: dict[str, tuple[str, ...]]
    categories: tuple[str, ...]
    when: Node | None
    severity: str
    targets: tuple[str, ...]
    texts: dict[str, str]


class Detector(NamedTuple):
    """A table: its name, the categories, and the rows of its parts.

    Its words come from ``domain``, or from the shipped ``extended_specification``, whose rules it extends. The field
    that is not used is empty.
    """

    name: str
    domain: str
    extended_specification: str
    categories: tuple[str, ...]
    process: tuple[DetectorRow, ...]
    state: tuple[DetectorRow, ...]
    termination: tuple[DetectorRow, ...]

    def parts(self) -> tuple[tuple[str, tuple[DetectorRow, ...]], ...]:
        """The parts with their names, in the order of their rules."""
        return (("process", self.process), ("state", self.state), ("termination", self.termination))


def make_hazard_name(category: str) -> str:
    """The category as a rule's ``:hazard``: ``slip-trip-and-fall`` for ``slip, trip, and fall``."""
    return re.sub(r"[^a-z0-9]+", "-", category.lower()).strip("-")


def make_rule_name(part: str, row: DetectorRow, category: str) -> str:
    """The name of the rule for one category of a row."""
    name = f"{_RULE_NAME_PREFIXES[part]}{make_hazard_name(row.subject)}-{row.number}"
    return name if len(row.categories) == 1 else f"{name}-{make_hazard_name(category)}"


def read_detector(table: Source) -> Detector | tuple[Diagnostic, ...]:
    """Read a table, or report its mistakes (SC776), at their places if possible."""
    reader = _DetectorReader(table)
    detector = reader.read()
    return tuple(reader.diagnostics) if detector is None or reader.diagnostics else detector


class _DetectorReader(TableReader):
    def __init__(self, table: Source) -> None:
        super().__init__(table, SC.BAD_DETECTOR)
        self.categories: tuple[str, ...] = ()
        self.types_by_kind: dict[str, tuple[str, ...]] = {}
        self.expanded_type_count = 0
        """The number of types of all expanded kinds together."""
        self.library: LibraryWords | None = None

    def read(self) -> Detector | None:
        data = self.parse_table()
        if data is None:
            return None
        for key in data:
            if key not in _TABLE_KEYS:
                self.report(f"unknown key `{key}`", (key,), did_you_mean(key, _TABLE_KEYS))
        name = self._read_name(data, "name")
        extended_specification = self._read_library(data) if "extends" in data else ""
        domain = "" if "extends" in data else self._read_name(data, "domain")
        self.categories = self._read_texts(data.get("categories"), ("categories",))
        if not self.categories:
            help = 'write `categories = ["fire and heat", ..]`'
            self.report("a table must name its categories of harm", ("categories",), help)
        for kind, value in self._read_table(data, "kinds").items():
            self.types_by_kind[kind] = self._read_types(value, ("kinds", kind))
        process = self._read_rows(data, "process", "actions")
        state = self._read_rows(data, "state", "properties")
        termination = self._read_rows(data, "termination", "properties")
        if self.expanded_type_count > MAX_TYPES:
            self.report(f"the kinds expand to more than {MAX_TYPES} types")
            return None
        detector = Detector(name, domain, extended_specification, self.categories, process, state, termination)
        self._check_rule_names([(part, row) for part, rows in detector.parts() for row in rows])
        return detector

    def _check_rule_names(self, rows: list[tuple[str, DetectorRow]]) -> None:
        used_names: set[str] = set()
        for part, row in rows:
            rule_names = {make_rule_name(part, row, category) for category in row.categories}
            if rule_names & used_names or len(rule_names) < len(row.categories):
                keys = (part, row.subject, str(row.number))
                self.report("two rows or categories produce rules with the same name", keys)
            used_names |= rule_names

    def _read_name(self, data: dict[str, Any], key: str) -> str:
        value = data.get(key)
        if not isinstance(value, str) or not is_object_name(value) or parse_nodes(Source("", value)) != [value.lower()]:
            self.report(f"`{key}` must be one word", (key,), f'write `{key} = "word"`')
            return "detector"
        return value.lower()

    def _read_library(self, data: dict[str, Any]) -> str:
        """Read the words of the specification that the table extends, and return its name; empty if it has none."""
        name = data["extends"]
        self.library = read_library_words(name) if isinstance(name, str) else None
        if self.library is None:
            self.report("`extends` must name a shipped specification with a vocabulary", ("extends",), 'such as "home"')
        if "domain" in data:
            help = "leave out `domain`, or leave out `extends` to use the words of the domain"
            self.report("a table with `extends` uses its words, in every domain", ("domain",), help)
        return self.library.name if self.library is not None else ""

    def _check_types(self, types: Iterable[str], keys: Keys) -> None:
        """Report types that the extended specification does not have."""
        library = self.library
        if library is None:
            return
        for name in types:
            if name not in library.types and name != "either":
                help = did_you_mean(name, library.types) or (
                    "name a kind, not a class or an object: kinds.csv of the object table lists the kinds, and "
                    "`safecheck worlds kinds` shows the kinds of each object"
                )
                self.report(f"`{name}` is not a kind of `{library.name}`", keys, help)

    def _check_words(self, formula: Node, keys: Keys) -> None:
        """Report words in a formula that the extended specification does not have."""
        library = self.library
        if library is None:
            return
        names = sorted(find_names_in_formula(formula))
        self._check_types([name for category, name in names if category == "type"], keys)
        for category, name in names:
            if category not in ("predicate", "action") or name in _FORMULA_WORDS:
                continue
            words = library.predicates if category == "predicate" else library.actions
            if name not in words:
                word_list = ", ".join([word for word in words if not word.startswith("is-")])
                help = did_you_mean(name, words) or f"one of {word_list}"
                self.report(f"`{library.name}` has no {category} `{name}`", keys, help)

    def _read_table(self, data: dict[str, Any], key: str) -> dict[str, Any]:
        value = data.get(key, {})
        if isinstance(value, dict):
            return value
        self.report(f"`{key}` must be a table", (key,), f"write `[{key}]` and its entries below it")
        return {}

    def _read_texts(self, value: Any, keys: Keys) -> tuple[str, ...]:
        values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        if value is not None and (not values or not all([isinstance(v, str) and make_hazard_name(v) for v in values])):
            self.report("expected text, or a list of texts", keys)
            return ()
        return tuple(values)

    def _read_types(self, value: Any, keys: Keys) -> tuple[str, ...]:
        """Read names of types, in one text or in a list. The name of a kind means all its types."""
        words = [word.lower() for text in self._read_texts(value, keys) for word in text.split()]
        types: dict[str, None] = {}
        self.expanded_type_count += sum([len(self.types_by_kind.get(word, (word,))) for word in words])
        for word in words if self.expanded_type_count <= MAX_TYPES else ():
            if word not in self.types_by_kind and (not is_name(word) or parse_nodes(Source("", word)) != [word]):
                self.report(f"`{word[:60]}` does not name a type", keys)
            types.update(dict.fromkeys(self.types_by_kind.get(word, (word,))))
        if value is not None and not words:
            self.report("expected names of types", keys)
        self._check_types(types, keys)
        return tuple(types)

    def _read_formula(self, value: Any, keys: Keys) -> list[Node]:
        nodes = parse_nodes(Source("", value)) if isinstance(value, str) else None
        if nodes is None or len(nodes) != 1 or not isinstance(nodes[0], list) or not nodes[0]:
            self.report("expected one formula", keys, 'write it as in a specification, such as "(on ?of)"')
            return ["and"]
        formula = self._expand_kinds(nodes[0])
        self._check_words(formula, keys)
        return formula

    def _expand_kinds(self, formula: list[Node]) -> list[Node]:
        """Replace the names of kinds by their types, in the typed lists of quantifiers."""
        expanded: list[Node] = []
        stack: list[tuple[list[Node], list[Node]]] = [(formula, expanded)]
        while stack:
            old, new = stack.pop()
            for position, node in enumerate(old):
                kind_types = self.types_by_kind.get(node) if isinstance(node, str) else None
                if isinstance(node, list):
                    expanded_node: list[Node] = []
                    new.append(expanded_node)
                    stack.append((node, expanded_node))
                elif kind_types is not None and (old[0] == "either" or (position and old[position - 1] == "-")):
                    self.expanded_type_count += len(kind_types)
                    types = kind_types if self.expanded_type_count <= MAX_TYPES else ()
                    new.extend(types if old[0] == "either" else [["either", *types]])
                else:
                    new.append(node)
        return expanded

    def _read_rows(self, data: dict[str, Any], part: str, pattern_key: str) -> tuple[DetectorRow, ...]:
        """Read the rows of a part; ``pattern_key`` is the table of their patterns (``actions`` or ``properties``)."""
        patterns_by_subject = self._read_table(data, pattern_key)
        detector_rows = []
        for subject, value in self._read_table(data, part).items():
            rows = value if isinstance(value, list) else [value]
            words = self._find_library_words(pattern_key)
            if subject not in patterns_by_subject and subject.lower() not in words:
                self._report_unknown_subject(subject, (part, subject), pattern_key, patterns_by_subject, words)
                continue
            error_count = len(self.diagnostics)
            if subject in patterns_by_subject:
                pattern = self._read_pattern(subject, patterns_by_subject[subject], pattern_key)
            else:
                pattern = [subject.lower(), *words[subject.lower()]]
            if len(self.diagnostics) > error_count:
                continue  # its rows would also be wrong
            for number, row in enumerate(rows, 1):
                keys = (part, subject, str(number))
                if isinstance(row, dict):
                    detector_rows.append(self._read_row(subject, number, pattern, row, keys))
                else:
                    self.report(f"a row of `{subject}` must be a table", keys, "write `{ categories = [..], .. }`")
        return tuple(detector_rows)

    def _report_unknown_subject(
        self, subject: str, keys: Keys, pattern_key: str, own_words: Collection[str], library_words: Collection[str]
    ) -> None:
        valid_names = (*own_words, *library_words)
        suggestion = did_you_mean(subject, valid_names)
        help = suggestion or f"add an entry to `[{pattern_key}]`"
        if library_words:
            help = f"{suggestion} The" if suggestion else "the"
            help += f" {pattern_key} are {', '.join(sorted(valid_names))}"
        self.report(f"`{subject}` is not among the {pattern_key}", keys, help)

    def _find_library_words(self, pattern_key: str) -> dict[str, Parameters]:
        """The actions or the predicates of the extended specification."""
        if self.library is None:
            return {}
        return self.library.actions if pattern_key == "actions" else self.library.predicates

    def _find_declared_types(self, pattern: Node) -> dict[str, tuple[str, ...]]:
        """The types of variables that the extended specification declares for the words of a pattern."""
        declared_types: dict[str, tuple[str, ...]] = {}
        stack = [pattern]
        while stack:
            node = stack.pop()
            if isinstance(node, list) and node:
                words = {**self._find_library_words("actions"), **self._find_library_words("properties")}
                types = words.get(node[0], {}) if isinstance(node[0], str) else {}
                for argument, alternatives in zip(node[1:], types.values(), strict=False):
                    if is_variable(argument) and alternatives != ("object",):
                        declared_types.setdefault(str(argument), alternatives)
                stack += node[1:]
        return declared_types

    def _read_pattern(self, subject: str, value: Any, pattern_key: str) -> list[Node]:
        """The pattern of a subject: an action with its variables, several such steps, or a formula."""
        if pattern_key == "properties":
            return self._read_formula(value, (pattern_key, subject))
        texts = [f"{subject} {value}"] if isinstance(value, str) else value if isinstance(value, list) else []
        steps: list[Node] = []
        for text in texts:
            words = text.lower().split() if isinstance(text, str) else []
            if not _is_step_pattern(words):
                continue
            if self.library is not None:
                self._check_step(words, self.library, (pattern_key, subject))
            if parse_nodes(Source("", " ".join(words))) == words:
                steps.append(list(words))
        if not steps or len(steps) != len(texts):
            help = 'such as "_ ?of ?into"; or several equivalent steps, such as ["put _ ?of", ..]'
            self.report("expected the variables of the action", (pattern_key, subject), help)
            return ["or"]
        return ["or", *steps] if isinstance(value, list) else [*steps[0]]

    def _check_step(self, words: list[str], library: LibraryWords, keys: Keys) -> None:
        """Report an action that the extended specification does not have, or a wrong number of arguments."""
        action, *arguments = words
        if action not in library.actions:
            help = did_you_mean(action, library.actions) or f"one of {', '.join(library.actions)}"
            self.report(f"`{action}` is not an action of `{library.name}`", keys, help)
        elif len(arguments) != len(library.actions[action]):
            variables = library.actions[action]
            message = f"`{action}` takes {len(variables)} variables, not {len(arguments)}"
            self.report(message, keys, f'write "{" ".join(variables)}", or remove the entry')

    def _read_row(self, subject: str, number: int, pattern: list[Node], row: dict[str, Any], keys: Keys) -> DetectorRow:
        variables = find_variables(pattern)
        restricted_types: dict[str, tuple[str, ...]] = {}
        for key, value in row.items():
            if f"?{key}" in variables:
                restricted_types[f"?{key}"] = self._read_types(value, (*keys, key))
            elif key not in _ROW_KEYS:
                names = [variable[1:] for variable in variables]
                help = did_you_mean(key, (*_ROW_KEYS, *names))
                help = help or f"a row restricts {', '.join([f'`{name}`' for name in names])}"
                self.report(f"`{subject}` has no `{key}`", (*keys, key), help)
        categories = self._read_texts(row.get("categories"), (*keys, "categories"))
        if "categories" not in row:
            self.report("a row needs `categories`", keys, "add `categories = [..]`")
        for category in categories:
            if self.categories and category not in self.categories:
                help = did_you_mean(category, self.categories) or "add it to `categories`"
                self.report(f"unknown category {category!a}", (*keys, "categories"), help)
        severity = row.get("severity", "high")
        if severity not in SEVERITIES:
            self.report(f"unknown severity {severity!a}", (*keys, "severity"), f"one of {', '.join(SEVERITIES)}")
            severity = "high"
        targets = self._read_texts(row.get("targets"), (*keys, "targets"))
        for target in targets:
            if target not in TARGETS:
                self.report(f"unknown target of harm {target!a}", (*keys, "targets"), f"one of {', '.join(TARGETS)}")
        texts = {}
        for key in ("message", "why", "source", "fix"):
            if key in row:
                texts[key] = row[key] if isinstance(row[key], str) else ""
                if not isinstance(row[key], str):
                    self.report(f"`{key}` must be a text", (*keys, key))
        when = self._read_formula(row["when"], (*keys, "when")) if "when" in row else None
        declared_types = self._find_declared_types(pattern)
        return DetectorRow(
            subject, number, pattern, restricted_types, declared_types, categories, when, severity, targets, texts
        )


def _is_step_pattern(words: list[str]) -> bool:
    """Whether words name an action, and then a variable or ``_`` for each argument."""
    return bool(words) and is_name(words[0]) and all([word == "_" or is_variable(word) for word in words[1:]])


def find_variables(*nodes: Node) -> list[str]:
    """The free variables in formulas, in the order of their first occurrence."""
    variables: dict[str, None] = {}
    quantified: set[str] = set()
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            if len(node) == 3 and node[0] in ("forall", "exists") and isinstance(node[1], list):
                quantified.update([word for word in node[1] if isinstance(word, str)])
            stack.extend(reversed(node))
        elif is_variable(node):
            variables.setdefault(node)
    return [variable for variable in variables if variable not in quantified]
