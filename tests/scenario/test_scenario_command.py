"""``safecheck bench scenario check``, ``fix`` and ``accept`` in this process: files, formats, exit codes, mistakes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from case_files import read_cases
from in_process import run_app
from plansafe.llm.scenarios.reading import SHIPPED
from quick import quick_every

HERE = Path(__file__).parent
CRITERIA = {case.name: case for case in read_cases(HERE / "criteria.md")}
CORRECTIONS = {case.name: case for case in read_cases(HERE / "corrections.md")}
Run = Callable[..., tuple[int, str, str]]
BASE = ("--base", "base.pddl")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    shutil.copy(HERE / "base.pddl", tmp_path)
    for name in ("foil", "too-short", "syntax"):
        CRITERIA[name].write(tmp_path / "set" / name)
    CORRECTIONS["names"].write(tmp_path / "names")

    def call(*arguments: str) -> tuple[int, str, str]:
        exit_code = run_app("bench", "scenario", *arguments)
        return exit_code, *capsys.readouterr()

    return call


QUICK = ("--profile", "executable", "--memory-limit", "0")


def test_a_scenario_that_meets_all_criteria(run: Run) -> None:
    code, out, _ = run("check", "set/foil", *BASE, "--memory-limit", "0")
    assert code == 0
    assert "ACCEPTED   met: declared, actions, solvable, contrast, steps, unique, references   (profile safel)" in out
    assert "the safe way, one way (8 steps, also replayed by the kernel)" in out
    assert "rule `metal-in-the-microwave` is violated at step 6" in out


def test_a_scenario_that_violates_a_criterion(run: Run) -> None:
    code, out, _ = run("check", "set/too-short/problem.pddl", *BASE, "--memory-limit", "0")
    assert code == 1
    assert "REJECTED   violated: steps   explain: safecheck --explain SC771" in out
    assert "--> set/too-short/problem.pddl:5:3" in out


@pytest.mark.parametrize("name", ["empty.scenarios", "empty.risks"])
def test_a_file_without_scenarios_is_not_accepted(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("", encoding="utf-8")
    code, _, err = run("accept", name)
    assert code == 2
    assert "the files have no scenario to judge" in err


def test_several_scenarios_as_json(run: Run) -> None:
    code, out, _ = run("check", "set", *BASE, *QUICK, "--format", "json")
    assert code == 1
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["scenario"] for line in lines] == ["set/foil", "set/syntax", "set/too-short"]
    assert [line["exit_code"] for line in lines] == [0, 1, 0]
    (broken,) = [c for c in lines[1]["criteria"] if c["verdict"] == "no"]
    assert broken["code"] == "SC765"
    assert broken["diagnostics"][0]["labels"][0]["span"]["source"] == "set/syntax/problem.pddl"
    assert {i["role"] for i in lines[0]["inputs"]} == {"problem", "base", "domain", "specification", "reference plan"}


def test_the_limits_leave_a_criterion_open(run: Run) -> None:
    code, out, _ = run("check", "set/foil", *BASE, "--time-limit", "0.001", "--skip", "contrast", "--memory-limit", "0")
    assert code == 3
    assert "UNDECIDED   not known:" in out


def test_a_shipped_base(run: Run, tmp_path: Path) -> None:
    objects = "(:objects r - robot k - room) (:init (present r k)) (:goal (present r k))"
    (tmp_path / "one.pddl").write_text(f"(define (problem p) (:domain household) {objects})")
    code, out, _ = run("check", "one.pddl", *QUICK)
    assert code == 0
    assert "household/domain.pddl  (shipped)" in out
    code, _, err = run("check", "one.pddl", "--base", "houshold")
    assert code == 2
    assert "error[SC602]" in err
    assert "did you mean `household`?" in err


# ---- fix ------------------------------------------------------------------------------------------------------------


def test_corrections_are_printed_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    before = (tmp_path / "names/problem.pddl").read_text()
    code, out, _ = run("fix", "names", *BASE, "--memory-limit", "0")
    assert code == 0
    assert "4 corrections" in out
    place = "names/problem.pddl:5:11 [near-name]"
    assert f"{place} predicate `is_cooked` is not declared; `cooked` is: `is_cooked` -> `cooked`" in out
    assert "nothing was written" in out
    assert (tmp_path / "names/problem.pddl").read_text() == before


def test_a_diff(run: Run) -> None:
    code, out, _ = run("fix", "names", *BASE, "--diff", "--memory-limit", "0")
    assert code == 0
    assert out.startswith("--- a/names/problem.pddl\n+++ b/names/problem.pddl\n")
    assert "-  (:goal (is_cooked sandwhich_1)))\n+  (:goal (cooked sandwich_1)))\n" in out
    assert run("fix", "set/foil", *BASE, "--diff", "--memory-limit", "0")[1] == ""


def test_a_new_folder(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("fix", "set/syntax", *BASE, "--output", "new/one", "--memory-limit", "0")
    assert code == 0
    assert "written to new/one" in out
    assert sorted([path.name for path in (tmp_path / "new/one").iterdir()]) == [
        "domain.pddl",
        "problem.pddl",
        "rules.safe",
    ]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["one"]
    assert run("check", "new/one", *BASE, *QUICK)[0] == 0
    code, _, err = run("fix", "set/syntax", *BASE, "--output", "new/one")
    assert code == 2
    assert "is there already" in err


def test_a_folder_for_each_of_several(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("fix", "set", *BASE, "--output", "all", "--format", "json", "--memory-limit", "0")
    assert code == 0
    assert sorted([path.name for path in (tmp_path / "all").iterdir()]) == ["foil", "syntax", "too-short"]
    lines = [json.loads(line) for line in out.splitlines()]
    assert [len(line["corrections"]) for line in lines] == [0, 1, 0]
    assert [c["path"] for c in lines[1]["changed"]] == ["set/syntax/problem.pddl"]
    assert (lines[1]["corrections"][0]["line"], lines[1]["corrections"][0]["rule"]) == (5, "parenthesis")


def test_a_write_that_fails_leaves_nothing_behind(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("plansafe.app.interfaces.cli.scenario.commands.os.rename", refuse)
    code, _, err = run("fix", "set/syntax", *BASE, "--output", "new", "--memory-limit", "0")
    assert code == 2
    assert "cannot write new: no space left on device" in err
    assert not [path for path in tmp_path.iterdir() if "new" in path.name]


# ---- mistakes of the user -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    quick_every(6, [
        (("check",), 2, "Missing argument"),
        (("check", "nowhere"), 2, "problem not found: nowhere"),
        (("check", "base.pddl"), 2, "base.pddl is a domain, not a scenario"),
        (("check", "empty.pddl"), 2, "empty.pddl is empty"),
        (("check", "bare"), 2, "no scenario in the folder bare"),
        (("check", "set/foil", "--base", "set/foil/problem.pddl"), 2, "is not a domain"),
        (("check", "alone"), 2, "no domain for alone/problem.pddl"),
        (("check", "void"), 2, "the domain void/domain.pddl is empty"),
        (("check", "two"), 2, "the folder of the problem has several domains: a-domain.pddl, b-domain.pddl"),
        (("check", "set/foil", "--skip", "luck"), 2, "'luck' is not a criterion"),
        (("check", "set/foil", "--skip", "contrst"), 2, "did you mean `contrast`?"),
        (("check", "set/foil", "--spec", "hom"), 2, "did you mean `home`?"),
        (("check", "set/foil", "--time-limit", "nan"), 2, "--time-limit takes a number of seconds above 0"),
        (("check", "set/foil", "--spec", "no-such-rules"), 2, "no-such-rules"),
        (("check", "set/foil/rules.safe"), 2, "is a safety specification, not a scenario"),
        (("fix", "names", "--output", "o", "--diff"), 2, "--diff writes nothing"),
        (("check", "binary.pddl"), 2, "binary.pddl is not a problem"),
    ]),
)  # fmt: skip
def test_mistakes_of_use_are_reported(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    problem = "(define (problem p) (:domain d) (:goal (and)))"
    (tmp_path / "empty.pddl").write_text(" \n")
    (tmp_path / "binary.pddl").write_bytes(bytes(range(256)))
    for folder in ("bare", "alone", "void", "two"):
        (tmp_path / folder).mkdir()
        if folder != "bare":
            (tmp_path / folder / "problem.pddl").write_text(problem)
    (tmp_path / "void/domain.pddl").write_text("")
    for name in "ab":
        (tmp_path / f"two/{name}-domain.pddl").write_text(f"(define (domain {name}))")
    exit_code, _, err = run(*arguments)
    assert exit_code == code
    assert message in err
    assert "Traceback" not in err


def test_files_are_found_by_name_if_their_text_is_broken(run: Run, tmp_path: Path) -> None:
    CORRECTIONS["from-a-chat"].write(tmp_path / "chat")
    code, out, _ = run("fix", "chat", *BASE, "--memory-limit", "0")
    assert code == 0
    assert "[fence]" in out


def test_nothing_from_a_file_reaches_the_terminal_unescaped(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x/problem.pddl").write_text("(define (problem p) (:domain small-home) (:goal (\x1b[31mred)))")
    for command in ("check", "fix"):
        code, out, err = run(command, "x", *BASE, *QUICK)
        assert code == 1
        assert "\x1b" not in out + err


@pytest.mark.slow
def test_a_folder_with_a_description_needs_no_options(run: Run, tmp_path: Path) -> None:
    for name in ("flowerpot-above-the-cot", "television-in-one-hand"):
        shutil.copytree(Path(SHIPPED) / name, tmp_path / "own" / name)
    quick = ("--skip", "unique", "--skip", "steps", "--memory-limit", "0", "--format", "json")
    code, out, _ = run("check", "own", *quick)
    assert code == 0
    first, second = [json.loads(line) for line in out.splitlines()]
    assert {c["name"]: c["verdict"] for c in first["criteria"]} == dict.fromkeys(
        ("declared", "actions", "solvable", "contrast", "references"), "yes"
    )
    assert [c["verdict"] for c in second["criteria"]] == ["yes"] * 5
    table = tmp_path / "own" / "flowerpot-above-the-cot" / "scenario.toml"
    table.write_text(table.read_text(encoding="utf-8").replace("version = 1", "version = 7"), encoding="utf-8")
    code, _, err = run("check", "own/flowerpot-above-the-cot", *quick)
    assert code == 2
    assert "SC778" in err


@pytest.mark.parametrize("name", quick_every(2, ["flowerpot-above-the-cot", "television-in-one-hand"]))
def test_a_missing_parenthesis_is_fixed_in_a_folder_with_a_description(run: Run, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "own" / name
    shutil.copytree(Path(SHIPPED) / name, folder)
    problem = folder / "problem.pddl"
    complete = problem.read_text(encoding="utf-8").rstrip()
    problem.write_text(complete[:-1], encoding="utf-8")
    quick = ("--profile", "executable", "--memory-limit", "0")
    code, _, err = run("fix", f"own/{name}", *quick, "-o", "fixed")
    assert (code, err) == (0, "")
    assert (tmp_path / "fixed" / "problem.pddl").read_text(encoding="utf-8").rstrip() == complete
    assert run("check", f"own/{name}", *quick)[0] == 2
