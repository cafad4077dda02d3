"""Generated Python holds numbers and fixed names alone: no text of the input ever reaches it."""

from __future__ import annotations

import re

from engine_texts import checker, domain, judge, problem, safety, verdict

from plansafe.verifier.execution.execution import Execution

# Everything that generated code may be made of; ``x3``, ``f12``, ``c0``, ``D2``, ``T1``, ``K9``, ``v0`` carry numbers.
WORDS = {
    *("def", "return", "if", "not", "and", "or", "in", "for", "else", "pass", "continue", "True", "False", "None"),
    *("S", "F", "I", "L", "E", "A", "D", "U", "W", "c", "code", "codes", "out", "duration"),
    *("append", "get", "add", "remove", "discard", "divide", "checked", "len", "SnapEffects", "Update"),
}
TOKEN = re.compile(r"\s+|[0-9]+|[xfcDTKv][0-9]+|[A-Za-z_]+|//|==|!=|<=|>=|[-+*/%<>=:,.()\[\]{}]")

HOSTILE = (
    "__import__",
    "os.system",
    "exec",
    "eval",
    "lambda",
    "import",
    "open#1",
    "a[0]",
    "a.b",
    "é",
    "__class__",
    "f1",
)


def hostile_task() -> tuple[str, str, str, str]:
    """A task that uses every part of the generator, all of whose names are hostile."""
    act, typ, pred, deriv, fun, obj, type2, pred2, rule, zero, second, third = HOSTILE
    text = f"""(define (domain {act})
      (:types {typ} {type2} - object)
      (:constants {obj} - {typ})
      (:predicates ({pred} ?{act} - object) ({pred2} ?x ?y - object) ({deriv} ?x - object))
      (:functions ({fun} ?x - object) ({zero}) - number)
      (:derived ({deriv} ?x - object)
        (or ({pred} ?x) (exists (?{rule} - {typ}) (and ({pred2} ?x ?{rule}) ({deriv} ?{rule})))))
      (:action {act} :parameters (?{act} ?{pred} - {typ})
        :precondition (and (not ({pred2} ?{act} ?{pred})) (or (= ?{act} {obj}) (> ({fun} ?{act}) (/ ({zero}) 3)))
          (forall (?{fun} - object) (imply ({pred} ?{fun}) ({deriv} ?{fun}))))
        :effect (and ({pred} ?{act}) ({pred2} ?{act} ?{pred}) (increase ({zero}) 123456789012345678901234567890)))
      (:action {second} :parameters (?x - object)
        :effect (and (forall (?y - {typ})
                       (when (and ({pred} ?y) ({deriv} ?x)) (and (not ({pred} ?y)) (scale-up ({fun} ?y) -2))))
                     (assign ({zero}) 0.5)))
      (:durative-action {third} :parameters (?x - {typ}) :duration (<= ?duration (* 2 ({zero})))
        :condition (and (at start ({pred} ?x)) (over all ({pred} ?x)) (at end (< ({fun} ?x) 9)))
        :effect (and (at end (when (at start ({pred} ?x)) (not ({pred} ?x))))
                     (at end (assign ({fun} ?x) ?duration)))))"""
    task = f"""(define (problem {act}) (:domain {act}) (:objects {pred} {fun} - {typ} {zero} - object)
      (:init ({pred} {pred}) ({pred2} {zero} {pred})
        (= ({fun} {obj}) 1) (= ({fun} {pred}) 2) (= ({fun} {fun}) 2) (= ({zero}) 3))
      (:goal (and (exists (?{zero} - {typ}) ({pred} ?{zero})) (>= ({zero}) 0))))"""
    spec = safety(
        f"(:process {act} :parameters (?{typ} - {typ} ?{fun} - object)"
        f" :forbid (and ({pred} ?{typ}) ({pred2} ?{typ} ?{fun})))",
        f"(:process {pred} :on ({act} ?{obj} _) :require (once ({deriv} ?{obj})))",
        f"(:process {fun} :on ({second} ?x) :forbid-after (> ({fun} ?x) 3))",
        f"(:trajectory {obj} :parameters (?{act} - {typ}) :formula (until (> ({fun} ?{act}) 0) ({deriv} ?{act})))",
        f"(:obligation {zero} :parameters (?{act} - {typ})"
        f" :when ({pred} ?{act}) :then ({pred2} ?{act} {obj}) :within 2)",
        f"(:termination {rule} :parameters (?{act} - {typ}) :forbid ({pred} ?{act}))",
        name=act,
    )
    plan = f"({act} {obj} {pred}) ({second} {pred}) ({act} {pred} {obj})"
    return text, task, spec, plan


def generated() -> list[str]:
    text, task, spec, plan = hostile_task()
    checked = checker(text, task, spec)
    assert checked.ok, [diagnostic.message for diagnostic in checked.diagnostics]
    assert "SC4" not in verdict(judge(checked, plan))
    judge(checked, f"0: {plan.split(') ')[0]}) 1: ({HOSTILE[11]} {HOSTILE[5]}) [2]")
    simulation = Execution(checked.engine)
    for step in list(simulation.legal()):
        simulation.take(step)
    sources = checked.engine.emitter.sources
    assert len(sources) > 20
    return sources


def test_only_known_words_occur() -> None:
    for source in generated():
        position = 0
        while position < len(source):
            match = TOKEN.match(source, position)
            assert match is not None, source[position : position + 40]
            word = match.group()
            if re.fullmatch(r"[A-Za-z_]+", word):
                assert word in WORDS, f"{word} in {source}"
            position = match.end()


def test_no_name_of_the_input_occurs() -> None:
    text = "\n".join(generated())
    for name in HOSTILE:
        if name != "f1":  # also the name of a generated function
            assert name not in text


def test_no_quote_no_comment_no_attribute_beyond_the_methods_of_sets_maps_and_lists() -> None:
    for source in generated():
        assert not set("'\"`#@;\\?&|^~!$") & set(source.replace("!=", ""))
        assert set(re.findall(r"\.([A-Za-z_]+)", source)) <= {"append", "get", "add", "remove", "discard"}
        assert "__" not in source


def test_names_that_look_like_generated_ones_do_no_harm() -> None:
    names = ("f1", "x0", "S", "c0", "E")
    text = domain(
        *(f"(:action {name} :parameters (?{name} - object) :effect ({name} ?{name}))" for name in names),
        predicates=" ".join(f"({name} ?x - object)" for name in names),
    )
    rules = [
        f"(:process {n} :parameters (?x0 ?f1 - object) :forbid (and ({n} ?x0) ({n} ?f1) (not (= ?x0 ?f1))))"
        for n in ("f1", "x0")
    ]
    checked = checker(text, problem(objects="f1 x0 S"), safety(*rules))
    assert verdict(judge(checked, "(f1 f1) (f1 x0) (S S)")) == "UNSAFE f1(?f1=f1,?x0=x0)@2 f1(?f1=x0,?x0=f1)@2"
