"""The MCP server over standard input and output: one tool per operation, and the shipped files as resources."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from plansafe.app.interfaces.agents import operation_fields
from plansafe.app.interfaces.agents.answer_schemas import answer_schema
from plansafe.app.interfaces.agents.limits import Limits
from plansafe.app.interfaces.agents.operation_fields import Operation
from plansafe.app.interfaces.agents.request_fields import schema
from plansafe.app.interfaces.agents.session_pool import Sessions
from plansafe.app.interfaces.agents.worker import serve_operations, serve_session
from plansafe.app.interfaces.agents.worker_messages import Reply
from plansafe.app.interfaces.agents.worker_pool import Pool, Starter
from plansafe.app.system.version import version
from plansafe.domains import domain_names
from plansafe.domains.worlds import world_names
from plansafe.specs import spec_names

_TOOLS = {
    operation.name: operation
    for operation in (
        operation_fields.AUDIT,
        operation_fields.REPAIR,
        operation_fields.DIAGNOSE,
        operation_fields.EXPLAIN,
        operation_fields.FORMALISE,
        operation_fields.HAZARDS,
        operation_fields.OPEN,
        operation_fields.ALLOWED,
        operation_fields.TAKE,
        operation_fields.OBSERVE,
        operation_fields.NEXT,
        operation_fields.STATE,
        operation_fields.CLOSE,
    )
}
_SCHEME = "safecheck://"
_INSTRUCTIONS = (
    "safecheck checks plans against formal safety rules. Call `audit` before you execute a plan. Only the headline "
    "SAFE means that the plan violates no rule; UNKNOWN is not safe. To act step by step, open a session, call `next` "
    "or `allowed` before each action, `take` the action, and `observe` the resulting state. Pass all texts inline: the "
    "server reads no files."
)
_STEP = 5.0


class Agent:
    """The worker pool and the sessions of one agent."""

    def __init__(self, limits: Limits, workers: int, sessions: int, idle: float) -> None:
        self._starter = Starter()
        self._pool = Pool(self._starter, serve_operations, limits, workers, 64)
        self._sessions = Sessions(self._starter, serve_session, limits, sessions, idle, _STEP)

    async def call(self, name: str, arguments: dict[str, Any]) -> Reply:
        """Run a tool and return its reply."""
        if name == operation_fields.OPEN.name:
            return await self._sessions.open(_body(arguments))
        if name in _SESSION_TOOLS:
            session_fields = {key: value for key, value in arguments.items() if key != "session"}
            session = arguments.get("session")
            session = session if isinstance(session, str) else ""
            if name == operation_fields.CLOSE.name:
                return await self._sessions.close(session)
            return await self._sessions.ask(session, name, _body(session_fields))
        return await self._pool.ask(name, _body(arguments))

    async def close(self) -> None:
        """End all worker and session processes."""
        await self._sessions.close_all()
        await self._pool.close()
        self._starter.close()


_SESSION_TOOLS = (*[operation.name for operation in operation_fields.SESSION_OPERATIONS], operation_fields.CLOSE.name)


def _body(arguments: dict[str, Any]) -> bytes:
    return json.dumps(arguments).encode("ascii")


def server(agent: Agent) -> Server[Any]:
    """Create the MCP server of an agent."""

    async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(operation) for operation in _TOOLS.values()])

    async def call_tool(_: Any, request: types.CallToolRequestParams) -> types.CallToolResult:
        if request.name not in _TOOLS:
            text = json.dumps({"error": f"unknown tool {request.name[:60]!a}"})
            return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
        reply = await agent.call(request.name, dict(request.arguments or {}))
        text = reply.body.decode("ascii").rstrip("\n")
        content: list[Any] = [types.TextContent(text=text)]
        if not reply.ok:
            return types.CallToolResult(content=content, is_error=True)
        result = json.loads(text)
        return types.CallToolResult(content=content, structured_content=result, is_error=_is_unanswered(result))

    async def list_resources(_: Any, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=_resources())

    async def read_resource(_: Any, request: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        category, _slash, name = str(request.uri).removeprefix(_SCHEME).partition("/")
        kind = _KINDS.get(category, "rules") if name else ""
        reply = await agent.call(operation_fields.SHOW.name, {"what": kind, "name": name})
        answer = json.loads(reply.body)
        if not reply.ok:
            from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - only needed for an error

            raise MCPError(types.INVALID_PARAMS, str(answer["error"]["message"]))
        text = types.TextResourceContents(uri=request.uri, mime_type="text/plain", text=answer["text"])
        return types.ReadResourceResult(contents=[text])

    return Server(
        "safecheck",
        version=version(),
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def _is_unanswered(result: dict[str, Any]) -> bool:
    """Whether a result holds only diagnostics: the input was unreadable, or safecheck failed.

    A plan with an ill-formed step also has exit code 2, but no error diagnostic, because INVALID is a verdict.
    """
    if any([sentence["status"] == "none" for sentence in result.get("sentences", ())]):
        return True
    report = result.get("report", result)
    errors = [d for d in report.get("diagnostics", ()) if d["severity"] == "error"]
    return result.get("exit_code") == 4 or (result.get("exit_code") == 2 and bool(errors))


_KINDS = {"rules": "rules", "domains": "domain", "worlds": "world"}


def _tool(operation: Operation) -> types.Tool:
    is_read_only = operation.name not in (
        operation_fields.OPEN.name,
        operation_fields.TAKE.name,
        operation_fields.OBSERVE.name,
        operation_fields.CLOSE.name,
    )
    return types.Tool(
        name=operation.name,
        description=operation.about,
        input_schema=schema(operation.fields),
        output_schema=answer_schema(operation.answer),
        annotations=types.ToolAnnotations(read_only_hint=is_read_only, open_world_hint=False),
    )


def _resources() -> list[types.Resource]:
    resources = [("rules", name, "a shipped safety specification") for name in spec_names()]
    resources += [("domains", name, "a shipped domain") for name in domain_names()]
    resources += [("worlds", name, "the input files and plan formats of a home world") for name in world_names()]
    return [
        types.Resource(
            uri=f"{_SCHEME}{category}/{name}", name=f"{category}/{name}", description=about, mime_type="text/plain"
        )
        for category, name, about in resources
    ]


def run(limits: Limits, workers: int, sessions: int, idle: float) -> int:
    """Serve one agent over standard input and output until it disconnects. Return the exit code."""
    asyncio.run(_serve(Agent(limits, workers, sessions, idle)))
    return 0


async def _serve(agent: Agent) -> None:
    mcp_server = server(agent)
    try:
        async with stdio_server() as (reading, writing):
            await mcp_server.run(reading, writing, mcp_server.create_initialization_options())
    finally:
        await agent.close()
