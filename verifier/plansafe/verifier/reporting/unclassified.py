"""Whether a plan would break a rule if its objects of no known kind had kinds (docs/worlds.md, section 5).

A plan that uses such objects is judged again, in one run for many copies of each rule: in a copy the variables of some
kinds also range over the objects. First each class is given each kind; if nothing breaks, each class, and all classes
together, are given each set of the kinds that a rule names. Kinds that widen the same variables share a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.plan_steps import Step
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.readings import replay_plan
from plansafe.verifier.model.nodes import Formula, Variable
from plansafe.verifier.model.operations import bound_variables, replace_domains
from plansafe.verifier.reporting.report import (
    Coverage,
    GivenKinds,
    NotApplicableGroup,
    PossibleViolation,
    Report,
    UnclassifiedClass,
)
from plansafe.verifier.reporting.summary import find_exemption, violated_rules
from plansafe.verifier.rules.kinds import unclassified_objects
from plansafe.verifier.rules.mapping import WordName, kind_type_name
from plansafe.verifier.rules.model import Rule, RulePart, step_predicate
from plansafe.verifier.rules.verdict_criteria import SEVERITIES

MAX_COPIES = 20_000
"""Copies of rules that are tried for one plan; beyond them nothing is known."""
MAX_SETS = 1_000
"""Sets of kinds that are tried for one rule and class."""
_KEPT = 8
"""Sets of classes whose copies are kept."""
_SHOWN = 3


class RuleCopy(NamedTuple):
    """A copy of a rule in which the objects of some classes have more kinds: all of one of these sets of kinds."""

    classes: tuple[str, ...]
    kinds: tuple[tuple[str, ...], ...]


class KindAttempt(NamedTuple):
    """Which classes are given kinds in a plan with these actions, and whether kinds and classes are combined."""

    classes: tuple[str, ...]
    actions: frozenset[str]
    together: bool


class CopiedRules(NamedTuple):
    """The task whose rules are copies, and what each copy is of."""

    compiled: CompiledTask
    copies: tuple[RuleCopy, ...]


AuditOverWorlds = Callable[[CompiledTask, Source, "float | None"], Report]
"""Judges a plan of a task in which something is left open."""


class UnclassifiedCheck:
    """Judges plans of one task again, with kinds for the objects that have none."""

    def __init__(self, compiled: CompiledTask, over_worlds: AuditOverWorlds) -> None:
        self._over_worlds = over_worlds
        self.classes = unclassified_objects(compiled.symbols, compiled.kinds, compiled.given_kinds)
        self._compiled = compiled
        self._opened: CompiledTask | None = None
        self._domains: dict[tuple[int, tuple[str, ...]], int] = {}
        self._tried: dict[KindAttempt, CopiedRules | None] = {}

    def used(self, steps: Sequence[Step]) -> dict[str, tuple[int, ...]]:
        """The classes without a kind that the steps of a plan use, each with those of its objects that they name."""
        index = self._compiled.task.object_index
        named = {index[word] for step in steps for word in step.tokens[1:] if word in index}
        by_class = {name: tuple([o for o in objects if o in named]) for name, objects in self.classes.items()}
        return {name: objects for name, objects in by_class.items() if objects}

    def suspicions(
        self, plan: Source, steps: Sequence[Step], used: dict[str, tuple[int, ...]], deadline: float | None
    ) -> list[UnclassifiedClass] | None:
        """The classes that a plan uses, with the kinds that would break a rule; ``None`` if there is too much to try.

        Raises :class:`LimitReached` past the deadline.
        """
        classes, actions = tuple(sorted(used)), frozenset([step.tokens[0] for step in steps])
        breaks: dict[str, list[PossibleViolation]] = {}
        for together in (False, True):
            tried = self._copies(KindAttempt(classes, actions, together))
            broken = None if tried is None else self._broken(tried, plan, deadline)
            if tried is None or broken is None:
                return None
            breaks = _breaks(tried, broken)
            if breaks:
                break
        names = self._compiled.task.objects
        return [
            UnclassifiedClass(name, tuple([names[o] for o in objects]), True, _worst_first(breaks.get(name, ())))
            for name, objects in used.items()
        ]

    def _broken(self, tried: CopiedRules, plan: Source, deadline: float | None) -> list[tuple[int, int]] | None:
        """The copies that the plan breaks, or may break, with the step; ``None`` if a limit was reached."""
        compiled = tried.compiled
        criteria = compiled.options.criteria
        if not (compiled.is_open or self._compiled.is_open):
            outcomes = replay_plan(compiled, plan, deadline).outcomes
            if outcomes:
                halt = outcomes[0]
                if halt.limit is not None:
                    return None
                parts = compiled.engine.rule_set.parts
                idle = compiled.engine.rule_set.nondecisive_parts(criteria)
                unsure = [(parts[part].rule, halt.steps) for part, _ in halt.undecided if part not in idle]
                sure = [
                    (v.part.rule, v.violation.step)
                    for v in violated_rules(compiled, [halt])
                    if criteria.counts_unless_exempt(v.rule, v.blame) and find_exemption(criteria, v) is None
                ]
                return sorted({*sure, *unsure})
        report = self._over_worlds(compiled, plan, deadline)
        if report.headline is None or report.limits:
            return None
        return [
            (number, report.steps)
            for number, rule in enumerate(report.rules)
            if rule.status in ("violated", "undecided") and criteria.can_decide(compiled.rules[number])
        ]

    def _copies(self, attempt: KindAttempt) -> CopiedRules | None:
        if attempt not in self._tried:
            while len(self._tried) >= _KEPT:
                del self._tried[next(iter(self._tried))]
            self._tried[attempt] = self._made(attempt)
        return self._tried[attempt]

    def _made(self, attempt: KindAttempt) -> CopiedRules | None:
        if self._opened is None:
            self._opened = self._compiled.with_open_kinds()
        opened = self._opened
        possible = self._compiled.kinds.possible(self._compiled.symbols)
        groups: list[tuple[str, ...]] = [(name,) for name in attempt.classes]
        if attempt.together and len(attempt.classes) > 1:
            groups.append(attempt.classes)
        idle = {p for (_, name), p in opened.symbols.action_predicates.items() if name not in attempt.actions}
        rules: list[Rule] = []
        copies: list[RuleCopy] = []
        for rule in opened.rules:
            parts = tuple([part for part in rule.parts if part.step is None or step_predicate(part.step) not in idle])
            if not parts or not rule.applicable or not opened.options.criteria.can_decide(rule):
                continue
            sets = self._kind_sets(rule, opened, possible, attempt.together)
            if sets is None:
                return None
            for group in groups:
                for affected, kinds in sets.items():
                    wider = {domain: self._wider(opened, domain, group) for domain in affected}
                    rules.append(_over(rule._replace(parts=parts), len(rules), wider))
                    copies.append(RuleCopy(group, tuple(kinds)))
            if len(rules) > MAX_COPIES:
                return None
        options = opened.options._replace(replay="never", certificate=False, double_check=False)
        made = opened.variant(opened.task, rules)._replace(options=options, open_feature=opened.open_feature)
        return CopiedRules(made, tuple(copies))

    def _kind_sets(
        self, rule: Rule, opened: CompiledTask, possible: Sequence[str], together: bool
    ) -> dict[frozenset[int], list[tuple[str, ...]]] | None:
        """The sets of domains of a rule that kinds widen, each with the smallest sets of kinds that widen them.

        ``None`` if there are too many.
        """
        types = opened.symbols.types
        ranges = {domain: set(types.domain_types[domain]) for domain in _domains(rule)}
        single: dict[frozenset[int], list[tuple[str, ...]]] = {}
        for kind in possible:
            types_of_kind = {types.index[kind_type_name(above)] for above in opened.kinds.above[kind]}
            affected = frozenset([domain for domain, wanted in ranges.items() if not wanted.isdisjoint(types_of_kind)])
            if affected:
                single.setdefault(affected, []).append((kind,))
        sets = dict(single)
        waiting = list(single) if together else []
        while waiting:
            affected = waiting.pop(0)
            for other, kinds in single.items():
                union = affected | other
                if union not in sets:
                    sets[union] = [(*sets[affected][0], *kinds[0])]
                    waiting.append(union)
            if len(sets) > MAX_SETS:
                return None
        return sets

    def _wider(self, opened: CompiledTask, domain: int, classes: tuple[str, ...]) -> int:
        """A domain with the objects of classes."""
        key = domain, classes
        if key not in self._domains:
            types = opened.symbols.types
            added = [number for name in classes for number in self.classes[name]]
            self._domains[key] = types.subset(tuple(sorted({*types.domains[domain], *added})))
        return self._domains[key]


def _breaks(tried: CopiedRules, broken: Sequence[tuple[int, int]]) -> dict[str, list[PossibleViolation]]:
    """What broken copies say about each class: smaller sets of kinds and of classes go before larger ones."""
    breaks: dict[str, list[PossibleViolation]] = {}
    alone: set[str] = set()
    for number, step in broken:
        group, sets = tried.copies[number]
        rule = tried.compiled.rules[number]
        if len(group) == 1:
            alone.add(rule.name)
        elif rule.name in alone:
            continue  # one of the classes is enough
        for kinds in sets:
            reported = [set(suspicion.kinds) for suspicion in breaks.get(group[0], ()) if suspicion.rule == rule.name]
            if not any([fewer <= set(kinds) for fewer in reported]):
                for name in group:
                    rest_of_group = tuple([other for other in group if other != name])
                    breaks.setdefault(name, []).append(
                        PossibleViolation(kinds, rule.name, rule.severity, step, rest_of_group)
                    )
    return breaks


def _worst_first(suspicions: Iterable[PossibleViolation]) -> tuple[PossibleViolation, ...]:
    return tuple(sorted(suspicions, key=lambda suspicion: SEVERITIES.index(suspicion.severity)))


def _domains(rule: Rule) -> set[int]:
    """The domains that the variables of a rule range over."""
    domains = {v.domain for v in rule.declared}
    for part in rule.parts:
        formulas = [formula for formula in (part.body, part.step, part.guard) if formula is not None]
        domains |= {
            v.domain for v in (*part.parameters, *[b for formula in formulas for b in bound_variables(formula)])
        }
    return domains


def _over(rule: Rule, number: int, domains: dict[int, int]) -> Rule:
    """A copy of a rule whose variables range over other domains."""

    def variables(several: Sequence[Variable]) -> tuple[Variable, ...]:
        return tuple([v._replace(domain=domains.get(v.domain, v.domain)) for v in several])

    def over(formula: Formula | None) -> Formula | None:
        return None if formula is None else replace_domains(formula, domains)

    parts = tuple(
        [
            RulePart(
                number,
                variables(part.parameters),
                part.mode,
                replace_domains(part.body, domains),
                over(part.step),
                over(part.guard),
                part.after,
            )
            for part in rule.parts
        ]
    )
    return rule._replace(parts=parts, declared=variables(rule.declared))


def task_coverage(compiled: CompiledTask) -> Coverage | None:
    """What the rules see of a task, before a plan is known; ``None`` without specifications."""
    if not compiled.expanded.rules:
        return None
    groups: dict[str, list[str]] = {}
    for rule in compiled.rules:
        if not rule.applicable:
            groups.setdefault(_lacking(rule.missing_names), []).append(rule.name)
    in_order = sorted(groups.items(), key=lambda group: -len(group[1]))
    names = compiled.task.objects
    classes = unclassified_objects(compiled.symbols, compiled.kinds, compiled.given_kinds)
    sources = {source.name: source for source in compiled.sources.values()}
    return Coverage(
        len([rule for rule in compiled.rules if rule.applicable and rule.kind != "constraint"]),
        tuple([NotApplicableGroup(reason, tuple(rules)) for reason, rules in in_order]),
        tuple(
            [UnclassifiedClass(name, tuple([names[o] for o in objects]), False) for name, objects in classes.items()]
        ),
        tuple([GivenKinds(g.name, g.kinds, g.reason, place_text(g.place, sources)) for g in compiled.given_kinds]),
    )


def _lacking(lacks: Sequence[WordName]) -> str:
    """Why a rule cannot apply, in words."""
    reason = next((text for kind, text in lacks if kind == "rule"), None)
    return reason or f"the world has no {', '.join([f'{kind} `{name}`' for kind, name in lacks])}"


def place_text(label: Label, sources: Mapping[str, Source]) -> str:
    """A place as text: a flag, or a file and a line."""
    source = sources.get(label.source)
    if label.source.startswith("--") or source is None:
        return label.source
    return f"{label.source}:{source.position(label.span.start)[0]}"


def with_used_classes(coverage: Coverage, used: Sequence[UnclassifiedClass]) -> Coverage:
    """The coverage with what is known of the classes that a plan uses, which come first."""
    names = {entry.name for entry in used}
    return coverage._replace(
        unclassified=(*used, *[entry for entry in coverage.unclassified if entry.name not in names])
    )


def classification_warnings(
    classes: Sequence[UnclassifiedClass], plan: Source, steps: Sequence[Step]
) -> tuple[Diagnostic, ...]:
    """A warning for each class that may break a rule."""
    return tuple([_reason(entry, plan, steps) for entry in classes if entry.possible_violations])


def _reason(entry: UnclassifiedClass, plan: Source, steps: Sequence[Step]) -> Diagnostic:
    first = next((step for step in steps if not {*step.tokens}.isdisjoint(entry.objects)), None)
    labels = () if first is None else (Label(plan.name, first.span, "used here"),)
    worst = entry.possible_violations[0]
    objects = "" if entry.objects == (entry.name,) else f" ({', '.join(entry.objects[:_SHOWN])})"
    message = f"`{entry.name}`{objects} has no known kind: {_if(worst)}, the plan violates rule `{worst.rule}`"
    notes = [f"{_if(suspicion)}: rule `{suspicion.rule}`" for suspicion in entry.possible_violations[1:_SHOWN]]
    hidden = len(entry.possible_violations) - 1 - len(notes)
    notes += [f"and {hidden} more"] if hidden > 0 else []
    help = (
        f"classify it with `--kind {entry.name}=KIND,..` or `[[classify]]` in the profile of the home; "
        f"if it has no kind that matters, use `--assume-harmless {entry.name}`"
    )
    return Diagnostic(SC.OBJECT_NOT_CLASSIFIED, message, labels, tuple(notes), help, Severity.WARNING)


def _if(suspicion: PossibleViolation) -> str:
    """What would have to be so for a rule to be broken."""
    together = "".join([f" and `{name}`" for name in suspicion.others])
    return f"if it{together} {'are' if together else 'is'} {' and '.join([f'`{kind}`' for kind in suspicion.kinds])}"


def untested_kinds_warning(used: Iterable[str]) -> Diagnostic:
    """The warning that not all kinds were tried."""
    names = ", ".join([f"`{name}`" for name in used])
    message = f"{names}: no known kind, and too many kinds and rules to try"
    help = "classify them with `--kind CLASS=KIND,..` or `--assume-harmless CLASS`"
    return Diagnostic(SC.OBJECT_NOT_CLASSIFIED, message, (), (), help, Severity.WARNING)
