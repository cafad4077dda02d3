"""Domains: names, actions, axioms."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate import dialects
from plansafe.verifier.elaborate.conditions import RESERVED, Conditions, Scope, Symbols
from plansafe.verifier.elaborate.context import (
    At,
    Context,
    did_you_mean,
    is_name,
    is_object_name,
    is_variable,
    tokens,
    word,
)
from plansafe.verifier.elaborate.effects import Around, Effects
from plansafe.verifier.elaborate.types import Typed, typed_list, unglued
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import TRUE, And, Formula, Quantified, Snap

REQUIREMENTS = frozenset(
    [
        ":strips",
        ":typing",
        ":negative-preconditions",
        ":disjunctive-preconditions",
        ":equality",
        ":existential-preconditions",
        ":universal-preconditions",
        ":quantified-preconditions",
        ":conditional-effects",
        ":fluents",
        ":numeric-fluents",
        ":adl",
        ":durative-actions",
        ":duration-inequalities",
        ":derived-predicates",
        ":timed-initial-literals",
        ":preferences",
        ":constraints",
        ":action-costs",
        ":continuous-effects",
        ":object-fluents",
        ":time",
        ":goal-utilities",
        ":domain-axioms",
        ":typed-objects",
        ":timed-effects",
        ":multi-agent",
        ":unfactored-privacy",
        ":factored-privacy",
        ":non-deterministic",
        ":contingent",
    ]
)
UNSUPPORTED = {
    ":process": "processes (PDDL+)",
    ":event": "events (PDDL+)",
    ":axiom": "`:axiom` (write `:derived`)",
    ":method": "hierarchical methods",
    ":task": "hierarchical tasks",
    ":sensor": "observations (`:sensor`)",
    ":sense": "observations (`:sense`)",
    ":observe": "observations (`:observe`)",
    ":control-variable": "control variables (`:control-variable`)",
    ":control-variable-vector": "control variables (`:control-variable-vector`)",
    ":observation": "observations (`:observation`)",
    ":goal-probability": "probabilities (`:goal-probability`)",
    ":goal-reward": "rewards (`:goal-reward`)",
    ":reward": "rewards (`:reward`)",
}
UNSUPPORTED_FIELDS = {
    ":observe": "observations (`:observe`)",
    ":sense": "observations (`:sense`)",
    ":sensor": "observations (`:sensor`)",
    ":control": "control variables (`:control`)",
    ":expansion": "hierarchical expansions (`:expansion`)",
    ":probability": "probabilities (`:probability`)",
}
SINGLE = frozenset((":requirements", ":types", ":constants", ":predicates", ":functions", ":constraints"))
MANY = frozenset((":action", ":durative-action", ":derived"))


class Sections(NamedTuple):
    """The sections of a ``(define (kind name) ..)`` form."""

    name: str
    single: dict[str, At]
    many: list[tuple[str, At]]


def sections(
    context: Context,
    top: list[Node],
    kind: str,
    single: frozenset[str],
    many: frozenset[str],
    unsupported: dict[str, str],
) -> Sections | None:
    """Split a definition into its sections; ``None`` if there is nothing to work with."""
    if not top:
        context.error(SC.STRUCTURE, f"the {kind} is empty", At(top), f"expected `(define ({kind} name) ..)`")
        return None
    form = top[0]
    if not isinstance(form, list) or len(form) < 2 or form[0] != "define" or not isinstance(form[1], list):
        context.error(SC.STRUCTURE, f"expected `(define ({kind} name) ..)`", At(top, 0), f"not a {kind}")
        return None
    if len(top) > 1:
        context.error(SC.STRUCTURE, f"text after the end of the {kind}", At(top, 1), "a file contains one definition")
    header = form[1]
    if len(header) != 2 or header[0] != kind or not is_object_name(header[1]):
        context.error(
            SC.STRUCTURE,
            f"expected `({kind} name)`",
            At(form, 1),
            f"not the head of a {kind}",
            help=_swapped(header, kind),
        )
        if not header or header[0] != kind:
            return None
    found = Sections(word(header[1]) if len(header) > 1 else kind, {}, [])
    for child in range(2, len(form)):
        section = form[child]
        where = At(form, child)
        head = section[0] if isinstance(section, list) and section else section
        if not isinstance(section, list) or not isinstance(head, str) or not head.startswith(":"):
            context.error(SC.STRUCTURE, "expected a section such as `(:init ..)`", where, "not a section")
            continue
        if head == ":constraint" and ":constraints" in single:
            help = "write `:constraints`"
            context.dialect("constraint", "section `:constraint`", At(section, 0), "read as `:constraints`", help=help)
            head = ":constraints"
        if head in many:
            found.many.append((head, At(section)))
        elif head in single:
            if head in found.single and head == ":objects":
                found.single[head] = dialects.united(context, found.single[head], At(section))
            elif head in found.single:
                context.error(
                    SC.DECLARED_TWICE,
                    f"section `{head}` occurs twice",
                    At(section, 0),
                    "again here",
                    other=(At(found.single[head].node, 0), "first here"),
                )
            else:
                found.single[head] = At(section)
        elif head in unsupported:
            context.error(
                SC.UNSUPPORTED,
                f"{unsupported[head]} are not supported" if head != ":axiom" else unsupported[head],
                At(section, 0),
                "not supported",
            )
        else:
            context.error(
                SC.STRUCTURE,
                f"unknown section `{head}`",
                At(section, 0),
                "not a section of a " + kind,
                help=did_you_mean(head, single | many),
            )
    return found


def _swapped(header: list[Node], kind: str) -> str | None:
    """Help for somebody who gave a domain for a problem, or another kind of file."""
    given = header[0] if header else None
    if given in ("domain", "problem", "plan", "safety", "mapping") and given != kind:
        return f"this is a {given}: were the files swapped?"
    return None


def requirements(context: Context, found: Sections) -> None:
    """Warn of unknown requirement flags."""
    at = found.single.get(":requirements")
    for child in range(1, len(at.node) if at else 0):
        assert at is not None
        flag = at.node[child]
        if not isinstance(flag, str) or flag not in REQUIREMENTS:
            if isinstance(flag, str):
                context.warning(SC.UNKNOWN_REQUIREMENT, f"unknown requirement `{flag}`", At(at.node, child), "ignored")
            else:
                context.error(
                    SC.STRUCTURE, "expected a requirement such as `:strips`", At(at.node, child), "not a requirement"
                )


def declare_objects(symbols: Symbols, entries: list[Typed]) -> None:
    """Add constants or objects; a constant may come again with the same type."""
    index = symbols.object_index
    last = entries[0].types_at if entries else None
    types: tuple[int, ...] = (0,)
    for number, entry in enumerate(entries):
        if number == 0 or entry.types_at is not last:
            last, types = entry.types_at, symbols.types.resolve(entry.types, entry.types_at)
        known = index.get(entry.name)
        if known is None:
            symbols.object_index[entry.name] = len(symbols.objects)
            symbols.objects.append(entry.name)
            symbols.object_types.append(types)
            symbols.object_at.append(entry.at)
        elif symbols.object_types[known] != types:
            _other_types(symbols, known, entry, types)
        elif symbols.object_at[known].node is entry.at.node:
            symbols.context.error(
                SC.DECLARED_TWICE,
                f"object `{entry.name}` is declared twice",
                entry.at,
                "again here",
                other=(symbols.object_at[known], "first here"),
            )


def _other_types(symbols: Symbols, known: int, entry: Typed, types: tuple[int, ...]) -> None:
    """An object that is declared again with other types: it has all of them, if they are kinds of one thing."""
    before, text = symbols.object_types[known], symbols.types.text
    message = f"object `{entry.name}` is declared twice, as `{text(before)}` and as `{text(types)}`"
    other = (symbols.object_at[known], "first here")
    both = tuple(sorted({*before, *types}))
    if other[0].node is entry.at.node and symbols.types.related(before, types):
        help = f"write `{entry.name} - {text(both)}`, or rename one of the two"
        read_as = "read as an object of all these types"
        symbols.context.dialect("types", message, entry.at, read_as, help=help, other=other, name=entry.name)
        symbols.object_types[known] = both
        return
    symbols.context.error(SC.DECLARED_TWICE, message, entry.at, "again here", other=other, help="rename one of the two")


def declare_predicates(symbols: Symbols, at: At) -> None:
    """Add the predicates of a ``:predicates`` section."""
    for child in range(1, len(at.node)):
        node = at.node[child]
        declared = _signature(
            symbols, node, At(at.node, child), "predicate", symbols.predicate_index, symbols.predicates
        )
        if declared is not None:
            symbols.predicate_index[declared.name] = len(symbols.predicates)
            symbols.predicates.append(declared)


def declare_functions(symbols: Symbols, at: At) -> None:
    """Add the numeric fluents of a ``:functions`` section, ``- number`` or untyped."""
    context = symbols.context
    child = 1
    while child < len(at.node):
        node = at.node[child]
        if node == "-number":
            unglued(context, node, At(at.node, child))
            child += 1
            continue
        if node == "-":
            kind = at.node[child + 1] if child + 1 < len(at.node) else None
            if kind != "number":
                code = SC.UNSUPPORTED if is_name(kind) or isinstance(kind, list) else SC.STRUCTURE
                context.error(
                    code,
                    "object fluents are not supported" if code == SC.UNSUPPORTED else "a type is missing after `-`",
                    At(at.node, child),
                    "only `- number`",
                )
            child += 2
            continue
        declared = _signature(symbols, node, At(at.node, child), "function", symbols.function_index, symbols.functions)
        if declared is not None:
            symbols.function_index[declared.name] = len(symbols.functions)
            symbols.functions.append(declared)
        child += 1


def _signature(
    symbols: Symbols, node: Node, at: At, what: str, index: dict[str, int], table: list[model.Predicate]
) -> model.Predicate | None:
    context = symbols.context
    if not isinstance(node, list) or not node or not is_name(node[0]):
        context.error(SC.STRUCTURE, f"expected a {what} such as `(name ?x - type)`", at, f"not a {what}")
        return None
    name = word(node[0])
    if name in RESERVED and what == "predicate":
        context.error(SC.STRUCTURE, f"`{name}` may not name a predicate", At(node, 0), "an operator of the language")
        return None
    entries = typed_list(context, node, 1, is_variable, "a variable") if len(node) > 1 else []
    seen: dict[str, At] = {}
    for entry in entries:
        if entry.name in seen:
            message = f"variable `{entry.name}` is declared twice"
            help = "name each argument differently"
            other = (seen[entry.name], "first here")
            context.dialect("repeated", message, entry.at, "read as another argument", help=help, other=other)
        seen.setdefault(entry.name, entry.at)
    if name in index:
        first = table[index[name]].node
        context.error(
            SC.DECLARED_TWICE,
            f"{what} `{name}` is declared twice",
            at,
            "again here",
            other=(At(first), "first here") if isinstance(first, list) else None,
        )
        return None
    types = tuple([symbols.types.resolve(entry.types, entry.types_at) for entry in entries])
    return model.Predicate(name, types, tuple([symbols.types.domain(t) for t in types]), node)


def read_fields(context: Context, node: list[Node], start: int, known: tuple[str, ...], what: str) -> dict[str, At]:
    """``:key value`` pairs of an action."""
    found: dict[str, At] = {}
    child = start
    while child < len(node):
        key = node[child]
        if not isinstance(key, str) or not key.startswith(":"):
            context.error(
                SC.STRUCTURE, f"expected one of {', '.join(known)}", At(node, child), f"not a field of {what}"
            )
            child += 1
            continue
        if key in UNSUPPORTED_FIELDS:
            context.error(
                SC.UNSUPPORTED, f"{UNSUPPORTED_FIELDS[key]} are not supported", At(node, child), "not supported"
            )
        elif key not in known:
            context.error(
                SC.STRUCTURE,
                f"unknown field `{key}`",
                At(node, child),
                f"not a field of {what}",
                help=did_you_mean(key, known),
            )
        elif key in found:
            context.error(
                SC.DECLARED_TWICE,
                f"field `{key}` occurs twice",
                At(node, child),
                "again here",
                other=(found[key], "first here"),
            )
        missing = child + 1 >= len(node)
        if missing or (isinstance(node[child + 1], str) and str(node[child + 1]).startswith(":")):
            context.error(SC.STRUCTURE, f"`{key}` has no value", At(node, child), "expected a value after this")
            child += 1
            continue
        found.setdefault(key, At(node, child + 1))
        child += 2
    return found


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction."""
    return formula.parts if isinstance(formula, And) else () if formula is TRUE else (formula,)


def value_of(at: At) -> Node:
    """The child that a place names, such as the value of a field."""
    assert at.child is not None
    return at.node[at.child]


class Actions:
    """Elaborates the actions of a domain."""

    def __init__(self, symbols: Symbols, derived: frozenset[int]) -> None:
        self.symbols = symbols
        self.context = symbols.context
        self.derived = derived

    def read(self, kind: str, at: At) -> None:
        """Add one ``:action`` or ``:durative-action``."""
        node, context = at.node, self.context
        if len(node) < 2 or not is_name(node[1]):
            context.error(
                SC.STRUCTURE, "an action needs a name", At(node, 1) if len(node) > 1 else at, "expected a name"
            )
            return
        name = word(node[1])
        durative = kind == ":durative-action"
        known = (
            (":parameters", ":duration", ":condition", ":effect")
            if durative
            else (":parameters", ":vars", ":precondition", ":effect")
        )
        agent, plain = dialects.split_agent(context, node)
        fields = read_fields(context, plain, 2, known, "a durative action" if durative else "an action")
        scope = Scope()
        conditions = Conditions(self.symbols, scope)
        given = dialects.all_parameters(context, agent, fields.get(":parameters"))
        parameters = tuple(conditions.bind(value_of(given), given)) if given is not None else ()
        types = tuple([scope.visible[v.name][1] for v in parameters])
        if name in self.symbols.actions:
            first = self.symbols.actions[name].node
            assert isinstance(first, list)
            context.error(
                SC.DECLARED_TWICE,
                f"action `{name}` is declared twice",
                At(node, 1),
                "again here",
                other=(At(first, 1), "first here"),
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
        fields: dict[str, At],
        parameters: tuple[model.Variable, ...],
        conditions: Conditions,
    ) -> model.Action:
        if ":vars" in fields:
            snap, choices = self._with_locals(fields, conditions)
            return model.Action(name, parameters, snap, None, (), (), (), node, choices)
        conditions.preferences = []
        condition: tuple[Formula, ...] = ()
        if ":precondition" in fields:
            at = fields[":precondition"]
            condition = conjuncts(conditions.formula(value_of(at), at))
        preferences = tuple(conditions.preferences)
        conditions.preferences = None
        effects = Effects(conditions, self.derived)
        if ":effect" in fields:
            effects.read(value_of(fields[":effect"]), fields[":effect"])
        snap = Snap(condition, effects.result())
        return model.Action(name, parameters, snap, None, (), (), preferences, node, tuple(effects.choices))

    def _with_locals(self, fields: dict[str, At], conditions: Conditions) -> tuple[Snap, tuple[int, ...]]:
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
        named = tokens(value_of(fields[":effect"])) if ":effect" in fields else frozenset()
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
        effects = Effects(conditions, self.derived)
        others = tuple([v for name, v in variables.items() if name not in named])
        guard = Quantified(False, others, formula) if others else formula
        around = Around(tuple([variables[name] for name in chosen]), ((None, guard),) if chosen else (), (), "start")
        if ":effect" in fields:
            effects.read(value_of(fields[":effect"]), fields[":effect"], around)
        scope.restore(mark)
        return Snap(tuple(condition), effects.result()), tuple(effects.choices)

    def _durative(
        self,
        name: str,
        node: list[Node],
        fields: dict[str, At],
        parameters: tuple[model.Variable, ...],
        conditions: Conditions,
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
                At(node, 1),
                "expected `:duration (= ?duration ..)`",
            )
        effects = Effects(conditions, self.derived, durative=True)
        if ":effect" in fields:
            effects.read(value_of(fields[":effect"]), fields[":effect"])
        start = Snap(tuple(timed["start"]), effects.result("start"))
        end = Snap(tuple(timed["end"]), effects.result("end"))
        over_all, choices = tuple(timed["all"]), tuple(effects.choices)
        return model.Action(name, parameters, start, end, over_all, tuple(durations), preferences, node, choices)

    def _timed_condition(
        self,
        node: Node,
        at: At,
        conditions: Conditions,
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
                self._timed_condition(node[child], At(node, child), conditions, around, timed)
        elif node[0] == "forall" and len(node) == 3:
            mark = conditions.scope.mark()
            bound = tuple(conditions.bind(node[1], At(node, 1)))
            self._timed_condition(node[2], At(node, 2), conditions, (*around, *bound), timed)
            conditions.scope.restore(mark)
        elif _is_timed(node):
            formula = conditions.hard(node[2], At(node, 2))
            timed[word(node[1])] += [Quantified(True, around, formula)] if around else conjuncts(formula)
        elif node[0] == "preference":
            named = len(node) == 3
            inner = node[-1]
            if len(node) not in (2, 3) or (named and not is_object_name(node[1])) or not _is_timed(inner):
                message = "in a durative condition, a preference is `(preference [name] (at start formula))`"
                self.context.error(SC.STRUCTURE, message, At(node), "expected a name and one timed condition")
                return
            assert isinstance(inner, list)
            assert conditions.preferences is not None
            body = conditions.hard(inner[2], At(inner, 2))
            name = word(node[1]) if named else "preference"
            conditions.preferences.append(model.Preference(name, around, body, word(inner[1])))
        else:
            self.context.error(
                SC.STRUCTURE, "expected `(at start ..)`, `(over all ..)` or `(at end ..)`", at, "when must it hold?"
            )

    def _duration(
        self, node: Node, at: At, conditions: Conditions, out: list[model.DurationConstraint], at_end: bool
    ) -> None:
        if not isinstance(node, list):
            self.context.error(
                SC.STRUCTURE, f"expected a duration constraint, found `{node}`", at, "expected `(= ?duration ..)`"
            )
        elif not node:
            return
        elif node[0] == "and":
            for child in range(1, len(node)):
                self._duration(node[child], At(node, child), conditions, out, at_end)
        elif node[0] == "at" and len(node) == 3 and node[1] in ("start", "end"):
            self._duration(node[2], At(node, 2), conditions, out, node[1] == "end")
        elif node[0] in ("=", "<=", ">=", "<", ">") and len(node) == 3 and node[1] == "?duration":
            out.append(model.DurationConstraint(word(node[0]), conditions.expression(node, 2), at_end, node))
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


def derived_heads(symbols: Symbols, many: list[tuple[str, At]]) -> frozenset[int]:
    """The predicates that some ``:derived`` rule defines."""
    out = set()
    for kind, at in many:
        if kind == ":derived" and len(at.node) == 3 and isinstance(at.node[1], list) and at.node[1]:
            head = at.node[1][0]
            if isinstance(head, str) and head in symbols.predicate_index:
                out.add(symbols.predicate_index[head])
    return frozenset(out)


def axiom(symbols: Symbols, at: At) -> model.Axiom | None:
    """One ``(:derived (p ?x - t ..) body)``."""
    node, context = at.node, symbols.context
    if len(node) != 3 or not isinstance(node[1], list) or not node[1] or not isinstance(node[1][0], str):
        context.error(SC.STRUCTURE, "expected `(:derived (predicate ?x ..) condition)`", at, "not a derived predicate")
        return None
    head = node[1]
    index = symbols.predicate_index.get(word(head[0]))
    if index is None:
        context.error(
            SC.UNKNOWN_PREDICATE,
            f"unknown predicate `{head[0]}`",
            At(head, 0),
            "not declared",
            help=did_you_mean(word(head[0]), symbols.predicate_index),
        )
        return None
    scope = Scope()
    conditions = Conditions(symbols, scope)
    declared = symbols.predicates[index]
    parameters = conditions.bind(head, At(head), 1)
    if len(parameters) != len(declared.types):
        other = (At(declared.node), "declared here") if isinstance(declared.node, list) else None
        context.error(
            SC.ARITY,
            f"predicate `{declared.name}` takes {len(declared.types)} arguments, not {len(parameters)}",
            At(head),
            f"{len(parameters)} given",
            other=other,
        )
        return None
    narrowed = []
    untyped = "-" not in head
    for parameter, domain, types in zip(parameters, declared.domains, declared.types, strict=True):
        if untyped:
            scope.visible[parameter.name] = (parameter.slot, types, scope.visible[parameter.name][2])
            parameter = parameter._replace(domain=domain)
        elif not symbols.types.variable_fits(scope.visible[parameter.name][1], types):
            context.type_error(
                f"`{parameter.name}` does not have the declared type `{symbols.types.text(types)}`",
                At(head),
                "another type",
            )
        narrowed.append(parameter)
    body = conditions.formula(node[2], At(node, 2))
    return model.Axiom(index, tuple(narrowed), body)
