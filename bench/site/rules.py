"""Reference pages of the hazard rules: each with its text, and with plans of the tests that violate or satisfy it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.site.markdown import code_block, index_page, table, table_cell
from tests.case_files import Case, read_cases

from plansafe.domains import domain_path
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.rules.model import Rule

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "content"


class RuleEntry(NamedTuple):
    """A rule, the name of its specification, its text, and its cases."""

    rule: Rule
    specification: str
    text: str
    cases: list[Case]


def library_rules() -> Iterator[RuleEntry]:
    """Every rule of the home library, with its ontology as domain; then the rules of the household."""
    home = CASES / "home"
    yield from _specification_rules(home / "ontology.pddl", "home", home, "ontology")
    yield from _specification_rules(Path(domain_path("household")), "household", CASES / "rules", "household")


def _specification_rules(domain: Path, name: str, folder: Path, world: str) -> Iterator[RuleEntry]:
    cases = {
        path.stem: [case for case in read_cases(path) if case.group == world] for path in sorted(folder.glob("*.md"))
    }
    problem = next(iter(cases.values()))[0].source("problem.pddl")
    checker = Checker(
        _read_source(domain), problem, [_read_source(Path(spec_path(name)))], Options(), resolve=_shipped_specification
    )
    expanded = checker.compiled.expanded
    assert expanded is not None, "the task has no specification"
    expanded_by_name = {str(expanded_rule.node[1]): expanded_rule for expanded_rule in expanded.rules}
    texts = {
        expanded_rule.specification: _read_source(Path(expanded_rule.source)).text for expanded_rule in expanded.rules
    }
    for rule in checker.rules:
        specification = expanded_by_name[rule.name].specification
        text = rule_text(texts[specification], rule.name) or _format_node(expanded_by_name[rule.name].node)
        yield RuleEntry(rule, specification, text, cases.get(rule.name, []))


def _read_source(path: Path) -> Source:
    return Source(str(path), path.read_text(encoding="utf-8"))


def _shipped_specification(name: str, _extending: Source) -> Source | None:
    return _read_source(Path(spec_path(name)))


def rule_text(text: str, name: str) -> str:
    """The text of a rule in its specification, without indentation; empty if a template generated it."""
    match = re.search(rf"^( *)\(:[\w-]+ {re.escape(name)}(?=[\s)])", text, re.MULTILINE)
    if match is None:
        return ""
    depth, end, start = 0, match.end(1), match.end(1)
    for token in re.finditer(r';[^\n]*|"[^"]*"|[()]', text[start:]):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        end = start + token.end()
        if depth == 0:
            break
    return re.sub(rf"^ {{{len(match[1])}}}", "", text[start:end], flags=re.MULTILINE)


def _format_node(node: object) -> str:
    return f"({' '.join([_format_node(part) for part in node])})" if isinstance(node, list) else str(node)


def rule_section(entry: RuleEntry) -> str:
    """The section of a page about one rule."""
    rule = entry.rule
    lines = [f"## {rule.name}", "", table_cell(rule.rationale or ""), ""]
    rows = [
        ("kind", f"{rule.kind}{', a preference' if rule.preference else ''}"),
        ("hazard", rule.hazard or ""),
        ("harms", " ".join(rule.targets)),
        ("severity", rule.severity),
        ("message", rule.message or ""),
        ("source", rule.rationale_source or ""),
        ("fix", rule.fix or ""),
    ]
    lines += [*table(("field", "value"), [(name, table_cell(cell_text)) for name, cell_text in rows if cell_text]), ""]
    lines.append(code_block("lisp", entry.text))
    for case in entry.cases:
        title = f"a plan that {'breaks' if case.name.startswith('breaks') else 'keeps'} it"
        lines += _collapsed(title, "".join([f"; {line}\n" for line in case.lines]) + case.text("plan"))
    for case in entry.cases[:1]:
        lines += _collapsed("the home of these plans", case.text("problem.pddl"))
    return "\n".join(lines)


def _collapsed(title: str, content: str) -> list[str]:
    text = code_block("lisp", content)
    return [f'??? example "{title}"', "", *[f"    {line}".rstrip() for line in text.splitlines()], ""]


def rule_pages() -> dict[str, str]:
    """A page for each specification, and an index of all rules."""
    texts: dict[str, str] = {}
    index = []
    introduction = (
        "Generated from the specifications and the tests of the library. The rules of `home-*` apply to every home "
        "world that has a mapping; the other rules apply to the world `household`."
    )
    for entry in library_rules():
        name = f"{entry.specification}.md"
        if name not in texts:
            first_line = Path(spec_path(entry.specification)).read_text(encoding="utf-8").partition("\n")[0]
            texts[name] = f"# {entry.specification}\n\n{first_line.lstrip('; ')}\n"
        texts[name] += f"\n{rule_section(entry)}\n"
        rule = entry.rule
        index.append((f"[{rule.name}]({name}#{rule.name})", rule.hazard or "", rule.severity))
    return {"index.md": index_page("Rules", introduction, ("rule", "hazard", "severity"), index)} | texts
