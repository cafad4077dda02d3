"""The linter's claims (docs/safety-rules.md) by definition: all short plans of a problem, and random longer ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import NamedTuple

from case import Case

from plansafe.grammar.source import Source
from plansafe.specs.lint.model import LintFinding, LintResult, Scope
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.readings import replay_reading
from plansafe.verifier.kernel import Kernel


class PlanOutcome(NamedTuple):
    """What one executable plan does: its actions, the rules that it breaks, those that it does not keep, the goal."""

    steps: tuple[str, ...]
    broken: frozenset[str]
    unkept: frozenset[str]
    goal: bool


class Traces:
    """The plans of one problem. ``rules``: those with an instance by their types, without preferences.

    ``quick``: the engine judges, which is not as slow and is held against the kernel by other tests.
    """

    def __init__(self, case: Case, seed: int, breadth: int = 40, walks: int = 8, quick: bool = False) -> None:
        texts = case.domain_text(), case.problem_text(), case.safety_text()
        specs = [texts[2]] if texts[2] else []
        self.kernel = None if quick else Kernel(texts[0], texts[1], specs)
        sources = [Source(name, text) for name, text in zip(("d", "p", "s"), texts, strict=True)]
        options = Options(replay="never", max_findings=1000)
        self.checker = checker = Checker(sources[0], sources[1], sources[2:] if specs else (), options)
        assert checker.ok, checker.diagnostics
        self.task = checker.engine.task
        self.rules = {
            rule.name: all([self.task.domains[v.domain] for v in rule.declared])
            for rule in checker.rules
            if not rule.preference
        }
        self.random = Random(f"traces {case.name} {seed}")
        self.steps = list(self._steps())
        self.plans = list(self._plans(breadth, walks))

    def _steps(self) -> Iterator[str]:
        for action in self.task.actions.values():
            for objects in product(*[self.task.domains[v.domain] for v in action.parameters]):
                yield f"({' '.join([action.name, *self.task.names(objects)])})"

    def _plans(self, breadth: int, walks: int) -> Iterator[PlanOutcome]:
        empty = self._judged(())
        assert empty is not None
        yield empty
        layer: list[tuple[str, ...]] = [()]
        for _ in range(2):
            steps = self.random.sample(self.steps, min(len(self.steps), breadth))
            found = []
            for plan in layer:
                for step in steps if len(layer) == 1 else steps[: max(1, breadth // len(layer))]:
                    judged = self._judged((*plan, step))
                    if judged is not None:
                        found.append(judged.steps)
                        yield judged
            layer = found
        for _ in range(walks):
            plan: tuple[str, ...] = ()
            for step in self.random.choices(self.steps, k=7) if self.steps else ():
                judged = self._judged((*plan, step))
                if judged is not None:
                    plan = judged.steps
                    yield judged

    def _judged(self, steps: tuple[str, ...]) -> PlanOutcome | None:
        text = "\n".join(steps)
        if self.kernel is None:
            engine = self.checker.engine
            outcome = replay_reading(self.checker.compiled, self.checker.read(Source("plan", text)), "halt")
            if outcome.failures:
                return None
            names = [engine.rules[part.rule].name for part in engine.rule_set.parts]
            broken = frozenset([names[v.part] for v in outcome.violations])
            unkept = frozenset([names[part] for part, _ in outcome.undecided])
            goal = outcome.goal is True
        else:
            verdict = self.kernel.audit(text, other_readings=())
            if not verdict.executable:
                return None
            broken = frozenset([f.rule for f in verdict.findings])
            unkept = frozenset([rule for rule, _ in verdict.undecided])
            goal = verdict.goal
        known = self.rules.keys()
        return PlanOutcome(steps, broken & known, (broken | unkept) & known, goal)


def wrong_claims(result: LintResult, given: Traces, others: list[Traces]) -> list[str]:
    """The findings that a plan contradicts, each with the plan. ``others`` are other problems of the domain."""
    out = []
    for fault in result.findings:
        for traces in (given, *(others if fault.scope is Scope.ANY else ())):
            for plan in traces.plans:
                if _contradicts(fault, traces, plan):
                    out.append(f"{fault.code} {fault.message} [{fault.proof}]: {' '.join(plan.steps) or 'empty plan'}")
                    break
    return out


def _contradicts(fault: LintFinding, traces: Traces, plan: PlanOutcome) -> bool:
    rules = frozenset(fault.rules)
    if not all([traces.rules.get(rule, False) for rule in rules]):
        return fault.code == "SC757" and any([traces.rules.get(rule, False) for rule in rules])
    match fault.code:
        case "SC750":
            return not rules.isdisjoint(plan.broken)
        case "SC751" | "SC752":
            return rules.isdisjoint(plan.unkept)
        case "SC753":
            action = fault.message.split("`")[1]
            taken = any([step[1:-1].split()[0] == action for step in plan.steps])
            return taken and rules.isdisjoint(plan.unkept)
        case "SC754":
            return plan.goal and rules.isdisjoint(plan.unkept)
        case "SC755":
            first, second = fault.rules
            wrong = first in plan.broken and second not in plan.unkept
            if " are equivalent" in fault.message:
                wrong |= second in plan.broken and first not in plan.unkept
            return wrong
        case "SC757":
            return True
        case _:
            return False
