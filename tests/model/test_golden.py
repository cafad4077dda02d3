"""What each pass makes of a text, in files that people read: ``golden/*.md``, one block for each stage.

``PLANSAFE_GOLDEN=1`` writes what is found into the files instead of comparing; read the difference before it is kept.
"""

from __future__ import annotations

import os

import pytest
from golden import Case, cases, run, write
from well_formed import mistakes

from plansafe.verifier.model.nodes import Formula, Temporal

CASES = list(cases())
OPERATORS = "yesterday weak-yesterday once historically since next weak-next until release always sometime"
WHOLE = (
    "sometime-after at within at-most-once sometime-before always-within hold-during hold-after action action-during"
)
KINDS = ":process :trajectory :termination :obligation :define :template :apply :extends :disable :open :invariant"
FIELDS = ":on :at-end :during :when :forbid :require :forbid-after :require-after :then :within :hazard :exactly-one"


@pytest.mark.parametrize("case", CASES, ids=[f"{case.file.stem}: {case.name}" for case in CASES])
def test_what_the_passes_give(case: Case) -> None:
    checker = case.checker()
    if checker.ok:
        assert not list(mistakes(checker.compiled.task, checker.rules))
    else:
        assert set(case.expected) == {"diagnostics"}, checker.diagnostics
    found = run(case, checker)
    if os.environ.get("PLANSAFE_GOLDEN"):
        write(case, found)
    else:
        assert found == case.expected


def test_the_cases_are_many_and_told_apart() -> None:
    assert len(CASES) >= 25
    assert len({(case.file, case.name) for case in CASES}) == len(CASES)
    assert all(case.expected for case in CASES)


def test_every_construct_occurs() -> None:
    text = "".join([text for case in CASES for text in case.texts.values()])
    opened = f"{OPERATORS} {WHOLE} {KINDS} and or not imply forall exists oneof unknown".split()
    missing = [word for word in opened if f"({word} " not in text]
    missing += [word for word in FIELDS.split() if f"{word} " not in text]
    assert not missing


def test_what_is_not_well_formed_is_told() -> None:
    checker = next(case for case in CASES if case.name == "before a step").checker()
    (rule,) = checker.rules
    (part,) = rule.parts
    stray = part._replace(parameters=part.parameters[:-1])
    assert list(mistakes(checker.compiled.task, [rule._replace(parts=(stray,))]))
    temporal: Formula = Temporal("once", ())
    assert list(mistakes(checker.compiled.task, [rule._replace(parts=(part._replace(body=temporal),))]))
