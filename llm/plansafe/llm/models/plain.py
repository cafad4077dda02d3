"""What providers without tokens or probabilities of their own share."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.answer import Score
from plansafe.llm.models.port import Capabilities, LogitsMask, ModelError, Vocabulary
from plansafe.llm.models.request import Request


class PlainModel:
    """A model that gives texts, and no more. ``label`` is what its provider is called in complaints."""

    def __init__(
        self, label: str, identity: str, capabilities: Capabilities, connections: int = 1, keeps: bool = False
    ) -> None:
        self.label = label
        self.identity = identity
        self.capabilities = capabilities
        self.connections = connections
        self.keeps = keeps
        self.vocabulary: Vocabulary | None = None

    def cancel(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is held."""

    def score(self, request: Request, texts: Sequence[str]) -> list[Score]:  # noqa: ARG002 - the port's
        """Refuse. Raises :class:`ModelError`."""
        raise unable(self.label, "compute the likelihood of a given text")

    def refuse(self, mask: LogitsMask | None) -> None:
        """Raise :class:`ModelError` if there is a mask."""
        if mask is not None:
            raise unable(self.label, "let the caller choose each token")


def unable(label: str, task: str) -> ModelError:
    """What a provider cannot do at all."""
    help = "`safecheck models` lists what each provider supports"
    return ModelError(Diagnostic(SC.MODEL_UNABLE, f"{label} cannot {task}", help=help), fatal=True)
