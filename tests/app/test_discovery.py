"""Test how inputs are found: flags, comments of the plan, folders, shipped worlds; a plan must not choose its rules."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.file_kinds import Kind, heading, plans_below
from plansafe.app.project.inputs import Choice, Input, Inputs
from plansafe.app.project.project_file import find_project
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source

DOMAIN = "(define (domain {}) (:predicates (p)))"
PROBLEM = "(define (problem {}) (:domain {}) (:goal (p)))"
SAFETY = "(define (safety {}) (:domain {}))"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(**files: str) -> None:
    for name, text in files.items():
        path = Path(name.replace("__", "/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def find(plan: str, choice: Choice | None = None) -> Inputs:
    discovery = Discovery(choice or Choice())
    plan_input = discovery.read(plan, "plan", "given")
    assert isinstance(plan_input, Input)
    return discovery.find(plan_input, heading(plan_input.source.text))


def paths_of(inputs: Inputs) -> tuple[str | None, str | None, tuple[str, ...]]:
    domain, problem = inputs.domain, inputs.problem
    return domain and domain.path, problem and problem.path, tuple(spec.path for spec in inputs.specs)


def codes(inputs: Inputs) -> list[str]:
    return [d.code for d in inputs.diagnostics]


def test_siblings(folder: Path) -> None:
    write(a__plan="(go)", a__d=DOMAIN.format("d"), a__p=PROBLEM.format("p", "d"), a__s=SAFETY.format("s", "d"))
    inputs = find("a/plan")
    assert paths_of(inputs) == ("a/d", "a/p", ("a/s",))
    assert inputs.domain is not None
    assert inputs.domain.how == "in a/"


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("tee.plan", "tea.plan"),
        ("tea.txt", "tea.plan"),
        ("problm", "problem.pddl"),
        ("nope.pddl", None),
        ("problm.json", None),  # of another kind
        ("kettle.plan", None),
        ("x.plan", None),
    ],
)
def test_similar_name_of_the_same_kind_is_suggested(folder: Path, name: str, near: str | None) -> None:
    write(**{"tea.plan": "(go)", "tea.json": "{}", "problem.pddl": PROBLEM.format("p", "d")})
    missing = Discovery(Choice()).read(name, "plan", "given")
    assert isinstance(missing, Diagnostic)
    advice = "check the path: relative paths start at the current folder"
    assert missing.help == (f"did you mean `{near}`?" if near else advice)


def test_a_folder_is_not_suggested_for_a_file(folder: Path) -> None:
    (folder / "domains").mkdir()
    for role, suggested in (("domain", False), ("plan", True)):
        missing = Discovery(Choice()).read("nodomain", role, "given")
        assert isinstance(missing, Diagnostic) and missing.help is not None
        assert ("`domains`" in missing.help) is suggested
        missing = Discovery(Choice()).read("nodomain.pddl", role, "given")
        assert isinstance(missing, Diagnostic) and "`domains`" not in (missing.help or "")


def test_flags_override_comments_and_folders(folder: Path) -> None:
    write(plan="; domain: other\n(go)", d=DOMAIN.format("d"), p=PROBLEM.format("p", "d"), x__d=DOMAIN.format("d"))
    write(x__p=PROBLEM.format("p", "d"), x__s=SAFETY.format("s", "d"), s=SAFETY.format("s", "d"))
    assert paths_of(find("plan", Choice("x/d", "x/p", ("x/s",)))) == ("x/d", "x/p", ("x/s",))


def test_a_plan_names_its_inputs_by_comment(folder: Path) -> None:
    write(plan="; Domain: sub/d1.pddl\n;; problem: sub/p1.pddl\n(go)")
    Path("sub").mkdir()
    for n in (1, 2):
        Path(f"sub/d{n}.pddl").write_text(DOMAIN.format("d"))
        Path(f"sub/p{n}.pddl").write_text(PROBLEM.format("p", "d"))
    inputs = find("plan")
    assert paths_of(inputs)[:2] == ("sub/d1.pddl", "sub/p1.pddl")
    assert inputs.domain is not None
    assert inputs.domain.how == "chosen by the plan"


def test_comment_after_the_first_step_is_ignored(folder: Path) -> None:
    write(plan="(go)\n; domain: x", d=DOMAIN.format("d"), x=DOMAIN.format("x"), p=PROBLEM.format("p", "d"))
    assert paths_of(find("plan"))[:2] == ("d", "p")


def test_a_plan_names_its_inputs_by_name(folder: Path) -> None:
    write(plan="(define (plan x) (:domain d2) (:problem p2) (:steps))")
    for n in (1, 2):
        write(**{f"d{n}": DOMAIN.format(f"d{n}"), f"q{n}": PROBLEM.format(f"p{n}", f"d{n}")})
    assert paths_of(find("plan"))[:2] == ("d2", "q2")


def test_gate_ignores_the_plan(folder: Path) -> None:
    write(plan="; domain: ../../etc/passwd\n; problem: sub/q\n(go)", d=DOMAIN.format("d"), p=PROBLEM.format("p", "d"))
    write(sub__q=PROBLEM.format("q", "d"))
    assert paths_of(find("plan", Choice(gate=True)))[:2] == ("d", "p")


@pytest.mark.parametrize("path", ["../d", "/etc/passwd", "link/d", "a/../../d"])
def test_plan_cannot_name_files_outside_its_folder(folder: Path, path: str) -> None:
    write(d=DOMAIN.format("secret"), home__plan=f"; domain: {path}\n(go)", home__p=PROBLEM.format("p", "d"))
    os.symlink("..", "home/link")
    inputs = find("home/plan")
    assert codes(inputs) == ["SC606"]
    assert inputs.domain is None
    (label,) = inputs.diagnostics[0].labels
    assert Source("x", Path("home/plan").read_text()).slice(label.span) == path


def test_a_null_byte_in_a_path_is_refused(folder: Path) -> None:
    write(plan="; domain: a\0b\n(go)", p=PROBLEM.format("p", "d"))
    assert codes(find("plan")) == ["SC606"]


def test_a_plan_names_a_missing_file(folder: Path) -> None:
    write(plan="; domain: gone.pddl\n(go)", p=PROBLEM.format("p", "d"))
    assert codes(find("plan")) == ["SC601"]


def test_plan_cannot_choose_a_specification(folder: Path) -> None:
    write(plan="; spec: sub/s\n; specification: sub/s\n(go)", d=DOMAIN.format("d"), p=PROBLEM.format("p", "d"))
    write(sub__s=SAFETY.format("s", "d"))
    assert paths_of(find("plan")) == ("d", "p", ())


def test_diagnostic_names_the_searched_folders(folder: Path) -> None:
    write(lonely__plan="(go)")
    inputs = find("lonely/plan")
    assert codes(inputs) == ["SC603", "SC602"]
    assert all("lonely/" in d.notes[0] and d.help for d in inputs.diagnostics)


def test_file_name_selects_among_several_problems(folder: Path) -> None:
    write(d=DOMAIN.format("d"))
    for n in (1, 2):
        Path(f"p{n}.pddl").write_text(PROBLEM.format(f"p{n}", "d"))
        Path(f"p{n}.plan").write_text("(go)")
    Path("p2-greedy.plan").write_text("(go)")
    Path("other.plan").write_text("(go)")
    assert paths_of(find("p1.plan"))[1] == "p1.pddl"
    assert paths_of(find("p2-greedy.plan"))[1] == "p2.pddl"
    ambiguous = find("other.plan")
    assert codes(ambiguous) == ["SC603"]
    assert "p1.pddl, p2.pddl" in ambiguous.diagnostics[0].notes[1]


def test_problem_selects_among_several_domains(folder: Path) -> None:
    write(plan="(go)", d1=DOMAIN.format("d1"), d2=DOMAIN.format("D2"), p=PROBLEM.format("p", "d2"))
    assert paths_of(find("plan"))[0] == "d2"


def test_shipped_domain_is_used_with_its_specification(folder: Path) -> None:
    write(plan="(go)", p=PROBLEM.format("p", "household"))
    domain, problem, specs = paths_of(find("plan"))
    assert domain is not None
    assert domain.endswith("household/domain.pddl")
    assert problem == "p"
    assert [Path(spec).name for spec in specs] == ["household.safe"]
    assert paths_of(find("plan", Choice(default_spec=False)))[2] == ()


def test_own_domain_with_a_shipped_name_has_no_shipped_specification(folder: Path) -> None:
    write(plan="(go)", p=PROBLEM.format("p", "household"), d=DOMAIN.format("household"))
    assert paths_of(find("plan")) == ("d", "p", ())


def test_specification_next_to_the_plan_replaces_the_shipped_one(folder: Path) -> None:
    write(plan="(go)", p=PROBLEM.format("p", "household"), s=SAFETY.format("s", "household"))
    write(t=SAFETY.format("t", "garden"))
    assert paths_of(find("plan"))[2] == ("s",)


def test_a_shipped_specification_by_name(folder: Path) -> None:
    write(plan="(go)", d=DOMAIN.format("d"), p=PROBLEM.format("p", "d"))
    (spec,) = paths_of(find("plan", Choice(specs=("hazards-heat",))))[2]
    assert Path(spec).name == "hazards-heat.safe"


def test_missing_files(folder: Path) -> None:
    write(plan="(go)", domain="x")
    inputs = find("plan", Choice("domian", "nope"))
    assert codes(inputs) == ["SC601", "SC601"]
    assert inputs.diagnostics[1].help == "did you mean `domain`?"
    assert inputs.diagnostics[0].help == "check the path: relative paths start at the current folder"
    diagnostics = find("plan", Choice("kitchen-of-nobody", "problem")).diagnostics
    assert any("safecheck worlds" in (d.help or "") for d in diagnostics)
    assert codes(find("plan", Choice(".", "domain")))[0] == "SC001"


def test_extended_specifications(folder: Path) -> None:
    write(sub__base=SAFETY.format("named", "d"))
    Path("sub/other.safe").write_text(SAFETY.format("other", "d"))
    discovery = Discovery(Choice())
    extending = Source("sub/top.safe", "")
    for name, path in (("base", "sub/base"), ("named", "sub/base"), ("other", "sub/other.safe"), ("nope", None)):
        extended = discovery.extended(name, extending)
        assert (extended and extended.path) == path
    shipped = discovery.extended("hazards-heat", extending)
    assert shipped is not None
    assert shipped.how == "extended by top.safe"


def test_standard_input_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(plan="(go)")
    with Path("plan").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        discovery = Discovery(Choice())
        first = discovery.read("-", "plan", "given", keep=False)
        assert isinstance(first, Input)
        assert first.source.text == "(go)"
        second = discovery.read("-", "domain", "--domain")
        assert isinstance(second, Diagnostic)
        assert second.code == "SC607"


# -- rules in folders above the plan


def test_folders_above_the_plan_are_searched(folder: Path) -> None:
    write(a__b__plan="(go)", d=DOMAIN.format("d"), p=PROBLEM.format("p", "d"), s=SAFETY.format("s", "d"))
    inputs = find("a/b/plan")
    assert paths_of(inputs) == ("d", "p", ("s",))
    assert inputs.problem is not None
    assert inputs.problem.how == "in the current folder, above the plan"
    assert paths_of(find(str(folder / "a/b/plan"))) == ("d", "p", ("s",))


def test_nearest_folder_is_used(folder: Path) -> None:
    write(d=DOMAIN.format("d"), p=PROBLEM.format("p", "d"), s=SAFETY.format("s", "d"), a__b__plan="(go)")
    write(a__d=DOMAIN.format("d"), a__p=PROBLEM.format("p", "d"), a__s=SAFETY.format("s", "d"))
    assert paths_of(find("a/b/plan")) == ("a/d", "a/p", ("a/s",))


def test_folders_above_the_current_folder_are_not_searched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(d=DOMAIN.format("d"), p=PROBLEM.format("p", "d"), a__b__plan="(go)", c__plan="(go)")
    monkeypatch.chdir("a")
    assert codes(find("b/plan")) == ["SC603", "SC602"]
    assert codes(find("../c/plan")) == ["SC603", "SC602"]
    assert codes(find(str(folder / "c/plan"))) == ["SC603", "SC602"]


def test_current_folder_may_be_deleted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(a__plan="(go)", a__d=DOMAIN.format("d"), a__p=PROBLEM.format("p", "d"), gone__x="")
    monkeypatch.chdir("gone")
    Path("x").unlink()
    (folder / "gone").rmdir()
    assert paths_of(find(str(folder / "a/plan")))[:2] == (str(folder / "a/d"), str(folder / "a/p"))
    assert find_project() is None


def test_gate_does_not_search_folders_above_the_plan(folder: Path) -> None:
    write(a__plan="(go)", d=DOMAIN.format("d"), p=PROBLEM.format("p", "d"), s=SAFETY.format("s", "d"))
    refused = find("a/plan", Choice(gate=True))
    assert codes(refused) == ["SC603", "SC602"]
    assert "not in the folders above: --gate" in refused.diagnostics[0].notes[0]
    write(x__d=DOMAIN.format("d"), x__p=PROBLEM.format("p", "d"))
    assert paths_of(find("a/plan", Choice("x/d", "x/p", gate=True)))[2] == ()


@pytest.mark.parametrize("gate", [True, False])
def test_specifications_next_to_domain_and_problem_are_used(folder: Path, gate: bool) -> None:
    write(plans__plan="(go)", x__d=DOMAIN.format("d"), y__p=PROBLEM.format("p", "d"))
    write(x__s=SAFETY.format("s", "d"), x__other=SAFETY.format("o", "e"), y__t=SAFETY.format("t", "d"))
    inputs = find("plans/plan", Choice("x/d", "y/p", gate=gate))
    assert [(spec.path, spec.how) for spec in inputs.specs] == [
        ("y/t", "beside the problem"),
        ("x/s", "beside the domain"),
    ]
    write(plans__own=SAFETY.format("own", "d"))
    assert paths_of(find("plans/plan", Choice("x/d", "y/p", gate=gate)))[2] == ("plans/own", "y/t", "x/s")
    assert paths_of(find("plans/plan", Choice("x/d", "y/p", ("x/s",), gate=gate)))[2] == ("x/s",)
    assert paths_of(find("plans/plan", Choice("x/d", "y/p", default_spec=False, gate=gate)))[2] == ()


def test_specification_is_used_once(folder: Path) -> None:
    write(plan="(go)", d=DOMAIN.format("d"), p=PROBLEM.format("p", "d"), s=SAFETY.format("s", "d"))
    inputs = find("plan", Choice("./d", str(folder / "p")))
    assert [spec.how for spec in inputs.specs] == ["in the current folder"]


@pytest.mark.parametrize(
    "text",
    [
        "(define (plan x) (:domain kitchen-sim) (:steps))",
        "(define (plan x) (:domain sub/sim.pddl) (:steps))",
        "; domain: kitchen-sim\n(go)",
        "; problem: easy\n(go)",
    ],
)
def test_plan_cannot_avoid_a_specification(folder: Path, text: str) -> None:
    write(plan=text, kitchen=DOMAIN.format("kitchen"), sim=DOMAIN.format("kitchen-sim"))
    write(easy=PROBLEM.format("easy", "kitchen-sim"), s=SAFETY.format("s", "kitchen"))
    Path("plan.pddl").write_text(PROBLEM.format("p", "kitchen"))
    Path("sub").mkdir()
    Path("sub/sim.pddl").write_text(DOMAIN.format("kitchen-sim"))
    assert paths_of(find("plan", Choice(gate=True))) == ("kitchen", "plan.pddl", ("s",))
    (refused,) = find("plan").diagnostics
    assert refused.code == "SC621"
    assert "the specification s" in refused.message
    assert refused.labels
    assert codes(find("plan", Choice(domain="sim"))) == []


def test_plan_cannot_avoid_a_shipped_specification(folder: Path) -> None:
    write(plan="; domain: mine\n(go)", mine=DOMAIN.format("mine"), p=PROBLEM.format("p", "household"))
    (refused,) = find("plan").diagnostics
    assert refused.code == "SC621"
    assert "household.safe" in refused.message


def test_plan_cannot_avoid_a_specification_by_choosing_the_domain(folder: Path) -> None:
    write(plan="; domain: sub/d2\n; problem: sub/p2\n(go)", sub__d1=DOMAIN.format("d1"), sub__d2=DOMAIN.format("d2"))
    write(sub__p1=PROBLEM.format("p1", "d1"), sub__p2=PROBLEM.format("p2", "d2"), sub__s=SAFETY.format("s", "d1"))
    assert codes(find("plan")) == ["SC621"]
    write(sub__s="(define (safety s))")
    assert paths_of(find("plan")) == ("sub/d2", "sub/p2", ("sub/s",))


def test_plan_may_name_a_domain_with_the_same_specification(folder: Path) -> None:
    write(plan="; domain: b\n(go)", a=DOMAIN.format("kitchen"), b=DOMAIN.format("kitchen"))
    write(p=PROBLEM.format("p", "kitchen"), s=SAFETY.format("s", "kitchen"))
    assert paths_of(find("plan")) == ("b", "p", ("s",))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("(go a b)", Kind.STEPS),
        ("; cost 3\n(go a b)\n(go b a)", Kind.STEPS),
        ("0.001: (go a b) [1.5]", Kind.STEPS),
        ("0: (go a) 1: (go b)", Kind.STEPS),
        ("( go\n a )", Kind.STEPS),
        ("(define (plan x) (:steps))", Kind.PLAN),
        ("\n( DEFINE ; x\n (Domain d))", Kind.DOMAIN),
        ("; (define (domain d))\n(define (problem p))", Kind.PROBLEM),
        ("(define (safety s))", Kind.SAFETY),
        ("(define (mapping s))", Kind.MAPPING),
        ("", Kind.EMPTY),
        ("; nothing\n", Kind.EMPTY),
        ("(see above) for more", Kind.OTHER),
        ("# Title", Kind.OTHER),
        ("(go (a))", Kind.OTHER),
        ("(", Kind.OTHER),
        (";" * 70_000, Kind.EMPTY),
        (" " * 70_000 + "x", Kind.EMPTY),
        ("\n ;\n" * 20_000, Kind.EMPTY),
    ],
)
def test_content_determines_the_kind_of_file(text: str, kind: Kind) -> None:
    assert heading(text).kind is kind


def test_plans_below_a_folder(folder: Path) -> None:
    write(a__one="(go)", a__b__two="(define (plan p) (:steps))", a__d=DOMAIN.format("d"), a__notes="(see) this")
    write(a__p=PROBLEM.format("p", "d"), a__s=SAFETY.format("s", "d"), a__empty="")
    Path("a/.hidden").write_text("(go)")
    Path("a/broken.plan").write_text("(go")
    Path("a/empty.pddl").write_text("")
    assert list(plans_below("a")) == ["a/broken.plan", "a/empty.pddl", "a/one", "a/b/two"]


PART = "(define (domain d) (:requirements :factored-privacy) (:predicates (p)))"


def test_parts_of_a_factored_task_are_joined(folder: Path) -> None:
    write(a__plan="", **{"a__domain-x.pddl": PART, "a__domain-y.pddl": PART})
    write(**{"a__y_problem.pddl": PROBLEM.format("p", "d"), "a__x_problem.pddl": PROBLEM.format("p", "d")})
    inputs = find("a/plan")
    assert codes(inputs) == []
    assert inputs.domain is not None and inputs.problem is not None
    assert [part.path for part in inputs.domain.parts] == ["a/domain-x.pddl", "a/domain-y.pddl"]
    assert [part.path for part in inputs.problem.parts] == ["a/x_problem.pddl", "a/y_problem.pddl"]
    assert inputs.domain.source.text == f"{PART}\n{PART}\n"


def test_options_may_name_a_folder_with_parts(folder: Path) -> None:
    write(plan="", **{"a__domain-x.pddl": PART, "a__domain-y.pddl": PART})
    write(**{"a__problem-y.pddl": PROBLEM.format("p", "d"), "a__problem-x.pddl": PROBLEM.format("p", "d")})
    inputs = find("plan", Choice("a", "a"))
    assert codes(inputs) == []
    assert inputs.problem is not None
    assert [part.path for part in inputs.problem.parts] == ["a/problem-x.pddl", "a/problem-y.pddl"]
    assert codes(find("plan", Choice("a/domain-x.pddl", "a"))) == ["SC121"]
    assert codes(find("plan", Choice("a/domain-x.pddl", "a/problem-x.pddl"))) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"domain-z.pddl": PART}, ["SC603", "SC602"]),
        ({"domain-y.pddl": DOMAIN.format("d")}, ["SC603", "SC602"]),
        ({"problem-z.pddl": PROBLEM.format("p", "d")}, ["SC603", "SC602"]),
    ],
)
def test_files_that_are_not_exactly_parts_are_not_joined(
    folder: Path, files: dict[str, str], expected: list[str]
) -> None:
    write(plan="", **{"domain-x.pddl": PART, "domain-y.pddl": PART})
    write(**{"problem-x.pddl": PROBLEM.format("p", "d"), "problem-y.pddl": PROBLEM.format("p", "d")} | files)
    assert codes(find("plan")) == expected


def test_a_folder_without_parts(folder: Path) -> None:
    write(plan="", a__x=DOMAIN.format("d"), a__y=DOMAIN.format("e"), b__p=PROBLEM.format("p", "d"))
    assert codes(find("plan", Choice("b", "b"))) == ["SC001"]
    assert codes(find("plan", Choice("a", "b"))) == ["SC121"]
