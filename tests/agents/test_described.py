"""Test the OpenAPI document as client generators read it, and the options that a service refuses at startup."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from agents_server import KEY, SERVE, TASK, UNSAFE

from plansafe.app.interfaces.agents.operations import OperationContext, perform
from plansafe.app.interfaces.agents.request_fields import BadRequest
from plansafe.app.interfaces.agents.worker_messages import Limits
from plansafe.app.interfaces.http.api_key import Hosts, read_hosts
from plansafe.app.interfaces.http.openapi import components, document
from plansafe.grammar.diagnostics import Diagnostic
from quick import quick_every

OPEN, LOCKED = document(False), document(True)


def json_objects(value: Any) -> Iterator[dict[str, Any]]:
    """All objects of a JSON value, nested ones included."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for element in value:
            yield from json_objects(element)


def operations() -> list[dict[str, Any]]:
    return [operation for methods in LOCKED["paths"].values() for operation in methods.values()]


def test_references_are_defined() -> None:
    references = {schema["$ref"] for schema in json_objects(LOCKED) if isinstance(schema.get("$ref"), str)}
    assert references
    definitions = {f"#/components/schemas/{name}" for name in LOCKED["components"]["schemas"]}
    assert references <= definitions
    for schema in LOCKED["components"]["schemas"].values():
        assert not {"$schema", "$id", "$defs"} & schema.keys()
        jsonschema.Draft202012Validator.check_schema(schema)


def test_answers_and_refusals_are_described() -> None:
    names = [operation["operationId"] for operation in operations()]
    assert len(set(names)) == len(names) == 18
    for operation in operations():
        assert operation["tags"]
        assert len(operation["summary"]) < 150
        for answer in operation["responses"].values():
            assert answer["description"]
            assert answer["content"]["application/json"]["schema"]["$ref"]
        if operation["operationId"] != "health":
            assert {"200", "400", "401", "404", "422", "500", "503", "504"} <= operation["responses"].keys()
    assert not any(
        "401" in operation["responses"] for methods in OPEN["paths"].values() for operation in methods.values()
    )
    assert set(LOCKED["components"]["securitySchemes"]) == {"key", "header"}
    assert "securitySchemes" not in OPEN["components"]


@pytest.mark.parametrize(("name", "schema"), [("audit", "report"), ("repair", "repair")])
def test_answers_have_the_schema_of_the_document(name: str, schema: str) -> None:
    body = json.dumps({**TASK, "plan": UNSAFE}).encode()
    answer = json.loads(perform(name, body, OperationContext(Limits())))
    jsonschema.Draft202012Validator({**OPEN, "$ref": f"#/components/schemas/{schema}"}).validate(answer)
    invalid = {**answer, "headline": "FINE"} if schema == "report" else {**answer, "repairs": 1}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator({**OPEN, "$ref": f"#/components/schemas/{schema}"}).validate(invalid)


def test_enumerations_have_values_of_one_type() -> None:
    """Client generators skip an answer whose schema has an enumeration with values of several types."""
    enumerations = [schema["enum"] for schema in json_objects(LOCKED) if isinstance(schema.get("enum"), list)]
    assert enumerations
    for values in enumerations:
        types = {type(value) for value in values} - {type(None)}
        assert types in ({str}, {int}), values


def test_a_file_name_is_refused_as_problem() -> None:
    body = json.dumps({"problem": "examples/dinner/problem.pddl", "plan": UNSAFE}).encode()
    with pytest.raises(BadRequest, match="the service reads no files"):
        perform("audit", body, OperationContext(Limits()))


def test_equal_definitions_are_shared() -> None:
    inner = {"$ref": "#/$defs/b"}
    first = {"$defs": {"a": inner, "b": {"type": "string"}, "c": {"type": "null"}}, "items": {"$ref": "#/$defs/a"}}
    second = {"$defs": {"a": inner, "b": {"type": "number"}, "c": {"type": "null"}, "x": {}}, "not": inner}
    schemas = components({"x": first, "y": second})
    assert set(schemas) == {"x", "y", "x_a", "y_a", "x_b", "y_b", "c", "y_x"}
    assert schemas["x"] == {"items": {"$ref": "#/components/schemas/x_a"}}
    assert schemas["x_a"] == {"$ref": "#/components/schemas/x_b"}
    assert schemas["y_a"] == {"$ref": "#/components/schemas/y_b"}


@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        ("127.0.0.1:8731", True),
        ("LOCALHOST", True),
        ("[::1]:80", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
    ],
)
def test_only_this_machine_is_allowed_by_default(header: str, allowed: bool) -> None:
    hosts = read_hosts([], True)
    assert isinstance(hosts, Hosts)
    assert hosts.allows(header) is allowed
    anywhere = read_hosts([], False)
    assert isinstance(anywhere, Hosts)
    assert anywhere.allows(header)


def test_host_patterns_are_read() -> None:
    hosts = read_hosts(["Robots.example", "*.home.example", "[::1]"], True)
    assert isinstance(hosts, Hosts)
    assert [hosts.allows(name) for name in ("robots.example:1", "a.home.example", "home.example", "[::1]")] == [
        True,
        True,
        False,
        True,
    ]
    for name in ("robot*", "a b", "http://x", ""):
        assert isinstance(read_hosts([name], True), Diagnostic)


@pytest.mark.parametrize(
    ("flags", "message"),
    quick_every(
        5,
        [
            (("--host", "no.such.host.invalid", "--key-file", "KEY"), "cannot listen at 'no.such.host.invalid'"),
            (("--allow-host", "robot*", "--port", "0"), "--allow-host expects a host name"),
            (("--key-file", "nowhere", "--port", "0"), "the key cannot be read from the file nowhere"),
            (("--host", "0.0.0.0", "--port", "0"), "no key is set"),
            (("--model", "nope/x", "--port", "0"), "unknown provider 'nope'"),
        ],
    ),
)
def test_invalid_option_is_refused(tmp_path: Any, flags: tuple[str, ...], message: str) -> None:
    (tmp_path / "KEY").write_text(KEY)
    assert message in startup_error(tmp_path, *flags)


def test_port_in_use_is_reported(tmp_path: Any) -> None:
    with socket.socket() as occupant:
        occupant.bind(("127.0.0.1", 0))
        occupant.listen()
        port = str(occupant.getsockname()[1])
        error = startup_error(tmp_path, "--port", port)
    assert f"cannot listen at port {port} of 127.0.0.1: address already in use" in error
    assert "any free port with --port 0" in error


def startup_error(folder: Any, *flags: str) -> str:
    """The standard error of a server that refuses to start, with exit code 2."""
    process = subprocess.run([*SERVE, *flags], cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert process.returncode == 2, process.stderr
    assert "Traceback" not in process.stderr
    return process.stderr
