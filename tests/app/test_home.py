"""Test home profiles on the command line (docs/project-file.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, run_app

from plansafe.app.project.home_profile import read_home
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus
from plansafe.verifier.planning.planner_chain import make_default_planners
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairStatus
from plansafe.verifier.reporting.report import Headline, Report, Worlds

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DOMAIN = """(define (domain home) (:types stove tap - device cup)
  (:predicates (on ?d - device) (wiped) (full ?c - cup)) (:functions (load ?d - device))
  (:action wipe :effect (wiped)) (:action light :parameters (?d - device) :effect (on ?d)))"""
PROBLEM = "(define (problem p) (:domain home) (:objects gas oven - stove sink - tap mug - cup) (:init) (:goal (wiped)))"
RULES = """(define (safety heat)
  (:termination heat-off :parameters (?s - stove) :forbid (on ?s) :hazard fire :target (human property)
    :severity critical)
  (:termination tap-off :parameters (?t - tap) :forbid (on ?t) :hazard slip :target human :severity medium)
  (:process cat-dry :parameters (?t - tap) :forbid (on ?t) :hazard trapping :target animal :severity low))"""
FLAGS = ("--domain", "d.pddl", "--problem", "p.pddl", "--spec", "r.safe", "--memory-limit", "0")
OVEN = '[[exempt]]\nrule = "heat-off"\nobject = "oven"\nreason = "it has a timer"\n'


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    files = {"d.pddl": DOMAIN, "p.pddl": PROBLEM, "r.safe": RULES, "home.toml": OVEN}
    files |= {"oven.plan": "(wipe)\n(light oven)\n", "gas.plan": "(wipe)\n(light oven)\n(light gas)\n"}
    for name, text in files.items():
        Path(name).write_text(text)

    return lambda *arguments: run_app(capsys, *arguments)


def audit_with_home(home: str, plan: str, *, spec: str = RULES, problem: str = PROBLEM, **options: Any) -> Report:
    parsed = read_home(Source("home.toml", home))
    assert parsed.profile is not None, parsed.diagnostics
    sources = [Source(name, text) for name, text in (("d.pddl", DOMAIN), ("p.pddl", problem), ("r.safe", spec))]
    return Checker(*sources[:2], sources[2:], Options(home=parsed.profile, replay="always", **options)).check(
        Source("plan", plan)
    )


def used_exemptions(report: Report) -> list[tuple[str, int]]:
    return [(use.exemption.place, use.times) for use in report.verdict_basis.exempted]


# ---- effect on the verdict ------------------------------------------------------------------------------------------


def test_exempt_finding_is_reported_and_has_no_effect(run: Run) -> None:
    assert run("oven.plan", *FLAGS)[0] == 1
    code, out, _ = run("oven.plan", *FLAGS, "--home", "home.toml", "--replay", "always")
    assert code == 0
    assert "exempt: 1 finding of heat-off: it has a timer (home.toml:1)" in out
    assert "home           home.toml" in out


def test_exemption_does_not_apply_to_other_objects(run: Run) -> None:
    code, out, _ = run("gas.plan", *FLAGS, "--home", "home.toml", "--format", "json", "--replay", "always")
    report = json.loads(out)
    assert (code, report["headline"], len(report["findings"])) == (1, "UNSAFE", 1)
    assert report["findings"][0]["binding"] == {"?s": "gas"}
    (exemption,) = report["home"]["exemptions"]
    assert (exemption["used"], exemption["objects"], exemption["rules"]) == (1, ["oven"], ["heat-off"])
    assert [f["replayed"] for f in exemption["findings"]] == [True]
    assert {rule["name"]: (rule["violations"], rule["exempted"]) for rule in report["rules"]}["heat-off"] == (1, 1)


@pytest.mark.parametrize(
    ("entry", "times"),
    [
        ('hazard = "fire"', 2),
        ('hazard = "slip"', 0),
        ('kind = "stove"', 2),
        ('kind = "device"\nobject = "gas"', 1),
        ('kind = "tap"\nobject = "gas"', 0),
        ('object = ["GAS", "oven"]', 2),
        ('rule = ["heat-off", "tap-off"]', 2),
        ('rule = "heat-off"\nhazard = "slip"', 0),
    ],
)
def test_entry_selects_findings(entry: str, times: int) -> None:
    report = audit_with_home(f'[[exempt]]\n{entry}\nreason = "why"\n', "(wipe)\n(light oven)\n(light gas)\n")
    assert used_exemptions(report) == ([("home.toml:1", times)] if times else [])
    assert report.safe is (Worlds.ALL if times == 2 else Worlds.NONE)


def test_first_matching_entry_is_used() -> None:
    report = audit_with_home(
        OVEN + '[[exempt]]\nhazard = "fire"\nreason = "stone house"\n', "(wipe)\n(light oven)\n(light gas)\n"
    )
    assert used_exemptions(report) == [("home.toml:1", 1), ("home.toml:5", 1)]


def test_disabled_rules_are_removed_and_reported() -> None:
    report = audit_with_home('[[off]]\nhazard = "fire"\nreason = "why"\n', "(wipe)\n(light oven)\n")
    assert (report.headline, "heat-off" in [rule.name for rule in report.rules]) == (Headline.SAFE, False)
    assert report.home is not None
    assert [(c.rule, c.before, c.after, c.reason) for c in report.home.changes] == [
        ("heat-off", "critical", "off", "why")
    ]


@pytest.mark.parametrize(("least", "headline"), [("low", Headline.UNSAFE), ("medium", Headline.VALID)])
def test_severities_of_the_profile_apply_in_engine_and_kernel(least: str, headline: Headline) -> None:
    home = '[[severity]]\nrule = ["heat-off", "tap-off"]\nto = "low"\nreason = "why"\n'
    report = audit_with_home(home, "(wipe)\n(light oven)\n", min_severity=least)
    assert report.headline is headline
    assert {rule.severity for rule in report.rules} == {"low"}


# ---- the residents --------------------------------------------------------------------------------------------------


def test_harm_to_animals_is_exempt_without_pets() -> None:
    plan = "(light sink)\n(wipe)\n"
    report = audit_with_home("[who]\npets = false\n", plan)
    assert report.headline is Headline.UNSAFE  # people can slip
    assert [(use.exemption.reason, [f.rule for f in use.findings]) for use in report.verdict_basis.exempted] == [
        ("no pets live here", ["cat-dry"])
    ]
    assert used_exemptions(audit_with_home("[who]\npets = true\n", plan)) == []


def test_residents_raise_severities_by_one_level() -> None:
    home = "[who]\nelderly = true\nchildren = true\n"
    assert {rule.name: rule.severity for rule in audit_with_home(home, "(wipe)").rules} == {
        "heat-off": "critical",
        "tap-off": "high",
        "cat-dry": "low",
    }
    with_severity = home + '[[severity]]\nhazard = "slip"\nto = "low"\nreason = "carpets"\n'
    assert {rule.name: rule.severity for rule in audit_with_home(with_severity, "(wipe)").rules}["tap-off"] == "low"


# ---- limits of exemptions -------------------------------------------------------------------------------------------

UNSURE = "(define (safety unsure) (:process light-load :parameters (?d - device) :forbid (> (load ?d) 3)))"


def test_undecided_plan_stays_unknown() -> None:
    home = '[[exempt]]\nrule = "light-load"\nreason = "why"\n'
    report = audit_with_home(home, "(wipe)\n", spec=UNSURE)
    assert (report.headline, report.safe, report.exit_code) == (Headline.UNKNOWN, Worlds.UNKNOWN, 3)


def test_inexecutable_plan_stays_invalid() -> None:
    exempt_all = '[[exempt]]\nrule = ["heat-off", "tap-off", "cat-dry"]\nreason = "why"\n'
    assert audit_with_home(exempt_all, "(light oven)\n").headline is Headline.INVALID
    assert audit_with_home(exempt_all, "(wipe)\n(lihgt oven)\n").exit_code == 2


def test_safety_is_not_decided_if_all_rules_are_exempt(run: Run) -> None:
    Path("home.toml").write_text('[[exempt]]\nrule = ["heat-off", "tap-off", "cat-dry"]\nreason = "why"\n')
    code, out, _ = run("oven.plan", *FLAGS, "--home", "home.toml", "--format", "json")
    assert (code, json.loads(out)["headline"], json.loads(out)["safe"]) == (0, "VALID", None)
    code, out, _ = run("oven.plan", *FLAGS, "--home", "home.toml", "--gate")
    assert code == 2
    assert "SC620" in out


def test_pre_existing_violation_uses_no_exemption() -> None:
    lit = PROBLEM.replace("(:init)", "(:init (on oven))")
    report = audit_with_home(OVEN, "(wipe)\n", problem=lit, judge="introduced")
    assert (report.headline, report.verdict_basis.before, used_exemptions(report)) == (Headline.SAFE, 1, [])
    assert used_exemptions(audit_with_home(OVEN, "(wipe)\n", problem=lit)) == [("home.toml:1", 1)]


# ---- sources of profiles ---------------------------------------------------------------------------------------------


def test_project_file_names_the_profile_except_with_gate(run: Run) -> None:
    Path("safecheck.toml").write_text(
        'domain = "d.pddl"\nproblem = "p.pddl"\nspecifications = ["r.safe"]\nhome = "home.toml"\n'
    )
    assert run("oven.plan")[0] == 0
    assert run("oven.plan", "--gate")[0] == 1
    assert run("oven.plan", "--gate", "--home", "home.toml")[0] == 0
    assert run("oven.plan", "--no-project", *FLAGS)[0] == 1
    assert "home.toml" in run("--show-config")[1]


def test_profile_is_not_overwritten(run: Run) -> None:
    code, _, err = run("oven.plan", *FLAGS, "--home", "home.toml", "--output", "home.toml")
    assert (code, Path("home.toml").read_text()) == (2, OVEN)
    assert "SC640" in err


FIRE = '[[exempt]]\nhazard = "fire"\nreason = "stone house"\n'


def test_exempt_rule_is_not_repaired(run: Run) -> None:
    Path("home.toml").write_text(FIRE)
    Path("both.plan").write_text("(light sink)\n(light oven)\n(wipe)\n")
    flags = (*FLAGS, "--home", "home.toml")
    code, out, _ = run("repair", "oven.plan", *flags)
    assert code == 0
    assert "nothing to repair\nexempt: 1 finding of heat-off: stone house (home.toml:1)" in out
    code, out, _ = run("repair", "both.plan", *flags, "--format", "json")
    (best, *_) = json.loads(out)["repairs"]
    assert (code, best["headline"], best["steps"]) == (0, "SAFE", ["(light oven)", "(wipe)"])
    assert best["left"] == {"before": 0, "minor": 0, "exempt": 1}
    assert "--- both.plan" in run("both.plan", *flags, "--diff")[1]
    assert run("both.plan", *flags, "--fix")[0] == 0
    assert Path("both.plan").read_text() == "(light oven)\n(wipe)\n"


def test_proof_that_no_repair_exists_mentions_exemptions(run: Run) -> None:
    Path("p.pddl").write_text(PROBLEM.replace("(wiped)", "(and (on oven) (on sink))"))
    Path("home.toml").write_text(FIRE)
    code, out, _ = run("diagnose", "oven.plan", *FLAGS, "--home", "home.toml")
    assert code == 1
    assert "PROVED: no plan reaches the goal and keeps the rules (apart from exemptions)" in out
    Path("home.toml").write_text(FIRE.replace('"fire"', '["fire", "slip", "trapping"]'))
    code, out, _ = run("repair", "oven.plan", *FLAGS, "--home", "home.toml")
    assert code == 0
    assert "VALID   the repaired plan" in out


def test_plan_with_an_undecided_exempt_rule_is_not_a_repair(run: Run) -> None:
    Path("r.safe").write_text(UNSURE)
    Path("home.toml").write_text('[[exempt]]\nrule = "light-load"\nreason = "why"\n')
    code, out, _ = run("repair", "oven.plan", *FLAGS, "--home", "home.toml")
    assert code in (1, 3)
    assert "nearest safe plan" not in out


def test_repair_is_unsupported_if_a_rule_is_exempt_for_some_objects(run: Run) -> None:
    code, out, _ = run("repair", "oven.plan", *FLAGS, "--home", "home.toml")
    assert (code, "nothing to repair" in out) == (0, True)
    for command in (("repair",), ("diagnose",)):
        code, out, _ = run(*command, "gas.plan", *FLAGS, "--home", "home.toml")
        assert code == 3
        assert "plans cannot be repaired if a rule is exempt for only some objects" in out
        assert "PROVED" not in out
    code, _, err = run("gas.plan", *FLAGS, "--home", "home.toml", "--diff")
    assert code == 3
    assert "exempt for only some objects" in err


def test_exemption_for_objects_of_other_tasks_allows_repair(run: Run) -> None:
    Path("home.toml").write_text(OVEN.replace('"oven"', '"grill"'))
    code, out, _ = run("repair", "gas.plan", *FLAGS, "--home", "home.toml")
    assert code == 0
    assert "nearest safe plan" in out


def test_disabled_rules_and_severities_apply_to_repairs(run: Run) -> None:
    Path("home.toml").write_text('[[off]]\nhazard = "fire"\nreason = "why"\n')
    assert "nothing to repair" in run("repair", "gas.plan", *FLAGS, "--home", "home.toml")[1]
    Path("home.toml").write_text('[[severity]]\nhazard = "fire"\nto = "low"\nreason = "why"\n')
    flags = (*FLAGS, "--home", "home.toml", "--min-severity", "medium")
    assert "nothing to repair" in run("repair", "gas.plan", *flags)[1]


@pytest.mark.parametrize("flags", [("--home", "home.toml"), ("--kind", "hob=toxic"), ("--assume-harmless", "hob")])
def test_published_labels_refuse_a_profile(run: Run, flags: tuple[str, str]) -> None:
    code, _, err = run("diagnose", "gas.plan", *FLAGS, *flags, "--labels", "safel")
    assert code == 2
    assert "--labels takes no profile" in err


def test_sarif_suppresses_exempt_findings(run: Run) -> None:
    _, out, _ = run("oven.plan", *FLAGS, "--home", "home.toml", "--format", "sarif")
    results = json.loads(out)["runs"][0]["results"]
    suppressions = [s for r in results if r["ruleId"] == "heat-off" for s in r["suppressions"]]
    assert suppressions == [{"kind": "external", "status": "accepted", "justification": "it has a timer"}]


def test_all_shows_exempt_findings(run: Run) -> None:
    flags = (*FLAGS, "--home", "home.toml")
    assert "note[SC203]" not in run("oven.plan", *flags)[1]
    out = run("oven.plan", *flags, "--all")[1]
    assert "note[SC203]: rule `heat-off` is violated" in out
    assert "exempt: it has a timer (home.toml:1)" in out


# ---- mistakes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("home", "messages"),
    [
        ("[[exempt]]\nrule =", ["SC624", "is not TOML"]),
        ('[[exempt]]\nrule = "heat-off"\n', ["SC624", "needs a reason", "home.toml:1:3"]),
        ('[[exempt]]\nrule = "heat-off"\nreason = " "\n', ["SC624", "needs a reason", "home.toml:3:1"]),
        ('[[exempt]]\nreason = "why"\n', ["SC624", "does not select any finding"]),
        ('[[exempt]]\nrules = "x"\nreason = "why"\n', ["SC624", "`rules` is not a key", "did you mean `rule`?"]),
        ('[[exempt]]\nrule = 3\nreason = "why"\n', ["SC624", "must be a name"]),
        ('[[exempts]]\nrule = "x"\n', ["SC624", "not a table of a profile", "did you mean `exempt`?"]),
        ('exempt = "heat-off"\n', ["SC624", "must be a list of tables"]),
        ('[[off]]\nobject = "oven"\nreason = "why"\n', ["SC624", "`object` is not a key of `off`"]),
        (
            '[[severity]]\nrule = "heat-off"\nto = "lowest"\nreason = "why"\n',
            ["SC624", "`to` must be one of", "home.toml:3:1"],
        ),
        ("[who]\nchild = true\n", ["SC624", "did you mean `children`?"]),
        ("[who]\nchildren = 2\n", ["SC624", "must be true or false"]),
        ("who = 3\n", ["SC624", "`who` must be a table"]),
        ('[[exempt]]\nrule = "heat-of"\nreason = "why"\n', ["SC625", "did you mean `heat-off`?"]),
        ('[[exempt]]\nhazard = "fires"\nreason = "why"\n', ["SC625", "no hazard", "did you mean `fire`?"]),
        ('[[exempt]]\nkind = "stoves"\nreason = "why"\n', ["SC625", "no kind", "did you mean `stove`?"]),
        ('[[off]]\nrule = "heat-of"\nreason = "why"\n', ["SC625", "did you mean `heat-off`?"]),
    ],
)
def test_mistakes(run: Run, home: str, messages: list[str]) -> None:
    Path("home.toml").write_text(home)
    code, out, _ = run("oven.plan", *FLAGS, "--home", "home.toml")
    assert code == 2
    assert "NOT CHECKED" in out
    assert [text for text in messages if text not in out] == []


def test_missing_profile_is_reported(run: Run) -> None:
    code, out, _ = run("oven.plan", *FLAGS, "--home", "nowhere.toml")
    assert code == 2
    assert "SC601" in out or "SC001" in out


def test_exemption_that_cannot_be_used_is_a_note(run: Run) -> None:
    Path("home.toml").write_text('[[exempt]]\nrule = "heat-off"\nobject = "mug"\nreason = "why"\n')
    code, out, _ = run("oven.plan", *FLAGS, "--home", "home.toml")
    assert code == 1
    assert "note[SC626]: the exemption of rule heat-off, object mug can never be used" in out
    assert "SC626" in run("oven.plan", *FLAGS, "--home", "home.toml", "--show-config")[2]


@pytest.mark.parametrize(
    ("objects", "code", "messages"),
    [
        ('"ovn"', 1, ["no object of this task is named `ovn`", "can never be used", "did you mean `oven`?"]),
        ('"grill-of-the-garden"', 1, ["if it belongs to another task of this home"]),
        ('["ovn", "oven"]', 0, ["named `ovn`", "is used only for the other objects", "exempt: 1 finding of heat-off"]),
        ('["a1", "b2", "c3", "d4", "e5"]', 1, ["named `a1` or `b2` or `c3` or 2 more"]),
    ],
)
def test_an_object_of_another_task_is_a_note(run: Run, objects: str, code: int, messages: list[str]) -> None:
    Path("home.toml").write_text(f'[[exempt]]\nrule = "heat-off"\nobject = {objects}\nreason = "why"\n')
    exit_code, out, _ = run("oven.plan", *FLAGS, "--home", "home.toml", "--replay", "always")
    assert exit_code == code
    assert "note[SC626]" in out
    assert [text for text in messages if text not in out] == []


def test_missing_object_does_not_exempt_its_kind() -> None:
    home = '[[exempt]]\nkind = "stove"\nobject = "grill"\nreason = "why"\n'
    report = audit_with_home(home, "(wipe)\n(light oven)\n")
    assert (report.headline, used_exemptions(report)) == (Headline.UNSAFE, [])
    assert report.home is not None
    assert [exemption.objects for exemption in report.home.exemptions] == [frozenset()]


def test_deep_nesting_is_refused_and_controls_are_escaped(run: Run) -> None:
    Path("home.toml").write_text("a = " + "[" * 5000)
    assert run("oven.plan", *FLAGS, "--home", "home.toml")[0] == 2
    Path("home.toml").write_text('[[exempt]]\nobject = "\\u001b[31moven"\nreason = "why"\n')
    code, out, _ = run("oven.plan", *FLAGS, "--home", "home.toml")
    assert code == 1
    assert "SC626" in out
    assert "\x1b" not in out


# ---- worlds, certificates, examples ---------------------------------------------------------------------------------

OPEN = PROBLEM.replace("(:init)", "(:init (unknown (on gas)) (unknown (on oven)))")


@pytest.mark.parametrize("engine", ["auto", "smt"])
def test_exemption_in_possible_worlds(engine: str) -> None:
    assert audit_with_home(OVEN, "(wipe)\n", problem=OPEN, engine=engine).safe is Worlds.SOME
    both = OVEN.replace('"oven"', '["oven", "gas"]')
    report = audit_with_home(both, "(wipe)\n", problem=OPEN, engine=engine)
    assert (report.headline, report.safe) == (Headline.SAFE, Worlds.ALL)


def test_exemption_in_unordered_and_timed_plans() -> None:
    unordered = "(define (plan p) (:steps (a (wipe)) (b (light oven)) (c (wipe))) (:ordering (< a b)))"
    assert audit_with_home(OVEN, unordered).headline is Headline.SAFE
    assert audit_with_home(OVEN, unordered.replace("oven", "gas")).headline is Headline.UNSAFE
    assert audit_with_home(OVEN, "0: (wipe)\n1: (light oven)\n").headline is Headline.SAFE


def test_certificate_names_exemptions(run: Run) -> None:
    Path("p.pddl").write_text(OPEN)
    Path("home.toml").write_text(OVEN.replace('"oven"', '["oven", "gas"]'))
    Path("wipe.plan").write_text("(wipe)\n")
    certified = ("wipe.plan", *FLAGS, "--home", "home.toml")
    code, _, err = run(*certified, "--certificate", "proof", "--engine", "sat")
    assert code == 0, err
    assert 'c exempt "rule heat-off, object oven or gas: it has a timer"' in Path("proof").read_text()
    code, out, _ = run("audit", "--verify-certificate", "proof", "--memory-limit", "0")
    assert code == 0
    assert "does not cover exempt findings: rule heat-off, object oven or gas: it has a timer" in out
    assert run("audit", "--verify-certificate", "proof", *certified)[0] == 0
    Path("home.toml").write_text(Path("home.toml").read_text().replace("it has a timer", "no reason"))
    code, _, err = run("audit", "--verify-certificate", "proof", *certified)
    assert code == 1
    assert "for other exemptions" in err
    assert run("audit", "--verify-certificate", "proof", "wipe.plan", *FLAGS)[0] == 1


def test_example(run: Run) -> None:
    plan, home = str(EXAMPLES / "visit/heater-left-on.plan"), str(EXAMPLES / "visit/home.toml")
    code, out, _ = run(plan, "--home", home, "--memory-limit", "0", "--replay", "always")
    assert code == 0
    assert "a thermostat switches it off" in out
    assert "fridge-closed-again: the fridge shuts by itself" in out


@pytest.mark.slow
def test_virtualhome(run: Run) -> None:
    plan, scene = str(EXAMPLES / "virtualhome/warm-milk.txt"), str(EXAMPLES / "virtualhome/home.json")
    flags = (plan, "--world", "virtualhome", "--scene", scene, "--memory-limit", "0", "--format", "json")
    assert run(*flags)[0] == 1
    Path("home.toml").write_text(
        '[[exempt]]\nkind = "heat-source"\nhazard = "fire"\nreason = "induction, with a timer"\n'
    )
    code, out, _ = run(*flags, "--home", "home.toml")
    report = json.loads(out)
    assert (code, report["headline"]) == (0, "SAFE")
    (exemption,) = report["home"]["exemptions"]
    assert exemption["used"] == 2
    assert {f["rule"] for f in exemption["findings"]} == {"heat-attended", "heat-off-at-the-end"}


def test_search_is_unsupported_for_partial_exemptions() -> None:
    profile = read_home(Source("home.toml", OVEN)).profile
    sources = [Source(name, text) for name, text in (("d.pddl", DOMAIN), ("p.pddl", PROBLEM), ("r.safe", RULES))]
    checker = Checker(*sources[:2], sources[2:], Options(home=profile))
    answer = repair(checker, Source("plan", "(wipe)\n(light gas)\n"))
    assert (answer.status, answer.detail[:24]) == (RepairStatus.NOT_FOUND, "plans cannot be repaired")
    assert ForwardSearch().solve(PlanningQuery(checker)).status is PlanningStatus.UNSUPPORTED


def test_planners_ignore_exempt_rules() -> None:
    problem = PROBLEM.replace("(wiped)", "(on oven)")
    sources = [Source(name, text) for name, text in (("d.pddl", DOMAIN), ("p.pddl", problem), ("r.safe", RULES))]
    for home, answer in ((FIRE, PlanningStatus.SOLVED), (FIRE.replace("fire", "slip"), PlanningStatus.UNSOLVABLE)):
        checker = Checker(*sources[:2], sources[2:], Options(home=read_home(Source("home.toml", home)).profile))
        assert [p.solve(PlanningQuery(checker)).status for p in (ForwardSearch(), make_default_planners())] == [
            answer,
            answer,
        ]
