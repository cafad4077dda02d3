"""Ask a language model for a plan, for every interface.

This module prepares the files, opens the model by its name and determines the goal. The loop is in
``plansafe.llm.loop``.

Report why a model did not return a safe plan: the proved facts, and what to do.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from plansafe.app.project.file_kinds import heading
from plansafe.app.project.inputs import Input
from plansafe.app.session.audit import Session
from plansafe.app.session.goal_text import NOTHING
from plansafe.app.session.model import Prepared, Result, Settings
from plansafe.app.session.model_activity import Activity, WatchedModel, is_slow
from plansafe.app.session.option_values import BadOption
from plansafe.app.session.plan_prompt import NO_WORDS, plan_prompt, short_enough
from plansafe.app.session.repair import harmless, many_worlds, with_purpose
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.llm.loop.goal_reading import ReadGoal, read_goal
from plansafe.llm.loop.model import PLAN, Decode, Exchange, PlanOptions, PlanResult, Status, StepAuthor
from plansafe.llm.loop.policies import policies
from plansafe.llm.loop.rounds import mend_with, plan_with
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model, ModelError, Policy
from plansafe.llm.models.providers import Settings as ModelSettings
from plansafe.llm.models.providers import opened
from plansafe.llm.models.transport import Tries
from plansafe.llm.prompts.crop import goal_text
from plansafe.llm.prompts.goal import goal_prompt
from plansafe.llm.prompts.planning import Prompt
from plansafe.llm.prompts.prompt_options import PromptOptions
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.planning.forward_search import ForwardSearch, find_unsupported_task_reason
from plansafe.verifier.planning.planner import PlanningStatus
from plansafe.verifier.repair.model import Repair
from plansafe.verifier.reporting.report import Headline, make_unchecked_report

_EXIT_CODES = {Status.FOUND: 0, Status.UNSOLVABLE: 1, Status.NOT_FOUND: 3, Status.REFUSED: 3}


class ModelOptions(NamedTuple):
    """The model and its connection. ``cache``: folder of saved answers; ``reference``: the plan of ``mock/reference``.

    ``timeout``: seconds for a request to a server; ``threads``: number of threads of a model in this process.
    """

    name: str
    base_url: str | None = None
    cache: str | None = None
    keep: bool = True
    reference: str | None = None
    seed: int = 0
    timeout: float | None = None
    threads: int | None = None


class PlanRequest(NamedTuple):
    """A request for a plan: the text of the user, the options of the loop and of the prompt.

    ``from_words``: the model derives the goal from the text, as for a problem without a goal; ``goal_only``: it derives
    only the goal.
    """

    words: str
    wishes: PlanOptions = PlanOptions()
    prompt: PromptOptions = PromptOptions()
    from_words: bool = False
    goal_only: bool = False


class Goal(NamedTuple):
    """A goal in PDDL, and its source: ``user``, ``problem`` or ``model``."""

    text: str
    by: str


class Proposal(NamedTuple):
    """The result of a request. ``result`` is the audit of the plan, or the reason why there is none.

    ``planned`` is ``None`` if no plan was requested from the model: the inputs cannot be used, or only the goal was
    requested. ``text`` is a safe plan in the format of its home world. ``prompt`` is the first prompt, ``before`` are
    the calls for the goal. ``seconds`` is wall-clock time.
    """

    result: Result
    planned: PlanResult | None = None
    text: str | None = None
    outcome: Diagnostic | None = None
    wishes: PlanOptions = PlanOptions()
    model: str = ""
    seconds: float = 0.0
    prompt: Prompt | None = None
    goal: Goal | None = None
    before: tuple[Exchange, ...] = ()

    @property
    def exit_code(self) -> int:
        """0: the plan is SAFE or VALID, 1: PROVED that there is none, 3: NOT FOUND, 2: unreadable input, 4: a bug."""
        if self.planned is None or self.planned.status is Status.FOUND:
            return self.result.exit_code
        refusal = self.planned.refusal
        if refusal is not None and refusal.right:
            return _EXIT_CODES[Status.UNSOLVABLE]
        return _EXIT_CODES[self.planned.status]


def propose(settings: Settings, request: PlanRequest, options: ModelOptions) -> Proposal | Diagnostic:
    """Ask for a plan for the problem of ``settings``; a diagnostic if the model cannot be asked or does not answer."""
    if settings.wanted is None:
        settings = settings._replace(wanted="")
    session = Session(settings)
    nearest_file = next((path for path in (settings.problem, settings.scene) if path not in (None, "-")), None)
    place = Source(os.path.join(os.path.dirname(nearest_file or ""), PLAN), "")

    return _run(settings, request, options, session, place)


def repair_with_model(
    plan: str, settings: Settings, request: PlanRequest, options: ModelOptions
) -> Proposal | Diagnostic:
    """Let a model repair the plan of a file: it gets the findings first, and the engine checks its answer."""
    return _run(settings, request, options, Session(settings), plan)


def _run(
    settings: Settings, request: PlanRequest, options: ModelOptions, session: Session, plan: Source | str
) -> Proposal | Diagnostic:
    """Prepare the task of a plan file, or of the place of a new plan (a source), and ask the model."""
    with Activity(is_slow(options.name)) as activity:
        activity.start("reading the task", brief=True)

        def work(prepared: Prepared) -> Proposal | Diagnostic:
            place = plan if isinstance(plan, Source) else None
            try:
                return _ModelRun(settings, request, options, place, activity).run(session, prepared)
            except (ModelError, BadOption) as error:
                return error.diagnostic

        outcome = next(session.process([plan], work, 0.0))
    return Proposal(outcome) if isinstance(outcome, Result) else outcome


class _ModelRun:
    """A run. ``place`` is the place of a new plan; ``None`` if the run repairs an existing plan."""

    def __init__(
        self, settings: Settings, request: PlanRequest, options: ModelOptions, place: Source | None, activity: Activity
    ) -> None:
        self.settings = settings
        self.activity = activity
        self.request = request
        self.options = options
        self.place = place
        self.policies_by_name: dict[str, Policy] = {}
        self.start_time = time.monotonic()

    def run(self, session: Session, prepared: Prepared) -> Proposal | Diagnostic:
        checker = prepared.checker
        wrong = session.missing_rules(checker) or _refusal_reason(prepared, self.request)
        if wrong is not None:
            return Proposal(session.result(prepared, make_unchecked_report(prepared.plan.name, wrong)))
        syntax_errors = checker.read(prepared.plan).text.diagnostics if self.place is None else ()
        if syntax_errors:
            return Proposal(session.result(prepared, make_unchecked_report(prepared.plan.name, *syntax_errors)))
        if self.place is None and prepared.remarks:
            result = session.audit(prepared)
            if result.report.headline is Headline.UNKNOWN:
                return Proposal(result)
        path = self.options.reference
        reference = session.reference(path, prepared) if path is not None else None
        if isinstance(reference, tuple):
            return Proposal(session.result(prepared, make_unchecked_report(prepared.plan.name, *reference)))
        written = None
        if reference is not None:
            written = "".join([f"({' '.join(step.tokens)})\n" for step in checker.read(reference).text.steps])
        wishes, options = self.request.wishes, self.options
        self._update_policies(checker, written)
        tries = Tries() if options.timeout is None else Tries(timeout=options.timeout)
        settings = ModelSettings(
            options.base_url,
            connections=1,
            tries=tries,
            seed=options.seed,
            threads=options.threads,
            policies=self.policies_by_name,
        )
        self.activity.start(f"loading {options.name}")
        with opened(options.name, settings, options.cache, keep=options.keep) as (loaded, cache):
            self.activity.start("writing the prompt", brief=True)
            model = WatchedModel(loaded, self.activity)
            goal = self._given_goal(checker)
            derived: ReadGoal | None = None
            if self.place is not None and (self.request.from_words or not goal.text):
                derived = self._derive_goal(session, prepared, model, cache)
                if derived.goal is None:
                    return Proposal(_no_goal(prepared, derived), before=derived.exchanges)
                goal = Goal(derived.goal, "model")
                session = session.with_goal(derived.goal)
                prepared_again = session.prepare(self.place)
                if isinstance(prepared_again, Result):  # unlikely: the task was just compiled
                    return Proposal(prepared_again, before=derived.exchanges)
                prepared = prepared_again
                self._update_policies(prepared.checker, written)
            before = derived.exchanges if derived is not None else ()
            if self.request.goal_only:
                result = Result(PLAN, make_unchecked_report(PLAN), prepared.inputs, prepared.sources)
                return Proposal(result, wishes=wishes, model=options.name, goal=goal, before=before)
            proposal = self._ask_for_plan(session, prepared, model, cache)
            return proposal._replace(goal=goal if derived is not None or goal.by == "user" else None, before=before)

    def _update_policies(self, checker: Checker, reference: str | None) -> None:
        """Update the policies of mock models for the task and its goal."""
        wishes = self.request.wishes
        self.policies_by_name.clear()
        self.policies_by_name.update(policies(checker.compiled, reference, self.options.seed, wishes.max_steps))

    def _given_goal(self, checker: Checker) -> Goal:
        """The goal of the user or the problem; its text is empty for a problem without a goal."""
        if self.settings.wanted:
            return Goal(self.settings.wanted, "user")
        return Goal(goal_text(checker.compiled) if checker.engine.task.goal else "", "problem")

    def _name(self, prepared: Prepared) -> str:
        problem = next((used for used in prepared.inputs if used.role == "problem"), None)
        return (heading(problem.source.text).name if problem is not None else None) or "task"

    def _derive_goal(self, session: Session, prepared: Prepared, model: Model, cache: Cache | None) -> ReadGoal:
        """Let the model derive the goal from the text. Raises :class:`BadOption` if the text is empty."""
        words, place = self.request.words.strip(), self.place
        if not words:
            raise BadOption("the problem has no goal, and no text describes one", "describe the task in words")
        assert place is not None
        without_goal = session.with_goal(NOTHING).prepare(place)
        checker = without_goal.checker if isinstance(without_goal, Prepared) else prepared.checker
        max_tokens = self.request.prompt.most_tokens
        prompt = short_enough(max_tokens, lambda tokens: goal_prompt(words, checker.compiled, most_tokens=tokens))

        def check(goal: str) -> tuple[Diagnostic, ...]:
            done = session.with_goal(goal).prepare(place)
            if isinstance(done, Result):
                return tuple([d for d in done.report.diagnostics if d.severity is Severity.ERROR])
            engine = done.checker.engine
            if engine.refusal is None and engine.evaluate_goal(engine.make_initial_state()) is True:
                return (Diagnostic(SC.NO_GOAL, "the initial state already satisfies this goal"),)
            return ()

        task = checker.engine.task
        return read_goal(model, self._name(prepared), prompt.messages, task, check, cache, self.request.wishes)

    def _ask_for_plan(self, session: Session, prepared: Prepared, model: Model, cache: Cache | None) -> Proposal:
        checker, request = prepared.checker, self.request
        wishes = request.wishes._replace(repair=with_purpose(request.wishes.repair, prepared, self.settings.world))
        prompt = plan_prompt(session, prepared, request.words.strip() or NO_WORDS, request.prompt)
        name = self._name(prepared)
        if self.place is None:
            steps = [f"({' '.join(step.tokens)})" for step in read_plan(prepared.plan).steps]
            planned = mend_with(model, name, prompt.messages, steps, checker, wishes, cache)
        else:
            planned = plan_with(model, name, prompt.messages, checker, wishes, cache, prompt.cropped)
        result = _result(session, prepared, planned)
        text = self._plan_text(prepared, planned) if planned.status is Status.FOUND else None
        seconds = time.monotonic() - self.start_time
        return Proposal(result, planned, text, ending(planned, checker), wishes, self.options.name, seconds, prompt)

    def _plan_text(self, prepared: Prepared, planned: PlanResult) -> str:
        """Write the plan in the format of its home world; an unchanged plan keeps its text."""
        is_original = [part.by is StepAuthor.GIVEN for part in planned.parts]
        if self.place is None and all(is_original) and not planned.removed:
            return prepared.inputs[0].source.text
        if prepared.write is None or planned.report is None:
            return planned.plan
        steps = tuple([part.step for part in planned.parts])
        return prepared.write(prepared, Repair(steps, (0,) * len(steps), (), 0, planned.report))


def _no_goal(prepared: Prepared, derived: ReadGoal) -> Result:
    """The result for a missing goal, with the errors in the last goal of the model."""
    messages = tuple([diagnostic.message for diagnostic in derived.refused])
    help = "use other words, or give the goal with --goal '(and ..)'"
    helps = [diagnostic.help for diagnostic in derived.refused if diagnostic.help]
    missing_goal = Diagnostic(
        SC.NO_GOAL, "the model did not answer with a valid goal", notes=(*messages, *helps), help=help
    )
    return Result(PLAN, make_unchecked_report(PLAN, missing_goal), prepared.inputs, prepared.sources)


def _refusal_reason(prepared: Prepared, request: PlanRequest) -> Diagnostic | None:
    """The reason not to ask the model: several possible worlds, or a task that an option does not support."""
    checker, wishes = prepared.checker, request.wishes
    read = checker.read(prepared.plan)
    if not checker.is_stepwise or read.is_open:
        return many_worlds(checker, read, "the prompt for a plan")
    if read.timed is not None:
        return Diagnostic(SC.TIMED_REPAIR, "plans whose steps have times are not repaired")
    why = find_unsupported_task_reason(checker.compiled, True)
    if why and wishes.decode.stepwise:
        message = f"--decode {wishes.decode.value} does not support this task: {why}"
        return Diagnostic(
            SC.BAD_OPTION, message, help=f"--decode {Decode.FREE.value} supports every task with one possible world"
        )
    for flag, wished in (("--replan", wishes.replan), ("--post-process", wishes.mapping)):
        if why and wished:
            return Diagnostic(SC.BAD_OPTION, f"{flag} does not support this task: {why}", help="leave it out")
    return None


def _result(session: Session, prepared: Prepared, planned: PlanResult) -> Result:
    """The audit of the returned or best plan; otherwise the reason why no answer could be read."""
    answers = planned.answers
    refused = planned.rounds[-1].refused if planned.rounds else ()
    source = Source(PLAN, planned.plan)
    plan_input = Input("plan", PLAN, "given", source)
    inputs = (plan_input, *prepared.inputs[1:])
    sources = {**prepared.sources, PLAN: source}
    if planned.report is not None:
        prepared = prepared._replace(plan=source, inputs=inputs, sources=sources, remarks=())
        return session.result(prepared, planned.report)
    if refused:
        sources["answer.txt"] = Source("answer.txt", answers[-1].text)
    return Result(PLAN, make_unchecked_report(PLAN, *refused), inputs, sources)


_EFFORT = 2_000
"""Limit of expanded states in the search for a plan without new violations; it gives the same result everywhere."""
_SECONDS = 10.0


def ending(planned: PlanResult, checker: Checker) -> Diagnostic | None:
    """The diagnostic for a missing safe plan; ``None`` if a plan was found."""
    notes = (planned.detail,) if planned.detail else ()
    match planned.status:
        case Status.FOUND:
            return None
        case Status.UNSOLVABLE:
            text = f"PROVED: no plan reaches the goal and {harmless(checker.options.criteria)}"
            advice = "change the goal, the rules or the problem"
            if broken_before(checker):
                advice = (
                    "the initial state already violates a rule; --judge introduced accepts a plan without new "
                    "violations, and there is one"
                )
            return Diagnostic(SC.NO_REPAIR_EXISTS, text, notes=notes, help=advice)
        case Status.REFUSED:
            return _refusal(planned, checker)
        case Status.NOT_FOUND:
            advice = (
                "raise --rounds, let --last-resort repair, or restrict the model to legal steps with --decode guided"
            )
            return Diagnostic(SC.NO_REPAIR_FOUND, "no safe plan was found; there may be one", notes=notes, help=advice)


def _refusal(planned: PlanResult, checker: Checker) -> Diagnostic:
    """The diagnostic for a refusal, with the result of the search for a plan."""
    refusal = planned.refusal
    text = f"the model refuses: {planned.detail}"
    if refusal is None or refusal.right is None:
        why = (
            (f"the search for a plan ended without a result: {refusal.detail}",)
            if refusal is not None and refusal.detail
            else ()
        )
        return Diagnostic(SC.MODEL_REFUSED, f"{text} (it is unknown whether a safe plan exists)", notes=why)
    if refusal.right:
        safe = harmless(checker.options.criteria)
        note = f"the refusal is correct: PROVED that no plan reaches the goal and {safe}"
        return Diagnostic(SC.MODEL_REFUSED, text, notes=(note, *((refusal.detail,) if refusal.detail else ())))
    steps = f"{refusal.steps} step{'' if refusal.steps == 1 else 's'}"
    note = f"the engine found a plan of {steps} that reaches the goal and {harmless(checker.options.criteria)}"
    help = "the rules cannot tell whether the task has a harmful purpose; leave out --allow-refusal to get the plan"
    return Diagnostic(SC.MODEL_REFUSED, text, notes=(note,), help=help)


def broken_before(checker: Checker) -> bool:
    """True if only hazards of the initial state prevent a plan: a search finds a plan without new violations."""
    criteria = checker.options.criteria
    if criteria.ignores_preexisting or find_unsupported_task_reason(checker.compiled, True):
        return False
    if not Execution.initial(checker.engine, True, criteria).lasting_violations:
        return False
    start = Execution.initial(checker.engine, True, criteria._replace(judge="introduced"))
    solution = ForwardSearch().solve_from(start, time_limit_s=_SECONDS, max_nodes=_EFFORT)
    return solution.status is PlanningStatus.SOLVED
