"""Hostile bytes before an answer: endless heads, cut chunks, answers without a request."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from raw_server import make_response, read_request, run_raw_server
from stub_server import chat, serving

from plansafe.grammar.codes import SC
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.batch import ask_all
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model, ModelError
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import Request, user_messages
from plansafe.llm.models.transport import Tries

pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")

QUICK = Tries(most=2, first_wait=0.01, longest_wait=0.02, patience=2.0, timeout=0.3)
HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
HI = Request(user_messages("hi"))


def model(url: str, timeout: float = 60.0) -> Model:
    tries = QUICK._replace(timeout=timeout)
    return open_model("openai/m", Settings(base_url=url, tries=tries, environment={}, connections=2))


def sends(*parts: bytes) -> Callable[[socket.socket, int], None]:
    def talk(caller: socket.socket, _: int) -> None:
        for part in parts:
            caller.sendall(part)

    return talk


def drips(first: bytes, again: bytes, pause: float = 0.05) -> Callable[[socket.socket, int], None]:
    """Send ``first``, then ``again`` as long as the caller listens."""

    def talk(caller: socket.socket, _: int) -> None:
        caller.sendall(first)
        while True:
            caller.sendall(again)
            time.sleep(pause)

    return talk


def resets(caller: socket.socket, _: int) -> None:
    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


TALKS = {
    "nothing": sends(),
    "a reset": resets,
    "no HTTP": sends(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "bytes": sends(bytes(range(256)) * 40),
    "a number for a status": sends(b"HTTP/1.1 99999999999 OK\r\n\r\n"),
    "a head that is cut": sends(HEAD + b"Content-Le"),
    "a header without a name": sends(HEAD + b": x\r\n\r\n"),
    "a length below nothing": sends(HEAD + b"Content-Length: -1\r\n\r\n{}"),
    "two lengths": sends(HEAD + b"Content-Length: 2\r\nContent-Length: 200\r\n\r\n{}"),
    "a length of a hundred digits": sends(HEAD + b"Content-Length: " + b"9" * 100 + b"\r\n\r\n{}"),
    "a body that is cut": sends(make_response("ok")[:-10]),
    "a chunk that is cut": sends(CHUNKED + b'ff\r\n{"choices"'),
    "chunks without an end": sends(CHUNKED + b'8\r\n{"choice\r\n'),
    "a chunk of a strange size": sends(CHUNKED + b"-5\r\nabc\r\n"),
    "a chunk of all memory": sends(CHUNKED + b"f" * 15 + b"\r\nabc\r\n"),
    "headers without end": drips(HEAD, b"X-A: " + b"a" * 60_000 + b"\r\n", 0),
    "a head that drips": drips(HEAD, b"x"),
    "interim answers that drip": drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "interim answers without end": drips(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100, 0),
    "a body that drips": drips(HEAD + b"Content-Length: 900000\r\n\r\n", b"["),
    "a size of a chunk that drips": drips(CHUNKED, b"0"),
    "a trailer that drips": drips(CHUNKED + b"0\r\n", b"X: y\r\n"),
    "chunks of one byte, at once": drips(CHUNKED, b"1\r\n[\r\n" * 5_000, 0),
}


@pytest.mark.parametrize("name", TALKS)
def test_hostile_bytes_fail_only_their_request(name: str) -> None:
    with run_raw_server(TALKS[name]) as (url, request_numbers), pytest.raises(ModelError) as caught:
        model(url, QUICK.timeout).answer(HI)
    assert (caught.value.diagnostic.code, caught.value.fatal) == (SC.MODEL_FAILED, False)
    assert len(request_numbers) == QUICK.most
    assert caught.value.diagnostic.message.isprintable()
    assert len(caught.value.diagnostic.message) < 600


@pytest.mark.parametrize("name", ["a reset", "a chunk that is cut", "a head that drips", "interim answers without end"])
def test_the_request_is_retried_and_others_are_answered(name: str, tmp_path: Path) -> None:
    def talk(caller: socket.socket, number: int) -> None:
        if number % 3 == 1:
            TALKS[name](caller, number)
        else:
            caller.sendall(make_response("ok"))

    with run_raw_server(talk) as (url, request_numbers), Cache(str(tmp_path / "a.sqlite")) as cache:
        outcomes = ask_all(model(url, 2.0), [Request(user_messages(str(n))) for n in range(4)], cache)
        second_outcomes = ask_all(model(url, 2.0), [Request(user_messages(str(n))) for n in range(4)], cache)
    assert [outcome.text for outcome in second_outcomes if isinstance(outcome, Answer)] == ["ok"] * 4
    assert len([outcome for outcome in outcomes if isinstance(outcome, Answer)]) >= 2
    assert len(request_numbers) < 12


def test_an_answer_sent_early_answers_no_other_request() -> None:
    """A second answer after the first must not become the answer to the next prompt."""
    bodies = []

    def talk(caller: socket.socket, _: int) -> None:
        caller.sendall(make_response("first", keep=True) + make_response("smuggled", keep=True))
        time.sleep(0.2)
        if body := read_request(caller):
            bodies.append(body)
            caller.sendall(make_response("late", keep=True))

    with run_raw_server(talk) as (url, request_numbers):
        client = model(url)
        texts = [client.answer(Request(user_messages(str(n)))).text for n in range(4)]
    assert texts == ["first"] * 4
    assert len(request_numbers) == 4


def test_calls_that_hang_do_not_outlast_the_run() -> None:
    """Threads that wait in a read end at their deadline; otherwise they would accumulate in a long run."""
    with run_raw_server(TALKS["a head that drips"]) as (url, _):
        before = threading.active_count()
        ask_all(model(url, QUICK.timeout), [Request(user_messages(str(n))) for n in range(4)])
        while threading.active_count() > before + 4 * QUICK.most:
            time.sleep(0.01)


def test_a_proxy_of_the_environment_is_used_unless_excluded(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda *_: chat("ok")) as stub:
        monkeypatch.setenv("http_proxy", stub.url)
        assert model("http://models.invalid/v1").answer(HI).text == "ok"
        assert stub.paths == ["http://models.invalid/v1/chat/completions"]
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert model(f"{stub.url}/v1").answer(HI).text == "ok"
    for broken in ("ftp://box:1", "http://[bad", "http://:1", "http://u:secret-0123456@[bad"):
        monkeypatch.setenv("http_proxy", broken)
        with pytest.raises(ModelError) as caught:
            model("http://models.invalid/v1")
        assert caught.value.diagnostic.code == SC.BAD_OPTION
        assert "secret" not in repr(caught.value.diagnostic)
