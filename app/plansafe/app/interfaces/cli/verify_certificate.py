"""``audit --verify-certificate`` and its former command: check a proof, and that it is about these files.

``audit --certificate FILE``: write the proof of a SAFE verdict that a solver decided.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from plansafe.app.options.option import argument, changed, command
from plansafe.app.options.shared import (
    GateOption,
    HomeOption,
    InvariantOption,
    MemoryLimit,
    SpecFiles,
    TaskFiles,
    TimeLimit,
    TypeOptions,
    VerdictOptions,
)
from plansafe.app.session.audit import INTERNAL, audit
from plansafe.app.session.model import Result, Settings, usage_problem
from plansafe.app.system.file_writing import Guard, NotWritten
from plansafe.app.system.file_writing import save as write
from plansafe.app.system.process import REPORT, complain, guarded, limit_memory, remark, standard_output
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.verifier.reporting.report import Headline
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria

if TYPE_CHECKING:
    from plansafe.verifier.symbolic.certificates.certificate import Certificate


_CLAIMS = {
    "SAFE": "no world of this encoding stops the plan, misses its goal or breaks a rule (SAFE)",
    "VALID": "no world of this encoding stops the plan or misses its goal; no rule applied (VALID)",
}


class CertificateOptions(
    TaskFiles, SpecFiles, HomeOption, GateOption, TypeOptions, VerdictOptions, InvariantOption, TimeLimit, MemoryLimit
):
    """The certificate, and the options of the audit that it came from."""

    certificate: str = argument("FILE", "A certificate that `safecheck --certificate FILE` wrote.", required=True)
    plan: str | None = argument("[PLAN]", "Encode this plan again, and compare the encoding with the certificate.")
    time_limit: float = changed(TimeLimit.time_limit, default=300.0)


@command(CertificateOptions)
def verify_certificate(options: CertificateOptions) -> int:
    """Check the proof of a SAFE or VALID verdict, without the solver that found it.

    The command is now `safecheck audit --verify-certificate FILE [PLAN]`. With PLAN (and the options of the audit), the
    clauses are made again from the files and compared; without PLAN, only the proof is checked. Exit codes: 0 verified,
    1 rejected, 2 not a certificate, or usage, 4 a bug in safecheck.
    """
    return check_certificate(options)


def check_certificate(options: CertificateOptions) -> int:
    """Check a certificate, and return the exit code."""
    settings = Settings(**options.settings())._replace(engine="sat", certificate=True)
    limit_memory(options.memory_limit)
    return guarded(lambda: _check_file(options.certificate, options.plan, settings))


def _check_file(path: str, plan: str | None, settings: Settings) -> int:
    from plansafe.verifier.symbolic.certificates.certificate import (  # noqa: PLC0415 - other commands do without
        NotACertificate,
        Rejected,
        verify,
    )

    problem = usage_problem(settings)
    if problem is not None:
        return complain(problem)
    name = visible(path)
    try:
        with open(path, "rb") as file:
            certificate = verify(file)
    except OSError as error:
        return complain(Diagnostic(SC.NO_FILE, f"cannot read {name}: {(error.strerror or str(error)).lower()}"))
    except NotACertificate:
        return complain(
            Diagnostic(
                SC.NOT_A_CERTIFICATE, f"{name} is not a certificate", help="`safecheck --certificate` writes one"
            )
        )
    except Rejected as rejected:
        return _rejected(f"{name}, line {rejected.line}: {rejected.reason}")
    except MemoryError:
        return _rejected(f"{name}: the proof needs more memory than --memory-limit allows")
    result = "nothing was left to prove" if certificate.is_trivial else "proof verified"
    lines = [f"{result}: {_CLAIMS[certificate.claim]}"]
    lines += [f"  {line}" for line in _unproved_findings(certificate.criteria)]
    lines += [f"  does not cover exempt findings: {visible(exemption)}" for exemption in certificate.exempt]
    lines.append(f"  {_proof_size(certificate)}, written by {visible(certificate.tool)}")
    if plan is None:
        lines += [f"  {file.kind:<8}{visible(file.name)}  sha256 {file.sha256}" for file in certificate.files]
        lines.append("  not checked: that the encoding matches the files (name the plan to check this)")
    else:
        audited = _certificate_of_audit(plan, settings)
        if isinstance(audited, int):
            return audited
        if audited.criteria != certificate.criteria:
            reason = f"the proof is correct, but for other options: --judge {certificate.criteria.judge}"
            return _rejected(
                f"{reason} --min-severity {certificate.criteria.min_severity}", "use the options of the audit"
            )
        if audited.exempt != certificate.exempt:
            reason = "the proof is correct, but for other exemptions (--home)"
            return _rejected(reason, "use the profile of the audit")
        changed_names = ", ".join(_changed_files(certificate, audited))
        if (audited.claim, audited.cnf_hash) != (certificate.claim, certificate.cnf_hash):
            reason = (
                f"these files differ from the certificate's: {changed_names}"
                if changed_names
                else "the options differ, or the version of safecheck"
            )
            return _rejected(f"the proof is correct, but it is not about {visible(plan)}", reason)
        lines.append(f"  the encoding equals the encoding of {visible(plan)}, made again from its files")
        if changed_names:
            lines.append(
                f"  these files differ from the certificate's without an effect on the encoding: {changed_names}"
            )
    stream = standard_output()
    stream.write("\n".join(lines) + "\n")
    return 0


def _unproved_findings(criteria: VerdictCriteria) -> list[str]:
    """The violations that the options leave out of the verdict, and so of the proof."""
    lines = ["does not cover pre-existing violations (--judge introduced)"] if criteria.ignores_preexisting else []
    if criteria.min_severity != EVERY_VIOLATION.min_severity:
        lines.append(f"does not cover rules less severe than `{criteria.min_severity}` (--min-severity)")
    return lines


def _proof_size(certificate: Certificate) -> str:
    parts = ((certificate.steps, "step"), (certificate.clauses, "clause"), (certificate.variables, "variable"))
    steps, clauses, variables = [f"{number} {word}{'' if number == 1 else 's'}" for number, word in parts]
    return f"{steps} from {clauses} over {variables}"


def _certificate_of_audit(plan: str, settings: Settings) -> Certificate | int:
    """Audit the plan and return its certificate; if there is none, report why and return an exit code."""
    from plansafe.verifier.symbolic.certificates.certificate import verify  # noqa: PLC0415 - other commands do without

    result = next(audit([plan], settings))
    if result.failure is not None:
        print(result.failure + REPORT, file=sys.stderr)
        return INTERNAL
    report = result.report
    if report.headline is None:
        code = 2
        for problem in report.diagnostics:
            if problem.severity is Severity.ERROR:
                code = complain(problem)
        return code
    if report.certificate is None:
        return _rejected(f"the proof is correct, but {visible(plan)} has no proof: it is {report.headline.value}")
    return verify(io.BytesIO(report.certificate.encode()))


def _changed_files(certificate: Certificate, audited: Certificate) -> list[str]:
    """The names of audited files whose contents the certificate does not list."""
    hashes = {file.sha256 for file in certificate.files}
    return [visible(file.name) for file in audited.files if file.sha256 not in hashes]


def _rejected(reason: str, help: str | None = None) -> int:
    complain(Diagnostic(SC.CERTIFICATE_REJECTED, reason, help=help))
    return 1


_CONSTANT_FOLDING = "constant folding"
"""The value of :attr:`WorldsReport.solver` if no solver was called."""


def option_problem(path: str, plans: int, settings: Settings, repairs: bool, output: str | None) -> Diagnostic | None:
    """The reason why a certificate cannot be written with these options, if there is one; checked before the search."""
    if output is not None and os.path.realpath(output) == os.path.realpath(path):
        return Diagnostic(SC.BAD_OPTION, "--certificate and --output name the same file", help="name two files")
    if repairs:
        return Diagnostic(SC.BAD_OPTION, "--certificate cannot be combined with --fix or --diff")
    if plans != 1:
        return Diagnostic(SC.BAD_OPTION, f"--certificate takes one plan, not {plans}", help="name one plan")
    if settings.engine == "explicit":
        advice = "leave --engine explicit out; --engine sat uses a solver even for a single possible world"
        return Diagnostic(
            SC.BAD_OPTION, "the explicit engine calls no solver, so it cannot make a certificate", help=advice
        )
    return None


def save(path: str, result: Result, protected: Guard) -> int:
    """Write the certificate of a result, if it has one, and report the outcome.

    Returns the exit code: 2 if the file cannot be written, else 0.
    """
    name, shown_path, report = visible(result.plan), visible(path), result.report
    if report.certificate is None:
        if report.headline is None:
            return 0  # the report says why
        solver = report.worlds.solver if report.worlds is not None else ""
        if report.headline in (Headline.SAFE, Headline.VALID):
            reason = f"{solver} returned no proof" if solver and solver != _CONSTANT_FOLDING else "no solver was needed"
        else:
            reason = f"the plan is {report.headline.value}"
        unchanged = f"; {shown_path} is from an earlier audit and was not changed" if os.path.exists(path) else ""
        print(f"{name}: no certificate: {reason}{unchanged}", file=sys.stderr)
        return 0
    try:
        remark(write(path, report.certificate, protected))
    except NotWritten as error:
        return complain(error.diagnostic)
    print(f"{name}: certificate written to {shown_path}", file=sys.stderr)
    return 0
