"""Elaborate the trees of plain rules into typed rules with parts; also make rules of PDDL constraints."""

from __future__ import annotations

from math import prod
from typing import cast

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import with_article
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node, parse_number
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Context, Place, format_token, is_variable
from plansafe.verifier.elaborate.sections import read_fields
from plansafe.verifier.elaborate.symbols import Scope, Symbols
from plansafe.verifier.elaborate.task import TaskConstraint
from plansafe.verifier.elaborate.types import TypedName
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import TRUE, And, Atom, Formula, Or, Quantified, Temporal, Variable
from plansafe.verifier.model.operations import PAST_OPERATORS, TRACE_OPERATORS, children, negate
from plansafe.verifier.rules.expanded_specs import (
    FORMULA_FIELDS,
    ExpandedSpecs,
    OpenDeclaration,
    PlainRule,
    find_step_connective,
)
from plansafe.verifier.rules.fields import (
    FIELDS,
    check_required_fields,
    check_text_variables,
    find_field_words,
    read_metadata,
)
from plansafe.verifier.rules.impossible_steps import find_impossible_step, is_vacuous, remove_impossible_steps
from plansafe.verifier.rules.mapping import Mapping, WordName
from plansafe.verifier.rules.mapping_check import check_mappings
from plansafe.verifier.rules.model import PartMode, Rule, RuleKind, RulePart, StepPattern, find_action_atom
from plansafe.verifier.rules.open_predicates import elaborate_invariant, elaborate_open_predicate
from plansafe.verifier.rules.optional_words import find_optional_words, remove_words
from plansafe.verifier.rules.rule_conjuncts import find_required_conjuncts, make_trajectory_part
from plansafe.verifier.rules.vocabulary import (
    find_missing_words,
    find_names_in_formula,
    find_names_in_rule,
    find_names_in_types,
    warn_if_missing,
)

MAX_TEMPORAL_DEPTH = 200
"""Maximum nesting of temporal operators in a rule."""
MISFIT = "its vocabulary does not fit the types of this domain"
VACUOUS = "it cannot be violated: this domain has no objects or steps that could violate it"
STEP_KINDS = {":on": "start", ":at-end": "end", ":during": "during"}
"""The phase of an action that each field with steps is about."""
_FORMULA_FIELDS = FORMULA_FIELDS - {":holds"}
"""The fields of rules that have a formula; invariants are elaborated elsewhere."""


class _Inapplicability(NamedTuple):
    """The reason why a rule is not applicable: see ``missing_names`` and ``exclusion_reason`` of :class:`Rule`."""

    missing_names: tuple[WordName, ...] = ()
    exclusion_reason: str | None = None

    def follows_from(self, mapping: Mapping | None) -> bool:
        """Whether a mapping excludes the rule, or declares that the domain has nothing for its missing words."""
        words = [word for word in self.missing_names if word[0] != "step"]
        return self.exclusion_reason is not None or (mapping is not None and mapping.empty_words.issuperset(words))


class RuleElaborator:
    """Elaborates rules; they are numbered by their place in ``rules``."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.context = symbols.context
        self.rules: list[Rule] = []
        self.openings: list[model.OpenPredicate] = []
        self.invariants: list[model.WorldInvariant] = []

    def elaborate_constraints(self, constraints: tuple[TaskConstraint, ...]) -> None:
        """Add the constraints of domain and problem."""
        number = 0
        for constraint in constraints:
            name = constraint.preference
            if name is None:
                number += 1
                name = f"constraint-{number}"
            source = self.context.label(constraint.at).source
            if not check_trace_operators(self.context, constraint.formula, constraint.at):
                continue
            parts = self._make_trajectory_parts(constraint.formula, constraint.variables)
            is_preference = constraint.preference is not None
            rule = Rule(name, "constraint", parts, constraint.variables, (), constraint.at, source, is_preference)
            self.rules.append(rule)

    def elaborate_specifications(self, expanded: ExpandedSpecs) -> None:
        """Add the rules of specifications, their open predicates and their invariants.

        Rules that need vocabulary which the domain does not have are added as not applicable.
        """
        errors = self.context.errors
        check_mappings(self.symbols, expanded)
        if self.context.errors > errors:
            return  # each rule that uses the entry would report the same error
        missing_words = find_missing_words(self.symbols, expanded)
        removable_words: dict[int, set[WordName]] = {}
        """By identity of a mapping: the missing words that the rules of its specifications need not have."""
        reasons_by_specification: dict[str, list[_Inapplicability]] = {}
        """Why rules are not applicable according to the mapping."""
        for number, rule in enumerate(expanded.rules):
            mapping = expanded.find_mapping(rule.specification)
            if id(mapping) not in removable_words:
                optional_words = find_optional_words(self.context, expanded, mapping)
                removable_words[id(mapping)] = optional_words & missing_words.keys()
            if removable_words[id(mapping)]:
                rule = remove_words(self.context, rule, removable_words[id(mapping)])
            missing_in_rule = find_names_in_rule(rule.node) & missing_words.keys()
            if mapping is not None and not missing_in_rule:
                rule = remove_impossible_steps(self.symbols, rule)
            expanded.rules[number] = rule  # the kernel must read the rule that is checked
            inapplicability = self._elaborate_if_applicable(rule, mapping, missing_in_rule)
            if inapplicability is not None:
                self._add_not_applicable(rule, inapplicability)
                if inapplicability.follows_from(mapping):
                    reasons_by_specification.setdefault(rule.specification, []).append(inapplicability)
                else:
                    self._warn_about_missing_names(rule, inapplicability.missing_names)
        for applied in expanded.mappings:
            reasons = [reason for name in applied.serves for reason in reasons_by_specification.get(name, ())]
            if reasons:
                message = _explain_inapplicable_rules(reasons)
                self.context.note(SC.RULE_NOT_APPLICABLE, message, applied.at, "this mapping")
        self._add_open_predicates(expanded.openings, missing_words)
        self._add_invariants(expanded.invariants, missing_words)

    def _elaborate_if_applicable(
        self, rule: PlainRule, mapping: Mapping | None, missing_in_rule: set[WordName]
    ) -> _Inapplicability | None:
        """Add a rule, or report its mistakes; return why it is not applicable, and ``None`` if it is applicable."""
        if missing_in_rule:
            return _Inapplicability(tuple([(kind, name.removeprefix("~")) for kind, name in sorted(missing_in_rule)]))
        if mapping is not None:
            impossible_step = find_impossible_step(self.symbols, rule)
            if impossible_step is not None:
                return _Inapplicability((("step", impossible_step),))
            if is_vacuous(rule.node):
                return _Inapplicability(exclusion_reason=VACUOUS)
            excluded = mapping.excluded_rules.get(format_token(rule.node[1]))
            if excluded is not None:
                return _Inapplicability(exclusion_reason=excluded.reason)
            empty_types = mapping.empty_assignable_types
            if empty_types and not empty_types.isdisjoint(find_names_in_rule(rule.node)):
                return None if self._elaborate_if_fitting(rule) else _Inapplicability(exclusion_reason=MISFIT)
        self._elaborate_rule(rule)
        return None

    def _elaborate_if_fitting(self, rule: PlainRule) -> bool:
        """Add a rule about kinds that no object has unless a user gives it the kind.

        Return whether the rule fits the types of the domain. If it does not, nothing is added or reported.
        """
        context = self.context
        errors, diagnostics = context.errors, len(context.diagnostics)
        self._elaborate_rule(rule)
        if context.errors == errors:
            return True
        context.errors = errors
        del context.diagnostics[diagnostics:]
        return False

    def _warn_about_missing_names(self, rule: PlainRule, missing_names: tuple[WordName, ...]) -> None:
        needs = ", ".join([f"{kind} `{name}`" for kind, name in missing_names])
        message = f"rule `{format_token(rule.node[1])}` is not applicable: this domain has no {needs}"
        help = "bind it with a mapping"
        self.context.warning(SC.RULE_NOT_APPLICABLE, message, Place(rule.node, 1), "not checked", help=help)

    def _add_not_applicable(self, plain_rule: PlainRule, inapplicability: _Inapplicability) -> None:
        name, kind, at = format_token(plain_rule.node[1]), _find_rule_kind(plain_rule.node), Place(plain_rule.node)
        hazard = next(iter(find_field_words(plain_rule.node, ":hazard")), None)
        targets = find_field_words(plain_rule.node, ":target")
        rule = Rule(name, kind, (), (), (), at, plain_rule.source, hazard=hazard, targets=targets)
        missing_names, exclusion_reason = inapplicability
        self.rules.append(
            rule._replace(applicable=False, missing_names=missing_names, exclusion_reason=exclusion_reason)
        )

    def _add_open_predicates(self, openings: tuple[OpenDeclaration, ...], missing_words: dict[WordName, Place]) -> None:
        opened: dict[object, model.OpenPredicate] = {}
        for opening in openings:
            names = find_names_in_types(opening.typed) | find_names_in_formula(opening.atom)
            effect = f"`{opening.typed[0]}` is not open"
            if not warn_if_missing(self.context, names, missing_words, effect, Place(opening.typed)):
                predicate = elaborate_open_predicate(self.symbols, opening)
                if predicate is not None:
                    opened.setdefault(predicate[:3], predicate)
        self.openings += opened.values()

    def _add_invariants(self, invariants: tuple[PlainRule, ...], missing_words: dict[WordName, Place]) -> None:
        for plain_rule in invariants:
            effect, at = f"invariant `{format_token(plain_rule.node[1])}` is ignored", Place(plain_rule.node, 1)
            if not warn_if_missing(self.context, find_names_in_rule(plain_rule.node), missing_words, effect, at):
                invariant = elaborate_invariant(self.symbols, plain_rule.node)
                if invariant is not None:
                    self.invariants.append(invariant)

    def _elaborate_rule(self, plain_rule: PlainRule) -> None:
        """Add a rule, or report its mistakes."""
        context, node = self.context, plain_rule.node
        kind = format_token(node[0])
        fields = read_fields(context, node, 2, FIELDS[kind], with_article(f"{kind[1:]} rule"))
        scope = Scope()
        conditions = ConditionReader(self.symbols, scope, "rules")
        errors = context.errors
        parameters_at = fields.get(":parameters")
        declared = list(conditions.bind_variables(parameters_at)) if parameters_at else []
        steps = self._elaborate_steps(fields, conditions, declared) if kind == ":process" else []
        formulas = self._elaborate_formulas(fields, conditions, kind)
        if formulas is None:
            return
        within = None
        if ":within" in fields:
            within = parse_number(fields[":within"].subtree)
            if within is None:
                context.error(SC.STRUCTURE, "`:within` takes a number", fields[":within"], "expected a number")
        check_required_fields(context, kind, node, fields)
        check_text_variables(context, fields, scope)
        metadata = read_metadata(context, fields)
        if context.errors > errors:
            return
        parameters = tuple(declared)
        match kind:
            case ":trajectory":
                parts = self._make_trajectory_parts(formulas[":formula"], parameters)
            case ":obligation":
                operands = (formulas[":when"], formulas[":then"])
                unbounded = Temporal("sometime-after", operands)
                formula = unbounded if within is None else Temporal("always-within", operands, (within,))
                parts = (RulePart(len(self.rules), parameters, "whole", formula),)
            case _:
                parts = self._make_state_parts(kind, formulas, steps, parameters)
        patterns = tuple([self._make_step_pattern(step, parameters) for step in steps])
        rule = Rule(
            format_token(node[1]),
            _find_rule_kind(node),
            parts,
            parameters,
            patterns,
            Place(node),
            plain_rule.source,
            False,
            *metadata,
        )
        self.rules.append(rule)

    def _elaborate_formulas(
        self, fields: dict[str, Place], conditions: ConditionReader, kind: str
    ) -> dict[str, Formula] | None:
        """Return the formulas of a rule by field; ``None`` after a diagnostic about their temporal operators."""
        formulas = {key: conditions.read_formula(at) for key, at in fields.items() if key in _FORMULA_FIELDS}
        is_past_only = kind != ":trajectory"
        for key, formula in formulas.items():
            if not check_past_operands(self.context, formula, fields[key], only_past=is_past_only):
                return None
            if not is_past_only and not check_trace_operators(self.context, formula, fields[key]):
                return None
        return formulas

    # -- steps --------------------------------------------------------------------------------------------------------

    def _elaborate_steps(
        self, fields: dict[str, Place], conditions: ConditionReader, declared: list[Variable]
    ) -> list[Formula]:
        """Elaborate the steps of ``:on``, ``:at-end`` or ``:during``; add their implicit parameters to ``declared``."""
        keys = [key for key in STEP_KINDS if key in fields]
        if len(keys) > 1:
            message = f"`{keys[1]}` in a rule with `{keys[0]}`"
            self.context.error(SC.STRUCTURE, message, fields[keys[1]], "a rule may have only one of them")
            return []
        if not keys:
            return []
        at = fields[keys[0]]
        value = at.subtree
        places = [at]
        if isinstance(value, list) and find_step_connective(value) == "or":
            places = [Place(value, child) for child in range(1, len(value))]
        implicit = self._bind_step_variables([place.subtree for place in places], conditions, declared)
        steps: list[Formula] = []
        for place in places:
            formula = conditions.read_action_atom(place, STEP_KINDS[keys[0]], implicit)
            if isinstance(formula, Atom | Quantified):
                steps.append(formula)
        if not steps and not self.context.errors:
            self.context.error(SC.STRUCTURE, "`or` without steps", at, "expected steps")
        return steps

    def _bind_step_variables(
        self, steps: list[Node], conditions: ConditionReader, declared: list[Variable]
    ) -> frozenset[str]:
        """Bind the variables that occur first in steps, each with the types of the actions' parameters."""
        types_of_variables: dict[str, set[int]] = {}
        places: dict[str, Place] = {}
        for step in steps:
            if not isinstance(step, list) or not step or not isinstance(step[0], str):
                continue
            types = self.symbols.parameter_types.get(step[0], ())
            for child in range(1, min(len(step), len(types) + 1)):
                token = step[child]
                if is_variable(token) and token not in conditions.scope.visible:
                    types_of_variables.setdefault(format_token(token), set()).update(types[child - 1])
                    places.setdefault(format_token(token), Place(step, child))
        for name, alternatives in types_of_variables.items():
            union = (0,) if 0 in alternatives else tuple(sorted(alternatives))
            entry = TypedName(name, places[name], None, None)
            declared.append(conditions.scope.bind(entry, union, self.symbols.types.get_domain(union)))
        return frozenset(types_of_variables)

    def _make_step_pattern(self, step: Formula, parameters: tuple[Variable, ...]) -> StepPattern:
        atom = find_action_atom(step)
        unnamed = [v for v in parameters if -1 - v.slot not in atom.arguments]
        return StepPattern(atom, prod([len(self.symbols.types.domains[v.domain]) for v in unnamed]))

    # -- parts --------------------------------------------------------------------------------------------------------

    def _make_trajectory_parts(self, formula: Formula, parameters: tuple[Variable, ...]) -> tuple[RulePart, ...]:
        conjuncts = find_required_conjuncts(formula, parameters)
        return tuple([make_trajectory_part(len(self.rules), variables, body) for variables, body in conjuncts])

    def _make_state_parts(
        self, kind: str, formulas: dict[str, Formula], steps: list[Formula], parameters: tuple[Variable, ...]
    ) -> tuple[RulePart, ...]:
        """Make the parts of a rule about single states, or about steps and the states before and after them."""
        number = len(self.rules)
        guard = formulas.get(":when", TRUE)
        before = _conjoin_demands(formulas.get(":require"), formulas.get(":forbid"))
        after = _conjoin_demands(formulas.get(":require-after"), formulas.get(":forbid-after"))
        if not steps:
            mode: PartMode = "always" if kind == ":process" else "end"
            parts = [
                RulePart(number, variables, mode, conjunct if guard is TRUE else Or((negate(guard), conjunct)))
                for variables, conjunct in find_required_conjuncts(before, parameters)
            ]
            return tuple(parts)
        parts = [
            RulePart(number, variables, "each", conjunct, step, None if guard is TRUE else guard, is_after)
            for step in steps
            for body, is_after in ((before, False), (after, True))
            for variables, conjunct in find_required_conjuncts(body, parameters)
        ]
        return tuple(parts)


def _explain_inapplicable_rules(reasons: list[_Inapplicability]) -> str:
    """Return the message about the rules that a mapping leaves out, with one reason for each rule."""
    count = len(reasons)
    excluded_count = sum([reason.exclusion_reason is not None for reason in reasons])
    if excluded_count == count:
        text = "not fitting this domain, or excluded by the mapping"
    elif not excluded_count:
        text = "according to the mapping, this domain lacks the names that they need"
    else:
        text = (
            f"according to the mapping, this domain lacks the names for {count - excluded_count} of them; "
            f"the rest ({excluded_count}) does not fit this domain or is excluded by the mapping"
        )
    return f"{count} {'rule is' if count == 1 else 'rules are'} not applicable: {text}"


def _find_rule_kind(rule: list[Node]) -> RuleKind:
    return cast("RuleKind", format_token(rule[0])[1:])


def _conjoin_demands(require: Formula | None, forbid: Formula | None) -> Formula:
    """Return the conjunction of a requirement and a negated prohibition."""
    parts = [part for part in (require, None if forbid is None else negate(forbid)) if part is not None]
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def check_past_operands(context: Context, formula: Formula, at: Place, *, only_past: bool) -> bool:
    """Report a future operator inside a past operator; with ``only_past``, report any future operator.

    Return whether the formula is correct. ``only_past`` is for the kinds of rules that are checked letter by letter.
    """
    stack: list[tuple[Formula, bool, int]] = [(formula, only_past, 0)]
    while stack:
        part, must_be_past, depth = stack.pop()
        if depth > MAX_TEMPORAL_DEPTH:
            message = f"temporal operators nested deeper than {MAX_TEMPORAL_DEPTH}"
            context.error(SC.UNSUPPORTED, message, at, "too deep", help="split the formula into several rules")
            return False
        if isinstance(part, Temporal):
            if must_be_past and part.operator not in PAST_OPERATORS:
                code = SC.MISPLACED_OPERATOR if only_past else SC.FUTURE_IN_PAST
                where = "in this kind of rule" if only_past else "inside a past operator"
                message = f"the future operator `{part.operator}` is not allowed {where}"
                help = "use a `:trajectory` rule" if only_past else None
                context.error(code, message, at, "state and past formulas only", help=help)
                return False
            must_be_past = must_be_past or part.operator in PAST_OPERATORS or part.operator in TRACE_OPERATORS
            depth += 1
        stack += [(operand, must_be_past, depth) for operand in children(part)]
    return True


def check_trace_operators(context: Context, formula: Formula, at: Place) -> bool:
    """Report an operator about the whole trace inside a temporal operator; return whether there is none."""
    stack: list[tuple[Formula, bool]] = [(formula, False)]
    while stack:
        part, is_below_temporal = stack.pop()
        if isinstance(part, Temporal):
            if part.operator in TRACE_OPERATORS and is_below_temporal:
                name = part.operator.replace("at-end", "at end")
                message = f"`{name}` is about the whole trace and is not allowed inside a temporal operator"
                label, help = f"`{name}` is too deep in this formula", "move it to the top of the formula"
                context.error(SC.MISPLACED_OPERATOR, message, at, label, help=help)
                return False
            is_below_temporal = True
        stack += [(operand, is_below_temporal) for operand in children(part)]
    return True
