"""Names under which the service may be asked for: a page in a browser that calls this machine by another is refused."""

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
    """Names without ports, in lower case; ``*`` is any, ``*.home.example`` what ends so."""

    names: tuple[str, ...] = ("*",)

    def know(self, header: str) -> bool:
        """Whether the service is asked for under a name of its own. ``header`` may have a port."""
        if "*" in self.names:
            return True
        text = header.strip().lower()
        name = text[1:].partition("]")[0] if text.startswith("[") else text.partition(":")[0]
        return any([name == one or (one.startswith("*.") and name.endswith(one[1:])) for one in self.names])


def read_hosts(given: list[str], loopback: bool) -> Hosts | Diagnostic:
    """The names that flags give; else those of this machine where it listens to itself alone, and any elsewhere."""
    for name in given:
        if _NAME.fullmatch(name.strip("[]")) is None:
            advice = "a name or address without a port, `*.home.example` for all below it, or `*` for any"
            return Diagnostic(SC.BAD_OPTION, f"--allow-host takes the name of a host, not {name[:60]!a}", help=advice)
    if given:
        return Hosts(tuple([name.strip("[]").lower() for name in given]))
    return Hosts(LOOPBACK if loopback else ("*",))


class OnlyFor:
    """Passes on what asks for one of some names; anything else is ``refused``."""

    def __init__(self, app: App, hosts: Hosts, refused: App) -> None:
        self._app = app
        self._hosts = hosts
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """As ASGI has it."""
        headers = scope.get("headers", ()) if scope["type"] == "http" else ()
        said = [value.decode("latin-1") for name, value in headers if name == b"host"]
        known = scope["type"] != "http" or (len(said) == 1 and self._hosts.know(said[0]))
        await (self._app if known else self._refused)(scope, receive, send)
