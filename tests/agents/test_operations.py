"""Test the operations as functions: their JSON has the published schemas; a name is never used as a path."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from agents_server import DOMAIN, PROBLEM, RULES, SAFE, TASK, UNSAFE

from plansafe.app.interfaces.agents.monitor_session import MonitorSession, SessionRefused
from plansafe.app.interfaces.agents.operation_fields import answer_schema
from plansafe.app.interfaces.agents.operations import OperationContext, perform
from plansafe.app.interfaces.agents.request_fields import BadRequest
from plansafe.app.interfaces.agents.worker_messages import Limits
from plansafe.app.interfaces.http.openapi import ROUTES, document
from plansafe.grammar.codes import SC
from plansafe.specs import spec_names

TRAVERSALS = (
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "/etc/passwd",
    "household/../../x",
    "home.safe",
    "\0",
    "",
    "~",
)


@pytest.fixture(scope="module")
def ask() -> Callable[..., Any]:
    context = OperationContext(Limits(seconds=20))

    def call(name: str, /, **fields: Any) -> Any:
        return json.loads(perform(name, json.dumps(fields).encode(), context))

    return call


def refusal_code(call: Callable[[], Any]) -> str:
    with pytest.raises(BadRequest) as refusal:
        call()
    return refusal.value.diagnostic.code


def test_audit_reports_the_verdict(ask: Callable[..., Any]) -> None:
    report = ask("audit", **TASK, plan=UNSAFE, name="tea")
    jsonschema.Draft202012Validator(answer_schema("report")).validate(report)
    assert (report["plan"], report["headline"], report["findings"][0]["rule"]) == (
        "tea",
        "UNSAFE",
        "stove-off-before-leaving",
    )
    assert ask("audit", **TASK, plan=SAFE)["headline"] == "SAFE"


def test_repair_and_diagnose(ask: Callable[..., Any]) -> None:
    schema = jsonschema.Draft202012Validator(answer_schema("repair"))
    repair = ask("repair", **TASK, plan=UNSAFE)
    schema.validate(repair)
    assert repair["status"] == "found"
    assert repair["repairs"][0]["headline"] == "SAFE"
    protected = ask("repair", **TASK, plan=UNSAFE, protect=[1])
    assert protected["text"].split("\n")[0].startswith("(switch-on hob kitchen)")
    diagnosis = ask("diagnose", **TASK, plan=UNSAFE, where=True, causes=True)
    schema.validate(diagnosis)
    assert diagnosis["where"]["violated"] == 2
    assert diagnosis["causes"][0]["steps"] == [1, 2]


def test_safety_is_not_decided_without_rules(ask: Callable[..., Any]) -> None:
    task = {"domain": DOMAIN, "problem": PROBLEM}
    assert ask("audit", **task, plan=UNSAFE)["safe"] is None
    assert ask("audit", **task, plan=UNSAFE, gate=True)["exit_code"] == 2
    with pytest.raises(SessionRefused) as refusal:
        MonitorSession(json.dumps(task).encode(), Limits())
    assert refusal.value.diagnostics[0].code == SC.GATE_WITHOUT_RULES
    assert MonitorSession(json.dumps({**task, "allow_no_rules": True}).encode(), Limits()).opened()["deciding"] == 0


def test_comments_of_a_plan_select_no_files(ask: Callable[..., Any], tmp_path: Any) -> None:
    secret = tmp_path / "secret.pddl"
    secret.write_text(PROBLEM, encoding="utf-8")
    report = ask("audit", domain=DOMAIN, plan=f"; problem: {secret}\n; domain: household\n{SAFE}")
    assert report["headline"] is None
    assert [d["code"] for d in report["diagnostics"]] == [SC.NO_PROBLEM]


@pytest.mark.parametrize("name", TRAVERSALS)
def test_names_are_not_paths(ask: Callable[..., Any], name: str) -> None:
    for field in ("domain", "rules"):
        value = [name] if field == "rules" else name
        assert refusal_code(lambda field=field, value=value: ask("audit", plan="", problem=PROBLEM, **{field: value}))
    for kind in ("rules", "domain", "world"):
        assert refusal_code(lambda kind=kind: ask("show", what=kind, name=name)) == SC.NOT_FOUND
    assert refusal_code(lambda: ask("explain", code=name))
    assert refusal_code(lambda: ask("hazards", domain=name))
    report = ask("audit", world=name, scene="{}", plan="x")
    assert [d["code"] for d in report["diagnostics"]] == [SC.UNKNOWN_WORLD]
    extending = f"(define (safety s) (:extends {name or 'x'}) (:process r :forbid (on hob)))"
    report = ask("audit", domain=DOMAIN, problem=PROBLEM, rules=[extending], plan=SAFE)
    assert report["headline"] is None
    assert "root:" not in json.dumps(report)


def test_rules_extend_rules_of_the_request_or_shipped_rules(ask: Callable[..., Any]) -> None:
    extension = "(define (safety more) (:extends kitchen) (:termination home :require (robot-in hall)))"
    report = ask("audit", domain=DOMAIN, problem=PROBLEM, rules=[extension, RULES], plan=UNSAFE)
    assert report["headline"] == "UNSAFE"
    for name in ("household", "home"):
        text = f"(define (safety x) (:extends {name}))"
        extended = ask("audit", domain=DOMAIN, problem=PROBLEM, rules=[text], plan=SAFE)
        assert not [d for d in extended["diagnostics"] if "extend" in d["message"]], extended["diagnostics"]


def test_shipped_files_are_shown_by_name(ask: Callable[..., Any]) -> None:
    catalogue = ask("catalogue")
    assert catalogue["rules"] == list(spec_names())
    jsonschema.Draft202012Validator(answer_schema("catalogue")).validate(catalogue)
    text = (files("plansafe.specs") / "household.safe").read_text(encoding="utf-8")
    assert ask("show", what="rules", name="household")["text"] == text
    assert ask("explain", code="SC201")["title"] == "process rule violated"
    jsonschema.Draft202012Validator(answer_schema("hazards")).validate(ask("hazards", taxonomy="safel"))


def test_formalise_selects_among_the_drafts_of_an_agent(ask: Callable[..., Any]) -> None:
    draft = "(:termination r :parameters (?s - stove) :forbid (on ?s))"
    request = {"domain": DOMAIN, "problem": PROBLEM, "sentence": "no stove is on at the end"}
    answer = ask("formalise", **request, answers=[draft, draft, "(:process r :forbid (onn hob))"])
    jsonschema.Draft202012Validator(answer_schema("formalise")).validate(answer)
    assert answer["sentences"][0]["rule"] == draft
    assert refusal_code(lambda: ask("formalise", **request)) == SC.BAD_REQUEST


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b"{",
        b'{"plan": 1}',
        b'{"plan": "a", "plan": "b"}',
        b'{"plan": "", "max_findings": 1e999}',
        b'{"plan": "", "max_findings": true}',
        b'{"plan": "", "max_findings": NaN}',
        b'{"plan": "", "max_findings": ' + b"9" * 10_000 + b"}",
        b'{"plan": "", "rules": "home"}',
        b'{"plan": "", "plam": ""}',
        b"[" * 1_000_000,
        b'{"a":' * 200_000,
    ],
)
def test_malformed_request_is_refused(body: bytes) -> None:
    assert refusal_code(lambda: perform("audit", body, OperationContext(Limits()))) == SC.BAD_REQUEST


@pytest.mark.parametrize(
    ("field", "help"), [("plam", "did you mean `plan`?"), ("specifications", "the fields are domain, problem, ")]
)
def test_refusal_of_an_unknown_field_lists_the_known_fields(field: str, help: str) -> None:
    with pytest.raises(BadRequest) as error:
        perform("audit", json.dumps({field: ""}).encode(), OperationContext(Limits()))
    assert (error.value.diagnostic.help or "").startswith(help)


def test_answers_do_not_contain_the_path_of_the_installation(ask: Callable[..., Any], data: Any) -> None:
    from plansafe.app.interfaces.agents.worker import _text_reply

    body = _text_reply(json.dumps(ask("show", what="world", name="virtualhome"))).body
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    assert os.path.dirname(root).encode() not in body


def test_openapi_document_describes_all_routes() -> None:
    description = document(locked=True)
    assert {(path, method) for path, methods in description["paths"].items() for method in methods} == {
        *[(route.path, route.method.lower()) for route in ROUTES],
        ("/health", "get"),
    }
    assert description["security"] == [{"key": []}, {"header": []}]
    for schema in description["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
