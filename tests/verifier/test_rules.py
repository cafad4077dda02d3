"""Safety specifications: kinds of rules, their rewriting, and counts (docs/language.md, section 5)."""

from __future__ import annotations

import pytest
from engine_texts import check, checker, domain, judge, problem, safety, verdict

from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Report

DOMAIN = domain(
    "(:constants a b - cup l - lid)",
    "(:action put :parameters (?x - thing) :effect (on ?x))",
    "(:action take :parameters (?x - thing) :effect (not (on ?x)))",
    "(:action wash :parameters (?x - cup) :effect (clean ?x))",
    "(:action move :parameters (?x - cup ?y - lid) :precondition (on ?x) :effect (on ?y))",
    "(:action rest)",
    types="thing - object cup lid - thing",
    predicates="(on ?x - thing) (clean ?x - thing)",
)


def report(plan: str, *sections: str, init: str = "", goal: str = "()", options: Options | None = None) -> Report:
    return judge(checker(DOMAIN, problem(init=init, goal=goal), safety(*sections), options=options), plan)


def findings(plan: str, rule: str, init: str = "", goal: str = "()") -> str:
    """The findings of one rule, written without its kind's parentheses and name."""
    kind, _, body = rule.partition(" ")
    text = verdict(report(plan, f"(:{kind} r {body})", init=init, goal=goal))
    return text.replace("UNSAFE ", "").replace("r(", "(").replace("r@", "@")


CUPS = ":parameters (?x - cup)"


@pytest.mark.parametrize(
    ("rule", "plan", "expected"),
    [
        # process rules about states: a finding where each block begins
        (f"process {CUPS} :forbid (on ?x)", "(put a) (put b) (put a)", "(?x=a)@1 (?x=b)@2"),
        (f"process {CUPS} :forbid (on ?x)", "(put a) (take a) (put a)", "(?x=a)@1 (?x=a)@3"),
        (f"process {CUPS} :forbid (on ?x)", "(put l)", "SAFE"),
        (f"process {CUPS} :require (not (on ?x))", "(put a)", "(?x=a)@1"),
        (f"process {CUPS} :when (clean ?x) :forbid (on ?x)", "(put a) (put b) (wash b)", "(?x=b)@3"),
        (f"process {CUPS} :forbid (on ?x) :require (clean b)", "(wash b) (put a)", "(?x=a)@0 (?x=b)@0 (?x=a)@2"),
        ("process :forbid (exists (?x - cup) (on ?x))", "(put a) (put b)", "(?x=a)@1 (?x=b)@2"),
        ("process :forbid (forall (?x - cup) (on ?x))", "(put a) (put b)", "@2"),
        # .. and about steps: a finding for each failing match
        ("process :on (put ?x) :forbid (on ?x)", "(put a) (put a) (put l) (put l)", "(?x=a)@2 (?x=l)@4"),
        (f"process {CUPS} :on (put ?x) :forbid (on ?x)", "(put a) (put a) (put l) (put l)", "(?x=a)@2"),
        ("process :on (put _) :forbid (on a)", "(put a) (put b) (take a) (put l)", "@2"),
        ("process :on (or (put ?x) (wash ?x)) :require (on ?x)", "(wash a) (put a) (put a)", "(?x=a)@1 (?x=a)@2"),
        ("process :on (take ?x) :forbid-after (on l)", "(put l) (take a) (take l)", "(?x=a)@2"),
        ("process :on (put ?x) :require-after (clean ?x)", "(put a) (wash a) (put a)", "(?x=a)@1"),
        ("process :on (move ?x ?y) :forbid (on ?y)", "(put a) (move a l) (move a l)", "(?x=a,?y=l)@3"),
        ("process :on (put a) :forbid ()", "(put b) (put a)", "@2"),
        (f"process {CUPS} :on (rest) :forbid (on ?x)", "(put a) (put b) (rest)", "(?x=a)@3 (?x=b)@3"),
        # .. and about the past
        ("process :on (put ?x) :require (once (clean ?x))", "(put a) (wash a) (put a)", "(?x=a)@1"),
        ("process :on (put ?x) :require (yesterday (clean ?x))", "(wash a) (put a) (rest) (put a)", "(?x=a)@2"),
        (f"process {CUPS} :require (historically (not (on ?x)))", "(put a) (take a) (put b)", "(?x=a)@1 (?x=b)@3"),
        (f"process {CUPS} :when (on ?x) :require (once (action (wash ?x)))", "(wash a) (put a) (put b)", "(?x=b)@3"),
        ("process :on (rest) :require (since (on a) (clean a))", "(wash a) (put a) (rest) (take a) (rest)", "SAFE"),
        # termination rules
        (f"termination {CUPS} :forbid (on ?x)", "(put a) (put b) (take a)", "(?x=b)@end"),
        (f"termination {CUPS} :when (on ?x) :require (clean ?x)", "(put a) (put b) (wash b)", "(?x=a)@end"),
        (f"termination {CUPS} :require (once (on ?x))", "(put a) (take a)", "(?x=b)@end"),
        # obligations
        (f"obligation {CUPS} :when (on ?x) :then (clean ?x)", "(put a) (put b) (wash a)", "(?x=b)@end"),
        (f"obligation {CUPS} :when (on ?x) :then (clean ?x) :within 2", "(put a) (rest) (wash a)", "SAFE"),
        (f"obligation {CUPS} :when (on ?x) :then (clean ?x) :within 1", "(put a) (rest) (wash a)", "(?x=a)@2"),
        (f"obligation {CUPS} :when (on ?x) :then (not (on ?x))", "(put a)", "(?x=a)@end"),
        # trajectories
        (f"trajectory {CUPS} :formula (always (not (on ?x)))", "(put a) (take a) (put a)", "(?x=a)@1 (?x=a)@3"),
        (f"trajectory {CUPS} :formula (sometime (on ?x))", "(put a)", "(?x=b)@end"),
        (f"trajectory {CUPS} :formula (until (not (on ?x)) (clean ?x))", "(put a) (wash b)", "(?x=a)@1"),
        ("trajectory :formula (release (clean a) (not (on a)))", "(wash a) (put a)", "SAFE"),
        ("trajectory :formula (release (clean a) (not (on a)))", "(put a) (wash a)", "@1"),
        ("trajectory :formula (next (on a))", "(put b) (put a)", "@1"),
        ("trajectory :formula (next ())", "", "@end"),
        ("trajectory :formula (weak-next (on a))", "", "SAFE"),
        ("trajectory :formula (at-most-once (on a))", "(put a) (take a) (put a)", "@3"),
        ("trajectory :formula (sometime-before (on a) (clean a))", "(put a)", "@1"),
        ("trajectory :formula (sometime-after (on a) (clean a))", "(wash a) (put a)", "SAFE"),
        ("trajectory :formula (within 1 (on a))", "(rest) (put a)", "@1"),
        ("trajectory :formula (at end (on a))", "(put a) (take a)", "@end"),
        ("trajectory :formula (hold-after 1 (on a))", "(rest) (put a)", "@1"),
        ("trajectory :formula (hold-during 1 2 (on a))", "(put a) (take a)", "SAFE"),
        ("trajectory :formula (forall (?x - cup) (sometime (on ?x)))", "(put a)", "(?x=b)@end"),
        ("trajectory :formula (exists (?x - cup) (sometime (on ?x)))", "", "@end"),
        ("trajectory :formula (and (sometime (on a)) (sometime (on b)))", "(put a)", "@end"),
        ("trajectory :formula (imply (sometime (on a)) (sometime (on b)))", "", "SAFE"),
    ],
)
def test_rules(rule: str, plan: str, expected: str) -> None:
    assert findings(plan, rule) == expected


# -- rewriting of rules ----------------------------------------------------------------------------------------------


def test_templates_with_names_terms_and_formulas() -> None:
    template = """(:template careful ($step $thing $property $unless)
      (:process $name :on ($step $thing) :forbid (and ($property $thing) (not $unless))))"""
    rules = (template, "(:apply careful r1 put a on (clean b))", "(:apply careful r2 wash ?x clean (on ?x))")
    text = verdict(report("(put a) (put a) (wash b) (put a) (wash b)", *rules))
    assert text == "UNSAFE r1@2 r2(?x=b)@5"


def test_macros() -> None:
    macros = (
        "(:define (dirty ?x - thing) (and (on ?x) (not (clean ?x)))) (:define (mess) (exists (?x - cup) (dirty ?x)))"
    )
    rule = "(:process r :forbid (mess)) (:process q :parameters (?y - cup) :require (not (dirty ?y)))"
    checked_plan = report("(wash b) (put b) (put a)", macros, rule)
    assert verdict(checked_plan) == "UNSAFE q(?y=a)@3 r(?x=a)@3"


def test_a_macro_captures_no_variable() -> None:
    """The macro's own ``?x`` is another variable than the ``?x`` that it is given."""
    macro = "(:define (alone ?y - thing) (forall (?x - thing) (imply (on ?x) (= ?x ?y))))"
    rule = "(:process r :parameters (?x - cup) :when (on ?x) :require (alone ?x))"
    (finding,) = report("(put a) (put l)", macro, rule).findings
    assert (finding.step, sorted(value for _, value in finding.binding)) == (2, ["a", "l"])


def test_variables_of_macros_are_shown_as_written() -> None:
    """In findings and in errors of the macro; a number is added only to distinguish two variables of one name."""
    macro = "(:define (next-to ?y - thing) (exists (?x - thing) (and (on ?x) (= ?x ?y))))"
    twice = "(:define (both) (exists (?x - thing) (and (clean ?x) (next-to ?x))))"
    many = problem(objects=f"{' '.join(f'c{n}' for n in range(9))} - cup")
    for rule, note in (
        ("(next-to b)", "`(exists (?x) (and (on ?x) (= ?x b)))` is not true"),
        ("(both)", "`(exists (?x) (and (clean ?x) (exists (?x~2) (and (on ?x~2) (= ?x~2 ?x)))))` is not true"),
    ):
        checked = checker(DOMAIN, many, safety(macro, twice, f"(:termination r :require {rule})"))
        (finding,) = judge(checked, "(put a)").findings
        assert finding.notes == (note,)
    wrong = "(:define (odd ?y - thing) (exists (?things - thing) (next-to ?thing)))"
    checked = checker(DOMAIN, problem(), safety(macro, wrong, "(:termination r :require (odd b))"))
    assert [(diagnostic.message, diagnostic.help) for diagnostic in checked.diagnostics] == [
        ("variable `?thing` is not bound", "did you mean `?things`?")
    ]
    assert "~" not in str(checked.diagnostics)


def test_equations_are_not_given_as_reasons() -> None:
    """The names of two objects already show whether they are equal."""
    rule = "(:termination r :parameters (?x - thing) :when (exists (?y - cup) (= ?y ?x)) :forbid (not (on ?x)))"
    rule_findings = report("(put a)", rule).findings
    assert [finding.notes for finding in rule_findings] == [("`(on b)` is false",)]


BASE = (
    "(define (safety base) (:process one :forbid (on a)) (:process two :forbid (on b)) (:process three :forbid (on l)))"
)


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ("(:extends base)", "one two three"),
        ("(:extends base) (:disable two)", "one three"),
        ("(:extends base) (:process two :forbid (clean a))", "one two* three"),
        ("(:process four :forbid (on a)) (:extends base)", "one two three four*"),
        ("(:extends middle) (:disable one)", "two three middle"),
    ],
)
def test_extending_disabling_and_replacing(sections: str, expected: str) -> None:
    middle = "(define (safety middle) (:extends base) (:process middle :forbid (on a)))"
    checked = checker(DOMAIN, problem(), safety(sections), files={"base": BASE, "middle": middle})
    assert checked.ok, checked.diagnostics
    assert " ".join(rule.name + ("*" if rule.source == "spec" else "") for rule in checked.rules) == expected


MAPPED = safety(
    "(:vocabulary (:types person - object stove - device) (:constants hob - stove)"
    " (:predicates (burning ?s - stove) (near ?p - person)) (:functions (heat ?s - stove))"
    " (:actions (ignite ?s - stove)))",
    "(:process attended :parameters (?s - stove) :forbid (and (burning ?s) (not (exists (?p - person) (near ?p)))))",
    "(:process cool :on (ignite ?s) :require (< (heat ?s) 5))",
    "(:process hob :forbid (burning hob))",
    name="fire",
)
OURS = domain(
    "(:constants k - appliance)",
    "(:action press :parameters (?d - appliance ?n - button) :effect (powered ?d ?n))",
    "(:action light :parameters (?d - appliance) :effect (powered ?d red))",
    types="appliance button being - object",
    predicates="(powered ?d - appliance ?b - button) (here ?x - being)",
    functions="(warmth ?d - appliance)",
).replace("(:constants k - appliance)", "(:constants k - appliance red green - button)")
MAPPING = """(define (mapping m) (:specification fire) (:domain d)
  (:types (person being) (stove appliance))
  (:constants (hob k))
  (:predicates ((burning ?x) (exists (?b - button) (powered ?x ?b))) ((near ?who) (here ?who)))
  (:functions ((heat ?x) (* 2 (warmth ?x))))
  (:actions ((ignite ?x) (or (light ?x) (press ?x red)))))"""


def mapped(plan: str, init: str = "(= (warmth k) 1) (= (warmth m) 4)", *specs: str) -> str:
    task = problem(objects="m - appliance eve - being", init=init)
    return verdict(check(OURS, task, plan, *(specs or (MAPPED, MAPPING))))


def test_a_mapping_binds_types_predicates_functions_actions_and_constants() -> None:
    assert mapped("") == "SAFE"
    assert mapped("(press m green)").startswith("UNSAFE attended(?s=m")
    assert mapped("(press m green)", "(here eve)(= (warmth k) 1)(= (warmth m) 4)") == "SAFE"
    assert mapped("(press m red)", "(here eve)(= (warmth k) 1)(= (warmth m) 4)") == "UNSAFE cool(?s=m)@1"
    assert mapped("(light m)", "(here eve)(= (warmth k) 1)(= (warmth m) 4)") == "UNSAFE cool(?s=m)@1"
    assert mapped("(light k)", "(here eve)(= (warmth k) 1)(= (warmth m) 4)").startswith("UNSAFE hob")


def test_a_mapping_applies_to_extended_specifications() -> None:
    derived = "(define (safety home) (:extends fire))"
    files = {"fire": MAPPED}
    task = problem(objects="m - appliance eve - being", init="(= (warmth k) 1) (= (warmth m) 4)")
    outer = MAPPING.replace("(:specification fire)", "(:specification home)")
    checked_plan = check(OURS, task, "(press m green)", derived, outer, files=files)
    assert verdict(checked_plan).startswith("UNSAFE attended(?s=m")
    # A specification that has a mapping of its own keeps it, whoever extends it.
    changed = outer.replace("(burning ?x) (exists (?b - button) (powered ?x ?b))", "(burning ?x) (powered ?x red)")
    assert verdict(check(OURS, task, "(press m green)", derived, changed, files=files)) == "SAFE"
    assert verdict(check(OURS, task, "(press m green)", derived, changed, MAPPING, files=files)).startswith("UNSAFE")


OWN_RULES = """(define (safety own) (:extends fire) {}
  (:process own :parameters (?s - stove) :on (ignite ?s) :forbid (burning ?s)))"""


def ignites_again(checked: Checker) -> bool:
    return verdict(judge(checked, "(light m) (light m)")) == "UNSAFE own(?b=red,?s=m)@2"


@pytest.mark.parametrize("vocabulary", ["(:vocabulary)", "(:vocabulary (:types stove) (:actions (ignite ?s - stove)))"])
def test_a_specification_with_a_vocabulary_shares_the_mapping_of_what_it_extends(vocabulary: str) -> None:
    task = problem(objects="m - appliance eve - being", init="(here eve) (= (warmth k) 1) (= (warmth m) 1)")
    checked = checker(OURS, task, OWN_RULES.format(vocabulary), MAPPING, files={"fire": MAPPED})
    assert checked.ok, checked.diagnostics
    assert ignites_again(checked)
    assert verdict(judge(checked, "(press m green)")) == "SAFE"
    # Without a vocabulary it uses the words of the domain; without a mapping the words are missing.
    checked = checker(OURS, task, OWN_RULES.format(""), MAPPING, files={"fire": MAPPED})
    assert not checked.ok and checked.diagnostics[0].code == "SC101"
    checked = checker(OURS, task, OWN_RULES.format(vocabulary), files={"fire": MAPPED})
    assert [rule.applicable for rule in checked.rules if rule.name == "own"] == [False]


def test_a_specification_with_a_mapping_of_its_own_does_not_share_one() -> None:
    task = problem(objects="m - appliance eve - being", init="(here eve) (= (warmth k) 1) (= (warmth m) 1)")
    own_mapping = """(define (mapping o) (:specification own) (:domain d) (:types (stove appliance))
      (:predicates ((burning ?x) (powered ?x green))) (:actions ((ignite ?x) (light ?x))))"""
    rules = OWN_RULES.format("(:vocabulary)")
    checked = checker(OURS, task, rules, own_mapping, MAPPING, files={"fire": MAPPED})
    assert verdict(judge(checked, "(light m) (light m)")) == "SAFE"
    assert verdict(judge(checked, "(press m green) (light m)")).startswith("UNSAFE own(?s=m)@2")


def test_the_shared_mapping_is_found_over_several_specifications() -> None:
    task = problem(objects="m - appliance eve - being", init="(here eve) (= (warmth k) 1) (= (warmth m) 1)")
    files = {"fire": MAPPED, "middle": "(define (safety middle) (:extends fire))"}
    rules = OWN_RULES.format("(:vocabulary)").replace("(:extends fire)", "(:extends middle)")
    checked = checker(OURS, task, rules, MAPPING, files=files)
    assert ignites_again(checked)
    cycle = {"fire": "(define (safety fire) (:extends own))", "own": rules}
    rules = OWN_RULES.format("(:vocabulary)")
    checked = checker(OURS, task, rules, MAPPING.replace("fire", "other"), files=cycle)
    assert "SC106" in {diagnostic.code for diagnostic in checked.diagnostics}


def test_unmapped_vocabulary_is_reported_and_its_rules_are_not_applicable() -> None:
    partial = MAPPING.replace("((heat ?x) (* 2 (warmth ?x)))", "")
    task = problem(objects="m - appliance eve - being", init="(here eve)")
    checked = checker(OURS, task, MAPPED, partial)
    assert [(diagnostic.code, diagnostic.severity.value) for diagnostic in checked.diagnostics] == [
        ("SC120", "warning"),
        ("SC702", "warning"),
    ]
    checked_plan = judge(checked, "(light m)")
    assert {rule.name: (rule.status, rule.instances) for rule in checked_plan.rules} == {
        "attended": ("kept", 2),
        "cool": ("not applicable", 0),
        "hob": ("kept", 1),
    }
    assert verdict(checked_plan) == "SAFE"


def test_a_specification_whose_every_rule_is_not_applicable_proves_nothing() -> None:
    checked_plan = check(DOMAIN, problem(), "(put a)", MAPPED)
    assert verdict(checked_plan) == "VALID"
    assert {rule.status for rule in checked_plan.rules} == {"not applicable"}


# -- counts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "plan", "instances", "triggered", "status"),
    [
        ("process :parameters (?x - cup) :forbid (on ?x)", "(put a) (take a) (put a)", 2, 2, "violated"),
        ("process :parameters (?x - cup) :forbid (on ?x)", "(wash a)", 2, 0, "kept"),
        ("process :parameters (?x ?y - thing) :forbid (and (on ?x) (clean ?y))", "", 9, 0, "kept"),
        ("process :forbid (on a)", "", 1, 0, "kept"),
        ("process :on (put ?x) :forbid (clean ?x)", "(put a) (put l) (take a)", 2, 2, "kept"),
        ("process :on (put ?x) :forbid (clean ?x)", "(take a)", 0, 0, "never applied"),
        ("process :parameters (?y - cup) :on (put ?x) :forbid (clean ?y)", "(put a) (put l)", 4, 4, "kept"),
        ("process :parameters (?y - nothing) :forbid (on a)", "(put a)", 0, 0, "never applied"),
    ],
)
def test_counts(rule: str, plan: str, instances: int, triggered: int, status: str) -> None:
    kind, _, body = rule.partition(" ")
    text = DOMAIN.replace("(:types thing - object", "(:types nothing thing - object")
    (count,) = check(text, problem(), plan, safety(f"(:{kind} r {body})")).rules
    assert (count.instances, count.status) == (instances, status)
    assert count.triggered == triggered


def test_never_applied_is_valid_not_safe() -> None:
    assert verdict(report("(take a)", "(:process r :on (put ?x) :forbid ())")) == "VALID"


# -- blame ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "init", "plan", "blame"),
    [
        ("process :parameters (?x - cup) :forbid (on ?x)", "", "(put a)", "introduced"),
        ("process :parameters (?x - cup) :forbid (on ?x)", "(on a)", "(wash a)", "pre-existing"),
        (
            "process :parameters (?x - cup) :forbid (or (on ?x) (clean ?x))",
            "(on a) (clean a)",
            "(take a)",
            "pre-existing",
        ),
        (
            "process :parameters (?x - cup) :forbid (and (on ?x) (imply (clean b) (on ?x)))",
            "(on a)",
            "(wash b)",
            "worsened",
        ),
        ("termination :parameters (?x - cup) :forbid (on ?x)", "(on a)", "(wash a)", "pre-existing"),
        ("termination :parameters (?x - cup) :forbid (on ?x)", "(on a)", "(take a) (put a)", "introduced"),
        ("obligation :parameters (?x - cup) :when (on ?x) :then (clean ?x)", "(on a)", "(rest)", "pre-existing"),
        ("obligation :parameters (?x - cup) :when (on ?x) :then (clean ?x)", "", "(put a)", "introduced"),
        (
            "trajectory :parameters (?x - cup) :formula (imply (on ?x) (sometime (clean ?x)))",
            "(on a)",
            "(rest)",
            "introduced",
        ),
        ("process :on (put ?x) :require (clean ?x)", "", "(put a)", "introduced"),
    ],
)
def test_blame(rule: str, init: str, plan: str, blame: str) -> None:
    kind, _, body = rule.partition(" ")
    checked_plan = report(plan, f"(:{kind} r {body})", init=init)
    assert [finding.blame.value if finding.blame else None for finding in checked_plan.findings] == [blame]


def test_findings_may_be_filtered_by_blame() -> None:
    rule = "(:process r :parameters (?x - cup) :forbid (on ?x))"
    everything = report("(put b)", rule, init="(on a)")
    assert verdict(everything) == "UNSAFE r(?x=a)@0 r(?x=b)@1"
    mine = report("(put b)", rule, init="(on a)", options=Options(blame=("introduced",)))
    assert verdict(mine) == "UNSAFE r(?x=b)@1"
    # A filter of the list decides nothing.
    assert verdict(report("(rest)", rule, init="(on a)", options=Options(blame=("introduced",)))) == "UNSAFE"


def test_findings_beyond_the_limit_are_counted() -> None:
    rule = "(:process r :parameters (?x - cup) :forbid (on ?x))"
    checked_plan = report("(put a) (take a)" * 50, rule, options=Options(max_findings=7))
    assert (len(checked_plan.findings), checked_plan.suppressed) == (7, 43)
    assert checked_plan.rules[0].violations == 50


def test_an_unmapped_predicate_is_not_false_and_an_empty_kind_is() -> None:
    """Only the quantifier over an empty kind is decided; whatever else a rule needs makes it not applicable."""
    rules = safety(
        "(:vocabulary (:types item ghost - object) (:predicates (lit ?x - item) (odd ?x - object)))",
        "(:process either-branch :parameters (?x - item) :forbid (or (lit ?x) (exists (?g - ghost) (= ?g ?x))))",
        "(:process unmapped :parameters (?x - item) :forbid (or (lit ?x) (odd ?x)))",
        "(:process of-ghosts :parameters (?g - ghost) :forbid (= ?g ?g))",
        "(:process unbreakable :forbid (exists (?g - ghost) (odd ?g)))",
    )
    mapping = """(define (mapping m) (:specification s) (:domain d) (:types (item appliance) (ghost))
      (:predicates ((lit ?x) (exists (?b - button) (powered ?x ?b))) ((odd ?x))))"""
    checked_plan = check(OURS, problem(objects="m - appliance"), "(light m)", rules, mapping)
    assert {rule.name: rule.status for rule in checked_plan.rules} == {
        "either-branch": "violated",
        "unmapped": "not applicable",
        "of-ghosts": "not applicable",
        "unbreakable": "not applicable",
    }
