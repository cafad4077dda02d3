"""BDDL activities: the reader.

BDDL (Srivastava et al., BEHAVIOR, CoRL 2021, section 3 and appendix A) has the shape of a PDDL problem. Objects are
named after WordNet synsets, ``grape.n.01_1``; a goal names them as variables, ``?grape.n.01_1``, and adds quantifiers
that count (:mod:`plansafe.domains.behavior.goals`). The reader checks names and arities here, where it can point at
the user's file; its result is sound for the writer of the task (:mod:`plansafe.domains.behavior.task`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.domains.behavior.vocabulary import DOMAINS, Vocabulary, vocabulary
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import Node, parse_source
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import Context, Place, did_you_mean, format_token, is_object_name

AGENT = "agent.n.01"
ROOM = "room"
MORE = "_*"
_STRAY = re.compile(r";[^\r\n]*|(?<![^\s()])(\\+)(?![^\s()])")
SECTIONS = ("problem", ":domain", ":objects", ":init", ":goal")


class ActivityLiteral(NamedTuple):
    """A literal of the initial state, in names of the activity."""

    positive: bool
    predicate: str
    arguments: tuple[str, ...]


class Activity(NamedTuple):
    """An activity definition. ``objects`` maps instances to their categories, rooms included, in their order.

    ``goal`` is the formula as it was written (``None``: there is none); ``at`` its place in the tree.
    """

    name: str
    domain: str
    objects: dict[str, str]
    init: list[ActivityLiteral]
    goal: Node | None
    at: Place | None

    @property
    def vocabulary(self) -> Vocabulary:
        """What the shipped domain of this activity declares."""
        return vocabulary(self.domain)

    def instances(self) -> dict[str, list[str]]:
        """The instances of each category, in their order."""
        members: dict[str, list[str]] = {}
        for name, category in self.objects.items():
            members.setdefault(category, []).append(name)
        return members


def read_activity(source: Source) -> tuple[Activity | None, Context]:
    """Read an activity definition. Mistakes go to the context; with errors the activity is ``None``.

    Linear in the size of the text.
    """
    context = Context()
    stray = [match for match in _STRAY.finditer(source.text) if match[1]] if "\\" in source.text else []
    if stray:
        blank = _STRAY.sub(lambda match: " " * len(match[0]) if match[1] else match[0], source.text)
        source = Source(source.name, blank)
    top, problems = parse_source(source)
    context.diagnostics.extend(problems)
    if top is None:
        return None, context
    context.places.append(Places(source, top))
    for match in stray:  # the package `bddl` loads such a file, and so do we
        label = Label(source.name, Span(*match.span()))
        note = Diagnostic(SC.FOREIGN_SCENE, "a stray backslash is ignored", (label,), severity=Severity.NOTE)
        context.diagnostics.append(note)
    definition = top[0] if top else None
    if not isinstance(definition, list) or len(top) != 1 or not definition or definition[0] != "define":
        place = context.places[0].span(top, 0) if top else Span(0, len(source.text))
        where = Label(source.name, place, "expected `(define (problem ..) ..)`")
        context.diagnostics.append(Diagnostic(SC.UNREADABLE_WORLD, "the text is not an activity definition", (where,)))
        return None, context
    activity = _definition(context, definition)
    return (None if context.errors else activity), context


def _definition(context: Context, definition: list[Node]) -> Activity | None:
    sections: dict[str, list[Node]] = {}
    for position, section in enumerate(definition[1:], 1):
        head = section[0] if isinstance(section, list) and section else None
        if not isinstance(section, list) or not isinstance(head, str):
            context.error(
                SC.UNREADABLE_WORLD, "expected a section", Place(definition, position), f"such as `({SECTIONS[2]} ..)`"
            )
        elif head == ":requirements":
            continue
        elif head not in SECTIONS:
            context.error(
                SC.UNREADABLE_WORLD, f"unknown section `{head}`", Place(section, 0), help=did_you_mean(head, SECTIONS)
            )
        elif head in sections:
            context.error(
                SC.UNREADABLE_WORLD,
                f"a second section `{head}`",
                Place(section, 0),
                related=(Place(sections[head], 0), "first"),
            )
        else:
            sections[head] = section
    for head in SECTIONS:
        if head not in sections:
            context.error(SC.UNREADABLE_WORLD, f"the section `({head} ..)` is missing", Place(definition))
    if context.errors:
        return None
    name, domain = [_single(context, sections[head]) for head in ("problem", ":domain")]
    if domain is None or name is None:
        return None
    if domain not in DOMAINS:
        domain_names = "` and `".join(DOMAINS)
        context.error(
            SC.UNREADABLE_WORLD,
            f"no domain `{domain}`",
            Place(sections[":domain"], 1),
            f"`{domain_names}` are known",
            help="see docs/home-worlds.md",
        )
        return None
    objects = _objects(context, sections[":objects"])
    init = _init(context, sections[":init"], objects, vocabulary(domain))
    goal_section = sections[":goal"]
    if len(goal_section) < 2:
        context.error(SC.UNREADABLE_WORLD, "a goal is one formula", Place(goal_section))
        return None
    if len(goal_section) > 2:
        label = Label(context.places[0].source.name, context.places[0].span(goal_section, 2), "left out")
        message = "a goal is one formula: the first one is used, as in the package `bddl`"
        context.diagnostics.append(
            Diagnostic(
                SC.FOREIGN_SCENE, message, (label,), help="combine several with `(and ..)`", severity=Severity.NOTE
            )
        )
    return Activity(name, domain, objects, init, goal_section[1], Place(goal_section, 1))


def _single(context: Context, section: list[Node]) -> str | None:
    if len(section) == 2 and is_object_name(section[1]):
        return str(section[1])
    context.error(SC.UNREADABLE_WORLD, f"`({format_token(section[0])} ..)` takes one name", Place(section))
    return None


def _objects(context: Context, section: list[Node]) -> dict[str, str]:
    objects: dict[str, str] = {}
    pending: list[tuple[str, int]] = []
    position = 1
    while position < len(section):
        token = section[position]
        if token == "-":
            position += 1
            category = section[position] if position < len(section) else None
            if not is_object_name(category):
                context.error(
                    SC.UNREADABLE_WORLD,
                    "a category is missing after `-`",
                    Place(section, min(position, len(section) - 1)),
                )
            elif not pending:
                context.error(SC.UNREADABLE_WORLD, "a category without instances before it", Place(section, position))
            for name, at in pending:
                if objects.setdefault(name, str(category)) != category:
                    context.error(SC.DECLARED_TWICE, f"`{name}` is declared twice", Place(section, at))
            pending = []
        elif is_object_name(token):
            pending.append((str(token), position))
        else:
            context.error(
                SC.UNREADABLE_WORLD,
                f"`{format_token(token)}` is not a name",
                Place(section, position),
                "expected an instance",
            )
        position += 1
    for name, at in pending:
        context.error(
            SC.UNREADABLE_WORLD, f"`{name}` has no category", Place(section, at), help=f"write `{name} - CATEGORY`"
        )
    return objects


def _init(
    context: Context, section: list[Node], objects: dict[str, str], vocabulary: Vocabulary
) -> list[ActivityLiteral]:
    """Read the literals of the initial state. Rooms are declared by being named."""
    literals: list[ActivityLiteral] = []
    signs: dict[tuple[str, tuple[str, ...]], bool] = {}
    for position, node in enumerate(section[1:], 1):
        positive = not (isinstance(node, list) and len(node) == 2 and node[0] == "not" and isinstance(node[1], list))
        atom = node if positive else node[1]
        if not isinstance(atom, list) or not atom or not isinstance(atom[0], str):
            context.error(
                SC.UNREADABLE_WORLD,
                "expected a literal",
                Place(section, position),
                "such as `(ontop cup.n.01_1 table.n.02_1)`",
            )
            continue
        predicate = atom[0]
        if vocabulary.predicates.get(predicate) != len(atom) - 1:
            report_predicate(context, atom, vocabulary)
            continue
        if predicate == "inroom" and is_object_name(atom[2]):
            objects.setdefault(str(atom[2]), ROOM)
        arguments = tuple(
            [token[1:] if isinstance(token, str) and token[0] == "?" else str(token) for token in atom[1:]]
        )
        unknown = [number for number, name in enumerate(arguments, 1) if name not in objects]
        for number in unknown:
            report_name(context, atom, number, objects, ())
        if unknown:
            continue
        if signs.setdefault((predicate, arguments), positive) != positive:
            context.error(
                SC.CONTRADICTORY_INIT,
                "the initial state contains this literal and its negation",
                Place(section, position),
            )
        literals.append(ActivityLiteral(positive, predicate, arguments))
    return literals


def report_predicate(context: Context, atom: list[Node], vocabulary: Vocabulary) -> None:
    """Report an unknown predicate, or a wrong number of arguments."""
    name = format_token(atom[0])
    arity = vocabulary.predicates.get(name)
    if arity is None:
        context.error(
            SC.UNKNOWN_PREDICATE,
            f"unknown predicate `{name}`",
            Place(atom, 0),
            help=did_you_mean(name, vocabulary.predicates),
        )
    else:
        count = f"{arity} argument" + ("" if arity == 1 else "s")
        context.error(
            SC.ARITY, f"`{name}` takes {count}, not {len(atom) - 1}", Place(atom), "this many are not expected"
        )


def report_name(
    context: Context, atom: list[Node], number: int, objects: dict[str, str], bound: tuple[str, ...]
) -> None:
    """Report an argument that is neither an instance nor a bound variable."""
    token = atom[number]
    if not isinstance(token, str):
        context.error(SC.UNREADABLE_WORLD, "expected an instance", Place(atom, number), "not a list")
        return
    name = token.removeprefix("?")
    if name in objects.values():
        context.error(
            SC.UNBOUND_VARIABLE,
            f"`{token}` does not name an object here",
            Place(atom, number),
            "no quantifier binds this name",
            help=f"name an instance, such as `{name}_1`, or quantify: `(forall (?{name} - {name}) ..)`",
        )
    else:
        help_text = did_you_mean(name, [*objects, *bound])
        context.error(
            SC.UNKNOWN_OBJECT, f"`{name}` is not declared", Place(atom, number), "not in `:objects`", help=help_text
        )


def is_error(note: Diagnostic) -> bool:
    """Whether a diagnostic stops the import."""
    return note.severity is Severity.ERROR
