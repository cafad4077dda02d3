"""Rules compiled away: a task whose plans are the safe plans of another task, for planners that know no constraints.

What a monitor remembers becomes facts. An action ``observe`` reads the state after each step that matters (and S0),
as the monitors would, and updates those facts by conditional effects; what it may never see takes the fact ``safe``
away, without which nothing goes on. The compilation is lifted: an instance of a rule is a binding of an effect's
``forall``, so that grounding, and the folding of static facts, are the planner's.

- past operators are a bit each (Havelund and Rosu 2004), as in :mod:`plansafe.verifier.execution.monitors.program`;
- operators over the trace are automata whose states are facts (compare Edelkamp, ICAPS 2006; Bonassi et al. 2021);
- a rule about a step is a precondition of that action, or an effect on ``safe``;
- what must hold at the end is part of the goal.

A letter's action is known only once it is taken: formulas that mention actions are read by the actions themselves, each
with its own action fact true and those of the others false, and at the last letter by an action ``finish``. Formulas
that cannot tell a letter from its repetition are read only after actions that change what they read.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    TRUE,
    Action,
    Assignment,
    Atom,
    Effect,
    Formula,
    Metric,
    Predicate,
    Snap,
    Task,
)
from plansafe.verifier.model.operations import (
    atoms_and_fluents,
    symbol_index,
)
from plansafe.verifier.planning.action_effects import distribute
from plansafe.verifier.planning.draft import Draft, always
from plansafe.verifier.planning.printing import TOTAL_COST
from plansafe.verifier.planning.rule_parts import add_part
from plansafe.verifier.planning.slicing import slice_functions
from plansafe.verifier.planning.trace_automata import CannotCompile
from plansafe.verifier.rules.model import Part
from plansafe.verifier.rules.question import EVERY_VIOLATION, Question

OBSERVE, FINISH = "observe", "finish"


class Compiled(NamedTuple):
    """A task without rules. Steps named in ``bookkeeping`` are no steps of the original task.

    ``observe`` is the action that reads a letter, ``watch`` the predicate of the fact that it is due, ``safe`` that of
    the fact that no rule is violated (``None`` where there is nothing to observe or to violate), and ``cost`` the
    function that counts the steps of the original task (``None``: all steps are).
    """

    task: Task
    bookkeeping: frozenset[str]
    observe: str | None
    watch: int | None
    safe: int | None
    cost: int | None


def compile_rules(engine: Engine, rules: bool = True, question: Question = EVERY_VIOLATION) -> Compiled:
    """Compile an engine's rules (with ``rules`` false: none; else those that can decide) into its task.

    Raises :class:`CannotCompile`. Linear in the size of the rules but for automata of trajectory formulas, which have
    up to :data:`MAX_STATES` states and a transition for each way their leaves can differ.
    """
    return _Compiler(engine, rules, question).compiled()


class _Compiler:
    def __init__(self, engine: Engine, rules: bool, question: Question) -> None:
        self.engine = engine
        if engine.refused is not None:
            raise CannotCompile(engine.refused.message)
        if any([action.end is not None for action in engine.task.actions.values()]):
            raise CannotCompile("durative actions")
        if any([literal.time > 0 for literal in engine.task.timed_literals]):
            raise CannotCompile("timed initial literals")
        self.parts: list[tuple[str, Part]] = []
        if rules:
            if engine.limit is not None:
                raise CannotCompile(engine.limit.message)
            for rule in engine.rules:
                if question.decides(rule):
                    self.parts += [(rule.name, part) for part in rule.parts]
        self.draft = Draft(engine)
        self.source = self.draft.source
        self.relevant: set[int] = set()
        self.observe: str | None = None
        self.derived = frozenset([axiom.predicate for stratum in engine.task.axioms for axiom in stratum])

    def compiled(self) -> Compiled:
        """The compiled task."""
        for name, part in self.parts:
            try:
                add_part(self.draft, part)
            except CannotCompile as problem:
                raise CannotCompile(f"rule {name}: {problem}") from None
        self.draft.tick()
        distribute(self.draft)
        for effect in self.draft.observed:
            self._reads(effect.condition)
        watch = self._phases() if self.draft.observed or self.draft.finishing else None
        task = slice_functions(self._task(watch))
        bookkeeping = frozenset(task.actions.keys() - self.source.actions.keys())
        cost = next((f for f, declared in enumerate(task.functions) if declared.name == TOTAL_COST), None)
        return Compiled(task, bookkeeping, self.observe, watch, self.draft.safe, cost)

    def _reads(self, formula: Formula) -> None:
        for read in atoms_and_fluents(formula):
            if isinstance(read, Atom) and read.predicate in self.derived:
                assert self.engine.axioms is not None
                self.relevant |= self.engine.axioms.inputs  # the lot: axioms chain
            else:
                self.relevant.add(symbol_index(read))

    def _phases(self) -> int:
        """The facts that let ``observe`` follow every action that matters."""
        draft = self.draft
        ready, watch = draft.predicate("ready"), draft.predicate("watch")
        draft.true_at_start.add(watch)
        for name, action in self.source.actions.items():
            draft.conditions[name].append(Atom(ready, ()))
            if draft.stepwise or name in draft.touching or self._writes(action) & self.relevant:
                draft.effects[name].append(always((Atom(watch, ()),), (Atom(ready, ()),)))
        draft.observed.append(always((Atom(ready, ()),), (Atom(watch, ()),)))
        if draft.finishing:
            done = draft.predicate("done")
            draft.finishing.append(always((Atom(done, ()),), (Atom(ready, ()),)))
            draft.goal.append(Atom(done, ()))
        else:
            draft.goal.append(Atom(ready, ()))
        self.ready = ready
        return watch

    def _writes(self, action: Action) -> set[int]:
        out: set[int] = set()
        for effect in action.start.effects:
            out |= {atom.predicate for atom in (*effect.adds, *effect.deletes)}
            out |= {-1 - assignment.function for assignment in effect.assignments}
        return out

    def _task(self, watch: int | None) -> Task:
        draft, source = self.draft, self.source
        actions: dict[str, Action] = {}
        guard = [] if draft.safe is None else [Atom(draft.safe, ())]
        functions = list(source.functions)
        fluents = [dict(values) for values in draft.initial.fluents]
        metric = None
        paid: list[Effect] = []
        if watch is not None:
            cost = len(functions)
            functions.append(Predicate(TOTAL_COST, (), (), None))
            fluents.append({0: 0})
            metric = Metric(True, model.Fluent(cost, ()))
            paid = [Effect((), TRUE, (), (), (Assignment("increase", cost, (), model.Constant(1)),))]
        for name, action in source.actions.items():
            condition = (*guard, *action.start.condition, *draft.conditions[name])
            snap = Snap(condition, (*action.start.effects, *draft.effects[name], *paid))
            actions[name] = action._replace(start=snap, preferences=())
        taken = set(source.actions)
        if watch is not None:
            observe = self.observe = _free_name(OBSERVE, taken)
            actions[observe] = _plain(observe, (*guard, Atom(watch, ())), tuple(draft.observed))
        if draft.finishing:
            finish = _free_name(FINISH, taken)
            actions[finish] = _plain(finish, (*guard, Atom(self.ready, ())), tuple(draft.finishing))
        if draft.safe is not None:
            draft.true_at_start.add(draft.safe)
        facts = [set(codes) for codes in draft.initial.facts]
        facts += [set() for _ in range(len(draft.predicates) - len(facts))]
        for predicate in self.derived:
            facts[predicate] = set()
        for predicate in draft.true_at_start:
            facts[predicate].add(0)
        goal = (*source.goal, *draft.goal, *guard)
        changed = {p for action in actions.values() for p in self._writes(action)} | self.derived
        return source._replace(
            predicates=draft.predicates,
            functions=functions,
            actions=actions,
            initial_facts=facts,
            initial_fluents=fluents,
            timed_literals=(),
            goal=goal,
            goal_nodes=(None,) * len(goal),
            goal_preferences=(),
            metric=metric,
            static=[p not in changed for p in range(len(draft.predicates))],
        )


def _plain(name: str, condition: tuple[Formula, ...], effects: tuple[Effect, ...]) -> Action:
    return Action(name, (), Snap(condition, effects), None, (), (), (), None)


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "-"
    taken.add(name)
    return name
