"""Domains: names, actions, axioms."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate import dialects
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import (
    Place,
    all_tokens,
    is_name,
    is_object_name,
    token_text,
)
from plansafe.verifier.elaborate.effects import EffectContext, EffectReader
from plansafe.verifier.elaborate.sections import read_fields, value_of
from plansafe.verifier.elaborate.symbols import Scope, Symbols
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import TRUE, And, Formula, Quantified, Snap


def top_conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction."""
    return formula.parts if isinstance(formula, And) else () if formula is TRUE else (formula,)


class ActionReader:
    """Elaborates the actions of a domain."""

    def __init__(self, symbols: Symbols, derived: frozenset[int]) -> None:
        self.symbols = symbols
        self.context = symbols.context
        self.derived = derived

    def read(self, kind: str, at: Place) -> None:
        """Add one ``:action`` or ``:durative-action``."""
        node, context = at.node, self.context
        if len(node) < 2 or not is_name(node[1]):
            context.error(
                SC.STRUCTURE, "an action needs a name", Place(node, 1) if len(node) > 1 else at, "expected a name"
            )
            return
        name = token_text(node[1])
        durative = kind == ":durative-action"
        known = (
            (":parameters", ":duration", ":condition", ":effect")
            if durative
            else (":parameters", ":vars", ":precondition", ":effect")
        )
        agent, plain = dialects.split_agent(context, node)
        fields = read_fields(context, plain, 2, known, "a durative action" if durative else "an action")
        scope = Scope()
        conditions = ConditionReader(self.symbols, scope)
        given = dialects.all_parameters(context, agent, fields.get(":parameters"))
        parameters = tuple(conditions.bind(value_of(given), given)) if given is not None else ()
        types = tuple([scope.visible[v.name][1] for v in parameters])
        if name in self.symbols.actions:
            first = self.symbols.actions[name].node
            assert isinstance(first, list)
            context.error(
                SC.DECLARED_TWICE,
                f"action `{name}` is declared twice",
                Place(node, 1),
                "again here",
                other=(Place(first, 1), "first here"),
            )
            return
        if durative:
            action = self._durative(name, node, fields, parameters, conditions)
        else:
            action = self._instantaneous(name, node, fields, parameters, conditions)
        self.symbols.actions[name] = action
        self.symbols.parameter_types[name] = types

    def _instantaneous(
        self,
        name: str,
        node: list[Node],
        fields: dict[str, Place],
        parameters: tuple[model.Variable, ...],
        conditions: ConditionReader,
    ) -> model.Action:
        if ":vars" in fields:
            snap, choices = self._with_locals(fields, conditions)
            return model.Action(name, parameters, snap, None, (), (), (), node, choices)
        conditions.preferences = []
        condition: tuple[Formula, ...] = ()
        if ":precondition" in fields:
            at = fields[":precondition"]
            condition = top_conjuncts(conditions.formula(value_of(at), at))
        preferences = tuple(conditions.preferences)
        conditions.preferences = None
        effects = EffectReader(conditions, self.derived)
        if ":effect" in fields:
            effects.read(value_of(fields[":effect"]), fields[":effect"])
        snap = Snap(condition, effects.result())
        return model.Action(name, parameters, snap, None, (), (), preferences, node, tuple(effects.choices))

    def _with_locals(self, fields: dict[str, Place], conditions: ConditionReader) -> tuple[Snap, tuple[int, ...]]:
        """An action with ``:vars``: its precondition binds them, and they must be clear where the effect names them.

        Also returns the number of alternatives of each ``oneof``.
        """
        context, scope = self.context, conditions.scope
        help = "make them parameters"
        context.dialect("vars", "`:vars`", fields[":vars"], "read as bound by the precondition", help=help)
        mark, errors, told = scope.mark(), context.errors, len(context.diagnostics)

        def choice() -> tuple[dict[str, model.Variable], Formula]:
            scope.restore(mark)
            variables = conditions.bind(value_of(fields[":vars"]), fields[":vars"])
            at = fields.get(":precondition")
            formula = TRUE if at is None else conditions.formula(value_of(at), at)
            return {v.name: v for v in variables}, formula

        variables, formula = choice()
        if context.errors > errors:
            return Snap((), ()), ()
        told = len(context.diagnostics)
        named = all_tokens(value_of(fields[":effect"])) if ":effect" in fields else frozenset()
        condition = [Quantified(False, tuple(variables.values()), formula)]
        chosen = [name for name in variables if name in named]
        if chosen:
            first, second = choice(), choice()
            copies = [v._replace(name=f"{v.name}'") for v in second[0].values()]
            same = [model.Equal(-1 - first[0][name].slot, -1 - second[0][name].slot) for name in chosen]
            body = model.Or((model.Not(first[1]), model.Not(second[1]), And(tuple(same))))
            condition.append(Quantified(True, (*first[0].values(), *copies), body))
        variables, formula = choice()
        del context.diagnostics[told:]  # what was read again was reported the first time
        effects = EffectReader(conditions, self.derived)
        others = tuple([v for name, v in variables.items() if name not in named])
        guard = Quantified(False, others, formula) if others else formula
        around = EffectContext(
            tuple([variables[name] for name in chosen]), ((None, guard),) if chosen else (), (), "start"
        )
        if ":effect" in fields:
            effects.read(value_of(fields[":effect"]), fields[":effect"], around)
        scope.restore(mark)
        return Snap(tuple(condition), effects.result()), tuple(effects.choices)

    def _durative(
        self,
        name: str,
        node: list[Node],
        fields: dict[str, Place],
        parameters: tuple[model.Variable, ...],
        conditions: ConditionReader,
    ) -> model.Action:
        timed: dict[str, list[Formula]] = {"start": [], "end": [], "all": []}
        conditions.preferences = []
        if ":condition" in fields:
            self._timed_condition(value_of(fields[":condition"]), fields[":condition"], conditions, (), timed)
        preferences = tuple(conditions.preferences)
        conditions.preferences = None
        conditions.scope.duration = True
        durations: list[model.DurationConstraint] = []
        if ":duration" in fields:
            self._duration(value_of(fields[":duration"]), fields[":duration"], conditions, durations, False)
        else:
            self.context.error(
                SC.STRUCTURE,
                f"durative action `{name}` has no `:duration`",
                Place(node, 1),
                "expected `:duration (= ?duration ..)`",
            )
        effects = EffectReader(conditions, self.derived, durative=True)
        if ":effect" in fields:
            effects.read(value_of(fields[":effect"]), fields[":effect"])
        start = Snap(tuple(timed["start"]), effects.result("start"))
        end = Snap(tuple(timed["end"]), effects.result("end"))
        over_all, choices = tuple(timed["all"]), tuple(effects.choices)
        return model.Action(name, parameters, start, end, over_all, tuple(durations), preferences, node, choices)

    def _timed_condition(
        self,
        node: Node,
        at: Place,
        conditions: ConditionReader,
        around: tuple[model.Variable, ...],
        timed: dict[str, list[Formula]],
    ) -> None:
        if not isinstance(node, list):
            self.context.error(
                SC.STRUCTURE,
                f"expected a timed condition, found `{node}`",
                at,
                "expected `(at start ..)`, `(over all ..)` or `(at end ..)`",
            )
            return
        if not node:
            return
        if node[0] == "and":
            for child in range(1, len(node)):
                self._timed_condition(node[child], Place(node, child), conditions, around, timed)
        elif node[0] == "forall" and len(node) == 3:
            mark = conditions.scope.mark()
            bound = tuple(conditions.bind(node[1], Place(node, 1)))
            self._timed_condition(node[2], Place(node, 2), conditions, (*around, *bound), timed)
            conditions.scope.restore(mark)
        elif _is_timed(node):
            formula = conditions.hard(node[2], Place(node, 2))
            timed[token_text(node[1])] += [Quantified(True, around, formula)] if around else top_conjuncts(formula)
        elif node[0] == "preference":
            named = len(node) == 3
            inner = node[-1]
            if len(node) not in (2, 3) or (named and not is_object_name(node[1])) or not _is_timed(inner):
                message = "in a durative condition, a preference is `(preference [name] (at start formula))`"
                self.context.error(SC.STRUCTURE, message, Place(node), "expected a name and one timed condition")
                return
            assert isinstance(inner, list)
            assert conditions.preferences is not None
            body = conditions.hard(inner[2], Place(inner, 2))
            name = token_text(node[1]) if named else "preference"
            conditions.preferences.append(model.Preference(name, around, body, token_text(inner[1])))
        else:
            self.context.error(
                SC.STRUCTURE, "expected `(at start ..)`, `(over all ..)` or `(at end ..)`", at, "when must it hold?"
            )

    def _duration(
        self, node: Node, at: Place, conditions: ConditionReader, out: list[model.DurationConstraint], at_end: bool
    ) -> None:
        if not isinstance(node, list):
            self.context.error(
                SC.STRUCTURE, f"expected a duration constraint, found `{node}`", at, "expected `(= ?duration ..)`"
            )
        elif not node:
            return
        elif node[0] == "and":
            for child in range(1, len(node)):
                self._duration(node[child], Place(node, child), conditions, out, at_end)
        elif node[0] == "at" and len(node) == 3 and node[1] in ("start", "end"):
            self._duration(node[2], Place(node, 2), conditions, out, node[1] == "end")
        elif node[0] in ("=", "<=", ">=", "<", ">") and len(node) == 3 and node[1] == "?duration":
            out.append(model.DurationConstraint(token_text(node[0]), conditions.expression(node, 2), at_end, node))
        else:
            self.context.error(
                SC.STRUCTURE,
                "expected `(= ?duration ..)`, `(<= ?duration ..)` or `(>= ?duration ..)`",
                at,
                "not a duration constraint",
            )


def _is_timed(node: Node) -> bool:
    """Whether a node is `(at start ..)`, `(at end ..)` or `(over all ..)`."""
    moments = (("at", "start"), ("at", "end"), ("over", "all"))
    return isinstance(node, list) and len(node) == 3 and (node[0], node[1]) in moments
