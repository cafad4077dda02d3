"""The verdict over worlds by definition: every world of a case, replayed by the kernel (docs/worlds.md, section 2).

Where a number may lie anywhere in an interval, worlds are sampled: then the verdict says what was seen, and is not
``complete``.
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
Violated: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]
"""A rule and a binding."""
Asked: TypeAlias = tuple[int, int, tuple[str, ...]]
"""A choice: step, number of the ``oneof``, objects."""

MAX_WORLDS = 20_000


class Completion(NamedTuple):
    """A completion: ``good`` if the plan is SAFE or VALID in all its worlds, ``some_good`` if in one."""

    facts: frozenset[Fact]
    numbers: dict[Fact, Fraction]
    good: bool
    some_good: bool
    worlds: int

    def value(self, what: Fact) -> bool | Fraction:
        """Of an open fact or fluent."""
        return self.numbers.get(what, what in self.facts)


class BruteVerdict(NamedTuple):
    """The verdict, and what the parts of it are made of.

    ``headline`` is empty where no world is allowed. ``seen`` has the values that each of the three has in some world.
    ``violated`` says of rules with bindings whether they are violated in ALL worlds or in SOME, ``rules`` of each rule
    what a report says of it. ``complete``: these were all the worlds.
    """

    executable: Value
    goal: Value
    safe: Value
    headline: str
    exit_code: int
    completions: tuple[Completion, ...]
    violated: dict[Violated, Value]
    seen: dict[str, frozenset[bool | None]]
    open_facts: tuple[Fact, ...]
    open_numbers: tuple[Fact, ...]
    rules: dict[str, str]
    complete: bool = True

    @property
    def worlds(self) -> int:
        """How many worlds were replayed."""
        return sum(completion.worlds for completion in self.completions)


def kernel_of(case: WorldsCase) -> Kernel:
    """The kernel for a case. Raises ``KernelRejects``."""
    criteria = case.criteria
    exempt = [(e.rules, e.objects) for e in criteria.exemptions]
    texts = case.domain, case.problem, case.specs
    return Kernel(*texts, judge=criteria.judge, min_severity=criteria.min_severity, exemptions=exempt)


@lru_cache(maxsize=64)
def brute(case: WorldsCase) -> BruteVerdict:
    """The verdict on a case.

    Raises ``KernelRejects`` if it is not in the language, ``KernelLimit`` if worlds are too many or numbers too long.
    """
    kernel = kernel_of(case)
    complete, starts = _completions(kernel)
    orders = [*orders_of(case.plan)]
    judgements: list[KernelVerdict] = []
    completions: list[Completion] = []
    for facts, numbers in starts:
        here = [
            judgement
            for order in orders
            for judgement in _outcomes(kernel, case.plan, World(facts, numbers, order=order))
        ]
        good = [judgement.headline in ("SAFE", "VALID") for judgement in here]
        completions.append(Completion(facts, numbers, all(good), any(good), len(here)))
        judgements += here
        if len(judgements) > MAX_WORLDS:
            raise KernelLimit(f"more than {MAX_WORLDS} worlds")
    return _verdict(kernel, judgements, completions, complete, case.criteria)


def _verdict(
    kernel: Kernel,
    judgements: list[KernelVerdict],
    completions: list[Completion],
    complete: bool,
    criteria: VerdictCriteria,
) -> BruteVerdict:
    if criteria.only_introduced:  # what the kernel does not tell, it does not enumerate either
        complete = complete and all(f.blame is not None for judgement in judgements for f in judgement.findings)
    seen: dict[str, frozenset[bool | None]] = {
        name: frozenset(getattr(judgement, name) for judgement in judgements) for name in ("executable", "goal", "safe")
    }
    seen["safe"] = frozenset(judgement.safe for judgement in judgements if judgement.blame_known)
    values = {name: _value(seen[name]) for name in seen}
    found = [
        [
            f
            for f in judgement.findings
            if not (criteria.only_introduced and f.blame == "pre-existing")
            and criteria.find_exemption(f.rule, [name for _, name in f.binding]) is None
        ]
        for judgement in judgements
    ]
    findings = [{(f.rule, f.binding) for f in own} for own in found]
    everywhere = set.intersection(*findings) if findings else set()
    violated: dict[Violated, Value] = {
        pair: "ALL" if pair in everywhere else "SOME" for pair in sorted(set[Violated]().union(*findings))
    }
    if not judgements:
        headline, code = "", 2
    elif False in seen["executable"] | seen["goal"]:
        headline, code = "INVALID", 2 if judgements[0].ill_formed else 1
    elif False in seen["safe"]:
        headline, code = "UNSAFE", 1
    elif None in seen["safe"]:
        headline, code = "UNKNOWN", 3
    else:
        # All steps are taken in every world: a rule has an instance in all of them, or in none.
        headline, code = judgements[0].headline, 0
    return BruteVerdict(
        values["executable"],
        values["goal"],
        values["safe"],
        headline,
        code,
        tuple(completions),
        violated,
        seen,
        kernel.open_facts,
        tuple(kernel.open_fluents),
        {name: _status(name, judgements, findings) for name in kernel.rules},
        complete,
    )


def _status(rule: str, judgements: list[KernelVerdict], findings: list[set[Violated]]) -> str:
    """What is so of a rule in some world."""
    if any(name == rule for own in findings for name, _ in own):
        return "violated"
    if any(name == rule for judgement in judgements for name, _ in judgement.undecided):
        return "undecided"
    return "kept" if any(judgement.instances[rule] for judgement in judgements) else "never applied"


def _value(seen: frozenset[bool | None]) -> Value:
    if seen == {True}:
        return "ALL"
    if seen == {False}:
        return "NONE"
    return "SOME" if {True, False} <= seen else "UNKNOWN"


# ---- worlds ---------------------------------------------------------------------------------------------------------


def _completions(kernel: Kernel) -> tuple[bool, Iterator[tuple[frozenset[Fact], dict[Fact, Fraction]]]]:
    """All completions, or some of them if numbers may have infinitely many values."""
    try:
        all_of_them = [*kernel.completions()]
    except KernelLimit:
        return False, _samples(kernel)
    return True, iter(all_of_them)


def samples_of(limits: frozenset[tuple[str, Fraction]]) -> list[Fraction]:
    """Values of a fluent within its limits: the limits, values beside them, and those that random texts mention."""
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


def _samples(kernel: Kernel) -> Iterator[tuple[frozenset[Fact], dict[Fact, Fraction]]]:
    """Completions with values from a grid: all open facts, with so many combinations of numbers that 200 are tried."""
    facts, fluents = kernel.open_facts, kernel.open_fluents
    grids = [samples_of(limits) for limits in fluents.values()]
    while prod(map(len, grids)) > max(5, 200 >> len(facts)):
        longest = max(range(len(grids)), key=lambda i: len(grids[i]))
        grids[longest] = grids[longest][len(grids[longest]) % 2 :: 2]
    for chosen in product((False, True), repeat=len(facts)):
        true = frozenset(fact for fact, is_true in zip(facts, chosen, strict=True) if is_true)
        for values in product(*grids):
            numbers = dict(zip(fluents, values, strict=True))
            if kernel.allows(true, numbers):
                yield true, numbers


def orders_of(plan: str) -> Iterator[tuple[int, ...]]:
    """The orders of a partially ordered plan; ``()`` for any other."""
    lines, pairs = parse_plan(plan)
    if pairs is None:
        yield ()
        return
    for order in permutations(range(1, len(lines) + 1)):
        if all(order.index(first) < order.index(second) for first, second in pairs):
            yield order


def _outcomes(kernel: Kernel, plan: str, world: World) -> Iterator[KernelVerdict]:
    """The judgements for all outcomes of choices that are asked for, each sequence of them once."""
    pending: list[dict[Asked, int]] = [{}]
    while pending:
        fixed = pending.pop()
        asked: dict[Asked, int] = {}
        widths: dict[Asked, int] = {}

        def choose(
            step: int,
            number: int,
            objects: tuple[str, ...],
            alternatives: int,
            fixed: Mapping[Asked, int] = fixed,
            asked: dict[Asked, int] = asked,
            widths: dict[Asked, int] = widths,
        ) -> int:
            key = step, number, objects
            widths[key] = alternatives
            return asked.setdefault(key, fixed.get(key, 0))

        yield kernel.audit(plan, world._replace(choose=choose), other_readings=())
        # What is asked depends on the answers before it alone: what remains differs first at a choice that was new.
        answers = [*asked.items()]
        for i, (key, _) in enumerate(answers):
            if key not in fixed:
                pending += [dict(answers[:i]) | {key: other} for other in range(1, widths[key])]


# ---- causes and questions -------------------------------------------------------------------------------------------


def brute_cause_ok(case: WorldsCase, assignment: Mapping[Fact, bool | Fraction | int]) -> bool:
    """Whether the assignment to open facts and fluents is a cause: it agrees with some completion, all that agree are
    bad, and no proper subset is such. (With fewer facts, more completions agree: subsets with one less suffice.)"""
    found = brute(case)
    if not {*assignment} <= {*found.open_facts, *found.open_numbers}:
        return False
    smaller = [{w: v for w, v in assignment.items() if w != what} for what in assignment]
    return _all_bad(found, assignment) and not any(_all_bad(found, less) for less in smaller)


def _all_bad(found: BruteVerdict, assignment: Mapping[Fact, bool | Fraction | int]) -> bool:
    agree = [c for c in found.completions if all(c.value(what) == value for what, value in assignment.items())]
    return bool(agree) and not any(completion.good for completion in agree)


def brute_question_ok(case: WorldsCase, facts: frozenset[Fact]) -> bool:
    """Whether the open facts and fluents are a question: some completions are good and some bad, those with the same
    values are alike, and no proper subset is such. (What tells them apart does so with more: one less suffices.)"""
    found = brute(case)
    if len({completion.good for completion in found.completions}) < 2:
        return False
    if not facts <= {*found.open_facts, *found.open_numbers}:
        return False
    return _tells(found, facts) and not any(_tells(found, facts - {fact}) for fact in facts)


def _tells(found: BruteVerdict, facts: frozenset[Fact]) -> bool:
    groups: dict[tuple[bool | Fraction, ...], set[bool]] = {}
    for completion in found.completions:
        groups.setdefault(tuple(completion.value(fact) for fact in sorted(facts)), set()).add(completion.good)
    return all(len(group) == 1 for group in groups.values())


# ---- against a claim ------------------------------------------------------------------------------------------------


def contradictions(case: WorldsCase, claimed: Mapping[str, str]) -> list[str]:
    """What worlds say against the claimed values of ``executable``, ``goal`` and ``safe``; one line for each.

    If the worlds are complete the values have to be the same; else no world may be an example of the contrary.
    UNKNOWN is never contradicted by a sample.
    """
    found = brute(case)
    out = []
    for name in ("executable", "goal", "safe"):
        value: str = getattr(found, name)
        if name == "safe" and claimed[name] == "UNKNOWN" and case.criteria.only_introduced:
            continue  # what was there before over the whole trace the circuit does not always know
        if name == "safe" and not found.rules:
            continue  # the report makes no statement about safety (docs/language.md, section 6)
        against = {"ALL": {False, None}, "NONE": {True, None}}.get(claimed[name], set()) & found.seen[name]
        if claimed[name] != value if found.complete else against:
            out.append(f"{name}: claimed {claimed[name]}, but {value} over {found.worlds} worlds")
    return out


def rejected(case: WorldsCase) -> str:
    """Why the kernel does not take the case; empty if it does."""
    try:
        kernel_of(case)
    except KernelRejects as rejection:
        return str(rejection)
    return ""
