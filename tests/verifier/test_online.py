"""The online monitor: before an action, after it, and what the sensors say."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from engine_texts import checker, domain, problem, safety

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.online_monitor import Monitor, ObservationError
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.reporting.report import Headline

DOMAIN = domain(
    "(:constants a b - cup)",
    "(:derived (near ?x - thing) (on ?x))",
    "(:action put :parameters (?x - thing) :precondition (and (not (on ?x)) (< (g) 3))"
    " :effect (and (on ?x) (increase (g) 1)))",
    "(:action take :parameters (?x - thing) :precondition (on ?x) :effect (not (on ?x)))",
    "(:action wash :parameters (?x - cup) :effect (clean ?x))",
    "(:durative-action boil :duration (= ?duration 1) :effect ())",
    types="thing - object cup - thing",
    predicates="(on ?x - thing) (clean ?x - thing) (near ?x - thing)",
    functions="(g) - number",
)


def monitor(*rules: str, init: str = "(= (g) 0)") -> Monitor:
    checked = checker(DOMAIN, problem(objects="l - thing", init=init), *([safety(*rules)] if rules else []))
    assert checked.ok, checked.diagnostics
    return Monitor(checked.compiled)


# -- allowed ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("(take a)", "(on a) is not true"),
        ("(TAKE A)", "(on a) is not true"),
        ("(put b)", "(on b) is true"),
        ("(wash l)", "`l` is a `thing`, but parameter `?x` of `wash` has another type: objects of that type: a, b"),
        ("(tke a)", "unknown action `tke`: did you mean `take`?"),
        ("(take aa)", "unknown object `aa`: did you mean `a`?"),
        ("(take)", "action `take` takes 1 argument, not 0: its parameters are `(take ?x)`"),
        ("()", "an action is missing"),
    ],
)
def test_why_an_action_cannot_be_taken(action: str, reason: str) -> None:
    watch = monitor(init="(on b) (= (g) 0)")
    before = watch.facts()
    advice = watch.allowed(action)
    assert (advice.allowed, advice.executable, advice.reasons, advice.breaks) == (False, False, (reason,), ())
    assert watch.take(action) == advice
    assert watch.facts() == before


def test_numbers_in_reasons() -> None:
    assert monitor(init="(= (g) 3)").allowed("(put a)").reasons == ("(< (g) 3) is not true",)
    assert not monitor(init="").allowed("(put a)").executable


def test_a_durative_action_is_refused() -> None:
    assert "instantaneous" in monitor().allowed("(boil)").reasons[0]


ALLOWED = [
    ('(:process r :parameters (?x - cup) :forbid (on ?x) :message "{?x} on")', "", "(put a)", "?x=a"),
    ("(:process r :parameters (?x - cup) :forbid (on ?x))", "(wash a)", "(put l)", None),
    ("(:process r :parameters (?x - cup) :forbid (on ?x))", "(put a)", "(put b)", "?x=b"),
    ("(:process r :parameters (?x - cup) :forbid (on ?x))", "(put a)", "(put l)", None),
    ("(:process r :on (put ?x) :require (clean ?x))", "", "(put a)", "?x=a"),
    ("(:process r :on (put ?x) :require (clean ?x))", "(wash a)", "(put a)", None),
    ("(:process r :on (take ?x) :require-after (clean ?x))", "(put a)", "(take a)", "?x=a"),
    ("(:process r :on (take ?x) :require (once (clean ?x)))", "(put a)", "(take a)", "?x=a"),
    ("(:process r :on (take ?x) :require (once (clean ?x)))", "(wash a) (put a)", "(take a)", None),
    ("(:process r :on (put ?x) :forbid (yesterday (on ?x)))", "(put a) (take a)", "(put a)", "?x=a"),
    ("(:trajectory r :formula (sometime-before (on a) (clean a)))", "", "(put a)", ""),
    ("(:trajectory r :formula (sometime-before (on a) (clean a)))", "(wash a)", "(put a)", None),
    ("(:trajectory r :formula (next (on a)))", "", "(put l)", ""),
    ("(:obligation r :when (on a) :then (clean a) :within 1)", "(put a)", "(put l)", ""),
    ("(:termination r :forbid (on a))", "", "(put a)", None),
]


@pytest.mark.parametrize(("rule", "before", "action", "breaks"), ALLOWED)
def test_a_rule_that_a_step_would_break(rule: str, before: str, action: str, breaks: str | None) -> None:
    watch = monitor(rule)
    for step in before.split(") ") if before else ():
        assert watch.take(step).executable
    verdicts, facts = watch.verdicts(), watch.facts()
    advice = watch.allowed(action)
    assert advice.executable
    assert [",".join(f"{n}={value}" for n, value in broken_rule.binding) for broken_rule in advice.breaks] == (
        [] if breaks is None else [breaks]
    )
    assert advice.allowed == (breaks is None)
    assert watch.allowed(action) == advice
    assert (watch.verdicts(), watch.facts()) == (verdicts, facts)
    assert watch.take(action) == advice


def test_violations_are_reported() -> None:
    rule = '(:process r :parameters (?x - cup) :forbid (on ?x) :message "{?x} is on" :hazard fire :severity low)'
    (broken,) = monitor(rule).allowed("(put a)").breaks
    assert broken == ("r", (("?x", "a"),), "a is on", "fire", "low")


# -- observe ----------------------------------------------------------------------------------------------------------

RULE = "(:process r :parameters (?x - cup) :forbid (on ?x))"


def test_a_predicted_fact_is_not_a_difference() -> None:
    watch = monitor()
    watch.take("(put a)")
    assert watch.observe(["(on a)", "(not (on b))", "(= (g) 1)", "(not (clean a))"]) == ((), (), (), ())


def test_differences() -> None:
    watch = monitor()
    watch.take("(put a)")
    difference = watch.observe({"(on a)": False, "(on b)": True, "(g)": 2, "(clean a)": False})
    assert difference == (("(on b)",), ("(on a)",), (("(g)", "1", "2"),), ())
    assert watch.facts() == ["(near b)", "(on b)"]
    assert not watch.allowed("(take a)").executable
    assert watch.allowed("(take b)").executable


def test_a_complete_observation_makes_unlisted_facts_false() -> None:
    watch = monitor(init="(on a) (on l) (clean a) (= (g) 0)")
    assert watch.observe(["(on a)", "(on b)"], complete=True)[:2] == (("(on b)",), ("(on l)",))
    assert watch.facts() == ["(clean a)", "(near a)", "(near b)", "(on a)", "(on b)"]


def test_an_observation_overrides_the_prediction() -> None:
    watch = monitor(RULE)
    watch.take("(put a)")
    assert watch.observe({"(on a)": False}).breaks == ()
    assert watch.verdicts() == {"r": "presently satisfied"}
    watch = monitor(RULE)
    watch.take("(wash a)")
    assert [broken_rule.binding for broken_rule in watch.observe({"(on a)": True}).breaks] == [(("?x", "a"),)]
    assert watch.verdicts() == {"r": "permanently violated"}


def test_the_world_changes_by_itself() -> None:
    watch = monitor(RULE, "(:trajectory q :formula (next (on l)))")
    assert {broken_rule.rule for broken_rule in watch.observe(["(on b)"]).breaks} == {"q", "r"}
    assert watch.letter == 1
    assert watch.observe(["(on b)"]) == ((), (), (), ())
    assert watch.letter == 1  # nothing changed: no letter


def test_an_observed_static_fact_affects_only_its_monitor() -> None:
    text = domain(
        "(:derived (ready ?x - thing) (open ?x))",
        "(:action use :parameters (?x - thing) :precondition (and (open ?x) (ready ?x)) :effect (used ?x))",
        predicates="(open ?x - thing) (ready ?x - thing) (used ?x - thing)",
    )
    rule = "(:process r :parameters (?x - thing) :forbid (and (open ?x) (used ?x)))"
    checked = checker(text, problem(objects="o - thing", goal="(used o)"), safety(rule))
    plan = Source("plan", "(use o)")
    before = checked.check(plan).headline
    watch = Monitor(checked.compiled)
    assert watch.legal() == []
    assert watch.observe(["(open o)"]).unexpected == ("(open o)",)
    assert watch.legal() == ["(use o)"]
    assert [broken.rule for broken in watch.allowed("(use o)").breaks] == ["r"]
    assert checked.check(plan).headline is before is Headline.INVALID
    assert Monitor(checked.compiled).facts() == Monitor(checked.compiled).legal() == []


@pytest.mark.parametrize(
    ("fact", "code", "help"),
    [
        ("(onn a)", "SC102", "did you mean `on`?"),
        ("(on aa)", "SC108", "did you mean `a`?"),
        ("(on)", "SC103", None),
        ("(on a) (on b)", "SC003", None),
        ("(on a", "SC002", None),
        ("(near a)", "SC003", None),
        ("(= (on a) 3)", "SC104", None),
        ("(g)", "SC104", None),
        ("()", "SC102", None),
        ("", "SC003", None),
        ("(not (on a) (on b))", "SC102", None),
        ("(= (g) x)", "SC104", None),
        ("(on (a))", "SC108", None),
    ],
)
def test_an_observation_that_is_no_fact(fact: str, code: str, help: str | None) -> None:
    watch = monitor(RULE)
    watch.take("(put l)")
    facts = watch.facts()
    with pytest.raises(ObservationError) as error:
        watch.observe(["(on b)", fact])
    assert error.value.diagnostic.code == code
    assert help in (None, error.value.diagnostic.help)
    assert watch.facts() == facts  # nothing has changed


def test_a_checker_with_errors_has_no_monitor() -> None:
    with pytest.raises(ValueError, match="unknown predicate `zzz`"):
        Monitor(checker(DOMAIN, problem(goal="(zzz)")).compiled)
    warned = DOMAIN.replace("(:types", "(:requirements :telepathy) (:types", 1)
    with pytest.raises(ValueError, match="unknown predicate `zzz`"):  # the error, not the warning before it
        Monitor(checker(warned, problem(goal="(zzz)")).compiled)


# -- verdicts ---------------------------------------------------------------------------------------------------------

PV, V, S, PS = "permanently violated", "presently violated", "presently satisfied", "permanently satisfied"


@pytest.mark.parametrize(
    ("rule", "expected"),  # after each of: start, (wash b), (put a), (wash a), (take a)
    [
        ("(:process r :forbid (on a))", [S, S, PV, PV, PV]),
        ("(:process r :on (put ?x) :require (clean ?x))", [S, S, PV, PV, PV]),
        ("(:termination r :forbid (on a))", [S, S, V, V, S]),
        ("(:obligation r :when (on a) :then (clean a))", [S, S, V, S, S]),
        ("(:obligation r :when (on a) :then (clean a) :within 0)", [S, S, PV, PV, PV]),
        ("(:trajectory r :formula (sometime (clean a)))", [V, V, V, PS, PS]),
        ("(:trajectory r :formula (sometime-before (on a) (clean b)))", [S, PS, PS, PS, PS]),
        ("(:trajectory r :formula (at-most-once (on a)))", [S, S, S, S, S]),
        ("(:trajectory r :formula (at end (on a)))", [V, V, V + "|" + S, S, V]),
        ("(:trajectory r :formula (within 3 (clean a)))", [V, V, V, PS, PS]),
        ("(:trajectory r :formula (within 2 (clean a)))", [V, V, PV, PV, PV]),
        ("(:trajectory r :formula (next (on a)))", [V, PV, PV, PV, PV]),
        ("(:trajectory r :formula (until (not (on a)) (clean b)))", [V, PS, PS, PS, PS]),
        ("(:trajectory r :formula (always (imply (on a) (once (clean b)))))", [S, S, S, S, S]),
        ("(:trajectory r :parameters (?x - cup) :formula (sometime (clean ?x)))", [V, V, V, PS, PS]),
    ],
)
def test_verdicts_along_a_trace(rule: str, expected: list[str]) -> None:
    watch = monitor(rule)
    verdicts = [watch.verdicts()["r"]]
    for step in ("(wash b)", "(put a)", "(wash a)", "(take a)"):
        watch.take(step)
        verdicts.append(watch.verdicts()["r"])
    assert all(verdict in allowed.split("|") for verdict, allowed in zip(verdicts, expected, strict=True)), verdicts


# -- online = offline -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", ["breakfast", "cleaning", "dinner", "leftovers", "visit"])
def test_online_violations_equal_the_report(root: Path, example: str) -> None:
    """Random walks over legal actions of the shipped household."""

    def source(path: Path) -> Source:
        return Source.from_bytes(str(path), path.read_bytes())

    specs = root / "specs/plansafe/specs"
    checked = Checker(
        source(root / "domains/plansafe/domains/household/domain.pddl"),
        source(root / "examples" / example / "problem.pddl"),
        [source(specs / "household.safe")],
        resolve=lambda name, _extending: source(specs / f"{name}.safe"),
    )
    assert checked.ok, checked.diagnostics
    seeds = random.Random(example)
    for _ in range(3):
        watch = Monitor(checked.compiled)
        online: set[tuple[str, tuple[tuple[str, str], ...], int]] = set()
        plan: list[str] = []
        for number in range(1, 41):
            steps = sorted(step_text(step, watch.task.objects) for step in watch.simulation.legal())
            if not steps:
                break
            plan.append(seeds.choice(steps))
            advice = watch.take(plan[-1])
            assert advice.executable
            online |= {(broken_rule.rule, broken_rule.binding, number) for broken_rule in advice.breaks}
        report = checked.check(Source("plan", "\n".join(plan)))
        offline = {
            (finding.rule, finding.binding, finding.step)
            for finding in report.findings
            if finding.rule is not None and not finding.at_end and finding.step > 0
        }
        assert report.suppressed == 0
        assert online == offline
