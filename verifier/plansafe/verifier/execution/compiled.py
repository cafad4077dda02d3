"""From texts to a compiled task: what is judged, the same for every plan.

A user's mistake is a diagnostic, never an exception.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import parse_source
from plansafe.grammar.source import Source, expect_sources
from plansafe.verifier.elaborate.context import Context
from plansafe.verifier.elaborate.symbols import Symbols
from plansafe.verifier.elaborate.task import ElaboratedTask, elaborate_task
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.one_world import NeedsOneWorld, OpenFeature, find_open_feature, refusal_of
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.steps import Tolerance, rounded_tolerance
from plansafe.verifier.model.garbage_collection import paused_garbage_collection
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import OpenPredicate, Task, WorldInvariant
from plansafe.verifier.rules.elaborate import RuleElaborator
from plansafe.verifier.rules.expanded_specs import ExpandedSpecs
from plansafe.verifier.rules.kinds import (
    EVERYTHING,
    ClassKinds,
    Kinds,
    bound_kinds,
    check_classes,
    give_kinds,
    kinds_of_classes,
    open_kinds,
)
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, Exemption, VerdictCriteria

if TYPE_CHECKING:
    from plansafe.verifier.rules.home_profile import HomeProfile, ProfileApplication, ProfileEffects

# Formulas may nest as deep as memory allows. Python frames of Python functions live on the heap (3.11 and later), so
# the limit only guards against runaway recursion.
RECURSION_LIMIT = 1_000_000
# 65,536 bits, the largest number there is, in decimal.
MAX_DIGITS = 20_100
_SHAPE = frozenset((SC.UNBALANCED, SC.STRUCTURE))

ResolveSpecification = Callable[[str, Source], Source | None]
"""Finds the specification that another one (the second argument) extends by a name; ``None``: there is none."""


class Options(NamedTuple):
    """How to check. ``judge`` and ``min_severity`` say which violations decide, ``blame`` which are listed.

    Times are in seconds; ``replay`` says when the kernel checks findings again. ``engine`` is ``auto``, ``explicit``,
    ``sat`` or ``smt`` (docs/worlds.md, section 3); ``infer_invariants``: inferred invariants restrict open predicates;
    ``certificate``: a SAFE that a solver decided comes with a proof; ``double_check``: a second solver is asked.
    ``home`` is the profile of a home; ``exemptions``: what it exempts in the task, filled in when that is compiled.
    """

    lenient_types: bool = False
    tolerance: Fraction = Fraction(1, 1000)
    blame: tuple[str, ...] = ()
    time_limit_s: float | None = None
    max_findings: int = 100
    max_instances: int = 5_000_000
    full_state: bool = False
    replay: str = "auto"
    require_rules: bool = False
    engine: str = "auto"
    infer_invariants: bool = True
    certificate: bool = False
    double_check: bool = False
    judge: str = EVERY_VIOLATION.judge
    min_severity: str = EVERY_VIOLATION.min_severity
    home: HomeProfile | None = None
    exemptions: tuple[Exemption, ...] = ()

    @property
    def criteria(self) -> VerdictCriteria:
        """Which violations decide."""
        return VerdictCriteria(self.judge, self.min_severity, self.exemptions)


class CompiledTask(NamedTuple):
    """A task with its rules, compiled once for any number of plans.

    ``sources`` are all texts that labels may refer to, by name; ``context`` knows their places. ``expanded`` are the
    specifications before they are typed. ``open_feature``: what the description leaves open, if there are many worlds
    (docs/worlds.md). ``diagnostics`` are warnings and notes.
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
    """The specifications as they were given."""
    resolve: ResolveSpecification | None
    kinds: Kinds
    """The kinds that mappings bind."""
    bindings: tuple[int, ...]
    """How many bindings of its parameters each rule has; none if it is not applicable."""
    home: ProfileEffects | None = None
    """What the profile of a home comes to, if there is one."""

    @property
    def task(self) -> Task:
        """The task itself."""
        return self.engine.task

    @property
    def is_open(self) -> bool:
        """Whether the description leaves anything open."""
        return self.open_feature is not None

    def tolerance(self, read: ResolvedPlan) -> Tolerance:
        """The tolerance of durations and separation in a plan, with what its last decimalis accepted."""
        return rounded_tolerance(self.options.tolerance, read.text.decimals)

    def refusal(self, what: str, read: ResolvedPlan | None = None) -> Diagnostic | None:
        """Why ``what`` (`the repair of plans`, ..) is refused; ``None`` if there is one world alone."""
        found = self.open_feature
        if found is None and read is not None and read.is_open:
            found = OpenFeature("the order or the durations of the plan are open")
        return None if found is None else refusal_of(found, what)

    def require_one_world(self, what: str, read: ResolvedPlan | None = None) -> None:
        """Raise :class:`NeedsOneWorld` unless there is one world alone."""
        diagnostic = self.refusal(what, read)
        if diagnostic is not None:
            raise NeedsOneWorld(diagnostic)

    @property
    def given_kinds(self) -> tuple[ClassKinds, ...]:
        """The kinds of classes that a user gave."""
        return () if self.options.home is None else self.options.home.classes

    def with_open_kinds(self) -> CompiledTask:
        """The same task with every kind open, so that objects can be given kinds (:mod:`..rules.kinds`).

        Rules that lack nothing but empty kinds apply there.
        """
        options = self.options._replace(exemptions=())
        made = _compiled(self.domain, self.problem, self.specs, options, self.resolve, _EVERY_KIND)
        assert isinstance(made, CompiledTask), made.diagnostics
        return made

    def variant(self, task: Task, rules: list[Rule] | None = None) -> CompiledTask:
        """The same for a task over the same names that leaves nothing open, with these rules instead of its own."""
        rules = self.rules if rules is None else rules
        engine = _engine(task, rules, self.symbols, self.options)
        return self._replace(rules=rules, engine=engine, open_feature=None, bindings=_bindings(task, rules))


class Rejected(NamedTuple):
    """What is wrong with a domain, a problem or specifications: no plan can be judged."""

    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]


def compile_task(
    domain: Source,
    problem: Source,
    specs: Sequence[Source] = (),
    options: Options | None = None,
    resolve: ResolveSpecification | None = None,
) -> CompiledTask | Rejected:
    """Read, check and compile a task and its rules. Raises ``TypeError`` for what is no source."""
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
        return _compiled(domain, problem, specs, options or Options(), resolve)


class _EveryKind(Container[str]):
    """All kinds but those of everything."""

    def __contains__(self, kind: object) -> bool:
        return kind not in EVERYTHING


_EVERY_KIND = _EveryKind()


def _compiled(
    domain: Source,
    problem: Source,
    specs: Sequence[Source],
    options: Options,
    resolve: ResolveSpecification | None,
    opened: Container[str] = (),
) -> CompiledTask | Rejected:
    context = Context(options.lenient_types)
    sources = {source.name: source for source in (domain, problem, *specs)}
    elaborated = _elaborated(context, domain, problem)
    if elaborated is None:
        return Rejected(_expected(context, sources, domain, problem), sources)
    symbols = elaborated.symbols
    rules = RuleElaborator(symbols)
    rules.constraints(elaborated.constraints)
    home = None
    if options.home is not None:
        from plansafe.verifier.rules.home_profile import ProfileApplication  # noqa: PLC0415 - loaded if there is a home profile

        home = ProfileApplication(options.home, context)
    classes = () if options.home is None else options.home.classes
    expanded, kinds = _specified(context, rules, elaborated.task.name, specs, sources, resolve, home, classes, opened)
    effects = None
    if home is not None and options.home is not None:
        sources |= {text.name: text for text in (options.home.source, *options.home.entry_sources)}
        if not context.errors:
            effects = home.apply(rules.rules, expanded, symbols)
            options = options._replace(exemptions=effects.exemptions)
    diagnostics = _expected(context, sources, domain, problem)
    if context.errors:
        return Rejected(diagnostics, sources)
    names = tuple(symbols.types.names)
    task = elaborated.task._replace(object_types=tuple(symbols.object_types), type_names=names)
    openings, invariants = tuple(rules.openings), tuple(rules.invariants)
    found = find_open_feature(task, context, openings, invariants)
    engine = _engine(task, rules.rules, symbols, options, found)
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
        found,
        diagnostics,
        tuple(specs),
        resolve,
        kinds,
        _bindings(task, rules.rules),
        effects,
    )


def _elaborated(context: Context, domain: Source, problem: Source) -> ElaboratedTask | None:
    """The task and what the rules need of it; ``None`` if a text cannot be read at all."""
    tops = []
    for source in (domain, problem):
        top, found = parse_source(source)
        context.diagnostics.extend(found)
        if top is None:
            context.errors += max(len(found), 1)
        else:
            context.places.append(Places(source, top))
            tops.append(top)
    return elaborate_task(context, tops[0], tops[1]) if len(tops) == 2 else None


def _specified(
    context: Context,
    rules: RuleElaborator,
    task: str,
    specs: Sequence[Source],
    sources: dict[str, Source],
    resolve: ResolveSpecification | None,
    home: ProfileApplication | None,
    classes: Sequence[ClassKinds],
    opened: Container[str],
) -> tuple[ExpandedSpecs, Kinds]:
    """Add the rules of specifications to ``rules``, and the texts that they extend to ``sources``."""
    symbols = rules.symbols
    if not specs:
        nothing = ExpandedSpecs([], [])
        kinds = bound_kinds(symbols, nothing)
        check_classes(symbols, kinds, classes)
        return (nothing if home is None else home.switch_off(nothing)), kinds

    def remember(name: str, beside: Source) -> Source | None:
        found = resolve(name, beside) if resolve is not None else None
        if found is not None:
            sources[found.name] = found
        return found

    from plansafe.verifier.rules.expand import SpecExpander  # noqa: PLC0415 - for specifications alone

    try:
        if classes:
            silent = Context()
            kinds = bound_kinds(symbols, SpecExpander(silent, task, remember).expand(list(specs)))
            if not silent.errors:
                check_classes(symbols, kinds, classes)
            given = kinds_of_classes(kinds, classes)
            opened = opened or given
            open_kinds(symbols, given)
            give_kinds(symbols, kinds, [entry for entry in classes if set(entry.kinds) <= given])
        expanded = SpecExpander(context, task, remember, opened).expand(list(specs))
        expanded = expanded if home is None else home.switch_off(expanded)
        if opened is _EVERY_KIND:
            open_kinds(symbols, [kind for kind in bound_kinds(symbols, expanded).types if kind not in EVERYTHING])
        rules.specifications(expanded)
    except LimitReached:
        label = Label(specs[0].name, Span(0, 1), "this specification")
        context.diagnostics.append(
            Diagnostic(SC.TOO_MANY_INSTANCES, "templates and macros expand to more than a million nodes", (label,))
        )
        context.errors += 1
        expanded = ExpandedSpecs([], [])
    return expanded, bound_kinds(symbols, expanded)


def _engine(
    task: Task, rules: list[Rule], symbols: Symbols, options: Options, found: OpenFeature | None = None
) -> Engine:
    return Engine(
        task,
        rules,
        symbols.action_predicates,
        lenient_types=options.lenient_types,
        max_instances=options.max_instances,
        refusal=None if found is None else refusal_of(found, "the replay in one world"),
    )


def _bindings(task: Task, rules: list[Rule]) -> tuple[int, ...]:
    return tuple([prod([len(task.domains[v.domain]) for v in r.declared]) if r.applicable else 0 for r in rules])


def _expected(
    context: Context, sources: Mapping[str, Source], domain: Source, problem: Source
) -> tuple[Diagnostic, ...]:
    """All diagnostics; the first mistake of shape in each text says what the grammar expected there."""
    if not any([d.code in _SHAPE for d in context.diagnostics]):
        return tuple(context.diagnostics)
    from plansafe.grammar.expected_syntax import expectation_notes  # noqa: PLC0415 - loads lark

    kinds = {domain.name: "domain", problem.name: "problem"}
    told: set[str] = set()
    out = []
    for diagnostic in context.diagnostics:
        name = diagnostic.labels[0].source if diagnostic.labels else ""
        if diagnostic.code in _SHAPE and name in sources and name not in told:
            told.add(name)
            notes = expectation_notes(kinds.get(name, "specification"), sources[name])
            diagnostic = diagnostic._replace(notes=(*diagnostic.notes, *notes))
        out.append(diagnostic)
    return tuple(out)
