"""What is said of one rule: SC750, SC751, SC756 to SC758."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Severity
from plansafe.specs.lint.budget import Budget
from plansafe.specs.lint.change import PossibleChanges
from plansafe.specs.lint.example import broken_in, examples
from plansafe.specs.lint.found import FORMULAS, Found, Subject
from plansafe.specs.lint.lint_problem import Decided
from plansafe.specs.lint.model import Open, Scope
from plansafe.specs.lint.question import Reply
from plansafe.specs.lint.reasons import why_never
from plansafe.specs.lint.shape import missing_words, unused_parameters

EXAMPLE_S = 2.0
"""Seconds for a problem that was made to break a rule in."""


class OneRule:
    """Questions about each rule by itself."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self._s = "" if len(found.given) == 1 else "s"
        self._doubtful: list[Subject] = []
        """Rules of which formulas do not say whether they can be broken, where no problem is given."""

    def look(self, subject: Subject) -> None:
        """Say what is wrong with a rule, and whether it can be broken and kept."""
        self._text(subject)
        self._breakable(subject)
        self._keepable(subject)

    def _text(self, subject: Subject) -> None:
        rule = subject.rule
        whole = self.found.checkers[subject.base].compiled.context.label(rule.at)
        for name in unused_parameters(rule, whole, self.found.sources.get(whole.source)):
            message = f"parameter `{name}` of rule `{rule.name}` is not used in any formula"
            reason = "the rule has an instance for each object, and all instances are equivalent"
            self.found.add(SC.IDLE_PART, Severity.WARNING, message, [subject], reason, help="leave it out", said="here")
        missing = missing_words(rule)
        if missing:
            message = f"rule `{rule.name}` has no {' and '.join([f'`{word}`' for word in missing])}"
            reason = "reports cannot show the kind of harm, and gaps by hazard are not detected"
            self.found.add(SC.IDLE_PART, Severity.NOTE, message, [subject], reason, help="name them", said="here")

    def _breakable(self, subject: Subject) -> None:
        rule, formulas = subject.rule, self.found.formulas[subject.base]
        with self.found.budget.running():
            reply = formulas.breakable(subject.number) if rule.parts else Reply.IMPOSSIBLE
        message = f"rule `{rule.name}` can never be violated"
        if reply is Reply.IMPOSSIBLE:
            self.found.useless.add(subject.key)
            reason = formulas.why_unbreakable(subject.number)
            self.found.add(
                SC.NEVER_BROKEN, Severity.WARNING, message, [subject], reason, FORMULAS, said="never violated"
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
            if reply is Reply.OPEN:
                self._doubtful.append(subject)
            return
        answers = self._asked(subject, there)
        if any([answer.yes for answer in answers]):
            return
        if all([answer.yes is False for answer in answers]):
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
        elif any([self.found.given[n].searching for n in there]):
            why = next(answer.proof for answer in answers if answer.yes is None)
            self.found.open.append(Open("can it be violated?", rule.name, self._names(there), why))

    def _asked(self, subject: Subject, there: list[int]) -> list[Decided]:
        """The answers for each problem; planners are asked only if nothing else finds an example in any problem."""
        quick = [self.found.given[n].breakable(subject.places[n], False) for n in there]
        if any([answer.yes for answer in quick]):
            return quick
        out = []
        for n, answer in zip(there, quick, strict=True):
            if answer.yes is None:
                answer = self.found.given[n].breakable(subject.places[n], True)
            out.append(answer)
            if answer.yes:
                break
        return out

    def _no_objects(self, subject: Subject) -> str:
        for n, number in subject.places.items():
            rule, task = self.found.checkers[n].rules[number], self.found.given[n].task
            table = self.found.words[n].table
            for variable in rule.declared:
                if not task.domains[variable.domain]:
                    types = table.alternatives(variable.domain)
                    kind = "such type" if types is None else table.text(types)
                    return f"there is no object of type `{kind}`"
        return "there is no object of some type"

    def _why(self, subject: Subject, there: list[int]) -> str:
        for n in there:
            relaxed = self.found.given[n].relaxation
            parts = self.found.checkers[n].rules[subject.places[n]].parts
            found = "" if relaxed is None else why_never(relaxed, self.found.given[n].task, parts)
            if found:
                return found
        return ""

    def _names(self, there: Sequence[int]) -> str:
        names = [self.found.problem(n) for n in there]
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    def _keepable(self, subject: Subject) -> None:
        rule, key = subject.rule, subject.key
        if key in self.found.useless or not rule.parts:
            return
        message = f"rule `{rule.name}` can never be satisfied"
        with self.found.budget.running():
            reply = self.found.formulas[subject.base].keepable([subject.number])
        if reply is Reply.IMPOSSIBLE:
            self.found.useless.add(key)
            reason = "its condition contradicts itself: even the empty plan violates it"
            self.found.add(SC.NEVER_KEPT, Severity.ERROR, message, [subject], reason, FORMULAS, said="never satisfied")
            return
        for n, number in subject.places.items():
            if n >= len(self.found.given) or not self.found.given[n].has_instance(number):
                continue
            answer = self.found.given[n].keepable(number)
            problem = self.found.problem(n)
            if answer.yes is False:
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
            if answer.yes is None and self.found.given[n].searching:
                self.found.open.append(Open("can it be satisfied?", rule.name, problem, answer.proof))

    def unchanging(self, subject: Subject) -> None:
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

    def _broken_somewhere(self, subject: Subject, budget: Budget) -> bool:
        """Whether a search in a small problem made for the purpose finds a plan that breaks a rule."""
        base = self.found.checkers[subject.base]
        reads = self.found.formulas[subject.base].reads[subject.number]
        words = self.found.words[subject.base]
        for text in examples(words, subject.rule, reads, budget.deadline):
            if broken_in(base, words, subject.rule, text, reads, budget.piece(EXAMPLE_S)):
                return True
            if budget.over:
                break
        return False

    def examples(self) -> None:
        """Look for plans that break the doubtful rules, in problems made for the purpose."""
        budget = Budget(self.found.options.time_limit_s)
        with budget.running():
            for subject in self._doubtful:
                if not (self.found.options.search and not budget.over and self._broken_somewhere(subject, budget)):
                    why = "formulas alone do not decide it"
                    self.found.open.append(Open("can it be violated?", subject.rule.name, None, why))
