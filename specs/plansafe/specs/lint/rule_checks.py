"""What is said of one rule: SC750, SC751, SC756 to SC758."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Severity
from plansafe.specs.lint.budget import Budget
from plansafe.specs.lint.example_problems import example_problems, violates_in_example
from plansafe.specs.lint.letter_question import Possibility
from plansafe.specs.lint.lint_problem import Decision
from plansafe.specs.lint.lint_run import FORMULA_PROOF, LintedRule, LintRun
from plansafe.specs.lint.model import OpenQuestion, Scope
from plansafe.specs.lint.possible_changes import PossibleChanges
from plansafe.specs.lint.reasons import explain_never_violated
from plansafe.specs.lint.shape import missing_hazard_fields, unused_parameters

EXAMPLE_S = 2.0
"""Seconds for a problem that was made to break a rule in."""


class RuleCheck:
    """Questions about each rule by itself."""

    def __init__(self, found: LintRun) -> None:
        self.found = found
        self._s = "" if len(found.given) == 1 else "s"
        self._doubtful: list[LintedRule] = []
        """Rules of which formulas do not say whether they can be broken, where no problem is given."""

    def look(self, subject: LintedRule) -> None:
        """Say what is wrong with a rule, and whether it can be broken and kept."""
        self._text(subject)
        self._breakable(subject)
        self._keepable(subject)

    def _text(self, subject: LintedRule) -> None:
        rule = subject.rule
        whole = self.found.checkers[subject.base].compiled.context.label(rule.at)
        for name in unused_parameters(rule, whole, self.found.sources.get(whole.source)):
            message = f"parameter `{name}` of rule `{rule.name}` is not used in any formula"
            reason = "the rule has an instance for each object, and all instances are equivalent"
            self.found.add(SC.IDLE_PART, Severity.WARNING, message, [subject], reason, help="leave it out", said="here")
        missing = missing_hazard_fields(rule)
        if missing:
            message = f"rule `{rule.name}` has no {' and '.join([f'`{word}`' for word in missing])}"
            reason = "reports cannot show the kind of harm, and gaps by hazard are not detected"
            self.found.add(SC.IDLE_PART, Severity.NOTE, message, [subject], reason, help="name them", said="here")

    def _breakable(self, subject: LintedRule) -> None:
        rule, formulas = subject.rule, self.found.formulas[subject.base]
        with self.found.budget.running():
            reply = formulas.can_be_violated(subject.number) if rule.parts else Possibility.IMPOSSIBLE
        message = f"rule `{rule.name}` can never be violated"
        if reply is Possibility.IMPOSSIBLE:
            self.found.useless.add(subject.key)
            reason = formulas.why_unbreakable(subject.number)
            self.found.add(
                SC.NEVER_BROKEN, Severity.WARNING, message, [subject], reason, FORMULA_PROOF, said="never violated"
            )
            return
        there = [
            n
            for n in subject.places
            if n < len(self.found.given) and self.found.given[n].has_instance(subject.places[n])
        ]
        if self.found.given and not there:
            self.found.useless.add(subject.key)
            self.found.add(
                SC.RULE_WITHOUT_INSTANCE,
                Severity.NOTE,
                f"rule `{rule.name}` has no instance in the given problem{self._s}",
                [subject],
                self._no_objects(subject),
                scope=Scope.GIVEN,
                said="no instance",
            )
            return
        if not self.found.given:
            if reply is Possibility.OPEN:
                self._doubtful.append(subject)
            return
        answers = self._asked(subject, there)
        if any([answer.holds for answer in answers]):
            return
        if all([answer.holds is False for answer in answers]):
            self.found.useless.add(subject.key)
            proofs = sorted({answer.proof for answer in answers})
            self.found.add(
                SC.NEVER_BROKEN,
                Severity.WARNING,
                f"{message} in the given problem{self._s}",
                [subject],
                self._why(subject, there) or "the conditions that violate it are never true together",
                f"{', '.join(proofs)}; {self._names(there)}",
                Scope.GIVEN,
                said="never violated",
            )
        elif any([self.found.given[n].can_search for n in there]):
            why = next(answer.proof for answer in answers if answer.holds is None)
            self.found.open_questions.append(OpenQuestion("can it be violated?", rule.name, self._names(there), why))

    def _asked(self, subject: LintedRule, there: list[int]) -> list[Decision]:
        """The answers for each problem; planners are asked only if nothing else finds an example in any problem."""
        quick = [self.found.given[n].can_be_violated(subject.places[n], False) for n in there]
        if any([answer.holds for answer in quick]):
            return quick
        out = []
        for n, answer in zip(there, quick, strict=True):
            if answer.holds is None:
                answer = self.found.given[n].can_be_violated(subject.places[n], True)
            out.append(answer)
            if answer.holds:
                break
        return out

    def _no_objects(self, subject: LintedRule) -> str:
        for n, number in subject.places.items():
            rule, task = self.found.checkers[n].rules[number], self.found.given[n].task
            table = self.found.words[n].table
            for variable in rule.declared:
                if not task.domains[variable.domain]:
                    types = table.alternatives(variable.domain)
                    kind = "such type" if types is None else table.text(types)
                    return f"there is no object of type `{kind}`"
        return "there is no object of some type"

    def _why(self, subject: LintedRule, there: list[int]) -> str:
        for n in there:
            relaxed = self.found.given[n].relaxation
            parts = self.found.checkers[n].rules[subject.places[n]].parts
            found = "" if relaxed is None else explain_never_violated(relaxed, self.found.given[n].task, parts)
            if found:
                return found
        return ""

    def _names(self, there: Sequence[int]) -> str:
        names = [self.found.problem(n) for n in there]
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    def _keepable(self, subject: LintedRule) -> None:
        rule, key = subject.rule, subject.key
        if key in self.found.useless or not rule.parts:
            return
        message = f"rule `{rule.name}` can never be satisfied"
        with self.found.budget.running():
            reply = self.found.formulas[subject.base].can_be_satisfied([subject.number])
        if reply is Possibility.IMPOSSIBLE:
            self.found.useless.add(key)
            reason = "its condition contradicts itself: even the empty plan violates it"
            self.found.add(
                SC.NEVER_KEPT, Severity.ERROR, message, [subject], reason, FORMULA_PROOF, said="never satisfied"
            )
            return
        for n, number in subject.places.items():
            if n >= len(self.found.given) or not self.found.given[n].has_instance(number):
                continue
            answer = self.found.given[n].can_be_satisfied(number)
            problem = self.found.problem(n)
            if answer.holds is False:
                self.found.useless.add(key)
                whole = any([part.mode == "whole" for part in rule.parts])
                reason = "no plan satisfies it" if whole else "no plan makes its final condition true"
                if answer.proof == "initial state":
                    reason = "the initial state violates it, before the first step of any plan"
                self.found.add(
                    SC.NEVER_KEPT,
                    Severity.ERROR,
                    f"every plan for {problem} violates rule `{rule.name}` or leaves it undecided",
                    [subject],
                    reason,
                    f"{answer.proof}; {problem}",
                    Scope.GIVEN,
                    problem,
                    "correct the initial state or the rule",
                    "never satisfied",
                )
                return
            if answer.holds is None and self.found.given[n].can_search:
                self.found.open_questions.append(OpenQuestion("can it be satisfied?", rule.name, problem, answer.proof))

    def unchanging(self, subject: LintedRule) -> None:
        """Say why nothing can change what a rule is about, if that is so."""
        for reason in PossibleChanges(self.found.words[subject.base]).reasons(subject.rule):
            message = f"no action can influence rule `{subject.rule.name}`"
            proof = "effects, types and named objects of the domain"
            self.found.add(
                SC.RULE_WITHOUT_INFLUENCE,
                Severity.WARNING,
                message,
                [subject],
                reason,
                proof,
                said="no action influences it",
            )

    def _broken_somewhere(self, subject: LintedRule, budget: Budget) -> bool:
        """Whether a search in a small problem made for the purpose finds a plan that breaks a rule."""
        base = self.found.checkers[subject.base]
        reads = self.found.formulas[subject.base].reads[subject.number]
        words = self.found.words[subject.base]
        for text in example_problems(words, subject.rule, reads, budget.deadline):
            if violates_in_example(base, words, subject.rule, text, reads, budget.limited(EXAMPLE_S)):
                return True
            if budget.is_spent:
                break
        return False

    def search_examples(self) -> None:
        """Look for plans that break the doubtful rules, in problems made for the purpose."""
        budget = Budget(self.found.options.time_limit_s)
        with budget.running():
            for subject in self._doubtful:
                if not (self.found.options.search and not budget.is_spent and self._broken_somewhere(subject, budget)):
                    why = "formulas alone do not decide it"
                    self.found.open_questions.append(OpenQuestion("can it be violated?", subject.rule.name, None, why))
