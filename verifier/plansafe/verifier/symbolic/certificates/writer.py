"""The writer of certificates: CaDiCaL solves the clauses of "some world breaks this plan" again, with a proof."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from tempfile import TemporaryFile
from typing import Any

from plansafe.grammar.source import Source
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.extras import how_to_install
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria
from plansafe.verifier.symbolic.certificates.certificate import FIRST_LINE, Certificate
from plansafe.verifier.symbolic.certificates.proof import trim_proof
from plansafe.verifier.symbolic.circuits.cnf import Clauses
from plansafe.verifier.symbolic.circuits.solvers import SolverMissing, search_within_limits
from plansafe.verifier.symbolic.worlds.encoding import Encoding, FactInput, OutcomeInput
from plansafe.verifier.symbolic.worlds.world_text import describe_outcome

_SEARCH_SHARE = 0.7
"""The share of the remaining time for the search; the proof has to be shortened and written as well."""
MAX_PROOF_BYTES = 2**29
"""Maximum size of a proof before it is shortened, checked after each search."""
_CONFLICTS_PER_SEARCH = 20_000
MAX_SEARCHES = 75
"""Maximum number of searches for one proof, about a minute."""


def write_certificate(
    encoding: Encoding,
    claim: str,
    files: Iterable[tuple[str, Source]],
    task: Task,
    steps: Sequence[GroundAction | IllFormed],
    deadline: float | None = None,
    criteria: VerdictCriteria = EVERY_VIOLATION,
) -> str | None:
    """Return the certificate that no world breaks the plan of an encoding; ``claim`` is ``SAFE`` or ``VALID``.

    ``None`` without a proof: the encoding has limits or numbers, no proof was found in time, or the claim is wrong.
    Raises :class:`SolverMissing`.
    """
    if encoding.limits:
        return None
    cnf, clauses = _encode_failure(encoding)
    if cnf.numeric_inputs:
        return None
    now = time.monotonic()
    proof = find_refutation(clauses, None if deadline is None else now + _SEARCH_SHARE * (deadline - now))
    if proof is None:
        return None
    lines = [FIRST_LINE, f"c tool {_describe_tool_versions()}", f"c claim {claim}", *_make_criteria_lines(criteria)]
    lines += [f"c {kind} {_hash_source(source)} {json.dumps(source.name)}" for kind, source in files]
    lines += list(_iterate_variable_lines(encoding, cnf, task, steps))
    lines += [f"p cnf {len(cnf.nodes) - 1} {len(clauses)}", *_iterate_clause_lines(clauses), "c proof", *proof]
    return append_end_line(lines)


def _make_criteria_lines(criteria: VerdictCriteria) -> list[str]:
    """Return the lines about criteria that differ from ``EVERY_VIOLATION``."""
    lines = [f"c judge {criteria.judge}"] if criteria.ignores_preexisting else []
    if criteria.min_severity != EVERY_VIOLATION.min_severity:
        lines.append(f"c min-severity {criteria.min_severity}")
    return lines + [f"c exempt {json.dumps(f'{e.description}: {e.reason}')}" for e in criteria.exemptions]


def append_end_line(lines: Iterable[str]) -> str:
    """Append the last line, a hash that reveals damage. It is not a signature."""
    text = "".join([line + "\n" for line in lines])
    return f"{text}c end {hashlib.sha256(text.encode()).hexdigest()}\n"


def matches(certificate: Certificate, encoding: Encoding) -> bool:
    """Whether an encoding has exactly the clauses of a certificate: then its proof is about this encoding."""
    digest = hashlib.sha256()
    _, clauses = _encode_failure(encoding)
    for line in _iterate_clause_lines(clauses):
        digest.update(line.encode() + b"\n")
    return certificate.cnf_hash == digest.hexdigest()


def _encode_failure(encoding: Encoding) -> tuple[Clauses, list[list[int]]]:
    """Return the clauses that in some allowed world a step or the goal fails, or a rule is violated or undecided."""
    parts = [encoding.executable, encoding.goal, encoding.violated ^ 1, encoding.undecided ^ 1]
    roots = encoding.allowed, encoding.circuit.conjunction(parts) ^ 1
    cnf = Clauses(encoding.circuit)
    clauses = [clause for batch in cnf.encode(roots) for clause in batch]
    clauses += [[cnf.get_signed_variable(root)] for root in roots]
    return cnf, clauses


def _iterate_clause_lines(clauses: Iterable[Sequence[int]]) -> Iterator[str]:
    """Yield clauses as lines of DIMACS."""
    for clause in clauses:
        yield " ".join([*map(str, clause), "0"])


def _iterate_variable_lines(
    encoding: Encoding, cnf: Clauses, task: Task, steps: Sequence[GroundAction | IllFormed]
) -> Iterator[str]:
    """Yield lines that say what the variables of facts and outcomes mean."""
    for node in cnf.inputs:
        variable, key = cnf.get_signed_variable(2 * node), encoding.circuit.keys[node]
        if isinstance(key, FactInput):
            meaning = task.fact_text(key.predicate, key.code)
        elif isinstance(key, OutcomeInput) and isinstance(action := steps[key.step - 1], GroundAction):
            outcome = describe_outcome(task, action, key.step, key.number, key.objects, key.alternative)
            meaning = f"step {outcome.step} {outcome.action}: {outcome.effect}"
        else:
            continue
        yield f"c variable {variable} {json.dumps(meaning)[1:-1]}"


def find_refutation(clauses: list[list[int]], deadline: float | None = None) -> list[str] | None:
    """Return the steps of a proof that clauses are unsatisfiable; ``None`` if none was found.

    The search ends at ``deadline``, or after ``MAX_SEARCHES`` searches. Raises :class:`SolverMissing`.
    """
    if [1] in clauses and [-1] in clauses:  # the encoding folded to a constant
        return [f"{len(clauses) + 1} 0 {clauses.index([-1]) + 1} {clauses.index([1]) + 1} 0"]
    try:
        from pysat import solvers  # noqa: PLC0415 - takes 0.1 s
    except ModuleNotFoundError as error:
        raise SolverMissing(f"python-sat is not installed: {how_to_install('solve')}", name="pysat") from error
    pysolvers: Any = solvers.pysolvers
    solver: Any = solvers.Cadical195()
    with TemporaryFile() as file:
        solver.configure({"lrat": 1, "binary": 0})
        trace = pysolvers.cadical195_tracepr(solver.cadical, file)
        try:
            for clause in clauses:
                solver.add_clause(clause)
            satisfiable: bool | None = None
            for _ in range(MAX_SEARCHES):
                if file.seek(0, 2) >= MAX_PROOF_BYTES:
                    break
                satisfiable = search_within_limits(solver, [], deadline, _CONFLICTS_PER_SEARCH)
                if satisfiable is not None or (deadline is not None and time.monotonic() >= deadline):
                    break
            if satisfiable is not False:
                return None
            if hasattr(pysolvers, "flushpr"):  # without it, the end of the proof may be missing
                pysolvers.flushpr(trace)
            file.seek(0)
            proof = trim_proof(file, len(clauses))
            return None if proof is None else list(proof)
        finally:
            pysolvers.cadical195_del(solver.cadical, file)
            solver.cadical = None


def _describe_tool_versions() -> str:
    """Return the versions of this package and of the solver."""
    versions = {"plansafe": "unknown", "python-sat": "unknown"}
    for package in versions:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return f"safecheck {versions['plansafe']}, cadical 1.9.5 of python-sat {versions['python-sat']}"


def _hash_source(source: Source) -> str:
    return hashlib.sha256(source.text.encode("utf-8", "surrogateescape")).hexdigest()
