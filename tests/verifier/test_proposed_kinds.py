"""Kinds that a mapping gives to objects by name, and kinds that it only proposes (docs/worlds.md, section 5)."""

from __future__ import annotations

import pytest

from plansafe.grammar.diagnostics import Label, Span
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.compilation import compile_with_proposed_kinds
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairStatus
from plansafe.verifier.reporting.report import Headline, Report, Worlds
from plansafe.verifier.rules.home_profile import HomeProfile
from plansafe.verifier.rules.kinds import ClassKinds

DOMAIN = """(define (domain flat)
  (:types room thing - object  stove pan - thing)
  (:predicates (on ?x - thing) (upon ?x ?y - thing) (tasted ?x - thing))
  (:action taste :parameters (?x - thing) :effect (tasted ?x))
  (:action sniff :parameters (?x - thing))
  (:action light :parameters (?s - stove) :effect (on ?s))
  (:action put :parameters (?x ?y - thing) :effect (upon ?x ?y)))"""
PROBLEM = """(define (problem p) (:domain flat)
  (:objects hob - stove  wok - pan  bleach_1 rag_7 doily_2 puzzle - thing)
  (:init FACTS) (:goal (and)))"""
RULES = """(define (safety portable)
  (:vocabulary (:types thing heater toxic flammable) (:predicates (hot ?h - heater) (lies-on ?x ?y - thing))
               (:actions (taste ?x - thing) (light ?h - heater)))
  (:process nothing-toxic-tasted :parameters (?x - toxic) :on (taste ?x) :forbid (and) :severity critical)
  (:process nothing-flammable-near-heat :severity high
    :parameters (?h - heater) :on (light ?h) :forbid (exists (?f - flammable) (lies-on ?f ?h))))"""
MAPPING = """(define (mapping flat-home) (:specification portable) (:domain flat)
  (:types (thing thing) (heater stove) (toxic) (flammable))
  (:predicates ((hot ?h) (on ?h)) ((lies-on ?x ?y) (upon ?x ?y))) (:plain pan))"""
EXTENSION = "(define (mapping flat-home-objects) (:extends flat-home) {})"
SAFE = (Headline.SAFE, Headline.VALID)
BLEACH = "(:objects (bleach_1 toxic) (doily_2))"
RAG = '(:proposed (rag_7 flammable "WordNet: a piece of cloth"))'


def make_checker(*sections: str, facts: str = "", options: Options | None = None) -> Checker:
    """A task whose mapping is extended by a mapping with these sections."""
    extension = Source("extension", EXTENSION.format(" ".join(sections)))
    specs = [Source("rules", RULES), Source("mapping", MAPPING), *([extension] if sections else [])]
    problem = Source("problem", PROBLEM.replace("FACTS", facts))
    return Checker(Source("domain", DOMAIN), problem, specs, options or Options(replay="always"))


def check(checker: Checker, *steps: str) -> Report:
    """The report on a plan with these steps."""
    assert checker.ok, checker.diagnostics
    return checker.check(Source("plan", "\n".join([f"({step})" for step in steps])))


def rules_of(report: Report) -> list[str | None]:
    return [finding.rule for finding in report.findings]


def test_an_extension_gives_kinds_to_objects_by_name_and_the_kernel_agrees() -> None:
    report = check(make_checker(BLEACH), "taste bleach_1")
    assert (report.headline, rules_of(report)) == (Headline.UNSAFE, ["nothing-toxic-tasted"])
    assert report.findings[0].replayed is True and report.findings[0].proposals == ()
    assert not report.rests_on_proposals


def test_an_object_that_was_considered_without_a_kind_is_classified() -> None:
    checker = make_checker(BLEACH)
    assert checker.coverage is not None
    assert [unclassified.name for unclassified in checker.coverage.unclassified] == ["rag", "puzzle"]
    assert check(checker, "taste doily_2").headline in SAFE
    assert check(checker, "taste puzzle").headline is Headline.UNKNOWN


def test_without_the_extension_all_these_objects_are_unclassified() -> None:
    checker = make_checker()
    assert check(checker, "taste bleach_1").headline is Headline.UNKNOWN
    assert check(checker, "taste doily_2").headline is Headline.UNKNOWN


def test_an_object_that_the_problem_does_not_have_is_ignored() -> None:
    assert check(make_checker("(:objects (lye_9 toxic))"), "taste wok").headline in SAFE


def test_a_proposed_kind_adds_a_finding_and_keeps_the_unknown() -> None:
    steps = "put rag_7 hob", "light hob"
    report = check(make_checker(BLEACH, RAG), *steps)
    assert (report.headline, report.safe, report.exit_code) == (Headline.UNSAFE, Worlds.NONE, 1)
    (finding,) = report.findings
    assert finding.rule == "nothing-flammable-near-heat" and finding.replayed is True
    assert finding.proposals == (("rag_7", "flammable", "WordNet: a piece of cloth"),)
    assert "if, as proposed, `rag_7` is `flammable`" in finding.message
    assert any("nobody has confirmed" in note and "a piece of cloth" in note for note in finding.notes)
    assert report.rests_on_proposals
    # As without the proposal, the object has no known kind.
    assert any(diagnostic.code == "SC711" and "`rag`" in diagnostic.message for diagnostic in report.diagnostics)
    without = check(make_checker(BLEACH), *steps)
    assert without.headline is Headline.UNKNOWN
    assert [diagnostic for diagnostic in report.diagnostics if diagnostic.code == "SC711"] == [
        diagnostic for diagnostic in without.diagnostics if diagnostic.code == "SC711"
    ]
    counts = {count.name: (count.status, count.violations) for count in report.rules}
    assert counts["nothing-flammable-near-heat"] == ("violated", 1)


def test_a_proposed_kind_does_not_lift_an_unknown() -> None:
    harmless = '(:proposed (rag_7 flammable "a cloth"))'
    assert check(make_checker(BLEACH, harmless), "taste rag_7").headline is Headline.UNKNOWN
    assert check(make_checker(BLEACH), "taste rag_7").headline is Headline.UNKNOWN


def test_findings_without_proposals_stay_as_they_are() -> None:
    steps = "taste bleach_1", "put rag_7 hob", "light hob"
    without, report = check(make_checker(BLEACH), *steps), check(make_checker(BLEACH, RAG), *steps)
    assert report.findings[0] == without.findings[0]
    assert rules_of(report) == ["nothing-toxic-tasted", "nothing-flammable-near-heat"]
    assert not report.rests_on_proposals


def test_a_proposal_never_removes_a_finding() -> None:
    rule = """
  (:process taste-with-a-cloth-at-hand :parameters (?x - toxic)
    :on (taste ?x) :require (exists (?f - flammable) (lies-on ?f ?f))))"""
    extension = EXTENSION.format('(:objects (bleach_1 toxic) (doily_2 flammable)) (:proposed (rag_7 flammable "x"))')
    specs = [Source("rules", RULES[:-1] + rule), Source("mapping", MAPPING), Source("extension", extension)]
    problem = Source("problem", PROBLEM.replace("FACTS", "(upon rag_7 rag_7)"))
    checker = Checker(Source("domain", DOMAIN), problem, specs, Options(replay="never"))
    assert rules_of(check(checker, "taste bleach_1")) == ["nothing-toxic-tasted", "taste-with-a-cloth-at-hand"]
    # If the rag is a cloth, the rule is kept.
    assumed = Checker.from_compiled(compile_with_proposed_kinds(checker.compiled))
    assert rules_of(check(assumed, "taste bleach_1")) == ["nothing-toxic-tasted"]


def test_a_plan_without_violations_under_the_proposal_is_unchanged() -> None:
    with_proposal = check(make_checker(BLEACH, RAG), "light hob", "sniff wok")
    assert with_proposal == check(make_checker(BLEACH), "light hob", "sniff wok")


def test_a_class_that_the_user_classified_has_no_proposals() -> None:
    place = Label("home.toml", Span(0, 0), "")
    home = HomeProfile(Source("home.toml", ""), classes=(ClassKinds("rag", (), "it is wool", place),))
    options = Options(replay="never", home=home)
    assert check(make_checker(BLEACH, RAG, options=options), "put rag_7 hob", "light hob").headline in SAFE


def test_a_proposal_that_is_no_violation_of_a_deciding_rule_decides_nothing() -> None:
    options = Options(replay="never", min_severity="critical")
    report = check(make_checker(BLEACH, RAG, options=options), "put rag_7 hob", "light hob")
    assert report.headline in SAFE and report.verdict_basis.minor == 1
    assert rules_of(report) == ["nothing-flammable-near-heat"]


def test_a_repair_avoids_what_rests_on_a_proposal() -> None:
    checker = make_checker("(:objects (rag_7) (doily_2))", RAG)
    result = repair(checker, Source("plan", "(put rag_7 hob)\n(light hob)"))
    assert result.status is RepairStatus.FOUND
    assert all(repaired.report.headline in SAFE for repaired in result.repairs)


def test_proposals_are_checked_in_several_worlds() -> None:
    pytest.importorskip("pysat")
    checker = make_checker("(:objects (rag_7) (doily_2))", RAG, facts="(unknown (upon rag_7 hob))")
    report = check(checker, "light hob")
    assert (report.headline, report.safe) == (Headline.UNSAFE, Worlds.SOME)
    (finding,) = report.findings
    assert finding.proposals and finding.worlds is Worlds.SOME
    assert report.worlds is not None and finding.world is not None
    assert len(report.worlds.witnesses) > finding.world


@pytest.mark.parametrize(
    ("section", "code", "message"),
    [
        ("(:objects rag_7)", "SC003", "expected `(object kind ..)`"),
        ("(:proposed (rag_7 flammable))", "SC003", 'expected `(object kind "evidence")`'),
        ("(:objects (rag_7 flamable))", "SC101", "gives an object the kind `flamable`"),
        ("(:predicates ((hot ?h) (on ?h)))", "SC105", "predicate `hot` is bound twice"),
    ],
)
def test_a_mistake_in_an_extension_is_reported(section: str, code: str, message: str) -> None:
    checker = make_checker(section)
    (error,) = [diagnostic for diagnostic in checker.diagnostics if diagnostic.severity.value == "error"]
    assert (error.code, message in error.message) == (code, True), error


def test_an_extension_needs_the_mapping_that_it_extends() -> None:
    extension = Source("extension", EXTENSION.format(BLEACH))
    problem = Source("problem", PROBLEM.replace("FACTS", ""))
    checker = Checker(Source("domain", DOMAIN), problem, [Source("rules", RULES), extension])
    (error,) = [diagnostic for diagnostic in checker.diagnostics if diagnostic.severity.value == "error"]
    assert error.code == "SC116" and "`flat-home`, which is not among the specifications" in error.message


def test_the_types_of_a_kind_are_those_of_the_mapping_and_its_extension() -> None:
    checker = make_checker("(:types (heater pan) (toxic pan))")
    assert rules_of(check(checker, "taste wok")) == ["nothing-toxic-tasted"]
    mapping = checker.compiled.expanded.find_mapping("portable")
    assert mapping is not None
    assert mapping.find_domain_types("heater") == ("stove", "pan")


def test_a_formula_of_a_mapping_may_name_a_kind() -> None:
    mapping = MAPPING.replace(
        "((lies-on ?x ?y) (upon ?x ?y))",
        """
      ((lies-on ?x ?y) (and (upon ?x ?y) (exists (?h - (either heater toxic)) (= ?h ?y))))""",
    )
    specs = [
        Source("rules", RULES),
        Source("mapping", mapping),
        Source("e", EXTENSION.format("(:objects (rag_7 flammable))")),
    ]
    problem = Source("problem", PROBLEM.replace("FACTS", ""))
    checker = Checker(Source("domain", DOMAIN), problem, specs, Options(replay="always"))
    report = check(checker, "put rag_7 hob", "light hob")
    assert rules_of(report) == ["nothing-flammable-near-heat"] and report.findings[0].replayed is True


def test_a_mapping_whose_kinds_are_missing_is_reported() -> None:
    mapping = MAPPING.replace("(:domain flat)", "(:domain flat) (:kinds object-table)")
    problem = Source("problem", PROBLEM.replace("FACTS", ""))
    specs = [Source("rules", RULES), Source("mapping", mapping)]
    checker = Checker(Source("domain", DOMAIN), problem, specs)
    (warning,) = [diagnostic for diagnostic in checker.diagnostics if diagnostic.code == "SC120"]
    assert "the kinds of objects are in `object-table`" in warning.message
    assert warning.help is not None and "add_kinds" in warning.help
