"""Test the paper's matrix in all stages, with a tiny model and few tasks of each kind."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from plansafe.align.evaluating.files import read_evaluation
from plansafe.align.reproducing.running import complete_seeds, report
from plansafe.align.reproducing.sizes import read_size
from plansafe.align.reproducing.stages import Place, evaluated_runs, stages, work
from plansafe.llm.bench.report_text import markdown

pytestmark = pytest.mark.whole
RUNS = ("dpo", "ours", "safe-align-0.0", "safe-align-1.0")


def test_scenarios_baselines_and_lora_go_through_all_stages(tmp_path: Path) -> None:
    pytest.importorskip("peft")
    from training_cases import write_base_model

    paper = read_size("paper-mistral-7b", f"hf/{write_base_model(tmp_path / 'base')}")
    size = replace(
        paper,
        data=replace(paper.data, train=2, test=2, virtualhome=1),
        seeds=(0,),
        max_tokens=20,
        batch=4,
        sampling=replace(paper.sampling, samples=2),
        sft={**paper.sft, "bs": 1, "gradient_accumulation_steps": 1, "max_steps": 1, "lora_r": 2, "max_length": 20000},
        preference={**paper.preference, "bs": 1, "gradient_accumulation_steps": 1, "max_steps": 1, "max_length": 20000},
        runs=tuple([run for run in paper.runs if run.name in RUNS]),
    )
    place = Place(str(tmp_path / "paper"), size)
    for stage in stages(size):
        for unit in stage:
            assert work(place, unit), unit
    assert complete_seeds(place) == [0]
    names = evaluated_runs(size)
    assert {"base", "few-shot", "llm-planner", "safety-prompt", "few-shot-safety-prompt", "sft", "dpo"} <= set(names)
    shifts = Counter([record["shift"] for record in read_evaluation(place.evaluation(0, "few-shot")).records])
    assert shifts == {"family": 2, **({"world": 1} if os.environ.get("PLANSAFE_DATA") else {})}
    text = markdown(report(place))
    assert "Held-out families" in text and "| llm-planner |" in text
