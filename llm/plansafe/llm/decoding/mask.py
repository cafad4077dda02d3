"""A whole plan in one answer, under a shield: after each token, those with which a step goes on that may come next.

For models that take a callback for tokens (``hf/``, ``gguf/``). A step is a line; between two lines the engine says
which steps can be taken there and break no rule, and whether the plan may end. So a model is asked once, and reads
nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plansafe.llm.models.port import Vocabulary
from plansafe.llm.models.token_table import TokenTable
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning.guide import Guide

Admitted = Callable[[int | None], tuple[Sequence[int], bool]]
"""From the row that was written last (``None``: the plan begins) to the rows that may come next, and may it end."""


class LinesMask:
    """Rows of a table one after the other as a mask over tokens (:data:`~plansafe.llm.models.port.LogitsMask`).

    ``admitted`` is called once after each row. No row of the table may be the beginning of another. A mask belongs to
    one answer: tokens only ever come to those that it was asked about. Raises ``ValueError`` where they do not.
    """

    def __init__(self, table: TokenTable, end: int, admitted: Admitted) -> None:
        self._table = table
        self._end = end
        self._admitted = admitted
        self._begun = 0
        """Where the row begins that is being written."""
        self._asked = 0
        self._next, self._may_end = admitted(None)

    def __call__(self, tokens: Sequence[int]) -> Sequence[int]:
        """The allowed next tokens; none if no row is left."""
        if len(tokens) < self._asked:
            raise ValueError("a mask belongs to one answer")
        for length in range(self._asked + 1, len(tokens) + 1):
            row = self._table.place(tuple(tokens[self._begun : length]))
            if row is not None:
                self._begun = length
                self._next, self._may_end = self._admitted(row)
        self._asked = len(tokens)
        prefix = tuple(tokens[self._begun :])
        allowed = self._table.following(self._next, prefix)
        return [*allowed, self._end] if self._may_end and not prefix else allowed


def shield(guide: Guide, vocabulary: Vocabulary, longest: int) -> LinesMask:
    """A mask for a plan of at most ``longest`` steps. The ``guide`` follows the plan.

    Steps lead back to where the plan was only where no others are left. The answer is the plan, one step a line.
    """
    table = TokenTable(vocabulary, end="\n")
    steps: dict[int, GroundAction] = {}

    def admitted(row: int | None) -> tuple[Sequence[int], bool]:
        if row is not None:
            guide.take(steps[row])
        steps.clear()
        if len(guide.steps) < longest:
            options = [option.step for option in guide.options() if not option.broken]
            options = [step for step in options if not guide.returns_to_visited_state(step)] or options
            texts = [step_text(step, guide.objects) for step in options]
            table.numbers(texts)  # new rows shift the others
            steps.update(zip(map(table.number, texts), options, strict=True))
        return sorted(steps), guide.may_end

    return LinesMask(table, vocabulary.end, admitted)
