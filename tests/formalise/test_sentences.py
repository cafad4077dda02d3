"""The sentences with references, and the recorded answers: they belong together, and are judged the same again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # for bench, which is no part of the package

from bench.formalise.evaluate import chip_row, trap_row  # noqa: E402
from bench.formalise.record import asked  # noqa: E402
from bench.formalise.sentences import Chip, chip_home, chip_sentences, sampled, traps  # noqa: E402

from plansafe.llm.formalise.asking import Limits  # noqa: E402
from plansafe.llm.formalise.reading import compiled_with  # noqa: E402
from plansafe.llm.models.request import address  # noqa: E402
from plansafe.verifier.execution.compiled import CompiledTask  # noqa: E402

FOLDER = ROOT / "bench" / "formalise"


def test_thirty_sentences_with_traps_and_references_that_compile(home: CompiledTask) -> None:
    table = json.loads((FOLDER / "traps.json").read_text(encoding="utf-8"))
    assert table["version"] == 1
    found = traps()
    assert len(found) == len({trap.sentence for trap in found}) == 30
    for trap in found:
        assert bool(trap.rules) != bool(trap.refuse), trap
        for rule in trap.rules:
            checker = compiled_with([rule], home)
            assert checker.ok, (trap, checker.diagnostics)
            assert checker.rules[0].parts


@pytest.mark.parametrize("which", ["chip", "traps"])
def test_recorded_answers_are_answers_to_what_is_asked_now(which: str, data: Path) -> None:
    """A change of the prompt, of the grammar or of the home makes the record worthless."""
    lines = (FOLDER / "answers" / f"{which}.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    known = {address(request): sentence for sentence, of in asked(which, data, 5) for request in of}
    assert records
    for record in records:
        assert known[record["request"]] == record["sentence"]


def test_answers_to_a_sentence_are_counted_by_what_they_mean(home: CompiledTask) -> None:
    trap = next(t for t in traps() if t.sentence == "The plan must not end with the stove running.")
    right = "(:trajectory r :formula (at end (not (running stove))))"
    wrong = "(:process r :parameters (?s - stove) :forbid (running ?s))"
    found = trap_row(trap, home, [right, trap.rules[0], wrong, "CANNOT: x", "nothing"], Limits(walks=5))
    assert (found.rules, found.declined, found.equal, found.voted) == (3, 1, {"the reference": 2}, {"the reference"})
    found = trap_row(trap, home, [wrong, wrong, right], Limits(walks=5))
    assert found.voted == frozenset()
    found = trap_row(trap, home, ["CANNOT: x", "CANNOT: y", right], Limits(walks=5))
    assert found.refused
    assert found.voted is None


def test_formulas_are_judged_as_the_benchmark_reads_them() -> None:
    """Changes alone count, the agent is at one place, and a wrong formula of the benchmark is seen by the other one."""
    chip = Chip("you can go to bedroom at most twice", "! F & agent_at(bedroom) X F agent_at(bedroom)", "0", "")
    once = "!F(agent_at(bedroom) & (agent_at(bedroom) U (!agent_at(bedroom) & F agent_at(bedroom))))"
    found = chip_row(chip, chip_home("0"), [once, "G !agent_at(bedroom)"])
    assert found.rules == 2
    assert found.equal["as meant"] == 0, "at most once is not at most twice"
    chip = Chip("never go to the sofa", "G ! agent_at(sofa)", "0", "")
    found = chip_row(
        chip, chip_home("0"), ["!F agent_at(sofa)", "G(agent_at(sofa) -> agent_at(bed))", "G !is_open(bed)"]
    )
    assert found.equal == {"the reference": 2, "as meant": 2}
    assert found.voted == {"the reference", "as meant"}


def test_the_sample_has_every_shape(data: Path) -> None:
    if not (data / "safety-chip-ltl").is_dir():
        pytest.skip(f"no safety-chip-ltl in {data}")
    every = chip_sentences(data / "safety-chip-ltl")
    taken = sampled(every, 40)
    assert len(taken) == 40
    assert {one.shape for one in taken} == {one.shape for one in every}
