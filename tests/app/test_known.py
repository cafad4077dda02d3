"""Baselines, and rules that are ignored, selected or allowed: what decides, and that nothing is dropped in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from format_checks import Command, github_lines, gitlab_items, json_lines, junit_suites, sarif_log

from plansafe.app.interfaces.cli.commandline import app

DOMAIN = """(define (domain home) (:types stove) (:predicates (on ?s - stove) (wiped) (ready))
  (:action wipe :precondition (ready) :effect (wiped)) (:action light :parameters (?s - stove) :effect (on ?s)))"""
PROBLEM = """(define (problem p) (:domain home) (:objects gas oven - stove) (:init (ready)) (:goal (wiped)))"""
RULES = """(define (safety heat)
  (:termination heat-off :parameters (?s - stove) :forbid (on ?s) :hazard fire :target human :severity high)
  (:termination gas-off :forbid (on gas) :hazard fire :target human :severity high))"""
FLAGS = ("--domain", "d.pddl", "--problem", "p.pddl", "--spec", "r.safe", "--memory-limit", "0")
WHY = ("--ignore", "heat-off: it has a timer")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    files = {"d.pddl": DOMAIN, "p.pddl": PROBLEM, "r.safe": RULES}
    files |= {"oven.plan": "(wipe)\n(light oven)\n", "gas.plan": "(wipe)\n(light gas)\n", "good.plan": "(wipe)\n"}
    for name, text in files.items():
        Path(name).write_text(text)

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            app([*arguments, *FLAGS], prog_name="safecheck")
        out, err = capsys.readouterr()
        return int(str(stop.value.code)), out, err

    return call


def report(run: Run, *arguments: str) -> tuple[int, Any]:
    code, out, _ = run(*arguments, "--format", "json")
    (found,) = json_lines(out, "report-1")
    return code, found


# ---- baselines ------------------------------------------------------------------------------------------------------


def test_known_findings_fail_no_plan_and_are_counted(run: Run) -> None:
    assert run("oven.plan", "good.plan", "--write-baseline", "known.json")[0] == 0
    code, found = report(run, "oven.plan", "--baseline", "known.json")
    assert (code, found["exit_code"], found["headline"], len(found["findings"])) == (0, 0, "UNSAFE", 1)
    assert found["baseline"] == {"file": "known.json", "known": [0], "new": 0, "gone": []}
    for form in ("full", "concise", "github", "gitlab", "sarif", "junit"):
        code, out, _ = run("oven.plan", "--baseline", "known.json", "--format", form)
        assert code == 0
        assert "baseline known.json: 1 known, 0 new" in out
        assert "UNSAFE" in out or form == "sarif"


def test_new_findings_fail_as_ever(run: Run) -> None:
    run("oven.plan", "--write-baseline", "known.json")
    Path("oven.plan").write_text("; a line more\n(wipe)\n(light gas)\n(light oven)\n")
    code, found = report(run, "oven.plan", "--baseline", "known.json")
    assert (code, found["baseline"]["new"], len(found["baseline"]["known"])) == (1, 2, 1)
    _, out, _ = run("oven.plan", "--baseline", "known.json", "--format", "sarif")
    states = [r["baselineState"] for r in sarif_log(out)["runs"][0]["results"]]
    assert sorted(states) == ["new", "new", "unchanged"]
    _, out, _ = run("oven.plan", "--baseline", "known.json", "--format", "github")
    assert len([line for line in github_lines(out) if isinstance(line, Command)]) == 2
    _, out, _ = run("oven.plan", "--baseline", "known.json", "--format", "junit")
    (suite,) = junit_suites(out)
    assert suite.attrib["failures"] == "3"  # the verdict, and two rules


def test_what_is_gone_is_told(run: Run) -> None:
    run("oven.plan", "gas.plan", "--write-baseline", "known.json")
    Path("oven.plan").write_text("(wipe)\n")
    code, found = report(run, "oven.plan", "--baseline", "known.json")
    assert (code, found["headline"]) == (0, "SAFE")
    assert [entry["rule"] for entry in found["baseline"]["gone"]] == ["heat-off"]
    _, out, err = run("oven.plan", "--baseline", "known.json", "--format", "concise")
    assert "baseline known.json: gone: heat-off: " in out
    assert "baseline: 2 of its findings are in 1 plans that were not audited to the end" in err
    _, out, _ = run("oven.plan", "--baseline", "known.json", "--format", "sarif")
    (result,) = sarif_log(out)["runs"][0]["results"]
    assert (result["baselineState"], result["ruleId"]) == ("absent", "heat-off")


def test_the_fingerprints_are_those_of_sarif(run: Run) -> None:
    run("gas.plan", "oven.plan", "--write-baseline", "known.json")
    kept = {entry["fingerprint"] for entry in json.loads(Path("known.json").read_text())["findings"]}
    log = sarif_log(run("gas.plan", "oven.plan", "--format", "sarif")[1])
    assert kept == {result["partialFingerprints"]["safecheck/v1"] for result in log["runs"][0]["results"]}
    assert len(kept) == 3


def test_what_was_not_judged_is_never_known(run: Run) -> None:
    """Ill-formed steps, undecided plans, findings that are not listed: they fail with the baseline as without."""
    Path("ill.plan").write_text("(wipe)\n(light moon)\n(light oven)\n")
    code, _, _ = run("ill.plan", "--write-baseline", "known.json")
    assert code == run("ill.plan")[0] == run("ill.plan", "--baseline", "known.json")[0] == 2
    Path("many.plan").write_text("(wipe)\n(light oven)\n(light gas)\n")
    run("many.plan", "--write-baseline", "known.json", "--max-findings", "1")
    code, out, _ = run("many.plan", "--baseline", "known.json", "--max-findings", "1")
    assert code == 1
    assert "not all findings are listed or decided" in out


def test_over_many_worlds_nothing_is_known(run: Run) -> None:
    """The findings are those of witnesses: another world may have others."""
    Path("p.pddl").write_text(PROBLEM.replace("(:init (ready))", "(:init (unknown (on gas)) (ready))"))
    assert run("good.plan")[0] == run("good.plan", "--write-baseline", "known.json")[0] == 1
    code, out, _ = run("good.plan", "--baseline", "known.json", "--format", "concise")
    assert code == 1
    assert "not all findings are listed or decided" in out


def test_less_that_decides_is_no_baseline_of_more(run: Run) -> None:
    """What decided nothing when the file was written is new once it decides."""
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
def test_a_file_that_is_no_baseline(run: Run, text: str) -> None:
    Path("known.json").write_text(text, errors="surrogateescape")
    code, _, err = run("oven.plan", "--baseline", "known.json")
    assert (code, "error[SC627]" in err) == (2, True)


def test_flags_that_go_with_no_baseline(run: Run) -> None:
    assert "SC627" in run("oven.plan", "--baseline", "gone.json")[2]
    for flags in (("--fix",), ("--diff",), ("--blame", "introduced"), ("-o", "known.json")):
        code, _, err = run("oven.plan", "--write-baseline", "known.json", *flags)
        assert (code, "SC607" in err, Path("known.json").exists()) == (2, True, False)
    assert run("oven.plan", "--write-baseline", "oven.plan")[0] == 2
    assert Path("oven.plan").read_text().startswith("(wipe)")


# ---- rules that are ignored, selected, allowed ----------------------------------------------------------------------


def test_an_ignored_rule_is_told_and_decides_nothing(run: Run) -> None:
    code, found = report(run, "oven.plan", *WHY)
    assert (code, found["headline"], found["findings"]) == (0, "SAFE", [])
    (exemption,) = found["home"]["exemptions"]
    assert (exemption["used"], exemption["reason"], exemption["place"]) == (1, "it has a timer", "--ignore")
    for form in ("full", "concise", "github", "gitlab"):
        assert "exempt: 1 finding of heat-off: it has a timer (--ignore)" in run("oven.plan", *WHY, "--format", form)[1]
    (result,) = sarif_log(run("oven.plan", *WHY, "--format", "sarif")[1])["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "external", "status": "accepted", "justification": "it has a timer"}]
    (suite,) = junit_suites(run("oven.plan", *WHY, "--format", "junit")[1])
    assert [node.attrib["message"] for node in suite.iter("skipped")] == ["exempt (1 found): it has a timer (--ignore)"]
    items = gitlab_items(run("oven.plan", *WHY, "--format", "gitlab")[1])
    assert [(item["check_name"], item["severity"]) for item in items] == [("verdict", "info")]


def test_over_many_worlds_an_ignored_rule_is_told(run: Run) -> None:
    """Its findings are not counted there, but nobody reads SAFE without what was left out, and why."""
    Path("p.pddl").write_text(PROBLEM.replace("(:init (ready))", "(:init (unknown (on gas)) (ready))"))
    code, out, _ = run("good.plan", *WHY, "--ignore", "gas-off: the main tap is shut", "--format", "full")
    assert code == 0, out
    assert "exempt in every world: gas-off: the main tap is shut (--ignore)" in out


def test_selected_rules_alone_decide(run: Run) -> None:
    assert run("oven.plan", "--select", "gas-off: about gas")[0] == 0
    code, found = report(run, "gas.plan", "--select", "gas-off: about gas")
    assert (code, [finding["rule"] for finding in found["findings"]]) == (1, ["gas-off"])
    (exemption,) = found["home"]["exemptions"]
    assert (exemption["rules"], exemption["reason"]) == (["heat-off"], "not selected: about gas")


def test_where_all_rules_are_ignored_nothing_is_safe(run: Run) -> None:
    every = (*WHY, "--ignore", "gas-off: no gas here")
    assert report(run, "good.plan", *every)[1]["headline"] == "VALID"
    code, found = report(run, "good.plan", *every, "--gate")
    assert (code, "SC620" in [d["code"] for d in found["diagnostics"]]) == (2, True)


@pytest.mark.parametrize("text", ["heat-off", "heat-off:", ": why", ""])
def test_no_rule_is_ignored_without_a_reason(run: Run, text: str) -> None:
    for flag in ("--ignore", "--select"):
        for verb in ((), ("repair",)):
            assert "SC607" in run(*verb, "oven.plan", flag, text)[2]


def test_a_misspelt_rule_is_a_mistake(run: Run) -> None:
    for flag in ("--ignore", "--select"):
        code, out, _ = run("oven.plan", flag, "heat-of: why")
        assert (code, "error[SC625]" in out, "did you mean `heat-off`?" in out) == (2, True, True)
    assert "did you mean `heat-off`?" in run("oven.plan", "--ignore", "heat: why")[1]
    assert "check the spelling; the name may belong to another task" in run("oven.plan", "--ignore", "boats: why")[1]


def test_what_is_wrong_with_a_flag_stands_at_the_plan(run: Run) -> None:
    wrong = ("oven.plan", "--ignore", "heat-of: why", "--format")
    assert run(*wrong, "github")[1].startswith("::error file=oven.plan,line=1,")
    assert json.loads(run(*wrong, "gitlab")[1])[0]["location"]["path"] == "oven.plan"
    (found,) = json.loads(run(*wrong, "sarif")[1])["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "oven.plan"


def test_the_project_file_says_the_same_but_not_under_gate(run: Run) -> None:
    Path("safecheck.toml").write_text('[ignore]\nheat-off = "it has a timer"\n')
    assert "heat-off: it has a timer (safecheck.toml:2)" in run("oven.plan")[1]
    assert run("repair", "oven.plan")[0] == 0
    assert run("oven.plan", "--gate")[0] == run("oven.plan", "--no-project")[0] == 1
    Path("safecheck.toml").write_text('[ignore]\nheat-off = ""\n')
    assert "error[SC622]: `heat-off` needs a reason" in run("oven.plan")[2]


def test_a_baseline_of_the_project_is_passed_over_under_gate(run: Run) -> None:
    run("oven.plan", "--write-baseline", "known.json")
    Path("safecheck.toml").write_text('baseline = "known.json"\n')
    assert (run("oven.plan")[0], run("oven.plan", "--gate")[0]) == (0, 1)


ALLOW = "(wipe)\n(light oven) ; safecheck: allow heat-off -- it \x1b[31mhas a timer\n"


def test_a_plan_allows_a_rule_where_the_project_lets_it(run: Run) -> None:
    Path("oven.plan").write_text(ALLOW)
    code, out, _ = run("oven.plan", "--format", "concise")
    assert (code, "oven.plan:2:27: warning[SC628]" in out) == (1, True)
    Path("safecheck.toml").write_text("allow_in_plans = true\n")
    code, out, _ = run("oven.plan", "gas.plan", "--format", "concise")
    assert "oven.plan: SAFE (0 findings, 2 steps, 2 rules, exempt: 1 finding of heat-off: it ␛[31mhas a timer" in out
    assert "gas.plan: UNSAFE (2 findings" in out  # what one plan allows is not allowed in the next
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
def test_a_comment_that_allows_no_rule(run: Run, comment: str, code: str) -> None:
    Path("safecheck.toml").write_text("allow_in_plans = true\n")
    Path("oven.plan").write_text(f"(wipe)\n{comment}\n(light oven)\n")
    done, out, _ = run("oven.plan", "--format", "concise")
    assert (done, f"oven.plan:2:{out.partition('oven.plan:2:')[2][:3].partition(':')[0]}" in out) == (2, True)
    assert f"error[{code}]" in out


def test_other_comments_are_comments(run: Run) -> None:
    Path("good.plan").write_text("; this plan was made for safecheck: allowed is what is safe\n(wipe)\n")
    code, out, _ = run("good.plan", "--format", "concise")
    assert (code, "SC6" in out) == (0, False)


def test_an_answer_allows_nothing(run: Run) -> None:
    Path("safecheck.toml").write_text("allow_in_plans = true\n")
    Path("oven.md").write_text("```\n(wipe)\n(light oven) ; safecheck: allow heat-off -- why\n```\n")
    assert run("oven.md", "--from", "text")[0] == 1


def test_a_run_of_many_plans_keeps_what_is_ignored(run: Run) -> None:
    assert run("oven.plan", *WHY, "--run", "done")[0] == 0
    manifest = json.loads(Path("done/manifest.json").read_text())
    assert manifest["settings"]["ignore"] == ["heat-off: it has a timer"]
    assert run("oven.plan", "--run", "other", "--write-baseline", "known.json")[0] == 2
