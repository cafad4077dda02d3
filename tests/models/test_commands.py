"""The commands `models` and `ask`, and the modules that they load."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from stub_server import chat, serving

from in_process import safecheck

HEAVY = ("httpx", "torch", "transformers", "xllamacpp", "sqlite3", "numpy")


def run(*words: str, **environment: str) -> tuple[int, str, str]:
    done = safecheck(*words, cwd=".", environment={"PATH": "/usr/bin", **environment})
    return done.returncode, done.stdout, done.stderr


def test_models_lists_all_providers_and_loads_none() -> None:
    script = (
        "import sys, plansafe.app.interfaces.cli.commandline as m\n"
        "try: m.app(prog_name='safecheck')\nexcept SystemExit: pass\n"
        f"print([n for n in {HEAVY} if n in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, "models"], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    for word in ("openai/NAME", "ollama/NAME", "mock/random", "OPENAI_API_KEY"):
        assert word in done.stdout


def test_ask_a_mock() -> None:
    assert run("models", "ask", "-m", "mock/random", "--choice", "a", "next?")[:2] == (0, "a\n")
    code, out, err = run("models", "ask", "-m", "mock/empty", "--choice", "a", "next?")
    assert (code, out) == (1, "\n")
    assert "not enforced" in err


def test_mistakes_exit_with_2_and_write_nothing(tmp_path: Path) -> None:
    for words in (
        ("-m", "nobody/x"),
        ("-m", "mock/x"),
        ("-m", "openai/x"),
        ("-m", "replay/none"),
        ("-m", "mock/planner"),
    ):
        code, out, err = run("models", "ask", *words, "hi", SAFECHECK_CACHE=str(tmp_path / "cache"))
        assert (code, out) == (2, "")
        assert err.startswith("error[SC6")
    assert not list(tmp_path.iterdir())


def test_ask_a_server_keeps_the_answer_and_shows_no_escape(tmp_path: Path) -> None:
    pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")
    with serving(lambda *_: chat("\x1b[31mred")) as stub:
        words = ("models", "ask", "-m", "vllm/m", "--set", f"model.base_url={stub.url}/v1", "hi")
        first = run(*words, SAFECHECK_CACHE=str(tmp_path))
        second = run(*words, SAFECHECK_CACHE=str(tmp_path))
        third = run(*words, "--set", "model.no_cache=true", SAFECHECK_CACHE=str(tmp_path))
    assert [code for code, _, _ in (first, second, third)] == [0, 0, 0]
    assert first[1] == second[1] == "\\x1b[31mred\n"
    assert "from the cache" in second[2]
    assert sum(stub.request_counts.values()) == 2


PROBLEM = Path(__file__).resolve().parents[2] / "examples/cleaning/problem.pddl"


@pytest.mark.parametrize("form", ["json", "full"])
def test_plan_shows_progress_while_it_waits(form: str, tmp_path: Path) -> None:
    pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")
    settings = ("model.no_cache=true", "seed=3")
    flags = (
        "--rounds",
        "2",
        "--no-last-resort",
        "--format",
        form,
        "--temperature",
        "0.5",
        *[x for s in settings for x in ("--set", s)],
    )
    with serving(lambda *_: chat("I cannot.")) as stub:
        words = ("plan", "-m", "openai/m", "--set", f"model.base_url={stub.url}/v1", "--problem", str(PROBLEM), *flags)
        code, out, err = run(*words, HOME=str(tmp_path))
    assert code == 3
    assert err.splitlines() == [
        "loading openai/m ..",
        "asking the model for a plan (call 1) ..",
        "asking the model for a plan (call 2) ..",
    ]
    assert "asking" not in out
    if form == "json":
        assert json.loads(out)["calls"] == 2
    assert [(sent["temperature"], sent["seed"]) for sent in stub.payloads] == [(0.5, 3), (0.5, 4)]


@pytest.mark.slow
def test_plan_ends_a_request_at_the_timeout(tmp_path: Path) -> None:
    pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")
    with serving(lambda *_: chat("late")._replace(delay=30)) as stub:
        words = ("plan", "-m", "openai/m", "--set", f"model.base_url={stub.url}/v1", "--problem", str(PROBLEM))
        code, out, err = run(*words, "--timeout", "0.1", "--no-cache", HOME=str(tmp_path))
    assert (code, out) == (2, "")
    assert "the answer was not complete after 0.1 seconds" in err
