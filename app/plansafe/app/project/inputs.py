"""The inputs of a check: files that were read, what the user chose, and where inputs come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.app.project.file_kinds import Heading
    from plansafe.app.project.project_file import Project


class Input(NamedTuple):
    """A file that was read: what it is used as, where it is, why it was chosen, its text and the hash of its bytes."""

    role: str
    path: str
    how: str
    source: Source
    sha256: str | None = None


class Choice(NamedTuple):
    """What the user chose: by flags, which win, and in a project file."""

    domain: str | None = None
    problem: str | None = None
    specs: tuple[str, ...] = ()
    default_spec: bool = True
    gate: bool = False
    project: Project | None = None
    ltl: tuple[str, ...] = ()


class Inputs(NamedTuple):
    """What a plan is checked with. Where domain or problem is missing, ``diagnostics`` say why."""

    domain: Input | None
    problem: Input | None
    specs: tuple[Input, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


class Finder(Protocol):
    """The source of inputs: files and folders (``Discovery``), or the texts of a request."""

    def read(
        self, path: str, role: str, how: str, keep: bool = True, within: tuple[str, ...] | None = None
    ) -> Input | Diagnostic:
        """One input by its path; a diagnostic says why there is none."""

    def find(self, plan: Input, said: Heading) -> Inputs:
        """Domain, problem and specifications of a plan whose beginning says ``said``."""

    def of_project(self, project: Project, role: str, pattern: str, plan: str) -> Input | Diagnostic:
        """What a pattern of the project file names for a plan."""

    def specifications(
        self, folder: str, domain: Input | None, problem: Input | None = None
    ) -> tuple[tuple[Input, ...], list[Diagnostic]]:
        """The specifications for a task and plans in ``folder``, and which could not be read."""

    def extended(self, name: str, extending: Source) -> Input | None:
        """The specification that another one extends."""
