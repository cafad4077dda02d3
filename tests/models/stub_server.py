"""A model server on the loopback address that misbehaves as a script prescribes and counts its requests."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """A reply of the server. ``cut``: the server announces more than it sends and hangs up. ``delay``: in seconds."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})
    cut: bool = False
    delay: float = 0.0
    drip: float = 0.0


def chat(text: str, **more: Any) -> Reply:
    """Return a valid answer of OpenAI's protocol."""
    message = {"role": "assistant", "content": text, **more}
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 7}}
    body = {"model": "stub-1", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    return Reply(json.dumps(body).encode())


def wrong(status: int, message: str = "busy", headers: dict[str, str] | None = None, **more: str) -> Reply:
    """Return an error in the form that servers use."""
    return Reply(json.dumps({"error": {"message": message, **more}}).encode(), status, headers or {})


class Stub:
    """``script`` answers the n-th call (from 1) for a prompt; the server records all requests."""

    def __init__(self, script: Callable[[str, int, dict[str, Any]], Reply]) -> None:
        self._script = script
        self._lock = threading.Lock()
        self.request_counts: Counter[str] = Counter()
        self.payloads: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.at_once = self.most_at_once = 0
        self.url = ""

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> Reply:
        payload = json.loads(body)
        prompt = payload["messages"][-1]["content"]
        with self._lock:
            self.request_counts[prompt] += 1
            number = self.request_counts[prompt]
            self.payloads.append(payload)
            self.headers.append(headers)
            self.paths.append(path)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            reply = self._script(prompt, number, payload)
            time.sleep(reply.delay)
        finally:
            with self._lock:
                self.at_once -= 1
        return reply


@contextmanager
def serving(script: Callable[[str, int, dict[str, Any]], Reply]) -> Iterator[Stub]:
    """Run the server while the block runs."""
    stub = Stub(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            reply = stub.answer(self.path, dict(self.headers), body)
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(reply.body) + (1000 if reply.cut else 0)))
                self.end_headers()
                if reply.drip:
                    for byte in reply.body:
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                        time.sleep(reply.drip)
                else:
                    self.wfile.write(reply.body)
            except OSError:
                return
            if reply.cut:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_: object) -> None:
            pass  # clients that are killed hang up

    server = Server(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
