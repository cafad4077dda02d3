"""What if an object without a kind had one (docs/worlds.md, section 5)?

A plan that uses such objects is judged again. In one run every rule is tried once for each class of these objects and
each kind that the rule names, in a copy whose variables of that kind also range over the objects of the class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.judge import judge
from plansafe.verifier.execution.reading import read_steps
from plansafe.verifier.model.operations import binders, with_domains
from plansafe.verifier.model.nodes import Formula, Variable
from plansafe.verifier.reporting.report import Coverage, GivenKinds, NotApplicableGroup, Suspicion, UnclassifiedClass
from plansafe.verifier.reporting.summary import exempting, violated_rules
from plansafe.verifier.rules.kinds import opened_kind, unclassified
from plansafe.verifier.rules.mapping import Name
from plansafe.verifier.rules.model import Part, Rule
from plansafe.verifier.rules.question import SEVERITIES

MAX_COPIES = 20_000
"""Copies of rules that are tried for one plan; beyond them nothing is known."""
_KEPT = 8
"""Sets of classes whose copies are kept."""
_SHOWN = 3


class Copy(NamedTuple):
    """A copy of a rule in which the objects of a class have a kind."""

    name: str
    kind: str


class Tried(NamedTuple):
    """The task whose rules are copies, and what each copy is of."""

    compiled: CompiledTask
    copies: tuple[Copy, ...]


class WhatIf:
    """Judges plans of one task again, with kinds for the objects that have none."""

    def __init__(self, compiled: CompiledTask) -> None:
        self.classes = unclassified(compiled.symbols, compiled.kinds, compiled.given_kinds)
        self._compiled = compiled
        self._opened: CompiledTask | None = None
        self._domains: dict[tuple[int, str], int] = {}
        self._tried: dict[tuple[str, ...], Tried | None] = {}

    def used(self, plan: Source) -> dict[str, tuple[int, ...]]:
        """The classes without a kind that a plan uses, each with those of its objects that it names."""
        if not self.classes:
            return {}
        index = self._compiled.task.object_index
        named = {index[word] for step in read_plan(plan).steps for word in step.tokens[1:] if word in index}
        found = {name: tuple([o for o in objects if o in named]) for name, objects in self.classes.items()}
        return {name: objects for name, objects in found.items() if objects}

    def suspicions(
        self, plan: Source, used: dict[str, tuple[int, ...]], deadline: float | None
    ) -> list[UnclassifiedClass] | None:
        """The classes that a plan uses, with the kinds that would break a rule; ``None`` if there is too much to try.

        Raises :class:`LimitReached` past the deadline.
        """
        tried = self._copies(tuple(sorted(used)))
        if tried is None:
            return None
        found = self._broken(tried, plan, deadline)
        if found is None:
            return None
        names = self._compiled.task.objects
        breaks: dict[str, dict[tuple[str, str], Suspicion]] = {name: {} for name in used}
        for number, step in found:
            copy, rule = tried.copies[number], tried.compiled.rules[number]
            suspicion = Suspicion(copy.kind, rule.name, rule.severity, step)
            breaks[copy.name].setdefault((copy.kind, rule.name), suspicion)
        return [
            UnclassifiedClass(name, tuple([names[o] for o in objects]), True, _worst_first(breaks[name].values()))
            for name, objects in used.items()
        ]

    def _broken(self, tried: Tried, plan: Source, deadline: float | None) -> list[tuple[int, int]] | None:
        """The copies that the plan breaks, or may break, with the step; ``None`` if a limit was reached."""
        compiled = tried.compiled
        question = compiled.options.question
        if not (compiled.open or self._compiled.open):
            read, outcomes = judge(compiled, plan, deadline)
            if outcomes:
                halt = outcomes[0]
                if halt.limit is not None:
                    return None
                parts = compiled.engine.plan.parts
                idle = compiled.engine.plan.idle(question)
                unsure = [(parts[part].rule, halt.steps) for part, _ in halt.undecided if part not in idle]
                sure = [
                    (v.part.rule, v.violation.step)
                    for v in violated_rules(compiled, [halt])
                    if question.blames(v.rule, v.blame) and exempting(question, v) is None
                ]
                return sorted({*sure, *unsure})
        from plansafe.verifier.reporting.confirmation import Confirmer  # noqa: PLC0415 - for many worlds alone
        from plansafe.verifier.symbolic.audit import audit  # noqa: PLC0415
        from plansafe.verifier.symbolic.worlds.showing import Case  # noqa: PLC0415

        report = audit(Case(compiled, plan, read_steps(compiled.engine, plan), Confirmer(compiled), deadline))
        if report.headline is None or report.limits:
            return None
        return [
            (number, report.steps)
            for number, rule in enumerate(report.rules)
            if rule.status in ("violated", "undecided") and question.decides(compiled.rules[number])
        ]

    def _copies(self, classes: tuple[str, ...]) -> Tried | None:
        if classes not in self._tried:
            while len(self._tried) >= _KEPT:
                del self._tried[next(iter(self._tried))]
            self._tried[classes] = self._made(classes)
        return self._tried[classes]

    def _made(self, classes: tuple[str, ...]) -> Tried | None:
        if self._opened is None:
            self._opened = self._compiled.with_open_kinds()
        opened = self._opened
        possible = self._compiled.kinds.possible(self._compiled.symbols)
        types = opened.symbols.types
        rules: list[Rule] = []
        copies: list[Copy] = []
        for rule in opened.rules:
            if not rule.applicable or not opened.options.question.decides(rule):
                continue
            ranges = {domain: set(types.domain_types[domain]) for domain in _domains(rule)}
            for kind in possible:
                given = {types.index[opened_kind(above)] for above in opened.kinds.above[kind]}
                affected = [domain for domain, alternatives in ranges.items() if not alternatives.isdisjoint(given)]
                if not affected:
                    continue
                for name in classes:
                    wider = {domain: self._wider(opened, domain, name) for domain in affected}
                    rules.append(_over(rule, len(rules), wider))
                    copies.append(Copy(name, kind))
                    if len(rules) > MAX_COPIES:
                        return None
        options = opened.options._replace(replay="never", certificate=False, double_check=False)
        made = opened.variant(opened.task, rules)._replace(options=options, left_open=opened.left_open)
        return Tried(made, tuple(copies))

    def _wider(self, opened: CompiledTask, domain: int, name: str) -> int:
        """A domain with the objects of a class."""
        key = domain, name
        if key not in self._domains:
            types = opened.symbols.types
            self._domains[key] = types.subset(tuple(sorted({*types.domains[domain], *self.classes[name]})))
        return self._domains[key]


def _worst_first(found: Iterable[Suspicion]) -> tuple[Suspicion, ...]:
    return tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity)))


def _domains(rule: Rule) -> set[int]:
    """The domains that the variables of a rule range over."""
    found = {v.domain for v in rule.declared}
    for part in rule.parts:
        formulas = [formula for formula in (part.body, part.step, part.guard) if formula is not None]
        found |= {v.domain for v in (*part.parameters, *[b for formula in formulas for b in binders(formula)])}
    return found


def _over(rule: Rule, number: int, domains: dict[int, int]) -> Rule:
    """A copy of a rule whose variables range over other domains."""

    def variables(several: Sequence[Variable]) -> tuple[Variable, ...]:
        return tuple([v._replace(domain=domains.get(v.domain, v.domain)) for v in several])

    def over(formula: Formula | None) -> Formula | None:
        return None if formula is None else with_domains(formula, domains)

    parts = tuple(
        [
            Part(
                number,
                variables(part.parameters),
                part.mode,
                with_domains(part.body, domains),
                over(part.step),
                over(part.guard),
                part.after,
            )
            for part in rule.parts
        ]
    )
    return rule._replace(parts=parts, declared=variables(rule.declared))


def coverage_of(compiled: CompiledTask) -> Coverage | None:
    """What the rules see of a task, before a plan is known; ``None`` without specifications."""
    if not compiled.expanded.rules:
        return None
    groups: dict[str, list[str]] = {}
    for rule in compiled.rules:
        if not rule.applicable:
            groups.setdefault(_lacking(rule.lacks), []).append(rule.name)
    in_order = sorted(groups.items(), key=lambda group: -len(group[1]))
    names = compiled.task.objects
    classes = unclassified(compiled.symbols, compiled.kinds, compiled.given_kinds)
    sources = {source.name: source for source in compiled.sources.values()}
    return Coverage(
        len([rule for rule in compiled.rules if rule.applicable and rule.kind != "constraint"]),
        tuple([NotApplicableGroup(reason, tuple(rules)) for reason, rules in in_order]),
        tuple([UnclassifiedClass(name, tuple([names[o] for o in own]), False) for name, own in classes.items()]),
        tuple([GivenKinds(g.name, g.kinds, g.reason, place_of(g.place, sources)) for g in compiled.given_kinds]),
    )


def _lacking(lacks: Sequence[Name]) -> str:
    """Why a rule cannot apply, in words."""
    reason = next((text for kind, text in lacks if kind == "rule"), None)
    return reason or f"the world has no {', '.join([f'{kind} `{name}`' for kind, name in lacks])}"


def place_of(label: Label, sources: Mapping[str, Source]) -> str:
    """A place as text: a flag, or a file and a line."""
    source = sources.get(label.source)
    if label.source.startswith("--") or source is None:
        return label.source
    return f"{label.source}:{source.position(label.span.start)[0]}"


def with_used(coverage: Coverage, found: Sequence[UnclassifiedClass]) -> Coverage:
    """The coverage with what is known of the classes that a plan uses, which come first."""
    names = {one.name for one in found}
    return coverage._replace(unclassified=(*found, *[one for one in coverage.unclassified if one.name not in names]))


def reasons(found: Sequence[UnclassifiedClass], plan: Source) -> tuple[Diagnostic, ...]:
    """A warning for each class that may break a rule."""
    return tuple([_reason(one, plan) for one in found if one.breaks])


def _reason(found: UnclassifiedClass, plan: Source) -> Diagnostic:
    first = next((step for step in read_plan(plan).steps if not {*step.tokens}.isdisjoint(found.objects)), None)
    labels = () if first is None else (Label(plan.name, first.span, "used here"),)
    worst = found.breaks[0]
    objects = "" if found.objects == (found.name,) else f" ({', '.join(found.objects[:_SHOWN])})"
    message = (
        f"`{found.name}`{objects} has no known kind: if it is `{worst.kind}`, the plan breaks rule `{worst.rule}`"
    )
    more = [f"if it is `{one.kind}`: rule `{one.rule}`" for one in found.breaks[1:_SHOWN]]
    rest = len(found.breaks) - 1 - len(more)
    more += [f"and {rest} more"] if rest > 0 else []
    help = (
        f"say what it is: `--kind {found.name}=KIND,..` or `[[classify]]` in the profile of the home; "
        f"if it has no kind that matters: `--assume-harmless {found.name}`"
    )
    return Diagnostic(SC.OBJECT_NOT_CLASSIFIED, message, labels, tuple(more), help, Severity.WARNING)


def too_much(used: dict[str, tuple[int, ...]], plan: Source) -> Diagnostic:
    """The warning that not all kinds were tried."""
    names = ", ".join([f"`{name}`" for name in used])
    message = f"{names}: no known kind, and too many kinds and rules to try"
    help = "say what they are with `--kind CLASS=KIND,..` or `--assume-harmless CLASS`"
    return Diagnostic(SC.OBJECT_NOT_CLASSIFIED, message, (), (), help, Severity.WARNING)
