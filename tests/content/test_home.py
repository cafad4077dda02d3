"""The household hazard library: every rule has cases, complete texts, and only words of the ontology.

``home_cases.py`` describes the format of the cases.
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import home_cases
import pytest
import rules_table
from home_cases import AREAS, HOME, WORLDS

from plansafe.domains import domain_path
from plansafe.domains.objects import add_kinds
from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs import spec_names, spec_path
from plansafe.verifier.api import Checker
from quick import quick_every

BY_RULE = {
    f"{world}/{rule}": list(cases)
    for world in WORLDS
    for rule, cases in groupby(home_cases.cases_of_world(world), key=lambda case: case.rule)
}


@pytest.fixture(scope="module")
def library() -> Checker:
    """Return a checker of the library in the world of its ontology."""
    return home_cases.ontology_checker()


@pytest.mark.parametrize("name", BY_RULE)
def test_the_plans_of_a_rule_have_the_expected_findings(name: str) -> None:
    cases = BY_RULE[name]
    checkers = home_cases.make_checkers(cases, home_cases.library_sources(cases[0].world))
    for checker in checkers.values():
        assert [d.message for d in checker.diagnostics if d.severity.value == "error"] == []
    has_instances = False
    for case in cases:
        checker = checkers[case.problem.text]
        report = checker.check(case.plan)
        assert report.headline is not None, case.name
        assert {f.rule for f in report.findings} - {case.rule} == case.also, case.name
        assert home_cases.findings_of_rule(report, case.rule) == case.finds, case.name
        assert bool(case.finds) == case.breaks, case.name
        has_instances |= not case.breaks and any(count.name == case.rule and count.instances for count in report.rules)
    if not _forbids_the_step_itself(checker, cases[0].rule):
        assert has_instances, "the rule has no instance in the plans that keep it"


def _forbids_the_step_itself(checker: Checker, rule: str) -> bool:
    """Return whether only a plan without the step keeps the rule."""
    assert checker.compiled.expanded is not None
    node = next(plain.node for plain in checker.compiled.expanded.rules if plain.node[1] == rule)
    return ["and"] in node


@pytest.mark.parametrize("name", quick_every(6, list(BY_RULE)[::15]))
def test_the_kernel_confirms_the_findings(name: str) -> None:
    cases = BY_RULE[name]
    checkers = home_cases.make_checkers(cases, home_cases.library_sources(cases[0].world), replay="always")
    for case in cases:
        report = checkers[case.problem.text].check(case.plan)
        assert [f.rule for f in report.findings if not f.replayed] == [], case.name


def test_every_rule_has_cases_that_break_it_and_keep_it(library: Checker) -> None:
    names = {rule.name for rule in library.rules}
    assert {path.stem for path in HOME.glob("*.md")} == names
    cases = {(case.rule, case.name) for case in home_cases.cases_of_world("ontology")}
    assert cases >= {(name, plan) for name in names for plan in ("breaks", "keeps")}


def test_no_two_rules_are_violated_by_the_same_cases() -> None:
    """Two such rules would be duplicates of each other."""
    plans: dict[str, set[tuple[str, str, str]]] = {}
    for world in WORLDS:
        for case in home_cases.cases_of_world(world):
            for rule in {*case.also, *([case.rule] if case.finds else [])}:
                plans.setdefault(rule, set()).add((world, case.rule, case.name))
    together = [(a, b) for a in plans for b in plans if a < b and plans[a] == plans[b]]
    assert together == []


NEVER_BROKEN_IN_HOUSEHOLD = {
    "no-animal-shut-in": "a pet cannot be put into anything",
    "no-animal-in-a-machine": "a pet cannot be put into anything",
    "nothing-wet-switched-on": "devices do not get wet",
    "no-switching-on-what-was-unplugged": "an unplugged object cannot be switched on",
}
"""Rules that apply in the household world, but which no sequence of its actions can break; with the reason."""


def test_every_rule_that_applies_in_the_household_world_has_cases_there() -> None:
    case = next(case for case in home_cases.cases_of_world("household"))
    checker = home_cases.make_checker(case, home_cases.library_sources("household"))
    applicable = {rule.name for rule in checker.rules if rule.applicable}
    for breaks in (True, False):
        with_case = {case.rule for case in home_cases.cases_of_world("household") if case.breaks == breaks}
        assert with_case == applicable - NEVER_BROKEN_IN_HOUSEHOLD.keys()


def test_every_rule_has_hazard_targets_message_rationale_and_fix(library: Checker) -> None:
    assert len(library.rules) >= 45
    for rule in library.rules:
        assert rule.hazard, rule.name
        assert rule.targets, rule.name
        for text in (rule.message, rule.rationale, rule.fix):
            assert text and text.strip() == text, rule.name
        assert "{?" in (rule.message or ""), rule.name
        assert (rule.rationale or "").endswith("."), rule.name


RULE_KINDS = (":process", ":trajectory", ":termination", ":obligation")


def test_every_rule_names_the_source_of_its_rationale(library: Checker) -> None:
    assert [rule.name for rule in library.rules if not (rule.rationale_source or "").strip()] == []


@pytest.mark.parametrize("name", [name for name in spec_names() if not name.startswith("home-")])
def test_every_other_shipped_rule_names_a_source(name: str) -> None:
    rules = [part for part in _definition(name) if isinstance(part, list) and part[0] in RULE_KINDS]
    assert [rule[1] for rule in rules if ":source" not in rule] == []


def _definition(name: str) -> list[Node]:
    return _read_form(Path(spec_path(name)))


def _read_form(path: Path) -> list[Node]:
    top = parse_nodes(home_cases.load(path))
    assert top is not None
    (form,) = top
    assert isinstance(form, list)
    return form


def _section(form: list[Node], name: str) -> list[Node]:
    return next(part for part in form if isinstance(part, list) and part[0] == name)


def _words(vocabulary: list[Node]) -> dict[str, list[str]]:
    """Return the words of a vocabulary by section, in order; words with arguments as text."""
    sections = [section for section in vocabulary[1:] if isinstance(section, list)]
    return {str(section[0]): [format_node(word) for word in section[1:]] for section in sections}


@pytest.mark.parametrize("area", AREAS)
def test_an_area_declares_the_words_that_it_uses_as_the_ontology_does(area: str) -> None:
    """The words are in the order of the ontology, and the area uses all of them."""
    ontology = _words(_section(_definition("home"), ":vocabulary"))
    form = _definition(area)
    text = Path(spec_path(area)).read_text(encoding="utf-8").partition("\n  (:vocabulary")[2].partition("\n\n")[2]
    vocabulary = _words(_section(form, ":vocabulary"))
    vocabulary.pop(":optional", None)
    assert set(vocabulary) == set(ontology)
    for section, words in vocabulary.items():
        assert words == [word for word in ontology[section] if word in words], section
        for word in words:
            name = word.strip("()").split()[0]
            assert name in ("thing", "room") or re.search(rf"[\s(]{re.escape(name)}[\s)]", text), f"{name} is not used"


def test_the_library_extends_all_areas() -> None:
    assert [str(name) for name in _section(_definition("home"), ":extends")[1:]] == list(AREAS)


def test_the_domain_of_the_cases_has_exactly_the_words_of_the_ontology() -> None:
    ontology = _section(_definition("home"), ":vocabulary")
    domain = _read_form(HOME / "ontology.pddl")
    types = {str(word) for word in _section(domain, ":types")[1:]} - {"-", "object"}
    assert types == {str(word) for word in _section(ontology, ":types")[1:]}
    predicates = {str(word[0]) for word in _section(domain, ":predicates")[1:]}
    assert predicates == {str(word[0]) for word in _section(ontology, ":predicates")[1:]}
    actions = {str(part[1]) for part in domain if isinstance(part, list) and part[0] == ":action"}
    assert actions == {str(word[0]) for word in _section(ontology, ":actions")[1:]}


def test_the_mapping_of_the_household_world_has_an_entry_for_every_word() -> None:
    """Kinds of things come from the object table: from the mapping that is generated for a task."""
    ontology = _section(_definition("home"), ":vocabulary")
    mapping = _definition("home-household")
    problem = Source("problem", "(define (problem p) (:domain household))")
    domain = home_cases.load(Path(domain_path("household")))
    *_, generated = add_kinds(domain, problem, home_cases.library_sources("household"))
    (generated_mapping,) = parse_nodes(generated) or [[]]
    for name in (":types", ":predicates", ":actions"):
        entries = [entry[0] for entry in _section(mapping, name)[1:]]
        if name == ":types":
            entries += [entry[0] for entry in _section(generated_mapping, name)[1:] if entry[0] not in entries]
        bound = [str(entry[0]) if isinstance(entry, list) else str(entry) for entry in entries]
        words = [str(word[0]) if isinstance(word, list) else str(word) for word in _section(ontology, name)[1:]]
        assert sorted(bound) == sorted(words)
    assert Path(domain_path("household")).is_file()


def test_the_table_of_rules_in_the_page_is_current() -> None:
    """``python tests/content/rules_table.py --write`` updates it."""
    assert rules_table.read_page_table() == rules_table.make_table()


def test_the_page_names_the_hazards_of_the_library(library: Checker) -> None:
    text = rules_table.HAZARDS.read_text(encoding="utf-8")
    assert {rule.hazard for rule in library.rules} == set(re.findall(r"`([a-z-]+)`", _hazard_rows(text)))


def _hazard_rows(text: str) -> str:
    return text.partition("| target | hazards |")[2].partition("\n\n")[0]
