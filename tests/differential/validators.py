"""The validators that are compared: kairos as a process, and safecheck or its replay kernel in this process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from casefile import Verdict

from plansafe.grammar.source import Source

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 60  # seconds for one plan; kairos needs some milliseconds for the largest task here


@dataclass(frozen=True)
class ValidatorResult:
    """A verdict and the output of the validator."""

    verdict: Verdict
    output: str


class PlanValidator(Protocol):
    """Decides the verdict of a plan of the task for which it was created."""

    def __call__(self, plan: str) -> ValidatorResult: ...


def find_kairos() -> Path | None:
    """Find the ``kairos`` command: ``$KAIROS``, this environment, the benchmark's environment, or the search path."""
    if configured := os.environ.get("KAIROS"):
        return Path(configured)
    for path in (Path(sys.executable).parent / "kairos", ROOT / "bench" / ".env-peers" / "bin" / "kairos"):
        if path.is_file():
            return path
    on_search_path = shutil.which("kairos")
    return Path(on_search_path) if on_search_path else None


class Kairos:
    """``kairos validate``: exit code 0 accepts, 1 (invalid) and 2 (unreadable) reject."""

    def __init__(self, command: Path, domain: str, problem: str, folder: Path) -> None:
        self.command = command
        self.files = [folder / "domain.pddl", folder / "problem.pddl", folder / "plan"]
        self.files[0].write_text(domain, encoding="utf-8")
        self.files[1].write_text(problem, encoding="utf-8")

    def __call__(self, plan: str) -> ValidatorResult:
        """Return the verdict on one plan. Raises RuntimeError if kairos ends without a verdict."""
        self.files[2].write_text(plan, encoding="utf-8")
        arguments = [str(self.command), "validate", *map(str, self.files)]
        completed = subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        output = (completed.stdout + completed.stderr).strip()
        if completed.returncode not in (0, 1, 2):
            raise RuntimeError(f"kairos ended with {completed.returncode}: {output}")
        return ValidatorResult("accept" if completed.returncode == 0 else "reject", output)


class Safecheck:
    """The Python API of safecheck: exit code 0 accepts, everything else rejects."""

    def __init__(self, domain: str, problem: str) -> None:
        from plansafe.verifier.api import Checker, Options

        self.checker = Checker(Source("domain.pddl", domain), Source("problem.pddl", problem), (), Options())

    def __call__(self, plan: str) -> ValidatorResult:
        """Return the verdict on one plan."""
        report = self.checker.check(Source("plan", plan))
        headline = "unreadable" if report.headline is None else report.headline.value
        messages = [problem.message for problem in (*report.findings, *report.diagnostics)]
        return ValidatorResult("accept" if report.exit_code == 0 else "reject", "\n".join([headline, *messages]))


class Kernel:
    """The replay kernel: SAFE and VALID accept. It reads the files itself."""

    def __init__(self, domain: str, problem: str) -> None:
        self.domain = domain
        self.problem = problem

    def __call__(self, plan: str) -> ValidatorResult:
        """Return the verdict on one plan."""
        from plansafe.verifier.kernel import kernel as replay
        from plansafe.verifier.kernel import reader

        try:
            headline = str(replay.Kernel(self.domain, self.problem).audit(plan).headline)
        except reader.KernelRejects as error:
            return ValidatorResult("reject", str(error))
        return ValidatorResult("accept" if headline in ("SAFE", "VALID") else "reject", headline)
