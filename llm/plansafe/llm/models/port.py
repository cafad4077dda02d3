"""What every provider offers, and what goes wrong with one: the port that the rest of the front-end sees.

What providers without tokens or probabilities of their own share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.answer import Answer, Score
from plansafe.llm.models.request import Request, Situation

LogitsMask = Callable[[Sequence[int]], Sequence[int] | None]
"""From the tokens generated before to the allowed next tokens; None: any, empty: the answer ends here."""

Policy = Callable[[Situation], str]
"""What a mock answers in a situation: the next step where steps are asked for, else a whole plan."""


class ModelError(Exception):
    """A model gave no answer. ``fatal``: it would give none to any other request either."""

    def __init__(self, diagnostic: Diagnostic, fatal: bool = False) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic
        self.fatal = fatal


class Cancelled(Exception):
    """The run was interrupted while a call waited; nothing was answered."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a provider enforces or does by itself. ``tokens``: it takes a :data:`LogitsMask`."""

    choice: bool = False
    gbnf: bool = False
    lark: bool = False
    json_schema: bool = False
    tokens: bool = False
    score: bool = False
    seed: bool = False


class Vocabulary(Protocol):
    """The tokens of a local model: what a mask is made of."""

    @property
    def end(self) -> int:
        """The token that ends an answer."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, without marks for its beginning or end."""

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of some tokens."""


class Model(Protocol):
    """A language model, or a substitute. Calls may come from several threads."""

    @property
    def identity(self) -> str:
        """What its answers are kept under: provider, name, place, weights. Never a key."""

    @property
    def capabilities(self) -> Capabilities:
        """The constraints that it enforces."""

    @property
    def connections(self) -> int:
        """How many calls it takes at once."""

    @property
    def keeps(self) -> bool:
        """Whether its answers are worth keeping: mocks and recorded answers are not."""

    @property
    def vocabulary(self) -> Vocabulary | None:
        """Its tokens, where it takes a mask."""

    def answer(self, request: Request, mask: LogitsMask | None = None) -> Answer:
        """Answer one request.

        Raises :class:`ModelError` if the model gives no answer, :class:`Cancelled` after :meth:`cancel`, and
        ``ValueError`` for a mask together with a constraint.
        """

    def score(self, request: Request, texts: Sequence[str]) -> list[Score]:
        """How likely each text is as the whole answer, its end included. Raises :class:`ModelError`."""

    def cancel(self) -> None:
        """Let calls that wait for another try give up."""

    def close(self) -> None:
        """Let go of connections and memory."""


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
