"""The findings about each rule alone: SC750, SC751, SC756 to SC758."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Label, Severity
from plansafe.grammar.source import Source
from plansafe.specs.lint.budget import Budget
from plansafe.specs.lint.example_problems import generate_example_problems, has_violation_in_example
from plansafe.specs.lint.letter_question import Possibility
from plansafe.specs.lint.lint_problem import Decision
from plansafe.specs.lint.lint_run import FORMULA_PROOF, LintedRule, LintRun
from plansafe.specs.lint.model import LintFinding, OpenQuestion, Scope
from plansafe.specs.lint.part_statements import split_step_pattern
from plansafe.specs.lint.possible_changes import PossibleChanges
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import And, Atom, Formula, Not, Or, Quantified, Task, Truth, Variable
from plansafe.verifier.model.operations import find_variable_slots
from plansafe.verifier.model.printing import format_formula
from plansafe.verifier.rules.model import Rule, RulePart, shorten_variable_names
from plansafe.verifier.symbolic.worlds.relaxation import Relaxation

EXAMPLE_S = 2.0
"""Seconds for the search in one problem that was made to violate a rule."""


class RuleCheck:
    """Checks each rule alone."""

    def __init__(self, run: LintRun) -> None:
        self.run = run
        self._given_problems_text = "the given problem" if len(run.problems) == 1 else "the given problems"
        self._doubtful: list[LintedRule] = []
        """Rules for which formulas do not decide whether they can be violated, if no problem is given."""

    def check(self, linted_rule: LintedRule) -> None:
        """Check the text of a rule, and whether it can be violated and satisfied."""
        self._check_parameters_and_fields(linted_rule)
        self._check_violable(linted_rule)
        self._check_satisfiable(linted_rule)

    def _check_parameters_and_fields(self, linted_rule: LintedRule) -> None:
        rule = linted_rule.rule
        rule_label = self.run.checkers[linted_rule.checker].compiled.context.label(rule.at)
        for name in find_unused_parameters(rule, rule_label, self.run.sources.get(rule_label.source)):
            message = f"parameter `{name}` of rule `{rule.name}` is not used in any formula"
            reason = "the rule has an instance for each object, and all instances are equivalent"
            finding = LintFinding(SC.IDLE_PART, Severity.WARNING, message, reason, help="leave it out")
            self.run.add_finding([linted_rule], finding, "here")
        missing_fields = find_missing_hazard_fields(rule)
        if missing_fields:
            message = f"rule `{rule.name}` has no {' and '.join([f'`{field}`' for field in missing_fields])}"
            reason = "reports cannot show the kind of harm, and gaps by hazard are not detected"
            finding = LintFinding(SC.IDLE_PART, Severity.NOTE, message, reason, help="name them")
            self.run.add_finding([linted_rule], finding, "here")

    # -- can it be violated? ------------------------------------------------------------------------------------------

    def _check_violable(self, linted_rule: LintedRule) -> None:
        rule, prover = linted_rule.rule, self.run.provers[linted_rule.checker]
        with self.run.budget.running():
            answer = prover.decide_violable(linted_rule.number) if rule.parts else Possibility.IMPOSSIBLE
        if answer is Possibility.IMPOSSIBLE:
            reason = prover.explain_unviolable(linted_rule.number)
            self._report_never_violated(linted_rule, "", reason, FORMULA_PROOF, Scope.ANY)
            return
        if not self.run.problems:
            if answer is Possibility.UNDECIDED:
                self._doubtful.append(linted_rule)
            return
        problems = [
            n for n, number in linted_rule.number_by_problem.items() if self.run.problems[n].has_instance(number)
        ]
        if not problems:
            self.run.useless_keys.add(linted_rule.key)
            message = f"rule `{rule.name}` has no instance in {self._given_problems_text}"
            reason = self._explain_missing_objects(linted_rule)
            finding = LintFinding(SC.RULE_WITHOUT_INSTANCE, Severity.NOTE, message, reason, scope=Scope.GIVEN)
            self.run.add_finding([linted_rule], finding, "no instance")
            return
        decisions = self._decide_violable(linted_rule, problems)
        if any([decision.holds for decision in decisions]):
            return
        if all([decision.holds is False for decision in decisions]):
            proofs = ", ".join(sorted({decision.proof for decision in decisions}))
            reason = self._explain_unviolable(linted_rule, problems)
            where, proof = f" in {self._given_problems_text}", f"{proofs}; {self._format_problem_names(problems)}"
            self._report_never_violated(linted_rule, where, reason, proof, Scope.GIVEN)
        elif any([self.run.problems[problem].can_search for problem in problems]):
            reason = next(decision.proof for decision in decisions if decision.holds is None)
            names = self._format_problem_names(problems)
            self.run.open_questions.append(OpenQuestion("can it be violated?", rule.name, names, reason))

    def _report_never_violated(
        self, linted_rule: LintedRule, where: str, reason: str, proof: str, scope: Scope
    ) -> None:
        self.run.useless_keys.add(linted_rule.key)
        message = f"rule `{linted_rule.rule.name}` can never be violated{where}"
        finding = LintFinding(SC.RULE_NEVER_VIOLATED, Severity.WARNING, message, reason, proof, scope)
        self.run.add_finding([linted_rule], finding, "never violated")

    def _decide_violable(self, linted_rule: LintedRule, problems: list[int]) -> list[Decision]:
        """Decide for each problem; planners are used only if nothing else finds an example in any problem."""
        quick_decisions = [
            self.run.problems[n].decide_violable(linted_rule.number_by_problem[n], may_search=False) for n in problems
        ]
        if any([decision.holds for decision in quick_decisions]):
            return quick_decisions
        decisions = []
        for n, decision in zip(problems, quick_decisions, strict=True):
            if decision.holds is None:
                decision = self.run.problems[n].decide_violable(linted_rule.number_by_problem[n], may_search=True)
            decisions.append(decision)
            if decision.holds:
                break
        return decisions

    def _explain_missing_objects(self, linted_rule: LintedRule) -> str:
        for problem, number in linted_rule.number_by_problem.items():
            rule, task = self.run.checkers[problem].rules[number], self.run.problems[problem].task
            table = self.run.domain_indexes[problem].table
            for variable in rule.declared_parameters:
                if not task.domains[variable.domain]:
                    types = table.get_alternatives(variable.domain)
                    if types is not None:
                        return f"the problem has no object of type `{table.format_types(types)}`"
        return "a parameter has no possible object"

    def _explain_unviolable(self, linted_rule: LintedRule, problems: list[int]) -> str:
        for problem in problems:
            relaxation = self.run.problems[problem].relaxation
            parts = self.run.checkers[problem].rules[linted_rule.number_by_problem[problem]].parts
            if relaxation is not None:
                reason = explain_never_violated(relaxation, self.run.problems[problem].task, parts)
                if reason:
                    return reason
        return "the conditions that violate it are never true together"

    def _format_problem_names(self, problems: Sequence[int]) -> str:
        names = [self.run.get_problem_name(problem) for problem in problems]
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    # -- can it be satisfied? -----------------------------------------------------------------------------------------

    def _check_satisfiable(self, linted_rule: LintedRule) -> None:
        rule = linted_rule.rule
        if linted_rule.key in self.run.useless_keys or not rule.parts:
            return
        with self.run.budget.running():
            is_unsatisfiable = self.run.provers[linted_rule.checker].can_never_be_satisfied([linted_rule.number])
        if is_unsatisfiable:
            message = f"rule `{rule.name}` can never be satisfied"
            reason = "its condition contradicts itself: even the empty plan violates it"
            self._report_never_satisfied(linted_rule, message, reason, FORMULA_PROOF)
            return
        for n, number in linted_rule.number_by_problem.items():
            if n >= len(self.run.problems) or not self.run.problems[n].has_instance(number):
                continue
            decision = self.run.problems[n].decide_satisfiable(number)
            problem = self.run.get_problem_name(n)
            if decision.holds is False:
                message = f"every plan for {problem} violates rule `{rule.name}` or leaves it undecided"
                has_trajectory_part = any([part.mode == "whole" for part in rule.parts])
                reason = "no plan satisfies it" if has_trajectory_part else "no plan makes its final condition true"
                if decision.proof == "initial state":
                    reason = "the initial state violates it, before the first step of any plan"
                self._report_never_satisfied(linted_rule, message, reason, f"{decision.proof}; {problem}", problem)
                return
            if decision.holds is None and self.run.problems[n].can_search:
                question = OpenQuestion("can it be satisfied?", rule.name, problem, decision.proof)
                self.run.open_questions.append(question)

    def _report_never_satisfied(
        self, linted_rule: LintedRule, message: str, reason: str, proof: str, problem: str | None = None
    ) -> None:
        self.run.useless_keys.add(linted_rule.key)
        finding = LintFinding(SC.RULE_NEVER_SATISFIED, Severity.ERROR, message, reason, proof)
        if problem is not None:
            help = "correct the initial state or the rule"
            finding = finding._replace(scope=Scope.GIVEN, problem=problem, help=help)
        self.run.add_finding([linted_rule], finding, "never satisfied")

    # -- influence and examples ---------------------------------------------------------------------------------------

    def check_influence(self, linted_rule: LintedRule) -> None:
        """Report why no action can change what a rule is about, if that is so."""
        changes = PossibleChanges(self.run.domain_indexes[linted_rule.checker])
        for reason in changes.explain_no_influence(linted_rule.rule):
            message = f"no action can influence rule `{linted_rule.rule.name}`"
            proof = "effects, types and named objects of the domain"
            finding = LintFinding(SC.RULE_WITHOUT_INFLUENCE, Severity.WARNING, message, reason, proof)
            self.run.add_finding([linted_rule], finding, "no action influences it")

    def search_examples(self) -> None:
        """Search for plans that violate the doubtful rules, in problems made for the purpose."""
        budget = Budget(self.run.options.time_limit_s)
        with budget.running():
            for linted_rule in self._doubtful:
                if not (self.run.options.search and not budget.is_spent and self._has_example(linted_rule, budget)):
                    reason = "formulas alone do not decide it"
                    question = OpenQuestion("can it be violated?", linted_rule.rule.name, None, reason)
                    self.run.open_questions.append(question)

    def _has_example(self, linted_rule: LintedRule, budget: Budget) -> bool:
        """Whether a search in a small problem made for the purpose finds a plan that violates a rule."""
        checker, index = self.run.checkers[linted_rule.checker], self.run.domain_indexes[linted_rule.checker]
        symbols = self.run.provers[linted_rule.checker].symbols[linted_rule.number]
        for text in generate_example_problems(index, linted_rule.rule, symbols, budget.deadline):
            seconds = budget.limit_duration(EXAMPLE_S)
            if has_violation_in_example(checker, index, linted_rule.rule, text, symbols, seconds):
                return True
            if budget.is_spent:
                break
        return False


# ---- the text of a rule ---------------------------------------------------------------------------------------------


def find_unused_parameters(rule: Rule, label: Label, source: Source | None) -> Iterator[str]:
    """Yield the declared parameters that occur in no formula and no step. ``label`` is the place of the rule.

    A parameter that the text mentions elsewhere, but that a mapping or a macro removed, is not a mistake in the rule.
    """
    used: set[int] = set()
    for part in rule.parts:
        for formula in (part.body, part.guard, part.step):
            if formula is not None:
                used |= find_variable_slots(formula)
    used |= {-1 - argument for pattern in rule.step_patterns for argument in pattern.atom.arguments if argument < 0}
    text = "" if source is None else re.sub(r'"(?:\\.|[^"\\])*"|;[^\r\n]*', "", source.slice(label.span)).lower()
    names = shorten_variable_names([v.name for v in rule.declared_parameters])
    for variable, name in zip(rule.declared_parameters, names, strict=True):
        if variable.slot not in used and len(re.findall(rf"{re.escape(name)}(?![^\s()])", text)) == 1:
            yield name


def find_missing_hazard_fields(rule: Rule) -> list[str]:
    """Find the fields of hazard and target that a rule of a specification does not have."""
    if rule.kind == "constraint":
        return []
    return [field for field, value in ((":hazard", rule.hazard), (":target", rule.targets)) if not value]


# ---- why no trace of a problem violates a rule ----------------------------------------------------------------------


def explain_never_violated(relaxation: Relaxation, task: Task, parts: tuple[RulePart, ...]) -> str:
    """Name a condition that every violation of a part needs, and that is never true; empty if there is none."""
    for part in parts:
        try:
            reason = _explain_unviolable_part(relaxation, task, part)
        except LimitReached:
            continue
        if reason:
            return reason
    return ""


def _explain_unviolable_part(relaxation: Relaxation, task: Task, part: RulePart) -> str:
    if part.mode == "whole":
        return ""
    variables = part.parameters
    if part.step is not None:
        step, wildcards = split_step_pattern(part)
        if not relaxation.find_bindings(part.step, variables):
            name = task.predicates[step.predicate].name.rpartition(" ")[2]
            return f"`{name}` can never be taken with these objects"
        variables = (*variables, *wildcards)
    guard = [(part.guard, True)] if part.guard is not None else []
    for formula, positive in (*guard, (part.body, False)):
        for literal, value in _list_signed_conjuncts(formula, positive):
            if isinstance(literal, Truth) or relaxation.find_bindings(literal, variables, value):
                continue
            text = format_open_formula(task, literal, variables)
            if isinstance(literal, Atom) and value:
                return f"{text} is never true: no initial state has it, and no executable action adds it"
            if isinstance(literal, Atom):
                return f"{text} is never false: the initial state has it, and no executable action deletes it"
            return f"{text} is never {'true' if value else 'false'}"
    return ""


def _list_signed_conjuncts(formula: Formula, positive: bool) -> list[tuple[Formula, bool]]:
    """List the formulas that all must have a certain value if ``formula`` is true (``positive``), or false."""
    conjuncts: list[tuple[Formula, bool]] = []
    stack = [(formula, positive)]
    while stack:
        part, value = stack.pop()
        if isinstance(part, Not):
            stack.append((part.body, not value))
        elif isinstance(part, And | Or) and isinstance(part, And) == value:
            stack += [(operand, value) for operand in reversed(part.parts)]
        else:
            conjuncts.append((part, value))
    return conjuncts


def format_open_formula(task: Task, formula: Formula, variables: tuple[Variable, ...]) -> str:
    """Format a formula with free variables as PDDL, between backquotes."""
    if not variables:
        return f"`{format_formula(task, formula, {})}`"
    names = shorten_variable_names([v.name for v in variables])
    renamed = tuple([v._replace(name=name) for v, name in zip(variables, names, strict=True)])
    closed_text = format_formula(task, Quantified(False, renamed, formula), {})  # prints bound variables only
    prefix = f"(exists ({' '.join(names)}) "
    return f"`{closed_text[len(prefix) : -1]}`"
