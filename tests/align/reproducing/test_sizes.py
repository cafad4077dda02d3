"""Sizes of a reproduction: the shipped ones are whole, and what is wrong in one of yours is said with its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from plansafe.align.config import BadConfig
from plansafe.align.reproducing.sizes import FOLDER, names, read_size

TINY = (Path(FOLDER) / "tiny.toml").read_text()


def test_the_papers_models_have_their_lambdas_and_methods() -> None:
    assert {"tiny", "small", "methods", "detours", "paper-llama-3.1-8b", "paper-llama-3-8b", "paper-mistral-7b"} <= set(
        names()
    )
    for name in names():
        if name.startswith("paper-"):
            size = read_size(name)
            configs = [size.training(run, model="hf/x", data=["x"], output="x") for run in size.runs]
            assert {c.factor for c in configs if c.method == "safe-align"} == {0.0, 0.25, 0.5, 0.75, 1.0}
            assert {c.method for c in configs} == {"safe-align", "dpo", "prefix-dpo", "simpo", "step-dpo", "ours"}
            assert {c.weights for c in configs if c.method == "ours"} == {"record", "random", "divergence"}


@pytest.mark.parametrize("name", names())
def test_families_that_are_tested_alone_are_not_trained_on(name: str) -> None:
    data = read_size(name).data
    assert data.unseen
    assert not set(data.families) & set(data.unseen)


def test_a_model_can_be_named() -> None:
    assert read_size("small", "gguf/else.gguf").base == "gguf/else.gguf"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("rooms = 1", "room = 1", "`room` is not a key"),
        ("rooms = 1", "rooms = 0", "`rooms` must be a whole number"),
        ("rooms = 1", "rooms = true", "`rooms` must be a whole number"),
        ('"wipe"', '"wype"', "not a family"),
        ('unseen = ["bring-along"]', 'unseen = ["wipe"]', "families that are not in `unseen`"),
        ("safe_share = 1.0", "safe_share = 2", "`safe_share` must be"),
        ("seeds = [0, 1, 2]", "seeds = []", "`seeds` must be"),
        ('base = "random"', "", "`base` needs"),
        ('name = "ours"', 'name = "../ours"', "`runs` needs"),
        ('name = "ours"', 'name = "permuted"', "is repeated"),
        ("lr = 5e-5", "learning_rate = 5e-5", "`learning_rate` is not a key of a training run"),
        ("lr = 5e-5", 'model = "hf/x"', "`model` is set by the stages"),
        ("[sft]", "[sft", "is not TOML"),
    ],
)
def test_a_mistake_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in TINY
    path = tmp_path / "mine.toml"
    path.write_text(TINY.replace(old, new, 1))
    with pytest.raises(BadConfig) as found:
        read_size(str(path))
    assert said in found.value.diagnostics[0].message


def test_an_unknown_size_and_a_missing_file_are_said(tmp_path: Path) -> None:
    for name in ("tyny", "../tiny", str(tmp_path / "none.toml")):
        with pytest.raises(BadConfig):
            read_size(name)
