"""Fuzzed answers of servers: 10,000 of them by ``make fuzz``.

usage: python tests/models/run_answers.py [--count N] [--seed S] [--only NUMBER]

Bodies of the two protocols are changed as bytes and as JSON, and read by every provider under every kind of constraint.
For every input, a call gives an answer or a failure with a code, in time; an answer contains no key, can be written and
read again, is not too long, and claims a choice only if it is one. Input NUMBER of a seed is always the same. The exit
code is 1 if one of these fails.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from typing import Any

from plansafe.llm.models.answer import LONGEST, Answer, from_json, to_json
from plansafe.llm.models.chat import ChatModel
from plansafe.llm.models.dialects import llamacpp_dialect, openai_dialect, vllm_dialect
from plansafe.llm.models.ollama import OllamaModel
from plansafe.llm.models.port import ModelError
from plansafe.llm.models.received import Garbage, complaint, read_object, short
from plansafe.llm.models.request import Choice, Constraint, Grammar, JsonSchema, Request, user_messages
from plansafe.llm.models.transport import Key, Refused, _wait_asked

SECRET = "sk-fuzz-0123456789abcdef"
CHOICE = Choice(("(wash cup)", '(go "a\\b")', "(done)"))
SCHEMA = JsonSchema('{"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}')
CONSTRAINTS: tuple[Constraint | None, ...] = (None, CHOICE, Grammar('root ::= "x"'), SCHEMA)
TEXTS = (
    "(wash cup)",
    '{"answer": "(done)"}',
    "<think>why</think>(done)",
    f"key {SECRET}",
    "",
    "\x1b[2J\u202e\x00 ../../x",
)
ODD: tuple[Any, ...] = (
    *(None, True, -1, 2**70, 1e308, [], {}, [[]], "", "stop", "x" * 3000, "\ud800", {"text": "a"}, [{"text": "b"}, 3]),
    *([None, {"text": 4}], {"0": {}}, "<think>" * 40, {"message": {"content": "in"}}, f"{SECRET}", -(2**63), "NaN"),
)
BYTES = (
    b"\x00",
    b"\xff\xfe",
    b'"',
    b"\\",
    b"{",
    b"]",
    b",",
    b"NaN",
    b"1e999",
    b"\\ud800",
    b"\n",
    b"</think>",
    b"\xef\xbb\xbf",
)
SECONDS = 2.0


class Line:
    """A transport to a server that always answers with one body (see plansafe.llm.models.transport.Transport)."""

    url = "http://fuzz.invalid/v1"

    def __init__(self, body: bytes, refuses: bool) -> None:
        self.body, self.refuses, self.key = body, refuses, Key(SECRET, "FUZZ")
        self.calls = 0

    def post(self, path: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        self.calls += 1
        assert path
        json.dumps(payload)
        if self.refuses and self.calls < 3:
            raise Refused(400, self.clean(complaint(self.body)), "seed" if self.calls == 1 else "grammar")
        return read_object(self.body)

    def clean(self, text: str) -> str:
        return short(self.key.hide(text))

    def hide(self, text: str) -> str:
        return self.key.hide(text)

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def make_valid_body(draw: random.Random) -> dict[str, Any]:
    """Return a valid answer of one of the two protocols, or an error."""
    text = draw.choice(TEXTS)
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 1}}
    message = {"role": "assistant", "content": text, "reasoning_content": "r", "refusal": None}
    right = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    native = {"message": {"content": text, "thinking": "t"}, "done": True, "done_reason": "stop", "eval_count": 4}
    doubled = {"model": "m", "choices": [{"message": message}, {"message": {"content": "other"}}]}
    wrong = {"error": {"message": f"no {SECRET}", "code": "x", "param": "seed"}}
    return draw.choice([right, right, right, native, native, doubled, wrong, {"detail": [{"msg": text}]}])


def mutate(value: Any, draw: random.Random) -> Any:
    """Return the value with one part replaced, dropped or doubled."""
    if not isinstance(value, dict | list) or not value or draw.random() < 0.25:
        return draw.choice(ODD)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = draw.choice(keys)
    copy = dict(value) if isinstance(value, dict) else list(value)
    kind = draw.random()
    if kind < 0.1:
        del copy[key]
    elif kind < 0.2 and isinstance(copy, list):
        copy *= draw.randint(2, 400)
    elif kind < 0.3 and isinstance(copy, dict):
        copy[draw.choice(["error", "choices", "message", "content", "text", "\x1b", "done"])] = draw.choice(ODD)
    else:
        copy[key] = mutate(copy[key], draw)
    return copy


def make_body(draw: random.Random) -> bytes:
    """Return a body that is mutated as JSON, and sometimes also as bytes."""
    value: Any = make_valid_body(draw)
    for _ in range(draw.choice((0, 1, 1, 2))):
        value = mutate(value, draw)
    data = bytearray(json.dumps(value, ensure_ascii=draw.random() < 0.7).encode("utf-8", "surrogatepass"))
    for _ in range(draw.choice((0, 0, 0, 0, 1, 4))):
        place = draw.randrange(len(data) + 1)
        kind = draw.randrange(5)
        if kind == 0:
            data[place:place] = draw.choice(BYTES)
        elif kind == 1:
            del data[place : place + draw.randint(1, 20)]
        elif kind == 2:
            data[place:place] = data[: draw.randint(1, 200)]
        elif kind == 3 and place < len(data):
            data[place] = draw.randrange(256)
        else:
            data[place:place] = draw.choice(BYTES) * draw.choice((5, 300, 30_000))
    return bytes(data)


def models(line: Line) -> list[ChatModel | OllamaModel]:
    """Return a model of each provider that uses this transport."""
    dialects = (openai_dialect(line.url), vllm_dialect(), llamacpp_dialect())
    chat = [ChatModel(dialect, "m", line, 1) for dialect in dialects]
    return [*chat, OllamaModel("m", line, 1)]  # type: ignore[arg-type]  # Line has the methods of Transport that the model uses


def find_faults(answer: Answer, request: Request) -> list[str]:
    """Return the faults of an answer."""
    messages = []
    printed = f"{answer.text} {answer.model} {answer.notes}"
    if SECRET in printed:
        messages.append("the key is in the answer")
    if len(answer.text) > LONGEST or len(answer.model) > 400 or any([len(note) > 600 for note in answer.notes]):
        messages.append("the answer is too long")
    if from_json(to_json(answer)) != answer:
        messages.append("the answer is another when it is read again")
    if isinstance(request.constraint, Choice) and answer.met is not (answer.text in request.constraint.texts):
        messages.append("a choice is claimed that is none")
    try:
        printed.encode()
    except UnicodeEncodeError:
        messages.append("the answer cannot be written")
    return messages


def check_input(number: int, seed: int) -> tuple[str, list[str], bytes]:
    """Return the outcome of an input, its faults, and its body."""
    draw = random.Random(f"{seed}:{number}")
    body = make_body(draw)
    line = Line(body, draw.random() < 0.2)
    request = Request(user_messages("hi"), 9, seed=3, stop=("x",), constraint=draw.choice(CONSTRAINTS))
    model = draw.choice(models(line))
    begin = time.process_time()
    try:
        _wait_asked({"retry-after": body[:60].decode("latin-1"), "retry-after-ms": str(draw.choice(ODD))})
        answer = model.answer(request)
        outcome, input_faults = "answer", find_faults(answer, request)
    except Garbage as error:  # the transport retries it
        outcome, input_faults = "garbage", ["the key is in the message"] if SECRET in line.clean(str(error)) else []
    except ModelError as error:
        outcome = str(error.diagnostic.code)
        input_faults = ["the key is in the message"] if SECRET in repr(error.diagnostic) else []
    except Exception:
        outcome, input_faults = "exception", [traceback.format_exc(limit=-3)]
    if time.process_time() - begin > SECONDS:
        input_faults.append(f"slower than {SECONDS} s")
    return outcome, input_faults, body


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    numbers = range(options.count) if options.only is None else (options.only,)
    tally: Counter[str] = Counter()
    problems = 0
    for number in numbers:
        outcome, input_faults, body = check_input(number, options.seed)
        tally[outcome] += 1
        problems += bool(input_faults)
        for fault in input_faults[: 20 - problems]:
            print(f"input {number}: {fault}\n  {body[:300]!r}")
    print(f"{sum(tally.values())} answers, seed {options.seed}: {dict(tally.most_common())}, {problems} with a problem")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
