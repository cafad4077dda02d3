"""The passes give the output in ``golden/*.md``, which has one block for each stage.

``PLANSAFE_GOLDEN=1`` writes the results into the files instead of comparing; read the difference before you commit it.
"""

from __future__ import annotations

import os

import pytest
from golden import Case, read_cases, run_stages, write_case
from well_formed import find_mistakes

from plansafe.verifier.model.nodes import Formula, Temporal

CASES = list(read_cases())
OPERATORS = "yesterday weak-yesterday once historically since next weak-next until release always sometime"
TRACE_OPERATORS = (
    "sometime-after at within at-most-once sometime-before always-within hold-during hold-after action action-during"
)
KINDS = ":process :trajectory :termination :obligation :define :template :apply :extends :disable :open :invariant"
FIELDS = ":on :at-end :during :when :forbid :require :forbid-after :require-after :then :within :hazard :exactly-one"


@pytest.mark.parametrize("case", CASES, ids=[f"{case.file.stem}: {case.name}" for case in CASES])
def test_the_passes_give_the_expected_texts(case: Case) -> None:
    checker = case.checker()
    if checker.ok:
        assert not list(find_mistakes(checker.compiled.task, checker.rules))
    else:
        assert set(case.expected) == {"diagnostics"}, checker.diagnostics
    results = run_stages(case, checker)
    if os.environ.get("PLANSAFE_GOLDEN"):
        write_case(case, results)
    else:
        assert results == case.expected


def test_there_are_many_cases_with_unique_names() -> None:
    assert len(CASES) >= 25
    assert len({(case.file, case.name) for case in CASES}) == len(CASES)
    assert all(case.expected for case in CASES)


def test_every_construct_occurs_in_a_case() -> None:
    text = "".join([text for case in CASES for text in case.texts.values()])
    openings = f"{OPERATORS} {TRACE_OPERATORS} {KINDS} and or not imply forall exists oneof unknown".split()
    missing = [word for word in openings if f"({word} " not in text]
    missing += [word for word in FIELDS.split() if f"{word} " not in text]
    assert not missing


def test_an_unbound_variable_is_reported() -> None:
    checker = next(case for case in CASES if case.name == "before a step").checker()
    (rule,) = checker.rules
    (part,) = rule.parts
    stray = part._replace(parameters=part.parameters[:-1])
    assert list(find_mistakes(checker.compiled.task, [rule._replace(parts=(stray,))]))
    temporal: Formula = Temporal("once", ())
    assert list(find_mistakes(checker.compiled.task, [rule._replace(parts=(part._replace(body=temporal),))]))
