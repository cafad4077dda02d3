"""The command group ``align``: train language models on the verdicts of the verifier."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plansafe.app.options.option import Options, argument, choice, command, number, text
from plansafe.app.render.diagnostics import print_diagnostics
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import unwritable
from plansafe.app.system.process import complain, guarded, print_text
from plansafe.app.system.progress import Progress as Bar
from plansafe.app.system.progress import tell

if TYPE_CHECKING:
    from plansafe.align.config import Config
    from plansafe.align.training.run_trainer import Progress
    from plansafe.align.training.trainer import Result

_UNFINISHED = 3
_MAX_NAMED = 10
"""Maximum number of names of too long pairs in the report."""
_REPORTED_METRICS = ("loss", "margin", "accuracy", "length_gap", "reward")


class TrainOptions(Options):
    """The options of ``align train``."""

    config: str = argument("CONFIG", "What to train, as TOML or YAML (docs/alignment.md).", required=True)
    set_: tuple[str, ...] = text(
        "--set", metavar="KEY=VALUE", many=True, help="Replace a value of the file. May be repeated."
    )
    minutes: float | None = number(
        "--minutes", metavar="N", low=0, help="Stop after N minutes; the same command continues."
    )


@command(TrainOptions)
def train(options: TrainOptions) -> int:
    """Train a language model on texts, on pairs of a safe and an unsafe plan, or with the verdict as a reward.

    The key `method` of the configuration selects the method. A run that was stopped or killed continues from its last
    checkpoint to the same loss curve. Nothing is downloaded.

    Exit codes: 0 finished, 2 usage, or a file that cannot be used, 3 the time was over before the last step.
    """
    return guarded(lambda: _train(options.config, options.set_ or [], options.minutes))


def _train(path: str, assignments: Sequence[str], minutes: float | None) -> int:
    from plansafe.align.config import read_config  # noqa: PLC0415 - not for --help
    from plansafe.align.evaluating.running import share_of  # noqa: PLC0415 - the same
    from plansafe.align.records import BadRecords  # noqa: PLC0415 - the same
    from plansafe.align.tables import BadConfig  # noqa: PLC0415 - the same
    from plansafe.align.training.folder import BadTraining  # noqa: PLC0415 - the same
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415 - the same

    try:
        config = read_config(path, _overrides(assignments))
        result = _run(config, minutes)
        if share_of(os.environ).rank == 0:  # torchrun starts this command once per GPU
            _report(config, result)
        return 0 if result.finished else _UNFINISHED
    except BadConfig as error:
        return print_diagnostics(error.diagnostics, {error.source.name: error.source})
    except (BadOption, BadRecords, BadTraining, ModelError) as error:
        return complain(error.diagnostic)


def _overrides(assignments: Sequence[str]) -> dict[str, str]:
    overrides: dict[str, str] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or not key.strip():
            raise BadOption(f"--set {assignment!a} does not have the form KEY=VALUE", "write --set KEY=VALUE")
        overrides[key.strip()] = value.strip()
    return overrides


def _run(config: Config, minutes: float | None) -> Result:
    from plansafe.align.training.trainer import train as work  # noqa: PLC0415 - not for --help

    bar = Bar(config.max_steps)
    tell("loading ..")

    def show_progress(progress: Progress) -> None:
        bar.at(progress.done, _progress_note(progress.metrics))

    try:
        return work(config, seconds=None if minutes is None else 60 * minutes, watch=show_progress)
    finally:
        bar.clear()
        tell("")


def _progress_note(metrics: Mapping[str, Any]) -> str:
    metric_texts = [f"{name} {metrics[name]:.3f}" for name in ("loss", "margin", "reward") if name in metrics]
    return ", ".join([*metric_texts, f"{metrics['tokens_per_second']:.0f} tokens/s"])


def _report(config: Config, result: Result) -> None:
    kind = {"sft": "texts", "rft": "texts", "grpo": "tasks"}.get(config.method, "pairs")
    lines = [f"{config.method}: {result.step} of {config.max_steps} steps over {result.examples:,} {kind}"]
    if result.too_long:
        names = ", ".join(result.too_long[:_MAX_NAMED]) + (", .." if len(result.too_long) > _MAX_NAMED else "")
        lines.append(f"  left out      {len(result.too_long):,} of more than {config.max_length} tokens: {names}")
    if result.other_split:
        lines.append(f"  left out      {result.other_split:,} that are not of the split {config.split}")
    window = max(1, len(result.metrics) // 10)
    for name in _REPORTED_METRICS:
        values = [record[name] for record in result.metrics if name in record]
        if values:
            first, last = [sum(part) / len(part) for part in (values[:window], values[-window:])]
            lines.append(f"  {name.replace('_', ' '):<12}{first:.4f} -> {last:.4f}")
    lines.append(f"  metrics     {result.metrics_file}")
    lines.append(f"  {'model' if config.lora_r == 0 else 'adapter':<12}{result.folder or 'not yet: call this again'}")
    print_text("\n".join(lines) + "\n")


class MergeOptions(Options):
    """The options of ``align merge``."""

    adapter: str = argument("ADAPTER", "The folder of an adapter that `align train` wrote.", required=True)
    output: str = text("--output", "-o", metavar="FOLDER", required=True, help="Write the model to this new folder.")
    dtype: str = choice("--dtype", values=("bfloat16", "float16", "float32"), default="bfloat16", help="Round to this.")


@command(MergeOptions)
def merge(options: MergeOptions) -> int:
    """Merge an adapter into its base and write safetensors, a configuration and a tokenizer.

    Prints the commands that convert the folder to GGUF and serve it with vLLM. Exit codes: 0 written, 2 usage, or a
    file that cannot be used.
    """

    def work() -> int:
        from plansafe.align.training.models import merge, next_commands  # noqa: PLC0415 - not for --help
        from plansafe.llm.models.port import ModelError  # noqa: PLC0415 - the same

        try:
            base = merge(options.adapter, options.output, options.dtype)
        except ModelError as error:
            return complain(error.diagnostic)
        except OSError as error:
            return complain(unwritable(options.output, error))
        commands = "\n".join([f"  {line}" for line in next_commands(options.output)])
        print_text(f"{options.output}: {base} with {options.adapter}, {options.dtype}\n{commands}\n")
        return 0

    return guarded(work)
