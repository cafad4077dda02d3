"""A guide through a task: what may be done next, what it would break, and whether the plan can still end well.

    guide = Guide(checker.compiled)
    while not guide.may_end:
        step = choose([option.step for option in guide.options() if not option.broken])
        if guide.allows(step, within=20 - len(guide.taken)).answer:
            guide.take(step)

For policies that choose their steps one by one (language models, robots). The guide has no semantics of its own: steps
are taken by the engine, rules are watched by its monitors, and what continues is what the planner finds.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.broken import Option
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.planning.own_search import OwnSearch, unsupported
from plansafe.verifier.planning.port import Answer

Steps = tuple[GroundAction, ...]


class Ahead(NamedTuple):
    """Whether a safe continuation to the goal is known: ``None`` if none was found and none was excluded.

    ``steps`` is the continuation, counted from the state that was asked about; ``detail`` says why there is none.
    """

    answer: bool | None
    steps: Steps = ()
    detail: str = ""


class Guide:
    """Where a plan under construction stands. Raises ``ValueError`` for tasks that the search does not take.

    ``rules=False`` looks at the goal alone. What was broken before the plan began decides nothing where the task was
    compiled with ``judge="introduced"``. The last continuation that was found is kept: a step that follows it is
    allowed without a search. The first continuation is searched for ``time_limit_s``; while one is known, a
    question ends after ``effort`` states, so that the answers are the same on every machine.
    """

    def __init__(
        self,
        compiled: CompiledTask,
        *,
        rules: bool = True,
        planner: OwnSearch | None = None,
        time_limit_s: float = 10.0,
        effort: int = 100,
    ) -> None:
        why = unsupported(compiled, rules)
        if why:
            raise ValueError(why)
        self.time_limit_s = time_limit_s
        self.effort = effort
        self.searches = 0
        """How many questions were put to the search."""
        self.taken: list[GroundAction] = []
        self._planner = planner or OwnSearch()
        self._execution = Execution.initial(compiled.engine, rules, compiled.options.question)
        self._options: list[Option] | None = None
        self._kept: Steps | None = None
        self._asked: dict[object, Ahead] = {}
        self._shortest: dict[object, Ahead] = {}

    @property
    def may_end(self) -> bool:
        """Whether the plan may end here: the goal is reached and every rule kept."""
        return self._execution.accepted

    def options(self) -> list[Option]:
        """All legal steps, each with the instances of rules that it would break. Computed once for each state."""
        if self._options is None:
            self._options = self._execution.options()
        return self._options

    def estimate(self) -> int | None:
        """The length of the continuation that is known from here (no bound on the shortest); ``None``: none is."""
        ahead = self.continuation()
        return len(ahead.steps) if ahead.answer else None

    def continuation(self, within: int | None = None) -> Ahead:
        """A safe continuation from here, of at most ``within`` steps."""
        kept = self._kept
        if kept is not None and (within is None or len(kept) <= within):
            return Ahead(True, kept)
        found = self._search(self._execution, within)
        if found.answer:
            self._kept = found.steps
        return found

    def allows(self, step: GroundAction, within: int | None = None) -> Ahead:
        """Whether a safe continuation is known behind a step, of at most ``within`` steps (that step not counted).

        Nothing is changed. A step that cannot be taken or breaks a rule has none.
        """
        kept = self._kept
        if kept and kept[0] == step and (within is None or len(kept) - 1 <= within):
            return Ahead(True, kept[1:])
        after = self._execution.after(step)
        if after is None:
            return Ahead(False, (), "the step cannot be taken")
        if after.broken:
            return Ahead(False, (), "the step breaks a rule")
        return self._search(after, within, step)

    def take(self, step: GroundAction, ahead: Ahead | None = None) -> None:
        """Take a step; ``ahead`` is what :meth:`allows` said of it, if it was asked.

        Raises ``ValueError`` if it cannot be taken. What it breaks is not looked at.
        """
        kept = self._kept
        if not self._execution.take(step):
            raise ValueError("the step cannot be taken here")
        self.taken.append(step)
        self._options = None
        if ahead is not None and ahead.answer:
            self._kept = ahead.steps
        else:
            self._kept = kept[1:] if kept and kept[0] == step else None

    @property
    def objects(self) -> tuple[str, ...]:
        """The names of the task's objects."""
        return self._execution.engine.task.objects

    def state(self) -> object:
        """Equal where the same can follow: what a policy that must not go in circles remembers."""
        return self._execution.key()

    def leads_to(self, step: GroundAction) -> object:
        """The :meth:`state` behind a step; ``None`` if it cannot be taken."""
        after = self._execution.after(step)
        return None if after is None else after.key()

    def _search(self, start: Execution, within: int | None, chosen: GroundAction | None = None) -> Ahead:
        """What was found before, the kept continuation without the chosen step, any continuation, and the shortest.

        Answers are remembered by the state and the rules' past. For who chooses among steps, "not known" and "there is
        none" come to the same, as long as one continuation is known.
        """
        key = start.key()
        known = self._asked.get(key)
        if known is not None and (known.answer is False or (known.answer and _fits(known.steps, within))):
            return known
        reused = self._reused(start, chosen)
        if reused is not None and (known is None or not known.answer or len(reused) < len(known.steps)):
            known = self._asked[key] = Ahead(True, reused)
        if known is None:
            known = self._asked[key] = self._solve(start)
        if known.answer is not True or _fits(known.steps, within):
            return known
        if key not in self._shortest:
            self._shortest[key] = self._solve(start, shortest=True)
        shortest = self._shortest[key]
        if not shortest.answer:
            return Ahead(None, (), f"a continuation of {len(known.steps)} steps is known, a shorter one is not")
        self._asked[key] = shortest
        if _fits(shortest.steps, within):
            return shortest
        return Ahead(False, (), f"the shortest continuation has {len(shortest.steps)} steps")

    def _reused(self, start: Execution, chosen: GroundAction | None) -> Steps | None:
        """The kept continuation, with or without a step that was chosen before its turn, if it still leads there."""
        kept = self._kept
        if not kept or chosen is None:
            return None
        tries = [kept]
        if chosen in kept:
            place = kept.index(chosen)
            tries.insert(0, (*kept[:place], *kept[place + 1 :]))
        for steps in tries:
            trial = start.fork()
            if all([trial.take(step) and not trial.broken for step in steps]) and trial.accepted:
                return steps
        return None

    def _solve(self, start: Execution, *, shortest: bool = False) -> Ahead:
        self.searches += 1
        effort = None if self._kept is None and not shortest else self.effort
        found = self._planner.solve_from(start, shortest=shortest, time_limit_s=self.time_limit_s, max_nodes=effort)
        if found.answer is Answer.SOLVED:
            return Ahead(True, found.steps)
        return Ahead(False if found.answer is Answer.UNSOLVABLE else None, (), found.detail)


def _fits(steps: Steps, within: int | None) -> bool:
    return within is None or len(steps) <= within
