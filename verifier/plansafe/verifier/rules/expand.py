"""Expand specifications before elaboration: apply extension, templates, macros and mappings to the syntax trees.

The result is a list of plain rules, trees that ``docs/language.md`` defines without these constructs. New lists keep
their origin, so that diagnostics point into the user's file.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import Node, parse_source
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import (
    Context,
    Place,
    did_you_mean,
    format_token,
    is_name,
    is_object_name,
    is_variable,
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
from plansafe.verifier.rules.mapping import Mapping, Replacement
from plansafe.verifier.rules.mapping_reader import read_mapping
from plansafe.verifier.rules.rewrite import Rewriter
from plansafe.verifier.rules.templates import Template, apply_template, read_template
from plansafe.verifier.rules.tree_copies import TreeCopier, remove_types

_RULE_SECTIONS = RULE_KINDS | {":invariant"}
_SECTIONS = (
    frozenset((":domain", ":extends", ":vocabulary", ":disable", ":define", ":template", ":apply", ":open"))
    | _RULE_SECTIONS
)
MAX_DEPTH = 20
"""Maximum length of a chain of specifications that extend each other."""

Resolver = Callable[[str, Source], "Source | None"]
"""Finds a specification by its name or path, relative to the source that extends it."""


class _Form(NamedTuple):
    """The form ``(define (kind name) ..)`` of a specification (kind ``safety``) or a mapping (kind ``mapping``)."""

    kind: str
    name: str
    node: list[Node]


class Specification(NamedTuple):
    """A specification while its sections are read.

    ``chain``: the specifications that extend it, the outermost first. ``rules``: the inherited rules; its own rules are
    added after all sections were read. ``rule_sections``: the trees of its own rules. ``disabled_rule_places`` and
    ``open_predicate_places``: the places of the elements of ``:disable`` and ``:open``.
    """

    name: str
    source: Source
    chain: tuple[str, ...]
    rewriter: Rewriter
    templates: dict[str, Template]
    rules: dict[str, PlainRule]
    rule_sections: list[list[Node]]
    disabled_rule_places: list[Place]
    open_predicate_places: list[Place]


class SpecExpander:
    """Reads and expands the sources of specifications, once.

    ``domain``: the name of the task's domain. ``resolve`` finds the extended specifications; without it there are none.
    ``assignable_kinds`` are the kinds that a user may give to objects, ``domain_types`` the domain's types, and
    the objects in ``proposed_objects`` get their proposed kinds (:func:`read_mapping`).
    """

    def __init__(
        self,
        context: Context,
        domain: str,
        resolve: Resolver | None = None,
        assignable_kinds: Container[str] = (),
        domain_types: Container[str] = (),
        proposed_objects: Container[str] = (),
    ) -> None:
        self.context = context
        self.assignable_kinds = assignable_kinds
        self.domain_types = domain_types
        self.proposed_objects = proposed_objects
        self.domain = domain
        self.resolve = resolve
        self._copier = TreeCopier(context)
        self._mappings: dict[str, tuple[Mapping, Place]] = {}
        self._mapping_of_specification: dict[str, str] = {}
        """By specification: the specification that its mapping names."""
        self._specification_names: set[str] = set()
        self._rule_names: set[str] = set()
        """The names of all rules, also of disabled rules."""
        self._vocabularies: list[Vocabulary] = []
        self._openings: list[OpenDeclaration] = []
        self._forms: dict[tuple[str, str], list[_Form]] = {}
        """The forms of each source, by its name and text."""
        self._extended_specifications: dict[tuple[str, str, str, str | None], Specification] = {}
        """The extended specifications that were read, by source, name, and the specification of their mapping."""

    def expand(self, sources: list[Source]) -> ExpandedSpecs:
        """Expand all specifications; mappings among the sources apply to the specifications they name.

        Raises ``LimitReached`` if nested templates, macros or groups produce too many nodes.
        """
        forms = [(source, form) for source in sources for form in self._read_forms(source)]
        mapping_forms = [form for _, form in forms if form.kind == "mapping"]
        for joined_forms in self._join_extensions(mapping_forms):
            self._read_mapping(joined_forms)
        rules: dict[str, PlainRule] = {}
        for source, form in forms:
            if form.kind == "safety":
                self._add_rules(rules, self._read_specification(source, form, ()).rules)
        mappings = tuple(self._list_applied_mappings())
        plain_rules = [rule for rule in rules.values() if rule.node[0] in RULE_KINDS]
        invariants = tuple([rule for rule in rules.values() if rule.node[0] == ":invariant"])
        return ExpandedSpecs(plain_rules, self._vocabularies, mappings, tuple(self._openings), invariants)

    # -- sources and mappings -----------------------------------------------------------------------------------------

    def _read_forms(self, source: Source) -> list[_Form]:
        """Return the specifications and mappings of a source; report other forms, once."""
        key = (source.name, source.text)
        if key not in self._forms:
            self._forms[key] = self._parse_forms(source)
        return self._forms[key]

    def _parse_forms(self, source: Source) -> list[_Form]:
        """Parse a source; report forms that are neither specifications nor mappings."""
        context = self.context
        top, diagnostics = parse_source(source)
        context.diagnostics.extend(diagnostics)
        if top is None:
            context.errors += max(len(diagnostics), 1)
            return []
        context.places.append(Places(source, top))
        if not top:
            context.error(
                SC.STRUCTURE, "the specification is empty", Place(top), "expected `(define (safety name) ..)`"
            )
        forms = []
        for child, form in enumerate(top):
            header = form[1] if isinstance(form, list) and len(form) > 1 and form[0] == "define" else None
            if (
                isinstance(form, list)
                and isinstance(header, list)
                and len(header) == 2
                and header[0] in ("safety", "mapping")
                and is_object_name(header[1])
            ):
                forms.append(_Form(format_token(header[0]), format_token(header[1]), form))
            else:
                message = "expected `(define (safety name) ..)` or `(define (mapping name) ..)`"
                context.error(SC.STRUCTURE, message, Place(top, child), "not a specification")
                if not isinstance(form, list):
                    break  # a text of another kind: one diagnostic is enough
        return forms

    def _join_extensions(self, forms: list[_Form]) -> list[list[_Form]]:
        """Return each mapping that extends no other, followed by the mappings that extend it."""
        form_by_name = {form.name: form for form in reversed(forms)}
        forms_by_base: dict[int, list[_Form]] = {}
        for form in forms:
            base, chain = form, [form]
            while (at := _find_extends_place(base.node)) is not None:
                name = format_token(at.subtree)
                extended = form_by_name.get(name)
                if extended is None or extended in chain:
                    problem = "is not among the specifications" if extended is None else "extends this one"
                    help = did_you_mean(name, form_by_name) or "also name the file of the extended mapping"
                    message = f"the mapping extends `{name}`, which {problem}"
                    self.context.error(SC.UNKNOWN_SPECIFICATION, message, at, "not usable", help=help)
                    break
                base = extended
                chain.append(base)
            else:
                joined_forms = forms_by_base.setdefault(id(base.node), [base])
                joined_forms += [] if form is base else [form]
        return list(forms_by_base.values())

    def _read_mapping(self, forms: list[_Form]) -> None:
        """Read a mapping and the mappings that extend it."""
        nodes, header_at = [form.node for form in forms], Place(forms[0].node, 1)
        read = read_mapping(self.context, nodes, self.assignable_kinds, self.domain_types, self.proposed_objects)
        if read is None:
            return
        specification, mapping = read
        _, first = self._mappings.setdefault(specification, (mapping, header_at))
        if first is not header_at:
            message = f"two mappings bind `{specification}`"
            help = "leave one of them out, or let one extend the other with `(:extends NAME)`"
            related = (first, "the first")
            self.context.error(SC.DECLARED_TWICE, message, header_at, "the second", related=related, help=help)
        elif mapping.kinds_from and len(forms) == 1:
            at = mapping.kinds_from[0]
            message = f"the kinds of objects are in `{format_token(at.subtree)}`, which is not among the specifications"
            help = "from Python, pass the specifications to `plansafe.domains.objects.add_kinds`"
            self.context.error(SC.VOCABULARY, message, at, "objects have no kinds without it", help=help)

    def _list_applied_mappings(self) -> Iterator[AppliedMapping]:
        """Yield the mappings that bind a specification; warn about entries and mappings without effect."""
        context = self.context
        for specification, (mapping, mapping_at) in self._mappings.items():
            mapping_names = self._mapping_of_specification.items()
            serves = frozenset([name for name, mapping_name in mapping_names if mapping_name == specification])
            if not serves:
                continue
            for at in mapping.domain_name_places:
                domain = format_token(at.subtree)
                if domain != self.domain:
                    message = f"the mapping is written for domain `{domain}`, this one is `{self.domain}`"
                    help = "unknown names below may have this cause"
                    context.warning(SC.OTHER_DOMAIN, message, at, "another domain", help=help)
            for name, (_, at) in mapping.excluded_rules.items() if not context.errors else ():
                if name not in self._rule_names:
                    message = f"the mapping leaves out rule `{name}`, which does not exist"
                    context.warning(SC.VOCABULARY, message, at, "no rule", help=did_you_mean(name, self._rule_names))
            yield AppliedMapping(specification, serves, mapping, mapping_at)
        for specification, (_, at) in self._mappings.items():
            if specification not in self._specification_names and not context.errors:
                message = f"the mapping for `{specification}` is not used: no given specification has this name"
                suggestion = did_you_mean(specification, self._specification_names)
                context.warning(SC.VOCABULARY, message, at, "for this one", help=suggestion)

    def _add_rules(self, rules: dict[str, PlainRule], new_rules: dict[str, PlainRule]) -> None:
        """Add rules. Specifications may extend the same specification, but not define a rule differently."""
        for name, rule in new_rules.items():
            first = rules.setdefault(name, rule)
            if first is not rule and (first.source, first.specification) != (rule.source, rule.specification):
                at, label = Place(rule.node, 1), f"the rule of `{rule.specification}`"
                related = (Place(first.node, 1), f"the rule of `{first.specification}`")
                message = f"two specifications have a rule named `{name}`"
                help = "rename one, or let one specification extend the other"
                self.context.error(SC.DECLARED_TWICE, message, at, label, related=related, help=help)

    # -- one specification --------------------------------------------------------------------------------------------

    def _read_specification(self, source: Source, form: _Form, chain: tuple[str, ...]) -> Specification:
        """Read a specification that the specifications of ``chain`` extend, with everything that it extends."""
        context, name = self.context, form.name
        mapping_name = self._find_mapping_name(name, chain)
        if mapping_name is None and any([isinstance(node, list) and node[:1] == [":vocabulary"] for node in form.node]):
            mapping_name = self._find_mapping_of_extended(source, form)
        mapping = None
        if mapping_name is not None:
            mapping, _ = self._mappings[mapping_name]
            self._mapping_of_specification[name] = mapping_name
        self._specification_names.add(name)
        specification = Specification(
            name=name,
            source=source,
            chain=chain,
            rewriter=Rewriter(self._copier, {}, mapping),
            templates={},
            rules={},
            rule_sections=[],
            disabled_rule_places=[],
            open_predicate_places=[],
        )
        for child in range(2, len(form.node)):
            section = form.node[child]
            if isinstance(section, list) and section and isinstance(section[0], str):
                self._read_section(section[0], section, specification)
            else:
                label = "expected `(:process ..)` or another section"
                context.error(SC.STRUCTURE, "expected a rule or a section", Place(form.node, child), label)
        for at in specification.disabled_rule_places:
            rule = format_token(at.subtree)
            if specification.rules.pop(rule, None) is None:
                message = f"no inherited rule is named `{rule}`"
                help = did_you_mean(rule, specification.rules)
                context.error(SC.UNKNOWN_RULE_NAME, message, at, "nothing to disable", help=help)
        for at in specification.open_predicate_places:
            self._read_open_predicate(at, specification)
        self._expand_own_rules(specification)
        return specification

    def _read_section(self, head: str, section: list[Node], specification: Specification) -> None:
        """Read a section of a specification; its rules, exclusions and open predicates are expanded later."""
        places = [Place(section, child) for child in range(1, len(section))]
        match head:
            case ":domain":
                self._check_domain(section, specification)
            case ":extends":
                for at in places:
                    self._read_extension(at, specification)
            case ":vocabulary":
                self._vocabularies.append(Vocabulary(specification.name, section))
            case ":disable":
                specification.disabled_rule_places.extend(places)
            case ":define":
                self._read_macro(section, specification.rewriter)
            case ":template":
                template = read_template(self.context, section)
                if template is not None:
                    specification.templates[format_token(section[1])] = template
            case ":apply":
                specification.rule_sections.extend(apply_template(self._copier, section, specification.templates))
            case ":open":
                specification.open_predicate_places.extend(places)
            case _ if head in _RULE_SECTIONS:
                specification.rule_sections.append(section)
            case _:
                message, help = f"unknown section `{head}`", did_you_mean(head, _SECTIONS)
                self.context.error(
                    SC.STRUCTURE, message, Place(section, 0), "not a section of a specification", help=help
                )

    def _check_domain(self, section: list[Node], specification: Specification) -> None:
        if len(section) != 2 or not is_object_name(section[1]):
            self.context.error(SC.STRUCTURE, "`:domain` takes one name", Place(section), "expected `(:domain name)`")
        elif section[1] != self.domain and specification.rewriter.mapping is None:
            message = f"the specification is written for domain `{section[1]}`, this one is `{self.domain}`"
            help = "unknown names below may have this cause; a mapping binds the specification to another domain"
            self.context.warning(SC.OTHER_DOMAIN, message, Place(section, 1), "another domain", help=help)

    def _read_extension(self, at: Place, specification: Specification) -> None:
        """Add the rules, templates and macros of an extended specification."""
        context = self.context
        token = at.subtree
        if not isinstance(token, str):
            context.error(SC.STRUCTURE, "expected the name or path of a specification", at, "expected a name")
            return
        source = self._resolve_extended(token, specification.source)
        if source is None:
            name = token.strip('"')
            message = f"cannot find the specification `{name}`"
            label = "neither a shipped specification nor a file next to this one"
            context.error(SC.UNKNOWN_SPECIFICATION, message, at, label)
            return
        chain = (*specification.chain, specification.name)
        for form in self._read_forms(source):
            if form.kind == "mapping":
                continue
            names = (*chain, form.name)
            if form.name in chain:
                message = f"specifications extend each other: {' -> '.join(names)}"
                context.error(SC.CYCLE, message, at, "a cycle")
                continue
            if len(chain) > MAX_DEPTH:
                message = f"a chain of more than {MAX_DEPTH} extended specifications: {' -> '.join(names)}"
                context.error(SC.CYCLE, message, at, "one too many")
                continue
            extended = self._read_extended(source, form, chain)
            self._add_rules(specification.rules, extended.rules)
            specification.templates.update(extended.templates)
            specification.rewriter.macros.update(extended.rewriter.macros)

    def _resolve_extended(self, token: str, source: Source) -> Source | None:
        """Return the source of the specification that a token in an ``:extends`` of ``source`` names."""
        return self.resolve(token.strip('"'), source) if self.resolve else None

    def _read_extended(self, source: Source, form: _Form, chain: tuple[str, ...]) -> Specification:
        """Read an extended specification, once for each mapping that serves it."""
        key = (source.name, source.text, form.name, self._find_mapping_name(form.name, chain))
        if key not in self._extended_specifications:
            self._extended_specifications[key] = self._read_specification(source, form, chain)
        return self._extended_specifications[key]

    def _find_mapping_name(self, name: str, chain: tuple[str, ...]) -> str | None:
        """Return the specification whose mapping serves one that the specifications of ``chain`` extend.

        A mapping serves the specification that it names and the specifications that this one extends, except those with
        a mapping of their own (and :meth:`_find_mapping_of_extended`).
        """
        return next((mapping_name for mapping_name in (name, *reversed(chain)) if mapping_name in self._mappings), None)

    def _find_mapping_of_extended(self, source: Source, form: _Form) -> str | None:
        """Return the specification whose mapping serves one that this specification extends, directly or indirectly.

        A specification with a vocabulary and without a mapping shares this mapping, so that its rules can use the words
        of the specification that it extends.
        """
        if not self._mappings:
            return None
        pending, visited = [(source, form)], {id(form.node)}
        while pending:
            for extended_source, extended in self._list_extended_specifications(*pending.pop(0)):
                if extended.name in self._mappings:
                    return extended.name
                if id(extended.node) not in visited:
                    visited.add(id(extended.node))
                    pending.append((extended_source, extended))
        return None

    def _list_extended_specifications(self, source: Source, form: _Form) -> Iterator[tuple[Source, _Form]]:
        """Yield the specifications that a specification extends directly, each with its source."""
        for section in form.node[2:]:
            if isinstance(section, list) and section[:1] == [":extends"]:
                for token in section[1:]:
                    extended = self._resolve_extended(token, source) if isinstance(token, str) else None
                    if extended is not None:
                        yield from [
                            (extended, extended_form)
                            for extended_form in self._read_forms(extended)
                            if extended_form.kind == "safety"
                        ]

    def _expand_own_rules(self, specification: Specification) -> None:
        """Add the rules that the specification itself declares."""
        places: dict[str, Place] = {}
        for rule in specification.rule_sections:
            if len(rule) < 2 or not is_object_name(rule[1]):
                self.context.error(SC.STRUCTURE, "a rule needs a name", Place(rule), f"expected `({rule[0]} name ..)`")
                continue
            name, at = format_token(rule[1]), Place(rule, 1)
            if name in places:
                message = f"rule `{name}` is declared twice"
                self.context.error(SC.DECLARED_TWICE, message, at, "again here", related=(places[name], "first here"))
                continue
            places[name] = at
            self._rule_names.add(name)
            expanded = specification.rewriter.rewrite_rule(rule)
            specification.rules[name] = PlainRule(expanded, specification.name, specification.source.name)

    # -- macros and open predicates -----------------------------------------------------------------------------------

    def _read_macro(self, section: list[Node], rewriter: Rewriter) -> None:
        if len(section) != 3 or not isinstance(section[1], list) or not section[1] or not is_name(section[1][0]):
            message = "expected `(:define (name ?x ..) formula)`"
            self.context.error(SC.STRUCTURE, message, Place(section), "not a definition")
            return
        entries = parse_typed_list(self.context, section[1], 1, is_variable, "a variable")
        body = rewriter.rewrite_formula(section[2])
        rewriter.macros[format_token(section[1][0])] = Replacement([entry.name for entry in entries], body)

    def _read_open_predicate(self, at: Place, specification: Specification) -> None:
        """Read an element of ``:open``, such as ``(name ?x - type)``."""
        entry = at.subtree
        if not isinstance(entry, list) or not entry or not is_name(entry[0]) or entry[0] in RESERVED:
            message = "expected a predicate to leave open"
            self.context.error(SC.STRUCTURE, message, at, "expected `(name ?x - type ..)`")
            return
        positions = {token: position for position, token in enumerate(entry) if position and is_variable(token)}
        variables = [token for token in remove_types(entry[1:]) if is_variable(token)]
        untyped = self._copier.record_origin([entry[0], *variables], entry)
        for child, token in enumerate(variables, 1):
            self.context.replaced[id(untyped), child] = Place(entry, positions[format_token(token)])
        atom = specification.rewriter.rewrite_atom(untyped, at)
        typed = specification.rewriter.rewrite_types(entry)
        if isinstance(atom, list) and atom and isinstance(typed, list):
            self._openings.append(OpenDeclaration(typed, atom, specification.source.name))


def _find_extends_place(form: list[Node]) -> Place | None:
    """Return the place of the name in the ``:extends`` of a mapping; ``None`` without such a section."""
    sections = [section for section in form[2:] if isinstance(section, list) and len(section) == 2]
    return next((Place(section, 1) for section in sections if section[0] == ":extends"), None)
