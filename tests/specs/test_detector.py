"""Compile safety detectors, report the mistakes in their tables, and test each row of the shipped tables.

The cases of the rows are lines of ``detector/WORLD.txt``. With objects of the kinds in the row, a plan violates its
rule; with harmless objects, it does not.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import pytest

from plansafe.domains import domain_path
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.specs.detector import compile_detector
from plansafe.specs.detector_table import make_hazard_name
from plansafe.verifier.api import Checker
from quick import quick_every

HERE = Path(__file__).resolve().parent
SHIPPED = ("igibson", "virtualhome")
TABLE = """name = "small"
domain = "d"
categories = ["fire and heat", "broken"]
[kinds]
heaters = "stove iron"
hot = ["heaters", "toaster"]
[actions]
switchon = "_ ?of"
drop = ["drop _ ?of", "let_go ?of"]
[properties]
on = "(on ?of)"
[process]
switchon = { of = "heaters", when = "(exists (?x - hot) (on ?x))", categories = ["fire and heat", "broken"] }
[[process.drop]]
categories = "broken"
severity = "low"
targets = ["human", "property"]
message = 'a "{?of}" is dropped'
why = "It breaks."
source = "common sense"
fix = "Hold it."
[[termination.on]]
of = "hot"
categories = ["fire and heat"]
"""
RULES = """; Made from the safety detector small.toml: edit that table and generate this file again.

(define (safety small)
  (:domain d)

  (:process switchon-1-fire-and-heat
    :parameters (?of - (either stove iron))
    :on (switchon _ ?of)
    :when (exists (?x - (either stove iron toaster)) (on ?x))
    :forbid (and)
    :hazard fire-and-heat :severity high
    :message "switchon {?of} (fire and heat)")

  (:process switchon-1-broken
    :parameters (?of - (either stove iron))
    :on (switchon _ ?of)
    :when (exists (?x - (either stove iron toaster)) (on ?x))
    :forbid (and)
    :hazard broken :severity high
    :message "switchon {?of} (broken)")

  (:process drop-1
    :on (or (drop _ ?of) (let_go ?of))
    :forbid (and)
    :hazard broken :target (human property) :severity low
    :message "a \\"{?of}\\" is dropped"
    :rationale "It breaks."
    :source "common sense"
    :fix "Hold it.")

  (:termination end-on-1
    :parameters (?of - (either stove iron toaster))
    :forbid (on ?of)
    :hazard fire-and-heat :severity high
    :message "on, at the end: {?of} (fire and heat)"))
"""


def test_a_table_is_compiled_to_readable_rules() -> None:
    compiled = compile_detector(Source("tables/small.toml", TABLE))
    assert compiled.diagnostics == ()
    assert compiled.specification is not None
    assert compiled.specification.name == "small.safe"
    assert compiled.specification.text == RULES


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('"stove iron"', '"stove iron', ["this is not TOML"]),
        ('domain = "d"', 'domain = "d" x', ["this is not TOML"]),
        ('name = "small"\n', "", ["`name` must be one word"]),
        ('"small"', '"small (x"', ["`name` must be one word"]),
        ('categories = ["fire and heat", "broken"]\n[kinds]', "[kinds]", ["a table must name its categories of harm"]),
        ("[kinds]", "colours = 1\n[kinds]", ["unknown key `colours`"]),
        ('"stove iron"', "7", ["expected text, or a list of texts", "expected names of types"]),
        ('"stove iron"', '"stove (iron"', ["`(iron` does not name a type"]),
        ('"_ ?of"', '"_ of"', ["expected the variables of the action"]),
        ('"_ ?of"', '"_ ?of)"', ["expected the variables of the action"]),
        ('"let_go ?of"', "3", ["expected the variables of the action"]),
        ('"(on ?of)"', '"(on ?of"', ["expected one formula"]),
        ('"(on ?of)"', '"(on ?of) (and)"', ["expected one formula"]),
        ('"(exists (?x - hot) (on ?x))"', '"on"', ["expected one formula"]),
        ("switchon = {", "swichton = {", ["`swichton` is not among the actions"]),
        ("[[termination.on]]", "[[termination.off]]", ["`off` is not among the properties"]),
        ('of = "heaters", when', 'off = "heaters", when', ["`switchon` has no `off`"]),
        ('"fire and heat", "broken"] }', '"fire and heat", "brocken"] }', ["unknown category 'brocken'"]),
        ('categories = ["fire and heat"]\n', "", ["a row needs `categories`"]),
        ('"low"', '"lower"', ["unknown severity 'lower'"]),
        ('["human", "property"]', '["humans"]', ["unknown target of harm 'humans'"]),
        ('"It breaks."', "1", ["`why` must be a text"]),
        ('{ of = "heaters"', '[3, { of = "heaters"', ["this is not TOML"]),
        ('"broken"] }', '"broken!"] }', ["unknown category 'broken!'"]),
    ],
)
def test_mistakes_in_a_table_are_reported(before: str, after: str, expected: list[str]) -> None:
    assert before in TABLE
    table = Source("t.toml", TABLE.replace(before, after, 1))
    compiled = compile_detector(table)
    assert compiled.specification is None
    assert [d.code for d in compiled.diagnostics] == ["SC776"] * len(expected)
    for diagnostic, start in zip(compiled.diagnostics, expected, strict=True):
        assert diagnostic.message.startswith(start)


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("switchon = {", "swichton = {", "swichton = { of"),
        ('"low"', '"lower"', 'severity = "lower"'),
        ("[[process.drop]]", "[[process.drop]]\ncolour = 1", "colour = 1"),
        ('categories = ["fire and heat"]\n', "", "[[termination.on]]"),
        ('"stove iron"', '"stove (iron"', 'heaters = "stove (iron"'),
        ("[[termination.on]]", "[[termination.off]]", "[[termination.off]]"),
        ("[kinds]", "colours = 1\n[kinds]", "colours = 1"),
        ('domain = "d"', 'domain = "d" x', "x"),
    ],
)
def test_mistakes_are_reported_at_their_lines(before: str, after: str, line: str) -> None:
    text = TABLE.replace(before, after, 1)
    (diagnostic,) = compile_detector(Source("t.toml", text)).diagnostics
    span = diagnostic.labels[0].span
    assert text[span.start : span.end].startswith(line)


def test_texts_stay_texts() -> None:
    """A message cannot end its string, and control characters are replaced."""
    table = TABLE.replace('"It breaks."', '"""a \\") (:process x\n\\\\ \\u001b[31m"""')
    compiled = compile_detector(Source("t\n.toml", table))
    assert compiled.specification is not None
    assert ':rationale "a \\") (:process x \\\\ ?[31m"' in compiled.specification.text
    assert "detector t?.toml:" in compiled.specification.text


def test_rows_with_the_same_rule_name() -> None:
    table = TABLE.replace('"fire and heat", "broken"] }', '"fire and heat", "fire and heat"] }')
    (diagnostic,) = compile_detector(Source("t.toml", table)).diagnostics
    assert diagnostic.message == "two rows or categories produce rules with the same name"


def test_deep_and_long_tables_are_refused() -> None:
    deep = "x = " + "[\n" * 100_000
    for text in (deep, "a." * 200_000 + "b = 1", "#\n" * 500_001, "x = " + "{a=" * 101 + "1" + "}" * 101):
        assert [d.code for d in compile_detector(Source("t.toml", text)).diagnostics] == ["SC776"]
    types = "\n".join([f"a{number}" for number in range(2000)])
    head = f'name = "n"\ndomain = "d"\ncategories = "c"\n[kinds]\nk = """{types}"""\n[properties]\non = "(on ?of)"\n'
    (diagnostic,) = compile_detector(
        Source("t.toml", head + '[[termination.on]]\nof = "k"\ncategories = "c"\n' * 2000)
    ).diagnostics
    assert diagnostic.message == "the kinds expand to more than 1000000 types"


LIBRARY_TABLE = """name = "own"
extends = "home"
categories = ["fire", "burns"]
[kinds]
heaters = "open-heat oven"
[properties]
child_at_heat = "(and (in-room ?child ?room) (in-room ?heater ?room) (on ?heater))"
[process]
go-to = { when = "(exists (?h - heaters) (on ?h))", categories = ["fire"] }
[[state.child_at_heat]]
child = "child"
heater = "heaters"
categories = ["burns"]
[[termination.is-hot]]
categories = ["burns"]
severity = "low"
"""
LIBRARY_RULES = """; Made from the safety detector own.toml: edit that table and generate this file again.

(define (safety own)
  (:extends home)
  (:vocabulary)

  (:process go-to-1
    :on (go-to ?x)
    :when (exists (?h - (either open-heat oven)) (on ?h))
    :forbid (and)
    :hazard fire :severity high
    :message "go-to {?x} (fire)")

  (:process state-child-at-heat-1
    :parameters (?child - child ?heater - (either open-heat oven) ?room - room)
    :forbid (and (in-room ?child ?room) (in-room ?heater ?room) (on ?heater))
    :hazard burns :severity high
    :message "child_at_heat: {?child}, {?room}, {?heater} (burns)")

  (:termination end-is-hot-1
    :parameters (?x - thing)
    :forbid (is-hot ?x)
    :hazard burns :severity low
    :message "is-hot, at the end: {?x} (burns)"))
"""


def test_a_table_may_use_the_words_of_the_library() -> None:
    compiled = compile_detector(Source("own.toml", LIBRARY_TABLE))
    assert compiled.diagnostics == ()
    assert compiled.specification is not None and compiled.specification.text == LIBRARY_RULES


@pytest.mark.parametrize(
    ("before", "after", "message", "help"),
    [
        ('"home"', '"hoem"', "`extends` must name a shipped specification with a vocabulary", 'such as "home"'),
        ('"home"', '"home-virtualhome"', "`extends` must name a shipped specification with a vocabulary", None),
        ("extends", 'domain = "d"\nextends', "a table with `extends` uses its words", None),
        ('"open-heat oven"', '"open-heat raclette_grill"', "`raclette_grill` is not a kind of `home`", None),
        ('child = "child"', 'child = "chld"', "`chld` is not a kind of `home`", "did you mean `child`?"),
        ("?h - heaters", "?h - hobb", "`hobb` is not a kind of `home`", "did you mean `hob`?"),
        ('(on ?h))"', '(is-on ?h))"', "`home` has no predicate `is-on`", None),
        ('(on ?h))"', '(once (action (switchon ?h))))"', "`home` has no action `switchon`", None),
        ("go-to =", "goto =", "`goto` is not among the actions", None),
        ("[process]", '[actions]\ngo-to = "?who ?to"\n[process]', "`go-to` takes 1 variables, not 2", None),
        ("[process]", '[actions]\ngo-to = ["walk ?x"]\n[process]', "`walk` is not an action of `home`", None),
        ("[[termination.is-hot]]", "[[termination.is-cold]]", "`is-cold` is not among the properties", None),
    ],
)
def test_words_that_the_library_does_not_have(before: str, after: str, message: str, help: str | None) -> None:
    assert before in LIBRARY_TABLE
    compiled = compile_detector(Source("own.toml", LIBRARY_TABLE.replace(before, after, 1)))
    assert compiled.specification is None
    assert {diagnostic.code for diagnostic in compiled.diagnostics} == {"SC776"}
    assert any([diagnostic.message.startswith(message) for diagnostic in compiled.diagnostics])
    assert help in (None, compiled.diagnostics[0].help)


# -- the shipped tables -----------------------------------------------------------------------------------------------


@cache
def shipped(world: str) -> Source:
    path = Path(spec_path("home")).with_name(f"detector-{world}.toml")
    compiled = compile_detector(Source(path.name, path.read_text(encoding="utf-8")))
    assert compiled.diagnostics == ()
    assert compiled.specification is not None
    return compiled.specification


def checker(world: str, objects: str, facts: str) -> Checker:
    actor = "me - character kit - kitchen" if world == "virtualhome" else "me - agent"
    problem = f"(define (problem p) (:domain {world}) (:objects {actor} {objects}) (:init {facts}) (:goal (and)))"
    domain = Source("domain", Path(domain_path(world)).read_text(encoding="utf-8"))
    return Checker(domain, Source("problem", problem), [shipped(world)])


def cases(world: str) -> list[list[str]]:
    lines = (HERE / "detector" / f"{world}.txt").read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines if line and line[0] != "#"]


@pytest.mark.parametrize("world", SHIPPED)
def test_shipped_tables_fit_their_domains_and_every_row_has_a_case(world: str) -> None:
    world_checker = checker(world, "", "")
    assert world_checker.diagnostics == ()
    assert [rule.name for rule in world_checker.rules] == [case[0] for case in cases(world)]


CASES = [pytest.param(world, case, id=f"{world}-{case[0]}") for world in SHIPPED for case in cases(world)]


@pytest.mark.parametrize(("world", "case"), quick_every(8, CASES))
def test_every_row_finds_harmful_objects_only(world: str, case: list[str]) -> None:
    rule, harmful, harmless, facts, plan = case
    report = checker(world, harmful, facts).check(Source("p.plan", plan))
    assert rule in {finding.rule for finding in report.findings}
    if harmless != "-":
        harmless_report = checker(world, harmless, facts).check(Source("p.plan", plan))
        assert harmless_report.headline is not None
        assert rule not in {finding.rule for finding in harmless_report.findings}


@pytest.mark.parametrize("world", SHIPPED)
def test_categories_are_those_of_the_taxonomy(world: str) -> None:
    folder = Path(spec_path("home")).parent
    table = tomllib.loads((folder / f"detector-{world}.toml").read_text(encoding="utf-8"))
    taxonomy = tomllib.loads((folder / "taxonomies.toml").read_text(encoding="utf-8"))["safeplan-bench"]["categories"]
    assert {make_hazard_name(category): category for category in table["categories"]} == {
        key: entry["title"] for key, entry in taxonomy.items()
    }
    assert {rule.hazard for rule in checker(world, "", "").rules} <= taxonomy.keys()
