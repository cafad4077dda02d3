"""Rules, parts, findings and blame of docs/language.md, section 5, computed by hand."""
# ruff: noqa: E501

from __future__ import annotations

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.kernel import Finding, Kernel, KernelRejects, KernelVerdict
from plansafe.verifier.reporting.report import Headline

DOMAIN = """(define (domain d) (:types thing room) (:predicates (on ?x - thing) (in ?x - thing ?r - room) (wet) (done))
(:functions (heat))
(:action turn-on :parameters (?x - thing) :effect (on ?x))
(:action turn-off :parameters (?x - thing) :effect (not (on ?x)))
(:action move :parameters (?x - thing ?r ?s - room) :precondition (in ?x ?r) :effect (and (in ?x ?s) (not (in ?x ?r))))
(:action dry :effect (not (wet))) (:action finish :effect (done))
(:durative-action boil :parameters (?x - thing) :duration () :effect (and (at start (on ?x)) (at end (not (on ?x))))))"""


def kernel(rule: str, init: str = "") -> Kernel:
    problem = f"(define (problem p) (:objects a b - thing k l - room) (:init {init}) (:goal ()))"
    return Kernel(DOMAIN, problem, [f"(define (safety s) {rule})"])


def findings_of(rule: str, plan: str, init: str = "") -> list[tuple[int, str, str | None]]:
    """(step, binding, blame) of each finding on the halt trace."""
    findings = kernel(rule, init).audit(plan).findings
    return sorted((f.step, " ".join(o for _, o in f.binding), f.blame) for f in findings)


def test_process_rule_about_states() -> None:
    rule = "(:process r :parameters (?x - thing) :forbid (on ?x))"
    plan = "(turn-on a) (turn-on b) (turn-off a) (turn-on a) (turn-on a)"
    assert findings_of(rule, plan) == [(1, "a", "introduced"), (2, "b", "introduced"), (4, "a", "introduced")]
    assert findings_of(rule, "(turn-off b)", "(on a) (on b)") == [(0, "a", "pre-existing"), (0, "b", "pre-existing")]


def test_blame() -> None:
    rule = "(:process r :parameters (?x - thing) :forbid (and (on ?x) (imply (wet) (wet))))"
    assert findings_of(rule, "(finish)", "(on a) (wet)") == [(0, "a", "pre-existing")]
    assert findings_of(rule, "(dry)", "(on a) (wet)") == [(0, "a", "worsened")]
    assert findings_of(rule, "(dry) (turn-off a)", "(on a)") == [
        (0, "a", "pre-existing")
    ]  # the end of the block changes nothing
    end = "(:termination r :parameters (?x - thing) :forbid (on ?x))"
    assert findings_of(end, "(finish)", "(on a)") == [(1, "a", "pre-existing")]
    assert findings_of(end, "(turn-off a) (turn-on a)", "(on a)") == [(2, "a", "introduced")]
    later = "(:obligation r :parameters (?x - thing) :when (on ?x) :then (done))"
    assert findings_of(later, "(dry)", "(on a)") == [(1, "a", "pre-existing")]
    assert findings_of(later, "(turn-off a)", "(on a)") == [(1, "a", "worsened")]
    assert findings_of(later, "(turn-on a)") == [(1, "a", "introduced")]


def test_process_rule_about_a_step() -> None:
    rule = "(:process r :on (turn-on ?x) :require (not (wet)))"
    assert findings_of(rule, "(turn-on a) (dry) (turn-on a) (turn-on b)", "(wet)") == [(1, "a", "introduced")]
    assert kernel(rule).audit("(turn-on a) (dry) (turn-on a)").instances == {"r": 2}
    after = "(:process r :on (turn-on ?x) :forbid-after (and (on a) (on b)))"
    assert findings_of(after, "(turn-on a) (turn-on b) (turn-off a)") == [(2, "b", "introduced")]
    either = "(:process r :on (or (turn-on ?x) (turn-off ?x)) :forbid (wet))"
    assert findings_of(either, "(turn-on a) (turn-off b)", "(wet)") == [(1, "a", "introduced"), (2, "b", "introduced")]
    blank = "(:process r :on (move ?x _ ?s) :require (on ?x))"
    assert findings_of(blank, "(move a k l)", "(in a k)") == [(1, "l a", "introduced")]
    same = "(:process r :on (move ?x ?s ?s) :forbid (and))"
    assert findings_of(same, "(move a k k) (move a k l)", "(in a k)") == [(1, "k a", "introduced")]
    more = "(:process r :parameters (?x - thing) :on (dry) :forbid (on ?x))"
    assert findings_of(more, "(dry) (turn-on b) (dry)", "(on a)") == [
        (1, "a", "introduced"),
        (3, "a", "introduced"),
        (3, "b", "introduced"),
    ]
    assert kernel(more).audit("(dry) (dry)").instances == {"r": 4}


def test_a_variable_of_several_steps_has_the_types_of_all() -> None:
    domain = """(define (domain d) (:types vehicle - object truck plane - vehicle)
    (:predicates (open ?v - vehicle) (flying ?p - plane))
    (:action drive :parameters (?t - truck)) (:action fly :parameters (?p - plane))
    (:action load :parameters (?t - truck ?p - plane)))"""
    problem = "(define (problem p) (:objects t u - truck p - plane) (:init (open t) (open p)) (:goal ()))"

    def audit_plan(rule: str) -> KernelVerdict:
        return Kernel(domain, problem, [f"(define (safety s) {rule})"]).audit("(drive t) (drive u) (fly p) (load t p)")

    verdict = audit_plan("(:process r :on (or (drive ?v) (fly ?v)) :forbid (open ?v))")
    assert sorted((f.step, f.binding) for f in verdict.findings) == [(1, (("?v", "t"),)), (3, (("?v", "p"),))]
    assert verdict.instances == {"r": 3}
    assert audit_plan("(:process r :on (load ?v ?v) :forbid (open ?v))").instances == {"r": 0}
    for rule in (
        "(:process r :on (or (drive ?v) (fly ?v)) :forbid (flying ?v))",  # may be a truck
        "(:process r :parameters (?v - truck) :on (or (drive ?v) (fly ?v)) :forbid (open ?v))",
        "(:process r :on (or (drive ?v) (fly t)) :forbid (open ?v))",
    ):
        with pytest.raises(KernelRejects, match="wrong type"):
            audit_plan(rule)


def test_when() -> None:
    rule = "(:process r :on (turn-on ?x) :when (wet) :forbid (done))"
    assert findings_of(rule, "(turn-on a) (finish) (turn-on a) (dry) (turn-on a)", "(wet)") == [(3, "a", "introduced")]
    rule = "(:termination r :parameters (?x - thing) :when (on ?x) :require (done))"
    assert findings_of(rule, "(turn-on a)") == [(1, "a", "introduced")]


def test_past_formulas() -> None:
    rule = "(:process r :on (turn-on ?x) :require (once (action (dry))))"
    assert findings_of(rule, "(turn-on a) (dry) (turn-on b)") == [(1, "a", "introduced")]
    rule = "(:process r :parameters (?x - thing) :forbid (and (on ?x) (yesterday (not (on ?x)))))"
    assert findings_of(rule, "(dry) (turn-on a) (dry)") == [(2, "a", "introduced")]


def test_durative_steps() -> None:
    plan = "0: (turn-on b)\n1: (boil a) [4]\n2: (dry)\n3: (finish)"
    assert findings_of("(:process r :at-end (boil ?x) :require (wet))", plan, "(wet)") == [(2, "a", "introduced")]
    assert findings_of("(:process r :on (boil ?x) :require (wet))", plan, "(wet)") == []
    assert findings_of("(:process r :during (boil ?x) :require (wet))", plan, "(wet)") == [(2, "a", "introduced")]
    assert findings_of("(:process r :during (boil ?x) :forbid (on b))", "0: (boil a) [1]\n2: (turn-on b)") == []
    rule = "(:process r :forbid (action-during (boil a)))"
    assert findings_of(rule, plan) == [(2, "", "introduced")]
    assert findings_of("(:process r :forbid (and (action-end (boil a)) (done)))", plan) == [(4, "", "introduced")]


def test_trajectories() -> None:
    rule = "(:trajectory r :parameters (?x - thing) :formula (always (imply (on ?x) (wet))))"
    assert findings_of(rule, "(turn-on a) (dry) (turn-on b)", "(wet)") == [
        (2, "a", "introduced"),
        (3, "b", "introduced"),
    ]
    rule = "(:trajectory r :formula (sometime-before (exists (?x - thing) (on ?x)) (done)))"
    assert findings_of(rule, "(dry) (turn-on a) (finish)") == [(2, "", "introduced")]
    assert findings_of(rule, "(dry)", "(on a)") == [(0, "", "pre-existing")]
    rule = "(:trajectory r :formula (within 2 (done)))"
    assert findings_of(rule, "(dry) (dry) (dry)") == [(2, "", "introduced")]
    assert findings_of(rule, "(dry)") == [(1, "", "introduced")]
    rule = "(:obligation r :when (wet) :then (done) :within 1)"
    assert findings_of(rule, "(dry) (dry) (dry)", "(wet)") == [(1, "", "worsened")]
    assert findings_of(rule, "(finish) (finish)", "(wet)") == []


def test_parts_name_objects() -> None:
    rule = "(:trajectory r :formula (always (forall (?x - thing) (and (not (on ?x)) (not (in ?x k))))))"
    assert findings_of(rule, "(turn-on a)", "(in b k)") == [(0, "b", "pre-existing"), (1, "a", "introduced")]
    rule = "(:trajectory r :formula (forall (?x - thing) (sometime (on ?x))))"
    assert findings_of(rule, "(turn-on a)") == [(1, "b", "introduced")]
    rule = "(:trajectory r :formula (not (exists (?x - thing) (at end (on ?x)))))"
    assert findings_of(rule, "(turn-on a)") == [(1, "a", None)]  # (not (at end ..)): the kernel does not tell
    rule = "(:process r :forbid (exists (?x - thing) (or (on ?x) (not (forall (?r - room) (not (in ?x ?r)))))))"
    assert findings_of(rule, "(turn-on a)", "(in b k)") == [(0, "k b", "pre-existing"), (1, "a", "introduced")]
    rule = "(:process r :require (exists (?x - thing) (on ?x)))"
    assert findings_of(rule, "(turn-on a)") == [(0, "", "pre-existing")]
    shadowed = "(:process r :parameters (?x - thing) :require (forall (?x - thing) (not (on ?x))))"
    assert findings_of(shadowed, "(turn-on a)") == [(1, "a", "introduced"), (1, "b", "introduced")]


def test_undefined_numbers() -> None:
    verdict = kernel("(:process r :forbid (> (heat) 5))").audit("(dry)")
    assert (verdict.headline, verdict.safe, verdict.undecided) == ("UNKNOWN", None, {("r", ())})
    assert kernel("(:process r :forbid (and (wet) (> (heat) 5)))").audit("(dry)").headline == "SAFE"
    assert kernel("(:process r :forbid (> (heat) 5))", "(= (heat) 5)").audit("").headline == "SAFE"


def test_readings() -> None:
    rule = "(:termination r :parameters (?x - thing) :forbid (on ?x))"
    verdict = kernel(rule).audit("(turn-on b) (move a k l) (turn-on a) (turn-off b)")
    assert verdict.headline == "INVALID"
    assert {(f.step, f.binding[0][1], f.readings) for f in verdict.findings} == {
        (1, "b", frozenset({"halt"})),
        (4, "a", frozenset({"skip", "force"})),
    }


def test_headlines() -> None:
    rule = "(:process r :parameters (?x - thing) :on (turn-on ?x) :forbid (wet))"
    assert kernel(rule).audit("(dry)").headline == "VALID"  # no match, so no instance
    assert kernel(rule).audit("(turn-on a)").headline == "SAFE"
    assert kernel(rule, "(wet)").audit("(turn-on a)").headline == "UNSAFE"


def test_constraints_of_a_problem() -> None:
    problem = """(define (problem p) (:objects a b - thing) (:init (wet)) (:goal ()) (:constraints (and (at end (not (wet)))
      (forall (?x - thing) (and (sometime (on ?x)) (always (not (done))))) (preference soft (always (done))))))"""
    rule_kernel = Kernel(DOMAIN, problem)
    assert rule_kernel.rules == ("constraint-1", "constraint-2")
    findings = rule_kernel.audit("(turn-on a) (finish)").findings
    assert {(f.rule, f.step, f.binding, f.at_end) for f in findings} == {
        ("constraint-1", 2, (), True),
        ("constraint-2", 2, (("?x", "b"),), True),
        ("constraint-2", 2, (("?x", "a"),), False),
    }


@pytest.mark.parametrize(("init", "count"), [("", 0), ("(= (heat) 1)", 1), ("(= (heat) 9)", 0)])
def test_a_preference_about_an_undefined_number_is_not_counted(init: str, count: int) -> None:
    problem = f"""(define (problem p) (:objects a - thing) (:init {init}) (:goal ())
      (:constraints (preference warm (hold-during 0 3 (> (heat) 5)))))"""
    assert Kernel(DOMAIN, problem).audit("").preferences.get("warm", 0) == count
    report = Checker(Source("domain", DOMAIN), Source("problem", problem)).check(Source("plan", ""))
    assert dict(report.preferences_violated).get("warm", 0) == count
    assert (report.headline is Headline.UNKNOWN) == (not init)


def test_one_finding_can_be_checked_alone() -> None:
    rule_kernel = kernel("(:process r :parameters (?x - thing) :forbid (on ?x))")
    plan = "(turn-on a) (turn-on b)"
    assert rule_kernel.check_finding(plan, "r", {"?x": "b"}, 2)
    assert not rule_kernel.check_finding(plan, "r", {"?x": "b"}, 1)
    assert not rule_kernel.check_finding(plan, "r", {}, 1)
    assert not rule_kernel.check_finding(plan, "other", {"?x": "b"}, 2)
    step = kernel("(:process r :on (turn-on ?x) :forbid (wet))", "(wet)")
    assert step.check_finding(plan, "r", {"?x": "b"}, 2)
    assert not step.check_finding(plan, "r", {"?x": "a"}, 2)


def test_given_traces() -> None:
    rule_kernel = kernel("(:process r :on (turn-on ?x) :require (wet))")
    states = [[("wet",)], [], []]
    findings = rule_kernel.audit_trace(states, actions=[[("turn-on", "a")], [("turn-on", "b"), ("dry",)]])
    assert findings == {Finding("r", (("?x", "b"),), 2)}
    assert rule_kernel.evaluate_instance("r", {"?x": "a"}, states, actions=[[("turn-on", "a")]]) is True
    undefined = kernel("(:process r :forbid (> (heat) 5))")
    assert undefined.evaluate_instance("r", {}, states) is None


@pytest.mark.parametrize(
    "rule",
    [
        "(:extends other)",
        "(:process r)",
        "(:process r :forbid (next (wet)))",
        "(:process r :forbid (within))",
        "(:process r :forbid (hold-during 1))",
        "(:process r :forbid-after (wet))",
        "(:process r :on (turn-on ?x) :at-end (boil ?x) :forbid (wet))",
        "(:process r :on (fly ?x) :forbid (wet))",
        "(:process r :on (turn-on k) :forbid (wet))",
        "(:process r :forbid (on ?y))",
        "(:process r :forbid (wet) :forbid (wet))",
        "(:process r :forbid (wet)) (:process r :forbid (wet))",
        "(:trajectory r)",
        "(:trajectory r :formula (preference p (always (wet))))",
        "(:obligation r :when (wet))",
        "(:termination r :on (turn-on ?x) :forbid (wet))",
    ],
)
def test_rejected(rule: str) -> None:
    with pytest.raises(KernelRejects):
        kernel(rule)


def test_metadata_and_vocabulary_are_read_over() -> None:
    rule = """(:domain anything) (:vocabulary (:predicates (wet)))
    (:process r :forbid (wet) :hazard slip :target (human robot) :severity critical :message "a \\"wet\\" (floor) ; {?x}")"""
    assert kernel(rule).rules == ("r",)
