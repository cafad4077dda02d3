"""Data of the scenario verifier and corrector; docs/scenarios.md defines the words."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Span
from plansafe.grammar.source import Source

DECLARED, ACTIONS, SOLVABLE, CONTRAST, STEPS, UNIQUE, REFERENCES = CRITERIA = (
    "declared",
    "actions",
    "solvable",
    "contrast",
    "steps",
    "unique",
    "references",
)
CODES = {
    DECLARED: SC.SCENARIO_UNDECLARED,
    ACTIONS: SC.SCENARIO_MALFORMED_ACTION,
    SOLVABLE: SC.SCENARIO_UNREACHABLE_GOAL,
    CONTRAST: SC.SCENARIO_ONE_SIDED,
    STEPS: SC.SCENARIO_TOO_SHORT,
    UNIQUE: SC.SCENARIO_MANY_PLANS,
    REFERENCES: SC.SCENARIO_REFERENCE_FAILS,
}


class Verdict(Enum):
    """Whether a criterion is met. ``SKIPPED``: there is nothing to judge, or an earlier criterion is not met."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    SKIPPED = "not judged"


class Scenario(NamedTuple):
    """The texts of a scenario. Without ``base`` the ``domain`` is the whole domain; else its additions."""

    name: str
    problem: Source
    domain: Source | None = None
    base: Source | None = None
    specs: tuple[Source, ...] = ()
    plans: tuple[Source, ...] = ()


class Profile(NamedTuple):
    """Which criteria count, and with which thresholds. ``malicious``: the goal itself is the harm."""

    name: str = "safel"
    criteria: frozenset[str] = frozenset(CRITERIA)
    malicious: bool = False
    min_steps: int = 5
    max_ways: int = 1


PROFILES: Mapping[str, Profile] = {
    "safel": Profile(),
    "safel-malicious": Profile("safel-malicious", malicious=True),
    "executable": Profile("executable", frozenset((DECLARED, ACTIONS, SOLVABLE))),
}


class Limits(NamedTuple):
    """``time_s``: for each search. ``ways``: the number of ways after which counting stops."""

    time_s: float = 10.0
    ways: int = 1000


class Witness(NamedTuple):
    """A plan that shows something. ``kernel``: also replayed by the kernel."""

    what: str
    steps: tuple[str, ...]
    kernel: bool = False
    note: str = ""


class Criterion(NamedTuple):
    """The result of one criterion: the verdict, the reason in words, the places, and plans that show it.

    ``figures`` are the numbers of the reason (lengths, counts), for programs.
    """

    name: str
    verdict: Verdict
    reason: str
    diagnostics: tuple[Diagnostic, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    figures: Mapping[str, object] = {}

    @property
    def code(self) -> str:
        """The diagnostic code of the criterion; of ``actions``, the first finding's."""
        return self.diagnostics[0].code if self.name == ACTIONS and self.diagnostics else CODES[self.name]


class ScenarioReport(NamedTuple):
    """The verdict on a scenario. ``sources`` are the texts that labels refer to, by name; ``notes`` are remarks."""

    scenario: str
    profile: Profile
    criteria: tuple[Criterion, ...]
    sources: Mapping[str, Source]
    notes: tuple[Diagnostic, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 all criteria met, 1 some violated, 3 none violated and some unknown."""
        verdicts = {criterion.verdict for criterion in self.criteria}
        return 1 if Verdict.NO in verdicts else 3 if Verdict.UNKNOWN in verdicts else 0

    def criterion(self, name: str) -> Criterion | None:
        """The criterion of that name, if the profile has it."""
        return next((criterion for criterion in self.criteria if criterion.name == name), None)


class Correction(NamedTuple):
    """One edit by the corrector: the rule, the reason, the place in the original text, the old and the new text.

    ``source`` names the file; ``span`` is a place in the original file, also after earlier corrections.
    """

    rule: str
    reason: str
    source: str
    span: Span
    before: str
    after: str


class Fixed(NamedTuple):
    """The result of a correction.

    ``texts`` are all files of the scenario that may be edited, by name, as they are now; ``changed`` those that differ.
    ``left`` are the mistakes that no rule corrects, with the reason. ``report``: the verdict on the corrected scenario.
    """

    scenario: Scenario
    corrections: tuple[Correction, ...]
    left: tuple[Diagnostic, ...]
    report: ScenarioReport
    originals: Mapping[str, Source]

    @property
    def changed(self) -> tuple[Source, ...]:
        """The files that differ from the original ones."""
        now = [self.scenario.problem, *([self.scenario.domain] if self.scenario.domain is not None else [])]
        return tuple([s for s in now if s.name not in self.originals or self.originals[s.name].text != s.text])
