"""Models without weights: mocks as policies, recorded answers, and the names of both."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from plansafe.grammar.codes import SC
from plansafe.llm.models.answer import Answer, Enforced
from plansafe.llm.models.batch import Failure, ask_all
from plansafe.llm.models.port import ModelError
from plansafe.llm.models.providers import PROVIDERS, Settings, open_model
from plansafe.llm.models.request import Choice, JsonSchema, Request, Situation, address, user_messages

STEPS = Choice(("(go a b)", "(wash cup)", "(open door)"))


def code(name: str, settings: Settings | None = None) -> str:
    with pytest.raises(ModelError) as caught:
        open_model(name, settings)
    assert caught.value.diagnostic.help
    return caught.value.diagnostic.code


@pytest.mark.parametrize("name", ["", "/", "mock", "mock/", "/x", "gpt-5", "opnai/gpt-5", "mock/rand", "vllm/\x1b[2J"])
def test_unknown_model_names_are_refused(name: str) -> None:
    assert code(name) == SC.UNKNOWN_MODEL


def test_near_names_are_offered() -> None:
    for name, suggestion in (("opnai/gpt-5", "openai"), ("mock/plannner", "planner"), ("olama/x", "ollama")):
        with pytest.raises(ModelError) as caught:
            open_model(name)
        assert f"`{suggestion}`" in (caught.value.diagnostic.help or "")


def test_the_service_needs_a_key() -> None:
    assert code("openai/gpt-5", Settings(environment={})) == SC.MODEL_KEY


def test_random_answers_depend_only_on_seed_and_request() -> None:
    requests = [
        Request(user_messages("next?"), constraint=STEPS, situation=Situation("t", (str(n),))) for n in range(300)
    ]
    texts = [answer.text for answer in ask_all(open_model("mock/random"), requests) if isinstance(answer, Answer)]
    reversed_texts = [
        answer.text for answer in ask_all(open_model("mock/random"), requests[::-1]) if isinstance(answer, Answer)
    ]
    seeded = open_model("mock/random", Settings(seed=1))
    seeded_texts = [answer.text for answer in ask_all(seeded, requests) if isinstance(answer, Answer)]
    assert texts == reversed_texts[::-1] != seeded_texts
    assert all([70 < number < 130 for number in Counter(texts).values()])
    legal = Situation("t", (), ("(x)",))
    assert open_model("mock/random").answer(Request(user_messages("next?"), situation=legal)).text == "(x)"
    with pytest.raises(ModelError):
        open_model("mock/random").answer(Request(user_messages("next?")))


def test_policies_answer_for_mocks() -> None:
    def policy(situation: Situation) -> str:
        return situation.legal[-1] if situation.legal else f"plan of {situation.task}"

    step = Request(user_messages("next?"), constraint=STEPS, situation=Situation("t", (), STEPS.texts))
    for kind in ("planner", "unsafe", "reference", "empty", "random"):
        model = open_model(f"mock/{kind}", Settings(policies={kind: policy}))
        answer = model.answer(step)
        assert (answer.text, answer.enforced, answer.met) == ("(open door)", Enforced.NATIVE, True)
        assert model.answer(Request(user_messages("plan"), situation=Situation("t"))).text == "plan of t"
    wrong = open_model("mock/planner", Settings(policies={"planner": lambda _: "(fly)"})).answer(step)
    assert (wrong.enforced, wrong.met) == (Enforced.NOT, False)
    assert open_model("mock/empty").answer(step).text == ""
    for kind in ("planner", "unsafe", "reference"):
        outcome = ask_all(open_model(f"mock/{kind}"), [step])[0]
        assert isinstance(outcome, Failure)
        assert outcome.diagnostic.code == SC.MODEL_UNABLE


def test_an_exception_of_a_policy_is_not_caught() -> None:
    def policy(_: Situation) -> str:
        raise ZeroDivisionError

    model = open_model("mock/planner", Settings(policies={"planner": policy}))
    with pytest.raises(ZeroDivisionError):
        ask_all(model, [Request(user_messages("x"), situation=Situation("t"))])


def test_operations_of_local_models_only() -> None:
    model = open_model("mock/empty")
    with pytest.raises(ModelError):
        model.answer(Request(user_messages("x")), mask=lambda _: None)
    with pytest.raises(ModelError):
        model.score(Request(user_messages("x")), ["y"])


def write_records(path: Path, *records: object) -> Path:
    path.write_text("\n".join([json.dumps(record) for record in records]) + "\n\n", encoding="utf-8")
    return path


def test_answers_are_replayed_by_request_task_or_prompt(tmp_path: Path) -> None:
    exact = Request(user_messages("exact"), seed=3)
    path = write_records(
        tmp_path / "answers.jsonl",
        {"request": address(exact), "text": "1"},
        {"task": "tea", "text": "<think>hm</think>2", "prompt_tokens": 4},
        {"prompt": "hello", "text": "3a"},
        {"prompt": "hello", "text": "3b"},
    )
    model = open_model(f"replay/{path}")
    assert model.answer(exact).text == "1"
    tea = model.answer(Request(user_messages("x"), situation=Situation("tea")))
    assert (tea.text, tea.reasoning, tea.prompt_tokens) == ("2", 2, 4)
    assert [model.answer(Request(user_messages("hello"), sample=n)).text for n in (0, 1)] == ["3a", "3b"]
    limited = model.answer(Request(user_messages("hello"), constraint=STEPS))
    assert (limited.enforced, limited.met) == (Enforced.NOT, False)
    for missing in (
        Request(user_messages("hello"), sample=2),
        Request(user_messages("exact")),
        Request(user_messages("x")),
    ):
        with pytest.raises(ModelError) as caught:
            model.answer(missing)
        assert (caught.value.diagnostic.code, caught.value.fatal) == (SC.NO_RECORDED_ANSWER, False)


@pytest.mark.parametrize(
    "record",
    [
        1,
        [],
        {"text": "x"},
        {"prompt": "x"},
        {"prompt": "x", "text": 3},
        {"prompt": "x", "task": "y", "text": ""},
        {"prompt": "x", "text": "", "finish": "never"},
        {"prompt": "x", "text": "", "reasoning": -1},
    ],
    ids=str,
)
def test_broken_records_are_refused(record: object, tmp_path: Path) -> None:
    assert code(f"replay/{write_records(tmp_path / 'a', {'prompt': 'a', 'text': 'b'}, record)}") == SC.BAD_RECORD


def test_broken_recordings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    (tmp_path / "deep").write_text("[" * 1_000_000)
    (tmp_path / "bytes").write_bytes(b"\xff\x00")
    assert [code(f"replay/{tmp_path / name}") for name in ("empty", "deep", "bytes")] == [SC.BAD_RECORD] * 3
    with pytest.raises(ModelError) as caught:
        open_model(f"replay/{tmp_path / 'none'}")
    assert caught.value.diagnostic.code == SC.NO_FILE


def test_each_provider_describes_itself() -> None:
    assert len({provider.name for provider in PROVIDERS}) == len(PROVIDERS)
    assert all([provider.form.startswith(f"{provider.name}/") and provider.about for provider in PROVIDERS])


def test_meaningless_requests_are_refused() -> None:
    for make in (
        lambda: Choice(()),
        lambda: Choice(("a", "a")),
        lambda: JsonSchema("[]"),
        lambda: JsonSchema("{"),
        lambda: Request(()),
        lambda: Request(user_messages("x"), max_tokens=0),
        lambda: Request(user_messages("x"), temperature=float("nan")),
    ):
        with pytest.raises(ValueError, match=r"."):
            make()
