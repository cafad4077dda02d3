"""The API key of the service: from an environment variable or a file, compared in constant time.

The host names that the service accepts in requests, as protection against DNS rebinding in a browser.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

VARIABLE = "SAFECHECK_API_KEY"
SHORTEST = 16
_MAX_LENGTH = 4096


def read_key(path: str | None, environment: Mapping[str, str]) -> str | Diagnostic | None:
    """Read the key from a file, or from :data:`VARIABLE` if ``path`` is ``None``. Return ``None`` if no key is set."""
    if path is None:
        key = environment.get(VARIABLE)
        where = f"the variable {VARIABLE}"
    else:
        where = f"the file {path}"
        try:
            with open(path, encoding="utf-8") as file:
                key = file.read(_MAX_LENGTH)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            return Diagnostic(SC.BAD_KEY, f"the key cannot be read from {where}: {reason}", help="use another file")
    if key is None:
        return None
    key = key.strip()
    if len(key) < SHORTEST or not key.isascii() or not key.isprintable() or " " in key:
        message = f"the key in {where} must have at least {SHORTEST} printable ASCII characters and no spaces"
        return Diagnostic(SC.BAD_KEY, message, help="python -c 'import secrets; print(secrets.token_urlsafe(32))'")
    return key


class Lock:
    """Check for one API key. Digests of equal length are compared, so the duration does not depend on the key."""

    def __init__(self, key: str | None) -> None:
        self._digest = None if key is None else _digest(key.encode("ascii"))

    @property
    def locked(self) -> bool:
        """Whether requests need a key."""
        return self._digest is not None

    def accepts(self, headers: Mapping[str, str]) -> bool:
        """Whether the headers have the key, as ``Authorization: Bearer KEY`` or ``X-API-Key: KEY``."""
        if self._digest is None:
            return True
        kind, _, credentials = headers.get("authorization", "").partition(" ")
        request_key = credentials.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")
        return hmac.compare_digest(_digest(request_key.encode("utf-8", "surrogateescape")), self._digest)


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()


LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NAME = re.compile(r"\*|(?:\*\.)?[A-Za-z0-9:._-]+")
Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]


class Hosts(NamedTuple):
    """Host names without ports, in lower case. ``*`` matches any name, ``*.home.example`` any subdomain."""

    names: tuple[str, ...] = ("*",)

    def allows(self, header: str) -> bool:
        """Whether a ``Host`` header, with or without a port, has an allowed name."""
        if "*" in self.names:
            return True
        text = header.strip().lower()
        name = text[1:].partition("]")[0] if text.startswith("[") else text.partition(":")[0]
        return any([name == host or (host.startswith("*.") and name.endswith(host[1:])) for host in self.names])


def read_hosts(option_values: list[str], loopback: bool) -> Hosts | Diagnostic:
    """Return the hosts from options; the default is loopback names for a loopback address, and any name otherwise."""
    for name in option_values:
        if _NAME.fullmatch(name.strip("[]")) is None:
            advice = "use a name or address without a port, `*.home.example` for its subdomains, or `*` for any host"
            return Diagnostic(SC.BAD_OPTION, f"--allow-host expects a host name, not {name[:60]!a}", help=advice)
    if option_values:
        return Hosts(tuple([name.strip("[]").lower() for name in option_values]))
    return Hosts(LOOPBACK if loopback else ("*",))


class HostFilter:
    """Middleware that passes requests for allowed hosts to ``app`` and all others to ``refused``."""

    def __init__(self, app: App, hosts: Hosts, refused: App) -> None:
        self._app = app
        self._hosts = hosts
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Handle an ASGI connection."""
        headers = scope.get("headers", ()) if scope["type"] == "http" else ()
        host_headers = [value.decode("latin-1") for name, value in headers if name == b"host"]
        is_allowed = scope["type"] != "http" or (len(host_headers) == 1 and self._hosts.allows(host_headers[0]))
        await (self._app if is_allowed else self._refused)(scope, receive, send)
