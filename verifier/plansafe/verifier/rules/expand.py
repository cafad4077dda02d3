"""Specifications before elaboration: extension, templates, macros and mappings are rewritten on the syntax tree.

What comes out is a list of plain rules, each a tree that ``docs/language.md`` gives a meaning to without any of these.
New lists remember what they were made from, so that diagnostics point into the user's file.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import Node, parse_source
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import (
    Context,
    Place,
    did_you_mean,
    is_name,
    is_object_name,
    is_variable,
    token_text,
)
from plansafe.verifier.elaborate.symbols import RESERVED
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.rules.expanded_specs import (
    RULE_KINDS,
    AppliedMapping,
    ExpandedSpecs,
    OpenDeclaration,
    PlainRule,
    Vocabulary,
)
from plansafe.verifier.rules.mapping import Mapping, read_mapping
from plansafe.verifier.rules.rewrite import Rewriter
from plansafe.verifier.rules.templates import Template, apply, read_template
from plansafe.verifier.rules.tree_copies import TreeCopier, without_types

_NAMED = RULE_KINDS | {":invariant"}
_SECTIONS = (
    frozenset((":domain", ":extends", ":vocabulary", ":disable", ":define", ":template", ":apply", ":open")) | _NAMED
)
MAX_DEPTH = 20

Resolver = Callable[[str, Source], "Source | None"]


class Specification(NamedTuple):
    """A specification while its sections are read. ``rules`` are the inherited ones first, then all of them."""

    name: str
    source: Source
    chain: tuple[str, ...]
    """Those that extend it, the outermost first."""
    rewriter: Rewriter
    templates: dict[str, Template]
    rules: dict[str, PlainRule]
    own: list[list[Node]]
    disabled: list[Place]
    opened: list[Place]


class SpecExpander:
    """Reads specification sources and expands them, once. ``opened`` are kinds that objects can be given by name."""

    def __init__(
        self, context: Context, domain: str, resolve: Resolver | None = None, opened: Container[str] = ()
    ) -> None:
        self.context = context
        self.opened = opened
        self.domain = domain
        self.resolve = resolve
        self._copies = TreeCopier(context)
        self._mappings: dict[str, tuple[Mapping, Place]] = {}
        self._bound: dict[str, str] = {}  # specification -> the one that its mapping names: itself, or one it serves
        self._used: set[str] = set()
        self._named: set[str] = set()  # all rules, disabled ones among them
        self._vocabularies: list[Vocabulary] = []
        self._openings: list[OpenDeclaration] = []

    def expand(self, sources: list[Source]) -> ExpandedSpecs:
        """Expand all specifications; mappings among the sources apply to the specifications they name.

        Raises ``LimitReached`` where templates, macros or groups multiply each other.
        """
        forms: list[tuple[Source, list[Node]]] = []
        for source in sources:
            for form in self._forms(source):
                if isinstance(form[1], list) and form[1][0] == "mapping":
                    self._mapping(form)
                else:
                    forms.append((source, form))
        rules: dict[str, PlainRule] = {}
        for source, form in forms:
            self._merge(rules, self._specification(source, form, ()).rules)
        bindings = tuple(self._bindings())
        plain = [rule for rule in rules.values() if rule.node[0] in RULE_KINDS]
        invariants = tuple([rule for rule in rules.values() if rule.node[0] == ":invariant"])
        return ExpandedSpecs(plain, self._vocabularies, bindings, tuple(self._openings), invariants)

    def _bindings(self) -> Iterator[AppliedMapping]:
        """The mappings that serve a specification; warnings about what is written in them for nothing."""
        context = self.context
        for wanted, (mapping, written_at) in self._mappings.items():
            serves = frozenset([name for name, binding in self._bound.items() if binding == wanted])
            if not serves:
                continue
            for at in mapping.domain:
                written = token_text(at.node[1])
                if written != self.domain:
                    message = f"the mapping is written for domain `{written}`, this one is `{self.domain}`"
                    help = "unknown names below may have this cause"
                    context.warning(SC.OTHER_DOMAIN, message, at, "another domain", help=help)
            for name, (_, at) in mapping.without.items() if not context.errors else ():
                if name not in self._named:
                    message = f"the mapping leaves out rule `{name}`, which does not exist"
                    context.warning(SC.VOCABULARY, message, at, "no rule", help=did_you_mean(name, self._named))
            yield AppliedMapping(wanted, serves, mapping, written_at)
        for wanted, (_, at) in self._mappings.items():
            if wanted not in self._used and not context.errors:
                message = f"the mapping for `{wanted}` is not used: no given specification has this name"
                context.warning(SC.VOCABULARY, message, at, "for this one", help=did_you_mean(wanted, self._used))

    def _merge(self, rules: dict[str, PlainRule], more: dict[str, PlainRule]) -> None:
        for name, rule in more.items():
            known = rules.setdefault(name, rule)
            if known is not rule and (known.source, known.specification) != (rule.source, rule.specification):
                self._two_rules(name, known, rule)

    def _two_rules(self, name: str, first: PlainRule, second: PlainRule) -> None:
        """Specifications given side by side may share what they extend, but not differ on a rule."""
        message = f"two specifications have a rule named `{name}`"
        other = (Place(first.node, 1), f"the rule of `{first.specification}`")
        help = "rename one, or let one specification extend the other"
        self.context.error(
            SC.DECLARED_TWICE,
            message,
            Place(second.node, 1),
            f"the rule of `{second.specification}`",
            other=other,
            help=help,
        )

    def _forms(self, source: Source) -> list[list[Node]]:
        context = self.context
        top, found = parse_source(source)
        context.diagnostics.extend(found)
        if top is None:
            context.errors += max(len(found), 1)
            return []
        context.places.append(Places(source, top))
        if not top:
            context.error(
                SC.STRUCTURE, "the specification is empty", Place(top), "expected `(define (safety name) ..)`"
            )
        out = []
        for child, form in enumerate(top):
            if (
                isinstance(form, list)
                and len(form) >= 2
                and form[0] == "define"
                and isinstance(form[1], list)
                and len(form[1]) == 2
                and form[1][0] in ("safety", "mapping")
                and is_object_name(form[1][1])
            ):
                out.append(form)
            else:
                context.error(
                    SC.STRUCTURE,
                    "expected `(define (safety name) ..)` or `(define (mapping name) ..)`",
                    Place(top, child),
                    "not a specification",
                )
                if not isinstance(form, list):
                    break  # a text of another kind: its first word is enough
        return out

    def _mapping(self, form: list[Node]) -> None:
        wanted, mapping = read_mapping(self.context, form, self.opened)
        if wanted is None:
            return
        _, first = self._mappings.setdefault(wanted, (mapping, Place(form, 1)))
        if first.node is not form:
            help = "leave one of them out"
            message = f"two mappings bind `{wanted}`"
            self.context.error(
                SC.DECLARED_TWICE, message, Place(form, 1), "the second", other=(first, "the first"), help=help
            )

    # -- one specification --------------------------------------------------------------------------------------------

    def _specification(self, source: Source, form: list[Node], chain: tuple[str, ...]) -> Specification:
        """Read a specification, and those that it extends."""
        context = self.context
        header = form[1]
        assert isinstance(header, list)
        name = token_text(header[1])
        mapping = None
        # A mapping binds the specification that it names and what this one extends, unless that has its own.
        for binding in (name, *reversed(chain)):
            if binding in self._mappings:
                mapping, _ = self._mappings[binding]
                self._bound[name] = binding
                break
        self._used.add(name)
        specification = Specification(name, source, chain, Rewriter(self._copies, {}, mapping), {}, {}, [], [], [])
        for child in range(2, len(form)):
            section = form[child]
            if isinstance(section, list) and section and isinstance(section[0], str):
                self._section(section[0], section, specification)
            else:
                expected = "expected `(:process ..)` or another section"
                context.error(SC.STRUCTURE, "expected a rule or a section", Place(form, child), expected)
        for at in specification.disabled:
            wanted = at.node[at.child or 0]
            if not isinstance(wanted, str) or specification.rules.pop(wanted, None) is None:
                message = f"no inherited rule is named `{token_text(wanted)}`"
                help = did_you_mean(token_text(wanted), specification.rules)
                context.error(SC.UNKNOWN_RULE_NAME, message, at, "nothing to disable", help=help)
        for at in specification.opened:
            self._opening(at, specification)
        self._own_rules(specification)
        return specification

    def _section(self, head: str, section: list[Node], specification: Specification) -> None:
        match head:
            case ":domain":
                self._written_for(section, specification)
            case ":extends":
                for at in _entries(section):
                    self._extend(at, specification)
            case ":vocabulary":
                self._vocabularies.append(Vocabulary(specification.name, section))
            case ":disable":
                specification.disabled.extend(_entries(section))
            case ":define":
                self._macro(section, specification.rewriter)
            case ":template":
                self._template(section, specification)
            case ":apply":
                specification.own.extend(apply(self._copies, section, specification.templates))
            case ":open":
                specification.opened.extend(_entries(section))
            case _ if head in _NAMED:
                specification.own.append(section)
            case _:
                message, help = f"unknown section `{head}`", did_you_mean(head, _SECTIONS)
                self.context.error(
                    SC.STRUCTURE, message, Place(section, 0), "not a section of a specification", help=help
                )

    def _written_for(self, section: list[Node], specification: Specification) -> None:
        if len(section) != 2 or not is_object_name(section[1]):
            self.context.error(SC.STRUCTURE, "`:domain` takes one name", Place(section), "expected `(:domain name)`")
        elif section[1] != self.domain and specification.rewriter.mapping is None:
            message = f"the specification is written for domain `{section[1]}`, this one is `{self.domain}`"
            help = "unknown names below may have this cause; a mapping binds the specification to another domain"
            self.context.warning(SC.OTHER_DOMAIN, message, Place(section, 1), "another domain", help=help)

    def _extend(self, at: Place, specification: Specification) -> None:
        context = self.context
        wanted = at.node[at.child or 0]
        if not isinstance(wanted, str):
            context.error(SC.STRUCTURE, "expected the name or path of a specification", at, "expected a name")
            return
        name = wanted[1:-1] if wanted.startswith('"') else wanted
        found = self.resolve(name, specification.source) if self.resolve else None
        if found is None:
            message = f"cannot find the specification `{name}`"
            context.error(
                SC.UNKNOWN_SPECIFICATION, message, at, "neither a shipped specification nor a file next to this one"
            )
            return
        chain = (*specification.chain, specification.name)
        for form in self._forms(found):
            header = form[1]
            assert isinstance(header, list)
            if header[0] == "mapping":
                continue
            if token_text(header[1]) in chain or len(chain) > MAX_DEPTH:
                message = f"specifications extend each other: {' -> '.join([*chain, token_text(header[1])])}"
                context.error(SC.CYCLE, message, at, "a cycle")
                continue
            theirs = self._specification(found, form, chain)
            self._merge(specification.rules, theirs.rules)
            specification.templates.update(theirs.templates)
            specification.rewriter.macros.update(theirs.rewriter.macros)

    def _own_rules(self, specification: Specification) -> None:
        own: dict[str, Place] = {}
        for rule in specification.own:
            if len(rule) < 2 or not is_object_name(rule[1]):
                self.context.error(SC.STRUCTURE, "a rule needs a name", Place(rule), f"expected `({rule[0]} name ..)`")
                continue
            name, at = token_text(rule[1]), Place(rule, 1)
            if name in own:
                message = f"rule `{name}` is declared twice"
                self.context.error(SC.DECLARED_TWICE, message, at, "again here", other=(own[name], "first here"))
                continue
            own[name] = at
            self._named.add(name)
            rewritten = specification.rewriter.rule(rule)
            specification.rules[name] = PlainRule(rewritten, specification.name, specification.source.name)

    # -- macros and open predicates ------------------------------------------------------------------------

    def _template(self, section: list[Node], specification: Specification) -> None:
        found = read_template(section)
        if found is None:
            self.context.error(
                SC.STRUCTURE, "expected `(:template name ($p ..) rule ..)`", Place(section), "not a template"
            )
        else:
            specification.templates[token_text(section[1])] = found

    def _macro(self, section: list[Node], rewriter: Rewriter) -> None:
        if len(section) != 3 or not isinstance(section[1], list) or not section[1] or not is_name(section[1][0]):
            self.context.error(
                SC.STRUCTURE, "expected `(:define (name ?x ..) formula)`", Place(section), "not a definition"
            )
            return
        entries = parse_typed_list(self.context, section[1], 1, is_variable, "a variable")
        rewriter.macros[token_text(section[1][0])] = ([entry.name for entry in entries], rewriter.formula(section[2]))

    def _opening(self, at: Place, specification: Specification) -> None:
        """An element of ``(:open ..)``."""
        entry = at.node[at.child or 0]
        if not isinstance(entry, list) or not entry or not is_name(entry[0]) or entry[0] in RESERVED:
            message = "expected a predicate to leave open"
            self.context.error(SC.STRUCTURE, message, at, "expected `(name ?x - type ..)`")
            return
        places = {token: place for place, token in enumerate(entry) if place and is_variable(token)}
        named: list[Node] = [entry[0], *[token for token in without_types(entry[1:]) if is_variable(token)]]
        atom = self._copies.made(named, entry)
        for child, token in enumerate(named[1:], 1):
            self.context.replaced[id(atom), child] = Place(entry, places[token_text(token)])
        mapped = specification.rewriter.atom(atom, at)
        typed = specification.rewriter.types(entry)
        if isinstance(mapped, list) and mapped and isinstance(typed, list):
            self._openings.append(OpenDeclaration(typed, mapped, specification.source.name))


def _entries(section: list[Node]) -> list[Place]:
    return [Place(section, child) for child in range(1, len(section))]
