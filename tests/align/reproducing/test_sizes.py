"""Test sizes of a reproduction: the shipped sizes are complete, and mistakes are reported with their key."""

from __future__ import annotations

from pathlib import Path

import pytest

from plansafe.align.reproducing.sizes import FOLDER, names, read_size
from plansafe.align.reproducing.task_sets import listed_tasks
from plansafe.align.tables import BadConfig

TINY = (Path(FOLDER) / "tiny.toml").read_text()


METHODS = {"rft", "dpo", "simpo", "safe-align", "step-dpo", "ours", "grpo"}
LAMBDAS = {number / 10 for number in range(11)}


def test_sizes_of_the_paper_have_its_lambdas_methods_and_baselines() -> None:
    paper = {"paper-llama-3.1-8b", "paper-llama-3-8b", "paper-mistral-7b"}
    assert {"tiny", "small", "study", "sweep", *paper} == set(names())
    for name in paper:
        size = read_size(name)
        configs = [size.training(run, model="hf/x", data=["x"], output="x") for run in size.runs]
        assert {c.factor for c in configs if c.method == "safe-align"} == LAMBDAS
        assert {c.method for c in configs} == METHODS | {"prefix-dpo", "sft"}
        assert {c.weights for c in configs if c.method == "ours"} == {"record", "random"}
        assert {prompt.name for prompt in size.prompts} >= {"few-shot", "llm-planner", "safety-prompt"}
        assert "world-model" in {run.name for run in size.runs}
        assert size.data.source == "set" and size.data.virtualhome


def test_the_study_has_all_methods_at_equal_verifier_calls() -> None:
    study, sweep = read_size("study"), read_size("sweep")
    configs = [study.training(run, model="hf/x", data=["x"], output="x") for run in study.runs]
    assert {c.method for c in configs} == METHODS
    assert len(study.seeds) >= 5 and len(sweep.seeds) >= 2
    assert {study.verifier_calls(run) for run in study.runs} == {sweep.verifier_calls(run) for run in sweep.runs}
    tests = listed_tasks(study.data).test
    assert len([task for task in tests if task.shift == "in"]) >= 280 and len(tests) >= 400
    assert {task.shift for task in tests} == {"in", "family", "rule"}
    assert {run.keys["lambda"] for run in sweep.runs} == LAMBDAS
    assert (study.data, study.sampling, study.sft) == (sweep.data, sweep.sampling, sweep.sft)


@pytest.mark.parametrize("name", [name for name in names() if not name.startswith("paper-")])
def test_held_out_families_are_not_trained_on(name: str) -> None:
    data = read_size(name).data
    assert data.unseen
    assert not set(data.families) & set(data.unseen)


def test_a_model_can_be_named() -> None:
    assert read_size("small", "gguf/else.gguf").base == "gguf/else.gguf"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("test = ", "tests = ", "`tests` is not a key of a size"),
        ("train = 120", "train = 0", "`train` must be a whole number"),
        ("train = 120", "train = true", "`train` must be a whole number"),
        ('"start"', '"strat"', "not a family"),
        ('unseen = ["open-wipe"]', 'unseen = ["stop"]', "families that are not in `unseen`"),
        ("temperature = 1.0", "temperature = 0", "`temperature` must be"),
        ('grade = "estimate"', 'grade = "best"', "`grade` must be"),
        ('source = "stated"', 'source = "dreamt"', "`source` must be"),
        ('treatment = "ours"', 'treatment = "theirs"', "`treatment` must be"),
        ("samples = 4", "sample = 4", "`sample` is not a key of a size"),
        ("permute_labels = true", 'data = "tasks"', "equal numbers of verifier calls"),
        ("seeds = [0, 1]", "seeds = []", "`seeds` must be"),
        ('base = "random"', "", "mine.toml lacks `base`"),
        ('name = "ours"', 'name = "../ours"', "`name` must have letters"),
        ('name = "ours"', 'name = "permuted"', "is repeated"),
        ("lr = 3e-4", "learning_rate = 3e-4", "`learning_rate` is not a key of a training run"),
        ("lr = 3e-4", 'model = "hf/x"', "`model` is set by the stages"),
        ("[sft]", "[sft", "is not TOML"),
    ],
)
def test_mistake_is_reported(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TINY
    path = tmp_path / "mine.toml"
    path.write_text(TINY.replace(old, new, 1))
    with pytest.raises(BadConfig) as error:
        read_size(str(path))
    assert message in error.value.diagnostics[0].message


def test_unknown_size_and_missing_file_are_refused(tmp_path: Path) -> None:
    for name in ("tyny", "../tiny", str(tmp_path / "none.toml")):
        with pytest.raises(BadConfig):
            read_size(name)
