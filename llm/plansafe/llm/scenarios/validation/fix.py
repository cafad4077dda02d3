"""The corrector: rules of correction until none applies, then the criteria again (docs/scenarios.md)."""

from __future__ import annotations

from collections.abc import Callable

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.check import Examination, Resolve
from plansafe.llm.scenarios.validation.corrections import (
    arguments,
    facts,
    names,
    parentheses,
    reaching,
    repetitions,
    shape,
    spelling,
    variables,
    words,
    wrapping,
)
from plansafe.llm.scenarios.validation.corrections.view import View
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, apply
from plansafe.llm.scenarios.validation.model import (
    ACTIONS,
    SOLVABLE,
    Correction,
    Fixed,
    Limits,
    Profile,
    Scenario,
    Verdict,
)
from plansafe.verifier.planning.planner import Planner

Rule = Callable[[View], list[Edit]]
LEFT = SC.SCENARIO_UNCORRECTED
MAX_ROUNDS = 400
TEXTS: tuple[Rule, ...] = (
    wrapping.signs,
    wrapping.fences,
    wrapping.comments,
    wrapping.prose,
    wrapping.quotes,
    wrapping.commas,
    parentheses.balance,
)
"""Rules that look at characters and words; the others need texts that can be read as nodes."""
SHAPES: tuple[Rule, ...] = (
    shape.header,
    shape.sections,
    shape.twice,
    shape.goal_and_domain,
    shape.fields,
    shape.conjunctions,
)
MEANINGS: tuple[Rule, ...] = (
    words.operators,
    words.truths,
    words.parents,
    words.dashes,
    words.question_marks,
    repetitions.repetitions,
    names.types,
    facts.numbers,
    names.predicates,
    variables.missing_agent,
    variables.unbound,
    names.split,
    arguments.arity,
    names.objects,
    names.constants,
    arguments.mismatches,
    spelling.names,
    facts.negated,
    facts.contradictions,
    facts.requirements,
)
_WHY = {
    SC.UNBALANCED: "it is not clear which parenthesis is open",
    SC.STRUCTURE: "the intention is not clear",
    SC.UNSUPPORTED: "safecheck does not support it",
    SC.NOT_UTF8: "the file is not UTF-8",
    SC.UNKNOWN_TYPE: "no declared type is similar, and there is no domain to declare it in",
    SC.UNKNOWN_PREDICATE: "no single declared predicate is similar, and its parameters are not clear",
    SC.ARITY: "it is not clear which argument is superfluous or missing",
    SC.TYPE_MISMATCH: "no type fits all its uses, or the base would have to change",
    SC.DECLARED_TWICE: "it is not clear which of the two is intended",
    SC.UNBOUND_VARIABLE: "no parameter fits all its uses",
    SC.UNKNOWN_OBJECT: "no single declared object is similar, and its type is not clear",
    SC.CONTRADICTORY_INIT: "it is not clear which of the two is intended",
}


def fix(
    scenario: Scenario,
    profile: Profile | None = None,
    limits: Limits | None = None,
    resolve: Resolve | None = None,
    planner: Planner | None = None,
    new_domain: str = "domain.pddl",
    lenient_types: bool = False,
) -> Fixed:
    """Correct a scenario by rule, and judge the result.

    The base is never edited. Where a declaration is missing and the scenario has no domain of its own, one of the name
    ``new_domain`` is made. ``fix`` of its result changes nothing, and neither does ``fix`` of a scenario without
    mistakes. Each round costs time linear in the texts; there are about as many rounds as mistakes.
    """
    corrector = _Corrector(scenario, new_domain, lenient_types)
    settled = corrector.run()
    result = corrector.scenario()
    examination = Examination(result, profile or Profile(), limits or Limits(), resolve, planner, lenient_types)
    report = examination.report()
    left: list[Diagnostic] = []
    if not settled:
        left.append(Diagnostic(LEFT, "the corrections did not terminate: nothing was changed"))
    declared = examination.declared()
    left += [_left(diagnostic) for diagnostic in declared.diagnostics]
    for name in (ACTIONS, SOLVABLE):
        criterion = report.criterion(name)
        if criterion is not None and criterion.verdict is Verdict.NO:
            left += [_left(d, "the intention is not clear") for d in criterion.diagnostics]
    originals = {s.name: s for s in (scenario.problem, scenario.domain) if s is not None}
    return Fixed(result, tuple(corrector.corrections), tuple(left), report, originals)


def _left(diagnostic: Diagnostic, why: str = "") -> Diagnostic:
    reason = why or _WHY.get(diagnostic.code, "no rule corrects it")
    return diagnostic._replace(code=LEFT, message=f"not corrected ({diagnostic.code}): {diagnostic.message}; {reason}")


class _Corrector:
    def __init__(self, scenario: Scenario, new_domain: str, lenient_types: bool) -> None:
        self.given = scenario
        self.lenient_types = lenient_types
        self.problem = scenario.problem.name
        self.base = Draft(scenario.base, editable=False) if scenario.base is not None else None
        self.drafts = {self.problem: Draft(scenario.problem)}
        self.domain: str | None = None
        self._empty: str | None = None
        if scenario.domain is not None:
            self.domain = scenario.domain.name
            self.drafts[self.domain] = Draft(scenario.domain)
        elif self.base is not None and self.base.form:
            self.domain = new_domain
            head = self.base.form[1]
            name = head[1] if isinstance(head, list) and len(head) > 1 else "extension"
            self._empty = f"(define (domain {name}))\n"
            self.drafts[new_domain] = Draft(Source(new_domain, self._empty))
        self.corrections: list[Correction] = []
        texts = " ".join([source.text for source in (*scenario.specs, *scenario.plans)])
        self.fixed_words = frozenset(texts.lower().replace("(", " ").replace(")", " ").split())

    def scenario(self) -> Scenario:
        """The scenario with its texts as they are now."""
        domain = self.drafts[self.domain].source if self.domain is not None else None
        if domain is not None and domain.text == self._empty:
            domain = None
        return self.given._replace(problem=self.drafts[self.problem].source, domain=domain)

    def run(self) -> bool:
        """Correct until no rule applies; false (and nothing is changed) if that takes too many rounds."""
        before = dict(self.drafts)
        for _ in range(MAX_ROUNDS):
            edits = self._edits(self._view(self.drafts))
            done = apply(self.drafts, edits)
            if not done:
                return True
            self.corrections += done
        self.drafts = before
        self.corrections = []
        return False

    def _view(self, drafts: dict[str, Draft]) -> View:
        domain = drafts[self.domain] if self.domain is not None else None
        return View(drafts[self.problem], domain, self.base, self.fixed_words)

    def _edits(self, view: View) -> list[Edit]:
        """What the first rule that applies says."""
        for rule in TEXTS:
            edits = rule(view)
            if edits:
                return edits
        if not view.readable:
            return []
        for rule in (*SHAPES, *MEANINGS):
            edits = rule(view)
            if edits:
                return edits
        return self._reaching(view)

    def _reaching(self, view: View) -> list[Edit]:
        """The first correction that brings something within reach and takes nothing away."""
        examination = self._examined(self.drafts)
        before = reaching.standing(examination)
        if before is None or before == (0, 0):
            return []
        for number, edit in enumerate(reaching.candidates(view, examination)):
            if number >= reaching.MAX_CANDIDATES:
                break
            tried = dict(self.drafts)
            apply(tried, [edit])
            after = reaching.standing(self._examined(tried))
            if after is not None and after < before and all([a <= b for a, b in zip(after, before, strict=True)]):
                return [edit]
        return []

    def _examined(self, drafts: dict[str, Draft]) -> Examination:
        domain = drafts[self.domain].source if self.domain is not None else None
        if domain is not None and domain.text == self._empty:
            domain = None
        scenario = self.given._replace(problem=drafts[self.problem].source, domain=domain, specs=(), plans=())
        return Examination(scenario, Profile(), Limits(), lenient_types=self.lenient_types)
