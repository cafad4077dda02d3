"""Instances of rules on a trace, their findings, and the blame (docs/language.md, section 5)."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from math import prod
from typing import NamedTuple

from .candidates import iterate_candidate_bindings
from .evaluation import evaluate, find_first_value
from .formulas import (
    FUTURE_OPERATORS,
    PDDL3_OPERATORS,
    WHOLE_TRACE_OPERATORS,
    Atom,
    Binding,
    Domains,
    Fact,
    Fluent,
    Node,
    Quantified,
    Temporal,
    collect_operators,
    ground,
    iterate_bindings,
    iterate_ground_reads,
    unify,
)
from .rules import Part, PartKind, Rule
from .temporal import find_greatest_value_within, is_permanently_violated
from .trace import FALSE, TRUE, UNDEFINED, Signal, Trace, find_value, iterate_constant_stretches

SELDOM_CONSTANT_OPERATORS = {"atom", "not", "and", "or", "imply", "forall", "exists"}
"""Operators of formulas that another checker rarely simplifies to a constant.

A checker that knows that a formula is constant may find its violation earlier than the kernel.
"""
BLAME_ORDER = ("introduced", None, "worsened", "pre-existing")
"""Blames by priority: a finding of several parts has the first of their blames."""
BoundObjects = tuple[tuple[str, str], ...]
"""Variables with objects, sorted by variable."""
InstanceKey = tuple[str, BoundObjects]
"""A rule and the objects of an instance."""
FindingKey = tuple[str, BoundObjects, int]
"""A rule, the objects of an instance, and the step."""
MatchedSteps = list[tuple[int, int]]
"""The steps that match a rule: a letter at which the step's fact is true, and the step's number."""


class Finding(NamedTuple):
    """A violated rule instance.

    ``step`` is the number of the step, 0 before the first step. ``at_end``: the violation is found after the last
    letter. ``blame`` is ``None`` if the kernel does not know it. ``readings``: the readings that have the finding.

    ``exact_step`` is False if another checker may find the violation earlier than the kernel, which finds it at the
    end.
    """

    rule: str
    binding: BoundObjects
    step: int
    at_end: bool = False
    exact_step: bool = True
    blame: str | None = "introduced"
    readings: frozenset[str] = frozenset({"halt"})

    @property
    def key(self) -> FindingKey:
        """What findings of several parts or readings have in common."""
        return self.rule, self.binding, self.step


class Instance(NamedTuple):
    """A part of a rule with objects for all its parameters, and its findings.

    ``value``: the part's truth value; an undefined part is undecided.
    """

    rule: str
    binding: BoundObjects
    value: int
    findings: list[Finding]


def find_matches(rule: Rule, trace: Trace) -> list[tuple[dict[str, str], MatchedSteps]]:
    """Find the bindings of each pattern for which a step matches, with the matched steps."""
    domains, matches = dict(rule.params), list[tuple[dict[str, str], MatchedSteps]]()
    for pattern in rule.patterns:
        matches_by_objects = dict[BoundObjects, tuple[dict[str, str], MatchedSteps]]()
        for fact in trace.possible_facts.find_matching(pattern, {}):
            binding = unify(pattern, fact, {})
            trace.work.spend()
            if binding is not None and all(object_ in domains[name] for name, object_ in binding.items()):
                _, matched_steps = matches_by_objects.setdefault(_sort_binding(binding), (binding, []))
                for interval in trace.step_intervals[fact]:
                    matched_steps += [(letter, interval.step) for letter in range(interval.first, interval.last + 1)]
        matches += matches_by_objects.values()
    return matches


def _sort_binding(binding: Mapping[str, str]) -> BoundObjects:
    return tuple(sorted(binding.items()))


def count_instances(rule: Rule, trace: Trace) -> int:
    """Count the instances of a rule (docs/language.md, section 5).

    A rule about steps has an instance for each matching binding and letter; any other rule has one for each tuple of
    objects for its parameters.
    """
    if not rule.patterns:
        return prod(len(objects) for _, objects in rule.params)
    matches = find_matches(rule, trace)
    if len({frozenset(binding) for binding, _ in matches}) < 2:  # all bind the same parameters
        letters = dict[BoundObjects, set[int]]()
        for binding, matched_steps in matches:
            letters.setdefault(_sort_binding(binding), set()).update(letter for letter, _ in matched_steps)
        bound = {v for binding, _ in matches for v in binding}
        combination_count = prod(len(objects) for v, objects in rule.params if v not in bound)
        return combination_count * sum(map(len, letters.values()))
    counted = set[tuple[BoundObjects, int]]()
    for binding, matched_steps in matches:
        for complete_binding in iterate_bindings(_select_unbound(rule.params, binding), binding):
            counted.update((_sort_binding(complete_binding), letter) for letter, _ in matched_steps)
    return len(counted)


def evaluate_instances(rule: Rule, trace: Trace, restriction: Mapping[str, str]) -> Iterator[Instance]:
    """Yield the instances of all parts that agree with ``restriction``, a partial binding.

    Satisfied instances may be left out, because only bindings that can violate a part are tried.
    """
    for step_binding, matched_steps in find_matches(rule, trace) if rule.patterns else [({}, [])]:
        if any(restriction.get(name, object_) != object_ for name, object_ in step_binding.items()):
            continue
        for part in rule.parts:
            params = tuple([(v, {restriction[v]: None} if v in restriction else objects) for v, objects in part.params])
            for binding in iterate_candidate_bindings(
                part.violation_supports, _select_unbound(params, step_binding), step_binding, trace
            ):
                yield _evaluate_instance(rule.name, part, binding, trace, matched_steps)


def _select_unbound(params: Domains, binding: Mapping[str, str]) -> Domains:
    return tuple([(v, objects) for v, objects in params if v not in binding])


def find_violations(rules: list[Rule], trace: Trace) -> tuple[list[Finding], frozenset[InstanceKey]]:
    """Return all findings, and the undecided instances. Findings of several parts are merged."""
    findings, undecided = dict[FindingKey, Finding](), set[InstanceKey]()
    for rule in rules:
        for instance in evaluate_instances(rule, trace, {}):
            if instance.value == UNDEFINED:
                undecided.add((rule.name, instance.binding))
            for new in instance.findings:
                old = findings.get(new.key, new)
                blame = min(old.blame, new.blame, key=BLAME_ORDER.index)
                findings[new.key] = old._replace(exact_step=old.exact_step and new.exact_step, blame=blame)
    return [*findings.values()], frozenset(undecided)


def _evaluate_instance(name: str, part: Part, binding: Binding, trace: Trace, matched_steps: MatchedSteps) -> Instance:
    """Return the value of an instance of a part, and its findings by the part's kind."""
    objects = _sort_binding(binding)
    values = evaluate(part.formula, binding, trace)
    builder = _FindingBuilder(name, objects, part.formula, binding, trace)
    if part.kind is PartKind.MATCH:
        matched_values = [(find_value(values, letter), step) for letter, step in matched_steps]
        findings = [Finding(name, objects, step) for value, step in matched_values if value == FALSE]
        return Instance(name, objects, min([value for value, _ in matched_values], default=TRUE), findings)
    if part.kind is PartKind.OCCURRENCE:
        findings = [
            builder.make_finding(first, end, first == 0)
            for first, end, value in iterate_constant_stretches(values, 0, trace.last)
            if value == FALSE
        ]
        return Instance(name, objects, min([value for _, value in values]), findings)
    if part.kind is PartKind.AT_END:
        value = find_value(values, trace.last)
        is_always_false = max([v for _, v in values]) == FALSE
        findings = [builder.make_finding(trace.last + 1, trace.last, is_always_false)] if value == FALSE else []
        return Instance(name, objects, value, findings)
    value = find_first_value(values)
    return Instance(name, objects, value, [builder.make_trace_finding()] if value == FALSE else [])


class _FindingBuilder(NamedTuple):
    """Makes the findings of a violated instance of a part."""

    rule: str
    objects: BoundObjects
    formula: Node
    binding: Binding
    trace: Trace

    def make_finding(self, letter: int, end: int, false_at_start: bool | None, exact: bool = True) -> Finding:
        """Return the finding of a violation at a letter (after the last: at the end).

        ``false_at_start``: whether the formula was false at letter 0, ``None`` if unknown. ``end`` is the last letter
        at which changes count as worsening.
        """
        last = self.trace.last
        step = self.trace.steps[min(letter, last)]
        blame: str | None = "introduced"
        if "step" not in collect_operators(self.formula):
            if false_at_start is None:
                blame = None
            elif false_at_start:
                blame = "worsened" if self._has_changed(end) else "pre-existing"
        return Finding(self.rule, self.objects, step, letter > last, exact, blame)

    def _has_changed(self, end: int) -> bool:
        """Whether a fact or fluent that the formula reads changed up to a letter."""
        if self.trace.literal:
            reads = iter([fact for fact, _ in iterate_ground_reads(self.formula, self.binding)])
        else:
            reads = _iterate_known_reads(self.formula, self.binding, {}, self.trace)
        for fact in reads:
            signal = self.trace.read_number(fact) if fact[0] == "#" else self.trace.signal(fact)
            # The first change after letter 0 is one of the first two entries.
            if any(0 < letter <= end for letter, _ in signal[:2]):
                return True
        return False

    def make_trace_finding(self) -> Finding:
        """Return the finding of a formula about the whole trace that is false at letter 0."""
        formula, last = self.formula, self.trace.last
        nonpast_operators = {*FUTURE_OPERATORS, *WHOLE_TRACE_OPERATORS, "step"}
        if not isinstance(formula, Temporal) or formula.operator not in PDDL3_OPERATORS:
            # Letter 0 decides a formula without future operators and `step`, which reads the step after a letter.
            is_past_formula = not collect_operators(formula) & nonpast_operators
            return self.make_finding(0 if is_past_formula else last + 1, last, is_past_formula or None, is_past_formula)
        signals = [evaluate(part, self.binding, self.trace) for part in formula.members]
        operand_operators = set[str]().union(*map(collect_operators, formula.members))
        # With these operators, a prefix does not determine the signals.
        prefix_decides = operand_operators.isdisjoint((*FUTURE_OPERATORS, "step"))
        stays_violated = formula.operator in ("always", "at-most-once", "sometime-before")
        exact = prefix_decides and (stays_violated or operand_operators <= SELDOM_CONSTANT_OPERATORS)
        letter = bisect_left(
            range(last + 1), True, key=lambda i: prefix_decides and self._is_violated_by_prefix(formula, signals, i)
        )
        false_at_start = self._is_triggered_at_start(formula, signals, letter == 0 if exact else None)
        return self.make_finding(letter, last, false_at_start, exact)

    def _is_violated_by_prefix(self, formula: Temporal, signals: list[Signal], letter: int) -> bool:
        """Whether the prefix up to a letter violates the formula for every continuation."""
        trace = self.trace
        times = trace.starts[: letter + 1]
        # Letter 0 has time 0, at which a step may also happen.
        same_time_follows = letter == 0 or letter in trace.letters_with_same_time_next
        return is_permanently_violated(formula.operator, formula.bounds, signals, times, trace.timed, same_time_follows)

    def _is_triggered_at_start(self, formula: Temporal, signals: list[Signal], fallback: bool | None) -> bool | None:
        """Whether an obligation was triggered at letter 0 and never answered; ``fallback`` for other operators."""
        if collect_operators(formula.members[0]) & {*FUTURE_OPERATORS, *WHOLE_TRACE_OPERATORS}:
            return fallback  # the trigger's value at letter 0 is not known there
        trigger, answer = signals[0], signals[-1]
        is_triggered = bool(find_first_value(trigger) == TRUE)
        if formula.operator == "sometime-after":
            return is_triggered and max([int(value) for _, value in answer]) != TRUE
        if formula.operator == "always-within":
            value = find_greatest_value_within(answer, 0, formula.bounds[0], self.trace.starts)
            return is_triggered and value != TRUE
        return fallback


def _iterate_known_reads(
    formula: Node, binding: Binding, domains: Mapping[str, frozenset[str]], trace: Trace
) -> Iterator[Fact]:
    """Yield the facts and fluents that a formula reads and that the trace has at some letter.

    ``domains`` has the objects of the variables of inner quantifiers.
    """
    match formula:
        case Atom(terms) | Fluent(terms):
            pattern = ground(terms, binding)
            for fact in trace.possible_facts.find_matching(pattern, {}):
                trace.work.spend()
                values = unify(pattern, fact, {})
                if values is not None and all([object_ in domains[name] for name, object_ in values.items()]):
                    yield fact
        case Quantified():
            if formula.objects:
                outer = {name: value for name, value in binding.items() if name != formula.variable}
                inner_domains = {**domains, formula.variable: frozenset(formula.objects)}
                yield from _iterate_known_reads(formula.part, outer, inner_domains, trace)
        case _:
            for part in formula.parts():
                yield from _iterate_known_reads(part, binding, domains, trace)
