"""Calls over HTTP that are tried again: bounded in time and size, and silent about keys.

Keys of services: kept out of all output, and taken out of whatever a server sends back.

Addresses of servers: checked before anything is sent, so that no key goes where it should not.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.port import Cancelled, ModelError
from plansafe.llm.models.received import MOST_BYTES, Garbage, complaint, inner, read_events, read_object, short
from plansafe.llm.models.request import canonical
from plansafe.verifier.extras import how_to_install

if TYPE_CHECKING:
    from plansafe.llm.models.pool import Response


_AGAIN = frozenset((408, 409, 429))
_REFUSED = frozenset((400, 413, 422))
_KEY = frozenset((401, 403))
_OUT_OF_MONEY = ("insufficient_quota", "billing_hard_limit_reached")


class Tries(NamedTuple):
    """How often a call is made, and how long it may take. Times are in seconds.

    Before the next try the wait doubles from ``first_wait`` to ``longest_wait``, give or take half; a server that says
    how long to wait is obeyed up to ``patience``. ``timeout`` is for one try.
    """

    most: int = 5
    first_wait: float = 0.5
    longest_wait: float = 20.0
    patience: float = 120.0
    timeout: float = 600.0


class Refused(Exception):
    """The server refused this request: its message, and the field that it named."""

    def __init__(self, status: int, message: str, field: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.field = field


class _Failure(NamedTuple):
    """A failed try that is repeated. ``wait``: seconds that the server asked for. ``lasting``: no server answers."""

    reason: str
    wait: float | None = None
    lasting: bool = False


class Transport:
    """A pool of connections to one server. Raises :class:`ModelError` where httpx is not installed."""

    def __init__(self, url: str, key: Key, tries: Tries, connections: int, start_help: str) -> None:
        try:
            from plansafe.llm.models import pool  # noqa: PLC0415 - 100 ms, and for remote models alone
        except ImportError as error:
            message = f"models over HTTP need httpx, which is not installed: {how_to_install('llm')}"
            raise ModelError(
                Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help="see docs/language-models.md"), True
            ) from error
        self.url = url
        self._key = key
        self._tries = tries
        self._start_help = start_help
        self._stop = threading.Event()
        self._line = pool
        try:
            self._pool = pool.Pool(url, connections)
        except (ValueError, RuntimeError) as error:
            message = f"the proxy that the environment names cannot be used: {error}"
            help = "correct HTTP_PROXY or HTTPS_PROXY, or name the server in NO_PROXY"
            raise ModelError(Diagnostic(SC.BAD_OPTION, message, help=help), fatal=True) from None
        self._closed = False

    def cancel(self) -> None:
        """Let calls that wait for another try give up; later calls are made as before."""
        stop, self._stop = self._stop, threading.Event()
        stop.set()

    def close(self) -> None:
        """Close all connections; calls that are under way fail."""
        self.cancel()
        self._closed = True
        self._pool.close()

    def post(self, path: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that the server answers with.

        Raises :class:`Refused` for a refused request, :class:`ModelError` where it does not answer after all
        tries, does not know the model or not the key, and :class:`Cancelled`.
        """
        body = canonical(payload).encode("ascii")
        failure, stop = _Failure(""), self._stop
        for attempt in range(1, self._tries.most + 1):
            outcome = self._once(path, body)
            if not isinstance(outcome, _Failure):
                return outcome
            failure = outcome
            if attempt == self._tries.most or (failure.wait or 0) > self._tries.patience:
                break
            if stop.wait(failure.wait if failure.wait is not None else self._pause(attempt)):
                raise Cancelled
        wait_request = f"; it asks to wait for {failure.wait:.0f} seconds" if failure.wait else ""
        message = f"no answer from {self.url}: {failure.reason}{wait_request}"
        help = self._start_help if failure.lasting else "run the same command again: earlier answers are kept"
        raise ModelError(Diagnostic(SC.MODEL_FAILED, message, help=help), fatal=failure.lasting)

    def _pause(self, attempt: int) -> float:
        longest = min(self._tries.first_wait * 2.0 ** (attempt - 1), self._tries.longest_wait)
        return longest * random.uniform(0.5, 1.5)

    def _once(self, path: str, body: bytes) -> dict[str, Any] | _Failure:
        try:
            response = self._exchange(path, body)
        except (*self._line.ERRORS, *self._line.UNREACHABLE) as error:
            lasting = isinstance(error, self._line.UNREACHABLE)
            return _Failure(self.clean(f"{type(error).__name__} {error}"), lasting=lasting)
        except self._line.TooMuch:
            return _Failure(f"the server sent more than {MOST_BYTES:,} bytes")
        except self._line.TooSlow:
            return _Failure(f"the answer was not complete after {self._tries.timeout:g} seconds")
        except Garbage as error:
            return _Failure(str(error))
        status = response.status
        if status == 200 and _is_stream(response):
            return self._streamed(response.body)
        if status == 200:
            try:
                return read_object(response.body)
            except Garbage as error:
                return _Failure(self.clean(f"the server sent {error}"))
        error_text = self.clean(complaint(response.body)) or f"HTTP status {status}"
        if status in _AGAIN or status >= 500:
            if self._kind(response.body) in _OUT_OF_MONEY:
                raise ModelError(
                    Diagnostic(SC.MODEL_FAILED, f"{self.url} refused the request: {error_text}"), fatal=True
                )
            return _Failure(f"status {status}, {error_text}", _wait_asked(response.headers))
        if status in _REFUSED:
            raise Refused(status, error_text, self._field(response.body))
        raise self._lasting(status, error_text)

    def _streamed(self, body: bytes) -> dict[str, Any]:
        """An answer that the server streams though it was asked not to: the next one would be no different."""
        try:
            completion = read_events(body)
        except Garbage as error:
            message = self.clean(f"{self.url} streams its answer, although that was not requested: {error}")
            help = "switch streaming off in the server, or in the proxy in front of it"
            raise ModelError(Diagnostic(SC.MODEL_FAILED, message, help=help), fatal=True) from None
        if "error" in completion:
            completion.pop("choices")
        return completion

    def _lasting(self, status: int, error_text: str) -> ModelError:
        """The error of every request to this server."""
        if status in _KEY:
            message = f"{self.url} does not accept the key: {error_text}"
            help = "see docs/language-models.md for where keys are read"
            return ModelError(Diagnostic(SC.MODEL_KEY, message, help=help), fatal=True)
        if 300 <= status < 400:
            message = f"{self.url} points to another address (status {status}); keys are not sent on"
            return ModelError(Diagnostic(SC.MODEL_FAILED, message, help="give that address with --base-url"), True)
        help = "check the name of the model and the end of the address (`/v1`)"
        return ModelError(
            Diagnostic(SC.MODEL_FAILED, f"{self.url} refused the request: {error_text} (status {status})", help=help),
            True,
        )

    def _exchange(self, path: str, body: bytes) -> Response:
        """One call. Raises what :meth:`Pool.post` does, :class:`Garbage`, and that all was closed."""
        # An answer that is packed could be a thousand times as large as the bytes received.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "safecheck"}
        headers |= {"Content-Type": "application/json", **self._key.header()}
        if self._closed:
            raise Cancelled
        response = self._pool.post(self.url + path, headers, body, self._tries.timeout, MOST_BYTES)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise Garbage("the server sent a compressed answer, although that was not requested")
        return response

    def clean(self, text: str) -> str:
        """The message of a server, on one line, without the key."""
        return short(self._key.hide(text))

    def hide(self, text: str) -> str:
        """A text without the key."""
        return self._key.hide(text)

    def _kind(self, body: bytes) -> str:
        return self._error_field(body, "code") or self._error_field(body, "type")

    def _field(self, body: bytes) -> str:
        return self._error_field(body, "param")

    def _error_field(self, body: bytes, name: str) -> str:
        try:
            return short(inner(read_object(body), "error", name))
        except Garbage:
            return ""


def _is_stream(response: Response) -> bool:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "text/event-stream" or response.body.lstrip().startswith(b"data:")


def _wait_asked(headers: Mapping[str, str]) -> float | None:
    """The seconds that ``Retry-After`` asks for, as a number or as a date."""
    milliseconds, retry_after = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    for text, unit in ((milliseconds, 1000.0), (retry_after, 1.0)):
        try:
            seconds = float(text) / unit
        except ValueError:
            continue
        if 0 <= seconds < 1e9:
            return seconds
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


_SHORTEST = 8
_HIDDEN = "[key]"


class Key:
    """A key. It is shown, copied and pickled as nothing; :meth:`header` alone gives it out.

    Raises :class:`ModelError` for one that no header can hold: the library would repeat it in its complaint.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str, name: str) -> None:
        if not value.isascii() or not value.isprintable() or " " in value:
            message = f"the key in {name} contains invalid characters, such as a line end or quotation marks"
            raise ModelError(Diagnostic(SC.MODEL_KEY, message, help=f"set {name} again"), fatal=True)
        self._value = value

    def __repr__(self) -> str:
        return _HIDDEN if self._value else "no key"

    def __bool__(self) -> bool:
        return bool(self._value)

    def __reduce__(self) -> str:
        raise TypeError("a key is not copied")

    def header(self) -> dict[str, str]:
        """The header that carries it."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def hide(self, text: str) -> str:
        """A text of a server without the key, which servers like to repeat.

        Words of fewer than eight characters, such as the ``EMPTY`` of local servers, are not secrets, and stay.
        """
        return text.replace(self._value, _HIDDEN) if len(self._value) >= _SHORTEST else text


_MAX_SHOWN = 80


def checked_url(text: str, name: str) -> str:
    """The address without a slash at its end. ``name`` is the flag or variable that gave it.

    Raises :class:`ModelError` for a text that is not a server's address, and for an address with a password or a query:
    these end up in logs.
    """
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_valid = False
    if not is_valid or not text.isascii() or not text.isprintable() or any([c in text for c in ' \\<>"']):
        quoted = "" if "@" in text or "?" in text else f": {text[:_MAX_SHOWN]!a}"
        raise ModelError(
            Diagnostic(
                SC.BAD_OPTION, f"{name} is not an address of a server{quoted}", help="such as http://localhost:8000/v1"
            ),
            fatal=True,
        )
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        message = f"{name} has a password or a query, which would end up in logs"
        raise ModelError(
            Diagnostic(
                SC.BAD_OPTION, message, help="give the key in the provider's variable; see docs/language-models.md"
            ),
            fatal=True,
        )
    return text.rstrip("/")
