"""What every step of the elaboration shares: the sources, the diagnostics found so far, and the table of types."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import Node

MAX_DIAGNOSTICS = 200
MAX_COMPARED = 60
MAX_CANDIDATES = 500
_NUMBERED = re.compile(r"(\?[^\s()`~]+)(?:~\d+)+")


class Place(NamedTuple):
    """A place in a tree: a list, or one of its children."""

    node: list[Node]
    child: int | None = None


class Context:
    """Collects diagnostics and finds the places of nodes. One per check; nothing global."""

    def __init__(self, lenient_types: bool = False) -> None:
        self.lenient_types = lenient_types
        self.places: list[Places] = []
        self.origin: dict[int, Place] = {}
        """Source of a generated list: ``Place(node)`` of the same shape, or ``Place(node, child)``, the whole node."""
        self.replaced: dict[tuple[int, int], Place] = {}
        """What a child of a list that was made stands for, where it is not the child of the same number."""
        self._alive: list[list[Node]] = []  # an identity that came up again would lead to a wrong place
        self.diagnostics: list[Diagnostic] = []
        self.errors = 0
        self._dialects: set[tuple[str, str]] = set()

    def made(self, made: list[Node], origin: Place) -> list[Node]:
        """Note what a list that was made stands for, as in ``origin``; it lives as long as places are asked for."""
        self.origin[id(made)] = origin
        self._alive.append(made)
        return made

    def label(self, at: Place, text: str = "", primary: bool = True) -> Label:
        """A label for a node. Nodes made by templates and macros are traced back to what they were made from."""
        while id(at.node) in self.origin:
            if at.child is not None and (id(at.node), at.child) in self.replaced:
                at = self.replaced[id(at.node), at.child]
                continue
            origin = self.origin[id(at.node)]
            at = Place(origin.node, at.child) if origin.child is None else origin
        for places in self.places:
            if places.knows(at.node):
                return Label(places.source.name, places.span(at.node, at.child), text, primary)
        return Label("", Span(0, 0), text, primary)

    def error(
        self,
        code: str,
        message: str,
        at: Place,
        text: str = "",
        *,
        other: tuple[Place, str] | None = None,
        help: str | None = None,
    ) -> None:
        """Report a mistake; ``other`` is the second place where two disagree."""
        self.errors += 1
        self._report(Severity.ERROR, code, message, at, text, other, help)

    def warning(
        self,
        code: str,
        message: str,
        at: Place,
        text: str = "",
        *,
        other: tuple[Place, str] | None = None,
        help: str | None = None,
    ) -> None:
        """Report something that does not stop the check."""
        self._report(Severity.WARNING, code, message, at, text, other, help)

    def dialect(
        self,
        feature: str,
        message: str,
        at: Place,
        text: str,
        *,
        help: str,
        other: tuple[Place, str] | None = None,
        name: str = "",
    ) -> None:
        """Say, once for each feature (and name), that something is read as a dialect means it; ``text`` is as what."""
        if (feature, name) not in self._dialects:
            self._dialects.add((feature, name))
            self.warning(SC.DIALECT, f"{message}: {text}", at, "dialect", other=other, help=help)

    def note(self, code: str, message: str, at: Place, text: str = "", *, help: str | None = None) -> None:
        """Report something that is as it should be, and that a reader may not expect."""
        self._report(Severity.NOTE, code, message, at, text, None, help)

    def type_error(
        self,
        message: str,
        at: Place,
        text: str = "",
        *,
        other: tuple[Place, str] | None = None,
        help: str | None = None,
    ) -> None:
        """A type mismatch: an error, or a warning when types are lenient."""
        if self.lenient_types:
            self.warning(SC.TYPE_MISMATCH_ACCEPTED, message, at, text, other=other, help=help)
        else:
            self.error(SC.TYPE_MISMATCH, message, at, text, other=other, help=help)

    def _report(
        self,
        severity: Severity,
        code: str,
        message: str,
        at: Place,
        text: str,
        other: tuple[Place, str] | None,
        help: str | None,
    ) -> None:
        if len(self.diagnostics) >= MAX_DIAGNOSTICS:
            return
        labels = [self.label(at, as_written(text))]
        if other is not None:
            labels.append(self.label(other[0], as_written(other[1]), primary=False))
        help = help and as_written(help)
        self.diagnostics.append(Diagnostic(code, as_written(message), tuple(labels), help=help, severity=severity))


def as_written(text: str) -> str:
    """A text about variables, without the numbers that macros give to their own (``?x~2``)."""
    return _NUMBERED.sub(r"\1", text) if "~" in text else text


def token_text(node: object) -> str:
    """A token as it is, anything else as ``(..)``: lists may nest too deep to be printed."""
    return node if isinstance(node, str) else "(..)"


def all_tokens(node: Node) -> frozenset[str]:
    """All tokens of a node, at any depth."""
    found: set[str] = set()
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            found.add(part)
        else:
            stack += part
    return frozenset(found)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A help text with the nearest known name, if one is near."""
    import difflib  # noqa: PLC0415 - needed for mistakes alone

    letters = set(name)
    if len(name) > MAX_COMPARED:
        return None
    candidates = [k for k in known if abs(len(k) - len(name)) <= 4 and 2 * len(letters & set(k)) >= len(letters)]
    if len(candidates) > MAX_CANDIDATES:
        candidates = [k for k in candidates if k[0] == name[0] or k[-1] == name[-1]][:MAX_CANDIDATES]
    near = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    return f"did you mean `{near[0]}`?" if near else None


def is_name(token: object) -> bool:
    """Whether a token may name a type, predicate or action."""
    return isinstance(token, str) and (token[0].isalpha() or token[0] == "_" or token[0] > "\x7f") and "?" not in token


def is_object_name(token: object) -> bool:
    """Whether a token may name an object: also one that begins with a digit."""
    return isinstance(token, str) and (token[0].isalnum() or token[0] == "_" or token[0] > "\x7f") and "?" not in token


def is_variable(token: object) -> bool:
    """Whether a token is a variable."""
    return (
        isinstance(token, str)
        and len(token) > 1
        and token[0] == "?"
        and (token[1].isalnum() or token[1] == "_" or token[1] > "\x7f")
        and "?" not in token[1:]
    )
