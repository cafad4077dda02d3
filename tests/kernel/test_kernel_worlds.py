"""What a description leaves open, by docs/worlds.md, section 1: completions and worlds, computed by hand."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import pytest

from plansafe.verifier.kernel import Kernel, KernelLimit, KernelRejects, KernelVerdict, World

FACTS = "(:types item fridge) (:predicates (a) (b) (c) (d) (wet ?x - item) (inside ?x - item ?f - fridge))"
OBJECTS = "(:objects cup pan - item cold warm - fridge)"


def kernel(init: str, spec: str = "", domain: str = FACTS, goal: str = "()", objects: str = "") -> Kernel:
    objects = objects or (OBJECTS if domain == FACTS else "(:objects cup pan)")
    texts = [f"(define (safety s) {spec})"] if spec else []
    problem = f"(define (problem p) {objects} (:init {init}) (:goal {goal}))"
    return Kernel(f"(define (domain d) {domain})", problem, texts)


def short(facts: Iterable[tuple[str, ...]]) -> str:
    return ",".join(sorted("-".join(fact) for fact in facts))


def completions(init: str, spec: str = "", domain: str = FACTS) -> list[str]:
    """The true open facts of each completion, ``"a,b"``, in order."""
    return sorted(short(facts) for facts, _ in kernel(init, spec, domain).completions())


# ---- facts in :init --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("init", "expected"),
    [
        ("", [""]),
        ("(a)", [""]),
        ("(unknown (a))", ["", "a"]),
        ("(unknown (a)) (unknown (a))", ["", "a"]),
        ("(unknown (a)) (unknown (b))", ["", "a", "a,b", "b"]),
        ("(or (a) (b))", ["a", "a,b", "b"]),
        ("(or (a) (not (b)))", ["", "a", "a,b"]),
        ("(or (a) (and (b) (not (c))))", ["a", "a,b", "a,b,c", "a,c", "b"]),
        ("(or (and (a) (b)))", ["a,b"]),
        ("(or (and) (a))", ["", "a"]),
        ("(oneof (a) (b))", ["a", "b"]),
        ("(oneof (a) (b) (c))", ["a", "b", "c"]),
        ("(oneof (a))", ["a"]),
        ("(oneof (and (a) (b)) (and (c) (d)))", ["a,b", "c,d"]),
        ("(oneof (and (a) (b)) (and (a) (c)))", ["a,b", "a,c"]),
        ("(oneof (a) (not (a)))", ["", "a"]),
        ("(oneof (and (a) (not (b))) (b))", ["a", "b"]),
        ("(oneof (a) (b)) (oneof (b) (c))", ["a,c", "b"]),
        ("(oneof (not (a)) (b))", [""]),  # with b, a would have to be true, and no true alternative has it
    ],
)
def test_statements(init: str, expected: list[str]) -> None:
    assert completions(init) == expected


def test_a_fact_that_others_mention_needs_no_alternative() -> None:
    pair = "(oneof (and (a) (b)) (and (c) (d)))"
    assert completions(pair + "(unknown (a))") == ["a,b", "a,c,d", "c,d"]
    assert completions(pair + "(or (a) (not (a)))") == ["a,b", "a,c,d", "c,d"]
    assert completions(pair, "(:open (a))") == ["a,b", "a,c,d", "c,d"]


def test_a_given_fact_keeps_its_value() -> None:
    assert completions("(a) (oneof (a) (b))") == [""]
    assert completions("(not (a)) (or (a) (b))") == ["b"]
    assert completions("(a) (or (not (a)) (b))") == ["b"]
    assert completions("(a) (b) (oneof (a) (b))") == []
    assert kernel("(a) (oneof (a) (b))").open_facts == (("b",),)


def test_literals_at_time_0_come_after_the_statements() -> None:
    assert completions("(at 0 (not (a))) (or (a) (b))") == ["a", "a,b", "b"]
    assert completions("(at 0 (a)) (unknown (a)) (b)", "(:invariant x :holds (and (a) (b)))") == ["", "a"]
    task_kernel = kernel("(unknown (a)) (unknown (b)) (at 0 (a)) (at 0 (not (b)))")
    assert {frozenset(task_kernel.states("", World(facts))[0]) for facts, _ in task_kernel.completions()} == {
        frozenset({("a",)})
    }
    task_kernel = kernel("(unknown (f)) (at 0 (= (f) 3))", "(:termination x :require (= (f) 3))", NUMBERS)
    assert task_kernel.audit("", World((), {("f",): Fraction(1)})).headline == "SAFE"


@pytest.mark.parametrize(
    "init",
    [
        "(a) (unknown (a))",
        "(not (a)) (unknown (a))",
        "(unknown (nothing))",
        "(unknown (not (a)))",
        "(unknown (wet cold))",
        "(unknown a)",
        "(unknown ())",
        "(unknown)",
        "(or)",
        "(oneof)",
        "(or a b)",
        "(or (or (a) (b)))",
        "(oneof (and (a) (and (b))))",
        "(oneof (wet ?x))",
        "(at 1 (unknown (a)))",
        "(at 1 (oneof (a) (b)))",
        "(not (unknown (a)))",
    ],
)
def test_what_is_no_statement(init: str) -> None:
    with pytest.raises(KernelRejects):
        kernel(init)


def test_a_derived_predicate_cannot_be_open() -> None:
    domain = "(:predicates (p) (q)) (:derived (q) (p))"
    for init, spec in (("(unknown (q))", ""), ("(oneof (q) (p))", ""), ("", "(:open (q))")):
        with pytest.raises(KernelRejects):
            kernel(init, spec, domain)
    initial_states = [
        kernel("(unknown (p))", "", domain).states("", World([("p",)] if true else []))[0] for true in (0, 1)
    ]
    assert initial_states == [set(), {("p",), ("q",)}]


def test_statements_may_be_named_like_predicates() -> None:
    domain = "(:types t) (:predicates (unknown ?x - t) (oneof ?x ?y - t))"
    task_kernel = kernel("(unknown k) (oneof k k) (unknown (unknown l))", "", domain, objects="(:objects k l - t)")
    assert task_kernel.open_facts == (("unknown", "l"),)


# ---- numbers in :init ------------------------------------------------------------------------------------------------

NUMBERS = "(:predicates (a) (b)) (:functions (f) (g ?x))"


@pytest.mark.parametrize(
    ("init", "yes", "no"),
    [
        ("(<= 2 (f) 8)", (2, 8, Fraction(5, 2)), (1, 9, Fraction(17, 2))),
        ("(< 2 (f) 8)", (Fraction(201, 100), 7), (2, 8)),
        ("(>= 8 (f) 2)", (2, 8), (1, 9)),
        ("(<= (f) 8)", (8, -1000), (9,)),
        ("(> (f) 8)", (9, 10**9), (8,)),
        ("(< 2 (f))", (3,), (2,)),
        ("(<= 2 f 3)", (2, 3), (1,)),
        ("(<= 2 (f)) (< (f) 3)", (2,), (3, 1)),
        ("(<= (f) 3 4)", (3,), (4,)),
        ("(<= (f) 4 3)", (), (3, 4)),
        ("(unknown (f))", (-1, 0, 10**9), ()),
        ("(oneof (= (f) 1) (= (f) -2.5))", (1, Fraction(-5, 2)), (0, 2)),
        ("(oneof (= (f) 1) (= (f) 2)) (<= (f) 1)", (1,), (2,)),
    ],
)
def test_values(init: str, yes: tuple[Fraction, ...], no: tuple[Fraction, ...]) -> None:
    task_kernel = kernel(init, "", NUMBERS)
    assert [value for value in (*yes, *no) if task_kernel.allows((), {("f",): value})] == [*yes]
    assert not task_kernel.allows((), {})
    assert not task_kernel.allows((), {("f",): 2, ("g", "cup"): 3})


def test_values_with_facts() -> None:
    task_kernel = kernel("(oneof (and (= (f) 1) (a)) (= (f) 2) (and (b) (= (f) 2)))", "", NUMBERS)
    values = [(short(facts), numbers[("f",)]) for facts, numbers in task_kernel.completions()]
    assert sorted(values) == [("", 2), ("a", 1)]  # with b and 2, two alternatives are true


def test_bounds() -> None:
    task_kernel = kernel("(<= 2 (f) 8) (> 9 (f)) (unknown (g cup)) (oneof (= (g pan) 1) (= (g pan) 2))", "", NUMBERS)
    assert (task_kernel.open_facts, task_kernel.open_fluents) == (
        (),
        {
            ("f",): frozenset({(">=", 2), ("<=", 8), ("<", 9)}),
            ("g", "cup"): frozenset(),
            ("g", "pan"): frozenset(),
        },
    )
    with pytest.raises(KernelLimit):
        next(task_kernel.completions())


def test_a_given_number_keeps_its_value() -> None:
    assert not kernel("(= (f) 1) (<= (f) 2)", "", NUMBERS).is_open
    assert kernel("(= (f) 1) (<= (f) 2)", "", NUMBERS).allows((), {})
    assert not kernel("(= (f) 3) (<= (f) 2)", "", NUMBERS).allows((), {})
    assert kernel("(= (f) 1) (oneof (= (f) 1) (= (f) 2))", "", NUMBERS).allows((), {})


@pytest.mark.parametrize(
    "init",
    [
        "(= (f) 1) (unknown (f))",
        "(<= 1 2)",
        "(<= (f) (g cup))",
        "(<= (f) (+ 1 1))",
        "(<= 0 (f) 1 2)",
        "(< (f))",
        "(or (= (f) 1) (= (f) 2))",
        "(oneof (= (f) 1) (a))",
        "(oneof (= (f) 1) (= (g cup) 1))",
        "(oneof (not (= (f) 1)))",
        "(unknown 3)",
        "(oneof (< (f) 1) (= (f) 2))",
    ],
)
def test_what_is_no_statement_about_numbers(init: str) -> None:
    with pytest.raises(KernelRejects):
        kernel(init, "", NUMBERS)


# ---- open predicates and invariants ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opened", "expected"),
    [
        ("(a)", ["a"]),
        ("(wet ?x)", ["wet-cup", "wet-pan"]),
        ("(wet ?x - object)", ["wet-cup", "wet-pan"]),
        ("(inside ?x ?f)", ["inside-cup-cold", "inside-cup-warm", "inside-pan-cold", "inside-pan-warm"]),
        ("(wet ?x - metal)", ["wet-pan"]),
        ("(wet ?x - (either metal cloth))", ["wet-pan"]),
        ("(near ?x ?x)", ["near-cold-cold", "near-cup-cup", "near-pan-pan", "near-warm-warm"]),
        ("(near ?x - item ?x - fridge)", []),
        ("(wet ?x - fridge)", []),
        ("(near ?x ?x - metal)", ["near-pan-pan"]),
        ("(near ?x - fridge ?y - metal)", ["near-cold-pan", "near-warm-pan"]),
        ("(a) (wet ?x - metal)", ["a", "wet-pan"]),
    ],
)
def test_open_predicates(opened: str, expected: list[str]) -> None:
    domain = """(:types metal cloth - item item fridge - object)
      (:predicates (a) (wet ?x - item) (near ?x ?y) (inside ?x - item ?f - fridge))"""
    objects = "(:objects cup - item pan - metal cold warm - fridge)"
    open_kernel = kernel("", f"(:open {opened})", domain, objects=objects)
    assert ["-".join(fact) for fact in open_kernel.open_facts] == expected
    initial_kernel = kernel("(a) (not (wet pan))", f"(:open {opened})", domain, objects=objects)
    assert ["-".join(fact) for fact in initial_kernel.open_facts] == [x for x in expected if x not in ("a", "wet-pan")]


@pytest.mark.parametrize(
    "spec",
    [
        "(:open (nothing))",
        "(:open (wet))",
        "(:open (wet cup))",
        "(:open (wet ?x - nothing))",
        "(:open a)",
        "(:invariant x)",
        "(:invariant x :holds (a) :at-most-one ((a)))",
        "(:invariant x :holds (once (a)))",
        "(:invariant x :holds (wet ?x))",
        "(:invariant x :at-most-one (a))",
        "(:invariant x :at-most-one ((wet cold)))",
        "(:invariant x :exactly-one ((not (a))))",
        "(:invariant :holds (a))",
    ],
)
def test_invalid_specifications(spec: str) -> None:
    with pytest.raises(KernelRejects):
        kernel("", spec)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (":holds (imply (a) (b))", ["", "a,b", "b"]),
        (":holds (exists (?x - item) (wet ?x))", []),
        (":exactly-one ((a) (b))", ["a", "b"]),
        (":at-most-one ((a) (b))", ["", "a", "b"]),
        (":exactly-one ()", []),
        (":at-most-one ()", ["", "a", "a,b", "b"]),
        (":exactly-one ((a) (a))", ["a", "a,b"]),  # one fact is one instance
        (":exactly-one ((a) (c))", ["a", "a,b"]),
    ],
)
def test_invariants(statement: str, expected: list[str]) -> None:
    assert completions("(unknown (a)) (unknown (b))", f"(:invariant x {statement})") == expected


def test_parameters_of_invariants() -> None:
    spec = "(:open (inside ?x ?f) (wet ?x - item))"
    one_place = "(:invariant one-place :parameters (?x - item) :exactly-one ((inside ?x ?f)))"
    alone = "(:invariant alone :parameters (?f - fridge) :at-most-one ((inside ?x ?f)))"
    dry = "(:invariant dry :parameters (?x - item ?f - fridge) :holds (imply (inside ?x ?f) (not (wet ?x))))"
    assert len(completions("", spec + one_place)) == 4 * 4
    assert len(completions("", spec + one_place + alone)) == 2 * 4
    assert completions("", spec + one_place + alone + dry) == [
        "inside-cup-cold,inside-pan-warm",
        "inside-cup-warm,inside-pan-cold",
    ]
    # Constants in atoms, and both sorts of variables: pan is in cold, or something is in warm.
    mixed = "(:invariant m :exactly-one ((inside pan cold) (inside ?x warm)))"
    assert completions("", "(:open (inside ?x ?f))" + mixed + one_place) == ["inside-cup-cold,inside-pan-cold", *[
        "inside-cup-cold,inside-pan-warm"
    ]]  # fmt: skip


def test_an_invariant_that_is_undefined_does_not_hold() -> None:
    assert not kernel("", "(:invariant x :holds (> (f) 0))", NUMBERS).allows((), {})
    assert kernel("(= (f) 1)", "(:invariant x :holds (> (f) 0))", NUMBERS).allows((), {})
    task_kernel = kernel("(unknown (f))", "(:invariant x :holds (> (f) 0))", NUMBERS)
    assert [task_kernel.allows((), {("f",): value}) for value in (0, 1)] == [False, True]


def test_invariants_speak_of_derived_facts_and_of_literals_at_time_0() -> None:
    domain = "(:predicates (p) (q) (r)) (:derived (q) (and (p) (r)))"
    assert completions("(unknown (p)) (at 0 (r))", "(:invariant x :exactly-one ((q)))", domain) == ["p"]


def test_nothing_is_open_but_an_invariant_is_broken() -> None:
    broken = kernel("(a)", "(:invariant x :holds (b))")
    assert [*broken.completions()] == []
    with pytest.raises(KernelRejects):
        broken.audit("")


# ---- worlds ----------------------------------------------------------------------------------------------------------


def test_a_world_is_asked_for_and_has_to_be_allowed() -> None:
    task_kernel = kernel("(oneof (a) (b))", goal="(a)")
    assert task_kernel.audit("", World([("a",)])).goal
    assert not task_kernel.audit("", World([("b",)])).goal
    for world in (None, World(), World([("a",), ("b",)]), World([("c",)]), World([("a",)], {("f",): Fraction(1)})):
        with pytest.raises(KernelRejects):
            task_kernel.audit("", world)
    assert kernel("(a)", goal="(a)").audit("", World()).goal


def test_states_and_findings_are_those_of_the_world() -> None:
    task_kernel = kernel("(unknown (a)) (b)", "(:process calm :forbid (a))")
    assert [task_kernel.states("", World(facts))[0] for facts in ([], [("a",)])] == [{("b",)}, {("a",), ("b",)}]
    assert [task_kernel.check_finding("", "calm", {}, 0, World(facts)) for facts in ([], [("a",)])] == [False, True]
    with pytest.raises(KernelRejects):
        task_kernel.states("")


def test_an_open_number_has_the_value_of_the_world() -> None:
    domain = NUMBERS + "(:action heat :precondition (< (f) 8) :effect (increase (f) 2))"
    task_kernel = kernel("(<= 2 (f) 8)", "(:termination cool :require (<= (f) 9.5))", domain)
    verdicts = [task_kernel.audit("(heat)", World((), {("f",): Fraction(v)})).headline for v in ("7.5", "7.75", "8")]
    assert verdicts == ["SAFE", "UNSAFE", "INVALID"]
    with pytest.raises(KernelRejects):
        task_kernel.audit_trace([[]])


# ---- outcomes --------------------------------------------------------------------------------------------------------

TOSS = """(:predicates (head) (tail) (edge)) (:action toss :effect (oneof (head) (tail) (and)))
(:action look :precondition (or (head) (tail)) :effect (and))"""


def outcomes(
    domain: str, plan: str, alternatives: list[int], init: str = ""
) -> tuple[KernelVerdict, list[tuple[int, ...]]]:
    """The verdict if the choices have these alternatives, in order; and the choices (step, number, alternatives)."""
    choices: dict[tuple[int, int, tuple[str, ...]], int] = {}
    widths = []

    def choose(step: int, number: int, objects: tuple[str, ...], count: int) -> int:
        key = step, number, objects
        if key not in choices:
            choices[key] = alternatives[len(choices)] if len(choices) < len(alternatives) else 0
            widths.append((step, number, count))
        return choices[key]

    verdict = kernel(init, "", domain, objects="(:objects k l)").audit(plan, World(choose=choose))
    return verdict, widths


def test_one_of_the_effects_happens() -> None:
    task_kernel = kernel("", "", TOSS)
    for alternative, expected in enumerate(({("head",)}, {("tail",)}, set())):
        world = World(choose=lambda step, number, objects, count, picked=alternative: picked)
        assert task_kernel.states("(toss)", world)[1] == expected
        assert task_kernel.audit("(toss) (look)", world).executable == (alternative < 2)
    with pytest.raises(KernelRejects):
        task_kernel.audit("(toss)", World(choose=lambda *_: 3))
    with pytest.raises(KernelRejects):
        task_kernel.audit("(toss)")
    with pytest.raises(KernelRejects):
        task_kernel.audit("(toss)", World())
    assert task_kernel.audit("(look)").headline == "INVALID"  # nothing is open in this plan


def test_each_step_chooses_for_itself() -> None:
    verdict, choices = outcomes(TOSS, "(toss) (look) (toss) (look)", [2, 0])
    assert choices[:2] == [(1, 0, 3), (3, 0, 3)]
    assert verdict.failed_steps == {"halt": (2,), "skip": (2,), "force": (2,)}
    assert outcomes(TOSS, "(toss) (look) (toss) (look)", [1, 2])[0].executable


NESTED = """(:predicates (p) (q) (r) (s)) (:action act :effect (and
  (oneof (and (p) (oneof (q) (r))) (s)) (when (p) (oneof (q) (and (r) (s))))))"""


def test_choices_are_numbered_in_the_order_of_the_text() -> None:
    assert outcomes(NESTED, "(act)", [0, 1])[1] == [(1, 0, 2), (1, 1, 2)]
    assert outcomes(NESTED, "(act)", [1])[1] == [(1, 0, 2)]
    assert outcomes(NESTED, "(act)", [1, 1], "(p)")[1] == [(1, 0, 2), (1, 2, 2)]
    assert outcomes(NESTED, "(act) (act)", [0, 0, 1, 1])[1] == [(1, 0, 2), (1, 1, 2), (2, 0, 2), (2, 2, 2)]


def test_each_binding_chooses_for_itself() -> None:
    domain = """(:predicates (on ?x) (by ?x ?y)) (:action act :parameters (?z) :effect (and
      (forall (?x) (oneof (on ?x) (not (on ?x))))
      (oneof (by ?z ?z) (forall (?x ?y) (oneof (by ?x ?y) ())))))"""
    task_kernel = kernel("", "", domain, objects="(:objects k l)")
    choices = []

    def choose(step: int, number: int, objects: tuple[str, ...], alternatives: int) -> int:
        choices.append((number, objects))
        return {(0, ("k",)): 1, (1, ()): 1, (2, ("l", "k")): 0}.get((number, objects), number // 2)

    state = task_kernel.states("(act k)", World(choose=choose))[1]
    assert choices == [(0, ("k",)), (0, ("l",)), (1, ()), *[(2, (x, y)) for x in "kl" for y in "kl"]]
    assert state == {("on", "l"), ("by", "l", "k")}


def test_outcomes_of_durative_actions() -> None:
    domain = """(:predicates (p) (q)) (:durative-action act :parameters () :duration (= ?duration 2) :condition ()
      :effect (and (oneof (at start (p)) (at end (q))) (at end (oneof (p) (and (not (p)) (q))))))"""
    task_kernel = kernel("", "", domain)
    traces = []
    for first, second in ((0, 0), (0, 1), (1, 0), (1, 1)):
        world = World(choose=lambda step, number, objects, count, both=(first, second): both[number])
        traces.append([short(state) for state in task_kernel.states("0: (act) [2]", world)])
    assert traces == [["", "p", "p"], ["", "p", "q"], ["", "", "p,q"], ["", "", "q"]]


def test_a_conflict_in_one_outcome_alone() -> None:
    domain = "(:functions (n)) (:action act :effect (and (assign (n) 1) (oneof (assign (n) 2) ())))"
    executable = [outcomes(domain, "(act)", [alternative])[0].executable for alternative in (0, 1)]
    assert executable == [False, True]


def test_a_predicate_may_be_called_oneof() -> None:
    domain = "(:predicates (oneof ?x) (p)) (:action act :parameters (?x) :effect (oneof (oneof ?x) (p)))"
    task_kernel = kernel("", "", domain, objects="(:objects k)")
    assert task_kernel.states("(act k)", World(choose=lambda *_: 0))[1] == {("oneof", "k")}
    plain = kernel("", "", "(:predicates (oneof ?x)) (:action act :parameters (?x) :effect (oneof ?x))",
                   objects="(:objects k)")  # fmt: skip
    assert plain.states("(act k)")[1] == {("oneof", "k")}


@pytest.mark.parametrize("effect", ["(oneof)", "(oneof p q)", "(oneof (p) (< 1 2))", "(not (oneof (p) (q)))"])
def test_invalid_outcomes(effect: str) -> None:
    with pytest.raises(KernelRejects):
        kernel("", "", f"(:predicates (p) (q)) (:action act :effect {effect})")


# ---- orders ----------------------------------------------------------------------------------------------------------

STEPS = """(:predicates (p) (q) (r)) (:action a :effect (p)) (:action b :precondition (p) :effect (q))
(:action c :effect (not (p)))"""


def ordered(steps: str, ordering: str, *order: int) -> KernelVerdict:
    plan = f"(define (plan x) (:steps {steps}) (:ordering {ordering}))"
    spec = "(:process late :forbid (q)) (:process taken :on (c) :forbid (q))"
    return kernel("", spec, STEPS).audit(plan, World(order=order))


def test_steps_are_taken_in_the_order_of_the_world() -> None:
    steps = "(make (a)) (b) (spoil (c))"
    assert [ordered(steps, "(< make 2)", *order).executable for order in ((1, 2, 3), (3, 1, 2), (1, 3, 2))] == [
        True,
        True,
        False,
    ]
    assert ordered(steps, "", 2, 1, 3).failed_steps["halt"] == (2,)
    findings = ordered(steps, "", 1, 2, 3).findings
    assert {(f.rule, f.step) for f in findings} == {("late", 2), ("taken", 3)}
    findings = ordered(steps, "", 3, 1, 2).findings  # the letters have the numbers of the steps taken last
    assert {(f.rule, f.step) for f in findings} == {("late", 2)}
    findings = ordered("(c) (b) (a)", "(< 3 2 1)", 3, 2, 1).findings
    assert {(f.rule, f.step) for f in findings} == {("late", 2), ("taken", 1)}


@pytest.mark.parametrize(
    ("steps", "ordering", "order"),
    [
        ("(x (a)) (y (b))", "(< x y)", (2, 1)),
        ("(x (a)) (y (b)) (z (c))", "(< x y z)", (1, 3, 2)),
        ("(x (a)) (y (b))", "", ()),
        ("(x (a)) (y (b))", "", (1,)),
        ("(x (a)) (y (b))", "", (1, 1)),
        ("(x (a)) (y (b))", "", (1, 2, 3)),
        ("(x (a)) (y (b))", "(< x x)", (1, 2)),
        ("(x (a)) (y (b))", "(< x y) (< y x)", (1, 2)),
        ("(x (a)) (x (b))", "", (1, 2)),
        ("(x (a)) (y (b))", "(< x z)", (1, 2)),
        ("(x (a)) (y (b))", "(< 1 y)", (1, 2)),
        ("(x (a)) (y (b))", "(> x y)", (1, 2)),
        ("(x (a)) (y (b))", "x y", (1, 2)),
        ("(x (at 1 (a)))", "", (1,)),
        ("(at 1 (a)) (at 2 (a))", "(< 1 2)", (1, 2)),
    ],
)
def test_invalid_orders(steps: str, ordering: str, order: tuple[int, ...]) -> None:
    with pytest.raises(KernelRejects):
        ordered(steps, ordering, *order)


def test_a_plan_without_ordering_keeps_its_order() -> None:
    task_kernel = kernel("", "", STEPS)
    assert task_kernel.audit("(define (plan x) (:steps (one (a)) (two (b))))").executable
    with pytest.raises(KernelRejects):
        task_kernel.audit("(define (plan x) (:steps (a) (b)) (:ordering))")


# ---- durations -------------------------------------------------------------------------------------------------------

BAKE = """(:predicates (hot) (done)) (:action serve :precondition (done) :effect (and))
(:durative-action bake :parameters () :duration (>= ?duration 2) :condition ()
  :effect (and (at start (hot)) (at end (done))))"""


def lasting(plan: str, **durations: Fraction | int | str) -> KernelVerdict:
    world_durations = {int(name[1:]): Fraction(value) for name, value in durations.items()}
    return kernel("", "", BAKE).audit(plan, World(durations=world_durations))


@pytest.mark.parametrize("plan", ["0: (bake) [3 +- 1.5]", "(define (plan x) (:steps (at 0 (bake) 3 1.5)))"])
def test_a_duration_is_that_of_the_world(plan: str) -> None:
    assert [lasting(plan, s1=value).executable for value in ("1.5", 2, "4.5")] == [False, True, True]
    for not_allowed in ({}, {"s1": "1.4"}, {"s1": 5}, {"s2": 3}):
        with pytest.raises(KernelRejects):
            lasting(plan, **not_allowed)
    with pytest.raises(KernelRejects):
        kernel("", "", BAKE).audit(plan)


def test_steps_with_durations_count_in_order_of_time() -> None:
    plan = "6: (serve)  1: (bake) [4 +- 1]"
    assert [lasting(plan, s1=value).failed_steps["halt"] for value in (3, "4.5", 5)] == [(), (), (2,)]


def test_zero_missing_and_malformed_tolerances() -> None:
    assert lasting("0: (bake) [3 +- 0]").executable
    assert lasting("0: (bake) [3]").executable
    assert lasting("0: (bake) [3+-1]", s1=2).executable
    for text in ("[3 +- ]", "[+- 1]", "[3 - 1]", "[3 +- 1 +- 1]"):
        with pytest.raises(KernelRejects):
            lasting(f"0: (bake) {text}", s1=3)
