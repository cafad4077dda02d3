"""Source texts: decoding of untrusted bytes; lines and columns of character offsets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from os import PathLike, fspath
from typing import Any

from plansafe.grammar.diagnostics import Span


class Source:
    """A named text. ``name`` is what diagnostics print: a path, ``<stdin>``, or what the caller chose.

    Bytes that are not UTF-8 survive as lone surrogates; readers allow them in comments only.
    """

    def __init__(self, name: str, text: str, parts: Sequence[Source] = ()) -> None:
        self.name = name
        self.text = text
        self.parts = parts
        """The texts that make up this text, each followed by a line break."""

    @classmethod
    def from_bytes(cls, name: str, data: bytes) -> Source:
        """Decode ``data``. A byte order mark is removed; bytes that are not UTF-8 become lone surrogates."""
        text = data.decode("utf-8", "surrogateescape")
        return cls(name, text[1:] if text.startswith("\ufeff") else text)

    @classmethod
    def joined(cls, parts: Sequence[Source]) -> Source:
        """Return one text with the texts of several agents (docs/language.md, section 2, Dialects)."""
        return cls(" + ".join([part.name for part in parts]), "".join([f"{part.text}\n" for part in parts]), parts)

    @classmethod
    def from_path(cls, path: str | PathLike[str]) -> Source:
        """Read a file. Raises ``OSError``."""
        with open(path, "rb") as file:
            return cls.from_bytes(fspath(path), file.read())

    @cached_property
    def line_starts(self) -> list[int]:
        """The offsets at which lines begin. LF, CR LF and CR each end a line."""
        starts = [0]
        text = self.text
        position = 0
        while True:
            line_feed = text.find("\n", position)
            carriage_return = text.find("\r", position, line_feed if line_feed >= 0 else len(text))
            if carriage_return >= 0:
                position = carriage_return + 1
                if text.startswith("\n", position):
                    position += 1
            elif line_feed >= 0:
                position = line_feed + 1
            else:
                return starts
            starts.append(position)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset, both counted from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return the text of line ``number`` (from 1), without the line break."""
        starts = self.line_starts
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def locate(self, span: Span) -> tuple[Source, Span]:
        """Return the part in which a span begins, and the span in it; without parts, this source."""
        start = 0
        for part in self.parts:
            if span.start <= start + len(part.text):
                return part, Span(span.start - start, min(span.end - start, len(part.text)))
            start += len(part.text) + 1
        return self, span

    def slice(self, span: Span) -> str:
        """Return the characters of a span."""
        return self.text[span.start : span.end]


def expect_sources(**arguments: Any) -> None:
    """Raise ``TypeError``, with the correct call, for an argument (by name) that is not a :class:`Source`."""
    for name, value in arguments.items():
        if isinstance(value, Source):
            continue
        kind = type(value).__name__
        advice = ""
        if isinstance(value, str | PathLike):
            is_text = isinstance(value, str) and ("(" in value or "\n" in value)
            argument_text = "..." if is_text else repr(fspath(value))
            advice = (
                f': write Source("a name", {argument_text})'
                if is_text
                else f": write Source.from_path({argument_text})"
            )
        raise TypeError(f"{name} takes a plansafe.grammar.source.Source, not {kind}{advice}")
