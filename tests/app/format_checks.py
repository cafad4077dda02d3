"""Check outputs: JSON by the shipped schemas, other formats by the schemas of their readers, text by its shape."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import jsonschema
from junit_xsd import Schema

HERE = Path(__file__).parent
SCHEMAS = HERE.parents[1] / "app" / "plansafe" / "app" / "schema"
_CODE = r"\[SC\d{3}\] "
_WHERE = r"[^\n]+?(?::[1-9]\d*:[1-9]\d*)?"
CONCISE_LINE = re.compile(rf"{_WHERE}: (?:error|warning|note|undecided){_CODE}[^\n]+")
CONCISE_LAST = re.compile(
    r"[^\n]+: (?:(?:INVALID|UNSAFE|UNKNOWN|SAFE|VALID)(?: in [a-z ]+)? "
    r"\(\d+ findings?, (?:\d+ more follows?: --all, )?\d+ steps?, (?:\d+ rules?|safe: not checked, no rules)[^\n]*\)"
    r"|(?:NOT CHECKED|INTERNAL ERROR) \(\d+ errors?\))"
)


@cache
def schema(name: str) -> Any:
    """A shipped schema, as data."""
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(name))  # without a registry or resolver, as users have it


@cache
def _sarif() -> jsonschema.Draft4Validator:
    text = (HERE / "sarif" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8")
    return jsonschema.Draft4Validator(json.loads(text))


def json_lines(text: str, name: str) -> list[Any]:
    """The objects of an output in JSON, one on each line, each valid under a shipped schema (``report-1``, ..)."""
    documents = [json_object(line) for line in _lines(text)]
    for document in documents:
        _validator(name).validate(document)
    return documents


def json_object(text: str) -> Any:
    """Parse one JSON object, strictly by RFC 8259: unique keys, valid Unicode."""
    document = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_reject_constant)
    assert isinstance(document, dict)
    json.dumps(document, ensure_ascii=False).encode("utf-8")  # a lone surrogate would be refused
    return document


def sarif_log(text: str) -> Any:
    """A log that fits the schema of SARIF 2.1.0."""
    text.encode("utf-8")
    log = json_object(text)
    _sarif().validate(log)
    return log


def concise_lines(text: str) -> list[str]:
    """Lines for editors: findings with a place, then a verdict."""
    lines = _lines(text)
    for line in lines:
        assert line.isprintable(), line
        assert CONCISE_LINE.fullmatch(line) or CONCISE_LAST.fullmatch(line), line
    return lines


def full_text(text: str) -> None:
    """Check a report for people: it is not empty and has no control characters."""
    assert text.strip()
    for line in _lines(text):
        assert line.isprintable(), line


def _lines(text: str) -> list[str]:
    assert text.endswith("\n")
    return text[:-1].split("\n")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"duplicate keys: {keys}"
    return dict(pairs)


def _reject_constant(word: str) -> Any:
    raise AssertionError(f"{word} is not JSON")


@cache
def _junit() -> Schema:
    return Schema(HERE / "junit" / "junit-10.xsd")


def junit_suites(text: str) -> list[Element]:
    """The suites of a document that fits the schema of Jenkins' xUnit plugin, with correct counts."""
    text.encode("utf-8")
    assert list(_junit().problems(text)) == []
    suites = ElementTree.fromstring(text).findall("testsuite")
    for suite in suites:
        paths = {"tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error"}
        for key, path in {**paths, "skipped": "testcase/skipped"}.items():
            assert int(suite.attrib[key]) == len(suite.findall(path))
    return suites


@cache
def _gitlab() -> jsonschema.Draft7Validator:
    return jsonschema.Draft7Validator(json.loads((HERE / "gitlab" / "codeclimate.json").read_text(encoding="utf-8")))


def gitlab_issues(text: str) -> list[Any]:
    """The issues of a code quality report; each fits GitLab's schema and the further rules of its documentation."""
    text.encode("utf-8")
    assert text.isascii()
    issues = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_reject_constant)
    for issue in issues:
        _gitlab().validate(issue)
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["check_name"]
        assert not issue["location"]["path"].startswith("./")
        assert 1 <= issue["location"]["lines"]["begin"] <= issue["location"]["lines"]["end"]
        json.dumps(issue, ensure_ascii=False).encode("utf-8")
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    return list(issues)


class Command(NamedTuple):
    """A workflow command, as GitHub's runner reads it."""

    name: str
    properties: dict[str, str]
    data: str


_UNESCAPE = (("%0D", "\r"), ("%0A", "\n"))
_UNESCAPE_PROPERTY = (*_UNESCAPE, ("%3A", ":"), ("%2C", ","))


def github_lines(text: str) -> list[Command | str]:
    """The lines as GitHub's runner reads them: our commands, and plain text."""
    lines: list[Command | str] = []
    for line in _lines(text):
        assert line.isprintable(), line
        command = parse_runner_command(line)
        lines.append(line if command is None else command)
        if command is None:
            assert line.startswith("safecheck: "), line
        else:
            assert command.name in ("error", "warning", "notice"), line
            assert set(command.properties) <= {"file", "line", "endLine", "col", "endColumn", "title"}, line
    return lines


def parse_runner_command(line: str) -> Command | None:
    """``ActionCommand.TryParseV2``, else ``TryParse``, of actions/runner (src/Runner.Common/ActionCommand.cs)."""
    stripped = line.lstrip()
    if stripped.startswith("::") and "::" in stripped[2:]:
        head, _, data = stripped[2:].partition("::")
        name, _, property_list = head.partition(" ")
        pairs = [part.split("=", 1) for part in property_list.strip().split(",") if part]
        properties = {pair[0]: _unescape(pair[1], _UNESCAPE_PROPERTY) for pair in pairs if len(pair) == 2}
        return Command(name, properties, _unescape(data, _UNESCAPE))
    if "##[" in line and "]" in line[line.index("##[") :]:
        return Command("##[", {}, line)
    return None


def _unescape(text: str, rule: tuple[tuple[str, str], ...]) -> str:
    for code, character in (*rule, ("%25", "%")):
        text = text.replace(code, character)
    return text
