"""What every output has to be: JSON lines by the shipped schemas, SARIF by its own, text by its shape."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

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
