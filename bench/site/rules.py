"""The shipped hazard rules as pages: what each says, and plans that break and keep it, from the tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.site.markdown import block, cell, code
from tests.case_files import Case, read_cases

from plansafe.domains import domain_path
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.rules.model import Rule

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "content"


class Shown(NamedTuple):
    """A rule, the name of its specification, its text, and its cases."""

    rule: Rule
    specification: str
    text: str
    cases: list[Case]


def shown() -> Iterator[Shown]:
    """Every rule of the library of the home, in the world of its own words; then of the household."""
    home = CASES / "home"
    yield from _of(home / "ontology.pddl", "home", home, "ontology")
    yield from _of(Path(domain_path("household")), "household", CASES / "rules", "household")


def _of(domain: Path, name: str, folder: Path, world: str) -> Iterator[Shown]:
    cases = {
        path.stem: [case for case in read_cases(path) if case.group == world] for path in sorted(folder.glob("*.md"))
    }
    problem = next(iter(cases.values()))[0].source("problem.pddl")
    checker = Checker(_load(domain), problem, [_load(Path(spec_path(name)))], Options(), resolve=_shipped)
    expanded = checker.compiled.expanded
    assert expanded is not None, "a specification was given"
    plain = {str(each.node[1]): each for each in expanded.rules}
    texts = {each.specification: _load(Path(each.source)).text for each in expanded.rules}
    for rule in checker.rules:
        specification = plain[rule.name].specification
        text = written(texts[specification], rule.name) or _plain(plain[rule.name].node)
        yield Shown(rule, specification, text, cases.get(rule.name, []))


def _load(path: Path) -> Source:
    return Source(str(path), path.read_text(encoding="utf-8"))


def _shipped(name: str, _beside: Source) -> Source | None:
    return _load(Path(spec_path(name)))


def written(text: str, name: str) -> str:
    """The text of a rule in its specification, moved to the left; nothing where a template made it."""
    begin = re.search(rf"^( *)\(:[\w-]+ {re.escape(name)}(?=[\s)])", text, re.MULTILINE)
    if begin is None:
        return ""
    depth, at, start = 0, begin.end(1), begin.end(1)
    for token in re.finditer(r';[^\n]*|"[^"]*"|[()]', text[start:]):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        at = start + token.end()
        if depth == 0:
            break
    return re.sub(rf"^ {{{len(begin[1])}}}", "", text[start:at], flags=re.MULTILINE)


def _plain(node: object) -> str:
    return f"({' '.join([_plain(part) for part in node])})" if isinstance(node, list) else str(node)


def section(one: Shown) -> str:
    """What a page says of a rule."""
    rule = one.rule
    lines = [f"## {rule.name}", "", cell(rule.rationale or ""), ""]
    rows = [
        ("kind", f"{rule.kind}{', a preference' if rule.preference else ''}"),
        ("hazard", rule.hazard or ""),
        ("harms", " ".join(rule.targets)),
        ("severity", rule.severity),
        ("says", rule.message or ""),
        ("way out", rule.fix or ""),
    ]
    lines += ["| | |", "|---|---|", *[f"| {name} | {cell(said)} |" for name, said in rows if said], ""]
    lines.append(block("lisp", one.text))
    for case in one.cases:
        title = f"a plan that {'breaks' if case.name.startswith('breaks') else 'keeps'} it"
        lines += _folded(title, "".join([f"; {line}\n" for line in case.lines]) + case.text("plan"))
    for case in one.cases[:1]:
        lines += _folded("the home of these plans", case.text("problem.pddl"))
    return "\n".join(lines)


def _folded(title: str, content: str) -> list[str]:
    text = block("lisp", content)
    return [f'??? example "{title}"', "", *[f"    {line}".rstrip() for line in text.splitlines()], ""]


def pages() -> dict[str, str]:
    """A page for each specification, and a table of all rules."""
    made: dict[str, str] = {}
    index = [
        "# Rules",
        "",
        "Made from the specifications and the tests of the library. `home-*` holds in every world that a mapping",
        "binds; the others are those of the world `household`.",
        "",
        "| rule | hazard | severity |",
        "|---|---|---|",
    ]
    for one in shown():
        name = f"{one.specification}.md"
        if name not in made:
            first = Path(spec_path(one.specification)).read_text(encoding="utf-8").partition("\n")[0]
            made[name] = f"# {one.specification}\n\n{first.lstrip('; ')}\n"
        made[name] += f"\n{section(one)}\n"
        index.append(f"| [{one.rule.name}]({name}#{one.rule.name}) | {one.rule.hazard} | {code(one.rule.severity)} |")
    return {"index.md": "\n".join(index) + "\n"} | made
