"""The commands ``models list`` and ``models ask``: list the providers of language models; ask a model a question."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from plansafe.app.options.option import Options, argument, command, integer, number, text
from plansafe.app.options.shared import Assignments, ModelName, ModelServer
from plansafe.app.system.process import complain, guarded, print_text, remark, standard_output
from plansafe.app.system.progress import tell
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plansafe.llm.models.answer import Answer
    from plansafe.llm.models.port import Capabilities
    from plansafe.llm.models.providers import Settings
    from plansafe.llm.models.request import Request

_MAX_INPUT = 4_000_000


class ModelsOptions(Options):
    """``models list`` has no options."""


class AskOptions(ModelName, ModelServer, Assignments, group="Model"):
    """The options of ``models ask``."""

    prompt: str = argument("PROMPT", "The question; `-` reads standard input.", required=True)
    system: str = text("--system", metavar="TEXT", default="", help="Send this text before the question.")
    choice: tuple[str, ...] = text(
        "--choice", metavar="TEXT", many=True, help="Let the model choose between these answers. May be repeated."
    )
    max_tokens: int = integer(
        "--max-tokens",
        default=1024,
        low=1,
        help="Limit reasoning and answer together to N tokens.",
        set_key="model.max_tokens",
    )
    temperature: float = number(
        "--temperature",
        default=0.0,
        low=0,
        high=10,
        help="Sample the answer with this temperature; 0: the most likely answer.",
        set_key="model.temperature",
    )
    seed: int | None = integer(
        "--seed", help="Sample the answer with this seed, if the provider supports it.", set_key="seed"
    )


@command(ModelsOptions)
def models(_: ModelsOptions) -> int:
    """List the providers of language models: the form of the name, the constraints it can enforce, missing packages.

    No package is imported and no server is called. Exit code: 0.
    """
    return guarded(_models)


def _models() -> int:
    from plansafe.llm.models.providers import PROVIDERS  # noqa: PLC0415 - for this command alone
    from plansafe.verifier.extras import how_to_install  # noqa: PLC0415

    lines = ["--model PROVIDER/NAME, where PROVIDER is one of:"]
    for provider in PROVIDERS:
        runner = provider.runner
        status = "installed" if runner is provider else f"not installed: {how_to_install(provider.extra)}"
        if runner is not None and runner is not provider:
            status = f"run by llama.cpp, since transformers is {status}"
        lines += [
            "",
            f"{provider.form}",
            f"  {provider.about}",
            f"  enforces   {', '.join(_enforceable(provider.capabilities)) or 'nothing'}",
            f"  reads      {provider.needs}",
            f"  status     {status if provider.packages else 'needs no package'}",
        ]
    standard_output().write("\n".join(lines) + "\n")
    return 0


def _enforceable(capabilities: Capabilities) -> Iterator[str]:
    if capabilities.choice:
        yield "choices"
    elif capabilities.gbnf:
        yield "choices (as a grammar)"
    elif capabilities.json_schema:
        yield "choices (as a schema)"
    if capabilities.gbnf or capabilities.lark:
        formats = [name for name, supported in (("GBNF", capabilities.gbnf), ("Lark", capabilities.lark)) if supported]
        yield f"grammars ({' and '.join(formats)})"
    if capabilities.json_schema:
        yield "JSON schemas"
    if capabilities.tokens:
        yield "a callback for each token"
    if capabilities.score:
        yield "likelihoods of given texts"


@command(AskOptions)
def ask(options: AskOptions) -> int:
    """Ask a model one question, to test that it answers and that it keeps to a choice.

    The answer goes to standard output, the details to standard error. Exit codes: 0 answered; 1 answered, but not with
    one of the choices; 2 no answer.
    """

    def work() -> int:
        from plansafe.llm.models.providers import Settings  # noqa: PLC0415 - for this command alone
        from plansafe.llm.models.request import Choice, Request, user_messages  # noqa: PLC0415

        text = (
            sys.stdin.buffer.read(_MAX_INPUT + 1).decode("utf-8", "replace")
            if options.prompt == "-"
            else options.prompt
        )
        if len(text) > _MAX_INPUT or not text.strip():
            return complain(Diagnostic(SC.BAD_OPTION, "a question must have between 1 and 4,000,000 characters"))
        if options.choice and (not all(options.choice) or len(set(options.choice)) < len(options.choice)):
            return complain(Diagnostic(SC.BAD_OPTION, "the texts of --choice must be different and not empty"))
        constraint = Choice(tuple(options.choice)) if options.choice else None
        request = Request(
            user_messages(text, options.system),
            options.max_tokens,
            options.temperature,
            seed=options.seed,
            constraint=constraint,
        )
        return _ask(
            options.model,
            Settings(base_url=options.base_url, connections=1),
            request,
            options.cache,
            not options.no_cache,
        )

    return guarded(work)


def _ask(name: str, settings: Settings, request: Request, path: str | None, keep: bool) -> int:
    from plansafe.llm.models.batch import ask as ask_one  # noqa: PLC0415 - for this command alone
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415
    from plansafe.llm.models.providers import opened  # noqa: PLC0415

    try:
        with opened(name, settings, path, keep=keep) as (model, cache):
            tell("waiting for the model ..")
            try:
                answer = ask_one(model, request, cache)
            finally:
                tell("")
    except ModelError as error:
        return complain(error.diagnostic)
    print_text(answer.text if answer.text.endswith("\n") else answer.text + "\n")
    remark([_describe_answer(answer), *answer.notes])
    return 0 if answer.met is not False else 1


def _describe_answer(answer: Answer) -> str:
    """The details of an answer, on one line."""
    parts = [f"{answer.model or 'the model'}, finish: {answer.finish}, form: {answer.enforced}"]
    if answer.met is False:
        parts.append("the answer does not have this form")
    if answer.prompt_tokens is not None:
        cached = f" ({answer.cached_tokens} cached)" if answer.cached_tokens else ""
        parts.append(f"{answer.prompt_tokens} tokens in{cached}")
    if answer.completion_tokens is not None:
        parts.append(f"{answer.completion_tokens} out")
    if answer.reasoning:
        parts.append(f"{answer.reasoning} characters of reasoning cut")
    if answer.stored:
        parts.append("from the cache")
    return ", ".join(parts)
