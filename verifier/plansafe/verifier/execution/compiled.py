"""A task with its rules, compiled once for any number of plans, and the options for checking them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import Context
from plansafe.verifier.elaborate.symbols import Symbols
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.one_world import NeedsOneWorld, OpenFeature, make_continuous_refusal, make_refusal
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.steps import Tolerance, widen_tolerance
from plansafe.verifier.model.nodes import OpenPredicate, Task, WorldInvariant
from plansafe.verifier.rules.expanded_specs import ExpandedSpecs
from plansafe.verifier.rules.kinds import ClassKinds, Kinds, find_classes
from plansafe.verifier.rules.mapping import ProposedKind
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, Exemption, VerdictCriteria

if TYPE_CHECKING:
    from plansafe.verifier.rules.home_profile import HomeProfile, ProfileEffects

ResolveSpecification = Callable[[str, Source], Source | None]
"""Finds a specification by the name under which another (the second argument) extends it; ``None``: none found."""


class Options(NamedTuple):
    """How to check plans."""

    lenient_types: bool = False
    """Type mismatches are warnings."""
    tolerance: Fraction = Fraction(1, 1000)
    """The tolerance of durations, and the time that separates interfering actions."""
    blame: tuple[str, ...] = ()
    """List only violations with one of these blames; empty: list all."""
    time_limit_s: float | None = None
    """The limit of an audit's time in seconds; ``None``: no limit."""
    max_findings: int = 100
    """Findings beyond this number are counted, not listed."""
    max_instances: int = 5_000_000
    """Maximum number of instances of a rule."""
    full_state: bool = False
    """Each finding shows the whole state."""
    replay: str = "auto"
    """When the kernel checks findings again: ``auto``, ``always`` or ``never``."""
    require_rules: bool = False
    """A plan on which no rule had anything to check gets a diagnostic."""
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
    """The exemptions of the profile; they are set when a task is compiled."""

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
        """The kinds that the home profile gives to the objects of classes."""
        return () if self.options.home is None else self.options.home.classes

    @property
    def proposed_kinds(self) -> tuple[ProposedKind, ...]:
        """The proposed kinds of the task's objects, except those that the user classified."""
        all_proposed_kinds = [kind for expanded in self.expanded.mappings for kind in expanded.mapping.proposed]
        if not all_proposed_kinds:
            return ()
        names, object_index = self.symbols.objects, self.symbols.object_index
        classes = find_classes(self.symbols, self.kinds) if self.given_kinds else {}
        classified_objects = {names[number] for entry in self.given_kinds for number in classes.get(entry.name, ())}
        return tuple(
            [
                kind
                for kind in all_proposed_kinds
                if kind.object in object_index and kind.object not in classified_objects
            ]
        )

    def make_variant(self, task: Task, rules: list[Rule] | None = None) -> CompiledTask:
        """Return the compiled form of another task with the same names and one world.

        ``rules``: ``None`` for the same rules.
        """
        rules = self.rules if rules is None else rules
        engine = make_engine(task, rules, self.symbols, self.options)
        return self._replace(rules=rules, engine=engine, open_feature=None, binding_counts=count_bindings(task, rules))


class Rejected(NamedTuple):
    """A task that cannot be compiled.

    ``diagnostics``: at least one of them is an error. ``sources``: all texts that labels refer to, by name.
    """

    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]


def make_engine(
    task: Task, rules: list[Rule], symbols: Symbols, options: Options, feature: OpenFeature | None = None
) -> Engine:
    """Return the engine of a task; it refuses to replay in one world if the task has several."""
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


def count_bindings(task: Task, rules: list[Rule]) -> tuple[int, ...]:
    """Count the bindings of each rule's parameters; 0 for a rule that is not applicable."""
    return tuple(
        [
            prod([len(task.domains[v.domain]) for v in rule.declared_parameters]) if rule.applicable else 0
            for rule in rules
        ]
    )
