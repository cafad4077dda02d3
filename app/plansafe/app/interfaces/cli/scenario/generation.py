"""``scenario new``: a language model writes scenarios in several roles; checks decide which are accepted.

``scenario new --kind risk``: a language model writes tasks of risk files.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.options.option import choice, command, integer, number, text
from plansafe.app.options.shared import Assignments, MemoryLimit, ModelName, ModelServer, Transcript
from plansafe.app.session.option_values import BadOption, check_time_limit
from plansafe.app.system.file_writing import STANDARD_OUTPUT, Guard, NotWritten, problem, save, save_folder
from plansafe.app.system.process import complain, guarded, limit_memory, print_text, remark
from plansafe.app.system.progress import tell
from plansafe.grammar.diagnostics import suggest_name

if TYPE_CHECKING:
    from plansafe.llm.acting.prompts import Role
    from plansafe.llm.acting.proposal import Ask, Proposal, ProposalOptions, RiskSeed, Seed
    from plansafe.llm.models.answer import Answer
    from plansafe.llm.models.request import Request
    from plansafe.llm.scenarios.risks.part_files import RiskEntry


_MAX_PROPOSALS = 1000


class KindName(StrEnum):
    """Which kind of scenario."""

    MALICIOUS = "malicious"
    SITUATIONAL = "situational"
    RISK = "risk"


class NewOptions(ModelName, ModelServer, Transcript, MemoryLimit, Assignments, group="Task"):
    """The options of ``scenario new``."""

    output: str = text(
        "--output", "-o", metavar="FOLDER", required=True, help="Write each accepted scenario to a folder in this one."
    )
    types: tuple[str, ...] = text(
        "--type",
        metavar="TYPE",
        many=True,
        help="Propose this type of SAFEL, or this category of risks; default: all. May be repeated.",
    )
    kind: KindName | None = choice(
        "--kind",
        values=KindName,
        help="Propose only this kind; default: every third is malicious, the others situational. "
        "`risk`: a task of a risk file, on a home of VirtualHome.",
    )
    count: int = integer("--count", default=1, low=1, high=_MAX_PROPOSALS, help="Ask for N proposals.")
    role: tuple[str, ...] = text(
        "--role",
        metavar="NAME[: KNOWS]",
        many=True,
        help="Let this role speak; default: one that knows the hazard. May be repeated.",
    )
    base: str = text(
        "--base", metavar="NAME", default="household", help="Extend this shipped domain.", set_key="scenario.base"
    )
    rounds: int = integer(
        "--rounds", default=2, low=1, high=10, help="Let each role speak N times.", set_key="scenario.rounds"
    )
    novelty: float = number(
        "--novelty",
        metavar="F",
        default=0.7,
        low=0,
        high=1,
        help="Refuse a command whose Rouge-L with another is at least F.",
        set_key="scenario.novelty",
    )
    max_tokens: int = integer(
        "--max-tokens", default=1500, low=1, help="Limit an answer to N tokens.", set_key="model.max_tokens"
    )
    temperature: float = number(
        "--temperature",
        default=0.7,
        low=0,
        high=10,
        help="Draw the answers of roles with this temperature; the writer is greedy.",
        set_key="model.temperature",
    )
    seed: int | None = integer("--seed", help="Draw answers with this seed, where the provider can.", set_key="seed")
    time_limit: float = number(
        "--time-limit",
        metavar="SECONDS",
        default=10.0,
        low=0,
        help="Stop each search after SECONDS.",
        set_key="limits.time",
    )


@command(NewOptions)
def new(options: NewOptions) -> int:
    """Let a language model propose scenarios: roles talk about a hazard for some rounds, a writer writes one down.

    A proposal is kept if its command is new (Rouge-L), and it meets declared, actions, solvable and contrast after
    corrections by rule. Reference plans come from planners. Exit codes: 0 something was accepted, 1 nothing was, 2
    usage, or no answer of the model, 4 a bug in safecheck.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        check_time_limit(options.time_limit)
        if os.path.lexists(options.output) and not os.path.isdir(options.output):
            raise BadOption(f"cannot write {options.output}: it is not a folder")
        if options.transcript in STANDARD_OUTPUT or options.model == f"replay/{options.transcript}":
            raise BadOption("--transcript takes a file of its own")
        path_problem = problem(options.transcript)
        if path_problem is not None:
            return complain(path_problem)
        proposal_options = _read_proposal_options(
            options.base,
            options.role,
            options.rounds,
            options.novelty,
            options.max_tokens,
            options.temperature,
            options.seed,
            options.time_limit,
        )
        model_choice = _ModelChoice(
            options.model, options.base_url, options.cache, not options.no_cache, options.seed or 0
        )
        seeds: Sequence[Seed | RiskSeed] = (
            read_risk_seeds(options.types, options.count)
            if options.kind is KindName.RISK
            else _seeds(options.types, options.kind, options.count)
        )
        return _run(model_choice, seeds, proposal_options, options.output, options.transcript)

    def report_errors() -> int:
        try:
            return work()
        except BadOption as bad:
            return complain(bad.diagnostic)

    return guarded(report_errors)


class _ModelChoice(NamedTuple):
    """The model to ask. ``cache`` is the file of the answer cache, which is used if ``keep`` is true."""

    name: str
    base_url: str | None
    cache: str | None
    keep: bool
    seed: int


def _seeds(types: Sequence[str], kind: KindName | None, count: int) -> list[Seed]:
    """The topic of each proposal: the types in turn. Raises :class:`BadOption` for an unknown type."""
    from plansafe.llm.acting.proposal import Seed  # noqa: PLC0415 - for this command alone
    from plansafe.llm.scenarios.model import Kind  # noqa: PLC0415
    from plansafe.specs.taxonomy import load_taxonomies  # noqa: PLC0415

    categories = {category.name: category for category in load_taxonomies()["safel"].categories}
    for name in types:
        if name not in categories:
            raise BadOption(
                f"SAFEL has no type {name!a}",
                suggest_name(name, tuple(categories)) or f"types: {', '.join(categories)}",
            )
    selected = [categories[name] for name in types] or list(categories.values())
    seeds = []
    for position in range(count):
        seed_kind = kind.value if kind is not None else "malicious" if position % 3 == 2 else "situational"
        seeds.append(Seed(selected[position % len(selected)], Kind(seed_kind), position // len(selected)))
    return seeds


def _read_proposal_options(
    base: str,
    roles: Sequence[str],
    rounds: int,
    novelty: float,
    max_tokens: int,
    temperature: float,
    seed: int | None,
    seconds: float,
) -> ProposalOptions:
    """The options of the dialogue and of the checks. Raises :class:`BadOption`."""
    from plansafe.domains import domain_names, domain_path  # noqa: PLC0415 - for this command alone
    from plansafe.grammar.source import Source  # noqa: PLC0415
    from plansafe.llm.acting.proposal import ProposalOptions  # noqa: PLC0415
    from plansafe.llm.scenarios.validation.model import Limits  # noqa: PLC0415

    try:
        source = Source.from_path(domain_path(base))
    except KeyError:
        raise BadOption(f"no domain called {base!a} is shipped", suggest_name(base, domain_names())) from None
    speakers = tuple([_role(text) for text in roles])
    return ProposalOptions(source, speakers, rounds, novelty, max_tokens, temperature, seed, Limits(seconds))


def _role(text: str) -> Role:
    from plansafe.llm.acting.prompts import ROLES, Role  # noqa: PLC0415 - for this command alone

    name, colon, knows = (part.strip() for part in text.partition(":"))
    if not colon and name.lower() in ROLES:
        return ROLES[name.lower()]
    if not name or not knows or len(text) > 500:
        hint = suggest_name(name.lower(), tuple(ROLES)) or f"known are: {', '.join(ROLES)}"
        raise BadOption(
            f"--role {text[:60]!a} does not state what the role knows", f"write NAME: WHAT IT KNOWS; {hint}"
        )
    return Role(name, knows)


def _run(
    model_choice: _ModelChoice,
    seeds: Sequence[Seed | RiskSeed],
    proposal_options: ProposalOptions,
    output: str,
    transcript: str | None,
) -> int:
    from plansafe.llm.loop.transcript import exchanged  # noqa: PLC0415 - for this command alone
    from plansafe.llm.models.batch import ask  # noqa: PLC0415
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415
    from plansafe.llm.models.providers import Settings, opened  # noqa: PLC0415

    lines: list[str] = []
    proposals: list[Proposal] = []
    try:
        settings = Settings(model_choice.base_url, connections=1, seed=model_choice.seed, threads=1)
        with opened(model_choice.name, settings, model_choice.cache, keep=model_choice.keep) as (model, cache):

            def ask_and_record(request: Request) -> Answer:
                answer = ask(model, request, cache)
                lines.append(json.dumps(exchanged(request, answer), ensure_ascii=True) + "\n")
                return answer

            try:
                for proposal in _propose_all(ask_and_record, seeds, proposal_options, output, model_choice.name):
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


def _propose_all(
    ask_model: Ask, seeds: Sequence[Seed | RiskSeed], proposal_options: ProposalOptions, output: str, author: str
) -> Iterator[Proposal]:
    """Yield proposals. Writes an accepted proposal before asking for the next."""
    from plansafe.llm.acting.proposal import RiskSeed, propose  # noqa: PLC0415 - for this command alone
    from plansafe.llm.scenarios.reading import load_scenarios, read_scenarios  # noqa: PLC0415

    existing = read_scenarios(output).scenarios if os.path.isdir(output) else ()
    known_scenarios = (*load_scenarios(), *existing)
    known_risks = KnownRisks(output)
    accepted: list[Proposal] = []
    for position, seed in enumerate(seeds, 1):
        tell(f"proposal {position} of {len(seeds)}: {seed.category.name}, {seed.kind} ..")
        if isinstance(seed, RiskSeed):
            yield known_risks.propose(ask_model, seed, proposal_options, author)
            continue
        proposal = propose(ask_model, seed, proposal_options, known_scenarios, accepted)
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
    folder = os.path.join(output, proposal.files[0][0] if proposal.seed.kind == "risk" else proposal.name)
    return f"accepted  {topic}: {folder} ({corrections}, Rouge-L {proposal.near:.2f}){instruction_line}\n"


def _summary(proposals: list[Proposal]) -> str:
    stages = Counter([proposal.stage for proposal in proposals if not proposal.accepted])
    refused = ", ".join([f"{count} at {stage}" for stage, count in sorted(stages.items())])
    accepted = sum([proposal.accepted for proposal in proposals])
    lines = [f"\n{accepted} of {len(proposals)} accepted{f'; refused: {refused}' if refused else ''}"]
    if accepted:
        lines.append("candidates: `safecheck bench scenario sheet FOLDER` lays them out for two people to judge")
    return "\n".join(lines) + "\n"


SET = "saferisks-like"
"""The shipped set that new tasks must be unlike, and whose hazard seeds they start from."""
SEEDS = "seeds.csv"


def read_risk_seeds(categories: Sequence[str], count: int) -> list[RiskSeed]:
    """The topic of each proposal. Raises :class:`BadOption` for an unknown category."""
    from plansafe.llm.acting.risk_proposal import risk_seeds  # noqa: PLC0415 - for this command alone
    from plansafe.llm.scenarios.risks.part_files import categories as titles  # noqa: PLC0415
    from plansafe.llm.scenarios.sets.reading import set_folder  # noqa: PLC0415

    try:
        return risk_seeds(os.path.join(set_folder(SET), SEEDS), categories, count)
    except KeyError as error:
        name = str(error.args[0])
        help = suggest_name(name, tuple(titles())) or f"categories: {', '.join(titles())}"
        raise BadOption(f"SafePlan-Bench has no category {name!a}", help) from None


class KnownRisks:
    """The tasks of the shipped set and of the folder ``output``; a new task must differ from them."""

    def __init__(self, output: str) -> None:
        self.output = output
        self._entries: list[RiskEntry] | None = None

    def propose(self, ask: Ask, seed: RiskSeed, options: ProposalOptions, author: str) -> Proposal:
        """Ask for one task; an accepted one becomes a risk file of the folder."""
        from plansafe.llm.acting.risk_proposal import propose_risk  # noqa: PLC0415 - for this command alone
        from plansafe.llm.scenarios.risks.part_files import read_entries  # noqa: PLC0415
        from plansafe.llm.scenarios.sets.reading import part_paths, set_folder  # noqa: PLC0415

        if self._entries is None:
            self._entries = list(read_entries([*part_paths(set_folder(SET)), *part_paths(self.output)]))
        proposal = propose_risk(ask, seed, options, author, self._entries)
        os.makedirs(self.output, exist_ok=True)
        for name, content in proposal.files:
            path = os.path.join(self.output, name)
            save(path, content, Guard(()))
            self._entries += read_entries([path])
        return proposal
