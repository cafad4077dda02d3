"""Weights on this machine: files that are refused before a library is loaded, and real weights if available."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plansafe.grammar.codes import SC
from plansafe.llm.models import hf, llamacpp_local, providers
from plansafe.llm.models.answer import Enforced, Finish
from plansafe.llm.models.port import Model, ModelError
from plansafe.llm.models.providers import PROVIDERS, Settings, open_model
from plansafe.llm.models.request import Choice, Grammar, JsonSchema, Request, Syntax, user_messages
from plansafe.llm.models.token_table import ChoiceMask
from plansafe.llm.models.weights import checked_folder, digest

CHOICE = Choice(("(wash cup)", "(open door)", "(open door kitchen)", "(go kitchen hall)"))


def open_and_get_error(name: str) -> tuple[str, str]:
    with pytest.raises(ModelError) as caught:
        open_model(name)
    assert caught.value.fatal
    return caught.value.diagnostic.code, f"{caught.value.diagnostic.message} {caught.value.diagnostic.help}"


@pytest.mark.parametrize("provider", ["gguf", "llamacpp-local"])
def test_files_that_are_not_gguf_are_refused(provider: str, tmp_path: Path) -> None:
    (tmp_path / "qwen.gguf").write_text("version https://git-lfs.github.com/spec/v1\n" * 3)
    (tmp_path / "short.gguf").write_bytes(b"GGUF")
    (tmp_path / "model.bin").write_bytes(b"\x80\x02" * 100)
    assert open_and_get_error(f"{provider}/{tmp_path}/qwen.gguf")[0] == SC.UNREAD_WEIGHTS
    assert open_and_get_error(f"{provider}/{tmp_path}/short.gguf")[0] == SC.UNREAD_WEIGHTS
    assert "run code" in open_and_get_error(f"{provider}/{tmp_path}/model.bin")[1]
    assert "hf/" in open_and_get_error(f"{provider}/{tmp_path}")[1]
    code, message = open_and_get_error(f"{provider}/{tmp_path}/qwem.gguf")
    assert code == SC.NO_WEIGHTS
    assert "`qwen.gguf`" in message


def test_folders_without_safe_weights_are_refused(tmp_path: Path) -> None:
    def folder(name: str, *files: str) -> str:
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).write_bytes(b"x")
        return f"hf/{tmp_path}/{name}"

    assert open_and_get_error(folder("empty"))[0] == SC.NO_WEIGHTS
    assert open_and_get_error(folder("pickle", "config.json", "pytorch_model.bin"))[0] == SC.UNREAD_WEIGHTS
    assert open_and_get_error(folder("bare", "model.safetensors"))[0] == SC.NO_WEIGHTS
    assert "adapter" in open_and_get_error(folder("adapter", "adapter_config.json", "adapter_model.safetensors"))[1]
    assert open_and_get_error(f"hf/{tmp_path}/pickle/pytorch_model.bin")[0] == SC.UNREAD_WEIGHTS
    assert "`empty`" in open_and_get_error(f"hf/{tmp_path}/emty")[1]
    assert open_and_get_error("hf/organisation/model")[0] == SC.NO_WEIGHTS
    complete = folder("whole", "config.json", "model.safetensors", "tokenizer.json", "notes.md")
    files = checked_folder(complete.removeprefix("hf/"))
    assert [os.path.basename(file) for file in files] == ["config.json", "model.safetensors", "tokenizer.json"]
    before = digest(files)
    (tmp_path / "whole" / "model.safetensors").write_bytes(b"y")
    assert digest(files) != before


@pytest.mark.parametrize("provider", [p for p in PROVIDERS if p.extra in ("hf", "llamacpp")], ids=lambda p: p.name)
def test_a_missing_package_is_reported(provider: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "find_spec", lambda _: None)
    for module in ("torch", "xllamacpp"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + bytes(60))
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"x")
    name = provider.name
    code, message = open_and_get_error(f"{name}/{tmp_path}" if name == "hf" else f"{name}/{tmp_path}/m.gguf")
    assert code == SC.MODEL_PACKAGE_MISSING
    assert "pip install" in message
    if name == "gguf":
        assert "xllamacpp" in message and "transformers" in message


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        (("xllamacpp",), "llamacpp-local"),
        (("xllamacpp", "torch", "transformers"), "llamacpp-local"),
        (("torch", "transformers", "accelerate", "gguf"), "gguf"),
        (("xllamacpp", "torch", "transformers", "accelerate", "gguf"), "gguf"),
    ],
)
def test_the_installed_library_runs_gguf_files(
    installed: tuple[str, ...], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int]] = []
    monkeypatch.setattr(providers, "find_spec", lambda name: name if name in installed else None)
    monkeypatch.setattr(hf, "open_file", lambda _, threads, *__: opened.append(("gguf", threads)))
    monkeypatch.setattr(llamacpp_local, "open_file", lambda _, threads, __: opened.append(("llamacpp-local", threads)))
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + bytes(60))
    open_model(f"gguf/{tmp_path}/m.gguf", Settings(threads=3))
    assert opened == [(expected, 3)]


class Letters:
    """A vocabulary of letters."""

    end = 0

    def encode(self, text: str) -> list[int]:
        return [ord(c) for c in text]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))


@given(st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=12, unique=True))
def test_a_mask_of_a_choice_admits_exactly_the_texts(texts: list[str]) -> None:
    mask = ChoiceMask(texts, Letters())
    admitted, prefixes = [], [()]
    while prefixes:
        tokens = prefixes.pop()
        following = mask(tokens)
        assert list(following) == sorted(set(following))
        assert following
        for token in following:
            if token == 0:
                admitted.append(Letters().decode(tokens))
            else:
                prefixes.append((*tokens, token))
    assert sorted(admitted) == sorted(texts)
    assert mask([ord("x")]) == []


@pytest.fixture(scope="module")
def weights() -> Path:
    """Return the smallest GGUF in the folder ``PLANSAFE_MODELS``."""
    folder = os.environ.get("PLANSAFE_MODELS")
    if not folder:
        pytest.skip("PLANSAFE_MODELS names no folder of weights")
    files = sorted(Path(folder).glob("*.gguf"), key=lambda path: path.stat().st_size)
    if not files:
        pytest.skip(f"no *.gguf in {folder}")
    return files[0]


@pytest.fixture(scope="module")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def local(weights: Path, cache_folder: Path) -> Model:
    for module in ("torch", "transformers", "accelerate", "gguf"):
        pytest.importorskip(module, reason="weights in this process need the extra `hf`")
    return open_model(f"gguf/{weights}", Settings(environment={"SAFECHECK_CACHE": str(cache_folder)}))


@pytest.fixture(scope="module")
def llamacpp(weights: Path) -> Iterator[Model]:
    pytest.importorskip("xllamacpp", reason="llama.cpp in this process needs the extra `llamacpp`")
    model = open_model(f"llamacpp-local/{weights}", Settings(context=512))
    yield model
    model.close()


def test_unpacked_weights_are_a_model_folder_in_the_cache(local: Model, cache_folder: Path) -> None:
    (folder,) = (cache_folder / "weights").iterdir()
    unpacked = open_model(f"hf/{folder}")
    request = Request(user_messages("Say hello."), max_tokens=4)
    assert unpacked.answer(request).text == local.answer(request).text
    assert unpacked.identity != local.identity


def test_masks_choices_and_likelihoods_agree(local: Model) -> None:
    request = Request(user_messages("Which step cleans a cup?"), 20)
    chosen = local.answer(Request(request.messages, 20, constraint=CHOICE))
    assert (chosen.text in CHOICE.texts, chosen.enforced, chosen.met, chosen.finish) == (
        True,
        Enforced.AS_TOKENS,
        True,
        Finish.STOP,
    )
    scores = local.score(request, CHOICE.texts)
    assert [score.text for score in scores] == list(CHOICE.texts)
    assert 0 < sum([math.exp(score.log_probability) for score in scores]) < 1
    alone = [local.score(request, [text])[0].log_probability for text in CHOICE.texts]
    assert [score.log_probability for score in scores] == pytest.approx(alone, abs=1e-3)
    words = local.vocabulary
    assert words is not None
    only = words.encode(" no")
    masked = local.answer(request, mask=lambda tokens: only[len(tokens) : len(tokens) + 1])
    assert (masked.text, masked.finish) == (" no", Finish.STOP)
    with pytest.raises(ValueError, match="not both"):
        local.answer(Request(user_messages("x"), constraint=CHOICE), mask=lambda _: None)


def test_grammars_and_schemas_are_enforced_for_each_token(local: Model) -> None:
    pytest.importorskip("llguidance", reason="grammars in this process need the extra `hf`")
    messages = user_messages("Which step cleans a cup?")
    lark = Grammar('start: step ("\\n" step){0,2}\nstep: "(wash " ("cup" | "plate") ")"', Syntax.LARK)
    answer = local.answer(Request(messages, 60, constraint=lark))
    assert answer.enforced is Enforced.NATIVE
    lines = answer.text.split("\n")
    assert 1 <= len(lines) <= 3 and set(lines) <= {"(wash cup)", "(wash plate)"}
    schema = JsonSchema('{"type": "object", "properties": {"a": {"enum": ["x", "yy"]}}, "required": ["a"]}')
    schema_answer = local.answer(Request(messages, 60, constraint=schema))
    assert (schema_answer.enforced, schema_answer.met) == (Enforced.NATIVE, True)
    assert json.loads(schema_answer.text)["a"] in ("x", "yy")
    assert local.answer(Request(messages, 4, constraint=Grammar('root ::= "x"'))).enforced is Enforced.NOT, "GBNF"
    with pytest.raises(ModelError) as caught:
        local.answer(Request(messages, 4, constraint=Grammar("start: (", Syntax.LARK)))
    assert (caught.value.diagnostic.code, caught.value.fatal) == (SC.MODEL_FAILED, False)


def test_a_cached_prefix_does_not_change_the_answer(local: Model) -> None:
    first_request, second_request = (
        Request(user_messages(text, "You plan household tasks. " * 5), 8) for text in ("Say hello.", "Say a word.")
    )
    first = local.answer(first_request)
    local.answer(second_request)
    again = local.answer(first_request)
    assert again.text == first.text
    assert (again.cached_tokens or 0) > 20


def test_samples_depend_on_the_seed(local: Model) -> None:
    texts = [
        local.answer(Request(user_messages("Say a word."), 6, temperature=1.5, seed=seed)).text for seed in (1, 1, 2, 3)
    ]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1


def test_a_prompt_that_does_not_fit_fails_alone(local: Model, llamacpp: Model) -> None:
    for model in (local, llamacpp):
        with pytest.raises(ModelError) as caught:
            model.answer(Request(user_messages("word " * 40_000), 5))
        assert (caught.value.diagnostic.code, caught.value.fatal) == (SC.MODEL_FAILED, False)


def test_grammars_in_llamacpp(llamacpp: Model) -> None:
    choice = llamacpp.answer(Request(user_messages("Which step cleans a cup?"), 20, constraint=CHOICE))
    assert (choice.enforced, choice.met) == (Enforced.AS_GRAMMAR, True)
    for grammar in (Grammar('root ::= "(wash " [a-c] ")"'), Grammar('start: "(wash " /[a-c]/ ")"', Syntax.LARK)):
        answer = llamacpp.answer(Request(user_messages("Next?"), 20, constraint=grammar))
        assert answer.text in ("(wash a)", "(wash b)", "(wash c)")
        assert answer.enforced is Enforced.NATIVE
    broken = llamacpp.answer(Request(user_messages("Next?"), 2, constraint=Grammar("root ::= (")))
    assert broken.enforced is Enforced.NOT
    assert broken.notes
    schema = JsonSchema('{"type": "object", "properties": {"a": {"enum": ["x"]}}, "required": ["a"]}')
    assert llamacpp.answer(Request(user_messages("Next?"), 40, constraint=schema)).enforced is Enforced.NATIVE
    assert (
        llamacpp.answer(Request(user_messages("Which step cleans a cup?"), 20, constraint=CHOICE)).cached_tokens or 0
    ) > 0


def test_damaged_weights_are_reported_and_leave_no_files(weights: Path, tmp_path: Path) -> None:
    for module in ("torch", "transformers", "accelerate", "gguf"):
        pytest.importorskip(module, reason="weights in this process need the extra `hf`")
    broken = tmp_path / "broken.gguf"
    shutil.copy(weights, broken)
    os.truncate(broken, 3_000_000)
    with pytest.raises(ModelError) as caught:
        open_model(f"gguf/{broken}", Settings(environment={"SAFECHECK_CACHE": str(tmp_path / "cache")}))
    assert caught.value.diagnostic.code == SC.UNREAD_WEIGHTS
    assert not list((tmp_path / "cache" / "weights").iterdir())
