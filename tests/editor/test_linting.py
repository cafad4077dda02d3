"""Asking the linter beside the editor: a process of its own, which imports nothing from the folder that it works in."""

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


def asked(folder: Path, name: str, kind: str, **unsaved: str) -> LintRequest:
    return LintRequest(
        str(folder / name), kind, str(folder), {}, {str(folder / key): text for key, text in unsaved.items()}
    )


def test_the_process_imports_nothing_from_the_folder_of_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path.resolve()
    for name in ("json.py", "plansafe.py", "sitecustomize.py", "lark.py"):
        (folder / name).write_text(f"open({str(folder / 'owned')!r}, 'w').close()")
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "kitchen.safe").write_text(USELESS)
    monkeypatch.chdir(folder)
    text = Text("file:///kitchen.safe", str(folder / "kitchen.safe"), USELESS)
    linter = Linter()
    said = asyncio.run(linter.lint(text, asked(folder, "kitchen.safe", "safety")))
    assert [d.code for d in said][:1] == ["SC750"]
    assert said == linter.last_findings(text)
    assert linter.last_findings(Text(text.uri, text.path, USELESS)) == ()  # of another version nothing is known
    assert not (folder / "owned").exists()


def test_what_is_not_saved_is_what_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path.resolve()
    monkeypatch.chdir(folder)
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "kitchen.safe").write_text(RULES)
    assert lint_file(asked(folder, "kitchen.safe", "safety")) == ()
    question = LintRequest(
        str(folder / "kitchen.safe"), "safety", str(folder), {}, {str(folder / "kitchen.safe"): USELESS}
    )
    assert "SC750" in [d.code for d in lint_file(question)]
    assert lint_file(asked(folder, "nowhere.safe", "safety")) == ()


def test_constraints_of_a_domain_are_looked_at_in_the_domain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path.resolve()
    monkeypatch.chdir(folder)
    never = "(:constraints (forall (?s - stove) (always (or (on ?s) (not (on ?s))))))"
    (folder / "domain.pddl").write_text(DOMAIN.rstrip()[:-1] + never + ")")
    (folder / "kitchen.safe").write_text(USELESS)
    codes = {d.code: d.labels[0].source for d in lint_file(asked(folder, "domain.pddl", "domain"))}
    assert codes["SC750"] == str(folder / "domain.pddl")
    assert set(codes.values()) == {str(folder / "domain.pddl")}


def test_without_a_solver_nothing_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    async def none(question: bytes) -> tuple[bytes, int]:
        started.append(question)
        return b"", NO_SOLVER

    monkeypatch.setattr(rule_lint, "_run_linter", none)
    linter, text = Linter(), Text("file:///a.safe", "/a.safe", RULES)

    async def twice() -> list[tuple[object, ...]]:
        return [await linter.lint(text, LintRequest("/a.safe", "safety", "/", {}, {})) for _ in range(2)]

    assert asyncio.run(twice()) == [(), ()]
    assert (linter.no_solver, len(started)) == (True, 1)
