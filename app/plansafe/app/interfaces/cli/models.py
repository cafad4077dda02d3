"""The commands ``models`` and ``ask``: which language models can be asked, and one question to one of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

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

_MOST_INPUT = 4_000_000
ModelName = Annotated[
    str, typer.Option("--model", "-m", metavar="PROVIDER/NAME", help="The model; see `safecheck models`.")
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Where the server is; see docs/language-models.md.")
]
CacheFile = Annotated[str | None, typer.Option("--cache", metavar="FILE", help="Where answers are kept.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Keep no answer, and use none that is kept.")]


def models() -> None:
    """List the providers of language models: how each is named, what it can enforce, and what is missing.

    Nothing is imported and nobody is called. Exit code: 0.
    """
    raise typer.Exit(guarded(_models))


def _models() -> int:
    from plansafe.llm.models.providers import PROVIDERS  # noqa: PLC0415 - for this command alone
    from plansafe.verifier.extras import how_to_install  # noqa: PLC0415

    lines = ["--model PROVIDER/NAME, where PROVIDER is one of:"]
    for provider in PROVIDERS:
        runner = provider.runner
        there = "installed" if runner is provider else f"not installed: {how_to_install(provider.extra)}"
        if runner is not None and runner is not provider:
            there = f"run by llama.cpp, since transformers is {there}"
        lines += [
            "",
            f"{provider.form}",
            f"  {provider.about}",
            f"  enforces   {', '.join(_enforced(provider.capabilities)) or 'nothing'}",
            f"  reads      {provider.needs}",
            f"  status     {there if provider.packages else 'needs nothing more'}",
        ]
    standard_output().write("\n".join(lines) + "\n")
    return 0


def _enforced(known: Capabilities) -> Iterator[str]:
    if known.choice:
        yield "choices"
    elif known.gbnf:
        yield "choices (as a grammar)"
    elif known.json_schema:
        yield "choices (as a schema)"
    if known.gbnf or known.lark:
        yield f"grammars ({' and '.join([n for n, has in (('GBNF', known.gbnf), ('Lark', known.lark)) if has])})"
    if known.json_schema:
        yield "JSON schemas"
    if known.tokens:
        yield "a callback for each token"
    if known.score:
        yield "likelihoods of given texts"


def ask(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What to ask; `-` reads standard input.")],
    model: ModelName,
    base_url: BaseUrl = None,
    system: Annotated[str, typer.Option(metavar="TEXT", help="What is said before the question.")] = "",
    choice: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="The answer is one of these. Repeat it.")
    ] = None,
    max_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Of reasoning and answer together.")] = 1024,
    temperature: Annotated[float, typer.Option(min=0, max=10, help="0: always the likeliest.")] = 0.0,
    seed: Annotated[int | None, typer.Option(metavar="N", help="For providers that draw by it.")] = None,
    cache: CacheFile = None,
    no_cache: NoCache = False,
) -> None:
    """Ask a model one question: does it answer, and does it keep to a choice?

    The answer goes to standard output, what is known about it to standard error. Exit codes: 0 answered; 1 answered,
    but not with one of the choices; 2 no answer.
    """

    def work() -> int:
        from plansafe.llm.models.providers import Settings  # noqa: PLC0415 - for this command alone
        from plansafe.llm.models.request import Choice, Request, said  # noqa: PLC0415

        text = sys.stdin.buffer.read(_MOST_INPUT + 1).decode("utf-8", "replace") if prompt == "-" else prompt
        if len(text) > _MOST_INPUT or not text.strip():
            return complain(Diagnostic(SC.BAD_OPTION, "a question has text, and at most 4,000,000 characters of it"))
        if choice and (not all(choice) or len(set(choice)) < len(choice)):
            return complain(Diagnostic(SC.BAD_OPTION, "--choice takes different texts, none of them empty"))
        constraint = Choice(tuple(choice)) if choice else None
        request = Request(said(text, system), max_tokens, temperature, seed=seed, constraint=constraint)
        return _ask(model, Settings(base_url=base_url, connections=1), request, cache, not no_cache)

    raise typer.Exit(guarded(work))


def _ask(name: str, settings: Settings, request: Request, path: str | None, keep: bool) -> int:
    from plansafe.llm.models.batch import ask as ask_one  # noqa: PLC0415 - for this command alone
    from plansafe.llm.models.opening import opened  # noqa: PLC0415
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415

    try:
        with opened(name, settings, path, keep=keep) as (asked, cache):
            tell("waiting for the model ..")
            try:
                answer = ask_one(asked, request, cache)
            finally:
                tell("")
    except ModelError as error:
        return complain(error.diagnostic)
    print_text(answer.text if answer.text.endswith("\n") else answer.text + "\n")
    remark([_about(answer), *answer.notes])
    return 0 if answer.met is not False else 1


def _about(answer: Answer) -> str:
    """What is known about an answer, on one line."""
    said = [f"{answer.model or 'the model'}, finish: {answer.finish}, form: {answer.enforced}"]
    if answer.met is False:
        said.append("which the answer does not have")
    if answer.prompt_tokens is not None:
        cached = f" ({answer.cached_tokens} cached)" if answer.cached_tokens else ""
        said.append(f"{answer.prompt_tokens} tokens in{cached}")
    if answer.completion_tokens is not None:
        said.append(f"{answer.completion_tokens} out")
    if answer.reasoning:
        said.append(f"{answer.reasoning} characters of reasoning cut")
    if answer.stored:
        said.append("from the cache")
    return ", ".join(said)
