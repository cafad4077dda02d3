"""Test all formats of all commands on the examples, the conformance cases and mistakes.

The output is compared with the shipped schemas, the exit code of the process and ``Report.exit_code``.
"""

from __future__ import annotations

import json
import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from format_checks import (
    Command,
    concise_lines,
    full_text,
    github_lines,
    gitlab_issues,
    json_lines,
    junit_suites,
    sarif_log,
)
from format_checks import schema as json_schema
from jsonschema import ValidationError

from case_files import conformance_cases, read_cases
from plansafe.app.interfaces.cli.commandline import app
from plansafe.app.render import FORMATS, renderer
from plansafe.app.session.audit import audit, combined_exit_code
from plansafe.app.session.model import Result, Settings
from quick import quick_every

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
HOSTILE = '<b>"q\\u202e\\ud800&amp;\u202e\u2066\x1b[31m\u200b'
"""A name with markup, quotes, JSON escapes, direction marks and terminal controls."""

DOMAIN = """(define (domain kitchen) (:requirements :adl)
  (:types room stove - object)
  (:predicates (robot-in ?r - room) (in ?s - stove ?r - room) (on ?s - stove))
  (:action switch-on :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (not (on ?s))) :effect (on ?s))
  (:action switch-off :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (on ?s)) :effect (not (on ?s)))
  (:action go :parameters (?from ?to - room)
    :precondition (robot-in ?from) :effect (and (not (robot-in ?from)) (robot-in ?to))))
"""
PROBLEM = """(define (problem tea) (:domain kitchen) (:objects hob - stove kitchen hall - room)
  (:init (robot-in kitchen) (in hob kitchen)) (:goal (robot-in hall)))
"""
RULES = """(define (safety kitchen)
  (:process off-before-leaving :on (go ?from ?to) :forbid (exists (?s - stove) (and (in ?s ?from) (on ?s)))
    :message "a <b>stove</b> is on in {?from}" :hazard fire :target human :severity critical))
"""
TIMED = """(define (domain lab) (:requirements :durative-actions :numeric-fluents)
  (:predicates (hot) (clear) (lamp)) (:functions (level))
  (:durative-action heat :parameters () :duration (and (>= ?duration 1) (<= ?duration 9))
    :condition (and (at start (clear)) (over all (not (lamp))))
    :effect (and (at end (hot)) (at start (increase (level) 2)))))
"""
TIMED_PROBLEM = """(define (problem l) (:domain lab) (:init (clear) (= (level) 1)) (:goal (hot)))
"""
FLAGS = {"specs": "--spec", "loose": "--from text", "default_spec": "--no-default-spec"}
"""Settings whose flags have another name."""


class Case(NamedTuple):
    """Plans, and the options of their audit, as flags and as settings."""

    plans: tuple[str, ...]
    flags: tuple[str, ...]
    settings: Settings


def case(*plans: str | Path, **settings: Any) -> Case:
    flags: list[str] = []
    for name, value in settings.items():
        flag = FLAGS.get(name, "--" + name.replace("_", "-"))
        for setting in value if isinstance(value, tuple) else (value,):
            flags += flag.split() if isinstance(setting, bool) else [flag, str(setting)]
    return Case(tuple([str(plan) for plan in plans]), tuple(flags), Settings(**settings))


def with_files(**settings: Any) -> dict[str, Any]:
    return {"domain": "d.pddl", "problem": "p.pddl", "specs": ("r.safe",), **settings}


EXAMPLE_CASES = {
    **{path.relative_to(EXAMPLES).as_posix(): case(path) for path in sorted(EXAMPLES.rglob("*.plan"))},
    "virtualhome": case(
        EXAMPLES / "virtualhome/warm-milk.txt", world="virtualhome", scene=str(EXAMPLES / "virtualhome/home.json")
    ),
}
MISTAKES = {
    "gone": case("gone.plan", **with_files()),
    "gone-domain": case("safe.plan", **with_files(domain="gone.pddl")),
    "gone-rules": case("safe.plan", **with_files(specs=("gone.safe",))),
    "a-folder": case("empty", **with_files()),
    "no-plan": case("d.pddl", **with_files()),
    "closed": case("closed.plan", **with_files()),
    "no-utf8": case("bytes.plan", **with_files()),
    "no-text": case("zipped.plan", **with_files()),
    "ill-formed": case("ill.plan", **with_files()),
    "hostile": case("hostile.plan", **with_files()),
    "hostile-file": case(f"{HOSTILE}.plan", **with_files()),
    "hostile-objects": case("names.plan", **with_files(problem="names.pddl", specs=("names.safe",))),
    "wrong-domain": case("safe.plan", **with_files(domain="r.safe")),
    "wrong-problem": case("safe.plan", **with_files(problem="bytes.plan")),
    "wrong-rules": case("safe.plan", **with_files(specs=("wrong.safe",))),
    "unsafe": case("unsafe.plan", **with_files(full_state=True)),
    "one-finding": case("skipped.plan", **with_files(max_findings=1)),
    "readings": case("skipped.plan", **with_files()),
    "no-rules": case("safe.plan", domain="d.pddl", problem="p.pddl", default_spec=False),
    "gate-without-rules": case("safe.plan", domain="d.pddl", problem="p.pddl", gate=True, default_spec=False),
    "required-rules": case("safe.plan", domain="d.pddl", problem="p.pddl", require_rules=True),
    "idle-rules": case("safe.plan", **with_files(specs=("idle.safe",))),
    "late": case("safe.plan", **with_files(time_limit=1e-9)),
    "text": case("prose.txt", **with_files(loose=True)),
    "no-text-plan": case("riddle.txt", **with_files(loose=True)),
    "no-world": case("safe.plan", world="narnia"),
    "no-scene": case("safe.plan", world="virtualhome"),
    "broken-scene": case("safe.plan", world="virtualhome", scene="bytes.plan"),
    "batch": case("safe.plan", "unsafe.plan", "gone.plan", **with_files()),
    "open": case("unsafe.plan", **with_files(specs=("r.safe", "open.safe"))),
    "open-sat": case("safe.plan", **with_files(specs=("r.safe", "open.safe"), engine="sat")),
    "open-smt": case("unsafe.plan", **with_files(specs=("r.safe", "open.safe"), engine="smt", double_check=True)),
    "open-explicit": case("unsafe.plan", **with_files(specs=("r.safe", "open.safe"), engine="explicit")),
    "timed": case("timed.plan", domain="td.pddl", problem="tp.pddl"),
    "timed-open": case("timed.plan", domain="td.pddl", problem="tp.pddl", specs=("timed.safe",)),
    "timed-tolerance": case("elastic.plan", domain="td.pddl", problem="tp.pddl", specs=("timed.safe",)),
}
FILES = {
    "d.pddl": DOMAIN,
    "p.pddl": PROBLEM,
    "unsolvable.pddl": PROBLEM.replace("(robot-in hall)", "(and (robot-in hall) (not (robot-in hall)))"),
    "r.safe": RULES,
    "td.pddl": TIMED,
    "tp.pddl": TIMED_PROBLEM,
    "safe.plan": "(switch-on hob kitchen)\n(switch-off hob kitchen)\n(go kitchen hall)\n",
    "unsafe.plan": "(switch-on hob kitchen)\n(go kitchen hall)\n",
    "skipped.plan": "(switch-off hob kitchen)\n(switch-on hob kitchen)\n(go kitchen hall)\n(go kitchen hall)\n",
    "closed.plan": "(go kitchen hall",
    "ill.plan": "(go kitchen)\n(swich-on hob kitchen)\n(go hob hall)\n(go kitchen attic)\n",
    "hostile.plan": f'(go {HOSTILE.replace(chr(27), "")} hall)\n("{HOSTILE}" \u202e)\n',
    f"{HOSTILE}.plan": f"(go kitchen hall) ; {HOSTILE}\n(go {HOSTILE})\n",
    "names.pddl": PROBLEM.replace("hob", '<b>"hob\\u202e\u202e'),
    "names.plan": '(switch-on <b>"hob\\u202e\u202e kitchen)\n(go kitchen hall)\n',
    "names.safe": RULES.replace("off-before", "off-\u202e\u2066<b>&amp;-before").replace("is on", "\u202eis \\ on"),
    "wrong.safe": RULES.replace("stove)", "stvoe)"),
    "idle.safe": RULES.replace("safety kitchen", "safety idle").replace("(go ?from ?to)", "(fly ?from ?to)"),
    "open.safe": "(define (safety o) (:open (on ?s)))",
    "timed.safe": "(define (safety t) (:open (clear)) (:trajectory cool :formula (always (not (hot)))))",
    "timed.plan": "0.000: (heat) [5.000]\n",
    "elastic.plan": "0.000: (heat) [5.000]\n10.000: (heat) [20.000]\n",
    "prose.txt": "First, go from kitchen to hall.\n",
    "riddle.txt": "I would rather not say.\n",
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_bytes(text.encode("utf-8", "surrogateescape"))
    Path("bytes.plan").write_bytes(b"(go kitch\xe9n hall) ; \xff\xfe\x00\n")
    Path("zipped.plan").write_bytes(b"PK\x03\x04 and so on")
    Path("empty").mkdir()


def command(*arguments: str) -> tuple[int, str]:
    """Run the command in this process; return the exit code and the standard output."""
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(StringIO()), pytest.raises(SystemExit) as stop:
        app([*arguments, "--memory-limit", "0"], prog_name="safecheck")
    return int(str(stop.value.code)), out.getvalue()


def check(audit_case: Case) -> None:
    """Check all formats, and the command's exit code and JSON."""
    results = list(audit(audit_case.plans, audit_case.settings))
    outputs = {}
    for form in FORMATS:
        view = renderer(form, audit_case.settings)
        outputs[form] = "".join([*[view.plan(result) for result in results], view.end()])
    view = renderer("sarif", audit_case.settings._replace(every=True))
    outputs["sarif --all"] = "".join([*[view.plan(result) for result in results], view.end()])
    full_text(outputs["full"])
    concise_lines(outputs["concise"])
    for form in ("sarif", "sarif --all"):
        sarif_log(outputs[form])
    check_build_formats(outputs, results)
    objects = json_lines(outputs["json"], "report-1")
    assert [report["exit_code"] for report in objects] == [result.report.exit_code for result in results]
    code, out = command(*audit_case.plans, *audit_case.flags, "--format", "json")
    assert code == combined_exit_code([result.report.exit_code for result in results])
    assert [report["exit_code"] for report in json_lines(out, "report-1")] == [r.report.exit_code for r in results]


def check_build_formats(outputs: dict[str, str], results: list[Result]) -> None:
    """Check that the formats for build machines agree on failures and findings."""
    suites = junit_suites(outputs["junit"])
    failed = [int(suite.attrib["failures"]) + int(suite.attrib["errors"]) > 0 for suite in suites]
    assert failed == [result.exit_code != 0 for result in results]
    issues = [issue for issue in gitlab_issues(outputs["gitlab"]) if issue["check_name"] != "verdict"]
    commands = [line for line in github_lines(outputs["github"]) if isinstance(line, Command)]
    descriptions = [issue["description"] for issue in issues]
    matches = [re.fullmatch(r"(?s)(.*?)(?:\nand ([\d,]+) more, [^\n]*)?", command.data) for command in commands]
    assert {match[1] for match in matches} <= set(descriptions)
    assert sum([1 + int(match[2] or 0) for match in matches]) == len(descriptions)
    assert len(github_lines(outputs["github"])) == len(commands) + len(results)
    (run,) = json.loads(outputs["sarif --all"])["runs"]
    fingerprints = {result["partialFingerprints"]["safecheck/v1"] for result in run["results"]}
    assert {issue["fingerprint"] for issue in issues} <= fingerprints
    (grouped,) = json.loads(outputs["sarif"])["runs"]
    assert {result["partialFingerprints"]["safecheck/v1"] for result in grouped["results"]} <= fingerprints
    assert sum([result.get("occurrenceCount", 1) for result in grouped["results"]]) == len(run["results"])


@pytest.mark.parametrize("name", quick_every(4, EXAMPLE_CASES))
def test_examples(name: str) -> None:
    check(EXAMPLE_CASES[name])


@pytest.mark.parametrize("name", quick_every(5, conformance_cases()))
def test_conformance_cases(name: str, tmp_path: Path) -> None:
    folder = conformance_cases()[name].write(tmp_path)
    check(case(folder / "plan", domain=str(folder / "domain.pddl"), problem=str(folder / "problem.pddl")))


@pytest.mark.parametrize("name", quick_every(5, MISTAKES))
def test_mistakes(files: None, name: str) -> None:
    check(MISTAKES[name])


@pytest.mark.parametrize(
    "name", quick_every(3, ["unsafe", "hostile-objects", "no-utf8", "ill-formed", "gone", "text", "open"])
)
@pytest.mark.parametrize("verb", ["repair", "diagnose"])
def test_repair_and_diagnose_on_mistakes(files: None, verb: str, name: str) -> None:
    flags = [flag for flag in MISTAKES[name].flags if flag != "--full-state"]
    options = ["--cause", "--regret"] if verb == "diagnose" else ["--output", "repaired.plan"]
    code, out = command(verb, *MISTAKES[name].plans, *flags, *options, "--format", "json")
    (document,) = json_lines(out, "repair-1")
    assert document["exit_code"] == code
    (report,) = json_lines(command(*MISTAKES[name].plans, *flags, "--format", "json")[1], "report-1")
    assert document["report"] == report or (name == "open" and document["report"]["diagnostics"][0]["code"] == "SC507")


@pytest.mark.parametrize("scheme", ["safel", "eai-virtualhome", "eai-behavior"])
def test_published_labels(files: None, scheme: str) -> None:
    plans = ["unsafe.plan", "safe.plan", "ill.plan", "gone.plan"]
    flags = MISTAKES["closed"].flags
    code, out = command("diagnose", *plans, *flags, "--labels", scheme, "--format", "json")
    documents = json_lines(out, "repair-1")
    assert combined_exit_code([document["exit_code"] for document in documents]) == code
    assert any([document["label"] for document in documents])


@pytest.mark.parametrize(
    "folder", quick_every(4, sorted(path.name for path in EXAMPLES.iterdir() if list(path.glob("*.plan"))))
)
def test_repairs_of_the_examples(folder: str) -> None:
    plans = [str(path) for path in sorted((EXAMPLES / folder).glob("*.plan"))]
    code, out = command("diagnose", *plans, "--time-limit", "1", "--format", "json")
    documents = json_lines(out, "repair-1")
    assert [document["plan"] for document in documents] == plans
    assert combined_exit_code([document["exit_code"] for document in documents]) == code


@pytest.mark.slow
def test_a_repair_in_another_world() -> None:
    home = EXAMPLES / "virtualhome"
    flags = ["--world", "virtualhome", "--scene", str(home / "home.json"), "--max-cost", "2", "--time-limit", "1"]
    code, out = command("repair", str(home / "warm-milk.txt"), *flags, "--format", "json")
    (document,) = json_lines(out, "repair-1")
    assert document["exit_code"] == code
    assert "scene" in {entry["role"] for entry in document["report"]["inputs"]}


@pytest.mark.parametrize("flag", ["--fix", "--diff"])
def test_reports_of_fixed_plans(files: None, flag: str) -> None:
    """``--fix`` reports what remains; ``--diff`` prints no report."""
    code, out = command("unsafe.plan", *MISTAKES["closed"].flags, flag, "--format", "json")
    assert code == 0
    if flag == "--fix":
        (report,) = json_lines(out, "report-1")
        assert report["headline"] == "SAFE"
        assert Path("unsafe.plan").read_text() == FILES["safe.plan"]
    else:
        assert out.startswith("--- unsafe.plan\n+++ unsafe.plan\n")


def test_certificate_and_report(files: None) -> None:
    plan = str(EXAMPLES / "metal-cup/milk-in-the-glass.plan")
    code, out = command(plan, "--certificate", "safe.cert", "--format", "json")
    (report,) = json_lines(out, "report-1")
    assert (code, report["headline"], Path("safe.cert").exists()) == (0, "SAFE", True)


LINTED = {
    "examples": [str(EXAMPLES / "adults-only.safe")],
    "own-rules": [str(EXAMPLES / "oven/dishes.safe"), "--problem", str(EXAMPLES / "oven/problem.pddl")],
    "mistaken": ["wrong.safe", "--domain", "d.pddl"],
    "hostile": ["names.safe", "--domain", "d.pddl", "--problem", "names.pddl"],
    "gone": ["gone.safe", "--domain", "d.pddl"],
    "gaps": ["r.safe", "--domain", "d.pddl", "--problem", "p.pddl", "--gaps"],
    "gaps-hostile": ["r.safe", "--domain", "d.pddl", "--problem", "names.pddl", "--gaps", "--example", "unsafe.plan"],
    "gaps-without-a-plan": ["r.safe", "--domain", "d.pddl", "--problem", "unsolvable.pddl", "--gaps"],
}


@pytest.mark.parametrize("name", quick_every(3, LINTED))
def test_lint(files: None, name: str) -> None:
    code, out = command("lint", *LINTED[name], "--time-limit", "5", "--format", "json")
    first, *gap_lines = out.splitlines(keepends=True)
    (lint,) = json_lines(first, "lint-1")
    reports = [report for line in gap_lines for report in json_lines(line, "gaps-1")]
    assert len(reports) == ("--gaps" in LINTED[name] and lint["exit_code"] != 2)
    codes = [lint["exit_code"], *[1 if report["gaps"] else 3 if report["notes"] else 0 for report in reports]]
    assert combined_exit_code(codes) == code
    concise_lines_of_lint = command("lint", *LINTED[name], "--time-limit", "5", "--format", "concise")[1]
    assert all([line.isprintable() for line in concise_lines_of_lint.splitlines()])


SCENARIOS = ROOT / "tests" / "scenario"
SCENARIO_CASES = {case.name: case for case in read_cases(SCENARIOS / "criteria.md")}


@pytest.mark.parametrize("name", quick_every(4, SCENARIO_CASES))
def test_scenarios(name: str, tmp_path: Path) -> None:
    folder = SCENARIO_CASES[name].write(tmp_path)
    flags = ["--base", str(SCENARIOS / "base.pddl"), "--time-limit", "2", "--format", "json"]
    for verb in ("check", "fix"):
        code, out = command("bench", "scenario", verb, str(folder), *flags)
        if code == 2:
            assert out == ""
        else:
            (document,) = json_lines(out, f"scenario-{verb}-1")
            assert document["exit_code"] == code


def test_scenario_with_hostile_names(files: None) -> None:
    Path("scene").mkdir()
    Path("scene/problem.pddl").write_text(FILES["names.pddl"].replace("kitchen hall", "kithcen hall"), "utf-8")
    for verb, flags in (("check", []), ("fix", ["--output", "new"])):
        _, out = command("bench", "scenario", verb, "scene", "--base", "d.pddl", *flags, "--format", "json")
        (document,) = json_lines(out, f"scenario-{verb}-1")
    assert document["written"] == "new"


@pytest.mark.parametrize("key", json_schema("report-1")["required"])
def test_report_schema_is_strict(files: None, key: str) -> None:
    """A report with a missing, additional or ill-typed key does not fit the schema."""
    (line,) = command("unsafe.plan", *MISTAKES["closed"].flags, "--format", "json")[1].splitlines()
    report = json.loads(line)
    for invalid in (
        {k: v for k, v in report.items() if k != key},
        {**report, f"{key}2": 1},
        {**report, key: {"x": []}},
    ):
        with pytest.raises(ValidationError):
            json_lines(json.dumps(invalid) + "\n", "report-1")
