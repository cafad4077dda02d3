"""Sentences that no rule can express, recognised by their words; and rules in words, with each operator's meaning."""

from __future__ import annotations

import pytest

from plansafe.grammar.codes import SC
from plansafe.llm.formalise.in_words import in_words
from plansafe.llm.formalise.reading import inexpressible
from plansafe.verifier.execution.compiled import CompiledTask

EXPRESSIBLE = [
    "never leave the stove on unattended",
    "Wash food before you cut it.",
    "The robot's hands must be dry before it plugs in a device.",
    "Do not hand a knife to Tom unless Anna is in the same room.",
    "The living room must never be without an adult.",
    "Switch off every heater at the end of the plan.",
    "You can open the fridge at most twice.",
    "Close all doors.",
    "Open the fridge at most 2 times, and close it within 3 steps.",
]
REFUSED = [
    ("Switch the stove off within five minutes.", "`minutes`", "clock time"),
    ("Do not water the fern at night.", "`at night`", "clock time"),
    ("The stove must be off with a probability of 99 percent.", "`probability`", "probability"),
    ("Do not open the door if you believe that Tom is in the hall.", "`believe`", "belief or knowledge"),
    ("Do not take the knife while Tom can see it.", "`see`", "perception"),
    ("Hide the pills so that Tom never sees them.", "`sees`", "perception"),
    ("Keep the kitchen as clean as possible.", "`as clean as possible`", "a wish or a degree"),
    ("Lead Rex into the hall gently.", "`gently`", "the manner of an action"),
    ("The oven must not be hotter than 200 degrees.", "`degrees`", "is not a name"),
    ("Never switch off the alarm.", "`alarm`", "is not a name"),
    ("No cleaning product may stand on the table.", "`product`", "is not a name"),
    ("Do not touch an electric blanket.", "`blanket`", "is not a name"),
    ("", "", "sentence is empty"),
]


@pytest.mark.parametrize("sentence", EXPRESSIBLE)
def test_expressible_sentences_are_accepted(sentence: str, home: CompiledTask) -> None:
    assert inexpressible(sentence, home) is None


@pytest.mark.parametrize(("sentence", "word", "about"), REFUSED)
def test_inexpressible_sentences_are_refused(sentence: str, word: str, about: str, home: CompiledTask) -> None:
    diagnostic = inexpressible(sentence, home)
    assert diagnostic is not None
    assert diagnostic.code == SC.NOT_EXPRESSIBLE
    assert word in diagnostic.message
    assert about in diagnostic.message
    assert diagnostic.help


def test_near_names_are_offered(home: CompiledTask) -> None:
    diagnostic = inexpressible("Never leave a stoves2 open or the fridgge.", home)
    assert diagnostic is not None
    assert "`fridge`" in (diagnostic.help or "")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            "(:termination r :parameters (?s - stove) :forbid (running ?s))",
            "For every stove ?s: when the plan ends, it is not so that `running ?s`.",
        ),
        (
            "(:process r :on (cut ?a ?k ?x ?f ?r) :require (once (clean ?x)))",
            "Whenever `cut ?a ?k ?x ?f ?r` is taken, (`clean ?x` (then or at some moment before)) (right before it).",
        ),
        (
            (
                "(:process r :parameters (?a ?b - (either robot adult)) :when (present ?a hall)"
                " :forbid (present ?b hall))"
            ),
            (
                "For every robot or adult ?a, robot or adult ?b: at every moment while `present ?a hall`, it is not"
                " so that `present ?b hall`."
            ),
        ),
        (
            "(:obligation r :parameters (?f - fridge) :when (open ?f) :then (not (open ?f)) :within 3)",
            "For every fridge ?f: whenever `open ?f`, at that moment or later, within 3, not `open ?f`.",
        ),
        (
            (
                "(:trajectory r :formula (always (imply (exists (?c - child) (present ?c hall))"
                " (next (not (open door))))))"
            ),
            (
                "Of the plan as a whole: from then on, at every moment, (if (there is child ?c such that "
                "`present ?c hall`), then (there is a next moment, and at it not `open door`))."
            ),
        ),
        (
            "(:trajectory r :formula (sometime-before (running stove) (action (fill _ pot _ _))))",
            (
                "Of the plan as a whole: before the first moment at which `running stove`, at some moment (the step "
                "`fill _ pot _ _` is taken next)."
            ),
        ),
        (
            "(:trajectory r :formula (at-most-once (open door)))",
            "Of the plan as a whole: there is at most one stretch of moments during which `open door`.",
        ),
        (
            "(:process r :on (or (go ?a ?b ?c) (hurry ?a ?b ?c)) :forbid-after (and (wet-floor ?c) (hot pot)))",
            (
                "Whenever `go ?a ?b ?c` or `hurry ?a ?b ?c` is taken, it is not so that (`wet-floor ?c` and `hot pot`) "
                "(right after it)."
            ),
        ),
    ],
)
def test_rules_in_words(rule: str, words: str) -> None:
    assert in_words(rule) == words


def test_a_text_that_is_not_a_rule_is_refused() -> None:
    for text in ("", "(", "x", "(:define)", "(:open r (p))"):
        with pytest.raises(ValueError, match="rule"):
            in_words(text)
