"""What ground actions may do to facts, and which ground actions may do something to a fact.

Facts are pairs (index, code); an index beyond the predicates is a fluent's, one of an action predicate stands for the
step itself. Everything here errs on the side of "may".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from plansafe.verifier.compile.joins import Join
from plansafe.verifier.compile.normal_forms import dnf, slots_bound_by_literals
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.footprints import StateVariable
from plansafe.verifier.model.nodes import TRUE, Action, And, Atom, Effect, Equal, Formula, Not, Task, Variable
from plansafe.verifier.model.operations import conjuncts, free_slots, has_comparison

MAX_GROUNDINGS = 20_000
"""Ground instances of one action that are listed for one fact; beyond it the list is cut, and the search says so."""


MAX_LOOPED = 4
"""Objects of a variable that a search may try one by one in any number."""
OPEN = -1
"""The place of an object that a pattern leaves open."""
ObjectPattern = tuple[int, ...] | None
"""A pattern of a fact's objects, some :data:`OPEN`; ``None``: any."""


def step_key(step: GroundAction) -> tuple[str, tuple[int, ...]]:
    """What tells ground actions apart; an action itself is deep, and must be neither hashed nor compared."""
    return (step.action.name, step.objects)


class Conditional(NamedTuple):
    """An effect that happens only if a condition holds, or whose value is a number: ``value`` is ``None`` there."""

    fact: StateVariable
    value: bool | None
    condition: Formula
    binding: dict[int, int]


class GroundEffects:
    """The effects of a ground action.

    ``sets``: the facts that it surely sets; ``action_fact``: the step itself. What it changes under a condition is
    computed where somebody asks: a walk through a home may change thousands of facts, and mostly a few are in question.
    """

    __slots__ = ("_found", "_settable", "_step", "_task", "action_fact", "sets")

    def __init__(self, task: Task, step: GroundAction, action_fact: StateVariable | None) -> None:
        self._task = task
        self._step = step
        self._found: dict[tuple[int | None, ObjectPattern], tuple[Conditional, ...]] = {}
        self._settable: dict[tuple[int, ObjectPattern], set[bool | None]] = {}
        self.action_fact = action_fact
        sets: dict[StateVariable, bool] = {}
        for added in (False, True):  # a fact that is deleted and added is true
            for effect in step.action.start.effects:
                if effect.condition is TRUE:
                    for binding in task.bindings(effect.variables, step.binding):
                        for atom in effect.adds if added else effect.deletes:
                            sets[atom.predicate, task.code_of(atom.arguments, binding)] = added
        self.sets = sets

    @property
    def may(self) -> tuple[Conditional, ...]:
        """All facts set under a condition, and all fluents."""
        return self.conditionals(None)

    def conditionals(self, subject: int | None, wanted: ObjectPattern = None) -> tuple[Conditional, ...]:
        """The facts of one predicate (or fluent) set under a condition, of a pattern if given; ``None``: all facts."""
        key = (subject, wanted)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = tuple(self._conditionals(subject, wanted))
        return found

    def touches(self, subject: int, wanted: ObjectPattern) -> bool:
        """Whether it may change a fact of a predicate (or fluent) that agrees with a pattern; ``None``: any."""
        return self.acts(subject, wanted) or bool(self.sure(subject, wanted) or self.settable(subject, wanted))

    def acts(self, subject: int, wanted: ObjectPattern) -> bool:
        """Whether taking the step is a fact that agrees with a pattern."""
        fact = self.action_fact
        return (
            fact is not None and fact[0] == subject and (wanted is None or matches_pattern(wanted, self._step.objects))
        )

    def sure(self, subject: int, wanted: ObjectPattern) -> set[bool]:
        """The values that it surely gives to facts of a predicate that agree with a pattern."""
        own = [(code, value) for (index, code), value in self.sets.items() if index == subject]
        if wanted is None or not own:
            return {value for _, value in own}
        arity = len(wanted)
        return {value for code, value in own if matches_pattern(wanted, self._task.decode(code, arity))}

    def settable(self, subject: int, wanted: ObjectPattern) -> set[bool | None]:
        """The values that it may give under a condition to facts that agree with a pattern."""
        key = (subject, wanted)
        found = self._settable.get(key)
        if found is None:
            found = self._settable[key] = {
                value
                for value, _, _, free in self.schemas(subject, wanted)
                if all([self._task.domains[v.domain] for v in free])
            }
        return found

    def schemas(
        self, subject: int, wanted: ObjectPattern
    ) -> Iterator[tuple[bool | None, Formula, dict[int, int], list[Variable]]]:
        """The effects that may set facts of a pattern under a condition: value, condition, binding, free variables."""
        for effect in self._step.action.start.effects:
            for index, arguments, value in self._changes(effect):
                if index == subject:
                    binding = unify_pattern(self._task, effect.variables, arguments, wanted, self._step.binding)
                    if binding is not None:
                        yield value, effect.condition, binding, [v for v in effect.variables if v.slot not in binding]

    def _changes(self, effect: Effect) -> list[tuple[int, tuple[int, ...], bool | None]]:
        base = len(self._task.predicates)
        changes: list[tuple[int, tuple[int, ...], bool | None]] = []
        if effect.condition is not TRUE:
            changes += [(a.predicate, a.arguments, False) for a in effect.deletes]
            changes += [(a.predicate, a.arguments, True) for a in effect.adds]
        changes += [(base + a.function, a.arguments, None) for a in effect.assignments]
        return changes

    def _conditionals(self, subject: int | None, wanted: ObjectPattern) -> Iterator[Conditional]:
        for effect in self._step.action.start.effects:
            for index, arguments, value in self._changes(effect):
                if subject is not None and index != subject:
                    continue
                known = unify_pattern(self._task, effect.variables, arguments, wanted, self._step.binding)
                if known is not None:
                    free = [v for v in effect.variables if v.slot not in known]
                    for binding in self._task.bindings(free, known):
                        fact = (index, self._task.code_of(arguments, binding))
                        yield Conditional(fact, value, effect.condition, binding)


def matches_pattern(wanted: tuple[int, ...], objects: tuple[int, ...]) -> bool:
    """Whether objects agree with a pattern."""
    return all([one in (OPEN, other) for one, other in zip(wanted, objects, strict=True)])


class _Search(NamedTuple):
    """Finds the objects of an action for which an effect gives a fact a value, given those that the fact determines."""

    action: Action
    effect: Effect
    arguments: tuple[int, ...]
    find: Callable[..., None]
    slots: list[int]


def unify_pattern(
    task: Task,
    variables: Sequence[Variable],
    arguments: tuple[int, ...],
    wanted: ObjectPattern,
    known: Mapping[int, int] = MappingProxyType({}),
) -> dict[int, int] | None:
    """A binding with the objects that a pattern determines; ``None`` if the arguments cannot be its."""
    binding = dict(known)
    if wanted is None:
        return binding
    domains = {v.slot: task.domain_sets[v.domain] for v in variables}
    for argument, object_ in zip(arguments, wanted, strict=True):
        if object_ == OPEN:
            continue
        slot = -1 - argument
        if (argument if argument >= 0 else binding.setdefault(slot, object_)) != object_:
            return None
        if slot in domains and object_ not in domains[slot]:
            return None
    return binding


class EffectIndex:
    """Effects and achievers of one task, remembered."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.task = engine.task
        self._start = engine.initial()
        self.cut = False
        """Whether some list of achievers was cut at :data:`MAX_GROUNDINGS`."""
        self._known: dict[tuple[str, tuple[int, ...]], GroundEffects] = {}
        self._searches: dict[tuple[int, bool, tuple[bool, ...] | None], list[_Search | None]] = {}
        self._conditions: dict[int, tuple[Formula, Callable[..., bool], list[int]]] = {}
        self._effects: dict[int, list[tuple[Action, Effect, tuple[int, ...], bool | None]]] = {}
        self._literals: dict[tuple[str, tuple[int, ...]], tuple[list[tuple[int, int, bool]], list[Formula]]] = {}
        self._statics: dict[str, list[tuple[frozenset[int], Formula]]] = {}
        self._achievers: dict[tuple[int, ObjectPattern, bool | None], tuple[GroundAction, ...]] = {}
        self._action_names = {
            predicate: name for (kind, name), predicate in engine.action_predicates.items() if kind == "start"
        }
        base = len(self.task.predicates)
        for action in self.task.actions.values():
            if action.end is not None:
                continue
            for effect in action.start.effects:
                for atom in effect.adds:
                    self._effects.setdefault(atom.predicate, []).append((action, effect, atom.arguments, True))
                for atom in effect.deletes:
                    self._effects.setdefault(atom.predicate, []).append((action, effect, atom.arguments, False))
                for a in effect.assignments:
                    self._effects.setdefault(base + a.function, []).append((action, effect, a.arguments, None))

    def of(self, step: GroundAction) -> GroundEffects:
        """The effects of a ground action."""
        key = step_key(step)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = GroundEffects(self.task, step, self.engine.action_fact("start", step))
        return found

    def asked(self, effect: Conditional) -> tuple[Callable[..., bool], tuple[int, ...]]:
        """The condition of an effect as a function of a state's facts, its fluents, and some objects; those objects."""
        known = self._conditions.get(id(effect.condition))
        if known is None:
            slots = sorted(self.engine.emitter.free_slots(effect.condition))
            known = (effect.condition, self.engine.emitter.compile_condition(effect.condition, slots), slots)
            self._conditions[id(effect.condition)] = known
        return known[1], tuple([effect.binding[slot] for slot in known[2]])

    def possible(self, effect: Conditional) -> bool:
        """Whether the condition of an effect has no literal that is false for ever."""
        task, initial = self.task, self._start
        for part in effect.condition.parts if isinstance(effect.condition, And) else (effect.condition,):
            atom = part.body if isinstance(part, Not) else part
            if isinstance(atom, Atom) and atom.predicate < len(task.static) and task.static[atom.predicate]:
                code = task.code_of(atom.arguments, effect.binding)
                if (code in initial.facts[atom.predicate]) is not (atom is part):
                    return False
        return True

    # -- which actions do something now -------------------------------------------------------------------------------

    def acting(self, index: int, wanted: ObjectPattern, value: bool, state: State) -> Iterator[GroundAction] | None:
        """The ground actions with an effect that gives facts of a pattern a value in a state.

        Whether or not they can be taken there. A search for the bindings of each effect's condition, not a test of
        every action. ``None`` where such a search would not do: for step facts, and for effects that read numbers or
        leave too much open.
        """
        if index in self._action_names or index >= len(self.task.predicates):
            return None
        key = (index, value, None if wanted is None else tuple([object_ != OPEN for object_ in wanted]))
        searches = self._searches.get(key)
        if searches is None:
            giving = [entry for entry in self._effects.get(index, ()) if entry[3] is value]
            searches = self._searches[key] = [self._compiled(*entry[:3], key[2]) for entry in giving]
        return None if any([search is None for search in searches]) else self._acting(searches, wanted, state)

    def _acting(
        self, searches: Sequence[_Search | None], wanted: ObjectPattern, state: State
    ) -> Iterator[GroundAction]:
        for search in searches:
            assert search is not None
            action, effect, arguments, find, slots = search
            known = unify_pattern(self.task, (*action.parameters, *effect.variables), arguments, wanted)
            if known is not None:
                found: list[tuple[int, ...]] = []
                find(state.facts, state.fluents, found, *[known[slot] for slot in slots])
                yield from [GroundAction(action, objects) for objects in found]

    def names(self, index: int, value: bool) -> tuple[str, ...]:
        """The names of the actions that may give facts of a predicate a value."""
        if index in self._action_names:
            return (self._action_names[index],) if value else ()
        return tuple(dict.fromkeys([entry[0].name for entry in self._effects.get(index, ()) if entry[3] is value]))

    def giving(
        self, index: int, wanted: ObjectPattern, value: bool | None
    ) -> Iterator[tuple[Action, tuple[Variable, ...], Formula, dict[int, int]]]:
        """The effects that may give facts of a pattern a value: action, further variables, condition, binding.

        The binding has what the pattern determines.
        """
        if index in self._action_names:
            if value is not False:
                action = self.task.actions[self._action_names[index]]
                objects = wanted or [OPEN for _ in action.parameters]
                pairs = zip(action.parameters, objects, strict=True)
                yield action, (), TRUE, {v.slot: object_ for v, object_ in pairs if object_ != OPEN}
            return
        for action, effect, arguments, sets in self._effects.get(index, ()):
            if value is None or sets is None or sets is value:
                known = unify_pattern(self.task, (*action.parameters, *effect.variables), arguments, wanted)
                if known is not None:
                    yield action, effect.variables, effect.condition, known

    def _compiled(
        self, action: Action, effect: Effect, arguments: tuple[int, ...], known: tuple[bool, ...] | None
    ) -> _Search | None:
        """The search for what an effect needs to set a fact of its atom, of whose arguments some are known."""
        emitter = self.engine.emitter
        whole = effect.condition is TRUE
        if whole and effect.variables:
            return None
        formula = And(action.start.condition) if whole else effect.condition
        disjuncts = None if has_comparison(formula) else dnf(formula)
        given = [a for i, a in enumerate(arguments) if known is not None and known[i]]
        slots = sorted({-1 - a for a in given if a < 0})
        outputs = [v.slot for v in action.parameters]
        every = (*action.parameters, *effect.variables)
        wide = {v.slot for v in every if len(self.task.domains[v.domain]) > MAX_LOOPED}
        if disjuncts is None or any([len(wide - slots_bound_by_literals(d, slots)) > 1 for d in disjuncts]):
            return None
        inner = [f"out.append(({', '.join([f'x{slot}' for slot in outputs])},))" if outputs else "out.append(())"]
        lines: list[str] = []
        for disjunct in disjuncts:
            domains = {v.slot: v.domain for v in (*every, *disjunct.variables)}
            join = Join(emitter, domains, "S, F, out", indexed=False)
            lines += join.emit(disjunct.literals, frozenset(slots), sorted({v.slot for v in every}), inner)
        name = emitter.fresh_name()
        emitter.define(name, ", ".join(["S", "F", "out", *[f"x{slot}" for slot in slots]]), lines or ["pass"])
        return _Search(action, effect, arguments, emitter.compile_function(name), slots)

    # -- achievers ----------------------------------------------------------------------------------------------------

    def achievers(self, index: int, wanted: ObjectPattern, value: bool | None) -> tuple[GroundAction, ...]:
        """The ground actions that may give a fact of a pattern a value (``None``: any change).

        Only those whose static preconditions hold.
        """
        key = (index, wanted, value)
        found = self._achievers.get(key)
        if found is None:
            each = {step_key(step): step for step in self._search(index, wanted, value)}
            found = self._achievers[key] = tuple(each.values())
        return found

    def _search(self, index: int, wanted: ObjectPattern, value: bool | None) -> Iterator[GroundAction]:
        for action, _, _, binding in self.giving(index, wanted, value):
            own = {v.slot for v in action.parameters}
            yield from self.groundings(action, {slot: object_ for slot, object_ in binding.items() if slot in own})

    def groundings(self, action: Action, binding: dict[int, int]) -> Iterator[GroundAction]:
        """The ground instances of an action that agree with a binding and with the static facts."""
        if action.end is not None:
            return
        task = self.task
        statics = self._static_parts(action)
        evaluator = Evaluator(task, self._start.facts, self._start.fluents)
        order = [v for v in action.parameters if v.slot in binding]
        order += [v for v in action.parameters if v.slot not in binding]
        due: list[list[Formula]] = []
        known: set[int] = set()
        for variable in order:
            known.add(variable.slot)
            due.append([f for slots, f in statics if variable.slot in slots and slots <= known])
        if any([evaluator.holds(f, {}) is False for slots, f in statics if not slots]):
            return
        partial: list[dict[int, int]] = [{}]
        for variable, conditions in zip(order, due, strict=True):
            domain = task.domains[variable.domain]
            if variable.slot in binding:
                object_ = binding[variable.slot]
                if object_ not in task.domain_sets[variable.domain]:
                    return
                domain = (object_,)
            grown = []
            for one in partial:
                for object_ in domain:
                    extended = {**one, variable.slot: object_}
                    if all([evaluator.holds(f, extended) is not False for f in conditions]):
                        grown.append(extended)
                if len(grown) > MAX_GROUNDINGS:
                    self.cut = True
                    break
            partial = grown
        for one in partial:
            yield GroundAction(action, tuple([one[v.slot] for v in action.parameters]))

    def precondition(self, step: GroundAction) -> tuple[list[tuple[int, int, bool]], list[Formula]]:
        """The literals of a ground action's precondition (predicate, code, value), and its other parts."""
        key = step_key(step)
        found = self._literals.get(key)
        if found is None:
            own = step.binding
            literals: list[tuple[int, int, bool]] = []
            others: list[Formula] = []
            derived = frozenset() if self.engine.axioms is None else self.engine.axioms.derived
            for part in conjuncts(And(step.action.start.condition)):
                inner = part.body if isinstance(part, Not) else part
                if isinstance(inner, Atom) and inner.predicate not in derived:
                    literals.append((inner.predicate, self.task.code_of(inner.arguments, own), inner is part))
                else:
                    others.append(part)
            found = self._literals[key] = (literals, others)
        return found

    def _static_parts(self, action: Action) -> list[tuple[frozenset[int], Formula]]:
        """The conjuncts of a precondition that no action can change, with the slots they read."""
        found = self._statics.get(action.name)
        if found is None:
            found = []
            for part in conjuncts(And(action.start.condition)):
                inner = part.body if isinstance(part, Not) else part
                fixed = isinstance(inner, Equal) or (isinstance(inner, Atom) and self.task.static[inner.predicate])
                if fixed:
                    found.append((frozenset(free_slots(inner)), part))
            self._statics[action.name] = found
        return found
