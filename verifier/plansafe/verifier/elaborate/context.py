"""The context of an elaboration: sources and diagnostics; and tests of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import Node

MAX_DIAGNOSTICS = 200
"""Maximum number of diagnostics of one file."""
MAX_COMPARED_LENGTH = 60
"""Maximum length of an unknown name for which a similar name is suggested."""
MAX_CANDIDATES = 500
"""Maximum number of names that are compared with an unknown name."""
_MACRO_NUMBER = re.compile(r"(\?[^\s()`~]+)(?:~\d+)+")


class Place(NamedTuple):
    """A list of a syntax tree, or one of its children."""

    node: list[Node]
    child: int | None = None

    @property
    def subtree(self) -> Node:
        """The list, or the child."""
        return self.node if self.child is None else self.node[self.child]


class Context:
    """The sources, the reported diagnostics, and the origin of generated nodes. One per check; nothing global."""

    def __init__(self, lenient_types: bool = False) -> None:
        self.lenient_types = lenient_types
        self.places: list[Places] = []
        self.origin: dict[int, Place] = {}
        """Source of a generated list: ``Place(node)`` of the same shape, or ``Place(node, child)``, the whole node."""
        self.replaced: dict[tuple[int, int], Place] = {}
        """Source of a child of a generated list, if it is not the child of the same number in ``origin``."""
        self.alternatives: dict[int, tuple[list[Node], tuple[str, ...]]] = {}
        """By identity, each list ``(either t u)`` that was read, with its names. Uses of a macro share such lists."""
        self._generated_lists: list[list[Node]] = []  # kept alive: a reused identity would lead to a wrong place
        self.diagnostics: list[Diagnostic] = []
        self.errors = 0
        self._dialects: set[tuple[str, str]] = set()

    def record_origin(self, generated_list: list[Node], origin: Place) -> list[Node]:
        """Record the source of a generated list, as in ``origin``, and keep the list alive."""
        self.origin[id(generated_list)] = origin
        self._generated_lists.append(generated_list)
        return generated_list

    def label(self, at: Place, text: str = "", primary: bool = True) -> Label:
        """Return a label for a node. Nodes that templates and macros generate are traced back to their source."""
        while id(at.node) in self.origin:
            if at.child is not None and (id(at.node), at.child) in self.replaced:
                at = self.replaced[id(at.node), at.child]
                continue
            origin = self.origin[id(at.node)]
            at = Place(origin.node, at.child) if origin.child is None else origin
        for places in self.places:
            if places.contains(at.node):
                source, span = places.source.locate(places.span(at.node, at.child))
                return Label(source.name, span, text, primary)
        return Label("", Span(0, 0), text, primary)

    def error(
        self,
        code: str,
        message: str,
        at: Place,
        text: str = "",
        *,
        related: tuple[Place, str] | None = None,
        help: str | None = None,
    ) -> None:
        """Report a mistake. ``related``: a second place that contradicts the first, and its label."""
        self.errors += 1
        self._report(Severity.ERROR, code, message, at, text, related, help)

    def report_malformed(self, message: str, at: Place, text: str = "", *, help: str | None = None) -> None:
        """Report a node of the wrong structure."""
        self.error(SC.STRUCTURE, message, at, text, help=help)

    def report_unsupported(self, construct: str, at: Place, text: str = "not supported") -> None:
        """Report PDDL that is not supported; ``construct`` is plural."""
        self.error(SC.UNSUPPORTED, f"{construct} are not supported", at, text)

    def report_redeclaration(self, name: str, at: Place, first: Place | None) -> None:
        """Report a second declaration; ``name`` with its kind, as in "action `take`"."""
        message = f"{name} is declared twice"
        related = None if first is None else (first, "first here")
        self.error(SC.DECLARED_TWICE, message, at, "again here", related=related)

    def report_repetition(self, name: str, at: Place, first: Place) -> None:
        """Report a second section or field."""
        self.error(SC.DECLARED_TWICE, f"{name} occurs twice", at, "again here", related=(first, "first here"))

    def report_wrong_arity(
        self, name: str, declared: object, declared_count: int, at: Place, argument_count: int, plural: str = "s"
    ) -> None:
        """Report a wrong number of arguments; ``declared`` is the node of the declaration, if it is in a text."""
        related = (Place(declared), "declared here") if isinstance(declared, list) else None
        message = f"{name} takes {declared_count} argument{plural}, not {argument_count}"
        self.error(SC.ARITY, message, at, f"{argument_count} given", related=related)

    def warning(
        self,
        code: str,
        message: str,
        at: Place,
        text: str = "",
        *,
        related: tuple[Place, str] | None = None,
        help: str | None = None,
    ) -> None:
        """Report something that does not stop the check."""
        self._report(Severity.WARNING, code, message, at, text, related, help)

    def report_dialect(
        self,
        feature: str,
        message: str,
        at: Place,
        text: str,
        *,
        help: str,
        related: tuple[Place, str] | None = None,
        name: str = "",
    ) -> None:
        """Report, once for each feature (and name), that a node is read as a dialect; ``text`` is its meaning."""
        if (feature, name) not in self._dialects:
            self._dialects.add((feature, name))
            self.warning(SC.DIALECT, f"{message}: {text}", at, "dialect", related=related, help=help)

    def note(self, code: str, message: str, at: Place, text: str = "", *, help: str | None = None) -> None:
        """Report something correct that a reader may not expect."""
        self._report(Severity.NOTE, code, message, at, text, None, help)

    def report_type_error(
        self, message: str, at: Place, text: str = "", *, related: tuple[Place, str] | None = None
    ) -> None:
        """Report a type mismatch: an error, or a warning when types are lenient."""
        if self.lenient_types:
            self.warning(SC.TYPE_MISMATCH_ACCEPTED, message, at, text, related=related)
        else:
            self.error(SC.TYPE_MISMATCH, message, at, text, related=related)

    def _report(
        self,
        severity: Severity,
        code: str,
        message: str,
        at: Place,
        text: str,
        related: tuple[Place, str] | None,
        help: str | None,
    ) -> None:
        if len(self.diagnostics) >= MAX_DIAGNOSTICS:
            return
        labels = [self.label(at, remove_macro_numbers(text))]
        if related is not None:
            labels.append(self.label(related[0], remove_macro_numbers(related[1]), primary=False))
        help = help and remove_macro_numbers(help)
        message = remove_macro_numbers(message)
        self.diagnostics.append(Diagnostic(code, message, tuple(labels), help=help, severity=severity))


def remove_macro_numbers(text: str) -> str:
    """Remove the numbers that macros append to the names of their variables (``?x~2``)."""
    return _MACRO_NUMBER.sub(r"\1", text) if "~" in text else text


def format_token(node: object) -> str:
    """Return a token as it is; ``(..)`` for a list, which may nest too deep to be printed."""
    return node if isinstance(node, str) else "(..)"


def collect_tokens(node: Node) -> frozenset[str]:
    """Return all tokens of a node, at any depth."""
    tokens: set[str] = set()
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            tokens.add(part)
        else:
            stack += part
    return frozenset(tokens)


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """Return a help text with the most similar candidate; ``None`` if no candidate is similar."""
    import difflib  # noqa: PLC0415 - needed for mistakes alone

    letters = set(name)
    if len(name) > MAX_COMPARED_LENGTH:
        return None
    similar_names = [
        candidate
        for candidate in candidates
        if abs(len(candidate) - len(name)) <= 4 and 2 * len(letters & set(candidate)) >= len(letters)
    ]
    if len(similar_names) > MAX_CANDIDATES:
        similar_names = [c for c in similar_names if c[0] == name[0] or c[-1] == name[-1]][:MAX_CANDIDATES]
    nearest = difflib.get_close_matches(name, similar_names, n=1, cutoff=0.6)
    return f"did you mean `{nearest[0]}`?" if nearest else None


def is_name(token: object) -> bool:
    """Whether a token may name a type, predicate or action."""
    return isinstance(token, str) and (token[0].isalpha() or token[0] == "_" or token[0] > "\x7f") and "?" not in token


def is_object_name(token: object) -> bool:
    """Whether a token may name an object; unlike other names it may begin with a digit."""
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
