"""The command ``audit``: its options, and what each combination of them runs."""

from __future__ import annotations

import sys
from typing import Any

from plansafe.app.interfaces.cli.audit_command import audit_plans
from plansafe.app.interfaces.cli.configuration import Asked, configure, with_flags
from plansafe.app.options.option import UsageError, changed, choice, command, integer, switch, text
from plansafe.app.options.shared import (
    FORMATS,
    Assignments,
    BaselineOption,
    BlameOption,
    ColorOption,
    EngineOptions,
    FindingLimits,
    FormatOption,
    GateOption,
    HomeOption,
    LtlOption,
    NoProject,
    NoRulesOption,
    PlanArguments,
    ReadingOptions,
    RuleChoices,
    ShowConfig,
    SpecFiles,
    TaskFiles,
    TimeLimit,
    VerdictOptions,
    WorldOptions,
)
from plansafe.app.options.shared import MemoryLimit as MemoryOption
from plansafe.app.session.model import Settings
from plansafe.app.system.process import guarded, limit_memory
from plansafe.grammar.codes import SC


def _show_version(wanted: Any) -> None:
    if wanted:
        from plansafe.app.system.version import version  # noqa: PLC0415 - where something is shown

        print(f"safecheck {version()}")
        raise SystemExit(0)


def _show_page(code: Any) -> None:
    if code is None:
        return
    from plansafe.app.explain import codes, page  # noqa: PLC0415 - for --explain alone

    found = page(code)
    if found is None:
        print(f"error[{SC.BAD_OPTION}]: no such code: {code!a}\nknown codes: {' '.join(codes())}", file=sys.stderr)
        raise SystemExit(2)
    print(found, end="")
    raise SystemExit(0)


class FindingOptions(
    SpecFiles, LtlOption, HomeOption, RuleChoices, GateOption, NoRulesOption, BaselineOption, group="Rules"
):
    """The rules of an audit, and the findings that do not fail a plan."""

    require_rules: bool = switch(
        "--require-rules", help="Exit with 2 if no rule had anything to check.", setting="require_rules"
    )
    write_baseline: str | None = text(
        "--write-baseline", metavar="FILE", help="Write the present findings to this file, as a baseline."
    )


class FixOptions(VerdictOptions, group="Repair"):
    """What is changed in the plans."""

    fix: bool = switch(
        "--fix",
        help="Write the nearest safe plan over the plan; print it if the plan is standard input. See `repair`.",
    )
    diff: bool = switch("--diff", help="Print the changes of --fix as a unified diff, and nothing else.")


class ReportOptions(FormatOption, BlameOption, ColorOption, group="Output"):
    """How results are shown."""

    output: str | None = text(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the report to a file, which is replaced only when the report is complete.",
    )
    every: bool = switch("--all", help="Show also findings that only follow from a failed step.", setting="every")
    full_state: bool = switch(
        "--full-state",
        help="Show the whole state of each finding.",
        key="full_state",
        only_set=True,
        setting="full_state",
    )


class RunOptions(ReportOptions, group="Runs of many plans"):
    """A run folder."""

    run: str | None = text(
        "--run",
        metavar="FOLDER",
        help="Audit many plans into a new folder, and print a summary (docs/batches.md). See `runs`.",
    )
    resume: str | None = text("--resume", metavar="FOLDER", help="Continue an interrupted run.")
    jobs: int | None = integer("--jobs", metavar="N", low=1, high=4096, help="Use N processes for a run.")
    executor: str | None = choice(
        "--executor",
        values=("processes", "ray"),
        help="Use processes of this machine, or those of Ray (docs/batches.md).",
        key="run.executor",
    )
    address: str | None = text(
        "--address",
        metavar="HOST:PORT",
        help="Use this Ray cluster; without it, start Ray here.",
        key="run.address",
    )
    id_column: str | None = text(
        "--id", metavar="COLUMN", help="Name the plans of a table by this column.", key="run.id"
    )
    plan_column: str | None = text(
        "--plan-column",
        metavar="COLUMN",
        help="Read the plans of a table from this column.",
        key="run.plan_column",
    )


class ProofOptions(EngineOptions, group="Engine"):
    """How the verdict is found, and its proof checked."""

    verify_certificate: str | None = text(
        "--verify-certificate",
        metavar="FILE",
        help="Check the proof that --certificate wrote, and that it is about PLAN, if one is named.",
    )


class LimitOptions(FindingLimits, TimeLimit, MemoryOption, group="Limits"):
    """Bounds on the work for a plan."""

    time_limit: float = changed(
        TimeLimit.time_limit, default=300.0, help="Stop the audit of a plan after SECONDS; 0: no limit."
    )


class AuditOptions(
    PlanArguments,
    TaskFiles,
    WorldOptions,
    ReadingOptions,
    FindingOptions,
    FixOptions,
    RunOptions,
    ProofOptions,
    LimitOptions,
    NoProject,
    ShowConfig,
    Assignments,
    group="Information",
):
    """The options of ``audit``."""

    explain: str | None = text(
        "--explain", metavar="CODE", action=_show_page, help="Explain a code such as SC201, and exit."
    )
    version: bool = switch("--version", "-V", action=_show_version, help="Print the version, and exit.")


@command(AuditOptions)
def audit(options: AuditOptions) -> int:
    """Decide whether plans are executable, reach the goal and are safe, and print a report with the verdict.

    Without options, the domain, the problem and the specification are found next to the plan or among the shipped
    ones; the report names the files that were used. Exit codes: 0 SAFE or VALID, 1 INVALID or UNSAFE, 2 usage,
    unreadable file or ill-formed step (1 with --from text), 3 UNKNOWN, 4 a bug in safecheck. A batch returns the first
    present of 4, 2, 1, 3, 0. With --fix and --diff they are those of `safecheck repair`.
    """
    if options.verify_certificate is not None:
        return _verify(options, options.verify_certificate)
    settings = Settings(**options.settings())
    plans = list(options.plans)
    of_runs: list[object] = [
        options.jobs,
        options.id_column,
        options.plan_column,
        options.executor,
        options.address,
    ]
    of_a_run = options.run is not None or options.resume is not None
    if of_a_run or any([value is not None for value in of_runs]):
        from plansafe.app.runs.batch import Batch, refused, run_plans  # noqa: PLC0415 - for many plans alone

        others = {"--fix": options.fix, "--diff": options.diff, "--output": options.output}
        others |= {"--certificate": options.certificate, "--baseline": options.baseline}
        others |= {
            "--write-baseline": options.write_baseline,
            f"--format {options.form}": options.form != "full",
        }
        executor = options.executor or "processes"
        wrong = [flag for flag in others if others[flag]]
        code = refused(bool(plans), options.run, options.resume, of_runs, wrong, executor, options.address)
        if code is not None:
            return code
        batch = Batch(
            options.run or options.resume or "",
            options.resume is not None,
            options.jobs or 1,
            options.id_column,
            options.plan_column,
            executor,
            options.address,
        )
    settings = with_flags(settings, options.ignore_rules, options.select_rules, options.kinds, options.assume_harmless)
    asked = Asked(plans, options.no_project, options.show_config)
    now = configure(options, asked, settings, options.form, options.memory_limit, FORMATS)
    settings = now.settings
    if of_a_run:
        batch = batch._replace(memory=now.memory)
        if options.executor != "ray":  # whose processes have the limit, not what they are started by
            limit_memory(now.memory)
        return guarded(lambda: run_plans(plans, settings, batch))
    limit_memory(now.memory)
    return guarded(
        lambda: audit_plans(
            plans,
            settings,
            now.form,
            options.output,
            options.color,
            options.fix,
            options.diff,
            options.certificate,
            options.write_baseline,
        )
    )


def _verify(options: AuditOptions, certificate: str) -> int:
    """Check a certificate; the options that say what the plan was checked with hold here too."""
    from plansafe.app.interfaces.cli.verify_certificate import CertificateOptions, verified  # noqa: PLC0415 - for this alone

    if len(options.plans) > 1:
        raise UsageError("--verify-certificate takes one plan")
    known = CertificateOptions.table()
    foreign = [
        name for name in options.given if name not in (*known, "plans", "verify_certificate", "color", "no_project")
    ]
    if foreign:
        flag = AuditOptions.table()[sorted(foreign)[0]].flag
        raise UsageError(f"{flag} has no effect with --verify-certificate")
    values = {name: getattr(options, name) for name in known if name in options.given}
    plan = options.plans[0] if options.plans else None
    return verified(CertificateOptions(**{**values, "certificate": certificate, "plan": plan}))
