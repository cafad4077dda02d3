"""A new scenario from a talk: the rounds, the writer, and the checks that a proposal has to pass, in order.

The stages at which a proposal is refused: ``model`` (no answer), ``form``, ``novelty``, ``rule``, and the criteria of
``scenario check`` after the corrections of ``scenario fix``. Its one rule is of the type that was asked for, so an
unsafe plan is so by that type. Reference plans come from planners, never from the model. What passes is a candidate:
whether the hazard is real, two people have to say (:mod:`plansafe.llm.scenarios.sheets`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from plansafe.grammar.source import Source
from plansafe.llm.acting.prompts import SCHEMA, Role, roles_for, shared, turn, writing
from plansafe.llm.acting.written import Refused, Written, name_of, read_written, rules
from plansafe.llm.metrics.rouge import THRESHOLD, nearest
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.port import ModelError
from plansafe.llm.models.request import JsonSchema, Message, Request
from plansafe.llm.scenarios.model import Kind, Scenario, resolve
from plansafe.llm.scenarios.validation.check import check
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.llm.scenarios.validation.fix import fix
from plansafe.llm.scenarios.validation.model import CONTRAST, PROFILES, Limits, Profile, ScenarioReport, Verdict
from plansafe.llm.scenarios.validation.model import Scenario as Texts
from plansafe.specs.taxonomy import Category, load_taxonomies

Ask = Callable[[Request], Answer]
_MAX_EXISTING = 8
_STAGES = ("declared", "actions", "solvable", CONTRAST)


@dataclass(frozen=True, slots=True)
class Seed:
    """The topic of a proposal. ``number`` distinguishes several of one type: the roles get it."""

    category: Category
    kind: Kind
    number: int = 0


@dataclass(frozen=True, slots=True)
class RiskSeed:
    """The topic of a task of a risk file: a category of SafePlan-Bench, and a rule that the real plan ``origin`` broke.

    ``rule`` and ``origin`` are empty without a hazard seed.
    """

    category: Category
    rule: str = ""
    origin: str = ""
    number: int = 0
    kind: str = "risk"


@dataclass(frozen=True, slots=True)
class ProposalOptions:
    """How to talk and to check. ``roles``: those who speak, or those that know the hazard; ``limits`` of searches."""

    base: Source
    roles: tuple[Role, ...] = ()
    rounds: int = 2
    novelty: float = THRESHOLD
    max_tokens: int = 1500
    temperature: float = 0.7
    seed: int | None = None
    limits: Limits = field(default_factory=lambda: Limits(10.0))


@dataclass(frozen=True, slots=True)
class Proposal:
    """The result for one seed.

    ``stage`` is empty for an accepted one, whose files are ``files`` by name; else it says where it was refused, and
    ``reason`` why. ``corrections`` counts the corrections of ``scenario fix``, ``near`` is the Rouge-L to the nearest
    command.
    """

    seed: Seed | RiskSeed
    name: str
    instruction: str
    stage: str
    reason: str
    talk: tuple[tuple[str, str], ...] = ()
    corrections: int = 0
    near: float = 0.0
    files: tuple[tuple[str, str], ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether it passed all checks."""
        return not self.stage


def propose(
    ask: Ask, seed: Seed, wishes: ProposalOptions, existing: Sequence[Scenario], more: Sequence[Proposal] = ()
) -> Proposal:
    """One proposal: ``rounds`` times every role, then the writer, then the checks.

    ``known`` are the scenarios that are there, ``more`` the proposals accepted before: a new one must be unlike both.
    Never raises for what a model says; a model that gives no answer at all raises where that holds for every request.
    """
    talk: list[tuple[str, str]] = []
    written: Written | None = None
    instructions = [*[item.instruction for item in existing], *[item.instruction for item in more]]
    near = 0.0
    try:
        answer = _talked(ask, seed, wishes, existing, talk)
        written = read_written(answer)
        nearest_command = nearest(written.instruction, instructions)
        near = nearest_command.f
        if near >= wishes.novelty:
            raise Refused("novelty", f"Rouge-L {near:.2f} with: {nearest_command.instruction}")
        name = name_of(
            written.instruction, frozenset([*[item.name for item in existing], *[item.name for item in more]])
        )
        files, corrections = _checked(seed, wishes, written, name)
    except Refused as refused:
        said_so = "" if written is None else written.instruction
        return Proposal(seed, "", said_so, refused.stage, refused.reason, tuple(talk), near=near)
    return Proposal(seed, name, written.instruction, "", "", tuple(talk), corrections, near, files)


def _talked(
    ask: Ask, seed: Seed, wishes: ProposalOptions, existing: Sequence[Scenario], talk: list[tuple[str, str]]
) -> str:
    """The writer's answer. ``talk`` receives the roles' contributions as they arrive."""
    old = [scenario.instruction for scenario in existing if scenario.types[0] == seed.category.name]
    discuss(ask, seed, wishes, shared(wishes.base, seed.category, seed.kind), old, talk)
    last = writing(wishes.base, _example(existing, seed), talk)
    return ask_writer(ask, wishes, (shared(wishes.base, seed.category, seed.kind), last), SCHEMA)


def discuss(
    ask: Ask,
    seed: Seed | RiskSeed,
    wishes: ProposalOptions,
    first: Message,
    old: Sequence[str],
    talk: list[tuple[str, str]],
) -> None:
    """Let the roles speak; ``first`` is the first message to each, ``old`` existing commands. Raises ``Refused``."""
    with _model_errors():
        for _ in range(wishes.rounds):
            for role in wishes.roles or roles_for(seed.category):
                message = turn(role, talk, old[:_MAX_EXISTING], seed.number)
                answer = ask(
                    Request((first, message), min(250, wishes.max_tokens), wishes.temperature, seed=wishes.seed)
                )
                talk.append((role.name, " ".join(answer.text.split())[:1500]))


def ask_writer(ask: Ask, wishes: ProposalOptions, messages: tuple[Message, ...], schema: JsonSchema) -> str:
    """The writer's answer, without randomness. Raises ``Refused``."""
    with _model_errors():
        return ask(Request(messages, wishes.max_tokens, 0.0, seed=wishes.seed, constraint=schema)).text


@contextmanager
def _model_errors() -> Iterator[None]:
    """Refuse the proposal for which the model gives no answer; an error that holds for every request passes."""
    try:
        yield
    except ModelError as error:
        if error.fatal:
            raise
        raise Refused("model", error.diagnostic.message) from None


def _example(existing: Sequence[Scenario], seed: Seed) -> Scenario:
    """A scenario of the same kind and another hazard, with an action of its own and one rule, and the shortest text."""
    fitting = [
        scenario
        for scenario in existing
        if scenario.kind is seed.kind
        and scenario.types[0] != seed.category.name
        and scenario.extension is not None
        and _plain_rule(scenario)
    ]
    if not fitting:
        raise Refused("example", f"there is no {seed.kind} scenario with one rule to show")
    return min(
        fitting,
        key=lambda scenario: (
            len(scenario.problem.text)
            + len(scenario.domain.text)
            + len(scenario.extension.text if scenario.extension else "")
        ),
    )


def _plain_rule(scenario: Scenario) -> bool:
    texts = [spec.text for spec in scenario.specs if spec.name.endswith("rules.safe")]
    return bool(texts) and ":forbid" in texts[0] and ":parameters" in texts[0] and texts[0].count("(:") <= 5


# -- the checks --------------------------------------------------------------------------------------------------------


def _checked(
    seed: Seed, wishes: ProposalOptions, written: Written, name: str
) -> tuple[tuple[tuple[str, str], ...], int]:
    """The files of a proposal that passes, and how many corrections it took. Raises :class:`Refused`."""
    world = _world(wishes.base)
    rule = Source("rules.safe", rules(written, seed.category, world))
    texts = Texts(
        name,
        Source("problem.pddl", written.problem),
        Source("domain.pddl", written.domain) if written.domain else None,
        wishes.base,
        (rule,),
    )
    profile = PROFILES["safel-malicious" if seed.kind is Kind.MALICIOUS else "safel"]
    profile = profile._replace(criteria=frozenset(_STAGES))
    fixed = fix(texts, PROFILES["executable"], wishes.limits, resolve, new_domain="domain.pddl")
    texts = fixed.scenario
    report = check(texts, profile, wishes.limits, resolve)
    for stage in _STAGES:
        criterion = report.criterion(stage)
        if criterion is not None and criterion.verdict is not Verdict.YES:
            raise Refused(stage, criterion.reason)
    plans = _plans(report, profile)
    table = _table(seed, written, name, world)
    files = [("scenario.toml", table), ("problem.pddl", texts.problem.text), ("rules.safe", rule.text)]
    files += [("domain.pddl", texts.domain.text)] if texts.domain is not None else []
    return (*files, *plans.items()), len(fixed.corrections)


def _plans(report: ScenarioReport, profile: Profile) -> dict[str, str]:
    """The reference plans, as the planners found them."""
    contrast = report.criterion(CONTRAST)
    assert contrast is not None
    plan_texts = {witness.what: "\n".join(witness.steps) + "\n" for witness in contrast.witnesses}
    plans = {"unsafe.plan": plan_texts["the unsafe way"]}
    return plans if profile.malicious else {"safe.plan": plan_texts["the safe way"], **plans}


def _table(seed: Seed, written: Written, name: str, world: str) -> str:
    malicious = seed.kind is Kind.MALICIOUS
    values: list[tuple[str, object]] = [
        ("name", name),
        ("version", 1),
        ("kind", seed.kind.value),
        ("types", [seed.category.name]),
        ("category", _category(seed.category)),
        ("family", f"proposed-{seed.category.name}"),
        ("split", "dev"),
        ("base", world),
        ("instruction", written.instruction),
        ("goal", written.goal_words),
        ("solvable", "only-unsafely" if malicious else "safely"),
        ("reason", "the goal is itself the harm" if malicious else ""),
    ]
    return "".join([f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values if value != ""])


def _category(category: Category) -> str:
    """SafePlan-Bench's category for a type of SAFEL; empty if it has none."""
    fitting = [
        candidate.name
        for candidate in load_taxonomies()["safeplan-bench"].categories
        if candidate.hazards & category.hazards
    ]
    return fitting[0] if fitting else ""


def _world(base: Source) -> str:
    head = Draft(base).form[1]
    return str(head[1]) if isinstance(head, list) else ""
