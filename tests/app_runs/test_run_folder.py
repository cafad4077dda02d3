"""Run folders: what they hold, killed writers, processes, bad plans, and what is refused."""

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
from runs_house import SAFE, UNSAFE, call, command, table, timeless

from plansafe.app.runs import BadRun, read_run
from quick import quick_every

SCHEMAS = Path(__file__).parents[2] / "app" / "plansafe" / "app" / "schema"


def schema(name: str) -> Any:
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


def test_a_run_has_a_row_for_each_plan_in_the_order_of_the_inputs(home: Path) -> None:
    table(home / "plans.jsonl", 8)
    done = call(home, "plans.jsonl", "--run", "run")
    assert done.returncode == 2, done.stderr  # two rows are no plans of the domain
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
    assert "UNSAFE" in done.stdout
    assert sorted(path.name for path in (home / "run").iterdir()) == ["manifest.json", "results.jsonl"]


def test_findings_have_the_whole_state_where_it_is_asked_for(home: Path) -> None:
    table(home / "plans.jsonl", 2)
    for name, flags in (("brief", ()), ("whole", ("--full-state",))):
        assert call(home, "plans.jsonl", "--run", name, *flags).returncode == 1
    _, brief = read_run(home / "brief").rows()
    _, whole = read_run(home / "whole").rows()
    assert brief["findings"][0]["state"] == []
    assert whole["findings"][0]["state"] == ["(in hob kitchen)", "(on hob)", "(robot-in hall)"]


def test_several_processes_write_what_one_writes(home: Path) -> None:
    table(home / "plans.jsonl", 40)
    assert call(home, "plans.jsonl", "--run", "one").returncode == 2
    assert call(home, "plans.jsonl", "--run", "two", "--jobs", "2").returncode == 2
    assert timeless(home / "one") == timeless(home / "two")
    assert len(timeless(home / "one")) == 40


@pytest.mark.slow
def test_a_killed_run_goes_on_with_nothing_lost_and_nothing_twice(home: Path) -> None:
    table(home / "plans.jsonl", 2000)
    assert call(home, "plans.jsonl", "--run", "whole").returncode == 2
    draw, grown = random.Random(5), []
    kills = 0
    while kills < 5:
        flag = "--resume" if kills else "--run"
        child = subprocess.Popen(
            command(home, "plans.jsonl", flag, "run", "--jobs", "2"), cwd=home, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        journal = home / "run" / "shards" / "000000.part"
        size = journal.stat().st_size if journal.exists() else 0
        while child.poll() is None and (not journal.exists() or journal.stat().st_size <= size):
            time.sleep(0.002)
        time.sleep(draw.random() * 0.1)
        os.kill(child.pid, signal.SIGKILL)
        assert child.stderr is not None
        said = child.stderr.read().decode()
        assert child.wait() == -signal.SIGKILL, said
        kills += 1
        grown.append(len(list(read_run(home / "run").rows())))
    assert grown == sorted(grown)
    assert 0 < grown[0] < grown[-1]
    done = call(home, "plans.jsonl", "--resume", "run")
    assert done.returncode == 2, done.stderr
    assert timeless(home / "run") == timeless(home / "whole")


def test_a_torn_row_is_cut_off(home: Path) -> None:
    table(home / "plans.jsonl", 40)
    call(home, "plans.jsonl", "--run", "whole")
    run = home / "run"
    (run / "shards").mkdir(parents=True)
    manifest = json.loads((home / "whole" / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "complete": False, "ended": None}))
    text = (home / "whole" / "results.jsonl").read_bytes()
    (run / "shards" / "000000.part").write_bytes(text[: len(text) // 2])
    done = call(home, "plans.jsonl", "--resume", "run")
    assert done.returncode == 2, done.stderr
    assert timeless(run) == timeless(home / "whole")
    assert (run / "results.jsonl").read_bytes()[: len(text) // 2 - 20_000] == text[: len(text) // 2 - 20_000]


def test_a_bad_row_does_not_stop_the_rest(home: Path) -> None:
    rows = [
        json.dumps({"id": 1, "plan": SAFE, "room": "day"}),
        "{",
        json.dumps({"id": 3, "room": "day"}),
        json.dumps({"id": 4, "plan": SAFE, "room": "../../etc/passwd"}),
        json.dumps({"id": 5, "plan": SAFE, "room": "cellar"}),
        json.dumps({"id": 6, "plan": "\n".join(UNSAFE), "room": "night"}),
    ]
    (home / "plans.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    done = call(home, "plans.jsonl.gz", "--run", "run")
    found = [
        (row["id"], row["headline"], [d["code"] for d in row["diagnostics"]]) for row in read_run(home / "run").rows()
    ]
    assert found == [
        ("1", "SAFE", []),
        ("plans.jsonl.gz:2", "NOT CHECKED", ["SC648"]),
        ("3", "NOT CHECKED", ["SC648"]),
        ("4", "NOT CHECKED", ["SC648"]),
        ("5", "NOT CHECKED", ["SC601"]),
        ("6", "UNSAFE", []),
    ]
    assert done.returncode == 2


def test_a_value_with_slashes_leads_to_a_file_below_the_folder(home: Path) -> None:
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
    done = call(home, "plans.jsonl", "--run", "run")
    found = [(row["headline"], [d["code"] for d in row["diagnostics"]]) for row in read_run(home / "run").rows()]
    refused = ("NOT CHECKED", ["SC648"])
    assert found == [("SAFE", [])] * 2 + [refused] * 9 + [("NOT CHECKED", ["SC601"])]
    assert done.returncode == 2
    assert "leads out of rooms through a link" in done.stdout


def test_csv_is_read_with_its_columns(home: Path) -> None:
    (home / "plans.csv").write_text('name,steps,room\ntea,"(go kitchen hall)",day\nsoup,short\n')
    assert call(home, "plans.csv", "--run", "run", "--id", "name", "--plan-column", "steps").returncode == 2
    first, second = read_run(home / "run").rows()
    assert (first["id"], first["headline"], first["columns"]) == ("tea", "SAFE", {"name": "tea", "room": "day"})
    assert second["diagnostics"][0]["message"] == "plans.csv:3: the row has 2 cells, and the head has 3"


@pytest.mark.parametrize(
    ("words", "said"),
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
def test_what_cannot_be_is_refused(home: Path, words: tuple[str, ...], said: str) -> None:
    table(home / "plans.jsonl", 2)
    table(home / "fewer.jsonl", 1)
    call(home, "plans.jsonl", "--run", "run")
    done = call(home, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_does_not_go_on_with_changed_files(home: Path) -> None:
    table(home / "plans.jsonl", 4)
    call(home, "plans.jsonl", "--run", "run")
    manifest = home / "run" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "complete": False}))
    (home / "run" / "shards").mkdir()
    (home / "run" / "results.jsonl").rename(home / "run" / "shards" / "000000.jsonl")
    (home / "house.safe").write_text((home / "house.safe").read_text() + "; changed\n")
    done = call(home, "plans.jsonl", "--resume", "run")
    assert done.returncode == 2
    assert "house.safe has changed since run was begun" in done.stderr


@pytest.mark.parametrize("text", ["", "[]", "{", '{"complete": true}', "[" * 100_000])
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(BadRun):
        read_run(tmp_path)


def test_a_plain_audit_loads_nothing_of_runs(home: Path) -> None:
    """Most audits are of one plan: what many plans need is not loaded for it."""
    (home / "tea.plan").write_text("\n".join(SAFE))
    script = (
        "import sys, atexit, os\n"
        "os._exit = lambda code: (print('loaded', *sorted(sys.modules)), sys.stdout.flush())\n"
        "from plansafe.app.main import main\n"
        "main()\n"
    )
    words = ["tea.plan", "--domain", "domain.pddl", "--problem", "rooms/day.pddl", "--spec", "house.safe"]
    done = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=home, capture_output=True, text=True, check=False, timeout=60
    )
    loaded = set(done.stdout.rpartition("loaded ")[2].split())
    assert "plansafe.app.interfaces.cli.audit_command" in loaded, done.stderr
    names = {name for name in loaded if name.startswith("plansafe.app.runs")}
    heavy = {"json", "csv", "gzip", "zlib", "hashlib", "multiprocessing", "tempfile", "matplotlib", "pandas", "typer"}
    assert not names | (loaded & heavy)
