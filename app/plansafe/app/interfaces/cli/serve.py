"""The commands ``serve http`` and ``serve mcp``: the services for robots and agents, and their limits."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys

from plansafe.app.interfaces.agents.worker_messages import Limits
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

    workers: int = integer("--workers", default=2, low=1, high=256, help="Audit in N processes.")
    time_limit: float = number(
        "--time-limit", metavar="SECONDS", default=30.0, low=0.1, high=3600, help="Stop a request after SECONDS."
    )
    memory_limit: int = changed(
        MemoryLimit.memory_limit, default=2048, low=128, help="Limit the memory of each process.", group="Limits"
    )
    sessions: int = integer(
        "--sessions", default=64, low=1, high=10_000, help="Keep at most N sessions open.", set_key="serve.sessions"
    )
    idle: float = number(
        "--idle",
        metavar="SECONDS",
        default=900.0,
        low=1,
        help="Close a session without requests after SECONDS.",
        set_key="serve.idle",
    )
    model: str | None = text(
        "--model", "-m", metavar="PROVIDER/NAME", help="Let this model write rules for `formalise`.", group="Model"
    )


class HttpOptions(ServerOptions, group="Network"):
    """The options of ``serve http``."""

    host: str = text(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="Listen at this address; an address other than loopback needs a key.",
    )
    port: int = integer("--port", default=8731, low=0, high=65535, help="Listen at this port; 0: any free port.")
    key_file: str | None = text(
        "--key-file", metavar="FILE", help=f"Read the API key from this file; else from the variable {VARIABLE}."
    )
    allow_host: tuple[str, ...] = text(
        "--allow-host", metavar="NAME", many=True, help="Accept requests for this host name. May be repeated."
    )
    step_limit: float = number(
        "--step-limit",
        metavar="SECONDS",
        default=2.0,
        low=0.01,
        high=600,
        help="Stop a request to a session after SECONDS.",
        set_key="serve.step_limit",
    )
    waiting: int = integer(
        "--waiting", default=2000, low=1, help="Let at most N requests wait.", set_key="serve.waiting"
    )
    body_limit: int = integer(
        "--body-limit",
        metavar="MIB",
        default=32,
        low=1,
        high=1024,
        help="Refuse requests with a larger body.",
        set_key="serve.body_limit",
    )
    client_limit: float = number(
        "--client-limit",
        metavar="SECONDS",
        default=30.0,
        low=0.1,
        help="Disconnect clients that send or read nothing for SECONDS.",
        set_key="serve.client_limit",
    )
    shutdown_limit: int = integer(
        "--shutdown-limit",
        metavar="SECONDS",
        default=30,
        low=1,
        high=3600,
        help="Wait at most SECONDS for running requests when the service is stopped.",
        set_key="serve.shutdown_limit",
    )


class McpOptions(ServerOptions):
    """The options of ``serve mcp``."""

    workers: int = changed(ServerOptions.workers, default=1, set_key="serve.workers")
    sessions: int = changed(ServerOptions.sessions, default=8)
    idle: float = changed(ServerOptions.idle, default=3600.0)


@command(HttpOptions)
def serve(options: HttpOptions) -> int:
    """Serve over HTTP: audit, repair and diagnose plans, and monitor robots, one session for each robot.

    GET /docs and /openapi.json describe the interface, /metrics measures it. The service reads only shipped files and
    writes no file. An interrupt or SIGTERM ends it after the running requests.
    """
    limits = Limits(options.time_limit, options.memory_limit, options.model)

    def work() -> int:
        if (problem := _model_problem(options.model)) is not None:
            return complain(problem)
        key = read_key(options.key_file, os.environ)
        if isinstance(key, Diagnostic):
            return complain(key)
        if key is None and not _is_loopback(options.host):
            advice = f"set {VARIABLE}, or name a file with --key-file"
            return complain(
                Diagnostic(
                    SC.BAD_KEY, f"{options.host} can be reached from other machines, and no key is set", help=advice
                )
            )
        try:
            import uvicorn  # noqa: PLC0415 - of the extra `serve`

            from plansafe.app.interfaces.http.api_key import Lock, read_hosts  # noqa: PLC0415 - not needed for a usage error
            from plansafe.app.interfaces.http.application import Bounds, application  # noqa: PLC0415
            from plansafe.app.interfaces.http.bounded_protocol import bounded  # noqa: PLC0415
        except ModuleNotFoundError as error:
            return complain(_missing_package(error, "serve"))
        bounds = Bounds(
            limits,
            options.workers,
            options.waiting,
            options.sessions,
            options.idle,
            options.step_limit,
            options.body_limit * _MIB,
        )._replace(body_seconds=options.client_limit)
        hosts = read_hosts(list(options.allow_host), _is_loopback(options.host))
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
            timeout_graceful_shutdown=options.shutdown_limit,
            h11_max_incomplete_event_size=32 * 1024,
        )
        return _Server.run_until_interrupted(config, listening)

    return guarded(work)


class _Server:
    """A uvicorn server that prints its address when it listens."""

    @staticmethod
    def run_until_interrupted(config: object, listening: socket.socket) -> int:
        """Serve until the process is interrupted. Returns an exit code."""
        import uvicorn  # noqa: PLC0415 - of the extra `serve`

        class Server(uvicorn.Server):
            async def startup(self, sockets: object = None) -> None:
                await super().startup(sockets)  # type: ignore[arg-type] # the type of the base class
                host, port = listening.getsockname()[:2]
                url_host = f"[{host}]" if ":" in host else host
                print(f"safecheck serves at http://{url_host}:{port}", file=sys.stderr, flush=True)

        assert isinstance(config, uvicorn.Config)
        server = Server(config)
        # Uvicorn handles the signal itself, and raises it again after the shutdown, which must then have no effect.
        signal.signal(signal.SIGTERM, lambda _number, _frame: None)
        server.run(sockets=[listening])
        return 0 if server.started else 2


def open_listening_socket(host: str, port: int) -> socket.socket | Diagnostic:
    """Open the socket to listen on; a diagnostic if this fails, such as for a port that another program uses."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or "it is not a name").lower()
        advice = "name an address of this machine: 127.0.0.1, or 0.0.0.0 for all addresses"
        return Diagnostic(SC.BAD_OPTION, f"cannot listen at {host[:60]!a}: {reason}", help=advice)
    reason = "it has no address"
    for family, kind, protocol, _, address in addresses:
        try:
            # asyncio sets TCP_NODELAY only on connections of a socket whose protocol is IPPROTO_TCP, not 0.
            listening = socket.socket(family, kind, protocol)
        except OSError as error:  # a family that this machine does not have
            reason = (error.strerror or "no socket").lower()
            continue
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
        except OSError as error:
            listening.close()
            reason = (error.strerror or "it is not available").lower()
            continue
        return listening
    advice = "another program may use it: choose another port with --port N, or any free port with --port 0"
    return Diagnostic(SC.BAD_OPTION, f"cannot listen at port {port} of {host}: {reason}", help=advice)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _model_problem(name: str | None) -> Diagnostic | None:
    """The reason why a model cannot be used, reported at startup and not with the first request; else None."""
    if name is None:
        return None
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415 - where a model is named
    from plansafe.llm.models.providers import split_model_name  # noqa: PLC0415

    try:
        split_model_name(name)
    except ModelError as error:
        return error.diagnostic
    return None


def _missing_package(error: ModuleNotFoundError, extra: str) -> Diagnostic:
    """The diagnostic for a missing package. A missing module of safecheck is a bug, and is raised again."""
    if (error.name or "").startswith("plansafe"):
        raise error
    return Diagnostic(
        SC.AGENTS_PACKAGE_MISSING, f"the package {error.name} is not installed", help=how_to_install(extra)
    )


@command(McpOptions)
def mcp(options: McpOptions) -> int:
    """Serve an agent over standard input and output by the Model Context Protocol.

    The tools audit, repair and diagnose plans, and monitor an agent; the resources are the shipped rules and worlds.
    """

    def work() -> int:
        if (problem := _model_problem(options.model)) is not None:
            return complain(problem)
        try:
            from plansafe.app.interfaces.agents.mcp_server import run  # noqa: PLC0415 - of the extra `mcp`
        except ModuleNotFoundError as error:
            return complain(_missing_package(error, "mcp"))
        for_a_program("an agent's client", "docs/service.md#agents")
        return run(
            Limits(options.time_limit, options.memory_limit, options.model),
            options.workers,
            options.sessions,
            options.idle,
        )

    return guarded(work)
