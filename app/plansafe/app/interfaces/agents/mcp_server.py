"""The MCP server over standard input and output: a tool for each operation, with short answers, prompts and resources.

An agent reads every declaration and every answer. Therefore declarations have no output schemas, and ``audit``,
``repair`` and ``diagnose`` give short answers; the full ones are kept for the tool ``details`` and as resources.

The full answers of earlier calls of an agent: kept for ``details``, with the fields of their requests.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from plansafe.app.interfaces.agents import mcp_texts, operation_fields
from plansafe.app.interfaces.agents.operation_fields import DETAILS, Operation
from plansafe.app.interfaces.agents.operations import SHORT
from plansafe.app.interfaces.agents.request_fields import BadRequest, read_fields
from plansafe.app.interfaces.agents.session_pool import Sessions
from plansafe.app.interfaces.agents.short_answers import cut
from plansafe.app.interfaces.agents.worker import serve_operations, serve_session
from plansafe.app.interfaces.agents.worker_messages import Limits, Reply, refusal
from plansafe.app.interfaces.agents.worker_pool import Pool, Starter
from plansafe.app.render.json import dumps, json_line
from plansafe.app.system.version import version
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import suggest_name

_TOOLS = {
    operation.name: operation
    for operation in (
        operation_fields.AUDIT,
        operation_fields.REPAIR,
        operation_fields.DIAGNOSE,
        operation_fields.DETAILS,
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
_PLAN_TOOLS = (operation_fields.AUDIT.name, operation_fields.REPAIR.name, operation_fields.DIAGNOSE.name)
_SESSION_TOOLS = (*[operation.name for operation in operation_fields.SESSION_OPERATIONS], operation_fields.CLOSE.name)
_CHANGING = (
    operation_fields.OPEN.name,
    operation_fields.TAKE.name,
    operation_fields.OBSERVE.name,
    operation_fields.CLOSE.name,
)
_INSTRUCTIONS = (
    "safecheck checks plans against formal safety rules. Call `audit` before you execute a plan. Only the headline "
    "SAFE means that the plan violates no rule; UNKNOWN is not safe, and `not_checked` lists what was not checked or "
    "not understood. Answers are short and have a number `answer`: `details` shows the rest, and `same_as` in a later "
    "call takes over the problem, plan and rules. To act step by step, open a session, call `next` or `allowed` "
    "before each action, `take` the action, and `observe` the resulting state. Pass all texts inline: "
    "the server reads no files."
)
_STEP = 5.0
_MAX_TEXT = 300
_SAME_AS = {
    "type": "string",
    "description": "`answer` of an earlier call: take over its fields that are not given here",
}


class Agent:
    """The worker pool, the sessions and the stored answers of one agent."""

    def __init__(self, limits: Limits, workers: int, sessions: int, idle: float) -> None:
        self._starter = Starter()
        self._pool = Pool(self._starter, serve_operations, limits, workers, 64)
        self._sessions = Sessions(self._starter, serve_session, limits, sessions, idle, _STEP)
        self.answers = AnswerStore()

    async def call(self, name: str, arguments: dict[str, Any]) -> Reply:
        """Run a tool and return its reply."""
        try:
            if name == operation_fields.DETAILS.name:
                return Reply(200, self.answers.details(arguments).encode("ascii"))
            if name in _PLAN_TOOLS:
                return await self._call_with_plan(name, self.answers.merged(_TOOLS[name], arguments))
            if name == operation_fields.OPEN.name:
                return await self._sessions.open(_body(self.answers.merged(_TOOLS[name], arguments)))
        except BadRequest as bad:
            return refusal([bad.diagnostic])
        if name in _SESSION_TOOLS:
            session_fields = {key: value for key, value in arguments.items() if key != "session"}
            session = arguments.get("session")
            session = session if isinstance(session, str) else ""
            if name == operation_fields.CLOSE.name:
                return await self._sessions.close(session)
            return await self._sessions.ask(session, name, _body(session_fields))
        return await self._pool.ask(name, _body(arguments))

    async def _call_with_plan(self, name: str, arguments: dict[str, Any]) -> Reply:
        reply = await self._pool.ask(f"{SHORT}{name}", _body(arguments))
        if not reply.ok:
            return reply
        short, _, full = reply.body.partition(b"\n")
        number = self.answers.add(arguments, full)
        return reply._replace(body=b'{"answer":"' + number.encode("ascii") + b'",' + short[1:] + b"\n")

    async def read(self, uri: str) -> tuple[str, str]:
        """Return the text and the media type of a resource. Raises :class:`MCPError`."""
        key, _slash, name = uri.removeprefix(mcp_texts.SCHEME).partition("/")
        if key == mcp_texts.ANSWERS:
            try:
                return self.answers.get(name).full.decode("ascii"), "application/json"
            except BadRequest as bad:
                raise MCPError(types.INVALID_PARAMS, bad.diagnostic.message) from bad
        category = mcp_texts.CATEGORIES.get(key, mcp_texts.CATEGORIES["rules"])
        if category.kind == "code":
            reply = await self._pool.ask(operation_fields.EXPLAIN.name, _body({"code": name}))
        else:
            reply = await self._pool.ask(operation_fields.SHOW.name, _body({"what": category.kind, "name": name}))
        answer = json.loads(reply.body)
        if not reply.ok:
            raise MCPError(types.INVALID_PARAMS, str(answer["error"]["message"]))
        return str(answer["text"]), "text/plain"

    async def close(self) -> None:
        """End all worker and session processes."""
        await self._sessions.close_all()
        await self._pool.close()
        self._starter.close()


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
        if not reply.ok:
            return types.CallToolResult(content=[types.TextContent(text=_short_refusal(reply.body))], is_error=True)
        text = reply.body.decode("ascii").rstrip("\n")
        result = json.loads(text)
        content: list[Any] = [types.TextContent(text=text)]
        return types.CallToolResult(content=content, structured_content=result, is_error=_is_unanswered(result))

    async def list_resources(_: Any, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=mcp_texts.list_resources())

    async def list_templates(_: Any, __: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=mcp_texts.list_templates())

    async def read_resource(_: Any, request: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text, media_type = await agent.read(str(request.uri))
        contents = types.TextResourceContents(uri=request.uri, mime_type=media_type, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(_: Any, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=mcp_texts.list_prompts())

    async def get_prompt(_: Any, request: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = mcp_texts.get_prompt(request.name, request.arguments or {})
        if isinstance(prompt, str):
            raise MCPError(types.INVALID_PARAMS, prompt)
        return prompt

    async def complete(_: Any, request: types.CompleteRequestParams) -> types.CompleteResult:
        return types.CompleteResult(completion=mcp_texts.complete(request, list(agent.answers)))

    return Server(
        "safecheck",
        version=version(),
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
    )


def _is_unanswered(result: dict[str, Any]) -> bool:
    """Whether a result holds only diagnostics: the input was unreadable, or safecheck failed.

    A plan with an ill-formed step also has exit code 2, but no error diagnostic, because INVALID is a verdict.
    """
    if any([sentence["status"] == "none" for sentence in result.get("sentences", ())]):
        return True
    errors = [d for d in result.get("diagnostics", ()) if d["severity"] == "error"]
    return result.get("exit_code") == 4 or (result.get("exit_code") == 2 and bool(errors))


def _short_refusal(body: bytes) -> str:
    """An error reply with the first diagnostic in short form, and the number of the others."""
    refused = json.loads(body)
    error = refused["error"]
    out = {key: cut(error[key], _MAX_TEXT) for key in ("code", "message", "help") if error[key]}
    span = next((label["span"] for label in error["labels"] if label["span"] and label["span"]["start"]), None)
    if span is not None:
        out["at"] = f"{cut(span['source'], _MAX_TEXT)}:{span['start']['line']}:{span['start']['column']}"
    more = len(refused["diagnostics"]) - 1
    return json_line({"error": out, **({"more_errors": more} if more > 0 else {})}).rstrip("\n")


def _tool(operation: Operation) -> types.Tool:
    """Declare a tool. The task fields are described at ``audit`` only; other tools list them by type."""
    with_task = operation.name in _PLAN_TOOLS or operation.name == operation_fields.OPEN.name
    shared_fields = operation_fields.AUDIT.fields if with_task and operation is not operation_fields.AUDIT else ()
    properties = {field.name: field.brief_schema(described=field not in shared_fields) for field in operation.fields}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if with_task:
        properties[SAME_AS] = _SAME_AS
    elif any([field.required for field in operation.fields]):
        schema["required"] = [field.name for field in operation.fields if field.required]
    return types.Tool(
        name=operation.name,
        description=f"{operation.about} Fields without a description: see `audit`."
        if shared_fields
        else operation.about,
        input_schema=schema,
        annotations=types.ToolAnnotations(read_only_hint=operation.name not in _CHANGING, open_world_hint=False),
    )


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


_MAX_ANSWERS = 32
_MAX_BYTES = 64 * 1024 * 1024
_MAX_PAGE = 8_000
"""Maximum number of characters of the entries of one ``details`` answer, unless the first entry is longer."""
_MAX_ENTRY = 20_000
SAME_AS = "same_as"
"""The field that takes over the fields of an earlier call."""


class StoredAnswer(NamedTuple):
    """The request fields and the full answer (JSON) of one call."""

    arguments: Mapping[str, Any]
    full: bytes
    size: int


class AnswerStore:
    """The latest answers by number. The oldest are dropped at a limit of number or size."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, StoredAnswer] = OrderedDict()
        self._count = 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def add(self, arguments: Mapping[str, Any], full: bytes) -> str:
        """Store an answer and return its number."""
        self._count += 1
        number = str(self._count)
        self._answers[number] = StoredAnswer(arguments, full, len(full) + len(dumps(arguments)))
        while len(self._answers) > _MAX_ANSWERS or sum([a.size for a in self._answers.values()]) > _MAX_BYTES:
            self._answers.popitem(last=False)
        return number

    def get(self, number: object) -> StoredAnswer:
        """Return an answer. Raises :class:`BadRequest` if it is not stored."""
        answer = self._answers.get(str(number))
        if answer is None:
            numbers = list(self._answers)
            advice = f"stored are {numbers[0]} to {numbers[-1]}" if numbers else "call `audit` first"
            raise BadRequest(f"no answer {str(number)[:20]!a} is stored", advice, SC.NOT_FOUND)
        return answer

    def merged(self, operation: Operation, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call; ``same_as`` adds those arguments of an earlier call that the operation has.

        Raises :class:`BadRequest` if the earlier call is not stored.
        """
        new = {name: value for name, value in arguments.items() if name != SAME_AS}
        if arguments.get(SAME_AS) is None:
            return new
        names = {field.name for field in operation.fields}
        earlier = self.get(arguments[SAME_AS]).arguments
        return {**{name: value for name, value in earlier.items() if name in names}, **new}

    def details(self, arguments: Mapping[str, Any]) -> str:
        """Return a part of an answer as JSON, a list or a text in pages. Raises :class:`BadRequest`."""
        values = read_fields(DETAILS.fields, arguments)
        full = json.loads(self.get(values["answer"]).full)
        parts = {**full.get("report", {}), **full}  # a repair contains the report on the original plan
        part = values["part"]
        if part not in parts:
            advice = suggest_name(part, tuple(parts)) or f"parts: {', '.join(parts)}"
            raise BadRequest(f"answer {values['answer']} has no part {part[:60]!a}", advice)
        content = parts[part]
        if isinstance(content, str) and "\n" in content:
            content = content.splitlines()
        if not isinstance(content, list):
            return json_line({"part": part, "content": _bounded(content)})
        if values["rule"] is not None:
            content = [e for e in content if isinstance(e, dict) and values["rule"] in (e.get("rule"), e.get("name"))]
        return json_line({"part": part, **_page(content, values["start"])})


def _page(entries: list[Any], start: int) -> dict[str, Any]:
    page: list[Any] = []
    characters = 0
    for entry in entries[start:]:
        bounded = _bounded(entry)
        characters += len(dumps(bounded))
        if page and characters > _MAX_PAGE:
            break
        page.append(bounded)
    following = start + len(page)
    return {
        "total": len(entries),
        "start": start,
        "content": page,
        **({"next_start": following} if following < len(entries) else {}),
    }


def _bounded(content: Any) -> Any:
    length = len(dumps(content))
    if length <= _MAX_ENTRY:
        return content
    return {"characters": length, "too_long": "read the resource safecheck://answers/NUMBER"}
