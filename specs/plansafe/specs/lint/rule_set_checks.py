"""The findings about several rules, about actions and about goals: SC752 to SC755."""

from __future__ import annotations

from itertools import combinations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Label, Severity
from plansafe.specs.lint.lint_run import FORMULA_PROOF, LintedRule, LintRun, format_rule_list
from plansafe.specs.lint.model import LintFinding, OpenQuestion, Scope
from plansafe.verifier.elaborate.context import Place

MAX_PAIRS = 3_000
"""Maximum number of pairs of rules that are checked for contradictions."""


class RuleSetCheck:
    """Checks sets of rules that can be violated and satisfied alone."""

    def __init__(self, run: LintRun) -> None:
        self.run = run

    def check_by_formulas(self) -> None:
        """Check the rules for every problem of the domain, by formulas."""
        with self.run.budget.running():
            self._report_contradictions()
            self._report_excluded_actions()
            self._report_redundant_rules()

    def check_in_problems(self) -> None:
        """Check the rules in each given problem."""
        for problem in range(len(self.run.problems)):
            self._report_contradiction_in_problem(problem)
            self._check_goal(problem)

    def _report_contradictions(self) -> None:
        pair_count = 0
        for first, second in combinations(self.run.useful_rules, 2):
            checker = max(first.checker, second.checker)
            prover = self.run.provers[checker]
            if checker not in first.number_by_problem or checker not in second.number_by_problem:
                continue
            numbers = [first.number_by_problem[checker], second.number_by_problem[checker]]
            if prover.symbols[numbers[0]].isdisjoint(prover.symbols[numbers[1]]):
                continue
            pair_count += 1
            if pair_count > MAX_PAIRS:
                reason = f"more than {MAX_PAIRS} pairs of rules"
                self.run.open_questions.append(OpenQuestion("can all rules be satisfied?", None, None, reason))
                break
            if prover.can_never_be_satisfied(numbers):
                self.run.contradictions.append(frozenset((first.rule.name, second.rule.name)))
                message = f"rules `{first.rule.name}` and `{second.rule.name}` contradict each other"
                reason = "in a problem in which both have an instance, no trace satisfies both"
                finding = LintFinding(SC.RULES_CONTRADICT, Severity.ERROR, message, reason, FORMULA_PROOF)
                self.run.add_finding([first, second], finding, "never satisfied with the other")

    def _report_excluded_actions(self) -> None:
        prover, checker = self.run.provers[0], self.run.checkers[0]
        rule_by_number = self._map_first_checker_rules()
        ignored_rules = frozenset(range(len(checker.rules))) - rule_by_number.keys()
        for action, numbers in prover.find_excluded_actions(ignored_rules):
            rules = [rule_by_number[number] for number in numbers]
            message = f"action `{action.name}` can never be taken without violating {format_rule_list(rules)}"
            reason = (
                "the conditions that the rules require before or after it contradict its precondition or its effects"
            )
            help = f"to forbid `{action.name}` entirely, use `:on` with `:forbid (and)`"
            finding = LintFinding(SC.UNUSABLE_ACTION, Severity.WARNING, message, reason, FORMULA_PROOF, help=help)
            action_label: Label | None = None
            if isinstance(action.node, list):
                action_label = checker.compiled.context.label(Place(action.node, 1), "this action", False)
            self.run.add_finding(rules, finding, "rules the action out", action_label)

    def _map_first_checker_rules(self) -> dict[int, LintedRule]:
        """Map the numbers of the useful rules of the first checker to these rules."""
        return {linted_rule.number: linted_rule for linted_rule in self.run.useful_rules if linted_rule.checker == 0}

    def _report_redundant_rules(self) -> None:
        redundant_numbers: set[int] = set()
        rule_by_number = self._map_first_checker_rules()
        prover = self.run.provers[0]
        for number, linted_rule in rule_by_number.items():
            if number in redundant_numbers:
                continue
            for candidate in prover.find_implying_candidates(number, rule_by_number):
                if candidate in redundant_numbers or not prover.is_implied(number, candidate):
                    continue
                redundant_numbers.add(number)
                implying_rule = rule_by_number[candidate]
                message = f"rule `{linted_rule.rule.name}` follows from rule `{implying_rule.rule.name}`"
                reason = "every trace that violates it also fails to satisfy the other rule"
                if prover.is_implied(candidate, number):
                    redundant_numbers.add(candidate)
                    message = f"rules `{linted_rule.rule.name}` and `{implying_rule.rule.name}` are equivalent"
                    reason = "every trace that violates one of them also fails to satisfy the other"
                help = "remove it, unless you need its message or severity"
                finding = LintFinding(SC.REDUNDANT_RULE, Severity.WARNING, message, reason, FORMULA_PROOF, help=help)
                self.run.add_finding([linted_rule, implying_rule], finding, "adds nothing")
                break

    def _report_contradiction_in_problem(self, problem: int) -> None:
        rule_by_number = self.run.map_useful_rules(problem)
        if len(rule_by_number) < 2:
            return
        conflict = self.run.problems[problem].find_contradiction(list(rule_by_number))
        if conflict is None or len(conflict.rules) < 2:
            return
        rules = [rule_by_number[number] for number in conflict.rules]
        names = frozenset([linted_rule.rule.name for linted_rule in rules])
        if any([reported_names <= names for reported_names in self.run.contradictions]):
            return
        self.run.contradictions.append(names)
        problem_name = self.run.get_problem_name(problem)
        message = f"no plan for {problem_name} satisfies {format_rule_list(rules)} together"
        reason, proof = "each of them can be satisfied", f"{conflict.proof}; {problem_name}"
        code, severity = SC.RULES_CONTRADICT, Severity.ERROR
        finding = LintFinding(code, severity, message, reason, proof, Scope.GIVEN, problem_name)
        self.run.add_finding(rules, finding, "never satisfied with the others")

    def _check_goal(self, problem: int) -> None:
        """Check whether the goal of a problem can be reached safely."""
        lint_problem, rule_by_number = self.run.problems[problem], self.run.map_useful_rules(problem)
        if not rule_by_number or not lint_problem.can_search:
            return
        problem_name = self.run.get_problem_name(problem)
        decision, numbers = lint_problem.decide_safe_goal(sorted(rule_by_number))
        if decision.holds is None:
            question = "can the goal be reached with all rules satisfied?"
            self.run.open_questions.append(OpenQuestion(question, None, problem_name, decision.proof))
        elif decision.holds is False and numbers:
            rules = [rule_by_number[number] for number in numbers]
            message = f"every plan that reaches the goal of {problem_name} violates {format_rule_list(rules)}"
            reason = "the goal can be reached, and each rule can be satisfied, but not together"
            proof = f"{decision.proof}; {problem_name}"
            finding = LintFinding(SC.UNSAFE_GOAL, Severity.ERROR, message, reason, proof, Scope.GIVEN, problem_name)
            self.run.add_finding(rules, finding, "not satisfiable with this goal")
