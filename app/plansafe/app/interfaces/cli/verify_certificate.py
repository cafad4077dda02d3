"""The command ``verify-certificate``: is the proof right, and is it about these files?"""

from __future__ import annotations

import io
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
from plansafe.app.session.audit import INTERNAL, audit, usage_problem
from plansafe.app.session.model import Settings
from plansafe.app.system.process import REPORT, complain, guarded, limit_memory, standard_output
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.verifier.rules.question import EVERY_VIOLATION, Question

if TYPE_CHECKING:
    from plansafe.verifier.symbolic.certificates.certificate import Certificate

_SAYS = {
    "SAFE": "no world of this encoding stops the plan, misses its goal or breaks a rule (SAFE)",
    "VALID": "no world of this encoding stops the plan or misses its goal; no rule applied (VALID)",
}


class CertificateOptions(
    TaskFiles, SpecFiles, HomeOption, GateOption, TypeOptions, VerdictOptions, InvariantOption, TimeLimit, MemoryLimit
):
    """The options that say what a certificate is about."""

    certificate: str = argument("FILE", "What `safecheck --certificate FILE` wrote.", required=True)
    plan: str | None = argument("[PLAN]", "Audit this plan again, and compare what has to be proved.")
    time_limit: float = changed(TimeLimit.time_limit, default=300.0)


@command(CertificateOptions)
def verify_certificate(options: CertificateOptions) -> int:
    """Check the proof behind a SAFE or VALID, without the solver that found it.

    The command is now `safecheck audit --verify-certificate FILE [PLAN]`. Without PLAN it is not checked that the
    clauses say what the files say; with PLAN (and the options of the audit) they are made again from the files.
    Exit codes: 0 verified, 1 rejected, 2 not a certificate, or usage, 4 a bug in safecheck.
    """
    return verified(options)


def verified(options: CertificateOptions) -> int:
    """Check a certificate. An exit code."""
    settings = Settings(**options.settings())._replace(engine="sat", certificate=True)
    limit_memory(options.memory_limit)
    return guarded(lambda: _verified(options.certificate, options.plan, settings))


def _verified(path: str, plan: str | None, settings: Settings) -> int:
    from plansafe.verifier.symbolic.certificates.certificate import (  # noqa: PLC0415 - other commands do without
        NotACertificate,
        Rejected,
        verify,
    )

    wrong = usage_problem(settings)
    if wrong is not None:
        return complain(wrong)
    name = visible(path)
    try:
        with open(path, "rb") as file:
            found = verify(file)
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
    said = "there was nothing left to prove" if found.constant else "proof verified"
    lines = [f"{said}: {_SAYS[found.claim]}"]
    lines += [f"  {line}" for line in _question(found.question)]
    lines += [f"  of what is exempt it says nothing: {visible(said)}" for said in found.exempt]
    lines.append(f"  {_count(found)}, written by {visible(found.tool)}")
    if plan is None:
        lines += [f"  {file.kind:<8}{visible(file.name)}  sha256 {file.sha256}" for file in found.files]
        lines.append("  not checked: that this encoding says what the files say (name the plan for that)")
    else:
        again = _again(plan, settings)
        if isinstance(again, int):
            return again
        if again.question != found.question:
            reason = f"the proof holds, but of another question: --judge {found.question.judge}"
            return _rejected(f"{reason} --min-severity {found.question.min_severity}", "give the flags of the audit")
        if again.exempt != found.exempt:
            reason = "the proof holds, but of other exemptions (--home)"
            return _rejected(reason, "give the profile of the audit")
        others = ", ".join(_others(found, again))
        if (again.claim, again.cnf) != (found.claim, found.cnf):
            reason = f"the certificate names another text of: {others}" if others else "other flags, or another version"
            return _rejected(f"the proof holds, but it is not about {visible(plan)}", reason)
        lines.append(f"  the encoding is that of {visible(plan)}, made again from its files")
        if others:
            lines.append(f"  which is the same although the certificate names another text of: {others}")
    stream = standard_output()
    stream.write("\n".join(lines) + "\n")
    return 0


def _question(question: Question) -> list[str]:
    """What decides, where that is not every violation."""
    out = (
        ["of violations that were there before the plan it says nothing (--judge introduced)"]
        if question.introduced
        else []
    )
    if question.min_severity != EVERY_VIOLATION.min_severity:
        out.append(f"of rules less severe than `{question.min_severity}` it says nothing (--min-severity)")
    return out


def _count(found: Certificate) -> str:
    parts = ((found.steps, "step"), (found.clauses, "clause"), (found.variables, "variable"))
    steps, clauses, variables = [f"{number} {word}{'' if number == 1 else 's'}" for number, word in parts]
    return f"{steps} from {clauses} over {variables}"


def _again(plan: str, settings: Settings) -> Certificate | int:
    """What has to be proved of a plan now; an exit code if that cannot be said, after saying why."""
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
        said = f"{visible(plan)}: it is {report.headline.value}"
        return _rejected(f"the proof holds, but nothing like it can be proved of {said}")
    return verify(io.BytesIO(report.certificate.encode()))


def _others(found: Certificate, again: Certificate) -> list[str]:
    known = {file.sha256 for file in found.files}
    return [visible(file.name) for file in again.files if file.sha256 not in known]


def _rejected(reason: str, help: str | None = None) -> int:
    complain(Diagnostic(SC.CERTIFICATE_REJECTED, reason, help=help))
    return 1
