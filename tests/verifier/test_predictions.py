"""What a step would break, as predicted before it is taken: the same instances as after it is taken."""

from __future__ import annotations

import pytest
from engine_texts import checker, domain, problem, safety

from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, step_text

DOMAIN = domain(
    "(:constants a b - cup)",
    "(:action put :parameters (?x - cup) :effect (on ?x))",
    "(:action take :parameters (?x - cup) :effect (not (on ?x)))",
    "(:action put-and-ring :parameters (?x - cup) :effect (and (on ?x) (ringing)))",
    types="cup - object",
    predicates="(on ?x - cup) (ringing)",
    functions="(heat ?x - cup) - number",
)
ONCE_HOT = "(:process r :on (put ?x) :require (once (> (heat ?x) 3)))"
PUT_WHEN_HOT = "(:process r :on (put ?x) :require (once (and (action (put ?x)) (> (heat ?x) 3))))"
COOL_AFTER = "(:process r :on (put ?x) :require-after (< (heat ?x) 3))"
QUIET_AFTER = "(:process r :on (put-and-ring _) :forbid-after (ringing))"


def predict(rule: str, init: str, earlier_steps: list[str], step: str) -> list[str]:
    """Return the instances that a step would break; ``?`` marks undecided instances."""
    checked = checker(DOMAIN, problem(init=init), safety(rule))
    assert checked.ok, checked.diagnostics
    now, objects = Execution.initial(checked.engine), checked.engine.task.objects

    def legal(text: str) -> GroundAction:
        return next(ground for ground in now.legal() if step_text(ground, objects) == text)

    for text in earlier_steps:
        assert now.take(legal(text))
    [option] = [option for option in now.options() if option.step == legal(step)]
    after = now.after(option.step)
    assert after is not None and option.broken == after.new_violations
    return [
        " ".join([objects[code] for code in instance.binding]) + "?" * instance.undecided for instance in option.broken
    ]


@pytest.mark.parametrize(
    ("rule", "init", "earlier_steps", "step", "expected"),
    [
        # the heat of b is undefined, the heat of a is defined
        (ONCE_HOT, "(= (heat a) 1)", [], "(put a)", ["a"]),
        (ONCE_HOT, "(= (heat a) 1)", [], "(put b)", ["b?"]),
        (ONCE_HOT, "(= (heat a) 5)", [], "(put a)", []),
        # what one cup leaves undecided does not affect another, in a condition that reads the step itself
        (PUT_WHEN_HOT, "(= (heat a) 1)", ["(put b)"], "(put a)", ["a"]),
        (PUT_WHEN_HOT, "(= (heat a) 5)", ["(put b)"], "(put a)", []),
        (COOL_AFTER, "(= (heat a) 5)", [], "(put a)", ["a"]),
        (COOL_AFTER, "(= (heat a) 1)", [], "(put a)", []),
        (COOL_AFTER, "(= (heat a) 1)", [], "(put b)", ["b?"]),
        # an undecided instance is reported once
        (COOL_AFTER, "", ["(put b)"], "(put b)", []),
        (COOL_AFTER, "", ["(put b)", "(take b)"], "(put a)", ["a?"]),
        # a fact that only a condition on the next state reads
        (QUIET_AFTER, "", [], "(put-and-ring a)", [""]),
        (QUIET_AFTER, "(ringing)", [], "(put a)", []),
    ],
)
def test_predicted_instances(rule: str, init: str, earlier_steps: list[str], step: str, expected: list[str]) -> None:
    assert predict(rule, init, earlier_steps, step) == expected
