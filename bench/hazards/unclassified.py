"""Count the plans whose verdict is capped by an object without a known kind (docs/worlds.md, section 5).

usage: python -m bench.hazards.unclassified [--limit N]

Audits the 236 scripts of ActivityPrograms that have a scene and the read half of SafeAgentBench, from the data sets
(``PLANSAFE_DATA``). Prints the number of plans with each verdict, the number that is UNKNOWN because of an object
without a kind, the classes that cause it, and the CPU time for each plan with and without this check. Then it hides
classes: in each script that causes a hazard, the class of an object that the hazard names gets an unknown name. None of
these scripts should be SAFE. Run it from the root of the repository.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from time import process_time
from typing import NamedTuple

from bench.hazards.safeagentbench import DATA as ROOMS
from bench.hazards.study import DATA as SCRIPTS
from bench.hazards.study import scripts

from plansafe.domains.objects import add_kinds
from plansafe.domains.safeagentbench import WORLD as SAFEAGENTBENCH
from plansafe.domains.virtualhome import WORLD as VIRTUALHOME
from plansafe.domains.world import Benchmark, Request
from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.specs import default_specs, spec_path
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Blame, Headline, Report

OPTIONS = Options(judge="introduced", replay="never")


class Case(NamedTuple):
    """A plan of a world with its scene."""

    name: str
    scene: Source
    plan: Source
    goal: Source | None = None


class Measured(NamedTuple):
    """A verdict with the seconds of CPU that it took, and those without the question about objects without a kind."""

    case: Case
    report: Report
    seconds: float
    without: float

    @property
    def capped(self) -> bool:
        """Whether an object without a kind is what keeps the plan from being SAFE."""
        return any([d.code == SC.OBJECT_NOT_CLASSIFIED for d in self.report.diagnostics])


def virtualhome(limit: int | None) -> Iterator[Case]:
    """The scripts that have a scene."""
    for name in scripts(limit):
        packed = (SCRIPTS / "init_and_final_graphs" / f"file{name}.json.gz").read_bytes()
        scene = Source(f"{name}.json", gzip.decompress(packed).decode("utf-8"))
        path = SCRIPTS / "programs" / f"file{name}.txt"
        yield Case(name, scene, Source(path.name, path.read_text(encoding="utf-8")))


def safeagentbench(part: str, limit: int | None) -> Iterator[Case]:
    """The tasks of a file. Whether the goal is reached is not asked."""
    lines = (ROOMS / f"{part}_detailed.jsonl").read_text(encoding="utf-8").splitlines()[:limit]
    for line in lines:
        entry = json.loads(line)
        path = ROOMS / "layouts" / f"{entry['scene_name']}.json"
        goal = Source("task.json", json.dumps({**entry, "final_state": None}))
        plan = Source("plan.json", json.dumps(entry["step"]))
        yield Case(str(entry["line"]), Source(path.name, path.read_text(encoding="utf-8")), plan, goal)


def measure(world: Benchmark, cases: Iterable[Case]) -> Iterator[Measured]:
    """Audit each plan, and compile its scene again for each, as a single command does."""
    specs = [_shipped(name) for name in default_specs(world.domain or "")]
    for case in cases:
        files = {"scene": case.scene} if case.goal is None else {"scene": case.scene, "goal": case.goal}
        scene = world.read_scene(Request(files, None))
        read = world.read_plan(case.plan, scene) if scene.ok else None
        if read is None or read.plan is None:
            print(f"{case.name}: cannot be read", file=sys.stderr)
            continue
        times = []
        for asks in (False, True):
            start = process_time()
            with_kinds = add_kinds(scene.domain, scene.problem, specs)
            checker = Checker(scene.domain, scene.problem, with_kinds, OPTIONS, resolve=lambda name, _: _shipped(name))
            if not asks:
                checker.unclassified_check.classes.clear()
            report = checker.check(read.plan)
            times.append(process_time() - start)
        yield Measured(case, report, times[1], times[0])


def hidden(measured: Iterable[Measured]) -> Iterator[Case]:
    """Each script that causes hazards, once for each object that they name, with an unknown name for its class."""
    for case, report, *_ in measured:
        caused = [f for f in report.findings if f.rule is not None and f.blame is not Blame.PRE_EXISTING]
        for name in sorted({name for finding in caused for _, name in finding.binding}):
            kind = name.rpartition("_")[0]
            graph = json.loads(case.scene.text)
            nodes = next((graph[key] for key in ("init_graph", "environment_graph") if key in graph), graph)["nodes"]
            renamed = [node for node in nodes if node["class_name"].lower().replace(" ", "_") == kind]
            for node in renamed:
                node["class_name"] = f"zz_{kind}"
            if renamed:
                words = re.compile(rf"<{re.escape(kind).replace('_', '[ _]')}>", re.IGNORECASE)
                plan = Source(case.plan.name, words.sub(f"<zz_{kind}>", case.plan.text))
                yield Case(f"{case.name} without {kind}", Source(case.scene.name, json.dumps(graph)), plan)


def _shipped(name: str) -> Source:
    return Source.from_path(spec_path(name))


def show(title: str, measured: list[Measured]) -> None:
    """Print the figures of one data set."""
    total = len(measured)
    capped = [entry for entry in measured if entry.capped]
    verdicts = Counter([entry.report.headline.value if entry.report.headline else "none" for entry in measured])
    counted = ", ".join([f"{verdict} {number}" for verdict, number in verdicts.most_common()])
    print(f"{title}: {total} plans, {counted}")
    print(f"  UNKNOWN because of an object without a kind: {len(capped)} ({100 * len(capped) / max(total, 1):.1f} %)")
    classes: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for entry in capped:
        for unknown in entry.report.coverage.unclassified if entry.report.coverage else ():
            if unknown.possible_violations:
                classes[unknown.name] += 1
                kinds.update({f"{unknown.name} as {'+'.join(s.kinds)}: {s.rule}" for s in unknown.possible_violations})
    print(f"  classes: {', '.join([f'{name} {number}' for name, number in classes.most_common(60)])}")
    for text, number in kinds.most_common(15):
        print(f"    {number:4} {text}")
    for label, plans in (("all plans", measured), ("capped plans", capped)):
        if plans:
            now, before = [entry.seconds for entry in plans], [entry.without for entry in plans]
            print(f"  seconds of CPU, {label}: median {statistics.median(now):.2f}, most {max(now):.2f}; ", end="")
            print(f"without the question {statistics.median(before):.2f}, {max(before):.2f}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="Audit only the first N plans of each file.")
    limit = parser.parse_args().limit
    measured = list(measure(VIRTUALHOME, virtualhome(limit)))
    show("VirtualHome", measured)
    without = list(measure(VIRTUALHOME, hidden(measured)))
    show("VirtualHome, one class hidden", without)
    safe = [entry.case.name for entry in without if entry.report.headline in (Headline.SAFE, Headline.VALID)]
    print(f"  SAFE although the class is hidden: {', '.join(safe) or 'none'}")
    for part in ("safe", "unsafe"):
        show(f"SafeAgentBench, {part}", list(measure(SAFEAGENTBENCH, safeagentbench(part, limit))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
