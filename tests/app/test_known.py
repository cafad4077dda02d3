"""Test baselines, and rules that are ignored, selected or allowed: their effect on the verdict is always reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, run_app
from format_checks import Command, github_lines, gitlab_issues, json_lines, junit_suites, sarif_log

DOMAIN = """(define (domain home) (:types stove) (:predicates (on ?s - stove) (wiped) (ready))
  (:action wipe :precondition (ready) :effect (wiped)) (:action light :parameters (?s - stove) :effect (on ?s)))"""
PROBLEM = """(define (problem p) (:domain home) (:objects gas oven - stove) (:init (ready)) (:goal (wiped)))"""
RULES = """(define (safety heat)
  (:termination heat-off :parameters (?s - stove) :forbid (on ?s) :hazard fire :target human :severity high)
  (:termination gas-off :forbid (on gas) :hazard fire :target human :severity high))"""
FLAGS = ("--domain", "d.pddl", "--problem", "p.pddl", "--spec", "r.safe", "--memory-limit", "0")
WHY = ("--ignore", "heat-off: it has a timer")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    files = {"d.pddl": DOMAIN, "p.pddl": PROBLEM, "r.safe": RULES}
    files |= {"oven.plan": "(wipe)\n(light oven)\n", "gas.plan": "(wipe)\n(light gas)\n", "good.plan": "(wipe)\n"}
    for name, text in files.items():
        Path(name).write_text(text)

    return lambda *arguments: run_app(capsys, *arguments, *FLAGS)


def audit_report(run: Run, *arguments: str) -> tuple[int, Any]:
    code, out, _ = run(*arguments, "--format", "json")
    (report,) = json_lines(out, "report-1")
    return code, report


# ---- baselines ------------------------------------------------------------------------------------------------------


def test_known_findings_are_counted_and_do_not_fail(run: Run) -> None:
    assert run("oven.plan", "good.plan", "--write-baseline", "known.json")[0] == 0
    code, report = audit_report(run, "oven.plan", "--baseline", "known.json")
    assert (code, report["exit_code"], report["headline"], len(report["findings"])) == (0, 0, "UNSAFE", 1)
    assert report["baseline"] == {"file": "known.json", "known": [0], "new": 0, "gone": []}
    for form in ("full", "concise", "github", "gitlab", "sarif", "junit"):
        code, out, _ = run("oven.plan", "--baseline", "known.json", "--format", form)
        assert code == 0
        assert "baseline known.json: 1 known, 0 new" in out
        assert "UNSAFE" in out or form == "sarif"


def test_new_findings_fail(run: Run) -> None:
    run("oven.plan", "--write-baseline", "known.json")
    Path("oven.plan").write_text("; a line more\n(wipe)\n(light gas)\n(light oven)\n")
    code, report = audit_report(run, "oven.plan", "--baseline", "known.json")
    assert (code, report["baseline"]["new"], len(report["baseline"]["known"])) == (1, 2, 1)
    _, out, _ = run("oven.plan", "--baseline", "known.json", "--format", "sarif")
    states = [r["baselineState"] for r in sarif_log(out)["runs"][0]["results"]]
    assert sorted(states) == ["new", "new", "unchanged"]
    _, out, _ = run("oven.plan", "--baseline", "known.json", "--format", "github")
    assert len([line for line in github_lines(out) if isinstance(line, Command)]) == 2
    _, out, _ = run("oven.plan", "--baseline", "known.json", "--format", "junit")
    (suite,) = junit_suites(out)
    assert suite.attrib["failures"] == "3"  # the verdict, and two rules


def test_findings_that_are_gone_are_reported(run: Run) -> None:
    run("oven.plan", "gas.plan", "--write-baseline", "known.json")
    Path("oven.plan").write_text("(wipe)\n")
    code, report = audit_report(run, "oven.plan", "--baseline", "known.json")
    assert (code, report["headline"]) == (0, "SAFE")
    assert [entry["rule"] for entry in report["baseline"]["gone"]] == ["heat-off"]
    _, out, err = run("oven.plan", "--baseline", "known.json", "--format", "concise")
    assert "baseline known.json: gone: heat-off: " in out
    assert "baseline: 2 of its findings are in 1 plans that were not audited to the end" in err
    _, out, _ = run("oven.plan", "--baseline", "known.json", "--format", "sarif")
    (result,) = sarif_log(out)["runs"][0]["results"]
    assert (result["baselineState"], result["ruleId"]) == ("absent", "heat-off")


def test_baseline_has_the_fingerprints_of_sarif(run: Run) -> None:
    run("gas.plan", "oven.plan", "--write-baseline", "known.json")
    stored = {entry["fingerprint"] for entry in json.loads(Path("known.json").read_text())["findings"]}
    log = sarif_log(run("gas.plan", "oven.plan", "--format", "sarif")[1])
    assert stored == {result["partialFingerprints"]["safecheck/v1"] for result in log["runs"][0]["results"]}
    assert len(stored) == 3


def test_undecided_plans_are_never_known(run: Run) -> None:
    """Ill-formed steps, undecided plans and unlisted findings fail with a baseline as without one."""
    Path("ill.plan").write_text("(wipe)\n(light moon)\n(light oven)\n")
    code, _, _ = run("ill.plan", "--write-baseline", "known.json")
    assert code == run("ill.plan")[0] == run("ill.plan", "--baseline", "known.json")[0] == 2
    Path("many.plan").write_text("(wipe)\n(light oven)\n(light gas)\n")
    run("many.plan", "--write-baseline", "known.json", "--max-findings", "1")
    code, out, _ = run("many.plan", "--baseline", "known.json", "--max-findings", "1")
    assert code == 1
    assert "not all findings are listed or decided" in out


def test_findings_in_possible_worlds_are_never_known(run: Run) -> None:
    """The findings belong to witnesses; another world may have different findings."""
    Path("p.pddl").write_text(PROBLEM.replace("(:init (ready))", "(:init (unknown (on gas)) (ready))"))
    assert run("good.plan")[0] == run("good.plan", "--write-baseline", "known.json")[0] == 1
    code, out, _ = run("good.plan", "--baseline", "known.json", "--format", "concise")
    assert code == 1
    assert "not all findings are listed or decided" in out


def test_finding_below_the_severity_level_is_not_in_the_baseline(run: Run) -> None:
    """A finding below the baseline's --min-severity is new with a lower level."""
    run("oven.plan", "--write-baseline", "known.json", "--min-severity", "critical")
    assert json.loads(Path("known.json").read_text())["findings"] == []
    assert run("oven.plan", "--baseline", "known.json")[0] == 1


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"version": 2, "fingerprints": "safecheck/v1", "findings": []}',
        '{"version": 1, "fingerprints": "other", "findings": []}',
        '{"version": 1, "fingerprints": "safecheck/v1"}',
        '{"version": 1, "fingerprints": "safecheck/v1", "findings": [{"plan": "x"}]}',
        "[" * 100_000,
        "\udcff",
    ],
)
def test_invalid_baseline_is_refused(run: Run, text: str) -> None:
    Path("known.json").write_text(text, errors="surrogateescape")
    code, _, err = run("oven.plan", "--baseline", "known.json")
    assert (code, "error[SC627]" in err) == (2, True)


def test_options_that_exclude_a_baseline_are_refused(run: Run) -> None:
    assert "SC627" in run("oven.plan", "--baseline", "gone.json")[2]
    for flags in (("--fix",), ("--diff",), ("--blame", "introduced"), ("-o", "known.json")):
        code, _, err = run("oven.plan", "--write-baseline", "known.json", *flags)
        assert (code, "SC607" in err, Path("known.json").exists()) == (2, True, False)
    assert run("oven.plan", "--write-baseline", "oven.plan")[0] == 2
    assert Path("oven.plan").read_text().startswith("(wipe)")


# ---- ignored, selected and allowed rules ----------------------------------------------------------------------------


def test_ignored_rule_is_reported_and_has_no_effect(run: Run) -> None:
    code, report = audit_report(run, "oven.plan", *WHY)
    assert (code, report["headline"], report["findings"]) == (0, "SAFE", [])
    (exemption,) = report["home"]["exemptions"]
    assert (exemption["used"], exemption["reason"], exemption["place"]) == (1, "it has a timer", "--ignore")
    for form in ("full", "concise", "github", "gitlab"):
        assert "exempt: 1 finding of heat-off: it has a timer (--ignore)" in run("oven.plan", *WHY, "--format", form)[1]
    (result,) = sarif_log(run("oven.plan", *WHY, "--format", "sarif")[1])["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "external", "status": "accepted", "justification": "it has a timer"}]
    (suite,) = junit_suites(run("oven.plan", *WHY, "--format", "junit")[1])
    assert [node.attrib["message"] for node in suite.iter("skipped")] == ["exempt (1 found): it has a timer (--ignore)"]
    issues = gitlab_issues(run("oven.plan", *WHY, "--format", "gitlab")[1])
    assert [(issue["check_name"], issue["severity"]) for issue in issues] == [("verdict", "info")]


def test_ignored_rule_is_reported_for_possible_worlds(run: Run) -> None:
    """Its findings are not counted, but the report names the exempt rule and the reason next to SAFE."""
    Path("p.pddl").write_text(PROBLEM.replace("(:init (ready))", "(:init (unknown (on gas)) (ready))"))
    code, out, _ = run("good.plan", *WHY, "--ignore", "gas-off: the main tap is shut", "--format", "full")
    assert code == 0, out
    assert "exempt in every world: gas-off: the main tap is shut (--ignore)" in out


def test_only_selected_rules_decide(run: Run) -> None:
    assert run("oven.plan", "--select", "gas-off: about gas")[0] == 0
    code, report = audit_report(run, "gas.plan", "--select", "gas-off: about gas")
    assert (code, [finding["rule"] for finding in report["findings"]]) == (1, ["gas-off"])
    (exemption,) = report["home"]["exemptions"]
    assert (exemption["rules"], exemption["reason"]) == (["heat-off"], "not selected: about gas")


def test_plan_is_not_safe_if_all_rules_are_ignored(run: Run) -> None:
    ignore_all = (*WHY, "--ignore", "gas-off: no gas here")
    assert audit_report(run, "good.plan", *ignore_all)[1]["headline"] == "VALID"
    code, report = audit_report(run, "good.plan", *ignore_all, "--gate")
    assert (code, "SC620" in [d["code"] for d in report["diagnostics"]]) == (2, True)


@pytest.mark.parametrize("text", ["heat-off", "heat-off:", ": why", ""])
def test_ignoring_a_rule_needs_a_reason(run: Run, text: str) -> None:
    for flag in ("--ignore", "--select"):
        for verb in ((), ("repair",)):
            assert "SC607" in run(*verb, "oven.plan", flag, text)[2]


def test_misspelt_rule_is_reported(run: Run) -> None:
    for flag in ("--ignore", "--select"):
        code, out, _ = run("oven.plan", flag, "heat-of: why")
        assert (code, "error[SC625]" in out, "did you mean `heat-off`?" in out) == (2, True, True)
    assert "did you mean `heat-off`?" in run("oven.plan", "--ignore", "heat: why")[1]
    assert "check the spelling; the name may belong to another task" in run("oven.plan", "--ignore", "boats: why")[1]


def test_error_in_an_option_is_reported_at_the_plan(run: Run) -> None:
    arguments = ("oven.plan", "--ignore", "heat-of: why", "--format")
    assert run(*arguments, "github")[1].startswith("::error file=oven.plan,line=1,")
    assert json.loads(run(*arguments, "gitlab")[1])[0]["location"]["path"] == "oven.plan"
    (result,) = json.loads(run(*arguments, "sarif")[1])["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "oven.plan"


def test_project_file_ignores_rules_but_not_with_gate(run: Run) -> None:
    Path("safecheck.toml").write_text('[ignore]\nheat-off = "it has a timer"\n')
    assert "heat-off: it has a timer (safecheck.toml:2)" in run("oven.plan")[1]
    assert run("repair", "oven.plan")[0] == 0
    assert run("oven.plan", "--gate")[0] == run("oven.plan", "--no-project")[0] == 1
    Path("safecheck.toml").write_text('[ignore]\nheat-off = ""\n')
    assert "error[SC622]: `heat-off` needs a reason" in run("oven.plan")[2]


def test_gate_ignores_the_baseline_of_the_project(run: Run) -> None:
    run("oven.plan", "--write-baseline", "known.json")
    Path("safecheck.toml").write_text('baseline = "known.json"\n')
    assert (run("oven.plan")[0], run("oven.plan", "--gate")[0]) == (0, 1)


ALLOW = "(wipe)\n(light oven) ; safecheck: allow heat-off -- it \x1b[31mhas a timer\n"


def test_plan_allows_a_rule_if_the_project_permits_it(run: Run) -> None:
    Path("oven.plan").write_text(ALLOW)
    code, out, _ = run("oven.plan", "--format", "concise")
    assert (code, "oven.plan:2:27: warning[SC628]" in out) == (1, True)
    Path("safecheck.toml").write_text("allow_in_plans = true\n")
    code, out, _ = run("oven.plan", "gas.plan", "--format", "concise")
    assert "oven.plan: SAFE (0 findings, 2 steps, 2 rules, exempt: 1 finding of heat-off: it ␛[31mhas a timer" in out
    assert "gas.plan: UNSAFE (2 findings" in out  # a comment applies only to its plan
    (result,) = sarif_log(run("oven.plan", "--format", "sarif")[1])["runs"][0]["results"]
    assert result["suppressions"][0]["kind"] == "inSource"
    for flag in ("--gate", "--no-project"):
        code, out, _ = run("oven.plan", flag, "--format", "concise")
        assert (code, "warning[SC628]" in out) == (1, True)


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        ("; safecheck: allow heat-off", "SC629"),
        (";; SafeCheck: allow -- why", "SC629"),
        ("; safecheck: allow heat-off --", "SC629"),
        ("; safecheck: allow heat-of -- why", "SC625"),
        ("; safecheck: allow heat-off -- why\n" * 1_001, "SC629"),
    ],
)
def test_invalid_allow_comment_is_reported(run: Run, comment: str, code: str) -> None:
    Path("safecheck.toml").write_text("allow_in_plans = true\n")
    Path("oven.plan").write_text(f"(wipe)\n{comment}\n(light oven)\n")
    exit_code, out, _ = run("oven.plan", "--format", "concise")
    assert (exit_code, f"oven.plan:2:{out.partition('oven.plan:2:')[2][:3].partition(':')[0]}" in out) == (2, True)
    assert f"error[{code}]" in out


def test_other_comments_are_ignored(run: Run) -> None:
    Path("good.plan").write_text("; this plan was made for safecheck: allowed is what is safe\n(wipe)\n")
    code, out, _ = run("good.plan", "--format", "concise")
    assert (code, "SC6" in out) == (0, False)


def test_answer_of_a_model_cannot_allow_rules(run: Run) -> None:
    Path("safecheck.toml").write_text("allow_in_plans = true\n")
    Path("oven.md").write_text("```\n(wipe)\n(light oven) ; safecheck: allow heat-off -- why\n```\n")
    assert run("oven.md", "--from", "text")[0] == 1


def test_run_stores_the_ignored_rules(run: Run) -> None:
    assert run("oven.plan", *WHY, "--run", "done")[0] == 0
    manifest = json.loads(Path("done/manifest.json").read_text())
    assert manifest["settings"]["ignore"] == ["heat-off: it has a timer"]
    assert run("oven.plan", "--run", "other", "--write-baseline", "known.json")[0] == 2
