"""The arguments of transformers' Trainer for a run."""

from __future__ import annotations

import math
from typing import Any

import torch
from transformers import TrainingArguments
from transformers.integrations import get_available_reporting_integrations

from plansafe.align.config import Config
from plansafe.align.training.models import refused


def arguments(config: Config, kind: type[TrainingArguments] = TrainingArguments, **options: Any) -> Any:
    """Arguments of the class ``kind``. Raises :class:`~plansafe.llm.models.port.ModelError`.

    ``accelerate launch`` or ``torchrun`` start the processes; each trains on one device.
    """
    missing = sorted({*config.report_to} - {*get_available_reporting_integrations()})
    if missing:
        raise refused(f"`report_to`: {missing[0]} is not installed", f"pip install {missing[0]}, or remove it")
    on_cpu = not torch.accelerator.is_available()
    training = kind(
        output_dir=config.output,
        max_steps=config.max_steps,
        per_device_train_batch_size=options.pop("batch", config.bs),
        per_device_eval_batch_size=options.pop("evaluation_batch", config.bs),
        gradient_accumulation_steps=config.gradient_accumulation_steps,
        learning_rate=config.lr,
        lr_scheduler_type="constant_with_warmup" if config.schedule == "constant" else config.schedule,
        warmup_steps=math.ceil(config.warmup_ratio * config.max_steps),
        weight_decay=config.weight_decay,
        max_grad_norm=config.max_grad_norm,
        optim="adamw_torch",
        bf16=config.dtype == "bfloat16",
        seed=config.seed % (1 << 32),
        gradient_checkpointing=config.gradient_checkpointing,
        gradient_checkpointing_kwargs={"use_reentrant": False},
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="steps",
        save_steps=config.save_steps,
        eval_strategy="steps" if config.eval_data else "no",
        eval_steps=config.eval_steps,
        report_to=list(config.report_to) or "none",
        disable_tqdm=True,
        remove_unused_columns=False,
        use_cpu=on_cpu,
        ddp_find_unused_parameters=False,
        dataloader_pin_memory=not on_cpu,
        **options,
    )
    training._n_gpu = min(training.n_gpu, 1)  # noqa: SLF001 - a process that sees several GPUs would use DataParallel
    return training
