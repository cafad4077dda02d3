"""Test positions, names and formatting of the language server without a client."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lsprotocol import types

from plansafe.app.interfaces.editor.document_text import Text, path_of, uri_of
from plansafe.app.interfaces.editor.formatter import format_file
from plansafe.app.interfaces.editor.name_mentions import NameKind, find_mentions
from plansafe.app.interfaces.editor.source_tree import enclosing_forms, parse_tree
from plansafe.app.project.file_kinds import Kind, heading
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.sexpr import parse_nodes
from plansafe.grammar.source import Source

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    [
        *(ROOT / "examples").rglob("*.p*l*"),
        *(ROOT / "examples").rglob("*.safe"),
        *(ROOT / "domains" / "plansafe" / "domains").glob("*/domain.pddl"),
        *(ROOT / "specs" / "plansafe" / "specs").glob("*.safe"),
    ]
)


def apply_change(text: str, bounds: tuple[int, int, int, int], new: str) -> str:
    span = types.Range(types.Position(*bounds[:2]), types.Position(*bounds[2:]))
    document = Text("file:///a", "/a", text, 1).changed([types.TextDocumentContentChangePartial(span, new)], 2)
    assert document.version == 2
    return document.text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_changes_are_applied_by_lines_of_the_protocol(end: str) -> None:
    text = f"(a){end}\u2028\x0c(b){end}(c)"
    assert apply_change(text, (1, 2, 1, 5), "(x)") == f"(a){end}\u2028\x0c(x){end}(c)"
    assert apply_change(text, (2, 3, 2, 3), "(d)") == text + "(d)"
    assert apply_change(text, (9, 9, 9, 9), "!") == text + "!"
    assert apply_change(text, (0, 1, 2, 1), "") == "(c)"


def test_offset_of_a_position_is_the_same_offset() -> None:
    draw = random.Random(7)
    for _ in range(200):
        text = "".join(draw.choices("a( \U0001f525é\r\n\u2028\x0b", k=draw.randrange(30)))
        opened = Text("file:///a", "/a", text)
        for offset in range(len(text) + 1):
            if text[offset - 1 : offset + 1] == "\r\n":
                continue  # a position between them does not exist
            position = opened.position(offset)
            assert opened.offset(position) == offset
            before = text[opened.source.line_starts[position.line] : offset]
            assert position.character == len(before.encode("utf-16-le")) // 2


def test_untitled_files_have_a_name_without_a_path() -> None:
    assert path_of(uri_of("/a b/ö#1?.plan")) == "/a b/ö#1?.plan"
    assert Path(path_of("untitled:Untitled-1")).name == "Untitled-1"
    assert "/" not in Path(path_of("git:/../../x")).name


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_formatting_is_idempotent_and_keeps_the_content(path: Path) -> None:
    source = Source.from_path(path)
    kind = heading(source.text).kind
    once = format_file(source, kind)
    if kind in (Kind.OTHER, Kind.EMPTY):
        assert once is None
        return
    assert once is not None
    assert format_file(Source("", once), kind) == once
    assert parse_nodes(Source("", once)) == parse_nodes(source) or kind is Kind.STEPS
    assert [s.tokens for s in read_plan(Source("", once)).steps] == [s.tokens for s in read_plan(source).steps]
    assert not any(line != line.rstrip() for line in once.splitlines() if ";" not in line)


def test_formatting_keeps_unreadable_text() -> None:
    for text in ("(define (domain d)", "(define (domain d) ))", "hello", "", "(a (b) c)", "(a ; in a step\n b)"):
        assert format_file(Source("", text), heading(text).kind) in (None, text)
    assert format_file(Source("", "(define (domain d) " + "(" * 1000 + ")" * 1000 + ")"), Kind.DOMAIN) is None


def test_kind_of_a_name_follows_from_its_position() -> None:
    text = """(define (safety s) (:domain d)
  (:process r :parameters (?x - cup) :on (or (go ?x hall) (exists (?y - room) (look ?y)))
    :forbid (and (next (at ?x)) (next ?x sink) (>= (load ?x) 3) (since (full ?x) (once (action (go ?x _)))))
    :message "(on ?x) {?x}"))"""
    mentions = [(m.name_kind.value, m.name) for m in find_mentions(Source("", text), Kind.SAFETY)]
    names = {kind: [name for name_kind, name in mentions if name_kind == kind] for kind, _ in mentions}
    assert names["action"] == ["go", "look", "go"]
    assert names["predicate"] == ["at", "next", "full"]
    assert names["function"] == ["load"]
    assert names["object"] == ["hall", "sink"]
    assert names["type"] == ["cup", "room"]
    assert names["rule"] == ["r"]
    assert names["operator"] == ["or", "exists", "and", "next", ">=", "since", "once", "action"]
    assert names["string"] == ['"(on ?x) {?x}"']


def test_declarations_are_those_of_the_compiler(tmp_path: Path) -> None:
    """The editor and the compiler find the same declarations in the shipped domain."""
    from plansafe.specs.lint.api import make_empty_problem
    from plansafe.verifier.api import Checker

    source = Source.from_path(ROOT / "domains/plansafe/domains/household/domain.pddl")
    task = Checker(source, make_empty_problem(source)).engine.task
    declarations = [m for m in find_mentions(source, Kind.DOMAIN) if m.declares]

    def declared(kind: NameKind) -> set[str]:
        return {m.name for m in declarations if m.name_kind is kind}

    assert declared(NameKind.ACTION) == set(task.actions)
    assert declared(NameKind.PREDICATE) >= {p.name for p in task.predicates if p.name in declared(NameKind.PREDICATE)}
    assert {p.name for p in task.predicates} - declared(NameKind.PREDICATE) <= {
        m.name for m in find_mentions(source, Kind.DOMAIN)
    }
    assert declared(NameKind.FUNCTION) == {f.name for f in task.functions}
    assert declared(NameKind.TYPE) | {"object"} == set(task.type_names)


def test_enclosing_forms_are_found_in_incomplete_text() -> None:
    text = "(define (domain d) (:action a :parameters (?x - "
    assert [form.head for form in enclosing_forms(parse_tree(Source("", text)), len(text))] == [
        "define",
        ":action",
        "?x",
    ]
    assert len(enclosing_forms(parse_tree(Source("", "(" * 100_000)), 100_000)) <= 200
