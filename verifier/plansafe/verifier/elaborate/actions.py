"""Actions, durative actions, processes and events."""

from __future__ import annotations

from plansafe.grammar.diagnostics import with_article
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate import dialects
from plansafe.verifier.elaborate.conditions import ConditionReader, read_preference_name
from plansafe.verifier.elaborate.context import Place, collect_tokens, format_token, is_name
from plansafe.verifier.elaborate.effects import EffectContext, EffectReader
from plansafe.verifier.elaborate.sections import read_fields
from plansafe.verifier.elaborate.symbols import COMPARISONS, Scope, Symbols
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import TRUE, And, DurationConstraint, Formula, Quantified, Snap, Variable

_ACTION_FIELDS = (":parameters", ":vars", ":precondition", ":effect")
_PROCESS_FIELDS = (":parameters", ":precondition", ":effect")
_DURATIVE_FIELDS = (":parameters", ":duration", ":condition", ":effect")
_MOMENTS = (("at", "start"), ("at", "end"), ("over", "all"))
_Fields = dict[str, Place]
"""The values of an action's fields."""
_TimedConditions = dict[str, list[Formula]]
"""The conditions of a durative action, by ``start``, ``end`` and ``all``."""


def list_top_conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """Return the parts of a conjunction, or the formula itself; nothing for true."""
    return formula.parts if isinstance(formula, And) else () if formula is TRUE else (formula,)


class _LocalVariables(NamedTuple):
    """The variables of ``:vars`` by name, and the precondition, which binds them."""

    by_name: dict[str, Variable]
    condition: Formula


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
        name = format_token(node[1])
        is_durative = kind == ":durative-action"
        agent, node_without_agent = dialects.split_agent(context, node)
        allowed_keys = _DURATIVE_FIELDS if is_durative else _ACTION_FIELDS
        fields = read_fields(
            context, node_without_agent, 2, allowed_keys, "a durative action" if is_durative else "an action"
        )
        scope = Scope()
        conditions = ConditionReader(self.symbols, scope)
        parameters_at = dialects.join_agent_parameters(context, agent, fields.get(":parameters"))
        parameters = () if parameters_at is None else tuple(conditions.bind_variables(parameters_at))
        types = tuple([scope.visible[v.name].types for v in parameters])
        if name in actions:
            first = actions[name].node
            assert isinstance(first, list)
            context.report_redeclaration(f"action `{name}`", Place(node, 1), Place(first, 1))
            return
        read_action = self._read_durative if is_durative else self._read_instantaneous
        actions[name] = read_action(name, node, fields, parameters, conditions)
        self.symbols.parameter_types[name] = types

    def read_process_or_event(self, kind: str, at: Place) -> None:
        """Add one ``:process`` or ``:event``, as ``kind`` says."""
        node, context, word = at.node, self.context, kind[1:]
        if len(node) < 2 or not is_name(node[1]):
            place = Place(node, 1) if len(node) > 1 else at
            context.report_malformed(f"{with_article(word)} needs a name", place, "expected a name")
            return
        name = format_token(node[1])
        fields = read_fields(context, node, 2, _PROCESS_FIELDS, with_article(word))
        conditions = ConditionReader(self.symbols, Scope())
        parameters = tuple(conditions.bind_variables(fields[":parameters"])) if ":parameters" in fields else ()
        condition: tuple[Formula, ...] = ()
        if ":precondition" in fields:
            condition = list_top_conjuncts(conditions.read_formula(fields[":precondition"]))
        effects = EffectReader(conditions, in_process=kind == ":process")
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
            snap, alternative_counts = Snap(condition, effects.list_effects()), tuple(effects.alternative_counts)
            event = model.Action(name, parameters, snap, node=node, alternative_counts=alternative_counts)
            self.symbols.events[name] = event

    def _read_instantaneous(
        self,
        name: str,
        node: list[Node],
        fields: _Fields,
        parameters: tuple[Variable, ...],
        conditions: ConditionReader,
    ) -> model.Action:
        if ":vars" in fields:
            snap, alternative_counts = self._read_with_local_variables(fields, conditions)
            return model.Action(name, parameters, snap, node=node, alternative_counts=alternative_counts)
        conditions.preferences = []
        condition: tuple[Formula, ...] = ()
        if ":precondition" in fields:
            condition = list_top_conjuncts(conditions.read_formula(fields[":precondition"]))
        preferences = tuple(conditions.preferences)
        conditions.preferences = None
        effects = self._read_effects(fields, conditions)
        return model.Action(
            name,
            parameters,
            Snap(condition, effects.list_effects()),
            preferences=preferences,
            node=node,
            alternative_counts=tuple(effects.alternative_counts),
        )

    def _read_effects(
        self,
        fields: _Fields,
        conditions: ConditionReader,
        around: EffectContext | None = None,
        *,
        in_durative_action: bool = False,
    ) -> EffectReader:
        """Read the effect of an action; ``around``: the quantifiers and conditions around it, if there are any."""
        effects = EffectReader(conditions, in_durative_action)
        if ":effect" in fields:
            effects.read(fields[":effect"], around)
        return effects

    def _read_with_local_variables(self, fields: _Fields, conditions: ConditionReader) -> tuple[Snap, tuple[int, ...]]:
        """Read the precondition and the effect of an action with ``:vars``, which the precondition binds.

        The variables that the effect names must have only one value. Also return the alternative counts of the effect.
        """
        context, scope = self.context, conditions.scope
        help = "make them parameters"
        context.report_dialect("vars", "`:vars`", fields[":vars"], "read as bound by the precondition", help=help)
        mark, errors = scope.mark(), context.errors

        def read_precondition_copy() -> _LocalVariables:
            """Bind the local variables again, and read the precondition with them."""
            scope.restore(mark)
            variables = conditions.bind_variables(fields[":vars"])
            at = fields.get(":precondition")
            return _LocalVariables({v.name: v for v in variables}, TRUE if at is None else conditions.read_formula(at))

        original = read_precondition_copy()
        if context.errors > errors:
            return Snap((), ()), ()
        diagnostics = len(context.diagnostics)
        effect_tokens = collect_tokens(fields[":effect"].subtree) if ":effect" in fields else frozenset()
        condition = [Quantified(False, tuple(original.by_name.values()), original.condition)]
        names_in_effect = [name for name in original.by_name if name in effect_tokens]
        if names_in_effect:
            condition.append(
                _make_equality_condition(read_precondition_copy(), read_precondition_copy(), names_in_effect)
            )
        variables, guard = read_precondition_copy()
        del context.diagnostics[diagnostics:]  # the copies repeat the diagnostics of the original
        condition_variables = tuple([v for name, v in variables.items() if name not in effect_tokens])
        if condition_variables:
            guard = Quantified(False, condition_variables, guard)
        effect_variables = tuple([variables[name] for name in names_in_effect])
        around = EffectContext(effect_variables, ((None, guard),) if names_in_effect else (), (), "start")
        effects = self._read_effects(fields, conditions, around)
        scope.restore(mark)
        return Snap(tuple(condition), effects.list_effects()), tuple(effects.alternative_counts)

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
        effects = self._read_effects(fields, conditions, in_durative_action=True)
        return model.Action(
            name,
            parameters,
            Snap(tuple(timed["start"]), effects.list_effects("start")),
            Snap(tuple(timed["end"]), effects.list_effects("end")),
            over_all=tuple(timed["all"]),
            durations=tuple(durations),
            preferences=preferences,
            node=node,
            alternative_counts=tuple(effects.alternative_counts),
            rates=tuple(effects.rates),
        )

    def _read_timed_condition(
        self, at: Place, conditions: ConditionReader, outer: tuple[Variable, ...], timed: _TimedConditions
    ) -> None:
        """Add a timed condition to ``timed``; ``outer``: the variables of the ``forall`` around it."""
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
            timed[format_token(node[1])] += [Quantified(True, outer, formula)] if outer else list_top_conjuncts(formula)
        elif node[0] == "preference":
            name, condition = read_preference_name(node), node[-1]
            if name is None or not _is_timed(condition):
                message = "in a durative condition, a preference is `(preference [name] (at start formula))`"
                self.context.report_malformed(message, Place(node), "expected a name and one timed condition")
                return
            assert isinstance(condition, list)
            assert conditions.preferences is not None
            body = conditions.read_without_preferences(Place(condition, 2))
            conditions.preferences.append(model.Preference(name, outer, body, format_token(condition[1])))
        else:
            message = "expected `(at start ..)`, `(over all ..)` or `(at end ..)`"
            self.context.report_malformed(message, at, "when must it hold?")

    def _read_duration(
        self, at: Place, conditions: ConditionReader, constraints: list[DurationConstraint], at_end: bool
    ) -> None:
        """Add constraints on ``?duration``, which are read at the start or (``at_end``) at the end."""
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


def _make_equality_condition(first: _LocalVariables, second: _LocalVariables, names: list[str]) -> Quantified:
    """Return the condition that any values which satisfy two copies of a precondition agree on the named variables."""
    second_variables = [v._replace(name=f"{v.name}'") for v in second.by_name.values()]
    equations = [model.Equal(-1 - first.by_name[name].slot, -1 - second.by_name[name].slot) for name in names]
    body = model.Or((model.Not(first.condition), model.Not(second.condition), And(tuple(equations))))
    return Quantified(True, (*first.by_name.values(), *second_variables), body)


def _is_timed(node: Node) -> bool:
    return isinstance(node, list) and len(node) == 3 and (node[0], node[1]) in _MOMENTS
