"""Test the service in operation: its page, its metrics, the end of its process."""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from agents_server import BOMB, BOMB_PROBLEM, BOMB_RULE, KEY, SAFE, TASK, run_server, serving

from plansafe.app.interfaces.http.application import Metrics
from plansafe.app.interfaces.http.openapi import POLICY, document, page

LONG_REQUEST = {"domain": BOMB, "problem": BOMB_PROBLEM, "rules": [BOMB_RULE], "plan": "(boom)"}
"""A request that runs until its time limit."""
SAMPLE = re.compile(r'(safecheck_[a-z_]+)(\{[a-z]+="[^"\n]*"(?:,[a-z]+="[^"\n]*")*\})? ([0-9.e+-]+)')


class Elements(HTMLParser):
    """The tags, ids and links of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[dict[str, str]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.append({name: value or "" for name, value in attrs})
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def samples(text: str) -> dict[str, float]:
    """The values of a text in Prometheus format; each line must be a comment or a sample."""
    values = {}
    for line in text.splitlines():
        if line.startswith(("# HELP safecheck_", "# TYPE safecheck_")):
            continue
        match = SAMPLE.fullmatch(line)
        assert match is not None, line
        values[f"{match[1]}{match[2] or ''}"] = float(match[3])
    return values


def test_page_lists_all_operations_and_loads_no_files() -> None:
    description = document(True)
    elements = Elements(page(description))
    assert not elements.open
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(elements.tags)
    ids = {attributes["id"] for attributes in elements.attributes if "id" in attributes}
    operations = [operation for methods in description["paths"].values() for operation in methods.values()]
    assert {operation["operationId"] for operation in operations} <= ids
    for attributes in elements.attributes:
        assert not {name for name in attributes if name.startswith("on") or name in ("src", "style")}
        link = attributes.get("href", "openapi.json")
        assert link == "openapi.json" or link.removeprefix("#") in ids
    for path in description["paths"]:
        assert path in elements.text
    assert "Authorization: Bearer KEY" in elements.text
    assert "Authorization: Bearer KEY" not in Elements(page(document(False))).text


def test_texts_of_the_document_are_escaped() -> None:
    description = json.loads(json.dumps(document(False)).replace("Safety checks", "<img src=x onerror=alert(1)>"))
    text = page(description)
    assert "<img" not in text
    assert "&lt;img src=x" in text


def test_tags_of_operations_are_described() -> None:
    description = document(False)
    names = {tag["name"] for tag in description["tags"] if tag["description"]}
    used = {
        tag for methods in description["paths"].values() for operation in methods.values() for tag in operation["tags"]
    }
    assert used == names


def test_the_page_is_served_with_a_policy(client: httpx.Client) -> None:
    answer = client.get("/docs")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["content-security-policy"] == POLICY
    assert "default-src 'none'" in POLICY
    assert client.post("/docs").status_code == 405


def test_durations_are_counted_in_cumulative_buckets() -> None:
    metrics = Metrics()
    for seconds in (0.0005, 0.3, 99.0):
        metrics.record("audit", 200, seconds)
    metrics.record("audit", 422, 0.2)
    values = samples(metrics.text({"workers": (2, "Worker processes.")}))
    assert values['safecheck_requests_total{operation="audit",status="200"}'] == 3
    assert values['safecheck_requests_total{operation="audit",status="422"}'] == 1
    buckets = [value for name, value in values.items() if "_bucket" in name]
    assert buckets == sorted(buckets)
    assert values['safecheck_request_duration_seconds_bucket{operation="audit",le="0.25"}'] == 2
    assert values['safecheck_request_duration_seconds_bucket{operation="audit",le="30"}'] == 3
    assert values['safecheck_request_duration_seconds_bucket{operation="audit",le="+Inf"}'] == 4
    assert values['safecheck_request_duration_seconds_count{operation="audit"}'] == 4
    assert values['safecheck_request_duration_seconds_sum{operation="audit"}'] == pytest.approx(99.5005)
    assert values["safecheck_workers"] == 2


def test_requests_are_measured_by_operation_and_status(client: httpx.Client) -> None:
    before = samples(client.get("/metrics").text)
    client.post("/v1/audit", json={**TASK, "plan": SAFE})
    client.post("/v1/audit", json={"plam": ""})
    client.get("/v1/nothing/<script>")
    session = client.post("/v1/sessions", json=TASK).json()["session"]
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    after = samples(answer.text)

    def added(name: str) -> float:
        return after[name] - before.get(name, 0)

    assert added('safecheck_requests_total{operation="audit",status="200"}') == 1
    assert added('safecheck_requests_total{operation="audit",status="400"}') == 1
    assert added('safecheck_requests_total{operation="unknown",status="404"}') == 1
    assert added("safecheck_sessions_open") == 1
    assert (after["safecheck_workers"], after["safecheck_body_bytes"]) == (2, 0)
    assert session not in answer.text
    client.delete(f"/v1/sessions/{session}")
    assert samples(client.get("/metrics").text)["safecheck_sessions_open"] == before["safecheck_sessions_open"]


@pytest.mark.slow
def test_metrics_need_the_key() -> None:
    with serving("--workers", "1", SAFECHECK_API_KEY=KEY) as url, httpx.Client(base_url=url, timeout=60) as client:
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers={"x-api-key": KEY}).status_code == 200
        assert client.get("/docs").status_code == 200


class Request(threading.Thread):
    """A request in a thread: its answer, or the error of the connection."""

    def __init__(self, address: str, fields: Any) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._fields = fields
        self.answer: httpx.Response | httpx.HTTPError | None = None
        self.start()

    def run(self) -> None:
        try:
            self.answer = httpx.post(f"{self._address}/v1/audit", json=self._fields, timeout=300)
        except httpx.HTTPError as error:
            self.answer = error


def wait_until_busy(address: str) -> None:
    deadline = time.monotonic() + 300
    while samples(httpx.get(f"{address}/metrics", timeout=60).text)["safecheck_workers_busy"] < 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_terminated_server_finishes_running_requests() -> None:
    with run_server("--workers", "1", "--time-limit", "5") as server:
        assert httpx.post(f"{server.address}/v1/audit", json={**TASK, "plan": SAFE}, timeout=120).status_code == 200
        with httpx.Client(base_url=server.address, timeout=60) as idle:
            idle.get("/health")
            running = Request(server.address, LONG_REQUEST)
            wait_until_busy(server.address)
            server.process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + 120
            with pytest.raises(httpx.HTTPError):  # it may accept until it has read the signal
                while time.monotonic() < deadline:
                    httpx.get(f"{server.address}/health", timeout=60)
            running.join(120)
            assert isinstance(running.answer, httpx.Response), running.answer
            assert running.answer.status_code == 504 or running.answer.json()["headline"] == "UNKNOWN"
        assert server.process.wait(120) == 0
    assert "Traceback" not in "".join(server.printed)


@pytest.mark.slow
def test_terminated_server_waits_at_most_its_limit() -> None:
    with run_server("--workers", "1", "--time-limit", "3000", "--set", "serve.shutdown_limit=1") as server:
        assert httpx.post(f"{server.address}/v1/audit", json={**TASK, "plan": SAFE}, timeout=120).status_code == 200
        running = Request(server.address, LONG_REQUEST)
        wait_until_busy(server.address)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(300) == 0
        running.join(120)
        assert not isinstance(running.answer, httpx.Response) or running.answer.status_code >= 500
