"""The cases of ``diagnostics.md``: a mistake's code, its place, the other place where two disagree, and help."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from engine_texts import checker

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.api import Options

HERE = Path(__file__).resolve().parent
FILES = ("domain", "problem", "spec", "plan")


class Expected(NamedTuple):
    code: str
    severity: Severity
    help: str | None


class Case(NamedTuple):
    title: str
    texts: dict[str, str]
    files: dict[str, str]
    lenient: bool
    open: str
    expected: list[Expected]


class Marked(NamedTuple):
    """A text without its marks, and the places that were marked: (start, end)."""

    text: str
    primary: list[tuple[int, int]]
    secondary: list[tuple[int, int]]


def unmark(text: str) -> Marked:
    marked_text = Marked("", [], [])
    plain = ""
    opened: list[int] = []
    for character in text:
        if character in "«⟦":
            opened.append(len(plain))
        elif character in "»⟧":
            (marked_text.primary if character == "»" else marked_text.secondary).append((opened.pop(), len(plain)))
        else:
            plain += character
    return marked_text._replace(text=plain)


def read_cases() -> tuple[dict[str, str], list[Case]]:
    """The base files, and the cases."""
    bases: dict[str, str] = {}
    cases: list[Case] = []
    for block in re.split(r"^## ", (HERE / "diagnostics.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, body = block.partition("\n")
        case = Case(title, {}, {}, False, "", [])
        field: dict[str, str] = {}
        key = ""
        for line in re.split(r"^# ", body, flags=re.MULTILINE)[0].splitlines():
            if line.startswith("  "):
                field[key] += "\n" + line
            elif re.match(r"SC\d{3}", line):
                code, *severity = line.split()
                case.expected.append(Expected(code, Severity(severity[0]) if severity else Severity.ERROR, None))
            elif line.startswith("help: "):
                case.expected[-1] = case.expected[-1]._replace(help=line.removeprefix("help: "))
            elif line.startswith("open: "):
                case = case._replace(open=line.removeprefix("open: "))
            elif line == "lenient":
                case = case._replace(lenient=True)
            elif line.strip():
                key, _, text = line.partition(":")
                field = bases if key.startswith("base ") else case.texts
                if key.startswith("file "):
                    field, key = case.files, key.removeprefix("file ")
                field[key] = text.strip().encode("ascii", "backslashreplace").decode("unicode-escape")
        if case.texts:
            cases.append(case)
    return bases, cases


BASES, CASES = read_cases()
SECTIONS = ("types", "constants", "predicates", "functions", "domain", "objects", "init", "problem", "goal", "spec")


def full(case: Case, name: str) -> str | None:
    """The whole text of a file of a case, marks included."""
    if name == "plan":
        return case.texts.get("plan")
    if name == "spec" and not {"spec", "spec-file"} & case.texts.keys():
        return None
    if f"{name}-file" in case.texts:
        return case.texts[f"{name}-file"]
    text = BASES[f"base {name}"]
    for section in SECTIONS:
        text = text.replace("{" + section + "}", case.texts.get(section, "()" if section == "goal" else ""))
    return text


def diagnose(case: Case, texts: dict[str, Marked]) -> list[Diagnostic]:
    files = {name: unmark(text).text for name, text in case.files.items()}
    specs = [texts["spec"].text] if "spec" in texts else []
    options = Options(lenient_types=case.lenient)
    checked = checker(texts["domain"].text, texts["problem"].text, *specs, options=options, files=files)
    if "plan" in texts:
        assert checked.ok, checked.diagnostics
        diagnostics = list(checked.check(Source("plan", texts["plan"].text)).diagnostics)
    else:
        diagnostics = list(checked.diagnostics)
        assert checked.ok == (not any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics))
    return diagnostics


def marked(case: Case) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.xfail(reason=case.open, strict=False),) if case.open else ()


@pytest.mark.parametrize("case", [pytest.param(case, id=case.title, marks=marked(case)) for case in CASES])
def test_diagnostics(case: Case) -> None:
    texts = {name: unmark(text) for name in FILES if (text := full(case, name)) is not None}
    texts |= {name: unmark(text) for name, text in case.files.items()}
    order = list(texts)
    diagnostics = diagnose(case, texts)
    diagnostics.sort(key=lambda d: (order.index(d.labels[0].source), d.labels[0].span))
    places = [(diagnostic.labels[0].source, *diagnostic.labels[0].span) for diagnostic in diagnostics]
    assert [(diagnostic.code, diagnostic.severity) for diagnostic in diagnostics] == [
        expected[:2] for expected in case.expected
    ], [diagnostic.message for diagnostic in diagnostics]
    assert places == [(name, *place) for name in order for place in sorted(texts[name].primary)], [
        texts[diagnostic.labels[0].source].text[slice(*diagnostic.labels[0].span)] for diagnostic in diagnostics
    ]
    secondary_places = sorted(
        (label.source, *label.span) for diagnostic in diagnostics for label in diagnostic.labels[1:]
    )
    assert secondary_places == sorted((name, *place) for name in order for place in texts[name].secondary)
    for diagnostic, expected in zip(diagnostics, case.expected, strict=True):
        assert expected.help in (None, diagnostic.help)


# What reports say about plans has its own tests: test_findings.py.
ELSEWHERE = {"SC405", "SC406", "SC503", "SC624", "SC625", "SC626"}  # the last three: tests/app/test_home.py


def test_every_code_has_a_case(root: Path) -> None:
    emitted: set[str] = set()
    verifier = root / "verifier/plansafe/verifier"
    for folder in (root / "grammar/plansafe/grammar", verifier / "elaborate", verifier / "rules"):
        for module in folder.glob("*.py"):
            emitted |= {
                getattr(SC, name) for name in re.findall(r"\bSC\.([A-Z]\w+)", module.read_text(encoding="utf-8"))
            }
    assert len(emitted) >= 25
    assert emitted - ELSEWHERE <= {expected.code for case in CASES for expected in case.expected}


def test_all_mistakes_of_all_files_are_reported() -> None:
    case = Case("", {"domain": "(:action a :effect (zzz))", "init": "(zzz)", "goal": "(zzz)"}, {}, False, "", [])
    case.texts["spec"] = "(:process r :forbid (zzz)) (:process q :forbid (zzz))"
    texts = {name: unmark(text) for name in FILES if (text := full(case, name)) is not None}
    diagnostics = [(diagnostic.code, diagnostic.labels[0].source) for diagnostic in diagnose(case, texts)]
    assert diagnostics == [("SC102", name) for name in ("domain", "problem", "problem", "spec", "spec")]


def test_there_is_a_bound_on_how_many_are_listed_but_not_on_what_is_an_error() -> None:
    checked = checker("(define (domain d))", f"(define (problem p) (:init {'(zzz) ' * 1000}) (:goal ()))")
    assert len(checked.diagnostics) == 200
    assert not checked.ok


def test_the_first_structural_error_of_each_text_says_what_is_expected() -> None:
    domain = "(define (domain d) (:predicates (p)) (:action a :parameters ?x) (:action b :parameters ?x))"
    problem = "(define (problem p) (:domain d) (:goal (and (claen) (not))))"
    spec = "(define (safety s) (:process :forbid (p)))"
    diagnostics = checker(domain, problem, spec).diagnostics
    notes = {
        name: [
            (diagnostic.code, bool(diagnostic.notes))
            for diagnostic in diagnostics
            if diagnostic.labels[0].source == name
        ]
        for name in ("domain", "problem", "spec")
    }
    assert notes == {
        "domain": [(SC.STRUCTURE, True), (SC.STRUCTURE, False)],
        "problem": [(SC.UNKNOWN_PREDICATE, False), (SC.STRUCTURE, True)],
        "spec": [(SC.STRUCTURE, True)],
    }
