"""The outcome of calls to servers that fail, send wrong data, stop answering or send too much."""

from __future__ import annotations

import json
import logging
import os
import time
import tracemalloc
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from stub_server import Reply, Stub, chat, serving, wrong

from plansafe.grammar.codes import SC
from plansafe.llm.models.answer import LONGEST, Answer, Enforced, Finish
from plansafe.llm.models.batch import Failure, ask_all
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model, ModelError
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import Choice, Grammar, JsonSchema, Request, Syntax, user_messages
from plansafe.llm.models.transport import Tries

pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")

QUICK = Tries(most=3, first_wait=0.01, longest_wait=0.02, patience=2.0, timeout=60.0)
KEY = "sk-very-secret-0123456789"
HI = Request(user_messages("hi"))


def model(stub: Stub, name: str = "openai/m", tries: Tries = QUICK, **environment: str) -> Model:
    path = "" if name.startswith("ollama/") else "/v1"
    return open_model(name, Settings(base_url=stub.url + path, tries=tries, environment=environment))


def call_and_get_error(stub: Stub, request: Request = HI, **environment: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model(stub, **environment).answer(request)
    return caught.value


def test_an_answer_has_its_figures() -> None:
    with serving(lambda *_: chat("(wash cup)")) as stub:
        answer = model(stub).answer(
            Request(user_messages("hi", "plan"), max_tokens=9, temperature=0.5, seed=4, stop=("\n\n",))
        )
    assert answer == Answer("(wash cup)", prompt_tokens=11, completion_tokens=3, cached_tokens=7, model="stub-1")
    sent = stub.payloads[0]
    assert (sent["model"], sent["max_tokens"], sent["temperature"], sent["seed"]) == ("m", 9, 0.5, 4)
    assert sent["messages"] == [{"role": "system", "content": "plan"}, {"role": "user", "content": "hi"}]
    assert sent["stop"] == ["\n\n"]
    assert stub.paths == ["/v1/chat/completions"]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_temporary_errors_are_retried(status: int) -> None:
    with serving(lambda _, n, __: wrong(status) if n < 3 else chat("ok")) as stub:
        assert model(stub).answer(HI).text == "ok"
    assert stub.request_counts["hi"] == 3


@pytest.mark.parametrize(
    "reply",
    [
        chat("ok")._replace(cut=True),
        Reply(b""),
        Reply(b"<html>Bad gateway</html>"),
        Reply(b'{"choices": [{"mess'),
        Reply(b"[1, 2]"),
        Reply(b"\xff\xfe\x00garbage"),
        Reply(b"[" * 2_000_000),
        Reply(b'{"a":' * 190_000),
        Reply(b"[" + b"[]," * 3_000_000 + b"0]"),
        Reply(b"9" * 10_000),
        chat("ok")._replace(headers={"content-encoding": "gzip"}),
    ],
    ids=["cut", "empty", "html", "half", "list", "bytes", "deep", "deep objects", "wide", "number", "packed"],
)
def test_garbage_is_retried_and_reported(reply: Reply) -> None:
    with serving(lambda _, n, __: reply if n < 2 else chat("ok")) as stub:
        assert model(stub).answer(HI).text == "ok"
    with serving(lambda *_: reply) as stub:
        error = call_and_get_error(stub)
    assert (error.diagnostic.code, error.fatal, stub.request_counts["hi"]) == (SC.MODEL_FAILED, False, 3)


def test_retry_after_is_obeyed_up_to_a_limit() -> None:
    with serving(lambda _, n, __: wrong(429, headers={"Retry-After": "0.4"}) if n < 2 else chat("ok")) as stub:
        begin = time.monotonic()
        model(stub).answer(HI)
        assert time.monotonic() - begin >= 0.4
    date = formatdate(time.time() + 3600, usegmt=True)
    for delay in ("3600", date):
        with serving(lambda *_, delay=delay: wrong(429, headers={"Retry-After": delay})) as stub:
            assert "it asks to wait for 3" in call_and_get_error(stub).diagnostic.message
        assert stub.request_counts["hi"] == 1
    for nonsense in ("soon", "-5", "nan", "1e400"):
        reply = wrong(429, headers={"Retry-After": nonsense})
        with serving(lambda _, n, __, r=reply: r if n < 2 else chat("ok")) as stub:
            assert model(stub).answer(HI).text == "ok"


def test_a_server_that_stalls_or_drips_times_out() -> None:
    brief = QUICK._replace(most=2, timeout=0.4)
    for reply in (chat("late")._replace(delay=2.0), chat("slow")._replace(drip=0.05)):
        with serving(lambda *_, r=reply: r) as stub, pytest.raises(ModelError):
            model(stub, tries=brief).answer(HI)


@pytest.mark.parametrize(
    ("reply", "code", "fatal", "message"),
    [
        (wrong(401, "no such key"), SC.MODEL_KEY, True, "no such key"),
        (wrong(403), SC.MODEL_KEY, True, "does not accept the key"),
        (wrong(404, "no model m"), SC.MODEL_FAILED, True, "no model m"),
        (wrong(400, "too many tokens in context"), SC.MODEL_FAILED, False, "too many tokens"),
        (wrong(429, "pay first", code="insufficient_quota"), SC.MODEL_FAILED, True, "pay first"),
        (Reply(b"", 302, {"Location": "http://127.0.0.1:1/"}), SC.MODEL_FAILED, True, "another address"),
    ],
)
def test_permanent_errors_are_not_retried(reply: Reply, code: str, fatal: bool, message: str) -> None:
    with serving(lambda *_: reply) as stub:
        error = call_and_get_error(stub)
    assert (error.diagnostic.code, error.fatal, stub.request_counts["hi"]) == (code, fatal, 1)
    assert message in error.diagnostic.message


def test_a_missing_server_is_reported() -> None:
    with serving(lambda *_: chat("")) as stub:
        pass
    error = call_and_get_error(stub)
    assert error.fatal
    assert error.diagnostic.help


def test_an_answer_of_ten_megabytes_is_cut_in_bounded_memory() -> None:
    body = chat("(go a b)[{\n" * 900_000)
    assert len(body.body) > 10_000_000
    tracemalloc.start()
    try:
        with serving(lambda *_: body) as stub:
            answer = model(stub).answer(HI)
            peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(answer.text), answer.finish, len(answer.notes)) == (LONGEST, Finish.LENGTH, 1)
    assert peak < 200_000_000


def test_an_oversized_answer_is_refused() -> None:
    with serving(lambda *_: chat("x" * 17_000_000)) as stub:
        assert "more than" in call_and_get_error(stub).diagnostic.message


@pytest.mark.parametrize(
    "text", ["\x00\x1b[31m\x07\u202e", "\udc80\ud800", "a\r\nb", "\U0001f600", '"}]}', "\u2028"], ids=ascii
)
def test_hostile_texts_are_stored_and_read_back(text: str, tmp_path: Path) -> None:
    with serving(lambda *_: chat(text)) as stub, Cache(str(tmp_path / "a.sqlite")) as cache:
        first, again = [ask_all(model(stub), [HI], cache)[0] for _ in range(2)]
    assert isinstance(first, Answer)
    assert isinstance(again, Answer)
    assert first.text == again.text == text.encode("utf-8", "replace").decode()
    assert (first.stored, again.stored, stub.request_counts["hi"]) == (False, True, 1)


def test_bytes_that_are_not_utf_8_are_replaced() -> None:
    body = chat("a?b").body.replace(b"?", b"\xff")
    with serving(lambda *_: Reply(body)) as stub:
        assert model(stub).answer(HI).text == "a\ufffdb"


@pytest.mark.parametrize(
    "body",
    [{}, {"choices": []}, {"choices": [None]}, {"choices": {"0": 1}}, {"choices": [{"message": "x"}]}, {"error": "x"}],
    ids=str,
)
def test_json_without_an_answer(body: dict[str, Any]) -> None:
    with serving(lambda *_: Reply(json.dumps(body).encode())) as stub:
        assert call_and_get_error(stub).diagnostic.code == SC.MODEL_FAILED


def test_fields_of_the_wrong_type_are_ignored() -> None:
    message = {"content": [{"text": "a"}, {"image": 1}, {"text": "b"}, 7], "reasoning_content": 5}
    usage = {"prompt_tokens": -1, "completion_tokens": True, "prompt_tokens_details": 3}
    body = {"model": ["x"], "choices": [{"message": message, "finish_reason": 4}], "usage": usage}
    with serving(lambda *_: Reply(json.dumps(body).encode())) as stub:
        assert model(stub).answer(HI) == Answer("ab", Finish.OTHER)


def test_reasoning_is_counted_and_cut() -> None:
    with serving(lambda *_: chat("<think>first</think>\nplan", reasoning_content="apart")) as stub:
        answer = model(stub).answer(HI)
    assert (answer.text, answer.reasoning) == ("plan", 10)


def test_keys_are_sent_only_to_the_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    replies = {
        "echo": chat(f"your key is {KEY}"),
        "wrong": wrong(401, f"Incorrect key {KEY}"),
        "bad": Reply(KEY.encode()),
    }
    with serving(lambda prompt, *_: replies[prompt]) as stub, Cache(str(tmp_path / "a.sqlite")) as cache:
        remote_model = model(stub, OPENAI_API_KEY=f"{KEY}\n")
        results = [ask_all(remote_model, [Request(user_messages(prompt))], cache)[0] for prompt in replies]
        values = f"{remote_model!r} {vars(remote_model)!r} {remote_model.identity}"
        texts = f"{results!r} {values} {list(cache.records())!r} {caplog.text}"
    assert all([headers["Authorization"] == f"Bearer {KEY}" for headers in stub.headers])
    assert isinstance(results[0], Answer)
    assert results[0].text == "your key is [key]"
    assert KEY not in texts
    assert not [path for path in tmp_path.iterdir() if KEY.encode() in path.read_bytes()]
    assert all([os.stat(path).st_mode & 0o077 == 0 for path in tmp_path.iterdir()])


@pytest.mark.parametrize("name", ["vllm/m", "llamacpp/m", "ollama/m"])
def test_a_key_is_not_sent_to_another_provider(name: str) -> None:
    right = json.dumps({"message": {"content": "ok"}, "done": True}).encode() if name == "ollama/m" else chat("ok").body
    with serving(lambda *_: Reply(right)) as stub:
        assert model(stub, name, OPENAI_API_KEY=KEY).answer(HI).text == "ok"
    assert "Authorization" not in stub.headers[0]


def test_a_key_that_cannot_be_in_a_header_is_not_shown() -> None:
    with serving(lambda *_: chat("ok")) as stub:
        error = call_and_get_error(stub, OPENAI_API_KEY=f"{KEY}\r\nX: y")
    assert error.diagnostic.code == SC.MODEL_KEY
    assert KEY not in repr(error.diagnostic)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:1",
        "ftp://h",
        "http://",
        "http://h:99999",
        f"http://u:{KEY}@h/v1",
        f"http://h/?k={KEY}",
        "http://h/\n",
    ],
)
def test_invalid_addresses_and_addresses_with_a_key_are_refused(url: str) -> None:
    with pytest.raises(ModelError) as caught:
        open_model("vllm/m", Settings(base_url=url, environment={}))
    assert caught.value.diagnostic.code == SC.BAD_OPTION
    assert KEY not in repr(caught.value.diagnostic)


CUPS = Choice(("(wash cup)", '(go "a\\b")'))


@pytest.mark.parametrize(
    ("name", "constraint", "field", "enforced"),
    [
        ("vllm/m", CUPS, {"structured_outputs": {"choice": list(CUPS.texts)}}, Enforced.NATIVE),
        ("vllm/m", Grammar("start: x", Syntax.LARK), {"structured_outputs": {"grammar": "start: x"}}, Enforced.NATIVE),
        (
            "vllm/m",
            JsonSchema('{"type":"object"}'),
            {"structured_outputs": {"json": {"type": "object"}}},
            Enforced.NATIVE,
        ),
        ("llamacpp/m", CUPS, {"grammar": 'root ::= "(wash cup)" | "(go \\"a\\\\b\\")"'}, Enforced.AS_GRAMMAR),
        ("llamacpp/m", Grammar("start: x", Syntax.LARK), {}, Enforced.NOT),
        ("openai/m", Grammar('root ::= "x"'), {}, Enforced.NOT),
    ],
)
def test_constraints_have_the_form_of_each_provider(name: str, constraint: Any, field: Any, enforced: Enforced) -> None:
    with serving(lambda *_: chat("(wash cup)")) as stub:
        answer = model(stub, name).answer(Request(user_messages("hi"), constraint=constraint))
    assert answer.enforced is enforced
    sent = {
        key: stub.payloads[0][key]
        for key in ("structured_outputs", "grammar", "response_format")
        if key in stub.payloads[0]
    }
    assert sent == field


def test_a_choice_as_a_schema_is_unpacked() -> None:
    with serving(lambda *_: chat(json.dumps({"answer": "(wash cup)"}))) as stub:
        answer = model(stub).answer(Request(user_messages("hi"), constraint=CUPS))
    assert (answer.text, answer.enforced, answer.met) == ("(wash cup)", Enforced.AS_SCHEMA, True)
    schema = stub.payloads[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == list(CUPS.texts)


def stream(*events: str, kind: str = "text/event-stream; charset=utf-8") -> Reply:
    body = "".join([f"data: {event}\n\n" for event in events])
    return Reply(body.encode(), headers={"content-type": kind})


def event(text: str = "", finish: str | None = None, **more: object) -> str:
    return json.dumps({"choices": [{"delta": {"content": text, **more}, "finish_reason": finish}], "model": "stub-1"})


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_a_stream_of_events_is_read(kind: str) -> None:
    usage = json.dumps({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}})
    events = (event("(wash "), event("cup)"), event(finish="length"), usage, "[DONE]")
    with serving(lambda *_: stream(*events, kind=kind)) as stub:
        answer = model(stub).answer(HI)
    assert stub.request_counts["hi"] == 1
    assert (answer.text, answer.finish) == ("(wash cup)", Finish.LENGTH)
    assert (answer.prompt_tokens, answer.completion_tokens, answer.model) == (5, 2, "stub-1")


@pytest.mark.parametrize(
    "reply",
    [
        stream(event("(wash ")),
        stream("no JSON"),
        stream(event(tool_calls=[{"function": {"name": "wash"}}]), event(finish="tool_calls")),
        stream(json.dumps({"error": {"message": "overloaded"}})),
        stream(),
    ],
    ids=["cut", "garbage", "tool calls", "error", "empty"],
)
def test_an_unreadable_stream_is_not_retried(reply: Reply) -> None:
    with serving(lambda *_: reply) as stub:
        error = call_and_get_error(stub)
    assert (error.diagnostic.code, stub.request_counts["hi"]) == (SC.MODEL_FAILED, 1)


def test_a_server_that_ignores_the_constraint_is_reported() -> None:
    with serving(lambda *_: chat("Sure! (wash cup)")) as stub:
        answer = model(stub, "vllm/m").answer(Request(user_messages("hi"), constraint=CUPS))
    assert (answer.enforced, answer.met) == (Enforced.NATIVE, False)


def test_a_refused_field_is_omitted_and_recorded() -> None:
    def script(_: str, __: int, payload: dict[str, Any]) -> Reply:
        for field in ("structured_outputs", "seed", "max_tokens"):
            if field in payload:
                return wrong(400, f"unknown field {field}", param=field)
        return chat("free")

    with serving(script) as stub:
        vllm = model(stub, "vllm/m")
        answer = vllm.answer(Request(user_messages("hi"), seed=1, constraint=CUPS))
        assert (answer.text, answer.enforced, answer.met) == ("free", Enforced.NOT, False)
        assert [note.split(":")[0] for note in answer.notes] == [
            f"asked without {field}" for field in ("max_tokens", "seed", "structured_outputs")
        ]
        assert stub.payloads[-1]["max_completion_tokens"] == 1024
        vllm.answer(Request(user_messages("again"), seed=1))
    assert stub.request_counts["again"] == 1


def test_requests_and_answers_of_ollama() -> None:
    body = {
        "model": "qwen3",
        "message": {"content": '{"answer": "(wash cup)"}', "thinking": "hm"},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 5,
        "eval_count": 2,
    }
    with serving(lambda *_: Reply(json.dumps(body).encode())) as stub:
        ollama = model(stub, "ollama/qwen3")
        answer = ollama.answer(Request(user_messages("hi"), 9, seed=2, stop=("x",), constraint=CUPS))
    expected = Answer("(wash cup)", Finish.STOP, Enforced.AS_SCHEMA, True, 2, 5, 2, model="qwen3")
    assert answer == expected
    assert stub.paths == ["/api/chat"]
    assert stub.payloads[0]["options"] == {"num_predict": 9, "temperature": 0.0, "top_p": 1.0, "seed": 2, "stop": ["x"]}


def test_a_batch_survives_failures_and_can_be_resumed(tmp_path: Path) -> None:
    is_repaired = False

    def script(prompt: str, number: int, _: dict[str, Any]) -> Reply:
        kind = int(prompt) % 6
        if kind == 1 and number == 1:
            return wrong(429, headers={"Retry-After": "0.01"})
        if kind == 2 and number < 3:
            return wrong(500)
        if kind == 3 and number == 1:
            return chat("x")._replace(cut=True)
        if kind == 4 and not is_repaired:
            return Reply(b"garbage")
        return chat(f"answer {prompt}")._replace(delay=0.01)

    requests = [Request(user_messages(str(n))) for n in [*range(30), 0, 1]]
    progress = []
    with serving(script) as stub, Cache(str(tmp_path / "a.sqlite")) as cache:
        first = ask_all(model(stub), requests, cache, progress.append)
        failed = {n for n, outcome in enumerate(first) if isinstance(outcome, Failure)}
        assert failed == set(range(4, 30, 6))
        before, is_repaired = dict(stub.request_counts), True
        second = ask_all(model(stub), requests, cache)
    assert [answer.text for answer in second if isinstance(answer, Answer)] == [
        f"answer {request.messages[0].text}" for request in requests
    ]
    assert all([stub.request_counts[str(n)] == before[str(n)] + (n in failed) for n in range(30)])
    assert (progress[-1].total, progress[-1].done, progress[-1].failed) == (32, 32, 5)
    assert 1 < stub.most_at_once <= 4


def test_a_wrong_key_ends_a_batch_at_once() -> None:
    with serving(lambda *_: wrong(401)) as stub:
        outcomes = ask_all(model(stub), [Request(user_messages(str(n))) for n in range(200)])
    assert all([isinstance(o, Failure) and o.diagnostic.code == SC.MODEL_KEY for o in outcomes])
    assert sum(stub.request_counts.values()) <= 4
