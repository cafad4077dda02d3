"""Open facts, choices, numbers and orders (docs/worlds.md, section 1) are elaborated from text to the typed model.

The cases of errors are in ``tests/verifier/diagnostics.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.llm.loose.reader import read_loose
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.diagnose.api import diagnose
from plansafe.verifier.diagnose.causal_links import record_run
from plansafe.verifier.diagnose.labels import find_safel_label
from plansafe.verifier.diagnose.localise import localise
from plansafe.verifier.diagnose.minimal_cause import find_minimal_cause
from plansafe.verifier.elaborate.unknowns import intersect_intervals, is_empty_interval
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.one_world import NeedsOneWorld
from plansafe.verifier.execution.online_monitor import Monitor
from plansafe.verifier.execution.purpose import NotCovered
from plansafe.verifier.execution.steps import IllFormed
from plansafe.verifier.model.nodes import Effect, InitialLiteral, Interval, OpenPredicate, WorldInvariant
from plansafe.verifier.planning.compile_rules import CannotCompile, compile_rules
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.pddl_names import Unprintable
from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus
from plansafe.verifier.planning.printing import print_task
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairStatus
from plansafe.verifier.reporting.report import Finding, FindingClass, Headline

DOMAIN = """(define (domain kitchen)
  (:types thing place - object cup - thing fridge - place)
  (:predicates (wet ?t - thing) (hot ?t - thing) (in ?t - thing ?p - place) (near ?a ?b - thing) (done)
    (safe ?t - thing))
  (:functions (weight ?t - thing) (total))
  (:derived (safe ?t - thing) (not (hot ?t)))
  {}
  (:action dry :parameters (?t - thing) :effect (not (wet ?t)))
  (:durative-action bake :parameters (?t - thing) :duration (>= ?duration 0) :effect (at end (hot ?t))))"""
PROBLEM = """(define (problem p) (:domain kitchen)
  (:objects mug - cup pan - thing cool - fridge hall - place) (:init {}) (:goal (and)))"""


def create_checker(init: str = "", action: str = "", *specs: str, **options: object) -> Checker:
    sources = [Source(f"spec{number}", text) for number, text in enumerate(specs, 1)]
    sources_by_name = {source.text.split()[2].rstrip(")"): source for source in sources}
    checker = Checker(
        Source("domain", DOMAIN.format(action)),
        Source("problem", PROBLEM.format(init)),
        sources[-1:] if len(sources) > 1 and "extends" in specs[-1] else sources,
        Options(**options),  # type: ignore[arg-type]
        resolve=lambda name, _including: sources_by_name.get(name),
    )
    assert checker.ok, checker.diagnostics
    return checker


def safety(text: str, name: str = "s") -> str:
    return f"(define (safety {name}) {text})"


# -- the initial state ------------------------------------------------------------------------------------------------


def literal_text(checker: Checker, literal: InitialLiteral) -> str:
    task = checker.compiled.task
    if literal.fluent:
        function = task.functions[literal.predicate]
        names = task.names(task.decode(literal.code, len(function.types)))
        return f"({' '.join([function.name, *names])}) = {literal.value}"
    return ("" if literal.value else "not ") + task.fact_text(literal.predicate, literal.code)


def interval_text(interval: Interval) -> str:
    low = "" if interval.low is None else f"{interval.low} {'<' if interval.low_open else '<='} "
    high = "" if interval.high is None else f" {'<' if interval.high_open else '<='} {interval.high}"
    return f"{low}.{high}"


def describe_open_parts(init: str) -> list[str]:
    """What a section ``:init`` leaves open, as text: facts (``+``: supported alone), choices, numbers."""
    checker = create_checker(init)
    task = checker.compiled.task
    unknowns = task.unknowns
    assert checker.is_open == (unknowns is not None)
    if unknowns is None:
        return []
    assert isinstance(unknowns.node, list)
    texts = []
    for predicate, codes in enumerate(unknowns.facts):
        supported = unknowns.oneof_only[predicate]
        assert supported <= codes
        assert not codes & task.initial_facts[predicate]
        texts += [task.fact_text(predicate, code) + (" +" if code in supported else "") for code in sorted(codes)]
    for choice in unknowns.choices:
        alternatives = [
            " & ".join([literal_text(checker, element) for element in literals]) for literals in choice.alternatives
        ]
        texts.append(("one of: " if choice.exactly_one else "some of: ") + " | ".join(alternatives))
    for function, values in enumerate(unknowns.intervals):
        for code, interval in values.items():
            assert code not in task.initial_fluents[function]
            literal = InitialLiteral(function, code, 0, True)
            texts.append(f"{literal_text(checker, literal).removesuffix(' = 0')}: {interval_text(interval)}")
    return texts


@pytest.mark.parametrize(
    ("init", "expected"),
    [
        ("(wet mug) (= (total) 5) (not (wet pan))", []),
        ("(unknown (wet mug))", ["(wet mug)"]),
        ("(unknown (in pan hall)) (unknown (done)) (wet mug)", ["(in pan hall)", "(done)"]),
        ("(unknown (wet mug)) (unknown (wet mug))", ["(wet mug)"]),
        ("(or (wet mug) (wet pan))", ["(wet mug)", "(wet pan)", "some of: (wet mug) | (wet pan)"]),
        ("(or (not (wet mug)))", ["(wet mug)", "some of: not (wet mug)"]),
        ("(oneof (wet mug) (wet pan))", ["(wet mug) +", "(wet pan) +", "one of: (wet mug) | (wet pan)"]),
        (
            "(oneof (and (wet mug) (hot mug)) (and (wet pan) (not (hot pan))))",
            [
                "(wet mug) +",
                "(wet pan) +",
                "(hot mug) +",
                "(hot pan) +",
                "one of: (wet mug) & (hot mug) | (wet pan) & not (hot pan)",
            ],
        ),
        # Given facts keep their values, and remain in the alternatives.
        ("(wet mug) (oneof (wet mug) (wet pan))", ["(wet pan) +", "one of: (wet mug) | (wet pan)"]),
        ("(or (wet mug) (wet pan)) (not (wet mug))", ["(wet pan)", "some of: (wet mug) | (wet pan)"]),
        # If another statement mentions a fact, `oneof` alone does not make it false.
        (
            "(unknown (wet mug)) (oneof (wet mug) (wet pan))",
            ["(wet mug)", "(wet pan) +", "one of: (wet mug) | (wet pan)"],
        ),
        (
            "(oneof (wet mug) (wet pan)) (or (wet pan))",
            ["(wet mug) +", "(wet pan)", "one of: (wet mug) | (wet pan)", "some of: (wet pan)"],
        ),
        ("(or (and (wet mug) (wet mug)))", ["(wet mug)", "some of: (wet mug)"]),
        ("(unknown (total))", ["(total): ."]),
        ("(unknown total)", ["(total): ."]),
        ("(<= 2 (total) 8)", ["(total): 2 <= . <= 8"]),
        ("(< 2 total 8)", ["(total): 2 < . < 8"]),
        ("(>= 8 (total) 2)", ["(total): 2 <= . <= 8"]),
        ("(> (total) 2)", ["(total): 2 < ."]),
        ("(>= 2.5 (weight mug))", ["(weight mug): . <= 5/2"]),
        ("(< (total) .5)", ["(total): . < 1/2"]),
        ("(<= 1 2 (total))", ["(total): 2 <= ."]),
        ("(<= (total) -2 -1)", ["(total): . <= -2"]),
        ("(<= 2 (total) 8) (< (total) 8) (<= 3 (total)) (unknown (total))", ["(total): 3 <= . < 8"]),
        ("(<= 2 (total)) (< 2 (total)) (<= 1 (total))", ["(total): 2 < ."]),
        ("(<= 2 (total) 8) (= (total) 2) (unknown (wet mug))", ["(wet mug)"]),
        (
            "(oneof (= (total) 1) (= (total) 1.5))",
            ["one of: (total) = 1 | (total) = 3/2", "(total): ."],
        ),
        (
            "(oneof (= (total) 1) (and (= (total) 2) (wet mug))) (<= (total) 5)",
            ["(wet mug) +", "one of: (total) = 1 | (total) = 2 & (wet mug)", "(total): . <= 5"],
        ),
        ("(= (total) 1) (oneof (= (total) 1) (= (total) 2))", ["one of: (total) = 1 | (total) = 2"]),
        ("(UNKNOWN (Wet MUG))", ["(wet mug)"]),
    ],
)
def test_statements_of_the_initial_state_leave_facts_and_numbers_open(init: str, expected: list[str]) -> None:
    assert describe_open_parts(init) == expected


def test_given_values_stay_and_denied_facts_are_known() -> None:
    checker = create_checker(
        "(not (wet pan)) (wet mug) (unknown (hot mug)) (at 5 (hot mug)) (= (total) 5) (<= (total) 5)"
    )
    task = checker.compiled.task
    index = {predicate.name: number for number, predicate in enumerate(task.predicates)}
    assert task.denied == {(index["wet"], task.encode((task.object_index["pan"],)))}
    assert task.initial_facts[index["wet"]] == {task.object_index["mug"]}
    assert [literal.value for literal in task.timed_literals] == [True]
    assert task.unknowns is not None
    assert [len(values) for values in task.unknowns.intervals] == [0, 0]


def test_a_predicate_may_be_named_like_a_statement() -> None:
    domain = "(define (domain d) (:predicates (unknown ?x) (oneof ?x)) (:constants a b) (:action a :effect (oneof a)))"
    problem = "(define (problem p) (:domain d) (:init (unknown a) (unknown (oneof a)) (oneof b)) (:goal (and)))"
    checker = Checker(Source("d", domain), Source("p", problem))
    assert checker.ok, checker.diagnostics
    task = checker.compiled.task
    assert task.initial_facts == [{0}, {1}]
    assert task.unknowns is not None
    assert task.unknowns.facts == [set(), {0}]
    assert task.actions["a"].start.effects[0].choices == ()


def test_intervals_are_intersected() -> None:
    full, low, high = Interval(), Interval(2, None, True), Interval(None, 2)
    assert intersect_intervals(full, low) == intersect_intervals(low, full) == low
    assert intersect_intervals(low, high) == Interval(2, 2, True, False)
    assert intersect_intervals(Interval(1, 5), Interval(2, 7, True)) == Interval(2, 5, True)
    assert intersect_intervals(Interval(2, 5), Interval(2, 5, True, True)) == Interval(2, 5, True, True)
    assert [
        is_empty_interval(i) for i in (full, low, intersect_intervals(low, high), Interval(2, 2), Interval(3, 2))
    ] == [
        False,
        False,
        True,
        False,
        True,
    ]


# -- effects ----------------------------------------------------------------------------------------------------------


def effect_text(checker: Checker, effect: Effect) -> str:
    """``forall ?x [0:1/2] when: +(wet ?x)``: each choice as number:alternative/alternatives, with its variables."""
    task = checker.compiled.task
    choices = [
        f"{c.number}:{c.alternative}/{c.alternative_count}" + "".join([v.name for v in c.variables])
        for c in effect.choices
    ]
    changes = [f"+{task.predicates[a.predicate].name}" for a in effect.adds]
    changes += [f"-{task.predicates[a.predicate].name}" for a in effect.deletes]
    changes += [f"{a.operator} {task.functions[a.function].name}" for a in effect.assignments]
    guard = "" if type(effect.condition).__name__ == "Truth" else f"{type(effect.condition).__name__}: "
    around = "".join([f"{v.name} " for v in effect.variables])
    return f"{around}[{' '.join(choices)}] {guard}{' '.join(changes)}"


def describe_effects(effect: str, durative: bool = False) -> list[str]:
    kind = "durative-action" if durative else "action"
    time = ":duration (= ?duration 1)" if durative else ""
    checker = create_checker("", f"(:{kind} act :parameters (?t - thing) {time} :effect {effect})")
    action = checker.compiled.task.actions["act"]
    start_texts = [effect_text(checker, e) for e in action.start.effects]
    end_texts = [effect_text(checker, e) for e in action.end.effects] if action.end else []
    assert checker.is_open == any(":" in text.split("]")[0] for text in (*start_texts, *end_texts))
    return [*start_texts, *[f"end {text}" for text in end_texts]]


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        ("(wet ?t)", ["[] +wet"]),
        ("(oneof (wet ?t) (hot ?t))", ["[0:0/2] +wet", "[0:1/2] +hot"]),
        ("(oneof (wet ?t))", ["[0:0/1] +wet"]),
        ("(oneof (wet ?t) ())", ["[0:0/2] +wet"]),
        ("(oneof (and) (and (hot ?t) (not (wet ?t))))", ["[0:1/2] +hot -wet"]),
        ("(oneof (and) ())", []),
        ("(and (done) (oneof (wet ?t) (hot ?t)) (not (hot ?t)))", ["[] +done -hot", "[0:0/2] +wet", "[0:1/2] +hot"]),
        (
            "(and (oneof (wet ?t) (hot ?t)) (oneof (done) (not (done)) (increase (total) 1)))",
            ["[0:0/2] +wet", "[0:1/2] +hot", "[1:0/3] +done", "[1:1/3] -done", "[1:2/3] increase total"],
        ),
        # Nested, and numbered in the order of the text.
        (
            "(and (oneof (and (wet ?t) (oneof (hot ?t) (done))) (oneof (not (hot ?t)) (and))) (oneof (done) (and)))",
            ["[0:0/2] +wet", "[0:0/2 1:0/2] +hot", "[0:0/2 1:1/2] +done", "[0:1/2 2:0/2] -hot", "[3:0/2] +done"],
        ),
        ("(when (done) (oneof (wet ?t) (hot ?t)))", ["[0:0/2] Atom: +wet", "[0:1/2] Atom: +hot"]),
        (
            "(oneof (when (done) (wet ?t)) (and (hot ?t) (when (hot ?t) (when (done) (not (wet ?t))))))",
            ["[0:0/2] Atom: +wet", "[0:1/2] +hot", "[0:1/2] And: -wet"],
        ),
        (
            "(forall (?x - cup) (oneof (wet ?x) (hot ?t)))",
            ["?x [0:0/2?x] +wet", "?x [0:1/2?x] +hot"],
        ),
        # A choice above a quantifier is made once for all objects.
        (
            "(oneof (forall (?x - cup) (wet ?x)) (hot ?t))",
            ["?x [0:0/2] +wet", "[0:1/2] +hot"],
        ),
        (
            "(forall (?x - cup) (oneof (forall (?y - thing) (oneof (near ?x ?y) (and))) (done)))",
            ["?x ?y [0:0/2?x 1:0/2?x?y] +near", "?x [0:1/2?x] +done"],
        ),
        ("(OneOf (wet ?t) (and))", ["[0:0/2] +wet"]),
    ],
)
def test_choices_in_effects_are_numbered(effect: str, expected: list[str]) -> None:
    assert describe_effects(effect) == expected


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        ("(at end (oneof (wet ?t) (hot ?t)))", ["end [0:0/2] +wet", "end [0:1/2] +hot"]),
        ("(oneof (at start (wet ?t)) (at end (hot ?t)))", ["[0:0/2] +wet", "end [0:1/2] +hot"]),
        (
            "(and (at end (oneof (wet ?t) (and))) (at start (oneof (done) (hot ?t))))",
            ["[1:0/2] +done", "[1:1/2] +hot", "end [0:0/2] +wet"],
        ),
        (
            "(oneof (and (at start (wet ?t)) (at end (not (wet ?t)))) (and))",
            ["[0:0/2] +wet", "end [0:0/2] -wet"],
        ),
    ],
)
def test_choices_in_durative_effects_are_numbered(effect: str, expected: list[str]) -> None:
    assert describe_effects(effect, durative=True) == expected


def test_choices_nest_200_deep_and_no_deeper() -> None:
    def nested(depth: int) -> Checker:
        effect = "(oneof " * depth + "(p)" + ")" * depth
        domain = Source("d", f"(define (domain d) (:predicates (p)) (:action a :effect {effect}))")
        return Checker(domain, Source("p", "(define (problem p) (:domain d) (:goal (and)))"))

    assert nested(200).ok
    deep = nested(201)
    assert [d.code for d in deep.diagnostics] == ["SC004"]
    assert deep.diagnostics[0].labels[0].span.start > 0


# -- specifications ---------------------------------------------------------------------------------------------------


def opening_text(checker: Checker, opening: OpenPredicate) -> str:
    task = checker.compiled.task
    arguments = [
        f"{number}:{','.join(task.names(task.domains[domain]))}"
        for number, domain in zip(opening.arguments, opening.domains, strict=True)
    ]
    return " ".join([task.predicates[opening.predicate].name, *arguments])


def describe_openings(*specs: str) -> list[str]:
    checker = create_checker("", "", *specs)
    assert checker.is_open == bool(checker.compiled.openings or checker.compiled.invariants)
    return [opening_text(checker, opening) for opening in checker.compiled.openings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("(:open)", []),
        ("(:open (done))", ["done"]),
        ("(:open (wet ?t))", ["wet 0:mug,pan"]),
        ("(:open (wet ?t - cup))", ["wet 0:mug"]),
        ("(:open (wet ?t - object))", ["wet 0:mug,pan"]),  # the type of the predicate is narrower
        ("(:open (in ?t - cup ?p - fridge) (wet ?t))", ["in 0:mug 1:cool", "wet 0:mug,pan"]),
        ("(:open (in ?t ?p - (either fridge place)))", ["in 0: 1:cool,hall"]),
        ("(:open (near ?a ?b))", ["near 0:mug,pan 1:mug,pan"]),
        ("(:open (near ?a ?a))", ["near 0:mug,pan 0:mug,pan"]),
        ("(:open (near ?a - cup ?a - thing))", ["near 0:mug 0:mug"]),
        ("(:open (wet ?t)) (:open (wet ?x) (wet ?t - cup))", ["wet 0:mug,pan", "wet 0:mug"]),
        (
            "(:vocabulary (:types cutlery) (:predicates (sharp ?t))) (:open (sharp ?t) (wet ?t - cutlery) (wet ?t))",
            ["wet 0:mug,pan"],
        ),
    ],
)
def test_open_predicates_have_the_declared_objects(text: str, expected: list[str]) -> None:
    if "either" in text:  # `?t` and `?p` share the type that follows them
        text = text.replace("?t ?p", "?t - thing ?p")
        expected = [entry.replace("0: ", "0:mug,pan ") for entry in expected]
    assert describe_openings(safety(text)) == expected


def test_open_predicates_are_inherited() -> None:
    base = safety("(:open (wet ?t)) (:invariant i :holds (done)) (:invariant j :holds (done))", "base")
    derived = safety(
        "(:extends base base) (:open (hot ?t)) (:disable j) (:invariant i :at-most-one ((wet ?t)))", "heir"
    )
    checker = create_checker("", "", base, derived)
    assert [opening_text(checker, opening) for opening in checker.compiled.openings] == [
        "wet 0:mug,pan",
        "hot 0:mug,pan",
    ]
    assert [(i.name, i.kind) for i in checker.compiled.invariants] == [("i", "at-most-one")]


@pytest.mark.parametrize(
    ("mapping", "text", "expected"),
    [
        ("(:predicates ((moist ?x) (wet ?x)))", "(:open (moist ?x))", ["wet 0:mug,pan"]),
        ("(:predicates ((moist ?x) (wet ?x))) (:types (cutlery cup))", "(:open (moist ?x - cutlery))", ["wet 0:mug"]),
        ("(:predicates ((holds ?p ?t) (in ?t ?p)))", "(:open (holds ?a - fridge ?b))", ["in 0:mug,pan 1:cool"]),
        ("(:predicates ((chilled ?t) (in ?t cool)))", "(:open (chilled ?t))", ["in 0:mug,pan 1:cool"]),
        ("(:predicates ((lonely ?t) (near ?t ?t)))", "(:open (lonely ?t - cup))", ["near 0:mug 0:mug"]),
        ("(:predicates ((pair ?a ?b) (wet ?a)))", "(:open (pair ?x - cup ?y))", ["wet 0:mug"]),
        ("(:types (cutlery (either cup thing)))", "(:open (wet ?x - (either cutlery cup)))", ["wet 0:mug,pan"]),
    ],
)
def test_mappings_apply_to_open_predicates(mapping: str, text: str, expected: list[str]) -> None:
    names = "(moist ?x) (holds ?a ?b) (chilled ?a) (lonely ?a) (pair ?a ?b)"
    spec = safety(f"(:vocabulary (:predicates {names}) (:types cutlery)) {text}")
    assert describe_openings(f"{spec} (define (mapping m) (:specification s) {mapping})") == expected


def invariant_text(checker: Checker, invariant: WorldInvariant) -> str:
    task = checker.compiled.task
    names = {v.slot: v.name for v in (*invariant.parameters, *invariant.counted)}

    def term(argument: int) -> str:
        return task.objects[argument] if argument >= 0 else names[-1 - argument]

    domains = [f"{v.name}:{','.join(task.names(task.domains[v.domain]))}" for v in invariant.counted]
    atoms = [" ".join([task.predicates[a.predicate].name, *map(term, a.arguments)]) for a in invariant.atoms]
    around = "".join([f"{v.name} " for v in invariant.parameters])
    formula = "" if invariant.atoms else type(invariant.formula).__name__
    return f"{around}{invariant.kind} {formula}{' | '.join(atoms)}" + (f" ({' '.join(domains)})" if domains else "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":holds (or (wet mug) (<= (total) 5))", "holds Or"),
        (":parameters (?t - thing) :holds (not (wet ?t))", "?t holds Not"),
        (":holds ()", "holds Truth"),
        (":exactly-one ((wet mug) (done))", "exactly-one wet mug | done"),
        (":at-most-one ((in ?t ?p)) :parameters (?t - cup)", "?t at-most-one in ?t ?p (?p:cool,hall)"),
        (
            ":exactly-one ((in ?t ?p) (near ?t ?o) (hot ?o)) :parameters (?t - thing)",
            "?t exactly-one in ?t ?p | near ?t ?o | hot ?o (?p:cool,hall ?o:mug,pan ?o:mug,pan)",
        ),
        (":at-most-one ((near ?o ?o))", "at-most-one near ?o ?o (?o:mug,pan)"),
        (":at-most-one ((safe ?o))", "at-most-one safe ?o (?o:mug,pan)"),
    ],
)
def test_invariants_have_parameters_atoms_and_counted_variables(text: str, expected: str) -> None:
    checker = create_checker("", "", safety(f"(:invariant i {text})"))
    assert checker.is_open
    assert [invariant_text(checker, invariant) for invariant in checker.compiled.invariants] == [expected]
    assert checker.compiled.invariants[0].name == "i"


def test_macros_and_mappings_apply_to_invariants() -> None:
    spec = safety(
        "(:vocabulary (:predicates (moist ?x))) (:define (soaked ?x) (and (moist ?x) (hot ?x)))"
        " (:invariant i :at-most-one ((moist ?x) (done))) (:invariant j :holds (soaked mug))"
    )
    checker = create_checker(
        "", "", f"{spec} (define (mapping m) (:specification s) (:predicates ((moist ?x) (wet ?x))))"
    )
    texts = [invariant_text(checker, invariant) for invariant in checker.compiled.invariants]
    assert texts == ["at-most-one wet ?x | done (?x:mug,pan)", "holds And"]


# -- plans ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ordering"),
    [
        ("(dry mug)", None),
        ("(define (plan p) (:steps (a (dry mug)) (b (dry pan))))", None),
        ("(define (plan p) (:steps (a (dry mug)) (b (dry pan))) (:ordering))", ()),
        ("(define (plan p) (:steps (a (dry mug)) (b (dry pan))) (:ordering (< b a)))", ((2, 1),)),
        ("(define (plan p) (:ordering (< a 2 c)) (:steps (a (dry mug)) (dry pan) (c (dry mug))))", ((1, 2), (2, 3))),
        ("(define (plan p) (:steps (dry mug) (A (dry pan))) (:ordering (< 1 a) (< 1 a)))", ((1, 2),)),
        ("(define (plan p) (:steps (at (dry mug)) (steps (dry pan))) (:ordering (< at steps)))", ((1, 2),)),
        ("(define (plan p) (:steps) (:ordering))", ()),
    ],
)
def test_orderings_become_pairs_of_step_numbers(text: str, ordering: tuple[tuple[int, int], ...] | None) -> None:
    read = create_checker().read(Source("plan", text))
    assert read.text.diagnostics == ()
    assert read.text.ordering == read.ordering == ordering
    assert read.is_open == (ordering is not None)
    assert read.timed is None
    assert not any([isinstance(step, IllFormed) for step in read.steps])


def test_steps_have_their_labels_and_spans() -> None:
    text = "(define (plan p) (:steps (a (dry mug)) (dry pan)))"
    steps = create_checker().read(Source("plan", text)).text.steps
    assert [step.label for step in steps] == ["a", None]
    assert [text[step.span.start : step.span.end] for step in steps] == ["(dry mug)", "(dry pan)"]


def test_a_long_order_is_read_and_a_long_cycle_is_reported() -> None:
    count = 20_000
    steps = " ".join(["(dry mug)"] * count)
    chain = " ".join(map(str, range(1, count + 1)))
    checker = create_checker()
    read = checker.read(Source("plan", f"(define (plan p) (:steps {steps}) (:ordering (< {chain})))"))
    assert read.text.diagnostics == ()
    assert len(read.ordering or ()) == count - 1
    (diagnostic,) = checker.read(Source("plan", f"(define (plan p) (:steps {steps}) (:ordering (< {chain} 1)))")).text[
        1
    ]
    assert diagnostic.code == "SC407"
    assert diagnostic.message.endswith(f"1 < 2 < 3 < 4 < 5 < 6 < 7 < 8 < 9 < 10 < .. < {1}")


TOLERANT = (
    "0: (bake mug) [30 +- 2]",
    "0: (bake mug) [30+-2]",
    "0 : (bake mug)[30 ± 2]",
    "0: (bake mug) [30±2.0]",
    "0: (bake mug) [ 30 +-\n +2 ]",
    "(define (plan p) (:steps (at 0 (bake mug) 30 2)))",
)


@pytest.mark.parametrize("text", TOLERANT)
def test_every_notation_of_a_tolerance_is_read(text: str) -> None:
    read = create_checker().read(Source("plan", text))
    assert read.text.diagnostics == ()
    assert read.timed is not None
    assert read.is_open
    assert [(step.duration, step.tolerance) for step in read.timed] == [(30, 2)]
    assert not isinstance(read.steps[0], IllFormed)


def test_a_tolerance_of_zero_leaves_nothing_open() -> None:
    read = create_checker().read(Source("plan", "0: (bake mug) [30 +- 0] 1: (bake pan) [2.5]"))
    assert read.timed is not None
    assert [(step.duration, step.tolerance) for step in read.timed] == [(30, None), (Fraction(5, 2), None)]
    assert not read.is_open


@pytest.mark.parametrize("text", ["0: (bake mug) [1 +- 2]", "0: (dry mug) [0 +- 2]"])
def test_impossible_tolerances_make_a_step_ill_formed(text: str) -> None:
    (step,) = create_checker().read(Source("plan", text)).steps
    assert isinstance(step, IllFormed)
    assert step.code == "SC406"


def test_loose_texts_keep_open_orders_and_durations_or_are_refused() -> None:
    checker = create_checker()
    order = "(define (plan p) (:steps (a (dry mug)) (b (dry pan))) (:ordering (< b a)))"
    for text in (*TOLERANT, order):
        plan = read_loose(Source("plan", text), checker).plan
        assert plan is not None
        assert checker.read(plan).is_open
        surrounded = read_loose(Source("plan", f"Here is the plan:\n{text}\nGood luck!"), checker)
        assert surrounded.plan is None, surrounded.plan
        assert surrounded.diagnostics


# -- components that need one world refuse ----------------------------------------------------------------------------

OPEN_TASKS: tuple[tuple[str, Callable[[], Checker], str], ...] = (
    ("init", lambda: create_checker("(unknown (wet mug))"), "the initial state"),
    (
        "effect",
        lambda: create_checker("", "(:action spill :parameters (?t - thing) :effect (oneof (wet ?t) (and)))"),
        "spill",
    ),
    ("open", lambda: create_checker("", "", safety("(:open (wet ?t))")), "has open predicates"),
    ("invariant", lambda: create_checker("", "", safety("(:invariant i :holds (not (done)))")), "has invariants"),
)
PLAN = Source("plan", "(dry mug)\n(dry nobody)\n")


@pytest.mark.parametrize(
    ("name", "create_open_checker", "message"), OPEN_TASKS, ids=[name for name, _, _ in OPEN_TASKS]
)
def test_components_for_one_world_refuse_open_tasks(
    name: str, create_open_checker: Callable[[], Checker], message: str
) -> None:
    checker = create_open_checker()
    assert checker.is_open
    engine = checker.engine
    diagnostic = checker.compiled.explain_refusal("this")
    assert diagnostic is not None
    assert diagnostic.code == SC.NEEDS_ONE_WORLD
    assert message in diagnostic.message
    span = diagnostic.labels[0].span
    assert checker.sources[diagnostic.labels[0].source].text[span.start : span.end]
    components: tuple[Callable[[Checker], object], ...] = (
        lambda checker: Monitor(checker.compiled),
        lambda checker: Execution(checker.engine),
        lambda checker: localise(checker, PLAN),
    )
    for component in components:
        with pytest.raises(NeedsOneWorld) as raised:
            component(checker)
        assert raised.value.diagnostic.code == SC.NEEDS_ONE_WORLD
        assert message in str(raised.value)
    answer = ForwardSearch().solve(PlanningQuery(checker))
    assert answer.status is PlanningStatus.UNSUPPORTED
    assert message in answer.detail
    with pytest.raises(CannotCompile, match=message):
        compile_rules(engine, True)
    read = checker.read(PLAN)
    with pytest.raises(NotCovered, match=message):
        record_run(checker, read.steps)
    finding = Finding("SC310", FindingClass.UNMET_GOAL, "", 2)
    with pytest.raises(NotCovered, match=message):
        find_minimal_cause(checker, PLAN, finding)
    with pytest.raises(ValueError, match=message):
        find_safel_label(checker, PLAN)


@pytest.mark.parametrize(
    ("name", "create_open_checker", "message"), OPEN_TASKS, ids=[name for name, _, _ in OPEN_TASKS]
)
def test_repairs_and_explicit_replay_are_refused(
    name: str, create_open_checker: Callable[[], Checker], message: str
) -> None:
    checker = create_open_checker()
    checker = Checker.from_compiled(checker.compiled._replace(options=checker.options._replace(engine="explicit")))
    report = checker.check(PLAN)
    assert report.headline not in (Headline.SAFE, Headline.VALID)
    assert any(message in d.message for d in report.diagnostics)
    repair_result = repair(checker, PLAN)
    assert repair_result.status is RepairStatus.NOT_FOUND
    assert message in repair_result.detail
    assert message in diagnose(checker, PLAN).repair.detail


@pytest.mark.parametrize("text", [TOLERANT[0], "(define (plan p) (:steps (dry mug) (dry pan)) (:ordering))"])
def test_plans_that_leave_something_open_are_refused(text: str) -> None:
    checker = create_checker(engine="explicit")
    plan = Source("plan", text)
    assert not checker.is_open
    report = checker.check(plan)
    assert report.headline not in (Headline.SAFE, Headline.VALID)
    with pytest.raises(NeedsOneWorld):
        localise(checker, plan)
    assert repair(checker, plan).status is RepairStatus.NOT_FOUND
    with pytest.raises(ValueError, match=r"order or the durations|takes time"):
        find_safel_label(checker, plan)


def test_tasks_with_choices_are_not_printed() -> None:
    checker = create_checker("", "(:action spill :parameters (?t - thing) :effect (oneof (wet ?t) (and)))")
    task = checker.compiled.task
    task = task._replace(actions={"spill": task.actions["spill"]})
    with pytest.raises(Unprintable):
        print_task(task, task.initial_facts, task.initial_fluents)
