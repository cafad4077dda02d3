"""Parts of the model interface: reasoning, forms of constraints, addresses of requests, the cache of answers."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plansafe.grammar.codes import SC
from plansafe.llm.models.answer import LONGEST, Answer, Enforced, Finish, bounded, from_json, to_json
from plansafe.llm.models.cache import Cache, default_path
from plansafe.llm.models.constraint import to_supported_form, unpacked, with_form_check
from plansafe.llm.models.ollama import url_of
from plansafe.llm.models.port import Capabilities, ModelError
from plansafe.llm.models.received import Garbage, read_object, without_reasoning
from plansafe.llm.models.request import (
    Choice,
    Grammar,
    JsonSchema,
    Message,
    Request,
    Role,
    Situation,
    Syntax,
    address,
    user_messages,
)

HI = Request(user_messages("hi"))


@pytest.mark.parametrize(
    ("text", "left", "inside"),
    [
        ("plan", "plan", 0),
        (" plan\n", " plan\n", 0),
        ("<think>abc</think>\n\nplan", "plan", 3),
        ("<THINK>abc</Think>plan<think>de</think>", "plan", 5),
        ("abc</think>plan", "plan", 3),
        ("plan<think>abc", "plan", 3),
        ("<think>a<think>b</think>c</think>plan", "plan", 3),
        ("<think>", "", 0),
        ("<thinker>plan", "<thinker>plan", 0),
    ],
)
def test_reasoning(text: str, left: str, inside: int) -> None:
    assert without_reasoning(text) == (left, inside)


def test_reasoning_of_any_size_takes_linear_time() -> None:
    begin = time.process_time()
    assert without_reasoning("<think>" * 300_000)[0] == ""
    assert without_reasoning("</think>" * 300_000)[0] == ""
    assert without_reasoning("<think>x</think>y" * 100_000) == ("y" * 100_000, 100_000)
    assert time.process_time() - begin < 10


def test_forms_of_a_constraint() -> None:
    choice, large_choice = Choice(("a", "b")), Choice(tuple([str(n) for n in range(2_000)]))
    all_forms = Capabilities(choice=True, gbnf=True, lark=True, json_schema=True)
    assert to_supported_form(choice, all_forms).enforced is Enforced.NATIVE
    assert to_supported_form(choice, replace(all_forms, choice=False)).constraint == Grammar('root ::= "a" | "b"')
    schema = to_supported_form(choice, Capabilities(json_schema=True))
    assert (schema.enforced, schema.wrapped) == (Enforced.AS_SCHEMA, True)
    assert to_supported_form(large_choice, Capabilities(json_schema=True)).enforced is Enforced.NOT
    assert to_supported_form(Grammar("x", Syntax.LARK), Capabilities(gbnf=True)).enforced is Enforced.NOT
    assert to_supported_form(None, all_forms) == (None, Enforced.NOTHING_ASKED, False)


def test_an_answer_is_compared_with_its_constraint() -> None:
    choice = Choice(("a b", " c"))
    for text, left, met in (("a b", "a b", True), (" a b\n", "a b", True), (" c", " c", True), ("c", "c", False)):
        answer = with_form_check(Answer(text), choice)
        assert (answer.text, answer.met) == (left, met)
    for text, met in (("{}", True), ("[]", False), ("{", False), ("[" * 100_000, False)):
        assert with_form_check(Answer(text), JsonSchema('{"type": "object"}')).met is met
    assert with_form_check(Answer("x"), Grammar("y")).met is None
    assert unpacked('{"answer": 3}') == '{"answer": 3}'


def test_the_address_covers_all_fields_of_a_request() -> None:
    variants = [
        replace(HI, messages=user_messages("ho")),
        replace(HI, messages=user_messages("hi", "system")),
        replace(HI, messages=(Message(Role.ASSISTANT, "hi"),)),
        replace(HI, max_tokens=1),
        replace(HI, temperature=1.0),
        replace(HI, top_p=0.5),
        replace(HI, seed=0),
        replace(HI, stop=("x",)),
        replace(HI, constraint=Choice(("a",))),
        replace(HI, constraint=Grammar("a")),
        replace(HI, constraint=Grammar("a", Syntax.LARK)),
        replace(HI, constraint=JsonSchema("{}")),
        replace(HI, sample=1),
    ]
    addresses = [address(HI), address(HI, "m"), *[address(variant) for variant in variants]]
    assert len(set(addresses)) == len(addresses)
    assert address(replace(HI, situation=Situation("t"))) == address(HI)
    assert address(HI) == address(Request(user_messages("hi")))


@given(st.builds(Answer, text=st.text(), finish=st.sampled_from(Finish), notes=st.lists(st.text()).map(tuple)))
def test_answers_are_written_and_read(answer: Answer) -> None:
    assert from_json(to_json(answer)) == answer


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_garbage(body: bytes) -> None:
    try:
        assert isinstance(read_object(body), dict)
    except Garbage as garbage:
        assert str(garbage)


def test_brackets_in_texts_do_not_count_as_lists() -> None:
    text = '[{"\\' * 300_000
    assert read_object(json.dumps({"a": text, "b": [1]}).encode()) == {"a": text, "b": [1]}
    with pytest.raises(Garbage):
        read_object(b'{"a": [' + b"[]," * 300_000 + b"1]}")


def test_long_answers_are_cut() -> None:
    assert bounded(Answer("x" * LONGEST)).notes == ()
    cut = bounded(Answer("x" * (LONGEST + 1)))
    assert (len(cut.text), cut.finish, len(cut.notes)) == (LONGEST, Finish.LENGTH, 1)


def test_the_cache_keeps_answers_by_model(tmp_path: Path) -> None:
    path = str(tmp_path / "deep" / "a.sqlite")
    answer = Answer("x", prompt_tokens=3, notes=("y",))
    with Cache(path) as cache, Cache(path) as second:
        cache.put(HI, "m", answer)
        assert second.get(HI, "m") == replace(answer, stored=True)
        assert second.get(HI, "n") is None
        assert [(model, json.loads(request)["messages"]) for model, request, _ in second.records()] == [
            ("m", [["user", "hi"]])
        ]


@pytest.mark.parametrize("row", ["", "{", "[]", '{"text": 1}', '{"text": "x", "finish": "z"}', "\x00"])
def test_a_damaged_row_is_asked_again(row: str, tmp_path: Path) -> None:
    path = str(tmp_path / "a.sqlite")
    with Cache(path) as cache:
        cache.put(HI, "m", Answer("x"))
        connection = sqlite3.connect(path)
        connection.execute("update answers set answer = ?", (row,))
        connection.commit()
        connection.close()
        assert cache.get(HI, "m") is None
        cache.put(HI, "m", Answer("y"))
        assert cache.get(HI, "m") == Answer("y", stored=True)


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    text, database = tmp_path / "plan.pddl", tmp_path / "other.sqlite"
    text.write_text("(define (problem x))" * 1000)
    connection = sqlite3.connect(database)
    connection.execute("create table mine (x)")
    connection.commit()
    connection.close()
    for path in (text, database, tmp_path, text / "a.sqlite"):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(ModelError) as caught:
            Cache(str(path))
        assert caught.value.diagnostic.code == SC.BAD_ANSWER_CACHE
        assert (path.read_bytes() if path.is_file() else b"") == before


def test_the_cache_has_a_default_folder() -> None:
    assert default_path({"SAFECHECK_CACHE": "/a", "XDG_CACHE_HOME": "/b"}) == "/a/answers.sqlite"
    assert default_path({"XDG_CACHE_HOME": "/b"}) == "/b/safecheck/answers.sqlite"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
        (":99", "http://127.0.0.1:99"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("https://box/x", "https://box/x"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:5", "http://[::1]:5"),
    ],
)
def test_ollama_hosts(host: str, url: str) -> None:
    assert url_of(host) == url


def test_deep_json_is_refused_at_every_recursion_limit() -> None:
    """Deep JSON is refused: under a high recursion limit, C code of the standard library would crash the process."""
    code = (
        "import sys; sys.setrecursionlimit(1_000_000)\n"
        "from plansafe.llm.models.received import Garbage, read_object\n"
        "from plansafe.llm.models.answer import from_json\n"
        "assert from_json('[' * 190_000) is None\n"
        "try:\n    read_object(b'[' * 190_000)\nexcept Garbage:\n    print('bounded')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "bounded"), done.stderr
