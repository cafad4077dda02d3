"""Test the command line with a fake engine: flags, exit codes, batches, output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

import pytest
from command_line import NEW_PROCESS, Run, run_app

from plansafe.app.session.audit import audit, combined_exit_code
from plansafe.app.session.model import Settings
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Finding, FindingClass, Headline, Report, RuleCount, Worlds


class Options(NamedTuple):
    lenient_types: Any
    tolerance: Any
    judge: Any
    min_severity: Any
    blame: Any
    time_limit_s: Any
    max_findings: Any
    max_instances: Any
    full_state: Any
    replay: Any
    require_rules: Any
    engine: Any
    infer_invariants: Any
    certificate: Any
    double_check: Any
    home: Any


class Checker:
    """A fake engine: the first step of a plan names its verdict."""

    instances: ClassVar[list[Checker]] = []

    def __init__(self, domain: Source, problem: Source, specs: Any, options: Options, resolve: Any = None) -> None:
        self.options = options
        self.specs = tuple(specs)
        self.base = resolve("base", specs[0]) if specs and "base" in specs[0].text else None
        self.ok = "broken" not in domain.text
        label = Label(domain.name, Span(0, 7), "here")
        self.diagnostics = () if self.ok else (Diagnostic("SC003", "not a domain", (label,)),)
        self.sources = {s.name: s for s in (domain, problem, *specs)}
        Checker.instances.append(self)

    def check(self, plan: Source, confirm: bool = True, recorder: object = None) -> Report:
        assert confirm, "only an editor checks without the kernel"
        word = plan.text.split()[0].strip("()") if plan.text.strip() else "valid"
        if word == "bug":
            raise RuntimeError("a bug")
        if word == "memory":
            raise MemoryError
        findings: tuple[Finding, ...] = ()
        if word == "ill":
            findings = (
                Finding("SC401", FindingClass.ILL_FORMED, "unknown action", 1, source=plan.name, span=Span(0, 5)),
            )
            word = "invalid"
        if word == "unsafe":
            findings = (Finding("SC201", FindingClass.PROCESS, "rule broken", 1, source=plan.name, span=Span(0, 5)),)
        worlds = Worlds.ALL
        idle = RuleCount("idle", "process", "s", 0, 0, 0, "never applied")
        rules = (idle,) if word == "idle" else ()
        headline = Headline.VALID if word == "idle" else Headline(word.upper())
        return Report(plan.name, headline, worlds, worlds, worlds, 1, findings, rules)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    module = ModuleType("plansafe.verifier.api")
    module.Checker, module.Options = Checker, Options  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "plansafe.verifier.api", module)
    monkeypatch.chdir(tmp_path)
    Checker.instances.clear()
    Path("d.pddl").write_text("(define (domain d))")
    Path("p.pddl").write_text("(define (problem p) (:domain d))")

    return lambda *arguments: run_app(capsys, *arguments, "--memory-limit", "0")


def plan(word: str, name: str | None = None) -> str:
    path = Path(name or f"{word}.plan")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"({word} x)\n")
    return str(path)


@pytest.mark.parametrize(
    ("word", "code"),
    [("safe", 0), ("valid", 0), ("invalid", 1), ("unsafe", 1), ("unknown", 3), ("ill", 2), ("bug", 4), ("memory", 3)],
)
def test_exit_codes(run: Run, word: str, code: int) -> None:
    exit_code, out, err = run(plan(word), "--format", "concise")
    assert exit_code == code
    assert ("Traceback" in err) == (code == 4)
    assert f"{word}.plan: " in out


def test_audit_is_the_default_command(run: Run) -> None:
    assert run("audit", plan("safe"))[0] == run(plan("safe"))[0] == 0
    plan("unsafe", "audit")
    assert run("./audit")[0] == 1
    assert run("audit")[0] == 2


@pytest.mark.parametrize(
    ("codes", "code"), [([], 0), ([0, 3], 3), ([3, 1, 0], 1), ([1, 2, 3], 2), ([2, 4, 1], 4), ([1] * 256, 1)]
)
def test_exit_code_of_a_batch_is_the_most_important(codes: list[int], code: int) -> None:
    assert combined_exit_code(codes) == code


def test_a_batch_goes_on_after_a_bug(run: Run) -> None:
    code, out, err = run(plan("bug"), plan("safe"), plan("unsafe"), "gone.plan", "--format", "json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 4
    assert [line["headline"] for line in lines] == [None, "SAFE", "UNSAFE", None]
    assert [line["exit_code"] for line in lines] == [4, 0, 1, 2]
    assert "RuntimeError: a bug" in lines[0]["traceback"]
    assert "RuntimeError: a bug" in err
    assert lines[3]["diagnostics"][0]["code"] == "SC601"


def test_domain_and_problem_are_compiled_once(run: Run) -> None:
    names = [plan("safe", f"{n}.plan") for n in range(5)]
    assert run(*names)[0] == 0
    assert len(Checker.instances) == 1


def test_folders(run: Run) -> None:
    for name in ("d.pddl", "p.pddl"):
        Path("a").mkdir(exist_ok=True)
        Path(f"a/{name}").write_text(Path(name).read_text())
    plan("safe", "a/1.plan")
    plan("unsafe", "a/2.plan")
    code, out, _ = run("a", "--format", "concise")
    assert code == 1
    assert [line.split(":")[0] for line in out.splitlines() if "step" in line] == ["a/1.plan", "a/2.plan"]
    Path("none").mkdir()
    code, out, _ = run("none", "a", "--format", "concise")
    assert code == 2
    assert "SC604" in out
    assert "a/2.plan: UNSAFE" in out


def test_a_plan_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(plan("unsafe", "in")).open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        code, out, _ = run("-", "--format", "concise")
    assert code == 1
    assert "<stdin>:1:1: error[SC201]" in out


def test_a_broken_domain_is_reported_with_its_place(run: Run) -> None:
    Path("d.pddl").write_text("(define (domain broken))")
    code, out, _ = run(plan("safe"))
    assert code == 2
    assert "--> d.pddl:1:1" in out
    assert "^^^^^^^ here" in out
    assert "NOT CHECKED" in out


def test_a_domain_is_not_a_plan(run: Run) -> None:
    code, out, _ = run("d.pddl", "p.pddl", "--format", "concise")
    assert code == 2
    assert out.count("SC604") == 2


def test_require_rules(run: Run) -> None:
    assert run(plan("valid"), "--require-rules", "--format", "concise")[0] == 2
    assert "SC605" in run(plan("valid"), "--require-rules", "--format", "concise")[1]
    assert run(plan("safe"), "--require-rules")[0] == 0


def test_rules_that_never_apply_are_a_warning(run: Run) -> None:
    code, out, _ = run(plan("idle"), "--format", "concise")
    assert code == 0
    assert "warning[SC701]" in out
    assert "SC701" not in run(plan("valid"), "--format", "concise")[1]
    assert run(plan("idle"), "--require-rules")[0] == 2


def test_options_reach_the_engine(run: Run) -> None:
    flags = [
        "--lenient-types",
        "--tolerance",
        ".5",
        "--judge",
        "introduced",
        "--min-severity",
        "medium",
        "--blame",
        "introduced",
        "--blame",
        "worsened",
        "--time-limit",
        "0",
    ]
    flags += ["--max-findings", "7", "--max-instances", "8", "--full-state", "--replay", "never"]
    flags += ["--engine", "smt", "--no-inferred-invariants", "--double-check"]
    assert run(plan("safe"), *flags)[0] == 0
    options = Checker.instances[0].options
    assert float(options.tolerance) == 0.5
    assert options._replace(tolerance=None) == Options(
        True,
        None,
        "introduced",
        "medium",
        ("introduced", "worsened"),
        None,
        7,
        8,
        True,
        "never",
        False,
        "smt",
        False,
        False,
        True,
        None,
    )


@pytest.mark.parametrize(
    "flags",
    [
        ["--tolerance", "many"],
        ["--tolerance", "-1"],
        ["--tolerance", "1e9999999"],
        ["--time-limit", "nan"],
        ["--time-limit", "-1"],
        ["--max-findings", "0"],
        ["--format", "xml"],
        ["--blame", "me"],
        ["--domian", "x"],
        ["--output", "no/such/folder/report"],
    ],
)
def test_bad_options(run: Run, flags: list[str]) -> None:
    code, _, err = run(plan("safe"), *flags)
    assert code == 2
    assert err.strip()
    assert "Traceback" not in err


def test_output_replaces_the_file_when_complete(run: Run) -> None:
    Path("report").write_text("old")
    code, out, _ = run(plan("unsafe"), "--format", "json", "--output", "report")
    assert (code, out) == (1, "")
    assert json.loads(Path("report").read_text())["headline"] == "UNSAFE"
    assert sorted(p.name for p in Path().iterdir()) == ["d.pddl", "p.pddl", "report", "unsafe.plan"]


def test_json_lists_the_inputs(run: Run) -> None:
    Path("s.safe").write_text("(define (safety s) (:extends base))")
    Path("base.safe").write_text("(define (safety base))")
    _, out, _ = run(plan("safe"), "--spec", "s.safe", "--format", "json")
    used = [(i["role"], i["path"], i["how"]) for i in json.loads(out)["inputs"]]
    assert used == [
        ("plan", "safe.plan", "given"),
        ("domain", "d.pddl", "in the current folder"),
        ("problem", "p.pddl", "in the current folder"),
        ("specification", "s.safe", "--spec"),
        ("specification", "base.safe", "extended by s.safe"),
    ]
    assert all(len(i["sha256"]) == 64 for i in json.loads(out)["inputs"])


def test_output_in_a_pipe_has_no_colours(run: Run) -> None:
    assert "\x1b" not in run(plan("unsafe"))[1]
    assert "\x1b[1;31m" in run(plan("unsafe"), "--color", "always")[1]


def test_python_api_accepts_texts(run: Run) -> None:
    sources = [Source("mine", "(unsafe x)"), Source("other", "(safe x)")]
    results = list(audit(sources, Settings(domain="d.pddl", problem="p.pddl")))
    assert [(r.plan, r.report.headline, r.exit_code) for r in results] == [
        ("mine", Headline.UNSAFE, 1),
        ("other", Headline.SAFE, 0),
    ]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*NEW_PROCESS, *arguments], capture_output=True, text=True, timeout=60, check=False)


def test_version_and_help() -> None:
    assert command("--version").stdout.startswith("safecheck ")
    assert "safecheck COMMAND" in command("--help").stdout
    usage = command("audit", "--help")
    assert usage.returncode == 0
    assert "--domain FILE" in usage.stdout


def test_explain() -> None:
    for code in ("SC201", "sc201", "201"):
        page = command("--explain", code)
        assert page.returncode == 0
        assert page.stdout.startswith("# SC201: ")
    rule = command("--explain", "no-cleaners-mixed")
    assert rule.returncode == 0
    assert rule.stdout.startswith("# no-cleaners-mixed: a rule of the specification home-poison\n")
    assert "(:process no-cleaners-mixed\n  :parameters" in rule.stdout
    unknown = command("--explain", "../../main")
    assert unknown.returncode == 2
    assert "SC201" in unknown.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_full_disk_is_an_error(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [*NEW_PROCESS, "gone.plan"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert process.returncode == 2
    assert "cannot write standard output" in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo terminals")
def test_long_batch_shows_progress_on_a_terminal() -> None:
    master, slave = os.openpty()
    process = subprocess.run(
        [*NEW_PROCESS, *["gone.plan"] * 50], stdout=subprocess.PIPE, stderr=slave, text=True, check=False
    )
    os.close(slave)
    progress = os.read(master, 65_536).decode()
    os.close(master)
    assert process.returncode == 2
    assert "/50" in progress
    assert progress.endswith("\r\x1b[K")
    assert "\x1b" not in process.stdout


def test_interrupt_has_its_own_exit_code(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plan")
    script = "from plansafe.app.main import main; print('ready', flush=True); main()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "plan")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    with open(tmp_path / "plan", "w"):  # the command has opened the plan and waits for its text
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:  # a signal just before the system call that waits is not seen until it ends
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err == "\ninterrupted\n"


def test_closed_pipe_has_its_own_exit_code_and_no_message() -> None:
    process = subprocess.Popen(
        [*NEW_PROCESS, *["gone.plan"] * 3000], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr.read() == ""
    process.stderr.close()


def test_time_limit_ends_an_endless_condition(tmp_path: Path) -> None:
    """In a new process, because the limit is a signal."""
    names = " ".join(f"o{i}" for i in range(60))
    facts = " ".join(f"(p o{i} o{j})" for i in range(60) for j in range(60) if (i - j) % 2 == 0)
    # No circle of five objects alternates in parity. To decide this takes millions of tests.
    circle = "(forall (?a ?b ?c ?d ?e) (or (p ?a ?b) (p ?b ?c) (p ?c ?d) (p ?d ?e) (p ?e ?a)))"
    (tmp_path / "d.pddl").write_text(f"(define (domain h) (:predicates (p ?x ?y)) (:action a :precondition {circle}))")
    (tmp_path / "p.pddl").write_text(f"(define (problem q) (:domain h) (:objects {names}) (:init {facts}) (:goal ()))")
    (tmp_path / "x.plan").write_text("(a)")
    flags = ["--domain", "d.pddl", "--problem", "p.pddl", "--time-limit", "0.5", "--format", "concise"]
    command = [sys.executable, "-m", "plansafe.app.main", "x.plan", *flags]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)
    assert process.returncode == 3
    assert "SC502" in process.stdout
    assert "UNKNOWN" in process.stdout
