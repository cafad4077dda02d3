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
    """An executable plan, the rules that it violates or does not satisfy, and whether it reaches the goal."""

    steps: tuple[str, ...]
    violated: frozenset[str]
    not_satisfied: frozenset[str]
    goal: bool


class Traces:
    """Plans of one problem. ``rules``: whether each rule has an instance; preferences are left out.

    ``quick``: use the engine, which is faster than the kernel.
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
            rule.name: all([self.task.domains[v.domain] for v in rule.declared_parameters])
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
        empty = self._outcome(())
        assert empty is not None
        yield empty
        layer: list[tuple[str, ...]] = [()]
        for _ in range(2):
            steps = self.random.sample(self.steps, min(len(self.steps), breadth))
            next_layer = []
            for plan in layer:
                for step in steps if len(layer) == 1 else steps[: max(1, breadth // len(layer))]:
                    outcome = self._outcome((*plan, step))
                    if outcome is not None:
                        next_layer.append(outcome.steps)
                        yield outcome
            layer = next_layer
        for _ in range(walks):
            plan: tuple[str, ...] = ()
            for step in self.random.choices(self.steps, k=7) if self.steps else ():
                outcome = self._outcome((*plan, step))
                if outcome is not None:
                    plan = outcome.steps
                    yield outcome

    def _outcome(self, steps: tuple[str, ...]) -> PlanOutcome | None:
        text = "\n".join(steps)
        if self.kernel is None:
            engine = self.checker.engine
            replay = replay_reading(self.checker.compiled, self.checker.read(Source("plan", text)), "halt")
            if replay.failures:
                return None
            part_names = [engine.rules[part.rule].name for part in engine.rule_set.parts]
            violated = frozenset([part_names[v.part] for v in replay.violations])
            not_satisfied = frozenset([part_names[part] for part, _ in replay.undecided])
            goal = replay.goal is True
        else:
            verdict = self.kernel.audit(text, other_readings=())
            if not verdict.executable:
                return None
            violated = frozenset([f.rule for f in verdict.findings])
            not_satisfied = frozenset([rule for rule, _ in verdict.undecided])
            goal = verdict.goal
        names = self.rules.keys()
        return PlanOutcome(steps, violated & names, (violated | not_satisfied) & names, goal)


def wrong_claims(result: LintResult, problem: Traces, other_problems: list[Traces]) -> list[str]:
    """The findings that a plan contradicts, each with the plan."""
    contradictions = []
    for finding in result.findings:
        for traces in (problem, *(other_problems if finding.scope is Scope.ANY else ())):
            for plan in traces.plans:
                if _contradicts(finding, traces, plan):
                    contradictions.append(
                        f"{finding.code} {finding.message} [{finding.proof}]: {' '.join(plan.steps) or 'empty plan'}"
                    )
                    break
    return contradictions


def _contradicts(finding: LintFinding, traces: Traces, plan: PlanOutcome) -> bool:
    rules = frozenset(finding.rules)
    if not all([traces.rules.get(rule, False) for rule in rules]):
        return finding.code == "SC757" and any([traces.rules.get(rule, False) for rule in rules])
    match finding.code:
        case "SC750":
            return not rules.isdisjoint(plan.violated)
        case "SC751" | "SC752":
            return rules.isdisjoint(plan.not_satisfied)
        case "SC753":
            action = finding.message.split("`")[1]
            is_taken = any([step[1:-1].split()[0] == action for step in plan.steps])
            return is_taken and rules.isdisjoint(plan.not_satisfied)
        case "SC754":
            return plan.goal and rules.isdisjoint(plan.not_satisfied)
        case "SC755":
            first, second = finding.rules
            wrong = first in plan.violated and second not in plan.not_satisfied
            if " are equivalent" in finding.message:
                wrong |= second in plan.violated and first not in plan.not_satisfied
            return wrong
        case "SC757":
            return True
        case _:
            return False
