"""The verdict over worlds by definition: every world of a case, replayed by the kernel (docs/worlds.md, section 2).

If a number may have any value of an interval, worlds are sampled, and the verdict is not ``complete``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from math import prod
from typing import Literal, NamedTuple, TypeAlias

from worlds_case import WorldsCase

from plansafe.verifier.kernel import Kernel, KernelLimit, KernelRejects, KernelVerdict, World
from plansafe.verifier.kernel.plan import parse_plan
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria

Value: TypeAlias = Literal["ALL", "SOME", "NONE", "UNKNOWN"]
Fact: TypeAlias = tuple[str, ...]
"""(predicate, object ..) or (function, object ..)."""
RuleBinding: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]
"""A rule and a binding."""
Choice: TypeAlias = tuple[int, int, tuple[str, ...]]
"""A choice: step, number of the ``oneof``, objects."""

MAX_WORLDS = 20_000


class Completion(NamedTuple):
    """A completion: ``good`` if the plan is SAFE or VALID in all its worlds, ``some_good`` if in one."""

    facts: frozenset[Fact]
    numbers: dict[Fact, Fraction]
    good: bool
    some_good: bool
    worlds: int

    def value(self, variable: Fact) -> bool | Fraction:
        """The value of an open fact or fluent."""
        return self.numbers.get(variable, variable in self.facts)


class EnumeratedVerdict(NamedTuple):
    """The verdict, and the values and findings that it was computed from.

    ``headline`` is empty if no world is allowed. ``values_by_property``: the values that each of the three has in some
    world.
    ``violated``: whether ALL or SOME worlds violate a rule with a binding. ``rules``: the status of each rule in a
    report. ``complete``: these were all the worlds.
    """

    executable: Value
    goal: Value
    safe: Value
    headline: str
    exit_code: int
    completions: tuple[Completion, ...]
    violated: dict[RuleBinding, Value]
    values_by_property: dict[str, frozenset[bool | None]]
    open_facts: tuple[Fact, ...]
    open_numbers: tuple[Fact, ...]
    rules: dict[str, str]
    complete: bool = True

    @property
    def worlds(self) -> int:
        """The number of worlds that were replayed."""
        return sum(completion.worlds for completion in self.completions)


def create_kernel(case: WorldsCase) -> Kernel:
    """The kernel for a case. Raises ``KernelRejects``."""
    criteria = case.criteria
    exemption_pairs = [(e.rules, e.objects) for e in criteria.exemptions]
    texts = case.domain, case.problem, case.specs
    return Kernel(*texts, judge=criteria.judge, min_severity=criteria.min_severity, exemptions=exemption_pairs)


@lru_cache(maxsize=64)
def enumerate_verdict(case: WorldsCase) -> EnumeratedVerdict:
    """The verdict on a case.

    Raises ``KernelRejects`` if it is not in the language, ``KernelLimit`` if worlds are too many or numbers too long.
    """
    kernel = create_kernel(case)
    complete, starts = _list_completions(kernel)
    orders = [*enumerate_orders(case.plan)]
    verdicts: list[KernelVerdict] = []
    completions: list[Completion] = []
    for facts, numbers in starts:
        completion_verdicts = [
            verdict
            for order in orders
            for verdict in _audit_all_outcomes(kernel, case.plan, World(facts, numbers, order=order))
        ]
        good = [verdict.headline in ("SAFE", "VALID") for verdict in completion_verdicts]
        completions.append(Completion(facts, numbers, all(good), any(good), len(completion_verdicts)))
        verdicts += completion_verdicts
        if len(verdicts) > MAX_WORLDS:
            raise KernelLimit(f"more than {MAX_WORLDS} worlds")
    return _combine_verdicts(kernel, verdicts, completions, complete, case.criteria)


def _combine_verdicts(
    kernel: Kernel,
    verdicts: list[KernelVerdict],
    completions: list[Completion],
    complete: bool,
    criteria: VerdictCriteria,
) -> EnumeratedVerdict:
    if criteria.ignores_preexisting:  # the kernel may leave the blame of a finding open
        complete = complete and all(f.blame is not None for verdict in verdicts for f in verdict.findings)
    values_by_property: dict[str, frozenset[bool | None]] = {
        name: frozenset(getattr(verdict, name) for verdict in verdicts) for name in ("executable", "goal", "safe")
    }
    values_by_property["safe"] = frozenset(verdict.safe for verdict in verdicts if verdict.blame_known)
    values = {name: _value_over_worlds(values_by_property[name]) for name in values_by_property}
    counted_findings = [
        [
            f
            for f in verdict.findings
            if not (criteria.ignores_preexisting and f.blame == "pre-existing")
            and criteria.find_exemption(f.rule, [name for _, name in f.binding]) is None
        ]
        for verdict in verdicts
    ]
    findings = [{(f.rule, f.binding) for f in findings_of_world} for findings_of_world in counted_findings]
    violated_in_all = set.intersection(*findings) if findings else set()
    violated: dict[RuleBinding, Value] = {
        pair: "ALL" if pair in violated_in_all else "SOME" for pair in sorted(set[RuleBinding]().union(*findings))
    }
    if not verdicts:
        headline, exit_code = "", 2
    elif False in values_by_property["executable"] | values_by_property["goal"]:
        headline, exit_code = "INVALID", 2 if verdicts[0].ill_formed else 1
    elif False in values_by_property["safe"]:
        headline, exit_code = "UNSAFE", 1
    elif None in values_by_property["safe"]:
        headline, exit_code = "UNKNOWN", 3
    else:
        # All steps are taken in every world: a rule has an instance in all of them, or in none.
        headline, exit_code = verdicts[0].headline, 0
    return EnumeratedVerdict(
        values["executable"],
        values["goal"],
        values["safe"],
        headline,
        exit_code,
        tuple(completions),
        violated,
        values_by_property,
        kernel.open_facts,
        tuple(kernel.open_fluents),
        {name: _rule_status(name, verdicts, findings) for name in kernel.rules},
        complete,
    )


def _rule_status(rule: str, verdicts: list[KernelVerdict], findings: list[set[RuleBinding]]) -> str:
    """The status of a rule over all worlds."""
    if any(name == rule for findings_of_world in findings for name, _ in findings_of_world):
        return "violated"
    if any(name == rule for verdict in verdicts for name, _ in verdict.undecided):
        return "undecided"
    return "kept" if any(verdict.instances[rule] for verdict in verdicts) else "never applied"


def _value_over_worlds(values: frozenset[bool | None]) -> Value:
    if values == {True}:
        return "ALL"
    if values == {False}:
        return "NONE"
    return "SOME" if {True, False} <= values else "UNKNOWN"


# ---- worlds ---------------------------------------------------------------------------------------------------------


def _list_completions(kernel: Kernel) -> tuple[bool, Iterator[tuple[frozenset[Fact], dict[Fact, Fraction]]]]:
    """All completions, or some of them if numbers may have infinitely many values."""
    try:
        all_of_them = [*kernel.completions()]
    except KernelLimit:
        return False, _sample_completions(kernel)
    return True, iter(all_of_them)


def sample_numbers(limits: frozenset[tuple[str, Fraction]]) -> list[Fraction]:
    """Values of a fluent within its limits: the limits, values near them, and the values that random texts mention."""
    ends = [number for _, number in limits]
    near = [end + Fraction(step, 8) for end in ends for step in (-4, -1, 0, 1, 4)]
    values = {*near, *(Fraction(n, 2) for n in range(-4, 9)), Fraction(13, 10)}
    checks: dict[str, Callable[[Fraction, Fraction], bool]] = {
        "<": Fraction.__lt__,
        "<=": Fraction.__le__,
        ">": Fraction.__gt__,
        ">=": Fraction.__ge__,
    }
    return sorted(v for v in values if all(checks[op](v, number) for op, number in limits))


def _sample_completions(kernel: Kernel) -> Iterator[tuple[frozenset[Fact], dict[Fact, Fraction]]]:
    """Completions with numbers from a grid; the grid is thinned until about 200 completions remain."""
    facts, fluents = kernel.open_facts, kernel.open_fluents
    grids = [sample_numbers(limits) for limits in fluents.values()]
    while prod(map(len, grids)) > max(5, 200 >> len(facts)):
        longest = max(range(len(grids)), key=lambda i: len(grids[i]))
        grids[longest] = grids[longest][len(grids[longest]) % 2 :: 2]
    for chosen in product((False, True), repeat=len(facts)):
        true = frozenset(fact for fact, is_true in zip(facts, chosen, strict=True) if is_true)
        for values in product(*grids):
            numbers = dict(zip(fluents, values, strict=True))
            if kernel.allows(true, numbers):
                yield true, numbers


def enumerate_orders(plan: str) -> Iterator[tuple[int, ...]]:
    """The orders of a partially ordered plan; ``()`` for any other."""
    lines, pairs = parse_plan(plan)
    if pairs is None:
        yield ()
        return
    for order in permutations(range(1, len(lines) + 1)):
        if all(order.index(first) < order.index(second) for first, second in pairs):
            yield order


def _audit_all_outcomes(kernel: Kernel, plan: str, world: World) -> Iterator[KernelVerdict]:
    """The judgements for all outcomes of the choices that the plan meets, each sequence of them once."""
    pending: list[dict[Choice, int]] = [{}]
    while pending:
        fixed = pending.pop()
        chosen: dict[Choice, int] = {}
        widths: dict[Choice, int] = {}

        def choose(
            step: int,
            number: int,
            objects: tuple[str, ...],
            alternatives: int,
            fixed: Mapping[Choice, int] = fixed,
            chosen: dict[Choice, int] = chosen,
            widths: dict[Choice, int] = widths,
        ) -> int:
            key = step, number, objects
            widths[key] = alternatives
            return chosen.setdefault(key, fixed.get(key, 0))

        yield kernel.audit(plan, world._replace(choose=choose), other_readings=())
        # A choice depends only on the choices before it: the other sequences differ first at a new choice.
        choices = [*chosen.items()]
        for i, (key, _) in enumerate(choices):
            if key not in fixed:
                pending += [dict(choices[:i]) | {key: alternative} for alternative in range(1, widths[key])]


# ---- causes and questions -------------------------------------------------------------------------------------------


def is_cause(case: WorldsCase, assignment: Mapping[Fact, bool | Fraction | int]) -> bool:
    """Whether the assignment to open facts and fluents is a cause: it agrees with some completion, all completions that
    agree are bad, and no proper subset is a cause. (Fewer facts agree with more completions: dropping one suffices.)"""
    verdict = enumerate_verdict(case)
    if not {*assignment} <= {*verdict.open_facts, *verdict.open_numbers}:
        return False
    subsets = [{other: value for other, value in assignment.items() if other != variable} for variable in assignment]
    return _implies_bad(verdict, assignment) and not any(_implies_bad(verdict, subset) for subset in subsets)


def _implies_bad(verdict: EnumeratedVerdict, assignment: Mapping[Fact, bool | Fraction | int]) -> bool:
    agreeing = [
        c for c in verdict.completions if all(c.value(variable) == value for variable, value in assignment.items())
    ]
    return bool(agreeing) and not any(completion.good for completion in agreeing)


def is_question(case: WorldsCase, facts: frozenset[Fact]) -> bool:
    """Whether the open facts and fluents are a question: some completions are good and some bad, completions with the
    same values are alike, and no proper subset is a question. (It suffices to drop one variable.)"""
    verdict = enumerate_verdict(case)
    if len({completion.good for completion in verdict.completions}) < 2:
        return False
    if not facts <= {*verdict.open_facts, *verdict.open_numbers}:
        return False
    return _determines_quality(verdict, facts) and not any(
        _determines_quality(verdict, facts - {fact}) for fact in facts
    )


def _determines_quality(verdict: EnumeratedVerdict, facts: frozenset[Fact]) -> bool:
    groups: dict[tuple[bool | Fraction, ...], set[bool]] = {}
    for completion in verdict.completions:
        groups.setdefault(tuple(completion.value(fact) for fact in sorted(facts)), set()).add(completion.good)
    return all(len(group) == 1 for group in groups.values())


# ---- against a claim ------------------------------------------------------------------------------------------------


def find_contradictions(case: WorldsCase, claimed: Mapping[str, str]) -> list[str]:
    """The claimed values of ``executable``, ``goal`` and ``safe`` that worlds contradict, with a line for each.

    If the worlds are complete, the values must be equal; otherwise no world may be a counterexample.
    UNKNOWN is never contradicted by a sample. A report without an applicable rule claims nothing about ``safe``.
    """
    verdict = enumerate_verdict(case)
    out = []
    for name in claimed:
        value: str = getattr(verdict, name)
        if name == "safe" and claimed[name] == "UNKNOWN" and case.criteria.ignores_preexisting:
            continue  # the circuit does not always know pre-existing violations of a whole trace
        against = {"ALL": {False, None}, "NONE": {True, None}}.get(claimed[name], set()) & verdict.values_by_property[
            name
        ]
        if claimed[name] != value if verdict.complete else against:
            out.append(f"{name}: claimed {claimed[name]}, but {value} over {verdict.worlds} worlds")
    return out


def rejected(case: WorldsCase) -> str:
    """The reason why the kernel rejects the case; empty if it accepts it."""
    try:
        create_kernel(case)
    except KernelRejects as rejection:
        return str(rejection)
    return ""
