"""Golden cases as Markdown: fenced blocks that are read, and fenced blocks that say what comes of them.

A file is a list of cases, each below a ``## heading``. Blocks of ``lisp`` are texts: ``domain``, ``problem``, ``rules``
or ``plan``, and ``specification NAME``, which the rules may extend. Those before the first heading serve every case
that has none of its own. Blocks of ``text`` are expected, one for each stage that the case is about; :data:`STAGES`
says which there are. A new case needs no code.
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
from plansafe.verifier.model.printing import Printer, task_text
from plansafe.verifier.symbolic.invariants.groups import find_restrictions

FOLDER = Path(__file__).parent / "golden"
_BLOCK = re.compile(r"^```(lisp|text) (.+)\n((?:.*\n)*?)```$", re.MULTILINE)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


class Case(NamedTuple):
    """A case: the texts that it is about, and what is expected, stage by stage."""

    file: Path
    name: str
    texts: dict[str, str]
    expected: dict[str, str]

    def checker(self) -> Checker:
        """The case, loaded."""
        sources = {kind: Source(kind, text) for kind, text in self.texts.items()}
        specs = [sources["rules"]] if "rules" in sources else []
        return Checker(
            sources["domain"], sources["problem"], specs, resolve=lambda name, _: sources.get(f"specification {name}")
        )


def cases() -> Iterator[Case]:
    """All cases of all files."""
    for file in sorted(FOLDER.glob("*.md")):
        shared, *sections = re.split(r"^(?=## )", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        defaults = {kind: text for language, kind, text in _BLOCK.findall(shared) if language == "lisp"}
        for section in sections:
            heading = _HEADING.match(section)
            assert heading is not None
            blocks = _BLOCK.findall(section)
            own = {kind: text for language, kind, text in blocks if language == "lisp"}
            expected = {kind: text for language, kind, text in blocks if language == "text"}
            yield Case(file, heading[1], defaults | own, expected)


def write(case: Case, found: dict[str, str]) -> None:
    """Replace what a case expects by what was found."""
    before, heading, rest = case.file.read_text(encoding="utf-8").partition(f"## {case.name}\n")
    own, more, after = rest.partition("\n## ")
    own = _BLOCK.sub(lambda m: f"```text {m[2]}\n{found[m[2]]}```" if m[1] == "text" else m[0], own)
    case.file.write_text(before + heading + own + more + after, encoding="utf-8")


# ---- stages ---------------------------------------------------------------------------------------------------------


def _task(case: Case, checker: Checker, *words: str) -> str:
    """The typed model after elaboration; with words, only entries that begin with one of them."""
    out, shown = [], True
    for line in task_text(checker.compiled.task).splitlines(keepends=True):
        if not line.startswith(" "):
            shown = not words or line.split()[0].rstrip(",") in words
        if shown:
            out.append(line)
    return "".join(out)


def _expanded(case: Case, checker: Checker) -> str:
    """The rules after templates, macros and mappings: plain trees."""
    return "".join(
        [_tree(rule.node) + "\n" for rule in (*checker.compiled.expanded.rules, *checker.compiled.expanded.invariants)]
    )


def _rules(case: Case, checker: Checker) -> str:
    """The rules with their parts, where each breaks, and what watches it."""
    return rules_text(checker.engine)


def _open(case: Case, checker: Checker) -> str:
    """What a specification leaves open, and what it says of every world; then the invariants that restrict those."""
    made = checker.compiled
    lines = [opening_text(made.task, opening) for opening in made.openings]
    lines += [invariant_text(made.task, invariant) for invariant in made.invariants]
    lines += [f"so {text}" for text in find_restrictions(made.task, made.openings, made.invariants).texts]
    return "".join([line + "\n" for line in lines])


def _diagnostics(case: Case, checker: Checker) -> str:
    """What is wrong with the texts."""
    return "".join([f"{d.code} {d.message}\n" for d in checker.diagnostics])


def _findings(case: Case, checker: Checker) -> str:
    """What an audit of the plan finds."""
    report = checker.check(Source("plan", case.texts["plan"]))
    lines = [report.headline.name if report.headline else "-"]
    for finding in report.findings:
        binding = " ".join([f"{name}={value}" for name, value in finding.binding])
        lines.append(f"{finding.code} step {finding.step}: {finding.message} {binding}".rstrip())
    return "".join([line + "\n" for line in lines])


STAGES: dict[str, Callable[..., str]] = {
    "task": _task,
    "expanded": _expanded,
    "rules": _rules,
    "open": _open,
    "diagnostics": _diagnostics,
    "findings": _findings,
}


def run(case: Case, checker: Checker) -> dict[str, str]:
    """What the stages give that the case asks for."""
    out = {}
    for wanted in case.expected:
        stage, *words = wanted.split()
        out[wanted] = STAGES[stage](case, checker, *words)
    return out


def _tree(node: Node) -> str:
    return f"({' '.join([_tree(child) for child in node])})" if isinstance(node, list) else str(node)


def opening_text(task: Task, opening: OpenPredicate) -> str:
    """Print an open predicate; equal numbers are equal objects."""
    printer = Printer(task)
    types = [printer.type(domain) for domain in opening.domains]
    arguments = [f"?{number} - {text}" for number, text in zip(opening.arguments, types, strict=True)]
    return f"open ({' '.join([task.predicates[opening.predicate].name, *arguments])})"


def invariant_text(task: Task, invariant: WorldInvariant) -> str:
    """Print an invariant of the initial state of every possible world."""
    outer = Printer(task).inside(invariant.parameters)
    inner = outer.inside(invariant.counted)
    is_formula = invariant.kind == "holds"
    condition = outer.formula(invariant.formula) if is_formula else " ".join(inner.formulas(invariant.atoms))
    parameters = f", for {outer.variables(invariant.parameters)}" if invariant.parameters else ""
    counted = f", counting {inner.variables(invariant.counted)}" if invariant.counted else ""
    return f"invariant {invariant.name}{parameters}: {invariant.kind}{counted} {condition}"
