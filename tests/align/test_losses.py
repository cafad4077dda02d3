"""Test preference losses against hand-computed values, against each other in limit cases, and against trl."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="losses need the extra `align`")

from letter_tokenizer import Letters  # noqa: E402

from plansafe.align import losses as L  # noqa: E402 - after the skip; a short name for formulas
from plansafe.align.losses import Plans  # noqa: E402
from plansafe.align.tokens import Batch, Steps, Tokens, batch_of, pair_of  # noqa: E402

torch.set_num_threads(1)
BETA, RATIO = 2.0, 0.5


PROMPTS = ([5, 6, 7], [8, 9], [10, 11, 12, 13], [5])
PAIRS = (
    ("(a) (bb) (c)", "(a) (dd) (eee) (f)"),
    ("(x)", "(yy)"),
    ("(a) (b) (c) (d)", "(a) (b) (c)"),
    ("(aa) (bb)", "(aa) (cc)"),
)


def _steps(text: str, step: float = 1.0) -> Steps:
    actions = tuple(text.split())
    return Steps(actions, tuple([step + number for number in range(len(actions) + 1)]))


def _rows() -> tuple[list[Tokens], list[Tokens]]:
    pairs = []
    for prompt, (chosen, rejected) in zip(PROMPTS, PAIRS, strict=True):
        pair = pair_of(prompt, _steps(chosen), _steps(rejected), Letters(), 100)
        assert pair is not None
        pairs.append(pair)
    return [chosen for chosen, _ in pairs], [rejected for _, rejected in pairs]


def _model(seed: int = 0) -> Any:
    """A random Llama of one layer with a token per letter."""
    transformers = pytest.importorskip("transformers", reason="needs the extra `align`")
    torch.manual_seed(seed)
    shape = transformers.LlamaConfig(
        vocab_size=96, hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=128, pad_token_id=0, bos_token_id=1, eos_token_id=3,
        initializer_range=0.5,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(shape).eval()


def _logps(model: Any, batch: Batch) -> Any:
    logits = model(input_ids=batch.tokens, attention_mask=batch.attention).logits
    return L.log_probabilities(logits[:, :-1], batch.tokens[:, 1:])


def _sides(model: Any) -> tuple[Plans, Plans]:
    chosen, rejected = [batch_of(rows, 0) for rows in _rows()]
    return chosen.plans(_logps(model, chosen)), rejected.plans(_logps(model, rejected))


def _random_sides(seed: int, dtype: Any = torch.float64, size: int = 3, length: int = 9) -> tuple[Plans, Plans]:
    """Random sides with equal probabilities in the shared prefix, as a model gives them."""
    generator = torch.Generator().manual_seed(seed)
    prompt, shared = 2, 3

    def side(ends: list[int], common: Any) -> Plans:
        logps = -torch.rand(size, length, generator=generator, dtype=dtype) - 0.1
        logps[:, prompt : prompt + shared] = common
        position = torch.arange(length)[None, :]
        stop = torch.tensor(ends)[:, None]
        completion = ((position >= prompt) & (position < stop)).to(dtype)
        prefix = ((position >= prompt) & (position < prompt + shared)).to(dtype)
        first = ((position >= prompt + shared) & (position < prompt + shared + 1)).to(dtype)
        weight = torch.rand(size, length, generator=generator, dtype=dtype)
        return Plans(logps, completion, prefix, first, weight)

    common = -torch.rand(size, shared, generator=generator, dtype=dtype)
    return side([7, 8, 9], common), side([9, 8, 7], common)


def test_simpo_by_hand() -> None:
    """Two tokens of 1/2 and 1/4 against one of 1/8: averages of -1.5 ln 2 and -3 ln 2."""
    ln2 = math.log(2)

    def plan(*logps: float) -> Plans:
        row, ones = torch.tensor([logps]), torch.ones(1, len(logps))
        return Plans(row, ones, 0 * ones, ones, ones)

    simpo = L.simpo(plan(-ln2, -2 * ln2), plan(-3 * ln2), beta=BETA, gamma_beta_ratio=RATIO)
    margin = BETA * (-1.5 * ln2 + 3 * ln2)
    assert simpo.margins.item() == pytest.approx(margin, rel=1e-6)
    assert simpo.losses.item() == pytest.approx(math.log1p(math.exp(-(margin - 1.0))), rel=1e-6)


def test_step_dpo_by_hand() -> None:
    """Only the first differing action counts: 1/2 against a reference's 1/4, and 1/8 against 1/8."""
    ln2 = math.log(2)
    mask = torch.tensor([[0.0, 1.0, 0.0]])
    ones = torch.ones(1, 3)
    chosen = Plans(torch.tensor([[-9.0, -ln2, -7.0]]), ones, 1 - mask, mask, ones)
    rejected = Plans(torch.tensor([[-9.0, -3 * ln2, -1.0]]), ones, 1 - mask, mask, ones)
    reference = torch.tensor([[-1.0, -2 * ln2, -2.0]]), torch.tensor([[-4.0, -3 * ln2, -5.0]])
    step_dpo = L.step_dpo(chosen, rejected, *reference, beta=1.0)
    assert step_dpo.losses.item() == pytest.approx(math.log1p(math.exp(-ln2)), rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_limit_cases(seed: int) -> None:
    chosen, rejected = _random_sides(seed)
    constants = {"beta": BETA, "gamma_beta_ratio": RATIO}
    simpo = L.simpo(chosen, rejected, **constants)
    assert torch.equal(L.safe_align(chosen, rejected, **constants, factor=1.0).losses, simpo.losses)
    even = [plans._replace(weight=torch.full_like(plans.weight, 0.7)) for plans in (chosen, rejected)]
    scaled = L.weighted(*even, **constants, normaliser="weights").losses
    assert torch.allclose(scaled, simpo.losses), "equal weights are SimPO"
    partly = [L.prefix_weights(plans, 0.3) for plans in (chosen, rejected)]
    assert torch.equal(
        L.weighted(*partly, **constants).losses, L.safe_align(chosen, rejected, **constants, factor=0.3).losses
    )


@pytest.mark.parametrize("seed", range(20))
def test_lambda_acts_only_through_length(seed: int) -> None:
    chosen, rejected = _random_sides(seed)
    constants = {"beta": BETA, "gamma_beta_ratio": RATIO}
    margins = [L.safe_align(chosen, rejected, **constants, factor=factor).margins for factor in (0.0, 0.25, 1.0)]
    shared = (chosen.logps * chosen.prefix).sum(-1)
    gap = 1 / chosen.completion.sum(-1) - 1 / rejected.completion.sum(-1)
    assert torch.allclose(margins[2] - margins[0], BETA * shared * gap)
    assert torch.allclose(margins[1] - margins[0], 0.25 * BETA * shared * gap)
    assert torch.equal(margins[0][1], margins[2][1]) or math.isclose(margins[0][1], margins[2][1], abs_tol=1e-12)
    assert torch.allclose(L.length_gap(chosen, rejected), gap.abs())
    assert L.length_gap(chosen, rejected)[1] == 0, "the second pair has plans of equal length"


@pytest.mark.parametrize("seed", range(20))
def test_lambda_has_no_effect_in_dpo(seed: int) -> None:
    chosen, rejected = _random_sides(seed)
    reference = [torch.randn(plans.logps.shape, dtype=torch.float64) for plans in (chosen, rejected)]
    reference[1] = torch.where(
        rejected.prefix > 0, reference[0], reference[1]
    )  # the reference model sees the same prefix
    plain = L.dpo(chosen, rejected, *reference, beta=0.3)
    for factor in (0.0, 0.5, 2.0):
        adjusted = L.prefix_weighted_dpo(chosen, rejected, *reference, beta=0.3, factor=factor)
        assert torch.allclose(adjusted.losses, plain.losses, atol=1e-12)


def test_gradients() -> None:
    """Gradients equal finite differences in 64 bits, and are zero for tokens outside the plan."""
    chosen, rejected = _random_sides(5)
    reference = [plans.logps.detach() * 0.9 for plans in (chosen, rejected)]

    def loss(kind: str, chosen_logps: Any, rejected_logps: Any) -> Any:
        sides = chosen._replace(logps=chosen_logps), rejected._replace(logps=rejected_logps)
        constants = {"beta": BETA, "gamma_beta_ratio": RATIO}
        match kind:
            case "weighted":
                return L.weighted(*sides, **constants, normaliser="weights").losses
            case "safe-align":
                return L.safe_align(*sides, **constants, factor=0.5).losses
            case "dpo":
                return L.dpo(*sides, *reference, beta=BETA).losses
            case "step-dpo":
                return L.step_dpo(*sides, *reference, beta=BETA).losses
            case _:
                return L.sft(sides[0]) + 0 * rejected_logps.sum()

    for kind in ("weighted", "safe-align", "dpo", "step-dpo", "sft"):
        inputs = [plans.logps.clone().requires_grad_() for plans in (chosen, rejected)]
        assert torch.autograd.gradcheck(
            lambda chosen_logps, rejected_logps, k=kind: loss(k, chosen_logps, rejected_logps), inputs
        )
        loss(kind, *inputs).sum().backward()
        assert (inputs[0].grad * (1 - chosen.completion)).abs().max() == 0


def test_weights_and_losses_ignore_padding() -> None:
    model = _model()
    with torch.inference_mode():
        chosen, rejected = _sides(model)
        together = L.weighted(chosen, rejected, beta=BETA, gamma_beta_ratio=RATIO, normaliser="weights").losses
        for number, rows in enumerate(zip(*_rows(), strict=True)):
            alone = [batch_of([row], 0) for row in rows]
            sides = [batch.plans(_logps(model, batch)) for batch in alone]
            single = L.weighted(*sides, beta=BETA, gamma_beta_ratio=RATIO, normaliser="weights").losses
            assert single.item() == pytest.approx(together[number].item(), abs=1e-5)


def test_trainer_computes_the_same_log_probabilities() -> None:
    from plansafe.align.training.plan_trainer import plan_log_probabilities

    model = _model(4)
    for rows in _rows():
        batch = batch_of(rows, 0)
        with torch.inference_mode():
            logps, expected = plan_log_probabilities(model, batch), _logps(model, batch) * batch.completion
        assert torch.allclose(logps, expected, atol=1e-5) and not logps[batch.completion == 0].any()


def test_parity_with_cpo_simpo_of_trl() -> None:
    """The loss of trl's code on the same tokens, with its cross-entropy, is equal within 1e-5."""
    cpo = pytest.importorskip("trl.experimental.cpo", reason="parity needs trl").CPOTrainer
    model = _model(1)
    chosen, rejected = _rows()

    def padded(rows: list[Tokens]) -> dict[str, Any]:
        batch = batch_of(rows, 0)
        mask = torch.cat([torch.zeros(len(rows), 1), batch.completion], 1)
        labels = batch.tokens.masked_fill(mask == 0, -100)
        return {"input_ids": batch.tokens, "attention_mask": batch.attention, "labels": labels}

    batch = {
        f"{side}_{k}": v for side, rows in (("chosen", chosen), ("rejected", rejected)) for k, v in padded(rows).items()
    }
    device = SimpleNamespace(device=torch.device("cpu"), gather_for_metrics=lambda values: values)
    stub = SimpleNamespace(
        is_encoder_decoder=False, pad_token_id=0, accelerator=device, aux_loss_enabled=False, cpo_alpha=0.7, alpha=0.0,
        loss_type="simpo", beta=BETA, simpo_gamma=BETA * RATIO, label_smoothing=0.0,
        concatenated_inputs=cpo.concatenated_inputs, get_batch_logps=cpo.get_batch_logps,
    )  # fmt: skip
    stub.concatenated_forward = lambda *inputs: cpo.concatenated_forward(stub, *inputs)
    stub.cpo_loss = lambda *inputs: cpo.cpo_loss(stub, *inputs)
    with torch.inference_mode():
        theirs, _ = cpo.get_batch_loss_metrics(stub, model, batch)
        sides = _sides(model)
        ours = L.safe_align(*sides, beta=BETA, gamma_beta_ratio=RATIO, factor=1.0).losses.mean() + 0.7 * L.sft(sides[0])
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-5)


def test_parity_with_dpo_of_trl(tmp_path: Any) -> None:
    """The loss of trl's trainer with another model as reference, on the same tokens, is equal within 1e-5."""
    trl = pytest.importorskip("trl", reason="parity needs trl")
    datasets = pytest.importorskip("datasets", reason="parity needs trl")
    tokenizer = _word_tokenizer()
    model, reference_model = _model(2), _model(3)
    line = {"prompt": "a", "chosen": "b", "rejected": "c"}
    settings = trl.DPOConfig(
        output_dir=str(tmp_path), beta=0.3, report_to=[], use_cpu=True, bf16=False, gradient_checkpointing=False
    )
    trainer = trl.DPOTrainer(
        model,
        reference_model,
        args=settings,
        train_dataset=datasets.Dataset.from_list([line]),
        processing_class=tokenizer,
    )
    chosen, rejected = _rows()
    both = batch_of([*chosen, *rejected], 0)
    mask = torch.cat([torch.zeros(len(both.tokens), 1), both.completion], 1).long()
    inputs = {"input_ids": both.tokens, "attention_mask": both.attention, "completion_mask": mask}
    trainer.model.eval()
    with torch.inference_mode():
        theirs = trainer._compute_loss(trainer.model, inputs, False)
        sides = _sides(model)
        reference = [plans.logps for plans in _sides(reference_model)]
        ours = L.dpo(*sides, *reference, beta=0.3).losses.mean()
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-5)


def _word_tokenizer() -> Any:
    """A tokenizer that trl accepts; its tokens are not used."""
    tokenizers = pytest.importorskip("tokenizers", reason="parity needs trl")
    transformers = pytest.importorskip("transformers", reason="parity needs trl")
    words = {word: number for number, word in enumerate(["<pad>", "<s>", "<unk>", "</s>", "a", "b", "c"])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
