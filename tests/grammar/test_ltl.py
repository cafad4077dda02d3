"""Infix LTL: precedence, meaning, diagnostics of other texts, and the limit on its size."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path

import pytest

from plansafe.domains.safety_chip.prefix import Atom, Formula, Node, parse, to_specification
from plansafe.grammar.ltl import MAX_DEPTH, parse_ltl
from plansafe.grammar.sexpr import format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.verifier.kernel import Kernel

DOMAIN = "(define (domain d) (:predicates (p) (q)) (:action a) (:action b))"
PROBLEM = "(define (problem x) (:domain d) (:goal ()))"


def to_prefix(text: str, *actions: str) -> str:
    parsed = parse_ltl(Source("f", text), actions)
    assert parsed.formula is not None, parsed.diagnostics
    return format_node(parsed.formula)


@pytest.mark.parametrize(
    ("infix", "expected"),
    [
        ("G !(on(stove) & X left(kitchen))", "(always (not (and (on stove) (next (left kitchen)))))"),
        ("G(!goto(x))", "(always (not (action (goto x))))"),
        ("do on(x)", "(action (on x))"),
        ("p & q & r", "(and (p) (q) (r))"),
        ("p & (q & r) | s", "(or (and (p) (and (q) (r))) (s))"),
        ("p -> q -> r", "(imply (p) (imply (q) (r)))"),
        ("p | q -> r & s", "(imply (or (p) (q)) (and (r) (s)))"),
        ("! p U q & r", "(and (until (not (p)) (q)) (r))"),
        ("p U q U r", "(until (p) (until (q) (r)))"),
        ("p <-> q", "(and (imply (p) (q)) (imply (q) (p)))"),
        ("p W q", "(release (q) (or (p) (q)))"),
        ("p R q", "(release (p) (q))"),
        ("GF p && FXp", "(and (always (sometime (p))) (fxp))"),
        ("[](p => <> ~q) || WX p", "(or (always (imply (p) (sometime (not (q))))) (weak-next (p)))"),
        ("G(p -> O q) & H Y p & Z (p S q)",
         "(and (always (imply (p) (once (q)))) (historically (yesterday (p))) (weak-yesterday (since (p) (q))))"),
        ("robot-in( a_1 , _ )->true", "(imply (robot-in a_1 _) (and))"),
        ("((p()))", "(p)"),
    ],
)  # fmt: skip
def test_operators_have_the_documented_precedence(infix: str, expected: str) -> None:
    assert to_prefix(infix, "goto") == expected


def trace_value(formula: str, letters: tuple[str, ...]) -> bool | None:
    kernel = Kernel(DOMAIN, PROBLEM, [f"(define (safety s) (:trajectory r :formula {formula}))"])
    return kernel.evaluate_instance("r", {}, [[(name,) for name in letter] for letter in letters])


@pytest.mark.parametrize(
    ("infix", "meaning"),
    [
        ("p U q", "(until (p) (q))"),
        ("p W q", "(or (until (p) (q)) (always (p)))"),
        ("p M q", "(until (q) (and (p) (q)))"),
        ("p R q", "(not (until (not (p)) (not (q))))"),
        ("WX p", "(not (next (not (p))))"),
        ("G(p -> X q)", "(always (or (not (p)) (next (q))))"),
        ("G(p <-> q)", "(always (or (and (p) (q)) (and (not (p)) (not (q)))))"),
        ("G(p -> O q)", "(always (imply (p) (once (q))))"),
        ("F(p S q)", "(sometime (since (p) (q)))"),
    ],
)
def test_meaning_on_all_short_traces(infix: str, meaning: str) -> None:
    """The value equals the definition on every trace of up to three letters."""
    for length in (1, 2, 3):
        for trace in product(("", "p", "q", "pq"), repeat=length):
            assert trace_value(to_prefix(infix), trace) is trace_value(meaning, trace), trace


INFIX_OPERATORS = {"&": "&", "|": "|", "i": "->", "e": "<->", "U": "U", "W": "W", "R": "R", "M": "M"}


def to_infix(formula: Formula) -> str:
    match formula:
        case Atom(predicate, names):
            return f"{predicate}({', '.join(names)})"
        case Node("^", _):
            raise NotImplementedError("no formula of the data has it")
        case Node(operator, (f,)):
            return f"{operator} ({to_infix(f)})"
        case Node(operator, (f, g)):
            return f"({to_infix(f)}) {INFIX_OPERATORS[operator]} ({to_infix(g)})"
        case _:
            return {"(and)": "true", "(or)": "false"}[str(formula)]


def merge_junctions(node: object) -> object:
    """Merge nested ``and`` and nested ``or``: the two writers group them differently."""
    if not isinstance(node, list):
        return node
    parts = [merge_junctions(part) for part in node]
    if parts and parts[0] in ("and", "or"):
        merged = [part[1:] if isinstance(part, list) and part[:1] == parts[:1] else [part] for part in parts[1:]]
        return [parts[0], *[part for group in merged for part in group]]
    return parts


def test_published_formulas_read_back(data: Path) -> None:
    """Published formulas without X, whose meaning differs, read the same in infix as in prefix notation."""
    text = (data / "safety-chip-ltl" / "nl_to_ltl_translations.json").read_text()
    formula_texts: set[str] = set()
    unvisited = [json.loads(text)]
    while unvisited:
        json_node = unvisited.pop()
        if isinstance(json_node, dict):
            unvisited += json_node.values()
        elif isinstance(json_node, list):
            unvisited += json_node
        elif isinstance(json_node, str) and json_node.split(" ")[0] in ("G", "F", "!", "&", "|", "i", "U", "W"):
            formula_texts.add(json_node)
    compared = 0
    for formula_text in sorted(formula_texts):
        formula = parse(formula_text)
        if " X " in formula_text:
            continue
        expected, actual = (
            parse_nodes(Source("e", to_specification(formula))),
            parse_nodes(Source("g", to_prefix(to_infix(formula)))),
        )
        assert merge_junctions(expected) == merge_junctions(actual), formula_text
        compared += 1
    assert compared > 50


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("", "SC003", ""),
        ("G", "SC003", "G"),
        ("p &", "SC003", "&"),
        ("p q", "SC003", "q"),
        ("(p", "SC002", "("),
        ("p)", "SC002", ")"),
        ("p & & q", "SC003", "&"),
        ("p $ q", "SC003", "$"),
        ("on(p & q)", "SC003", "("),
        ("G !on(?x)", "SC004", "?x"),
        ("caf\u00e9", "SC003", "\u00e9"),
        ("and(p) & q", "SC003", "and"),
        ("G or", "SC003", "or"),
    ],
)
def test_errors_have_a_code_and_a_place(text: str, code: str, place: str) -> None:
    parsed = parse_ltl(Source("f", text))
    assert parsed.formula is None
    [diagnostic] = parsed.diagnostics
    assert (diagnostic.code, text[slice(*diagnostic.labels[0].span)]) == (code, place)


@pytest.mark.slow
def test_a_word_of_pddl_for_an_operator_is_named() -> None:
    for text, symbol in (("p and q", "&"), ("NOT p", "!"), ("p imply q", "->")):
        [diagnostic] = parse_ltl(Source("f", text)).diagnostics
        assert diagnostic.help == f"write `{symbol}`"


def test_the_size_is_limited() -> None:
    """Parentheses have no limit; nesting, copies and length have one."""
    assert to_prefix("(" * 100_000 + "p" + ")" * 100_000) == "(p)"
    assert to_prefix("!" * (MAX_DEPTH - 1) + "p").count("not") == MAX_DEPTH - 1
    assert to_prefix(" & ".join(["p"] * 5_000)).count("(p)") == 5_000
    for text in ("!" * 100_000 + "p", "p <-> " * 60 + "p", "p & " * 100_000 + "p", "p -> " * 1_000 + "p"):
        [diagnostic] = parse_ltl(Source("f", text)).diagnostics
        assert (diagnostic.code, diagnostic.help is None) == ("SC004", False)
    for text in ("(" * 100_000, "G " * 100_000, ")" * 100_000, "p(" * 50_000, "p(" + "a," * 100_000):
        assert parse_ltl(Source("f", text)).diagnostics


def test_every_text_is_read_or_refused() -> None:
    rng = random.Random(13)
    tokens = ["G", "X", "U", "S", "!", "&", "|", "->", "<->", "(", ")", ",", "p", "q(a)", "do", "1", "?x", "-", "\n"]
    for _ in range(3_000):
        parsed = parse_ltl(Source("f", " ".join(rng.choices(tokens, k=rng.randint(0, 9)))))
        assert (parsed.formula is None) == bool(parsed.diagnostics)
