"""Test the service over loopback: answers, independent sessions, keys, allowed hosts."""

from __future__ import annotations

import asyncio
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from agents_server import BOMB, BOMB_PROBLEM, BOMB_RULE, KEY, SAFE, SERVE, TASK, UNSAFE, connect, serving
from load import flood

from plansafe.app.interfaces.agents.operation_fields import answer_schema
from plansafe.app.interfaces.cli.serve import open_listening_socket
from plansafe.app.interfaces.http.api_key import Lock, read_key
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "ros2"))


def open_session(client: httpx.Client, **fields: Any) -> str:
    answer = client.post("/v1/sessions", json={**TASK, **fields})
    assert answer.status_code == 200, answer.text
    jsonschema.Draft202012Validator(answer_schema("session")).validate(answer.json())
    return f"/v1/sessions/{answer.json()['session']}"


def error_code(answer: httpx.Response) -> str:
    fields = answer.json()
    jsonschema.Draft202012Validator(answer_schema("error")).validate(fields)
    return str(fields["error"]["code"])


def test_audit_and_repair(client: httpx.Client) -> None:
    answer = client.post("/v1/audit", json={**TASK, "plan": UNSAFE})
    assert (answer.status_code, answer.json()["headline"]) == (200, "UNSAFE")
    assert answer.headers["cache-control"] == "no-store"
    answer = client.post("/v1/repair", json={**TASK, "plan": UNSAFE})
    assert answer.json()["repairs"][0]["headline"] == "SAFE"


def test_session_answers_have_their_schemas(client: httpx.Client) -> None:
    session = open_session(client)
    for name, fields, schema in (
        ("allowed", {"action": SAFE}, "advice"),
        ("take", {"action": "(switch-on hob kitchen)", "position": 0}, "advice"),
        ("next", {"ahead": True}, "steps"),
        ("observe", {"facts": ["(on hob)"]}, "difference"),
        ("state", {}, "state"),
    ):
        answer = client.post(f"{session}/{name}", json=fields)
        assert answer.status_code == 200, answer.text
        jsonschema.Draft202012Validator(answer_schema(schema)).validate(answer.json())
    assert client.delete(session).json() == {"closed": True}
    assert error_code(client.post(f"{session}/state", json={})) == SC.NO_SESSION
    assert client.post(f"{session}/allowed", json={"action": SAFE}).status_code == 410
    assert client.post("/v1/sessions/nobody/allowed", json={"action": SAFE}).status_code == 404


def test_step_for_a_past_position_is_refused(client: httpx.Client) -> None:
    session = open_session(client)
    first = client.post(f"{session}/take", json={"action": "(switch-on hob kitchen)", "position": 0})
    again = client.post(f"{session}/take", json={"action": "(switch-off hob kitchen)", "position": 0})
    assert first.json()["position"] == 1
    assert (again.status_code, error_code(again)) == (409, SC.WRONG_POSITION)
    assert "(on hob)" in client.post(f"{session}/state", json={}).json()["facts"]


def test_invalid_observation_changes_nothing(client: httpx.Client) -> None:
    session = open_session(client)
    before = client.post(f"{session}/state", json={}).json()
    answer = client.post(f"{session}/observe", json={"facts": ["(on hob)", "(onn hob)"]})
    assert (answer.status_code, error_code(answer)) == (422, SC.UNKNOWN_PREDICATE)
    assert client.post(f"{session}/state", json={}).json() == before


def test_sessions_are_independent(client: httpx.Client) -> None:
    first, second = open_session(client), open_session(client)
    client.post(f"{first}/take", json={"action": "(switch-on hob kitchen)"})
    assert not client.post(f"{first}/allowed", json={"action": SAFE}).json()["allowed"]
    assert client.post(f"{second}/allowed", json={"action": SAFE}).json()["allowed"]


def test_session_is_refused_if_rules_cannot_be_monitored(client: httpx.Client) -> None:
    unknown = TASK["problem"].replace("(:init ", "(:init (unknown (on hob)) ")
    timed = TASK["problem"].replace("(:init ", "(:init (at 5 (on hob)) ")
    for problem in (unknown, timed):
        answer = client.post("/v1/sessions", json={**TASK, "problem": problem})
        assert (answer.status_code, error_code(answer)) == (422, SC.TASK_NOT_MONITORABLE), answer.text
    answer = client.post("/v1/sessions", json={**TASK, "rules": [], "default_rules": False})
    assert error_code(answer) == SC.GATE_WITHOUT_RULES


@pytest.mark.slow
def test_concurrent_requests_have_their_own_answers(address: str) -> None:
    assert asyncio.run(flood(address, 300, None)) == {"SAFE": 150, "UNSAFE": 150}


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/v1/rules/..%2F..%2Fetc%2Fpasswd",
        "/v1/rules/%2Fetc%2Fpasswd",
        "/v1/rules/..",
        "/v1/domains/..%5C..%5Cx",
        "/v1/worlds/%00",
        "/v1/explain/..%2FSC201",
        "/v1/sessions/..%2F..%2Faudit/allowed",
        "//etc/passwd",
        "/openapi.json/../../x",
    ],
)
def test_request_paths_reach_no_files(address: str, path: str) -> None:
    with connect(address) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.split(b" ", 2)[1] in (b"400", b"404", b"405"), answer
    assert b"root:" not in answer


def test_foreign_hosts_and_content_types_are_refused(client: httpx.Client) -> None:
    assert client.get("/health", headers={"host": "evil.example"}).status_code == 400
    answer = client.post("/v1/audit", content=b"{}", headers={"content-type": "text/plain"})
    assert (answer.status_code, error_code(answer)) == (415, SC.BAD_REQUEST)
    assert "access-control-allow-origin" not in client.get("/health", headers={"origin": "http://evil.example"}).headers


@pytest.mark.slow
def test_endless_request_does_not_affect_others(address: str) -> None:
    """A request that no limit of the engine ends is refused; other requests and sessions go on."""
    with (
        serving("--time-limit", "4", "--set", "serve.step_limit=4", "--workers", "1") as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        session = open_session(client)
        bomb = {"domain": BOMB, "problem": BOMB_PROBLEM, "rules": [BOMB_RULE]}
        answer = client.post("/v1/audit", json={**bomb, "plan": "(boom)"})
        assert answer.status_code == 504 or answer.json()["headline"] == "UNKNOWN", answer.text
        bomb_session = client.post("/v1/sessions", json=bomb)
        if bomb_session.status_code == 200:
            bomb_url = f"/v1/sessions/{bomb_session.json()['session']}"
            advice = client.post(f"{bomb_url}/allowed", json={"action": "(boom)"})
            assert advice.status_code == 504, advice.text
            assert client.post(f"{bomb_url}/state", json={}).status_code == 410
        assert client.post("/v1/audit", json={**TASK, "plan": SAFE}).json()["headline"] == "SAFE"
        assert client.post(f"{session}/allowed", json={"action": SAFE}).json()["allowed"]


@pytest.mark.slow
def test_service_with_a_key_and_two_sessions() -> None:
    """Requests without the key are refused. Sessions are limited in number and expire."""
    with (
        serving("--sessions", "2", "--idle", "4", "--workers", "1", SAFECHECK_API_KEY=KEY) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        for headers in ({}, {"authorization": "Bearer x"}, {"authorization": f"Basic {KEY}"}, {"x-api-key": KEY[:-1]}):
            for method, path in (("GET", "/v1/catalogue"), ("POST", "/v1/audit"), ("DELETE", "/v1/sessions/x")):
                answer = client.request(method, path, headers=headers)
                assert (answer.status_code, error_code(answer)) == (401, SC.BAD_KEY)
        assert client.get("/v1/catalogue", headers={"x-api-key": KEY}).status_code == 200
        client.headers["authorization"] = f"Bearer {KEY}"
        first, second = open_session(client), open_session(client)
        full = client.post("/v1/sessions", json=TASK)
        assert (full.status_code, error_code(full)) == (503, SC.SERVICE_LIMIT)
        assert full.headers["retry-after"]
        for session in (first, second):
            deadline = time.monotonic() + 600
            while client.post(f"{session}/state", json={}).status_code != 410:
                assert time.monotonic() < deadline
                time.sleep(6)
        open_session(client)


def test_keys_are_read_and_compared(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n", encoding="utf-8")
    assert read_key(str(file), {}) == KEY
    assert read_key(None, {}) is None
    for text in ("short", "", "with a blank in the middle", "ü" * 20):
        assert isinstance(read_key(None, {"SAFECHECK_API_KEY": text}), Diagnostic)
    assert isinstance(read_key(str(tmp_path / "none"), {}), Diagnostic)
    lock = Lock(KEY)
    assert lock.accepts({"x-api-key": KEY})
    assert not lock.accepts({"x-api-key": KEY + "x"})
    assert not lock.accepts({"authorization": "Bearer \udcff"})
    assert Lock(None).accepts({})


def test_listening_on_all_addresses_needs_a_key() -> None:
    process = subprocess.run([*SERVE, "--host", "0.0.0.0"], capture_output=True, text=True, check=False, timeout=600)
    assert process.returncode == 2
    assert SC.BAD_KEY in process.stderr


def test_client_of_the_example(address: str) -> None:
    from safecheck_client import Gate, Refused

    gate = Gate(address, dict(TASK), seconds=30.0)
    gate.took("(switch-on hob kitchen)")
    assert gate.allowed(SAFE) == (False, "stove-off-before-leaving: a stove is on in kitchen")
    assert gate.saw(["(not (on hob))"]) == []
    assert "(go kitchen hall)" in gate.safe_steps()
    assert gate.allowed(SAFE) == (True, "")
    gate.close()
    allowed, reason = gate.allowed(SAFE)
    assert not allowed
    assert "ended" in reason
    with pytest.raises(Refused):
        gate.took(SAFE)


@pytest.fixture(scope="module")
def openapi(address: str) -> Iterator[Any]:
    yield httpx.get(f"{address}/openapi.json", timeout=60).json()


def test_openapi_document_is_served(openapi: Any) -> None:
    assert openapi["openapi"].startswith("3.1")
    assert json.dumps(openapi).count("report") > 1


def test_accepted_connections_send_without_delay() -> None:
    async def nodelay_option() -> int:
        listening = open_listening_socket("127.0.0.1", 0)
        assert isinstance(listening, socket.socket)
        socket_option: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def read_option(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            socket_option.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        server = await asyncio.start_server(read_option, sock=listening)
        async with server:
            _, writer = await asyncio.open_connection(*listening.getsockname())
            option = await asyncio.wait_for(socket_option, 60)
            writer.close()
        return option

    assert asyncio.run(nodelay_option())


@pytest.mark.slow
def test_reused_connection_is_as_fast_as_a_new_one(address: str) -> None:
    def health_seconds(client: httpx.Client) -> float:
        start = time.perf_counter()
        assert client.get("/health").status_code == 200
        return time.perf_counter() - start

    reused, new = [], []
    with httpx.Client(base_url=address, timeout=120) as client:
        health_seconds(client)
        for _ in range(40):
            reused.append(health_seconds(client))
            with httpx.Client(base_url=address, timeout=120) as fresh:
                new.append(health_seconds(fresh))
    # Without TCP_NODELAY each kept answer waits 40 ms for an acknowledgement, 15 times as long as new ones.
    assert statistics.median(reused) < 4 * statistics.median(new)
