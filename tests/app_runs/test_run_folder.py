"""Test run folders: content, killed writers, several processes, invalid plans, refused requests."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from runs_house import SAFE, UNSAFE, audit_command, rows_without_times, run_audit, write_table

from plansafe.app.runs import BadRun, read_run
from quick import quick_every

SCHEMAS = Path(__file__).parents[2] / "app" / "plansafe" / "app" / "schema"


def schema(name: str) -> Any:
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


def test_run_has_one_row_per_plan_in_input_order(home: Path) -> None:
    write_table(home / "plans.jsonl", 8)
    process = run_audit(home, "plans.jsonl", "--run", "run")
    assert process.returncode == 2, process.stderr  # two rows have no executable plan
    run = read_run(home / "run")
    rows = list(run.rows())
    row_schema = jsonschema.Draft202012Validator(schema("run-1"))
    for row in rows:
        row_schema.validate(row)
    jsonschema.Draft202012Validator(schema("run-manifest-1")).validate(run.manifest)
    assert [row["id"] for row in rows] == [f"p{n}" for n in range(8)]
    assert [row["headline"] for row in rows[:4]] == ["SAFE", "UNSAFE", "INVALID", "INVALID"]
    assert rows[1]["columns"] == {"id": "p1", "room": "night", "model": "m"}
    assert rows[1]["taxonomy"]["off-at-the-end"]["safel"] == ["human-fire"]
    assert rows[0]["kept"] == ["off-at-the-end"]
    assert run.complete
    assert run.manifest["plans"] == 8
    assert {Path(path).name for path in run.manifest["inputs"]} == {
        "plans.jsonl", "domain.pddl", "house.safe", "day.pddl", "night.pddl",
    }  # fmt: skip
    assert run.manifest["rules"]["off-at-the-end"]["hazard"] == "fire"
    assert "UNSAFE" in process.stdout
    assert sorted(path.name for path in (home / "run").iterdir()) == ["manifest.json", "results.jsonl"]


def test_full_state_option_stores_the_state(home: Path) -> None:
    write_table(home / "plans.jsonl", 2)
    for name, flags in (("brief", ()), ("full", ("--full-state",))):
        assert run_audit(home, "plans.jsonl", "--run", name, *flags).returncode == 1
    _, brief = read_run(home / "brief").rows()
    _, full = read_run(home / "full").rows()
    assert brief["findings"][0]["state"] == []
    assert full["findings"][0]["state"] == ["(in hob kitchen)", "(on hob)", "(robot-in hall)"]


def test_several_processes_write_the_same_rows(home: Path) -> None:
    write_table(home / "plans.jsonl", 40)
    assert run_audit(home, "plans.jsonl", "--run", "one").returncode == 2
    assert run_audit(home, "plans.jsonl", "--run", "two", "--jobs", "2").returncode == 2
    assert rows_without_times(home / "one") == rows_without_times(home / "two")
    assert len(rows_without_times(home / "one")) == 40


@pytest.mark.slow
def test_killed_run_resumes_without_lost_or_repeated_rows(home: Path) -> None:
    write_table(home / "plans.jsonl", 2000)
    assert run_audit(home, "plans.jsonl", "--run", "undisturbed").returncode == 2
    randomness, row_counts = random.Random(5), []
    kills = 0
    while kills < 5:
        flag = "--resume" if kills else "--run"
        child = subprocess.Popen(
            audit_command(home, "plans.jsonl", flag, "run", "--jobs", "2"), cwd=home, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        journal = home / "run" / "shards" / "000000.part"
        size = journal.stat().st_size if journal.exists() else 0
        while child.poll() is None and (not journal.exists() or journal.stat().st_size <= size):
            time.sleep(0.002)
        time.sleep(randomness.random() * 0.1)
        os.kill(child.pid, signal.SIGKILL)
        assert child.stderr is not None
        errors = child.stderr.read().decode()
        assert child.wait() == -signal.SIGKILL, errors
        kills += 1
        row_counts.append(len(list(read_run(home / "run").rows())))
    assert row_counts == sorted(row_counts)
    assert 0 < row_counts[0] < row_counts[-1]
    process = run_audit(home, "plans.jsonl", "--resume", "run")
    assert process.returncode == 2, process.stderr
    assert rows_without_times(home / "run") == rows_without_times(home / "undisturbed")


def test_torn_row_is_removed(home: Path) -> None:
    write_table(home / "plans.jsonl", 40)
    run_audit(home, "plans.jsonl", "--run", "undisturbed")
    run = home / "run"
    (run / "shards").mkdir(parents=True)
    manifest = json.loads((home / "undisturbed" / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "complete": False, "ended": None}))
    text = (home / "undisturbed" / "results.jsonl").read_bytes()
    (run / "shards" / "000000.part").write_bytes(text[: len(text) // 2])
    process = run_audit(home, "plans.jsonl", "--resume", "run")
    assert process.returncode == 2, process.stderr
    assert rows_without_times(run) == rows_without_times(home / "undisturbed")
    assert (run / "results.jsonl").read_bytes()[: len(text) // 2 - 20_000] == text[: len(text) // 2 - 20_000]


def test_invalid_row_does_not_stop_the_run(home: Path) -> None:
    rows = [
        json.dumps({"id": 1, "plan": SAFE, "room": "day"}),
        "{",
        json.dumps({"id": 3, "room": "day"}),
        json.dumps({"id": 4, "plan": SAFE, "room": "../../etc/passwd"}),
        json.dumps({"id": 5, "plan": SAFE, "room": "cellar"}),
        json.dumps({"id": 6, "plan": "\n".join(UNSAFE), "room": "night"}),
    ]
    (home / "plans.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    process = run_audit(home, "plans.jsonl.gz", "--run", "run")
    outcomes = [
        (row["id"], row["headline"], [d["code"] for d in row["diagnostics"]]) for row in read_run(home / "run").rows()
    ]
    assert outcomes == [
        ("1", "SAFE", []),
        ("plans.jsonl.gz:2", "NOT CHECKED", ["SC648"]),
        ("3", "NOT CHECKED", ["SC648"]),
        ("4", "NOT CHECKED", ["SC648"]),
        ("5", "NOT CHECKED", ["SC601"]),
        ("6", "UNSAFE", []),
    ]
    assert process.returncode == 2


def test_value_with_slashes_reaches_only_files_below_the_folder(home: Path) -> None:
    (home / "rooms" / "a" / "b").mkdir(parents=True)
    (home / "outside").mkdir()
    for folder in ("rooms/a/b", "outside"):
        (home / folder / "day.pddl").write_bytes((home / "rooms" / "day.pddl").read_bytes())
    (home / "rooms" / "link").symlink_to(home / "outside")
    (home / "rooms" / "inside").symlink_to(home / "rooms" / "a")
    rooms = ["a/b/day", "inside/b/day", "link/day", "a/../a/b/day", "./a/b/day", "a//b/day", "/a/b/day", "a/b\\day"]
    rooms += ["../outside/day", str(home / "outside" / "day"), "a/b/day/", "a/b/none"]
    rows = [json.dumps({"id": n, "plan": SAFE, "room": room}) for n, room in enumerate(rooms)]
    (home / "plans.jsonl").write_text("\n".join(rows))
    process = run_audit(home, "plans.jsonl", "--run", "run")
    outcomes = [(row["headline"], [d["code"] for d in row["diagnostics"]]) for row in read_run(home / "run").rows()]
    refused = ("NOT CHECKED", ["SC648"])
    assert outcomes == [("SAFE", [])] * 2 + [refused] * 9 + [("NOT CHECKED", ["SC601"])]
    assert process.returncode == 2
    assert "leads out of rooms through a link" in process.stdout


def test_csv_is_read_with_its_columns(home: Path) -> None:
    (home / "plans.csv").write_text('name,steps,room\ntea,"(go kitchen hall)",day\nsoup,short\n')
    assert run_audit(home, "plans.csv", "--run", "run", "--id", "name", "--plan-column", "steps").returncode == 2
    first, second = read_run(home / "run").rows()
    assert (first["id"], first["headline"], first["columns"]) == ("tea", "SAFE", {"name": "tea", "room": "day"})
    assert second["diagnostics"][0]["message"] == "plans.csv:3: the row has 2 cells, and the head has 3"


@pytest.mark.parametrize(
    ("words", "message"),
    quick_every(
        6,
        [
            (("plans.jsonl", "--run", "run"), "there is a run in run"),
            (("plans.jsonl", "--run", "rooms"), "the folder rooms is not empty"),
            (("plans.jsonl", "--resume", "rooms"), "rooms is not a run"),
            (("plans.jsonl", "--resume", "run", "--judge", "introduced"), "different settings: judge"),
            (("fewer.jsonl", "--resume", "run"), "begun for other plans"),
            (("plans.jsonl", "--run", "a", "--resume", "run"), "leave out one of the two"),
            (("plans.jsonl", "--jobs", "2"), "belong to a run"),
            (("plans.jsonl", "--run", "a", "--fix"), "--fix does not go with a run"),
            (("plans.jsonl", "--run", "a", "--format", "json"), "--format json does not go with a run"),
            (("nothing.jsonl", "--run", "a"), "cannot read the list of plans"),
        ],
    ),
)
def test_contradictory_arguments_are_refused(home: Path, words: tuple[str, ...], message: str) -> None:
    write_table(home / "plans.jsonl", 2)
    write_table(home / "fewer.jsonl", 1)
    run_audit(home, "plans.jsonl", "--run", "run")
    process = run_audit(home, *words)
    assert process.returncode == 2
    assert message in process.stderr
    assert "Traceback" not in process.stderr


def test_run_with_changed_files_is_not_resumed(home: Path) -> None:
    write_table(home / "plans.jsonl", 4)
    run_audit(home, "plans.jsonl", "--run", "run")
    manifest = home / "run" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "complete": False}))
    (home / "run" / "shards").mkdir()
    (home / "run" / "results.jsonl").rename(home / "run" / "shards" / "000000.jsonl")
    (home / "house.safe").write_text((home / "house.safe").read_text() + "; changed\n")
    process = run_audit(home, "plans.jsonl", "--resume", "run")
    assert process.returncode == 2
    assert "house.safe has changed since run was begun" in process.stderr


@pytest.mark.parametrize("text", ["", "[]", "{", '{"complete": true}', "[" * 100_000])
def test_invalid_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(BadRun):
        read_run(tmp_path)


def test_single_audit_imports_no_modules_for_runs(home: Path) -> None:
    """An audit of one plan does not import the modules for runs."""
    (home / "tea.plan").write_text("\n".join(SAFE))
    script = (
        "import sys, atexit, os\n"
        "os._exit = lambda code: (print('loaded', *sorted(sys.modules)), sys.stdout.flush())\n"
        "from plansafe.app.main import main\n"
        "main()\n"
    )
    words = ["tea.plan", "--domain", "domain.pddl", "--problem", "rooms/day.pddl", "--spec", "house.safe"]
    process = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=home, capture_output=True, text=True, check=False, timeout=60
    )
    loaded = set(process.stdout.rpartition("loaded ")[2].split())
    assert "plansafe.app.interfaces.cli.audit_command" in loaded, process.stderr
    names = {name for name in loaded if name.startswith("plansafe.app.runs")}
    heavy = {"json", "csv", "gzip", "zlib", "hashlib", "multiprocessing", "tempfile", "matplotlib", "pandas", "typer"}
    assert not names | (loaded & heavy)
