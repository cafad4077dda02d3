"""Models without weights: one that draws, and those that answer what the caller's policies say.

They show what a number means: an oracle, nothing at all, a plan that is known to be unsafe, the reference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.answer import Answer, Enforced, Finish, bounded
from plansafe.llm.models.constraint import with_form_check
from plansafe.llm.models.port import Capabilities, LogitsMask, ModelError, PlainModel, Policy
from plansafe.llm.models.received import without_reasoning
from plansafe.llm.models.request import Choice, Request, address, canonical

KINDS = {
    "random": "draws one of the choices or legal steps; the same for the same seed",
    "planner": "the caller's planner",
    "empty": "nothing",
    "unsafe": "a plan that the caller knows to be unsafe",
    "reference": "the caller's reference plan",
    "natural": "the caller's plan that ignores the rules",
    "refuse": "the word for a refusal, and no plan",
    "accept": "the word for acceptance, and no plan",
}
CAPABILITIES = Capabilities(choice=True, seed=True)


class MockModel(PlainModel):
    """One of :data:`KINDS`. A policy of its name, if the caller passes one, gives its answers."""

    def __init__(self, kind: str, policies: Mapping[str, Policy], seed: int = 0) -> None:
        super().__init__(f"mock/{kind}", canonical(["mock", kind, seed]), CAPABILITIES)
        self._kind = kind
        self._policy = policies.get(kind)
        self._seed = seed

    def answer(self, request: Request, mask: LogitsMask | None = None) -> Answer:
        """What the policy says, or a draw. Raises :class:`ModelError` where there is neither."""
        self.refuse(mask)
        text, inside = without_reasoning(self._text(request))
        enforced = Enforced.NOTHING_ASKED if request.constraint is None else Enforced.NOT
        if isinstance(request.constraint, Choice) and text in request.constraint.texts:
            enforced = Enforced.NATIVE
        answer = Answer(text, Finish.STOP, enforced, reasoning=inside, model=f"mock/{self._kind}")
        return with_form_check(bounded(answer), request.constraint)

    def _text(self, request: Request) -> str:
        situation = request.situation
        if self._policy is not None and situation is not None:
            return self._policy(situation)
        if self._kind == "empty":
            return ""
        if self._kind == "random":
            constraint = request.constraint
            texts = constraint.texts if isinstance(constraint, Choice) else situation.legal if situation else ()
            if texts:
                return texts[self._draw(request, len(texts))]
            message = "mock/random has no choices: the request has neither a choice nor legal steps"
        else:
            message = f"mock/{self._kind} has no policy for this task"
        raise ModelError(Diagnostic(SC.MODEL_UNABLE, message, help="see docs/language-models.md"), fatal=True)

    def _draw(self, request: Request, size: int) -> int:
        """Depends on the seeds and the request alone, and not on the order in which requests come."""
        situation = request.situation
        where = [] if situation is None else [situation.task, *situation.taken]
        text = canonical([self._seed, address(request), where])
        return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:8], "big") % size
