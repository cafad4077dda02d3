"""Compare a random hybrid case with an open number: the engine's ranges of values with the kernel.

The kernel judges each range as a whole, and the case with single values: one of each range, and others at random.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from hybrid_compare import WORK_LIMIT, Comparison, make_checker
from hybrid_random import HybridCase

from plansafe.grammar.source import Source
from plansafe.verifier.kernel import Kernel, KernelLimit, World
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.worlds.open_number_audit import OpenDuration, OpenNumberAudit, ValueRange
from plansafe.verifier.symbolic.worlds.world_replay import make_certain_world

WIDTHS = ("0.5", "1", "2", "4")


def open_number(case: HybridCase, random: Random) -> HybridCase:
    """Return a case in which one number has an interval instead of a value, or a duration has a tolerance."""
    lasting = [place for place, step in enumerate(case.steps) if "[" in step]
    if lasting and random.random() < 0.3:
        place = random.choice(lasting)
        step = case.steps[place].replace("]", f" +- {random.choice(('0.5', '1'))}]")
        return case._replace(steps=(*case.steps[:place], step, *case.steps[place + 1 :]))
    places = [place for place, text in enumerate(case.init) if text.startswith("(= ") and "clock" not in text]
    place = random.choice(places)
    fluent, value = case.init[place][3:-1].rsplit(" ", 1)
    width = random.choice(WIDTHS)
    low = str(Fraction(value) - Fraction(width) * random.choice((0, 0, 1)))
    bounds = random.choice(("<= {low} {fluent} {high}", "<= {low} {fluent} {high}", "< {low} {fluent} {high}"))
    text = bounds.format(low=float(Fraction(low)), fluent=fluent, high=float(Fraction(low) + Fraction(width)))
    return case._replace(init=(*case.init[:place], f"({text})", *case.init[place + 1 :]))


def compare_ranges(case: HybridCase, random: Random) -> Comparison:
    """Compare the ranges of a case in which one number is open."""
    checker = make_checker(case)
    resolved = checker.read(Source("random.plan", case.plan()))
    audit = OpenNumberAudit(checker.compiled, resolved, make_certain_world(resolved.steps))
    audit.run()
    kernel = Kernel(case.domain(), case.problem(), [case.safety()] if case.rules else [])
    assert audit.number is not None
    number = audit.number.step if isinstance(audit.number, OpenDuration) else next(iter(kernel.open_fluents))
    differing: list[str] = []
    confirmed = 0
    for part in audit.ranges:
        headlines = _find_headlines(kernel, case, number, part)
        confirmed += part.low_open and headlines == {part.headline.value}
        if part.sample is not None:
            headlines |= {_judge(kernel, case, number, part.sample)}
        differing += [f"{part}: {headline}" for headline in headlines if _differs(part, headline)]
    low, high, _, _ = audit.number.interval
    assert low is not None
    assert high is not None
    for _ in range(4):
        value = low + (high - low) * Fraction(random.randint(1, 59), 60)
        parts = [part for part in audit.ranges if _contains(part, value)]
        if len(parts) != 1 and not audit.limits:
            differing.append(f"{value} is in {len(parts)} ranges")
        headline = _judge(kernel, case, number, value)
        differing += [f"{value} in {part}: {headline}" for part in parts if _differs(part, headline)]
    headlines = ", ".join(sorted({part.headline.value for part in audit.ranges}))
    return Comparison(tuple(differing), headlines, confirmed, not audit.limits)


def _differs(part: ValueRange, headline: str | None) -> bool:
    """Whether the kernel contradicts a range that the engine decides."""
    return None not in part.verdict[:3] and headline not in (part.headline.value, "UNKNOWN", None)


def _judge(kernel: Kernel, case: HybridCase, number: tuple[str, ...] | int, value: Number) -> str | None:
    """Return the kernel's headline; ``None`` if it gives none."""
    try:
        durations, numbers = ({number: value}, {}) if isinstance(number, int) else ({}, {number: value})
        return kernel.audit(case.plan(), World(numbers=numbers, durations=durations), (), WORK_LIMIT).headline
    except KernelLimit:
        return None


def _find_headlines(
    kernel: Kernel, case: HybridCase, number: tuple[str, ...] | int, part: ValueRange
) -> frozenset[str | None]:
    """Return the kernel's headlines for all values of a range; none if it gives none."""
    ends = [Fraction(end) for end in (part.low, part.high) if isinstance(end, int | Fraction)]
    if len(ends) < 2:
        return frozenset()
    try:
        return frozenset(kernel.find_headlines(case.plan(), World(), number, (ends[0], ends[1]), WORK_LIMIT))
    except KernelLimit:
        return frozenset()


def _contains(part: ValueRange, value: Fraction) -> bool:
    if part.low is None or part.high is None:
        return False
    above = part.low < value or (part.low == value and not part.low_open)
    return above and (value < part.high or (value == part.high and not part.high_open))
