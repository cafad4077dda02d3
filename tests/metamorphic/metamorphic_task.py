"""A planning task with rules and plans as trees: what rewritings work on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, NamedTuple, TypeAlias

from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source

Tree: TypeAlias = "str | tuple[Tree, ...]"
List: TypeAlias = "tuple[Any, ...]"
RULE_KINDS = (":process", ":trajectory", ":termination", ":obligation")


class Task(NamedTuple):
    """A domain, a problem, specifications and plans; each is a tree, a plan is the list of its top-level trees.

    ``layout`` is the seed of a random layout (letter case, line breaks, comments); None: one section a line.
    """

    name: str
    domain: List
    problem: List
    specs: tuple[List, ...]
    plans: tuple[List, ...]
    layout: int | None = None

    def domain_text(self) -> str:
        """The domain as PDDL."""
        return self._text(self.domain)

    def problem_text(self) -> str:
        """The problem as PDDL."""
        return self._text(self.problem)

    def spec_texts(self) -> list[str]:
        """Each specification as text."""
        return [self._text(spec) for spec in self.specs]

    def plan_texts(self) -> list[str]:
        """Each plan as text."""
        return [self._text(plan, plan=True) for plan in self.plans]

    def texts(self) -> list[str]:
        """All texts, in a fixed order."""
        return [self.domain_text(), self.problem_text(), *self.spec_texts(), *self.plan_texts()]

    def rules(self) -> Iterator[List]:
        """The rules of all specifications."""
        for spec in self.specs:
            yield from (section for section in spec[2:] if section[0] in RULE_KINDS)

    def with_rules(self, rules: Iterable[List]) -> Task:
        """The task with other rules, all of them in its first specification."""
        sections = [section for spec in self.specs for section in spec[2:] if section[0] not in RULE_KINDS]
        head = self.specs[0][:2] if self.specs else ("define", ("safety", "rules"))
        spec = (*head, *sections, *rules)
        return self._replace(specs=(spec,) if len(spec) > 2 else ())

    def is_timed(self) -> bool:
        """True if a plan has times, or the domain durative actions, or the problem timed literals."""
        durative = any(section[0] == ":durative-action" for section in self.domain[2:])
        return durative or any(not isinstance(entry, tuple) for plan in self.plans for entry in plan) or self.has_timed

    @property
    def has_timed(self) -> bool:
        """True if ``:init`` has timed literals."""
        return any(is_timed_literal(entry) for entry in section(self.problem, ":init"))

    def is_open(self) -> bool:
        """True if facts, effects or the order of steps are left open."""
        words = {word for text in self.texts() for word in text.replace("(", " ").replace(")", " ").split()}
        init = section(self.problem, ":init")
        disjunctions = any(isinstance(entry, tuple) and entry[0] in ("or", "<=", ">=", "<", ">") for entry in init)
        return disjunctions or bool(words & {"unknown", "oneof", ":ordering", ":open", "+-"})

    def _text(self, tree: List, plan: bool = False) -> str:
        lines = [write(part) for part in tree]
        text = "\n".join(lines) + "\n" if plan else "(" + "\n  ".join(lines) + ")\n"
        return text if self.layout is None else disguised(text, Random(f"{self.layout} {text[:40]}"))


def is_timed_literal(entry: Tree) -> bool:
    """True for ``(at TIME LITERAL)`` in ``:init``."""
    return isinstance(entry, tuple) and entry[0] == "at" and len(entry) == 3 and isinstance(entry[2], tuple)


def section(tree: List, name: str) -> List:
    """The content of all sections of this name."""
    return tuple(part for content in tree[2:] if content[0] == name for part in content[1:])


def with_sections(tree: List, sections: Iterable[List]) -> List:
    """The definition with other sections."""
    return (*tree[:2], *sections)


def field(structure: List, name: str, default: Tree = ()) -> Any:
    """The value of a field of a rule or action."""
    return structure[structure.index(name) + 1] if name in structure else default


def with_field(structure: List, name: str, value: Tree) -> List:
    """The structure with another value of a field, which is added if it is missing."""
    if name not in structure:
        return (*structure, name, value)
    place = structure.index(name)
    return (*structure[: place + 1], value, *structure[place + 2 :])


def without_fields(structure: List, *names: str) -> List:
    """The structure without these fields. The first two words are its kind and name."""
    pairs = zip(structure[2::2], structure[3::2], strict=True)
    return (*structure[:2], *[word for pair in pairs if pair[0] not in names for word in pair])


def frozen(node: Node) -> Tree:
    """A parsed node as a tuple."""
    return node if isinstance(node, str) else tuple(frozen(part) for part in node)


def read_trees(text: str, name: str = "text") -> List:
    """The top-level trees of a text. Raises ``ValueError`` for unbalanced parentheses."""
    nodes = parse_nodes(Source(name, text))
    if nodes is None:
        raise ValueError(f"{name} is not balanced: {text[:200]}")
    return tuple(frozen(node) for node in nodes)


def write(tree: Tree) -> str:
    """A tree as text."""
    return tree if isinstance(tree, str) else "(" + " ".join(write(part) for part in tree) + ")"


def words_of(tree: Tree) -> Iterator[str]:
    """All tokens of a tree."""
    if isinstance(tree, str):
        yield tree
    else:
        for part in tree:
            yield from words_of(part)


def disguised(text: str, random: Random) -> str:
    """The text in random letter case, with random white space and comments; strings stay as they are."""
    pieces = text.split('"')
    for number in range(0, len(pieces), 2):
        out = []
        for letter in pieces[number]:
            character = random.choice((letter.upper(), letter)) if letter.isascii() else letter
            if letter == " ":
                character = random.choice((" ", " ", " ", "  ", "\t", " ; a (comment\n ", "\n"))
            if letter in "()":
                character = random.choice((letter, letter, letter, f" {letter}", f"{letter} "))
            out.append(character)
        pieces[number] = "".join(out)
    return '"'.join(pieces)
