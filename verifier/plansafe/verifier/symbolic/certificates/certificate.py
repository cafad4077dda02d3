"""Certificates: the clauses of "some world breaks this plan", and a proof that they are unsatisfiable.

README.md describes the file. It is read without a solver.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import BinaryIO, NamedTuple

from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, JUDGE_MODES, SEVERITIES, VerdictCriteria
from plansafe.verifier.symbolic.certificates.proof import Clause, ProofChecker, WrongStep

FIRST_LINE = "c safecheck certificate 1"
CLAIMS = ("SAFE", "VALID")
MAX_LINE = 2**24
"""Maximum length of a line, in bytes."""
MAX_DIGITS = 10
"""Maximum number of digits of a literal."""
MAX_CACHED_INTEGERS = 1_000_000
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
        if len(self) > MAX_CACHED_INTEGERS:
            self.clear()
        number = self[word] = int(word)
        return number


class _Header(NamedTuple):
    """The contents of a certificate before its clauses; the fields are as in :class:`Certificate`."""

    tool: str = ""
    claim: str = ""
    criteria: VerdictCriteria = EVERY_VIOLATION
    exempt: tuple[str, ...] = ()
    files: tuple[CertifiedFile, ...] = ()

    def with_line(self, kind: str, value: str) -> _Header:
        """Return the header with the contents of another line. Raises :class:`WrongStep`."""
        match kind:
            case "tool":
                return self._replace(tool=value)
            case "claim":
                return self._replace(claim=value)
            case "judge" if value in JUDGE_MODES:
                return self._replace(criteria=self.criteria._replace(judge=value))
            case "min-severity" if value in SEVERITIES:
                return self._replace(criteria=self.criteria._replace(min_severity=value))
            case "exempt":
                exemption = _parse_quoted(value)
                if exemption is None:
                    raise WrongStep('`c exempt "WHAT AND WHY"` is expected here')
                return self._replace(exempt=(*self.exempt, exemption))
            case "domain" | "problem" | "spec" | "home" | "plan":
                return self._replace(files=(*self.files, _parse_certified_file(kind, value)))
            case "variable":
                return self
        raise WrongStep("version 1 has no such line")


class _Reader:
    """Reads one certificate, and checks its proof step by step."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._line = 0
        self._integers = _Integers()
        self._digest = hashlib.sha256()

    def read(self) -> Certificate:
        """Read the whole file, as :func:`verify`."""
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
        """Return the next line, and add it to the hash unless it is the last."""
        line = self._file.readline(MAX_LINE)
        self._line += 1
        if not line.endswith(b"\n"):
            raise WrongStep("the file ends too early" if len(line) < MAX_LINE else "the line is too long")
        if not line.startswith(b"c end "):
            self._digest.update(line)
        return line[:-1]

    def _read_certificate(self) -> Certificate:
        """Read everything after the first line."""
        header = _Header()
        while (line := self._read_line()).startswith(b"c "):
            kind, _, value = line[2:].decode("ascii", "replace").partition(" ")
            header = header.with_line(kind, value)
            if len(header.files) + len(header.exempt) > MAX_FILES:
                raise WrongStep(f"a certificate names at most {MAX_FILES} files")
        if header.claim not in CLAIMS:
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
            claim=header.claim,
            criteria=header.criteria,
            exempt=header.exempt,
            tool=header.tool,
            files=header.files,
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
        """Parse literals that end with 0. Raises :class:`WrongStep`."""
        integers = self._integers
        literals = [integers[word] for word in words]
        if literals.pop() != 0:
            raise WrongStep("`0` is expected at the end")
        if literals and (max(literals) > variables or min(literals) < -variables or 0 in literals):
            raise WrongStep(f"literals are numbers from 1 to {variables}, or negative")
        return tuple(literals)

    def _read_step(self, checker: ProofChecker, variables: int) -> None:
        """Read a line of the proof: the checker derives or deletes clauses."""
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
        """Read the last line, and compare its hash."""
        end = self._read_line()
        if end != b"c end " + self._digest.hexdigest().encode():
            raise WrongStep("the file was changed: its hash differs" if end[:6] == b"c end " else "no more steps here")
        if self._file.read(1):
            raise WrongStep("there is text after the end")


def _parse_quoted(text: str) -> str | None:
    """Return the contents of a JSON string; ``None`` if the text is not one."""
    try:
        contents = json.loads(text) if text.startswith('"') else None  # a string does not nest
    except ValueError:
        contents = None
    return contents if isinstance(contents, str) else None


def _parse_certified_file(kind: str, value: str) -> CertifiedFile:
    """Parse the hash and name of a file. Raises :class:`WrongStep`."""
    digest, _, quoted_name = value.partition(" ")
    name = _parse_quoted(quoted_name)
    if not re.fullmatch("[0-9a-f]{64}", digest) or name is None:
        raise WrongStep(f'`c {kind} SHA256 "NAME"` is expected here')
    return CertifiedFile(kind, digest, name)
