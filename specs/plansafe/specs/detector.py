"""Compile a safety detector, a table from actions and final states to categories of harm, to a specification.

The detector of Safe-BeAl (A Framework for Benchmarking and Aligning Task-Planning Safety, section 3.3) maps each
action, and each property of an object in the final state, to categories of harm. Here the table is a TOML file that
users can edit; the specification made from it checks plans (docs/safety-rules.md).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.sexpr import Node, format_node, quote_text
from plansafe.grammar.source import Source
from plansafe.specs.detector_table import (
    Detector,
    DetectorRow,
    find_variables,
    make_hazard_name,
    make_rule_name,
    read_detector,
)
from plansafe.verifier.elaborate.context import is_variable

_WIDTH = 120


class CompiledDetector(NamedTuple):
    """The specification made of a table; ``None`` if the table has mistakes (SC776 in ``diagnostics``)."""

    specification: Source | None
    diagnostics: tuple[Diagnostic, ...] = ()


def compile_detector(table: Source) -> CompiledDetector:
    """Make a specification of a detector's table: one rule for each category of each row. Linear in the table.

    The checker later reports types, actions and predicates that the domain does not have. Words of an extended
    specification are checked here.
    """
    detector = read_detector(table)
    if not isinstance(detector, Detector):
        return CompiledDetector(None, detector)
    return CompiledDetector(Source(f"{detector.name}.safe", format_specification(detector, table.name)))


def format_specification(detector: Detector, origin: str) -> str:
    """Format a table as a readable specification; ``origin`` is the path of the table."""
    file_name = _make_printable_file_name(origin)
    lines = [
        f"; Made from the safety detector {file_name}: edit that table and generate this file again.",
        "",
        f"(define (safety {detector.name})",
    ]
    if detector.extended_specification:  # an empty vocabulary: the extended specification has the words
        lines += [f"  (:extends {detector.extended_specification})", "  (:vocabulary)"]
    else:
        lines.append(f"  (:domain {detector.domain})")
    for part, rows in detector.parts():
        for row in rows:
            for category in row.categories:
                lines += ["", *_format_rule(part, row, category)]
    return "\n".join(lines) + ")\n"


def _format_rule(part: str, row: DetectorRow, category: str) -> Iterator[str]:
    """Yield the lines of the rule for one category of a row."""
    variables = find_variables(row.pattern)
    message = row.texts.get("message") or _make_message(part, row, variables, category)
    named_variables = {*row.restricted_types, *find_variables(*([row.when] if row.when is not None else []))}
    named_variables |= {variable for variable in variables if f"{{{variable}}}" in message}
    yield f"  (:{'process' if part == 'state' else part} {make_rule_name(part, row, category)}"
    types = {variable: row.restricted_types[variable] for variable in variables if variable in row.restricted_types}
    if part != "process":  # the pattern of a step needs no types for its other variables
        for variable in variables:
            types.setdefault(variable, row.declared_types.get(variable, ("object",)))
    typed_parameters = [f"{variable} - {_format_types(names)}" for variable, names in types.items()]
    if typed_parameters:
        yield from _wrap_lines(":parameters (" + " ".join(typed_parameters) + ")")
    if part == "process":
        yield from _wrap_lines(f":on {format_node(_insert_wildcards(row.pattern, named_variables))}")
    if row.when is not None:
        yield from _wrap_lines(f":when {format_node(row.when)}")
    yield from _wrap_lines(":forbid (and)" if part == "process" else f":forbid {format_node(row.pattern)}")
    targets = f" :target ({' '.join(row.targets)})" if row.targets else ""
    yield f"    :hazard {make_hazard_name(category)}{targets} :severity {row.severity}"
    texts = [(":message", message)]
    fields = ((":rationale", "why"), (":source", "source"), (":fix", "fix"))
    texts += [(key, row.texts[word]) for key, word in fields if word in row.texts]
    for number, (key, text) in enumerate(texts, 1):
        yield f"    {key} {_quote_text(text)}" + (")" if number == len(texts) else "")


def _insert_wildcards(step: list[Node], named_variables: set[str]) -> Node:
    """Replace the variables of a step that are not in ``named_variables`` by ``_``."""
    words: list[Node] = []
    for word in step:
        if isinstance(word, list):
            words.append(_insert_wildcards(word, named_variables))
        else:
            words.append("_" if is_variable(word) and word not in named_variables else word)
    return words


def _make_message(part: str, row: DetectorRow, variables: list[str], category: str) -> str:
    objects = ", ".join([f"{{{variable}}}" for variable in variables])
    at_end = ", at the end" if part == "termination" else ""
    event = f"{row.subject} {objects}".strip() if part == "process" else f"{row.subject}{at_end}: {objects}"
    return f"{event} ({category})"


def _format_types(types: tuple[str, ...]) -> str:
    return types[0] if len(types) == 1 else f"(either {' '.join(types)})"


def _wrap_lines(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 6, break_on_hyphens=False, break_long_words=False
    )


def _quote_text(text: str) -> str:
    flat = "".join([char if char.isprintable() else "?" for char in " ".join(text.split())])
    return quote_text(flat)


def _make_printable_file_name(text: str) -> str:
    return "".join([char if char.isprintable() else "?" for char in text.rpartition("/")[2]])
