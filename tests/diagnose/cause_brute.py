"""Minimal causes by their definition: the kernel audits every world, and every set is compared with all worlds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

from case import Case, Sexp, write
from causal_cases import draw_case, relaxed

from plansafe.verifier.kernel import Kernel
from plansafe.verifier.reporting.report import Finding, FindingClass

_ACTIONS = ("action", "action-end", "action-during")
_NOT_PAST = (
    *("next", "weak-next", "always", "sometime", "until", "release", "sometime-after", "within", "at-most-once"),
    *("sometime-before", "always-within", "hold-during", "hold-after", "at"),
)
World = frozenset[int]
"""Elements by number: the plan's steps first, then the initial facts."""


def words(expression: Sexp) -> set[str]:
    """Return all words of an expression."""
    if isinstance(expression, str):
        return {expression}
    return set().union(*[words(part) for part in expression])


class Brute:
    """One plan of a random task. Steps keep their times: an omitted step becomes ``(idle)``."""

    def __init__(self, drawn_case: Case, plan: list[str]) -> None:
        self.plan = plan
        originals = [structure for structure in drawn_case.structures if structure[0] == ":action"]
        idle: Sexp = (":action", "idle", ":effect", ("and",))
        real = [(action[0], f"real-{action[1]}", *action[2:]) for action in originals]
        self.drawn_case = drawn_case._replace(
            structures=(*[relaxed(structure) for structure in drawn_case.structures], idle, *real)
        )
        self.facts = [fact for fact in drawn_case.init if fact[0] != "="]
        self._kernels: dict[tuple[object, ...], Kernel] = {}
        self._verdicts: dict[tuple[object, ...], bool] = {}

    def answerable(self, finding: Finding) -> bool:
        """Whether the kernel can check a finding; it cannot for rules over time with several parts."""
        if finding.code in ("SC301", "SC310"):
            return True
        return finding.rule is not None and self._kind(self._rule(finding)) != "mixed"

    def minimum(self, finding: Finding, last: int) -> tuple[int, int]:
        """Return the size of a smallest sufficient set, and the least number of facts in such a set."""
        elements = frozenset(range(last)) | {len(self.plan) + i for i in range(len(self.facts))}
        harmless = [world for world in subsets(elements) if not self.wrong(finding, world, last)]
        assert elements not in harmless
        for size in range(len(elements) + 1):
            sufficient_sets = [
                chosen
                for chosen in combinations(sorted(elements), size)
                if not any([world.issuperset(chosen) for world in harmless])
            ]
            if sufficient_sets:
                return size, min([sum([element >= len(self.plan) for element in chosen]) for chosen in sufficient_sets])
        raise AssertionError("everything is sufficient")

    def sufficient(self, finding: Finding, fixed: World, last: int) -> bool:
        """Whether the finding is wrong in every world that keeps a set."""
        optional = (frozenset(range(last)) | {len(self.plan) + i for i in range(len(self.facts))}) - fixed
        return all([self.wrong(finding, fixed | chosen, last) for chosen in subsets(optional)])

    def wrong(self, finding: Finding, world: World, last: int) -> bool:
        """Whether the finding is wrong in a world."""
        key = (finding.code, finding.rule, finding.binding, finding.step, world)
        if key not in self._verdicts:
            self._verdicts[key] = self._wrong(finding, world, last)
        return self._verdicts[key]

    def _wrong(self, finding: Finding, world: World, last: int) -> bool:
        steps = [step if number in world else "(idle)" for number, step in enumerate(self.plan[:last])]
        facts = tuple([fact for number, fact in enumerate(self.facts, len(self.plan)) if number in world])
        if finding.code == "SC310":
            return not self._kernel(facts, ()).audit("\n".join(steps)).goal
        if finding.code == "SC301":
            tried = self.plan[finding.step - 1].replace("(", "(real-", 1)
            return not self._kernel(facts, ()).audit("\n".join([*steps, tried])).executable
        rule = self._rule(finding)
        kind = self._kind(rule)
        if kind == "state":
            rule, steps = self._at_end(rule), steps[: finding.step]
        findings = self._kernel(facts, rule).audit("\n".join(steps)).findings
        binding = tuple(sorted(finding.binding))
        same = [candidate for candidate in findings if (candidate.rule, candidate.binding) == (finding.rule, binding)]
        return any([kind != "step" or candidate.step == finding.step for candidate in same])

    def _rule(self, finding: Finding) -> Sexp:
        return next(rule for rule in self.drawn_case.rules if rule[1] == finding.rule)

    def _kind(self, rule: Sexp) -> str:
        """``state``: wrong after a step; ``step``: wrong at a step; ``whole``: wrong on the whole trace."""
        used = words(rule)
        if rule[0] in (":termination", ":obligation"):
            return "whole"
        if rule[0] == ":process":
            return "step" if ":on" in used or used & {*_ACTIONS} else "state"
        formula = rule[-1]
        if "always" not in used:
            return "whole"
        if formula[0] != "always" or words(formula[1]) & {*_NOT_PAST}:
            return "mixed"
        return "step" if used & {*_ACTIONS} else "state"

    def _at_end(self, rule: Sexp) -> Sexp:
        """Turn a rule about all states into a rule about the last state."""
        assert isinstance(rule, tuple)
        if rule[0] == ":process":
            return (":termination", *rule[1:])
        return (":termination", *rule[1:-2], ":require", rule[-1][1])

    def _kernel(self, facts: tuple[Sexp, ...], rule: Sexp) -> Kernel:
        key = (facts, rule)
        if key not in self._kernels:
            case = self.drawn_case._replace(init=facts, rules=(rule,) if rule else ())
            safety = case.safety_text()
            self._kernels[key] = Kernel(case.domain_text(), case.problem_text(), [safety] if safety else [])
        return self._kernels[key]

    def elements(self, steps: tuple[int, ...], facts: tuple[str, ...]) -> World:
        """Return the elements of a cause."""
        texts = [write(fact) for fact in self.facts]
        return frozenset([n - 1 for n in steps] + [len(self.plan) + texts.index(fact) for fact in facts])


def subsets(elements: World) -> Iterator[World]:
    """All subsets."""
    ordered = sorted(elements)
    return map(frozenset, chain.from_iterable([combinations(ordered, size) for size in range(len(ordered) + 1)]))


def draw_small_case(stream: str, number: int) -> Case | None:
    """Draw a random task without numbers and with few initial facts."""
    drawn_case = draw_case(stream, number, 5)
    if {"f", "g"} & words((*drawn_case.structures, *drawn_case.rules, *drawn_case.init, drawn_case.goal)):
        return None
    return drawn_case._replace(init=drawn_case.init[:3])


def cut(plan: list[str], findings: tuple[Finding, ...], finding: Finding) -> int:
    """Return the last step of the reading *halt* that matters to a finding."""
    failed = [
        finding.step
        for finding in findings
        if finding.finding_class is FindingClass.INEXECUTABLE and "halt" in finding.readings
    ]
    last = min(failed) - 1 if failed else len(plan)
    return finding.step - 1 if finding.code == "SC301" else last
