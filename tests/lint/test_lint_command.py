"""``safecheck lint`` in this process: files, formats, exit codes; and the shipped specifications."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from test_lint_findings import DOMAIN, PROBLEM

from plansafe.app.interfaces.cli.commandline import app
from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.domains import domain_path
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.specs.lint.api import lint
from plansafe.specs.lint.model import LintOptions, Scope

Run = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).resolve().parents[2]
RULES = """; rules of the kitchen
(define (safety kitchen) (:domain kitchen)
  (:process off :parameters (?s - stove) :forbid (and (on ?s) (held ?s)) :hazard fire :target human)
  (:process never :parameters (?s - stove)
    :forbid (and (on ?s) (not (on ?s))) :hazard fire :target human))
"""
FULL = """domain         d.pddl  (--domain)
specification  kitchen.safe  (given)

warning[SC750]: rule `never` can never be violated
 --> kitchen.safe:4:13
  |
4 |   (:process never :parameters (?s - stove)
  |             ^^^^^ never violated
  = note: the forbidden condition contradicts itself, or the required condition is always true
  = note: PROVED (formulas, for every problem of the domain)

1 finding (2 rules; any problem)
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("d.pddl").write_text(DOMAIN.text)
    Path("p.pddl").write_text(PROBLEM.text)
    Path("kitchen.safe").write_text(RULES)

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            app(["lint", *arguments, "--memory-limit", "0"], prog_name="safecheck")
        out, err = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, out, err

    return call


def test_full(run: Run) -> None:
    assert run("kitchen.safe", "--domain", "d.pddl", "--color", "never") == (1, FULL, "")


def test_concise(run: Run) -> None:
    code, out, _ = run("kitchen.safe", "--domain", "d.pddl", "--format", "concise")
    assert code == 1
    first, last = out.splitlines()
    assert first.startswith("kitchen.safe:4:13: warning[SC750] rule `never` can never be violated (")
    assert last == "kitchen.safe: 1 finding (2 rules; any problem)"


def test_json(run: Run) -> None:
    code, out, _ = run("kitchen.safe", "--problem", "p.pddl", "--format", "json")
    output = json.loads(out)
    assert output["exit_code"] == code == 1
    (finding,) = output["findings"]
    assert (finding["code"], finding["rules"], finding["scope"]) == ("SC750", ["never"], "any problem")
    assert finding["labels"][0]["span"]["start"]["line"] == 4
    assert [entry["path"] for entry in output["inputs"]] == ["d.pddl", "p.pddl", "kitchen.safe"]
    assert output["inputs"][0]["how"] == "named by p.pddl"


def test_specifications_of_several_domains_are_checked_domain_by_domain(run: Run) -> None:
    rule = "(:process wet :on (wipe) :forbid (and (wiped) (not (wiped))))"
    Path("glass.safe").write_text(f"(define (safety glass) (:domain glasses) {rule})")
    Path("glasses.pddl").write_text("(define (domain glasses) (:predicates (wiped)) (:action wipe :effect (wiped)))")
    Path("any.safe").write_text("(define (safety any))")
    code, out, err = run("kitchen.safe", "glass.safe", "any.safe", "--format", "json", "--no-search")
    outputs = [json.loads(line) for line in out.splitlines()]
    used = [[entry["path"] for entry in output["inputs"]] for output in outputs]
    assert used == [["d.pddl", "kitchen.safe", "any.safe"], ["glasses.pddl", "glass.safe", "any.safe"]]
    assert [
        [f["code"] for f in output["findings"] if f["rules"] in (["never"], ["wet"])][:1] for output in outputs
    ] == [
        ["SC750"],
        ["SC750"],
    ]
    assert (code, err) == (1, "")
    (alone,) = run("kitchen.safe", "any.safe", "--format", "json")[1].splitlines()
    assert [entry["path"] for entry in json.loads(alone)["inputs"]] == ["d.pddl", "kitchen.safe", "any.safe"]


def test_ignored_codes_do_not_count(run: Run) -> None:
    code, out, _ = run("kitchen.safe", "--domain", "d.pddl", "--ignore", "sc750", "--format", "concise")
    assert (code, out) == (0, "kitchen.safe: nothing found (2 rules; any problem)\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("kitchen.safe", "--ignore", "SC103"), "SC607"),
        (("kitchen.safe", "--scene", "x.json"), "SC607"),
        (("no-such.safe", "--domain", "d.pddl"), "SC601"),
        (("kitchen.safe", "--domain", "no-such.pddl"), "SC601"),
        (("kitchen.safe", "--domain", "p.pddl"), "SC003"),
        (("--domain", "d.pddl", "--problem", "p.pddl"), "SC607"),
        (("kitchen.safe", "--world", "narnia"), "SC610"),
    ],
)
def test_unusable_input(run: Run, arguments: tuple[str, ...], code: str) -> None:
    Path("kitchen.safe").write_text("(define (safety r) (:domain nowhere))" if "--problem" in arguments else RULES)
    if arguments[0] == "--domain":
        Path("kitchen.safe").unlink()
    exit_code, out, err = run(*arguments)
    assert exit_code == 2
    assert f"[{code}]" in out + err


def test_exit_code_of_undecided_questions(run: Run) -> None:
    rules = "(define (safety r) (:process r :on (wash ?x) :forbid (hot ?x) :hazard burn :target human))"
    Path("kitchen.safe").write_text(rules)
    Path("p.pddl").write_text(PROBLEM.text.replace("(free)", "(unknown (hot mug)) (free)", 1))
    code, out, _ = run("kitchen.safe", "--domain", "d.pddl", "--problem", "p.pddl", "--format", "concise")
    assert code == 3
    assert "UNDECIDED" in out


# ---- the shipped specifications -------------------------------------------------------------------------------------


def shipped(specification: str, *problems: str) -> set[tuple[str, ...]]:
    """The findings about a shipped specification with the household domain."""
    discovery = Discovery(Choice())

    def resolve(name: str, specification: Source) -> Source | None:
        extended = discovery.extended(name, specification)
        return None if extended is None else extended.source

    def read(path: str) -> Source:
        return Source(path, Path(path).read_text(encoding="utf-8"))

    texts = [read(str(ROOT / "examples" / problem / "problem.pddl")) for problem in problems]
    options = LintOptions(search=False)
    result = lint(read(domain_path("household")), texts, [read(spec_path(specification))], options, resolve)
    assert result.usable, result.diagnostics
    return {
        (finding.code, finding.scope.name, *finding.rules)
        for finding in result.findings
        if finding.severity is not Severity.NOTE
    }


@pytest.mark.slow
def test_household_rules_have_no_findings_for_any_problem() -> None:
    assert shipped("household") == set()


@pytest.mark.slow
def test_household_rules_on_the_examples() -> None:
    examples = ("breakfast", "cleaning", "dinner", "leftovers", "two-robots", "visit")
    assert shipped("household", *examples) == {
        ("SC750", Scope.GIVEN.name, "no-allergen-contact"),  # no resident is allergic
        ("SC750", Scope.GIVEN.name, "sharp-thing-within-reach"),  # the only sharp things near children are knives
        ("SC751", Scope.GIVEN.name, "cleaner-within-reach"),  # the scene of the visit intends it
    }
