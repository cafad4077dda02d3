"""The operations as functions: texts in, JSON of the published schemas out; names reach no path."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from agents_server import DOMAIN, PROBLEM, RULES, SAFE, TASK, UNSAFE

from plansafe.app.interfaces.agents.answer_schemas import answer_schema
from plansafe.app.interfaces.agents.monitor_session import MonitorSession, SessionRefused
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

    def asked(name: str, /, **given: Any) -> Any:
        return json.loads(perform(name, json.dumps(given).encode(), context))

    return asked


def refused(work: Callable[[], Any]) -> str:
    with pytest.raises(BadRequest) as found:
        work()
    return found.value.diagnostic.code


def test_the_verdict_is_that_of_the_service(ask: Callable[..., Any]) -> None:
    found = ask("audit", **TASK, plan=UNSAFE, name="tea")
    jsonschema.Draft202012Validator(answer_schema("report")).validate(found)
    assert (found["plan"], found["headline"], found["findings"][0]["rule"]) == (
        "tea",
        "UNSAFE",
        "stove-off-before-leaving",
    )
    assert ask("audit", **TASK, plan=SAFE)["headline"] == "SAFE"


def test_a_repair_and_a_diagnosis(ask: Callable[..., Any]) -> None:
    schema = jsonschema.Draft202012Validator(answer_schema("repair"))
    found = ask("repair", **TASK, plan=UNSAFE)
    schema.validate(found)
    assert found["status"] == "found"
    assert found["repairs"][0]["headline"] == "SAFE"
    kept = ask("repair", **TASK, plan=UNSAFE, protect=[1])
    assert kept["text"].split("\n")[0].startswith("(switch-on hob kitchen)")
    found = ask("diagnose", **TASK, plan=UNSAFE, where=True, causes=True)
    schema.validate(found)
    assert found["where"]["violated"] == 2
    assert found["causes"][0]["steps"] == [1, 2]


def test_without_rules_nothing_is_said_about_safety(ask: Callable[..., Any]) -> None:
    bare = {"domain": DOMAIN, "problem": PROBLEM}
    assert ask("audit", **bare, plan=UNSAFE)["safe"] is None
    assert ask("audit", **bare, plan=UNSAFE, gate=True)["exit_code"] == 2
    with pytest.raises(SessionRefused) as none:
        MonitorSession(json.dumps(bare).encode(), Limits())
    assert none.value.diagnostics[0].code == SC.GATE_WITHOUT_RULES
    assert MonitorSession(json.dumps({**bare, "allow_no_rules": True}).encode(), Limits()).opened()["deciding"] == 0


def test_what_a_plan_says_chooses_nothing(ask: Callable[..., Any], tmp_path: Any) -> None:
    secret = tmp_path / "secret.pddl"
    secret.write_text(PROBLEM, encoding="utf-8")
    found = ask("audit", domain=DOMAIN, plan=f"; problem: {secret}\n; domain: household\n{SAFE}")
    assert found["headline"] is None
    assert [d["code"] for d in found["diagnostics"]] == [SC.NO_PROBLEM]


@pytest.mark.parametrize("name", TRAVERSALS)
def test_no_name_is_a_path(ask: Callable[..., Any], name: str) -> None:
    for field in ("domain", "rules"):
        value = [name] if field == "rules" else name
        assert refused(lambda field=field, value=value: ask("audit", plan="", problem=PROBLEM, **{field: value}))
    for what in ("rules", "domain", "world"):
        assert refused(lambda what=what: ask("show", what=what, name=name)) == SC.NOT_FOUND
    assert refused(lambda: ask("explain", code=name))
    assert refused(lambda: ask("hazards", domain=name))
    said = ask("audit", world=name, scene="{}", plan="x")
    assert [d["code"] for d in said["diagnostics"]] == [SC.UNKNOWN_WORLD]
    extending = f"(define (safety s) (:extends {name or 'x'}) (:process r :forbid (on hob)))"
    found = ask("audit", domain=DOMAIN, problem=PROBLEM, rules=[extending], plan=SAFE)
    assert found["headline"] is None
    assert "root:" not in json.dumps(found)


def test_a_specification_extends_another_one_of_the_caller_or_a_shipped_one(ask: Callable[..., Any]) -> None:
    more = "(define (safety more) (:extends kitchen) (:termination home :require (robot-in hall)))"
    found = ask("audit", domain=DOMAIN, problem=PROBLEM, rules=[more, RULES], plan=UNSAFE)
    assert found["headline"] == "UNSAFE"
    for name in ("household", "home"):
        text = f"(define (safety x) (:extends {name}))"
        said = ask("audit", domain=DOMAIN, problem=PROBLEM, rules=[text], plan=SAFE)
        assert not [d for d in said["diagnostics"] if "extend" in d["message"]], said["diagnostics"]


def test_shipped_things_by_name(ask: Callable[..., Any]) -> None:
    listed = ask("catalogue")
    assert listed["rules"] == list(spec_names())
    jsonschema.Draft202012Validator(answer_schema("catalogue")).validate(listed)
    text = (files("plansafe.specs") / "household.safe").read_text(encoding="utf-8")
    assert ask("show", what="rules", name="household")["text"] == text
    assert ask("explain", code="SC201")["title"] == "process rule violated"
    jsonschema.Draft202012Validator(answer_schema("hazards")).validate(ask("hazards", taxonomy="safel"))


def test_a_sentence_to_a_rule_by_the_drafts_of_an_agent(ask: Callable[..., Any]) -> None:
    draft = "(:termination r :parameters (?s - stove) :forbid (on ?s))"
    given = {"domain": DOMAIN, "problem": PROBLEM, "sentence": "no stove is on at the end"}
    found = ask("formalise", **given, answers=[draft, draft, "(:process r :forbid (onn hob))"])
    jsonschema.Draft202012Validator(answer_schema("formalise")).validate(found)
    assert found["sentences"][0]["rule"] == draft
    assert refused(lambda: ask("formalise", **given)) == SC.BAD_REQUEST


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
def test_what_is_no_request_is_said(body: bytes) -> None:
    assert refused(lambda: perform("audit", body, OperationContext(Limits()))) == SC.BAD_REQUEST


@pytest.mark.parametrize(
    ("field", "help"), [("plam", "did you mean `plan`?"), ("specifications", "the fields are domain, problem, ")]
)
def test_an_unknown_field_is_answered_with_the_known_ones(field: str, help: str) -> None:
    with pytest.raises(BadRequest) as error:
        perform("audit", json.dumps({field: ""}).encode(), OperationContext(Limits()))
    assert (error.value.diagnostic.help or "").startswith(help)


def test_no_answer_says_where_safecheck_lies(ask: Callable[..., Any], data: Any) -> None:
    from plansafe.app.interfaces.agents.worker import _text_reply

    body = _text_reply(json.dumps(ask("show", what="world", name="virtualhome"))).body
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    assert os.path.dirname(root).encode() not in body


def test_the_description_has_each_way_and_stands_alone() -> None:
    told = document(locked=True)
    assert {(path, method) for path, ways in told["paths"].items() for method in ways} == {
        *[(route.path, route.method.lower()) for route in ROUTES],
        ("/health", "get"),
    }
    assert told["security"] == [{"key": []}, {"header": []}]
    for schema in told["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
