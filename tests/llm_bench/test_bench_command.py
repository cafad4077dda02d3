"""``safecheck bench`` and ``bench score`` run in this process: files, resuming, reports, mistakes of the user."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from small_tasks import Run
from stub_server import Reply, chat, serving, wrong

from plansafe.app.interfaces.cli.bench.benchmark_run import ModelChoice
from plansafe.llm.metrics.lines import prediction_line
from plansafe.llm.metrics.records import Module, Prediction
from quick import quick_every

REPORTS = {"run.jsonl", "run.md", "run.html", "run.judged.jsonl"}
NASTY = "<script>alert(1)</script>|`x`\x1b[31m"


def list_files() -> set[str]:
    return {path.name for path in Path().iterdir() if path.is_file()}


class Page(HTMLParser):
    """The tags and the text of a page; ``problems`` lists unclosed tags and attributes that load or run something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.problems: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in ("meta", "rect", "line", "!doctype"):
            self.open.append(tag)
        self.problems += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href") or name.startswith("on")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.text += data


def read_page(name: str) -> Page:
    page = Page()
    page.feed(Path(name).read_text(encoding="utf-8"))
    assert page.open == []
    assert page.problems == []
    assert "script" not in page.tags
    return page


def test_a_run_writes_its_files_and_is_resumed(run: Run) -> None:
    command = ("bench", "safel", "-m", "mock/reference", "--limit", "2", "--set", "seed=3", "-o", "run.jsonl")
    code, out, err = run(*command)
    assert (code, err) == (0, "")
    assert list_files() == REPORTS
    assert "written to run.md and run.html" in out
    contents = {name: Path(name).read_bytes() for name in REPORTS}
    lines = Path("run.jsonl").read_text().splitlines(keepends=True)
    header = json.loads(lines[0])
    assert (header["suite"], header["model"], header["settings"]["preset"]) == ("safel", "mock/reference", "local")
    assert set(header["prompts"]) == {"refusal", "goal-interpretation", "transition-modeling", "action-sequencing"}
    Path("run.jsonl").write_text("".join(lines[:3]) + lines[3][:20])  # killed while it wrote a line
    assert run(*command)[1] == out
    assert {name: Path(name).read_bytes() for name in REPORTS} == contents
    page = read_page("run.html")
    assert {"svg", "table", "style"} <= page.tags
    assert "Malicious commands" in page.text
    markdown = Path("run.md").read_text()
    assert "| model | Refusal | Goal, unary | Goal, relational | Effects, primitive | Effects, new |" in markdown
    assert "SAFEL's labels and our classes" in markdown


@pytest.mark.slow
def test_another_run_is_not_overwritten(run: Run) -> None:
    command = ("bench", "safel", "--limit", "1", "--test", "refusal", "-o", "run.jsonl")
    assert run(*command, "-m", "mock/empty")[0] == 0
    before = {name: Path(name).read_bytes() for name in list_files()}
    for more in (
        ("-m", "mock/random"),
        ("-m", "mock/empty", "--preset", "paper"),
        ("-m", "mock/empty", "--set", "seed=4"),
    ):
        code, _, err = run(*command, *more)
        assert code == 2
        assert "SC643" in err
        assert {name: Path(name).read_bytes() for name in list_files()} == before


def test_the_papers_sampling_is_a_preset_and_recorded(run: Run) -> None:
    code, *_ = run("bench", "safel", "-m", "mock/empty", "--preset", "paper", "--limit", "1", "-o", "run.jsonl")
    assert code == 0
    settings = json.loads(Path("run.jsonl").read_text().splitlines()[0])["settings"]
    assert (settings["temperature"], settings["top_p"], set(settings["max_tokens"].values())) == (0.7, 0.9, {16_384})


@pytest.mark.slow
def test_predictions_of_another_tool_have_the_same_tables(run: Run) -> None:
    _, out, _ = run("bench", "safel", "-m", "mock/random", "--limit", "2", "-o", "run.jsonl")
    records = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()[1:]]
    for record in records:
        del record["id"], record["cost"]
    Path("elsewhere.jsonl").write_text("".join([json.dumps(record) + "\n" for record in records]))
    code, scored, err = run("bench", "score", "elsewhere.jsonl", "-o", "report.md")
    assert (code, err) == (0, "")
    figures = [line for line in scored.splitlines() if line.startswith("  ")]
    assert figures == [line for line in out.splitlines() if line.startswith("  ")]
    assert {"report.md", "report.html"} <= list_files()
    assert [line for line in run("bench", "score", "run.jsonl")[1].splitlines() if line.startswith("  ")] == figures


def test_plans_under_two_prompts_with_confidences(run: Run) -> None:
    options = ("--limit", "4", "--safety-prompt", "both", "--confidence", "--repeats", "2", "-o", "run.jsonl")
    code, out, _ = run("bench", "safeplan", "-m", "mock/unsafe", *options, "--log-samples")
    assert code == 0
    assert "mock/unsafe, zero-shot+confidence " in out
    assert list_files() == {*REPORTS, "run.samples.jsonl"}
    markdown = Path("run.md").read_text()
    assert "| mock/unsafe | zero-shot+safety+confidence | 100.0 %" in markdown
    assert "### Violations by category (figure 6)" in markdown
    samples = [json.loads(line) for line in Path("run.samples.jsonl").read_text().splitlines()]
    records = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    assert [sample["id"] for sample in samples[1:]] == [record["id"] for record in records[1:]]
    assert samples[1]["messages"][0][0] == "system"
    assert {record["sample"] for record in records[1:]} == {0, 1}
    assert run("bench", "score", "run.judged.jsonl")[0] == 0


@pytest.mark.slow
def test_two_runs_are_compared(run: Run) -> None:
    for kind in ("reference", "empty"):
        run("bench", "safeplan", "-m", f"mock/{kind}", "--limit", "3", "-o", f"{kind}.jsonl")
    code, out, err = run("bench", "compare", "empty.jsonl", "reference.jsonl", "-o", "both.html")
    assert (code, err) == (0, "")
    assert "mock/empty and mock/reference" in out
    (row,) = [line.split() for line in out.splitlines() if line.startswith("  SafeR over all ")]
    assert row[3:] == ["0.0", "%", "100.0", "%", "+100.0", "2", "0", "0.5000"]
    assert read_page("both.html").text.count("mock/reference") >= 1
    run("bench", "safeplan", "-m", "mock/empty", "--limit", "2", "-o", "fewer.jsonl")
    code, _, err = run("bench", "compare", "empty.jsonl", "fewer.jsonl")
    assert code == 2
    assert "SC643" in err
    assert "different tasks" in err
    run("bench", "safel", "-m", "mock/empty", "--limit", "3", "--test", "refusal", "-o", "safel.jsonl")
    code, _, err = run("bench", "compare", "empty.jsonl", "safel.jsonl")
    assert code == 2
    assert "different suites" in err


@pytest.mark.slow
def test_hostile_model_names_are_escaped(run: Run) -> None:
    lines = [prediction_line(Prediction("wet-hands-at-the-blender", Module.PLAN, NASTY, "f", model=NASTY))]
    Path("p.jsonl").write_text("\n".join(lines) + "\n")
    code, out, _ = run("bench", "score", "p.jsonl", "-o", "report.md")
    assert code == 0
    assert "\x1b" not in out
    page = read_page("report.html")
    assert "<script>alert(1)</script>|`x`\ufffd[31m" in page.text
    markdown = Path("report.md").read_text()
    assert "\x1b" not in markdown
    assert "<script>" not in markdown
    for line in markdown.splitlines():  # no cell of the table contains a separator
        if "alert" in line and line.startswith("| \\<"):
            assert line.replace("\\|", "").count("|") == 7 + ("figure" in line) or line.count("| ") > 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    quick_every(
        4,
        [
            (("bench", "safel", "-m", "olama/qwen"), "SC630"),
            (("bench", "safel", "-m", "hf/no-such-folder"), "SC631"),
            (("bench", "safel", "-m", "mock/planer"), "SC630"),
            (("bench", "safel", "-m", "mock/empty", "--test", "refusals"), "SC607"),
            (("bench", "safel", "-m", "mock/empty", "--tasks", "nowhere"), "SC001"),
            (("bench", "safel", "-m", "mock/empty", "--tasks", "."), "SC778"),
            (("bench", "safel", "-m", "mock/empty", "--tasks", ".", "--drawn", "2"), "SC607"),
            (("bench", "safel", "-m", "mock/empty", "-o", "no/such/run.jsonl"), "SC607"),
            (("bench", "safel", "-m", "mock/empty", "--limit", "1", "--refusal", "likelihood"), "SC637"),
            (("bench", "safeplan", "-m", "mock/empty", "--confidence", "--decode", "guided"), "SC607"),
            (("bench", "safeplan", "-m", "replay/none.jsonl"), "SC601"),
            (("bench", "score", "nowhere.jsonl"), "SC642"),
            (("bench", "compare", "nowhere.jsonl", "nowhere.jsonl"), "SC642"),
        ],
    ),
)
def test_mistakes_are_reported_and_write_no_files(arguments: tuple[str, ...], code: str, run: Run) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert f"error[{code}]" in err
    assert list_files() == set()


@pytest.mark.parametrize(
    ("text", "message"),
    quick_every(
        3,
        [
            ("", "it has no records"),
            ("{", "not JSON"),
            ('{"kind": "prediction", "version": 1, "scenario": "x", "module": "plan", "anwser": ""}', "anwser"),
            (
                '{"kind": "prediction", "version": 1, "scenario": "x", "module": "plan", "answer": ""}',
                "scenario 'x' does not exist",
            ),
            ('{"kind": "prediction", "version": 1, "scenario": "x", "module": "rouge", "answer": ""}', "module"),
            ('{"kind": "run", "version": 1}\n', "no records"),
            ('{"kind": "run", "version": 1}\n{"kind": "prediction"}\n', "version"),
        ],
    ),
)
def test_a_file_with_a_broken_line_is_refused(text: str, message: str, run: Run) -> None:
    Path("p.jsonl").write_text(text)
    code, out, err = run("bench", "score", "p.jsonl", "-o", "report.md")
    assert (code, out) == (2, "")
    assert "error[SC642]" in err
    assert message in err
    assert list_files() == {"p.jsonl"}


def test_a_server_that_ignores_the_grammar_is_reported(run: Run) -> None:
    pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")
    with serving(lambda *_: chat("1. First, go to the kitchen.")) as stub:
        command = (
            "bench",
            "safeplan",
            "-m",
            "vllm/m",
            "--base-url",
            f"{stub.url}/v1",
            "--limit",
            "2",
            "-o",
            "run.jsonl",
        )
        code, _, err = run(*command, "--decode", "grammar")
    assert code == 2
    assert "SC637" in err
    assert "ignored the grammar" in err
    assert list_files() == {"run.jsonl"}  # the header alone, so that it can be resumed
    assert len(Path("run.jsonl").read_text().splitlines()) == 1


def test_questions_without_an_answer_are_counted(run: Run) -> None:
    pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")

    def script(prompt: str, *_: object) -> Reply:
        return wrong(400, "too long") if prompt.endswith("Goal:") else chat("ACCEPT")

    with serving(script) as stub:
        command = ("bench", "safel", "-m", "vllm/m", "--base-url", f"{stub.url}/v1", "--limit", "2", "-o", "run.jsonl")
        code, out, _ = run(*command, "--test", "refusal", "--test", "goal-interpretation")
    assert code == 3
    assert "note: vllm/m: 2 questions have no answer; they count as wrong" in out
    failed = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()[3:]]
    assert [(record["answer"], record["cost"]["failed"]) for record in failed] == [(None, "SC634")] * 2
    assert "| vllm/m | 4 | 4 |" in Path("run.md").read_text()


def test_drawn_households(run: Run) -> None:
    code, out, _ = run("bench", "safeplan", "-m", "mock/reference", "--drawn", "1", "--limit", "2", "-o", "run.jsonl")
    assert code == 0
    assert "SafeR, all      100.0 %" in out
    assert run("bench", "score", "run.jsonl")[0] == 0


def test_steps_are_chosen_one_by_one(run: Run) -> None:
    for decode in ("guided", "grammar"):
        name = f"{decode}.jsonl"
        code, out, _ = run(
            "bench", "safeplan", "-m", "mock/planner", "--decode", decode, "--drawn", "1", "--limit", "1", "-o", name
        )
        assert code == 0
        assert "SafeR, all      100.0 %" in out


def test_options_of_a_model_reach_it() -> None:
    settings = ModelChoice("llamacpp-local/x.gguf", threads=3, context=512).settings(7)
    assert (settings.threads, settings.context, settings.seed) == (3, 512, 7)
