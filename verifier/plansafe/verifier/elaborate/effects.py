"""Effects: nested ``forall``, ``when`` and ``oneof`` flattened into guarded effects."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Place, collect_tokens, format_token
from plansafe.verifier.elaborate.symbols import ARITHMETIC, ASSIGNMENTS, RESERVED
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    TRUE,
    And,
    Arithmetic,
    Assignment,
    Atom,
    Choice,
    Effect,
    Expression,
    Formula,
    RateEffect,
    Variable,
)

EFFECT_OPERATORS = RESERVED | {"oneof"}
MAX_CHOICES = 200
"""Maximum depth of nested ``oneof``."""
_MOMENTS = frozenset(("start", "end"))
Guard = tuple["str | None", Formula]
"""The moment at which a condition is read (``None``: with its effect), and the condition."""


class EffectContext(NamedTuple):
    """The quantifiers, conditions and ``oneof`` alternatives around an effect, and when it happens.

    ``moment`` is ``start`` or ``end``. It is ``None`` in a process, and in a durative action outside ``at start`` and
    ``at end``.
    """

    variables: tuple[Variable, ...]
    guards: tuple[Guard, ...]
    choices: tuple[Choice, ...]
    moment: str | None


class _EffectGroup:
    """Primitive effects under the same quantifiers, conditions and choices.

    ``condition`` is read when they happen, ``at_start`` at the start of the durative action.
    """

    def __init__(self, context: EffectContext, condition: Formula, at_start: Formula) -> None:
        self.context = context
        self.condition = condition
        self.at_start = at_start
        self.adds: list[Atom] = []
        self.deletes: list[Atom] = []
        self.assignments: list[Assignment] = []

    def make_effect(self) -> Effect:
        """Return the effects of the group as one effect."""
        adds, deletes, assignments = tuple(self.adds), tuple(self.deletes), tuple(self.assignments)
        variables, choices = self.context.variables, self.context.choices
        return Effect(variables, self.condition, adds, deletes, assignments, self.at_start, choices)


_Groups = dict[str, _EffectGroup]
"""The groups of one effect context, by the moment at which their effects happen."""


class EffectReader:
    """Reads the effects of one action, event or process.

    ``in_durative_action``: they belong to a durative action. ``in_process``: they belong to a process, so all of them
    are rates.
    """

    def __init__(self, conditions: ConditionReader, in_durative_action: bool = False, in_process: bool = False) -> None:
        self.conditions = conditions
        self.context = conditions.context
        self.in_durative_action = in_durative_action
        self.in_process = in_process
        self.rates: list[RateEffect] = []
        self.groups: dict[str, list[_EffectGroup]] = {"start": [], "end": []}
        self.alternative_counts: list[int] = []
        """The number of alternatives of each ``oneof``, in the order of the text."""

    def read(self, at: Place, around: EffectContext | None = None) -> None:
        """Read an effect expression. ``around``: the quantifiers and conditions around it, if there are any."""
        self.conditions.operators = EFFECT_OPERATORS
        moment = None if self.in_durative_action or self.in_process else "start"
        self._read_effect(at, around or EffectContext((), (), (), moment), {})
        self.conditions.operators = RESERVED

    def list_effects(self, moment: str = "start") -> tuple[Effect, ...]:
        """Return the effects that happen at one moment."""
        groups = self.groups[moment]
        return tuple([group.make_effect() for group in groups if group.adds or group.deletes or group.assignments])

    def _get_group(self, around: EffectContext, moment: str, groups: _Groups) -> _EffectGroup:
        """Return the group of the effects at a moment, which is made at its first effect."""
        if moment not in groups:
            condition = _make_conjunction(tuple([guard for when, guard in around.guards if when in (None, moment)]))
            at_start = _make_conjunction(tuple([guard for when, guard in around.guards if when not in (None, moment)]))
            groups[moment] = _EffectGroup(around, condition, at_start)
            self.groups[moment].append(groups[moment])
        return groups[moment]

    def _read_effect(self, at: Place, around: EffectContext, groups: _Groups) -> None:
        """Read an effect expression below the quantifiers, conditions and choices ``around`` it."""
        context, moment, node = self.context, around.moment, at.subtree
        if not isinstance(node, list):
            context.report_malformed(f"expected an effect, found `{node}`", at, "expected an effect in parentheses")
            return
        if not node:
            return
        head, operand_count = node[0], len(node) - 1
        if not isinstance(head, str):
            message = "expected an effect, found a list of lists"
            context.report_malformed(message, at, "expected a predicate or an operator first")
        elif self.in_durative_action and _has_moment(node):
            if moment is not None:
                context.report_malformed("`at start` or `at end` inside another", Place(node), "nested")
            self._read_effect(Place(node, 2), around._replace(moment=format_token(node[1])), groups)
        elif head == "and":
            for child in range(1, len(node)):
                self._read_effect(Place(node, child), around, groups)
        elif head == "forall" and operand_count == 2:
            scope = self.conditions.scope
            mark = scope.mark()
            variables = (*around.variables, *self.conditions.bind_variables(Place(node, 1)))
            self._read_effect(Place(node, 2), around._replace(variables=variables), {})
            scope.restore(mark)
        elif head == "when" and operand_count == 2:
            guards = list(around.guards)
            self._read_guards(Place(node, 1), moment, guards)
            self._read_effect(Place(node, 2), around._replace(guards=tuple(guards)), {})
        elif head == "oneof" and self._is_choice(node):
            self._read_choice(node, around)
        elif head in ("forall", "when"):
            needs = "typed variables and one effect" if head == "forall" else "one condition and one effect"
            context.report_malformed(f"`{head}` takes {needs}", Place(node), f"expected {needs}")
        elif moment is None:
            self._read_without_moment(node, head, around)
        else:
            self._read_primitive_effect(at, node, head, self._get_group(around, moment, groups))

    def _read_without_moment(self, node: list[Node], head: str, around: EffectContext) -> None:
        """Read a primitive effect in a process, or in a durative action outside ``at start`` and ``at end``."""
        if head in ASSIGNMENTS and "#t" in collect_tokens(node):
            self._read_rate(node, head, around)
        elif self.in_process and head != "not":
            message = "a process changes numbers over time only"
            self.context.report_malformed(message, Place(node), "expected `(increase (fluent) (* #t rate))`")
        else:
            message = "an effect of a durative action needs `at start` or `at end`"
            self.context.report_malformed(message, Place(node), "when does it happen?")

    def _read_primitive_effect(self, at: Place, node: list[Node], head: str, group: _EffectGroup) -> None:
        """Add an atom, a negated atom or an assignment to a group."""
        context = self.context
        if head == "not" and len(node) == 2:
            atom = self._read_atom(Place(node, 1))
            if atom is not None:
                group.deletes.append(atom)
        elif head in ASSIGNMENTS:
            assignment = self._read_assignment(node, head)
            if assignment is not None:
                group.assignments.append(assignment)
        elif head == "probabilistic":
            context.report_unsupported("probabilities (`probabilistic`)", Place(node, 0), "not supported in an effect")
        elif head in ("or", "not", "imply", "exists"):
            context.report_malformed(f"`{head}` is not an effect", Place(node, 0), "not allowed in an effect")
        else:
            atom = self._read_atom(at)
            if atom is not None:
                group.adds.append(atom)

    def _is_choice(self, node: list[Node]) -> bool:
        """Whether ``(oneof ..)`` is a choice, not a fact.

        If a predicate is called ``oneof``, it is a choice only if all operands are lists.
        """
        if "oneof" not in self.conditions.symbols.predicate_index:
            return True
        return len(node) > 1 and all([isinstance(child, list) for child in node[1:]])

    def _read_choice(self, node: list[Node], around: EffectContext) -> None:
        """Read ``(oneof effect ..)``."""
        alternative_count, number = len(node) - 1, len(self.alternative_counts)
        self.alternative_counts.append(alternative_count)
        if len(around.choices) >= MAX_CHOICES:
            message = f"`oneof` nested deeper than {MAX_CHOICES}"
            self.context.error(SC.UNSUPPORTED, message, Place(node, 0), "too deep")
            return
        if alternative_count == 0:
            self.context.report_malformed(
                "`oneof` without alternatives", Place(node), "expected effects to choose from"
            )
        for child in range(1, len(node)):
            choice = Choice(number, child - 1, alternative_count, around.variables)
            self._read_effect(Place(node, child), around._replace(choices=(*around.choices, choice)), {})

    def _read_guards(self, at: Place, moment: str | None, guards: list[Guard]) -> None:
        """Add the condition of a ``when``; in durative actions its conjuncts may say when they are read."""
        context, node = self.context, at.subtree
        if self.in_durative_action and isinstance(node, list) and node:
            if _has_moment(node):
                if moment == "start" and node[1] == "end":
                    message = "an effect at the start cannot depend on the end"
                    context.error(SC.UNSUPPORTED, message, Place(node), "read after the effect")
                guards.append((format_token(node[1]), self.conditions.read_formula(Place(node, 2))))
                return
            if len(node) == 3 and node[:2] == ["over", "all"] and isinstance(node[2], list):
                message = "`over all` in the condition of an effect is not supported"
                context.error(SC.UNSUPPORTED, message, Place(node), "not supported")
                return
            if node[0] == "and":
                for child in range(1, len(node)):
                    self._read_guards(Place(node, child), moment, guards)
                return
        guards.append((None, self.conditions.read_formula(at)))

    def _read_atom(self, at: Place) -> Atom | None:
        """Read an atom that an effect adds or deletes; ``None`` after a diagnostic."""
        context, symbols, node = self.context, self.conditions.symbols, at.subtree
        if not isinstance(node, list) or not node or not isinstance(node[0], str):
            context.report_malformed("expected a fact", at, "expected `(predicate argument ..)`")
            return None
        errors = context.errors
        formula = symbols.read_ground_atom(node) or self.conditions.read_formula(at)
        if not isinstance(formula, Atom) or node[0] not in symbols.predicate_index:
            if context.errors == errors:
                context.report_malformed(f"`{node[0]}` is not a fact", at, "expected `(predicate argument ..)`")
            return None
        if formula.predicate in symbols.derived:
            message = f"derived predicate `{symbols.predicates[formula.predicate].name}` cannot be an effect"
            context.report_malformed(message, at, "changed by an action, but derived")
            return None
        return formula

    def _read_assignment(self, node: list[Node], operator: str) -> Assignment | None:
        context = self.context
        if len(node) != 3:
            context.report_malformed(f"`{operator}` takes a fluent and a value", Place(node), "expected two operands")
            return None
        errors = context.errors
        target, value = self.conditions.read_expression(node, 1), self.conditions.read_expression(node, 2)
        if not isinstance(target, model.Fluent):
            if context.errors == errors:
                context.report_malformed(f"`{operator}` needs a fluent to change", Place(node, 1), "not a fluent")
            return None
        return Assignment(operator, target.function, target.arguments, value)

    def _read_rate(self, node: list[Node], head: str, around: EffectContext) -> None:
        """Read ``(increase fluent (* #t rate))`` or ``(decrease ..)``."""
        context = self.context
        if around.guards or around.choices:
            context.report_unsupported("conditional continuous effects (`#t` in `when` or `oneof`)", Place(node))
            return
        if len(node) != 3 or head not in ("increase", "decrease"):
            message = "a continuous effect is `(increase (fluent) (* #t rate))` or `(decrease ..)`"
            context.report_malformed(message, Place(node), "not a continuous effect")
            return
        errors = context.errors
        target, rate = self.conditions.read_expression(node, 1), self._read_factor_of_time(node, 2)
        if not isinstance(target, model.Fluent) or rate is None:
            if context.errors == errors:
                context.report_malformed(f"`{head}` needs a fluent to change", Place(node, 1), "not a fluent")
            return
        if head == "decrease":
            rate = Arithmetic("-", (rate,))
        self.rates.append(RateEffect(around.variables, target.function, target.arguments, rate))

    def _read_factor_of_time(self, node: list[Node], child: int) -> Expression | None:
        """Read an expression that is a rate times ``#t``, and return the rate; ``None`` after a diagnostic."""
        part = node[child]
        if part == "#t":
            return model.Constant(1)
        if isinstance(part, list) and len(part) > 1 and isinstance(part[0], str) and part[0] in ARITHMETIC:
            operator = part[0]
            timed = [number for number in range(1, len(part)) if "#t" in collect_tokens(part[number])]
            is_product = operator == "*" and len(timed) == 1
            is_quotient = operator == "/" and timed == [1]
            is_sum = operator in "+-" and len(timed) == len(part) - 1
            if is_product or is_quotient or is_sum:
                operands = []
                for number in range(1, len(part)):
                    if number in timed:
                        operand = self._read_factor_of_time(part, number)
                    else:
                        operand = self.conditions.read_expression(part, number)
                    if operand is None:
                        return None
                    operands.append(operand)
                return Arithmetic(operator, tuple(operands))
        context = self.context
        help = "write the rate times `#t`: `(* #t rate)`"
        message = "this change over time is not a rate times `#t`"
        context.error(SC.UNSUPPORTED, message, Place(node, child), "not supported", help=help)
        return None


def _has_moment(node: list[Node]) -> bool:
    """Whether an effect or condition of a durative action is ``(at start ..)`` or ``(at end ..)``."""
    return len(node) == 3 and node[0] == "at" and format_token(node[1]) in _MOMENTS and isinstance(node[2], list)


def _make_conjunction(parts: tuple[Formula, ...]) -> Formula:
    return TRUE if not parts else parts[0] if len(parts) == 1 else And(parts)
