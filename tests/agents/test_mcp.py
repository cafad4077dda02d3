"""Test the MCP server with the client of the official SDK, over standard input and output."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from agents_server import SAFE, TASK, UNSAFE

pytest.importorskip("mcp")

from plansafe.app.interfaces.agents.mcp_server import Agent, server
from plansafe.app.interfaces.agents.worker_messages import Limits


async def text_of(client: Any, uri: str) -> str:
    return str((await client.read_resource(uri)).contents[0].text)


async def conversation() -> dict[str, Any]:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from plansafe.app.main import main; raise SystemExit(main())", "serve", "mcp"],
    )
    answers: dict[str, Any] = {}
    async with Client(stdio_client(command)) as client:
        answers["tools"] = {tool.name: tool for tool in (await client.list_tools()).tools}

        async def call(name: str, /, **arguments: Any) -> Any:
            tool_result = await client.call_tool(name, arguments)
            text = json.loads(tool_result.content[0].text)  # type: ignore[union-attr]
            assert tool_result.is_error or tool_result.structured_content == text
            return {**text, "is_error": bool(tool_result.is_error)}

        answers["audit"] = await call("audit", **TASK, plan=UNSAFE)
        answers["repair"] = await call("repair", same_as=answers["audit"]["answer"])
        answers["details"] = await call("details", answer=answers["audit"]["answer"], rule="stove-off-before-leaving")
        answers["explain"] = await call("explain", code="SC201")
        answers["bad"] = await call("audit", plam="x")
        opened = await call("open_session", **TASK)
        session = opened["session"]
        other_session = (await call("open_session", **TASK))["session"]
        await call("take", session=session, action="(switch-on hob kitchen)")
        answers["next"] = await call("next", session=session, ahead=True)
        answers["allowed"] = await call("allowed", session=session, action=SAFE)
        answers["refused"] = await call("take", session=session, action=SAFE)
        answers["other"] = await call("allowed", session=other_session, action=SAFE)
        answers["observe"] = await call("observe", session=session, facts=["(not (on hob))"])
        answers["after"] = await call("take", session=session, action=SAFE)
        answers["state"] = await call("state", session=session)
        await call("close_session", session=session)
        answers["gone"] = await call("allowed", session=session, action=SAFE)
        answers["resources"] = [str(resource.uri) for resource in (await client.list_resources()).resources]
        answers["text"] = await text_of(client, "safecheck://rules/household")
        answers["full"] = json.loads(await text_of(client, f"safecheck://answers/{answers['repair']['answer']}"))
        for uri in ("safecheck://rules/../../etc/passwd", "safecheck://answers/99", "safecheck://codes/SC99999"):
            try:
                await client.read_resource(uri)
            except Exception as error:
                answers[uri] = str(error)
    return answers


def with_client(use_client: Callable[[Any], Awaitable[Any]]) -> Any:
    """Return the result of ``use_client`` for a client of a server in this process."""
    from mcp.client.client import Client

    async def run() -> Any:
        agent = Agent(Limits(60, 2048, None), 1, 1, 60)
        try:
            async with Client(server(agent)) as client:
                return await use_client(client)
        finally:
            await agent.close()

    return asyncio.run(run())


def call_once(tool: str, arguments: dict[str, Any]) -> Any:
    return with_client(lambda client: client.call_tool(tool, arguments))


@pytest.mark.slow
def test_agent_session() -> None:
    answers = asyncio.run(conversation())
    assert {"audit", "repair", "diagnose", "next", "allowed", "explain", "formalise", "hazards"} <= set(
        answers["tools"]
    )
    assert answers["audit"]["headline"] == "UNSAFE"
    assert answers["repair"]["repair"]["headline"] == "SAFE"
    assert answers["details"]["content"][0]["table"]["rows"]
    assert answers["full"]["repairs"][0]["headline"] == "SAFE"
    assert answers["full"]["text"] == answers["repair"]["repair"]["plan"]
    assert answers["explain"]["name"] == "SC201"
    assert answers["bad"]["is_error"]
    assert [(step["step"], step["safe"]) for step in answers["next"]["steps"]] == [
        ("(switch-off hob kitchen)", True),
        ("(go kitchen hall)", False),
    ]
    assert answers["next"]["steps"][0]["ahead"]["answer"] is True
    assert not answers["allowed"]["allowed"]
    assert answers["allowed"]["breaks"][0]["rule"] == "stove-off-before-leaving"
    assert not answers["refused"]["taken"]
    assert answers["refused"]["position"] == 1
    assert answers["other"]["allowed"], "sessions are independent"
    assert answers["observe"]["missing"] == ["(on hob)"]
    assert answers["after"]["taken"]
    assert answers["state"]["may_end"]
    assert answers["gone"]["is_error"]
    assert "safecheck://worlds/virtualhome" in answers["resources"]
    assert answers["text"].lstrip().startswith((";", "(define"))
    assert "ships no rules named" in answers["safecheck://rules/../../etc/passwd"]
    assert "no answer '99' is stored" in answers["safecheck://answers/99"]
    assert "unknown code" in answers["safecheck://codes/SC99999"]


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
    tool_result = call_once(tool, arguments)
    assert tool_result.is_error
    assert f'"code":"{code}"' in tool_result.content[0].text


def test_invalid_plan_does_not_set_the_error_flag() -> None:
    tool_result = call_once("audit", {**TASK, "plan": "(goo kitchen hall)"})
    assert not tool_result.is_error
    assert json.loads(tool_result.content[0].text)["headline"] == "INVALID"


def test_tool_declarations_are_short() -> None:
    declarations = with_client(lambda client: client.list_tools())
    assert len(declarations.model_dump_json(by_alias=True, exclude_none=True)) < 20_000
    for tool in declarations.tools:
        assert tool.output_schema is None
        assert 10 < len(tool.description) < 500, tool.name


def test_tool_arguments_are_described() -> None:
    tools = {tool.name: tool for tool in with_client(lambda client: client.list_tools()).tools}
    described = {name for name, schema in tools["audit"].input_schema["properties"].items() if schema["description"]}
    for tool in tools.values():
        for name, schema in tool.input_schema["properties"].items():
            assert schema.get("description") or name in described, (tool.name, name)


def test_answers_for_25_steps_are_shorter_than_three_kilobytes() -> None:
    """The full answers for this plan are the longest of the examples: 41 KB."""
    root = Path(__file__).resolve().parents[2] / "examples" / "dinner"
    task = {
        "problem": (root / "problem.pddl").read_text(encoding="utf-8"),
        "plan": (root / "stove-left-alone.plan").read_text(encoding="utf-8"),
    }

    async def ask(client: Any) -> list[dict[str, Any]]:
        first = (await client.call_tool("audit", task)).content[0].text
        number = json.loads(first)["answer"]
        texts = [first]
        for tool, arguments in (("repair", {}), ("diagnose", {"where": True, "causes": True})):
            texts.append((await client.call_tool(tool, {"same_as": number, **arguments})).content[0].text)
        assert all([len(text) < 3000 for text in texts])
        return [json.loads(text) for text in texts]

    audit, repair, diagnosis = with_client(ask)
    assert audit["headline"] == "UNSAFE"
    assert [group["rule"] for group in audit["findings"]] == ["stove-attended"]
    assert repair["repair"]["headline"] == "SAFE"
    assert len(re.findall(r"^\(", repair["repair"]["plan"], re.MULTILINE)) == 25
    assert diagnosis["where"]["violated"] == 21
    assert diagnosis["causes"]


def test_same_as_copies_the_missing_arguments() -> None:
    async def ask(client: Any) -> Any:
        audit = await client.call_tool("audit", {**TASK, "plan": UNSAFE, "max_findings": 5, "name": "tea"})
        number = audit.structured_content["answer"]
        again = await client.call_tool("audit", {"same_as": number, "plan": SAFE})
        repaired = await client.call_tool("repair", {"same_as": number})
        opened = await client.call_tool("open_session", {"same_as": number})
        gone = await client.call_tool("repair", {"same_as": "77"})
        full = json.loads(await text_of(client, "safecheck://answers/1"))
        return again.structured_content, repaired.structured_content, opened.structured_content, gone, full

    again, repaired, opened, gone, full = with_client(ask)
    assert again["headline"] == "SAFE"
    assert repaired["repair"]["headline"] == "SAFE"
    assert opened["deciding"] == 1
    assert gone.is_error
    assert "no answer '77' is stored" in gone.content[0].text
    assert full["plan"] == "tea"


def test_prompts_contain_their_arguments() -> None:
    async def ask(client: Any) -> Any:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        filled = await client.get_prompt("repair_plan", {"plan": "(go {x})", "problem": "(define {plan})"})
        errors = []
        for name, arguments in (("repair_plan", {"plan": "(go)"}), ("paint", {})):
            with pytest.raises(Exception, match="prompt") as refusal:
                await client.get_prompt(name, arguments)
            errors.append(str(refusal.value))
        return prompts, filled.messages[0].content.text, errors

    prompts, text, errors = with_client(ask)
    assert set(prompts) == {"repair_plan", "write_safe_plan", "write_safety_rule"}
    assert text.endswith("Problem:\n(define {plan})\n\nPlan:\n(go {x})")
    assert "UNKNOWN is not safe" in text
    assert "needs: problem" in errors[0]
    assert "unknown prompt 'paint'" in errors[1]


def test_resource_templates_have_readable_names() -> None:
    from mcp_types import ResourceTemplateReference

    async def ask(client: Any) -> dict[str, str]:
        await client.call_tool("audit", {**TASK, "plan": SAFE})
        texts = {}
        for template in (await client.list_resource_templates()).resource_templates:
            reference = ResourceTemplateReference(uri=template.uri_template)
            completion = (await client.complete(reference, {"name": "name", "value": ""})).completion
            assert completion.values, template.uri_template
            texts[template.name] = await text_of(client, template.uri_template.replace("{name}", completion.values[0]))
        domains = ResourceTemplateReference(uri="safecheck://domains/{name}")
        names = (await client.complete(domains, {"name": "name", "value": "HOUSE"})).completion.values
        assert names == ["household"]
        return texts

    texts = with_client(ask)
    assert set(texts) == {"rules", "domains", "worlds", "examples", "reference", "codes", "answers"}
    assert json.loads(texts["answers"])["headline"] == "SAFE"
    assert "A safe plan:" in texts["examples"]
    assert "(:process NAME" in texts["reference"]
