"""Certificates: the clauses of "some world breaks this plan", and a proof that they are unsatisfiable.

README.md describes the file. To write a certificate, CaDiCaL solves the clauses again, with a proof; to read one,
no solver is needed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.extras import how_to_install
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, JUDGE_MODES, SEVERITIES, VerdictCriteria
from plansafe.verifier.symbolic.certificates.proof import Clause, ProofChecker, WrongStep, trim_proof
from plansafe.verifier.symbolic.circuits.cnf import Clauses
from plansafe.verifier.symbolic.circuits.solvers import SolverMissing, search_within_limits
from plansafe.verifier.symbolic.worlds.encoding import Encoding, FactInput, OutcomeInput
from plansafe.verifier.symbolic.worlds.world_text import describe_outcome

FIRST_LINE = "c safecheck certificate 1"
CLAIMS = ("SAFE", "VALID")
_SEARCH_SHARE = 0.7
"""The share of the remaining time for the search; the proof has to be shortened and written as well."""
MAX_PROOF = 2**29
"""Bytes of a proof before it is shortened, checked after each search."""
_CONFLICTS = 20_000
MAX_SEARCHES = 75
"""Searches of ``_CONFLICTS`` conflicts for one proof, about a minute."""
MAX_LINE = 2**24
"""Maximum length of a line, in bytes."""
MAX_DIGITS = 10
"""Maximum number of digits of a literal."""
MAX_FILES = 1000
"""Maximum number of files and exemptions that a certificate names."""


class CertifiedFile(NamedTuple):
    """A text that a certificate is about: a ``domain``, ``problem``, ``spec``, ``home`` or ``plan``, hash and name."""

    kind: str
    sha256: str
    name: str


class Certificate(NamedTuple):
    """The contents of a verified certificate. ``cnf_hash`` is the hash of its clauses.

    ``exempt`` are the exemptions of a profile in words (the criteria have none then).
    """

    claim: str
    criteria: VerdictCriteria
    exempt: tuple[str, ...]
    tool: str
    files: tuple[CertifiedFile, ...]
    cnf_hash: str
    variables: int
    clauses: int
    steps: int

    @property
    def is_trivial(self) -> bool:
        """Whether the encoding folded to a constant, so that nothing was left to prove."""
        return self.steps == 1 and self.clauses <= 3


class NotACertificate(Exception):
    """The file does not begin like a certificate (SC811)."""


class Rejected(Exception):
    """The certificate's proof is not valid, or the certificate is damaged (SC810)."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


# ---- writing --------------------------------------------------------------------------------------------------------


def write_certificate(
    encoding: Encoding,
    claim: str,
    files: Iterable[tuple[str, Source]],
    task: Task,
    steps: Sequence[GroundAction | IllFormed],
    deadline: float | None = None,
    criteria: VerdictCriteria = EVERY_VIOLATION,
) -> str | None:
    """The certificate that no world breaks the plan of an encoding; ``claim`` is ``SAFE`` or ``VALID``.

    ``None`` without a proof: the encoding has limits or numbers, or none was found in time, or the claim is wrong.
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
    lines = [FIRST_LINE, f"c tool {_find_tool_versions()}", f"c claim {claim}", *_list_criteria(criteria)]
    lines += [f"c {kind} {_hash_source(source)} {json.dumps(source.name)}" for kind, source in files]
    lines += list(_iterate_variable_lines(encoding, cnf, task, steps))
    lines += [f"p cnf {len(cnf.nodes) - 1} {len(clauses)}", *_iterate_clause_lines(clauses), "c proof", *proof]
    return seal(lines)


def _list_criteria(criteria: VerdictCriteria) -> list[str]:
    lines = [f"c judge {criteria.judge}"] if criteria.ignores_preexisting else []
    if criteria.min_severity != EVERY_VIOLATION.min_severity:
        lines.append(f"c min-severity {criteria.min_severity}")
    return lines + [f"c exempt {json.dumps(f'{e.description}: {e.reason}')}" for e in criteria.exemptions]


def seal(lines: Iterable[str]) -> str:
    """Append the last line, a hash that reveals damage. It is not a signature."""
    text = "".join([line + "\n" for line in lines])
    return f"{text}c end {hashlib.sha256(text.encode()).hexdigest()}\n"


def matches(certificate: Certificate, encoding: Encoding) -> bool:
    """Whether an encoding has exactly the clauses of a certificate: then its proof is about this encoding."""
    digest = hashlib.sha256()
    for line in _iterate_clause_lines(_encode_failure(encoding)[1]):
        digest.update(line.encode() + b"\n")
    return certificate.cnf_hash == digest.hexdigest()


def _encode_failure(encoding: Encoding) -> tuple[Clauses, list[list[int]]]:
    """The clauses that in some allowed world a step or the goal fails, or a rule is violated or undecided."""
    parts = [encoding.executable, encoding.goal, encoding.violated ^ 1, encoding.undecided ^ 1]
    roots = encoding.allowed, encoding.circuit.conjunction(parts) ^ 1
    cnf = Clauses(encoding.circuit)
    clauses = [clause for batch in cnf.encode(roots) for clause in batch]
    return cnf, [*clauses, *[[cnf.get_signed_variable(root)] for root in roots]]


def _iterate_clause_lines(clauses: Iterable[Sequence[int]]) -> Iterator[str]:
    for clause in clauses:
        yield " ".join([*map(str, clause), "0"])


def _iterate_variable_lines(
    encoding: Encoding, cnf: Clauses, task: Task, steps: Sequence[GroundAction | IllFormed]
) -> Iterator[str]:
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
    """The steps of a proof that clauses are unsatisfiable; ``None`` if none was found before ``deadline``.

    The search ends after ``MAX_SEARCHES`` searches of ``_CONFLICTS`` conflicts. Raises :class:`SolverMissing`.
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
            satisfiable = None
            for _ in range(MAX_SEARCHES):
                if file.seek(0, 2) >= MAX_PROOF:
                    break
                satisfiable = search_within_limits(solver, [], deadline, _CONFLICTS)
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


def _find_tool_versions() -> str:
    versions = {"plansafe": "unknown", "python-sat": "unknown"}
    for package in versions:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return f"safecheck {versions['plansafe']}, cadical 1.9.5 of python-sat {versions['python-sat']}"


def _hash_source(source: Source) -> str:
    return hashlib.sha256(source.text.encode("utf-8", "surrogateescape")).hexdigest()


# ---- reading --------------------------------------------------------------------------------------------------------


def verify(file: BinaryIO) -> Certificate:
    """Check a certificate from an untrusted source. Raises :class:`NotACertificate` and :class:`Rejected`.

    Reads line by line; memory for the clauses in use, time linear in the clauses that the steps name.
    """
    return _Reader(file).read()


class _Integers(dict[bytes, int]):
    """A cache of words as integers. Words that ``int`` accepts and that are not plain decimals are refused."""

    def __missing__(self, word: bytes) -> int:
        digits = word[1:] if word[:1] == b"-" else word
        if not digits.isdigit() or len(digits) > MAX_DIGITS or (digits[:1] == b"0" and word != b"0"):
            raise WrongStep("a number is expected here")
        if len(self) > 1_000_000:
            self.clear()
        number = self[word] = int(word)
        return number


class _Reader:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._line = 0
        self._integers = _Integers()
        self._digest = hashlib.sha256()

    def read(self) -> Certificate:
        first = FIRST_LINE.encode() + b"\n"
        if self._file.readline(len(first)) != first:
            raise NotACertificate
        self._line = 1
        self._digest.update(first)
        try:
            return self._read_certificate()
        except WrongStep as error:
            raise Rejected(self._line, str(error)) from None

    def _read_line(self) -> bytes:
        line = self._file.readline(MAX_LINE)
        self._line += 1
        if not line.endswith(b"\n"):
            raise WrongStep("the file ends too early" if len(line) < MAX_LINE else "the line is too long")
        if not line.startswith(b"c end "):
            self._digest.update(line)
        return line[:-1]

    def _read_certificate(self) -> Certificate:
        tool, claim, criteria, files = "", "", EVERY_VIOLATION, []
        exempt: list[str] = []
        while (line := self._read_line()).startswith(b"c "):
            kind, _, rest = line[2:].decode("ascii", "replace").partition(" ")
            if kind == "tool":
                tool = rest
            elif kind == "claim":
                claim = rest
            elif kind == "judge" and rest in JUDGE_MODES:
                criteria = criteria._replace(judge=rest)
            elif kind == "min-severity" and rest in SEVERITIES:
                criteria = criteria._replace(min_severity=rest)
            elif kind == "exempt":
                exemption = _parse_quoted(rest)
                if exemption is None:
                    raise WrongStep('`c exempt "WHAT AND WHY"` is expected here')
                exempt.append(exemption)
            elif kind in ("domain", "problem", "spec", "home", "plan"):
                files.append(_parse_file(kind, rest))
            elif kind != "variable":
                raise WrongStep("version 1 has no such line")
            if len(files) + len(exempt) > MAX_FILES:
                raise WrongStep(f"a certificate names at most {MAX_FILES} files")
        if claim not in CLAIMS:
            raise WrongStep("version 1 has no such claim")
        words = line.split(b" ")
        if len(words) != 4 or words[:2] != [b"p", b"cnf"]:
            raise WrongStep("`p cnf VARIABLES CLAUSES` is expected here")
        variables, count = self._integers[words[2]], self._integers[words[3]]
        checker = ProofChecker()
        cnf_hash = self._read_clauses(checker, variables, count)
        if self._read_line() != b"c proof":
            raise WrongStep(f"there are more than {count} clauses, or `c proof` is missing")
        while not checker.refuted:
            self._read_step(checker, variables)
        self._read_end()
        return Certificate(
            claim=claim,
            criteria=criteria,
            exempt=tuple(exempt),
            tool=tool,
            files=tuple(files),
            cnf_hash=cnf_hash,
            variables=variables,
            clauses=count,
            steps=checker.steps,
        )

    def _read_clauses(self, checker: ProofChecker, variables: int, count: int) -> str:
        """Add the clauses to the checker, and return their hash."""
        digest = hashlib.sha256()
        for _ in range(count):
            line = self._read_line()
            checker.add_premise(self._parse_clause(line.split(b" "), variables))
            digest.update(line + b"\n")
        return digest.hexdigest()

    def _parse_clause(self, words: list[bytes], variables: int) -> Clause:
        integers = self._integers
        literals = [integers[word] for word in words]
        if literals.pop() != 0:
            raise WrongStep("`0` is expected at the end")
        if literals and (max(literals) > variables or min(literals) < -variables or 0 in literals):
            raise WrongStep(f"literals are numbers from 1 to {variables}, or negative")
        return tuple(literals)

    def _read_step(self, checker: ProofChecker, variables: int) -> None:
        words = self._read_line().split(b" ")
        integers = self._integers
        if words[0] == b"c":
            raise WrongStep("the proof ends before the empty clause")
        number = integers[words[0]]
        if words[-1] != b"0":
            raise WrongStep("`0` is expected at the end")
        if words[1:2] == [b"d"]:
            checker.delete([integers[word] for word in words[2:-1]])
            return
        try:
            middle = words.index(b"0", 1)
        except ValueError:
            raise WrongStep("`0` is expected between a clause and its reasons") from None
        if middle == len(words) - 1:
            raise WrongStep("a step names the clauses that it follows from")
        clause = self._parse_clause(words[1 : middle + 1], variables)
        checker.derive(number, clause, [integers[word] for word in words[middle + 1 : -1]])

    def _read_end(self) -> None:
        end = self._read_line()
        if end != b"c end " + self._digest.hexdigest().encode():
            raise WrongStep("the file was changed: its hash differs" if end[:6] == b"c end " else "no more steps here")
        if self._file.read(1):
            raise WrongStep("there is text after the end")


def _parse_quoted(text: str) -> str | None:
    """The contents of a JSON string; ``None`` if the text is not one."""
    try:
        contents = json.loads(text) if text.startswith('"') else None  # a string does not nest
    except ValueError:
        contents = None
    return contents if isinstance(contents, str) else None


def _parse_file(kind: str, rest: str) -> CertifiedFile:
    digest, _, quoted_name = rest.partition(" ")
    name = _parse_quoted(quoted_name)
    if len(digest) != 64 or set(digest) - set("0123456789abcdef") or name is None:
        raise WrongStep(f'`c {kind} SHA256 "NAME"` is expected here')
    return CertifiedFile(kind, digest, name)
