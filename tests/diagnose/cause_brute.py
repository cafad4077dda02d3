"""Minimal causes by their definition: the kernel judges every world, and every set is held against all of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

from case import Case, Sexp, write
from causal_cases import random_draw, relaxed

from plansafe.verifier.kernel import Kernel
from plansafe.verifier.reporting.report import Finding, FindingClass

_PAST = ("yesterday", "weak-yesterday", "once", "historically", "since")
_ACTIONS = ("action", "action-end", "action-during")
_OTHER = (
    *("next", "weak-next", "always", "sometime", "until", "release", "sometime-after", "within", "at-most-once"),
    *("sometime-before", "always-within", "hold-during", "hold-after", "at"),
)
World = frozenset[int]
"""Elements by number: the plan's steps first, then the initial facts."""


def words(expression: Sexp) -> set[str]:
    """All words of an expression."""
    if isinstance(expression, str):
        return {expression}
    return set().union(*[words(part) for part in expression])


class Brute:
    """One plan of a random task. Steps keep their moments: one that is left out becomes ``(idle)``."""

    def __init__(self, drawn: Case, plan: list[str]) -> None:
        self.plan = plan
        originals = [s for s in drawn.structures if s[0] == ":action"]
        idle: Sexp = (":action", "idle", ":effect", ("and",))
        real = [(s[0], f"real-{s[1]}", *s[2:]) for s in originals]
        self.drawn = drawn._replace(structures=(*[relaxed(s) for s in drawn.structures], idle, *real))
        self.facts = [fact for fact in drawn.init if fact[0] != "="]
        self._kernels: dict[tuple[object, ...], Kernel] = {}
        self._seen: dict[tuple[object, ...], bool] = {}

    def answerable(self, finding: Finding) -> bool:
        """Whether the kernel can be asked about a finding; rules over time that are made of several parts cannot."""
        if finding.code in ("SC301", "SC310"):
            return True
        return finding.rule is not None and self._kind(self._rule(finding)) != "mixed"

    def minimum(self, finding: Finding, last: int) -> tuple[int, int]:
        """How many elements a smallest sufficient set has, and how many facts are in one with fewest of them."""
        everything = frozenset(range(last)) | {len(self.plan) + i for i in range(len(self.facts))}
        right = [w for w in subsets(everything) if not self.wrong(finding, w, last)]
        assert everything not in right
        for size in range(len(everything) + 1):
            found = [c for c in combinations(sorted(everything), size) if not any([w.issuperset(c) for w in right])]
            if found:
                return size, min([len([e for e in c if e >= len(self.plan)]) for c in found])
        raise AssertionError("everything is sufficient")

    def sufficient(self, finding: Finding, kept: World, last: int) -> bool:
        """Whether it is wrong in every world that keeps a set."""
        rest = (frozenset(range(last)) | {len(self.plan) + i for i in range(len(self.facts))}) - kept
        return all([self.wrong(finding, kept | some, last) for some in subsets(rest)])

    def wrong(self, finding: Finding, world: World, last: int) -> bool:
        """Whether what was found is wrong in a world."""
        key = (finding.code, finding.rule, finding.binding, finding.step, world)
        if key not in self._seen:
            self._seen[key] = self._wrong(finding, world, last)
        return self._seen[key]

    def _wrong(self, finding: Finding, world: World, last: int) -> bool:
        steps = [step if number in world else "(idle)" for number, step in enumerate(self.plan[:last])]
        facts = tuple([f for number, f in enumerate(self.facts, len(self.plan)) if number in world])
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
        same = [f for f in findings if (f.rule, f.binding) == (finding.rule, tuple(sorted(finding.binding)))]
        return any([kind != "step" or f.step == finding.step for f in same])

    def _rule(self, finding: Finding) -> Sexp:
        return next(rule for rule in self.drawn.rules if rule[1] == finding.rule)

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
        if formula[0] != "always" or words(formula[1]) & {*_OTHER}:
            return "mixed"
        return "step" if used & {*_ACTIONS} else "state"

    def _at_end(self, rule: Sexp) -> Sexp:
        """A rule about all states, as one about the last."""
        assert isinstance(rule, tuple)
        if rule[0] == ":process":
            return (":termination", *rule[1:])
        return (":termination", *rule[1:-2], ":require", rule[-1][1])

    def _kernel(self, facts: tuple[Sexp, ...], rule: Sexp) -> Kernel:
        key = (facts, rule)
        if key not in self._kernels:
            case = self.drawn._replace(init=facts, rules=(rule,) if rule else ())
            safety = case.safety_text()
            self._kernels[key] = Kernel(case.domain_text(), case.problem_text(), [safety] if safety else [])
        return self._kernels[key]

    def elements(self, steps: tuple[int, ...], facts: tuple[str, ...]) -> World:
        """A cause as elements."""
        texts = [write(fact) for fact in self.facts]
        return frozenset([n - 1 for n in steps] + [len(self.plan) + texts.index(fact) for fact in facts])


def subsets(elements: World) -> Iterator[World]:
    """All of them."""
    ordered = sorted(elements)
    return map(frozenset, chain.from_iterable([combinations(ordered, size) for size in range(len(ordered) + 1)]))


def small_draw(stream: str, number: int) -> Case | None:
    """A random task without numbers, with few initial facts."""
    drawn = random_draw(stream, number, 5)
    if {"f", "g"} & words((*drawn.structures, *drawn.rules, *drawn.init, drawn.goal)):
        return None
    return drawn._replace(init=drawn.init[:3])


def cut(plan: list[str], findings: tuple[Finding, ...], finding: Finding) -> int:
    """The last step of the reading *halt* that matters to a finding."""
    failed = [f.step for f in findings if f.finding_class is FindingClass.INEXECUTABLE and "halt" in f.readings]
    last = min(failed) - 1 if failed else len(plan)
    return finding.step - 1 if finding.code == "SC301" else last
