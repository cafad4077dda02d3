"""Models in this process as writers of plans, by transformers or by vLLM.

Answers of a model in this process, many prompts at once: padded on the left, with a key-value cache.

The loop does not use ``generate`` of transformers, which takes penalties and limits from a file next to the weights.
The answer to a prompt does not depend on its batch, up to the rounding of sums: where two tokens have the same
probability within that rounding, another batch may choose the other token.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from random import Random
from typing import Any, NamedTuple
from zlib import crc32

from plansafe.align.evaluating.tasks import Opened
from plansafe.align.tokens import ModelTokenizer
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models import adapter as adapters
from plansafe.llm.models.answer import Answer, Finish
from plansafe.llm.models.hf import folder_of_base
from plansafe.llm.models.port import ModelError
from plansafe.llm.models.request import canonical
from plansafe.llm.models.torch_model import libraries
from plansafe.llm.models.weights import folder_of

MAX_TOKENS = 256


class Decoding(NamedTuple):
    """How answers are drawn: greedily at temperature 0, else with a seed per task and sample derived from ``seed``."""

    max_tokens: int = MAX_TOKENS
    temperature: float = 0.0
    seed: int = 0

    def seed_of(self, opened: Opened) -> str:
        """The seed of one answer: the same in every batch and every process."""
        return f"{self.seed}/{opened.task.id}/{opened.sample}"


GREEDY = Decoding()


class Local:
    """A causal model of transformers with its tokenizer, both loaded; it answers on the device of the model.

    ``identity`` names the weights; a run is resumed only with the same identity.
    """

    def __init__(self, model: Any, tokenizer: Any, label: str, identity: str = "", decoding: Decoding = GREEDY) -> None:
        self.label = label
        self.identity = _identity(identity or label, decoding)
        self._model = model
        self._tokenizer = tokenizer
        self._decoding = decoding
        self._ends = ends_of(model, tokenizer)

    def write(self, tasks: Sequence[Opened]) -> list[Answer]:
        """See :class:`~plansafe.align.evaluating.writers.Writer`."""
        tokens = ModelTokenizer(self._tokenizer)
        prompts = [tokens.prompt(opened.prompt) for opened in tasks]
        sampling = None
        if self._decoding.temperature > 0:
            sampling = Sampling(self._decoding.temperature, [self._decoding.seed_of(opened) for opened in tasks])
        was_training = self._model.training
        self._model.eval()
        try:
            answers = generate(self._model, prompts, self._decoding.max_tokens, self._ends, sampling)
        finally:
            self._model.train(was_training)
        return _answers(self._tokenizer, self.label, prompts, answers)


class VllmWriter:
    """Weights that vLLM runs in this process, with an adapter if there is one. ``engine``: a loaded ``vllm.LLM``."""

    def __init__(
        self, engine: Any, label: str, identity: str, decoding: Decoding = GREEDY, adapter: str | None = None
    ) -> None:
        self.label = label
        self.identity = _identity(f"vllm/{identity}", decoding)
        self._engine = engine
        self._tokenizer = engine.get_tokenizer()
        self._decoding = decoding
        self._adapter = adapter

    def write(self, tasks: Sequence[Opened]) -> list[Answer]:
        """See :class:`~plansafe.align.evaluating.writers.Writer`."""
        from vllm import SamplingParams  # noqa: PLC0415 - an optional package
        from vllm.lora.request import LoRARequest  # noqa: PLC0415

        tokens = ModelTokenizer(self._tokenizer)
        prompts = [tokens.prompt(opened.prompt) for opened in tasks]
        parameters = [
            SamplingParams(
                temperature=self._decoding.temperature,
                max_tokens=self._decoding.max_tokens,
                seed=_seed_number(self._decoding.seed_of(opened)),
            )
            for opened in tasks
        ]
        outputs = self._engine.generate(
            [{"prompt_token_ids": prompt} for prompt in prompts],
            parameters,
            lora_request=LoRARequest("adapter", 1, self._adapter) if self._adapter else None,
            use_tqdm=False,
        )
        return _answers(self._tokenizer, self.label, prompts, [self._generated(output) for output in outputs])

    def _generated(self, output: Any) -> Generated:
        completion = output.outputs[0]
        ids = list(completion.token_ids)
        if ids and ids[-1] == self._tokenizer.eos_token_id:
            ids.pop()
        return Generated(tuple(ids), Finish.LENGTH if completion.finish_reason == "length" else Finish.STOP)


def open_vllm(folder: str, dtype: str | None, decoding: Decoding, environment: Mapping[str, str]) -> VllmWriter:
    """Load weights or an adapter in a folder into vLLM. Raises :class:`~plansafe.llm.models.port.ModelError`."""
    try:
        from vllm import LLM  # noqa: PLC0415 - an optional package
    except ImportError as error:
        diagnostic = Diagnostic(SC.MODEL_PACKAGE_MISSING, "vLLM is not installed", help="pip install vllm")
        raise ModelError(diagnostic, True) from error
    name, adapter = f"hf/{folder}", None
    if adapters.is_adapter(folder):
        adapter = adapters.read_adapter(folder)
        name = adapters.base_of(adapter, environment)
    weights = folder_of_base(name, libraries(1, dtype), folder_of(environment))
    identity = adapters.base_sum(name) if adapter is None else adapters.file_sum(f"{folder}/{adapters.WEIGHTS}")
    lora = {} if adapter is None else {"enable_lora": True, "max_lora_rank": adapter.rank}
    engine = LLM(weights, dtype=dtype or "auto", generation_config="vllm", **lora)
    return VllmWriter(engine, f"hf/{folder}", identity, decoding, None if adapter is None else folder)


def vllm_usable() -> bool:
    """Whether vLLM is installed and a GPU is there to run it."""
    if find_spec("vllm") is None:
        return False
    import torch  # noqa: PLC0415 - a second to load, and only where a model runs

    return bool(torch.cuda.is_available())


def best_device() -> str:
    """The device on which a model runs fastest here: this process's GPU, Apple's GPU, or the CPU."""
    import torch  # noqa: PLC0415 - as above

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _seed_number(seed: str) -> int:
    """A seed of 31 bits from a text, the same in every process."""
    return crc32(seed.encode()) >> 1


def ends_of(model: Any, tokenizer: Any) -> Collection[int]:
    """The tokens that end an answer, as the tokenizer and the model name them."""
    of_model = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    tokens = {*(of_model if isinstance(of_model, list) else [of_model]), tokenizer.eos_token_id}
    return {int(token) for token in tokens if token is not None}


def _identity(weights: str, decoding: Decoding) -> str:
    sampling = [decoding.temperature, decoding.seed] if decoding.temperature > 0 else []
    return canonical([weights, decoding.max_tokens, *sampling])


def _answers(
    tokenizer: Any, label: str, prompts: Sequence[Sequence[int]], answers: Sequence[Generated]
) -> list[Answer]:
    return [
        Answer(
            tokenizer.decode(list(answer.tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False),
            answer.finish,
            prompt_tokens=len(prompt),
            completion_tokens=len(answer.tokens),
            model=label,
        )
        for prompt, answer in zip(prompts, answers, strict=True)
    ]


_COMPACTION_SHARE = 4
"""Drop finished rows from the batch when they are more than this fraction of it: dropping copies the cache."""


class Generated(NamedTuple):
    """The tokens of an answer without its end, and why it ends."""

    tokens: tuple[int, ...]
    finish: Finish


class Sampling(NamedTuple):
    """Draw tokens at ``temperature``; ``seeds`` has one seed per prompt, so that draws do not depend on the batch."""

    temperature: float
    seeds: Sequence[str]


def generate(
    model: Any,
    prompts: Sequence[Sequence[int]],
    max_tokens: int,
    ends: Collection[int],
    sampling: Sampling | None = None,
) -> list[Generated]:
    """Continue each prompt until a token of ``ends`` or ``max_tokens`` tokens; without ``sampling`` greedily.

    ``model`` is a causal model of transformers, in evaluation mode; tensors are made on its device.
    Raises ``ValueError`` for an empty prompt.
    """
    import torch  # noqa: PLC0415 - a second to load, and only where a model runs in this process
    from transformers import DynamicCache  # noqa: PLC0415

    if not all(prompts):
        raise ValueError("an empty prompt")
    if not prompts:
        return []
    width, device = max(map(len, prompts)), model.device
    padded = [[0] * (width - len(row)) + list(row) for row in prompts]
    real = [[0] * (width - len(row)) + [1] * len(row) for row in prompts]
    feed, mask = torch.tensor(padded, device=device), torch.tensor(real, device=device)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    end_tokens = torch.tensor(sorted(set(ends)), device=device)
    draws = [Random(seed) for seed in sampling.seeds] if sampling is not None else []
    cache = DynamicCache(config=model.config)
    live = list(range(len(prompts)))  # the prompts of the rows of the batch
    tokens: list[list[int]] = [[] for _ in prompts]
    done = [False] * len(prompts)
    with torch.inference_mode():
        for _ in range(max_tokens):
            logits = model(
                input_ids=feed,
                attention_mask=mask,
                position_ids=positions,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            ).logits[:, -1]
            if sampling is None:
                chosen = logits.float().argmax(-1)
            else:
                chosen = _sampled(torch, logits, sampling.temperature, [draws[prompt].random() for prompt in live])
            ended = torch.isin(chosen, end_tokens).tolist()
            for prompt, token, ends_here in zip(live, chosen.tolist(), ended, strict=True):
                done[prompt] = done[prompt] or ends_here
                if not done[prompt]:
                    tokens[prompt].append(token)
            unfinished = [row for row, prompt in enumerate(live) if not done[prompt]]
            if not unfinished:
                break
            feed, positions = chosen[:, None], positions[:, -1:] + 1
            if len(live) - len(unfinished) > len(live) // _COMPACTION_SHARE:
                rows = torch.tensor(unfinished, device=device)
                cache.batch_select_indices(rows)
                feed, positions, mask = feed[rows], positions[rows], mask[rows]
                live = [live[row] for row in unfinished]
            mask = torch.cat([mask, mask.new_ones(len(live), 1)], -1)
    return [
        Generated(tuple(row), Finish.STOP if ended else Finish.LENGTH) for row, ended in zip(tokens, done, strict=True)
    ]


def _sampled(torch: Any, logits: Any, temperature: float, draws: Sequence[float]) -> Any:
    """One token per row by inversion of the cumulative probabilities, in 64 bits: rounding seldom changes a token."""
    sums = torch.softmax(logits.double() / temperature, -1).cumsum(-1)
    thresholds = torch.tensor(draws, dtype=sums.dtype, device=sums.device)[:, None] * sums[:, -1:]
    return torch.searchsorted(sums, thresholds, right=True)[:, 0].clamp(max=sums.shape[-1] - 1)
