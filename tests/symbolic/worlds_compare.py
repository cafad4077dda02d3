"""Compare the symbolic engine with the replay of every world by the kernel."""

from __future__ import annotations

from worlds_brute import enumerate_verdict, find_contradictions
from worlds_case import WorldsCase

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.steps import IllFormed
from plansafe.verifier.kernel import KernelRejects
from plansafe.verifier.reporting.report import Report, Worlds
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION
from plansafe.verifier.symbolic.circuits.solvers import Unsupported
from plansafe.verifier.symbolic.invariants.groups import find_restrictions
from plansafe.verifier.symbolic.worlds.encode import encode_plan
from plansafe.verifier.symbolic.worlds.encoding_queries import EncodingQueries, NoPossibleWorld
from plansafe.verifier.symbolic.worlds.verdict import choose_headline

ENGINES = ("auto", "smt")


def create_checker(case: WorldsCase, engine: str = "auto") -> Checker:
    """The checker of a case."""
    specs = [Source(f"spec{i}.safe", text) for i, text in enumerate(case.specs)]
    options = Options(engine=engine, infer_invariants=False, **case.criteria._asdict())
    return Checker(Source("domain.pddl", case.domain), Source("problem.pddl", case.problem), specs, options)


def find_report_differences(case: WorldsCase, engines: tuple[str, ...] = ENGINES) -> list[str]:
    """The differences between reports and enumerated worlds, and among the engines. Raises what the kernel raises."""
    expected = enumerate_verdict(case)
    differences: list[str] = []
    reports: dict[str, Report] = {}
    for engine in engines:
        report = reports[engine] = create_checker(case, engine).check(Source("plan", case.plan))
        if report.headline is None:
            codes = [d.code for d in report.diagnostics]
            if "SC111" in codes:  # `(and p (not p))` in an alternative: a mistake to us, never true to the kernel
                raise KernelRejects("an alternative contradicts itself")
            if expected.worlds or "SC117" not in codes:
                differences.append(f"{engine}: not judged, {codes}: {[d.message for d in report.diagnostics]}")
            continue
        if not expected.worlds:
            if expected.complete:
                differences.append(f"{engine}: {report.headline.value}, but no world is allowed")
            continue
        values = {"executable": report.executable, "goal": report.goal}
        if report.safety is not None:
            values["safe"] = report.safety
        if report.safe.value == "UNKNOWN" and has_functions(case) and _is_replayed_explicitly(case):
            continue  # the explicit engine may be undecided about a rule that is not (docs/language.md, section 4)
        differences += [
            f"{engine}: {text}" for text in find_contradictions(case, {k: v.value for k, v in values.items()})
        ]
        if is_blame_unknown(case, report.safe):
            continue
        if expected.complete and (report.headline.value, report.exit_code) != (
            expected.headline,
            expected.exit_code,
        ):
            headline_and_code = f"{report.headline.value} ({report.exit_code})"
            differences.append(f"{engine}: {headline_and_code}, not {expected.headline} ({expected.exit_code})")
        if expected.complete:
            differences += [
                f"{engine}: {text}"
                for text in _compare_findings(report, expected.violated, case.criteria == EVERY_VIOLATION)
            ]
            differences += [
                f"{engine}: {text}" for text in _compare_statuses(report, expected.rules, has_functions(case))
            ]
    values = {(r.headline, r.executable, r.goal, r.safe) for r in reports.values()}
    if len(values) > 1:
        differences.append(f"engines differ: {values}")
    return differences


def find_encoding_differences(case: WorldsCase) -> list[str]:
    """The differences between the encoding (solved by SAT, Z3, or simulation first) and the worlds, without reports."""
    expected = enumerate_verdict(case)
    checker = create_checker(case)
    if not checker.ok:
        return find_report_differences(case)
    read = checker.read(Source("plan", case.plan))
    if read.ordering is not None or read.timed is not None:
        return find_report_differences(case, ("auto",))
    if any([isinstance(step, IllFormed) for step in read.steps]):
        return find_report_differences(case)  # the report says what that means for safety
    groups = find_restrictions(
        checker.engine.task, checker.compiled.openings, checker.compiled.invariants, False
    ).groups
    encoding = encode_plan(checker.compiled, read, groups)
    differences: list[str] = []
    engine_verdicts = set()
    for engine in ("auto", "sat", "smt"):
        queries = EncodingQueries(encoding, engine)
        try:
            verdict = queries.decide_verdict()
        except Unsupported:
            continue
        except NoPossibleWorld:
            if expected.worlds:
                differences.append(f"{engine}: no world, but there are {expected.worlds}")
            continue
        finally:
            queries.close()
        if not expected.worlds:
            if expected.complete:
                differences.append(f"{engine}: a verdict, but no world is allowed")
            continue
        values = dict(zip(("executable", "goal", "safe"), [value.value for value in verdict[:3]], strict=True))
        differences += [f"{engine}: {text}" for text in find_contradictions(case, values)]
        headline = choose_headline(verdict, encoding.has_instances).value
        if expected.complete and headline != expected.headline and not is_blame_unknown(case, verdict.safe):
            differences.append(f"{engine}: {headline}, not {expected.headline}")
        engine_verdicts.add((headline, *verdict[:3]))
    if len(engine_verdicts) > 1:
        differences.append(f"engines differ: {engine_verdicts}")
    return differences


def is_blame_unknown(case: WorldsCase, safe: Worlds) -> bool:
    """Whether the verdict depends on pre-existing violations of a whole trace, which the circuit does not know."""
    return case.criteria.ignores_preexisting and safe is Worlds.UNKNOWN


def _is_replayed_explicitly(case: WorldsCase) -> bool:
    """Whether the explicit engine replays the worlds of a case, whatever engine is asked for."""
    return case.name.startswith(("timed", "orders"))


def has_functions(case: WorldsCase) -> bool:
    """Whether the case has numbers: one that is undefined may leave the explicit engine undecided about a rule."""
    return "(:functions" in case.domain


def _compare_statuses(report: Report, rules: dict[str, str], has_numbers: bool) -> list[str]:
    """The differences between the status of each rule in the report and by enumeration."""
    differences = []
    for count in report.rules:
        expected = rules.get(count.name)  # None for preferences, whose worlds the kernel does not distinguish
        status = "kept" if count.status == "exempt" else count.status  # a world that was not shown may have more
        if expected is None or status == expected or (count.status == "undecided" and has_numbers):
            continue
        differences.append(f"rule {count.name} is {expected}, not {count.status}")
    return differences


def _compare_findings(
    report: Report, violated: dict[tuple[str, tuple[tuple[str, str], ...]], str], unknown_is_exact: bool
) -> list[str]:
    """The differences between findings and the rules that are violated in all or some worlds."""
    rules = {rule for rule, _ in violated}
    differences = []
    for finding in report.findings:
        if finding.rule is None or "halt" not in finding.readings or finding.worlds is None:
            continue
        if finding.finding_class.value == "undecided":
            continue
        expected = violated.get((finding.rule, finding.binding))
        if expected is None:
            expected = next(
                (w for (rule, b), w in violated.items() if rule == finding.rule and _same_binding(b, finding)), None
            )
        if expected is None:
            differences.append(f"finding of {finding.rule} {finding.binding} in no world")
        elif expected != finding.worlds.value and (finding.worlds is not Worlds.UNKNOWN or unknown_is_exact):
            differences.append(f"finding of {finding.rule} {finding.binding} in {finding.worlds.value}, not {expected}")
    # If the explicit engine cannot decide a violated temporal rule, it reports that instead.
    missing = rules - {finding.rule for finding in report.findings}
    if missing and len(report.worlds.witnesses if report.worlds else ()) < 8:
        differences.append(f"no finding of {sorted(missing)}")
    return differences


def _same_binding(binding: tuple[tuple[str, str], ...], finding: object) -> bool:
    compiled_names = {(name.partition("~")[0], value) for name, value in binding}
    return compiled_names == set(finding.binding)  # type: ignore[attr-defined]
