"""Check what docs/architecture.md claims about the generated code of the engine."""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from pathlib import Path

from doc_blocks import HOUSEHOLD, ROOT

from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution

_NUMBERED = re.compile(r"[A-Za-z]\d*(?:_\d+)*\Z")
_TEXTS = [HOUSEHOLD, ROOT / "examples/dinner/problem.pddl", Path(spec_path("household"))]


def _checker() -> Checker:
    domain, problem, spec = [Source(path.name, path.read_text(encoding="utf-8")) for path in _TEXTS]

    def shipped(name: str, _extending: Source) -> Source:
        return Source(name, Path(spec_path(name)).read_text(encoding="utf-8"))

    return Checker(domain, problem, [spec], resolve=shipped)


def test_the_generated_code_contains_no_name_of_the_input() -> None:
    checker = _checker()
    engine = checker.engine
    checker.check(Source("p", (ROOT / "examples/dinner/hands-full.plan").read_text(encoding="utf-8")))
    assert list(Execution(engine).legal())
    text = "\n".join(engine.emitter.sources)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    names = {t.string for t in tokens if t.type == tokenize.NAME and not keyword.iskeyword(t.string)}
    assert {"S", "F"} <= names
    input_text = re.sub(r";.*|\".*?\"", "", "\n".join([path.read_text(encoding="utf-8") for path in _TEXTS]))
    words = set(re.findall(r"[\w-]+", input_text.lower()))
    assert not names & {word for word in words if not _NUMBERED.match(word)}
    assert len([name for name in names if not _NUMBERED.match(name)]) < 20  # out, append, add, remove, ..
    assert not {t.type for t in tokens} & {tokenize.STRING, tokenize.COMMENT}


def test_the_code_of_an_action_is_generated_at_its_first_use() -> None:
    engine = _checker().engine
    count_before = len(engine.emitter.sources)
    step_function = engine.code.compile_step(engine.task.actions["go"])
    count_after = len(engine.emitter.sources)
    assert count_after > count_before
    assert engine.code.compile_step(engine.task.actions["go"]) is step_function
    assert len(engine.emitter.sources) == count_after
