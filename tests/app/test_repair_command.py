"""Test ``repair``, ``diagnose`` and ``audit --fix`` with the real engine: files, exit codes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import Run, run_app
from kitchen import FIXED, PLAN, RULES

from plansafe.app.session.model import Settings
from plansafe.app.session.option_values import read_cost, read_steps, read_weights
from plansafe.app.session.repair import ExaminationOptions, examine
from plansafe.app.system.time_limit import OutOfTime
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.repair.model import RepairOptions, RepairStatus, Weights
from shared_kitchen import DOMAIN, PROBLEM, SAFE

HOPELESS = RULES.replace("safety kitchen)", "safety kitchen) (:trajectory cold :formula (always (not (hot hob))))")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("d.pddl").write_text(DOMAIN)
    Path("p.pddl").write_text(PROBLEM)
    Path("kitchen.safe").write_text(RULES)
    Path("tea.plan").write_text(PLAN)
    Path("safe.plan").write_text(SAFE)

    return lambda *arguments: run_app(capsys, *arguments, "--memory-limit", "0")


def new_files() -> set[str]:
    initial = {"d.pddl", "p.pddl", "kitchen.safe", "tea.plan", "safe.plan"}
    return {path.name for path in Path().iterdir()} - initial


# -- repair -----------------------------------------------------------------------------------------------------------


def test_repair_is_shown_and_the_file_kept(run: Run) -> None:
    code, out, err = run("repair", "tea.plan")
    assert (code, err) == (0, "")
    assert "UNSAFE   rule `stove-off-before-leaving` is violated at step 2: a stove is on in kitchen" in out
    assert "  missing " in out
    assert "nearest safe plan: 1 edit, cost 1, proved least" in out
    assert "2  + (switch-off hob kitchen)\n" in out
    assert "\nSAFE   the repaired plan, replayed: 3 steps" in out
    assert Path("tea.plan").read_text() == PLAN


def test_repaired_plan_keeps_comments_and_layout(run: Run) -> None:
    code, out, _ = run("repair", "tea.plan", "--output", "fixed.plan")
    assert code == 0
    assert Path("fixed.plan").read_text() == FIXED
    assert "written to fixed.plan" in out
    assert new_files() == {"fixed.plan"}
    assert run("fixed.plan")[0] == 0


def test_safe_plan_is_written_unchanged(run: Run) -> None:
    code, out, _ = run("repair", "safe.plan", "--output", "fixed.plan")
    assert code == 0
    assert Path("fixed.plan").read_text() == SAFE
    assert "nothing to repair; written to fixed.plan" in out


def test_a_plan_on_standard_output(run: Run) -> None:
    code, out, err = run("repair", "tea.plan", "--output", "-")
    assert (code, out) == (0, FIXED)
    assert "nearest safe plan" in err


def test_ill_formed_steps_are_repaired(run: Run) -> None:
    Path("tea.plan").write_text("(swich-on hob kitchen)\n(switch-off hob kitchen)\n(go kitchen hall)\n")
    code, out, _ = run("repair", "tea.plan", "--output", "fixed.plan")
    assert code == 0
    assert "  grammar " in out
    assert "~ (switch-on hob kitchen)" in out
    assert "instead of (swich-on hob kitchen)" in out
    assert Path("fixed.plan").read_text() == SAFE


def test_no_repair_exists(run: Run) -> None:
    Path("kitchen.safe").write_text(HOPELESS)
    code, out, _ = run("repair", "tea.plan", "--output", "fixed.plan")
    assert code == 1
    assert "error[SC802]: PROVED: no plan reaches the goal and keeps the rules" in out
    assert new_files() == set()


def test_no_repair_within_the_cost(run: Run) -> None:
    Path("tea.plan").write_text("(switch-on hob kitchen)\n")
    code, out, _ = run("repair", "tea.plan", "--max-cost", "1", "--output", "fixed.plan")
    assert code == 3
    assert "error[SC801]: no repair was found within the limits" in out
    assert new_files() == set()
    assert run("repair", "tea.plan", "--max-cost", "2")[0] == 0


def test_protected_steps_are_kept(run: Run) -> None:
    Path("tea.plan").write_text("(go kitchen hall)\n(go hall kitchen)\n(switch-on hob kitchen)\n(go kitchen hall)\n")
    code, out, _ = run("repair", "tea.plan", "--protect", "1-3", "--protect", "4", "--format", "json")
    assert code == 0
    assert {edit["kind"] for edit in json.loads(out)["repairs"][0]["edits"]} == {"insert"}


def test_weights_decide_what_is_nearest(run: Run) -> None:
    Path("p.pddl").write_text(PROBLEM.replace("(hot hob)", ""))
    kinds = []
    for weights in ("insert=1,delete=3", "insert=3,delete=1,substitute=3,move=3"):
        _, out, _ = run("repair", "tea.plan", "--weights", weights, "--format", "json")
        kinds.append([edit["kind"] for edit in json.loads(out)["repairs"][0]["edits"]])
    assert kinds == [["insert"], ["delete"]]


def test_json(run: Run) -> None:
    code, out, _ = run("repair", "tea.plan", "safe.plan", "gone.plan", "--format", "json")
    tea, safe, gone = [json.loads(line) for line in out.splitlines()]
    assert code == 2
    assert (tea["status"], tea["optimal"], tea["complete"], tea["bound"]) == ("found", True, True, 1)
    assert tea["text"] == FIXED
    assert tea["repairs"][0]["origin"] == [1, 0, 2]
    assert tea["report"]["headline"] == "UNSAFE"
    assert [witness["class"] for witness in tea["classes"]] == ["missing", "process hazard"]
    assert (safe["status"], safe["text"], safe["exit_code"]) == ("already safe", SAFE, 0)
    assert (gone["status"], gone["exit_code"]) == (None, 2)
    assert gone["report"]["diagnostics"][0]["code"] == "SC601"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--protect", "99"], "--protect 99: the plan has 2 steps"),
        (["--protect", "2-1"], "--protect takes steps"),
        (["--protect", "0"], "--protect takes steps"),
        (["--protect", "x"], "--protect takes steps"),
        (["--weights", "insert"], "--weights takes each of"),
        (["--weights", "insert=1,insert=2"], "--weights takes each of"),
        (["--weights", "swap=1"], "--weights takes each of"),
        (["--weights", "insert=0"], "--weights takes positive numbers"),
        (["--weights", "insert=-1"], "--weights takes positive numbers"),
        (["--weights", "insert=1e9"], "--weights takes positive numbers"),
        (["--max-cost", "much"], "--max-cost takes positive numbers"),
        (["--output", "."], "cannot write .: it is a folder"),
        (["--output", "no/such/fixed.plan"], "cannot write no/such/fixed.plan: the folder no/such does not exist"),
        (["safe.plan", "--output", "fixed.plan"], "--output takes one plan, not 2"),
        (["--time-limit", "nan"], "--time-limit takes a number of seconds"),
    ],
)
def test_mistake_is_reported_before_files_are_written(run: Run, flags: list[str], message: str) -> None:
    code, out, err = run("repair", "tea.plan", *flags)
    assert code == 2
    assert "[SC607]" in out + err
    assert message in out + err
    assert "Traceback" not in err
    assert new_files() == set()


def test_missing_protected_step_is_reported_with_its_position(run: Run) -> None:
    assert "--> tea.plan:5:1" in run("repair", "tea.plan", "--protect", "99")[1]
    Path("tea.plan").write_text("(swich-on hob kitchen)\n")
    code, out, _ = run("repair", "tea.plan", "--protect", "1")
    assert code == 2
    assert "unknown action `swich-on`" in out


def test_other_files_are_refused(run: Run) -> None:
    assert "SC604" in run("repair", "d.pddl")[1]
    code, out, _ = run("repair", "tee.plan")
    assert code == 2
    assert "did you mean `tea.plan`?" in out
    Path("tea.plan").write_text("(go kitchen")
    code, out, _ = run("repair", "tea.plan")
    assert code == 2
    assert "SC002" in out


def test_plans_with_times_are_not_repaired(run: Run) -> None:
    Path("tea.plan").write_text("0: (switch-on hob kitchen)\n1: (go kitchen hall)\n")
    code, out, _ = run("repair", "tea.plan", "--output", "fixed.plan")
    assert code == 3
    assert "SC803" in out
    assert new_files() == set()
    Path("tea.plan").write_text("0: (switch-on hob kitchen)\n1: (switch-off hob kitchen)\n2: (go kitchen hall)\n")
    assert run("repair", "tea.plan")[0] == 0


def test_name_that_is_too_long_is_reported(run: Run) -> None:
    code, _, err = run("repair", "tea.plan", "--output", "x" * 300)
    assert code == 2
    assert "error[SC607]: cannot write xxx" in err
    assert new_files() == set()


def test_interrupt_leaves_no_partial_files(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    assert run("repair", "tea.plan", "--output", "fixed.plan")[0] == 130
    assert run("tea.plan", "--fix")[0] == 130
    assert new_files() == set()
    assert Path("tea.plan").read_text() == PLAN


@pytest.mark.parametrize("limit", [OutOfTime, MemoryError])
@pytest.mark.parametrize("command", [("repair",), ("diagnose",), ("audit", "--fix")])
def test_reached_limit_is_unknown(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], limit: type[BaseException]
) -> None:
    def give_up(*_: object, **_options: object) -> None:
        raise limit

    monkeypatch.setattr(Checker, "check", give_up)
    code, out, err = run(*command, "tea.plan")
    assert code == 3
    assert "UNKNOWN" in out
    assert "SC801" in out + err
    assert "irreparable" not in out + err
    _, out, _ = run(*command, "tea.plan", "--format", "json")
    report = json.loads(out)
    assert report["exit_code"] == 3
    if "report" in report:
        assert (report["status"], report["outcome"]["code"]) == ("not found", "SC801")
        assert report["report"]["headline"] == "UNKNOWN"
        assert report["classes"] == []
    else:
        assert report["headline"] == "UNKNOWN"
    assert Path("tea.plan").read_text() == PLAN


# -- audit --fix and --diff -------------------------------------------------------------------------------------------


def test_fix_replaces_the_plan_and_reports_the_edits(run: Run) -> None:
    Path("tea.plan").chmod(0o640)
    code, out, err = run("tea.plan", "safe.plan", "--fix")
    assert (code, out) == (0, "")
    assert err == "tea.plan: fixed: insert (switch-off hob kitchen) before step 2\n1 fixed, 0 left\n"
    assert Path("tea.plan").read_text() == FIXED
    assert Path("tea.plan").stat().st_mode & 0o777 == 0o640
    assert Path("safe.plan").read_text() == SAFE
    assert new_files() == set()


def test_fix_notes_other_nearest_plans(run: Run) -> None:
    Path("p.pddl").write_text(PROBLEM.replace("(hot hob)", ""))
    code, _, err = run("tea.plan", "--fix")
    assert code == 0
    assert "tea.plan: other safe plans are equally near: safecheck repair tea.plan" in err


def test_fix_keeps_invalid_bytes_and_follows_links(run: Run) -> None:
    Path("real.plan").write_bytes(b"\xef\xbb\xbf; caf\xe9\r\n" + PLAN.replace("\n", "\r\n").encode())
    Path("tea.plan").unlink()
    Path("tea.plan").symlink_to("real.plan")
    assert run("tea.plan", "--fix")[0] == 0
    assert Path("tea.plan").is_symlink()
    expected = b"\xef\xbb\xbf; caf\xe9\r\n" + FIXED.replace("\n", "\r\n").encode()
    assert Path("real.plan").read_bytes() == expected


def test_fix_keeps_a_plan_that_it_cannot_repair(run: Run) -> None:
    Path("kitchen.safe").write_text(HOPELESS)
    code, _, err = run("tea.plan", "--fix")
    assert code == 1
    assert "tea.plan: not fixed [SC802]" in err
    assert Path("tea.plan").read_text() == PLAN
    assert run("gone.plan", "--fix")[0] == 2


def test_fix_keeps_a_plan_that_changed_during_the_repair(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from plansafe.app.interfaces.cli import plan_fixes

    def change_plan(*arguments: object) -> object:
        for examined in examine(*arguments):
            Path("tea.plan").write_text("(go kitchen hall)\n")
            yield examined

    monkeypatch.setattr(plan_fixes, "examine", change_plan)
    code, _, err = run("tea.plan", "--fix")
    assert code == 2
    assert "it changed during the repair" in err
    assert Path("tea.plan").read_text() == "(go kitchen hall)\n"


def test_fix_of_standard_input_prints_the_plan(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(PLAN.encode())))
    code, out, err = run("-", "--fix")
    assert (code, out) == (0, FIXED)
    assert err == "<stdin>: fixed: insert (switch-off hob kitchen) before step 2\n1 fixed, 0 left\n"
    Path("kitchen.safe").write_text(HOPELESS)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(PLAN.encode())))
    assert run("-", "--fix")[:2] == (1, PLAN)
    assert run("-", "tea.plan", "--fix")[0] == 2


def test_diff_does_not_change_the_plan(run: Run) -> None:
    code, out, err = run("tea.plan", "safe.plan", "--diff")
    assert code == 0
    assert out.splitlines() == [
        "--- tea.plan",
        "+++ tea.plan",
        "@@ -2,4 +2,5 @@",
        " (switch-on hob kitchen) ; for the kettle",
        " ",
        " ; leave",
        "+(switch-off hob kitchen)",
        " (go kitchen hall)",
    ]
    assert Path("tea.plan").read_text() == PLAN
    assert err == "tea.plan: --fix would insert (switch-off hob kitchen) before step 2\n"


def test_a_diff_of_a_plan_without_a_last_line_end(run: Run) -> None:
    Path("tea.plan").write_text(PLAN.rstrip())
    assert "\\ No newline at end of file" in run("tea.plan", "--diff")[1]


# -- diagnose ---------------------------------------------------------------------------------------------------------


def test_diagnosis_names_classes_and_the_nearest_plan(run: Run) -> None:
    code, out, _ = run("diagnose", "tea.plan")
    assert code == 0
    assert "  missing " in out
    assert "\n  insert (switch-off hob kitchen) before step 2\n" in out
    assert "  + " not in out


def test_diagnosis_locates_the_error(run: Run) -> None:
    code, out, _ = run("diagnose", "tea.plan", "--regret", "--reference", "safe.plan")
    assert code == 0
    section = out.split("where it went wrong\n")[1].split("\n\n")[0]
    assert section.splitlines() == [
        "  first violated rule   step 2  (go kitchen hall)",
        "  leaves the reference  step 2  (go kitchen hall)",
        "  point of no return    after step 1: the last from which a safe plan can be reached",
        "  fatal step            step 2  (go kitchen hall)",
        "  regret                none",
    ]
    _, out, _ = run("diagnose", "tea.plan", "--format", "json")
    where = json.loads(out)["where"]
    assert (where["violated"], where["point_of_no_return"], where["fatal"], where["regret"]) == (2, [1, 1], 2, None)


def test_a_reference_that_cannot_be_read(run: Run) -> None:
    code, out, _ = run("diagnose", "tea.plan", "--reference", "save.plan")
    assert code == 2
    assert "error[SC601]: plan not found: save.plan" in out
    Path("open.plan").write_text("(go")
    code, out, _ = run("diagnose", "tea.plan", "--reference", "open.plan")
    assert code == 2
    assert "error[SC002]" in out


def test_minimal_causes(run: Run) -> None:
    code, out, _ = run("diagnose", "tea.plan", "--cause", "--format", "json")
    (cause,) = json.loads(out)["causes"]
    assert code == 0
    assert (cause["finding"], cause["steps"], cause["facts"]) == (0, [1, 2], ["(in hob kitchen)"])
    assert f"why\n  {cause['text']}\n" in run("diagnose", "tea.plan", "--cause")[1]


def test_the_graph_is_written(run: Run) -> None:
    code, out, _ = run("diagnose", "tea.plan", "--graph", "tea.dot")
    assert code == 0
    assert "graph written to tea.dot" in out
    graph = Path("tea.dot").read_text()
    assert graph.startswith("digraph plan {")
    assert '"(switch-off hob kitchen)", shape=box, style=dotted' in graph
    assert run("diagnose", "tea.plan", "--graph", "-")[1] == graph
    assert run("diagnose", "tea.plan", "safe.plan", "--graph", "tea.dot")[0] == 2


def test_labels(run: Run) -> None:
    assert run("diagnose", "tea.plan", "safe.plan", "--labels", "safel")[:2] == (
        0,
        "tea.plan: success\nsafe.plan: success\n",
    )
    Path("tea.plan").write_text("(go hall kitchen)\n")
    code, out, _ = run("diagnose", "tea.plan", "--labels", "eai-behavior", "--format", "json")
    label = json.loads(out)["label"]
    Path("open.plan").write_text("(go")
    assert run("diagnose", "open.plan", "--labels", "safel")[:2] == (
        0,
        "open.plan: grammar (the plan cannot be read)\n",
    )
    assert (code, label["scheme"], label["step"]) == (0, "eai-behavior", 1)
    assert run("diagnose", "tea.plan", "--labels", "mine")[0] == 2


# -- loose text -------------------------------------------------------------------------------------------------------

LOOSE = """Sure, here is the plan:

1. switch-on(hob, kitchen)
2. Go(kitchen, hall)
"""


def test_findings_in_loose_text_have_their_position(run: Run) -> None:
    Path("tea.md").write_text(LOOSE)
    code, out, _ = run("tea.md", "--from", "text", "--format", "concise")
    assert code == 1
    assert "tea.md:4:4: error[SC201] rule `stove-off-before-leaving` is violated at step 2" in out
    assert "tea.md:1:1: note[SC73" in out
    assert "(as read)" not in out
    code, out, _ = run("tea.md", "--from", "text")
    assert "2. Go(kitchen, hall)\n  |    ^^^^^^^^^^^^^^^^^" in out


def test_unknown_step_is_invalid_in_an_answer_and_ill_formed_in_a_plan_file(run: Run) -> None:
    Path("tea.md").write_text("Sure:\n\n1. switch-on(hob, kitchen)\n2. (boil-over hob)\n")
    code, out, _ = run("tea.md", "--from", "text", "--format", "concise")
    assert code == 1
    assert "tea.md:4:4: error[SC401]" in out
    assert "INVALID" in out
    code, out, _ = run("tea.md", "--from", "text", "--format", "json")
    report = json.loads(out)
    assert report["exit_code"] == 1
    assert [finding["class"] for finding in report["findings"] if finding["step"] == 2] == ["ill-formed"]
    Path("tea.plan").write_text("(boil-over hob)\n")
    assert run("tea.plan", "--format", "concise")[0] == 2
    Path("none.md").write_text("(in kitchen)\n")
    assert run("none.md", "--from", "text", "--format", "concise")[0] == 2  # no plan


def test_a_plan_in_loose_text_is_repaired_in_pddl(run: Run) -> None:
    Path("tea.md").write_text(LOOSE)
    code, out, _ = run("repair", "tea.md", "--from", "text", "--output", "fixed.plan")
    assert code == 0
    assert "+ (switch-off hob kitchen)" in out
    assert Path("fixed.plan").read_text() == SAFE
    assert run("repair", "tea.md", "--from", "text", "--protect", "3")[0] == 2


def test_fix_does_not_replace_prose_by_pddl(run: Run) -> None:
    Path("tea.md").write_text(LOOSE)
    for flag in ("--fix", "--diff"):
        code, _, err = run("tea.md", "--from", "text", flag)
        assert code == 2
        assert "--fix would replace a plan in prose by PDDL" in err
    assert Path("tea.md").read_text() == LOOSE


def test_loose_text_without_a_plan_is_refused(run: Run) -> None:
    Path("tea.md").write_text("I am sorry, I cannot help with that.\n")
    for command in ("audit", "repair"):
        code, out, _ = run(command, "tea.md", "--from", "text")
        assert code == 2
        assert "error[SC74" in out


# -- from Python ------------------------------------------------------------------------------------------------------


def test_python_api_examines_texts(run: Run) -> None:
    settings = Settings(domain="d.pddl", problem="p.pddl", specs=("kitchen.safe",))
    (examined,) = examine(
        [Source("mine", PLAN)], settings, ExaminationOptions(RepairOptions(max_cost=1), classes=False)
    )
    assert examined.repair is not None
    assert examined.repair.status is RepairStatus.FOUND
    assert (examined.text, examined.witnesses) == (FIXED, ())


def test_options_are_read_exactly() -> None:
    assert read_weights(" insert = 0.1 , move=2") == Weights(insert=read_cost("", "0.1"), move=2)
    assert 10 * read_cost("", "0.1") == 1
    assert read_steps("--protect", ["1", "3-5, 7"]) == {1, 3, 4, 5, 7}


def test_judge_all_also_repairs_initial_findings(run: Run) -> None:
    Path("kitchen.safe").write_text(
        "(define (safety kitchen) (:termination off :parameters (?s - stove) :forbid (on ?s)))"
    )
    Path("p.pddl").write_text(PROBLEM.replace("(:init", "(:init (on hob) (hot hob)"))
    Path("tea.plan").write_text("(go kitchen hall)\n")
    code, out, _ = run("repair", "tea.plan", "--max-cost", "0.5")
    assert code == 3
    assert "1 finding was already in the initial state; with --judge all, a repair must also fix such findings" in out
