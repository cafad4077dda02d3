"""The planner kairos (PyPI: kairos-planner), run as a process on printed PDDL."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory

from plansafe.verifier.extras import how_to_install
from plansafe.verifier.planning.external_planner import CompilationCache, confirm_plan, make_unsolvable_result
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus

PACKAGE = "kairos-planner"
PROOF_TEXT = "solved (proven optimal)"
"""What kairos prints if its plan is proved shortest."""
GRACE_S = 5.0
"""Seconds that the process may take beyond its own limit, to start, read and write."""
_UNSOLVABLE_EXIT_CODE = 10
_RESULTS_BY_EXIT_CODE = {
    11: (PlanningStatus.NOT_FOUND, "out of time"),
    12: (PlanningStatus.NOT_FOUND, "out of memory"),
    13: (PlanningStatus.UNSUPPORTED, "kairos does not support this task"),
    14: (PlanningStatus.NOT_FOUND, "no plan found"),
}
_DOUBTFUL_PROOF = "no plan; kairos 1.0.6 proves solvable tasks unsolvable where effects depend on numbers"


class KairosPlanner:
    """Plans with kairos. ``threads``: parallel phases of its search (1 makes runs reproducible)."""

    name = "kairos"

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._compilations = CompilationCache()

    def available(self) -> bool:
        """Whether its package is installed."""
        return find_executable() is not None

    def solve(self, query: PlanningQuery) -> PlanningResult:
        """Answer a query; see :class:`plansafe.verifier.planning.planner.Planner`.

        Raises ``RuntimeError`` if kairos is missing or fails, ``Disagreement`` if its plan does not replay, and
        ``ValueError`` for a checker that is not ``ok``.
        """
        program = find_executable()
        if program is None:
            raise RuntimeError(f"kairos is not installed: {how_to_install('plan')}")
        printed_query = self._compilations.print_query(query)
        if isinstance(printed_query, PlanningResult):
            return printed_query._replace(planner=self.name)
        with TemporaryDirectory(prefix="safecheck-") as folder:
            domain, problem, plan = [Path(folder, name) for name in ("domain.pddl", "problem.pddl", "plan")]
            domain.write_text(printed_query.task.domain, encoding="utf-8")
            problem.write_text(printed_query.task.problem, encoding="utf-8")
            command = [program, "solve", str(domain), str(problem), "-v", "--output", str(plan)]
            command += ["--timeout", f"{query.time_limit_s:g}", "--threads", str(self.threads)]
            command.append("--anytime" if query.shortest else "--no-anytime")
            process = _run(command, query.time_limit_s + GRACE_S)
            if process is None:
                return PlanningResult(PlanningStatus.NOT_FOUND, detail="out of time", planner=self.name)
            if process.returncode == _UNSOLVABLE_EXIT_CODE and printed_query.has_numbers:
                return PlanningResult(PlanningStatus.NOT_FOUND, detail=_DOUBTFUL_PROOF, planner=self.name)
            if process.returncode == _UNSOLVABLE_EXIT_CODE:
                return make_unsolvable_result(printed_query, self.name)
            if process.returncode in _RESULTS_BY_EXIT_CODE:
                status, detail = _RESULTS_BY_EXIT_CODE[process.returncode]
                return PlanningResult(status, detail=detail, planner=self.name)
            if process.returncode != 0:
                last_line = (process.stderr.strip().splitlines() or ["no message"])[-1]
                raise RuntimeError(f"kairos failed with exit code {process.returncode}: {last_line}")
            steps = _read_best_plan(Path(folder))
        is_proved = query.shortest and PROOF_TEXT in process.stderr and not printed_query.has_numbers
        return confirm_plan(query, printed_query, steps, optimal=is_proved, planner=self.name)


def _run(command: list[str], time_limit_s: float) -> subprocess.CompletedProcess[str] | None:
    """Run a command and capture its output; ``None`` if it exceeds the time limit."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=time_limit_s, check=False
        )
    except subprocess.TimeoutExpired:
        return None


def find_executable() -> str | None:
    """Find kairos in the installed package, next to this interpreter, or on the path; ``None`` if not installed."""
    name = "kairos.exe" if sys.platform == "win32" else "kairos"
    try:
        for file in distribution(PACKAGE).files or ():
            if file.name == name and Path(str(file.locate())).is_file():
                return str(Path(str(file.locate())).resolve())
    except PackageNotFoundError:
        pass
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)


def _read_best_plan(folder: Path) -> list[list[str]]:
    """Return the steps of the best plan: ``plan``, or the last of ``plan.1``, ``plan.2``, .. (each better)."""
    plans = sorted(folder.glob("plan*"), key=lambda path: int(path.suffix[1:] or 0))
    lines = plans[-1].read_text(encoding="utf-8").splitlines()
    return [line.strip().strip("()").split() for line in lines if line.strip() and not line.lstrip().startswith(";")]
