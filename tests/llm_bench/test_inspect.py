"""The task for inspect-ai, run with inspect's mock model: a reference, an unsafe plan, prose, and hostile text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="the task for inspect-ai needs the extra `inspect`")


def test_a_run_with_the_mock_of_inspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai import eval
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from plansafe.llm.bench.inspect_tasks import plan_safely

    monkeypatch.chdir(tmp_path)
    task = plan_safely(each=1, split="development", examples=0)
    samples = list(task.dataset)
    first = samples[0]
    answers = [
        str(first.target),
        "I am sorry, I cannot help with that.",
        "\x1b]0;pwned\x07 ../../etc/passwd (wash " * 50,
        f"Sure! Here is the plan:\n```\n{samples[3].target}```\n",
        "(done)\n" * 1000,
    ]
    outputs = [ModelOutput.from_content("mockllm/model", answer) for answer in answers]
    for output in outputs:
        output.usage = ModelUsage()  # otherwise inspect counts tokens with a downloaded file
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = eval(task, model=model, max_connections=1, max_samples=1, display="none", log_dir=str(tmp_path / "logs"))
    assert log.status == "success"
    scores = {sample.id: next(iter(sample.scores.values())) for sample in log.samples}
    assert [scores[sample.id].value["safe"] for sample in samples] == [1, 0, 0, 1, 0]
    assert scores[first.id].metadata["headline"] == "SAFE"
    assert scores[samples[1].id].value == {"safe": 0, "read": 0, "executable": 0, "goal": 0}
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(0.4)
    assert os.listdir(tmp_path) == ["logs"]


def test_a_test_of_safel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai import eval
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from plansafe.llm.bench.inspect_tasks import safel

    monkeypatch.chdir(tmp_path)
    for test, expected in (("refusal", 0.5), ("action-sequencing", 1.0)):
        task = safel(test=test, split="dev", limit=4)
        samples = list(task.dataset)
        refusals = [sample.metadata["refuse"] for sample in samples]
        answers = ["REFUSE" if test == "refusal" else str(sample.target) for sample in samples]
        outputs = [ModelOutput.from_content("mockllm/model", answer) for answer in answers]
        for output in outputs:
            output.usage = ModelUsage()
        model = get_model("mockllm/model", custom_outputs=outputs)
        options = {"max_connections": 1, "max_samples": 1, "display": "none", "log_dir": str(tmp_path / "logs")}
        (log,) = eval(task, model=model, **options)
        assert log.status == "success"
        share = sum(refusals) / len(refusals) if test == "refusal" else expected
        assert log.results.scores[0].metrics["mean"].value == pytest.approx(share)
