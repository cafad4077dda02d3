"""Test ``--world`` and the commands about worlds and hazards, with correct and mistaken arguments."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from in_process import safecheck
from plansafe.app.interfaces.cli import lint, repair_report
from plansafe.app.interfaces.cli.commandline import app
from plansafe.app.session.audit import audit
from plansafe.app.session.model import Settings
from plansafe.app.system import process
from quick import quick_every

SAFECHECK = [sys.executable, "-m", "plansafe.app.main"]
NODES = [
    (1, "kitchen", "Rooms", [], []),
    (2, "character", "Characters", [], []),
    (3, "stove", "Appliances", ["HAS_SWITCH", "CAN_OPEN", "CONTAINERS"], ["CLOSED", "OFF"]),
    (4, "mug", "Props", ["GRABBABLE", "MOVABLE"], ["CLEAN"]),
    (5, "table", "Furniture", ["SURFACES"], ["CLEAN"]),
]
GRAPH = {
    "nodes": [
        {"id": number, "class_name": name, "category": category, "properties": properties, "states": states}
        for number, name, category, properties, states in NODES
    ],
    "edges": [
        *[{"from_id": number, "relation_type": "INSIDE", "to_id": 1} for number in (2, 3, 4, 5)],
        {"from_id": 4, "relation_type": "ON", "to_id": 5},
    ],
}
TEA = """(define (problem tea) (:domain igibson)
  (:objects cup.n.01_1 - cup.n.01 gadget.n.09_1 - gadget.n.09 agent.n.01_1 - agent.n.01)
  (:init (inside cup.n.01_1 gadget.n.09_1)) (:goal (inside ?cup.n.01_1 ?gadget.n.09_1)))"""
CARELESS = "Cook\nSwitch the stove on.\n\n[WALK] <stove> (1.3)\n[SWITCHON] <stove> (1.3)\n[WALK] <table> (1.5)\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a graph and a script that leaves the stove on."""
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH), encoding="utf-8")
    (tmp_path / "cook.txt").write_text(CARELESS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def mistaken(home: Path) -> Path:
    """The same folder, with invalid files."""
    (home / "graph.json.gz").write_bytes(gzip.compress((home / "graph.json").read_bytes())[:-20])
    (home / "wide.txt").write_bytes(CARELESS.encode("utf-16"))
    (home / "cut.json").write_text('{"nodes": [')
    (home / "empty.toml").write_text("")
    (home / "typo.toml").write_text('[ours.categories]\nburns = { hazards = ["fier"] }\n')
    (home / "tea.txt").write_text("find Mug\n")
    (home / "room.txt").write_text("Mug\n")
    (home / "goal.json").write_text('{"final_state": [{"objectType": "Mug", "isDirtty": true}]}')
    (home / "tea.bddl").write_text(TEA)
    return home


def run(*arguments: str, cwd: Path) -> tuple[int, str]:
    """Run the command; return its exit code and all that it printed."""
    process = safecheck(*arguments, cwd=cwd)
    assert "Traceback" not in process.stderr
    return process.returncode, process.stdout + process.stderr


def test_a_script_is_audited_like_a_plan(home: Path) -> None:
    code, text = run("audit", "--world", "virtualhome", "cook.txt", "--graph", "graph.json", cwd=home)
    assert code == 1
    assert "rule `heat-off-at-the-end` is violated at the end of the plan" in text
    assert "cook.txt:6:1" in text
    assert "[SWITCHON] <stove> (1.3)" in text
    assert "scene          graph.json  (--scene)" in text
    assert "blame: pre-existing" not in text


@pytest.mark.slow
def test_a_repair_is_a_script(home: Path) -> None:
    code, text = run("repair", "--world", "virtualhome", "cook.txt", "--graph", "graph.json", "--output", "-", cwd=home)
    assert code == 0, text
    assert "Switch the stove on." in text
    repaired = home / "repaired.txt"
    code, _ = run(
        "repair", "--world", "virtualhome", "cook.txt", "--graph", "graph.json", "--output", "repaired.txt", cwd=home
    )
    assert code == 0
    assert repaired.read_text(encoding="utf-8").startswith("Cook\nSwitch the stove on.\n\n[WALK] <stove> (1.3)\n")
    settings = Settings(world="virtualhome", scene=str(home / "graph.json"))
    (result,) = audit([str(repaired)], settings)
    assert result.report.headline is not None
    assert result.report.headline.value == "SAFE"


def test_a_folder_of_scripts(home: Path) -> None:
    (home / "scripts").mkdir()
    for number in range(3):
        (home / "scripts" / f"{number}.txt").write_text(CARELESS, encoding="utf-8")
    code, text = run("--world", "virtualhome", "scripts", "--scene", "graph.json", "--format", "concise", cwd=home)
    assert code == 1
    assert text.count("heat-off-at-the-end") == 3


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    quick_every(
        6,
        [
            (("--world", "virtualhmoe", "cook.txt"), "SC610", "did you mean `virtualhome`?"),
            (("--world", "virtualhome", "cook.txt"), "SC603", "--scene FILE"),
            (("--world", "virtualhome", "cook.txt", "--scene", "nothing.json"), "SC601", "nothing.json"),
            (("--world", "virtualhome", "nothing.txt", "--scene", "graph.json"), "SC601", "nothing.txt"),
            (("--world", "virtualhome", "cook.txt", "--scene", "cook.txt"), "SC010", "cook.txt"),
            (("--world", "virtualhome", "graph.json", "--scene", "graph.json"), "SC011", "graph.json"),
            (("cook.txt", "--scene", "graph.json"), "SC607", "--world"),
            (
                ("--world", "virtualhome", "cook.txt", "--scene", "graph.json", "--from", "text"),
                "SC607",
                "leave one out",
            ),
            (("worlds", "show", "hoursehold"), "SC610", "did you mean `household`?"),
            (("worlds", "scene", "nowhere"), "SC610", "known worlds"),
            (("worlds", "scene", "virtualhome", "--scene", "nothing.json"), "SC601", "nothing.json"),
            (("rules", "hazards", "nonsense"), "SC607", "safel"),
            (("rules", "hazards", "--table", "nothing.toml"), "SC601", "nothing.toml"),
            (("rules", "hazards", "--domain", "nowhere"), "SC610", "virtualhome"),
            (("detector", "nothing"), "SC601", "virtualhome"),
            (("detector", "cook.txt"), "SC776", "cook.txt"),
            (
                ("diagnose", "--world", "virtualhome", "cook.txt", "--graph", "graph.json"),
                "SC607",
                "name a scene with --scene",
            ),
            (("detector", "virtualhom"), "SC601", "did you mean `virtualhome`?"),
            (("detector", "nothing"), "SC601", "igibson, virtualhome"),
            (("rules", "hazards", "safl"), "SC607", "did you mean `safel`?"),
            (("rules", "hazards", "--table", "empty.toml"), "SC775", "has no taxonomy"),
            (("rules", "hazards", "--table", "typo.toml"), "SC775", "did you mean `fire`?"),
            (("rules", "hazards", "--domain", "safety-chip"), "SC610", "no mapping for the world safety-chip"),
            (("--world", "virtualhome", "cook.txt", "--scene", "graph.json.gz"), "SC001", "gunzip --test"),
            (("--world", "virtualhome", "wide.txt", "--scene", "graph.json"), "SC001", "UTF-16"),
            (("--world", "virtualhome", "cook.txt", "--scene", "cut.json"), "SC010", "this JSON is cut off"),
            (
                ("--world", "virtualhome", "cook.txt", "--scene", "graph.json", "--task", "1"),
                "SC014",
                "remove --task",
            ),
            (
                ("--world", "virtualhome", "cook.txt", "--scene", "graph.json", "--problem", "p"),
                "SC601",
                "not found: p",
            ),
            (
                ("--world", "virtualhome", "cook.txt", "--scene", "graph.json", "--problem", "cut.json"),
                "SC607",
                "--problem",
            ),
            (("--world", "household", "cook.txt", "--scene", "graph.json"), "SC610", "leave out --world"),
            (
                ("--world", "safeagentbench", "tea.txt", "--scene", "room.txt", "--task", "1"),
                "SC014",
                "remove --task",
            ),
            (
                ("--world", "safeagentbench", "tea.txt", "--scene", "room.txt", "--goal", "goal.json"),
                "SC010",
                "`isDirty`",
            ),
            (("--world", "igibson", "tea.txt", "--scene", "tea.bddl", "--task", "cook"), "SC014", "`tea`"),
            (
                ("--world", "igibson", "tea.txt", "--scene", "tea.bddl", "--goal", "tea.bddl"),
                "SC010",
                "remove --goal",
            ),
            (("worlds", "show", "igibsn"), "SC610", "did you mean `igibson`?"),
            (("worlds", "scene", "igibson"), "SC603", "--scene FILE"),
            (("worlds", "scene", "despite", "--scene", "graph.json"), "SC603", "--domain FILE"),
            (("worlds", "scene", "virtualhome", "--scene", "cut.json"), "SC010", "cut.json:1:11"),
            (("lint", "nothing.safe"), "SC601", "specification not found: nothing.safe"),
            (("lint", "hom"), "SC601", "did you mean `home`?"),
            (("lint", "--domain", "vitualhome"), "SC601", "did you mean `virtualhome`?"),
            (("lint",), "SC602", "no input: name a specification"),
            (("lint", "graph.json", "--domain", "household"), "SC003", "not a specification"),
            (("lint", "--world", "virtualhome", "--scene", "cut.json"), "SC010", "cut.json:1:11"),
            (("lint", "--world", "virtualhome", "--task", "1"), "SC607", "name it with --scene"),
            (("lint", "--world", "virtualhome", "--domain", "household"), "SC607", "does not use --domain"),
            (("lint", "--world", "despite", "--scene", "graph.json"), "SC603", "--problem FILE"),
        ],
    ),
)
def test_mistakes_are_reported(
    mistaken: Path,
    arguments: tuple[str, ...],
    code: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(mistaken)
    for module in (process, lint, repair_report):
        monkeypatch.setattr(module, "limit_memory", lambda _: None)
    with pytest.raises(SystemExit) as stop:
        app(list(arguments), prog_name="safecheck")
    text = "".join(capsys.readouterr())
    assert stop.value.code == 2, text
    assert "Traceback" not in text
    assert code in text
    assert message in text


def test_library_applies_to_all_mapped_worlds(mistaken: Path) -> None:
    """This includes worlds that add the types of a task to their domain."""
    for world, scene in (("safeagentbench", "room.txt"), ("igibson", "tea.bddl"), ("bddl", "tea.bddl")):
        (mistaken / "nothing.txt").write_text("")
        _, text = run("--world", world, "nothing.txt", "--scene", scene, "--format", "concise", cwd=mistaken)
        assert " rules, " in text, text
        assert " 0 rules" not in text, text


def test_plan_without_steps_is_reported(home: Path) -> None:
    (home / "empty.txt").write_text("")
    code, text = run("--world", "virtualhome", "empty.txt", "--scene", "graph.json", cwd=home)
    assert code in (0, 1)
    assert "warning[SC011]: the plan has no steps" in text


@pytest.mark.slow
def test_closed_streams_and_full_disks_are_reported(home: Path) -> None:
    command = [*SAFECHECK, "--world", "virtualhome", "-", "--scene", "graph.json"]
    shell = ["sh", "-c", '"$@" <&-', "sh", *command]
    completed = subprocess.run(shell, cwd=home, capture_output=True, text=True, timeout=120, check=False)
    assert completed.returncode == 2
    assert "standard input is closed" in completed.stdout
    for command in (["worlds"], ["rules", "hazards", "safel"], ["lint", "nothing.safe"]):
        shell = ["sh", "-c", '"$@" >/dev/full', "sh", *SAFECHECK, *command]
        completed = subprocess.run(shell, cwd=home, capture_output=True, text=True, timeout=120, check=False)
        assert (completed.returncode, completed.stderr.splitlines()[0]) == (
            2,
            "error[SC607]: cannot write standard output: no space left on device",
        )
    shell = ["sh", "-c", '"$@" >&-', "sh", *SAFECHECK, "worlds"]
    completed = subprocess.run(shell, cwd=home, capture_output=True, text=True, timeout=120, check=False)
    assert (completed.returncode, completed.stderr) == (0, "")


def test_messages_about_a_wrong_file_are_limited(home: Path) -> None:
    (home / "log.txt").write_text("this is a log\n" * 1000)
    (home / "room.txt").write_text("Mug\n")
    code, text = run("--world", "safeagentbench", "log.txt", "--scene", "room.txt", "--format", "concise", cwd=home)
    assert code == 2
    assert text.count("this is not a step") == 20
    assert "980 more messages like the last one are not shown" in text


def test_existing_files_are_not_overwritten(home: Path) -> None:
    (home / "domain.pddl").write_text("mine")
    export = ("worlds", "scene", "virtualhome", "cook.txt", "--scene", "graph.json")
    code, text = run(*export, cwd=home)
    assert (code, (home / "domain.pddl").read_text()) == (2, "mine")
    assert "the file exists already" in text
    assert not (home / "problem.pddl").exists()
    assert run(*export, "-o", "made", cwd=home)[0] == 0
    assert run(*export, "-o", "made", cwd=home)[0] == 0


def test_table_may_omit_hazards(home: Path) -> None:
    (home / "ours.toml").write_text('[ours.categories]\nburns = { hazards = ["fire"] }\n')
    code, text = run("rules", "hazards", "--table", "ours.toml", cwd=home)
    assert code == 0
    assert "SC777" in text
    assert "heat-off-at-the-end" in text


def test_an_unknown_step_keeps_its_place(home: Path) -> None:
    (home / "odd.txt").write_text("[WALK] <stove> (1.3)\n[DANCE] <stove> (1.3)\n", encoding="utf-8")
    code, text = run("--world", "virtualhome", "odd.txt", "--scene", "graph.json", cwd=home)
    assert code == 2
    assert "odd.txt:2:1" in text


def test_domains_are_listed_shown_and_exported(home: Path) -> None:
    code, text = run("worlds", cwd=home)
    assert code == 0
    assert "virtualhome" in text
    assert "household" in text
    code, text = run("worlds", "show", "virtualhome", cwd=home)
    assert code == 0
    assert "(grab ?c ?x)" in text
    assert "rules         " in text
    code, text = run("worlds", "scene", "virtualhome", "cook.txt", "--scene", "graph.json", "-o", "made", cwd=home)
    assert code == 0, text
    assert {path.name for path in (home / "made").iterdir()} == {"domain.pddl", "problem.pddl", "cook.plan"}
    code, _ = run("made/cook.plan", "--no-default-spec", cwd=home)
    assert code == 0


def test_hazards_and_detectors(home: Path) -> None:
    code, text = run("rules", "hazards", "safel", cwd=home)
    assert code == 0
    assert "human-fire" in text
    code, text = run("detector", "virtualhome", "-o", "detector.safe", cwd=home)
    assert code == 0, text
    spec = ("--spec", "detector.safe")
    code, text = run("--world", "virtualhome", "cook.txt", "--scene", "graph.json", *spec, cwd=home)
    assert code == 1
    assert "fire-and-heat" in text


OWN_TABLE = """name = "own"
extends = "home"
categories = ["fire"]
[process]
switch-on = { x = "open-heat", categories = ["fire"], message = "{?x} is switched on" }
"""


@pytest.mark.parametrize(
    "spec_options", [("--spec", "own.safe"), ("--spec", "own.safe", "--spec", "home-virtualhome"), ()]
)
def test_a_detector_that_extends_the_library_needs_no_mapping(home: Path, spec_options: tuple[str, ...]) -> None:
    (home / "own.toml").write_text(OWN_TABLE, encoding="utf-8")
    assert run("rules", "detector", "own.toml", "-o", "own.safe", cwd=home)[0] == 0
    world = ("--world", "virtualhome", "--scene", "graph.json", "--format", "json")
    code, text = run("cook.txt", *world, *spec_options, cwd=home)
    assert code == 1
    report = json.loads(text)
    rules = {finding["rule"] for finding in report["findings"]}
    assert "switch-on-1" in rules and "heat-off-at-the-end" in rules
    inputs = [entry["path"].rpartition("/")[2] for entry in report["inputs"] if entry["role"] == "specification"]
    assert inputs[:2] == ["own.safe", "home-virtualhome.safe"] and inputs.count("home-virtualhome.safe") == 1
    assert all([finding["replayed"] for finding in report["findings"]])


@pytest.mark.slow
def test_gaps_of_a_specification(home: Path) -> None:
    examples = Path(__file__).resolve().parents[2] / "examples"
    (home / "mine.safe").write_text(
        "(define (safety mine) (:domain household) (:termination kettle-off :parameters (?k - kettle)"
        " :forbid (running ?k) :hazard fire :target human))",
        encoding="utf-8",
    )
    problem = ("--problem", str(examples / "dinner" / "problem.pddl"))
    code, text = run("lint", "mine.safe", "--gaps", *problem, "--time-limit", "60", cwd=home)
    assert code == 1, text
    assert "gap[SC76" in text
    assert "a rule that this plan would break, and that another plan keeps:" in text
    code, text = run("lint", "mine.safe", "--gaps", "--domain", "household", cwd=home)
    assert code == 2
    code, text = run("lint", "mine.safe", *problem, "--example", "x.plan", cwd=home)
    assert code == 2
    assert "--gaps" in text
    code, text = run("lint", "mine.safe", "--gaps", *problem, "--example", "x.plan", cwd=home)
    assert code == 2
    assert "x.plan" in text
