"""The criterion ``actions``: actions that contradict themselves, change nothing, or can never be taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import assert_never

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.api import Checker
from plansafe.verifier.compile.normal_forms import Disjunct, convert_to_dnf
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import (
    TRUE,
    Action,
    And,
    Atom,
    Compare,
    Effect,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
    bind,
)
from plansafe.verifier.model.operations import conjuncts
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation

MALFORMED, UNREACHABLE = SC.SCENARIO_MALFORMED_ACTION, SC.SCENARIO_DEAD_ACTION
MAX_DISJUNCTS = 256
MAX_OPERATORS = 200_000


def malformed(checker: Checker, names: Iterable[str]) -> Iterator[Diagnostic]:
    """The mistakes of actions that do not depend on the initial state."""
    task = checker.engine.task
    for name in names:
        action = task.actions[name]
        texts = _Texts(task, action)
        for message, help in (*_contradictions(action, texts), *_impossible(action, texts), *_idle(action)):
            yield _diagnostic(checker, MALFORMED, action, message, help)


class _Texts:
    """Atoms of an action as the user wrote them, near enough."""

    def __init__(self, task: Task, action: Action) -> None:
        self.task = task
        self.names = {v.slot: v.name for v in action.parameters}
        for snap in (action.start, *([action.end] if action.end else [])):
            for effect in snap.effects:
                self.names.update({v.slot: v.name for v in effect.variables})

    def term(self, argument: int) -> str:
        return self.task.objects[argument] if argument >= 0 else self.names.get(-1 - argument, "?")

    def atom(self, atom: Atom) -> str:
        words = [self.task.predicates[atom.predicate].name, *[self.term(a) for a in atom.arguments]]
        return f"`({' '.join(words)})`"


_Wrong = tuple[str, str]


def _contradictions(action: Action, texts: _Texts) -> Iterator[_Wrong]:
    """Facts that one effect adds and another, which happens whenever the first does, deletes."""
    visited: set[Atom] = set()
    for snap in (action.start, *([action.end] if action.end else [])):
        for adding in snap.effects:
            for deleting in snap.effects:
                if not (_plain(adding) or _together(adding, deleting)):
                    continue
                for atom in adding.adds:
                    if atom in deleting.deletes and atom not in visited:
                        visited.add(atom)
                        message = f"action `{action.name}` both adds and deletes {texts.atom(atom)}"
                        yield message, "the addition counts: remove the unintended one"


def _plain(effect: Effect) -> bool:
    return effect.condition is TRUE and not effect.variables and not effect.choices


def _together(first: Effect, second: Effect) -> bool:
    return first is second or (
        first.condition is TRUE and second.condition is TRUE and not first.variables and not second.variables
        and first.choices == second.choices
    )  # fmt: skip


def _impossible(action: Action, texts: _Texts) -> Iterator[_Wrong]:
    """A precondition that no state and no objects meet."""
    disjuncts = convert_to_dnf(And(action.start.condition), cap=MAX_DISJUNCTS)
    if disjuncts is None:
        return
    clashes = [_clash(disjunct, texts) for disjunct in disjuncts]
    if all(clashes):
        clash = f": it requires {clashes[0]}" if clashes else ""
        yield f"the precondition of action `{action.name}` contradicts itself{clash}", "remove one of the two"


def _clash(disjunct: Disjunct, texts: _Texts) -> str:
    """Why a conjunction of literals is false; empty if it need not be."""
    alike: dict[int, int] = {}

    def root(term: int) -> int:
        while term in alike:
            term = alike[term]
        return term

    for literal in disjunct.literals:
        if literal.positive and isinstance(literal.formula, Equal):
            left, right = root(literal.formula.left), root(literal.formula.right)
            if left >= 0 and right >= 0 and left != right:
                return f"`{texts.term(left)}` to be `{texts.term(right)}`"
            if left != right:
                alike[min(left, right)] = max(left, right)  # objects stand for the variables that equal them
    signs: dict[Atom, bool] = {}
    for literal in disjunct.literals:
        match literal.formula:
            case Atom():
                atom = Atom(literal.formula.predicate, tuple([root(a) for a in literal.formula.arguments]))
                if signs.setdefault(atom, literal.positive) != literal.positive:
                    return f"{texts.atom(literal.formula)} and for its negation"
            case Equal() if not literal.positive and root(literal.formula.left) == root(literal.formula.right):
                return f"`{texts.term(literal.formula.left)}` to differ from itself"
            case Truth() if literal.formula.value != literal.positive:
                return "a condition that is never true"
            case Truth() | Equal() | Compare() | Not() | And() | Or() | Quantified() | Temporal():
                pass  # not looked into: it need not be false
            case _:
                assert_never(literal.formula)
    return ""


def _idle(action: Action) -> Iterator[_Wrong]:
    """An action that leaves every state as it is."""
    effects = [effect for snap in (action.start, action.end) if snap is not None for effect in snap.effects]
    if not effects:
        yield f"action `{action.name}` has no effect", "add its changes to `:effect`"
        return
    demanded = _literals(And(action.start.condition))
    if action.end is None and all([_changes_nothing(effect, effects, demanded) for effect in effects]):
        message = f"action `{action.name}` changes nothing: its precondition already requires its effects"
        yield message, "correct the effect, or remove the action"


def _changes_nothing(effect: Effect, effects: list[Effect], demanded: set[tuple[Atom, bool]]) -> bool:
    if effect.assignments or effect.choices:
        return False
    assumed = demanded | _literals(effect.condition)
    adds = [atom for atom in effect.adds if (atom, True) not in assumed]
    added = {atom for second in effects for atom in second.adds}
    deletes = [atom for atom in effect.deletes if (atom, False) not in assumed and atom not in added]
    return not adds and not deletes


def _literals(formula: Formula) -> set[tuple[Atom, bool]]:
    """The literals that a formula demands, read off its top."""
    out: set[tuple[Atom, bool]] = set()
    for part in conjuncts(formula):
        if isinstance(part, Atom):
            out.add((part, True))
        elif isinstance(part, Not) and isinstance(part.body, Atom):
            out.add((part.body, False))
    return out


# -- reachable actions -------------------------------------------------------------------------------------------


class Reach:
    """The facts that are reachable if nothing is ever deleted and every negated condition that may hold does."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.task = engine.task
        state = engine.make_initial_state()
        self.facts = [set(facts) for facts in state.facts]
        self.actions: set[str] = set()
        lifted = LiftedRelaxation(engine, False)
        for count, (schema, objects) in enumerate(lifted.find_reachable_bindings(state)):
            if count > MAX_OPERATORS:
                raise LimitReached(LimitKind.GROUND_TASK)
            if schema.action is not None and schema.condition is schema.action.start.condition:
                self.actions.add(schema.action.name)
            binding = bind(schema.parameters, objects)
            for atom in schema.adds:
                code = self.task.code_of(atom.arguments, binding)
                self.facts[atom.predicate].add(code)

    def missing(self) -> list[Atom]:
        """The facts of the goal that are out of reach, among those it demands."""
        out = []
        for atom, positive in sorted(_literals(And(self.task.goal)), key=lambda item: item[0].predicate):
            if positive and self.task.encode(atom.arguments) not in self.facts[atom.predicate]:
                out.append(atom)
        return out

    def lacking(self, action: Action) -> list[Atom]:
        """The atoms that an action's precondition demands and that nothing makes true of any objects."""
        return [atom for atom in demanded_atoms(action) if not self.facts[atom.predicate]]


def demanded_atoms(action: Action) -> list[Atom]:
    """The positive atoms at the top of a precondition, also below ``exists``, in order of the text."""
    out: list[Atom] = []
    stack: list[Formula] = list(reversed(action.start.condition))
    while stack:
        part = stack.pop()
        if isinstance(part, And):
            stack.extend(reversed(part.parts))
        elif isinstance(part, Quantified) and not part.universal:
            stack.append(part.body)
        elif isinstance(part, Atom):
            out.append(part)
    return out


def unreachable(checker: Checker, names: Iterable[str], reach: Reach) -> Iterator[Diagnostic]:
    """New actions that can never be taken, with the condition that nothing makes true."""
    task = reach.task
    for name in names:
        action = task.actions[name]
        if action.end is not None or name in reach.actions:
            continue
        texts = _Texts(task, action)
        empty = [v for v in action.parameters if not task.domains[v.domain]]
        lacking = reach.lacking(action)
        if empty:
            why = f"there is no object for `{empty[0].name}`"
        elif lacking:
            why = f"{texts.atom(lacking[0])} is never true: no action adds it, and it is not in `:init`"
        elif (pair := _apart(action, reach)) is not None:
            why = f"{texts.atom(pair[0])} and {texts.atom(pair[1])} are never true of the same objects"
        else:
            why = "no objects satisfy its precondition, even if nothing is ever deleted"
        help = "correct its precondition, or add the required facts to `:init`"
        yield _diagnostic(checker, UNREACHABLE, action, f"action `{name}` can never be taken: {why}", help)


def _apart(action: Action, reach: Reach) -> tuple[Atom, Atom] | None:
    """Two conditions of one variable that no object meets both."""
    values: dict[tuple[int, int], set[int]] = {}
    atoms = demanded_atoms(action)
    for number, atom in enumerate(atoms):
        for code in reach.facts[atom.predicate]:
            objects = reach.task.decode(code, len(atom.arguments))
            for argument, value in zip(atom.arguments, objects, strict=True):
                if argument < 0:
                    values.setdefault((number, argument), set()).add(value)
    for (first, argument), (second, again) in combinations(values, 2):
        if argument == again and first != second and not values[first, argument] & values[second, again]:
            return atoms[first], atoms[second]
    return None


def _diagnostic(checker: Checker, code: str, action: Action, message: str, help: str) -> Diagnostic:
    node = action.node
    labels = (checker.compiled.context.label(Place(node, 1), "this action"),) if isinstance(node, list) else ()
    return Diagnostic(code, message, labels, help=help)
