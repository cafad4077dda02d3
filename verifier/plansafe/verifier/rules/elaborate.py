"""From the tree of a plain rule to a typed rule with its parts; and constraints of PDDL as rules."""

from __future__ import annotations

from math import prod

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node, parse_number
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Place, is_variable, token_text
from plansafe.verifier.elaborate.sections import read_fields
from plansafe.verifier.elaborate.symbols import Scope, Symbols
from plansafe.verifier.elaborate.task import TaskConstraint
from plansafe.verifier.elaborate.types import TypedName
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import TRUE, And, Atom, Formula, Or, Quantified, Temporal, Variable
from plansafe.verifier.model.operations import negate
from plansafe.verifier.rules.expanded_specs import ExpandedSpecs, OpenDeclaration, PlainRule, step_connective
from plansafe.verifier.rules.fields import FIELDS, check_complete, check_texts, read_meta, said
from plansafe.verifier.rules.impossible_steps import is_vacuous, narrowed
from plansafe.verifier.rules.mapping import WordName
from plansafe.verifier.rules.mapping_check import check_mappings
from plansafe.verifier.rules.model import Rule, RulePart, StepPattern
from plansafe.verifier.rules.open_predicates import open_predicate, world_invariant
from plansafe.verifier.rules.rule_conjuncts import required_conjuncts, trajectory_mode
from plansafe.verifier.rules.strata import stratified, trace_operators_on_top
from plansafe.verifier.rules.vocabulary import mentioned, missing_names, names_of_formula, names_of_types, say_lacking

MISFIT = "its vocabulary does not fit the types of this domain"
VACUOUS = "it cannot be violated: this domain has no objects or steps that could violate it"
_SAID = frozenset(("step", "rule"))  # what a rule may lack beside words; the mapping has said so
STEP_KINDS = {":on": "start", ":at-end": "end", ":during": "during"}


class RuleElaborator:
    """Elaborates rules; ``rules`` are numbered in the order in which they come."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.context = symbols.context
        self.rules: list[Rule] = []
        self.openings: list[model.OpenPredicate] = []
        self.invariants: list[model.WorldInvariant] = []

    def constraints(self, constraints: tuple[TaskConstraint, ...]) -> None:
        """Add the constraints of domain and problem."""
        number = 0
        for constraint in constraints:
            name = constraint.preference
            if name is None:
                number += 1
                name = f"constraint-{number}"
            source = self.context.label(constraint.at).source
            if not trace_operators_on_top(self.context, constraint.formula, constraint.at):
                continue
            parts = self._whole(constraint.formula, constraint.variables)
            preferred = constraint.preference is not None
            rule = Rule(name, "constraint", parts, constraint.variables, (), constraint.at, source, preferred)
            self.rules.append(rule)

    def specifications(self, expanded: ExpandedSpecs) -> None:
        """Add the rules of specifications, what they leave open, and their invariants.

        Rules that need vocabulary which the domain lacks are kept as not applicable; the others are left out.
        """
        errors = self.context.errors
        check_mappings(self.symbols, expanded)
        if self.context.errors > errors:
            return  # every rule that uses the entry would say it again
        missing = missing_names(self.symbols, expanded)
        known: dict[str, int] = {}
        for number, rule in enumerate(expanded.rules):
            mapping = expanded.mapping(rule.specification)
            needed = sorted(mentioned(rule.node) & missing.keys())
            lacks = [(kind, name.removeprefix("~")) for kind, name in needed]
            if mapping is not None and not lacks:
                rule, lost = narrowed(self.symbols, rule)
                expanded.rules[number] = rule  # the kernel shall read what is checked
                lacks += [] if lost is None else [lost]
                lacks += [("rule", VACUOUS)] if not lacks and is_vacuous(rule.node) else []
                reason = mapping.without.get(token_text(rule.node[1]))
                lacks += [] if lacks or reason is None else [("rule", reason[0])]
            if not lacks:
                filled = mapping is not None and not mapping.filled.isdisjoint(mentioned(rule.node))
                if filled and not self._fitting(rule):
                    lacks += [("rule", MISFIT)]
                elif not filled:
                    self._rule(rule)
            if not lacks:
                continue
            self._not_applicable(rule, lacks)
            if mapping is not None and mapping.nothing.issuperset([x for x in lacks if x[0] not in _SAID]):
                known[rule.specification] = known.get(rule.specification, 0) + 1
            else:
                needs = ", ".join([f"{kind} `{lack}`" for kind, lack in lacks])
                message = f"rule `{token_text(rule.node[1])}` is not applicable: this domain has no {needs}"
                help = "bind it with a mapping"
                self.context.warning(SC.RULE_NOT_APPLICABLE, message, Place(rule.node, 1), "not checked", help=help)
        for binding in expanded.bindings:
            count = sum([known.get(specification, 0) for specification in binding.serves])
            if count:
                rules = "1 rule is" if count == 1 else f"{count} rules are"
                message = (
                    f"{rules} not applicable: according to the mapping, this domain lacks the names that they need"
                )
                self.context.note(SC.RULE_NOT_APPLICABLE, message, binding.at, "this mapping")
        self._open(expanded.openings, missing)
        self._invariants(expanded.invariants, missing)

    def _fitting(self, rule: PlainRule) -> bool:
        """Add a rule about kinds that are empty otherwise, unless its words do not fit the types of the domain."""
        context = self.context
        errors, said = context.errors, len(context.diagnostics)
        self._rule(rule)
        if context.errors == errors:
            return True
        context.errors = errors
        del context.diagnostics[said:]
        return False

    def _not_applicable(self, rule: PlainRule, lacks: list[WordName]) -> None:
        name, kind, at = token_text(rule.node[1]), token_text(rule.node[0])[1:], Place(rule.node)
        hazard, targets = next(iter(said(rule.node, ":hazard")), None), said(rule.node, ":target")
        without = Rule(name, kind, (), (), (), at, rule.source, hazard=hazard, targets=targets)
        self.rules.append(without._replace(applicable=False, missing_names=tuple(lacks)))

    def _open(self, openings: tuple[OpenDeclaration, ...], missing: dict[WordName, Place]) -> None:
        opened: dict[object, model.OpenPredicate] = {}
        for opening in openings:
            needed: set[WordName] = set()
            names_of_types(opening.typed, needed)
            names_of_formula(opening.atom, needed)
            what = f"nothing of `{opening.typed[0]}` is open"
            if not say_lacking(self.context, needed, missing, what, Place(opening.typed)):
                found = open_predicate(self.symbols, opening)
                if found is not None:
                    opened.setdefault(found[:3], found)
        self.openings += opened.values()

    def _invariants(self, invariants: tuple[PlainRule, ...], missing: dict[WordName, Place]) -> None:
        for plain in invariants:
            what, at = f"invariant `{token_text(plain.node[1])}` says nothing", Place(plain.node, 1)
            if not say_lacking(self.context, mentioned(plain.node), missing, what, at):
                invariant = world_invariant(self.symbols, plain.node)
                if invariant is not None:
                    self.invariants.append(invariant)

    def _rule(self, plain: PlainRule) -> None:
        context, node = self.context, plain.node
        kind = token_text(node[0])
        fields = read_fields(context, node, 2, FIELDS[kind], f"a {kind[1:]} rule")
        scope = Scope()
        conditions = ConditionReader(self.symbols, scope, "rules")
        errors = context.errors
        parameters_at = fields.get(":parameters")
        declared = list(conditions.bind_variables(parameters_at)) if parameters_at else []
        steps = self._steps(fields, conditions, declared) if kind == ":process" else []
        formulas = {
            key: conditions.read_formula(at)
            for key, at in fields.items()
            if key in (":when", ":forbid", ":require", ":forbid-after", ":require-after", ":formula", ":then")
        }
        for key, formula in formulas.items():
            past = kind != ":trajectory"
            if not stratified(context, formula, fields[key], past):
                return
            if not past and not trace_operators_on_top(context, formula, fields[key]):
                return
        within = None
        if ":within" in fields:
            within = parse_number(fields[":within"].subtree)
            if within is None:
                context.error(SC.STRUCTURE, "`:within` takes a number", fields[":within"], "expected a number")
        check_complete(context, kind, node, fields)
        check_texts(context, fields, scope)
        meta = read_meta(context, fields)
        if context.errors > errors:
            return
        parameters = tuple(declared)
        match kind:
            case ":trajectory":
                parts = self._whole(formulas[":formula"], parameters)
            case ":obligation":
                operands = (formulas[":when"], formulas[":then"])
                unbounded = Temporal("sometime-after", operands)
                answer = unbounded if within is None else Temporal("always-within", operands, (within,))
                parts = (RulePart(len(self.rules), parameters, "whole", answer),)
            case _:
                parts = self._of_states(kind, formulas, steps, parameters)
        matches = tuple([self._match(step, parameters) for step in steps])
        name, source = token_text(node[1]), plain.source
        self.rules.append(Rule(name, kind[1:], parts, parameters, matches, Place(node), source, False, *meta))

    def _of_states(
        self, kind: str, formulas: dict[str, Formula], steps: list[Formula], parameters: tuple[Variable, ...]
    ) -> tuple[RulePart, ...]:
        """The parts of a rule about single states, or about steps and the states around them."""
        number = len(self.rules)
        guard = formulas.get(":when", TRUE)
        before = _both(formulas.get(":require"), formulas.get(":forbid"))
        after = _both(formulas.get(":require-after"), formulas.get(":forbid-after"))
        if not steps:
            mode = "always" if kind == ":process" else "end"
            return tuple(
                [RulePart(number, p, mode, _guarded(guard, b)) for p, b in required_conjuncts(before, parameters)]
            )
        condition = None if guard is TRUE else guard
        return tuple(
            [
                RulePart(number, p, "each", b, step, condition, is_after)
                for step in steps
                for body, is_after in ((before, False), (after, True))
                for p, b in required_conjuncts(body, parameters)
            ]
        )

    def _match(self, step: Formula, parameters: tuple[Variable, ...]) -> StepPattern:
        atom = step.body if isinstance(step, Quantified) else step
        assert isinstance(atom, Atom)
        open_slots = [v for v in parameters if -1 - v.slot not in atom.arguments]
        return StepPattern(atom, prod([len(self.symbols.types.domains[v.domain]) for v in open_slots]))

    def _steps(self, fields: dict[str, Place], conditions: ConditionReader, declared: list[Variable]) -> list[Formula]:
        """The steps of ``:on``, ``:at-end`` or ``:during``.

        Variables seen here first become parameters typed as the action's.
        """
        given = [key for key in STEP_KINDS if key in fields]
        if len(given) > 1:
            self.context.error(
                SC.STRUCTURE, f"`{given[1]}` beside `{given[0]}`", fields[given[1]], "a rule may have only one of them"
            )
            return []
        if not given:
            return []
        at = fields[given[0]]
        value = at.subtree
        steps = [at]
        if isinstance(value, list) and step_connective(value) == "or":
            steps = [Place(value, child) for child in range(1, len(value))]
        implicit = self._implicit([step.subtree for step in steps], conditions, declared)
        out: list[Formula] = []
        for step in steps:
            formula = conditions.read_action_atom(step, STEP_KINDS[given[0]], implicit)
            if isinstance(formula, Atom | Quantified):
                out.append(formula)
        if not out and not self.context.errors:
            self.context.error(SC.STRUCTURE, "`or` without steps", at, "expected steps")
        return out

    def _implicit(self, steps: list[Node], conditions: ConditionReader, declared: list[Variable]) -> frozenset[str]:
        """Bind the variables that are first seen in steps, each with the types that the actions give it."""
        found: dict[str, set[int]] = {}
        places: dict[str, Place] = {}
        for step in steps:
            if not isinstance(step, list) or not step or not isinstance(step[0], str):
                continue
            types = self.symbols.parameter_types.get(step[0], ())
            for child in range(1, min(len(step), len(types) + 1)):
                token = step[child]
                if is_variable(token) and token not in conditions.scope.visible:
                    found.setdefault(token_text(token), set()).update(types[child - 1])
                    places.setdefault(token_text(token), Place(step, child))
        for name, alternatives in found.items():
            union = (0,) if 0 in alternatives else tuple(sorted(alternatives))
            entry = TypedName(name, places[name], None, None)
            declared.append(conditions.scope.bind(entry, union, self.symbols.types.domain(union)))
        return frozenset(found)

    def _whole(self, formula: Formula, parameters: tuple[Variable, ...]) -> tuple[RulePart, ...]:
        return tuple(
            [
                RulePart(len(self.rules), own, *trajectory_mode(body))
                for own, body in required_conjuncts(formula, parameters)
            ]
        )


def _both(require: Formula | None, forbid: Formula | None) -> Formula:
    parts = [part for part in (require, None if forbid is None else negate(forbid)) if part is not None]
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _guarded(guard: Formula, body: Formula) -> Formula:
    return body if guard is TRUE else Or((negate(guard), body))
