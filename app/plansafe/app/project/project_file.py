"""Read the project file, the settings for a folder of plans (docs/project-file.md).

It is searched in the current folder and the folders above it, but not in the folder of a plan: plans are untrusted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from plansafe.app.options.option import Option
from plansafe.app.options.shared import project_options
from plansafe.app.project.project import STEM, Limits, Project, key_span
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.verifier.rules.home_profile import EntryEffect, ProfileEntry

FILE = "safecheck.toml"
SHARED = "pyproject.toml"
_PATTERNS = ("problem", "scene", "goal")
_REASONS: dict[str, EntryEffect] = {"ignore": "exempt", "select": "select"}
_OURS = rb"""(?m)tool["']?\s*\.\s*["']?safecheck|^\s*\[?\s*tool\s*[\]=]"""
_BRACES = r"\{[^{}]*\}?|\}"


class BadProject(Exception):
    """A project file that cannot be used."""

    def __init__(self, source: Source, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(diagnostics[0].message)
        self.source = source
        self.diagnostics = diagnostics


def find_project(folder: str = "") -> Project | None:
    """Read the project file of a folder, or of the nearest folder above it. Raises :class:`BadProject`.

    In each folder ``safecheck.toml`` comes before ``pyproject.toml``, which needs a table ``[tool.safecheck]``.
    """
    try:
        here = os.path.realpath(folder or os.curdir)
    except OSError:  # the current folder is gone
        return None
    while True:
        project = project_in(folder)
        if project is not None:
            return project
        above = os.path.dirname(here)
        if above == here:
            return None
        here, folder = above, os.path.join(folder, os.pardir)


def project_in(folder: str) -> Project | None:
    """Read the project file of a folder itself. Raises :class:`BadProject`."""
    for name in (FILE, SHARED):
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            continue
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            unreadable = Diagnostic(SC.UNREADABLE_FILE, f"cannot read the project file {path}: {reason}")
            raise BadProject(Source(path, ""), (unreadable,)) from None
        if name == FILE or re.search(_OURS, data) is not None:
            read = _read(Source.from_bytes(path, data), shared=name == SHARED)
            if read is not None:
                return read
    return None


def _read(source: Source, shared: bool) -> Project | None:
    import tomllib  # noqa: PLC0415 - only project files need it

    try:
        table: Any = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise BadProject(source, (_syntax(source, str(error)),)) from None
    except RecursionError:
        raise BadProject(source, (_syntax(source, "nested too deeply"),)) from None
    if shared:
        table = table.get("tool", {})
        table = table.get("safecheck") if isinstance(table, dict) else None
        if table is None:
            return None
    reader = _Reader(source)
    if not isinstance(table, dict):
        reader.wrong("safecheck", "must be a table")
        table = {}
    project = reader.project(table)
    if reader.diagnostics:
        raise BadProject(source, tuple(reader.diagnostics))
    return project


def _syntax(source: Source, message: str) -> Diagnostic:
    from plansafe.specs.toml_text import locate_syntax_error  # noqa: PLC0415 - only errors need it

    offset, reason = locate_syntax_error(source, message)
    label = Label(source.name, Span(offset, offset + 1), "")
    return Diagnostic(SC.BAD_PROJECT_FILE, f"{source.name} is not TOML: {reason.lower()}", (label,))


class _Reader:
    """Checks the types of the keys, and collects diagnostics."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.diagnostics: list[Diagnostic] = []

    def wrong(self, key: str, message: str, advice: str | None = None) -> None:
        """Add an error at a key."""
        label = Label(self._source.name, key_span(self._source.text, key), "")
        self.diagnostics.append(Diagnostic(SC.BAD_PROJECT_FILE, f"`{key}` {message}", (label,), help=advice))

    def project(self, table: Mapping[str, Any]) -> Project:
        """Read a project from a table."""
        options = project_options()
        readers = {key: self._reader(key, option) for key, option in options.items() if "." not in key}
        readers["limits"] = self._limits
        values = self._table(table, readers)
        project = Project(self._source, **{key: value for key, value in values.items() if value is not None})
        for key in ("scene", "goal"):
            if getattr(project, key) is not None and project.world is None:
                self.wrong(key, "needs a world", 'name the world, such as world = "virtualhome"')
        return project

    def _reader(self, key: str, option: Option) -> Callable[[str, Any], Any]:
        """The function that reads the values of an option."""
        if key in _REASONS:
            return lambda name, value: self._reasons(name, value, _REASONS[key])
        if option.kind == "switch":
            return self._switch
        if option.kind == "choice":
            choices = option.choices
            return lambda name, value: (self._choices if option.many else self._choice)(name, value, choices)
        if option.many:
            return self._paths
        return self._pattern if key in _PATTERNS else self._path

    def _table(self, table: Mapping[str, Any], readers: Mapping[str, Callable[[str, Any], Any]]) -> dict[str, Any]:
        for key in table:
            if key not in readers:
                self.wrong(key, "is not a key of the project file", _nearest(key, tuple(readers)))
        return {key: read(key, table[key]) for key, read in readers.items() if key in table}

    def _text(self, key: str, value: Any) -> str | None:
        if isinstance(value, str) and value:
            return value
        self.wrong(key, "must be a string", f'{key} = ".."')
        return None

    def _path(self, key: str, value: Any) -> str | None:
        return self._text(key, value)

    def _pattern(self, key: str, value: Any) -> str | None:
        text = self._text(key, value)
        unknown = [brace for brace in re.findall(_BRACES, text or "") if brace != STEM]
        if unknown:
            self.wrong(
                key,
                f"contains the unknown placeholder {unknown[0]}",
                f"only {STEM} is known: the plan's file name without its suffix",
            )
            return None
        return text

    def _paths(self, key: str, value: Any) -> tuple[str, ...] | None:
        values = value if isinstance(value, list) else [value]
        if all([isinstance(item, str) and item for item in values]):
            return tuple(values)
        self.wrong(key, "must be a list of strings", f'{key} = ["..", ".."]')
        return None

    def _choices(self, key: str, value: Any, choices: tuple[str, ...]) -> tuple[str, ...] | None:
        values = value if isinstance(value, list) else [value]
        items = [self._choice(key, item, choices) for item in values]
        return tuple([item for item in items if item is not None])

    def _choice(self, key: str, value: Any, choices: tuple[str, ...]) -> str | None:
        if isinstance(value, str) and value in choices:
            return value
        self.wrong(key, f"must be one of {', '.join(choices)}")
        return None

    def _switch(self, key: str, value: Any) -> bool | None:
        if isinstance(value, bool):
            return value
        self.wrong(key, "must be true or false", f"{key} = true")
        return None

    def _reasons(self, key: str, value: Any, effect: EntryEffect) -> tuple[ProfileEntry, ...] | None:
        """Read a table of rules with reasons."""
        if not isinstance(value, dict):
            self.wrong(key, "must be a table of rules and reasons", f'[{key}], and below it: heat-off = "why"')
            return None
        from plansafe.verifier.rules.home_profile import ProfileEntry  # noqa: PLC0415 - where there is such a table

        entries = []
        for rule, reason in value.items():
            if not isinstance(reason, str) or not reason.strip():
                self.wrong(rule, "needs a reason", f'{rule} = "why"')
            else:
                place = Label(self._source.name, key_span(self._source.text, rule))
                entries.append(ProfileEntry(effect, (rule.lower(),), (), (), (), None, " ".join(reason.split()), place))
        return tuple(entries)

    def _limits(self, key: str, value: Any) -> Limits | None:
        if not isinstance(value, dict):
            self.wrong(key, "must be a table", "[limits], and below it: time = 60")
            return None
        readers: dict[str, Callable[[str, Any], Any]] = {}
        for name, option in project_options().items():
            if name.startswith("limits."):
                least, kinds = int(option.low or 0), (int,) if option.kind == "integer" else (int, float)
                readers[name.removeprefix("limits.")] = partial(self._number, least=least, kinds=kinds)
        return Limits(**self._table(value, readers))

    def _number(self, key: str, value: Any, least: int, kinds: tuple[type, ...]) -> Any:
        if isinstance(value, (int, float)) and type(value) in kinds and least <= value < float("inf"):
            return value
        self.wrong(key, f"must be a {'whole ' if float not in kinds else ''}number from {least}")
        return None


def _nearest(key: str, keys: tuple[str, ...]) -> str:
    import difflib  # noqa: PLC0415 - only errors need it

    word = key.lower()[:60]
    similar = [name for name in keys if word and name.startswith(word[:4])]  # `specs` is for `specifications`
    similar = similar or difflib.get_close_matches(word, keys, n=1, cutoff=0.5)  # `time-limit` is for `time`
    return f"did you mean `{similar[0]}`?" if similar else f"known keys: {', '.join(keys)}"
