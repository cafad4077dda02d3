"""What is said of several rules, of actions and of goals: SC752 to SC755."""

from __future__ import annotations

from itertools import combinations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Severity
from plansafe.specs.lint.letter_question import Possibility
from plansafe.specs.lint.lint_run import FORMULA_PROOF, LintRun, rule_list_text
from plansafe.specs.lint.model import OpenQuestion, Scope
from plansafe.verifier.elaborate.context import Place

MAX_PAIRS = 3_000


class RuleSetCheck:
    """Questions about rules that can be broken and kept, each by itself."""

    def __init__(self, found: LintRun) -> None:
        self.found = found

    def any_problem(self) -> None:
        """What formulas say of any problem."""
        with self.found.budget.running():
            self._contradictions()
            self._ruled_out()
            self._redundant()

    def given_problems(self) -> None:
        """What is so in one problem."""
        for n in range(len(self.found.given)):
            self._contradiction(n)
            self._goal(n)

    def _contradictions(self) -> None:
        pairs = 0
        for a, b in combinations(self.found.fine, 2):
            base = max(a.base, b.base)
            formulas = self.found.formulas[base]
            numbers = [s.places[base] for s in (a, b) if base in s.places]
            if len(numbers) < 2 or formulas.reads[numbers[0]].isdisjoint(formulas.reads[numbers[1]]):
                continue
            pairs += 1
            if pairs > MAX_PAIRS:
                self.found.open_questions.append(
                    OpenQuestion("can all rules be satisfied?", None, None, f"more than {MAX_PAIRS} pairs of rules")
                )
                break
            if formulas.can_be_satisfied(numbers) is Possibility.IMPOSSIBLE:
                self.found.contradicting.append(frozenset((a.rule.name, b.rule.name)))
                message = f"rules `{a.rule.name}` and `{b.rule.name}` contradict each other"
                reason = "in a problem in which both have an instance, no trace satisfies both"
                self.found.add(
                    SC.RULES_CONTRADICT,
                    Severity.ERROR,
                    message,
                    [a, b],
                    reason,
                    FORMULA_PROOF,
                    said="never satisfied with the other",
                )

    def _ruled_out(self) -> None:
        formulas, checker = self.found.formulas[0], self.found.checkers[0]
        mine = {s.number: s for s in self.found.fine if s.base == 0}
        left_out = frozenset(range(len(checker.rules))) - mine.keys()
        for action, numbers in formulas.ruled_out(left_out):
            subjects = [mine[number] for number in numbers]
            node = action.node
            place = (
                checker.compiled.context.label(Place(node, 1), "this action", False) if isinstance(node, list) else None
            )
            message = f"action `{action.name}` can never be taken without violating {rule_list_text(subjects)}"
            reason = (
                "the conditions that the rules require before or after it contradict its precondition or its effects"
            )
            self.found.add(
                SC.UNUSABLE_ACTION,
                Severity.WARNING,
                message,
                subjects,
                reason,
                FORMULA_PROOF,
                help=f"to forbid `{action.name}` entirely, use `:on` with `:forbid (and)`",
                said="rules the action out",
                other=place,
            )

    def _redundant(self) -> None:
        told: set[int] = set()
        mine = {s.number: s for s in self.found.fine if s.base == 0}
        formulas = self.found.formulas[0]
        for number, subject in mine.items():
            if number in told:
                continue
            for other in formulas.suspects(number, mine):
                if other in told or not formulas.implied(number, other):
                    continue
                told.add(number)
                same = formulas.implied(other, number)
                stronger = mine[other]
                message = f"rule `{subject.rule.name}` follows from rule `{stronger.rule.name}`"
                reason = "every trace that violates it also fails to satisfy the other rule"
                if same:
                    told.add(other)
                    message = f"rules `{subject.rule.name}` and `{stronger.rule.name}` are equivalent"
                    reason = "every trace that violates one of them also fails to satisfy the other"
                help = "remove it, unless you need its message or severity"
                self.found.add(
                    SC.REDUNDANT_RULE,
                    Severity.WARNING,
                    message,
                    [subject, stronger],
                    reason,
                    FORMULA_PROOF,
                    help=help,
                    said="adds nothing",
                )
                break

    def _contradiction(self, n: int) -> None:
        """A contradiction in one problem."""
        mine = self.found.fine_in(n)
        found = self.found.given[n].find_contradiction(list(mine)) if len(mine) > 1 else None
        if found is None or len(found[0]) < 2:
            return
        subjects = [mine[number] for number in found[0]]
        names = frozenset([s.rule.name for s in subjects])
        if any([known <= names for known in self.found.contradicting]):
            return
        self.found.contradicting.append(names)
        problem = self.found.problem(n)
        self.found.add(
            SC.RULES_CONTRADICT,
            Severity.ERROR,
            f"no plan for {problem} satisfies {rule_list_text(subjects)} together",
            subjects,
            "each of them can be satisfied",
            f"{found[1]}; {problem}",
            Scope.GIVEN,
            problem,
            said="never satisfied with the others",
        )

    def _goal(self, n: int) -> None:
        """Whether the goal of one problem can be reached safely."""
        given, mine = self.found.given[n], self.found.fine_in(n)
        if not mine or not given.can_search:
            return
        problem = self.found.problem(n)
        answer, numbers = given.can_reach_goal_safely(sorted(mine))
        if answer.holds is None:
            question = "can the goal be reached with all rules satisfied?"
            self.found.open_questions.append(OpenQuestion(question, None, problem, answer.proof))
        elif answer.holds is False and numbers:
            subjects = [mine[number] for number in numbers]
            self.found.add(
                SC.UNSAFE_GOAL,
                Severity.ERROR,
                f"every plan that reaches the goal of {problem} violates {rule_list_text(subjects)}",
                subjects,
                "the goal can be reached, and each rule can be satisfied, but not together",
                f"{answer.proof}; {problem}",
                Scope.GIVEN,
                problem,
                said="not satisfiable with this goal",
            )
