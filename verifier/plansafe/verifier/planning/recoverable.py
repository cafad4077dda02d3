"""Whether a robot's next action leaves a safe way to the goal: the monitor's state handed to a search."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.online_monitor import Monitor
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning.own_search import OwnSearch, unsupported
from plansafe.verifier.planning.port import Answer


class Recoverable(NamedTuple):
    """Whether the goal can still be reached safely: ``None`` if that is unknown.

    If so, ``continuation`` is how (nothing, if all is done); ``detail`` says in words why not, or what limited the
    search.
    """

    answer: bool | None
    continuation: tuple[str, ...] = ()
    detail: str = ""


def recoverable(
    monitor: Monitor, action: str, planner: OwnSearch | None = None, time_limit_s: float = 10.0
) -> Recoverable:
    """If ``action`` is taken in the present state, can the goal still be reached with every rule kept?

    Starts from what was observed, not from what the steps so far should have led to. Nothing is changed. The search
    ends with the time limit; hand in a ``planner`` to keep what it compiles from one question to the next.
    """
    advice = monitor.allowed(action)
    if not advice.executable:
        return Recoverable(False, (), "; ".join(advice.reasons))
    why = unsupported(monitor.compiled, True)
    if why:
        return Recoverable(None, (), why)
    step = monitor.step(action)
    assert isinstance(step, GroundAction)
    now = monitor.now().after(step)
    assert now is not None
    found = (planner or OwnSearch()).solve_from(now, time_limit_s=time_limit_s)
    steps = tuple([step_text(taken, monitor.task.objects) for taken in found.steps])
    known = {Answer.SOLVED: True, Answer.UNSOLVABLE: False}
    return Recoverable(known.get(found.answer), steps, found.detail)
