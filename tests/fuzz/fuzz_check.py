"""Check the requirements on one input, in this process.

The check raises no exception and ends in time, the exit code is 0 to 3, every rejection has a specific code and a
place, every format can render the report, and the replay kernel gives the same verdict.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from fuzz_corpus import PARTS, ROOT, Case
from jsonschema import Draft202012Validator

from plansafe.app.project.inputs import Input
from plansafe.app.render import FORMATS, renderer
from plansafe.app.session.model import Result, Settings
from plansafe.app.system.terminal_text import Style
from plansafe.grammar.diagnostics import Label, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.kernel import Kernel, KernelLimit, KernelRejects, KernelVerdict
from plansafe.verifier.reporting.report import Finding, FindingClass, Report

SECONDS = 2.0
KERNEL_BYTES = 60_000
OPTIONS = Options()
INTERPRETER_RECURSION = 1000
# Only the engine reads these keywords: the kernel accepts only expanded specifications.
BEYOND_KERNEL = (b":extends", b":disable", b":define", b":template", b":apply", b":vocabulary")
SKIPPED = re.compile(
    r"\(\s*(?::metric|:length|:requirements|:vocabulary|:domain|:problem|domain|problem|safety|plan)(?=[\s()])",
    re.IGNORECASE,
)
META = re.compile(
    r":(?:hazard|target|severity|message|rationale|source|fix)\s*\(?(?:[^\s():]+\s+)*\(*\s*\Z", re.IGNORECASE
)
RULE_CLASSES = {
    FindingClass.PROCESS,
    FindingClass.TRAJECTORY,
    FindingClass.TERMINATION,
    FindingClass.OBLIGATION,
    FindingClass.CONSTRAINT,
}
PARENTHESES = re.compile(r'[()]|;[^\r\n]*|"(?:[^"\\]|\\.)*"')
WITHOUT_PLACE = ("SC605",)  # about the whole run, not about a place


class TooSlow(BaseException):
    """Raised by ``time_limit``. It is a BaseException, so that no ``except Exception`` catches it."""


class Problem(NamedTuple):
    """A violated requirement. Problems with equal signatures count as one bug."""

    signature: str
    detail: str


class Outcome(NamedTuple):
    """The exit code (-1: none), the processor time, the result of the kernel, and the problems."""

    code: int
    seconds: float
    kernel: str
    problems: tuple[Problem, ...]


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TooSlow`` after ``seconds`` of processor time of this process."""

    def raise_too_slow(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, raise_too_slow)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def check_case(case: Case, seconds: float = SECONDS, compare: bool = True) -> Outcome:
    """Check all requirements on one input; ``compare`` also asks the kernel."""
    sources = {part: Source.from_bytes(f"fuzz/{part}", case.part(part)) for part in ("domain", "problem", "plan")}
    specs = [Source.from_bytes("fuzz/spec", case.spec)] if case.spec else []
    started = time.process_time()
    report: Report | None = None
    all_sources: dict[str, Source] = {}
    problems: list[Problem] = []
    try:
        with time_limit(seconds):
            checker = Checker(sources["domain"], sources["problem"], specs, OPTIONS)
            all_sources = {**checker.sources, sources["plan"].name: sources["plan"]}
            report = checker.check(sources["plan"])
    except TooSlow:
        problems.append(Problem(f"over {seconds:g} s in {_innermost()}", traceback.format_exc(limit=-12)))
    except (Exception, RecursionError) as error:
        problems.append(Problem(f"{type(error).__name__} in {_innermost()}", traceback.format_exc(limit=-8)))
    seconds_used = time.process_time() - started
    if seconds_used > seconds and not problems:
        problems.append(Problem(f"over {seconds:g} s, uninterrupted", f"{seconds_used:.2f} s"))
    if report is None:
        return Outcome(-1, seconds_used, "", tuple(problems))
    problems += _report_problems(report, all_sources)
    problems += _render_problems(report, all_sources, seconds)
    agreement = ""
    if compare and not problems and sum(map(len, case[1:])) <= KERNEL_BYTES:
        agreement, differences = _compare(case, report, seconds)
        problems += differences
    return Outcome(report.exit_code, seconds_used, agreement, tuple(problems))


def _innermost() -> str:
    """Return the innermost frame in this project of the exception being handled."""
    frames = traceback.extract_tb(sys.exc_info()[2])
    project_frames = [frame for frame in frames if "plansafe" in frame.filename and "fuzz_check" not in frame.filename]
    if not project_frames:
        return "?"
    return f"{project_frames[-1].filename.removeprefix(f'{ROOT}{os.sep}')}:{project_frames[-1].name}"


def _report_problems(report: Report, sources: dict[str, Source]) -> Iterator[Problem]:
    if report.exit_code not in (0, 1, 2, 3):
        yield Problem(f"exit code {report.exit_code}", "")
    errors = [d for d in report.diagnostics if d.severity is Severity.ERROR]
    ill_formed = [f for f in report.findings if f.finding_class is FindingClass.ILL_FORMED]
    if report.exit_code == 2 and not errors and not ill_formed:
        yield Problem("exit code 2 without a reason", "")
    for error in errors:
        if not any(label.primary for label in error.labels) and error.code not in WITHOUT_PLACE:
            yield Problem(f"no place: {error.code}", error.message[:200])
    for code in {d.code for d in report.diagnostics} | {f.code for f in report.findings}:
        if not _has_page(code) or code.startswith("SC9"):
            yield Problem(f"code {code}", next((d.message for d in report.diagnostics if d.code == code), ""))
    places = [(d.code, label) for d in report.diagnostics for label in d.labels]
    for finding in report.findings:
        places += [(finding.code, label) for label in finding.related]
        if finding.source is not None and finding.span is not None:
            places.append((finding.code, Label(finding.source, finding.span)))
        elif finding.finding_class is FindingClass.ILL_FORMED:
            yield Problem(f"no place: {finding.code}", finding.message[:200])
    for code, label in places:
        if label.source not in sources:
            yield Problem(f"unknown source: {code}", label.source[:200])
        elif not 0 <= label.span.start <= label.span.end <= len(sources[label.source].text):
            yield Problem(f"place outside the text: {code}", f"{label} of {len(sources[label.source].text)}")
        elif label.primary and label.span.start == label.span.end and sources[label.source].text:
            yield Problem(f"empty place: {code}", f"{label}")


@cache
def _has_page(code: str) -> bool:
    return (ROOT / "app" / "plansafe" / "app" / "explain" / f"{code}.md").is_file()


@cache
def _schema() -> Any:
    path = ROOT / "app" / "plansafe" / "app" / "schema" / "report-1.json"
    return Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))


def _render_problems(report: Report, sources: dict[str, Source], seconds: float) -> Iterator[Problem]:
    """Render a report in every format, as the command does, and yield the problems."""
    inputs = tuple(Input("plan", name, "given", source) for name, source in sources.items())
    result = Result(report.plan, report, inputs, sources)
    for form in FORMATS:
        started = time.process_time()
        try:
            with time_limit(seconds):
                view = renderer(form, Settings(), Style(False))
                text = view.plan(result) + view.end()
        except TooSlow:
            yield Problem(f"rendering ({form}) over {seconds:g} s in {_innermost()}", traceback.format_exc(limit=-8))
            continue
        except Exception as error:
            yield Problem(
                f"rendering ({form}): {type(error).__name__} in {_innermost()}", traceback.format_exc(limit=-8)
            )
            continue
        seconds_used = time.process_time() - started
        if seconds_used > seconds:
            yield Problem(f"rendering ({form}) over {seconds:g} s, uninterrupted", f"{seconds_used:.2f} s")
        if any(
            not c.isprintable() and c not in "\n\r\t" and not "\ud800" <= c <= "\udfff" and ord(c) < 0x20 for c in text
        ):
            yield Problem(f"rendering ({form}): control characters of the input reach the terminal", "")
        if form == "json":
            document = json.loads(text)
            error = next(_schema().iter_errors(document), None) if len(text) < 100_000 else None
            if error is not None:
                path = "/".join([key for key in error.absolute_path if isinstance(key, str)])
                yield Problem(f"JSON outside its schema at {path}", error.message[:300])


# -- comparison with the kernel --


def _audit_with_kernel(case: Case, seconds: float) -> KernelVerdict | str | Problem:
    """Return the kernel's verdict, "rejects: REASON", "no opinion", or the problem that the kernel has."""
    texts = [text.decode("utf-8", "surrogateescape") for text in case[1:]]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(INTERPRETER_RECURSION)
    try:
        with time_limit(seconds):
            return Kernel(texts[0], texts[1], texts[3:] if case.spec else []).audit(texts[2])
    except (KernelLimit, TooSlow):
        return "no opinion"
    except KernelRejects as error:
        return f"rejects: {error}"
    except Exception as error:
        return Problem(f"kernel: {type(error).__name__} in {_innermost()}", traceback.format_exc(limit=-6))
    finally:
        sys.setrecursionlimit(limit)


EXPLAINED = (
    (
        r"expected a number, found `\?duration`",
        "`?duration` is allowed in effects and duration constraints, not in conditions",
    ),
    (r"expected `\(= \?duration", "duration constraints are conjunctions of comparisons: no quantifiers"),
    (r"a preference is `\(preference", "a preference's name is a name, not a keyword such as `:name`"),
    (r"depends on its own negation", "stratification may not depend on which objects a problem happens to have"),
    (
        r"unmatched `\]`|duration without a step|is not a duration",
        "in plans, brackets are tokens of their own",
    ),
)
"""Messages of correct rejections of texts that the kernel's more lenient reader accepts, with the reason."""


def _all_skipped(report: Report, case: Case) -> bool:
    """Return whether every error is in a section that the kernel skips: metric, vocabulary, names, rule texts."""
    texts = {
        f"fuzz/{part}": case.part(part).decode("utf-8", "surrogateescape").removeprefix("\ufeff") for part in PARTS
    }
    places = [label for d in report.diagnostics if d.severity is Severity.ERROR for label in d.labels if label.primary]
    for label in places:
        inside = META.search(texts[label.source], 0, label.span.start) is not None
        for section in SKIPPED.finditer(texts[label.source]):
            depth, end = 0, section.start()
            for token in PARENTHESES.finditer(texts[label.source], section.start()):
                depth += 1 if token[0] == "(" else -1 if token[0] == ")" else 0
                end = token.end()
                if depth == 0:
                    break
            inside = inside or (section.start() <= label.span.start and label.span.end <= end)
        if not inside:
            return False
    return bool(places)


def _compare(case: Case, report: Report, seconds: float) -> tuple[str, list[Problem]]:
    """Return how the kernel's verdict relates to the report, and the problem if they differ."""
    if report.engine != "explicit" or any([d.code == "SC117" for d in report.diagnostics]):
        return "no opinion", []  # tests/symbolic compares tasks with several possible worlds with the kernel
    kernel_result = _audit_with_kernel(case, seconds)
    if isinstance(kernel_result, Problem):
        return "crashed", [kernel_result]
    if kernel_result == "no opinion":
        return "no opinion", []
    codes = sorted({d.code for d in report.diagnostics if d.severity is Severity.ERROR})
    messages = "; ".join(d.message for d in report.diagnostics if d.severity is Severity.ERROR)[:300]
    if isinstance(kernel_result, str):
        if report.headline is None:
            return "both reject", []
        if any([f.finding_class is FindingClass.ILL_FORMED for f in report.findings]):
            return "both reject", []  # both give exit code 2: for an ill-formed step or for the text
        if "not one (define (safety" in kernel_result:
            return "explained", []  # a file may have several forms; the kernel accepts only one
        if any(word in case.spec.lower() for word in BEYOND_KERNEL):
            return "no opinion", []
        if "unsupported" in kernel_result:
            return "no opinion", []
        return "differs", [Problem(f"we accept, the kernel {kernel_result}", report.headline.value)]
    if report.headline is None:
        if _all_skipped(report, case):
            return "explained", []
        if any([re.search(pattern, messages) for pattern, _ in EXPLAINED]):
            return "explained", []
        first = re.sub("`[^`]*`", "`..`", messages.partition("; ")[0])
        return "differs", [Problem(f"we reject with {' '.join(codes)}: {first}, the kernel accepts", messages)]
    ill_formed = tuple(sorted({f.step for f in report.findings if f.finding_class is FindingClass.ILL_FORMED}))
    if ill_formed != tuple(sorted(kernel_result.ill_formed)):
        findings = [f for f in report.findings if f.finding_class is FindingClass.ILL_FORMED]
        detail = f"ours {ill_formed}, kernel {kernel_result.ill_formed}: {_join_messages(findings)}"
        return "differs", [Problem("other steps are ill-formed", detail)]
    if report.headline.value != kernel_result.headline:
        parts = f"executable {kernel_result.executable} goal {kernel_result.goal} safe {kernel_result.safe}"
        parts += f" failed {kernel_result.failed_steps}"
        detail = f"kernel {parts}; ours: {_join_messages(report.findings)}"
        return "differs", [Problem(f"we say {report.headline.value}, the kernel {kernel_result.headline}", detail)]
    our_violations = {
        (f.rule, tuple(sorted(f.binding)))
        for f in report.findings
        if f.finding_class in RULE_CLASSES and "halt" in f.readings
    }
    kernel_violations = {(f.rule, f.binding) for f in kernel_result.findings if "halt" in f.readings}
    if our_violations != kernel_violations and not report.suppressed:
        only_ours = sorted(map(str, our_violations - kernel_violations))[:5]
        only_kernel = sorted(map(str, kernel_violations - our_violations))[:5]
        detail = f"only ours {only_ours}, only kernel {only_kernel}"
        return "differs", [Problem("other findings", detail)]
    return "same verdict", []


def _join_messages(findings: Iterable[Finding]) -> str:
    return "; ".join([f"{finding.code} {finding.message}" for finding in findings])[:300]


# -- the command itself --


def run_command(case: Case, folder: Path, expected: Outcome) -> list[Problem]:
    """Run the command on an input; return the differences to the outcome in this process."""
    names = {"domain": "domain.pddl", "problem": "problem.pddl", "plan": "input.plan", "spec": "rules.safe"}
    for part, name in names.items():
        (folder / name).write_bytes(case.part(part))
    paths = {part: str(folder / name) for part, name in names.items()}
    options = ["--domain", paths["domain"], "--problem", paths["problem"], "--no-default-spec"]
    if case.spec:
        options += ["--spec", paths["spec"]]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [str(Path(sys.executable).parent / "safecheck"), paths["plan"], *options]
    try:
        completed = subprocess.run(line, capture_output=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        return [Problem("command: no answer in 30 s", "")]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds_used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    code = completed.returncode
    problems = []
    if code not in (0, 1, 2, 3) or b"Traceback" in completed.stdout + completed.stderr:
        problems.append(Problem(f"command: exit code {code}", completed.stderr.decode(errors="replace")[-800:]))
    elif code != expected.code and b"SC604" not in completed.stdout:
        signature = f"command: exit code {code}, in process {expected.code}"
        problems.append(Problem(signature, completed.stdout.decode(errors="replace")[:600]))
    if seconds_used > SECONDS:
        problems.append(Problem(f"command: over {SECONDS:g} s", f"{seconds_used:.2f} s"))
    return problems
