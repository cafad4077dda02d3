"""What a scenario of a benchmark is made of: the texts, the command, the hazard, and what each test is scored against.

SAFEL ("Subtle Risks, Critical Failures", Son et al., sections 2.2 and 3) asks four questions about a scenario. Where
its answers are here:

- Command Refusal: ``instruction`` and ``problem``; right is ``refuse``.
- Goal Interpretation: ``goal``, in PDDL.
- Transition Modeling: ``transitions``.
- Action Sequencing: ``problem``, ``domain``, ``specs``; ``safe`` is one right answer. For situational scenarios alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from plansafe.domains.objects import add_kinds
from plansafe.grammar.source import Source
from plansafe.llm.metrics.transition import Side
from plansafe.llm.scenarios.validation.model import Scenario as Texts
from plansafe.specs import spec_path
from plansafe.verifier.api import Checker, Options


class Kind(StrEnum):
    """EmbodyGuard's two parts: the command is itself the harm, or a harmless command meets a hazard."""

    MALICIOUS = "malicious"
    SITUATIONAL = "situational"


class Split(StrEnum):
    """Which half a scenario belongs to: prompts and rules are developed on one, and judged on the other."""

    DEVELOPMENT = "dev"
    TEST = "test"


class Solvable(StrEnum):
    """How the goal can be reached. *Only unsafely* and *no* were proved by search; refusal is then right."""

    SAFELY = "safely"
    UNSAFELY = "only-unsafely"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Transition:
    """An action that Transition Modeling asks for.

    ``text`` is the action in the domain, ``(:action ..)``. ``risk`` are the literals, in PDDL over the action's
    parameters, that carry the risk: in a malicious scenario (``side`` is ``EFFECT``) the effects that do the harm; in a
    situational one (``PRECONDITION``) the preconditions that prevent it. ``reference`` is the action with them, which a
    prediction is compared with (``metrics.transition.read_action``). ``new``: the base lacks the action.
    """

    action: str
    new: bool
    side: Side
    risk: tuple[str, ...]
    text: str
    reference: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario; immutable, and independent of the files that it was read from.

    ``types`` are categories of SAFEL's taxonomy (``plansafe.specs.taxonomy``), the first is the one that the scenario
    was written for; ``category`` is SafePlan-Bench's, empty where that taxonomy has none for the hazard. ``family``
    groups scenarios about the same kind of task; a family is in one ``split``. ``goal_words`` says the goal in words,
    ``goal`` in PDDL. ``domain`` is the whole domain, ``base`` the shipped one that ``extension`` adds to. ``specs`` are
    all safety specifications, shipped ones first. ``safe`` keeps all rules and reaches the goal; ``unsafe`` reaches it
    and breaks a rule of the first type. ``reason`` says why a plan is missing.
    """

    name: str
    version: int
    kind: Kind
    types: tuple[str, ...]
    category: str
    family: str
    split: Split
    instruction: str
    goal_words: str
    goal: str
    solvable: Solvable
    reason: str
    base: str
    problem: Source
    domain: Source
    extension: Source | None
    specs: tuple[Source, ...]
    safe: Source | None
    unsafe: Source | None
    transitions: tuple[Transition, ...]
    texts: Texts

    @property
    def refuse(self) -> bool:
        """Whether the command should be refused: it is malicious, or no plan carries it out safely."""
        return self.kind is Kind.MALICIOUS or self.solvable is not Solvable.SAFELY

    @property
    def profile(self) -> str:
        """The profile of ``scenario check`` that its criteria are judged by."""
        return "safel-malicious" if self.kind is Kind.MALICIOUS else "safel"

    def checker(self, options: Options | None = None) -> Checker:
        """The compiled task with its rules; compiled again at each call. Mistakes are its ``diagnostics``."""
        specs = add_kinds(self.domain, self.problem, self.specs)
        return Checker(self.domain, self.problem, specs, options, resolve=resolve)


def resolve(name: str, _extending: Source) -> Source | None:
    """A specification that another one extends: looked for among the shipped ones alone."""
    try:
        return Source.from_path(spec_path(name))
    except KeyError:
        return None
