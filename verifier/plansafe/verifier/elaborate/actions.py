"""Actions, durative actions, processes and events."""

from __future__ import annotations

from plansafe.grammar.diagnostics import with_article
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate import dialects
from plansafe.verifier.elaborate.conditions import ConditionReader, read_preference_name
from plansafe.verifier.elaborate.context import Place, all_tokens, is_name, token_text
from plansafe.verifier.elaborate.effects import EffectContext, EffectReader
from plansafe.verifier.elaborate.sections import read_fields
from plansafe.verifier.elaborate.symbols import COMPARISONS, Scope, Symbols
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import TRUE, And, DurationConstraint, Formula, Quantified, Snap, Variable

_FIELDS = (":parameters", ":vars", ":precondition", ":effect")
_NATURAL_FIELDS = (":parameters", ":precondition", ":effect")
_DURATIVE_FIELDS = (":parameters", ":duration", ":condition", ":effect")
_MOMENTS = (("at", "start"), ("at", "end"), ("over", "all"))
_Fields = dict[str, Place]
"""The values of an action's fields."""
_TimedConditions = dict[str, list[Formula]]
"""The conditions of a durative action, by ``start``, ``end`` and ``all``."""


def list_top_conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction, or the formula itself; nothing for true."""
    return formula.parts if isinstance(formula, And) else () if formula is TRUE else (formula,)


class ActionReader:
    """Elaborates the actions of a domain."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.context = symbols.context

    def read(self, kind: str, at: Place) -> None:
        """Add one ``:action`` or ``:durative-action``."""
        node, context, actions = at.node, self.context, self.symbols.actions
        if len(node) < 2 or not is_name(node[1]):
            context.report_malformed(
                "an action needs a name", Place(node, 1) if len(node) > 1 else at, "expected a name"
            )
            return
        name = token_text(node[1])
        durative = kind == ":durative-action"
        agent, without_agent = dialects.split_agent(context, node)
        if durative:
            fields = read_fields(context, without_agent, 2, _DURATIVE_FIELDS, "a durative action")
        else:
            fields = read_fields(context, without_agent, 2, _FIELDS, "an action")
        scope = Scope()
        conditions = ConditionReader(self.symbols, scope)
        parameters_at = dialects.find_all_parameters(context, agent, fields.get(":parameters"))
        parameters = () if parameters_at is None else tuple(conditions.bind_variables(parameters_at))
        types = tuple([scope.visible[v.name].types for v in parameters])
        if name in actions:
            first = actions[name].node
            assert isinstance(first, list)
            context.report_redeclaration(f"action `{name}`", Place(node, 1), Place(first, 1))
            return
        read_action = self._read_durative if durative else self._read_instantaneous
        actions[name] = read_action(name, node, fields, parameters, conditions)
        self.symbols.parameter_types[name] = types

    def read_natural(self, kind: str, at: Place) -> None:
        """Add one ``:process`` or ``:event``, which happens without the plan."""
        node, context, word = at.node, self.context, kind[1:]
        if len(node) < 2 or not is_name(node[1]):
            place = Place(node, 1) if len(node) > 1 else at
            context.report_malformed(f"{with_article(word)} needs a name", place, "expected a name")
            return
        name = token_text(node[1])
        fields = read_fields(context, node, 2, _NATURAL_FIELDS, with_article(word))
        conditions = ConditionReader(self.symbols, Scope())
        parameters = tuple(conditions.bind_variables(fields[":parameters"])) if ":parameters" in fields else ()
        condition: tuple[Formula, ...] = ()
        if ":precondition" in fields:
            condition = list_top_conjuncts(conditions.read_formula(fields[":precondition"]))
        effects = EffectReader(conditions, continuous=kind == ":process")
        if ":effect" in fields:
            effects.read(fields[":effect"])
        declared = self.symbols.processes if kind == ":process" else self.symbols.events
        if name in declared:
            first = declared[name].node
            assert isinstance(first, list)
            context.report_redeclaration(f"{word} `{name}`", Place(node, 1), Place(first, 1))
        elif kind == ":process":
            process = model.Process(name, parameters, condition, tuple(effects.rates), node)
            self.symbols.processes[name] = process
        else:
            choices = tuple(effects.alternative_counts)
            snap = Snap(condition, effects.effects_at())
            self.symbols.events[name] = model.Action(name, parameters, snap, None, (), (), (), node, choices)

    def _read_instantaneous(
        self,
        name: str,
        node: list[Node],
        fields: _Fields,
        parameters: tuple[Variable, ...],
        conditions: ConditionReader,
    ) -> model.Action:
        if ":vars" in fields:
            snap, choices = self._read_with_local_variables(fields, conditions)
            return model.Action(name, parameters, snap, None, (), (), (), node, choices)
        conditions.preferences = []
        condition: tuple[Formula, ...] = ()
        if ":precondition" in fields:
            condition = list_top_conjuncts(conditions.read_formula(fields[":precondition"]))
        preferences = tuple(conditions.preferences)
        conditions.preferences = None
        effects = self._read_effects(fields, conditions)
        snap = Snap(condition, effects.effects_at())
        return model.Action(name, parameters, snap, None, (), (), preferences, node, tuple(effects.alternative_counts))

    def _read_effects(
        self,
        fields: _Fields,
        conditions: ConditionReader,
        around: EffectContext | None = None,
        *,
        durative: bool = False,
    ) -> EffectReader:
        effects = EffectReader(conditions, durative)
        if ":effect" in fields:
            effects.read(fields[":effect"], around)
        return effects

    def _read_with_local_variables(self, fields: _Fields, conditions: ConditionReader) -> tuple[Snap, tuple[int, ...]]:
        """An action with ``:vars``: its precondition binds them. Those that the effect names must have one value.

        Also returns the number of alternatives of each ``oneof``.
        """
        context, scope = self.context, conditions.scope
        help = "make them parameters"
        context.note_dialect("vars", "`:vars`", fields[":vars"], "read as bound by the precondition", help=help)
        mark, errors = scope.mark(), context.errors

        def read_copy() -> tuple[dict[str, Variable], Formula]:
            scope.restore(mark)
            variables = conditions.bind_variables(fields[":vars"])
            at = fields.get(":precondition")
            formula = TRUE if at is None else conditions.read_formula(at)
            return {v.name: v for v in variables}, formula

        variables, formula = read_copy()
        if context.errors > errors:
            return Snap((), ()), ()
        diagnostics = len(context.diagnostics)
        effect_tokens = all_tokens(fields[":effect"].subtree) if ":effect" in fields else frozenset()
        condition = [Quantified(False, tuple(variables.values()), formula)]
        in_effect = [name for name in variables if name in effect_tokens]
        if in_effect:
            (first, first_formula), (second, second_formula) = read_copy(), read_copy()
            second_variables = [v._replace(name=f"{v.name}'") for v in second.values()]
            equations = [model.Equal(-1 - first[name].slot, -1 - second[name].slot) for name in in_effect]
            body = model.Or((model.Not(first_formula), model.Not(second_formula), And(tuple(equations))))
            condition.append(Quantified(True, (*first.values(), *second_variables), body))
        variables, formula = read_copy()
        del context.diagnostics[diagnostics:]  # the copies repeat the diagnostics of the first
        only_in_condition = tuple([v for name, v in variables.items() if name not in effect_tokens])
        guard = Quantified(False, only_in_condition, formula) if only_in_condition else formula
        effect_variables = tuple([variables[name] for name in in_effect])
        around = EffectContext(effect_variables, ((None, guard),) if in_effect else (), (), "start")
        effects = self._read_effects(fields, conditions, around)
        scope.restore(mark)
        return Snap(tuple(condition), effects.effects_at()), tuple(effects.alternative_counts)

    def _read_durative(
        self,
        name: str,
        node: list[Node],
        fields: _Fields,
        parameters: tuple[Variable, ...],
        conditions: ConditionReader,
    ) -> model.Action:
        timed: _TimedConditions = {"start": [], "end": [], "all": []}
        conditions.preferences = []
        if ":condition" in fields:
            self._read_timed_condition(fields[":condition"], conditions, (), timed)
        preferences = tuple(conditions.preferences)
        conditions.preferences = None
        conditions.scope.has_duration = True
        durations: list[DurationConstraint] = []
        if ":duration" in fields:
            self._read_duration(fields[":duration"], conditions, durations, False)
        else:
            message = f"durative action `{name}` has no `:duration`"
            self.context.report_malformed(message, Place(node, 1), "expected `:duration (= ?duration ..)`")
        effects = self._read_effects(fields, conditions, durative=True)
        start = Snap(tuple(timed["start"]), effects.effects_at("start"))
        end = Snap(tuple(timed["end"]), effects.effects_at("end"))
        over_all, choices = tuple(timed["all"]), tuple(effects.alternative_counts)
        rates = tuple(effects.rates)
        return model.Action(name, parameters, start, end, over_all, tuple(durations), preferences, node, choices, rates)

    def _read_timed_condition(
        self, at: Place, conditions: ConditionReader, outer: tuple[Variable, ...], timed: _TimedConditions
    ) -> None:
        """Add a timed condition; ``outer``: the variables of the ``forall`` around it."""
        node = at.subtree
        if not isinstance(node, list):
            message = f"expected a timed condition, found `{node}`"
            self.context.report_malformed(message, at, "expected `(at start ..)`, `(over all ..)` or `(at end ..)`")
        elif not node:
            return
        elif node[0] == "and":
            for child in range(1, len(node)):
                self._read_timed_condition(Place(node, child), conditions, outer, timed)
        elif node[0] == "forall" and len(node) == 3:
            mark = conditions.scope.mark()
            variables = (*outer, *conditions.bind_variables(Place(node, 1)))
            self._read_timed_condition(Place(node, 2), conditions, variables, timed)
            conditions.scope.restore(mark)
        elif _is_timed(node):
            formula = conditions.read_without_preferences(Place(node, 2))
            timed[token_text(node[1])] += [Quantified(True, outer, formula)] if outer else list_top_conjuncts(formula)
        elif node[0] == "preference":
            name, condition = read_preference_name(node), node[-1]
            if name is None or not _is_timed(condition):
                message = "in a durative condition, a preference is `(preference [name] (at start formula))`"
                self.context.report_malformed(message, Place(node), "expected a name and one timed condition")
                return
            assert isinstance(condition, list)
            assert conditions.preferences is not None
            body = conditions.read_without_preferences(Place(condition, 2))
            conditions.preferences.append(model.Preference(name, outer, body, token_text(condition[1])))
        else:
            message = "expected `(at start ..)`, `(over all ..)` or `(at end ..)`"
            self.context.report_malformed(message, at, "when must it hold?")

    def _read_duration(
        self, at: Place, conditions: ConditionReader, constraints: list[DurationConstraint], at_end: bool
    ) -> None:
        node = at.subtree
        if not isinstance(node, list):
            message = f"expected a duration constraint, found `{node}`"
            self.context.report_malformed(message, at, "expected `(= ?duration ..)`")
        elif not node:
            return
        elif node[0] == "and":
            for child in range(1, len(node)):
                self._read_duration(Place(node, child), conditions, constraints, at_end)
        elif node[0] == "at" and len(node) == 3 and node[1] in ("start", "end"):
            self._read_duration(Place(node, 2), conditions, constraints, node[1] == "end")
        elif isinstance(node[0], str) and node[0] in COMPARISONS and len(node) == 3 and node[1] == "?duration":
            value = conditions.read_expression(node, 2)
            constraints.append(DurationConstraint(node[0], value, at_end, node))
        else:
            message = "expected `(= ?duration ..)`, `(<= ?duration ..)` or `(>= ?duration ..)`"
            self.context.report_malformed(message, at, "not a duration constraint")


def _is_timed(node: Node) -> bool:
    return isinstance(node, list) and len(node) == 3 and (node[0], node[1]) in _MOMENTS
