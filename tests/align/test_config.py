"""Test the configuration of a training run: accepted keys, and messages with their position."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plansafe.align.config import Config, config_of, read_config
from plansafe.align.tables import BadConfig

KEYS = tuple(config_of({"model": "hf/x", "data": "x", "output": "x", "method": "sft"}).values())
USUAL = 'model = "hf/base"\ndata = "pairs.jsonl"\noutput = "run"\nmethod = "simpo"\n'


def _read(folder: Path, text: str, name: str = "run.toml") -> Config:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_config(str(path))


def _changed(config: Config, **values: Any) -> Config:
    """The configuration with other values, checked like a file."""
    table = {key: value for key, value in config.values().items() if value is not None and value != []}
    return config_of({**table, **values})


def _errors(folder: Path, text: str, name: str = "run.toml") -> list[tuple[str, str, str | None]]:
    """The errors of a configuration: the text at its position, the message and the help."""
    with pytest.raises(BadConfig) as raised:
        _read(folder, text, name)
    errors = []
    for diagnostic in raised.value.diagnostics:
        span = diagnostic.labels[0].span if diagnostic.labels else None
        marked = raised.value.source.text[span.start : span.end] if span is not None else ""
        errors.append((marked, diagnostic.message, diagnostic.help))
        assert diagnostic.code in ("SC660", "SC001")
    return errors


def test_toml_and_yaml_are_equivalent(tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="YAML needs pyyaml")
    toml = _read(tmp_path, USUAL + "lambda = 0.3\nlr = 1e-5\nbs = 2\ngradient_checkpointing = true\nlora_alpha = 32\n")
    yaml = _read(
        tmp_path,
        "model: hf/base\ndata: [pairs.jsonl]\noutput: run\nmethod: simpo\nlambda: 0.3\nlr: 1.0e-5\nbs: 2\n"
        "gradient_checkpointing: true\nlora_alpha: 32\n",
        "run.yaml",
    )
    assert toml == yaml and toml.factor == 0.3 and toml.lora_alpha == 32.0 and toml.gradient_checkpointing
    assert toml.model == f"hf/{tmp_path}/base" and toml.data == (f"{tmp_path}/pairs.jsonl",)


def test_names_in_table_4_of_the_paper_are_keys() -> None:
    table = ("lr", "bs", "gradient_accumulation_steps", "max_steps", "beta", "gamma_beta_ratio", "sft_weight")
    assert {*table, "lora_r", "lora_alpha", "lambda"} <= set(KEYS)


@pytest.mark.parametrize(
    ("line", "marked", "message", "help"),
    [
        ('attn_implementation = "flash"', "attn_implementation", "must be one of eager, sdpa", None),
        ("load_in_4bit = 1", "load_in_4bit", "must be true or false", None),
        ("num_generations = 1", "num_generations", "must be a whole number from 2", None),
        ("report_to = 3", "report_to", "must be a text", None),
        ("lamda = 0.5", "lamda", "is not a key", "did you mean `lambda`?"),
        ("zzz = 0.5", "zzz", "is not a key", "keys are: model,"),
        ('lr = "1e-5"', "lr", "must be a number above 0", "1.0e-5"),
        ("lr = 0", "lr", "must be a number above 0", None),
        ("lr = nan", "lr", "must be a number above 0", None),
        ("beta = -1", "beta", "must be a number above 0", None),
        ("bs = 2.0", "bs", "must be a whole number from 1", None),
        ("bs = true", "bs", "must be a whole number from 1", None),
        ("max_steps = 0", "max_steps", "must be a whole number from 1", None),
        ("warmup_ratio = 1.5", "warmup_ratio", "from 0 to 1", None),
        ('dtype = "float16"', "dtype", "must be one of float32, bfloat16", "did you mean"),
        ("permute_labels = 1", "permute_labels", "must be true or false", None),
        ('normaliser = "token"', "normaliser", "must be one of tokens, weights", "did you mean `tokens`?"),
        ("[lambda]\nx = 1", "lambda", "must be a number", None),
        ("lambda = 1.5", "lambda", "must be a number from 0 to 1", None),
    ],
)
def test_mistakes_have_a_position_and_a_help(
    tmp_path: Path, line: str, marked: str, message: str, help: str | None
) -> None:
    (error,) = _errors(tmp_path, USUAL + line + "\n")
    assert error[0] == marked and message in error[1] and (help is None or help in (error[2] or ""))


def test_all_mistakes_are_reported_together(tmp_path: Path) -> None:
    assert len(_errors(tmp_path, USUAL + "lamda = 1\nbs = 0\nseed = -1\n")) == 3


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("run.toml", "model = \n", "is not TOML"),
        ("run.toml", USUAL + 'model = "hf/x"\n', "is not TOML"),
        ("run.toml", "model = " + "[" * 20_000, "is not TOML"),
        ("run.toml", 'model = "hf/x"\n', "lacks `data` and `output` and `method`"),
        ("run.toml", "model = 3\n", "`model` must be a text"),
        ("run.toml", 'model = "openai/gpt"\n', "does not name weights that can be trained"),
        ("run.toml", "data = []\n", "needs from 1"),
        ("run.yaml", "a: [", "is not YAML"),
        ("run.yaml", "- 1\n", "has no keys"),
        ("run.yaml", "", "has no keys"),
        (
            "run.yaml",
            "lr: !!python/object/apply:os.system ['true']\n",
            "is not YAML: could not determine",
        ),
        ("run.yaml", "lr: 1e-5\n", "`lr` must be a number"),
        ("run.yaml", "a: " + "[" * 5000, "is not YAML"),
        ("run.yaml", "lr: &x {a: 1}\nbs: *x\n", "`lr` must be a number"),
    ],
)
def test_invalid_configuration_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    if name.endswith("yaml"):
        pytest.importorskip("yaml", reason="YAML needs pyyaml")
    assert message in " ".join([reported for _, reported, _ in _errors(tmp_path, text, name)])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadConfig) as raised:
        read_config(str(tmp_path / "none.toml"))
    assert raised.value.diagnostics[0].code == "SC001"
    assert "longer than" in _errors(tmp_path, "#" * (1 << 20) + "\n")[0][1]


def test_overrides_replace_values_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(USUAL + "lambda = 0.3\n", encoding="utf-8")
    config = read_config(str(path), {"lambda": "1", "method": "safe-align", "output": '"there"', "seed": "7"})
    assert (config.factor, config.method, config.output, config.seed) == (1.0, "safe-align", "there", 7)
    with pytest.raises(BadConfig, match="is not a key"):
        read_config(str(path), {"lamda": "1"})


def test_configuration_round_trips_through_its_values(tmp_path: Path) -> None:
    config = _read(tmp_path, USUAL)
    assert set(config.values()) == set(KEYS)
    assert _changed(config) == config and _changed(config, method="safe-align", **{"lambda": 0.0}).factor == 0.0
    with pytest.raises(BadConfig):
        _changed(config, bs=0)
    assert _changed(config, method="dpo").sharpness == 0.1 and config.sharpness == 2.0
    assert _changed(config, method="grpo").sharpness == 0.0
    assert _changed(config, report_to="none").report_to == () and _changed(config, report_to="wandb").report_to == (
        "wandb",
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.bs = 3  # type: ignore[misc]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=10), VALUES, max_size=6))
def test_any_table_is_accepted_or_refused(table: dict[str, object]) -> None:
    try:
        assert isinstance(config_of(table), Config)
    except BadConfig as error:
        assert error.diagnostics


@given(st.text(max_size=200))
def test_any_text_is_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name in ("any.toml", "any.yaml"):
        path = folder / name
        path.write_bytes(text.encode("utf-8", "replace"))
        with pytest.raises(BadConfig):
            read_config(str(path))
