"""Golden cases in Markdown: fenced blocks with input texts and with the expected output of stages.

A file is a list of cases, each below a ``## heading``. ``lisp`` blocks are input: ``domain``, ``problem``, ``rules`` or
``plan``, and ``specification NAME``, which the rules may extend. A block before the first heading applies to every case
that does not replace it. ``text`` blocks are expected output, one for each tested stage; :data:`STAGES` lists the
stages. A new case needs no code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from plansafe.grammar.sexpr import Node
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.printing import rules_text
from plansafe.verifier.model.nodes import OpenPredicate, Task, WorldInvariant
from plansafe.verifier.model.printing import Printer, format_task
from plansafe.verifier.symbolic.invariants.groups import find_restrictions

FOLDER = Path(__file__).parent / "golden"
_BLOCK = re.compile(r"^```(lisp|text) (.+)\n((?:.*\n)*?)```$", re.MULTILINE)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


class Case(NamedTuple):
    """A case: its input texts, and the expected output of each tested stage."""

    file: Path
    name: str
    texts: dict[str, str]
    expected: dict[str, str]

    def checker(self) -> Checker:
        """The checker of the case's texts."""
        sources = {kind: Source(kind, text) for kind, text in self.texts.items()}
        specs = [sources["rules"]] if "rules" in sources else []
        return Checker(
            sources["domain"], sources["problem"], specs, resolve=lambda name, _: sources.get(f"specification {name}")
        )


def read_cases() -> Iterator[Case]:
    """The cases of all files."""
    for file in sorted(FOLDER.glob("*.md")):
        shared, *sections = re.split(r"^(?=## )", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        defaults = {kind: text for language, kind, text in _BLOCK.findall(shared) if language == "lisp"}
        for section in sections:
            heading = _HEADING.match(section)
            assert heading is not None
            blocks = _BLOCK.findall(section)
            own_texts = {kind: text for language, kind, text in blocks if language == "lisp"}
            expected = {kind: text for language, kind, text in blocks if language == "text"}
            yield Case(file, heading[1], defaults | own_texts, expected)


def write_case(case: Case, results: dict[str, str]) -> None:
    """Replace the expected output of a case by the results."""
    text_before, heading_line, text_after = case.file.read_text(encoding="utf-8").partition(f"## {case.name}\n")
    section, next_heading, other_sections = text_after.partition("\n## ")
    section = _BLOCK.sub(lambda m: f"```text {m[2]}\n{results[m[2]]}```" if m[1] == "text" else m[0], section)
    case.file.write_text(text_before + heading_line + section + next_heading + other_sections, encoding="utf-8")


# ---- stages ---------------------------------------------------------------------------------------------------------


def _print_task(case: Case, checker: Checker, *keywords: str) -> str:
    """The typed model after elaboration; with keywords, only entries that begin with one of them."""
    lines, is_selected = [], True
    for line in format_task(checker.compiled.task).splitlines(keepends=True):
        if not line.startswith(" "):
            is_selected = not keywords or line.split()[0].rstrip(",") in keywords
        if is_selected:
            lines.append(line)
    return "".join(lines)


def _print_expanded_rules(case: Case, checker: Checker) -> str:
    """The rules after the expansion of templates, macros and mappings, as plain trees."""
    return "".join(
        [
            _print_tree(rule.node) + "\n"
            for rule in (*checker.compiled.expanded.rules, *checker.compiled.expanded.invariants)
        ]
    )


def _print_rules(case: Case, checker: Checker) -> str:
    """The rules with their parts, the place of a violation and the monitor of each part."""
    return rules_text(checker.engine)


def _print_unknowns(case: Case, checker: Checker) -> str:
    """Open predicates and declared invariants, followed by the restrictions inferred from them."""
    compiled = checker.compiled
    lines = [opening_text(compiled.task, opening) for opening in compiled.openings]
    lines += [invariant_text(compiled.task, invariant) for invariant in compiled.invariants]
    lines += [f"so {text}" for text in find_restrictions(compiled.task, compiled.openings, compiled.invariants).texts]
    return "".join([line + "\n" for line in lines])


def _print_diagnostics(case: Case, checker: Checker) -> str:
    """The diagnostics of the texts."""
    return "".join([f"{d.code} {d.message}\n" for d in checker.diagnostics])


def _print_findings(case: Case, checker: Checker) -> str:
    """The headline and the findings of an audit of the plan."""
    report = checker.check(Source("plan", case.texts["plan"]))
    lines = [report.headline.name if report.headline else "-"]
    for finding in report.findings:
        binding = " ".join([f"{name}={value}" for name, value in finding.binding])
        lines.append(f"{finding.code} step {finding.step}: {finding.message} {binding}".rstrip())
    return "".join([line + "\n" for line in lines])


STAGES: dict[str, Callable[..., str]] = {
    "task": _print_task,
    "expanded": _print_expanded_rules,
    "rules": _print_rules,
    "open": _print_unknowns,
    "diagnostics": _print_diagnostics,
    "findings": _print_findings,
}


def run_stages(case: Case, checker: Checker) -> dict[str, str]:
    """The output of each stage that the case tests."""
    results = {}
    for stage_name in case.expected:
        stage, *keywords = stage_name.split()
        results[stage_name] = STAGES[stage](case, checker, *keywords)
    return results


def _print_tree(node: Node) -> str:
    return f"({' '.join([_print_tree(child) for child in node])})" if isinstance(node, list) else str(node)


def opening_text(task: Task, opening: OpenPredicate) -> str:
    """Print an open predicate; equal numbers are equal objects."""
    printer = Printer(task)
    types = [printer.format_domain(domain) for domain in opening.domains]
    arguments = [f"?{number} - {text}" for number, text in zip(opening.arguments, types, strict=True)]
    return f"open ({' '.join([task.predicates[opening.predicate].name, *arguments])})"


def invariant_text(task: Task, invariant: WorldInvariant) -> str:
    """Print an invariant of the initial state of every possible world."""
    outer = Printer(task).with_variables(invariant.parameters)
    inner = outer.with_variables(invariant.counted)
    is_formula = invariant.kind == "holds"
    condition = (
        outer.format_formula(invariant.formula) if is_formula else " ".join(inner.format_formulas(invariant.atoms))
    )
    parameters = f", for {outer.format_variables(invariant.parameters)}" if invariant.parameters else ""
    counted = f", counting {inner.format_variables(invariant.counted)}" if invariant.counted else ""
    return f"invariant {invariant.name}{parameters}: {invariant.kind}{counted} {condition}"
