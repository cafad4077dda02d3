"""The commands ``serve`` and ``mcp``: the doors for robots and agents, with the limits of the service as flags."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys

from plansafe.app.interfaces.agents.limits import Limits
from plansafe.app.interfaces.http.api_key import VARIABLE, read_key
from plansafe.app.options.option import changed, command, integer, number, text
from plansafe.app.options.shared import Assignments, MemoryLimit
from plansafe.app.system.process import complain, for_a_program, guarded
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.extras import how_to_install

_MIB = 1024 * 1024


class ServerOptions(MemoryLimit, Assignments, group="Limits"):
    """The options of both servers."""

    workers: int = integer("--workers", metavar="N", default=2, low=1, high=256, help="Audit in N processes.")
    time_limit: float = number(
        "--time-limit",
        metavar="SECONDS",
        default=30.0,
        low=0.1,
        high=3600,
        help="Stop a request after SECONDS.",
    )
    memory_limit: int = changed(
        MemoryLimit.memory_limit, default=2048, low=128, help="Limit the memory of each process.", group="Limits"
    )
    sessions: int = integer(
        "--sessions",
        metavar="N",
        default=64,
        low=1,
        high=10_000,
        help="Keep at most N sessions open.",
        key="serve.sessions",
        only_set=True,
    )
    idle: float = number(
        "--idle",
        metavar="SECONDS",
        default=900.0,
        low=1,
        help="Close a session without requests after SECONDS.",
        key="serve.idle",
        only_set=True,
    )
    model: str | None = text(
        "--model",
        "-m",
        metavar="PROVIDER/NAME",
        help="Let this model write rules for `formalise`.",
        group="Model",
    )


class HttpOptions(ServerOptions, group="Network"):
    """The options of ``serve http``."""

    host: str = text(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="Listen at this address; another than loopback needs a key.",
    )
    port: int = integer(
        "--port", metavar="N", default=8731, low=0, high=65535, help="Listen at this port; 0: any that is free."
    )
    key_file: str | None = text(
        "--key-file", metavar="FILE", help=f"Read the API key from this file; else from the variable {VARIABLE}."
    )
    allow_host: tuple[str, ...] = text(
        "--allow-host",
        metavar="NAME",
        many=True,
        help="Accept requests for this host name. May be repeated.",
    )
    step_limit: float = number(
        "--step-limit",
        metavar="SECONDS",
        default=2.0,
        low=0.01,
        high=600,
        help="Stop a request to a session after SECONDS.",
        key="serve.step_limit",
        only_set=True,
    )
    waiting: int = integer(
        "--waiting",
        metavar="N",
        default=2000,
        low=1,
        help="Let at most N requests wait.",
        key="serve.waiting",
        only_set=True,
    )
    body_limit: int = integer(
        "--body-limit",
        metavar="MIB",
        default=32,
        low=1,
        high=1024,
        help="Refuse requests with a larger body.",
        key="serve.body_limit",
        only_set=True,
    )
    client_limit: float = number(
        "--client-limit",
        metavar="SECONDS",
        default=30.0,
        low=0.1,
        help="Disconnect clients that send or read nothing for SECONDS.",
        key="serve.client_limit",
        only_set=True,
    )


class McpOptions(ServerOptions):
    """The options of ``serve mcp``."""

    workers: int = changed(ServerOptions.workers, default=1, key="serve.workers", only_set=True)
    sessions: int = changed(ServerOptions.sessions, default=8)
    idle: float = changed(ServerOptions.idle, default=3600.0)


@command(HttpOptions)
def serve(options: HttpOptions) -> int:
    """Answer over HTTP: judge, repair and diagnose plans, and watch robots, one session each.

    GET /openapi.json describes it. Only what is shipped is read, nothing is written. Ends with an interrupt.
    """
    limits = Limits(options.time_limit, options.memory_limit, options.model)

    def work() -> int:
        if (wrong := _no_model(options.model)) is not None:
            return complain(wrong)
        key = read_key(options.key_file, os.environ)
        if isinstance(key, Diagnostic):
            return complain(key)
        if key is None and not _loopback(options.host):
            advice = f"set {VARIABLE}, or name a file with --key-file"
            return complain(
                Diagnostic(SC.BAD_KEY, f"{options.host} can be reached by others, and there is no key", help=advice)
            )
        try:
            import uvicorn  # noqa: PLC0415 - of the extra `serve`

            from plansafe.app.interfaces.http.allowed_hosts import read_hosts  # noqa: PLC0415 - what is loaded here, no mistake needs
            from plansafe.app.interfaces.http.api_key import Lock  # noqa: PLC0415
            from plansafe.app.interfaces.http.application import Bounds, application  # noqa: PLC0415
            from plansafe.app.interfaces.http.bounded_protocol import bounded  # noqa: PLC0415
        except ModuleNotFoundError as error:
            return complain(_missing(error, "serve"))
        bounds = Bounds(
            limits,
            options.workers,
            options.waiting,
            options.sessions,
            options.idle,
            options.step_limit,
            options.body_limit * _MIB,
        )._replace(body_seconds=options.client_limit)
        hosts = read_hosts(list(options.allow_host), _loopback(options.host))
        if isinstance(hosts, Diagnostic):
            return complain(hosts)
        listening = open_listening_socket(options.host, options.port)
        if isinstance(listening, Diagnostic):
            return complain(listening)
        app = application(bounds, Lock(key), hosts)
        config = uvicorn.Config(
            app,
            host=options.host,
            port=options.port,
            http=bounded(options.client_limit),
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=4 * options.waiting,
            timeout_graceful_shutdown=5,
            h11_max_incomplete_event_size=32 * 1024,
        )
        return _Server.run_until_interrupted(config, listening)

    return guarded(work)


class _Server:
    """uvicorn, which says where it listens once it does."""

    @staticmethod
    def run_until_interrupted(config: object, listening: socket.socket) -> int:
        """Serve until the process is asked to end; an exit code."""
        import uvicorn  # noqa: PLC0415 - of the extra `serve`

        class Server(uvicorn.Server):
            async def startup(self, sockets: object = None) -> None:
                await super().startup(sockets)  # type: ignore[arg-type] # as it was given
                host, port = listening.getsockname()[:2]
                shown = f"[{host}]" if ":" in host else host
                print(f"safecheck serves at http://{shown}:{port}", file=sys.stderr, flush=True)

        assert isinstance(config, uvicorn.Config)
        server = Server(config)
        server.run(sockets=[listening])
        return 0 if server.started else 2


def open_listening_socket(host: str, port: int) -> socket.socket | Diagnostic:
    """Open the socket to listen on; a diagnostic says why it failed, such as a port that another program has."""
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        why = (getattr(error, "strerror", None) or "it is no name").lower()
        advice = "an address of this machine: 127.0.0.1, or 0.0.0.0 for all"
        return Diagnostic(SC.BAD_OPTION, f"cannot listen at {host[:60]!a}: {why}", help=advice)
    why = "it has no address"
    for family, kind, protocol, _, address in places:
        try:
            # asyncio sets TCP_NODELAY only on connections of a socket whose protocol is IPPROTO_TCP, not 0.
            listening = socket.socket(family, kind, protocol)
        except OSError as error:  # a family that this machine does not have
            why = (error.strerror or "no socket").lower()
            continue
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
        except OSError as error:
            listening.close()
            why = (error.strerror or "it cannot be had").lower()
            continue
        return listening
    advice = "another program may listen there: --port N for another one, --port 0 for any that is free"
    return Diagnostic(SC.BAD_OPTION, f"cannot listen at port {port} of {host}: {why}", help=advice)


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _no_model(name: str | None) -> Diagnostic | None:
    """Why a model cannot be asked, told at once and not to the first who asks for a rule."""
    if name is None:
        return None
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415 - where a model is named
    from plansafe.llm.models.providers import named  # noqa: PLC0415

    try:
        named(name)
    except ModelError as error:
        return error.diagnostic
    return None


def _missing(error: ModuleNotFoundError, extra: str) -> Diagnostic:
    """What to install. A module of ours that is missing is a bug, and stays one."""
    if (error.name or "").startswith("plansafe"):
        raise error
    return Diagnostic(SC.DOOR_PACKAGE_MISSING, f"the package {error.name} is not installed", help=how_to_install(extra))


@command(McpOptions)
def mcp(options: McpOptions) -> int:
    """Answer an agent over standard input and output by the Model Context Protocol.

    Tools judge, repair and diagnose plans, and watch what an agent does; resources are the shipped rules and worlds.
    """

    def work() -> int:
        if (wrong := _no_model(options.model)) is not None:
            return complain(wrong)
        try:
            from plansafe.app.interfaces.agents.mcp_server import run  # noqa: PLC0415 - of the extra `mcp`
        except ModuleNotFoundError as error:
            return complain(_missing(error, "mcp"))
        for_a_program("an agent's client", "docs/agents.md")
        return run(
            Limits(options.time_limit, options.memory_limit, options.model),
            options.workers,
            options.sessions,
            options.idle,
        )

    return guarded(work)
