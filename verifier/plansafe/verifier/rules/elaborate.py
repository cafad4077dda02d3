"""From the tree of a plain rule to a typed rule with its parts; and constraints of PDDL as rules."""

from __future__ import annotations

from plansafe.grammar.sexpr import Node
from plansafe.verifier.compile.normal import negate
from plansafe.verifier.elaborate.conditions import (
    ACTION_ATOMS,
    ARITHMETIC,
    COMPARISONS,
    Conditions,
    Scope,
    Symbols,
    parse_number,
)
from plansafe.verifier.elaborate.context import At, did_you_mean, is_name, is_object_name, is_variable, word
from plansafe.verifier.elaborate.domain import read_fields, value_of
from plansafe.verifier.elaborate.task import Constraint
from plansafe.verifier.elaborate.types import typed_list
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import TRUE, And, Atom, Formula, Not, Or, Quantified, Temporal, Variable
from plansafe.verifier.rules.bindings import check_mappings
from plansafe.verifier.rules.expanded import ATOMS_FIELDS, FORMULA_FIELDS, Expanded, PlainRule
from plansafe.verifier.rules.mapping import Mapping, Name, lacking
from plansafe.verifier.rules.model import Match, Part, Rule
from plansafe.verifier.rules.narrow import narrowed
from plansafe.verifier.rules.open import open_predicate, world_invariant
from plansafe.verifier.rules.split import PAST_OPERATORS, mode_of, required

META = (":hazard", ":target", ":severity", ":message", ":rationale", ":fix")
FIELDS = {
    ":process": (
        ":parameters",
        ":on",
        ":at-end",
        ":during",
        ":when",
        ":forbid",
        ":require",
        ":forbid-after",
        ":require-after",
        *META,
    ),
    ":trajectory": (":parameters", ":formula", *META),
    ":termination": (":parameters", ":when", ":forbid", ":require", *META),
    ":obligation": (":parameters", ":when", ":then", ":within", *META),
}
STEP_KINDS = {":on": "start", ":at-end": "end", ":during": "during"}
SEVERITIES = ("critical", "high", "medium", "low")
TARGETS = ("human", "animal", "robot", "property", "environment")
MAX_TEMPORAL_DEPTH = 200
_SAID = frozenset(("step", "rule"))  # what a rule may lack beside words; the mapping has said so
TOP_OPERATORS = frozenset(
    ("at-end", "within", "at-most-once", "sometime-before", "always-within", "hold-during", "hold-after")
)


class Rules:
    """Elaborates rules; ``rules`` are numbered in the order in which they come."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.context = symbols.context
        self.rules: list[Rule] = []
        self.openings: list[model.OpenPredicate] = []
        self.invariants: list[model.WorldInvariant] = []

    # -- constraints --------------------------------------------------------------------------------------------------

    def constraints(self, constraints: tuple[Constraint, ...]) -> None:
        """Add the constraints of domain and problem."""
        number = 0
        for constraint in constraints:
            name = constraint.preference
            if name is None:
                number += 1
                name = f"constraint-{number}"
            source = self.context.label(constraint.at).source
            if not self._temporal_shape(constraint.formula, constraint.at):
                continue
            parts = self._whole(constraint.formula, constraint.variables)
            self.rules.append(
                Rule(
                    name,
                    "constraint",
                    parts,
                    constraint.variables,
                    (),
                    constraint.at,
                    source,
                    constraint.preference is not None,
                )
            )

    # -- rules of specifications --------------------------------------------------------------------------------------

    def specifications(self, expanded: Expanded) -> None:
        """Add the rules of specifications, what they leave open, and their invariants.

        Rules that need vocabulary which the domain lacks are kept as not applicable; the others are left out.
        """
        errors = self.context.errors
        check_mappings(self.symbols, expanded)
        if self.context.errors > errors:
            return  # every rule that uses the entry would say it again
        missing = self._missing(expanded)
        known: dict[str, int] = {}
        for number, rule in enumerate(expanded.rules):
            needed = sorted(_mentioned(rule.node) & missing.keys())
            lacks = [(kind, name.removeprefix("~")) for kind, name in needed]
            mapping = expanded.mapping(rule.specification)
            if mapping is not None and not lacks:
                rule, lost = narrowed(self.symbols, rule)
                expanded.rules[number] = rule  # the kernel shall read what is checked
                lacks += [] if lost is None else [lost]
                reason = mapping.without.get(word(rule.node[1]))
                lacks += [] if lacks or reason is None else [("rule", reason[0])]
            if lacks:
                name = word(rule.node[1])
                if mapping is not None and mapping.nothing.issuperset([x for x in lacks if x[0] not in _SAID]):
                    known[rule.specification] = known.get(rule.specification, 0) + 1
                else:
                    needs = ", ".join([f"{kind} `{lack}`" for kind, lack in lacks])
                    self.context.warning(
                        "SC702",
                        f"rule `{name}` is not applicable: this domain has no {needs}",
                        At(rule.node, 1),
                        "not checked",
                        help="bind it with a mapping",
                    )
                self.rules.append(
                    Rule(
                        name,
                        word(rule.node[0])[1:],
                        (),
                        (),
                        (),
                        At(rule.node),
                        rule.source,
                        hazard=next(iter(_said(rule.node, ":hazard")), None),
                        targets=_said(rule.node, ":target"),
                        applicable=False,
                        lacks=tuple(lacks),
                    )
                )
            else:
                self._rule(rule)
        for binding in expanded.bindings:
            count = sum([known.get(specification, 0) for specification in binding.serves])
            if count:
                rules = "1 rule is" if count == 1 else f"{count} rules are"
                message = f"{rules} not applicable: the mapping says that this domain has nothing for what they need"
                self.context.note("SC702", message, binding.at, "this mapping")
        opened: dict[object, model.OpenPredicate] = {}
        for opening in expanded.openings:
            lacking: set[Name] = set()
            _types(opening.typed, lacking)
            _formula(opening.atom, lacking)
            if not self._lacks(lacking, missing, f"nothing of `{opening.typed[0]}` is open", At(opening.typed)):
                found = open_predicate(self.symbols, opening)
                if found is not None:
                    opened.setdefault(found[:3], found)
        self.openings += opened.values()
        for plain in expanded.invariants:
            name = word(plain.node[1])
            if not self._lacks(_mentioned(plain.node), missing, f"invariant `{name}` says nothing", At(plain.node, 1)):
                invariant = world_invariant(self.symbols, plain.node)
                if invariant is not None:
                    self.invariants.append(invariant)

    def _lacks(self, mentioned: set[Name], missing: dict[Name, At], what: str, at: At) -> bool:
        """Whether something needs vocabulary that is missing; then a warning says so."""
        lacks = sorted(mentioned & missing.keys())
        if lacks:
            needs = ", ".join([f"{kind} `{lack.removeprefix('~')}`" for kind, lack in lacks])
            message = f"{what}: this domain has no {needs}"
            self.context.warning("SC702", message, at, "left out", help="bind it with a mapping")
        return bool(lacks)

    def _missing(self, expanded: Expanded) -> dict[Name, At]:
        """Vocabulary that neither the domain nor a mapping has.

        What the domain has is compared with its declaration.
        """
        symbols = self.symbols
        missing: dict[Name, At] = {}
        for vocabulary in expanded.vocabularies:
            mapping = expanded.mapping(vocabulary.specification)
            for section in vocabulary.node[1:]:
                if not isinstance(section, list) or not section:
                    self.context.error(
                        "SC003", "expected a section such as `(:predicates ..)`", At(vocabulary.node), "not vocabulary"
                    )
                    continue
                head = section[0]
                if head in (":types", ":constants"):
                    known = symbols.types.index if head == ":types" else symbols.object_index
                    kind = "type" if head == ":types" else "constant"
                    for entry in typed_list(self.context, section, 1, is_object_name, "a name"):
                        bound = _bound(mapping, (kind, entry.name))
                        if bound is False:
                            missing[kind, lacking(entry.name)] = entry.at
                        elif bound is None and entry.name not in known:
                            missing[kind, entry.name] = entry.at
                elif head in (":predicates", ":functions", ":actions"):
                    for child in range(1, len(section)):
                        self._needed(word(head), section[child], At(section, child), mapping, missing)
                else:
                    self.context.error(
                        "SC003",
                        f"`{word(head)}` is not a section of a vocabulary",
                        At(section, 0),
                        "expected `:types`, `:constants`, `:predicates`, `:functions` or `:actions`",
                    )
        for (kind, name), at in missing.items():
            if name.startswith("~"):
                continue  # a mapping has said so
            self.context.warning(
                "SC120",
                f"the specification needs the {kind} `{name}`, which the domain does not have",
                at,
                "not bound",
                help="bind it with a mapping",
            )
        return missing

    def _needed(self, section: str, entry: Node, at: At, mapping: Mapping | None, missing: dict[Name, At]) -> None:
        symbols = self.symbols
        if not isinstance(entry, list) or not entry or not is_name(entry[0]):
            self.context.error("SC003", "expected `(name ?x - type ..)`", at, "not a declaration")
            return
        name = word(entry[0])
        kind = section[1:-1]
        bound = _bound(mapping, (kind, name))
        if bound is not None:
            if not bound:
                missing[kind, lacking(name)] = At(entry, 0)
            return
        declared: model.Predicate | None = None
        arity: int | None = None
        if section == ":actions":
            arity = len(symbols.parameter_types[name]) if name in symbols.parameter_types else None
        else:
            index = symbols.predicate_index if section == ":predicates" else symbols.function_index
            if name in index:
                declared = (symbols.predicates if section == ":predicates" else symbols.functions)[index[name]]
                arity = len(declared.types)
        if arity is None:
            missing[kind, name] = At(entry, 0)
            return
        wanted = len(typed_list(self.context, entry, 1, is_variable, "a variable"))
        if wanted != arity:
            other = (
                (At(declared.node), "declared here")
                if declared is not None and isinstance(declared.node, list)
                else None
            )
            self.context.error(
                "SC120",
                f"the specification needs `{name}` with {wanted} arguments, the domain has {arity}",
                at,
                "does not fit",
                other=other,
            )

    def _rule(self, plain: PlainRule) -> None:
        context, node = self.context, plain.node
        kind = word(node[0])
        fields = read_fields(context, node, 2, FIELDS[kind], f"a {kind[1:]} rule")
        scope = Scope()
        conditions = Conditions(self.symbols, scope, "rules")
        errors = context.errors
        declared = (
            list(conditions.bind(value_of(fields[":parameters"]), fields[":parameters"]))
            if ":parameters" in fields
            else []
        )
        matches: list[Formula] = []
        if kind == ":process":
            matches = self._steps(fields, conditions, declared)
        formulas = {
            key: conditions.formula(value_of(at), at)
            for key, at in fields.items()
            if key in (":when", ":forbid", ":require", ":forbid-after", ":require-after", ":formula", ":then")
        }
        for key, formula in formulas.items():
            past = kind != ":trajectory"
            if not self._stratified(formula, fields[key], past):
                return
            if not past and not self._temporal_shape(formula, fields[key]):
                return
        within = None
        if ":within" in fields:
            within = parse_number(value_of(fields[":within"]))
            if within is None:
                context.error("SC003", "`:within` takes a number", fields[":within"], "expected a number")
        self._needs(kind, node, fields)
        self._message(fields, scope)
        meta = self._meta(fields)
        if context.errors > errors:
            return
        parameters = tuple(declared)
        number = len(self.rules)
        parts: list[Part] = []
        if kind == ":trajectory":
            parts += self._whole(formulas[":formula"], parameters)
        elif kind == ":obligation":
            operands = (formulas[":when"], formulas[":then"])
            answer: Formula = (
                Temporal("sometime-after", operands)
                if within is None
                else Temporal("always-within", operands, (within,))
            )
            parts.append(Part(number, parameters, "whole", answer))
        else:
            guard = formulas.get(":when", TRUE)
            before = _both(formulas.get(":require"), formulas.get(":forbid"))
            after = _both(formulas.get(":require-after"), formulas.get(":forbid-after"))
            if not matches:
                mode = "always" if kind == ":process" else "end"
                parts += [Part(number, p, mode, _guarded(guard, body)) for p, body in required(before, parameters)]
            for step in matches:
                for body, is_after in ((before, False), (after, True)):
                    parts += [
                        Part(number, p, "each", b, step, None if guard is TRUE else guard, is_after)
                        for p, b in required(body, parameters)
                    ]
        open_slots = [(v, len(self.symbols.types.domains[v.domain])) for v in parameters]
        found = []
        for step in matches:
            atom = step.body if isinstance(step, Quantified) else step
            assert isinstance(atom, Atom)
            used = {-1 - a for a in atom.arguments if a < 0}
            factor = 1
            for bound, size in open_slots:
                factor *= 1 if bound.slot in used else size
            found.append(Match(atom, factor))
        self.rules.append(
            Rule(word(node[1]), kind[1:], tuple(parts), parameters, tuple(found), At(node), plain.source, False, *meta)
        )

    def _steps(self, fields: dict[str, At], conditions: Conditions, declared: list[Variable]) -> list[Formula]:
        """The steps of ``:on``, ``:at-end`` or ``:during``.

        Variables seen here first become parameters typed as the action's.
        """
        given = [key for key in STEP_KINDS if key in fields]
        if len(given) > 1:
            self.context.error(
                "SC003", f"`{given[1]}` beside `{given[0]}`", fields[given[1]], "a rule is about one kind of step"
            )
            return []
        if not given:
            return []
        at = fields[given[0]]
        value = value_of(at)
        steps: list[tuple[Node, At]] = [(value, at)]
        if isinstance(value, list) and value and value[0] == "or":
            steps = [(value[child], At(value, child)) for child in range(1, len(value))]
        implicit = self._implicit([step for step, _ in steps], conditions, declared)
        out: list[Formula] = []
        for step, where in steps:
            formula = conditions.action_atom(step, where, STEP_KINDS[given[0]], implicit)
            if isinstance(formula, Atom | Quantified):
                out.append(formula)
        if not out and not self.context.errors:
            self.context.error("SC003", "`or` without steps", at, "expected steps")
        return out

    def _implicit(self, steps: list[Node], conditions: Conditions, declared: list[Variable]) -> frozenset[str]:
        """Bind the variables that are first seen in steps, each with the types that the actions give it."""
        found: dict[str, set[int]] = {}
        places: dict[str, At] = {}
        for step in steps:
            if not isinstance(step, list) or not step or not isinstance(step[0], str):
                continue
            types = self.symbols.parameter_types.get(step[0], ())
            for child in range(1, min(len(step), len(types) + 1)):
                token = step[child]
                if is_variable(token) and token not in conditions.scope.visible:
                    found.setdefault(word(token), set()).update(types[child - 1])
                    places.setdefault(word(token), At(step, child))
        for name, alternatives in found.items():
            union = (0,) if 0 in alternatives else tuple(sorted(alternatives))
            bound = Variable(len(conditions.scope.slots), self.symbols.types.domain(union), name)
            conditions.scope.slots.append(bound)
            conditions.scope.visible[name] = (bound.slot, union, places[name])
            declared.append(bound)
        return frozenset(found)

    def _message(self, fields: dict[str, At], scope: Scope) -> None:
        """Variables in messages must be variables of the rule."""
        names = {v.name for v in scope.slots}
        for key in (":message", ":fix"):
            text = value_of(fields[key]) if key in fields else None
            for piece in text.split("{")[1:] if isinstance(text, str) else []:
                name = piece.partition("}")[0]
                if name.startswith("?") and name.lower() not in names:
                    help = did_you_mean(name, names)
                    message = f"variable `{name}` is not bound in this rule"
                    self.context.error("SC107", message, fields[key], "in this text", help=help)

    def _needs(self, kind: str, node: list[Node], fields: dict[str, At]) -> None:
        context = self.context
        if kind == ":trajectory" and ":formula" not in fields:
            context.error("SC003", "a trajectory rule needs `:formula`", At(node, 1), "what must hold?")
        elif kind == ":obligation":
            for key in (":when", ":then"):
                if key not in fields:
                    context.error(
                        "SC003", f"an obligation needs `{key}`", At(node, 1), "when does it arise, and what fulfils it?"
                    )
        elif kind in (":process", ":termination"):
            keys = (":forbid", ":require", ":forbid-after", ":require-after")
            if not any([key in fields for key in keys]):
                context.error(
                    "SC003", "the rule forbids and requires nothing", At(node, 1), "expected `:forbid` or `:require`"
                )
            for key in keys[2:]:
                if key in fields and not any([step in fields for step in STEP_KINDS]):
                    context.error(
                        "SC003", f"`{key}` needs a step", fields[key], "after which step?", help="add `:on (action ..)`"
                    )

    def _meta(
        self, fields: dict[str, At]
    ) -> tuple[str | None, tuple[str, ...], str, str | None, str | None, str | None]:
        context = self.context
        hazard = self._token(fields, ":hazard")
        if hazard is not None and not is_object_name(hazard):
            context.error("SC003", f"`{hazard}` does not name a hazard", fields[":hazard"], "expected a name")
        severity = self._token(fields, ":severity") or "high"
        if severity not in SEVERITIES:
            context.error(
                "SC003",
                f"unknown severity `{severity}`",
                fields[":severity"],
                f"one of {', '.join(SEVERITIES)}",
                help=did_you_mean(severity, SEVERITIES),
            )
        targets: tuple[str, ...] = ()
        if ":target" in fields:
            value = value_of(fields[":target"])
            targets = tuple([word(t) for t in (value if isinstance(value, list) else [value])])
            for target in targets:
                if target not in TARGETS:
                    context.error(
                        "SC003",
                        f"unknown target of harm `{target}`",
                        fields[":target"],
                        f"one of {', '.join(TARGETS)}",
                        help=did_you_mean(target, TARGETS),
                    )
        texts = []
        for key in (":message", ":rationale", ":fix"):
            text = self._token(fields, key)
            if text is not None and not text.startswith('"'):
                context.error("SC003", f"`{key}` takes a string", fields[key], 'expected `".."`')
            texts.append(None if text is None else text[1:-1].replace('\\"', '"').replace("\\\\", "\\"))
        return hazard, targets, severity, texts[0], texts[1], texts[2]

    def _token(self, fields: dict[str, At], key: str) -> str | None:
        if key not in fields:
            return None
        value = value_of(fields[key])
        if isinstance(value, str):
            return value
        self.context.error("SC003", f"`{key}` takes one word", fields[key], "expected a word, found a list")
        return None

    # -- formulas -----------------------------------------------------------------------------------------------------

    def _whole(self, formula: Formula, parameters: tuple[Variable, ...]) -> tuple[Part, ...]:
        out = []
        for own, body in required(formula, parameters):
            mode, inner = mode_of(body)
            out.append(Part(len(self.rules), own, mode, inner))
        return tuple(out)

    def _stratified(self, formula: Formula, at: At, past: bool) -> bool:
        """No future operator below a past one; in all rules but trajectories none at all."""
        depth_first: list[tuple[Formula, bool, int]] = [(formula, past, 0)]
        while depth_first:
            part, only_past, depth = depth_first.pop()
            if depth > MAX_TEMPORAL_DEPTH:
                self.context.error(
                    "SC004", f"temporal operators nested deeper than {MAX_TEMPORAL_DEPTH}", at, "too deep"
                )
                return False
            match part:
                case Temporal():
                    if only_past and part.operator not in PAST_OPERATORS:
                        code = "SC113" if not past else "SC112"
                        where = "below a past operator" if not past else "in this kind of rule"
                        self.context.error(
                            code,
                            f"the future operator `{part.operator}` is not allowed {where}",
                            at,
                            "state and past formulas only",
                            help="use a `:trajectory` rule" if past else None,
                        )
                        return False
                    below = only_past or part.operator in PAST_OPERATORS or part.operator in TOP_OPERATORS
                    depth_first += [(p, below, depth + 1) for p in part.operands]
                case Not() | Quantified():
                    depth_first.append((part.body, only_past, depth))
                case And() | Or():
                    depth_first += [(p, only_past, depth) for p in part.parts]
                case _:
                    pass
        return True

    def _temporal_shape(self, formula: Formula, at: At) -> bool:
        """The operators that look at the whole trace stand at the top."""
        stack: list[tuple[Formula, bool]] = [(formula, True)]
        while stack:
            part, top = stack.pop()
            match part:
                case Temporal():
                    if part.operator in TOP_OPERATORS and not top:
                        name = part.operator.replace("at-end", "at end")
                        self.context.error(
                            "SC112",
                            f"`{name}` looks at the whole trace and may not stand below a temporal operator",
                            at,
                            f"`{name}` is too deep in this formula",
                        )
                        return False
                    stack += [(p, False) for p in part.operands]
                case Not() | Quantified():
                    stack.append((part.body, top))
                case And() | Or():
                    stack += [(p, top) for p in part.parts]
                case _:
                    pass
        return True


def _bound(mapping: Mapping | None, name: Name) -> bool | None:
    """Whether a mapping gives a name a meaning; ``None`` if it does not say, and the domain may have the name."""
    if mapping is None or name not in mapping.entries:
        return None
    return name not in mapping.nothing


def _both(require: Formula | None, forbid: Formula | None) -> Formula:
    parts = [part for part in (require, None if forbid is None else negate(forbid)) if part is not None]
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _guarded(guard: Formula, body: Formula) -> Formula:
    return body if guard is TRUE else Or((negate(guard), body))


def _mentioned(rule: list[Node]) -> set[Name]:
    """The names that a rule uses, by name space."""
    out: set[Name] = set()
    for child in range(2, len(rule) - 1):
        key, value = rule[child], rule[child + 1]
        if not isinstance(value, list) or not isinstance(key, str):
            continue
        if key == ":parameters":
            _types(value, out)
        elif key in STEP_KINDS:
            for step in value[1:] if value and value[0] == "or" else [value]:
                _step(step, out)
        elif key in FORMULA_FIELDS:
            _formula(value, out)
        elif key in ATOMS_FIELDS:
            for atom in value:
                _formula(atom, out)
    return out


def _said(rule: list[Node], key: str) -> tuple[str, ...]:
    """The names behind a keyword of a rule that is not elaborated, for those who count rules."""
    if key not in rule[:-1]:
        return ()
    value = rule[rule.index(key) + 1]
    return tuple([part for part in (value if isinstance(value, list) else [value]) if isinstance(part, str)])


def _types(typed: Node, out: set[Name]) -> None:
    after_dash = False
    for token in typed if isinstance(typed, list) else []:
        if after_dash:
            out.update([("type", word(t)) for t in (token if isinstance(token, list) else [token])])
        after_dash = token == "-"


def _step(step: Node, out: set[Name]) -> None:
    if isinstance(step, list) and step:
        out.add(("action", word(step[0])))
        out.update([("constant", word(t)) for t in step[1:]])


def _formula(formula: Node, out: set[Name]) -> None:
    stack: list[tuple[Node, bool]] = [(formula, False)]
    while stack:
        part, number = stack.pop()
        if not isinstance(part, list) or not part or not isinstance(part[0], str):
            continue
        head = part[0]
        if head in ("forall", "exists") and len(part) == 3:
            _types(part[1], out)
            stack.append((part[2], False))
        elif head in ACTION_ATOMS and len(part) == 2:
            _step(part[1], out)
        else:
            out.add(("function" if number else "predicate", head))
            out.update([("constant", t) for t in part[1:] if isinstance(t, str)])
            numeric = head in COMPARISONS or head in ARITHMETIC
            stack += [(child, numeric) for child in part[1:]]
