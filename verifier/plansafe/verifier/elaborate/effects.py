"""Effects: nested ``forall``, ``when`` and ``oneof`` flattened into guarded effects."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Place, all_tokens, token_text
from plansafe.verifier.elaborate.symbols import RESERVED
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import TRUE, And, Assignment, Atom, Choice, Effect, Formula, Variable

ASSIGNMENTS = frozenset(("assign", "increase", "decrease", "scale-up", "scale-down"))
OPERATORS = RESERVED | {"oneof"}
MAX_CHOICES = 200
_MOMENTS = frozenset(("start", "end"))
Guard = tuple["str | None", Formula]
"""When a condition is read (``None``: with its effect), and the condition."""


class EffectContext(NamedTuple):
    """What lies around an effect: quantifiers, conditions, alternatives of ``oneof``, and when it happens."""

    variables: tuple[Variable, ...]
    guards: tuple[Guard, ...]
    choices: tuple[Choice, ...]
    moment: str | None


class _Group:
    """Primitive effects under the same quantifiers, conditions and choices."""

    def __init__(self, around: EffectContext, condition: Formula, at_start: Formula) -> None:
        self.variables = around.variables
        self.choices = around.choices
        self.condition = condition
        self.at_start = at_start
        self.adds: list[Atom] = []
        self.deletes: list[Atom] = []
        self.assignments: list[Assignment] = []

    def effect(self) -> Effect:
        return Effect(
            self.variables,
            self.condition,
            tuple(self.adds),
            tuple(self.deletes),
            tuple(self.assignments),
            self.at_start,
            self.choices,
        )


class EffectReader:
    """Reads one action's effects; ``derived`` predicates may not be changed."""

    def __init__(self, conditions: ConditionReader, derived: frozenset[int], durative: bool = False) -> None:
        self.conditions = conditions
        self.context = conditions.context
        self.derived = derived
        self.durative = durative
        self.groups: dict[str, list[_Group]] = {"start": [], "end": []}
        self.choices: list[int] = []
        """The number of alternatives of each ``oneof``, in the order of the text."""

    def read(self, node: Node, at: Place, around: EffectContext | None = None) -> None:
        """Read an effect expression, with what lies ``around`` it."""
        self.conditions.operators = OPERATORS
        self._effect(node, at, around or EffectContext((), (), (), None if self.durative else "start"), {})
        self.conditions.operators = RESERVED

    def result(self, moment: str = "start") -> tuple[Effect, ...]:
        """The effects of one moment."""
        return tuple(
            [group.effect() for group in self.groups[moment] if group.adds or group.deletes or group.assignments]
        )

    def _group(self, around: EffectContext, moment: str, own: dict[str, _Group]) -> _Group:
        if moment not in own:
            now = tuple([guard for when, guard in around.guards if when in (None, moment)])
            earlier = tuple([guard for when, guard in around.guards if when not in (None, moment)])
            own[moment] = _Group(around, _all(now), _all(earlier))
            self.groups[moment].append(own[moment])
        return own[moment]

    def _effect(self, node: Node, at: Place, around: EffectContext, own: dict[str, _Group]) -> None:
        context, moment = self.context, around.moment
        if not isinstance(node, list):
            context.error(SC.STRUCTURE, f"expected an effect, found `{node}`", at, "expected an effect in parentheses")
            return
        if not node:
            return
        head = node[0]
        if not isinstance(head, str):
            context.error(
                SC.STRUCTURE,
                "expected an effect, found a list of lists",
                at,
                "expected a predicate or an operator first",
            )
            return
        if (
            self.durative
            and head == "at"
            and len(node) == 3
            and token_text(node[1]) in _MOMENTS
            and isinstance(node[2], list)
        ):
            if moment is not None:
                context.error(SC.STRUCTURE, "`at start` or `at end` inside another", Place(node), "nested")
            self._effect(node[2], Place(node, 2), around._replace(moment=token_text(node[1])), own)
        elif head == "and":
            for child in range(1, len(node)):
                self._effect(node[child], Place(node, child), around, own)
        elif head == "forall" and len(node) == 3:
            scope = self.conditions.scope
            mark = scope.mark()
            bound = tuple(self.conditions.bind(node[1], Place(node, 1)))
            inner = EffectContext((*around.variables, *bound), around.guards, around.choices, moment)
            self._effect(node[2], Place(node, 2), inner, {})
            scope.restore(mark)
        elif head == "when" and len(node) == 3:
            self._when(node, around)
        elif head == "oneof" and self._is_choice(node):
            self._choice(node, around)
        elif head in ("forall", "when"):
            needs = "typed variables and one effect" if head == "forall" else "one condition and one effect"
            context.error(SC.STRUCTURE, f"`{head}` takes {needs}", Place(node), f"expected {needs}")
        elif moment is None and head in ASSIGNMENTS and "#t" in all_tokens(node):
            message = "continuous effects (`#t`) are not supported"
            context.error(SC.UNSUPPORTED, message, Place(node), "changes while the action runs")
        elif moment is None:
            context.error(
                SC.STRUCTURE,
                "an effect of a durative action needs `at start` or `at end`",
                Place(node),
                "when does it happen?",
            )
        elif head == "not" and len(node) == 2:
            atom = self._atom(node[1], Place(node, 1))
            if atom is not None:
                self._group(around, moment, own).deletes.append(atom)
        elif head in ASSIGNMENTS:
            assignment = self._assignment(node, head)
            if assignment is not None:
                self._group(around, moment, own).assignments.append(assignment)
        elif head in ("or", "not", "imply", "exists", "probabilistic"):
            code = SC.UNSUPPORTED if head == "probabilistic" else SC.STRUCTURE
            context.error(
                code,
                f"`{head}` is not an effect"
                if code == SC.STRUCTURE
                else "probabilities (`probabilistic`) are not supported",
                Place(node, 0),
                "not supported in an effect" if code == SC.UNSUPPORTED else "not allowed in an effect",
            )
        else:
            atom = self._atom(node, at)
            if atom is not None:
                self._group(around, moment, own).adds.append(atom)

    def _when(self, node: list[Node], around: EffectContext) -> None:
        found: list[Guard] = []
        self._guards(node[1], Place(node, 1), around.moment, found)
        inner = EffectContext(around.variables, (*around.guards, *found), around.choices, around.moment)
        self._effect(node[2], Place(node, 2), inner, {})

    def _is_choice(self, node: list[Node]) -> bool:
        """Whether ``(oneof ..)`` is a choice: if a predicate has this name, then before lists alone."""
        if "oneof" not in self.conditions.symbols.predicate_index:
            return True
        return len(node) > 1 and all([isinstance(child, list) for child in node[1:]])

    def _choice(self, node: list[Node], around: EffectContext) -> None:
        count = len(node) - 1
        number = len(self.choices)
        self.choices.append(count)
        if len(around.choices) >= MAX_CHOICES:
            message = f"`oneof` nested deeper than {MAX_CHOICES}"
            self.context.error(SC.UNSUPPORTED, message, Place(node, 0), "too deep")
            return
        if count == 0:
            self.context.error(
                SC.STRUCTURE, "`oneof` without alternatives", Place(node), "expected effects to choose from"
            )
        for child in range(1, len(node)):
            choice = Choice(number, child - 1, count, around.variables)
            inner = around._replace(choices=(*around.choices, choice))
            self._effect(node[child], Place(node, child), inner, {})

    def _guards(self, node: Node, at: Place, moment: str | None, found: list[Guard]) -> None:
        """A condition of ``when``; in durative actions its conjuncts may say when they are read."""
        timed = self.durative and isinstance(node, list) and len(node) == 3 and isinstance(node[2], list)
        if timed and isinstance(node, list) and node[0] == "at" and token_text(node[1]) in _MOMENTS:
            if moment == "start" and node[1] == "end":
                self.context.error(
                    SC.UNSUPPORTED,
                    "an effect at the start cannot depend on the end",
                    Place(node),
                    "read after the effect",
                )
            found.append((token_text(node[1]), self.conditions.formula(node[2], Place(node, 2))))
        elif timed and isinstance(node, list) and node[0] == "over" and node[1] == "all":
            self.context.error(
                SC.UNSUPPORTED,
                "`over all` in the condition of an effect is not supported",
                Place(node),
                "not supported",
            )
        elif self.durative and isinstance(node, list) and node and node[0] == "and":
            for child in range(1, len(node)):
                self._guards(node[child], Place(node, child), moment, found)
        else:
            found.append((None, self.conditions.formula(node, at)))

    def _atom(self, node: Node, at: Place) -> Atom | None:
        context = self.context
        symbols = self.conditions.symbols
        if not isinstance(node, list) or not node or not isinstance(node[0], str):
            context.error(SC.STRUCTURE, "expected a fact", at, "expected `(predicate argument ..)`")
            return None
        errors = context.errors
        formula = symbols.ground_atom(node) or self.conditions.formula(node, at)
        if not isinstance(formula, Atom) or node[0] not in symbols.predicate_index:
            if context.errors == errors:
                context.error(SC.STRUCTURE, f"`{node[0]}` is not a fact", at, "expected `(predicate argument ..)`")
            return None
        if formula.predicate in self.derived:
            context.error(
                SC.STRUCTURE,
                f"derived predicate `{symbols.predicates[formula.predicate].name}` cannot be an effect",
                at,
                "changed by an action, but derived",
            )
            return None
        return formula

    def _assignment(self, node: list[Node], head: str) -> Assignment | None:
        context = self.context
        if len(node) != 3:
            context.error(SC.STRUCTURE, f"`{head}` takes a fluent and a value", Place(node), "expected two operands")
            return None
        errors = context.errors
        target = self.conditions.expression(node, 1)
        value = self.conditions.expression(node, 2)
        if not isinstance(target, model.Fluent):
            if context.errors == errors:
                context.error(SC.STRUCTURE, f"`{head}` needs a fluent to change", Place(node, 1), "not a fluent")
            return None
        return Assignment(head, target.function, target.arguments, value)


def _all(parts: tuple[Formula, ...]) -> Formula:
    return TRUE if not parts else parts[0] if len(parts) == 1 else And(parts)
