"""The inputs of a check, the choices of the user, and the interface that finds inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.app.project.file_kinds import Heading
    from plansafe.app.project.project import Project


class Input(NamedTuple):
    """An input file: its role, its path, why it was chosen, its text and the hash of its bytes.

    ``parts``: the files of several agents, if the text consists of them (``path`` is the path of the first).
    """

    role: str
    path: str
    how: str
    source: Source
    sha256: str | None = None
    parts: tuple[Input, ...] = ()


class Choice(NamedTuple):
    """The files that the user chose by options or in a project file; options take precedence."""

    domain: str | None = None
    problem: str | None = None
    specs: tuple[str, ...] = ()
    default_spec: bool = True
    gate: bool = False
    project: Project | None = None
    ltl: tuple[str, ...] = ()


class Inputs(NamedTuple):
    """Domain, problem and specifications of a plan. If one is missing, ``diagnostics`` give the reason."""

    domain: Input | None
    problem: Input | None
    specs: tuple[Input, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


class Finder(Protocol):
    """Finds inputs in files and folders (``Discovery``), or among the texts of a request."""

    def read(
        self, path: str, role: str, how: str, keep: bool = True, within: tuple[str, ...] | None = None
    ) -> Input | Diagnostic:
        """Read an input by its path; a diagnostic on failure."""

    def find(self, plan: Input, plan_heading: Heading) -> Inputs:
        """Find domain, problem and specifications of a plan with this heading."""

    def of_project(self, project: Project, role: str, pattern: str, plan: str) -> Input | Diagnostic:
        """Read the file that a pattern of the project file names for a plan."""

    def specifications(
        self, folder: str, domain: Input | None, problem: Input | None = None
    ) -> tuple[tuple[Input, ...], list[Diagnostic]]:
        """Read the specifications of a task and of plans in ``folder``; also returns the read errors."""

    def extended(self, name: str, extending: Source) -> Input | None:
        """Find a specification that ``extending`` extends."""
