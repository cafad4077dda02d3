"""``scenario new --kind risk``: a language model writes tasks of risk files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import Guard, save
from plansafe.grammar.diagnostics import suggest_name

if TYPE_CHECKING:
    from plansafe.llm.acting.proposal import Ask, Proposal, ProposalOptions, RiskSeed
    from plansafe.llm.scenarios.risks.part_files import RiskEntry

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
        for name, text in proposal.files:
            path = os.path.join(self.output, name)
            save(path, text, Guard(()))
            self._entries += read_entries([path])
        return proposal
