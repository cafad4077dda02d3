"""Compile a domain, a problem and specifications once for all plans; a user's mistake is a diagnostic."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Mapping, Sequence
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
from plansafe.verifier.execution.compiled import (
    CompiledTask,
    Options,
    Rejected,
    ResolveSpecification,
    count_bindings,
    make_engine,
)
from plansafe.verifier.execution.one_world import find_open_feature
from plansafe.verifier.model.garbage_collection import paused_garbage_collection
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Temporal
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
    give_kinds,
    give_mapped_kinds,
)
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.rules.rule_elaboration import RuleElaborator

if TYPE_CHECKING:
    from plansafe.verifier.rules.home_profile import ProfileApplication

RECURSION_LIMIT = 1_000_000
"""Stops only an infinite recursion.

Formulas may nest as deep as memory allows, because since Python 3.11 the frames of Python functions are on the heap.
"""
MAX_DIGITS = 20_100
"""The decimal digits of the largest number, 65,536 bits."""
_STRUCTURE_CODES = frozenset((SC.UNBALANCED, SC.STRUCTURE))
"""The errors that are explained by the expected syntax."""
_NEIGHBOUR_OPERATORS = frozenset(("next", "weak-next", "yesterday", "weak-yesterday"))
"""The temporal operators about a neighbouring letter."""


class _EveryKind(Container[str]):
    """A container of all kinds, except the kinds that every object has."""

    def __contains__(self, kind: object) -> bool:
        return kind not in EVERYTHING


_EVERY_KIND = _EveryKind()


class _Inputs(NamedTuple):
    """What a task is compiled from.

    Rules apply to kinds in ``open_kinds`` even if no object has them. Objects in ``proposed_objects`` get their
    proposed kinds.
    """

    domain: Source
    problem: Source
    specs: Sequence[Source]
    options: Options
    resolve: ResolveSpecification | None
    open_kinds: Container[str] = ()
    proposed_objects: Container[str] = ()


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
        return _compile(_Inputs(domain, problem, specs, options or Options(), resolve))


def compile_with_open_kinds(compiled: CompiledTask) -> CompiledTask:
    """Return the same task with every kind open, so that rules with empty kinds apply (:mod:`..rules.kinds`)."""
    return _compile_again(compiled, compiled.options._replace(exemptions=()), open_kinds=_EVERY_KIND)


def compile_with_proposed_kinds(compiled: CompiledTask) -> CompiledTask:
    """Return the same task in which objects also have their proposed kinds."""
    objects = frozenset([proposed.object for proposed in compiled.proposed_kinds])
    return _compile_again(compiled, compiled.options._replace(certificate=False), proposed_objects=objects)


def _compile_again(
    compiled: CompiledTask, options: Options, open_kinds: Container[str] = (), proposed_objects: Container[str] = ()
) -> CompiledTask:
    """Compile the texts of a task again with other options, open kinds and proposed kinds."""
    sources = compiled.domain, compiled.problem, compiled.specs
    variant = _compile(_Inputs(*sources, options, compiled.resolve, open_kinds, proposed_objects))
    assert isinstance(variant, CompiledTask), variant.diagnostics
    return variant


def _compile(inputs: _Inputs) -> CompiledTask | Rejected:
    """Elaborate the task and its rules; make the engine unless there are errors."""
    domain, problem, options = inputs.domain, inputs.problem, inputs.options
    context = Context(options.lenient_types)
    sources = {source.name: source for source in (domain, *domain.parts, problem, *problem.parts, *inputs.specs)}
    elaborated = _elaborate_task(context, domain, problem)
    if elaborated is None:
        return Rejected(_add_expected_syntax(context, sources, domain, problem), sources)
    symbols = elaborated.symbols
    elaborator = RuleElaborator(symbols)
    elaborator.elaborate_constraints(elaborated.constraints)
    profile_application = None
    if options.home is not None:
        from plansafe.verifier.rules.home_profile import ProfileApplication  # noqa: PLC0415 - optional

        profile_application = ProfileApplication(options.home, context)
    expanded, kinds = _elaborate_specifications(inputs, elaborator, elaborated.task.name, sources, profile_application)
    rules = elaborator.rules
    if elaborated.task.is_continuous:
        _refuse_neighbour_operators(context, rules)
    effects = None
    if profile_application is not None and options.home is not None:
        sources |= {text.name: text for text in (options.home.source, *options.home.entry_sources)}
        if not context.errors:
            effects = profile_application.apply(rules, expanded, symbols)
            options = options._replace(exemptions=effects.exemptions)
    diagnostics = _add_expected_syntax(context, sources, domain, problem)
    if context.errors:
        return Rejected(diagnostics, sources)
    names = tuple(symbols.types.names)
    task = elaborated.task._replace(object_types=tuple(symbols.object_types), type_names=names)
    openings, invariants = tuple(elaborator.openings), tuple(elaborator.invariants)
    open_feature = find_open_feature(task, context, openings, invariants)
    return CompiledTask(
        domain=domain,
        problem=problem,
        sources=sources,
        options=options,
        context=context,
        symbols=symbols,
        expanded=expanded,
        rules=rules,
        openings=openings,
        invariants=invariants,
        engine=make_engine(task, rules, symbols, options, open_feature),
        open_feature=open_feature,
        diagnostics=diagnostics,
        specs=tuple(inputs.specs),
        resolve=inputs.resolve,
        kinds=kinds,
        binding_counts=count_bindings(task, rules),
        home_effects=effects,
    )


def _elaborate_task(context: Context, domain: Source, problem: Source) -> ElaboratedTask | None:
    """Parse and elaborate the domain and the problem; ``None`` if one cannot be parsed."""
    trees = []
    for source in (domain, problem):
        part_diagnostics = [d for part in source.parts for d in _check_part(part)]
        context.diagnostics += part_diagnostics
        context.errors += len(part_diagnostics)
        tree, diagnostics = parse_source(source)
        context.diagnostics.extend(() if part_diagnostics else diagnostics)
        if tree is None or part_diagnostics:
            context.errors += max(len(diagnostics), 1)
        else:
            context.places.append(Places(source, tree))
            trees.append(tree)
    return elaborate_task(context, trees[0], trees[1]) if len(trees) == 2 else None


def _check_part(part: Source) -> tuple[Diagnostic, ...]:
    """Return why a text cannot be joined with others: it has errors, or not exactly one definition."""
    tree, diagnostics = parse_source(part)
    if diagnostics or tree is None or len(tree) == 1:
        return tuple([diagnostic._replace(severity=Severity.ERROR) for diagnostic in diagnostics])
    label = Label(part.name, Span(0, 0))
    return (Diagnostic(SC.STRUCTURE, f"{part.name} does not have one definition", (label,)),)


def _elaborate_specifications(
    inputs: _Inputs,
    elaborator: RuleElaborator,
    domain_name: str,
    sources: dict[str, Source],
    profile_application: ProfileApplication | None,
) -> tuple[ExpandedSpecs, Kinds]:
    """Add the rules of specifications to ``elaborator``, and the texts that they extend to ``sources``.

    Returns the expanded specifications, and the kinds that their mappings bind.
    """
    symbols, context = elaborator.symbols, elaborator.symbols.context
    classes = () if inputs.options.home is None else inputs.options.home.classes
    if not inputs.specs:
        expanded = ExpandedSpecs([], [])
        kinds = find_bound_kinds(symbols, expanded)
        if classes:
            check_classes(symbols, kinds, classes)
        if profile_application is not None:
            expanded = profile_application.remove_disabled_rules(expanded)
        return expanded, kinds
    expand = _make_expansion(inputs, symbols, domain_name, sources)
    try:
        given_kinds = _give_kinds_of_classes(symbols, classes, expand) if classes else frozenset[str]()
        expanded = expand(context, inputs.open_kinds or given_kinds)
        if profile_application is not None:
            expanded = profile_application.remove_disabled_rules(expanded)
        if inputs.open_kinds is _EVERY_KIND:
            declare_kind_types(symbols, find_bound_kinds(symbols, expanded).find_informative_kinds())
        elaborator.elaborate_specifications(expanded)
    except LimitReached:
        label = Label(inputs.specs[0].name, Span(0, 1), "this specification")
        message = "templates and macros expand to more than a million nodes"
        context.diagnostics.append(Diagnostic(SC.TOO_MANY_INSTANCES, message, (label,)))
        context.errors += 1
        expanded = ExpandedSpecs([], [])
    return expanded, find_bound_kinds(symbols, expanded)


Expansion = Callable[[Context, Container[str]], ExpandedSpecs]
"""Expands specifications; diagnostics go to the context, and rules about the given kinds apply without objects."""


def _make_expansion(inputs: _Inputs, symbols: Symbols, domain_name: str, sources: dict[str, Source]) -> Expansion:
    """Return the function that expands the specifications and gives objects the kinds that mappings bind.

    It adds the texts that specifications extend to ``sources``.
    """
    from plansafe.verifier.rules.expand import SpecExpander  # noqa: PLC0415 - only for specifications

    type_names = frozenset(symbols.types.index)

    def resolve_extended(name: str, extending: Source) -> Source | None:
        extended = inputs.resolve(name, extending) if inputs.resolve is not None else None
        if extended is not None:
            sources[extended.name] = extended
        return extended

    def expand(context: Context, open_kinds: Container[str]) -> ExpandedSpecs:
        expander = SpecExpander(context, domain_name, resolve_extended, open_kinds, type_names, inputs.proposed_objects)
        expanded = expander.expand(list(inputs.specs))
        give_mapped_kinds(symbols, expanded)
        return expanded

    return expand


def _give_kinds_of_classes(
    symbols: Symbols,
    classes: Sequence[ClassKinds],
    expand: Callable[[Context, Container[str]], ExpandedSpecs],
) -> frozenset[str]:
    """Give objects the kinds of their classes, and return these kinds; an expansion finds the kinds of mappings."""
    trial_context = Context()  # its diagnostics are not reported: the specifications are expanded again
    kinds = find_bound_kinds(symbols, expand(trial_context, ()))
    if not trial_context.errors:
        check_classes(symbols, kinds, classes)
    given_kinds = collect_given_kinds(kinds, classes)
    declare_kind_types(symbols, given_kinds)
    give_kinds(symbols, kinds, [entry for entry in classes if set(entry.kinds) <= given_kinds])
    return given_kinds


def _refuse_neighbour_operators(context: Context, rules: list[Rule]) -> None:
    """Report rules about neighbouring letters: in continuous time no letter is next."""
    for rule in rules:
        formulas = [formula for part in rule.parts for formula in (part.body, part.guard) if formula is not None]
        operators = {p.operator for f in formulas for p in subformulas(f) if isinstance(p, Temporal)}
        for operator in sorted(operators & _NEIGHBOUR_OPERATORS):
            message, help = f"`{operator}` has no meaning in continuous time", "write a bound, or `once` or `sometime`"
            context.error(SC.CONTINUOUS_TIME, message, rule.at, "in this rule", help=help)


def _add_expected_syntax(
    context: Context, sources: Mapping[str, Source], domain: Source, problem: Source
) -> tuple[Diagnostic, ...]:
    """Return all diagnostics; the first structural error of each text gets notes with the expected syntax."""
    if not any([d.code in _STRUCTURE_CODES for d in context.diagnostics]):
        return tuple(context.diagnostics)
    from plansafe.grammar.expected_syntax import explain_rejection  # noqa: PLC0415 - loads lark

    kinds = {source.name: "domain" for source in (domain, *domain.parts)}
    kinds |= {source.name: "problem" for source in (problem, *problem.parts)}
    explained_texts: set[str] = set()
    diagnostics = []
    for diagnostic in context.diagnostics:
        name = diagnostic.labels[0].source if diagnostic.labels else ""
        if diagnostic.code in _STRUCTURE_CODES and name in sources and name not in explained_texts:
            explained_texts.add(name)
            notes = explain_rejection(kinds.get(name, "specification"), sources[name])
            diagnostic = diagnostic._replace(notes=(*diagnostic.notes, *notes))
        diagnostics.append(diagnostic)
    return tuple(diagnostics)
