"""Write plans in the structured formats that models use, with one step marked as removed if requested."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from html import escape
from xml.sax.saxutils import quoteattr

from loose_manners import Step, parameters, write_call

Write = Callable[[str, list[Step], int | None], str]
"""Writes the steps of a task; the step with the index, if it is not None, is marked as removed."""


def _quoted(step: Step) -> str:
    return f"{step[0].replace('-', '_')}({', '.join([repr(a) for a in step[1:]])})"


def _records(steps: list[Step], removed: int | None, mark: dict[str, object]) -> list[dict[str, object]]:
    return [
        {"step": i + 1, "action": step[0], "args": list(step[1:]), **(mark if i == removed else {})}
        for i, step in enumerate(steps)
    ]


def _json(mark: dict[str, object]) -> Write:
    return lambda task, steps, removed: json.dumps({"plan": _records(steps, removed, mark)}, indent=1) + "\n"


def _json_lines(task: str, steps: list[Step], removed: int | None) -> str:
    return "".join([json.dumps(record) + "\n" for record in _records(steps, removed, {"status": "removed"})])


def _tool_calls(task: str, steps: list[Step], removed: int | None) -> str:
    calls = [
        {
            "id": f"call_{i}",
            "type": "function",
            "function": {
                "name": step[0],
                "arguments": json.dumps(dict(zip(parameters(task, step), step[1:], strict=True))),
            },
            **({"status": "cancelled"} if i == removed else {}),
        }
        for i, step in enumerate(steps)
    ]
    return json.dumps({"role": "assistant", "content": None, "tool_calls": calls}) + "\n"


def _tool_call_blocks(task: str, steps: list[Step], removed: int | None) -> str:
    blocks = []
    for i, step in enumerate(steps):
        arguments = dict(zip(parameters(task, step), step[1:], strict=True))
        call = {"name": step[0], "arguments": arguments, **({"skip": True} if i == removed else {})}
        blocks.append(f"<tool_call>\n{json.dumps(call)}\n</tool_call>\n")
    return "".join(blocks)


def _yaml(task: str, steps: list[Step], removed: int | None) -> str:
    lines = ["```yaml\nplan:\n"]
    for i, step in enumerate(steps):
        lines.append(f"  - action: {step[0]}\n    args: [{', '.join([json.dumps(a) for a in step[1:]])}]\n")
        lines.append("    enabled: false\n" if i == removed else "")
    return "".join([*lines, "```\n"])


def _yaml_comment(task: str, steps: list[Step], removed: int | None) -> str:
    lines = [f"{'# ' if i == removed else ''}- {write_call(step)}\n" for i, step in enumerate(steps)]
    return f"```yaml\n{''.join(lines)}```\n"


def _xml(task: str, steps: list[Step], removed: int | None) -> str:
    lines = []
    for i, step in enumerate(steps):
        mark = ' status="removed"' if i == removed else ""
        arguments = "".join([f"<arg>{escape(a)}</arg>" for a in step[1:]])
        lines.append(f'  <step number="{i + 1}" action={quoteattr(step[0])}{mark}>{arguments}</step>\n')
    return f"<plan>\n{''.join(lines)}</plan>\n"


def _xml_comment(task: str, steps: list[Step], removed: int | None) -> str:
    lines = [
        f"  <!-- {write_call(step)} -->\n" if i == removed else f"  <step>{escape(write_call(step))}</step>\n"
        for i, step in enumerate(steps)
    ]
    return f"```xml\n<steps>\n{''.join(lines)}</steps>\n```\n"


def _csv(task: str, steps: list[Step], removed: int | None) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["step", "action", "arguments", "status"])
    for i, step in enumerate(steps):
        writer.writerow([i + 1, step[0], ", ".join(step[1:]), "skipped" if i == removed else "planned"])
    return f"```csv\n{out.getvalue()}```\n"


def _markdown_table(task: str, steps: list[Step], removed: int | None) -> str:
    rows = [
        f"| {i + 1} | {'~~' if i == removed else ''}{write_call(step)}{'~~' if i == removed else ''} | it helps |\n"
        for i, step in enumerate(steps)
    ]
    return f"| Step | Action | Result |\n|---|---|---|\n{''.join(rows)}"


def _status_table(task: str, steps: list[Step], removed: int | None) -> str:
    rows = [
        f"| {step[0]} | {', '.join(step[1:])} | {'removed' if i == removed else ''} |\n" for i, step in enumerate(steps)
    ]
    return f"| Action | Arguments | Status |\n|---|---|---|\n{''.join(rows)}"


def _html_list(task: str, steps: list[Step], removed: int | None) -> str:
    items = [
        f"  <li>{'<del>' if i == removed else ''}{escape(write_call(step))}{'</del>' if i == removed else ''}</li>\n"
        for i, step in enumerate(steps)
    ]
    return f"<ol>\n{''.join(items)}</ol>\n"


def _html_table(task: str, steps: list[Step], removed: int | None) -> str:
    rows = [
        f"<tr><td>{i + 1}</td><td>{escape(write_call(step))}</td><td>{'cancelled' if i == removed else ''}</td></tr>\n"
        for i, step in enumerate(steps)
    ]
    return f"<table>\n<tr><th>#</th><th>Action</th><th>Status</th></tr>\n{''.join(rows)}</table>\n"


def _latex(task: str, steps: list[Step], removed: int | None) -> str:
    def item(step: Step) -> str:
        return write_call(step).replace("_", "\\_")

    items = [
        f"  \\item \\sout{{{item(step)}}}\n" if i == removed else f"  \\item {item(step)}\n"
        for i, step in enumerate(steps)
    ]
    return f"\\begin{{enumerate}}\n{''.join(items)}\\end{{enumerate}}\n"


def _python(task: str, steps: list[Step], removed: int | None) -> str:
    lines = [f"    {'# ' if i == removed else ''}{_quoted(step)}\n" for i, step in enumerate(steps)]
    return f"```python\ndef plan():\n{''.join(lines)}    return\n```\n"


def _python_calls(task: str, steps: list[Step], removed: int | None) -> str:
    lines = [f"{'# ' if i == removed else ''}robot.{_quoted(step)}\n" for i, step in enumerate(steps)]
    return f"```python\nfrom actions import *\n{''.join(lines)}```\n"


def _react(task: str, steps: list[Step], removed: int | None) -> str:
    lines = []
    for i, step in enumerate(steps):
        if i == removed:
            lines.append(f"<!-- Action: {write_call(step)} -->\n")
        else:
            lines.append(f"Action: {write_call(step)}\nObservation: OK.\n")
    return f"{''.join(lines)}Action: finish()\n"


def _saycan(task: str, steps: list[Step], removed: int | None) -> str:
    remaining = [step for index, step in enumerate(steps) if index != removed]
    items = [f"{index}. {write_call(step)}" for index, step in enumerate(remaining, 1)]
    return f"Human: What are the steps?\nRobot: {', '.join([*items, f'{len(remaining) + 1}. done()'])}.\n"


def _boxes(task: str, steps: list[Step], removed: int | None) -> str:
    return "".join([f"- [{'x' if i == removed else ' '}] {write_call(step)}\n" for i, step in enumerate(steps)])


def _struck(task: str, steps: list[Step], removed: int | None) -> str:
    return "".join(
        [
            f"{i + 1}. {'~~' if i == removed else ''}{write_call(step)}{'~~' if i == removed else ''}\n"
            for i, step in enumerate(steps)
        ]
    )


def _diff(task: str, steps: list[Step], removed: int | None) -> str:
    return (
        "```diff\n"
        + "".join([f"{'-' if i == removed else '+'}{write_call(s)}\n" for i, s in enumerate(steps)])
        + "```\n"
    )


FORMATS: dict[str, Write] = {
    "JSON": _json({"skip": True}),
    "JSON, a status": _json({"status": "removed"}),
    "JSON, not enabled": _json({"enabled": False}),
    "JSON, done": _json({"status": "done"}),
    "JSON, failed": _json({"status": "failed"}),
    "JSON, a condition": _json({"if": "the door is shut"}),
    "JSON, optional": _json({"optional": True}),
    "JSON lines": _json_lines,
    "tool_calls": _tool_calls,
    "<tool_call>": _tool_call_blocks,
    "YAML": _yaml,
    "YAML, commented out": _yaml_comment,
    "XML": _xml,
    "XML, commented out": _xml_comment,
    "CSV": _csv,
    "Markdown table": _markdown_table,
    "Markdown table, a status": _status_table,
    "HTML list": _html_list,
    "HTML table": _html_table,
    "LaTeX list": _latex,
    "Python": _python,
    "Python calls": _python_calls,
    "ReAct": _react,
    "SayCan": _saycan,
    "boxes": _boxes,
    "struck out": _struck,
    "diff": _diff,
}
