"""The symbolic engine against every world replayed by the kernel, on random tasks.

``python tests/symbolic/worlds_compare.py --count N --seed S [--mode M]`` prints what differs; exit code 1 if anything does.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "property")]

from worlds_brute import brute, contradictions
from worlds_case import WorldsCase
from worlds_generate import worlds_case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.kernel import KernelLimit, KernelRejects
from plansafe.verifier.report import Report

ENGINES = ("auto", "smt")


def checker_of(case: WorldsCase, engine: str = "auto") -> Checker:
    """The checker of a case."""
    specs = [Source(f"spec{i}.safe", text) for i, text in enumerate(case.specs)]
    options = Options(engine=engine, replay="never", infer_invariants=False)
    return Checker(Source("domain.pddl", case.domain), Source("problem.pddl", case.problem), specs, options)


def differences(case: WorldsCase, engines: tuple[str, ...] = ENGINES) -> list[str]:
    """What the engines say that the worlds do not, or differently from each other. Raises what the kernel raises."""
    found = brute(case)
    out: list[str] = []
    reports: dict[str, Report] = {}
    for engine in engines:
        report = reports[engine] = checker_of(case, engine).check(Source("plan", case.plan))
        if report.headline is None:
            codes = [d.code for d in report.diagnostics]
            if "SC111" in codes:  # `(and p (not p))` in an alternative: a mistake to us, never true to the kernel
                raise KernelRejects("an alternative contradicts itself")
            if found.worlds or "SC117" not in codes:
                out.append(f"{engine}: not judged, {codes}: {[d.message for d in report.diagnostics]}")
            continue
        if not found.worlds:
            out.append(f"{engine}: {report.headline.value}, but no world is allowed")
            continue
        values = {"executable": report.executable, "goal": report.goal, "safe": report.safe}
        out += [f"{engine}: {text}" for text in contradictions(case, {k: v.value for k, v in values.items()})]
        if found.complete and (report.headline.value, report.exit_code) != (found.headline, found.exit_code):
            out.append(
                f"{engine}: {report.headline.value} ({report.exit_code}), not {found.headline} ({found.exit_code})"
            )
        if found.complete:
            out += [f"{engine}: {text}" for text in _findings(report, found.violated)]
    values = {(r.headline, r.executable, r.goal, r.safe) for r in reports.values()}
    if len(values) > 1:
        out.append(f"engines differ: {values}")
    return out


def _findings(report: Report, violated: dict[tuple[str, tuple[tuple[str, str], ...]], str]) -> list[str]:
    """Findings about rules against the rules that are violated in all worlds, or in some."""
    rules = {rule for rule, _ in violated}
    out = []
    for finding in report.findings:
        if finding.rule is None or "halt" not in finding.readings or finding.worlds is None:
            continue
        if finding.finding_class.value == "undecided":
            continue
        expected = violated.get((finding.rule, finding.binding))
        if expected is None:
            expected = next(
                (w for (rule, b), w in violated.items() if rule == finding.rule and _alike(b, finding)), None
            )
        if expected is None:
            out.append(f"finding of {finding.rule} {finding.binding} in no world")
        elif expected != finding.worlds.value:
            out.append(f"finding of {finding.rule} {finding.binding} in {finding.worlds.value}, not {expected}")
    missing = rules - {finding.rule for finding in report.findings}
    if missing and len(report.worlds.witnesses if report.worlds else ()) < 8:
        out.append(f"no finding of {sorted(missing)}")
    return out


def _alike(binding: tuple[tuple[str, str], ...], finding: object) -> bool:
    names = {(name.partition("~")[0], value) for name, value in binding}
    return names == set(finding.binding)  # type: ignore[attr-defined]


def main() -> int:
    """Compare on many cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mode", default="facts")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--show", type=int, default=3)
    arguments = parser.parse_args()
    seen: Counter[str] = Counter()
    shown = 0
    started = time.monotonic()
    for number in range(arguments.count):
        case = worlds_case(arguments.mode, arguments.seed, number)
        try:
            found = differences(case, tuple(arguments.engines.split(",")))
        except (KernelRejects, KernelLimit) as why:
            seen[f"left out: {type(why).__name__}"] += 1
            continue
        except Exception as error:
            found = [f"crash: {type(error).__name__}: {error}"]
        verdict = brute(case)
        seen.update([f"executable {verdict.executable}", f"goal {verdict.goal}", f"safe {verdict.safe}"])
        seen["judged"] += 1
        seen["worlds"] += verdict.worlds
        if found:
            seen["differ"] += 1
            if shown < arguments.show:
                shown += 1
                print(case.show())
                print("\n".join(found), flush=True)
    print(
        f"{seen['judged']} judged, {seen['differ']} differ, {seen['worlds']} worlds, {time.monotonic() - started:.0f} s"
    )
    print(", ".join([f"{what} {count}" for what, count in sorted(seen.items())]))
    return 1 if seen["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
