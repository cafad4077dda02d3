"""The sentences with references and the recorded answers: they match, and their evaluation is reproducible."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # bench is not part of the package

from bench.formalise.evaluate import make_chip_row, make_trap_row  # noqa: E402
from bench.formalise.record import make_requests  # noqa: E402
from bench.formalise.sentences import (  # noqa: E402
    ChipSentence,
    compile_home,
    draw_sample,
    read_chip_sentences,
    read_traps,
)

from plansafe.llm.formalise.asking import Limits  # noqa: E402
from plansafe.llm.formalise.reading import compiled_with  # noqa: E402
from plansafe.llm.models.request import address  # noqa: E402
from plansafe.verifier.execution.compiled import CompiledTask  # noqa: E402

FOLDER = ROOT / "bench" / "formalise"


def test_thirty_sentences_with_traps_and_references_that_compile(home: CompiledTask) -> None:
    table = json.loads((FOLDER / "traps.json").read_text(encoding="utf-8"))
    assert table["version"] == 1
    traps = read_traps()
    assert len(traps) == len({trap.sentence for trap in traps}) == 30
    for trap in traps:
        assert bool(trap.rules) != bool(trap.refuse), trap
        for rule in trap.rules:
            checker = compiled_with([rule], home)
            assert checker.ok, (trap, checker.diagnostics)
            assert checker.rules[0].parts


@pytest.mark.parametrize("set_name", ["chip", "traps"])
def test_recorded_answers_belong_to_the_current_requests(set_name: str, data: Path) -> None:
    """A change of the prompt, the grammar or the home invalidates the record."""
    lines = (FOLDER / "answers" / f"{set_name}.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    sentences = {
        address(request): sentence for sentence, requests in make_requests(set_name, data, 5) for request in requests
    }
    assert records
    for record in records:
        assert sentences[record["request"]] == record["sentence"]


def test_answers_are_counted_by_their_meaning(home: CompiledTask) -> None:
    trap = next(t for t in read_traps() if t.sentence == "The plan must not end with the stove running.")
    right = "(:trajectory r :formula (at end (not (running stove))))"
    wrong = "(:process r :parameters (?s - stove) :forbid (running ?s))"
    row = make_trap_row(trap, home, [right, trap.rules[0], wrong, "CANNOT: x", "nothing"], Limits(walks=5))
    assert (row.rules, row.declined, row.equal, row.voted) == (3, 1, {"the reference": 2}, {"the reference"})
    row = make_trap_row(trap, home, [wrong, wrong, right], Limits(walks=5))
    assert row.voted == frozenset()
    row = make_trap_row(trap, home, ["CANNOT: x", "CANNOT: y", right], Limits(walks=5))
    assert row.refused
    assert row.voted is None


def test_formulas_have_the_semantics_of_the_benchmark() -> None:
    """Only changes count, the agent is at one place, and ``as meant`` shows a wrong formula of the benchmark."""
    chip = ChipSentence("you can go to bedroom at most twice", "! F & agent_at(bedroom) X F agent_at(bedroom)", "0", "")
    once = "!F(agent_at(bedroom) & (agent_at(bedroom) U (!agent_at(bedroom) & F agent_at(bedroom))))"
    row = make_chip_row(chip, compile_home("0"), [once, "G !agent_at(bedroom)"])
    assert row.rules == 2
    assert row.equal["as meant"] == 0, "at most once is not at most twice"
    chip = ChipSentence("never go to the sofa", "G ! agent_at(sofa)", "0", "")
    row = make_chip_row(
        chip, compile_home("0"), ["!F agent_at(sofa)", "G(agent_at(sofa) -> agent_at(bed))", "G !is_open(bed)"]
    )
    assert row.equal == {"the reference": 2, "as meant": 2}
    assert row.voted == {"the reference", "as meant"}


def test_the_sample_has_every_shape(data: Path) -> None:
    if not (data / "safety-chip-ltl").is_dir():
        pytest.skip(f"no safety-chip-ltl in {data}")
    sentences = read_chip_sentences(data / "safety-chip-ltl")
    sample = draw_sample(sentences, 40)
    assert len(sample) == 40
    assert {chip.shape for chip in sample} == {chip.shape for chip in sentences}
