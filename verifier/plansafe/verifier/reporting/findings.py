"""Findings written for people: places, evidence, tables and help for what an outcome says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Label, Span
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan, resolve_plan
from plansafe.verifier.execution.replay import Failure, Outcome
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import Binding, bind
from plansafe.verifier.model.operations import atoms_and_fluents, atoms_in, is_temporal
from plansafe.verifier.model.printing import formula_text
from plansafe.verifier.reporting.consequences import Consequences, MergedViolation
from plansafe.verifier.reporting.report import Blame, Finding, FindingClass
from plansafe.verifier.rules.model import Rule

if TYPE_CHECKING:
    from plansafe.verifier.reporting.fact_history import Fact, FactChanges, FailureReasons, ReasonQuery

_CODES = {
    "process": (SC.PROCESS_VIOLATED, FindingClass.PROCESS),
    "trajectory": (SC.TRAJECTORY_VIOLATED, FindingClass.TRAJECTORY),
    "termination": (SC.TERMINATION_VIOLATED, FindingClass.TERMINATION),
    "obligation": (SC.OBLIGATION_PENDING, FindingClass.OBLIGATION),
    "constraint": (SC.CONSTRAINT_VIOLATED, FindingClass.CONSTRAINT),
}
_SEVERITY = {"critical": 0, "high": 1, "medium": 2, "low": 3}


def write_findings(
    compiled: CompiledTask,
    plan: Source,
    read: ResolvedPlan | None,
    outcomes: list[Outcome],
    violated: list[MergedViolation],
) -> tuple[tuple[Finding, ...], int]:
    """Findings in order of reading and step, at most as many as asked for; and how many were left out.

    What follows from a failed step comes behind all others.
    """
    if read is None:
        read = resolve_plan(compiled.engine, plan)
    failures = _failures(outcomes)
    following = Consequences(outcomes, failures, violated)
    writer = Writer(compiled, plan, read, outcomes, following)
    violated = sorted(
        violated,
        key=lambda v: (
            "halt" not in v.readings,
            v.violation.step,
            _SEVERITY.get(v.rule.severity, 1),
            v.rule.name,
            v.binding,
        ),
    )
    ranked = [(following.is_following(failure), 0, n) for n, (failure, _) in enumerate(failures)]
    ranked += [(bool(following.of_violation(v)), 1, n) for n, v in enumerate(violated)]
    chosen = {(kind, n) for _, kind, n in sorted(ranked)[: compiled.options.max_findings]}
    findings = writer.write(
        [failure for n, failure in enumerate(failures) if (0, n) in chosen],
        [v for n, v in enumerate(violated) if (1, n) in chosen],
    )
    findings += writer.undecided(outcomes[0])
    findings.sort(key=lambda f: (bool(f.follows), "halt" not in f.readings, f.at_end, f.step))
    return tuple(findings), len(ranked) - len(chosen)


def write_exempt(
    compiled: CompiledTask,
    plan: Source,
    read: ResolvedPlan | None,
    outcomes: list[Outcome],
    violated: list[MergedViolation],
) -> tuple[Finding, ...]:
    """Findings for violations that are exempt, in order of step, at most as many as asked for."""
    read = read or resolve_plan(compiled.engine, plan)
    first = sorted(violated, key=lambda v: (v.violation.step, v.rule.name, v.binding))[: compiled.options.max_findings]
    writer = Writer(compiled, plan, read, outcomes, Consequences(outcomes, _failures(outcomes), violated))
    return tuple([finding for finding in writer.write([], first) if finding.rule is not None])


def _failures(outcomes: list[Outcome]) -> list[tuple[Failure, tuple[str, ...]]]:
    found: dict[tuple[int, str], tuple[Failure, tuple[str, ...]]] = {}
    for outcome in outcomes:
        for failure in outcome.failures:
            key = (failure.step, failure.code)
            known = found.get(key)
            found[key] = (
                (failure, (outcome.reading,))
                if known is None
                else (known[0], (*known[1], outcome.reading) if outcome.reading not in known[1] else known[1])
            )
    return sorted(found.values(), key=lambda entry: entry[0].step)


class Writer:
    """Writes findings with their places, tables and help."""

    def __init__(
        self, compiled: CompiledTask, plan: Source, read: ResolvedPlan, outcomes: list[Outcome], following: Consequences
    ) -> None:
        from plansafe.verifier.reporting.fact_history import FactHistory, ReasonQuery  # noqa: PLC0415 - for findings alone

        self.compiled = compiled
        self.task = compiled.task
        self.plan = plan
        self.read = read
        self.outcomes = {outcome.reading: outcome for outcome in outcomes}
        self.following = following
        halt = FactHistory(compiled, read, outcomes[0])
        self.histories = {
            o.reading: FactHistory(compiled, read, o, halt) if n else halt for n, o in enumerate(outcomes)
        }
        self.criteria = ReasonQuery

    def span(self, step: int) -> Span | None:
        """The place of a step, by its number."""
        return self.read.spans[step - 1] if 1 <= step <= len(self.read.spans) else None

    def write(self, failures: list[tuple[Failure, tuple[str, ...]]], violated: list[MergedViolation]) -> list[Finding]:
        """Findings for failed steps, violated rules and an unmet goal.

        The plan runs again at most twice for each reading that has violations, and once for a table of a failure or of
        the goal.
        """
        halt = self.outcomes["halt"]
        history = self.histories["halt"]
        told = {
            n: history.answer(self.outcomes[r[0]].reasons[f.step])
            for n, (f, r) in enumerate(failures)
            if f.step in self.outcomes[r[0]].reasons
        }
        goal: FailureReasons | None = None
        if halt.goal is not True:
            evaluator = Evaluator(self.task, halt.state.facts, halt.state.fluents)
            goal = history.answer(tuple(evaluator.reasons(model.And(self.task.goal), {}, True)))
        answers: dict[int, FailureReasons] = {}
        over_all = {n for n in told if failures[n][0].code == SC.OVER_ALL and {"halt", "skip"} <= set(failures[n][1])}
        past: dict[str, dict[tuple[int, int], FactChanges]] = {}
        for reading in self.outcomes:
            mine = [(n, v) for n, v in enumerate(violated) if v.readings[0] == reading]
            if mine:
                questions = [self._violation_question(v) for _, v in mine]
                got = self.histories[reading].ask(questions)
                answers.update({n: answer for (n, _), answer in zip(mine, got, strict=True)})
            facts = {fact for n, _ in mine for fact in answers[n].facts}
            if reading == "halt":
                halted = [answer for n, answer in told.items() if n not in over_all and "halt" in failures[n][1]]
                facts |= {fact for answer in halted for fact in answer.facts}
                facts |= set(goal.facts) if goal is not None else set()
            if reading == "skip":
                facts |= {fact for n in over_all for fact in told[n].facts}
            past[reading] = self.histories[reading].past(facts) if facts else {}
        out = [
            self._failure(f, r, told.get(n), past["skip" if n in over_all else r[0]])._replace(
                follows=self.following.of_failure(f)
            )
            for n, (f, r) in enumerate(failures)
        ]
        if everything := history.state_text(halt.state):
            out = [f._replace(state=everything) if "halt" in f.readings else f for f in out]
        out += [self._violation(v, answers[n], past[v.readings[0]]) for n, v in enumerate(violated)]
        if goal is not None:
            out.append(self._goal(halt, goal, past["halt"]))
        return out

    # -- failed steps -------------------------------------------------------------------------------------------------

    def _failure(
        self,
        failure: Failure,
        readings: tuple[str, ...],
        answer: FailureReasons | None,
        past: dict[tuple[int, int], FactChanges],
    ) -> Finding:
        step = failure.step
        text = self._step_text(step)
        if failure.ill_formed is not None:
            ill = failure.ill_formed
            return Finding(
                ill.code,
                FindingClass.ILL_FORMED,
                f"step {step} is not a step of this domain: {ill.message}",
                step,
                readings=readings,
                source=self.plan.name,
                span=self._token_span(step, ill.token),
                help=ill.help,
            )
        notes: list[str] = []
        related: list[Label] = []
        help: str | None = None
        table = None
        taken = self.read.steps[step - 1]
        if failure.code in (SC.PRECONDITION, SC.OVER_ALL):
            what = (
                "its condition over all does not hold"
                if failure.code == SC.OVER_ALL
                else "its precondition is not satisfied"
            )
            if failure.detail == "end":
                what = "its condition at the end is not satisfied"
            message = f"step {step} `{text}` cannot be taken: {what}"
            if answer is not None:
                notes += [
                    _reason_text(self.task, reason.formula, reason.binding, reason.wanted) for reason in answer.reasons
                ]
                help = self._help(answer, step)
                if readings[0] == "halt":
                    # A condition over all fails behind the happening before which the plan stops; *skip* goes on to it.
                    letter = self.outcomes["halt"].letters + 1
                    history = self.histories["skip" if failure.code == SC.OVER_ALL and "skip" in readings else "halt"]
                    table = history.table(answer.facts, past, step, letter, "FAILS", letter)
                    related += self._changes(answer, past, letter)
        else:
            message = f"step {step} `{text}` cannot be taken: {self._other_failure(failure)}"
            if failure.interfering_step:
                span = self.span(failure.interfering_step)
                if span is not None:
                    related.append(Label(self.plan.name, span, "happens at the same time", False))
        if isinstance(taken, GroundAction) and isinstance(taken.action.node, list):
            related.append(self._condition_label(taken.action, failure))
        return Finding(
            failure.code,
            FindingClass.INEXECUTABLE,
            message,
            step,
            readings=readings,
            source=self.plan.name,
            span=self.span(step),
            related=tuple(related),
            notes=tuple(notes),
            help=help,
            table=table,
        )

    def _condition_label(self, action: model.Action, failure: Failure) -> Label:
        """Where the action says what failed."""
        node = action.node
        assert isinstance(node, list)
        wanted = {
            SC.PRECONDITION: (":precondition", ":condition"),
            SC.DURATION: (":duration",),
            SC.CONFLICTING_EFFECTS: (":effect",),
        }.get(failure.code, (":condition", ":precondition"))
        for child in range(2, len(node) - 1):
            if node[child] in wanted:
                return self.compiled.context.label(
                    Place(node, child + 1), f"the {str(node[child])[1:]} of `{action.name}`", False
                )
        return self.compiled.context.label(Place(node, 1), f"`{action.name}` is declared here", False)

    def _other_failure(self, failure: Failure) -> str:
        match failure.code:
            case SC.UNDEFINED_NUMBER:
                return failure.detail
            case SC.CONFLICTING_EFFECTS:
                return f"two effects on `{failure.detail}` conflict"
            case SC.INTERFERENCE:
                return f"it interferes with another step at the same time on `{failure.detail}`"
            case SC.DURATION:
                return f"its duration {failure.detail}"
            case _:
                return failure.detail

    def _help(self, answer: FailureReasons, step: int) -> str | None:
        """Where else the plan makes the missing facts true."""
        for reason in answer.reasons:
            if not isinstance(reason.formula, model.Atom):
                continue
            fact = (
                reason.formula.predicate,
                self.task.code_of(reason.formula.arguments, reason.binding),
            )
            able = self.compiled.engine.changing_actions.get((fact[0], reason.wanted), ())
            for later in range(step + 1, min(len(self.read.steps), step + 10_000) + 1):
                taken = self.read.steps[later - 1]
                if (
                    isinstance(taken, GroundAction)
                    and taken.action.name in able
                    and self._gives(taken, fact, reason.wanted)
                ):
                    verb = "makes" if reason.wanted else "ends"
                    text, which = self._step_text(later), self.task.fact_text(*fact)
                    return f"step {later} `{text}` {verb} `{which}`: should it come before step {step}?"
        for reason in answer.reasons:
            if isinstance(reason.formula, model.Atom) and reason.wanted and len(answer.reasons) <= 3:
                actions = self.compiled.engine.changing_actions.get((reason.formula.predicate, True), ())
                if actions:
                    return f"actions that can make it true: {', '.join(['`' + a + '`' for a in actions[:5]])}"
        return None

    def _gives(self, taken: GroundAction, fact: Fact, value: bool) -> bool:
        """Whether the unconditional effects of a step give a fact this value."""
        action = taken.action
        for effect in (*action.start.effects, *(action.end.effects if action.end else ())):
            if effect.variables or effect.condition is not model.TRUE:
                continue
            for atom in effect.adds if value else effect.deletes:
                if atom.predicate == fact[0] and self.task.code_of(atom.arguments, taken.binding) == fact[1]:
                    return True
        return False

    # -- violated rules -----------------------------------------------------------------------------------------------

    def _violation_question(self, v: MergedViolation) -> ReasonQuery:
        binding = bind(v.part.parameters, v.violation.binding)
        formula = v.part.body
        if v.part.mode == "each" and v.part.guard is not None:
            formula = model.Or((model.Not(v.part.guard), formula))
        temporal = is_temporal(formula)
        return self.criteria(v.violation.letter, formula, binding, temporal or v.part.mode == "whole")

    def _violation(
        self, v: MergedViolation, answer: FailureReasons, past: dict[tuple[int, int], FactChanges]
    ) -> Finding:
        code, finding_class = _CODES[v.rule.kind]
        step = v.violation.step
        letter = v.violation.letter
        where = self._where(v)
        if code == SC.OBLIGATION_PENDING:
            message = (
                f"obligation `{v.rule.name}` is not fulfilled {where}"
                if v.violation.at_end
                else f"obligation `{v.rule.name}` is violated {where}"
            )
        else:
            noun = "constraint" if v.rule.kind == "constraint" else "rule"
            message = f"{noun} `{v.rule.name}` is violated {where}"
        if v.rule.message:
            message += f": {_filled(v.rule.message, dict(v.binding))}"
        notes = [
            _reason_text(self.task, reason.formula, reason.binding, reason.wanted)
            for reason in answer.reasons
            if next(atoms_and_fluents(reason.formula), None)
            is not None  # which things are the same, or of a type, is no news to a reader
        ]
        # Where a step is forbidden, the state before it was judged; the row is that of the step.
        judged = letter + 1 if v.part.mode == "each" and not v.part.after and self._leads_on(v) else letter
        table = self.histories[v.readings[0]].table(answer.facts, past, step, letter, "FAILS", judged)
        related = self._changes(answer, past, letter)
        related += self._earlier_steps(v)
        binding = ", ".join([f"{name} = {value}" for name, value in v.binding])
        related.append(self._rule_label(v.rule, f"the rule{', ' + binding if binding else ''}"))
        return Finding(
            code,
            finding_class,
            message,
            step,
            v.rule.name,
            v.binding,
            v.violation.at_end,
            v.readings,
            Blame(v.blame),
            self.plan.name,
            self.span(step),
            tuple(related),
            tuple(notes),
            _filled(v.rule.fix, dict(v.binding)) if v.rule.fix else None,
            table,
            v.rule.hazard,
            v.rule.targets,
            v.rule.severity,
            v.rule.rationale,
            state=answer.state,
            follows=self.following.of_violation(v),
        )

    def _where(self, v: MergedViolation) -> str:
        """Where a rule is violated. A happening of timed literals alone has no step of its own."""
        step, letter = v.violation.step, v.violation.letter
        if self.following.cut_off(v):
            return f"where the plan stops, {self._stop(self.outcomes['halt'])}"
        if v.violation.at_end:
            return "at the end of the plan"
        if not step:
            return "before step 1" if letter else "in the initial state"
        alone = v.part.mode != "each" and not self.histories[v.readings[0]].taken(letter)
        return f"after step {step}" if alone else f"at step {step}"

    def _leads_on(self, v: MergedViolation) -> bool:
        """Whether the step of a finding leads away from the letter it was judged in."""
        return v.violation.step in [step for step, _ in self.histories[v.readings[0]].taken(v.violation.letter + 1)]

    def _earlier_steps(self, v: MergedViolation) -> list[Label]:
        """For a formula about actions: the last step before the violation that each of its action atoms matches."""
        action_predicates = {predicate: key for key, predicate in self.compiled.engine.action_predicates.items()}
        values = bind(v.part.parameters, v.violation.binding)
        history = self.histories[v.readings[0]]
        matched = v.violation.step if v.part.mode == "each" else 0
        out: dict[int, Label] = {}
        for read in atoms_in(v.part.body):
            if read.predicate not in action_predicates:
                continue
            kind, name = action_predicates[read.predicate]
            wanted = [a if a >= 0 else values.get(-1 - a) for a in read.arguments]
            last = v.violation.letter + 1
            for letter in range(last, max(last - 10_000, 0), -1):
                fitting = [
                    step
                    for step, phase in history.taken(letter)
                    if step != matched and (kind == "during" or phase == kind) and self._fits(step, name, wanted)
                ]
                if fitting:
                    span = self.span(max(fitting))
                    if span is not None:
                        out[max(fitting)] = Label(self.plan.name, span, "this step is relevant to the rule", False)
                    break
        return [out[step] for step in sorted(out)]

    def _fits(self, step: int, name: str, wanted: list[int | None]) -> bool:
        """Whether a step is of this action, with these objects (``None``: any)."""
        taken = self.read.steps[step - 1]
        if not isinstance(taken, GroundAction) or taken.action.name != name:
            return False
        return all([w is None or w == o for w, o in zip(wanted, taken.objects, strict=True)])

    def _rule_label(self, rule: Rule, text: str) -> Label:
        node = rule.at.node
        if rule.kind != "constraint":
            fields = {str(node[child]): child + 1 for child in range(2, len(node) - 1) if isinstance(node[child], str)}
            for key in (":forbid", ":require", ":forbid-after", ":require-after", ":then", ":formula", ":when"):
                if key in fields:
                    return self.compiled.context.label(Place(node, fields[key]), text, False)
        return self.compiled.context.label(rule.at, text, False)

    # -- the rest -----------------------------------------------------------------------------------------------------

    def _goal(self, halt: Outcome, answer: FailureReasons, past: dict[tuple[int, int], FactChanges]) -> Finding:
        """The goal is not reached."""
        history = self.histories["halt"]
        missing = [_reason_text(self.task, r.formula, r.binding, r.wanted) for r in answer.reasons]
        related = self._changes(answer, past, halt.letters)
        node = self.task.goal_nodes[0] if self.task.goal_nodes else None
        if isinstance(node, list):
            related.append(self.compiled.context.label(Place(node), "the goal", False))
        stopped = f" where the plan stops, {self._stop(halt)}" if halt.failures else ""
        follows = self.following.of_goal()
        if halt.failures and not follows and len(self.outcomes) > 1:
            missing.append("it is also not reached if the failed steps are skipped or forced")
        last = len(self.read.steps)
        letter = halt.letters
        table = history.table(answer.facts, past, last, letter, "unmet", letter) if not halt.failures else None
        return Finding(
            SC.GOAL,
            FindingClass.UNMET_GOAL,
            f"the goal is not reached{stopped}",
            min(last, halt.letters),
            at_end=True,
            source=self.plan.name,
            span=None if halt.failures else self.span(last),
            related=tuple(related),
            notes=tuple(missing),
            table=table,
            follows=follows,
        )

    def _stop(self, halt: Outcome) -> str:
        """Where a plan stops at a failed step. In a timed one, what failed may have begun before."""
        if self.read.timed is None:
            return f"before step {halt.failures[0].step}"
        return f"after time {float(halt.end):g}" if halt.letters else "before the first happening"

    def undecided(self, halt: Outcome) -> list[Finding]:
        """Rule instances that could not be decided."""
        out: dict[str, Finding] = {}
        for part_number, binding in halt.undecided:
            part = self.compiled.engine.rule_set.parts[part_number]
            rule = self.compiled.rules[part.rule]
            if rule.name in out:
                continue
            too_large = part_number in (
                self.compiled.engine.prototype.too_large if self.compiled.engine.prototype else ()
            )
            why = "has too many instances" if too_large else "reads an undefined number"
            names = tuple([(v.name, self.task.objects[o]) for v, o in zip(part.parameters, binding, strict=False)])
            out[rule.name] = Finding(
                SC.TOO_MANY_INSTANCES if too_large else SC.RULE_UNDEFINED,
                FindingClass.UNDECIDED,
                f"rule `{rule.name}` could not be decided: it {why}",
                halt.executed,
                rule.name,
                names,
                True,
                related=(self._rule_label(rule, "the rule"),),
                source=self.plan.name,
            )
        return list(out.values())

    def _changes(self, answer: FailureReasons, past: dict[tuple[int, int], FactChanges], letter: int) -> list[Label]:
        """Labels at the steps that last changed the facts that matter."""
        by_step: dict[int, list[str]] = {}
        for fact in answer.facts:
            earlier = [change for change in past[fact].changes if change[0] <= letter]
            if earlier and earlier[-1][1]:
                _, steps, value = earlier[-1]
                word = "true" if value is True else "false" if value is False else str(value)
                for step in steps:
                    by_step.setdefault(step, []).append(f"`{self.task.key_text(*fact)}` becomes {word}")
        out = []
        for step, texts in sorted(by_step.items()):
            span = self.span(step)
            if span is not None:
                out.append(Label(self.plan.name, span, " and ".join(texts) + " here", False))
        return out

    def _step_text(self, step: int) -> str:
        text = self.histories["halt"].action_text(step)
        return f"({text if len(text) <= 200 else text[:197] + '...'})"

    def _token_span(self, step: int, token: int) -> Span | None:
        """The place of one token of a step."""
        span = self.span(step)
        if span is None:
            return None
        import re  # noqa: PLC0415 - for findings alone

        for number, match in enumerate(re.finditer(r";[^\r\n]*|[^\s();]+", self.plan.slice(span))):
            if number == token:
                return Span(span.start + match.start(), span.start + match.end())
        return span


def _reason_text(task: model.Task, formula: model.Formula, binding: Binding, wanted: bool) -> str:
    """One literal that has not the value it should have, in words."""
    return (
        f"`{formula_text(task, formula, binding)}` is {'not true' if wanted else 'true'}"
        if not isinstance(formula, model.Atom)
        else (f"`{formula_text(task, formula, binding)}` is {'false' if wanted else 'true'}")
    )


def _filled(message: str, binding: dict[str, str]) -> str:
    """A rule's message with ``{?x}`` replaced."""
    for name, value in binding.items():
        message = message.replace("{" + name + "}", value)
    return message
