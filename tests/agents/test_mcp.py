"""A session by the client of the official SDK, over standard input and output."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import jsonschema
import pytest
from agents_server import SAFE, TASK, UNSAFE

pytest.importorskip("mcp")

from plansafe.app.interfaces.agents.limits import Limits
from plansafe.app.interfaces.agents.mcp_server import Agent, server


async def conversation() -> dict[str, Any]:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from plansafe.app.main import main; raise SystemExit(main())", "serve", "mcp"],
    )
    out: dict[str, Any] = {}
    async with Client(stdio_client(command)) as client:
        out["tools"] = {tool.name: tool for tool in (await client.list_tools()).tools}

        async def call(name: str, /, **given: Any) -> Any:
            result = await client.call_tool(name, given)
            text = json.loads(result.content[0].text)  # type: ignore[union-attr]
            assert result.is_error or result.structured_content == text
            if not result.is_error:
                jsonschema.Draft202012Validator(out["tools"][name].output_schema).validate(text)
            return {**text, "is_error": bool(result.is_error)}

        out["audit"] = await call("audit", **TASK, plan=UNSAFE)
        out["repair"] = await call("repair", **TASK, plan=UNSAFE)
        out["explain"] = await call("explain", code="SC201")
        out["bad"] = await call("audit", plam="x")
        opened = await call("open_session", **TASK)
        session = opened["session"]
        other = (await call("open_session", **TASK))["session"]
        await call("take", session=session, action="(switch-on hob kitchen)")
        out["next"] = await call("next", session=session, ahead=True)
        out["allowed"] = await call("allowed", session=session, action=SAFE)
        out["refused"] = await call("take", session=session, action=SAFE)
        out["other"] = await call("allowed", session=other, action=SAFE)
        out["observe"] = await call("observe", session=session, facts=["(not (on hob))"])
        out["after"] = await call("take", session=session, action=SAFE)
        out["state"] = await call("state", session=session)
        await call("close_session", session=session)
        out["gone"] = await call("allowed", session=session, action=SAFE)
        out["resources"] = [str(resource.uri) for resource in (await client.list_resources()).resources]
        read = await client.read_resource("safecheck://rules/household")
        out["text"] = read.contents[0].text  # type: ignore[union-attr]
        try:
            await client.read_resource("safecheck://rules/../../etc/passwd")
        except Exception as error:
            out["traversal"] = str(error)
    return out


def call_once(tool: str, arguments: dict[str, Any]) -> Any:
    from mcp.client.client import Client

    async def call() -> Any:
        agent = Agent(Limits(60, 2048, None), 1, 1, 60)
        try:
            async with Client(server(agent)) as client:
                return await client.call_tool(tool, arguments)
        finally:
            await agent.close()

    return asyncio.run(call())


@pytest.mark.slow
def test_a_session_of_an_agent() -> None:
    said = asyncio.run(conversation())
    assert {"audit", "repair", "diagnose", "next", "allowed", "explain", "formalise", "hazards"} <= set(said["tools"])
    assert said["audit"]["headline"] == "UNSAFE"
    assert said["repair"]["repairs"][0]["headline"] == "SAFE"
    assert said["explain"]["name"] == "SC201"
    assert said["bad"]["is_error"]
    assert [(step["step"], step["safe"]) for step in said["next"]["steps"]] == [
        ("(switch-off hob kitchen)", True),
        ("(go kitchen hall)", False),
    ]
    assert said["next"]["steps"][0]["ahead"]["answer"] is True
    assert not said["allowed"]["allowed"]
    assert said["allowed"]["breaks"][0]["rule"] == "stove-off-before-leaving"
    assert not said["refused"]["taken"]
    assert said["refused"]["position"] == 1
    assert said["other"]["allowed"], "a session knows nothing of another"
    assert said["observe"]["missing"] == ["(on hob)"]
    assert said["after"]["taken"]
    assert said["state"]["may_end"]
    assert said["gone"]["is_error"]
    assert "safecheck://worlds/virtualhome" in said["resources"]
    assert said["text"].lstrip().startswith((";", "(define"))
    assert "ships no rules named" in said["traversal"]


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("audit", {**TASK, "plan": "(go kitchen"}, "SC002"),
        ("audit", {**TASK, "plan": SAFE, "domain": "(define (domain"}, "SC002"),
        ("audit", {**TASK, "plan": SAFE, "rules": [], "gate": True}, "SC620"),
        ("audit", {**TASK, "plan": "I cannot do this", "form": "text"}, "SC742"),
        ("repair", {**TASK, "plan": "(go kitchen"}, "SC002"),
        ("diagnose", {**TASK, "plan": SAFE, "rules": ["(define (safety"]}, "SC002"),
        ("formalise", {"sentence": "never leave", "answers": ["((("]}, "SC645"),
        ("open_session", {**TASK, "domain": "(define"}, "SC002"),
        ("explain", {"code": "SC99999"}, "SC681"),
        ("hazards", {"domain": "mars"}, "SC680"),
    ],
)
def test_a_tool_that_cannot_answer_sets_the_error_flag(tool: str, arguments: dict[str, Any], code: str) -> None:
    result = call_once(tool, arguments)
    assert result.is_error
    assert f'"code":"{code}"' in result.content[0].text


def test_a_verdict_is_no_error() -> None:
    result = call_once("audit", {**TASK, "plan": "(goo kitchen hall)"})
    assert not result.is_error
    assert json.loads(result.content[0].text)["headline"] == "INVALID"
