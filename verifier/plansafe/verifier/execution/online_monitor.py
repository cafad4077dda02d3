"""The online monitor: a robot asks before each action, and says afterwards what its sensors see.

    monitor = Monitor(checker.compiled)
    advice = monitor.allowed("(go robot kitchen hallway)")
    if advice.allowed:
        monitor.take("(go robot kitchen hallway)")
        difference = monitor.observe({"(at robot hallway)": True})

Verdicts on the prefix are those of RV-LTL over arbitrary continuations (docs/language.md, section 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.sexpr import Node, find_syntax_errors, parse_nodes, parse_number
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import did_you_mean
from plansafe.verifier.execution.broken_instances import BrokenInstance, new_violations
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.trace_operators import (
    PERMANENTLY_SATISFIED,
    PERMANENTLY_VIOLATED,
    PRESENTLY_SATISFIED,
    PRESENTLY_VIOLATED,
    LetterTime,
)
from plansafe.verifier.execution.state import StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Number
from plansafe.verifier.model.printing import formula_text
from plansafe.verifier.rules.model import shown_names

VERDICTS = ("permanently violated", "presently violated", "presently satisfied", "permanently satisfied")


class Broken(NamedTuple):
    """A rule that a step breaks: its name, the objects it is about, its message, and what makes it matter."""

    rule: str
    binding: tuple[tuple[str, str], ...]
    message: str
    hazard: str | None
    severity: str


class Advice(NamedTuple):
    """Whether an action may be taken now, and why not.

    Unmet literals of its precondition, or the rules it would break.
    """

    allowed: bool
    executable: bool
    reasons: tuple[str, ...] = ()
    breaks: tuple[Broken, ...] = ()


class Difference(NamedTuple):
    """How the world differs from what was predicted.

    Facts seen but not predicted, predicted but denied, and other numbers. ``breaks`` are the rules broken in the state
    as it was seen.
    """

    unexpected: tuple[str, ...]
    missing: tuple[str, ...]
    numbers: tuple[tuple[str, str, str], ...]  # fluent, predicted, seen
    breaks: tuple[Broken, ...]


class ObservationError(ValueError):
    """An observation that is not a fact of the task; ``diagnostic`` says what is wrong."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message + (f" ({diagnostic.help})" if diagnostic.help else ""))
        self.diagnostic = diagnostic


class Monitor:
    """Watches one execution.

    Needs a task that leaves nothing open; raises :class:`~plansafe.verifier.execution.one_world.LeavesOpen` otherwise.
    """

    def __init__(self, compiled: CompiledTask) -> None:
        compiled.require_one_world("a monitor")
        self.compiled = compiled
        self.engine = compiled.engine
        self.task = compiled.task
        state = self.engine.initial()
        state.facts = [set(facts) for facts in state.facts]  # static facts too: what is observed may change them
        self.simulation = Execution(self.engine, state)
        self.runtime: Runtime | None = self.engine.runtime(False, self.simulation.state)
        self.letter = 0
        self._pending: list[StateChange] | None = None
        self._left: Runtime | None = None
        """The monitors before the letter that is being left."""

    # -- before an action ---------------------------------------------------------------------------------------------

    def allowed(self, action: str) -> Advice:
        """One step ahead: may ``action`` be taken in the present state? Nothing is changed."""
        self._settle()
        step = self.step(action)
        if isinstance(step, IllFormed):
            return Advice(False, False, (step.message + (f": {step.help}" if step.help else ""),))
        ahead = self.now().after(step)
        if ahead is None:
            return Advice(False, False, self._why_not(step))
        broken = self._named(ahead.new_violations)
        return Advice(not broken, True, (), broken)

    def now(self) -> Execution:
        """The present state with the monitors that have read it."""
        self._settle()
        return Execution(self.engine, self.simulation.state, self.runtime, self.letter, self.compiled.options.criteria)

    def _leave(self, step: GroundAction | None) -> None:
        """The present letter ends with a step, or with a change of the world by itself."""
        self._left = self.runtime
        if self.runtime is None:
            return
        self.runtime = self.runtime.fork()
        self.engine.announce_step(
            self.runtime, self.simulation.state, step, LetterTime(self.letter, self.letter, False)
        )

    def step(self, action: str) -> GroundAction | IllFormed:
        """The step that ``action`` is, or why it is none."""
        tokens = action.lower().replace("(", " ").replace(")", " ").split()
        if not tokens:
            return IllFormed(SC.STRUCTURE, "an action is missing", 0)
        found = self.engine.resolver.tokens(tokens)
        if isinstance(found, GroundAction) and found.action.end is not None:
            return IllFormed(
                SC.UNTIMED_DURATIVE,
                "the online monitor takes instantaneous actions; model start and end as two actions",
                0,
            )
        return found

    def _why_not(self, step: GroundAction) -> tuple[str, ...]:
        state = self.simulation.state
        evaluator = Evaluator(self.task, state.facts, state.fluents)
        binding = step.binding
        reasons = evaluator.unmet_literals(And(step.action.start.condition), binding, True)
        texts = [
            f"{formula_text(self.task, r.formula, r.binding)} is {'not true' if r.wanted else 'true'}" for r in reasons
        ]
        return tuple(texts) or ("its effects cannot be computed: a number is undefined or two effects conflict",)

    # -- after it -----------------------------------------------------------------------------------------------------

    def take(self, action: str) -> Advice:
        """The robot takes ``action``: the predicted state becomes the present one, until :meth:`observe` corrects it.

        The advice is that of :meth:`allowed`; an action that cannot be executed changes nothing.
        """
        advice = self.allowed(action)
        if not advice.executable:
            return advice
        step = self.step(action)
        assert isinstance(step, GroundAction)
        self._leave(step)
        self.simulation.take(step)
        self._pending = list(self.simulation.changed)
        return advice

    def observe(self, facts: Mapping[str, bool | Number] | Iterable[str] = (), *, complete: bool = False) -> Difference:
        """Reconcile the prediction with what the sensors say, and go on from there.

        ``facts`` maps facts to truth values and fluents to numbers, or lists literals as in ``:init`` (``(p a)``,
        ``(not (p a))``, ``(= (f) 3)``). With ``complete``, facts of the observed predicates that are not listed are
        false. Raises :class:`ObservationError`; then nothing has changed.
        """
        wanted = self._read(facts)
        state = self.simulation.state
        base = len(state.facts)
        if complete:
            seen = {index for index, _ in wanted}
            for predicate in seen:
                if predicate < base:
                    wanted.update(
                        {(predicate, code): False for code in state.facts[predicate] if (predicate, code) not in wanted}
                    )
        log: list[StateChange] = []
        unexpected: list[str] = []
        missing: list[str] = []
        numbers: list[tuple[str, str, str]] = []
        for (index, code), value in wanted.items():
            if index >= base:
                before = state.fluents[index - base].get(code)
                if before != value:
                    state.fluents[index - base][code] = value
                    log.append((index, code, before))
                    numbers.append(
                        (self.task.key_text(index, code), "undefined" if before is None else str(before), str(value))
                    )
            elif bool(value) != (code in state.facts[index]):
                (state.facts[index].add if value else state.facts[index].discard)(code)
                log.append((index, code, bool(value)))
                (unexpected if value else missing).append(self.task.key_text(index, code))
        if self.engine.axioms is not None:
            self.engine.axioms.update(state.facts, state.fluents, log)
        self.simulation.record_observation(log)
        if self._pending is None and log:
            # The world changed by itself: that is a letter without an action of ours.
            self._leave(None)
            self._pending = []
        broken: tuple[Broken, ...] = ()
        if self._pending is not None:
            self._pending += log
            broken = self._settle()
        return Difference(tuple(sorted(unexpected)), tuple(sorted(missing)), tuple(sorted(numbers)), broken)

    def _settle(self) -> tuple[Broken, ...]:
        """The present state is final: let the monitors read its letter."""
        if self._pending is None:
            return ()
        log, self._pending = self._pending, None
        self.letter += 1
        if self.runtime is None or self._left is None:
            return ()
        self.runtime.enter_state(self.simulation.state, _net(log), LetterTime(self.letter, self.letter, False))
        return self._named(new_violations(self._left, self.runtime))

    # -- verdicts -----------------------------------------------------------------------------------------------------

    def verdicts(self) -> dict[str, str]:
        """The verdict of each rule on the execution so far, its worst instance's; one of :data:`VERDICTS`."""
        self._settle()
        out: dict[str, str] = {}
        if self.runtime is None:
            return out
        worst = dict.fromkeys(range(len(self.engine.rule_set.parts)), PRESENTLY_SATISFIED)
        for monitor in self.runtime.monitors:
            worst[monitor.part] = _verdict(monitor)
        for checks in self.runtime.checks.values():
            for check in checks:
                worst[check.part] = PERMANENTLY_VIOLATED if check.violations else PRESENTLY_SATISFIED
        for number, rule in enumerate(self.compiled.rules):
            verdicts = [worst[p] for p, part in enumerate(self.engine.rule_set.parts) if part.rule == number]
            out[rule.name] = VERDICTS[min(verdicts, default=PERMANENTLY_SATISFIED)]
        return out

    def legal(self) -> list[str]:
        """All legal actions of the present state, as PDDL."""
        from plansafe.verifier.execution.steps import step_text  # noqa: PLC0415 - for messages alone

        self._settle()
        return [step_text(step, self.task.objects) for step in self.simulation.legal()]

    def facts(self) -> list[str]:
        """The facts of the present state, as PDDL, sorted."""
        action_predicates = set(self.engine.action_predicates.values())
        found = [
            self.task.fact_text(p, code)
            for p, codes in enumerate(self.simulation.state.facts)
            if p not in action_predicates
            for code in codes
        ]
        return sorted(found)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _named(self, found: Iterable[BrokenInstance]) -> tuple[Broken, ...]:
        """What was found, in the user's words: the rule, its objects, its message."""
        out: dict[Broken, None] = {}
        for part_number, objects, undecided in found:
            part = self.engine.rule_set.parts[part_number]
            rule = self.compiled.rules[part.rule]
            names = shown_names([v.name for v in part.parameters])
            shown = objects if len(objects) == len(names) else ()
            binding = tuple(sorted(zip(names, self.task.names(shown), strict=False)))
            message = rule.message or f"rule {rule.name} is violated"
            for name, value in binding:
                message = message.replace("{" + name + "}", value)
            if undecided:
                message = f"rule {rule.name} cannot be decided: it reads an undefined number"
            out[Broken(rule.name, binding, message, rule.hazard, rule.severity)] = None
        return tuple(out)

    def _read(self, facts: Mapping[str, bool | Number] | Iterable[str]) -> dict[tuple[int, int], bool | Number]:
        out: dict[tuple[int, int], bool | Number] = {}
        items: list[tuple[str, bool | Number | None]] = (
            list(facts.items()) if isinstance(facts, Mapping) else [(text, None) for text in facts]
        )
        for text, value in items:
            source = Source("<observation>", text)
            top = parse_nodes(source)
            if top is None or len(top) != 1:
                found = find_syntax_errors(source)
                raise ObservationError(found[0] if found else Diagnostic(SC.STRUCTURE, f"`{text}` is not one fact"))
            node = top[0]
            if isinstance(node, list) and len(node) == 2 and node[0] == "not" and value in (None, True, False):
                node, value = node[1], not (True if value is None else value)
            elif isinstance(node, list) and len(node) == 3 and node[0] == "=" and value is None:
                node, value = node[1], parse_number(node[2])
            key = self._key(node, text)
            number = key[0] >= len(self.task.predicates)
            if value is None:
                value = True
            if number == isinstance(value, bool):
                raise ObservationError(
                    Diagnostic(SC.TYPE_MISMATCH, f"`{text}` takes {'a number' if number else 'true or false'}")
                )
            out[key] = value
        return out

    def _key(self, node: Node, text: str) -> tuple[int, int]:
        tokens = node if isinstance(node, list) else [node]
        name = tokens[0] if tokens else ""
        predicates = {p.name: i for i, p in enumerate(self.task.predicates) if p.node is not None}
        functions = {f.name: i + len(self.task.predicates) for i, f in enumerate(self.task.functions)}
        index = predicates.get(str(name), functions.get(str(name)))
        if index is None:
            raise ObservationError(
                Diagnostic(
                    SC.UNKNOWN_PREDICATE,
                    f"unknown predicate `{name}` in `{text}`",
                    help=did_you_mean(str(name), [*predicates, *functions]),
                )
            )
        base = len(self.task.predicates)
        declared = self.task.predicates[index] if index < base else self.task.functions[index - base]
        given = len(tokens) - 1
        if given != len(declared.types):
            message = f"`{text}` has {given} argument{'' if given == 1 else 's'} instead of {len(declared.types)}"
            raise ObservationError(Diagnostic(SC.ARITY, message))
        objects: list[int] = []
        for token in tokens[1:]:
            number = self.task.object_index.get(str(token))
            if number is None:
                raise ObservationError(
                    Diagnostic(
                        SC.UNKNOWN_OBJECT,
                        f"unknown object `{token}` in `{text}`",
                        help=did_you_mean(str(token), self.task.object_index),
                    )
                )
            place = len(objects)
            fits = number in self.task.domain_sets[declared.domains[place]]
            if not fits and not self.compiled.options.lenient_types:
                raise ObservationError(
                    Diagnostic(SC.TYPE_MISMATCH, f"`{token}` has the wrong type for `{declared.name}` in `{text}`")
                )
            objects.append(number)
        if self.engine.axioms is not None and index in self.engine.axioms.derived:
            raise ObservationError(
                Diagnostic(SC.STRUCTURE, f"`{declared.name}` is derived: observe the facts that it depends on instead")
            )
        return index, self.task.encode(tuple(objects))


def _net(log: list[StateChange]) -> list[StateChange]:
    """A log without the changes that an observation took back."""
    last: dict[tuple[int, int], StateChange] = {}
    count: dict[tuple[int, int], int] = {}
    for change in log:
        key = change[:2]
        count[key] = count.get(key, 0) + 1
        last[key] = change
    return [change for key, change in last.items() if not isinstance(change[2], bool) or count[key] % 2]


def _verdict(monitor: Invariant | Automaton) -> int:
    if isinstance(monitor, Invariant):
        if monitor.final:
            return PRESENTLY_VIOLATED if monitor.episodes else PRESENTLY_SATISFIED
        return PERMANENTLY_VIOLATED if monitor.episodes or monitor.violations else PRESENTLY_SATISFIED
    if monitor.violations:
        return PERMANENTLY_VIOLATED
    program = monitor.program
    if program.past_mode:
        fails = [
            not program.output(i.state)
            for i in [*monitor.instances.values(), *([] if monitor.default_retired else [monitor.default])]
        ]
        return PRESENTLY_VIOLATED if monitor.mode == "end" and any(fails) else PRESENTLY_SATISFIED
    verdicts = [program.verdict(i.state) for i in monitor.instances.values()]
    if not monitor.default_retired and monitor.has_shared_bindings():
        verdicts.append(program.verdict(monitor.default.state))
    return min(verdicts, default=PERMANENTLY_SATISFIED)
