"""Tables of TOML and YAML files as dataclasses: a field declares how its value is read; mistakes have their place."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field, fields
from typing import Any

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
from plansafe.grammar.source import Source
from plansafe.specs.toml_text import locate_syntax_error

MOST_BYTES = 1 << 20
Read = Callable[[str, Any], Any]
"""Checks a value and converts it. The text is the folder of the file, or in ``records.py`` the name of the field."""


class BadConfig(Exception):
    """A file that cannot be used; ``source`` is the text that ``diagnostics`` refer to."""

    def __init__(self, source: Source, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(diagnostics[0].message)
        self.source = source
        self.diagnostics = diagnostics


class IllTyped(Exception):
    """A value that cannot be used; the message follows the key."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help


def setting(read: Read, default: Any = MISSING, name: str = "") -> Any:
    """A field of a dataclass that is a key of a table. ``name``: the key, if it differs from the field."""
    return field(default=default, metadata={"read": read, "name": name})


def key_of(member: Any) -> str:
    """The key of a field."""
    return str(member.metadata["name"] or member.name)


def text(_folder: str, value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise IllTyped("must be a text")
    return value


def truth(_folder: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise IllTyped("must be true or false")
    return value


def integer(least: int, most: int = 10**9) -> Read:
    """A whole number within bounds."""

    def read(_folder: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise IllTyped(f"must be a whole number from {least}" + (f" to {most}" if most < 10**9 else ""))
        return value

    return read


def number(least: float, most: float = math.inf, above: bool = False) -> Read:
    """A number within bounds; ``above``: it must exceed ``least``."""

    def read(_folder: str, value: Any) -> float:
        fits = not isinstance(value, bool) and isinstance(value, (int, float))
        if not fits or not math.isfinite(value) or not least <= value <= most or (above and value == least):
            bound = f" {'above' if above else 'from'} {least:g}" + (f" to {most:g}" if most < math.inf else "")
            help = "YAML reads 1e-5 as a text: write 1.0e-5" if isinstance(value, str) else None
            raise IllTyped(f"must be a number{bound}", help)
        return float(value)

    return read


def choice(names: Sequence[str]) -> Read:
    """One of some names."""

    def read(_folder: str, value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            help = suggest_name(value, names) if isinstance(value, str) else None
            raise IllTyped(f"must be one of {', '.join(names)}", help)
        return value

    return read


def read_file(path: str) -> tuple[Source, dict[str, Any]]:
    """The text of a file and its table (``.yaml`` and ``.yml`` as YAML, others as TOML). Raises :class:`BadConfig`."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        message = f"cannot read the configuration {path}: {(error.strerror or str(error)).lower()}"
        raise BadConfig(Source(path, ""), (Diagnostic(SC.UNREADABLE_FILE, message),)) from None
    if len(data) > MOST_BYTES:
        raise BadConfig(Source(path, ""), (diagnostic(f"{path} is longer than {MOST_BYTES:,} bytes"),))
    source = Source.from_bytes(path, data)
    return source, (_yaml if path.lower().endswith((".yaml", ".yml")) else _toml)(source)


def _toml(source: Source) -> dict[str, Any]:
    try:
        return tomllib.loads(source.text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        message = str(error) if isinstance(error, ValueError) else "nested too deeply"
        offset, reason = locate_syntax_error(source, message)
        label = Label(source.name, Span(offset, offset + 1))
        raise BadConfig(source, (diagnostic(f"{source.name} is not TOML: {reason.lower()}", label),)) from None


def _yaml(source: Source) -> dict[str, Any]:
    try:
        import yaml  # noqa: PLC0415 - an extra, and only for such files
    except ImportError:
        message = f"{source.name}: YAML needs the package pyyaml, which is not installed"
        raise BadConfig(source, (diagnostic(message, help="write the file as TOML"),)) from None
    try:
        table = yaml.safe_load(source.text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        at = min(mark.index if mark is not None else 0, len(source.text))
        reason = getattr(error, "problem", None) or "it cannot be read"
        label = Label(source.name, Span(at, at + 1))
        raise BadConfig(source, (diagnostic(f"{source.name} is not YAML: {reason}", label),)) from None
    if not isinstance(table, dict):
        raise BadConfig(source, (diagnostic(f"{source.name} has no keys", help="key: value"),))
    return {str(name): value for name, value in table.items()}


def diagnostic(message: str, label: Label | None = None, help: str | None = None) -> Diagnostic:
    """The error SC660."""
    return Diagnostic(SC.BAD_TRAINING_CONFIG, message, () if label is None else (label,), help=help)


class TableReader:
    """Reads tables of a file, and collects the mistakes. ``owner``: the thing that the keys belong to."""

    def __init__(self, source: Source, owner: str, folder: str = "") -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self._owner = owner
        self._folder = folder

    def wrong(self, key: str, message: str, help: str | None = None) -> None:
        """Add the mistake at a key."""
        self.diagnostics.append(diagnostic(f"`{key}` {message}", self._place(key), help))

    def values(self, kind: Any, table: Mapping[str, Any]) -> dict[str, Any]:
        """The correct values of a table by the fields of the dataclass ``kind``."""
        members = {key_of(member): member for member in fields(kind) if member.metadata}
        values: dict[str, Any] = {}
        for name, value in table.items():
            member = members.get(name)
            if member is None:
                help = suggest_name(name, list(members)) or f"keys are: {', '.join(members)}"
                self.wrong(name, f"is not a key of {self._owner}", help)
                continue
            try:
                values[member.name] = member.metadata["read"](self._folder, value)
            except IllTyped as error:
                self.wrong(name, str(error), error.help)
        return values

    def check(self) -> None:
        """Raise :class:`BadConfig` if there are mistakes."""
        if self.diagnostics:
            raise BadConfig(self.source, tuple(self.diagnostics))

    def read(self, kind: Any, table: Mapping[str, Any]) -> Any:
        """The dataclass ``kind`` of a table. Raises :class:`BadConfig`."""
        return self.built(kind, self.values(kind, table))

    def built(self, kind: Any, values: Mapping[str, Any]) -> Any:
        """The dataclass ``kind``. Raises :class:`BadConfig` for mistakes, and if a required key is missing."""
        self.check()
        members = [member for member in fields(kind) if member.default is MISSING and member.name not in values]
        if members:
            names = " and ".join([f"`{key_of(member)}`" for member in members])
            message = f"{self.source.name} lacks {names}"
            raise BadConfig(self.source, (diagnostic(message, help="docs/alignment.md has the keys"),))
        return kind(**values)

    def _place(self, key: str) -> Label:
        line = re.search(rf"(?m)^[ \t]*(?P<key>[\"']?{re.escape(key)}[\"']?)[ \t]*[=:.]", self.source.text)
        table = line or re.search(rf"(?m)^[ \t]*\[[^\]\r\n#]*(?P<key>{re.escape(key)})", self.source.text)
        span = Span(*table.span("key")) if table is not None else Span(0, 0)
        return Label(self.source.name, span)
