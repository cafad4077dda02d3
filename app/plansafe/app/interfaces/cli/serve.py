"""The commands ``serve`` and ``mcp``: the doors for robots and agents, with the limits of the service as flags."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from typing import Annotated

import typer

from plansafe.app.interfaces.agents.limits import Limits
from plansafe.app.interfaces.http.api_key import VARIABLE, read_key
from plansafe.app.system.process import complain, for_a_program, guarded
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.extras import how_to_install

_MIB = 1024 * 1024
Workers = Annotated[int, typer.Option(min=1, max=256, metavar="N", help="Processes that judge.")]
Seconds = Annotated[float, typer.Option("--time-limit", min=0.1, max=3600, metavar="SECONDS", help="For one request.")]
Memory = Annotated[int, typer.Option("--memory-limit", min=128, metavar="MIB", help="For each process.")]
MostSessions = Annotated[int, typer.Option("--sessions", min=1, max=10_000, metavar="N", help="Open at the same time.")]
Idle = Annotated[float, typer.Option(min=1, metavar="SECONDS", help="A session that nobody asks expires.")]
ModelOption = Annotated[
    str | None, typer.Option("--model", "-m", metavar="PROVIDER/NAME", help="Writes rules for `formalise`.")
]


def serve(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; another than loopback needs a key.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="0: any that is free.")] = 8731,
    key_file: Annotated[
        str | None, typer.Option("--key-file", metavar="FILE", help=f"The API key; else the variable {VARIABLE}.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name under which it is asked for. May be repeated.")
    ] = None,
    workers: Workers = 2,
    time_limit: Seconds = 30.0,
    step_limit: Annotated[
        float, typer.Option(min=0.01, max=600, metavar="SECONDS", help="For one question to a session.")
    ] = 2.0,
    memory_limit: Memory = 2048,
    sessions: MostSessions = 64,
    idle: Idle = 900.0,
    waiting: Annotated[int, typer.Option(min=1, metavar="N", help="Requests that may wait.")] = 2000,
    body_limit: Annotated[int, typer.Option(min=1, max=1024, metavar="MIB", help="For the body of a request.")] = 32,
    client_limit: Annotated[
        float,
        typer.Option(min=0.1, metavar="SECONDS", help="For a client to send a head, to send a body, to read on."),
    ] = 30.0,
    model: ModelOption = None,
) -> None:
    """Answer over HTTP: judge, repair and diagnose plans, and watch robots, one session each.

    GET /openapi.json describes it. Only what is shipped is read, nothing is written. Ends with an interrupt.
    """
    limits = Limits(time_limit, memory_limit, model)

    def work() -> int:
        if (wrong := _no_model(model)) is not None:
            return complain(wrong)
        key = read_key(key_file, os.environ)
        if isinstance(key, Diagnostic):
            return complain(key)
        if key is None and not _loopback(host):
            advice = f"set {VARIABLE}, or name a file with --key-file"
            return complain(
                Diagnostic(SC.BAD_KEY, f"{host} can be reached by others, and there is no key", help=advice)
            )
        try:
            import uvicorn  # noqa: PLC0415 - of the extra `serve`

            from plansafe.app.interfaces.http.allowed_hosts import read_hosts  # noqa: PLC0415 - what is loaded here, no mistake needs
            from plansafe.app.interfaces.http.api_key import Lock  # noqa: PLC0415
            from plansafe.app.interfaces.http.application import Bounds, application  # noqa: PLC0415
            from plansafe.app.interfaces.http.bounded_protocol import bounded  # noqa: PLC0415
        except ModuleNotFoundError as error:
            return complain(_missing(error, "serve"))
        bounds = Bounds(limits, workers, waiting, sessions, idle, step_limit, body_limit * _MIB)._replace(
            body_seconds=client_limit
        )
        hosts = read_hosts(allow_host or [], _loopback(host))
        if isinstance(hosts, Diagnostic):
            return complain(hosts)
        listening = open_listening_socket(host, port)
        if isinstance(listening, Diagnostic):
            return complain(listening)
        app = application(bounds, Lock(key), hosts)
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            http=bounded(client_limit),
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=4 * waiting,
            timeout_graceful_shutdown=5,
            h11_max_incomplete_event_size=32 * 1024,
        )
        return _Server.run_until_interrupted(config, listening)

    raise typer.Exit(guarded(work))


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


def mcp(
    workers: Workers = 1,
    time_limit: Seconds = 30.0,
    memory_limit: Memory = 2048,
    sessions: MostSessions = 8,
    idle: Idle = 3600.0,
    model: ModelOption = None,
) -> None:
    """Answer an agent over standard input and output by the Model Context Protocol.

    Tools judge, repair and diagnose plans, and watch what an agent does; resources are the shipped rules and worlds.
    """

    def work() -> int:
        if (wrong := _no_model(model)) is not None:
            return complain(wrong)
        try:
            from plansafe.app.interfaces.agents.mcp_server import run  # noqa: PLC0415 - of the extra `mcp`
        except ModuleNotFoundError as error:
            return complain(_missing(error, "mcp"))
        for_a_program("an agent's client", "docs/agents.md")
        return run(Limits(time_limit, memory_limit, model), workers, sessions, idle)

    raise typer.Exit(guarded(work))
