"""Mappings are checked as a whole when they are loaded, and coverage describes how a domain covers a specification."""

from __future__ import annotations

import re
from random import Random

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.rules.domain_coverage import DomainCoverage, InapplicableRule, WordMeaning, describe_coverage
from plansafe.verifier.rules.rule_elaboration import VACUOUS

DOMAIN = """(define (domain flat) (:types furniture appliance pet - object  hob lamp - appliance  cat - pet)
  (:constants main - hob)
  (:predicates (powered ?d - appliance) (lies ?x ?y - object) (here ?p - pet) (dusty ?x - object))
  (:functions (warmth ?d - appliance))
  (:action press :parameters (?d - appliance) :effect (powered ?d))
  (:action shove :parameters (?x ?y - furniture) :effect (lies ?x ?y)))"""
PROBLEM = """(define (problem p) (:domain flat) (:objects desk - furniture tom - cat l - lamp)
  (:init (= (warmth main) 0) (= (warmth l) 0)) (:goal ()))"""
SPEC = """(define (safety fire)
  (:vocabulary (:types thing device - object stove - device creature - object)
    (:constants hearth - stove)
    (:predicates (burning ?s - stove) (near ?x ?y - object) (dusty ?x - object) (smoking ?x - object))
    (:functions (heat ?s - stove)) (:actions (ignite ?s - stove) (move ?x ?y - object)))
  (:process attended :parameters (?s - stove) :forbid (and (burning ?s) (not (exists (?c - creature) (near ?c ?s)))))
  (:process cool :on (ignite ?s) :require (< (heat ?s) 5))
  (:process clear :forbid (burning hearth))
  (:process no-smoke :parameters (?x - thing) :forbid (smoking ?x))
  (:process no-dust :parameters (?x - thing) :forbid (dusty ?x)))"""
TYPES = "(:types (thing object) (device appliance) (stove (either hob)) (creature pet))"
PREDICATES = "(:predicates ((burning ?x) (powered ?x)) ((near ?a ?b) (or (lies ?a ?b) (exists (?p - cat) (here ?p)))))"
FUNCTIONS = "(:functions ((heat ?x) (warmth ?x)))"
ACTIONS = "(:actions ((ignite ?x) (press ?x)) ((move ?x ?y) (shove ?x ?y)))"
CONSTANTS = "(:constants (hearth main))"


def mapping_checker(*changes: tuple[str, str], domain: str = "flat") -> Checker:
    text = " ".join((f"(:domain {domain})", TYPES, PREDICATES, FUNCTIONS, ACTIONS, CONSTANTS))
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    mapping_source = Source("m.safe", f"(define (mapping m) (:specification fire) {text})")
    sources = [Source("s.safe", SPEC), mapping_source]
    return Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM), sources)


def mapping_diagnostics(checker: Checker) -> list[str]:
    """Return code, severity, marked text and help of each diagnostic in the mapping."""
    lines = []
    for diagnostic in checker.diagnostics:
        label = diagnostic.labels[0]
        if label.source == "m.safe":
            marked = checker.sources["m.safe"].text[label.span.start : label.span.end]
            help = f" | {diagnostic.help}" if diagnostic.help else ""
            lines.append(f"{diagnostic.code} {diagnostic.severity.value} {marked}{help}")
    return lines


def test_a_correct_mapping_has_no_diagnostics() -> None:
    checker = mapping_checker()
    assert mapping_diagnostics(checker) == []
    assert [(d.code, d.severity.value) for d in checker.diagnostics] == [("SC120", "warning"), ("SC702", "warning")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # words that the domain does not have: an error even if no rule uses the entry
        ("(either hob)", "(either hob lmap)", "SC101 error lmap | did you mean `lamp`?"),
        ("(creature pet)", "(creature pett)", "SC101 error pett | did you mean `pet`?"),
        ("(powered ?x)", "(power ?x)", "SC102 error power | did you mean `powered`?"),
        ("(warmth ?x)", "(warm ?x)", "SC109 error warm | did you mean `warmth`?"),
        ("(press ?x)", "(presss ?x)", "SC114 error presss | did you mean `press`?"),
        ("(shove ?x ?y)", "(or (press ?x) (shov ?x ?y))", "SC114 error shov | did you mean `shove`?"),
        ("(hearth main)", "(hearth mian)", "SC108 error mian | did you mean `main`?"),
        # arities, types and variables
        ("(powered ?x)", "(powered ?x ?x)", "SC103 error (powered ?x ?x)"),
        ("(press ?x)", "(press ?x _)", "SC103 error (press ?x _)"),
        ("(burning ?x)", "(burning ?x ?y)", "SC120 error (burning ?x ?y)"),
        ("(powered ?x)", "(here ?x)", "SC104 error ?x"),
        ("(powered ?x)", "(powered ?s)", "SC107 error ?s | bind it in `:parameters` or by a quantifier"),
        ("(near ?a ?b)", "(near ?a ?a)", "SC105 error ?a"),
        ("(near ?a ?b)", "(near ?a b)", "SC003 error b"),
        ("(hearth main)", "(hearth (main))", "SC003 error (main)"),
        ("(creature pet)", "(creature (or pet))", "SC003 error (or pet)"),
        ("(creature pet)", "(creature pet) (creature cat)", "SC105 error (creature cat)"),
        # words that the specification does not have, and kinds outside their parent kinds
        ("(thing object)", "(thnig object)", "SC120 warning thnig | did you mean `thing`?"),
        ("((near ?a ?b)", "((dutsy ?x) (dusty ?x)) ((near ?a ?b)", "SC120 warning dutsy | did you mean `dusty`?"),
        ("((burning ?x)", "((ignite ?x) (powered ?x)) ((burning ?x)", "SC120 warning ignite | it is an action"),
        ("(device appliance)", "(device lamp)", "SC120 warning (either hob) | bind `device` to something"),
    ],
)
def test_a_mistake_is_reported_once_with_its_place(before: str, after: str, expected: str) -> None:
    checker = mapping_checker((before, after))
    (diagnostic,) = mapping_diagnostics(checker)
    assert diagnostic.startswith(expected)
    assert checker.ok == ("warning" in expected)


GROUPS = "(:groups (cookers (either hob)) (warm (either cookers lamp)))"


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("", []),
        ("(x (either warm hob lmap))", ["SC101 error lmap | did you mean `lamp`?"]),
        ("(x lmap)", ["SC101 error lmap | did you mean `lamp`?"]),
        ("(x (or hob))", ["SC003 error (or hob)"]),
        ("(x)", ["SC003 error (x)"]),
        ("(warm pet)", ["SC105 error (warm pet)"]),
    ],
)
def test_groups_are_names_for_types_of_the_domain(group: str, expected: list[str]) -> None:
    groups = GROUPS[:-1] + f" {group})" + TYPES.replace("(either hob)", "cookers")
    near = "(exists (?p - (either warm pet)) (lies ?p ?a))"
    checker = mapping_checker((TYPES, groups), ("(lies ?a ?b)", f"(and {near} (lies ?a ?b))"))
    assert mapping_diagnostics(checker) == expected
    if not expected:
        assert coverage_of(checker).kinds["hob"] == ("device", "stove")
        assert mapping_diagnostics(
            mapping_checker((TYPES, groups), ("(lies ?a ?b)", near.replace("(lies ", "(lise ")))
        ) == ["SC102 error lise | did you mean `lies`?"]


@pytest.mark.slow
def test_groups_of_groups_do_not_grow_beyond_the_types_they_name() -> None:
    chain = "(g0 (either hob lamp)) " + " ".join([f"(g{n} (either g{n - 1} g{n - 1}))" for n in range(1, 200)])
    checker = mapping_checker(
        (TYPES, f"(:groups {chain})" + TYPES.replace("(either hob)", "hob").replace("pet)", "g199)"))
    )
    assert mapping_diagnostics(checker) == []
    assert coverage_of(checker).kinds["lamp"] == ("device", "creature")
    wide = " ".join([f"(g{n} (either t{n} {f'g{n - 1}' if n else ''}))" for n in range(2000)])
    checker = mapping_checker((TYPES, f"(:groups {wide})" + TYPES))
    assert [d.code for d in checker.diagnostics] == ["SC503"]


def test_a_mapping_for_another_domain_gets_a_warning() -> None:
    assert mapping_diagnostics(mapping_checker(domain="house")) == [
        "SC705 warning house | unknown names below may have this cause"
    ]


def test_two_mappings_of_one_specification_contradict_each_other() -> None:
    sources = [Source(f"{name}.safe", f"(define (mapping {name}) (:specification fire))") for name in "mn"]
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM), [Source("s.safe", SPEC), *sources])
    assert [d.code for d in checker.diagnostics if d.severity.value == "error"] == ["SC105"]


def coverage_of(checker: Checker) -> DomainCoverage:
    return describe_coverage(checker.compiled.symbols, checker.compiled.expanded, checker.rules)


def test_coverage_has_bound_words_applicable_rules_and_unseen_types() -> None:
    coverage = coverage_of(mapping_checker())
    assert WordMeaning("predicate", "burning", "mapped", "(powered ?x)") in coverage.words
    assert coverage.list_words("own") == (WordMeaning("predicate", "dusty", "own"),)
    assert coverage.list_words("unbound") == (WordMeaning("predicate", "smoking", "unbound"),)
    assert coverage.applicable == ("attended", "cool", "clear", "no-dust")
    assert coverage.not_applicable == (InapplicableRule("no-smoke", (("predicate", "smoking"),)),)
    assert coverage.kinds == {"furniture": (), "hob": ("device", "stove"), "lamp": ("device",), "cat": ("creature",)}
    assert (coverage.unseen_types, coverage.unseen_objects) == (("furniture",), ("desk",))


def test_coverage_of_a_mapping_without_a_kind() -> None:
    coverage = coverage_of(mapping_checker(("(creature pet)", "")))
    assert {rule.rule: rule.missing_names for rule in coverage.not_applicable} == {
        "attended": (("type", "creature"),),
        "no-smoke": (("predicate", "smoking"),),
    }
    assert coverage.unseen_objects == ("desk", "tom")


EXCLUDED_RULE = f"{CONSTANTS} (:without (no-dust {{}}))"


def test_a_mapping_excludes_rules_with_reasons() -> None:
    checker = mapping_checker((CONSTANTS, EXCLUDED_RULE.format(r'"it is \"dusty\" for good"')))
    assert mapping_diagnostics(checker) == ["SC702 note (mapping m)"]
    coverage = coverage_of(checker)
    assert coverage.applicable == ("attended", "cool", "clear")
    assert InapplicableRule("no-dust", (), 'it is "dusty" for good') in coverage.not_applicable
    plan = "(press main)"
    assert [f.rule for f in checker.check(Source("p.plan", plan)).findings if f.rule == "no-dust"] == []


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ('(no-dsut "typing")', "SC120 warning no-dsut | did you mean `no-dust`?"),
        ('(no-dust "one") (no-dust "two")', 'SC105 error (no-dust "two")'),
        ("(no-dust)", "SC003 error (no-dust)"),
        ("(no-dust why)", "SC003 error (no-dust why)"),
        ("no-dust", "SC003 error no-dust"),
    ],
)
def test_mistakes_in_an_excluded_rule_are_reported(entry: str, expected: str) -> None:
    assert mapping_diagnostics(mapping_checker((CONSTANTS, f"{CONSTANTS} (:without {entry})")))[:1] == [expected]


def test_an_excluded_rule_can_be_disabled_or_replaced() -> None:
    """The mapping excludes the rule of its own specification, not the user's rule of the same name."""
    text = EXCLUDED_RULE.format('"nothing is"')
    mapping_source = Source(
        "m.safe",
        f"(define (mapping m) (:specification fire) {TYPES} {PREDICATES} {FUNCTIONS} {ACTIONS} {text})",
    )
    for section, missing_names in ((":disable no-dust", []), (":process no-dust :forbid (dusty desk)", [()])):
        ours = Source("o.safe", f"(define (safety ours) (:extends fire) ({section}))")
        checker = Checker(
            Source("d.pddl", DOMAIN),
            Source("p.pddl", PROBLEM),
            [ours, mapping_source],
            resolve=lambda name, extending: Source("s.safe", SPEC),
        )
        assert [d.message for d in checker.diagnostics if d.severity.value == "error"] == []
        assert [d for d in checker.diagnostics if "leaves out" in d.message] == []
        assert [rule.missing_names for rule in checker.rules if rule.name == "no-dust"] == missing_names
        assert [rule.exclusion_reason for rule in checker.rules if rule.exclusion_reason is not None] == []


def test_the_check_removes_the_action_predicates_that_it_declares() -> None:
    """Runs keep action predicates up to date; predicates of a mapping's steps that no rule needs must not remain."""
    checker = mapping_checker(("((move ?x ?y) (shove ?x ?y))", "((move ?x ?y) (shove ?x ?y))"))
    assert set(checker.compiled.symbols.action_predicates) == {("start", "press")}


def test_an_entry_without_a_replacement_declares_a_missing_word() -> None:
    checker = mapping_checker(
        ("((burning ?x)", "((dusty ?x)) ((burning ?x)"), ("((ignite ?x) (press ?x))", "((ignite ?x))")
    )
    coverage = coverage_of(checker)
    assert mapping_diagnostics(checker) == ["SC702 note (mapping m)"]
    assert {(word.kind, word.name) for word in coverage.list_words("unbound")} == {
        ("predicate", "dusty"),
        ("predicate", "smoking"),
        ("action", "ignite"),
    }
    assert {rule.rule for rule in coverage.not_applicable} == {"cool", "no-smoke", "no-dust"}
    counted = [(d.code, d.severity.value, d.message.partition(":")[0]) for d in checker.diagnostics]
    assert counted == [
        ("SC120", "warning", "the specification needs the predicate `smoking`, which the domain does not have"),
        ("SC702", "warning", "rule `no-smoke` is not applicable"),
        ("SC702", "note", "2 rules are not applicable"),
    ]


@pytest.mark.parametrize(("types", "accepted"), [("(either hob desk)", True), ("(either desk wall)", False)])
def test_a_trigger_is_accepted_if_rule_and_action_have_a_common_type(types: str, accepted: bool) -> None:
    """The type in the rule may be wider than the type of the action's parameter; the rule applies to the overlap."""
    domain = """(define (domain d) (:types hob desk wall) (:predicates (powered ?x - hob))
      (:action press :parameters (?x - hob) :effect (powered ?x)))"""
    problem = "(define (problem p) (:domain d) (:objects a - hob b - desk) (:init) (:goal ()))"
    rule = f"(define (safety s) (:process never :parameters (?x - {types}) :on (press ?x) :forbid ()))"
    checker = Checker(Source("d.pddl", domain), Source("p.pddl", problem), [Source("s.safe", rule)])
    assert checker.ok == accepted
    if accepted:
        report = checker.check(Source("p.plan", "(press a)"))
        assert [(f.rule, f.binding) for f in report.findings] == [("never", (("?x", "a"),))]
        assert [f.replayed for f in report.findings] == [True]


WASHING = """(define (domain d) (:types hand cup) (:predicates (clean ?x - (either hand cup)))
  (:action wash :parameters (?x - (either hand cup)) :effect (clean ?x))
  (:action rinse :parameters (?x - (either hand cup)) :effect (clean ?x)) (:action eat))"""
HYGIENE = """(define (safety s) (:vocabulary (:actions (wash-hands) (eat)))
  (:process washed :on (eat) :require (once (action (wash-hands))))
  (:process never :on (wash-hands) :forbid ()))
  (define (mapping m) (:specification s)
    (:actions ((wash-hands) (exists (?h - hand) (or (wash ?h) (rinse ?h)))) ((eat) (eat))))"""


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("(eat)", [("washed", ())]),
        ("(wash mug) (eat)", [("washed", ())]),
        ("(rinse left) (eat)", [("never", (("?h", "left"),))]),
    ],
)
def test_a_step_can_be_mapped_to_steps_with_some_object_of_a_type(plan: str, expected: list[object]) -> None:
    problem = "(define (problem p) (:domain d) (:objects left - hand mug - cup) (:init) (:goal ()))"
    checker = Checker(Source("d.pddl", WASHING), Source("p.pddl", problem), [Source("s.safe", HYGIENE)])
    assert checker.diagnostics == ()
    report = checker.check(Source("p.plan", plan))
    assert [(f.rule, f.binding) for f in report.findings] == expected
    assert [f.replayed for f in report.findings] == [True]


@pytest.mark.parametrize(
    ("plan", "expected"),
    [("(wash left)", [("never", ())]), ("(wash mug)", []), ("(rinse mug) (eat)", [("never", ()), ("washed", ())])],
)
def test_such_a_step_can_be_an_alternative_in_a_trigger(plan: str, expected: list[object]) -> None:
    text = HYGIENE.replace(":on (wash-hands)", ":on (or (wash-hands) (eat))")
    problem = "(define (problem p) (:domain d) (:objects left - hand mug - cup) (:init) (:goal ()))"
    checker = Checker(Source("d.pddl", WASHING), Source("p.pddl", problem), [Source("s.safe", text)])
    assert checker.diagnostics == ()
    report = checker.check(Source("p.plan", plan))
    assert sorted([(f.rule, f.binding) for f in report.findings]) == expected
    assert all([f.replayed for f in report.findings])


CARRYING = """(define (domain d) (:types cup table) (:predicates (held ?x - cup) (at ?x - cup ?y - table))
  (:action pick :parameters (?x - cup) :effect (held ?x))
  (:action put :parameters (?y - table)
    :effect (forall (?x - cup) (when (held ?x) (and (not (held ?x)) (at ?x ?y)))))
  (:action drop :effect (forall (?x - cup) (not (held ?x)))) (:action smash :parameters (?x - cup)))"""
CARRIED = """(define (safety s) (:vocabulary (:types cup) (:actions (place ?x ?y) (let-go ?x) (ruin ?x)))
  (:process placed :parameters (?x - cup) :on (place ?x ?y) :when (not (= ?x ?y)) :forbid () :message "{?x} on {?y}")
  (:process gone :on (let-go ?x) :forbid () :message "{?x}")
  (:process lost :on (or (let-go ?x) (ruin ?x)) :forbid ())
  (:process never :on (place _ ?y) :forbid (once (exists (?x - cup) (action (let-go ?x))))))
  (define (mapping m) (:specification s) (:types (cup cup))
    (:actions ((place ?x ?y) (when (held ?x) (put ?y)))
      ((let-go ?x) (when (held ?x) (drop))) ((ruin ?x) (smash ?x))))"""


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("(put t)", []),
        ("(pick a) (put t)", [("placed", {"?x": "a", "?y": "t"})]),
        ("(pick a) (pick b) (put t)", [("placed", {"?x": "a", "?y": "t"}), ("placed", {"?x": "b", "?y": "t"})]),
        ("(drop)", []),
        ("(pick b) (drop)", [("gone", {"?x": "b"}), ("lost", {"?x": "b"})]),
        ("(smash a)", [("lost", {"?x": "a"})]),
        ("(pick a) (drop) (put t)", [("gone", {"?x": "a"}), ("lost", {"?x": "a"})]),
        (
            "(pick a) (drop) (pick b) (put t)",
            [
                ("gone", {"?x": "a"}),
                ("lost", {"?x": "a"}),
                ("never", {"?x": "b", "?y": "t"}),
                ("placed", {"?x": "b", "?y": "t"}),
            ],
        ),
    ],
)
def test_a_condition_can_bind_an_object_that_the_step_does_not_name(plan: str, expected: list[object]) -> None:
    """If an action puts down whatever is held, the held object is the one in the rule's event."""
    problem = "(define (problem p) (:domain d) (:objects a b - cup t - table) (:init) (:goal ()))"
    checker = Checker(Source("d.pddl", CARRYING), Source("p.pddl", problem), [Source("s.safe", CARRIED)])
    assert checker.diagnostics == ()
    report = checker.check(Source("p.plan", plan))
    assert [(f.rule, dict(f.binding)) for f in report.findings] == expected
    assert all([f.replayed for f in report.findings])


def test_a_word_declared_missing_is_missing_even_if_the_domain_has_the_name() -> None:
    """The domain uses the name for something else."""
    domain = """(define (domain d) (:types hob lamp) (:predicates (warm ?x - object))
      (:action press :parameters (?x - hob) :effect (warm ?x)) (:action drop :parameters (?x - object)))"""
    text = """(define (safety s)
      (:vocabulary (:types stove lamp) (:predicates (hot ?x)) (:actions (drop ?x) (throw ?x)))
      (:process one :parameters (?x - stove) :forbid (hot ?x))
      (:process two :parameters (?x - lamp) :forbid (hot ?x))
      (:process three :on (or (drop ?x) (throw ?x)) :forbid ())
      (:process four :on (throw ?x) :forbid ())
      (:process five :on (drop ?x) :forbid (once (action (throw ?x)))))
    (define (mapping m) (:specification s) (:types (stove (either hob lamp)) (lamp)) (:predicates ((hot ?x) (warm ?x)))
      (:actions ((drop ?x) (drop ?x)) ((throw ?x))))"""
    problem = "(define (problem p) (:domain d) (:objects a - hob) (:init) (:goal ()))"
    checker = Checker(Source("d.pddl", domain), Source("p.pddl", problem), [Source("s.safe", text)])
    assert {rule.name: rule.missing_names for rule in checker.rules} == {
        "one": (),
        "two": (("type", "lamp"),),
        "three": (),
        "four": (("action", "throw"),),
        "five": (("action", "throw"),),
    }
    assert [(d.code, d.severity.value) for d in checker.diagnostics] == [("SC702", "note")]


ROOMS = """(define (domain d) (:predicates (at ?x ?y - object))
  (:types fixed floor - object  basin - fixed  food sliceable - object apple - (either food sliceable)  egg - food)
  (:action put-down :parameters (?x - object ?y - floor) :effect (at ?x ?y))
  (:action put-up :parameters (?x - object ?y - fixed) :effect (at ?x ?y))
  (:action slice :parameters (?x - sliceable)))"""
PLACES = """(define (safety s)
  (:vocabulary (:types basin eaten raw) (:actions (put ?x ?y) (cut ?x)))
  (:process into :parameters (?b - basin) :on (put ?x ?b) :forbid ())
  (:process eats :parameters (?f - eaten) :on (cut ?f) :forbid ())
  (:process raws :parameters (?f - raw) :on (cut ?f) :forbid ())
  (:process then :on (put ?x ?y) :forbid (exists (?f - raw) (once (action (cut ?f))))))
  (define (mapping m) (:specification s) (:types (basin basin) (eaten food) (raw egg))
    (:actions ((put ?x ?y) (or (put-down ?x ?y) (put-up ?x ?y))) ((cut ?x) (slice ?x))))"""


def test_impossible_steps_are_removed_from_mapped_rules() -> None:
    """A basin is not a floor; an apple is food that can be sliced, an egg is not."""
    problem = "(define (problem p) (:domain d) (:objects b - basin f - floor a - apple e - egg) (:init) (:goal ()))"
    checker = Checker(Source("d.pddl", ROOMS), Source("p.pddl", problem), [Source("s.safe", PLACES)])
    assert {rule.name: rule.missing_names for rule in checker.rules} == {
        "into": (),
        "eats": (),
        "raws": (("step", "(slice ?f)"),),
        "then": (),
    }
    assert {rule.name: rule.exclusion_reason for rule in checker.rules if rule.exclusion_reason} == {"then": VACUOUS}
    assert [(d.code, d.severity.value) for d in checker.diagnostics] == [("SC702", "note")]
    assert checker.diagnostics[0].message == (
        "2 rules are not applicable: according to the mapping, this domain lacks the names for 1 of them; "
        "the rest (1) does not fit this domain or is excluded by the mapping"
    )
    report = checker.check(Source("p.plan", "(put-down a f) (put-up a b) (slice a)"))
    assert [(f.rule, dict(f.binding), f.replayed) for f in report.findings] == [
        ("into", {"?x": "a", "?b": "b"}, True),
        ("eats", {"?f": "a"}, True),
    ]
    label = report.findings[0].related[-1]
    assert PLACES[: label.span.end].endswith(":on (put ?x ?b) :forbid ()")


PROBLEM_TEMPLATE = "(define (problem p) (:domain d) (:objects {}) (:init) (:goal ()))"
MUTATED_TASKS = (
    (DOMAIN, PROBLEM, f"{SPEC} (define (mapping m) (:specification fire) {GROUPS} {TYPES} {PREDICATES} {FUNCTIONS})"),
    (ROOMS, PROBLEM_TEMPLATE.format("b - basin f - floor a - apple e - egg"), PLACES),
    (CARRYING, PROBLEM_TEMPLATE.format("a b - cup t - table"), CARRIED),
    (
        WASHING,
        PROBLEM_TEMPLATE.format("left - hand mug - cup"),
        HYGIENE.replace(":on (wash-hands)", ":on (or (wash-hands) (eat))"),
    ),
)
PLANS = ("(press main)", "(put-down a f) (put-up a b) (slice a)", "(pick a) (put t) (drop)", "(rinse left) (eat)")


def mutate_text(text: str, random: Random) -> str:
    """Return a text with one to three tokens replaced, removed, or put into parentheses."""
    tokens = re.findall(r'"[^"]*"|[()]|[^\s()]+', text)
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(tokens))
        change = random.choice((random.choice(tokens), "", f"({tokens[at]})"))
        tokens[at : at + 1] = [change] if change else []
    return " ".join(tokens)


@pytest.mark.parametrize("seed", range(4))
def test_engine_and_kernel_agree_on_every_mutated_text(seed: int) -> None:
    random = Random(seed)
    accepted = 0
    for _ in range(80):
        number = random.randrange(len(MUTATED_TASKS))
        domain, problem, text = MUTATED_TASKS[number]
        changed = Source("s.safe", mutate_text(text, random))
        checker = Checker(Source("d.pddl", domain), Source("p.pddl", problem), [changed])
        if checker.ok:
            accepted += 1
            report = checker.check(Source("p.plan", PLANS[number]))
            assert report.headline is not None, changed.text
            assert all([finding.replayed is not False for finding in report.findings]), changed.text
    assert accepted > 0
