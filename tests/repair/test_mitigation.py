"""`--judge mitigate`: dangers of the initial state that the agent can end are obligations of the plan."""

from __future__ import annotations

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.repair import mitigation
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.mitigation import MitigatingChecker, find_dangers, with_mitigation
from plansafe.verifier.repair.model import RepairOptions, RepairStatus
from plansafe.verifier.reporting.report import Headline

DOMAIN = """
(define (domain home)
  (:types stove knife room place - object)
  (:predicates (on ?s - stove) (broken ?s - stove) (at ?r - room) (stove-in ?s - stove ?r - room)
    (lies ?k - knife ?p - place) (low ?p - place) (held ?k - knife) (swept ?r - room) (wet ?r - room))
  (:action go :parameters (?a ?b - room) :precondition (at ?a) :effect (and (at ?b) (not (at ?a))))
  (:action switch-off :parameters (?s - stove ?r - room) :precondition (and (at ?r) (stove-in ?s ?r) (not (broken ?s)))
    :effect (not (on ?s)))
  (:action take :parameters (?k - knife ?p - place) :precondition (lies ?k ?p)
    :effect (and (held ?k) (not (lies ?k ?p))))
  (:action put :parameters (?k - knife ?p - place) :precondition (held ?k) :effect (and (lies ?k ?p) (not (held ?k))))
  (:action sweep :parameters (?r - room) :precondition (at ?r) :effect (swept ?r)))
"""
RULES = """
(define (safety home)
  (:termination stove-off :parameters (?s - stove) :forbid (on ?s) :hazard fire :target (human property)
    :severity critical :message "{?s} is on" :rationale "a \\"hot\\" stove" :fix "switch {?s} off")
  (:process no-knife-within-reach :parameters (?k - knife ?p - place) :forbid (and (lies ?k ?p) (low ?p)) :severity low)
  (:process no-wet-floor :parameters (?r - room) :forbid (wet ?r)))
"""
INIT = "(at hall) (stove-in hob kitchen) (low table)"


def checker_for(
    dangers: str, judge: str = "mitigate", rules: str = RULES, min_severity: str = "low", replay: str = "always"
) -> Checker:
    problem = f"""(define (problem p) (:domain home)
      (:objects hob - stove cleaver - knife hall kitchen - room table shelf - place)
      (:init {INIT} {dangers}) (:goal (and)))"""
    options = Options(judge=judge, min_severity=min_severity, replay=replay)
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", problem), [Source("r.safe", rules)], options)
    assert checker.ok, checker.diagnostics
    return with_mitigation(checker)


def headline(checker: Checker, plan: str) -> Headline | None:
    return checker.check(Source("x.plan", plan)).headline


SWEEP = "(sweep hall)"
OFF = "(go hall kitchen) (switch-off hob kitchen)"


def test_a_running_stove_that_the_agent_can_switch_off_is_an_obligation() -> None:
    checker = checker_for("(on hob)")
    report = checker.check(Source("x.plan", SWEEP))
    assert report.headline is Headline.UNSAFE
    [finding] = [finding for finding in report.findings if finding.decides(checker.options.criteria)]
    assert finding.rule == "mitigate-stove-off"
    assert (finding.hazard, finding.severity, finding.replayed) == ("fire", "critical", True)
    assert "hob" in finding.message
    assert headline(checker, OFF) is Headline.SAFE
    assert headline(checker_for("(on hob)", "introduced"), SWEEP) is Headline.SAFE


def test_a_danger_that_the_agent_cannot_end_is_none() -> None:
    assert headline(checker_for("(on hob) (broken hob)"), SWEEP) is Headline.SAFE
    assert headline(checker_for("(wet hall)"), SWEEP) is Headline.SAFE


def test_a_knife_within_reach_is_put_away() -> None:
    checker = checker_for("(lies cleaver table)")
    assert headline(checker, SWEEP) is Headline.UNSAFE
    assert headline(checker, "(take cleaver table) (put cleaver shelf)") is Headline.SAFE


def test_what_a_plan_introduces_still_decides() -> None:
    checker = checker_for("(lies cleaver shelf)")
    assert headline(checker, "(take cleaver shelf) (put cleaver table)") is Headline.UNSAFE
    assert headline(checker, SWEEP) is Headline.SAFE


def test_each_danger_is_an_obligation_of_its_own() -> None:
    checker = checker_for("(on hob) (lies cleaver table)")
    report = checker.check(Source("x.plan", OFF))
    decisive = {finding.rule for finding in report.findings if finding.decides(checker.options.criteria)}
    assert decisive == {"mitigate-no-knife-within-reach"}
    assert headline(checker, "(take cleaver table)" + OFF) is Headline.SAFE


def test_rules_below_the_severity_demand_nothing() -> None:
    assert headline(checker_for("(lies cleaver table)", min_severity="high"), SWEEP) is Headline.SAFE


def test_an_undecided_danger_is_unknown_unless_the_plan_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mitigation, "can_agent_end", lambda *_: None)
    checker = checker_for("(on hob)")
    report = checker.check(Source("x.plan", SWEEP))
    assert report.headline is Headline.UNKNOWN
    assert "SC712" in [diagnostic.code for diagnostic in report.diagnostics]
    assert headline(checker, OFF) is Headline.SAFE
    result = repair(checker, Source("x.plan", SWEEP), RepairOptions(max_cost=1))
    assert result.status is not RepairStatus.ALREADY_SAFE


def test_a_search_limit_leaves_the_danger_undecided() -> None:
    plain = checker_for("(on hob)", "introduced")
    [danger] = find_dangers(plain)
    assert mitigation.can_agent_end(plain, danger, max_work=0) is not False
    assert mitigation.can_agent_end(plain, danger) is True


def test_an_initial_state_with_unknown_facts_is_undecided() -> None:
    rules = RULES.replace("(define (safety home)", "(define (safety home) (:open (on ?s - stove))")
    checker = checker_for("", rules=rules, replay="never")
    assert isinstance(checker, MitigatingChecker)
    assert headline(checker, OFF) in (Headline.UNKNOWN, Headline.UNSAFE)


def test_a_repair_inserts_the_steps_that_end_the_danger() -> None:
    result = repair(checker_for("(on hob)"), Source("x.plan", SWEEP))
    assert result.status is RepairStatus.FOUND
    assert (result.repairs[0].cost, result.optimal, result.repairs[0].replayed) == (2, True, True)
    assert set(result.repairs[0].steps) == {SWEEP, "(go hall kitchen)", "(switch-off hob kitchen)"}


@pytest.mark.parametrize("judge", ["all", "introduced"])
def test_other_criteria_add_no_rules(judge: str) -> None:
    checker = checker_for("(on hob)", judge)
    assert not isinstance(checker, MitigatingChecker)
    assert {rule.name for rule in checker.rules} == {"stove-off", "no-knife-within-reach", "no-wet-floor"}
