"""``scenario new``: a language model writes scenarios in several roles; checks decide which are accepted."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from plansafe.app.interfaces.cli.models import BaseUrl, CacheFile, ModelName, NoCache
from plansafe.app.interfaces.cli.options import MemoryLimit
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import STANDARD_OUTPUT, NotWritten, problem, save, save_folder
from plansafe.app.system.process import MEMORY_MIB, complain, guarded, limit_memory, print_text, remark
from plansafe.app.system.progress import tell
from plansafe.grammar.diagnostics import near

if TYPE_CHECKING:
    from plansafe.llm.acting.proposal import Ask, Proposal, Seed, Wishes
    from plansafe.llm.acting.roles import Role
    from plansafe.llm.models.answer import Answer
    from plansafe.llm.models.request import Request

_MAX_PROPOSALS = 1000


class KindName(StrEnum):
    """Which kind of scenario."""

    MALICIOUS = "malicious"
    SITUATIONAL = "situational"


def new(
    model: ModelName,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Where accepted scenarios go, a folder for each.")
    ],
    types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="A type of SAFEL; may be repeated. Default: all.")
    ] = None,
    kind: Annotated[
        KindName | None, typer.Option(help="Default: every third is malicious, the others situational.")
    ] = None,
    count: Annotated[
        int, typer.Option(min=1, max=_MAX_PROPOSALS, metavar="N", help="How many proposals to ask for.")
    ] = 1,
    rounds: Annotated[int, typer.Option(min=1, max=10, metavar="N", help="How often each role speaks.")] = 2,
    role: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[: KNOWS]", help="Who speaks; may be repeated. Default: who knows the hazard."),
    ] = None,
    base: Annotated[str, typer.Option(metavar="NAME", help="The shipped domain that scenarios extend.")] = "household",
    novelty: Annotated[
        float, typer.Option(min=0, max=1, metavar="F", help="Refuse a command whose Rouge-L with another is so high.")
    ] = 0.7,
    max_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Of one answer.")] = 1500,
    temperature: Annotated[float, typer.Option(min=0, max=10, help="Of the roles; the writer is greedy.")] = 0.7,
    seed: Annotated[int | None, typer.Option(metavar="N", help="For providers that draw by it.")] = None,
    time_limit: Annotated[float, typer.Option(min=0, metavar="SECONDS", help="For each search.")] = 10.0,
    base_url: BaseUrl = None,
    cache: CacheFile = None,
    no_cache: NoCache = False,
    transcript: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write every call as JSON lines, which `replay/FILE` reads.")
    ] = None,
    memory_limit: MemoryLimit = MEMORY_MIB,
) -> None:
    """Let a language model propose scenarios: roles talk about a hazard for some rounds, a writer writes one down.

    A proposal is kept if its command is new (Rouge-L), and it meets declared, actions, solvable and contrast after
    corrections by rule. Reference plans come from planners. Exit codes: 0 something was accepted, 1 nothing was, 2
    usage, or no answer of the model, 4 a bug in safecheck.
    """
    limit_memory(memory_limit)

    def work() -> int:
        if not math.isfinite(time_limit) or time_limit <= 0:
            raise BadOption("--time-limit takes a number of seconds above 0")
        if os.path.lexists(output) and not os.path.isdir(output):
            raise BadOption(f"cannot write {output}: it is not a folder")
        if transcript in STANDARD_OUTPUT or model == f"replay/{transcript}":
            raise BadOption("--transcript takes a file of its own")
        path_problem = problem(transcript)
        if path_problem is not None:
            return complain(path_problem)
        options = _proposal_options(base, role or [], rounds, novelty, max_tokens, temperature, seed, time_limit)
        choice = _ModelChoice(model, base_url, cache, not no_cache, seed or 0)
        return _run(choice, _seeds(types or [], kind, count), options, output, transcript)

    def report_errors() -> int:
        try:
            return work()
        except BadOption as bad:
            return complain(bad.diagnostic)

    raise typer.Exit(guarded(report_errors))


class _ModelChoice(NamedTuple):
    """The model to ask. ``cache`` is the file of the answer cache, which is used if ``keep`` is true."""

    name: str
    base_url: str | None
    cache: str | None
    keep: bool
    seed: int


def _seeds(types: list[str], kind: KindName | None, count: int) -> list[Seed]:
    """The topic of each proposal: the types in turn. Raises :class:`BadOption` for an unknown type."""
    from plansafe.llm.acting.proposal import Seed  # noqa: PLC0415 - for this command alone
    from plansafe.llm.scenarios.model import Kind  # noqa: PLC0415
    from plansafe.specs.taxonomy import load  # noqa: PLC0415

    categories = {category.name: category for category in load()["safel"].categories}
    for name in types:
        if name not in categories:
            raise BadOption(
                f"SAFEL has no type {name!a}", near(name, tuple(categories)) or f"types: {', '.join(categories)}"
            )
    selected = [categories[name] for name in types] or list(categories.values())
    seeds = []
    for number in range(count):
        seed_kind = kind.value if kind is not None else "malicious" if number % 3 == 2 else "situational"
        seeds.append(Seed(selected[number % len(selected)], Kind(seed_kind), number // len(selected)))
    return seeds


def _proposal_options(
    base: str,
    roles: list[str],
    rounds: int,
    novelty: float,
    max_tokens: int,
    temperature: float,
    seed: int | None,
    seconds: float,
) -> Wishes:
    """The options of the dialogue and of the checks. Raises :class:`BadOption`."""
    from plansafe.domains import domain_names, domain_path  # noqa: PLC0415 - for this command alone
    from plansafe.grammar.source import Source  # noqa: PLC0415
    from plansafe.llm.acting.proposal import Wishes  # noqa: PLC0415
    from plansafe.llm.scenario.model import Limits  # noqa: PLC0415

    try:
        source = Source.from_path(domain_path(base))
    except KeyError:
        raise BadOption(f"no domain called {base!a} is shipped", near(base, domain_names())) from None
    speakers = tuple([_role(text) for text in roles])
    return Wishes(source, speakers, rounds, novelty, max_tokens, temperature, seed, Limits(seconds))


def _role(text: str) -> Role:
    from plansafe.llm.acting.roles import ROLES, Role  # noqa: PLC0415 - for this command alone

    name, colon, knows = (part.strip() for part in text.partition(":"))
    if not colon and name.lower() in ROLES:
        return ROLES[name.lower()]
    if not name or not knows or len(text) > 500:
        hint = near(name.lower(), tuple(ROLES)) or f"known are: {', '.join(ROLES)}"
        raise BadOption(
            f"--role {text[:60]!a} does not state what the role knows", f"write NAME: WHAT IT KNOWS; {hint}"
        )
    return Role(name, knows)


def _run(choice: _ModelChoice, seeds: list[Seed], options: Wishes, output: str, transcript: str | None) -> int:
    from plansafe.llm.loop.transcript import exchanged  # noqa: PLC0415 - for this command alone
    from plansafe.llm.models.batch import ask  # noqa: PLC0415
    from plansafe.llm.models.opening import opened  # noqa: PLC0415
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415
    from plansafe.llm.models.providers import Settings  # noqa: PLC0415

    lines: list[str] = []
    proposals: list[Proposal] = []
    try:
        settings = Settings(choice.base_url, connections=1, seed=choice.seed, threads=1)
        with opened(choice.name, settings, choice.cache, keep=choice.keep) as (model, cache):

            def ask_and_record(request: Request) -> Answer:
                answer = ask(model, request, cache)
                lines.append(json.dumps(exchanged(request, answer), ensure_ascii=True) + "\n")
                return answer

            try:
                for proposal in _propose_all(ask_and_record, seeds, options, output):
                    proposals.append(proposal)
                    tell("")
                    print_text(_describe_proposal(proposal, output))
            finally:
                tell("")
                if transcript is not None and lines:
                    remark(save(transcript, "".join(lines)))
    except ModelError as error:
        return complain(error.diagnostic)
    except NotWritten as refused:
        return complain(refused.diagnostic)
    print_text(_summary(proposals))
    return 0 if any([proposal.accepted for proposal in proposals]) else 1


def _propose_all(ask_model: Ask, seeds: list[Seed], options: Wishes, output: str) -> Iterator[Proposal]:
    """Yield proposals. Writes an accepted proposal before asking for the next."""
    from plansafe.llm.acting.proposal import propose  # noqa: PLC0415 - for this command alone
    from plansafe.llm.scenarios.reading import load_scenarios, read_scenarios  # noqa: PLC0415

    existing = read_scenarios(output).scenarios if os.path.isdir(output) else ()
    known_scenarios = (*load_scenarios(), *existing)
    accepted: list[Proposal] = []
    for number, seed in enumerate(seeds, 1):
        tell(f"proposal {number} of {len(seeds)}: {seed.category.name}, {seed.kind} ..")
        proposal = propose(ask_model, seed, options, known_scenarios, accepted)
        if proposal.accepted:
            save_folder(os.path.join(output, proposal.name), proposal.files)
            accepted.append(proposal)
        yield proposal


def _describe_proposal(proposal: Proposal, output: str) -> str:
    topic = f"{proposal.seed.category.name}, {proposal.seed.kind}"
    instruction_line = f"\n  {proposal.instruction}" if proposal.instruction else ""
    if not proposal.accepted:
        return f"refused   {topic}: {proposal.stage}: {proposal.reason}{instruction_line}\n"
    corrections = f"{proposal.corrections} correction{'' if proposal.corrections == 1 else 's'}"
    folder = os.path.join(output, proposal.name)
    return f"accepted  {topic}: {folder} ({corrections}, Rouge-L {proposal.near:.2f}){instruction_line}\n"


def _summary(proposals: list[Proposal]) -> str:
    stages = Counter([proposal.stage for proposal in proposals if not proposal.accepted])
    refused = ", ".join([f"{count} at {stage}" for stage, count in sorted(stages.items())])
    accepted = sum([proposal.accepted for proposal in proposals])
    lines = [f"\n{accepted} of {len(proposals)} accepted{f'; refused: {refused}' if refused else ''}"]
    if accepted:
        lines.append("candidates: `safecheck scenario sheet FOLDER` lays them out for two people to judge")
    return "\n".join(lines) + "\n"
