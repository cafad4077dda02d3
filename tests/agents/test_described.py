"""The OpenAPI document as a generator of clients reads it, and the ways on which a service is not started."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from agents_server import TASK, UNSAFE

from plansafe.app.interfaces.agents.operations import OperationContext, perform
from plansafe.app.interfaces.agents.request_fields import BadRequest
from plansafe.app.interfaces.agents.worker_messages import Limits
from plansafe.app.interfaces.http.api_key import Hosts, read_hosts
from plansafe.app.interfaces.http.openapi import components, document
from plansafe.grammar.diagnostics import Diagnostic
from quick import quick_every

OPEN, LOCKED = document(False), document(True)


def tables(value: Any) -> Iterator[dict[str, Any]]:
    """All objects of a JSON value, the innermost, too."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from tables(item)


def operations() -> list[dict[str, Any]]:
    return [way for path in LOCKED["paths"].values() for way in path.values()]


def test_every_reference_leads_to_a_component() -> None:
    found = {one["$ref"] for one in tables(LOCKED) if isinstance(one.get("$ref"), str)}
    assert found
    there = {f"#/components/schemas/{name}" for name in LOCKED["components"]["schemas"]}
    assert found <= there
    for schema in LOCKED["components"]["schemas"].values():
        assert not {"$schema", "$id", "$defs"} & schema.keys()
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_answer_is_typed_and_every_refusal_described() -> None:
    names = [way["operationId"] for way in operations()]
    assert len(set(names)) == len(names) == 18
    for way in operations():
        assert way["tags"]
        assert len(way["summary"]) < 150
        for answer in way["responses"].values():
            assert answer["description"]
            assert answer["content"]["application/json"]["schema"]["$ref"]
        if way["operationId"] != "health":
            assert {"200", "400", "401", "404", "422", "500", "503", "504"} <= way["responses"].keys()
    assert not any("401" in way["responses"] for path in OPEN["paths"].values() for way in path.values())
    assert set(LOCKED["components"]["securitySchemes"]) == {"key", "header"}
    assert "securitySchemes" not in OPEN["components"]


@pytest.mark.parametrize(("name", "schema"), [("audit", "report"), ("repair", "repair")])
def test_an_answer_is_what_the_document_says(name: str, schema: str) -> None:
    body = json.dumps({**TASK, "plan": UNSAFE}).encode()
    answer = json.loads(perform(name, body, OperationContext(Limits())))
    jsonschema.Draft202012Validator({**OPEN, "$ref": f"#/components/schemas/{schema}"}).validate(answer)
    bad = {**answer, "headline": "FINE"} if schema == "report" else {**answer, "repairs": 1}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator({**OPEN, "$ref": f"#/components/schemas/{schema}"}).validate(bad)


def test_nothing_is_said_that_generators_pass_over() -> None:
    """A list of values of several types is no type to them: they leave out the answer that has one."""
    found = [one["enum"] for one in tables(LOCKED) if isinstance(one.get("enum"), list)]
    assert found
    for values in found:
        kinds = {type(value) for value in values} - {type(None)}
        assert kinds in ({str}, {int}), values


def test_the_name_of_a_file_is_no_problem() -> None:
    body = json.dumps({"problem": "examples/dinner/problem.pddl", "plan": UNSAFE}).encode()
    with pytest.raises(BadRequest, match="the service reads no files"):
        perform("audit", body, OperationContext(Limits()))


def test_definitions_are_shared_only_where_they_say_the_same() -> None:
    inner = {"$ref": "#/$defs/b"}
    first = {"$defs": {"a": inner, "b": {"type": "string"}, "c": {"type": "null"}}, "items": {"$ref": "#/$defs/a"}}
    second = {"$defs": {"a": inner, "b": {"type": "number"}, "c": {"type": "null"}, "x": {}}, "not": inner}
    found = components({"x": first, "y": second})
    assert set(found) == {"x", "y", "x_a", "y_a", "x_b", "y_b", "c", "y_x"}
    assert found["x"] == {"items": {"$ref": "#/components/schemas/x_a"}}
    assert found["x_a"] == {"$ref": "#/components/schemas/x_b"}
    assert found["y_a"] == {"$ref": "#/components/schemas/y_b"}


@pytest.mark.parametrize(
    ("header", "known"),
    [
        ("127.0.0.1:8731", True),
        ("LOCALHOST", True),
        ("[::1]:80", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
    ],
)
def test_this_machine_alone_is_known_where_nobody_says_more(header: str, known: bool) -> None:
    hosts = read_hosts([], True)
    assert isinstance(hosts, Hosts)
    assert hosts.allows(header) is known
    anywhere = read_hosts([], False)
    assert isinstance(anywhere, Hosts)
    assert anywhere.allows(header)


def test_names_of_hosts_are_read_and_others_refused() -> None:
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
    ("flags", "said"),
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
def test_a_wrong_flag_is_a_mistake(tmp_path: Any, flags: tuple[str, ...], said: str) -> None:
    (tmp_path / "KEY").write_text("a-key-of-more-than-sixteen")
    assert said in refused(tmp_path, *flags)


def test_a_port_that_another_program_has_is_a_mistake(tmp_path: Any) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        answer = refused(tmp_path, "--port", port)
    assert f"cannot listen at port {port} of 127.0.0.1: address already in use" in answer
    assert "any free port with --port 0" in answer


def refused(folder: Any, *flags: str) -> str:
    """What a server says that is not started; its exit code is that of a mistake."""
    command = [sys.executable, "-c", "from plansafe.app.main import main; raise SystemExit(main())", "serve", *flags]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr
