"""A real server of llama.cpp on the loopback address, asked over HTTP, against the same weights in this process.

usage: python tests/models/run_loopback.py [WEIGHTS.gguf] [--family tea] [--steps 3] [--tokens 60]

Needs the extras ``llm`` and ``llamacpp``, and weights: without a name, the smallest GGUF in ``PLANSAFE_MODELS``. The
server is that of xllamacpp, behind a key. ``llamacpp/`` and ``openai/`` reach it as they would reach any;
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
    """One thing that was looked at, whether it is so, and what was seen."""

    what: str
    holds: bool
    seen: str = ""


def smallest_weights() -> Path | None:
    """The smallest GGUF in the folder ``PLANSAFE_MODELS``."""
    folder = os.environ.get("PLANSAFE_MODELS")
    found = Path(folder).glob("*.gguf") if folder else []
    return min(found, key=lambda path: path.stat().st_size, default=None)


@contextmanager
def real_server(weights: Path, threads: int = 2) -> Iterator[str]:
    """The address of a server of llama.cpp that answers from ``weights``, for as long as the block runs."""
    import xllamacpp

    wishes = xllamacpp.CommonParams()
    wishes.model.path = str(weights)
    wishes.n_ctx = CONTEXT
    wishes.n_parallel = 1
    wishes.cpuparams.n_threads = wishes.cpuparams_batch.n_threads = threads
    wishes.api_keys = [KEY]
    wishes.ui = wishes.endpoint_slots = wishes.warmup = False
    wishes.offline = True
    wishes.verbosity = -1
    server: Any = xllamacpp.Server(wishes)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


def remote(name: str, url: str, key: str = KEY) -> Model:
    """A model of the server. Each provider has its own variable for the key."""
    environment = {"LLAMA_API_KEY": key, "OPENAI_API_KEY": key}
    return open_model(name, Settings(base_url=url, connections=2, environment=environment))


def same_answer(one: Answer, other: Answer) -> bool:
    """Whether two models said the same and stopped for the same reason."""
    return (one.text, one.finish, one.enforced) == (other.text, other.finish, other.enforced)


def whole_plans(task: Instance, models: dict[str, Model], tokens: int) -> Iterator[Check]:
    """A plan in one answer under the grammar of the task: each line is a step of the task, whoever carries it."""
    checker = task.checker()
    prompt = planning_prompt(task.words, checker.compiled).messages
    made: dict[str, Written] = {
        name: write_plan(model, task.name, prompt, checker, grammar=True, longest=8, max_tokens=tokens)
        for name, model in models.items()
    }
    far, near = made["llamacpp"].answer, made["llamacpp-local"].answer
    yield Check("the grammar is enforced natively", far.enforced is Enforced.NATIVE, far.enforced.value)
    lines = far.text.splitlines()
    whole = lines if far.finish is Finish.STOP else lines[:-1]  # the last line may be cut by the limit
    strange = [line for line in whole if line.strip() and not _is_step(line, task)]
    yield Check("each whole line is a well-formed step", bool(whole) and not strange, "; ".join(strange or whole))
    yield Check("the answer is that of the process", same_answer(far, near), f"{far.text!r} and {near.text!r}")
    free = made["openai"].answer
    yield Check("`openai/` says that it enforced no grammar", free.enforced is Enforced.NOT, free.enforced.value)


def _is_step(line: str, task: Instance) -> bool:
    report = task.checker().check(Source("line.plan", f"{line.strip()}\n"))
    return not report.diagnostics and not [f for f in report.findings if f.finding_class is FindingClass.ILL_FORMED]


def stepwise(task: Instance, models: dict[str, Model], steps: int) -> Iterator[Check]:
    """Steps chosen one by one under the shield: offered as a grammar, or as a schema."""
    checker = task.checker()
    prompt = planning_prompt(task.words, checker.compiled).messages
    made: dict[str, Decoded] = {
        name: decode(model, task.name, prompt, Guide(checker.compiled), Mode.SHIELD, steps)
        for name, model in models.items()
    }
    far, near = made["llamacpp"], made["llamacpp-local"]
    for name in ("llamacpp", "openai"):
        plan = Source("made.plan", made[name].plan)
        executable = checker.check(plan).executable
        taken = len(made[name].choices)
        holds = executable is Worlds.ALL and taken > 0
        yield Check(f"`{name}/`: every chosen step can be taken", holds, " ".join(made[name].steps))
    yield Check("the steps are those of the process", far.choices == near.choices, " ".join(far.steps))
    yield Check("what is shared is not read again", _cached(models["llamacpp"], task) > 0)


def _cached(model: Model, task: Instance) -> int:
    """Tokens of a prompt, asked twice, that were not read the second time."""
    messages = planning_prompt(task.words, task.checker().compiled).messages
    return [model.answer(Request(messages, max_tokens=1)) for _ in range(2)][1].cached_tokens or 0


def choices(task: Instance, models: dict[str, Model]) -> Iterator[Check]:
    """One choice among the task's first steps, and an answer by a schema, for both providers."""
    guide = Guide(task.checker().compiled)
    texts = tuple(sorted([step_text(o.step, guide.objects) for o in guide.options()])[:40])
    question = user_messages(f"{task.words} Which step is next?")
    request = Request(question, max_tokens=64, constraint=Choice((*texts, DONE)))
    for name, how in (("llamacpp", Enforced.AS_GRAMMAR), ("openai", Enforced.AS_SCHEMA)):
        answer = models[name].answer(request)
        yield Check(f"`{name}/` chooses, {how.value}", answer.met is True and answer.enforced is how, answer.text)
    schema = JsonSchema('{"type":"object","properties":{"safe":{"type":"boolean"}},"required":["safe"]}')
    for name in ("llamacpp", "openai"):
        answer = models[name].answer(Request(question, max_tokens=40, constraint=schema))
        yield Check(f"`{name}/` answers by a schema", answer.met is True, answer.text)


def failures(url: str, models: dict[str, Model]) -> Iterator[Check]:
    """A wrong key, a prompt that does not fit, a grammar that is none; and answers that are kept."""
    try:
        remote("llamacpp/any", url, "wrong-0123456789").answer(Request(user_messages("hi"), max_tokens=1))
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
        first, again = [ask_all(models["llamacpp"], requests, cache) for _ in range(2)]
    stored = all([isinstance(answer, Answer) and answer.stored for answer in again])
    texts = [[a.text if isinstance(a, Answer) else None for a in batch] for batch in (first, again)]
    yield Check("a batch is kept and comes back", stored and texts[0] == texts[1], f"{len(again)} answers")


def checks(weights: Path, family: str = "tea", steps: int = 3, tokens: int = 60) -> Iterator[Check]:
    """Everything that is looked at, as it is found."""
    task = draw(family, 0, seed=21)
    local = open_model(f"llamacpp-local/{weights}", Settings(context=CONTEXT))
    with real_server(weights) as url:
        models = {"llamacpp": remote("llamacpp/any", url), "openai": remote("openai/any", url), "llamacpp-local": local}
        yield from whole_plans(task, models, tokens)  # first: what was read before may change the last digits
        yield from stepwise(task, models, steps)
        yield from choices(task, models)
        yield from failures(url, models)
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
    for check in checks(weights, options.family, options.steps, options.tokens):
        failed += not check.holds
        print(f"{'yes' if check.holds else 'NO ':4}{check.what:50} {check.seen!r}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
