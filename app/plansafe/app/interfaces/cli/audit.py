"""The command ``audit``: its options, and the code that each combination of options runs."""

from __future__ import annotations

import sys
from typing import Any

from plansafe.app.interfaces.cli.audit_command import audit_plans
from plansafe.app.interfaces.cli.configuration import ProjectSelection, configure, with_flags
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


def _show_version(is_set: Any) -> None:
    if is_set:
        from plansafe.app.system.version import version  # noqa: PLC0415 - for --version alone

        print(f"safecheck {version()}")
        raise SystemExit(0)


def _show_page(code: Any) -> None:
    if code is None:
        return
    from plansafe.app.explain import codes, page, rule_page  # noqa: PLC0415 - for --explain alone

    text = page(code) or rule_page(code)
    if text is None:
        print(
            f"error[{SC.BAD_OPTION}]: {code!a} is neither a code nor a shipped rule\nknown codes: {' '.join(codes())}",
            file=sys.stderr,
        )
        raise SystemExit(2)
    print(text, end="")
    raise SystemExit(0)


class FindingOptions(
    SpecFiles, LtlOption, HomeOption, RuleChoices, GateOption, NoRulesOption, BaselineOption, group="Rules"
):
    """The rules of an audit, and the findings that do not fail a plan."""

    require_rules: bool = switch(
        "--require-rules", help="Exit with 2 if no rule had anything to check.", setting="require_rules"
    )
    write_baseline: str | None = text(
        "--write-baseline", metavar="FILE", help="Write the current findings to this file, as a baseline."
    )


class FixOptions(VerdictOptions, group="Repair"):
    """Repairs that are written to the plan files."""

    fix: bool = switch(
        "--fix", help="Replace the plan by the nearest safe plan; print it if the plan is standard input. See `repair`."
    )
    diff: bool = switch("--diff", help="Print only the changes of --fix, as a unified diff.")


class ReportOptions(FormatOption, BlameOption, ColorOption, group="Output"):
    """How results are written."""

    output: str | None = text(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the report to a file, which is replaced only when the report is complete.",
    )
    show_all: bool = switch(
        "--all",
        help="List all findings of a rule, not only the first one, and findings that only follow from a failed step.",
        setting="every",
    )
    full_state: bool = switch(
        "--full-state", help="Show the whole state of each finding.", set_key="full_state", setting="full_state"
    )


class RunOptions(ReportOptions, group="Runs of many plans"):
    """A run folder."""

    run: str | None = text(
        "--run",
        metavar="FOLDER",
        help="Audit many plans into a new folder, and print a summary (docs/batches.md). See `runs`.",
    )
    resume: str | None = text("--resume", metavar="FOLDER", help="Continue an interrupted run.")
    jobs: int | None = integer("--jobs", low=1, high=4096, help="Use N processes for a run.")
    executor: str | None = choice(
        "--executor",
        values=("processes", "ray"),
        help="Use processes of this machine, or processes of Ray (docs/batches.md).",
        key="run.executor",
    )
    address: str | None = text(
        "--address", metavar="HOST:PORT", help="Use this Ray cluster; without it, start Ray here.", key="run.address"
    )
    id_column: str | None = text(
        "--id", metavar="COLUMN", help="Name the plans of a table by this column.", key="run.id"
    )
    plan_column: str | None = text(
        "--plan-column", metavar="COLUMN", help="Read the plans of a table from this column.", key="run.plan_column"
    )


class ProofOptions(EngineOptions, group="Engine"):
    """How the verdict is decided, and how its proof is checked."""

    verify_certificate: str | None = text(
        "--verify-certificate",
        metavar="FILE",
        help="Check the proof in this file, which --certificate wrote; with PLAN, also that the proof is about PLAN.",
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
        "--explain",
        metavar="CODE|RULE",
        action=_show_page,
        help="Explain a code such as SC201 or a shipped rule, and exit.",
    )
    version: bool = switch("--version", "-V", action=_show_version, help="Print the version, and exit.")


@command(AuditOptions)
def audit(options: AuditOptions) -> int:
    """Decide whether plans are executable, reach the goal and are safe, and print a report with the verdict.

    Without options, the domain, the problem and the specification are found next to the plan or among the shipped
    files; the report names the files that were used. Exit codes: 0 SAFE or VALID, 1 INVALID or UNSAFE, 2 usage,
    unreadable file or ill-formed step (1 with --from text), 3 UNKNOWN, 4 a bug in safecheck. A batch returns the first
    present of 4, 2, 1, 3, 0. --fix and --diff have the exit codes of `safecheck repair`.
    """
    if options.verify_certificate is not None:
        return _verify(options, options.verify_certificate)
    settings = Settings(**options.settings())
    plans = list(options.plans)
    run_options: list[object] = [
        options.jobs,
        options.id_column,
        options.plan_column,
        options.executor,
        options.address,
    ]
    is_run = options.run is not None or options.resume is not None
    if is_run or any([value is not None for value in run_options]):
        from plansafe.app.runs.batch import Batch, refused, run_plans  # noqa: PLC0415 - for many plans alone

        unusable_flags = {"--fix": options.fix, "--diff": options.diff, "--output": options.output}
        unusable_flags |= {"--certificate": options.certificate, "--baseline": options.baseline}
        unusable_flags |= {
            "--write-baseline": options.write_baseline,
            f"--format {options.form}": options.form != "full",
        }
        executor = options.executor or "processes"
        flags_in_use = [flag for flag in unusable_flags if unusable_flags[flag]]
        code = refused(bool(plans), options.run, options.resume, run_options, flags_in_use, executor, options.address)
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
    selection = ProjectSelection(plans, options.no_project, options.show_config)
    configured = configure(options, selection, settings, options.form, options.memory_limit, FORMATS)
    settings = configured.settings
    if is_run:
        batch = batch._replace(memory=configured.memory)
        if options.executor != "ray":  # with Ray, the limit applies to its processes, not to this one
            limit_memory(configured.memory)
        return guarded(lambda: run_plans(plans, settings, batch))
    limit_memory(configured.memory)
    return guarded(
        lambda: audit_plans(
            plans,
            settings,
            configured.form,
            options.output,
            options.color,
            options.fix,
            options.diff,
            options.certificate,
            options.write_baseline,
        )
    )


def _verify(options: AuditOptions, certificate: str) -> int:
    """Check a certificate with the options of the audit that it came from."""
    from plansafe.app.interfaces.cli.verify_certificate import CertificateOptions, check_certificate  # noqa: PLC0415 - for this alone

    if len(options.plans) > 1:
        raise UsageError("--verify-certificate takes at most one plan")
    table = CertificateOptions.table()
    unused = [
        name
        for name in options.set_by_user
        if name not in (*table, "plans", "verify_certificate", "color", "no_project")
    ]
    if unused:
        flag = AuditOptions.table()[sorted(unused)[0]].flag
        raise UsageError(f"{flag} has no effect with --verify-certificate")
    values = {name: getattr(options, name) for name in table if name in options.set_by_user}
    plan = options.plans[0] if options.plans else None
    return check_certificate(CertificateOptions(**{**values, "certificate": certificate, "plan": plan}))
