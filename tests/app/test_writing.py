"""Test how commands write files: devices, pipes, links, modes, owners, and inputs that are not overwritten."""

from __future__ import annotations

import os
import re
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from command_line import NEW_PROCESS, Run, run_app
from kitchen import FIXED, PLAN, RULES

from plansafe.app.session.repair import examine
from plansafe.app.system.file_writing import Guard, NotWritten, save, save_folder
from shared_kitchen import DOMAIN, PROBLEM

OPEN_DOMAIN = """(define (domain workshop) (:requirements :adl) (:predicates (metal ?x) (ready))
  (:action start :precondition (exists (?x) (metal ?x)) :effect (ready)))
"""
OPEN_PROBLEM = """(define (problem p) (:domain workshop) (:objects cup pot)
  (:init (or (metal cup) (metal pot))) (:goal (ready)))
"""
OPEN_RULES = """(define (safety workshop)
  (:trajectory some-metal :formula (always (imply (ready) (exists (?x) (metal ?x))))))
"""
WRITERS = {
    "audit": ("tea.plan", "--output"),
    "json": ("tea.plan", "--format", "json", "--output"),
    "repair": ("repair", "tea.plan", "--output"),
    "diagnose": ("diagnose", "tea.plan", "--graph"),
    "certificate": ("open/start.plan", "--certificate"),
    "detector": ("detector", "virtualhome", "--output"),
    "difference": ("tea.plan", "--diff", "--output"),
}
"""The commands that write a file, without the name of the file."""
PREFIXES = {
    "audit": "plan  ",
    "json": '{"schema"',
    "repair": "; tea",
    "diagnose": "digraph",
    "certificate": "",
    "detector": "",
    "difference": "---",
}
GATED = [name for name in WRITERS if name != "detector"]
ROOT = os.geteuid() == 0
OLD = "digraph {}\n"  # what `diagnose --graph` agrees to replace


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    Path(tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    Path("d.pddl").write_text(DOMAIN)
    Path("p.pddl").write_text(PROBLEM)
    Path("kitchen.safe").write_text(RULES)
    Path("tea.plan").write_text(PLAN)
    Path("open").mkdir()
    Path("open/d.pddl").write_text(OPEN_DOMAIN)
    Path("open/p.pddl").write_text(OPEN_PROBLEM)
    Path("open/workshop.safe").write_text(OPEN_RULES)
    Path("open/start.plan").write_text("(start)\n")

    return lambda *arguments: run_app(capsys, *arguments)


def hidden_files() -> list[str]:
    return [str(path) for path in Path().rglob(".*")]


def device(minor: int) -> str:
    """A new device that behaves as /dev/null (3) or /dev/full (7): a failing test may overwrite it."""
    if not ROOT:
        return {3: "/dev/null", 7: "/dev/full"}[minor]
    try:
        os.mknod("device", stat.S_IFCHR | 0o666, os.makedev(1, minor))
        os.close(os.open("device", os.O_WRONLY))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    return "device"


# -- special files and folders ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("writer", WRITERS)
def test_device_is_not_replaced(run: Run, writer: str) -> None:
    null = device(3)
    code, _, err = run(*WRITERS[writer], null)
    assert code in (0, 1), err
    assert stat.S_ISCHR(os.stat(null).st_mode)
    assert hidden_files() == []


@pytest.mark.parametrize("writer", WRITERS)
def test_full_device_is_an_error(run: Run, writer: str) -> None:
    full = device(7)
    code, _, err = run(*WRITERS[writer], full)
    assert code == 2
    assert f"error[SC607]: cannot write {full}: no space left on device" in err
    assert stat.S_ISCHR(os.stat(full).st_mode)


@pytest.mark.parametrize("writer", WRITERS)
def test_pipe_receives_the_output(run: Run, writer: str) -> None:
    os.mkfifo("pipe")
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(Path("pipe").read_text()))
    reader.start()
    code, _, err = run(*WRITERS[writer], "pipe")
    reader.join(10)
    assert code in (0, 1), err
    assert received[0].startswith(PREFIXES[writer])
    assert received[0]
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(("name", "reason"), [(".", "it is a folder"), ("loop", "too many levels of symbolic links")])
def test_folder_or_link_loop_is_refused(run: Run, writer: str, name: str, reason: str) -> None:
    Path("loop").symlink_to("pool")
    Path("pool").symlink_to("loop")
    code, _, err = run(*WRITERS[writer], name)
    assert code == 2
    assert f"error[SC607]: cannot write {name}: {reason}" in err
    assert hidden_files() == []


def test_disk_is_not_written(run: Run) -> None:
    if not ROOT:
        pytest.skip("only root makes devices")
    try:
        os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(7, 250))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    code, _, err = run("tea.plan", "--output", "disk")
    assert code == 2
    assert "error[SC640]: disk is not written: it is a disk" in err


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_names_of_standard_output(run: Run, name: str) -> None:
    if name != "-" and not os.path.exists(name):
        pytest.skip(f"no {name} here")
    code, out, err = run("repair", "tea.plan", "--output", name)
    assert (code, out) == (0, FIXED)
    assert "nearest safe plan" in err
    code, out, _ = run("tea.plan", "--output", name)
    assert code == 1
    assert "error[SC201]" in out
    assert not os.path.exists("-")


@pytest.mark.parametrize("name", ["report", "/dev/stdout"])
def test_redirected_standard_output_is_appended_to(run: Run, name: str) -> None:
    if not os.path.exists("/dev/stdout"):
        pytest.skip("no /dev/stdout here")
    with open("report", "w") as report:
        subprocess.run([sys.executable, "-c", "print('first', flush=True)"], stdout=report, check=True)
        number = os.fstat(report.fileno()).st_ino
        process = subprocess.run([*NEW_PROCESS, "tea.plan", "-o", name], stdout=report, check=False)
    assert process.returncode == 1
    text = Path("report").read_text()
    assert text.startswith("first\nplan ")
    assert "UNSAFE" in text
    assert os.stat("report").st_ino == number


# -- links, modes, owners ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("writer", WRITERS)
def test_links_are_followed_and_kept(run: Run, writer: str) -> None:
    Path("real").mkdir()
    Path("real/target").write_text(OLD)
    Path("link").symlink_to("real/target")
    Path("dangling").symlink_to("real/new")
    for name, target in (("link", "real/target"), ("dangling", "real/new")):
        code, _, err = run(*WRITERS[writer], name)
        assert code in (0, 1), err
        assert Path(name).is_symlink()
        assert Path(target).read_text() != OLD
        assert Path(target).read_text().startswith(PREFIXES[writer])
    assert hidden_files() == []


@pytest.mark.parametrize("writer", WRITERS)
def test_mode_and_owner_are_kept(run: Run, writer: str) -> None:
    Path("out").write_text(OLD)
    Path("out").chmod(0o600)
    if ROOT:
        os.chown("out", 12345, 23456)
    before = os.stat("out")
    code, _, err = run(*WRITERS[writer], "out")
    assert code in (0, 1), err
    after = os.stat("out")
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert Path("out").read_text() != OLD
    assert "note:" not in err


@pytest.mark.parametrize("writer", WRITERS)
def test_hard_link_keeps_the_old_text_with_a_note(run: Run, writer: str) -> None:
    Path("out").write_text(OLD)
    os.link("out", "other")
    code, _, err = run(*WRITERS[writer], "out")
    assert code in (0, 1), err
    assert "note: out: the file had another name (a hard link), which keeps the old text\n" in err
    assert Path("other").read_text() == OLD
    assert Path("out").read_text() != OLD


@pytest.mark.parametrize("writer", WRITERS)
def test_read_only_file_is_not_written(run: Run, writer: str) -> None:
    Path("out").write_text(OLD)
    Path("out").chmod(0o444)
    code, _, err = run(*WRITERS[writer], "out")
    assert code == 2
    assert "error[SC640]: out is not written: it is read-only" in err
    assert Path("out").read_text() == OLD


def test_a_read_only_folder(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o777)
    (folder / "out").write_text(OLD)
    (folder / "out").chmod(0o666)
    folder.chmod(0o555)
    for parent in list(tmp_path.parents)[: len(tmp_path.parents) - 2]:
        if ROOT and parent.owner() == "root" and "pytest" in str(parent):
            parent.chmod(0o755)
    tmp_path.chmod(0o755)
    if ROOT:
        os.seteuid(65534)
    try:
        for name in ("out", "new"):
            with pytest.raises(NotWritten) as refusal:
                save(str(folder / name), "text")
            assert refusal.value.diagnostic.message.endswith(f"/folder/{name}: permission denied")
            assert "in the same folder, which must be writable" in str(refusal.value.diagnostic.help)
    finally:
        if ROOT:
            os.seteuid(0)
    assert [path.name for path in folder.iterdir()] == ["out"]
    assert (folder / "out").read_text() == OLD


def test_owner_that_cannot_be_kept_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    out.write_text(OLD)
    out.chmod(0o664)
    if not ROOT:
        pytest.skip("only root gives files away")
    os.chown(out, 12345, 23456)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.fchown", refuse)
    notes = save(str(out), "new")
    assert notes == (
        f"{out}: it belongs to you now; its owner could not be kept, nor its group, which cannot read it now",
    )
    assert stat.S_IMODE(out.stat().st_mode) == 0o604


def test_full_disk_keeps_the_old_file(run: Run) -> None:
    Path("out").write_text(OLD)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    assert resource.RLIMIT_FSIZE is not None
    script = f"{limit}; from plansafe.app.main import main; main()"
    process = subprocess.run(
        [sys.executable, "-c", script, "tea.plan", "-o", "out"], capture_output=True, text=True, check=False
    )
    assert process.returncode == 2
    assert "error[SC607]: cannot write out: file too large" in process.stderr
    assert Path("out").read_text() == OLD
    assert hidden_files() == []


def test_full_disk_gets_no_partial_project_file(run: Run) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))"
    script = f"{limit}; from plansafe.app.main import main; main()"
    process = subprocess.run([sys.executable, "-c", script, "init"], capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert "error[SC607]: cannot write safecheck.toml: file too large" in process.stderr
    assert not Path("safecheck.toml").exists()


@pytest.mark.parametrize("writer", ["audit", "repair", "difference"])
def test_project_file_is_not_overwritten(run: Run, writer: str) -> None:
    text = 'domain = "d.pddl"\nproblem = "p.pddl"\nspecifications = ["kitchen.safe"]\n'
    Path("safecheck.toml").write_text(text)
    code, _, err = run(*WRITERS[writer], "safecheck.toml")
    assert code == 2
    assert "error[SC640]: safecheck.toml is not written: it is an input" in err
    assert Path("safecheck.toml").read_text() == text


# -- inputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("writer", ["audit", "repair", "difference"])
@pytest.mark.parametrize("name", ["tea.plan", "d.pddl", "p.pddl", "kitchen.safe"])
@pytest.mark.parametrize("access", ["name", "link", "hard link"])
def test_inputs_are_not_overwritten(run: Run, writer: str, name: str, access: str) -> None:
    before = Path(name).read_text()
    out = name
    Path("made").mkdir()
    if access == "link":
        out = "made/out"
        Path(out).symlink_to(f"../{name}")
    elif access == "hard link":
        out = "made/out"
        os.link(name, out)
    code, _, err = run(*WRITERS[writer], out)
    assert code == 2
    reason = "it is an input" if out == name else f"it is the same file as the input {name}"
    assert f"error[SC640]: {out} is not written: {reason}" in err
    assert Path(name).read_text() == before
    assert hidden_files() == []


def test_input_named_by_an_option_is_refused_before_reading(run: Run) -> None:
    code, out, err = run("tea.plan", "--domain", "d.pddl", "--output", "d.pddl")
    assert (code, out) == (2, "")
    assert "d.pddl is not written: it is an input" in err


def test_report_and_certificate_need_two_files(run: Run) -> None:
    code, _, err = run("open/start.plan", "--output", "out", "--certificate", "./out")
    assert code == 2
    assert "--certificate and --output name the same file" in err
    assert not Path("out").exists()


def test_exported_files_replace_no_input(run: Run) -> None:
    robot = '{"id": 1, "class_name": "character", "category": "Characters", "properties": [], "states": []}'
    graph = f'{{"nodes": [{robot}], "edges": []}}'
    Path("made").mkdir()
    Path("graph.json").write_text(graph)
    Path("made/problem.pddl").symlink_to("../graph.json")
    code, out, err = run("domains", "export", "virtualhome", "--scene", "graph.json", "--output", "made")
    assert (code, out) == (2, "")
    assert "error[SC640]: made/problem.pddl is not written: it is the same file as the input graph.json" in err
    assert Path("graph.json").read_text() == graph
    assert os.listdir("made") == ["problem.pddl"]


# -- --fix ------------------------------------------------------------------------------------------------------------


def test_fix_notes_a_hard_link(run: Run) -> None:
    os.link("tea.plan", "other.plan")
    code, _, err = run("tea.plan", "--fix")
    assert code == 0
    assert "note: tea.plan: the file had another name (a hard link), which keeps the old text\n" in err
    assert (Path("tea.plan").read_text(), Path("other.plan").read_text()) == (FIXED, PLAN)


def test_fix_refuses_a_pipe(run: Run) -> None:
    os.mkfifo("pipe")
    code, out, err = run("pipe", "--fix")
    assert (code, out) == (2, "")
    assert "error[SC607]: --fix replaces files, and pipe is not a file" in err
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


def test_fix_keeps_a_read_only_plan(run: Run) -> None:
    Path("tea.plan").chmod(0o444)
    code, out, err = run("tea.plan", "--fix")
    assert code == 2
    assert "tea.plan is not written: it is read-only" in err
    assert "error[SC201]" in out
    assert err.endswith("\n0 fixed, 1 left\n")
    assert Path("tea.plan").read_text() == PLAN


@pytest.mark.parametrize("change", ["other text", "other file", "gone"])
def test_fix_keeps_changes_made_during_the_repair(run: Run, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """The plan changes after it was read and before it is replaced."""
    other_text = "(go kitchen hall) ; mine\n"
    fsync = os.fsync

    def change_plan(descriptor: int) -> None:
        fsync(descriptor)
        if change == "other text":
            Path("tea.plan").write_text(other_text)
        elif change == "other file":
            Path("theirs").write_text(other_text)
            os.replace("theirs", "tea.plan")
        else:
            Path("tea.plan").unlink()

    monkeypatch.setattr("os.fsync", change_plan)
    code, _, err = run("tea.plan", "--fix")
    assert code == 2
    if change == "gone":
        assert "error[SC607]: cannot write tea.plan: no such file or directory" in err
        assert not Path("tea.plan").exists()
    else:
        assert "error[SC640]: tea.plan is not written: it was changed during the write" in err
        assert Path("tea.plan").read_text() == other_text
    assert err.endswith("\n0 fixed, 1 left\n")
    assert hidden_files() == []


def test_fix_counts_and_prints_only_what_remains(run: Run) -> None:
    Path("plans").mkdir()
    for number in range(6):
        Path(f"plans/{number}.plan").write_text(PLAN)
    flags = ("--domain", "d.pddl", "--problem", "p.pddl", "--spec", "kitchen.safe")
    code, out, err = run("plans", *flags, "--fix")
    assert (code, out) == (0, "")
    assert err.splitlines()[-1] == "6 fixed, 0 left"
    Path("plans/0.plan").write_text(PLAN)
    Path("plans/broken.plan").write_text("(switch-on\n")
    code, out, err = run("plans", *flags, "--fix")
    assert code == 2
    assert "plans/broken.plan" in out
    assert "plans/0.plan" not in out
    assert err.splitlines()[-1] == "1 fixed, 1 left"


@pytest.mark.parametrize("form", ["full", "json"])
def test_fix_out_of_time_is_unknown(run: Run, form: str) -> None:
    code, out, err = run("tea.plan", "--fix", "--time-limit", "0.00001", "--format", form)
    assert code == 3
    assert "UNKNOWN" in out
    assert "irreparable" not in out + err
    assert "tea.plan: not fixed [SC801]: no repair was found within the limits" in err
    assert err.endswith("\n0 fixed, 1 left\n")
    assert Path("tea.plan").read_text() == PLAN


def test_json_of_fix_reports_on_the_fixed_plan(run: Run) -> None:
    import hashlib
    import json

    code, out, _ = run("tea.plan", "--fix", "--format", "json")
    report = json.loads(out)
    assert (code, report["headline"], report["exit_code"], report["findings"]) == (0, "SAFE", 0, [])
    assert report["steps"] == 3
    assert report["inputs"][0]["sha256"] == hashlib.sha256(Path("tea.plan").read_bytes()).hexdigest()


# -- --gate -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("writer", GATED)
def test_gate_does_not_write_through_links_out_of_the_folder(run: Run, writer: str) -> None:
    Path("out").mkdir()
    Path("../elsewhere").write_text(OLD)
    Path("out/link").symlink_to("../../elsewhere")
    code, _, err = run(*WRITERS[writer][:-1], "--gate", WRITERS[writer][-1], "out/link")
    assert code == 2
    assert "error[SC641]: out/link leads out of its folder through a link" in err
    assert Path("../elsewhere").read_text() == OLD
    Path("out/inner").write_text(OLD)
    Path("out/near").symlink_to("inner")
    assert run(*WRITERS[writer][:-1], "--gate", WRITERS[writer][-1], "out/near")[0] in (0, 1)
    assert Path("out/inner").read_text() != OLD


@pytest.mark.parametrize("command", [["audit"], ["repair"], ["diagnose"], ["audit", "--fix"], ["audit", "--diff"]])
@pytest.mark.parametrize("path", ["plans", "plans/new.plan"])
@pytest.mark.parametrize("form", ["full", "json"])
def test_gate_does_not_read_plans_outside_the_folder(run: Run, command: list[str], path: str, form: str) -> None:
    Path("plans").mkdir()
    Path("secret").write_text("(hunter2 kitchen)\n")
    Path("plans/new.plan").symlink_to("../secret")
    flags = ("--domain", "d.pddl", "--problem", "p.pddl", "--spec", "kitchen.safe", "--gate", "--format", form)
    code, out, err = run(*command, path, *flags)
    assert code == 2
    assert "SC641" in out + err
    assert "hunter2" not in out + err
    assert Path("secret").read_text() == "(hunter2 kitchen)\n"


def test_gate_follows_links_within_the_folder(run: Run) -> None:
    Path("plans/sub").mkdir(parents=True)
    Path("plans/tea").write_text(PLAN)
    Path("plans/sub/link.plan").symlink_to("../tea")
    flags = ("--domain", "d.pddl", "--problem", "p.pddl", "--spec", "kitchen.safe", "--gate")
    assert run("plans", *flags)[0] == 1
    code, out, _ = run("plans/sub/link.plan", *flags)
    assert code == 2
    assert "SC641" in out


def test_gate_does_not_fix_a_plan_that_became_a_link(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from plansafe.app.interfaces.cli import plan_fixes

    Path("plans").mkdir()
    Path("plans/tea.plan").write_text(PLAN)
    Path("precious").write_text(PLAN)

    def replace_by_link(*arguments: object) -> object:
        for examined in examine(*arguments):  # type: ignore[arg-type]
            Path("plans/tea.plan").unlink()
            Path("plans/tea.plan").symlink_to("../precious")
            yield examined

    monkeypatch.setattr(plan_fixes, "examine", replace_by_link)
    flags = ("--domain", "d.pddl", "--problem", "p.pddl", "--spec", "kitchen.safe", "--gate")
    code, _, err = run("plans/tea.plan", *flags, "--fix")
    assert code == 2
    assert "error[SC641]: plans/tea.plan leads out of its folder" in err
    assert Path("precious").read_text() == PLAN


# -- folders ----------------------------------------------------------------------------------------------------------


def test_folder_is_created_completely_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(NotWritten):
        save_folder(str(tmp_path / "new"), [("a", "1"), ("a", "2")])
    assert os.listdir(tmp_path) == []
    (tmp_path / "full").mkdir()
    (tmp_path / "full/old").write_text("old")
    with pytest.raises(NotWritten):
        save_folder(str(tmp_path / "full"), [("a", "1")])
    assert os.listdir(tmp_path / "full") == ["old"]


def test_empty_folder_is_filled_and_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    save_folder(str(tmp_path / "link"), [("a", "1"), ("b", "2")])
    assert (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path / "real")) == ["a", "b"]
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o700


# -- where files are written ------------------------------------------------------------------------------------------


def test_files_are_written_by_two_modules(root: Path) -> None:
    writes = re.compile(
        r"""open\([^)\n]*["'][waxr]b?\+?["'][^)\n]*\)|os\.(?:replace|rename|unlink|mkdir|truncate|link)\(|(?<!formatter\.)write_text|write_bytes|NamedTemp"""
    )
    reads = re.compile(r"""open\([^)\n]*["']rb?["']""")
    modules = set()
    for path in (root / "app/plansafe/app").rglob("*.py"):
        for line in path.read_text().splitlines():
            if writes.search(line) and not reads.search(line) and "os.devnull" not in line:
                modules.add(path.name)
    assert modules == {"file_writing.py", "run_folder.py"}  # a run folder is complete after each row


def test_name_that_is_not_a_file_name_is_refused(tmp_path: Path) -> None:
    for name in ("", f"{tmp_path}/new/"):
        with pytest.raises(NotWritten) as refusal:
            save(name, "text", Guard())
        assert refusal.value.diagnostic.message.endswith("that is not a file name")
