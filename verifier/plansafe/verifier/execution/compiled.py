"""Compile a domain, a problem and specifications once for all plans; a user's mistake is a diagnostic."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import parse_source
from plansafe.grammar.source import Source, expect_sources
from plansafe.verifier.elaborate.context import Context
from plansafe.verifier.elaborate.symbols import Symbols
from plansafe.verifier.elaborate.task import ElaboratedTask, elaborate_task
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.one_world import (
    NeedsOneWorld,
    OpenFeature,
    find_open_feature,
    make_continuous_refusal,
    make_refusal,
)
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.steps import Tolerance, widen_tolerance
from plansafe.verifier.model.garbage_collection import paused_garbage_collection
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import OpenPredicate, Task, Temporal, WorldInvariant
from plansafe.verifier.model.operations import subformulas
from plansafe.verifier.rules.expanded_specs import ExpandedSpecs
from plansafe.verifier.rules.kinds import (
    EVERYTHING,
    ClassKinds,
    Kinds,
    check_classes,
    collect_given_kinds,
    declare_kind_types,
    find_bound_kinds,
    find_classes,
    give_kinds,
    give_mapped_kinds,
)
from plansafe.verifier.rules.mapping import ProposedKind
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.rules.rule_elaboration import RuleElaborator
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, Exemption, VerdictCriteria

if TYPE_CHECKING:
    from plansafe.verifier.rules.home_profile import HomeProfile, ProfileApplication, ProfileEffects

RECURSION_LIMIT = 1_000_000
"""Stops only an infinite recursion.

Formulas may nest as deep as memory allows, because since Python 3.11 the frames of Python functions are on the heap.
"""
MAX_DIGITS = 20_100
"""The decimal digits of the largest number, 65,536 bits."""
_STRUCTURE_CODES = frozenset((SC.UNBALANCED, SC.STRUCTURE))

ResolveSpecification = Callable[[str, Source], Source | None]
"""Finds the specification that another one (the second argument) extends by a name; ``None`` if it does not exist."""


class Options(NamedTuple):
    """How to check plans."""

    lenient_types: bool = False
    """Type mismatches are warnings."""
    tolerance: Fraction = Fraction(1, 1000)
    """The tolerance of durations, and the time that separates interfering actions."""
    blame: tuple[str, ...] = ()
    """List only violations with one of these blames; empty: list all."""
    time_limit_s: float | None = None
    """In seconds; ``None``: no limit."""
    max_findings: int = 100
    """Findings beyond this number are counted, not listed."""
    max_instances: int = 5_000_000
    """Maximum number of instances of a rule."""
    full_state: bool = False
    """Each finding has the whole state."""
    replay: str = "auto"
    """When the kernel checks findings again: ``auto``, ``always`` or ``never``."""
    require_rules: bool = False
    """Report it if no rule had anything to check."""
    engine: str = "auto"
    """``auto``, ``explicit``, ``sat`` or ``smt`` (docs/worlds.md, section 3)."""
    infer_invariants: bool = True
    """Inferred invariants restrict open predicates."""
    certificate: bool = False
    """A SAFE that a solver decided comes with a proof."""
    double_check: bool = False
    """A second solver confirms the answers of the first."""
    judge: str = EVERY_VIOLATION.judge
    """Which violations decide the verdict, by their blame (:class:`VerdictCriteria`)."""
    min_severity: str = EVERY_VIOLATION.min_severity
    """Violations of less severe rules do not decide the verdict."""
    home: HomeProfile | None = None
    """The profile of a home."""
    exemptions: tuple[Exemption, ...] = ()
    """The exemptions of the profile, which are set when a task is compiled."""

    @property
    def criteria(self) -> VerdictCriteria:
        """The criteria for decisive violations."""
        return VerdictCriteria(self.judge, self.min_severity, self.exemptions)


class CompiledTask(NamedTuple):
    """A task with its rules, compiled once for any number of plans.

    ``sources`` are all texts that labels may refer to, by name; ``context`` has their places. ``expanded`` are the
    specifications before they are typed. ``open_feature``: something that the task leaves open, if it has several
    possible worlds (docs/worlds.md). ``diagnostics`` are warnings and notes.
    """

    domain: Source
    problem: Source
    sources: Mapping[str, Source]
    options: Options
    context: Context
    symbols: Symbols
    expanded: ExpandedSpecs
    rules: list[Rule]
    openings: tuple[OpenPredicate, ...]
    invariants: tuple[WorldInvariant, ...]
    engine: Engine
    open_feature: OpenFeature | None
    diagnostics: tuple[Diagnostic, ...]
    specs: tuple[Source, ...]
    """The specifications without those that they extend."""
    resolve: ResolveSpecification | None
    """Finds the specifications that others extend; ``None``: they cannot extend any."""
    kinds: Kinds
    """The kinds that mappings bind."""
    binding_counts: tuple[int, ...]
    """The number of bindings of each rule's parameters; 0 if the rule is not applicable."""
    home_effects: ProfileEffects | None = None
    """The effects of the home profile; ``None`` without one."""

    @property
    def task(self) -> Task:
        """The task itself."""
        return self.engine.task

    @property
    def is_open(self) -> bool:
        """Whether the task has several possible worlds."""
        return self.open_feature is not None

    def find_tolerance(self, resolved: ResolvedPlan) -> Tolerance:
        """Return the tolerance of times in a plan, which accepts rounding of the last printed decimal."""
        return widen_tolerance(self.options.tolerance, resolved.text.decimals)

    def explain_refusal(self, capability: str, resolved: ResolvedPlan | None = None) -> Diagnostic | None:
        """Return why ``capability`` ("the repair of plans", ..) is refused; ``None`` if task and plan have one world.

        ``resolved``: the plan; ``None`` if only the task matters.
        """
        if self.task.is_continuous:
            return make_continuous_refusal(capability)
        return self.explain_several_worlds(capability, resolved)

    def explain_several_worlds(self, capability: str, resolved: ResolvedPlan | None = None) -> Diagnostic | None:
        """Return why ``capability`` is refused with several worlds; ``None`` if task and plan have one world."""
        feature = self.open_feature
        if feature is None and resolved is not None and resolved.is_open:
            feature = OpenFeature("the order or the durations of the plan are open")
        return None if feature is None else make_refusal(feature, capability)

    def require_one_world(self, capability: str, resolved: ResolvedPlan | None = None) -> None:
        """Raise :class:`NeedsOneWorld` unless task and plan have one world."""
        diagnostic = self.explain_refusal(capability, resolved)
        if diagnostic is not None:
            raise NeedsOneWorld(diagnostic)

    @property
    def given_kinds(self) -> tuple[ClassKinds, ...]:
        """The classes to whose objects the home profile gives kinds."""
        return () if self.options.home is None else self.options.home.classes

    def with_open_kinds(self) -> CompiledTask:
        """Return the same task with every kind open, so that rules with empty kinds apply (:mod:`..rules.kinds`)."""
        options = self.options._replace(exemptions=())
        compiled = _compile(self.domain, self.problem, self.specs, options, self.resolve, _EVERY_KIND)
        assert isinstance(compiled, CompiledTask), compiled.diagnostics
        return compiled

    @property
    def proposed_kinds(self) -> tuple[ProposedKind, ...]:
        """The proposed kinds of the task's objects, except those that the user classified."""
        names, index = self.symbols.objects, self.symbols.object_index
        proposed = [kind for applied in self.expanded.mappings for kind in applied.mapping.proposed]
        if not proposed:
            return ()
        classes = find_classes(self.symbols, self.kinds) if self.given_kinds else {}
        classified_objects = {names[number] for entry in self.given_kinds for number in classes.get(entry.name, ())}
        return tuple([kind for kind in proposed if kind.object in index and kind.object not in classified_objects])

    def with_proposed_kinds(self) -> CompiledTask:
        """Return the same task in which objects also have their proposed kinds."""
        options = self.options._replace(certificate=False)
        objects = frozenset([proposed.object for proposed in self.proposed_kinds])
        compiled = _compile(self.domain, self.problem, self.specs, options, self.resolve, proposed_objects=objects)
        assert isinstance(compiled, CompiledTask), compiled.diagnostics
        return compiled

    def make_variant(self, task: Task, rules: list[Rule] | None = None) -> CompiledTask:
        """Return the compiled form of another task with the same names and one world.

        ``rules``: ``None`` for the same rules.
        """
        rules = self.rules if rules is None else rules
        engine = _make_engine(task, rules, self.symbols, self.options)
        return self._replace(rules=rules, engine=engine, open_feature=None, binding_counts=_count_bindings(task, rules))


class Rejected(NamedTuple):
    """A task that cannot be compiled.

    ``diagnostics``: at least one of them is an error. ``sources``: all texts that labels refer to, by name.
    """

    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]


def compile_task(
    domain: Source,
    problem: Source,
    specs: Sequence[Source] = (),
    options: Options | None = None,
    resolve: ResolveSpecification | None = None,
) -> CompiledTask | Rejected:
    """Read, check and compile a task and its rules. Raises ``TypeError`` if an argument is not a ``Source``."""
    expect_sources(domain=domain, problem=problem)
    if isinstance(specs, Source | str):
        raise TypeError(f"specs takes a sequence of Sources, not one {type(specs).__name__}: write [..] around it")
    for spec in specs:
        expect_sources(specs=spec)
    if sys.getrecursionlimit() < RECURSION_LIMIT:
        sys.setrecursionlimit(RECURSION_LIMIT)
    if 0 < sys.get_int_max_str_digits() < MAX_DIGITS:
        sys.set_int_max_str_digits(MAX_DIGITS)
    with paused_garbage_collection():
        return _compile(domain, problem, specs, options or Options(), resolve)


class _EveryKind(Container[str]):
    """All kinds except the kinds of all objects."""

    def __contains__(self, kind: object) -> bool:
        return kind not in EVERYTHING


_EVERY_KIND = _EveryKind()


def _compile(
    domain: Source,
    problem: Source,
    specs: Sequence[Source],
    options: Options,
    resolve: ResolveSpecification | None,
    open_kinds: Container[str] = (),
    proposed_objects: Container[str] = (),
) -> CompiledTask | Rejected:
    context = Context(options.lenient_types)
    sources = {source.name: source for source in (domain, *domain.parts, problem, *problem.parts, *specs)}
    elaborated = _elaborate(context, domain, problem)
    if elaborated is None:
        return Rejected(_with_expectations(context, sources, domain, problem), sources)
    symbols = elaborated.symbols
    rules = RuleElaborator(symbols)
    rules.elaborate_constraints(elaborated.constraints)
    profile_application = None
    if options.home is not None:
        from plansafe.verifier.rules.home_profile import ProfileApplication  # noqa: PLC0415 - optional

        profile_application = ProfileApplication(options.home, context)
    classes = () if options.home is None else options.home.classes
    expanded, kinds = _elaborate_specifications(
        context,
        rules,
        elaborated.task.name,
        specs,
        sources,
        resolve,
        profile_application,
        classes,
        open_kinds,
        proposed_objects,
    )
    if elaborated.task.is_continuous:
        _refuse_neighbours(context, rules.rules)
    effects = None
    if profile_application is not None and options.home is not None:
        sources |= {text.name: text for text in (options.home.source, *options.home.entry_sources)}
        if not context.errors:
            effects = profile_application.apply(rules.rules, expanded, symbols)
            options = options._replace(exemptions=effects.exemptions)
    diagnostics = _with_expectations(context, sources, domain, problem)
    if context.errors:
        return Rejected(diagnostics, sources)
    names = tuple(symbols.types.names)
    task = elaborated.task._replace(object_types=tuple(symbols.object_types), type_names=names)
    openings, invariants = tuple(rules.openings), tuple(rules.invariants)
    open_feature = find_open_feature(task, context, openings, invariants)
    engine = _make_engine(task, rules.rules, symbols, options, open_feature)
    return CompiledTask(
        domain,
        problem,
        sources,
        options,
        context,
        symbols,
        expanded,
        rules.rules,
        openings,
        invariants,
        engine,
        open_feature,
        diagnostics,
        tuple(specs),
        resolve,
        kinds,
        _count_bindings(task, rules.rules),
        effects,
    )


def _elaborate(context: Context, domain: Source, problem: Source) -> ElaboratedTask | None:
    tops = []
    for source in (domain, problem):
        part_diagnostics = [d for part in source.parts for d in _check_part(part)]
        context.diagnostics += part_diagnostics
        context.errors += len(part_diagnostics)
        top, diagnostics = parse_source(source)
        context.diagnostics.extend(() if part_diagnostics else diagnostics)
        if top is None or part_diagnostics:
            context.errors += max(len(diagnostics), 1)
        else:
            context.places.append(Places(source, top))
            tops.append(top)
    return elaborate_task(context, tops[0], tops[1]) if len(tops) == 2 else None


def _check_part(part: Source) -> tuple[Diagnostic, ...]:
    """Return why a text cannot be joined with others: it does not have exactly one definition."""
    top, diagnostics = parse_source(part)
    if diagnostics or top is None or len(top) == 1:
        return tuple([diagnostic._replace(severity=Severity.ERROR) for diagnostic in diagnostics])
    label = Label(part.name, Span(0, 0))
    return (Diagnostic(SC.STRUCTURE, f"{part.name} does not have one definition", (label,)),)


def _elaborate_specifications(
    context: Context,
    rules: RuleElaborator,
    task: str,
    specs: Sequence[Source],
    sources: dict[str, Source],
    resolve: ResolveSpecification | None,
    profile_application: ProfileApplication | None,
    classes: Sequence[ClassKinds],
    open_kinds: Container[str],
    proposed_objects: Container[str],
) -> tuple[ExpandedSpecs, Kinds]:
    """Add the rules of specifications to ``rules``, and the texts that they extend to ``sources``."""
    symbols = rules.symbols
    if not specs:
        expanded = ExpandedSpecs([], [])
        kinds = find_bound_kinds(symbols, expanded)
        if classes:
            check_classes(symbols, kinds, classes)
        return (expanded if profile_application is None else profile_application.remove_disabled_rules(expanded)), kinds

    def resolve_extended(name: str, extending: Source) -> Source | None:
        extended = resolve(name, extending) if resolve is not None else None
        if extended is not None:
            sources[extended.name] = extended
        return extended

    from plansafe.verifier.rules.expand import SpecExpander  # noqa: PLC0415 - only for specifications

    type_names = frozenset(symbols.types.index)
    try:
        if classes:
            trial_context = Context()  # the diagnostics of this first expansion are not reported
            trial = SpecExpander(trial_context, task, resolve_extended, (), type_names, proposed_objects)
            expanded = trial.expand(list(specs))
            give_mapped_kinds(symbols, expanded)
            kinds = find_bound_kinds(symbols, expanded)
            if not trial_context.errors:
                check_classes(symbols, kinds, classes)
            given_kinds = collect_given_kinds(kinds, classes)
            open_kinds = open_kinds or given_kinds
            declare_kind_types(symbols, given_kinds)
            give_kinds(symbols, kinds, [entry for entry in classes if set(entry.kinds) <= given_kinds])
        expander = SpecExpander(context, task, resolve_extended, open_kinds, type_names, proposed_objects)
        expanded = expander.expand(list(specs))
        give_mapped_kinds(symbols, expanded)
        expanded = expanded if profile_application is None else profile_application.remove_disabled_rules(expanded)
        if open_kinds is _EVERY_KIND:
            declare_kind_types(
                symbols, [kind for kind in find_bound_kinds(symbols, expanded).types if kind not in EVERYTHING]
            )
        rules.elaborate_specifications(expanded)
    except LimitReached:
        label = Label(specs[0].name, Span(0, 1), "this specification")
        context.diagnostics.append(
            Diagnostic(SC.TOO_MANY_INSTANCES, "templates and macros expand to more than a million nodes", (label,))
        )
        context.errors += 1
        expanded = ExpandedSpecs([], [])
    return expanded, find_bound_kinds(symbols, expanded)


def _make_engine(
    task: Task, rules: list[Rule], symbols: Symbols, options: Options, feature: OpenFeature | None = None
) -> Engine:
    refusal = None if feature is None else make_refusal(feature, "the replay in one world")
    if task.is_continuous:
        refusal = make_continuous_refusal("the execution step by step")
    return Engine(
        task,
        rules,
        symbols.action_predicates,
        lenient_types=options.lenient_types,
        max_instances=options.max_instances,
        refusal=refusal,
    )


def _refuse_neighbours(context: Context, rules: list[Rule]) -> None:
    """Report rules about neighbouring letters: in continuous time no letter is next."""
    for rule in rules:
        formulas = [formula for part in rule.parts for formula in (part.body, part.guard) if formula is not None]
        operators = {p.operator for f in formulas for p in subformulas(f) if isinstance(p, Temporal)}
        for operator in sorted(operators & {"next", "weak-next", "yesterday", "weak-yesterday"}):
            message, help = f"`{operator}` has no meaning in continuous time", "write a bound, or `once` or `sometime`"
            context.error(SC.CONTINUOUS_TIME, message, rule.at, "in this rule", help=help)


def _count_bindings(task: Task, rules: list[Rule]) -> tuple[int, ...]:
    return tuple(
        [prod([len(task.domains[v.domain]) for v in r.declared_parameters]) if r.applicable else 0 for r in rules]
    )


def _with_expectations(
    context: Context, sources: Mapping[str, Source], domain: Source, problem: Source
) -> tuple[Diagnostic, ...]:
    """All diagnostics; the first structural error of each text gets notes with the expected syntax."""
    if not any([d.code in _STRUCTURE_CODES for d in context.diagnostics]):
        return tuple(context.diagnostics)
    from plansafe.grammar.expected_syntax import explain_expectation  # noqa: PLC0415 - loads lark

    kinds = {source.name: "domain" for source in (domain, *domain.parts)}
    kinds |= {source.name: "problem" for source in (problem, *problem.parts)}
    explained: set[str] = set()
    diagnostics = []
    for diagnostic in context.diagnostics:
        name = diagnostic.labels[0].source if diagnostic.labels else ""
        if diagnostic.code in _STRUCTURE_CODES and name in sources and name not in explained:
            explained.add(name)
            notes = explain_expectation(kinds.get(name, "specification"), sources[name])
            diagnostic = diagnostic._replace(notes=(*diagnostic.notes, *notes))
        diagnostics.append(diagnostic)
    return tuple(diagnostics)
