"""Compare a real server of llama.cpp, asked over HTTP on the loopback address, with the same weights in this process.

usage: python tests/models/run_loopback.py [WEIGHTS.gguf] [--family tea] [--steps 3] [--tokens 60]

Needs the extras ``llm`` and ``llamacpp``, and weights: without a name, the smallest GGUF in ``PLANSAFE_MODELS``. The
server is part of xllamacpp and needs a key. ``llamacpp/`` and ``openai/`` reach it like any other server;
``llamacpp-local/`` answers the same requests without a network. Prints each check; exit code 1 if one fails, 2 if
something is missing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.llm.decoding.stepwise import DONE, Decoded, Mode, decode
from plansafe.llm.decoding.whole_plan import Written, write_plan
from plansafe.llm.instances.drawn import Instance, draw
from plansafe.llm.models.answer import Answer, Enforced, Finish
from plansafe.llm.models.batch import ask_all
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model, ModelError
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import Choice, JsonSchema, Request, user_messages
from plansafe.llm.prompts.planning import planning_prompt
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.planning.guide import Guide
from plansafe.verifier.reporting.report import FindingClass, Worlds

KEY = "loopback-0123456789abcdef"
CONTEXT = 4096


class Check(NamedTuple):
    """A checked property, whether it holds, and the observed value."""

    name: str
    holds: bool
    observed: str = ""


def smallest_weights() -> Path | None:
    """Return the smallest GGUF in the folder ``PLANSAFE_MODELS``."""
    folder = os.environ.get("PLANSAFE_MODELS")
    files = Path(folder).glob("*.gguf") if folder else []
    return min(files, key=lambda path: path.stat().st_size, default=None)


@contextmanager
def real_server(weights: Path, threads: int = 2) -> Iterator[str]:
    """Run a server of llama.cpp with ``weights`` while the block runs; yield its address."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.api_keys = [KEY]
    parameters.ui = parameters.endpoint_slots = parameters.warmup = False
    parameters.offline = True
    parameters.verbosity = -1
    server: Any = xllamacpp.Server(parameters)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


def open_remote(name: str, url: str, key: str = KEY) -> Model:
    """Return a model of the server. Each provider has its own variable for the key."""
    environment = {"LLAMA_API_KEY": key, "OPENAI_API_KEY": key}
    return open_model(name, Settings(base_url=url, connections=2, environment=environment))


def same_answer(first: Answer, second: Answer) -> bool:
    """Return whether two answers have the same text, end and enforcement."""
    return (first.text, first.finish, first.enforced) == (second.text, second.finish, second.enforced)


def check_plans(task: Instance, models: dict[str, Model], tokens: int) -> Iterator[Check]:
    """Check plans in one answer under the grammar of the task: each line is a step of the task, for every provider."""
    checker = task.checker()
    prompt = planning_prompt(task.words, checker.compiled).messages
    answers: dict[str, Written] = {
        name: write_plan(model, task.name, prompt, checker, grammar=True, longest=8, max_tokens=tokens)
        for name, model in models.items()
    }
    remote_answer, local_answer = answers["llamacpp"].answer, answers["llamacpp-local"].answer
    yield Check(
        "the grammar is enforced natively", remote_answer.enforced is Enforced.NATIVE, remote_answer.enforced.value
    )
    lines = remote_answer.text.splitlines()
    complete_lines = lines if remote_answer.finish is Finish.STOP else lines[:-1]  # the limit may cut the last line
    unknown_lines = [line for line in complete_lines if line.strip() and not _is_step(line, task)]
    yield Check(
        "each whole line is a well-formed step",
        bool(complete_lines) and not unknown_lines,
        "; ".join(unknown_lines or complete_lines),
    )
    yield Check(
        "the answer equals the local answer",
        same_answer(remote_answer, local_answer),
        f"{remote_answer.text!r} and {local_answer.text!r}",
    )
    unconstrained = answers["openai"].answer
    yield Check(
        "`openai/` says that it enforced no grammar",
        unconstrained.enforced is Enforced.NOT,
        unconstrained.enforced.value,
    )


def _is_step(line: str, task: Instance) -> bool:
    report = task.checker().check(Source("line.plan", f"{line.strip()}\n"))
    return not report.diagnostics and not [f for f in report.findings if f.finding_class is FindingClass.ILL_FORMED]


def check_steps(task: Instance, models: dict[str, Model], steps: int) -> Iterator[Check]:
    """Check steps that are chosen one by one under the shield, as a grammar or as a schema."""
    checker = task.checker()
    prompt = planning_prompt(task.words, checker.compiled).messages
    decoded_plans: dict[str, Decoded] = {
        name: decode(model, task.name, prompt, Guide(checker.compiled), Mode.SHIELD, steps)
        for name, model in models.items()
    }
    remote_plan, local_plan = decoded_plans["llamacpp"], decoded_plans["llamacpp-local"]
    for name in ("llamacpp", "openai"):
        plan = Source("made.plan", decoded_plans[name].plan)
        executable = checker.check(plan).executable
        choice_count = len(decoded_plans[name].choices)
        holds = executable is Worlds.ALL and choice_count > 0
        yield Check(f"`{name}/`: every chosen step can be taken", holds, " ".join(decoded_plans[name].steps))
    yield Check(
        "the steps equal the local steps", remote_plan.choices == local_plan.choices, " ".join(remote_plan.steps)
    )
    yield Check("the shared prefix is not read again", count_cached_tokens(models["llamacpp"], task) > 0)


def count_cached_tokens(model: Model, task: Instance) -> int:
    """Return the number of tokens of a prompt that a second request did not read again."""
    messages = planning_prompt(task.words, task.checker().compiled).messages
    return [model.answer(Request(messages, max_tokens=1)) for _ in range(2)][1].cached_tokens or 0


def check_choices(task: Instance, models: dict[str, Model]) -> Iterator[Check]:
    """Check a choice among the first steps of the task, and an answer by a schema, for both providers."""
    guide = Guide(task.checker().compiled)
    texts = tuple(sorted([step_text(option.step, guide.objects) for option in guide.options()])[:40])
    question = user_messages(f"{task.words} Which step is next?")
    request = Request(question, max_tokens=64, constraint=Choice((*texts, DONE)))
    for name, enforcement in (("llamacpp", Enforced.AS_GRAMMAR), ("openai", Enforced.AS_SCHEMA)):
        answer = models[name].answer(request)
        yield Check(
            f"`{name}/` chooses, {enforcement.value}",
            answer.met is True and answer.enforced is enforcement,
            answer.text,
        )
    schema = JsonSchema('{"type":"object","properties":{"safe":{"type":"boolean"}},"required":["safe"]}')
    for name in ("llamacpp", "openai"):
        answer = models[name].answer(Request(question, max_tokens=40, constraint=schema))
        yield Check(f"`{name}/` answers by a schema", answer.met is True, answer.text)


def check_failures(url: str, models: dict[str, Model]) -> Iterator[Check]:
    """Check a wrong key, a prompt that does not fit, and answers from the cache."""
    try:
        open_remote("llamacpp/any", url, "wrong-0123456789").answer(Request(user_messages("hi"), max_tokens=1))
        yield Check("a wrong key is refused", False)
    except ModelError as error:
        yield Check(
            "a wrong key is refused", error.diagnostic.code == SC.MODEL_KEY and error.fatal, error.diagnostic.code
        )
    try:
        models["llamacpp"].answer(Request(user_messages("word " * 3 * CONTEXT), max_tokens=1))
        yield Check("a prompt that does not fit fails alone", False)
    except ModelError as error:
        yield Check("a prompt that does not fit fails alone", not error.fatal, error.diagnostic.message[:120])
    with tempfile.TemporaryDirectory() as folder, Cache(f"{folder}/a.sqlite") as cache:
        requests = [Request(user_messages(f"Say {n}."), max_tokens=3, seed=1) for n in range(6)]
        first, second = [ask_all(models["llamacpp"], requests, cache) for _ in range(2)]
    stored = all([isinstance(answer, Answer) and answer.stored for answer in second])
    texts = [[a.text if isinstance(a, Answer) else None for a in batch] for batch in (first, second)]
    yield Check("a repeated batch is read from the cache", stored and texts[0] == texts[1], f"{len(second)} answers")


def all_checks(weights: Path, family: str = "tea", steps: int = 3, tokens: int = 60) -> Iterator[Check]:
    """Yield all checks."""
    task = draw(family, 0, seed=21)
    local = open_model(f"llamacpp-local/{weights}", Settings(context=CONTEXT))
    with real_server(weights) as url:
        models = {
            "llamacpp": open_remote("llamacpp/any", url),
            "openai": open_remote("openai/any", url),
            "llamacpp-local": local,
        }
        yield from check_plans(task, models, tokens)  # first, because earlier prompts may change the last digits
        yield from check_steps(task, models, steps)
        yield from check_choices(task, models)
        yield from check_failures(url, models)
        for model in models.values():
            model.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("weights", type=Path, nargs="?")
    parser.add_argument("--family", default="tea")
    parser.add_argument("--steps", type=int, default=3, help="steps to choose one by one")
    parser.add_argument("--tokens", type=int, default=60, help="of a whole plan")
    options = parser.parse_args()
    try:
        import httpx  # noqa: F401
        import xllamacpp  # noqa: F401
    except ImportError as error:
        print(f"{error.name} is not installed (extras `llm` and `llamacpp`)")
        return 2
    weights = options.weights or smallest_weights()
    if weights is None:
        print("no weights: name a file, or a folder of *.gguf in PLANSAFE_MODELS")
        return 2
    failed = 0
    for check in all_checks(weights, options.family, options.steps, options.tokens):
        failed += not check.holds
        print(f"{'yes' if check.holds else 'NO ':4}{check.name:50} {check.observed!r}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
