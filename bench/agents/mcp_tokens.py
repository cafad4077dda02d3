"""Measure what an agent reads and writes to repair a plan over MCP: `python -m bench.agents.mcp_tokens [--model FILE]`.

Ten plans with a fault: the examples of the household, and the shipped tasks without a step in the middle of their safe
plan. The dialogue is fixed: audit the plan, repair it, audit the repaired plan. It is counted twice: with full
declarations and full answers, where each call repeats all texts (as in version 0.1), and with short ones, where
``same_as`` takes over the texts. ``--model`` is a GGUF file, whose tokenizer counts tokens (needs xllamacpp); without
it, characters are counted. ``--loop N`` lets the model itself call the tools for the N plans with the
shortest problems.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import secrets
import statistics
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from mcp.client.client import Client

from plansafe.app.interfaces.agents import operation_fields, reference
from plansafe.app.interfaces.agents.answer_schemas import answer_schema
from plansafe.app.interfaces.agents.mcp_server import Agent, server
from plansafe.app.interfaces.agents.request_fields import schema
from plansafe.app.interfaces.agents.worker_messages import Limits

ROOT = Path(__file__).resolve().parents[2]
MAX_TURNS = 6


class FaultyPlan(NamedTuple):
    """A plan with a fault and its problem, both as text."""

    name: str
    problem: str
    plan: str


class Dialogue(NamedTuple):
    """Texts of a dialogue: what the agent reads besides the declarations, and the arguments that it writes."""

    read: str
    written: str


class Row(NamedTuple):
    """The two dialogues about one plan."""

    name: str
    full: Dialogue
    short: Dialogue
    longest: int


def faulty_plans() -> Iterator[FaultyPlan]:
    """The examples with one known world, then the shipped tasks, each without one step of its plan."""
    for folder in ("breakfast", "dinner", "leftovers", "visit"):
        problem = (ROOT / "examples" / folder / "problem.pddl").read_text(encoding="utf-8")
        for plan in sorted((ROOT / "examples" / folder).glob("*.plan")):
            yield FaultyPlan(plan.stem, problem, plan.read_text(encoding="utf-8"))
    for name in reference.example_names():
        _, problem, plan = re.split(r"\nProblem:\n|\nA safe plan:\n", example_text(name))
        steps = plan.splitlines()
        yield FaultyPlan(name, problem, "\n".join([*steps[: len(steps) // 2], *steps[len(steps) // 2 + 1 :]]) + "\n")


def example_text(name: str) -> str:
    """The text of a shipped example."""
    return str(json.loads(reference.show({"what": "example", "name": name}))["text"])


class Tokenizer:
    """The tokenizer and the chat of a model in this process."""

    def __init__(self, path: str, context: int) -> None:
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = path
        parameters.n_ctx = context
        parameters.n_parallel = 1
        key = secrets.token_hex(16)
        parameters.api_keys = [key]
        parameters.ui = parameters.warmup = False
        parameters.offline = True
        parameters.verbosity = -1
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        self._server = xllamacpp.Server(parameters)
        self._address = urlsplit(self._server.listening_address)

    def count(self, text: str) -> int:
        """The number of tokens of a text."""
        connection = HTTPConnection(self._address.hostname or "", self._address.port)
        connection.request("POST", "/tokenize", json.dumps({"content": text}), self._headers)
        tokens = json.loads(connection.getresponse().read())["tokens"]
        connection.close()
        return len(tokens)

    def chat(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The answer of the model to a conversation, with the numbers of tokens."""
        request = {"messages": messages, "tools": tools, "temperature": 0, "max_tokens": 1200}
        answer: dict[str, Any] = self._server.handle_chat_completions(request)
        return answer


def full_declarations(tools: list[Any]) -> str:
    """The declarations with full input and output schemas, as in version 0.1."""
    operations = [value for value in vars(operation_fields).values() if isinstance(value, operation_fields.Operation)]
    by_name = {operation.name: operation for operation in operations}
    declared = []
    for tool in tools:
        operation = by_name[tool.name]
        if operation is not operation_fields.DETAILS:
            full = {"inputSchema": schema(operation.fields), "outputSchema": answer_schema(operation.answer)}
            declared.append({"name": tool.name, "description": operation.about, **full})
    return json.dumps({"tools": declared}, separators=(",", ":"))


async def dialogues(client: Any, agent: Agent, faulty: FaultyPlan) -> Row | None:
    """Both dialogues about a plan; ``None`` if the plan is safe or has no repair."""
    task = {"problem": faulty.problem, "plan": faulty.plan}

    async def call(tool: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        text = (await client.call_tool(tool, arguments)).content[0].text
        return json.loads(text), text

    audit, audit_text = await call("audit", task)
    repair, repair_text = await call("repair", {"same_as": audit["answer"]})
    if audit["headline"] == "SAFE" or "repair" not in repair:
        return None
    full_repair = agent.answers.get(repair["answer"]).full.decode("ascii")
    repaired = json.loads(full_repair)["text"]
    check, check_text = await call("audit", {"same_as": audit["answer"], "plan": repaired})
    assert check["headline"] == "SAFE", faulty.name
    full_texts = [agent.answers.get(a["answer"]).full.decode("ascii") for a in (audit, repair, check)]
    full_calls = [task, task, {"problem": faulty.problem, "plan": repaired}]
    short_calls = [task, {"same_as": audit["answer"]}, {"same_as": audit["answer"], "plan": repaired}]
    short_texts = [audit_text, repair_text, check_text]
    return Row(
        faulty.name,
        Dialogue("\n".join(full_texts), json.dumps(full_calls)),
        Dialogue("\n".join(short_texts), json.dumps(short_calls)),
        max(map(len, short_texts)),
    )


async def let_model_repair(client: Any, model: Tokenizer, tools: list[Any], faulty: FaultyPlan) -> str:
    """Let the model call the tools until it stops. Returns tokens and whether a plan that it repaired is SAFE."""
    declared = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in tools
        if tool.name in ("audit", "repair", "details")
    ]
    prompt = await client.get_prompt("repair_plan", {"problem": faulty.problem, "plan": faulty.plan})
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt.messages[0].content.text}]
    read = written = 0
    used: list[str] = []
    for _ in range(MAX_TURNS):
        answer = model.chat(messages, declared)
        read = answer["usage"]["prompt_tokens"]
        written += answer["usage"]["completion_tokens"]
        message = answer["choices"][0]["message"]
        messages.append(message)
        calls = list(tool_calls(message))
        if not calls:
            break
        for name, arguments in calls:
            used.append(name)
            result = await client.call_tool(name, arguments)
            messages.append({"role": "tool", "content": result.content[0].text})
    text = str(messages[-1].get("content") or "")
    steps = "\n".join(re.findall(r"^\s*(\([a-z][^()]*\))\s*$", text, re.MULTILINE))
    final = await client.call_tool("audit", {"problem": faulty.problem, "plan": steps})
    headline = json.loads(final.content[0].text).get("headline") if steps else "no plan"
    calls_text = ", ".join(used) or "none"
    return f"read {read:,} tokens in the last turn, wrote {written:,}; calls: {calls_text}; its plan: {headline}"


def tool_calls(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tool calls of a message, also those that a small model writes as a block of JSON."""
    for call in message.get("tool_calls") or ():
        yield call["function"]["name"], json.loads(call["function"]["arguments"])
    if not message.get("tool_calls"):
        for block in re.findall(r"\{.*\}", str(message.get("content") or ""), re.DOTALL):
            try:
                call = json.loads(block)
            except ValueError:
                continue
            if isinstance(call, dict) and isinstance(call.get("arguments"), dict) and "name" in call:
                yield str(call["name"]), call["arguments"]


async def measure(plans: int, model: Tokenizer | None, loop: int) -> None:
    """Print the table."""
    count: Callable[[str], int] = len if model is None else model.count
    unit = "characters" if model is None else "tokens"
    agent = Agent(Limits(600, 4096, None), 1, 1, 600)
    try:
        async with Client(server(agent)) as client:
            listed = await client.list_tools()
            full_tools = full_declarations(listed.tools)
            short_tools = listed.model_dump_json(by_alias=True, exclude_none=True)
            print(
                f"declarations: {len(full_tools):,} and {len(short_tools):,} characters, "
                f"{count(full_tools):,} and {count(short_tools):,} {unit}"
            )
            rows: list[Row] = []
            for faulty in faulty_plans():
                row = await dialogues(client, agent, faulty)
                if row is None:
                    continue
                rows.append(row)
                full, short = row.full, row.short
                print(
                    f"{row.name:<24} read {count(full.read):>7,} -> {count(short.read):>6,}   "
                    f"written {count(full.written):>6,} -> {count(short.written):>6,}   longest {row.longest:,}",
                    flush=True,
                )
                if len(rows) == plans:
                    break
            for name, side, tools in (("full", "full", full_tools), ("short", "short", short_tools)):
                parts = [getattr(row, side) for row in rows]
                read = statistics.median([count(part.read) for part in parts])
                written = statistics.median([count(part.written) for part in parts])
                total = count(tools) + read + written
                parts_text = f"read {read:,.0f}, written {written:,.0f}"
                print(f"{name}: median of {len(rows)} plans: {total:,.0f} {unit} ({parts_text})")
            if model is not None:
                measured = [plan for plan in faulty_plans() if plan.name in {row.name for row in rows}]
                for faulty in sorted(measured, key=lambda plan: len(plan.problem))[:loop]:
                    outcome = await let_model_repair(client, model, listed.tools, faulty)
                    print(f"model, {faulty.name}: {outcome}", flush=True)
    finally:
        await agent.close()


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plans", type=int, default=10)
    parser.add_argument("--model", help="a GGUF file")
    parser.add_argument("--loop", type=int, default=0, metavar="N")
    options = parser.parse_args()
    model = None if options.model is None else Tokenizer(options.model, 8_192 if options.loop else 512)
    asyncio.run(measure(options.plans, model, options.loop))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
