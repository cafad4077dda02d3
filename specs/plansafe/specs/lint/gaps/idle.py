"""Plans that let a fact last: the same plan, with time wasted while the fact holds."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.specs.lint.gaps.ends import LONG
from plansafe.specs.lint.gaps.explore import Explorer, Found, Witness
from plansafe.specs.lint.gaps.rules import GroundLiteral
from plansafe.specs.lint.gaps.scene import Scene
from plansafe.specs.lint.gaps.trials import Path
from plansafe.verifier.execution.execution import Execution, changing
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction

MAX_PLANS = 25


def lasting(explorer: Explorer, references: Sequence[Path]) -> None:
    """Add what plans let last for long, if need be by idling: taking a step and taking it back."""
    shared = explorer.shared
    weights, undo = shared.words.facts, shared.words.undo
    done: set[GroundLiteral] = set()
    for path in [*references, *explorer.plans[:MAX_PLANS]]:
        states = _states(explorer, path)
        scenes = [Scene(shared, state) for state in states]
        held: dict[GroundLiteral, list[int]] = {}
        for number, scene in enumerate(scenes):
            for fact in scene.dynamic:
                if weights[fact.predicate].weight > 0 and any(u.only for u in undo.get(fact.predicate, ())):
                    held.setdefault(fact, []).append(number)
        for fact, letters in held.items():
            ended = letters[-1] < len(path)
            if fact in done or not (ended or shared.new(fact)):
                continue
            at = letters[-1]
            longer = path if len(letters) > LONG else _idling(explorer, path, states[at], at)
            trial = explorer.trials.run(longer) if longer is not None else None
            if longer is None or trial is None or not trial.accepted:
                continue
            done.add(fact)
            for proposal in explorer.ends.lasting(fact, scenes[at]):
                explorer.found.setdefault(proposal.text, Found(proposal)).add(Witness(longer, (), True))


def _states(explorer: Explorer, path: Path) -> list[State]:
    now = Execution(explorer.engine)
    states = [now.state.fork()]
    for step in path:
        now.take(step)
        states.append(now.state.fork())
    return states


def _idling(explorer: Explorer, path: Path, state: State, at: int) -> Path | None:
    """The path with a loop at one place, taken often enough; ``None`` if there is no safe one."""
    now = Execution(explorer.engine, state.fork())
    here = changing(explorer.engine, now.state)
    for there in list(now.legal()):
        if not now.take(there):
            continue
        if not now.changed:
            now.undo()
            continue
        back = _back(explorer, now, here)
        now.undo()
        if back is None:
            continue
        loops = (there, back) * ((LONG + 1) // 2 + 1)
        longer = (*path[:at], *loops, *path[at:])
        trial = explorer.trials.run(longer)
        if trial is not None and trial.accepted:
            return longer
    return None


def _back(explorer: Explorer, now: Execution, here: object) -> GroundAction | None:
    for back in list(now.legal()):
        now.take(back)
        same = changing(explorer.engine, now.state) == here
        now.undo()
        if same:
            return back
    return None
