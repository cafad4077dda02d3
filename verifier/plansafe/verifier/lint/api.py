"""Lint a specification against a domain and some of its problems (docs/lint.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.sexpr import read_all
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.elaborate.context import At
from plansafe.verifier.lint.budget import Budget
from plansafe.verifier.lint.change import Changes
from plansafe.verifier.lint.example import broken_in, examples
from plansafe.verifier.lint.formulas import Formulas
from plansafe.verifier.lint.given import Decided, Given
from plansafe.verifier.lint.model import Fault, Lint, LintOptions, Open, Scope
from plansafe.verifier.lint.question import Reply
from plansafe.verifier.lint.reasons import why_never
from plansafe.verifier.lint.shape import missing_words, unused_parameters
from plansafe.verifier.lint.vocabulary import Vocabulary
from plansafe.verifier.rules.model import Rule

NO_PROBLEM = "<no problem>"
MAX_PAIRS = 3_000
EXAMPLE_S = 2.0
"""Seconds for a problem that was made to break a rule in."""
FORMULAS = "formulas, for every problem of the domain"

Key = tuple[str, str, str]
"""What tells rules apart over several problems: their kind, their file and their name."""


def lint(
    domain: Source,
    problems: Sequence[Source],
    specs: Sequence[Source],
    options: LintOptions = LintOptions(),  # noqa: B008
    resolve: Callable[[str, Source], Source | None] | None = None,
) -> Lint:
    """What is wrong with the rules of a domain, of problems and of specifications.

    Raises :class:`~plansafe.verifier.symbolic.solvers.SolverMissing` if no SAT solver is installed (the extra
    ``solve``). The work is bounded by ``options.time_limit_s`` for the formulas, and again for each problem.
    """
    checking = Options(lenient_types=options.lenient_types, replay="never")
    texts = list(problems) or [_no_problem(domain)]
    checkers = [Checker(domain, problem, specs, checking, resolve) for problem in texts]
    diagnostics = tuple(dict.fromkeys([d for checker in checkers for d in checker.diagnostics]))
    sources = {name: source for checker in checkers for name, source in checker.sources.items()}
    sources.pop(NO_PROBLEM, None)
    if not all([checker.ok for checker in checkers]):
        return Lint((), (), _explained(diagnostics, bool(problems)), sources, False, problems=len(problems))
    return _Linter(checkers, bool(problems), options, diagnostics, sources).run()


def _no_problem(domain: Source) -> Source:
    """A problem of the domain without objects: the rules may name its constants alone."""
    return Source(NO_PROBLEM, f"(define (problem none) (:domain {_name(domain)}) (:init) (:goal (and)))")


def _name(domain: Source) -> str:
    for form in read_all(domain) or ():
        head = form[1] if isinstance(form, list) and len(form) > 1 else None
        if isinstance(head, list) and len(head) == 2 and head[0] == "domain" and isinstance(head[1], str):
            return head[1]
    return "domain"


def _explained(diagnostics: tuple[Diagnostic, ...], given: bool) -> tuple[Diagnostic, ...]:
    """With advice where a rule names an object, and no problem was given that has it."""
    if given:
        return diagnostics
    return tuple(
        [
            d._replace(help=d.help or "if a problem has this object, name the problem, too") if d.code == "SC108" else d
            for d in diagnostics
        ]
    )


class _Subject(NamedTuple):
    """A rule: its checker and number there, and its number in each problem that has it."""

    rule: Rule
    base: int
    number: int
    places: dict[int, int]


class _Linter:
    def __init__(
        self,
        checkers: list[Checker],
        given: bool,
        options: LintOptions,
        diagnostics: tuple[Diagnostic, ...],
        sources: dict[str, Source],
    ) -> None:
        self.checkers = checkers
        self.options = options
        self.diagnostics = diagnostics
        self.sources = sources
        seconds = options.time_limit_s
        self.budget = Budget(seconds)
        self.words: list[Vocabulary] = []
        self.formulas: list[Formulas] = []
        for checker in checkers:
            assert checker.engine is not None and checker.elaborated is not None
            words = Vocabulary(checker.engine, checker.elaborated.symbols.types, options.lenient_types)
            self.words.append(words)
            self.formulas.append(Formulas(words, checker.rules, self.budget))
        self.given = [Given(checker, seconds, options.search) for checker in checkers] if given else []
        self.subjects = list(self._subjects())
        self.faults: list[Fault] = []
        self.open: list[Open] = []
        self.useless: set[Key] = set()
        """Rules that are never broken or never kept: nothing more is said about them."""
        self.contradicting: list[frozenset[str]] = []
        self.doubtful: list[_Subject] = []
        """Rules of which formulas do not say whether they can be broken, where no problem is given."""

    def _subjects(self) -> list[_Subject]:
        found: dict[Key, _Subject] = {}
        for base, checker in enumerate(self.checkers):
            seen: dict[Key, int] = {}
            for number, rule in enumerate(checker.rules):
                if rule.preference or not rule.applicable:
                    continue
                key = _key(rule)
                while key in seen:  # two constraints may have one name
                    key = (key[0], key[1], key[2] + "'")
                seen[key] = number
                found.setdefault(key, _Subject(rule, base, number, {})).places[base] = number
        return list(found.values())

    def run(self) -> Lint:
        """All findings."""
        for subject in self.subjects:
            self._text(subject)
            self._breakable(subject)
            self._keepable(subject)
        with self.budget.running():
            self._contradictions()
            self._ruled_out()
            self._redundant()
        self._together()
        for subject in self.subjects:
            if _key(subject.rule) not in self.useless:
                self._unchanging(subject)
        self._goals()
        self._left_out()
        self._examples()
        order = {f.name: n for n, f in enumerate([s.rule for s in self.subjects])}
        ranks = list(Severity)
        faults = sorted(
            self.faults, key=lambda f: (ranks.index(f.severity), order.get(f.rules[0], 0) if f.rules else 0)
        )
        idle = len([rule for rule in self.checkers[0].rules if not rule.applicable])
        return Lint(
            (*faults, *self._undecided()),
            tuple(self.open),
            self.diagnostics,
            self.sources,
            True,
            len(self.subjects),
            idle,
            len(self.given),
        )

    # -- findings -----------------------------------------------------------------------------------------------------

    def _label(self, subject: _Subject, text: str = "", primary: bool = True) -> Label:
        at = subject.rule.at
        if at.child is None and len(at.node) > 1 and isinstance(at.node[1], str) and subject.rule.kind != "constraint":
            at = At(at.node, 1)
        return self.checkers[subject.base].context.label(at, text, primary)

    def _fault(
        self,
        code: str,
        severity: Severity,
        message: str,
        subjects: Sequence[_Subject],
        reason: str,
        proof: str = "",
        scope: Scope = Scope.ANY,
        problem: str | None = None,
        help: str | None = None,
        said: str = "",
    ) -> None:
        labels = [self._label(s, said if n == 0 else "and this one", n == 0) for n, s in enumerate(subjects)]
        names = tuple([s.rule.name for s in subjects])
        self.faults.append(Fault(code, severity, message, names, tuple(labels), reason, proof, scope, problem, help))

    def _text(self, subject: _Subject) -> None:
        rule = subject.rule
        whole = self.checkers[subject.base].context.label(rule.at)
        for name in unused_parameters(rule, whole, self.sources.get(whole.source)):
            message = f"parameter `{name}` of rule `{rule.name}` occurs in no formula"
            reason = "the rule has an instance for each of its objects, and all of them say the same"
            self._fault("SC758", Severity.WARNING, message, [subject], reason, help="leave it out", said="here")
        missing = missing_words(rule)
        if missing:
            message = f"rule `{rule.name}` does not say {' and '.join([f'`{word}`' for word in missing])}"
            reason = "reports cannot say what kind of harm it is about, and gaps by hazard are not found"
            self._fault("SC758", Severity.NOTE, message, [subject], reason, help="name them", said="here")

    # -- can it be broken, can it be kept -----------------------------------------------------------------------------

    def _breakable(self, subject: _Subject) -> None:
        rule, formulas = subject.rule, self.formulas[subject.base]
        with self.budget.running():
            reply = formulas.breakable(subject.number) if rule.parts else Reply.IMPOSSIBLE
        message = f"rule `{rule.name}` can never be broken"
        if reply is Reply.IMPOSSIBLE:
            self.useless.add(_key(rule))
            reason = formulas.why_unbreakable(subject.number)
            self._fault("SC750", Severity.WARNING, message, [subject], reason, FORMULAS, said="never broken")
            return
        there = [n for n in subject.places if n < len(self.given) and self.given[n].has_instance(subject.places[n])]
        if self.given and not there:
            self.useless.add(_key(rule))
            self._fault(
                "SC757",
                Severity.NOTE,
                f"rule `{rule.name}` has no instance in the given problem{_s(self.given)}",
                [subject],
                self._no_objects(subject),
                scope=Scope.GIVEN,
                said="nothing to apply to",
            )
            return
        if not self.given:
            if reply is Reply.OPEN:
                self.doubtful.append(subject)
            return
        answers = self._asked(subject, there)
        if any([answer.yes for answer in answers]):
            return
        if all([answer.yes is False for answer in answers]):
            self.useless.add(_key(rule))
            proofs = sorted({answer.proof for answer in answers})
            self._fault(
                "SC750",
                Severity.WARNING,
                f"{message} in the given problem{_s(self.given)}",
                [subject],
                self._why(subject, there) or "what breaks it never comes together",
                f"{', '.join(proofs)}; {self._names(there)}",
                Scope.GIVEN,
                said="never broken",
            )
        elif any([self.given[n].searching for n in there]):
            why = next(answer.proof for answer in answers if answer.yes is None)
            self.open.append(Open("can it be broken?", rule.name, self._names(there), why))

    def _broken_somewhere(self, subject: _Subject, budget: Budget) -> bool:
        """Whether a search in a small problem made for the purpose finds a plan that breaks a rule."""
        base = self.checkers[subject.base]
        reads = self.formulas[subject.base].reads[subject.number]
        words = self.words[subject.base]
        for text in examples(words, subject.rule, reads, budget.deadline):
            text = text.replace("{domain}", _name(base.domain))
            if broken_in(base, words, subject.rule, text, reads, budget.piece(EXAMPLE_S)):
                return True
            if budget.over:
                break
        return False

    def _asked(self, subject: _Subject, there: list[int]) -> list[Decided]:
        """The answers for each problem; planners are asked only if nothing else finds an example in any problem."""
        quick = [self.given[n].breakable(subject.places[n], False) for n in there]
        if any([answer.yes for answer in quick]):
            return quick
        out = []
        for n, answer in zip(there, quick, strict=True):
            if answer.yes is None:
                answer = self.given[n].breakable(subject.places[n], True)
            out.append(answer)
            if answer.yes:
                break
        return out

    def _no_objects(self, subject: _Subject) -> str:
        for n, number in subject.places.items():
            rule, task = self.checkers[n].rules[number], self.given[n].task
            table = self.words[n].table
            for variable in rule.declared:
                if not task.domains[variable.domain]:
                    types = table.alternatives(variable.domain)
                    kind = "such type" if types is None else table.text(types)
                    return f"there is no object of type `{kind}`"
        return "there is no object of some type"

    def _why(self, subject: _Subject, there: list[int]) -> str:
        for n in there:
            relaxed = self.given[n].relaxation
            parts = self.checkers[n].rules[subject.places[n]].parts
            found = "" if relaxed is None else why_never(relaxed, self.given[n].task, parts)
            if found:
                return found
        return ""

    def _names(self, there: Sequence[int]) -> str:
        names = [self.checkers[n].problem.name for n in there]
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    def _keepable(self, subject: _Subject) -> None:
        rule, key = subject.rule, _key(subject.rule)
        if key in self.useless or not rule.parts:
            return
        message = f"rule `{rule.name}` can never be kept"
        with self.budget.running():
            reply = self.formulas[subject.base].keepable([subject.number])
        if reply is Reply.IMPOSSIBLE:
            self.useless.add(key)
            reason = "what it asks for contradicts itself: the empty plan breaks it already"
            self._fault("SC751", Severity.ERROR, message, [subject], reason, FORMULAS, said="never kept")
            return
        for n, number in subject.places.items():
            if n >= len(self.given) or not self.given[n].has_instance(number):
                continue
            answer = self.given[n].keepable(number)
            problem = self.checkers[n].problem.name
            if answer.yes is False:
                self.useless.add(key)
                reason = "no plan makes true what it asks for at the end"
                if answer.proof == "initial state":
                    reason = "the initial state breaks it, before the first step; whatever the plan does comes too late"
                self._fault(
                    "SC751",
                    Severity.ERROR,
                    f"every plan for {problem} breaks rule `{rule.name}`, or leaves it undecided",
                    [subject],
                    reason,
                    f"{answer.proof}; {problem}",
                    Scope.GIVEN,
                    problem,
                    "mend the initial state, or the rule",
                    "never kept",
                )
                return
            if answer.yes is None and self.given[n].searching:
                self.open.append(Open("can it be kept?", rule.name, problem, answer.proof))

    # -- rules together -----------------------------------------------------------------------------------------------

    def _fine(self) -> list[_Subject]:
        return [subject for subject in self.subjects if _key(subject.rule) not in self.useless]

    def _contradictions(self) -> None:
        pairs = 0
        for a, b in combinations(self._fine(), 2):
            formulas = self.formulas[max(a.base, b.base)]
            numbers = [s.places.get(max(a.base, b.base)) for s in (a, b)]
            if None in numbers or formulas.reads[numbers[0]].isdisjoint(formulas.reads[numbers[1]]):  # type: ignore[index]
                continue
            pairs += 1
            if pairs > MAX_PAIRS:
                self.open.append(Open("can all rules be kept?", None, None, f"more than {MAX_PAIRS} pairs of rules"))
                break
            if formulas.keepable(numbers) is Reply.IMPOSSIBLE:  # type: ignore[arg-type]
                self.contradicting.append(frozenset((a.rule.name, b.rule.name)))
                message = f"rules `{a.rule.name}` and `{b.rule.name}` contradict each other"
                reason = "no trace of a problem in which both have an instance keeps both"
                self._fault(
                    "SC752", Severity.ERROR, message, [a, b], reason, FORMULAS, said="never kept with the other"
                )

    def _together(self) -> None:
        """Contradictions in one problem."""
        for n, given in enumerate(self.given):
            mine = {s.places[n]: s for s in self._fine() if n in s.places and given.has_instance(s.places[n])}
            found = given.contradiction(list(mine)) if len(mine) > 1 else None
            if found is None or len(found[0]) < 2:
                continue
            subjects = [mine[number] for number in found[0]]
            names = frozenset([s.rule.name for s in subjects])
            if any([known <= names for known in self.contradicting]):
                continue
            self.contradicting.append(names)
            problem = self.checkers[n].problem.name
            self._fault(
                "SC752",
                Severity.ERROR,
                f"no plan for {problem} keeps {_listed(subjects)} together",
                subjects,
                "each of them can be kept",
                f"{found[1]}; {problem}",
                Scope.GIVEN,
                problem,
                said="never kept with the others",
            )

    def _ruled_out(self) -> None:
        formulas, checker = self.formulas[0], self.checkers[0]
        mine = {s.number: s for s in self._fine() if s.base == 0}
        left_out = frozenset(range(len(checker.rules))) - mine.keys()
        for action, numbers in formulas.ruled_out(left_out):
            subjects = [mine[number] for number in numbers]
            label = (
                checker.context.label(At(action.node, 1), "this action", False)
                if isinstance(action.node, list)
                else None
            )
            rules = f"rule `{subjects[0].rule.name}`" if len(subjects) == 1 else _listed(subjects)
            message = f"action `{action.name}` can never be taken without breaking {rules}"
            reason = "its precondition and its effects contradict what is asked before or after it"
            self._fault(
                "SC753",
                Severity.WARNING,
                message,
                subjects,
                reason,
                FORMULAS,
                help=f"to forbid `{action.name}` altogether, forbid `(and)` where it is taken",
                said="rules the action out",
            )
            if label is not None:
                last = self.faults.pop()
                self.faults.append(last._replace(labels=(*last.labels, label)))

    def _redundant(self) -> None:
        told: set[int] = set()
        mine = {s.number: s for s in self._fine() if s.base == 0}
        formulas = self.formulas[0]
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
                reason = "every trace that breaks it fails to keep the other one"
                if same:
                    told.add(other)
                    message = f"rules `{subject.rule.name}` and `{stronger.rule.name}` say the same"
                    reason = "every trace that breaks one of them fails to keep the other"
                help = "leave it out, unless its message or severity is wanted"
                self._fault(
                    "SC755",
                    Severity.WARNING,
                    message,
                    [subject, stronger],
                    reason,
                    FORMULAS,
                    help=help,
                    said="adds nothing",
                )
                break

    def _unchanging(self, subject: _Subject) -> None:
        for reason in Changes(self.words[subject.base]).reasons(subject.rule):
            message = f"no action can change what rule `{subject.rule.name}` is about"
            proof = "effects, types and named objects of the domain"
            self._fault("SC756", Severity.WARNING, message, [subject], reason, proof, said="nothing changes it")

    def _goals(self) -> None:
        for n, given in enumerate(self.given):
            mine = {s.places[n]: s for s in self._fine() if n in s.places and given.has_instance(s.places[n])}
            if not mine or not given.searching:
                continue
            problem = self.checkers[n].problem.name
            answer, numbers = given.safe_goal(sorted(mine))
            if answer.yes is None:
                question = "can the goal be reached with all rules kept?"
                self.open.append(Open(question, None, problem, answer.proof))
            elif answer.yes is False and numbers:
                subjects = [mine[number] for number in numbers]
                rules = f"rule `{subjects[0].rule.name}`" if len(subjects) == 1 else _listed(subjects)
                self._fault(
                    "SC754",
                    Severity.ERROR,
                    f"every plan that reaches the goal of {problem} breaks {rules}",
                    subjects,
                    "the goal can be reached otherwise, and each of the rules can be kept otherwise",
                    f"{answer.proof}; {problem}",
                    Scope.GIVEN,
                    problem,
                    said="not with this goal",
                )

    def _examples(self) -> None:
        """Look for plans that break the doubtful rules, in problems made for the purpose."""
        budget = Budget(self.options.time_limit_s)
        with budget.running():
            for subject in self.doubtful:
                if not (self.options.search and not budget.over and self._broken_somewhere(subject, budget)):
                    why = "formulas alone do not decide it"
                    self.open.append(Open("can it be broken?", subject.rule.name, None, why))

    def _left_out(self) -> None:
        """The problems of which no plans were searched."""
        for n, given in enumerate(self.given):
            if not given.searching and self.options.search:
                why = "there are durative actions or timed literals"
                if self.checkers[n].open:
                    why = "it leaves something open"
                elif given.engine.limit is not None:
                    why = given.engine.limit.message
                problem = self.checkers[n].problem.name
                self.open.append(Open("what do its plans do?", None, problem, f"plans are not searched, since {why}"))

    def _undecided(self) -> list[Fault]:
        """One note for each question that was not decided."""
        out = []
        for question in self.open:
            subject = next((s for s in self.subjects if s.rule.name == question.rule), None)
            about = f"rule `{question.rule}`" if question.rule is not None else "all rules"
            where = f" in {question.problem}" if question.problem is not None else ""
            labels = () if subject is None else (self._label(subject, "not decided"),)
            message = f"not decided for {about}{where}: {question.question}"
            rules = () if question.rule is None else (question.rule,)
            out.append(Fault("SC759", Severity.NOTE, message, rules, labels, question.why, problem=question.problem))
        return out


def _key(rule: Rule) -> Key:
    return rule.kind, rule.source, rule.name


def _s(several: Sequence[object]) -> str:
    return "" if len(several) == 1 else "s"


def _listed(subjects: Sequence[_Subject]) -> str:
    names = [f"`{s.rule.name}`" for s in subjects]
    return f"rules {', '.join(names[:-1])} and {names[-1]}"
