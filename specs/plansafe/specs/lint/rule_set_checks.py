"""The findings about several rules, about actions and about goals: SC752 to SC755."""

from __future__ import annotations

from itertools import combinations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Severity
from plansafe.specs.lint.lint_run import FORMULA_PROOF, LintedRule, LintRun, rule_list_text
from plansafe.specs.lint.model import OpenQuestion, Scope
from plansafe.verifier.elaborate.context import Place

MAX_PAIRS = 3_000
"""Maximum number of pairs of rules that are checked for contradictions."""


class RuleSetCheck:
    """Checks sets of rules that can be violated and satisfied alone."""

    def __init__(self, run: LintRun) -> None:
        self.run = run

    def check_any_problem(self) -> None:
        """Check the rules by formulas, for any problem."""
        with self.run.budget.running():
            self._find_contradictions()
            self._find_excluded_actions()
            self._find_redundant_rules()

    def check_given_problems(self) -> None:
        """Check the rules in each given problem."""
        for problem in range(len(self.run.problems)):
            self._find_contradiction_in_problem(problem)
            self._check_goal(problem)

    def _find_contradictions(self) -> None:
        pairs = 0
        for first, second in combinations(self.run.useful_rules, 2):
            checker = max(first.checker, second.checker)
            prover = self.run.provers[checker]
            numbers = [
                linted_rule.number_by_problem[checker]
                for linted_rule in (first, second)
                if checker in linted_rule.number_by_problem
            ]
            if len(numbers) < 2 or prover.symbols[numbers[0]].isdisjoint(prover.symbols[numbers[1]]):
                continue
            pairs += 1
            if pairs > MAX_PAIRS:
                reason = f"more than {MAX_PAIRS} pairs of rules"
                self.run.open_questions.append(OpenQuestion("can all rules be satisfied?", None, None, reason))
                break
            if prover.can_never_be_satisfied(numbers):
                self.run.contradicting.append(frozenset((first.rule.name, second.rule.name)))
                self.run.add_finding(
                    SC.RULES_CONTRADICT,
                    Severity.ERROR,
                    f"rules `{first.rule.name}` and `{second.rule.name}` contradict each other",
                    [first, second],
                    "in a problem in which both have an instance, no trace satisfies both",
                    FORMULA_PROOF,
                    label_text="never satisfied with the other",
                )

    def _find_excluded_actions(self) -> None:
        prover, checker = self.run.provers[0], self.run.checkers[0]
        rule_by_number = self._map_rules_of_first_checker()
        ignored_rules = frozenset(range(len(checker.rules))) - rule_by_number.keys()
        for action, numbers in prover.find_excluded_actions(ignored_rules):
            rules = [rule_by_number[number] for number in numbers]
            node, context = action.node, checker.compiled.context
            self.run.add_finding(
                SC.UNUSABLE_ACTION,
                Severity.WARNING,
                f"action `{action.name}` can never be taken without violating {rule_list_text(rules)}",
                rules,
                "the conditions that the rules require before or after it contradict its precondition or its effects",
                FORMULA_PROOF,
                help=f"to forbid `{action.name}` entirely, use `:on` with `:forbid (and)`",
                label_text="rules the action out",
                extra_label=context.label(Place(node, 1), "this action", False) if isinstance(node, list) else None,
            )

    def _map_rules_of_first_checker(self) -> dict[int, LintedRule]:
        return {linted_rule.number: linted_rule for linted_rule in self.run.useful_rules if linted_rule.checker == 0}

    def _find_redundant_rules(self) -> None:
        reported: set[int] = set()
        rule_by_number = self._map_rules_of_first_checker()
        prover = self.run.provers[0]
        for number, linted_rule in rule_by_number.items():
            if number in reported:
                continue
            for candidate in prover.find_implying_candidates(number, rule_by_number):
                if candidate in reported or not prover.is_implied(number, candidate):
                    continue
                reported.add(number)
                stronger = rule_by_number[candidate]
                message = f"rule `{linted_rule.rule.name}` follows from rule `{stronger.rule.name}`"
                reason = "every trace that violates it also fails to satisfy the other rule"
                if prover.is_implied(candidate, number):
                    reported.add(candidate)
                    message = f"rules `{linted_rule.rule.name}` and `{stronger.rule.name}` are equivalent"
                    reason = "every trace that violates one of them also fails to satisfy the other"
                self.run.add_finding(
                    SC.REDUNDANT_RULE,
                    Severity.WARNING,
                    message,
                    [linted_rule, stronger],
                    reason,
                    FORMULA_PROOF,
                    help="remove it, unless you need its message or severity",
                    label_text="adds nothing",
                )
                break

    def _find_contradiction_in_problem(self, problem: int) -> None:
        rule_by_number = self.run.useful_rules_of_problem(problem)
        contradiction = (
            self.run.problems[problem].find_contradiction(list(rule_by_number)) if len(rule_by_number) > 1 else None
        )
        if contradiction is None or len(contradiction.rules) < 2:
            return
        numbers, proof = contradiction
        rules = [rule_by_number[number] for number in numbers]
        names = frozenset([linted_rule.rule.name for linted_rule in rules])
        if any([reported <= names for reported in self.run.contradicting]):
            return
        self.run.contradicting.append(names)
        problem_name = self.run.problem_name(problem)
        self.run.add_finding(
            SC.RULES_CONTRADICT,
            Severity.ERROR,
            f"no plan for {problem_name} satisfies {rule_list_text(rules)} together",
            rules,
            "each of them can be satisfied",
            f"{proof}; {problem_name}",
            Scope.GIVEN,
            problem_name,
            label_text="never satisfied with the others",
        )

    def _check_goal(self, problem: int) -> None:
        """Check whether the goal of a problem can be reached safely."""
        lint_problem, rule_by_number = self.run.problems[problem], self.run.useful_rules_of_problem(problem)
        if not rule_by_number or not lint_problem.can_search:
            return
        problem_name = self.run.problem_name(problem)
        decision, numbers = lint_problem.can_reach_goal_safely(sorted(rule_by_number))
        if decision.holds is None:
            question = "can the goal be reached with all rules satisfied?"
            self.run.open_questions.append(OpenQuestion(question, None, problem_name, decision.proof))
        elif decision.holds is False and numbers:
            rules = [rule_by_number[number] for number in numbers]
            self.run.add_finding(
                SC.UNSAFE_GOAL,
                Severity.ERROR,
                f"every plan that reaches the goal of {problem_name} violates {rule_list_text(rules)}",
                rules,
                "the goal can be reached, and each rule can be satisfied, but not together",
                f"{decision.proof}; {problem_name}",
                Scope.GIVEN,
                problem_name,
                label_text="not satisfiable with this goal",
            )
