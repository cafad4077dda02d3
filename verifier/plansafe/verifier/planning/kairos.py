"""The planner kairos (PyPI: kairos-planner), run as a process on printed PDDL."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory

from plansafe.verifier.extras import how_to_install
from plansafe.verifier.planning.external_planner import CompilationCache, confirm_plan, unsolvable_result
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus

PACKAGE = "kairos-planner"
PROVED = "solved (proven optimal)"
GRACE_S = 5.0
"""Seconds that the process may take beyond its own limit, to start, read and write."""
_NOT_SOLVED = {
    11: (PlanningStatus.NOT_FOUND, "out of time"),
    12: (PlanningStatus.NOT_FOUND, "out of memory"),
    13: (PlanningStatus.UNSUPPORTED, "kairos does not support this task"),
    14: (PlanningStatus.NOT_FOUND, "no plan found"),
}
_DOUBTFUL = "no plan; kairos 1.0.6 proves solvable tasks unsolvable where effects depend on numbers"


class KairosPlanner:
    """Plans with kairos. ``threads``: parallel phases of its search (1 makes runs reproducible)."""

    name = "kairos"

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._compilations = CompilationCache()

    def available(self) -> bool:
        """Whether its package is installed."""
        return executable() is not None

    def solve(self, query: PlanningQuery) -> PlanningResult:
        """Answer a query; see :class:`plansafe.verifier.planning.planner.Planner`.

        Raises ``RuntimeError`` if kairos is missing or fails, ``Disagreement`` if its plan does not replay, and
        ``ValueError`` for a checker that is not ``ok``.
        """
        program = executable()
        if program is None:
            raise RuntimeError(f"kairos is not installed: {how_to_install('plan')}")
        printed_query = self._compilations.print_query(query)
        if isinstance(printed_query, PlanningResult):
            return printed_query._replace(planner=self.name)
        with TemporaryDirectory(prefix="safecheck-") as folder:
            domain, problem, plan = [Path(folder, name) for name in ("domain.pddl", "problem.pddl", "plan")]
            domain.write_text(printed_query.printed.domain, encoding="utf-8")
            problem.write_text(printed_query.printed.problem, encoding="utf-8")
            command = [program, "solve", str(domain), str(problem), "-v", "--output", str(plan)]
            command += ["--timeout", f"{query.time_limit_s:g}", "--threads", str(self.threads)]
            command.append("--anytime" if query.shortest else "--no-anytime")
            try:
                done = subprocess.run(
                    command,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=query.time_limit_s + GRACE_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return PlanningResult(PlanningStatus.NOT_FOUND, detail="out of time", planner=self.name)
            if done.returncode == 10:
                doubtful = PlanningResult(PlanningStatus.NOT_FOUND, detail=_DOUBTFUL, planner=self.name)
                return doubtful if printed_query.numeric else unsolvable_result(printed_query, self.name)
            if done.returncode in _NOT_SOLVED:
                status, detail = _NOT_SOLVED[done.returncode]
                return PlanningResult(status, detail=detail, planner=self.name)
            if done.returncode != 0:
                last = done.stderr.strip().splitlines()[-1:] or ["no message"]
                raise RuntimeError(f"kairos failed with exit code {done.returncode}: {last[0]}")
            steps = _read_best_plan(Path(folder))
        proved = query.shortest and PROVED in done.stderr and not printed_query.numeric
        return confirm_plan(query, printed_query, steps, optimal=proved, planner=self.name)


def executable() -> str | None:
    """The path of kairos: a file of the installed package, else next to this interpreter, else on the path."""
    name = "kairos.exe" if sys.platform == "win32" else "kairos"
    try:
        for file in distribution(PACKAGE).files or ():
            if file.name == name and Path(str(file.locate())).is_file():
                return str(Path(str(file.locate())).resolve())
    except PackageNotFoundError:
        pass
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)


def _read_best_plan(folder: Path) -> list[list[str]]:
    """The steps of the best plan: ``plan``, or the last of ``plan.1``, ``plan.2``, .. (each better)."""
    plans = sorted(folder.glob("plan*"), key=lambda path: int(path.suffix[1:] or 0))
    lines = plans[-1].read_text(encoding="utf-8").splitlines()
    return [line.strip().strip("()").split() for line in lines if line.strip() and not line.lstrip().startswith(";")]
