"""Laws of the structured formats: a plan is the same in each, and a step that is marked as removed is never read."""

from __future__ import annotations

import random
import sys

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from loose_cases import TASKS, read_output
from loose_formats import FORMATS
from loose_manners import random_plan, text_of

from quick import quick_every

SEEDS = st.integers(0, 2**32)
TASK = st.sampled_from(sorted(TASKS))


@pytest.mark.parametrize("name", quick_every(4, sorted(FORMATS)))
@settings(max_examples=25, deadline=None)
@given(task=TASK, seed=SEEDS)
def test_a_plan_is_the_same_in_every_format(name: str, task: str, seed: int) -> None:
    steps = random_plan(task, random.Random(seed))
    text = FORMATS[name](task, steps, None)
    result = read_output(text, task)
    assert result.plan is not None, (text, result.diagnostics)
    assert result.plan.text == text_of(steps), text
    assert not any([step.ill_formed for step in result.steps])


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(max_examples=25, deadline=None)
@given(task=TASK, seed=SEEDS)
def test_a_step_that_is_marked_as_removed_is_not_read(name: str, task: str, seed: int) -> None:
    chance = random.Random(seed)
    steps = random_plan(task, chance)
    removed = chance.randrange(len(steps))
    remaining = steps[:removed] + steps[removed + 1 :]
    assume(remaining)
    text = FORMATS[name](task, steps, removed)
    reading = read_output(text, task)
    assert reading.plan is None or reading.plan.text == text_of(remaining), text


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(max_examples=15, deadline=None)
@given(task=TASK, seed=SEEDS)
def test_text_around_a_format_changes_nothing(name: str, task: str, seed: int) -> None:
    chance = random.Random(seed)
    steps = random_plan(task, chance)
    text = f"Sure, here is the plan:\n\n{FORMATS[name](task, steps, None)}\nThis plan reaches the goal.\n"
    result = read_output(text, task)
    assert result.plan is not None, (text, result.diagnostics)
    assert result.plan.text == text_of(steps), text


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("sentence", ("Skip the last step.", "Actually, the first step is wrong.", "Replace step 1."))
def test_a_sentence_that_retracts_a_step_is_never_ignored(name: str, sentence: str) -> None:
    steps = random_plan("home", random.Random(1))
    result = read_output(f"{FORMATS[name]('home', steps, None)}\n{sentence}\n")
    assert result.plan is None or result.remarks


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(max_examples=15, deadline=None)
@given(task=TASK, seed=SEEDS, part=st.floats(0, 1))
def test_an_incomplete_format_gives_at_most_its_first_steps(name: str, task: str, seed: int, part: float) -> None:
    steps = random_plan(task, random.Random(seed))
    text = FORMATS[name](task, steps, None)
    result = read_output(text[: int(part * len(text))], task)
    if result.plan is not None and not any([step.ill_formed for step in result.steps]):
        assert text_of(steps).startswith(result.plan.text), text


def test_two_formats_that_differ_are_refused() -> None:
    steps = random_plan("home", random.Random(3), 4)
    longer = [*steps, ("sit", "character", "sofa")]
    text = FORMATS["JSON"]("home", steps, None) + "\nOr:\n\n" + FORMATS["XML"]("home", longer, None)
    assert read_output(text).plan is None


def test_without_the_extra_yaml_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    result = read_output("```yaml\n- open(fridge)\n- grab(milk)\n```\n")
    assert result.plan is None
    (refused,) = result.diagnostics
    assert "`formats`" in refused.message
    assert "install" in (refused.help or "")


DEEP = 5_000
HOSTILE = (
    "[" * DEEP + "]" * DEEP,
    '{"plan": ' * DEEP + "1" + "}" * DEEP,
    "```yaml\n" + "- " * DEEP + "a\n```\n",
    "```yaml\n" + "[" * DEEP + "]" * DEEP + "\n```\n",
    "```yaml\na: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nplan: [*c, *c]\n```\n",
    "```yaml\nplan: !!python/object/apply:os.system ['true']\n```\n",
    "<plan>" + "<step>" * DEEP + "</step>" * DEEP + "</plan>",
    '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY b "1"><!ENTITY c "&b;&b;">]>\n<plan><step>&c;</step></plan>',
    '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>\n<plan><step>&b;</step></plan>',
    "<ol>" + "<li><b>" * DEEP + "</ol>",
    "```python\n" + "(" * DEEP + ")" * DEEP + "\n```\n",
    "```python\n" + "a" + ".b" * DEEP + "()\n```\n",
    "```python\n" + "not " * DEEP + "grab('milk')\n```\n",
    "```python\n" + "-" * DEEP + "1\n```\n",
    "```python\n__import__('os').system('true')\n```\n",
    "```python\ngrab(" + "'milk' " * DEEP + ")\n```\n",
    "\\begin{enumerate}" + "\\item \\textbf{" * DEEP + "}" * DEEP + "\\end{enumerate}",
    "```python\nif a:\n    pass\n" + "elif a:\n    pass\n" * DEEP + "```\n",
    "```python\na" + " \\\n.b" * DEEP + "()\n```\n",
    '[{"action": "grab", "args": [' + "9" * 100_000 + "]}]",
    "| Action |\n|---|\n" + "| " + "*" * 50_000 + " |\n",
    "Action: grab[" + "[" * 50_000 + "\n",
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_documents_are_refused(text: str) -> None:
    result = read_output(text)
    assert result.plan is None or any([step.ill_formed for step in result.steps])
    assert (result.plan is None) == bool(result.diagnostics)
