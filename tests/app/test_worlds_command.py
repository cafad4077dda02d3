"""Test options for tasks with several possible worlds: engines, certificates, missing solvers, refusing commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Run, run_app
from format_checks import json_lines

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.extras import how_to_install
from plansafe.verifier.reporting.report import Headline, Report, Worlds
from plansafe.verifier.reporting.worlds import WorldsReport
from plansafe.verifier.symbolic.audit import explain_missing_solver

DOMAIN = """(define (domain kitchen) (:requirements :adl)
  (:predicates (metal ?x) (inside ?x) (running))
  (:action put-in :parameters (?x) :effect (inside ?x))
  (:action start :effect (running)))
"""
OPEN = "(define (problem p) (:domain kitchen) (:objects cup) (:init (unknown (metal cup))) (:goal (running)))\n"
CLOSED = OPEN.replace("(unknown (metal cup))", "")
RULES = """(define (safety kitchen)
  (:process no-metal :parameters (?x) :forbid (and (running) (inside ?x) (metal ?x)) :message "{?x} is metal"))
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("d.pddl").write_text(DOMAIN)
    Path("p.pddl").write_text(OPEN)
    Path("kitchen.safe").write_text(RULES)
    Path("warm.plan").write_text("(put-in cup)\n(start)\n")

    return lambda *arguments: run_app(capsys, *arguments, "--memory-limit", "0", "--spec", "kitchen.safe")


def test_explicit_engine_is_refused_for_unknown_facts(run: Run) -> None:
    code, out, _ = run("warm.plan", "--engine", "explicit")
    assert code == 2
    assert "error[SC609]: the explicit engine needs complete information" in out
    assert "  = help: remove --engine, or use --engine sat or --engine smt" in out
    Path("p.pddl").write_text(CLOSED)
    assert run("warm.plan", "--engine", "explicit")[0] == 0


@pytest.mark.parametrize("command", [["repair"], ["diagnose"], ["diagnose", "--labels", "safel"], ["audit", "--fix"]])
def test_other_commands_refuse_unknown_facts(run: Run, command: list[str]) -> None:
    before = Path("warm.plan").read_text()
    code, out, err = run(*command, "warm.plan")
    assert code == 2
    assert "error[SC507]: the search for repairs needs complete information" in out
    assert "`safecheck audit` checks the plan in all possible worlds" in out
    assert "Traceback" not in err
    assert Path("warm.plan").read_text() == before


def test_diff_reports_why_the_plan_is_not_fixed(run: Run) -> None:
    code, out, err = run("warm.plan", "--diff")
    assert (code, out) == (2, "")
    assert err.startswith("warm.plan: not fixed [SC507]: the search for repairs needs complete information")


def test_a_partially_ordered_plan_is_refused_by_other_commands(run: Run) -> None:
    Path("p.pddl").write_text(CLOSED)
    Path("warm.plan").write_text("(define (plan warm) (:steps (a (put-in cup)) (b (start))) (:ordering))\n")
    code, out, _ = run("repair", "warm.plan")
    assert code == 2
    assert "error[SC507]" in out


@pytest.mark.parametrize(("module", "package"), [("pysat", "python-sat"), ("z3", "z3-solver")])
def test_a_missing_solver_is_a_diagnostic(monkeypatch: pytest.MonkeyPatch, module: str, package: str) -> None:
    def fail(*arguments: object) -> Report:
        monkeypatch.setitem(sys.modules, module, None)
        __import__(module)
        raise AssertionError

    monkeypatch.setattr(Checker, "_audit", fail)
    checker = Checker(Source("d", DOMAIN), Source("p", CLOSED), [Source("s", RULES)])
    report = checker.check(Source("plan", "(start)"))
    assert report.headline is None
    assert report.exit_code == 2
    (diagnostic,) = report.diagnostics
    assert diagnostic.code == "SC608"
    assert package in diagnostic.message
    assert diagnostic.help == how_to_install("solve")


def test_other_missing_module_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> Report:
        raise ModuleNotFoundError("no", name="plansafe.nothing")

    monkeypatch.setattr(Checker, "_audit", fail)
    checker = Checker(Source("d", DOMAIN), Source("p", CLOSED))
    with pytest.raises(ModuleNotFoundError):
        checker.check(Source("plan", "(start)"))
    assert explain_missing_solver(ModuleNotFoundError("no")) is None


# -- certificates


@pytest.fixture
def certified(monkeypatch: pytest.MonkeyPatch) -> Callable[[Headline | None, str | None], list[Options]]:
    """Replace all checks: they return a headline and a certificate, and record their options."""

    def replace_check(headline: Headline | None, text: str | None, solver: str = "constant folding") -> list[Options]:
        recorded_options: list[Options] = []

        def check(self: Checker, plan: Source, confirm: bool = True, recorder: object = None) -> Report:
            recorded_options.append(self.options)
            worlds = WorldsReport(1, 0, 0, 1, solver=solver)
            return Report(plan.name, headline, *[Worlds.ALL] * 3, 2, worlds=worlds, certificate=text)

        monkeypatch.setattr(Checker, "check", check)
        return recorded_options

    return replace_check


def test_certificate_is_written_in_addition_to_the_report(run: Run, certified: Callable[..., list[Options]]) -> None:
    recorded_options = certified(Headline.SAFE, "c a proof\n0\n")
    code, out, err = run("warm.plan", "--certificate", "warm.proof")
    assert code == 0
    assert Path("warm.proof").read_text() == "c a proof\n0\n"
    assert "SAFE   " in out
    assert err == "warm.plan: certificate written to warm.proof\n"
    assert recorded_options[0].certificate
    assert sorted(p.name for p in Path().glob("*warm*")) == ["warm.plan", "warm.proof"]


@pytest.mark.parametrize(
    ("headline", "solver", "note"),
    [
        (
            Headline.UNSAFE,
            "cadical195",
            "warm.plan: no certificate: the plan is UNSAFE; warm.proof is from an earlier audit and was not changed",
        ),
        (
            Headline.SAFE,
            "constant folding",
            "warm.plan: no certificate: no solver was needed; warm.proof is from an earlier audit and was not changed",
        ),
        (
            Headline.SAFE,
            "z3 5.4.0",
            "warm.plan: no certificate: z3 5.4.0 returned no proof; warm.proof is from an earlier audit",
        ),
        (None, "", ""),
    ],
)
def test_file_of_an_earlier_certificate_is_kept(
    run: Run, certified: Callable[..., list[Options]], headline: Headline | None, solver: str, note: str
) -> None:
    certified(headline, None, solver)
    Path("warm.proof").write_text("old")
    code, _, err = run("warm.plan", "--certificate", "warm.proof")
    assert code == {Headline.UNSAFE: 1, Headline.SAFE: 0, None: 2}[headline]
    assert err.startswith(note)
    assert bool(err) == bool(note)
    assert Path("warm.proof").read_text() == "old"


def test_unwritable_certificate_is_an_error(
    run: Run, certified: Callable[..., list[Options]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    certified(Headline.SAFE, "proof")
    monkeypatch.setattr("os.fsync", fail)
    code, _, err = run("warm.plan", "--certificate", "warm.proof")
    assert code == 2
    assert "error[SC607]: cannot write warm.proof: no space left on device" in err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["warm.plan", "--certificate", "c", "--fix"], "--certificate cannot be combined with --fix or --diff"),
        (["warm.plan", "warm.plan", "--certificate", "c"], "--certificate takes one plan, not 2"),
        (["warm.plan", "--certificate", "c", "--engine", "explicit"], "the explicit engine calls no solver"),
        (["warm.plan", "--certificate", "."], "cannot write .: it is a folder"),
        (["warm.plan", "--certificate", "no/where"], "cannot write no/where: the folder no does not exist"),
        (["warm.plan", "--engine", "guess"], "guess"),
    ],
)
def test_contradictory_options_are_refused(
    run: Run, certified: Callable[..., list[Options]], flags: list[str], message: str
) -> None:
    recorded_options = certified(Headline.SAFE, "proof")
    code, out, err = run(*flags)
    assert (code, out, recorded_options) == (2, "", [])
    assert message in err
    assert not Path("c").exists()


# -- the real engine


def test_verdict_over_possible_worlds(run: Run) -> None:
    code, out, err = run("warm.plan")
    assert (code, err) == (1, "")
    assert "the plan is not safe in a world where:\n  (metal cup) is true: this is enough" in out
    assert "UNSAFE   in some worlds: 1 finding, 2 steps" in out
    assert "worth asking: is (metal cup) so? the answer settles the verdict" in out
    Path("p.pddl").write_text(CLOSED)
    code, out, _ = run("warm.plan")
    assert code == 0
    assert "world" not in out.partition("assumed")[0]


@pytest.mark.parametrize("module", ["pysat", "pysat.solvers"])
def test_missing_solver_is_reported(run: Run, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pysat"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = run("warm.plan")
    assert (code, err) == (2, "")
    assert "error[SC608]: this task needs a solver" in out
    assert f"  = help: {how_to_install('solve')}" in out


def test_engines_agree(run: Run) -> None:
    verdicts = []
    for engine in ("auto", "sat", "smt"):
        code, out, _ = run("warm.plan", "--engine", engine, "--format", "json")
        report = json.loads(out)
        assert code == 1
        verdicts.append((report["headline"], report["safe"], report["worlds"]["cause"], report["worlds"]["question"]))
        assert report["engine"]["name"] == ("smt" if engine == "smt" else "sat")
    assert len({json.dumps(verdict) for verdict in verdicts}) == 1


@pytest.mark.parametrize("folder", ["metal-cup", "fragile-glass", "oven", "two-robots"])
def test_reports_on_the_examples_fit_the_schema(
    run: Run, root: Path, folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plans = [str(path) for path in sorted((root / "examples" / folder).glob("*.plan"))]
    assert run_app(capsys, *plans, "--format", "json", "--output", "report", "--memory-limit", "0")[0] == 1
    reports = json_lines(Path("report").read_text(), "report-1")
    (unsafe,) = [report for report in reports if report["headline"] == "UNSAFE"]
    assert [report["safe"] for report in reports if report is not unsafe] == ["ALL"]
    for finding in unsafe["findings"]:
        witness = unsafe["worlds"]["witnesses"][finding["world"]]
        assert (finding["worlds"], witness["about"], witness["replayed"]) == ("SOME", "safe", True)
        assert any([witness[part] for part in ("facts", "outcomes", "order", "durations")])


def test_inferred_invariants_can_be_turned_off(run: Run) -> None:
    Path("kitchen.safe").write_text(
        RULES.replace("(define (safety kitchen)", "(define (safety kitchen) (:open (lies ?x) (handed ?x))")
    )
    domain = DOMAIN.replace("(running))", "(running) (lies ?x) (handed ?x))", 1)
    hand = "  (:action hand :parameters (?x) :precondition (lies ?x) :effect (and (not (lies ?x)) (handed ?x)))\n"
    Path("d.pddl").write_text(domain.replace("  (:action start", f"{hand}  (:action start"))
    about_handing = []
    for flags in ([], ["--no-inferred-invariants"]):
        code, out, _ = run("warm.plan", "--format", "json", *flags)
        assert code == 1
        about_handing.append([text for text in json.loads(out)["worlds"]["invariants"] if "(handed" in text])
    assert about_handing[0]
    assert not about_handing[1]
