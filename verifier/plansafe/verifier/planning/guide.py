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

from plansafe.verifier.execution.broken_instances import StepOption
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.planning.been import Been, shift
from plansafe.verifier.planning.known import Known
from plansafe.verifier.planning.own_search import OwnSearch, unsupported
from plansafe.verifier.planning.port import Answer
from plansafe.verifier.planning.ways import BEYOND, Ahead, Steps, Ways

__all__ = ["Ahead", "Guide"]


class Guide:
    """Where a plan under construction stands. Raises ``ValueError`` for tasks that the search does not take.

    ``rules=False`` looks at the goal alone. What was broken before the plan began decides nothing where the task was
    compiled with ``judge="introduced"``. The last continuation that was found is kept: a step that follows it is
    allowed without a search, and so is one from which a step leads back to a continuation that is known. The first
    continuation is searched for ``time_limit_s``; while one is known, a question ends after ``effort`` states, so that
    the answers are the same on every machine.
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
        self._known = Known(self._execution.fork())
        self._options: list[StepOption] | None = None
        self._kept: Steps | None = None
        self._ways = Ways()
        self._been = Been(self._execution)

    @property
    def may_end(self) -> bool:
        """Whether the plan may end here: the goal is reached and every rule kept."""
        return self._execution.accepted

    def options(self) -> list[StepOption]:
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
        try:
            after = self._execution.after(step)
        except BEYOND:
            return Ahead(None, (), "the step passes a limit of the engine")
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
        self._been.arrived(self._execution)
        self._options = None
        if ahead is not None and ahead.answer:
            self._kept = ahead.steps
        else:
            self._kept = kept[1:] if kept and kept[0] == step else None

    @property
    def objects(self) -> tuple[str, ...]:
        """The names of the task's objects."""
        return self._execution.engine.task.objects

    def changed(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """As text, the facts that hold here and did not at the start, and those that no longer hold; sorted.

        Numbers are left out, and so are derived facts.
        """
        task = self._execution.engine.task
        pairs = list(zip(task.initial_facts, self._execution.state.facts, strict=False))
        gained = [task.fact_text(index, code) for index, (then, now) in enumerate(pairs) for code in now - then]
        lost = [task.fact_text(index, code) for index, (then, now) in enumerate(pairs) for code in then - now]
        return tuple(sorted(gained)), tuple(sorted(lost))

    def returns(self, step: GroundAction) -> bool:
        """Whether a legal step leads back to where the plan was: the same can follow there."""
        return self._been.returns(self._execution, step)

    def _search(self, start: Execution, within: int | None, chosen: GroundAction | None = None) -> Ahead:
        """What is known, a continuation made of what is known, or what a search finds.

        For who chooses among steps, "not known" and "there is none" come to the same, as long as one continuation is
        known.
        """
        ways, key = self._ways, start.key()
        sum_ = self._been.sum if chosen is None else self._been.sum ^ shift(start.engine, start.state, start.changed)
        found = ways.known(key, within)
        if found is None and ways.nearby(start, sum_, self._kept, chosen, within):
            found = ways.known(key, within)
        if found is not None:
            return found
        self.searches += 1
        effort = None if self._kept is None else self.effort
        solved = self._planner.solve_from(
            start, within=within, time_limit_s=self.time_limit_s, max_nodes=effort, known=self._known
        )
        if solved.answer is Answer.SOLVED:
            ways.add(start, sum_, solved.steps)
            return Ahead(True, solved.steps)
        excluded = False if solved.answer is Answer.UNSOLVABLE else None
        return ways.without(key, within, Ahead(excluded, (), solved.detail))
