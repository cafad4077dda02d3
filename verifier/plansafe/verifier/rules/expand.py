"""Specifications before elaboration: extension, templates, macros and mappings are rewritten on the syntax tree.

What comes out is a list of plain rules, each a tree that ``docs/language.md`` gives a meaning to without any of these.
New lists
remember what they were made from, so that diagnostics point into the user's file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from plansafe.grammar.sexpr import Node, Places, problems, read_all, write
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.conditions import RESERVED
from plansafe.verifier.elaborate.context import At, Context, did_you_mean, is_name, is_object_name, is_variable, word
from plansafe.verifier.elaborate.types import typed_list
from plansafe.verifier.rules.mapping import MAX_NODES, ExpansionTooLarge, Mapping, lacking, read_mapping

RULE_KINDS = frozenset((":process", ":trajectory", ":termination", ":obligation"))
FORMULA_FIELDS = frozenset(
    (":when", ":forbid", ":require", ":forbid-after", ":require-after", ":formula", ":then", ":holds")
)
STEP_FIELDS = frozenset((":on", ":at-end", ":during"))
ATOMS_FIELDS = frozenset((":exactly-one", ":at-most-one"))
_NAMED = RULE_KINDS | {":invariant"}
_SECTIONS = (
    frozenset((":domain", ":extends", ":vocabulary", ":disable", ":define", ":template", ":apply", ":open")) | _NAMED
)
MAX_DEPTH = 20

Resolver = Callable[[str, Source], "Source | None"]


class PlainRule(NamedTuple):
    """A rule or an invariant with everything expanded: the tree, and the specification it came from."""

    node: list[Node]
    specification: str
    source: str


class PlainOpening(NamedTuple):
    """An open predicate: ``(name ?x - type ..)`` with types mapped, and the atom that ``(name ?x ..)`` stands for."""

    typed: list[Node]
    atom: list[Node]
    source: str


class Vocabulary(NamedTuple):
    """A ``:vocabulary`` section: what a specification needs of a domain."""

    specification: str
    node: list[Node]


class Binding(NamedTuple):
    """A mapping at work: the specification that it names, and all that it serves, this one among them."""

    specification: str
    serves: frozenset[str]
    mapping: Mapping
    at: At


class Expanded(NamedTuple):
    """All rules and vocabularies of the specifications given, and the mappings that bind them."""

    rules: list[PlainRule]
    vocabularies: list[Vocabulary]
    bindings: tuple[Binding, ...] = ()
    openings: tuple[PlainOpening, ...] = ()
    invariants: tuple[PlainRule, ...] = ()

    def mapping(self, specification: str) -> Mapping | None:
        """The mapping that serves a specification."""
        for binding in self.bindings:
            if specification in binding.serves:
                return binding.mapping
        return None


class Definitions(NamedTuple):
    """What a specification defines for itself and those that extend it."""

    templates: dict[str, tuple[list[str], list[Node], At]]
    macros: dict[str, tuple[list[str], Node]]


class Expander:
    """Reads specification sources and expands them."""

    def __init__(self, context: Context, domain: str, resolve: Resolver | None = None) -> None:
        self.context = context
        self.domain = domain
        self.resolve = resolve
        self._mappings: dict[str, Mapping] = {}
        self._mapping_at: dict[str, At] = {}
        self._bound: dict[str, str] = {}  # specification -> the one that its mapping names: itself, or one it serves
        self._used: set[str] = set()
        self._serial = 0
        self._nodes = 0
        self._openings: list[PlainOpening] = []
        self._named: set[str] = set()  # all rules, disabled ones among them

    def expand(self, sources: list[Source]) -> Expanded:
        """Expand all specifications; mappings among the sources apply to the specifications they name."""
        forms: list[tuple[Source, list[Node]]] = []
        for source in sources:
            for form in self._forms(source):
                if isinstance(form[1], list) and form[1] and form[1][0] == "mapping":
                    self._mapping(form)
                else:
                    forms.append((source, form))
        rules: dict[str, PlainRule] = {}
        vocabularies: list[Vocabulary] = []
        for source, form in forms:
            own: dict[str, PlainRule] = {}
            self._specification(source, form, own, vocabularies, ())
            self._merge(rules, own)
        bindings = []
        for wanted, mapping in self._mappings.items():
            serves = frozenset([name for name, binding in self._bound.items() if binding == wanted])
            for at in mapping.domain if serves else ():
                written = word(at.node[1])
                if written != self.domain:
                    message = f"the mapping is written for domain `{written}`, this one is `{self.domain}`"
                    help = "unknown names below have this cause"
                    self.context.warning("SC705", message, at, "another domain", help=help)
            for name, (_, at) in mapping.without.items() if serves and not self.context.errors else ():
                if name not in self._named:
                    message = f"the mapping leaves out rule `{name}`, and there is no such rule"
                    self.context.warning("SC120", message, at, "no rule", help=did_you_mean(name, self._named))
            if serves:
                bindings.append(Binding(wanted, serves, mapping, self._mapping_at[wanted]))
        for specification, at in self._mapping_at.items():
            if specification not in self._used and not self.context.errors:
                message = f"the mapping for `{specification}` is not used: no such specification is among those given"
                self.context.warning("SC120", message, at, "for this one", help=did_you_mean(specification, self._used))
        plain = [rule for rule in rules.values() if rule.node[0] in RULE_KINDS]
        invariants = tuple([rule for rule in rules.values() if rule.node[0] == ":invariant"])
        return Expanded(plain, vocabularies, tuple(bindings), tuple(self._openings), invariants)

    def _merge(self, rules: dict[str, PlainRule], more: dict[str, PlainRule]) -> None:
        for name, rule in more.items():
            known = rules.setdefault(name, rule)
            if known is not rule and (known.source, known.specification) != (rule.source, rule.specification):
                self._two_rules(name, known, rule)

    def _two_rules(self, name: str, first: PlainRule, second: PlainRule) -> None:
        """Specifications given side by side may share what they extend, but not differ on a rule."""
        message = f"two specifications have a rule named `{name}`"
        other = (At(first.node, 1), f"the rule of `{first.specification}`")
        help = "rename one, or let one specification extend the other"
        self.context.error(
            "SC105", message, At(second.node, 1), f"the rule of `{second.specification}`", other=other, help=help
        )

    # -- reading ------------------------------------------------------------------------------------------------------

    def _forms(self, source: Source) -> list[list[Node]]:
        context = self.context
        top = read_all(source)
        if top is None:
            found = problems(source)
            context.diagnostics.extend(found)
            context.errors += max(len(found), 1)
            return []
        context.places.append(Places(source, top))
        if not top:
            context.error("SC003", "the specification is empty", At(top), "expected `(define (safety name) ..)`")
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
                    "SC003",
                    "expected `(define (safety name) ..)` or `(define (mapping name) ..)`",
                    At(top, child),
                    "not a specification",
                )
                if not isinstance(form, list):
                    break  # a text of another kind: its first word is enough
        return out

    def _specification(
        self,
        source: Source,
        form: list[Node],
        rules: dict[str, PlainRule],
        vocabularies: list[Vocabulary],
        chain: tuple[str, ...],
    ) -> Definitions:
        """Add the rules of a specification to ``rules``; returns its templates and macros, inherited ones included."""
        context = self.context
        header = form[1]
        assert isinstance(header, list)
        name = word(header[1])
        definitions = Definitions({}, {})
        templates, macros = definitions
        mapping = None
        # A mapping binds the specification that it names and what this one extends, unless that has its own.
        for binding in (name, *reversed(chain)):
            if binding in self._mappings:
                mapping = self._mappings[binding]
                self._bound[name] = binding
                break
        self._used.add(name)
        plain: list[list[Node]] = []
        opened: list[list[Node]] = []
        disabled: list[At] = []
        inherited: dict[str, PlainRule] = {}
        for child in range(2, len(form)):
            section = form[child]
            if not isinstance(section, list) or not section or not isinstance(section[0], str):
                context.error(
                    "SC003",
                    "expected a rule or a section",
                    At(form, child),
                    "expected `(:process ..)` or another section",
                )
                continue
            head = section[0]
            if head == ":domain":
                if len(section) != 2 or not is_object_name(section[1]):
                    context.error("SC003", "`:domain` takes one name", At(section), "expected `(:domain name)`")
                elif section[1] != self.domain and mapping is None:
                    message = f"the specification is written for domain `{section[1]}`, this one is `{self.domain}`"
                    help = "unknown names below have this cause; a mapping binds the specification to another domain"
                    context.warning("SC705", message, At(section, 1), "another domain", help=help)
            elif head == ":extends":
                for position in range(1, len(section)):
                    self._extend(source, At(section, position), inherited, vocabularies, (*chain, name), definitions)
            elif head == ":vocabulary":
                vocabularies.append(Vocabulary(name, section))
            elif head == ":disable":
                disabled += [At(section, position) for position in range(1, len(section))]
            elif head == ":define":
                self._macro(section, macros, mapping)
            elif head == ":template":
                if not self._is_template(section):
                    context.error("SC003", "expected `(:template name ($p ..) rule ..)`", At(section), "not a template")
                elif isinstance(section[2], list):
                    templates[word(section[1])] = ([word(p) for p in section[2]], section[3:], At(section))
            elif head == ":apply":
                plain += self._apply(section, templates)
            elif head in _NAMED:
                plain.append(section)
            elif head == ":open":
                opened.append(section)
            elif head not in _SECTIONS:
                context.error(
                    "SC003",
                    f"unknown section `{head}`",
                    At(section, 0),
                    "not a section of a specification",
                    help=did_you_mean(head, _SECTIONS),
                )
        for at in disabled:
            wanted = at.node[at.child or 0]
            if not isinstance(wanted, str) or inherited.pop(wanted, None) is None:
                context.error(
                    "SC115",
                    f"no inherited rule is named `{word(wanted)}`",
                    at,
                    "nothing to disable",
                    help=did_you_mean(word(wanted), inherited),
                )
        for section in opened:
            for position in range(1, len(section)):
                self._opening(section[position], At(section, position), macros, mapping, source)
        rules.update(inherited)
        own: dict[str, At] = {}
        for rule in plain:
            if len(rule) < 2 or not is_object_name(rule[1]):
                context.error("SC003", "a rule needs a name", At(rule), f"expected `({rule[0]} name ..)`")
                continue
            rule_name = word(rule[1])
            if rule_name in own:
                context.error(
                    "SC105",
                    f"rule `{rule_name}` is declared twice",
                    At(rule, 1),
                    "again here",
                    other=(own[rule_name], "first here"),
                )
                continue
            own[rule_name] = At(rule, 1)
            self._named.add(rule_name)
            expanded = self._rule(rule, macros, mapping)
            rules[rule_name] = PlainRule(expanded, name, source.name)
        return definitions

    def _extend(
        self,
        source: Source,
        at: At,
        rules: dict[str, PlainRule],
        vocabularies: list[Vocabulary],
        chain: tuple[str, ...],
        definitions: Definitions,
    ) -> None:
        context = self.context
        wanted = at.node[at.child or 0]
        if not isinstance(wanted, str):
            context.error("SC003", "expected the name or path of a specification", at, "expected a name")
            return
        name = wanted[1:-1] if wanted.startswith('"') else wanted
        found = self.resolve(name, source) if self.resolve else None
        if found is None:
            context.error(
                "SC116", f"cannot find the specification `{name}`", at, "neither shipped nor a file beside this one"
            )
            return
        for form in self._forms(found):
            header = form[1]
            assert isinstance(header, list)
            if header[0] == "mapping":
                continue
            if word(header[1]) in chain or len(chain) > MAX_DEPTH:
                context.error(
                    "SC106",
                    f"specifications extend each other: {' -> '.join([*chain, word(header[1])])}",
                    at,
                    "a cycle",
                )
                continue
            theirs: dict[str, PlainRule] = {}
            inherited = self._specification(found, form, theirs, vocabularies, chain)
            self._merge(rules, theirs)
            definitions.templates.update(inherited.templates)
            definitions.macros.update(inherited.macros)

    # -- templates and macros -----------------------------------------------------------------------------------------

    def _apply(self, section: list[Node], templates: dict[str, tuple[list[str], list[Node], At]]) -> list[list[Node]]:
        context = self.context
        if len(section) < 3 or not is_name(section[1]) or not is_object_name(section[2]):
            context.error(
                "SC003", "expected `(:apply template rule-name argument ..)`", At(section), "not an application"
            )
            return []
        found = templates.get(word(section[1]))
        if found is None:
            context.error(
                "SC115",
                f"unknown template `{word(section[1])}`",
                At(section, 1),
                "not defined before this",
                help=did_you_mean(word(section[1]), templates),
            )
            return []
        parameters, body, at = found
        if len(section) - 3 != len(parameters):
            message = f"template `{section[1]}` takes {len(parameters)} arguments, not {len(section) - 3}"
            context.error("SC103", message, At(section), f"{len(section) - 3} given", other=(at, "defined here"))
            return []
        values: dict[str, Node] = dict(zip(parameters, section[3:], strict=True))
        values["$name"] = section[2]
        places = {name: At(section, child) for child, name in enumerate(["$name", *parameters], 2)}
        out = []
        for rule in body:
            made = self._copy(rule, values, places)
            assert isinstance(made, list)
            out.append(made)
            left = sorted([token for token in _tokens(made) if "$" in token and not token.startswith('"')])
            if left:
                message = f"`{left[0]}` names no parameter of template `{word(section[1])}`"
                context.error("SC115", message, At(section), "applied here", other=(at, "defined here"))
        return out

    def _copy(self, node: Node, values: dict[str, Node], places: dict[str, At]) -> Node:
        """A copy with tokens replaced by ``values``.

        Diagnostics about a replaced token point to its entry in ``places``.
        """
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise ExpansionTooLarge
        if isinstance(node, str):
            return values[node] if node in values else _filled(node, values)
        made: list[Node] = [self._copy(child, values, places) for child in node]
        self.context.made(made, At(node))
        for number, child in enumerate(node):
            if isinstance(child, str) and child in places:
                self.context.replaced[id(made), number] = places[child]
        return made

    def _is_template(self, section: list[Node]) -> bool:
        if len(section) < 4 or not is_name(section[1]) or not isinstance(section[2], list):
            return False
        parameters = [isinstance(p, str) and len(p) > 1 and p[0] == "$" for p in section[2]]
        rules = [isinstance(rule, list) and len(rule) > 0 and word(rule[0]) in RULE_KINDS for rule in section[3:]]
        return all(parameters) and all(rules)

    def _macro(self, section: list[Node], macros: dict[str, tuple[list[str], Node]], mapping: Mapping | None) -> None:
        if len(section) != 3 or not isinstance(section[1], list) or not section[1] or not is_name(section[1][0]):
            self.context.error("SC003", "expected `(:define (name ?x ..) formula)`", At(section), "not a definition")
            return
        entries = typed_list(self.context, section[1], 1, is_variable, "a variable")
        parameters = [entry.name for entry in entries]
        body = self._formula(section[2], macros, mapping)
        macros[word(section[1][0])] = (parameters, body)

    def _mapping(self, form: list[Node]) -> None:
        context = self.context
        wanted, mapping = read_mapping(context, form)
        if wanted is None:
            return
        if wanted in self._mappings:
            other = (self._mapping_at[wanted], "the first")
            message = f"two mappings bind `{wanted}`"
            context.error("SC105", message, At(form, 1), "the second", other=other, help="leave one of them out")
            return
        self._mappings[wanted] = mapping
        self._mapping_at[wanted] = At(form, 1)

    # -- rewriting ----------------------------------------------------------------------------------------------------

    def _rule(self, rule: list[Node], macros: dict[str, tuple[list[str], Node]], mapping: Mapping | None) -> list[Node]:
        if mapping is None and not (macros and _tokens(rule) & macros.keys()):
            return rule
        made: list[Node] = []
        more: list[Node] = []
        when: Node = []
        key: Node = ""
        for child in rule:
            if key in FORMULA_FIELDS:
                made.append(self._formula(child, macros, mapping))
            elif key in STEP_FIELDS:
                step, typed, guard = self._plain(word(key), self._step(child, mapping), child)
                made.append(step)
                more += [*typed, *_dropped(child, step, guard, rule)]
                when = guard or when
            elif key in ATOMS_FIELDS and isinstance(child, list):
                atoms = [self._counted(atom, At(child, at), macros, mapping) for at, atom in enumerate(child)]
                made.append(self._made(atoms, child))
            elif key == ":parameters":
                made.append(self._types(child, mapping))
            else:
                made.append(child)
            key = child if isinstance(child, str) else ""
        if more and ":parameters" in made[:-1]:
            at = made.index(":parameters") + 1
            declared = made[at]
            made[at] = self._made([*declared, *more], declared) if isinstance(declared, list) else declared
        elif more:
            made += [":parameters", self._made(more, rule)]
        if when and ":when" in made[:-1]:
            at = made.index(":when") + 1
            made[at] = self._made(["and", made[at], when], rule)
        elif when:
            made += [":when", when]
        return self._made(made, rule)

    def _opening(
        self, entry: Node, at: At, macros: dict[str, tuple[list[str], Node]], mapping: Mapping | None, source: Source
    ) -> None:
        """An element of ``(:open ..)``."""
        if not isinstance(entry, list) or not entry or not is_name(entry[0]) or entry[0] in RESERVED:
            message = "expected a predicate to leave open"
            self.context.error("SC003", message, at, "expected `(name ?x - type ..)`")
            return
        places = {token: place for place, token in enumerate(entry) if place and is_variable(token)}
        named: list[Node] = [entry[0], *[token for token in _untyped(entry[1:]) if is_variable(token)]]
        atom = self._made(named, entry)
        for child, token in enumerate(named[1:], 1):
            self.context.replaced[id(atom), child] = At(entry, places[word(token)])
        mapped = self._counted(atom, at, macros, mapping)
        typed = self._types(entry, mapping)
        if isinstance(mapped, list) and mapped and isinstance(typed, list):
            self._openings.append(PlainOpening(typed, mapped, source.name))

    def _counted(self, atom: Node, at: At, macros: dict[str, tuple[list[str], Node]], mapping: Mapping | None) -> Node:
        """An atom where no other formula can stand; ``()`` after a diagnostic."""
        errors = self.context.errors
        made = self._formula(atom, macros, mapping)
        head = atom[0] if isinstance(atom, list) and atom else None
        if not isinstance(head, str) or not (head in macros or (mapping is not None and head in mapping.atoms)):
            return made
        if self.context.errors == errors and not (isinstance(made, list) and made and is_name(made[0])):
            made = ["or"]
        if self.context.errors == errors and isinstance(made, list) and made[0] in RESERVED:
            message = f"`{head}` stands for a formula here, but only a fact can be left open or counted"
            help = "bind it to a single predicate, or leave its predicates open one by one"
            self.context.error("SC120", message, at, "mapped to a formula", help=help)
        return made if self.context.errors == errors else []

    def _made(self, made: list[Node], origin: list[Node]) -> list[Node]:
        self.context.made(made, At(origin))
        self._nodes += len(made)
        if self._nodes > MAX_NODES:
            raise ExpansionTooLarge
        return made

    def _formula(self, node: Node, macros: dict[str, tuple[list[str], Node]], mapping: Mapping | None) -> Node:
        if not isinstance(node, list) or not node:
            return node
        head = node[0]
        if head in ("forall", "exists") and len(node) == 3:
            return self._made([head, self._types(node[1], mapping), self._formula(node[2], macros, mapping)], node)
        if head in ("action", "action-end", "action-during") and len(node) == 2:
            return self._actions(word(head), node, mapping)
        rest: list[Node] = [
            self._formula(child, macros, mapping) if isinstance(child, list) else self._name(child, mapping)
            for child in node[1:]
        ]
        if isinstance(head, str):
            replacement = macros.get(head)
            if replacement is None and mapping is not None:
                replacement = mapping.atoms.get(head)
            if replacement is not None:
                return self._instantiate(node, rest, replacement)
            if mapping is not None and not {("predicate", head), ("function", head)}.isdisjoint(mapping.nothing):
                return self._made([lacking(head), *rest], node)
        return self._made([head, *rest], node)

    def _instantiate(self, node: list[Node], arguments: list[Node], replacement: tuple[list[str], Node]) -> Node:
        parameters, body = replacement
        if len(parameters) != len(arguments):
            message = f"`{node[0]}` takes {len(parameters)} arguments, not {len(arguments)}"
            self.context.error("SC103", message, At(node), f"{len(arguments)} given")
            return self._made(["and"], node)
        self._serial += 1
        values: dict[str, Node] = dict(zip(parameters, arguments, strict=True))
        for name in _bound(body):
            values.setdefault(name, f"{name}~{self._serial}")
        return self._copy(body, values, {name: At(node, child) for child, name in enumerate(parameters, 1)})

    def _name(self, token: Node, mapping: Mapping | None) -> Node:
        return mapping.constant(token) if mapping is not None and isinstance(token, str) else token

    def _types(self, node: Node, mapping: Mapping | None) -> Node:
        if mapping is None or not isinstance(node, list):
            return node
        made: list[Node] = []
        after_dash = False
        for child in node:
            if after_dash and isinstance(child, str):
                made.append(mapping.type(child))
            elif after_dash and isinstance(child, list):
                flat: list[Node] = []
                there = [kind for kind in child if isinstance(kind, list) or ("type", kind) not in mapping.nothing]
                for alternative in there if len(there) > 1 else child:  # beside `either`, what the domain has at all
                    new = mapping.type(alternative) if isinstance(alternative, str) else alternative
                    flat.extend(new[1:] if isinstance(new, list) else [new])
                made.append(self._made(flat, child))
            else:
                made.append(child)
            after_dash = child == "-"
        return self._made(made, node)

    def _step(self, node: Node, mapping: Mapping | None) -> Node:
        if mapping is None or not isinstance(node, list) or not node:
            return node
        if node[0] == "or":
            flat: list[Node] = ["or"]
            taken = [child for child in node[1:] if not _is_lacking(child, mapping)]
            for child in taken or node[1:]:  # a step that never happens in this domain
                made = self._step(child, mapping)
                flat.extend(made[1:] if isinstance(made, list) and made and made[0] == "or" else [made])
            return self._made(flat, node)
        rest = [self._name(child, mapping) for child in node[1:]]
        found = mapping.steps.get(word(node[0]))
        if found is None:
            return self._made([lacking(word(node[0])) if _is_lacking(node, mapping) else node[0], *rest], node)
        parameters, body = found
        if len(parameters) != len(rest):
            self.context.error(
                "SC103",
                f"`{node[0]}` takes {len(parameters)} arguments, not {len(rest)}",
                At(node),
                f"{len(rest)} given",
            )
            return node
        self._serial += 1
        values: dict[str, Node] = dict(zip(parameters, rest, strict=True))
        for name in _bound(body):
            values.setdefault(name, f"{name}~{self._serial}")
        anything: list[Node] = []
        for name in parameters if "when" in _tokens(body) else ():
            if values[name] == "_":  # whatever it is, the condition speaks of the same
                values[name] = f"{name}~{self._serial}"
                anything += [values[name], "-", "object"]
        made = self._copy(body, values, {name: At(node, child) for child, name in enumerate(parameters, 1)})
        return self._made(["exists", self._made(anything, node), made], node) if anything else made

    def _plain(self, field: str, step: Node, origin: Node) -> tuple[Node, list[Node], Node]:
        """A step of a rule without ``exists`` and ``when``: the step, typed variables, and a condition for ``:when``.

        If alternatives differ in what stands around them, the condition says which one is taken how.
        """
        cases = _cases(step)
        if not isinstance(origin, list) or not any([typed or conditions for typed, conditions, _ in cases]):
            return step, [], []

        def made(*parts: Node) -> list[Node]:
            return self._made(list(parts), origin)

        around = [write([typed, conditions]) for typed, conditions, _ in cases]
        if around.count(around[0]) == len(around):
            typed, conditions, _ = cases[0]
            steps: list[Node] = [plain for _, _, plain in cases]
            guard: Node = made("and", *conditions) if conditions else []
            return steps[0] if len(steps) == 1 else made("or", *steps), typed, guard
        taken: list[Node] = []
        steps = []
        for typed, conditions, plain in cases:
            body = made("and", *conditions, made(_TAKEN[field], plain))
            taken.append(made("exists", made(*typed), body) if typed else body)
            bound = _untyped(typed)
            steps.append(made(*["_" if t in bound else t for t in plain]) if isinstance(plain, list) else plain)
        return made("or", *steps), [], made("or", *taken)

    def _actions(self, head: str, node: list[Node], mapping: Mapping | None) -> Node:
        return self._taken(head, self._step(node[1], mapping), node)

    def _taken(self, head: str, step: Node, node: list[Node]) -> Node:
        """The formula that a step is taken."""
        if isinstance(step, list) and step and step[0] == "or":
            return self._made(["or", *[self._taken(head, child, node) for child in step[1:]]], node)
        if isinstance(step, list) and len(step) == 3 and step[0] == "exists":
            return self._made(["exists", step[1], self._taken(head, step[2], node)], node)
        if isinstance(step, list) and len(step) == 3 and step[0] == "when":
            return self._made(["and", step[1], self._taken(head, step[2], node)], node)
        return self._made([head, step], node)


_TAKEN = {":on": "action", ":at-end": "action-end", ":during": "action-during"}


def _cases(step: Node) -> list[tuple[list[Node], list[Node], Node]]:
    """The alternatives of a mapped step: the typed variables and the conditions around each, and the step itself."""
    out = []
    stack: list[tuple[list[Node], list[Node], Node]] = [([], [], step)]
    while stack:
        typed, conditions, node = stack.pop()
        head = node[0] if isinstance(node, list) and node else None
        if not isinstance(node, list) or head not in ("or", "exists", "when") or (head != "or" and len(node) != 3):
            out.append((typed, conditions, node))
        elif head == "or":
            stack.extend([(typed, conditions, child) for child in reversed(node[1:])])
        elif head == "exists":
            stack.append(([*typed, *(node[1] if isinstance(node[1], list) else [])], conditions, node[2]))
        else:
            stack.append((typed, [*conditions, node[1]], node[2]))
    return out


def _dropped(step: Node, mapped: Node, guard: Node, rule: list[Node]) -> list[Node]:
    """Variables of a step that only the condition of its mapping speaks of: parameters, unless they are declared."""
    named = rule[rule.index(":parameters") + 1] if ":parameters" in rule[:-1] else []
    gone = (_tokens(guard) & _tokens(step)) - _tokens(mapped) - _tokens(named)
    return [word for name in sorted(gone) if is_variable(name) for word in (name, "-", "object")]


def _is_lacking(step: Node, mapping: Mapping) -> bool:
    """Whether the mapping says that the domain has nothing for a step."""
    return isinstance(step, list) and len(step) > 0 and ("action", word(step[0])) in mapping.nothing


def _filled(token: str, values: dict[str, Node]) -> str:
    """A token with template parameters inside it (``left-$name``) replaced, the longest first; strings stay."""
    if "$" not in token or token.startswith('"'):
        return token
    for name in sorted(values, key=len, reverse=True):
        value = values[name]
        if name.startswith("$") and isinstance(value, str):
            token = token.replace(name, value)
    return token


def _untyped(nodes: list[Node]) -> list[Node]:
    out: list[Node] = []
    skip = False
    for node in nodes:
        if skip:
            skip = False
        elif node == "-":
            skip = True
        else:
            out.append(node)
    return out


def _bound(node: Node) -> set[str]:
    """The variables that quantifiers in a formula bind."""
    out: set[str] = set()
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            if len(part) == 3 and part[0] in ("forall", "exists") and isinstance(part[1], list):
                out.update([word(token) for token in _untyped(part[1])])
            stack.extend(part)
    return out


def _tokens(node: Node) -> set[str]:
    out: set[str] = set()
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack.extend(part)
        else:
            out.add(part)
    return out
