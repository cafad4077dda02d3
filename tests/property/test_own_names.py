"""Reports speak in the words of the user's files: no name that was made up inside ever appears."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from case import plan_text
from compare import Both
from generate import STREAMS, case

from case_files import conformance_cases
from plansafe.app.render import renderer
from plansafe.app.session.audit import audit
from plansafe.app.session.model import Result, Settings
from plansafe.grammar.source import Source
from quick import quick_every

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SHIPPED = [*(ROOT / "specs" / "plansafe" / "specs").glob("*.safe"), *(ROOT / "domains" / "plansafe").rglob("*.pddl")]
SETTINGS = Settings(every=True, full_state=True)
INSIDE = re.compile(r"\((?:start|end|during) of \w|\?\d|~\d|@\w|object at 0x")
"""Predicates that stand for actions, numbered variables, marks of parts."""


def outputs(result: Result, forms: tuple[str, ...] = ("full", "concise", "json")) -> str:
    """The text of the output formats; not SARIF, whose log contains the pages of its codes with their examples."""
    views = [renderer(form, SETTINGS) for form in forms]
    return "\n".join(view.plan(result) + view.end() for view in views)


def variables(text: str) -> set[str]:
    return set(re.findall(r"\?[a-z][\w-]*+(?!\u2026)", text))  # not those that are cut off


def without_macros(text: str) -> str:
    """A specification without the bodies of its macros, whose variables are their own."""
    out, start = "", 0
    for header in re.finditer(r"\(:define \([^()]*\)", text):
        depth, end = 1, header.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        out, start = out + text[start : header.end()], end
    return out + text[start:]


def examples() -> list[tuple[str, Settings]]:
    plans = [(str(path), SETTINGS) for path in sorted(EXAMPLES.rglob("*.plan"))]
    scene = SETTINGS._replace(world="virtualhome", scene=str(EXAMPLES / "virtualhome" / "home.json"))
    return [*plans, (str(EXAMPLES / "virtualhome" / "warm-milk.txt"), scene)]


@pytest.mark.parametrize(("plan", "settings"), examples(), ids=[Path(plan).name for plan, _ in examples()])
def test_examples(plan: str, settings: Settings) -> None:
    (result,) = audit([plan], settings)
    text = outputs(result)
    assert not INSIDE.search(text), INSIDE.search(text)
    written = [without_macros(source.text) for source in result.sources.values()]
    written += [without_macros(path.read_text(encoding="utf-8")) for path in SHIPPED]
    own_lines = {
        line for line in text.split("\n") if not re.match(r" *\d+ \| ", line)
    }  # a quoted line is the user's text
    assert variables("\n".join(own_lines)) <= variables("\n".join(written))


@pytest.mark.parametrize("name", quick_every(5, conformance_cases()))
def test_conformance_cases(name: str, tmp_path: Path) -> None:
    folder = conformance_cases()[name].write(tmp_path)
    settings = SETTINGS._replace(domain=str(folder / "domain.pddl"), problem=str(folder / "problem.pddl"))
    (result,) = audit([str(folder / "plan")], settings)
    text = outputs(result)
    assert not INSIDE.search(text), INSIDE.search(text)


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("stream", STREAMS)
def test_random_tasks(stream: str, number: int) -> None:
    candidate = case(stream, 12, number)
    both = Both(candidate)
    written = variables(candidate.domain_text() + candidate.problem_text() + candidate.safety_text())
    for plan in candidate.plans:
        report = both.checker.check(Source("p", plan_text(plan)))
        text = outputs(Result("p", report, (), both.checker.sources))
        assert not INSIDE.search(text), INSIDE.search(text)
        assert variables(text) <= written
