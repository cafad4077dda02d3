"""Text and names: what docs/language.md, section 1, allows."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from engine_texts import check, checker, domain, problem, safety, verdict

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.kernel import Kernel, KernelRejects

DOMAIN = domain(
    "(:action go :parameters (?x - thing) :precondition (not (p ?x)) :effect (p ?x))", predicates="(p ?x - thing)"
)
PROBLEM = problem(objects="a b - thing", goal="(p a)")
SPEC = safety("(:process r :parameters (?x - thing) :forbid (and (p ?x) (p b)))")
PLAN = "(go a)\n(go b)\n"
VERDICT = "UNSAFE r(?x=a)@2 r(?x=b)@2"


def test_the_task_of_this_file() -> None:
    assert verdict(check(DOMAIN, PROBLEM, PLAN, SPEC)) == VERDICT


def checked_bytes(change: Callable[[bytes], bytes]) -> str:
    """The verdict where every file was changed as bytes."""

    def source(name: str, text: str) -> Source:
        spaced = text.replace(") (", ")\n(")
        return Source.from_bytes(name, change(b"; comment\n" + spaced.encode() + b"\n; end"))

    checked = Checker(source("domain", DOMAIN), source("problem", PROBLEM), [source("spec", SPEC)])
    assert checked.ok, checked.diagnostics
    return verdict(checked.check(source("plan", PLAN)))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.upper(),
        lambda data: data.title(),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", b"\r"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"comment", b'caf\xe9 \xff\xfe ("'),
        lambda data: data.replace(b"comment", "naïve 木 \U0001f525".encode()),
        lambda data: data.replace(b" ", b"\t \x0c"),
        lambda data: data.replace(b"\n(", b' ; ( " \r\n('),
        lambda data: data.replace(b"(", b" ( ").replace(b")", b" ) "),
        lambda data: data + b"\n" * 100_000,
    ],
    ids=["upper", "title", "crlf", "cr", "bom", "latin-1", "utf-8", "tabs", "comments", "spaces", "blank lines"],
)
def test_the_form_of_a_text_does_not_matter(change: Callable[[bytes], bytes]) -> None:
    assert checked_bytes(change) == VERDICT


def test_a_comment_ends_with_its_line_whatever_ends_the_line() -> None:
    for end in ("\n", "\r\n", "\r"):
        assert verdict(check(DOMAIN, PROBLEM, f"(go a) ; (go a){end}; (go a){end}")) == "VALID"


def test_one_name_for_a_predicate_an_action_a_type_an_object_and_a_function() -> None:
    text = domain(
        "(:constants cup - cup)",
        "(:action cup :parameters (?cup - cup) :precondition (not (cup ?cup))"
        " :effect (and (cup ?cup) (increase (cup) 1)))",
        types="cup - object",
        predicates="(cup ?cup - cup)",
        functions="(cup) - number",
    )
    goal = problem(init="(= (cup) 0)", goal="(cup cup)")
    rule = safety("(:process cup :parameters (?cup - cup) :on (cup ?cup) :require-after (cup ?cup))", name="cup")
    assert verdict(check(text, goal, "(cup cup)", rule)) == "SAFE"


def test_one_name_for_a_predicate_an_action_a_type_and_an_object() -> None:
    text = domain(
        "(:constants cup - cup)",
        "(:action cup :parameters (?cup - cup) :precondition (not (cup ?cup)) :effect (cup ?cup))",
        types="cup - object",
        predicates="(cup ?cup - cup)",
    )
    rule = safety("(:process cup :parameters (?cup - cup) :on (cup ?cup) :require-after (cup ?cup))", name="cup")
    assert verdict(check(text, problem(goal="(cup cup)"), "(cup cup)", rule)) == "SAFE"


AT = domain(
    "(:action go :parameters (?x - thing ?y - thing) :precondition (at ?x ?y)"
    " :effect (and (not (at ?x ?y)) (at ?y ?x)))",
    "(:durative-action wait :parameters (?x ?y - thing) :duration (= ?duration 1)"
    " :condition (and (at start (at ?x ?y)) (at end (at ?x ?y)) (over all (over ?x)))"
    " :effect (and (at start (not (over ?y))) (at end (at ?x ?x))))",
    predicates="(at ?x ?y - thing) (over ?x - thing)",
)


def test_at_is_a_predicate_beside_timed_literals_and_moments() -> None:
    text = problem(
        "(:constraints (and (at end (at start a)) (sometime (at start end)) (always (over start))))",
        objects="start end a - thing",
        init="(at start end) (at 1 (at start a)) (over start) (over end)",
        goal="(at start a)",
    )
    assert verdict(check(AT, text, "0: (wait start end) [1] 2: (go end start)")) == "INVALID SC301@2"
    assert verdict(check(AT, text, "0: (wait start end) [1]")) == "SAFE"
    assert verdict(check(AT, text, "")) == "INVALID constraint-1@end SC310@end"


@pytest.mark.parametrize("word", ["and", "at", "start", "all", "not", "define", "object", "minimize", "always", "when"])
def test_keywords_may_name_objects_types_and_actions(word: str) -> None:
    kind = "kind" if word == "object" else word
    text = domain(
        f"(:action {word} :parameters (?{word} - {kind}) :effect (p ?{word}))",
        types=f"{kind} - object",
        predicates=f"(p ?x - {kind})",
    )
    assert verdict(check(text, problem(objects=f"{word} - {kind}", goal=f"(p {word})"), f"({word} {word})")) == "VALID"


@pytest.mark.parametrize(
    "name", ["a-b", "a.b", "a#1", "a@b", "a!", "é", "木", "_x", "a'b", "a[0]", "a=b", "a:b", "a|b,c"]
)
def test_unusual_names(name: str) -> None:
    text = domain(
        f"(:action {name} :parameters (?{name} - {name}) :effect ({name} ?{name}))",
        types=f"{name} - object",
        predicates=f"({name} ?x - {name})",
    )
    goal = problem(objects=f"{name} - {name}", goal=f"({name} {name})")
    plan = f"(define (plan x) (:steps ({name} {name})))" if ":" in name else f"({name} {name})"
    if "[" not in name:  # brackets are tokens of their own in plans
        assert verdict(check(text, goal, plan)) == "VALID"
    assert verdict(check(text, goal, "")) == "INVALID SC310@end"


def test_objects_may_begin_with_a_digit() -> None:
    assert verdict(check(DOMAIN, problem(objects="1 2nd - thing", goal="(p 2nd)"), "(go 1) (go 2nd)")) == "VALID"


@pytest.mark.parametrize(
    "action",
    [
        "(:action a)",
        "(:action a :effect ())",
        "(:action a :effect (and))",
        "(:action a :parameters () :precondition () :effect ())",
        "(:action a :precondition (and) :effect (and (and)))",
        "(:action a :effect (forall (?x - thing) ()))",
        "(:action a :effect (when () ()))",
    ],
)
def test_parts_of_an_action_may_be_missing_or_empty(action: str) -> None:
    assert verdict(check(domain(action), problem(), "(a) (a)")) == "VALID"


def test_a_domain_may_be_nearly_empty() -> None:
    assert verdict(check("(define (domain d))", "(define (problem p) (:goal ()))", "")) == "VALID"
    assert verdict(check("(define (domain d))", "(define (problem p) (:goal (and)))", " ; nothing")) == "VALID"


# -- nesting ----------------------------------------------------------------------------------------------------------

DEPTH = 100_000


def alternating(inner: str, depth: int = DEPTH) -> str:
    """``inner`` below ``depth`` operators that do not change its truth."""
    rounds = depth // 4
    return "(and (not (or (not " * rounds + inner + "))))" * rounds


@pytest.mark.slow
def test_deep_conditions_in_actions_and_goals() -> None:
    text = domain(
        f"(:action go :parameters (?x - thing) :precondition {alternating('(not (p ?x))')} :effect (p ?x))",
        predicates="(p ?x - thing)",
    )
    goal = problem(objects="a - thing", goal=alternating("(p a)"))
    assert verdict(check(text, goal, "(go a)")) == "VALID"
    assert verdict(check(text, goal, "(go a) (go a)")) == "INVALID SC301@2"


@pytest.mark.slow
def test_a_deep_condition_that_no_simplification_removes() -> None:
    depth = 5_000
    body = "(or (p ?x) (and (not (p b)) " * depth + "(not (p ?x))" + "))" * depth
    text = domain(
        "(:constants b - thing)",
        f"(:action go :parameters (?x - thing) :precondition {body} :effect (p ?x))",
        predicates="(p ?x - thing)",
    )
    assert verdict(check(text, problem(objects="a - thing", goal="(p b)"), "(go a) (go a) (go b)")) == "VALID"
    assert verdict(check(text, problem(objects="a - thing", init="(p b)"), "(go a)")) == "INVALID SC301@1"
    assert verdict(check(text, problem(objects="a c - thing", init="(p b) (p c)"), "(go c)")) == "VALID"


def test_deep_effects() -> None:
    text = domain(f"(:action go :effect {'(and ' * DEPTH}(p){')' * DEPTH})", predicates="(p)")
    assert verdict(check(text, problem(goal="(p)"), "(go)")) == "VALID"


def test_deep_guards_of_effects() -> None:
    depth = 5_000
    text = domain(f"(:action go :effect {'(when (not (p)) ' * depth}(p){')' * depth})", predicates="(p)")
    assert verdict(check(text, problem(goal="(p)"), "(go)")) == "VALID"


def test_deep_rules() -> None:
    rule = f"(:process r :forbid {alternating('(p a)')})"
    assert verdict(check(DOMAIN, PROBLEM, "(go a)", safety(rule))) == "UNSAFE r@1"


def test_deep_arithmetic() -> None:
    depth = 5_000
    text = domain(f"(:action go :precondition (> {'(+ 1 ' * depth}0{')' * depth} {depth - 1}))")
    assert verdict(check(text, problem(), "(go)")) == "VALID"


def test_deep_nonsense() -> None:
    for text in (
        "(" * DEPTH,
        ")" * DEPTH,
        "(" * DEPTH + ")" * DEPTH,
        "(define (domain d) " + "(" * DEPTH + ")" * DEPTH + ")",
    ):
        checked = checker(text, PROBLEM)
        assert not checked.ok
        assert checked.diagnostics


def test_a_deep_plan_is_refused() -> None:
    report = check(DOMAIN, PROBLEM, "(" * DEPTH + "go a" + ")" * DEPTH)
    assert (report.headline, report.diagnostics[0].code) == (None, "SC002")


@pytest.mark.parametrize("plan", [PLAN, "(define (plan x) (:steps (go a) (go b)))"])
@pytest.mark.parametrize("end", [")", "\n)\n", ") ; the end", "; )\n)"])
def test_one_surplus_parenthesis_at_the_end_of_each_file_is_a_warning(plan: str, end: str) -> None:
    texts = [text + end for text in (DOMAIN, PROBLEM, SPEC)]
    report = check(texts[0], texts[1], plan + end, texts[2])
    assert verdict(report) == VERDICT
    assert [(diagnostic.code, diagnostic.labels[0].source) for diagnostic in report.diagnostics] == [
        ("SC706", name) for name in ("domain", "problem", "spec", "plan")
    ]
    assert Kernel(*texts[:2], texts[2:]).audit(plan + end).headline == "UNSAFE"


@pytest.mark.parametrize("end", ["))", ") )", ") (", ")()", ") x", '"', "(", ')"'])
def test_other_surplus_text_is_an_error_to_engine_and_kernel(end: str) -> None:
    for texts in ((DOMAIN + end, PROBLEM, SPEC), (DOMAIN, PROBLEM + end, SPEC), (DOMAIN, PROBLEM, SPEC + end)):
        assert not checker(*texts).ok
        with pytest.raises(KernelRejects):
            Kernel(*texts[:2], texts[2:])
    assert check(DOMAIN, PROBLEM, PLAN + end, SPEC).headline is None
    with pytest.raises(KernelRejects):
        Kernel(DOMAIN, PROBLEM, [SPEC]).audit(PLAN + end)
