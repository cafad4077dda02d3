"""What steps do: effects, numbers, three values, derived predicates (docs/language.md, section 2)."""

from __future__ import annotations

import pytest
from engine_texts import check, checker, domain, judge, problem, safety, verdict

from plansafe.grammar.codes import SC
from plansafe.verifier.api import Options
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.online_monitor import Monitor
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.reporting.report import Headline

OBJECTS = "a b c - thing"


def run(action: str, *, init: str = "", goal: str = "()", plan: str = "(go)") -> str:
    """The verdict on a plan of one action over ``p``, ``q``, ``f`` and ``g``."""
    text = domain(
        "(:constants a b c k - thing)",
        f"(:action go {action})",
        predicates="(p ?x - thing) (q ?x ?y - thing) (n)",
        functions="(f ?x - thing) (g) - number",
    )
    return verdict(check(text, problem(init=init, goal=goal), plan))


# -- effects ----------------------------------------------------------------------------------------------------------


def test_a_fact_deleted_and_added_is_true() -> None:
    for order in ("(n) (not (n))", "(not (n)) (n)"):
        assert run(f":effect (and {order})", goal="(n)") == "VALID"
        assert run(f":effect (and {order})", goal="(n)", init="(n)") == "VALID"


def test_delete_and_add_meet_in_one_fact_only_for_some_arguments() -> None:
    move = ":parameters (?x ?y - thing) :effect (and (not (p ?x)) (p ?y))"
    assert run(move, init="(p a)", plan="(go a a)", goal="(p a)") == "VALID"
    assert run(move, init="(p a)", plan="(go a b)", goal="(and (p b) (not (p a)))") == "VALID"


def test_effects_are_read_in_the_state_before() -> None:
    assert run(":effect (and (n) (when (n) (p a)))", goal="(and (n) (not (p a)))") == "VALID"
    swap = ":effect (and (assign (f a) (f b)) (assign (f b) (f a)))"
    assert run(swap, init="(= (f a) 1) (= (f b) 2)", goal="(and (= (f a) 2) (= (f b) 1))") == "VALID"
    assert run(swap, plan="(go) (go)", init="(= (f a) 1) (= (f b) 2)", goal="(= (f a) 1)") == "VALID"


def test_nested_quantifiers_and_conditions() -> None:
    action = """:parameters (?x - thing) :effect (forall (?y - thing) (when (q ?x ?y)
      (and (not (q ?x ?y)) (forall (?z - thing) (when (and (p ?z) (not (= ?z ?y))) (q ?y ?z))))))"""
    init = "(q a b) (q a c) (p b) (p c) (q b a)"
    goal = "(and (q b c) (q c b) (q b a) (not (q a b)) (not (q a c)) (not (q b b)))"
    assert run(action, init=init, goal=goal, plan="(go a)") == "VALID"


def test_an_inner_variable_hides_an_outer_one() -> None:
    action = ":parameters (?x - thing) :effect (and (forall (?x - thing) (when (p ?x) (not (p ?x)))) (q ?x ?x))"
    assert run(action, init="(p a) (p b)", plan="(go c)", goal="(and (q c c) (not (p a)) (not (p b)))") == "VALID"


def test_quantifiers_over_nothing() -> None:
    text = domain("(:action go :precondition (forall (?x - thing) (n)))", predicates="(n)")
    assert verdict(check(text, problem(), "(go)")) == "VALID"
    text = domain("(:action go :precondition (exists (?x - thing) ()))", predicates="(n)")
    assert verdict(check(text, problem(), "(go)")) == "INVALID SC301@1"


def test_either_and_several_parents() -> None:
    text = domain(
        "(:action stack :parameters (?x - (either cup box)) :precondition (clean ?x) :effect (stacked ?x))",
        types="thing - object soft hard - thing cup - hard cup - soft box - hard rag - soft",
        predicates="(stacked ?x - hard) (clean ?x - object) (washed ?x - soft)",
    )
    objects = "c - cup b - box r - rag e - (either box rag)"
    init = "(clean c) (clean b) (clean r) (clean e) (washed c) (washed r) (washed e) (stacked e)"
    task = problem(objects=objects, init=init, goal="(forall (?h - hard) (stacked ?h))")
    assert verdict(check(text, task, "(stack c) (stack b)")) == "VALID"
    assert verdict(check(text, task, "(stack e) (stack r)")) == "INVALID SC404@2 SC310@end"
    assert checker(text, problem(objects=objects, init="(washed b)")).diagnostics[0].code == "SC104"


# -- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("(= (* 3 0.1) 0.3)", True),
        ("(> 9007199254740993 9007199254740992)", True),
        ("(> (g) 5)", False),
        ("(>= (g) 5)", True),
        ("(> (g) 4.9999)", True),
        ("(= (- (g)) -5)", True),
        ("(= (- 10 (g) 1) 4)", True),
        ("(= (/ (g) 3) (/ 10 6))", True),
        ("(= (+ (g) .5) 5.50)", True),
        ("(= (* 2 (g) 3) +30)", True),
        ("(< 0.1 (/ 1 10))", False),
    ],
)
def test_numbers_are_exact(condition: str, holds: bool) -> None:
    expected = "VALID" if holds else "INVALID SC301@1"
    assert run(f":precondition {condition}", init="(= (g) 5)") == expected


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("(> (g) 0)", None),
        ("(not (> (g) 0))", None),
        ("(= (g) (g))", None),
        ("(>= (/ 1 0) 0)", None),
        ("(or (n) (> (g) 0))", True),
        ("(or (not (n)) (> (g) 0))", None),
        ("(and (not (n)) (> (g) 0))", False),
        ("(and (n) (> (g) 0))", None),
        ("(imply (> (g) 0) (n))", True),
        ("(exists (?x - thing) (> (f ?x) 0))", True),
        ("(forall (?x - thing) (> (f ?x) 0))", None),
        ("(forall (?x - thing) (< (f ?x) 0))", False),
        ("(exists (?x - thing) (< (f ?x) 0))", None),
    ],
)
def test_undefined_numbers_in_three_values(condition: str, value: bool | None) -> None:
    init = "(n) (= (f a) 1) (= (f k) 1)"
    codes = {True: "VALID", False: "INVALID SC301@1", None: "INVALID SC302@1"}
    assert run(f":precondition {condition}", init=init) == codes[value]
    negated = {True: "INVALID SC301@1", False: "VALID", None: "INVALID SC302@1"}
    assert run(f":precondition (not {condition})", init=init) == negated[value]


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ("(increase (g) 1) (increase (g) 2) (decrease (g) 10)", -2),
        ("(scale-up (g) 6) (scale-down (g) 4)", "7.5"),
        ("(assign (g) 9)", 9),
        ("(increase (g) (g))", 10),
        ("(increase (g) 1) (scale-up (g) 2)", "SC303"),
        ("(assign (g) 1) (increase (g) 1)", "SC303"),
        ("(assign (g) 1) (assign (g) 1)", "SC303"),
        ("(increase (f a) 1)", "SC302"),
        ("(assign (f a) 1)", 5),
        ("(assign (g) (f a))", "SC302"),
        ("(scale-down (g) 0)", "SC302"),
        ("(assign (g) (/ 1 (- (g) 5)))", "SC302"),
        ("(when (> (f a) 1) (n))", "SC302"),
        ("(forall (?x - thing) (when (= ?x a) (increase (g) 1)))", 6),
        ("(forall (?x - thing) (increase (g) 1))", 9),
        ("(forall (?x - thing) (assign (g) 1))", "SC303"),
    ],
)
def test_numeric_effects(effects: str, expected: object) -> None:
    goal = f"(= (g) {expected})" if not str(expected).startswith("SC") else "()"
    verdict_ = run(f":effect (and {effects})", init="(= (g) 5)", goal=goal)
    assert verdict_ == (f"INVALID {expected}@1" if str(expected).startswith("SC") else "VALID")


def test_the_largest_number() -> None:
    square = ":effect (scale-up (g) (g))"
    assert run(square, init="(= (g) 2)", plan="(go)" * 15, goal="(> (g) 0)") == "VALID"  # 2 ** 32768
    assert run(square, init="(= (g) 2)", plan="(go)" * 16) == "UNKNOWN"  # 65,537 bits
    assert run(square, init="(= (g) 0.5)", plan="(go)" * 15, goal="(> (g) 0)") == "VALID"
    assert run(square, init="(= (g) 0.5)", plan="(go)" * 16) == "UNKNOWN"
    assert run(square, init="(= (g) 2)", plan="(go)" * 30 + "(zzz)") == "UNKNOWN"


def test_numbers_of_thousands_of_digits_can_be_read_and_printed() -> None:
    big = "9" * 15_000
    text = domain("(:action go :effect (increase (g) 1))", functions="(g)")
    task = problem("(:metric minimize (g))", init=f"(= (g) {big})", goal=f"(> (g) {big})")
    report = check(text, task, "(go)")
    assert verdict(report) == "VALID"
    assert report.metric == "1" + "0" * 15_000


# -- derived predicates -----------------------------------------------------------------------------------------------

GRAPH = domain(
    "(:derived (reach ?x ?y - thing) (or (edge ?x ?y) (exists (?z - thing) (and (edge ?x ?z) (reach ?z ?y)))))",
    "(:derived (cut ?x ?y - thing) (and (not (= ?x ?y)) (not (reach ?x ?y))))",
    "(:derived (hub ?x - thing) (forall (?y - thing) (or (= ?x ?y) (reach ?x ?y))))",
    "(:derived (lonely) (forall (?x - thing) (not (hub ?x))))",
    "(:action link :parameters (?x ?y - thing) :effect (edge ?x ?y))",
    "(:action break :parameters (?x ?y - thing) :precondition (reach ?x ?y) :effect (not (edge ?x ?y)))",
    "(:action rest :precondition (not (lonely)))",
    predicates="(edge ?x ?y - thing) (reach ?x ?y - thing) (cut ?x ?y - thing) (hub ?x - thing) (lonely)",
)


def facts_after(plan: str, init: str = "") -> set[str]:
    """The derived facts after a plan, and whether a rule over them agrees with the state."""
    checked = checker(GRAPH, problem(objects=OBJECTS, init=init))
    assert checked.ok, checked.diagnostics
    monitor = Monitor(checked.compiled)
    for step in plan.split(";"):
        if step:
            assert monitor.take(step).executable
    return {fact for fact in monitor.facts() if not fact.startswith("(edge")}


def test_transitive_closure_and_negation_across_strata() -> None:
    derived_facts = facts_after("(link a b);(link b c)")
    assert derived_facts == {
        *("(reach a b)", "(reach a c)", "(reach b c)"),
        *("(cut b a)", "(cut c a)", "(cut c b)"),
        "(hub a)",
    }
    assert "(lonely)" in facts_after("")


def test_derived_facts_are_deleted_with_their_supports() -> None:
    cycle = "(edge a b) (edge b c) (edge c a)"
    assert len([fact for fact in facts_after("", cycle) if fact.startswith("(reach")]) == 9
    assert facts_after("(break c a)", cycle) == facts_after("(link a b);(link b c)")
    assert facts_after("(break c a);(break a b)", cycle) == facts_after("(link b c)")
    assert facts_after("(break c a);(link c a)", cycle) == facts_after("", cycle)


def test_derived_facts_in_preconditions_goals_and_rules() -> None:
    task = problem(objects=OBJECTS, goal="(reach a c)")
    assert verdict(check(GRAPH, task, "(link a b) (link b c) (rest)")) == "VALID"
    assert verdict(check(GRAPH, task, "(link a b) (break b c)")) == "INVALID SC301@2 SC310@end"
    rule = safety("(:process r :parameters (?x ?y - thing) :forbid (and (edge ?x ?y) (reach ?y ?x)))")
    actual = verdict(check(GRAPH, task, "(link a b) (link b c) (link c a)", rule))
    assert actual == "UNSAFE r(?x=a,?y=b)@3 r(?x=b,?y=c)@3 r(?x=c,?y=a)@3"


def test_mutual_recursion_and_recursion_below_quantifiers() -> None:
    text = domain(
        "(:derived (even ?x - thing) (or (zero ?x) (exists (?y - thing) (and (next ?y ?x) (odd ?y)))))",
        "(:derived (odd ?x - thing) (exists (?y - thing) (and (next ?y ?x) (even ?y))))",
        "(:derived (safe ?x - thing) (forall (?y - thing) (imply (next ?x ?y) (safe ?y))))",
        "(:action cut :parameters (?x ?y - thing) :effect (not (next ?x ?y)))",
        predicates="(zero ?x) (next ?x ?y) (even ?x) (odd ?x) (safe ?x)",
    )
    init = "(zero a) (next a b) (next b c) (next d d)"
    objects = "a b c d - thing"
    goal = "(and (even a) (odd b) (even c) (not (even b)) (not (odd c)) (safe a) (safe b) (safe c) (not (safe d)))"
    assert verdict(check(text, problem(objects=objects, init=init, goal=goal), "")) == "VALID"
    goal = "(and (even a) (not (odd b)) (not (even c)) (safe d))"
    assert verdict(check(text, problem(objects=objects, init=init, goal=goal), "(cut a b) (cut d d)")) == "VALID"


def test_derived_facts_that_depend_on_numbers() -> None:
    text = domain(
        "(:derived (full ?x - thing) (>= (f ?x) 2))",
        "(:action fill :parameters (?x - thing) :precondition (not (full ?x)) :effect (increase (f ?x) 1))",
        predicates="(full ?x - thing)",
        functions="(f ?x - thing)",
    )
    task = problem(objects="a b - thing", init="(= (f a) 0)", goal="(full a)")
    assert verdict(check(text, task, "(fill a) (fill a)")) == "VALID"
    assert verdict(check(text, task, "(fill a) (fill a) (fill a)")) == "INVALID SC301@3"


# -- the readings after a failure -------------------------------------------------------------------------------------


def test_halt_skip_and_force() -> None:
    text = domain(
        "(:action put :parameters (?x - thing) :precondition (n) :effect (p ?x))",
        "(:action ready :effect (n))",
        predicates="(p ?x - thing) (n)",
    )
    rule = safety("(:process r :parameters (?x - thing) :forbid (p ?x))")
    task = problem(objects=OBJECTS, goal="(and (p b) (n))")
    report = judge(checker(text, task, rule), "(put a) (ready) (zzz) (put b)")
    readings = {(finding.rule or finding.code, finding.step): finding.readings for finding in report.findings}
    assert readings["SC301", 1] == ("halt", "skip", "force")
    assert readings["SC401", 3] == ("skip", "force")
    assert readings["r", 1] == ("force",)
    assert readings["r", 4] == ("skip", "force")
    assert [
        (reading.name, reading.executed, reading.goal.value, reading.safe.value) for reading in report.readings
    ] == [
        ("halt", 0, "NONE", "UNKNOWN"),
        ("skip", 2, "ALL", "NONE"),
        ("force", 3, "ALL", "NONE"),
    ]
    assert report.exit_code == 2


def test_a_step_at_which_a_rule_has_too_many_instances_is_taken_back() -> None:
    text = domain("(:action go :effect (n))", predicates="(n) (p ?x - thing)")
    rules = safety("(:trajectory r :parameters (?x - thing) :formula (sometime-before (n) (p ?x)))")
    compiled = checker(text, problem(objects=OBJECTS, goal="(n)"), rules)
    now = Execution.initial(compiled.engine)
    assert now.runtime is not None
    for monitor in now.runtime.monitors:
        assert isinstance(monitor, Automaton)
        monitor.limit = 0
    before, runtime = now.key(), now.runtime
    with pytest.raises(TooManyInstances):
        now.take(GroundAction(compiled.engine.task.actions["go"], ()))
    assert (now.key(), now.letter, now.history) == (before, 0, [])
    assert now.runtime is runtime


@pytest.mark.parametrize(
    ("rule", "headline"),
    [
        # the violations up to this step count
        ("(:process r :parameters (?x - thing) :forbid (p ?x))", Headline.UNSAFE),
        ("(:trajectory r :parameters (?x - thing) :formula (sometime-before (p ?x) (n)))", Headline.UNKNOWN),
    ],
)
def test_the_limit_on_instances_applies_to_every_monitor(rule: str, headline: Headline) -> None:
    text = domain("(:action all :effect (forall (?x - thing) (p ?x)))", predicates="(n) (p ?x - thing)")
    task = problem(objects=OBJECTS)
    assert verdict(check(text, task, "(all)", safety(rule))).startswith("UNSAFE")
    report = check(text, task, "(all)", safety(rule), options=Options(max_instances=1))
    assert report.headline is headline
    assert SC.TOO_MANY_INSTANCES in [diagnostic.code for diagnostic in report.diagnostics]


@pytest.mark.parametrize("formula", ["{}", "(sometime {})", "(or {} (always (n)))"])
def test_a_permanent_verdict_survives_a_number_that_becomes_undefined(formula: str) -> None:
    """At first b has the value of a; after the step no defined value reaches it, and the value of c is undefined."""
    text = domain(
        "(:constants a b c - thing)",
        "(:action go :effect (increase (f a) 1))",
        functions="(f ?x - thing)",
        predicates="(n)",
    )
    task = problem(init="(= (f a) 0) (= (f b) 0)")
    comparison = "(exists (?x - thing) (and (not (= ?x a)) (>= (f ?x) (f a))))"
    satisfied = safety(f"(:trajectory r :formula {formula.format(comparison)})")
    assert verdict(check(text, task, "(go) (go)", satisfied)) == "SAFE"
    undecided = safety(f"(:trajectory r :formula (always {comparison}))")
    assert verdict(check(text, task, "(go) (go)", undecided)) == "UNKNOWN r@end"
