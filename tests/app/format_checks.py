"""What every output has to be: JSON lines by the shipped schemas, others by their readers', text by its shape."""

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
    return jsonschema.Draft202012Validator(schema(name))  # no registry, no resolver: as a user has it


@cache
def _sarif() -> jsonschema.Draft4Validator:
    text = (HERE / "sarif" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8")
    return jsonschema.Draft4Validator(json.loads(text))


def json_lines(text: str, name: str) -> list[Any]:
    """The objects of an output in JSON, one on each line, each valid under a shipped schema (``report-1``, ..)."""
    objects = [json_object(line) for line in _lines(text)]
    for found in objects:
        _validator(name).validate(found)
    return objects


def json_object(text: str) -> Any:
    """One JSON object: RFC 8259 to the letter, no key twice, nothing that is no Unicode."""
    found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    assert isinstance(found, dict)
    json.dumps(found, ensure_ascii=False).encode("utf-8")  # a lone surrogate would be refused
    return found


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
    """A report for people: something is said, and nothing that would move a cursor."""
    assert text.strip()
    for line in _lines(text):
        assert line.isprintable(), line


def _lines(text: str) -> list[str]:
    assert text.endswith("\n")
    return text[:-1].split("\n")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key twice: {keys}"
    return dict(pairs)


def _no_number(word: str) -> Any:
    raise AssertionError(f"{word} is no JSON")


@cache
def _junit() -> Schema:
    return Schema(HERE / "junit" / "junit-10.xsd")


def junit_suites(text: str) -> list[Element]:
    """The suites of a document that fits the schema of Jenkins' xUnit plugin, with counts that are right."""
    text.encode("utf-8")
    assert list(_junit().problems(text)) == []
    suites = ElementTree.fromstring(text).findall("testsuite")
    for suite in suites:
        counted = {"tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error"}
        for key, path in {**counted, "skipped": "testcase/skipped"}.items():
            assert int(suite.attrib[key]) == len(suite.findall(path))
    return suites


@cache
def _gitlab() -> jsonschema.Draft7Validator:
    return jsonschema.Draft7Validator(json.loads((HERE / "gitlab" / "codeclimate.json").read_text(encoding="utf-8")))


def gitlab_items(text: str) -> list[Any]:
    """The items of a code quality report that fit GitLab's schema, and what its documentation says beyond that."""
    text.encode("utf-8")
    assert text.isascii()
    items = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    for item in items:
        _gitlab().validate(item)
        assert item["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert item["check_name"]
        assert not item["location"]["path"].startswith("./")
        assert 1 <= item["location"]["lines"]["begin"] <= item["location"]["lines"]["end"]
        json.dumps(item, ensure_ascii=False).encode("utf-8")
    assert len({item["fingerprint"] for item in items}) == len(items)
    return list(items)


class Command(NamedTuple):
    """A workflow command, as GitHub's runner reads it."""

    name: str
    properties: dict[str, str]
    data: str


_UNESCAPE = (("%0D", "\r"), ("%0A", "\n"))
_OF_PROPERTIES = (*_UNESCAPE, ("%3A", ":"), ("%2C", ","))


def github_lines(text: str) -> list[Command | str]:
    """The lines as GitHub's runner takes them: commands of ours, and text that is no command."""
    out: list[Command | str] = []
    for line in _lines(text):
        assert line.isprintable(), line
        found = runner_reads(line)
        out.append(line if found is None else found)
        if found is None:
            assert line.startswith("safecheck: "), line
        else:
            assert found.name in ("error", "warning", "notice"), line
            assert set(found.properties) <= {"file", "line", "endLine", "col", "endColumn", "title"}, line
    return out


def runner_reads(line: str) -> Command | None:
    """``ActionCommand.TryParseV2``, else ``TryParse``, of actions/runner (src/Runner.Common/ActionCommand.cs)."""
    stripped = line.lstrip()
    if stripped.startswith("::") and "::" in stripped[2:]:
        said, _, data = stripped[2:].partition("::")
        name, _, rest = said.partition(" ")
        pairs = [part.split("=", 1) for part in rest.strip().split(",") if part]
        properties = {pair[0]: _unescaped(pair[1], _OF_PROPERTIES) for pair in pairs if len(pair) == 2}
        return Command(name, properties, _unescaped(data, _UNESCAPE))
    if "##[" in line and "]" in line[line.index("##[") :]:
        return Command("##[", {}, line)
    return None


def _unescaped(text: str, rule: tuple[tuple[str, str], ...]) -> str:
    for code, character in (*rule, ("%25", "%")):
        text = text.replace(code, character)
    return text
