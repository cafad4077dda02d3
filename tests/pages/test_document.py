"""Test the HTML file: its content security policy, its scripts, the encoding of its data."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from plansafe.app.interfaces.pages import audit_page, report_view
from plansafe.app.interfaces.pages.document import LONGEST, SCRIPTS, document, embedded, legible
from plansafe.app.interfaces.pages.plan_index import Book
from plansafe.app.session.model import Settings
from plansafe.app.system.time_limit import OutOfTime
from plansafe.verifier.reporting.report import Headline

ROOT = Path(__file__).resolve().parents[2]

NASTY = "</script><script>alert(1)</script> <!-- ]]> & \" ' \u2028 \u202e \x00 \x1b[31m \ud800 \U000e0101"


def page(**index: Any) -> str:
    return "".join(document(NASTY, index, [embedded({"text": NASTY})]))


def test_policy_allows_only_the_style_and_script_of_the_page() -> None:
    text = page()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    rules = dict(directive.strip().split(" ", 1) for directive in policy[1].split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for name, pattern in (("style-src", "<style>(.*?)</style>"), ("script-src", "<script>(.*?)</script>")):
        (body,) = re.findall(pattern, text, re.DOTALL)
        assert rules[name] == f"'sha256-{b64encode(hashlib.sha256(body.encode()).digest()).decode()}'"
    assert set(rules) == {"default-src", "base-uri", "form-action", "style-src", "script-src"}


def test_data_cannot_close_its_element() -> None:
    line = embedded({NASTY: [NASTY]})
    assert line.isascii() and line.isprintable()
    assert not set("<>&") & set(line)
    assert json.loads(line) == legible({NASTY: [NASTY]})
    assert page(title=NASTY).count("</script>") == 3


def test_invisible_characters_are_escaped() -> None:
    escaped = legible(NASTY)
    assert all(escape in escaped for escape in ("\\u2028", "\\u202e", "\\x00", "\\x1b", "\\ud800", "\\U000e0101"))
    assert escaped.isprintable()


def test_texts_are_bounded() -> None:
    assert len(legible("x" * 10**6)) == LONGEST + 1


def test_the_title_is_escaped() -> None:
    (title,) = re.findall("<title>(.*?)</title>", page(), re.DOTALL)
    assert "<" not in title and "\u202e" not in title


@pytest.mark.parametrize("name", [*SCRIPTS])
def test_scripts_create_no_markup(name: str) -> None:
    text = (files("plansafe.app.interfaces.pages") / "assets" / f"{name}.js").read_text(encoding="utf-8")
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc|DOMParser"
    requests = r"\bfetch\b|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import\(|https?://(?!www\.w3\.org/2000/svg)"
    assert not re.search(f"{forbidden}|{requests}", text)
    assert not re.search(r"\bhref\s*:|\bsrc\s*:|setAttribute\(\"(?:style|on|href|src)", text)


def test_style_loads_nothing() -> None:
    text = (files("plansafe.app.interfaces.pages") / "assets" / "page.css").read_text(encoding="utf-8")
    assert not re.search(r"url\(|@import|https?:", text)


def test_equal_rules_are_stored_once_and_details_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plansafe.app.interfaces.pages.plan_index.MOST_DETAILS", 300)
    report = {"plan": "p", "headline": "SAFE", "steps": 1, "findings": [], "suppressed": 0}
    book = Book("many")
    for _ in range(5):
        book.add({"report": report, "rules": {"r": {"text": "same"}}, "timelines": []})
    text = "".join(book.pieces())
    index = json.loads(re.findall('id="index">(.*?)</script>', text)[0])
    assert index["rules"] == [{"text": "same"}]
    lines = re.findall('id="details">(.*?)</script>', text, re.DOTALL)[0].splitlines()
    assert len(index["rows"]) == len(lines) == 5
    assert lines[0] != "null" and lines[-1] == "null"


def test_verdict_is_kept_if_its_explanation_runs_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_out_of_time(*_: object) -> dict[str, object]:
        raise OutOfTime

    monkeypatch.setattr(report_view, "_explanation", run_out_of_time)
    plans = [str(ROOT / "examples" / "dinner" / name) for name in ("stove-left-alone.plan", "stew-and-salad.plan")]
    views = list(audit_page.audit_plans(plans, Settings()))
    assert [view.result.report.headline for view in views] == [Headline.UNSAFE, Headline.SAFE]
    assert [view.detail["report"]["headline"] for view in views] == ["UNSAFE", "SAFE"]
    assert all("time limit has passed" in view.detail["steps_note"] for view in views)


def test_large_graph_has_only_necessary_links(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = str(ROOT / "examples" / "dinner" / "stove-left-alone.plan")
    (unlimited_view,) = audit_page.audit_plans([plan], Settings())
    assert "graph_note" not in unlimited_view.detail
    monkeypatch.setattr(report_view, "MOST_LINKS", 5)
    (view,) = audit_page.audit_plans([plan], Settings())
    edges = view.detail["graph"]["edges"]
    assert len(edges) == 5 and all(edge["needed"] for edge in edges)
    assert view.detail["graph_note"].startswith("The plan has more than 5 links.")


def test_a_long_plan_has_no_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = str(ROOT / "examples" / "dinner" / "stove-left-alone.plan")
    monkeypatch.setattr(report_view, "MOST_EXPLAINED", 2)
    (view,) = audit_page.audit_plans([plan], Settings())
    assert view.detail["repair"]["outcome"]["message"].endswith("the plan has more than 2 steps.")
    assert "graph" not in view.detail and "more than 2 steps" in view.detail["graph_note"]
    assert view.detail["timelines"][0]["whole"]


def test_interval_in_continuous_time_shows_the_witness(tmp_path: Path) -> None:
    folder = ROOT / "examples" / "bathtub"
    for name in ("problem.pddl", "water.safe", "short-bath.plan"):
        (tmp_path / name).write_text((folder / name).read_text("utf-8"), "utf-8")
    domain = (folder / "domain.pddl").read_text("utf-8")
    domain = domain.replace("(:functions (level))", "(:functions (level) (flow))").replace("(* #t 4)", "(* #t (flow))")
    (tmp_path / "domain.pddl").write_text(domain, "utf-8")
    problem = (tmp_path / "problem.pddl").read_text("utf-8").replace("(= (level) 0)", "(= (level) 0) (<= 2 (flow) 5)")
    (tmp_path / "problem.pddl").write_text(problem, "utf-8")
    (view,) = audit_page.audit_plans([str(tmp_path / "short-bath.plan")], Settings())
    (timeline,) = view.detail["timelines"]
    assert timeline["whole"]
    assert [interval["headline"] for interval in view.detail["report"]["worlds"]["ranges"]] == ["SAFE", "UNSAFE"]
