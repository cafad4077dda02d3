"""Test that invisible and direction characters are escaped in all outputs, and kept in plan files."""

from __future__ import annotations

import io
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import Run, run_app
from hypothesis import given
from hypothesis import strategies as st

from plansafe.app.render import FORMATS
from plansafe.app.system.terminal_text import escaped, visible
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from quick import quick_every

BAD = "\x1b[31m\u202e\u200b\x7f\x9b\u3164\ufe0f\u2028\U000e0041"
X = "e\u202e\u200b\u3164x"  # the end of most names
NAME = "t\x1b[2J\u202e\u200b.plan"
DOMAIN = f"""(define (domain kitchen{X}) (:requirements :adl) ; {BAD}
  (:types room{X} stove - object)
  (:predicates (robot-in ?r - room{X}) (in ?s - stove ?r - room{X}) (on{X} ?s - stove) (hot ?s - stove))
  (:action switch-on{X} :parameters (?s{X} - stove ?r - room{X})
    :precondition (and (robot-in ?r) (in ?s{X} ?r) (not (on{X} ?s{X}))) :effect (and (on{X} ?s{X}) (hot ?s{X})))
  (:action switch-off :parameters (?s - stove ?r - room{X})
    :precondition (and (robot-in ?r) (in ?s ?r) (on{X} ?s)) :effect (not (on{X} ?s)))
  (:action go :parameters (?from ?to - room{X})
    :precondition (and (robot-in ?from) (not (= ?from ?to)))
    :effect (and (not (robot-in ?from)) (robot-in ?to))))
"""
PROBLEM = f"""(define (problem tea{X}) (:domain kitchen{X})
  (:objects hob{X} - stove kitchen{X} hall - room{X})
  (:init (robot-in kitchen{X}) (in hob{X} kitchen{X}))
  (:goal (and (robot-in hall) (hot hob{X}))))
"""
RULES = f"""(define (safety kitchen{X})
  (:process stove-off{X} :on (go ?from ?to)
    :forbid (exists (?s - stove) (and (in ?s ?from) (on{X} ?s))) :message "a stove {BAD} is on in {{?from}}"))
"""
PLAN = f"; tea {BAD}\n(switch-on{X} hob{X} kitchen{X}) ; {BAD}\n(go kitchen{X} hall)\n"
FILES = {
    "d.pddl": DOMAIN,
    "p.pddl": PROBLEM,
    "open.pddl": PROBLEM.replace("(:init ", f"(:init (unknown (on{X} hob{X})) "),
    "k.safe": RULES,
    NAME: PLAN,
    "plain.plan": f"; tea {BAD}\n(switch-on hob kitchen) ; {BAD}\n(go kitchen hall)\n",
    "plain-d.pddl": DOMAIN.replace(X, ""),
    "plain-p.pddl": PROBLEM.replace(X, ""),
    "plain.safe": RULES.replace(X, ""),
    "ill.plan": f"{PLAN}(no{X} {BAD})\n",
    "broken.plan": f"(go{X} {BAD}\n",
    "bytes.plan": f"; caf\udce9 \udc9b\n{PLAN}",
    "prose.txt": f"1. go {BAD} from kitchen{X} to hall\n",
    "twice.pddl": DOMAIN.replace("(:action go", f"(:action switch-on{X} :effect (on{X} hob)) (:action go"),
    "bad.safe": f"{RULES.replace(':process', 'process')}\n({BAD}",
    "wrong.toml": f'["ours{X}.categories]\n"b{X}" = {{ hazards = ["fier{X}"] }}\n',
    "none.toml": f'[ours.categories]\n"b{X}" = {{ reason = "{X}" }}\n',
    "scenario/domain.pddl": DOMAIN.replace("(:types", "(:typs"),
    "scenario/problem.pddl": PROBLEM.replace(f"hob{X} -", f"hob{X} pan{X} -"),
    "scenario/k.safe": RULES,
    "proof": f"c {BAD}\n",
}
FLAGS = ("--domain", "d.pddl", "--problem", "p.pddl", "--spec", "k.safe")
PLAIN = ("plain.plan", "--domain", "plain-d.pddl", "--problem", "plain-p.pddl", "--spec", "plain.safe")
COMMANDS = [
    *[(name, *FLAGS, "--format", f) for f in FORMATS for name in (NAME, "ill.plan", "broken.plan", "gone\x1b\u202e")],
    *[(NAME, *FLAGS[:2], "--problem", "open.pddl", "--spec", "k.safe", "--format", f) for f in FORMATS],
    (NAME, *FLAGS, "--full-state"),
    (NAME, "--domain", "twice.pddl", "--problem", "p.pddl"),
    (NAME, *FLAGS[:4], "--spec", "bad.safe"),
    *[
        (c, name, *FLAGS, "--format", f)
        for c in ("repair", "diagnose")
        for f in ("full", "json")
        for name in (NAME, "ill.plan")
    ],
    ("diagnose", NAME, *FLAGS, "--cause", "--regret", "--reference", NAME),
    ("diagnose", NAME, *FLAGS, "--labels", "safel"),
    ("diagnose", NAME, *FLAGS, "--graph", "-"),
    *[("repair", name, *FLAGS, "-o", "-") for name in (NAME, "bytes.plan", "ill.plan")],
    *[(name, *FLAGS, "--diff") for name in (NAME, "bytes.plan", "ill.plan")],
    ("prose.txt", *FLAGS, "--from", "text"),
    *[("lint", spec, "--domain", "d.pddl", "--format", f) for spec in ("k.safe", "bad.safe") for f in FORMATS[:3]],
    ("scenario", "check", "scenario"),
    ("scenario", "check", "\x1b\u202e"),
    ("scenario", "fix", "scenario"),
    ("scenario", "fix", "scenario", "--diff"),
    ("scenario", "fix", "scenario", "--format", "json"),
    ("scenario", "sheet", "scenario"),
    ("scenario", "sheet", "\x1b\u202e"),
    ("scenario", "agreement", "scenario/k.safe", "scenario/k.safe"),
    ("scenario", "agreement", f"a{X}", "scenario/k.safe"),
    ("hazards", "--table", "wrong.toml"),
    ("hazards", "--table", "none.toml"),
    ("hazards", f"x{X}"),
    ("rules", "hazards", "--domain", f"x{X}"),
    ("detector", "wrong.toml"),
    ("detector", f"x{X}.toml"),
    ("worlds", "show", f"x{X}"),
    ("worlds", "scene", "virtualhome", "--scene", NAME),
    ("--world", "virtualhome", NAME, "--scene", NAME),
    ("--world", f"x{X}", NAME),
    ("verify-certificate", "proof"),
    ("verify-certificate", f"c{X}"),
    (f"--x{X}",),
    ("repair", f"--x{X}"),
    (NAME, "--format", f"x{X}"),
    (NAME, "--tolerance", X),
    (NAME, *FLAGS, "-o", f"{X}/x"),
    (NAME, *FLAGS, "--certificate", f"{X}/x"),
    ("repair", NAME, *FLAGS, "-o", f"{X}/x"),
    ("repair", NAME, "--weights", X),
    ("repair", NAME, "--protect", X),
    ("scenario", X),
    ("--explain", X),
]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("scenario").mkdir()
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8", errors="surrogateescape")

    return lambda *arguments: run_app(capsys, *arguments)


def invisible(text: str) -> set[str]:
    """The invisible or control characters of an output."""
    return {c for c in text if not (c.isprintable() or c in "\n\t") or _BLANK.match(c)}


_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Printable for Python but invisible: fillers, joiners and variation selectors."""


@pytest.mark.parametrize(
    "command", quick_every(12, COMMANDS, single=True), ids=lambda command: ascii(" ".join(command))
)
def test_outputs_have_no_invisible_characters(run: Run, command: tuple[str, ...]) -> None:
    code, out, err = run(*command)
    assert code in (0, 1, 2, 3), err
    assert invisible(out) == invisible(err) == set()
    assert out + err


def test_plan_on_standard_output_is_escaped(run: Run) -> None:
    code, out, err = run("repair", *PLAIN, "-o", "-")
    assert code == 0
    escapes = r"\x1b[31m\u202e\u200b\x7f\x9b\u3164\ufe0f\u2028\U000e0041"
    assert out == f"; tea {escapes}\n(switch-on hob kitchen) ; {escapes}\n(switch-off hob kitchen)\n(go kitchen hall)\n"
    assert "note: invisible characters were printed as escapes; a file gets the original characters\n" in err


def test_plan_in_a_file_keeps_its_characters(run: Run) -> None:
    assert run("repair", *PLAIN, "-o", "fixed.plan")[0] == 0
    expected = f"; tea {BAD}\n(switch-on hob kitchen) ; {BAD}\n(switch-off hob kitchen)\n(go kitchen hall)\n"
    assert Path("fixed.plan").read_text() == expected
    assert run(*PLAIN, "--fix")[0] == 0
    assert Path("plain.plan").read_text() == expected
    assert run("repair", NAME, *FLAGS, "-o", "named.plan")[0] == 0
    assert run("named.plan", *FLAGS)[0] == 0


def test_plan_from_standard_input_is_escaped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(FILES["plain.plan"].encode())))
    code, out, err = run("-", *PLAIN[1:], "--fix")
    assert code == 0
    assert "(switch-off hob kitchen)\n" in out
    assert invisible(out) == invisible(err) == set()


def test_diff_has_the_lines_of_the_plan(run: Run) -> None:
    _, out, _ = run(*PLAIN, "--diff")
    assert out.splitlines()[2:] == [
        "@@ -1,3 +1,4 @@",
        rf" ; tea {escaped(BAD)}",
        rf" (switch-on hob kitchen) ; {escaped(BAD)}",
        "+(switch-off hob kitchen)",
        " (go kitchen hall)",
    ]


def test_internal_error_is_escaped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from plansafe.verifier.api import Checker

    def fail(*_: object, **_options: object) -> None:
        raise RuntimeError(BAD)

    monkeypatch.setattr(Checker, "check", fail)
    code, out, err = run(*PLAIN)
    assert code == 4
    assert "RuntimeError" in err
    assert invisible(out) == invisible(err) == set()


@given(st.text())
def test_escaping_keeps_visible_text(text: str) -> None:
    escaped_text = escaped(text)
    assert invisible(escaped_text.replace("\r\n", "\n")) == set()
    if not invisible(text.replace("\r\n", "\n")):
        assert escaped_text == text
    assert escaped(escaped_text) == escaped_text
    assert escaped_text.count("\n") == text.count("\n")


@given(st.text(st.characters(exclude_characters="\r\n")))
def test_an_escaped_comment_stays_a_comment(comment: str) -> None:
    text = f"; {comment}\n(go hall kitchen) ; {comment}\n"
    steps = [step.tokens for step in read_plan(Source("p", escaped(text))).steps]
    assert steps == [("go", "hall", "kitchen")]


@given(st.text())
def test_visible_text_has_no_invisible_characters(text: str) -> None:
    assert invisible(visible(text)) == set()
