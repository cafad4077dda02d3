"""Check whether a plan would violate a rule if its objects without a known kind had kinds (docs/worlds.md, section 5).

A plan that uses such objects is audited again, in one run for many copies of each rule. In a copy, the variables of
some kinds also range over the objects. First each class is given each kind. If nothing is violated, each class, and all
classes together, are given each set of the kinds that a rule names. Kinds that widen the same variables share a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.plan_steps import Step
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compilation import compile_with_open_kinds
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.readings import replay_plan
from plansafe.verifier.model.nodes import Formula, Variable
from plansafe.verifier.model.operations import find_bound_variables, replace_domains
from plansafe.verifier.reporting.report import (
    NO_KNOWN_KIND,
    Coverage,
    GivenKinds,
    Headline,
    NotApplicableGroup,
    PossibleViolation,
    Report,
    UnclassifiedClass,
    cap_at_unknown,
)
from plansafe.verifier.reporting.summary import find_exemption, merge_violations
from plansafe.verifier.rules.kinds import find_unclassified_objects
from plansafe.verifier.rules.mapping import make_kind_type_name
from plansafe.verifier.rules.model import Rule, find_action_predicate
from plansafe.verifier.rules.profile_entries import format_entry_place
from plansafe.verifier.rules.verdict_criteria import SEVERITIES

MAX_COPIES = 20_000
"""Copies of rules for one plan; with more copies, the check gives up."""
MAX_SETS = 1_000
"""Sets of kinds for one rule and class; with more sets, the check gives up."""
_MAX_CACHED = 8
"""The most attempts whose copies of rules are kept."""
_MAX_SHOWN = 3
"""Maximum number of objects, and of rules, that a warning names."""


class RuleCopy(NamedTuple):
    """A copy of a rule in which the objects of ``classes`` have more kinds.

    They have all kinds of one set in ``kind_sets``. All the sets widen the same variables, so one copy checks them all.
    """

    classes: tuple[str, ...]
    kind_sets: tuple[tuple[str, ...], ...]


class KindAttempt(NamedTuple):
    """The classes that are given kinds, the actions of the plan, and whether kinds and classes are combined."""

    classes: tuple[str, ...]
    actions: frozenset[str]
    is_combined: bool


class CopiedRules(NamedTuple):
    """A task whose rules are copies, and the classes and kinds of each copy."""

    compiled: CompiledTask
    copies: tuple[RuleCopy, ...]


AuditOverWorlds = Callable[[CompiledTask, Source, "float | None"], Report]
"""Audits a plan of a task with several possible worlds."""


class UnclassifiedCheck:
    """Audits plans of one task again, with kinds for the objects that have none."""

    def __init__(self, compiled: CompiledTask, audit_over_worlds: AuditOverWorlds) -> None:
        self._audit_over_worlds = audit_over_worlds
        self.classes = find_unclassified_objects(compiled.symbols, compiled.kinds, compiled.given_kinds)
        self._compiled = compiled
        self._task_with_kinds: CompiledTask | None = None
        self._widened_domains: dict[tuple[int, tuple[str, ...]], int] = {}
        """By domain and classes, the domain together with the objects of the classes."""
        self._cache: dict[KindAttempt, CopiedRules | None] = {}

    def add_coverage(self, report: Report, coverage: Coverage, plan: Source, deadline: float | None) -> Report:
        """Add the coverage to a report; SAFE becomes UNKNOWN if an object without a kind may violate a rule."""
        steps = read_plan(plan).steps if coverage.unclassified else ()
        used_classes = self.find_used_classes(steps) if steps else {}
        if not used_classes:
            return report._replace(coverage=coverage)
        names = self._compiled.task.objects
        classes = [
            UnclassifiedClass(name, tuple([names[o] for o in numbers]), True) for name, numbers in used_classes.items()
        ]
        warnings: tuple[Diagnostic, ...] = ()
        if report.headline in (Headline.SAFE, Headline.VALID):
            violations = self.find_possible_violations(plan, steps, used_classes, deadline)
            if violations is None:
                warnings = (_warn_about_limit(used_classes),)
            else:
                classes = [c._replace(possible_violations=violations.get(c.name, ())) for c in classes]
                warnings = tuple([_warn_about_class(c, plan, steps) for c in classes if c.possible_violations])
        unused_classes = [
            unclassified for unclassified in coverage.unclassified if unclassified.name not in used_classes
        ]
        report = report._replace(coverage=coverage._replace(unclassified=(*classes, *unused_classes)))
        if warnings:  # the search for safe plans treats this like any other limit of the check
            report = report._replace(limits=(*report.limits, NO_KNOWN_KIND))
        return cap_at_unknown(report, warnings, safety_alone=True)

    def find_used_classes(self, steps: Sequence[Step]) -> dict[str, tuple[int, ...]]:
        """Return the classes without a kind that the steps of a plan use, each with the objects that they name."""
        index = self._compiled.task.object_index
        numbers = {index[token] for step in steps for token in step.tokens[1:] if token in index}
        objects_by_class = {name: tuple([o for o in objects if o in numbers]) for name, objects in self.classes.items()}
        return {name: objects for name, objects in objects_by_class.items() if objects}

    def find_possible_violations(
        self, plan: Source, steps: Sequence[Step], used: dict[str, tuple[int, ...]], deadline: float | None
    ) -> dict[str, tuple[PossibleViolation, ...]] | None:
        """Return the kinds of the used classes that would violate a rule; ``None`` if there are too many copies.

        Raises :class:`LimitReached` after the deadline.
        """
        classes, actions = tuple(sorted(used)), frozenset([step.tokens[0] for step in steps])
        violations_by_class: dict[str, list[PossibleViolation]] = {}
        for is_combined in (False, True):
            attempt = KindAttempt(classes, actions, is_combined)
            if attempt not in self._cache:
                while len(self._cache) >= _MAX_CACHED:
                    del self._cache[next(iter(self._cache))]
                self._cache[attempt] = self._copy_rules(attempt)
            copied_rules = self._cache[attempt]
            violated = None if copied_rules is None else self._find_violated_copies(copied_rules, plan, deadline)
            if copied_rules is None or violated is None:
                return None
            violations_by_class = _group_by_class(copied_rules, violated)
            if violations_by_class:
                break
        return {
            name: tuple(sorted(violations, key=lambda violation: SEVERITIES.index(violation.severity)))
            for name, violations in violations_by_class.items()
        }

    def _find_violated_copies(
        self, copied_rules: CopiedRules, plan: Source, deadline: float | None
    ) -> list[tuple[int, int]] | None:
        """Return the numbers of the copies that the plan violates or may violate, each with the step.

        ``None`` if a limit was reached.
        """
        compiled = copied_rules.compiled
        criteria, rule_set = compiled.options.criteria, compiled.engine.rule_set
        if not (compiled.is_open or self._compiled.is_open):
            outcomes = replay_plan(compiled, plan, deadline).outcomes
            if outcomes:
                halt = outcomes[0]
                if halt.limit is not None:
                    return None
                nondecisive_parts = rule_set.find_nondecisive_parts(criteria)
                undecided = [
                    (rule_set.parts[part].rule, halt.step_count)
                    for part, _ in halt.undecided
                    if part not in nondecisive_parts
                ]
                violated = [
                    (v.part.rule, v.violation.step)
                    for v in merge_violations(compiled, [halt])
                    if criteria.counts_unless_exempt(v.rule, v.blame) and find_exemption(criteria, v) is None
                ]
                return sorted({*violated, *undecided})
        report = self._audit_over_worlds(compiled, plan, deadline)
        if report.headline is None or report.limits:
            return None
        return [
            (number, report.steps)
            for number, rule in enumerate(report.rules)
            if rule.status in ("violated", "undecided") and criteria.can_be_decisive(compiled.rules[number])
        ]

    # -- copies of rules ----------------------------------------------------------------------------------------------

    def _copy_rules(self, attempt: KindAttempt) -> CopiedRules | None:
        """Copy the rules that can decide for each group of classes and each set of kinds; ``None`` if too many."""
        if self._task_with_kinds is None:
            self._task_with_kinds = compile_with_open_kinds(self._compiled)
        task_with_kinds = self._task_with_kinds
        possible_kinds = self._compiled.kinds.find_possible_kinds(self._compiled.symbols)
        groups: list[tuple[str, ...]] = [(name,) for name in attempt.classes]
        if attempt.is_combined and len(attempt.classes) > 1:
            groups.append(attempt.classes)
        unused_predicates = {
            p for (_, name), p in task_with_kinds.symbols.action_predicates.items() if name not in attempt.actions
        }
        rules: list[Rule] = []
        copies: list[RuleCopy] = []
        for rule in task_with_kinds.rules:
            parts = tuple(
                [
                    part
                    for part in rule.parts
                    if part.step is None or find_action_predicate(part.step) not in unused_predicates
                ]
            )
            if not parts or not rule.applicable or not task_with_kinds.options.criteria.can_be_decisive(rule):
                continue
            kind_sets = _find_kind_sets(rule, task_with_kinds, possible_kinds, attempt.is_combined)
            if kind_sets is None:
                return None
            for group in groups:
                for affected_domains, sets in kind_sets.items():
                    domain_replacements = {
                        domain: self._widen_domain(task_with_kinds, domain, group) for domain in affected_domains
                    }
                    rules.append(_replace_variable_domains(rule._replace(parts=parts), len(rules), domain_replacements))
                    copies.append(RuleCopy(group, tuple(sets)))
            if len(rules) > MAX_COPIES:
                return None
        options = task_with_kinds.options._replace(replay="never", certificate=False, double_check=False)
        variant = task_with_kinds.make_variant(task_with_kinds.task, rules)._replace(
            options=options, open_feature=task_with_kinds.open_feature
        )
        return CopiedRules(variant, tuple(copies))

    def _widen_domain(self, task_with_kinds: CompiledTask, domain: int, classes: tuple[str, ...]) -> int:
        """Return a domain together with the objects of classes."""
        key = domain, classes
        if key not in self._widened_domains:
            types = task_with_kinds.symbols.types
            added_objects = [number for name in classes for number in self.classes[name]]
            self._widened_domains[key] = types.get_subset_domain(
                tuple(sorted({*types.domains[domain], *added_objects}))
            )
        return self._widened_domains[key]


def _find_kind_sets(
    rule: Rule, task_with_kinds: CompiledTask, possible_kinds: Sequence[str], is_combined: bool
) -> dict[frozenset[int], list[tuple[str, ...]]] | None:
    """Return the sets of a rule's domains that kinds widen, each with the smallest sets of kinds that widen them.

    ``None`` if there are too many sets.
    """
    types = task_with_kinds.symbols.types
    types_of_domains = {domain: set(types.domain_types[domain]) for domain in find_domains(rule)}
    kinds_by_domains: dict[frozenset[int], list[tuple[str, ...]]] = {}
    for kind in possible_kinds:
        kind_types = {
            types.index[make_kind_type_name(above)] for above in task_with_kinds.kinds.ancestors_of_kind[kind]
        }
        affected_domains = frozenset(
            [domain for domain, numbers in types_of_domains.items() if not numbers.isdisjoint(kind_types)]
        )
        if affected_domains:
            kinds_by_domains.setdefault(affected_domains, []).append((kind,))
    sets = dict(kinds_by_domains)
    queue = list(kinds_by_domains) if is_combined else []
    while queue:
        affected_domains = queue.pop(0)
        for added, kinds in kinds_by_domains.items():
            union = affected_domains | added
            if union not in sets:
                sets[union] = [(*sets[affected_domains][0], *kinds[0])]
                queue.append(union)
        if len(sets) > MAX_SETS:
            return None
    return sets


def _group_by_class(
    copied_rules: CopiedRules, violated: Sequence[tuple[int, int]]
) -> dict[str, list[PossibleViolation]]:
    """Return the possible violations of each class; smaller sets of kinds and of classes replace larger ones."""
    violations_by_class: dict[str, list[PossibleViolation]] = {}
    violated_by_one_class: set[str] = set()
    for number, step in violated:
        group, kind_sets = copied_rules.copies[number]
        rule = copied_rules.compiled.rules[number]
        if len(group) == 1:
            violated_by_one_class.add(rule.name)
        elif rule.name in violated_by_one_class:
            continue
        for kinds in kind_sets:
            reported = [set(v.kinds) for v in violations_by_class.get(group[0], ()) if v.rule == rule.name]
            if not any([fewer <= set(kinds) for fewer in reported]):
                for name in group:
                    other_classes = tuple([class_name for class_name in group if class_name != name])
                    violation = PossibleViolation(kinds, rule.name, rule.severity, step, other_classes)
                    violations_by_class.setdefault(name, []).append(violation)
    return violations_by_class


def find_domains(rule: Rule) -> set[int]:
    """Return the domains of the variables of a rule."""
    domains = {v.domain for v in rule.declared_parameters}
    for part in rule.parts:
        formulas = [formula for formula in (part.body, part.step, part.guard) if formula is not None]
        domains |= {v.domain for v in part.parameters}
        domains |= {v.domain for formula in formulas for v in find_bound_variables(formula)}
    return domains


def _replace_variable_domains(rule: Rule, number: int, domains: dict[int, int]) -> Rule:
    """Return a copy of a rule, with a new number, whose variables have other domains."""

    def replace_variables(originals: Sequence[Variable]) -> tuple[Variable, ...]:
        return tuple([v._replace(domain=domains.get(v.domain, v.domain)) for v in originals])

    def replace_in_formula(original: Formula | None) -> Formula | None:
        return None if original is None else replace_domains(original, domains)

    parts = [
        part._replace(
            rule=number,
            parameters=replace_variables(part.parameters),
            body=replace_domains(part.body, domains),
            step=replace_in_formula(part.step),
            guard=replace_in_formula(part.guard),
        )
        for part in rule.parts
    ]
    return rule._replace(parts=tuple(parts), declared_parameters=replace_variables(rule.declared_parameters))


# -- coverage ---------------------------------------------------------------------------------------------------------


def describe_coverage_of_task(compiled: CompiledTask) -> Coverage | None:
    """Return the applicable rules and unclassified objects of a task; ``None`` without specifications."""
    if not compiled.expanded.rules:
        return None
    groups: dict[str, list[str]] = {}
    for rule in compiled.rules:
        if not rule.applicable:
            groups.setdefault(_explain_missing_names(rule), []).append(rule.name)
    sorted_groups = sorted(groups.items(), key=lambda group: -len(group[1]))
    names = compiled.task.objects
    classes = find_unclassified_objects(compiled.symbols, compiled.kinds, compiled.given_kinds)
    sources = {source.name: source for source in compiled.sources.values()}
    return Coverage(
        len([rule for rule in compiled.rules if rule.applicable and rule.kind != "constraint"]),
        tuple([NotApplicableGroup(reason, tuple(rules)) for reason, rules in sorted_groups]),
        tuple(
            [UnclassifiedClass(name, tuple([names[o] for o in numbers]), False) for name, numbers in classes.items()]
        ),
        tuple(
            [GivenKinds(g.name, g.kinds, g.reason, format_entry_place(g.place, sources)) for g in compiled.given_kinds]
        ),
    )


def _explain_missing_names(rule: Rule) -> str:
    """Return why a rule is not applicable."""
    missing_words = ", ".join([f"{kind} `{name}`" for kind, name in rule.missing_names])
    return rule.exclusion_reason or f"the world has no {missing_words}"


def _warn_about_class(unclassified: UnclassifiedClass, plan: Source, steps: Sequence[Step]) -> Diagnostic:
    """Return the warning that the plan violates a rule if the objects of a class have certain kinds."""
    name, objects = unclassified.name, unclassified.objects
    first = next((step for step in steps if not {*step.tokens}.isdisjoint(objects)), None)
    labels = () if first is None else (Label(plan.name, first.span, "used here"),)
    worst, *less_severe = unclassified.possible_violations
    object_list = "" if objects == (name,) else f" ({', '.join(objects[:_MAX_SHOWN])})"
    message = (
        f"`{name}`{object_list} has no known kind: {_describe_condition(worst)}, the plan violates rule `{worst.rule}`"
    )
    notes = [
        f"{_describe_condition(violation)}: rule `{violation.rule}`" for violation in less_severe[: _MAX_SHOWN - 1]
    ]
    hidden = len(less_severe) - len(notes)
    notes += [f"and {hidden} more"] if hidden > 0 else []
    help = (
        f"classify it with `--kind {name}=KIND,..` or `[[classify]]` in the profile of the home, or for all homes in "
        "the object table (docs/safety-rules.md); "
        f"if it has no kind that matters, use `--assume-harmless {name}`"
    )
    return Diagnostic(SC.OBJECT_NOT_CLASSIFIED, message, labels, tuple(notes), help, Severity.WARNING)


def _describe_condition(violation: PossibleViolation) -> str:
    """Return the kinds under which a rule would be violated, as text."""
    classes = "".join([f" and `{name}`" for name in violation.others])
    kinds = " and ".join([f"`{kind}`" for kind in violation.kinds])
    return f"if it{classes} {'are' if classes else 'is'} {kinds}"


def _warn_about_limit(used: Iterable[str]) -> Diagnostic:
    """Return the warning that there were too many kinds and rules to try."""
    names = ", ".join([f"`{name}`" for name in used])
    message = f"{names}: no known kind, and too many kinds and rules to try"
    help = "classify them with `--kind CLASS=KIND,..` or `--assume-harmless CLASS`"
    return Diagnostic(SC.OBJECT_NOT_CLASSIFIED, message, (), (), help, Severity.WARNING)
