"""Test the linter process of the language server. It imports nothing from its working directory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from plansafe.app.interfaces.editor import rule_lint
from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.rule_lint import NO_SOLVER, Linter, LintRequest, lint_file

DOMAIN = """(define (domain kitchen)
  (:types stove - object)
  (:predicates (on ?s - stove))
  (:action switch-on :parameters (?s - stove) :precondition (not (on ?s)) :effect (on ?s)))
"""
RULES = """(define (safety kitchen) (:domain kitchen)
  (:termination stove-off :parameters (?s - stove) :forbid (on ?s) :hazard fire :target property))
"""
IDLE = "(:termination no-hob :parameters (?s - stove) :forbid (and (on ?s) (not (on ?s))))"
USELESS = f"{RULES.rstrip()[:-1]}\n  {IDLE})\n"


def lint_request(folder: Path, name: str, kind: str, **unsaved: str) -> LintRequest:
    return LintRequest(
        str(folder / name), kind, str(folder), {}, {str(folder / key): text for key, text in unsaved.items()}
    )


def test_linter_imports_nothing_from_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path.resolve()
    for name in ("json.py", "plansafe.py", "sitecustomize.py", "lark.py"):
        (folder / name).write_text(f"open({str(folder / 'owned')!r}, 'w').close()")
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "kitchen.safe").write_text(USELESS)
    monkeypatch.chdir(folder)
    text = Text("file:///kitchen.safe", str(folder / "kitchen.safe"), USELESS)
    linter = Linter()
    diagnostics = asyncio.run(linter.lint(text, lint_request(folder, "kitchen.safe", "safety")))
    assert [d.code for d in diagnostics][:1] == ["SC750"]
    assert diagnostics == linter.last_findings(text)
    assert linter.last_findings(Text(text.uri, text.path, USELESS)) == ()  # another version has no findings yet
    assert not (folder / "owned").exists()


def test_unsaved_text_is_linted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path.resolve()
    monkeypatch.chdir(folder)
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "kitchen.safe").write_text(RULES)
    assert lint_file(lint_request(folder, "kitchen.safe", "safety")) == ()
    unsaved = lint_request(folder, "kitchen.safe", "safety", **{"kitchen.safe": USELESS})
    assert "SC750" in [d.code for d in lint_file(unsaved)]
    assert lint_file(lint_request(folder, "nowhere.safe", "safety")) == ()


def test_useless_constraint_is_reported_in_the_domain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path.resolve()
    monkeypatch.chdir(folder)
    tautology = "(:constraints (forall (?s - stove) (always (or (on ?s) (not (on ?s))))))"
    (folder / "domain.pddl").write_text(DOMAIN.rstrip()[:-1] + tautology + ")")
    (folder / "kitchen.safe").write_text(USELESS)
    sources = {d.code: d.labels[0].source for d in lint_file(lint_request(folder, "domain.pddl", "domain"))}
    assert sources["SC750"] == str(folder / "domain.pddl")
    assert set(sources.values()) == {str(folder / "domain.pddl")}


def test_linter_is_not_started_again_without_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = []

    async def fail_without_solver(request: bytes) -> tuple[bytes, int]:
        requests.append(request)
        return b"", NO_SOLVER

    monkeypatch.setattr(rule_lint, "_run_linter", fail_without_solver)
    linter, text = Linter(), Text("file:///a.safe", "/a.safe", RULES)

    async def lint_twice() -> list[tuple[object, ...]]:
        return [await linter.lint(text, LintRequest("/a.safe", "safety", "/", {}, {})) for _ in range(2)]

    assert asyncio.run(lint_twice()) == [(), ()]
    assert (linter.no_solver, len(requests)) == (True, 1)
