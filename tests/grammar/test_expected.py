"""Notes on the syntax that the grammar expected; grammars without conflicts and depth limit, loaded on first use."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from lark import Lark, logger

import plansafe.grammar.expected_syntax as expected
from plansafe.grammar.expected_syntax import GRAMMAR_FILES, MAX_CHARACTERS, explain_rejection, find_rejection
from plansafe.grammar.source import Source
from quick import quick_every

DEPTH = 100_000


@pytest.mark.parametrize(
    ("kind", "text", "note"),
    [
        (
            "domain",
            "(define (domain d)\n  (:action a :params ()))",
            "at 2:14, before `:params`, the grammar expected one of: `:effect`, `:parameters`, `:precondition`, `)`",
        ),
        ("domain", "(define (domain d)", "at 1:19, before the end of the text, the grammar expected one of: `(`, `)`"),
        ("domain", "", "at 1:1, before the end of the text, the grammar expected `(`"),
        (
            "domain",
            "(define (domain d) (:durative-action a :effect (at finish (q))))",
            "at 1:52, before `finish`, the grammar expected one of: `end`, `start`",
        ),
        (
            "problem",
            "(define (problem p) (:metric minimise 5))",
            "at 1:30, before `minimise`, the grammar expected one of: `maximize`, `minimize`",
        ),
        ("plan", "(a) b", "at 1:5, before `b`, the grammar expected one of: the end of the text, `(`"),
        (
            "specification",
            "(define (safety s) (:termination r :forbid () :severity bad))",
            "at 1:57, before `bad`, the grammar expected one of: `critical`, `high`, `low`, `medium`",
        ),
    ],
)
def test_notes_name_the_expected_tokens(kind: str, text: str, note: str) -> None:
    assert explain_rejection(kind, Source("x", text)) == (note,)


def test_a_correct_text_has_no_notes() -> None:
    assert explain_rejection("plan", Source("x", "(a b)")) == ()


def test_long_texts_have_no_notes() -> None:
    assert explain_rejection("plan", Source("x", "(" * (MAX_CHARACTERS + 1))) == ()


@pytest.mark.parametrize("wrong", quick_every(2, [False, True]))
def test_nesting_has_no_limit(wrong: bool) -> None:
    inner = "(and " * DEPTH + ("(q" if wrong else "(q)") + ")" * DEPTH
    text = f"(define (problem p) (:domain d) (:goal {inner}))"
    assert (find_rejection("problem", text) is not None) == wrong


@pytest.mark.parametrize("file", sorted(set(GRAMMAR_FILES.values())))
def test_grammars_have_no_conflicts(file: str, caplog: pytest.LogCaptureFixture) -> None:
    """Lark resolves shift/reduce conflicts silently unless it logs them."""
    path = Path(expected.__file__).parent / file
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(caplog.handler)
    try:
        start = [kind for kind, grammar_file in GRAMMAR_FILES.items() if grammar_file == file]
        Lark(
            path.read_text("utf-8"),
            parser="lalr",
            start=start,
            source_path=str(path),
            import_paths=[str(path.parent)],
            debug=True,
        )
    finally:
        logger.removeHandler(caplog.handler)
        logger.setLevel(level)
    assert [m for m in caplog.messages if "onflict" in m] == []


def test_lark_is_loaded_on_first_use() -> None:
    code = "import sys, plansafe.grammar.expected_syntax; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
