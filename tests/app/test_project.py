"""Test the project file: its location, keys and precedence; ``init`` and ``--show-config``."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from command_line import Run, run_app
from hypothesis import given
from hypothesis import strategies as st

from plansafe.app.interfaces.cli.init import project_text
from plansafe.app.options.shared import project_options
from plansafe.app.project.project_file import BadProject, find_project
from plansafe.app.session.audit import audit
from plansafe.app.session.configuration import COPIED_KEYS
from plansafe.app.session.model import Settings

DOMAIN = """(define (domain tidy)
  (:predicates (on) (done))
  (:action work :effect (and (on) (done)))
  (:action rest :precondition (on) :effect (not (on))))"""
PROBLEM = "(define (problem p) (:domain tidy) (:init) (:goal {}))"
RULES = "(define (safety {}) (:domain tidy) (:termination off :forbid (on)))"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in a folder with a safe and an unsafe plan and their files."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    for name in ("plans", "problems", "model"):
        Path(name).mkdir()
    Path("model/domain.pddl").write_text(DOMAIN)
    Path("model/rules.safe").write_text(RULES.format("rules"))
    Path("problems/safe.pddl").write_text(PROBLEM.format("(done)"))
    Path("problems/unsafe.pddl").write_text(PROBLEM.format("(on)"))
    Path("plans/safe.plan").write_text("(work)\n(rest)\n")
    Path("plans/unsafe.plan").write_text("(work)\n")

    return lambda *arguments: run_app(capsys, *arguments, *(() if "init" in arguments else ("--memory-limit", "0")))


def project(text: str = "", name: str = "safecheck.toml") -> None:
    Path(name).write_text(
        text
        or 'domain = "model/domain.pddl"\nproblem = "problems/{stem}.pddl"\nspecifications = ["model/rules.safe"]\n'
    )


@pytest.mark.parametrize("gate", [(), ("--gate",)])
def test_each_plan_has_its_own_problem(run: Run, gate: tuple[str, ...]) -> None:
    project()
    code, out, _ = run("plans", "--format", "json", *gate)
    assert code == 1
    safe, unsafe = [json.loads(line) for line in out.splitlines()]
    assert (safe["headline"], unsafe["headline"]) == ("SAFE", "UNSAFE")
    assert [(i["role"], i["path"], i["how"]) for i in safe["inputs"]] == [
        ("plan", "plans/safe.plan", "given"),
        ("project", "safecheck.toml", "in the current folder"),
        ("domain", "model/domain.pddl", "safecheck.toml"),
        ("problem", "problems/safe.pddl", "safecheck.toml: problems/{stem}.pddl"),
        ("specification", "model/rules.safe", "safecheck.toml"),
    ]
    assert all(len(i["sha256"]) == 64 for i in safe["inputs"])


def test_project_file_is_found_in_folders_above(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    project()
    project('specifications = []\nformat = "json"\n', "plans/safecheck.toml")
    assert run("plans/unsafe.plan")[0] == 1
    monkeypatch.chdir("problems")
    code, out, _ = run("../plans/unsafe.plan")
    assert code == 1
    assert "../safecheck.toml  (above the current folder)" in out
    assert "../model/rules.safe  (../safecheck.toml)" in out


def test_pyproject(run: Run) -> None:
    project('[project]\nname = "safecheck-rules"\n', "pyproject.toml")
    assert find_project() is None
    project('[tool.other]\nx = 1\n[tool.safecheck]\nformat = "concise"\n', "pyproject.toml")
    project_file = find_project()
    assert project_file is not None
    assert (project_file.path, project_file.format, project_file.line("format")) == ("pyproject.toml", "concise", 4)
    project()
    nearer = find_project()
    assert nearer is not None
    assert nearer.path == "safecheck.toml"


def test_flags_override_the_project_file(run: Run) -> None:
    project()
    assert run("plans/unsafe.plan", "--problem", "problems/safe.pddl")[0] == 1
    assert run("plans/unsafe.plan", "--no-default-spec")[0] == 0
    Path("mild.safe").write_text("(define (safety mild) (:domain tidy) (:process r :on (rest) :forbid (done)))")
    code, out, _ = run("plans/safe.plan", "--spec", "mild.safe")
    assert code == 1
    assert "mild.safe  (--spec)" in out
    assert run("plans/unsafe.plan", "--no-project")[2] == ""
    project(
        'domain = "nowhere.pddl"\nproblem = "nowhere.pddl"\nspecifications = ["nowhere.safe"]\nblame = "worsened"\n'
    )
    flags = ("--domain", "model/domain.pddl", "--problem", "problems/unsafe.pddl", "--spec", "model/rules.safe")
    assert run("plans/unsafe.plan", *flags, "--blame", "introduced", "--format", "json")[0] == 1


def test_project_file_overrides_comments_of_the_plan(run: Run) -> None:
    project()
    Path("plans/other.pddl").write_text(DOMAIN.replace("tidy", "other"))
    Path("plans/unsafe.plan").write_text("; domain: other.pddl\n(work)\n")
    assert "model/domain.pddl  (safecheck.toml)" in run("plans/unsafe.plan")[1]


def test_values_other_than_files(run: Run) -> None:
    project('format = "json"\nblame = ["worsened"]\n[limits]\ntime = 7.5\nfindings = 3\ninstances = 99\n')
    flags = ("--domain", "model/domain.pddl", "--problem", "problems/unsafe.pddl")
    report = json.loads(run("plans/unsafe.plan", *flags)[1])
    assert report["limits"] == {
        "tolerance": "0.001",
        "time_s": 7.5,
        "max_findings": 3,
        "max_instances": 99,
        "reached": [],
    }
    assert any("worsened" in text for text in report["assumptions"])
    assert json.loads(run("plans/unsafe.plan", *flags, "--time-limit", "9")[1])["limits"]["time_s"] == 9
    for command in ("repair", "diagnose"):
        assert json.loads(run(command, "plans/unsafe.plan", *flags)[1])["report"]["headline"] == "UNSAFE"
    project('format = "sarif"\n')
    assert run("repair", "plans/unsafe.plan", *flags)[1].startswith("plan ")


@pytest.mark.parametrize("command", ["repair", "diagnose"])
def test_repairs_use_the_project_file(run: Run, command: str) -> None:
    project()
    code, out, _ = run(command, "plans/unsafe.plan")
    assert code == 1
    assert "model/rules.safe  (safecheck.toml)" in out


def test_lint_uses_the_project_file(run: Run) -> None:
    pytest.importorskip("pysat", reason="the linter needs a solver")
    project()
    code, out, _ = run("lint", "--format", "json")
    assert code in (0, 1)
    files = json.loads(out)["inputs"]
    assert ("specification", "model/rules.safe", "safecheck.toml") in [(f["role"], f["path"], f["how"]) for f in files]
    assert [f["path"] for f in files if f["role"] == "problem"] == ["problems/safe.pddl", "problems/unsafe.pddl"]


def test_missing_problem_is_reported_with_its_key(run: Run) -> None:
    project()
    Path("plans/new.plan").write_text("(work)\n")
    code, out, _ = run("plans/new.plan")
    assert code == 2
    assert "error[SC601]: problem not found: problems/new.pddl" in out
    assert 'safecheck.toml says: problem = "problems/{stem}.pddl"' in out


def test_standard_input_has_no_stem(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    project()
    with Path("plans/safe.plan").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        code, out, _ = run("-")
    assert code == 2
    assert "error[SC603]" in out


def test_a_name_is_a_file_of_the_project_or_shipped(run: Run) -> None:
    project('domain = "household"\nproblem = "p.pddl"\nspecifications = ["hazards-heat"]\n')
    Path("p.pddl").write_text("(define (problem p) (:domain household) (:init) (:goal (and)))")
    Path("plans/safe.plan").write_text("(define (plan p) (:steps))")
    out = run("plans/safe.plan")[1]
    assert "hazards-heat.safe  (safecheck.toml)" in out
    assert "household/domain.pddl  (safecheck.toml)" in out


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('domian = "x"', "1:1", "did you mean `domain`?"),
        ('a = 1\nspecs = ["x"]', "2:1", "did you mean `specifications`?"),
        ('spec = ["x"]', "1:1", "did you mean `specifications`?"),
        ("[limits]\ntime-limit = 3", "2:1", "did you mean `time`?"),
        ("zzz = 1", "1:1", "known keys: domain, problem, specifications"),
        ("domain = 3", "1:1", "`domain` must be a string"),
        ('domain = ""', "1:1", "`domain` must be a string"),
        ("specifications = [1]", "1:1", "`specifications` must be a list of strings"),
        ('blame = ["introduced", "mine"]', "1:1", "`blame` must be one of introduced"),
        ('format = "xml"', "1:1", "`format` must be one of full"),
        ("limits = 3", "1:1", "`limits` must be a table"),
        ("[limits]\ntime = true", "2:1", "`time` must be a number from 0"),
        ("[limits]\ntime = nan", "2:1", "`time` must be a number from 0"),
        ("[limits]\nmemory = 1.5", "2:1", "`memory` must be a whole number from 0"),
        ("limits = { findings = 0 }", "1:12", "`findings` must be a whole number from 1"),
        ('problem = "{stme}.pddl"', "1:1", "`problem` contains the unknown placeholder {stme}"),
        ('scene = "a.json"', "1:1", "`scene` needs a world"),
        ('domain = "x', "1:12", "is not TOML"),
        ("= 3", "1:1", "is not TOML"),
    ],
)
def test_mistakes(run: Run, text: str, place: str, message: str) -> None:
    project(text)
    code, out, err = run("plans/safe.plan")
    assert (code, out) == (2, "")
    assert "error[SC622]" in err
    assert f"safecheck.toml:{place}" in err
    assert message in err


def test_all_mistakes_are_reported_together(run: Run) -> None:
    project('domian = "x"\nformat = 3\n')
    assert run("plans/safe.plan")[2].count("error[SC622]") == 2


@given(st.text(max_size=60))
def test_any_text_is_a_project_file_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "safecheck.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        project_file = find_project(str(folder))
        assert project_file is not None
    except BadProject as error:
        assert all(d.code == "SC622" and d.labels for d in error.diagnostics)


def test_python_api_does_not_search_for_a_project_file(run: Run) -> None:
    project()
    (unconfigured,) = audit(["plans/safe.plan"])
    assert unconfigured.report.headline is None
    (configured,) = audit(["plans/safe.plan"], Settings(project=find_project()))
    assert configured.report.headline is not None
    assert configured.report.headline.value == "SAFE"


# -- a world


def test_a_world_with_a_scene_for_each_plan(run: Run, root: Path) -> None:
    home = root / "examples/virtualhome"
    project('world = "virtualhome"\nscene = "scenes/{stem}.json"\nspecifications = ["home", "home-virtualhome"]\n')
    Path("scenes").mkdir()
    Path("scenes/milk.json").write_bytes((home / "home.json").read_bytes())
    Path("scenes/plan.txt").write_text("[WALK] <bed> (1)")  # no scene: another suffix
    Path("scripts").mkdir()
    Path("scripts/milk.txt").write_bytes((home / "warm-milk.txt").read_bytes())
    code, out, _ = run("scripts", "--format", "json")
    assert code == 1
    (report,) = [json.loads(line) for line in out.splitlines()]
    assert ("scene", "scenes/milk.json") in [(i["role"], i["path"]) for i in report["inputs"]]
    assert report["inputs"][1]["role"] == "project"
    assert run("repair", "scripts/milk.txt", "--from", "text")[0] == 2  # scripts are not loose text


def test_option_for_another_world_disables_the_project_s_files(run: Run, root: Path) -> None:
    project()
    scene, script = root / "examples/virtualhome/home.json", root / "examples/virtualhome/warm-milk.txt"
    out = run(str(script), "--world", "virtualhome", "--scene", str(scene))[1]
    assert "safecheck.toml)" not in out
    assert "shipped with the domain" in out


# -- init and --show-config


def test_init_finds_the_files(run: Run) -> None:
    code, out, _ = run("init")
    assert code == 0
    assert 'problem = "problems/{stem}.pddl"' in out
    contents = tomllib.loads(Path("safecheck.toml").read_text())
    assert contents == {
        "domain": "model/domain.pddl",
        "problem": "problems/{stem}.pddl",
        "specifications": ["model/rules.safe"],
    }
    assert run("plans")[0] == 1


def test_init_does_not_overwrite_a_project_file(run: Run) -> None:
    project('format = "json"\n')
    assert run("init")[0] == 2
    assert "error[SC623]" in run("init")[2]
    assert Path("safecheck.toml").read_text() == 'format = "json"\n'
    Path("safecheck.toml").unlink()
    project("[tool.safecheck]\n", "pyproject.toml")
    assert "pyproject.toml" in run("init")[2]
    Path("pyproject.toml").unlink()
    Path("safecheck.toml").symlink_to("elsewhere.toml")
    assert run("init")[0] == 2
    assert not Path("elsewhere.toml").exists()


def test_init_with_a_shipped_domain_or_an_empty_folder(run: Run) -> None:
    Path("a").mkdir()
    Path("a/p.pddl").write_text(PROBLEM.replace("tidy", "household").format("(and)"))
    assert run("init", "a")[0] == 0
    shipped = tomllib.loads(Path("a/safecheck.toml").read_text())
    assert shipped == {"domain": "household", "problem": "p.pddl", "specifications": ["household"]}
    Path("b").mkdir()
    assert run("init", "b")[0] == 0
    assert tomllib.loads(Path("b/safecheck.toml").read_text()) == {}
    assert run("init", "nowhere")[0] == 2


def test_init_omits_ambiguous_files(run: Run) -> None:
    Path("model/second.pddl").write_text(DOMAIN.replace("tidy", "other"))
    Path("problems/second.pddl").write_text(PROBLEM.replace("tidy", "other").format("(done)"))
    Path("plans/third.plan").write_text("(work)")
    assert run("init")[0] == 0
    assert tomllib.loads(Path("safecheck.toml").read_text()) == {}


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
def test_project_file_of_init_is_readable(name: str) -> None:
    from plansafe.app.interfaces.cli.init import _can_be_written, _ProjectPart
    from plansafe.app.project.file_kinds import Heading, Kind

    if not _can_be_written(name):
        return
    files = [_ProjectPart(name, Heading(Kind.DOMAIN, "d")), _ProjectPart(name, Heading(Kind.PROBLEM, "p", "d"))]
    parsed = tomllib.loads(project_text([*files, _ProjectPart(name, Heading(Kind.SAFETY, "s", "d"))]))
    assert parsed == {"domain": name, "problem": name, "specifications": [name]}


def test_show_config(run: Run) -> None:
    project('format = "concise"\ndomain = "model/domain.pddl"\nproblem = "problems/{stem}.pddl"\n[limits]\ntime = 5\n')
    code, out, _ = run("--show-config", "plans/safe.plan", "--spec", "model/rules.safe")
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    assert ["project", "file:", "safecheck.toml"] in rows
    assert ["domain", "model/domain.pddl", "safecheck.toml:2"] in rows
    assert ["specifications", "model/rules.safe", "--spec"] in rows
    assert ["format", "concise", "safecheck.toml:1"] in rows
    assert ["limits.time", "5", "s", "safecheck.toml:5"] in rows
    assert ["limits.findings", "100", "default"] in rows
    assert ["problem", "problems/safe.pddl", "safecheck.toml:", "problems/{stem}.pddl"] in rows
    listing = run("--show-config", "plans", "--spec", "model/rules.safe")[1]
    assert [line for line in listing.splitlines() if line.startswith("plan ")] == [
        "plan plans/safe.plan",
        "plan plans/unsafe.plan",
    ]
    for command in ("repair", "diagnose"):
        assert "limits.findings" not in run(command, "--show-config")[1]
    assert "project file: none" in run("--show-config", "--no-project")[1]


def test_commands_need_a_plan(run: Run) -> None:
    for command in ("audit", "repair", "diagnose"):
        code, _, err = run(command)
        assert code == 2
        assert "Missing argument" in err


def test_keys_of_the_project_file_are_shown_and_copied_to_the_settings(run: Run) -> None:
    _, out, _ = run("--show-config")
    assert not [key for key in project_options() if f"\n  {key} " not in out]
    handled_separately = {"domain", "problem", "specifications", "world", "scene", "goal", "format", "limits.memory"}
    assert set(project_options()) == COPIED_KEYS | handled_separately
