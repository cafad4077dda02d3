"""The online monitor: advice before each action of a robot, and corrections from its sensors afterwards.

    monitor = Monitor(checker.compiled)
    advice = monitor.allowed("(go robot kitchen hallway)")
    if advice.allowed:
        monitor.take("(go robot kitchen hallway)")
        difference = monitor.observe({"(at robot hallway)": True})

Verdicts on the prefix follow RV-LTL, over arbitrary continuations (docs/language.md, section 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.sexpr import Node, find_syntax_errors, parse_nodes, parse_number
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import did_you_mean
from plansafe.verifier.execution.broken_instances import BrokenInstance, find_new_violations
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.trace_operators import (
    PERMANENTLY_SATISFIED,
    PERMANENTLY_VIOLATED,
    PRESENTLY_SATISFIED,
    PRESENTLY_VIOLATED,
    LetterTime,
)
from plansafe.verifier.execution.state import StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Number
from plansafe.verifier.model.printing import format_unmet_literal
from plansafe.verifier.rules.model import shorten_variable_names

VERDICTS = ("permanently violated", "presently violated", "presently satisfied", "permanently satisfied")
"""The texts of the verdicts of :mod:`.monitors.trace_operators`, by number."""


class BrokenRule(NamedTuple):
    """A rule that a step breaks: its name, objects, message, hazard and severity."""

    rule: str
    binding: tuple[tuple[str, str], ...]
    message: str
    hazard: str | None
    severity: str


class Advice(NamedTuple):
    """Whether an action may be taken now; otherwise the unmet literals of its precondition or the rules it breaks."""

    allowed: bool
    executable: bool
    reasons: tuple[str, ...] = ()
    breaks: tuple[BrokenRule, ...] = ()


class Difference(NamedTuple):
    """The difference between the observed and the predicted state: unexpected and missing facts, and numbers.

    ``breaks`` are the rules that the observed state breaks.
    """

    unexpected: tuple[str, ...]
    missing: tuple[str, ...]
    numbers: tuple[tuple[str, str, str], ...]
    """By fluent as PDDL: the predicted and the observed value."""
    breaks: tuple[BrokenRule, ...]


class ObservationError(ValueError):
    """An observation that is not a fact of the task; ``diagnostic`` has the reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message + (f" ({diagnostic.help})" if diagnostic.help else ""))
        self.diagnostic = diagnostic


class Monitor:
    """Watches one execution: advises before each action, and takes observations after it.

    Raises :class:`~plansafe.verifier.execution.one_world.NeedsOneWorld` for a task with several possible worlds.
    """

    def __init__(self, compiled: CompiledTask) -> None:
        compiled.require_one_world("a monitor")
        self.compiled = compiled
        self.engine = compiled.engine
        self.task = compiled.task
        state = self.engine.make_initial_state()
        state.facts = [set(facts) for facts in state.facts]  # observations may also change static facts
        self.simulation = Execution(self.engine, state)
        self.runtime: Runtime | None = self.engine.start_monitors(False, self.simulation.state)
        self.letter = 0
        self._unread_changes: list[StateChange] | None = None
        """The changes that led to the present state, if the monitors have not read it yet."""
        self._before: Runtime | None = None
        """The monitors before they read the actions of the last letter."""

    # -- before an action ---------------------------------------------------------------------------------------------

    def allowed(self, action: str) -> Advice:
        """Advise whether ``action`` may be taken in the present state, without a change."""
        self._read_state()
        step = self.step(action)
        if isinstance(step, IllFormed):
            return Advice(False, False, (step.message + (f": {step.help}" if step.help else ""),))
        execution = self.now().after(step)
        if execution is None:
            return Advice(False, False, self._explain_failure(step))
        broken = self._name_rules(execution.new_violations)
        return Advice(not broken, True, (), broken)

    def now(self) -> Execution:
        """The present state with the monitors that have read it."""
        self._read_state()
        return Execution(self.engine, self.simulation.state, self.runtime, self.letter, self.compiled.options.criteria)

    def _read_step(self, step: GroundAction | None) -> None:
        """Let the monitors read the step of the present letter; ``None``: the world changes by itself."""
        self._before = self.runtime
        if self.runtime is None:
            return
        self.runtime = self.runtime.fork()
        self.engine.announce_step(
            self.runtime, self.simulation.state, step, LetterTime(self.letter, self.letter, False)
        )

    def step(self, action: str) -> GroundAction | IllFormed:
        """Resolve ``action`` to a step, or to an error."""
        tokens = action.lower().replace("(", " ").replace(")", " ").split()
        if not tokens:
            return IllFormed(SC.STRUCTURE, "an action is missing", 0)
        step = self.engine.resolver.resolve_tokens(tokens)
        if isinstance(step, GroundAction) and step.action.end is not None:
            return IllFormed(
                SC.UNTIMED_DURATIVE,
                "the online monitor takes instantaneous actions; model start and end as two actions",
                0,
            )
        return step

    def _explain_failure(self, step: GroundAction) -> tuple[str, ...]:
        """Return why a step cannot be taken in the present state."""
        state = self.simulation.state
        evaluator = Evaluator(self.task, state.facts, state.fluents)
        literals = evaluator.find_unmet_literals(And(step.action.start.condition), step.binding, True)
        texts = tuple([format_unmet_literal(self.task, literal) for literal in literals])
        return texts or ("its effects cannot be computed: a number is undefined or two effects conflict",)

    # -- afterwards --------------------------------------------------------------------------------------------------

    def take(self, action: str) -> Advice:
        """The robot takes ``action``: the predicted state becomes the present one, until :meth:`observe` corrects it.

        Returns the advice of :meth:`allowed`; an action that cannot be executed changes nothing.
        """
        advice = self.allowed(action)
        if not advice.executable:
            return advice
        step = self.step(action)
        assert isinstance(step, GroundAction)
        self._read_step(step)
        self.simulation.take(step)
        self._unread_changes = list(self.simulation.changed)
        return advice

    def observe(self, facts: Mapping[str, bool | Number] | Iterable[str] = (), *, complete: bool = False) -> Difference:
        """Correct the predicted state by observed facts.

        ``facts`` maps facts to truth values and fluents to numbers, or lists literals as in ``:init`` (``(p a)``,
        ``(not (p a))``, ``(= (f) 3)``). With ``complete``, facts of the observed predicates that are not listed are
        false. Raises :class:`ObservationError`; then nothing has changed.
        """
        observed_values = self._parse_observation(facts)
        state = self.simulation.state
        predicate_count = len(state.facts)
        if complete:
            for predicate in {symbol_index for symbol_index, _ in observed_values if symbol_index < predicate_count}:
                for code in state.facts[predicate]:
                    observed_values.setdefault((predicate, code), False)
        log: list[StateChange] = []
        unexpected: list[str] = []
        missing: list[str] = []
        numbers: list[tuple[str, str, str]] = []
        for (symbol_index, code), value in observed_values.items():
            predicted = state.get_value(symbol_index, code)
            if predicted == value:
                continue
            text = self.task.key_text(symbol_index, code)
            if symbol_index >= predicate_count:
                state.fluents[symbol_index - predicate_count][code] = value
                log.append((symbol_index, code, predicted))
                numbers.append((text, "undefined" if predicted is None else str(predicted), str(value)))
                continue
            log.append((symbol_index, code, bool(value)))
            if value:
                state.facts[symbol_index].add(code)
                unexpected.append(text)
            else:
                state.facts[symbol_index].discard(code)
                missing.append(text)
        if self.engine.axioms is not None:
            self.engine.axioms.update(state.facts, state.fluents, log)
        self.simulation.record_observation(log)
        if self._unread_changes is None and log:
            # The world changed by itself: a letter without an action.
            self._read_step(None)
            self._unread_changes = []
        broken: tuple[BrokenRule, ...] = ()
        if self._unread_changes is not None:
            self._unread_changes += log
            broken = self._read_state()
        return Difference(tuple(sorted(unexpected)), tuple(sorted(missing)), tuple(sorted(numbers)), broken)

    def _read_state(self) -> tuple[BrokenRule, ...]:
        """Let the monitors read the present state, unless they have; return the rules that it breaks."""
        if self._unread_changes is None:
            return ()
        log, self._unread_changes = self._unread_changes, None
        self.letter += 1
        if self.runtime is None or self._before is None:
            return ()
        self.runtime.enter_state(
            self.simulation.state, _compute_net_changes(log), LetterTime(self.letter, self.letter, False)
        )
        return self._name_rules(find_new_violations(self._before, self.runtime))

    # -- verdicts -----------------------------------------------------------------------------------------------------

    def verdicts(self) -> dict[str, str]:
        """By rule, the verdict on the execution until now: the worst of its instances (see :data:`VERDICTS`)."""
        self._read_state()
        verdict_by_rule: dict[str, str] = {}
        if self.runtime is None:
            return verdict_by_rule
        worst = dict.fromkeys(range(len(self.engine.rule_set.parts)), PRESENTLY_SATISFIED)
        for monitor in self.runtime.monitors:
            worst[monitor.part] = _decide_verdict(monitor)
        for checks in self.runtime.checks.values():
            for check in checks:
                worst[check.part] = PERMANENTLY_VIOLATED if check.violations else PRESENTLY_SATISFIED
        for number, rule in enumerate(self.compiled.rules):
            verdicts = [worst[p] for p, part in enumerate(self.engine.rule_set.parts) if part.rule == number]
            verdict_by_rule[rule.name] = VERDICTS[min(verdicts, default=PERMANENTLY_SATISFIED)]
        return verdict_by_rule

    def legal(self) -> list[str]:
        """All legal actions of the present state, as PDDL."""
        self._read_state()
        return [step_text(step, self.task.objects) for step in self.simulation.legal()]

    def facts(self) -> list[str]:
        """The facts of the present state, as PDDL, sorted."""
        action_predicates = set(self.engine.action_predicates.values())
        facts = [
            self.task.fact_text(p, code)
            for p, codes in enumerate(self.simulation.state.facts)
            if p not in action_predicates
            for code in codes
        ]
        return sorted(facts)

    # -- conversion ---------------------------------------------------------------------------------------------------

    def _name_rules(self, instances: Iterable[BrokenInstance]) -> tuple[BrokenRule, ...]:
        """Return the rules of broken instances, with objects and message, each once."""
        broken: dict[BrokenRule, None] = {}
        for part_number, objects, undecided in instances:
            part = self.engine.rule_set.parts[part_number]
            rule = self.compiled.rules[part.rule]
            names = shorten_variable_names([v.name for v in part.parameters])
            known_objects = objects if len(objects) == len(names) else ()
            binding = tuple(sorted(zip(names, self.task.names(known_objects), strict=False)))
            message = rule.message or f"rule {rule.name} is violated"
            for name, value in binding:
                message = message.replace("{" + name + "}", value)
            if undecided:
                message = f"rule {rule.name} cannot be decided: it reads an undefined number"
            broken[BrokenRule(rule.name, binding, message, rule.hazard, rule.severity)] = None
        return tuple(broken)

    def _parse_observation(
        self, facts: Mapping[str, bool | Number] | Iterable[str]
    ) -> dict[tuple[int, int], bool | Number]:
        """Return the observed values by symbol and code. Raises :class:`ObservationError`."""
        observed_values: dict[tuple[int, int], bool | Number] = {}
        literals: list[tuple[str, bool | Number | None]] = (
            list(facts.items()) if isinstance(facts, Mapping) else [(text, None) for text in facts]
        )
        for text, value in literals:
            source = Source("<observation>", text)
            nodes = parse_nodes(source)
            if nodes is None or len(nodes) != 1:
                errors = find_syntax_errors(source)
                raise ObservationError(errors[0] if errors else Diagnostic(SC.STRUCTURE, f"`{text}` is not one fact"))
            node = nodes[0]
            if isinstance(node, list) and len(node) == 2 and node[0] == "not" and value in (None, True, False):
                node, value = node[1], not (True if value is None else value)
            elif isinstance(node, list) and len(node) == 3 and node[0] == "=" and value is None:
                node, value = node[1], parse_number(node[2])
            key = self._make_fact_key(node, text)
            is_number = key[0] >= len(self.task.predicates)
            if value is None:
                value = True
            if is_number == isinstance(value, bool):
                message = f"`{text}` takes {'a number' if is_number else 'true or false'}"
                raise _make_observation_error(SC.TYPE_MISMATCH, message)
            observed_values[key] = value
        return observed_values

    def _make_fact_key(self, node: Node, text: str) -> tuple[int, int]:
        """Return the symbol (:mod:`.state`) and code of an observed fact or fluent."""
        tokens = node if isinstance(node, list) else [node]
        name = str(tokens[0]) if tokens else ""
        predicate_count = len(self.task.predicates)
        predicates = {p.name: i for i, p in enumerate(self.task.predicates) if p.node is not None}
        functions = {f.name: i + predicate_count for i, f in enumerate(self.task.functions)}
        symbol_index = predicates.get(name, functions.get(name))
        if symbol_index is None:
            suggestion = did_you_mean(name, [*predicates, *functions])
            raise _make_observation_error(SC.UNKNOWN_PREDICATE, f"unknown predicate `{name}` in `{text}`", suggestion)
        declared = self.task.get_symbol(symbol_index)
        count = len(tokens) - 1
        if count != len(declared.types):
            message = f"`{text}` has {count} argument{'' if count == 1 else 's'} instead of {len(declared.types)}"
            raise _make_observation_error(SC.ARITY, message)
        objects: list[int] = []
        for token, domain in zip(tokens[1:], declared.domains, strict=True):
            number = self.task.object_index.get(str(token))
            if number is None:
                suggestion = did_you_mean(str(token), self.task.object_index)
                raise _make_observation_error(SC.UNKNOWN_OBJECT, f"unknown object `{token}` in `{text}`", suggestion)
            if number not in self.task.domain_sets[domain] and not self.compiled.options.lenient_types:
                message = f"`{token}` has the wrong type for `{declared.name}` in `{text}`"
                raise _make_observation_error(SC.TYPE_MISMATCH, message)
            objects.append(number)
        if self.engine.axioms is not None and symbol_index in self.engine.axioms.derived:
            message = f"`{declared.name}` is derived: observe the facts that it depends on instead"
            raise _make_observation_error(SC.STRUCTURE, message)
        return symbol_index, self.task.encode(tuple(objects))


def _make_observation_error(code: str, message: str, suggestion: str | None = None) -> ObservationError:
    return ObservationError(Diagnostic(code, message, help=suggestion))


def _compute_net_changes(log: list[StateChange]) -> list[StateChange]:
    """Return the last change of each fact and fluent, without the facts that have changed back."""
    last_changes: dict[tuple[int, int], StateChange] = {}
    counts: dict[tuple[int, int], int] = {}
    for symbol_index, code, value in log:
        counts[symbol_index, code] = counts.get((symbol_index, code), 0) + 1
        last_changes[symbol_index, code] = (symbol_index, code, value)
    return [change for key, change in last_changes.items() if not isinstance(change[2], bool) or counts[key] % 2 == 1]


def _decide_verdict(monitor: InvariantMonitor | Automaton) -> int:
    """Return the worst verdict on the prefix for any instance of a monitor (RV-LTL)."""
    if isinstance(monitor, InvariantMonitor):
        if monitor.final:
            return PRESENTLY_VIOLATED if monitor.episodes else PRESENTLY_SATISFIED
        return PERMANENTLY_VIOLATED if monitor.episodes or monitor.violations else PRESENTLY_SATISFIED
    if monitor.violations:
        return PERMANENTLY_VIOLATED
    program = monitor.program
    if program.past_mode:
        fails = [
            not program.read_output(i.state)
            for i in [*monitor.instances.values(), *([] if monitor.default_retired else [monitor.default_instance])]
        ]
        return PRESENTLY_VIOLATED if monitor.mode == "end" and any(fails) else PRESENTLY_SATISFIED
    verdicts = [program.find_verdict(i.state) for i in monitor.instances.values()]
    if not monitor.default_retired and monitor.has_shared_bindings():
        verdicts.append(program.find_verdict(monitor.default_instance.state))
    return min(verdicts, default=PERMANENTLY_SATISFIED)
