"""The host names that the service accepts in requests, as protection against DNS rebinding in a browser."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

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
