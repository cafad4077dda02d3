"""The prompt for one step of a plan that is built step by step: the steps done, their changes, and the request.

Version 1. Chosen on the development families (bench/results/models.md): a small model that only sees its steps writes
the plan from its beginning again, and goes in circles.
"""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.llm.models.request import Message
from plansafe.llm.prompts.planning import PLAN

VERSION = 1
_NOTHING = "Nothing is done yet."
_NEXT = "Write the next step of the plan, and nothing else."
TEXTS = (_NOTHING, _NEXT)
"""All that the prompt says by itself."""


def step_messages(
    asked: tuple[Message, ...], taken: Sequence[str], gained: Sequence[str], lost: Sequence[str]
) -> tuple[Message, ...]:
    """Ask for the next step; ``asked`` are the messages that ask for a plan.

    ``gained`` are the facts that hold now and did not at the start, ``lost`` those that no longer hold.
    """
    last = asked[-1]
    lines = [last.text.removesuffix(PLAN)]
    if taken:
        lines += ["Done so far:\n", *[f"{step}\n" for step in taken]]
        lines += [f"Now also so: {' '.join(gained)}\n"] if gained else []
        lines += [f"No longer so: {' '.join(lost)}\n"] if lost else []
    else:
        lines.append(f"{_NOTHING}\n")
    return (*asked[:-1], Message(last.role, "".join([*lines, _NEXT])))
