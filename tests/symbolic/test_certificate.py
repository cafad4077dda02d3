"""Every verified claim of a certificate is true, and no change of the file makes a false claim accepted."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plansafe.app.interfaces.cli.commandline import app
from plansafe.grammar.source import Source
from plansafe.verifier.symbolic.certificates import certificate as certificates
from plansafe.verifier.symbolic.certificates import proof
from plansafe.verifier.symbolic.certificates.certificate import (
    FIRST_LINE,
    Certificate,
    NotACertificate,
    Rejected,
    verify,
)
from plansafe.verifier.symbolic.certificates.writer import (
    append_end_line,
    find_refutation,
    matches,
    write_certificate,
)
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit
from plansafe.verifier.symbolic.circuits.solvers import SatSolver
from plansafe.verifier.symbolic.worlds.encoding import Encoding, FactInput

TASK: Any = SimpleNamespace(fact_text=lambda predicate, code: f"(fact {code})")
FILES = [("domain", Source("d.pddl", "(define)")), ("plan", Source('a "b"\n\x1b[1m.plan', "(go)"))]


def encode_clauses(clauses: list[list[int]]) -> Encoding:
    """An encoding with an unsafe world iff the clauses are satisfiable."""
    circuit = Circuit()
    literals_of_clauses = [
        [circuit.input(FactInput(0, abs(signed_variable))) ^ (signed_variable < 0) for signed_variable in clause]
        for clause in clauses
    ]
    allowed = circuit.conjunction([circuit.disjunction(literals) for literals in literals_of_clauses])
    return Encoding(circuit, allowed, FALSE, TRUE, FALSE, FALSE, (), True, (), 0, {})


def random_clauses(seed: int, variables: int = 7, count: int = 40) -> list[list[int]]:
    rng = random.Random(seed)
    sizes = [rng.choice((2, 3, 3, 3)) for _ in range(count)]
    return [[v * rng.choice((1, -1)) for v in rng.sample(range(1, variables + 1), size)] for size in sizes]


def are_satisfiable(clauses: list[list[int]]) -> bool:
    variables = max((abs(signed_variable) for clause in clauses for signed_variable in clause), default=0)
    for values in product((False, True), repeat=variables):
        if all(
            any(values[abs(signed_variable) - 1] == (signed_variable > 0) for signed_variable in clause)
            for clause in clauses
        ):
            return True
    return False


def certificate_lines(clauses: list[list[int]], steps: list[str], variables: int = 7) -> list[str]:
    lines = [FIRST_LINE, "c tool a test", "c claim SAFE", f"p cnf {variables} {len(clauses)}"]
    return [*lines, *[" ".join([*map(str, clause), "0"]) for clause in clauses], "c proof", *steps]


def read_certificate(text: str | list[str]) -> Certificate:
    return verify(io.BytesIO((text if isinstance(text, str) else append_end_line(text)).encode()))


def rejection_message(text: str | list[str]) -> str:
    with pytest.raises(Rejected) as caught:
        read_certificate(text)
    return str(caught.value)


@pytest.mark.parametrize("seed", range(30))
def test_a_certificate_exists_iff_the_clauses_are_unsatisfiable(seed: int) -> None:
    formula = random_clauses(seed, count=30 + seed % 15)
    encoding = encode_clauses(formula)
    text = write_certificate(encoding, "SAFE", FILES, TASK, [])
    assert (text is None) is are_satisfiable(formula)
    if text is not None:
        certificate = read_certificate(text)
        assert certificate.claim == "SAFE"
        assert [(file.kind, file.name) for file in certificate.files] == [
            ("domain", "d.pddl"),
            ("plan", FILES[1][1].name),
        ]
        assert matches(certificate, encode_clauses(formula))
        assert not matches(certificate, encode_clauses(formula[1:]))
        assert write_certificate(encode_clauses(formula), "SAFE", FILES, TASK, []) == text


def test_a_proof_of_more_than_100_steps_is_verified() -> None:
    """The clauses are unsatisfiable by the pigeonhole principle: six items in five places."""
    places_of_items = [[5 * item + place + 1 for place in range(5)] for item in range(6)]
    formula = places_of_items + [
        [-a[place], -b[place]] for place in range(5) for k, a in enumerate(places_of_items) for b in places_of_items[:k]
    ]
    text = write_certificate(encode_clauses(formula), "VALID", [], TASK, [])
    assert text is not None
    certificate = read_certificate(text)
    assert certificate.claim == "VALID"
    assert certificate.steps > 100
    assert not certificate.is_trivial


@pytest.mark.parametrize("seed", range(8))
def test_encodings_with_counts_have_certificates(seed: int) -> None:
    """Five or six of eight facts are true, but at most two and three in two groups; and random comparisons."""
    rng = random.Random(seed)
    encoding = encode_clauses(random_clauses(seed, 8, 12))
    circuit = encoding.circuit
    facts = [circuit.input(FactInput(0, k)) for k in range(1, 9)]
    rng.shuffle(facts)
    constraints = [encoding.allowed] if seed % 2 else []
    for group, operator, bound in ((facts[:4], "<=", 2), (facts[4:], "<", 4), (facts, "=", 5 + seed % 3)):
        total = terms.constant(0)
        for fact in group:
            total = terms.add(total, terms.choose(fact, terms.constant(1), terms.constant(0)))
        constraints.append(terms.compare(circuit, operator, total, terms.constant(bound)))
    encoding = encoding._replace(allowed=circuit.conjunction(constraints))
    text = write_certificate(encoding, "SAFE", FILES, TASK, [])
    solver = SatSolver(circuit)
    assert (text is None) is solver.solve([encoding.allowed])
    assert text is None or matches(read_certificate(text), encoding)


def test_constants_need_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pysat", None)
    always = Encoding(Circuit(), TRUE, TRUE, TRUE, FALSE, FALSE, (), True, (), 0, {})
    text = write_certificate(always, "SAFE", [], TASK, [])
    assert text is not None
    assert read_certificate(text).is_trivial


def test_no_certificate_is_written_after_a_limit_or_the_deadline() -> None:
    formula = random_clauses(0, count=60)
    assert write_certificate(encode_clauses(formula)._replace(limits=("time",)), "SAFE", [], TASK, []) is None
    assert write_certificate(encode_clauses(formula), "SAFE", [], TASK, [], deadline=0.0) is None


def test_a_changed_file_is_rejected() -> None:
    text = write_certificate(encode_clauses(random_clauses(0, count=60)), "SAFE", FILES, TASK, [])
    assert text is not None
    rng = random.Random(0)
    for _ in range(300):
        place = rng.randrange(len(text))
        character = rng.choice('0123456789abc dp-\n"{}')
        changed = text[:place] + character + text[place + rng.randrange(2) :]
        for candidate in (changed, text[:place]):
            if candidate != text:
                with pytest.raises((Rejected, NotACertificate)):
                    read_certificate(candidate)


def test_a_corrupted_proof_is_accepted_only_if_its_claim_is_true() -> None:
    """Each damaged file is sealed again; if it is still accepted, its claim must be true."""
    rng = random.Random(1)
    accepted = 0
    for number in range(1_000):
        formula = random_clauses(number % 40, count=45)
        steps = find_refutation(formula)
        if steps is None:
            assert are_satisfiable(formula)
            steps = find_refutation(random_clauses(0, count=60))
            assert steps is not None
        lines = certificate_lines(formula, steps)
        for _ in range(rng.randrange(1, 4)):
            lines = corrupt_line(rng, lines)
        try:
            read_certificate(lines)
        except (Rejected, NotACertificate):
            continue
        accepted += 1
        start = next(k for k, line in enumerate(lines) if line.startswith("p cnf"))
        premises = [[int(word) for word in line.split()[:-1]] for line in lines[start + 1 : lines.index("c proof")]]
        assert not are_satisfiable(premises)
    assert 0 < accepted < 500


def corrupt_line(rng: random.Random, lines: list[str]) -> list[str]:
    """Change, delete, repeat or exchange a line of clauses, steps or counts; or delete the end."""
    damaged = list(lines)
    place, second_place = rng.randrange(3, len(lines)), rng.randrange(3, len(lines))
    words = damaged[place].split(" ")
    word = rng.randrange(len(words))
    match rng.randrange(8):
        case 0:
            words[word] = words[word][1:] if words[word].startswith("-") else f"-{words[word]}"
        case 1:
            words[word] = str(rng.randrange(-8, 70))
        case 2:
            del words[word]
        case 3:
            words.insert(word, rng.choice(words))
        case 4:
            del damaged[place]
            return damaged
        case 5:
            damaged.insert(second_place, damaged[place])
            return damaged
        case 6:
            damaged[place], damaged[second_place] = (
                damaged[second_place],
                damaged[place],
            )
            return damaged
        case _:
            return damaged[: max(place, len(damaged) - 3)]
    damaged[place] = " ".join(words)
    return damaged


PREMISES, STEPS = ["1 2 0", "-1 2 0", "1 -2 0", "-1 -2 0"], ["5 2 0 1 2 0", "6 0 5 3 4 0"]


def small_certificate(*steps: str, head: str = "p cnf 2 4", premises: list[str] = PREMISES) -> list[str]:
    return [FIRST_LINE, "c claim SAFE", head, *premises, "c proof", *steps]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (small_certificate("5 0 1 2 3 4 0"), "line 9: clause 1 has 2 literals left instead of one"),
        (small_certificate("5 2 0 1 2 0"), "line 10: the proof ends before the empty clause"),
        (
            small_certificate("5 2 0 1 0", "6 0 5 3 4 0"),
            "line 9: clause 5 does not follow from the clauses that it names",
        ),
        (small_certificate("5 0 5 0"), "line 9: there is no clause 5"),
        (small_certificate("4 2 0 1 2 0"), "line 9: clause 4 comes after clause 4"),
        (
            small_certificate("5 2 0 -1 2 0"),
            "line 9: a step that only preserves satisfiability (RAT); such proofs are not supported",
        ),
        (small_certificate("5 2 0 0"), "line 9: clause 5 does not follow from the clauses that it names"),
        (small_certificate("5 2 0 1 2"), "line 9: `0` is expected at the end"),
        (small_certificate("5 2 0"), "line 9: a step names the clauses that it follows from"),
        (small_certificate("5 2 1 0"), "line 9: a step names the clauses that it follows from"),
        (small_certificate("5 3 0 1 2 0"), "line 9: literals are numbers from 1 to 2, or negative"),
        (small_certificate("5 d 1 0", "6 2 0 1 2 0"), "line 10: there is no clause 1"),
        (small_certificate("5 d 9 0"), "line 9: there is no clause 9"),
        (small_certificate(*STEPS, "7 1 0 5 0"), "line 11: no more steps here"),
        (small_certificate("+5 2 0 1 2 0"), "line 9: a number is expected here"),
        (small_certificate("5 1_0 0 1 2 0"), "line 9: a number is expected here"),
        (small_certificate("5 02 0 1 2 0"), "line 9: a number is expected here"),
        (small_certificate("5  2 0 1 2 0"), "line 9: a number is expected here"),
        (small_certificate("5 \u0662 0 1 2 0"), "line 9: a number is expected here"),
        (small_certificate("5 99999999999 0 1 2 0"), "line 9: a number is expected here"),
        (small_certificate(*STEPS, head="p cnf 2 3"), "line 7: there are more than 3 clauses, or `c proof` is missing"),
        (small_certificate(*STEPS, head="p cnf 2 5"), "line 8: a number is expected here"),
        (small_certificate(*STEPS, head="p cnf 1 4"), "line 4: literals are numbers from 1 to 1, or negative"),
        (small_certificate(*STEPS, head="p cnf 2"), "line 3: `p cnf VARIABLES CLAUSES` is expected here"),
        (
            small_certificate(*STEPS, head="p cnf 2 -4"),
            "line 4: there are more than -4 clauses, or `c proof` is missing",
        ),
        ([FIRST_LINE, "c claim GOOD", *small_certificate(*STEPS)[2:]], "line 3: version 1 has no such claim"),
        ([FIRST_LINE, *small_certificate(*STEPS)[2:]], "line 2: version 1 has no such claim"),
        ([FIRST_LINE, "c author me", *small_certificate(*STEPS)[1:]], "line 2: version 1 has no such line"),
        ([FIRST_LINE, "c plan abc", *small_certificate(*STEPS)[1:]], 'line 2: `c plan SHA256 "NAME"` is expected here'),
        (append_end_line(small_certificate(*STEPS)) + "\n", "line 11: there is text after the end"),
        ("\n".join(small_certificate(*STEPS)), "line 10: the file ends too early"),
        (
            append_end_line(small_certificate(*STEPS)).replace("1 -2 0", "-2 1 0", 1),
            "line 11: the file was changed: its hash differs",
        ),
    ],
)
def test_a_rejection_names_the_line_and_the_reason(text: str | list[str], message: str) -> None:
    assert rejection_message(text) == message


def test_correct_proof_steps_are_accepted() -> None:
    assert read_certificate(small_certificate(*STEPS)).steps == 2
    assert read_certificate(small_certificate("5 2 0 1 2 0", "5 d 1 2 0", "9 0 5 3 4 0")).steps == 2
    tautology = small_certificate("5 1 -1 0 1 3 0", "6 2 0 1 2 0", "7 0 6 3 4 0")
    assert read_certificate(tautology).steps == 3
    assert read_certificate(small_certificate("3 0 1 2 0", head="p cnf 1 2", premises=["1 0", "-1 0"])).is_trivial
    assert read_certificate(small_certificate("2 0 1 0", head="p cnf 0 1", premises=["0"])).steps == 1


@pytest.mark.parametrize(
    "text", ["", "c safecheck certificate 2\n", "(go)\n", "c safecheck certificate 1", "\x00" * 99]
)
def test_a_file_without_the_first_line_is_not_a_certificate(text: str) -> None:
    with pytest.raises(NotACertificate):
        read_certificate(text)


def test_limits_on_line_length_work_and_memory_reject_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "MAX_LINE", 100)
    assert rejection_message(small_certificate("5 " + "1 " * 100 + "0 1 2 0")) == "line 9: the line is too long"
    monkeypatch.setattr(proof, "MAX_WORK", 3)
    assert rejection_message(small_certificate(*STEPS)) == "line 9: the proof is too long to be checked here"
    monkeypatch.setattr(proof, "MAX_LIVE_LITERALS", 40)
    assert rejection_message(small_certificate(*STEPS)) == "line 6: the proof needs more memory than it may take"


# ---- the command ----------------------------------------------------------------------------------------------------

DOMAIN = """(define (domain kitchen) (:requirements :adl)
  (:predicates (metal ?x) (inside ?x) (running))
  (:action put-in :parameters (?x) :effect (inside ?x))
  (:action check :parameters (?x) :effect (when (metal ?x) (not (inside ?x))))
  (:action start :effect (running)))
"""
PROBLEM = """(define (problem p) (:domain kitchen) (:objects cup bowl)
  (:init (or (metal cup) (metal bowl)) (or (not (metal cup)) (metal bowl)) (or (metal cup) (not (metal bowl))))
  (:goal (running)))
"""
RULES = """(define (safety kitchen)
  (:process no-metal :parameters (?x) :forbid (and (running) (inside ?x) (metal ?x))))
"""
RULE = """(define (safety kitchen)
  (:process one-metal :forbid (and (running) (not (metal cup)))))
"""
FLAGS = ["--domain", "d.pddl", "--problem", "p.pddl", "--spec", "kitchen.safe", "--memory-limit", "0"]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("d.pddl").write_text(DOMAIN)
    Path("p.pddl").write_text(PROBLEM)
    Path("kitchen.safe").write_text(RULE)
    Path("warm.plan").write_text("(put-in cup)\n(start)\n")

    def run_command(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            app([*arguments, *FLAGS], prog_name="safecheck")
        return int(stop.value.code or 0), *capsys.readouterr()

    return run_command


def test_a_certificate_is_written_and_verified(run: Run) -> None:
    code, out, err = run("audit", "warm.plan", "--certificate", "warm.proof")
    assert (code, err) == (0, "warm.plan: certificate written to warm.proof\n")
    assert "decided by cadical" in out
    code, out, _ = run("verify-certificate", "warm.proof")
    assert code == 0
    assert out.startswith("proof verified: no world of this encoding stops the plan, misses its goal or breaks a rule")
    assert re.search(r"domain  d\.pddl  sha256 [0-9a-f]{64}", out)
    assert "not checked: that the encoding matches the files" in out
    code, out, _ = run("verify-certificate", "warm.proof", "warm.plan")
    assert code == 0
    assert out.endswith("  the encoding equals the encoding of warm.plan, made again from its files\n")
    Path("warm.plan").write_text("; a comment\n(put-in cup)\n(start)\n")
    code, out, _ = run("verify-certificate", "warm.proof", "warm.plan")
    assert code == 0
    assert out.endswith("from the certificate's without an effect on the encoding: warm.plan\n")


def test_a_correct_proof_about_other_files_is_an_error(run: Run) -> None:
    run("audit", "warm.plan", "--certificate", "warm.proof")
    Path("p.pddl").write_text(PROBLEM.replace("(or (metal cup) (not (metal bowl)))", "(metal cup)"))
    code, out, err = run("verify-certificate", "warm.proof", "warm.plan")
    assert (code, out) == (1, "")
    assert "error[SC810]: the proof is correct, but it is not about warm.plan" in err
    assert "these files differ from the certificate's: p.pddl" in err
    Path("kitchen.safe").write_text(RULES)
    code, _, err = run("verify-certificate", "warm.proof", "warm.plan")
    assert code == 1
    assert "the proof is correct, but warm.plan has no proof: it is UNSAFE" in err
    assert run("verify-certificate", "warm.proof", "no.plan")[0] == 2


def test_the_command_rejects_changed_missing_and_other_files(run: Run) -> None:
    run("audit", "warm.plan", "--certificate", "warm.proof")
    text = Path("warm.proof").read_text()
    Path("warm.proof").write_text(text.replace(" 0\n", " 1 0\n", 5))
    code, out, err = run("audit", "--verify-certificate", "warm.proof")
    assert (code, out) == (1, "")
    assert err.startswith("error[SC810]: warm.proof, line ")
    code, _, err = run("audit", "--verify-certificate", "warm.plan")
    assert code == 2
    assert err.startswith("error[SC811]: warm.plan is not a certificate")
    assert run("audit", "--verify-certificate", "missing.proof")[2].startswith(
        "error[SC601]: cannot read missing.proof"
    )
    assert run("audit", "--verify-certificate", ".")[0] == 2
