"""Every operator of docs/language.md, section 4: hand-computed cases, and the definitions written out with loops."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from plansafe.verifier.kernel import Kernel, KernelRejects
from quick import quick_every

DOMAIN = "(define (domain d) (:predicates (p) (q)) (:action a) (:action b))"
PROBLEM = "(define (problem x) (:domain d) (:goal ()))"

Letter = tuple[bool, bool]  # p, q
Definition = Callable[[list[Letter], list[Fraction], int], bool]


def kernel(formula: str) -> Kernel:
    return Kernel(DOMAIN, PROBLEM, [f"(define (safety s) (:trajectory r :formula {formula}))"])


def facts(letter: Letter) -> list[tuple[str, ...]]:
    return [(name,) for name, true in zip("pq", letter, strict=True) if true]


def value(formula: str, text: str, times: list[int] | None = None) -> bool | None:
    """The value of a formula at letter 0; ``text`` has one word for each letter: ``p``, ``q``, ``pq`` or ``-``."""
    letters = [("p" in word, "q" in word) for word in text.split()]
    exact = None if times is None else [Fraction(t) for t in times]
    return kernel(formula).evaluate_instance("r", {}, [facts(x) for x in letters], exact)


@pytest.mark.parametrize(
    ("formula", "trace", "times", "expected"),
    [
        ("(at end (p))", "- - p", None, True),
        ("(at end (p))", "p p -", None, False),
        ("(always (p))", "p p p", None, True),
        ("(always (p))", "- p p", None, False),
        ("(sometime (p))", "- - p", None, True),
        ("(sometime (p))", "q q q", None, False),
        ("(within 2 (p))", "- - p", None, True),
        ("(within 1 (p))", "- - p", None, False),
        ("(within 1.5 (p))", "- p", [0, 2], False),
        ("(at-most-once (p))", "- p p -", None, True),
        ("(at-most-once (p))", "p - p", None, False),
        ("(at-most-once (p))", "- -", None, True),
        ("(sometime-after (p) (q))", "pq -", None, True),
        ("(sometime-after (p) (q))", "q p -", None, False),
        ("(sometime-after (p) (q))", "- -", None, True),
        ("(sometime-before (p) (q))", "q p", None, True),
        ("(sometime-before (p) (q))", "- pq", None, False),  # strictly before
        ("(sometime-before (p) (q))", "- -", None, True),
        ("(always-within 2 (p) (q))", "p - q", None, True),
        ("(always-within 1 (p) (q))", "p - q", None, False),
        ("(always-within 0 (p) (q))", "pq -", None, True),
        ("(always-within 5 (p) (q))", "p q p -", None, False),
        # The state in force when the window opens counts, even when nothing happens in the window.
        ("(hold-during 5 7 (p))", "p - -", [0, 4, 10], False),
        ("(hold-during 5 7 (p))", "- p -", [0, 4, 10], True),
        ("(hold-during 5 7 (p))", "- p -", [0, 4, 6], False),
        ("(hold-during 5 7 (p))", "- p -", [0, 4, 7], True),
        ("(hold-during 5 7 (p))", "- - p", [0, 1, 2], True),  # the trace ends before the window: the last state
        ("(hold-during 5 7 (p))", "p p -", [0, 1, 5], False),
        ("(hold-after 5 (p))", "- p p", [0, 4, 10], True),
        ("(hold-after 5 (p))", "p - p", [0, 4, 10], False),
        ("(hold-after 5 (p))", "p p -", [0, 4, 10], False),
        ("(hold-after 5 (p))", "- - p", [0, 1, 2], True),
        ("(next (p))", "- p", None, True),
        ("(next (p))", "p", None, False),
        ("(weak-next (p))", "p", None, True),
        ("(weak-next (p))", "p -", None, False),
        ("(until (p) (q))", "p p q", None, True),
        ("(until (p) (q))", "p p p", None, False),
        ("(until (p) (q))", "p - q", None, False),
        ("(release (p) (q))", "q q q", None, True),
        ("(release (p) (q))", "q pq -", None, True),
        ("(release (p) (q))", "q p -", None, False),
        ("(sometime (yesterday (p)))", "p -", None, True),
        ("(sometime (yesterday (p)))", "- p", None, False),
        ("(always (weak-yesterday (p)))", "p p -", None, True),
        ("(at end (once (p)))", "p - -", None, True),
        ("(at end (once (p)))", "- - -", None, False),
        ("(at end (historically (p)))", "p p p", None, True),
        ("(at end (historically (p)))", "- p p", None, False),
        ("(at end (since (p) (q)))", "q p p", None, True),
        ("(at end (since (p) (q)))", "q - p", None, False),
        ("(at end (since (p) (q)))", "- - q", None, True),
        ("(imply (p) (sometime (q)))", "- -", None, True),
        ("(or (always (p)) (always (q)))", "p q", None, False),
        ("(and)", "-", None, True),
        ("(or)", "-", None, False),
        ("(forall (?x) (p))", "-", None, True),  # no objects
        ("(exists (?x) (p))", "p", None, False),
    ],
)
def test_by_hand(formula: str, trace: str, times: list[int] | None, expected: bool) -> None:
    assert value(formula, trace, times) is expected


@pytest.mark.parametrize(("letters", "expected"), [(1, True), (2, True), (3, None)])
def test_an_undefined_formula_needs_three_letters_to_be_true_more_than_once(
    letters: int, expected: bool | None
) -> None:
    domain = DOMAIN.replace("(:action a)", "(:functions (h)) (:action a)")
    rules = "(define (safety s) (:trajectory r :formula (at-most-once (> (h) 0))))"
    assert Kernel(domain, PROBLEM, [rules]).evaluate_instance("r", {}, [[]] * letters) is expected


def test_steps_taken() -> None:
    """``action`` reads the steps of a letter; the last letter has none."""
    assert kernel("(action (a))").evaluate_instance("r", {}, [[], []], None, [[("a",)], []]) is True
    assert kernel("(next (action (a)))").evaluate_instance("r", {}, [[], []], None, [[("a",)], []]) is False
    assert kernel("(sometime (action (b)))").evaluate_instance("r", {}, [[], []], None, [[("a",)], []]) is False


@pytest.mark.parametrize(
    "formula",
    ["(once (next (p)))", "(since (p) (until (p) (q)))", "(next (at end (p)))", "(at end (sometime (p)))",
     "(within -1 (p))", "(next (p) (q))", "(historically (within 1 (p)))"],
)  # fmt: skip
def test_misplaced(formula: str) -> None:
    with pytest.raises(KernelRejects):
        kernel(formula)


# The definitions as the tables state them, one for each operator; F and G are the two facts.
def suffix(n: int, i: int) -> range:
    return range(i, n)


DEFINITIONS: dict[str, Definition] = {
    "(yesterday {f})": lambda s, t, i: i > 0 and s[i - 1][0],
    "(weak-yesterday {f})": lambda s, t, i: i == 0 or s[i - 1][0],
    "(once {f})": lambda s, t, i: any(s[j][0] for j in range(i + 1)),
    "(historically {f})": lambda s, t, i: all(s[j][0] for j in range(i + 1)),
    "(since {f} {g})": lambda s, t, i: any(s[j][1] and all(s[k][0] for k in range(j + 1, i + 1)) for j in range(i + 1)),
    "(next {f})": lambda s, t, i: i < len(s) - 1 and s[i + 1][0],
    "(weak-next {f})": lambda s, t, i: i == len(s) - 1 or s[i + 1][0],
    "(until {f} {g})": lambda s, t, i: any(s[j][1] and all(s[k][0] for k in range(i, j)) for j in suffix(len(s), i)),
    "(release {f} {g})": lambda s, t, i: all(s[j][1] or any(s[k][0] for k in range(i, j)) for j in suffix(len(s), i)),
    "(always {f})": lambda s, t, i: all(s[j][0] for j in suffix(len(s), i)),
    "(sometime {f})": lambda s, t, i: any(s[j][0] for j in suffix(len(s), i)),
    "(sometime-after {f} {g})": lambda s, t, i: all(
        any(s[k][1] for k in suffix(len(s), j)) for j in suffix(len(s), i) if s[j][0]
    ),
}
WHOLE_TRACE_DEFINITIONS: dict[str, Definition] = {
    "(at end {f})": lambda s, t, i: s[-1][0],
    "(within 3 {f})": lambda s, t, i: any(s[j][0] for j in range(len(s)) if t[j] <= 3),
    "(at-most-once {f})": lambda s, t, i: sum(
        s[j][0] and (j == 0 or not s[j - 1][0]) for j in range(len(s))
    ) <= 1,
    "(sometime-before {f} {g})": lambda s, t, i: all(
        any(s[k][1] for k in range(j)) for j in range(len(s)) if s[j][0]
    ),
    "(always-within 2 {f} {g})": lambda s, t, i: all(
        any(s[k][1] and t[k] - t[j] <= 2 for k in range(j, len(s))) for j in range(len(s)) if s[j][0]
    ),
    "(hold-during 2 5 {f})": lambda s, t, i: (
        s[-1][0]
        if t[-1] <= 2
        else s[max(j for j in range(len(s)) if t[j] <= 2)][0] and all(s[j][0] for j in range(len(s)) if 2 < t[j] < 5)
    ),
    "(hold-after 2 {f})": lambda s, t, i: (
        s[-1][0] if t[-1] <= 2 else all(s[j][0] for j in range(max(j for j in range(len(s)) if t[j] <= 2), len(s)))
    ),
}  # fmt: skip


def random_trace(rng: random.Random) -> tuple[list[Letter], list[Fraction]]:
    letters = [(rng.random() < 0.5, rng.random() < 0.4) for _ in range(rng.randint(1, 7))]
    times = [Fraction(0)]
    for _ in letters[1:]:
        times.append(times[-1] + Fraction(rng.randint(1, 4), 2))
    return letters, times


@pytest.mark.parametrize("pattern", [*DEFINITIONS, *WHOLE_TRACE_DEFINITIONS])
def test_against_the_definition(pattern: str) -> None:
    rng = random.Random(pattern)
    is_whole_trace = pattern in WHOLE_TRACE_DEFINITIONS
    formula = pattern.format(f="(p)", g="(q)")
    rules = [kernel(formula)]
    if not is_whole_trace:  # the value at letter i, reached by next
        for _ in range(3):
            formula = f"(next {formula})"
            rules.append(kernel(formula))
    for _ in range(150):
        letters, times = random_trace(rng)
        for i, rule in enumerate(rules[: len(letters)]):
            definition = {**DEFINITIONS, **WHOLE_TRACE_DEFINITIONS}[pattern]
            instance_value = rule.evaluate_instance("r", {}, [facts(x) for x in letters], times)
            assert instance_value is definition(letters, times, i), (pattern, i, letters, times)


def doomed(formula: str, letters: list[Letter], times: list[Fraction], alphabet: list[Letter]) -> bool:
    """Whether every continuation by at most three letters violates the formula, sought by trying them."""
    rule = kernel(formula)

    def violated(more: list[Letter], gap: Fraction) -> bool:
        later = [times[-1] + gap * (k + 1) for k in range(len(more))]
        states = [facts(x) for x in [*letters, *more]]
        return rule.evaluate_instance("r", {}, states, [*times, *later]) is False

    tails: list[list[Letter]] = [[]]
    for _ in range(3):
        tails += [[*tail, x] for tail in tails for x in alphabet if len(tail) < 3]
    unique = [list(x) for x in {tuple(tail) for tail in tails}]
    return all(violated(more, gap) for more in unique for gap in (Fraction(1, 4), Fraction(3)))


@pytest.mark.parametrize(
    "pattern",
    quick_every(6, ["(within 1 {f})", "(at-most-once {f})", "(sometime-before {f} {g})", "(always-within 1 {f} {g})",
     "(hold-during 1 2 {f})", "(hold-after 1 {f})", "(at end {f})", "(sometime {f})", "(sometime-after {f} {g})"]),
)  # fmt: skip
def test_first_hopeless_letter(pattern: str) -> None:
    """The step of a finding is the first letter whose prefix no continuation can save."""
    rng = random.Random(pattern)
    formula = pattern.format(f="(p)", g="(q)")
    rule, alphabet = kernel(formula), [(False, False), (True, False), (False, True), (True, True)]
    compared = 0
    while compared < 8:
        letters, times = random_trace(rng)
        letters, times = letters[:4], times[:4]
        findings = rule.audit_trace([facts(x) for x in letters], times)
        if not findings:
            continue
        compared += 1
        (finding,) = findings
        assert finding.exact_step
        hopeless = [i for i in range(len(letters)) if doomed(formula, letters[: i + 1], times[: i + 1], alphabet)]
        if finding.at_end:
            assert hopeless == []
        else:
            assert finding.step == hopeless[0], (letters, times)
